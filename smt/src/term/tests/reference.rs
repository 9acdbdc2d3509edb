// SPDX-License-Identifier: Apache-2.0
//! Random expressions as plain trees, their value by a second implementation of SMT-LIB's definitions, and their
//! construction as terms. Expressions are decoded from bytes, so that proptest can shrink them.

use std::rc::Rc;

use super::floats::{float_binary, float_unary, number};
use crate::term::{ArrayValue, BvBin, BvCmp, BvUn, FpBin, FpCmp, FpUn, Rounding, Sort, TermId, Terms, Value};

/// Number of variables of each sort.
pub(crate) const VARS: usize = 3;

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Const(Value),
    Var(Sort, usize),
    Not(Rc<Expr>),
    And(Vec<Rc<Expr>>),
    Or(Vec<Rc<Expr>>),
    Implies(Rc<Expr>, Rc<Expr>),
    Iff(Rc<Expr>, Rc<Expr>),
    Xor(Rc<Expr>, Rc<Expr>),
    Ite(Rc<Expr>, Rc<Expr>, Rc<Expr>),
    Eq(Rc<Expr>, Rc<Expr>),
    Ne(Rc<Expr>, Rc<Expr>),
    Un(BvUn, Rc<Expr>),
    Bin(BvBin, Rc<Expr>, Rc<Expr>),
    Cmp(BvCmp, Rc<Expr>, Rc<Expr>),
    Extract(u32, u32, Rc<Expr>),
    Zext(u32, Rc<Expr>),
    Sext(u32, Rc<Expr>),
    IntAdd(Vec<Rc<Expr>>),
    IntSub(Rc<Expr>, Rc<Expr>),
    IntNeg(Rc<Expr>),
    IntScale(i128, Rc<Expr>),
    IntMul(Rc<Expr>, Rc<Expr>),
    IntDiv(Rc<Expr>, i128),
    IntMod(Rc<Expr>, i128),
    IntLe(Rc<Expr>, Rc<Expr>),
    IntLt(Rc<Expr>, Rc<Expr>),
    Concat(Rc<Expr>, Rc<Expr>),
    ConstArray(u32, Rc<Expr>),
    Select(Rc<Expr>, Rc<Expr>),
    Store(Rc<Expr>, Rc<Expr>, Rc<Expr>),
    FpUn(FpUn, Rc<Expr>),
    FpBin(FpBin, Rc<Expr>, Rc<Expr>),
    FpCmp(FpCmp, Rc<Expr>, Rc<Expr>),
    FpNeg(Rc<Expr>),
    FpAbs(Rc<Expr>),
}

const BINARY: [BvBin; 13] = [
    BvBin::Add,
    BvBin::Sub,
    BvBin::Mul,
    BvBin::Udiv,
    BvBin::Sdiv,
    BvBin::Urem,
    BvBin::Srem,
    BvBin::Shl,
    BvBin::Lshr,
    BvBin::Ashr,
    BvBin::And,
    BvBin::Or,
    BvBin::Xor,
];

