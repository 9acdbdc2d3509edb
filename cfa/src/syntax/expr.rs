// SPDX-License-Identifier: Apache-2.0
//! Expressions.

use crate::ast::{Binary, CaseLabel, Expr, ExprRef, Unary};
use crate::ir::IntTy;
use crate::literals;
use crate::prepass::Refusal;
use crate::tree::Node;

use super::{Builder, children};

impl<'a> Builder<'a, '_> {
    /// The constant of a case label, or the ends of a range, whose `...` arrives as the outermost `||`.
    pub(super) fn case_label(&mut self, node: Node<'_>) -> Result<CaseLabel, Refusal> {
        if node.kind() == "binary_expression" && self.is_range(self.required(node, "operator")?) {
            let from = self.expr(self.required(node, "left")?)?;
            return Ok((from, Some(self.expr(self.required(node, "right")?)?)));
        }
        Ok((self.expr(node)?, None))
    }

    fn is_range(&self, operator: Node<'_>) -> bool {
        self.source[self.range(operator).0 as usize..].starts_with("...")
    }

    /// Operands of a chain of left-nested binary operators are built without recursion.
    pub(super) fn binary(&mut self, node: Node<'_>) -> Result<ExprRef, Refusal> {
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
            if op == Binary::Or && self.is_range(operator) {
                return self.refuse(operator, "a range of cases that is not plain");
            }
            let range = self.range(node);
            value = self.push_expr(Expr::Binary(op, value, right), range);
        }
        Ok(value)
    }

    pub(super) fn comma(&mut self, node: Node<'_>) -> Result<ExprRef, Refusal> {
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

    pub(super) fn expr(&mut self, node: Node<'_>) -> Result<ExprRef, Refusal> {
        let mut node = node;
        while matches!(node.kind(), "parenthesized_expression" | "extension_expression") {
            match node.first_named_child() {
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
            "pointer_expression" if self.source_of(node).starts_with("&&") => {
                let mut name = self.required(node, "argument")?;
                if name.kind() == "pointer_expression" {
                    name = self.required(name, "argument")?;
                }
                if name.kind() != "identifier" {
                    return self.refuse(node, "the address of a label");
                }
                Expr::LabelAddress(self.label(name))
            }
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
                let yes = node.child_by_field("consequence").map(|yes| self.expr(yes)).transpose()?;
                Expr::Cond(cond, yes, self.expr(self.required(node, "alternative")?)?)
            }
            "call_expression" => {
                if let Some(expr) = self.offset_of_part(node)? {
                    return Ok(self.push_expr(expr, range));
                }
                let callee = self.expr(self.required(node, "function")?)?;
                let mut args = Vec::new();
                for arg in children(self.required(node, "arguments")?) {
                    args.push(self.expr(arg)?);
                }
                Expr::Call(callee, args)
            }
            "cast_expression" => {
                let to = self.type_name(self.required(node, "type")?)?;
                Expr::Cast(to.into(), self.expr(self.required(node, "value")?)?)
            }
            "sizeof_expression" => match node.child_by_field("type") {
                Some(ty) => Expr::SizeofType(self.type_name(ty)?.into()),
                None => Expr::SizeofValue(self.expr(self.required(node, "value")?)?),
            },
            "alignof_expression" => Expr::AlignofType(self.type_name(self.required(node, "type")?)?.into()),
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
                Expr::Compound(ty.into(), self.initializer(self.required(node, "value")?)?)
            }
            "gnu_asm_expression" => {
                let none =
                    |field| node.child_by_field(field).is_none_or(|operands| operands.first_named_child().is_none());
                let code = node.child_by_field("assembly_code").map_or("", |code| self.source_of(code));
                let changes = !does_nothing(code) || self.source_of(node).contains("goto");
                let barrier = !changes && none("output_operands") && none("input_operands");
                if barrier { Expr::Number("0") } else { Expr::Other("inline assembly") }
            }
            "offsetof_expression" => {
                let ty = self.type_name(self.required(node, "type")?)?;
                let mut path = Vec::new();
                self.offset_path(self.required(node, "member")?, &mut path)?;
                Expr::Offsetof(ty.into(), path)
            }
            "generic_expression" => Expr::Other("_Generic"),
            _ => return self.refuse(node, "an unexpected expression"),
        };
        Ok(self.push_expr(expr, range))
    }

    /// `offsetof(T, a.b[1])`, which arrives as a call with `sizeof(T)` as its first argument.
    fn offset_of_part(&mut self, call: Node<'_>) -> Result<Option<Expr<'a>>, Refusal> {
        let callee = self.required(call, "function")?;
        if callee.kind() != "identifier" || !matches!(self.name(callee), "offsetof" | "__builtin_offsetof") {
            return Ok(None);
        }
        let args = children(self.required(call, "arguments")?);
        let [record, member] = args.as_slice() else { return Ok(None) };
        let ty = match record.child_by_field("type") {
            // The text is that of the type alone.
            Some(ty) if !self.source_of(*record).starts_with("sizeof") => self.type_name(ty)?,
            _ => return Ok(None),
        };
        let mut path = Vec::new();
        self.offset_path(*member, &mut path)?;
        Ok(Some(Expr::Offsetof(ty.into(), path)))
    }

    /// `-x++` arrives as `(-x)++`; the postfix operator belongs to the operand below all unary ones.
    pub(super) fn update(&mut self, node: Node<'_>) -> Result<ExprRef, Refusal> {
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

    pub(super) fn number(&mut self, node: Node<'_>) -> ExprRef {
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

/// Whether assembly has no instructions but those that wait, or are barriers for the processor.
fn does_nothing(code: &str) -> bool {
    let Some((units, IntTy { bits: 8, .. })) = literals::string(code) else { return false };
    let text: String = units.into_iter().map(|unit| u8::try_from(unit).map_or('?', char::from)).collect();
    let nothing = ["", "nop", "rep", "pause", "mfence", "lfence", "sfence"];
    text.split([';', '\n']).all(|part| nothing.contains(&part.trim()))
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
