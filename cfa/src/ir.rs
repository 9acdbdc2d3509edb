// SPDX-License-Identifier: Apache-2.0
//! The control-flow automaton: a graph of locations whose edges carry side-effect-free operations.
//!
//! Follows the CFA of Wendler, *Software Verification based on Adjustable Large-Block Encoding*, section 2.1, with
//! machine integers in place of unbounded ones. A pointer is an unsigned integer of the machine's pointer width, an address
//! in one flat memory that only loads and stores touch. A
//! floating-point number is the integer of its bits. Interprocedural control flow stays implicit: a call is one edge from the
//! call site to the return site; analyses enter the callee's entry and come back from its exit.

use std::sync::Arc;

use crate::ids::{EdgeId, ExprId, FuncId, NodeId, RegionId, VarId};

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

    /// A C type with this width and signedness in all supported machine models.
    pub fn c_name(self) -> &'static str {
        match (self.bits, self.signed) {
            (8, true) => "signed char",
            (8, false) => "unsigned char",
            (16, true) => "short",
            (16, false) => "unsigned short",
            (32, true) => "int",
            (32, false) => "unsigned int",
            (_, true) => "long long",
            (_, false) => "unsigned long long",
        }
    }

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
        // Extends the low bits, by the sign or by zeros; a division by 2^bits would be much slower.
        let unused = i128::BITS - self.bits;
        let high = value << unused;
        if self.signed { high >> unused } else { (high.cast_unsigned() >> unused).cast_signed() }
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

impl CmpOp {
    /// The comparison that holds where this one has the given truth value.
    pub fn holding(self, left: ExprId, right: ExprId, truth: bool) -> (CmpOp, ExprId, ExprId) {
        match (self, truth) {
            (_, true) => (self, left, right),
            (CmpOp::Eq, false) => (CmpOp::Ne, left, right),
            (CmpOp::Ne, false) => (CmpOp::Eq, left, right),
            (CmpOp::Lt, false) => (CmpOp::Le, right, left),
            (CmpOp::Le, false) => (CmpOp::Lt, right, left),
        }
    }
}

/// A floating-point format of IEEE 754. A value of such a type is held as its bits in an unsigned integer of the same
/// width, so that memory, unions and pointer casts see nothing special in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FloatTy {
    /// binary32, `float`.
    F32,
    /// binary64, `double`.
    F64,
}

impl FloatTy {
    /// The integer type of the bits.
    pub fn bits(self) -> IntTy {
        IntTy { bits: if self == FloatTy::F32 { 32 } else { 64 }, signed: false }
    }

    /// The other format.
    pub fn other(self) -> FloatTy {
        if self == FloatTy::F32 { FloatTy::F64 } else { FloatTy::F32 }
    }
}

/// A binary operator on floating-point numbers, rounding to nearest, ties to even. A result that is not a number is the
/// canonical one: quiet, positive, without payload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
}

/// A function on floating-point numbers with an exactly defined result; canonical as for [`FloatOp`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FloatFn {
    /// Square root, rounded to nearest.
    Sqrt,
    /// The greatest integral value that is not above the argument.
    Floor,
    /// The least integral value that is not below the argument.
    Ceil,
    /// The integral part.
    Trunc,
    /// The nearest integral value, halves away from zero.
    Round,
    /// The nearest integral value, halves to even.
    RoundEven,
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
    /// A floating-point operator on the bits of two numbers; the result's bits.
    Float(FloatOp, FloatTy, ExprId, ExprId),
    /// A floating-point function on the bits of a number; the result's bits.
    FloatFn(FloatFn, FloatTy, ExprId),
    /// A floating-point comparison by [`CmpOp::Eq`], [`CmpOp::Lt`] or [`CmpOp::Le`], of type `int` with value 0 or 1; 0 if
    /// an operand is not a number.
    FloatCmp(CmpOp, FloatTy, ExprId, ExprId),
    /// The bits of the floating-point number nearest to an integer, which is signed or not as the operand's type is.
    FloatFromInt(FloatTy, ExprId),
    /// The integral part of a floating-point number of the given format as a value of the expression's type; undefined if
    /// it is not a value of that type.
    FloatToInt(FloatTy, ExprId),
    /// The bits of a number of the given format in the other format, rounded to nearest.
    FloatToFloat(FloatTy, ExprId),
}

