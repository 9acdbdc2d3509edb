// SPDX-License-Identifier: Apache-2.0
//! Proves contracts inductive, together, and with them that nothing bad happens.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use algo_kind::houdini::{Timeouts, failing};
use cfa::ids::{FuncId, NodeId};
use cfa::{Blocks, Partitioning, Program};
use cpa_core::{Cx, Stop};
use cpa_predicate::Manager;
use smt::{TermId, Terms};

use crate::body::{Body, Problem, Values, body};
use crate::candidates::Facts;
use crate::signature::Signature;

/// A candidate: the function, whether it is about its end, and the fact.
type Key = (FuncId, bool, TermId);

/// The bodies of a program with what is known and tried about their contracts.
pub(crate) struct Proof {
    /// The program from its entry on, and the functions with contracts that it can call.
    bodies: BTreeMap<Option<FuncId>, Body>,
    /// Facts that were proved inductive together.
    proved: BTreeMap<FuncId, Facts>,
    /// Facts that are tried now.
    tried: BTreeMap<FuncId, Facts>,
    /// Questions to the solver.
    pub(crate) rounds: u64,
}

impl Proof {
    /// The formulas of all bodies; no contract says anything yet.
    pub(crate) fn new(
        cx: &Cx,
        manager: &mut Manager,
        program: &Program,
        targets: &BTreeSet<NodeId>,
        signatures: &BTreeMap<FuncId, Signature>,
    ) -> Result<Self, Stop> {
        let loops = Blocks::find(program, Partitioning { functions: false, ..Partitioning::default() });
        let mut bodies = BTreeMap::new();
        let mut open = vec![None];
        while let Some(func) = open.pop() {
            cx.check()?;
            if bodies.contains_key(&func) {
                continue;
            }
            let body = body(cx, manager, (program, &loops), targets, signatures, func)?;
            open.extend(body.calls.iter().map(|call| Some(call.callee)));
            bodies.insert(func, body);
        }
        let nothing: BTreeMap<FuncId, Facts> = bodies.keys().flatten().map(|&func| (func, Facts::default())).collect();
        Ok(Self { bodies, proved: nothing.clone(), tried: nothing, rounds: 0 })
    }

    /// The functions that have contracts.
    pub(crate) fn functions(&self) -> Vec<FuncId> {
        self.bodies.keys().copied().flatten().collect()
    }

    /// The formulas of the program and of the functions.
    pub(crate) fn bodies(&self) -> &BTreeMap<Option<FuncId>, Body> {
        &self.bodies
    }

    /// The facts about a function that were proved.
    pub(crate) fn known(&self, func: FuncId) -> &Facts {
        &self.proved[&func]
    }

    /// Candidates for a function, to be tried.
    pub(crate) fn propose(&mut self, func: FuncId, facts: Facts) {
        let known = self.proved.entry(func).or_default();
        let tried = self.tried.entry(func).or_default();
        tried.before.extend(facts.before.into_iter().filter(|fact| !known.before.contains(fact)));
        tried.after.extend(facts.after.into_iter().filter(|fact| !known.after.contains(fact)));
    }

    /// Drops candidates until all that are left are inductive, which are proved then. Who was stopped goes on here.
    pub(crate) fn establish(&mut self, cx: &Cx, manager: &mut Manager, timeout: Duration) -> Result<(), Stop> {
        loop {
            let mut stable = true;
            for owner in self.bodies.keys().copied().collect::<Vec<_>>() {
                while let dropped = self.refuted(cx, manager, owner, timeout)?
                    && !dropped.is_empty()
                {
                    stable = false;
                    for (func, at_end, fact) in dropped {
                        let tried = self.tried.entry(func).or_default();
                        let list = if at_end { &mut tried.after } else { &mut tried.before };
                        list.retain(|other| *other != fact);
                    }
                }
            }
            if stable {
                break;
            }
        }
        for (func, facts) in std::mem::take(&mut self.tried) {
            let proved = self.proved.entry(func).or_default();
            proved.before.extend(facts.before);
            proved.after.extend(facts.after);
        }
        Ok(())
    }

