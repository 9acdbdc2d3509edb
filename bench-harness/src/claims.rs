// SPDX-License-Identifier: Apache-2.0
//! Claims about results that do not depend on the machine: which configuration solves more, what grows how, what is the
//! same. A claim holds, does not hold, or was not measured, and says why.

use serde::Deserialize;

use crate::{
    aggregate::Aggregate,
    answer::Verdict,
    matrix::{Matrix, Metric},
    result::{Record, Status},
    units::significant,
};

/// A claim.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its number, such as `C2`.
    pub id: String,
    /// What it says.
    pub says: String,
    /// What has to be checked; all must hold.
    pub check: Vec<Check>,
}

/// One check, and on which part of the results.
#[derive(Clone, Debug, Deserialize)]
pub struct Check {
    /// Only tasks whose CATEGORY/NAME contains one of the texts.
    #[serde(default)]
    select: Vec<String>,
    /// Only tasks on which this statistic is in the range for all configurations that have it.
    #[serde(default)]
    range: Option<Range>,
    /// With fewer tasks it cannot be told.
    #[serde(default)]
    fewest: Option<usize>,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    label: String,
    from: Option<f64>,
    to: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Kind {
    /// No verdict is wrong.
    NothingWrong { columns: Option<Vec<String>> },
    /// The configuration solves all tasks.
    SolvesAll { column: String },
    /// None of the others solves all tasks.
    OthersDoNotSolveAll { column: String },
    /// The number grows (or at least does not fall) from each configuration to the next.
    Order {
        what: String,
        columns: Vec<String>,
        #[serde(default)]
        strict: bool,
    },
    /// The configuration has the greatest number of all, or of those named.
    Greatest { what: String, column: String, among: Option<Vec<String>> },
    /// The number goes up or down with the parameter of a configuration: Kendall's tau is at least 0.3 in this direction.
    Trend { what: String, series: String, up: bool },
    /// How a number of each task grows with the number in the task's name: the last is at least or at most so many times the
    /// first, or the values lie on a line.
    Growth {
        what: String,
        column: String,
        at_least: Option<f64>,
        at_most: Option<f64>,
        #[serde(default)]
        linear: bool,
    },
    /// Both configurations come to the same verdict with the same numbers on all tasks that both solve.
    Same {
        columns: [String; 2],
        #[serde(default)]
        what: Vec<String>,
    },
    /// The number of one configuration over that of another is in the range; `common`: on tasks that both solve.
    Ratio {
        what: String,
        columns: [String; 2],
        from: Option<f64>,
        to: Option<f64>,
        #[serde(default)]
        common: bool,
    },
    /// A number of one configuration, on the tasks that are selected together, is in the range.
    Value { what: String, column: String, from: Option<f64>, to: Option<f64> },
    /// The result of every selected task.
    Result { column: String, is: Expectation },
    /// Some tasks that the first does not solve are solved by the second, in at most so many seconds.
    Gains { columns: [String; 2], at_least: usize, within_s: Option<f64> },
    /// It is shown by tests of the project, `FILE::FUNCTION`, not by this experiment.
    Test { names: Vec<String> },
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expectation {
    True,
    False,
    Unsolved,
}

/// With fewer tasks a comparison of configurations says nothing, unless the check says otherwise.
const FEWEST: usize = 5;

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds; what was seen.
    Holds(String),
    /// It does not; what was seen instead.
    Fails(String),
    /// It cannot be told, and why.
    NotMeasured(String),
}

impl Outcome {
    /// In one line.
    pub fn show(&self) -> String {
        match self {
            Outcome::Holds(seen) => format!("holds: {seen}"),
            Outcome::Fails(seen) => format!("DOES NOT HOLD: {seen}"),
            Outcome::NotMeasured(why) => format!("not measured: {why}"),
        }
    }

