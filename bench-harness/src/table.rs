// SPDX-License-Identifier: Apache-2.0
//! Tables of a matrix: a row for each task in the style of the theses or with verdicts, the summary of each
//! configuration, scores as in the competition on software verification.

use std::collections::BTreeMap;

use clap::ValueEnum;

use crate::{
    answer::Verdict,
    grid::Grid,
    matrix::{Column, Matrix, Metric},
    result::{Record, Status},
    summary::{Counts, count},
    units::{significant, thesis_seconds},
};

/// What a cell says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// CPU time of solved tasks with three significant digits, `>1800` for a timeout, `MO` for too little memory, `?` for
    /// a tool that gave up.
    #[default]
    Thesis,
    /// Verdict or status, and the CPU time of all.
    Verdict,
}

/// Which tasks have a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Rows {
    /// All.
    #[default]
    All,
    /// Those of which the configurations make something different.
    Different,
    /// None: only the summary.
    None,
}

/// The table of tasks and configurations, the summary below it.
pub fn table(matrix: &Matrix, style: Style, rows: Rows, metric: &Metric) -> Grid {
    let mut grid = Grid { header: vec!["task".into()], ..Grid::default() };
    grid.header.extend(matrix.columns.iter().map(|column| column.label.clone()));
    let several_properties = matrix.rows.windows(2).any(|pair| pair[0].property != pair[1].property);
    for (row, cells) in matrix.rows.iter().zip(&matrix.cells) {
        if rows == Rows::None || rows == Rows::Different && !Matrix::differs(cells) {
            continue;
        }
        let name = if several_properties { format!("{} ({})", row.task, row.property) } else { row.task.clone() };
        let texts = cells.iter().map(|cell| cell.as_ref().map_or("-".into(), |record| show(record, style, metric)));
        grid.rows.push([name].into_iter().chain(texts).collect());
    }
    grid.footer = summary(matrix);
    grid
}

/// One cell.
pub fn show(record: &Record, style: Style, metric: &Metric) -> String {
    let value = match (metric.of(record), metric) {
        (Some(value), Metric::Cpu | Metric::Wall) => thesis_seconds(value),
        (Some(value), Metric::Memory) => format!("{} MB", significant(value / 1e6, 3)),
        (Some(value), Metric::Statistic(_)) if value.fract() == 0.0 => format!("{value}"),
        (Some(value), Metric::Statistic(_)) => significant(value, 3),
        (None, _) => "-".into(),
    };
    match style {
        Style::Thesis => match record.status {
            Status::Correct | Status::Unjudged => value,
            Status::Wrong => "WRONG".into(),
            Status::Timeout => format!(">{}", record.timelimit_s),
            Status::Memory => "MO".into(),
            Status::Unknown => "?".into(),
            Status::Error => "ERR".into(),
            Status::Crash => "CRASH".into(),
        },
        Style::Verdict => {
            let verdict = record.verdict.map_or("", Verdict::name);
            match record.status {
                Status::Correct | Status::Unjudged => format!("{verdict} {value}"),
                Status::Wrong => format!("WRONG {verdict} {value}"),
                status => format!("{} {value}", status.name()),
            }
        }
    }
}

/// The rows of the papers' summaries: results, causes of failure, hours with the average seconds in parentheses, all
/// with two significant digits.
pub fn summary(matrix: &Matrix) -> Vec<Vec<String>> {
    let all: Vec<Counts> = (0..matrix.columns.len()).map(|column| matrix.counts(column)).collect();
    let alone = matrix.solved_by_only_one();
    let row = |name: &str, show: &dyn Fn(&Counts) -> String| -> Vec<String> {
        [name.to_string()].into_iter().chain(all.iter().map(show)).collect()
    };
    let number = |name: &str, get: fn(&Counts) -> usize| row(name, &|counts| get(counts).to_string());
    let time = |name: &str, get: fn(&Counts) -> (f64, usize)| {
        row(name, &|counts| {
            let (seconds, runs) = get(counts);
            if runs == 0 {
                "-".into()
            } else {
                format!("{} ({})", hours(seconds), significant(seconds / runs as f64, 2))
            }
        })
    };
    let mut rows = vec![
        number("tasks", |c| c.tasks),
        number("correct results", Counts::solved),
        number("correct proofs", |c| c.proofs),
        number("correct alarms", |c| c.alarms),
        number("wrong proofs", |c| c.wrong_proofs),
        number("wrong alarms", |c| c.wrong_alarms),
        number("timeouts", |c| c.of(Status::Timeout)),
        number("out of memory", |c| c.of(Status::Memory)),
        number("other inconclusive", Counts::other),
        time("CPU time of correct (avg s)", |c| (c.cpu_solved, c.solved())),
        time("wall time of correct (avg s)", |c| (c.wall_solved, c.solved())),
        time("CPU time of proofs (avg s)", |c| (c.cpu_proofs, c.proofs)),
        time("CPU time of alarms (avg s)", |c| (c.cpu_solved - c.cpu_proofs, c.alarms)),
        row("average memory of correct (MB)", &|c| match c.solved() {
            0 => "-".into(),
            solved => significant(c.memory_solved / solved as f64 / 1e6, 2),
        }),
        row("score", &|c| c.score.to_string()),
    ];
    if matrix.columns.len() > 1 {
        let numbers = alone.iter().map(|rows| rows.len().to_string());
        rows.push(["solved by only this one".to_string()].into_iter().chain(numbers).collect());
    }
    for label in common_statistics(matrix) {
        let average = |column| average(matrix.records(column), &label).map_or("-".into(), |v| significant(v, 2));
        let name = format!("average {label}");
        rows.push([name].into_iter().chain((0..matrix.columns.len()).map(average)).collect());
    }
    rows
}

