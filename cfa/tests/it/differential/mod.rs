// SPDX-License-Identifier: Apache-2.0
//! The parser compared with `lang-c`, an independent one: both trees are written in one notation.

mod notation;

use std::path::{Path, PathBuf};

use cfa::Source;
use proptest::prelude::*;

/// The text without comments and directives, which `lang-c` does not read, and without the attribute that changes a type,
/// whose meaning it does not know; at the same offsets.
fn blanked(source: &str) -> String {
    let mut bytes = source.as_bytes().to_vec();
    let mut at = 0;
    let mut line_start = true;
    while at < bytes.len() {
        let end_of = |text: &[u8], at: usize| at + text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
        let end = match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => end_of(&bytes[at..], at),
            b'#' if line_start => end_of(&bytes[at..], at),
            b'/' if bytes.get(at + 1) == Some(&b'*') => at + 2 + source[at + 2..].find("*/").expect("it ends") + 2,
            quote @ (b'"' | b'\'') => {
                at += 1;
                while bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at
            }
            _ => at,
        };
        if end > at {
            bytes[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        }
        line_start = bytes[at] == b'\n' || (line_start && bytes[at].is_ascii_whitespace());
        at = end.max(at + 1);
    }
    let text = String::from_utf8(bytes).expect("what is blanked is whole");
    let mode = "__attribute__ ((__mode__ (__word__)))";
    text.replace(mode, &" ".repeat(mode.len()))
}

/// The first difference between the trees of a text, if there is one; `Err` if `lang-c` cannot read it.
fn difference(source: &str) -> Result<Option<(String, String)>, String> {
    let text = blanked(source);
    let config = lang_c::driver::Config::with_gcc();
    let parsed = lang_c::driver::parse_preprocessed(&config, text.clone()).map_err(|error| error.to_string())?;
    let other = notation::Writer { text: &text }.unit(&parsed.unit);
    let own = cfa::syntax(&Source { name: "t.c".into(), text: text.clone() });
    let own = own.unwrap_or_else(|error| panic!("only lang-c reads it: {error}\n{source}"));
    let mut pairs = own.iter().zip(&other);
    if let Some((a, b)) = pairs.find(|(a, b)| a != b) {
        return Ok(Some((a.clone(), b.clone())));
    }
    let count = |items: &[String]| format!("{} items", items.len());
    Ok((own.len() != other.len()).then(|| (count(&own), count(&other))))
}

fn agree(source: &str) {
    match difference(source) {
        Ok(None) => {}
        Ok(Some((own, other))) => panic!("{source}\nown:    {own}\nlang-c: {other}"),
        Err(error) => panic!("{source}\nlang-c: {error}"),
    }
}

#[test]
fn declarations_and_statements() {
    agree(
        "typedef unsigned char byte; typedef struct list { struct list *next; int data[3][4]; unsigned a : 3, b : 2; } List;
         enum color { RED, GREEN = 4, BLUE = GREEN << 1 } paint = BLUE; union { int i; float f; } u;
         int (*table[2])(int, char *), *f(void), (*g(int))(byte); static const char *const names[] = { \"a\" \"b\", [3] = 0 };
         extern int printf(const char *restrict, ...) __attribute__((format(printf, 1, 2)));
         int main(int argc, char **argv) {
           List l = { .data = { [1] = { 1, 2 } }, .next = 0 }, *p = &l; byte b = (byte)-1; int i, *q = &i;
           for (int k = 0; k < 3; k++) if (k) continue; else if (b) break; else ;
           do { i = sizeof(byte) + sizeof b + sizeof(List *) - -1; } while (i-- > 0 && !b || p->next);
           switch (i) { case 1: case 2: i += 2; break; default: goto end; }
           while (1) { byte (*fp)(int) = 0; byte (x); x = (byte)(i), (i)+(b); (i) * (b); *q++; }
         end: return ({ int t = i; t + 1; }) ? (int){ 3 } : ((struct list){ 0 }).data[1][2];
         }",
    );
}

#[test]
fn programs_of_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = std::fs::read_dir(root.join("examples")).expect("the examples are there");
    for file in files.map(|file| file.expect("the folder is readable").path()) {
        if file.extension().is_some_and(|extension| extension == "c") {
            agree(&std::fs::read_to_string(file).expect("examples are readable"));
        }
    }
}

/// `CFA_TASKS` names a folder of C files, which are all compared.
#[test]
fn programs_of_a_collection() {
    let Some(folder) = std::env::var_os("CFA_TASKS") else { return };
    let (mut compared, mut unread, mut todo) = (0, 0, vec![PathBuf::from(folder)]);
    let mut different = Vec::new();
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(std::fs::read_dir(&path).expect("the folder is readable").map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "c" || extension == "i") {
            let text = String::from_utf8_lossy(&std::fs::read(&path).expect("files are readable")).into_owned();
            if cfa::syntax(&Source { name: String::new(), text: text.clone() }).is_err() {
                continue;
            }
            match difference(&text) {
                Ok(None) => compared += 1,
                Ok(Some((own, other))) => different.push(format!("{}\n  {own}\n  {other}", path.display())),
                Err(_) => unread += 1,
            }
        }
    }
    assert!(different.is_empty(), "{compared} equal, {unread} not read by lang-c\n{}", different.join("\n"));
}

/// Expressions dense in parentheses and casts; `T` and `byte` are types, all other names are not.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["a", "b", "p", "1", "-1", "0x1u", "'c'", "f(a)", "a[1]", "s.x", "q->x", "1.5f"])
            .prop_map(str::to_owned),
        prop::sample::select(vec!["sizeof(T)", "sizeof(a)", "sizeof (byte)", "sizeof a", "(T)a", "f()", "++a", "--*p"])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let binary = vec!["+", "-", "*", "/", "%", "<<", ">>", "<", ">=", "==", "!=", "&", "|", "^", "&&", "||", ","];
        let unary = vec!["-", "+", "!", "~", "*", "&", "sizeof ", "(T)", "(byte *)", "(T (*)(int))"];
        prop_oneof![
            (inner.clone(), prop::sample::select(binary), inner.clone()).prop_map(|(a, op, b)| format!("{a}{op} {b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            (prop::sample::select(unary), inner.clone()).prop_map(|(op, a)| format!("{op} {a}")),
            (inner.clone(), prop::sample::select(vec!["++", "--", "[b]", ".x", "->x", "(a, b)"]))
                .prop_map(|(a, op)| format!("({a}){op}")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("(({a})? {b} : ({c}))")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("(a = {a}, b += {b})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn random_expressions(exprs in prop::collection::vec(expression(), 1..4)) {
        let statements: String = exprs.iter().map(|expr| format!("a = ({expr}); ")).collect();
        let text = format!("typedef int T; typedef char byte; int f(); int main(void) {{ int a, b, *p; {statements} }}");
        // Not all of them are C; the parsers need not be equally strict.
        if cfa::syntax(&Source { name: String::new(), text: text.clone() }).is_ok() && let Ok(Some((own, other))) = difference(&text) {
            prop_assert!(false, "{text}\nown:    {own}\nlang-c: {other}");
        }
    }
}
