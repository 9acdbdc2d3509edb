// SPDX-License-Identifier: Apache-2.0
//! What happens before the entry function: initialisation of objects with static storage, and the arguments.

use crate::ids::{FuncId, NodeId, RegionId, VarId};
use crate::ir::{AllocKind, BinOp, CmpOp, HavocOrigin, IntTy, Op, Span};
use crate::types::Type;

use super::Lower;

impl Lower<'_> {
    /// The edges that run before the entry function: string literals, all initialisers of objects with static storage in
    /// source order, where whatever is zeroed comes first, then arbitrary values for the parameters.
    pub(super) fn initialisation(&mut self, main: FuncId) -> NodeId {
        let entry = self.funcs[main.index()].body.expect("the entry function has a body").entry;
        let (main_span, params) = (self.funcs[main.index()].span, self.funcs[main.index()].params.clone());
        let mut ops: Vec<(Op, Span)> = self.unseen_code().collect();
        let mut inits = std::mem::take(&mut self.inits);
        inits.sort_by_key(|init| (init.span.file, init.span.start));
        for init in inits {
            ops.extend(init.ops.into_iter().map(|op| (op, init.span)));
        }
        let size_type = self.machine.size_type();
        for (addr, text, character) in std::mem::take(&mut self.memory.texts) {
            for (at, unit) in (0..).zip(text) {
                let addr = self.exprs.constant(size_type, i128::from(addr) + at * i128::from(character.bits / 8));
                let value = self.exprs.constant(character, unit);
                ops.push((Op::Store { addr, value, region: RegionId::new(0) }, main_span));
            }
        }
        ops.sort_by_key(|(op, _)| !matches!(op, Op::Zero { .. }));
        let mut count = None;
        for (at, var) in params.into_iter().enumerate() {
            let ty = self.vars[var.index()].ty;
            let op = match (count, self.signatures[main.index()].params.get(at)) {
                // The arguments: an array of pointers to strings that nothing is known of.
                (Some(count), Some(Type::Pointer(_))) => {
                    let number = self.exprs.cast(count, size_type);
                    let one = self.exprs.constant(size_type, 1);
                    let number = self.exprs.binary(BinOp::Add, number, one);
                    let width = self.exprs.constant(size_type, i128::from(size_type.bits / 8));
                    let size = self.exprs.binary(BinOp::Mul, number, width);
                    let is_vector = at == 1 && &*self.funcs[main.index()].name == "main";
                    let kind = if is_vector { AllocKind::Arguments } else { AllocKind::Heap };
                    Op::Alloc { var, size, kind, region: RegionId::new(0) }
                }
                _ => {
                    count.get_or_insert(self.exprs.var(var, ty));
                    Op::Havoc { var, origin: HavocOrigin::Uninitialised }
                }
            };
            ops.push((op, main_span));
            if at == 0 && self.is_argument_count(main) {
                let zero = self.exprs.constant(ty, 0);
                let argc = self.exprs.var(var, ty);
                let cond = self.exprs.cmp(CmpOp::Le, zero, argc);
                ops.push((Op::Assume { cond, truth: true }, main_span));
                // The array has a size.
                let most = size_type.max() / i128::from(size_type.bits / 8) - 1;
                if most < ty.max() && self.is_used(main, 1) {
                    let most = self.exprs.constant(ty, most);
                    let cond = self.exprs.cmp(CmpOp::Le, argc, most);
                    ops.push((Op::Assume { cond, truth: true }, main_span));
                }
            }
            if let Some(end) = self.end_of_arguments(main, at) {
                ops.push((end, main_span));
            }
        }
        if ops.is_empty() {
            return entry;
        }
        let start = self.graph.node(main, true);
        let mut at = start;
        let last = ops.len() - 1;
        for (position, (op, span)) in ops.into_iter().enumerate() {
            let to = if position == last { entry } else { self.graph.node(main, false) };
            let otherwise = match op {
                Op::Assume { cond, truth: true } => Some(Op::Assume { cond, truth: false }),
                _ => None,
            };
            self.graph.edge(at, to, op, span);
            if let Some(op) = otherwise {
                let nowhere = self.graph.node(main, false);
                self.graph.edge(at, nowhere, op, span);
            }
            at = to;
        }
        start
    }

    /// Whether the first parameter of the entry function is the number of arguments, which is not negative, C11 5.1.2.2.1,
    /// and somebody looks at it: who does not shall not branch on it.
    fn is_argument_count(&self, main: FuncId) -> bool {
        let (function, signature) = (&self.funcs[main.index()], &self.signatures[main.index()]);
        if &*function.name != "main" || !matches!(signature.params.first(), Some(Type::Int(IntTy { signed: true, .. })))
        {
            return false;
        }
        self.graph.edges.iter().any(|edge| self.reads(&edge.op, function.params[0]))
    }

    fn reads(&self, op: &Op, var: VarId) -> bool {
        op.operands().into_iter().any(|expr| self.exprs.vars(expr).contains(&var))
    }

    /// Whether somebody does more with a parameter than look at its own value.
    fn is_used(&self, func: FuncId, param: usize) -> bool {
        let Some(var) = self.funcs[func.index()].params.get(param) else { return false };
        let edges = self.graph.edges.iter().filter(|edge| !matches!(edge.op, Op::Assume { .. }));
        edges.into_iter().any(|edge| self.reads(&edge.op, *var))
    }

    /// Behind the parameter `argv`: that `argv[argc]` is a null pointer, C11 5.1.2.2.1, if somebody uses both.
    fn end_of_arguments(&mut self, main: FuncId, param: usize) -> Option<Op> {
        let is_vector = matches!(self.signatures[main.index()].params.get(1), Some(Type::Pointer(_)));
        if param != 1 || !is_vector || !self.is_argument_count(main) || !self.is_used(main, 1) {
            return None;
        }
        let size_type = self.machine.size_type();
        let (argc, argv) = (self.funcs[main.index()].params[0], self.funcs[main.index()].params[1]);
        let argc = self.exprs.var(argc, self.vars[argc.index()].ty);
        let number = self.exprs.cast(argc, size_type);
        let width = self.exprs.constant(size_type, i128::from(size_type.bits / 8));
        let offset = self.exprs.binary(BinOp::Mul, number, width);
        let start = self.exprs.var(argv, self.vars[argv.index()].ty);
        let addr = self.exprs.binary(BinOp::Add, start, offset);
        let value = self.exprs.constant(size_type, 0);
        Some(Op::Store { addr, value, region: RegionId::new(0) })
    }
}
