// SPDX-License-Identifier: Apache-2.0
//! All presets on the smallest programs.

use cli::registry::analysis;
use cpa_core::{Cx, Verdict};

use crate::{HEADER, config, task};

#[test]
fn no_preset_is_wrong_about_programs_with_nearly_nothing() {
    let unsafe_ones = [
        "int main(void) { reach_error(); }",
        "int main(void) { ERROR: goto ERROR; }",
        "int main(void) { while (1) reach_error(); }",
        "void f(void) { reach_error(); } int main(void) { f(); }",
        "int main(void) { switch (__VERIFIER_nondet_int()) { case 1: reach_error(); default: ; } }",
    ];
    let safe_ones =
        ["int main(void) { }", "int main(void) { abort(); reach_error(); }", "int main(void) { while (1); }"];
    let programs = unsafe_ones.iter().map(|text| (text, false)).chain(safe_ones.iter().map(|text| (text, true)));
    for (text, is_safe) in programs {
        let mut answers = 0;
        for preset in cli::presets::names() {
            let config = config(preset, &[]);
            if config.is_staged() {
                continue;
            }
            let (program, targets) = task(&format!("{HEADER}{text}"), "main");
            let mut analysis = analysis(program, targets, &config).unwrap();
            match analysis.run(&mut Cx::unlimited()).verdict() {
                Verdict::True => assert!(is_safe, "{preset} proves {text}"),
                Verdict::False(_) => assert!(!is_safe, "{preset} finds an error in {text}"),
                Verdict::Unknown(_) => continue,
            }
            answers += 1;
        }
        assert!(answers > 40, "{answers} answers for {text}");
    }
}
