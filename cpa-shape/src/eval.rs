// SPDX-License-Identifier: Apache-2.0
//! Values of expressions: numbers, addresses relative to objects, and ranges of what is not known.

use cfa::bounds::binary_bounds;
use cfa::eval::{binary_value, cmp_value, unary_value};
use cfa::{BinOp, CmpOp, ExprId, ExprKind, IntTy, MARGIN, Program, VarId, floats};

use crate::cpa::ShapeOptions;
use crate::graph::{End, Graph, Kind, ObjectId, Pointer, Symbol, Value};
use crate::range::Range;

/// Bigger expressions, as trees, are not looked into.
const BIG: u32 = 4096;

/// What an expression is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Computed {
    Value(Value),
    /// Some number of a range.
    Among(Range),
    /// Some number between two sums with an unknown number, which are in the range of the type.
    Near(Near),
}

/// An unknown number plus at least and at most other numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Near {
    pub(crate) symbol: Symbol,
    pub(crate) low: i128,
    pub(crate) high: i128,
}

impl Computed {
    /// An unknown number, or what is near one.
    pub(crate) fn near(&self) -> Option<Near> {
        match self {
            Computed::Value(Value::Unknown(symbol)) => Some(Near { symbol: *symbol, low: 0, high: 0 }),
            Computed::Near(near) => Some(*near),
            Computed::Value(_) | Computed::Among(_) => None,
        }
    }
}

impl From<bool> for Computed {
    fn from(truth: bool) -> Self {
        Computed::Value(Value::Int(i128::from(truth)))
    }
}

/// Evaluation in a graph, where variables whose values are not known get symbols.
pub(crate) struct Eval<'a> {
    pub(crate) program: &'a Program,
    pub(crate) sizes: &'a [u32],
    pub(crate) options: ShapeOptions,
    pub(crate) graph: &'a mut Graph,
}