impl ExprKind {
    /// Whether the operation is one on floating-point numbers.
    pub fn is_float(&self) -> bool {
        matches!(
            self,
            ExprKind::Float(..)
                | ExprKind::FloatFn(..)
                | ExprKind::FloatCmp(..)
                | ExprKind::FloatFromInt(..)
                | ExprKind::FloatToInt(..)
                | ExprKind::FloatToFloat(..)
        )
    }
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
    /// A value that is determined, but not modelled, such as a sine, or that somebody else chooses, such as the order in
    /// which the compiler evaluates operands. Any value covers it, so proofs hold; an execution with one need not exist, so a
    /// counterexample must not depend on it.
    Unmodelled {
        /// What the value is: "result of 'sin'".
        what: Arc<str>,
    },
    /// The bits of a floating-point result that is not a number, which IEEE 754 leaves open: like what is not modelled, but a
    /// counterexample may hold for all processors.
    NanBits,
}

impl HavocOrigin {
    /// What the value stands for if it is not modelled.
    pub fn unmodelled(&self) -> Option<&str> {
        match self {
            HavocOrigin::Nondet { .. } | HavocOrigin::Uninitialised => None,
            HavocOrigin::Unmodelled { what } => Some(what),
            HavocOrigin::NanBits => Some("bits of a result that is not a number"),
        }
    }
}

/// What a new object is made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AllocKind {
    /// `malloc` and its relatives.
    Heap,
    /// The array `argv` of `main`: pointers that are not null, with a null pointer behind them.
    Arguments,
    /// A local variable, `alloca`.
    Stack,
    /// An array of variable length. Its size is the product of lengths and the size of an element in the integers, not modulo
    /// anything: there is no execution in which it is none of the machine's `size_t`.
    VariableLength,
}

/// A part of memory, such as a member of all structures of a list: no byte is accessed through two regions, unless that is
/// undefined in C anyway. Found by a points-to analysis (`memory`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// The width in bits and alignment of all accesses, if it is the same for all; such a region is an array of cells, any
    /// other one of bytes.
    pub width: Option<u32>,
    /// Whether all its objects begin as zeros (static storage, `calloc`), so that it is all zero before the first store.
    pub zeroed: bool,
    /// The addresses of the objects with fixed addresses that may lie in it, also partly.
    pub objects: Vec<u64>,
    /// Whether objects that are made while the program runs may lie in it, or anything else.
    pub others: bool,
}

