// SPDX-License-Identifier: Apache-2.0
//! Random paths: every answer is compared with execution of all runs, or with an independent encoding.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::itp::slice::Slice;
use crate::itp::ssa::Labelled;
use crate::solver::{Solver, Z3Config, Z3Solver};

const NAMES: [&str; 3] = ["x", "y", "z"];

/// Choices that a random path is made of; when they run out, the smallest is taken.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn below(&mut self, bound: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % bound
    }
}

fn expression(ctx: &mut Ctx, choices: &mut Choices<'_>) -> TermId {
    let x = ctx.var(NAMES[choices.below(3)]);
    match choices.below(4) {
        0 => ctx.num(choices.below(4) as i128),
        1 => x,
        2 => {
            let one = ctx.num(1);
            ctx.add(x, one)
        }
        _ => {
            let y = ctx.var(NAMES[choices.below(3)]);
            ctx.add(x, y)
        }
    }
}

fn condition(ctx: &mut Ctx, choices: &mut Choices<'_>) -> TermId {
    let (a, b) = (expression(ctx, choices), expression(ctx, choices));
    match choices.below(4) {
        0 => ctx.eq(a, b),
        1 => ctx.lt(a, b),
        2 => ctx.le(a, b),
        _ => {
            let equal = ctx.eq(a, b);
            ctx.not(equal)
        }
    }
}

fn code(ctx: &mut Ctx, choices: &mut Choices<'_>, depth: usize) -> Vec<Code> {
    (0..choices.below(4))
        .map(|_| {
            let name = NAMES[choices.below(3)];
            match choices.below(8) {
                0 | 1 => Code::Do(Stmt::Assume(condition(ctx, choices))),
                2 => ctx.havoc(name),
                3 | 4 if depth > 0 => {
                    let cond = condition(ctx, choices);
                    Code::If(cond, code(ctx, choices, depth - 1), code(ctx, choices, depth - 1))
                }
                _ => {
                    let value = expression(ctx, choices);
                    ctx.set(name, value)
                }
            }
        })
        .collect()
}

fn query(ctx: &mut Ctx, choices: &[u8]) -> PathQuery {
    let mut choices = Choices(choices.iter());
    let blocks: Vec<Vec<Code>> = (0..2 + choices.below(3)).map(|_| code(ctx, &mut choices, 2)).collect();
    ctx.query(&blocks)
}

type State = [i128; 3];

/// All states after a block from one state, of a mode with values from 0 to 3.
fn runs(ctx: &mut Ctx, dag: &BlockDag, starts: &BTreeSet<State>) -> BTreeSet<State> {
    let syms: Vec<SymId> = NAMES.iter().map(|n| ctx.sym(n)).collect();
    let position = |sym: SymId| syms.iter().position(|&s| s == sym).expect("a program variable");
    let mut at: Vec<BTreeSet<State>> = vec![BTreeSet::new(); dag.nodes as usize];
    at[0].clone_from(starts);
    for node in 0..dag.nodes {
        for edge in dag.edges.iter().filter(|e| e.from == node) {
            for state in at[node as usize].clone() {
                let value = |t: TermId| ctx.terms.eval(t, &mut |sym, _| ctx.value(sym, state[position(sym)]));
                let mut next = state;
                match edge.stmt {
                    Stmt::Skip => {}
                    Stmt::Assume(cond) if value(cond) == Value::Bool(true) => {}
                    Stmt::Assume(_) => continue,
                    Stmt::Assign(sym, t) => next[position(sym)] = value(t).as_unsigned().expect("a number"),
                    Stmt::Havoc(sym) => {
                        for v in 0..4 {
                            next[position(sym)] = v;
                            at[edge.to as usize].insert(next);
                        }
                        continue;
                    }
                }
                at[edge.to as usize].insert(next);
            }
        }
    }
    at.pop().expect("a block has an exit")
}

