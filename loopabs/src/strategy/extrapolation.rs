// SPDX-License-Identifier: Apache-2.0
//! Constant extrapolation (section 3.1, Fig. 1c): the number of iterations and the final values are computed. Exact.
//!
//! Goes beyond the paper: the number of iterations may depend on variables, what is added to a variable may itself grow
//! (quadratic sums), and all of it holds in machine arithmetic. With A the side of the condition that moves by s in
//! each iteration and B the other one, modulo 2^w:
//! `A != B`: the least n with n*s = B - A; an odd s has an inverse, an even one has a solution or the loop never ends.
//! `A < B`, s > 0: n = (B - A - 1) / s + 1, if A does not pass the end of the type before, else the loop itself is run.
//! The others likewise. Nothing in the loop may be visible but the final values: no inputs, calls, memory, violations.

use std::collections::BTreeSet;

use cfa::{CmpOp, EdgeId, ExprId, ExprKind, IntTy, NodeId, Op, Program, SiteKind};

use crate::closed::{Closed, closed};
use crate::context::Site;
use crate::strategy::{Strategy, enter};
use crate::summary::{Fidelity, Helper, Piece, Summary};
use crate::updates::{Sum, arithmetic, inverse, number, residue, sum_text};

/// How the condition to go on compares its sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Relation {
    Ne,
    Lt,
    Le,
}

pub(super) fn apply(site: &Site<'_>) -> Result<Summary, String> {
    site.replaceable()?;
    let program = site.program;
    let exit = regular_exit(site)?;
    site.pure_header()?;
    let finals = finals(site)?;
    let count = site.fresh("la_count");
    let mut summary = Summary::new(Strategy::Constant, Fidelity::Exact);
    let close = enter(site, &mut summary);
    let fallback = trip_count(site, program, exit, &count, &mut summary)?;
    // All values are computed before the first variable is written.
    let results: Vec<String> = (0..finals.len()).map(|at| site.fresh(&format!("la_final_{at}"))).collect();
    for (of, result) in finals.iter().zip(&results) {
        summary.text(format!("    {} {result} = {};\n", arithmetic(of.ty), of.value.replace("%n", &count)));
    }
    for (of, result) in finals.iter().zip(&results) {
        summary.text(format!("    {} = {result};\n", of.name));
    }
    summary.text("  }");
    if fallback {
        // The moving side would pass the end of its type.
        match site.loop_site.kind {
            SiteKind::For => {
                summary.text(" else {\n  for (; ").piece(Piece::Cond).text("; ");
                if site.loop_site.step.is_some() {
                    summary.piece(Piece::Step);
                }
                summary.text(")\n").piece(Piece::Body).text("\n  }");
            }
            SiteKind::While | SiteKind::DoWhile => {
                summary.text(" else {\n  while (").piece(Piece::Cond).text(")\n").piece(Piece::Body).text("\n  }");
            }
        }
        site.body_can_be_moved()?;
    }
    summary.text("\n").text(close);
    Ok(summary)
}

/// The only edge that leaves the loop, whose iterations have no effects but on variables.
fn regular_exit(site: &Site<'_>) -> Result<EdgeId, String> {
    let (program, effects, syntax) = (site.program, &site.effects, site.loop_site.syntax);
    let refuse = |reason: &str| Err(reason.to_owned());
    if site.loop_site.kind == SiteKind::DoWhile {
        return refuse("the condition stands behind the body");
    }
    if effects.violates {
        return refuse("the property may be violated within the loop");
    }
    if syntax.leaves || syntax.breaks {
        return refuse("the loop can be left in several ways");
    }
    if effects.inputs
        || !effects.callees.is_empty()
        || effects.allocates
        || effects.loads
        || !effects.regions.is_empty()
    {
        return refuse("the loop reads inputs, uses memory or calls functions");
    }
    if site.nested {
        return refuse("the loop contains another one");
    }
    let inside: BTreeSet<NodeId> = site.loop_site.edges.iter().map(|id| program.edge(*id).src).collect();
    let leaving = |id: &&EdgeId| !inside.contains(&program.edge(**id).dst);
    let exits: Vec<EdgeId> = site.loop_site.edges.iter().filter(leaving).copied().collect();
    let [exit] = exits.as_slice() else { return refuse("the loop can be left in several ways, or not at all") };
    for id in &site.loop_site.edges {
        let total = match program.edge(*id).op {
            Op::Assign { value, .. } => program.exprs.is_total(value),
            Op::Assume { cond, .. } => program.exprs.is_total(cond),
            _ => true,
        };
        if !total {
            return refuse("an operation in the loop may be undefined");
        }
    }
    let cond = site.loop_site.cond.ok_or("the loop has no condition")?;
    let span = program.edge(*exit).span;
    if !(cond.start <= span.start && span.end <= cond.end) {
        return refuse("the loop is not left by its condition");
    }
    Ok(*exit)
}

