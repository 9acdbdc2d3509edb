// SPDX-License-Identifier: Apache-2.0
//! Abstract states: which variables and memory cells have which values. Everything else may have any value.

use std::fmt;
use std::rc::Rc;

use cfa::{IntTy, Program, RegionId, VarId};

use crate::map::Map;
use crate::place::{Cell, Place, Places, Slot, var_slot};
use crate::precision::Tracked;

/// A range of bytes that are all zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Zeros {
    region: RegionId,
    start: u64,
    end: u64,
}

/// An abstract state. The bytes of its cells and of its zeros never overlap.
#[derive(Clone, Debug)]
pub struct ValueState {
    /// Values as bits, without sign extension.
    map: Map,
    /// Ascending and disjoint.
    zeros: Rc<[Zeros]>,
}

impl Default for ValueState {
    fn default() -> Self {
        Self { map: Map::default(), zeros: Rc::new([]) }
    }
}

impl PartialEq for ValueState {
    fn eq(&self, other: &Self) -> bool {
        self.map == other.map && (Rc::ptr_eq(&self.zeros, &other.zeros) || self.zeros == other.zeros)
    }
}
impl Eq for ValueState {}

impl fmt::Display for ValueState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut entries = Vec::new();
        self.map.visit(&mut |slot, value| entries.push(format!("{:?}={value:#x}", Slot(slot))));
        entries.extend(self.zeros.iter().map(|zeros| format!("{:#x}..{:#x}=0", zeros.start, zeros.end)));
        f.write_str(&entries.join(" "))
    }
}

impl ValueState {
    /// The variables with known values.
    pub fn known_vars(&self, program: &Program) -> Vec<(VarId, i128)> {
        let mut known = Vec::new();
        self.map.visit(&mut |slot, bits| {
            if (slot as usize) < program.vars.len() {
                let var = VarId::new(slot as usize);
                known.push((var, program.var(var).ty.wrap(i128::from(bits))));
            }
        });
        known
    }

    pub(crate) fn var(&self, var: VarId, ty: IntTy) -> Option<i128> {
        self.map.get(var_slot(var).0).map(|bits| ty.wrap(i128::from(bits)))
    }

    pub(crate) fn set_var(&mut self, var: VarId, value: i128, ty: IntTy) {
        self.map.insert(var_slot(var).0, bits(value, ty));
    }

    /// The bits at a place.
    pub(crate) fn get(&self, slot: Slot) -> Option<u64> {
        self.map.get(slot.0)
    }

    /// The bits at a place are known from now on, or unknown.
    pub(crate) fn put(&mut self, slot: Slot, bits: Option<u64>) {
        match bits {
            Some(bits) => self.map.insert(slot.0, bits),
            None => self.forget(slot),
        }
    }

    pub(crate) fn forget(&mut self, slot: Slot) {
        self.map.remove(slot.0);
    }

    pub(crate) fn knows(&self, slot: Slot) -> bool {
        self.map.get(slot.0).is_some()
    }

    pub(crate) fn has_zeros(&self, region: RegionId) -> bool {
        self.zeros.iter().any(|zeros| zeros.region == region)
    }

