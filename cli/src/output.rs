// SPDX-License-Identifier: Apache-2.0
//! The folder of `--output-path`, with all that there is to know about a run, and dumps of what an analysis found.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use cfa::NodeId;
use cpa_core::Arg;
use report::summary::Summary;
use serde_json::{Value, json};

use crate::args::{Args, Dump, DumpFormat, WitnessFormat};
use crate::dump;
use crate::options::Config;
use crate::portfolio::Turn;
use crate::results::{Results, write};
use crate::verify::RunError;

/// Graphs with more states are not written: nobody can look at them.
const MAX_STATES: usize = 100_000;

/// The arguments with a name in the folder for each file that could be asked for.
pub(crate) fn with_folder(args: &Args) -> Args {
    let mut args = args.clone();
    let Some(folder) = args.output_path.clone() else { return args };
    let witness = if args.witness_format == WitnessFormat::GraphMl { "witness.graphml" } else { "witness.yml" };
    args.witness.get_or_insert_with(|| folder.join(witness));
    args.harness.get_or_insert_with(|| folder.join("Counterexample.1.harness.c"));
    args.report.get_or_insert_with(|| folder.join("Report.html"));
    args
}

/// Makes the folder.
pub(crate) fn make(folder: &Path) -> Result<(), RunError> {
    fs::create_dir_all(folder).map_err(|error| RunError::Output(format!("cannot create {}: {error}", folder.display())))
}

/// Writes what is not written because of an option of its own.
pub(crate) fn fill(folder: &Path, results: &Results<'_>, summary: &Summary, config: &Config) -> Result<(), RunError> {
    let file = |name: &str, text: &str| write(&folder.join(name), text);
    file("cfa.dot", &dump::write(results.program, DumpFormat::Dot))?;
    if let Some(turn) = results.turn() {
        if let Some(graph) = &turn.graph_as_dot {
            file("ARG.dot", graph)?;
        }
        if let Some(predicates) = turn.predicates.as_ref().filter(|text| !text.is_empty()) {
            file("predmap.txt", predicates)?;
        }
    }
    if !summary.invariants.is_empty() {
        file("invariants.txt", &invariants(summary))?;
    }
    if summary.violation.is_some() {
        let told = Summary { dump: Vec::new(), statistics: Vec::new(), ..summary.clone() };
        file("Counterexample.1.txt", &(told.lines(false, true).join("\n") + "\n"))?;
    }
    let statistics = summary.statistics.iter().map(|(label, value)| format!("{label}: {value}\n"));
    file("Statistics.txt", &statistics.collect::<String>())?;
    let options = config.values().into_iter().map(|(key, value)| format!("{key} = {value:?}\n"));
    file("usedConfiguration.toml", &options.collect::<String>())?;
    file("CPALog.txt", &(results.answer.log.join("\n") + "\n"))?;
    file("result.json", &format!("{:#}\n", summary.json()))
}

/// The lines of a dump that is made of what the analysis found.
pub(crate) fn dumped(what: Dump, results: &Results<'_>, summary: &Summary) -> Vec<String> {
    let nothing = |what: &str| format!("There are no {what}.");
    let turn = results.turn();
    let text = match what {
        Dump::Cfa | Dump::Blocks | Dump::Queries => return Vec::new(),
        Dump::Arg => turn.and_then(|turn| turn.graph.clone()).unwrap_or_else(|| nothing("abstract states")),
        Dump::Predicates => turn
            .and_then(|turn| turn.predicates.clone())
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| nothing("predicates")),
        Dump::Invariants if summary.invariants.is_empty() => nothing("invariants"),
        Dump::Invariants => invariants(summary),
    };
    text.lines().map(String::from).collect()
}

fn invariants(summary: &Summary) -> String {
    summary.invariants.iter().fold(String::new(), |mut text, (place, invariant)| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{place}: {invariant}");
        text
    })
}

/// The explored graph in one of the formats.
pub(crate) fn graph(graph: &Arg, format: DumpFormat) -> String {
    if graph.len() > MAX_STATES {
        return format!("The graph has {} states, too many to be written.", graph.len());
    }
    match format {
        DumpFormat::Text => graph.dump(),
        DumpFormat::Dot => graph.dot(),
        DumpFormat::Json => format!("{:#}", graph_as_json(graph)),
    }
}

fn graph_as_json(graph: &Arg) -> Value {
    let states = graph.ids().map(|id| {
        let children = graph
            .children(id)
            .iter()
            .map(|(child, step)| json!({ "state": child.to_string(), "step": step.to_string() }));
        json!({
            "id": id.to_string(),
            "location": NodeId::index(graph.location(id)),
            "state": graph.state(id).to_string(),
            "children": children.collect::<Vec<_>>(),
            "covered_by": graph.covered_by(id).map(|by| by.to_string()),
            "target": graph.target(id).is_some(),
        })
    });
    json!({ "states": states.collect::<Vec<_>>() })
}

impl Results<'_> {
    /// The stage that has the answer; if none has, the last one that has something to show.
    pub(crate) fn turn(&self) -> Option<&Turn> {
        let turns = || self.answer.turns.iter();
        let found = turns().find(|(stage, _)| Some(stage) == self.answer.stage.as_ref());
        let shows = |turn: &Turn| turn.picture.is_some() || turn.graph.is_some() || turn.graph_as_dot.is_some();
        found.or_else(|| turns().rfind(|(_, turn)| shows(turn))).map(|(_, turn)| turn)
    }
}
