// SPDX-License-Identifier: Apache-2.0
//! Constructors of array terms.
//!
//! An array is a base under layers of stores. A layer collects the writes at one base index plus constants: the cells of
//! the objects with fixed addresses, or of what one pointer points to. Within a layer the order of the writes does not
//! matter, so equal memories are equal terms, and a read at a constant distance from the base is a look-up. Reads pass
//! layers that cannot overlap them; a few writes that may overlap become a choice. Where control flow meets, layers are
//! merged cell by cell, so memory at fixed addresses is treated like variables.

use super::array_value::ArrayValue;
use super::ids::{Sort, TermId};
use super::node::{BvBin, Term};
use super::semantics::mask;
use super::store::Terms;
use super::writes::{Traits, Writes};

/// Writes that may overlap a read, up to which the read becomes a choice between them.
const OVERLAPS: usize = 8;

/// Layers of both sides together, and writes of a layer that one side lacks, up to which arrays are merged.
const LAYERS: usize = 16;
const ONE_SIDED: usize = 64;

/// What a layer says about a read.
enum Reading {
    /// It reads this.
    Hit(TermId),
    /// It does not touch the layer.
    Miss,
    /// It may read one of these writes (offset, element).
    Perhaps(Vec<(u128, TermId)>),
    /// There are too many of them.
    Unknown,
}

impl Terms {
    /// An array with the same element everywhere.
    pub fn const_array(&mut self, index: u32, element: TermId) -> TermId {
        debug_assert!((1..=128).contains(&index), "indices have 1 to 128 bits");
        self.intern(Term::ConstArray { index, element })
    }

    /// The array of a value.
    pub(super) fn array_constant(&mut self, value: &ArrayValue) -> TermId {
        let default = self.bv(value.element_width(), value.default_element());
        let array = self.const_array(value.index_width(), default);
        let zero = self.bv(value.index_width(), 0);
        let writes: Vec<(u128, TermId)> =
            value.entries().map(|(i, v)| (i, self.bv(value.element_width(), v))).collect();
        self.store_all(array, zero, &writes)
    }

    /// The element of an array at an index.
    pub fn select(&mut self, array: TermId, index: TermId) -> TermId {
        debug_assert!(
            matches!(self.sort(array), Sort::Array { index: width, .. } if self.sort(index) == Sort::Bv(width)),
            "an array and an index of its width"
        );
        let mut overlapping: Vec<(TermId, TermId)> = Vec::new();
        let mut array = array;
        let mut result = loop {
            match *self.get(array) {
                Term::ConstArray { element, .. } => break element,
                Term::Store { array: below, base, ref writes } => {
                    let writes = writes.clone();
                    match self.reading(index, base, &writes, OVERLAPS - overlapping.len()) {
                        Reading::Hit(element) => break element,
                        Reading::Miss => {}
                        Reading::Unknown => break self.intern(Term::Select(array, index)),
                        Reading::Perhaps(writes) => {
                            for (offset, element) in writes {
                                let place = self.plus_constant(base, offset);
                                overlapping.push((self.eq(index, place), element));
                            }
                        }
                    }
                    array = below;
                }
                Term::Ite(c, x, y) => {
                    if let Some(&known) = self.selections.get(&(array, index)) {
                        break known;
                    }
                    let chosen = self.nested(|terms| {
                        let (x, y) = (terms.select(x, index), terms.select(y, index));
                        terms.ite(c, x, y)
                    });
                    break match chosen {
                        Some(chosen) => {
                            self.selections.insert((array, index), chosen);
                            chosen
                        }
                        None => self.intern(Term::Select(array, index)),
                    };
                }
                _ => break self.intern(Term::Select(array, index)),
            }
        };
        // The outermost write comes first.
        for (here, element) in overlapping.into_iter().rev() {
            result = self.ite(here, element, result);
        }
        result
    }

