// SPDX-License-Identifier: Apache-2.0
//! The program as users start it: several files, the preprocessor, and inputs that are no programs.

use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder for the files of a test, which goes away with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("cpa-verify-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn verify(arguments: &[&str], files: &[&PathBuf]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cpa-verify"));
    command.args(["--exit-code-verdict", "--timelimit", "60s", "--cores", "1"]).args(arguments).args(files);
    command.output().unwrap()
}

#[test]
fn several_files_are_preprocessed_and_linked() {
    let folder = Folder::new("linked");
    folder.file("a.h", "#define LIMIT 10\nextern int shared; int twice(int x);\n");
    let text = "#include \"a.h\"\nextern void reach_error(void); extern unsigned char __VERIFIER_nondet_uchar(void);\n\
                int main(void) {\n  int x = __VERIFIER_nondet_uchar();\n  shared = x;\n\
                  if (twice(LIMIT) != 2 * LIMIT + x) reach_error();\n  return 0;\n}\n";
    let main = folder.file("a.c", text);
    let right = folder.file(
        "b.c",
        "int shared = 3; static int own(int x) { return x + x; } int twice(int x) { return own(x) + shared; }",
    );
    let wrong = folder.file("c.c", "int shared; int twice(int x) { return 2 * x + (shared == 77 ? 0 : shared); }");
    let output = verify(&[], &[&main, &right]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = verify(&[], &[&main, &wrong]);
    assert_eq!(output.status.code(), Some(10), "{output:?}");
    // The place is that of the user's file, not of the expanded text.
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(lines.contains("a.c:4:11: __VERIFIER_nondet_uchar() = 77"), "{lines}");
}

#[test]
fn inputs_that_are_no_programs_get_one_clear_error() {
    let folder = Folder::new("bad");
    let deep = format!("int x; int main(void) {{ x = {}1{}; }}", "(".repeat(10_000), ")".repeat(10_000));
    let line = format!("int x; int main(void) {{ x = 1{}; return }}", " + x".repeat(300_000));
    let table: [(&str, &[u8], &str); 9] = [
        ("cut.c", b"int main(void) { int x = 1; if (x", "is never closed"),
        ("binary.c", b"\x7fELF\x02\x00\x00\xff", "is a binary file"),
        ("empty.c", b"", "no function 'main'"),
        ("deep.c", deep.as_bytes(), "nested more than 1000 levels"),
        ("include.c", b"#include \"missing.h\"\nint main(void) { }", "missing.h"),
        ("words.c", b"This is a letter to my aunt.", "'This' is not the name of a type"),
        ("latin.c", b"int main(void) { return \xe4; }", "syntax error"),
        ("line.c", line.as_bytes(), "syntax error"),
        ("junk.c", b"int main(void) { return \x01; }", "a character that C does not use here"),
    ];
    for (name, text, message) in table {
        let output = verify(&[], &[&folder.file(name, text)]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{name}: {errors}");
        assert!(errors.starts_with("Error: ") && errors.contains(message), "{name}: {errors}");
        // The file is named, and the place unless it is about the whole file.
        let whole = ["binary.c", "empty.c"].contains(&name);
        assert!(whole || errors.contains(&format!("{name}:1:")), "{name}: {errors}");
    }
    let wide = folder.file("wide.c", "#ifndef __LP64__\n#include \"missing.h\"\n#endif\nint main(void) { }");
    let errors = String::from_utf8(verify(&[], &[&wide]).stderr).unwrap();
    assert!(errors.contains("wide.c:2:") && errors.contains("pass --64"), "headers for 64 bits only: {errors}");
    let output = verify(&[], &[&folder.0]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), errors.lines().count()), (Some(2), 1), "a folder: {errors}");
    let output = verify(&[], &[&folder.0.join("nowhere.c")]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn long_lines_and_many_statements_are_read() {
    let folder = Folder::new("long");
    let sum = format!("int x; int main(void) {{ x = 1{}; return x; }}", " + x".repeat(300_000));
    let many = format!("int x; int main(void) {{ {} return x; }}", "x = x + 1; ".repeat(90_000));
    for (name, text) in [("sum.c", sum), ("many.c", many)] {
        let output = verify(&["--dump", "cfa"], &[&folder.file(name, text)]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_automaton_is_printed_as_json() {
    let folder = Folder::new("json");
    let file = folder.file("a.c", "int x; int main(void) {\n  while (x < 3) x = x + 1;\n  return 0; }");
    let output = verify(&["--dump", "cfa", "--format", "json"], &[&file]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let dump: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let edges = dump["edges"].as_array().unwrap();
    let step = edges.iter().find(|edge| edge["operation"] == "x = x + 1").unwrap();
    assert_eq!(step["kind"], "assign");
    assert_eq!(step["location"]["line"], 2);
    // The loop has a head, where the step leads.
    assert_eq!(dump["loops"][0]["head"], step["to"]);
    let nodes = dump["nodes"].as_array().unwrap().len() as u64;
    assert!(edges.iter().all(|edge| edge["from"].as_u64().unwrap() < nodes && edge["to"].as_u64().unwrap() < nodes));
}

/// What a configuration of an experiment is started with, but for the programs of other people.
fn configurations(experiment: &toml::Table) -> Vec<Vec<String>> {
    let runs =
        experiment.get("run").and_then(|runs| runs.as_array()).into_iter().flatten().map(|run| run.as_table().unwrap());
    let ours = runs.filter(|run| run.get("tool").is_none_or(|tool| tool.as_str() == Some("cpa-verify")));
    ours.flat_map(|run| {
        let sweep = run.get("sweep").and_then(|sweep| sweep.as_table()?.iter().next());
        let (name, values) =
            sweep.map_or(("none", vec![]), |(name, values)| (name, values.as_array().unwrap().clone()));
        let values = if values.is_empty() { vec![toml::Value::Boolean(true)] } else { values };
        let options = run.get("options").and_then(|options| options.as_array().cloned()).unwrap_or_default();
        values.into_iter().map(move |value| {
            let value = match value {
                toml::Value::String(text) => text,
                toml::Value::Integer(number) => number.to_string(),
                other => format!("{other:?}"),
            };
            options.iter().map(|one| one.as_str().unwrap().replace(&format!("{{{name}}}"), &value)).collect()
        })
    })
    .collect()
}

#[test]
fn experiments_use_options_that_exist() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../experiments"));
    let program = Folder::new("experiments");
    let file = program.file("p.c", "int main(void) { return 0; }");
    let mut checked = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let experiment = std::fs::read_to_string(&path).unwrap().parse::<toml::Table>().unwrap();
        for options in configurations(&experiment) {
            if checked.insert(options.clone()) {
                let options: Vec<&str> = options.iter().map(String::as_str).chain(["--dump", "cfa"]).collect();
                let output = verify(&options, &[&file]);
                assert!(output.status.success(), "{path:?}, {options:?}: {}", String::from_utf8_lossy(&output.stderr));
            }
        }
    }
    assert!(checked.len() > 50, "{} configurations", checked.len());
}

#[test]
fn summarised_automata_are_printed_and_analysed() {
    let folder = Folder::new("summarised");
    let file = folder.file("p.c", "int main(void) { int x = 9; while (x) x--; return x; }");
    let text = |output: Output| {
        format!("{}{}", String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let dump = text(verify(&["--option", "cfa.summarize=true", "--dump", "cfa"], &[&file]));
    assert_eq!(dump, "n0 -> n1: main::x = 9\nn1 -> n1: [main::x != 0]; main::x = main::x - 1\n");
    let drawn = verify(&["--option", "cfa.summarize=true", "--dump", "cfa", "--format", "dot"], &[&file]);
    assert!(text(drawn).contains("as text only"));
    let proved = text(verify(&["--preset", "impact", "--option", "cfa.summarize=true"], &[&file]));
    assert!(proved.contains("TRUE"), "{proved}");
    let refused = text(verify(&["--preset", "value", "--option", "cfa.summarize=true"], &[&file]));
    assert!(refused.contains("cfa.summarize=true: only analyses by predicates"), "{refused}");
}
