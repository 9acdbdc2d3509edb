// SPDX-License-Identifier: Apache-2.0
//! Bodies without braces that the grammar does not know: `switch (x) while (y) { case 1: .. }`, and case labels as branches,
//! `while (y) case 1: x++;`. They get braces.

use crate::text::Edits;

use super::{behind_literal, is_word};

/// Statements within statements deeper than this are left alone.
const MAX_DEPTH: usize = 100;

/// Whether a word begins a statement with another one within.
pub(super) fn has_body(word: &[u8]) -> bool {
    matches!(word, b"switch" | b"if" | b"else" | b"while" | b"do" | b"for")
}

/// Puts braces around bodies of what stands at the given places, in a text whose comments are blank.
pub(super) fn put_braces(base: &[u8], places: &[usize], edits: &mut Edits) {
    for at in places {
        let reader = Reader { base };
        let word = reader.word(*at);
        let behind = at + word.len();
        let body = if matches!(word, b"do" | b"else") { Some(behind) } else { reader.brackets(behind) };
        let Some(start) = body.map(|at| reader.skip_space(at)) else { continue };
        let is_label = matches!(reader.word(start), b"case" | b"default");
        if base.get(start) == Some(&b'{') || (word != b"switch" && !is_label) {
            continue;
        }
        if let Some(end) = reader.statement(start, 0)
            && edits.replace(offset(start), offset(start), "{ ")
        {
            edits.close_brace(offset(end));
        }
    }
}

struct Reader<'b> {
    base: &'b [u8],
}

impl Reader<'_> {
    fn skip_space(&self, at: usize) -> usize {
        at + self.base[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
    }

    fn word(&self, at: usize) -> &[u8] {
        let length = self.base[at..].iter().take_while(|byte| is_word(**byte)).count();
        &self.base[at..at + length]
    }

    /// Behind the brackets that open here.
    fn brackets(&self, at: usize) -> Option<usize> {
        let mut at = self.skip_space(at);
        let mut depth = 0usize;
        loop {
            match *self.base.get(at)? {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
                b'"' | b'\'' => {
                    at = behind_literal(self.base, at)?;
                    continue;
                }
                _ if depth == 0 => return None,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }

    /// Behind the next one of some characters that is in no brackets.
    fn behind(&self, at: usize, wanted: u8) -> Option<usize> {
        let mut at = at;
        loop {
            at = match *self.base.get(at)? {
                byte if byte == wanted => return Some(at + 1),
                b'(' | b'[' | b'{' => self.brackets(at)?,
                b')' | b']' | b'}' => return None,
                b'"' | b'\'' => behind_literal(self.base, at)?,
                _ => at + 1,
            };
        }
    }

    /// Behind the statement that begins here.
    fn statement(&self, at: usize, depth: usize) -> Option<usize> {
        if depth > MAX_DEPTH {
            return None;
        }
        let at = self.skip_space(at);
        let word = self.word(at);
        let behind = at + word.len();
        let next = |at: usize| self.statement(at, depth + 1);
        match word {
            b"" if self.base.get(at) == Some(&b'{') => self.brackets(at),
            b"while" | b"for" | b"switch" => next(self.brackets(behind)?),
            b"if" => {
                let end = next(self.brackets(behind)?)?;
                let other = self.skip_space(end);
                if self.word(other) == b"else" { next(other + "else".len()) } else { Some(end) }
            }
            b"do" => {
                let end = self.skip_space(next(behind)?);
                if self.word(end) != b"while" {
                    return None;
                }
                let end = self.skip_space(self.brackets(end + "while".len())?);
                (self.base.get(end) == Some(&b';')).then_some(end + 1)
            }
            b"case" => next(self.label(behind)?),
            b"" => self.behind(at, b';'),
            _ => {
                let colon = self.skip_space(behind);
                if self.base.get(colon) == Some(&b':') { next(colon + 1) } else { self.behind(at, b';') }
            }
        }
    }

    /// Behind the colon of a case label.
    fn label(&self, at: usize) -> Option<usize> {
        // `case a ? b : c:` has more than one.
        let end = self.behind(at, b':')?;
        (!self.base[at..end].contains(&b'?')).then_some(end)
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("sources are shorter than 4 GiB")
}
