// SPDX-License-Identifier: Apache-2.0
//! The shape analysis as a configurable program analysis: states stay apart, and lists are folded at the heads of loops.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use cfa::{IntTy, NodeId, Program, VarId};
use cpa_core::{Adjusted, At, Cpa, Cx, Step, Stop};

use crate::fold::Limits;
use crate::graph::{Graph, ObjectId, Value};
use crate::machine::Machine;
use crate::range::{Range, types};

/// How much is told apart at a loop head as long as it has had less than this number of states.
const LEVELS: [(usize, Level); 4] = [
    (100, Level { fold: Limits { apart: 5, objects: 12, kinds: 6, order: true }, numbers: 8, apart: usize::MAX }),
    (300, Level { fold: Limits { apart: 4, objects: 8, kinds: 4, order: true }, numbers: 4, apart: 12 }),
    (1000, Level { fold: Limits { apart: 4, objects: 5, kinds: 4, order: true }, numbers: 2, apart: 8 }),
    (usize::MAX, Level { fold: Limits { apart: 2, objects: 3, kinds: 3, order: false }, numbers: 1, apart: 6 }),
];
/// A graph with more objects than this after folding is not followed.
const OBJECTS: usize = 60;

/// What the analysis keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShapeOptions {
    /// Whether it is known of unknown numbers which single values they do not have, and not only their bounds.
    pub holes: bool,
    /// With more objects than this, those that no variable points to become crowds; with fewer where there are many states.
    pub apart: usize,
    /// How little is told apart from the beginning, as where there are many states: 0 for the most, 3 for the least.
    pub coarse: usize,
}

impl Default for ShapeOptions {
    fn default() -> Self {
        Self { holes: true, apart: 24, coarse: 0 }
    }
}

/// A symbolic memory graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShapeState {
    graph: Rc<Graph>,
    /// Whether it is where several ways meet.
    meeting: bool,
}

impl ShapeState {
    fn new(graph: Graph, meeting: bool) -> Self {
        Self { graph: Rc::new(graph), meeting }
    }
}

impl fmt::Display for ShapeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.graph, f)
    }
}

/// How much is told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Level {
    fold: Limits,
    /// A variable or cell that has had more numbers than this gets a range.
    numbers: usize,
    /// Of graphs with more objects than this those that no variable points to become crowds.
    apart: usize,
}

/// What may have many numbers at the head of a loop: a variable, or the cells at an offset of objects that are alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Site {
    Var(VarId),
    Fixed(u32, u64),
    /// By the size of the object.
    Made(u64, u64),
}

/// The shape analysis.
#[derive(Debug)]
pub struct ShapeCpa {
    machine: Machine,
    heads: BTreeSet<NodeId>,
    /// Where ranges begin and end.
    thresholds: Vec<i128>,
    /// The distances that are kept.
    distances: Vec<i128>,
    /// The numbers that were met.
    met: BTreeMap<(NodeId, Site), BTreeSet<i128>>,
    /// How many states there were at each loop head.
    states: BTreeMap<NodeId, usize>,
}

impl ShapeCpa {
    /// The analysis of a program.
    pub fn new(program: Arc<Program>, options: ShapeOptions) -> Self {
        let heads = program.loops.heads.iter().copied().collect();
        let machine = Machine::new(program, options);
        let (thresholds, distances) = (machine.thresholds(), machine.distances());
        Self { machine, heads, thresholds, distances, met: BTreeMap::new(), states: BTreeMap::new() }
    }

    /// A number at the head of a loop, or a range around it, within the first of the types that it fits, if there have been many.
    fn widened(&mut self, head: NodeId, site: Site, range: &Range, types: &[IntTy]) -> Option<Range> {
        let numbers = self.level(head).numbers;
        if let Some(value) = range.value() {
            let met = self.met.entry((head, site)).or_default();
            if met.len() < numbers {
                met.insert(value);
            }
            if met.len() <= numbers && met.contains(&value) {
                return None;
            }
        }
        let fitting = types.iter().find(|&&ty| range.fits(ty)).or(types.last())?;
        let widened = range.widened(&self.thresholds, &Range::of(*fitting));
        (widened != *range).then_some(widened)
    }

    /// How much is told apart at a loop head: the less, the more states it has had.
    fn level(&self, head: NodeId) -> Level {
        let states = self.states.get(&head).copied().unwrap_or(0);
        let level = LEVELS.iter().skip(self.machine.options.coarse).find(|(most, _)| states < *most);
        level.unwrap_or(&LEVELS[LEVELS.len() - 1]).1
    }