    fn from(holds: bool, seen: String) -> Outcome {
        if holds { Outcome::Holds(seen) } else { Outcome::Fails(seen) }
    }
}

impl Claim {
    /// Checks the claim. `unavailable` are configurations that could not run, and why.
    pub fn check(&self, matrix: &Matrix, unavailable: &[(String, String)]) -> Outcome {
        let mut holds = Vec::new();
        let mut unmeasured = Vec::new();
        for check in &self.check {
            match check.outcome(matrix, unavailable) {
                Ok(Outcome::Holds(seen)) => holds.push(seen),
                Ok(fails @ Outcome::Fails(_)) => return fails,
                Ok(Outcome::NotMeasured(why)) | Err(why) => unmeasured.push(why),
            }
        }
        unmeasured.dedup();
        if unmeasured.is_empty() {
            Outcome::Holds(holds.join("; "))
        } else {
            Outcome::NotMeasured(unmeasured.join("; "))
        }
    }

    /// The tests of the project that show it, `FILE::FUNCTION`.
    pub fn tests(&self) -> impl Iterator<Item = &str> {
        let checks = self.check.iter().filter_map(|check| match &check.kind {
            Kind::Test { names } => Some(names),
            _ => None,
        });
        checks.flatten().map(String::as_str)
    }

    /// What is wrong with the way it is written, if anything.
    pub fn mistake(&self) -> Option<String> {
        let mistake = |check: &Check| {
            let what = match &check.kind {
                Kind::Order { what, .. } | Kind::Greatest { what, .. } | Kind::Trend { what, .. } => what,
                Kind::Ratio { what, .. } | Kind::Value { what, .. } => what,
                _ => return None,
            };
            Aggregate::parse(what).err().map(|message| format!("claim {}: {message}", self.id))
        };
        self.check.iter().find_map(mistake)
    }
}

impl Check {
    /// An error is the reason why it cannot be told.
    fn outcome(&self, matrix: &Matrix, unavailable: &[(String, String)]) -> Result<Outcome, String> {
        let mut matrix = matrix.clone();
        if !self.select.is_empty() {
            matrix.retain_rows(|row, _| self.select.iter().any(|text| row.task.contains(text.as_str())));
        }
        if let Some(Range { label, from, to }) = &self.range {
            let metric = Metric::parse(label);
            let inside = |value: f64| in_range(value, *from, *to);
            matrix.retain_rows(|_, cells| cells.iter().flatten().filter_map(|r| metric.of(r)).all(inside));
        }
        let view = View { matrix: &matrix, unavailable, fewest: self.fewest.unwrap_or(FEWEST) };
        let outcome = self.kind.outcome(&view)?;
        if matches!(self.kind, Kind::Order { .. } | Kind::Greatest { .. } | Kind::Trend { .. }) {
            view.enough(matrix.rows.len())?;
        }
        Ok(outcome)
    }
}

impl Kind {
    fn outcome(&self, view: &View) -> Result<Outcome, String> {
        let matrix = view.matrix;
        match self {
            Kind::NothingWrong { columns } => view.nothing_wrong(columns.as_deref()),
            Kind::SolvesAll { column } => {
                let column = view.column(column)?;
                let unsolved: Vec<&str> = view.unsolved(column);
                let tasks = matrix.records(column).count();
                Ok(Outcome::from(
                    unsolved.is_empty(),
                    format!("{} of {tasks}{}", tasks - unsolved.len(), list(&unsolved)),
                ))
            }
            Kind::OthersDoNotSolveAll { column } => {
                let column = view.column(column)?;
                let others = (0..matrix.columns.len()).filter(|other| *other != column);
                let all: Vec<&str> = others
                    .filter(|other| view.unsolved(*other).is_empty())
                    .map(|other| matrix.columns[other].label.as_str())
                    .collect();
                Ok(Outcome::from(all.is_empty(), format!("{} others solve all{}", all.len(), list(&all))))
            }
            Kind::Order { what, columns, strict } => {
                let values = columns.iter().map(|c| view.value(what, c)).collect::<Result<Vec<f64>, _>>()?;
                let ordered =
                    values.windows(2).all(|pair| if *strict { pair[0] < pair[1] } else { pair[0] <= pair[1] });
                Ok(Outcome::from(ordered, view.shown(what, columns, &values)))
            }
            Kind::Greatest { what, column, among } => {
                let best = view.value(what, column)?;
                let labels: Vec<String> = match among {
                    Some(names) => names.clone(),
                    None => matrix.columns.iter().map(|column| column.label.clone()).collect(),
                };
                let others: Vec<String> = labels.into_iter().filter(|label| label != column).collect();
                let values = others.iter().map(|c| view.value(what, c)).collect::<Result<Vec<f64>, _>>()?;
                let names: Vec<String> = [column.clone()].into_iter().chain(others).collect();
                let all: Vec<f64> = [best].into_iter().chain(values.iter().copied()).collect();
                Ok(Outcome::from(values.iter().all(|value| *value <= best), view.shown(what, &names, &all)))
            }
            Kind::Trend { what, series, up } => view.trend(what, series, *up),
            Kind::Growth { what, column, at_least, at_most, linear } => {
                view.growth(what, column, (*at_least, *at_most), *linear)
            }
            Kind::Same { columns, what } => view.same(columns, what),
            Kind::Ratio { what, columns, from, to, common } => view.ratio(what, columns, (*from, *to), *common),
            Kind::Value { what, column, from, to } => {
                let value = view.value(what, column)?;
                Ok(Outcome::from(in_range(value, *from, *to), format!("{what} {}", show(value))))
            }
            Kind::Result { column, is } => view.result(column, *is),
            Kind::Gains { columns, at_least, within_s } => view.gains(columns, *at_least, *within_s),
            Kind::Test { names } => Err(format!("by runs; shown by the tests {}", names.join(", "))),
        }
    }
}

fn in_range(value: f64, from: Option<f64>, to: Option<f64>) -> bool {
    value >= from.unwrap_or(f64::NEG_INFINITY) && value <= to.unwrap_or(f64::INFINITY)
}

fn show(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value}") } else { significant(value, 3) }
}

