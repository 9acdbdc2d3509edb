// SPDX-License-Identifier: Apache-2.0
//! From the repaired tree-sitter tree to the syntax tree: undoes what the grammar does differently from C (signs in
//! number tokens, `-x++` as `(-x)++`, keyword nodes for `true` and `NULL`) and flattens long chains.

mod expr;
mod types;

use crate::ast::{Ast, Decl, Expr, ExprRef, Item, LabelName, Param, Range, Stmt, StmtRef, Storage, TypeSpec};
use crate::attributes::LayoutAttribute;
use crate::parse::Parsed;
use crate::prepass::{LocalLabels, Refusal};
use crate::text::{Text, identifier_at};
use crate::tree::Node;
use rustc_hash::FxHashMap;

pub(crate) fn build<'a>(parsed: &Parsed<'_>, source: &'a str) -> Result<Ast<'a>, Refusal> {
    let (mut ast, mut typeofs) = (Ast::default(), FxHashMap::default());
    let mut fragments = Vec::new();
    let mut next = &parsed.typeofs;
    while let Some(found) = next {
        fragments.push(&**found);
        next = &found.typeofs;
    }
    // The innermost ones first, which the others contain.
    for fragment in fragments.into_iter().rev() {
        let mut builder = Builder::new(ast, typeofs, fragment, source);
        let mut found = Vec::new();
        let root = fragment.tree.root();
        for statement in root.named_children() {
            if let Some(operand) = statement.first_named_child() {
                let spec = builder.typeof_spec(operand).unwrap_or(TypeSpec::Unknown("value of a typeof type"));
                found.push((builder.range(statement).0, spec));
            }
        }
        (ast, typeofs) = (builder.ast, builder.typeofs);
        typeofs.extend(found);
    }
    let mut builder = Builder::new(ast, typeofs, parsed, source);
    let root = parsed.tree.root();
    for node in root.named_children() {
        builder.item(node)?;
    }
    builder.ast.links = parsed.links.clone();
    Ok(builder.ast)
}

struct Builder<'a, 'p> {
    ast: Ast<'a>,
    /// The types that `typeof` stands for, by its offset.
    typeofs: FxHashMap<u32, TypeSpec<'a>>,
    /// The declarations of the parameters of a definition in the style of Kernighan and Ritchie.
    old_style: Vec<Param<'a>>,
    text: &'p Text,
    source: &'a str,
    layout: &'p [(u32, LayoutAttribute)],
    packs: &'p [(u32, Option<u64>)],
    labels: &'p [LocalLabels],
}

fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    node.named_children().collect()
}

impl<'a, 'p> Builder<'a, 'p> {
    fn new(ast: Ast<'a>, typeofs: FxHashMap<u32, TypeSpec<'a>>, parsed: &'p Parsed<'_>, source: &'a str) -> Self {
        let (layout, packs, labels) = (&parsed.layout_attributes, &parsed.packs, &parsed.labels);
        Builder { ast, typeofs, old_style: Vec::new(), text: &parsed.text, source, layout, packs, labels }
    }

    fn range(&self, node: Node<'_>) -> Range {
        (self.text.original(node.start_byte()), self.text.original(node.end_byte()))
    }