/// All modified variables with their values after `%n` iterations, of which there is at least one.
fn finals<'s>(site: &'s Site<'_>) -> Result<Vec<Closed<'s>>, String> {
    let mut result = Vec::new();
    for part in &site.modified.as_ref().map_err(Clone::clone)?.parts {
        let unknown = || format!("it is not known what an iteration makes of '{}'", part.text);
        result.extend(closed(site, &site.updates, part.var.ok_or_else(unknown)?)?);
    }
    Ok(result)
}

/// Declares and computes the number of iterations, and opens the block where it is right; tells whether it may be wrong.
fn trip_count(
    site: &Site<'_>,
    program: &Program,
    exit: EdgeId,
    count: &str,
    summary: &mut Summary,
) -> Result<bool, String> {
    let edge = program.edge(exit);
    let Op::Assume { cond, truth } = edge.op else { return Err("the loop is not left by its condition".to_owned()) };
    let (relation, left, right, ty) = going_on(program, cond, !truth)?;
    let side = |expr: Option<ExprId>| match expr {
        Some(expr) => {
            let sum = site.updates.value_at(program, edge.src, expr).filter(|sum| sum.bits >= ty.bits);
            sum.ok_or_else(|| "the condition is not linear".to_owned())
        }
        None => Ok(Sum::constant(0, ty.bits)),
    };
    let (left, right) = (side(Some(left))?, side(right)?);
    let (left_step, right_step) = (step(site, &left)?, step(site, &right)?);
    let wide = arithmetic(ty);
    let text = |sum: &Sum| Ok::<_, String>(sum_text(site, sum, ty)?.unwrap_or_else(|| number(0, ty)));
    // The arithmetic of narrow types is cut to their width.
    let cut = |text: String| if ty.bits < 32 { format!("({text}) & {}", number(-1, ty)) } else { text };
    if relation == Relation::Ne {
        let speed = residue(left_step - right_step, ty.bits);
        let distance = cut(text(&right.minus(&left))?);
        return until_equal(site, ty, speed, &distance, count, summary);
    }
    let (moving_left, speed) = match (left_step, right_step) {
        (0, speed) => (false, ty_signed(speed, ty)),
        (speed, 0) => (true, ty_signed(speed, ty)),
        _ => return Err("both sides of the condition change".to_owned()),
    };
    if speed == 0 || moving_left != (speed > 0) {
        return Err("the loop ends only by wrap-around, or never".to_owned());
    }
    let pace = speed.abs();
    let distance = cut(text(&right.minus(&left))?);
    let end = if moving_left { right.clone() } else { left.clone() };
    let room = if moving_left {
        Sum::constant(ty.max(), ty.bits).minus(&end)
    } else {
        end.minus(&Sum::constant(ty.min(), ty.bits))
    };
    let pace_text = number(pace, ty);
    let gap = site.fresh("la_distance");
    summary.text(format!("  {wide} {gap} = {distance};\n"));
    let counted = match relation {
        Relation::Lt => format!("({gap} - 1) / {pace_text} + 1"),
        Relation::Le | Relation::Ne => format!("{gap} / {pace_text} + 1"),
    };
    summary.text(format!("  unsigned long long {count} = (unsigned long long)({counted});\n"));
    // By how much the moving side passes the other one at most; a constant may tell that there is room for that.
    let most = if relation == Relation::Lt { pace - 1 } else { pace };
    let known = end.as_constant().map(|end| ty.wrap(end));
    let known = known.map(|end| if moving_left { ty.max() - end } else { end - ty.min() });
    if most == 0 || known.is_some_and(|room| room >= most) {
        summary.text("  {\n");
        return Ok(false);
    }
    // In terms of the program's variables: an analysis that knows these can tell that the loop is not run.
    let past = cut(format!("({}) * {pace_text} - ({distance})", counted.replace(&gap, &format!("({distance})"))));
    summary.text(format!("  if (({past}) <= ({})) {{\n", cut(text(&room)?)));
    Ok(true)
}

