// SPDX-License-Identifier: Apache-2.0
//! Prints a file with summaries in place of loops; everything outside of replaced loops keeps its text.
//!
//! Loops within a body that a summary keeps are replaced as well, from the inside out.

use std::collections::BTreeSet;
use std::ops::Range;

use cfa::{Program, SiteKind, Span};

use crate::context::Loops;
use crate::patch::Edit;
use crate::strategy::Strategy;
use crate::summary::{Helper, Piece, Summary};

/// What is printed for a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Plan {
    /// One strategy.
    One(Strategy),
    /// All of these, the last one being the base strategy, with a choice between them.
    Choice(Vec<Strategy>),
}

/// Text that stands for a loop in a printed file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replacement {
    /// The loop.
    pub site: usize,
    /// The strategy.
    pub strategy: Strategy,
    /// Where it stands in the printed file, in bytes.
    pub range: Range<usize>,
}

/// A printed file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// Where summaries stand in it, also within each other.
    pub replacements: Vec<Replacement>,
    /// How it differs from the original.
    pub edits: Vec<Edit>,
}

/// The function that a choice asks.
pub(crate) fn question(choice: usize, strategy: Strategy) -> String {
    format!("__VERIFIER_nondet_la_{choice}_{strategy}")
}

pub(crate) struct Printer<'a, F> {
    program: &'a Program,
    loops: &'a Loops,
    file: u32,
    plan: F,
    out: String,
    replacements: Vec<Replacement>,
    declarations: BTreeSet<Helper>,
    /// For each choice that was printed: the loop and its strategies.
    pub(crate) choices: Vec<(usize, Vec<Strategy>)>,
    edits: Vec<Edit>,
    depth: usize,
    limit: usize,
}

impl<'a, F: Fn(usize) -> Plan> Printer<'a, F> {
    pub(crate) fn new(program: &'a Program, loops: &'a Loops, file: u32, plan: F) -> Self {
        Self {
            program,
            loops,
            file,
            plan,
            out: String::new(),
            replacements: Vec::new(),
            declarations: BTreeSet::new(),
            choices: Vec::new(),
            edits: Vec::new(),
            depth: 0,
            limit: usize::MAX,
        }
    }

    /// Stops offering choices when the text has become longer than this.
    pub(crate) fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Numbers choices from here on.
    pub(crate) fn numbered_from(mut self, choices: Vec<(usize, Vec<Strategy>)>) -> Self {
        self.choices = choices;
        self
    }

    /// Prints the file; also gives the choices back.
    pub(crate) fn print(mut self) -> (Rendered, Vec<(usize, Vec<Strategy>)>) {
        let first = self.choices.len();
        let text = &self.program.sources[self.file as usize].text;
        let whole = Span { file: self.file, start: 0, end: u32::try_from(text.len()).expect("sources are short") };
        self.copy(whole, None);
        let mut head: String = self.declarations.iter().map(|helper| helper.declaration() + "\n").collect();
        for (at, (_, strategies)) in self.choices.iter().enumerate().skip(first) {
            for strategy in &strategies[..strategies.len() - 1] {
                head.push_str(&format!("extern int {}(void);\n", question(at, *strategy)));
            }
        }
        for replacement in &mut self.replacements {
            replacement.range.start += head.len();
            replacement.range.end += head.len();
        }
        if !head.is_empty() {
            self.edits.insert(0, Edit { range: 0..0, text: head.clone() });
        }
        let rendered = Rendered { text: head + &self.out, replacements: self.replacements, edits: self.edits };
        (rendered, self.choices)
    }

    /// Copies a part of the file, in which the loops directly within `parent` are printed as planned.
    fn copy(&mut self, span: Span, parent: Option<usize>) {
        let sites = &self.program.loop_sites.sites;
        let inside = |at: &usize| {
            let site = &sites[*at];
            site.span.file == span.file
                && site.parent == parent
                && span.start <= site.span.start
                && site.span.end <= span.end
        };
        let mut children: Vec<usize> = (0..sites.len()).filter(inside).collect();
        children.sort_by_key(|at| sites[*at].span.start);
        let mut done = span.start;
        for child in children {
            let of_child = sites[child].span;
            if of_child.start < done {
                continue;
            }
            self.source(done, of_child.start);
            self.site(child);
            done = of_child.end;
        }
        self.source(done, span.end);
    }

