// SPDX-License-Identifier: Apache-2.0
//! Abstract states: an octagon over some of the program's variables. All other variables have any value of their types.

use std::fmt;
use std::rc::Rc;

use cfa::{IntTy, Program, VarId};

use crate::octagon::Octagon;

/// An abstract state.
#[derive(Clone, Debug)]
pub struct OctagonState {
    /// The variables behind the dimensions, ascending.
    vars: Rc<[VarId]>,
    pub(crate) octagon: Rc<Octagon>,
    /// The result of a widening as it is, for the next widening; `octagon` is its closure.
    widened: Option<Rc<Octagon>>,
    /// Whether states are merged at this location.
    pub(crate) merging: bool,
}

impl PartialEq for OctagonState {
    fn eq(&self, other: &Self) -> bool {
        self.vars == other.vars && self.octagon == other.octagon
    }
}

impl fmt::Display for OctagonState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |bound: Option<i64>| bound.map_or("?".to_owned(), |bound| bound.to_string());
        let bounds = self.vars.iter().enumerate().map(|(dim, var)| {
            let (low, high) = self.octagon.bounds(dim);
            format!("{var}:{}..{}", show(low), show(high))
        });
        f.write_str(&bounds.collect::<Vec<_>>().join(" "))
    }
}

impl OctagonState {
    /// All concrete states.
    pub fn top() -> Self {
        Self { vars: Rc::new([]), octagon: Rc::new(Octagon::top(0)), widened: None, merging: true }
    }

    /// The same state; `merging` says whether states are merged where it is.
    pub(crate) fn merging_here(self, merging: bool) -> Self {
        Self { merging, ..self }
    }

    /// The variables with a dimension, ascending.
    pub fn vars(&self) -> &[VarId] {
        &self.vars
    }

    /// The dimension of a variable.
    pub fn dim(&self, var: VarId) -> Option<usize> {
        self.vars.binary_search(&var).ok()
    }

    /// The octagon, to be changed.
    pub(crate) fn change(&mut self) -> &mut Octagon {
        self.widened = None;
        Rc::make_mut(&mut self.octagon)
    }

    /// The dimension of a variable, which gets one if it has none.
    pub(crate) fn make_dim(&mut self, var: VarId, ty: IntTy) -> usize {
        match self.vars.binary_search(&var) {
            Ok(dim) => dim,
            Err(dim) => {
                let last = self.vars.len();
                let mut vars = self.vars.to_vec();
                vars.insert(dim, var);
                let octagon = self.change();
                octagon.add_dims(1);
                let order: Vec<usize> = (0..dim).chain([last]).chain(dim..last).collect();
                if dim != last {
                    *octagon = octagon.project(&order);
                }
                in_range(octagon, dim, ty);
                self.vars = vars.into();
                dim
            }
        }
    }

    /// Forgets variables.
    pub(crate) fn forget(&mut self, gone: &dyn Fn(VarId) -> bool) {
        if self.vars.iter().any(|&var| gone(var)) {
            let dims: Vec<usize> = (0..self.vars.len()).filter(|&dim| !gone(self.vars[dim])).collect();
            self.octagon = Rc::new(self.octagon.project(&dims));
            self.widened = self.widened.as_ref().map(|widened| Rc::new(widened.project(&dims)));
            self.vars = dims.iter().map(|&dim| self.vars[dim]).collect();
        }
    }

    /// Whether this state stands for no more than the other one.
    pub(crate) fn leq(&self, greater: &OctagonState, program: &Program) -> bool {
        if self.octagon.is_empty() || self.vars == greater.vars {
            return self.octagon.leq(&greater.octagon);
        }
        // What this state says nothing about is in the range of its type.
        let mut lesser = self.clone();
        greater.vars.iter().for_each(|&var| {
            lesser.make_dim(var, program.var(var).ty);
        });
        lesser.forget(&|var| greater.dim(var).is_none());
        lesser.octagon.leq(&greater.octagon)
    }

    /// Both states over the variables that both know.
    fn common(&self, other: &OctagonState) -> (OctagonState, OctagonState) {
        let (mut one, mut two) = (self.clone(), other.clone());
        one.forget(&|var| other.dim(var).is_none());
        two.forget(&|var| self.dim(var).is_none());
        (one, two)
    }

    /// The smallest state around both.
    pub(crate) fn join(&self, other: &OctagonState) -> OctagonState {
        let (one, two) = self.common(other);
        OctagonState { octagon: Rc::new(one.octagon.join(&two.octagon)), widened: None, ..one }
    }

    /// A state around both; going on like this ends.
    pub(crate) fn widen(&self, new: &OctagonState, thresholds: &[i64], program: &Program) -> OctagonState {
        let (one, two) = self.common(new);
        let left = one.widened.as_ref().unwrap_or(&one.octagon);
        let widened = left.widen(&one.octagon.join(&two.octagon), thresholds);
        let mut closed = widened.clone();
        closed.close();
        for (dim, &var) in one.vars.iter().enumerate() {
            in_range(&mut closed, dim, program.var(var).ty);
        }
        OctagonState { octagon: Rc::new(closed), widened: Some(Rc::new(widened)), ..one }
    }
}

/// The dimension holds a value of the type.
pub(crate) fn in_range(octagon: &mut Octagon, dim: usize, ty: IntTy) {
    octagon.at_most(dim, ty.max());
    octagon.at_least(dim, ty.min());
}
