// SPDX-License-Identifier: Apache-2.0
//! The experiments of the repository are in order, and reproducing one gives a table beside the published numbers and the
//! claims with what came out.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use bench_harness::{experiment::Experiment, grid::read_csv};
use expect_test::expect;

use crate::{Bench, SAFE, stderr, stdout};

fn experiments() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../experiments");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect()
}

/// The text of the sources in folders `src` below a folder.
fn sources(folder: &Path, inside: bool) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && name != "target" && !path.is_symlink() {
            text += &sources(&path, inside || name == "src");
        } else if inside && path.extension().is_some_and(|ending| ending == "rs") {
            text += &fs::read_to_string(path).unwrap();
        }
    }
    text
}

#[test]
fn the_experiments_of_the_repository() {
    let mut claims = BTreeSet::new();
    let printed = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), false);
    for path in experiments() {
        let experiment = Experiment::read(&path).unwrap();
        let columns = experiment.columns();
        for published in &experiment.published {
            // A misspelt name would be a column without our numbers.
            let text = fs::read_to_string(experiment.folder.join(&published.file)).unwrap();
            for name in read_csv(&text)[0].iter().filter(|name| !["task", "program", "number"].contains(&name.as_str()))
            {
                assert!(columns.contains(name), "{}: no configuration '{name}'", path.display());
            }
        }
        for label in &experiment.statistics {
            // A misspelt one would be "not measured".
            assert!(printed.contains(&format!("\"{label}\"")), "{}: nothing prints '{label}'", path.display());
        }
        for plot in &experiment.plots {
            for name in &plot.columns {
                let known = columns.iter().any(|column| column == name || column.starts_with(&format!("{name} ")));
                assert!(known, "{}: no configuration '{name}'", path.display());
            }
        }
        for test in experiment.claims.iter().flat_map(|claim| claim.tests()) {
            let (file, function) = test.split_once("::").unwrap();
            let text =
                fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)).unwrap_or_default();
            assert!(text.contains(&format!("fn {function}()")), "{}: no test {test}", path.display());
        }
        claims.extend(experiment.claims.into_iter().map(|claim| claim.id));
    }
    let expected: BTreeSet<String> = (1..=40).map(|number| format!("C{number}")).collect();
    assert_eq!(claims, expected);
}

const EXPERIMENT: &str = r#"
title = "an example"
source = "a thesis"
tasks = ["all.set"]
limits = { time = "5s", memory = "1GB" }
quick = { sample = 1 }
run = [{ name = "ours" }, { name = "missing", tool = "none" }]
published = [{ title = "Table 1", file = "one.csv" }, { title = "Table 2", file = "two.csv" }]
tools = { none = { command = ["no-such-verifier", "{inputs}"] } }

[[plot]]
title = "all"
kind = "quantile"

[[claim]]
id = "C2"
says = "ours solves all"
check = [{ kind = "solves-all", column = "ours" }]

[[claim]]
id = "C1"
says = "ours solves as many as the other"
check = [{ kind = "order", what = "correct", columns = ["missing", "ours"] }]

[[claim]]
id = "C3"
says = "ours solves a/2"
check = [{ kind = "solves-all", column = "ours", select = ["a/2"] }]
"#;

