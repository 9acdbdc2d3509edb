// SPDX-License-Identifier: Apache-2.0
//! Which objects a value may point into, and where: a flow-insensitive analysis of the whole program.
//!
//! A value is abstracted by a class of objects (or none, for values that come from no address) and the congruence of its
//! distance from the object's start. Classes are united when a value may point into both, as in Steensgaard, *Points-to
//! Analysis in Almost Linear Time*; copies keep their direction. A class is divided into fields, which are ranges of
//! distances modulo its stride: compare Miné, *Field-Sensitive Value Analysis of Embedded C Programs with Union Types and
//! Pointer Arithmetics*. Everything only grows, or is united, until nothing changes.

use rustc_hash::FxHashMap;

use crate::exprs::Exprs;
use crate::ids::{ExprId, VarId};
use crate::ir::{BinOp, CmpOp, Edge, ExprKind, Function, HavocOrigin, IntTy, Object, Op, UnOp, Var};

use super::congruence::{Congruence, gcd};

/// How often the program is looked through before nothing is said about it; a few times are usual.
const MAX_ROUNDS: usize = 1000;

/// What a variable or field may hold. If some of its values come from addresses, nothing is said about the others:
/// these are not used as addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Value {
    /// The class of the objects that it may point into.
    class: Option<usize>,
    /// The distance from the start of the object, or the value itself; none if there is no value at all.
    at: Option<Congruence>,
    /// Whether it may be a number from outside.
    input: bool,
    /// Whether it may be a number other than 0 that comes from no address.
    number: bool,
}

impl Value {
    const NONE: Value = Value { class: None, at: None, input: false, number: false };

    fn number(at: Congruence) -> Self {
        Value { class: None, at: Some(at), input: false, number: at != Congruence::ZERO }
    }

    fn somewhere(self) -> Self {
        Value { at: self.at.map(|_| Congruence::ANY), ..self }
    }
}

/// A range of distances that is accessed.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) start: i64,
    pub(super) end: i64,
    /// Whether all accesses are of the whole range.
    pub(super) uniform: bool,
    pub(super) loaded: bool,
    content: Value,
}

/// A class of objects that pointers do not tell apart.
#[derive(Clone, Default, Debug)]
pub(super) struct Class {
    /// The distances of all accesses are known modulo this; 0 if they are known exactly.
    pub(super) stride: u64,
    /// Ranges without common bytes.
    pub(super) fields: Vec<Field>,
}

/// The parts of a program that the analysis reads.
#[derive(Clone, Copy)]
pub(super) struct Parts<'p> {
    pub(super) exprs: &'p Exprs,
    pub(super) objects: &'p [Object],
    pub(super) vars: &'p [Var],
    pub(super) funcs: &'p [Function],
    pub(super) pointer_bits: u32,
}

pub(super) struct PointsTo<'p> {
    program: Parts<'p>,
    parent: Vec<usize>,
    classes: Vec<Class>,
    values: Vec<Value>,
    /// The class of the object that an edge makes.
    made: FxHashMap<usize, usize>,
    /// Values that flow into the field of a class at a distance.
    deferred: Vec<(usize, i64, Value)>,
    changed: bool,
    /// Whether addresses that have no value by now never get one, so that nothing is known of them.
    settled: bool,
    /// Whether addresses may point anywhere: some number from outside is used as one.
    pub(super) wild: bool,
}

impl<'p> PointsTo<'p> {
    /// Analyses the operations of some edges. The class of an object with a fixed address has its number at first.
    pub(super) fn new(program: Parts<'p>, edges: &[(usize, &Edge)]) -> Self {
        let count = program.objects.len();
        let mut analysis = PointsTo {
            program,
            parent: (0..count).collect(),
            classes: vec![Class::default(); count],
            values: vec![Value::NONE; program.vars.len()],
            made: FxHashMap::default(),
            deferred: Vec::new(),
            changed: true,
            settled: false,
            wild: false,
        };
        for (at, edge) in edges {
            if let Op::Alloc { .. } = edge.op {
                analysis.made.insert(*at, analysis.parent.len());
                analysis.parent.push(analysis.parent.len());
                analysis.classes.push(Class::default());
            }
        }
        for _ in 0..MAX_ROUNDS {
            if !std::mem::take(&mut analysis.changed) && std::mem::replace(&mut analysis.settled, true) {
                return analysis;
            }
            for (at, edge) in edges {
                analysis.edge(*at, &edge.op);
            }
        }
        analysis.wild = true;
        analysis
    }

    pub(super) fn find(&self, mut class: usize) -> usize {
        while self.parent[class] != class {
            class = self.parent[class];
        }
        class
    }

    pub(super) fn class(&self, class: usize) -> &Class {
        &self.classes[self.find(class)]
    }

