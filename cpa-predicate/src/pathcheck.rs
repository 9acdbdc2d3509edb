// SPDX-License-Identifier: Apache-2.0
//! Decides single abstract counterexamples exactly, for analyses that only know values: one solver query about the whole
//! path (document 001, section 2.3.4, where a second analysis checks the path program).
//!
//! It refutes a path without making anybody more precise, so it comes last in a chain of refiners.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use cfa::Program;
use cfa::ir::Op;
use cpa_core::{Arg, ArgId, Cut, Cx, Refinement, Refiner, Stop};
use smt::path::PathFormula;
use smt::solver::CheckResult;
use smt::{TermId, Terms, Value};

use crate::calls::Calls;
use crate::manager::{Manager, limits};

/// The exact check of a path.
pub struct PathCheck {
    program: Arc<Program>,
    manager: Rc<RefCell<Manager>>,
}

impl PathCheck {
    /// A check of paths of `program`.
    pub fn new(program: Arc<Program>, manager: Rc<RefCell<Manager>>) -> Self {
        Self { program, manager }
    }
}

impl Refiner for PathCheck {
    fn name(&self) -> &'static str {
        "path check"
    }

    fn refine(&mut self, cx: &mut Cx, arg: &Arg, target: ArgId) -> Result<Refinement, Stop> {
        let path = arg.path_to(target);
        let manager = &mut *self.manager.borrow_mut();
        let mut formula = PathFormula::empty();
        let mut calls = Calls::default();
        let mut inputs: Vec<(usize, cfa::VarId)> = Vec::new();
        // The path condition, then the inputs.
        let mut roots: Vec<TermId> = vec![formula.pc];
        for (index, &step) in path.steps.iter().enumerate() {
            formula = manager.follow(&formula, step, calls.activation(&self.program, step))?;
            calls = calls.after(&self.program, step);
            if let Op::Havoc { var, .. } = &self.program.edge(step.edge()).op {
                let symbol = manager.encoder.symbol(&mut manager.terms, *var);
                inputs.push((index, *var));
                roots.push(formula.value(&mut manager.terms, symbol));
            }
        }
        roots[0] = formula.pc;
        let mut solver = manager.path_solver();
        solver.assert(&manager.terms, formula.pc);
        let result = solver.check(&manager.terms, &[], &limits(cx));
        cx.check()?;
        let model = match result {
            CheckResult::Sat(model) => model,
            CheckResult::Unsat(_) => {
                // The same path is found again unless somebody else becomes more precise; the loop notices that.
                return Ok(Refinement::Spurious { cuts: vec![Cut { pivot: target, precisions: Vec::new() }] });
            }
            CheckResult::Unknown(reason) => return Err(Stop::GaveUp(reason)),
        };
        let values = model.values(&manager.terms, &roots);
        let Some(values) = values.filter(|values| values[0] == Value::Bool(true)) else {
            return Err(Stop::GaveUp("the solver's model of a path cannot be read".to_owned()));
        };
        let inputs: Vec<(usize, i128)> = inputs
            .into_iter()
            .zip(&values[1..])
            .map(|((index, var), value)| (index, manager.encoder.integer(value.clone(), self.program.var(var).ty)))
            .collect();
        let initial = |terms: &Terms, symbol| model.value(terms, symbol, 0);
        let run = manager.encoder.counterexample(&mut manager.terms, path.steps, &inputs, &initial);
        Ok(Refinement::Feasible(run))
    }
}
