// SPDX-License-Identifier: Apache-2.0
//! Blocks and predicates: a block sees the predicates about what it accesses (block-abstraction memoization; Wonisch,
//! Wehrheim, *Predicate Analysis with Block-Abstraction Memoization*, sections 3.2 and 3.3).
//!
//! Blocks begin and end at abstraction states. What a block does is the formula at its end. Behind the block it is one more
//! statement on the caller's path: everything that the block writes takes any value, then the formula is assumed. So what the
//! block does not touch is what it was, and so are its relations to what the block only reads; the next abstraction is
//! computed over both. A call is entered and left as in an unrolling: if the function is already active, the caller's
//! variables are kept in symbols of their own meanwhile.
//!
//! A predicate that a block cannot see, but that is wanted inside, is tracked where the block is entered: its truth does not
//! change inside.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use cfa::ids::{FuncId, NodeId};
use cfa::{Block, BlockId, Blocks, EdgeId, Op, Scope as VarScope};
use cpa_core::{Cx, Reducer, Site, Step, Stop, Unfolding};
use rustc_hash::FxHashMap;
use smt::SymId;
use smt::path::{PathFormula, Stmt};

use crate::calls::Calls;
use crate::cpa::{PredicateCpa, PredicateState};
use crate::formula::Formula;
use crate::manager::{Manager, stop};
use crate::precision::{Precision, PredId, Scope};
use crate::region::{RegionId, RegionNode};

/// What the steps of a function do to symbols that are no variables: memory, and where the next object begins.
#[derive(Clone, Default)]
struct Memory {
    touched: BTreeSet<SymId>,
    written: BTreeSet<SymId>,
}

/// What a predicate is to a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sight {
    /// It is about something that the block accesses.
    Inside,
    /// It is not.
    Outside,
    /// It is about variables that do not exist inside the block.
    Foreign,
}

/// Which predicates matter in which blocks.
pub struct BlockPredicates {
    blocks: Rc<Blocks>,
    /// For each block what it does to memory.
    memory: Vec<Memory>,
    /// What a predicate is to a block at the locations of a function.
    known: RefCell<FxHashMap<(BlockId, FuncId, PredId), Sight>>,
}

impl BlockPredicates {
    /// Prepares the blocks of the program that the manager is for.
    pub fn new(manager: &mut Manager, blocks: Rc<Blocks>) -> Result<Self, Stop> {
        let program = std::sync::Arc::clone(manager.encoder.program());
        let mut functions = vec![Memory::default(); program.funcs.len()];
        let mut edges = vec![Memory::default(); program.edges.len()];
        for id in program.edge_ids() {
            let steps = match program.edge(id).op {
                Op::Call { .. } => vec![Step::Enter(id), Step::Leave(id)],
                _ => vec![Step::Edge(id)],
            };
            for step in steps {
                memory_of(manager, step, &mut edges[id.index()])?;
            }
            let func = program.node(program.edge(id).src).func;
            functions[func.index()].touched.extend(&edges[id.index()].touched);
            functions[func.index()].written.extend(&edges[id.index()].written);
        }
        let mut memory = Vec::new();
        for id in blocks.ids() {
            let block = blocks.get(id);
            let mut all = Memory::default();
            let own = block.own.iter().flat_map(|&node| &program.node(node).leaving).map(|edge| &edges[edge.index()]);
            let called = block.functions.iter().map(|func: &FuncId| &functions[func.index()]);
            for part in own.chain(called) {
                all.touched.extend(&part.touched);
                all.written.extend(&part.written);
            }
            memory.push(all);
        }
        Ok(Self { blocks, memory, known: RefCell::default() })
    }

