// SPDX-License-Identifier: Apache-2.0
//! The control-flow automaton: a graph of locations whose edges carry side-effect-free operations.
//!
//! Follows the CFA of Wendler, *Software Verification based on Adjustable Large-Block Encoding*, section 2.1, with
//! machine integers in place of unbounded ones. A pointer is an unsigned integer of the machine's pointer width; pointers
//! that the program never looks at are left out. Interprocedural control flow stays implicit: a call is one edge from the
//! call site to the return site; analyses enter the callee's entry and come back from its exit.

use std::sync::Arc;

use crate::ids::{EdgeId, ExprId, FuncId, NodeId, VarId};

/// An integer type of the machine: its width in bits and its signedness. Values are kept in the range of the type, and
/// all arithmetic wraps around (two's complement), also the signed one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct IntTy {
    /// Width in bits: 8, 16, 32 or 64.
    pub bits: u32,
    /// Whether the type is signed.
    pub signed: bool,
}

impl IntTy {
    /// `int` of all supported machine models, and the type of comparisons and logical operators.
    pub const INT: IntTy = IntTy { bits: 32, signed: true };

    /// The least value of the type.
    pub fn min(self) -> i128 {
        if self.signed { -(1i128 << (self.bits - 1)) } else { 0 }
    }

    /// The greatest value of the type.
    pub fn max(self) -> i128 {
        if self.signed { (1i128 << (self.bits - 1)) - 1 } else { (1i128 << self.bits) - 1 }
    }

    /// The value of the type that is congruent to `value` modulo 2^bits.
    pub fn wrap(self, value: i128) -> i128 {
        let modulus = 1i128 << self.bits;
        let low = value.rem_euclid(modulus);
        if self.signed && low > self.max() { low - modulus } else { low }
    }
}

/// A unary operator on integers; operand and result have the same type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnOp {
    /// Two's-complement negation.
    Neg,
    /// Bitwise complement.
    BitNot,
}

/// A binary operator on integers. Operands and result have the same type; for shifts the result has the type of the left
/// operand and the right operand has been converted to that type too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinOp {
    /// Wrapping addition.
    Add,
    /// Wrapping subtraction.
    Sub,
    /// Wrapping multiplication.
    Mul,
    /// Division that truncates towards zero; undefined for a zero divisor.
    Div,
    /// Remainder with the sign of the dividend; undefined for a zero divisor.
    Rem,
    /// Left shift; undefined when the right operand is negative or not below the width.
    Shl,
    /// Right shift, arithmetic for signed types; undefined as for [`BinOp::Shl`].
    Shr,
    /// Bitwise and.
    BitAnd,
    /// Bitwise or.
    BitOr,
    /// Bitwise exclusive or.
    BitXor,
}

/// A comparison of two operands of one type; `>` and `>=` are written with exchanged operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CmpOp {
    /// Equal.
    Eq,
    /// Different.
    Ne,
    /// Less, signed or unsigned as the operands are.
    Lt,
    /// Less or equal, signed or unsigned as the operands are.
    Le,
}

/// The shape of a side-effect-free expression. Logical operators evaluate both operands, which is the same as C's short
/// circuit because the lowering turns operands with side effects into control flow.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ExprKind {
    /// A constant in the range of the expression's type.
    Const(i128),
    /// The value of a variable, of the variable's type.
    Var(VarId),
    /// A unary operator.
    Unary(UnOp, ExprId),
    /// A binary operator.
    Binary(BinOp, ExprId, ExprId),
    /// A comparison, of type `int` with value 0 or 1.
    Cmp(CmpOp, ExprId, ExprId),
    /// Logical negation: 1 when the operand (of any type) is 0, else 0; of type `int`.
    Not(ExprId),
    /// Logical conjunction of two truth values (operands of any type, non-zero is true); of type `int`.
    And(ExprId, ExprId),
    /// Logical disjunction; of type `int`.
    Or(ExprId, ExprId),
    /// The second operand when the first (of any type) is non-zero, else the third; these two have the result's type.
    Ite(ExprId, ExprId, ExprId),
    /// Conversion of an integer to the expression's type, modulo 2^bits.
    Cast(ExprId),
}

