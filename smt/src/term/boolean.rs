// SPDX-License-Identifier: Apache-2.0
//! Constructors of Boolean structure.
//!
//! Conjunctions and disjunctions are n-ary and flattened up to [`FLAT`] operands; beyond that they nest, so that
//! building a chain of n operands stays linear in n. The rewrites are those of Brummayer and Biere, "Local two-level
//! and-inverter graph minimization without blowup" (MEMICS 2006), generalised to n-ary nodes, and common operands
//! are factored out. What the merge of two branches makes, `(pc & c) | (pc & !c)`, thus becomes `pc` again.
//!
//! Negation is a node of its own over large structure (solvers then see that a formula and its negation share their
//! parts) but is pushed into small conjunctions and disjunctions of literals.

use super::ids::{Sort, TermId};
use super::node::Term;
use super::store::Terms;

/// Operand count up to which nested conjunctions (disjunctions) are merged into one.
const FLAT: usize = 32;
/// Operand count up to which a negation is pushed into a conjunction or disjunction of literals.
const CUBE: usize = 8;
/// Operand count up to which all pairs of operands are compared.
const PAIRS: usize = 8;

/// Conjunction or disjunction.
#[derive(Copy, Clone, Eq, PartialEq)]
enum Kind {
    And,
    Or,
}

impl Kind {
    fn dual(self) -> Kind {
        match self {
            Kind::And => Kind::Or,
            Kind::Or => Kind::And,
        }
    }

    /// The value of the empty operation.
    fn unit(self) -> TermId {
        match self {
            Kind::And => TermId::TRUE,
            Kind::Or => TermId::FALSE,
        }
    }

    /// The absorbing value.
    fn zero(self) -> TermId {
        self.dual().unit()
    }

    fn node(self, operands: Vec<TermId>) -> Term {
        match self {
            Kind::And => Term::And(operands.into_boxed_slice()),
            Kind::Or => Term::Or(operands.into_boxed_slice()),
        }
    }
}

/// `lhs = constant` known to hold (conjunctions) or allowed to be assumed (disjunctions) for the other operands.
struct Known {
    lhs: TermId,
    constant: TermId,
}

impl Terms {
    /// Negation.
    pub fn not(&mut self, t: TermId) -> TermId {
        match *self.get(t) {
            Term::True => TermId::FALSE,
            Term::False => TermId::TRUE,
            Term::Not(a) => a,
            Term::And(ref xs) if self.is_cube(xs) => self.negated_cube(Kind::Or, t),
            Term::Or(ref xs) if self.is_cube(xs) => self.negated_cube(Kind::And, t),
            _ => self.intern(Term::Not(t)),
        }
    }

    /// The negated literals of `t`, joined by `kind`. What simplifications make of them does not always show that it is the
    /// complement, so it is noted.
    fn negated_cube(&mut self, kind: Kind, t: TermId) -> TermId {
        if let Some(&known) = self.complements.get(&t) {
            return known;
        }
        let literals = self.operands(kind.dual(), t).unwrap_or_default().to_vec();
        let negated: Vec<TermId> = literals.into_iter().map(|x| self.not(x)).collect();
        let complement = self.nary(kind, &negated);
        self.complements.insert(t, complement);
        self.complements.entry(complement).or_insert(t);
        complement
    }

    fn is_cube(&self, xs: &[TermId]) -> bool {
        xs.len() <= CUBE && xs.iter().all(|&x| !matches!(self.get(x), Term::And(_) | Term::Or(_)))
    }

    /// Conjunction.
    pub fn and(&mut self, a: TermId, b: TermId) -> TermId {
        self.nary(Kind::And, &[a, b])
    }

    /// Disjunction.
    pub fn or(&mut self, a: TermId, b: TermId) -> TermId {
        self.nary(Kind::Or, &[a, b])
    }

    /// Conjunction; true if there are no operands.
    pub fn and_all(&mut self, operands: &[TermId]) -> TermId {
        self.nary(Kind::And, operands)
    }

    /// Disjunction; false if there are no operands.
    pub fn or_all(&mut self, operands: &[TermId]) -> TermId {
        self.nary(Kind::Or, operands)
    }

    /// Implication.
    pub fn implies(&mut self, a: TermId, b: TermId) -> TermId {
        let na = self.not(a);
        self.or(na, b)
    }

