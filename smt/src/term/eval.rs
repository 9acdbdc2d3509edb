// SPDX-License-Identifier: Apache-2.0
//! Evaluation under an assignment, with SMT-LIB's semantics.

use rustc_hash::FxHashMap;

use super::array_value::ArrayValue;
use super::float;
use super::ids::{SymId, TermId, Value};
use super::node::Term;
use super::semantics;
use super::store::Terms;

/// Evaluates the same terms under many assignments: the order of evaluation is computed once.
pub struct Evaluator {
    order: Vec<TermId>,
    /// The place of each term in `order`, by its index; a hash table would take most of the time of an evaluation.
    positions: Vec<u32>,
    roots: Vec<TermId>,
    values: Vec<Value>,
}

impl Evaluator {
    /// An evaluator of the given terms.
    pub fn new(terms: &Terms, roots: &[TermId]) -> Self {
        let order = terms.post_order(roots, |_| false);
        let mut positions = vec![0; terms.len()];
        for (&t, position) in order.iter().zip(0..) {
            positions[t.index()] = position;
        }
        Evaluator { order, positions, roots: roots.to_vec(), values: Vec::new() }
    }

    /// The values of the terms where `f` gives the values of the instances, as in [`Terms::try_eval`]; None if some integer
    /// result does not fit into 128 bits.
    pub fn run(&mut self, terms: &Terms, f: &mut dyn FnMut(SymId, u32) -> Value) -> Option<Vec<Value>> {
        let mut exact = true;
        self.values.clear();
        for &t in &self.order {
            let (positions, values) = (&self.positions, &self.values);
            let value = terms.eval_node(t, &|operand| &values[positions[operand.index()] as usize], f, &mut exact);
            self.values.push(value);
        }
        exact
            .then(|| self.roots.iter().map(|root| self.values[self.positions[root.index()] as usize].clone()).collect())
    }
}

impl Terms {
    /// The value of a term where `f` gives the values of the instances. `f` must give values of the right sort.
    ///
    /// Integer results that 128 bits do not hold are replaced by the nearest number; [`Terms::try_eval`] tells.
    pub fn eval(&self, t: TermId, f: &mut dyn FnMut(SymId, u32) -> Value) -> Value {
        self.evaluate(t, f).0
    }

    /// Like [`Terms::eval`]; None if some integer result does not fit into 128 bits.
    pub fn try_eval(&self, t: TermId, f: &mut dyn FnMut(SymId, u32) -> Value) -> Option<Value> {
        let (value, exact) = self.evaluate(t, f);
        exact.then_some(value)
    }

    fn evaluate(&self, t: TermId, f: &mut dyn FnMut(SymId, u32) -> Value) -> (Value, bool) {
        let mut memo: FxHashMap<TermId, Value> = FxHashMap::default();
        let mut exact = true;
        for s in self.post_order(&[t], |_| false) {
            let v = self.eval_node(s, &|operand| &memo[&operand], f, &mut exact);
            memo.insert(s, v);
        }
        (memo.remove(&t).expect("the root comes last"), exact)
    }

