// SPDX-License-Identifier: Apache-2.0
//! What follows from the facts of a state: by intervals where that is enough, else by a solver for integers.
//!
//! A query is unsatisfiable if its translation is, because the translation only forgets: elements and sums are variables
//! with what is known of them, quantified conditions are truth values with some of their instances. So "follows" is
//! certain, and "does not follow" means nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cfa::{BinOp, IntTy};
use cpa_core::{Cx, Stop};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::solver::{Limits, Solver, Z3Config, Z3Solver};
use smt::{Sort, TermId, Terms};

use crate::poly::{Atom, Poly};
use crate::pool::{ArrayId, ArrayKind, AtomKind, CondId, CondKind, Name, Pool};
use crate::range::Range;
use crate::relations::POSITIONS;
use crate::subst::{Replacement, Search};

/// Wall time for one query.
const QUERY: Duration = Duration::from_millis(300);
/// The same for those that much depends on.
const PATIENT: Duration = Duration::from_millis(1500);
/// The most instances of quantified conditions in a query.
const INSTANCES: usize = 60;
/// How often instances are made for what instances brought.
const ROUNDS: usize = 2;
/// The most pairs of elements that a query compares.
const PAIRS: usize = 400;

/// Counts of what happened.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    pub(crate) queries: u64,
}

/// Decides what follows.
pub(crate) struct Prover<'a> {
    terms: Terms,
    solver: Z3Solver,
    symbols: FxHashMap<Atom, TermId>,
    /// By facts, condition, and whether the answer is coarse.
    answers: FxHashMap<(Vec<CondId>, CondId, bool), bool>,
    /// Bodies of quantified conditions for numbers, which many queries have in common.
    bodies: FxHashMap<(CondId, Poly), CondId>,
    pub(crate) counts: Counts,
    /// Whether less is asked of quantified facts, and equal positions need not have equal elements: for guesses.
    pub(crate) coarse: bool,
    cx: &'a Cx,
    limit: Duration,
}

/// The ranges of atoms that follow from linear facts.
pub(crate) fn bounds(pool: &Pool, facts: &[CondId]) -> FxHashMap<Atom, Range> {
    let mut known: FxHashMap<Atom, Range> = FxHashMap::default();
    for _ in 0..3 {
        let mut changed = false;
        for fact in facts {
            let (value, both) = match pool.cond(*fact) {
                CondKind::AtMostZero(value) => (value, false),
                CondKind::Zero(value) => (value, true),
                _ => continue,
            };
            changed |= tighten(pool, value, false, &mut known);
            if both {
                changed |= tighten(pool, value, true, &mut known);
            }
        }
        if !changed {
            break;
        }
    }
    known
}

/// Uses that a value is at most 0, or at least 0.
fn tighten(pool: &Pool, value: &Poly, negated: bool, known: &mut FxHashMap<Atom, Range>) -> bool {
    let mut changed = false;
    for atom in value.atoms() {
        let Some((coefficient, rest)) = value.linear_in(atom) else { continue };
        let of = |atom: Atom| known.get(&atom).copied().unwrap_or(Range::ALL);
        let rest = pool.range_with(&rest, &of);
        let old = of(atom);
        // coefficient * atom + rest <= 0, or >= 0.
        let (coefficient, rest) =
            if negated { (-coefficient, Range { lo: -rest.hi, hi: -rest.lo }) } else { (coefficient, rest) };
        let Some(low) = rest.low() else { continue };
        let bound = if coefficient > 0 {
            Range { hi: (-low).div_euclid(coefficient), ..Range::ALL }
        } else {
            // atom >= low / -coefficient, rounded up.
            Range { lo: -((-low).div_euclid(-coefficient)), ..Range::ALL }
        };
        let new = old.meet(bound);
        if new != old {
            known.insert(atom, new);
            changed = true;
        }
    }
    changed
}

