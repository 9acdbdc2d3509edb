// SPDX-License-Identifier: Apache-2.0
//! The walk along the paths of a program, or of the body of a loop, with symbolic states. Calls are entered; loops are
//! passed by their summaries.

use std::collections::BTreeSet;
use std::rc::Rc;

use cfa::ids::{EdgeId, ExprId, FuncId, NodeId, RegionId, VarId};
use cfa::ir::{BinOp, ExprKind, Op};
use cfa::{AllocKind, IntTy, Program};
use cpa_core::{Cx, Stop};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::arrays::Write;
use crate::eval::{gave_up, signed_regions};
use crate::loops::Changes;
use crate::poly::{Atom, Poly};
use crate::pool::{ArrayId, ArrayKind, AtomKind, CondId, Pool};
use crate::prove::Prover;
use crate::range::Range;
use crate::state::{Cells, Extent, Named, Names, ObjectId, State};
use crate::subst::Replacement;

/// The most paths of one walk.
const PATHS: usize = 400;
/// The greatest depth of calls.
const CALLS: usize = 60;
/// The most terms.
const TERMS: usize = 400_000;

/// The part of a program that a walk stays in: the body of a loop.
pub(crate) struct Scope {
    pub(crate) head: NodeId,
    pub(crate) body: FxHashSet<NodeId>,
    /// The number of calls at the head.
    pub(crate) depth: usize,
}

/// Where a walk ended.
#[derive(Default)]
pub(crate) struct Walked {
    /// At the head of the loop again.
    pub(crate) back: Vec<State>,
    /// Outside of the loop, before anything happened there.
    pub(crate) exits: Vec<(NodeId, State)>,
    /// At a target, as far as is known.
    pub(crate) hits: Vec<State>,
}

/// How loops are summarised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Manner {
    /// Whether the first iteration of each loop is executed by itself.
    pub(crate) peel: bool,
}

/// A walk with everything that it knows.
pub(crate) struct Walker<'a> {
    pub(crate) program: &'a Program,
    pub(crate) targets: &'a BTreeSet<NodeId>,
    relevant: BTreeSet<NodeId>,
    recursive: BTreeSet<FuncId>,
    pub(crate) pool: Pool,
    pub(crate) prover: Prover<'a>,
    pub(crate) names: Names,
    pub(crate) signed: Vec<bool>,
    /// Variables that may say how long the rows of tables in a region are, see [`row_lengths`].
    row_lengths: BTreeSet<(RegionId, VarId)>,
    pub(crate) manner: Manner,
    /// The objects that stand for all those that an operation makes in a loop, and those with rows.
    pub(crate) tables: BTreeSet<ObjectId>,
    /// What the loops change, by their heads.
    pub(crate) changes: FxHashMap<NodeId, Rc<Changes>>,
    /// The iterations of the loops around, the outermost first.
    pub(crate) iterations: Vec<Atom>,
    /// Whether closed forms are guessed at present: results are taken not to leave their types.
    pub(crate) guess: bool,
    pub(crate) cx: &'a Cx,
}

impl<'a> Walker<'a> {
    /// A walk that has not begun.
    pub(crate) fn new(cx: &'a Cx, program: &'a Program, targets: &'a BTreeSet<NodeId>, manner: Manner) -> Self {
        Walker {
            program,
            targets,
            relevant: program.leading_to(targets),
            recursive: program.recursive(),
            pool: Pool::new(),
            prover: Prover::new(cx),
            names: Names::default(),
            signed: signed_regions(program),
            row_lengths: row_lengths(program),
            manner,
            tables: BTreeSet::new(),
            changes: FxHashMap::default(),
            iterations: Vec::new(),
            guess: false,
            cx,
        }
    }

    /// The parameters of what depends on the iterations around.
    pub(crate) fn parameters(&self) -> Vec<Poly> {
        self.iterations.iter().map(|atom| Poly::atom(*atom)).collect()
    }

