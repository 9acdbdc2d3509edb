// SPDX-License-Identifier: Apache-2.0
//! The report of a run: one HTML file without references to anything outside of it. It shows the source with the way to the
//! error to step through, invariants beside their loops, the automata and the explored graph, and what the run was.

use std::collections::BTreeSet;
use std::fmt::Write;

use cfa::{FuncId, NodeId, Program};
use serde_json::{Value, json};

use crate::graph::{Graph, draw, escape};
use crate::summary::Summary;

/// All automata together are drawn with at most so many locations.
const MAX_NODES: usize = 6000;
/// A text of a location in a drawing is not longer.
const MAX_TEXT: usize = 160;
/// The heads of arrows; not hidden, because browsers do not use what is.
const ARROW: &str = "<svg width=\"0\" height=\"0\" style=\"position:absolute\"><defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" \
    refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs></svg>";
/// More steps than these are not shown.
const MAX_STEPS: usize = 5000;

/// What the report shows beside the result.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    /// The options of the run.
    pub options: Vec<(String, String)>,
    /// The explored graph of the stage that has the answer.
    pub explored: Option<Graph>,
    /// What happened when.
    pub log: Vec<String>,
}

/// The report.
pub fn report(program: &Program, summary: &Summary, extras: &Extras) -> String {
    let title = format!("cpa-verify: {}", summary.verdict.to_string().trim_start_matches("Verification result: "));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n<style>{}</style></head><body>\n",
        escape(&title),
        include_str!("report.css")
    );
    let _ = write!(page, "{ARROW}<header><h1>{}</h1><nav id=\"tabs\"></nav></header>\n<main>\n", escape(&title));
    section(&mut page, "Source", "<div id=\"steps\"></div><div id=\"source\"></div>");
    section(&mut page, "Control flow", &automata(program, summary));
    if let Some(graph) = &extras.explored {
        section(&mut page, "Explored states", &drawing(graph));
    }
    section(&mut page, "Result", &result(summary));
    section(&mut page, "Statistics", &table(summary.statistics.iter().map(|(a, b)| (a.as_str(), b.as_str()))));
    section(&mut page, "Log", &format!("<pre>{}</pre>", escape(&extras.log.join("\n"))));
    section(&mut page, "Options", &table(extras.options.iter().map(|(a, b)| (a.as_str(), b.as_str()))));
    let data = data(program, summary).to_string().replace("</", "<\\/");
    let _ = write!(
        page,
        "</main>\n<script type=\"application/json\" id=\"data\">{data}</script>\n<script>{}</script>\n</body></html>\n",
        include_str!("report.js")
    );
    page
}

fn section(page: &mut String, title: &str, content: &str) {
    let _ = writeln!(page, "<section data-title=\"{title}\">{content}</section>");
}

fn table<'a>(rows: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let rows: String =
        rows.map(|(key, value)| format!("<tr><td>{}</td><td>{}</td></tr>", escape(key), escape(value))).collect();
    if rows.is_empty() { "<p>Nothing was recorded.</p>".to_string() } else { format!("<table>{rows}</table>") }
}

fn list(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items: String = lines.iter().map(|line| format!("<li>{}</li>", escape(line))).collect();
    format!("<h2>{title}</h2><ul>{items}</ul>")
}

fn result(summary: &Summary) -> String {
    let mut out = format!("<p>{}</p>", escape(&summary.verdict.to_string()));
    if let Some(reason) = &summary.reason {
        let _ = write!(out, "<p>Reason: {}</p>", escape(reason));
    }
    out += &list("What to try", &summary.advice);
    if let Some(stage) = &summary.found_by {
        let _ = write!(out, "<p>Found by: {}</p>", escape(stage));
    }
    out += &list("Assumptions", &summary.assumptions);
    out += &list("Notes", &summary.notes);
    if let Some(violation) = &summary.violation {
        out += &list("Inputs", &violation.inputs);
        if let Some(confirmed) = &violation.confirmation {
            let text = match confirmed {
                Ok(how) => format!("Confirmed by execution ({how})"),
                Err(why) => format!("Not confirmed by execution: {why}"),
            };
            let _ = write!(out, "<p>{}</p>", escape(&text));
        }
    }
    let invariants: Vec<String> = summary.invariants.iter().map(|(at, text)| format!("{at}: {text}")).collect();
    out + &list("Invariants", &invariants)
}

