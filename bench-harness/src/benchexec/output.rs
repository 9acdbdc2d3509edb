// SPDX-License-Identifier: Apache-2.0
//! Results in the format of BenchExec, one file for each configuration, so that its table-generator can read them.

use std::{fmt::Write, path::Path};

use crate::{
    answer::Verdict,
    matrix::{Column, Matrix, Source},
    paths::relative,
    plot::scene::escape,
    result::{Record, Status},
    table::common_statistics,
};

/// The document type of the format.
const HEADER: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE result PUBLIC \"+//IDN sosy-lab.org//DTD BenchExec \
                      result 3.12//EN\" \"https://www.sosy-lab.org/benchexec/result-3.12.dtd\">\n";

/// The name of the file and its content, for each configuration. `target` is the folder they will be in, from which logs are
/// named.
pub fn result_files(matrix: &Matrix, sources: &[Source], benchmark: &str, target: &Path) -> Vec<(String, String)> {
    let labels = common_statistics(matrix);
    let files = matrix.columns.iter().enumerate().map(|(index, column)| {
        let name = column.label.replace(|c: char| !c.is_ascii_alphanumeric() && !"-.=".contains(c), "_");
        let folder = &sources[column.source].folder;
        let mut xml = start(column, benchmark, &labels);
        for record in matrix.records(index) {
            run(&mut xml, record, &|log| relative(&folder.join(log), target).to_string_lossy().into_owned());
        }
        (format!("{benchmark}.{name}.results.xml"), xml + "</result>\n")
    });
    files.collect()
}

fn start(column: &Column, benchmark: &str, labels: &[String]) -> String {
    // Name and version stand in one line.
    let (tool, version) = column.tool.rsplit_once(' ').unwrap_or((&column.tool, ""));
    let mut xml = String::from(HEADER);
    // Writing to a string cannot fail.
    let _ = writeln!(
        xml,
        "<result benchmarkname=\"{}\" tool=\"{}\" version=\"{}\" toolmodule=\"\" options=\"{}\" timelimit=\"{}s\" memlimit=\"{}B\" \
         name=\"{}\" generator=\"cpa-bench {}\">",
        escape(benchmark),
        escape(tool),
        escape(version),
        escape(&column.options.join(" ")),
        column.timelimit_s,
        column.memlimit_bytes,
        escape(&column.label),
        env!("CARGO_PKG_VERSION"),
    );
    xml.push_str("<columns>\n");
    for label in ["status", "cputime", "walltime", "memory"].into_iter().chain(labels.iter().map(String::as_str)) {
        let _ = writeln!(xml, "<column title=\"{}\"/>", escape(label));
    }
    xml + "</columns>\n"
}

fn run(xml: &mut String, record: &Record, logfile: &dyn Fn(&Path) -> String) {
    let log = record.log.as_ref().map_or(String::new(), |log| format!(" logfile=\"{}\"", escape(&logfile(log))));
    let expected = record.expected.as_ref().map_or(String::new(), |e| format!(" expectedVerdict=\"{}\"", escape(e)));
    let property = escape(&record.property);
    let _ = writeln!(
        xml,
        "<run name=\"{}.yml\" files=\"[]\" options=\"\" properties=\"{property}\" propertyFile=\"{property}.prp\"{expected}{log}>",
        escape(&record.task)
    );
    let mut column = |title: &str, value: &str, hidden: bool| {
        let hidden = if hidden { " hidden=\"true\"" } else { "" };
        let _ = writeln!(xml, "<column title=\"{}\" value=\"{}\"{hidden}/>", escape(title), escape(value));
    };
    column("status", &status(record), false);
    column("category", category(record), true);
    column("cputime", &format!("{}s", record.cpu_s), false);
    column("walltime", &format!("{}s", record.wall_s), false);
    column("memory", &format!("{}B", record.memory_bytes), false);
    match record.status {
        Status::Timeout => column("terminationreason", "cputime", true),
        Status::Memory => column("terminationreason", "memory", true),
        _ => {}
    }
    if let Some(code) = record.exit_code {
        column("returnvalue", &code.to_string(), true);
    }
    for (label, value) in &record.statistics {
        column(label, &value.to_string(), false);
    }
    xml.push_str("</run>\n");
}

/// In the words of BenchExec.
fn status(record: &Record) -> String {
    match (record.status, record.verdict) {
        (Status::Timeout, _) => "TIMEOUT".into(),
        (Status::Memory, _) => "OUT OF MEMORY".into(),
        (Status::Error | Status::Crash, _) => {
            format!("ERROR ({})", record.reason.as_deref().unwrap_or(record.status.name()))
        }
        (_, Some(Verdict::True)) => "true".into(),
        (_, Some(Verdict::False)) => match &record.expected {
            // The subproperty, or the property itself.
            Some(expected) if expected.starts_with("false(") => expected.clone(),
            _ => format!("false({})", record.property),
        },
        (_, Some(Verdict::Unknown) | None) => "unknown".into(),
    }
}

fn category(record: &Record) -> &'static str {
    match record.status {
        Status::Correct => "correct",
        Status::Wrong => "wrong",
        Status::Unjudged => "missing",
        Status::Unknown => "unknown",
        Status::Timeout | Status::Memory | Status::Error | Status::Crash => "error",
    }
}
