// SPDX-License-Identifier: Apache-2.0
//! Lowering of C to control-flow automata: the file scopes, the program's entry, and what all parts share.
//!
//! A floating-point number is the unsigned integer of its bits (`float`). A value that is not a scalar is *opaque*: it may be declared, copied and passed around, and has no
//! representation. The first operation that would turn it into an integer, a branch or a memory access becomes an
//! [`Op::Unsupported`] edge. Since variables have no addresses that could be used, this loses nothing.
//!
//! A pointer is an unsigned integer of its width, which may be copied, compared, tested and converted. Other operations
//! see it as an opaque value; what they and addresses give is opaque, too, and becomes an [`Op::Unsupported`] edge where
//! it goes into a variable that matters (`pointers`).

mod call;
mod control;
mod decl;
mod expr;
mod float;
mod graph;
mod math;
mod ops;
mod pointers;
mod stmt;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ast::{Ast, Declarator, ExprRef, Item, Param, Range, StmtRef, Storage};
use crate::error::LoadError;
use crate::exprs::Exprs;
use crate::ids::{ExprId, FuncId, NodeId, VarId};
use crate::ir::{Body, Function, HavocOrigin, IntTy, Op, Scope as VarScope, Span, Var};
use crate::location::LineTable;
use crate::loops::Loops;
use crate::prepass::Refusal;
use crate::program::{Options, Program, Source, UndefinedFunctions};
use crate::types::{FunctionType, MachineModel, Record, Type};

use graph::RawGraph;

/// Expressions deeper than this are cut by a temporary, so that everybody may traverse them recursively.
const DEPTH_LIMIT: u32 = 200;

/// What a name stands for.
#[derive(Clone, Debug)]
enum Binding {
    Typedef(Type),
    /// A variable of scalar type.
    Var(VarId, Type),
    /// A variable of another type.
    Opaque(Type),
    Func(FuncId),
    /// An enumeration constant.
    Const(i128, Type),
}

#[derive(Clone, Debug)]
enum Tag {
    Record(usize),
    Enum(Type),
}

#[derive(Default)]
struct Scope<'a> {
    names: FxHashMap<&'a str, Binding>,
    tags: FxHashMap<&'a str, Tag>,
}

/// A value of the program.
#[derive(Clone, Debug)]
enum Val {
    /// A value of scalar type: an integer, `bool`, pointer or floating-point number; the expression has the type's storage.
    Int(ExprId, Type),
    /// A value without representation, and what to say when it is needed.
    Opaque(Type, Rc<str>),
    Void,
}

/// What is known about a function beside its [`Function`].
#[derive(Clone)]
struct Signature {
    ret: Type,
    params: Vec<Type>,
    /// The variables of the parameters of a definition, none for those without representation.
    vars: Vec<Option<VarId>>,
    unspecified: bool,
    /// Name of the function and whether it has been declared at all.
    declared: bool,
}

/// A function body that is still to be lowered.
struct Pending<'a> {
    func: FuncId,
    file: usize,
    params: Vec<Param<'a>>,
    body: StmtRef,
    range: Range,
}

/// How an object with static storage starts.
struct Init {
    var: VarId,
    op: Op,
    rank: Rank,
    span: Span,
}

/// Which declaration of an object says how it starts: the greatest one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// `extern` without a definition.
    Declared,
    /// A definition without initialiser.
    Tentative,
    Explicit,
}

struct Label {
    node: NodeId,
    /// The variables alive at the label, once it is defined.
    defined: Option<Alive>,
}

/// The local variables that are alive: position in [`Cx::declarations`], 0 for none.
type Alive = u32;

#[derive(Default)]
struct Switch {
    cases: Vec<(ExprId, NodeId, Range, Alive)>,
    default: Option<(NodeId, Alive)>,
    ty: Option<Type>,
    unsupported: bool,
}

