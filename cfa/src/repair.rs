// SPDX-License-Identifier: Apache-2.0
//! The contradiction check: compares the tree with the typedef names of the text and edits the text where
//! tree-sitter-c, which does not know them, took a type for an expression or the other way round.
//!
//! Each rule either records an edit, after which the text is parsed again, or refuses the file. Names of types have
//! scopes, C11 6.2.1; only those that are types somewhere are followed.

use rustc_hash::FxHashMap;

use crate::grammar::Grammar;
use crate::parse::NESTING_LIMIT;
use crate::prepass::Refusal;
use crate::text::{Edits, Text, identifier_at};
use crate::tree::{Node, Tree, Unreadable};

/// Type names that the compiler knows without a declaration.
pub(crate) const BUILTIN_TYPES: [&str; 14] = [
    "__builtin_va_list",
    "__int128",
    "__int128_t",
    "__uint128_t",
    "__float128",
    "__float80",
    "_Float16",
    "_Float32",
    "_Float64",
    "_Float128",
    "_Float32x",
    "_Float64x",
    "__auto_type",
    "__fp16",
];

/// What has to be looked at in a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Plain,
    Typedef,
    Identifier,
    TypeName,
    Primitive,
    Sizeof,
    Macro,
    FunctionDeclarator,
    Function,
    ExpressionStatement,
    Case,
    Foreign,
    Linkage,
    Compound,
    For,
    Parameters,
    Binary,
    Comma,
    If,
    Else,
}

impl Role {
    fn of(kind: &str) -> Role {
        match kind {
            "type_definition" => Role::Typedef,
            "identifier" => Role::Identifier,
            "type_identifier" => Role::TypeName,
            "primitive_type" => Role::Primitive,
            "sizeof_expression" => Role::Sizeof,
            "macro_type_specifier" => Role::Macro,
            "function_declarator" => Role::FunctionDeclarator,
            "function_definition" => Role::Function,
            "expression_statement" => Role::ExpressionStatement,
            "case_statement" => Role::Case,
            "linkage_specification" => Role::Linkage,
            "compound_statement" => Role::Compound,
            "for_statement" => Role::For,
            "parameter_list" => Role::Parameters,
            "binary_expression" => Role::Binary,
            "comma_expression" => Role::Comma,
            "if_statement" => Role::If,
            "else_clause" => Role::Else,
            _ if kind.starts_with("preproc_") || kind.starts_with("ms_") || kind.starts_with("seh_") => Role::Foreign,
            _ => Role::Plain,
        }
    }

    /// Whether declarations within are not seen outside.
    fn is_scope(self) -> bool {
        matches!(self, Role::Compound | Role::For | Role::Function | Role::Parameters)
    }
}

/// The names that are those of types at the end of the file scope.
pub(crate) type TypeNames<'s> = Vec<&'s str>;

/// Looks for contradictions; `known` are names of types that the text does not declare.
pub(crate) fn check<'s>(
    tree: &Tree<'_>,
    text: &Text,
    source: &'s str,
    known: &[&'s str],
    grammar: &Grammar,
    edits: &mut Edits,
) -> Result<TypeNames<'s>, Refusal> {
    let mut checker = Checker {
        text,
        source,
        edits,
        typedefs: BUILTIN_TYPES.iter().chain(known).map(|name| (*name, true)).collect(),
        undo: Vec::new(),
        fragments: !known.is_empty(),
        roles: grammar.kinds().map(Role::of).collect(),
        ancestors: Vec::new(),
        refusal: None,
    };
    let before = checker.edits.changes();
    checker.run(tree)?;
    if checker.edits.changes() > before {
        // What else is wrong may be a consequence of what is repaired now.
        return Ok(Vec::new());
    }
    match checker.refusal {
        Some(refusal) => Err(refusal),
        None => {
            if let Some(unreadable) = &tree.unreadable {
                return checker.syntax_error(unreadable);
            }
            let mut names: Vec<&str> = checker.typedefs.into_keys().collect();
            names.sort_unstable();
            Ok(names)
        }
    }
}

