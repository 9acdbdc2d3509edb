// SPDX-License-Identifier: Apache-2.0
//! The code that programs are compiled to: instructions over one file of 64-bit registers.
//!
//! A register holds a value of an integer type sign-extended or zero-extended as the type is, so comparisons and bitwise
//! operators need not know the width, and a conversion looks only at the target. Every variable has a register of its own;
//! the variables of a function that may be active twice are saved by its callers.

use rustc_hash::FxHashMap;

use crate::ids::{EdgeId, FuncId, NodeId, VarId};
use crate::ir::{BinOp, FloatFn, FloatOp, FloatTy, IntTy, Scope};
use crate::program::Program;

use super::{Move, TooLarge};

/// Number of a register.
pub(super) type Reg = u16;

/// How many registers there are; all register numbers are valid.
pub(super) const REGISTERS: usize = 1 << 16;

/// An integer type in one byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl Kind {
    pub(super) fn of(ty: IntTy) -> Self {
        match (ty.bits, ty.signed) {
            (8, true) => Kind::I8,
            (8, false) => Kind::U8,
            (16, true) => Kind::I16,
            (16, false) => Kind::U16,
            (32, true) => Kind::I32,
            (32, false) => Kind::U32,
            (64, true) => Kind::I64,
            (64, false) => Kind::U64,
            _ => unreachable!("the automaton has integers of 8, 16, 32 and 64 bits"),
        }
    }

    pub(super) fn ty(self) -> IntTy {
        let (bits, signed) = match self {
            Kind::I8 => (8, true),
            Kind::U8 => (8, false),
            Kind::I16 => (16, true),
            Kind::U16 => (16, false),
            Kind::I32 => (32, true),
            Kind::U32 => (32, false),
            Kind::I64 => (64, true),
            Kind::U64 => (64, false),
        };
        IntTy { bits, signed }
    }

    pub(super) fn bytes(self) -> usize {
        self.ty().bits as usize / 8
    }

    /// The register contents that stand for the value of this type that is congruent to `value`.
    #[inline]
    pub(super) fn wrap(self, value: u64) -> u64 {
        match self {
            Kind::I8 => value as i8 as u64,
            Kind::U8 => u64::from(value as u8),
            Kind::I16 => value as i16 as u64,
            Kind::U16 => u64::from(value as u16),
            Kind::I32 => value as i32 as u64,
            Kind::U32 => u64::from(value as u32),
            Kind::I64 | Kind::U64 => value,
        }
    }

    /// The value that a register stands for.
    #[inline]
    pub(super) fn value(self, register: u64) -> i128 {
        if matches!(self, Kind::I64 | Kind::I32 | Kind::I16 | Kind::I8) {
            i128::from(register as i64)
        } else {
            i128::from(register)
        }
    }
}

/// An instruction. The target register comes first, then the operands; jumps carry their destination.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Instr {
    Copy(Reg, Reg),
    AddI32(Reg, Reg, Reg),
    AddU32(Reg, Reg, Reg),
    Add64(Reg, Reg, Reg),
    SubI32(Reg, Reg, Reg),
    SubU32(Reg, Reg, Reg),
    Sub64(Reg, Reg, Reg),
    MulI32(Reg, Reg, Reg),
    MulU32(Reg, Reg, Reg),
    Mul64(Reg, Reg, Reg),
    /// Notes it if the sum, difference or product, which is computed next, is no value of the type.
    Exact(BinOp, Kind, Reg, Reg),
    And(Reg, Reg, Reg),
    Or(Reg, Reg, Reg),
    Xor(Reg, Reg, Reg),
    Div(Kind, Reg, Reg, Reg),
    Rem(Kind, Reg, Reg, Reg),
    Shl(Kind, Reg, Reg, Reg),
    Shr(Kind, Reg, Reg, Reg),
    Complement(Kind, Reg, Reg),
    Wrap(Kind, Reg, Reg),
    Eq(Reg, Reg, Reg),
    Ne(Reg, Reg, Reg),
    LtS(Reg, Reg, Reg),
    LeS(Reg, Reg, Reg),
    LtU(Reg, Reg, Reg),
    LeU(Reg, Reg, Reg),
    /// 1 if the operand is 0, else 0.
    Not(Reg, Reg),
    BothTrue(Reg, Reg, Reg),
    AnyTrue(Reg, Reg, Reg),
    /// The second operand if the first one is not 0, else the third.
    Select(Reg, Reg, Reg, Reg),
    Float(FloatOp, FloatTy, Reg, Reg, Reg),
    FloatFn(FloatFn, FloatTy, Reg, Reg),
    FloatEq(FloatTy, Reg, Reg, Reg),
    FloatLt(FloatTy, Reg, Reg, Reg),
    FloatLe(FloatTy, Reg, Reg, Reg),
    /// From an integer of the given type.
    FloatFromInt(FloatTy, Kind, Reg, Reg),
    FloatToInt(FloatTy, Kind, Reg, Reg),
    FloatToFloat(FloatTy, Reg, Reg),
    Jump(u32),
    /// A jump backwards; it uses up fuel.
    Loop(u32),
    JumpZero(Reg, u32),
    JumpNonzero(Reg, u32),
    JumpEq(Reg, Reg, u32),
    JumpNe(Reg, Reg, u32),
    JumpLtS(Reg, Reg, u32),
    JumpLeS(Reg, Reg, u32),
    JumpLtU(Reg, Reg, u32),
    JumpLeU(Reg, Reg, u32),
    /// Jumps if the inputs choose the edge among several without operation.
    JumpTaken(EdgeId, u32),
    /// The run cannot go on if the address is not in the range with this number.
    Within(Reg, u32),
    Load(Kind, Reg, Reg),
    /// As `Load`, but bytes without a defined value make the flag in the third register 0.
    LoadLazy(Kind, Reg, Reg, Reg),
    /// Address, value.
    Store(Kind, Reg, Reg),
    /// The bytes at the address have no defined value any more.
    StoreNothing(Kind, Reg),
    Alloc(Reg, Reg),
    /// What pointers are like, address and size of the new array of pointers to the arguments of the program.
    Arguments(Kind, Reg, Reg),
    Free(Reg),
    /// Address, size.
    Zero(Reg, Reg),
    /// An input for a variable of the given type.
    Input(Kind, Reg),
    /// The run cannot go on if the register is 0: a variable is read that has no value.
    NeedValue(Reg, VarId),
    /// The local objects of the function begin to live.
    Birth(FuncId),
    /// They end to live.
    Death(FuncId),
    /// From now on constant objects must not be written to.
    Seal,
    /// Puts the registers of a function aside.
    Save(FuncId),
    /// Takes them back.
    Restore(FuncId),
    /// The operand is the destination; execution comes back behind this instruction.
    Call(u32),
    Return,
    /// Tells whoever records the run.
    Step(Move),
    /// Notes that a branch was taken.
    Cover(EdgeId),
    Target(NodeId),
    Halt(NodeId),
    Unsupported,
    /// A loop that does nothing.
    Idle,
}

