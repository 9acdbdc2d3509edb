// SPDX-License-Identifier: Apache-2.0
//! Statements.

use rustc_hash::FxHashMap;

use crate::ast::{Binary, Decl, Declarator, Expr, ExprRef, Stmt, StmtRef, Storage, TypeSpec};
use crate::lexer::{Refusal, Tok};

use super::{Parser, params_of};

impl<'a> Parser<'a> {
    /// A block as a statement.
    pub(super) fn block(&mut self) -> Result<StmtRef, Refusal> {
        let start = self.start();
        self.enter()?;
        let stmts = self.block_stmts()?;
        self.leave();
        let range = self.since(start);
        Ok(self.push_stmt(Stmt::Block(stmts), range))
    }

    /// The statements of a block.
    pub(super) fn block_stmts(&mut self) -> Result<Vec<StmtRef>, Refusal> {
        self.expect(Tok::LBrace, "{")?;
        self.scopes.push(FxHashMap::default());
        let mut stmts = Vec::new();
        while !self.accept(Tok::RBrace) {
            match self.tok() {
                // A label stands for itself here, so that many of them are not deep.
                Tok::Case | Tok::Default => {
                    let start = self.start();
                    let (low, high) = self.case_label()?;
                    let range = self.since(start);
                    stmts.push(self.push_stmt(Stmt::Case(low, high, Vec::new()), range));
                }
                Tok::LocalLabel => {
                    while !self.accept(Tok::Semi) {
                        self.advance();
                    }
                }
                Tok::StaticAssert => self.static_assert()?,
                Tok::Eof => return self.unexpected("'}'"),
                _ if self.is_declaration() => self.block_declaration(&mut stmts)?,
                _ => stmts.push(self.statement()?),
            }
        }
        self.scopes.pop();
        Ok(stmts)
    }

    /// Whether a declaration follows and not a statement.
    fn is_declaration(&self) -> bool {
        let mut ahead = 0;
        loop {
            match self.token(ahead).tok {
                Tok::Attribute => ahead = self.behind_group(ahead + 1),
                Tok::Extension => ahead += 1,
                Tok::LBracket if self.token(ahead + 1).tok == Tok::LBracket => {
                    while !matches!(self.token(ahead).tok, Tok::RBracket | Tok::Eof) {
                        ahead += 1;
                    }
                    ahead += 2;
                }
                _ => break,
            }
        }
        let is_label = self.token(ahead).tok == Tok::Ident && self.token(ahead + 1).tok == Tok::Colon;
        self.starts_declaration(ahead) && !is_label
    }

    fn block_declaration(&mut self, stmts: &mut Vec<StmtRef>) -> Result<(), Refusal> {
        let start = self.start();
        let specifiers = self.specifiers()?;
        if self.accept(Tok::Semi) {
            let decl = Decl { storage: specifiers.storage, spec: specifiers.finish(false), items: Vec::new() };
            let range = self.since(start);
            stmts.push(self.push_stmt(Stmt::Decl(decl), range));
            return Ok(());
        }
        let first_start = self.start();
        let mut first = self.declarator()?;
        if self.tok() == Tok::LBrace && params_of(&mut first).is_some() {
            // A nested function: whoever passes its definition or uses its name is told.
            let params = std::mem::take(params_of(&mut first).expect("checked above"));
            self.scopes.push(FxHashMap::default());
            for (name, _) in params.iter().filter_map(|param| param.declarator.name()) {
                self.declare(name, false);
            }
            self.block()?;
            self.scopes.pop();
            let range = self.since(start);
            let what = "nested function";
            if let Some((name, at)) = first.name() {
                self.declare(name, false);
                let items = vec![(Declarator::Name(name, at), None, at)];
                let decl = Decl { storage: Storage::None, spec: TypeSpec::Unknown(what), items };
                stmts.push(self.push_stmt(Stmt::Decl(decl), range));
            }
            stmts.push(self.push_stmt(Stmt::Unsupported(what), range));
            return Ok(());
        }
        let decl = self.declaration(specifiers, Some((first, first_start)))?;
        let range = self.since(start);
        stmts.push(self.push_stmt(Stmt::Decl(decl), range));
        Ok(())
    }

    /// `case a:`, `case a ... b:` or `default:`.
    fn case_label(&mut self) -> Result<(Option<ExprRef>, Option<ExprRef>), Refusal> {
        let label = if self.advance().tok == Tok::Default {
            (None, None)
        } else {
            let low = self.conditional()?;
            let high = if self.accept(Tok::Ellipsis) { Some(self.conditional()?) } else { None };
            (Some(low), high)
        };
        self.expect(Tok::Colon, ":")?;
        Ok(label)
    }

    pub(super) fn statement(&mut self) -> Result<StmtRef, Refusal> {
        self.enter()?;
        let start = self.start();
        let stmt = self.statement_kind()?;
        self.leave();
        let range = self.since(start);
        Ok(self.push_stmt(stmt, range))
    }

