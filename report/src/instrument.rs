// SPDX-License-Identifier: Apache-2.0
//! Programs in which invariants are checked where they are claimed: from `while (c) body` to
//! `while (1) { if (!(invariant)) violated(); if (!(c)) break; body }`, and likewise for `for`; in front of statements.
//!
//! What is added stands within the lines of the program. The program with the checks has no execution that calls the error
//! function or the one for invariants exactly if the program has no error and its invariants hold; and a check is
//! what one step of induction needs to assume.

use cfa::names::LoopStatement;
use cfa::{Program, Source};

use crate::lint::{At, Claim};

/// The function that is called where an invariant does not hold.
pub const VIOLATED: &str = "__cpa_invariant_violated";

/// A change of a text: what is inserted, and how many bytes it replaces.
struct Edit {
    at: usize,
    replaced: usize,
    text: String,
}

/// The sources with checks; fails if an invariant has no place that is understood.
pub fn with_checks(program: &Program, claims: &[Claim]) -> Result<Vec<Source>, String> {
    let mut edits: Vec<Vec<Edit>> = program.sources.iter().map(|_| Vec::new()).collect();
    let mut loops: Vec<(&LoopStatement, Vec<&str>)> = Vec::new();
    for claim in claims {
        let At { file, line, .. } = &claim.at;
        if claim.of_loop {
            let statement = find_loop(program, &claim.at)
                .ok_or_else(|| format!("{file}:{line}: there is no loop for the invariant"))?;
            match loops.iter_mut().find(|(known, _)| *known == statement) {
                Some((_, values)) => values.push(&claim.value),
                None => loops.push((statement, vec![&claim.value])),
            }
            continue;
        }
        let (source, at) = find_statement(program, &claim.at)
            .ok_or_else(|| format!("{file}:{line}: there is no statement for the invariant"))?;
        edits[source].push(Edit { at, replaced: 0, text: check(&claim.value) });
    }
    for (statement, values) in loops {
        let source = statement.span.file as usize;
        let text = &program.sources[source].text;
        let checks: String = values.iter().map(|value| check(value)).collect();
        let place = || program.location(statement.span);
        let form = loop_form(text, statement).ok_or_else(|| format!("{}: the loop is not understood", place()))?;
        let condition = &text[form.condition.0..form.condition.1];
        let test = if condition.trim().is_empty() { String::new() } else { format!("if (!({condition})) break; ") };
        let replaced = form.condition.1 - form.condition.0;
        edits[source].push(Edit { at: form.condition.0, replaced, text: " 1 ".to_string() });
        edits[source].push(Edit { at: form.body, replaced: 0, text: format!(" {{ {checks}{test}") });
        edits[source].push(Edit { at: statement.span.end as usize, replaced: 0, text: " }".to_string() });
    }
    let sources = program.sources.iter().zip(edits).filter(|(source, _)| !source.name.starts_with('<'));
    let mut sources: Vec<Source> = sources
        .map(|(source, edits)| Source { name: source.name.clone(), text: applied(&source.text, edits) })
        .collect();
    // With a body, so that no analysis has to know what it does.
    if let Some(last) = sources.last_mut() {
        last.text.push_str(&format!("\nvoid {VIOLATED}() {{ }}\n"));
    }
    Ok(sources)
}

fn check(value: &str) -> String {
    format!("if (!({value})) {VIOLATED}(); ")
}

fn applied(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.at);
    let mut result = String::new();
    let mut done = 0;
    for edit in edits {
        result.push_str(&text[done..edit.at]);
        result.push_str(&edit.text);
        done = edit.at + edit.replaced;
    }
    result + &text[done..]
}

/// The loop whose keyword stands at a place, the leftmost one of the line if there is no column.
fn find_loop<'a>(program: &'a Program, at: &At) -> Option<&'a LoopStatement> {
    let mut found: Option<(u32, &LoopStatement)> = None;
    for statement in &program.loop_statements {
        let place = program.location(statement.span);
        let here = place.line == at.line && same_file(&place.file, &at.file);
        if here && at.column.is_none_or(|column| column == place.column) && found.is_none_or(|(c, _)| place.column < c)
        {
            found = Some((place.column, statement));
        }
    }
    found.map(|(_, statement)| statement)
}

/// Whether two names can mean one file: witnesses may name it without its folder.
pub fn same_file(one: &str, other: &str) -> bool {
    let last = |name: &str| name.rsplit('/').next().unwrap_or(name).to_string();
    one == other || last(one) == last(other)
}

