// SPDX-License-Identifier: Apache-2.0
//! What a stage says while it works, in words: how far it is, and which loops it goes round in without having seen their
//! end.

use cfa::ids::NodeId;
use cfa::{Location, Program};
use cpa_core::Progress;

/// The status line names at most so many loops.
const NAMED: usize = 3;

/// What a stage has reported.
#[derive(Clone, Default, Debug)]
pub struct Reported {
    /// What it did last.
    last: String,
    refinements: u64,
    unrolled: u32,
    /// Whether what it asks the solver decides everything.
    pub last_question: bool,
    /// The loops that it goes round in.
    pub going_round: GoingRound,
}

/// Loops whose end was not seen yet, by their heads, the outermost first.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct GoingRound {
    loops: Vec<(NodeId, u64)>,
    /// Whether the numbers are jumps of an execution inside of the loop, and not rounds.
    jumps: bool,
}

impl Reported {
    /// Takes notice of a report.
    pub fn update(&mut self, progress: &Progress) {
        match progress {
            Progress::Explored { nodes, waiting, .. } => {
                let done = match (self.refinements, self.unrolled) {
                    (0, 0) => String::new(),
                    (0, bound) => format!(", loops are unrolled {bound} times"),
                    (number, _) => format!(", {number} refinements"),
                };
                self.last = format!("{nodes} abstract states, {waiting} waiting{done}");
            }
            Progress::Unrolled { bound } => {
                self.unrolled = *bound;
                self.last = format!("loops are unrolled {bound} times");
            }
            Progress::LastQuestion => {
                self.last_question = true;
                self.last = format!("loops are unrolled {} times, to their ends", self.unrolled);
            }
            Progress::Refined { number, .. } => {
                self.refinements = *number;
                self.last = format!("{number} refinements");
            }
            Progress::GoingRound { loops } => self.going_round = GoingRound { loops: loops.clone(), jumps: false },
            Progress::Executed { runs, jumps, loops } => {
                self.last = match (runs, jumps) {
                    (runs, 0) => format!("{runs} executions"),
                    (0, jumps) => format!("an execution of {jumps} jumps"),
                    (runs, jumps) => format!("{runs} executions and one of {jumps} jumps"),
                };
                self.going_round = GoingRound { loops: loops.clone(), jumps: true };
            }
        }
    }

    /// What the stage does, in one line.
    pub fn line(&self, program: &Program) -> String {
        // Paths are long.
        let place = |at: Location| format!("{}:{}", at.file.rsplit('/').next().unwrap_or(&at.file), at.line);
        let mut loops = self.going_round.show(program, place);
        let further = loops.len().saturating_sub(NAMED);
        loops.truncate(NAMED);
        if further > 0 {
            loops.push(format!("and {further} more"));
        }
        match &loops[..] {
            [] => self.last.clone(),
            // First what matters most, should there be no room for the rest.
            loops => format!("going round at {}; {}", loops.join(", "), self.last),
        }
    }
}

impl GoingRound {
    /// Each loop with how long it went on.
    pub fn show(&self, program: &Program, place: impl Fn(Location) -> String) -> Vec<String> {
        let unit = if self.jumps { "jumps" } else { "times" };
        let one = |&(head, count): &(NodeId, u64)| {
            let name = place_of_loop(program, head).map_or(head.to_string(), &place);
            format!("{name} ({count} {unit})")
        };
        self.loops.iter().map(one).collect()
    }
}

/// Where a loop begins, if that is known.
pub fn place_of_loop(program: &Program, head: NodeId) -> Option<Location> {
    let statement = program.loop_statements.iter().find(|statement| statement.head == head);
    let leaving = || program.node(head).leaving.first().map(|&edge| program.edge(edge).span);
    statement.map(|statement| statement.span).or_else(leaving).map(|span| program.location(span))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{Options, Source};

    #[test]
    fn the_line_names_loops_that_go_on() {
        let loops = "while (n())\n;\n".repeat(5);
        let source =
            Source { name: "some/where/p.c".into(), text: format!("int n(void);\nint main(void) {{\n{loops}}}") };
        let program = cfa::load(&[source], &Options::default()).unwrap();
        let heads: Vec<NodeId> = program.loops.heads.iter().copied().collect();
        let mut reported = Reported::default();
        reported.update(&Progress::Unrolled { bound: 9 });
        assert_eq!(reported.line(&program), "loops are unrolled 9 times");
        reported.update(&Progress::GoingRound { loops: heads[..2].iter().map(|&head| (head, 9)).collect() });
        reported.update(&Progress::Explored { iterations: 5, nodes: 6, waiting: 7 });
        assert_eq!(
            reported.line(&program),
            "going round at p.c:3 (9 times), p.c:5 (9 times); 6 abstract states, 7 waiting, loops are unrolled 9 times"
        );
        reported.update(&Progress::Executed {
            runs: 0,
            jumps: 50,
            loops: heads.iter().map(|&head| (head, 40)).collect(),
        });
        assert_eq!(
            reported.line(&program),
            "going round at p.c:3 (40 jumps), p.c:5 (40 jumps), p.c:7 (40 jumps), and 2 more; an execution of 50 jumps"
        );
        // When all loops have ended, none is named any more.
        reported.update(&Progress::Executed { runs: 256, jumps: 0, loops: Vec::new() });
        assert_eq!(reported.line(&program), "256 executions");
        let all = GoingRound { loops: vec![(heads[4], 3)], jumps: false };
        reported.update(&Progress::LastQuestion);
        assert_eq!(reported.line(&program), "loops are unrolled 9 times, to their ends");
        assert_eq!(all.show(&program, |place| place.to_string()), ["some/where/p.c:11:1 (3 times)"]);
    }
}
