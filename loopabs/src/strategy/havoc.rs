// SPDX-License-Identifier: Apache-2.0
//! Havoc abstraction (section 3.1, Fig. 1b): `if (C) { havoc(mod(B)); assume(!C); }`.
//!
//! All effects of the body but those on variables are lost, so it does not apply where the body may violate the property
//! or leave the function. A `break` leaves the loop while the condition holds, so then nothing is assumed.

use crate::context::Site;
use crate::strategy::{Strategy, enter, havoc_all};
use crate::summary::{Fidelity, Summary};

pub(super) fn apply(site: &Site<'_>) -> Result<Summary, String> {
    site.replaceable()?;
    if site.effects.violates {
        return Err("the property may be violated within the loop".to_owned());
    }
    let syntax = site.loop_site.syntax;
    if syntax.leaves {
        return Err("the loop contains return or goto".to_owned());
    }
    let mut summary = Summary::new(Strategy::Havoc, Fidelity::Over);
    let close = enter(site, &mut summary);
    havoc_all(site, &mut summary, &[])?;
    if !syntax.breaks {
        summary.text("  ").abort_if_condition().text("\n");
    }
    summary.text(close);
    Ok(summary)
}