/// Decodes expressions; earlier subexpressions are used again now and then, as rewrites look for equal parts.
pub(crate) struct Decoder<'a> {
    bytes: std::slice::Iter<'a, u8>,
    pool: Vec<(Sort, Rc<Expr>)>,
    with_int: bool,
    /// All widths are multiples of this, up to eight times.
    unit: u32,
    /// Boolean leaves compare few variables with small constants, as the conditions of a state machine do.
    control: bool,
    /// Numbers of 32 and 64 bits are also combined as floating-point numbers.
    floats: bool,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8], with_int: bool) -> Self {
        Decoder { bytes: bytes.iter(), pool: Vec::new(), with_int, unit: 1, control: false, floats: false }
    }

    /// The same with widths from 8 to 64.
    pub(crate) fn wide(bytes: &'a [u8], with_int: bool) -> Self {
        Decoder { unit: 8, ..Self::new(bytes, with_int) }
    }

    /// The same with floating-point operations.
    pub(crate) fn floats(bytes: &'a [u8]) -> Self {
        Decoder { floats: true, ..Self::wide(bytes, false) }
    }

    /// Formulas of propositional structure over comparisons of few variables with small constants.
    pub(crate) fn control(bytes: &'a [u8]) -> Self {
        Decoder { control: true, ..Self::new(bytes, true) }
    }

    fn condition(&mut self) -> Expr {
        let sort = [Sort::Bv(3), Sort::Int][self.below(2)];
        let x = Rc::new(Expr::Var(sort, self.below(2)));
        let k = self.below(5);
        let k = Rc::new(Expr::Const(match sort {
            Sort::Bv(width) => Value::Bv { width, bits: k as u128 },
            Sort::Int | Sort::Bool | Sort::Array { .. } => Value::Int(k as i128),
        }));
        match (self.below(4), sort) {
            (0, _) => Expr::Ne(x, k),
            (1, Sort::Int) => Expr::IntLe(x, k),
            (1, _) => Expr::Cmp(BvCmp::Ule, x, k),
            (2, Sort::Int) => Expr::IntLt(k, x),
            (2, _) => Expr::Cmp(BvCmp::Slt, k, x),
            _ => Expr::Eq(x, k),
        }
    }

    fn below(&mut self, n: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0)) % n
    }

    fn leaf(&mut self, sort: Sort) -> Rc<Expr> {
        if self.control && sort == Sort::Bool && self.below(8) > 0 {
            return Rc::new(self.condition());
        }
        if self.below(3) == 0 {
            let k = self.below(256);
            return Rc::new(Expr::Const(match sort {
                Sort::Bool => Value::Bool(k % 2 == 1),
                // The extreme constants come up often enough at these widths.
                Sort::Bv(width) => Value::Bv { width, bits: k as u8 as i8 as u128 & ((1 << width) - 1) },
                Sort::Int => Value::Int(k as i128 % 11 - 5),
                Sort::Array { index, element } => {
                    Value::Array(ArrayValue::constant(index, element, k as u128).with(1, 2))
                }
            }));
        }
        Rc::new(Expr::Var(sort, self.below(VARS)))
    }

    /// An expression of a sort.
    pub(crate) fn expr(&mut self, sort: Sort, depth: u32) -> Rc<Expr> {
        if depth == 0 || self.bytes.len() == 0 {
            return self.leaf(sort);
        }
        if self.below(4) == 0 {
            let same: Vec<Rc<Expr>> = self.pool.iter().filter(|(s, _)| *s == sort).map(|(_, e)| Rc::clone(e)).collect();
            if !same.is_empty() {
                return Rc::clone(&same[self.below(same.len())]);
            }
        }
        let e = Rc::new(match sort {
            Sort::Bool => self.boolean(depth - 1),
            Sort::Bv(width) => self.bit_vector(width, depth - 1),
            Sort::Int => self.integer(depth - 1),
            Sort::Array { index, element } => self.array(index, element, depth - 1),
        });
        self.pool.push((sort, Rc::clone(&e)));
        e
    }

    fn many(&mut self, sort: Sort, depth: u32) -> Vec<Rc<Expr>> {
        (0..2 + self.below(3)).map(|_| self.expr(sort, depth)).collect()
    }

    fn any_width(&mut self) -> Sort {
        Sort::Bv(self.unit * (1 + self.below(8) as u32))
    }

    /// An array with few cells, so that indices meet often.
    fn any_array(&mut self) -> (u32, u32) {
        let element = [Sort::Bv(1), Sort::Bv(3), Sort::Bv(8)][self.below(3)];
        match element {
            Sort::Bv(element) => ([1, 3, 8][self.below(3)], element),
            Sort::Bool | Sort::Int | Sort::Array { .. } => unreachable!("listed above"),
        }
    }

    fn array(&mut self, index: u32, element: u32, d: u32) -> Expr {
        let sort = Sort::Array { index, element };
        match self.below(6) {
            0 => Expr::ConstArray(index, self.expr(Sort::Bv(element), d)),
            1 => Expr::Ite(self.expr(Sort::Bool, d), self.expr(sort, d), self.expr(sort, d)),
            _ => {
                let array = self.expr(sort, d);
                let at = self.expr(Sort::Bv(index), d.min(2));
                Expr::Store(array, at, self.expr(Sort::Bv(element), d))
            }
        }
    }

    fn number(&mut self, width: u32, d: u32) -> Expr {
        let sort = Sort::Bv(width);
        match self.below(10) {
            0..4 => {
                let op = [FpBin::Add, FpBin::Sub, FpBin::Mul, FpBin::Div][self.below(4)];
                Expr::FpBin(op, self.expr(sort, d), self.expr(sort, d))
            }
            4 => Expr::FpNeg(self.expr(sort, d)),
            5 => Expr::FpAbs(self.expr(sort, d)),
            6 => Expr::FpUn(FpUn::FromInt { signed: self.below(2) == 0, bits: width }, {
                let from = self.any_width();
                self.expr(from, d)
            }),
            7 => Expr::FpUn(FpUn::ToFloat { bits: width }, self.expr(Sort::Bv(96 - width), d)),
            8 => {
                let rounding =
                    [Rounding::NearestEven, Rounding::NearestAway, Rounding::TowardZero, Rounding::Up, Rounding::Down]
                        [self.below(5)];
                Expr::FpUn(FpUn::Round(rounding), self.expr(sort, d))
            }
            _ => Expr::FpUn(FpUn::Sqrt, self.expr(sort, d)),
        }
    }

    fn boolean(&mut self, d: u32) -> Expr {
        let b = Sort::Bool;
        let choices = if self.control {
            7
        } else if self.with_int {
            15
        } else {
            12
        };
        match self.below(choices) {
            0 => Expr::Not(self.expr(b, d)),
            1 => Expr::And(self.many(b, d)),
            2 => Expr::Or(self.many(b, d)),
            3 => Expr::Implies(self.expr(b, d), self.expr(b, d)),
            4 => Expr::Iff(self.expr(b, d), self.expr(b, d)),
            5 => Expr::Xor(self.expr(b, d), self.expr(b, d)),
            6 => Expr::Ite(self.expr(b, d), self.expr(b, d), self.expr(b, d)),
            8 if self.unit == 1 && self.below(3) == 0 => {
                let (index, element) = self.any_array();
                let sort = Sort::Array { index, element };
                Expr::Eq(self.expr(sort, d), self.expr(sort, d))
            }
            7 | 8 => {
                let sort = self.any_width();
                let (x, y) = (self.expr(sort, d), self.expr(sort, d));
                if self.below(2) == 0 { Expr::Eq(x, y) } else { Expr::Ne(x, y) }
            }
            9..12 if self.floats => {
                let sort = [Sort::Bv(32), Sort::Bv(64)][self.below(2)];
                let op = [FpCmp::Eq, FpCmp::Lt, FpCmp::Le][self.below(3)];
                Expr::FpCmp(op, self.expr(sort, d), self.expr(sort, d))
            }
            9..12 => {
                let sort = self.any_width();
                let op = [BvCmp::Ult, BvCmp::Ule, BvCmp::Slt, BvCmp::Sle][self.below(4)];
                Expr::Cmp(op, self.expr(sort, d), self.expr(sort, d))
            }
            12 => Expr::Eq(self.expr(Sort::Int, d), self.expr(Sort::Int, d)),
            13 => Expr::IntLe(self.expr(Sort::Int, d), self.expr(Sort::Int, d)),
            _ => Expr::IntLt(self.expr(Sort::Int, d), self.expr(Sort::Int, d)),
        }
    }

    fn bit_vector(&mut self, width: u32, d: u32) -> Expr {
        let sort = Sort::Bv(width);
        let (unit, units) = (self.unit, width / self.unit);
        if self.floats && matches!(width, 32 | 64) && self.below(3) > 0 {
            return self.number(width, d);
        }
        match self.below(17) {
            14 if units > 1 => {
                let high = unit * (1 + self.below(units as usize - 1) as u32);
                Expr::Concat(self.expr(Sort::Bv(high), d), self.expr(Sort::Bv(width - high), d))
            }
            15 if self.floats => {
                let from = [Sort::Bv(32), Sort::Bv(64)][self.below(2)];
                Expr::FpUn(FpUn::ToInt { signed: self.below(2) == 0, bits: width }, self.expr(from, d))
            }
            14..17 if unit == 1 => {
                let index = [1, 3, 8][self.below(3)];
                let array = self.expr(Sort::Array { index, element: width }, d);
                Expr::Select(array, self.expr(Sort::Bv(index), d.min(2)))
            }
            0..3 => Expr::Ite(self.expr(Sort::Bool, d), self.expr(sort, d), self.expr(sort, d)),
            3 => Expr::Un(if self.below(2) == 0 { BvUn::Neg } else { BvUn::Not }, self.expr(sort, d)),
            4 if units < 8 => {
                let from = unit * (units + 1 + self.below((8 - units) as usize) as u32);
                let lo = self.below((from - width + 1) as usize) as u32;
                Expr::Extract(lo + width - 1, lo, self.expr(Sort::Bv(from), d))
            }
            5 | 6 if units > 1 => {
                let from = unit * (1 + self.below(units as usize - 1) as u32);
                let e = self.expr(Sort::Bv(from), d);
                if self.below(2) == 0 { Expr::Zext(width, e) } else { Expr::Sext(width, e) }
            }
            _ => Expr::Bin(BINARY[self.below(13)], self.expr(sort, d), self.expr(sort, d)),
        }
    }

    fn integer(&mut self, d: u32) -> Expr {
        let i = Sort::Int;
        let k = [1, 2, 3, -1, -2, 5, 0][self.below(7)];
        let divisor = if k == 0 { -3 } else { k };
        match self.below(9) {
            0 | 1 => Expr::Ite(self.expr(Sort::Bool, d), self.expr(i, d), self.expr(i, d)),
            2 => Expr::IntAdd(self.many(i, d)),
            3 => Expr::IntSub(self.expr(i, d), self.expr(i, d)),
            4 => Expr::IntNeg(self.expr(i, d)),
            5 => Expr::IntScale(k, self.expr(i, d)),
            6 => Expr::IntMul(self.expr(i, d), self.expr(i, d)),
            7 => Expr::IntDiv(self.expr(i, d), divisor),
            _ => Expr::IntMod(self.expr(i, d), divisor),
        }
    }
}

