// SPDX-License-Identifier: Apache-2.0
//! The automaton as code: functions, locations, operations.

use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{EdgeId, ExprId, FuncId, NodeId, VarId};
use crate::ir::{AllocKind, BinOp, ExprKind, HavocOrigin, Object, Op, Scope};
use crate::program::Program;

use super::assigned::{Assigned, gives_value, lazy_value, stored_copy};
use super::code::{Instr, Kind, Reg, Registers};
use super::{Move, NanSign, Setup, Storage, TooLarge};

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Code {
    pub(super) instrs: Vec<Instr>,
    /// The edge that each instruction belongs to.
    pub(super) places: Vec<EdgeId>,
    pub(super) registers: Registers,
    /// Objects with fixed addresses that live from the start: address and size.
    pub(super) global_objects: Vec<(u64, u64)>,
    /// Those of them that are constant.
    pub(super) constant_objects: Vec<(u64, u64)>,
    /// The objects with fixed addresses of each function.
    pub(super) local_objects: Vec<Vec<(u64, u64)>>,
    /// The first and last address of accesses that must stay in an object.
    pub(super) ranges: Vec<(u64, u64)>,
    pub(super) storage: Storage,
    pub(super) heap_start: u64,
    pub(super) pointer_bits: u32,
    pub(super) edges: usize,
    /// The locations where a run can pause by where their code begins, in rising order.
    pub(super) pauses: Vec<(u32, NodeId)>,
}

impl Code {
    /// Compiles a program.
    pub fn new(program: &Program, setup: &Setup<'_>) -> Result<Code, TooLarge> {
        let mut compiler = Compiler::new(program, setup)?;
        compiler.program()?;
        Ok(compiler.finish())
    }
}

/// A place in the code that may not be known yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label(u32);

pub(super) struct Compiler<'p> {
    pub(super) program: &'p Program,
    pub(super) setup: &'p Setup<'p>,
    assigned: Assigned,
    pub(super) registers: Registers,
    instrs: Vec<Instr>,
    places: Vec<EdgeId>,
    pauses: Vec<(u32, NodeId)>,
    labels: Vec<Option<u32>>,
    of_nodes: Vec<Option<Label>>,
    of_funcs: Vec<Option<Label>>,
    pending_funcs: Vec<FuncId>,
    recursive: FxHashSet<FuncId>,
    local_objects: Vec<Vec<(u64, u64)>>,
    /// The edge into the body of `main` when the program starts.
    sealing: Option<EdgeId>,
    edge: EdgeId,
    /// Variables that the edge reads that may have no value.
    pub(super) doubts: Vec<VarId>,
    /// Values that were computed for the edge.
    pub(super) memo: FxHashMap<ExprId, Reg>,
    pub(super) journal: Vec<ExprId>,
    pub(super) conditions: u32,
    temporaries: usize,
    ranges: IndexSet<(u64, u64)>,
}

impl<'p> Compiler<'p> {
    fn new(program: &'p Program, setup: &'p Setup<'p>) -> Result<Self, TooLarge> {
        let assigned = Assigned::new(program, setup.storage, setup.nans.is_some());
        let mut used: FxHashSet<VarId> =
            program.funcs.iter().flat_map(|f| f.params.iter().copied().chain(f.ret)).collect();
        for edge in &program.edges {
            used.extend(program.read_by(&edge.op));
            used.extend(edge.op.written());
        }
        let registers = Registers::new(program, |var| used.contains(&var), |var| assigned.flagged.contains(&var))?;
        let mut local_objects = vec![Vec::new(); program.funcs.len()];
        for object in &program.objects {
            if let Scope::Local(func) = object.scope {
                local_objects[func.index()].push((object.addr, object.size));
            }
        }
        Ok(Compiler {
            program,
            setup,
            assigned,
            registers,
            instrs: Vec::new(),
            places: Vec::new(),
            pauses: Vec::new(),
            labels: Vec::new(),
            of_nodes: vec![None; program.nodes.len()],
            of_funcs: vec![None; program.funcs.len()],
            pending_funcs: Vec::new(),
            recursive: recursive(program),
            local_objects,
            sealing: sealing(program),
            edge: EdgeId::new(0),
            doubts: Vec::new(),
            memo: FxHashMap::default(),
            journal: Vec::new(),
            conditions: 0,
            temporaries: 0,
            ranges: IndexSet::new(),
        })
    }