impl Eval<'_> {
    /// The value of an expression.
    pub(crate) fn eval(&mut self, id: ExprId) -> Computed {
        if self.sizes[id.index()] > BIG {
            Computed::Among(Range::of(self.program.exprs.ty(id)))
        } else {
            self.compute(id)
        }
    }

    /// The value of an expression, with a symbol if it is not known.
    pub(crate) fn value(&mut self, id: ExprId) -> Value {
        match self.eval(id) {
            Computed::Value(value) => value,
            Computed::Among(range) => self.graph.unknown(range),
            Computed::Near(Near { symbol, low, high }) => {
                let range = self.near_range(symbol, low, high);
                let value = self.graph.unknown(range);
                if let Value::Unknown(new) = value {
                    self.graph.learn_at_most(symbol, low, new);
                    self.graph.learn_at_most(new, -high, symbol);
                }
                value
            }
        }
    }

    fn near_range(&self, symbol: Symbol, low: i128, high: i128) -> Range {
        let range = self.graph.range(symbol);
        Range::between(range.low() + low, range.high() + high).expect("the bounds are in order")
    }

    /// The value of a variable.
    pub(crate) fn var(&mut self, var: VarId) -> Value {
        if let Some(value) = self.graph.vars.get(&var) {
            return *value;
        }
        let value = self.graph.unknown(Range::of(self.program.var(var).ty));
        self.graph.vars.insert(var, value);
        value
    }

    /// The numbers that a value may be; addresses may be any.
    pub(crate) fn range(&self, result: &Computed) -> Range {
        match result {
            Computed::Among(range) => range.clone(),
            Computed::Near(Near { symbol, low, high }) => self.near_range(*symbol, *low, *high),
            Computed::Value(Value::Int(value)) => Range::point(*value),
            Computed::Value(Value::Unknown(symbol)) => self.graph.range(*symbol).clone(),
            Computed::Value(Value::Pointer(_)) => Range::of(self.program.machine.size_type()),
        }
    }

    // Recursion is fine: the lowering bounds the depth of expressions, and the size is bounded above.
    fn compute(&mut self, id: ExprId) -> Computed {
        let expr = self.program.exprs.get(id);
        let ty = expr.ty;
        match expr.kind {
            ExprKind::Const(value) => Computed::Value(Value::Int(value)),
            ExprKind::Var(var) => Computed::Value(self.var(var)),
            ExprKind::Cast(arg) => {
                let arg = self.compute(arg);
                self.cast(arg, ty)
            }
            ExprKind::Unary(op, arg) => match self.compute(arg) {
                Computed::Value(Value::Int(arg)) => Computed::Value(Value::Int(unary_value(op, ty, arg))),
                _ => Computed::Among(Range::of(ty)),
            },
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.compute(left), self.compute(right));
                self.binary(op, ty, &left, &right)
            }
            ExprKind::Cmp(op, left, right) => {
                let (left, right) = (self.compute(left), self.compute(right));
                self.compare(op, &left, &right).map_or_else(truth_value, Computed::from)
            }
            ExprKind::Not(arg) => self.truth(arg).map_or_else(truth_value, |truth| Computed::from(!truth)),
            ExprKind::And(left, right) => match (self.truth(left), self.truth(right)) {
                (Some(false), _) | (_, Some(false)) => Computed::from(false),
                (Some(true), Some(true)) => Computed::from(true),
                (None, _) | (_, None) => truth_value(),
            },
            ExprKind::Or(left, right) => match (self.truth(left), self.truth(right)) {
                (Some(true), _) | (_, Some(true)) => Computed::from(true),
                (Some(false), Some(false)) => Computed::from(false),
                (None, _) | (_, None) => truth_value(),
            },
            ExprKind::Ite(cond, yes, no) => match self.truth(cond) {
                Some(true) => self.compute(yes),
                Some(false) => self.compute(no),
                None => {
                    let (yes, no) = (self.compute(yes), self.compute(no));
                    if yes == no {
                        return yes;
                    }
                    // A pointer has any address, which the type of the expression bounds.
                    let hull = self.range(&yes).hull(&self.range(&no));
                    Computed::Among(if hull.fits(ty) { hull } else { Range::of(ty) })
                }
            },
            ExprKind::Float(op, float, left, right) => match (self.compute(left), self.compute(right)) {
                (Computed::Value(Value::Int(left)), Computed::Value(Value::Int(right))) => {
                    Computed::Value(Value::Int(floats::binary(op, float, left, right)))
                }
                _ => Computed::Among(Range::of(ty)),
            },
            ExprKind::FloatCmp(op, float, left, right) => match (self.compute(left), self.compute(right)) {
                (Computed::Value(Value::Int(left)), Computed::Value(Value::Int(right))) => {
                    Computed::from(floats::compare(op, float, left, right))
                }
                _ => truth_value(),
            },
            ExprKind::FloatFn(..)
            | ExprKind::FloatFromInt(..)
            | ExprKind::FloatToInt(..)
            | ExprKind::FloatToFloat(..) => Computed::Among(Range::of(ty)),
        }
    }

    fn cast(&self, arg: Computed, ty: IntTy) -> Computed {
        match arg {
            Computed::Value(Value::Int(value)) => Computed::Value(Value::Int(ty.wrap(value))),
            // An address stays one in integers of its width; the sign matters to comparisons only, which do not order addresses
            // of different objects, and to conversions to wider types, which no address survives.
            Computed::Value(Value::Pointer(_)) if ty.bits == self.program.machine.size_type().bits => arg,
            Computed::Value(Value::Unknown(_)) | Computed::Among(_) | Computed::Near(_)
                if self.range(&arg).fits(ty) =>
            {
                arg
            }
            Computed::Value(_) | Computed::Among(_) | Computed::Near(_) => Computed::Among(Range::of(ty)),
        }
    }

    fn binary(&self, op: BinOp, ty: IntTy, left: &Computed, right: &Computed) -> Computed {
        match (op, left, right) {
            (_, Computed::Value(Value::Int(left)), Computed::Value(Value::Int(right))) => {
                match binary_value(op, ty, *left, *right) {
                    Ok(value) => Computed::Value(Value::Int(value)),
                    Err(_) => Computed::Among(Range::of(ty)),
                }
            }
            (BinOp::Add, Computed::Value(Value::Pointer(pointer)), Computed::Value(Value::Int(by)))
            | (BinOp::Add, Computed::Value(Value::Int(by)), Computed::Value(Value::Pointer(pointer))) => {
                self.moved(*pointer, *by, ty)
            }
            (BinOp::Sub, Computed::Value(Value::Pointer(pointer)), Computed::Value(Value::Int(by))) => {
                self.moved(*pointer, -*by, ty)
            }
            (BinOp::Sub, Computed::Value(Value::Pointer(one)), Computed::Value(Value::Pointer(other)))
                if one.object == other.object && one.end == other.end =>
            {
                Computed::Value(Value::Int(ty.wrap(i128::from(one.offset) - i128::from(other.offset))))
            }
            _ if is_pointer(left) || is_pointer(right) => Computed::Among(Range::of(ty)),
            _ => {
                let ranges = [left, right].map(|side| self.range(side)).map(|range| (range.low(), range.high()));
                let mut bounds = binary_bounds(op, ty, ranges[0], ranges[1]);
                if op == BinOp::Sub
                    && let Some(least) = self.least_difference(right, left)
                {
                    bounds = bounds.map(|(low, high)| (low.max(least), high));
                }
                let range = bounds.and_then(|(low, high)| Range::between(low, high)).filter(|range| range.fits(ty));
                let Some(range) = range else { return Computed::Among(Range::of(ty)) };
                // What is known of a difference may be more.
                let near = near(op, [left, right], ranges).filter(|near| self.range(near) == range);
                near.unwrap_or(Computed::Among(range))
            }
        }
    }

    /// By how much a number is at least greater than another one, if that is known.
    fn least_difference(&self, less: &Computed, greater: &Computed) -> Option<i128> {
        let (less, greater) = (less.near()?, greater.near()?);
        let symbols = [less.symbol, greater.symbol].map(Value::Unknown);
        Some(self.graph.distance(symbols[0], symbols[1])? + greater.low - less.high)
    }

    /// A pointer that is moved by some bytes, modulo the size of the address space.
    fn moved(&self, pointer: Pointer, by: i128, ty: IntTy) -> Computed {
        let signed = IntTy { signed: true, ..ty };
        let offset = signed.wrap(i128::from(pointer.offset) + by);
        match i64::try_from(offset) {
            Ok(offset) if ty.bits == self.program.machine.size_type().bits => {
                Computed::Value(Value::Pointer(Pointer { offset, ..pointer }))
            }
            Ok(_) | Err(_) => Computed::Among(Range::of(ty)),
        }
    }

    /// Whether an expression is not zero, if that is known.
    pub(crate) fn truth(&mut self, id: ExprId) -> Option<bool> {
        let result = self.compute(id);
        self.compare(CmpOp::Ne, &result, &Computed::Value(Value::Int(0)))
    }

    /// Whether a comparison holds, if that is known.
    pub(crate) fn compare(&self, op: CmpOp, left: &Computed, right: &Computed) -> Option<bool> {
        if let (Computed::Value(left), Computed::Value(right)) = (left, right) {
            match op {
                CmpOp::Eq | CmpOp::Ne => {
                    if let Some(equal) = self.equal(*left, *right) {
                        return Some(equal == (op == CmpOp::Eq));
                    }
                }
                CmpOp::Lt | CmpOp::Le => {
                    if let (Value::Pointer(left), Value::Pointer(right)) = (left, right) {
                        return self.ordered(op, *left, *right);
                    }
                    if left == right {
                        return Some(op == CmpOp::Le);
                    }
                }
            }
        }
        let [least, opposite] = [(left, right), (right, left)].map(|(less, more)| self.least_difference(less, more));
        let known = |least: Option<i128>, by: i128| least.is_some_and(|least| least >= by);
        let decided_by_order = match op {
            CmpOp::Lt if known(least, 1) => Some(true),
            CmpOp::Lt if known(opposite, 0) => Some(false),
            CmpOp::Le if known(least, 0) => Some(true),
            CmpOp::Le if known(opposite, 1) => Some(false),
            CmpOp::Eq | CmpOp::Ne if known(least, 1) || known(opposite, 1) => Some(op == CmpOp::Ne),
            CmpOp::Eq | CmpOp::Ne if known(least, 0) && known(opposite, 0) => Some(op == CmpOp::Eq),
            _ => None,
        };
        if decided_by_order.is_some() {
            return decided_by_order;
        }
        if is_pointer(left) || is_pointer(right) {
            return None;
        }
        decided(op, &self.range(left), &self.range(right))
    }

    fn equal(&self, left: Value, right: Value) -> Option<bool> {
        match (left, right) {
            (Value::Int(left), Value::Int(right)) => Some(left == right),
            (Value::Pointer(left), Value::Pointer(right)) => {
                if left.object == right.object {
                    if left.end == right.end {
                        return Some(left.offset == right.offset);
                    }
                    return None;
                }
                (self.is_inside(left) && self.is_inside(right)).then_some(false)
            }
            (Value::Pointer(pointer), Value::Int(value)) | (Value::Int(value), Value::Pointer(pointer)) => {
                let elsewhere = value == 0 || fixed_at(self.program, value, 1).is_some();
                (self.is_inside(pointer) && elsewhere).then_some(false)
            }
            (Value::Unknown(left), Value::Unknown(right)) if left == right => Some(true),
            (Value::Unknown(_), Value::Pointer(_)) | (Value::Pointer(_), Value::Unknown(_)) => None,
            (Value::Unknown(_), _) | (_, Value::Unknown(_)) => self.graph.differ(left, right).then_some(false),
        }
    }

    /// The order of addresses in one object.
    fn ordered(&self, op: CmpOp, left: Pointer, right: Pointer) -> Option<bool> {
        let same = left.object == right.object && left.end == right.end;
        (same && self.is_inside(left) && self.is_inside(right))
            .then(|| cmp_value(op, i128::from(left.offset), i128::from(right.offset)))
    }

    /// Whether a pointer is the address of a byte of its object, which is not 0 and no byte of another object.
    fn is_inside(&self, pointer: Pointer) -> bool {
        u64::try_from(pointer.offset).is_ok_and(|offset| offset < self.graph.object(pointer.object).size)
    }
}