    fn check(&self) -> Result<(), Stop> {
        if self.pool.size() > TERMS {
            return gave_up("the summaries got too large");
        }
        self.cx.check()
    }

    /// Follows all paths from a location; within a scope until they leave it or are at its head again.
    pub(crate) fn walk(&mut self, from: NodeId, state: State, scope: Option<&Scope>) -> Result<Walked, Stop> {
        let mut walked = Walked::default();
        let mut paths = 1;
        let mut open = vec![(from, state, true)];
        while let Some((node, mut state, first)) = open.pop() {
            self.check()?;
            if let Some(scope) = scope.filter(|scope| !first && state.calls.len() == scope.depth) {
                if node == scope.head {
                    walked.back.push(state);
                    continue;
                }
                if !scope.body.contains(&node) {
                    walked.exits.push((node, state));
                    continue;
                }
            }
            if self.targets.contains(&node) {
                walked.hits.push(state);
                continue;
            }
            if !self.relevant.contains(&node) {
                continue;
            }
            let itself = first && scope.is_some_and(|scope| scope.head == node);
            if let Some(id) = self.program.loops.of_head(node).filter(|_| !itself) {
                let (exits, hits) = self.summarise(state, id)?;
                walked.hits.extend(hits);
                paths += exits.len();
                open.extend(exits.into_iter().map(|(node, state)| (node, state, false)));
            } else {
                match self.program.node(node).leaving[..] {
                    [] => {
                        if let Some(call) = state.calls.pop() {
                            let back = self.returned(&mut state, node, call)?;
                            if let Some(back) = back {
                                open.push((back, state, false));
                            }
                        }
                    }
                    [edge] => {
                        let next = self.step(&mut state, edge)?;
                        if let Some(next) = next {
                            open.push((next, state, false));
                        }
                    }
                    ref edges => {
                        for edge in edges {
                            let mut branch = state.clone();
                            if let Some(next) = self.step(&mut branch, *edge)? {
                                open.push((next, branch, false));
                                paths += 1;
                            }
                        }
                    }
                }
            }
            if paths > PATHS {
                return gave_up("there are too many paths between loops");
            }
        }
        Ok(walked)
    }

    /// Goes back to where a function was called, if `node` is its exit; elsewhere the execution has ended.
    fn returned(&mut self, state: &mut State, node: NodeId, call: EdgeId) -> Result<Option<NodeId>, Stop> {
        let program = self.program;
        let edge = program.edge(call);
        let Op::Call { callee, result, .. } = &edge.op else { return gave_up("a call is none") };
        let func = program.func(*callee);
        if func.body.is_none_or(|body| body.exit != node) {
            return Ok(None);
        }
        if let (Some(result), Some(ret)) = (result, func.ret) {
            let value = match state.vars.get(&ret) {
                Some(value) => value.clone(),
                None => self.unknown(Named::Variable(ret), &State::new(), program.var(ret).ty),
            };
            state.vars.insert(*result, value);
        }
        Ok(Some(edge.dst))
    }

    /// Any value of the type, the same in the same iterations.
    pub(crate) fn unknown(&mut self, named: Named, state: &State, ty: IntTy) -> Poly {
        let name = self.names.name(named, state);
        let parameters = self.parameters();
        self.pool.input(name, parameters, Range::of_type(ty))
    }

    /// Does what an edge says; nothing if no execution gets behind it. Tells where it is if the analysis gives up there.
    pub(crate) fn step(&mut self, state: &mut State, id: EdgeId) -> Result<Option<NodeId>, Stop> {
        self.operation(state, id).map_err(|stop| match stop {
            Stop::GaveUp(why) => Stop::GaveUp(format!("{}: {why}", self.program.location(self.program.edge(id).span))),
            _ => stop,
        })
    }

