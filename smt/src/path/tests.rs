// SPDX-License-Identifier: Apache-2.0
//! Path formulas of random small programs against execution of all their paths.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::term::{BvBin, BvCmp, Sort, Value};

const WIDTH: u32 = 2;
const VARS: usize = 3;

struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

/// A program: for each node its out-edges; all edges lead to later nodes.
type Program = Vec<Vec<(usize, Stmt)>>;

fn expression(terms: &mut Terms, rng: &mut Rng, syms: &[SymId]) -> TermId {
    let sym = syms[rng.below(VARS as u64) as usize];
    let x = terms.var(sym, 0);
    let other = if rng.below(2) == 0 {
        terms.bv(WIDTH, u128::from(rng.below(4)))
    } else {
        let sym = syms[rng.below(VARS as u64) as usize];
        terms.var(sym, 0)
    };
    match rng.below(3) {
        0 => terms.bv_bin(BvBin::Add, x, other),
        1 => terms.bv_bin(BvBin::Xor, x, other),
        _ => other,
    }
}

fn condition(terms: &mut Terms, rng: &mut Rng, syms: &[SymId]) -> TermId {
    let (a, b) = (expression(terms, rng, syms), expression(terms, rng, syms));
    match rng.below(3) {
        0 => terms.eq(a, b),
        1 => terms.bv_cmp(BvCmp::Ule, a, b),
        _ => terms.bv_cmp(BvCmp::Slt, a, b),
    }
}

fn program(terms: &mut Terms, rng: &mut Rng, syms: &[SymId], nodes: usize, deterministic: bool) -> Program {
    let mut havocs = 0;
    let mut out = Vec::new();
    for n in 0..nodes - 1 {
        let target = |rng: &mut Rng| (n + 1 + rng.below(2) as usize).min(nodes - 1);
        let sym = syms[rng.below(VARS as u64) as usize];
        out.push(match rng.below(7) {
            0..=2 => {
                let c = condition(terms, rng, syms);
                let d = if deterministic { terms.not(c) } else { condition(terms, rng, syms) };
                vec![(target(rng), Stmt::Assume(c)), (target(rng), Stmt::Assume(d))]
            }
            3 if havocs < 2 => {
                havocs += 1;
                vec![(target(rng), Stmt::Havoc(sym))]
            }
            4 => vec![(target(rng), Stmt::Skip)],
            _ => {
                let value = expression(terms, rng, syms);
                vec![(target(rng), Stmt::Assign(sym, value))]
            }
        });
    }
    out
}

fn formula(terms: &mut Terms, program: &Program, exclusive: bool) -> Option<PathFormula> {
    let mut at: Vec<Option<PathFormula>> = vec![None; program.len() + 1];
    at[0] = Some(PathFormula::empty());
    for (n, edges) in program.iter().enumerate() {
        let Some(here) = at[n].clone() else { continue };
        for (target, stmt) in edges {
            let next = here.post(terms, stmt);
            at[*target] = Some(match &at[*target] {
                Some(there) => there.merge(terms, &next, exclusive),
                None => next,
            });
        }
    }
    at.pop().expect("there is a node")
}

fn bits(value: Value) -> u128 {
    match value {
        Value::Bv { bits, .. } => bits,
        Value::Bool(_) | Value::Int(_) | Value::Array(_) => panic!("a bit vector was expected"),
    }
}

fn is_true(value: Value) -> bool {
    matches!(value, Value::Bool(true))
}

type State = [u128; VARS];

fn executions(terms: &Terms, program: &Program, syms: &[SymId], start: State) -> BTreeSet<State> {
    let mut at: Vec<BTreeSet<State>> = vec![BTreeSet::new(); program.len() + 1];
    at[0].insert(start);
    for (n, edges) in program.iter().enumerate() {
        for state in at[n].clone() {
            let value = |t: TermId| {
                terms.eval(t, &mut |sym, _| {
                    let i = syms.iter().position(|&s| s == sym).expect("a program variable");
                    Value::Bv { width: WIDTH, bits: state[i] }
                })
            };
            for (target, stmt) in edges {
                let mut next = state;
                match *stmt {
                    Stmt::Skip => {}
                    Stmt::Assume(c) if !is_true(value(c)) => continue,
                    Stmt::Assume(_) => {}
                    Stmt::Assign(sym, t) => {
                        next[syms.iter().position(|&s| s == sym).expect("a program variable")] = bits(value(t));
                    }
                    Stmt::Havoc(sym) => {
                        let i = syms.iter().position(|&s| s == sym).expect("a program variable");
                        for v in 0..1 << WIDTH {
                            next[i] = v;
                            at[*target].insert(next);
                        }
                        continue;
                    }
                }
                at[*target].insert(next);
            }
        }
    }
    at.pop().expect("there is a node")
}

fn check_formula(terms: &mut Terms, program: &Program, syms: &[SymId], exclusive: bool) {
    let Some(formula) = formula(terms, program, exclusive) else { return };
    check_represents(terms, &formula, syms, |terms, start| executions(terms, program, syms, start));
}

