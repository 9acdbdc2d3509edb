// SPDX-License-Identifier: Apache-2.0
//! The loops of a program with their effects, and which strategies apply to them.

use std::collections::{BTreeMap, BTreeSet};

use cfa::{EdgeId, LoopSite, NodeId, Op, Program, SiteKind, VarId, VisibleStorage};

use crate::effects::{Effects, Finder, written};
use crate::names::{self, Modified, mentions};
use crate::strategy::Strategy;
use crate::summary::{Helper, Summary};
use crate::updates::Updates;

/// All that strategies know about a loop.
pub(crate) struct Site<'p> {
    pub(crate) program: &'p Program,
    pub(crate) loop_site: &'p LoopSite,
    pub(crate) targets: &'p BTreeSet<NodeId>,
    pub(crate) effects: Effects,
    pub(crate) modified: Result<Modified, String>,
    pub(crate) updates: Updates,
    /// What somebody knows to hold at its head, as an expression of C.
    pub(crate) invariant: Option<&'p str>,
    /// Whether it contains other loops.
    pub(crate) nested: bool,
}

impl Site<'_> {
    /// Fails if no other code can stand in place of the loop.
    pub(crate) fn replaceable(&self) -> Result<(), String> {
        self.copyable()?;
        if let Some(construct) = &self.effects.unsupported {
            return Err(format!("the loop contains what is not supported: {construct}"));
        }
        self.modified.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    /// Fails if a copy of the loop cannot stand beside it.
    pub(crate) fn copyable(&self) -> Result<(), String> {
        let syntax = self.loop_site.syntax;
        if self.loop_site.head.is_none() {
            return Err("control flow does not reach the loop".to_owned());
        }
        if syntax.labels {
            return Err("the loop contains labels, somebody may jump into it".to_owned());
        }
        if syntax.header_statements {
            return Err("there are statements within its condition".to_owned());
        }
        Ok(())
    }

    /// Fails if the text of the body means something else elsewhere.
    pub(crate) fn body_can_be_moved(&self) -> Result<(), String> {
        if self.loop_site.syntax.statics {
            return Err("the loop declares objects with static storage".to_owned());
        }
        Ok(())
    }

    /// Fails if the evaluation of the condition changes something.
    pub(crate) fn pure_header(&self) -> Result<(), String> {
        let Some(cond) = self.loop_site.cond else { return Ok(()) };
        let within = |id: &EdgeId| {
            let span = self.program.edge(*id).span;
            cond.start <= span.start && span.end <= cond.end
        };
        let changes = |id: EdgeId| {
            matches!(self.program.edge(id).op, Op::Call { .. } | Op::Store { .. } | Op::Zero { .. } | Op::Alloc { .. })
                || written(self.program, id).is_some()
        };
        if self.loop_site.edges.iter().copied().filter(within).any(changes) {
            return Err("the evaluation of its condition has effects".to_owned());
        }
        Ok(())
    }

    /// Whether the property is violated at a location.
    pub(crate) fn is_target(&self, node: NodeId) -> bool {
        self.targets.contains(&node)
    }

    /// Whether a name at the loop means the variable, or something that it is a part of.
    pub(crate) fn is_visible(&self, var: VarId) -> bool {
        let within = |storage: &VisibleStorage| matches!(storage, VisibleStorage::Vars(vars) if vars.contains(&var));
        names::visible(self.program, self.loop_site, within).is_some()
    }

    /// A name that the file does not use.
    pub(crate) fn fresh(&self, name: &str) -> String {
        let text = &self.program.sources[self.loop_site.span.file as usize].text;
        if !mentions(text, name) {
            return name.to_owned();
        }
        let mut numbered = (2..).map(|number| format!("{name}_{number}"));
        numbered.find(|name| !mentions(text, name)).expect("some number is free")
    }
}

/// The loops of a program and what strategies make of them.
#[derive(Clone, Debug)]
pub struct Loops {
    /// For each site of the program: the summary of each strategy, or why it does not apply.
    summaries: Vec<BTreeMap<Strategy, Result<Summary, String>>>,
    effects: Vec<Effects>,
    declares: Vec<BTreeSet<Helper>>,
    /// Whether somebody supplied invariants.
    invariants: bool,
}

impl Loops {
    /// Applies all strategies to all loops. The program must have been read with [`cfa::Options::loop_sites`].
    pub fn new(program: &Program, targets: &BTreeSet<NodeId>) -> Self {
        Self::with_invariants(program, targets, &BTreeMap::new())
    }

