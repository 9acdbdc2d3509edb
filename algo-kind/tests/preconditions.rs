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

/// No run shows that there are days, but what is said of the end of the loop is true of each iteration.
#[test]
fn what_holds_at_the_end_holds_of_the_counter() {
    let text = |end: u32| {
        format!(
            "int main(void) {{ int n = __VERIFIER_nondet_int(); assume(n >= 0 && n <= 1000000);
            int days = 0, hours = 0, minutes = 0, seconds = 0, ticks = 0;
            while (ticks < n) {{ ticks++; seconds++;
            if (seconds == 60) {{ seconds = 0; minutes++; if (minutes == 60) {{ minutes = 0; hours++;
            if (hours == {end}) {{ hours = 0; days++; }} }} }} }}
            check(86400 * days + 3600 * hours + 60 * minutes + seconds == n); return 0; }}"
        )
    };
    assert!(proves(&text(24)));
    assert!(!proves(&text(25)));
}
