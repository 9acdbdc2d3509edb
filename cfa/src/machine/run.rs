// SPDX-License-Identifier: Apache-2.0
//! Executes code.

use std::rc::Rc;

use crate::eval::Undefined;
use crate::floats;
use crate::ids::{EdgeId, NodeId, VarId};
use crate::ir::{BinOp, CmpOp, FloatTy, IntTy};

use super::code::{Instr, Kind, REGISTERS, Reg};
use super::memory::{Loaded, Memory, OutOfMemory};
use super::skip::skip;
use super::{AccessError, Asked, Code, End, Fault, Inputs, Move, Storage};

/// The greatest number of calls that are active at once.
const MAX_CALLS: usize = 4_000_000;
/// How many arguments of the program have characters, and how many each of them has at most.
const MAX_ARGUMENTS: u64 = 1 << 6;
const MAX_CHARACTERS: usize = 1 << 8;
/// The greatest number of registers that recursive calls put aside.
const MAX_SAVED: usize = 1 << 25;

/// Jumps backwards without a look whether many iterations can be made at once.
const FIRST_LOOK: u64 = 1 << 12;
/// Their number doubles up to this when it was looked in vain.
const LAST_LOOK: u64 = 1 << 20;
/// The number after a look that was worth it.
const NEXT_LOOK: u64 = 1 << 6;
/// After a look in vain there are so many further ones, for other loops around, with so many jumps between.
const NEAR_LOOKS: u32 = 32;
const NEAR: u64 = 6;
/// A run with less fuel makes all iterations one by one, so that it pauses where it is meant to.
const MIN_FUEL: u64 = 1 << 10;

/// A running program.
pub struct Machine {
    pub(super) code: Rc<Code>,
    registers: Box<[u64; REGISTERS]>,
    memory: Memory,
    pub(super) pc: usize,
    calls: Vec<u32>,
    saved: Vec<u64>,
    steps: Vec<Move>,
    max_steps: usize,
    step_count: u64,
    overflow: Option<Asked>,
    covered: Vec<bool>,
    /// Branches that were covered for the first time since somebody asked.
    newly_covered: u32,
    end: Option<End>,
    /// Where a loop is watched for coming back in the same state.
    watch: Option<Watch>,
    looks: Looks,
}

/// When it is looked whether many iterations can be made at once.
struct Looks {
    /// Jumps backwards until the next look.
    until_next: u64,
    /// Jumps backwards after looks in vain.
    distance: u64,
    /// Looks that follow a look in vain soon.
    near: u32,
    /// Where it was looked in vain lately.
    in_vain: Vec<usize>,
}

impl Looks {
    fn new() -> Self {
        Looks { until_next: FIRST_LOOK, distance: FIRST_LOOK, near: NEAR_LOOKS, in_vain: Vec::new() }
    }

    /// Notes how a look went.
    fn looked(&mut self, pc: usize, worth_it: bool) {
        if worth_it {
            *self = Looks { until_next: NEXT_LOOK, distance: NEXT_LOOK, ..Looks::new() };
            return;
        }
        self.in_vain.push(pc);
        self.until_next = NEAR;
        match self.near.checked_sub(1) {
            Some(near) => self.near = near,
            None => {
                let distance = (self.distance * 2).min(LAST_LOOK);
                *self = Looks { until_next: distance, distance, ..Looks::new() };
            }
        }
    }
}

/// The state at the destination of a jump backwards.
struct Watch {
    at: u32,
    registers: Vec<u64>,
    calls: Vec<u32>,
    saved: usize,
    memory_version: u64,
}

/// How a bounded execution comes back.
enum Pause {
    Ended(End),
    OutOfFuel,
}

impl Machine {
    /// A machine at the start of the program; it uses at most about `max_bytes` for the program's memory.
    pub fn new(code: Rc<Code>, max_bytes: usize) -> Self {
        let registers = vec![0u64; REGISTERS].into_boxed_slice().try_into().expect("the length is that of the array");
        let mut machine = Machine {
            registers,
            memory: Memory::new(code.heap_start, code.pointer_bits, max_bytes),
            pc: 0,
            calls: Vec::new(),
            saved: Vec::new(),
            steps: Vec::new(),
            max_steps: usize::MAX,
            step_count: 0,
            overflow: None,
            covered: vec![false; code.edges],
            code,
            newly_covered: 0,
            end: None,
            watch: None,
            looks: Looks::new(),
        };
        machine.reset();
        machine
    }

