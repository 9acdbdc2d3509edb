// SPDX-License-Identifier: Apache-2.0
//! The compiler's functions for atomic access, `__sync_*` and `__atomic_*`: in a program without threads they read and write.

use crate::ast::{ExprRef, Range};
use crate::ids::ExprId;
use crate::ir::{BinOp, CmpOp, IntTy, Op, UnOp};
use crate::types::{Type, int, promote};

use super::place::{Lvalue, Place};
use super::{Lower, Val};

/// What a function does with the old value and its argument.
#[derive(Clone, Copy)]
enum Update {
    Plain(BinOp),
    Nand,
}

/// An operation on an object.
enum Access {
    /// The new value is computed from the old one; which of the two is the result.
    Update(Update, bool),
    /// `new = f(&object, new)`.
    Exchange,
    /// The same with pointers to both values.
    ExchangeBy,
    Load,
    LoadBy,
    Store,
    StoreBy,
    /// Stores 0 and 1.
    Clear,
    Set,
    /// Compares with a value; the result is the old value or whether it was equal.
    Swap(bool),
    /// Compares with what a pointer leads to, which gets the old value otherwise. The new value is the argument, or
    /// a pointer leads to it.
    SwapBy(bool),
    Nothing,
}

fn update(name: &str) -> Option<Update> {
    Some(match name {
        "add" => Update::Plain(BinOp::Add),
        "sub" => Update::Plain(BinOp::Sub),
        "and" => Update::Plain(BinOp::BitAnd),
        "or" => Update::Plain(BinOp::BitOr),
        "xor" => Update::Plain(BinOp::BitXor),
        "nand" => Update::Nand,
        _ => return None,
    })
}

/// The access that a function makes, and the least number of its arguments.
fn known(name: &str) -> Option<(Access, usize)> {
    if let Some(name) = name.strip_prefix("__sync_") {
        return Some(match name {
            "bool_compare_and_swap" => (Access::Swap(true), 3),
            "val_compare_and_swap" => (Access::Swap(false), 3),
            "lock_test_and_set" => (Access::Exchange, 2),
            "lock_release" => (Access::Clear, 1),
            "synchronize" => (Access::Nothing, 0),
            name => match (name.strip_prefix("fetch_and_"), name.strip_suffix("_and_fetch")) {
                (Some(name), _) => (Access::Update(update(name)?, false), 2),
                (_, Some(name)) => (Access::Update(update(name)?, true), 2),
                _ => return None,
            },
        });
    }
    let name = name.strip_prefix("__atomic_")?;
    Some(match name {
        "load_n" => (Access::Load, 2),
        "load" => (Access::LoadBy, 3),
        "store_n" => (Access::Store, 3),
        "store" => (Access::StoreBy, 3),
        "exchange_n" => (Access::Exchange, 3),
        "exchange" => (Access::ExchangeBy, 4),
        "compare_exchange_n" => (Access::SwapBy(false), 6),
        "compare_exchange" => (Access::SwapBy(true), 6),
        "test_and_set" => (Access::Set, 2),
        "clear" => (Access::Clear, 2),
        "thread_fence" | "signal_fence" => (Access::Nothing, 1),
        name => match (name.strip_prefix("fetch_"), name.strip_suffix("_fetch")) {
            (Some(name), _) => (Access::Update(update(name)?, false), 3),
            (_, Some(name)) => (Access::Update(update(name)?, true), 3),
            _ => return None,
        },
    })
}

impl<'a> Lower<'a> {
    /// The value of a call, if it is one of these functions.
    pub(super) fn atomic(&mut self, name: &str, args: &'a [ExprRef], range: Range) -> Option<Val> {
        let (access, least) = known(name)?;
        let values = self.arguments(args, &[], range);
        self.call_site(name, range);
        let done = if args.len() < least { None } else { self.access(name, &access, values, range) };
        self.atomic_writes.push(self.graph.edges.len());
        Some(done.unwrap_or_else(|| self.refused(format!("call of '{name}' with operands of these types"), range)))
    }

