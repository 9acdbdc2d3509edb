// SPDX-License-Identifier: Apache-2.0
//! A recursive-descent parser for preprocessed C, C11 with GNU's extensions, that knows which names are types where.
//!
//! What has a place in the control flow but no meaning here (inline assembly, computed jumps, nested functions) becomes a
//! statement or expression that says so; a text is refused only if it cannot be read. Chains of binary operators, `else if`
//! and commas are read without recursion; the depth of everything else is bounded.

mod decl;
mod expr;
mod stmt;
mod types;

use rustc_hash::FxHashMap;

use crate::ast::{Ast, Decl, Declarator, Expr, ExprRef, Item, Param, Range, Stmt, StmtRef, Storage, TypeSpec};
use crate::lexer::{self, Refusal, Tok, Token};

/// How deep constructs may be nested; a bound for the recursion of parser and lowering.
const NESTING_LIMIT: u32 = 1000;

/// Type names that the compiler knows without a declaration, and those of common headers: a text that uses them without
/// declaring them means these.
const KNOWN_TYPES: [&str; 33] = [
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
    "_Decimal32",
    "_Decimal64",
    "_Decimal128",
    "__fp16",
    "bool",
    "size_t",
    "ssize_t",
    "ptrdiff_t",
    "intptr_t",
    "uintptr_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "char8_t",
    "char16_t",
    "char32_t",
];

/// Reads a file.
pub(crate) fn parse(source: &str) -> Result<Ast<'_>, Refusal> {
    let tokens = lexer::scan(source)?;
    let known = KNOWN_TYPES.iter().map(|name| (*name, true)).collect();
    let mut parser = Parser {
        source,
        tokens: tokens.list,
        at: 0,
        ast: Ast::default(),
        scopes: vec![known, FxHashMap::default()],
        depth: 0,
        packs: tokens.packs,
    };
    while parser.tok() != Tok::Eof {
        parser.item()?;
    }
    Ok(parser.ast)
}

struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    at: usize,
    ast: Ast<'a>,
    /// For each scope the names declared in it, and whether they are names of types.
    scopes: Vec<FxHashMap<&'a str, bool>>,
    depth: u32,
    packs: Vec<(u32, Option<u64>)>,
}

impl<'a> Parser<'a> {
    fn token(&self, ahead: usize) -> Token {
        // The last token ends the text.
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn tok(&self) -> Tok {
        self.tokens[self.at].tok
    }

    fn text_of(&self, token: Token) -> &'a str {
        &self.source[token.start as usize..token.end as usize]
    }

