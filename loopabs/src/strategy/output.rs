// SPDX-License-Identifier: Apache-2.0
//! Output abstraction, which the paper names but does not define. Ours: some number of iterations is made at once, as far
//! as it can be said what they do, then comes the last iteration as in the naive abstraction.
//!
//! With V the variables to which every complete iteration adds the same value k(v), and M the others in mod(B):
//! `if (C) { n = any; v += n * k(v) for v in V; havoc(M); assume(C); B; assume(!C); }`. It keeps how the variables of V
//! are related, which the naive abstraction loses. Without any such variable it would be the naive abstraction, so it does
//! not apply.

use crate::context::Site;
use crate::strategy::naive::assume_condition;
use crate::strategy::{Strategy, enter, havoc_all, last_iteration};
use crate::summary::{Fidelity, Helper, Summary};
use crate::updates::{Growth, arithmetic, sum_text};

pub(super) fn apply(site: &Site<'_>) -> Result<Summary, String> {
    site.replaceable()?;
    site.body_can_be_moved()?;
    let modified = site.modified.as_ref().map_err(Clone::clone)?;
    site.pure_header()?;
    let mut regular = Vec::new();
    for part in &modified.parts {
        if let Some(var) = part.var
            && let Some(Growth { var, amount, .. }) = site.updates.growth(site, var)
        {
            regular.push((part.text.as_str(), site.program.var(var).ty, amount));
        }
    }
    if regular.is_empty() {
        return Err("no variable changes by the same value in every iteration".to_owned());
    }
    let mut summary = Summary::new(Strategy::Output, Fidelity::Over);
    let close = enter(site, &mut summary);
    let count = site.fresh("la_count");
    summary.helpers.insert(Helper::ULongLong);
    summary.text(format!("  unsigned long long {count} = {}();\n", Helper::ULongLong.name()));
    for (text, ty, amount) in &regular {
        // What is not modified in the end keeps its value.
        if let Some(amount) = sum_text(site, amount, *ty)? {
            let wide = arithmetic(*ty);
            summary.text(format!("  {text} = ({wide}){text} + ({wide}){count} * ({amount});\n"));
        }
    }
    let names: Vec<&str> = regular.iter().map(|(text, ..)| *text).collect();
    havoc_all(site, &mut summary, &names)?;
    assume_condition(site, &mut summary);
    last_iteration(site, &mut summary);
    summary.text(close);
    Ok(summary)
}
