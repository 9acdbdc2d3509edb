// SPDX-License-Identifier: Apache-2.0
//! States with the forms of their values, compared and put together.
//!
//! Base values have no meaning of their own, only what is made of them has: a state covers another one if the base values of
//! both can be put in pairs, in the order in which they came up, so that each execution of the other state is one of this
//! one with the values of the pairs. The values of the program are then the same combinations, and differences have to
//! fit into the intervals of this state.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cfa::Program;
use cfa::ids::VarId;
use cfa::ir::FloatTy;

use super::affine::{Base, Form, Forms, Kind};
use super::state::{State, Value};
use super::value::{Floats, Range, bits, neighbour, number};
use super::widening::Widening;

/// By which part of the width of a value the interval of its form may grow.
const ALIKE: f64 = 0.05;

/// A place of a value: a variable, or a cell with its width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Var(usize),
    Cell(u64, u32),
}

/// Which base value of another state stands for one of this state.
type Pairs = BTreeMap<u32, u32>;

/// What a form of this state has to allow for a value of the other one.
struct Difference {
    number: u32,
    kind: Kind,
    low: f64,
    high: f64,
}

impl State {
    /// Base values up to a number become what is left of other values, one for each value that they are a part of.
    pub(super) fn fold(&mut self, last: u32) {
        let Some(forms) = &mut self.forms else { return };
        let forms = Rc::make_mut(forms);
        let is_old = |number: u32| number <= last;
        let of = std::mem::take(&mut forms.of);
        for (value, (kind, form)) in of {
            let rest = form.without(is_old, &forms.bases);
            self.numbers += 1;
            let form = forms.with_rest(rest, self.numbers);
            forms.of.insert(value, (kind, Rc::new(form)));
        }
        // Old base values that are values of the program stay what they are, but nothing is known of them any more.
        let old: Vec<(u32, Base)> = forms.bases.range(..=last).map(|(&number, &base)| (number, base)).collect();
        for (value, base) in old.into_iter().filter(|(_, base)| base.kind != Kind::Rest) {
            let form = Form::constant(base.low, base.high);
            self.numbers += 1;
            let form = forms.with_rest(form, self.numbers);
            forms.of.insert(value, (base.kind, Rc::new(form)));
        }
        self.drop_forms();
    }

    fn values(&self) -> impl Iterator<Item = (At, Value)> {
        let vars = self.vars.iter().enumerate().map(|(at, &value)| (At::Var(at), value));
        vars.chain(self.memory.iter().map(|(&addr, &(width, value))| (At::Cell(addr, width), value)))
    }

    fn value_at(&self, at: At) -> Option<Value> {
        match at {
            At::Var(var) => Some(self.vars[var]),
            At::Cell(addr, width) => self.cell(addr, width),
        }
    }

    /// The base values of the other state that stand for those of this one, and what the forms of values there need; none
    /// if the states differ in what they know.
    fn pairs(&self, other: &State) -> Option<(Pairs, Vec<Difference>)> {
        let (own, theirs) = (self.forms.as_ref()?, other.forms.as_ref()?);
        let mut same: BTreeMap<u32, u32> = BTreeMap::new();
        let mut known: BTreeMap<u32, (Kind, Rc<Form>, Rc<Form>)> = BTreeMap::new();
        for (at, old) in self.values().filter(|(_, old)| old.number != 0) {
            let Some(new) = other.value_at(at) else { continue };
            // What has the same number here has the same number there.
            if *same.entry(old.number).or_insert(new.number) != new.number || new.number == 0 {
                return None;
            }
            let kind = own.of.get(&old.number).map(|(kind, _)| *kind);
            let Some(kind) = kind.or_else(|| own.bases.get(&old.number).map(|base| base.kind)) else { continue };
            let form = match (theirs.get(new.number, kind), new.range.single(), kind) {
                (Some(form), ..) => form,
                (None, Some(value), Kind::Float(ty)) => {
                    let value = number(ty, value);
                    Rc::new(Form::constant(value, value))
                }
                _ => return None,
            };
            let combination = own.get(old.number, kind).expect("of this kind");
            // Combinations of the same rounds have as many terms; this is found out at once.
            if combination.terms.len() != form.terms.len() {
                return None;
            }
            known.insert(old.number, (kind, combination, form));
        }
        let bases = |form: &Form| form.terms.iter().map(|&(base, _)| base).collect::<Vec<u32>>();
        let left: BTreeSet<u32> = known.values().flat_map(|(_, form, _)| bases(form)).collect();
        let right: BTreeSet<u32> = known.values().flat_map(|(_, _, form)| bases(form)).collect();
        let alike = |(&a, &b): (&u32, &u32)| (own.bases[&a].kind == theirs.bases[&b].kind).then_some((a, b));
        let pairs = left.iter().zip(&right).map(alike).collect::<Option<Pairs>>();
        let pairs = pairs.filter(|pairs| pairs.len() == left.len() && left.len() == right.len())?;
        let differences = known.into_iter().map(|(number, (kind, form, other))| {
            let mut terms: Vec<(u32, f64)> = form.terms.iter().map(|&(base, coef)| (pairs[&base], coef)).collect();
            terms.sort_by_key(|&(base, _)| base);
            let (low, high) = other.difference(&terms, &theirs.bases);
            Difference { number, kind, low, high }
        });
        let differences = differences.collect();
        Some((pairs, differences))
    }