    fn statement_kind(&mut self) -> Result<Stmt<'a>, Refusal> {
        Ok(match self.tok() {
            Tok::LBrace => Stmt::Block(self.block_stmts()?),
            Tok::Semi => {
                self.advance();
                Stmt::Empty
            }
            Tok::If => self.if_chain()?,
            Tok::While => {
                self.advance();
                let cond = self.condition()?;
                Stmt::While(cond, self.statement()?)
            }
            Tok::Do => {
                self.advance();
                let body = self.statement()?;
                self.expect(Tok::While, "while")?;
                let cond = self.condition()?;
                self.expect(Tok::Semi, ";")?;
                Stmt::DoWhile(body, cond)
            }
            Tok::For => self.for_statement()?,
            Tok::Switch => {
                self.advance();
                let value = self.condition()?;
                Stmt::Switch(value, self.statement()?)
            }
            Tok::Case | Tok::Default => {
                let (low, high) = self.case_label()?;
                Stmt::Case(low, high, vec![self.labelled()?])
            }
            Tok::Goto => {
                self.advance();
                if self.tok() == Tok::Op(Binary::Mul) {
                    self.expression_after_star()?;
                    Stmt::Unsupported("computed goto")
                } else {
                    let label = self.expect(Tok::Ident, "label")?;
                    self.expect(Tok::Semi, ";")?;
                    Stmt::Goto(self.text_of(label))
                }
            }
            Tok::Break => self.simple(Stmt::Break)?,
            Tok::Continue => self.simple(Stmt::Continue)?,
            Tok::Return => {
                self.advance();
                let value = if self.tok() == Tok::Semi { None } else { Some(self.expression()?) };
                self.expect(Tok::Semi, ";")?;
                Stmt::Return(value)
            }
            Tok::Asm => self.assembly()?,
            Tok::Attribute => {
                self.attributes()?;
                return self.statement_kind();
            }
            Tok::LBracket if self.token(1).tok == Tok::LBracket => {
                self.skip_group()?;
                return self.statement_kind();
            }
            Tok::Ident if self.token(1).tok == Tok::Colon => {
                let label = self.advance();
                self.advance();
                self.attributes()?;
                Stmt::Labeled(self.text_of(label), self.labelled()?)
            }
            Tok::Ident if self.text() == "_Pragma" => {
                self.advance();
                self.skip_group()?;
                return self.statement_kind();
            }
            _ => {
                let first = self.token(0);
                let value = self.expression()?;
                if self.tok() == Tok::Ident && matches!(self.ast.expr(value), Expr::Ident(_)) {
                    return self.no_type(first);
                }
                self.expect(Tok::Semi, ";")?;
                Stmt::Expr(value)
            }
        })
    }

    fn simple(&mut self, stmt: Stmt<'a>) -> Result<Stmt<'a>, Refusal> {
        self.advance();
        self.expect(Tok::Semi, ";")?;
        Ok(stmt)
    }

    fn expression_after_star(&mut self) -> Result<(), Refusal> {
        self.expression()?;
        self.expect(Tok::Semi, ";")?;
        Ok(())
    }

    /// What a label stands before: a statement, and in newer C also a declaration or nothing.
    fn labelled(&mut self) -> Result<StmtRef, Refusal> {
        if self.tok() == Tok::RBrace {
            let range = (self.start(), self.start());
            return Ok(self.push_stmt(Stmt::Empty, range));
        }
        if self.is_declaration() && self.tok() != Tok::StaticAssert {
            let mut stmts = Vec::new();
            self.block_declaration(&mut stmts)?;
            // Only a nested function is more than one statement.
            return match stmts.pop() {
                Some(stmt) => Ok(stmt),
                None => self.unexpected("a statement"),
            };
        }
        self.statement()
    }

    fn condition(&mut self) -> Result<ExprRef, Refusal> {
        self.expect(Tok::LParen, "(")?;
        let value = self.expression()?;
        self.expect(Tok::RParen, ")")?;
        Ok(value)
    }

    fn if_chain(&mut self) -> Result<Stmt<'a>, Refusal> {
        let mut arms = Vec::new();
        loop {
            self.expect(Tok::If, "if")?;
            let cond = self.condition()?;
            arms.push((cond, self.statement()?));
            if !self.accept(Tok::Else) {
                return Ok(Stmt::If(arms, None));
            }
            if self.tok() != Tok::If {
                return Ok(Stmt::If(arms, Some(self.statement()?)));
            }
        }
    }

    fn for_statement(&mut self) -> Result<Stmt<'a>, Refusal> {
        self.advance();
        self.expect(Tok::LParen, "(")?;
        self.scopes.push(FxHashMap::default());
        let mut init = None;
        if self.is_declaration() {
            let mut stmts = Vec::new();
            self.block_declaration(&mut stmts)?;
            init = stmts.pop();
        } else if !self.accept(Tok::Semi) {
            let start = self.start();
            let value = self.expression()?;
            let range = self.since(start);
            init = Some(self.push_stmt(Stmt::Expr(value), range));
            self.expect(Tok::Semi, ";")?;
        }
        let cond = if self.tok() == Tok::Semi { None } else { Some(self.expression()?) };
        self.expect(Tok::Semi, ";")?;
        let step = if self.tok() == Tok::RParen { None } else { Some(self.expression()?) };
        self.expect(Tok::RParen, ")")?;
        let body = self.statement()?;
        self.scopes.pop();
        Ok(Stmt::For { init, cond, step, body })
    }

    /// Inline assembly; without text and outputs it does nothing.
    fn assembly(&mut self) -> Result<Stmt<'a>, Refusal> {
        self.advance();
        while matches!(self.tok(), Tok::Qualifier | Tok::Ignored | Tok::Goto) {
            self.advance();
        }
        let silent = self.token(1).tok == Tok::Str && self.text_of(self.token(1)) == "\"\"";
        let ends = self.token(2).tok == Tok::RParen;
        let no_outputs = self.token(2).tok == Tok::Colon && matches!(self.token(3).tok, Tok::Colon | Tok::RParen);
        self.skip_group()?;
        self.expect(Tok::Semi, ";")?;
        let nothing = silent && (ends || no_outputs);
        Ok(if nothing { Stmt::Empty } else { Stmt::Unsupported("inline assembly") })
    }
}