    /// Goes back to the start of the program. What was covered stays so.
    pub fn reset(&mut self) {
        let code = Rc::clone(&self.code);
        let initial = &code.registers.initial;
        self.registers[..initial.len()].copy_from_slice(initial);
        self.memory.clear();
        self.pc = 0;
        self.calls.clear();
        self.saved.clear();
        self.steps.clear();
        self.step_count = 0;
        self.overflow = None;
        self.end = None;
        self.watch = None;
        self.looks = Looks::new();
        for &(addr, size) in &code.global_objects {
            if let Err(OutOfMemory) = self.memory.birth(addr, size) {
                self.end = Some(End::Exhausted(EdgeId::new(0), "memory"));
            }
        }
    }

    /// Keeps at most so many steps; further ones are only counted.
    pub fn limit_steps(&mut self, max: usize) {
        self.max_steps = max;
    }

    /// Whether new objects were made, whose addresses are not determined by the program.
    pub fn has_allocated(&self) -> bool {
        self.memory.has_allocated()
    }

    /// The first steps of the run, if the code was compiled to keep them.
    pub fn steps(&self) -> &[Move] {
        &self.steps
    }

    /// The number of steps, if the code was compiled to keep them; the greatest number if there were more.
    pub fn step_count(&self) -> u64 {
        self.step_count
    }

    /// Where a sum, difference or product of a signed type, `int` or wider, was no value of the type for the first time, if the
    /// code was compiled to note that; the run went on with the value modulo 2^bits.
    pub fn overflow(&self) -> Option<Asked> {
        self.overflow
    }

    /// The number of branches that were covered for the first time since the last call, if the code was compiled for it.
    pub fn take_newly_covered(&mut self) -> u32 {
        std::mem::take(&mut self.newly_covered)
    }

    /// Whether a branch was ever taken, if the code was compiled for it.
    pub fn is_covered(&self, edge: EdgeId) -> bool {
        self.covered[edge.index()]
    }

    /// The value of a variable, that of the last activation if it is local; none if the code does not use it.
    pub fn variable(&self, program: &crate::Program, var: VarId) -> Option<i128> {
        let reg = self.code.registers.find(var)?;
        Some(Kind::of(program.var(var).ty).value(self.registers[reg as usize]))
    }

    /// The location where the run paused because its fuel was used up; none if it is none of those that the code was
    /// compiled to pause at.
    pub fn pause(&self) -> Option<NodeId> {
        let at = self.code.pauses.binary_search_by_key(&(self.pc as u32), |(pc, _)| *pc).ok()?;
        Some(self.code.pauses[at].1)
    }

    /// The calls that are active, the outermost first.
    pub fn active_calls(&self) -> Vec<EdgeId> {
        // A call is the last instruction before the place where it returns to.
        self.calls.iter().map(|&back| self.code.places[back as usize - 1]).collect()
    }

    /// The heads of the loops that the run is in, the outermost first; of at most `most` calls, the innermost ones.
    pub fn active_loops(&self, program: &crate::Program, most: usize) -> Vec<NodeId> {
        let calls = &self.calls[self.calls.len().saturating_sub(most)..];
        let places = calls.iter().map(|&back| back as usize - 1).chain([self.pc]);
        let mut heads = Vec::new();
        for place in places {
            let around = program.loops.around(program.edge(self.place(place)).src).map(|around| around.head);
            let inner: Vec<NodeId> = around.filter(|head| !heads.contains(head)).collect();
            heads.extend(inner.into_iter().rev());
        }
        heads
    }

    /// What an access to memory would read now; none if it would fail or read bytes without a value.
    pub fn peek(&self, addr: u64, ty: IntTy) -> Option<i128> {
        let kind = Kind::of(ty);
        match load(&self.memory, kind, addr) {
            Ok(Loaded::Value(value)) => Some(kind.value(kind.wrap(value))),
            Ok(Loaded::Undefined) | Err(_) => None,
        }
    }

