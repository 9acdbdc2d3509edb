// SPDX-License-Identifier: Apache-2.0
//! A whole program: the tables of its entities.

use std::sync::Arc;

use crate::exprs::Exprs;
use crate::ids::{EdgeId, ExprId, FuncId, NodeId, RegionId, VarId};
use crate::ir::{Edge, Function, HavocOrigin, Node, Object, Op, Region, Scope, Span, Var};
use crate::location::{LineTable, Location};
use crate::loops::Loops;
use crate::names::{Declaration, LoopStatement};
use crate::sites::LoopSites;
use crate::types::MachineModel;

/// A source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Its name for messages.
    pub name: String,
    /// Its text: preprocessed C.
    pub text: String,
}

/// What a call of a function means that has no body and that is not known.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum UndefinedFunctions {
    /// It returns any value and changes nothing else, which is an assumption; a call that could change what a pointer
    /// argument points to is not supported.
    #[default]
    Havoc,
    /// It is not supported.
    Error,
    /// It returns any value and changes nothing, whatever its arguments are, which is an assumption.
    Skip,
}

/// How a program is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The sizes of the basic types.
    pub machine: MachineModel,
    /// The function where the program starts.
    pub entry: String,
    /// What a call of a function without body means.
    pub undefined_functions: UndefinedFunctions,
    /// Whether line markers say where the text comes from, as in the output of a preprocessor.
    pub line_markers: bool,
    /// Whether [`Program::loop_sites`] is filled.
    pub loop_sites: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            machine: MachineModel::Ilp32,
            entry: "main".to_owned(),
            undefined_functions: UndefinedFunctions::default(),
            line_markers: false,
            loop_sites: false,
        }
    }
}

/// A program as control-flow automata.
#[derive(Clone, Debug)]
pub struct Program {
    /// The sizes of the basic types.
    pub machine: MachineModel,
    /// How the program was read.
    pub options: Options,
    /// The source files; the last ones may be definitions of library functions.
    pub sources: Vec<Source>,
    /// How many source files the user gave.
    pub user_sources: usize,
    /// Where the lines of the sources start.
    pub(crate) lines: Vec<LineTable>,
    /// All variables.
    pub vars: Vec<Var>,
    /// The objects with fixed addresses, in ascending order of their addresses. New objects lie above all of them.
    pub objects: Vec<Object>,
    /// The parts of memory.
    pub regions: Vec<Region>,
    /// All expressions.
    pub exprs: Exprs,
    /// All functions, in the order of their first declaration.
    pub funcs: Vec<Function>,
    /// All locations; those of a function are in reverse post-order.
    pub nodes: Vec<Node>,
    /// All edges, in the order of their source nodes.
    pub edges: Vec<Edge>,
    /// Where the program starts: the initialisation of its global variables, which leads to the entry of `main`.
    pub entry: NodeId,
    /// The entry function.
    pub main: FuncId,
    /// The loops of all functions.
    pub loops: Loops,
    /// All reachable call sites, also of functions without a body: the name of the function and the node where the call
    /// happens next, its arguments being evaluated.
    pub calls: Vec<(Arc<str>, NodeId, Span)>,
    /// All reachable labels.
    pub labels: Vec<(Arc<str>, NodeId)>,
    /// The loop statements as they stand in the text; only if [`Options::loop_sites`] asks for them.
    pub loop_sites: LoopSites,
    /// What the automaton takes for granted about the program beyond the C standard.
    pub assumptions: Vec<String>,
    /// The called functions without a body of which is assumed that they return any value and change nothing, in the order
    /// of their names.
    pub undefined: Vec<Arc<str>>,
    /// What names mean, in the order of their declarations.
    pub declarations: Vec<Declaration>,
    /// The statements behind loop heads, those that can be reached.
    pub loop_statements: Vec<LoopStatement>,
}

/// A program is not started with more arguments than this, its name among them; no system passes as many as the type of
/// their number allows.
pub const MOST_ARGUMENTS: usize = 1000;

impl Program {
    /// Whether the program can look at the bits of a floating-point result that is not a number.
    pub fn sees_nans(&self) -> bool {
        self.edges.iter().any(|edge| matches!(edge.op, Op::Havoc { origin: HavocOrigin::NanBits, .. }))
    }

    /// A location.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// An edge.
    pub fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.index()]
    }

    /// A variable.
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.index()]
    }

    /// The variables that an operation reads.
    pub fn read_by(&self, op: &Op) -> Vec<VarId> {
        op.operands().into_iter().flat_map(|expr| self.exprs.vars(expr)).collect()
    }

    /// A part of memory.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.index()]
    }

    /// The address where new objects begin: above all objects with fixed addresses, a multiple of 16.
    pub fn heap_start(&self) -> u64 {
        self.objects
            .iter()
            .map(|object| object.addr + object.size.max(1))
            .max()
            .unwrap_or(0)
            .max(4096)
            .next_multiple_of(4096)
    }

    /// Where the next new object begins behind one of `size` bytes at `start`: a multiple of 16 behind at least one byte. None
    /// outside of memory.
    pub fn object_end(&self, start: u64, size: u64) -> Option<u64> {
        let end = start.checked_add(size.max(1))?.checked_next_multiple_of(16)?;
        (i128::from(end) <= self.machine.size_type().max()).then_some(end)
    }

    /// A function.
    pub fn func(&self, id: FuncId) -> &Function {
        &self.funcs[id.index()]
    }

    /// All node ids.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::new)
    }

    /// All edge ids.
    pub fn edge_ids(&self) -> impl Iterator<Item = EdgeId> + use<> {
        (0..self.edges.len()).map(EdgeId::new)
    }

    /// What is assigned to variables and passed to parameters, anywhere in the program.
    pub fn assigned(&self) -> impl Iterator<Item = (VarId, ExprId)> {
        self.edges.iter().flat_map(|edge| {
            let (vars, values) = match &edge.op {
                Op::Assign { var, value } => (std::slice::from_ref(var), std::slice::from_ref(value)),
                Op::Call { callee, args, .. } => (&self.func(*callee).params[..], &args[..]),
                _ => (&[][..], &[][..]),
            };
            vars.iter().copied().zip(values.iter().copied())
        })
    }

    /// The first function of the given name.
    pub fn find_func(&self, name: &str) -> Option<FuncId> {
        self.funcs.iter().position(|f| &*f.name == name).map(FuncId::new)
    }

    /// Where a span starts, as people read it.
    pub fn location(&self, span: Span) -> Location {
        self.lines[span.file as usize].location(&self.sources[span.file as usize].name, span.start)
    }

    /// Whether a span is in a file that the user gave, and not in the definition of a library function.
    pub fn is_users(&self, span: Span) -> bool {
        (span.file as usize) < self.user_sources
    }

    /// The variables of each function.
    pub fn locals(&self) -> Vec<Vec<VarId>> {
        let mut locals = vec![Vec::new(); self.funcs.len()];
        for (index, var) in self.vars.iter().enumerate() {
            if let Scope::Local(func) = var.scope {
                locals[func.index()].push(VarId::new(index));
            }
        }
        locals
    }

    /// A location of the automaton as people read it: where one of its edges is in the source.
    pub fn place(&self, node: NodeId) -> String {
        let there = self.node(node);
        match there.leaving.iter().chain(&there.entering).next() {
            Some(&edge) => self.location(self.edge(edge).span).to_string(),
            None => node.to_string(),
        }
    }

    /// The source text of a span.
    pub fn text(&self, span: Span) -> &str {
        &self.sources[span.file as usize].text[span.start as usize..span.end as usize]
    }
}
