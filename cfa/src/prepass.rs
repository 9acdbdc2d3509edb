// SPDX-License-Identifier: Apache-2.0
//! The token scan before parsing: blanks what tree-sitter-c cannot read and what has no meaning here.
//!
//! Blanked in place, so offsets stay: comments, line markers and pragmas, `__attribute__((..))`, `__extension__`,
//! qualifiers in GNU spelling, `_Complex`, asm labels of declarations, static assertions. Rewritten: `typeof(..)` to `int`, `_Bool`
//! to `bool`, `(T)` to `(int)`, `case 1 ... 5` to `case 1 || 5`; the syntax tree reads the true text in the source. Inserted:
//! an empty statement between a label and `}`, names of unnamed bit-fields, `int` in declarations without a type, `sizeof`
//! around types that are arguments, braces around bodies of `switch` and around case labels that are branches.

mod labels;
mod switches;

use rustc_hash::FxHashSet;

use crate::attributes::LayoutAttribute;
use crate::links::{self, Link};
use crate::text::Edits;

pub(crate) use labels::LocalLabels;

/// What the scan found.
pub(crate) struct Prepass {
    /// The text with the same offsets as the source.
    pub(crate) base: Vec<u8>,
    /// Insertions.
    pub(crate) edits: Edits,
    /// Attributes that change the size or layout of types, by their offsets.
    pub(crate) layout_attributes: Vec<(u32, LayoutAttribute)>,
    /// The limits for the alignment of members that `#pragma pack` sets, in bytes, and where; 0 if it cannot be read.
    pub(crate) packs: Vec<(u32, Option<u64>)>,
    /// Where the `typeof` are that have been rewritten, and where their parentheses open and close.
    pub(crate) typeofs: Vec<(usize, usize, usize)>,
    /// What attributes and labels of declarations say about symbols, and where.
    pub(crate) links: Vec<(u32, Link)>,
    /// Labels that blocks have for themselves.
    pub(crate) labels: Vec<LocalLabels>,
}

/// Why the scan failed: offset, construct, advice.
pub(crate) type Refusal = (u32, String, String);

pub(crate) fn scan(source: &str) -> Result<Prepass, Refusal> {
    let mut scanner = Scanner {
        src: source.as_bytes(),
        base: source.as_bytes().to_vec(),
        edits: Edits::default(),
        layout_attributes: Vec::new(),
        packs: Vec::new(),
        pushed: Vec::new(),
        typeofs: Vec::new(),
        attributes: Vec::new(),
        labels: Vec::new(),
        with_body: Vec::new(),
        typedefs: FxHashSet::default(),
        typedef_at: None,
        at: 0,
        open: Vec::new(),
        before: [Token::Start; 2],
        previous: Token::Start,
    };
    scanner.run()?;
    switches::put_braces(&scanner.base, &scanner.with_body, &mut scanner.edits);
    let Scanner { base, edits, layout_attributes, packs, typeofs, attributes, labels, .. } = scanner;
    let links = links::read(source, &base, &attributes);
    Ok(Prepass { base, edits, layout_attributes, packs, typeofs, links, labels })
}

#[derive(Clone, Copy, PartialEq)]
enum Token {
    /// What stands before a declaration outside of functions.
    Start,
    Word(usize, usize),
    Other(u8, usize),
}

/// A bracket that is open.
#[derive(Clone, Copy)]
struct Open {
    bracket: u8,
    at: usize,
    what: Inside,
}

#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Body,
    Record,
    Other,
}

