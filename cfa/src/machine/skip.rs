// SPDX-License-Identifier: Apache-2.0
//! Many iterations of a loop at once.
//!
//! A few passes through a loop are traced with a line for each register: its content in iteration t is `base + slope * t`.
//! Each instruction on the way gives the line of its result exactly, and says up to which iteration that is so: as long as
//! no value leaves the range of its type and no comparison turns out otherwise than in the first iteration. If all registers
//! that an iteration takes over from the one before end where the next one is assumed to begin, then by induction all
//! iterations up to the least of these numbers go the traced way with these contents, and the last of them can be reached
//! at once. Loops with other effects than on registers are not traced.

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{Instr, Kind, Reg};
use super::run::{Machine, divide, shift_amount};

/// How many passes through the loop are taken as one iteration, so that conditions like `i % 3 == 0` repeat.
const PASSES: [u32; 6] = [1, 2, 3, 4, 6, 12];
/// The greatest number of instructions of an iteration.
const MAX_INSTRS: u32 = 4096;
/// With fewer iterations at once, plain execution is as fast.
const MIN_ITERATIONS: i128 = 16;
/// A register that changes by more in an iteration leaves its 64 bits before there are so many. Keeps the arithmetic of lines
/// in range.
const MAX_SLOPE: i128 = (1 << 64) / MIN_ITERATIONS;

/// The content of a register, as a signed number, in iteration t: `base + slope * t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Line {
    base: i128,
    slope: i128,
}

impl Line {
    fn constant(base: i128) -> Self {
        Line { base, slope: 0 }
    }

    fn as_constant(self) -> Option<i128> {
        (self.slope == 0).then_some(self.base)
    }

    fn plus(self, other: Line) -> Line {
        Line { base: self.base + other.base, slope: self.slope + other.slope }
    }

    fn times(self, factor: i128) -> Option<Line> {
        Some(Line { base: self.base.checked_mul(factor)?, slope: self.slope.checked_mul(factor)? })
    }

    fn minus(self, other: Line) -> Line {
        Line { base: self.base - other.base, slope: self.slope - other.slope }
    }

    /// The first iteration in which this is at least `limit`, which it is not in iteration 0.
    fn reaches(self, limit: i128) -> Option<i128> {
        debug_assert!(self.base < limit);
        (self.slope > 0).then(|| (limit - self.base + self.slope - 1) / self.slope)
    }

    /// The first iteration in which this is less than `limit`, which it is not in iteration 0.
    fn falls_below(self, limit: i128) -> Option<i128> {
        Line { base: -self.base, slope: -self.slope }.reaches(1 - limit)
    }
}

/// Follows the code through one iteration.
struct Trace<'m> {
    machine: &'m Machine,
    /// By how much the registers change in an iteration; others are assumed to stay as they are.
    slopes: &'m FxHashMap<Reg, i128>,
    written: FxHashMap<Reg, Line>,
    /// Registers that are read before they are written.
    taken_over: FxHashSet<Reg>,
    /// The first iteration for which the lines need not be right; none if they are for all.
    end: Option<i128>,
    steps: u64,
}

impl<'m> Trace<'m> {
    fn new(machine: &'m Machine, slopes: &'m FxHashMap<Reg, i128>) -> Self {
        let (written, taken_over) = (FxHashMap::default(), FxHashSet::default());
        Trace { machine, slopes, written, taken_over, end: None, steps: 0 }
    }

    fn read(&mut self, reg: Reg) -> Line {
        if let Some(&line) = self.written.get(&reg) {
            return line;
        }
        self.taken_over.insert(reg);
        Line { base: self.machine.content(reg), slope: self.slopes.get(&reg).copied().unwrap_or(0) }
    }

