// SPDX-License-Identifier: Apache-2.0
//! Numbers about a configuration as a whole, by names: those that summaries in papers have, and sums, averages and
//! maxima of what the tool printed. Published tables and claims use the same names.

use crate::{
    matrix::{Matrix, Metric, Only},
    result::{Record, Status},
    summary::Counts,
};

/// A number about a configuration.
#[derive(Clone, Debug)]
pub struct Aggregate {
    name: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Of the counts.
    Count(fn(&Counts) -> usize),
    /// How many tasks nobody else solves.
    OnlyOne,
    /// A number of each correct result, put together.
    Fold(Fold, Only, Metric),
    /// A number of every result, solved or not, put together.
    FoldAll(Fold, Metric),
    /// Used CPU time over wall time of the correct results.
    CpuPerWall,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    Sum,
    Average,
    Max,
}

impl Aggregate {
    /// `correct`, `proofs`, `alarms`, `wrong`, `wrong_proofs`, `wrong_alarms`, `timeouts`, `oom`, `other`,
    /// `solved_by_only_one`, `cpu_per_wall`; `sum`, `avg` or `max`, then optionally `proofs`, `alarms` or `all`, then `cpu`,
    /// `wall`, `memory` or a label of a statistic: `avg proofs cpu`, `avg Number of CEGAR refinements`.
    pub fn parse(name: &str) -> Result<Aggregate, String> {
        let kind = match name {
            "tasks" => Kind::Count(|c| c.tasks),
            "correct" => Kind::Count(Counts::solved),
            "proofs" => Kind::Count(|c| c.proofs),
            "alarms" => Kind::Count(|c| c.alarms),
            "wrong" => Kind::Count(|c| c.of(Status::Wrong)),
            "wrong_proofs" => Kind::Count(|c| c.wrong_proofs),
            "wrong_alarms" => Kind::Count(|c| c.wrong_alarms),
            "timeouts" => Kind::Count(|c| c.of(Status::Timeout)),
            "oom" => Kind::Count(|c| c.of(Status::Memory)),
            "other" => Kind::Count(Counts::other),
            "solved_by_only_one" => Kind::OnlyOne,
            "cpu_per_wall" => Kind::CpuPerWall,
            _ => {
                let (fold, rest) = name.split_once(' ').ok_or_else(|| format!("'{name}' is not known"))?;
                let fold = match fold {
                    "sum" => Fold::Sum,
                    "avg" => Fold::Average,
                    "max" => Fold::Max,
                    _ => return Err(format!("'{name}' is not known")),
                };
                match rest.split_once(' ') {
                    Some(("proofs", rest)) => Kind::Fold(fold, Only::Proofs, Metric::parse(rest)),
                    Some(("alarms", rest)) => Kind::Fold(fold, Only::Alarms, Metric::parse(rest)),
                    Some(("all", rest)) => Kind::FoldAll(fold, Metric::parse(rest)),
                    _ => Kind::Fold(fold, Only::All, Metric::parse(rest)),
                }
            }
        };
        Ok(Aggregate { name: name.into(), kind })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its value for a column; none if nothing was measured that it could be computed from.
    pub fn of(&self, matrix: &Matrix, column: usize) -> Option<f64> {
        matrix.records(column).next()?;
        let correct = |only: Only| matrix.records(column).filter(move |record| only.counts(record));
        match &self.kind {
            Kind::Count(get) => Some(get(&matrix.counts(column)) as f64),
            Kind::OnlyOne => Some(matrix.solved_by_only_one()[column].len() as f64),
            Kind::Fold(fold, only, metric) => fold.over(correct(*only), metric),
            Kind::FoldAll(fold, metric) => fold.over(matrix.records(column), metric),
            Kind::CpuPerWall => {
                let (cpu, wall) = correct(Only::All)
                    .fold((0.0, 0.0), |(cpu, wall), record| (cpu + record.cpu_s, wall + record.wall_s));
                (wall > 0.0).then(|| cpu / wall)
            }
        }
    }
}

impl Fold {
    fn over<'a>(self, records: impl Iterator<Item = &'a Record>, metric: &Metric) -> Option<f64> {
        let values: Vec<f64> = records.filter_map(|record| metric.of(record)).collect();
        let sum = values.iter().sum::<f64>();
        match self {
            _ if values.is_empty() => None,
            Fold::Sum => Some(sum),
            Fold::Average => Some(sum / values.len() as f64),
            Fold::Max => values.into_iter().reduce(f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let kind = |name| format!("{:?}", Aggregate::parse(name).unwrap().kind);
        let expected = |kind: Kind| format!("{kind:?}");
        assert_eq!(kind("avg proofs cpu"), expected(Kind::Fold(Fold::Average, Only::Proofs, Metric::Cpu)));
        let label = Metric::Statistic("Number of CEGAR refinements".into());
        let sum = Kind::Fold(Fold::Sum, Only::All, label.clone());
        assert_eq!(kind("sum Number of CEGAR refinements"), expected(sum));
        assert_eq!(kind("max all Number of CEGAR refinements"), expected(Kind::FoldAll(Fold::Max, label)));
        assert!(Aggregate::parse("corect").is_err() && Aggregate::parse("mean cpu").is_err());
    }
}