    /// Whether an access to memory would read bytes of an object that were never written.
    pub fn is_unwritten(&self, addr: u64, ty: IntTy) -> bool {
        matches!(load(&self.memory, Kind::of(ty), addr), Ok(Loaded::Undefined))
    }

    /// Runs until the end, or until `fuel` jumps backwards and calls were made; then there is no end yet. Iterations that
    /// were made at once do not count.
    pub fn run(&mut self, inputs: &mut dyn Inputs, fuel: u64) -> Option<End> {
        if self.end.is_none() {
            match self.advance::<false>(inputs, fuel) {
                Pause::Ended(end) => self.end = Some(end),
                Pause::OutOfFuel => {}
            }
        }
        self.end.clone()
    }

    /// As [`Machine::run`], and ends with [`End::Diverges`] when the run comes back to where this call began with the same
    /// values everywhere: then it does so forever, as long as there are no inputs.
    pub fn run_watching(&mut self, inputs: &mut dyn Inputs, fuel: u64) -> Option<End> {
        if self.end.is_none() {
            self.watch = Some(Watch {
                at: self.pc as u32,
                registers: self.registers[..self.code.registers.initial.len()].to_vec(),
                calls: self.calls.clone(),
                saved: self.saved.len(),
                memory_version: self.memory.version,
            });
            match self.advance::<true>(inputs, fuel) {
                Pause::Ended(end) => self.end = Some(end),
                Pause::OutOfFuel => {}
            }
            self.watch = None;
        }
        self.end.clone()
    }

    /// Executes, and makes many iterations at once where that is possible.
    fn advance<const WATCH: bool>(&mut self, inputs: &mut dyn Inputs, mut fuel: u64) -> Pause {
        while fuel >= MIN_FUEL && fuel > self.looks.until_next {
            if let Pause::Ended(end) = self.execute::<WATCH>(inputs, self.looks.until_next) {
                return Pause::Ended(end);
            }
            fuel -= self.looks.until_next + 1;
            let found = if self.looks.in_vain.contains(&self.pc) { None } else { skip(self) };
            self.looks.looked(self.pc, found.is_some());
            if let Some(skip) = found {
                for (reg, content) in skip.registers {
                    self.registers[reg as usize] = content;
                }
                self.step_count = self.step_count.saturating_add(skip.steps);
            }
        }
        self.looks.until_next = self.looks.until_next.saturating_sub(fuel);
        self.execute::<WATCH>(inputs, fuel)
    }

    /// The content of a register as a signed number.
    pub(super) fn content(&self, reg: Reg) -> i128 {
        i128::from(self.registers[reg as usize] as i64)
    }

    /// Whether steps are kept, not only counted.
    pub(super) fn keeps_steps(&self) -> bool {
        self.steps.len() < self.max_steps
    }

    /// Whether another call is possible when so many more are active.
    pub(super) fn has_room_for_calls(&self, more: usize) -> bool {
        self.calls.len() + more < MAX_CALLS
    }

    /// Whether the run is where the watch began, and everything is as it was then. Memory and saved registers are the same
    /// if nothing was written or restored beyond where it began; that is a sufficient condition only.
    fn is_repeated(&self, at: u32) -> bool {
        self.watch.as_ref().is_some_and(|watch| {
            watch.at == at
                && watch.memory_version == self.memory.version
                && watch.saved == self.saved.len()
                && watch.calls == self.calls
                && watch.registers == self.registers[..watch.registers.len()]
        })
    }

    fn place(&self, pc: usize) -> EdgeId {
        self.code.places[pc]
    }

    fn asked(&self, pc: usize) -> Asked {
        Asked { edge: self.place(pc), step: self.step_count.saturating_sub(1) }
    }

    #[cold]
    fn undefined(&self, pc: usize, fault: impl Into<Fault>) -> Pause {
        Pause::Ended(End::Undefined(self.place(pc), fault.into()))
    }

    #[cold]
    fn exhausted(&self, pc: usize, what: &'static str) -> Pause {
        Pause::Ended(End::Exhausted(self.place(pc), what))
    }

