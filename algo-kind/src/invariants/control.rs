// SPDX-License-Identifier: Apache-2.0
//! What a program does next often depends on variables with few values: program counters of threads, flags, modes. Which values
//! they have at the same time excludes what cannot happen together, and equations between other variables hold where one of them
//! has a certain value: "`shared == reg0` while `pc0 == 4`".
//!
//! A partition of the states by control as in Jeannet, *Dynamic Partitioning in Linear Relation Analysis* (2003). Samples show
//! most combinations of values, models the others: as long as a segment leads from known combinations to a new one, that is
//! added.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use algo_bmc::query::{Answer, ask};
use cfa::ir::Op;
use cfa::{Program, VarId};
use cpa_core::{Cx, Stop};
use cpa_predicate::Manager;
use smt::solver::Model;
use smt::{TermId, Terms, Value};

use super::Invariants;
use super::candidates::{Atom, Guesser, value_of};
use super::sample::Sample;
use crate::step::StepUnrolling;

/// How many values a variable has at most in samples, and how many combinations of them there are.
const VALUES: usize = 12;
const COMBINATIONS: usize = 256;
/// One in so many of them may be seen once only.
const ONCE: usize = 8;
/// A mode has at least so many values, and there are so many of them.
const MODE: usize = 3;
const MODES: usize = 2;
/// How many facts may depend on each value.
const FACTS: usize = 24;
/// How many models are looked at, and how many more for combinations in samples; the time for each.
const MODELS: usize = 10;
const MODELS_FOR: usize = 4;
const TIMEOUT: Duration = Duration::from_millis(500);

/// Whether there are variables that get constants only and several of them, as program counters and modes do.
pub(super) fn has_modes(program: &Program) -> bool {
    let mut constants: BTreeMap<VarId, Option<BTreeSet<i128>>> = BTreeMap::new();
    for edge in &program.edges {
        let Some(var) = edge.op.written() else { continue };
        let constant = match edge.op {
            Op::Assign { value, .. } => program.exprs.as_const(value),
            _ => None,
        };
        let known = constants.entry(var).or_insert_with(|| Some(BTreeSet::new()));
        match (known.as_mut(), constant) {
            (Some(values), Some(value)) => _ = values.insert(value),
            _ => *known = None,
        }
    }
    let modes = constants.iter().filter(|(var, values)| {
        !program.var(**var).temporary && values.as_ref().is_some_and(|values| values.len() >= MODE)
    });
    modes.count() >= MODES
}

/// The combinations of values that variables have at a cut point.
pub(super) struct Control {
    /// The variables at the cut point.
    atoms: Vec<TermId>,
    /// Their values, as constants.
    rows: BTreeSet<Vec<TermId>>,
}

impl Control {
    /// That the variables have one of the combinations of values.
    pub(super) fn cases(&self, terms: &mut Terms) -> TermId {
        if self.atoms.is_empty() {
            return Terms::tru();
        }
        let mut cases = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let equal: Vec<TermId> = self.atoms.iter().zip(row).map(|(&atom, &value)| terms.eq(atom, value)).collect();
            cases.push(terms.and_all(&equal));
        }
        terms.or_all(&cases)
    }

    /// Adds a combination. A variable with a value that no sample shows has too many, and is given up. Answers whether more is
    /// possible now.
    fn add(&mut self, mut row: Vec<TermId>) -> bool {
        let count = self.atoms.len();
        for at in (0..self.atoms.len()).rev() {
            if self.rows.iter().all(|known| known[at] != row[at]) {
                self.give_up(at);
                row.remove(at);
            }
        }
        self.rows.insert(row) || self.atoms.len() < count
    }

    fn give_up(&mut self, at: usize) {
        self.atoms.remove(at);
        let shorter = |mut row: Vec<TermId>| {
            row.remove(at);
            row
        };
        self.rows = std::mem::take(&mut self.rows).into_iter().map(shorter).collect();
    }
}

/// A cut point and values of its variables.
type Combination = (usize, Vec<TermId>);

/// Adds combinations until no segment leads out of them; gives all of them up if that takes too long.
pub(super) fn close(
    cx: &Cx,
    manager: &mut Manager,
    entry: &StepUnrolling,
    steps: &[StepUnrolling],
    known: &Invariants,
    controls: &mut [Control],
) -> Result<(), Stop> {
    // None stands for the entry of the program.
    let mut waiting: VecDeque<Option<usize>> = std::iter::once(None).chain((0..steps.len()).map(Some)).collect();
    let mut models = MODELS + controls.iter().map(|control| control.rows.len()).sum::<usize>() / MODELS_FOR;
    while let Some(start) = waiting.pop_front() {
        let unrolling = start.map_or(entry, |start| &steps[start]);
        loop {
            let assumed = start.map_or(Vec::new(), |at| vec![known.term(at), controls[at].cases(&mut manager.terms)]);
            let found = match new_combination(cx, manager, unrolling, assumed, controls)? {
                Answer::Unsat => break,
                Answer::Sat(found) if !found.is_empty() && models > 0 => found,
                _ => {
                    controls.iter_mut().for_each(|control| control.atoms.clear());
                    return Ok(());
                }
            };
            models -= 1;
            for (number, row) in found {
                let is_new = controls[number].atoms.len() == row.len() && controls[number].add(row);
                if is_new && start != Some(number) && !waiting.contains(&Some(number)) {
                    waiting.push_back(Some(number));
                }
            }
        }
    }
    Ok(())
}

