// SPDX-License-Identifier: Apache-2.0
//! Totals: what is known of sums over all elements. Summands by cases are added up case by case, where the cases are intervals, single
//! numbers or remainders; relations between elements ([`crate::relations`]) bound sums by the sums of the least and greatest values.

use std::collections::BTreeSet;

use cpa_core::Stop;
use rustc_hash::FxHashMap;

use crate::eval::PITCH;
use crate::poly::{Atom, Poly};
use crate::pool::{ArrayId, AtomKind, CondId, CondKind, Pool};
use crate::relations::{POSITIONS, Place, Relation};
use crate::state::State;
use crate::subst::{Replacement, Search};
use crate::walk::Walker;

/// The most cases that summands are divided into.
const CASES: usize = 400;
/// The most sums of one kind that are looked at.
const SUMS: usize = 24;

/// The sums that conditions speak about, and linear combinations of them.
#[derive(Default)]
struct Found {
    sums: BTreeSet<Atom>,
    combinations: BTreeSet<Poly>,
}

impl Found {
    fn cond(&mut self, pool: &Pool, cond: CondId) -> Result<(), Stop> {
        match pool.cond(cond) {
            CondKind::True | CondKind::False | CondKind::Exists(..) => Ok(()),
            CondKind::AtMostZero(value) | CondKind::Zero(value) => self.poly(pool, value),
            CondKind::Not(inner) => self.cond(pool, *inner),
            CondKind::And(parts) | CondKind::Or(parts) => parts.iter().try_for_each(|part| self.cond(pool, *part)),
        }
    }

