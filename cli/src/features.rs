// SPDX-License-Identifier: Apache-2.0
//! Features of a program that a plan may ask for: facts about its automaton that are found in one pass, such as whether it
//! has loops or reads inputs. Only what `main` can reach counts.

use std::collections::BTreeSet;

use cfa::ids::{FuncId, NodeId};
use cfa::ir::{BinOp, ExprKind, HavocOrigin, Op};
use cfa::{ExprId, Program};

/// A fact about a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Feature {
    /// It reads an input: a call of a function such as `__VERIFIER_nondet_int`.
    Inputs,
    /// Some variable has no initial value.
    Uninitialised,
    /// It has a loop.
    Loops,
    /// Some function can call itself, maybe through others.
    Recursion,
    /// It has a loop or recursion, so there are executions of any length as far as the automaton says.
    Cyclic,
    /// It reads or writes memory other than plain variables.
    Memory,
    /// It makes objects as it runs, such as with `malloc`.
    Allocation,
    /// It frees objects.
    Freeing,
    /// It computes with floating-point numbers.
    Floats,
    /// It multiplies variables, or divides by one.
    Nonlinear,
    /// It is like a state machine: it has loops and inputs, no floating-point numbers, and many branches, most of which compare a
    /// variable with a number or another variable.
    Machine,
    /// It has more than 10,000 edges.
    Large,
    /// No control flow leads to an error, whatever the data are.
    Harmless,
}

impl Feature {
    /// All features.
    pub const ALL: [Feature; 13] = [
        Feature::Inputs,
        Feature::Uninitialised,
        Feature::Loops,
        Feature::Recursion,
        Feature::Cyclic,
        Feature::Memory,
        Feature::Allocation,
        Feature::Freeing,
        Feature::Floats,
        Feature::Nonlinear,
        Feature::Machine,
        Feature::Large,
        Feature::Harmless,
    ];

    /// Its name in plans.
    pub fn name(self) -> &'static str {
        match self {
            Feature::Inputs => "inputs",
            Feature::Uninitialised => "uninitialised",
            Feature::Loops => "loops",
            Feature::Recursion => "recursion",
            Feature::Cyclic => "cyclic",
            Feature::Memory => "memory",
            Feature::Allocation => "allocation",
            Feature::Freeing => "freeing",
            Feature::Floats => "floats",
            Feature::Nonlinear => "nonlinear",
            Feature::Machine => "machine",
            Feature::Large => "large",
            Feature::Harmless => "harmless",
        }
    }

    /// The feature of the given name.
    pub fn by_name(name: &str) -> Option<Feature> {
        Feature::ALL.into_iter().find(|feature| feature.name() == name)
    }
}

/// Edges with comparisons that a state machine has at least.
const MANY_COMPARISONS: usize = 40;

/// The features of a program with these error locations.
pub fn features(program: &Program, targets: &BTreeSet<NodeId>) -> BTreeSet<Feature> {
    let mut found = BTreeSet::new();
    let seen = vec![false; program.exprs.len()];
    let mut survey = Survey { program, found: &mut found, seen, branches: 0, comparisons: 0 };
    let (functions, edges) = survey.reachable();
    let Survey { branches, comparisons, .. } = survey;
    if !program.leading_to(targets).contains(&program.entry) {
        found.insert(Feature::Harmless);
    }
    if edges > 10_000 {
        found.insert(Feature::Large);
    }
    if !functions.is_disjoint(&program.recursive()) {
        found.extend([Feature::Recursion, Feature::Cyclic]);
    }
    let in_reached = |node: &NodeId| functions.contains(&program.node(*node).func);
    if program.loops.heads.iter().any(in_reached) {
        found.extend([Feature::Loops, Feature::Cyclic]);
    }
    let has = |feature| found.contains(&feature);
    // Programs that walk along lists have many comparisons, too, but not as many.
    let many = if has(Feature::Allocation) { 3 * MANY_COMPARISONS } else { MANY_COMPARISONS };
    let decides = comparisons >= many && comparisons * 4 >= branches * 3;
    if decides && has(Feature::Inputs) && has(Feature::Loops) && !has(Feature::Floats) {
        found.insert(Feature::Machine);
    }
    found
}

struct Survey<'a> {
    program: &'a Program,
    found: &'a mut BTreeSet<Feature>,
    /// Expressions that were looked at.
    seen: Vec<bool>,
    /// Branches, by their edges.
    branches: usize,
    /// Those that compare a variable with a number or another variable.
    comparisons: usize,
}

