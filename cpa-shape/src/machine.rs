// SPDX-License-Identifier: Apache-2.0
//! The meaning of the operations on graphs.

use std::collections::BTreeSet;
use std::sync::Arc;

use cfa::liveness::Dying;
use cfa::{EdgeId, ExprId, ExprKind, FuncId, Op, Program, Scope, VarId};
use cpa_core::{Step, Stop};

use crate::cpa::ShapeOptions;
use crate::eval::{Computed, Eval, Place, place};
use crate::graph::{Cell, End, Graph, Kind, Object, ObjectId, Pointer, Symbol, Value};
use crate::range::Range;

/// An address that depends on an unknown number with at most so many values has each of them in a case of its own.
const CASES: i128 = 16;

/// Values that are conditions have at most so many cases together.
const DECIDED: usize = 8;

/// If comparisons have more bounds than this, they are no bounds of ranges.
const THRESHOLDS: usize = 64;

/// The meaning of a program.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) program: Arc<Program>,
    pub(crate) options: ShapeOptions,
    sizes: Vec<u32>,
    dying: Dying,
    /// The local variables of each function.
    locals: Vec<Vec<VarId>>,
    /// The objects with fixed addresses that belong to each function.
    objects: Vec<Vec<ObjectId>>,
}

impl Machine {
    pub(crate) fn new(program: Arc<Program>, options: ShapeOptions) -> Self {
        let mut objects = vec![Vec::new(); program.funcs.len()];
        for (number, object) in (0..).zip(&program.objects) {
            if let Scope::Local(func) = object.scope {
                objects[func.index()].push(ObjectId::Fixed(number));
            }
        }
        Self {
            sizes: program.exprs.tree_sizes(),
            dying: Dying::new(&program),
            locals: program.locals(),
            objects,
            program,
            options,
        }
    }

    fn eval<'a>(&'a self, graph: &'a mut Graph) -> Eval<'a> {
        Eval { program: &self.program, sizes: &self.sizes, options: self.options, graph }
    }

    /// The graphs after a step; together they stand for all states that it leads to.
    pub(crate) fn post(&self, graph: &Graph, step: Step) -> Result<Vec<Graph>, Stop> {
        let mut next = graph.clone();
        let edge = step.edge();
        let mut graphs = match (step, &self.program.edge(edge).op) {
            (Step::Enter(_), Op::Call { callee, args, .. }) => {
                let mut graphs = self.decided(next, args);
                for graph in &mut graphs {
                    self.enter(graph, edge, *callee, args);
                }
                return Ok(graphs);
            }
            (Step::Leave(_), Op::Call { callee, result, .. }) => {
                self.leave(&mut next, *callee, *result);
                vec![next]
            }
            (Step::Edge(_), op) => self.cases(next, edge, op)?,
            (Step::Enter(_) | Step::Leave(_), _) => vec![next],
        };
        for graph in &mut graphs {
            for var in self.dying.behind(edge) {
                graph.vars.remove(var);
            }
        }
        Ok(graphs)
    }

    /// Graphs in each of which it is known which of the values that are conditions are true, as far as conditions tell.
    fn decided(&self, graph: Graph, values: &[ExprId]) -> Vec<Graph> {
        let mut graphs = vec![graph];
        for cond in values.iter().filter_map(|&value| self.condition(value)) {
            let mut cases = Vec::new();
            for graph in &graphs {
                for truth in [true, false] {
                    self.assume(graph, cond, truth, &mut cases);
                }
            }
            if cases.len() <= DECIDED {
                graphs = cases;
            }
        }
        graphs
    }

    /// The condition that a value is the truth of, if it is.
    fn condition(&self, value: ExprId) -> Option<ExprId> {
        match self.program.exprs.get(value).kind {
            ExprKind::Cast(arg) => self.condition(arg),
            ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Cmp(..) => Some(value),
            _ => None,
        }
    }

    /// Adds the graphs in which a condition has a truth value.
    fn assume(&self, graph: &Graph, cond: ExprId, truth: bool, graphs: &mut Vec<Graph>) {
        let mut graph = graph.clone();
        for case in self.eval(&mut graph).cases(cond, truth) {
            let mut graph = graph.clone();
            let mut eval = self.eval(&mut graph);
            if case.into_iter().all(|(cond, truth)| eval.assume(cond, truth)) && !graphs.contains(&graph) {
                graphs.push(graph);
            }
        }
    }

    fn enter(&self, graph: &mut Graph, call: EdgeId, callee: FuncId, args: &[ExprId]) {
        let values: Vec<Value> = args.iter().map(|&arg| self.eval(graph).value(arg)).collect();
        // What only the arguments were read from is not read after the return.
        for var in self.locals[callee.index()].iter().chain(self.dying.behind(call)) {
            graph.vars.remove(var);
        }
        for (&param, value) in self.program.func(callee).params.iter().zip(values) {
            graph.vars.insert(param, value);
        }
        for param in self.dying.unread_params(callee) {
            graph.vars.remove(param);
        }
    }