    /// All slots with known values, ascending.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        let mut slots = Vec::with_capacity(self.map.len());
        self.map.visit(&mut |slot, _| slots.push(Slot(slot)));
        slots
    }

    /// The slots that have the same value in both states.
    pub(crate) fn keep_agreed(&mut self, other: &ValueState) {
        for slot in self.slots() {
            if self.map.get(slot.0) != other.map.get(slot.0) {
                self.map.remove(slot.0);
            }
        }
        if self.zeros != other.zeros {
            let both = self.zeros.iter().flat_map(|one| {
                other.zeros.iter().filter(|two| two.region == one.region).map(|two| Zeros {
                    region: one.region,
                    start: one.start.max(two.start),
                    end: one.end.min(two.end),
                })
            });
            self.zeros = both.filter(|zeros| zeros.start < zeros.end).collect();
        }
    }

    /// Whether this state stands for no more than `greater`.
    pub(crate) fn leq(&self, greater: &ValueState) -> bool {
        let inside = |part: &Zeros| {
            let candidates = self.zeros.iter().filter(|zeros| zeros.region == part.region);
            candidates.clone().any(|zeros| zeros.start <= part.start && part.end <= zeros.end)
        };
        greater.map.subset(&self.map) && (Rc::ptr_eq(&self.zeros, &greater.zeros) || greater.zeros.iter().all(inside))
    }

    pub(crate) fn shape(&self) -> u64 {
        self.map.keys_hash()
    }

    pub(crate) fn content(&self) -> u64 {
        self.map.hash()
    }

    /// The content that a state of the shape of `example` has if it is greater or equal to this one.
    pub(crate) fn project(&self, example: &ValueState) -> Option<u64> {
        self.map.hash_of_keys(&example.map)
    }

    /// The bytes of a cell, if all are known.
    pub(crate) fn load(&self, places: &mut Places, cell: Cell) -> Option<u64> {
        let slot = places.cell(cell);
        if let Some(bits) = self.map.get(slot.0) {
            return Some(bits);
        }
        let parts: Vec<(Cell, u64)> = places
            .overlapping(slot)
            .iter()
            .filter_map(|&other| self.map.get(other.0).map(|bits| (places.cell_of(other), bits)))
            .collect();
        let mut bits = 0;
        for offset in 0..cell.bytes {
            let addr = cell.addr + offset;
            let part = parts.iter().find(|(part, _)| part.addr <= addr && addr < part.end());
            let byte = match part {
                Some((part, bits)) => bits >> (8 * (addr - part.addr)) & 0xff,
                None if self.is_zero(cell.region, addr) => 0,
                None => return None,
            };
            bits |= byte << (8 * offset);
        }
        Some(bits)
    }

    /// Whether no byte of a cell is known.
    pub(crate) fn knows_nothing_of(&self, places: &Places, slot: Slot) -> bool {
        let Cell { region, addr, bytes } = places.cell_of(slot);
        let known = |&other: &Slot| self.knows(other);
        !self.knows(slot)
            && !places.overlapping(slot).iter().any(known)
            && !(addr..addr + bytes).any(|addr| self.is_zero(region, addr))
    }

    fn is_zero(&self, region: RegionId, addr: u64) -> bool {
        self.zeros.iter().any(|zeros| zeros.region == region && zeros.start <= addr && addr < zeros.end)
    }

    /// The slots that the value of a cell was composed of; the one of the zeros too if they were needed.
    pub(crate) fn load_sources(&self, places: &mut Places, cell: Cell) -> Vec<Slot> {
        let slot = places.cell(cell);
        if self.knows(slot) {
            return vec![slot];
        }
        let mut sources: Vec<Slot> =
            places.overlapping(slot).iter().copied().filter(|&other| self.knows(other)).collect();
        if self.has_zeros(cell.region) {
            sources.push(places.zeros(cell.region));
        }
        sources
    }

    /// The bytes of a cell get a new value, or an unknown one.
    pub(crate) fn store(&mut self, places: &mut Places, cell: Cell, value: Option<u64>, tracked: Tracked<'_>) {
        let slot = places.cell(cell);
        let overlapping: Vec<Slot> =
            places.overlapping(slot).iter().copied().filter(|&other| self.knows(other)).collect();
        self.split(places, &overlapping, cell.addr, cell.end(), tracked);
        self.cut_zeros(cell.region, cell.addr, cell.end());
        match value {
            Some(bits) if tracked.contains(slot) => self.map.insert(slot.0, bits),
            Some(_) | None => self.forget(slot),
        }
    }

    /// Bytes get unknown values.
    pub(crate) fn forget_bytes(
        &mut self,
        places: &mut Places,
        (region, start, end): (RegionId, u64, u64),
        tracked: Tracked<'_>,
    ) {
        let overlapping = places.within(region, start, end);
        self.split(places, &overlapping, start, end, tracked);
        self.cut_zeros(region, start, end);
    }

    /// Bytes become zero.
    pub(crate) fn zero(&mut self, places: &mut Places, range: (RegionId, u64, u64), tracked: Tracked<'_>) {
        self.forget_bytes(places, range, tracked);
        let (region, start, end) = range;
        if start < end && tracked.contains(places.zeros(region)) {
            let mut zeros = self.zeros.to_vec();
            zeros.push(Zeros { region, start, end });
            zeros.sort_unstable();
            self.zeros = zeros.into();
        }
    }

    /// All of a region gets unknown values.
    pub(crate) fn forget_region(&mut self, places: &Places, region: RegionId) {
        // Mostly a state knows few of all places, or most of them.
        let slots = if self.map.len() * 4 < places.count() { self.slots() } else { places.of_region(region) };
        let inside = |slot: &Slot| matches!(places.place(*slot), Place::Cell(cell) if cell.region == region);
        slots.into_iter().filter(inside).for_each(|slot| self.forget(slot));
        if self.has_zeros(region) {
            self.zeros = self.zeros.iter().filter(|zeros| zeros.region != region).copied().collect();
        }
    }

    /// Keeps only what is tracked.
    pub(crate) fn restrict(&mut self, places: &Places, tracked: Tracked<'_>) {
        for slot in self.slots() {
            if !tracked.contains(slot) {
                self.forget(slot);
            }
        }
        if self.zeros.iter().any(|zeros| !tracked.contains(places.zeros(zeros.region))) {
            let kept = self.zeros.iter().filter(|zeros| tracked.contains(places.zeros(zeros.region)));
            self.zeros = kept.copied().collect();
        }
    }

    /// Keeps the values of some slots and the zeros of some regions.
    pub(crate) fn retain(&mut self, slots: &dyn Fn(Slot) -> bool, regions: &dyn Fn(RegionId) -> bool) {
        for slot in self.slots().into_iter().filter(|&slot| !slots(slot)) {
            self.forget(slot);
        }
        if self.zeros.iter().any(|zeros| !regions(zeros.region)) {
            self.zeros = self.zeros.iter().filter(|zeros| regions(zeros.region)).copied().collect();
        }
    }

    /// Gets the values of some slots and the zeros of some regions from another state. This state knows nothing of them,
    /// nor of cells that overlap them.
    pub(crate) fn take_over(
        &mut self,
        other: &ValueState,
        slots: &dyn Fn(Slot) -> bool,
        regions: &dyn Fn(RegionId) -> bool,
    ) {
        other.map.visit(&mut |slot, value| {
            if slots(Slot(slot)) {
                self.map.insert(slot, value);
            }
        });
        let known = |region| self.zeros.iter().any(|zeros| zeros.region == region);
        let more: Vec<Zeros> =
            other.zeros.iter().filter(|zeros| regions(zeros.region) && !known(zeros.region)).copied().collect();
        if !more.is_empty() {
            let mut zeros: Vec<Zeros> = self.zeros.iter().copied().chain(more).collect();
            zeros.sort_unstable();
            self.zeros = zeros.into();
        }
    }

    /// Removes cells of which some bytes change; the other bytes stay known, one by one.
    fn split(&mut self, places: &mut Places, cells: &[Slot], start: u64, end: u64, tracked: Tracked<'_>) {
        for &slot in cells {
            let Some(bits) = self.map.get(slot.0) else { continue };
            self.forget(slot);
            let Cell { region, addr, bytes } = places.cell_of(slot);
            for offset in (0..bytes).filter(|offset| addr + offset < start || addr + offset >= end) {
                let byte = places.cell(Cell { region, addr: addr + offset, bytes: 1 });
                if tracked.contains(byte) {
                    self.map.insert(byte.0, bits >> (8 * offset) & 0xff);
                }
            }
        }
    }

    fn cut_zeros(&mut self, region: RegionId, start: u64, end: u64) {
        let touched = |zeros: &Zeros| zeros.region == region && zeros.start < end && start < zeros.end;
        if !self.zeros.iter().any(touched) {
            return;
        }
        let mut rest = Vec::with_capacity(self.zeros.len() + 1);
        for zeros in self.zeros.iter() {
            if !touched(zeros) {
                rest.push(*zeros);
                continue;
            }
            if zeros.start < start {
                rest.push(Zeros { end: start, ..*zeros });
            }
            if end < zeros.end {
                rest.push(Zeros { start: end, ..*zeros });
            }
        }
        self.zeros = rest.into();
    }
}

