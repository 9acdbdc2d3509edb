// SPDX-License-Identifier: Apache-2.0
//! Tests of the predicate analyses that look at graphs: the worked examples of the literature, and how to run them.

mod blocks;
mod golden;
mod impact;

use cli::registry::{Analysis, CegarAnalysis};
use cpa_core::{ArgId, Cx, Verdict};

use crate::{config, task};

/// Wendler, *Software Verification based on Adjustable Large-Block Encoding*, figure 2.1.
pub(super) const LOCK_LOOP: &str = "
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

/// A finished analysis.
pub(super) struct Checked {
    pub(super) analysis: CegarAnalysis,
    pub(super) verdict: Verdict,
}

/// Runs an analysis with the given options.
pub(super) fn check(text: &str, entry: &str, options: &[(&str, &str)]) -> Checked {
    check_preset(text, entry, "predicate", options)
}

/// Runs the analysis of a preset with the given options.
pub(super) fn check_preset(text: &str, entry: &str, preset: &str, options: &[(&str, &str)]) -> Checked {
    let (program, targets) = task(text, entry);
    let mut analysis = CegarAnalysis::new(program, targets, &config(preset, options)).unwrap();
    let verdict = analysis.run(&mut Cx::unlimited()).verdict().clone();
    Checked { analysis, verdict }
}

impl Checked {
    /// The abstraction states: line of their location is left out, what matters is how many there are and who is covered.
    pub(super) fn abstraction_states(&self) -> Vec<ArgId> {
        let arg = self.analysis.arg();
        arg.ids().filter(|&id| arg.state(id).get(self.analysis.predicate()).is_abstraction()).collect()
    }

    /// The predicates at the locations that have some, as text.
    pub(super) fn predicates(&self) -> Vec<Vec<String>> {
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

    /// The abstraction formula of a state, as text.
    pub(super) fn formula(&self, id: ArgId) -> String {
        let formula = self.analysis.arg().state(id).get(self.analysis.predicate()).formula();
        let manager = &mut *self.analysis.manager_mut();
        let term = manager.formula_term(formula);
        manager.terms.display(term).to_string()
    }

    /// The value of a statistic.
    pub(super) fn statistic(&self, label: &str) -> String {
        let entries = self.analysis.statistics();
        entries.into_iter().find(|(known, _)| known == label).map(|(_, value)| value).unwrap()
    }
}
