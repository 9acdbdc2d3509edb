// SPDX-License-Identifier: Apache-2.0
//! Which variables may have no value when they are read: a forward data-flow analysis over each function, so that the
//! machine needs to look only where it matters.
//!
//! Assigning to a local variable needs no values: what is computed without them has none itself. Variables that are put
//! together from parts (structures in one register) are known bit by bit.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{EdgeId, ExprId, FuncId, NodeId, VarId};
use crate::ir::{BinOp, ExprKind, HavocOrigin, Op, Scope};
use crate::program::Program;

use super::Storage;

/// A set of the variables of one function, by their position in it; behind them the known bits of some variables.
type Set = Vec<u64>;

/// All bits are known. Bits above the width of a type are always known.
const ALL: u64 = u64::MAX;

fn contains(set: &Set, at: usize) -> bool {
    set[at / 64] >> (at % 64) & 1 == 1
}

fn change(set: &mut Set, at: usize, member: bool) {
    if member {
        set[at / 64] |= 1 << (at % 64);
    } else {
        set[at / 64] &= !(1 << (at % 64));
    }
}

/// What is known about the variables of a program.
pub(super) struct Assigned {
    storage: Storage,
    nans: bool,
    /// Variables that may be read without a value, at least in a copy.
    pub(super) flagged: FxHashSet<VarId>,
    /// Local variables that only take bytes from memory to memory; a load may leave them without a value.
    pub(super) carriers: FxHashSet<VarId>,
    /// Edges and the variables that they read that may have no value there.
    doubtful: FxHashSet<(EdgeId, VarId)>,
    /// Edges that read such variables, but not the bits that are not known.
    complete: FxHashSet<EdgeId>,
    /// Functions whose result may have no value.
    pub(super) no_result: FxHashSet<FuncId>,
}

impl Assigned {
    pub(super) fn new(program: &Program, storage: Storage, nans: bool) -> Self {
        let mut result = Assigned {
            storage,
            nans,
            flagged: FxHashSet::default(),
            carriers: FxHashSet::default(),
            doubtful: FxHashSet::default(),
            complete: FxHashSet::default(),
            no_result: FxHashSet::default(),
        };
        if storage == Storage::Untouchable {
            result.carriers = carriers(program);
        }
        result.flagged.extend(doubtful_globals(program, storage, nans));
        let mut nodes: Vec<Vec<NodeId>> = vec![Vec::new(); program.funcs.len()];
        for node in program.node_ids() {
            nodes[program.node(node).func.index()].push(node);
        }
        // A result without a value goes into a variable of the caller, whose result may then have no value either.
        loop {
            let before = result.no_result.len();
            result.complete.clear();
            for (index, nodes) in nodes.iter().enumerate() {
                if program.funcs[index].body.is_some() {
                    Flow::new(program, FuncId::new(index), nodes).run(program, &mut result, nodes);
                }
            }
            if result.no_result.len() == before {
                return result;
            }
        }
    }

    /// Whether what the edge assigns or assumes is known, although it reads variables that may have no value.
    pub(super) fn is_complete(&self, edge: EdgeId) -> bool {
        self.complete.contains(&edge)
    }

    /// Whether the variable may have no value when the edge reads it.
    pub(super) fn is_doubtful(&self, program: &Program, edge: EdgeId, var: VarId) -> bool {
        match program.var(var).scope {
            Scope::Global => self.flagged.contains(&var),
            Scope::Local(_) => self.doubtful.contains(&(edge, var)),
        }
    }
}

/// Whether a variable has a value behind a havoc edge. What is not modelled has none that a run could be based on.
pub(super) fn gives_value(origin: &HavocOrigin, storage: Storage, nans: bool) -> bool {
    match origin {
        HavocOrigin::Nondet { .. } => true,
        HavocOrigin::Uninitialised => storage == Storage::Inputs,
        HavocOrigin::Unmodelled { .. } => false,
        HavocOrigin::NanBits => nans,
    }
}

/// The assigned expression, if it may be computed from variables without values.
pub(super) fn lazy_value(program: &Program, op: &Op) -> Option<ExprId> {
    let Op::Assign { var, value } = op else { return None };
    let is_local = matches!(program.var(*var).scope, Scope::Local(_));
    (is_local && program.exprs.is_total(*value)).then_some(*value)
}

