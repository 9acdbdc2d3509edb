// SPDX-License-Identifier: Apache-2.0
//! Union and widening of states.
//!
//! Widening to thresholds follows Blanchet et al., *A Static Analyzer for Large Safety-Critical Software* (PLDI 2003,
//! section 7.1.2): a bound that does not hold moves to the next constant of the program, or to the next step of a ladder.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cfa::Program;
use cfa::ids::{ExprId, VarId};
use cfa::ir::{ExprKind, FloatTy, IntTy};
use rustc_hash::FxHashMap;

use super::state::{State, Value};
use super::value::{Floats, Range, bits, neighbour, number};

/// Bounds of floating-point numbers that are tried in every program, of both signs.
const LADDER: [f64; 15] =
    [0.0, 1.0, 2.0, 4.0, 10.0, 20.0, 50.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e10, 1e20, f32::MAX as f64];

/// How far a bound that does not hold is moved.
#[derive(Clone, Copy)]
pub(crate) enum Widening<'a> {
    /// To the new value.
    None,
    /// To the next threshold.
    Thresholds(&'a Thresholds),
    /// As far as the type allows.
    Limits,
}

/// Bounds that may hold, in ascending order.
pub(crate) struct Thresholds {
    integers: Vec<i128>,
    singles: Vec<f64>,
    doubles: Vec<f64>,
}

impl Thresholds {
    /// The constants that a program compares with, their negations, and what is next to them.
    pub(crate) fn new(program: &Program) -> Self {
        let exprs = &program.exprs;
        let mut integers = BTreeSet::from([-1, 0, 1]);
        let mut numbers = LADDER.to_vec();
        for id in exprs.ids() {
            let constant = |id: ExprId| exprs.as_const(id);
            match exprs.get(id).kind {
                ExprKind::Cmp(_, left, right) => {
                    let constants = [left, right].into_iter().filter_map(constant);
                    integers.extend(constants.flat_map(|c| [c, -c]).flat_map(|c| [c - 1, c, c + 1]));
                }
                ExprKind::FloatCmp(_, ty, left, right) => {
                    let constants = [left, right].into_iter().filter_map(constant).map(|c| number(ty, c));
                    numbers.extend(constants.filter(|x| x.is_finite()));
                }
                _ => {}
            }
        }
        let of_format = |ty: FloatTy| {
            let rounded = numbers.iter().map(|&x| number(ty, bits(ty, x)));
            let near = rounded.flat_map(|x| [neighbour(ty, x, false), x, neighbour(ty, x, true)]);
            let mut both: Vec<f64> = near.flat_map(|x| [x, -x]).filter(|x| x.is_finite()).collect();
            both.sort_by(f64::total_cmp);
            both.dedup();
            both
        };
        let (singles, doubles) = (of_format(FloatTy::F32), of_format(FloatTy::F64));
        Thresholds { integers: integers.into_iter().collect(), singles, doubles }
    }
}

impl Widening<'_> {
    pub(super) fn integers(self, ty: IntTy, old: (i128, i128), new: (i128, i128)) -> Range {
        let (mut low, mut high) = new;
        let thresholds = match self {
            Widening::None => return Range::Int { low, high },
            Widening::Thresholds(thresholds) => &thresholds.integers[..],
            Widening::Limits => &[],
        };
        if low < old.0 {
            let below = thresholds.partition_point(|&at| at <= low).checked_sub(1);
            low = below.map_or(ty.min(), |at| thresholds[at]).max(ty.min()).min(low);
        }
        if high > old.1 {
            let above = thresholds.get(thresholds.partition_point(|&at| at < high));
            high = above.map_or(ty.max(), |&at| at).min(ty.max()).max(high);
        }
        Range::Int { low, high }
    }

    pub(super) fn floats(self, old: Floats, new: Floats) -> Range {
        let thresholds = match (self, new.ty) {
            (Widening::None, _) => return Range::Float(new),
            (Widening::Thresholds(thresholds), FloatTy::F32) => &thresholds.singles[..],
            (Widening::Thresholds(thresholds), FloatTy::F64) => &thresholds.doubles[..],
            (Widening::Limits, _) => &[],
        };
        let Floats { mut low, mut high, .. } = new;
        // A set without any number grows to one with numbers.
        if low < old.low && !old.is_empty() {
            let below = thresholds.partition_point(|&at| at <= low).checked_sub(1);
            low = below.map_or(f64::NEG_INFINITY, |at| thresholds[at]);
        }
        if high > old.high && !old.is_empty() {
            high = thresholds.get(thresholds.partition_point(|&at| at < high)).copied().unwrap_or(f64::INFINITY);
        }
        Range::Float(Floats { low, high, ..new })
    }
}

