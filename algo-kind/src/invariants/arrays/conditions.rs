// SPDX-License-Identifier: Apache-2.0
//! Conditions of the program, read as facts about all elements in a range: "`a[i] % 2 == 0`" for every index instead of i,
//! "`a[i] >= i`", "`a[i - 1] <= a[i]`" for all neighbours; also for other arrays with elements of the same type, and one
//! condition or another one.

use cfa::eval::eval;
use cfa::ids::ExprId;

use super::*;
use crate::invariants::candidates::tested;
use crate::invariants::pointers::Pointers;

/// How many conditions are tried.
const CONDITIONS: usize = 12;
/// In how many samples it is looked at whether a condition could fail.
const OTHERS: usize = 8;
/// The greatest distance of the elements in a condition.
const REACH: i128 = 3;

/// A condition with the variables that stand for elements.
pub(super) struct Shape {
    cond: ExprId,
    /// Where the array begins, if that is certain.
    base: Option<Base>,
    /// How far the element of each variable is behind the first one.
    elements: Vec<(VarId, i128)>,
    /// A variable that stands for the index of the first element minus a number, where the condition is about indices, too.
    index: Option<(VarId, i128)>,
    /// The other variables.
    others: Vec<VarId>,
    ty: IntTy,
    /// The distance from the first element to the last one.
    pub(super) reach: i128,
}

impl Shape {
    /// Whether the condition is about elements where an array begins.
    pub(super) fn is_about(&self, array: &Array) -> bool {
        self.base == Some(array.base)
    }
}

/// A condition that some elements in a range meet.
pub(super) struct Open<'s> {
    /// The array.
    at: usize,
    pub(super) shape: &'s Shape,
    truths: Vec<Option<bool>>,
}

impl<'s> Open<'s> {
    /// None if too few truths are known.
    pub(super) fn new(at: usize, shape: &'s Shape, truths: Vec<Option<bool>>) -> Option<Self> {
        (known(&truths) >= 3).then_some(Open { at, shape, truths })
    }
}

/// The variables that hold elements of arrays.
pub(super) type Origins = IndexMap<VarId, Origin>;

/// Where the value of a variable may stand in memory.
pub(super) enum Origin {
    /// It was loaded from the element of an array in a region.
    Element(Base, Index),
    /// It is loaded from arrays or stored in them, somewhere.
    Somewhere,
}