    fn traits(&self, t: TermId) -> Traits {
        Traits { has_bounded: self.has_bounded(t), has_float: self.has_float(t), has_choice: !self.is_flat(t) }
    }

    fn plus_constant(&mut self, base: TermId, offset: u128) -> TermId {
        let offset = self.bv(self.width(base), offset);
        self.bv_bin(BvBin::Add, base, offset)
    }

    fn reading(&self, index: TermId, base: TermId, writes: &Writes, room: usize) -> Reading {
        let width = self.width(index);
        let (monomials, distance) = self.distance(index, base);
        let Some(twos) = monomials else {
            return match writes.get(distance) {
                Some(element) => Reading::Hit(element),
                None => Reading::Miss,
            };
        };
        // The distance is a constant modulo the factors two that all its other parts have.
        if twos == 0 && writes.len() > room {
            return Reading::Unknown;
        }
        let low = mask(twos.min(width));
        let mut candidates = Vec::new();
        for (offset, element) in writes.to_vec() {
            if twos > 0 && (offset ^ distance) & low != 0 {
                continue;
            }
            if candidates.len() == room {
                return Reading::Unknown;
            }
            candidates.push((offset, element));
        }
        if candidates.is_empty() { Reading::Miss } else { Reading::Perhaps(candidates) }
    }

    /// `a - b` as a constant and, unless it is only that, the number of factors two that all other parts have.
    fn distance(&self, a: TermId, b: TermId) -> (Option<u32>, u128) {
        let width = self.width(a);
        if let (Some(x), Some(y)) = (self.as_bv(a), self.as_bv(b)) {
            return (None, x.wrapping_sub(y) & mask(width));
        }
        let difference = self.difference(a, b);
        let twos = difference.monomials.iter().map(|(_, c)| c.trailing_zeros()).min();
        (twos, difference.constant)
    }

    /// Whether two indices are different in all cases, as far as their normal forms show.
    pub(crate) fn never_equal(&self, a: TermId, b: TermId) -> bool {
        match self.distance(a, b) {
            (None, k) => k != 0,
            (Some(twos), k) => k & mask(twos) != 0,
        }
    }

    /// The index as a base and what is added to it as a constant.
    fn split_index(&mut self, index: TermId) -> (TermId, u128) {
        let width = self.width(index);
        if let Some(k) = self.as_bv(index) {
            return (self.bv(width, 0), k);
        }
        let constant = self.sum_of(index).constant;
        (self.plus_constant(index, constant.wrapping_neg() & mask(width)), constant)
    }

    /// The array with another element at one index.
    pub fn store(&mut self, array: TermId, index: TermId, element: TermId) -> TermId {
        debug_assert!(
            self.sort(array) == Sort::Array { index: self.width(index), element: self.width(element) },
            "an array, an index and an element that fit"
        );
        if matches!(*self.get(element), Term::Select(a, i) if a == array && i == index) {
            return array;
        }
        let (base, offset) = self.split_index(index);
        self.write(array, base, &[(offset, element)])
    }

    /// The array with other elements at `base` plus each of the offsets, which are different.
    pub(super) fn store_all(&mut self, array: TermId, base: TermId, writes: &[(u128, TermId)]) -> TermId {
        let (base, offset) = self.split_index(base);
        let ones = mask(self.width(base));
        let moved: Vec<(u128, TermId)> = writes.iter().map(|&(k, v)| (k.wrapping_add(offset) & ones, v)).collect();
        self.write(array, base, &moved)
    }

    /// Writes at a base without a constant.
    fn write(&mut self, array: TermId, base: TermId, writes: &[(u128, TermId)]) -> TermId {
        let Some((&(first, element), rest)) = writes.split_first() else { return array };
        let (below, mut layer) = match *self.get(array) {
            Term::Store { array: below, base: other, ref writes } if other == base => {
                (below, writes.with(first, element, self.traits(element)))
            }
            _ => (array, Writes::one(first, element, self.traits(element))),
        };
        for &(offset, element) in rest {
            layer = layer.with(offset, element, self.traits(element));
        }
        self.intern(Term::Store { array: below, base, writes: layer })
    }

