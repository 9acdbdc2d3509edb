// SPDX-License-Identifier: Apache-2.0
//! Loads C files or task definitions (`.yml`) and prints for each whether it loads, whether the part that is reachable
//! from the entry has unsupported edges, and how long it took. `--dump` prints the automata, `--dot` their graphs.
//! `--slice` prints what a slice for the usual errors leaves out. `--quick` only loads, to measure how long that takes.
//! `--set FILE` reads a list of task definitions, relative to the folder of the list.

use std::path::{Path, PathBuf};
use std::time::Instant;

use cfa::{FuncId, MachineModel, Op, Options, Program, Property, Source};

fn main() {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut machine = MachineModel::Ilp32;
    let (mut dump, mut dot, mut quick, mut slice) = (false, false, false, false);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--dump" => dump = true,
            "--dot" => dot = true,
            "--quick" => quick = true,
            "--slice" => slice = true,
            "--64" => machine = MachineModel::Lp64,
            "--set" => {
                let set = PathBuf::from(args.next().expect("--set needs a file"));
                let folder = set.parent().expect("a file has a folder").to_owned();
                let text = std::fs::read_to_string(&set).expect("the set is readable");
                let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
                files.extend(lines.map(|line| folder.join(line.trim())));
            }
            _ => files.push(PathBuf::from(arg)),
        }
    }
    let (mut loaded, mut clean, mut failed) = (0, 0, 0);
    let start = Instant::now();
    for file in &files {
        let (source, machine) = resolve(file, machine);
        let bytes = std::fs::read(&source).expect("the source is readable");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let sources = [Source { name: source.display().to_string(), text }];
        let begin = Instant::now();
        let result = cfa::load(&sources, &Options { machine, ..Options::default() });
        let time = begin.elapsed().as_secs_f64();
        let name = file.display();
        match result {
            Ok(_) if quick => loaded += 1,
            Ok(program) => {
                loaded += 1;
                if let Err(problem) = cfa::verify::verify(&program) {
                    println!("BROKEN {name}: {problem}");
                }
                let found = unsupported(&program);
                clean += usize::from(found.is_empty());
                let status = if found.is_empty() { "ok" } else { "unsupported" };
                let (nodes, edges, loops) = (program.nodes.len(), program.edges.len(), program.loops.loops.len());
                let first = found.first().cloned().unwrap_or_default();
                let (accesses, bytes) = accesses(&program);
                let regions = program.regions.len();
                println!(
                    "{status} {name} {time:.3}s {nodes} nodes {edges} edges {regions} regions {accesses} accesses \
                     {bytes} byte-wise {loops} loops {first}"
                );
                if slice {
                    println!("{}", sliced(&program));
                }
                if dump {
                    print!("{}", program.dump());
                }
                if dot {
                    print!("{}", program.dot());
                }
            }
            Err(error) => {
                failed += 1;
                println!("ERROR {name}: {error}");
            }
        }
    }
    let total = start.elapsed().as_secs_f64();
    println!("{loaded} loaded, {clean} without unsupported edges, {failed} failed, {total:.1}s");
}

/// What is left out by a slice, and how long it takes to find it.
fn sliced(program: &Program) -> String {
    let begin = Instant::now();
    let slice = program.slice(&program.targets(&Property::default_errors()));
    let time = begin.elapsed().as_secs_f64();
    if let Err(problem) = cfa::verify::verify(&slice.program) {
        println!("BROKEN slice: {problem}");
    }
    let loops = program.loops.loops.len() - slice.program.loops.loops.len();
    format!("  the slice leaves out {} steps, {} branches, {loops} loops, {time:.3}s", slice.steps, slice.branches)
}

/// The number of loads and stores, and of those in regions of bytes.
fn accesses(program: &Program) -> (usize, usize) {
    let regions = program.edges.iter().filter_map(|edge| match &edge.op {
        Op::Load { region, .. } | Op::Store { region, .. } => Some(program.region(*region)),
        _ => None,
    });
    let bytes = regions.clone().filter(|region| region.width.is_none()).count();
    (regions.count(), bytes)
}

/// The source file of a task definition with its data model.
fn resolve(file: &Path, machine: MachineModel) -> (PathBuf, MachineModel) {
    if file.extension().is_none_or(|e| e != "yml") {
        return (file.to_owned(), machine);
    }
    let text = std::fs::read_to_string(file).expect("the task definition is readable");
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(key)).expect("the key is there");
        line.trim().trim_matches(['\'', '"', '[', ']']).to_owned()
    };
    let machine = if value("data_model:") == "LP64" { MachineModel::Lp64 } else { MachineModel::Ilp32 };
    (file.parent().expect("a file has a folder").join(value("input_files:")), machine)
}

/// The unsupported constructs in the part that is reachable through edges and calls.
fn unsupported(program: &Program) -> Vec<String> {
    let mut seen = vec![false; program.nodes.len()];
    let mut todo = vec![program.entry];
    let mut entered: Vec<FuncId> = Vec::new();
    let mut found = Vec::new();
    while let Some(node) = todo.pop() {
        if std::mem::replace(&mut seen[node.index()], true) {
            continue;
        }
        for edge in &program.node(node).leaving {
            let edge = program.edge(*edge);
            match &edge.op {
                // Stands behind each chain of comparisons, where no pointer of a defined program leads.
                Op::Unsupported { construct }
                    if &**construct == "call through a pointer to no function of its type" => {}
                Op::Unsupported { construct } => {
                    found.push(format!("{} at {}", construct, program.location(edge.span)))
                }
                Op::Call { callee, .. } if !entered.contains(callee) => {
                    entered.push(*callee);
                    todo.push(program.func(*callee).body.expect("called functions have bodies").entry);
                }
                _ => {}
            }
            todo.push(edge.dst);
        }
    }
    found
}
