// SPDX-License-Identifier: Apache-2.0
//! Functions with formats, such as `printf`: whether a call may store how many characters it has written, and what the formats
//! of those that write and those that read have in common.

use super::{Lower, Val};
use crate::ast::{Ast, Expr, ExprRef};
use crate::ir::IntTy;
use crate::types::MachineModel;
use crate::{library, literals};

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

/// The format that an argument is; none if it is no literal.
pub(super) fn literal_format(ast: &Ast<'_>, arg: ExprRef) -> Option<Vec<u8>> {
    let Expr::Str(text) = ast.expr(arg) else { return None };
    let (units, IntTy { bits: 8, .. }) = literals::string(text)? else { return None };
    Some(units.into_iter().map(|unit| unit as u8).take_while(|unit| *unit != 0).collect())
}

/// The size of an integer that a conversion is for, the least one first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Size {
    Char,
    Short,
    Int,
    Long,
    LongLong,
}

impl Size {
    /// The size that the letters in front of a conversion say.
    pub(super) fn of(letters: &[u8]) -> Option<Size> {
        Some(match letters {
            b"hh" => Size::Char,
            b"h" => Size::Short,
            b"" => Size::Int,
            b"l" | b"z" | b"t" => Size::Long,
            b"ll" | b"j" | b"q" => Size::LongLong,
            _ => return None,
        })
    }

    pub(super) fn bits(self, machine: MachineModel) -> u32 {
        match self {
            Size::Char => 8,
            Size::Short => 16,
            Size::Int => 32,
            Size::Long => machine.long_bits(),
            Size::LongLong => 64,
        }
    }
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
