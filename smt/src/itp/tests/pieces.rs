// SPDX-License-Identifier: Apache-2.0
//! Tests of the parts that engines are made of.

use super::*;
use crate::itp::elim::forall;
use crate::itp::graph::Graph;
use crate::solver::{CheckResult, Solver, Z3Config, Z3Solver};

#[test]
fn itp_graph_drops_dead_ends_and_finds_bottlenecks() {
    let mut terms = Terms::new();
    let skip = |from, to| DagEdge { from, to, stmt: Stmt::Skip };
    // 0 -> {1, 2} -> 3 -> 5, with the dead end 4.
    let dag =
        BlockDag { nodes: 6, edges: vec![skip(0, 1), skip(0, 2), skip(1, 3), skip(2, 3), skip(3, 4), skip(3, 5)] };
    let graph = Graph::new(&mut terms, &dag);
    assert_eq!(graph.outs(3), [5]);
    assert_eq!(graph.ins(3), [2, 3]);
    let bottlenecks: Vec<bool> = (0..6).map(|n| graph.is_bottleneck(n)).collect();
    assert_eq!(bottlenecks, [true, false, false, true, false, true]);
}

/// Whether `forall var. formula` equals `result` for all values of the other variables.
fn equivalent(ctx: &Ctx, var: TermId, formula: TermId, result: TermId, range: std::ops::Range<i128>) -> bool {
    let terms = &ctx.terms;
    let (sym, index) = terms.as_var(var).expect("a variable");
    let others: Vec<(SymId, u32)> =
        terms.symbols_of_all(&[formula, result]).into_iter().filter(|&v| v != (sym, index)).collect();
    assert!(!terms.symbols(result).contains(&(sym, index)));
    let count = range.end - range.start;
    (0..count.pow(others.len() as u32)).all(|code| {
        let mut env: BTreeMap<(SymId, u32), Value> = BTreeMap::new();
        let mut rest = code;
        for &(s, i) in &others {
            env.insert((s, i), ctx.value(s, range.start + rest % count));
            rest /= count;
        }
        let mut every = true;
        for v in range.clone() {
            env.insert((sym, index), ctx.value(sym, v));
            every &= terms.eval(formula, &mut |s, i| env[&(s, i)].clone()) == Value::Bool(true);
        }
        terms.eval(result, &mut |s, i| env[&(s, i)].clone()) == Value::Bool(every)
    })
}

#[test]
fn itp_elimination_is_an_equivalence() {
    for mode in [Mode::Signed(4), Mode::Unsigned(4), Mode::Bounded(15)] {
        let mut ctx = Ctx::new(mode);
        let mut solver = Z3Solver::new(&Z3Config::default());
        let (x, y, z) = (ctx.var("x"), ctx.var("y"), ctx.var("z"));
        let one = ctx.num(1);
        let five = ctx.num(5);
        let (x_le_y, z_le_x, x_is_5, x_is_y) = (ctx.le(x, y), ctx.le(z, x), ctx.eq(x, five), ctx.eq(x, y));
        let sum = ctx.add(x, one);
        let sum_le_z = ctx.le(sum, z);
        let t = &mut ctx.terms;
        let not_5 = t.not(x_is_5);
        let not_y = t.not(x_is_y);
        let formulas = [
            t.or(x_le_y, z_le_x),
            t.or(not_5, z_le_x),
            t.and(x_le_y, not_5),
            t.or_all(&[not_y, not_5, sum_le_z]),
            t.implies(x_le_y, sum_le_z),
            t.iff(x_le_y, z_le_x),
        ];
        for formula in formulas {
            let result = forall(&mut ctx.terms, &mut solver, x, formula, 10, &Limits::none()).expect("easy enough");
            assert!(
                equivalent(&ctx, x, formula, result, 0..16),
                "{mode:?} {} -> {}",
                ctx.terms.display(formula),
                ctx.terms.display(result)
            );
        }
    }
}

