// SPDX-License-Identifier: Apache-2.0
//! Hand-made automata and a toy domain for the tests of this crate and of `algo-cegar`.
//!
//! The operations of the toy stand beside the automaton, one for each edge, so no C is needed. Variables hold values
//! modulo [`MODULUS`], so the concrete states can be enumerated.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test crate uses a part of this")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use cfa::ids::{EdgeId, FuncId, NodeId};
use cfa::ir::{Body, Edge, Function, Node, Op, Span};
use cfa::{Options, Program, Source};
use cpa_core::{
    Adjusted, Answer, Arg, ArgId, Ask, At, CallstackCpa, Composite, Cpa, Cx, Fingerprint, Handle, LocationCpa, Merge,
    PartitionKey, Step, Stop,
};

/// Variables take the values 0 to MODULUS - 1.
pub const MODULUS: u8 = 5;

/// An operation of the toy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Toy {
    Skip,
    Set(usize, u8),
    Add(usize, u8),
    Copy(usize, usize),
    Havoc(usize),
    Eq(usize, u8),
    Ne(usize, u8),
}

/// An automaton with the operations of its edges. Location 0 is the entry.
#[derive(Clone, Debug)]
pub struct Toys {
    pub program: Arc<Program>,
    pub ops: Rc<Vec<Toy>>,
}

/// Builds an automaton.
#[derive(Default)]
pub struct Builder {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    funcs: Vec<Function>,
    ops: Vec<Toy>,
}

const NOWHERE: Span = Span { file: 0, start: 0, end: 0 };

pub fn n(index: usize) -> NodeId {
    NodeId::new(index)
}

pub fn e(index: usize) -> EdgeId {
    EdgeId::new(index)
}

pub fn a(index: usize) -> ArgId {
    ArgId::new(index)
}

impl Builder {
    /// An automaton of one function with locations 0 to `nodes - 1`, numbered in reverse post-order.
    pub fn new(nodes: usize) -> Self {
        let mut builder = Self::default();
        builder.func("main", nodes);
        builder
    }

    /// Adds a function with `nodes` more locations, the first one its entry and the last one its exit.
    pub fn func(&mut self, name: &str, nodes: usize) -> FuncId {
        let func = FuncId::new(self.funcs.len());
        let first = self.nodes.len();
        let rpo = 0..u32::try_from(nodes).unwrap();
        self.nodes.extend(rpo.map(|rpo| Node { func, rpo, leaving: vec![], entering: vec![] }));
        let body = Some(Body { entry: n(first), exit: n(first + nodes - 1) });
        self.funcs.push(Function { name: name.into(), params: vec![], ret: None, body, span: NOWHERE });
        func
    }

    pub fn edge(&mut self, src: usize, dst: usize, toy: Toy) -> EdgeId {
        self.any(src, dst, Op::Skip, toy)
    }

    pub fn call(&mut self, src: usize, dst: usize, callee: FuncId) -> EdgeId {
        self.any(src, dst, Op::Call { callee, args: vec![], result: None }, Toy::Skip)
    }

    pub fn unsupported(&mut self, src: usize, dst: usize, construct: &str) -> EdgeId {
        self.any(src, dst, Op::Unsupported { construct: construct.into() }, Toy::Skip)
    }

    /// An edge that its source does not know.
    pub fn detached(&mut self, src: usize, dst: usize, toy: Toy) -> EdgeId {
        let id = EdgeId::new(self.edges.len());
        self.edges.push(Edge { src: n(src), dst: n(dst), op: Op::Skip, span: NOWHERE });
        self.ops.push(toy);
        id
    }

    fn any(&mut self, src: usize, dst: usize, op: Op, toy: Toy) -> EdgeId {
        let id = self.detached(src, dst, toy);
        self.edges[id.index()].op = op;
        self.nodes[src].leaving.push(id);
        self.nodes[dst].entering.push(id);
        id
    }

