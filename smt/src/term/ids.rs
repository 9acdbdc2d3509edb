// SPDX-License-Identifier: Apache-2.0
//! Ids, sorts and values.

use std::fmt;

use super::array_value::ArrayValue;
use super::semantics;

/// A term of one [`Terms`](super::Terms) store; equal ids are equal terms.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct TermId(pub(super) u32);

impl TermId {
    /// The Boolean constant true, in every store.
    pub const TRUE: TermId = TermId(0);
    /// The Boolean constant false, in every store.
    pub const FALSE: TermId = TermId(1);

    /// The position in the store, for side tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for TermId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

/// An interned symbol: a name, a sort, and for bounded integers an interval.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct SymId(pub(super) u32);

impl SymId {
    /// The position in the symbol table, for side tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for SymId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

/// The sort of a term.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum Sort {
    /// Booleans.
    Bool,
    /// Bit-vectors of a width from 1 to 128.
    Bv(u32),
    /// Mathematical integers; constants are limited to 128 bits.
    Int,
    /// Total maps from bit-vectors to bit-vectors.
    Array {
        /// Width of the indices.
        index: u32,
        /// Width of the elements.
        element: u32,
    },
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Bool => f.write_str("Bool"),
            Sort::Bv(width) => write!(f, "bv{width}"),
            Sort::Int => f.write_str("Int"),
            Sort::Array { index, element } => write!(f, "[bv{index}]bv{element}"),
        }
    }
}

/// A constant of some sort.
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum Value {
    /// A Boolean.
    Bool(bool),
    /// A bit-vector; bits above the width are zero.
    Bv {
        /// Number of bits.
        width: u32,
        /// The bits, read as an unsigned number.
        bits: u128,
    },
    /// An integer.
    Int(i128),
    /// An array.
    Array(ArrayValue),
}

impl Value {
    /// The sort of the value.
    pub fn sort(&self) -> Sort {
        match *self {
            Value::Bool(_) => Sort::Bool,
            Value::Bv { width, .. } => Sort::Bv(width),
            Value::Int(_) => Sort::Int,
            Value::Array(ref a) => Sort::Array { index: a.index_width(), element: a.element_width() },
        }
    }

    /// The Boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match *self {
            Value::Bool(b) => Some(b),
            Value::Bv { .. } | Value::Int(_) | Value::Array(_) => None,
        }
    }

    /// The integer, or the bits read as an unsigned number where that fits.
    pub fn as_unsigned(&self) -> Option<i128> {
        match *self {
            Value::Bool(_) | Value::Array(_) => None,
            Value::Bv { bits, .. } => i128::try_from(bits).ok(),
            Value::Int(v) => Some(v),
        }
    }

    /// The integer, or the bits read in two's complement.
    pub fn as_signed(&self) -> Option<i128> {
        match *self {
            Value::Bool(_) | Value::Array(_) => None,
            Value::Bv { width, bits } => Some(semantics::to_signed(width, bits)),
            Value::Int(v) => Some(v),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Bool(b) => write!(f, "{b}"),
            Value::Bv { width, bits } => write!(f, "{}", semantics::to_signed(width, bits)),
            Value::Int(v) => write!(f, "{v}"),
            Value::Array(ref a) => {
                f.write_str("[")?;
                for (i, v) in a.entries() {
                    write!(f, "{i}: {v}, ")?;
                }
                write!(f, "..: {}]", a.default_element())
            }
        }
    }
}
