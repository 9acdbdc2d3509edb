// SPDX-License-Identifier: Apache-2.0
//! Witnesses: every verdict has one, ours are accepted from the file alone, wrong ones are rejected.

use std::path::PathBuf;
use std::process::Command;

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
