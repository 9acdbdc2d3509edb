// SPDX-License-Identifier: Apache-2.0
//! What a result file says, for people: wrong verdicts by name first, then counts, CPU times, reasons and a table.

use std::{cmp::Reverse, collections::BTreeMap, fmt::Write};

use crate::{
    result::{Record, Status},
    units::{show_bytes, show_seconds},
    validation::Judgement,
};

/// Reasons that are listed.
const MOST_REASONS: usize = 12;

/// Counts over some records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// All records.
    pub tasks: usize,
    /// By status.
    pub by_status: BTreeMap<Status, usize>,
    /// Correct ones with the verdict TRUE.
    pub proofs: usize,
    /// Correct ones with the verdict FALSE.
    pub alarms: usize,
    /// Points as in the competition on software verification: 2 for a proof, 1 for an alarm, -32 for a wrong proof,
    /// -16 for a wrong alarm.
    pub score: i64,
    /// Wrong ones with the verdict TRUE.
    pub wrong_proofs: usize,
    /// Wrong ones with the verdict FALSE.
    pub wrong_alarms: usize,
    /// CPU seconds of the correct ones.
    pub cpu_solved: f64,
    /// Those of the proofs among them.
    pub cpu_proofs: f64,
    /// Wall seconds of the correct ones.
    pub wall_solved: f64,
    /// Those of the proofs among them.
    pub wall_proofs: f64,
    /// Bytes of memory of the correct ones, added up.
    pub memory_solved: f64,
    /// CPU seconds of all.
    pub cpu_all: f64,
}

impl Counts {
    /// Adds one.
    pub fn add(&mut self, record: &Record) {
        self.tasks += 1;
        *self.by_status.entry(record.status).or_default() += 1;
        self.cpu_all += record.cpu_s;
        let proof = record.is_proof();
        match (record.status, proof) {
            (Status::Correct, _) => {
                self.proofs += usize::from(proof);
                self.alarms += usize::from(!proof);
                self.score += if proof { 2 } else { 1 };
                self.cpu_solved += record.cpu_s;
                self.wall_solved += record.wall_s;
                self.memory_solved += record.memory_bytes as f64;
                if proof {
                    self.cpu_proofs += record.cpu_s;
                    self.wall_proofs += record.wall_s;
                }
            }
            (Status::Wrong, true) => {
                self.score -= 32;
                self.wrong_proofs += 1;
            }
            (Status::Wrong, false) => {
                self.score -= 16;
                self.wrong_alarms += 1;
            }
            _ => {}
        }
    }

    /// Correct ones.
    pub fn solved(&self) -> usize {
        self.of(Status::Correct)
    }

    /// Neither correct nor wrong, and not for want of time or memory.
    pub fn other(&self) -> usize {
        [Status::Unjudged, Status::Unknown, Status::Error, Status::Crash].map(|status| self.of(status)).iter().sum()
    }

    /// How many have this status.
    pub fn of(&self, status: Status) -> usize {
        self.by_status.get(&status).copied().unwrap_or(0)
    }
}

/// Counts over all records.
pub fn count<'a>(records: impl IntoIterator<Item = &'a Record>) -> Counts {
    let mut counts = Counts::default();
    records.into_iter().for_each(|record| counts.add(record));
    counts
}

/// The whole report.
pub fn report(records: &[Record]) -> String {
    let mut text = wrong(records);
    let total = count(records);
    totals(&mut text, records, &total);
    evidence(&mut text, records);
    reasons(&mut text, records);
    table(&mut text, records, &total);
    text
}

/// Wrong verdicts by name, or nothing.
pub fn wrong(records: &[Record]) -> String {
    let mut text = String::new();
    let wrong: Vec<_> = records.iter().filter(|record| record.status == Status::Wrong).collect();
    if !wrong.is_empty() {
        line(&mut text, format!("WRONG VERDICTS: {}", wrong.len()));
        for record in wrong {
            let reason = record.reason.as_deref().unwrap_or_default();
            line(&mut text, format!("  {} ({}): {reason}", record.task, record.property));
        }
        text.push('\n');
    }
    text
}

