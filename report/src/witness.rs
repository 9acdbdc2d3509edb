// SPDX-License-Identifier: Apache-2.0
//! Witnesses in the exchange format of the competition on software verification, versions 2.0 and 2.1: invariants of loops
//! for a proof, a sequence of waypoints for a violation.
//!
//! Invariants of `for` and `while` stand at their keyword, those of `do` at the first statement of the body, where they
//! hold too. Heads of loops made by `goto` have no place in the format and are left out. A violation is told by the values
//! that functions return, in their order, and the place of the error; that determines the run up to uninitialised
//! variables.

use std::fmt::Write;

use cfa::ir::Span;
use cfa::names::LoopKind;
use cfa::{FloatTy, MachineModel, NodeId, Program, Property, floats};
use cpa_core::{Counterexample, Invariants};

use crate::cexpr::invariant;
use crate::inputs::inputs;
use crate::sha256::{digest, hex};
use crate::text::quoted;

/// More values of functions than this are not listed.
const MAX_WAYPOINTS: usize = 1_000_000;

/// A version of the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// 2.0.
    V2_0,
    /// 2.1.
    V2_1,
}

impl Version {
    fn name(self) -> &'static str {
        match self {
            Version::V2_0 => "2.0",
            Version::V2_1 => "2.1",
        }
    }
}

/// Whom a witness comes from and what it is about.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// The version of the format.
    pub version: Version,
    /// The version of the producer.
    pub producer: String,
    /// The configuration that the producer used.
    pub configuration: String,
    /// When it was made, in ISO 8601 with zone.
    pub created: String,
    /// The input files with their contents' SHA-256.
    pub files: Vec<(String, String)>,
    /// The property, as in a property file.
    pub specification: String,
}

/// A correctness witness.
pub fn correctness(program: &Program, invariants: &Invariants, metadata: &Metadata) -> String {
    let mut content = String::new();
    for known in loop_invariants(program, invariants) {
        let kind = if known.at_loop { "loop_invariant" } else { "location_invariant" };
        let _ = writeln!(content, "  - invariant:\n      type: {kind}");
        let _ = writeln!(content, "      location: {}", location(program, known.place, known.node));
        let _ = writeln!(content, "      value: {}\n      format: c_expression", quoted(&known.text));
    }
    entry("invariant_set", program, metadata, &content)
}

/// An invariant of a loop as C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopInvariant {
    /// The head of the loop.
    pub node: NodeId,
    /// Where it holds.
    pub place: Span,
    /// Whether that is the keyword of the loop, not a statement.
    pub at_loop: bool,
    /// The expression.
    pub text: String,
}

/// What can be said about the loops of the program, in their order in the text.
pub fn loop_invariants(program: &Program, invariants: &Invariants) -> Vec<LoopInvariant> {
    let mut found = Vec::new();
    let heads: Vec<NodeId> = invariants.locations().collect();
    for statement in program.loop_statements.iter().filter(|statement| heads.contains(&statement.head)) {
        let at_loop = statement.kind == LoopKind::Before;
        if !at_loop && !statement.block {
            continue;
        }
        // In front of the body exactly the names are visible that are at the head.
        let names = program.names_at(statement.body.file, statement.body.start);
        if let Some(text) = invariant(program, invariants, statement.head, &names) {
            let place = if at_loop { statement.span } else { statement.body };
            found.push(LoopInvariant { node: statement.head, place, at_loop, text });
        }
    }
    found.sort_by_key(|known| (known.place.file, known.place.start));
    found
}

/// A violation witness; none if no place in the text stands for where the run ends.
pub fn violation(
    program: &Program,
    property: &Property,
    counterexample: &Counterexample,
    metadata: &Metadata,
) -> Option<String> {
    let (node, end) = target(program, property, counterexample)?;
    let mut content = String::new();
    for input in inputs(program, counterexample).iter().take(MAX_WAYPOINTS) {
        if input.called(program).is_none() {
            continue;
        }
        let edge = program.edge(input.edge);
        let var = program.var(input.var);
        let value = match var.float {
            // Numbers are mathematical ones in these expressions.
            None => input.value.to_string(),
            Some(format) => match floats::hexadecimal(format, input.value) {
                text if text.contains("nan") || text.contains("inf") => continue,
                text if format == FloatTy::F32 => format!("{text}f"),
                text => text,
            },
        };
        let call = Span { start: edge.span.end.saturating_sub(1), ..edge.span };
        if program.text(call) != ")" {
            continue;
        }
        let _ = writeln!(
            content,
            "  - segment:\n      - waypoint:\n          type: function_return\n          action: follow"
        );
        let _ = writeln!(content, "          location: {}", location(program, call, edge.src));
        let value = quoted(&format!("\\result == {value}"));
        let _ = writeln!(content, "          constraint: {{value: {value}, format: acsl_expression}}");
    }
    let _ = writeln!(content, "  - segment:\n      - waypoint:\n          type: target\n          action: follow");
    let _ = writeln!(content, "          location: {}", location(program, end, node));
    Some(entry("violation_sequence", program, metadata, &content))
}

/// Where a run violates the property.
pub fn target(program: &Program, property: &Property, counterexample: &Counterexample) -> Option<(NodeId, Span)> {
    let node = counterexample.end(program);
    let violates = |name: &str| property.calls.iter().any(|call| call == name);
    let call = program.calls.iter().find(|(name, at, _)| *at == node && violates(name));
    let behind = || program.node(node).leaving.first().map(|&edge| program.edge(edge).span);
    let before = || counterexample.steps.last().map(|step| program.edge(step.edge()).span);
    let span = call.map(|(_, _, span)| *span).or_else(behind).or_else(before)?;
    Some((node, span))
}

fn location(program: &Program, span: Span, node: NodeId) -> String {
    let place = program.location(span);
    let function = &program.func(program.node(node).func).name;
    format!(
        "{{file_name: {}, line: {}, column: {}, function: {function}}}",
        quoted(&place.file),
        place.line,
        place.column
    )
}

fn entry(kind: &str, program: &Program, metadata: &Metadata, content: &str) -> String {
    let Metadata { version, producer, configuration, created, files, specification } = metadata;
    let mut text = format!("- entry_type: {kind}\n  metadata:\n    format_version: \"{}\"\n", version.name());
    let _ = writeln!(text, "    uuid: \"{}\"", uuid(&format!("{kind} {created} {files:?} {content}")));
    let _ = writeln!(text, "    creation_time: \"{created}\"");
    let _ = writeln!(
        text,
        "    producer: {{name: \"cpa-verify\", version: {}, configuration: {}}}",
        quoted(producer),
        quoted(configuration)
    );
    text.push_str("    task:\n      input_files:\n");
    for (name, _) in files {
        let _ = writeln!(text, "        - {}", quoted(name));
    }
    text.push_str("      input_file_hashes:\n");
    for (name, hash) in files {
        let _ = writeln!(text, "        {}: \"{hash}\"", quoted(name));
    }
    let model = match program.machine {
        MachineModel::Ilp32 => "ILP32",
        MachineModel::Lp64 => "LP64",
    };
    let _ = writeln!(text, "      specification: {}", quoted(specification.trim()));
    let _ = writeln!(text, "      data_model: {model}\n      language: C");
    if content.is_empty() {
        text.push_str("  content: []\n");
    } else {
        let _ = write!(text, "  content:\n{content}");
    }
    text
}

/// An identifier in the form of RFC 4122, made from the contents.
fn uuid(contents: &str) -> String {
    let mut bytes = digest(contents.as_bytes());
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex(&bytes[..16]);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}