/// Values for the variables: `bits` for all bit-vectors (cut to the width), and the others.
#[derive(Clone, Debug)]
pub(crate) struct Env {
    pub(crate) bools: [bool; VARS],
    pub(crate) bits: [u8; VARS],
    pub(crate) ints: [i8; VARS],
}

impl Env {
    pub(crate) fn get(&self, sort: Sort, i: usize) -> Value {
        match sort {
            Sort::Bool => Value::Bool(self.bools[i]),
            // The byte in all bytes, so that the extremes are extreme at each width.
            Sort::Bv(width) => {
                Value::Bv { width, bits: (u128::from(self.bits[i]) * 0x0101_0101_0101_0101) & ((1 << width) - 1) }
            }
            Sort::Int => Value::Int(i128::from(self.ints[i])),
            Sort::Array { index, element } => {
                let cell = |at: u128| u128::from(self.bits[i]).wrapping_mul(at + 1) >> (at % 3);
                let array = ArrayValue::constant(index, element, cell(7));
                Value::Array((0..1 << index.min(4)).fold(array, |array, at| array.with(at, cell(at))))
            }
        }
    }
}

pub(crate) fn var_name(sort: Sort, i: usize) -> String {
    format!("{sort}_{i}")
}

/// The value of an instance named by [`var_name`].
pub(crate) fn env_value(terms: &Terms, env: &Env, sym: crate::term::SymId) -> Value {
    let sort = terms.symbol_sort(sym);
    let i = (0..VARS).find(|&i| var_name(sort, i) == terms.symbol_name(sym)).expect("names come from var_name");
    env.get(sort, i)
}

