// SPDX-License-Identifier: Apache-2.0
//! Published numbers beside our own. A published table is a CSV file whose heading names configurations as the
//! experiment does. Its rows are tasks, with times as in a thesis, or numbers about whole configurations.

use std::{fs, path::Path};

use serde::Deserialize;

use crate::{
    aggregate::Aggregate,
    error::Error,
    grid::{Grid, read_csv},
    matrix::{Matrix, Metric},
    table::{self, Style},
    units::significant,
};

/// A table of a publication.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// What it is called there.
    pub title: String,
    /// The CSV file, relative to the experiment. Its first column is `task` or `number`; a column `program` is the name of
    /// the task in the publication.
    pub file: String,
    /// What the cells of a table of tasks are: `cpu`, or the label of a statistic.
    #[serde(default = "cpu")]
    pub metric: String,
    /// What is to be known about the numbers, such as their unit where it is not ours.
    #[serde(default)]
    pub notes: String,
}

fn cpu() -> String {
    "cpu".into()
}

/// The file of a published table, read.
struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Published {
    fn read(&self, folder: &Path) -> Result<Table, Error> {
        let path = folder.join(&self.file);
        let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
        let mut rows = read_csv(&text);
        let bad = |message: &str| Error::Experiment { path: path.clone(), message: message.into() };
        if rows.is_empty() {
            return Err(bad("is empty"));
        }
        let header = rows.remove(0);
        if rows.iter().any(|row| row.len() != header.len()) {
            return Err(bad("has rows of different lengths"));
        }
        Ok(Table { header, rows })
    }

    /// Our numbers and the published ones, `ours | theirs`; a dash for what is not there. Tasks of ours that are not in the
    /// publication are in the table, too.
    pub fn beside(&self, folder: &Path, matrix: &Matrix) -> Result<Grid, Error> {
        let published = self.read(folder)?;
        match published.header[0].as_str() {
            "number" => self.numbers(&published, matrix, folder),
            _ => Ok(self.tasks(&published, matrix)),
        }
    }

    fn tasks(&self, published: &Table, matrix: &Matrix) -> Grid {
        let metric = Metric::parse(&self.metric);
        let first = if published.header.get(1).is_some_and(|name| name == "program") { 2 } else { 1 };
        let labels = &published.header[first..];
        let mut grid = Grid { header: vec!["task".into()], ..Grid::default() };
        grid.header.extend(labels.iter().cloned());
        let ours = |task: &str, label: &str| {
            let row = matrix.rows.iter().position(|row| row.task == task)?;
            let record = matrix.cells[row][matrix.column(label)?].as_ref()?;
            Some(table::show(record, Style::Thesis, &metric))
        };
        let dash = || "-".to_string();
        for row in &published.rows {
            let name = if row[0].is_empty() { &row[1] } else { &row[0] };
            let cells = labels.iter().zip(&row[first..]);
            let cells =
                cells.map(|(label, theirs)| format!("{} | {theirs}", ours(&row[0], label).unwrap_or_else(dash)));
            grid.rows.push([name.clone()].into_iter().chain(cells).collect());
        }
        for row in matrix.rows.iter().filter(|row| published.rows.iter().all(|known| known[0] != row.task)) {
            let cells = labels.iter().map(|label| format!("{} |", ours(&row.task, label).unwrap_or_else(dash)));
            grid.rows.push([row.task.clone()].into_iter().chain(cells).collect());
        }
        let solved = labels.iter().enumerate().map(|(index, label)| {
            let ours = matrix.column(label).map(|column| matrix.counts(column)).filter(|counts| counts.tasks > 0);
            let ours = ours.map_or_else(dash, |counts| format!("{}/{}", counts.solved(), counts.tasks));
            let theirs: Vec<&str> = published.rows.iter().map(|row| row[first + index].as_str()).collect();
            let theirs_solved = theirs.iter().filter(|cell| !cell.starts_with('>') && **cell != "MO").count();
            format!("{ours} | {theirs_solved}/{}", theirs.len())
        });
        grid.footer.push(["solved".to_string()].into_iter().chain(solved).collect());
        grid
    }

    fn numbers(&self, published: &Table, matrix: &Matrix, folder: &Path) -> Result<Grid, Error> {
        let mut grid = Grid { header: published.header.clone(), ..Grid::default() };
        grid.header[0] = String::new();
        for row in &published.rows {
            let aggregate = Aggregate::parse(&row[0])
                .map_err(|message| Error::Experiment { path: folder.join(&self.file), message })?;
            let cells = published.header[1..].iter().zip(&row[1..]).map(|(label, theirs)| {
                let value = matrix.column(label).and_then(|column| aggregate.of(matrix, column));
                let ours = value.map_or("-".into(), |value| {
                    if value.fract() == 0.0 { format!("{value}") } else { significant(value, 3) }
                });
                format!("{ours} | {theirs}")
            });
            grid.rows.push([row[0].clone()].into_iter().chain(cells).collect());
        }
        Ok(grid)
    }
}