    /// Leaves out calls and ends of functions that the contracts exclude.
    pub(crate) fn prune(&mut self, cx: &Cx, manager: &mut Manager, timeout: Duration) -> Result<(), Stop> {
        for owner in self.bodies.keys().copied().collect::<Vec<_>>() {
            let assumptions = self.assumptions(manager, owner, &self.bodies[&owner]);
            let mut is_possible = |condition: TermId| -> Result<bool, Stop> {
                let possible =
                    failing(cx, manager, &assumptions, condition, &[((), condition)], Timeouts::new(timeout))?;
                Ok(!possible.is_empty())
            };
            let body = self.bodies.get_mut(&owner).expect("it is one of the keys");
            let calls = body.calls.iter().map(|call| is_possible(call.condition)).collect::<Result<Vec<_>, _>>()?;
            let exits = body.exits.iter().map(|exit| is_possible(exit.0)).collect::<Result<Vec<_>, _>>()?;
            let (mut calls, mut exits) = (calls.into_iter(), exits.into_iter());
            body.calls.retain(|_| calls.next().expect("one for each call"));
            body.exits.retain(|_| exits.next().expect("one for each end"));
        }
        Ok(())
    }

    /// The first problem of a body that the contracts do not exclude.
    pub(crate) fn problem(
        &mut self,
        cx: &Cx,
        manager: &mut Manager,
        timeout: Duration,
    ) -> Result<Option<(Option<FuncId>, Problem)>, Stop> {
        for (&owner, body) in &self.bodies {
            let assumptions = self.assumptions(manager, owner, body);
            let claims: Vec<(usize, TermId)> =
                body.problems.iter().map(|(_, condition)| *condition).enumerate().collect();
            let together: Vec<TermId> = claims.iter().map(|claim| claim.1).collect();
            let together = manager.terms.or_all(&together);
            self.rounds += 1;
            let failing = failing(cx, manager, &assumptions, together, &claims, Timeouts::new(timeout))?;
            if let Some(first) = failing.into_iter().min() {
                return Ok(Some((owner, body.problems[first].0.clone())));
            }
        }
        Ok(None)
    }

    /// What holds in a body if the contracts do: at its entry, and of all calls that returned.
    fn assumptions(&self, manager: &mut Manager, owner: Option<FuncId>, body: &Body) -> Vec<TermId> {
        let mut assumptions = Vec::new();
        for known in [&self.proved, &self.tried] {
            if let Some(facts) = owner.and_then(|owner| known.get(&owner)) {
                assumptions.extend(&facts.before);
            }
            for call in &body.calls {
                for &fact in known.get(&call.callee).map_or(&[][..], |facts| &facts.after) {
                    let fact = instance(&mut manager.terms, fact, &call.values);
                    assumptions.push(manager.terms.implies(call.returned, fact));
                }
            }
        }
        assumptions
    }

    /// Candidates that a body does not establish: at its calls, and at its own end.
    fn refuted(
        &mut self,
        cx: &Cx,
        manager: &mut Manager,
        owner: Option<FuncId>,
        timeout: Duration,
    ) -> Result<Vec<Key>, Stop> {
        let body = &self.bodies[&owner];
        let mut claims: Vec<(Key, TermId)> = Vec::new();
        let mut claim = |key: Key, condition: TermId, values: &Values| {
            let terms = &mut manager.terms;
            let fact = instance(terms, key.2, values);
            let not = terms.not(fact);
            claims.push((key, terms.and(condition, not)));
        };
        for call in &body.calls {
            for &fact in self.tried.get(&call.callee).map_or(&[][..], |facts| &facts.before) {
                claim((call.callee, false, fact), call.condition, &call.values);
            }
        }
        for (condition, values) in &body.exits {
            let owner = owner.expect("only functions have ends");
            for &fact in self.tried.get(&owner).map_or(&[][..], |facts| &facts.after) {
                claim((owner, true, fact), *condition, values);
            }
        }
        let assumptions = self.assumptions(manager, owner, body);
        let together: Vec<TermId> = claims.iter().map(|claim| claim.1).collect();
        let together = manager.terms.or_all(&together);
        self.rounds += 1;
        failing(cx, manager, &assumptions, together, &claims, Timeouts::new(timeout))
    }
}

/// A fact about a call with the values of its atoms.
fn instance(terms: &mut Terms, fact: TermId, values: &Values) -> TermId {
    terms.substitute(fact, &mut |_, symbol, _| {
        Some(*values.get(&symbol).expect("facts are about the atoms of their function"))
    })
}
