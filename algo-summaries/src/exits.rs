// SPDX-License-Identifier: Apache-2.0
//! The states behind a loop: after a number of iterations that all went on, the next one takes a way out.

use cfa::ids::NodeId;
use cfa::ir::Op;
use cpa_core::Stop;
use rustc_hash::FxHashMap;

use crate::loops::{Exits, Form, Solution, Solved, Subject};
use crate::poly::{Atom, Poly};
use crate::pool::{ArrayKind, CondId, CondKind, Pool};
use crate::prove::bounds;
use crate::range::Range;
use crate::state::{Named, State};
use crate::subst::Replacement;
use crate::walk::{Scope, Walked, Walker};

/// The most edges between the head of a loop and the ways out of it.
const CONDITIONS: usize = 32;

impl Walker<'_> {
    /// Walks along the body once. An iteration after which the loop is left at its head for certain, as those that set a flag
    /// which the loop's condition asks for, happens once at most, as the last one: it is a part of the way out.
    pub(crate) fn iteration(&mut self, scope: &Scope, state: State) -> Result<Walked, Stop> {
        let mut walked = self.walk(scope.head, state, Some(scope))?;
        if walked.back.len() > 1 {
            for state in std::mem::take(&mut walked.back) {
                match self.left_at_head(scope, &state)? {
                    Some(exits) => walked.exits.extend(exits),
                    None => walked.back.push(state),
                }
            }
        }
        Ok(walked)
    }

    /// The ways out from the head, if no execution goes on there.
    fn left_at_head(&mut self, scope: &Scope, state: &State) -> Result<Option<Vec<(NodeId, State)>>, Stop> {
        let program = self.program;
        let mut exits = Vec::new();
        let mut open = vec![(scope.head, state.clone())];
        let mut edges = 0;
        while let Some((node, state)) = open.pop() {
            for edge in &program.node(node).leaving {
                edges += 1;
                if edges > CONDITIONS || !matches!(program.edge(*edge).op, Op::Skip | Op::Assume { .. }) {
                    return Ok(None);
                }
                let mut branch = state.clone();
                match self.step(&mut branch, *edge)? {
                    None => {}
                    Some(next) if !scope.body.contains(&next) => exits.push((next, branch)),
                    Some(next) if next == scope.head || self.targets.contains(&next) => return Ok(None),
                    Some(next) => open.push((next, branch)),
                }
            }
        }
        Ok(Some(exits))
    }

    /// The states behind the loop, and those at targets in it.
    pub(crate) fn leave(&mut self, subject: &Subject, solved: Solved) -> Result<Exits, Stop> {
        let Solved { walked, base, told, solution } = solved;
        let mut ways = Vec::new();
        for state in &walked.back {
            ways.push(self.pool.and(state.facts[base..].to_vec()));
        }
        let goes_on = self.pool.or(ways);
        let stops = self.pool.not(goes_on)?;
        let mut exits = Vec::new();
        let mut hits = Vec::new();
        for (at, (node, mut state)) in walked.exits.into_iter().enumerate() {
            let mut number = 0;
            state.facts.retain(|fact| {
                number += 1;
                let says_more = number <= told || number > base;
                says_more || !matches!(self.pool.cond(*fact), CondKind::AtMostZero(_))
            });
            self.forget_last(subject, &solution, at, &mut state)?;
            for state in self.left(subject, &solution, state, (node, at), (goes_on, stops))? {
                exits.push((node, state));
            }
        }
        for (at, state) in walked.hits.into_iter().enumerate() {
            // Told apart from the ways out by the location.
            for state in self.left(subject, &solution, state, (subject.scope.head, at), (goes_on, stops))? {
                hits.push(state);
            }
        }
        Ok((exits, hits))
    }

    /// Replaces contents of which relations hold by others of which the same relations hold: what the last iteration wrote is told
    /// by them, too.
    fn forget_last(
        &mut self,
        subject: &Subject,
        solution: &Solution,
        way: usize,
        state: &mut State,
    ) -> Result<(), Stop> {
        for relation in &solution.relations {
            let told = relation.in_state(self, state);
            if state.relations.contains(&told) || !self.relation_holds_in(state, relation)? {
                continue;
            }
            for (cells, _) in &relation.members {
                let name = self.names.name(Named::ContentsAfter(subject.scope.head, way, *cells), subject.before);
                let mut parameters = self.parameters();
                parameters.push(Poly::atom(subject.time));
                let ty = self.cell_type(*cells);
                let array = self.pool.intern_array(ArrayKind::Unknown(name, parameters, ty));
                state.memory.insert(*cells, array);
            }
            self.relate(state, relation)?;
        }
        Ok(())
    }

    /// The states after a number of iterations that all went on, when the next one takes the given way.
    fn left(
        &mut self,
        subject: &Subject,
        solution: &Solution,
        state: State,
        way: (NodeId, usize),
        (goes_on, stops): (CondId, CondId),
    ) -> Result<Vec<State>, Stop> {
        let time = subject.time;
        let mut states = Vec::new();
        let none = self.after(subject, &state, &Poly::constant(0))?;
        let none = self.at_first(subject, solution, none)?;
        if !self.impossible(&none)? {
            states.push(none);
        }
        if Pool::as_truth(goes_on) == Some(false) {
            return Ok(states);
        }
        let name = self.names.name(Named::Count(subject.scope.head, way.0, way.1), subject.before);
        let parameters = self.parameters();
        let count = self.pool.input(name, parameters, Range::NATURAL);
        let mut some = self.after(subject, &state, &count)?;
        let counted = self.pool.at_most(&Poly::constant(1), &count)?;
        some.know(&self.pool, counted);
        let last = self.pool.replace_in_cond(goes_on, time, &count.plus_constant(-1)?)?;
        some.know(&self.pool, last);
        let stopped = self.pool.exists(stops, time, &count)?;
        let not_stopped = self.pool.not(stopped)?;
        let symbol = count.as_atom().expect("an input is an atom");
        if let Some(value) = self.determined(&some.facts, symbol)? {
            some = self.after(subject, &state, &value)?;
            for fact in [counted, last, not_stopped] {
                let fact = self.pool.replace_in_cond(fact, symbol, &value)?;
                some.know(&self.pool, fact);
            }
        } else {
            some.know(&self.pool, not_stopped);
        }
        if !self.impossible(&some)? {
            states.push(some);
        }
        Ok(states)
    }

    fn impossible(&mut self, state: &State) -> Result<bool, Stop> {
        if self.guess {
            let known = bounds(&self.pool, &state.facts);
            return Ok(state.facts.contains(&Pool::truth(false)) || known.values().any(|range| range.lo > range.hi));
        }
        self.prover.excluded(&mut self.pool, &state.facts, Pool::truth(true))
    }

    /// A state with the number of iterations put in.
    fn after(&mut self, subject: &Subject, state: &State, count: &Poly) -> Result<State, Stop> {
        let map: FxHashMap<Atom, Poly> = [(subject.time, count.clone())].into_iter().collect();
        let mut after = state.clone();
        self.replaced(&mut Replacement::new(map), &mut after)?;
        Ok(after)
    }

    fn replaced(&mut self, replacement: &mut Replacement, state: &mut State) -> Result<(), Stop> {
        for value in state.vars.values_mut() {
            *value = replacement.poly(&mut self.pool, value)?;
        }
        for array in state.memory.values_mut() {
            *array = replacement.array(&mut self.pool, *array)?;
        }
        for relation in &mut state.relations {
            *relation = relation.replaced(&mut self.pool, replacement)?;
        }
        for fact in std::mem::take(&mut state.facts) {
            let fact = replacement.cond(&mut self.pool, fact)?;
            if Pool::as_truth(fact) == Some(false) {
                state.facts = vec![fact];
                return Ok(());
            }
            state.know(&self.pool, fact);
        }
        Ok(())
    }

    /// The state of a first iteration, in which what is unknown at the start of iterations is what it was before the loop.
    fn at_first(&mut self, subject: &Subject, solution: &Solution, mut state: State) -> Result<State, Stop> {
        let (head, before) = (subject.scope.head, subject.before);
        let mut parameters = self.parameters();
        parameters.push(Poly::constant(0));
        let mut map = FxHashMap::default();
        for var in subject.vars {
            let Some(old) = before.vars.get(var) else { continue };
            let name = self.names.name(Named::VariableAt(head, *var), before);
            let ty = self.program.var(*var).ty;
            let unknown = self.pool.input(name, parameters.clone(), Range::of_type(ty));
            map.extend(unknown.as_atom().map(|atom| (atom, old.clone())));
        }
        let mut arrays = Vec::new();
        for cells in &subject.cells {
            let (ty, old) = (self.cell_type(*cells), self.contents(before, *cells));
            let name = self.names.name(Named::ContentsAt(head, *cells), before);
            arrays.push((self.pool.intern_array(ArrayKind::Unknown(name, parameters.clone(), ty)), old));
            let Some(Form::Elements(elements)) = solution.cells.get(cells) else { continue };
            for (at, (index, _)) in elements.iter().enumerate() {
                let name = self.names.name(Named::ElementAt(head, *cells, at), before);
                let unknown = self.pool.input(name, parameters.clone(), Range::of_type(ty));
                let value = self.element(before, old, index)?;
                map.extend(unknown.as_atom().map(|atom| (atom, value.clone())));
            }
        }
        let mut replacement = Replacement::new(map);
        for (unknown, old) in arrays {
            replacement.and_array(unknown, old);
        }
        self.replaced(&mut replacement, &mut state)?;
        Ok(state)
    }

    /// The value of an atom that the facts leave no choice for.
    fn determined(&mut self, facts: &[CondId], symbol: Atom) -> Result<Option<Poly>, Stop> {
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for fact in facts {
            let value = match self.pool.cond(*fact) {
                CondKind::AtMostZero(value) | CondKind::Zero(value) => value,
                _ => continue,
            };
            let exact = matches!(self.pool.cond(*fact), CondKind::Zero(_));
            let Some((coefficient @ (1 | -1), rest)) = value.linear_in(symbol) else { continue };
            if self.pool.mentions(&rest, &|atom| atom == symbol) {
                continue;
            }
            let bound = rest.times_constant(-coefficient)?;
            if exact {
                return Ok(Some(bound));
            }
            if coefficient == 1 { upper.push(bound) } else { lower.push(bound) }
        }
        if let Some(both) = lower.iter().find(|bound| upper.contains(bound)) {
            return Ok(Some(both.clone()));
        }
        let known = bounds(&self.pool, facts);
        Ok(known.get(&symbol).filter(|range| range.lo == range.hi).map(|range| Poly::constant(range.lo)))
    }
}
