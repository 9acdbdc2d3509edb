// SPDX-License-Identifier: Apache-2.0
//! Unified diffs from edits of a text, as `patch -p1` reads them.

use std::ops::Range;

/// A replacement of a part of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// The bytes that go away.
    pub range: Range<usize>,
    /// What comes in their place.
    pub text: String,
}

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The edited text. Edits are in ascending order and do not overlap.
pub fn applied(original: &str, edits: &[Edit]) -> String {
    let mut result = String::with_capacity(original.len());
    let mut done = 0;
    for edit in edits {
        result.push_str(&original[done..edit.range.start]);
        result.push_str(&edit.text);
        done = edit.range.end;
    }
    result.push_str(&original[done..]);
    result
}

/// Changed lines: which lines go away, and what comes in their place.
struct Change {
    old: Range<usize>,
    new: String,
}

/// The difference between a text and its edited form. `name` is the path of the file below the folder where `patch -p1` is
/// called. Edits are in ascending order and do not overlap.
pub fn unified_diff(name: &str, original: &str, edits: &[Edit]) -> String {
    let lines: Vec<&str> = original.split_inclusive('\n').collect();
    let mut starts = vec![0];
    for line in &lines {
        starts.push(starts.last().expect("not empty") + line.len());
    }
    let line_of = |at: usize| starts.partition_point(|start| *start <= at) - 1;
    let mut changes: Vec<(Range<usize>, Vec<&Edit>)> = Vec::new();
    for edit in edits {
        let first = line_of(edit.range.start).min(lines.len());
        // An insertion at the beginning of a line changes no line.
        let insertion = edit.range.is_empty() && edit.text.ends_with('\n') && starts[first] == edit.range.start;
        let last =
            if insertion { first } else { (line_of(edit.range.end.max(1) - 1) + 1).max(first + 1).min(lines.len()) };
        match changes.last_mut() {
            Some((range, edits)) if first < range.end => {
                range.end = range.end.max(last);
                edits.push(edit);
            }
            _ => changes.push((first..last, vec![edit])),
        }
    }
    let changes: Vec<Change> = changes
        .into_iter()
        .map(|(old, edits)| {
            let (start, end) = (starts[old.start], starts[old.end]);
            let shifted: Vec<Edit> = edits
                .iter()
                .map(|edit| Edit { range: edit.range.start - start..edit.range.end - start, text: edit.text.clone() })
                .collect();
            Change { old, new: applied(&original[start..end], &shifted) }
        })
        .collect();
    let mut result = format!("--- a/{name}\n+++ b/{name}\n");
    let mut shift = 0isize;
    let mut at = 0;
    while at < changes.len() {
        let mut last = at;
        while last + 1 < changes.len() && changes[last + 1].old.start <= changes[last].old.end + 2 * CONTEXT {
            last += 1;
        }
        shift = hunk(&mut result, &lines, &changes[at..=last], shift);
        at = last + 1;
    }
    result
}

/// Writes one hunk; returns by how many lines the new text is ahead afterwards.
fn hunk(result: &mut String, lines: &[&str], changes: &[Change], shift: isize) -> isize {
    let (first, last) = (&changes[0], &changes[changes.len() - 1]);
    let start = first.old.start.saturating_sub(CONTEXT);
    let end = (last.old.end + CONTEXT).min(lines.len());
    let mut body = String::new();
    let (mut old_count, mut new_count) = (0usize, 0usize);
    let mut push = |sign: char, line: &str, body: &mut String| {
        body.push(sign);
        body.push_str(line);
        if !line.ends_with('\n') {
            body.push_str("\n\\ No newline at end of file\n");
        }
        old_count += usize::from(sign != '+');
        new_count += usize::from(sign != '-');
    };
    let mut at = start;
    for change in changes {
        lines[at..change.old.start].iter().for_each(|line| push(' ', line, &mut body));
        lines[change.old.clone()].iter().for_each(|line| push('-', line, &mut body));
        change.new.split_inclusive('\n').for_each(|line| push('+', line, &mut body));
        at = change.old.end;
    }
    lines[at..end].iter().for_each(|line| push(' ', line, &mut body));
    // A hunk without old lines stands behind the line before it.
    let old_start = if old_count == 0 { start } else { start + 1 };
    let new_start = (start as isize + shift + isize::from(new_count > 0)).max(0);
    result.push_str(&format!("@@ -{old_start},{old_count} +{new_start},{new_count} @@\n{body}"));
    shift + new_count as isize - old_count as isize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_has_context_and_counts() {
        let text = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm";
        let edits = [Edit { range: 0..0, text: "new\n".into() }, Edit { range: 22..23, text: "L1\nL2".into() }];
        let expected = "--- a/t.c\n+++ b/t.c\n@@ -1,3 +1,4 @@\n+new\n a\n b\n c\n@@ -9,5 +10,6 @@\n i\n j\n k\n-l\n+L1\n+L2\n m\n\\ No newline at end of file\n";
        assert_eq!(unified_diff("t.c", text, &edits), expected);
        assert!(applied(text, &edits).starts_with("new\na\n"));
    }
}
