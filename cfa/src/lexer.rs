// SPDX-License-Identifier: Apache-2.0
//! Tokens of preprocessed C, C11 6.4, with GNU's spellings of keywords. Comments, line markers and pragmas are skipped.
//!
//! Trigraphs are not read, and a backslash before the end of a line does not continue a token.

use crate::ast::Binary;

/// Why a text is refused: offset, construct, advice.
pub(crate) type Refusal = (u32, String, String);

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tok {
    Ident,
    Number,
    Char,
    Str,
    // Keywords; spellings with underscores are the same.
    /// `void`, `char`, `short`, `int`, `long`, `float`, `double`, `_Bool`.
    TypeWord,
    Signed,
    Unsigned,
    Complex,
    Struct,
    Union,
    Enum,
    Typeof,
    AutoType,
    Typedef,
    Extern,
    Static,
    /// `auto`, `register`, `inline`, `_Noreturn`, `_Thread_local`: no difference here.
    Ignored,
    Qualifier,
    Alignas,
    Alignof,
    Attribute,
    Asm,
    Extension,
    Sizeof,
    StaticAssert,
    Generic,
    LocalLabel,
    If,
    Else,
    While,
    Do,
    For,
    Switch,
    Case,
    Default,
    Goto,
    Break,
    Continue,
    Return,
    // Punctuation.
    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    Semi,
    Comma,
    Dot,
    Arrow,
    Ellipsis,
    Inc,
    Dec,
    Tilde,
    Bang,
    Question,
    Colon,
    /// `=`, `+=`, ...
    Assign(Option<Binary>),
    /// An operator that can stand between two operands.
    Op(Binary),
    Eof,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// The tokens of a text.
pub(crate) struct Tokens {
    /// The last one is [`Tok::Eof`].
    pub(crate) list: Vec<Token>,
    /// The limits for the alignment of members that `#pragma pack` sets, in bytes, and where; 0 if it cannot be read.
    pub(crate) packs: Vec<(u32, Option<u64>)>,
}

/// Splits a text into tokens; its brackets fit to each other.
pub(crate) fn scan(source: &str) -> Result<Tokens, Refusal> {
    let list = Vec::with_capacity(source.len() / 4);
    let mut scanner =
        Scanner { src: source.as_bytes(), at: 0, list, packs: Vec::new(), pushed: Vec::new(), open: Vec::new() };
    scanner.run()?;
    Ok(Tokens { list: scanner.list, packs: scanner.packs })
}

struct Scanner<'s> {
    src: &'s [u8],
    at: usize,
    list: Vec<Token>,
    packs: Vec<(u32, Option<u64>)>,
    /// The limits before each `push`.
    pushed: Vec<Option<u64>>,
    /// The brackets that are open, with their offsets.
    open: Vec<(Tok, u32)>,
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("sources are shorter than 4 GiB")
}

