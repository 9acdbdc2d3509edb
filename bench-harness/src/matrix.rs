// SPDX-License-Identifier: Apache-2.0
//! Results of several configurations side by side: a column for each, a row for each task and property. Tables, plots,
//! scores and claims are all read off this.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crate::{
    error::Error,
    result::{self, Parameter, Record, Status},
    summary::Counts,
};

/// The content of a result file.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file's name without ending, which names its results if they do not name themselves.
    pub name: String,
    /// The folder of the file, from which logs are found.
    pub folder: PathBuf,
    /// Its lines.
    pub records: Vec<Record>,
    /// Whether its last line was cut off.
    pub cut_off: bool,
}

impl Source {
    /// Reads a result file.
    pub fn read(path: &Path) -> Result<Source, Error> {
        let results = result::read(path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Source { name, folder, records: results.records, cut_off: results.cut_off })
    }
}

/// A configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// What it is called, unique in the matrix.
    pub label: String,
    /// Its name without the parameter.
    pub config: String,
    /// The parameter that is varied.
    pub parameter: Option<Parameter>,
    /// What the tool calls itself.
    pub tool: String,
    /// Its options.
    pub options: Vec<String>,
    /// The limit of CPU time in seconds.
    pub timelimit_s: f64,
    /// The limit of memory in bytes.
    pub memlimit_bytes: u64,
    /// Which file it comes from.
    pub source: usize,
}

/// A task with one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// `CATEGORY/NAME`.
    pub task: String,
    /// The folder of the task.
    pub category: String,
    /// The name of the property.
    pub property: String,
    /// The expected verdict.
    pub expected: Option<String>,
}

/// What is looked at in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metric {
    /// CPU seconds.
    Cpu,
    /// Wall seconds.
    Wall,
    /// Peak memory in bytes.
    Memory,
    /// A number the tool printed.
    Statistic(String),
}

impl Metric {
    /// `cpu`, `wall`, `memory`, or the label of a statistic.
    pub fn parse(text: &str) -> Metric {
        match text {
            "cpu" => Metric::Cpu,
            "wall" => Metric::Wall,
            "memory" => Metric::Memory,
            label => Metric::Statistic(label.into()),
        }
    }

    /// Its value; a statistic may be missing.
    pub fn of(&self, record: &Record) -> Option<f64> {
        match self {
            Metric::Cpu => Some(record.cpu_s),
            Metric::Wall => Some(record.wall_s),
            Metric::Memory => Some(record.memory_bytes as f64),
            Metric::Statistic(label) => record.statistics.get(label).copied(),
        }
    }

    /// For the axis of a plot.
    pub fn title(&self) -> String {
        match self {
            Metric::Cpu => "CPU time (s)".into(),
            Metric::Wall => "wall time (s)".into(),
            Metric::Memory => "memory (bytes)".into(),
            Metric::Statistic(label) => label.clone(),
        }
    }
}

/// Which correct results count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Only {
    /// All.
    #[default]
    All,
    /// Verdict TRUE.
    Proofs,
    /// Verdict FALSE.
    Alarms,
}

impl Only {
    /// Whether a record is correct and counts.
    pub fn counts(self, record: &Record) -> bool {
        record.status == Status::Correct
            && match self {
                Only::All => true,
                Only::Proofs => record.is_proof(),
                Only::Alarms => !record.is_proof(),
            }
    }
}

/// The results.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    /// Configurations in the order of the files.
    pub columns: Vec<Column>,
    /// Tasks in the order in which they first appear.
    pub rows: Vec<Row>,
    /// For each row the records of the columns.
    pub cells: Vec<Vec<Option<Record>>>,
}

impl Matrix {
    /// Puts the files side by side. A name that occurs in several files is preceded by the file's.
    pub fn new(sources: &[Source]) -> Matrix {
        let mut matrix = Matrix::default();
        let mut columns: BTreeMap<(usize, Option<String>), usize> = BTreeMap::new();
        let mut rows: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut entries = Vec::new();
        for (index, source) in sources.iter().enumerate() {
            for record in &source.records {
                let column = *columns.entry((index, record.column())).or_insert_with(|| {
                    matrix.columns.push(Column::of(record, index, &source.name));
                    matrix.columns.len() - 1
                });
                let row = *rows.entry((record.task.clone(), record.property.clone())).or_insert_with(|| {
                    matrix.rows.push(Row {
                        task: record.task.clone(),
                        category: record.category.clone(),
                        property: record.property.clone(),
                        expected: record.expected.clone(),
                    });
                    matrix.rows.len() - 1
                });
                entries.push((row, column, record));
            }
        }
        matrix.cells = vec![vec![None; matrix.columns.len()]; matrix.rows.len()];
        for (row, column, record) in entries {
            matrix.cells[row][column] = Some(record.clone());
        }
        matrix.make_labels_unique(sources);
        matrix
    }

