// SPDX-License-Identifier: Apache-2.0
//! Lowering of C to control-flow automata: the file scopes, the program's entry, and what all parts share.
//!
//! A floating-point number is the unsigned integer of its bits (`float`), a pointer the address of what it points to. What
//! has no address is in variables, everything else in memory (`place`, `object`). A value of a type without representation,
//! such as `long double`, is *opaque*: it may be declared and copied, and the first operation that would turn it into
//! something else becomes an [`Op::Unsupported`] edge.

mod arbitrary;
mod atomic;
mod builtin;
pub(crate) mod call;
mod context;
mod control;
mod decl;
mod expr;
mod float;
mod format;
mod graph;
mod heap;
mod init;
mod labels;
mod links;
mod math;
mod nans;
mod object;
mod ops;
mod orders;
mod overflow;
mod place;
mod print;
mod regions;
mod scan;
mod scope;
mod sites;
mod sorting;
mod standard;
mod start;
mod stmt;
mod survey;
mod tail;
mod unsequenced;
mod variadic;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Ast, ExprRef, Item, Param, Range, StmtRef, Storage};
use crate::error::{LoadError, syntax_error};
use crate::exprs::Exprs;
use crate::ids::{ExprId, FuncId, NodeId, VarId};
use crate::ir::{Body, Function, HavocOrigin, IntTy, Op, Scope as VarScope, Span, Var};
use crate::layout::{Record, leaves, split};
use crate::location::LineTable;
use crate::loops::Loops;
use crate::names::{Declaration, LoopStatement};
use crate::prepass::Refusal;
use crate::program::{Options, Program, Source, UndefinedFunctions};
use crate::types::{FunctionType, MachineModel, Type};

pub(crate) use call::NO_BODY;
use context::{Alive, Cx, Label, Switch};
use decl::params_of;
use graph::RawGraph;
use links::Links;
use object::Memory;
use place::{PARTS, Place, Slot};
use scope::Scope;
use survey::Survey;
pub(crate) use unsequenced::ORDER_MATTERS;

/// Expressions deeper than this are cut by a temporary, so that everybody may traverse them recursively.
const DEPTH_LIMIT: u32 = 200;

/// What a name stands for.
#[derive(Clone, Debug)]
enum Binding {
    Typedef(Type),
    /// A variable of scalar type.
    Var(VarId, Type),
    /// An object that is in memory or in several variables.
    Place(Place, Type),
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

/// A value of the program.
#[derive(Clone, Debug)]
enum Val {
    /// A value of scalar type: an integer, `bool`, pointer or floating-point number; the expression has the type's storage.
    Int(ExprId, Type),
    /// A structure or union, which lies somewhere.
    Aggregate(Place, Type),
    /// A value without representation, and what to say when it is needed.
    Opaque(Type, Rc<str>),
    Void,
}

/// What is known about a function beside its [`Function`].
#[derive(Clone)]
struct Signature {
    ret: Type,
    params: Vec<Type>,
    /// The variables that pass the parameters of a definition: one for a scalar, one for each part of a structure, none for
    /// what has no representation.
    vars: Vec<Rc<[Slot]>>,
    /// The global variables that pass the parts of a returned structure.
    ret_parts: Option<Rc<[Slot]>>,
    variadic: bool,
    /// The hidden parameter of a definition that reads its variable arguments.
    arguments: Option<VarId>,
    unspecified: bool,
    /// Whether its definition has empty parentheses: it does not look at arguments.
    empty_list: bool,
    /// Name of the function and whether it has been declared at all.
    declared: bool,
}

impl Signature {
    fn function_type(&self) -> FunctionType {
        FunctionType {
            ret: self.ret.clone(),
            params: self.params.clone(),
            unspecified: self.unspecified,
            variadic: self.variadic,
        }
    }
}

/// A function body that is still to be lowered.
struct Pending<'a> {
    func: FuncId,
    file: usize,
    params: &'a [Param<'a>],
    body: StmtRef,
    range: Range,
}