fn drawing(graph: &Graph) -> String {
    let drawing = draw(graph);
    let mut about = format!("{} nodes in {} blocks without branches. ", graph.nodes.len(), drawing.blocks);
    if graph.omitted > 0 {
        let _ = write!(about, "{} further nodes are not drawn. ", graph.omitted);
    }
    about += if drawing.layered {
        "Drag to move, Ctrl and the wheel or the buttons to zoom; a click leads to the source."
    } else {
        "Too large for layers, so each block is a row."
    };
    format!("<p class=\"about\">{about}</p><div class=\"graph\">{}</div>", drawing.svg)
}

/// The automata, those of the functions on the way to the error first.
fn automata(program: &Program, summary: &Summary) -> String {
    let steps = summary.violation.iter().flat_map(|violation| &violation.steps);
    let passed: BTreeSet<&str> = steps.map(|step| step.function.as_str()).collect();
    let mut functions: Vec<FuncId> =
        (0..program.funcs.len()).map(FuncId::new).filter(|&func| program.func(func).body.is_some()).collect();
    functions.sort_by_key(|&func| (!passed.contains(&*program.func(func).name), func != program.main));
    let (mut out, mut drawn) = (String::new(), 0);
    let mut left_out = Vec::new();
    for func in functions {
        let nodes: Vec<NodeId> = program.node_ids().filter(|&node| program.node(node).func == func).collect();
        let name = program.func(func).name.to_string();
        if drawn + nodes.len() > MAX_NODES {
            left_out.push(format!("{name}: {} locations", nodes.len()));
            continue;
        }
        drawn += nodes.len();
        let open = if func == program.main { " open" } else { "" };
        let graph = automaton(program, &nodes);
        let _ = write!(out, "<details{open}><summary>{}</summary>{}</details>", escape(&name), drawing(&graph));
    }
    out + &list("Too large to be drawn", &left_out)
}

/// The locations of a function, which are in reverse post-order, with the operations that leave them.
fn automaton(program: &Program, nodes: &[NodeId]) -> Graph {
    let mut graph = Graph::default();
    let first = nodes.first().map_or(0, |node| node.index());
    for &id in nodes {
        let node = program.node(id);
        let leaving: Vec<String> = node
            .leaving
            .iter()
            .map(|&edge| {
                let edge = program.edge(edge);
                format!("{} → {}", program.display_op(&edge.op), edge.dst)
            })
            .collect();
        let line = node.leaving.first().map(|&edge| program.location(program.edge(edge).span).line);
        let line = line.map(|line| format!(" line {line}")).unwrap_or_default();
        let text: String = format!("{id}{line}: {}", leaving.join("  |  ")).chars().take(MAX_TEXT).collect();
        graph.nodes.push((text, program.loops.heads.contains(&id)));
        for &edge in &node.leaving {
            graph.edges.push((id.index() - first, program.edge(edge).dst.index() - first, false));
        }
    }
    graph
}

/// What the script shows.
fn data(program: &Program, summary: &Summary) -> Value {
    let own = || program.sources.iter().filter(|source| !source.name.starts_with('<'));
    let files: Vec<Value> = own().map(|source| json!({"name": source.name, "text": source.text})).collect();
    let steps: Vec<Value> = summary
        .violation
        .iter()
        .flat_map(|violation| &violation.steps)
        .take(MAX_STEPS)
        .map(|step| {
            let at = step.place.as_ref();
            json!({
                "file": at.map(|at| &at.file),
                "line": at.map(|at| at.line),
                "function": step.function,
                "text": step.text,
                "values": step.values,
                "matters": step.matters,
            })
        })
        .collect();
    let invariants: Vec<Value> =
        summary.invariants.iter().map(|(at, text)| json!({"file": at.file, "line": at.line, "text": text})).collect();
    json!({"files": files, "steps": steps, "invariants": invariants})
}
