// SPDX-License-Identifier: Apache-2.0
//! The worked examples of the literature, compared with the abstract reachability graph itself.

use std::sync::Arc;

use cfa::{Options, Property, Source};
use cli::options::Config;
use cli::registry::{Analysis, CegarAnalysis};
use cpa_core::{ArgId, Cx, Verdict};

/// Wendler, *Software Verification based on Adjustable Large-Block Encoding*, figure 2.1.
const LOCK_LOOP: &str = "
int f(int p, int n) {
  int LOCK;
  LOCK = 0;
  while (n >= 0) {
    if (p) {
      if (LOCK) { goto ERROR; }
      LOCK = 1;
    }
    if (p) {
      if (!LOCK) { goto ERROR; }
      LOCK = 0;
    }
    n--;
  }
  if (!LOCK) { return 0; }
ERROR:
  return 1;
}
";

/// Beyer, Dangl, Wendler, *A Unifying View on SMT-Based Software Verification*, figure 2.
const UNIFYING_VIEW: &str = "
int main(void) {
  int x = 0;
  int y = 0;
  while (x < 2) {
    x++;
    y++;
    if (x != y) {
      ERROR: return 1;
    }
  }
  return 0;
}
";

struct Checked {
    analysis: CegarAnalysis,
    verdict: Verdict,
}

fn check(text: &str, entry: &str, options: &[(&str, &str)]) -> Checked {
    let source = Source { name: "example.c".into(), text: text.into() };
    let program = cfa::load(&[source], &Options { entry: entry.into(), ..Options::default() }).unwrap();
    let targets = program.targets(&Property::default_errors());
    let mut config = Config::default();
    for (key, value) in options {
        config.set(key, value).unwrap();
    }
    let mut cx = Cx::unlimited();
    let mut analysis = CegarAnalysis::new(Arc::new(program), targets, &config).unwrap();
    let verdict = analysis.run(&mut cx).verdict().clone();
    Checked { analysis, verdict }
}

impl Checked {
    /// The abstraction states: line of their location is left out, what matters is how many there are and who is covered.
    fn abstraction_states(&self) -> Vec<ArgId> {
        let arg = self.analysis.arg();
        arg.ids().filter(|&id| arg.state(id).get(self.analysis.predicate()).is_abstraction()).collect()
    }

    /// The predicates at the locations that have some, as text.
    fn predicates(&self) -> Vec<Vec<String>> {
        let arg = self.analysis.arg();
        let last = self.abstraction_states().into_iter().last().unwrap();
        let precision = arg.precision(last).get(self.analysis.predicate()).clone();
        let manager = self.analysis.manager();
        precision
            .iter()
            .map(|(_, set)| {
                set.iter().map(|&p| manager.terms.display(manager.predicates.atom(p)).to_string()).collect()
            })
            .collect()
    }
}

#[test]
fn lock_loop_is_proved_with_one_refinement_and_a_predicate_on_lock() {
    for encoding in ["bitvector", "integer"] {
        let run = check(LOCK_LOOP, "f", &[("cpa.predicate.encoding", encoding)]);
        assert_eq!(run.verdict, Verdict::True, "{encoding}");
        assert_eq!(run.analysis.refinements(), 1, "{encoding}");
        let predicates = run.predicates();
        assert_eq!(predicates.len(), 1, "only the loop head has predicates: {predicates:?}");
        assert_eq!(predicates[0].len(), 1, "{predicates:?}");
        assert!(predicates[0][0].contains("LOCK"), "{predicates:?}");
        // Figure 2.6: the root, the loop head, and the loop head again, covered.
        let states = run.abstraction_states();
        let arg = run.analysis.arg();
        assert_eq!(states.len(), 3, "{encoding}:\n{}", arg.dump());
        assert_eq!(arg.location(states[1]), arg.location(states[2]));
        assert_eq!(arg.covered_by(states[2]), Some(states[1]));
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