pub(crate) fn is_pointer(result: &Computed) -> bool {
    matches!(result, Computed::Value(Value::Pointer(_)))
}

/// The sum or difference of two numbers, which does not overflow, near one of them, the other one's range being smaller.
fn near(op: BinOp, sides: [&Computed; 2], ranges: [(i128, i128); 2]) -> Option<Computed> {
    let [left, right] = sides.map(Computed::near);
    let width = |at: usize| ranges[at].1 - ranges[at].0;
    let moved = |near: Near, low: i128, high: i128| {
        Some(Computed::Near(Near { symbol: near.symbol, low: near.low + low, high: near.high + high }))
    };
    match (op, left, right) {
        (BinOp::Add, left, Some(right)) if left.is_none() || width(0) < width(1) => {
            moved(right, ranges[0].0, ranges[0].1)
        }
        (BinOp::Add, Some(left), _) => moved(left, ranges[1].0, ranges[1].1),
        (BinOp::Sub, Some(left), _) => moved(left, -ranges[1].1, -ranges[1].0),
        (_, _, _) => None,
    }
}

fn truth_value() -> Computed {
    Computed::Among(Range::of(IntTy { bits: 1, signed: false }))
}

/// Whether a comparison holds for all numbers of two ranges, or for none.
fn decided(op: CmpOp, left: &Range, right: &Range) -> Option<bool> {
    match op {
        CmpOp::Eq | CmpOp::Ne => {
            let equal = match (left.value(), right.value()) {
                (Some(left), Some(right)) => Some(left == right),
                (Some(value), None) if !right.contains(value) => Some(false),
                (None, Some(value)) if !left.contains(value) => Some(false),
                _ => left.meet(right).is_none().then_some(false),
            };
            equal.map(|equal| equal == (op == CmpOp::Eq))
        }
        CmpOp::Lt | CmpOp::Le => {
            let always = cmp_value(op, left.high(), right.low());
            let never = !cmp_value(op, left.low(), right.high());
            if always { Some(true) } else { never.then_some(false) }
        }
    }
}