    /// The class of the object that an edge makes.
    pub(super) fn made_by(&self, edge: usize) -> Option<usize> {
        self.made.get(&edge).map(|class| self.find(*class))
    }

    /// The class and the start of the field of an access; none if the address comes from no object.
    pub(super) fn access(&mut self, addr: ExprId, bytes: u32) -> Option<(usize, i64)> {
        let value = self.value(addr);
        let Some(class) = value.class else {
            // What flows into it may still be found to come from an address.
            self.wild |= value.input && self.settled;
            return None;
        };
        let at = value.at.or(self.settled.then_some(Congruence::ANY))?;
        let start = self.divide(class, at, bytes);
        self.settle();
        Some((self.find(class), start))
    }

    /// The class that an address points into.
    pub(super) fn pointed(&mut self, addr: ExprId) -> Option<usize> {
        self.value(addr).class.map(|class| self.find(class))
    }

    /// Whether an address is a number from outside of which nothing says that it is the address of an object.
    pub(super) fn is_foreign(&mut self, addr: ExprId) -> bool {
        let value = self.value(addr);
        value.class.is_none() && value.input
    }

    /// The class that an address points into, if all its values but 0 are addresses or computed from them.
    pub(super) fn address(&mut self, id: ExprId) -> Option<usize> {
        let value = self.value(id);
        value.class.filter(|_| !value.number).map(|class| self.find(class))
    }

    fn edge(&mut self, at: usize, op: &Op) {
        match op {
            Op::Skip | Op::Unsupported { .. } | Op::Free { .. } | Op::Zero { .. } => {}
            Op::Assume { cond, .. } => self.compare(*cond),
            Op::Assign { var, value } => {
                let value = self.value(*value);
                self.assign(*var, value);
            }
            Op::Havoc { var, origin } => {
                let input = *origin != HavocOrigin::Uninitialised;
                self.assign(*var, Value { input, number: input, ..Value::number(Congruence::ANY) });
            }
            Op::Call { callee, args, result } => {
                let callee = &self.program.funcs[callee.index()];
                for (param, arg) in callee.params.iter().zip(args) {
                    let value = self.value(*arg);
                    self.assign(*param, value);
                }
                if let (Some(result), Some(ret)) = (result, callee.ret) {
                    self.assign(*result, self.values[ret.index()]);
                }
            }
            Op::Load { var, addr, .. } => {
                let bits = self.program.vars[var.index()].ty.bits;
                let Some((class, start)) = self.access(*addr, bits / 8) else {
                    // Its address may still be found.
                    return self.assign(*var, Value { number: false, ..Value::number(Congruence::ANY) });
                };
                let at = self.locate(class, start);
                let field = &mut self.classes[class].fields[at];
                self.changed |= !field.loaded;
                field.loaded = true;
                let value = field.content;
                // Numbers in memory may come from storage that nobody wrote, and parts of addresses are no addresses.
                let exact = value.class.is_some() && bits >= self.program.pointer_bits;
                let value = Value { at: Some(Congruence::ANY), ..value };
                let content = self.classes[class].fields[at].content;
                self.assign(*var, if exact { content } else { value });
            }
            Op::Store { addr, value, .. } => {
                let bytes = self.program.exprs.ty(*value).bits / 8;
                let value = self.value(*value);
                if let Some((class, start)) = self.access(*addr, bytes) {
                    self.deferred.push((class, start, value));
                    self.settle();
                }
            }
            Op::Alloc { var, .. } => {
                let class = Some(self.made[&at]);
                self.assign(*var, Value { class, at: Some(Congruence::ZERO), ..Value::NONE });
            }
        }
    }

    /// A number from outside that is compared with an address may be that address.
    fn compare(&mut self, cond: ExprId) {
        let ExprKind::Cmp(CmpOp::Eq | CmpOp::Ne, left, right) = self.program.exprs.get(cond).kind else { return };
        for (one, other) in [(left, right), (right, left)] {
            let address = self.value(other);
            if address.class.is_none() {
                continue;
            }
            for var in self.program.exprs.vars(one) {
                let value = self.values[var.index()];
                if value.class.is_none() && value.input {
                    self.assign(var, address.somewhere());
                }
            }
        }
    }

    fn assign(&mut self, var: VarId, value: Value) {
        // A number may have wrapped around on its way; a distance within an object has not.
        let value = match value.class {
            None => Value { at: value.at.map(Congruence::wrapped), ..value },
            Some(_) => value,
        };
        let old = self.values[var.index()];
        let new = self.join(old, value);
        if new != old {
            self.values[var.index()] = new;
            self.changed = true;
        }
        self.settle();
    }

