// SPDX-License-Identifier: Apache-2.0
//! Random expressions with calls: the results that the graph has are those of all orders in which C may evaluate them, which an
//! interpreter takes one by one. Reads and calls happen in any order, but calls not before their arguments, and the right
//! side of a comma not before its left side.

use std::collections::BTreeSet;

use cfa::MachineModel;
use cfa::machine::Random;

use crate::unsequenced::{places, program, results};

/// An expression.
enum Tree {
    Number(i64),
    Read(&'static str),
    Call(&'static str, Vec<Tree>),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    Comma(Box<Tree>, Box<Tree>),
}

/// How a value is computed from what happened.
#[derive(Clone)]
enum Value {
    Number(i64),
    Of(usize),
    Binary(&'static str, Box<Value>, Box<Value>),
}

/// A read of a variable or a call.
struct Event {
    name: &'static str,
    args: Vec<Value>,
    /// What must have happened before.
    before: Vec<usize>,
}

/// The variables that others see.
#[derive(Clone, Copy, Default)]
struct State {
    g: i64,
    h: i64,
    a: i64,
}

fn random_tree(random: &mut Random, depth: usize) -> Tree {
    let below = |random: &mut Random| Box::new(random_tree(random, depth - 1));
    match random.below(if depth == 0 { 4 } else { 9 }) {
        0 => Tree::Read(random.pick(&["g", "h", "a[0]", "*p"])),
        1 => Tree::Number(random.below(4) as i64),
        2 | 3 => match random.pick(&["next", "get", "other", "set", "store", "load"]) {
            "set" => Tree::Call("set", vec![Tree::Number(random.below(8) as i64)]),
            name => Tree::Call(name, Vec::new()),
        },
        4 => Tree::Call("set", vec![*below(random)]),
        5 => Tree::Call("two", vec![*below(random), *below(random)]),
        6 => Tree::Comma(below(random), below(random)),
        _ => Tree::Binary(random.pick(&["-", "+", "<", "=="]), below(random), below(random)),
    }
}

fn text(tree: &Tree) -> String {
    match tree {
        Tree::Number(number) => number.to_string(),
        Tree::Read(name) => (*name).to_string(),
        Tree::Call(name @ ("store" | "load"), _) => format!("{name}(a)"),
        Tree::Call(name, args) => format!("{name}({})", args.iter().map(text).collect::<Vec<_>>().join(", ")),
        Tree::Binary(op, left, right) => format!("({} {op} {})", text(left), text(right)),
        Tree::Comma(left, right) => format!("({}, {})", text(left), text(right)),
    }
}

/// Notes what happens in an expression, behind other events; its value.
fn note(tree: &Tree, before: &[usize], events: &mut Vec<Event>) -> Value {
    let happens = |name, args, before, events: &mut Vec<Event>| {
        events.push(Event { name, args, before });
        Value::Of(events.len() - 1)
    };
    let first = events.len();
    match tree {
        Tree::Number(number) => Value::Number(*number),
        Tree::Read(name) => happens(name, Vec::new(), before.to_vec(), events),
        Tree::Call(name, args) => {
            let args = args.iter().map(|arg| note(arg, before, events)).collect();
            let before = before.iter().copied().chain(first..events.len()).collect();
            happens(name, args, before, events)
        }
        Tree::Binary(op, left, right) => {
            let left = note(left, before, events);
            Value::Binary(op, Box::new(left), Box::new(note(right, before, events)))
        }
        Tree::Comma(left, right) => {
            note(left, before, events);
            let before: Vec<usize> = before.iter().copied().chain(first..events.len()).collect();
            note(right, &before, events)
        }
    }
}

fn compute(value: &Value, done: &[Option<i64>]) -> i64 {
    match value {
        Value::Number(number) => *number,
        Value::Of(event) => done[*event].expect("it has happened"),
        Value::Binary(op, left, right) => {
            let (left, right) = (compute(left, done), compute(right, done));
            match *op {
                "-" => left - right,
                "+" => left + right,
                "<" => i64::from(left < right),
                _ => i64::from(left == right),
            }
        }
    }
}

fn happen(event: &Event, state: &mut State, done: &[Option<i64>]) -> i64 {
    let arg = |at: usize| compute(&event.args[at], done);
    match event.name {
        "g" | "*p" | "get" => state.g,
        "h" => state.h,
        "a[0]" | "load" => state.a,
        "next" => {
            state.g += 1;
            state.g
        }
        "other" => {
            state.h += 1;
            state.h
        }
        "set" => {
            state.g = arg(0);
            state.g
        }
        "store" => {
            state.a = 1;
            2
        }
        "two" => arg(0) - arg(1),
        name => panic!("{name}"),
    }
}

/// All results of the events from here on.
fn take_all(value: &Value, events: &[Event], state: State, done: &mut Vec<Option<i64>>, found: &mut BTreeSet<i128>) {
    if done.iter().all(Option::is_some) {
        let result = compute(value, done) * 10_000 + state.g * 100 + state.h * 10 + state.a;
        found.insert(i128::from(result));
        return;
    }
    for (at, event) in events.iter().enumerate() {
        if done[at].is_none() && event.before.iter().all(|before| done[*before].is_some()) {
            let mut after = state;
            let result = happen(event, &mut after, done);
            done[at] = Some(result);
            take_all(value, events, after, done, found);
            done[at] = None;
        }
    }
}

#[test]
fn all_orders_of_random_expressions() {
    let mut random = Random::new(8);
    let (mut compared, mut open) = (0, 0);
    for _ in 0..1000 {
        let (left, right) = (random_tree(&mut random, 1), random_tree(&mut random, 2));
        let tree = Tree::Binary("-", Box::new(left), Box::new(right));
        let mut events = Vec::new();
        let value = note(&tree, &[], &mut events);
        if events.len() > 7 {
            continue;
        }
        let statement = format!("x = {}; x = x * 10000 + g * 100 + h * 10 + a[0]", text(&tree));
        if places(&program(&statement, MachineModel::Lp64)).0 > 0 {
            continue;
        }
        let mut expect = BTreeSet::new();
        take_all(&value, &events, State::default(), &mut vec![None; events.len()], &mut expect);
        assert_eq!(results(&statement), expect.iter().copied().collect::<Vec<_>>(), "{statement}");
        compared += 1;
        open += usize::from(expect.len() > 1);
    }
    assert!(compared > 500 && open > 50, "{compared} compared, {open} with several results");
}
