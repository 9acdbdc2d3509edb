// SPDX-License-Identifier: Apache-2.0
//! What excludes violations whatever the inputs are: loops that an input ends, with a property after them.

mod common;

use common::proves;

/// A ring of `n` slots with its ends and its filling, and what is claimed behind the loop.
fn ring(claim: &str) -> String {
    format!(
        "int main(void) {{ int n = __VERIFIER_nondet_int(), h = 0, t = 0, c = 0; assume(n >= 1 && n <= 1000000);
        for (;;) {{
          if (__VERIFIER_nondet_int()) {{ if (c == n) continue; t++; if (t == n) t = 0; c++; }}
          else if (__VERIFIER_nondet_int()) {{ if (c == 0) continue; h++; if (h == n) h = 0; c--; }}
          else break;
        }}
        {claim} return 0; }}"
    )
}

#[test]
fn the_ends_of_a_ring_tell_its_filling() {
    let empty = "if (t >= h) check(c == t - h || (c == n && t == h));";
    assert!(proves(&ring(&format!("{empty} else check(c == t + n - h);"))));
    // Without the other half it does not follow, and this is not always so.
    assert!(!proves(&ring("check(t < h || c == t - h);")));
}

/// Two counters that an input exchanges; the loop is left by another input in the middle.
#[test]
fn inputs_choose_between_steps() {
    let text = |claim: &str| {
        format!(
            "int main(void) {{ unsigned a = 7, b = 12, s; int in;
            while ((in = __VERIFIER_nondet_int()) != 0) {{ if (in > 5) {{ s = a; a = b; b = s; }} }}
            check({claim}); return 0; }}"
        )
    };
    assert!(proves(&text("(a == 7 && b == 12) || (a == 12 && b == 7)")));
    assert!(!proves(&text("a == 7 && b == 12")));
}
