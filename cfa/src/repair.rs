// SPDX-License-Identifier: Apache-2.0
//! The contradiction check: compares the tree with the typedef names of the text and edits the text where
//! tree-sitter-c, which does not know them, took a type for an expression or the other way round.
//!
//! Each rule either records an edit, after which the text is parsed again, or refuses the file. Typedef names are one
//! flat set; a file that declares such a name as something else too is refused where the difference matters.

use rustc_hash::FxHashSet;
use tree_sitter::Node;

use crate::parse::{NESTING_LIMIT, first_error};
use crate::prepass::Refusal;
use crate::text::{Edits, Text, identifier_at};

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

pub(crate) fn check(root: Node<'_>, text: &Text, source: &str, edits: &mut Edits) -> Result<(), Refusal> {
    let mut checker = Checker {
        text,
        source,
        edits,
        typedefs: BUILTIN_TYPES.iter().map(|name| (*name).to_owned()).collect(),
        ancestors: Vec::new(),
        refusal: None,
    };
    let before = checker.edits.len();
    checker.run(root)?;
    if checker.edits.len() > before {
        // What else is wrong may be a consequence of what is repaired now.
        return Ok(());
    }
    match checker.refusal {
        Some(refusal) => Err(refusal),
        None if root.has_error() => checker.syntax_error(first_error(root)),
        None => Ok(()),
    }
}

