// SPDX-License-Identifier: Apache-2.0
//! The loop-bound analysis: cuts every path at a given number of loop iterations.
//!
//! Follows *A Unifying View*, section 4.1: a counter for each loop head, from -1, incremented on every visit; a state with
//! a counter that equals the bound has no successors, which is unsound on purpose. Three refinements keep unrollings
//! small. A counter belongs to one entry into the loop and is dropped where the loop is left, so that the paths that leave a
//! loop after different numbers of iterations meet again. Deeper activations of a recursive function count as its
//! iterations. And states carry the round in which the bound was raised last, so that an unrolling that goes on where the
//! bound stopped it does not mix new paths with those that were examined before.
//!
//! States are separated such that no path visits two states of one partition: every cycle of the automaton passes, without
//! leaving its body, a loop head whose counter it increments, and a call adds a frame.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use cfa::ids::{EdgeId, FuncId, NodeId};
use cfa::ir::Op;
use cfa::{Loops, Program};
use rustc_hash::FxHasher;

use crate::cpa::{Cpa, PartitionKey, Rank};
use crate::cx::{Cx, Stop};
use crate::step::Step;

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Counting {
    /// The iterations of each loop since it was entered, and the activations of each function on the call stack.
    #[default]
    Iterations,
    /// The visits of loop heads, whichever they are, since the first one: the segments of the path between heads.
    Visits,
}

/// The loops around the location in one activation of a function.
struct Frame {
    func: FuncId,
    /// The number of other activations of the function below.
    activation: u32,
    /// The length of the part of the position that names the activation.
    base: usize,
    /// The heads visited since their loop was entered, outermost first, with the number of visits minus one.
    loops: Vec<(NodeId, u32)>,
    below: Option<Rc<Frame>>,
}

/// How often each loop body was traversed: the number of visits of the loop head minus one.
#[derive(Clone)]
pub struct LoopCounters {
    frame: Rc<Frame>,
    /// Whether the state is at the entry of its function.
    entering: bool,
    visits: u32,
    round: u32,
    /// Where the state is on the unrolled program; smaller positions never come after greater ones on a path.
    position: Rc<[u32]>,
}

impl LoopCounters {
    fn frames(&self) -> impl Iterator<Item = &Frame> {
        std::iter::successors(Some(&*self.frame), |frame| frame.below.as_deref())
    }

    /// The counter of a loop head around the location; none (the -1 of the paper) before its first visit.
    pub fn get(&self, head: NodeId) -> Option<u32> {
        self.frame.loops.iter().find(|(known, _)| *known == head).map(|&(_, count)| count)
    }

    /// Whether the bound `k` stops a path here.
    pub fn at_bound(&self, k: u32, counting: Counting) -> bool {
        match counting {
            Counting::Iterations => {
                self.frame.loops.iter().any(|&(_, count)| count >= k) || (self.entering && self.frame.activation >= k)
            }
            Counting::Visits => self.visits >= k,
        }
    }

    /// The heads of the loops in which the bound `k` stops a path here, the outermost first; none if what stops it is
    /// recursion.
    pub fn loops_at_bound(&self, k: u32) -> impl Iterator<Item = NodeId> {
        self.frame.loops.iter().filter(move |&&(_, count)| count >= k).map(|&(head, _)| head)
    }

    /// The number of loop heads visited so far.
    pub fn visits(&self) -> u32 {
        self.visits
    }

    /// The round in which the state was made.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The same counters in a later round: what follows is kept apart from what was explored before.
    #[must_use]
    pub fn in_round(&self, round: u32) -> Self {
        Self { round, ..self.clone() }
    }
}

impl PartialEq for LoopCounters {
    fn eq(&self, other: &Self) -> bool {
        self.round == other.round
            && self.visits == other.visits
            && self.frames().map(|frame| &frame.loops).eq(other.frames().map(|frame| &frame.loops))
    }
}
impl Eq for LoopCounters {}

impl fmt::Debug for LoopCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} round {}", self.round)
    }
}

impl fmt::Display for LoopCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loops = self.frames().flat_map(|frame| frame.loops.iter().rev());
        let mut counters: Vec<String> = loops.map(|(head, count)| format!("{head}:{count}")).collect();
        counters.reverse();
        f.write_str(&counters.join(" "))
    }
}

/// The loop-bound analysis. Its precision is the bound.
pub struct LoopBoundCpa {
    program: Arc<Program>,
    loops: Loops,
    /// For each node the heads of all loops whose bodies it is in, the outermost first. Bodies of irreducible loops may
    /// overlap, so this is more than the chain of parents.
    around: Vec<Vec<NodeId>>,
    counting: Counting,
    k: u32,
    truncated: bool,
}

impl LoopBoundCpa {
    /// Counts in all loops of the program; at most `k` iterations of each loop on a path.
    pub fn new(program: Arc<Program>, counting: Counting, k: u32) -> Self {
        assert!(k > 0, "the bound of an unrolling is positive");
        let loops = Loops::find(&program);
        let mut around = vec![Vec::new(); program.nodes.len()];
        let mut ordered: Vec<_> = loops.loops.iter().collect();
        ordered.sort_by_key(|l| (std::cmp::Reverse(l.body.len()), program.nodes[l.head.index()].rpo, l.head));
        for l in ordered {
            l.body.iter().for_each(|node| around[node.index()].push(l.head));
        }
        Self { program, loops, around, counting, k, truncated: false }
    }