/// An object in memory with a fixed address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// A unique readable name, as that of a variable; of a string literal its text.
    pub name: Arc<str>,
    /// Its address.
    pub addr: u64,
    /// Number of bytes; 0 for functions, which have addresses but no contents.
    pub size: u64,
    /// Who it belongs to.
    pub scope: Scope,
    /// The part of memory that it belongs to; the first one, if its members belong to several.
    pub region: RegionId,
    /// Whether the program must not write to it.
    pub constant: bool,
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
    /// `var` takes the value of its type whose bytes are stored from `addr` on, in little-endian order.
    Load {
        /// The variable that is written.
        var: VarId,
        /// The address, of the machine's pointer type.
        addr: ExprId,
        /// The part of memory that the access stays in.
        region: RegionId,
    },
    /// The bytes from `addr` on become those of `value`, in little-endian order.
    Store {
        /// The address, of the machine's pointer type.
        addr: ExprId,
        /// The value; its type gives the number of bytes.
        value: ExprId,
        /// The part of memory that the access stays in.
        region: RegionId,
    },
    /// `var` takes the address of a new object that overlaps no other one, dead or alive. The address is a multiple of 16
    /// and not 0, the contents are arbitrary.
    Alloc {
        /// The variable that takes the address; of the machine's pointer type.
        var: VarId,
        /// The number of bytes, of the machine's `size_t`.
        size: ExprId,
        /// What asks for the object.
        kind: AllocKind,
        /// The part of memory that the object belongs to; the first one, if its members belong to several.
        region: RegionId,
    },
    /// The object at the address ends to live; nothing happens if the address is 0. Undefined for other addresses.
    Free {
        /// The address, of the machine's pointer type.
        addr: ExprId,
    },
    /// The bytes of an object become 0. There is one such operation for each region of the object.
    Zero {
        /// The address, of the machine's pointer type.
        addr: ExprId,
        /// The number of bytes, of the machine's `size_t`.
        size: ExprId,
        /// The part of memory whose bytes in that range become 0.
        region: RegionId,
    },
    /// A construct that is not supported; whoever reaches this edge cannot say what happens.
    Unsupported {
        /// The construct, for a message: "floating-point arithmetic", "call of 'malloc', which has no body".
        construct: Arc<str>,
    },
}

impl Op {
    /// The expressions that the operation evaluates.
    pub fn operands(&self) -> Vec<ExprId> {
        match self {
            Op::Skip | Op::Havoc { .. } | Op::Unsupported { .. } => Vec::new(),
            Op::Assume { cond: expr, .. }
            | Op::Assign { value: expr, .. }
            | Op::Load { addr: expr, .. }
            | Op::Alloc { size: expr, .. }
            | Op::Free { addr: expr } => vec![*expr],
            Op::Store { addr: one, value: other, .. } | Op::Zero { addr: one, size: other, .. } => vec![*one, *other],
            Op::Call { args, .. } => args.clone(),
        }
    }

    /// The variable that it gives a value.
    pub fn written(&self) -> Option<VarId> {
        match self {
            Op::Assign { var, .. } | Op::Havoc { var, .. } | Op::Load { var, .. } | Op::Alloc { var, .. } => Some(*var),
            Op::Call { result, .. } => *result,
            Op::Skip | Op::Assume { .. } | Op::Unsupported { .. } => None,
            Op::Store { .. } | Op::Zero { .. } | Op::Free { .. } => None,
        }
    }

    /// The operands to be replaced by others of the same types.
    pub(crate) fn operands_mut(&mut self) -> Vec<&mut ExprId> {
        match self {
            Op::Skip | Op::Havoc { .. } | Op::Unsupported { .. } => Vec::new(),
            Op::Assume { cond: expr, .. }
            | Op::Assign { value: expr, .. }
            | Op::Load { addr: expr, .. }
            | Op::Alloc { size: expr, .. }
            | Op::Free { addr: expr } => vec![expr],
            Op::Store { addr: one, value: other, .. } | Op::Zero { addr: one, size: other, .. } => vec![one, other],
            Op::Call { args, .. } => args.iter_mut().collect(),
        }
    }
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
    /// The format, if it holds the bits of a floating-point number.
    pub float: Option<FloatTy>,
    /// Who it belongs to.
    pub scope: Scope,
    /// Whether the lowering made it; such a variable has no name in the source.
    pub temporary: bool,
    /// Whether it holds what a function of truth values returned: the program sees only whether it is 0.
    pub truth: bool,
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
    /// Its parameters; a structure is passed by its parts.
    pub params: Vec<VarId>,
    /// The variable that holds the returned value; none for `void` and types without values. A structure is returned by
    /// the parts of a global variable.
    pub ret: Option<VarId>,
    /// Its body; none if it is only declared.
    pub body: Option<Body>,
    /// Where it is defined or declared.
    pub span: Span,
}