impl<'a> Prover<'a> {
    /// A prover that stops when there is no time left.
    pub(crate) fn new(cx: &'a Cx) -> Self {
        Prover {
            terms: Terms::new(),
            solver: Z3Solver::new(&Z3Config {
                params: vec![("arith.enable_hnf".into(), "false".into())],
                ..Z3Config::default()
            }),
            symbols: FxHashMap::default(),
            answers: FxHashMap::default(),
            bodies: FxHashMap::default(),
            counts: Counts::default(),
            coarse: false,
            cx,
            limit: QUERY,
        }
    }

    /// The same as [`Prover::follows`] with more time.
    pub(crate) fn follows_patiently(&mut self, pool: &mut Pool, facts: &[CondId], cond: CondId) -> Result<bool, Stop> {
        self.limit = PATIENT;
        let result = self.follows(pool, facts, cond);
        self.limit = QUERY;
        result
    }

    /// Whether the condition certainly holds where all facts hold.
    pub(crate) fn follows(&mut self, pool: &mut Pool, facts: &[CondId], cond: CondId) -> Result<bool, Stop> {
        if Pool::as_truth(cond) == Some(true) || facts.contains(&cond) {
            return Ok(true);
        }
        let negated = pool.not(cond)?;
        self.excluded(pool, facts, negated)
    }

    /// Whether the condition certainly holds, or certainly does not, where all facts hold.
    pub(crate) fn decides(&mut self, pool: &mut Pool, facts: &[CondId], cond: CondId) -> Result<Option<bool>, Stop> {
        if self.follows(pool, facts, cond)? {
            return Ok(Some(true));
        }
        Ok(self.excluded(pool, facts, cond)?.then_some(false))
    }

    /// Whether no state has all facts and the condition.
    pub(crate) fn excluded(&mut self, pool: &mut Pool, facts: &[CondId], cond: CondId) -> Result<bool, Stop> {
        if Pool::as_truth(cond) == Some(false) || facts.contains(&Pool::truth(false)) {
            return Ok(true);
        }
        let negated = pool.not(cond)?;
        if facts.contains(&negated) {
            return Ok(true);
        }
        let known = bounds(pool, facts);
        if known.values().any(|range| range.lo > range.hi) {
            return Ok(true);
        }
        match pool.cond(cond) {
            CondKind::AtMostZero(value) if pool.range_within(value, &known).lo > 0 => return Ok(true),
            CondKind::Zero(value) => {
                let range = pool.range_within(value, &known);
                if range.lo > 0 || range.hi < 0 {
                    return Ok(true);
                }
            }
            CondKind::Not(inner) => {
                if let CondKind::Zero(value) = pool.cond(*inner)
                    && pool.range_within(value, &known) == Range::of(0)
                {
                    return Ok(true);
                }
            }
            _ => {}
        }
        let key = (facts.to_vec(), cond, self.coarse);
        if let Some(answer) = self.answers.get(&key) {
            return Ok(*answer);
        }
        let answer = self.unsatisfiable(pool, facts, cond, known)?;
        self.answers.insert(key, answer);
        Ok(answer)
    }

    /// The body of a quantified condition for a number.
    fn body(
        &mut self,
        pool: &mut Pool,
        (cond, body): (CondId, CondId),
        bound: Atom,
        at: &Poly,
    ) -> Result<CondId, Stop> {
        let key = (cond, at.clone());
        if let Some(&known) = self.bodies.get(&key) {
            return Ok(known);
        }
        let result = pool.replace_in_cond(body, bound, at)?;
        self.bodies.insert(key, result);
        Ok(result)
    }

