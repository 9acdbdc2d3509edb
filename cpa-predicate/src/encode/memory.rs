// SPDX-License-Identifier: Apache-2.0
//! Memory as arrays: one for each region of the automaton, of cells if all accesses have one width, else of bytes.
//!
//! The memory model is that of Burstall, as separated by regions that a points-to analysis found (Steensgaard; compare
//! Leino, *Efficient Weakest Preconditions*, and Rakamarić, Hu, *A Scalable Memory Model for Low-Level Code*, VMCAI 2009). New
//! objects are cut from a heap that only grows, so no two overlap, and what they hold at first is what nobody wrote: anything.
//!
//! The initialisation of large objects whose number of cells is not known, or larger than [`MAX_ZEROS`], makes the whole region
//! arbitrary, which is more than can happen.

use std::sync::Arc;

use cfa::Program;
use cfa::ids::{EdgeId, ExprId, RegionId};
use cfa::ir::{ExprKind, Op};
use rustc_hash::FxHashSet;
use smt::path::Stmt;
use smt::{BvBin, Sort, SymId, TermId, Terms};

use super::{Encoder, Inexact};

/// Cells that are set to zero one by one.
const MAX_ZEROS: u128 = 1 << 16;

/// Addresses of new objects are multiples of this.
const ALIGNMENT: u128 = 16;

/// The array of a region and how addresses become its indices.
#[derive(Clone, Copy)]
pub(super) struct Cells {
    pub(super) symbol: SymId,
    /// Bytes of a cell as a power of two.
    shift: u32,
    /// Width of a pointer.
    pointer: u32,
}

impl Cells {
    fn element(self) -> u32 {
        8 << self.shift
    }

    /// The index of the cell at an address.
    fn index(self, terms: &mut Terms, addr: TermId) -> TermId {
        terms.extract(self.pointer - 1, self.shift, addr)
    }

    /// The indices of the cells of a value of `bits` bits at an address.
    fn indices(self, terms: &mut Terms, addr: TermId, bits: u32) -> Vec<TermId> {
        let first = self.index(terms, addr);
        let width = terms.width(first);
        (0..bits.div_ceil(self.element()))
            .map(|i| {
                let offset = terms.bv(width, u128::from(i));
                terms.bv_bin(BvBin::Add, first, offset)
            })
            .collect()
    }
}

impl Encoder {
    /// The symbol that stands for the address of the next object.
    pub(super) fn heap(&mut self, terms: &mut Terms) -> SymId {
        terms.symbol("heap!", Sort::Bv(self.pointer_bits()))
    }

    fn pointer_bits(&self) -> u32 {
        self.program.machine.long_bits()
    }

    pub(super) fn cells(&mut self, terms: &mut Terms, region: RegionId) -> Cells {
        let pointer = self.pointer_bits();
        let element = self.program.region(region).width.unwrap_or(8);
        let shift = (element / 8).trailing_zeros();
        let sort = Sort::Array { index: pointer - shift, element };
        let symbol = terms.symbol(&format!("memory!{}", region.index()), sort);
        Cells { symbol, shift, pointer }
    }

    /// What holds before the first step: addresses of new objects begin above all others, and regions whose objects begin as
    /// zeros are all zero.
    pub(super) fn start(&mut self, terms: &mut Terms) -> Vec<Stmt> {
        let mut statements = Vec::new();
        if !self.uses_memory {
            return statements;
        }
        let heap = self.heap(terms);
        let start = terms.bv(self.pointer_bits(), u128::from(self.program.heap_start()));
        statements.push(Stmt::Assign(heap, start));
        for region in (0..self.program.regions.len()).map(RegionId::new) {
            if self.program.region(region).zeroed {
                let cells = self.cells(terms, region);
                let zero = terms.bv(cells.element(), 0);
                let array = terms.const_array(cells.pointer - cells.shift, zero);
                statements.push(Stmt::Assign(cells.symbol, array));
            }
        }
        statements
    }

