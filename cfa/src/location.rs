// SPDX-License-Identifier: Apache-2.0
//! Places in source files as people read them.

use std::fmt;

/// A place in a source file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Location {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1.
    pub column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Where the lines of a text start, and which lines of which files they come from.
#[derive(Clone, Debug)]
pub struct LineTable {
    starts: Vec<u32>,
    /// The lines behind line markers: from which line of the text on (counted from 0) they are those of a file, and the
    /// number of the first one there.
    markers: Vec<(usize, u32, String)>,
}

impl LineTable {
    /// The table of a text; line markers count only if they are asked for.
    pub fn new(text: &str, line_markers: bool) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0)
            .chain(ends.map(|(at, _)| u32::try_from(at + 1).expect("sources are shorter than 4 GiB")))
            .collect();
        let marked = |(line, text): (usize, &str)| {
            let (number, file) = line_marker(text)?;
            Some((line + 1, number, file))
        };
        let markers = if line_markers { text.lines().enumerate().filter_map(marked).collect() } else { Vec::new() };
        Self { starts, markers }
    }

    /// Line and column of a byte, both from 1, and the file if a line marker tells it. The column is that of the text, which
    /// the expansion of macros may have changed.
    pub fn place(&self, at: u32) -> (Option<&str>, u32, u32) {
        let line = self.starts.partition_point(|start| *start <= at) - 1;
        let column = at - self.starts[line] + 1;
        let number = |line: usize| u32::try_from(line).expect("fewer lines than bytes");
        let marker = self.markers.partition_point(|(first, ..)| *first <= line);
        match marker.checked_sub(1).map(|marker| &self.markers[marker]) {
            Some((first, there, file)) => (Some(file), there + number(line - first), column),
            None => (None, number(line + 1), column),
        }
    }

    /// The place of a byte in a source of the given name.
    pub fn location(&self, name: &str, at: u32) -> Location {
        let (file, line, column) = self.place(at);
        Location { file: file.unwrap_or(name).to_owned(), line, column }
    }
}

/// Number and file of a line marker: `# 12 "a.c" 2`, `#line 12 "a.c"`.
fn line_marker(line: &str) -> Option<(u32, String)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let (number, rest) = rest.split_once(char::is_whitespace)?;
    let name = rest.trim_start().strip_prefix('"')?;
    let name = &name[..name.rfind('"')?];
    Some((number.parse().ok()?, name.replace("\\\\", "\\").replace("\\\"", "\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_markers_are_followed() {
        let text = "# 1 \"a.c\"\n# 1 \"/usr/include/x.h\" 1 3\nint x;\n\n# 2 \"a.c\" 2\nint y;\n  int z;\n";
        let at = |part: &str| u32::try_from(text.find(part).unwrap()).unwrap();
        let place = |part: &str, markers| LineTable::new(text, markers).location("a.i", at(part)).to_string();
        assert_eq!(place("int x", true), "/usr/include/x.h:1:1");
        assert_eq!(place("int y", true), "a.c:2:1");
        assert_eq!(place("int z", true), "a.c:3:3");
        assert_eq!(place("int z", false), "a.i:7:3");
    }
}
