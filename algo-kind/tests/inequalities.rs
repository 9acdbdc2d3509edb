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

#[test]
fn an_equation_and_a_bound_that_need_each_other() {
    let text = |coin: u32| {
        format!(
            "extern int __VERIFIER_nondet_int(void);
            int main(void) {{ int q = 0, d = 0, v = 0, balance = 0;
            while (q + d < 100000) {{ int key = __VERIFIER_nondet_int();
                if (key == 0) {{ q++; balance += 25; }} else if (key == 1) {{ d++; balance += {coin}; }}
                else if (key == 2) {{ if (balance >= 35) {{ v++; balance -= 35; }} }} else break; }}
            check(balance == 25 * q + 10 * d - 35 * v); check(balance >= 0); return 0; }}"
        )
    };
    assert!(proves(&text(10)));
    assert!(!proves(&text(11)));
}