/// `31 s`, `2.5 min`, `34 h`.
fn hours(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{} s", significant(s, 2)),
        s if s < 6000.0 => format!("{} min", significant(s / 60.0, 2)),
        s => format!("{} h", significant(s / 3600.0, 2)),
    }
}

/// Labels of the numbers that tools printed, sorted.
pub fn common_statistics(matrix: &Matrix) -> Vec<String> {
    let mut labels: BTreeMap<&str, ()> = BTreeMap::new();
    for record in matrix.cells.iter().flatten().flatten() {
        labels.extend(record.statistics.keys().map(|label| (label.as_str(), ())));
    }
    labels.into_keys().map(String::from).collect()
}

/// The average of a statistic over the correct results that have it.
pub fn average<'a>(records: impl Iterator<Item = &'a Record>, label: &str) -> Option<f64> {
    let correct = records.filter(|record| record.status == Status::Correct);
    let values: Vec<f64> = correct.filter_map(|record| record.statistics.get(label).copied()).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Everything about every run: a row for each task, for each configuration its status, verdict, times, memory and
/// statistics.
pub fn raw(matrix: &Matrix) -> Grid {
    let labels = common_statistics(matrix);
    let mut grid = Grid { header: ["task", "property", "expected"].map(String::from).to_vec(), ..Grid::default() };
    for Column { label, .. } in &matrix.columns {
        let fixed = ["status", "verdict", "cpu_s", "wall_s", "memory_bytes"];
        grid.header.extend(fixed.into_iter().chain(labels.iter().map(String::as_str)).map(|n| format!("{label}: {n}")));
    }
    for (row, cells) in matrix.rows.iter().zip(&matrix.cells) {
        let mut line = vec![row.task.clone(), row.property.clone(), row.expected.clone().unwrap_or_default()];
        for cell in cells {
            let Some(record) = cell else {
                line.extend(std::iter::repeat_n(String::new(), 5 + labels.len()));
                continue;
            };
            let verdict = record.verdict.map_or("", Verdict::name).to_string();
            line.extend([record.status.name().to_string(), verdict, record.cpu_s.to_string()]);
            line.extend([record.wall_s.to_string(), record.memory_bytes.to_string()]);
            line.extend(labels.iter().map(|l| record.statistics.get(l).map_or(String::new(), f64::to_string)));
        }
        grid.rows.push(line);
    }
    grid
}

/// Points of each configuration in each category and together. The weighted sum gives each category the same weight, as
/// the competition does: the points divided by the number of tasks, averaged over the categories and multiplied by the
/// number of all tasks.
pub fn scores(matrix: &Matrix) -> Grid {
    let mut grid = Grid { header: vec!["category".into(), "tasks".into()], ..Grid::default() };
    grid.header.extend(matrix.columns.iter().map(|column| column.label.clone()));
    let mut categories: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, row) in matrix.rows.iter().enumerate() {
        categories.entry(&row.category).or_default().push(index);
    }
    let mut weighted = vec![0.0; matrix.columns.len()];
    for (name, rows) in &categories {
        let mut line = vec![name.to_string(), rows.len().to_string()];
        for (column, weighted) in weighted.iter_mut().enumerate() {
            let score = count(rows.iter().filter_map(|&row| matrix.cells[row][column].as_ref())).score;
            *weighted += score as f64 / rows.len() as f64;
            line.push(score.to_string());
        }
        grid.rows.push(line);
    }
    let tasks = matrix.rows.len();
    let greatest: i64 = matrix.rows.iter().map(|row| 1 + i64::from(row.expected.as_deref() == Some("true"))).sum();
    let line =
        |name: &str, values: Vec<String>| [name.to_string(), tasks.to_string()].into_iter().chain(values).collect();
    let columns = 0..matrix.columns.len();
    grid.footer.push(line("total", columns.map(|column| matrix.counts(column).score.to_string()).collect()));
    if categories.len() > 1 {
        let factor = tasks as f64 / categories.len() as f64;
        grid.footer.push(line("weighted", weighted.iter().map(|w| format!("{:.0}", w * factor)).collect()));
    }
    grid.footer.push(line("greatest possible", vec![greatest.to_string(); matrix.columns.len()]));
    grid
}