    /// Whether all that the other state stands for is in this one, too, with what both know of values as combinations.
    pub(super) fn covers_related(&self, program: &Program, other: &State) -> bool {
        if !self.covers(program, other) {
            return false;
        }
        let Some(own) = &self.forms else { return true };
        let Some(theirs) = &other.forms else { return false };
        let Some((pairs, differences)) = self.pairs(other) else { return false };
        let smaller = |(&a, &b): (&u32, &u32)| {
            let (base, other) = (own.bases[&a], theirs.bases[&b]);
            base.low <= other.low && other.high <= base.high
        };
        let fits = |difference: &Difference| {
            let (low, high) = own.of.get(&difference.number).map_or((0.0, 0.0), |(_, form)| (form.low, form.high));
            low <= difference.low && difference.high <= high
        };
        pairs.iter().all(smaller) && differences.iter().all(fits)
    }

    /// Whether the other state knows the same combinations as this one, and has the same values of some variables.
    pub(super) fn is_like(&self, other: &State, flags: &[VarId]) -> bool {
        if flags.iter().any(|&flag| self.get(flag).range.single() != other.get(flag).range.single()) {
            return false;
        }
        let Some((_, differences)) = self.pairs(other) else { return false };
        let (Some(own), Some(theirs)) = (self.forms.as_ref(), other.forms.as_ref()) else { return false };
        let combined =
            |forms: &Forms, value: Value| forms.of.get(&value.number).is_some_and(|(_, form)| !form.terms.is_empty());
        let mut vars = self.vars.iter().zip(&other.vars);
        if vars.any(|(old, new)| !combined(own, *old) && combined(theirs, *new)) {
            return false;
        }
        differences.iter().all(|difference| {
            let Some((_, form)) = own.of.get(&difference.number) else {
                return difference.low == 0.0 && difference.high == 0.0;
            };
            let (low, high) = form.range(&own.bases);
            let grown = (form.low - difference.low).max(difference.high - form.high);
            form.terms.is_empty() || grown <= ALIKE * (high - low)
        })
    }