    /// What a predicate is to a block at the locations of a function. Those about variables of other activations of recursive
    /// functions are foreign.
    fn sight(&self, manager: &Manager, id: BlockId, at: FuncId, predicate: PredId) -> Sight {
        if let Some(&known) = self.known.borrow().get(&(id, at, predicate)) {
            return known;
        }
        let block = self.blocks.get(id);
        let program = manager.encoder.program();
        let symbols = manager.terms.symbols(manager.predicates.atom(predicate));
        let mut seen = symbols.is_empty();
        let mut foreign = false;
        for (symbol, _) in symbols {
            match manager.encoder.variable(symbol) {
                Some(var) => {
                    seen |= block.vars.contains(&var);
                    let own = match program.var(var).scope {
                        VarScope::Global => true,
                        VarScope::Local(func) => func == block.func || func == at,
                    };
                    foreign |= block.recursive && !own;
                }
                None if self.memory.iter().any(|memory| memory.touched.contains(&symbol)) => {
                    seen |= self.memory[id.index()].touched.contains(&symbol);
                }
                // What the encoder made to keep the variables of another activation.
                None => foreign = true,
            }
        }
        let sight = match (seen, foreign) {
            (_, true) => Sight::Foreign,
            (true, false) => Sight::Inside,
            (false, false) => Sight::Outside,
        };
        self.known.borrow_mut().insert((id, at, predicate), sight);
        sight
    }

    /// Whether a block sees a predicate at its entry and its end.
    fn sees(&self, manager: &Manager, id: BlockId, predicate: PredId) -> bool {
        self.sight(manager, id, self.blocks.get(id).func, predicate) == Sight::Inside
    }

    /// Whether the truth of a predicate may be another one behind the block.
    fn changes(&self, manager: &Manager, id: BlockId, predicate: PredId) -> bool {
        let block = self.blocks.get(id);
        let symbols = manager.terms.symbols(manager.predicates.atom(predicate));
        symbols.into_iter().any(|(symbol, _)| match manager.encoder.variable(symbol) {
            Some(var) => block.writes.contains(&var) || block.decides(manager.encoder.program(), var),
            None => self.memory[id.index()].written.contains(&symbol),
        })
    }

    /// What takes any value behind a block before its formula is assumed, ascending.
    fn written(&self, manager: &mut Manager, id: BlockId) -> BTreeSet<SymId> {
        let vars = self.blocks.get(id).writes.iter();
        let mut symbols: BTreeSet<SymId> = vars.map(|&var| manager.encoder.symbol(&mut manager.terms, var)).collect();
        symbols.extend(&self.memory[id.index()].written);
        symbols
    }

    /// The predicates to track behind a call in addition to those of the precision: those that are wanted at the end of the
    /// called block, said about the result. Otherwise each call would need a refinement to learn what the one before did.
    pub(crate) fn returned(&self, manager: &mut Manager, precision: &Precision, step: Step) -> Vec<PredId> {
        let program = std::sync::Arc::clone(manager.encoder.program());
        let (Step::Leave(call), Op::Call { callee, result, .. }) = (step, &program.edge(step.edge()).op) else {
            return Vec::new();
        };
        let (Some(block), Some(body)) = (self.blocks.of_call(&program, call), program.func(*callee).body) else {
            return Vec::new();
        };
        let wanted = precision.tracked(&Precision::default(), *callee, body.exit);
        let ret = program.func(*callee).ret.map(|ret| manager.encoder.symbol(&mut manager.terms, ret));
        let result = result.map(|result| manager.encoder.symbol(&mut manager.terms, result));
        let mut found = Vec::new();
        for &predicate in wanted.iter() {
            if !self.sees(manager, block, predicate) {
                continue;
            }
            let atom = manager.predicates.atom(predicate);
            let gone = |symbol| {
                let var = manager.encoder.variable(symbol).map(|var| program.var(var).scope);
                var == Some(VarScope::Local(*callee)) && !(Some(symbol) == ret && result.is_some())
            };
            if manager.terms.symbols(atom).into_iter().any(|(symbol, _)| gone(symbol)) {
                continue;
            }
            let said = manager.terms.substitute(atom, &mut |terms, symbol, _| {
                result.filter(|_| Some(symbol) == ret).map(|result| terms.var(result, 0))
            });
            found.push(manager.predicates.intern(said));
        }
        found
    }

    /// The block that begins at a location.
    fn begins(&self, program: &cfa::Program, node: NodeId) -> Option<BlockId> {
        let of_function = || {
            let func = program.node(node).func;
            self.blocks.of_function(func).filter(|&id| self.blocks.get(id).entry == node)
        };
        self.blocks.of_head(node).or_else(of_function)
    }