/// The number of iterations until two values are equal whose distance shrinks by `speed`.
fn until_equal(
    site: &Site<'_>,
    ty: IntTy,
    speed: i128,
    distance: &str,
    count: &str,
    summary: &mut Summary,
) -> Result<bool, String> {
    if speed == 0 {
        return Err("the loop ends never".to_owned());
    }
    let gap = site.fresh("la_distance");
    let twos = speed.trailing_zeros();
    let bits = ty.bits - twos;
    let inverse = inverse(speed >> twos, bits);
    summary.text(format!("  {} {gap} = {distance};\n", arithmetic(ty)));
    if twos > 0 {
        // Otherwise the two values never meet.
        summary.helpers.insert(Helper::Abort);
        summary.text(format!("  if ({gap} & {}) abort();\n", number((1 << twos) - 1, ty)));
    }
    let quotient = if twos > 0 { format!("({gap} >> {twos})") } else { gap };
    let product = if inverse == 1 { quotient } else { format!("{quotient} * {}", number(inverse, ty)) };
    let cut =
        if twos == 0 && ty.bits >= 32 { product } else { format!("({product}) & {}", number((1 << bits) - 1, ty)) };
    summary.text(format!("  unsigned long long {count} = (unsigned long long)({cut});\n  {{\n"));
    Ok(false)
}

fn ty_signed(value: i128, ty: IntTy) -> i128 {
    IntTy { signed: true, ..ty }.wrap(value)
}

/// By how much one iteration changes a side of the condition.
fn step(site: &Site<'_>, side: &Sum) -> Result<i128, String> {
    let change = site.updates.change(site.program, side)?;
    change.as_constant().ok_or_else(|| "the condition changes by different amounts".to_owned())
}

/// The comparison that must hold for the loop to go on; without a right side it is 0.
fn going_on(program: &Program, cond: ExprId, truth: bool) -> Result<(Relation, ExprId, Option<ExprId>, IntTy), String> {
    let ty = |expr: ExprId| program.exprs.ty(expr);
    Ok(match program.exprs.get(cond).kind {
        ExprKind::Cmp(CmpOp::Ne, a, b) if truth => (Relation::Ne, a, Some(b), ty(a)),
        ExprKind::Cmp(CmpOp::Eq, a, b) if !truth => (Relation::Ne, a, Some(b), ty(a)),
        // `0 < x` is `x != 0` for unsigned numbers.
        ExprKind::Cmp(CmpOp::Lt, a, b) if truth && !ty(a).signed && program.exprs.as_const(a) == Some(0) => {
            (Relation::Ne, b, None, ty(b))
        }
        ExprKind::Cmp(CmpOp::Le, a, b) if !truth && !ty(a).signed && program.exprs.as_const(b) == Some(0) => {
            (Relation::Ne, a, None, ty(a))
        }
        ExprKind::Cmp(CmpOp::Lt, a, b) if truth => (Relation::Lt, a, Some(b), ty(a)),
        ExprKind::Cmp(CmpOp::Le, a, b) if truth => (Relation::Le, a, Some(b), ty(a)),
        ExprKind::Cmp(CmpOp::Lt, a, b) => (Relation::Le, b, Some(a), ty(a)),
        ExprKind::Cmp(CmpOp::Le, a, b) => (Relation::Lt, b, Some(a), ty(a)),
        ExprKind::Var(_) | ExprKind::Binary(..) | ExprKind::Cast(_) if truth => (Relation::Ne, cond, None, ty(cond)),
        _ => return Err("the condition is no comparison that a counter decides".to_owned()),
    })
}