    /// The label that a name means at its place: that of the innermost block that has one, or of the function.
    fn label(&self, node: Node<'_>) -> LabelName<'a> {
        let (name, at) = (self.name(node), self.range(node).0);
        let own = self
            .labels
            .iter()
            .filter(|labels| labels.start < at && at < labels.end && labels.names.iter().any(|other| other == name));
        (name, own.map(|labels| labels.start).max().unwrap_or(0))
    }

    fn source_of(&self, node: Node<'_>) -> &'a str {
        let (start, end) = self.range(node);
        &self.source[start as usize..end as usize]
    }

    fn name(&self, node: Node<'_>) -> &'a str {
        identifier_at(self.source, self.range(node).0)
    }

    fn refuse<T>(&self, node: Node<'_>, construct: &str) -> Result<T, Refusal> {
        let construct = format!("{construct} ({})", node.kind().replace('_', " "));
        Err((self.range(node).0, construct, "this front end does not read it; rewrite it".into()))
    }

    fn required<'t>(&self, node: Node<'t>, name: &str) -> Result<Node<'t>, Refusal> {
        match node.child_by_field(name) {
            Some(child) => Ok(child),
            None => self.refuse(node, &format!("a construct without its {name}")),
        }
    }

    fn push_expr(&mut self, expr: Expr<'a>, range: Range) -> ExprRef {
        self.ast.exprs.push((expr, range));
        ExprRef(u32::try_from(self.ast.exprs.len() - 1).expect("fewer expressions than bytes"))
    }

    fn push_stmt(&mut self, stmt: Stmt<'a>, range: Range) -> StmtRef {
        self.ast.stmts.push((stmt, range));
        StmtRef(u32::try_from(self.ast.stmts.len() - 1).expect("fewer statements than bytes"))
    }

    fn item(&mut self, node: Node<'_>) -> Result<(), Refusal> {
        let range = self.range(node);
        match node.kind() {
            "declaration" => {
                let decl = self.declaration(node)?;
                self.ast.items.push(Item::Decl(decl));
            }
            "type_definition" => {
                let decl = self.typedef(node)?;
                self.ast.items.push(Item::Decl(decl));
            }
            "struct_specifier" | "union_specifier" | "enum_specifier" => {
                let decl = Decl { storage: Storage::None, spec: self.type_spec(node)?, items: Vec::new() };
                self.ast.items.push(Item::Decl(decl));
            }
            "function_definition" => {
                let (storage, spec) = self.specifiers(node)?;
                self.old_style_params(node)?;
                let declarator = self.declarator(self.required(node, "declarator")?)?;
                let body = self.stmt(self.required(node, "body")?)?;
                self.ast.items.push(Item::Function { storage, spec, declarator, body, range });
            }
            // Empty declarations and `_Static_assert`; the check has refused everything else.
            "expression_statement" | "primitive_type" | "sized_type_specifier" => {}
            _ => return self.refuse(node, "an unexpected construct"),
        }
        Ok(())
    }

    fn stmts(&mut self, nodes: &[Node<'_>]) -> Result<Vec<StmtRef>, Refusal> {
        nodes.iter().map(|node| self.stmt(*node)).collect()
    }

    fn condition(&mut self, node: Node<'_>) -> Result<ExprRef, Refusal> {
        self.expr(self.required(node, "condition")?)
    }

    fn stmt(&mut self, node: Node<'_>) -> Result<StmtRef, Refusal> {
        let range = self.range(node);
        let stmt = match node.kind() {
            "compound_statement" => Stmt::Block(self.stmts(&children(node))?),
            "expression_statement" => match node.first_named_child() {
                Some(expr) => Stmt::Expr(self.expr(expr)?),
                None => Stmt::Empty,
            },
            "declaration" => Stmt::Decl(self.declaration(node)?.into()),
            "type_definition" => Stmt::Decl(self.typedef(node)?.into()),
            "struct_specifier" | "union_specifier" | "enum_specifier" => {
                Stmt::Decl(Decl { storage: Storage::None, spec: self.type_spec(node)?, items: Vec::new() }.into())
            }
            "if_statement" => self.if_chain(node)?,
            "while_statement" => {
                let cond = self.condition(node)?;
                Stmt::While(cond, self.stmt(self.required(node, "body")?)?)
            }
            "do_statement" => {
                let body = self.stmt(self.required(node, "body")?)?;
                Stmt::DoWhile(body, self.condition(node)?)
            }
            "for_statement" => self.for_statement(node)?,
            "switch_statement" => {
                let value = self.condition(node)?;
                Stmt::Switch(value, self.stmt(self.required(node, "body")?)?)
            }
            "case_statement" => {
                let value = node.child_by_field("value");
                let skip = usize::from(value.is_some());
                let label = value.map(|value| self.case_label(value)).transpose()?;
                Stmt::Case(label, self.stmts(&children(node)[skip..])?)
            }
            "labeled_statement" => {
                let label = self.label(self.required(node, "label")?);
                match children(node).last() {
                    Some(inner) => Stmt::Labeled(label, self.stmt(*inner)?),
                    None => return self.refuse(node, "a label without a statement"),
                }
            }
            "goto_statement" => Stmt::Goto(self.label(self.required(node, "label")?)),
            "break_statement" => Stmt::Break,
            "continue_statement" => Stmt::Continue,
            "return_statement" => {
                let value = node.first_named_child().map(|value| self.expr(value)).transpose()?;
                match value {
                    // `goto *p;` has been written as `return p;`.
                    Some(value) if self.source_of(node).starts_with("goto") => Stmt::GotoValue(value),
                    value => Stmt::Return(value),
                }
            }
            "attributed_statement" => match children(node).last() {
                Some(inner) => return self.stmt(*inner),
                None => Stmt::Empty,
            },
            _ => Stmt::Unsupported("statement of an unknown kind"),
        };
        Ok(self.push_stmt(stmt, range))
    }

    fn if_chain(&mut self, node: Node<'_>) -> Result<Stmt<'a>, Refusal> {
        let mut arms = Vec::new();
        let mut at = node;
        loop {
            let cond = self.condition(at)?;
            arms.push((cond, self.stmt(self.required(at, "consequence")?)?));
            let Some(otherwise) = at.child_by_field("alternative") else { return Ok(Stmt::If(arms, None)) };
            let Some(inner) = otherwise.first_named_child() else { return self.refuse(otherwise, "an empty else") };
            if inner.kind() != "if_statement" {
                return Ok(Stmt::If(arms, Some(self.stmt(inner)?)));
            }
            at = inner;
        }
    }

    fn for_statement(&mut self, node: Node<'_>) -> Result<Stmt<'a>, Refusal> {
        let init = match node.child_by_field("initializer") {
            Some(init) if init.kind() == "declaration" => Some(self.stmt(init)?),
            Some(init) => {
                let expr = self.expr(init)?;
                let range = self.range(init);
                Some(self.push_stmt(Stmt::Expr(expr), range))
            }
            None => None,
        };
        let cond = node.child_by_field("condition").map(|cond| self.expr(cond)).transpose()?;
        let step = node.child_by_field("update").map(|step| self.expr(step)).transpose()?;
        let body = self.stmt(self.required(node, "body")?)?;
        Ok(Stmt::For { init, cond, step, body })
    }
}
