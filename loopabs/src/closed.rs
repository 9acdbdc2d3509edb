// SPDX-License-Identifier: Apache-2.0
//! Closed forms: the value of a variable after n iterations that all do the same, as C.

use cfa::{IntTy, VarId};

use crate::context::Site;
use crate::names;
use crate::updates::{Sum, Updates, arithmetic, number, sum_text};

/// A variable and its value.
pub(crate) struct Closed<'s> {
    pub(crate) name: &'s str,
    pub(crate) ty: IntTy,
    /// In the unsigned arithmetic for the type; `%n` stands for the number of iterations, of which there is at least one.
    pub(crate) value: String,
}

/// The value of a variable after `%n` iterations with these updates; none if they keep it.
///
/// An assigned value must be the same in all iterations; what is added may itself grow by the same amount each time.
pub(crate) fn closed<'s>(site: &'s Site<'_>, updates: &Updates, var: VarId) -> Result<Option<Closed<'s>>, String> {
    let program = site.program;
    let unknown = || format!("it is not known what an iteration makes of '{}'", program.var(var).name);
    let (name, ty) = names::integer(program, site.loop_site, var).ok_or_else(unknown)?;
    let after = updates.after(program, var).ok_or_else(unknown)?;
    let own = Sum::var(var, after.bits);
    if after == own {
        return Ok(None);
    }
    let kept = |sum: &Sum| sum.terms.keys().all(|var| updates.is_kept(program, *var));
    let wide = arithmetic(ty);
    let text = |sum: &Sum| Ok::<_, String>(sum_text(site, sum, ty)?.unwrap_or_else(|| number(0, ty)));
    if kept(&after) && !after.terms.contains_key(&var) {
        return Ok(Some(Closed { name, ty, value: text(&after)? }));
    }
    // One iteration adds `amount`, whose terms grow by constants themselves: the sum of an arithmetic series.
    let amount = after.minus(&own);
    if amount.terms.contains_key(&var) {
        return Err(unknown());
    }
    let slope = updates.change(program, &amount)?;
    if !kept(&slope) {
        return Err(unknown());
    }
    let mut value = format!("({wide}){name}");
    if amount != Sum::constant(0, after.bits) {
        value.push_str(&format!(" + ({wide})%n * ({})", text(&amount)?));
    }
    if slope != Sum::constant(0, after.bits) {
        // n * (n - 1) / 2 without overflow before the division.
        let pairs = "(%n % 2 == 0 ? %n / 2 * (%n - 1) : %n * ((%n - 1) / 2))";
        value.push_str(&format!(" + ({wide}){pairs} * ({})", text(&slope)?));
    }
    Ok(Some(Closed { name, ty, value }))
}
