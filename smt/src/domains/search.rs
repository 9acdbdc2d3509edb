// SPDX-License-Identifier: Apache-2.0
//! Decisions, what follows from them, and what to do when they fail.

use std::cmp::Reverse;
use std::collections::VecDeque;

use crate::term::{Terms, Value};

use super::tables::{Domain, Kind, Problem, Table, ones};
use super::{Found, Progress};

/// How many failures the first restart allows.
const FAILURES: u64 = 50;
/// By what that grows each time all manners had their turn.
const GROWTH: f64 = 1.5;
/// How many steps there are between questions whether it is time to stop.
const LOOK: u64 = 4096;

/// Which variable is decided.
#[derive(Clone, Copy)]
enum Order {
    /// The one with the smallest domain in relation to the failures of its constraints.
    Weighted,
    First,
    Last,
}

/// Which value is tried.
#[derive(Clone, Copy)]
enum Pick {
    Least,
    Greatest,
    Random,
}

/// What is tried in turn, with the factors of how many failures are allowed. Puzzles often have a regular solution, which is found
/// by going along the variables or not at all; others need decisions where failures are.
const MANNERS: [(Order, Pick, u64); 7] = [
    (Order::Last, Pick::Greatest, 1),
    (Order::First, Pick::Random, 4),
    (Order::First, Pick::Greatest, 1),
    (Order::Weighted, Pick::Random, 4),
    (Order::First, Pick::Least, 1),
    (Order::First, Pick::Random, 4),
    (Order::Last, Pick::Least, 1),
];

/// A decision: the variable, the value, and what the trail was before.
struct Decision {
    var: usize,
    value: Domain,
    trail: usize,
}

/// A constraint excludes all values of a variable.
struct Failure;

/// The state of a search.
pub(super) struct Search {
    problem: Problem,
    /// The constraints of each variable, and how many values it has at most when they are looked at.
    watched: Vec<Vec<(usize, u32)>>,
    /// How often each constraint failed.
    weights: Vec<u64>,
    /// Domains that were changed, with what they were.
    trail: Vec<(usize, Domain)>,
    queue: VecDeque<usize>,
    queued: Vec<bool>,
    /// How many restarts there were.
    restarts: usize,
    random: u64,
    /// How often a constraint was looked at, when the search stops, and when it next asks whether it is time to.
    steps: u64,
    end: u64,
    asked: u64,
    begun: bool,
}

impl Search {
    pub(super) fn new(problem: Problem) -> Search {
        let mut watched = vec![Vec::new(); problem.vars.len()];
        for (at, constraint) in problem.constraints.iter().enumerate() {
            for (place, &var) in constraint.vars.iter().enumerate() {
                let threshold = match &constraint.kind {
                    Kind::Table(table) => table.threshold(place),
                    Kind::Wide(_) => 1,
                };
                watched[var].push((at, threshold));
            }
        }
        // So that those for fewer values than a variable has are not gone through.
        watched.iter_mut().for_each(|constraints| constraints.sort_by_key(|&(_, threshold)| Reverse(threshold)));
        let count = problem.constraints.len();
        Search {
            problem,
            watched,
            weights: vec![1; count],
            trail: Vec::new(),
            queue: (0..count).collect(),
            queued: vec![true; count],
            restarts: 0,
            random: 0x9e37_79b9_7f4a_7c15,
            steps: 0,
            end: 0,
            asked: 0,
            begun: false,
        }
    }

    /// Searches until the steps are used up or it is time to stop.
    pub(super) fn run(&mut self, terms: &Terms, steps: u64, over: &dyn Fn() -> bool) -> Progress {
        self.end = self.steps.saturating_add(steps);
        if !self.begun {
            if self.problem.domains.contains(&0) || self.propagate(terms).is_err() {
                return Progress::Exhausted;
            }
            self.trail.clear();
            self.begun = true;
        }
        while !self.stops(over) {
            let (order, pick, factor) = MANNERS[self.restarts % MANNERS.len()];
            let cycle = i32::try_from(self.restarts / MANNERS.len()).unwrap_or(i32::MAX).min(60);
            let failures = factor * (FAILURES as f64 * GROWTH.powi(cycle)) as u64;
            self.restarts += 1;
            if let Some(progress) = self.attempt(terms, over, (order, pick), failures) {
                return progress;
            }
            self.undo(0);
        }
        Progress::Stopped
    }

    /// Searches until there are too many failures; none if nothing came out.
    fn attempt(
        &mut self,
        terms: &Terms,
        over: &dyn Fn() -> bool,
        (order, pick): (Order, Pick),
        failures: u64,
    ) -> Option<Progress> {
        let mut decisions: Vec<Decision> = Vec::new();
        let mut failed = 0;
        loop {
            if self.stops(over) {
                return None;
            }
            let Some(var) = self.open(order) else { return Some(Progress::Found(self.found())) };
            let value = self.value(var, pick);
            decisions.push(Decision { var, value, trail: self.trail.len() });
            let mut outcome = self.restrict(terms, var, value);
            while outcome.is_err() {
                failed += 1;
                let Some(decision) = decisions.pop() else { return Some(Progress::Exhausted) };
                self.undo(decision.trail);
                if failed > failures {
                    return None;
                }
                let others = self.problem.domains[decision.var] & !decision.value;
                outcome = self.restrict(terms, decision.var, others);
            }
        }
    }

    /// Whether it is time to stop.
    fn stops(&mut self, over: &dyn Fn() -> bool) -> bool {
        if self.steps >= self.asked {
            self.asked = self.steps + LOOK;
            if over() {
                self.end = self.steps;
            }
        }
        self.steps >= self.end
    }