fn line(text: &mut String, content: impl AsRef<str>) {
    text.push_str(content.as_ref().trim_end());
    text.push('\n');
}

fn totals(text: &mut String, records: &[Record], total: &Counts) {
    line(text, circumstances(records));
    for status in Status::ALL {
        let number = total.of(status);
        let detail = match status {
            Status::Correct => format!("  (proofs {}, alarms {})", total.proofs, total.alarms),
            _ => String::new(),
        };
        // Without a wrong verdict that is worth saying; the absence of the others is not.
        if number > 0 || matches!(status, Status::Correct | Status::Wrong | Status::Timeout) {
            line(text, format!("{:<9}{number:>6}{detail}", status.name()));
        }
    }
    let solved = total.of(Status::Correct);
    let share = if total.tasks == 0 { 0.0 } else { 100.0 * solved as f64 / total.tasks as f64 };
    line(text, format!("solved {solved} of {} ({share:.1} %), score {}", total.tasks, total.score));
    let mut cpu: Vec<f64> = records.iter().filter(|r| r.status == Status::Correct).map(|r| r.cpu_s).collect();
    let median = median(&mut cpu).map_or("-".into(), show_seconds);
    let memory = records.iter().map(|record| record.memory_bytes).max().unwrap_or(0);
    line(
        text,
        format!(
            "CPU time of the solved {} s, median {median} s; of all {} s; largest memory {}",
            show_seconds(total.cpu_solved),
            show_seconds(total.cpu_all),
            show_bytes(memory)
        ),
    );
}

/// How much of the evidence was accepted, and what was not, with the reasons.
fn evidence(text: &mut String, records: &[Record]) {
    let checked: Vec<_> = records.iter().filter_map(|record| Some((record, record.validation.as_ref()?))).collect();
    if checked.is_empty() {
        return;
    }
    let confirmed = |proofs: bool| {
        let of = || checked.iter().filter(|(record, _)| record.is_proof() == proofs);
        let good = of().filter(|(_, checked)| checked.outcome == Judgement::Confirmed).count();
        format!("{good} of {}", of().count())
    };
    let exceptions: Vec<_> = checked.iter().filter(|(_, found)| found.outcome != Judgement::Confirmed).collect();
    let share = 100.0 * exceptions.len() as f64 / checked.len() as f64;
    let (proofs, alarms) = (confirmed(true), confirmed(false));
    line(text, format!("evidence confirmed for {proofs} proofs and {alarms} alarms; {share:.1} % are exceptions"));
    for (record, found) in exceptions {
        let reason = found.reason.as_deref().unwrap_or("no reason given");
        line(text, format!("  {} {}: {reason}", record.task, found.outcome.name()));
    }
}

/// Tool, options and limits, as far as all records agree.
fn circumstances(records: &[Record]) -> String {
    let Some(first) = records.first() else { return "no results".into() };
    let same =
        |f: fn(&Record) -> String| if records.iter().all(|r| f(r) == f(first)) { f(first) } else { "various".into() };
    let mut text = format!("{} tasks, {}", records.len(), same(|r| r.tool.clone()));
    let options = same(|r| r.options.join(" "));
    if !options.is_empty() {
        let _ = write!(text, " {options}");
    }
    let time = same(|r| format!("{} s", r.timelimit_s));
    let _ = write!(text, ", at most {time} CPU time and {}", same(|r| show_bytes(r.memlimit_bytes)));
    text
}

/// The middle, or the mean of the two middle ones.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[n / 2]),
        n => Some((values[n / 2 - 1] + values[n / 2]) / 2.0),
    }
}

