// SPDX-License-Identifier: Apache-2.0
//! Plots of a matrix: quantile functions, two configurations against each other, and time over a parameter.

mod chart;
mod font;
mod png;
pub(crate) mod scene;

use chart::{Axis, Chart, Kind, Series};
pub use scene::Scene;

use crate::{
    error::Error,
    matrix::{Matrix, Metric, Only},
    result::{Record, Status},
};

/// The least that a time is drawn as: the resolution of clocks.
const LEAST_SECONDS: f64 = 0.001;

/// What is drawn, common to all kinds of plots.
#[derive(Clone, Debug)]
pub struct Wish {
    /// What is looked at.
    pub metric: Metric,
    /// Which correct results count.
    pub only: Only,
    /// Linear axes, where they would be logarithmic.
    pub linear: bool,
    /// The heading; each kind has its own if it is empty.
    pub title: String,
}

impl Wish {
    fn value(&self, record: &Record) -> Option<f64> {
        let value = self.metric.of(record)?;
        Some(if self.is_time() { value.max(LEAST_SECONDS) } else { value })
    }

    fn is_time(&self) -> bool {
        matches!(self.metric, Metric::Cpu | Metric::Wall)
    }

    fn title(&self, default: &str) -> String {
        if self.title.is_empty() { default.into() } else { self.title.clone() }
    }
}

/// The quantile functions: x results were each found with at most y. With `by_score`, x is the sum of points, which
/// begins at those of the wrong results.
pub fn quantile(matrix: &Matrix, wish: &Wish, by_score: bool) -> Scene {
    let mut series = Vec::new();
    for (index, column) in matrix.columns.iter().enumerate() {
        let counted = matrix.records(index).filter(|record| wish.only.counts(record));
        let mut found: Vec<(f64, &Record)> = counted.filter_map(|r| Some((wish.value(r)?, r))).collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let counts = matrix.counts(index);
        let mut x =
            if by_score { -(32.0 * counts.wrong_proofs as f64) - 16.0 * counts.wrong_alarms as f64 } else { 0.0 };
        let points = found.into_iter().map(|(y, record)| {
            x += if by_score && record.is_proof() { 2.0 } else { 1.0 };
            (x, y, format!("{}: {y}", record.task))
        });
        series.push(Series { name: column.label.clone(), points: points.collect(), kind: Kind::Line });
    }
    let label = match (by_score, wish.only) {
        (true, _) => "accumulated score",
        (false, Only::All) => "n-th fastest correct result",
        (false, Only::Proofs) => "n-th fastest correct proof",
        (false, Only::Alarms) => "n-th fastest correct alarm",
    };
    let values = |f: fn(&(f64, f64, String)) -> f64| series.iter().flat_map(|s| &s.points).map(f);
    let x = Axis::around(label.into(), false, values(|p| p.0));
    let y = Axis::around(wish.metric.title(), !wish.linear, values(|p| p.1));
    Chart { title: wish.title("quantile functions"), x, y, series, diagonal: false }.scene()
}

