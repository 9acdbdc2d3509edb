// SPDX-License-Identifier: Apache-2.0
//! The worked examples of the literature, compared with the abstract reachability graph itself: predicate abstraction.

use cpa_core::Verdict;

use super::{Checked, LOCK_LOOP, check};
use crate::UNIFYING_VIEW;

/// One refinement with one predicate, on the lock at the loop head; figures 2.5b and 2.6: the root, the loop head, and the
/// loop head again, covered.
fn is_proof_of_lock_loop(run: &Checked, case: &str) {
    assert_eq!(run.verdict, Verdict::True, "{case}");
    assert_eq!(run.analysis.refinements(), 1, "{case}");
    let predicates = run.predicates();
    assert_eq!(predicates.len(), 1, "only the loop head has predicates: {predicates:?}");
    assert_eq!(predicates[0].len(), 1, "{predicates:?}");
    assert!(predicates[0][0].contains("LOCK"), "{predicates:?}");
    let states = run.abstraction_states();
    let arg = run.analysis.arg();
    assert_eq!(states.len(), 3, "{case}:\n{}", arg.dump());
    assert_eq!(arg.location(states[1]), arg.location(states[2]));
    assert_eq!(arg.covered_by(states[2]), Some(states[1]));
}

#[test]
fn lock_loop_is_proved_with_one_refinement_and_a_predicate_on_lock() {
    for encoding in ["bitvector", "integer"] {
        let run = check(LOCK_LOOP, "f", &[("cpa.predicate.encoding", encoding)]);
        is_proof_of_lock_loop(&run, encoding);
    }
}

#[test]
fn unifying_view_example_has_the_graph_of_figure_7() {
    for encoding in ["bitvector", "integer"] {
        let run = check(UNIFYING_VIEW, "main", &[("cpa.predicate.encoding", encoding)]);
        assert_eq!(run.verdict, Verdict::True, "{encoding}");
        assert_eq!(run.analysis.refinements(), 1, "{encoding}");
        let predicates = run.predicates();
        assert_eq!(predicates.len(), 1, "{predicates:?}");
        assert_eq!(predicates[0].len(), 1, "{predicates:?}");
        let text = &predicates[0][0];
        assert!(text.contains("::x") && text.contains("::y"), "{text}");
        let states = run.abstraction_states();
        let arg = run.analysis.arg();
        assert_eq!(states.len(), 3, "{encoding}:\n{}", arg.dump());
        assert_eq!(arg.covered_by(states[2]), Some(states[1]));
    }
}

#[test]
fn single_blocks_prove_the_same() {
    for text in [LOCK_LOOP, UNIFYING_VIEW] {
        let entry = if text == LOCK_LOOP { "f" } else { "main" };
        let run = check(text, entry, &[("cpa.predicate.blk.threshold", "1")]);
        assert_eq!(run.verdict, Verdict::True);
        let arg = run.analysis.arg();
        assert_eq!(run.abstraction_states().len(), arg.ids().count(), "every state is an abstraction");
    }
}

#[test]
fn bugs_are_found_with_their_inputs() {
    let text = "
extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void reach_error(void) { abort(); }
int main(void) {
  int x = __VERIFIER_nondet_int();
  unsigned y = x;
  int i = 0;
  while (i < 3) { y = y + 7u; i++; }
  if (y == 4u) reach_error();
  return 0;
}
";
    for (key, value) in
        [("cpa.predicate.encoding", "integer"), ("cpa.predicate.blk.threshold", "1"), ("cpa.predicate.bdd", "oxidd")]
    {
        let run = check(text, "main", &[(key, value)]);
        let Verdict::False(counterexample) = run.verdict else { panic!("{key}={value}: {}", run.verdict) };
        assert!(counterexample.inputs.iter().any(|&(_, value)| value == -17), "{:?}", counterexample.inputs);
    }
}

#[test]
fn lock_loop_on_the_summarised_automaton_is_proved_as_in_figure_2_5() {
    for order in ["dfs", "bfs"] {
        let options = [
            ("cfa.summarize", "true"),
            ("analysis.traversal.useReversePostorder", "false"),
            ("analysis.traversal.order", order),
        ];
        let run = check(LOCK_LOOP, "f", &options);
        is_proof_of_lock_loop(&run, order);
    }
}

/// Section 2.6: large blocks on the fly and before the analysis give the same abstract states.
#[test]
fn large_blocks_before_the_analysis_are_those_on_the_fly() {
    let branches = "if (x > y) { x = x - 1; } else { y = y + x; } if (y > 3) x = x + 1; ".repeat(4);
    let loops = format!(
        "extern int __VERIFIER_nondet_int(void); void reach_error(void) {{ }}
int main(void) {{
  int x = 0, y = 0, n = __VERIFIER_nondet_int();
  for (int i = 0; i < n; i++) {{ {branches} if (y < 0) break; }}
  while (n > 0) {{ n = n - 1; if (n < 0) reach_error(); }}
  return 0;
}}"
    );
    for (text, entry) in [(LOCK_LOOP, "f"), (UNIFYING_VIEW, "main"), (&loops, "main")] {
        let runs = ["false", "true"].map(|summarize| check(text, entry, &[("cfa.summarize", summarize)]));
        let [first, second] = &runs;
        assert_eq!(first.verdict, Verdict::True);
        assert_eq!(second.verdict, Verdict::True);
        assert_eq!(first.analysis.refinements(), second.analysis.refinements());
        assert_eq!(first.predicates(), second.predicates());
        let told = |run: &Checked| -> Vec<_> {
            let arg = run.analysis.arg();
            let mut states: Vec<_> =
                run.abstraction_states().into_iter().map(|id| (arg.location(id), run.formula(id))).collect();
            states.sort();
            states
        };
        assert_eq!(told(first), told(second));
    }
}
