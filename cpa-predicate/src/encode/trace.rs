// SPDX-License-Identifier: Apache-2.0
//! A counterexample from a path and what a model says about it.
//!
//! The path is executed once more, to find the addresses of new objects and the bytes of memory that are read although nothing
//! wrote them; for those the model's arrays say what they hold. Nothing is checked here: that is the task of the replay.

use std::collections::BTreeMap;

use cfa::Program;
use cfa::eval::eval;
use cfa::ids::{ExprId, FuncId, RegionId, VarId};
use cfa::ir::{Op, Scope};
use cpa_core::{Counterexample, Step};
use rustc_hash::FxHashMap;
use smt::{ArrayValue, SymId, Terms, Value};

use super::Encoder;

/// Objects larger than this are not set to zero byte by byte; their bytes are as the model says.
const MAX_ZERO: i128 = 1 << 20;

impl Encoder {
    /// The counterexample of a path. `inputs` are the values that havoc edges give to their variables, by the position of the
    /// step; `initial` tells what the model says about symbols at the start.
    pub fn counterexample(
        &mut self,
        terms: &mut Terms,
        steps: Vec<Step>,
        inputs: &[(usize, i128)],
        initial: &dyn Fn(&Terms, SymId) -> Option<Value>,
    ) -> Counterexample {
        let mut result = Counterexample { steps, ..Counterexample::default() };
        if !self.uses_memory {
            result.inputs = inputs.to_vec();
            return result;
        }
        let program = std::sync::Arc::clone(&self.program);
        let mut arrays: BTreeMap<RegionId, ArrayValue> = BTreeMap::new();
        for region in (0..program.regions.len()).map(RegionId::new) {
            let symbol = self.cells(terms, region).symbol;
            if !program.region(region).zeroed
                && let Some(Value::Array(array)) = initial(terms, symbol)
            {
                arrays.insert(region, array);
            }
        }
        let mut run = Run {
            program: &program,
            values: FxHashMap::default(),
            active: Vec::new(),
            written: FxHashMap::default(),
            arrays,
            heap: program.heap_start(),
            read: BTreeMap::new(),
        };
        let mut next = 0;
        for (index, &step) in result.steps.iter().enumerate() {
            let input = inputs.get(next).filter(|input| input.0 == index).map(|input| input.1);
            next += usize::from(input.is_some());
            match run.step(step, input) {
                Some(Effect::Input(value)) => result.inputs.push((index, value)),
                Some(Effect::None) => {}
                // Undefined: the replay says so.
                None => break,
            }
        }
        result.inputs.extend_from_slice(&inputs[next..]);
        result.memory = run.read;
        result
    }
}

/// What a step needs to be told.
enum Effect {
    None,
    Input(i128),
}

struct Run<'a> {
    program: &'a Program,
    values: FxHashMap<VarId, i128>,
    /// The functions that were entered and not left, with the values of their variables in the activation below.
    active: Vec<(FuncId, Vec<(VarId, i128)>)>,
    /// Bytes in memory that were written or read.
    written: FxHashMap<u64, u8>,
    /// What regions hold at the start.
    arrays: BTreeMap<RegionId, ArrayValue>,
    heap: u64,
    /// Bytes that were read before they were written.
    read: BTreeMap<u64, u8>,
}

impl Run<'_> {
    fn eval(&self, expr: ExprId) -> Option<i128> {
        eval(&self.program.exprs, expr, &mut |var| self.values.get(&var).copied().unwrap_or(0)).ok()
    }

    fn address(&self, expr: ExprId) -> Option<u64> {
        u64::try_from(self.eval(expr)?).ok()
    }

    fn byte(&mut self, addr: u64, region: RegionId) -> u8 {
        if let Some(&byte) = self.written.get(&addr) {
            return byte;
        }
        let byte = self.arrays.get(&region).map_or(0, |array| {
            let bytes = u64::from(array.element_width() / 8);
            let cell = array.get(u128::from(addr / bytes));
            (cell >> (8 * (addr % bytes))) as u8
        });
        self.written.insert(addr, byte);
        self.read.insert(addr, byte);
        byte
    }

    fn step(&mut self, step: Step, input: Option<i128>) -> Option<Effect> {
        let edge = self.program.edge(step.edge());
        match (step, &edge.op) {
            (Step::Enter(_), Op::Call { callee, args, .. }) => {
                let values: Option<Vec<i128>> = args.iter().map(|&arg| self.eval(arg)).collect();
                let params = self.program.func(*callee).params.clone();
                let local = |var: &VarId| self.program.var(*var).scope == Scope::Local(*callee);
                let kept = match self.active.iter().any(|(func, _)| func == callee) {
                    true => {
                        self.values.iter().filter(|(var, _)| local(var)).map(|(&var, &value)| (var, value)).collect()
                    }
                    false => Vec::new(),
                };
                self.active.push((*callee, kept));
                self.values.extend(params.into_iter().zip(values?));
            }
            (Step::Leave(_), Op::Call { callee, result, .. }) => {
                let ret = self.program.func(*callee).ret;
                let value = ret.and_then(|ret| self.values.get(&ret).copied()).unwrap_or(0);
                self.values.extend(self.active.pop().map(|(_, kept)| kept).unwrap_or_default());
                if let (Some(result), Some(_)) = (result, ret) {
                    self.values.insert(*result, value);
                }
            }
            (_, Op::Assign { var, value }) => {
                let value = self.eval(*value)?;
                self.values.insert(*var, value);
            }
            (_, Op::Havoc { var, .. }) => {
                let value = input?;
                self.values.insert(*var, value);
                return Some(Effect::Input(value));
            }
            (_, &Op::Load { var, addr, region }) => {
                let addr = self.address(addr)?;
                let ty = self.program.var(var).ty;
                let mut bits = 0i128;
                for i in 0..u64::from(ty.bits / 8) {
                    bits |= i128::from(self.byte(addr.wrapping_add(i), region)) << (8 * i);
                }
                self.values.insert(var, ty.wrap(bits));
            }
            (_, &Op::Store { addr, value, .. }) => {
                let addr = self.address(addr)?;
                let bytes = u64::from(self.program.exprs.get(value).ty.bits / 8);
                let value = self.eval(value)?;
                for i in 0..bytes {
                    self.written.insert(addr.wrapping_add(i), (value >> (8 * i)) as u8);
                }
            }
            (_, &Op::Alloc { var, size, .. }) => {
                let size = self.address(size)?;
                let here = self.heap;
                self.heap = here.checked_add(size.max(1))?.checked_next_multiple_of(16)?;
                self.values.insert(var, i128::from(here));
                return Some(Effect::Input(i128::from(here)));
            }
            (_, &Op::Zero { addr, size, .. }) => {
                let (addr, size) = (self.address(addr)?, self.eval(size)?);
                for i in 0..u64::try_from(size.min(MAX_ZERO)).ok()? {
                    self.written.insert(addr.wrapping_add(i), 0);
                }
            }
            (_, Op::Skip | Op::Assume { .. } | Op::Free { .. } | Op::Unsupported { .. } | Op::Call { .. }) => {}
        }
        Some(Effect::None)
    }
}
