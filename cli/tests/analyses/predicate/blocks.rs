// SPDX-License-Identifier: Apache-2.0
//! The matrix of block operators: what document 000 says about graphs, numbers of abstractions and sizes of blocks.

use cpa_core::Verdict;

use super::{LOCK_LOOP, check, check_preset};
use crate::UNIFYING_VIEW;

/// Loops, nested and with two ways on, and calls.
const MIXED: &str = "
extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void reach_error(void) { abort(); }
int step(int s) { if (s < 3) { s = s + 1; } else { s = 0; } return s; }
int main(void) {
  int state = 0, i = 0;
  while (__VERIFIER_nondet_int()) {
    state = step(state);
    for (i = 0; i < 2; i++) {
      if (__VERIFIER_nondet_int()) continue;
      state = step(state);
    }
    if (state > 3) reach_error();
  }
  if (state < 0) reach_error();
  return 0;
}
";

const AT_LOOPS: &str = "cpa.predicate.blk.alwaysAtLoops";
const AT_FUNCTIONS: &str = "cpa.predicate.blk.alwaysAtFunctions";
const THRESHOLD: &str = "cpa.predicate.blk.threshold";
const ALWAYS: &str = "cpa.predicate.blk.alwaysAfterThreshold";
const LOOPS: &str = "cpa.predicate.blk.loops";
const FUNCTIONS: &str = "cpa.predicate.blk.functions";

/// C14.
#[test]
fn threshold_one_is_single_block_encoding() {
    for text in [LOCK_LOOP, MIXED] {
        let entry = if text == LOCK_LOOP { "f" } else { "main" };
        let sbe = check(text, entry, &[(THRESHOLD, "1"), (AT_LOOPS, "false")]);
        let lbe = check(text, entry, &[(THRESHOLD, "1"), (AT_FUNCTIONS, "true")]);
        assert_eq!(sbe.verdict, Verdict::True);
        assert_eq!(sbe.analysis.arg().dump(), lbe.analysis.arg().dump());
        assert_eq!(sbe.statistic("Max ABE block size"), "1");
    }
}

/// C15.
#[test]
fn threshold_of_the_largest_block_is_large_block_encoding() {
    for text in [LOCK_LOOP, MIXED] {
        let entry = if text == LOCK_LOOP { "f" } else { "main" };
        let lbe = check(text, entry, &[(AT_FUNCTIONS, "true")]);
        let largest: u32 = lbe.statistic("Max ABE block size").parse().unwrap();
        let enough = (largest + 1).to_string();
        let same = check(text, entry, &[(AT_FUNCTIONS, "true"), (THRESHOLD, &enough)]);
        assert_eq!(lbe.verdict, Verdict::True);
        assert_eq!(lbe.analysis.arg().dump(), same.analysis.arg().dump());
        let less = check(text, entry, &[(AT_FUNCTIONS, "true"), (THRESHOLD, &(largest - 1).to_string())]);
        assert_ne!(lbe.statistic("Number of abstractions"), less.statistic("Number of abstractions"));
    }
}

/// C17, section 3.2: one abstraction in two iterations, as many as with large blocks, and blocks twice as long.
#[test]
fn conjunction_of_threshold_and_loop_heads_unrolls_loops() {
    let and = |k: &'static str| {
        [(AT_LOOPS, "false"), (ALWAYS, "false"), (LOOPS, "true"), (FUNCTIONS, "true"), (THRESHOLD, k)]
    };
    let lbe = check(LOCK_LOOP, "f", &[]);
    let unrolled = check(LOCK_LOOP, "f", &and("15"));
    assert_eq!(unrolled.verdict, Verdict::True);
    assert_eq!(unrolled.statistic("Because of loop head"), lbe.statistic("Because of loop head"));
    let arg = unrolled.analysis.arg();
    let states = unrolled.abstraction_states();
    assert_eq!(states.len(), 3, "{}", arg.dump());
    assert_eq!(arg.covered_by(states[2]), Some(states[1]));
    let head = arg.location(states[1]);
    // Figure 3.1: the first loop head of a block is passed without an abstraction, the second one has it.
    for (number, &end) in states[1..].iter().enumerate() {
        let path = arg.path_to(end);
        let visits = path.nodes.iter().filter(|&&node| arg.location(node) == head).count();
        assert_eq!(visits, 2 * (number + 1) + 1, "{}", arg.dump());
    }
    // Four edges before the loop, where the thesis has two, and eight in an iteration.
    assert_eq!(lbe.statistic("Max ABE block size"), "8");
    assert_eq!(unrolled.statistic("Max ABE block size"), "20");
}

