// SPDX-License-Identifier: Apache-2.0
//! Functions of the C library as C: definitions for those that a program calls and does not define.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::ast::{Ast, Decl, Item, Storage};
use crate::lower::call::is_silent;
use crate::program::{Program, Source};

/// The name of the source file that holds the definitions.
pub(crate) const FILE: &str = "<library>";

const TEXTS: [&str; 3] =
    [include_str!("library/string.c"), include_str!("library/other.c"), include_str!("library/more.c")];

/// Functions that need others of the library, which their definitions do not name.
const NEEDS: [(&str, &[&str]); 11] = [
    ("scanf", &["__scan_word", "__scan_text"]),
    ("fscanf", &["__scan_word", "__scan_text"]),
    ("sscanf", &["__scan_text"]),
    ("sprintf", &PRINTING),
    ("snprintf", &PRINTING),
    ("__errno_location", &["__errno_any"]),
    ("atexit", &["__run_exit_handlers"]),
    ("qsort", &["__qsort_1", "__qsort_2", "__qsort_4", "__qsort_8"]),
    ("__ctype_b_loc", &["__ctype_b_of"]),
    ("__ctype_tolower_loc", &["__ctype_tolower_of"]),
    ("__ctype_toupper_loc", &["__ctype_toupper_of"]),
];

/// What writes the pieces of formats.
const PRINTING: [&str; 9] = [
    "__print_character",
    "__print_blanks",
    "__print_text",
    "__print_any",
    "__print_end",
    "__print_decimal_4",
    "__print_decimal_8",
    "__print_hexadecimal_4",
    "__print_hexadecimal_8",
];

/// What headers put in front of the names of functions for some versions of C.
pub const VERSIONS: [&str; 2] = ["__isoc99_", "__isoc23_"];

/// The functions that give tables of characters, and those that give their elements.
pub(crate) fn tables() -> impl Iterator<Item = (&'static str, &'static str)> {
    NEEDS.into_iter().filter(|(name, _)| name.starts_with("__ctype")).map(|(name, needed)| (name, needed[0]))
}

/// The definitions, one for each size of integers of those that are the same for all.
static CHUNKS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let chunks = TEXTS.iter().flat_map(|text| text.split("\n\n")).map(str::trim);
    let of_size =
        |chunk: &str, bytes: u32| chunk.replace("BYTES", &bytes.to_string()).replace("BITS", &(8 * bytes).to_string());
    chunks
        .flat_map(|chunk| match chunk.contains("BYTES") {
            true => [1, 2, 4, 8].iter().map(|bytes| of_size(chunk, *bytes)).collect(),
            false => vec![chunk.to_owned()],
        })
        .collect()
});

/// The definitions by name. Functions that differ from system to system have several; the first one counts whose type is
/// like the declared one.
fn definitions() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for chunk in CHUNKS.iter() {
        if let Some(name) = defined_name(chunk) {
            found.entry(name).or_default().push(chunk);
        }
    }
    found
}