/// Some names in parentheses, or nothing.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [first, second, third, _, ..] => format!(" ({first}, {second}, {third}, ...)"),
        _ => format!(" ({})", names.join(", ")),
    }
}

/// The part of the results that a check is about.
struct View<'a> {
    matrix: &'a Matrix,
    unavailable: &'a [(String, String)],
    fewest: usize,
}

impl View<'_> {
    fn enough(&self, tasks: usize) -> Result<(), String> {
        if tasks < self.fewest { Err(format!("on only {tasks} tasks")) } else { Ok(()) }
    }

    fn column(&self, name: &str) -> Result<usize, String> {
        let known = self.matrix.column(name).filter(|column| self.matrix.records(*column).next().is_some());
        known.ok_or_else(|| {
            let reason = self.unavailable.iter().find(|(column, _)| column == name).map(|(_, reason)| reason.as_str());
            format!("{name}: {}", reason.unwrap_or("no results"))
        })
    }

    fn records(&self, column: usize) -> impl Iterator<Item = &Record> {
        self.matrix.records(column)
    }

    fn value(&self, what: &str, column: &str) -> Result<f64, String> {
        let index = self.column(column)?;
        Aggregate::parse(what)?.of(self.matrix, index).ok_or_else(|| format!("{column}: no {what}"))
    }

    fn shown(&self, what: &str, columns: &[String], values: &[f64]) -> String {
        let parts: Vec<String> = columns.iter().zip(values).map(|(c, v)| format!("{c} {}", show(*v))).collect();
        format!("{what}: {}", parts.join(", "))
    }

    fn unsolved(&self, column: usize) -> Vec<&str> {
        let unsolved = self.records(column).filter(|record| record.status != Status::Correct);
        unsolved.map(|record| record.task.as_str()).collect()
    }

    fn nothing_wrong(&self, columns: Option<&[String]>) -> Result<Outcome, String> {
        let chosen = match columns {
            Some(names) => names.iter().map(|name| self.column(name)).collect::<Result<Vec<_>, _>>()?,
            None => (0..self.matrix.columns.len()).collect(),
        };
        let verdicts: Vec<&Record> = chosen
            .iter()
            .flat_map(|column| self.records(*column))
            .filter(|record| matches!(record.status, Status::Correct | Status::Wrong))
            .collect();
        if verdicts.is_empty() {
            return Err("no verdicts".into());
        }
        let wrong: Vec<&str> = verdicts.iter().filter(|r| r.status == Status::Wrong).map(|r| r.task.as_str()).collect();
        Ok(Outcome::from(
            wrong.is_empty(),
            format!("{} of {} verdicts are wrong{}", wrong.len(), verdicts.len(), list(&wrong)),
        ))
    }

    fn trend(&self, what: &str, series: &str, up: bool) -> Result<Outcome, String> {
        let columns = self.matrix.series(series);
        if columns.len() < 3 {
            let unavailable = self.unavailable.iter().find(|(column, _)| column.starts_with(series));
            let reason = unavailable.map_or("fewer than three values of the parameter", |(_, reason)| reason);
            return Err(format!("{series}: {reason}"));
        }
        let aggregate = Aggregate::parse(what)?;
        let points: Vec<(f64, f64)> =
            columns.iter().filter_map(|(x, column)| Some((*x, aggregate.of(self.matrix, *column)?))).collect();
        if points.len() < 3 {
            return Err(format!("{series}: too few values of {what}"));
        }
        if points.iter().all(|(_, value)| *value == points[0].1) {
            return Err(format!("on these tasks, {what} is always {}", show(points[0].1)));
        }
        let tau = kendall(&points);
        let shown: Vec<String> = points.iter().map(|(x, y)| format!("{x}: {}", show(*y))).collect();
        let holds = if up { tau >= 0.3 } else { tau <= -0.3 };
        Ok(Outcome::from(holds, format!("{what} by parameter {}; tau {tau:.2}", shown.join(", "))))
    }

    fn growth(
        &self,
        what: &str,
        column: &str,
        (at_least, at_most): (Option<f64>, Option<f64>),
        linear: bool,
    ) -> Result<Outcome, String> {
        let metric = Metric::parse(what);
        let index = self.column(column)?;
        let solved = self.records(index).filter(|record| record.status == Status::Correct);
        let mut points: Vec<(f64, f64)> =
            solved.filter_map(|r| Some((number_in(&r.task)?, metric.of(r)?.max(1e-3)))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(first), Some(last), true) = (points.first(), points.last(), points.len() >= 3) else {
            return Err(format!("{column}: fewer than three solved tasks with a number"));
        };
        let factor = last.1 / first.1;
        let mut seen = format!("{what} from {} ({}) to {} ({})", show(first.1), first.0, show(last.1), last.0);
        let mut holds = in_range(factor, at_least, at_most);
        if linear {
            let (slope, correlation) = line(&points);
            seen += &format!("; slope {slope:.2}, correlation {correlation:.3}");
            holds &= correlation >= 0.98;
        }
        Ok(Outcome::from(holds, seen))
    }

    /// Pairs of correct results.
    fn both(&self, columns: &[String; 2]) -> Result<Vec<[&Record; 2]>, String> {
        let [a, b] = [self.column(&columns[0])?, self.column(&columns[1])?];
        let pairs = self.matrix.cells.iter().filter_map(|row| Some([row[a].as_ref()?, row[b].as_ref()?]));
        let pairs: Vec<_> = pairs.filter(|pair| pair.iter().all(|record| record.status == Status::Correct)).collect();
        self.enough(pairs.len()).map_err(|why| format!("{why} that {} and {} solve", columns[0], columns[1]))?;
        Ok(pairs)
    }

    fn same(&self, columns: &[String; 2], what: &[String]) -> Result<Outcome, String> {
        let pairs = self.both(columns)?;
        for label in what {
            let metric = Metric::parse(label);
            if !pairs.iter().flatten().any(|record| metric.of(record).is_some()) {
                return Err(format!("no {label}"));
            }
            let different = pairs.iter().find(|[a, b]| metric.of(a) != metric.of(b));
            if let Some([a, b]) = different {
                let [x, y] = [a, b].map(|record| metric.of(record).map_or("none".into(), show));
                return Ok(Outcome::Fails(format!("{label} on {}: {x} and {y}", a.task)));
            }
        }
        Ok(Outcome::Holds(format!("the same on {} tasks", pairs.len())))
    }

    fn ratio(
        &self,
        what: &str,
        columns: &[String; 2],
        (from, to): (Option<f64>, Option<f64>),
        common: bool,
    ) -> Result<Outcome, String> {
        let mut part = self.matrix.clone();
        if common {
            self.both(columns)?;
            let indices = [self.column(&columns[0])?, self.column(&columns[1])?];
            let solved = |record: &Option<Record>| record.as_ref().is_some_and(|r| r.status == Status::Correct);
            part.retain_rows(|_, cells| indices.iter().all(|&index| solved(&cells[index])));
        }
        self.enough(part.rows.len())?;
        let view = View { matrix: &part, ..*self };
        let values = [view.value(what, &columns[0])?, view.value(what, &columns[1])?];
        if values[1] == 0.0 {
            return Err(format!("{}: {what} is zero", columns[1]));
        }
        let ratio = values[0] / values[1];
        let shown = format!("{}; ratio {}", self.shown(what, columns, &values), significant(ratio, 3));
        Ok(Outcome::from(in_range(ratio, from, to), shown))
    }

    fn result(&self, column: &str, is: Expectation) -> Result<Outcome, String> {
        let index = self.column(column)?;
        let in_time = |record: &Record| !matches!(record.status, Status::Timeout | Status::Memory);
        let matches = |record: &Record| match is {
            Expectation::True => record.verdict == Some(Verdict::True) && in_time(record),
            Expectation::False => record.verdict == Some(Verdict::False) && in_time(record),
            Expectation::Unsolved => record.status != Status::Correct,
        };
        let different: Vec<String> = self
            .records(index)
            .filter(|record| !matches(record))
            .map(|record| format!("{} {}", record.task, record.verdict.map_or(record.status.name(), Verdict::name)))
            .collect();
        let names: Vec<&str> = different.iter().map(String::as_str).collect();
        let all = self.records(index).count();
        Ok(Outcome::from(
            names.is_empty(),
            format!("{column}: {} of {all} as expected{}", all - names.len(), list(&names)),
        ))
    }

    fn gains(&self, columns: &[String; 2], at_least: usize, within_s: Option<f64>) -> Result<Outcome, String> {
        let [a, b] = [self.column(&columns[0])?, self.column(&columns[1])?];
        let pairs = self.matrix.cells.iter().filter_map(|row| Some([row[a].as_ref()?, row[b].as_ref()?]));
        let gained: Vec<&str> = pairs
            .filter(|[a, b]| a.status != Status::Correct && b.status == Status::Correct)
            .filter(|[_, b]| within_s.is_none_or(|limit| b.cpu_s <= limit))
            .map(|[_, b]| b.task.as_str())
            .collect();
        Ok(Outcome::from(gained.len() >= at_least, format!("{} gained{}", gained.len(), list(&gained))))
    }
}