    pub fn build(self) -> Toys {
        // Only `cfa` can make a program; its tables are replaced, and all places are the first character of this text.
        let source = Source { name: "toy.c".to_owned(), text: "int main(void) { return 0; }".to_owned() };
        let mut program = cfa::load(&[source], &Options::default()).unwrap();
        (program.nodes, program.edges, program.funcs) = (self.nodes, self.edges, self.funcs);
        (program.entry, program.main) = (n(0), FuncId::new(0));
        Toys { program: Arc::new(program), ops: Rc::new(self.ops) }
    }
}

impl Toys {
    /// The concrete successors of a store along an edge.
    pub fn concrete(&self, edge: EdgeId, store: &[u8]) -> Vec<Vec<u8>> {
        let with = |var: usize, value: u8| {
            let mut store = store.to_vec();
            store[var] = value % MODULUS;
            store
        };
        match self.ops[edge.index()] {
            Toy::Skip => vec![store.to_vec()],
            Toy::Set(var, value) => vec![with(var, value)],
            Toy::Add(var, value) => vec![with(var, store[var] + value)],
            Toy::Copy(var, from) => vec![with(var, store[from])],
            Toy::Havoc(var) => (0..MODULUS).map(|value| with(var, value)).collect(),
            Toy::Eq(var, value) => {
                if store[var] == value {
                    vec![store.to_vec()]
                } else {
                    vec![]
                }
            }
            Toy::Ne(var, value) => {
                if store[var] != value {
                    vec![store.to_vec()]
                } else {
                    vec![]
                }
            }
        }
    }

    /// All concrete states that are reachable from all-zero variables, without calls.
    pub fn reachable(&self, variables: usize) -> BTreeSet<(NodeId, Vec<u8>)> {
        let start = (n(0), vec![0; variables]);
        let mut seen = BTreeSet::from([start.clone()]);
        let mut stack = vec![start];
        while let Some((node, store)) = stack.pop() {
            for &edge in &self.program.nodes[node.index()].leaving {
                for next in self.concrete(edge, &store) {
                    let state = (self.program.edges[edge.index()].dst, next);
                    if seen.insert(state.clone()) {
                        stack.push(state);
                    }
                }
            }
        }
        seen
    }
}

/// Knows the values of some variables.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Known(pub BTreeMap<usize, u8>);

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<String> = self.0.iter().map(|(var, value)| format!("v{var}={value}")).collect();
        f.write_str(&known.join(" "))
    }
}

impl Known {
    pub fn stands_for(&self, store: &[u8]) -> bool {
        self.0.iter().all(|(&var, &value)| store[var] == value)
    }
    pub fn leq(&self, greater: &Known) -> bool {
        greater.0.iter().all(|(var, value)| self.0.get(var) == Some(value))
    }
    /// A bad hash of the values of the variables that `example` knows, so that there are collisions.
    fn content(&self, example: &Known) -> u64 {
        example.0.keys().map(|var| u64::from(self.0[var])).sum()
    }
}

/// How the toy domain merges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Separate,
    /// Separate, and states are only compared with equal ones.
    Flat,
    Join,
    /// Join states that know the same about this variable.
    JoinIfEqual(usize),
}

/// The toy domain: explicit values; its precision is the set of variables that are tracked.
pub struct KnownCpa {
    pub toys: Toys,
    pub mode: Mode,
    pub variables: usize,
    pub tracked: BTreeSet<usize>,
    /// Fails with Timeout when this many more successors were asked for.
    pub fuel: Option<u32>,
}

impl KnownCpa {
    pub fn new(toys: &Toys, mode: Mode, variables: usize) -> Self {
        let tracked = (0..variables).collect();
        Self { toys: toys.clone(), mode, variables, tracked, fuel: None }
    }