#[test]
fn itp_witness_takes_the_branch_and_the_inputs() {
    let mut ctx = Ctx::new(Mode::Signed(32));
    let x = ctx.var("x");
    let (two, seven) = (ctx.num(2), ctx.num(7));
    let cond = ctx.lt(x, two);
    let done = ctx.eq(x, seven);
    let blocks = vec![
        vec![ctx.havoc("x"), Code::If(cond, vec![ctx.inc("x", 5)], vec![ctx.set_num("x", 0)])],
        vec![ctx.havoc("y"), ctx.inc("x", 1), ctx.assume(done)],
    ];
    let query = ctx.query(&blocks);
    let mut portfolio = Portfolio::new(PortfolioConfig::default());
    match portfolio.solve(&mut ctx.terms, &query, &Hints::default(), &Limits::none()) {
        PathResult::Feasible(witness) => {
            replay(&ctx.terms, &query, &witness);
            assert_eq!(witness.steps[0].input, Some(Value::Bv { width: 32, bits: 1 }));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn itp_checker_rejects_what_is_not_inductive() {
    let mut ctx = Ctx::new(Mode::Int);
    let (zero, low) = (ctx.is("x", 0), ctx.is("x", -1));
    let blocks = vec![vec![ctx.set_num("x", 0)], vec![ctx.inc("x", 1)], vec![ctx.assume(low)]];
    let query = ctx.query(&blocks);
    let x = ctx.var("x");
    let bound = ctx.num(0);
    let positive = ctx.lt(bound, x);
    let nonnegative = ctx.le(bound, x);
    let sym = ctx.sym("x");
    let other = ctx.terms.var(sym, 1);
    let foreign = ctx.terms.eq(other, bound);
    let mut solver = Z3Solver::new(&Z3Config::default());
    let path = Path::new(&mut ctx.terms, &query);
    let (hints, limits) = (Hints::default(), Limits::none());
    let mut task = Task::new(&mut ctx.terms, &mut solver, &path, &hints, &limits, &limits);
    use checker::{Rejection, check};
    assert!(check(&mut task, &[zero, positive], "test").is_ok());
    assert!(check(&mut task, &[nonnegative, nonnegative], "test").is_ok());
    assert_eq!(check(&mut task, &[TermId::TRUE, positive], "test"), Err(Rejection::NotInductive { block: 1 }));
    assert_eq!(check(&mut task, &[zero, zero], "test"), Err(Rejection::NotInductive { block: 1 }));
    assert_eq!(check(&mut task, &[zero, TermId::TRUE], "test"), Err(Rejection::NotInductive { block: 2 }));
    assert_eq!(check(&mut task, &[zero], "test"), Err(Rejection::Length { found: 1, cuts: 2 }));
    assert!(matches!(check(&mut task, &[zero, foreign], "test"), Err(Rejection::Vocabulary { cut: 1, .. })));
}

#[test]
fn itp_solver_is_left_as_it_was() {
    let mut ctx = Ctx::new(Mode::Signed(8));
    let mut solver = Z3Solver::new(&Z3Config::default());
    let zero = ctx.is("x", 0);
    let one = ctx.is("x", 1);
    let blocks = vec![vec![ctx.set_num("x", 0)], vec![ctx.assume(one)]];
    let query = ctx.query(&blocks);
    let path = Path::new(&mut ctx.terms, &query);
    let (hints, limits) = (Hints::default(), Limits::none());
    let mut task = Task::new(&mut ctx.terms, &mut solver, &path, &hints, &limits, &limits);
    for mut engine in [
        Box::new(Newton { attempts: 10 }) as Box<dyn Interpolator>,
        Box::new(Candidates { core_attempts: 10, attempts: 10, uniform_only: false }),
        Box::new(Strongest { core_attempts: 10, attempts: 10 }),
    ] {
        assert!(matches!(engine.interpolate(&mut task), ItpOutcome::Sequence(_)));
    }
    assert!(matches!(solver.check(&ctx.terms, &[zero], &Limits::none()), CheckResult::Sat(_)));
    assert!(matches!(solver.check(&ctx.terms, &[one], &Limits::none()), CheckResult::Sat(_)));
}
