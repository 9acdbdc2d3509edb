// SPDX-License-Identifier: Apache-2.0
//! Constructors of integer terms.
//!
//! Sums are kept in linear normal form, and comparisons as `sum <= constant` or `sum = constant` with coprime
//! coefficients of which the first is positive (constants are rounded as in a Gomory cut), so that equivalent linear
//! constraints and their negations share one atom. Products of sums are multiplied out, so the same holds for
//! polynomial constraints, whose products count as variables. Where 128 bits do not hold a coefficient, or a sum has more than
//! [`MONOMIALS`] summands, the term is left as it was written.

use super::ids::TermId;
use super::leaves::{Comparison, LeafOp};
use super::node::Term;
use super::semantics::{gcd, int_div, int_mod};
use super::store::Terms;

/// Number of monomials up to which sums are merged.
const MONOMIALS: usize = 64;
/// Number of products up to which a product of sums is multiplied out.
const PRODUCTS: usize = 36;
/// Degree up to which products are sorted.
const DEGREE: usize = 8;

/// `sum of coefficient * base + constant`, sorted by base, no coefficient zero.
struct Linear {
    monomials: Vec<(TermId, i128)>,
    constant: i128,
}

impl Linear {
    /// `self + factor * other`; None if a number or the sum gets too large.
    fn plus(&self, factor: i128, other: &Linear) -> Option<Linear> {
        if self.monomials.len() + other.monomials.len() > MONOMIALS {
            return None;
        }
        let mut monomials = Vec::with_capacity(self.monomials.len() + other.monomials.len());
        let (mut i, mut j) = (0, 0);
        while i < self.monomials.len() || j < other.monomials.len() {
            let mine = self.monomials.get(i).copied();
            let theirs = other.monomials.get(j).copied();
            let (base, coefficient) = match (mine, theirs) {
                (Some((x, c)), Some((y, d))) if x == y => {
                    (i, j) = (i + 1, j + 1);
                    (x, c.checked_add(factor.checked_mul(d)?)?)
                }
                (Some((x, c)), theirs) if theirs.is_none_or(|(y, _)| x < y) => {
                    i += 1;
                    (x, c)
                }
                (_, theirs) => {
                    let (y, d) = theirs?;
                    j += 1;
                    (y, factor.checked_mul(d)?)
                }
            };
            if coefficient != 0 {
                monomials.push((base, coefficient));
            }
        }
        let constant = self.constant.checked_add(factor.checked_mul(other.constant)?)?;
        Some(Linear { monomials, constant })
    }
}

impl Terms {
    fn linear(&self, t: TermId) -> Linear {
        let mut linear = Linear { monomials: Vec::new(), constant: 0 };
        match self.get(t) {
            Term::IntAdd(xs) if self.is_normal_sum(xs) => {
                for &x in xs {
                    match *self.get(x) {
                        Term::Int(k) => linear.constant = k,
                        Term::IntMulConst(c, base) => linear.monomials.push((base, c)),
                        _ => linear.monomials.push((x, 1)),
                    }
                }
            }
            &Term::Int(k) => linear.constant = k,
            &Term::IntMulConst(c, base) if !matches!(self.get(base), Term::IntAdd(_)) => {
                linear.monomials.push((base, c));
            }
            _ => linear.monomials.push((t, 1)),
        }
        linear
    }

    /// Sums that grew too large are not in normal form: they hold other sums.
    fn is_normal_sum(&self, xs: &[TermId]) -> bool {
        let base = |x: TermId| match *self.get(x) {
            Term::IntMulConst(_, b) => b,
            _ => x,
        };
        xs.len() <= MONOMIALS + 1
            && xs.iter().all(|&x| !matches!(self.get(base(x)), Term::IntAdd(_)))
            && xs
                .windows(2)
                .all(|w| self.as_int(w[1]).is_some() || (self.as_int(w[0]).is_none() && base(w[0]) < base(w[1])))
    }

    fn linear_term(&mut self, linear: &Linear) -> TermId {
        let mut operands = Vec::with_capacity(linear.monomials.len() + 1);
        for &(base, c) in &linear.monomials {
            operands.push(if c == 1 { base } else { self.intern(Term::IntMulConst(c, base)) });
        }
        if linear.constant != 0 || operands.is_empty() {
            operands.push(self.int(linear.constant));
        }
        match operands[..] {
            [x] => x,
            _ => self.intern(Term::IntAdd(operands.into_boxed_slice())),
        }
    }

    /// Sum of two integers.
    pub fn int_add(&mut self, a: TermId, b: TermId) -> TermId {
        self.add_scaled(a, 1, b)
    }