/// The object with a fixed address that an access stays in, by its position in the program, and the offset.
pub(crate) fn fixed_at(program: &Program, addr: i128, bytes: u64) -> Option<(u32, u64)> {
    let addr = u64::try_from(addr).ok()?;
    let position = program.objects.iter().position(|object| {
        let end = addr.checked_add(bytes);
        object.addr <= addr && end.is_some_and(|end| end <= object.addr + object.size)
    })?;
    Some((u32::try_from(position).ok()?, addr - program.objects[position].addr))
}

/// An access: the object and the offset; none if it is to no object that lives, which no other access depends on.
pub(crate) fn place(program: &Program, graph: &Graph, addr: Value, bytes: u64) -> Result<Option<Place>, &'static str> {
    match addr {
        Value::Int(addr) => match fixed_at(program, addr, bytes) {
            Some((number, offset)) => Ok(Some(Place { object: ObjectId::Fixed(number), offset })),
            None if (0..=MARGIN - i128::from(bytes)).contains(&addr) => Ok(None),
            None => Err("an access is outside of all objects"),
        },
        Value::Unknown(_) => Err("the address of an access is not known"),
        Value::Pointer(Pointer { object, end, offset }) => {
            let there = graph.object(object);
            match there.kind {
                Kind::Segment(_) | Kind::Crowd => Err("a segment is accessed"),
                Kind::Single | Kind::Dead => {
                    debug_assert_eq!(end, End::First);
                    match u64::try_from(offset) {
                        Ok(offset) if offset + bytes <= there.size => {
                            Ok((there.kind == Kind::Single).then_some(Place { object, offset }))
                        }
                        Ok(_) | Err(_) => Err("an access may be outside of its object"),
                    }
                }
            }
        }
    }
}

/// Where bytes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) object: ObjectId,
    pub(crate) offset: u64,
}
