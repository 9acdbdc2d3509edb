// SPDX-License-Identifier: Apache-2.0
//! Abstraction formulas, as decision diagrams or as terms, and the order on them.
//!
//! Follows *A Unifying View*, section 3.1.1. Decision diagrams over the predicates make implication cheap, but know nothing
//! of what the predicates mean; terms leave implication to the solver. An implication that the solver does not prove, for
//! whatever reason, does not hold.

use std::collections::VecDeque;

use cpa_core::{Cx, Stop};
use rustc_hash::FxHashMap;
use smt::solver::{CheckResult, Limits, Solver};
use smt::{Evaluator, Sort, Term, TermId, Terms, Value};

use crate::abstraction::Model;
use crate::manager::{Manager, limits, stop};
use crate::region::RegionId;
use crate::stats::Times;

/// An abstraction formula ψ over the program variables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Formula {
    /// A Boolean combination of predicates, as a decision diagram.
    Region(RegionId),
    /// A term.
    Term(TermId),
}

/// How abstraction formulas are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Representation {
    /// As decision diagrams.
    #[default]
    Bdd,
    /// As terms.
    Smt,
}

/// Counterexamples to implications that are kept to refute others without the solver.
const SAMPLES: usize = 24;

/// What is known of implications between terms.
#[derive(Default)]
pub(crate) struct Implications {
    known: FxHashMap<(TermId, TermId), bool>,
    /// States in which some implication does not hold, the newest first.
    samples: VecDeque<Model>,
}

impl Implications {
    /// Whether a kept state satisfies one term but not the other; that state is kept longer.
    fn refuted(&mut self, terms: &Terms, f: TermId, g: TermId) -> bool {
        let mut evaluator = Evaluator::new(terms, &[f, g]);
        let at = self.samples.iter().position(|sample| {
            let mut value =
                |symbol, index| sample.get(&(symbol, index)).cloned().unwrap_or_else(|| terms.default_value(symbol));
            evaluator.run(terms, &mut value).is_some_and(|v| v == [Value::Bool(true), Value::Bool(false)])
        });
        if let Some(at) = at
            && let Some(sample) = self.samples.remove(at)
        {
            self.samples.push_front(sample);
        }
        at.is_some()
    }
}

impl Manager {
    /// The formula that all states satisfy.
    pub fn top(&mut self) -> Formula {
        match self.settings.representation {
            Representation::Bdd => Formula::Region(self.regions.constant(true)),
            Representation::Smt => Formula::Term(Terms::tru()),
        }
    }

    /// A region in the representation of this run.
    pub(crate) fn formula_of_region(&mut self, region: RegionId) -> Formula {
        match self.settings.representation {
            Representation::Bdd => Formula::Region(region),
            Representation::Smt => Formula::Term(self.region_term(region)),
        }
    }

    /// The formula as a term over the program variables.
    pub fn formula_term(&mut self, formula: Formula) -> TermId {
        match formula {
            Formula::Region(region) => self.region_term(region),
            Formula::Term(term) => term,
        }
    }

    /// Whether the formula is the constant false.
    pub fn is_false(&mut self, formula: Formula) -> bool {
        match formula {
            Formula::Region(region) => region == self.regions.constant(false),
            Formula::Term(term) => term == Terms::fls(),
        }
    }

    /// The formula with a term over the program variables as a further conjunct; false if they contradict each other, as far
    /// as that is seen.
    pub fn conjoin(&mut self, cx: &mut Cx, formula: Formula, term: TermId) -> Result<Formula, Stop> {
        match formula {
            Formula::Region(region) => {
                let other = self.region_of(term)?;
                Ok(Formula::Region(self.regions.and(region, other).map_err(stop)?))
            }
            Formula::Term(old) => {
                let both = self.terms.and(old, term);
                let contradiction = self.implied(cx, both, Terms::fls())?;
                Ok(Formula::Term(if contradiction { Terms::fls() } else { both }))
            }
        }
    }