impl Search<'_> {
    /// The conditions of the program in which elements occur.
    pub(super) fn shapes(&self, origins: &Origins) -> Vec<Shape> {
        let mut seen = BTreeSet::new();
        let mut shapes = Vec::new();
        for cond in tested(self.program) {
            if seen.insert(cond) && shapes.len() < CONDITIONS {
                shapes.extend(self.shape(origins, cond));
            }
        }
        shapes
    }

    fn shape(&self, origins: &Origins, cond: ExprId) -> Option<Shape> {
        let program = self.program;
        let vars = program.exprs.vars(cond);
        let loaded = |var: &VarId| match origins.get(var) {
            Some(Origin::Element(base, index)) => Some((base, index)),
            _ => None,
        };
        // A variable that is also stored somewhere is no element where others certainly are. One that was loaded from somewhere
        // else and has a name is something that elements are compared with.
        let is_temporary = |var: &&VarId| program.var(**var).temporary;
        let first = vars.iter().filter(is_temporary).find_map(loaded).or_else(|| vars.iter().find_map(loaded));
        let is_inside = |var: &VarId| match first {
            Some((base, index)) => loaded(var)
                .is_some_and(|(of, other)| of == base && other.is_parallel(index) || program.var(*var).temporary),
            None => origins.contains_key(var),
        };
        let (inside, others): (Vec<VarId>, Vec<VarId>) = vars.into_iter().partition(is_inside);
        let ty = program.var(*inside.first()?).ty;
        let fits = |var: &VarId| program.var(*var).ty == ty && program.var(*var).float.is_none();
        if !inside.iter().all(fits) {
            return None;
        }
        let mut elements = Vec::new();
        let mut parts: Option<(&Base, &Index)> = None;
        for &var in &inside {
            let Origin::Element(base, index) = &origins[&var] else {
                if inside.len() > 1 {
                    return None;
                }
                elements.push((var, 0));
                break;
            };
            let (of, from) = parts.get_or_insert((base, index));
            if *of != base || !from.is_parallel(index) {
                return None;
            }
            elements.push((var, index.constant));
        }
        let least = elements.iter().map(|element| element.1).min()?;
        elements.iter_mut().for_each(|element| element.1 -= least);
        let reach = elements.iter().map(|element| element.1).max()?;
        let base = parts.map(|(base, _)| *base);
        let index = parts.and_then(|(_, index)| Some((index.variable(program)?, least)));
        let (index, others) = match index {
            Some((var, _)) if others.contains(&var) => {
                (index, others.into_iter().filter(|&other| other != var).collect())
            }
            _ => (None, others),
        };
        let usable = reach <= REACH && others.iter().all(|&var| self.is_number(var));
        usable.then_some(Shape { cond, base, elements, index, others, ty, reach })
    }

    /// Whether the program compares two elements with each other.
    pub(super) fn compares_elements(&self, origins: &Origins) -> bool {
        let is_element = |var: &VarId| matches!(origins.get(var), Some(Origin::Element(..)));
        tested(self.program).any(|cond| self.program.exprs.vars(cond).iter().filter(|var| is_element(var)).count() > 1)
    }

    /// The variables that hold elements of arrays.
    pub(super) fn origins(&self) -> Origins {
        let program = self.program;
        let mut written: IndexMap<VarId, u32> = IndexMap::new();
        for var in program.edges.iter().filter_map(|edge| edge.op.written()) {
            *written.entry(var).or_default() += 1;
        }
        let mut origins = Origins::new();
        let pointers = Pointers::of(program);
        for edge in &program.edges {
            match edge.op {
                Op::Load { var, addr, region } => {
                    let Some(place) = pointers.place(program, region, addr) else { continue };
                    let origin = Origin::Element(place.base, place.index.without_conversions(program));
                    // A variable that is also something else is no certain element.
                    let certain = written[&var] == 1;
                    origins.insert(var, if certain { origin } else { Origin::Somewhere });
                }
                Op::Store { value, addr, region } if pointers.place(program, region, addr).is_some() => {
                    if let Some(var) = program.exprs.converted_var(value) {
                        origins.entry(var).or_insert(Origin::Somewhere);
                    }
                }
                _ => {}
            }
        }
        // Copies of what was loaded.
        for edge in &program.edges {
            if let Op::Assign { var, value } = edge.op
                && let Some(from) = program.exprs.converted_var(value)
                && program.var(from).temporary
                && origins.contains_key(&from)
            {
                origins.entry(var).or_insert(Origin::Somewhere);
            }
        }
        origins
    }

    /// Whether a condition holds from each index on; nothing where an element is not known, or not in the range, in which also
    /// the last one that is looked at has to be. None if it has no truth somewhere.
    pub(super) fn truths(&self, at: usize, shape: &Shape, rows: &[Row], high: &Scalar) -> Option<Vec<Option<bool>>> {
        if self.layout.arrays[at].ty != shape.ty {
            return None;
        }
        let truth = |&(sample, index, _): &Row| {
            if high.values[sample].is_none_or(|high| index + shape.reach >= high) {
                return Some(None);
            }
            self.truth(at, shape, sample, index).map_or(Some(None), |truth| truth.map(Some))
        };
        rows.iter().map(truth).collect()
    }

    /// The condition of a shape or its negation, if the elements in a range agree about it.
    pub(super) fn condition(&mut self, at: usize, shape: &Shape, truths: &[Option<bool>]) -> Option<TermId> {
        let truth = truths.iter().find_map(|&truth| truth)?;
        if known(truths) < 3 || truths.contains(&Some(!truth)) {
            return None;
        }
        self.about_all(at, shape, truth)
    }

    /// That one or the other one of two conditions or their negations holds, if that is so of the elements in a range.
    pub(super) fn either(&mut self, rows: &[Row], one: &Open<'_>, other: &Open<'_>) -> Vec<TermId> {
        let mut found = Vec::new();
        for (first, second) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut both = one.truths.iter().zip(&other.truths);
            let holds = both.all(|pair| *pair.0 != Some(!first) || *pair.1 != Some(!second));
            if holds && self.says_something((one, first), (other, second), rows) {
                let terms = (self.about_all(one.at, one.shape, first), self.about_all(other.at, other.shape, second));
                if let (Some(first), Some(second)) = terms {
                    found.push(self.manager.terms.or(first, second));
                }
            }
        }
        found
    }

    /// Whether one or the other one of two conditions does not hold whatever the elements are.
    fn says_something(&self, one: (&Open<'_>, bool), other: (&Open<'_>, bool), rows: &[Row]) -> bool {
        let fails = |(open, truth): (&Open<'_>, bool), sample: usize, index: i128, element: &dyn Fn(i128) -> i128| {
            let of = |more| Some(open.shape.ty.wrap(element(more)));
            self.truth_with(open.shape, sample, index, &of) == Some(Some(!truth))
        };
        rows.iter().step_by(rows.len().div_ceil(OTHERS)).any(|&(sample, index, value)| {
            let ty = one.0.shape.ty;
            let firsts = [ty.min(), ty.max(), -1, 0, 1, index - 1, index, index + 1, value - 1, value, value + 1];
            let steps = [-1, 0, 1].into_iter();
            let mut elements = steps.flat_map(|step| firsts.map(|first| move |more| first + more * step));
            if one.0.at == other.0.at {
                return elements
                    .any(|element| fails(one, sample, index, &element) && fails(other, sample, index, &element));
            }
            let mut others = elements.clone();
            elements.any(|element| fails(one, sample, index, &element))
                && others.any(|element| fails(other, sample, index, &element))
        })
    }

    /// The condition of a shape, or its negation, about the index k.
    fn about_all(&mut self, at: usize, shape: &Shape, truth: bool) -> Option<TermId> {
        let term = self.manager.encoder.truth(&mut self.manager.terms, shape.cond).ok()?;
        let mut values = Vec::new();
        for &(var, more) in &shape.elements {
            let symbol = self.manager.encoder.symbol(&mut self.manager.terms, var);
            values.push((symbol, self.element_at(at, 1, more)));
        }
        if let Some((var, more)) = shape.index {
            let symbol = self.manager.encoder.symbol(&mut self.manager.terms, var);
            let width = self.program.var(var).ty.bits;
            let k = self.any_index_of(width);
            let terms = &mut self.manager.terms;
            let more = number(terms, more, width);
            values.push((symbol, terms.bv_bin(BvBin::Sub, k, more)));
        }
        let of = |symbol| values.iter().find(|value| value.0 == symbol).map(|value| value.1);
        let term = self.manager.terms.substitute(term, &mut |_, symbol, _| of(symbol));
        Some(if truth { term } else { self.manager.terms.not(term) })
    }

    /// Whether the condition holds from an index on; nothing if an element is not known there, and no truth if it has none.
    fn truth(&self, at: usize, shape: &Shape, sample: usize, index: i128) -> Option<Option<bool>> {
        self.truth_with(shape, sample, index, &|more| self.samples[sample].element(at, index + more))
    }

    /// The same if the elements are these, by how far they are behind the index.
    fn truth_with(
        &self,
        shape: &Shape,
        sample: usize,
        index: i128,
        element: &dyn Fn(i128) -> Option<i128>,
    ) -> Option<Option<bool>> {
        let sample = &self.samples[sample];
        let mut known: Vec<(VarId, i128)> = Vec::new();
        for &(var, more) in &shape.elements {
            known.push((var, element(more)?));
        }
        for var in &shape.others {
            let Some(&value) = sample.vars.get(var) else { return Some(None) };
            known.push((*var, value));
        }
        if let Some((var, more)) = shape.index {
            known.push((var, self.program.var(var).ty.wrap(index - more)));
        }
        let mut value_of = |var| known.iter().find(|entry| entry.0 == var).map_or(0, |entry| entry.1);
        Some(eval(&self.program.exprs, shape.cond, &mut value_of).ok().map(|value| value != 0))
    }
}

/// How many truths are known.
fn known(truths: &[Option<bool>]) -> usize {
    truths.iter().filter(|truth| truth.is_some()).count()
}