    fn operation(&mut self, state: &mut State, id: EdgeId) -> Result<Option<NodeId>, Stop> {
        let program = self.program;
        let edge = program.edge(id);
        match &edge.op {
            Op::Skip | Op::Free { .. } => {}
            Op::Assume { cond, truth } => {
                let mut cond = self.cond(state, *cond)?;
                if !truth {
                    cond = self.pool.not(cond)?;
                }
                if Pool::as_truth(cond) == Some(false) || self.prover.excluded(&mut self.pool, &state.facts, cond)? {
                    return Ok(None);
                }
                state.know(&self.pool, cond);
            }
            Op::Assign { var, value } => {
                let value = self.value(state, *value, false)?;
                state.vars.insert(*var, value);
            }
            Op::Havoc { var, .. } => {
                let value = self.unknown(Named::Result(id), state, program.var(*var).ty);
                state.vars.insert(*var, value);
            }
            Op::Call { callee, args, .. } => {
                let func = program.func(*callee);
                let Some(body) = func.body else { return gave_up("a called function has no body") };
                if self.recursive.contains(callee) || state.calls.len() >= CALLS {
                    return gave_up("recursion is not summarised");
                }
                let mut values = Vec::new();
                for arg in args {
                    values.push(self.value(state, *arg, false)?);
                }
                state.vars.extend(func.params.iter().copied().zip(values));
                state.calls.push(id);
                return Ok(Some(body.entry));
            }
            Op::Load { var, addr, region } => {
                let ty = program.var(*var).ty;
                let (cells, index) = self.locate(state, *addr, ty.bits, *region)?;
                let array = self.contents(state, cells);
                let mut value = self.element(state, array, &index)?;
                while self.guess
                    && self.pool.has_address(&value)
                    && let Some(AtomKind::Ite(_, yes, no)) = value.as_atom().map(|atom| self.pool.kind(atom).clone())
                {
                    // One of several addresses, as long as it is not known which.
                    value = if self.pool.has_address(&yes) { yes } else { no };
                }
                let value = if self.pool.has_address(&value) { value } else { self.fit(state, value, ty)? };
                state.vars.insert(*var, value);
            }
            Op::Store { addr, value, region } => {
                let ty = program.exprs.ty(*value);
                let (cells, index) = self.locate(state, *addr, ty.bits, *region)?;
                let mut value = self.value(state, *value, false)?;
                if !self.pool.has_address(&value) {
                    // What is not known of contents is that they are of the type that they are read with.
                    value = self.fit(state, value, self.cell_type(cells))?;
                }
                let array = self.contents(state, cells);
                let (prover, facts) = (&mut self.prover, &state.facts);
                let mut decide = |pool: &mut Pool, cond| prover.decides(pool, facts, cond);
                let array = self.pool.write(array, &index, &value, &mut decide)?;
                state.memory.insert(cells, array);
            }
            Op::Alloc { var, size, kind, region } => {
                let extent = self.extent(state, *size, *kind, *region)?;
                let name = self.names.name(Named::Result(id), state);
                let object = program.objects.len() as u32 + name;
                let base = match self.iterations[..] {
                    [] => {
                        if !extent.rows.is_empty() {
                            self.tables.insert(object);
                        }
                        AtomKind::Base(object)
                    }
                    [time] if extent.rows.is_empty() && !self.pool.mentions(&extent.size, &|atom| atom == time) => {
                        self.tables.insert(object);
                        AtomKind::Row(object, Poly::atom(time))
                    }
                    _ => {
                        return gave_up(
                            "objects of different sizes, or made in loops within loops, are not summarised",
                        );
                    }
                };
                state.objects.insert(object, extent);
                let base = self.pool.atom(base);
                state.vars.insert(*var, Poly::atom(base));
            }
            Op::Zero { addr, size, region } => self.clear(state, *addr, *size, *region)?,
            Op::Unsupported { construct } => return gave_up(format!("{construct} is not summarised")),
        }
        Ok(Some(edge.dst))
    }