#[test]
fn ours_beside_the_published_numbers() {
    let bench = Bench::new("reproduce");
    bench.task("a/1", true, SAFE).task("a/2", true, "echo 'Verification result: UNKNOWN'").task("a/3", true, SAFE);
    fs::create_dir_all(bench.folder.join("experiments")).unwrap();
    fs::write(bench.folder.join("experiments/example.toml"), EXPERIMENT.replace("all.set", "../all.set")).unwrap();
    let table = "task,program,ours,missing\na/1,one,.483,>1800\na/2,two,MO,2.5\n,gone,1.5,1.5\n";
    fs::write(bench.folder.join("experiments/one.csv"), table).unwrap();
    fs::write(bench.folder.join("experiments/two.csv"), "number,ours,missing\ncorrect,1506,1801\n").unwrap();
    let arguments = ["reproduce", "example", "--tool", "./fake-verifier"];
    let output = bench.command(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    // Times differ from run to run.
    let is_time = |word: &str| word.starts_with('.') && word.len() <= 6 && word != ".483";
    let words = |line: &str| {
        line.split_whitespace().map(|word| if is_time(word) { "TIME" } else { word }).collect::<Vec<_>>().join(" ")
    };
    let text: String = text.lines().filter(|line| !line.starts_with("---")).map(|line| words(line) + "\n").collect();
    let (before, after) = (text.find("## Our results").unwrap(), text.find("![all]").unwrap());
    expect![[r#"
        # example: an example

        a thesis

        not measured: missing: cannot run no-such-verifier: no such program in PATH; name it with --tool

        ## Table 1: ours | published

        ```text
        task ours missing
        a/1 TIME | .483 - | >1800
        a/2 ? | MO - | 2.5
        gone - | 1.5 - | 1.5
        a/3 TIME | - |
        solved 2/3 | 2/3 - | 2/3
        ```

        ## Table 2: ours | published

        ```text
        ours missing
        correct 2 | 1506 - | 1801
        ```

        ...
        ![all](example-all.svg)

        ## Claims

        - C2: ours solves all
        DOES NOT HOLD: 2 of 3 (a/2)
        - C1: ours solves as many as the other
        not measured: missing: cannot run no-such-verifier: no such program in PATH; name it with --tool
        - C3: ours solves a/2
        DOES NOT HOLD: 0 of 1 (a/2)

        # All claims

        C1 (example): ours solves as many as the other
        not measured: missing: cannot run no-such-verifier: no such program in PATH; name it with --tool
        C2 (example): ours solves all
        DOES NOT HOLD: 2 of 3 (a/2)
        C3 (example): ours solves a/2
        DOES NOT HOLD: 0 of 1 (a/2)

        0 hold, 2 do not hold, 1 were not measured
    "#]]
    .assert_eq(&format!("{}...\n{}", &text[..before], &text[after..]));
    for file in [
        "example.jsonl",
        "example.md",
        "example.html",
        "example-all.svg",
        "example.setup.json",
        "logs/example/ours/a/1.unreach-call.log",
    ] {
        assert!(bench.folder.join("reproduction").join(file).is_file(), "{file}");
    }
    let again = bench.command(&arguments).output().unwrap();
    assert!(stderr(&again).contains("3 of 3 tasks are done already"), "{}", stderr(&again));
    let quick = bench.command(&[&arguments[..], &["--quick"]].concat()).output().unwrap();
    assert!(stdout(&quick).contains("1 hold, 0 do not hold, 2 were not measured"), "{}", stdout(&quick));
    let unknown = bench.command(&["reproduce", "exmple"]).output().unwrap();
    assert_eq!(stderr(&unknown), "cpa-bench: no experiment 'exmple'; there are example\n");
    let nothing = bench.command(&["reproduce", "--experiments", "a"]).output().unwrap();
    assert_eq!(stderr(&nothing), "cpa-bench: no experiments (.toml) in a\n");
}

#[test]
fn what_there_is_no_time_for_is_left_out() {
    let bench = Bench::new("reproduce_within");
    for number in 1..=4 {
        bench.task(&format!("a/{number}"), true, SAFE);
    }
    let folder = bench.folder.join("experiments");
    fs::create_dir_all(&folder).unwrap();
    let text =
        "title = 'T'\ntasks = ['../all.set']\nlimits = { time = '100s', memory = '1GB' }\nrun = [{ name = 'ours' }]\n";
    let claim = "claim = [{ id = 'C1', says = 'all', check = [{ kind = 'solves-all', column = 'ours' }] }]\n";
    fs::write(folder.join("one.toml"), text).unwrap();
    fs::write(folder.join("two.toml"), text).unwrap();
    // It looks at results of the first one, which are not made a second time.
    fs::write(folder.join("one-figure.toml"), format!("title = 'F'\nresults = 'one'\n{claim}")).unwrap();
    let run = |within: &str| {
        let arguments = ["reproduce", "--tool", "./fake-verifier", "--within", within, "--overwrite"];
        let output = bench.command(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let lines = |name: &str| {
            let path = bench.folder.join("reproduction").join(name);
            fs::read_to_string(path).map_or(0, |text| text.lines().count())
        };
        (stderr(&output), stdout(&output), lines("one.jsonl"), lines("two.jsonl"))
    };
    let (said, text, one, two) = run("1h");
    assert!(said.contains("3 experiments with 8 runs, at most 13 min"), "{said}");
    assert!(!text.contains("There was time"), "{text}");
    assert_eq!((one, two), (4, 4));
    // Eight runs of 100.3 s do not fit into 450 s; two of four do. Then there is time for all of the second one.
    let (said, text, one, two) = run("450s");
    assert!(said.contains("one: there is time for 2 of 4 tasks"), "{said}");
    assert!(text.contains("There was time for 2 of 4 tasks."), "{text}");
    assert_eq!((one, two), (2, 4));
    let (_, text, one, two) = run("50ms");
    assert!(text.contains("There was time for 0 of 4 tasks.") && text.contains("not measured"), "{text}");
    assert_eq!((one, two), (0, 0));
}
