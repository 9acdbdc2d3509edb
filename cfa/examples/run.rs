// SPDX-License-Identifier: Apache-2.0
//! Runs programs concretely with pseudo-random inputs, to compare the automaton with a compiled program.
//!
//! `run [--64] FILE SEED..` prints for each seed how the run ends, the number of inputs, a hash of them, and the value
//! of the global variable `observed` if there is one. Uninitialised variables are 0.

use cfa::{ExprId, HavocOrigin, MachineModel, NodeId, Op, Options, Program, Scope, Source, VarId};

fn main() {
    let mut machine = MachineModel::Ilp32;
    let mut rest = Vec::new();
    for arg in std::env::args().skip(1) {
        if arg == "--64" { machine = MachineModel::Lp64 } else { rest.push(arg) }
    }
    let text = String::from_utf8_lossy(&std::fs::read(&rest[0]).expect("the file is readable")).into_owned();
    let sources = [Source { name: rest[0].clone(), text }];
    let program = match cfa::load(&sources, &Options { machine, entry: "main".into() }) {
        Ok(program) => program,
        Err(error) => {
            println!("LOADERROR {error}");
            return;
        }
    };
    for seed in &rest[1..] {
        println!("{}", Run::new(&program, seed.parse().expect("seeds are numbers")).run());
    }
}

struct Frame {
    values: std::collections::HashMap<VarId, i128>,
    back: NodeId,
    result: Option<VarId>,
}

struct Run<'p> {
    program: &'p Program,
    state: u64,
    hash: u64,
    count: u64,
    globals: Vec<i128>,
    frames: Vec<Frame>,
}

impl<'p> Run<'p> {
    fn new(program: &'p Program, seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
        for _ in 0..3 {
            state = step(state);
        }
        let frame = Frame { values: Default::default(), back: program.entry, result: None };
        Run { program, state, hash: 0, count: 0, globals: vec![0; program.vars.len()], frames: vec![frame] }
    }

    fn next(&mut self) -> u64 {
        self.state = step(self.state);
        let r = self.state;
        let value = match r >> 60 {
            0..7 => ((r >> 8) & 15).wrapping_sub(3),
            7..11 => (r >> 8) & 0xff,
            11 => 0u64.wrapping_sub((r >> 8) & 0xffff),
            _ => r >> 3,
        };
        self.count += 1;
        self.hash = self.hash.wrapping_mul(31).wrapping_add(value);
        value
    }

    fn get(&self, var: VarId) -> i128 {
        match self.program.var(var).scope {
            Scope::Global => self.globals[var.index()],
            Scope::Local(_) => self.frames.last().expect("a frame").values.get(&var).copied().unwrap_or(0),
        }
    }

    fn set(&mut self, var: VarId, value: i128) {
        match self.program.var(var).scope {
            Scope::Global => self.globals[var.index()] = value,
            Scope::Local(_) => {
                self.frames.last_mut().expect("a frame").values.insert(var, value);
            }
        }
    }

    fn eval(&self, expr: ExprId) -> Result<i128, cfa::Undefined> {
        cfa::eval(&self.program.exprs, expr, &mut |var| self.get(var))
    }

    fn run(mut self) -> String {
        let end = match self.execute() {
            Ok(end) => end,
            Err(undefined) => format!("UNDEFINED({undefined})"),
        };
        let observed = self.program.vars.iter().position(|v| &*v.name == "observed");
        let observed = observed.map_or(0, |at| self.globals[at]) as u64;
        format!("{end} {:016x} {:016x} {observed:016x}", self.count, self.hash)
    }

    fn execute(&mut self) -> Result<String, cfa::Undefined> {
        let program = self.program;
        let mut node = program.entry;
        for _ in 0..2_000_000 {
            let leaving = &program.node(node).leaving;
            let Some(first) = leaving.first() else {
                let body = program.func(program.node(node).func).body.expect("nodes are in bodies");
                if node != body.exit {
                    let site = program.calls.iter().find(|(_, at, _)| *at == node);
                    return Ok(match site.map(|(name, ..)| &**name) {
                        Some("abort") => "ABORT",
                        Some("exit" | "_exit") => "EXIT",
                        Some("reach_error" | "__assert_fail" | "__VERIFIER_error") => "ERROR",
                        _ => "ASSUME",
                    }
                    .to_owned());
                }
                let frame = self.frames.pop().expect("a frame");
                if self.frames.is_empty() {
                    return Ok("RETURN".into());
                }
                let ret = program.func(program.node(node).func).ret;
                if let (Some(result), Some(ret)) = (frame.result, ret) {
                    let value = frame.values.get(&ret).copied().unwrap_or(0);
                    self.set(result, value);
                }
                node = frame.back;
                continue;
            };
            let mut edge = program.edge(*first);
            if let Op::Assume { cond, .. } = &edge.op {
                if self.eval(*cond)? == 0 {
                    edge = program.edge(leaving[1]);
                }
                node = edge.dst;
                continue;
            }
            match &edge.op {
                Op::Skip | Op::Assume { .. } => {}
                Op::Assign { var, value } => {
                    let value = self.eval(*value)?;
                    self.set(*var, value);
                }
                Op::Havoc { var, origin } => {
                    let value = match origin {
                        HavocOrigin::Nondet { function } => {
                            if self.count >= 20_000 {
                                return Ok("LIMIT".into());
                            }
                            let value = self.next();
                            if function.ends_with("ool") { value & 1 } else { value }
                        }
                        HavocOrigin::Uninitialised | HavocOrigin::Unmodelled { .. } => 0,
                    };
                    self.set(*var, program.var(*var).ty.wrap(i128::from(value)));
                }
                Op::Call { callee, args, result } => {
                    let function = program.func(*callee);
                    let mut values = std::collections::HashMap::new();
                    for (param, arg) in function.params.iter().zip(args) {
                        values.insert(*param, self.eval(*arg)?);
                    }
                    self.frames.push(Frame { values, back: edge.dst, result: *result });
                    node = function.body.expect("called functions have bodies").entry;
                    continue;
                }
                Op::Load { .. } | Op::Store { .. } | Op::Alloc { .. } | Op::Free { .. } | Op::Zero { .. } => {
                    return Ok("UNSUPPORTED(memory)".into());
                }
                Op::Unsupported { construct } => return Ok(format!("UNSUPPORTED({construct})")),
            }
            node = edge.dst;
        }
        Ok("STEPS".into())
    }
}

fn step(state: u64) -> u64 {
    let a = state ^ (state << 13);
    let b = a ^ (a >> 7);
    b ^ (b << 17)
}
