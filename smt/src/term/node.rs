// SPDX-License-Identifier: Apache-2.0
//! The node of a term DAG.

use super::ids::{SymId, TermId};
use super::writes::Writes;

/// Unary bit-vector operators.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum BvUn {
    /// Two's complement negation.
    Neg,
    /// Bitwise complement.
    Not,
}

/// Binary bit-vector operators with a result of the operands' width.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum BvBin {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Unsigned quotient; all ones for a zero divisor.
    Udiv,
    /// Signed quotient, truncating; for a zero divisor 1 if the dividend is negative, else -1.
    Sdiv,
    /// Unsigned remainder; the dividend for a zero divisor.
    Urem,
    /// Signed remainder with the sign of the dividend; the dividend for a zero divisor.
    Srem,
    /// Left shift; zero from the width on.
    Shl,
    /// Logical right shift; zero from the width on.
    Lshr,
    /// Arithmetic right shift; copies of the sign from the width on.
    Ashr,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
}

impl BvBin {
    /// Whether the operands may be swapped.
    pub fn commutes(self) -> bool {
        matches!(self, BvBin::Add | BvBin::Mul | BvBin::And | BvBin::Or | BvBin::Xor)
    }
}

/// Bit-vector comparisons. Nodes carry only `Ule` and `Sle`; the constructor expresses the strict ones by them.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum BvCmp {
    /// Unsigned less than.
    Ult,
    /// Unsigned at most.
    Ule,
    /// Signed less than.
    Slt,
    /// Signed at most.
    Sle,
}

/// Binary floating-point operators, rounding to nearest, ties to even.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum FpBin {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
}

/// Floating-point comparisons; none holds for what is not a number.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum FpCmp {
    /// Equal; the zeros are.
    Eq,
    /// Less than.
    Lt,
    /// At most.
    Le,
}

/// How a number is made integral.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum Rounding {
    /// The nearest one, halves to even.
    NearestEven,
    /// The nearest one, halves away from zero.
    NearestAway,
    /// Towards zero.
    TowardZero,
    /// Towards positive infinity.
    Up,
    /// Towards negative infinity.
    Down,
}

/// Unary floating-point operators and conversions.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum FpUn {
    /// Square root, rounded to nearest.
    Sqrt,
    /// Integral value.
    Round(Rounding),
    /// The number nearest to an integer of any width.
    FromInt {
        /// Whether the operand is read in two's complement.
        signed: bool,
        /// Width of the result, 32 or 64.
        bits: u32,
    },
    /// The integral part as an integer; the bits of the least signed number if it does not fit.
    ToInt {
        /// Whether the result is in two's complement.
        signed: bool,
        /// Width of the result.
        bits: u32,
    },
    /// The nearest number of another format.
    ToFloat {
        /// Width of the result, 32 or 64.
        bits: u32,
    },
}

