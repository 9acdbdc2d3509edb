// SPDX-License-Identifier: Apache-2.0
//! The way to the error, step by step with values, and which of the steps matter.
//!
//! The values are computed along the run of a counterexample that was replayed before. A step matters if the values in the
//! last branch depend on it, found by a dynamic backward slice over variables and bytes of memory (Korel, Laski, 1988); of the
//! branches that guard such a step the nearest one is taken in, so the choice is a help for readers and not an explanation
//! that is complete.

use std::collections::{BTreeMap, BTreeSet};

use cfa::ir::{HavocOrigin, Scope};
use cfa::location::Location;
use cfa::{EdgeId, ExprId, IntTy, Op, Program, Property, VarId, floats};
use cpa_core::{Counterexample, Step};

use crate::inputs::inputs;
use crate::witness::target;

/// Objects larger than this are not followed byte by byte.
const MAX_BYTES: i128 = 1 << 16;

/// What happens in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A branch is taken.
    Branch,
    /// A value is written.
    Write,
    /// The program gets an input.
    Input,
    /// A function is called.
    Call,
    /// A function returns.
    Return,
    /// The error.
    Error,
    /// Anything else.
    Other,
}

impl Kind {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Branch => "branch",
            Kind::Write => "write",
            Kind::Input => "input",
            Kind::Call => "call",
            Kind::Return => "return",
            Kind::Error => "error",
            Kind::Other => "other",
        }
    }
}

/// A step as people read it.
#[derive(Clone, Debug)]
pub struct PathStep {
    /// Where it is; none for what has no place in the user's files.
    pub place: Option<Location>,
    /// The function.
    pub function: String,
    /// What happens.
    pub kind: Kind,
    /// What happens, in words of C.
    pub text: String,
    /// Names and values: those read by a branch or call, that written otherwise.
    pub values: Vec<(String, String)>,
    /// Whether the error depends on it.
    pub matters: bool,
    /// The edge; none for the error itself.
    edge: Option<EdgeId>,
}

/// A variable or a byte of memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Slot {
    Var(VarId),
    Byte(u64),
}

/// All steps of the run that are listed, the error last.
pub fn steps(program: &Program, property: &Property, run: &Counterexample) -> Vec<PathStep> {
    let mut walk = Walk::new(program, run);
    let mut found = Vec::new();
    let mut flow = Vec::new();
    for (index, &step) in run.steps.iter().enumerate() {
        let (step, defined, used) = walk.step(index, step);
        found.push(step);
        flow.push((defined, used, walk.depth));
    }
    mark(&mut found, &flow);
    if let Some((node, span)) = target(program, property, run) {
        found.push(PathStep {
            place: place(program, span),
            function: program.func(program.node(node).func).name.to_string(),
            kind: Kind::Error,
            text: "the error is reached".to_string(),
            values: Vec::new(),
            matters: true,
            edge: None,
        });
    }
    found
}

/// The steps that matter, as lines; what is repeated many times is shown at its beginning and its end.
pub fn lines(steps: &[PathStep], all: bool) -> Vec<String> {
    let shown: Vec<&PathStep> = steps.iter().filter(|step| all || step.matters).collect();
    let mut counts: BTreeMap<Option<EdgeId>, usize> = BTreeMap::new();
    for step in &shown {
        *counts.entry(step.edge).or_default() += 1;
    }
    let mut seen: BTreeMap<Option<EdgeId>, usize> = BTreeMap::new();
    let mut lines: Vec<String> = Vec::new();
    let mut left_out = 0;
    for step in &shown {
        let count = counts[&step.edge];
        let number = seen.entry(step.edge).or_default();
        *number += 1;
        if !all && count > 4 && *number > 2 && *number < count {
            left_out += 1;
            continue;
        }
        if left_out > 0 {
            lines.push(format!("... ({left_out} repeated steps)"));
            left_out = 0;
        }
        let place = step.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        let values: Vec<String> = step.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let values = if values.is_empty() { String::new() } else { format!("   ({})", values.join(", ")) };
        lines.push(format!("{place}{}{values}", step.text));
    }
    lines
}

fn place(program: &Program, span: cfa::Span) -> Option<Location> {
    let place = program.location(span);
    (!place.file.starts_with('<')).then_some(place)
}

/// Marks what the last branch depends on, backwards.
fn mark(steps: &mut [PathStep], flow: &[(Vec<Slot>, Vec<Slot>, usize)]) {
    let Some(last) = steps.iter().rposition(|step| step.kind == Kind::Branch) else {
        steps.iter_mut().for_each(|step| step.matters |= matches!(step.kind, Kind::Input | Kind::Call));
        return;
    };
    let mut needed: BTreeSet<Slot> = flow[last].1.iter().copied().collect();
    steps[last].matters = true;
    // The depths of calls at which the guard of a step is looked for.
    let mut guards: BTreeSet<usize> = BTreeSet::new();
    for at in (0..last).rev() {
        let (defined, used, depth) = &flow[at];
        let guard = steps[at].kind == Kind::Branch && guards.remove(depth);
        if guard || defined.iter().any(|slot| needed.contains(slot)) {
            steps[at].matters = true;
            defined.iter().for_each(|slot| {
                needed.remove(slot);
            });
            needed.extend(used);
            if !guard {
                guards.insert(*depth);
            }
        }
    }
}

