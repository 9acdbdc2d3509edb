// SPDX-License-Identifier: Apache-2.0
//! Runs programs concretely with pseudo-random inputs, to compare the automaton with a compiled program.
//!
//! `run [--64] [--overflows] FILE SEED..` prints for each seed how the run ends, the number of inputs, a hash of them, and the value
//! of the global variable `observed` if there is one. Uninitialised storage is 0. With `--overflows` the number of steps before the
//! first signed overflow comes in front of the value, or `-`. `run --plain [--64] FILE` runs the program
//! once and stops where it needs an input or the value of uninitialised storage; the only error is a call of `reach_error`.

use std::collections::BTreeSet;
use std::rc::Rc;

use cfa::machine::{Asked, Code, End, Inputs, Machine, NoInputs, Setup, Storage};
use cfa::{HavocOrigin, IntTy, MachineModel, NodeId, Op, Options, Program, Property, Source, VarId};

/// Jumps backwards and calls before a run is given up.
const FUEL: u64 = 1 << 32;

fn main() {
    let mut machine = MachineModel::Ilp32;
    let (mut plain, mut overflows) = (false, false);
    let mut rest = Vec::new();
    for arg in std::env::args().skip(1) {
        match arg.as_str() {
            "--64" => machine = MachineModel::Lp64,
            "--plain" => plain = true,
            "--overflows" => overflows = true,
            _ => rest.push(arg),
        }
    }
    let text = String::from_utf8_lossy(&std::fs::read(&rest[0]).expect("the file is readable")).into_owned();
    let sources = [Source { name: rest[0].clone(), text }];
    let program = match cfa::load(&sources, &Options { machine, ..Options::default() }) {
        Ok(program) => program,
        Err(error) => {
            println!("LOADERROR {error}");
            return;
        }
    };
    let property = match plain {
        true => Property::parse("CHECK( init(main()), LTL(G ! call(reach_error())) )").expect("it is a property"),
        false => Property::default_errors(),
    };
    let targets = program.targets(&property);
    let storage = if plain { Storage::Untouchable } else { Storage::Inputs };
    let setup = Setup { steps: overflows, overflows, ..Setup::new(&targets, storage) };
    let code = match Code::new(&program, &setup) {
        Ok(code) => code,
        Err(error) => {
            println!("TOOLARGE {error}");
            return;
        }
    };
    let mut machine = Machine::new(Rc::new(code), 1 << 30);
    machine.limit_steps(0);
    if plain {
        println!("{}", describe(&program, &targets, machine.run(&mut NoInputs, FUEL)));
        return;
    }
    for seed in &rest[1..] {
        machine.reset();
        let mut random = Random::new(&program, seed.parse().expect("seeds are numbers"));
        let end = describe(&program, &targets, machine.run(&mut random, FUEL));
        let observed = program.vars.iter().position(|v| &*v.name == "observed");
        let observed = observed.and_then(|at| machine.variable(&program, VarId::new(at))).unwrap_or(0) as u64;
        let first = machine.overflow().map_or("-".to_owned(), |first| first.step.to_string());
        let first = if overflows { format!("{first} ") } else { String::new() };
        println!("{end} {:016x} {:016x} {first}{observed:016x}", random.count, random.hash);
    }
}

fn describe(program: &Program, targets: &BTreeSet<NodeId>, end: Option<End>) -> String {
    let place = |edge: cfa::EdgeId| program.location(program.edge(edge).span);
    match end {
        None => "STEPS".into(),
        Some(End::Target(node)) => {
            debug_assert!(targets.contains(&node));
            "ERROR".into()
        }
        Some(End::Returned) => "RETURN".into(),
        Some(End::Halted(node)) => {
            let site = program.calls.iter().find(|(_, at, _)| *at == node);
            match site.map(|(name, ..)| &**name) {
                Some("abort") => "ABORT",
                Some("exit" | "_exit") => "EXIT",
                _ => "ASSUME",
            }
            .into()
        }
        Some(End::Diverges) => "DIVERGES".into(),
        Some(End::NeedsInput(_)) => "LIMIT".into(),
        Some(End::NeedsValue(edge, var)) => {
            format!("NOVALUE({} {})", place(edge), var.map_or("", |var| &*program.var(var).name))
        }
        Some(End::Undefined(edge, fault)) => format!("UNDEFINED({}: {fault})", place(edge)),
        Some(End::Unsupported(edge)) => {
            format!("UNSUPPORTED({}: {})", place(edge), program.display_op(&program.edge(edge).op))
        }
        Some(End::Exhausted(edge, what)) => format!("EXHAUSTED({}: {what})", place(edge)),
    }
}

/// Mostly small numbers, the same ones as the compiled program gets.
struct Random<'p> {
    program: &'p Program,
    state: u64,
    hash: u64,
    count: u64,
}

impl<'p> Random<'p> {
    fn new(program: &'p Program, seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
        for _ in 0..3 {
            state = step(state);
        }
        Random { program, state, hash: 0, count: 0 }
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
}

impl Inputs for Random<'_> {
    fn value(&mut self, asked: Asked, _ty: IntTy) -> Option<i128> {
        match &self.program.edge(asked.edge).op {
            Op::Havoc { origin: HavocOrigin::Nondet { function }, .. } => {
                if self.count >= 20_000 {
                    return None;
                }
                let value = self.next();
                Some(i128::from(if function.ends_with("ool") { value & 1 } else { value }))
            }
            _ => Some(0),
        }
    }

    fn byte(&mut self, _asked: Asked, _addr: u64) -> Option<u8> {
        Some(0)
    }
}

fn step(state: u64) -> u64 {
    let a = state ^ (state << 13);
    let b = a ^ (a >> 7);
    b ^ (b << 17)
}