    fn unsatisfiable(
        &mut self,
        pool: &mut Pool,
        facts: &[CondId],
        cond: CondId,
        known: FxHashMap<Atom, Range>,
    ) -> Result<bool, Stop> {
        self.cx.check()?;
        self.counts.queries += 1;
        let mut query = Query {
            known,
            side: Vec::new(),
            seen: FxHashSet::default(),
            quantified: BTreeMap::new(),
            denied: FxHashSet::default(),
        };
        let mut all: Vec<CondId> = facts.to_vec();
        all.push(cond);
        let mut formulas = Vec::new();
        for cond in &all {
            if let CondKind::Not(inner) = pool.cond(*cond) {
                query.denied.insert(*inner);
            }
        }
        for cond in &all {
            formulas.push(query.cond(self, pool, *cond)?);
        }
        query.instances(self, pool)?;
        if !self.coarse {
            query.congruences(self, pool)?;
        }
        formulas.append(&mut query.side);
        self.solver.push();
        for formula in formulas {
            self.solver.assert(&self.terms, formula);
        }
        let interrupt = Limits { interrupt: Some(self.cx.cancel_token().flag()), ..Limits::none() };
        let limits = interrupt.at_most(self.limit);
        let answer = self.solver.check(&self.terms, &[], &limits).is_unsat();
        self.solver.pop();
        Ok(answer)
    }
}

/// What belongs to one query.
struct Query {
    /// The ranges of atoms that follow from the facts.
    known: FxHashMap<Atom, Range>,
    /// What is known of the variables.
    side: Vec<TermId>,
    /// The atoms that occur.
    seen: FxHashSet<Atom>,
    /// The quantified conditions that occur, with their truth values.
    quantified: BTreeMap<CondId, TermId>,
    /// Those that do not hold.
    denied: FxHashSet<CondId>,
}

impl Query {
    fn poly(&mut self, prover: &mut Prover<'_>, pool: &mut Pool, poly: &Poly) -> Result<TermId, Stop> {
        let (summands, divisor) = poly.parts();
        let mut sum = prover.terms.int(0);
        for (monomial, coefficient) in summands {
            let mut product = prover.terms.int(*coefficient);
            for (atom, power) in monomial {
                let factor = self.atom(prover, pool, *atom)?;
                for _ in 0..*power {
                    product = prover.terms.int_mul(product, factor);
                }
            }
            sum = prover.terms.int_add(sum, product);
        }
        Ok(if divisor == 1 { sum } else { prover.terms.int_div(sum, divisor) })
    }

    fn atom(&mut self, prover: &mut Prover<'_>, pool: &mut Pool, atom: Atom) -> Result<TermId, Stop> {
        if !self.seen.insert(atom)
            && let Some(term) = prover.symbols.get(&atom)
        {
            return Ok(*term);
        }
        let term = match pool.kind(atom).clone() {
            AtomKind::Ite(cond, yes, no) => {
                let cond = self.cond(prover, pool, cond)?;
                let (yes, no) = (self.poly(prover, pool, &yes)?, self.poly(prover, pool, &no)?);
                prover.terms.ite(cond, yes, no)
            }
            AtomKind::Wrap(value, ty) => {
                let value = self.poly(prover, pool, &value)?;
                wrapped(&mut prover.terms, value, ty)
            }
            AtomKind::Mod(value, divisor) => {
                let small = Range::new(0, divisor - 1).contains(pool.range_within(&value, &self.known));
                let value = self.poly(prover, pool, &value)?;
                if small { value } else { prover.terms.int_mod(value, divisor) }
            }
            AtomKind::Sum(_, body, upper) => {
                let symbol = self.symbol(prover, pool, atom);
                let upper = self.poly(prover, pool, &upper)?;
                let zero = prover.terms.int(0);
                let natural = prover.terms.int_le(zero, upper);
                let range = pool.range_within(&Poly::atom(atom), &self.known);
                let one = prover.terms.int(1);
                self.side.extend(bounded(&mut prover.terms, symbol, range, one));
                for fact in bounded(&mut prover.terms, symbol, pool.range(&body), upper) {
                    self.side.push(prover.terms.implies(natural, fact));
                }
                symbol
            }
            _ => self.symbol(prover, pool, atom),
        };
        prover.symbols.insert(atom, term);
        Ok(term)
    }