    /// Loads; bytes without a value come from the inputs, if there are such.
    fn load(&mut self, pc: usize, kind: Kind, addr: u64, inputs: &mut dyn Inputs) -> Result<u64, Pause> {
        loop {
            match load(&self.memory, kind, addr) {
                Ok(Loaded::Value(value)) => return Ok(kind.wrap(value)),
                Ok(Loaded::Undefined) => {
                    let asked = self.asked(pc);
                    if self.code.storage == Storage::Untouchable {
                        return Err(Pause::Ended(End::NeedsValue(asked.edge, None)));
                    }
                    let mut byte = |addr| inputs.byte(asked, addr);
                    if self.memory.fill(addr, kind.bytes(), &mut byte).is_none() {
                        return Err(Pause::Ended(End::NeedsInput(asked.edge)));
                    }
                }
                Err(error) => return Err(self.undefined(pc, error)),
            }
        }
    }

    fn step(&mut self, step: Move) {
        self.step_count = self.step_count.saturating_add(1);
        if self.steps.len() < self.max_steps {
            self.steps.push(step);
        }
    }

    /// A new object.
    fn alloc(&mut self, pc: usize, size: u64, inputs: &mut dyn Inputs) -> Result<u64, Pause> {
        let wanted = inputs.address(self.asked(pc), size);
        match self.memory.alloc(size, wanted) {
            Ok(Ok(addr)) => Ok(addr),
            Ok(Err(error)) => Err(self.undefined(pc, error)),
            Err(OutOfMemory) => Err(self.exhausted(pc, "memory")),
        }
    }

    /// Makes the arguments of the program and stores the pointers to them.
    fn arguments(
        &mut self,
        pc: usize,
        pointer: Kind,
        (vector, size): (u64, u64),
        inputs: &mut dyn Inputs,
    ) -> Result<(), Pause> {
        let width = pointer.bytes() as u64;
        let count = (size / width).saturating_sub(1);
        for at in 0..count.min(MAX_ARGUMENTS) {
            let Some(first) = inputs.character(self.asked(pc)) else { return Ok(()) };
            let mut text = vec![first];
            while *text.last().expect("it has a character") != 0 && text.len() < MAX_CHARACTERS {
                text.push(inputs.character(self.asked(pc)).unwrap_or(0));
            }
            text.push(0);
            let addr = self.alloc(pc, text.len() as u64, inputs)?;
            let characters = text.into_iter().map(u64::from).zip(addr..).map(|(value, addr)| (Kind::U8, addr, value));
            for (kind, addr, value) in characters.chain([(pointer, vector + at * width, addr)]) {
                store(&mut self.memory, kind, addr, value).map_err(|error| self.undefined(pc, error))?;
            }
        }
        Ok(())
    }