/// The source and offset of a statement: the first statement of a loop's body that stands there, or the text itself where
/// the source is the user's file.
fn find_statement(program: &Program, at: &At) -> Option<(usize, usize)> {
    for statement in program.loop_statements.iter().filter(|statement| statement.block) {
        let place = program.location(statement.body);
        if place.line == at.line
            && same_file(&place.file, &at.file)
            && at.column.is_none_or(|column| column == place.column)
        {
            return Some((statement.body.file as usize, statement.body.start as usize));
        }
    }
    let source = program.sources.iter().position(|source| same_file(&source.name, &at.file))?;
    let text = &program.sources[source].text;
    let line = usize::try_from(at.line).ok()?.checked_sub(1)?;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let whole = text[start..].lines().next()?;
    let column = match at.column {
        Some(column) => usize::try_from(column).ok()?.checked_sub(1)?,
        None => whole.len() - whole.trim_start().len(),
    };
    let offset = start + column;
    let span = cfa::Span { file: u32::try_from(source).ok()?, start: u32::try_from(offset).ok()?, end: 0 };
    (column < whole.len() && program.location(span).line == at.line).then_some((source, offset))
}

/// Where the parts of a loop are.
struct LoopForm {
    /// The condition.
    condition: (usize, usize),
    /// Behind the closing parenthesis.
    body: usize,
}

fn loop_form(text: &str, statement: &LoopStatement) -> Option<LoopForm> {
    let (start, end) = (statement.span.start as usize, statement.span.end as usize);
    let keyword: String = text[start..end].chars().take_while(char::is_ascii_alphabetic).collect();
    if !matches!(keyword.as_str(), "while" | "for") {
        return None;
    }
    let (mut open, mut depth, mut semicolons) = (None, 0usize, Vec::new());
    for (at, c) in code(text, start + keyword.len(), end) {
        match c {
            b'(' | b'[' | b'{' => {
                depth += 1;
                open = open.or(Some(at));
            }
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    let condition = match (keyword.as_str(), semicolons.as_slice()) {
                        ("while", _) => (open? + 1, at),
                        (_, [first, second]) => (*first + 1, *second),
                        _ => return None,
                    };
                    return Some(LoopForm { condition, body: at + 1 });
                }
            }
            b';' if depth == 1 => semicolons.push(at),
            _ => {}
        }
    }
    None
}

/// The bytes of a text that are neither in comments nor in constants, with their offsets.
fn code(text: &str, start: usize, end: usize) -> Vec<(usize, u8)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = start;
    while at < end {
        let next = bytes.get(at + 1).copied();
        match bytes[at] {
            b'/' if next == Some(b'*') => at = text[at + 2..].find("*/").map_or(end, |to| at + 2 + to + 2),
            b'/' if next == Some(b'/') => at = text[at..].find('\n').map_or(end, |to| at + to),
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < end && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            byte => {
                found.push((at, byte));
                at += 1;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str, claims: &[(bool, u32, Option<u32>, &str)]) -> Result<String, String> {
        let source = Source { name: "a/t.c".into(), text: text.into() };
        let program = cfa::load(&[source], &cfa::Options::default()).unwrap();
        let claims: Vec<Claim> = claims
            .iter()
            .map(|&(of_loop, line, column, value)| {
                let at = At { file: "t.c".into(), line, column };
                Claim { of_loop, at, value: value.into() }
            })
            .collect();
        Ok(with_checks(&program, &claims)?.remove(0).text)
    }

    #[test]
    fn loops_check_before_each_test() {
        let text = "int main(void) {\n  int x = 0; char c;\n  while (x < 9 /* ) */) x++;\n  for (int i = 0; ; i++)\n\
                    \x20 { if (i > 3) break; do { x++; } while (x); }\n}";
        let found =
            checked(text, &[(true, 3, Some(3), "x <= 9"), (true, 4, None, "i >= 0"), (false, 5, Some(28), "1")]);
        let expected = "int main(void) {\n  int x = 0; char c;\n  while ( 1 ) { if (!(x <= 9)) \
                        __cpa_invariant_violated(); if (!(x < 9 /* ) */)) break;  x++; }\n  for (int i = 0; 1 ; i++) \
                        { if (!(i >= 0)) __cpa_invariant_violated(); \n  { if (i > 3) break; do { if (!(1)) \
                        __cpa_invariant_violated(); x++; } while (x); } }\n}\nvoid __cpa_invariant_violated() { }\n";
        assert_eq!(found.as_deref(), Ok(expected));
        assert!(checked(text, &[(true, 2, None, "1")]).unwrap_err().contains("t.c:2: there is no loop"));
    }
}