    /// Whether one formula is known to imply another.
    pub fn implies(&mut self, cx: &mut Cx, f: Formula, g: Formula) -> Result<bool, Stop> {
        self.stats.coverage_checks += 1;
        let start = cx.elapsed();
        let answer = match (f, g) {
            (Formula::Region(f), Formula::Region(g)) => self.regions.implies(f, g).map_err(stop),
            (f, g) => {
                let (f, g) = (self.formula_term(f), self.formula_term(g));
                self.implied(cx, f, g)
            }
        };
        Times::add(&mut self.stats.times.coverage, cx, start);
        answer
    }

    /// Whether one term is known to imply another.
    pub(crate) fn implied(&mut self, cx: &mut Cx, f: TermId, g: TermId) -> Result<bool, Stop> {
        if f == g || f == Terms::fls() || g == Terms::tru() {
            return Ok(true);
        }
        if let Some(&known) = self.implications.known.get(&(f, g)) {
            return Ok(known);
        }
        let conjuncts = self.terms.conjuncts(f);
        let holds = self.terms.conjuncts(g).iter().all(|c| conjuncts.contains(c))
            || (!self.implications.refuted(&self.terms, f, g) && self.implied_by_solver(cx, f, g)?);
        self.implications.known.insert((f, g), holds);
        Ok(holds)
    }

    fn implied_by_solver(&mut self, cx: &mut Cx, f: TermId, g: TermId) -> Result<bool, Stop> {
        cx.check()?;
        self.stats.checks += 1;
        let negated = self.terms.not(g);
        let instances = self.terms.symbols_of_all(&[f, g]);
        self.solver.push();
        self.solver.assert(&self.terms, f);
        self.solver.assert(&self.terms, negated);
        let limits = Limits { timeout: self.settings.query_timeout, ..limits(cx) };
        let mut sample = Model::default();
        let result = match self.solver.check(&self.terms, &[], &limits) {
            CheckResult::Unsat(_) => Some(true),
            CheckResult::Sat(model) => {
                for (symbol, index) in instances {
                    if let Some(value) = model.value(&self.terms, symbol, index) {
                        sample.insert((symbol, index), value);
                    }
                }
                Some(false)
            }
            CheckResult::Unknown(_) => None,
        };
        self.solver.pop();
        match result {
            Some(true) => {}
            Some(false) => {
                self.implications.samples.push_front(sample);
                self.implications.samples.truncate(SAMPLES);
            }
            None => {
                // A run that is interrupted must not go on with less than it would have found out.
                cx.check()?;
                self.stats.unanswered += 1;
            }
        }
        Ok(result == Some(true))
    }

    /// A term as a region over its atoms, which become predicates.
    fn region_of(&mut self, term: TermId) -> Result<RegionId, Stop> {
        if let Some(&known) = self.term_regions.get(&term) {
            return Ok(known);
        }
        let boolean = |terms: &Terms, t| terms.sort(t) == Sort::Bool;
        let region = match self.terms.get(term).clone() {
            Term::True => self.regions.constant(true),
            Term::False => self.regions.constant(false),
            Term::Not(inner) => {
                let inner = self.region_of(inner)?;
                self.regions.not(inner).map_err(stop)?
            }
            Term::And(parts) => {
                let mut all = self.regions.constant(true);
                for &part in &parts {
                    let part = self.region_of(part)?;
                    all = self.regions.and(all, part).map_err(stop)?;
                }
                all
            }
            Term::Or(parts) => {
                let mut any = self.regions.constant(false);
                for &part in &parts {
                    let part = self.region_of(part)?;
                    any = self.regions.or(any, part).map_err(stop)?;
                }
                any
            }
            Term::Ite(c, t, e) => {
                let (c, t, e) = (self.region_of(c)?, self.region_of(t)?, self.region_of(e)?);
                self.choice(c, t, e)?
            }
            Term::Eq(a, b) if boolean(&self.terms, a) => {
                let (a, b) = (self.region_of(a)?, self.region_of(b)?);
                let other = self.regions.not(b).map_err(stop)?;
                self.choice(a, b, other)?
            }
            _ => {
                let predicate = self.predicates.intern(term);
                self.regions.var(predicate.number()).map_err(stop)?
            }
        };
        self.term_regions.insert(term, region);
        Ok(region)
    }

