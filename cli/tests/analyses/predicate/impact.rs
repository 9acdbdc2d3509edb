// SPDX-License-Identifier: Apache-2.0
//! IMPACT and what lies between it and predicate abstraction, compared with the worked examples of document 002.

use cpa_core::Verdict;

use super::{LOCK_LOOP, check_preset};
use crate::UNIFYING_VIEW;

const FORCED: &str = "cpa.predicate.forcedCovering";

/// Examples 4 and 9, figure 8: two refinements; the second one makes the second loop head as strong as the first one, which
/// covers it then.
#[test]
fn impact_has_the_graph_of_figure_8() {
    for encoding in ["bitvector", "integer"] {
        let options = [(FORCED, "NONE"), ("cpa.predicate.encoding", encoding)];
        let run = check_preset(UNIFYING_VIEW, "main", "impact", &options);
        assert_eq!(run.verdict, Verdict::True);
        assert_eq!(run.analysis.refinements(), 2);
        let arg = run.analysis.arg();
        let states = run.abstraction_states();
        assert_eq!(states.len(), 3, "{}", arg.dump());
        assert_eq!(arg.location(states[1]), arg.location(states[2]));
        assert_eq!(arg.covered_by(states[2]), Some(states[1]));
        assert_eq!(run.formula(states[0]), "true");
        for &head in &states[1..] {
            let formula = run.formula(head);
            assert!(formula.contains("::x") && formula.contains("::y"), "{formula}");
        }
        assert!(arg.ids().all(|id| arg.target(id).is_none()), "error states are false, so they are removed");
    }
}

/// Section 3.3: x = y holds at the second loop head if it holds at the first one, so no second refinement is needed.
#[test]
fn forced_covering_saves_a_refinement() {
    let run = check_preset(UNIFYING_VIEW, "main", "impact", &[]);
    assert_eq!(run.verdict, Verdict::True);
    assert_eq!(run.analysis.refinements(), 1);
    assert_eq!(run.statistic("Successful forced coverings"), "1");
    let states = run.abstraction_states();
    assert_eq!(run.analysis.arg().covered_by(states[2]), Some(states[1]));
    assert_eq!(run.formula(states[1]), run.formula(states[2]));
}

/// UFO's combination: the second loop head is abstracted with the predicates of the first refinement.
#[test]
fn both_strategies_together() {
    let run = check_preset(UNIFYING_VIEW, "main", "ufo", &[(FORCED, "NONE")]);
    assert_eq!(run.verdict, Verdict::True);
    assert_eq!(run.analysis.refinements(), 1);
    let states = run.abstraction_states();
    assert_eq!(states.len(), 3);
    assert_eq!(run.analysis.arg().covered_by(states[2]), Some(states[1]));
    assert_eq!(run.statistic("Number of predicates discovered"), "1");
}

/// A covering breaks when the covering state becomes stronger: the second time around the loop `a` is no longer 0.
const UNCOVERED: &str = "
extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void reach_error(void) { abort(); }
int main(void) {
  int a = 0, b = 0, i = 0;
  while (__VERIFIER_nondet_int()) {
    if (a == 1 && i == 3) reach_error();
    if (__VERIFIER_nondet_int()) { if (b > a) reach_error(); a = a + 1; }
    else { b = a; }
    if (a > 3) a = 0, b = 0;
    i = i + 1;
  }
  return 0;
}
";

/// A protocol whose flag follows its states.
const PROTOCOL: &str = "
extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void reach_error(void) { abort(); }
int main(void) {
  int state = 10, flag = 0, hit = __VERIFIER_nondet_int();
  while (1) {
    if (state == 10) { if (flag == 0) flag = 1; state = 20; }
    else if (state == 20) { if (flag == 1) flag = 2; if (hit) state = 50; else state = 30; }
    else if (state == 30) { state = 40; }
    else if (state == 40) { if (flag == 1) reach_error(); state = 50; }
    else if (state == 50) { if (flag == 1) reach_error(); if (__VERIFIER_nondet_int()) state = 10; else state = 60; }
    else return 0;
  }
}
";

/// The clauses at the loop head are the same ones at later visits, so that an earlier one covers a later one after about as
/// many rounds as the protocol has, and nobody needs a core of a whole path.
#[test]
fn protocols_are_covered_by_clauses() {
    for preset in ["impact", "impact-abelf", "predicate", "predicate-abelf"] {
        let run = check_preset(PROTOCOL, "main", preset, &[]);
        assert_eq!(run.verdict, Verdict::True, "{preset}");
        assert!(run.analysis.refinements() < 10, "{preset}: {}", run.analysis.refinements());
        let newton = run.statistic("Interpolation engine newton");
        assert!(newton.starts_with("asked 0"), "{preset}: {newton}");
        let wrong = PROTOCOL.replace("flag = 2;", "flag = hit;");
        let run = check_preset(&wrong, "main", preset, &[]);
        assert!(matches!(run.verdict, Verdict::False(_)), "{preset}: {}", run.verdict);
    }
}

/// Every point between the two schools gives the right answers.
#[test]
fn all_combinations_agree() {
    let programs = [
        (UNIFYING_VIEW.to_owned(), "main", true),
        (UNIFYING_VIEW.replace("x != y", "x + y == 4"), "main", false),
        (LOCK_LOOP.to_owned(), "f", true),
        (LOCK_LOOP.replace("if (!LOCK) { goto", "if (n == 3) { goto"), "f", false),
        (UNCOVERED.replace("a == 1 && i == 3", "a == 4 && i < 4"), "main", true),
        (UNCOVERED.to_owned(), "main", false),
    ];
    for preset in ["impact", "impact-sbe", "ufo"] {
        for repr in ["BDD", "FORMULA"] {
            for forced in ["NONE", "IMPACT"] {
                for (text, entry, safe) in &programs {
                    let options = [("cpa.predicate.abstraction.type", repr), (FORCED, forced)];
                    let run = check_preset(text, entry, preset, &options);
                    let right = match &run.verdict {
                        Verdict::True => *safe,
                        Verdict::False(_) => !safe,
                        Verdict::Unknown(_) => false,
                    };
                    assert!(right, "{preset} {repr} {forced}: {}\n{text}", run.verdict);
                }
            }
        }
    }
}

#[test]
fn scopes_and_computations_agree() {
    for (key, values) in [
        ("cpa.predicate.precision.sharing", &["PATH", "LOCATION", "FUNCTION", "GLOBAL"][..]),
        ("cpa.predicate.abstraction.computation", &["CARTESIAN", "BOOLEAN", "COMBINED"]),
        ("cpa.predicate.abs.useCache", &["false", "true"]),
    ] {
        for value in values {
            for blocks in ["predicate", "predicate-abelf", "predicate-sbe"] {
                let run = check_preset(LOCK_LOOP, "f", blocks, &[(key, value)]);
                assert_eq!(run.verdict, Verdict::True, "{key}={value} {blocks}");
            }
        }
    }
}