    /// The same with invariants of loops, by their position in [`cfa::LoopSites::sites`]: expressions of C without effects,
    /// in terms of the names at their heads, that are not 0 whenever an execution of the program is at the head.
    pub fn with_invariants(
        program: &Program,
        targets: &BTreeSet<NodeId>,
        invariants: &BTreeMap<usize, String>,
    ) -> Self {
        let mut finder = Finder::new(program, targets);
        let mut loops = Self {
            summaries: Vec::new(),
            effects: Vec::new(),
            declares: Vec::new(),
            invariants: !invariants.is_empty(),
        };
        for (at, loop_site) in program.loop_sites.sites.iter().enumerate() {
            let effects = finder.of(loop_site);
            let modified = names::modified(program, loop_site, &effects, &mut finder);
            let updates = Updates::of(program, loop_site, &effects);
            let nested = program.loop_sites.sites.iter().any(|other| other.parent == Some(at));
            let invariant = invariants.get(&at).map(String::as_str);
            let site = Site { program, loop_site, targets, effects, modified, updates, invariant, nested };
            let mut found = BTreeMap::new();
            let mut declares = BTreeSet::new();
            for strategy in Strategy::ALL {
                let mut result = strategy.apply(&site);
                if let Ok(summary) = &result {
                    let needed = summary
                        .helpers
                        .iter()
                        .map(|helper| Ok((*helper, names::must_declare(program, loop_site, *helper)?)));
                    match needed.collect::<Result<Vec<_>, String>>() {
                        Ok(needed) => {
                            declares.extend(needed.iter().filter(|(_, must)| *must).map(|(helper, _)| *helper))
                        }
                        Err(reason) => result = Err(reason),
                    }
                }
                found.insert(strategy, result);
            }
            loops.summaries.push(found);
            loops.effects.push(site.effects);
            loops.declares.push(declares);
        }
        loops
    }

    /// The summary of a strategy for a loop, or why the strategy does not apply.
    pub fn summary(&self, site: usize, strategy: Strategy) -> Result<&Summary, &str> {
        match &self.summaries[site][&strategy] {
            Ok(summary) => Ok(summary),
            Err(reason) => Err(reason),
        }
    }

    /// What a loop does.
    pub fn effects(&self, site: usize) -> &Effects {
        &self.effects[site]
    }

    /// The strategies that apply to a loop.
    pub fn applicable(&self, site: usize) -> Vec<Strategy> {
        Strategy::ALL.into_iter().filter(|strategy| self.summary(site, *strategy).is_ok()).collect()
    }

    /// Whether a helper that a summary calls must be declared.
    pub(crate) fn declares(&self, site: usize, helper: Helper) -> bool {
        self.declares[site].contains(&helper)
    }

    /// What the user gets to know about each loop. Invariants are mentioned only if there are any.
    pub fn reports(&self, program: &Program) -> Vec<Report> {
        let report = |(site, loop_site): (usize, &LoopSite)| {
            let place = program.location(loop_site.span);
            let mut applicable = Vec::new();
            let mut refused = Vec::new();
            let listed = |strategy: &Strategy| match strategy {
                Strategy::Base => false,
                Strategy::Invariant => self.invariants,
                Strategy::Phases | Strategy::Output | Strategy::Constant | Strategy::Naive | Strategy::Havoc => true,
            };
            for strategy in Strategy::ALL.into_iter().rev().filter(listed) {
                match self.summary(site, strategy) {
                    Ok(summary) => applicable.push((strategy, summary.fidelity)),
                    Err(reason) => refused.push((strategy, reason.to_owned())),
                }
            }
            Report { site, place, kind: loop_site.kind, applicable, refused }
        };
        program.loop_sites.sites.iter().enumerate().map(report).collect()
    }
}

/// What is known about one loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Its position in [`cfa::LoopSites::sites`].
    pub site: usize,
    /// Where it stands.
    pub place: cfa::Location,
    /// Which statement it is.
    pub kind: SiteKind,
    /// The strategies that apply, the most abstract one first.
    pub applicable: Vec<(Strategy, crate::summary::Fidelity)>,
    /// The others and why they do not apply.
    pub refused: Vec<(Strategy, String)>,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letters: Vec<String> = self.applicable.iter().map(|(strategy, _)| strategy.to_string()).collect();
        let letters = if letters.is_empty() { "none".to_owned() } else { letters.join(" ") };
        write!(f, "loop {}:{} strategies: {letters}", self.place.file, self.place.line)?;
        if !self.refused.is_empty() {
            let mut grouped: Vec<(&str, Vec<String>)> = Vec::new();
            for (strategy, reason) in &self.refused {
                match grouped.iter_mut().find(|(known, _)| known == reason) {
                    Some((_, strategies)) => strategies.push(strategy.to_string()),
                    None => grouped.push((reason, vec![strategy.to_string()])),
                }
            }
            let reasons: Vec<String> =
                grouped.iter().map(|(reason, strategies)| format!("{} ({reason})", strategies.join(" "))).collect();
            write!(f, "; not applicable: {}", reasons.join(", "))?;
        }
        Ok(())
    }
}
