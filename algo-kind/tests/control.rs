// SPDX-License-Identifier: Apache-2.0
//! Programs that are in one of a few modes: which ones exclude each other, and what holds in each.

mod common;

use common::proves;

/// Two threads that take turns by Peterson's protocol, or by a part of it, and count in a variable that they share.
fn threads(wait: &str, claim: &str) -> String {
    let thread = |me: u32, other: u32| {
        let wait = wait.replace('O', &other.to_string());
        format!(
            "void run{me}(void) {{ switch (pc{me}) {{
            case 0: want{me} = 1; pc{me} = 1; break;
            case 1: turn = {other}; pc{me} = 2; break;
            case 2: if (!({wait})) pc{me} = 3; break;
            case 3: reg{me} = shared; pc{me} = 4; break;
            case 4: shared = reg{me} + 1; done++; pc{me} = 5; break;
            case 5: want{me} = 0; pc{me} = 0; break; }} }}\n"
        )
    };
    format!(
        "unsigned pc0, pc1, want0, want1, turn, reg0, reg1, shared, done;\n{}{}
        int main(void) {{ while (__VERIFIER_nondet_int()) {{ if (__VERIFIER_nondet_int()) run0(); else run1(); check({claim}); }} return 0; }}",
        thread(0, 1),
        thread(1, 0)
    )
}

#[test]
fn threads_that_exclude_each_other() {
    let peterson = "wantO && turn == O";
    assert!(proves(&threads(peterson, "shared == done")));
    assert!(!proves(&threads(peterson, "shared < 1000")));
    // Who only waits for its turn loses updates.
    assert!(!proves(&threads("turn == O && wantO == 2", "shared == done")));
}

#[test]
fn modes_that_only_some_inputs_lead_to() {
    let text = |last: &str| {
        format!(
            "int main(void) {{ unsigned mode = 0, other = 0, key = 0, sum = 0, twice = 0;
            while (__VERIFIER_nondet_int() != 123456) {{
              int in = __VERIFIER_nondet_int();
              if (mode == 0) {{ if (in == 1000003) mode = 1; sum = sum + 5; twice = twice + 10; }}
              else if (mode == 1) {{ if (in == 2000003) mode = 2; else mode = 0; }}
              else if (mode == 2) {{ other = 2; mode = 0; }}
              if (other == 2 && in == 77) other = 1; else if (other == 1) other = 0;
              check({last}); }} return 0; }}"
        )
    };
    assert!(proves(&text("mode != 3 && twice == 2 * sum")));
    assert!(!proves(&text("other == 0")));
}