/// The registers of a function.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Frame {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Which register belongs to what.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    /// For each variable.
    vars: Vec<Option<Reg>>,
    /// For each variable that may have no value when it is read, the flag that says whether it has one.
    flags: Vec<Option<Reg>>,
    /// For each function.
    pub(super) frames: Vec<Frame>,
    constants: FxHashMap<u64, Reg>,
    temporaries: Vec<Reg>,
    /// The contents at the start.
    pub(super) initial: Vec<u64>,
}

impl Registers {
    /// Gives registers to the variables that `used` holds for and flags to those that `flagged` holds for.
    pub(super) fn new(
        program: &Program,
        used: impl Fn(VarId) -> bool,
        flagged: impl Fn(VarId) -> bool,
    ) -> Result<Self, TooLarge> {
        let mut of_scope: Vec<Vec<VarId>> = vec![Vec::new(); program.funcs.len() + 1];
        for index in 0..program.vars.len() {
            let var = VarId::new(index);
            let scope = match program.var(var).scope {
                Scope::Global => program.funcs.len(),
                Scope::Local(func) => func.index(),
            };
            if used(var) {
                of_scope[scope].push(var);
            }
        }
        let mut registers = Registers {
            vars: vec![None; program.vars.len()],
            flags: vec![None; program.vars.len()],
            frames: Vec::with_capacity(of_scope.len()),
            constants: FxHashMap::default(),
            temporaries: Vec::new(),
            initial: Vec::new(),
        };
        for vars in &of_scope {
            let start = registers.initial.len();
            for &var in vars {
                registers.vars[var.index()] = Some(registers.fresh(0)?);
                if flagged(var) {
                    registers.flags[var.index()] = Some(registers.fresh(0)?);
                }
            }
            registers.frames.push(Frame { start, end: registers.initial.len() });
        }
        Ok(registers)
    }

    fn fresh(&mut self, value: u64) -> Result<Reg, TooLarge> {
        let reg = Reg::try_from(self.initial.len()).map_err(|_| TooLarge)?;
        self.initial.push(value);
        Ok(reg)
    }

    pub(super) fn constant(&mut self, value: u64) -> Result<Reg, TooLarge> {
        if let Some(&reg) = self.constants.get(&value) {
            return Ok(reg);
        }
        let reg = self.fresh(value)?;
        self.constants.insert(value, reg);
        Ok(reg)
    }

    /// A register for an intermediate result, the same for the same number.
    pub(super) fn temporary(&mut self, number: usize) -> Result<Reg, TooLarge> {
        while self.temporaries.len() <= number {
            let reg = self.fresh(0)?;
            self.temporaries.push(reg);
        }
        Ok(self.temporaries[number])
    }

    pub(super) fn var(&self, var: VarId) -> Reg {
        self.vars[var.index()].expect("all variables in the code have registers")
    }

    pub(super) fn find(&self, var: VarId) -> Option<Reg> {
        self.vars[var.index()]
    }

    pub(super) fn flag(&self, var: VarId) -> Option<Reg> {
        self.flags[var.index()]
    }
}