/// The variable whose value the operation stores as it is.
pub(super) fn stored_copy(program: &Program, op: &Op) -> Option<VarId> {
    let Op::Store { value, .. } = op else { return None };
    match program.exprs.get(*value).kind {
        ExprKind::Var(var) => Some(var),
        _ => None,
    }
}

/// Local variables that are loaded and otherwise only stored as they are.
fn carriers(program: &Program) -> FxHashSet<VarId> {
    let mut loaded = FxHashSet::default();
    let mut other = FxHashSet::default();
    for edge in &program.edges {
        if let Op::Load { var, .. } = &edge.op
            && matches!(program.var(*var).scope, Scope::Local(_))
        {
            loaded.insert(*var);
        }
        match (&edge.op, stored_copy(program, &edge.op)) {
            (Op::Store { addr, .. }, Some(_)) => other.extend(program.exprs.vars(*addr)),
            _ => other.extend(program.read_by(&edge.op)),
        }
    }
    for function in &program.funcs {
        other.extend(function.ret);
    }
    loaded.retain(|var| !other.contains(var));
    loaded
}

/// Global variables that may be read without a value: those that the straight way from the start does not assign, and
/// those that something takes the value away from.
fn doubtful_globals(program: &Program, storage: Storage, nans: bool) -> impl Iterator<Item = VarId> {
    let mut assigned = FxHashSet::default();
    let mut at = program.entry;
    let mut steps = 0;
    while let [only] = program.node(at).leaving[..]
        && steps < program.edges.len()
    {
        steps += 1;
        let edge = program.edge(only);
        if matches!(edge.op, Op::Call { .. } | Op::Unsupported { .. }) {
            break;
        }
        assigned.extend(edge.op.written());
        at = edge.dst;
    }
    for edge in &program.edges {
        if let Op::Havoc { var, origin } = &edge.op
            && !gives_value(origin, storage, nans)
        {
            assigned.remove(var);
        }
    }
    let global = |var: &VarId| program.var(*var).scope == Scope::Global;
    (0..program.vars.len()).map(VarId::new).filter(move |var| global(var) && !assigned.contains(var))
}

/// The analysis of one function.
struct Flow {
    func: FuncId,
    positions: FxHashMap<VarId, usize>,
    /// Variables that are put together from parts, and the words with their known bits.
    masks: FxHashMap<VarId, usize>,
    words: usize,
}

impl Flow {
    fn new(program: &Program, func: FuncId, nodes: &[NodeId]) -> Self {
        let mut positions = FxHashMap::default();
        let mut add = |var: VarId| {
            if program.var(var).scope == Scope::Local(func) {
                let next = positions.len();
                positions.entry(var).or_insert(next);
            }
        };
        for &node in nodes {
            for &edge in &program.node(node).leaving {
                program.read_by(&program.edge(edge).op).into_iter().for_each(&mut add);
            }
        }
        program.func(func).ret.into_iter().for_each(&mut add);
        let bits = positions.len().div_ceil(64);
        let mut masks = FxHashMap::default();
        for &node in nodes {
            for &edge in &program.node(node).leaving {
                if let Op::Assign { var, value } = program.edge(edge).op
                    && positions.contains_key(&var)
                    && matches!(program.exprs.get(value).kind, ExprKind::Binary(BinOp::BitOr | BinOp::BitAnd, ..))
                    && program.exprs.vars(value).contains(&var)
                {
                    let next = bits + masks.len();
                    masks.entry(var).or_insert(next);
                }
            }
        }
        let words = bits + masks.len();
        Flow { func, positions, masks, words }
    }

    /// The bits of a variable that are known.
    fn known_bits(&self, program: &Program, result: &Assigned, set: &Set, var: VarId) -> u64 {
        if program.var(var).scope == Scope::Global {
            return if result.flagged.contains(&var) { 0 } else { ALL };
        }
        match (self.masks.get(&var), self.positions.get(&var)) {
            (Some(&word), _) => set[word],
            (None, Some(&at)) if !contains(set, at) => 0,
            _ => ALL,
        }
    }