/// How an object with static storage starts.
struct Init {
    ops: Vec<Op>,
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

struct Lower<'a> {
    machine: MachineModel,
    sources: &'a [Source],
    asts: &'a [Ast<'a>],
    file: usize,
    exprs: Exprs,
    vars: Vec<Var>,
    funcs: Vec<Function>,
    signatures: Vec<Signature>,
    records: Vec<Record>,
    /// Structures that have been completed before their definitions, by the addresses of their members in the syntax tree.
    completed: FxHashMap<usize, usize>,
    /// The scopes around the current place; the first one is that of the file.
    scopes: Vec<Scope<'a>>,
    /// Objects and functions with external linkage.
    externals: FxHashMap<&'a str, Binding>,
    graph: RawGraph,
    cur: NodeId,
    cx: Cx<'a>,
    survey: Survey<'a>,
    links: Links,
    /// Whether what is lowered runs before the entry function.
    before_start: bool,
    memory: Memory,
    inits: Vec<Init>,
    /// The initialisation of the object with static storage that begins with a variable, or lies at an address.
    init_of: FxHashMap<ExprId, usize>,
    var_names: FxHashMap<String, u32>,
    calls: Vec<(Arc<str>, NodeId, Span)>,
    labels: Vec<(Arc<str>, NodeId)>,
    assumptions: Vec<String>,
    evaluation_order: Option<Span>,
    unsequenced: Vec<unsequenced::Unsequenced>,
    /// The functions of the library that sort or search and are called.
    sorts: BTreeSet<FuncId>,
    /// How many groups of operands there were.
    groups: usize,
    /// The operands, by file and expression, whose values are read where they are evaluated, and those that should be.
    early: FxHashSet<(usize, u32)>,
    wanted_early: FxHashSet<(usize, u32)>,
    /// The functions of each file that read their variable arguments, by where their definitions start.
    variadic_readers: Vec<Vec<u32>>,
    /// The addresses of the arrays that pass variable arguments.
    argument_objects: FxHashSet<u64>,
    /// How many edges there were after each `va_arg`.
    lists_read: Vec<usize>,
    /// The same for calls that access an object atomically.
    atomic_writes: Vec<usize>,
    /// The edges of calls that read what a format says.
    scans: Vec<std::ops::Range<usize>>,
    /// The first file that defines library functions.
    library: usize,
    /// Whether objects on the heap have their sizes in front of them.
    sizes_kept: bool,
    /// Whether the program reads something from a stream behind which not every character can follow.
    characters_restricted: bool,
    undefined_functions: UndefinedFunctions,
    line_markers: bool,
    sites: sites::Sites,
    /// Functions without body whose calls have been given a meaning.
    undefined: BTreeSet<String>,
    declarations: Vec<Declaration>,
    loop_statements: Vec<LoopStatement>,
    /// Whether there is a bit-field with more than 32 bits.
    wide_fields: bool,
}

/// Lowers the syntax trees of all files of a program.
/// The files from position `library` on define library functions and yield to what the program declares.
pub(crate) fn lower<'a>(
    sources: &'a [Source],
    asts: &'a [Ast<'a>],
    library: usize,
    options: &Options,
) -> Result<Program, LoadError> {
    let (program, early) = lowered(sources, asts, library, options, FxHashSet::default())?;
    // Where the order of operands turns out to matter, their values are read at once the second time.
    if early.is_empty() { Ok(program) } else { Ok(lowered(sources, asts, library, options, early)?.0) }
}

/// The program, and the operands that should be read where they are evaluated.
fn lowered<'a>(
    sources: &'a [Source],
    asts: &'a [Ast<'a>],
    library: usize,
    options: &Options,
    early: FxHashSet<(usize, u32)>,
) -> Result<(Program, FxHashSet<(usize, u32)>), LoadError> {
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
        funcs: Vec::new(),
        signatures: Vec::new(),
        records: Vec::new(),
        completed: FxHashMap::default(),
        scopes: Vec::new(),
        externals: FxHashMap::default(),
        graph,
        cur: nowhere,
        cx,
        survey: Survey::new(asts, &options.entry),
        links: Links::new(asts, &options.entry),
        before_start: false,
        memory: Memory::default(),
        inits: Vec::new(),
        init_of: FxHashMap::default(),
        var_names: FxHashMap::default(),
        calls: Vec::new(),
        labels: Vec::new(),
        assumptions: Vec::new(),
        evaluation_order: None,
        unsequenced: Vec::new(),
        sorts: BTreeSet::new(),
        groups: 0,
        early,
        wanted_early: FxHashSet::default(),
        variadic_readers: asts.iter().map(variadic::readers).collect(),
        argument_objects: FxHashSet::default(),
        lists_read: Vec::new(),
        atomic_writes: Vec::new(),
        scans: Vec::new(),
        library,
        sizes_kept: heap::reallocates(asts),
        characters_restricted: scan::restricts_characters(asts),
        undefined_functions: options.undefined_functions,
        line_markers: options.line_markers,
        sites: sites::Sites::new(options.loop_sites),
        undefined: BTreeSet::new(),
        declarations: Vec::new(),
        loop_statements: Vec::new(),
        wide_fields: false,
    };
    lower.program(options)
}

