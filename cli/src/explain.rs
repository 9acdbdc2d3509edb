// SPDX-License-Identifier: Apache-2.0
//! Why there is no answer, in words: what stopped each stage, at which loop or construct, and what to try.

use cfa::Program;
use cpa_core::{Reason, Stop, Verdict};

use crate::portfolio::Answer;
use crate::progress::place_of_loop;

/// Lines that explain an unknown outcome and say what could be done.
pub fn explain(program: &Program, answer: &Answer, reason: &Reason) -> Vec<String> {
    let mut lines = Vec::new();
    for (stage, going_round) in &answer.started {
        let turn = answer.turns.iter().find(|(name, _)| name == stage).map(|(_, turn)| turn);
        match turn.map(|turn| (turn.outcome.verdict(), turn.cpu.as_secs_f64())) {
            Some((Verdict::Unknown(why), cpu)) => {
                lines.push(format!("Stage {stage}: {why}, after {cpu:.1} s of CPU time"))
            }
            Some(_) => {}
            None => lines.push(format!("Stage {stage}: it was lost in a computation when the run had to end")),
        }
        let going_round = going_round.show(program, |place| place.to_string());
        if !going_round.is_empty() {
            lines.push(format!("  it went round in these loops and did not see their end: {}", going_round.join(", ")));
            continue;
        }
        let busiest = turn.into_iter().flat_map(|turn| &turn.busiest).map(|&(head, states)| {
            let place = place_of_loop(program, head).map_or(head.to_string(), |place| place.to_string());
            format!("{place} ({states} states)")
        });
        let loops: Vec<String> = busiest.collect();
        if !loops.is_empty() {
            lines.push(format!("  it explored these loops most: {}", loops.join(", ")));
        }
    }
    lines.extend(advice(reason).iter().map(|text| format!("Try: {text}")));
    lines
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