impl Survey<'_> {
    /// Looks at all edges of functions that the entry can reach; returns these functions and the number of edges.
    fn reachable(&mut self) -> (BTreeSet<FuncId>, usize) {
        let program = self.program;
        let mut functions = BTreeSet::from([program.main]);
        let mut open = vec![program.entry];
        let mut visited = vec![false; program.nodes.len()];
        let mut edges = 0;
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut visited[node.index()], true) {
                continue;
            }
            for &edge in &program.node(node).leaving {
                let edge = program.edge(edge);
                edges += 1;
                self.operation(&edge.op);
                if let Op::Assume { cond, .. } = edge.op {
                    self.branches += 1;
                    self.comparisons += usize::from(self.compares(cond));
                }
                open.push(edge.dst);
                if let Op::Call { callee, .. } = edge.op
                    && functions.insert(callee)
                {
                    open.extend(program.func(callee).body.map(|body| body.entry));
                }
            }
        }
        (functions, edges)
    }

    fn operation(&mut self, op: &Op) {
        let feature = match op {
            Op::Skip | Op::Unsupported { .. } | Op::Assume { .. } | Op::Assign { .. } | Op::Call { .. } => None,
            Op::Havoc { origin: HavocOrigin::Nondet { .. }, .. } => Some(Feature::Inputs),
            Op::Havoc { origin: HavocOrigin::Uninitialised, .. } => Some(Feature::Uninitialised),
            Op::Havoc { origin: HavocOrigin::Unmodelled { .. } | HavocOrigin::NanBits, .. } => None,
            Op::Alloc { .. } => {
                self.found.insert(Feature::Allocation);
                Some(Feature::Memory)
            }
            Op::Free { .. } => {
                self.found.insert(Feature::Freeing);
                Some(Feature::Memory)
            }
            Op::Load { .. } | Op::Store { .. } | Op::Zero { .. } => Some(Feature::Memory),
        };
        self.found.extend(feature);
        op.operands().into_iter().for_each(|expr| self.expression(expr));
    }

    /// Whether a condition compares a variable with a number or another variable.
    fn compares(&self, cond: ExprId) -> bool {
        let exprs = &self.program.exprs;
        let simple = |side| exprs.converted_var(side).is_some() || exprs.as_const(side).is_some();
        match exprs.get(cond).kind {
            ExprKind::Not(arg) => self.compares(arg),
            ExprKind::Cmp(_, a, b) => simple(a) && simple(b),
            _ => exprs.converted_var(cond).is_some(),
        }
    }

    fn expression(&mut self, root: ExprId) {
        let exprs = &self.program.exprs;
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut self.seen[id.index()], true) {
                continue;
            }
            match exprs.get(id).kind {
                ExprKind::Binary(BinOp::Mul, a, b) if exprs.as_const(a).is_none() && exprs.as_const(b).is_none() => {
                    self.found.insert(Feature::Nonlinear);
                }
                ExprKind::Binary(BinOp::Div | BinOp::Rem, _, b) if exprs.as_const(b).is_none() => {
                    self.found.insert(Feature::Nonlinear);
                }
                ref kind if kind.is_float() => {
                    self.found.insert(Feature::Floats);
                }
                _ => {}
            }
            open.extend(exprs.operands(id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{Options, Property, Source};

    fn program(text: &str) -> Program {
        let source = Source { name: "t.c".into(), text: text.into() };
        cfa::load(&[source], &Options::default()).unwrap()
    }

    fn names(text: &str) -> Vec<&'static str> {
        let program = program(text);
        features(&program, &BTreeSet::from([program.entry])).into_iter().map(Feature::name).collect()
    }

    #[test]
    fn what_leads_to_no_error_is_harmless() {
        let harmless = |text: &str| {
            let program = program(&format!("void reach_error(void) {{ }} {text}"));
            let targets = program.targets(&Property::default_errors());
            features(&program, &targets).contains(&Feature::Harmless)
        };
        assert!(harmless("int main(void) { int x; while (x) x--; return 0; }"));
        assert!(harmless("void f(void) { reach_error(); } int main(void) { return 0; }"));
        assert!(harmless("int main(void) { return 0; reach_error(); }"));
        assert!(!harmless(
            "void f(int x) { if (x) reach_error(); } int main(void) { int x; while (x) f(x--); return 0; }"
        ));
        assert!(!harmless("int main(void) { void (*f)(void) = reach_error; int x; if (x) f(); return 0; }"));
        assert!(!harmless(
            "int main(void) { int x; if (x == 7) { __asm__(\"call reach_error\"); } reach_error(); return 0; }"
        ));
    }

    #[test]
    fn features_of_small_programs() {
        assert!(names("int main(void) { return 0; }").is_empty());
        let objects = "void *malloc(unsigned long); void free(void *); int main(void) { free(malloc(4)); return 0; }";
        assert_eq!(names(objects), ["memory", "allocation", "freeing"]);
        let text = "int __VERIFIER_nondet_int(void); int f(int n) { return n > 0 ? f(n - 1) : 0; }
            int main(void) { int x = __VERIFIER_nondet_int(); while (x > 0) { x = x - f(x * x); } return 0; }";
        assert_eq!(names(text), ["inputs", "loops", "recursion", "cyclic", "nonlinear"]);
        let step = |n: usize| format!("if (s == {n} && in == {}) s = {};", n % 6, n * 7 % 31);
        let machine = |steps: usize| {
            let steps: String = (0..steps).map(step).collect();
            let text = "int __VERIFIER_nondet_int(void); int main(void) { int s = 0; while (1) { ";
            format!("{text} int in = __VERIFIER_nondet_int(); {steps} }} return 0; }}")
        };
        assert_eq!(names(&machine(9)), ["inputs", "loops", "cyclic"]);
        assert_eq!(names(&machine(12)), ["inputs", "loops", "cyclic", "machine"]);
        let text = "int g(int n) { while (n) { n = n * n; } return n; } int main(void) { int x; return x; }";
        assert_eq!(names(text), ["uninitialised"], "what main does not reach does not count");
    }
}
