// SPDX-License-Identifier: Apache-2.0
//! What has to be known about the whole program before it is lowered: which variables must lie in memory because their
//! addresses are taken, which functions call themselves, and which code may run more than once.
//!
//! Everything goes by names, so a name that means several things counts as all of them: there may be too many addresses,
//! calls and repetitions, never too few.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Ast, Declarator, Expr, ExprRef, Item, LabelName, Range, Stmt, Unary};
use crate::library::plain_name;
use crate::scc::on_cycles;

use super::scan;

#[derive(Default)]
pub(super) struct Survey<'a> {
    /// The names whose addresses are taken: by file and start of the function body's item, and anywhere.
    taken: FxHashMap<(usize, u32), FxHashSet<&'a str>>,
    taken_anywhere: FxHashSet<&'a str>,
    /// The names that stand somewhere other than in front of an argument list.
    valued: FxHashSet<&'a str>,
    functions: FxHashMap<&'a str, Facts>,
    /// Disjoint ascending ranges of each file that control flow may pass again.
    cycles: Vec<Vec<Range>>,
}

#[derive(Clone, Copy, Default)]
struct Facts {
    recursive: bool,
    /// Whether its body may be entered more than once.
    repeats: bool,
}

/// The calls in a function.
#[derive(Default)]
struct Calls<'a> {
    callees: Vec<(&'a str, bool)>,
    indirect: bool,
}

