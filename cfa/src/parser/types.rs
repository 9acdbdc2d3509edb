// SPDX-License-Identifier: Apache-2.0
//! Declaration specifiers, structures, enumerations, and attributes as far as they matter.

use crate::ast::{Declarator, Field, Storage, TypeName, TypeSpec};
use crate::lexer::{Refusal, Tok};

use super::{Attributes, Parser, Specifiers};

impl<'a> Parser<'a> {
    /// Whether a declaration begins here.
    pub(super) fn starts_declaration(&self, ahead: usize) -> bool {
        let token = self.token(ahead);
        match token.tok {
            Tok::Typedef | Tok::Extern | Tok::Static | Tok::Ignored | Tok::Alignas | Tok::StaticAssert => true,
            Tok::Extension | Tok::Attribute => true,
            _ => self.starts_type(ahead),
        }
    }

    /// Whether a type name begins here.
    pub(super) fn starts_type(&self, ahead: usize) -> bool {
        let token = self.token(ahead);
        match token.tok {
            Tok::TypeWord | Tok::Signed | Tok::Unsigned | Tok::Complex | Tok::Qualifier => true,
            Tok::Struct | Tok::Union | Tok::Enum | Tok::Typeof | Tok::AutoType => true,
            Tok::Attribute => self.starts_type(self.behind_group(ahead + 1)),
            Tok::Extension => self.starts_type(ahead + 1),
            Tok::Ident => self.is_type(self.text_of(token)),
            _ => false,
        }
    }

    /// The position behind a group in parentheses.
    pub(super) fn behind_group(&self, mut ahead: usize) -> usize {
        let mut open = 0u32;
        loop {
            match self.token(ahead).tok {
                Tok::LParen => open += 1,
                Tok::RParen => open = open.saturating_sub(1),
                Tok::Eof => return ahead,
                _ => {}
            }
            ahead += 1;
            if open == 0 {
                return ahead;
            }
        }
    }

