// SPDX-License-Identifier: Apache-2.0
//! Records loop statements and the names that are visible there, if [`crate::Options::loop_sites`] asks for it.

use std::collections::BTreeSet;
use std::ops::Range as Span;

use rustc_hash::FxHashMap;

use crate::ast::{Declarator, ExprRef, Item, Range, Stmt, StmtRef, Storage};
use crate::ids::{EdgeId, NodeId};
use crate::layout::size_align;
use crate::sites::{
    FileFunction, FileVariable, LoopSite, LoopSites, LoopSyntax, Part, ScalarType, SiteKind, Visible, VisibleStorage,
};
use crate::types::Type;

use super::place::{Place, Slot};
use super::{Binding, Lower};

/// Objects with more scalar parts than this are not listed.
const MAX_PARTS: usize = 64;

/// The loop statements that were found so far.
pub(super) struct Sites {
    wanted: bool,
    found: Vec<RawSite>,
    open: Vec<usize>,
    variables: Vec<FileVariable>,
    functions: Vec<FileFunction>,
}

/// A loop whose nodes and edges have no final numbers yet.
pub(super) struct RawSite {
    site: LoopSite,
    head: NodeId,
    edges: Span<usize>,
    /// Edges that were made later for one of its edges.
    more: Vec<usize>,
}

/// The parts of a loop statement.
pub(super) struct Header {
    pub(super) kind: SiteKind,
    pub(super) range: Range,
    pub(super) init: Option<StmtRef>,
    pub(super) cond: Option<ExprRef>,
    pub(super) step: Option<ExprRef>,
    pub(super) body: StmtRef,
}

impl Sites {
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted, found: Vec::new(), open: Vec::new(), variables: Vec::new(), functions: Vec::new() }
    }

    /// Whether anything is recorded.
    pub(super) fn wanted(&self) -> bool {
        self.wanted
    }

    /// Edge `new` continues edge `at`.
    pub(super) fn continued(&mut self, at: usize, new: usize) {
        for raw in &mut self.found {
            if raw.edges.contains(&at) {
                raw.more.push(new);
            }
        }
    }

    /// The sites with final numbers.
    pub(super) fn finish(self, nodes: &[Option<NodeId>], edges: &FxHashMap<usize, EdgeId>) -> LoopSites {
        let finish = |raw: RawSite| {
            let mut site = raw.site;
            let all = raw.edges.chain(raw.more);
            site.edges = all.filter_map(|at| edges.get(&at).copied()).collect();
            site.edges.sort_unstable();
            site.head = nodes[raw.head.index()].filter(|_| !site.edges.is_empty());
            site
        };
        let sites = self.found.into_iter().map(finish).collect();
        LoopSites { sites, variables: self.variables, functions: self.functions }
    }
}

impl<'a> Lower<'a> {
    /// A loop begins at `head`, where the current place is.
    pub(super) fn begin_site(&mut self, header: &Header, head: NodeId) {
        if !self.sites.wanted || self.file >= self.library {
            return;
        }
        let ast = self.ast();
        let expr = |at: ExprRef| self.span(ast.expr_range(at));
        let stmt = |at: StmtRef| self.span(ast.stmt_range(at));
        let mut locals: Vec<Visible> = Vec::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut hidden = BTreeSet::new();
        for scope in self.scopes[1..].iter().rev() {
            let mut names: Vec<_> = scope.names.iter().collect();
            names.sort_unstable_by_key(|(name, _)| **name);
            for (name, binding) in names {
                if !seen.insert(name) {
                    continue;
                }
                match self.visible(name, binding) {
                    Some(visible) => locals.push(visible),
                    None => {
                        hidden.insert((*name).to_owned());
                    }
                }
            }
        }
        let start = self.graph.edges.len();
        let site = LoopSite {
            kind: header.kind,
            span: self.span(header.range),
            init: header.init.map(stmt),
            cond: header.cond.map(expr),
            step: header.step.map(expr),
            body: stmt(header.body),
            func: self.cx.func,
            parent: self.sites.open.last().copied(),
            head: None,
            edges: Vec::new(),
            syntax: self.loop_syntax(header),
            locals,
            hidden,
        };
        self.sites.open.push(self.sites.found.len());
        self.sites.found.push(RawSite { site, head, edges: start..start, more: Vec::new() });
    }

    /// The loop that began last is complete.
    pub(super) fn end_site(&mut self) {
        if let Some(at) = self.sites.open.pop() {
            self.sites.found[at].edges.end = self.graph.edges.len();
        }
    }

