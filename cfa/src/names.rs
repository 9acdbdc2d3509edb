// SPDX-License-Identifier: Apache-2.0
//! What the source calls things where: the scopes of its names, and the statements behind loop heads. For writing about a
//! program in its own words.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::{NodeId, VarId};
use crate::ir::Span;
use crate::program::Program;

/// A declared name and where it means that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declaration {
    /// The name.
    pub name: Arc<str>,
    /// Where it can be used, up to declarations of the same name in inner blocks.
    pub visible: Span,
    /// The variables that hold the object, each with the path of the member that it is: `.x`; empty for a scalar. None if it
    /// lies in memory, or is no object.
    pub parts: Vec<(VarId, Arc<str>)>,
    /// Whether it is a pointer.
    pub pointer: bool,
}

/// How a loop is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopKind {
    /// The condition stands before the body: `while`, `for`.
    Before,
    /// The condition stands behind the body: `do`.
    Behind,
}

/// The statement behind a loop head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopStatement {
    /// The loop head: where the condition is evaluated next, or where the body begins in a loop of the other kind.
    pub head: NodeId,
    /// The statement; it begins with the keyword.
    pub span: Span,
    /// How the loop is written.
    pub kind: LoopKind,
    /// The first statement of the body; the body itself if it is no block.
    pub body: Span,
    /// Whether the body is a block with a first statement.
    pub block: bool,
}

/// What a variable is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// An expression of C.
    pub text: String,
    /// Whether it is a pointer.
    pub pointer: bool,
}

impl Program {
    /// The variables that can be named at a place, with their names there.
    pub fn names_at(&self, file: u32, at: u32) -> BTreeMap<VarId, Name> {
        // A declaration further behind that is visible here stands in an inner block.
        let mut meant: BTreeMap<&str, &Declaration> = BTreeMap::new();
        for declaration in &self.declarations {
            let visible = declaration.visible;
            if visible.file == file && visible.start <= at && at < visible.end {
                let known = meant.entry(&declaration.name).or_insert(declaration);
                if known.visible.start <= visible.start {
                    *known = declaration;
                }
            }
        }
        let named = |declaration: &&Declaration| {
            let Declaration { name, pointer, .. } = *declaration;
            let (name, pointer) = (name.clone(), *pointer);
            declaration.parts.clone().into_iter().map(move |(var, path)| {
                let text = format!("{name}{path}");
                (var, Name { text, pointer: pointer && path.is_empty() })
            })
        };
        meant.values().flat_map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, Source};

    #[test]
    fn inner_declarations_hide_outer_ones() {
        let text = "struct P { int x, y; }; int g, x;\n\
                    int f(int *p) { struct P s; s.x = 1; /*a*/ for (int i = 0; i < 3; i++) { char x = 1; g += x /*b*/; }\n\
                    { enum { g = 3 }; int u = 0; s.y = u; /*c*/ } return x + s.x; }\n\
                    int main(void) { int v[3]; v[0] = 1; return f(v); /*d*/ }";
        let source = Source { name: "t.c".into(), text: text.into() };
        let program = crate::load(&[source], &Options::default()).unwrap();
        let names = |mark: &str| {
            let at = u32::try_from(text.find(mark).unwrap()).unwrap();
            let found = program.names_at(0, at);
            let shown = found.iter().map(|(var, name)| {
                format!("{}={}{}", program.var(*var).name, name.text, if name.pointer { "*" } else { "" })
            });
            shown.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("/*a*/"), "g=g x=x f::p=p* f::s.x=s.x f::s.y=s.y");
        assert_eq!(names("/*b*/"), "g=g f::p=p* f::s.x=s.x f::s.y=s.y f::i=i f::x=x");
        assert_eq!(names("/*c*/"), "x=x f::p=p* f::s.x=s.x f::s.y=s.y f::u=u");
        assert_eq!(names("/*d*/"), "g=g x=x");
    }
}
