// SPDX-License-Identifier: Apache-2.0
//! Ranges of all variables and of memory cells with known addresses: evaluation of expressions, and what conditions say
//! about variables.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cfa::Program;
use cfa::ids::{ExprId, VarId};
use cfa::ir::{CmpOp, ExprKind, FloatTy, IntTy};

use super::affine::{Base, Forms, Kind};
use super::forms::Evaluation;
use super::value::{self, Floats, MayBeUndefined, Range, bits, neighbour, number};

/// The greatest number of bytes of a cell.
const WIDEST: u64 = 8;
/// The greatest number of bytes that become zero together and are kept.
const MOST_ZEROS: i128 = 512;
/// The greatest distance of two addresses between which cells are looked at.
const FARTHEST: u64 = 1 << 14;

/// Inputs that a value depends on, by their positions in the order in which the path asks for them. It only guides the
/// division of inputs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Sources(u64);

impl Sources {
    /// One input; the late ones are not told apart.
    pub(crate) fn input(position: usize) -> Self {
        Sources(1 << position.min(63))
    }

    pub(crate) fn add(&mut self, other: Sources) {
        self.0 |= other.0;
    }

    pub(crate) fn contains(self, position: usize) -> bool {
        self.0 & Sources::input(position).0 != 0
    }
}

/// A set of values with where they come from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Value {
    pub(crate) range: Range,
    pub(crate) sources: Sources,
    /// In all executions of a state what has the same number has the same bits; nothing is known about number 0.
    pub(super) number: u32,
}

impl Value {
    /// A value that depends on no input.
    pub(crate) fn free(range: Range) -> Self {
        Value { range, sources: Sources::default(), number: 0 }
    }
}

/// What is known at one point of a path.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(super) vars: Vec<Value>,
    /// Cells by address: their widths in bits and values. No two overlap; what is in none may have any contents.
    pub(super) memory: Rc<BTreeMap<u64, (u32, Value)>>,
    /// Where all that was written to memory comes from.
    written: Sources,
    /// The greatest number of a value.
    pub(super) numbers: u32,
    /// What is known of floating-point values as combinations of others; none in programs without such numbers.
    pub(super) forms: Option<Rc<Forms>>,
}

/// Any value of a variable.
pub(crate) fn any(program: &Program, var: VarId) -> Range {
    let data = program.var(var);
    data.float.map_or(Range::all(data.ty), |ty| Range::Float(Floats::all(ty)))
}

impl State {
    /// Nothing is known.
    pub(crate) fn new(program: &Program) -> Self {
        let vars = (0..program.vars.len()).map(|var| Value::free(any(program, VarId::new(var)))).collect();
        let forms = program.vars.iter().any(|var| var.float.is_some()).then(Rc::default);
        State { vars, memory: Rc::default(), written: Sources::default(), numbers: 0, forms }
    }

    pub(crate) fn get(&self, var: VarId) -> Value {
        self.vars[var.index()]
    }

    pub(crate) fn set(&mut self, var: VarId, value: Value) {
        self.vars[var.index()] = self.numbered(value);
    }

    /// A value with a number of its own, if it has none.
    fn numbered(&mut self, value: Value) -> Value {
        if value.number != 0 {
            return value;
        }
        self.numbers += 1;
        let value = Value { number: self.numbers, ..value };
        self.note(value);
        value
    }

    /// Remembers a finite floating-point number as one that others can be combinations of.
    fn note(&mut self, value: Value) {
        if let Some(forms) = &mut self.forms
            && let Range::Float(Floats { ty, low, high, nan: false }) = value.range
            && low.is_finite()
            && high.is_finite()
            && low <= high
        {
            Rc::make_mut(forms).add_base(value.number, Base { kind: Kind::Float(ty), low, high });
        }
    }

    /// The value of an expression, with a number and a form if it is a combination of others.
    pub(crate) fn value(&mut self, program: &Program, id: ExprId) -> Result<Value, MayBeUndefined> {
        let mut evaluation = Evaluation::new(program, self);
        let range = evaluation.eval(id)?;
        let form = evaluation.result(id);
        let mut value = Value { range, sources: evaluation.sources, number: self.copied(program, id) };
        if let (Some((kind, form)), 0, Some(forms)) = (form, value.number, &mut self.forms) {
            // What is left is shared by all that is made of this value.
            let (error, number) = (self.numbers + 1, self.numbers + 2);
            self.numbers = number;
            value.number = number;
            let form = Rc::make_mut(forms).with_rest(Rc::unwrap_or_clone(form), error);
            Rc::make_mut(forms).of.insert(number, (kind, Rc::new(form)));
        }
        if self.forms.as_ref().is_some_and(|forms| forms.of.len() + forms.bases.len() > self.most_forms()) {
            self.drop_forms();
        }
        Ok(value)
    }

