// SPDX-License-Identifier: Apache-2.0
//! The strongest post-condition of a step over known values (document 001, section 2.3.3; Beyer and Löwe, *Explicit-State
//! Software Verification Based on CEGAR and Interpolation*, section 2).
//!
//! A store to an unknown address forgets the region it goes to. New objects are cut from a heap that only grows, as in path
//! formulas; where it ends is a place like others. Left out: addresses relative to an unknown one.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use cfa::liveness::Dying;
use cfa::{EdgeId, ExprId, FuncId, IntTy, Op, Program, RegionId, Scope, VarId};
use cpa_core::Step;

use crate::assume::{Assume, Contradiction};
use crate::eval::Eval;
use crate::origin::{Origin, Origins};
use crate::place::{Cell, Place, Places, Slot, var_slot};
use crate::precision::Tracked;
use crate::state::{ValueState, bits};

/// The meaning of a program over known values; shared by the analysis and its refiner.
#[derive(Debug)]
pub struct Machine {
    pub(crate) program: Arc<Program>,
    pub(crate) sizes: Vec<u32>,
    pub(crate) places: RefCell<Places>,
    dying: Dying,
    pub(crate) origins: Origins,
    /// The local variables of each function.
    locals: Vec<Vec<VarId>>,
    /// The bytes of the local objects of each function.
    objects: Vec<Vec<(RegionId, u64, u64)>>,
    recursive: BTreeSet<FuncId>,
}

/// The activations on a path: the call edges of recursive functions, and the states before them.
pub(crate) type Activations = Vec<(EdgeId, ValueState)>;

impl Machine {
    /// Prepares a program.
    pub fn new(program: Arc<Program>) -> Self {
        let mut objects = vec![Vec::new(); program.funcs.len()];
        for object in &program.objects {
            if let Scope::Local(func) = object.scope {
                objects[func.index()].push((object.region, object.addr, object.addr + object.size));
            }
        }
        Self {
            sizes: program.exprs.tree_sizes(),
            places: RefCell::new(Places::new(&program)),
            dying: Dying::new(&program),
            origins: Origins::new(&program),
            locals: program.locals(),
            objects,
            recursive: program.recursive(),
            program,
        }
    }

    /// The analysed program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What a slot stands for.
    pub fn place(&self, slot: Slot) -> Place {
        self.places.borrow().place(slot)
    }

    /// The slot of a variable.
    pub fn slot(&self, var: VarId) -> Slot {
        var_slot(var)
    }

    /// What is known at the start of the program: where new objects begin.
    pub fn initial(&self) -> ValueState {
        let mut state = ValueState::default();
        state.put(self.heap(), Some(self.program.heap_start()));
        state
    }

    /// The slot of the address of the next new object.
    pub(crate) fn heap(&self) -> Slot {
        self.places.borrow().heap()
    }

    /// One of the states at the start of the program: all memory holds zeros.
    pub(crate) fn start(&self) -> ValueState {
        let mut state = self.initial();
        for object in &self.program.objects {
            self.fill(&mut state, object.region, object.addr, object.addr + object.size);
        }
        state
    }

    /// Bytes are zero from now on.
    pub(crate) fn fill(&self, state: &mut ValueState, region: RegionId, start: u64, end: u64) {
        state.zero(&mut self.places.borrow_mut(), (region, start, end), Tracked::All);
    }

    /// The value of an expression in all concrete states that the state stands for, if it is known.
    pub fn eval(&self, state: &ValueState, expr: ExprId) -> Option<i128> {
        Eval::new(&self.program.exprs, &self.sizes, expr, |var, ty| state.var(var, ty)).eval(expr)
    }

    fn ty(&self, var: VarId) -> IntTy {
        self.program.var(var).ty
    }

    /// The state after a step; none if the step is not possible. Only what is tracked there gets values.
    pub fn post(&self, state: &ValueState, step: Step, tracked: Tracked<'_>) -> Option<ValueState> {
        let mut next = state.clone();
        let edge = step.edge();
        match (step, &self.program.edge(edge).op) {
            (Step::Edge(_), _) => self.operation(state, &mut next, edge, tracked).ok()?,
            (Step::Enter(_), Op::Call { callee, args, .. }) => {
                for (&param, &arg) in self.program.func(*callee).params.iter().zip(args) {
                    let value = self.eval(state, arg);
                    self.set(&mut next, param, value, tracked);
                }
                for &param in self.dying.unread_params(*callee) {
                    next.forget(var_slot(param));
                }
                return Some(next);
            }
            (Step::Leave(_), Op::Call { callee, result, .. }) => {
                self.leave(state, &mut next, *callee, *result, tracked)
            }
            (Step::Enter(_) | Step::Leave(_), _) => {}
        }
        for &var in self.dying.behind(edge) {
            next.forget(var_slot(var));
        }
        Some(next)
    }