    pub(super) fn array_eq(&mut self, a: TermId, b: TermId) -> TermId {
        match (self.get(a), self.get(b)) {
            (&Term::ConstArray { element: x, .. }, &Term::ConstArray { element: y, .. }) => self.eq(x, y),
            _ => self.intern(Term::Eq(a.min(b), a.max(b))),
        }
    }

    /// `ite(c, t, e)` as layers over what both arrays have in common; None if that is nothing, or they differ in too much.
    pub(super) fn merge_arrays(&mut self, c: TermId, t: TermId, e: TermId) -> Option<TermId> {
        let mine = self.spine(t);
        let theirs = self.spine(e);
        let common = *mine.iter().take(LAYERS + 1).find(|a| theirs.iter().take(LAYERS + 1).any(|b| b == *a))?;
        let depth = |spine: &[TermId]| spine.iter().position(|&a| a == common).unwrap_or(0);
        if depth(&mine) + depth(&theirs) > LAYERS {
            return None;
        }
        self.nested_merge(c, t, e, common)
    }

    /// An array and those below its layers, from the top.
    fn spine(&self, array: TermId) -> Vec<TermId> {
        let mut spine = vec![array];
        let mut rest = array;
        while let Term::Store { array: below, .. } = *self.get(rest) {
            spine.push(below);
            rest = below;
            if spine.len() > LAYERS + 1 {
                break;
            }
        }
        spine
    }

    fn layer(&self, array: TermId) -> Option<(TermId, TermId, Writes)> {
        match *self.get(array) {
            Term::Store { array, base, ref writes } => Some((array, base, writes.clone())),
            _ => None,
        }
    }

    fn nested_merge(&mut self, c: TermId, t: TermId, e: TermId, common: TermId) -> Option<TermId> {
        if t == e {
            return Some(t);
        }
        let mine = if t == common { None } else { self.layer(t) };
        let theirs = if e == common { None } else { self.layer(e) };
        match (mine, theirs) {
            (Some((below, base, writes)), Some((other, b, theirs))) if base == b => {
                let differences = writes.differences(&theirs);
                if below != other && differences.len() > ONE_SIDED {
                    return None;
                }
                let merged = self.nested_merge(c, below, other, common)?;
                let mut layer = writes;
                for (offset, x, y) in differences {
                    let place = self.plus_constant(base, offset);
                    let x = x.unwrap_or_else(|| self.select(below, place));
                    let y = y.unwrap_or_else(|| self.select(other, place));
                    let cell = self.ite(c, x, y);
                    layer = layer.with(offset, cell, self.traits(cell));
                }
                Some(self.intern(Term::Store { array: merged, base, writes: layer }))
            }
            // In the other case, what is written is what is there.
            (Some((below, base, writes)), _) => {
                if writes.len() > ONE_SIDED {
                    return None;
                }
                let merged = self.nested_merge(c, below, e, common)?;
                let mut cells = Vec::with_capacity(writes.len());
                for (offset, x) in writes.to_vec() {
                    let place = self.plus_constant(base, offset);
                    let y = self.select(e, place);
                    cells.push((offset, self.ite(c, x, y)));
                }
                Some(self.write(merged, base, &cells))
            }
            (None, Some((below, base, writes))) => {
                if writes.len() > ONE_SIDED {
                    return None;
                }
                let merged = self.nested_merge(c, t, below, common)?;
                let mut cells = Vec::with_capacity(writes.len());
                for (offset, y) in writes.to_vec() {
                    let place = self.plus_constant(base, offset);
                    let x = self.select(t, place);
                    cells.push((offset, self.ite(c, x, y)));
                }
                Some(self.write(merged, base, &cells))
            }
            (None, None) => None,
        }
    }
}