impl<'a> Lower<'a> {
    fn program(mut self, options: &Options) -> Result<(Program, FxHashSet<(usize, u32)>), LoadError> {
        let mut pending = Vec::new();
        let mut file_scopes = Vec::new();
        for file in 0..self.asts.len() {
            self.file = file;
            self.scopes = vec![Scope::of((0, u32::MAX))];
            let found = self.collect().map_err(|refusal| self.refusal(refusal))?;
            pending.extend(found);
            self.record_file();
            file_scopes.push(std::mem::take(&mut self.scopes));
        }
        let main = self
            .funcs
            .iter()
            .position(|f| *f.name == *options.entry && f.body.is_some())
            .map(FuncId::new)
            .ok_or_else(|| LoadError::NoEntry(options.entry.clone()))?;
        for function in &pending {
            self.file = function.file;
            self.scopes = std::mem::take(&mut file_scopes[function.file]);
            self.function(function, function.func == main).map_err(|refusal| self.refusal(refusal))?;
            file_scopes[function.file] = std::mem::take(&mut self.scopes);
        }
        let start = self.initialisation(main);
        Ok(self.finish(start, main, options))
    }

    fn refusal(&self, (at, construct, advice): Refusal) -> LoadError {
        syntax_error(&self.sources[self.file], self.line_markers, at, construct, advice)
    }

    fn finish(mut self, start: NodeId, main: FuncId, options: &Options) -> (Program, FxHashSet<(usize, u32)>) {
        self.tail_calls(main);
        let regions = self.divide_memory(start, main);
        self.open_nans(&regions, start, main);
        let wanted = std::mem::take(&mut self.wanted_early);
        let Lower { machine, sources, exprs, vars, mut funcs, graph, calls, labels, mut assumptions, sites, .. } = self;
        let lines: Vec<LineTable> =
            sources.iter().map(|source| LineTable::new(&source.text, self.line_markers)).collect();
        if let Some(span) = self.evaluation_order {
            let first = lines[span.file as usize].location(&sources[span.file as usize].name, span.start);
            assumptions.push(format!("operands with side effects are evaluated from left to right (first at {first})"));
        }
        assumptions.extend(self.undefined.iter().map(|name| {
            format!("'{name}', which has no body, returns any value, changes nothing of the program, and calls nothing of it")
        }));
        let finished = graph.finish(start, &mut funcs);
        let map = |node: NodeId| finished.map[node.index()];
        let calls = calls.into_iter().filter_map(|(name, node, span)| Some((name, map(node)?, span))).collect();
        let labels = labels.into_iter().filter_map(|(name, node)| Some((name, map(node)?))).collect();
        let statement = |found: LoopStatement| Some(LoopStatement { head: map(found.head)?, ..found });
        let loop_statements = self.loop_statements.into_iter().filter_map(statement).collect();
        let mut program = Program {
            machine,
            options: options.clone(),
            sources: sources.to_vec(),
            user_sources: self.library,
            lines,
            vars,
            objects: self.memory.objects,
            regions,
            exprs,
            funcs,
            entry: map(start).expect("the entry is reachable"),
            main,
            nodes: finished.nodes,
            edges: finished.edges,
            loops: Loops::default(),
            calls,
            labels,
            loop_sites: sites.finish(&finished.map, &finished.edge_map),
            assumptions,
            undefined: self.undefined.into_iter().map(Arc::from).collect(),
            declarations: self.declarations,
            loop_statements,
        };
        program.loops = Loops::find(&program);
        (program, wanted)
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
                    pending.push(Pending { func, file: self.file, params, body: *body, range: *range });
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
        if self.funcs[func.index()].body.is_some() {
            return false;
        }
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
        let mut vars: Vec<Rc<[Slot]>> = Vec::new();
        for (at, ty) in ty.params.iter().enumerate() {
            let param = params.get(at).and_then(|p| p.declarator.name()).map_or("__param", |(name, _)| name);
            let full = format!("{name}::{param}");
            let slots = match self.typed_var(&full, ty, VarScope::Local(func), false) {
                Some(var) => [Slot { offset: 0, var }].into(),
                None => {
                    let parts = leaves(ty, &self.records, self.machine, PARTS).unwrap_or_default();
                    self.slots(&full, &parts, VarScope::Local(func))
                }
            };
            vars.push(slots);
        }
        let reads = ty.variadic && self.variadic_readers[self.file].contains(&range.0);
        let size_type = self.machine.size_type();
        let arguments =
            reads.then(|| self.new_var(&format!("{name}::(arguments)"), size_type, VarScope::Local(func), true));
        let ret_name = format!("{name}::__ret");
        let ret = self.typed_var(&ret_name, &ty.ret, VarScope::Local(func), true);
        let ret_parts = match &ty.ret {
            Type::Record(_) => leaves(&ty.ret, &self.records, self.machine, PARTS)
                .map(|parts| self.slots(&ret_name, &parts, VarScope::Global)),
            _ => None,
        };
        for slot in ret_parts.iter().flat_map(|parts| parts.iter()) {
            self.vars[slot.var.index()].temporary = true;
        }
        let function = &mut self.funcs[func.index()];
        function.params = vars.iter().flat_map(|slots| slots.iter().map(|slot| slot.var)).chain(arguments).collect();
        function.ret = ret;
        function.body = Some(Body { entry, exit });
        function.span = Span { file: u32::try_from(self.file).expect("few files"), start: range.0, end: range.1 };
        let signature = &mut self.signatures[func.index()];
        signature.ret = ty.ret.clone();
        signature.params = ty.params.clone();
        signature.unspecified = false;
        signature.empty_list = ty.unspecified;
        signature.vars = vars;
        signature.variadic = ty.variadic;
        signature.arguments = arguments;
        signature.ret_parts = ret_parts;
    }

