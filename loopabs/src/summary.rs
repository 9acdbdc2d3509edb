// SPDX-License-Identifier: Apache-2.0
//! Summaries: C code in place of a loop, with holes for parts of the original.

use std::collections::BTreeSet;

use crate::strategy::Strategy;

/// How a summary relates to its loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fidelity {
    /// It does whatever the loop may do, and possibly more. Proofs carry over to the loop.
    Over,
    /// It does what the loop does. Proofs and violations carry over.
    Exact,
}

impl Fidelity {
    /// For reports.
    pub fn name(self) -> &'static str {
        match self {
            Fidelity::Over => "over-approximation",
            Fidelity::Exact => "exact",
        }
    }
}

/// A piece of a summary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Piece {
    /// C code; a line break is followed by the indentation of the loop.
    Text(String),
    /// The first clause of a `for` as a statement.
    Init,
    /// The condition, an expression; 1 if there is none.
    Cond,
    /// The last clause of a `for`, an expression.
    Step,
    /// The body, a statement, in which loops are replaced as well.
    Body,
}

/// A function that a summary calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Helper {
    Abort,
    Char,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    LongLong,
    ULongLong,
    Float,
    Double,
}

impl Helper {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Helper::Abort => "abort",
            Helper::Char => "__VERIFIER_nondet_char",
            Helper::UChar => "__VERIFIER_nondet_uchar",
            Helper::Short => "__VERIFIER_nondet_short",
            Helper::UShort => "__VERIFIER_nondet_ushort",
            Helper::Int => "__VERIFIER_nondet_int",
            Helper::UInt => "__VERIFIER_nondet_uint",
            Helper::LongLong => "__VERIFIER_nondet_longlong",
            Helper::ULongLong => "__VERIFIER_nondet_ulonglong",
            Helper::Float => "__VERIFIER_nondet_float",
            Helper::Double => "__VERIFIER_nondet_double",
        }
    }

    /// How C writes what it returns.
    pub(crate) fn returns(self) -> &'static str {
        match self {
            Helper::Abort => "void",
            Helper::Char => "char",
            Helper::UChar => "unsigned char",
            Helper::Short => "short",
            Helper::UShort => "unsigned short",
            Helper::Int => "int",
            Helper::UInt => "unsigned int",
            Helper::LongLong => "long long",
            Helper::ULongLong => "unsigned long long",
            Helper::Float => "float",
            Helper::Double => "double",
        }
    }

    pub(crate) fn declaration(self) -> String {
        format!("extern {} {}(void);", self.returns(), self.name())
    }
}

/// What a strategy puts in place of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    /// The strategy.
    pub strategy: Strategy,
    /// What it is worth.
    pub fidelity: Fidelity,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) helpers: BTreeSet<Helper>,
}

impl Summary {
    pub(crate) fn new(strategy: Strategy, fidelity: Fidelity) -> Self {
        Self { strategy, fidelity, pieces: Vec::new(), helpers: BTreeSet::new() }
    }

    pub(crate) fn text(&mut self, text: impl Into<String>) -> &mut Self {
        self.pieces.push(Piece::Text(text.into()));
        self
    }

    pub(crate) fn piece(&mut self, piece: Piece) -> &mut Self {
        self.pieces.push(piece);
        self
    }

    /// Ends all executions in which the condition holds.
    pub(crate) fn abort_if_condition(&mut self) -> &mut Self {
        self.helpers.insert(Helper::Abort);
        self.text("if (").piece(Piece::Cond).text(") abort();")
    }

    /// Whether the body of the loop is part of it.
    pub fn has_body(&self) -> bool {
        self.pieces.contains(&Piece::Body)
    }
}