/// The function that is being lowered.
struct Cx<'a> {
    func: FuncId,
    name: Arc<str>,
    ret: Type,
    ret_var: Option<VarId>,
    exit: NodeId,
    labels: FxHashMap<&'a str, Label>,
    breaks: Vec<NodeId>,
    continues: Vec<NodeId>,
    switches: Vec<Switch>,
    temporaries: u32,
    /// A tree of declarations: the one before in the same or an outer block, the depth, and the variable.
    declarations: Vec<(Alive, u32, Option<VarId>)>,
    alive: Alive,
    /// Jumps to labels: from where, whereto, with which variables alive.
    gotos: Vec<(NodeId, &'a str, Alive, Range)>,
}

impl Cx<'_> {
    fn new(func: FuncId, name: Arc<str>, ret: Type, ret_var: Option<VarId>, exit: NodeId) -> Self {
        Cx {
            func,
            name,
            ret,
            ret_var,
            exit,
            labels: FxHashMap::default(),
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
            temporaries: 0,
            declarations: vec![(0, 0, None)],
            alive: 0,
            gotos: Vec::new(),
        }
    }

    /// One more variable is alive.
    fn declared(&mut self, var: VarId) -> Alive {
        let depth = self.declarations[self.alive as usize].1 + 1;
        self.declarations.push((self.alive, depth, Some(var)));
        u32::try_from(self.declarations.len() - 1).expect("fewer declarations than bytes")
    }

    /// The variables that come to life by a jump without their declaration being reached.
    fn bypassed(&self, mut from: Alive, mut to: Alive) -> Vec<VarId> {
        let mut found = Vec::new();
        while from != to {
            let ((from_up, from_depth, _), (to_up, to_depth, var)) =
                (self.declarations[from as usize], self.declarations[to as usize]);
            if from_depth > to_depth {
                from = from_up;
            } else {
                found.extend(var);
                to = to_up;
            }
        }
        found
    }
}

struct Lower<'a> {
    machine: MachineModel,
    sources: &'a [Source],
    asts: &'a [Ast<'a>],
    file: usize,
    exprs: Exprs,
    vars: Vec<Var>,
    /// Which variables hold pointers.
    pointers: Vec<bool>,
    /// Unsupported edges that matter only if a pointer does: the variable that takes its value there.
    deferred: Vec<(usize, VarId)>,
    funcs: Vec<Function>,
    signatures: Vec<Signature>,
    records: Vec<Record>,
    /// The scopes around the current place; the first one is that of the file.
    scopes: Vec<Scope<'a>>,
    /// Objects and functions with external linkage.
    externals: FxHashMap<&'a str, Binding>,
    graph: RawGraph,
    cur: NodeId,
    cx: Cx<'a>,
    inits: Vec<Init>,
    init_of: FxHashMap<VarId, usize>,
    var_names: FxHashMap<String, u32>,
    calls: Vec<(Arc<str>, NodeId, Span)>,
    labels: Vec<(Arc<str>, NodeId)>,
    assumptions: Vec<String>,
    evaluation_order: Option<Span>,
    /// The first file that defines library functions.
    library: usize,
    undefined_functions: UndefinedFunctions,
    /// Functions without body whose calls have been given a meaning.
    undefined: BTreeSet<String>,
}