    /// The bound for explorations that start from now on.
    pub fn set_bound(&mut self, k: u32) {
        assert!(k > 0, "the bound of an unrolling is positive");
        self.k = k;
        self.truncated = false;
    }

    /// What is counted.
    pub fn counting(&self) -> Counting {
        self.counting
    }

    /// The counters of a path that begins at `node`, below the given calls (the outermost first).
    pub fn start(&self, calls: &[EdgeId], node: NodeId) -> LoopCounters {
        // The number of visits comes before everything else in a position.
        let base = usize::from(self.counting == Counting::Visits);
        let frame = Frame { func: self.program.main, activation: 0, base, loops: Vec::new(), below: None };
        let position = Rc::from(vec![0; base]);
        let mut state = LoopCounters { frame: Rc::new(frame), entering: false, visits: 0, round: 0, position };
        for &call in calls {
            state = self.moved(&state, self.program.edges[call.index()].src, false);
            state = self.entered(&state, call);
        }
        LoopCounters { visits: 0, entering: false, ..self.moved(&state, node, self.loops.is_head(node)) }
    }

    fn entered(&self, state: &LoopCounters, call: EdgeId) -> LoopCounters {
        let Op::Call { callee, .. } = self.program.edges[call.index()].op else {
            panic!("Enter is only made for call edges, but {call} is none");
        };
        let activations = state.frames().filter(|frame| frame.func == callee).count();
        let frame = Frame {
            func: callee,
            activation: u32::try_from(activations).expect("call stacks are short"),
            base: state.position.len(),
            loops: Vec::new(),
            below: Some(Rc::clone(&state.frame)),
        };
        LoopCounters { frame: Rc::new(frame), entering: true, ..state.clone() }
    }

    fn left(&self, state: &LoopCounters) -> Option<LoopCounters> {
        let below = state.frame.below.as_ref()?;
        Some(LoopCounters { frame: Rc::clone(below), entering: false, ..state.clone() })
    }

    /// The state at another node of the same activation; `visit` says whether a head is visited.
    fn moved(&self, state: &LoopCounters, node: NodeId, visit: bool) -> LoopCounters {
        let mut loops: Vec<(NodeId, u32)> = Vec::new();
        if self.counting == Counting::Iterations {
            for &head in &self.around[node.index()] {
                match state.get(head) {
                    Some(count) if head == node && visit => loops.push((head, count + 1)),
                    Some(count) => loops.push((head, count)),
                    None if head == node && visit => loops.push((head, 0)),
                    None => {}
                }
            }
        }
        let visits = state.visits + u32::from(visit && self.counting == Counting::Visits);
        let mut position: Vec<u32> = state.position[..state.frame.base].to_vec();
        if self.counting == Counting::Visits {
            position[0] = visits;
        }
        for &(head, count) in &loops {
            position.extend([self.program.nodes[head.index()].rpo, count + 1]);
        }
        position.push(self.program.nodes[node.index()].rpo);
        let frame = if loops == state.frame.loops {
            Rc::clone(&state.frame)
        } else {
            let Frame { func, activation, base, ref below, .. } = *state.frame;
            Rc::new(Frame { func, activation, base, loops, below: below.clone() })
        };
        LoopCounters { frame, visits, position: position.into(), ..state.clone() }
    }
}

impl Cpa for LoopBoundCpa {
    type State = LoopCounters;
    type Precision = u32;

    fn name(&self) -> &'static str {
        "loop bound"
    }

    fn initial(&mut self, _cx: &mut Cx) -> Result<(LoopCounters, u32), Stop> {
        Ok((self.start(&[], self.program.entry), self.k))
    }

    fn transfer(
        &mut self,
        _cx: &mut Cx,
        state: &LoopCounters,
        step: Step,
        precision: &u32,
    ) -> Result<Vec<LoopCounters>, Stop> {
        if state.at_bound(*precision, self.counting) {
            self.truncated = true;
            return Ok(Vec::new());
        }
        let node = step.destination(&self.program);
        let from = match step {
            Step::Edge(_) => LoopCounters { entering: false, ..state.clone() },
            Step::Enter(call) => self.entered(state, call),
            Step::Leave(_) => match self.left(state) {
                Some(from) => from,
                None => return Ok(Vec::new()),
            },
        };
        Ok(vec![self.moved(&from, node, self.loops.is_head(node))])
    }

    fn leq(&mut self, _cx: &mut Cx, lesser: &LoopCounters, greater: &LoopCounters) -> Result<bool, Stop> {
        Ok(lesser == greater)
    }

    fn partition(&self, state: &LoopCounters) -> Option<PartitionKey> {
        let mut hasher = FxHasher::default();
        (state.round, state.visits).hash(&mut hasher);
        state.frames().for_each(|frame| frame.loops.hash(&mut hasher));
        Some(PartitionKey(hasher.finish()))
    }

    fn rank(&self, state: &LoopCounters) -> Rank {
        Rank { position: Some(Rc::clone(&state.position)), ..Rank::default() }
    }

    fn truncated(&self) -> Option<String> {
        self.truncated.then(|| format!("loops were unrolled at most {} times", self.k))
    }
}
