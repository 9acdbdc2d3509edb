// SPDX-License-Identifier: Apache-2.0
//! Witnesses: every verdict has one, ours are accepted from the file alone, wrong ones are rejected.

use std::path::{Path, PathBuf};
use std::process::Command;

use report::instrument::{VIOLATED, with_checks};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, program: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("cpa-verify-{}-witness-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("p.c"), program).unwrap();
        Folder(path)
    }

    fn verify(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cpa-verify"));
        command.args(["--timelimit", "20s", "--cores", "1"]).args(arguments).arg("p.c").current_dir(&self.0);
        let output = command.output().unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    }

    fn witness(&self) -> String {
        std::fs::read_to_string(self.0.join("w.yml")).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What the system's compiler says about a program, for 32 or 64 bits; nothing if it accepts it.
fn complaint(text: &str, model: &str) -> Option<String> {
    let file = std::env::temp_dir().join(format!("cpa-verify-{}-checked.c", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let output = Command::new("gcc").args(["-std=gnu11", model, "-w", "-fsyntax-only"]).arg(&file).output().unwrap();
    let _ = std::fs::remove_file(&file);
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Inserts the invariants of a witness as checks into the program; how many there are, if the compiler accepts them. What
/// it says about the program itself does not count.
fn compiled_with_checks(program: &Path, witness: &str) -> Result<usize, String> {
    let text = std::fs::read_to_string(program).unwrap();
    let Some(model) = ["-m32", "-m64"].into_iter().find(|model| complaint(&text, model).is_none()) else {
        return Ok(0);
    };
    let source = cfa::Source { name: program.display().to_string(), text };
    let loaded = cfa::load(&[source], &cfa::Options::default()).map_err(|error| error.to_string())?;
    let claims = report::lint::read(witness).map_err(|problems| problems.join("\n"))?.invariants;
    let checked = with_checks(&loaded, &claims)?;
    match complaint(&format!("void {VIOLATED}(void); {}", checked[0].text), model) {
        None => Ok(claims.len()),
        Some(why) => Err(why),
    }
}

const SAFE: &str = "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\n\
    int main(void) {\n  int n = __VERIFIER_nondet_int();\n  int x = 0, y = 0;\n\
      while (x < n) {\n    x = x + 1;\n    y = y + 1;\n  }\n  if (x != y) reach_error();\n}\n";

#[test]
fn every_kind_of_proof_has_a_witness_that_is_accepted() {
    let folder = Folder::new("safe", SAFE);
    let mut with_invariants = 0;
    for preset in ["default", "predicate", "kinduction", "octagon-widening"] {
        let said = folder.verify(&["--preset", preset, "--witness", "w.yml"]);
        if !said.contains("result: TRUE") {
            assert!(said.contains("result: UNKNOWN"), "{preset}: {said}");
            continue;
        }
        with_invariants += usize::from(folder.witness().contains("type: loop_invariant"));
        let said = folder.verify(&["--validate-witness", "w.yml"]);
        assert!(said.contains("the witness is accepted"), "{preset}: {said}\n{}", folder.witness());
    }
    assert!(with_invariants >= 3, "{with_invariants}");
    assert!(folder.verify(&["--self-check"]).contains("was accepted by the self-check"));
}

#[test]
fn wrong_witnesses_are_rejected() {
    let folder = Folder::new("wrong", SAFE);
    folder.verify(&["--preset", "predicate", "--witness", "w.yml"]);
    let text = folder.witness();
    let start = text.find("      value: ").unwrap();
    let end = start + text[start..].find('\n').unwrap();
    std::fs::write(folder.0.join("w.yml"), format!("{}      value: \"x < 3\"{}", &text[..start], &text[end..]))
        .unwrap();
    let said = folder.verify(&["--validate-witness", "w.yml"]);
    assert!(said.contains("rejected: p.c:5: the invariant does not hold"), "{said}");
    std::fs::write(folder.0.join("p.c"), SAFE.replace("x = 0", "x = 1 - 1")).unwrap();
    let said = folder.verify(&["--validate-witness", "w.yml"]);
    assert!(said.contains("another version of p.c"), "{said}");
    std::fs::write(folder.0.join("w.yml"), text.replace("line: 5", "line: many").replace("ILP32", "LP65")).unwrap();
    let said = folder.verify(&["--validate-witness", "w.yml"]);
    assert!(said.contains("'line' is no positive number") && said.contains("'data_model' is 'LP65'"), "{said}");
}

#[test]
fn a_violation_is_followed() {
    let folder = Folder::new(
        "bug",
        "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\nextern double __VERIFIER_nondet_double(void);\n\
         int main(void) {\n  int x = __VERIFIER_nondet_int();\n  double d = __VERIFIER_nondet_double();\n\
           if (x == -2147483647 - 1 && d * 3 == 1.5)\n    reach_error();\n}\n",
    );
    let said = folder.verify(&["--preset", "bmc", "--witness", "w.yml", "--witness-format", "2.1", "--self-check"]);
    assert!(said.contains("result: FALSE"), "{said}");
    let said = folder.verify(&["--validate-witness", "w.yml"]);
    assert!(said.contains("the witness is accepted: the execution"), "{said}");
    std::fs::write(folder.0.join("w.yml"), folder.witness().replace("-2147483648", "7")).unwrap();
    let said = folder.verify(&["--validate-witness", "w.yml"]);
    assert!(said.contains("does not reach the error") && said.contains("UNKNOWN"), "{said}");
}

/// A number that `scanf` reads is not what it returns.
#[test]
fn what_is_read_is_no_result() {
    let folder = Folder::new(
        "read",
        "extern void reach_error(void); extern int __VERIFIER_nondet_int(void); int scanf(const char *, ...);\n\
         int main(void) {\n  int x, y = __VERIFIER_nondet_int();\n\
           if (scanf(\"%d\", &x) == 1 && x == 7 && y == 9)\n    reach_error();\n}\n",
    );
    let said = folder.verify(&["--preset", "bmc", "--witness", "w.yml"]);
    assert!(said.contains("result: FALSE"), "{said}");
    let witness = folder.witness();
    assert_eq!(witness.matches("function_return").count(), 1, "{witness}");
    assert!(witness.contains("\\\\result == 9"), "{witness}");
}

#[test]
fn a_violation_by_what_is_not_a_number_is_followed_with_both_signs() {
    let folder = Folder::new(
        "nan",
        "extern void reach_error(void); extern double __VERIFIER_nondet_double(void);\nint main(void) {\n\
           double d = __VERIFIER_nondet_double();\n  union { double d; unsigned long long u; } b;\n  b.d = d * 0;\n\
           if (b.d != b.d && (b.u >> 52 & 2047) == 2047)\n    reach_error();\n}\n",
    );
    let said = folder.verify(&["--preset", "bmc", "--witness", "w.yml", "--self-check"]);
    assert!(said.contains("result: FALSE"), "{said}");
    let said = folder.verify(&["--validate-witness", "w.yml"]);
    assert!(said.contains("the witness is accepted: the execution"), "{said}");
}

#[test]
fn results_are_machine_readable() {
    let folder = Folder::new("json", SAFE);
    let json: serde_json::Value = serde_json::from_str(&folder.verify(&["--json", "--preset", "predicate"])).unwrap();
    assert_eq!((json["verdict"].as_str(), json["property"].as_str()), (Some("true"), Some("unreach-call")));
    assert_eq!(json["invariants"][0]["location"]["line"], 5);
    std::fs::write(folder.0.join("p.c"), SAFE.replace("x != y", "x == y")).unwrap();
    let sarif: serde_json::Value = serde_json::from_str(&folder.verify(&["--sarif"])).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["kind"], "fail");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 9);
    let json: serde_json::Value = serde_json::from_str(&folder.verify(&["--json", "--confirm"])).unwrap();
    assert_eq!(json["counterexample"]["confirmation"]["confirmed"], true);
    let steps = json["counterexample"]["steps"].as_array().unwrap();
    assert!(steps.iter().any(|step| step["kind"] == "branch" && step["values"]["y"] == "0"));
}

#[test]
fn graphml_says_the_same() {
    let folder = Folder::new("graphml", SAFE);
    let arguments = ["--preset", "predicate", "--witness", "w.yml", "--witness-format", "graphml"];
    folder.verify(&arguments);
    let text = folder.witness();
    assert!(text.contains("<data key=\"witness-type\">correctness_witness</data>"), "{text}");
    assert!(
        text.contains("<data key=\"invariant\">x == y") && text.contains("<data key=\"startline\">5</data>"),
        "{text}"
    );
    std::fs::write(folder.0.join("p.c"), SAFE.replace("x != y", "x == y && n == -5")).unwrap();
    folder.verify(&arguments);
    let text = folder.witness();
    assert!(text.contains("violation_witness") && text.contains("\\result == -5;"), "{text}");
    for tag in ["node", "edge", "graph", "graphml", "data"] {
        let opened = text.matches(&format!("<{tag}>")).count() + text.matches(&format!("<{tag} ")).count();
        let closed = text.matches(&format!("</{tag}>")).count();
        let single = text.lines().filter(|line| line.starts_with(&format!("<{tag} ")) && line.ends_with("/>")).count();
        assert_eq!(opened, closed + single, "{tag}: {text}");
    }
}

#[test]
fn invariants_are_in_scope_where_they_stand() {
    // Names that are hidden and visible again, in all kinds of loops.
    let folder = Folder::new(
        "scope",
        "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\nint x = 0;\n\
         static int twice(int n) {\n  int x = 0;\n  for (int i = 0; i < n; i++) { int twice = 2; x = x + twice; if (x > 2000) break; }\n\
           return x;\n}\n\
         int main(void) {\n  unsigned char small = 0; int y = 0;\n\
           do { x++; y++; small = small + 1; } while (__VERIFIER_nondet_int() && x < 100);\n\
           { int y = 7; while (__VERIFIER_nondet_int()) { y = 14 - y; if (y != 7) break; } if (y != 7) return 0; }\n\
           if (x != y) reach_error();\n  return twice(x) < 0 ? 1 : 0;\n}\n",
    );
    let mut claims = 0;
    for preset in ["default", "predicate", "kinduction", "octagon-widening"] {
        folder.verify(&["--preset", preset, "--output-path", "out"]);
        let Ok(witness) = std::fs::read_to_string(folder.0.join("out/witness.yml")) else { continue };
        claims += compiled_with_checks(&folder.0.join("p.c"), &witness).unwrap_or_else(|why| panic!("{preset}: {why}"));
        std::fs::remove_dir_all(folder.0.join("out")).unwrap();
    }
    assert!(claims >= 2, "{claims}");
}

/// The same for the tasks of a list, which takes minutes: `CPA_SET=abe.set cargo test -p cli --test witness in_scope`.
#[test]
fn invariants_of_tasks_are_in_scope() {
    let Some(set) = std::env::var_os("CPA_SET").map(PathBuf::from) else { return };
    let list = std::fs::read_to_string(&set).unwrap();
    let (mut proofs, mut claims) = (0, 0);
    for task in list.lines().filter(|line| line.ends_with(".yml")) {
        let definition = set.parent().unwrap().join(task);
        let [c, i] = ["c", "i"].map(|ending| definition.with_extension(ending));
        let program = if c.is_file() { c } else { i };
        if !program.is_file() || cfa::needs_preprocessor(&std::fs::read_to_string(&program).unwrap_or_default()) {
            continue;
        }
        let witness = std::env::temp_dir().join(format!("cpa-verify-{}-task.yml", std::process::id()));
        let mut command = Command::new(env!("CARGO_BIN_EXE_cpa-verify"));
        command.args(["--timelimit", "4s", "--cores", "1", "--witness"]).arg(&witness).arg(&program);
        let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
        if said.contains("result: TRUE") {
            let text = std::fs::read_to_string(&witness).unwrap();
            proofs += 1;
            claims += compiled_with_checks(&program, &text).unwrap_or_else(|why| panic!("{task}: {why}\n{text}"));
        }
        let _ = std::fs::remove_file(&witness);
    }
    println!("{proofs} proofs with {claims} invariants, all of which compile");
}
