// SPDX-License-Identifier: Apache-2.0
//! Expressions and conditions as instructions. An operand that C does not evaluate is not evaluated either when that makes
//! a difference, that is, when it may be undefined; otherwise straight code is faster.

use crate::ids::ExprId;
use crate::ir::{BinOp, CmpOp, ExprKind, IntTy, UnOp};

use super::TooLarge;
use super::code::{Instr, Kind, Reg};
use super::compile::{Compiler, Label};

/// Conditions with more operators than this are computed as values, because a shared operand is compiled each time that a
/// condition jumps on it.
const MAX_CONDITIONS: u32 = 400;

impl Compiler<'_> {
    /// Whether evaluating the expression has no effect but its value.
    fn is_straight(&self, id: ExprId) -> bool {
        let exprs = &self.program.exprs;
        exprs.is_total(id) && (self.doubts.is_empty() || !exprs.vars(id).iter().any(|var| self.doubts.contains(var)))
    }

    /// The register with the value of the expression.
    pub(super) fn value(&mut self, id: ExprId) -> Result<Reg, TooLarge> {
        let expr = self.program.exprs.get(id);
        match expr.kind {
            ExprKind::Const(value) => return self.registers.constant(value as u64),
            ExprKind::Var(var) if !self.doubts.contains(&var) => return Ok(self.registers.var(var)),
            _ => {}
        }
        if let Some(&reg) = self.memo.get(&id) {
            return Ok(reg);
        }
        if let ExprKind::Var(var) = expr.kind {
            let flag = self.registers.flag(var).expect("doubtful variables have flags");
            self.emit(Instr::NeedValue(flag, var));
            self.remember(id, self.registers.var(var));
            return Ok(self.registers.var(var));
        }
        let target = self.temporary()?;
        self.compute(id, target)?;
        self.remember(id, target);
        Ok(target)
    }

    /// Makes a register hold the value of the expression. The register may belong to a variable of the expression.
    pub(super) fn value_into(&mut self, id: ExprId, target: Reg) -> Result<(), TooLarge> {
        let needs_copy = match self.program.exprs.get(id).kind {
            ExprKind::Const(_) | ExprKind::Var(_) => true,
            ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Ite(..) => !self.is_straight(id),
            _ => false,
        };
        if needs_copy || self.memo.contains_key(&id) {
            let reg = self.value(id)?;
            self.emit(Instr::Copy(target, reg));
            return Ok(());
        }
        self.compute(id, target)
    }

    fn remember(&mut self, id: ExprId, reg: Reg) {
        self.memo.insert(id, reg);
        self.journal.push(id);
    }

    /// Compiles something that is not executed always; values computed there are forgotten.
    fn sometimes<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T, TooLarge>) -> Result<T, TooLarge> {
        let before = self.journal.len();
        let result = act(self);
        for id in self.journal.split_off(before) {
            self.memo.remove(&id);
        }
        result
    }

    /// Computes an expression with operands; only the last instruction writes to the target, except for logical operators
    /// that are not straight.
    fn compute(&mut self, id: ExprId, target: Reg) -> Result<(), TooLarge> {
        let expr = self.program.exprs.get(id);
        let kind = Kind::of(expr.ty);
        let instr = match expr.kind {
            ExprKind::Const(_) | ExprKind::Var(_) => unreachable!("these have registers of their own"),
            ExprKind::Unary(UnOp::Neg, a) => {
                let (zero, a) = (self.registers.constant(0)?, self.value(a)?);
                return self.arithmetic(BinOp::Sub, expr.ty, target, zero, a);
            }
            ExprKind::Unary(UnOp::BitNot, a) => Instr::Complement(kind, target, self.value(a)?),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                return self.arithmetic(op, expr.ty, target, a, b);
            }
            ExprKind::Cmp(op, a, b) => {
                let signed = self.program.exprs.ty(a).signed;
                let (a, b) = (self.value(a)?, self.value(b)?);
                match (op, signed) {
                    (CmpOp::Eq, _) => Instr::Eq(target, a, b),
                    (CmpOp::Ne, _) => Instr::Ne(target, a, b),
                    (CmpOp::Lt, true) => Instr::LtS(target, a, b),
                    (CmpOp::Le, true) => Instr::LeS(target, a, b),
                    (CmpOp::Lt, false) => Instr::LtU(target, a, b),
                    (CmpOp::Le, false) => Instr::LeU(target, a, b),
                }
            }
            ExprKind::Not(a) => Instr::Not(target, self.value(a)?),
            ExprKind::And(_, b) | ExprKind::Or(_, b) if !self.is_straight(b) => {
                return self.sometimes(|this| {
                    let (yes, end) = (this.label(), this.label());
                    this.condition(id, true, yes)?;
                    let (zero, one) = (this.registers.constant(0)?, this.registers.constant(1)?);
                    this.emit(Instr::Copy(target, zero));
                    this.jump(end);
                    this.bind(yes);
                    this.emit(Instr::Copy(target, one));
                    this.bind(end);
                    Ok(())
                });
            }
            ExprKind::And(a, b) => Instr::BothTrue(target, self.value(a)?, self.value(b)?),
            ExprKind::Or(a, b) => Instr::AnyTrue(target, self.value(a)?, self.value(b)?),
            ExprKind::Ite(cond, yes, no) if !self.is_straight(yes) || !self.is_straight(no) => {
                let cond = self.value(cond)?;
                let (otherwise, end) = (self.label(), self.label());
                self.jump_if(Instr::JumpZero(cond, 0), otherwise);
                self.sometimes(|this| this.copy_value(yes, target))?;
                self.jump(end);
                self.bind(otherwise);
                self.sometimes(|this| this.copy_value(no, target))?;
                self.bind(end);
                return Ok(());
            }
            ExprKind::Ite(cond, yes, no) => Instr::Select(target, self.value(cond)?, self.value(yes)?, self.value(no)?),
            ExprKind::Cast(a) => {
                let from = self.program.exprs.ty(a);
                let a = self.value(a)?;
                let fits = from.min() >= expr.ty.min() && from.max() <= expr.ty.max();
                if fits || expr.ty.bits == 64 { Instr::Copy(target, a) } else { Instr::Wrap(kind, target, a) }
            }
            ExprKind::Float(op, ty, a, b) => Instr::Float(op, ty, target, self.value(a)?, self.value(b)?),
            ExprKind::FloatFn(function, ty, a) => Instr::FloatFn(function, ty, target, self.value(a)?),
            ExprKind::FloatCmp(op, ty, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                match op {
                    CmpOp::Eq | CmpOp::Ne => Instr::FloatEq(ty, target, a, b),
                    CmpOp::Lt => Instr::FloatLt(ty, target, a, b),
                    CmpOp::Le => Instr::FloatLe(ty, target, a, b),
                }
            }
            ExprKind::FloatFromInt(to, a) => {
                Instr::FloatFromInt(to, Kind::of(self.program.exprs.ty(a)), target, self.value(a)?)
            }
            ExprKind::FloatToInt(from, a) => Instr::FloatToInt(from, kind, target, self.value(a)?),
            ExprKind::FloatToFloat(from, a) => Instr::FloatToFloat(from, target, self.value(a)?),
        };
        self.emit(instr);
        Ok(())
    }

    fn copy_value(&mut self, id: ExprId, target: Reg) -> Result<(), TooLarge> {
        let reg = self.value(id)?;
        self.emit(Instr::Copy(target, reg));
        Ok(())
    }

    fn arithmetic(&mut self, op: BinOp, ty: IntTy, target: Reg, a: Reg, b: Reg) -> Result<(), TooLarge> {
        let kind = Kind::of(ty);
        let narrow = ty.bits < 32;
        let instr = match (op, kind) {
            (BinOp::Add, Kind::I32) => Instr::AddI32(target, a, b),
            (BinOp::Add, Kind::U32) => Instr::AddU32(target, a, b),
            (BinOp::Add, _) => Instr::Add64(target, a, b),
            (BinOp::Sub, Kind::I32) => Instr::SubI32(target, a, b),
            (BinOp::Sub, Kind::U32) => Instr::SubU32(target, a, b),
            (BinOp::Sub, _) => Instr::Sub64(target, a, b),
            (BinOp::Mul, Kind::I32) => Instr::MulI32(target, a, b),
            (BinOp::Mul, Kind::U32) => Instr::MulU32(target, a, b),
            (BinOp::Mul, _) => Instr::Mul64(target, a, b),
            (BinOp::Div, _) => Instr::Div(kind, target, a, b),
            (BinOp::Rem, _) => Instr::Rem(kind, target, a, b),
            (BinOp::Shl, _) => Instr::Shl(kind, target, a, b),
            (BinOp::Shr, _) => Instr::Shr(kind, target, a, b),
            (BinOp::BitAnd, _) => Instr::And(target, a, b),
            (BinOp::BitOr, _) => Instr::Or(target, a, b),
            (BinOp::BitXor, _) => Instr::Xor(target, a, b),
        };
        if self.setup.overflows && matches!((op, kind), (BinOp::Add | BinOp::Sub | BinOp::Mul, Kind::I32 | Kind::I64)) {
            self.emit(Instr::Exact(op, kind, a, b));
        }
        self.emit(instr);
        if narrow && matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul) {
            self.emit(Instr::Wrap(kind, target, target));
        }
        Ok(())
    }

    /// Jumps to the label if the truth of the expression is `truth`, else goes on behind.
    pub(super) fn condition(&mut self, id: ExprId, truth: bool, label: Label) -> Result<(), TooLarge> {
        let exprs = &self.program.exprs;
        self.conditions += 1;
        let expandable = self.conditions < MAX_CONDITIONS && !self.memo.contains_key(&id);
        match exprs.get(id).kind {
            ExprKind::Const(value) => {
                if (value != 0) == truth {
                    self.jump(label);
                }
                Ok(())
            }
            ExprKind::Not(a) if expandable => self.condition(a, !truth, label),
            ExprKind::And(a, b) | ExprKind::Or(a, b) if expandable || !self.is_straight(b) => {
                let is_and = matches!(exprs.get(id).kind, ExprKind::And(..));
                if is_and != truth {
                    // Either operand alone decides for the jump.
                    self.condition(a, truth, label)?;
                    return self.sometimes(|this| this.condition(b, truth, label));
                }
                let behind = self.label();
                self.condition(a, !truth, behind)?;
                self.sometimes(|this| this.condition(b, truth, label))?;
                self.bind(behind);
                Ok(())
            }
            ExprKind::Cmp(op @ (CmpOp::Eq | CmpOp::Ne), a, b) if expandable && exprs.as_const(b) == Some(0) => {
                let a = self.value(a)?;
                let zero = (op == CmpOp::Eq) == truth;
                self.jump_if(if zero { Instr::JumpZero(a, 0) } else { Instr::JumpNonzero(a, 0) }, label);
                Ok(())
            }
            ExprKind::Cmp(op, a, b) if expandable => {
                let signed = exprs.ty(a).signed;
                let (a, b) = (self.value(a)?, self.value(b)?);
                let instr = match (op, truth, signed) {
                    (CmpOp::Eq, true, _) | (CmpOp::Ne, false, _) => Instr::JumpEq(a, b, 0),
                    (CmpOp::Ne, true, _) | (CmpOp::Eq, false, _) => Instr::JumpNe(a, b, 0),
                    (CmpOp::Lt, true, true) => Instr::JumpLtS(a, b, 0),
                    (CmpOp::Lt, true, false) => Instr::JumpLtU(a, b, 0),
                    (CmpOp::Lt, false, true) => Instr::JumpLeS(b, a, 0),
                    (CmpOp::Lt, false, false) => Instr::JumpLeU(b, a, 0),
                    (CmpOp::Le, true, true) => Instr::JumpLeS(a, b, 0),
                    (CmpOp::Le, true, false) => Instr::JumpLeU(a, b, 0),
                    (CmpOp::Le, false, true) => Instr::JumpLtS(b, a, 0),
                    (CmpOp::Le, false, false) => Instr::JumpLtU(b, a, 0),
                };
                self.jump_if(instr, label);
                Ok(())
            }
            _ => {
                let value = self.value(id)?;
                self.jump_if(if truth { Instr::JumpNonzero(value, 0) } else { Instr::JumpZero(value, 0) }, label);
                Ok(())
            }
        }
    }
}
