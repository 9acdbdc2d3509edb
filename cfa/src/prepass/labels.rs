// SPDX-License-Identifier: Apache-2.0
//! GNU's labels as values and labels of blocks: `goto *p;` is written as `return p;`, `&&label` as `& label`, and `__label__ a;`
//! is blanked and noted.

use super::{Refusal, Scanner, Token, is_word};

/// Names of labels that a block has for itself, and where it starts and ends.
#[derive(Clone, Debug)]
pub(crate) struct LocalLabels {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) names: Vec<String>,
}

impl Scanner<'_> {
    /// What stands behind blanks and comments, which have been blanked up to here only.
    fn next_byte(&self, from: usize) -> Option<(usize, u8)> {
        let at = from + self.src[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        Some((at, *self.src.get(at)?))
    }

    /// `goto` in front of a value: the two tokens become `return`.
    pub(super) fn computed_goto(&mut self, start: usize, end: usize) {
        if let Some((star, b'*')) = self.next_byte(end) {
            self.edits.replace(Self::offset(start), Self::offset(star + 1), "return ");
            self.at = star + 1;
        }
    }

    /// `&&` in front of a name where an operand is expected.
    pub(super) fn is_label_address(&self) -> bool {
        let expected = match self.previous {
            Token::Other(byte, _) => b"(,={?:[;&|!".contains(&byte),
            word @ Token::Word(..) => self.is_word(word, &[b"return", b"goto", b"case"]),
            Token::Start => false,
        };
        let name = self.next_byte(self.at + 2).is_some_and(|(_, byte)| is_word(byte) && !byte.is_ascii_digit());
        self.peek(1) == b'&' && expected && name
    }

    /// `__label__ a, b;`
    pub(super) fn local_labels(&mut self, start: usize, end: usize) -> Result<(), Refusal> {
        let Some(length) = self.src[end..].iter().position(|byte| *byte == b';') else {
            return Self::refuse(start, "labels of a block that do not end", "is the file complete?");
        };
        let text = String::from_utf8_lossy(&self.src[end..end + length]).into_owned();
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        let plain = names.iter().all(|name| !name.is_empty() && name.bytes().all(is_word));
        let Some(open) = self.open.last().filter(|open| open.bracket == b'{' && plain) else {
            return Self::refuse(start, "labels of a block in an unexpected place", "this is not standard C");
        };
        self.labels.push(LocalLabels { start: Self::offset(open.at), end: u32::MAX, names });
        self.blank(start, end + length + 1);
        self.at = end + length + 1;
        Ok(())
    }

    /// A block ends here that began somewhere.
    pub(super) fn block_ends(&mut self, open: usize) {
        let (start, end) = (Self::offset(open), Self::offset(self.at));
        self.labels.iter_mut().filter(|labels| labels.start == start).for_each(|labels| labels.end = end);
    }
}