    /// Nothing is known of values as combinations of others any more.
    pub(super) fn forget_forms(&mut self) {
        if self.forms.is_none() {
            return;
        }
        self.forms = Some(Rc::default());
        let cells = self.memory.values().map(|&(_, value)| value);
        let known: Vec<Value> = self.vars.iter().copied().chain(cells).filter(|value| value.number != 0).collect();
        known.into_iter().for_each(|value| self.note(value));
    }

    /// The number of forms from which on those that are not needed are looked for.
    fn most_forms(&self) -> usize {
        4 * (self.vars.len() + self.memory.len()) + 1024
    }

    /// Drops the forms of values that are nowhere any more.
    pub(super) fn drop_forms(&mut self) {
        let cells = self.memory.values().map(|(_, value)| value);
        let live: BTreeSet<u32> = self.vars.iter().chain(cells).map(|value| value.number).collect();
        if let Some(forms) = &mut self.forms {
            Rc::make_mut(forms).retain(|number| live.contains(&number));
        }
    }

    /// A variable has one of fewer values, and so has all that has the same value.
    pub(super) fn narrow(&mut self, program: &Program, var: VarId, range: Range) {
        let number = self.vars[var.index()].number;
        self.vars[var.index()].range = range;
        if number == 0 {
            return;
        }
        self.note(self.vars[var.index()]);
        for (at, other) in self.vars.iter_mut().enumerate() {
            if other.number == number && other.range.single().is_none() && fits(range, program.var(VarId::new(at)).ty) {
                other.range = range;
            }
        }
        if self.memory.values().any(|(_, other)| other.number == number) {
            let others = Rc::make_mut(&mut self.memory).values_mut().map(|(_, other)| other);
            others.filter(|other| other.number == number).for_each(|other| other.range = range);
        }
    }

    /// The value of an expression.
    pub(crate) fn eval(&self, program: &Program, id: ExprId) -> Result<Value, MayBeUndefined> {
        let mut evaluation = Evaluation::new(program, self);
        let range = evaluation.eval(id)?;
        Ok(Value { range, sources: evaluation.sources, number: self.copied(program, id) })
    }

    /// The number of the variable whose value an expression is.
    fn copied(&self, program: &Program, id: ExprId) -> u32 {
        match program.exprs.get(id).kind {
            ExprKind::Var(var) => self.get(var).number,
            _ => 0,
        }
    }

    fn range(&self, program: &Program, id: ExprId) -> Result<Range, MayBeUndefined> {
        Ok(self.eval(program, id)?.range)
    }

    /// The value of so many bits at an address, put together from the cells there.
    pub(crate) fn load(&self, addr: Value, ty: IntTy) -> Value {
        let mut sources = addr.sources;
        let unknown = |mut sources: Sources| {
            sources.add(self.written);
            Value { sources, ..Value::free(Range::all(ty)) }
        };
        let Some(addr) = fixed(addr.range) else { return unknown(sources) };
        let (mut low, mut high, mut done) = (0, 0, 0);
        while done < ty.bits {
            let at = addr + u64::from(done / 8);
            let cell = self.memory.range(..=at).next_back().map(|(&start, cell)| (start, *cell));
            let Some((start, (width, value))) = cell.filter(|(start, (width, _))| at - start < u64::from(width / 8))
            else {
                return unknown(sources);
            };
            sources.add(value.sources);
            if start == addr && width == ty.bits {
                match value.range {
                    Range::Int { low, high } if low < ty.min() || high > ty.max() => {}
                    Range::Float(_) if ty.signed => {}
                    range => return Value { range, sources, number: value.number },
                }
            }
            let skipped = u32::try_from(8 * (at - start)).expect("less than the width of a cell");
            let bits = (width - skipped).min(ty.bits - done);
            let part = slice(value.range, width, skipped, bits);
            low += part.0 << done;
            high += part.1 << done;
            done += bits;
        }
        Value { sources, ..Value::free(value::cast(ty, (low, high))) }
    }

