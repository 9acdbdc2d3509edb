// SPDX-License-Identifier: Apache-2.0
//! The values that inputs can have in executions that matter: the part of the program before its first loops and recursive calls is
//! unrolled once, and the solver finds the least and the greatest value of each input over all paths that go on from there.
//!
//! Many programs read a few inputs, bound them by assumptions, and loop. An execution that reaches neither the end of that part nor
//! a target nor an unsupported construct ends before all of them, so its inputs do not matter. An edge that can be taken
//! again later, in a loop or by another call of its function, has no range.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use cfa::Program;
use cfa::ids::{EdgeId, NodeId};
use cfa::ir::{HavocOrigin, IntTy, Op};
use cpa_core::{ArgId, Counting, Cx, Stop};
use cpa_predicate::Manager;
use smt::{BvCmp, Sort, TermId};

use crate::query::{Answer, ask};
use crate::unrolling::{Start, Unrolling};

/// For each input edge before the first loops and recursive calls: the least and the greatest value that matters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ranges {
    /// By edge; inputs with more than the allowed number of values are missing.
    pub of: BTreeMap<EdgeId, (i128, i128)>,
}

/// The unrolling of the part before the first loops and recursive calls, for [`input_ranges`].
pub fn before_cycles(program: &Arc<Program>, targets: &BTreeSet<NodeId>, manager: &Rc<RefCell<Manager>>) -> Unrolling {
    // The first visit of the head of a loop ends that part, or the second activation of a function.
    let counting = if program.recursive().is_empty() { Counting::Visits } else { Counting::Iterations };
    Unrolling::new(program, targets, manager, Start::Entry, counting)
}

/// The ranges of all inputs with at most `most` values; `unrolling` is one of [`before_cycles`] that has not begun. None if the solver
/// gave up on a question without which nothing can be said.
pub fn input_ranges(cx: &mut Cx, unrolling: &mut Unrolling, most: i128) -> Result<Option<Ranges>, Stop> {
    unrolling.extend(cx, 1)?;
    let mut ends: Vec<ArgId> = unrolling.frontier().to_vec();
    ends.extend(unrolling.violations());
    ends.extend(unrolling.unsupported());
    let conditions: Vec<TermId> = ends.iter().map(|&id| unrolling.condition(id)).collect();
    let inputs = input_values(unrolling, &ends)?;
    let manager = std::rc::Rc::clone(unrolling.manager());
    let mut manager = manager.borrow_mut();
    let manager = &mut *manager;
    let matters = manager.terms.or_all(&conditions);
    let mut ranges = Ranges::default();
    let again = reachable(unrolling, &ends);
    for (edge, (ty, values)) in inputs {
        if again[unrolling.program().edge(edge).src.index()] {
            continue;
        }
        let mut whole: Option<(i128, i128)> = None;
        for value in values {
            let search = Search { cx, matters, value, ty };
            match search.range(manager, most)? {
                Found::Range(low, high) => {
                    whole = Some(whole.map_or((low, high), |(a, b)| (a.min(low), b.max(high))));
                }
                Found::Never => {}
                Found::Wide => {
                    whole = None;
                    break;
                }
                Found::Unknown => return Ok(None),
            }
        }
        if let Some((low, high)) = whole
            && high - low < most
        {
            ranges.of.insert(edge, (low, high));
        }
    }
    Ok(Some(ranges))
}

/// The locations that control flow can reach from `ends`, whatever the data; calls and returns are not matched.
fn reachable(unrolling: &Unrolling, ends: &[ArgId]) -> Vec<bool> {
    let program = unrolling.program();
    let mut after_exit: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for edge in &program.edges {
        if let Op::Call { callee, .. } = edge.op
            && let Some(body) = program.func(callee).body
        {
            after_exit.entry(body.exit).or_default().push(edge.dst);
        }
    }
    let mut seen = vec![false; program.nodes.len()];
    let mut open: Vec<NodeId> = ends.iter().map(|&end| unrolling.arg().location(end)).collect();
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[node.index()], true) {
            continue;
        }
        for &edge in &program.node(node).leaving {
            let edge = program.edge(edge);
            open.push(edge.dst);
            if let Op::Call { callee, .. } = edge.op {
                open.extend(program.func(callee).body.map(|body| body.entry));
            }
        }
        open.extend(after_exit.get(&node).into_iter().flatten());
    }
    seen
}