    pub(super) fn emit(&mut self, instr: Instr) {
        self.instrs.push(instr);
        self.places.push(self.edge);
    }

    pub(super) fn temporary(&mut self) -> Result<Reg, TooLarge> {
        self.temporaries += 1;
        self.registers.temporary(self.temporaries - 1)
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    pub(super) fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.instrs.len() as u32);
    }

    fn is_bound(&self, label: Label) -> bool {
        self.labels[label.0 as usize].is_some()
    }

    pub(super) fn jump(&mut self, label: Label) {
        self.emit(if self.is_bound(label) { Instr::Loop(label.0) } else { Instr::Jump(label.0) });
    }

    /// Emits a conditional jump forwards.
    pub(super) fn jump_if(&mut self, instr: Instr, label: Label) {
        debug_assert!(!self.is_bound(label), "only unconditional jumps lead backwards");
        self.emit(with_destination(instr, label.0));
    }

    fn of_node(&mut self, node: NodeId) -> Label {
        if let Some(label) = self.of_nodes[node.index()] {
            return label;
        }
        let label = self.label();
        self.of_nodes[node.index()] = Some(label);
        label
    }

    fn of_func(&mut self, func: FuncId) -> Label {
        if let Some(label) = self.of_funcs[func.index()] {
            return label;
        }
        let label = self.label();
        self.of_funcs[func.index()] = Some(label);
        self.pending_funcs.push(func);
        label
    }

    fn program(&mut self) -> Result<(), TooLarge> {
        let program = self.program;
        self.prologue(program.main)?;
        self.locations(program.entry)?;
        while let Some(func) = self.pending_funcs.pop() {
            let label = self.of_func(func);
            self.bind(label);
            self.prologue(func)?;
            self.locations(program.func(func).body.expect("called functions have bodies").entry)?;
        }
        Ok(())
    }

    /// A call of a function, one of the program itself if there is one.
    fn call_of(&self, func: FuncId) -> EdgeId {
        let program = self.program;
        let is_call = |edge: &EdgeId| matches!(program.edge(*edge).op, Op::Call { callee, .. } if callee == func);
        let mut calls = (0..program.edges.len()).map(EdgeId::new).filter(is_call);
        let is_own = |edge: &EdgeId| program.is_users(program.edge(*edge).span);
        calls.clone().find(is_own).or_else(|| calls.next()).unwrap_or(self.edge)
    }

    /// What happens when a function is entered.
    fn prologue(&mut self, func: FuncId) -> Result<(), TooLarge> {
        let program = self.program;
        if !self.local_objects[func.index()].is_empty() {
            if self.recursive.contains(&func) {
                // A second activation would take the objects of the first one.
                self.edge = self.call_of(func);
                self.emit(Instr::Unsupported);
            }
            self.emit(Instr::Birth(func));
        }
        let params = &program.func(func).params;
        let mut flags = Vec::new();
        for index in 0..program.vars.len() {
            let var = VarId::new(index);
            if self.assigned.flagged.contains(&var)
                && program.var(var).scope == Scope::Local(func)
                && !params.contains(&var)
            {
                flags.extend(self.registers.flag(var));
            }
        }
        let zero = self.registers.constant(0)?;
        for flag in flags {
            self.emit(Instr::Copy(flag, zero));
        }
        Ok(())
    }

    /// The code of all locations that are reached inside a function.
    fn locations(&mut self, start: NodeId) -> Result<(), TooLarge> {
        let mut branches: Vec<(Label, EdgeId)> = Vec::new();
        let mut next = Some(start);
        loop {
            let node = match next.take() {
                Some(node) => node,
                None => match branches.pop() {
                    Some((label, edge)) => {
                        self.bind(label);
                        self.branch(edge)
                    }
                    None => return Ok(()),
                },
            };
            let label = self.of_node(node);
            if self.is_bound(label) {
                self.jump(label);
            } else {
                self.bind(label);
                if self.setup.pauses.contains(&node) {
                    let here = self.label();
                    self.emit(Instr::Loop(here.0));
                    self.bind(here);
                    self.pauses.push((self.instrs.len() as u32, node));
                }
                next = self.location(node, &mut branches)?;
            }
        }
    }

    /// What a branch begins with; where it leads.
    fn branch(&mut self, edge: EdgeId) -> NodeId {
        self.edge = edge;
        if self.setup.steps {
            self.emit(Instr::Step(Move::Edge(edge)));
        }
        if self.setup.coverage {
            self.emit(Instr::Cover(edge));
        }
        self.program.edge(edge).dst
    }

    /// The code of a location and of the leaving edge; where to go on.
    fn location(&mut self, node: NodeId, branches: &mut Vec<(Label, EdgeId)>) -> Result<Option<NodeId>, TooLarge> {
        let program = self.program;
        if self.setup.targets.contains(&node) {
            self.emit(Instr::Target(node));
            return Ok(None);
        }
        match program.node(node).leaving[..] {
            [] => {
                let func = program.node(node).func;
                if program.func(func).body.is_some_and(|body| body.exit == node) {
                    if !self.local_objects[func.index()].is_empty() {
                        self.emit(Instr::Death(func));
                    }
                    self.emit(Instr::Return);
                } else {
                    self.emit(Instr::Halt(node));
                }
                Ok(None)
            }
            [only] => {
                self.begin(only);
                self.operation(only)?;
                if self.sealing == Some(only) {
                    self.emit(Instr::Seal);
                }
                let ends = matches!(program.edge(only).op, Op::Unsupported { .. });
                Ok((!ends).then_some(program.edge(only).dst))
            }
            ref leaving if leaving.iter().any(|edge| !matches!(program.edge(*edge).op, Op::Assume { .. })) => {
                // Only in automata made by hand, as in tests.
                for &edge in leaving {
                    self.edge = edge;
                    let label = self.label();
                    self.jump_if(Instr::JumpTaken(edge, 0), label);
                    branches.push((label, edge));
                }
                self.emit(Instr::Unsupported);
                Ok(None)
            }
            [yes, no, ..] => {
                self.begin(yes);
                let Op::Assume { cond, .. } = program.edge(yes).op else { unreachable!("looked at above") };
                let otherwise = self.label();
                self.condition(cond, false, otherwise)?;
                branches.push((otherwise, no));
                Ok(Some(self.branch(yes)))
            }
        }
    }

    fn begin(&mut self, edge: EdgeId) {
        self.edge = edge;
        self.memo.clear();
        self.journal.clear();
        self.conditions = 0;
        self.temporaries = 0;
        self.doubts.clear();
        if self.assigned.is_complete(edge) {
            return;
        }
        let read = self.program.read_by(&self.program.edge(edge).op);
        self.doubts = read.into_iter().filter(|var| self.assigned.is_doubtful(self.program, edge, *var)).collect();
    }

    /// Notes that a variable has a value now, or has none.
    fn mark(&mut self, var: VarId, has_value: bool) -> Result<(), TooLarge> {
        if let Some(flag) = self.registers.flag(var) {
            let value = self.registers.constant(u64::from(has_value))?;
            self.emit(Instr::Copy(flag, value));
        }
        Ok(())
    }

    fn operation(&mut self, id: EdgeId) -> Result<(), TooLarge> {
        let op = &self.program.edge(id).op;
        if self.setup.steps && !matches!(op, Op::Call { .. }) {
            self.emit(Instr::Step(Move::Edge(id)));
        }
        let kind = |var: VarId| Kind::of(self.program.var(var).ty);
        match op {
            Op::Skip => Ok(()),
            Op::Assume { .. } => unreachable!("assumptions come in pairs"),
            Op::Assign { var, value } => {
                let target = self.registers.var(*var);
                let doubts = match lazy_value(self.program, op) {
                    // The value is computed from what happens to be there, and counts as none.
                    Some(_) => std::mem::take(&mut self.doubts),
                    None => Vec::new(),
                };
                if doubts.is_empty() {
                    self.value_into(*value, target)?;
                    return self.mark(*var, true);
                }
                // The variable may be one of those that the value depends on.
                let has_value = self.temporary()?;
                let one = self.registers.constant(1)?;
                self.emit(Instr::Copy(has_value, one));
                for flag in doubts.iter().filter_map(|var| self.registers.flag(*var)).collect::<Vec<_>>() {
                    self.emit(Instr::BothTrue(has_value, has_value, flag));
                }
                self.value_into(*value, target)?;
                if let Some(flag) = self.registers.flag(*var) {
                    self.emit(Instr::Copy(flag, has_value));
                }
                Ok(())
            }
            Op::Havoc { var, origin } => {
                if !gives_value(origin, self.setup.storage, self.setup.nans.is_some()) {
                    return self.mark(*var, false);
                }
                let target = self.registers.var(*var);
                if *origin == HavocOrigin::NanBits {
                    let negative = self.setup.nans == Some(NanSign::Negative);
                    let sign = u64::from(negative) << (self.program.var(*var).ty.bits - 1);
                    let sign = self.registers.constant(sign)?;
                    self.emit(Instr::Copy(target, sign));
                } else {
                    self.emit(Instr::Input(kind(*var), target));
                }
                self.mark(*var, true)
            }
            Op::Load { var, addr, .. } => {
                let (kind, target) = (kind(*var), self.registers.var(*var));
                let addr = self.address(*addr, kind)?;
                if self.assigned.carriers.contains(var) {
                    let flag = match self.registers.flag(*var) {
                        Some(flag) => flag,
                        None => self.temporary()?,
                    };
                    self.emit(Instr::LoadLazy(kind, target, addr, flag));
                    return Ok(());
                }
                self.emit(Instr::Load(kind, target, addr));
                self.mark(*var, true)
            }
            Op::Store { addr, value, .. } => {
                let kind = Kind::of(self.program.exprs.ty(*value));
                let addr = self.address(*addr, kind)?;
                if let Some(var) = stored_copy(self.program, op)
                    && self.doubts.contains(&var)
                    && self.setup.storage == Storage::Untouchable
                {
                    let flag = self.registers.flag(var).expect("doubtful variables have flags");
                    let (good, end) = (self.label(), self.label());
                    self.jump_if(Instr::JumpNonzero(flag, 0), good);
                    self.emit(Instr::StoreNothing(kind, addr));
                    self.jump(end);
                    self.bind(good);
                    self.emit(Instr::Store(kind, addr, self.registers.var(var)));
                    self.bind(end);
                    return Ok(());
                }
                let value = self.value(*value)?;
                self.emit(Instr::Store(kind, addr, value));
                Ok(())
            }
            Op::Alloc { var, .. } if self.setup.storage == Storage::Untouchable && self.may_lack_value(*var) => {
                // An object of unknown size, as the arguments of `main`: nobody may use it.
                if self.registers.flag(*var).is_none() {
                    return Ok(());
                }
                let flags: Vec<Reg> = self.doubts.iter().filter_map(|var| self.registers.flag(*var)).collect();
                let (unknown, end) = (self.label(), self.label());
                for flag in flags {
                    self.jump_if(Instr::JumpZero(flag, 0), unknown);
                }
                self.doubts.clear();
                self.allocate(op)?;
                self.jump(end);
                self.bind(unknown);
                self.mark(*var, false)?;
                self.bind(end);
                Ok(())
            }
            Op::Alloc { .. } => self.allocate(op),
            Op::Free { addr } => {
                let addr = self.value(*addr)?;
                self.emit(Instr::Free(addr));
                Ok(())
            }
            Op::Zero { addr, size, .. } => {
                let (addr, size) = (self.value(*addr)?, self.value(*size)?);
                self.emit(Instr::Zero(addr, size));
                Ok(())
            }
            Op::Call { callee, args, result } => self.call(id, *callee, args, *result),
            Op::Unsupported { .. } => {
                self.emit(Instr::Unsupported);
                Ok(())
            }
        }
    }

    /// The register with the address of an access, which is checked to stay in the object that it starts from where that
    /// can be seen: a sum with the constant address of an object or a part of it.
    fn address(&mut self, id: ExprId, kind: Kind) -> Result<Reg, TooLarge> {
        let reg = self.value(id)?;
        if let Some(object) = base_object(self.program, id) {
            let size = kind.bytes() as u64;
            let range = (object.addr, (object.addr + object.size).saturating_sub(size));
            let position = self.ranges.insert_full(range).0;
            self.emit(Instr::Within(reg, position as u32));
        }
        Ok(reg)
    }

    fn allocate(&mut self, op: &Op) -> Result<(), TooLarge> {
        let Op::Alloc { var, size, kind, .. } = op else { unreachable!("only called for allocations") };
        let size = self.value(*size)?;
        self.emit(Instr::Alloc(self.registers.var(*var), size));
        if *kind == AllocKind::Arguments {
            let pointer = Kind::of(self.program.var(*var).ty);
            self.emit(Instr::Arguments(pointer, self.registers.var(*var), size));
        }
        self.mark(*var, true)
    }

    /// Whether a variable is local, and what the edge writes to it depends on variables that may have no value.
    fn may_lack_value(&self, var: VarId) -> bool {
        matches!(self.program.var(var).scope, Scope::Local(_)) && !self.doubts.is_empty()
    }

    fn call(&mut self, id: EdgeId, callee: FuncId, args: &[ExprId], result: Option<VarId>) -> Result<(), TooLarge> {
        let function = self.program.func(callee);
        let recursive = self.recursive.contains(&callee);
        if recursive {
            let values = args.iter().map(|&arg| self.argument(arg)).collect::<Result<Vec<_>, _>>()?;
            self.emit(Instr::Save(callee));
            for (&param, value) in function.params.iter().zip(values) {
                self.emit(Instr::Copy(self.registers.var(param), value));
            }
        } else {
            for (&param, &arg) in function.params.iter().zip(args) {
                self.value_into(arg, self.registers.var(param))?;
            }
        }
        for &param in &function.params {
            self.mark(param, true)?;
        }
        if self.setup.steps {
            self.emit(Instr::Step(Move::Enter(id)));
        }
        let label = self.of_func(callee);
        self.emit(Instr::Call(label.0));
        if self.setup.steps {
            self.emit(Instr::Step(Move::Leave(id)));
        }
        let ret = function.ret.filter(|_| result.is_some());
        let flag = ret.filter(|_| self.assigned.no_result.contains(&callee)).and_then(|ret| self.registers.flag(ret));
        let mut value = ret.map(|ret| self.registers.var(ret));
        let mut has_value = flag;
        if recursive {
            // The registers of the callee may be those of the caller.
            for reg in [&mut value, &mut has_value].into_iter().flatten() {
                let saved = self.temporary()?;
                self.emit(Instr::Copy(saved, *reg));
                *reg = saved;
            }
            self.emit(Instr::Restore(callee));
        }
        let (Some(result), Some(value), Some(ret)) = (result, value, ret) else { return Ok(()) };
        match (has_value, self.registers.flag(result)) {
            (Some(has_value), _) if self.program.var(result).scope == Scope::Global => {
                self.emit(Instr::NeedValue(has_value, ret));
                self.emit(Instr::Copy(self.registers.var(result), value));
                self.mark(result, true)
            }
            (Some(has_value), Some(flag)) => {
                self.emit(Instr::Copy(self.registers.var(result), value));
                self.emit(Instr::Copy(flag, has_value));
                Ok(())
            }
            _ => {
                self.emit(Instr::Copy(self.registers.var(result), value));
                self.mark(result, true)
            }
        }
    }

    /// The value of an argument in a register that does not change when parameters are written.
    fn argument(&mut self, arg: ExprId) -> Result<Reg, TooLarge> {
        let value = self.value(arg)?;
        if self.program.exprs.as_const(arg).is_some() {
            return Ok(value);
        }
        let saved = self.temporary()?;
        self.emit(Instr::Copy(saved, value));
        Ok(saved)
    }

    fn finish(mut self) -> Code {
        for at in 0..self.instrs.len() {
            let instr = self.instrs[at];
            if let Some(label) = destination(instr) {
                let to = self.labels[label as usize].expect("all labels are bound");
                self.instrs[at] = if instr == Instr::Loop(label) && to == at as u32 {
                    Instr::Idle
                } else {
                    with_destination(instr, to)
                };
            }
        }
        let globals = || self.program.objects.iter().filter(|object| object.scope == Scope::Global);
        Code {
            // In the order of the code.
            pauses: self.pauses,
            places: self.places,
            registers: self.registers,
            global_objects: globals().map(|object| (object.addr, object.size)).collect(),
            constant_objects: globals().filter(|o| o.constant).map(|object| (object.addr, object.size)).collect(),
            local_objects: self.local_objects,
            ranges: self.ranges.into_iter().collect(),
            storage: self.setup.storage,
            heap_start: self.program.heap_start(),
            pointer_bits: self.program.machine.size_type().bits,
            edges: self.program.edges.len(),
            instrs: self.instrs,
        }
    }
}