/// A node above the current one.
struct Ancestor<'t> {
    node: Node<'t>,
    role: Role,
    /// Its depth, without what is flat.
    nesting: u32,
    /// The length of [`Checker::undo`] before it.
    mark: usize,
}

struct Checker<'c, 's, 't> {
    text: &'c Text,
    source: &'s str,
    edits: &'c mut Edits,
    /// Whether the names that are types somewhere are types here.
    typedefs: FxHashMap<&'s str, bool>,
    /// What the declarations of the scopes have changed.
    undo: Vec<(&'s str, Option<bool>)>,
    /// Whether the text is made of operands of `sizeof` in place of declarations.
    fragments: bool,
    roles: Vec<Role>,
    ancestors: Vec<Ancestor<'t>>,
    /// The first contradiction without repair.
    refusal: Option<Refusal>,
}

impl<'s, 't> Checker<'_, 's, 't> {
    fn run(&mut self, tree: &'t Tree<'t>) -> Result<(), Refusal> {
        for node in tree.all() {
            self.leave_ancestors(|above| !above.contains(node));
            let role = self.roles.get(usize::from(node.kind_id())).copied().unwrap_or(Role::Plain);
            let nesting = self.nesting(role, node);
            if nesting > NESTING_LIMIT {
                return self.refuse(
                    node,
                    format!("code nested more than {NESTING_LIMIT} levels deep"),
                    "split the expression or statement",
                );
            }
            let mark = self.undo.len();
            if (role != Role::Plain || self.ancestors.len() == 1)
                && node.is_named()
                && let Err(refusal) = self.check_node(node, role)
            {
                self.refusal.get_or_insert(refusal);
            }
            self.ancestors.push(Ancestor { node, role, nesting, mark });
        }
        self.leave_ancestors(|_| true);
        Ok(())
    }

    /// Leaves the innermost nodes that are as wanted.
    fn leave_ancestors(&mut self, wanted: impl Fn(Node<'t>) -> bool) {
        while let Some(above) = self.ancestors.pop_if(|above| wanted(above.node)) {
            if above.role.is_scope() && !(above.role == Role::Parameters && self.is_of_definition()) {
                self.leave(above.mark);
            }
        }
    }

    /// Takes back what declarations have changed.
    fn leave(&mut self, mark: usize) {
        for (name, before) in self.undo.drain(mark..).rev() {
            match before {
                Some(before) => self.typedefs.insert(name, before),
                None => self.typedefs.remove(name),
            };
        }
    }

    /// Whether the parameters that are at hand, whose ancestors are known, are those of a function with a body, and so
    /// belong to its scope.
    fn is_of_definition(&self) -> bool {
        let mut above = self.ancestors.iter().rev();
        let direct = above.next().is_some_and(|declarator| {
            declarator.role == Role::FunctionDeclarator
                && declarator.node.child_by_field("declarator").is_some_and(|d| d.kind() == "identifier")
        });
        direct
            && above.find(|above| !above.node.kind().ends_with("_declarator")).is_some_and(|a| a.role == Role::Function)
    }

    fn declare(&mut self, name: &'s str, is_type: bool) {
        let before = self.typedefs.insert(name, is_type);
        self.undo.push((name, before));
    }

    /// Depth of a node without what the lowering handles iteratively: else-if chains, left operands, comma chains.
    fn nesting(&self, role: Role, node: Node<'t>) -> u32 {
        let Some(parent) = self.ancestors.last() else { return 0 };
        let flat = match (parent.role, role) {
            (Role::If, Role::Else) | (Role::Else, Role::If) | (Role::Comma, Role::Comma) => true,
            (Role::Binary, Role::Binary) => node.is_in_field("left"),
            _ => false,
        };
        if flat { parent.nesting } else { parent.nesting + 1 }
    }

    fn parent(&self) -> Option<Node<'t>> {
        self.ancestors.last().map(|above| above.node)
    }

    fn grandparent(&self) -> Option<Node<'t>> {
        self.ancestors.len().checked_sub(2).map(|at| self.ancestors[at].node)
    }

    fn start(&self, node: Node<'_>) -> u32 {
        self.text.original(node.start_byte())
    }

    fn end(&self, node: Node<'_>) -> u32 {
        self.text.original(node.end_byte())
    }

    /// Where the parenthesis of a cast closes.
    fn closing(&self, cast: Node<'_>) -> u32 {
        let close = cast.children().find(|child| child.kind() == ")");
        self.start(close.expect("casts have a closing parenthesis"))
    }

    fn name(&self, node: Node<'_>) -> &'s str {
        identifier_at(self.source, self.start(node))
    }

    fn is_typedef(&self, node: Node<'_>) -> bool {
        self.typedefs.get(self.name(node)) == Some(&true)
    }

    fn refuse<T>(&self, node: Node<'_>, construct: String, advice: &str) -> Result<T, Refusal> {
        Err((self.start(node), construct, advice.to_owned()))
    }

    fn syntax_error<T>(&self, unreadable: &Unreadable) -> Result<T, Refusal> {
        let construct = match &unreadable.missing {
            Some(kind) => format!("syntax error, '{kind}' is missing"),
            None => {
                let text = String::from_utf8_lossy(&self.text.bytes[unreadable.start..unreadable.end]);
                let near: String = text.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
                let near: String = near.chars().take(40).collect();
                format!("syntax error near '{near}'")
            }
        };
        Err((self.text.original(unreadable.start), construct, "the text must be complete, preprocessed C".into()))
    }

    /// Replaces a range; an edit that is there already, or was taken back, did not help, so the place is refused.
    fn edit(&mut self, node: Node<'_>, start: u32, end: u32, with: &str) -> Result<(), Refusal> {
        if self.edits.replace(start, end, with) {
            return Ok(());
        }
        let name = self.name(node).to_owned();
        self.refuse(node, format!("an ambiguous use of '{name}'"), "write it with fewer or more parentheses")
    }

    fn check_node(&mut self, node: Node<'t>, role: Role) -> Result<(), Refusal> {
        match role {
            Role::Typedef => return self.collect_typedefs(node),
            Role::Identifier if self.is_typedef(node) => return self.typedef_as_identifier(node),
            Role::TypeName => return self.type_name(node),
            Role::Primitive => self.type_in_parentheses(node),
            Role::Sizeof => return self.cast_below_sizeof(node),
            Role::Macro => {
                let name = self.name(node).to_owned();
                return self.refuse(node, format!("'{name}(..)' in place of a type"), "preprocess the program first");
            }
            Role::FunctionDeclarator => {
                if let Some(extra) =
                    node.named_children().skip(2).find(|c| matches!(c.kind(), "identifier" | "call_expression"))
                {
                    let name = self.name(extra).to_owned();
                    return self.refuse(
                        extra,
                        format!("'{name}' behind the parameters of a function"),
                        "remove it or preprocess the program first",
                    );
                }
            }
            Role::Function if self.ancestors.len() > 1 => {
                return self.refuse(node, "a nested function".into(), "move it to the file scope");
            }
            Role::ExpressionStatement if self.ancestors.len() == 1 => {
                let harmless = node.first_named_child().is_none_or(|child| match child.kind() {
                    "sizeof_expression" => self.fragments,
                    "call_expression" => matches!(self.name(child), "_Static_assert" | "static_assert"),
                    _ => false,
                });
                if !harmless {
                    return self.refuse(node, "a statement outside of a function".into(), "is a macro not expanded?");
                }
            }
            Role::Case => return self.case_as_branch(node),
            Role::Foreign => {
                return self.refuse(node, format!("'{}', which is not standard C", self.name(node)), "rewrite it");
            }
            Role::Linkage => {
                return self.refuse(node, "a linkage specification".into(), "this is C++");
            }
            Role::Compound if self.parent().is_some_and(|p| p.kind() == "argument_list") => {
                return self.refuse(node, "a block as an argument".into(), "preprocess the program first");
            }
            _ if self.ancestors.len() == 1
                && !node.is_error()
                && !matches!(
                    node.kind(),
                    "declaration"
                        | "function_definition"
                        | "expression_statement"
                        | "struct_specifier"
                        | "union_specifier"
                        | "enum_specifier"
                        | "primitive_type"
                        | "sized_type_specifier"
                ) =>
            {
                let kind = node.kind().replace('_', " ");
                return self.refuse(node, format!("a {kind} outside of a function"), "is a brace missing?");
            }
            _ => {}
        }
        Ok(())
    }

    /// A definition without a name declares what its type does: `typedef enum { a, b };`.
    fn collect_typedefs(&mut self, node: Node<'t>) -> Result<(), Refusal> {
        let declarators: Vec<_> = node.children_by_field("declarator").collect();
        for mut declarator in declarators {
            while let Some(inner) = inner_declarator(declarator) {
                declarator = inner;
            }
            if declarator.start_byte() == declarator.end_byte()
                && let Some(keyword) = node.children().find(|child| child.kind() == "typedef")
            {
                return self.edit(keyword, self.start(keyword), self.end(keyword), "");
            }
            self.declare(self.name(declarator), true);
        }
        Ok(())
    }

    fn typedef_as_identifier(&mut self, node: Node<'t>) -> Result<(), Refusal> {
        let Some(parent) = self.parent() else { return Ok(()) };
        let kind = parent.kind();
        let in_declarator = kind.ends_with("_declarator") || kind.ends_with("declaration");
        if kind == "enumerator" && node.is_in_field("name")
            || in_declarator && (node.is_in_field("declarator") || kind == "parenthesized_declarator")
        {
            // `int f(int (T))` has a parameter of function type, C11 6.7.6.3.
            let is_parameter = kind == "parenthesized_declarator"
                && self.grandparent().is_some_and(|above| above.kind() == "parameter_declaration");
            if !is_parameter {
                self.declare(self.name(node), false);
                return Ok(());
            }
        }
        if in_declarator {
            let name = self.name(node).to_owned();
            return self.refuse(
                node,
                format!("'{name}' is declared here, but it is also the name of a type"),
                "rename one of them",
            );
        }
        let of_builtin = kind == "argument_list"
            && self
                .grandparent()
                .is_some_and(|call| call.kind() == "call_expression" && self.name(call).starts_with("__builtin_"));
        if of_builtin {
            return Ok(());
        }
        let (start, length) = (self.start(node), self.name(node).len());
        self.edit(node, start, start + u32::try_from(length).expect("identifiers are short"), "int")
    }

    /// `(T)` has been written as `(int)` before parsing; that was wrong if `T` is the name of something else here.
    fn type_in_parentheses(&mut self, node: Node<'t>) {
        if !self.is_typedef(node) {
            self.edits.retract(self.start(node));
        }
    }

    /// A type name that is not one: an expression was taken for a type.
    fn type_name(&mut self, node: Node<'t>) -> Result<(), Refusal> {
        let Some(parent) = self.parent() else { return Ok(()) };
        let is_tag = matches!(parent.kind(), "struct_specifier" | "union_specifier" | "enum_specifier");
        if is_tag || (self.is_typedef(node) && parent.kind() != "sized_type_specifier") {
            return Ok(());
        }
        let (start, end) = (self.start(node), self.end(node));
        let name = self.name(node).to_owned();
        if parent.kind() == "sized_type_specifier" {
            // `unsigned x;`
            return self.edit(node, start, start, "int ");
        }
        if name == "default" && self.grandparent().is_some_and(|above| above.kind() == "generic_expression") {
            return Ok(());
        }
        if parent.kind() == "parameter_declaration" && self.repairs_parameter(parent)? {
            return Ok(());
        }
        if parent.kind() == "type_descriptor"
            && let Some(above) = self.grandparent()
        {
            let is_cast = above.kind() == "cast_expression";
            let product =
                parent.child_by_field("declarator").is_some_and(|d| d.kind() == "abstract_pointer_declarator");
            if product && (is_cast || above.kind() == "sizeof_expression") {
                // `(a * (b))`: an operand of `*` is promoted anyway, so a sign changes nothing.
                return self.edit(node, start, start, "+");
            }
            if is_cast {
                // The parentheses are around a name, a subscript or a call and can go away; the operator behind them
                // becomes binary.
                let (open, close) = (self.start(above), self.closing(above));
                self.edit(node, open, open + 1, " ")?;
                return self.edit(node, close, close + 1, " ");
            }
            if above.kind() == "sizeof_expression" {
                self.edit(node, start, start, "(")?;
                return self.edit(node, end, end, ")");
            }
        }
        let is_statement = parent.kind() == "declaration"
            && parent.child_by_field("type") == Some(node)
            && parent.child_by_field("declarator").is_some_and(|d| d.kind() == "pointer_declarator")
            && self.grandparent().is_some_and(|above| above.kind() != "translation_unit");
        if is_statement && self.errors_allow_statement(parent) {
            // `a * b;` is an expression statement; a sign makes that plain.
            return self.edit(node, start, start, "+");
        }
        self.refuse(node, format!("'{name}' is not the name of a type"), "declare it, or pass the preprocessed program")
    }

    /// A name in place of a parameter, which is not that of a type: `int (x)` has been taken for a function, or the parameter
    /// of a definition has no type. Whether that is so.
    fn repairs_parameter(&mut self, parameter: Node<'t>) -> Result<bool, Refusal> {
        let [.., owner, list, _] = self.ancestors.as_slice() else { return Ok(false) };
        let (owner, list) = (owner.node, list.node);
        if parameter.named_children().count() != 1 {
            return Ok(false);
        }
        let outer = self.ancestors.iter().rev().skip(2).find(|above| !above.node.kind().ends_with("_declarator"));
        let is_typed = outer.is_some_and(|above| {
            let ty = above.node.child_by_field("type");
            above.node.kind() == "parameter_declaration"
                && ty.is_some_and(|ty| ty.kind() != "type_identifier" || self.is_typedef(ty))
        });
        if owner.kind() == "abstract_function_declarator" && is_typed && list.named_children().count() == 1 {
            let (start, end) = (self.start(list), self.end(list));
            self.edit(list, start, start + 1, " ")?;
            self.edit(list, end - 1, end, " ")?;
            return Ok(true);
        }
        let above = self.ancestors.len().checked_sub(4).map(|at| self.ancestors[at].role);
        let is_plain = owner.child_by_field("declarator").is_some_and(|d| d.kind() == "identifier");
        if owner.kind() == "function_declarator" && is_plain && above == Some(Role::Function) {
            let start = self.start(parameter);
            self.edit(parameter, start, start, "int ")?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether all declarators of a would-be declaration `a * b` are plain names, so that it reads as an expression.
    fn errors_allow_statement(&self, declaration: Node<'t>) -> bool {
        declaration.named_children().count() == 2
            && declaration
                .child_by_field("declarator")
                .and_then(|d| d.child_by_field("declarator"))
                .is_some_and(|d| d.kind() == "identifier")
    }

    /// `sizeof(int)+1` read as `sizeof((int)(+1))`: a cast is never the operand of `sizeof` without parentheses.
    fn cast_below_sizeof(&mut self, node: Node<'t>) -> Result<(), Refusal> {
        let Some(cast) = node.child_by_field("value").filter(|value| value.kind() == "cast_expression") else {
            return Ok(());
        };
        let close = self.closing(cast);
        let start = self.start(node);
        self.edit(node, start, start, "(")?;
        self.edit(node, close + 1, close + 1, ")")
    }

    /// A case label as an unbraced branch: tree-sitter puts all statements up to the next label below the branch.
    fn case_as_branch(&mut self, node: Node<'t>) -> Result<(), Refusal> {
        let Some(parent) = self.parent() else { return Ok(()) };
        let branch = matches!(
            parent.kind(),
            "if_statement" | "else_clause" | "while_statement" | "do_statement" | "for_statement"
        );
        let nested = parent.kind() == "labeled_statement";
        if nested
            && self.grandparent().is_some_and(|above| matches!(above.kind(), "compound_statement" | "case_statement"))
        {
            let start = self.start(node);
            return self.edit(node, start, start, "; ");
        }
        if branch || nested {
            return self.refuse(
                node,
                "a case label as an unbraced branch or behind a label".into(),
                "put braces around",
            );
        }
        Ok(())
    }
}

/// The declarator that is modified by this one.
fn inner_declarator(declarator: Node<'_>) -> Option<Node<'_>> {
    if declarator.kind() == "parenthesized_declarator" {
        return declarator.named_children().last();
    }
    declarator.child_by_field("declarator")
}
