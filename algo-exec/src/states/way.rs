// SPDX-License-Identifier: Apache-2.0
//! Ways through the states that were found, and the inputs that lead along one.

use cfa::{EdgeId, NodeId};
use cpa_core::{Cx, Stop};

use super::state::Val;
use super::walk::{Script, Taken, Thread, Walk, Went};

/// A way is followed by so many threads.
pub(super) const MAX_THREADS: u32 = 20_000;

/// A part of a way.
pub(super) struct Leg<'a> {
    /// Where it ends: a loop head, a target, or the begin of an edge that is not supported.
    pub(super) end: NodeId,
    /// The decisions on it.
    pub(super) taken: &'a Taken,
}

/// Inputs that lead along a way, from the start, if there are any that the constraints on symbols describe. They are looked
/// for first with the same answers to all questions, then along the same branches.
pub(super) fn inputs(cx: &Cx, walk: &Walk, legs: &[Leg]) -> Result<Option<Vec<(EdgeId, i128)>>, Stop> {
    for answers in [true, false] {
        if let Some(found) = (Search { cx, walk, legs, answers }).run()? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

struct Search<'a> {
    cx: &'a Cx,
    walk: &'a Walk,
    legs: &'a [Leg<'a>],
    answers: bool,
}

impl Search<'_> {
    fn run(&self) -> Result<Option<Vec<(EdgeId, i128)>>, Stop> {
        let mut stack = vec![Thread::new(self.walk.start(), Some(Vec::new()))];
        // The leg of each thread on the stack.
        let mut leg_of = vec![0];
        let mut threads = 0;
        while let (Some(mut thread), Some(mut at)) = (stack.pop(), leg_of.pop()) {
            threads += 1;
            self.cx.check()?;
            if threads > MAX_THREADS {
                return Ok(None);
            }
            loop {
                let leg = &self.legs[at];
                if !self.walk.pauses(&thread) {
                    let script = Script { taken: leg.taken, answers: self.answers };
                    let went = self.walk.step(&mut thread, &mut stack, Some(script))?;
                    leg_of.resize(stack.len(), at);
                    if !matches!(went, Went::On) {
                        break;
                    }
                    continue;
                }
                if thread.state.node != leg.end {
                    break;
                }
                at += 1;
                if at == self.legs.len() {
                    if let Some(values) = self.solve(&thread) {
                        return Ok(Some(values));
                    }
                    break;
                }
                thread.state.compact();
                thread = Thread::new(thread.state, thread.asked);
            }
        }
        Ok(None)
    }

    fn solve(&self, thread: &Thread) -> Option<Vec<(EdgeId, i128)>> {
        let values = thread.state.symbols.solve()?;
        let asked = thread.asked.as_ref()?;
        let inputs = self.walk.program.vars.len()..thread.state.vars.len();
        let inputs = inputs.map(|index| match thread.state.var(index) {
            Val::Any => 0,
            Val::Const(value) => value,
            Val::Sym(symbol, offset) => values[symbol as usize] + offset,
        });
        Some(asked.iter().copied().zip(inputs).collect())
    }
}
