// SPDX-License-Identifier: Apache-2.0
//! From the repaired tree-sitter tree to the syntax tree: undoes what the grammar does differently from C (signs in
//! number tokens, `-x++` as `(-x)++`, keyword nodes for `true` and `NULL`) and flattens long chains.

use tree_sitter::Node;

use crate::ast::{
    Ast, Binary, Decl, Declarator, Designator, Expr, ExprRef, Field, InitItem, Item, Param, Range, Stmt, StmtRef,
    Storage, TypeName, TypeSpec, Unary,
};
use crate::parse::Parsed;
use crate::prepass::Refusal;
use crate::text::{Text, identifier_at};

pub(crate) fn build<'a>(parsed: &Parsed, source: &'a str) -> Result<Ast<'a>, Refusal> {
    let mut builder = Builder {
        ast: Ast::default(),
        text: &parsed.text,
        source,
        layout: &parsed.layout_attributes,
        packs: &parsed.packs,
    };
    let root = parsed.tree.root_node();
    let mut cursor = root.walk();
    for node in root.named_children(&mut cursor) {
        builder.item(node)?;
    }
    Ok(builder.ast)
}

struct Builder<'a, 'p> {
    ast: Ast<'a>,
    text: &'p Text,
    source: &'a str,
    layout: &'p [(u32, bool)],
    packs: &'p [(u32, Option<u64>)],
}

fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