    /// A variable with the range of the atom.
    fn symbol(&mut self, prover: &mut Prover<'_>, pool: &Pool, atom: Atom) -> TermId {
        let symbol = prover.terms.symbol(&format!("a{}", atom.0), Sort::Int);
        let term = prover.terms.var(symbol, 0);
        let range = pool.range(&Poly::atom(atom));
        let one = prover.terms.int(1);
        self.side.extend(bounded(&mut prover.terms, term, range, one));
        term
    }

    fn cond(&mut self, prover: &mut Prover<'_>, pool: &mut Pool, cond: CondId) -> Result<TermId, Stop> {
        Ok(match pool.cond(cond).clone() {
            CondKind::True => TermId::TRUE,
            CondKind::False => TermId::FALSE,
            CondKind::AtMostZero(value) => {
                let value = self.poly(prover, pool, &value)?;
                let zero = prover.terms.int(0);
                prover.terms.int_le(value, zero)
            }
            CondKind::Zero(value) => {
                let value = self.poly(prover, pool, &value)?;
                let zero = prover.terms.int(0);
                prover.terms.eq(value, zero)
            }
            CondKind::Not(inner) => {
                let inner = self.cond(prover, pool, inner)?;
                prover.terms.not(inner)
            }
            CondKind::And(parts) => {
                let parts =
                    parts.into_iter().map(|part| self.cond(prover, pool, part)).collect::<Result<Vec<_>, _>>()?;
                prover.terms.and_all(&parts)
            }
            CondKind::Or(parts) => {
                let parts =
                    parts.into_iter().map(|part| self.cond(prover, pool, part)).collect::<Result<Vec<_>, _>>()?;
                prover.terms.or_all(&parts)
            }
            CondKind::Exists(..) => {
                let symbol = prover.terms.symbol(&format!("q{cond:?}"), Sort::Bool);
                let term = prover.terms.var(symbol, 0);
                self.quantified.insert(cond, term);
                term
            }
        })
    }

    /// Instances of the quantified conditions: where one holds, for a number of its own; where it does not, for the
    /// iterations that touch an element of the query, and for the last one.
    fn instances(&mut self, prover: &mut Prover<'_>, pool: &mut Pool) -> Result<(), Stop> {
        let mut done: BTreeSet<(CondId, Poly)> = BTreeSet::new();
        let mut witnessed: BTreeSet<CondId> = BTreeSet::new();
        let (rounds, instances) = if prover.coarse { (1, INSTANCES / 2) } else { (ROUNDS, INSTANCES) };
        for _ in 0..rounds {
            let elements = self.elements(pool);
            let inputs = self.inputs(pool);
            // The latest ones, which the loop at hand has brought, come first.
            for (cond, holds) in self.quantified.clone().into_iter().rev() {
                let CondKind::Exists(number, body, upper) = pool.cond(cond).clone() else { continue };
                let bound = pool.atom(AtomKind::Bound(number));
                if !self.denied.contains(&cond) && witnessed.insert(cond) {
                    let witness = pool.input(u32::MAX, vec![name_of(cond)], Range::NATURAL);
                    let begun = pool.less(&witness, &upper)?;
                    let body = prover.body(pool, (cond, body), bound, &witness)?;
                    let instance = pool.and(vec![begun, body]);
                    let instance = self.cond(prover, pool, instance)?;
                    let fact = prover.terms.implies(holds, instance);
                    self.side.push(fact);
                }
                let mut numbers = iterations(pool, body, bound, &elements, &inputs)?;
                if upper.as_constant() != Some(POSITIONS) {
                    numbers.push(upper.plus_constant(-1)?);
                }
                for at in numbers {
                    if done.len() >= instances || !done.insert((cond, at.clone())) {
                        continue;
                    }
                    let begun = pool.at_most(&Poly::constant(0), &at)?;
                    let ended = pool.less(&at, &upper)?;
                    let body = prover.body(pool, (cond, body), bound, &at)?;
                    let body = self.columns(pool, body)?;
                    let instance = pool.and(vec![begun, ended, body]);
                    let instance = self.cond(prover, pool, instance)?;
                    let fact = prover.terms.implies(instance, holds);
                    self.side.push(fact);
                }
            }
        }
        Ok(())
    }