    /// The state after a step of a path, where recursive functions have an instance of their variables for each activation.
    pub(crate) fn follow(
        &self,
        activations: &mut Activations,
        state: &ValueState,
        step: Step,
        tracked: Tracked<'_>,
    ) -> Option<ValueState> {
        let mut next = self.post(state, step, tracked)?;
        if let Op::Call { callee, .. } = self.program.edge(step.edge()).op
            && self.recursive.contains(&callee)
        {
            match step {
                Step::Enter(call) => {
                    activations.push((call, state.clone()));
                    let params = &self.program.func(callee).params;
                    let fresh = self.locals[callee.index()].iter().filter(|var| !params.contains(var));
                    fresh.for_each(|&var| next.forget(var_slot(var)));
                }
                Step::Leave(call) if activations.last().is_some_and(|(entered, _)| *entered == call) => {
                    let caller = activations.pop().map(|(_, state)| state).unwrap_or_default();
                    self.restore(call, &caller, &mut next);
                }
                Step::Leave(_) | Step::Edge(_) => {}
            }
        }
        Some(next)
    }

    /// Whether a function can be called while it runs.
    pub(crate) fn is_recursive(&self, func: FuncId) -> bool {
        self.recursive.contains(&func)
    }

    /// The local variables of a function.
    pub(crate) fn locals_of(&self, func: FuncId) -> impl Iterator<Item = VarId> + '_ {
        self.locals[func.index()].iter().copied()
    }

    /// Whether a path enters a recursive function.
    pub(crate) fn recurs(&self, steps: &[Step]) -> bool {
        steps.iter().any(|step| match (step, &self.program.edge(step.edge()).op) {
            (Step::Enter(_), Op::Call { callee, .. }) => self.recursive.contains(callee),
            _ => false,
        })
    }

    /// The variables of the activation that made a call are behind it what they were before, apart from the result.
    pub(crate) fn restore(&self, call: EdgeId, caller: &ValueState, returned: &mut ValueState) {
        let edge = self.program.edge(call);
        let Op::Call { result, .. } = edge.op else { return };
        let func = self.program.node(edge.src).func;
        let dead = self.dying.behind(call);
        for &var in &self.locals[func.index()] {
            if Some(var) == result || dead.contains(&var) {
                continue;
            }
            match caller.var(var, self.ty(var)) {
                Some(value) => returned.set_var(var, value, self.ty(var)),
                None => returned.forget(var_slot(var)),
            }
        }
    }

    /// A variable gets a value, or an unknown one.
    pub(crate) fn set(&self, state: &mut ValueState, var: VarId, value: Option<i128>, tracked: Tracked<'_>) {
        match value {
            Some(value) if tracked.contains(var_slot(var)) => state.set_var(var, value, self.ty(var)),
            Some(_) | None => state.forget(var_slot(var)),
        }
    }

    fn leave(
        &self,
        state: &ValueState,
        next: &mut ValueState,
        callee: FuncId,
        result: Option<VarId>,
        tracked: Tracked<'_>,
    ) {
        let returned = self.program.func(callee).ret.and_then(|ret| state.var(ret, self.ty(ret)));
        for &var in &self.locals[callee.index()] {
            next.forget(var_slot(var));
        }
        for &bytes in &self.objects[callee.index()] {
            next.forget_bytes(&mut self.places.borrow_mut(), bytes, tracked);
        }
        if let Some(result) = result {
            self.set(next, result, returned, tracked);
        }
    }

    /// The cell of an access, if its address is known.
    pub(crate) fn cell(&self, state: &ValueState, addr: ExprId, ty: IntTy, region: RegionId) -> Option<Cell> {
        let addr = self.eval(state, addr)? as u64;
        let bytes = u64::from(ty.bits / 8);
        // An access that wraps around in the address space is as good as one to an unknown address.
        addr.checked_add(bytes).map(|_| Cell { region, addr, bytes })
    }

    /// The cell that a variable was loaded from, if its address is known or can be loaded again.
    pub(crate) fn origin(&self, state: &ValueState, origins: &[Origin], origin: Origin) -> Option<Cell> {
        let value = |var, ty: IntTy| {
            let again = || {
                let cell = self.origin(state, origins, *origins.iter().find(|origin| origin.var == var)?)?;
                Some(ty.wrap(i128::from(state.load(&mut self.places.borrow_mut(), cell)?)))
            };
            state.var(var, ty).or_else(again)
        };
        let addr = Eval::new(&self.program.exprs, &self.sizes, origin.addr, value).eval(origin.addr)? as u64;
        let bytes = u64::from(self.ty(origin.var).bits / 8);
        addr.checked_add(bytes).map(|_| Cell { region: origin.region, addr, bytes })
    }

    /// What an assumption says about variables, it says about the cells that they were loaded from.
    fn learn_cells(
        &self,
        state: &ValueState,
        next: &mut ValueState,
        (edge, learned): (EdgeId, &[VarId]),
        tracked: Tracked<'_>,
    ) {
        let origins = self.origins.of(edge);
        for &origin in origins.iter().filter(|origin| learned.contains(&origin.var)) {
            let ty = self.ty(origin.var);
            let (Some(cell), Some(value)) = (self.origin(state, origins, origin), next.var(origin.var, ty)) else {
                continue;
            };
            let places = &mut self.places.borrow_mut();
            let slot = places.cell(cell);
            if next.knows_nothing_of(places, slot) && tracked.contains(slot) {
                next.put(slot, Some(bits(value, ty)));
            }
        }
    }

    /// The range of a zeroed object, if it is known.
    fn range(&self, state: &ValueState, addr: ExprId, size: ExprId, region: RegionId) -> Option<(RegionId, u64, u64)> {
        let start = self.eval(state, addr)? as u64;
        let end = start.checked_add(self.eval(state, size)? as u64)?;
        Some((region, start, end))
    }

    /// Where the next object begins behind one of the given size; none if that is not known or outside of memory.
    fn object_end(&self, state: &ValueState, here: u64, size: ExprId) -> Option<u64> {
        self.program.object_end(here, u64::try_from(self.eval(state, size)?).ok()?)
    }

    fn operation(
        &self,
        state: &ValueState,
        next: &mut ValueState,
        edge: EdgeId,
        tracked: Tracked<'_>,
    ) -> Result<(), Contradiction> {
        match &self.program.edge(edge).op {
            Op::Skip | Op::Free { .. } | Op::Unsupported { .. } | Op::Call { .. } => {}
            Op::Assume { cond, truth } => {
                let mut assume = Assume { machine: self, state: next, learned: Vec::new() };
                assume.holds(*cond, *truth)?;
                let learned = assume.learned;
                self.learn_cells(state, next, (edge, &learned), tracked);
                for var in learned {
                    if !tracked.contains(var_slot(var)) {
                        next.forget(var_slot(var));
                    }
                }
            }
            Op::Assign { var, value } => self.set(next, *var, self.eval(state, *value), tracked),
            Op::Havoc { var, .. } => next.forget(var_slot(*var)),
            Op::Alloc { var, size, .. } => {
                let here = state.get(self.heap());
                self.set(next, *var, here.map(i128::from), tracked);
                let tracked = tracked.contains(self.heap());
                next.put(self.heap(), here.filter(|_| tracked).and_then(|here| self.object_end(state, here, *size)));
            }
            Op::Load { var, addr, region } => {
                let ty = self.ty(*var);
                let cell = self.cell(state, *addr, ty, *region);
                let value = cell.and_then(|cell| state.load(&mut self.places.borrow_mut(), cell));
                self.set(next, *var, value.map(|value| ty.wrap(i128::from(value))), tracked);
            }
            Op::Store { addr, value, region } => {
                let places = &mut self.places.borrow_mut();
                let ty = self.program.exprs.ty(*value);
                match self.cell(state, *addr, ty, *region) {
                    Some(cell) => {
                        let value = self.eval(state, *value).map(|value| bits(value, ty));
                        next.store(places, cell, value, tracked);
                    }
                    None => next.forget_region(places, *region),
                }
            }
            Op::Zero { addr, size, region } => {
                let places = &mut self.places.borrow_mut();
                match self.range(state, *addr, *size, *region) {
                    Some(range) => next.zero(places, range, tracked),
                    None => next.forget_region(places, *region),
                }
            }
        }
        Ok(())
    }
}
