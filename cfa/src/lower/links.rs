// SPDX-License-Identifier: Apache-2.0
//! Names that do not mean what their declarations say: aliases, labels, weak symbols.
//!
//! None of them is followed. A name that stands for something else of the program, or perhaps for nothing, cannot be used;
//! what makes code run that nobody calls stops the program before it starts.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Ast, Item, Storage};
use crate::ir::{Op, Span};
use crate::links::Link;

use super::Lower;
use super::call::ENDING;

/// What attributes and labels say about a program.
#[derive(Default)]
pub(super) struct Links {
    /// Names that cannot be called, and why.
    others: FxHashMap<String, String>,
    /// Names whose address can be null, and why.
    weak: FxHashMap<String, String>,
    /// Functions that do not return, says an attribute.
    ending: FxHashSet<String>,
    /// What cannot be understood, and where.
    unseen: Vec<(Span, String)>,
}

impl Links {
    pub(super) fn new(asts: &[Ast<'_>], entry: &str) -> Self {
        let mut links = Links::default();
        if asts.iter().all(|ast| ast.links.is_empty()) {
            return links;
        }
        let defined = defined(asts);
        // Names that mean something without being defined.
        let known = |name: &str| defined.contains(name) || ENDING.contains(&name) || name.starts_with("__VERIFIER");
        for (file, ast) in (0..).zip(asts) {
            for (at, link) in &ast.links {
                match link {
                    Link::Alias(Some(name), other) => links.other(name, other),
                    Link::Label(Some(name), other) if name == other => {}
                    Link::Label(Some(name), other) if defined.contains(name.as_str()) && other != entry => {
                        links.other(other, name);
                    }
                    Link::Label(Some(name), other) if known(other) => links.other(name, other),
                    Link::Label(None, other) if !known(other) => {}
                    Link::Label(Some(_), other) if other != entry => {}
                    Link::Weak(Some(name)) if defined.contains(name.as_str()) => {}
                    Link::Weak(Some(name)) => {
                        links.weak.insert(name.clone(), format!("address of the weak '{name}', which is not defined"));
                    }
                    Link::Ending(name) => links.ending.extend(name.clone()),
                    Link::Alias(None, _) | Link::Label(..) | Link::Weak(None) => {
                        links.unseen(file, *at, "an attribute or label of something without a plain name");
                    }
                    Link::Unseen(what) => links.unseen(file, *at, what),
                }
            }
        }
        links
    }

    fn other(&mut self, name: &str, other: &str) {
        self.others.insert(name.to_owned(), format!("'{name}', another name of '{other}'"));
    }

    fn unseen(&mut self, file: u32, at: u32, what: &str) {
        self.unseen.push((Span { file, start: at, end: at }, what.to_owned()));
    }

    /// Why a function of this name, which has no body, cannot be called.
    pub(super) fn call(&self, name: &str) -> Option<&str> {
        self.others.get(name).map(String::as_str)
    }

    /// Whether a function without a body never returns.
    pub(super) fn is_ending(&self, name: &str) -> bool {
        ENDING.contains(&name) || self.ending.contains(name)
    }

    /// Why the address of something with this name, which is not defined, is not known.
    pub(super) fn address(&self, name: &str) -> Option<&str> {
        self.call(name).or_else(|| self.weak.get(name).map(String::as_str))
    }
}

impl Lower<'_> {
    /// What stops the program before it starts.
    pub(super) fn unseen_code(&self) -> impl Iterator<Item = (Op, Span)> {
        let op = |what: &String| Op::Unsupported { construct: what.as_str().into() };
        self.links.unseen.iter().map(move |(span, what)| (op(what), *span))
    }
}

/// The functions with a body and the objects that are not only declared, of all files.
fn defined<'a>(asts: &'a [Ast<'_>]) -> FxHashSet<&'a str> {
    let mut names = FxHashSet::default();
    for item in asts.iter().flat_map(|ast| &ast.items) {
        match item {
            Item::Function { declarator, .. } => names.extend(declarator.name().map(|(name, _)| name)),
            Item::Decl(decl) if decl.storage == Storage::Typedef => {}
            Item::Decl(decl) => {
                let objects = decl.items.iter().filter(|(declarator, init, _)| {
                    (decl.storage != Storage::Extern || init.is_some()) && !declarator.is_function()
                });
                names.extend(objects.filter_map(|(declarator, ..)| declarator.name()).map(|(name, _)| name));
            }
        }
    }
    names
}
