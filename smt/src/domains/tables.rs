// SPDX-License-Identifier: Apache-2.0
//! Constraints between finite domains, and what they exclude.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::algebra::Bounds;
use crate::term::semantics::{from_signed, to_signed};
use crate::term::{Evaluator, Sort, SymId, Term, TermId, Terms, Value};

/// The most values of an instance: a domain is the bits of a number.
pub(super) const VALUES: usize = 128;
/// The most evaluations for one table, and for all tables.
const CELLS: usize = 1 << 20;
const ALL_CELLS: usize = 1 << 22;
/// The most constraints, and how many of them may have no table.
const CONSTRAINTS: usize = 20_000;
const WIDE: usize = 64;
/// The most terms of a constraint, and of all of them.
const TERMS: usize = 1000;
const ALL_TERMS: usize = 1 << 20;
/// How many evaluations there are between looks at the clock.
const LOOK: usize = 1024;

/// The values that are left of an instance, as bits.
pub(super) type Domain = u128;

/// An instance of a symbol.
pub(super) struct Variable {
    pub(super) sym: SymId,
    pub(super) index: u32,
    /// The values in ascending order; their positions are the bits of domains.
    pub(super) values: Rc<[Value]>,
}

/// What values of two or three variables go together.
pub(super) enum Table {
    /// For each value of one the values of the other, both ways, and how many values of the other the worst value of one excludes.
    Two { rows: [Vec<Domain>; 2], excluded: [u32; 2] },
    /// For each two values of two variables those of the third; the place says which one it is.
    Three { cells: [Vec<Domain>; 3], sizes: [usize; 3] },
}

/// A constraint.
pub(super) struct Constraint {
    pub(super) vars: Vec<usize>,
    pub(super) kind: Kind,
}

/// How a constraint is looked at.
pub(super) enum Kind {
    /// By a table.
    Table(Rc<Table>),
    /// By evaluation, when all but one of its variables have a value.
    Wide(RefCell<Evaluator>),
}

/// Variables and constraints.
pub(super) struct Problem {
    pub(super) vars: Vec<Variable>,
    pub(super) domains: Vec<Domain>,
    pub(super) constraints: Vec<Constraint>,
}

impl Problem {
    /// The conjuncts of a formula as constraints; none if they are not of the kind that tables are good for.
    pub(super) fn new(terms: &mut Terms, formula: TermId, over: &dyn Fn() -> bool) -> Option<Problem> {
        let mut symbols: Vec<Vec<(SymId, u32)>> = Vec::new();
        let mut unary: BTreeMap<(SymId, u32), Vec<TermId>> = BTreeMap::new();
        let mut several = Vec::new();
        let conjuncts = terms.conjuncts(formula);
        if conjuncts.len() > CONSTRAINTS {
            return None;
        }
        let mut left = ALL_TERMS;
        for conjunct in conjuncts {
            let mut size = 0;
            let order = terms.post_order(&[conjunct], |_| {
                size += 1;
                size > TERMS
            });
            if size > TERMS {
                return None;
            }
            left = usize::checked_sub(left, size)?;
            let found: BTreeSet<(SymId, u32)> = order.into_iter().filter_map(|t| terms.as_var(t)).collect();
            let found = Vec::from_iter(found);
            for &instance in &found {
                unary.entry(instance).or_default();
            }
            match found[..] {
                [] => {}
                [instance] => unary.entry(instance).or_default().push(conjunct),
                _ => {
                    several.push(conjunct);
                    symbols.push(found);
                }
            }
        }
        let mut numbers: FxHashMap<(SymId, u32), usize> = FxHashMap::default();
        let mut vars = Vec::new();
        let mut kinds: FxHashMap<Vec<Value>, Rc<[Value]>> = FxHashMap::default();
        for ((sym, index), conditions) in unary {
            let values = values(terms, sym, index, &conditions)?;
            let values = kinds.entry(values).or_insert_with_key(|values| values.as_slice().into()).clone();
            numbers.insert((sym, index), vars.len());
            vars.push(Variable { sym, index, values });
        }
        let mut problem =
            Problem { domains: vars.iter().map(|var| all(var.values.len())).collect(), vars, constraints: Vec::new() };
        let mut tables: FxHashMap<(TermId, Vec<*const Value>), Rc<Table>> = FxHashMap::default();
        let (mut budget, mut wide) = (ALL_CELLS, 0);
        for (conjunct, instances) in several.into_iter().zip(symbols) {
            let vars: Vec<usize> = instances.iter().map(|instance| numbers[instance]).collect();
            let sizes: Vec<usize> = vars.iter().map(|&var| problem.vars[var].values.len()).collect();
            // Of three variables there are at most as many cells as 128 to the power of three.
            let cells = if vars.len() > 3 { usize::MAX } else { sizes.iter().product() };
            if cells > CELLS {
                wide += 1;
                if wide > WIDE {
                    return None;
                }
                let evaluator = RefCell::new(Evaluator::new(terms, &[conjunct]));
                problem.constraints.push(Constraint { vars, kind: Kind::Wide(evaluator) });
                continue;
            }
            let places = places(terms, &instances);
            let shape = terms.substitute(conjunct, &mut |_, sym, index| {
                instances.iter().position(|instance| *instance == (sym, index)).map(|at| places[at])
            });
            let domains: Vec<Rc<[Value]>> = vars.iter().map(|&var| Rc::clone(&problem.vars[var].values)).collect();
            let key = (shape, domains.iter().map(|values| values.as_ptr()).collect());
            let table = match tables.get(&key) {
                Some(table) => Rc::clone(table),
                None => {
                    budget = budget.checked_sub(cells)?;
                    let table = Rc::new(Table::new(terms, shape, &places, &domains, over)?);
                    tables.insert(key, Rc::clone(&table));
                    table
                }
            };
            problem.constraints.push(Constraint { vars, kind: Kind::Table(table) });
        }
        // Without tables values are tried blindly, for which there are others.
        (problem.constraints.len() > 2 * wide).then_some(problem)
    }
}

