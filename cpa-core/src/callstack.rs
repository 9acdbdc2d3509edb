// SPDX-License-Identifier: Apache-2.0
//! The call-stack analysis: a function returns to where it was called (*A Unifying View*, section 2.2.3).
//!
//! Most other domains have one instance of each local variable, so a function that calls itself, directly or not, is
//! reported as not supported unless the analysis is told to follow recursion.

use std::fmt;
use std::hash::Hasher;
use std::rc::Rc;
use std::sync::Arc;

use cfa::ids::{BlockId, EdgeId, FuncId};
use cfa::ir::Op;
use rustc_hash::FxHasher;

use crate::cpa::{Cpa, PartitionKey, Rank, Target};
use crate::cx::{Cx, Stop};
use crate::reducer::{Reducer, Site, Unfolding};
use crate::step::Step;
use cfa::Program;

struct Frame {
    call: EdgeId,
    func: FuncId,
    name: Arc<str>,
    depth: u32,
    hash: u64,
    below: Option<Rc<Frame>>,
}

/// The calls that have not returned yet.
#[derive(Clone)]
pub struct Callstack {
    top: Option<Rc<Frame>>,
    recursion: Option<(EdgeId, Arc<str>)>,
}

impl Callstack {
    fn frames(&self) -> impl Iterator<Item = &Frame> {
        std::iter::successors(self.top.as_deref(), |frame| frame.below.as_deref())
    }

    /// The call edges, the innermost first.
    pub fn calls(&self) -> impl Iterator<Item = EdgeId> + '_ {
        self.frames().map(|frame| frame.call)
    }

    /// The number of calls.
    pub fn depth(&self) -> u32 {
        self.top.as_ref().map_or(0, |frame| frame.depth)
    }

    fn hash(&self) -> u64 {
        self.top.as_ref().map_or(0, |frame| frame.hash)
    }

    fn push(&self, call: EdgeId, func: FuncId, name: &Arc<str>) -> Callstack {
        let mut hasher = FxHasher::default();
        hasher.write_u64(self.hash());
        hasher.write_usize(call.index());
        let frame = Frame {
            call,
            func,
            name: Arc::clone(name),
            depth: self.depth() + 1,
            hash: hasher.finish(),
            below: self.top.clone(),
        };
        Callstack { top: Some(Rc::new(frame)), recursion: None }
    }
}

impl PartialEq for Callstack {
    fn eq(&self, other: &Self) -> bool {
        if self.depth() != other.depth() || self.hash() != other.hash() || self.recursion != other.recursion {
            return false;
        }
        // The hash nearly always decides; two stacks share their lower part, so the loop is short.
        for (one, two) in self.frames().zip(other.frames()) {
            if std::ptr::eq(one, two) {
                return true;
            }
            if one.call != two.call {
                return false;
            }
        }
        true
    }
}
impl Eq for Callstack {}

impl fmt::Display for Callstack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<&str> = self.frames().map(|frame| &*frame.name).collect();
        names.reverse();
        f.write_str(&names.join("/"))?;
        match &self.recursion {
            Some((edge, construct)) => write!(f, " {edge}: {construct}"),
            None => Ok(()),
        }
    }
}
impl fmt::Debug for Callstack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.calls()).finish()
    }
}

/// The call-stack analysis.
pub struct CallstackCpa {
    program: Arc<Program>,
    recursion: bool,
}

impl CallstackCpa {
    /// Follows the calls of `program`.
    pub fn new(program: Arc<Program>) -> Self {
        Self { program, recursion: false }
    }

    /// The same analysis, but recursive calls are followed, to any depth. Right where all other domains tell activations
    /// of a function apart and something else bounds the depth.
    #[must_use]
    pub fn following_recursion(mut self) -> Self {
        self.recursion = true;
        self
    }

    /// The state below the given calls, the outermost first.
    pub fn below(&self, calls: &[EdgeId]) -> Callstack {
        calls.iter().fold(Callstack { top: None, recursion: None }, |stack, &call| self.enter(&stack, call))
    }

