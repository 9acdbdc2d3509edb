// SPDX-License-Identifier: Apache-2.0
//! The strategy-augmented automaton (section 3.2): the program in which each loop has its strategies beside it.
//!
//! In the text, `if (ask_h()) { .. } else if (ask_n()) { .. } else { the loop }` with functions that answer anything; in
//! the automaton, a branch in front of each strategy that only the strategy analysis decides. Loops within a body that a
//! strategy keeps are augmented as well, so all combinations of strategies of nested loops are there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cfa::{EdgeId, ExprKind, HavocOrigin, LoadError, Op, Options, Program, Source};
use thiserror::Error;

use crate::context::Loops;
use crate::render::{Plan, Printer, question};
use crate::strategy::Strategy;
use crate::summary::Fidelity;

/// Texts do not grow beyond this many times their length, and 64 kB.
const GROWTH: usize = 20;

/// Why there is no augmented automaton.
#[derive(Debug, Error)]
pub enum AugmentError {
    /// The augmented text cannot be read.
    #[error("the program with loop abstractions cannot be read: {0}")]
    Load(#[from] LoadError),
    /// A branch is missing in the automaton.
    #[error("the choice '{0}' is missing in the automaton")]
    Missing(String),
}

/// Position of a choice in [`Augmented::choices`].
pub type ChoiceId = usize;

/// A place where one of several strategies is chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The loop, by its position in [`cfa::LoopSites::sites`] of the original program.
    pub site: usize,
    /// The strategies in the order in which they are asked for; the last one is the base strategy.
    pub strategies: Vec<Strategy>,
}

/// An edge behind a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Branch {
    pub(crate) choice: ChoiceId,
    /// The position of the strategy among those of the choice.
    pub(crate) at: usize,
    /// Whether the edge enters the strategy, or leads on to the next question.
    pub(crate) enters: bool,
}

/// A strategy-augmented automaton.
#[derive(Clone, Debug)]
pub struct Augmented {
    /// The program that is explored.
    pub program: Arc<Program>,
    /// The choices.
    pub choices: Vec<Choice>,
    pub(crate) branches: BTreeMap<EdgeId, Branch>,
    exact: BTreeSet<(usize, Strategy)>,
    /// The edges where questions are answered: inputs that the original program does not have.
    pub(crate) questions: BTreeMap<EdgeId, (ChoiceId, usize)>,
}

impl Augmented {
    /// The augmented automaton of a program with those of the given strategies that apply.
    pub fn new(program: &Program, loops: &Loops, strategies: &BTreeSet<Strategy>) -> Result<Self, AugmentError> {
        let plan = |site: usize| {
            let mut offered: Vec<Strategy> = loops.applicable(site);
            offered.retain(|strategy| *strategy == Strategy::Base || strategies.contains(strategy));
            offered.sort_unstable_by(|a, b| b.cmp(a));
            Plan::Choice(offered)
        };
        let mut sources = Vec::new();
        let mut choices = Vec::new();
        for (file, source) in program.sources[..program.user_sources].iter().enumerate() {
            let limit = (source.text.len() * GROWTH).max(1 << 16);
            let printer = Printer::new(program, loops, u32::try_from(file).expect("few files"), plan);
            let (rendered, more) = printer.numbered_from(choices).with_limit(limit).print();
            choices = more;
            sources.push(Source { name: format!("{} (with loop abstractions)", source.name), text: rendered.text });
        }
        let options = Options { loop_sites: false, ..program.options.clone() };
        let augmented = cfa::load(&sources, &options)?;
        let mut exact = BTreeSet::new();
        for site in 0..program.loop_sites.sites.len() {
            for strategy in loops.applicable(site) {
                if loops.summary(site, strategy).is_ok_and(|summary| summary.fidelity == Fidelity::Exact) {
                    exact.insert((site, strategy));
                }
            }
        }
        let choices = choices.into_iter().map(|(site, strategies)| Choice { site, strategies }).collect();
        let mut result = Self {
            program: Arc::new(augmented),
            choices,
            branches: BTreeMap::new(),
            exact,
            questions: BTreeMap::new(),
        };
        result.find_branches()?;
        Ok(result)
    }

    /// The program in which each choice is made; the strategy must be one of those of the choice.
    pub fn restricted(&self, choose: impl Fn(&Choice) -> Strategy) -> Program {
        let mut program = (*self.program).clone();
        for (edge, branch) in self.branches.iter().filter(|(_, branch)| branch.enters) {
            let choice = &self.choices[branch.choice];
            let answer = choose(choice) == choice.strategies[branch.at];
            // The question stands in front of the branch.
            let [question] = program.node(program.edge(*edge).src).entering[..] else { continue };
            let Op::Havoc { var, .. } = program.edge(question).op else { continue };
            let ty = program.var(var).ty;
            let value = program.exprs.constant(ty, i128::from(answer));
            program.edges[question.index()].op = Op::Assign { var, value };
        }
        program
    }

    /// Finds the two edges behind each question.
    fn find_branches(&mut self) -> Result<(), AugmentError> {
        let names: BTreeMap<String, (ChoiceId, usize)> = self
            .choices
            .iter()
            .enumerate()
            .flat_map(|(choice, of)| {
                let asked = of.strategies[..of.strategies.len() - 1].iter().enumerate();
                asked.map(move |(at, strategy)| (question(choice, *strategy), (choice, at)))
            })
            .collect();
        let program = Arc::clone(&self.program);
        for id in program.edge_ids() {
            let Op::Havoc { var, origin: HavocOrigin::Nondet { function } } = &program.edge(id).op else { continue };
            let Some((choice, at)) = names.get(&**function) else { continue };
            self.questions.insert(id, (*choice, *at));
            let missing = || AugmentError::Missing(function.to_string());
            let [yes, no] = program.node(program.edge(id).dst).leaving[..] else { return Err(missing()) };
            for (edge, enters) in [(yes, true), (no, false)] {
                let Op::Assume { cond, truth } = program.edge(edge).op else { return Err(missing()) };
                if program.exprs.get(cond).kind != ExprKind::Var(*var) || truth != enters {
                    return Err(missing());
                }
                self.branches.insert(edge, Branch { choice: *choice, at: *at, enters });
            }
        }
        Ok(())
    }

    /// Whether an edge only answers a question about strategies.
    pub fn is_question(&self, edge: EdgeId) -> bool {
        self.questions.contains_key(&edge)
    }

    /// Whether a strategy does exactly what the loop of a choice does.
    pub fn is_exact(&self, choice: ChoiceId, strategy: Strategy) -> bool {
        self.exact.contains(&(self.choices[choice].site, strategy))
    }

    /// The strategy that an edge enters, if it enters one other than the base strategy.
    pub fn entered(&self, edge: EdgeId) -> Option<(ChoiceId, Strategy)> {
        let branch = self.branches.get(&edge).filter(|branch| branch.enters)?;
        Some((branch.choice, self.choices[branch.choice].strategies[branch.at]))
    }
}
