// SPDX-License-Identifier: Apache-2.0
//! Iterations that the concrete machine makes at once against the same iterations one by one.

use std::rc::Rc;

use cfa::machine::{Code, End, Machine, NoInputs, Setup, Storage};
use cfa::{MachineModel, Program, Property, VarId};
use proptest::prelude::*;

use crate::try_load;

/// With more fuel than this at once the machine may make many iterations at once.
const LITTLE: u64 = 1000;

fn machine(program: &Program) -> Machine {
    let targets = program.targets(&Property::default_errors());
    let setup = Setup { steps: true, coverage: true, ..Setup::new(&targets, Storage::Untouchable) };
    let mut machine = Machine::new(Rc::new(Code::new(program, &setup).unwrap()), 1 << 20);
    machine.limit_steps(10);
    machine
}

/// What can be seen of a run that has ended.
fn seen(program: &Program, machine: &Machine, end: End) -> (End, u64, Vec<Option<i128>>) {
    let vars = (0..program.vars.len()).map(|index| machine.variable(program, VarId::new(index)));
    (end, machine.step_count(), vars.collect())
}

/// Runs a program at once, and in little steps; answers how many pauses the steps made.
fn both(text: &str) -> u64 {
    let program = try_load(text, MachineModel::Lp64).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut slow = machine(&program);
    let mut pauses = 0;
    let end = loop {
        if let Some(end) = slow.run(&mut NoInputs, LITTLE) {
            break end;
        }
        pauses += 1;
    };
    let expected = seen(&program, &slow, end);
    let mut fast = machine(&program);
    let end = fast.run(&mut NoInputs, u64::MAX).expect("there is fuel enough");
    assert_eq!(seen(&program, &fast, end), expected, "{text}");
    pauses
}

const VARS: [(&str, &str); 8] = [
    ("signed char", "a"),
    ("unsigned char", "b"),
    ("short", "c"),
    ("unsigned short", "d"),
    ("int", "e"),
    ("unsigned", "f"),
    ("long", "g"),
    ("unsigned long", "h"),
];

fn var() -> impl Strategy<Value = &'static str> {
    prop::sample::select(VARS.map(|(_, name)| name).to_vec())
}

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![4 => -3i64..8, 1 => -300i64..300, 1 => prop::sample::select(vec![
        i64::from(i32::MAX), i64::from(i32::MIN), i64::from(u32::MAX), i64::MAX, i64::MIN + 1, 1 << 33, 65_535, 40_000])]
}

fn condition() -> impl Strategy<Value = String> {
    let op = prop::sample::select(vec!["<", "<=", "==", "!=", ">", ">="]);
    prop_oneof![
        (var(), op.clone(), number()).prop_map(|(v, op, n)| format!("{v} {op} {n}")),
        (var(), op.clone(), var()).prop_map(|(v, op, w)| format!("{v} {op} {w}")),
        (var(), 2u32..8, op.clone(), 0u32..4).prop_map(|(v, m, op, n)| format!("{v} % {m} {op} {n}")),
        (var(), 0u32..20, op, 0u32..4).prop_map(|(v, m, op, n)| format!("({v} & {m}) {op} {n}")),
    ]
}

fn assignment() -> impl Strategy<Value = String> {
    prop_oneof![
        5 => (var(), number()).prop_map(|(v, n)| format!("{v} += {n};")),
        1 => (var(), var()).prop_map(|(v, w)| format!("{v} = {w};")),
        1 => (var(), var(), number()).prop_map(|(v, w, n)| format!("{v} = {w} - {n};")),
        1 => (var(), var(), 0i64..5).prop_map(|(v, w, n)| format!("{v} = {n} * {w};")),
        1 => (var(), var()).prop_map(|(v, w)| format!("{v} += {w};")),
        1 => (var(), var()).prop_map(|(v, w)| format!("{v} = ~{w};")),
        1 => (var(), var(), 0u32..8).prop_map(|(v, w, n)| format!("{v} = {w} >> {n};")),
        1 => (var(), var(), 1u32..8).prop_map(|(v, w, n)| format!("{v} = {w} / {n};")),
        1 => (var(), var(), 1u32..8).prop_map(|(v, w, n)| format!("{v} = {w} % {n};")),
        1 => (var(), var(), 1u32..30).prop_map(|(v, w, n)| format!("{v} = {w} & {n};")),
        1 => (var(), condition(), var(), number()).prop_map(|(v, c, w, n)| format!("{v} = {c} ? {w} : {n};")),
        1 => (var(), condition(), condition()).prop_map(|(v, c, d)| format!("{v} = ({c}) && !({d});")),
        1 => (var(), var()).prop_map(|(v, w)| format!("{v} = add({w}, 2);")),
    ]
}