/// Combinations at ends of a segment that are not known there, each with its cut point.
fn new_combination(
    cx: &Cx,
    manager: &mut Manager,
    unrolling: &StepUnrolling,
    mut formulas: Vec<TermId>,
    controls: &[Control],
) -> Result<Answer<Vec<Combination>>, Stop> {
    let mut ends: Vec<(usize, TermId)> = Vec::new();
    let mut roots = Vec::new();
    for &(number, node) in unrolling.first_ends() {
        let path = unrolling.unrolling().path(node);
        let terms = &mut manager.terms;
        let cases = controls[number].cases(terms);
        let cases = path.instantiate(terms, cases);
        let new = terms.not(cases);
        let new = terms.and(path.pc, new);
        if new == Terms::fls() {
            continue;
        }
        ends.push((number, new));
        roots.push(new);
        for &atom in &controls[number].atoms {
            roots.push(path.instantiate(terms, atom));
        }
    }
    let any: Vec<TermId> = ends.iter().map(|end| end.1).collect();
    formulas.push(manager.terms.or_all(&any));
    let read = |manager: &mut Manager, model: &Model<'_>| {
        let mut values = model.values(&manager.terms, &roots).into_iter().flatten();
        let mut found = Vec::new();
        for &(number, _) in &ends {
            let is_new = values.next() == Some(Value::Bool(true));
            let row: Vec<Value> = values.by_ref().take(controls[number].atoms.len()).collect();
            if is_new {
                found.push((number, row.into_iter().map(|value| manager.terms.value(value)).collect()));
            }
        }
        found
    };
    ask(cx, manager, &formulas, Some(TIMEOUT), read)
}

impl Guesser<'_> {
    /// The combinations of values in the samples, and what else holds in those where a variable has one of its values.
    pub(super) fn control(&mut self) -> (Control, Vec<TermId>) {
        let atoms = self.atoms();
        let (control, combinations) = self.combinations(&atoms);
        let others: Vec<Atom> = atoms.into_iter().filter(|atom| !control.contains(atom)).collect();
        let mut always = Vec::new();
        self.equations(&others, &mut always);
        let mut found = Vec::new();
        for (at, &atom) in control.iter().enumerate() {
            let values: BTreeSet<i128> = combinations.iter().map(|values| values[at]).collect();
            for value in values {
                let has_value = |sample: &&Sample| value_of(atom, sample) == Some(value);
                let some: Vec<Sample> = self.samples.iter().filter(has_value).cloned().collect();
                let mut facts = Vec::new();
                self.among(&some).equations(&others, &mut facts);
                facts.retain(|fact| !always.contains(fact));
                facts.truncate(FACTS);
                let (x, value) = (self.term(atom), self.value(atom, value));
                let terms = &mut self.manager.terms;
                let condition = terms.eq(x, value);
                found.extend(facts.into_iter().map(|fact| terms.implies(condition, fact)));
            }
        }
        let row = |guesser: &mut Self, values: &Vec<i128>| {
            control.iter().zip(values).map(|(&atom, &value)| guesser.value(atom, value)).collect()
        };
        let rows = combinations.iter().map(|values| row(self, values)).collect();
        let atoms = control.iter().map(|&atom| self.term(atom)).collect();
        (Control { atoms, rows }, found)
    }

    fn value(&mut self, atom: Atom, value: i128) -> TermId {
        let ty = self.ty(atom);
        self.manager.encoder.constant(&mut self.manager.terms, value, ty)
    }

    /// Cells, and variables that decide something by themselves, with few values, those with the fewest first; and the values that
    /// they have at the same time, as long as samples show most of these combinations more than once, so that few are missing.
    fn combinations(&self, atoms: &[Atom]) -> (Vec<Atom>, BTreeSet<Vec<i128>>) {
        let mut decides = BTreeSet::new();
        for edge in &self.program.edges {
            if let Op::Assume { cond, .. } = edge.op
                && let [var] = self.program.exprs.vars(cond)[..]
            {
                decides.insert(var);
            }
        }
        let mut columns = Vec::new();
        for &atom in atoms {
            if matches!(atom, Atom::Var(var) if !decides.contains(&var)) {
                continue;
            }
            let column = self.values([atom]);
            let values: BTreeSet<i128> = column.iter().map(|row| row[0]).collect();
            if column.len() == self.samples.len() && (2..=VALUES).contains(&values.len()) {
                columns.push((values.len(), atom, column));
            }
        }
        columns.sort_by_key(|(values, ..)| *values);
        let mut chosen: Vec<Atom> = Vec::new();
        let mut rows: Vec<Vec<i128>> = vec![Vec::new(); self.samples.len()];
        for (_, atom, column) in columns {
            let longer: Vec<Vec<i128>> =
                rows.iter().zip(&column).map(|(row, value)| row.iter().chain(value).copied().collect()).collect();
            let mut often: BTreeMap<&Vec<i128>, u32> = BTreeMap::new();
            for row in &longer {
                *often.entry(row).or_default() += 1;
            }
            let once = often.values().filter(|&&times| times == 1).count();
            if often.len() <= COMBINATIONS && once <= 1 + often.len() / ONCE {
                chosen.push(atom);
                rows = longer;
            }
        }
        (chosen, rows.into_iter().collect())
    }
}
