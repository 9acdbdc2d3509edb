// SPDX-License-Identifier: Apache-2.0
//! The syntax tree of a C file, in arenas. Parentheses are gone, number tokens have no sign, else-if chains and comma
//! lists are flat, and names are slices of the source.

use crate::attributes::LayoutAttribute;
use crate::links::Link;

/// Position of an expression in [`Ast::exprs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ExprRef(pub(crate) u32);

/// Position of a statement in [`Ast::stmts`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StmtRef(pub(crate) u32);

/// Start and end in the source.
pub(crate) type Range = (u32, u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unary {
    Plus,
    Neg,
    BitNot,
    Not,
    Deref,
    AddrOf,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    BitAnd,
    BitOr,
    BitXor,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

#[derive(Clone, Debug)]
pub(crate) enum Expr<'a> {
    /// A number without sign.
    Number(&'a str),
    Char(&'a str),
    Str(&'a str),
    Ident(&'a str),
    Unary(Unary, ExprRef),
    /// `++` or `--`.
    Update {
        increment: bool,
        prefix: bool,
        target: ExprRef,
    },
    Binary(Binary, ExprRef, ExprRef),
    Assign(Option<Binary>, ExprRef, ExprRef),
    /// `c ? a : b`; without `a` it is GNU's `c ?: b`.
    Cond(ExprRef, Option<ExprRef>, ExprRef),
    Comma(Vec<ExprRef>),
    Call(ExprRef, Vec<ExprRef>),
    Cast(Box<TypeName<'a>>, ExprRef),
    SizeofValue(ExprRef),
    SizeofType(Box<TypeName<'a>>),
    AlignofType(Box<TypeName<'a>>),
    Index(ExprRef, ExprRef),
    /// `offsetof(T, a.b[1])`: the type and the designator of the member.
    Offsetof(Box<TypeName<'a>>, Vec<Designator<'a>>),
    Member {
        object: ExprRef,
        field: &'a str,
        arrow: bool,
    },
    /// `&&label`.
    LabelAddress(LabelName<'a>),
    /// A GNU statement expression.
    Block(Vec<StmtRef>),
    /// An initialiser in braces.
    Init(Vec<InitItem<'a>>),
    /// `(T){..}`.
    Compound(Box<TypeName<'a>>, ExprRef),
    Other(&'static str),
}

/// One initialiser of a list, for the part that its designators name.
#[derive(Clone, Debug)]
pub(crate) struct InitItem<'a> {
    pub(crate) path: Vec<Designator<'a>>,
    pub(crate) value: ExprRef,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Designator<'a> {
    Field(&'a str),
    /// `[a]`, or GNU's `[a ... b]`.
    Index(ExprRef, Option<ExprRef>),
}

/// A type name as in a cast.
#[derive(Clone, Debug)]
pub(crate) struct TypeName<'a> {
    pub(crate) spec: TypeSpec<'a>,
    pub(crate) declarator: Declarator<'a>,
    pub(crate) range: Range,
}

#[derive(Clone, Debug)]
pub(crate) enum TypeSpec<'a> {
    /// Keywords such as `unsigned long`, in source order.
    Words(Vec<&'a str>),
    /// A typedef name, or one that the language or the compiler knows.
    Name(&'a str),
    Record {
        union: bool,
        tag: Option<&'a str>,
        fields: Option<Vec<Field<'a>>>,
        /// The greatest alignment of a member in bytes, if it is limited.
        pack: Option<u64>,
        /// The least alignment of the whole in bytes that an attribute asks for.
        align: Option<u64>,
    },
    /// A type whose attribute says how wide or how aligned its values are.
    Attributed(Box<TypeSpec<'a>>, LayoutAttribute),
    Enum {
        tag: Option<&'a str>,
        items: Option<Vec<(&'a str, Option<ExprRef>)>>,
        /// Whether no attribute changes the type.
        plain: bool,
    },
    /// `typeof` of an expression, which is not evaluated.
    TypeofValue(ExprRef),
    /// `typeof` of a type.
    TypeofType(Box<TypeName<'a>>),
    /// A type whose size or layout is not known here.
    Unknown(&'static str),
}

#[derive(Clone, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) spec: TypeSpec<'a>,
    /// Declarators with the widths of bit-fields; a field without one is an anonymous record.
    pub(crate) declarators: Vec<(Declarator<'a>, Option<ExprRef>)>,
    /// What attributes say about the members, which are as many as declarators, or one.
    pub(crate) attributes: Vec<LayoutAttribute>,
    /// Whether no attribute changes its layout.
    pub(crate) plain: bool,
}

impl Field<'_> {
    /// Whether an attribute asks for an alignment of a member.
    pub(crate) fn is_aligned(&self) -> bool {
        self.attributes.iter().any(|attribute| attribute.aligned.is_some())
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Declarator<'a> {
    Name(&'a str, Range),
    Abstract,
    Pointer(Box<Declarator<'a>>),
    Array(Box<Declarator<'a>>, Option<ExprRef>),
    Function(Box<Declarator<'a>>, Vec<Param<'a>>, bool),
}

impl<'a> Declarator<'a> {
    /// The declared name.
    pub(crate) fn name(&self) -> Option<(&'a str, Range)> {
        match self {
            Declarator::Name(name, range) => Some((name, *range)),
            Declarator::Abstract => None,
            Declarator::Pointer(inner) | Declarator::Array(inner, _) | Declarator::Function(inner, ..) => inner.name(),
        }
    }

    /// Whether some array in it has a length.
    pub(crate) fn has_length(&self) -> bool {
        match self {
            Declarator::Name(..) | Declarator::Abstract => false,
            Declarator::Array(_, Some(_)) => true,
            Declarator::Pointer(inner) | Declarator::Array(inner, None) | Declarator::Function(inner, ..) => {
                inner.has_length()
            }
        }
    }

    /// Whether a function is declared, and not a pointer to one or an array.
    pub(crate) fn is_function(&self) -> bool {
        match self {
            Declarator::Name(..) | Declarator::Abstract => false,
            Declarator::Function(inner, ..) if matches!(**inner, Declarator::Name(..)) => true,
            Declarator::Pointer(inner) | Declarator::Array(inner, _) | Declarator::Function(inner, ..) => {
                inner.is_function()
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Param<'a> {
    pub(crate) spec: TypeSpec<'a>,
    pub(crate) declarator: Declarator<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Storage {
    None,
    Static,
    Extern,
    Typedef,
}

#[derive(Clone, Debug)]
pub(crate) struct Decl<'a> {
    pub(crate) storage: Storage,
    pub(crate) spec: TypeSpec<'a>,
    /// Declarators with their initialisers.
    pub(crate) items: Vec<(Declarator<'a>, Option<ExprRef>, Range)>,
}

/// The constant of a case label; of a range `a ... b` both ends.
pub(crate) type CaseLabel = (ExprRef, Option<ExprRef>);

/// A label, and where the block starts that has it for itself; 0 if it is one of the whole function.
pub(crate) type LabelName<'a> = (&'a str, u32);

#[derive(Clone, Debug)]
pub(crate) enum Stmt<'a> {
    Empty,
    Expr(ExprRef),
    Decl(Box<Decl<'a>>),
    Block(Vec<StmtRef>),
    /// The arms of an else-if chain and the last `else`.
    If(Vec<(ExprRef, StmtRef)>, Option<StmtRef>),
    While(ExprRef, StmtRef),
    DoWhile(StmtRef, ExprRef),
    For {
        init: Option<StmtRef>,
        cond: Option<ExprRef>,
        step: Option<ExprRef>,
        body: StmtRef,
    },
    Switch(ExprRef, StmtRef),
    /// `case k:` or `default:` with the statements up to the next label.
    Case(Option<CaseLabel>, Vec<StmtRef>),
    Labeled(LabelName<'a>, StmtRef),
    Goto(LabelName<'a>),
    /// `goto *p;`
    GotoValue(ExprRef),
    Break,
    Continue,
    Return(Option<ExprRef>),
    Unsupported(&'static str),
}

#[derive(Clone, Debug)]
pub(crate) enum Item<'a> {
    Decl(Decl<'a>),
    Function { storage: Storage, spec: TypeSpec<'a>, declarator: Declarator<'a>, body: StmtRef, range: Range },
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Ast<'a> {
    pub(crate) exprs: Vec<(Expr<'a>, Range)>,
    pub(crate) stmts: Vec<(Stmt<'a>, Range)>,
    pub(crate) items: Vec<Item<'a>>,
    /// What attributes and labels say about symbols, and where.
    pub(crate) links: Vec<(u32, Link)>,
}

impl<'a> Ast<'a> {
    pub(crate) fn expr(&self, at: ExprRef) -> &Expr<'a> {
        &self.exprs[at.0 as usize].0
    }

    /// The calls of functions by their names, with their arguments.
    pub(crate) fn calls_by_name(&self) -> impl Iterator<Item = (&'a str, &[ExprRef])> {
        self.exprs.iter().filter_map(|(expr, _)| match expr {
            Expr::Call(callee, args) => match self.expr(*callee) {
                Expr::Ident(name) => Some((*name, &args[..])),
                _ => None,
            },
            _ => None,
        })
    }

    pub(crate) fn expr_range(&self, at: ExprRef) -> Range {
        self.exprs[at.0 as usize].1
    }

    pub(crate) fn stmt(&self, at: StmtRef) -> &Stmt<'a> {
        &self.stmts[at.0 as usize].0
    }

    pub(crate) fn stmt_range(&self, at: StmtRef) -> Range {
        self.stmts[at.0 as usize].1
    }
}
