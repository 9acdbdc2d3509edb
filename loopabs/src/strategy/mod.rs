// SPDX-License-Identifier: Apache-2.0
//! The strategies, one file each. Why they are sound is written in docs/soundness.md.

mod base;
mod extrapolation;
mod havoc;
mod invariant;
mod naive;
mod output;
mod phases;

use std::fmt;

use crate::context::Site;
use crate::names::havoc as any_value;
use crate::summary::{Piece, Summary};
use cfa::SiteKind;

/// A way to abstract loops.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Strategy {
    /// The loop itself.
    Base,
    /// Phase extrapolation: the iterations along each path, computed, then the loop itself.
    Phases,
    /// Arbitrary values that satisfy an invariant, then the last iteration.
    Invariant,
    /// Output abstraction: arbitrary many iterations at once for what changes regularly, then the last iteration.
    Output,
    /// Constant extrapolation: the final values, computed.
    Constant,
    /// Arbitrary values, then the last iteration.
    Naive,
    /// Arbitrary values for which the condition does not hold.
    Havoc,
}

impl Strategy {
    /// All strategies, from the most precise to the most abstract in the default order.
    pub const ALL: [Strategy; 7] = [
        Strategy::Base,
        Strategy::Phases,
        Strategy::Invariant,
        Strategy::Output,
        Strategy::Constant,
        Strategy::Naive,
        Strategy::Havoc,
    ];

    /// The letter; that of the paper if it has one.
    pub fn letter(self) -> char {
        match self {
            Strategy::Base => 'b',
            Strategy::Phases => 'p',
            Strategy::Invariant => 'i',
            Strategy::Output => 'o',
            Strategy::Constant => 'c',
            Strategy::Naive => 'n',
            Strategy::Havoc => 'h',
        }
    }

    /// The name for people and file names.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Base => "base",
            Strategy::Phases => "phases",
            Strategy::Invariant => "invariant",
            Strategy::Output => "output",
            Strategy::Constant => "constant",
            Strategy::Naive => "naive",
            Strategy::Havoc => "havoc",
        }
    }

    /// The strategy of a letter or name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|strategy| text == strategy.name() || text == strategy.letter().to_string())
    }

    /// What it puts in place of a loop, or why it does not apply.
    pub(crate) fn apply(self, site: &Site<'_>) -> Result<Summary, String> {
        match self {
            Strategy::Base => Ok(base::apply()),
            Strategy::Phases => phases::apply(site),
            Strategy::Invariant => invariant::apply(site),
            Strategy::Output => output::apply(site),
            Strategy::Constant => extrapolation::apply(site),
            Strategy::Naive => naive::apply(site),
            Strategy::Havoc => havoc::apply(site),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

/// Opens a block that is executed whether the loop is entered or not, after the first clause of a `for`; returns what
/// closes it.
fn enter_always(site: &Site<'_>, summary: &mut Summary) -> &'static str {
    summary.text("{ ");
    if site.loop_site.kind == SiteKind::For {
        summary.piece(Piece::Init);
    }
    summary.text("\n");
    "\n}"
}

/// Opens the block that is executed if the loop is entered; returns what closes it.
fn enter(site: &Site<'_>, summary: &mut Summary) -> &'static str {
    match site.loop_site.kind {
        SiteKind::While => {
            summary.text("if (").piece(Piece::Cond).text(") {\n");
            "}"
        }
        SiteKind::For => {
            summary.text("{ ").piece(Piece::Init).text("\nif (").piece(Piece::Cond).text(") {\n");
            "} }"
        }
        // The body is executed at least once, whatever the condition is.
        SiteKind::DoWhile => {
            summary.text("{\n");
            "}"
        }
    }
}

/// Gives arbitrary values to what the loop modifies, but for parts that are left out.
fn havoc_all(site: &Site<'_>, summary: &mut Summary, left_out: &[&str]) -> Result<(), String> {
    for part in &site.modified.as_ref().map_err(Clone::clone)?.parts {
        if !left_out.contains(&part.text.as_str()) {
            let (text, helper) = any_value(part);
            summary.helpers.insert(helper);
            summary.text(format!("  {text}\n"));
        }
    }
    Ok(())
}

/// One last iteration: whoever reaches the end of the body must leave the loop then; whoever leaves it otherwise goes on.
fn last_iteration(site: &Site<'_>, summary: &mut Summary) {
    summary.helpers.insert(crate::summary::Helper::Abort);
    summary.text("  do {\n").piece(Piece::Body).text("\n  } while (");
    match site.loop_site.step {
        Some(_) => summary.text("((").piece(Piece::Step).text("), (").piece(Piece::Cond).text("))"),
        None => summary.text("(").piece(Piece::Cond).text(")"),
    };
    summary.text(" && (abort(), 0));\n");
}
