// SPDX-License-Identifier: Apache-2.0
//! Every concrete run is contained in the abstract states, whatever is tracked.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use cfa::IntTy;
use cfa::machine::{Asked, Code, End, Inputs, Machine as Concrete, Move, Random, Setup, Storage};
use cpa_core::Step;
use cpa_value::{Machine, SlotSet, Tracked, ValueState};

use crate::program;

/// Programs that do a bit of everything; most branches depend on inputs.
const PROGRAMS: &[&str] = &[
    // Conversions, wrap-around, bit operations, short circuits.
    "unsigned u = 7; short s; long l; int y, x;
     int main(void) {
       unsigned char c = __VERIFIER_nondet_uchar(); x = __VERIFIER_nondet_int() & 7; s = (short)(x * 3); l = (long)x + c;
       if (c == 5 && (x ^ 12) == 3) u = c + (unsigned)x;
       if (!(s == 9) || l != 9) u = (unsigned)-1 % 10u; else { if (s != 9) reach_error(); }
       if (-x == 4) { if (x != -4) reach_error(); x = x * 5; if (x != -20) reach_error(); }
       if (3 * x == 21) { if (3 * x != 21) reach_error(); }
       if ((unsigned char)x == 3) u = u << 2; else u = (u >> 1) | 1u;
       y = x < 1 ? 1 : 2; if (y == 2) { if (x <= 0) reach_error(); }
       for (int i = 0; i < 3; i++) { u = u * 2 + (i == (int)c); }
       return (int)u & 3; }",
    // Calls, globals, static variables.
    "int g = 4; static int count(int d) { static int n; n += d; return n; }
     int twice(int v) { if (v == 2) return v + v; return v * 2; }
     int main(void) {
       int a = __VERIFIER_nondet_int() & 3; int b = twice(a);
       g = count(b); g += count(1); if (a == 2 && b != 4) reach_error();
       while (g < 12) { g += twice(g) + 1; if (__VERIFIER_nondet_bool()) break; }
       return g; }",
    // Arrays, structs, unions, pointers, allocated memory.
    "struct s { char c; int i; } t[3]; union u { int w; unsigned char b[4]; } v; int a[4]; int sum, byte;
     int main(void) {
       int i = __VERIFIER_nondet_int() & 3; a[1] = 17; a[i] = i; v.w = 0x01020304; v.b[1] = __VERIFIER_nondet_uchar();
       if (i != 1 && a[1] != 17) reach_error();
       if (v.b[0] != 4 || (v.w & 0xff0000) != 0x020000) reach_error();
       byte = v.b[3]; t[i & 1].i = 5; t[2].c = (char)i; int *p = &a[2]; if (i) p = &t[0].i; *p = 3;
       int *h = malloc(8); h[0] = a[2]; h[1] = t[0].i; sum = h[0] + h[1] + t[1].i;
       for (int k = 0; k < 4; k++) { sum += a[k]; if (k == 3 && a[k] == 3 && i < 3) sum++; }
       return sum; }",
    // Floating point.
    "float f = 1.5f; double d; int k;
     int main(void) {
       d = __VERIFIER_nondet_int() & 3; if (d == 2.0) { f = (float)d * f; if (f != 3.0f) reach_error(); }
       if (d != d) reach_error(); d = d + f; if (d > 1.0) f = 0.0f / f; if (f != f) k = 3; return k; }",
];

struct Choices(Random);

impl Inputs for Choices {
    fn value(&mut self, _asked: Asked, _ty: IntTy) -> Option<i128> {
        let random = self.0.next();
        Some(if random & 1 == 0 { i128::from(random >> 8 & 15) - 5 } else { i128::from(random >> 8) })
    }
    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        Some(self.0.next() as u8)
    }
}

/// Follows a run and compares what is known at its end; answers how many variables were known.
fn follow(machine: &Machine, moves: &[Move], run: &Concrete, tracked: Tracked<'_>) -> usize {
    let program = machine.program();
    let mut state = ValueState::default();
    for (index, &one) in moves.iter().enumerate() {
        let step = Step::from(one);
        let full = machine.post(&state, step, tracked);
        state = full.unwrap_or_else(|| panic!("step {index}, {step}, is not contained"));
    }
    let mut known = 0;
    for (index, var) in program.vars.iter().enumerate() {
        let id = cfa::VarId::new(index);
        let expr = program.exprs.ids().find(|&expr| program.exprs.get(expr).kind == cfa::ExprKind::Var(id));
        if let Some(value) = expr.and_then(|expr| machine.eval(&state, expr))
            && let Some(concrete) = run.variable(program, id)
        {
            assert_eq!(value, concrete, "{}", var.name);
            known += 1;
        }
    }
    known
}

#[test]
fn concrete_runs_are_contained() {
    let mut choices = Choices(Random::new(1));
    for text in PROGRAMS {
        let program = program(text);
        let machine = Machine::new(Arc::clone(&program));
        let targets = BTreeSet::new();
        let setup = Setup { steps: true, ..Setup::new(&targets, Storage::Inputs) };
        let code = Rc::new(Code::new(&program, &setup).unwrap());
        let (mut known, mut full) = (0, 0);
        for _ in 0..150 {
            let mut run = Concrete::new(Rc::clone(&code), 1 << 20);
            let end = run.run(&mut choices, 1000).expect("the loops are short");
            assert!(matches!(end, End::Returned | End::Halted(_)), "{end:?} in {text}");
            let moves: Vec<Move> = run.steps().to_vec();
            full += usize::from(follow(&machine, &moves, &run, Tracked::All) > 0);
            let mask = choices.0.next() | 1;
            let some = (0..program.vars.len()).filter(|bit| mask >> (bit % 64) & 1 == 1);
            let some: SlotSet = some.map(|index| machine.slot(cfa::VarId::new(index))).collect();
            known += follow(&machine, &moves, &run, Tracked::Set(&some));
        }
        assert!(full > 0, "nothing is ever known in {text}");
        assert!(known < 150 * program.vars.len());
    }
}