    /// The value of so many bits at one of some addresses, a multiple of their size.
    pub(crate) fn load_one(&self, addr: Value, ty: IntTy, format: Option<FloatTy>) -> Value {
        let mut one = self.load(addr, ty);
        let Some((low, high)) = between(addr.range).filter(|(low, high)| low < high) else { return one };
        let size = u64::from(ty.bits / 8);
        let mut cells = (low.div_ceil(size)..=high / size).map(|at| {
            let cell = self.load(Value::free(Range::of(i128::from(at * size))), ty);
            (cell.range != Range::all(ty)).then_some(cell)
        });
        let Some(Some(first)) = cells.next() else { return one };
        let mut range = first.range;
        for cell in cells {
            let Some(cell) = cell else { return one };
            range = range.union(cell.range, format);
            one.sources.add(cell.sources);
        }
        Value { range, ..one }
    }

    /// The contents of so many bits at an address, as integers of any sign or as numbers, if they are known.
    pub(super) fn cell(&self, addr: u64, width: u32) -> Option<Value> {
        match self.memory.get(&addr) {
            Some(&(same, value)) if same == width => Some(value),
            _ => {
                let ty = IntTy { bits: width, signed: false };
                let value = self.load(Value::free(Range::of(i128::from(addr))), ty);
                (value.range != Range::all(ty)).then_some(value)
            }
        }
    }

    /// A store; one whose address is not known may change everything.
    pub(crate) fn store(&mut self, addr: Value, ty: IntTy, value: Value) {
        self.written.add(value.sources);
        let value = self.numbered(value);
        let Some(addr) = fixed(addr.range) else {
            self.written.add(addr.sources);
            self.forget();
            return;
        };
        let memory = Rc::make_mut(&mut self.memory);
        let end = addr.saturating_add(u64::from(ty.bits / 8));
        let near = memory.range(addr.saturating_sub(WIDEST)..end).map(|(&start, &cell)| (start, cell));
        let near: Vec<(u64, (u32, Value))> = near.collect();
        for (start, (width, old)) in near {
            let old_end = start + u64::from(width / 8);
            if old_end <= addr {
                continue;
            }
            memory.remove(&start);
            // What is left of it in front of and behind the new one.
            for (from, to) in [(start, addr.min(old_end)), (end.max(start), old_end)] {
                if from < to {
                    let size = |bytes: u64| u32::try_from(8 * bytes).expect("less than the width of a cell");
                    let (low, high) = slice(old.range, width, size(from - start), size(to - from));
                    memory.insert(from, (size(to - from), Value { range: Range::Int { low, high }, number: 0, ..old }));
                }
            }
        }
        memory.insert(addr, (ty.bits, value));
    }

    /// A store to one of some addresses, a multiple of the size.
    pub(crate) fn store_one(&mut self, addr: Value, ty: IntTy, value: Value) {
        match between(addr.range).filter(|(low, high)| low < high) {
            Some((low, high)) => {
                self.written.add(value.sources);
                self.written.add(addr.sources);
                let (size, written) = (u64::from(ty.bits / 8), self.written);
                self.change(low, high + size, |start, width, old| {
                    let mut sources = old.sources;
                    sources.add(written);
                    let one = width == ty.bits && start.is_multiple_of(size);
                    one.then(|| Value { sources, ..Value::free(old.range.join(value.range)) })
                });
            }
            None => self.store(addr, ty, value),
        }
    }

    /// Replaces the cells that have bytes between two addresses; those without a new value are forgotten.
    fn change(&mut self, from: u64, to: u64, new: impl Fn(u64, u32, Value) -> Option<Value>) {
        let memory = Rc::make_mut(&mut self.memory);
        let near = memory.range(from.saturating_sub(WIDEST)..to).map(|(&start, &cell)| (start, cell));
        let near: Vec<(u64, (u32, Value))> =
            near.filter(|(start, (width, _))| start + u64::from(width / 8) > from).collect();
        for (start, (width, old)) in near {
            match new(start, width, old) {
                Some(value) => memory.insert(start, (width, value)),
                None => memory.remove(&start),
            };
        }
    }

