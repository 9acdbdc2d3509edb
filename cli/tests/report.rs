// SPDX-License-Identifier: Apache-2.0
//! The report is one file that refers to nothing outside of it, whatever the program's text contains.

use std::process::Command;

fn report(name: &str, text: &str) -> String {
    let folder = std::env::temp_dir().join(format!("cpa-verify-{}-report-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("p.c"), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cpa-verify"));
    command.args(["--report", "r.html", "--timelimit", "20s", "--cores", "1", "p.c"]).current_dir(&folder);
    assert!(command.output().unwrap().status.success());
    let page = std::fs::read_to_string(folder.join("r.html")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    page
}

#[test]
fn reports_stand_alone() {
    let text = "extern void reach_error(void); extern int __VERIFIER_nondet_int(void); // </script><b>&\n\
                int main(void) {\n  int x = 0, y = 0;\n  while (__VERIFIER_nondet_int()) {\n    x = x + 1;\n    y = y + 1;\n  }\n\
                  if (x != y) reach_error();\n}\n";
    let page = report("true", text);
    assert!(page.contains("TRUE") && page.contains("\"line\":4") && page.contains("x == y"), "{page}");
    assert!(page.contains("data-title=\"Explored states\"") && page.contains("<svg "));
    // The text of the program ends no element of the page.
    assert_eq!(page.matches("</script>").count(), 2);
    let page = report("false", &text.replace("x != y", "x == 2"));
    assert!(page.contains("the error is reached") && page.contains("\"matters\":true"), "{page}");
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http:") && !outside.contains("https:") && !outside.contains("src="));
}