/// Compares an answer with all runs of the path.
fn compare_with_runs(ctx: &mut Ctx, query: &PathQuery, result: &PathResult) {
    let all: BTreeSet<State> = (0..64).map(|c| [c & 3, c >> 2 & 3, c >> 4]).collect();
    match result {
        PathResult::Feasible(witness) => replay(&ctx.terms, query, witness),
        PathResult::Unknown(_) => {
            let mut states = all;
            for dag in &query.blocks {
                states = runs(ctx, dag, &states);
            }
            assert!(states.is_empty(), "an explanation is missing only for infeasible paths");
        }
        PathResult::Infeasible(sequence) => {
            let mut before = all.clone();
            for (i, dag) in query.blocks.iter().enumerate() {
                let after = runs(ctx, dag, &before);
                let itp = sequence.interpolants.get(i).copied().unwrap_or(TermId::FALSE);
                let syms: Vec<SymId> = NAMES.iter().map(|n| ctx.sym(n)).collect();
                let holds = |ctx: &Ctx, state: &State| {
                    ctx.terms.eval(itp, &mut |sym, _| {
                        let i = syms.iter().position(|&s| s == sym).expect("a program variable");
                        ctx.value(sym, state[i])
                    }) == Value::Bool(true)
                };
                assert!(after.iter().all(|s| holds(ctx, s)), "interpolant {i} does not hold");
                before = all.iter().copied().filter(|s| holds(ctx, s)).collect();
            }
        }
    }
}

/// Whether the labelled encoding has a model.
fn labelled_is_sat(ctx: &mut Ctx, query: &PathQuery) -> bool {
    let path = Path::new(&mut ctx.terms, query);
    let labelled = Labelled::new(&mut ctx.terms, &path, &Slice::uniform(&path, true));
    let mut solver = Z3Solver::new(&Z3Config::default());
    for &t in &labelled.asserts {
        solver.assert(&ctx.terms, t);
    }
    let literals: Vec<TermId> = labelled.labels.iter().map(|l| l.literal).collect();
    solver.check(&ctx.terms, &literals, &Limits::none()).is_sat()
}

fn engines() -> Vec<Vec<EngineKind>> {
    use EngineKind::*;
    let mut all = vec![PortfolioConfig::default().engines];
    all.push(vec![Frames, Newton]);
    all.extend([Assertion, Frames, Newton, Stepwise, Uniform, Spacer, Candidates, Strongest].map(|kind| vec![kind]));
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn itp_random_paths_over_two_bits(choices in proptest::collection::vec(any::<u8>(), 10..120)) {
        for mode in [Mode::Signed(2), Mode::Unsigned(2), Mode::Bounded(3)] {
            let mut ctx = Ctx::new(mode);
            let query = query(&mut ctx, &choices);
            let mut answers = Vec::new();
            for engines in engines() {
                let config = PortfolioConfig { engines, ..PortfolioConfig::default() };
                let hints = one_place(&query);
                let result = Portfolio::new(config).solve(&mut ctx.terms, &query, &hints, &Limits::none());
                compare_with_runs(&mut ctx, &query, &result);
                answers.push(matches!(result, PathResult::Feasible(_)));
            }
            prop_assert!(answers.iter().all(|&a| a == answers[0]));
            prop_assert_eq!(labelled_is_sat(&mut ctx, &query), answers[0]);
        }
    }

    #[test]
    fn itp_random_paths_are_explained(choices in proptest::collection::vec(any::<u8>(), 10..160)) {
        for mode in [Mode::Signed(32), Mode::Int, Mode::Bounded(255)] {
            let mut ctx = Ctx::new(mode);
            let query = query(&mut ctx, &choices);
            let hints = one_place(&query);
            let mut portfolio = Portfolio::new(PortfolioConfig::default());
            match portfolio.solve(&mut ctx.terms, &query, &hints, &Limits::none()) {
                PathResult::Feasible(witness) => replay(&ctx.terms, &query, &witness),
                PathResult::Infeasible(_) => prop_assert!(!labelled_is_sat(&mut ctx, &query)),
                PathResult::Unknown(why) => prop_assert!(false, "{}", why),
            }
        }
    }
}