    /// Storage class and type; without a type it is `int`.
    pub(super) fn specifiers(&mut self) -> Result<Specifiers<'a>, Refusal> {
        let start = self.start();
        let mut storage = Storage::None;
        let mut attributes = Attributes::default();
        let mut words: Vec<&'a str> = Vec::new();
        let mut spec = None;
        let mut unknown = None;
        loop {
            match self.tok() {
                Tok::Typedef => storage = Storage::Typedef,
                Tok::Extern if storage == Storage::None => storage = Storage::Extern,
                Tok::Static => storage = Storage::Static,
                Tok::Qualifier if self.text() == "_Atomic" && self.token(1).tok == Tok::LParen => {
                    self.advance();
                    self.advance();
                    let name = self.type_name()?;
                    self.expect(Tok::RParen, ")")?;
                    spec = Some(TypeSpec::TypeofType(name.into()));
                    continue;
                }
                Tok::Extern | Tok::Ignored | Tok::Qualifier | Tok::Extension => {}
                Tok::Alignas => {
                    self.advance();
                    self.skip_group()?;
                    attributes.aligned = true;
                    continue;
                }
                Tok::Attribute => {
                    attributes = attributes.and(self.attributes()?);
                    continue;
                }
                Tok::LBracket if self.token(1).tok == Tok::LBracket && self.start() == start => {
                    self.skip_group()?;
                    continue;
                }
                Tok::TypeWord | Tok::Unsigned => words.push(self.text()),
                Tok::Signed => words.push("signed"),
                Tok::Complex => unknown = Some("complex number"),
                Tok::Struct | Tok::Union => {
                    spec = Some(self.record()?);
                    continue;
                }
                Tok::Enum => {
                    spec = Some(self.enumeration()?);
                    continue;
                }
                Tok::Typeof => {
                    self.advance();
                    self.expect(Tok::LParen, "(")?;
                    spec = Some(if self.starts_type(0) {
                        TypeSpec::TypeofType(self.type_name()?.into())
                    } else {
                        TypeSpec::Typeof(self.expression()?)
                    });
                    self.expect(Tok::RParen, ")")?;
                    continue;
                }
                Tok::AutoType => unknown = Some("value of a deduced type"),
                Tok::Ident if self.text() == "__int128" => unknown = Some("128-bit integer"),
                Tok::Ident if spec.is_none() && words.is_empty() && unknown.is_none() && self.is_type(self.text()) => {
                    spec = Some(TypeSpec::Name(self.text()));
                }
                _ => break,
            }
            self.advance();
        }
        let spec = match (unknown, spec) {
            (Some(what), _) => TypeSpec::Unknown(what),
            (None, Some(_)) if !words.is_empty() => return self.refuse(start, "a type of several types", "rewrite it"),
            (None, Some(spec)) => spec,
            (None, None) if words.is_empty() => {
                let token = self.token(0);
                let follows = self.token(1).tok;
                if token.tok == Tok::Ident && matches!(follows, Tok::Ident | Tok::Op(crate::ast::Binary::Mul)) {
                    return self.no_type(token);
                }
                TypeSpec::Words(vec!["int"])
            }
            (None, None) => TypeSpec::Words(words),
        };
        Ok(Specifiers { storage, spec, attributes })
    }

    /// Attributes, if there are some.
    pub(super) fn attributes(&mut self) -> Result<Attributes<'a>, Refusal> {
        let mut found = Attributes::default();
        while self.tok() == Tok::Attribute {
            self.advance();
            let first = self.at;
            self.skip_group()?;
            for at in first..self.at {
                match self.text_of(self.tokens[at]).trim_matches('_') {
                    "packed" => found.packed = true,
                    "vector_size" | "transparent_union" | "scalar_storage_order" => found.layout = true,
                    "aligned" | "warn_if_not_aligned" => found.aligned = true,
                    "mode" => found.mode = self.tokens.get(at + 2).map(|token| self.text_of(*token).trim_matches('_')),
                    _ => {}
                }
            }
        }
        Ok(found)
    }

    fn record(&mut self) -> Result<TypeSpec<'a>, Refusal> {
        let start = self.start();
        let union = self.advance().tok == Tok::Union;
        let mut attributes = self.attributes()?;
        let tag = (self.tok() == Tok::Ident).then(|| self.text());
        if tag.is_some() {
            self.advance();
        }
        attributes = attributes.and(self.attributes()?);
        if self.tok() != Tok::LBrace {
            if tag.is_none() {
                return self.unexpected("a tag or '{'");
            }
            return Ok(TypeSpec::Record { union, tag, fields: None, pack: None });
        }
        self.advance();
        self.enter()?;
        let mut fields = Vec::new();
        while !self.accept(Tok::RBrace) {
            match self.tok() {
                Tok::Semi => {
                    self.advance();
                }
                Tok::StaticAssert => self.static_assert()?,
                _ if self.starts_declaration(0) => fields.push(self.field()?),
                Tok::Ident => return self.no_type(self.token(0)),
                _ => return self.unexpected("a member"),
            }
        }
        self.leave();
        attributes = attributes.and(self.attributes()?);
        let position = self.packs.partition_point(|(at, _)| *at < start);
        let mut pack = position.checked_sub(1).and_then(|position| self.packs[position].1);
        if attributes.packed {
            pack = Some(1);
        }
        if pack == Some(0) || attributes.layout || attributes.aligned {
            for field in &mut fields {
                field.plain = false;
            }
        }
        Ok(TypeSpec::Record { union, tag, fields: Some(fields), pack })
    }

    fn field(&mut self) -> Result<Field<'a>, Refusal> {
        let specifiers = self.specifiers()?;
        let mut attributes = specifiers.attributes;
        let mut declarators = Vec::new();
        while self.tok() != Tok::Semi {
            let declarator = if self.tok() == Tok::Colon { Declarator::Abstract } else { self.declarator()? };
            let width = if self.accept(Tok::Colon) { Some(self.conditional()?) } else { None };
            attributes = attributes.and(self.attributes()?);
            declarators.push((declarator, width));
            if !self.accept(Tok::Comma) {
                break;
            }
        }
        self.expect(Tok::Semi, ";")?;
        let plain = !attributes.layout && !attributes.aligned && !attributes.packed;
        let specifiers =
            Specifiers { attributes: Attributes { mode: attributes.mode, ..Attributes::default() }, ..specifiers };
        Ok(Field { spec: specifiers.finish(false), declarators, plain })
    }

    fn enumeration(&mut self) -> Result<TypeSpec<'a>, Refusal> {
        self.advance();
        self.attributes()?;
        let tag = (self.tok() == Tok::Ident).then(|| self.text());
        if tag.is_some() {
            self.advance();
        }
        if self.tok() == Tok::Colon && self.starts_type(1) {
            return self.refuse(self.start(), "an enumeration with an underlying type", "rewrite it");
        }
        if !self.accept(Tok::LBrace) {
            if tag.is_none() {
                return self.unexpected("a tag or '{'");
            }
            return Ok(TypeSpec::Enum { tag, items: None });
        }
        let mut items = Vec::new();
        while !self.accept(Tok::RBrace) {
            let name = self.expect(Tok::Ident, "name")?;
            let name = self.text_of(name);
            self.attributes()?;
            let value = if self.accept(Tok::Assign(None)) { Some(self.conditional()?) } else { None };
            self.declare(name, false);
            items.push((name, value));
            if !self.accept(Tok::Comma) && self.tok() != Tok::RBrace {
                return self.unexpected("',' or '}'");
            }
        }
        let attributes = self.attributes()?;
        if attributes.layout {
            return Ok(TypeSpec::Unknown("enumeration with an attribute that changes it"));
        }
        Ok(TypeSpec::Enum { tag, items: Some(items) })
    }

    /// A type name as in a cast.
    pub(super) fn type_name(&mut self) -> Result<TypeName<'a>, Refusal> {
        let start = self.start();
        let specifiers = self.specifiers()?;
        let declarator = self.declarator()?;
        if let Some((_, range)) = declarator.name() {
            return self.refuse(range.0, "a name in the name of a type", "remove it");
        }
        let range = self.since(start);
        Ok(TypeName { spec: specifiers.finish(false), declarator, range })
    }
}

