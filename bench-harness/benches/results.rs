// SPDX-License-Identifier: Apache-2.0
//! How fast results of many runs are read, put side by side and shown, and how fast the output of one run is understood. The
//! size is the number of tasks, each with two configurations, or of lines.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use bench_harness::answer::{Answer, Patterns, Verdict};
use bench_harness::matrix::{Matrix, Metric, Source};
use bench_harness::result::{Record, Status};
use bench_harness::table::{Rows, Style, table};
use bench_harness::{compare, html};
use criterion::{BenchmarkId, Criterion, Throughput};

/// What a configuration did with some tasks.
fn records(tasks: usize, seed: usize) -> Vec<Record> {
    let record = |at: usize| {
        let verdict = [Verdict::False, Verdict::True, Verdict::True][at % 3];
        let status = match (at * 7 + seed) % 5 {
            0 => Status::Timeout,
            1 => Status::Unknown,
            _ => Status::Correct,
        };
        Record {
            task: format!("category-{}/task-{at}", at % 9),
            category: format!("category-{}", at % 9),
            property: "unreach-call".into(),
            expected: Some(verdict.name().into()),
            verdict: (status == Status::Correct).then_some(verdict),
            status,
            reason: (status != Status::Correct).then(|| "the analysis gave up".into()),
            cpu_s: ((at * 31 + seed) % 977) as f64 / 50.0,
            wall_s: ((at * 31 + seed) % 977) as f64 / 48.0,
            memory_bytes: 40_000_000 + at as u64 * 1000,
            exit_code: Some(0),
            tool: "cpa-verify 0.1.0".into(),
            options: vec!["--preset".into(), "default".into()],
            timelimit_s: 20.0,
            memlimit_bytes: 4_000_000_000,
            config: None,
            parameter: None,
            measured_by: Some("polling".into()),
            statistics: BTreeMap::from([("Number of CEGAR refinements".into(), (at % 50) as f64)]),
            validation: None,
            log: None,
        }
    };
    (0..tasks).map(record).collect()
}

fn source(name: &str, records: Vec<Record>) -> Source {
    Source { name: name.into(), folder: ".".into(), records, cut_off: false }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("results");
    group.sample_size(10);
    for tasks in [1_000, 10_000] {
        let (old, new) = (records(tasks, 1), records(tasks, 2));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{tasks}.jsonl"));
        let lines = old.iter().map(|record| serde_json::to_string(record).expect("it is a record") + "\n");
        fs::write(&path, lines.collect::<String>()).expect("the target folder can be written");
        group.bench_function(BenchmarkId::new("reading", tasks), |bench| {
            bench.iter(|| black_box(Source::read(&path).expect("it was written above")));
        });
        group.bench_function(BenchmarkId::new("comparison", tasks), |bench| {
            bench.iter(|| black_box(compare::compare(&old, &new).report(&new)));
        });
        let sources = [source("old", old), source("new", new)];
        group
            .bench_function(BenchmarkId::new("matrix", tasks), |bench| bench.iter(|| black_box(Matrix::new(&sources))));
        let matrix = Matrix::new(&sources);
        group.bench_function(BenchmarkId::new("table", tasks), |bench| {
            bench.iter(|| black_box(table(&matrix, Style::Thesis, Rows::All, &Metric::Cpu)));
        });
        group.bench_function(BenchmarkId::new("page", tasks), |bench| {
            bench.iter(|| black_box(html::page(&matrix, &sources, "bench")));
        });
    }
    for lines in [100, 100_000] {
        let mut output = String::new();
        for at in 0..lines {
            writeln!(output, "step {at}: x = {}", at * 7).expect("strings take everything");
        }
        output.push_str("Verification result: TRUE\n");
        group.throughput(Throughput::Bytes(output.len() as u64));
        group.bench_function(BenchmarkId::new("output of a run", lines), |bench| {
            bench.iter(|| black_box(Answer::read(output.as_bytes(), &Patterns::default()).expect("it is in memory")));
        });
    }
    group.finish();
    criterion.final_summary();
}