    /// The abstract successor along an edge.
    pub fn post(&self, state: &Known, edge: EdgeId) -> Option<Known> {
        let mut known = state.0.clone();
        match self.toys.ops[edge.index()] {
            Toy::Skip => {}
            Toy::Set(var, value) => {
                known.insert(var, value);
            }
            Toy::Add(var, value) => {
                if let Some(old) = known.get_mut(&var) {
                    *old = (*old + value) % MODULUS;
                }
            }
            Toy::Copy(var, from) => {
                match known.get(&from).copied() {
                    Some(value) => known.insert(var, value),
                    None => known.remove(&var),
                };
            }
            Toy::Havoc(var) => {
                known.remove(&var);
            }
            Toy::Eq(var, value) => {
                if *known.entry(var).or_insert(value) != value {
                    return None;
                }
            }
            Toy::Ne(var, value) => {
                if known.get(&var) == Some(&value) {
                    return None;
                }
            }
        }
        Some(Known(known))
    }
}

impl Cpa for KnownCpa {
    type State = Known;
    type Precision = BTreeSet<usize>;

    fn name(&self) -> &'static str {
        "known values"
    }

    fn initial(&mut self, _cx: &mut Cx) -> Result<(Known, BTreeSet<usize>), Stop> {
        Ok((Known((0..self.variables).map(|var| (var, 0)).collect()), self.tracked.clone()))
    }

    fn transfer(&mut self, _cx: &mut Cx, state: &Known, step: Step, _p: &BTreeSet<usize>) -> Result<Vec<Known>, Stop> {
        if let Some(fuel) = &mut self.fuel {
            *fuel = fuel.checked_sub(1).ok_or(Stop::Timeout)?;
        }
        Ok(match step {
            Step::Edge(edge) => self.post(state, edge).into_iter().collect(),
            Step::Enter(_) | Step::Leave(_) => vec![state.clone()],
        })
    }

    fn leq(&mut self, _cx: &mut Cx, lesser: &Known, greater: &Known) -> Result<bool, Stop> {
        Ok(lesser.leq(greater))
    }

    fn merge(
        &mut self,
        _cx: &mut Cx,
        new: &Known,
        reached: &Known,
        _p: &BTreeSet<usize>,
    ) -> Result<Merge<Known>, Stop> {
        Ok(match self.mode {
            Mode::Separate | Mode::Flat => Merge::Separate,
            Mode::JoinIfEqual(var) if new.0.get(&var) != reached.0.get(&var) => Merge::Separate,
            Mode::Join | Mode::JoinIfEqual(_) if new.leq(reached) => Merge::Contained,
            Mode::Join | Mode::JoinIfEqual(_) => {
                let agreed = reached.0.iter().filter(|(var, value)| new.0.get(var) == Some(value));
                Merge::Changed(Known(agreed.map(|(&var, &value)| (var, value)).collect()))
            }
        })
    }

    fn merges(&self) -> bool {
        matches!(self.mode, Mode::Join | Mode::JoinIfEqual(_))
    }

    fn fingerprint(&self, state: &Known) -> Option<Fingerprint> {
        let shape = state.0.keys().fold(0, |shape, &var| shape | 1 << var);
        (self.mode == Mode::Separate).then(|| Fingerprint { shape, content: state.content(state) })
    }

    fn project(&self, state: &Known, example: &Known) -> Option<u64> {
        example.0.keys().all(|var| state.0.contains_key(var)).then(|| state.content(example))
    }

    fn partition(&self, state: &Known) -> Option<PartitionKey> {
        let values = state.0.iter().map(|(&var, &value)| var as u64 * 8 + u64::from(value));
        (self.mode == Mode::Flat).then(|| PartitionKey(values.fold(0, |key, value| key * 64 + value + 1)))
    }

    /// In questions, expression `x<i>` means variable i.
    fn ask(&self, state: &Known, question: Ask) -> Answer {
        let (Ask::Constant(expr) | Ask::Interval(expr) | Ask::Truth(expr)) = question;
        state.0.get(&expr.index()).map_or(Answer::Unknown, |&value| Answer::Constant(i128::from(value)))
    }

    fn join_precision(&self, new: &BTreeSet<usize>, old: &BTreeSet<usize>) -> BTreeSet<usize> {
        new.union(old).copied().collect()
    }

    fn adjust(
        &mut self,
        _cx: &mut Cx,
        state: &Known,
        precision: &BTreeSet<usize>,
        _at: &At,
    ) -> Result<Adjusted<Known, BTreeSet<usize>>, Stop> {
        if state.0.keys().all(|var| precision.contains(var)) {
            return Ok(Adjusted::Unchanged);
        }
        let mut known = state.0.clone();
        known.retain(|var, _| precision.contains(var));
        Ok(Adjusted::Keep(Known(known), precision.clone()))
    }
}