    /// Difference of two integers.
    pub fn int_sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.add_scaled(a, -1, b)
    }

    /// Negated integer.
    pub fn int_neg(&mut self, a: TermId) -> TermId {
        self.int_mul_const(-1, a)
    }

    /// Sum of integers; 0 if there are none.
    pub fn int_sum(&mut self, operands: &[TermId]) -> TermId {
        let zero = self.int(0);
        operands.iter().fold(zero, |sum, &x| self.int_add(sum, x))
    }

    fn add_scaled(&mut self, a: TermId, factor: i128, b: TermId) -> TermId {
        if factor != 1
            && let Some(scaled) = self.on_leaves(LeafOp::IntMulConst(factor), b, false)
        {
            return self.add_scaled(a, 1, scaled);
        }
        let pushed = match (self.as_int(a), self.as_int(b)) {
            (None, Some(k)) => k.checked_mul(factor).and_then(|k| {
                let k = self.int(k);
                self.on_leaves(LeafOp::IntAdd(k), a, false)
            }),
            (Some(_), None) if factor == 1 => self.on_leaves(LeafOp::IntAdd(a), b, false),
            _ => None,
        };
        if let Some(t) = pushed {
            return t;
        }
        if let Some(sum) = self.linear(a).plus(factor, &self.linear(b)) {
            return self.linear_term(&sum);
        }
        let b = match (factor, self.as_int(b)) {
            (1, _) => b,
            _ => self.intern(Term::IntMulConst(factor, b)),
        };
        self.intern(Term::IntAdd(Box::new([a, b])))
    }

    /// A constant times an integer.
    pub fn int_mul_const(&mut self, k: i128, a: TermId) -> TermId {
        if k == 1 {
            return a;
        }
        if let Some(t) = self.on_leaves(LeafOp::IntMulConst(k), a, false) {
            return t;
        }
        let zero = Linear { monomials: Vec::new(), constant: 0 };
        if k == 0 {
            return self.linear_term(&zero);
        }
        match zero.plus(k, &self.linear(a)) {
            Some(product) => self.linear_term(&product),
            None => self.intern(Term::IntMulConst(k, a)),
        }
    }

    /// Product of two integers.
    pub fn int_mul(&mut self, a: TermId, b: TermId) -> TermId {
        match (self.as_int(a), self.as_int(b)) {
            (Some(k), _) => self.int_mul_const(k, b),
            (_, Some(k)) => self.int_mul_const(k, a),
            (None, None) => {
                if let Some(t) = self.on_const_choices(a, b, |terms, x, y| terms.int_mul(x, y)) {
                    return t;
                }
                match self.product(a, b) {
                    Some(t) => t,
                    None => self.intern(Term::IntMul(a.min(b), a.max(b))),
                }
            }
        }
    }

    /// The product of two sums as a sum of products; None if that would be large.
    fn product(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        let (left, right) = (self.linear(a), self.linear(b));
        if left.monomials.len() * right.monomials.len() > PRODUCTS {
            return None;
        }
        let zero = Linear { monomials: Vec::new(), constant: 0 };
        let mut sum = zero.plus(right.constant, &left)?;
        sum = sum.plus(left.constant, &Linear { monomials: right.monomials.clone(), constant: 0 })?;
        for &(x, c) in &left.monomials {
            for &(y, d) in &right.monomials {
                let base = self.base_product(x, y)?;
                let monomials = vec![(base, c.checked_mul(d)?)];
                sum = sum.plus(1, &Linear { monomials, constant: 0 })?;
            }
        }
        Some(self.linear_term(&sum))
    }

    /// The product of two products without coefficients, its factors sorted; None if the degree is large.
    fn base_product(&mut self, x: TermId, y: TermId) -> Option<TermId> {
        let mut factors = self.factors(x);
        factors.extend(self.factors(y));
        if factors.len() > DEGREE {
            return None;
        }
        factors.sort_unstable();
        let (&first, rest) = factors.split_first()?;
        Some(rest.iter().fold(first, |product, &f| self.intern(Term::IntMul(product, f))))
    }

    fn factors(&self, t: TermId) -> Vec<TermId> {
        let mut factors = Vec::new();
        let mut rest = t;
        while let Term::IntMul(x, y) = *self.get(rest) {
            factors.push(y);
            rest = x;
            if factors.len() > DEGREE {
                return vec![t];
            }
        }
        factors.push(rest);
        factors
    }

    /// SMT-LIB `div` by a constant: the remainder is never negative, so it rounds down for a positive constant.
    ///
    /// # Panics
    /// The caller guarantees that the constant is not 0.
    pub fn int_div(&mut self, a: TermId, k: i128) -> TermId {
        assert_ne!(k, 0, "division by the constant 0 has no meaning");
        if let Some(q) = self.as_int(a).and_then(|a| int_div(a, k)) {
            return self.int(q);
        }
        match k {
            1 => a,
            -1 => self.int_neg(a),
            _ => match self.on_leaves(LeafOp::IntDiv(k), a, false) {
                Some(t) => t,
                None => self.intern(Term::IntDiv(a, k)),
            },
        }
    }

    /// SMT-LIB `mod` by a constant: never negative.
    ///
    /// # Panics
    /// The caller guarantees that the constant is not 0.
    pub fn int_mod(&mut self, a: TermId, k: i128) -> TermId {
        assert_ne!(k, 0, "division by the constant 0 has no meaning");
        if let Some(r) = self.as_int(a).and_then(|a| int_mod(a, k)) {
            return self.int(r);
        }
        if k == 1 || k == -1 {
            return self.int(0);
        }
        if let Some(t) = self.on_leaves(LeafOp::IntMod(k), a, false) {
            return t;
        }
        match *self.get(a) {
            Term::IntMod(_, inner) if inner == k || inner == -k => a,
            _ => self.intern(Term::IntMod(a, k)),
        }
    }

    /// At most.
    pub fn int_le(&mut self, a: TermId, b: TermId) -> TermId {
        if a == b {
            return TermId::TRUE;
        }
        if let (Some(x), Some(y)) = (self.as_int(a), self.as_int(b)) {
            return self.bool(x <= y);
        }
        match self.linear(a).plus(-1, &self.linear(b)).and_then(|difference| self.le_zero(&difference)) {
            Some(t) => t,
            None => self.intern(Term::IntLe(a, b)),
        }
    }

    /// Less than.
    pub fn int_lt(&mut self, a: TermId, b: TermId) -> TermId {
        let t = self.int_le(b, a);
        self.not(t)
    }

    /// At least.
    pub fn int_ge(&mut self, a: TermId, b: TermId) -> TermId {
        self.int_le(b, a)
    }

    /// Greater than.
    pub fn int_gt(&mut self, a: TermId, b: TermId) -> TermId {
        self.int_lt(b, a)
    }

    /// The greatest common divisor of the coefficients with the sign of the first one.
    fn content(linear: &Linear) -> Option<i128> {
        let (_, first) = *linear.monomials.first()?;
        let g = linear.monomials.iter().fold(0, |g, &(_, c)| gcd(g, c.unsigned_abs()));
        let g = i128::try_from(g).ok()?;
        Some(if first < 0 { -g } else { g })
    }

    fn divided(linear: &Linear, g: i128) -> Option<Linear> {
        let monomials =
            linear.monomials.iter().map(|&(x, c)| Some((x, c.checked_div(g)?))).collect::<Option<Vec<_>>>()?;
        Some(Linear { monomials, constant: 0 })
    }

    /// `linear <= 0`.
    fn le_zero(&mut self, linear: &Linear) -> Option<TermId> {
        let Some(g) = Self::content(linear) else { return Some(self.bool(linear.constant <= 0)) };
        let sum = Self::divided(linear, g)?;
        // g * sum + constant <= 0. For g > 0: sum <= floor(-constant / g). For g < 0: sum >= constant / -g, rounded
        // up, which is the negation of sum <= ceil(constant / -g) - 1.
        let (bound, negated) = if g > 0 {
            (linear.constant.checked_neg()?.div_euclid(g), false)
        } else {
            (linear.constant.checked_sub(1)?.div_euclid(g.checked_neg()?), true)
        };
        let bound = self.int(bound);
        let sum = self.linear_term(&sum);
        let atom = match self.on_leaves(LeafOp::IntLe(bound), sum, true) {
            Some(t) => t,
            None => self.intern(Term::IntLe(sum, bound)),
        };
        Some(if negated { self.not(atom) } else { atom })
    }

    pub(super) fn int_eq(&mut self, a: TermId, b: TermId) -> TermId {
        let (a, b) = match (self.as_int(a), self.as_int(b)) {
            (Some(x), Some(y)) => return self.bool(x == y),
            (Some(_), None) => (b, a),
            (None, Some(_)) => (a, b),
            (None, None) => (a.min(b), a.max(b)),
        };
        if let Some(t) = self.on_const_choices(a, b, |terms, x, y| terms.eq(x, y)) {
            return t;
        }
        if let Some(t) = self.on_same_condition(Comparison::Eq, a, b) {
            return t;
        }
        match self.linear(a).plus(-1, &self.linear(b)).and_then(|difference| self.eq_zero(&difference)) {
            Some(t) => t,
            None => self.intern(Term::Eq(a, b)),
        }
    }

    /// `linear = 0`.
    fn eq_zero(&mut self, linear: &Linear) -> Option<TermId> {
        let Some(g) = Self::content(linear) else { return Some(self.bool(linear.constant == 0)) };
        let sum = Self::divided(linear, g)?;
        if linear.constant.checked_rem(g)? != 0 {
            return Some(TermId::FALSE);
        }
        let sum = self.linear_term(&sum);
        let k = linear.constant.checked_div(g)?.checked_neg()?;
        let k = self.int(k);
        if let Some(t) = self.on_leaves(LeafOp::Eq(k), sum, true) {
            return Some(t);
        }
        if let Some(t) = self.eq_one_branch(sum, k) {
            return Some(t);
        }
        Some(self.intern(Term::Eq(sum, k)))
    }
}
