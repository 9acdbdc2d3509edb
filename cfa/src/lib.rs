// SPDX-License-Identifier: Apache-2.0
//! C programs as typed control-flow automata.
//!
//! [`load`] reads preprocessed C: the pre-pass (`prepass`), tree-sitter and the repair of its trees (`grammar`, `parse`, `repair`),
//! the syntax tree (`syntax`, `ast`), definitions of library functions (`library`), and the lowering (`lower`). The result is a [`Program`], whose invariants are in
//! [`ir`] and are checked by [`verify::verify`].

mod ast;
mod attributes;
pub mod blocks;
pub mod bounds;
pub mod dump;
mod error;
pub mod eval;
pub mod exprs;
pub mod floats;
mod grammar;
pub mod ids;
pub mod ir;
mod layout;
mod library;
mod links;
mod literals;
pub mod liveness;
pub mod location;
pub mod loops;
mod lower;
pub mod machine;
mod memory;
pub mod names;
mod notation;
mod parse;
mod path_program;
mod postdominators;
mod prepass;
mod program;
pub mod property;
mod relevance;
mod repair;
mod scc;
pub mod sites;
mod slice;
mod summarized;
mod syntax;
mod text;
mod tree;
mod types;
pub mod verify;

pub use blocks::{Block, BlockKind, Blocks, Partitioning};
pub use error::LoadError;
pub use eval::{Undefined, eval};
pub use exprs::Exprs;
pub use ids::{BlockId, EdgeId, ExprId, FuncId, LoopId, NodeId, RegionId, VarId};
pub use ir::{
    AllocKind, BinOp, Body, CmpOp, Edge, Expr, ExprKind, FloatFn, FloatOp, FloatTy, Function, HavocOrigin, IntTy, Node,
    Object, Op, Region, Scope, Span, UnOp, Var,
};
pub use library::{VERSIONS, plain_name, reading_functions};
pub use location::Location;
pub use loops::{Loop, Loops};
pub use memory::MARGIN;
pub use program::{MOST_ARGUMENTS, Options, Program, Source, UndefinedFunctions};
pub use property::{Property, PropertyError};
pub use scc::components;
pub use sites::{
    FileFunction, FileVariable, LoopSite, LoopSites, LoopSyntax, Part, ScalarType, SiteKind, Visible, VisibleStorage,
};
pub use slice::Slice;
pub use summarized::{LargeBlock, SummarizedCfa};
pub use types::MachineModel;

/// Whether a function without a body is known to change nothing that a program can see: one that prints, for instance.
pub fn is_silent(function: &str) -> bool {
    lower::call::is_silent(function)
}

/// Whether a text has directives that only a preprocessor understands.
pub fn needs_preprocessor(text: &str) -> bool {
    let directive =
        |line: &str| line.trim_start().strip_prefix('#').map(|rest| prepass::is_harmless(rest.trim_start()));
    text.lines().any(|line| directive(line) == Some(false)) || has_predefined_macro(text)
}

/// Whether a text may use a macro that the compiler defines, such as `__LINE__`.
fn has_predefined_macro(text: &str) -> bool {
    const PARTS: [&str; 11] = [
        "__LINE__",
        "__FILE__",
        "__COUNTER__",
        "__STDC_",
        "__ATOMIC_",
        "__BYTE_ORDER__",
        "__ORDER_",
        "__SIZEOF_",
        "_MAX__",
        "_TYPE__",
        "__CHAR_BIT__",
    ];
    PARTS.iter().any(|part| text.contains(part))
}

/// The syntax tree of a file in a prefix notation, one line for each declaration and function: `Mul(a, Cast(int, b))`.
pub fn syntax(source: &Source) -> Result<Vec<String>, LoadError> {
    let refuse = |(at, construct, advice)| error::syntax_error(source, false, at, construct, advice);
    Ok(notation::write(&read(&source.text, &grammar::Grammar::new()).map_err(refuse)?))
}

fn read<'a>(text: &'a str, grammar: &grammar::Grammar) -> Result<ast::Ast<'a>, prepass::Refusal> {
    let tree = parse::parse(text, grammar)?;
    let mut ast = syntax::build(&tree, text)?;
    library::forget_inline_copies(&mut ast, text);
    Ok(ast)
}

/// Reads a program.
pub fn load(sources: &[Source], options: &Options) -> Result<Program, LoadError> {
    let grammar = grammar::Grammar::new();
    let mut parsed = Vec::new();
    for source in sources {
        if source.text.len() >= 1 << 31 {
            return Err(LoadError::TooLong(source.name.clone()));
        }
        let refuse = |(at, construct, advice)| error::syntax_error(source, options.line_markers, at, construct, advice);
        parsed.push(read(&source.text, &grammar).map_err(refuse)?);
    }
    let library = library::source(&parsed);
    let mut all = sources.to_vec();
    all.extend(library);
    if let Some(library) = all.get(sources.len()) {
        parsed.push(read(&library.text, &grammar).expect("the library can be read"));
    }
    let program = lower::lower(&all, &parsed, sources.len(), options)?;
    if cfg!(debug_assertions)
        && let Err(problem) = verify::verify(&program)
    {
        panic!("the lowering broke an invariant: {problem}");
    }
    Ok(program)
}