/// A number of a width: the bits as a vector, least significant first.
fn to_bits(width: u32, v: u128) -> Vec<bool> {
    (0..width).map(|i| v >> i & 1 == 1).collect()
}

fn from_bits(bits: &[bool]) -> u128 {
    bits.iter().rev().fold(0, |v, &b| v << 1 | u128::from(b))
}

fn negate(width: u32, v: u128) -> u128 {
    let modulus = 1u128 << width;
    (modulus - v) % modulus
}

fn udiv(width: u32, a: u128, b: u128) -> u128 {
    a.checked_div(b).unwrap_or((1 << width) - 1)
}

fn urem(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { a % b }
}

/// SMT-LIB defines the signed operators by case distinction on the sign bits.
fn sdiv(width: u32, a: u128, b: u128) -> u128 {
    let negative = |v: u128| v >> (width - 1) == 1;
    match (negative(a), negative(b)) {
        (false, false) => udiv(width, a, b),
        (true, false) => negate(width, udiv(width, negate(width, a), b)),
        (false, true) => negate(width, udiv(width, a, negate(width, b))),
        (true, true) => udiv(width, negate(width, a), negate(width, b)),
    }
}

fn srem(width: u32, a: u128, b: u128) -> u128 {
    let negative = |v: u128| v >> (width - 1) == 1;
    match (negative(a), negative(b)) {
        (false, false) => urem(a, b),
        (true, false) => negate(width, urem(negate(width, a), b)),
        (false, true) => urem(a, negate(width, b)),
        (true, true) => negate(width, urem(negate(width, a), negate(width, b))),
    }
}