fn statement() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => assignment(),
        1 => (condition(), assignment(), assignment())
            .prop_map(|(c, s, t)| format!("if ({c}) {{ {s} }} else {{ {t} }}")),
        1 => (condition(), assignment()).prop_map(|(c, s)| format!("if ({c}) {{ {s} }}")),
        1 => condition().prop_map(|c| format!("if (n > 9000 && {c}) break;")),
        1 => (1u32..4, assignment()).prop_map(|(n, s)| format!("for (int k = 0; k < {n}; k++) {{ {s} }}")),
    ]
}

fn program() -> impl Strategy<Value = String> {
    let initial = prop::collection::vec(number(), VARS.len());
    (initial, prop::collection::vec(statement(), 1..5), 5000u32..70_000).prop_map(|(initial, body, limit)| {
        let pairs = VARS.iter().zip(initial);
        let vars: String = pairs.map(|((ty, name), value)| format!("{ty} {name} = {value};\n")).collect();
        format!(
            "static long add(long x, int y) {{ return x + y; }}\n{vars}int n = 0;
            int main(void) {{ while (n < {limit}) {{ n++; {} }} return 0; }}",
            body.join("\n")
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn at_once_is_as_one_by_one(text in program()) {
        both(&text);
    }
}

#[test]
fn long_loops_take_no_time() {
    // One by one, each of these takes minutes to millennia.
    let loops = [
        "unsigned long i = 0, s = 5; while (i < 0xffffffffffff0000) { i++; s += 3; } if (s != 5 + 3 * i) return 1;",
        "unsigned long i = -1; while (i > 7) i -= 2; if (i != 7) return 1;",
        "unsigned x = 0, y = 0; for (unsigned long i = 0; i < 1ul << 40; i++) { x++; y = x * 5; } if (x || y) return 1;",
        "long odd = 0, i = 0; while (i < 1000000000000) { if (i % 2) odd++; i++; } if (odd != 500000000000) return 1;",
        "unsigned long i, j; for (i = 0; i < 1000; i++) for (j = 0; j < 1ul << 60; j++); if (j != 1ul << 60) return 1;",
        "long i = 0; while (i < 1ul << 50) { for (int j = 0; j < 10; j++); i++; } if (i != 1ul << 50) return 1;",
        "long i = 0; while (i != 900000000000000) { i = next(i); } if (i % 3) return 1;",
    ];
    for body in loops {
        let text = format!("static long next(long x) {{ return x + 3; }}\nint main(void) {{ {body} reach_error(); }}");
        let program = try_load(&format!("extern void reach_error(void);\n{text}"), MachineModel::Lp64).unwrap();
        let end = machine(&program).run(&mut NoInputs, 100_000_000);
        assert!(matches!(end, Some(End::Target(_))), "{body}: {end:?}");
    }
}

#[test]
fn great_leaps() {
    // The product changes by almost 2^127.
    let body = "long product = a * least; sum ^= product; a = a < 0 ? 0x7fffffffffffffff : least; i++;";
    both(&format!(
        "unsigned long sum = 0; int main(void) {{ long least = -0x7fffffffffffffff - 1, a = least; int i = 0;
        while (i < 30000) {{ {body} }} return 0; }}"
    ));
}

#[test]
fn a_run_with_little_fuel_pauses_often() {
    assert_eq!(both("int main(void) { for (int i = 0; i < 1000000; i++); return 0; }"), 999);
}
