// SPDX-License-Identifier: Apache-2.0
//! Two result files side by side: what was lost, what was gained, what became slower.

use std::{collections::BTreeMap, fmt::Write};

use crate::{
    answer::Verdict,
    result::{Record, Status},
    summary,
    units::show_seconds,
};

/// Slow-downs and speed-ups that are listed.
const MOST_CHANGES: usize = 10;
/// A CPU time must differ by this factor and by so many seconds to be listed.
const FACTOR: f64 = 2.0;
const SECONDS: f64 = 1.0;

/// The difference between an old and a new result file.
#[derive(Debug, Default)]
pub struct Comparison<'a> {
    /// Solved before, not solved now.
    pub lost: Vec<Pair<'a>>,
    /// Solved now, not before.
    pub gained: Vec<Pair<'a>>,
    /// Not solved in either, but for different causes.
    pub changed: Vec<Pair<'a>>,
    /// Solved in both.
    pub both: Vec<Pair<'a>>,
    /// Only in the old file.
    pub dropped: Vec<&'a Record>,
    /// Only in the new file.
    pub added: Vec<&'a Record>,
    /// Wrong in the new file, whatever it was before.
    pub wrong: Vec<&'a Record>,
}

/// The same task in both files.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// Before.
    pub old: &'a Record,
    /// Now.
    pub new: &'a Record,
}

impl Pair<'_> {
    /// The change in one line.
    fn show(&self) -> String {
        let reason = self.new.reason.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
        let [old, new] = [self.old, self.new].map(|r| match r.status {
            Status::Correct => format!("correct ({})", r.verdict.map_or("", Verdict::name)),
            _ => r.status.name().to_string(),
        });
        format!("{}  {old} -> {new}{reason}", name(self.new))
    }

    fn ratio(&self) -> f64 {
        // A clock tick at least: below that a ratio is noise, and it must not be a division by zero.
        self.new.cpu_s.max(0.01) / self.old.cpu_s.max(0.01)
    }
}

/// The task, and the configuration if it has a name.
fn name(record: &Record) -> String {
    record.column().map_or(record.task.clone(), |column| format!("{column}: {}", record.task))
}

/// Compares task by task, in the order of the new file. Configurations of the same name are compared; if each file has
/// only one, these are, whatever they are called.
pub fn compare<'a>(old: &'a [Record], new: &'a [Record]) -> Comparison<'a> {
    let single = [old, new].iter().all(|records| records.windows(2).all(|pair| pair[0].column() == pair[1].column()));
    let key = |record: &Record| {
        let (column, task, property) = record.key();
        (if single { String::new() } else { column }, task, property)
    };
    let mut before: BTreeMap<_, _> = old.iter().map(|record| (key(record), record)).collect();
    let mut comparison = Comparison::default();
    for new in new {
        if new.status == Status::Wrong {
            comparison.wrong.push(new);
        }
        let Some(old) = before.remove(&key(new)) else {
            comparison.added.push(new);
            continue;
        };
        let pair = Pair { old, new };
        match (old.status == Status::Correct, new.status == Status::Correct) {
            (true, false) => comparison.lost.push(pair),
            (false, true) => comparison.gained.push(pair),
            (true, true) => comparison.both.push(pair),
            (false, false) if old.status != new.status => comparison.changed.push(pair),
            (false, false) => {}
        }
    }
    comparison.dropped = old.iter().filter(|record| before.contains_key(&key(record))).collect();
    comparison
}

impl Comparison<'_> {
    /// Whether the new results are worse in a way that must not pass unnoticed: a wrong verdict, a lost task, or together
    /// slower by more than the factor.
    pub fn is_bad(&self, slower: Option<f64>) -> bool {
        let too_slow = slower.is_some_and(|factor| self.ratio() > factor);
        !self.wrong.is_empty() || !self.lost.is_empty() || too_slow
    }

    /// CPU time of what both solve, new to old.
    fn ratio(&self) -> f64 {
        let sum = |which: fn(&Pair) -> f64| self.both.iter().map(which).sum::<f64>();
        let (old, new) = (sum(|pair| pair.old.cpu_s), sum(|pair| pair.new.cpu_s));
        if old > 0.0 { new / old } else { 1.0 }
    }

    /// The whole report.
    pub fn report(&self, new: &[Record]) -> String {
        let mut text = summary::wrong(new);
        for (title, pairs) in [("LOST", &self.lost), ("gained", &self.gained), ("changed", &self.changed)] {
            if !pairs.is_empty() {
                let _ = writeln!(text, "{title}: {}", pairs.len());
                for pair in pairs {
                    let _ = writeln!(text, "  {}", pair.show());
                }
                text.push('\n');
            }
        }
        for (title, records) in [("only in the old results", &self.dropped), ("only in the new results", &self.added)] {
            if !records.is_empty() {
                let solved = records.iter().filter(|record| record.status == Status::Correct).count();
                let _ = writeln!(text, "{title}: {} tasks, {solved} of them solved", records.len());
            }
        }
        self.times(&mut text);
        let _ = writeln!(
            text,
            "wrong {}, lost {}, gained {}, changed {}, solved in both {}",
            self.wrong.len(),
            self.lost.len(),
            self.gained.len(),
            self.changed.len(),
            self.both.len()
        );
        text
    }

    fn times(&self, text: &mut String) {
        if self.both.is_empty() {
            return;
        }
        let old: f64 = self.both.iter().map(|pair| pair.old.cpu_s).sum();
        let new: f64 = self.both.iter().map(|pair| pair.new.cpu_s).sum();
        let mut ratios: Vec<f64> = self.both.iter().map(Pair::ratio).collect();
        let ratio = self.ratio();
        let _ = writeln!(
            text,
            "CPU time of what both solve: {} s -> {} s, ratio {ratio:.2}, median ratio {:.2}",
            show_seconds(old),
            show_seconds(new),
            summary::median(&mut ratios).unwrap_or(1.0)
        );
        let mut sorted: Vec<&Pair> = self.both.iter().collect();
        sorted.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
        let notable = |pair: &&&Pair| (pair.new.cpu_s - pair.old.cpu_s).abs() >= SECONDS;
        let slower = sorted.iter().filter(notable).take_while(|pair| pair.ratio() >= FACTOR).take(MOST_CHANGES);
        let faster =
            sorted.iter().rev().filter(notable).take_while(|pair| pair.ratio() <= 1.0 / FACTOR).take(MOST_CHANGES);
        for (title, pairs) in [("slower", slower.collect::<Vec<_>>()), ("faster", faster.collect())] {
            for pair in pairs {
                let [old, new] = [pair.old, pair.new].map(|record| show_seconds(record.cpu_s));
                let _ = writeln!(text, "  {title}: {}  {old} s -> {new} s", name(pair.new));
            }
        }
    }
}
