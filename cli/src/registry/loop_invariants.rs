// SPDX-License-Identifier: Apache-2.0
//! Invariants for loop abstraction: those with which k-induction proves the program, as C.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cfa::{LoopSite, NodeId, Program, SiteKind};
use cpa_core::{Cx, Outcome, Verdict};
use report::witness::{LoopInvariant, loop_invariants};

use super::{Analysis, KInductionAnalysis};
use crate::options::Config;
use crate::presets;

/// For loops, by their position in [`cfa::LoopSites::sites`], what holds whenever control is at their heads. Empty if
/// k-induction has no proof, since then what it knows does not suffice.
pub fn supplied(
    cx: &mut Cx,
    program: &Arc<Program>,
    targets: &BTreeSet<NodeId>,
    config: &Config,
) -> Result<BTreeMap<usize, String>, String> {
    let mut settings = config.stage_base();
    presets::apply_preset(&mut settings, "kinduction").map_err(|error| error.to_string())?;
    let mut kind = KInductionAnalysis::new(Arc::clone(program), targets.clone(), &settings)?;
    let outcome: Outcome = kind.run(cx);
    if *outcome.verdict() != Verdict::True {
        return Ok(BTreeMap::new());
    }
    let known = loop_invariants(program, &kind.invariants());
    let sites = program.loop_sites.sites.iter().enumerate();
    Ok(known.into_iter().filter_map(|known| Some((site_of(sites.clone(), &known)?, known.text))).collect())
}

/// The loop statement that an invariant belongs to.
fn site_of<'p>(sites: impl Iterator<Item = (usize, &'p LoopSite)>, known: &LoopInvariant) -> Option<usize> {
    let fits = |site: &LoopSite| {
        let behind = site.kind == SiteKind::DoWhile;
        // The place is the keyword of the loop, or the first statement in its body.
        let around = if behind { site.body } else { site.span };
        let inside = around.file == known.place.file && around.start <= known.place.start;
        site.head == Some(known.node)
            && behind != known.at_loop
            && inside
            && (known.place.end <= around.end && (behind || around.start == known.place.start))
    };
    sites.filter(|(_, site)| fits(site)).max_by_key(|(_, site)| site.span.start).map(|(at, _)| at)
}
