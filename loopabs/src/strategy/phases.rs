// SPDX-License-Identifier: Apache-2.0
//! Phase extrapolation, which goes beyond the paper: as many iterations as certainly take the same path through the body
//! are made at once, for one path after the other, then the loop runs. Exact.
//!
//! Each path has the conditions under which an iteration takes it (`paths`). For a condition it is computed for how many
//! iterations from now on it holds at least: for `A < B` of which one side moves, until they meet or one reaches the end
//! of its type; 0 where nothing is known. The least of these numbers is made at once. So any number is right, the greatest
//! one is useful; and all that the paths do not cover is done by the loop itself, to which nothing changes.

use cfa::{CmpOp, IntTy, SiteKind};

use crate::closed::closed;
use crate::context::Site;
use crate::paths::{Cond, Path, paths};
use crate::strategy::{Strategy, enter_always};
use crate::summary::{Fidelity, Piece, Summary};
use crate::updates::{Sum, Updates, arithmetic, inverse, number, residue, sum_text};

/// More than one path: the phases come in any order, and one may come back.
const ROUNDS: usize = 2;
/// Further paths are left to the loop.
const MAX_PATHS: usize = 4;

pub(super) fn apply(site: &Site<'_>) -> Result<Summary, String> {
    site.copyable()?;
    site.body_can_be_moved()?;
    let all = paths(site);
    let mut refused = None;
    let mut blocks: Vec<Phase> = Vec::new();
    for path in &all {
        match Phase::new(site, path) {
            Ok(phase) => blocks.push(phase),
            Err(reason) => refused = Some(reason),
        }
    }
    if blocks.is_empty() {
        return Err(refused.unwrap_or_else(|| "no way through its body only computes with variables".to_owned()));
    }
    blocks.truncate(MAX_PATHS);
    let mut summary = Summary::new(Strategy::Phases, Fidelity::Exact);
    let close = enter_always(site, &mut summary);
    let rounds = if blocks.len() > 1 { ROUNDS } else { 1 };
    for phase in std::iter::repeat_n(&blocks, rounds).flatten() {
        summary.text(phase.text.clone());
    }
    match site.loop_site.kind {
        SiteKind::For => {
            summary.text("  for (; ").piece(Piece::Cond).text("; ");
            if site.loop_site.step.is_some() {
                summary.piece(Piece::Step);
            }
            summary.text(")\n").piece(Piece::Body);
        }
        SiteKind::While => {
            summary.text("  while (").piece(Piece::Cond).text(")\n").piece(Piece::Body);
        }
        SiteKind::DoWhile => {
            summary.text("  do\n").piece(Piece::Body).text("\n  while (").piece(Piece::Cond).text(");");
        }
    }
    summary.text(close);
    Ok(summary)
}

/// The iterations along one path as C.
struct Phase {
    text: String,
}

impl Phase {
    fn new(site: &Site<'_>, path: &Path) -> Result<Self, String> {
        let updates = Updates::of_path(path.end.clone());
        let mut finals = Vec::new();
        for var in path.written(site)? {
            finals.extend(closed(site, &updates, var)?);
        }
        if finals.is_empty() {
            return Err("an iteration changes nothing".to_owned());
        }
        let mut bounds = Bounds { site, updates: &updates, text: String::new(), names: 0 };
        let mut least: Option<String> = None;
        for (cond, truth) in &path.guards {
            if let Some(count) = bounds.count(cond, *truth)? {
                least = Some(match least {
                    None => count,
                    Some(least) => bounds.choose(&format!("{count} < {least} ? {count} : {least}")),
                });
            }
        }
        let least = least.ok_or("an iteration is followed by another one for ever")?;
        let mut text = format!("  {{\n{}    if ({least} > 0) {{\n", bounds.text);
        // All values are computed before the first variable is written.
        let results: Vec<String> = (0..finals.len()).map(|at| site.fresh(&format!("la_final_{at}"))).collect();
        for (of, result) in finals.iter().zip(&results) {
            let value = of.value.replace("%n", &least);
            text.push_str(&format!("      {} {result} = {value};\n", arithmetic(of.ty)));
        }
        for (of, result) in finals.iter().zip(&results) {
            text.push_str(&format!("      {} = {result};\n", of.name));
        }
        text.push_str("    }\n  }\n");
        Ok(Self { text })
    }
}

/// Writes C that computes for how many iterations conditions hold.
struct Bounds<'s, 'p> {
    site: &'s Site<'p>,
    updates: &'s Updates,
    text: String,
    names: usize,
}

const FOREVER: &str = "18446744073709551615ULL";

impl Bounds<'_, '_> {
    /// A new variable with the value of an expression.
    fn choose(&mut self, value: &str) -> String {
        self.names += 1;
        let name = self.site.fresh(&format!("la_times_{}", self.names));
        self.text.push_str(&format!("    unsigned long long {name} = {value};\n"));
        name
    }