    /// This state becomes one that stands for all that both do, which are alike; what is left of old values grows by a part
    /// of its width `more` than it has to. With `Widening::Limits` nothing is known any more of values for which it grows.
    pub(super) fn join_related(&mut self, program: &Program, other: &State, more: f64, widening: Widening<'_>) {
        let (pairs, differences) = self.pairs(other).expect("states that are alike");
        let grown = |(low, high): (f64, f64), (new_low, new_high): (f64, f64)| {
            let (below, above) = (low.min(new_low), high.max(new_high));
            let width = more * (above - below);
            (if below < low { below - width } else { low }, if above > high { above + width } else { high })
        };
        let mut forms = self.forms.as_deref().cloned().expect("states that are alike");
        let theirs = other.forms.as_ref().expect("states that are alike");
        let mut endless: BTreeSet<u32> = BTreeSet::new();
        if matches!(widening, Widening::Limits) {
            let outgrown = |low: f64, high: f64, new: (f64, f64)| new.0 < low || new.1 > high;
            let grows = |(a, b): (&u32, &u32)| {
                let (base, other) = (forms.bases[a], theirs.bases[b]);
                base.kind == Kind::Rest && outgrown(base.low, base.high, (other.low, other.high))
            };
            let growing: BTreeSet<u32> = pairs.iter().filter(|&(a, b)| grows((a, b))).map(|(&a, _)| a).collect();
            endless.extend(differences.iter().filter_map(|difference| {
                let (_, form) = forms.of.get(&difference.number)?;
                let grows = outgrown(form.low, form.high, (difference.low, difference.high))
                    || form.terms.iter().any(|(base, _)| growing.contains(base));
                grows.then_some(difference.number)
            }));
            forms.of.retain(|number, _| !endless.contains(number));
        }
        for (a, b) in &pairs {
            let (base, other) = (forms.bases[a], theirs.bases[b]);
            let (low, high) = match base.kind {
                Kind::Rest => grown((base.low, base.high), (other.low, other.high)),
                _ => (base.low.min(other.low), base.high.max(other.high)),
            };
            forms.bases.insert(*a, Base { low, high, ..base });
        }
        for Difference { number, low, high, .. } in &differences {
            if let Some((_, form)) = forms.of.get_mut(number) {
                let form = Rc::make_mut(form);
                (form.low, form.high) = grown((form.low, form.high), (*low, *high));
            }
        }
        let known: BTreeMap<u32, FloatTy> = differences
            .iter()
            .filter_map(|difference| match difference.kind {
                Kind::Float(ty) => Some((difference.number, ty)),
                Kind::Int | Kind::Rest => None,
            })
            .collect();
        let joined = |old: Value, new: Value, format: Option<FloatTy>, ty| {
            let is_number = format.is_some() || matches!(old.range, Range::Float(_));
            let own = known.get(&old.number).copied().filter(|_| is_number);
            match (own, old.range.union(new.range, format.or(own))) {
                (Some(ty), both) if endless.contains(&old.number) => {
                    Range::Float(Floats { low: f64::NEG_INFINITY, high: f64::INFINITY, ..both.floats(ty) })
                }
                (Some(ty), both) => {
                    let (low, high) = match forms.of.get(&old.number) {
                        Some((_, form)) => form.range(&forms.bases),
                        None => (forms.bases[&old.number].low, forms.bases[&old.number].high),
                    };
                    let both = both.floats(ty);
                    Range::Float(Floats {
                        low: both.low.min(outside(ty, low, false)),
                        high: both.high.max(outside(ty, high, true)),
                        ..both
                    })
                }
                (None, both) if both == old.range => both,
                (None, Range::Float(both)) => widening.floats(old.range.floats(both.ty), both),
                (None, Range::Int { low, high }) => widening.integers(ty, old.range.integers(ty), (low, high)),
            }
        };
        let mut vars = self.vars.clone();
        for (at, (old, new)) in vars.iter_mut().zip(&other.vars).enumerate() {
            let data = program.var(VarId::new(at));
            old.range = joined(*old, *new, data.float, data.ty);
        }
        let mut memory = BTreeMap::new();
        for (&addr, &(width, old)) in self.memory.iter() {
            let Some(new) = other.cell(addr, width) else { continue };
            let both = match old.range.join(new.range) {
                Range::Int { low, high } => (low, high),
                Range::Float(_) => (0, 0),
            };
            let ty = super::widening::cell_type(width, both);
            if both.0 < ty.min() || both.1 > ty.max() {
                continue;
            }
            memory.insert(addr, (width, Value { range: joined(old, new, None, ty), ..old }));
        }
        (self.vars, self.memory, self.forms) = (vars, Rc::new(memory), Some(Rc::new(forms)));
        self.drop_forms();
    }
}

/// A number of the format that is not inside of a bound.
fn outside(ty: FloatTy, bound: f64, up: bool) -> f64 {
    let own = number(ty, bits(ty, bound));
    if own == bound { own } else { neighbour(ty, own, up) }
}
