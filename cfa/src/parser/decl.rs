// SPDX-License-Identifier: Apache-2.0
//! Declarators, parameters and initialisers.

use rustc_hash::FxHashMap;

use crate::ast::{Binary, Decl, Declarator, Designator, Expr, ExprRef, InitItem, Param, Storage, TypeSpec};
use crate::lexer::{Refusal, Tok};

use super::{Parser, Specifiers};

impl<'a> Parser<'a> {
    /// The declarators of a declaration up to its semicolon; the first one may have been read, from the given offset on.
    pub(super) fn declaration(
        &mut self,
        specifiers: Specifiers<'a>,
        mut first: Option<(Declarator<'a>, u32)>,
    ) -> Result<Decl<'a>, Refusal> {
        let Specifiers { storage, spec, mut attributes } = specifiers;
        let mut items = Vec::new();
        while first.is_some() || self.tok() != Tok::Semi {
            let (declarator, start) = match first.take() {
                Some(first) => first,
                None => {
                    attributes = attributes.and(self.attributes()?);
                    let start = self.start();
                    (self.declarator()?, start)
                }
            };
            loop {
                match self.tok() {
                    Tok::Asm => {
                        self.advance();
                        self.skip_group()?;
                    }
                    Tok::Attribute => attributes = attributes.and(self.attributes()?),
                    _ => break,
                }
            }
            let Some((name, _)) = declarator.name() else { return self.unexpected("a name") };
            // The name is known in its own initialiser.
            self.declare(name, storage == Storage::Typedef);
            let init = if self.accept(Tok::Assign(None)) { Some(self.initializer()?) } else { None };
            items.push((declarator, init, self.since(start)));
            if !self.accept(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::Semi, ";")?;
        let spec = Specifiers { storage, spec, attributes }.finish(storage == Storage::Typedef);
        Ok(Decl { storage, spec, items })
    }

    /// A declarator with or without a name.
    pub(super) fn declarator(&mut self) -> Result<Declarator<'a>, Refusal> {
        if self.accept(Tok::Op(Binary::Mul)) {
            self.enter()?;
            self.qualifiers()?;
            let inner = self.declarator()?;
            self.leave();
            return Ok(Declarator::Pointer(inner.into()));
        }
        // Their effect on a layout inside of a declarator is not modelled, nor does it occur.
        let attributes = self.attributes()?;
        if attributes.layout || attributes.mode.is_some() {
            return self.refuse(
                self.start(),
                "an attribute that changes a type within a declarator",
                "move it to the end",
            );
        }
        let mut base = match self.tok() {
            Tok::Ident => {
                let token = self.advance();
                Declarator::Name(self.text_of(token), (token.start, token.end))
            }
            Tok::LParen if !self.opens_parameters() => {
                self.advance();
                self.enter()?;
                let inner = self.declarator()?;
                self.leave();
                self.expect(Tok::RParen, ")")?;
                inner
            }
            _ => Declarator::Abstract,
        };
        loop {
            match self.tok() {
                Tok::LBracket => {
                    self.advance();
                    while matches!(self.tok(), Tok::Static | Tok::Qualifier) {
                        self.advance();
                    }
                    let any = self.tok() == Tok::Op(Binary::Mul) && self.token(1).tok == Tok::RBracket;
                    if any {
                        self.advance();
                    }
                    let size = if self.tok() == Tok::RBracket { None } else { Some(self.assignment()?) };
                    self.expect(Tok::RBracket, "]")?;
                    base = Declarator::Array(base.into(), size);
                }
                Tok::LParen => {
                    self.advance();
                    let (params, variadic) = self.parameters()?;
                    base = Declarator::Function(base.into(), params, variadic);
                }
                _ => return Ok(base),
            }
        }
    }

