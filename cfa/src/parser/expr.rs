// SPDX-License-Identifier: Apache-2.0
//! Expressions.

use crate::ast::{Binary, Designator, Expr, ExprRef, TypeName, TypeSpec, Unary};
use crate::lexer::{Refusal, Tok};

use super::Parser;

/// How tight a binary operator binds.
fn precedence(op: Binary) -> u8 {
    match op {
        Binary::Or => 1,
        Binary::And => 2,
        Binary::BitOr => 3,
        Binary::BitXor => 4,
        Binary::BitAnd => 5,
        Binary::Eq | Binary::Ne => 6,
        Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => 7,
        Binary::Shl | Binary::Shr => 8,
        Binary::Add | Binary::Sub => 9,
        Binary::Mul | Binary::Div | Binary::Rem => 10,
    }
}

impl<'a> Parser<'a> {
    /// An expression with commas.
    pub(super) fn expression(&mut self) -> Result<ExprRef, Refusal> {
        let start = self.start();
        let first = self.assignment()?;
        if self.tok() != Tok::Comma {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.accept(Tok::Comma) {
            parts.push(self.assignment()?);
        }
        let range = self.since(start);
        Ok(self.push_expr(Expr::Comma(parts), range))
    }

    pub(super) fn assignment(&mut self) -> Result<ExprRef, Refusal> {
        let start = self.start();
        let left = self.conditional()?;
        let Tok::Assign(op) = self.tok() else { return Ok(left) };
        self.advance();
        self.enter()?;
        let right = self.assignment()?;
        self.leave();
        let range = self.since(start);
        Ok(self.push_expr(Expr::Assign(op, left, right), range))
    }

    /// An expression without assignment and comma.
    pub(super) fn conditional(&mut self) -> Result<ExprRef, Refusal> {
        let start = self.start();
        let cond = self.binary(1)?;
        if !self.accept(Tok::Question) {
            return Ok(cond);
        }
        self.enter()?;
        let yes = if self.tok() == Tok::Colon { None } else { Some(self.expression()?) };
        self.expect(Tok::Colon, ":")?;
        let no = self.conditional()?;
        self.leave();
        let range = self.since(start);
        Ok(self.push_expr(Expr::Cond(cond, yes, no), range))
    }

    /// Operators of at least a precedence; the recursion is at most as deep as there are precedences.
    fn binary(&mut self, least: u8) -> Result<ExprRef, Refusal> {
        let start = self.start();
        let mut left = self.unary()?;
        while let Tok::Op(op) = self.tok()
            && precedence(op) >= least
        {
            self.advance();
            let right = self.binary(precedence(op) + 1)?;
            let range = self.since(start);
            left = self.push_expr(Expr::Binary(op, left, right), range);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<ExprRef, Refusal> {
        let start = self.start();
        let op = match self.tok() {
            Tok::Op(Binary::Add) => Unary::Plus,
            Tok::Op(Binary::Sub) => Unary::Neg,
            Tok::Op(Binary::Mul) => Unary::Deref,
            Tok::Op(Binary::BitAnd) => Unary::AddrOf,
            Tok::Tilde => Unary::BitNot,
            Tok::Bang => Unary::Not,
            Tok::LParen if self.starts_type(1) => return self.cast(),
            Tok::Inc | Tok::Dec | Tok::Sizeof | Tok::Alignof | Tok::Extension | Tok::Op(Binary::And) => {
                return self.word_operator();
            }
            _ => return self.postfix(),
        };
        self.advance();
        self.enter()?;
        let arg = self.unary()?;
        self.leave();
        let range = self.since(start);
        Ok(self.push_expr(Expr::Unary(op, arg), range))
    }

    /// `(T) x`, or `(T){..}` with what follows.
    fn cast(&mut self) -> Result<ExprRef, Refusal> {
        let start = self.start();
        let to = self.type_in_parentheses()?;
        if self.tok() == Tok::LBrace {
            let literal = self.compound_literal(to, start)?;
            return self.postfix_of(literal, start);
        }
        self.enter()?;
        let arg = self.unary()?;
        self.leave();
        let range = self.since(start);
        Ok(self.push_expr(Expr::Cast(to, arg), range))
    }

    fn type_in_parentheses(&mut self) -> Result<TypeName<'a>, Refusal> {
        self.expect(Tok::LParen, "(")?;
        let name = self.type_name()?;
        self.expect(Tok::RParen, ")")?;
        Ok(name)
    }

    fn compound_literal(&mut self, ty: TypeName<'a>, start: u32) -> Result<ExprRef, Refusal> {
        let init = self.initializer()?;
        let range = self.since(start);
        Ok(self.push_expr(Expr::Compound(ty, init), range))
    }

    fn word_operator(&mut self) -> Result<ExprRef, Refusal> {
        let start = self.start();
        self.enter()?;
        let operator = self.advance().tok;
        let expr = match operator {
            Tok::Inc | Tok::Dec => {
                let target = self.unary()?;
                Expr::Update { increment: operator == Tok::Inc, prefix: true, target }
            }
            Tok::Extension => {
                let inner = self.unary()?;
                self.leave();
                return Ok(inner);
            }
            Tok::Op(_) => {
                self.expect(Tok::Ident, "label")?;
                Expr::Other("address of a label")
            }
            _ if self.tok() == Tok::LParen && self.starts_type(1) => {
                let inner = self.start();
                let name = self.type_in_parentheses()?;
                if operator == Tok::Alignof {
                    Expr::AlignofType(name)
                } else if self.tok() == Tok::LBrace {
                    let literal = self.compound_literal(name, inner)?;
                    Expr::SizeofValue(self.postfix_of(literal, inner)?)
                } else {
                    Expr::SizeofType(name)
                }
            }
            Tok::Alignof => {
                let arg_start = self.start();
                let arg = self.unary()?;
                let range = self.since(arg_start);
                let declarator = crate::ast::Declarator::Abstract;
                Expr::AlignofType(TypeName { spec: TypeSpec::Typeof(arg), declarator, range })
            }
            _ => Expr::SizeofValue(self.unary()?),
        };
        self.leave();
        let range = self.since(start);
        Ok(self.push_expr(expr, range))
    }

    fn postfix(&mut self) -> Result<ExprRef, Refusal> {
        let start = self.start();
        let base = self.primary()?;
        self.postfix_of(base, start)
    }

    /// The postfix operators behind an expression.
    fn postfix_of(&mut self, mut value: ExprRef, start: u32) -> Result<ExprRef, Refusal> {
        loop {
            let expr = match self.tok() {
                Tok::LBracket => {
                    self.advance();
                    self.enter()?;
                    let index = self.expression()?;
                    self.leave();
                    self.expect(Tok::RBracket, "]")?;
                    Expr::Index(value, index)
                }
                Tok::LParen => {
                    self.advance();
                    self.enter()?;
                    let mut args = Vec::new();
                    while self.tok() != Tok::RParen {
                        args.push(self.assignment()?);
                        if !self.accept(Tok::Comma) {
                            break;
                        }
                    }
                    self.leave();
                    self.expect(Tok::RParen, ")")?;
                    Expr::Call(value, args)
                }
                Tok::Dot | Tok::Arrow => {
                    let arrow = self.advance().tok == Tok::Arrow;
                    let name = self.expect(Tok::Ident, "name of a member")?;
                    Expr::Member { object: value, field: self.text_of(name), arrow }
                }
                Tok::Inc | Tok::Dec => {
                    let increment = self.advance().tok == Tok::Inc;
                    Expr::Update { increment, prefix: false, target: value }
                }
                _ => return Ok(value),
            };
            let range = self.since(start);
            value = self.push_expr(expr, range);
        }
    }

    fn primary(&mut self) -> Result<ExprRef, Refusal> {
        let start = self.start();
        let expr = match self.tok() {
            Tok::Number => Expr::Number(self.text()),
            Tok::Char => Expr::Char(self.text()),
            Tok::Str => {
                while self.token(1).tok == Tok::Str {
                    self.advance();
                }
                self.advance();
                let range = self.since(start);
                let text = &self.source[range.0 as usize..range.1 as usize];
                return Ok(self.push_expr(Expr::Str(text), range));
            }
            Tok::LParen if self.token(1).tok == Tok::LBrace => {
                self.advance();
                self.enter()?;
                let stmts = self.block_stmts()?;
                self.leave();
                self.expect(Tok::RParen, ")")?;
                let range = self.since(start);
                return Ok(self.push_expr(Expr::Block(stmts), range));
            }
            Tok::LParen => {
                self.advance();
                self.enter()?;
                let inner = self.expression()?;
                self.leave();
                self.expect(Tok::RParen, ")")?;
                return Ok(inner);
            }
            Tok::Generic => {
                self.advance();
                self.skip_group()?;
                let range = self.since(start);
                return Ok(self.push_expr(Expr::Other("_Generic"), range));
            }
            Tok::Ident => {
                let name = self.text();
                if self.token(1).tok == Tok::LParen
                    && let Some(value) = self.builtin(name)?
                {
                    return Ok(value);
                }
                Expr::Ident(name)
            }
            _ => return self.unexpected("an expression"),
        };
        self.advance();
        let range = self.since(start);
        Ok(self.push_expr(expr, range))
    }

    /// What looks like a call but has types as arguments.
    fn builtin(&mut self, name: &str) -> Result<Option<ExprRef>, Refusal> {
        let start = self.start();
        let expr = match name {
            "__builtin_offsetof" | "offsetof" if !self.is_declared(name) => {
                self.advance();
                self.expect(Tok::LParen, "(")?;
                let ty = self.type_name()?;
                self.expect(Tok::Comma, ",")?;
                let member = self.expect(Tok::Ident, "name of a member")?;
                let mut path = vec![Designator::Field(self.text_of(member))];
                self.more_designators(&mut path)?;
                self.expect(Tok::RParen, ")")?;
                Expr::Offsetof(ty, path)
            }
            "__builtin_va_arg" => {
                self.advance();
                self.skip_group()?;
                Expr::Other("variable arguments")
            }
            "__builtin_types_compatible_p" => {
                self.advance();
                self.skip_group()?;
                Expr::Other("comparison of types")
            }
            _ => return Ok(None),
        };
        let range = self.since(start);
        Ok(Some(self.push_expr(expr, range)))
    }
}