    fn text(&self) -> &'a str {
        self.text_of(self.token(0))
    }

    /// The offset of the next token.
    fn start(&self) -> u32 {
        self.tokens[self.at].start
    }

    /// From `start` to the end of the last token.
    fn since(&self, start: u32) -> Range {
        let end = self.at.checked_sub(1).map_or(0, |at| self.tokens[at].end);
        (start, end.max(start))
    }

    fn advance(&mut self) -> Token {
        let token = self.tokens[self.at];
        if token.tok != Tok::Eof {
            self.at += 1;
        }
        token
    }

    fn accept(&mut self, tok: Tok) -> bool {
        let there = self.tok() == tok;
        if there {
            self.advance();
        }
        there
    }

    fn expect(&mut self, tok: Tok, text: &str) -> Result<Token, Refusal> {
        if self.tok() == tok { Ok(self.advance()) } else { self.unexpected(&format!("'{text}'")) }
    }

    fn refuse<T>(&self, at: u32, construct: impl Into<String>, advice: &str) -> Result<T, Refusal> {
        Err((at, construct.into(), advice.to_owned()))
    }

    /// A syntax error at the next token.
    fn unexpected<T>(&self, expected: &str) -> Result<T, Refusal> {
        let advice = "the text must be complete, preprocessed C";
        if self.tok() == Tok::Eof {
            return self.refuse(self.start(), format!("the text ends where {expected} is expected"), advice);
        }
        let near: String = self.text().chars().take(40).collect();
        self.refuse(self.start(), format!("syntax error at '{near}', where {expected} is expected"), advice)
    }

    fn no_type<T>(&self, token: Token) -> Result<T, Refusal> {
        let construct = format!("'{}' is not the name of a type", self.text_of(token));
        self.refuse(token.start, construct, "declare it, or pass the preprocessed program")
    }

    /// One level deeper; [`Parser::leave`] goes back.
    fn enter(&mut self) -> Result<(), Refusal> {
        self.depth += 1;
        if self.depth > NESTING_LIMIT {
            let construct = format!("code nested more than {NESTING_LIMIT} levels deep");
            return self.refuse(self.start(), construct, "split the expression or statement");
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Skips a group in brackets.
    fn skip_group(&mut self) -> Result<(), Refusal> {
        let mut open = 0u32;
        loop {
            match self.tok() {
                Tok::LParen | Tok::LBracket | Tok::LBrace => open += 1,
                Tok::RParen | Tok::RBracket | Tok::RBrace => open = open.saturating_sub(1),
                Tok::Eof => return self.unexpected("')'"),
                _ => {}
            }
            self.advance();
            if open == 0 {
                return Ok(());
            }
        }
    }

    fn declare(&mut self, name: &'a str, is_type: bool) {
        self.scopes.last_mut().expect("there is a scope").insert(name, is_type);
    }

    fn is_type(&self, name: &str) -> bool {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied().unwrap_or(false)
    }

    fn is_declared(&self, name: &str) -> bool {
        self.scopes[1..].iter().any(|scope| scope.contains_key(name))
    }

    fn push_expr(&mut self, expr: Expr<'a>, range: Range) -> ExprRef {
        self.ast.exprs.push((expr, range));
        ExprRef(u32::try_from(self.ast.exprs.len() - 1).expect("fewer expressions than bytes"))
    }

    fn push_stmt(&mut self, stmt: Stmt<'a>, range: Range) -> StmtRef {
        self.ast.stmts.push((stmt, range));
        StmtRef(u32::try_from(self.ast.stmts.len() - 1).expect("fewer statements than bytes"))
    }

    /// What stands outside of functions.
    fn item(&mut self) -> Result<(), Refusal> {
        match self.tok() {
            Tok::Semi => {
                self.advance();
                return Ok(());
            }
            Tok::LBracket if self.token(1).tok == Tok::LBracket => {}
            // It can define functions, which have no body then.
            Tok::Asm => {
                self.advance();
                while self.accept(Tok::Qualifier) {}
                self.skip_group()?;
                self.expect(Tok::Semi, ";")?;
                return Ok(());
            }
            Tok::StaticAssert => return self.static_assert(),
            Tok::Extern if self.token(1).tok == Tok::Str => {
                return self.refuse(self.start(), "a linkage specification", "this is C++");
            }
            Tok::Ident if self.text() == "_Pragma" => {
                self.advance();
                return self.skip_group();
            }
            Tok::Ident if !self.starts_declaration(0) => {
                let follows = self.token(1).tok;
                if follows == Tok::Comma || follows == Tok::Colon || matches!(follows, Tok::Assign(_)) {
                    return self.refuse(self.start(), "a statement outside of a function", "is a brace missing?");
                }
                if follows != Tok::LParen {
                    return self.no_type(self.token(0));
                }
            }
            // Without a type it is `int`.
            Tok::Op(crate::ast::Binary::Mul) | Tok::LParen => {}
            _ if !self.starts_declaration(0) => {
                return self.refuse(self.start(), "a statement outside of a function", "is a brace missing?");
            }
            _ => {}
        }
        let start = self.start();
        let specifiers = self.specifiers()?;
        if self.accept(Tok::Semi) {
            let decl = Decl { storage: specifiers.storage, spec: specifiers.finish(false), items: Vec::new() };
            self.ast.items.push(Item::Decl(decl));
            return Ok(());
        }
        let first_start = self.start();
        let mut first = self.declarator()?;
        if let Some(params) = params_of(&mut first)
            && (self.tok() == Tok::LBrace || self.starts_declaration(0) || self.tok() == Tok::Attribute)
            && self.is_definition()
        {
            let old_style = self.tok() != Tok::LBrace;
            let mut known = std::mem::take(params);
            let (name, _) = first.name().unwrap_or(("", (0, 0)));
            self.declare(name, false);
            self.scopes.push(FxHashMap::default());
            if old_style {
                self.old_parameters(&mut known)?;
            }
            for param in &known {
                if let Some((name, _)) = param.declarator.name() {
                    self.declare(name, false);
                }
            }
            *params_of(&mut first).expect("found above") = known;
            let body = self.block()?;
            self.scopes.pop();
            let range = self.since(start);
            let (storage, spec) = (specifiers.storage, specifiers.finish(false));
            self.ast.items.push(Item::Function { storage, spec, declarator: first, body, range });
            return Ok(());
        }
        let decl = self.declaration(specifiers, Some((first, first_start)))?;
        self.ast.items.push(Item::Decl(decl));
        Ok(())
    }

    /// Whether a block follows, after attributes and the declarations of parameters in the old style.
    fn is_definition(&self) -> bool {
        let mut ahead = 0;
        let mut open = 0u32;
        loop {
            match self.token(ahead).tok {
                Tok::LBrace if open == 0 => {
                    // Not the members of a structure.
                    let before = self.token(ahead.saturating_sub(1)).tok;
                    let two_before = self.token(ahead.saturating_sub(2)).tok;
                    let record = |tok| matches!(tok, Tok::Struct | Tok::Union | Tok::Enum);
                    return ahead == 0 || !(record(before) || (before == Tok::Ident && record(two_before)));
                }
                Tok::LParen | Tok::LBracket | Tok::LBrace => open += 1,
                Tok::RParen | Tok::RBracket | Tok::RBrace => open = open.saturating_sub(1),
                Tok::Assign(_) | Tok::Eof if open == 0 => return false,
                // Not behind a declaration of parameters, but behind this one.
                Tok::Semi if open == 0 && (ahead == 0 || !self.parameters_follow(ahead)) => return false,
                Tok::Eof => return false,
                _ => {}
            }
            ahead += 1;
        }
    }

    /// Whether the text up to the semicolon at `end` declares parameters, as only a type can begin it.
    fn parameters_follow(&self, end: usize) -> bool {
        let first = self.token(0).tok;
        first != Tok::Attribute && self.starts_declaration(0) && {
            let next = self.token(end + 1).tok;
            next == Tok::LBrace || self.starts_declaration(end + 1)
        }
    }

    /// The declarations of parameters in the old style, up to the body.
    fn old_parameters(&mut self, params: &mut [Param<'a>]) -> Result<(), Refusal> {
        while self.tok() != Tok::LBrace {
            if self.tok() == Tok::Attribute {
                self.attributes()?;
                continue;
            }
            let specifiers = self.specifiers()?;
            let decl = self.declaration(specifiers, None)?;
            for (declarator, _, (start, _)) in decl.items {
                let name = declarator.name().map(|(name, _)| name);
                match params.iter_mut().find(|param| param.declarator.name().map(|(name, _)| name) == name) {
                    Some(param) => *param = Param { spec: decl.spec.clone(), declarator },
                    None => return self.refuse(start, "a declaration of something that is no parameter", "remove it"),
                }
            }
        }
        Ok(())
    }

    fn static_assert(&mut self) -> Result<(), Refusal> {
        self.advance();
        self.skip_group()?;
        self.accept(Tok::Semi);
        Ok(())
    }
}

/// The parameters of the function that a declarator declares.
fn params_of<'d, 'a>(declarator: &'d mut Declarator<'a>) -> Option<&'d mut Vec<Param<'a>>> {
    match declarator {
        Declarator::Function(inner, params, _) => match inner.as_ref() {
            Declarator::Name(..) => Some(params),
            _ => params_of(inner),
        },
        Declarator::Pointer(inner) | Declarator::Array(inner, _) => params_of(inner),
        Declarator::Name(..) | Declarator::Abstract => None,
    }
}

/// Storage class and type of a declaration, before its declarators.
struct Specifiers<'a> {
    storage: Storage,
    spec: TypeSpec<'a>,
    attributes: Attributes<'a>,
}

/// What attributes say that matters.
#[derive(Clone, Copy, Default)]
struct Attributes<'a> {
    /// Something that changes the size or layout of types.
    layout: bool,
    packed: bool,
    aligned: bool,
    /// The machine mode, such as `SI`.
    mode: Option<&'a str>,
}
