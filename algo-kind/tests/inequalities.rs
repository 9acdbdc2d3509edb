// SPDX-License-Identifier: Apache-2.0
//! Inequalities between several variables, guessed from samples.

mod common;

use common::proves;

#[test]
fn a_distance_that_time_and_speed_bound() {
    let text = |steps: u32| {
        format!(
            "extern _Bool __VERIFIER_nondet_bool(void);
            int main(void) {{ int t = 0, s = 0, d = 0;
            while (__VERIFIER_nondet_bool()) {{
                if (__VERIFIER_nondet_bool()) {{ if (t >= 1000000) break; t = t + 1; d = 0; }}
                else if (d < {steps}) {{ d = d + 1; s = s + 1; }} }}
            check(s <= 3 * t + 3); check(s >= d); return 0; }}"
        )
    };
    assert!(proves(&text(3)));
    assert!(!proves(&text(4)));
}

#[test]
fn a_sum_of_bytes() {
    let text = |factor: u32| {
        format!(
            "extern unsigned char __VERIFIER_nondet_uchar(void);
            int main(void) {{ unsigned char n = __VERIFIER_nondet_uchar(); unsigned s = 0, i = 0;
            while (i < n) {{ s += __VERIFIER_nondet_uchar() / {factor}; i++; }}
            check(s <= 127 * i); return 0; }}"
        )
    };
    assert!(proves(&text(2)));
    assert!(!proves(&text(1)));
}