/// The run, with the values of everything.
struct Walk<'a> {
    program: &'a Program,
    run: &'a Counterexample,
    /// The values of inputs as the program sees them, by step.
    inputs: BTreeMap<usize, i128>,
    vars: BTreeMap<VarId, i128>,
    bytes: BTreeMap<u64, u8>,
    /// Where the next object begins.
    next: u64,
    /// Variables of outer activations of recursive functions.
    saved: Vec<Vec<(VarId, i128)>>,
    depth: usize,
    /// What temporary variables stand for in the source, the longest names first.
    meanings: BTreeMap<std::cmp::Reverse<String>, String>,
}

impl<'a> Walk<'a> {
    fn new(program: &'a Program, run: &'a Counterexample) -> Self {
        let inputs = inputs(program, run).iter().filter_map(|input| Some((input.step?, input.value))).collect();
        let bytes = run.memory.clone();
        let next = program.heap_start();
        Self {
            program,
            run,
            inputs,
            vars: BTreeMap::new(),
            bytes,
            next,
            saved: Vec::new(),
            depth: 0,
            meanings: BTreeMap::new(),
        }
    }

    fn eval(&self, expr: ExprId) -> i128 {
        let mut value = |var| self.vars.get(&var).copied().unwrap_or(0);
        // The replay has found nothing undefined.
        cfa::eval(&self.program.exprs, expr, &mut value).unwrap_or(0)
    }

    fn given(&self, index: usize) -> Option<i128> {
        let at = self.run.inputs.binary_search_by_key(&index, |&(step, _)| step).ok()?;
        Some(self.run.inputs[at].1)
    }

    fn shown(&self, var: VarId, value: i128) -> Option<(String, String)> {
        let data = self.program.var(var);
        let value = match data.float {
            Some(format) => floats::decimal(format, value),
            None => value.to_string(),
        };
        (!data.temporary).then(|| (short(&data.name).to_string(), value))
    }

    fn read(&self, exprs: &[ExprId]) -> Vec<(String, String)> {
        let vars: BTreeSet<VarId> = exprs.iter().flat_map(|&expr| self.program.exprs.vars(expr)).collect();
        vars.into_iter().filter_map(|var| self.shown(var, *self.vars.get(&var)?)).collect()
    }

    fn uses(&self, exprs: &[ExprId]) -> Vec<Slot> {
        exprs.iter().flat_map(|&expr| self.program.exprs.vars(expr)).map(Slot::Var).collect()
    }