    fn function(&mut self, pending: &Pending<'a>, is_main: bool) -> Result<(), Refusal> {
        let func = pending.func;
        let body = self.funcs[func.index()].body.expect("only functions with a body are pending");
        let signature = self.signatures[func.index()].clone();
        let function = &self.funcs[func.index()];
        self.cx = Cx::new(func, function.name.clone(), signature.ret.clone(), function.ret, body.exit);
        if is_main && self.has_exit_handlers() {
            self.cx.exit = self.graph.node(func, false);
        }
        self.cur = body.entry;
        self.scopes.push(Scope::of(pending.range));
        self.cx.start = pending.range.0;
        self.cx.arguments = signature.arguments.filter(|_| !is_main);
        for (param, (ty, slots)) in pending.params.iter().zip(signature.params.iter().zip(&signature.vars)) {
            if let Some((name, range)) = param.declarator.name() {
                self.parameter(name, param, ty, slots, range);
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
        self.edge(self.cur, self.cx.exit, op, end);
        self.finish_jumps(self.cx.exit);
        if is_main {
            self.cur = self.cx.exit;
            self.end_of_main(body.exit, end);
        }
        Ok(())
    }

    /// Binds the name of a parameter; one that must be in memory moves there.
    fn parameter(&mut self, name: &'a str, param: &'a Param<'a>, ty: &Type, slots: &Rc<[Slot]>, range: Range) {
        let mut ty = ty.clone();
        if ty.is_variably_modified() {
            // The sizes are those of this call.
            let base = self.spec_type(&param.spec);
            ty = self.declarator_type(base, &param.declarator).decayed();
        } else if param.declarator.has_length() {
            let effects = self.has_effects(|lower| {
                let base = lower.spec_type(&param.spec);
                lower.declarator_type(base, &param.declarator);
            });
            if effects {
                self.unsupported("size of an array parameter with effects", range);
            }
        }
        let taken = self.survey.is_taken(name, Some((self.file, self.cx.start)));
        let scalar = ty.storage(self.machine).is_some();
        let in_variables = !taken && (scalar || split(&ty, &self.records, self.machine).is_some());
        let binding = match slots.as_ref() {
            [] => Binding::Opaque(ty),
            [slot, ..] if in_variables && scalar => Binding::Var(slot.var, ty),
            _ if in_variables => Binding::Place(Place::Vars(slots.clone(), 0), ty),
            _ => {
                let (binding, birth) = self.local_binding(name, ty, true, true, self.cx.start);
                self.give_birth(&birth, true, range);
                if let Binding::Place(place, ty) = &binding {
                    self.copy(place, &Place::Vars(slots.clone(), 0), ty, range);
                }
                binding
            }
        };
        self.bind(name, binding, Some(range.1));
    }

    /// Whether declarations outside of functions are being lowered.
    fn at_file_scope(&self) -> bool {
        self.cx.name.is_empty()
    }

    /// A name of which there is no other one: `x`, `x#2`.
    fn unique_name(&mut self, name: &str) -> Arc<str> {
        let count = self.var_names.entry(name.to_owned()).or_insert(0);
        *count += 1;
        if *count == 1 { name.into() } else { format!("{name}#{count}").into() }
    }

    fn new_var(&mut self, name: &str, ty: IntTy, scope: VarScope, temporary: bool) -> VarId {
        let name = self.unique_name(name);
        self.vars.push(Var { name, ty, float: None, scope, temporary, truth: false });
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
        let scope = if self.before_start { VarScope::Global } else { VarScope::Local(self.cx.func) };
        self.new_var(&name, ty, scope, true)
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
                ret_parts: None,
                variadic: ty.variadic,
                arguments: None,
                unspecified: ty.unspecified,
                empty_list: false,
                declared: true,
            });
            FuncId::new(self.funcs.len() - 1)
        });
        let signature = &mut self.signatures[func.index()];
        if self.funcs[func.index()].body.is_none() && (signature.unspecified || !signature.declared) {
            signature.ret = ty.ret.clone();
            signature.params = ty.params.clone();
            signature.unspecified = ty.unspecified;
            signature.variadic = ty.variadic;
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
