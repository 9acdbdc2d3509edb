// SPDX-License-Identifier: Apache-2.0
//! Each kind of check holds and does not hold on small results, and says when it cannot tell.

use super::*;
use crate::matrix::Source;

/// A record of a configuration `NAME` or `NAME k=VALUE`, CPU time and statistic `n`; `verdict` is the only one expected.
fn record(column: &str, task: &str, solved: bool, cpu: f64, n: f64) -> Record {
    let (config, parameter) = column.split_once(" k=").map_or((column, None), |(config, k)| (config, Some(k)));
    let mut value = serde_json::json!({
        "task": task, "category": "a", "property": "unreach-call", "expected": "true",
        "verdict": if solved { "true" } else { "unknown" }, "status": if solved { "correct" } else { "unknown" },
        "reason": null, "cpu_s": cpu, "wall_s": cpu, "memory_bytes": 1, "exit_code": 0, "tool": "t", "options": [],
        "timelimit_s": 10.0, "memlimit_bytes": 1, "config": config, "statistics": { "n": n },
    });
    if let Some(k) = parameter {
        value["parameter"] = serde_json::json!({ "name": "k", "value": k.parse::<f64>().unwrap() });
    }
    serde_json::from_value(value).unwrap()
}

fn matrix(records: Vec<Record>) -> Matrix {
    Matrix::new(&[Source { name: "x".into(), folder: "".into(), records, cut_off: false }])
}

/// `holds`, `fails` or `unmeasured`.
fn outcome(matrix: &Matrix, check: &str) -> &'static str {
    let claim: Claim = toml::from_str(&format!("id = 'C0'\nsays = ''\n[[check]]\n{check}")).unwrap();
    assert_eq!(claim.mistake(), None);
    match claim.check(matrix, &[("missing".into(), "no such preset".into())]) {
        Outcome::Holds(_) => "holds",
        Outcome::Fails(_) => "fails",
        Outcome::NotMeasured(_) => "unmeasured",
    }
}

#[test]
fn two_configurations() {
    let matrix = matrix(vec![
        record("a", "a/t_1.x", true, 1.0, 5.0),
        record("a", "a/t_2.x", true, 2.0, 7.0),
        record("a", "a/t_3.x", true, 4.0, 9.0),
        record("b", "a/t_1.x", true, 1.0, 5.0),
        record("b", "a/t_2.x", true, 1.1, 7.0),
        record("b", "a/t_3.x", false, 9.0, 8.0),
    ]);
    let check = |text: &str| outcome(&matrix, &format!("fewest = 1\n{text}"));
    assert_eq!(check("kind = 'nothing-wrong'"), "holds");
    assert_eq!(check("kind = 'solves-all'\ncolumn = 'a'"), "holds");
    assert_eq!(check("kind = 'solves-all'\ncolumn = 'b'"), "fails");
    assert_eq!(check("kind = 'solves-all'\ncolumn = 'b'\nselect = ['t_1', 't_2']"), "holds");
    assert_eq!(check("kind = 'solves-all'\ncolumn = 'missing'"), "unmeasured");
    assert_eq!(check("kind = 'others-do-not-solve-all'\ncolumn = 'a'"), "holds");
    assert_eq!(check("kind = 'order'\nwhat = 'correct'\ncolumns = ['b', 'a']\nstrict = true"), "holds");
    assert_eq!(check("kind = 'order'\nwhat = 'correct'\ncolumns = ['a', 'b']"), "fails");
    assert_eq!(check("kind = 'greatest'\nwhat = 'proofs'\ncolumn = 'a'"), "holds");
    assert_eq!(check("kind = 'greatest'\nwhat = 'proofs'\ncolumn = 'b'"), "fails");
    assert_eq!(check("kind = 'growth'\nwhat = 'cpu'\ncolumn = 'a'\nat_least = 4.0"), "holds");
    assert_eq!(check("kind = 'growth'\nwhat = 'cpu'\ncolumn = 'a'\nat_most = 3.0"), "fails");
    assert_eq!(check("kind = 'growth'\nwhat = 'n'\ncolumn = 'a'\nlinear = true"), "holds");
    assert_eq!(check("kind = 'growth'\nwhat = 'n'\ncolumn = 'b'\nlinear = true"), "unmeasured");
    assert_eq!(check("kind = 'same'\ncolumns = ['a', 'b']\nwhat = ['n']"), "holds");
    assert_eq!(check("kind = 'same'\ncolumns = ['a', 'b']\nwhat = ['cpu']"), "fails");
    assert_eq!(check("kind = 'same'\ncolumns = ['a', 'b']\nwhat = ['other']"), "unmeasured");
    assert_eq!(check("kind = 'ratio'\nwhat = 'sum cpu'\ncolumns = ['b', 'a']\nto = 0.5"), "holds");
    assert_eq!(check("kind = 'ratio'\nwhat = 'sum cpu'\ncolumns = ['b', 'a']\ncommon = true\nto = 0.5"), "fails");
    assert_eq!(check("kind = 'value'\nwhat = 'max n'\ncolumn = 'a'\nfrom = 9\nto = 9"), "holds");
    assert_eq!(check("kind = 'value'\nwhat = 'max n'\ncolumn = 'a'\nfrom = 9\nto = 9\nselect = ['t_1']"), "fails");
    assert_eq!(check("kind = 'result'\ncolumn = 'b'\nis = 'unsolved'\nselect = ['t_3']"), "holds");
    assert_eq!(check("kind = 'result'\ncolumn = 'b'\nis = 'true'\nselect = ['t_3']"), "fails");
    assert_eq!(check("kind = 'gains'\ncolumns = ['b', 'a']\nat_least = 1\nwithin_s = 5.0"), "holds");
    assert_eq!(check("kind = 'gains'\ncolumns = ['b', 'a']\nat_least = 1\nwithin_s = 3.0"), "fails");
    assert_eq!(check("kind = 'test'\nnames = ['golden']"), "unmeasured");
    // Three tasks are too few to compare configurations, unless the check says so.
    assert_eq!(outcome(&matrix, "kind = 'greatest'\nwhat = 'proofs'\ncolumn = 'a'"), "unmeasured");
    assert_eq!(outcome(&matrix, "kind = 'same'\ncolumns = ['a', 'b']"), "unmeasured");
    // Of the two other tasks, 8 and 9 are not both at most 8.
    assert_eq!(check("kind = 'solves-all'\ncolumn = 'b'\nrange = { label = 'n', to = 8 }"), "holds");
}

#[test]
fn trends() {
    let series = |solved: [bool; 4]| {
        let records = solved.iter().enumerate();
        matrix(records.map(|(k, solved)| record(&format!("a k={}", k + 1), "a/t", *solved, 1.0, k as f64)).collect())
    };
    let up = "fewest = 1\nkind = 'trend'\nwhat = 'correct'\nseries = 'a'\nup = true";
    assert_eq!(outcome(&series([false, false, true, true]), up), "holds");
    assert_eq!(outcome(&series([true, true, false, false]), up), "fails");
    assert_eq!(outcome(&series([true; 4]), up), "unmeasured");
    assert_eq!(outcome(&matrix(vec![]), up), "unmeasured");
    assert_eq!(kendall(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)]), 1.0 / 3.0);
}

#[test]
fn numbers_in_names() {
    let numbers = ["locks/test_locks_14-2", "ssh/s3_srvr_6.cil-1", "a/none", "a/12"].map(number_in);
    assert_eq!(numbers, [Some(14.0), Some(6.0), None, Some(12.0)]);
}
