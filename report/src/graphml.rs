// SPDX-License-Identifier: Apache-2.0
//! Witnesses in the older exchange format, GraphML 1.0: an automaton that observes the program. A violation is a chain of the
//! values that functions return; a proof has a state for each loop with an invariant.

use std::fmt::Write;

use cfa::{MachineModel, Program, Property, Span, floats};
use cpa_core::{Counterexample, Invariants};

use crate::graph::escape;
use crate::inputs::inputs;
use crate::witness::{Metadata, loop_invariants, target};

/// The keys: name, type and what they belong to.
const KEYS: [(&str, &str, &str); 18] = [
    ("witness-type", "string", "graph"),
    ("sourcecodelang", "string", "graph"),
    ("producer", "string", "graph"),
    ("specification", "string", "graph"),
    ("programfile", "string", "graph"),
    ("programhash", "string", "graph"),
    ("architecture", "string", "graph"),
    ("creationtime", "string", "graph"),
    ("entry", "boolean", "node"),
    ("violation", "boolean", "node"),
    ("invariant", "string", "node"),
    ("invariant.scope", "string", "node"),
    ("startline", "int", "edge"),
    ("endline", "int", "edge"),
    ("startoffset", "int", "edge"),
    ("enterLoopHead", "boolean", "edge"),
    ("assumption", "string", "edge"),
    ("assumption.resultfunction", "string", "edge"),
];

/// A correctness witness.
pub fn correctness(program: &Program, invariants: &Invariants, metadata: &Metadata) -> String {
    let mut body = String::from("<node id=\"N0\"><data key=\"entry\">true</data></node>\n");
    for (at, known) in loop_invariants(program, invariants).iter().enumerate() {
        let scope = &program.func(program.node(known.node).func).name;
        let _ = writeln!(
            body,
            "<node id=\"N{}\"><data key=\"invariant\">{}</data><data key=\"invariant.scope\">{scope}</data></node>",
            at + 1,
            escape(&known.text)
        );
        let more = "<data key=\"enterLoopHead\">true</data>";
        edge(&mut body, program, (at, at + 1), known.place, more);
    }
    document("correctness_witness", program, metadata, &body)
}

/// A violation witness; none if it is not known where the run ends.
pub fn violation(
    program: &Program,
    property: &Property,
    counterexample: &Counterexample,
    metadata: &Metadata,
) -> Option<String> {
    let (_, end) = target(program, property, counterexample)?;
    let mut body = String::from("<node id=\"N0\"><data key=\"entry\">true</data></node>\n");
    let mut last = 0;
    for input in inputs(program, counterexample) {
        let Some(function) = input.called(program) else { continue };
        let value = match program.var(input.var).float {
            None => input.value.to_string(),
            Some(format) => floats::decimal(format, input.value),
        };
        let more = format!(
            "<data key=\"assumption\">\\result == {value};</data><data key=\"assumption.resultfunction\">{}</data>",
            escape(function)
        );
        let _ = writeln!(body, "<node id=\"N{}\"/>", last + 1);
        edge(&mut body, program, (last, last + 1), program.edge(input.edge).span, &more);
        last += 1;
    }
    let _ = writeln!(body, "<node id=\"N{}\"><data key=\"violation\">true</data></node>", last + 1);
    edge(&mut body, program, (last, last + 1), end, "");
    Some(document("violation_witness", program, metadata, &body))
}

fn edge(body: &mut String, program: &Program, (from, to): (usize, usize), span: Span, more: &str) {
    let line = program.location(span).line;
    let _ = writeln!(
        body,
        "<edge source=\"N{from}\" target=\"N{to}\"><data key=\"startline\">{line}</data><data key=\"endline\">{line}</data>\
         <data key=\"startoffset\">{}</data>{more}</edge>",
        span.start
    );
}

fn document(kind: &str, program: &Program, metadata: &Metadata, body: &str) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    for (name, ty, of) in KEYS {
        let _ = writeln!(text, "<key id=\"{name}\" attr.name=\"{name}\" attr.type=\"{ty}\" for=\"{of}\"/>");
    }
    let architecture = if program.machine == MachineModel::Lp64 { "64bit" } else { "32bit" };
    let (file, hash) = metadata.files.first().map_or(("", ""), |(file, hash)| (file, hash));
    text.push_str("<graph edgedefault=\"directed\">\n");
    for (key, value) in [
        ("witness-type", kind),
        ("sourcecodelang", "C"),
        ("producer", &format!("cpa-verify {}", metadata.producer)),
        ("specification", metadata.specification.trim()),
        ("programfile", file),
        ("programhash", hash),
        ("architecture", architecture),
        ("creationtime", &metadata.created),
    ] {
        let _ = writeln!(text, "<data key=\"{key}\">{}</data>", escape(value));
    }
    text + body + "</graph>\n</graphml>\n"
}
