// SPDX-License-Identifier: Apache-2.0
//! Abstraction by an invariant that somebody supplies (section 3.1, "Observations"): the naive abstraction from a state
//! that satisfies it, `if (C) { havoc(mod(B)); assume(I); assume(C); B; assume(!C); assume(I); }`.
//!
//! I holds whenever control is at the head of the loop. After the last iteration it holds as well, unless the loop is left
//! by `break` or the evaluation of the condition changes something; the solver then need not derive it again.

use cfa::SiteKind;

use crate::context::Site;
use crate::strategy::naive::assume_condition;
use crate::strategy::{Strategy, enter, havoc_all, last_iteration};
use crate::summary::{Fidelity, Helper, Summary};

pub(super) fn apply(site: &Site<'_>) -> Result<Summary, String> {
    let Some(invariant) = site.invariant else { return Err("no invariant of the loop is known".to_owned()) };
    site.replaceable()?;
    site.body_can_be_moved()?;
    let mut summary = Summary::new(Strategy::Invariant, Fidelity::Over);
    let close = enter(site, &mut summary);
    havoc_all(site, &mut summary, &[])?;
    let assume = format!("  if (!({invariant})) abort();\n");
    summary.helpers.insert(Helper::Abort);
    summary.text(assume.clone());
    assume_condition(site, &mut summary);
    last_iteration(site, &mut summary);
    // The head of a `do` is in front of its body.
    if site.loop_site.kind != SiteKind::DoWhile && !site.loop_site.syntax.breaks && site.pure_header().is_ok() {
        summary.text(assume);
    }
    summary.text(close);
    Ok(summary)
}