    /// The predicates to track at a location in addition to those of the precision: those that are wanted in the blocks that
    /// begin there and that they do not see.
    pub(crate) fn lifted(&self, manager: &Manager, precision: &Precision, node: NodeId) -> Vec<PredId> {
        let program = manager.encoder.program();
        let Some(id) = self.begins(program, node) else { return Vec::new() };
        let block = self.blocks.get(id);
        let mut lifted = Vec::new();
        for (scope, predicates) in precision.iter() {
            let Scope::Location(there) = scope else { continue };
            if inside(program, block, there) {
                let func = program.node(there).func;
                let outside = |p: &PredId| self.sight(manager, id, func, *p) == Sight::Outside;
                lifted.extend(predicates.iter().copied().filter(outside));
            }
        }
        lifted
    }
}

/// Whether a location belongs to a block or to something called in it.
fn inside(program: &cfa::Program, block: &Block, node: NodeId) -> bool {
    let func = program.node(node).func;
    let called = block.functions.contains(&func) && (func != block.func || block.recursive);
    block.own.contains(&node) || block.exits.contains(&node) || called
}

fn memory_of(manager: &mut Manager, step: Step, memory: &mut Memory) -> Result<(), Stop> {
    let statements = manager
        .encoder
        .statements(&mut manager.terms, step)
        .map_err(|inexact| Stop::Internal(format!("the program was checked before: {inexact}")))?;
    for statement in statements {
        let (term, written) = match statement {
            Stmt::Skip => continue,
            Stmt::Assume(cond) => (Some(cond), None),
            Stmt::Assign(symbol, value) => (Some(value), Some(symbol)),
            Stmt::Havoc(symbol) => (None, Some(symbol)),
        };
        let read: Vec<SymId> =
            term.map(|term| manager.terms.symbols(term).into_iter().map(|(s, _)| s).collect()).unwrap_or_default();
        let special = |symbol: &SymId| manager.encoder.variable(*symbol).is_none();
        memory.touched.extend(read.into_iter().chain(written).filter(special));
        memory.written.extend(written.filter(special));
    }
    Ok(())
}

/// The reducer of the Predicate CPA.
pub struct PredicateReducer {
    manager: Rc<RefCell<Manager>>,
    predicates: Rc<BlockPredicates>,
    /// Names for the first blocks of paths in the graphs of blocks, descending; the analysis counts upwards.
    next: u64,
}

impl PredicateReducer {
    /// The reducer for these blocks; the analysis has to know them too.
    pub fn new(manager: Rc<RefCell<Manager>>, predicates: Rc<BlockPredicates>) -> Self {
        Self { manager, predicates, next: u64::MAX }
    }

    fn region(state: &PredicateState) -> Result<RegionId, Stop> {
        match state.formula() {
            Formula::Region(region) if state.is_abstraction() => Ok(region),
            Formula::Region(_) | Formula::Term(_) => {
                Err(Stop::Internal("a block begins or ends at a state that is no abstraction".to_owned()))
            }
        }
    }
}

impl Reducer for PredicateReducer {
    type Cpa = PredicateCpa;

    fn reduce(&mut self, _cx: &mut Cx, block: BlockId, entry: &PredicateState) -> Result<PredicateState, Stop> {
        let region = Self::region(entry)?;
        let manager = &mut *self.manager.borrow_mut();
        let predicates = Rc::clone(&self.predicates);
        let tracked: Rc<[PredId]> =
            entry.tracked().iter().copied().filter(|&p| predicates.sees(manager, block, p)).collect();
        let region = manager.project(region, &|manager, p| predicates.sees(manager, block, p))?;
        self.next -= 1;
        let block = self.predicates.blocks.get(block);
        // Whoever is active already may be called again inside.
        let calls = Calls::of(block.cycle.iter().copied().filter(|&func| func != block.func).chain([block.func]));
        Ok(entry.reduced(Formula::Region(region), self.next, tracked, calls))
    }