    /// Equivalence of Booleans; the same as [`Terms::eq`] on them.
    pub fn iff(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, na) = self.strip_not(a);
        let (b, nb) = self.strip_not(b);
        let equal = match (a, b) {
            _ if a == b => TermId::TRUE,
            (TermId::TRUE, x) | (x, TermId::TRUE) => x,
            (TermId::FALSE, x) | (x, TermId::FALSE) => self.not(x),
            _ if self.complementary(a, b) => TermId::FALSE,
            _ => self.intern(Term::Eq(a.min(b), a.max(b))),
        };
        if na == nb { equal } else { self.not(equal) }
    }

    /// Exclusive or of Booleans.
    pub fn xor(&mut self, a: TermId, b: TermId) -> TermId {
        let equal = self.iff(a, b);
        self.not(equal)
    }

    /// A condition without its negation, and whether it has one.
    pub(crate) fn strip_not(&self, t: TermId) -> (TermId, bool) {
        match *self.get(t) {
            Term::Not(a) => (a, true),
            _ => (t, false),
        }
    }

    /// Whether one is the negation of the other, as far as the outermost node or a cube shows.
    fn complementary(&self, a: TermId, b: TermId) -> bool {
        match (self.get(a), self.get(b)) {
            (Term::Not(x), _) if *x == b => true,
            (_, Term::Not(y)) if *y == a => true,
            (Term::And(xs), Term::Or(ys)) | (Term::Or(ys), Term::And(xs)) => {
                xs.len() == ys.len()
                    && xs.len() <= CUBE
                    && xs.iter().all(|&x| ys.iter().any(|&y| self.literal_complement(x, y)))
            }
            _ => false,
        }
    }

    fn literal_complement(&self, a: TermId, b: TermId) -> bool {
        matches!(*self.get(a), Term::Not(x) if x == b) || matches!(*self.get(b), Term::Not(y) if y == a)
    }

    /// If-then-else of any sort.
    pub fn ite(&mut self, c: TermId, t: TermId, e: TermId) -> TermId {
        debug_assert_eq!(self.sort(t), self.sort(e), "branches of one sort");
        match *self.get(c) {
            Term::True => return t,
            Term::False => return e,
            Term::Not(n) => return self.ite(n, e, t),
            _ => {}
        }
        if t == e {
            return t;
        }
        match self.sort(t) {
            Sort::Bool => return self.ite_bool(c, t, e),
            Sort::Array { .. } => {
                if let Some(merged) = self.merge_arrays(c, t, e) {
                    return merged;
                }
            }
            Sort::Bv(_) | Sort::Int => {}
        }
        // The condition decides the same condition below.
        let t = match *self.get(t) {
            Term::Ite(d, x, _) if d == c => x,
            _ => t,
        };
        let e = match *self.get(e) {
            Term::Ite(d, _, y) if d == c => y,
            _ => e,
        };
        if t == e {
            return t;
        }
        if self.same_if(c, t, e) {
            return e;
        }
        if let Some(chain) = self.extremum(c, t, e) {
            return chain;
        }
        // One leaf that stands on both sides is reached by one condition.
        if let Term::Ite(d, x, y) = *self.get(e) {
            if x == t {
                let either = self.or(c, d);
                return self.ite(either, t, y);
            }
            if y == t {
                let nd = self.not(d);
                let either = self.or(c, nd);
                return self.ite(either, t, x);
            }
        }
        if let Term::Ite(d, x, y) = *self.get(t) {
            if y == e {
                let both = self.and(c, d);
                return self.ite(both, x, e);
            }
            if x == e {
                let nd = self.not(d);
                let both = self.and(c, nd);
                return self.ite(both, y, e);
            }
        }
        self.intern(Term::Ite(c, t, e))
    }

    /// Whether a condition is that two values are equal, of which, or of whose extensions, one is `t` and the other one `e`.
    fn same_if(&mut self, c: TermId, t: TermId, e: TermId) -> bool {
        let Term::Eq(a, b) = *self.get(c) else { return false };
        let width = match self.sort(t) {
            Sort::Bv(width) => width,
            _ => return (t, e) == (a, b) || (t, e) == (b, a),
        };
        [(a, b), (b, a)].into_iter().any(|(a, b)| match *self.get(e) {
            _ if e == b => t == a,
            Term::Zext { arg, .. } if arg == b => self.zext(width, a) == t,
            Term::Sext { arg, .. } if arg == b => self.sext(width, a) == t,
            _ => false,
        })
    }

    fn ite_bool(&mut self, c: TermId, t: TermId, e: TermId) -> TermId {
        let t = self.under(t, c, true);
        let e = self.under(e, c, false);
        match (t, e) {
            _ if t == e => t,
            (TermId::TRUE, _) => self.or(c, e),
            (TermId::FALSE, _) => {
                let nc = self.not(c);
                self.and(nc, e)
            }
            (_, TermId::TRUE) => {
                let nc = self.not(c);
                self.or(nc, t)
            }
            (_, TermId::FALSE) => self.and(c, t),
            _ if self.complementary(t, e) => self.iff(c, t),
            _ => match (self.strip_not(t), self.strip_not(e)) {
                // Negated on both sides: one negation outside.
                ((x, true), (y, true)) => {
                    let inner = self.intern(Term::Ite(c, x, y));
                    self.not(inner)
                }
                _ => self.intern(Term::Ite(c, t, e)),
            },
        }
    }

    /// A Boolean term where the truth of `c` is known, looking at the outermost node only.
    fn under(&self, t: TermId, c: TermId, holds: bool) -> TermId {
        if t == c {
            return self.bool(holds);
        }
        match *self.get(t) {
            Term::Not(a) if a == c => self.bool(!holds),
            Term::Ite(d, x, y) if d == c => {
                if holds {
                    x
                } else {
                    y
                }
            }
            Term::And(ref xs) if !holds && xs.contains(&c) => TermId::FALSE,
            Term::Or(ref xs) if holds && xs.contains(&c) => TermId::TRUE,
            _ => t,
        }
    }

    fn operands(&self, kind: Kind, t: TermId) -> Option<&[TermId]> {
        match (kind, self.get(t)) {
            (Kind::And, Term::And(xs)) | (Kind::Or, Term::Or(xs)) => Some(xs),
            _ => None,
        }
    }

    fn nary(&mut self, kind: Kind, operands: &[TermId]) -> TermId {
        let mut xs: Vec<TermId> = operands.iter().copied().filter(|&x| x != kind.unit()).collect();
        xs.sort_unstable();
        xs.dedup();
        if xs.len() < 2 {
            return xs.first().copied().unwrap_or(kind.unit());
        }
        let complement = |x: TermId| self.negated(x).or_else(|| self.complements.get(&x).copied());
        let contradictory = |x: &TermId| complement(*x).is_some_and(|a| xs.binary_search(&a).is_ok());
        if xs.iter().any(contradictory) {
            return kind.zero();
        }
        let mut flat: Vec<TermId> = Vec::with_capacity(xs.len() + 4);
        for &x in &xs {
            match self.operands(kind, x) {
                Some(inner) if inner.len() + flat.len() <= FLAT => flat.extend_from_slice(inner),
                _ => self.flatten_negation(kind, x, &mut flat),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        if flat.contains(&kind.zero()) {
            return kind.zero();
        }
        match flat[..] {
            [] => return kind.unit(),
            [x] => return x,
            _ => {}
        }
        let contradictory = |x: &TermId| self.negated(*x).is_some_and(|a| flat.binary_search(&a).is_ok());
        if flat.iter().any(contradictory) {
            return kind.zero();
        }
        match self.propagate(kind, &flat) {
            Propagated::Zero => return kind.zero(),
            Propagated::Changed(rest) => return self.nary(kind, &rest),
            Propagated::Unchanged => {}
        }
        if let Some(t) = self.factor(kind, &flat) {
            return t;
        }
        if let Some(rest) = self.merge_pair(kind, &flat) {
            return self.nary(kind, &rest);
        }
        self.intern(kind.node(flat))
    }

    /// Adds `x` to the operands, as several ones if it is the negation of a disjunction in a conjunction (dually).
    fn flatten_negation(&mut self, kind: Kind, x: TermId, flat: &mut Vec<TermId>) {
        let inner = match self.negated(x).and_then(|a| self.operands(kind.dual(), a)) {
            Some(inner) if inner.len() + flat.len() <= FLAT => inner.to_vec(),
            _ => {
                flat.push(x);
                return;
            }
        };
        for o in inner {
            let n = self.not(o);
            match self.operands(kind, n) {
                Some(parts) if parts.len() + flat.len() <= FLAT => flat.extend_from_slice(parts),
                _ => flat.push(n),
            }
        }
    }

    /// Uses each operand of a conjunction to simplify the others one level deep (dually for disjunctions): an operand
    /// that the others imply is dropped, one that they contradict makes the whole false, and the same is done for the
    /// disjuncts inside an operand.
    fn propagate(&mut self, kind: Kind, flat: &[TermId]) -> Propagated {
        let known: Vec<Known> = flat.iter().filter_map(|&x| self.known_value(kind, x)).collect();
        let mut negated: Vec<TermId> = flat.iter().filter_map(|&x| self.negated(x)).collect();
        negated.sort_unstable();
        let mut changed = false;
        let mut rest = Vec::with_capacity(flat.len());
        for &x in flat {
            // The negation of a large conjunction is a disjunction of negations.
            if let Some(inner) = self.negated(x).and_then(|a| self.operands(kind, a)) {
                let decisions: Vec<Option<bool>> =
                    inner.iter().map(|&o| self.decide(kind, o, flat, &negated, &known)).collect();
                if decisions.contains(&Some(false)) {
                    changed = true;
                } else if decisions.contains(&Some(true)) {
                    changed = true;
                    let open = inner.iter().zip(&decisions).filter(|(_, d)| d.is_none());
                    let keep: Vec<TermId> = open.map(|(&o, _)| o).collect();
                    let keep = self.nary(kind, &keep);
                    rest.push(self.not(keep));
                } else {
                    rest.push(x);
                }
                continue;
            }
            let Some(inner) = self.operands(kind.dual(), x) else {
                match self.decide_by_values(kind, x, &known) {
                    Some(true) => changed = true,
                    Some(false) => return Propagated::Zero,
                    None => rest.push(x),
                }
                continue;
            };
            let mut keep = Vec::with_capacity(inner.len());
            let mut absorbed = false;
            for &o in inner {
                match self.decide(kind, o, flat, &negated, &known) {
                    Some(true) => {
                        absorbed = true;
                        break;
                    }
                    Some(false) => {}
                    None => keep.push(o),
                }
            }
            if absorbed {
                changed = true;
            } else if keep.len() < inner.len() {
                changed = true;
                rest.push(self.nary(kind.dual(), &keep));
            } else {
                rest.push(x);
            }
        }
        if changed { Propagated::Changed(rest) } else { Propagated::Unchanged }
    }

    fn negated(&self, t: TermId) -> Option<TermId> {
        match *self.get(t) {
            Term::Not(a) => Some(a),
            _ => None,
        }
    }

    /// Whether `o` equals the unit (true) or the zero (false) of `kind` next to the operands `flat`, of which
    /// `negated` are the negated ones without their negation.
    fn decide(&self, kind: Kind, o: TermId, flat: &[TermId], negated: &[TermId], known: &[Known]) -> Option<bool> {
        if flat.binary_search(&o).is_ok() {
            return Some(true);
        }
        let complement_stands = match self.negated(o) {
            Some(a) => flat.binary_search(&a).is_ok(),
            None => negated.binary_search(&o).is_ok(),
        };
        if complement_stands {
            return Some(false);
        }
        // Operands of operands are of the same kind; operands of negated operands are of the other one. This goes no deeper.
        for (of, decisive) in [(kind, false), (kind.dual(), true)] {
            let Some(inner) = self.operands(of, o) else { continue };
            if inner.len() > CUBE {
                return None;
            }
            let mut all = true;
            for &i in inner {
                if self.operands(of.dual(), i).is_some() {
                    all = false;
                    continue;
                }
                match self.decide(kind, i, flat, negated, known) {
                    Some(value) if value == decisive => return Some(decisive),
                    decision => all &= decision.is_some(),
                }
            }
            if all {
                return Some(!decisive);
            }
            return (of == kind && flat.iter().any(|&x| self.complementary(x, o))).then_some(false);
        }
        self.decide_by_values(kind, o, known)
    }

    /// The equation with a constant that an operand states: `lhs = k` in a conjunction, `lhs != k` in a disjunction
    /// (where the other operands only matter if it fails, that is if `lhs = k`).
    fn known_value(&self, kind: Kind, x: TermId) -> Option<Known> {
        let atom = match (kind, self.get(x)) {
            (Kind::And, _) => x,
            (Kind::Or, Term::Not(a)) => *a,
            (Kind::Or, _) => return None,
        };
        match *self.get(atom) {
            Term::Eq(lhs, constant) if self.as_value(constant).is_some() => Some(Known { lhs, constant }),
            _ => None,
        }
    }

    fn decide_by_values(&self, kind: Kind, x: TermId, known: &[Known]) -> Option<bool> {
        if known.is_empty() {
            return None;
        }
        let (atom, negated) = self.strip_not(x);
        let (lhs, k) = match *self.get(atom) {
            Term::Eq(lhs, k) | Term::BvCmp(_, lhs, k) | Term::IntLe(lhs, k) => (lhs, k),
            _ => return None,
        };
        let fact = known.iter().find(|f| f.lhs == lhs)?;
        let holds = match *self.get(atom) {
            // The fact itself is not to be dropped.
            Term::Eq(..) if k == fact.constant && negated == (kind == Kind::Or) => return None,
            Term::Eq(..) => self.as_value(k)? == self.as_value(fact.constant)?,
            Term::BvCmp(op, ..) => {
                super::semantics::bv_cmp(op, self.width(lhs), self.as_bv(fact.constant)?, self.as_bv(k)?)
            }
            Term::IntLe(..) => self.as_int(fact.constant)? <= self.as_int(k)?,
            _ => return None,
        };
        let value = holds != negated;
        Some(value == (kind == Kind::And))
    }

    /// `(a & x) | (a & y)` to `a & (x | y)`, if all operands are conjunctions and have something in common.
    fn factor(&mut self, kind: Kind, flat: &[TermId]) -> Option<TermId> {
        let mut common: Vec<TermId> = Vec::new();
        for (i, &x) in flat.iter().enumerate() {
            let inner = self.operands(kind.dual(), x)?;
            if i == 0 {
                common.extend_from_slice(inner);
            } else {
                common.retain(|o| inner.binary_search(o).is_ok());
            }
            if common.is_empty() {
                return None;
            }
        }
        let mut residuals = Vec::with_capacity(flat.len());
        for &x in flat {
            let inner = self.operands(kind.dual(), x)?;
            let own: Vec<TermId> = inner.iter().copied().filter(|o| common.binary_search(o).is_err()).collect();
            residuals.push(self.nary(kind.dual(), &own));
        }
        common.push(self.nary(kind, &residuals));
        Some(self.nary(kind.dual(), &common))
    }

    /// Among few operands: `(a & b) | (a & b & c)` to `a & b`, and `(a & c) | (a & !c)` to `a`.
    fn merge_pair(&mut self, kind: Kind, flat: &[TermId]) -> Option<Vec<TermId>> {
        // Two operands have been dealt with by factoring.
        if flat.len() < 3 || flat.len() > PAIRS {
            return None;
        }
        for (i, &x) in flat.iter().enumerate() {
            let Some(xs) = self.operands(kind.dual(), x) else { continue };
            for (j, &y) in flat.iter().enumerate() {
                let Some(ys) = self.operands(kind.dual(), y) else { continue };
                if i == j || xs.len() > ys.len() {
                    continue;
                }
                let mut own = xs.iter().filter(|o| ys.binary_search(o).is_err());
                let replaced = match (own.next(), own.next()) {
                    (None, _) => x,
                    (Some(&o), None) if xs.len() == ys.len() => {
                        let other = ys.iter().find(|o| xs.binary_search(o).is_err());
                        if !other.is_some_and(|&p| self.literal_complement(o, p)) {
                            continue;
                        }
                        let shared: Vec<TermId> = xs.iter().copied().filter(|&p| p != o).collect();
                        self.nary(kind.dual(), &shared)
                    }
                    _ => continue,
                };
                let mut rest: Vec<TermId> = flat.iter().copied().filter(|&z| z != x && z != y).collect();
                rest.push(replaced);
                return Some(rest);
            }
        }
        None
    }
}

enum Propagated {
    Zero,
    Changed(Vec<TermId>),
    Unchanged,
}