    fn until(&mut self, iteration: Option<i128>) {
        self.end = match (self.end, iteration) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    /// The line modulo 2^bits between `low` and `low + 2^bits - 1`.
    fn within(&mut self, line: Line, low: i128, bits: u32) -> Line {
        let base = low + (line.base - low).rem_euclid(1 << bits);
        let line = Line { base, slope: line.slope };
        self.until(line.reaches(low + (1 << bits)));
        self.until(line.falls_below(low));
        line
    }

    /// What a register holds for the value of this type that is congruent to the line.
    fn wrap(&mut self, kind: Kind, line: Line) -> Line {
        match kind {
            // Registers are looked at as signed numbers.
            Kind::U64 => self.within(line, i128::from(i64::MIN), 64),
            _ => self.within(line, kind.ty().min(), kind.ty().bits),
        }
    }

    /// The value that a register stands for.
    fn value(&mut self, kind: Kind, reg: Reg) -> Line {
        let line = self.read(reg);
        if kind == Kind::U64 { self.within(line, 0, 64) } else { line }
    }

    fn is_less(&mut self, a: Line, b: Line, or_equal: bool) -> bool {
        let gap = a.minus(b);
        let limit = i128::from(or_equal);
        let less = gap.base < limit;
        self.until(if less { gap.reaches(limit) } else { gap.falls_below(limit) });
        less
    }

    fn is_equal(&mut self, a: Line, b: Line) -> bool {
        let gap = a.minus(b);
        if gap.base == 0 {
            self.until((gap.slope != 0).then_some(1));
            return true;
        }
        let meets = gap.slope != 0 && gap.base % gap.slope == 0 && -gap.base / gap.slope > 0;
        self.until(meets.then(|| -gap.base / gap.slope));
        false
    }

    fn is_zero(&mut self, reg: Reg) -> bool {
        let line = self.read(reg);
        self.is_equal(line, Line::constant(0))
    }

    /// Quotient and remainder, if they are lines.
    fn divide(&mut self, kind: Kind, a: Reg, b: Reg) -> Option<(Line, Line)> {
        let (a, b) = (self.value(kind, a), self.value(kind, b).as_constant()?);
        if a.slope == 0 {
            let (quotient, rest) = divide(kind, a.base as u64, b as u64).ok()?;
            return Some((constant(quotient), constant(rest)));
        }
        if b <= 0 || a.base < 0 || a.slope % b != 0 {
            return None;
        }
        self.until(a.falls_below(0));
        let quotient = Line { base: a.base / b, slope: a.slope / b };
        Some((self.wrap(kind, quotient), self.wrap(kind, Line::constant(a.base % b))))
    }

    fn and(&mut self, a: Reg, b: Reg) -> Option<Line> {
        let (a, b) = (self.read(a), self.read(b));
        let (line, mask) = if b.slope == 0 { (a, b.base) } else { (b, a.as_constant()?) };
        // The bits below the highest one of the mask stay as they are.
        let period = (mask as u64).checked_add(1).and_then(u64::checked_next_power_of_two);
        let same = line.slope == 0 || period.is_some_and(|period| line.slope % i128::from(period) == 0);
        same.then(|| constant(line.base as u64 & mask as u64))
    }

    fn both(&mut self, a: Reg, b: Reg, result: impl Fn(u64, u64) -> u64) -> Option<Line> {
        let (a, b) = (self.read(a).as_constant()?, self.read(b).as_constant()?);
        Some(constant(result(a as u64, b as u64)))
    }

    fn product(&mut self, kind: Kind, a: Reg, b: Reg) -> Option<Line> {
        let (a, b) = (self.read(a), self.read(b));
        let product = match (a.as_constant(), b.as_constant()) {
            (_, Some(factor)) => a.times(factor)?,
            (Some(factor), None) => b.times(factor)?,
            (None, None) => return None,
        };
        Some(self.wrap(kind, product))
    }

    /// What an instruction without a jump does; none if it cannot be said as a line.
    fn result(&mut self, instr: Instr) -> Option<(Reg, Line)> {
        let truth = |truth: bool| Line::constant(i128::from(truth));
        Some(match instr {
            Instr::AddI32(d, a, b) => (d, self.sum(Kind::I32, a, b)),
            Instr::AddU32(d, a, b) => (d, self.sum(Kind::U32, a, b)),
            Instr::Add64(d, a, b) => (d, self.sum(Kind::I64, a, b)),
            Instr::SubI32(d, a, b) => (d, self.difference(Kind::I32, a, b)),
            Instr::SubU32(d, a, b) => (d, self.difference(Kind::U32, a, b)),
            Instr::Sub64(d, a, b) => (d, self.difference(Kind::I64, a, b)),
            Instr::MulI32(d, a, b) => (d, self.product(Kind::I32, a, b)?),
            Instr::MulU32(d, a, b) => (d, self.product(Kind::U32, a, b)?),
            Instr::Mul64(d, a, b) => (d, self.product(Kind::I64, a, b)?),
            Instr::Copy(d, a) => (d, self.read(a)),
            Instr::Wrap(kind, d, a) => {
                let line = self.read(a);
                (d, self.wrap(kind, line))
            }
            Instr::Complement(kind, d, a) => {
                let complement = Line::constant(-1).minus(self.read(a));
                (d, self.wrap(kind, complement))
            }
            Instr::And(d, a, b) => (d, self.and(a, b)?),
            Instr::Or(d, a, b) => (d, self.both(a, b, |x, y| x | y)?),
            Instr::Xor(d, a, b) => (d, self.both(a, b, |x, y| x ^ y)?),
            Instr::Div(kind, d, a, b) => (d, self.divide(kind, a, b)?.0),
            Instr::Rem(kind, d, a, b) => (d, self.divide(kind, a, b)?.1),
            Instr::Shl(kind, d, a, b) => {
                let amount = shift_amount(kind, self.read(b).as_constant()? as u64).ok()?;
                let shifted = self.read(a).times(1 << amount)?;
                (d, self.wrap(kind, shifted))
            }
            Instr::Shr(kind, d, a, b) => {
                let amount = shift_amount(kind, self.read(b).as_constant()? as u64).ok()?;
                let (line, unit) = (self.value(kind, a), 1i128 << amount);
                if line.slope % unit != 0 {
                    return None;
                }
                let shifted = Line { base: line.base >> amount, slope: line.slope / unit };
                (d, self.wrap(kind, shifted))
            }
            Instr::Eq(d, a, b) => (d, truth(self.compare(a, b, Trace::is_equal))),
            Instr::Ne(d, a, b) => (d, truth(!self.compare(a, b, Trace::is_equal))),
            Instr::LtS(d, a, b) => (d, truth(self.less(Kind::I64, a, b, false))),
            Instr::LeS(d, a, b) => (d, truth(self.less(Kind::I64, a, b, true))),
            Instr::LtU(d, a, b) => (d, truth(self.less(Kind::U64, a, b, false))),
            Instr::LeU(d, a, b) => (d, truth(self.less(Kind::U64, a, b, true))),
            Instr::Not(d, a) => (d, truth(self.is_zero(a))),
            Instr::BothTrue(d, a, b) => {
                let (a, b) = (self.is_zero(a), self.is_zero(b));
                (d, truth(!a && !b))
            }
            Instr::AnyTrue(d, a, b) => {
                let (a, b) = (self.is_zero(a), self.is_zero(b));
                (d, truth(!a || !b))
            }
            Instr::Select(d, c, a, b) => {
                let chosen = if self.is_zero(c) { b } else { a };
                (d, self.read(chosen))
            }
            _ => return None,
        })
    }

    fn sum(&mut self, kind: Kind, a: Reg, b: Reg) -> Line {
        let sum = self.read(a).plus(self.read(b));
        self.wrap(kind, sum)
    }

    fn difference(&mut self, kind: Kind, a: Reg, b: Reg) -> Line {
        let difference = self.read(a).minus(self.read(b));
        self.wrap(kind, difference)
    }

    fn compare(&mut self, a: Reg, b: Reg, test: impl Fn(&mut Self, Line, Line) -> bool) -> bool {
        let (a, b) = (self.read(a), self.read(b));
        test(self, a, b)
    }

    fn less(&mut self, kind: Kind, a: Reg, b: Reg, or_equal: bool) -> bool {
        let (a, b) = (self.value(kind, a), self.value(kind, b));
        self.is_less(a, b, or_equal)
    }

    /// Follows the code from where the machine is until it has come back there so many times; false if it does not, or
    /// does on the way what cannot be repeated.
    fn follow(&mut self, passes: u32) -> bool {
        let (machine, start) = (self.machine, self.machine.pc);
        let (mut pc, mut left) = (start, passes);
        let mut calls: Vec<u32> = Vec::new();
        for _ in 0..MAX_INSTRS {
            let instr = machine.code.instrs[pc];
            pc += 1;
            let jump = match instr {
                Instr::Loop(to) if to as usize == start => {
                    left -= 1;
                    if left == 0 {
                        return calls.is_empty();
                    }
                    Some(to)
                }
                Instr::Jump(to) | Instr::Loop(to) => Some(to),
                Instr::JumpZero(a, to) => self.is_zero(a).then_some(to),
                Instr::JumpNonzero(a, to) => (!self.is_zero(a)).then_some(to),
                Instr::JumpEq(a, b, to) => self.compare(a, b, Trace::is_equal).then_some(to),
                Instr::JumpNe(a, b, to) => (!self.compare(a, b, Trace::is_equal)).then_some(to),
                Instr::JumpLtS(a, b, to) => self.less(Kind::I64, a, b, false).then_some(to),
                Instr::JumpLeS(a, b, to) => self.less(Kind::I64, a, b, true).then_some(to),
                Instr::JumpLtU(a, b, to) => self.less(Kind::U64, a, b, false).then_some(to),
                Instr::JumpLeU(a, b, to) => self.less(Kind::U64, a, b, true).then_some(to),
                Instr::Call(to) if machine.has_room_for_calls(calls.len()) => {
                    calls.push(pc as u32);
                    Some(to)
                }
                Instr::Return => match calls.pop() {
                    Some(back) => Some(back),
                    None => return false,
                },
                Instr::NeedValue(flag, _) if !self.is_zero(flag) => None,
                Instr::Step(_) if !machine.keeps_steps() => {
                    self.steps += 1;
                    None
                }
                // No iteration that is made at once leaves the range of a type.
                Instr::Exact(..) => None,
                Instr::Cover(edge) if machine.is_covered(edge) => None,
                _ => {
                    let Some((target, line)) = self.result(instr) else { return false };
                    self.written.insert(target, line);
                    None
                }
            };
            if self.end.is_some_and(|end| end < MIN_ITERATIONS) {
                return false;
            }
            if let Some(to) = jump {
                pc = to as usize;
            }
        }
        false
    }
}

/// The content of a register as a line.
fn constant(content: u64) -> Line {
    Line::constant(i128::from(content as i64))
}

/// What many iterations of the loop make of the registers, and how many steps they take.
pub(super) struct Skip {
    pub(super) registers: Vec<(Reg, u64)>,
    pub(super) steps: u64,
}

/// As many iterations of the loop whose head the machine is at as are known to go the same way.
pub(super) fn skip(machine: &Machine) -> Option<Skip> {
    PASSES.iter().find_map(|&passes| iterations(machine, passes))
}

fn iterations(machine: &Machine, passes: u32) -> Option<Skip> {
    // The first iteration shows by how much the registers change.
    let unknown = FxHashMap::default();
    let mut first = Trace::new(machine, &unknown);
    if !first.follow(passes) {
        return None;
    }
    let changes = first.taken_over.iter().filter_map(|reg| Some((*reg, first.written.get(reg)?)));
    let slopes: FxHashMap<Reg, i128> = changes.map(|(reg, line)| (reg, line.base - machine.content(reg))).collect();
    if slopes.values().any(|slope| slope.abs() > MAX_SLOPE) {
        return None;
    }
    let mut trace = Trace::new(machine, &slopes);
    if !trace.follow(passes) {
        return None;
    }
    let follows = |(reg, slope): (&Reg, &i128)| {
        trace.written.get(reg) == Some(&Line { base: machine.content(*reg) + slope, slope: *slope })
    };
    if !slopes.iter().all(follows) {
        return None;
    }
    let count = trace.end.filter(|&end| end >= MIN_ITERATIONS)?;
    let steps = u64::try_from(count).ok()?.checked_mul(trace.steps)?;
    let last = |line: &Line| u64::try_from((line.base + line.slope * (count - 1)).rem_euclid(1 << 64)).ok();
    let registers = trace.written.iter().map(|(reg, line)| Some((*reg, last(line)?)));
    Some(Skip { registers: registers.collect::<Option<_>>()?, steps })
}