    fn make_labels_unique(&mut self, sources: &[Source]) {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for column in &self.columns {
            *seen.entry(column.label.clone()).or_default() += 1;
        }
        let mut used = BTreeSet::new();
        for column in &mut self.columns {
            if seen[&column.label] > 1 {
                let name = &sources[column.source].name;
                if *name != column.label {
                    column.label = format!("{name}: {}", column.label);
                }
            }
            let plain = column.label.clone();
            for number in 2.. {
                if used.insert(column.label.clone()) {
                    break;
                }
                column.label = format!("{plain} ({number})");
            }
        }
    }

    /// The number of the column with this label, or of the only one of the configuration.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.label == name).or_else(|| {
            let mut found = self.columns.iter().enumerate().filter(|(_, column)| column.config == name);
            let first = found.next()?;
            found.next().is_none().then_some(first.0)
        })
    }

    /// The columns of a series: the same configuration with different values of its parameter, in their order.
    pub fn series(&self, config: &str) -> Vec<(f64, usize)> {
        let mut found: Vec<(f64, usize)> = self
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.config == config)
            .filter_map(|(index, column)| Some((column.parameter.as_ref()?.value, index)))
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found
    }

    /// The records of a column.
    pub fn records(&self, column: usize) -> impl Iterator<Item = &Record> {
        self.cells.iter().filter_map(move |row| row[column].as_ref())
    }

    /// Counts over a column.
    pub fn counts(&self, column: usize) -> Counts {
        crate::summary::count(self.records(column))
    }

    /// Keeps the rows for which the function says so.
    pub fn retain_rows(&mut self, keep: impl Fn(&Row, &[Option<Record>]) -> bool) {
        let flags: Vec<bool> = self.rows.iter().zip(&self.cells).map(|(row, cells)| keep(row, cells)).collect();
        let mut flag = flags.iter();
        self.rows.retain(|_| *flag.next().unwrap_or(&true));
        let mut flag = flags.iter();
        self.cells.retain(|_| *flag.next().unwrap_or(&true));
    }

    /// Keeps these columns, in this order. An error names one that does not exist.
    pub fn select_columns(&mut self, names: &[String]) -> Result<(), Error> {
        let known = || self.columns.iter().map(|c| format!("'{}'", c.label)).collect::<Vec<_>>().join(", ");
        let mut chosen = Vec::new();
        for name in names {
            let series = self.series(name);
            match self.column(name) {
                Some(column) => chosen.push(column),
                None if !series.is_empty() => chosen.extend(series.into_iter().map(|(_, column)| column)),
                None => return Err(Error::Usage(format!("no configuration '{name}'; there are {}", known()))),
            }
        }
        self.columns = chosen.iter().map(|&column| self.columns[column].clone()).collect();
        for row in &mut self.cells {
            *row = chosen.iter().map(|&column| row[column].clone()).collect();
        }
        Ok(())
    }

    /// For each column the rows that it alone solves.
    pub fn solved_by_only_one(&self) -> Vec<Vec<usize>> {
        let mut alone = vec![Vec::new(); self.columns.len()];
        for (index, row) in self.cells.iter().enumerate() {
            let mut solvers = row.iter().enumerate().filter(|(_, cell)| is_solved(cell.as_ref()));
            if let (Some((column, _)), None) = (solvers.next(), solvers.next()) {
                alone[column].push(index);
            }
        }
        alone
    }

    /// Whether the columns differ in what they make of a row.
    pub fn differs(cells: &[Option<Record>]) -> bool {
        cells.windows(2).any(|pair| {
            let [a, b] = [&pair[0], &pair[1]].map(|cell| cell.as_ref().map(|r| (r.status, r.verdict)));
            a != b
        })
    }
}

fn is_solved(cell: Option<&Record>) -> bool {
    cell.is_some_and(|record| record.status == Status::Correct)
}

impl Column {
    fn of(record: &Record, source: usize, name: &str) -> Column {
        Column {
            label: record.column().unwrap_or_else(|| name.to_string()),
            config: record.config.clone().unwrap_or_else(|| name.to_string()),
            parameter: record.parameter.clone(),
            tool: record.tool.clone(),
            options: record.options.clone(),
            timelimit_s: record.timelimit_s,
            memlimit_bytes: record.memlimit_bytes,
            source,
        }
    }
}