    fn learn(&self, set: &mut Set, var: VarId, known: u64) {
        if let Some(&word) = self.masks.get(&var) {
            set[word] = known;
        }
        if let Some(&at) = self.positions.get(&var) {
            change(set, at, known == ALL);
        }
    }

    /// The bits of an expression that do not depend on unknown bits.
    fn known(&self, program: &Program, result: &Assigned, set: &Set, id: ExprId) -> u64 {
        self.known_of(program, result, set, id, &mut FxHashMap::default())
    }

    fn known_of(
        &self,
        program: &Program,
        result: &Assigned,
        set: &Set,
        id: ExprId,
        memo: &mut FxHashMap<ExprId, u64>,
    ) -> u64 {
        if let Some(&known) = memo.get(&id) {
            return known;
        }
        let exprs = &program.exprs;
        let expr = exprs.get(id);
        let mut of = |id: ExprId| self.known_of(program, result, set, id, memo);
        let above = |bits: u32| if bits >= 64 { 0 } else { ALL << bits };
        let constant = |id: ExprId| exprs.as_const(id).map(|value| value as u64);
        let known = match expr.kind {
            ExprKind::Const(_) => ALL,
            ExprKind::Var(var) => self.known_bits(program, result, set, var),
            _ if self.all_known(program, result, id, set) => ALL,
            ExprKind::Binary(BinOp::BitAnd, a, b) => match constant(b) {
                Some(mask) => of(a) | !mask,
                None => of(a) & of(b),
            },
            ExprKind::Binary(BinOp::BitOr | BinOp::BitXor, a, b) => of(a) & of(b),
            ExprKind::Binary(BinOp::Shl, a, b) => match constant(b) {
                Some(amount) if amount < 64 => of(a) << amount | !(ALL << amount) | above(expr.ty.bits),
                _ => 0,
            },
            ExprKind::Binary(BinOp::Shr, a, b) if !expr.ty.signed => match constant(b) {
                Some(amount) if amount < 64 => of(a) >> amount | !(ALL >> amount),
                _ => 0,
            },
            ExprKind::Cast(a) => {
                let from = exprs.ty(a);
                let known = of(a);
                // The bits above a signed value are copies of the highest one.
                let sign_is_known = !from.signed || known >> (from.bits - 1) & 1 == 1;
                let known = if sign_is_known { known } else { known & !above(from.bits) };
                known | above(expr.ty.bits)
            }
            _ if exprs.operands(id).all(|operand| of(operand) == ALL) => ALL,
            _ => 0,
        };
        memo.insert(id, known);
        known
    }

    /// Adds what is found to the result.
    fn run(&self, program: &Program, result: &mut Assigned, nodes: &[NodeId]) {
        let body = program.func(self.func).body.expect("it has a body");
        let mut params: Set = vec![0; self.words];
        for param in &program.func(self.func).params {
            self.learn(&mut params, *param, ALL);
        }
        // The variables that have values, for nodes where that is not just what the only arriving edge leaves.
        let mut known: FxHashMap<NodeId, Set> = FxHashMap::default();
        let mut todo: BTreeSet<(u32, NodeId)> = BTreeSet::new();
        // A node without arriving edges is the beginning of something, and the ends are asked for.
        let is_join = |node: NodeId| {
            program.node(node).entering.len() != 1 || [body.entry, body.exit, program.entry].contains(&node)
        };
        let mut begin = |node: NodeId, set: Set, known: &mut FxHashMap<NodeId, Set>| {
            known.insert(node, set);
            todo.insert((program.node(node).rpo, node));
        };
        if self.func == program.main {
            begin(program.entry, vec![0; self.words], &mut known);
        }
        if program.entry != body.entry {
            begin(body.entry, params, &mut known);
        }
        while let Some((_, start)) = todo.pop_first() {
            let mut branches = vec![(start, known[&start].clone())];
            while let Some((mut node, mut set)) = branches.pop() {
                loop {
                    let leaving = &program.node(node).leaving;
                    let Some(&last) = leaving.last() else { break };
                    if leaving.len() == 2 {
                        let other = program.edge(leaving[0]).dst;
                        if self.arrive(program, &mut known, &mut todo, other, &set, is_join(other)) {
                            branches.push((other, set.clone()));
                        }
                    }
                    self.apply(program, result, last, &mut set);
                    let next = program.edge(last).dst;
                    if !self.arrive(program, &mut known, &mut todo, next, &set, is_join(next)) {
                        break;
                    }
                    node = next;
                }
            }
        }
        // What edges read is looked up once all is known.
        for &node in nodes {
            let Some(set) = known.get(&node) else { continue };
            self.collect(program, result, node, set.clone(), &is_join);
        }
        if let Some(ret) = program.func(self.func).ret
            && known.get(&body.exit).is_some_and(|set| !contains(set, self.positions[&ret]))
        {
            result.flagged.insert(ret);
            result.no_result.insert(self.func);
        }
    }