    fn leave(&self, graph: &mut Graph, callee: FuncId, result: Option<VarId>) {
        let returned = self.program.func(callee).ret.map(|ret| self.eval(graph).var(ret));
        for var in &self.locals[callee.index()] {
            graph.vars.remove(var);
        }
        for object in &self.objects[callee.index()] {
            graph.objects.remove(object);
        }
        if let Some(result) = result {
            match returned {
                Some(value) => graph.vars.insert(result, value),
                None => graph.vars.remove(&result),
            };
        }
    }

    /// An operation, for each of few numbers that its address depends on.
    fn cases(&self, graph: Graph, edge: EdgeId, op: &Op) -> Result<Vec<Graph>, Stop> {
        let addr = match op {
            Op::Load { addr, .. } | Op::Store { addr, .. } | Op::Zero { addr, .. } => *addr,
            _ => return self.operation(graph, edge, op),
        };
        let (mut open, mut done) = (vec![graph], Vec::new());
        while let Some(mut graph) = open.pop() {
            match self.index(&mut graph, addr) {
                Some((symbol, numbers)) => open.extend(numbers.into_iter().map(|number| {
                    let mut graph = graph.clone();
                    graph.restrict(symbol, Range::point(number));
                    graph
                })),
                None => done.extend(self.operation(graph, edge, op)?),
            }
        }
        Ok(done)
    }

    /// An unknown number with few values that an unknown address depends on, and the values.
    fn index(&self, graph: &mut Graph, addr: ExprId) -> Option<(Symbol, Vec<i128>)> {
        if let Computed::Value(Value::Int(_) | Value::Pointer(_)) = self.eval(graph).eval(addr) {
            return None;
        }
        self.program.exprs.vars(addr).into_iter().find_map(|var| {
            let Value::Unknown(symbol) = self.eval(graph).var(var) else { return None };
            let range = graph.range(symbol);
            let values = range.low()..=range.high();
            (range.high() - range.low() < CASES)
                .then(|| (symbol, values.filter(|value| range.contains(*value)).collect()))
        })
    }

    fn operation(&self, mut graph: Graph, edge: EdgeId, op: &Op) -> Result<Vec<Graph>, Stop> {
        match op {
            // What an unsupported operation leads to is reported by the analysis of locations.
            Op::Skip | Op::Unsupported { .. } | Op::Call { .. } => {}
            Op::Assume { cond, truth } => {
                let mut graphs = Vec::new();
                self.assume(&graph, *cond, *truth, &mut graphs);
                return Ok(graphs);
            }
            Op::Assign { var, value } => {
                let mut graphs = self.decided(graph, &[*value]);
                for graph in &mut graphs {
                    let value = self.eval(graph).value(*value);
                    graph.vars.insert(*var, value);
                }
                return Ok(graphs);
            }
            Op::Havoc { var, .. } => {
                graph.vars.remove(var);
            }
            Op::Alloc { var, size, .. } => {
                let Value::Int(size) = self.eval(&mut graph).value(*size) else {
                    return Err(self.gave_up(edge, "the size of an object is not known"));
                };
                let size = u64::try_from(size).unwrap_or(u64::MAX);
                let object = graph.make(Object::new(size, Some(edge)));
                graph.vars.insert(*var, Value::Pointer(Pointer { object, end: End::First, offset: 0 }));
            }
            Op::Load { var, addr, .. } => {
                let bytes = u64::from(self.program.var(*var).ty.bits / 8);
                let Some(place) = self.place(&mut graph, edge, *addr, bytes)? else {
                    let value = graph.unknown(Range::of(self.program.var(*var).ty));
                    graph.vars.insert(*var, value);
                    return Ok(vec![graph]);
                };
                let loaded = graph.decided(place.object, place.offset, bytes).into_iter().flat_map(|mut graph| {
                    let value = self.load(&mut graph, place, *var, bytes);
                    graph.exposed(value)
                });
                return Ok(loaded
                    .map(|(mut graph, value)| {
                        if let Value::Pointer(_) = value {
                            // The node of a crowd is the one that was meant here.
                            graph.object_mut(place.object).store(place.offset, Cell { bytes, value, each: false });
                        }
                        graph.vars.insert(*var, value);
                        graph
                    })
                    .collect());
            }
            Op::Store { addr, value, .. } => {
                let bytes = u64::from(self.program.exprs.ty(*value).bits / 8);
                if let Some(place) = self.place(&mut graph, edge, *addr, bytes)? {
                    let value = self.eval(&mut graph).value(*value);
                    self.known(&mut graph, place.object);
                    graph.object_mut(place.object).store(place.offset, Cell { bytes, value, each: false });
                }
            }
            Op::Zero { addr, size, .. } => {
                let Value::Int(size) = self.eval(&mut graph).value(*size) else {
                    return Err(self.gave_up(edge, "the size of an object is not known"));
                };
                let bytes = u64::try_from(size).unwrap_or(u64::MAX);
                if bytes > 0
                    && let Some(place) = self.place(&mut graph, edge, *addr, bytes)?
                {
                    self.known(&mut graph, place.object);
                    graph.object_mut(place.object).zero(place.offset, bytes);
                }
            }
            Op::Free { addr } => self.free(&mut graph, edge, *addr)?,
        }
        Ok(vec![graph])
    }

