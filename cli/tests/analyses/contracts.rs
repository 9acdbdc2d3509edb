// SPDX-License-Identifier: Apache-2.0
//! Contracts of recursive functions as a stage of a run.

use cli::registry::analysis;
use cpa_core::Cx;

use crate::{HEADER, config, task};

fn verdict(test: &str, options: &[(&str, &str)]) -> String {
    let text = format!(
        "{HEADER} unsigned f(unsigned n, unsigned m) {{ return n == 0 ? m : f(n - 1, m + 2); }}
         int main(void) {{ unsigned n = __VERIFIER_nondet_uint(); if ({test}) reach_error(); return 0; }}"
    );
    let (program, targets) = task(&text, "main");
    let mut contracts = analysis(program, targets, &config("contracts", options)).unwrap();
    contracts.run(&mut Cx::unlimited()).verdict().to_string()
}

#[test]
fn unbounded_recursion_is_proved_and_nothing_is_refuted() {
    assert_eq!(verdict("f(n, 3) != 2 * n + 3", &[]), "TRUE");
    let unknown = verdict("f(n, 3) != 2 * n + 2", &[]);
    assert!(unknown.contains("do not exclude an error in 'main'"), "{unknown}");
    let integers = verdict("f(n, 3) != 2 * n + 3", &[("cpa.predicate.encoding", "integer")]);
    assert!(integers.contains("need bit-vectors"), "{integers}");
}

#[test]
fn what_calls_itself_last_needs_no_contract() {
    for (test, preset, expected) in [("y == 2 * n", "summaries", "TRUE"), ("y != 18", "bmc-incremental", "FALSE")] {
        let text = format!(
            "{HEADER} void step(unsigned *x, unsigned *y, unsigned n) {{ if (*x < n) {{ ++*x; *y += 2; step(x, y, n); }} }}
             int main(void) {{ unsigned n = __VERIFIER_nondet_uint(), x = 0, y = 0; step(&x, &y, n); if (!({test})) reach_error();
               return 0; }}"
        );
        let (program, targets) = task(&text, "main");
        let mut run = analysis(program, targets, &config(preset, &[])).unwrap();
        assert_eq!(run.run(&mut Cx::unlimited()).verdict().to_string(), expected);
    }
}