/// abs_k alone: blocks end anywhere; the graph inside them stays acyclic although they contain loops.
#[test]
fn thresholds_without_loop_heads_prove_bounded_loops() {
    for k in ["2", "7", "40"] {
        let run = check(UNIFYING_VIEW, "main", &[(AT_LOOPS, "false"), (THRESHOLD, k)]);
        assert_eq!(run.verdict, Verdict::True, "{k}");
        assert_eq!(run.statistic("Because of loop head"), "0");
    }
}

#[test]
fn all_operators_agree() {
    let unsafe_text = MIXED.replace("state > 3", "state == 3");
    for options in [
        &[][..],
        &[(AT_FUNCTIONS, "true")],
        &[(THRESHOLD, "1")],
        &[(THRESHOLD, "5")],
        &[(THRESHOLD, "12"), (AT_LOOPS, "false"), (ALWAYS, "false"), (LOOPS, "true")],
        &[("cpa.predicate.blk.alwaysAtJoin", "true")],
    ] {
        assert_eq!(check(MIXED, "main", options).verdict, Verdict::True, "{options:?}");
        let found = check(&unsafe_text, "main", options).verdict;
        assert!(matches!(found, Verdict::False(_)), "{options:?}: {found}");
    }
}

#[test]
fn symbolic_execution_keeps_paths_apart() {
    let run = check_preset(UNIFYING_VIEW, "main", "symexec", &[]);
    assert_eq!(run.verdict, Verdict::True);
    assert_eq!(run.analysis.refinements(), 0);
    let arg = run.analysis.arg();
    assert!(arg.ids().all(|id| arg.parents(id).len() <= 1), "{}", arg.dump());
    let unsafe_text = UNIFYING_VIEW.replace("x != y", "x + y == 4");
    let found = check_preset(&unsafe_text, "main", "symexec", &[]).verdict;
    assert!(matches!(found, Verdict::False(_)), "{found}");
}

/// Table 5.3 has Cartesian abstraction with blocks of several steps. What branches have in common where they meet may be a
/// disjunction, which no conjunction of its atoms says: the interpolant as a whole has to become a predicate.
#[test]
fn cartesian_abstraction_tracks_whole_interpolants_where_their_atoms_do_not_do() {
    let text = "
extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void reach_error(void) { abort(); }
int main(void) {
  int x, y, z = 0;
  if (__VERIFIER_nondet_int()) { x = 1; y = 7; } else if (__VERIFIER_nondet_int()) { x = 4; y = 2; } else { x = 6; y = 9; }
  z++;
  while (__VERIFIER_nondet_int()) { }
  if (x == 1) { if (y != 7) reach_error(); }
  else if (x == 4) { if (y != 2) reach_error(); }
  else if (y != 9) reach_error();
  return 0;
}
";
    let unsafe_text = text.replace("y != 2", "y == 2");
    for sharing in ["PATH", "LOCATION", "FUNCTION", "GLOBAL"] {
        let options =
            [("cpa.predicate.abstraction.computation", "CARTESIAN"), ("cpa.predicate.precision.sharing", sharing)];
        assert_eq!(check(text, "main", &options).verdict, Verdict::True, "{sharing}");
        let found = check(&unsafe_text, "main", &options).verdict;
        assert!(matches!(found, Verdict::False(_)), "{sharing}: {found}");
    }
}
