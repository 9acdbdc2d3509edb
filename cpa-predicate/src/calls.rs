// SPDX-License-Identifier: Apache-2.0
//! Which functions are active on the way to a state, so that the variables of recursive functions can be kept apart.

use std::rc::Rc;

use cfa::Program;
use cfa::ids::FuncId;
use cfa::ir::Op;
use cpa_core::Step;

/// The activations on the call stack, as a list that is shared between states.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls(Option<Rc<Frame>>);

#[derive(Debug)]
struct Frame {
    func: FuncId,
    /// The number of other activations of the function below.
    activation: u32,
    below: Calls,
}

impl Calls {
    /// One activation of each of some functions, the innermost last.
    pub(crate) fn of(funcs: impl Iterator<Item = FuncId>) -> Self {
        let on = |below: Calls, func| Calls(Some(Rc::new(Frame { func, activation: 0, below })));
        funcs.fold(Calls::default(), on)
    }

    fn frames(&self) -> impl Iterator<Item = &Frame> {
        std::iter::successors(self.0.as_deref(), |frame| frame.below.0.as_deref())
    }

    /// For a step that enters or leaves a function, the number of its other activations below.
    pub(crate) fn activation(&self, program: &Program, step: Step) -> u32 {
        match (step, &program.edge(step.edge()).op) {
            (Step::Enter(_), Op::Call { callee, .. }) => {
                self.frames().find(|frame| frame.func == *callee).map_or(0, |frame| frame.activation + 1)
            }
            (Step::Leave(_), _) => self.0.as_ref().map_or(0, |frame| frame.activation),
            _ => 0,
        }
    }

    /// The activations after a step.
    pub(crate) fn after(&self, program: &Program, step: Step) -> Calls {
        match (step, &program.edge(step.edge()).op) {
            (Step::Enter(_), Op::Call { callee, .. }) => {
                let activation = self.activation(program, step);
                Calls(Some(Rc::new(Frame { func: *callee, activation, below: self.clone() })))
            }
            (Step::Leave(_), _) => self.0.as_ref().map_or_else(Calls::default, |frame| frame.below.clone()),
            _ => self.clone(),
        }
    }
}