fn refuse<T>(at: usize, construct: &str, advice: &str) -> Result<T, Refusal> {
    Err((offset(at), construct.to_owned(), advice.to_owned()))
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.src.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn run(&mut self) -> Result<(), Refusal> {
        let mut line_start = true;
        while self.at < self.src.len() {
            let byte = self.src[self.at];
            match byte {
                b'\n' => {
                    line_start = true;
                    self.at += 1;
                    continue;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                    self.at += 1;
                    continue;
                }
                b'\\' if self.continues_line(self.at) > 0 => {
                    self.at += self.continues_line(self.at);
                    continue;
                }
                0 => return refuse(self.at, "a zero byte", "this is not a C source text"),
                b'/' if matches!(self.peek(1), b'/' | b'*') => {
                    self.comment()?;
                    continue;
                }
                b'#' if line_start => {
                    self.directive()?;
                    continue;
                }
                b'"' | b'\'' => self.literal(self.at, byte)?,
                _ if byte.is_ascii_digit() || (byte == b'.' && self.peek(1).is_ascii_digit()) => self.number(),
                _ if is_word(byte) => self.word()?,
                _ => self.punctuation()?,
            }
            line_start = false;
        }
        if let Some((bracket, at)) = self.open.last() {
            let text = match bracket {
                Tok::LParen => "'('",
                Tok::LBracket => "'['",
                _ => "'{'",
            };
            return refuse(*at as usize, &format!("{text} is never closed"), "is the file complete?");
        }
        self.push(Tok::Eof, self.at);
        Ok(())
    }

    fn push(&mut self, tok: Tok, start: usize) {
        self.list.push(Token { tok, start: offset(start), end: offset(self.at) });
    }

    /// The length of a backslash with the end of line behind it, 0 if there is none.
    fn continues_line(&self, at: usize) -> usize {
        match &self.src[at..] {
            [b'\\', b'\n', ..] => 2,
            [b'\\', b'\r', b'\n', ..] => 3,
            _ => 0,
        }
    }

    fn comment(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        if self.peek(1) == b'/' {
            while self.at < self.src.len() && self.src[self.at] != b'\n' {
                self.at += self.continues_line(self.at).max(1);
            }
            return Ok(());
        }
        self.at += 2;
        while !(self.peek(0) == b'*' && self.peek(1) == b'/') {
            if self.at >= self.src.len() {
                return refuse(start, "a comment that does not end", "is the file complete?");
            }
            self.at += 1;
        }
        self.at += 2;
        Ok(())
    }

    fn directive(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        while self.at < self.src.len() && self.src[self.at] != b'\n' {
            self.at += self.continues_line(self.at).max(1);
        }
        let text = String::from_utf8_lossy(&self.src[start + 1..self.at]);
        let name = text.trim_start().split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
        let harmless = matches!(name, "line" | "pragma" | "ident" | "sccs") || name.bytes().all(|b| b.is_ascii_digit());
        if !harmless {
            let construct = format!("the preprocessor directive '#{name}'");
            return refuse(start, &construct, "preprocess the program first, for example with 'gcc -E -P'");
        }
        if name == "pragma" && text.contains("pack") {
            let text = text.into_owned();
            let limit = self.pack(&text);
            self.packs.push((offset(start), limit));
        }
        Ok(())
    }

    /// The limit after a `#pragma pack`.
    fn pack(&mut self, text: &str) -> Option<u64> {
        let unreadable = Some(0);
        let now = self.packs.last().and_then(|(_, limit)| *limit);
        let Some((_, inside)) = text.split_once("pack") else { return unreadable };
        let Some(inside) = inside.trim().strip_prefix('(').and_then(|rest| rest.split(')').next()) else {
            return unreadable;
        };
        let mut limit = now;
        for word in inside.split(',').map(str::trim) {
            limit = match (word, word.parse::<u64>()) {
                ("", _) => None,
                ("push", _) => {
                    self.pushed.push(now);
                    limit
                }
                ("pop", _) => self.pushed.pop().unwrap_or(None),
                (_, Ok(number)) => Some(number),
                _ => return unreadable,
            };
        }
        limit
    }

    /// A string or character constant whose quote is at the current place; a prefix may begin at `start`.
    fn literal(&mut self, start: usize, quote: u8) -> Result<(), Refusal> {
        let (tok, what) = match quote {
            b'"' => (Tok::Str, "a string"),
            _ => (Tok::Char, "a character constant"),
        };
        self.at += 1;
        loop {
            match self.src.get(self.at) {
                Some(b'\\') => self.at += 2,
                Some(byte) if *byte == quote => break,
                Some(b'\n') | None => {
                    return refuse(start, &format!("{what} that does not end"), "is the file complete?");
                }
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        self.push(tok, start);
        Ok(())
    }

    fn number(&mut self) {
        let start = self.at;
        let hex = self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X');
        loop {
            let exponent = |byte| matches!(byte, b'p' | b'P') || (!hex && matches!(byte, b'e' | b'E'));
            let next = self.peek(0);
            let sign = matches!(next, b'+' | b'-') && self.at > start && exponent(self.src[self.at - 1]);
            // A range of case labels may stand without blanks.
            let range = next == b'.' && self.peek(1) == b'.';
            if range || !(is_word(next) || next == b'.' || sign) {
                break;
            }
            self.at += 1;
        }
        self.push(Tok::Number, start);
    }

    fn word(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        while is_word(self.peek(0)) {
            self.at += 1;
        }
        let text = &self.src[start..self.at];
        let quote = self.peek(0);
        if matches!(quote, b'"' | b'\'') && matches!(text, b"L" | b"u" | b"U" | b"u8") {
            return self.literal(start, quote);
        }
        self.push(keyword(text), start);
        Ok(())
    }

    fn punctuation(&mut self) -> Result<(), Refusal> {
        use Binary::{Add, And, BitAnd, BitOr, BitXor, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Or, Rem, Shl, Shr, Sub};
        let start = self.at;
        let (tok, length) = match [self.peek(0), self.peek(1), self.peek(2)] {
            [b'.', b'.', b'.'] => (Tok::Ellipsis, 3),
            [b'<', b'<', b'='] => (Tok::Assign(Some(Shl)), 3),
            [b'>', b'>', b'='] => (Tok::Assign(Some(Shr)), 3),
            [b'<', b'<', _] => (Tok::Op(Shl), 2),
            [b'>', b'>', _] => (Tok::Op(Shr), 2),
            [b'<', b'=', _] => (Tok::Op(Le), 2),
            [b'>', b'=', _] => (Tok::Op(Ge), 2),
            [b'=', b'=', _] => (Tok::Op(Eq), 2),
            [b'!', b'=', _] => (Tok::Op(Ne), 2),
            [b'&', b'&', _] => (Tok::Op(And), 2),
            [b'|', b'|', _] => (Tok::Op(Or), 2),
            [b'+', b'+', _] => (Tok::Inc, 2),
            [b'-', b'-', _] => (Tok::Dec, 2),
            [b'-', b'>', _] => (Tok::Arrow, 2),
            [b'+', b'=', _] => (Tok::Assign(Some(Add)), 2),
            [b'-', b'=', _] => (Tok::Assign(Some(Sub)), 2),
            [b'*', b'=', _] => (Tok::Assign(Some(Mul)), 2),
            [b'/', b'=', _] => (Tok::Assign(Some(Div)), 2),
            [b'%', b'=', _] => (Tok::Assign(Some(Rem)), 2),
            [b'&', b'=', _] => (Tok::Assign(Some(BitAnd)), 2),
            [b'|', b'=', _] => (Tok::Assign(Some(BitOr)), 2),
            [b'^', b'=', _] => (Tok::Assign(Some(BitXor)), 2),
            // Other spellings of brackets.
            [b'<', b'%', _] => (Tok::LBrace, 2),
            [b'%', b'>', _] => (Tok::RBrace, 2),
            [b'<', b':', _] => (Tok::LBracket, 2),
            [b':', b'>', _] => (Tok::RBracket, 2),
            [byte, ..] => {
                let tok = match byte {
                    b'(' => Tok::LParen,
                    b')' => Tok::RParen,
                    b'[' => Tok::LBracket,
                    b']' => Tok::RBracket,
                    b'{' => Tok::LBrace,
                    b'}' => Tok::RBrace,
                    b';' => Tok::Semi,
                    b',' => Tok::Comma,
                    b'.' => Tok::Dot,
                    b'~' => Tok::Tilde,
                    b'!' => Tok::Bang,
                    b'?' => Tok::Question,
                    b':' => Tok::Colon,
                    b'=' => Tok::Assign(None),
                    b'<' => Tok::Op(Lt),
                    b'>' => Tok::Op(Gt),
                    b'+' => Tok::Op(Add),
                    b'-' => Tok::Op(Sub),
                    b'*' => Tok::Op(Mul),
                    b'/' => Tok::Op(Div),
                    b'%' => Tok::Op(Rem),
                    b'&' => Tok::Op(BitAnd),
                    b'|' => Tok::Op(BitOr),
                    b'^' => Tok::Op(BitXor),
                    _ => {
                        return refuse(start, "a character that C does not use here", "this is not C source text");
                    }
                };
                (tok, 1)
            }
        };
        self.at += length;
        self.push(tok, start);
        self.bracket(tok, start)
    }

    fn bracket(&mut self, tok: Tok, at: usize) -> Result<(), Refusal> {
        let opening = match tok {
            Tok::LParen | Tok::LBracket | Tok::LBrace => {
                self.open.push((tok, offset(at)));
                return Ok(());
            }
            Tok::RParen => Tok::LParen,
            Tok::RBracket => Tok::LBracket,
            Tok::RBrace => Tok::LBrace,
            _ => return Ok(()),
        };
        if self.open.pop().map(|(bracket, _)| bracket) != Some(opening) {
            let construct = format!("'{}' without the bracket that it closes", char::from(self.src[at]));
            return refuse(at, &construct, "this is not complete C");
        }
        Ok(())
    }
}

fn keyword(text: &[u8]) -> Tok {
    // No keyword begins otherwise, and most words are none.
    if !matches!(text[0], b'_' | b'a'..=b'w') {
        return Tok::Ident;
    }
    match text {
        b"void" | b"char" | b"short" | b"int" | b"long" | b"float" | b"double" | b"_Bool" => Tok::TypeWord,
        b"signed" | b"__signed" | b"__signed__" => Tok::Signed,
        b"unsigned" => Tok::Unsigned,
        b"_Complex" | b"__complex" | b"__complex__" => Tok::Complex,
        b"struct" => Tok::Struct,
        b"union" => Tok::Union,
        b"enum" => Tok::Enum,
        b"typeof" | b"__typeof" | b"__typeof__" => Tok::Typeof,
        b"__auto_type" => Tok::AutoType,
        b"typedef" => Tok::Typedef,
        b"extern" => Tok::Extern,
        b"static" => Tok::Static,
        b"auto" | b"register" | b"inline" | b"__inline" | b"__inline__" | b"_Noreturn" | b"_Thread_local"
        | b"__thread" => Tok::Ignored,
        b"const" | b"__const" | b"__const__" | b"volatile" | b"__volatile" | b"__volatile__" | b"restrict"
        | b"__restrict" | b"__restrict__" | b"_Atomic" => Tok::Qualifier,
        b"_Alignas" => Tok::Alignas,
        b"_Alignof" | b"__alignof" | b"__alignof__" => Tok::Alignof,
        b"__attribute__" | b"__attribute" => Tok::Attribute,
        b"asm" | b"__asm" | b"__asm__" => Tok::Asm,
        b"__extension__" => Tok::Extension,
        b"sizeof" => Tok::Sizeof,
        b"_Static_assert" | b"static_assert" => Tok::StaticAssert,
        b"_Generic" => Tok::Generic,
        b"__label__" => Tok::LocalLabel,
        b"if" => Tok::If,
        b"else" => Tok::Else,
        b"while" => Tok::While,
        b"do" => Tok::Do,
        b"for" => Tok::For,
        b"switch" => Tok::Switch,
        b"case" => Tok::Case,
        b"default" => Tok::Default,
        b"goto" => Tok::Goto,
        b"break" => Tok::Break,
        b"continue" => Tok::Continue,
        b"return" => Tok::Return,
        _ => Tok::Ident,
    }
}