/// Whether a formula has exactly the end states that `expected` computes, for all start states.
fn check_represents(
    terms: &mut Terms,
    formula: &PathFormula,
    syms: &[SymId],
    expected: impl Fn(&Terms, State) -> BTreeSet<State>,
) {
    let values: Vec<TermId> = syms.iter().map(|&s| formula.value(terms, s)).collect();
    let mut instances = BTreeSet::new();
    for &t in values.iter().chain([&formula.pc]) {
        instances.extend(terms.symbols(t).into_iter().filter(|&(_, index)| index > 0));
    }
    let instances: Vec<(SymId, u32)> = instances.into_iter().collect();
    for code in 0..1u128 << (WIDTH as usize * VARS) {
        let start: State = std::array::from_fn(|i| code >> (WIDTH as usize * i) & 3);
        let mut ends = BTreeSet::new();
        for inputs in 0..1u128 << (WIDTH as usize * instances.len()) {
            let mut env = BTreeMap::new();
            for (i, &(sym, index)) in instances.iter().enumerate() {
                let bits = inputs >> (WIDTH as usize * i) & 3;
                let value = match terms.symbol_sort(sym) {
                    Sort::Bool => Value::Bool(bits & 1 == 1),
                    Sort::Bv(_) | Sort::Int | Sort::Array { .. } => Value::Bv { width: WIDTH, bits },
                };
                env.insert((sym, index), value);
            }
            for (i, &sym) in syms.iter().enumerate() {
                env.insert((sym, 0), Value::Bv { width: WIDTH, bits: start[i] });
            }
            let value = |t: TermId| terms.eval(t, &mut |sym, index| env[&(sym, index)].clone());
            if is_true(value(formula.pc)) {
                ends.insert(std::array::from_fn(|i| bits(value(values[i]))));
            }
        }
        assert_eq!(ends, expected(terms, start), "from {start:?}");
    }
}

fn symbols(terms: &mut Terms) -> Vec<SymId> {
    ["x", "y", "z"].iter().map(|n| terms.symbol(n, Sort::Bv(WIDTH))).collect()
}

#[test]
fn path_formulas_of_deterministic_programs_are_exact() {
    let mut terms = Terms::new();
    let syms = symbols(&mut terms);
    for seed in 0..150 {
        let mut rng = Rng(seed);
        let nodes = 3 + rng.below(8) as usize;
        let program = program(&mut terms, &mut rng, &syms, nodes, true);
        check_formula(&mut terms, &program, &syms, true);
    }
}

#[test]
fn path_formulas_with_choices_are_exact() {
    let mut terms = Terms::new();
    let syms = symbols(&mut terms);
    let mut checked = 0;
    for seed in 0..400 {
        let mut rng = Rng(seed);
        let nodes = 3 + rng.below(6) as usize;
        let program = program(&mut terms, &mut rng, &syms, nodes, false);
        // Few enough instances for brute force.
        if program.iter().filter(|edges| edges.len() > 1).count() <= 2 {
            check_formula(&mut terms, &program, &syms, false);
            checked += 1;
        }
    }
    assert!(checked > 50);
}

#[test]
fn path_formulas_compose() {
    let mut terms = Terms::new();
    let syms = symbols(&mut terms);
    let mut checked = 0;
    for seed in 0..300 {
        let mut rng = Rng(seed);
        let first = program(&mut terms, &mut rng, &syms, 4, seed % 2 == 0);
        let second = program(&mut terms, &mut rng, &syms, 4, seed % 2 == 0);
        let (Some(one), Some(other)) =
            (formula(&mut terms, &first, seed % 2 == 0), formula(&mut terms, &second, seed % 2 == 0))
        else {
            continue;
        };
        let both = one.then(&mut terms, &other);
        let mut used = BTreeSet::new();
        for &symbol in &syms {
            let value = both.value(&mut terms, symbol);
            used.extend(terms.symbols(value).into_iter().filter(|&(_, index)| index > 0));
        }
        used.extend(terms.symbols(both.pc).into_iter().filter(|&(_, index)| index > 0));
        // Few enough instances for brute force.
        if used.len() > 3 {
            continue;
        }
        checked += 1;
        check_represents(&mut terms, &both, &syms, |terms, start| {
            let middle = executions(terms, &first, &syms, start);
            middle.into_iter().flat_map(|state| executions(terms, &second, &syms, state)).collect()
        });
    }
    assert!(checked > 50, "{checked}");
}

#[test]
fn path_equal_blocks_have_equal_formulas() {
    let mut terms = Terms::new();
    let syms = symbols(&mut terms);
    let program = program(&mut terms, &mut Rng(3), &syms, 9, false);
    let first = formula(&mut terms, &program, false).expect("the exit is reached");
    let second = formula(&mut terms, &program, false).expect("the exit is reached");
    assert_eq!(first, second);
}

#[test]
fn path_branch_on_a_condition_leaves_no_condition() {
    let mut terms = Terms::new();
    let syms = symbols(&mut terms);
    let x = terms.var(syms[0], 0);
    let one = terms.bv(WIDTH, 1);
    let two = terms.bv(WIDTH, 2);
    let c = terms.eq(x, one);
    let not_c = terms.not(c);
    let start = PathFormula::empty();
    assert!(start.is_empty());
    let left = start.post(&mut terms, &Stmt::Assume(c)).post(&mut terms, &Stmt::Assign(syms[1], one));
    let right = start.post(&mut terms, &Stmt::Assume(not_c)).post(&mut terms, &Stmt::Assign(syms[1], two));
    let both = left.merge(&mut terms, &right, true);
    assert_eq!(both.pc, TermId::TRUE);
    let y = both.value(&mut terms, syms[1]);
    assert_eq!(y, terms.ite(c, one, two));
    assert_eq!(both.modified().collect::<Vec<_>>(), vec![syms[1]]);
    assert_eq!(both.length, 2);
    // y == 1 is decided by the branch: the comparison is pushed into the constants.
    let y0 = terms.var(syms[1], 0);
    let y_is_one = terms.eq(y0, one);
    assert_eq!(both.instantiate(&mut terms, y_is_one), c);
}
