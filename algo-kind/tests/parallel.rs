// SPDX-License-Identifier: Apache-2.0
//! Facts about the elements of several arrays with the same index, such as the members of structures.

mod common;

use common::proves;

#[test]
fn what_is_not_used_is_zero() {
    let text = |free: &str| {
        format!(
            "int used[10], held[10]; int main(void) {{ while (__VERIFIER_nondet_int()) {{
            int i = __VERIFIER_nondet_int(); assume(i >= 0 && i < 10);
            if (used[i]) {{ {free} }} else {{ used[i] = 1; held[i] = __VERIFIER_nondet_int(); }}
            int j = __VERIFIER_nondet_int(); assume(j >= 0 && j < 10); check(used[j] || held[j] == 0); }} return 0; }}"
        )
    };
    assert!(proves(&text("used[i] = 0; held[i] = 0;")));
    assert!(!proves(&text("used[i] = 0; if (i != 7) held[i] = 0;")));
}

/// The places of a pool are taken in a loop of their own.
#[test]
fn members_of_structures_that_are_in_use() {
    let text = "struct place { int used, owner, refs; } pool[16];
        int take(int who) { for (int i = 0; i < 16; i++) if (!pool[i].used) {
        pool[i].used = 1; pool[i].owner = who; pool[i].refs = 1; return i; } return -1; }
        int main(void) { while (__VERIFIER_nondet_int()) {
        int op = __VERIFIER_nondet_int(), i = __VERIFIER_nondet_int(); if (i < 0 || i >= 16) continue;
        if (op == 0) { int who = __VERIFIER_nondet_int(); if (who > 0) take(who); }
        else if (op == 1) { if (pool[i].used && pool[i].refs < 1000) pool[i].refs++; }
        else if (op == 2) {
            if (pool[i].used && --pool[i].refs == 0) { pool[i].used = 0; pool[i].owner = 0; } }
        else if (pool[i].used) check(pool[i].refs > 0);
        else check(pool[i].owner == 0 && pool[i].refs == 0); } return 0; }";
    assert!(proves(text));
}

/// An index of -1 says that there is no such element; few runs come to the last states.
#[test]
fn the_one_that_is_running() {
    let text = "int state[8], level[8], waits[8]; int main(void) { int cur = -1; while (__VERIFIER_nondet_int()) {
        int e = __VERIFIER_nondet_int(), t = __VERIFIER_nondet_int(); assume(t >= 0 && t < 8);
        switch (e) {
        case 0: if (state[t] == 0) { state[t] = 1; level[t] = __VERIFIER_nondet_int();
            if (level[t] < 1 || level[t] > 5) level[t] = 1; } break;
        case 1: if (cur < 0 && state[t] == 1) { state[t] = 2; cur = t; } break;
        case 2: if (cur >= 0) { state[cur] = 1; cur = -1; } break;
        case 3: if (cur >= 0) { state[cur] = 3; waits[cur] = 1; cur = -1; } break;
        case 4: if (state[t] == 3) { state[t] = 1; waits[t] = 0; } break;
        case 5: if (state[t] == 1) { state[t] = 0; level[t] = 0; } break; }
        if (cur >= 0) check(state[cur] == 2);
        check(state[t] == 3 || waits[t] == 0); check(state[t] == 0 || level[t] >= 1);
        check(t == cur || state[t] != 2); } return 0; }";
    assert!(proves(text));
}