impl<'a> Survey<'a> {
    pub(super) fn new(asts: &'a [Ast<'a>], entry: &str) -> Self {
        let mut survey = Survey::default();
        let mut calls: FxHashMap<&'a str, Calls<'a>> = FxHashMap::default();
        let mut order = Vec::new();
        for ast in asts {
            for item in &ast.items {
                if let Item::Function { declarator, .. } = item
                    && let Some((name, _)) = declarator.name()
                    && calls.insert(name, Calls::default()).is_none()
                {
                    order.push(name);
                }
            }
        }
        for (file, ast) in asts.iter().enumerate() {
            let functions = functions_of(ast);
            survey.cycles.push(cycles_of(ast, &functions));
            survey.scan(file, ast, &functions, &mut calls);
        }
        survey.judge(&order, &calls, entry);
        survey
    }

    fn scan(
        &mut self,
        file: usize,
        ast: &'a Ast<'a>,
        functions: &[(Range, &'a str)],
        calls: &mut FxHashMap<&'a str, Calls<'a>>,
    ) {
        let mut called = vec![false; ast.exprs.len()];
        // What stands for a place, but takes no address.
        let mut places = vec![false; ast.exprs.len()];
        for (expr, range) in &ast.exprs {
            let Expr::Call(callee, args) = expr else { continue };
            let caller = function_at(functions, range.0).map(|(_, name)| name);
            let direct = match ast.expr(*callee) {
                Expr::Ident(name) => {
                    called[callee.0 as usize] = true;
                    Some(*name)
                }
                _ => None,
            };
            // The compiler's `__builtin_memcpy` is the library's `memcpy`.
            let known =
                direct.into_iter().flat_map(|name| [name, plain_name(name)]).find(|name| calls.contains_key(name));
            if let (Some(name), None) = (direct, known) {
                for place in scan::places_read(ast, name, args) {
                    places[place.0 as usize] = true;
                }
            }
            let again = within(&self.cycles[file], range.0);
            if let Some(caller) = caller.and_then(|caller| calls.get_mut(caller)) {
                match known {
                    Some(name) => caller.callees.push((name, again)),
                    // A function without a body may call back, too; a variable of that name is a pointer.
                    None => caller.indirect = true,
                }
            }
        }
        for (at, (expr, range)) in ast.exprs.iter().enumerate() {
            match expr {
                Expr::Ident(name) if !called[at] => {
                    self.valued.insert(name);
                }
                Expr::Unary(Unary::AddrOf, arg) if !places[at] => {
                    let start = function_at(functions, range.0).map(|(range, _)| range.0);
                    for name in roots(ast, *arg) {
                        self.taken_anywhere.insert(name);
                        if let Some(start) = start {
                            self.taken.entry((file, start)).or_default().insert(name);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Finds recursion and repetition.
    fn judge(&mut self, order: &[&'a str], calls: &FxHashMap<&'a str, Calls<'a>>, entry: &str) {
        let number: FxHashMap<&str, usize> = order.iter().enumerate().map(|(at, name)| (*name, at)).collect();
        let indirect: Vec<usize> = (0..order.len()).filter(|at| self.valued.contains(order[*at])).collect();
        let mut callees: Vec<Vec<usize>> = Vec::new();
        // How often each function is called, and by whom.
        let mut callers: Vec<(usize, Option<usize>)> = vec![(0, None); order.len()];
        for (caller, name) in order.iter().enumerate() {
            let mut found = Vec::new();
            for (callee, again) in &calls[name].callees {
                let callee = number[callee];
                found.push(callee);
                callers[callee].0 += if *again { 2 } else { 1 };
                callers[callee].1 = Some(caller);
            }
            if calls[name].indirect {
                found.extend(&indirect);
            }
            found.sort_unstable();
            found.dedup();
            callees.push(found);
        }
        let recursive = on_cycles(&callees);
        for (at, name) in order.iter().enumerate() {
            let mut repeats = false;
            let mut function = at;
            while order[function] != entry || callers[function].0 > 0 {
                match callers[function] {
                    (1, Some(caller)) if !recursive[function] && !self.valued.contains(order[function]) => {
                        function = caller;
                    }
                    _ => {
                        repeats = true;
                        break;
                    }
                }
            }
            repeats |= recursive[at] || self.valued.contains(name);
            self.functions.insert(name, Facts { recursive: recursive[at], repeats });
        }
    }

    /// Whether the address of a variable of this name is taken in the function whose definition starts there, or anywhere
    /// if it is visible there.
    pub(super) fn is_taken(&self, name: &str, function: Option<(usize, u32)>) -> bool {
        match function {
            Some(at) => self.taken.get(&at).is_some_and(|names| names.contains(name)),
            None => self.taken_anywhere.contains(name),
        }
    }

    /// Whether a function of this name may be the value of a pointer.
    pub(super) fn is_valued(&self, name: &str) -> bool {
        self.valued.contains(name)
    }

    /// Whether a function may be active more than once at a time.
    pub(super) fn is_recursive(&self, function: &str) -> bool {
        self.functions.get(function).is_none_or(|facts| facts.recursive)
    }

    /// Whether the code at a position of a function may run more than once.
    pub(super) fn repeats(&self, function: &str, file: usize, at: u32) -> bool {
        self.functions.get(function).is_none_or(|facts| facts.repeats) || within(&self.cycles[file], at)
    }
}

/// The function definitions of a file, in its order.
fn functions_of<'a>(ast: &'a Ast<'a>) -> Vec<(Range, &'a str)> {
    let mut found = Vec::new();
    for item in &ast.items {
        if let Item::Function { declarator, range, .. } = item
            && let Some((name, _)) = Declarator::name(declarator)
        {
            found.push((*range, name));
        }
    }
    found.sort_unstable();
    found
}

fn function_at<'a>(functions: &[(Range, &'a str)], at: u32) -> Option<(Range, &'a str)> {
    let position = functions.partition_point(|(range, _)| range.0 <= at);
    position.checked_sub(1).map(|position| functions[position]).filter(|(range, _)| at < range.1)
}

/// The names of the variables that an address may point into. An element needs none: arrays, and structures with arrays, are
/// in memory anyway, and the pointer in `&p[i]` is only read.
fn roots<'a>(ast: &Ast<'a>, arg: ExprRef) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut todo = vec![arg];
    while let Some(at) = todo.pop() {
        match ast.expr(at) {
            Expr::Ident(name) => found.push(*name),
            Expr::Member { object, arrow: false, .. } => todo.push(*object),
            Expr::Comma(parts) => todo.extend(parts.last()),
            Expr::Cond(_, yes, no) => todo.extend(yes.iter().chain([no])),
            Expr::Cast(_, inner) | Expr::Assign(_, inner, _) => todo.push(*inner),
            _ => {}
        }
    }
    found
}

/// The ranges that control flow may pass again: loops, and from a label to a goto behind it.
fn cycles_of<'a>(ast: &'a Ast<'a>, functions: &[(Range, &'a str)]) -> Vec<Range> {
    let mut found = Vec::new();
    let mut labels: FxHashMap<(u32, LabelName<'_>), u32> = FxHashMap::default();
    let start = |at: u32| function_at(functions, at).map_or(0, |(range, _)| range.0);
    for (stmt, range) in &ast.stmts {
        match stmt {
            Stmt::While(..) | Stmt::DoWhile(..) | Stmt::For { .. } => found.push(*range),
            Stmt::Labeled(name, _) => {
                labels.insert((start(range.0), *name), range.0);
            }
            _ => {}
        }
    }
    for (stmt, range) in &ast.stmts {
        let function = start(range.0);
        let label = match stmt {
            Stmt::Goto(name) => labels.get(&(function, *name)).copied(),
            // It may lead to each label of the function.
            Stmt::GotoValue(_) => labels.iter().filter(|((of, _), _)| *of == function).map(|(_, at)| *at).min(),
            _ => None,
        };
        if let Some(label) = label.filter(|label| *label <= range.0) {
            found.push((label, range.1));
        }
    }
    found.sort_unstable();
    let mut merged: Vec<Range> = Vec::new();
    for range in found {
        match merged.last_mut() {
            Some(last) if range.0 < last.1 => last.1 = last.1.max(range.1),
            _ => merged.push(range),
        }
    }
    merged
}

fn within(ranges: &[Range], at: u32) -> bool {
    let position = ranges.partition_point(|range| range.0 <= at);
    position > 0 && at < ranges[position - 1].1
}
