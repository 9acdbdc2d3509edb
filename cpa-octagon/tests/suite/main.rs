// SPDX-License-Identifier: Apache-2.0
//! Tests of the octagon analysis: concrete runs are contained, and what each merge operator proves.

mod numeric;
mod table;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use cfa::machine::{Asked, Code, End, Inputs, Machine, Random, Setup, Storage};
use cfa::{ExprKind, IntTy, Options, Program, Property, Source, VarId};
use cpa_core::algorithm::at_target;
use cpa_core::{CallstackCpa, Composite, Cx, Exploration, LocationCpa, Remerge, ReversePostOrder, Status, Step, run};
use cpa_octagon::{MergeKind, OctagonCpa, OctagonOptions, Transfer};

fn program(text: &str) -> Arc<Program> {
    let head = "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\n\
        extern unsigned char __VERIFIER_nondet_uchar(void); extern unsigned __VERIFIER_nondet_uint(void);\n\
        extern float __VERIFIER_nondet_float(void); extern double __VERIFIER_nondet_double(void);\n";
    let source = Source { name: "test.c".to_owned(), text: format!("{head}{text}") };
    Arc::new(cfa::load(&[source], &Options::default()).unwrap())
}

struct Choices(Random);

impl Inputs for Choices {
    fn value(&mut self, _asked: Asked, ty: IntTy) -> Option<i128> {
        let random = self.0.next();
        // Numbers as bits; they are good for unsigned integers too.
        let float = match random >> 40 & 15 {
            0 => f32::NAN,
            1 => f32::INFINITY,
            2 => f32::NEG_INFINITY,
            3 => f32::MAX,
            4 => f32::from_bits(random as u32),
            5 => -0.0,
            some => (some as f32 - 10.0) * 0.37,
        };
        if !ty.signed && random & 1 == 0 && ty.bits >= 32 {
            let double = f64::from(float).to_bits();
            return Some(if ty.bits == 32 { i128::from(float.to_bits()) } else { i128::from(double) });
        }
        Some(match random & 3 {
            0 => i128::from(random >> 8),
            1 => i128::from(i32::MAX) - i128::from(random >> 8 & 3),
            _ => i128::from(random >> 8 & 15) - 5,
        })
    }
    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        Some(self.0.next() as u8)
    }
}

const PROGRAMS: &[&str] = &[
    // Wrap-around in both directions, conversions, mixed signs.
    "int x, y, d; unsigned u, w; unsigned char c; long long l;
     int main(void) {
       x = __VERIFIER_nondet_int(); y = x + 3; u = (unsigned)x - 5u; w = u * 2u + 1u; c = (unsigned char)x; l = (long long)x * 4;
       if (x < y) d = y - x; else d = x - y;
       if (u > 7u && w < 20u) { x = -x; u = u % 6u; } else if (c <= 10 || x == 4) { y = c - x; w = ~u; }
       if (l < 40 && x > -3) { l = l / 3 + x; c = c + 250; y = (y << 2) | 1; }
       if (!(x == y) && x != 0) { d = x > y ? x : y; }
       return d; }",
    "int g, s; int f(int a, int b) { if (a < b) return f2(b) - a; return a - b; } int f2(int v) { return v; }
     int main(void) { int n = __VERIFIER_nondet_int() & 7; int i = 0;
       while (i < n) { s = s + f(i, n); i++; if (s > 20) g = g - i; else g = i - s; }
       return g; }",
    // Floating-point numbers: copies, signs, rounding, conversions, values that are no numbers.
    "float x, y, z; double d; int n; float half(float v) { return v / 2; }
     int main(void) { x = __VERIFIER_nondet_float(); y = x; z = __VERIFIER_nondet_float(); d = __VERIFIER_nondet_double();
       if (y < 0) y = -y; if (y <= 3 && z >= -2.5f) { x = x + z; d = x; n = (int)(y * 2 + 1); } else if (!(z < y)) { z = z * y; d = d - 1.5; }
       if (d < x) { d = -d; z = half(z); } else if (z == y) { y = (float)d; x = 1 / (z + 4); } if (x > 0.1f && x < 7) { x = x * x - 1; n = (int)x; }
       if (y != z && x >= y) { y = n; z = x > 0 ? x : -x; } return 0; }",
    "float v; double w; int k; int main(void) { v = 0; w = __VERIFIER_nondet_double(); if (!(w > 0 && w < 1)) w = 0.25; k = 0;
       while (v < 3) { v = v + (float)w + 0.1f; w = w * 0.5; k = k + 1; } return k; }",
];

