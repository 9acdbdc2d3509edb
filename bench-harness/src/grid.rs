// SPDX-License-Identifier: Apache-2.0
//! A table of texts, and the formats it can be written in: aligned text, Markdown, LaTeX and CSV.

use clap::ValueEnum;

/// How a grid is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns for a terminal.
    #[default]
    Text,
    /// A table as GitHub renders it.
    Markdown,
    /// A `tabular`, with rules of the package booktabs.
    Latex,
    /// Comma-separated values, quoted where needed.
    Csv,
    /// One self-contained page.
    Html,
}

/// A heading, rows, and rows below a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// What stands above.
    pub header: Vec<String>,
    /// The body.
    pub rows: Vec<Vec<String>>,
    /// The summary under the body.
    pub footer: Vec<Vec<String>>,
}

impl Grid {
    /// Writes the grid; the first column is aligned to the left, the others to the right. HTML is not a grid's matter and
    /// gives text.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Text | Format::Html => self.text(),
            Format::Markdown => self.markdown(),
            Format::Latex => self.latex(),
            Format::Csv => self.lines(|row| row.iter().map(|c| csv(c)).collect::<Vec<_>>().join(",")),
        }
    }

    fn all(&self) -> impl Iterator<Item = &Vec<String>> {
        [&self.header].into_iter().chain(&self.rows).chain(&self.footer)
    }

    fn lines(&self, show: impl Fn(&Vec<String>) -> String) -> String {
        self.all().map(|row| show(row) + "\n").collect()
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.header.len()];
        for row in self.all() {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        widths
    }

    fn text(&self) -> String {
        let widths = self.widths();
        let show = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate().map(|(index, (cell, &width))| match index {
                0 => format!("{cell:width$}"),
                _ => format!("{cell:>width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
        };
        let rule = "-".repeat(widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)) + "\n";
        let mut text = show(&self.header) + &rule;
        text.extend(self.rows.iter().map(show));
        if !self.footer.is_empty() && !self.rows.is_empty() {
            text.push_str(&rule);
        }
        text.extend(self.footer.iter().map(show));
        text
    }

    fn markdown(&self) -> String {
        let show = |row: &Vec<String>| {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rules = (0..self.header.len()).map(|index| if index == 0 { ":--" } else { "--:" });
        let mut text = show(&self.header) + &format!("| {} |\n", rules.collect::<Vec<_>>().join(" | "));
        text.extend(self.rows.iter().chain(&self.footer).map(show));
        text
    }

    fn latex(&self) -> String {
        let show = |row: &Vec<String>| row.iter().map(|cell| latex(cell)).collect::<Vec<_>>().join(" & ") + " \\\\\n";
        let mut text =
            format!("\\begin{{tabular}}{{l{}}}\n\\toprule\n", "r".repeat(self.header.len().saturating_sub(1)));
        text += &show(&self.header);
        text += "\\midrule\n";
        text.extend(self.rows.iter().map(show));
        if !self.footer.is_empty() && !self.rows.is_empty() {
            text += "\\midrule\n";
        }
        text.extend(self.footer.iter().map(show));
        text + "\\bottomrule\n\\end{tabular}\n"
    }
}

fn csv(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_string() }
}

fn latex(cell: &str) -> String {
    let mut text = String::new();
    for character in cell.chars() {
        match character {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => text.extend(['\\', character]),
            '\\' => text.push_str("\\textbackslash{}"),
            '~' => text.push_str("\\textasciitilde{}"),
            '^' => text.push_str("\\textasciicircum{}"),
            '>' => text.push_str("$>$"),
            '<' => text.push_str("$<$"),
            _ => text.push(character),
        }
    }
    text
}

/// Reads comma-separated values as [`Format::Csv`] writes them; empty lines are left out.
pub fn read_csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut row: Vec<String> = Vec::new();
    let mut cell = String::new();
    let mut quoted = false;
    let mut characters = text.chars().filter(|c| *c != '\r').chain(['\n']).peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => cell.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                if !row.is_empty() || !cell.is_empty() {
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
            }
            _ => cell.push(character),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn grid() -> Grid {
        let row = |cells: [&str; 2]| cells.map(String::from).to_vec();
        Grid {
            header: row(["task", "a_1"]),
            rows: vec![row(["x|y", ">20"]), row(["z", "1,5"])],
            footer: vec![row(["all", "2"])],
        }
    }

    #[test]
    fn formats() {
        expect![[r#"
            task  a_1
            ---------
            x|y   >20
            z     1,5
            ---------
            all     2
        "#]]
        .assert_eq(&grid().render(Format::Text));
        expect![[r#"
            | task | a_1 |
            | :-- | --: |
            | x\|y | >20 |
            | z | 1,5 |
            | all | 2 |
        "#]]
        .assert_eq(&grid().render(Format::Markdown));
        expect![[r#"
            \begin{tabular}{lr}
            \toprule
            task & a\_1 \\
            \midrule
            x|y & $>$20 \\
            z & 1,5 \\
            \midrule
            all & 2 \\
            \bottomrule
            \end{tabular}
        "#]]
        .assert_eq(&grid().render(Format::Latex));
    }

    #[test]
    fn csv_reads_back() {
        let mut grid = grid();
        grid.rows.push(vec!["a \"quoted\"\nword".into(), String::new()]);
        let all: Vec<Vec<String>> = grid.all().cloned().collect();
        assert_eq!(read_csv(&grid.render(Format::Csv)), all);
    }
}