/// All values of a domain.
fn all(size: usize) -> Domain {
    if size == VALUES { Domain::MAX } else { (1 << size) - 1 }
}

/// Variables that stand for the instances of a constraint, so that constraints of one shape have one table.
fn places(terms: &mut Terms, instances: &[(SymId, u32)]) -> Vec<TermId> {
    let sorts: Vec<Sort> = instances.iter().map(|(sym, _)| terms.symbol_sort(*sym)).collect();
    let mut places = Vec::new();
    for (at, sort) in sorts.into_iter().enumerate() {
        let symbol = terms.symbol(&format!("place {at} {sort:?}"), sort);
        places.push(terms.var(symbol, 0));
    }
    places
}

/// The values of an instance for which the conditions hold; none if there are too many.
fn values(terms: &Terms, sym: SymId, index: u32, conditions: &[TermId]) -> Option<Vec<Value>> {
    let candidates: Vec<Value> = match terms.symbol_sort(sym) {
        Sort::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Sort::Bv(width) if width <= 64 => {
            let (low, high) = range(terms, terms.find_var(sym, index)?, conditions);
            if high - low >= 2 * VALUES as i128 {
                return None;
            }
            (low..=high).map(|number| Value::Bv { width, bits: from_signed(width, number) }).collect()
        }
        Sort::Bv(_) | Sort::Int | Sort::Array { .. } => return None,
    };
    let mut holding = Vec::new();
    for value in candidates {
        if conditions.iter().all(|&c| terms.eval(c, &mut |_, _| value.clone()) == Value::Bool(true)) {
            holding.push(value);
        }
    }
    debug_assert!(conditions.iter().all(|&c| terms.symbols(c).into_iter().all(|found| found == (sym, index))));
    (holding.len() <= VALUES).then_some(holding)
}

/// Bounds of an instance as a signed number, from conditions that compare it with a constant.
fn range(terms: &Terms, instance: TermId, conditions: &[TermId]) -> (i128, i128) {
    let width = terms.width(instance);
    let bounds = Bounds::new(terms, conditions);
    let (mut low, mut high) = bounds.range(terms, instance, true);
    let unsigned = bounds.range(terms, instance, false);
    if unsigned.1 < 1 << (width - 1) {
        (low, high) = (low.max(unsigned.0), high.min(unsigned.1));
    }
    for &condition in conditions {
        if let Term::Eq(left, right) = *terms.get(condition)
            && left == instance
            && let Some(bits) = terms.as_bv(right)
        {
            let number = to_signed(width, bits);
            (low, high) = (low.max(number), high.min(number));
        }
    }
    (low, high)
}