fn shift(op: BvBin, width: u32, a: u128, by: u128) -> u128 {
    let mut bits = to_bits(width, a);
    let fill = op == BvBin::Ashr && bits[width as usize - 1];
    for _ in 0..by.min(u128::from(width)) {
        if op == BvBin::Shl {
            bits.insert(0, false);
            bits.pop();
        } else {
            bits.remove(0);
            bits.push(fill);
        }
    }
    from_bits(&bits)
}

fn binary(op: BvBin, width: u32, a: u128, b: u128) -> u128 {
    let modulus = 1u128 << width;
    match op {
        BvBin::Add => (a + b) % modulus,
        BvBin::Sub => (a + modulus - b) % modulus,
        BvBin::Mul => a * b % modulus,
        BvBin::Udiv => udiv(width, a, b),
        BvBin::Sdiv => sdiv(width, a, b),
        BvBin::Urem => urem(a, b),
        BvBin::Srem => srem(width, a, b),
        BvBin::Shl | BvBin::Lshr | BvBin::Ashr => shift(op, width, a, b),
        BvBin::And => a & b,
        BvBin::Or => a | b,
        BvBin::Xor => a ^ b,
    }
}

/// The two's complement value plus half the range, which orders like the signed value.
fn biased(width: u32, v: u128) -> u128 {
    (v + (1 << (width - 1))) % (1 << width)
}