    fn choice(&mut self, c: RegionId, t: RegionId, e: RegionId) -> Result<RegionId, Stop> {
        let yes = self.regions.and(c, t).map_err(stop)?;
        let otherwise = self.regions.not(c).map_err(stop)?;
        let no = self.regions.and(otherwise, e).map_err(stop)?;
        self.regions.or(yes, no).map_err(stop)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use smt::BvCmp;

    use super::*;
    use crate::encode::Encoding;
    use crate::manager::Settings;
    use crate::region::Library;

    fn manager(representation: Representation) -> Manager {
        let source = cfa::Source { name: "empty.c".into(), text: "int main(void) { return 0; }".into() };
        let program = Arc::new(cfa::load(&[source], &cfa::Options::default()).expect("the program is correct"));
        let mut manager =
            Manager::new(&program, Encoding::Bitvector, Library::default()).expect("bit-vectors are exact");
        manager.configure(Settings { representation, ..Settings::default() });
        manager
    }

    /// x = 1, x <= 5 and x > 5 over one variable.
    fn formulas(manager: &mut Manager) -> [TermId; 3] {
        let symbol = manager.terms.symbol("x", Sort::Bv(8));
        let x = manager.terms.var(symbol, 0);
        let (one, five) = (manager.terms.bv(8, 1), manager.terms.bv(8, 5));
        let equal = manager.terms.eq(x, one);
        let small = manager.terms.bv_cmp(BvCmp::Ule, x, five);
        [equal, small, manager.terms.not(small)]
    }

    #[test]
    fn terms_are_compared_by_their_meaning_and_regions_by_their_predicates() {
        let mut cx = Cx::unlimited();
        for (representation, meaning) in [(Representation::Smt, true), (Representation::Bdd, false)] {
            let mut manager = manager(representation);
            let [equal, small, large] = formulas(&mut manager);
            let top = manager.top();
            let equal = manager.conjoin(&mut cx, top, equal).expect("there is no limit");
            let small = manager.conjoin(&mut cx, top, small).expect("there is no limit");
            assert_eq!(manager.implies(&mut cx, equal, small), Ok(meaning));
            // The second time the kept counterexample answers.
            assert_eq!(manager.implies(&mut cx, small, equal), Ok(false));
            assert_eq!(manager.implies(&mut cx, top, equal), Ok(false));
            let none = manager.conjoin(&mut cx, small, large).expect("there is no limit");
            assert!(manager.is_false(none), "syntactic contradictions are seen in both");
            let none = manager.conjoin(&mut cx, equal, large).expect("there is no limit");
            assert_eq!(manager.is_false(none), meaning);
            assert_eq!(manager.implies(&mut cx, none, top), Ok(true));
        }
    }

    #[test]
    fn what_the_solver_does_not_answer_does_not_hold() {
        let mut cx = Cx::unlimited();
        let mut manager = manager(Representation::Smt);
        manager.settings.query_timeout = Some(std::time::Duration::from_millis(1));
        let factor = |manager: &mut Manager, name| {
            let symbol = manager.terms.symbol(name, Sort::Bv(31));
            let narrow = manager.terms.var(symbol, 0);
            manager.terms.zext(62, narrow)
        };
        let (a, b) = (factor(&mut manager, "a"), factor(&mut manager, "b"));
        let product = manager.terms.bv_bin(smt::BvBin::Mul, a, b);
        let prime = manager.terms.bv(62, (1 << 61) - 1);
        // A prime is no product of smaller numbers, but that is not seen within a millisecond.
        let same = manager.terms.ne(product, prime);
        assert_eq!(manager.implies(&mut cx, Formula::Term(Terms::tru()), Formula::Term(same)), Ok(false));
        assert_eq!(manager.stats.unanswered, 1);
    }
}