    fn poly(&mut self, pool: &Pool, poly: &Poly) -> Result<(), Stop> {
        let (summands, _) = poly.parts();
        let is_sum = |atom: Atom| matches!(pool.kind(atom), AtomKind::Sum(..));
        let linear = summands.iter().filter(|(monomial, _)| matches!(monomial[..], [(atom, 1)] if is_sum(atom)));
        let combination = Poly::from_parts(linear.map(|(monomial, c)| (monomial.clone(), *c)).collect(), 1)?;
        if !combination.atoms().is_empty() {
            self.combinations.insert(combination);
        }
        for atom in poly.atoms() {
            match pool.kind(atom) {
                AtomKind::Sum(..) => {
                    self.sums.insert(atom);
                }
                AtomKind::Ite(cond, yes, no) => {
                    self.cond(pool, *cond)?;
                    self.poly(pool, yes)?;
                    self.poly(pool, no)?;
                }
                AtomKind::Wrap(value, _) | AtomKind::Mod(value, _) => self.poly(pool, value)?,
                AtomKind::Opaque(_, left, right, _) => {
                    self.poly(pool, left)?;
                    self.poly(pool, right)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A sum over a variable, or over two of which the second one's bound may depend on the first one.
struct Nest {
    /// Variables and their bounds.
    variables: Vec<(Atom, Poly)>,
    body: Poly,
    /// The facts, and that the variables are within their bounds.
    facts: Vec<CondId>,
}

impl Nest {
    /// How many facts there are that are not about the variables; the others come last.
    fn known(&self) -> usize {
        self.facts.len() - self.variables.len()
    }
}

/// The greatest distance by which the positions of a sum are shifted.
const SHIFT: i128 = 4;

/// How much a sum may still be divided.
struct Effort(usize);

impl Walker<'_> {
    /// The facts of a state with what follows for the sums that they speak about; nothing if that is no more.
    pub(crate) fn totals(&mut self, state: &State) -> Result<Option<Vec<CondId>>, Stop> {
        let mut found = Found::default();
        for fact in &state.facts {
            found.cond(&self.pool, *fact)?;
        }
        let mut totals = FxHashMap::default();
        for atom in found.sums.into_iter().take(SUMS) {
            let total = self.sum_total(&state.facts, atom, &mut Effort(CASES))?;
            if total != Poly::atom(atom) {
                totals.insert(atom, total);
            }
        }
        let mut more = !totals.is_empty();
        let mut replacement = Replacement::new(totals);
        let mut facts = Vec::new();
        for fact in &state.facts {
            facts.push(replacement.cond(&mut self.pool, *fact)?);
        }
        let mut found = Found::default();
        for fact in &facts {
            found.cond(&self.pool, *fact)?;
        }
        for combination in found.combinations.into_iter().take(SUMS) {
            for relation in &state.relations {
                let bounds = self.bounded_by(&facts, &combination, relation)?;
                more |= !bounds.is_empty();
                facts.extend(bounds);
            }
        }
        Ok(more.then_some(facts))
    }

    /// A sum without cases, as far as they can be told apart.
    fn sum_total(&mut self, facts: &[CondId], atom: Atom, effort: &mut Effort) -> Result<Poly, Stop> {
        let AtomKind::Sum(number, body, upper) = self.pool.kind(atom).clone() else { return Ok(Poly::atom(atom)) };
        let natural = self.pool.at_most(&Poly::constant(0), &upper)?;
        if !self.prover.follows(&mut self.pool, facts, natural)? {
            return Ok(Poly::atom(atom));
        }
        let hole = self.pool.hole();
        let body = self.pool.open(&body, number, hole)?;
        self.total(facts, &body, hole, &upper, effort)
    }

    /// The sum of `body` for all values of `hole` from 0 to before `upper`, which is not negative.
    fn total(
        &mut self,
        facts: &[CondId],
        body: &Poly,
        hole: Atom,
        upper: &Poly,
        effort: &mut Effort,
    ) -> Result<Poly, Stop> {
        let mut inside = facts.to_vec();
        inside.push(self.pool.less(&Poly::atom(hole), upper)?);
        let body = self.reduced(&inside, body)?;
        let mut map = FxHashMap::default();
        for atom in body.atoms() {
            if matches!(self.pool.kind(atom), AtomKind::Sum(..)) {
                map.insert(atom, self.sum_total(&inside, atom, effort)?);
            }
        }
        let body = Replacement::new(map).poly(&mut self.pool, &body)?;
        let depends = |atom: Atom| self.pool.mentions(&Poly::atom(atom), &|other| other == hole);
        let case = self.case_in(&body, &depends);
        let Some((atom, cond, yes, no)) = case.filter(|_| effort.0 > 0) else {
            return self.sum_from_start(&body, hole, upper);
        };
        effort.0 -= 1;
        let yes = self.pool.replace(&body, atom, &yes)?;
        let no = self.pool.replace(&body, atom, &no)?;
        self.by_case(facts, cond, (yes, no), (hole, upper), effort)
    }

    /// A sum whose parts begin with the first element of what they speak about: `a[i + 1]` for all `i` is `a[i]` without the first
    /// and with the next one.
    fn sum_from_start(&mut self, body: &Poly, hole: Atom, upper: &Poly) -> Result<Poly, Stop> {
        let (summands, divisor) = body.parts();
        let mut sum = Poly::constant(0);
        for (monomial, coefficient) in summands.clone() {
            let part = Poly::from_parts(std::iter::once((monomial, coefficient)).collect(), 1)?;
            let skipped = self.skipped(&part, hole).filter(|skipped| (1..=SHIFT).contains(skipped)).unwrap_or(0);
            let early = self.pool.replace(&part, hole, &Poly::atom(hole).plus_constant(-skipped)?)?;
            sum = sum.plus(&self.pool.sum(&early, hole, upper)?)?;
            for at in 0..skipped {
                sum = sum.plus(&self.pool.replace(&early, hole, &upper.plus_constant(at)?)?)?;
                sum = sum.minus(&self.pool.replace(&early, hole, &Poly::constant(at))?)?;
            }
        }
        sum.over(divisor)
    }

    /// The least number that is added to the variable in a position or a parameter.
    fn skipped(&self, part: &Poly, hole: Atom) -> Option<i128> {
        let mut least: Option<i128> = None;
        let mut see = |poly: &Poly| {
            if let Some((1, rest)) = poly.linear_in(hole) {
                let constant = rest.constant_part();
                least = Some(least.map_or(constant, |least| least.min(constant)));
            }
        };
        Search::new(&self.pool).poly(part, &mut |atom| {
            match self.pool.kind(atom) {
                AtomKind::Element(_, index) => see(index),
                AtomKind::Input(_, parameters, ..) => parameters.iter().for_each(&mut see),
                _ => {}
            }
            false
        });
        least
    }

    /// The sum of `yes` where the condition holds, and of `no` elsewhere.
    fn by_case(
        &mut self,
        facts: &[CondId],
        cond: CondId,
        (yes, no): (Poly, Poly),
        (hole, upper): (Atom, &Poly),
        effort: &mut Effort,
    ) -> Result<Poly, Stop> {
        if let Some(truth) = Pool::as_truth(cond) {
            return self.total(facts, if truth { &yes } else { &no }, hole, upper, effort);
        }
        if effort.0 == 0 {
            let body = self.pool.ite(cond, yes, no);
            return self.pool.sum(&body, hole, upper);
        }
        effort.0 -= 1;
        if !self.pool.mentions_in_cond(cond, &|atom| atom == hole) {
            let mut on = |walker: &mut Self, cond, body: &Poly| {
                let mut facts = facts.to_vec();
                facts.push(cond);
                walker.total(&facts, body, hole, upper, effort)
            };
            let not = self.pool.not(cond)?;
            let (yes, no) = (on(self, cond, &yes)?, on(self, not, &no)?);
            return Ok(self.pool.ite(cond, yes, no));
        }
        let kind = self.pool.cond(cond).clone();
        if let CondKind::Zero(value) | CondKind::AtMostZero(value) = &kind
            && let Some((atom, inner, if_so, if_not)) = self.case_in(value, &|_| true)
        {
            // A comparison of values by cases.
            let mut on = |value: &Poly| -> Result<Poly, Stop> {
                let cond = self.pool.replace_in_cond(cond, atom, value)?;
                let (yes, no) = (self.pool.replace(&yes, atom, value)?, self.pool.replace(&no, atom, value)?);
                Ok(self.pool.ite(cond, yes, no))
            };
            let cases = (on(&if_so)?, on(&if_not)?);
            return self.by_case(facts, inner, cases, (hole, upper), effort);
        }
        match kind {
            CondKind::Not(inner) => return self.by_case(facts, inner, (no, yes), (hole, upper), effort),
            CondKind::And(mut parts) => {
                let first = parts.remove(0);
                let rest = self.pool.and(parts);
                let yes = self.pool.ite(rest, yes, no.clone());
                return self.by_case(facts, first, (yes, no), (hole, upper), effort);
            }
            CondKind::Or(mut parts) => {
                let first = parts.remove(0);
                let rest = self.pool.or(parts);
                let no = self.pool.ite(rest, yes.clone(), no);
                return self.by_case(facts, first, (yes, no), (hole, upper), effort);
            }
            CondKind::Zero(value) => match value.linear_in(hole) {
                Some((sign @ (1 | -1), rest)) if !self.pool.mentions(&rest, &|atom| atom == hole) => {
                    let at = rest.times_constant(-sign)?;
                    return self.at_one(facts, &at, (yes, no), (hole, upper), effort);
                }
                _ => {
                    if let Some((at, step)) = self.progression(&value, hole)? {
                        return self.at_each(facts, (at, step), (yes, no), (hole, upper), effort);
                    }
                }
            },
            CondKind::AtMostZero(value) => match value.linear_in(hole) {
                Some((sign @ (1 | -1), rest)) if !self.pool.mentions(&rest, &|atom| atom == hole) => {
                    return if sign == 1 {
                        // hole <= -rest.
                        let end = rest.times_constant(-1)?.plus_constant(1)?;
                        self.up_to(facts, &end, (yes, no), (hole, upper), effort)
                    } else {
                        // hole >= rest.
                        self.up_to(facts, &rest, (no, yes), (hole, upper), effort)
                    };
                }
                _ => {}
            },
            CondKind::True | CondKind::False | CondKind::Exists(..) => {}
        }
        let body = self.pool.ite(cond, yes, no);
        self.sum_from_start(&body, hole, upper)
    }

    /// A value by cases that is wanted and in a value, but not in what is said about a variable of its own.
    fn case_in(&self, value: &Poly, wanted: &dyn Fn(Atom) -> bool) -> Option<(Atom, CondId, Poly, Poly)> {
        value.atoms().into_iter().find_map(|atom| match self.pool.kind(atom) {
            AtomKind::Ite(cond, yes, no) if wanted(atom) => Some((atom, *cond, yes.clone(), no.clone())),
            AtomKind::Wrap(inner, _) | AtomKind::Mod(inner, _) | AtomKind::Element(_, inner) => {
                self.case_in(inner, wanted)
            }
            AtomKind::Opaque(_, left, right, _) => self.case_in(left, wanted).or_else(|| self.case_in(right, wanted)),
            _ => None,
        })
    }

    /// The sum of `no`, but for one number.
    fn at_one(
        &mut self,
        facts: &[CondId],
        at: &Poly,
        (yes, no): (Poly, Poly),
        (hole, upper): (Atom, &Poly),
        effort: &mut Effort,
    ) -> Result<Poly, Stop> {
        let all = self.total(facts, &no, hole, upper, effort)?;
        let begun = self.pool.at_most(&Poly::constant(0), at)?;
        let ended = self.pool.less(at, upper)?;
        let inside = self.pool.and(vec![begun, ended]);
        let more = self.pool.replace(&yes.minus(&no)?, hole, at)?;
        let more = self.pool.ite(inside, more, Poly::constant(0));
        all.plus(&self.settled(facts, &more)?)
    }

    /// The sum of `no`, but for the numbers that begin at one and go on in steps.
    fn at_each(
        &mut self,
        facts: &[CondId],
        (start, step): (i128, i128),
        (yes, no): (Poly, Poly),
        (hole, upper): (Atom, &Poly),
        effort: &mut Effort,
    ) -> Result<Poly, Stop> {
        let all = self.total(facts, &no, hole, upper, effort)?;
        let count = self.pool.div(&upper.plus_constant(step - 1 - start)?, step)?;
        let at = Poly::atom(hole).times_constant(step)?.plus_constant(start)?;
        let more = self.pool.replace(&yes.minus(&no)?, hole, &at)?;
        all.plus(&self.total(facts, &more, hole, &count, effort)?)
    }

    /// The sum of `yes` up to before `end`, and of `no` from there on.
    fn up_to(
        &mut self,
        facts: &[CondId],
        end: &Poly,
        (yes, no): (Poly, Poly),
        (hole, upper): (Atom, &Poly),
        effort: &mut Effort,
    ) -> Result<Poly, Stop> {
        let (early, late) = (self.pool.less(end, &Poly::constant(0))?, self.pool.less(upper, end)?);
        let is_early = self.prover.decides(&mut self.pool, facts, early)?;
        let is_late = self.prover.decides(&mut self.pool, facts, late)?;
        let never = if is_early == Some(false) { None } else { Some(self.total(facts, &no, hole, upper, effort)?) };
        let always = if is_late == Some(false) { None } else { Some(self.total(facts, &yes, hole, upper, effort)?) };
        match (is_early, is_late, never, always) {
            (Some(true), _, Some(never), _) => Ok(never),
            (_, Some(true), _, Some(always)) => Ok(always),
            (_, _, never, always) => {
                let mut facts = facts.to_vec();
                facts.push(self.pool.not(early)?);
                facts.push(self.pool.not(late)?);
                let first = self.total(&facts, &yes, hole, end, effort)?;
                let before = self.total(&facts, &no, hole, end, effort)?;
                let all = self.total(&facts, &no, hole, upper, effort)?;
                let mut total = first.plus(&all)?.minus(&before)?;
                if let Some(always) = always {
                    total = self.pool.ite(late, always, total);
                }
                if let Some(never) = never {
                    total = self.pool.ite(early, never, total);
                }
                Ok(total)
            }
        }
    }

    /// Which numbers make a value 0, if it says that a remainder is one number: the first one that is not negative, and the step.
    fn progression(&mut self, value: &Poly, hole: Atom) -> Result<Option<(i128, i128)>, Stop> {
        let [atom] = value.atoms()[..] else { return Ok(None) };
        let (Some((sign @ (1 | -1), rest)), AtomKind::Mod(inner, step)) =
            (value.linear_in(atom), self.pool.kind(atom).clone())
        else {
            return Ok(None);
        };
        let (Some(rest), Some((factor, start))) = (rest.as_constant(), inner.linear_in(hole)) else { return Ok(None) };
        let wanted = -sign * rest;
        let Some(start) = start.as_constant().filter(|_| (0..step).contains(&wanted)) else { return Ok(None) };
        Ok(match factor.rem_euclid(step) {
            1 => Some(((wanted - start).rem_euclid(step), step)),
            factor if factor == step - 1 => Some(((start - wanted).rem_euclid(step), step)),
            _ => None,
        })
    }

    /// The sums of a combination as one, if they go over the same numbers and no bound is negative.
    fn nest(&mut self, facts: &[CondId], combination: &Poly) -> Result<Option<Nest>, Stop> {
        let mut nest = Nest { variables: Vec::new(), body: combination.clone(), facts: facts.to_vec() };
        while nest.variables.len() < 2 {
            let (summands, divisor) = nest.body.parts();
            let mut parts = Vec::new();
            for (monomial, coefficient) in summands {
                match monomial[..] {
                    [(atom, 1)] => match self.pool.kind(atom).clone() {
                        AtomKind::Sum(number, body, upper) => parts.push((*coefficient, number, body, upper)),
                        _ => break,
                    },
                    _ => break,
                }
            }
            let all = parts.len() == summands.len();
            let Some((.., upper)) = parts.first().cloned().filter(|_| all) else { break };
            let natural = self.pool.at_most(&Poly::constant(0), &upper)?;
            let fits = parts.iter().all(|(.., other)| *other == upper);
            if !fits || !self.prover.follows(&mut self.pool, &nest.facts, natural)? {
                break;
            }
            let hole = self.pool.hole();
            let mut body = Poly::constant(0);
            for (coefficient, number, part, _) in parts {
                let part = self.pool.open(&part, number, hole)?;
                body = body.plus(&part.times_constant(coefficient)?)?;
            }
            nest.body = body.over(divisor)?;
            let within = self.pool.less(&Poly::atom(hole), &upper)?;
            nest.facts.push(within);
            nest.variables.push((hole, upper));
        }
        Ok((!nest.variables.is_empty()).then_some(nest))
    }

    /// What a relation between elements says about a combination of sums.
    fn bounded_by(
        &mut self,
        facts: &[CondId],
        combination: &Poly,
        relation: &Relation<ArrayId>,
    ) -> Result<Vec<CondId>, Stop> {
        let Some(mut nest) = self.nest(facts, combination)? else { return Ok(Vec::new()) };
        let holes: Vec<Poly> = nest.variables.iter().map(|(hole, _)| Poly::atom(*hole)).collect();
        let index = match &holes[..] {
            [column] => column.clone(),
            [row, column] => row.times_constant(PITCH)?.plus(column)?,
            _ => return Ok(Vec::new()),
        };
        // The relation at the position that the variables stand for.
        let position = self.pool.position();
        let mut here = Replacement::new(std::iter::once((position, index.clone())).collect());
        let domain = here.cond(&mut self.pool, relation.domain)?;
        let small = self.pool.less(&index, &Poly::constant(POSITIONS))?;
        let within = self.pool.and(vec![domain, small]);
        if !self.prover.follows(&mut self.pool, &nest.facts, within)? {
            return Ok(Vec::new());
        }
        let mut members = Vec::new();
        for (array, at) in &relation.members {
            let at = here.poly(&mut self.pool, at)?;
            members.push((*array, self.reduced(&nest.facts, &at)?));
        }
        let mut whole = combination.clone();
        if let Some((_, other)) = members.iter().find(|(_, at)| *at != index) {
            let Some(turned) = self.turned(&nest, other)? else { return Ok(Vec::new()) };
            nest.body = nest.body.plus(&turned)?;
            whole = whole.times_constant(2)?;
        }
        let body = self.reduced(&nest.facts, &nest.body)?;
        let mut values: Vec<Poly> = Vec::new();
        for tuple in &relation.tuples {
            let mut map = FxHashMap::default();
            for ((array, at), value) in members.iter().zip(tuple) {
                let element = self.pool.atom(AtomKind::Element(*array, at.clone()));
                map.insert(element, here.poly(&mut self.pool, value)?);
            }
            let value = Replacement::new(map).poly(&mut self.pool, &body)?;
            let value = self.reduced(&nest.facts, &value)?;
            let remains = |atom: Atom| match self.pool.kind(atom) {
                AtomKind::Element(array, _) => members.iter().any(|(other, _)| other == array),
                _ => false,
            };
            if self.pool.mentions(&value, &remains) {
                return Ok(Vec::new());
            }
            let mut new = true;
            for other in &values {
                let same = self.pool.equal(other, &value)?;
                new = new && !self.prover.follows(&mut self.pool, &nest.facts, same)?;
            }
            if new {
                values.push(value);
            }
        }
        let mut facts = Vec::new();
        facts.extend(self.at_one_place(&nest, &whole, &values)?);
        let (mut least, mut greatest) = (values[0].clone(), values[0].clone());
        for value in &values[1..] {
            let below = self.pool.at_most(value, &least)?;
            let low = self.pool.ite(below, value.clone(), least);
            least = self.reduced(&nest.facts, &low)?;
            let above = self.pool.at_most(&greatest, value)?;
            let high = self.pool.ite(above, value.clone(), greatest);
            greatest = self.reduced(&nest.facts, &high)?;
        }
        let (low, high) = (self.nest_total(&nest, &least)?, self.nest_total(&nest, &greatest)?);
        facts.push(self.pool.at_most(&low, &whole)?);
        facts.push(self.pool.at_most(&whole, &high)?);
        Ok(facts)
    }

    /// The sum of a body over the variables of a nest.
    fn nest_total(&mut self, nest: &Nest, body: &Poly) -> Result<Poly, Stop> {
        let mut total = body.clone();
        let mut effort = Effort(CASES);
        for (at, (hole, upper)) in nest.variables.iter().enumerate().rev() {
            total = self.total(&nest.facts[..nest.known() + at], &total, *hole, upper, &mut effort)?;
        }
        Ok(total)
    }

    /// The body with the variables turned to another position, if that maps the positions of the sum one to one.
    fn turned(&mut self, nest: &Nest, other: &Poly) -> Result<Option<Poly>, Stop> {
        let table = nest.variables.len() == 2;
        let place = Place::of(other, table)?;
        let to: Vec<Poly> = place.row.into_iter().chain([place.column]).collect();
        let map: FxHashMap<Atom, Poly> = nest.variables.iter().map(|(hole, _)| *hole).zip(to.iter().cloned()).collect();
        let mut turn = Replacement::new(map);
        for ((hole, upper), to) in nest.variables.iter().zip(&to) {
            let upper = turn.poly(&mut self.pool, upper)?;
            let (begun, ended) = (self.pool.at_most(&Poly::constant(0), to)?, self.pool.less(to, &upper)?);
            let inside = self.pool.and(vec![begun, ended]);
            let back = turn.poly(&mut self.pool, to)?;
            if back != Poly::atom(*hole) || !self.prover.follows(&mut self.pool, &nest.facts, inside)? {
                return Ok(None);
            }
        }
        Ok(Some(turn.poly(&mut self.pool, &nest.body)?))
    }

    /// If summands differ from one of their values at one place at the most: what the sum is then.
    fn at_one_place(&mut self, nest: &Nest, whole: &Poly, values: &[Poly]) -> Result<Option<CondId>, Stop> {
        let mut elsewhere = FxHashMap::default();
        for (hole, _) in &nest.variables {
            elsewhere.insert(*hole, Poly::atom(self.pool.hole()));
        }
        for base in values {
            let mut differences = Vec::new();
            let mut differs = Vec::new();
            for value in values.iter().filter(|value| *value != base) {
                let difference = value.minus(base)?;
                let same = self.pool.equal(&difference, &Poly::constant(0))?;
                differs.push(self.pool.not(same)?);
                differences.push(difference);
            }
            let differs = self.pool.or(differs);
            let mut other = Replacement::new(elsewhere.clone());
            let mut facts = nest.facts.clone();
            facts.push(differs);
            for fact in nest.facts[nest.known()..].iter().chain([&differs]) {
                facts.push(other.cond(&mut self.pool, *fact)?);
            }
            let mut same = Vec::new();
            for (hole, _) in &nest.variables {
                same.push(self.pool.equal(&Poly::atom(*hole), &elsewhere[hole])?);
            }
            let same = self.pool.and(same);
            if !self.prover.follows(&mut self.pool, &facts, same)? {
                continue;
            }
            let total = self.nest_total(nest, base)?;
            let mut cases = vec![self.pool.equal(whole, &total)?];
            for difference in differences {
                // The variables stand for the place.
                let mut parts = nest.facts[nest.known()..].to_vec();
                parts.push(self.pool.equal(whole, &total.plus(&difference)?)?);
                cases.push(self.pool.and(parts));
            }
            return Ok(Some(self.pool.or(cases)));
        }
        Ok(None)
    }
}