    fn access(&mut self, name: &str, access: &Access, values: Vec<Val>, range: Range) -> Option<Val> {
        if matches!(access, Access::Nothing) {
            return Some(Val::Void);
        }
        let mut object = self.object_behind(values.first()?)?;
        let byte = matches!(name, "__atomic_test_and_set" | "__atomic_clear");
        if byte {
            object.ty = int(8, false);
        }
        let ty = object.ty.clone();
        let storage = match &ty {
            Type::Int(ty) => *ty,
            Type::Pointer(_) => self.machine.size_type(),
            _ => return None,
        };
        let number = |lower: &mut Self, value: i128| lower.exprs.constant(storage, value);
        Some(match access {
            Access::Nothing => Val::Void,
            Access::Load => self.current(&object, range),
            Access::LoadBy => {
                let target = self.object_of(&ty, &values[1])?;
                let value = self.current(&object, range);
                self.assign_value(&target, value, range);
                Val::Void
            }
            Access::Store => {
                self.assign_value(&object, values[1].clone(), range);
                Val::Void
            }
            Access::StoreBy => {
                let source = self.object_of(&ty, &values[1])?;
                let value = self.current(&source, range);
                self.assign_value(&object, value, range);
                Val::Void
            }
            Access::Clear => {
                let zero = number(self, 0);
                self.write(&object, zero, range);
                Val::Void
            }
            Access::Set => {
                let old = self.current(&object, range);
                let truth = self.convert(old, &Type::Bool, range);
                let one = number(self, 1);
                self.write(&object, one, range);
                truth
            }
            Access::Exchange => {
                let old = self.current(&object, range);
                self.assign_value(&object, values[1].clone(), range);
                old
            }
            Access::ExchangeBy => {
                let (source, target) = (self.object_of(&ty, &values[1])?, self.object_of(&ty, &values[2])?);
                let new = self.current(&source, range);
                let old = self.current(&object, range);
                self.assign_value(&object, new, range);
                self.assign_value(&target, old, range);
                Val::Void
            }
            Access::Update(update, new_wanted) => {
                if !matches!(ty, Type::Int(_)) {
                    return None;
                }
                let old = self.current(&object, range);
                let old = self.convert_int(old, &ty, range);
                let by = self.convert_int(values[1].clone(), &ty, range);
                let new = self.updated(*update, old, by, storage);
                let new = self.saved(new, range);
                self.write(&object, new, range);
                Val::Int(if *new_wanted { new } else { old }, ty)
            }
            Access::Swap(truth_wanted) => {
                let expected = self.convert_int(values[1].clone(), &ty, range);
                let expected = self.saved_as(expected, &ty, range);
                let (old, equal) = self.swap(&object, expected, &values[2], None, range);
                if *truth_wanted { equal } else { old }
            }
            Access::SwapBy(by_pointer) => {
                let target = self.object_of(&ty, &values[1])?;
                let expected = self.current(&target, range);
                let expected = self.convert_int(expected, &ty, range);
                let new = match by_pointer {
                    true => {
                        let source = self.object_of(&ty, &values[2])?;
                        self.current(&source, range)
                    }
                    false => values[2].clone(),
                };
                self.swap(&object, expected, &new, Some(&target), range).1
            }
        })
    }

    /// Writes the new value if the old one is as expected, and otherwise the old one to the other object, if there is one.
    /// The result is the old value, and whether they were equal. It never fails for no reason, as on x86.
    fn swap(
        &mut self,
        object: &Lvalue,
        expected: ExprId,
        new: &Val,
        otherwise: Option<&Lvalue>,
        range: Range,
    ) -> (Val, Val) {
        let old = self.current(object, range);
        let new = self.convert_int(new.clone(), &object.ty, range);
        let found = self.convert_int(old.clone(), &object.ty, range);
        let equal = self.exprs.cmp(CmpOp::Eq, found, expected);
        let truth = IntTy { bits: 8, signed: false };
        let kept = self.exprs.cast(equal, truth);
        let kept = self.saved_as(kept, &Type::Bool, range);
        let (yes, no, after) = (self.fresh(), self.fresh(), self.fresh());
        self.assume(equal, yes, no, range);
        self.cur = yes;
        self.write(object, new, range);
        self.edge(self.cur, after, Op::Skip, range);
        self.cur = no;
        if let Some(other) = otherwise {
            self.assign_value(other, old.clone(), range);
        }
        self.edge(self.cur, after, Op::Skip, range);
        self.cur = after;
        (old, Val::Int(kept, Type::Bool))
    }

    fn updated(&mut self, update: Update, old: ExprId, by: ExprId, ty: IntTy) -> ExprId {
        let wide = IntTy { signed: false, ..promote(ty) };
        let (old, by) = (self.exprs.cast(old, wide), self.exprs.cast(by, wide));
        let new = match update {
            Update::Plain(op) => self.exprs.binary(op, old, by),
            Update::Nand => {
                let both = self.exprs.binary(BinOp::BitAnd, old, by);
                self.exprs.unary(UnOp::BitNot, both)
            }
        };
        self.exprs.cast(new, ty)
    }

    /// The object that a pointer leads to.
    fn object_behind(&self, value: &Val) -> Option<Lvalue> {
        match value {
            Val::Int(addr, Type::Pointer(inner)) => Some(Lvalue::new(Place::Memory(*addr), (**inner).clone())),
            _ => None,
        }
    }

    /// The same for one of a type.
    fn object_of(&self, ty: &Type, value: &Val) -> Option<Lvalue> {
        let found = self.object_behind(value)?;
        (found.ty.storage(self.machine) == ty.storage(self.machine)).then_some(Lvalue { ty: ty.clone(), ..found })
    }

    /// What an object holds now.
    fn current(&mut self, object: &Lvalue, range: Range) -> Val {
        match self.rvalue(object.clone(), range) {
            Val::Int(expr, ty) => Val::Int(self.saved_as(expr, &ty, range), ty),
            value => value,
        }
    }

    fn assign_value(&mut self, object: &Lvalue, value: Val, range: Range) {
        let value = self.convert_int(value, &object.ty, range);
        self.write(object, value, range);
    }
}