    /// A condition in which columns of tables, and other remainders of numbers that are small, are told by what is known of them.
    fn columns(&self, pool: &mut Pool, cond: CondId) -> Result<CondId, Stop> {
        let mut map = FxHashMap::default();
        Search::new(pool).cond(cond, &mut |atom| {
            if let AtomKind::Mod(inner, divisor) = pool.kind(atom)
                && Range::new(0, divisor - 1).contains(pool.range_within(inner, &self.known))
            {
                map.insert(atom, inner.clone());
            }
            false
        });
        if map.is_empty() { Ok(cond) } else { Replacement::new(map).cond(pool, cond) }
    }

    /// The inputs that occur outside of bodies, with their parameters.
    fn inputs(&self, pool: &Pool) -> Vec<(Name, Vec<Poly>, Atom)> {
        let mut inputs = Vec::new();
        for atom in &self.seen {
            if let AtomKind::Input(name, parameters, ..) = pool.kind(*atom) {
                inputs.push((*name, parameters.clone(), *atom));
            }
        }
        inputs.sort_unstable();
        inputs
    }

    /// The elements that occur outside of bodies.
    fn elements(&self, pool: &Pool) -> Vec<(ArrayId, Poly)> {
        let mut elements = Vec::new();
        for atom in &self.seen {
            if let AtomKind::Element(array, index) = pool.kind(*atom) {
                elements.push((*array, index.clone()));
            }
        }
        elements.sort_unstable();
        elements
    }

    /// The results of operators that are not modelled.
    fn opaque(&self, pool: &Pool) -> Vec<((BinOp, IntTy), Vec<Poly>, Atom)> {
        let mut results = Vec::new();
        for atom in &self.seen {
            if let AtomKind::Opaque(op, left, right, ty) = pool.kind(*atom) {
                results.push(((*op, *ty), vec![left.clone(), right.clone()], *atom));
            }
        }
        results.sort_unstable_by_key(|(.., atom)| *atom);
        results
    }

    /// Elements of the same array at the same position are equal, and so is what has the same name and parameters, or the same
    /// operator and operands.
    fn congruences(&mut self, prover: &mut Prover<'_>, pool: &mut Pool) -> Result<(), Stop> {
        let mut inputs = self.inputs(pool);
        inputs.retain(|(_, parameters, _)| !parameters.is_empty());
        let mut elements = Vec::new();
        for (array, index) in self.elements(pool) {
            let atom = pool.atom(AtomKind::Element(array, index.clone()));
            elements.push((array, vec![index], atom));
        }
        let mut alike = same_arguments(pool, &inputs)?;
        alike.extend(same_arguments(pool, &self.opaque(pool))?);
        alike.extend(same_arguments(pool, &elements)?);
        alike.truncate(PAIRS);
        for (same, left, right) in alike {
            if Pool::as_truth(same) != Some(false) {
                let same = self.cond(prover, pool, same)?;
                let (left, right) = (self.atom(prover, pool, left)?, self.atom(prover, pool, right)?);
                let equal = prover.terms.eq(left, right);
                let fact = prover.terms.implies(same, equal);
                self.side.push(fact);
            }
        }
        Ok(())
    }
}