/// The terms of the values that the input edges before `ends` take, by edge.
fn input_values(unrolling: &Unrolling, ends: &[ArgId]) -> Result<BTreeMap<EdgeId, (IntTy, BTreeSet<TermId>)>, Stop> {
    let program = std::sync::Arc::clone(unrolling.program());
    let mut manager = unrolling.manager().borrow_mut();
    let mut found: BTreeMap<EdgeId, (IntTy, BTreeSet<TermId>)> = BTreeMap::new();
    let before: BTreeSet<ArgId> = ends.iter().flat_map(|&end| unrolling.arg().ancestors(end)).collect();
    for id in before {
        for &(from, step) in unrolling.arg().parents(id) {
            let Op::Havoc { var, origin: HavocOrigin::Nondet { .. } } = &program.edge(step.edge()).op else { continue };
            let path = unrolling.state(from).follow(&mut manager, step)?;
            let manager = &mut *manager;
            let symbol = manager.encoder.symbol(&mut manager.terms, *var);
            let value = path.value(&mut manager.terms, symbol);
            found.entry(step.edge()).or_insert_with(|| (program.var(*var).ty, BTreeSet::new())).1.insert(value);
        }
    }
    Ok(found)
}

enum Found {
    Range(i128, i128),
    /// No execution that matters has the input.
    Never,
    Wide,
    Unknown,
}

struct Search<'a> {
    cx: &'a Cx,
    matters: TermId,
    value: TermId,
    ty: IntTy,
}

