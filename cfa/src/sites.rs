// SPDX-License-Identifier: Apache-2.0
//! Loop statements as they stand in the text, for whoever writes C for them.
//!
//! A [`LoopSite`] ties a statement to the edges that it was lowered to, and to the names that C code in its place could
//! use. Loops made of `goto` have none.

use std::collections::BTreeSet;

use crate::ids::{EdgeId, FuncId, NodeId, VarId};
use crate::ir::{IntTy, Span};

/// Which statement a loop is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SiteKind {
    /// `while (C) B`
    While,
    /// `do B while (C);`
    DoWhile,
    /// `for (I; C; S) B`
    For,
}

/// The loop statements of a program and the names around them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LoopSites {
    /// The loop statements in the order of their beginning within each function, without those of library functions.
    pub sites: Vec<LoopSite>,
    /// The variables of the files.
    pub variables: Vec<FileVariable>,
    /// The functions that the files declare.
    pub functions: Vec<FileFunction>,
}

/// A loop statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopSite {
    /// Which statement it is.
    pub kind: SiteKind,
    /// The whole statement.
    pub span: Span,
    /// The first clause of a `for`, with its semicolon if it is a declaration.
    pub init: Option<Span>,
    /// The condition; none if a `for` has none.
    pub cond: Option<Span>,
    /// The last clause of a `for`.
    pub step: Option<Span>,
    /// The body.
    pub body: Span,
    /// The function it is in.
    pub func: FuncId,
    /// The loop statement around it, by its position in [`LoopSites::sites`].
    pub parent: Option<usize>,
    /// Where each iteration begins; none if control flow cannot reach the loop.
    pub head: Option<NodeId>,
    /// What it was lowered to, without the first clause of a `for`, ascending.
    pub edges: Vec<EdgeId>,
    /// What its text contains.
    pub syntax: LoopSyntax,
    /// The local variables that can be named where the loop stands, including those that a `for` declares.
    pub locals: Vec<Visible>,
    /// All other names of the function that hide those of the file there.
    pub hidden: BTreeSet<String>,
}

/// What the text of a loop contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LoopSyntax {
    /// Labels, or cases of a `switch` around the loop: somebody may jump into it.
    pub labels: bool,
    /// Objects with static storage.
    pub statics: bool,
    /// A `break` that leaves this loop.
    pub breaks: bool,
    /// A `return` or `goto`.
    pub leaves: bool,
    /// Statements within the condition or the other clauses.
    pub header_statements: bool,
}

impl ScalarType {
    /// The integer type, if it is one.
    pub fn int(self) -> Option<IntTy> {
        match self {
            ScalarType::Int(ty) => Some(ty),
            ScalarType::Bool | ScalarType::Float | ScalarType::Double | ScalarType::Pointer => None,
        }
    }
}

/// A variable with a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Visible {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub storage: VisibleStorage,
    /// Its scalar parts, which together are all of it; none if they cannot be listed or are too many.
    pub parts: Option<Vec<Part>>,
}

/// Where a named variable lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VisibleStorage {
    /// In these variables of the automaton.
    Vars(Vec<VarId>),
    /// At a fixed address.
    Object(u64),
    /// Elsewhere.
    Elsewhere,
}

/// A scalar that C can assign to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// How C writes it: `x`, `s.next`, `a[2]`.
    pub text: String,
    /// Its type.
    pub ty: ScalarType,
}

/// The type of a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScalarType {
    /// `_Bool`
    Bool,
    /// An integer or enumeration.
    Int(IntTy),
    /// `float`
    Float,
    /// `double`
    Double,
    /// A pointer.
    Pointer,
}

/// A function as a file declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileFunction {
    /// The file.
    pub file: u32,
    /// Where its first declaration stands.
    pub declared: u32,
    /// Its name.
    pub name: String,
    /// What it returns, if that is a scalar; `Some(None)` for `void`.
    pub returns: Option<Option<ScalarType>>,
    /// Whether it may be called without arguments.
    pub plain: bool,
    /// Whether the program defines it.
    pub defined: bool,
}

/// A variable of a file: what can be named behind an offset of its text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileVariable {
    /// The file.
    pub file: u32,
    /// Where its first declaration stands.
    pub declared: u32,
    /// The variable.
    pub variable: Visible,
}