    fn eval_node<'m>(
        &self,
        t: TermId,
        memo: &impl Fn(TermId) -> &'m Value,
        f: &mut dyn FnMut(SymId, u32) -> Value,
        exact: &mut bool,
    ) -> Value {
        let truth = |t: &TermId| match memo(*t) {
            Value::Bool(b) => *b,
            Value::Bv { .. } | Value::Int(_) | Value::Array(_) => panic!("constructors guarantee a Boolean operand"),
        };
        let bits = |t: &TermId| match memo(*t) {
            Value::Bv { bits, .. } => *bits,
            Value::Bool(_) | Value::Int(_) | Value::Array(_) => panic!("constructors guarantee a bit-vector operand"),
        };
        let int = |t: &TermId| match memo(*t) {
            Value::Int(v) => *v,
            Value::Bool(_) | Value::Bv { .. } | Value::Array(_) => panic!("constructors guarantee an integer operand"),
        };
        let array = |t: &TermId| match memo(*t) {
            Value::Array(a) => a,
            Value::Bool(_) | Value::Bv { .. } | Value::Int(_) => panic!("constructors guarantee an array operand"),
        };
        let mut fit = |result: Option<i128>, nearest: i128| {
            *exact &= result.is_some();
            Value::Int(result.unwrap_or(nearest))
        };
        let bv = |width: u32, bits: u128| Value::Bv { width, bits };
        match self.get(t) {
            Term::True => Value::Bool(true),
            Term::False => Value::Bool(false),
            &Term::Bv { width, bits } => bv(width, bits),
            &Term::Int(v) => Value::Int(v),
            &Term::Var { sym, index } => {
                let v = f(sym, index);
                debug_assert_eq!(v.sort(), self.symbol_sort(sym), "a value of the symbol's sort");
                v
            }
            Term::Not(a) => Value::Bool(!truth(a)),
            Term::And(xs) => Value::Bool(xs.iter().all(truth)),
            Term::Or(xs) => Value::Bool(xs.iter().any(truth)),
            Term::Ite(c, a, b) => memo(if truth(c) { *a } else { *b }).clone(),
            Term::Eq(a, b) => Value::Bool(memo(*a) == memo(*b)),
            Term::BvUn(op, a) => bv(self.width(t), semantics::bv_un(*op, self.width(t), bits(a))),
            Term::BvBin(op, a, b) => bv(self.width(t), semantics::bv_bin(*op, self.width(t), bits(a), bits(b))),
            Term::BvCmp(op, a, b) => Value::Bool(semantics::bv_cmp(*op, self.width(*a), bits(a), bits(b))),
            Term::Extract { hi, lo, arg } => bv(hi - lo + 1, semantics::extract(*hi, *lo, bits(arg))),
            Term::Zext { width, arg } => bv(*width, bits(arg)),
            Term::Sext { width, arg } => bv(*width, semantics::sext(self.width(*arg), *width, bits(arg))),
            Term::Concat(a, b) => bv(self.width(t), bits(a) << self.width(*b) | bits(b)),
            Term::ConstArray { index, element } => {
                Value::Array(ArrayValue::constant(*index, self.width(*element), bits(element)))
            }
            Term::Select(a, i) => bv(self.width(t), array(a).get(bits(i))),
            Term::Store { array: a, base, writes } => {
                let (mut result, base) = (array(a).clone(), bits(base));
                writes.for_each(|offset, v| result = result.clone().with(base.wrapping_add(offset), bits(&v)));
                Value::Array(result)
            }
            Term::FpUn(op, a) => bv(self.width(t), float::fp_un(*op, self.width(*a), bits(a))),
            Term::FpBin(op, a, b) => bv(self.width(t), float::fp_bin(*op, self.width(t), bits(a), bits(b))),
            Term::FpCmp(op, a, b) => Value::Bool(float::fp_cmp(*op, self.width(*a), bits(a), bits(b))),
            Term::IntAdd(xs) => xs.iter().map(int).fold(Value::Int(0), |sum, x| match sum {
                Value::Int(s) => fit(s.checked_add(x), s.saturating_add(x)),
                Value::Bool(_) | Value::Bv { .. } | Value::Array(_) => sum,
            }),
            Term::IntMulConst(k, a) => fit(k.checked_mul(int(a)), k.saturating_mul(int(a))),
            Term::IntMul(a, b) => fit(int(a).checked_mul(int(b)), int(a).saturating_mul(int(b))),
            Term::IntDiv(a, k) => fit(semantics::int_div(int(a), *k), i128::MAX),
            Term::IntMod(a, k) => fit(semantics::int_mod(int(a), *k), 0),
            Term::IntLe(a, b) => Value::Bool(int(a) <= int(b)),
        }
    }
}