impl Table {
    /// The table of a term over `places`; none if it is time to stop.
    fn new(
        terms: &Terms,
        term: TermId,
        places: &[TermId],
        domains: &[Rc<[Value]>],
        over: &dyn Fn() -> bool,
    ) -> Option<Table> {
        let symbols: Vec<SymId> = places.iter().filter_map(|place| Some(terms.as_var(*place)?.0)).collect();
        let mut evaluator = Evaluator::new(terms, &[term]);
        let mut done = 0;
        let mut holds = |at: &[usize]| {
            done += 1;
            if done % LOOK == 0 && over() {
                return None;
            }
            let mut value = |sym: SymId, _| match symbols.iter().position(|place| *place == sym) {
                Some(place) => domains[place][at[place]].clone(),
                None => terms.default_value(sym),
            };
            Some(evaluator.run(terms, &mut value)? == [Value::Bool(true)])
        };
        match *domains {
            [ref first, ref second] => {
                let mut rows = [vec![0; first.len()], vec![0; second.len()]];
                for a in 0..first.len() {
                    for b in 0..second.len() {
                        if holds(&[a, b])? {
                            rows[0][a] |= 1 << b;
                            rows[1][b] |= 1 << a;
                        }
                    }
                }
                let worst = |rows: &[Domain], size: usize| {
                    rows.iter().map(|row| size as u32 - row.count_ones()).max().unwrap_or(0)
                };
                let excluded = [worst(&rows[0], second.len()), worst(&rows[1], first.len())];
                Some(Table::Two { rows, excluded })
            }
            [ref first, ref second, ref third] => {
                let sizes = [first.len(), second.len(), third.len()];
                let mut cells = [0, 1, 2].map(|third| {
                    let (one, other) = others(third);
                    vec![0; sizes[one] * sizes[other]]
                });
                for a in 0..first.len() {
                    for b in 0..second.len() {
                        for c in 0..third.len() {
                            if holds(&[a, b, c])? {
                                cells[2][a * sizes[1] + b] |= 1 << c;
                                cells[1][a * sizes[2] + c] |= 1 << b;
                                cells[0][b * sizes[2] + c] |= 1 << a;
                            }
                        }
                    }
                }
                Some(Table::Three { cells, sizes })
            }
            _ => None,
        }
    }

    /// How many values the variable at a place may have for others to lose support.
    pub(super) fn threshold(&self, place: usize) -> u32 {
        match self {
            Table::Two { excluded, .. } => excluded[1 - place],
            Table::Three { .. } => u32::MAX,
        }
    }

    /// The values of the variables that have support by values of the others.
    pub(super) fn supported(&self, domains: &[Domain]) -> [Domain; 3] {
        match (self, domains) {
            (Table::Two { rows, excluded }, &[first, second]) => {
                let one = |rows: &[Domain], excluded: u32, own: Domain, other: Domain| {
                    if other.count_ones() > excluded {
                        return own;
                    }
                    ones(own).filter(|&value| rows[value] & other != 0).fold(0, |all, value| all | 1 << value)
                };
                let first = one(&rows[0], excluded[0], first, second);
                [first, one(&rows[1], excluded[1], second, first), 0]
            }
            (Table::Three { cells, sizes }, &[_, _, _]) => {
                // The variable with the most values is not gone through.
                let third = (0..3).max_by_key(|&place| domains[place].count_ones()).unwrap_or(2);
                let (one, other) = others(third);
                let mut kept = [0; 3];
                for a in ones(domains[one]) {
                    let row = &cells[third][a * sizes[other]..][..sizes[other]];
                    for b in ones(domains[other]) {
                        let c = row[b] & domains[third];
                        if c != 0 {
                            kept[one] |= 1 << a;
                            kept[other] |= 1 << b;
                            kept[third] |= c;
                        }
                    }
                }
                kept
            }
            _ => unreachable!("a table is looked at with the domains of its variables"),
        }
    }
}

/// The places beside one of three.
fn others(place: usize) -> (usize, usize) {
    match place {
        0 => (1, 2),
        1 => (0, 2),
        _ => (0, 1),
    }
}

/// The positions of the bits.
pub(super) fn ones(mut domain: Domain) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = domain.trailing_zeros() as usize;
        (domain != 0).then(|| {
            domain &= domain - 1;
            at
        })
    })
}