/// A node. Read it with [`Terms::get`](super::Terms::get); only the constructors of [`Terms`](super::Terms) make nodes.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub enum Term {
    /// True.
    True,
    /// False.
    False,
    /// A bit-vector constant; bits above the width are zero.
    Bv {
        /// Number of bits.
        width: u32,
        /// The bits as an unsigned number.
        bits: u128,
    },
    /// An integer constant.
    Int(i128),
    /// An instance of a symbol. Index 0 is the program variable, other indices are SSA or input instances.
    Var {
        /// The symbol.
        sym: SymId,
        /// The instance.
        index: u32,
    },
    /// Negation; never of a constant or a negation, nor of a small conjunction or disjunction of literals.
    Not(TermId),
    /// Conjunction of at least two operands, sorted and without duplicates.
    And(Box<[TermId]>),
    /// Disjunction of at least two operands, sorted and without duplicates.
    Or(Box<[TermId]>),
    /// If-then-else of any sort; the condition is never a negation.
    Ite(TermId, TermId, TermId),
    /// Equality of two terms of one sort; a constant stands on the right.
    Eq(TermId, TermId),
    /// Unary bit-vector operation.
    BvUn(BvUn, TermId),
    /// Binary bit-vector operation; the constant of a commutative one stands on the right.
    BvBin(BvBin, TermId, TermId),
    /// Bit-vector comparison, `Ule` or `Sle`; a constant stands on the right.
    BvCmp(BvCmp, TermId, TermId),
    /// Bits `hi` down to `lo`.
    Extract {
        /// Highest bit taken.
        hi: u32,
        /// Lowest bit taken.
        lo: u32,
        /// The operand.
        arg: TermId,
    },
    /// Extension by zeros to a width larger than the operand's.
    Zext {
        /// Width of the result.
        width: u32,
        /// The operand.
        arg: TermId,
    },
    /// Extension by copies of the sign to a width larger than the operand's.
    Sext {
        /// Width of the result.
        width: u32,
        /// The operand.
        arg: TermId,
    },
    /// Bit-vectors side by side, the first one highest. Never of neighbouring parts of one term.
    Concat(TermId, TermId),
    /// An array with the same element everywhere.
    ConstArray {
        /// Width of the indices.
        index: u32,
        /// The element.
        element: TermId,
    },
    /// The element of an array at an index.
    Select(TermId, TermId),
    /// An array with other elements at some indices: at `base` plus each offset of `writes`.
    Store {
        /// The array.
        array: TermId,
        /// The index without what is added to it as a constant; 0 for constant indices.
        base: TermId,
        /// Offsets and elements.
        writes: Writes,
    },
    /// Unary floating-point operation or conversion.
    FpUn(FpUn, TermId),
    /// Binary floating-point operation; the operands of a commutative one are ordered.
    FpBin(FpBin, TermId, TermId),
    /// Floating-point comparison.
    FpCmp(FpCmp, TermId, TermId),
    /// Sum of monomials with different bases, ordered by base; a constant comes last.
    IntAdd(Box<[TermId]>),
    /// Monomial; the coefficient is neither 0 nor 1.
    IntMulConst(i128, TermId),
    /// Product of two terms, neither constant. Several factors lean to the left in ascending order.
    IntMul(TermId, TermId),
    /// SMT-LIB `div` by a constant other than zero (the remainder is never negative).
    IntDiv(TermId, i128),
    /// SMT-LIB `mod` by a constant other than zero (never negative).
    IntMod(TermId, i128),
    /// At most. Normally `sum <= constant` with coprime coefficients of which the first is positive.
    IntLe(TermId, TermId),
}

impl Term {
    /// Calls `f` on the operands, left to right.
    pub fn for_each_child(&self, mut f: impl FnMut(TermId)) {
        match *self {
            Term::True | Term::False | Term::Bv { .. } | Term::Int(_) | Term::Var { .. } => {}
            Term::Not(a)
            | Term::BvUn(_, a)
            | Term::Extract { arg: a, .. }
            | Term::Zext { arg: a, .. }
            | Term::Sext { arg: a, .. }
            | Term::IntMulConst(_, a)
            | Term::IntDiv(a, _)
            | Term::IntMod(a, _)
            | Term::ConstArray { element: a, .. }
            | Term::FpUn(_, a) => f(a),
            Term::Eq(a, b)
            | Term::BvBin(_, a, b)
            | Term::BvCmp(_, a, b)
            | Term::IntMul(a, b)
            | Term::IntLe(a, b)
            | Term::Concat(a, b)
            | Term::Select(a, b)
            | Term::FpBin(_, a, b)
            | Term::FpCmp(_, a, b) => {
                f(a);
                f(b);
            }
            Term::Ite(c, a, b) => {
                f(c);
                f(a);
                f(b);
            }
            Term::Store { array, base, ref writes } => {
                f(array);
                f(base);
                writes.for_each(|_, value| f(value));
            }
            Term::And(ref xs) | Term::Or(ref xs) | Term::IntAdd(ref xs) => xs.iter().copied().for_each(f),
        }
    }
}
