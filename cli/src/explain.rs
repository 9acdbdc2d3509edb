// SPDX-License-Identifier: Apache-2.0
//! Why there is no answer, in words: what stopped each stage, at which loop or construct, and what to try.

use cfa::{NodeId, Program};
use cpa_core::{Reason, Stop, Verdict};

use crate::portfolio::Answer;

/// Lines that explain an unknown outcome and say what could be done.
pub fn explain(program: &Program, answer: &Answer, reason: &Reason) -> Vec<String> {
    let mut lines = Vec::new();
    for (stage, turn) in &answer.turns {
        if let Verdict::Unknown(why) = turn.outcome.verdict() {
            lines.push(format!("Stage {stage}: {why}, after {:.1} s of CPU time", turn.cpu.as_secs_f64()));
        }
        let loops: Vec<String> = turn
            .busiest
            .iter()
            .map(|&(head, states)| format!("{} ({states} states)", place_of_loop(program, head)))
            .collect();
        if !loops.is_empty() {
            lines.push(format!("  it explored these loops most: {}", loops.join(", ")));
        }
    }
    lines.extend(advice(reason).iter().map(|text| format!("Try: {text}")));
    lines
}

/// Where a loop begins.
fn place_of_loop(program: &Program, head: NodeId) -> String {
    let statement = program.loop_statements.iter().find(|statement| statement.head == head);
    let leaving = || program.node(head).leaving.first().map(|&edge| program.edge(edge).span);
    match statement.map(|statement| statement.span).or_else(leaving) {
        Some(span) => program.location(span).to_string(),
        None => head.to_string(),
    }
}

fn advice(reason: &Reason) -> Vec<&'static str> {
    match reason {
        Reason::Stopped(Stop::Timeout) => vec![
            "a longer --timelimit, or more --cores",
            "a single analysis, see --print-presets; --explain-plan shows which ones ran",
            "smaller bounds for the loops named above, or invariants that are assertions in the program",
        ],
        Reason::Stopped(Stop::MemoryOut) => {
            vec!["a larger --memlimit", "fewer --cores: analyses side by side share the memory", "--preset predicate"]
        }
        Reason::Stopped(Stop::Cancelled) => vec!["letting it run on; it was interrupted"],
        Reason::Stopped(Stop::GaveUp(_)) => vec!["another analysis, see --print-presets"],
        Reason::Stopped(Stop::Internal(_)) => vec!["reporting it: this is a fault of cpa-verify"],
        Reason::Unsupported { construct, .. } if construct.contains("no body") => vec![
            "a definition of the function",
            "--undefined-functions skip: such calls return any value and change nothing, which is an assumption",
        ],
        Reason::Unsupported { .. } => vec!["writing the construct differently, or cutting it out of the program"],
        Reason::Imprecise(_) => {
            vec!["the default plan instead of a single analysis", "--preset predicate, --preset kinduction"]
        }
        Reason::Unconfirmed(_) | Reason::NotPrecise(_) => {
            vec!["the default plan instead of a single analysis", "giving uninitialised variables and memory a value"]
        }
        Reason::NotSound(_) => vec!["a larger cpa.loopbound.maxLoopIterationsUpperBound, or --preset kinduction"],
    }
}