    fn join(&mut self, a: Value, b: Value) -> Value {
        match (a.class, b.class) {
            (Some(_), None) => {
                Value { class: a.class.map(|class| self.find(class)), number: a.number || b.number, ..a }
            }
            (None, Some(_)) => {
                Value { class: b.class.map(|class| self.find(class)), number: a.number || b.number, ..b }
            }
            (class, other) => {
                let at = match (a.at, b.at) {
                    (Some(a), Some(b)) => Some(a.join(b)),
                    (a, b) => a.or(b),
                };
                let (input, number) = (a.input || b.input, a.number || b.number);
                Value { class: self.united(class, other), at, input, number }
            }
        }
    }

    /// Unites two classes, if there are two.
    fn united(&mut self, a: Option<usize>, b: Option<usize>) -> Option<usize> {
        let (Some(a), Some(b)) = (a, b) else { return a.or(b).map(|class| self.find(class)) };
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.changed = true;
            self.parent[b] = a;
            let from = std::mem::take(&mut self.classes[b]);
            let stride = gcd(i128::from(self.classes[a].stride), i128::from(from.stride));
            self.set_stride(a, u64::try_from(stride).expect("not greater than the strides"));
            for field in from.fields {
                self.insert(a, field);
            }
        }
        Some(a)
    }

    /// Makes sure that a range of bytes lies within one field; gives the field's start.
    fn divide(&mut self, class: usize, at: Congruence, bytes: u32) -> i64 {
        let class = self.find(class);
        let stride = gcd(i128::from(self.classes[class].stride), i128::from(at.modulus));
        let stride = u64::try_from(stride).expect("not greater than the operands");
        self.set_stride(class, stride);
        let start = if stride == 0 { at.remainder } else { at.remainder.rem_euclid(stride as i64) };
        let end = start + i64::from(bytes);
        self.insert(class, Field { start, end, uniform: true, loaded: false, content: Value::NONE })
    }

    fn set_stride(&mut self, class: usize, stride: u64) {
        if self.classes[class].stride != stride {
            self.changed = true;
            self.classes[class].stride = stride;
            for field in std::mem::take(&mut self.classes[class].fields) {
                self.insert(class, field);
            }
        }
    }

    /// Adds a range of bytes, which is united with all fields that it meets; gives the start of the whole.
    fn insert(&mut self, class: usize, mut field: Field) -> i64 {
        let Class { stride, fields } = &mut self.classes[class];
        if *stride != 0 {
            let stride = *stride as i64;
            let length = field.end - field.start;
            field.start = field.start.rem_euclid(stride);
            field.end = field.start + length;
            if field.end > stride {
                (field.start, field.end, field.uniform) = (0, stride, false);
            }
        }
        let mut contents = vec![field.content];
        let mut met = None;
        while let Some(at) = fields.iter().position(|other| other.start < field.end && field.start < other.end) {
            let other = fields.swap_remove(at);
            field.uniform &= other.uniform && (other.start, other.end) == (field.start, field.end);
            field.start = field.start.min(other.start);
            field.end = field.end.max(other.end);
            field.loaded |= other.loaded;
            contents.push(other.content);
            met = Some(if met.is_none() { Some(other) } else { None });
        }
        // Nothing is new if the range lies in one field that is as it was.
        let same = |other: &Field| {
            (other.start, other.end, other.uniform, other.loaded)
                == (field.start, field.end, field.uniform, field.loaded)
        };
        self.changed |= !met.flatten().as_ref().is_some_and(same);
        field.content = contents.pop().expect("there is at least its own");
        let start = field.start;
        fields.push(field);
        self.deferred.extend(contents.into_iter().map(|value| (class, start, value)));
        start
    }

    /// The field of a class at a distance.
    pub(super) fn locate(&self, class: usize, start: i64) -> usize {
        let Class { stride, fields } = &self.classes[class];
        let start = if *stride == 0 { start } else { start.rem_euclid(*stride as i64) };
        fields.iter().position(|field| field.start <= start && start < field.end).expect("fields are never taken away")
    }

    /// Lets the deferred values flow into their fields.
    fn settle(&mut self) {
        while let Some((class, start, value)) = self.deferred.pop() {
            let class = self.find(class);
            let old = self.classes[class].fields[self.locate(class, start)].content;
            let new = self.join(old, value);
            if new != old {
                self.changed = true;
                // The class may have become part of another one.
                let class = self.find(class);
                let at = self.locate(class, start);
                let content = self.classes[class].fields[at].content;
                if content == old {
                    self.classes[class].fields[at].content = new;
                } else {
                    self.deferred.push((class, start, new));
                }
            }
        }
    }

    /// The abstraction of the value of an expression. Recursion is fine: the lowering bounds the depth of expressions.
    fn value(&mut self, id: ExprId) -> Value {
        let expr = self.program.exprs.get(id);
        let any = Value::number(Congruence::ANY);
        match expr.kind {
            ExprKind::Const(value) => self.constant(value, expr.ty),
            ExprKind::Var(var) => self.values[var.index()],
            ExprKind::Unary(op, arg) => {
                let value = self.value(arg);
                match (op, value.class) {
                    (UnOp::Neg, None) => Value { at: value.at.map(Congruence::negated), ..value },
                    _ => value.somewhere(),
                }
            }
            ExprKind::Binary(op, left, right) => {
                let (a, b) = (self.value(left), self.value(right));
                self.binary(op, a, b, right)
            }
            ExprKind::Ite(_, yes, no) => {
                let (a, b) = (self.value(yes), self.value(no));
                self.join(a, b)
            }
            ExprKind::Cast(arg) => {
                let value = self.value(arg);
                let (from, to) = (self.program.exprs.ty(arg), expr.ty);
                match value.class {
                    Some(_) if to.bits < self.program.pointer_bits => value.somewhere(),
                    Some(_) => value,
                    None => Value { at: value.at.map(|at| converted(at, from, to)), ..value },
                }
            }
            ExprKind::Cmp(..) | ExprKind::Not(_) | ExprKind::And(..) | ExprKind::Or(..) | ExprKind::FloatCmp(..) => any,
            ExprKind::Float(_, _, left, right) => {
                let (a, b) = (self.value(left), self.value(right));
                Value { class: self.united(a.class, b.class), input: a.input || b.input, ..any }
            }
            ExprKind::FloatFn(_, _, arg)
            | ExprKind::FloatFromInt(_, arg)
            | ExprKind::FloatToInt(_, arg)
            | ExprKind::FloatToFloat(_, arg) => Value { at: any.at, ..self.value(arg) },
        }
    }

    /// A constant in the range of an object is its address; between two objects it may belong to either.
    fn constant(&mut self, value: i128, ty: IntTy) -> Value {
        let number = Value::number(Congruence::constant(IntTy { bits: ty.bits, signed: true }.wrap(value)));
        if ty.bits < self.program.pointer_bits {
            return number;
        }
        let objects = self.program.objects;
        let address = if value < 0 { value + (1i128 << ty.bits) } else { value };
        let behind = objects.partition_point(|object| i128::from(object.addr) <= address);
        let end = objects.last().map_or(0, |object| i128::from(object.addr + object.size) + 16);
        let Some(at) = behind.checked_sub(1).filter(|_| address < end) else { return number };
        let object = &objects[at];
        let distance = address - i128::from(object.addr);
        if distance <= i128::from(object.size) {
            return Value { class: Some(self.find(at)), at: Some(Congruence::constant(distance)), ..Value::NONE };
        }
        let class = self.united(Some(at), Some(behind).filter(|next| *next < objects.len()));
        Value { class, at: Some(Congruence::ANY), ..Value::NONE }
    }

    fn binary(&mut self, op: BinOp, a: Value, b: Value, right: ExprId) -> Value {
        let constant = self.program.exprs.as_const(right);
        let both = a.class.is_some() && b.class.is_some();
        let class = self.united(a.class, b.class);
        // What is computed from an address and a number comes from the address.
        let number = match (a.class, b.class) {
            (Some(_), None) => a.number,
            (None, Some(_)) => b.number,
            _ => a.number || b.number,
        };
        let combined = |at: Congruence| Value { class, at: Some(at), input: a.input || b.input, number };
        let (Some(x), Some(y)) = (a.at, b.at) else { return Value { class, ..Value::NONE } };
        match op {
            BinOp::Add if !both => combined(x.add(y)),
            BinOp::Sub if !both && b.class.is_none() => combined(x.add(y.negated())),
            // The distance of two addresses in one class.
            BinOp::Sub if both => Value::number(Congruence::ANY),
            BinOp::Mul if class.is_none() => combined(x.mul(y)),
            BinOp::Shl if class.is_none() && constant.is_some_and(|by| (0..32).contains(&by)) => {
                combined(x.mul(Congruence::constant(1 << constant.unwrap_or(0))))
            }
            // Objects begin at multiples of 16.
            BinOp::BitAnd if constant.is_some_and(|mask| mask != 0) => {
                let zeros = constant.unwrap_or(1).trailing_zeros().min(4);
                combined(Congruence::new(1 << zeros, 0))
            }
            _ => combined(Congruence::ANY),
        }
    }
}

/// What is known of a number after a conversion between integer types.
fn converted(at: Congruence, from: IntTy, to: IntTy) -> Congruence {
    let keeps = to.bits == from.bits || (to.bits > from.bits && at.modulus == 0 && (from.signed || at.remainder >= 0));
    if keeps {
        return at;
    }
    let bits = to.bits.min(from.bits);
    Congruence::new(gcd(i128::from(at.modulus), 1i128 << bits), i128::from(at.remainder))
}