    /// A variable with a number of iterations from now on in which the condition has this truth value; none if it always
    /// has it. Fails if nothing is known.
    fn count(&mut self, cond: &Cond, truth: bool) -> Result<Option<String>, String> {
        match cond {
            Cond::Unknown => Err("it is not known how long a condition holds".to_owned()),
            Cond::Not(cond) => self.count(cond, !truth),
            Cond::And(a, b) if truth => self.least(a, b, truth),
            Cond::Or(a, b) if !truth => self.least(a, b, truth),
            // One of two is enough; where one is not known the other one counts.
            Cond::And(a, b) | Cond::Or(a, b) => match (self.count(a, truth), self.count(b, truth)) {
                (Ok(None), _) | (_, Ok(None)) => Ok(None),
                (Ok(Some(a)), Ok(Some(b))) => Ok(Some(self.choose(&format!("{a} > {b} ? {a} : {b}")))),
                (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
                (Err(reason), Err(_)) => Err(reason),
            },
            Cond::Cmp(op, a, b, ty) => match (op, truth) {
                (CmpOp::Ne, true) | (CmpOp::Eq, false) => self.different(a, b, *ty),
                (CmpOp::Ne, false) | (CmpOp::Eq, true) => self.equal(a, b, *ty),
                (CmpOp::Lt, true) => self.less(a, b, *ty, true),
                (CmpOp::Le, true) => self.less(a, b, *ty, false),
                (CmpOp::Lt, false) => self.less(b, a, *ty, false),
                (CmpOp::Le, false) => self.less(b, a, *ty, true),
            },
        }
    }

    fn least(&mut self, a: &Cond, b: &Cond, truth: bool) -> Result<Option<String>, String> {
        Ok(match (self.count(a, truth)?, self.count(b, truth)?) {
            (None, other) | (other, None) => other,
            (Some(a), Some(b)) => Some(self.choose(&format!("{a} < {b} ? {a} : {b}"))),
        })
    }

    /// By how much one iteration moves a side, as a number of either sign.
    fn speed(&self, side: &Sum, ty: IntTy) -> Result<i128, String> {
        let growth = self.updates.change(self.site.program, side)?;
        let total = growth.as_constant().ok_or("a condition changes by different amounts")?;
        Ok(IntTy { signed: true, ..ty }.wrap(total))
    }

    /// A sum as a value of its type.
    fn value(&self, sum: &Sum, ty: IntTy) -> Result<String, String> {
        let text = sum_text(self.site, sum, ty)?.unwrap_or_else(|| number(0, ty));
        Ok(format!("({})({text})", ty.c_name()))
    }

    /// The residue of a sum modulo 2^bits as a number.
    fn number(&self, sum: &Sum, ty: IntTy) -> Result<String, String> {
        self.value(sum, IntTy { signed: false, ..ty }).map(|text| format!("(unsigned long long){text}"))
    }

    fn equal(&mut self, a: &Sum, b: &Sum, ty: IntTy) -> Result<Option<String>, String> {
        let gap = a.minus(b);
        if let Some(gap) = gap.as_constant() {
            return if gap == 0 { Ok(None) } else { Err("a condition never holds".to_owned()) };
        }
        let (a_speed, b_speed) = (self.speed(a, ty), self.speed(b, ty));
        let kept = matches!((a_speed, b_speed), (Ok(a), Ok(b)) if a == b);
        let holds = format!("{} == 0", self.number(&gap, ty)?);
        Ok(Some(self.choose(&format!("{holds} ? {} : 0", if kept { FOREVER } else { "1" }))))
    }

    /// Until the distance is a multiple of what it shrinks by: the least n with n * speed = distance modulo 2^bits.
    fn different(&mut self, a: &Sum, b: &Sum, ty: IntTy) -> Result<Option<String>, String> {
        let gap = b.minus(a);
        if let Some(gap) = gap.as_constant() {
            return if gap != 0 { Ok(None) } else { Err("a condition never holds".to_owned()) };
        }
        let speed = residue(self.speed(a, ty)? - self.speed(b, ty)?, ty.bits);
        let distance = self.number(&gap, ty)?;
        if speed == 0 {
            return Ok(Some(self.choose(&format!("{distance} != 0 ? {FOREVER} : 0"))));
        }
        let twos = speed.trailing_zeros();
        let bits = ty.bits - twos;
        let inverse = inverse(speed >> twos, bits);
        let distance = self.choose(&distance);
        let solution = format!("({distance} >> {twos}) * {inverse}ULL & {}ULL", (1i128 << bits) - 1);
        Ok(Some(self.choose(&if twos == 0 {
            solution
        } else {
            format!("({distance} & {}ULL) != 0 ? {FOREVER} : {solution}", (1i128 << twos) - 1)
        })))
    }

    fn less(&mut self, a: &Sum, b: &Sum, ty: IntTy, strict: bool) -> Result<Option<String>, String> {
        let (a_speed, b_speed) = (self.speed(a, ty)?, self.speed(b, ty)?);
        let holds = format!("{} {} {}", self.value(a, ty)?, if strict { "<" } else { "<=" }, self.value(b, ty)?);
        let gap = self.number(&b.minus(a), ty)?;
        let least = Sum::constant(ty.min(), ty.bits);
        let greatest = Sum::constant(ty.max(), ty.bits);
        let count = match (a_speed, b_speed) {
            (0, 0) => match (a.as_constant(), b.as_constant()) {
                (Some(a), Some(b)) => {
                    let (a, b) = (ty.wrap(a), ty.wrap(b));
                    let holds = a < b || (a == b && !strict);
                    return if holds { Ok(None) } else { Err("a condition never holds".to_owned()) };
                }
                _ => FOREVER.to_owned(),
            },
            // They approach each other, at least until they meet.
            (pace, 0) | (0, pace) if (a_speed == 0) != (pace > 0) => {
                let pace = pace.unsigned_abs();
                if strict { format!("({gap} - 1) / {pace} + 1") } else { format!("{gap} / {pace} + 1") }
            }
            // They move away from each other, at least until one reaches the end of its type.
            (pace, 0) => format!("{} / {} + 1", self.number(&a.minus(&least), ty)?, pace.unsigned_abs()),
            (0, pace) => format!("{} / {} + 1", self.number(&greatest.minus(b), ty)?, pace.unsigned_abs()),
            _ => return Err("both sides of a condition change".to_owned()),
        };
        Ok(Some(self.choose(&format!("{holds} ? {count} : 0"))))
    }
}