    /// Whether a parenthesis in place of a name opens parameters and not a declarator.
    fn opens_parameters(&self) -> bool {
        self.token(1).tok == Tok::RParen
            || (self.token(1).tok != Tok::Attribute && self.starts_declaration(1))
            || self.token(1).tok == Tok::Ellipsis
    }

    fn qualifiers(&mut self) -> Result<(), Refusal> {
        loop {
            match self.tok() {
                Tok::Qualifier | Tok::Extension => {
                    self.advance();
                }
                Tok::Attribute => {
                    self.attributes()?;
                }
                _ => return Ok(()),
            }
        }
    }

    /// The parameters behind an opening parenthesis; whether there may be more.
    fn parameters(&mut self) -> Result<(Vec<Param<'a>>, bool), Refusal> {
        self.enter()?;
        self.scopes.push(FxHashMap::default());
        let mut params = Vec::new();
        let mut variadic = false;
        while self.tok() != Tok::RParen {
            if self.accept(Tok::Ellipsis) {
                variadic = true;
            } else if self.starts_declaration(0) {
                let specifiers = self.specifiers()?;
                let declarator = self.declarator()?;
                let attributes = specifiers.attributes.and(self.attributes()?);
                if let Some((name, _)) = declarator.name() {
                    self.declare(name, false);
                }
                let spec = Specifiers { attributes, ..specifiers }.finish(false);
                params.push(Param { spec, declarator });
            } else if self.tok() == Tok::Ident && matches!(self.token(1).tok, Tok::Comma | Tok::RParen) {
                // The old style: only names, of type `int` unless declared otherwise.
                let token = self.advance();
                let declarator = Declarator::Name(self.text_of(token), (token.start, token.end));
                params.push(Param { spec: TypeSpec::Words(vec!["int"]), declarator });
            } else if self.tok() == Tok::Ident {
                return self.no_type(self.token(0));
            } else {
                return self.unexpected("a parameter");
            }
            if !self.accept(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::RParen, ")")?;
        self.scopes.pop();
        self.leave();
        Ok((params, variadic))
    }

    /// An initialiser: an expression or a list in braces.
    pub(super) fn initializer(&mut self) -> Result<ExprRef, Refusal> {
        if self.tok() != Tok::LBrace {
            return self.assignment();
        }
        let start = self.start();
        self.enter()?;
        self.advance();
        let mut items = Vec::new();
        while self.tok() != Tok::RBrace {
            let path = self.designators()?;
            let value = self.initializer()?;
            items.push(InitItem { path, value });
            if !self.accept(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::RBrace, "}")?;
        self.leave();
        let range = self.since(start);
        Ok(self.push_expr(Expr::Init(items), range))
    }

    fn designators(&mut self) -> Result<Vec<Designator<'a>>, Refusal> {
        let mut path = Vec::new();
        // GNU's old `field: value`.
        if self.tok() == Tok::Ident && self.token(1).tok == Tok::Colon {
            path.push(Designator::Field(self.text()));
            self.advance();
            self.advance();
            return Ok(path);
        }
        self.more_designators(&mut path)?;
        if !path.is_empty() && !self.accept(Tok::Assign(None)) && !matches!(path[0], Designator::Index(..)) {
            return self.unexpected("'='");
        }
        Ok(path)
    }

    /// `.a[1]`, as far as it goes.
    pub(super) fn more_designators(&mut self, path: &mut Vec<Designator<'a>>) -> Result<(), Refusal> {
        loop {
            match self.tok() {
                Tok::Dot | Tok::Arrow => {
                    self.advance();
                    let name = self.expect(Tok::Ident, "name of a member")?;
                    path.push(Designator::Field(self.text_of(name)));
                }
                Tok::LBracket => {
                    self.advance();
                    let index = self.conditional()?;
                    let last = if self.accept(Tok::Ellipsis) { Some(self.conditional()?) } else { None };
                    self.expect(Tok::RBracket, "]")?;
                    path.push(Designator::Index(index, last));
                }
                _ => return Ok(()),
            }
        }
    }
}