struct Scanner<'s> {
    src: &'s [u8],
    base: Vec<u8>,
    edits: Edits,
    layout_attributes: Vec<(u32, LayoutAttribute)>,
    packs: Vec<(u32, Option<u64>)>,
    /// The limits before each `push`.
    pushed: Vec<Option<u64>>,
    at: usize,
    typeofs: Vec<(usize, usize, usize)>,
    /// Attributes, labels of declarations and pragmas.
    attributes: Vec<(usize, usize)>,
    labels: Vec<LocalLabels>,
    /// Where statements begin that have others within.
    with_body: Vec<usize>,
    /// The names that plain typedefs have declared so far, anywhere.
    typedefs: FxHashSet<Vec<u8>>,
    /// How many brackets were open at the `typedef` that is being read.
    typedef_at: Option<usize>,
    /// The brackets that are open.
    open: Vec<Open>,
    /// The last tokens: the latest one, and the two before.
    previous: Token,
    before: [Token; 2],
}

fn directive_name(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("")
}

/// Whether a directive, without its `#`, says nothing that matters, or is a pragma or line marker.
pub(crate) fn is_harmless(text: &str) -> bool {
    let name = directive_name(text);
    matches!(name, "line" | "pragma" | "ident" | "sccs") || name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Behind the string or character constant that begins at `start`; none if it does not end in its line.
fn behind_literal(text: &[u8], start: usize) -> Option<usize> {
    let quote = text[start];
    let mut at = start + 1;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'\n' => return None,
            byte if *byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.src.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn blank(&mut self, start: usize, end: usize) {
        for byte in &mut self.base[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }

    fn overwrite(&mut self, start: usize, end: usize, text: &[u8]) {
        self.blank(start, end);
        self.base[start..start + text.len()].copy_from_slice(text);
    }

    fn refuse<T>(at: usize, construct: &str, advice: &str) -> Result<T, Refusal> {
        Err((Self::offset(at), construct.to_owned(), advice.to_owned()))
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
                    if byte >= 0x0b && byte != b'\r' {
                        self.base[self.at] = b' ';
                    }
                    self.at += 1;
                    continue;
                }
                b'\\' if self.peek(1) == b'\n' || (self.peek(1) == b'\r' && self.peek(2) == b'\n') => {
                    self.blank(self.at, self.at + 1);
                    self.at += 1;
                    continue;
                }
                0 => return Self::refuse(self.at, "a zero byte", "this is not a C source text"),
                b'/' if matches!(self.peek(1), b'/' | b'*') => {
                    self.comment()?;
                    continue;
                }
                b'#' if line_start => {
                    self.directive()?;
                    continue;
                }
                b'"' | b'\'' => self.literal(byte)?,
                _ if byte.is_ascii_digit() || (byte == b'.' && self.peek(1).is_ascii_digit()) => self.number(),
                _ if is_word(byte) => self.word()?,
                _ => self.punctuation(byte)?,
            }
            line_start = false;
        }
        match self.open.last() {
            Some(open) => {
                let construct = format!("'{}' is never closed", char::from(open.bracket));
                Self::refuse(open.at, &construct, "is the file complete?")
            }
            None => Ok(()),
        }
    }

    fn comment(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        if self.peek(1) == b'/' {
            while self.at < self.src.len() && self.src[self.at] != b'\n' {
                let continued = self.src[self.at] == b'\\'
                    && (self.peek(1) == b'\n' || (self.peek(1) == b'\r' && self.peek(2) == b'\n'));
                self.at += if !continued {
                    1
                } else if self.peek(1) == b'\n' {
                    2
                } else {
                    3
                };
            }
        } else {
            self.at += 2;
            while !(self.peek(0) == b'*' && self.peek(1) == b'/') {
                if self.at >= self.src.len() {
                    return Self::refuse(start, "a comment that does not end", "is the file complete?");
                }
                self.at += 1;
            }
            self.at += 2;
        }
        self.blank(start, self.at.min(self.src.len()));
        Ok(())
    }

    fn directive(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        let mut end = start;
        while end < self.src.len() && self.src[end] != b'\n' {
            end += if self.src[end] == b'\\' && self.src.get(end + 1) == Some(&b'\n') { 2 } else { 1 };
        }
        let end = end.min(self.src.len());
        let text = String::from_utf8_lossy(&self.src[start + 1..end]);
        let name = directive_name(text.trim_start());
        if !is_harmless(text.trim_start()) {
            return Self::refuse(
                start,
                &format!("the preprocessor directive '#{name}'"),
                "preprocess the program first, for example with 'gcc -E -P'",
            );
        }
        if name == "pragma" {
            self.attributes.push((start, end));
            if text.contains("pack") {
                let text = text.into_owned();
                let limit = self.pack(&text);
                self.packs.push((Self::offset(start), limit));
            }
        }
        self.blank(start, end);
        self.at = end;
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

    fn literal(&mut self, quote: u8) -> Result<(), Refusal> {
        let start = self.at;
        self.at = self.end_of_literal(start, quote)?;
        self.push(Token::Other(quote, start));
        Ok(())
    }

    fn end_of_literal(&self, start: usize, quote: u8) -> Result<usize, Refusal> {
        let what = if quote == b'"' { "a string" } else { "a character constant" };
        let refusal = || Self::refuse(start, &format!("{what} that does not end"), "is the file complete?");
        behind_literal(self.src, start).map_or_else(refusal, Ok)
    }

    fn number(&mut self) {
        let start = self.at;
        while is_word(self.peek(0))
            || self.peek(0) == b'.'
            || (matches!(self.peek(0), b'+' | b'-')
                && matches!(self.src[self.at - 1], b'e' | b'E' | b'p' | b'P')
                && !(self.src[start] == b'0'
                    && matches!(self.src.get(start + 1), Some(b'x' | b'X'))
                    && matches!(self.src[self.at - 1], b'e' | b'E')))
        {
            self.at += 1;
        }
        self.push(Token::Other(b'0', start));
    }

    fn push(&mut self, token: Token) {
        self.before = [self.previous, self.before[0]];
        self.previous = token;
    }

    fn is_word(&self, token: Token, words: &[&[u8]]) -> bool {
        matches!(token, Token::Word(start, end) if words.contains(&&self.src[start..end]))
    }

    fn punctuation(&mut self, byte: u8) -> Result<(), Refusal> {
        let mut token = Token::Other(byte, self.at);
        match byte {
            b'(' | b'[' | b'{' => {
                let what = if byte == b'{' { self.inside() } else { Inside::Other };
                self.open.push(Open { bracket: byte, at: self.at, what });
            }
            b')' | b']' | b'}' => {
                let wanted = match byte {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                let closed = self.open.pop();
                if closed.map(|open| open.bracket) != Some(wanted) {
                    let construct = format!("'{}' without the bracket that it closes", char::from(byte));
                    return Self::refuse(self.at, &construct, "this is not complete C");
                }
                if byte == b')' {
                    self.type_in_parentheses();
                }
                if byte == b'}' && !self.labels.is_empty() {
                    self.block_ends(closed.map_or(0, |open| open.at));
                }
                if self.open.is_empty() && closed.is_some_and(|open| open.what == Inside::Body) {
                    token = Token::Start;
                }
            }
            b';' => {
                self.end_of_typedef();
                if self.open.is_empty() {
                    token = Token::Start;
                }
            }
            b',' => self.typedef_name(),
            b'&' if self.is_label_address() => {
                self.overwrite(self.at, self.at + 2, b"&");
                self.at += 1;
            }
            b':' if self.is_unnamed_bit_field() => {
                let at = Self::offset(self.at);
                self.edits.replace(at, at, " unnamed ");
            }
            b'.' if self.src[self.at..].starts_with(b"...") => {
                if self.open.last().is_some_and(|open| open.bracket == b'{') {
                    // A range of cases; nothing else is written so between braces.
                    self.overwrite(self.at, self.at + 3, b"||");
                }
                self.at += 2;
            }
            b'+' | b'-' | b'*' | b'/' | b'%' | b'=' | b'<' | b'>' | b'!' | b'&' | b'|' | b'^' | b'~' | b'?' | b':'
            | b'.' => {}
            _ => return Self::refuse(self.at, "a character that C does not use here", "this is not C source text"),
        }
        if byte == b'}'
            && let Token::Other(b':', colon) = self.previous
        {
            let at = Self::offset(colon + 1);
            self.edits.replace(at, at, ";");
        }
        self.push(token);
        self.at += 1;
        Ok(())
    }

    /// What the brace is for that opens here.
    fn inside(&self) -> Inside {
        let record: [&[u8]; 2] = [b"struct", b"union"];
        match self.previous {
            Token::Other(b')', _) | Token::Start => Inside::Body,
            word @ Token::Word(..) if self.is_word(word, &record) || self.is_word(self.before[0], &record) => {
                Inside::Record
            }
            _ => Inside::Other,
        }
    }

    /// Whether the colon here is that of a bit-field without a name, which the grammar does not know.
    fn is_unnamed_bit_field(&self) -> bool {
        if self.open.last().is_none_or(|open| open.what != Inside::Record) {
            return false;
        }
        let words: [&[u8]; 10] = [
            b"int",
            b"unsigned",
            b"signed",
            b"__signed__",
            b"long",
            b"short",
            b"char",
            b"_Bool",
            b"const",
            b"volatile",
        ];
        match self.previous {
            Token::Other(b',' | b'}', _) => true,
            word @ Token::Word(..) if self.is_word(word, &words) => true,
            // The only word is the type.
            Token::Word(..) => match self.before[0] {
                Token::Other(b';' | b'{', _) => true,
                before => self.is_word(before, &[b"struct", b"union", b"enum", b"const", b"volatile"]),
            },
            _ => false,
        }
    }

    /// The name before a comma or semicolon of a typedef.
    fn typedef_name(&mut self) {
        if self.typedef_at == Some(self.open.len())
            && let Token::Word(start, end) = self.previous
        {
            self.typedefs.insert(self.src[start..end].to_owned());
        }
    }

    fn end_of_typedef(&mut self) {
        self.typedef_name();
        if self.typedef_at == Some(self.open.len()) {
            self.typedef_at = None;
        }
    }

    /// `(T)` with the name of a type is written as `(int)`, which the parser does not take for an expression. Where the
    /// name is that of something else, the check takes this back.
    fn type_in_parentheses(&mut self) {
        let [Token::Other(b'(', _), before] = self.before else { return };
        let Token::Word(start, end) = self.previous else { return };
        let may_precede = match before {
            Token::Word(..) => self.is_word(before, &[b"sizeof", b"return", b"case"]),
            Token::Other(byte, _) => !matches!(byte, b'"' | b'\'' | b'0'),
            Token::Start => false,
        };
        if may_precede && self.typedefs.contains(&self.src[start..end]) {
            self.edits.replace(Self::offset(start), Self::offset(end), "int");
        }
    }

    fn offset(at: usize) -> u32 {
        u32::try_from(at).expect("checked by the caller")
    }

    /// The end of the parenthesised text that starts behind `from` and blanks, or nothing if there is no parenthesis.
    fn group(&self, from: usize) -> Result<Option<usize>, Refusal> {
        let mut at = from;
        while self.src.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        if self.src.get(at) != Some(&b'(') {
            return Ok(None);
        }
        let mut open = 0u32;
        loop {
            match self.src.get(at) {
                None => return Self::refuse(from, "a parenthesis that is not closed", "is the file complete?"),
                Some(b'(') => open += 1,
                Some(b')') if open == 1 => return Ok(Some(at + 1)),
                Some(b')') => open -= 1,
                Some(quote @ (b'"' | b'\'')) => {
                    at = self.end_of_literal(at, *quote)?;
                    continue;
                }
                Some(_) => {}
            }
            at += 1;
        }
    }

    fn word(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        while is_word(self.peek(0)) {
            self.at += 1;
        }
        let end = self.at;
        let src = self.src;
        match &src[start..end] {
            b"__attribute__" | b"__attribute" => {
                if let Some(close) = self.group(end)? {
                    if let Some(found) = LayoutAttribute::read(&String::from_utf8_lossy(&self.src[end..close])) {
                        self.layout_attributes.push((Self::offset(start), found));
                    }
                    self.blank(start, close);
                    self.attributes.push((start, close));
                    self.at = close;
                }
                return Ok(());
            }
            b"_Alignas" | b"alignas" => {
                if let Some(close) = self.group(end)? {
                    let text = format!("((aligned{}))", String::from_utf8_lossy(&self.src[end..close]));
                    // Types and what else is no number is left to the syntax tree, which refuses it.
                    if let Some(found) = LayoutAttribute::read(&text).filter(|found| !found.other) {
                        self.layout_attributes.push((Self::offset(start), found));
                        self.blank(start, close);
                        self.at = close;
                        return Ok(());
                    }
                }
            }
            b"__extension__" | b"__const" | b"__const__" | b"__volatile" | b"__volatile__" | b"__restrict"
            | b"__restrict__" | b"restrict" | b"_Thread_local" => {
                self.blank(start, end);
                return Ok(());
            }
            // Complex numbers have no representation, like other types that an attribute changes.
            b"_Complex" | b"__complex__" | b"__complex" => {
                let other = LayoutAttribute { other: true, ..LayoutAttribute::default() };
                self.layout_attributes.push((Self::offset(start), other));
                self.blank(start, end);
                return Ok(());
            }
            b"_Noreturn" => {
                self.blank(start, end);
                self.attributes.push((start, end));
                return Ok(());
            }
            b"__signed" | b"__signed__" => self.overwrite(start, end, b"signed"),
            b"_Bool" => self.overwrite(start, end, b"bool"),
            b"__builtin_offsetof" | b"offsetof" if self.names_part_of_member(end)? => {
                self.types_as_arguments(start, end)?;
            }
            b"__builtin_offsetof" => self.overwrite(start, end, b"offsetof"),
            // Values of this type have no representation anyway.
            b"__int128" if self.is_word(self.previous, &[b"unsigned", b"signed", b"__signed__"]) => {
                if let Token::Word(start, end) = self.previous {
                    self.blank(start, end);
                }
            }
            word if switches::has_body(word) => self.with_body.push(start),
            b"goto" => self.computed_goto(start, end),
            b"__label__" => return self.local_labels(start, end),
            b"typedef" => self.typedef_at = Some(self.open.len()),
            b"typeof" | b"__typeof" | b"__typeof__" => {
                if let Some(close) = self.group(end)? {
                    self.typeofs.push((start, end, close));
                    self.overwrite(start, close, b"int");
                    self.at = close;
                }
            }
            b"_Static_assert" => {
                if let Some(mut close) = self.group(end)? {
                    while self.src.get(close).is_some_and(u8::is_ascii_whitespace) {
                        close += 1;
                    }
                    if self.src.get(close) == Some(&b';') {
                        self.blank(start, close + 1);
                        self.at = close + 1;
                        return Ok(());
                    }
                }
            }
            b"__builtin_va_arg" | b"__builtin_types_compatible_p" => self.types_as_arguments(start, end)?,
            b"asm" | b"__asm" | b"__asm__" if self.is_asm_label() => {
                if let Some(close) = self.group(end)? {
                    self.blank(start, close);
                    self.attributes.push((start, close));
                    self.at = close;
                }
                return Ok(());
            }
            b"asm" | b"__asm" | b"__asm__" => {}
            _ if (self.previous == Token::Start && self.is_function_without_type(end)?)
                || self.lacks_type(start, end)? =>
            {
                let at = Self::offset(start);
                self.edits.replace(at, at, "int ");
            }
            _ => {}
        }
        self.push(Token::Word(start, end));
        Ok(())
    }

    /// Whether a name is declared by a storage class or qualifier without a type: `static x = 1;`.
    fn lacks_type(&self, start: usize, end: usize) -> Result<bool, Refusal> {
        let words: [&[u8]; 7] = [b"static", b"const", b"volatile", b"extern", b"register", b"auto", b"inline"];
        let within = self.open.last().is_none_or(|open| open.what == Inside::Body);
        let name = &self.src[start..end];
        if !within || !self.is_word(self.previous, &words) || words.contains(&name) || self.typedefs.contains(name) {
            return Ok(false);
        }
        // Two words at the most, with nothing of a declaration in front of them.
        let first = if self.is_word(self.before[0], &words) { self.before[1] } else { self.before[0] };
        let behind_parameters = matches!(first, Token::Other(b')', _)) && self.open.is_empty();
        if !behind_parameters && !matches!(first, Token::Start | Token::Other(b';' | b'{', _)) {
            return Ok(false);
        }
        let next = self.src[end..].iter().find(|byte| !byte.is_ascii_whitespace());
        Ok(match next {
            Some(b'=' | b';' | b',' | b'[') => true,
            Some(b'(') => self.is_function_without_type(end)?,
            _ => false,
        })
    }

    /// Whether a name outside of functions is that of a function that is defined without a type.
    fn is_function_without_type(&self, end: usize) -> Result<bool, Refusal> {
        let next = self.src[end..].iter().find(|byte| !byte.is_ascii_whitespace());
        if !self.open.is_empty() || next != Some(&b'(') {
            return Ok(false);
        }
        let Some(close) = self.group(end)? else { return Ok(false) };
        let mut next = self.src[close..].iter().skip_while(|byte| byte.is_ascii_whitespace());
        // What follows is the body, or the type of a parameter.
        Ok(next.next().is_some_and(|byte| *byte == b'{' || (is_word(*byte) && *byte != b'_')))
    }

    /// The types among the arguments of a compiler's function.
    fn types_as_arguments(&mut self, start: usize, end: usize) -> Result<(), Refusal> {
        let Some(close) = self.group(end)? else { return Ok(()) };
        let open = end + self.src[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let mut depth = 0u32;
        let mut comma = None;
        for at in open..close {
            match self.src[at] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                b',' if depth == 1 => comma = comma.or(Some(at)),
                _ => {}
            }
        }
        let Some(comma) = comma else { return Ok(()) };
        let mut wrap = |from: usize, to: usize| {
            self.edits.replace(Self::offset(from), Self::offset(from), "sizeof(");
            self.edits.replace(Self::offset(to), Self::offset(to), ")");
        };
        let name = &self.src[start..end];
        if name != b"__builtin_va_arg" {
            wrap(open + 1, comma);
        }
        if !name.ends_with(b"offsetof") {
            wrap(comma + 1, close - 1);
        }
        Ok(())
    }

    /// Whether the member in an `offsetof` is a member of a member or an element, which the grammar does not know.
    fn names_part_of_member(&self, end: usize) -> Result<bool, Refusal> {
        let Some(close) = self.group(end)? else { return Ok(false) };
        let Some(comma) = self.src[end..close].iter().rposition(|byte| *byte == b',') else { return Ok(false) };
        Ok(self.src[end + comma..close].iter().any(|byte| matches!(byte, b'.' | b'[')))
    }

    /// Whether an `asm` here is the label of a declaration and not a statement.
    fn is_asm_label(&self) -> bool {
        match self.previous {
            Token::Word(start, end) => !matches!(&self.src[start..end], b"else" | b"do"),
            Token::Other(b')', _) => self.open.iter().all(|open| open.bracket != b'{'),
            Token::Other(b']', _) => true,
            Token::Other(..) | Token::Start => false,
        }
    }
}