#[test]
fn concrete_runs_are_contained() {
    let mut choices = Choices(Random::new(1));
    for text in PROGRAMS {
        let text = text.replace("int f(int a", "int f2(int v); int f(int a");
        let program = program(&text);
        let transfer = Transfer::new(Arc::clone(&program)).with_floats(true);
        let targets = BTreeSet::new();
        let setup = Setup { steps: true, ..Setup::new(&targets, Storage::Inputs) };
        let code = Rc::new(Code::new(&program, &setup).unwrap());
        for round in 0..300 {
            let mut machine = Machine::new(Rc::clone(&code), 1 << 20);
            let end = machine.run(&mut choices, 1000).expect("the loops are short");
            assert!(matches!(end, End::Returned | End::Halted(_)), "{end:?}");
            let mask = choices.0.next();
            let some: BTreeSet<VarId> =
                (0..program.vars.len()).filter(|bit| mask >> (bit % 64) & 1 == 1).map(VarId::new).collect();
            let tracked = (round % 2 == 1).then(|| Rc::new(some));
            let mut states = vec![transfer.top()];
            for (index, &one) in machine.steps().iter().enumerate() {
                let step = Step::from(one);
                states = states.iter().flat_map(|state| transfer.post(state, step, &tracked)).collect();
                assert!(!states.is_empty(), "step {index}, {step}, is not contained");
            }
            let value = |var: VarId| {
                let global = program.var(var).scope == cfa::Scope::Global;
                if global { machine.variable(&program, var) } else { None }
            };
            let state = states.iter().find(|state| state.contains(&program, &value));
            let state = state.unwrap_or_else(|| panic!("the values at the end are not contained in {}", states[0]));
            for id in program.exprs.ids() {
                // Expressions may mention variables that the lowering took out again.
                if let ExprKind::Var(var) = program.exprs.get(id).kind
                    && var.index() < program.vars.len()
                    && let Some(value) = value(var)
                {
                    let (low, high) = transfer.interval(state, id);
                    assert!(low <= value && value <= high, "{} is {value}, not {low}..{high}", program.var(var).name);
                }
            }
        }
    }
}

/// Whether everything is explored without a target, and the size of the graph; at most 400 states.
fn proves(text: &str, merge: MergeKind) -> (bool, usize) {
    let program = program(text);
    let targets = program.targets(&Property::default_errors());
    let mut composite = Composite::new(Arc::clone(&program));
    composite.add(LocationCpa::new(Arc::clone(&program), targets).towards_targets());
    composite.add(CallstackCpa::new(Arc::clone(&program)));
    let options = OctagonOptions { merge, ..OctagonOptions::default() };
    let transfer = Transfer::new(program).with_floats(true);
    let thresholds = transfer.thresholds();
    composite.add(OctagonCpa::new(Rc::new(transfer), options).with_thresholds(thresholds));
    let mut exploration = Exploration::new(Box::new(ReversePostOrder::callstack_first()), Remerge::Keep);
    let mut steps = 0;
    let mut abort = |arg: &cpa_core::Arg, id| {
        steps += 1;
        steps > 400 || at_target(arg, id)
    };
    let status = run(&mut Cx::unlimited(), &mut composite, &mut exploration, &mut abort, None).unwrap();
    exploration.verify().unwrap();
    (status == Status::Finished, exploration.arg().len())
}