    fn source(&mut self, start: u32, end: u32) {
        let text = self.program.text(Span { file: self.file, start, end });
        self.out.push_str(text);
    }

    fn site(&mut self, site: usize) {
        let span = self.program.loop_sites.sites[site].span;
        let outermost = self.depth == 0;
        let start = self.out.len();
        let mut replaced = true;
        match (self.plan)(site) {
            Plan::One(Strategy::Base) => {
                replaced = false;
                self.copy(span, Some(site));
            }
            Plan::One(strategy) => {
                self.depth += 1;
                self.summary(site, strategy);
                self.depth -= 1;
            }
            Plan::Choice(strategies) if strategies.len() < 2 || self.out.len() > self.limit => {
                replaced = false;
                self.copy(span, Some(site));
            }
            Plan::Choice(strategies) => {
                self.depth += 1;
                let number = self.choices.len();
                self.choices.push((site, strategies.clone()));
                for strategy in strategies {
                    if strategy == Strategy::Base {
                        self.out.push_str("{\n");
                        self.copy(span, Some(site));
                        self.out.push_str("\n}");
                    } else {
                        self.out.push_str(&format!("if ({}()) {{\n", question(number, strategy)));
                        self.summary(site, strategy);
                        self.out.push_str("\n} else ");
                    }
                }
                self.depth -= 1;
            }
        }
        if outermost && replaced {
            let text = self.out[start..].to_owned();
            self.edits.push(Edit { range: span.start as usize..span.end as usize, text });
        } else if outermost {
            // Loops within are edits of their own, made when they were printed.
        }
    }

    /// The summary of a strategy that applies.
    fn summary(&mut self, site: usize, strategy: Strategy) {
        let summary: Summary = match self.loops.summary(site, strategy) {
            Ok(summary) => summary.clone(),
            Err(reason) => unreachable!("{strategy} was planned though it does not apply: {reason}"),
        };
        let loops = self.loops;
        self.declarations.extend(summary.helpers.iter().filter(|helper| loops.declares(site, **helper)));
        let start = self.out.len();
        let of_site = &self.program.loop_sites.sites[site];
        let indentation = self.indentation(of_site.span.start);
        for piece in &summary.pieces {
            match piece {
                Piece::Text(text) => self.out.push_str(&text.replace('\n', &format!("\n{indentation}"))),
                Piece::Init => {
                    if let Some(init) = of_site.init {
                        let text = self.program.text(init).trim_end();
                        self.out.push_str(text);
                        if !text.ends_with(';') {
                            self.out.push(';');
                        }
                    }
                }
                Piece::Cond => match of_site.cond {
                    Some(cond) => self.source(cond.start, cond.end),
                    None => self.out.push('1'),
                },
                Piece::Step => {
                    if let Some(step) = of_site.step {
                        self.source(step.start, step.end);
                    }
                }
                Piece::Body => self.copy(of_site.body, Some(site)),
            }
        }
        debug_assert!(of_site.kind == SiteKind::For || of_site.init.is_none());
        self.replacements.push(Replacement { site, strategy, range: start..self.out.len() });
    }

    /// The white space at the beginning of the line.
    fn indentation(&self, at: u32) -> String {
        let text = &self.program.sources[self.file as usize].text[..at as usize];
        let line = &text[text.rfind('\n').map_or(0, |end| end + 1)..];
        line.chars().take_while(|c| *c == ' ' || *c == '\t').collect()
    }
}

impl Loops {
    /// Prints a file with one strategy for each loop.
    pub fn render(&self, program: &Program, file: u32, strategy: impl Fn(usize) -> Strategy) -> Rendered {
        Printer::new(program, self, file, |site| Plan::One(strategy(site))).print().0
    }
}