impl Expr {
    pub(crate) fn eval(&self, env: &Env) -> Value {
        let truth = |e: &Expr| e.eval(env).as_bool().unwrap();
        let bits = |e: &Expr| match e.eval(env) {
            Value::Bv { width, bits } => (width, bits),
            other => panic!("{other}"),
        };
        let int = |e: &Expr| match e.eval(env) {
            Value::Int(v) => v,
            other => panic!("{other}"),
        };
        let bv = |width: u32, bits: u128| Value::Bv { width, bits };
        match self {
            Expr::Const(v) => v.clone(),
            Expr::Var(sort, i) => env.get(*sort, *i),
            Expr::Not(a) => Value::Bool(!truth(a)),
            Expr::And(xs) => Value::Bool(!xs.iter().any(|x| !truth(x))),
            Expr::Or(xs) => Value::Bool(xs.iter().any(|x| truth(x))),
            Expr::Implies(a, b) => Value::Bool(!truth(a) || truth(b)),
            Expr::Iff(a, b) => Value::Bool(truth(a) == truth(b)),
            Expr::Xor(a, b) => Value::Bool(truth(a) != truth(b)),
            Expr::Ite(c, a, b) => {
                if truth(c) {
                    a.eval(env)
                } else {
                    b.eval(env)
                }
            }
            Expr::Eq(a, b) => Value::Bool(a.eval(env) == b.eval(env)),
            Expr::Ne(a, b) => Value::Bool(a.eval(env) != b.eval(env)),
            Expr::Un(BvUn::Neg, a) => bv(bits(a).0, negate(bits(a).0, bits(a).1)),
            Expr::Un(BvUn::Not, a) => bv(bits(a).0, (1 << bits(a).0) - 1 - bits(a).1),
            Expr::Bin(op, a, b) => bv(bits(a).0, binary(*op, bits(a).0, bits(a).1, bits(b).1)),
            Expr::Cmp(op, a, b) => {
                let ((width, x), (_, y)) = (bits(a), bits(b));
                Value::Bool(match op {
                    BvCmp::Ult => x < y,
                    BvCmp::Ule => x <= y,
                    BvCmp::Slt => biased(width, x) < biased(width, y),
                    BvCmp::Sle => biased(width, x) <= biased(width, y),
                })
            }
            Expr::Extract(hi, lo, a) => {
                let (width, v) = bits(a);
                bv(hi - lo + 1, from_bits(&to_bits(width, v)[*lo as usize..=*hi as usize]))
            }
            Expr::Zext(width, a) => bv(*width, bits(a).1),
            Expr::Sext(width, a) => {
                let (small, v) = bits(a);
                let mut all = to_bits(small, v);
                let sign = all[small as usize - 1];
                all.resize(*width as usize, sign);
                bv(*width, from_bits(&all))
            }
            Expr::IntAdd(xs) => Value::Int(xs.iter().map(|x| int(x)).sum()),
            Expr::IntSub(a, b) => Value::Int(int(a) - int(b)),
            Expr::IntNeg(a) => Value::Int(-int(a)),
            Expr::IntScale(k, a) => Value::Int(k * int(a)),
            Expr::IntMul(a, b) => Value::Int(int(a) * int(b)),
            Expr::IntDiv(a, k) => Value::Int(floor_div(int(a), k.abs()) * k.signum()),
            Expr::IntMod(a, k) => Value::Int(int(a) - floor_div(int(a), k.abs()) * k.abs()),
            Expr::IntLe(a, b) => Value::Bool(int(a) <= int(b)),
            Expr::IntLt(a, b) => Value::Bool(int(a) < int(b)),
            Expr::Concat(a, b) => {
                let ((high, x), (low, y)) = (bits(a), bits(b));
                bv(high + low, from_bits(&[to_bits(low, y), to_bits(high, x)].concat()))
            }
            Expr::ConstArray(index, a) => Value::Array(ArrayValue::constant(*index, bits(a).0, bits(a).1)),
            Expr::Select(a, i) => match a.eval(env) {
                Value::Array(a) => bv(a.element_width(), a.get(bits(i).1)),
                other => panic!("{other}"),
            },
            Expr::Store(a, i, v) => match a.eval(env) {
                Value::Array(a) => Value::Array(a.with(bits(i).1, bits(v).1)),
                other => panic!("{other}"),
            },
            Expr::FpNeg(a) => bv(bits(a).0, bits(a).1 ^ 1 << (bits(a).0 - 1)),
            Expr::FpAbs(a) => bv(bits(a).0, bits(a).1 & !(1 << (bits(a).0 - 1))),
            Expr::FpBin(op, a, b) => {
                let ((width, x), (_, y)) = (bits(a), bits(b));
                bv(width, float_binary(*op, width, x, y))
            }
            Expr::FpCmp(op, a, b) => {
                let ((width, x), (_, y)) = (bits(a), bits(b));
                let (x, y) = (number(width, x), number(width, y));
                Value::Bool(match op {
                    FpCmp::Eq => x == y,
                    FpCmp::Lt => x < y,
                    FpCmp::Le => x <= y,
                })
            }
            Expr::FpUn(op, a) => float_unary(*op, bits(a).0, bits(a).1),
        }
    }