    fn reduce_precision(&mut self, block: BlockId, precision: &Precision) -> Precision {
        let manager = self.manager.borrow();
        let program = manager.encoder.program();
        let data = self.predicates.blocks.get(block);
        precision.restrict(
            |scope| match scope {
                Scope::Location(node) => inside(program, data, node),
                Scope::Function(func) => data.func == func || data.functions.contains(&func),
                Scope::Global => true,
            },
            |scope, predicate| {
                let func = match scope {
                    Scope::Location(node) => program.node(node).func,
                    Scope::Function(func) => func,
                    Scope::Global => data.func,
                };
                self.predicates.sight(&manager, block, func, predicate) == Sight::Inside
            },
        )
    }

    fn expand(
        &mut self,
        _cx: &mut Cx,
        site: &Site<'_, PredicateState>,
        exit: &PredicateState,
    ) -> Result<PredicateState, Stop> {
        Self::region(exit)?;
        let manager = &mut *self.manager.borrow_mut();
        let program = std::sync::Arc::clone(manager.encoder.program());
        let (mut path, calls): (PathFormula, Calls) = match site.call {
            Some(call) => {
                let step = Step::Enter(call);
                (site.caller.follow(manager, step)?, site.caller.calls().after(&program, step))
            }
            None => {
                Self::region(site.entry)?;
                (site.entry.path().clone(), site.entry.calls().clone())
            }
        };
        for symbol in self.predicates.written(manager, site.block) {
            path.apply(&mut manager.terms, &Stmt::Havoc(symbol));
        }
        let summary = manager.formula_term(exit.formula());
        path.apply(&mut manager.terms, &Stmt::Assume(summary));
        Ok(site.caller.inside(Rc::new(path), calls))
    }

    fn expand_precision(&mut self, outer: &Precision, inner: &Precision) -> Precision {
        outer.union(inner)
    }

    fn unfold(&mut self, at: &Unfolding<'_, PredicateState>, inner: &PredicateState) -> PredicateState {
        let manager = self.manager.borrow();
        let same = at.entry.tracked().iter().filter(|&&p| !self.predicates.changes(&manager, at.block, p));
        let mut tracked: Vec<PredId> = inner.tracked().iter().chain(same).copied().collect();
        tracked.sort_unstable();
        tracked.dedup();
        let calls = at.before.calls().after(manager.encoder.program(), at.step);
        inner.unfolded(tracked.into(), calls)
    }

    fn rebuild(&mut self, _call: EdgeId, _caller: &PredicateState, returned: &PredicateState) -> PredicateState {
        // Leaving the call did it: the caller's variables were kept in symbols of their own.
        returned.clone()
    }

    fn hash(&self, state: &PredicateState) -> u64 {
        match state.formula() {
            Formula::Region(region) => u64::from(region.number()),
            Formula::Term(_) => 0,
        }
    }
}

impl Manager {
    /// The strongest region over some of the predicates that contains a region.
    fn project(&mut self, region: RegionId, keep: &dyn Fn(&Manager, PredId) -> bool) -> Result<RegionId, Stop> {
        let mut done: FxHashMap<RegionId, RegionId> = FxHashMap::default();
        let mut stack = vec![region];
        while let Some(&top) = stack.last() {
            if done.contains_key(&top) {
                stack.pop();
                continue;
            }
            let RegionNode::Decision { var, high, low } = self.regions.node(top) else {
                done.insert(top, top);
                continue;
            };
            let (Some(&then), Some(&other)) = (done.get(&high), done.get(&low)) else {
                stack.extend([high, low]);
                continue;
            };
            let predicate = PredId::of_number(var);
            let projected = if keep(self, predicate) {
                let is = self.regions.var(var).map_err(stop)?;
                let is_not = self.regions.not(is).map_err(stop)?;
                let one = self.regions.and(is, then).map_err(stop)?;
                let two = self.regions.and(is_not, other).map_err(stop)?;
                self.regions.or(one, two).map_err(stop)?
            } else {
                self.regions.or(then, other).map_err(stop)?
            };
            done.insert(top, projected);
        }
        Ok(done[&region])
    }
}