    fn loop_syntax(&self, header: &Header) -> LoopSyntax {
        let ast = self.ast();
        let body = ast.stmt_range(header.body);
        let inside = |outer: Range, range: Range| outer.0 <= range.0 && range.1 <= outer.1;
        let within: Vec<&(Stmt<'_>, Range)> =
            ast.stmts.iter().filter(|(_, range)| inside(header.range, *range)).collect();
        let init = header.init.map(|init| ast.stmt_range(init));
        let mut syntax = LoopSyntax::default();
        for (stmt, range) in &within {
            let caught = |switches: bool| {
                within.iter().any(|(other, around)| {
                    let catches = match other {
                        Stmt::Switch(..) => true,
                        Stmt::While(..) | Stmt::DoWhile(..) | Stmt::For { .. } => !switches,
                        _ => false,
                    };
                    catches && *around != header.range && inside(*around, *range)
                })
            };
            match stmt {
                Stmt::Labeled(..) => syntax.labels = true,
                Stmt::Case(..) => syntax.labels |= !caught(true),
                Stmt::Break => syntax.breaks |= !caught(false),
                Stmt::Return(_) | Stmt::Goto(_) | Stmt::GotoValue(_) => syntax.leaves = true,
                Stmt::Decl(decl) => syntax.statics |= decl.storage == Storage::Static,
                _ => {}
            }
            let in_header = !inside(body, *range) && *range != header.range && init != Some(*range);
            syntax.header_statements |= in_header;
        }
        syntax
    }

    /// Records the variables and functions of the current file.
    pub(super) fn record_file(&mut self) {
        if !self.sites.wanted || self.file >= self.library {
            return;
        }
        let mut declared: FxHashMap<&str, u32> = FxHashMap::default();
        for item in &self.ast().items {
            let declarators: Vec<_> = match item {
                Item::Decl(decl) => decl.items.iter().map(|(declarator, ..)| declarator).collect(),
                Item::Function { declarator, .. } => vec![declarator],
            };
            for (name, range) in declarators.into_iter().filter_map(Declarator::name) {
                declared.entry(name).or_insert(range.1);
            }
        }
        let mut names: Vec<_> = self.scopes[0].names.iter().collect();
        names.sort_unstable_by_key(|(name, _)| **name);
        let file = u32::try_from(self.file).expect("few files");
        let (mut variables, mut functions) = (Vec::new(), Vec::new());
        for (name, binding) in names {
            let Some(&declared) = declared.get(name) else { continue };
            if let Some(variable) = self.visible(name, binding) {
                variables.push(FileVariable { file, declared, variable });
            }
            if let Binding::Func(func) = binding {
                let signature = &self.signatures[func.index()];
                let returns = match &signature.ret {
                    Type::Void => Some(None),
                    ty => scalar(ty).map(Some),
                };
                functions.push(FileFunction {
                    file,
                    declared,
                    name: (*name).to_owned(),
                    returns,
                    plain: signature.unspecified || (signature.params.is_empty() && !signature.variadic),
                    defined: self.funcs[func.index()].body.is_some(),
                });
            }
        }
        self.sites.variables.extend(variables);
        self.sites.functions.extend(functions);
    }

    fn visible(&self, name: &str, binding: &Binding) -> Option<Visible> {
        let (storage, ty) = match binding {
            Binding::Var(var, ty) => (VisibleStorage::Vars(vec![*var]), ty),
            Binding::Place(Place::Vars(slots, 0), ty) => {
                (VisibleStorage::Vars(slots.iter().map(|slot: &Slot| slot.var).collect()), ty)
            }
            Binding::Place(Place::Memory(addr), ty) => {
                let addr = self.exprs.as_const(*addr).and_then(|addr| u64::try_from(addr).ok());
                (addr.map_or(VisibleStorage::Elsewhere, VisibleStorage::Object), ty)
            }
            Binding::Place(..) => (VisibleStorage::Elsewhere, &Type::Void),
            Binding::Opaque(ty) => (VisibleStorage::Elsewhere, ty),
            Binding::Typedef(_) | Binding::Func(_) | Binding::Const(..) => return None,
        };
        let mut parts = Vec::new();
        let in_memory = !matches!(storage, VisibleStorage::Vars(_));
        let complete = self.list_parts(name, ty, in_memory, &mut parts).is_some();
        Some(Visible { name: name.to_owned(), storage, parts: complete.then_some(parts) })
    }

    /// None if there are too many parts, some that cannot be assigned, or, in memory, bits that are not those of a part.
    fn list_parts(&self, text: &str, ty: &Type, in_memory: bool, parts: &mut Vec<Part>) -> Option<()> {
        match ty {
            Type::Array(element, Some(length)) => {
                if *length > MAX_PARTS as u64 {
                    return None;
                }
                for at in 0..*length {
                    self.list_parts(&format!("{text}[{at}]"), element, in_memory, parts)?;
                }
            }
            Type::Record(index) => {
                let record = &self.records[*index];
                let mut padding = record.layout?.size * 8;
                if record.union {
                    return None;
                }
                for member in record.members.as_ref()? {
                    match (&member.name, member.width) {
                        (Some(name), Some(_)) => {
                            parts.push(Part { text: format!("{text}.{name}"), ty: scalar(&member.ty)? });
                        }
                        (Some(name), None) => {
                            self.list_parts(&format!("{text}.{name}"), &member.ty, in_memory, parts)?;
                        }
                        (None, Some(_)) => continue,
                        (None, None) => self.list_parts(text, &member.ty, in_memory, parts)?,
                    }
                    padding -= match member.width {
                        Some(width) => width.into(),
                        None => size_align(&member.ty, &self.records, self.machine)?.0 * 8,
                    };
                }
                if in_memory && padding > 0 {
                    return None;
                }
            }
            // Its byte may be anything there.
            Type::Bool if in_memory => return None,
            _ => parts.push(Part { text: text.to_owned(), ty: scalar(ty)? }),
        }
        (parts.len() <= MAX_PARTS).then_some(())
    }
}

fn scalar(ty: &Type) -> Option<ScalarType> {
    Some(match ty {
        Type::Bool => ScalarType::Bool,
        Type::Int(ty) => ScalarType::Int(*ty),
        Type::Float(4, _) => ScalarType::Float,
        Type::Float(8, _) => ScalarType::Double,
        Type::Pointer(_) => ScalarType::Pointer,
        Type::Void | Type::Float(..) | Type::Array(..) | Type::Vla(..) => return None,
        Type::Record(_) | Type::Function(_) | Type::VaList | Type::Unknown(_) => return None,
    })
}