/// The name of the function that a piece of text defines.
fn defined_name(chunk: &str) -> Option<&str> {
    let head = chunk.lines().find(|line| !line.starts_with("//"))?.split_once('(')?.0;
    head.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Makes declarations of definitions in headers that only tell the compiler how to inline functions that are known here.
pub(crate) fn forget_inline_copies(ast: &mut Ast<'_>, source: &str) {
    if !source.contains("gnu_inline") {
        return;
    }
    let known = definitions();
    for item in &mut ast.items {
        let Item::Function { storage, spec, declarator, body, range } = item else { continue };
        let Some((name, name_range)) = declarator.name() else { continue };
        let body = ast.stmts[body.0 as usize].1;
        // Attributes may stand before the range of the definition, behind the end of what comes before it.
        let from = source[..name_range.0 as usize].rfind([';', '}']).map_or(0, |at| at + 1);
        let head = &source[from..name_range.0 as usize];
        let copy = *storage == Storage::Extern && head.contains("gnu_inline");
        let forwards = source[body.0 as usize..body.1 as usize].contains("__builtin_va_arg_pack");
        if copy && (forwards || known.contains_key(name) || is_silent(name)) {
            let items = vec![(declarator.clone(), None, *range)];
            *item = Item::Decl(Decl { storage: Storage::Extern, spec: spec.clone(), items });
        }
    }
}

/// What a function is called in the library: the compiler's `__builtin_memcpy` is `memcpy`, a header's `__isoc99_scanf` is
/// `scanf`.
pub fn plain_name(name: &str) -> &str {
    let prefixes = VERSIONS.iter().chain(&["__builtin_"]);
    prefixes.into_iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

/// What a program calls to get to a function of the library that stands for another one.
pub(crate) fn called_name(name: &str) -> &str {
    match name {
        "__print_any" => "sprintf",
        "__scan_text" => "scanf",
        _ if name.starts_with("__qsort_") => "qsort",
        _ => name,
    }
}

/// A source file with the functions that the program calls and does not define; none if there are no such functions.
pub(crate) fn source(asts: &[Ast<'_>]) -> Option<Source> {
    let mut defined: FxHashSet<&str> = FxHashSet::default();
    for item in asts.iter().flat_map(|ast| &ast.items) {
        if let Item::Function { declarator, .. } = item {
            defined.extend(declarator.name().map(|(name, _)| name));
        }
    }
    let mut called: BTreeSet<&str> = BTreeSet::new();
    for (name, _) in asts.iter().flat_map(Ast::calls_by_name) {
        if !defined.contains(name) {
            called.insert(name);
            called.insert(plain_name(name));
        }
    }
    for (name, needed) in NEEDS {
        if called.contains(name) && !defined.contains(name) {
            called.extend(needed);
        }
    }
    let known = definitions();
    let mut todo: Vec<&str> = called.into_iter().filter(|name| !defined.contains(name)).collect();
    let mut chosen: BTreeMap<&str, &[&str]> = BTreeMap::new();
    while let Some(name) = todo.pop() {
        if let Some((name, texts)) = known.get_key_value(name)
            && chosen.insert(name, texts).is_none()
        {
            todo.extend(texts.iter().flat_map(|text| words(text)).filter(|word| !defined.contains(word)));
        }
    }
    if chosen.is_empty() {
        return None;
    }
    let texts: Vec<&str> = chosen.into_values().flatten().copied().collect();
    Some(Source { name: FILE.to_owned(), text: declared_first(&texts) })
}

/// The declaration of what a text defines.
fn declaration(text: &str) -> String {
    let text = &text[text.lines().take_while(|line| line.starts_with("//")).map(|line| line.len() + 1).sum()..];
    format!("{};\n", text.split_once('{').map_or(text, |(head, _)| head).trim_end())
}

/// Definitions behind their declarations, so that the order does not matter.
fn declared_first(texts: &[&str]) -> String {
    texts.iter().map(|text| declaration(text)).chain(texts.iter().map(|text| format!("{text}\n"))).collect()
}

/// The definitions in C of those functions that a program got from here which give it inputs, themselves or by others: an
/// execution in which they take the place of the system's functions reads what a counterexample says.
pub fn reading_functions(program: &Program) -> String {
    let own = program.funcs.iter().filter(|func| func.body.is_some() && !program.is_users(func.span));
    let names: BTreeSet<&str> = own.map(|func| &*func.name).collect();
    let known = definitions();
    let used = known.iter().filter(|(name, _)| names.contains(**name)).flat_map(|(name, texts)| {
        let text = texts.iter().find(|text| program.sources.iter().any(|source| source.text.contains(**text)));
        text.map(|text| (*name, *text))
    });
    // What is not followed is left to the system.
    let used: BTreeMap<&str, &str> = used.filter(|(_, text)| !text.contains("__unmodelled")).collect();
    let mut found: BTreeSet<&str> =
        used.iter().filter(|(_, text)| text.contains("__VERIFIER_nondet")).map(|(name, _)| *name).collect();
    loop {
        let reads = |text: &str| words(text).any(|word| found.contains(word));
        let is_needed = |name: &str| {
            name.starts_with("__") && found.iter().any(|other| words(used[other]).any(|word| word == name))
        };
        let more: Vec<&str> = (used.iter())
            .filter(|(name, text)| !found.contains(**name) && (reads(text) || is_needed(name)))
            .map(|(name, _)| *name)
            .collect();
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    let texts: Vec<&str> = found.iter().map(|name| used[name]).collect();
    let others = used.iter().filter(|(name, _)| !found.contains(**name));
    let others = others.filter(|(name, _)| texts.iter().any(|text| words(text).any(|word| word == **name)));
    others.map(|(_, text)| declaration(text)).chain([declared_first(&texts)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_is_found_by_its_name() {
        let known = definitions();
        let heads = CHUNKS.iter().flat_map(|text| text.lines());
        let count = heads.filter(|line| line.ends_with('{') && !line.starts_with(' ') || line.ends_with("; }")).count();
        assert_eq!(known.values().map(Vec::len).sum::<usize>(), count);
        assert!(known.contains_key("__qsort_1") && known.contains_key("__qsort_8"));
        assert!(known.contains_key("memcpy") && known.contains_key("__ordering") && known.contains_key("fmod"));
    }
}
