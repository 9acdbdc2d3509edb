// SPDX-License-Identifier: Apache-2.0
//! What a state knows about memory: values of cells at known addresses, and which bytes are zero.

use std::ops::Range;

use cfa::{IntTy, RegionId};

use super::state::Val;

/// A value in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cell {
    pub(crate) region: RegionId,
    pub(crate) addr: u64,
    /// The type as which it was stored or loaded.
    pub(crate) ty: IntTy,
    pub(crate) value: Val,
}

impl Cell {
    fn end(&self) -> u64 {
        self.addr + bytes(self.ty)
    }
}

/// Bytes that are zero and belong to no cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Zeros {
    pub(crate) region: RegionId,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// Memory. Bytes without a cell and without zeros hold anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Memory {
    /// The address of the next new object, if it is known.
    pub(crate) heap: Option<u64>,
    /// In the order of regions and addresses, without overlaps.
    pub(crate) zeros: Vec<Zeros>,
    /// In the order of regions and addresses, without overlaps.
    pub(crate) cells: Vec<Cell>,
}

/// What a load finds.
pub(crate) enum Loaded {
    /// A value of this type.
    Value(Val, IntTy),
    /// Bytes of which nothing is known.
    Unknown,
    /// Parts of cells, or zeros and other bytes.
    Mixed,
}

impl Memory {
    /// Memory that may hold anything.
    pub(crate) fn new(heap: u64) -> Self {
        Memory { heap: Some(heap), zeros: Vec::new(), cells: Vec::new() }
    }

    /// The value of a type at an address.
    pub(crate) fn load(&self, region: RegionId, addr: u64, ty: IntTy) -> Loaded {
        let end = addr + bytes(ty);
        match (&self.cells[self.cells_in(region, addr, end)], &self.zeros[self.zeros_in(region, addr, end)]) {
            ([cell], _) if cell.addr == addr && cell.ty.bits == ty.bits => Loaded::Value(cell.value, cell.ty),
            ([], [zeros]) if zeros.start <= addr && end <= zeros.end => Loaded::Value(Val::Const(0), ty),
            ([], []) => Loaded::Unknown,
            _ => Loaded::Mixed,
        }
    }

    /// Stores a value of a type at an address.
    pub(crate) fn store(&mut self, region: RegionId, addr: u64, ty: IntTy, value: Val) {
        self.clear(region, addr, addr + bytes(ty));
        let at = self.cells.partition_point(|cell| (cell.region, cell.addr) < (region, addr));
        self.cells.insert(at, Cell { region, addr, ty, value });
    }

    /// From now on the bytes are zero.
    pub(crate) fn zero(&mut self, region: RegionId, start: u64, end: u64) {
        self.clear(region, start, end);
        self.insert(Zeros { region, start, end });
    }

    /// From now on nothing is known about a part of memory.
    pub(crate) fn forget(&mut self, region: RegionId) {
        self.retain(|other| other != region);
    }

    /// Forgets all parts of memory but these.
    pub(crate) fn retain(&mut self, keep: impl Fn(RegionId) -> bool) {
        self.cells.retain(|cell| keep(cell.region));
        self.zeros.retain(|zeros| keep(zeros.region));
    }

    /// From now on nothing is known about these bytes.
    fn clear(&mut self, region: RegionId, start: u64, end: u64) {
        self.cells.drain(self.cells_in(region, start, end));
        let cut: Vec<Zeros> = self.zeros.drain(self.zeros_in(region, start, end)).collect();
        for zeros in cut {
            self.insert(Zeros { end: start.min(zeros.end), ..zeros });
            self.insert(Zeros { start: end.max(zeros.start), ..zeros });
        }
    }

    fn insert(&mut self, zeros: Zeros) {
        if zeros.start < zeros.end {
            let at = self.zeros.partition_point(|other| *other < zeros);
            self.zeros.insert(at, zeros);
        }
    }

    /// The positions of the cells that share a byte with the given ones.
    fn cells_in(&self, region: RegionId, start: u64, end: u64) -> Range<usize> {
        let first = self.cells.partition_point(|cell| (cell.region, cell.end()) <= (region, start));
        let last = self.cells.partition_point(|cell| (cell.region, cell.addr) < (region, end));
        first..last.max(first)
    }

    /// The positions of the zeros that share a byte with the given ones.
    fn zeros_in(&self, region: RegionId, start: u64, end: u64) -> Range<usize> {
        let first = self.zeros.partition_point(|zeros| (zeros.region, zeros.end) <= (region, start));
        let last = self.zeros.partition_point(|zeros| (zeros.region, zeros.start) < (region, end));
        first..last.max(first)
    }
}

/// The size of a type.
pub(crate) fn bytes(ty: IntTy) -> u64 {
    u64::from(ty.bits / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads of all types at all addresses agree with an array of bytes of which some are not known.
    #[test]
    fn memory_is_a_memory_of_bytes() {
        let region = RegionId::new(1);
        let mut random = 7u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % below
        };
        for _ in 0..2000 {
            let mut memory = Memory::new(4096);
            let mut bytes = [None; 40];
            for _ in 0..12 {
                let ty = IntTy { bits: 8 << next(4), signed: false };
                let (addr, size) = (next(32), u64::from(ty.bits / 8));
                match next(8) {
                    0 => {
                        memory.zero(region, addr, addr + size - 1);
                        bytes[addr as usize..(addr + size - 1) as usize].fill(Some(0));
                    }
                    1 => {
                        memory.forget(RegionId::new(next(5) as usize));
                        if memory.cells.is_empty() && memory.zeros.is_empty() {
                            bytes.fill(None);
                        }
                    }
                    _ => {
                        let value = next(1 << 30) & ((1u64 << (ty.bits - 1)) - 1);
                        memory.store(region, addr, ty, Val::Const(i128::from(value)));
                        memory.store(RegionId::new(2), addr, ty, Val::Any);
                        let there = memory.load(region, addr, ty);
                        assert!(matches!(there, Loaded::Value(Val::Const(found), _) if found == i128::from(value)));
                        for (at, byte) in value.to_le_bytes()[..size as usize].iter().enumerate() {
                            bytes[addr as usize + at] = Some(*byte);
                        }
                    }
                }
                for addr in 0..32 {
                    for ty in [8, 16, 32, 64].map(|bits| IntTy { bits, signed: false }) {
                        let there = &bytes[addr as usize..addr as usize + (ty.bits / 8) as usize];
                        match memory.load(region, addr, ty) {
                            Loaded::Value(Val::Const(value), _) => {
                                let all: Option<Vec<u8>> = there.iter().copied().collect();
                                assert_eq!(all.unwrap(), value.to_le_bytes()[..there.len()]);
                            }
                            Loaded::Value(value, _) => panic!("{value:?}"),
                            // Of a cell that was overwritten in part nothing is known any more.
                            Loaded::Unknown | Loaded::Mixed => {}
                        }
                    }
                }
            }
        }
    }
}