    pub(crate) fn build(&self, t: &mut Terms) -> TermId {
        let mut all = |xs: &[Rc<Expr>]| -> Vec<TermId> { xs.iter().map(|x| x.build(t)).collect() };
        match self {
            Expr::Const(v) => t.value(v.clone()),
            Expr::Var(sort, i) => {
                let sym = t.symbol(&var_name(*sort, *i), *sort);
                t.var(sym, 0)
            }
            Expr::And(xs) => {
                let xs = all(xs);
                t.and_all(&xs)
            }
            Expr::Or(xs) => {
                let xs = all(xs);
                t.or_all(&xs)
            }
            Expr::IntAdd(xs) => {
                let xs = all(xs);
                t.int_sum(&xs)
            }
            Expr::Ite(c, a, b) => {
                let (c, a, b) = (c.build(t), a.build(t), b.build(t));
                t.ite(c, a, b)
            }
            Expr::Store(a, i, v) => {
                let (a, i, v) = (a.build(t), i.build(t), v.build(t));
                t.store(a, i, v)
            }
            Expr::ConstArray(..) | Expr::FpUn(..) | Expr::FpNeg(_) | Expr::FpAbs(_) => self.build_unary(t),
            Expr::Not(a)
            | Expr::Un(_, a)
            | Expr::Extract(_, _, a)
            | Expr::Zext(_, a)
            | Expr::Sext(_, a)
            | Expr::IntNeg(a)
            | Expr::IntScale(_, a)
            | Expr::IntDiv(a, _)
            | Expr::IntMod(a, _) => {
                let a = a.build(t);
                match self {
                    Expr::Not(_) => t.not(a),
                    Expr::Un(op, _) => t.bv_un(*op, a),
                    Expr::Extract(hi, lo, _) => t.extract(*hi, *lo, a),
                    Expr::Zext(width, _) => t.zext(*width, a),
                    Expr::Sext(width, _) => t.sext(*width, a),
                    Expr::IntNeg(_) => t.int_neg(a),
                    Expr::IntScale(k, _) => t.int_mul_const(*k, a),
                    Expr::IntDiv(_, k) => t.int_div(a, *k),
                    Expr::IntMod(_, k) => t.int_mod(a, *k),
                    _ => unreachable!("listed above"),
                }
            }
            Expr::Implies(a, b)
            | Expr::Iff(a, b)
            | Expr::Xor(a, b)
            | Expr::Eq(a, b)
            | Expr::Ne(a, b)
            | Expr::Bin(_, a, b)
            | Expr::Cmp(_, a, b)
            | Expr::IntSub(a, b)
            | Expr::IntMul(a, b)
            | Expr::IntLe(a, b)
            | Expr::IntLt(a, b)
            | Expr::Concat(a, b)
            | Expr::Select(a, b)
            | Expr::FpBin(_, a, b)
            | Expr::FpCmp(_, a, b) => {
                let (a, b) = (a.build(t), b.build(t));
                match self {
                    Expr::Implies(..) => t.implies(a, b),
                    Expr::Iff(..) => t.iff(a, b),
                    Expr::Xor(..) => t.xor(a, b),
                    Expr::Eq(..) => t.eq(a, b),
                    Expr::Ne(..) => t.ne(a, b),
                    Expr::Bin(op, ..) => t.bv_bin(*op, a, b),
                    Expr::Cmp(op, ..) => t.bv_cmp(*op, a, b),
                    Expr::IntSub(..) => t.int_sub(a, b),
                    Expr::IntMul(..) => t.int_mul(a, b),
                    Expr::IntLe(..) => t.int_le(a, b),
                    Expr::IntLt(..) => t.int_lt(a, b),
                    Expr::Concat(..) => t.concat(a, b),
                    Expr::Select(..) => t.select(a, b),
                    Expr::FpBin(op, ..) => t.fp_bin(*op, a, b),
                    Expr::FpCmp(op, ..) => t.fp_cmp(*op, a, b),
                    _ => unreachable!("listed above"),
                }
            }
        }
    }
}

impl Expr {
    fn build_unary(&self, t: &mut Terms) -> TermId {
        match self {
            Expr::ConstArray(index, a) => {
                let a = a.build(t);
                t.const_array(*index, a)
            }
            Expr::FpUn(op, a) => {
                let a = a.build(t);
                t.fp_un(*op, a)
            }
            Expr::FpNeg(a) => {
                let a = a.build(t);
                t.fp_neg(a)
            }
            Expr::FpAbs(a) => {
                let a = a.build(t);
                t.fp_abs(a)
            }
            _ => unreachable!("the caller has one of these"),
        }
    }
}

fn floor_div(a: i128, k: i128) -> i128 {
    let q = a / k;
    if a % k < 0 { q - 1 } else { q }
}
