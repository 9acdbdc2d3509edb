// SPDX-License-Identifier: Apache-2.0
//! Declarations, types, declarators and initialisers.

use crate::ast::{Decl, Declarator, Designator, Expr, ExprRef, Field, InitItem, Param, Storage, TypeName, TypeSpec};
use crate::attributes::LayoutAttribute;
use crate::prepass::Refusal;
use crate::tree::Node;

use super::{Builder, children};

impl<'a> Builder<'a, '_> {
    /// Storage class and type of a declaration-like node.
    pub(super) fn specifiers(&mut self, node: Node<'_>) -> Result<(Storage, TypeSpec<'a>), Refusal> {
        let mut storage = Storage::None;
        let mut auto = false;
        for child in children(node) {
            match child.kind() {
                "storage_class_specifier" => match self.name(child) {
                    "static" => storage = Storage::Static,
                    "extern" => storage = Storage::Extern,
                    "auto" => auto = true,
                    _ => {}
                },
                "attribute_declaration" => return self.refuse(child, "an attribute"),
                "type_qualifier" if child.first_named_child().is_some() => {
                    return self.refuse(child, "an alignment that is no number");
                }
                _ => {}
            }
        }
        let ty = self.required(node, "type")?;
        let mut spec = self.type_spec(ty)?;
        if auto && self.range(ty).0 == self.range(ty).1 {
            // `auto x = 1;` has the type of the value since C23.
            spec = TypeSpec::Name("auto");
        }
        if node.kind() == "field_declaration" {
            return Ok((storage, spec));
        }
        let all = self.own_attributes(node).into_iter().fold(LayoutAttribute::default(), |all, (_, one)| all.and(one));
        // The alignment of an object is not that of its type, and `packed` belongs to structures and members.
        let aligned = all.aligned.filter(|_| node.kind() == "type_definition");
        let all = LayoutAttribute { packed: false, aligned, ..all };
        let spec = attributed(spec, all, node.kind() != "function_definition" && has_plain_declarator(node));
        Ok((storage, spec))
    }

    /// The attributes about layout in a declaration: not those of structures that it defines, of its parameters, and within
    /// values.
    fn own_attributes(&self, node: Node<'_>) -> Vec<(u32, LayoutAttribute)> {
        // Attributes are blanks in the text that is parsed.
        let is_blank = |byte: &&u8| byte.is_ascii_whitespace();
        let before = self.text.bytes[..node.start_byte()].iter().rev().take_while(is_blank).count();
        let start = self.text.original(node.start_byte() - before);
        // What is behind a semicolon or a body belongs to the next declaration.
        let open = matches!(node.kind(), "parameter_declaration" | "type_descriptor");
        let end = if open { self.behind(node) } else { self.range(node).1 };
        let first = self.layout.partition_point(|(at, _)| *at < start);
        let inside: Vec<_> = self.layout[first..].iter().take_while(|(at, _)| *at < end).copied().collect();
        if inside.is_empty() {
            return inside;
        }
        let mut others = Vec::new();
        let mut todo = children(node);
        while let Some(child) = todo.pop() {
            match child.kind() {
                "struct_specifier" | "union_specifier" | "enum_specifier" => {
                    if child.child_by_field("body").is_some() {
                        others.push((self.range(child).0, self.behind(child)));
                    }
                }
                "parameter_list" | "compound_statement" | "type_descriptor" => others.push(self.range(child)),
                "init_declarator" => {
                    todo.extend(child.child_by_field("declarator"));
                    others.extend(child.child_by_field("value").map(|value| self.range(value)));
                }
                _ => todo.extend(children(child)),
            }
        }
        inside.into_iter().filter(|(at, _)| others.iter().all(|(start, end)| at < start || end <= at)).collect()
    }

    /// The offset of what follows a node.
    fn behind(&self, node: Node<'_>) -> u32 {
        let blanks = self.text.bytes[node.end_byte()..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.text.original(node.end_byte() + blanks)
    }

    /// The attributes of a record or enumeration: between its keyword and its members, or right behind them.
    fn record_attributes(&self, node: Node<'_>, body: Node<'_>) -> Option<LayoutAttribute> {
        let (start, end) = self.range(node);
        let (open, next) = (self.range(body).0, self.behind(node));
        let first = self.layout.partition_point(|(at, _)| *at < start);
        let near = self.layout[first..].iter().take_while(|(at, _)| *at < next);
        near.filter(|(at, _)| *at < open || *at >= end).map(|(_, one)| *one).reduce(LayoutAttribute::and)
    }

    pub(super) fn declaration(&mut self, node: Node<'_>) -> Result<Decl<'a>, Refusal> {
        let (storage, spec) = self.specifiers(node)?;
        let mut items = Vec::new();
        for declarator in node.children_by_field("declarator") {
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

    /// The declarations between the declarator and the body of a definition in the style of Kernighan and Ritchie.
    pub(super) fn old_style_params(&mut self, node: Node<'_>) -> Result<(), Refusal> {
        self.old_style.clear();
        for child in children(node) {
            if child.kind() == "declaration" {
                let Decl { spec, items, .. } = self.declaration(child)?;
                let params = items.into_iter().map(|(declarator, ..)| Param { spec: spec.clone(), declarator });
                self.old_style.extend(params);
            }
        }
        Ok(())
    }

    /// A parameter that is only named in the parentheses. Arguments are promoted before they are converted to its type,
    /// which gives the same value.
    fn old_style_param(&mut self, node: Node<'_>) -> Result<Param<'a>, Refusal> {
        let name = self.name(node);
        let declared = self.old_style.iter().find(|param| param.declarator.name().is_some_and(|(n, _)| n == name));
        match declared {
            Some(param) => Ok(param.clone()),
            None if self.old_style.is_empty() => self.refuse(node, "a parameter without a type"),
            None => {
                Ok(Param { spec: TypeSpec::Words(vec!["int"]), declarator: Declarator::Name(name, self.range(node)) })
            }
        }
    }

    /// What `typeof` means, whose parentheses arrive as the operand of a `sizeof`.
    pub(super) fn typeof_spec(&mut self, operand: Node<'_>) -> Result<TypeSpec<'a>, Refusal> {
        match operand.child_by_field("type") {
            Some(ty) => Ok(TypeSpec::TypeofType(self.type_name(ty)?.into())),
            None => Ok(TypeSpec::TypeofValue(self.expr(self.required(operand, "value")?)?)),
        }
    }

    pub(super) fn typedef(&mut self, node: Node<'_>) -> Result<Decl<'a>, Refusal> {
        let (_, spec) = self.specifiers(node)?;
        let mut items = Vec::new();
        for declarator in node.children_by_field("declarator") {
            items.push((self.declarator(declarator)?, None, self.range(declarator)));
        }
        Ok(Decl { storage: Storage::Typedef, spec, items })
    }

    pub(super) fn type_spec(&mut self, node: Node<'_>) -> Result<TypeSpec<'a>, Refusal> {
        Ok(match node.kind() {
            "primitive_type" | "type_identifier" => {
                let range = self.range(node);
                let name = self.name(node);
                if range.0 == range.1 {
                    // The `int` that somebody left out.
                    return Ok(TypeSpec::Words(vec!["int"]));
                }
                if matches!(name, "typeof" | "__typeof" | "__typeof__") {
                    let known = self.typeofs.get(&range.0).cloned();
                    return Ok(known.unwrap_or(TypeSpec::Unknown("value of a typeof type")));
                }
                let is_keyword = matches!(name, "char" | "int" | "float" | "double" | "void" | "_Bool");
                if is_keyword { TypeSpec::Words(vec![name]) } else { TypeSpec::Name(name) }
            }
            "sized_type_specifier" => {
                let mut words = Vec::new();
                for child in node.children() {
                    match child.kind() {
                        "type_qualifier" => {}
                        "primitive_type" if self.range(child).0 == self.range(child).1 => words.push("int"),
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
                let tag = node.child_by_field("name").map(|name| self.name(name));
                let union = node.kind() == "union_specifier";
                let Some(body) = node.child_by_field("body") else {
                    return Ok(TypeSpec::Record { union, tag, fields: None, pack: None, align: None });
                };
                let fields = self.fields(body)?;
                let position = self.packs.partition_point(|(at, _)| *at < self.range(node).0);
                let limit = position.checked_sub(1).and_then(|position| self.packs[position].1);
                let own = self.record_attributes(node, body).unwrap_or_default();
                let pack = if own.packed { Some(1) } else { limit };
                let aligned = own.aligned.is_some() || fields.iter().any(Field::is_aligned);
                // What compilers make of both is not clear.
                let unclear = limit == Some(0) || (limit.is_some() && aligned);
                let spec = TypeSpec::Record { union, tag, fields: Some(fields), pack, align: own.aligned };
                if unclear || own.other || own.mode.is_some() { layout_changed(spec) } else { spec }
            }
            "enum_specifier" => {
                let tag = node.child_by_field("name").map(|name| self.name(name));
                if node.child_by_field("underlying_type").is_some() {
                    return self.refuse(node, "an enumeration with an underlying type");
                }
                let mut items = None;
                let mut plain = true;
                if let Some(body) = node.child_by_field("body") {
                    plain = self.record_attributes(node, body).is_none();
                    let mut found = Vec::new();
                    for item in children(body) {
                        let name = self.name(self.required(item, "name")?);
                        let value = item.child_by_field("value").map(|value| self.expr(value)).transpose()?;
                        found.push((name, value));
                    }
                    items = Some(found);
                }
                TypeSpec::Enum { tag, items, plain }
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
            let declared: Vec<Node<'_>> = node.children_by_field("declarator").collect();
            let mut starts = Vec::new();
            for child in children(node) {
                if declared.contains(&child) {
                    starts.push(self.range(child));
                    declarators.push((self.declarator(child)?, None));
                } else if child.kind() == "bitfield_clause" {
                    let width = match child.first_named_child() {
                        Some(width) => self.expr(width)?,
                        None => return self.refuse(child, "a bit-field without a width"),
                    };
                    match declarators.last_mut() {
                        Some((_, bits @ None)) => *bits = Some(width),
                        _ => {
                            starts.push(self.range(child));
                            declarators.push((Declarator::Abstract, Some(width)));
                        }
                    }
                }
            }
            let mut attributes = vec![LayoutAttribute::default(); declarators.len().max(1)];
            for (at, found) in self.own_attributes(node) {
                // In front of the first declarator it is about all of them.
                match starts.iter().rposition(|(start, _)| *start <= at) {
                    Some(last) => {
                        // Among the parts of a declarator it is about some part of the type.
                        let within = at < starts[last].1;
                        attributes[last] =
                            attributes[last].and(LayoutAttribute { other: found.other || within, ..found });
                    }
                    None => attributes.iter_mut().for_each(|one| *one = one.and(found)),
                }
            }
            let mode = attributes.iter().any(|one| one.mode.is_some());
            let plain = !attributes.iter().any(|one| one.other);
            let spec = match attributes.as_slice() {
                [one] if mode => attributed(
                    spec,
                    LayoutAttribute { mode: one.mode, ..Default::default() },
                    has_plain_declarator(node),
                ),
                _ if mode => TypeSpec::Unknown(CHANGED),
                _ => spec,
            };
            fields.push(Field { spec, declarators, attributes, plain });
        }
        Ok(fields)
    }

    pub(super) fn declarator(&mut self, node: Node<'_>) -> Result<Declarator<'a>, Refusal> {
        let inner = |builder: &mut Self| match node.child_by_field("declarator") {
            Some(inner) => builder.declarator(inner).map(Box::new),
            None => Ok(Box::new(Declarator::Abstract)),
        };
        Ok(match node.kind() {
            "identifier" | "type_identifier" | "field_identifier" | "primitive_type" => match self.range(node) {
                // The name of an unnamed bit-field.
                (start, end) if start == end => Declarator::Abstract,
                range => Declarator::Name(self.name(node), range),
            },
            "pointer_declarator" | "abstract_pointer_declarator" => Declarator::Pointer(inner(self)?),
            "array_declarator" | "abstract_array_declarator" => {
                let size = node.child_by_field("size").filter(|size| size.is_named());
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
                            let declarator = match param.child_by_field("declarator") {
                                Some(declarator) => self.declarator(declarator)?,
                                None => Declarator::Abstract,
                            };
                            params.push(Param { spec, declarator });
                        }
                        "identifier" => params.push(self.old_style_param(param)?),
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

    pub(super) fn type_name(&mut self, node: Node<'_>) -> Result<TypeName<'a>, Refusal> {
        let spec = self.type_spec(self.required(node, "type")?)?;
        let all = self.own_attributes(node).into_iter().fold(LayoutAttribute::default(), |all, (_, one)| all.and(one));
        let spec = attributed(spec, LayoutAttribute { packed: false, ..all }, has_plain_declarator(node));
        let declarator = match node.child_by_field("declarator") {
            Some(declarator) => self.declarator(declarator)?,
            None => Declarator::Abstract,
        };
        Ok(TypeName { spec, declarator, range: self.range(node) })
    }

    pub(super) fn initializer(&mut self, node: Node<'_>) -> Result<ExprRef, Refusal> {
        if node.kind() != "initializer_list" {
            return self.expr(node);
        }
        let mut items = Vec::new();
        for child in children(node) {
            if child.kind() == "initializer_pair" {
                let mut path = Vec::new();
                let designators: Vec<Node<'_>> = child.children_by_field("designator").collect();
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
        Ok(match (node.kind(), node.first_named_child()) {
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
    pub(super) fn offset_path(&mut self, node: Node<'_>, path: &mut Vec<Designator<'a>>) -> Result<(), Refusal> {
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
}

/// What a type is whose attribute changes it in a way that is not followed.
const CHANGED: &str = "type with an attribute that changes it";

/// A type with the attributes of the declaration that it is in, which are about what is declared; `plain` says whether that
/// has this type itself.
fn attributed(spec: TypeSpec<'_>, attribute: LayoutAttribute, plain: bool) -> TypeSpec<'_> {
    if attribute == LayoutAttribute::default() {
        spec
    } else if attribute.other || !plain {
        layout_changed(spec)
    } else {
        TypeSpec::Attributed(spec.into(), attribute)
    }
}

/// Whether a declaration has one declarator at the most, which is a name.
fn has_plain_declarator(node: Node<'_>) -> bool {
    let mut declarators = node.children_by_field("declarator");
    let plain = declarators.next().is_none_or(|mut declarator| {
        if declarator.kind() == "init_declarator"
            && let Some(inner) = declarator.child_by_field("declarator")
        {
            declarator = inner;
        }
        matches!(declarator.kind(), "identifier" | "type_identifier" | "field_identifier" | "primitive_type")
    });
    plain && declarators.next().is_none()
}

/// What is left of a type when an attribute changes it: records keep their fields without a layout.
fn layout_changed(spec: TypeSpec<'_>) -> TypeSpec<'_> {
    match spec {
        TypeSpec::Record { union, tag, fields: Some(mut fields), pack, align } => {
            for field in &mut fields {
                field.plain = false;
            }
            TypeSpec::Record { union, tag, fields: Some(fields), pack, align }
        }
        _ => TypeSpec::Unknown(CHANGED),
    }
}