/// The bits of a value in the range of a type.
pub(crate) fn bits(value: i128, ty: IntTy) -> u64 {
    IntTy { signed: false, ..ty }.wrap(value) as u64
}

#[cfg(test)]
mod tests {
    use cfa::{Options, Source};
    use proptest::prelude::*;

    use super::*;
    use crate::precision::SlotSet;

    /// An operation on a memory of 32 bytes.
    #[derive(Clone, Copy, Debug)]
    enum Change {
        Store(u64, u64, Option<u64>),
        Zero(u64, u64),
        Forget(u64, u64),
        ForgetRegion,
    }

    fn change() -> impl Strategy<Value = Change> {
        let bytes = prop_oneof![Just(1u64), Just(2), Just(4), Just(8)];
        prop_oneof![
            6 => (0u64..24, bytes, prop::option::weighted(0.8, any::<u64>())).prop_map(|(a, b, v)| Change::Store(a, b, v)),
            2 => (0u64..32, 0u64..20).prop_map(|(a, n)| Change::Zero(a, a.saturating_add(n).min(32))),
            1 => (0u64..32, 0u64..20).prop_map(|(a, n)| Change::Forget(a, a.saturating_add(n).min(32))),
            1 => Just(Change::ForgetRegion),
        ]
    }

    proptest! {
        /// With everything tracked, memory knows exactly what single bytes would know; otherwise never anything wrong.
        #[test]
        fn memory_is_a_memory_of_bytes(changes in prop::collection::vec(change(), 0..25), mask in any::<u64>()) {
            let source = Source { name: "t.c".into(), text: "int main(void) { return 0; }".into() };
            let program = cfa::load(&[source], &Options::default()).unwrap();
            let mut places = Places::new(&program);
            let region = RegionId::new(0);
            let some: SlotSet = (0..400).filter(|n| mask >> (n % 64) & 1 == 1).map(Slot).collect();
            let (mut full, mut partial) = (ValueState::default(), ValueState::default());
            let mut model: Vec<Option<u8>> = vec![None; 32];
            for change in changes {
                for (state, tracked) in [(&mut full, Tracked::All), (&mut partial, Tracked::Set(&some))] {
                    match change {
                        Change::Store(addr, bytes, value) => {
                            let mask = if bytes == 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 };
                            let cell = Cell { region, addr, bytes };
                            state.store(&mut places, cell, value.map(|value| value & mask), tracked);
                        }
                        Change::Zero(start, end) => state.zero(&mut places, (region, start, end), tracked),
                        Change::Forget(start, end) => state.forget_bytes(&mut places, (region, start, end), tracked),
                        Change::ForgetRegion => state.forget_region(&places, region),
                    }
                }
                let (range, value) = match change {
                    Change::Store(addr, bytes, value) => (addr..addr + bytes, value),
                    Change::Zero(start, end) => (start..end, Some(0)),
                    Change::Forget(start, end) => (start..end, None),
                    Change::ForgetRegion => (0..32, None),
                };
                for (offset, addr) in range.enumerate() {
                    model[addr as usize] = value.map(|value| if value == 0 { 0 } else { (value >> (8 * offset)) as u8 });
                }
            }
            for bytes in [1, 2, 4, 8] {
                for addr in 0..=32 - bytes {
                    let known = model[addr as usize..(addr + bytes) as usize].iter().rev()
                        .try_fold(0u64, |value, byte| Some(value << 8 | u64::from((*byte)?)));
                    let cell = Cell { region, addr, bytes };
                    prop_assert_eq!(full.load(&mut places, cell), known);
                    let less = partial.load(&mut places, cell);
                    prop_assert!(less.is_none() || less == known);
                }
            }
            prop_assert!(full.leq(&full) && full.leq(&ValueState::default()));
        }
    }
}