    /// Where an access goes, which must be known; none if it is to no object that lives.
    fn place(&self, graph: &mut Graph, edge: EdgeId, addr: ExprId, bytes: u64) -> Result<Option<Place>, Stop> {
        let addr = self.eval(graph).value(addr);
        place(&self.program, graph, addr, bytes).map_err(|why| self.gave_up(edge, why))
    }

    /// An object with a fixed address becomes part of the graph.
    fn known(&self, graph: &mut Graph, id: ObjectId) {
        if let ObjectId::Fixed(number) = id
            && !graph.objects.contains_key(&id)
        {
            let size = self.program.objects[number as usize].size;
            graph.objects.insert(id, Object::new(size, None).into());
        }
    }

    /// The value of bytes in the type of a variable.
    fn load(&self, graph: &mut Graph, place: Place, var: VarId, bytes: u64) -> Value {
        let ty = self.program.var(var).ty;
        self.known(graph, place.object);
        let object = graph.object(place.object);
        let is_free = object.is_free(place.offset, bytes);
        match object.load(place.offset, bytes).map(|cell| cell.value) {
            Some(Value::Int(value)) => Value::Int(ty.wrap(value)),
            Some(Value::Pointer(pointer)) if ty.bits == self.program.machine.size_type().bits => {
                Value::Pointer(pointer)
            }
            Some(Value::Unknown(symbol)) if graph.range(symbol).fits(ty) => Value::Unknown(symbol),
            Some(_) => graph.unknown(Range::of(ty)),
            None => {
                let value = graph.unknown(Range::of(ty));
                if is_free {
                    // The next access sees the same number.
                    graph.object_mut(place.object).store(place.offset, Cell { bytes, value, each: false });
                }
                value
            }
        }
    }

    fn free(&self, graph: &mut Graph, edge: EdgeId, addr: ExprId) -> Result<(), Stop> {
        match self.eval(graph).value(addr) {
            Value::Int(0) => Ok(()),
            Value::Pointer(Pointer { object, offset: 0, .. }) if graph.object(object).kind == Kind::Single => {
                // Nodes of a crowd may be dead, so beside one it does not matter which objects are.
                if graph.objects.values().all(|object| object.kind != Kind::Crowd) {
                    let object = graph.object_mut(object);
                    *object = Object { kind: Kind::Dead, ..Object::new(object.size, object.site) };
                }
                Ok(())
            }
            Value::Int(_) | Value::Pointer(_) => Err(self.gave_up(edge, "what is freed may not be an object")),
            Value::Unknown(_) => Err(self.gave_up(edge, "the address of what is freed is not known")),
        }
    }

    fn gave_up(&self, edge: EdgeId, why: &str) -> Stop {
        Stop::GaveUp(format!("{}: {why}", self.program.location(self.program.edge(edge).span)))
    }

    /// Drops what says nothing.
    pub(crate) fn collect(&self, graph: &mut Graph) {
        graph.collect(|var| self.program.var(var).ty);
    }

    /// The integers that the program compares with and their neighbours, if they are few, with 0 and 1.
    pub(crate) fn thresholds(&self) -> Vec<i128> {
        let exprs = &self.program.exprs;
        let mut bounds = BTreeSet::from([-1, 0, 1]);
        for id in exprs.ids() {
            if let ExprKind::Cmp(_, left, right) = exprs.get(id).kind {
                for constant in [left, right].into_iter().filter_map(|side| exprs.as_const(side)) {
                    bounds.extend([constant - 1, constant, constant + 1]);
                }
            }
        }
        if bounds.len() > THRESHOLDS {
            return vec![0];
        }
        // Numbers that variables are set to may be what others are compared with.
        let mut more = bounds.clone();
        for edge in &self.program.edges {
            if let Op::Assign { value, .. } = edge.op
                && let Some(constant) = exprs.as_const(value)
            {
                more.extend([constant - 1, constant, constant + 1]);
            }
        }
        let chosen = if more.len() > THRESHOLDS { bounds } else { more };
        chosen.into_iter().collect()
    }
    /// 0 and 1, and if they are few, by how much numbers are apart that compare with others plus constants; sorted.
    pub(crate) fn distances(&self) -> Vec<i128> {
        let exprs = &self.program.exprs;
        let mut constants = BTreeSet::new();
        let mut open: Vec<ExprId> = exprs.ids().filter(|id| matches!(exprs.get(*id).kind, ExprKind::Cmp(..))).collect();
        let mut seen: BTreeSet<ExprId> = open.iter().copied().collect();
        while let Some(id) = open.pop() {
            constants.extend(exprs.as_const(id));
            open.extend(exprs.operands(id).filter(|operand| seen.insert(*operand)));
        }
        let mut distances = BTreeSet::from([0, 1]);
        if constants.len() <= THRESHOLDS {
            let large = constants.into_iter().filter(|constant: &i128| constant.unsigned_abs() > 1);
            distances.extend(large.flat_map(|constant| [constant, constant + 1, -constant, 1 - constant]));
        }
        distances.into_iter().collect()
    }
}
