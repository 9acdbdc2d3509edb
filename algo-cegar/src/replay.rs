// SPDX-License-Identifier: Apache-2.0
//! Concrete replay of a counterexample along the automaton: the last line of defence before FALSE is said.
//!
//! Shares nothing with solvers and encodings but the automaton and [`cfa::eval()`]. Every step must fit to the one before,
//! every assumption must hold, every value must be in the range of its variable, nothing may be undefined, and no variable
//! may be read that was not written before (globals are initialised by edges, other variables by havoc edges).

use cfa::eval::{Undefined, eval};
use cfa::ir::{Edge, HavocOrigin, Op};
use cfa::{EdgeId, ExprId, FuncId, NodeId, Program, VarId};
use cpa_core::{Counterexample, Step};
use rustc_hash::FxHashMap;
use thiserror::Error;

/// Why a counterexample is not believed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Disbelief {
    /// A step does not begin where the one before ended.
    #[error("step {index} ({step}) does not begin at {at}")]
    Disconnected {
        /// Position of the step.
        index: usize,
        /// The step.
        step: Step,
        /// Where the step before ended.
        at: NodeId,
    },
    /// The operation of the edge does not belong to a step of this kind.
    #[error("step {index} ({step}) is of the wrong kind for its edge")]
    WrongKind {
        /// Position of the step.
        index: usize,
        /// The step.
        step: Step,
    },
    /// A function returns to another call, or calls itself.
    #[error("step {index} ({step}) does not fit to the calls before it")]
    Calls {
        /// Position of the step.
        index: usize,
        /// The step.
        step: Step,
    },
    /// An assumption does not hold.
    #[error("{place}: the branch is not taken (step {index}, {step})")]
    Assumption {
        /// Position of the step.
        index: usize,
        /// The step.
        step: Step,
        /// The place in the source.
        place: String,
    },
    /// An expression has no value.
    #[error("{place}: {what}")]
    Undefined {
        /// What is undefined.
        what: Undefined,
        /// The place in the source.
        place: String,
    },
    /// A variable is read that has no value.
    #[error("{place}: '{name}' is read before it is written")]
    Unwritten {
        /// The variable.
        name: String,
        /// The place in the source.
        place: String,
    },
    /// There is no value for an input.
    #[error("{place}: there is no value for the input '{name}'")]
    NoInput {
        /// The variable that takes the input.
        name: String,
        /// The place in the source.
        place: String,
    },
    /// A value is outside of the range of its variable.
    #[error("{place}: {value} is no value of '{name}'")]
    Range {
        /// The variable.
        name: String,
        /// The value.
        value: i128,
        /// The place in the source.
        place: String,
    },
    /// The path goes through a construct that is not supported.
    #[error("{place}: not supported: {construct}")]
    Unsupported {
        /// The construct.
        construct: String,
        /// The place in the source.
        place: String,
    },
    /// An input does not belong to a havoc step, or the inputs are not ascending.
    #[error("the input for step {index} belongs to no step that takes one")]
    StrayInput {
        /// The step of the input.
        index: usize,
    },
    /// The path ends somewhere else.
    #[error("the path ends at {end} instead of {target}")]
    WrongEnd {
        /// Where it ends.
        end: NodeId,
        /// Where it shall end.
        target: NodeId,
    },
}

/// Runs a counterexample; it must lead from the entry of the program to `target`.
pub fn replay(program: &Program, cex: &Counterexample, target: NodeId) -> Result<(), Disbelief> {
    let mut run =
        Run { program, at: program.entry, calls: Vec::new(), values: FxHashMap::default(), inputs: &cex.inputs };
    for (index, &step) in cex.steps.iter().enumerate() {
        run.step(index, step)?;
    }
    if let Some(&(index, _)) = run.inputs.first() {
        return Err(Disbelief::StrayInput { index });
    }
    if run.at != target {
        return Err(Disbelief::WrongEnd { end: run.at, target });
    }
    Ok(())
}

struct Run<'a> {
    program: &'a Program,
    at: NodeId,
    calls: Vec<EdgeId>,
    values: FxHashMap<VarId, i128>,
    /// The inputs of the steps that are still to come.
    inputs: &'a [(usize, i128)],
}