/// An expression with its type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: IntTy,
}

/// Where the value of a [`Op::Havoc`] comes from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum HavocOrigin {
    /// A call of a function such as `__VERIFIER_nondet_int`: an input of the program.
    Nondet {
        /// The name of the called function.
        function: Arc<str>,
    },
    /// A variable without initialiser, or a function that ends without returning a value.
    Uninitialised,
}

/// The operation of an edge.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Nothing happens.
    Skip,
    /// The edge can be taken when `cond` is non-zero (`truth`) or zero (not `truth`).
    Assume {
        /// The condition, of any integer type.
        cond: ExprId,
        /// Whether the condition must be non-zero.
        truth: bool,
    },
    /// `var = value`; both have the same type.
    Assign {
        /// The variable that is written.
        var: VarId,
        /// Its new value.
        value: ExprId,
    },
    /// `var` takes any value of its type.
    Havoc {
        /// The variable that is written.
        var: VarId,
        /// Where the value comes from.
        origin: HavocOrigin,
    },
    /// A call of a function with a body: the parameters take the values of `args`, the body runs, and `result` takes the
    /// value of the callee's [`Function::ret`].
    Call {
        /// The called function; it has a body.
        callee: FuncId,
        /// One argument for each parameter, of the parameter's type.
        args: Vec<ExprId>,
        /// The variable that takes the returned value.
        result: Option<VarId>,
    },
    /// A construct that is not supported; whoever reaches this edge cannot say what happens.
    Unsupported {
        /// The construct, for a message: "floating-point arithmetic", "call of 'malloc', which has no body".
        construct: Arc<str>,
    },
}

/// A place in a source file, from `start` to before `end`, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// Position of the source file in [`Program::sources`].
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// Byte behind the last one.
    pub end: u32,
}

/// An edge of the automaton.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where it leaves.
    pub src: NodeId,
    /// Where it arrives.
    pub dst: NodeId,
    /// What happens on the way.
    pub op: Op,
    /// The source text it stands for.
    pub span: Span,
}

/// A location. Its leaving edges are: none, one edge with any operation, or two [`Op::Assume`] edges over the same
/// condition with opposite truth. So all branching is deterministic.
#[derive(Clone, Debug)]
pub struct Node {
    /// The function it belongs to.
    pub func: FuncId,
    /// Position in the reverse post-order of its function: 0 for the entry; every edge that is not a back edge leads to a
    /// greater number.
    pub rpo: u32,
    /// Leaving edges; of two assume edges the one with `truth: true` comes first.
    pub leaving: Vec<EdgeId>,
    /// Arriving edges.
    pub entering: Vec<EdgeId>,
}

/// Who a variable belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scope {
    /// A global variable or a static local one: one instance for the whole run.
    Global,
    /// A parameter, local variable or temporary of a function.
    Local(FuncId),
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// A unique readable name: `g` for a global, `f::x` for a local, `f::x#2` for the second one of that name in `f`,
    /// `f::__tmp3` for a temporary.
    pub name: Arc<str>,
    /// Its type; for a pointer the unsigned integer type of its width.
    pub ty: IntTy,
    /// Who it belongs to.
    pub scope: Scope,
    /// Whether the lowering made it; such a variable has no name in the source.
    pub temporary: bool,
}

/// The body of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Body {
    /// Where a call enters.
    pub entry: NodeId,
    /// Where all `return` statements lead; it has no leaving edges.
    pub exit: NodeId,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name in the source.
    pub name: Arc<str>,
    /// Its parameters that have values in the automaton: integers, and pointers that matter to the program.
    pub params: Vec<VarId>,
    /// The variable that holds the returned value; none for `void`, types without values, and pointers that do not matter.
    pub ret: Option<VarId>,
    /// Its body; none if it is only declared.
    pub body: Option<Body>,
    /// Where it is defined or declared.
    pub span: Span,
}