/// The object that an address is computed from by adding something to a constant address in it; none if there are
/// several or the whole address is constant.
fn base_object(program: &Program, address: ExprId) -> Option<&Object> {
    let mut found = None;
    let mut todo = vec![address];
    while let Some(id) = todo.pop() {
        match program.exprs.get(id).kind {
            ExprKind::Binary(BinOp::Add, a, b) => todo.extend([a, b]),
            ExprKind::Const(value) if id != address => {
                let addr = u64::try_from(value).ok()?;
                let at = program.objects.partition_point(|object| object.addr <= addr);
                if let Some(object) = program.objects[..at].last()
                    && addr - object.addr < object.size
                    && found.replace(object).is_some()
                {
                    return None;
                }
            }
            _ => {}
        }
    }
    found
}

/// Where a jump or call leads.
fn destination(instr: Instr) -> Option<u32> {
    match instr {
        Instr::Jump(to)
        | Instr::Loop(to)
        | Instr::JumpZero(_, to)
        | Instr::JumpNonzero(_, to)
        | Instr::JumpEq(_, _, to)
        | Instr::JumpNe(_, _, to)
        | Instr::JumpLtS(_, _, to)
        | Instr::JumpLeS(_, _, to)
        | Instr::JumpLtU(_, _, to)
        | Instr::JumpLeU(_, _, to)
        | Instr::JumpTaken(_, to)
        | Instr::Call(to) => Some(to),
        _ => None,
    }
}