    /// Ranges around what has had many values, so that there are finitely many states.
    fn widen(&mut self, head: NodeId, graph: &mut Graph) {
        let program = Arc::clone(&self.machine.program);
        for (var, value) in graph.vars.clone() {
            let types = [program.var(var).ty];
            if let Some(widened) = self.widened_value(graph, (head, Site::Var(var)), value, &types) {
                graph.vars.insert(var, widened);
            }
        }
        for (id, object) in graph.objects.clone() {
            let site = |offset: u64| match id {
                ObjectId::Fixed(number) => Site::Fixed(number, offset),
                ObjectId::Made(_) => Site::Made(object.size, offset),
            };
            if let Some(rows) = &object.rows {
                let rows = rows.map(|letter| {
                    let mut letter = letter.clone();
                    for (&offset, (bytes, range)) in &mut letter {
                        if let Some(widened) = self.widened(head, site(offset), range, &types(*bytes)) {
                            *range = widened;
                        }
                    }
                    letter
                });
                graph.set_rows(id, rows);
            }
            let object = Rc::clone(&graph.objects[&id]);
            let of_rows = object.rows.as_ref().map(|rows| rows.offsets()).unwrap_or_default();
            for (&offset, cell) in object.cells.iter().filter(|(offset, _)| !of_rows.contains_key(offset)) {
                let types = types(cell.bytes);
                if let Some(widened) = self.widened_value(graph, (head, site(offset)), cell.value, &types) {
                    let is_each = object.is_segment() || object.owner.is_some();
                    let new = graph.object_mut(id).cells.get_mut(&offset);
                    if let Some(new) = new {
                        new.value = widened;
                        new.each = cell.each || is_each;
                    }
                }
            }
            for (&offset, choice) in &object.choices {
                let Some(numbers) = &choice.numbers else { continue };
                if let Some(widened) = self.widened(head, site(offset), numbers, &types(choice.bytes)) {
                    let new = graph.object_mut(id).choices.get_mut(&offset);
                    if let Some(new) = new {
                        new.numbers = Some(widened);
                    }
                }
            }
        }
    }

    fn widened_value(
        &mut self,
        graph: &mut Graph,
        (head, site): (NodeId, Site),
        value: Value,
        types: &[IntTy],
    ) -> Option<Value> {
        match value {
            Value::Pointer(_) => None,
            Value::Int(value) => {
                let range = self.widened(head, site, &Range::point(value), types)?;
                Some(graph.unknown(range))
            }
            Value::Unknown(symbol) => {
                // The same number stays the same wherever it stands.
                let range = self.widened(head, site, graph.range(symbol), types)?;
                graph.restrict(symbol, range);
                None
            }
        }
    }
}

impl Cpa for ShapeCpa {
    type State = ShapeState;
    type Precision = ();

    fn name(&self) -> &'static str {
        "shape"
    }

    fn initial(&mut self, _cx: &mut Cx) -> Result<(ShapeState, ()), Stop> {
        Ok((ShapeState::new(Graph::default(), false), ()))
    }

    fn transfer(&mut self, _cx: &mut Cx, state: &ShapeState, step: Step, (): &()) -> Result<Vec<ShapeState>, Stop> {
        let graphs = self.machine.post(&state.graph, step)?;
        Ok(graphs.into_iter().map(|graph| ShapeState::new(graph, false)).collect())
    }

    fn leq(&mut self, _cx: &mut Cx, lesser: &ShapeState, greater: &ShapeState) -> Result<bool, Stop> {
        Ok(greater.graph.covers(&lesser.graph))
    }

    fn merges(&self) -> bool {
        false
    }

    fn coverable(&self, state: &ShapeState) -> bool {
        state.meeting
    }

    fn adjust(&mut self, _cx: &mut Cx, state: &ShapeState, (): &(), at: &At) -> Result<Adjusted<ShapeState, ()>, Stop> {
        // States on the way between two such places are many and soon behind.
        if self.machine.program.node(at.node).entering.len() == 1 && !self.heads.contains(&at.node) {
            return Ok(Adjusted::Unchanged);
        }
        let mut graph = (*state.graph).clone();
        self.machine.collect(&mut graph);
        if self.heads.contains(&at.node) {
            let level = self.level(at.node);
            graph.keep_order_of_objects(&self.distances, level.fold.order);
            graph.fold(level.fold);
            graph.gather(level.apart.min(self.machine.options.apart));
            *self.states.entry(at.node).or_default() += 1;
            self.widen(at.node, &mut graph);
            self.machine.collect(&mut graph);
            if graph.objects.len() > OBJECTS {
                return Err(Stop::GaveUp("the shapes in memory grow without bound".to_owned()));
            }
        }
        Ok(Adjusted::Keep(ShapeState::new(graph, true), ()))
    }
}