    /// How large a new object is. The size of an array of arrays is the number of rows times the size of a row; so is that of a
    /// table in an object of the heap, "`a[i * n + j]`".
    fn extent(&mut self, state: &State, size: ExprId, kind: AllocKind, region: RegionId) -> Result<Extent, Stop> {
        let variable = kind == AllocKind::VariableLength;
        let mut extent = Extent { size: self.value(state, size, variable)?, rows: Vec::new() };
        let mut part = size;
        while variable && let ExprKind::Binary(BinOp::Mul, count, length) = self.program.exprs.get(part).kind {
            let bytes = self.value(state, length, true)?;
            if bytes.as_constant().is_some() {
                break;
            }
            extent.rows.push((self.value(state, count, true)?, bytes));
            part = length;
        }
        if kind == AllocKind::Heap {
            let of_region = self.row_lengths.iter().filter(|(of, _)| *of == region);
            let lengths: BTreeSet<Atom> = of_region.filter_map(|(_, var)| state.vars.get(var)?.as_atom()).collect();
            extent.rows.extend(extent.size.split_product(|atom| lengths.contains(&atom)));
        }
        Ok(extent)
    }

    /// The element at a position, as far as the facts tell.
    pub(crate) fn element(&mut self, state: &State, array: ArrayId, index: &Poly) -> Result<Poly, Stop> {
        let (prover, facts) = (&mut self.prover, &state.facts);
        let mut decide = |pool: &mut Pool, cond| prover.decides(pool, facts, cond);
        let value = self.pool.read(array, index, &mut decide)?;
        self.settled(&state.facts, &value)
    }

    /// A value by cases, each simplified with what holds there; one value if it is right in both cases.
    fn branches(&mut self, facts: &[CondId], cond: CondId, yes: &Poly, no: &Poly) -> Result<Poly, Stop> {
        let not = self.pool.not(cond)?;
        let (mut if_so, mut if_not) = (facts.to_vec(), facts.to_vec());
        if_so.push(cond);
        if_not.push(not);
        let (yes, no) = (self.settled(&if_so, yes)?, self.settled(&if_not, no)?);
        if yes == no || self.pool.has_address(&yes) || self.pool.has_address(&no) {
            return Ok(self.pool.ite(cond, yes, no));
        }
        let same = self.pool.equal(&yes, &no)?;
        if self.prover.follows(&mut self.pool, &if_not, same)? {
            return Ok(yes);
        }
        if self.prover.follows(&mut self.pool, &if_so, same)? {
            return Ok(no);
        }
        Ok(self.pool.ite(cond, yes, no))
    }

    /// A value in which the facts decide conditions.
    pub(crate) fn settled(&mut self, facts: &[CondId], value: &Poly) -> Result<Poly, Stop> {
        let mut map = FxHashMap::default();
        for atom in value.atoms() {
            let (cond, yes, no) = match self.pool.kind(atom).clone() {
                AtomKind::Ite(cond, yes, no) => (cond, yes, no),
                AtomKind::Mod(inner, divisor) => {
                    let begins = self.pool.at_most(&Poly::constant(0), &inner)?;
                    let ends = self.pool.less(&inner, &Poly::constant(divisor))?;
                    let within = self.pool.and(vec![begins, ends]);
                    if self.prover.follows(&mut self.pool, facts, within)? {
                        let inner = self.settled(facts, &inner)?;
                        map.insert(atom, inner);
                    }
                    continue;
                }
                AtomKind::Input(name, parameters, low, high) => {
                    let parameters =
                        parameters.iter().map(|of| self.settled(facts, of)).collect::<Result<Vec<_>, _>>()?;
                    let settled = self.pool.atom(AtomKind::Input(name, parameters, low, high));
                    if settled != atom {
                        map.insert(atom, Poly::atom(settled));
                    }
                    continue;
                }
                _ => continue,
            };
            let settled = match self.prover.decides(&mut self.pool, facts, cond)? {
                Some(true) => self.settled(facts, &yes)?,
                Some(false) => self.settled(facts, &no)?,
                None => self.branches(facts, cond, &yes, &no)?,
            };
            map.insert(atom, settled);
        }
        if map.is_empty() { Ok(value.clone()) } else { Replacement::new(map).poly(&mut self.pool, value) }
    }