/// The last number in a name that is not part of an ending like `-1`.
fn number_in(task: &str) -> Option<f64> {
    let name = task.rsplit('/').next()?.split(['.', '-']).next()?;
    let start = name.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |place| place + 1);
    name[start..].parse().ok()
}

/// Kendall's tau (a): how much more often the values go up with the first number than down, from -1 to 1.
fn kendall(points: &[(f64, f64)]) -> f64 {
    let mut sum = 0.0;
    let mut pairs = 0.0;
    for (index, a) in points.iter().enumerate() {
        for b in &points[index + 1..] {
            sum += ((b.0 - a.0) * (b.1 - a.1)).partial_cmp(&0.0).map_or(0.0, |order| order as i8 as f64);
            pairs += 1.0;
        }
    }
    if pairs == 0.0 { 0.0 } else { sum / pairs }
}

/// Slope and correlation of the regression line.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let (mean_x, mean_y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / n, y + point.1 / n));
    let sums = points.iter().fold((0.0, 0.0, 0.0), |(xy, xx, yy), (x, y)| {
        let (x, y) = (x - mean_x, y - mean_y);
        (xy + x * y, xx + x * x, yy + y * y)
    });
    (sums.0 / sums.1, sums.0 / (sums.1 * sums.2).sqrt())
}

#[cfg(test)]
#[path = "claims_tests.rs"]
mod tests;