impl<'a> Attributes<'a> {
    pub(super) fn and(self, other: Self) -> Self {
        Attributes {
            layout: self.layout || other.layout,
            packed: self.packed || other.packed,
            aligned: self.aligned || other.aligned,
            mode: self.mode.or(other.mode),
        }
    }
}

impl<'a> Specifiers<'a> {
    /// The type with its attributes; the alignment matters only for a type that gets a name.
    pub(super) fn finish(self, named: bool) -> TypeSpec<'a> {
        let Specifiers { spec, attributes, .. } = self;
        let spec = match attributes.mode {
            Some(mode) => with_mode(&spec, mode),
            None => spec,
        };
        match spec {
            // `packed` belongs to structures and members and does nothing elsewhere.
            spec if !(attributes.layout || (attributes.aligned && named)) => spec,
            TypeSpec::Record { union, tag, fields: Some(mut fields), pack } => {
                for field in &mut fields {
                    field.plain = false;
                }
                TypeSpec::Record { union, tag, fields: Some(fields), pack }
            }
            _ => TypeSpec::Unknown("type with an attribute that changes it"),
        }
    }
}

/// An integer type of a machine mode, which says its width.
fn with_mode<'a>(spec: &TypeSpec<'a>, mode: &str) -> TypeSpec<'a> {
    let TypeSpec::Words(words) = spec else { return TypeSpec::Unknown("type with an attribute that changes it") };
    let sign = if words.contains(&"unsigned") { "unsigned" } else { "signed" };
    let integer = !words.iter().any(|word| matches!(*word, "void" | "float" | "double" | "_Bool"));
    match mode {
        "QI" | "byte" if integer => TypeSpec::Words(vec![sign, "char"]),
        "HI" if integer => TypeSpec::Words(vec![sign, "short"]),
        "SI" if integer => TypeSpec::Words(vec![sign, "int"]),
        "DI" if integer => TypeSpec::Words(vec![sign, "long", "long"]),
        "word" | "pointer" | "unwind_word" if integer => TypeSpec::Words(vec![sign, "long"]),
        "SF" if words.contains(&"float") => TypeSpec::Words(vec!["float"]),
        "DF" if words.contains(&"float") => TypeSpec::Words(vec!["double"]),
        _ => TypeSpec::Unknown("type with an attribute that changes it"),
    }
}