    /// The statements of an edge with an operation on memory.
    pub(super) fn memory(&mut self, terms: &mut Terms, edge: EdgeId) -> Result<Vec<Stmt>, Inexact> {
        let is_fresh = self.fresh_zeros.contains(&edge);
        let program = Arc::clone(&self.program);
        Ok(match program.edge(edge).op {
            Op::Load { var, addr, region } => {
                let addr = self.value(terms, addr)?;
                let bits = program.vars[var.index()].ty.bits;
                let var = self.symbol(terms, var);
                match self.chosen(terms, region, addr, bits) {
                    Some(slots) => {
                        let outside = terms.symbol(&format!("outside!{bits}"), Sort::Bv(bits));
                        self.outside.insert(outside);
                        let mut value = terms.var(outside, 0);
                        let memory = self.cells(terms, region).symbol;
                        let memory = terms.var(memory, 0);
                        for (here, index) in slots {
                            let cell = terms.select(memory, index);
                            value = terms.ite(here, cell, value);
                        }
                        vec![Stmt::Havoc(outside), Stmt::Assign(var, value)]
                    }
                    None => vec![Stmt::Assign(var, self.read(terms, region, addr, bits))],
                }
            }
            Op::Store { addr, value, region } => {
                let addr = self.value(terms, addr)?;
                let value = self.value(terms, value)?;
                let cells = self.cells(terms, region);
                let after = match self.chosen(terms, region, addr, terms.width(value)) {
                    Some(slots) => {
                        let mut memory = terms.var(cells.symbol, 0);
                        for (here, index) in slots {
                            let old = terms.select(memory, index);
                            let new = terms.ite(here, value, old);
                            memory = terms.store(memory, index, new);
                        }
                        memory
                    }
                    None => stored(terms, cells, addr, value),
                };
                vec![Stmt::Assign(cells.symbol, after)]
            }
            Op::Alloc { var, size, .. } => {
                let size = self.value(terms, size)?;
                let heap = self.heap(terms);
                let here = terms.var(heap, 0);
                let next = object_end(terms, here, size, self.pointer_bits());
                vec![Stmt::Assign(self.symbol(terms, var), here), Stmt::Assign(heap, next)]
            }
            Op::Zero { addr, size, region } => self.zero(terms, (addr, size, region), is_fresh)?,
            // That an object is not used any more is checked when a counterexample is replayed.
            Op::Free { .. } => Vec::new(),
            _ => unreachable!("the caller has an operation on memory"),
        })
    }

    /// The few cells that an address may be that of, with the condition for each; none for many cells, which are not told
    /// apart. Accesses outside of all objects are left to the replay, so such a value is any, and nothing is written.
    fn chosen(
        &mut self,
        terms: &mut Terms,
        region: RegionId,
        addr: TermId,
        bits: u32,
    ) -> Option<Vec<(TermId, TermId)>> {
        let cells = self.cells(terms, region);
        if self.cells_apart == 0 || bits != cells.element() || terms.as_value(addr).is_some() {
            return None;
        }
        let slots = self.slots(region)?;
        let pointer = cells.pointer;
        let chosen = slots.into_iter().map(|slot| {
            let slot = terms.bv(pointer, slot.into());
            (terms.eq(addr, slot), cells.index(terms, slot))
        });
        Some(chosen.collect())
    }

    /// The addresses of all cells of a region, if they are known and few.
    fn slots(&self, region: RegionId) -> Option<Vec<u64>> {
        let region = self.program.region(region);
        let bytes = u64::from(region.width.filter(|_| !region.others)? / 8);
        let mut slots = Vec::new();
        for &addr in &region.objects {
            let object = self.program.objects.binary_search_by_key(&addr, |object| object.addr).ok()?;
            let size = self.program.objects[object].size;
            if size / bytes > self.cells_apart || !size.is_multiple_of(bytes) || !addr.is_multiple_of(bytes) {
                return None;
            }
            slots.extend((0..size / bytes).map(|at| addr + at * bytes));
        }
        (slots.len() as u64 <= self.cells_apart).then_some(slots)
    }

    /// The value of `bits` bits at an address, which has the width of a pointer; only in the encoding with bit-vectors.
    pub fn read(&mut self, terms: &mut Terms, region: RegionId, addr: TermId, bits: u32) -> TermId {
        let cells = self.cells(terms, region);
        let memory = terms.var(cells.symbol, 0);
        let parts: Vec<TermId> =
            cells.indices(terms, addr, bits).into_iter().map(|index| terms.select(memory, index)).collect();
        let joined = parts.into_iter().reduce(|low, high| terms.concat(high, low)).expect("values have bits");
        if bits < cells.element() { terms.extract(bits - 1, 0, joined) } else { joined }
    }

