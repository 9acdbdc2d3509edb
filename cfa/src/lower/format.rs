// SPDX-License-Identifier: Apache-2.0
//! Functions with formats, such as `printf`: whether a call may store how many characters it has written.

use super::{Lower, Val};
use crate::ast::{Expr, ExprRef};
use crate::library;

/// Functions that read a format, and which argument it is.
const FORMATTED: [(&str, usize); 10] = [
    ("printf", 0),
    ("fprintf", 1),
    ("dprintf", 1),
    ("vprintf", 0),
    ("vfprintf", 1),
    ("wprintf", 0),
    ("syslog", 1),
    ("sprintf", 1),
    ("snprintf", 2),
    ("swprintf", 2),
];

/// Which argument of a function is a format, if one is.
pub(super) fn format_of(name: &str) -> Option<usize> {
    let found = FORMATTED.into_iter().find(|(known, _)| *known == library::plain_name(name));
    found.map(|(_, at)| at)
}

impl Lower<'_> {
    /// Whether a function that gets its format at some place may store a number of characters: the format has `%n`, or it is
    /// not known and an argument behind it is a pointer.
    pub(super) fn may_count(&self, at: usize, args: &[ExprRef], values: &[Val]) -> bool {
        match args.get(at).map(|arg| self.ast().expr(*arg)) {
            None => false,
            // Between the two there can be flags, a width and a length; zeros are the upper halves of wide characters.
            Some(Expr::Str(text)) => text.replace("\\000", "").replace("%%", "").split('%').skip(1).any(|rest| {
                rest.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #'*$.hlqjztL".contains(c)).starts_with('n')
            }),
            Some(_) => args.iter().zip(values).skip(at + 1).any(|(arg, value)| self.may_be_written(*arg, value)),
        }
    }
}