    fn enter(&self, stack: &Callstack, call: EdgeId) -> Callstack {
        let Op::Call { callee, .. } = self.program.edges[call.index()].op else {
            panic!("Enter is only made for call edges, but {call} is none");
        };
        let name = &self.program.funcs[callee.index()].name;
        let mut entered = stack.push(call, callee, name);
        if callee == self.program.main || (!self.recursion && stack.frames().any(|frame| frame.func == callee)) {
            entered.recursion = Some((call, format!("recursion of '{name}'").into()));
        }
        entered
    }
}

impl Cpa for CallstackCpa {
    type State = Callstack;
    type Precision = ();

    fn name(&self) -> &'static str {
        "callstack"
    }

    fn initial(&mut self, _cx: &mut Cx) -> Result<(Callstack, ()), Stop> {
        Ok((Callstack { top: None, recursion: None }, ()))
    }

    fn transfer(
        &mut self,
        _cx: &mut Cx,
        state: &Callstack,
        step: Step,
        _precision: &(),
    ) -> Result<Vec<Callstack>, Stop> {
        if state.recursion.is_some() {
            return Ok(Vec::new());
        }
        Ok(match (step, &state.top) {
            (Step::Edge(_), _) => vec![state.clone()],
            (Step::Enter(call), _) => vec![self.enter(state, call)],
            (Step::Leave(call), Some(frame)) if frame.call == call => {
                vec![Callstack { top: frame.below.clone(), recursion: None }]
            }
            (Step::Leave(_), _) => Vec::new(),
        })
    }

    fn leq(&mut self, _cx: &mut Cx, lesser: &Callstack, greater: &Callstack) -> Result<bool, Stop> {
        Ok(lesser == greater)
    }

    fn merges(&self) -> bool {
        false
    }

    fn partition(&self, state: &Callstack) -> Option<PartitionKey> {
        Some(PartitionKey(state.hash()))
    }

    fn target(&self, state: &Callstack) -> Option<Target> {
        let (edge, construct) = state.recursion.as_ref()?;
        Some(Target::Unsupported { edge: *edge, construct: Arc::clone(construct) })
    }

    fn rank(&self, state: &Callstack) -> Rank {
        Rank { depth: state.depth(), ..Rank::default() }
    }
}

/// The reducer of call stacks: a block does not see who called it. Recursive calls run blocks, so no stack inside a block
/// grows without end; only the entry function is still not called again.
pub(crate) struct CallstackReducer {
    program: Arc<Program>,
}

impl CallstackReducer {
    pub(crate) fn new(program: Arc<Program>) -> Self {
        Self { program }
    }
}

impl Reducer for CallstackReducer {
    type Cpa = CallstackCpa;

    fn reduce(&mut self, _cx: &mut Cx, _block: BlockId, entry: &Callstack) -> Result<Callstack, Stop> {
        Ok(Callstack { top: None, recursion: entry.recursion.clone() })
    }

    fn reduce_precision(&mut self, _block: BlockId, _precision: &()) {}

    fn expand(&mut self, _cx: &mut Cx, site: &Site<'_, Callstack>, exit: &Callstack) -> Result<Callstack, Stop> {
        if exit.top.is_some() {
            return Err(Stop::Internal(format!("{} ends inside a called function", site.block)));
        }
        Ok(site.entry.clone())
    }

    fn expand_precision(&mut self, _outer: &(), _inner: &()) {}

    fn unfold(&mut self, at: &Unfolding<'_, Callstack>, inner: &Callstack) -> Callstack {
        let stack = match (at.step, &self.program.edge(at.step.edge()).op) {
            (Step::Enter(call), Op::Call { callee, .. }) => {
                at.before.push(call, *callee, &self.program.func(*callee).name)
            }
            (Step::Leave(_), _) => {
                Callstack { top: at.before.top.as_ref().and_then(|frame| frame.below.clone()), recursion: None }
            }
            _ => at.before.clone(),
        };
        Callstack { recursion: inner.recursion.clone(), ..stack }
    }
}