    /// Bytes become zero.
    pub(crate) fn zero(&mut self, addr: Value, size: Value) {
        match (addr.range.single(), size.range.single()) {
            (Some(addr), Some(size @ 0..=MOST_ZEROS)) => {
                let byte = IntTy { bits: 8, signed: false };
                for addr in addr..addr + size {
                    self.store(Value::free(Range::of(addr)), byte, Value::free(Range::of(0)));
                }
            }
            (Some(first), Some(size))
                if fixed(Range::of(first)).is_some() && fixed(Range::of(first + size)).is_some() =>
            {
                let at = |addr: i128| u64::try_from(addr).expect("checked to be an address");
                self.change(at(first), at(first + size), |_, _, _| None);
            }
            _ => {
                self.written.add(addr.sources);
                self.written.add(size.sources);
                self.forget();
            }
        }
    }

    /// Nothing is known about memory any more.
    pub(crate) fn forget(&mut self) {
        self.memory = Rc::default();
    }

    /// The states in which a condition has a truth value: none if that is impossible, several if it has alternatives.
    pub(crate) fn cases(self, program: &Program, cond: ExprId, truth: bool) -> Result<Vec<State>, MayBeUndefined> {
        match self.range(program, cond)?.truth() {
            Some(value) if value == truth => return Ok(vec![self]),
            Some(_) => return Ok(Vec::new()),
            None => {}
        }
        let exprs = &program.exprs;
        match exprs.get(cond).kind {
            ExprKind::Not(arg) => self.cases(program, arg, !truth),
            ExprKind::Cast(arg) if exprs.is_truth(arg) => self.cases(program, arg, truth),
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                let both = matches!(exprs.get(cond).kind, ExprKind::And(..)) == truth;
                // Both are as `truth` says; or the first one is, or only the second one.
                let mut result = if both { Vec::new() } else { self.clone().cases(program, left, truth)? };
                for state in self.cases(program, left, truth == both)? {
                    result.extend(state.cases(program, right, truth)?);
                }
                Ok(result)
            }
            ExprKind::Cmp(op, left, right) => {
                let (op, left, right) = op.holding(left, right, truth);
                self.integers_compared(program, op, left, right)
            }
            ExprKind::FloatCmp(op, ty, left, right) => self.floats_compared(program, (op, ty, truth), left, right),
            ExprKind::Var(var) => {
                let mut state = self;
                let Range::Int { low, high } = state.get(var).range else { return Ok(vec![state]) };
                match truth {
                    false => state.narrow(program, var, Range::of(0)),
                    true if low == 0 => state.narrow(program, var, Range::Int { low: 1, high }),
                    true if high == 0 => state.narrow(program, var, Range::Int { low, high: -1 }),
                    true => {}
                }
                Ok(vec![state])
            }
            _ => Ok(vec![self]),
        }
    }

    fn integers_compared(
        mut self,
        program: &Program,
        op: CmpOp,
        left: ExprId,
        right: ExprId,
    ) -> Result<Vec<State>, MayBeUndefined> {
        let exprs = &program.exprs;
        for (truth, value) in [(left, right), (right, left)] {
            if exprs.is_truth(truth)
                && let Some(value @ (0 | 1)) = exprs.as_const(value)
                && matches!(op, CmpOp::Eq | CmpOp::Ne)
            {
                return self.cases(program, truth, (value == 1) == (op == CmpOp::Eq));
            }
        }
        let ty = exprs.ty(left);
        let (a, b) = self.range(program, left)?.integers(ty);
        let (c, d) = self.range(program, right)?.integers(ty);
        let (l, r) = match op {
            CmpOp::Eq => ((a.max(c), b.min(d)), (a.max(c), b.min(d))),
            CmpOp::Lt => ((a, b.min(d - 1)), (c.max(a + 1), d)),
            CmpOp::Le => ((a, b.min(d)), (c.max(a), d)),
            CmpOp::Ne => (without((a, b), (c, d)), without((c, d), (a, b))),
        };
        if l.0 > l.1 || r.0 > r.1 {
            return Ok(Vec::new());
        }
        for (side, (low, high)) in [(left, l), (right, r)] {
            if let ExprKind::Var(var) = exprs.get(side).kind
                && matches!(self.get(var).range, Range::Int { .. })
            {
                self.narrow(program, var, Range::Int { low, high });
            }
        }
        Ok(vec![self])
    }

    fn floats_compared(
        mut self,
        program: &Program,
        (op, ty, truth): (CmpOp, FloatTy, bool),
        left: ExprId,
        right: ExprId,
    ) -> Result<Vec<State>, MayBeUndefined> {
        let exprs = &program.exprs;
        let mut l = self.range(program, left)?.floats(ty);
        let mut r = self.range(program, right)?.floats(ty);
        if !truth && (l.nan || r.nan) {
            return Ok(vec![self]);
        }
        // What holds between numbers.
        match (op, truth) {
            (CmpOp::Lt, true) => below(&mut l, &mut r, true),
            (CmpOp::Le, true) => below(&mut l, &mut r, false),
            (CmpOp::Lt, false) => below(&mut r, &mut l, false),
            (CmpOp::Le, false) => below(&mut r, &mut l, true),
            (CmpOp::Eq, true) => {
                below(&mut l, &mut r, false);
                below(&mut r, &mut l, false);
            }
            _ => return Ok(vec![self]),
        }
        if l.is_empty() || r.is_empty() {
            return Ok(Vec::new());
        }
        for (side, mut range) in [(left, l), (right, r)] {
            range.nan = false;
            self.restrict(program, side, range);
        }
        // The sign of a zero matters where its bits are looked at.
        for side in [left, right] {
            if let ExprKind::Var(var) = exprs.get(side).kind
                && let Range::Float(range) = self.get(var).range
                && range.is_zero()
            {
                let mut negative = self.clone();
                self.narrow(program, var, Range::of(bits(range.ty, 0.0)));
                negative.narrow(program, var, Range::of(bits(range.ty, -0.0)));
                return Ok(vec![negative, self]);
            }
        }
        Ok(vec![self])
    }

    /// A variable is in a range of numbers, if the expression is one, or one in another format.
    fn restrict(&mut self, program: &Program, id: ExprId, range: Floats) {
        match program.exprs.get(id).kind {
            ExprKind::Var(var) if self.get(var).range.single().is_none() => {
                self.narrow(program, var, Range::Float(range))
            }
            ExprKind::FloatToFloat(FloatTy::F32, arg) => {
                // Rounding is monotone, and leaves the values of the variable as they are.
                let ty = FloatTy::F32;
                let own = |x: f64| number(ty, bits(ty, x));
                let narrow = Floats { ty, low: own(range.low), high: own(range.high), nan: false };
                self.restrict(program, arg, narrow);
            }
            _ => {}
        }
    }
}