/// When two values of the same function are the same: its arguments are.
fn same_arguments<F: PartialEq>(
    pool: &mut Pool,
    values: &[(F, Vec<Poly>, Atom)],
) -> Result<Vec<(CondId, Atom, Atom)>, Stop> {
    let mut alike = Vec::new();
    for (at, (function, arguments, left)) in values.iter().enumerate() {
        for (_, others, right) in values[at + 1..].iter().filter(|(same, ..)| same == function) {
            let mut parts = Vec::new();
            for (argument, other) in arguments.iter().zip(others) {
                parts.push(pool.equal(argument, other)?);
            }
            alike.push((pool.and(parts), *left, *right));
        }
    }
    Ok(alike)
}

/// A parameter that tells conditions apart.
fn name_of(cond: CondId) -> Poly {
    Poly::constant(i128::from(cond.number()))
}

/// That a value is in the range, multiplied by `factor`.
fn bounded(terms: &mut Terms, value: TermId, range: Range, factor: TermId) -> Vec<TermId> {
    let low = range.low().map(|low| terms.int_mul_const(low, factor)).map(|low| terms.int_le(low, value));
    let high = range.high().map(|high| terms.int_mul_const(high, factor)).map(|high| terms.int_le(value, high));
    low.into_iter().chain(high).collect()
}

fn wrapped(terms: &mut Terms, value: TermId, ty: IntTy) -> TermId {
    let modulus = 1i128 << ty.bits;
    if !ty.signed {
        return terms.int_mod(value, modulus);
    }
    let half = terms.int(modulus / 2);
    let shifted = terms.int_add(value, half);
    let rest = terms.int_mod(shifted, modulus);
    terms.int_sub(rest, half)
}

/// The values of `bound` for which the body reads one of the elements, or one of the inputs.
fn iterations(
    pool: &mut Pool,
    body: CondId,
    bound: Atom,
    elements: &[(ArrayId, Poly)],
    inputs: &[(Name, Vec<Poly>, Atom)],
) -> Result<Vec<Poly>, Stop> {
    let mut inside = Vec::new();
    let mut asked = Vec::new();
    Search::new(pool).cond(body, &mut |atom| {
        match pool.kind(atom) {
            AtomKind::Element(array, index) => inside.push((*array, index.clone())),
            AtomKind::Input(name, parameters, ..) if !parameters.is_empty() => asked.push((*name, parameters.clone())),
            _ => {}
        }
        false
    });
    let mut found = Vec::new();
    for (name, parameters) in asked {
        for (_, at, _) in inputs.iter().filter(|(same, ..)| *same == name) {
            for (parameter, at) in parameters.iter().zip(at) {
                // The iteration that has this parameter.
                if let Some((1, start)) = parameter.linear_in(bound)
                    && !pool.mentions(&start, &|atom| atom == bound)
                {
                    found.push(at.minus(&start)?);
                }
            }
            // Of iterations of several loops that are numbered through, the quotients and the last remainder are parameters.
            let (mut number, mut value) = (Poly::constant(0), Poly::constant(0));
            for (parameter, at) in parameters.iter().zip(at) {
                if pool.mentions(parameter, &|atom| atom == bound) {
                    let divisor = parameter.parts().1;
                    number = number.plus(&parameter.times_constant(divisor)?)?;
                    value = value.plus(&at.times_constant(divisor)?)?;
                }
            }
            if number == Poly::atom(bound) {
                found.push(value);
            }
        }
    }
    for (array, index) in inside {
        let Some((stride, start)) = index.linear_in(bound) else { continue };
        if !matches!(pool.array(array), ArrayKind::Unknown(..)) || pool.mentions(&start, &|atom| atom == bound) {
            continue;
        }
        for (_, at) in elements.iter().filter(|(same, _)| *same == array) {
            let distance = at.minus(&start)?.times_constant(stride.signum())?;
            let rest = pool.modulo(&distance, stride.abs())?;
            if rest.as_constant() == Some(0) {
                found.push(pool.div(&distance, stride.abs())?);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