struct Checker<'c, 't> {
    text: &'c Text,
    source: &'c str,
    edits: &'c mut Edits,
    typedefs: FxHashSet<String>,
    /// The nodes above the current one, with their nesting.
    ancestors: Vec<(Node<'t>, u32)>,
    /// The first contradiction without repair.
    refusal: Option<Refusal>,
}

impl<'t> Checker<'_, 't> {
    fn run(&mut self, root: Node<'t>) -> Result<(), Refusal> {
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            let nesting = self.nesting(node, cursor.field_name());
            if nesting > NESTING_LIMIT {
                return self.refuse(
                    node,
                    format!("code nested more than {NESTING_LIMIT} levels deep"),
                    "split the expression or statement",
                );
            }
            if node.is_named()
                && let Err(refusal) = self.check_node(node)
            {
                self.refusal.get_or_insert(refusal);
            }
            if cursor.goto_first_child() {
                self.ancestors.push((node, nesting));
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Ok(());
                }
                self.ancestors.pop();
            }
        }
    }

    /// Depth of a node without what the lowering handles iteratively: else-if chains, left operands, comma chains.
    fn nesting(&self, node: Node<'t>, field: Option<&str>) -> u32 {
        let Some((parent, depth)) = self.ancestors.last() else { return 0 };
        let flat = match (parent.kind(), node.kind()) {
            ("if_statement", "else_clause") | ("else_clause", "if_statement") => true,
            ("binary_expression", "binary_expression") => field == Some("left"),
            ("comma_expression", "comma_expression") => true,
            _ => false,
        };
        if flat { *depth } else { depth + 1 }
    }

    fn parent(&self) -> Option<Node<'t>> {
        self.ancestors.last().map(|(node, _)| *node)
    }

    fn grandparent(&self) -> Option<Node<'t>> {
        self.ancestors.len().checked_sub(2).map(|at| self.ancestors[at].0)
    }

    fn start(&self, node: Node<'_>) -> u32 {
        self.text.original(node.start_byte())
    }

    fn end(&self, node: Node<'_>) -> u32 {
        self.text.original(node.end_byte())
    }

    /// Where the parenthesis of a cast closes.
    fn closing(&self, cast: Node<'_>) -> u32 {
        let mut cursor = cast.walk();
        let close = cast.children(&mut cursor).find(|child| child.kind() == ")");
        self.start(close.expect("casts have a closing parenthesis"))
    }

    fn name(&self, node: Node<'_>) -> &str {
        identifier_at(self.source, self.start(node))
    }

    fn is_typedef(&self, node: Node<'_>) -> bool {
        self.typedefs.contains(self.name(node))
    }

    fn refuse<T>(&self, node: Node<'_>, construct: String, advice: &str) -> Result<T, Refusal> {
        Err((self.start(node), construct, advice.to_owned()))
    }

    fn syntax_error<T>(&self, node: Node<'_>) -> Result<T, Refusal> {
        let advice = "the text must be complete, preprocessed C";
        if node.is_missing() {
            let kind = node.kind();
            return self.refuse(node, format!("syntax error, '{kind}' is missing"), advice);
        }
        let bytes = &self.text.bytes[node.byte_range()];
        let near: String = String::from_utf8_lossy(bytes).split_whitespace().take(6).collect::<Vec<_>>().join(" ");
        let near: String = near.chars().take(40).collect();
        self.refuse(node, format!("syntax error near '{near}'"), advice)
    }

    /// Replaces a range; an edit that is there already did not help, so the place is refused.
    fn edit(&mut self, node: Node<'_>, start: u32, end: u32, with: &str) -> Result<(), Refusal> {
        if self.edits.replace(start, end, with) {
            return Ok(());
        }
        let name = self.name(node).to_owned();
        self.refuse(node, format!("an ambiguous use of '{name}'"), "write it with fewer or more parentheses")
    }

    fn check_node(&mut self, node: Node<'t>) -> Result<(), Refusal> {
        match node.kind() {
            "type_definition" => self.collect_typedefs(node),
            "identifier" if self.is_typedef(node) => return self.typedef_as_identifier(node),
            "type_identifier" => return self.type_name(node),
            "sizeof_expression" => return self.cast_below_sizeof(node),
            "macro_type_specifier" => {
                let name = self.name(node).to_owned();
                return self.refuse(node, format!("'{name}(..)' in place of a type"), "preprocess the program first");
            }
            "function_declarator" => {
                let mut cursor = node.walk();
                if let Some(extra) = node
                    .named_children(&mut cursor)
                    .skip(2)
                    .find(|c| matches!(c.kind(), "identifier" | "call_expression"))
                {
                    let name = self.name(extra).to_owned();
                    return self.refuse(
                        extra,
                        format!("'{name}' behind the parameters of a function"),
                        "remove it or preprocess the program first",
                    );
                }
            }
            "function_definition" => {
                let mut cursor = node.walk();
                if node.named_children(&mut cursor).any(|c| c.kind() == "declaration") {
                    return self.refuse(
                        node,
                        "a function definition in K&R style".into(),
                        "declare the parameters in the parentheses",
                    );
                }
                if self.ancestors.len() > 1 {
                    return self.refuse(node, "a nested function".into(), "move it to the file scope");
                }
            }
            "expression_statement" if self.ancestors.len() == 1 => {
                let harmless = node.named_child(0).is_none_or(|child| {
                    child.kind() == "call_expression" && matches!(self.name(child), "_Static_assert" | "static_assert")
                });
                if !harmless {
                    return self.refuse(node, "a statement outside of a function".into(), "is a macro not expanded?");
                }
            }
            "case_statement" => return self.case_as_branch(node),
            kind if kind.starts_with("preproc_") || kind.starts_with("ms_") || kind.starts_with("seh_") => {
                return self.refuse(node, format!("'{}', which is not standard C", self.name(node)), "rewrite it");
            }
            "linkage_specification" => {
                return self.refuse(node, "a linkage specification".into(), "this is C++");
            }
            "compound_statement" if self.parent().is_some_and(|p| p.kind() == "argument_list") => {
                return self.refuse(node, "a block as an argument".into(), "preprocess the program first");
            }
            _ if self.ancestors.len() == 1
                && !node.is_error()
                && !matches!(
                    node.kind(),
                    "declaration"
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

    fn collect_typedefs(&mut self, node: Node<'t>) {
        let mut cursor = node.walk();
        let declarators: Vec<_> = node.children_by_field_name("declarator", &mut cursor).collect();
        for mut declarator in declarators {
            while let Some(inner) = inner_declarator(declarator) {
                declarator = inner;
            }
            let name = self.name(declarator).to_owned();
            self.typedefs.insert(name);
        }
    }

    fn typedef_as_identifier(&mut self, node: Node<'t>) -> Result<(), Refusal> {
        let Some(parent) = self.parent() else { return Ok(()) };
        let kind = parent.kind();
        if kind == "enumerator" || kind.ends_with("_declarator") || kind.ends_with("declaration") {
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
            return self.refuse(node, format!("'{name}' behind 'unsigned', 'signed', 'long' or 'short'"), "rewrite it");
        }
        if parent.kind() == "type_descriptor"
            && let Some(above) = self.grandparent()
        {
            let is_cast = above.kind() == "cast_expression";
            let product =
                parent.child_by_field_name("declarator").is_some_and(|d| d.kind() == "abstract_pointer_declarator");
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
            && parent.child_by_field_name("type") == Some(node)
            && parent.child_by_field_name("declarator").is_some_and(|d| d.kind() == "pointer_declarator")
            && self.grandparent().is_some_and(|above| above.kind() != "translation_unit");
        if is_statement && self.errors_allow_statement(parent) {
            // `a * b;` is an expression statement; a sign makes that plain.
            return self.edit(node, start, start, "+");
        }
        self.refuse(node, format!("'{name}' is not the name of a type"), "declare it, or pass the preprocessed program")
    }

    /// Whether all declarators of a would-be declaration `a * b` are plain names, so that it reads as an expression.
    fn errors_allow_statement(&self, declaration: Node<'t>) -> bool {
        let mut cursor = declaration.walk();
        declaration.named_children(&mut cursor).count() == 2
            && declaration
                .child_by_field_name("declarator")
                .and_then(|d| d.child_by_field_name("declarator"))
                .is_some_and(|d| d.kind() == "identifier")
    }

    /// `sizeof(int)+1` read as `sizeof((int)(+1))`: a cast is never the operand of `sizeof` without parentheses.
    fn cast_below_sizeof(&mut self, node: Node<'t>) -> Result<(), Refusal> {
        let Some(cast) = node.child_by_field_name("value").filter(|value| value.kind() == "cast_expression") else {
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
        let last = declarator.named_child_count().checked_sub(1)?;
        return declarator.named_child(u32::try_from(last).ok()?);
    }
    declarator.child_by_field_name("declarator")
}
