// SPDX-License-Identifier: Apache-2.0
//! Facts about variables that hold where a condition does.

mod common;

use common::proves;

#[test]
fn what_a_mode_says_about_other_variables() {
    let text = |least: i32| {
        format!(
            "int open, jobs; int start(void) {{ if (open) return -1; open = 1; jobs = 0; return 0; }}
            int print(void) {{ if (!open || jobs > 1000) return -1; jobs++; return 0; }}
            int flush(void) {{ if (!open || jobs == 0) return -1; jobs = 0; return 0; }}
            int main(void) {{ int mode = 0; while (1) {{ int e = __VERIFIER_nondet_int();
            if (e == 1 && mode == 0) {{ check(start() == 0); mode = 1; }}
            else if (e == 2 && mode != 0) {{ if (print() == 0) mode = 2; }}
            else if (e == 3 && mode >= {least}) {{ check(flush() == 0); mode = 1; }}
            else if (e == 4) check((mode == 0) == (open == 0)); }} return 0; }}"
        )
    };
    assert!(proves(&text(2)));
    assert!(!proves(&text(1)));
}