/// Numbers for values in a union: the same one for what has the same number in both states.
#[derive(Default)]
struct Numbers {
    pairs: FxHashMap<(u32, u32), u32>,
    last: u32,
}

impl Numbers {
    fn of(&mut self, old: Value, new: Value) -> u32 {
        if old.number == 0 || new.number == 0 {
            return 0;
        }
        *self.pairs.entry((old.number, new.number)).or_insert_with(|| {
            self.last += 1;
            self.last
        })
    }
}

/// The type of integers of a cell: unsigned only if it has values that no signed integer has.
pub(super) fn cell_type(width: u32, (low, high): (i128, i128)) -> IntTy {
    let signed = IntTy { bits: width, signed: true };
    if low < 0 || high <= signed.max() { signed } else { IntTy { signed: false, ..signed } }
}

impl State {
    /// Whether all that the other state stands for is in this one, too.
    pub(crate) fn covers(&self, program: &Program, other: &State) -> bool {
        // What has the same number here has the same number there.
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        let mut same = |old: Value, new: Value| match numbers.entry(old.number) {
            _ if old.number == 0 => true,
            Entry::Vacant(entry) => {
                entry.insert(new.number);
                true
            }
            Entry::Occupied(entry) => *entry.get() == new.number && new.number != 0,
        };
        let vars = self.vars.iter().zip(&other.vars).enumerate();
        let mut covered = |(at, (old, new)): (usize, (&Value, &Value))| {
            let format = program.var(VarId::new(at)).float;
            (old.range == new.range || old.range.union(new.range, format) == old.range) && same(*old, *new)
        };
        if !vars.into_iter().all(&mut covered) {
            return false;
        }
        self.memory.iter().all(|(&addr, &(width, old))| {
            other.cell(addr, width).is_some_and(|new| old.range.join(new.range) == old.range && same(old, new))
        })
    }

    /// This state becomes one that stands for all that both do.
    pub(crate) fn unite(&mut self, program: &Program, other: &State, widening: Widening<'_>) {
        let mut numbers = Numbers::default();
        let memory = self.common_cells(other, widening, &mut numbers);
        self.memory = Rc::new(memory);
        for (at, (old, new)) in self.vars.iter_mut().zip(&other.vars).enumerate() {
            let data = program.var(VarId::new(at));
            let range = match (old.range, old.range.union(new.range, data.float)) {
                (old, same) if same == old => same,
                (old, Range::Float(new)) => widening.floats(old.floats(new.ty), new),
                (old, Range::Int { low, high }) => widening.integers(data.ty, old.integers(data.ty), (low, high)),
            };
            *old = Value { number: numbers.of(*old, *new), ..Value::free(range) };
        }
        self.numbers = numbers.last;
        self.forget_forms();
    }

    /// The cells that are known in both states; where some overlap the wide ones.
    fn common_cells(
        &self,
        other: &State,
        widening: Widening<'_>,
        numbers: &mut Numbers,
    ) -> BTreeMap<u64, (u32, Value)> {
        let both = self.memory.iter().chain(other.memory.iter());
        let mut cells: Vec<(u64, u32)> = both.map(|(&addr, &(width, _))| (addr, width)).collect();
        cells.sort_by_key(|&(addr, width)| (std::cmp::Reverse(width), addr));
        cells.dedup();
        let mut common: BTreeMap<u64, (u32, Value)> = BTreeMap::new();
        for (addr, width) in cells {
            let end = addr + u64::from(width / 8);
            let before = common.range(..end).next_back();
            if before.is_some_and(|(&start, &(width, _))| start + u64::from(width / 8) > addr) {
                continue;
            }
            let (Some(old), Some(new)) = (self.cell(addr, width), other.cell(addr, width)) else { continue };
            let range = match old.range.join(new.range) {
                same if same == old.range => same,
                Range::Float(new) => widening.floats(old.range.floats(new.ty), new),
                Range::Int { low, high } => {
                    let ty = cell_type(width, (low, high));
                    if low < ty.min() || high > ty.max() {
                        continue;
                    }
                    widening.integers(ty, old.range.integers(ty), (low, high))
                }
            };
            common.insert(addr, (width, Value { number: numbers.of(old, new), ..Value::free(range) }));
        }
        common
    }
}