impl Run<'_> {
    fn step(&mut self, index: usize, step: Step) -> Result<(), Disbelief> {
        let program = self.program;
        let wrong_kind = Disbelief::WrongKind { index, step };
        let Some(edge) = program.edges.get(step.edge().index()) else { return Err(wrong_kind) };
        if matches!(step, Step::Edge(_)) == matches!(edge.op, Op::Call { .. }) {
            return Err(wrong_kind);
        }
        if step.source(program) != self.at {
            return Err(Disbelief::Disconnected { index, step, at: self.at });
        }
        match (step, &edge.op) {
            (Step::Edge(_), Op::Skip) => {}
            (Step::Edge(_), Op::Assume { cond, truth }) => {
                if (self.eval(edge, *cond)? != 0) != *truth {
                    return Err(Disbelief::Assumption { index, step, place: self.place(edge) });
                }
            }
            (Step::Edge(_), Op::Assign { var, value }) => {
                let value = self.eval(edge, *value)?;
                self.write(edge, *var, value)?;
            }
            (Step::Edge(_), Op::Havoc { origin: HavocOrigin::Unmodelled { what }, .. }) => {
                return Err(Disbelief::Unsupported { construct: what.to_string(), place: self.place(edge) });
            }
            (Step::Edge(_), Op::Havoc { var, .. }) => {
                let value = self.input(edge, index, *var)?;
                self.write(edge, *var, value)?;
            }
            (
                Step::Edge(_),
                Op::Load { .. } | Op::Store { .. } | Op::Alloc { .. } | Op::Free { .. } | Op::Zero { .. },
            ) => {
                return Err(Disbelief::Unsupported { construct: "memory".to_owned(), place: self.place(edge) });
            }
            (Step::Edge(_), Op::Unsupported { construct }) => {
                return Err(Disbelief::Unsupported { construct: construct.to_string(), place: self.place(edge) });
            }
            (Step::Enter(call), Op::Call { callee, args, .. }) => {
                if *callee == program.main || self.calls.iter().any(|&other| self.callee(other) == Some(*callee)) {
                    return Err(Disbelief::Calls { index, step });
                }
                let params = &program.funcs[callee.index()].params;
                if params.len() != args.len() {
                    return Err(wrong_kind);
                }
                let values = args.iter().map(|&arg| self.eval(edge, arg)).collect::<Result<Vec<_>, _>>()?;
                for (&param, value) in params.iter().zip(values) {
                    self.write(edge, param, value)?;
                }
                self.calls.push(call);
            }
            (Step::Leave(call), Op::Call { callee, result, .. }) => {
                if self.calls.pop() != Some(call) {
                    return Err(Disbelief::Calls { index, step });
                }
                if let Some(result) = result {
                    let Some(ret) = program.funcs[callee.index()].ret else { return Err(wrong_kind) };
                    let value = self.read(edge, ret)?;
                    self.write(edge, *result, value)?;
                }
            }
            (Step::Edge(_), Op::Call { .. }) | (Step::Enter(_) | Step::Leave(_), _) => return Err(wrong_kind),
        }
        self.at = step.destination(program);
        Ok(())
    }

    fn callee(&self, call: EdgeId) -> Option<FuncId> {
        match self.program.edges[call.index()].op {
            Op::Call { callee, .. } => Some(callee),
            _ => None,
        }
    }

    fn place(&self, edge: &Edge) -> String {
        self.program.location(edge.span).to_string()
    }

    fn name(&self, var: VarId) -> String {
        self.program.vars[var.index()].name.to_string()
    }

    fn input(&mut self, edge: &Edge, index: usize, var: VarId) -> Result<i128, Disbelief> {
        match self.inputs {
            [(next, value), rest @ ..] if *next == index => {
                self.inputs = rest;
                Ok(*value)
            }
            _ => Err(Disbelief::NoInput { name: self.name(var), place: self.place(edge) }),
        }
    }

    fn read(&self, edge: &Edge, var: VarId) -> Result<i128, Disbelief> {
        let unwritten = || Disbelief::Unwritten { name: self.name(var), place: self.place(edge) };
        self.values.get(&var).copied().ok_or_else(unwritten)
    }

    fn write(&mut self, edge: &Edge, var: VarId, value: i128) -> Result<(), Disbelief> {
        let ty = self.program.vars[var.index()].ty;
        if value < ty.min() || value > ty.max() {
            return Err(Disbelief::Range { name: self.name(var), value, place: self.place(edge) });
        }
        self.values.insert(var, value);
        Ok(())
    }

    fn eval(&self, edge: &Edge, expr: ExprId) -> Result<i128, Disbelief> {
        let mut unwritten = None;
        let result = eval(&self.program.exprs, expr, &mut |var| match self.values.get(&var) {
            Some(value) => *value,
            None => {
                unwritten = unwritten.or(Some(var));
                0
            }
        });
        match (unwritten, result) {
            // Whatever came out was computed from a value that does not exist.
            (Some(var), _) => self.read(edge, var),
            (None, Ok(value)) => Ok(value),
            (None, Err(what)) => Err(Disbelief::Undefined { what, place: self.place(edge) }),
        }
    }
}