#[test]
fn relations_are_tracked() {
    // Document 001, listing 5.1.
    let text = "int main(void) { int x = __VERIFIER_nondet_int(); int y = x;
       if (y >= -70 && y <= 70) { if (x < -70 || x > 70) reach_error(); } return 0; }";
    assert!(proves(text, MergeKind::Separate).0);
    let wrapping =
        "int main(void) { int x = __VERIFIER_nondet_int(); int y = x + 1; if (y <= x) reach_error(); return 0; }";
    assert!(!proves(wrapping, MergeKind::Separate).0, "x + 1 may wrap around");
}

/// Document 001, section 5.4.3: a relation, polynomials, and a loop that no number of rounds ends.
#[test]
fn floating_point() {
    let copies = "int main(void) { float x = __VERIFIER_nondet_float(); float y = x; if (y < 0) { y = -y; }
       if (y <= 69) { if (x < -70 || x > 70) { reach_error(); } } return 0; }";
    assert!(proves(copies, MergeKind::Separate).0, "listing 5.1");
    assert!(!proves(&copies.replace("-70", "-68"), MergeKind::Separate).0);
    let polynomials = "float f(float x) { return x*x*x; } float fp(float x) { return x*x; }
       int main(void) { float in = __VERIFIER_nondet_float(); if (!(in > 0.1f && in < 0.2f)) return 0;
         float x = in - f(in)/fp(in); if (!(x > -0.8 && x < 0.2)) reach_error(); return 0; }";
    assert!(proves(polynomials, MergeKind::Separate).0, "listing 5.2");
    assert!(!proves(&polynomials.replace("-0.8", "-0.6"), MergeKind::Separate).0);
    let stalls = "int main(void) { float step = 0.000000000001f; float value = 0; int counter = 0;
       while (value < 10) { counter++; value += step; } if (counter < 1000000000000) reach_error(); return 0; }";
    assert!(proves(stalls, MergeKind::Widening).0, "listing 5.3");
    assert!(!proves(stalls, MergeKind::Separate).0);
    assert!(!proves(&stalls.replace("0.000000000001f", "0.001f"), MergeKind::Widening).0);
}

/// Bounds are kept doubled, which is more than the greatest number for the greatest half of them.
#[test]
fn great_numbers() {
    for case in ["x > 1e308 && x < 1.5e308", "x < -1e308 && x > -1.5e308", "x == 1e308", "x == -1.7e308"] {
        let text = format!(
            "extern double __VERIFIER_nondet_double(void); int main(void) {{ double x = __VERIFIER_nondet_double();
               if ({case}) reach_error(); return 0; }}"
        );
        assert!(!proves(&text, MergeKind::Separate).0, "{case}");
    }
    let text =
        "int main(void) { double x = 1e308; double y = -x; if (x < 0.5e308 || y > -0.5e308) reach_error(); return 0; }";
    assert!(proves(text, MergeKind::Separate).0);
}

/// Document 001, table 3.1: only widening ends when the loop has no bound.
#[test]
fn merge_operators() {
    let text = |cond: &str| {
        format!(
            "int main(void) {{ int flag = __VERIFIER_nondet_int(); int ticks = 0; if (flag <= 0) return 0;
               while ({cond}) {{ ticks = ticks + 1; if (flag <= 0) reach_error(); }} return 0; }}"
        )
    };
    let (unbounded, bounded) = (text("__VERIFIER_nondet_int()"), text("ticks < 20"));
    assert!(!proves(&unbounded, MergeKind::Separate).0);
    assert!(!proves(&unbounded, MergeKind::Join).0);
    assert!(proves(&unbounded, MergeKind::Widening).0);
    let sizes = [MergeKind::Separate, MergeKind::Join, MergeKind::Widening].map(|merge| {
        let (proved, size) = proves(&bounded, merge);
        assert!(proved, "{merge:?}");
        size
    });
    assert!(sizes[0] > 4 * sizes[1] && sizes[1] >= sizes[2], "{sizes:?}");
}
