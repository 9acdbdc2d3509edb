// SPDX-License-Identifier: Apache-2.0
//! The report is one file that refers to nothing outside of it, whatever the program's text contains, and can be used in a
//! browser.

use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "../../scripts/browser.rs"]
mod browser;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("report-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn report(name: &str, text: &str) -> String {
    let folder = folder(name);
    std::fs::write(folder.join("p.c"), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cpa-verify"));
    command.args(["--report", "r.html", "--timelimit", "20s", "--cores", "1", "p.c"]).current_dir(&folder);
    assert!(command.output().unwrap().status.success());
    std::fs::read_to_string(folder.join("r.html")).unwrap()
}

const SAFE: &str = "extern void reach_error(void); extern int __VERIFIER_nondet_int(void); // </script><b>&\n\
    int main(void) {\n  int x = 0, y = 0;\n  while (__VERIFIER_nondet_int()) {\n    x = x + 1;\n    y = y + 1;\n  }\n\
      if (x != y) reach_error();\n}\n";

#[test]
fn reports_stand_alone() {
    let page = report("true", SAFE);
    assert!(page.contains("TRUE") && page.contains("\"line\":4") && page.contains("x == y"), "{page}");
    assert!(page.contains("data-title=\"Explored states\"") && page.contains("<svg "));
    assert!(page.contains("Starting stage"), "{page}");
    // The text of the program ends no element of the page.
    assert_eq!(page.matches("</script>").count(), 2);
    let page = report("false", &SAFE.replace("x != y", "x == 2"));
    assert!(page.contains("the error is reached") && page.contains("\"matters\":true"), "{page}");
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http:") && !outside.contains("https:") && !outside.contains("src="));
}

/// Walks through all tabs and the way to the error, zooms, and follows a block to the source.
const USE: &str = "(() => {
  const tabs = [...document.querySelectorAll('#tabs button')];
  const sizes = tabs.map((tab) => { tab.click(); return document.querySelector('section.on').getBoundingClientRect().height > 20; });
  const flow = tabs.find((tab) => tab.textContent === 'Control flow'); flow.click();
  const graph = document.querySelector('section.on details[open] .graph');
  const before = graph.querySelector('svg').getBoundingClientRect().width;
  graph.previousElementSibling.querySelector('button').click();
  const after = graph.querySelector('svg').getBoundingClientRect().width;
  graph.querySelector('.block').dispatchEvent(new MouseEvent('click', { bubbles: true }));
  const found = document.querySelectorAll('.line.found').length;
  tabs[0].click();
  const bar = [...document.querySelectorAll('#steps .bar button')];
  const step = (name) => { const b = bar.find((b) => b.textContent === name); if (b) b.click(); return document.querySelectorAll('.line.on').length; };
  const steps = [step('Start'), step('Next'), step('End')];
  return { tabs: tabs.map((t) => t.textContent), sizes, zoomed: after > before * 1.2, found, steps,
    values: [...document.querySelectorAll('.line .value')].map((v) => v.textContent).join(' '),
    invariants: document.querySelectorAll('.line .invariant').length, ms: performance.now() };
})()";

#[test]
fn reports_are_used_in_a_browser() {
    let page = report("browser-false", &SAFE.replace("x != y", "x == 2"));
    let Some(seen) = browser::open(&folder("browser-1"), &page, USE) else { return };
    assert_eq!(seen.errors, "");
    let value: serde_json::Value = serde_json::from_str(&seen.value).unwrap();
    let tabs = ["Source", "Control flow", "Result", "Statistics", "Log", "Options"];
    assert!(tabs.iter().all(|tab| value["tabs"].as_array().unwrap().contains(&(*tab).into())), "{value}");
    assert!(value["sizes"].as_array().unwrap().iter().all(|size| size == true), "{value}");
    assert_eq!((&value["zoomed"], &value["found"]), (&true.into(), &1.into()), "{value}");
    assert_eq!(value["steps"], serde_json::json!([1, 1, 1]), "{value}");
    assert!(value["values"].as_str().unwrap().contains("x = 2"), "{value}");
    let page = report("browser-true", SAFE);
    let seen = browser::open(&folder("browser-2"), &page, USE).unwrap();
    assert_eq!(seen.errors, "");
    let value: serde_json::Value = serde_json::from_str(&seen.value).unwrap();
    assert_eq!(value["invariants"], 1, "{value}");
    assert!(value["tabs"].as_array().unwrap().contains(&"Explored states".into()), "{value}");
}

#[test]
fn a_large_report_opens_at_once() {
    // Many functions with branches, loops and jumps: about the size of a Windows driver.
    let mut text = String::from("extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\n");
    for f in 0..40 {
        text += &format!("int f{f}(int a) {{\n  int s = 0;\n");
        for i in 0..12 {
            text += &format!("  if (a > {i}) {{\n    s = s + {i};\n    if (s > 1000) goto out;\n  }}\n");
        }
        text += "out:\n  return s;\n}\n";
    }
    text += "int main(void) {\n  int s = 0;\n";
    for f in 0..40 {
        text += &format!("  s = f{f}(__VERIFIER_nondet_int());\n");
    }
    text += "  if (s == 66) reach_error();\n  return 0;\n}\n";
    assert!(text.lines().count() > 2000);
    let page = report("large", &text);
    assert!(page.len() < 5_000_000, "{}", page.len());
    let Some(seen) = browser::open(&folder("browser-3"), &page, USE) else { return };
    assert_eq!(seen.errors, "");
    // Two seconds, with room for a machine that is busy with other tests.
    assert!(seen.loaded_ms < 6000.0, "{}", seen.loaded_ms);
}
