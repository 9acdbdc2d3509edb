// SPDX-License-Identifier: Apache-2.0
//! Conditions of the program, read as facts about all elements in a range: "`a[i] % 2 == 0`" for every index instead of i,
//! "`a[i - 1] <= a[i]`" for all neighbours; also for other arrays with elements of the same type.

use cfa::eval::eval;
use cfa::ids::ExprId;

use super::*;
use crate::invariants::candidates::tested;
use crate::invariants::memory::place;

/// How many conditions are tried.
const CONDITIONS: usize = 12;
/// The greatest distance of the elements in a condition.
const REACH: i128 = 3;

/// A condition with the variables that stand for elements.
pub(super) struct Shape {
    cond: ExprId,
    /// How far the element of each variable is behind the first one.
    elements: Vec<(VarId, i128)>,
    /// The other variables.
    others: Vec<VarId>,
    ty: IntTy,
    /// The distance from the first element to the last one.
    pub(super) reach: i128,
}

/// Where the value of a variable may stand in memory.
enum Origin {
    /// It was loaded from the element of an array in a region.
    Element(Base, Index),
    /// It is loaded from arrays or stored in them, somewhere.
    Somewhere,
}

impl Search<'_> {
    /// The conditions of the program in which elements occur.
    pub(super) fn shapes(&self) -> Vec<Shape> {
        let origins = self.origins();
        let mut seen = BTreeSet::new();
        let mut shapes = Vec::new();
        for cond in tested(self.program) {
            if seen.insert(cond) && shapes.len() < CONDITIONS {
                shapes.extend(self.shape(&origins, cond));
            }
        }
        shapes
    }

    fn shape(&self, origins: &IndexMap<VarId, Origin>, cond: ExprId) -> Option<Shape> {
        let program = self.program;
        let vars = program.exprs.vars(cond);
        let (inside, others): (Vec<VarId>, Vec<VarId>) = vars.into_iter().partition(|var| origins.contains_key(var));
        let ty = program.var(*inside.first()?).ty;
        let fits = |var: &VarId| program.var(*var).ty == ty && program.var(*var).float.is_none();
        if !inside.iter().all(fits) || !others.iter().all(|&var| self.is_number(var)) {
            return None;
        }
        let mut elements = Vec::new();
        if let [var] = inside[..] {
            elements.push((var, 0));
        } else {
            let mut first: Option<(&Base, &Index)> = None;
            for &var in &inside {
                let Origin::Element(base, index) = &origins[&var] else { return None };
                let (of, from) = first.get_or_insert((base, index));
                if *of != base || from.parts != index.parts {
                    return None;
                }
                elements.push((var, index.constant - from.constant));
            }
        }
        let least = elements.iter().map(|element| element.1).min()?;
        elements.iter_mut().for_each(|element| element.1 -= least);
        let reach = elements.iter().map(|element| element.1).max()?;
        (reach <= REACH).then_some(Shape { cond, elements, others, ty, reach })
    }

    /// The variables that hold elements of arrays.
    fn origins(&self) -> IndexMap<VarId, Origin> {
        let program = self.program;
        let mut origins: IndexMap<VarId, Origin> = IndexMap::new();
        for edge in &program.edges {
            match edge.op {
                Op::Load { var, addr, region } => {
                    let Some(place) = place(program, region, addr) else { continue };
                    let origin = Origin::Element(place.base, place.index.without_conversions(program));
                    // A variable that is loaded at several places is no certain element.
                    let known = origins.contains_key(&var);
                    origins.insert(var, if known { Origin::Somewhere } else { origin });
                }
                Op::Store { value, addr, region } if place(program, region, addr).is_some() => {
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

    /// The condition of a shape or its negation, if the elements in a range agree about it; the last element that is
    /// looked at is in the range, too.
    pub(super) fn condition(&mut self, at: usize, shape: &Shape, rows: &[Row], high: &Scalar) -> Option<TermId> {
        if self.layout.arrays[at].ty != shape.ty {
            return None;
        }
        let mut truths = Vec::new();
        for &(sample, index, _) in rows {
            if high.values[sample].is_none_or(|high| index + shape.reach >= high) {
                continue;
            }
            if let Some(truth) = self.truth(at, shape, sample, index) {
                truths.push(truth?);
            }
        }
        let truth = *truths.first()?;
        if truths.len() < 3 || truths.iter().any(|&other| other != truth) {
            return None;
        }
        let term = self.manager.encoder.truth(&mut self.manager.terms, shape.cond).ok()?;
        let mut elements = Vec::new();
        for &(var, more) in &shape.elements {
            let symbol = self.manager.encoder.symbol(&mut self.manager.terms, var);
            elements.push((symbol, self.element_at(at, 1, more)));
        }
        let of = |symbol| elements.iter().find(|element| element.0 == symbol).map(|element| element.1);
        let term = self.manager.terms.substitute(term, &mut |_, symbol, _| of(symbol));
        Some(if truth { term } else { self.manager.terms.not(term) })
    }

    /// Whether the condition holds from an index on; nothing if an element is not known there, and no truth if it has none.
    fn truth(&self, at: usize, shape: &Shape, sample: usize, index: i128) -> Option<Option<bool>> {
        let sample = &self.samples[sample];
        let mut known: Vec<(VarId, i128)> = Vec::new();
        for &(var, more) in &shape.elements {
            known.push((var, sample.element(at, index + more)?));
        }
        for var in &shape.others {
            let Some(&value) = sample.vars.get(var) else { return Some(None) };
            known.push((*var, value));
        }
        let mut value_of = |var| known.iter().find(|entry| entry.0 == var).map_or(0, |entry| entry.1);
        Some(eval(&self.program.exprs, shape.cond, &mut value_of).ok().map(|value| value != 0))
    }
}
