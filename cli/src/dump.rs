// SPDX-License-Identifier: Apache-2.0
//! The control-flow automata as text, drawing or JSON. In the JSON, everything is numbered by its position in its list, and
//! operations are in the notation of the text.

use cfa::{MachineModel, Op, Program, Scope, Span};
use serde_json::{Value, json};

use crate::args::DumpFormat;

/// The automata of a program.
pub(crate) fn write(program: &Program, format: DumpFormat) -> String {
    match format {
        DumpFormat::Text => program.dump().trim_end().to_string(),
        DumpFormat::Dot => program.dot().trim_end().to_string(),
        DumpFormat::Json => format!("{:#}", json(program)),
    }
}

fn json(program: &Program) -> Value {
    let location = |span: Span| {
        let place = program.location(span);
        json!({ "file": place.file, "line": place.line, "column": place.column })
    };
    let scope = |scope: &Scope| match scope {
        Scope::Global => Value::Null,
        Scope::Local(function) => json!(function.index()),
    };
    let variables = program.vars.iter().map(|var| {
        let (name, ty, function) = (&*var.name, var.ty.to_string(), scope(&var.scope));
        json!({ "name": name, "type": ty, "float": var.float.is_some(), "function": function, "temporary": var.temporary })
    });
    let objects = program.objects.iter().map(|object| {
        let (name, function, region) = (&*object.name, scope(&object.scope), object.region.index());
        json!({ "name": name, "address": object.addr, "size": object.size, "function": function, "region": region })
    });
    let functions = program.funcs.iter().map(|function| {
        json!({
            "name": &*function.name,
            "parameters": function.params.iter().map(|var| var.index()).collect::<Vec<_>>(),
            "result": function.ret.map(|var| var.index()),
            "entry": function.body.map(|body| body.entry.index()),
            "exit": function.body.map(|body| body.exit.index()),
            "location": location(function.span),
        })
    });
    let nodes = program.nodes.iter().map(|node| json!({ "function": node.func.index() }));
    let edges = program.edges.iter().map(|edge| {
        json!({
            "from": edge.src.index(),
            "to": edge.dst.index(),
            "kind": kind(&edge.op),
            "operation": program.display_op(&edge.op),
            "location": location(edge.span),
        })
    });
    let loops = program.loops.loops.iter().map(|found| {
        json!({
            "head": found.head.index(),
            "nodes": found.body.iter().map(|node| node.index()).collect::<Vec<_>>(),
            "parent": found.parent.map(|parent| parent.index()),
        })
    });
    let calls = program.calls.iter().map(|(name, node, _)| json!({ "function": &**name, "node": node.index() }));
    let labels = program.labels.iter().map(|(name, node)| json!({ "label": &**name, "node": node.index() }));
    json!({
        "machine": if program.machine == MachineModel::Lp64 { "LP64" } else { "ILP32" },
        "start": program.entry.index(),
        "main": program.main.index(),
        "functions": functions.collect::<Vec<_>>(),
        "variables": variables.collect::<Vec<_>>(),
        "objects": objects.collect::<Vec<_>>(),
        "nodes": nodes.collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
        "loops": loops.collect::<Vec<_>>(),
        "calls": calls.collect::<Vec<_>>(),
        "labels": labels.collect::<Vec<_>>(),
        "assumptions": program.assumptions,
    })
}

fn kind(op: &Op) -> &'static str {
    match op {
        Op::Skip => "skip",
        Op::Assume { .. } => "assume",
        Op::Assign { .. } => "assign",
        Op::Havoc { .. } => "havoc",
        Op::Call { .. } => "call",
        Op::Load { .. } => "load",
        Op::Store { .. } => "store",
        Op::Alloc { .. } => "alloc",
        Op::Free { .. } => "free",
        Op::Zero { .. } => "zero",
        Op::Unsupported { .. } => "unsupported",
    }
}