/// The same jump or call with another destination.
fn with_destination(instr: Instr, to: u32) -> Instr {
    match instr {
        Instr::Jump(_) => Instr::Jump(to),
        Instr::Loop(_) => Instr::Loop(to),
        Instr::JumpZero(a, _) => Instr::JumpZero(a, to),
        Instr::JumpNonzero(a, _) => Instr::JumpNonzero(a, to),
        Instr::JumpEq(a, b, _) => Instr::JumpEq(a, b, to),
        Instr::JumpNe(a, b, _) => Instr::JumpNe(a, b, to),
        Instr::JumpLtS(a, b, _) => Instr::JumpLtS(a, b, to),
        Instr::JumpLeS(a, b, _) => Instr::JumpLeS(a, b, to),
        Instr::JumpLtU(a, b, _) => Instr::JumpLtU(a, b, to),
        Instr::JumpLeU(a, b, _) => Instr::JumpLeU(a, b, to),
        Instr::JumpTaken(edge, _) => Instr::JumpTaken(edge, to),
        Instr::Call(_) => Instr::Call(to),
        other => other,
    }
}

/// The functions that may be called while they are active.
fn recursive(program: &Program) -> FxHashSet<FuncId> {
    let mut found: FxHashSet<FuncId> = program.recursive().into_iter().collect();
    // `main` is active from the start.
    let calls_main = |op: &Op| matches!(op, Op::Call { callee, .. } if *callee == program.main);
    if program.edges.iter().any(|edge| calls_main(&edge.op)) {
        found.insert(program.main);
    }
    found
}

/// The last edge of the initialisation of global variables.
fn sealing(program: &Program) -> Option<EdgeId> {
    let entry = program.func(program.main).body?.entry;
    let mut at = program.entry;
    let mut last = None;
    let mut seen = FxHashSet::default();
    while at != entry && seen.insert(at) {
        let [only] = program.node(at).leaving[..] else { return None };
        last = Some(only);
        at = program.edge(only).dst;
    }
    last
}