    /// Joins `set` into what is known at a node; whether the caller has to go on from there itself.
    fn arrive(
        &self,
        program: &Program,
        known: &mut FxHashMap<NodeId, Set>,
        todo: &mut BTreeSet<(u32, NodeId)>,
        node: NodeId,
        set: &Set,
        is_join: bool,
    ) -> bool {
        if !is_join {
            return true;
        }
        match known.get_mut(&node) {
            None => {
                known.insert(node, set.clone());
                todo.insert((program.node(node).rpo, node));
            }
            Some(old) => {
                let mut changed = false;
                for (old, new) in old.iter_mut().zip(set) {
                    changed |= *old & !new != 0;
                    *old &= new;
                }
                if changed {
                    todo.insert((program.node(node).rpo, node));
                }
            }
        }
        false
    }

    /// The effect of an edge.
    fn apply(&self, program: &Program, result: &Assigned, edge: EdgeId, set: &mut Set) {
        let op = &program.edge(edge).op;
        let (var, has_value) = match op {
            Op::Assign { var, .. } => {
                let known = lazy_value(program, op).map_or(ALL, |value| self.known(program, result, set, value));
                return self.learn(set, *var, known);
            }
            Op::Havoc { var, origin } => (*var, gives_value(origin, result.storage, result.nans)),
            Op::Load { var, .. } => (*var, !result.carriers.contains(var)),
            Op::Alloc { var, size, .. } => (*var, self.all_known(program, result, *size, set)),
            Op::Call { callee, result: Some(var), .. } => (*var, !result.no_result.contains(callee)),
            _ => return,
        };
        self.learn(set, var, if has_value { ALL } else { 0 });
    }

    /// Whether all variables of an expression have values.
    fn all_known(&self, program: &Program, result: &Assigned, expr: ExprId, set: &Set) -> bool {
        program.exprs.vars(expr).into_iter().all(|var| self.known_bits(program, result, set, var) == ALL)
    }

    /// Finds the doubtful reads from a node on, up to the next nodes with an entry of their own.
    fn collect(
        &self,
        program: &Program,
        result: &mut Assigned,
        start: NodeId,
        set: Set,
        is_join: &impl Fn(NodeId) -> bool,
    ) {
        let mut branches = vec![(start, set)];
        while let Some((mut node, mut set)) = branches.pop() {
            loop {
                let leaving = &program.node(node).leaving;
                for &edge in leaving {
                    for var in program.read_by(&program.edge(edge).op) {
                        if let Some(&at) = self.positions.get(&var)
                            && !contains(&set, at)
                        {
                            result.flagged.insert(var);
                            result.doubtful.insert((edge, var));
                        }
                    }
                    let value = match &program.edge(edge).op {
                        Op::Assume { cond, .. } if program.exprs.is_total(*cond) => Some(*cond),
                        op => lazy_value(program, op),
                    };
                    if let Some(value) = value
                        && self.known(program, result, &set, value) == ALL
                    {
                        result.complete.insert(edge);
                    }
                }
                let Some(&last) = leaving.last() else { break };
                if leaving.len() == 2 && !is_join(program.edge(leaving[0]).dst) {
                    branches.push((program.edge(leaving[0]).dst, set.clone()));
                }
                self.apply(program, result, last, &mut set);
                node = program.edge(last).dst;
                if is_join(node) {
                    break;
                }
            }
        }
    }
}