    fn zero(
        &mut self,
        terms: &mut Terms,
        (addr, size, region): (ExprId, ExprId, RegionId),
        is_fresh: bool,
    ) -> Result<Vec<Stmt>, Inexact> {
        let cells = self.cells(terms, region);
        if is_fresh && self.program.region(region).zeroed {
            // Nobody wrote to a new object of a region that is all zero at the start.
            return Ok(Vec::new());
        }
        let addr = self.value(terms, addr)?;
        let size = self.value(terms, size)?;
        let count = match *terms.get(size) {
            smt::Term::Bv { bits, .. } => bits.div_ceil(u128::from(cells.element() / 8)),
            _ => u128::MAX,
        };
        if count > MAX_ZEROS {
            return Ok(vec![Stmt::Havoc(cells.symbol)]);
        }
        let bits = u32::try_from(count).expect("a small number") * cells.element();
        let mut memory = terms.var(cells.symbol, 0);
        let zero = terms.bv(cells.element(), 0);
        for index in cells.indices(terms, addr, bits) {
            memory = terms.store(memory, index, zero);
        }
        Ok(if count == 0 { Vec::new() } else { vec![Stmt::Assign(cells.symbol, memory)] })
    }
}

/// The edges that set objects to zero to which nothing can have been written before: those at the start of the program, and
/// those that follow the allocation of the object.
pub(super) fn fresh_zeros(program: &Program) -> FxHashSet<EdgeId> {
    let mut fresh = FxHashSet::default();
    let main = program.func(program.main).body.map(|body| body.entry);
    let mut node = program.entry;
    while Some(node) != main
        && let [edge] = program.node(node).leaving[..]
        && let Op::Zero { .. } = program.edge(edge).op
        && fresh.insert(edge)
    {
        node = program.edge(edge).dst;
    }
    for id in program.edge_ids() {
        let edge = program.edge(id);
        let Op::Zero { addr, .. } = edge.op else { continue };
        // An object with several regions is set to zero in each.
        let mut node = edge.src;
        while let [before] = program.node(node).entering[..] {
            let before = program.edge(before);
            match before.op {
                Op::Zero { addr: other, .. } if other == addr => node = before.src,
                Op::Alloc { var, .. } if program.exprs.get(addr).kind == ExprKind::Var(var) => {
                    fresh.insert(id);
                    break;
                }
                _ => break,
            }
        }
    }
    fresh
}

/// Whether a program has operations on memory.
pub(super) fn uses_memory(program: &Program) -> bool {
    let touches = |op: &Op| {
        matches!(op, Op::Load { .. } | Op::Store { .. } | Op::Alloc { .. } | Op::Free { .. } | Op::Zero { .. })
    };
    program.edges.iter().any(|edge| touches(&edge.op))
}

/// The region's array after a store.
fn stored(terms: &mut Terms, cells: Cells, addr: TermId, value: TermId) -> TermId {
    let bits = terms.width(value);
    let element = cells.element();
    let mut memory = terms.var(cells.symbol, 0);
    for (i, index) in (0u32..).zip(cells.indices(terms, addr, bits)) {
        let low = i * element;
        let part = if bits < element {
            // Not written by the lowering; the rest of the cell stays.
            let old = terms.select(memory, index);
            let rest = terms.extract(element - 1, bits, old);
            terms.concat(rest, value)
        } else {
            terms.extract(low + element - 1, low, value)
        };
        memory = terms.store(memory, index, part);
    }
    memory
}

/// Where the next object begins: behind `size` bytes, and at least one, at a multiple of [`ALIGNMENT`].
fn object_end(terms: &mut Terms, here: TermId, size: TermId, pointer: u32) -> TermId {
    let (zero, one) = (terms.bv(pointer, 0), terms.bv(pointer, 1));
    let size = if terms.width(size) < pointer { terms.zext(pointer, size) } else { size };
    let is_empty = terms.eq(size, zero);
    let size = terms.ite(is_empty, one, size);
    let (more, mask) = (terms.bv(pointer, ALIGNMENT - 1), terms.bv(pointer, !(ALIGNMENT - 1)));
    let rounded = terms.bv_bin(BvBin::Add, size, more);
    let rounded = terms.bv_bin(BvBin::And, rounded, mask);
    terms.bv_bin(BvBin::Add, here, rounded)
}
