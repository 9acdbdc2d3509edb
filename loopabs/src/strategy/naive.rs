// SPDX-License-Identifier: Apache-2.0
//! Naive abstraction (section 3.1, Fig. 1d): `if (C) { havoc(mod(B)); assume(C); B; assume(!C); }`.
//!
//! The body stands for the iteration in which an execution leaves the loop, in whatever way, or violates the property. So
//! `break`, `return`, `goto` and violations need no care.

use cfa::SiteKind;

use crate::context::Site;
use crate::strategy::{Strategy, enter, havoc_all, last_iteration};
use crate::summary::{Fidelity, Helper, Piece, Summary};

pub(super) fn apply(site: &Site<'_>) -> Result<Summary, String> {
    site.replaceable()?;
    site.body_can_be_moved()?;
    let mut summary = Summary::new(Strategy::Naive, Fidelity::Over);
    let close = enter(site, &mut summary);
    havoc_all(site, &mut summary, &[])?;
    assume_condition(site, &mut summary);
    last_iteration(site, &mut summary);
    summary.text(close);
    Ok(summary)
}

/// The last iteration begins in a state where the condition holds; the first one of `do` in any.
pub(super) fn assume_condition(site: &Site<'_>, summary: &mut Summary) {
    if site.loop_site.kind != SiteKind::DoWhile && site.loop_site.cond.is_some() {
        summary.helpers.insert(Helper::Abort);
        summary.text("  if (!(").piece(Piece::Cond).text(")) abort();\n");
    }
}