fn reasons(text: &mut String, records: &[Record]) {
    let unsolved = [Status::Unknown, Status::Error, Status::Crash];
    let mut groups: BTreeMap<(Status, String), Reason> = BTreeMap::new();
    for record in records.iter().filter(|record| unsolved.contains(&record.status)) {
        let (general, name) = generalise(record.reason.as_deref().unwrap_or("no reason given"));
        let group = groups.entry((record.status, general)).or_default();
        group.count += 1;
        *group.names.entry(name).or_default() += 1;
    }
    if groups.is_empty() {
        return;
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    // Stable, so that equal counts stay in the order of the text.
    groups.sort_by_key(|(_, group)| Reverse(group.count));
    line(text, "\nreasons");
    for ((status, general), group) in groups.iter().take(MOST_REASONS) {
        line(text, format!("{:>6}  {}: {}", group.count, status.name(), group.show(general)));
    }
    if groups.len() > MOST_REASONS {
        let rest: usize = groups[MOST_REASONS..].iter().map(|(_, group)| group.count).sum();
        line(text, format!("{rest:>6}  {} other reasons", groups.len() - MOST_REASONS));
    }
}

/// Reasons that are the same but for places and names.
#[derive(Default)]
struct Reason {
    count: usize,
    /// What the names are that differ.
    names: BTreeMap<String, usize>,
}

impl Reason {
    /// With the name, if there is only one; with the most frequent names otherwise.
    fn show(&self, general: &str) -> String {
        let mut names: Vec<_> = self.names.iter().collect();
        names.sort_by_key(|(_, count)| Reverse(**count));
        match names[..] {
            [(name, _)] => general.replacen(NAME, name, 1),
            _ => {
                let shown: Vec<_> = names.iter().take(3).map(|(name, count)| format!("{name} {count}")).collect();
                let rest = if names.len() > 3 { ", ..." } else { "" };
                format!("{general} ({}{rest})", shown.join(", "))
            }
        }
    }
}

/// Stands for a name.
const NAME: &str = "'_'";

/// The reason with `FILE:LINE` for places and `'_'` for the first name in quotes, and that name, so that what is the same
/// reason in different programs is counted together.
fn generalise(reason: &str) -> (String, String) {
    let is_place = |word: &str| {
        word.split_once(':')
            .is_some_and(|(file, rest)| file.contains('.') && rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let words: Vec<_> = reason.split(' ').map(|word| if is_place(word) { "FILE:LINE" } else { word }).collect();
    let text = words.join(" ");
    let quoted = text.split_once('\'').and_then(|(before, rest)| {
        let (name, after) = rest.split_once('\'')?;
        Some((format!("{before}{NAME}{after}"), format!("'{name}'")))
    });
    quoted.unwrap_or((text, String::new()))
}

fn table(text: &mut String, records: &[Record], total: &Counts) {
    let mut categories: BTreeMap<&str, Counts> = BTreeMap::new();
    for record in records {
        categories.entry(&record.category).or_default().add(record);
    }
    if categories.len() < 2 {
        return;
    }
    let present: Vec<Status> =
        Status::ALL.into_iter().filter(|s| total.of(*s) > 0 && *s != Status::Correct || *s == Status::Wrong).collect();
    let width = categories.keys().map(|name| name.chars().count()).max().unwrap_or(0).max("category".len());
    let mut header = format!("\n{:width$} {:>6} {:>7} {:>6} {:>6}", "category", "tasks", "correct", "proofs", "alarms");
    for status in &present {
        let _ = write!(header, " {:>8}", status.name());
    }
    line(text, format!("{header} {:>9}", "CPU s"));
    for (name, counts) in categories.into_iter().chain([("total", total.clone())]) {
        let correct = counts.of(Status::Correct);
        let mut row =
            format!("{name:width$} {:>6} {correct:>7} {:>6} {:>6}", counts.tasks, counts.proofs, counts.alarms);
        for status in &present {
            let _ = write!(row, " {:>8}", counts.of(*status));
        }
        line(text, format!("{row} {:>9}", show_seconds(counts.cpu_all)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0]), Some(2.5));
    }

    #[test]
    fn reasons_are_generalised() {
        let check = |reason, general: &str, name: &str| assert_eq!(generalise(reason), (general.into(), name.into()));
        check("pointer at a/b.c:12:3 in f", "pointer at FILE:LINE in f", "");
        check("recursion of f: gave up", "recursion of f: gave up", "");
        check("a.c:1:2 not supported: array 'x', 'y'", "FILE:LINE not supported: array '_', 'y'", "'x'");
        check("it's unknown", "it's unknown", "");
    }
}