/// Two configurations against each other, a mark for each task that at least one solves; unsolved ones lie at the far
/// end.
pub fn scatter(matrix: &Matrix, wish: &Wish, first: usize, second: usize) -> Scene {
    let cells = || matrix.cells.iter().filter_map(|row| Some([row[first].as_ref()?, row[second].as_ref()?]));
    let solved = |record: &Record| wish.only.counts(record).then(|| wish.value(record)).flatten();
    let most = cells().flatten().filter_map(solved).fold(0.0, f64::max);
    let limit = if wish.metric == Metric::Cpu {
        [first, second].map(|c| matrix.columns[c].timelimit_s).into_iter().fold(most, f64::max)
    } else {
        most * if wish.linear { 1.05 } else { 2.0 }
    };
    let mut points = [Vec::new(), Vec::new()];
    for [a, b] in cells() {
        let (x, y) = (solved(a), solved(b));
        let place = match (x, y) {
            (Some(x), Some(y)) => (x, y, format!("{}: {x}, {y}", a.task)),
            (Some(x), None) => (x, limit, format!("{}: {x}, {}", a.task, b.status.name())),
            (None, Some(y)) => (limit, y, format!("{}: {}, {y}", a.task, a.status.name())),
            (None, None) => continue,
        };
        points[usize::from(x.is_none() || y.is_none())].push(place);
    }
    let all = || points.iter().flatten();
    let values = all().flat_map(|p| [p.0, p.1]);
    let has_zero = all().any(|p| p.0 <= 0.0 || p.1 <= 0.0);
    let both = Axis::around(String::new(), !wish.linear && !has_zero, values);
    let axis = |column: usize| Axis {
        label: format!("{}: {}", matrix.columns[column].label, wish.metric.title()),
        ..both.clone()
    };
    let [solved, unsolved] = points;
    let names = ["solved by both", "solved by one"];
    let series = names.into_iter().zip([solved, unsolved]);
    let series = series.map(|(name, points)| Series { name: name.into(), points, kind: Kind::Points }).collect();
    Chart { title: wish.title("two configurations"), x: axis(first), y: axis(second), series, diagonal: true }.scene()
}

/// A line for each task over the parameter of a series; values at which the task is not solved have no mark.
pub fn parameter(matrix: &Matrix, wish: &Wish, config: &str) -> Result<Scene, Error> {
    let columns = matrix.series(config);
    let Some(name) = columns.first().and_then(|(_, column)| matrix.columns[*column].parameter.as_ref()) else {
        return Err(Error::Usage(format!("no configuration '{config}' with a parameter")));
    };
    let mut series = Vec::new();
    for (row, cells) in matrix.rows.iter().zip(&matrix.cells) {
        let points = columns.iter().filter_map(|(x, column)| {
            let record = cells[*column].as_ref().filter(|record| wish.only.counts(record))?;
            let y = wish.value(record)?;
            Some((*x, y, format!("{}, {x}: {y}", row.task)))
        });
        let points: Vec<_> = points.collect();
        if !points.is_empty() {
            let name = row.task.rsplit('/').next().unwrap_or(&row.task).to_string();
            series.push(Series { name, points, kind: Kind::Line });
        }
    }
    let x = Axis::around(name.name.clone(), false, columns.iter().map(|(x, _)| *x));
    let y = series.iter().flat_map(|s| &s.points).map(|p| p.1);
    let y = Axis::around(wish.metric.title(), !wish.linear, y);
    Ok(Chart { title: wish.title(config), x, y, series, diagonal: false }.scene())
}

/// The drawing that fits a matrix best, for its page: how many results in which time, and the first two
/// configurations.
pub fn for_page(matrix: &Matrix) -> Vec<(String, String)> {
    let wish = |only, title: &str| Wish { metric: Metric::Cpu, only, linear: false, title: title.into() };
    let mut plots = Vec::new();
    for (only, title) in
        [(Only::All, "correct results"), (Only::Proofs, "correct proofs"), (Only::Alarms, "correct alarms")]
    {
        let any = matrix.cells.iter().flatten().flatten().any(|record| only.counts(record));
        if any {
            plots.push((title.to_string(), quantile(matrix, &wish(only, title), false).svg()));
        }
    }
    let solved = |column| matrix.records(column).any(|record| record.status == Status::Correct);
    let pairs = (1..matrix.columns.len()).filter(|&column| solved(0) && solved(column)).take(8);
    for column in pairs {
        let title = format!("{} against {}", matrix.columns[0].label, matrix.columns[column].label);
        let scene = scatter(matrix, &wish(Only::All, &title), 0, column);
        plots.push((title, scene.svg()));
    }
    let mut series: Vec<&str> =
        matrix.columns.iter().filter(|c| c.parameter.is_some()).map(|c| c.config.as_str()).collect();
    series.dedup();
    for config in series {
        let title = format!("{config} over its parameter");
        if let Ok(scene) = parameter(matrix, &wish(Only::All, &title), config) {
            plots.push((title, scene.svg()));
        }
    }
    plots
}