    /// The main loop. Registers are indexed by 16-bit numbers, so that no bounds are checked; `WATCH` says whether the run
    /// is compared with the beginning of the watch.
    fn execute<const WATCH: bool>(&mut self, inputs: &mut dyn Inputs, mut fuel: u64) -> Pause {
        let code = Rc::clone(&self.code);
        let instrs = &code.instrs[..];
        let mut pc = self.pc;
        macro_rules! reg {
            ($r:expr) => {
                self.registers[$r as usize]
            };
        }
        macro_rules! binary {
            ($d:expr, $a:expr, $b:expr, |$x:ident, $y:ident| $value:expr) => {{
                let ($x, $y) = (reg!($a), reg!($b));
                reg!($d) = $value;
            }};
        }
        macro_rules! jump_if {
            ($cond:expr, $to:expr) => {
                if $cond {
                    pc = $to as usize;
                }
            };
        }
        macro_rules! attempt {
            ($result:expr, $at:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(error) => return self.undefined($at, error),
                }
            };
        }
        macro_rules! or_end {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(pause) => return pause,
                }
            };
        }
        loop {
            let at = pc;
            pc += 1;
            match instrs[at] {
                Instr::Copy(d, a) => reg!(d) = reg!(a),
                Instr::AddI32(d, a, b) => binary!(d, a, b, |x, y| (x as i32).wrapping_add(y as i32) as u64),
                Instr::AddU32(d, a, b) => binary!(d, a, b, |x, y| u64::from((x as u32).wrapping_add(y as u32))),
                Instr::Add64(d, a, b) => binary!(d, a, b, |x, y| x.wrapping_add(y)),
                Instr::SubI32(d, a, b) => binary!(d, a, b, |x, y| (x as i32).wrapping_sub(y as i32) as u64),
                Instr::SubU32(d, a, b) => binary!(d, a, b, |x, y| u64::from((x as u32).wrapping_sub(y as u32))),
                Instr::Sub64(d, a, b) => binary!(d, a, b, |x, y| x.wrapping_sub(y)),
                Instr::MulI32(d, a, b) => binary!(d, a, b, |x, y| (x as i32).wrapping_mul(y as i32) as u64),
                Instr::MulU32(d, a, b) => binary!(d, a, b, |x, y| u64::from((x as u32).wrapping_mul(y as u32))),
                Instr::Mul64(d, a, b) => binary!(d, a, b, |x, y| x.wrapping_mul(y)),
                Instr::Exact(op, kind, a, b) => {
                    let exact = exact(op, kind.value(reg!(a)), kind.value(reg!(b)));
                    if self.overflow.is_none() && kind.value(kind.wrap(exact as u64)) != exact {
                        self.overflow = Some(self.asked(at));
                    }
                }
                Instr::And(d, a, b) => binary!(d, a, b, |x, y| x & y),
                Instr::Or(d, a, b) => binary!(d, a, b, |x, y| x | y),
                Instr::Xor(d, a, b) => binary!(d, a, b, |x, y| x ^ y),
                Instr::Div(kind, d, a, b) => reg!(d) = attempt!(divide(kind, reg!(a), reg!(b)), at).0,
                Instr::Rem(kind, d, a, b) => reg!(d) = attempt!(divide(kind, reg!(a), reg!(b)), at).1,
                Instr::Shl(kind, d, a, b) => {
                    let amount = attempt!(shift_amount(kind, reg!(b)), at);
                    reg!(d) = kind.wrap(reg!(a) << amount);
                }
                Instr::Shr(kind, d, a, b) => {
                    let amount = attempt!(shift_amount(kind, reg!(b)), at);
                    let value = reg!(a);
                    reg!(d) = if is_signed(kind) { ((value as i64) >> amount) as u64 } else { value >> amount };
                }
                Instr::Complement(kind, d, a) => reg!(d) = kind.wrap(!reg!(a)),
                Instr::Wrap(kind, d, a) => reg!(d) = kind.wrap(reg!(a)),
                Instr::Eq(d, a, b) => binary!(d, a, b, |x, y| u64::from(x == y)),
                Instr::Ne(d, a, b) => binary!(d, a, b, |x, y| u64::from(x != y)),
                Instr::LtS(d, a, b) => binary!(d, a, b, |x, y| u64::from((x as i64) < y as i64)),
                Instr::LeS(d, a, b) => binary!(d, a, b, |x, y| u64::from(x as i64 <= y as i64)),
                Instr::LtU(d, a, b) => binary!(d, a, b, |x, y| u64::from(x < y)),
                Instr::LeU(d, a, b) => binary!(d, a, b, |x, y| u64::from(x <= y)),
                Instr::Not(d, a) => reg!(d) = u64::from(reg!(a) == 0),
                Instr::BothTrue(d, a, b) => binary!(d, a, b, |x, y| u64::from(x != 0 && y != 0)),
                Instr::AnyTrue(d, a, b) => binary!(d, a, b, |x, y| u64::from(x | y != 0)),
                Instr::Select(d, c, a, b) => reg!(d) = if reg!(c) != 0 { reg!(a) } else { reg!(b) },
                Instr::Float(op, ty, d, a, b) => {
                    binary!(d, a, b, |x, y| floats::binary(op, ty, i128::from(x), i128::from(y)) as u64)
                }
                Instr::FloatFn(function, ty, d, a) => {
                    reg!(d) = floats::function(function, ty, i128::from(reg!(a))) as u64;
                }
                Instr::FloatEq(ty, d, a, b) => reg!(d) = compare(CmpOp::Eq, ty, reg!(a), reg!(b)),
                Instr::FloatLt(ty, d, a, b) => reg!(d) = compare(CmpOp::Lt, ty, reg!(a), reg!(b)),
                Instr::FloatLe(ty, d, a, b) => reg!(d) = compare(CmpOp::Le, ty, reg!(a), reg!(b)),
                Instr::FloatFromInt(ty, kind, d, a) => reg!(d) = floats::from_int(ty, kind.value(reg!(a))) as u64,
                Instr::FloatToInt(ty, kind, d, a) => {
                    reg!(d) = attempt!(floats::to_int(ty, i128::from(reg!(a)), kind.ty()), at) as u64;
                }
                Instr::FloatToFloat(ty, d, a) => reg!(d) = floats::convert(ty, i128::from(reg!(a))) as u64,
                Instr::Jump(to) => pc = to as usize,
                Instr::Loop(to) => {
                    pc = to as usize;
                    if WATCH && self.is_repeated(to) {
                        return Pause::Ended(End::Diverges);
                    }
                    if fuel == 0 {
                        self.pc = pc;
                        return Pause::OutOfFuel;
                    }
                    fuel -= 1;
                }
                Instr::JumpZero(a, to) => jump_if!(reg!(a) == 0, to),
                Instr::JumpNonzero(a, to) => jump_if!(reg!(a) != 0, to),
                Instr::JumpEq(a, b, to) => jump_if!(reg!(a) == reg!(b), to),
                Instr::JumpNe(a, b, to) => jump_if!(reg!(a) != reg!(b), to),
                Instr::JumpLtS(a, b, to) => jump_if!((reg!(a) as i64) < reg!(b) as i64, to),
                Instr::JumpLeS(a, b, to) => jump_if!(reg!(a) as i64 <= reg!(b) as i64, to),
                Instr::JumpLtU(a, b, to) => jump_if!(reg!(a) < reg!(b), to),
                Instr::JumpLeU(a, b, to) => jump_if!(reg!(a) <= reg!(b), to),
                Instr::JumpTaken(edge, to) => {
                    jump_if!(inputs.takes(Asked { edge, step: self.step_count }), to);
                }
                Instr::Within(a, range) => {
                    let (first, last) = code.ranges[range as usize];
                    if reg!(a).wrapping_sub(first) > last.wrapping_sub(first) {
                        return self.undefined(at, AccessError::Beyond);
                    }
                }
                Instr::Load(kind, d, a) => {
                    let addr = reg!(a);
                    reg!(d) = match load(&self.memory, kind, addr) {
                        Ok(Loaded::Value(value)) => kind.wrap(value),
                        _ => or_end!(self.load(at, kind, addr, inputs)),
                    };
                }
                Instr::LoadLazy(kind, d, a, flag) => match load(&self.memory, kind, reg!(a)) {
                    Ok(Loaded::Value(value)) => {
                        reg!(d) = kind.wrap(value);
                        reg!(flag) = 1;
                    }
                    Ok(Loaded::Undefined) => reg!(flag) = 0,
                    Err(error) => return self.undefined(at, error),
                },
                Instr::Store(kind, a, value) => {
                    let (addr, value) = (reg!(a), reg!(value));
                    attempt!(store(&mut self.memory, kind, addr, value), at);
                }
                Instr::StoreNothing(kind, a) => attempt!(self.memory.undefine(reg!(a), kind.bytes()), at),
                Instr::Alloc(d, size) => {
                    reg!(d) = or_end!(self.alloc(at, reg!(size), inputs));
                }
                Instr::Arguments(pointer, a, size) => {
                    or_end!(self.arguments(at, pointer, (reg!(a), reg!(size)), inputs));
                }
                Instr::Free(a) => attempt!(self.memory.free(reg!(a)), at),
                Instr::Zero(a, size) => attempt!(self.memory.zero(reg!(a), reg!(size)), at),
                Instr::Input(kind, d) => match inputs.value(self.asked(at), kind.ty()) {
                    Some(value) => reg!(d) = kind.wrap(value as u64),
                    None => return Pause::Ended(End::NeedsInput(self.place(at))),
                },
                Instr::NeedValue(flag, var) => {
                    if reg!(flag) == 0 {
                        return Pause::Ended(End::NeedsValue(self.place(at), Some(var)));
                    }
                }
                Instr::Birth(func) => {
                    for &(addr, size) in &code.local_objects[func.index()] {
                        if let Err(OutOfMemory) = self.memory.birth(addr, size) {
                            return self.exhausted(at, "memory");
                        }
                    }
                }
                Instr::Death(func) => {
                    for &(addr, size) in &code.local_objects[func.index()] {
                        self.memory.death(addr, size);
                    }
                }
                Instr::Seal => {
                    for &(addr, size) in &code.constant_objects {
                        self.memory.seal(addr, size);
                    }
                }
                Instr::Save(func) => {
                    let frame = code.registers.frames[func.index()];
                    if self.saved.len() > MAX_SAVED {
                        return self.exhausted(at, "stack");
                    }
                    self.saved.extend_from_slice(&self.registers[frame.start..frame.end]);
                }
                Instr::Restore(func) => {
                    let frame = code.registers.frames[func.index()];
                    let from = self.saved.len() - (frame.end - frame.start);
                    self.registers[frame.start..frame.end].copy_from_slice(&self.saved[from..]);
                    self.saved.truncate(from);
                    // What lies below may be different from what a watch saw.
                    self.memory.version += 1;
                }
                Instr::Call(to) => {
                    if self.calls.len() >= MAX_CALLS {
                        return self.exhausted(at, "stack");
                    }
                    self.calls.push(pc as u32);
                    pc = to as usize;
                    fuel = fuel.saturating_sub(1);
                }
                Instr::Return => match self.calls.pop() {
                    Some(back) => pc = back as usize,
                    None => return Pause::Ended(End::Returned),
                },
                Instr::Step(step) => self.step(step),
                Instr::Cover(edge) => {
                    let covered = &mut self.covered[edge.index()];
                    if !*covered {
                        *covered = true;
                        self.newly_covered += 1;
                    }
                }
                Instr::Target(node) => return Pause::Ended(End::Target(node)),
                Instr::Halt(node) => return Pause::Ended(End::Halted(node)),
                Instr::Unsupported => return Pause::Ended(End::Unsupported(self.place(at))),
                Instr::Idle => return Pause::Ended(End::Diverges),
            }
        }
    }
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine").field("pc", &self.pc).field("end", &self.end).finish_non_exhaustive()
    }
}