/// The only address, if an access there does not go on at address 0, in 32 bits or in 64.
fn fixed(addr: Range) -> Option<u64> {
    let addr = u64::try_from(addr.single()?).ok()?;
    (addr & 0xffff_ffff < 0xffff_fff0).then_some(addr)
}

/// The first and the last address, if they are near to each other and no access between them goes on at address 0.
fn between(addr: Range) -> Option<(u64, u64)> {
    let Range::Int { low, high } = addr else { return None };
    let (low, high) = (fixed(Range::of(low))?, fixed(Range::of(high))?);
    (high - low <= FARTHEST && low >> 32 == high >> 32).then_some((low, high))
}

/// Whether a range of bits says the same about a value of a type.
fn fits(range: Range, ty: IntTy) -> bool {
    match range {
        Range::Int { low, high } => ty.min() <= low && high <= ty.max(),
        Range::Float(_) => !ty.signed,
    }
}

/// Some of the bits of a cell with so many, as an unsigned number.
fn slice(range: Range, width: u32, skipped: u32, bits: u32) -> (i128, i128) {
    let (low, high) = range.integers(IntTy { bits: width, signed: false });
    let ty = IntTy { bits, signed: false };
    value::cast(ty, (low >> skipped, high >> skipped)).integers(ty)
}

/// A range without the only value of another one, if that is at an end.
fn without((a, b): (i128, i128), (c, d): (i128, i128)) -> (i128, i128) {
    if c != d { (a, b) } else { (a + i128::from(a == c), b - i128::from(b == c)) }
}

/// The numbers of `l` that are below some of `r`, and those of `r` above some of `l`.
fn below(l: &mut Floats, r: &mut Floats, strict: bool) {
    let next = |ty: FloatTy, x: f64, above: bool| if strict { neighbour(ty, x, above) } else { x };
    let high = l.high.min(next(l.ty, r.high, false));
    r.low = r.low.max(next(r.ty, l.low, true));
    l.high = high;
}