    /// Executes a step. Answers what it writes and what it reads.
    fn step(&mut self, index: usize, step: Step) -> (PathStep, Vec<Slot>, Vec<Slot>) {
        let program = self.program;
        let edge = program.edge(step.edge());
        let function = &program.func(program.node(edge.src).func).name;
        let mut shown = PathStep {
            place: place(program, edge.span),
            function: function.to_string(),
            kind: Kind::Other,
            text: program.display_op(&edge.op),
            values: Vec::new(),
            matters: false,
            edge: Some(step.edge()),
        };
        let (mut defined, mut used) = (Vec::new(), Vec::new());
        match (step, &edge.op) {
            (Step::Edge(_), Op::Assume { cond, truth }) => {
                shown.kind = Kind::Branch;
                shown.text = format!("[{}]", self.plain(&program.display_cond(*cond, *truth), function));
                shown.values = self.read(&[*cond]);
                used = self.uses(&[*cond]);
            }
            (Step::Edge(_), Op::Assign { var, value }) => {
                used = self.uses(&[*value]);
                let (read, result) = (self.read(&[*value]), self.eval(*value));
                self.write(*var, result, &mut shown, &mut defined);
                shown.text = self.plain(&shown.text, function);
                if program.func(program.node(edge.src).func).ret == Some(*var) {
                    shown.text = format!("return {}", self.plain(&program.display_expr(*value), function));
                    shown.values = read;
                }
                if shown.values.iter().all(|(name, value)| shown.text == format!("{name} = {value}")) {
                    shown.values.clear();
                }
            }
            (Step::Edge(_), Op::Havoc { var, origin }) => {
                let value = self.given(index).unwrap_or(0);
                self.write(*var, value, &mut shown, &mut defined);
                let seen = self.inputs.get(&index).copied().unwrap_or(value);
                if let HavocOrigin::Nondet { function } = origin {
                    shown.kind = Kind::Input;
                    let value = program.var(*var).float.map_or(seen.to_string(), |ty| floats::decimal(ty, seen));
                    self.mean(*var, format!("{function}()"));
                    shown.text = format!("{function}() returns {value}");
                    shown.values.clear();
                } else {
                    let name = short(&program.var(*var).name);
                    shown.text = match origin.unmodelled() {
                        Some(what) => format!("{name} is any {what}"),
                        None => format!("{name} is not initialised"),
                    };
                }
            }
            (Step::Edge(_), Op::Load { var, addr, .. }) => {
                used = self.uses(&[*addr]);
                let (at, ty) = (self.eval(*addr) as u64, program.var(*var).ty);
                used.extend((0..u64::from(ty.bits / 8)).map(|byte| Slot::Byte(at + byte)));
                let value = self.load(at, ty);
                self.write(*var, value, &mut shown, &mut defined);
                let text = one_line(program.text(edge.span));
                shown.text = format!("reads {text} = {value}");
                self.mean(*var, text);
            }
            (Step::Edge(_), Op::Store { addr, value, .. }) => {
                used = self.uses(&[*addr, *value]);
                let ty = program.exprs.ty(*value);
                let (at, value) = (self.eval(*addr) as u64, self.eval(*value));
                for byte in 0..u64::from(ty.bits / 8) {
                    self.bytes.insert(at + byte, (value >> (8 * byte)) as u8);
                    defined.push(Slot::Byte(at + byte));
                }
                shown.kind = Kind::Write;
                shown.text = one_line(program.text(edge.span));
                shown.values = vec![("value".to_string(), value.to_string())];
            }
            (Step::Edge(_), Op::Zero { addr, size, .. }) => {
                let (at, size) = (self.eval(*addr) as u64, self.eval(*size));
                if size <= MAX_BYTES {
                    (at..at + size as u64).for_each(|byte| {
                        self.bytes.insert(byte, 0);
                    });
                }
            }
            (Step::Edge(_), Op::Alloc { var, size, .. }) => {
                let size = self.eval(*size).max(1) as u64;
                let addr = self.given(index).unwrap_or(i128::from(self.next));
                self.next = (addr as u64 + size + 16).next_multiple_of(16);
                self.write(*var, addr, &mut shown, &mut defined);
                shown.text = one_line(program.text(edge.span));
            }
            (Step::Enter(_), Op::Call { callee, args, .. }) => {
                used = self.uses(args);
                let values: Vec<i128> = args.iter().map(|&arg| self.eval(arg)).collect();
                let own = |var: &VarId| program.var(*var).scope == Scope::Local(*callee);
                self.saved
                    .push(self.vars.iter().filter(|(var, _)| own(var)).map(|(&var, &value)| (var, value)).collect());
                self.depth += 1;
                let callee = program.func(*callee);
                shown.kind = Kind::Call;
                shown.text = format!("{}() is called", callee.name);
                for (&param, value) in callee.params.iter().zip(values) {
                    self.vars.insert(param, value);
                    defined.push(Slot::Var(param));
                    shown.values.extend(self.shown(param, value));
                }
            }
            (Step::Leave(_), Op::Call { callee, result, .. }) => {
                let ret = program.func(*callee).ret;
                let value = ret.and_then(|ret| self.vars.get(&ret).copied()).unwrap_or(0);
                self.depth = self.depth.saturating_sub(1);
                self.vars.extend(self.saved.pop().unwrap_or_default());
                shown.kind = Kind::Return;
                shown.text = format!("{}() returns", program.func(*callee).name);
                if let (Some(result), Some(ret)) = (result, ret) {
                    self.vars.insert(*result, value);
                    defined.push(Slot::Var(*result));
                    used.push(Slot::Var(ret));
                    shown.text = format!("{} {value}", shown.text);
                }
            }
            _ => shown.text = one_line(program.text(edge.span)),
        }
        (shown, defined, used)
    }

    /// Notes what a temporary variable stands for.
    fn mean(&mut self, var: VarId, text: String) {
        let data = self.program.var(var);
        if data.temporary {
            self.meanings.insert(std::cmp::Reverse(short(&data.name).to_string()), text);
        }
    }

    /// A text with the names of a function's variables as they are in the source.
    fn plain(&self, text: &str, function: &str) -> String {
        let mut text = text.replace(&format!("{function}::"), "");
        if text.contains("__tmp") {
            for (name, meaning) in &self.meanings {
                text = text.replace(&name.0, meaning);
            }
        }
        text
    }

    fn write(&mut self, var: VarId, value: i128, shown: &mut PathStep, defined: &mut Vec<Slot>) {
        self.vars.insert(var, value);
        defined.push(Slot::Var(var));
        shown.kind = Kind::Write;
        shown.values = self.shown(var, value).into_iter().collect();
    }

    fn load(&self, at: u64, ty: IntTy) -> i128 {
        let byte = |offset: u64| i128::from(self.bytes.get(&(at + offset)).copied().unwrap_or(0));
        let bits = (0..u64::from(ty.bits / 8)).map(|offset| byte(offset) << (8 * offset)).sum();
        ty.wrap(bits)
    }
}

/// A name without its function and number.
fn short(name: &str) -> &str {
    let own = name.rsplit("::").next().unwrap_or(name);
    own.split('#').next().unwrap_or(own)
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() > 80 { line.chars().take(77).collect::<String>() + "..." } else { line }
}
