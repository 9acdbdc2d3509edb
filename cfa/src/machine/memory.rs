// SPDX-License-Identifier: Apache-2.0
//! The memory of the machine: bytes in pages, and beside each byte what may be done with it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use thiserror::Error;

const PAGE: usize = 1 << 14;
/// The byte belongs to a live object.
const LIVE: u8 = 1;
/// It has a value.
const DEFINED: u8 = 2;
/// It may be written.
const WRITABLE: u8 = 4;
/// It is the first byte of its object.
const FIRST: u8 = 8;
/// The bytes that must stay free between two new objects.
const GAP: u64 = 16;
/// Pages with lower numbers are found by their number, others in a map.
const NEAR: u64 = 1 << 20;
/// New objects end below.
const LAST: u64 = 1 << 47;

/// Why an access to memory is not allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum AccessError {
    /// The address is 0 or close to it.
    #[error("access through a null pointer")]
    Null,
    /// The bytes belong to no object, or to one that does not live.
    #[error("access outside of all objects")]
    Outside,
    /// The bytes belong to several objects.
    #[error("access across the end of an object")]
    Across,
    /// The address was computed from that of an object, but the bytes are not in it.
    #[error("access beyond the end of an object")]
    Beyond,
    /// A write to a constant object.
    #[error("write to a constant object")]
    Constant,
    /// The operand of `free` is not the address of a live object made by an allocation.
    #[error("free of something that is no allocated object")]
    BadFree,
    /// An address was chosen for a new object that it cannot have.
    #[error("a new object cannot have this address")]
    BadAddress,
}

struct Page {
    bytes: [u8; PAGE],
    state: [u8; PAGE],
    live: usize,
}

/// What a load finds.
pub(super) enum Loaded {
    Value(u64),
    /// Some bytes have no value.
    Undefined,
}

/// There is no more memory.
#[derive(Debug)]
pub(super) struct OutOfMemory;

/// All objects and their contents.
pub(super) struct Memory {
    near: Vec<Option<Box<Page>>>,
    far: FxHashMap<u64, Box<Page>>,
    /// Pages that are not in use.
    spare: Vec<Box<Page>>,
    pages: usize,
    max_pages: usize,
    /// The objects that allocations made and that live: address and size.
    allocated: BTreeMap<u64, u64>,
    /// The ranges of the objects, dead or alive, whose addresses were chosen outside.
    placed: BTreeMap<u64, u64>,
    heap_start: u64,
    /// Where the next object begins.
    next: u64,
    /// Where the last object ends whose address was chosen here.
    own_end: u64,
    /// Where the address space ends.
    top: u64,
    /// Counts changes.
    pub(super) version: u64,
}

impl Memory {
    pub(super) fn new(heap_start: u64, pointer_bits: u32, max_bytes: usize) -> Self {
        let top = if pointer_bits >= 64 { LAST } else { 1 << pointer_bits };
        Memory {
            near: Vec::new(),
            far: FxHashMap::default(),
            spare: Vec::new(),
            pages: 0,
            max_pages: max_bytes / (2 * PAGE),
            allocated: BTreeMap::new(),
            placed: BTreeMap::new(),
            heap_start,
            next: heap_start,
            own_end: heap_start,
            top,
            version: 0,
        }
    }

    /// Removes all objects.
    pub(super) fn clear(&mut self) {
        self.spare.extend(self.near.drain(..).flatten());
        self.spare.extend(self.far.drain().map(|(_, page)| page));
        self.allocated.clear();
        self.placed.clear();
        self.pages = 0;
        self.next = self.heap_start;
        self.own_end = self.heap_start;
        self.version = 0;
    }

    /// Whether new objects were made.
    pub(super) fn has_allocated(&self) -> bool {
        self.next > self.heap_start
    }

    #[inline]
    fn page(&self, number: u64) -> Option<&Page> {
        match self.near.get(number as usize) {
            Some(page) => page.as_deref(),
            None => self.far.get(&number).map(|page| &**page),
        }
    }

    #[inline]
    fn page_mut(&mut self, number: u64) -> Option<&mut Page> {
        match self.near.get_mut(number as usize) {
            Some(page) => page.as_deref_mut(),
            None => self.far.get_mut(&number).map(|page| &mut **page),
        }
    }

    /// The page of the number, made if it is missing.
    fn page_or_new(&mut self, number: u64) -> Result<&mut Page, OutOfMemory> {
        if self.page(number).is_none() {
            if self.pages >= self.max_pages {
                return Err(OutOfMemory);
            }
            self.pages += 1;
            let mut page =
                self.spare.pop().unwrap_or_else(|| Box::new(Page { bytes: [0; PAGE], state: [0; PAGE], live: 0 }));
            page.state.fill(0);
            page.live = 0;
            if number < NEAR {
                if self.near.len() <= number as usize {
                    self.near.resize_with(number as usize + 1, || None);
                }
                self.near[number as usize] = Some(page);
            } else {
                self.far.insert(number, page);
            }
        }
        Ok(self.page_mut(number).expect("it was just made"))
    }

