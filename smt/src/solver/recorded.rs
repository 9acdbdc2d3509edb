// SPDX-License-Identifier: Apache-2.0
//! A solver that writes down what it is asked.

use std::fmt::Write;

use super::{CheckResult, Limits, Solver, SolverStats};
use crate::term::{SmtLib, TermId, Terms};

/// Hands an SMT-LIB 2 script of all calls to a callback, piece by piece, each answer as a comment.
pub struct Recorded<S, F> {
    inner: S,
    out: F,
    printer: SmtLib,
    started: bool,
    /// The bounded instances whose bounds the script asserts, by scope.
    bounded: Vec<Vec<TermId>>,
}

impl<S: Solver, F: FnMut(&str)> Recorded<S, F> {
    /// Wraps a solver; `out` receives whole lines.
    pub fn new(inner: S, out: F) -> Self {
        Recorded { inner, out, printer: SmtLib::new(), started: false, bounded: vec![Vec::new()] }
    }

    fn emit(&mut self, text: &str) {
        if !self.started {
            self.started = true;
            (self.out)("(set-option :global-declarations true)\n");
        }
        (self.out)(text);
    }

    /// Definitions and bounds that a formula needs, and its name.
    fn prepare(&mut self, terms: &Terms, t: TermId, text: &mut String) -> String {
        for x in terms.bounded_instances(t) {
            if self.bounded.iter().flatten().any(|&y| x == y) {
                continue;
            }
            if let Some(bound) = self.printer.bound(terms, x, text) {
                // Writing to a String cannot fail, here and below.
                let _ = writeln!(text, "(assert {bound})");
            }
            self.bounded.last_mut().expect("the outermost scope is never closed").push(x);
        }
        self.printer.term(terms, t, text)
    }
}

impl<S: Solver, F: FnMut(&str)> Solver for Recorded<S, F> {
    fn push(&mut self) {
        self.emit("(push 1)\n");
        self.bounded.push(Vec::new());
        self.inner.push();
    }

    fn pop(&mut self) {
        self.emit("(pop 1)\n");
        self.bounded.pop();
        self.inner.pop();
    }

    fn assert(&mut self, terms: &Terms, formula: TermId) {
        let mut text = String::new();
        let name = self.prepare(terms, formula, &mut text);
        let _ = writeln!(text, "(assert {name})");
        self.emit(&text);
        self.inner.assert(terms, formula);
    }

    fn check<'s>(&'s mut self, terms: &Terms, assumptions: &[TermId], limits: &Limits) -> CheckResult<'s> {
        let mut text = String::new();
        let names: Vec<String> = assumptions.iter().map(|&a| self.prepare(terms, a, &mut text)).collect();
        if names.is_empty() {
            text.push_str("(check-sat)\n");
        } else {
            // Assumptions of check-sat-assuming must be literals of symbols, which the definitions are not.
            text.push_str("(push 1)\n");
            for name in names {
                let _ = writeln!(text, "(assert {name})");
            }
            text.push_str("(check-sat)\n(pop 1)\n");
        }
        self.emit(&text);
        let result = self.inner.check(terms, assumptions, limits);
        (self.out)(match &result {
            CheckResult::Sat(_) => "; sat\n",
            CheckResult::Unsat(_) => "; unsat\n",
            CheckResult::Unknown(_) => "; unknown\n",
        });
        result
    }

    fn stats(&self) -> SolverStats {
        self.inner.stats()
    }
}