#[inline]
fn is_signed(kind: Kind) -> bool {
    matches!(kind, Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64)
}

/// The sum, difference or product of values of 64 bits.
#[inline]
fn exact(op: BinOp, a: i128, b: i128) -> i128 {
    match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        _ => a * b,
    }
}

fn compare(op: CmpOp, ty: FloatTy, a: u64, b: u64) -> u64 {
    u64::from(floats::compare(op, ty, i128::from(a), i128::from(b)))
}

/// Quotient and remainder.
#[inline]
pub(super) fn divide(kind: Kind, a: u64, b: u64) -> Result<(u64, u64), Undefined> {
    if b == 0 {
        return Err(Undefined::DivisionByZero);
    }
    if !is_signed(kind) {
        return Ok((a / b, a % b));
    }
    let (a, b) = (a as i64, b as i64);
    if b == -1 && a == i64::MIN >> (64 - kind.ty().bits) {
        return Err(Undefined::DivisionOverflow);
    }
    Ok(((a / b) as u64, (a % b) as u64))
}

#[inline]
pub(super) fn shift_amount(kind: Kind, amount: u64) -> Result<u64, Undefined> {
    // A negative amount is a large number here.
    if amount < u64::from(kind.ty().bits) { Ok(amount) } else { Err(Undefined::ShiftOutOfRange) }
}

#[inline]
fn load(memory: &Memory, kind: Kind, addr: u64) -> Result<Loaded, AccessError> {
    match kind {
        Kind::I8 | Kind::U8 => memory.load::<1>(addr),
        Kind::I16 | Kind::U16 => memory.load::<2>(addr),
        Kind::I32 | Kind::U32 => memory.load::<4>(addr),
        Kind::I64 | Kind::U64 => memory.load::<8>(addr),
    }
}

#[inline]
fn store(memory: &mut Memory, kind: Kind, addr: u64, value: u64) -> Result<(), AccessError> {
    match kind {
        Kind::I8 | Kind::U8 => memory.store::<1>(addr, value),
        Kind::I16 | Kind::U16 => memory.store::<2>(addr, value),
        Kind::I32 | Kind::U32 => memory.store::<4>(addr, value),
        Kind::I64 | Kind::U64 => memory.store::<8>(addr, value),
    }
}