    fn drop_page(&mut self, number: u64) {
        let page = match self.near.get_mut(number as usize) {
            Some(page) => page.take(),
            None => self.far.remove(&number),
        };
        self.pages -= usize::from(page.is_some());
        if self.spare.len() < 64 {
            self.spare.extend(page);
        }
    }

    /// Calls `act` for the parts of a range that lie in one page: number of the page, first and last-but-one offset.
    fn parts(start: u64, size: u64) -> impl Iterator<Item = (u64, usize, usize)> {
        let end = start + size;
        let mut at = start;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let (number, offset) = (at / PAGE as u64, (at % PAGE as u64) as usize);
            let length = ((end - at) as usize).min(PAGE - offset);
            at += length as u64;
            Some((number, offset, offset + length))
        })
    }

    /// An object begins to live; its bytes have no values.
    pub(super) fn birth(&mut self, addr: u64, size: u64) -> Result<(), OutOfMemory> {
        self.version += 1;
        if size.div_ceil(PAGE as u64) > self.max_pages as u64 {
            return Err(OutOfMemory);
        }
        for (number, from, to) in Self::parts(addr, size) {
            let page = self.page_or_new(number)?;
            page.live += page.state[from..to].iter().filter(|state| **state & LIVE == 0).count();
            page.state[from..to].fill(LIVE | WRITABLE);
        }
        if size > 0 {
            self.page_or_new(addr / PAGE as u64)?.state[(addr % PAGE as u64) as usize] |= FIRST;
        }
        Ok(())
    }

    /// An object ends to live.
    pub(super) fn death(&mut self, addr: u64, size: u64) {
        self.version += 1;
        for (number, from, to) in Self::parts(addr, size) {
            let Some(page) = self.page_mut(number) else { continue };
            page.live -= page.state[from..to].iter().filter(|state| **state & LIVE != 0).count();
            page.state[from..to].fill(0);
            if page.live == 0 {
                self.drop_page(number);
            }
        }
    }

    /// An object must not be written to any more.
    pub(super) fn seal(&mut self, addr: u64, size: u64) {
        for (number, from, to) in Self::parts(addr, size) {
            if let Some(page) = self.page_mut(number) {
                page.state[from..to].iter_mut().for_each(|state| *state &= !WRITABLE);
            }
        }
    }

    /// A new object; the address is chosen here if none is given.
    pub(super) fn alloc(&mut self, size: u64, wanted: Option<u64>) -> Result<Result<u64, AccessError>, OutOfMemory> {
        let addr = wanted.unwrap_or(self.next);
        let Some(end) = addr.checked_add(size).filter(|end| *end <= self.top) else {
            return if wanted.is_some() { Ok(Err(AccessError::BadAddress)) } else { Err(OutOfMemory) };
        };
        if wanted.is_some() {
            let overlaps = self.placed.range(..end.max(addr + 1)).next_back().is_some_and(|(_, end)| *end > addr);
            if !addr.is_multiple_of(16) || addr < self.own_end || overlaps {
                return Ok(Err(AccessError::BadAddress));
            }
            // An object without bytes has an address of its own, too.
            self.placed.insert(addr, end.max(addr + 1));
        } else {
            self.own_end = end;
        }
        self.birth(addr, size)?;
        self.allocated.insert(addr, size);
        self.next = self.next.max((end + GAP).next_multiple_of(16));
        Ok(Ok(addr))
    }

    pub(super) fn free(&mut self, addr: u64) -> Result<(), AccessError> {
        if addr == 0 {
            return Ok(());
        }
        let size = self.allocated.remove(&addr).ok_or(AccessError::BadFree)?;
        self.death(addr, size);
        Ok(())
    }

    /// The value of up to 8 bytes, zero-extended.
    #[inline]
    pub(super) fn load<const N: usize>(&self, addr: u64) -> Result<Loaded, AccessError> {
        let (number, offset) = (addr / PAGE as u64, (addr % PAGE as u64) as usize);
        if let Some(Some(page)) = self.near.get(number as usize)
            && let (Some(bytes), Some(state)) =
                (page.bytes[offset..].first_chunk::<N>(), page.state[offset..].first_chunk::<N>())
            && number_of(state) & pattern::<N>(LIVE | DEFINED) == pattern::<N>(LIVE | DEFINED)
            && number_of(state) & pattern::<N>(FIRST) & !u64::from(FIRST) == 0
        {
            return Ok(Loaded::Value(number_of(bytes)));
        }
        self.load_slowly(addr, N)
    }

    #[cold]
    fn load_slowly(&self, addr: u64, size: usize) -> Result<Loaded, AccessError> {
        self.check(addr, size, 0)?;
        let mut value = 0;
        for at in 0..size as u64 {
            let (byte, state) = self.byte(addr + at).ok_or(AccessError::Outside)?;
            if state & DEFINED == 0 {
                return Ok(Loaded::Undefined);
            }
            value |= u64::from(byte) << (8 * at);
        }
        Ok(Loaded::Value(value))
    }

    fn byte(&self, addr: u64) -> Option<(u8, u8)> {
        let offset = (addr % PAGE as u64) as usize;
        self.page(addr / PAGE as u64).map(|page| (page.bytes[offset], page.state[offset]))
    }

    /// Whether an access may happen: all bytes live, have the bits of `need`, and are of one object.
    fn check(&self, addr: u64, size: usize, need: u8) -> Result<(), AccessError> {
        if addr < 256 {
            return Err(AccessError::Null);
        }
        if addr.checked_add(size as u64).is_none_or(|end| end > self.top) {
            return Err(AccessError::Outside);
        }
        for at in 0..size as u64 {
            let state = self.byte(addr + at).map_or(0, |(_, state)| state);
            if state & LIVE == 0 {
                return Err(if at == 0 { AccessError::Outside } else { AccessError::Across });
            }
            if state & FIRST != 0 && at > 0 {
                return Err(AccessError::Across);
            }
            if state & need != need {
                return Err(AccessError::Constant);
            }
        }
        Ok(())
    }

    /// Stores the low bytes of a value.
    #[inline]
    pub(super) fn store<const N: usize>(&mut self, addr: u64, value: u64) -> Result<(), AccessError> {
        self.version += 1;
        let (number, offset) = (addr / PAGE as u64, (addr % PAGE as u64) as usize);
        if let Some(Some(page)) = self.near.get_mut(number as usize)
            && let (Some(bytes), Some(state)) =
                (page.bytes[offset..].first_chunk_mut::<N>(), page.state[offset..].first_chunk_mut::<N>())
            && number_of(state) & pattern::<N>(LIVE | WRITABLE) == pattern::<N>(LIVE | WRITABLE)
            && number_of(state) & pattern::<N>(FIRST) & !u64::from(FIRST) == 0
        {
            for (byte, new) in bytes.iter_mut().zip(value.to_le_bytes()) {
                *byte = new;
            }
            for state in state {
                *state |= DEFINED;
            }
            return Ok(());
        }
        self.store_slowly(addr, N, value)
    }

    #[cold]
    fn store_slowly(&mut self, addr: u64, size: usize, value: u64) -> Result<(), AccessError> {
        self.check(addr, size, WRITABLE)?;
        for at in 0..size as u64 {
            self.define(addr + at, (value >> (8 * at)) as u8);
        }
        Ok(())
    }

    /// Gives a value to a byte of a live object.
    fn define(&mut self, addr: u64, byte: u8) {
        let offset = (addr % PAGE as u64) as usize;
        if let Some(page) = self.page_mut(addr / PAGE as u64) {
            page.bytes[offset] = byte;
            page.state[offset] |= DEFINED;
        }
    }

    /// Takes the values of bytes away.
    pub(super) fn undefine(&mut self, addr: u64, size: usize) -> Result<(), AccessError> {
        self.version += 1;
        self.check(addr, size, WRITABLE)?;
        for at in addr..addr + size as u64 {
            if let Some(page) = self.page_mut(at / PAGE as u64) {
                page.state[(at % PAGE as u64) as usize] &= !DEFINED;
            }
        }
        Ok(())
    }

    /// Gives values to those bytes of a range that have none; fails at the first one that `byte` has no value for.
    pub(super) fn fill(&mut self, addr: u64, size: usize, byte: &mut dyn FnMut(u64) -> Option<u8>) -> Option<()> {
        for at in addr..addr + size as u64 {
            if self.byte(at).is_some_and(|(_, state)| state & DEFINED == 0) {
                self.define(at, byte(at)?);
            }
        }
        Some(())
    }

    /// Bytes become 0.
    pub(super) fn zero(&mut self, addr: u64, size: u64) -> Result<(), AccessError> {
        self.version += 1;
        if size == 0 {
            return Ok(());
        }
        if addr < 256 {
            return Err(AccessError::Null);
        }
        if addr.checked_add(size).is_none_or(|end| end > self.top) {
            return Err(AccessError::Outside);
        }
        for (number, from, to) in Self::parts(addr, size) {
            let Some(page) = self.page_mut(number) else { return Err(AccessError::Outside) };
            let within = if number == addr / PAGE as u64 { from + 1 } else { from };
            if page.state[from..to].iter().any(|state| state & LIVE == 0) {
                return Err(AccessError::Outside);
            }
            if page.state[within..to].iter().any(|state| state & FIRST != 0) {
                return Err(AccessError::Across);
            }
            if page.state[from..to].iter().any(|state| state & WRITABLE == 0) {
                return Err(AccessError::Constant);
            }
            page.bytes[from..to].fill(0);
            page.state[from..to].iter_mut().for_each(|state| *state |= DEFINED);
        }
        Ok(())
    }
}

/// The bytes as a little-endian number.
#[inline]
fn number_of<const N: usize>(bytes: &[u8; N]) -> u64 {
    let mut all = [0; 8];
    all[..N].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

/// `N` times the same byte.
const fn pattern<const N: usize>(byte: u8) -> u64 {
    let all = 0x0101_0101_0101_0101 * byte as u64;
    if N >= 8 { all } else { all & ((1 << (8 * N)) - 1) }
}