    /// Clears a part of an object.
    fn clear(&mut self, state: &mut State, addr: ExprId, size: ExprId, region: RegionId) -> Result<(), Stop> {
        let Some(bits) = self.program.region(region).width else {
            return gave_up("memory is accessed with different widths");
        };
        let bytes = i128::from(bits / 8);
        let size = self.value(state, size, false)?;
        let address = self.value(state, addr, true)?;
        if let Some(base) = self.base(&address)?
            && let AtomKind::Base(object) = *self.pool.kind(base)
            && address == Poly::atom(base)
            && let Some(extent) = state.objects.get(&object).filter(|extent| extent.size == size)
        {
            if !extent.rows.is_empty() {
                state.memory.insert((object, region), self.pool.intern_array(ArrayKind::Zero));
                return Ok(());
            }
            // All of a new object; nothing is said of a part of a cell at its end.
            let count = match self.pool.is_multiple(&size, bytes)? {
                true => size.over(bytes)?,
                false => self.pool.div(&size, bytes)?,
            };
            return self.clear_cells(state, (object, region), Poly::constant(0), &count);
        }
        let count = match size.as_constant() {
            Some(size) if size % bytes == 0 && size >= 0 => size / bytes,
            _ => return gave_up("the size of a cleared part is not known"),
        };
        if count == 0 {
            return Ok(());
        }
        // Inside of an object are all its cells if the first and the last one are.
        let (cells, index) = self.locate(state, addr, bits, region)?;
        if state.objects.contains_key(&cells.0) {
            return gave_up("new objects that are cleared are not summarised");
        }
        let object = &self.program.objects[cells.0 as usize];
        let fits = index.as_constant().is_some_and(|index| (index + count) * bytes <= i128::from(object.size));
        if !fits {
            return gave_up("an access may be out of bounds");
        }
        self.clear_cells(state, cells, index, &Poly::constant(count))
    }

    /// Clears so many cells, which are not fewer than 0.
    fn clear_cells(&mut self, state: &mut State, cells: Cells, start: Poly, count: &Poly) -> Result<(), Stop> {
        let array = self.contents(state, cells);
        let write = Write { start, stride: 1, value: Poly::constant(0), guard: Pool::truth(true), table: None };
        let hole = self.pool.hole();
        let array = self.pool.layer(array, count, &write, hole)?;
        state.memory.insert(cells, array);
        Ok(())
    }
}

/// The variables that others are multiplied with in the addresses of a region, and those that are passed for them: the `n` of
/// "`a[i * n + j]`".
fn row_lengths(program: &Program) -> BTreeSet<(RegionId, VarId)> {
    let exprs = &program.exprs;
    let mut found = BTreeSet::new();
    for edge in &program.edges {
        let (Op::Load { addr, region, .. } | Op::Store { addr, region, .. }) = edge.op else { continue };
        let mut todo = vec![addr];
        while let Some(id) = todo.pop() {
            if let ExprKind::Binary(BinOp::Mul, left, right) = exprs.get(id).kind {
                let factors = [left, right].into_iter().filter_map(|factor| exprs.converted_var(factor));
                found.extend(factors.map(|var| (region, var)));
            }
            todo.extend(exprs.operands(id));
        }
    }
    loop {
        let known = found.len();
        for (var, value) in program.assigned() {
            let Some(source) = exprs.converted_var(value) else { continue };
            let of_var = found.iter().filter(|(_, known)| *known == var);
            let regions: Vec<RegionId> = of_var.map(|(region, _)| *region).collect();
            found.extend(regions.into_iter().map(|region| (region, source)));
        }
        if found.len() == known {
            return found;
        }
    }
}