/// Lowers the syntax trees of all files of a program.
/// The files from position `library` on define library functions and yield to what the program declares.
pub(crate) fn lower(
    sources: &[Source],
    asts: &[Ast<'_>],
    library: usize,
    options: &Options,
) -> Result<Program, LoadError> {
    let mut graph = RawGraph::default();
    // A place for what is evaluated outside of functions: sizes of arrays, initialisers. It is never reached.
    let nowhere = graph.node(FuncId::new(0), false);
    let cx = Cx::new(FuncId::new(0), "".into(), Type::Void, None, nowhere);
    let lower = Lower {
        machine: options.machine,
        sources,
        asts,
        file: 0,
        exprs: Exprs::new(),
        vars: Vec::new(),
        pointers: Vec::new(),
        deferred: Vec::new(),
        funcs: Vec::new(),
        signatures: Vec::new(),
        records: Vec::new(),
        scopes: Vec::new(),
        externals: FxHashMap::default(),
        graph,
        cur: nowhere,
        cx,
        inits: Vec::new(),
        init_of: FxHashMap::default(),
        var_names: FxHashMap::default(),
        calls: Vec::new(),
        labels: Vec::new(),
        assumptions: Vec::new(),
        evaluation_order: None,
        library,
        undefined_functions: options.undefined_functions,
        undefined: BTreeSet::new(),
    };
    lower.program(&options.entry)
}

impl<'a> Lower<'a> {
    fn program(mut self, entry: &str) -> Result<Program, LoadError> {
        let refuse = |lower: &Self, refusal: Refusal| lower.refusal(refusal);
        let mut pending = Vec::new();
        let mut file_scopes = Vec::new();
        for file in 0..self.asts.len() {
            self.file = file;
            self.scopes = vec![Scope::default()];
            let found = self.collect().map_err(|refusal| refuse(&self, refusal))?;
            pending.extend(found);
            file_scopes.push(std::mem::take(&mut self.scopes));
        }
        let main = self
            .funcs
            .iter()
            .position(|f| &*f.name == entry && f.body.is_some())
            .map(FuncId::new)
            .ok_or_else(|| LoadError::NoEntry(entry.to_owned()))?;
        for function in &pending {
            self.file = function.file;
            self.scopes = std::mem::take(&mut file_scopes[function.file]);
            self.function(function, function.func == main).map_err(|refusal| refuse(&self, refusal))?;
            file_scopes[function.file] = std::mem::take(&mut self.scopes);
        }
        let needed = self.prune_pointers(main);
        let start = self.initialisation(main, &needed);
        Ok(self.finish(start, main))
    }

    fn refusal(&self, (at, construct, advice): Refusal) -> LoadError {
        syntax_error(&self.sources[self.file], at, construct, advice)
    }

    fn finish(self, start: NodeId, main: FuncId) -> Program {
        let Lower { machine, sources, exprs, vars, mut funcs, graph, calls, labels, mut assumptions, .. } = self;
        let lines: Vec<LineTable> = sources.iter().map(|source| LineTable::new(&source.text)).collect();
        if let Some(span) = self.evaluation_order {
            let (line, column) = lines[span.file as usize].line_column(span.start);
            let name = &sources[span.file as usize].name;
            assumptions.push(format!(
                "operands with side effects are evaluated from left to right (first at {name}:{line}:{column})"
            ));
        }
        assumptions.extend(self.undefined.iter().map(|name| {
            format!("'{name}', which has no body, returns any value, changes nothing of the program, and calls nothing of it")
        }));
        let finished = graph.finish(start, &mut funcs);
        let map = |node: NodeId| finished.map[node.index()];
        let calls = calls.into_iter().filter_map(|(name, node, span)| Some((name, map(node)?, span))).collect();
        let labels = labels.into_iter().filter_map(|(name, node)| Some((name, map(node)?))).collect();
        let mut program = Program {
            machine,
            sources: sources.to_vec(),
            lines,
            vars,
            objects: Vec::new(),
            regions: Vec::new(),
            exprs,
            funcs,
            entry: map(start).expect("the entry is reachable"),
            main,
            nodes: finished.nodes,
            edges: finished.edges,
            loops: Loops::default(),
            calls,
            labels,
            assumptions,
        };
        program.loops = Loops::find(&program);
        program
    }

    fn ast(&self) -> &'a Ast<'a> {
        &self.asts[self.file]
    }

    fn span(&self, range: Range) -> Span {
        let file = u32::try_from(self.file).expect("few files");
        Span { file, start: range.0, end: range.1 }
    }

    /// All declarations of the current file; returns its function bodies.
    fn collect(&mut self) -> Result<Vec<Pending<'a>>, Refusal> {
        let mut pending = Vec::new();
        for item in &self.ast().items {
            match item {
                Item::Decl(decl) => self.file_declaration(decl),
                Item::Function { storage, spec, declarator, body, range } => {
                    let base = self.spec_type(spec);
                    let Some((name, name_range)) = declarator.name() else {
                        return Err((range.0, "a function without a name".into(), "name it".into()));
                    };
                    let ty = self.declarator_type(base, declarator);
                    let (Type::Function(ty), Some(params)) = (ty, params_of(declarator)) else {
                        return Err((range.0, format!("'{name}' is not a function"), "add its parameters".into()));
                    };
                    if self.file >= self.library && !self.can_define(name, &ty) {
                        continue;
                    }
                    let func = self.declare_function(name, &ty, *storage, name_range);
                    if self.funcs[func.index()].body.is_some() {
                        let advice = "remove one definition".into();
                        return Err((name_range.0, format!("a second definition of '{name}'"), advice));
                    }
                    self.define_function(func, &ty, params, (range.0, range.1));
                    pending.push(Pending {
                        func,
                        file: self.file,
                        params: params.to_vec(),
                        body: *body,
                        range: *range,
                    });
                }
            }
        }
        Ok(pending)
    }

    /// Whether the library's function of this name can be the one that the program declares: the types are alike.
    fn can_define(&self, name: &str, ty: &FunctionType) -> bool {
        let Some(Binding::Func(func)) = self.externals.get(name) else {
            return !self.externals.contains_key(name);
        };
        let declared = &self.signatures[func.index()];
        let alike = |(a, b): (&Type, &Type)| match (a.decayed(), b.decayed()) {
            (Type::Pointer(_), Type::Pointer(_)) | (Type::Int(_) | Type::Bool, Type::Int(_) | Type::Bool) => true,
            (a, b) => a == b,
        };
        let params = declared.unspecified
            || (declared.params.len() == ty.params.len() && declared.params.iter().zip(&ty.params).all(alike));
        params && (declared.ret == Type::Void || alike((&declared.ret, &ty.ret)))
    }

    /// Gives a function with a body its variables and the ends of its graph.
    fn define_function(&mut self, func: FuncId, ty: &FunctionType, params: &[Param<'a>], range: Range) {
        let entry = self.graph.node(func, true);
        let exit = self.graph.node(func, true);
        let name = self.funcs[func.index()].name.clone();
        let mut vars = Vec::new();
        for (at, ty) in ty.params.iter().enumerate() {
            let param = params.get(at).and_then(|p| p.declarator.name()).map_or("__param", |(name, _)| name);
            let var = self.typed_var(&format!("{name}::{param}"), ty, VarScope::Local(func), false);
            vars.push(var);
        }
        let ret = self.typed_var(&format!("{name}::__ret"), &ty.ret, VarScope::Local(func), true);
        let function = &mut self.funcs[func.index()];
        function.params = vars.iter().flatten().copied().collect();
        function.ret = ret;
        function.body = Some(Body { entry, exit });
        function.span = Span { file: u32::try_from(self.file).expect("few files"), start: range.0, end: range.1 };
        let signature = &mut self.signatures[func.index()];
        signature.ret = ty.ret.clone();
        signature.params = ty.params.clone();
        signature.unspecified = false;
        signature.vars = vars;
    }

    fn function(&mut self, pending: &Pending<'a>, is_main: bool) -> Result<(), Refusal> {
        let func = pending.func;
        let body = self.funcs[func.index()].body.expect("only functions with a body are pending");
        let signature = self.signatures[func.index()].clone();
        let function = &self.funcs[func.index()];
        self.cx = Cx::new(func, function.name.clone(), signature.ret.clone(), function.ret, body.exit);
        self.cur = body.entry;
        self.scopes.push(Scope::default());
        for ((param, ty), var) in pending.params.iter().zip(&signature.params).zip(&signature.vars) {
            if let Some((name, _)) = param.declarator.name() {
                let binding = match var {
                    Some(var) => Binding::Var(*var, ty.clone()),
                    None => Binding::Opaque(ty.clone()),
                };
                self.bind(name, binding);
            }
        }
        self.stmt(pending.body)?;
        self.scopes.pop();
        let end = (pending.range.1.saturating_sub(1), pending.range.1);
        let op = match self.cx.ret_var {
            // C11 5.1.2.2.3: reaching the end of main returns 0.
            Some(var) if is_main => {
                let zero = self.exprs.constant(self.vars[var.index()].ty, 0);
                Op::Assign { var, value: zero }
            }
            Some(var) => Op::Havoc { var, origin: HavocOrigin::Uninitialised },
            None => Op::Skip,
        };
        self.edge(self.cur, body.exit, op, end);
        for (from, name, alive, range) in std::mem::take(&mut self.cx.gotos) {
            match self.cx.labels.get(name) {
                Some(Label { node, defined: Some(at_label) }) => self.jump_into(from, *node, alive, *at_label, range),
                _ => {
                    let construct = format!("goto to the undefined label '{name}'").into();
                    self.edge(from, body.exit, Op::Unsupported { construct }, range);
                }
            }
        }
        Ok(())
    }

    /// A jump; variables whose declarations it passes over have arbitrary values.
    fn jump_into(&mut self, from: NodeId, to: NodeId, alive: Alive, alive_there: Alive, range: Range) {
        let mut at = from;
        for var in self.cx.bypassed(alive, alive_there) {
            let next = self.fresh();
            self.edge(at, next, Op::Havoc { var, origin: HavocOrigin::Uninitialised }, range);
            at = next;
        }
        self.edge(at, to, Op::Skip, range);
    }

    /// The edges that run before the entry function: all initialisers of objects with static storage in source order,
    /// then arbitrary values for the parameters. Pointers that are not `needed` are left out.
    fn initialisation(&mut self, main: FuncId, needed: &[bool]) -> NodeId {
        let entry = self.funcs[main.index()].body.expect("the entry function has a body").entry;
        let mut ops: Vec<(Op, Span)> = Vec::new();
        let mut inits = std::mem::take(&mut self.inits);
        inits.retain(|init| needed[init.var.index()]);
        inits.sort_by_key(|init| (init.span.file, init.span.start));
        ops.extend(inits.into_iter().map(|init| (init.op, init.span)));
        let function = &self.funcs[main.index()];
        for var in &function.params {
            let op = if self.pointers[var.index()] {
                // Whoever starts the program passes certain pointers, not any.
                Op::Unsupported { construct: self.pointer_name(*var).into() }
            } else {
                Op::Havoc { var: *var, origin: HavocOrigin::Uninitialised }
            };
            ops.push((op, function.span));
        }
        if ops.is_empty() {
            return entry;
        }
        let start = self.graph.node(main, true);
        let mut at = start;
        let last = ops.len() - 1;
        for (position, (op, span)) in ops.into_iter().enumerate() {
            let to = if position == last { entry } else { self.graph.node(main, false) };
            self.graph.edge(at, to, op, span);
            at = to;
        }
        start
    }

    fn new_var(&mut self, name: &str, ty: IntTy, scope: VarScope, temporary: bool) -> VarId {
        let count = self.var_names.entry(name.to_owned()).or_insert(0);
        *count += 1;
        let name: Arc<str> = if *count == 1 { name.into() } else { format!("{name}#{count}").into() };
        self.vars.push(Var { name, ty, float: None, scope, temporary });
        self.pointers.push(false);
        VarId::new(self.vars.len() - 1)
    }

    /// A variable for values of a type, if they have a representation.
    fn typed_var(&mut self, name: &str, ty: &Type, scope: VarScope, temporary: bool) -> Option<VarId> {
        let storage = ty.storage(self.machine)?;
        let var = self.new_var(name, storage, scope, temporary);
        self.describe(var, ty);
        Some(var)
    }

    /// Records what a variable holds beside its storage.
    fn describe(&mut self, var: VarId, ty: &Type) {
        self.pointers[var.index()] = matches!(ty, Type::Pointer(_));
        self.vars[var.index()].float = ty.format();
    }

    /// A temporary for values of a type that has a representation.
    fn typed_temporary(&mut self, ty: &Type) -> VarId {
        let var = self.temporary(ty.storage(self.machine).expect("a type with a representation"));
        self.describe(var, ty);
        var
    }

    fn temporary(&mut self, ty: IntTy) -> VarId {
        self.cx.temporaries += 1;
        let name = format!("{}::__tmp{}", self.cx.name, self.cx.temporaries);
        self.new_var(&name, ty, VarScope::Local(self.cx.func), true)
    }

    fn bind(&mut self, name: &'a str, binding: Binding) {
        self.scopes.last_mut().expect("there is a scope").names.insert(name, binding);
    }

    fn lookup(&self, name: &str) -> Option<&Binding> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(name))
    }

    /// Declares a function of the current file; later declarations complete earlier ones.
    fn declare_function(&mut self, name: &'a str, ty: &FunctionType, storage: Storage, range: Range) -> FuncId {
        let known = match self.scopes[0].names.get(name) {
            Some(Binding::Func(func)) => Some(*func),
            _ if storage == Storage::Static => None,
            _ => match self.externals.get(name) {
                Some(Binding::Func(func)) => Some(*func),
                _ => None,
            },
        };
        let func = known.unwrap_or_else(|| {
            let span = self.span(range);
            self.funcs.push(Function { name: name.into(), params: Vec::new(), ret: None, body: None, span });
            self.signatures.push(Signature {
                ret: ty.ret.clone(),
                params: ty.params.clone(),
                vars: Vec::new(),
                unspecified: ty.unspecified,
                declared: true,
            });
            FuncId::new(self.funcs.len() - 1)
        });
        let signature = &mut self.signatures[func.index()];
        if self.funcs[func.index()].body.is_none() && (signature.unspecified || !signature.declared) {
            signature.ret = ty.ret.clone();
            signature.params = ty.params.clone();
            signature.unspecified = ty.unspecified;
            signature.declared = true;
        }
        self.scopes[0].names.insert(name, Binding::Func(func));
        if storage != Storage::Static && known.is_none() {
            self.externals.insert(name, Binding::Func(func));
        }
        func
    }

    fn edge(&mut self, src: NodeId, dst: NodeId, op: Op, range: Range) {
        let span = self.span(range);
        self.graph.edge(src, dst, op, span);
    }

    fn fresh(&mut self) -> NodeId {
        self.graph.node(self.cx.func, false)
    }

    /// An operation at the current place.
    fn emit(&mut self, op: Op, range: Range) {
        let next = self.fresh();
        self.edge(self.cur, next, op, range);
        self.cur = next;
    }

    /// Continues at `node`.
    fn flow_to(&mut self, node: NodeId, range: Range) {
        self.edge(self.cur, node, Op::Skip, range);
        self.cur = node;
    }

    /// Leaves for `node`; what follows in the text is not reached from here.
    fn jump(&mut self, node: NodeId, range: Range) {
        self.edge(self.cur, node, Op::Skip, range);
        self.cur = self.fresh();
    }

    fn unsupported(&mut self, construct: impl Into<Arc<str>>, range: Range) {
        self.emit(Op::Unsupported { construct: construct.into() }, range);
    }

    fn expr_range(&self, at: ExprRef) -> Range {
        self.ast().expr_range(at)
    }
}

/// The parameters of a function declarator, looking through the return type's declarators.
fn params_of<'d, 'a>(declarator: &'d Declarator<'a>) -> Option<&'d [Param<'a>]> {
    match declarator {
        Declarator::Function(inner, params, _) => match inner.as_ref() {
            Declarator::Name(..) => Some(params),
            inner => params_of(inner),
        },
        Declarator::Pointer(inner) | Declarator::Array(inner, _) => params_of(inner),
        Declarator::Name(..) | Declarator::Abstract => None,
    }
}

pub(crate) fn syntax_error(source: &Source, at: u32, construct: String, advice: String) -> LoadError {
    let (line, column) = LineTable::new(&source.text).line_column(at);
    let at = crate::location::Location { file: source.name.clone(), line, column };
    LoadError::Syntax { at, construct, advice }
}
