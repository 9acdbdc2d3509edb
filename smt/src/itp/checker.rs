// SPDX-License-Identifier: Apache-2.0
//! The check that every proposed sequence passes before anybody uses it.
//!
//! With I_0 = true and I_n = false: I_{i-1} and the exact formula of block i imply I_i, and I_i speaks about program
//! variables (instances with index 0) only. The vocabulary is not restricted to variables shared between prefix and suffix
//! as in Craig's theorem, because predicate abstraction does not need that.

use super::engine::Task;
use super::hoare::{Holds, OpenBlock};
use super::query::Sequence;
use crate::term::TermId;

/// Why a proposal is not accepted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Rejection {
    /// It does not have one term for each cut.
    #[error("{found} interpolants for {cuts} cuts")]
    Length {
        /// The number of proposed terms.
        found: usize,
        /// The number of cuts.
        cuts: usize,
    },
    /// A term speaks about an instance that is no program variable.
    #[error("interpolant {cut} speaks about {name}")]
    Vocabulary {
        /// The position of the term.
        cut: usize,
        /// The instance.
        name: String,
    },
    /// A step is not inductive.
    #[error("not inductive over block {block}")]
    NotInductive {
        /// The position of the block.
        block: usize,
    },
    /// The solver could not tell about a step.
    #[error("block {block} could not be checked: {why}")]
    Unknown {
        /// The position of the block.
        block: usize,
        /// What the solver said.
        why: String,
    },
}

/// Checks a proposal on the task's solver; only this makes a [`Sequence`].
pub fn check(task: &mut Task<'_>, proposal: &[TermId], engine: &'static str) -> Result<Sequence, Rejection> {
    let blocks = task.path.len();
    if proposal.len() + 1 != blocks {
        return Err(Rejection::Length { found: proposal.len(), cuts: blocks.saturating_sub(1) });
    }
    for (cut, &term) in proposal.iter().enumerate() {
        if let Some(&(sym, index)) = task.terms.symbols(term).iter().find(|&&(_, index)| index != 0) {
            return Err(Rejection::Vocabulary { cut, name: task.terms.instance_name(sym, index) });
        }
    }
    for block in 0..blocks {
        let before = if block == 0 { TermId::TRUE } else { proposal[block - 1] };
        let after = proposal.get(block).copied().unwrap_or(TermId::FALSE);
        if before == TermId::FALSE || after == TermId::TRUE {
            continue;
        }
        let formula = task.path.formulas[block].as_ref();
        match OpenBlock::new(task.terms, task.solver, formula, task.limits).implies(&[before], after) {
            Holds::Yes(_) => {}
            Holds::No => return Err(Rejection::NotInductive { block }),
            Holds::Unknown(why) => return Err(Rejection::Unknown { block, why }),
        }
    }
    Ok(Sequence { interpolants: proposal.to_vec(), engine })
}