    /// The variable that is decided next; none if all have a value.
    fn open(&self, order: Order) -> Option<usize> {
        let domains = &self.problem.domains;
        let mut open = (0..domains.len()).filter(|&var| domains[var].count_ones() > 1);
        match order {
            Order::First => open.next(),
            Order::Last => open.next_back(),
            Order::Weighted => {
                let undecided = |constraint: usize| {
                    let vars = &self.problem.constraints[constraint].vars;
                    vars.iter().filter(|&&var| domains[var].count_ones() > 1).count() > 1
                };
                let weight = |var: usize| -> u64 {
                    self.watched[var].iter().filter(|(at, _)| undecided(*at)).map(|(at, _)| self.weights[*at]).sum()
                };
                let ratio = |var: usize| f64::from(domains[var].count_ones()) / (weight(var) + 1) as f64;
                open.map(|var| (ratio(var), var)).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, var)| var)
            }
        }
    }

    /// The value that is tried.
    fn value(&mut self, var: usize, pick: Pick) -> Domain {
        let domain = self.problem.domains[var];
        match pick {
            Pick::Least => 1 << domain.trailing_zeros(),
            Pick::Greatest => 1 << (Domain::BITS - 1 - domain.leading_zeros()),
            Pick::Random => {
                self.random ^= self.random << 13;
                self.random ^= self.random >> 7;
                self.random ^= self.random << 17;
                let number = (self.random % u64::from(domain.count_ones())) as usize;
                1 << ones(domain).nth(number).expect("the number is less than their count")
            }
        }
    }

    /// Leaves a variable the given values, and what follows.
    fn restrict(&mut self, terms: &Terms, var: usize, values: Domain) -> Result<(), Failure> {
        if values == 0 {
            return Err(Failure);
        }
        self.set(var, values);
        self.propagate(terms)
    }

    fn set(&mut self, var: usize, values: Domain) {
        let old = std::mem::replace(&mut self.problem.domains[var], values);
        if old == values {
            return;
        }
        self.trail.push((var, old));
        let count = values.count_ones();
        for &(constraint, _) in self.watched[var].iter().take_while(|&&(_, threshold)| count <= threshold) {
            if !std::mem::replace(&mut self.queued[constraint], true) {
                self.queue.push_back(constraint);
            }
        }
    }

    /// Undoes changes until the trail has this length.
    fn undo(&mut self, length: usize) {
        for (var, old) in self.trail.drain(length..).rev() {
            self.problem.domains[var] = old;
        }
    }

    /// Removes values without support until there are none.
    fn propagate(&mut self, terms: &Terms) -> Result<(), Failure> {
        while let Some(at) = self.queue.pop_front() {
            self.queued[at] = false;
            self.steps += 1;
            let constraint = &self.problem.constraints[at];
            let count = constraint.vars.len();
            let mut kept: [(usize, Domain); 3] = [(0, Domain::MAX); 3];
            match &constraint.kind {
                Kind::Table(table) => {
                    let supported = self.supported(table, &constraint.vars);
                    for place in 0..count {
                        kept[place] = (constraint.vars[place], supported[place]);
                    }
                }
                Kind::Wide(_) => match self.last_open(at) {
                    Some(var) => kept[0] = (var, self.fitting(terms, at, var)),
                    None => continue,
                },
            }
            for &(var, values) in kept.iter().take(count).filter(|(_, values)| *values != Domain::MAX) {
                if values == 0 {
                    self.weights[at] += 1;
                    for rest in self.queue.drain(..) {
                        self.queued[rest] = false;
                    }
                    return Err(Failure);
                }
                self.set(var, values);
            }
        }
        Ok(())
    }

    fn supported(&self, table: &Table, vars: &[usize]) -> [Domain; 3] {
        let mut domains = [0; 3];
        for (place, &var) in vars.iter().enumerate() {
            domains[place] = self.problem.domains[var];
        }
        table.supported(&domains[..vars.len()])
    }

    /// The variable of a constraint that is not decided, or the last one if all are; none if there are several.
    fn last_open(&self, constraint: usize) -> Option<usize> {
        let vars = &self.problem.constraints[constraint].vars;
        let mut open = vars.iter().copied().filter(|&var| self.problem.domains[var].count_ones() > 1);
        match (open.next(), open.next()) {
            (None, _) => vars.last().copied(),
            (var, None) => var,
            _ => None,
        }
    }

    /// The values of a variable for which a constraint holds, when all others have one.
    fn fitting(&self, terms: &Terms, constraint: usize, var: usize) -> Domain {
        let Problem { vars, domains, constraints } = &self.problem;
        let constraint = &constraints[constraint];
        let Kind::Wide(evaluator) = &constraint.kind else { return domains[var] };
        let mut kept = 0;
        for at in ones(domains[var]) {
            let mut value = |sym, index| {
                let found = constraint.vars.iter().find(|&&one| (vars[one].sym, vars[one].index) == (sym, index));
                match found {
                    Some(&one) if one == var => vars[var].values[at].clone(),
                    Some(&one) => vars[one].values[domains[one].trailing_zeros() as usize].clone(),
                    None => terms.default_value(sym),
                }
            };
            if evaluator.borrow_mut().run(terms, &mut value) == Some(vec![Value::Bool(true)]) {
                kept |= 1 << at;
            }
        }
        kept
    }

    fn found(&self) -> Found {
        let Problem { vars, domains, .. } = &self.problem;
        let value = |(var, domain): (&super::tables::Variable, &Domain)| {
            ((var.sym, var.index), var.values[domain.trailing_zeros() as usize].clone())
        };
        vars.iter().zip(domains).map(value).collect()
    }
}