impl Search<'_> {
    fn range(&self, manager: &mut cpa_predicate::Manager, most: i128) -> Result<Found, Stop> {
        let some = match self.model(manager, None)? {
            Answer::Sat(value) => value,
            Answer::Unsat => return Ok(Found::Never),
            Answer::Unknown(_) => return Ok(Found::Unknown),
        };
        let Some(low) = self.extreme(manager, some, some - most, false)? else { return Ok(Found::Wide) };
        let Some(high) = self.extreme(manager, some, low + most, true)? else { return Ok(Found::Wide) };
        Ok(Found::Range(low, high))
    }

    /// The greatest (`upwards`) or least value, given one value; none if it is beyond `limit` or not found.
    fn extreme(
        &self,
        manager: &mut cpa_predicate::Manager,
        some: i128,
        limit: i128,
        upwards: bool,
    ) -> Result<Option<i128>, Stop> {
        // Values beyond `outer` do not occur; `inner` occurs.
        let (mut inner, mut outer) = (some, if upwards { limit.min(self.ty.max()) } else { limit.max(self.ty.min()) });
        match self.model(manager, Some((outer, upwards)))? {
            Answer::Unsat => {}
            Answer::Sat(_) | Answer::Unknown(_) => return Ok(None),
        }
        while inner != outer {
            let middle = if upwards { inner + (outer - inner) / 2 } else { inner - (inner - outer) / 2 };
            match self.model(manager, Some((middle, upwards)))? {
                Answer::Sat(value) => inner = value,
                Answer::Unsat => outer = middle,
                Answer::Unknown(_) => return Ok(None),
            }
        }
        Ok(Some(inner))
    }

    /// A value beyond the bound in an execution that matters.
    fn model(&self, manager: &mut cpa_predicate::Manager, beyond: Option<(i128, bool)>) -> Result<Answer<i128>, Stop> {
        let mut formulas = vec![self.matters];
        if let Some((bound, upwards)) = beyond {
            formulas.push(self.beyond(manager, bound, upwards));
        }
        let (value, ty) = (self.value, self.ty);
        let answer = ask(self.cx, manager, &formulas, Some(std::time::Duration::from_secs(2)), |manager, model| {
            model.eval(&manager.terms, value).map(|value| manager.encoder.integer(value, ty))
        })?;
        Ok(match answer {
            Answer::Sat(Some(value)) => Answer::Sat(value),
            Answer::Sat(None) => Answer::Unknown("a value does not fit into 128 bits".to_owned()),
            Answer::Unsat => Answer::Unsat,
            Answer::Unknown(why) => Answer::Unknown(why),
        })
    }

    /// `value > bound` or `value < bound`.
    fn beyond(&self, manager: &mut cpa_predicate::Manager, bound: i128, upwards: bool) -> TermId {
        let terms = &mut manager.terms;
        match terms.sort(self.value) {
            Sort::Int => {
                let bound = terms.int(bound);
                if upwards { terms.int_lt(bound, self.value) } else { terms.int_lt(self.value, bound) }
            }
            _ => {
                let modulus = 1i128 << self.ty.bits;
                let residue = u128::try_from(bound.rem_euclid(modulus)).expect("a residue is not negative");
                let bound = terms.bv(self.ty.bits, residue);
                let less = if self.ty.signed { BvCmp::Slt } else { BvCmp::Ult };
                if upwards { terms.bv_cmp(less, bound, self.value) } else { terms.bv_cmp(less, self.value, bound) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{Options, Property, Source};
    use cpa_predicate::{Encoding, region::Library};

    fn ranges(text: &str) -> Vec<(i128, i128)> {
        let head = "void abort(void); void reach_error(void); int __VERIFIER_nondet_int(void);
            unsigned char __VERIFIER_nondet_uchar(void); void assume(int c) { if (!c) abort(); } ";
        let source = Source { name: "t.c".into(), text: format!("{head}{text}") };
        let program = Arc::new(cfa::load(&[source], &Options::default()).unwrap());
        let targets = program.targets(&Property::default_errors());
        let manager = Manager::new(&program, Encoding::Bitvector, Library::default()).unwrap();
        let manager = Rc::new(RefCell::new(manager));
        let mut unrolling = before_cycles(&program, &targets, &manager);
        input_ranges(&mut Cx::unlimited(), &mut unrolling, 1000).unwrap().unwrap().of.into_values().collect()
    }

    #[test]
    fn assumptions_before_the_loop_bound_the_inputs() {
        let text = "int main(void) { int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
            assume(x >= -3 && x <= 20); assume(y > x && y < 50);
            while (x < y) { x++; if (x == 77) reach_error(); } return 0; }";
        assert_eq!(ranges(text), [(-3, 20), (-2, 49)]);
    }

    #[test]
    fn assumptions_before_recursive_calls_bound_the_inputs() {
        let text = "int f(int n) { if (n <= 0) return __VERIFIER_nondet_int(); return f(n - 1) + f(n - 2); }
            int main(void) { int x = __VERIFIER_nondet_int(); if (x < 2 || x > 9) return 0;
            if (f(x) == 77) reach_error(); return 0; }";
        assert_eq!(ranges(text), [(2, 9)]);
    }

    #[test]
    fn an_edge_that_is_taken_again_has_no_range() {
        let text = "int get(void) { return __VERIFIER_nondet_int(); }
            int main(void) { int x = get(); assume(x == 3);
            while (x > 0) { x = get(); if (x == 77) reach_error(); } return 0; }";
        assert_eq!(ranges(text), []);
        let text = "int get(void) { return __VERIFIER_nondet_int(); }
            int main(void) { int x = get(), y = get(); assume(x >= 3 && x <= 5); assume(y == 9);
            while (x > 0) { x--; if (x == 77) reach_error(); } return 0; }";
        assert_eq!(ranges(text), [(3, 9)]);
    }

    #[test]
    fn inputs_that_do_not_matter_or_have_no_bound_are_missing() {
        let text = "int main(void) { int x = __VERIFIER_nondet_int(); if (x > 5) { int y = __VERIFIER_nondet_int(); return y; }
            unsigned char z = __VERIFIER_nondet_uchar(); while (z) { z--; if (z == x) reach_error(); } return 0; }";
        assert_eq!(ranges(text), [(0, 255)]);
    }
}
