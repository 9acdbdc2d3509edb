// SPDX-License-Identifier: Apache-2.0
//! What can have a known value: variables, and cells of memory at known addresses. Each gets a small number, so that states
//! and precisions are maps and sets of numbers.

use std::collections::BTreeMap;
use std::fmt;

use cfa::{Program, RegionId, VarId};
use rustc_hash::FxHashMap;

/// The number of a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub(crate) u32);

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

/// Bytes of memory that are read or written together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cell {
    /// The part of memory; cells of different parts never overlap.
    pub region: RegionId,
    /// The address of the first byte.
    pub addr: u64,
    /// The number of bytes, at most 8.
    pub bytes: u64,
}

impl Cell {
    /// The address behind the last byte.
    pub(crate) fn end(self) -> u64 {
        self.addr + self.bytes
    }
}

/// A place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A variable.
    Var(VarId),
    /// All bytes of a region that are known to be zero without having been stored one by one; only for precisions.
    Zeros(RegionId),
    /// The address of the next new object.
    Heap,
    /// A cell.
    Cell(Cell),
}

/// The numbering of places. Variables come first, then regions and the heap; cells are numbered as they are met.
#[derive(Debug)]
pub(crate) struct Places {
    vars: u32,
    regions: u32,
    slots: FxHashMap<Cell, Slot>,
    cells: Vec<Known>,
    starts: BTreeMap<(RegionId, u64), Vec<Slot>>,
}

/// A numbered cell.
#[derive(Debug)]
struct Known {
    cell: Cell,
    /// The other numbered cells that share a byte with it.
    overlapping: Vec<Slot>,
}

impl Places {
    pub(crate) fn new(program: &Program) -> Self {
        let count = |len: usize| u32::try_from(len).expect("fewer than 2^32 entities");
        Self {
            vars: count(program.vars.len()),
            regions: count(program.regions.len()),
            slots: FxHashMap::default(),
            cells: Vec::new(),
            starts: BTreeMap::new(),
        }
    }

    pub(crate) fn place(&self, slot: Slot) -> Place {
        let number = slot.0;
        if number < self.vars {
            Place::Var(VarId::new(number as usize))
        } else if number < self.vars + self.regions {
            Place::Zeros(RegionId::new((number - self.vars) as usize))
        } else if slot == self.heap() {
            Place::Heap
        } else {
            Place::Cell(self.known(slot).cell)
        }
    }

    /// How many cells are numbered.
    pub(crate) fn count(&self) -> usize {
        self.cells.len()
    }

    /// The slot that stands in a precision for the zeros of a region.
    pub(crate) fn zeros(&self, region: RegionId) -> Slot {
        Slot(self.vars + region.index() as u32)
    }

    /// The slot of the address of the next new object.
    pub(crate) fn heap(&self) -> Slot {
        Slot(self.vars + self.regions)
    }

    /// The position of a cell among the cells.
    fn index(&self, slot: Slot) -> usize {
        (slot.0 - self.heap().0 - 1) as usize
    }

    fn known(&self, slot: Slot) -> &Known {
        &self.cells[self.index(slot)]
    }

    /// The number of a cell; it gets one if it has none.
    pub(crate) fn cell(&mut self, cell: Cell) -> Slot {
        if let Some(&slot) = self.slots.get(&cell) {
            return slot;
        }
        let overlapping = self.within(cell.region, cell.addr, cell.end());
        let slot = Slot(self.heap().0 + 1 + u32::try_from(self.cells.len()).expect("fewer than 2^32 cells"));
        for &other in &overlapping {
            let index = self.index(other);
            self.cells[index].overlapping.push(slot);
        }
        self.cells.push(Known { cell, overlapping });
        self.slots.insert(cell, slot);
        self.starts.entry((cell.region, cell.addr)).or_default().push(slot);
        slot
    }

    /// The bytes of a numbered cell.
    pub(crate) fn cell_of(&self, slot: Slot) -> Cell {
        self.known(slot).cell
    }

    /// The other numbered cells that share a byte with this one.
    pub(crate) fn overlapping(&self, slot: Slot) -> &[Slot] {
        &self.known(slot).overlapping
    }

    /// The numbered cells that share a byte with the given ones.
    pub(crate) fn within(&self, region: RegionId, start: u64, end: u64) -> Vec<Slot> {
        let range = self.starts.range((region, start.saturating_sub(7))..(region, end));
        let slots = range.flat_map(|(_, slots)| slots.iter().copied());
        slots.filter(|&slot| self.cell_of(slot).end() > start).collect()
    }

    /// All numbered cells of a region.
    pub(crate) fn of_region(&self, region: RegionId) -> Vec<Slot> {
        let range = self.starts.range((region, 0)..=(region, u64::MAX));
        range.flat_map(|(_, slots)| slots.iter().copied()).collect()
    }
}

/// The slot of a variable.
pub(crate) fn var_slot(var: VarId) -> Slot {
    Slot(var.index() as u32)
}