impl<'a> Builder<'a, '_> {
    fn range(&self, node: Node<'_>) -> Range {
        (self.text.original(node.start_byte()), self.text.original(node.end_byte()))
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
        match field(node, name) {
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

    /// Storage class and type of a declaration-like node.
    fn specifiers(&mut self, node: Node<'_>) -> Result<(Storage, TypeSpec<'a>), Refusal> {
        let mut storage = Storage::None;
        for child in children(node) {
            match child.kind() {
                "storage_class_specifier" => match self.name(child) {
                    "static" => storage = Storage::Static,
                    "extern" => storage = Storage::Extern,
                    _ => {}
                },
                "alignas_qualifier" | "attribute_declaration" => {
                    return self.refuse(child, "an alignment or attribute");
                }
                _ => {}
            }
        }
        let spec = self.type_spec(self.required(node, "type")?)?;
        let (start, end) = self.range(node);
        let first = self.layout.partition_point(|(at, _)| *at < start);
        let inside = self.layout[first..].iter().take_while(|(at, _)| *at < end);
        // `packed` belongs to a structure, which knows it, or to a member.
        let of_member = node.kind() == "field_declaration";
        let changed = node.kind() != "function_definition" && inside.clone().any(|(_, packed)| of_member || !packed);
        Ok((storage, if changed { layout_changed(spec) } else { spec }))
    }

    /// The attributes of a record: between its keyword and its members, or right behind them.
    fn record_attributes(&self, node: Node<'_>, body: Node<'_>) -> impl Iterator<Item = bool> {
        let (start, end) = self.range(node);
        let open = self.range(body).0;
        // Attributes are blanks in the text that is parsed.
        let blanks = self.text.bytes[node.end_byte()..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let next = self.text.original(node.end_byte() + blanks);
        let first = self.layout.partition_point(|(at, _)| *at < start);
        let near = self.layout[first..].iter().take_while(move |(at, _)| *at < next);
        near.filter(move |(at, _)| *at < open || *at >= end).map(|(_, packed)| *packed)
    }

    fn declaration(&mut self, node: Node<'_>) -> Result<Decl<'a>, Refusal> {
        let (storage, spec) = self.specifiers(node)?;
        let mut items = Vec::new();
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            let range = self.range(declarator);
            match declarator.kind() {
                "init_declarator" => {
                    let value = self.initializer(self.required(declarator, "value")?)?;
                    let inner = self.declarator(self.required(declarator, "declarator")?)?;
                    items.push((inner, Some(value), range));
                }
                "gnu_asm_expression" => {}
                _ => items.push((self.declarator(declarator)?, None, range)),
            }
        }
        Ok(Decl { storage, spec, items })
    }

    fn typedef(&mut self, node: Node<'_>) -> Result<Decl<'a>, Refusal> {
        let (_, spec) = self.specifiers(node)?;
        let mut items = Vec::new();
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            items.push((self.declarator(declarator)?, None, self.range(declarator)));
        }
        Ok(Decl { storage: Storage::Typedef, spec, items })
    }

    fn type_spec(&mut self, node: Node<'_>) -> Result<TypeSpec<'a>, Refusal> {
        Ok(match node.kind() {
            "primitive_type" | "type_identifier" => {
                let name = self.name(node);
                let is_keyword = matches!(name, "char" | "int" | "float" | "double" | "void" | "_Bool");
                if is_keyword { TypeSpec::Words(vec![name]) } else { TypeSpec::Name(name) }
            }
            "sized_type_specifier" => {
                let mut cursor = node.walk();
                let mut words = Vec::new();
                for child in node.children(&mut cursor) {
                    match child.kind() {
                        "type_qualifier" => {}
                        "primitive_type" => words.push(self.name(child)),
                        "signed" => words.push("signed"),
                        "unsigned" => words.push("unsigned"),
                        "long" => words.push("long"),
                        "short" => words.push("short"),
                        _ => return self.refuse(child, "an unexpected part of a type"),
                    }
                }
                TypeSpec::Words(words)
            }
            "struct_specifier" | "union_specifier" => {
                let tag = field(node, "name").map(|name| self.name(name));
                let union = node.kind() == "union_specifier";
                let Some(body) = field(node, "body") else {
                    return Ok(TypeSpec::Record { union, tag, fields: None, pack: None });
                };
                let fields = self.fields(body)?;
                let position = self.packs.partition_point(|(at, _)| *at < self.range(node).0);
                let mut pack = position.checked_sub(1).and_then(|position| self.packs[position].1);
                let mut known = pack != Some(0);
                for packed in self.record_attributes(node, body) {
                    pack = Some(1);
                    known &= packed;
                }
                let spec = TypeSpec::Record { union, tag, fields: Some(fields), pack };
                if known { spec } else { layout_changed(spec) }
            }
            "enum_specifier" => {
                let tag = field(node, "name").map(|name| self.name(name));
                if field(node, "underlying_type").is_some() {
                    return self.refuse(node, "an enumeration with an underlying type");
                }
                let mut items = None;
                if let Some(body) = field(node, "body") {
                    let mut found = Vec::new();
                    for item in children(body) {
                        let name = self.name(self.required(item, "name")?);
                        let value = field(item, "value").map(|value| self.expr(value)).transpose()?;
                        found.push((name, value));
                    }
                    items = Some(found);
                }
                TypeSpec::Enum { tag, items }
            }
            _ => return self.refuse(node, "an unexpected type"),
        })
    }

    fn fields(&mut self, body: Node<'_>) -> Result<Vec<Field<'a>>, Refusal> {
        let mut fields = Vec::new();
        for node in children(body) {
            if node.kind() != "field_declaration" {
                return self.refuse(node, "an unexpected member");
            }
            let (_, spec) = self.specifiers(node)?;
            let mut declarators = Vec::new();
            let mut cursor = node.walk();
            let declared: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut cursor).collect();
            for child in children(node) {
                if declared.contains(&child) {
                    declarators.push((self.declarator(child)?, None));
                } else if child.kind() == "bitfield_clause" {
                    let width = match child.named_child(0) {
                        Some(width) => self.expr(width)?,
                        None => return self.refuse(child, "a bit-field without a width"),
                    };
                    match declarators.last_mut() {
                        Some((_, bits @ None)) => *bits = Some(width),
                        _ => declarators.push((Declarator::Abstract, Some(width))),
                    }
                }
            }
            fields.push(Field { spec, declarators, plain: true });
        }
        Ok(fields)
    }

    fn declarator(&mut self, node: Node<'_>) -> Result<Declarator<'a>, Refusal> {
        let inner = |builder: &mut Self| match field(node, "declarator") {
            Some(inner) => builder.declarator(inner).map(Box::new),
            None => Ok(Box::new(Declarator::Abstract)),
        };
        Ok(match node.kind() {
            "identifier" | "type_identifier" | "field_identifier" | "primitive_type" => {
                Declarator::Name(self.name(node), self.range(node))
            }
            "pointer_declarator" | "abstract_pointer_declarator" => Declarator::Pointer(inner(self)?),
            "array_declarator" | "abstract_array_declarator" => {
                let size = field(node, "size").filter(|size| size.is_named());
                let size = size.map(|size| self.expr(size)).transpose()?;
                Declarator::Array(inner(self)?, size)
            }
            "function_declarator" | "abstract_function_declarator" => {
                let mut params = Vec::new();
                let mut variadic = false;
                for param in children(self.required(node, "parameters")?) {
                    match param.kind() {
                        "variadic_parameter" => variadic = true,
                        "parameter_declaration" => {
                            let (_, spec) = self.specifiers(param)?;
                            let declarator = match field(param, "declarator") {
                                Some(declarator) => self.declarator(declarator)?,
                                None => Declarator::Abstract,
                            };
                            params.push(Param { spec, declarator });
                        }
                        _ => return self.refuse(param, "a parameter without a type"),
                    }
                }
                Declarator::Function(inner(self)?, params, variadic)
            }
            "parenthesized_declarator" | "abstract_parenthesized_declarator" => match children(node).last() {
                Some(inner) => self.declarator(*inner)?,
                None => return self.refuse(node, "empty parentheses"),
            },
            _ => return self.refuse(node, "an unexpected declarator"),
        })
    }

    fn type_name(&mut self, node: Node<'_>) -> Result<TypeName<'a>, Refusal> {
        let spec = self.type_spec(self.required(node, "type")?)?;
        let declarator = match field(node, "declarator") {
            Some(declarator) => self.declarator(declarator)?,
            None => Declarator::Abstract,
        };
        Ok(TypeName { spec, declarator, range: self.range(node) })
    }

    fn initializer(&mut self, node: Node<'_>) -> Result<ExprRef, Refusal> {
        if node.kind() != "initializer_list" {
            return self.expr(node);
        }
        let mut items = Vec::new();
        for child in children(node) {
            if child.kind() == "initializer_pair" {
                let mut path = Vec::new();
                let mut cursor = child.walk();
                let designators: Vec<Node<'_>> = child.children_by_field_name("designator", &mut cursor).collect();
                for designator in designators {
                    path.push(self.designator(designator)?);
                }
                let value = self.initializer(self.required(child, "value")?)?;
                items.push(InitItem { path, value });
            } else {
                items.push(InitItem { path: Vec::new(), value: self.initializer(child)? });
            }
        }
        let range = self.range(node);
        Ok(self.push_expr(Expr::Init(items), range))
    }

    fn designator(&mut self, node: Node<'_>) -> Result<Designator<'a>, Refusal> {
        Ok(match (node.kind(), node.named_child(0)) {
            ("field_designator", Some(name)) => Designator::Field(self.name(name)),
            ("subscript_designator", Some(index)) => Designator::Index(self.expr(index)?, None),
            ("subscript_range_designator", _) => {
                let start = self.expr(self.required(node, "start")?)?;
                Designator::Index(start, Some(self.expr(self.required(node, "end")?)?))
            }
            // GNU's old `field: value`.
            ("field_identifier", _) => Designator::Field(self.name(node)),
            _ => return self.refuse(node, "an unexpected designator"),
        })
    }

    /// The path of an `offsetof`, which arrives as a member, in source order.
    fn offset_path(&mut self, node: Node<'_>, path: &mut Vec<Designator<'a>>) -> Result<(), Refusal> {
        match node.kind() {
            "field_identifier" | "identifier" => path.push(Designator::Field(self.name(node))),
            "field_expression" => {
                self.offset_path(self.required(node, "argument")?, path)?;
                path.push(Designator::Field(self.name(self.required(node, "field")?)));
            }
            "subscript_expression" => {
                self.offset_path(self.required(node, "argument")?, path)?;
                let index = self.expr(self.required(node, "index")?)?;
                path.push(Designator::Index(index, None));
            }
            _ => return self.refuse(node, "an unexpected member"),
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
            "expression_statement" => match node.named_child(0) {
                Some(expr) => Stmt::Expr(self.expr(expr)?),
                None => Stmt::Empty,
            },
            "declaration" => Stmt::Decl(self.declaration(node)?),
            "type_definition" => Stmt::Decl(self.typedef(node)?),
            "struct_specifier" | "union_specifier" | "enum_specifier" => {
                Stmt::Decl(Decl { storage: Storage::None, spec: self.type_spec(node)?, items: Vec::new() })
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
                let value = field(node, "value");
                let skip = usize::from(value.is_some());
                let value = value.map(|value| self.expr(value)).transpose()?;
                Stmt::Case(value, self.stmts(&children(node)[skip..])?)
            }
            "labeled_statement" => {
                let label = self.name(self.required(node, "label")?);
                match children(node).last() {
                    Some(inner) => Stmt::Labeled(label, self.stmt(*inner)?),
                    None => return self.refuse(node, "a label without a statement"),
                }
            }
            "goto_statement" => Stmt::Goto(self.name(self.required(node, "label")?)),
            "break_statement" => Stmt::Break,
            "continue_statement" => Stmt::Continue,
            "return_statement" => {
                let value = node.named_child(0).map(|value| self.expr(value)).transpose()?;
                Stmt::Return(value)
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
            let Some(otherwise) = field(at, "alternative") else { return Ok(Stmt::If(arms, None)) };
            let Some(inner) = otherwise.named_child(0) else { return self.refuse(otherwise, "an empty else") };
            if inner.kind() != "if_statement" {
                return Ok(Stmt::If(arms, Some(self.stmt(inner)?)));
            }
            at = inner;
        }
    }

    fn for_statement(&mut self, node: Node<'_>) -> Result<Stmt<'a>, Refusal> {
        let init = match field(node, "initializer") {
            Some(init) if init.kind() == "declaration" => Some(self.stmt(init)?),
            Some(init) => {
                let expr = self.expr(init)?;
                let range = self.range(init);
                Some(self.push_stmt(Stmt::Expr(expr), range))
            }
            None => None,
        };
        let cond = field(node, "condition").map(|cond| self.expr(cond)).transpose()?;
        let step = field(node, "update").map(|step| self.expr(step)).transpose()?;
        let body = self.stmt(self.required(node, "body")?)?;
        Ok(Stmt::For { init, cond, step, body })
    }

    /// Operands of a chain of left-nested binary operators are built without recursion.
    fn binary(&mut self, node: Node<'_>) -> Result<ExprRef, Refusal> {
        let mut spine = vec![node];
        let mut left = self.required(node, "left")?;
        while left.kind() == "binary_expression" {
            spine.push(left);
            left = self.required(left, "left")?;
        }
        let mut value = self.expr(left)?;
        for node in spine.into_iter().rev() {
            let right = self.expr(self.required(node, "right")?)?;
            let operator = self.required(node, "operator")?;
            let Some(op) = binary_operator(operator.kind()) else { return self.refuse(operator, "an operator") };
            let range = self.range(node);
            value = self.push_expr(Expr::Binary(op, value, right), range);
        }
        Ok(value)
    }

    fn comma(&mut self, node: Node<'_>) -> Result<ExprRef, Refusal> {
        let mut parts = Vec::new();
        let mut at = node;
        while at.kind() == "comma_expression" {
            parts.push(self.expr(self.required(at, "left")?)?);
            at = self.required(at, "right")?;
        }
        parts.push(self.expr(at)?);
        let range = self.range(node);
        Ok(self.push_expr(Expr::Comma(parts), range))
    }

    fn expr(&mut self, node: Node<'_>) -> Result<ExprRef, Refusal> {
        let mut node = node;
        while matches!(node.kind(), "parenthesized_expression" | "extension_expression") {
            match node.named_child(0) {
                Some(inner) => node = inner,
                None => return self.refuse(node, "empty parentheses"),
            }
        }
        let range = self.range(node);
        let expr = match node.kind() {
            "binary_expression" => return self.binary(node),
            "comma_expression" => return self.comma(node),
            "update_expression" => return self.update(node),
            "number_literal" => return Ok(self.number(node)),
            "char_literal" => Expr::Char(self.source_of(node)),
            "string_literal" => Expr::Str(self.source_of(node)),
            "concatenated_string" => {
                if children(node).iter().any(|part| part.kind() == "identifier") {
                    return self.refuse(node, "a macro in a string");
                }
                Expr::Str(self.source_of(node))
            }
            "identifier" | "true" | "false" | "null" => Expr::Ident(self.name(node)),
            "unary_expression" | "pointer_expression" => {
                let arg = self.expr(self.required(node, "argument")?)?;
                let operator = self.required(node, "operator")?;
                match unary_operator(operator.kind()) {
                    Some(op) => Expr::Unary(op, arg),
                    None => return self.refuse(operator, "an operator"),
                }
            }
            "assignment_expression" => {
                let left = self.expr(self.required(node, "left")?)?;
                let right = self.expr(self.required(node, "right")?)?;
                let operator = self.required(node, "operator")?;
                let text = operator.kind();
                let op = match text.strip_suffix('=') {
                    Some("") => None,
                    Some(op) => match binary_operator(op) {
                        Some(op) => Some(op),
                        None => return self.refuse(operator, "an operator"),
                    },
                    None => return self.refuse(operator, "an operator"),
                };
                Expr::Assign(op, left, right)
            }
            "conditional_expression" => {
                let cond = self.condition(node)?;
                let yes = field(node, "consequence").map(|yes| self.expr(yes)).transpose()?;
                Expr::Cond(cond, yes, self.expr(self.required(node, "alternative")?)?)
            }
            "call_expression" => {
                let callee = self.expr(self.required(node, "function")?)?;
                let mut args = Vec::new();
                for arg in children(self.required(node, "arguments")?) {
                    args.push(self.expr(arg)?);
                }
                Expr::Call(callee, args)
            }
            "cast_expression" => {
                let to = self.type_name(self.required(node, "type")?)?;
                Expr::Cast(to, self.expr(self.required(node, "value")?)?)
            }
            "sizeof_expression" => match field(node, "type") {
                Some(ty) => Expr::SizeofType(self.type_name(ty)?),
                None => Expr::SizeofValue(self.expr(self.required(node, "value")?)?),
            },
            "alignof_expression" => Expr::AlignofType(self.type_name(self.required(node, "type")?)?),
            "subscript_expression" => {
                let array = self.expr(self.required(node, "argument")?)?;
                Expr::Index(array, self.expr(self.required(node, "index")?)?)
            }
            "field_expression" => {
                let object = self.expr(self.required(node, "argument")?)?;
                let field = self.name(self.required(node, "field")?);
                Expr::Member { object, field, arrow: self.required(node, "operator")?.kind() == "->" }
            }
            "compound_statement" => Expr::Block(self.stmts(&children(node))?),
            "compound_literal_expression" => {
                let ty = self.type_name(self.required(node, "type")?)?;
                Expr::Compound(ty, self.initializer(self.required(node, "value")?)?)
            }
            "gnu_asm_expression" => Expr::Other("inline assembly"),
            "offsetof_expression" => {
                let ty = self.type_name(self.required(node, "type")?)?;
                let mut path = Vec::new();
                self.offset_path(self.required(node, "member")?, &mut path)?;
                Expr::Offsetof(ty, path)
            }
            "generic_expression" => Expr::Other("_Generic"),
            _ => return self.refuse(node, "an unexpected expression"),
        };
        Ok(self.push_expr(expr, range))
    }

    /// `-x++` arrives as `(-x)++`; the postfix operator belongs to the operand below all unary ones.
    fn update(&mut self, node: Node<'_>) -> Result<ExprRef, Refusal> {
        let operator = self.required(node, "operator")?;
        let mut target = self.required(node, "argument")?;
        let prefix = operator.start_byte() < target.start_byte();
        let mut above = Vec::new();
        if !prefix {
            while matches!(
                target.kind(),
                "unary_expression" | "pointer_expression" | "sizeof_expression" | "cast_expression"
            ) {
                let below = match target.kind() {
                    "unary_expression" | "pointer_expression" => self.required(target, "argument")?,
                    _ => return self.refuse(target, "a postfix operator behind a cast or sizeof"),
                };
                above.push(target);
                target = below;
            }
            if target.kind() == "update_expression" && !above.is_empty() {
                return self.refuse(target, "a postfix operator in an unclear place");
            }
            if target.kind() == "number_literal" {
                return self.refuse(target, "an increment of a constant");
            }
        }
        let increment = operator.kind() == "++";
        let range = (self.range(target).0, self.range(node).1);
        let target = self.expr(target)?;
        let mut value = self.push_expr(Expr::Update { increment, prefix, target }, range);
        for outer in above.into_iter().rev() {
            let operator = self.required(outer, "operator")?;
            let Some(op) = unary_operator(operator.kind()) else { return self.refuse(operator, "an operator") };
            let range = (self.range(outer).0, range.1);
            value = self.push_expr(Expr::Unary(op, value), range);
        }
        if prefix {
            self.ast.exprs[value.0 as usize].1 = self.range(node);
        }
        Ok(value)
    }

    fn number(&mut self, node: Node<'_>) -> ExprRef {
        let (start, end) = self.range(node);
        let text = self.source_of(node);
        let (op, digits) = match text.as_bytes().first() {
            Some(b'-') => (Some(Unary::Neg), text[1..].trim_start()),
            Some(b'+') => (Some(Unary::Plus), text[1..].trim_start()),
            _ => (None, text),
        };
        let number = self.push_expr(Expr::Number(digits), (start + u32::from(op.is_some()), end));
        match op {
            Some(op) => self.push_expr(Expr::Unary(op, number), (start, end)),
            None => number,
        }
    }
}

/// What is left of a type when an attribute changes it: records keep their fields without a layout.
fn layout_changed(spec: TypeSpec<'_>) -> TypeSpec<'_> {
    match spec {
        TypeSpec::Record { union, tag, fields: Some(mut fields), pack } => {
            for field in &mut fields {
                field.plain = false;
            }
            TypeSpec::Record { union, tag, fields: Some(fields), pack }
        }
        _ => TypeSpec::Unknown("type with an attribute that changes it"),
    }
}

fn unary_operator(text: &str) -> Option<Unary> {
    Some(match text {
        "+" => Unary::Plus,
        "-" => Unary::Neg,
        "~" => Unary::BitNot,
        "!" => Unary::Not,
        "*" => Unary::Deref,
        "&" => Unary::AddrOf,
        _ => return None,
    })
}

fn binary_operator(text: &str) -> Option<Binary> {
    Some(match text {
        "+" => Binary::Add,
        "-" => Binary::Sub,
        "*" => Binary::Mul,
        "/" => Binary::Div,
        "%" => Binary::Rem,
        "<<" => Binary::Shl,
        ">>" => Binary::Shr,
        "&" => Binary::BitAnd,
        "|" => Binary::BitOr,
        "^" => Binary::BitXor,
        "<" => Binary::Lt,
        "<=" => Binary::Le,
        ">" => Binary::Gt,
        ">=" => Binary::Ge,
        "==" => Binary::Eq,
        "!=" => Binary::Ne,
        "&&" => Binary::And,
        "||" => Binary::Or,
        _ => return None,
    })
}