/// A component without information whose states at all but the given locations take no part in covering.
pub struct OnlyCoverableAt {
    pub program: Arc<Program>,
    pub nodes: BTreeSet<NodeId>,
}

/// The location, only for [`OnlyCoverableAt`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Somewhere(NodeId);

impl fmt::Display for Somewhere {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl Cpa for OnlyCoverableAt {
    type State = Somewhere;
    type Precision = ();
    fn name(&self) -> &'static str {
        "only coverable at"
    }
    fn initial(&mut self, _cx: &mut Cx) -> Result<(Somewhere, ()), Stop> {
        Ok((Somewhere(self.program.entry), ()))
    }
    fn transfer(&mut self, _cx: &mut Cx, _s: &Somewhere, step: Step, _p: &()) -> Result<Vec<Somewhere>, Stop> {
        Ok(vec![Somewhere(step.destination(&self.program))])
    }
    fn leq(&mut self, _cx: &mut Cx, lesser: &Somewhere, greater: &Somewhere) -> Result<bool, Stop> {
        Ok(lesser == greater)
    }
    fn coverable(&self, state: &Somewhere) -> bool {
        self.nodes.contains(&state.0)
    }
}

/// Location, call stack and toy domain together.
pub struct Setup {
    pub toys: Toys,
    pub cpa: Composite,
    pub known: Handle<KnownCpa>,
    pub location: Handle<LocationCpa>,
}

/// The usual composite; `targets` are the locations that violate the property.
pub fn setup(toys: &Toys, mode: Mode, variables: usize, targets: &[usize]) -> Setup {
    let program = &toys.program;
    let mut cpa = Composite::new(Arc::clone(program));
    let targets = targets.iter().map(|&node| n(node)).collect();
    let location = cpa.add(LocationCpa::new(Arc::clone(program), targets));
    cpa.add(CallstackCpa::new(Arc::clone(program)));
    let known = cpa.add(KnownCpa::new(toys, mode, variables));
    Setup { toys: toys.clone(), cpa, known, location }
}

/// The nodes of the graph at a location.
pub fn at(arg: &Arg, node: usize) -> Vec<ArgId> {
    arg.ids().filter(|&id| arg.location(id) == n(node)).collect()
}

/// Small pseudo-random numbers (an xorshift generator), the same in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// A random automaton in which any location may lead to any other, with or without nondeterminism.
pub fn random_toys(random: &mut Random, nodes: usize, edges: usize, variables: usize, havoc: bool) -> Toys {
    let mut builder = Builder::new(nodes);
    for index in 0..edges {
        let var = random.below(variables);
        let value = u8::try_from(random.below(usize::from(MODULUS))).unwrap();
        let toy = match random.below(if havoc { 7 } else { 6 }) {
            0 => Toy::Skip,
            1 => Toy::Set(var, value),
            2 => Toy::Add(var, value),
            3 => Toy::Copy(var, random.below(variables)),
            4 => Toy::Eq(var, value),
            5 => Toy::Ne(var, value),
            _ => Toy::Havoc(var),
        };
        // The first edges make every location reachable as far as the operations allow.
        let (src, dst) = if index + 1 < nodes {
            (random.below(index + 1), index + 1)
        } else {
            (random.below(nodes), random.below(nodes))
        };
        builder.edge(src, dst, toy);
    }
    builder.build()
}
