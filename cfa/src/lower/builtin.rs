// SPDX-License-Identifier: Apache-2.0
//! Functions of the compiler about types and constants, whose arguments are not evaluated.

use crate::ast::{Expr, ExprRef, Range};
use crate::types::Type;

use super::{Lower, Val};

impl<'a> Lower<'a> {
    /// The value of such a function; none for other names.
    pub(super) fn compile_time(&mut self, name: &str, args: &'a [ExprRef], range: Range) -> Option<Val> {
        Some(match (name, args) {
            ("__builtin_choose_expr", [cond, yes, no]) => match self.constant_value(*cond) {
                Some(0) => self.value(*no),
                Some(_) => self.value(*yes),
                None => self.refused(format!("call of '{name}'"), range),
            },
            ("__builtin_constant_p", [arg]) => {
                let known = i128::from(self.constant_value(*arg).is_some());
                self.constant(known, Type::INT)
            }
            ("__builtin_types_compatible_p", [left, right]) => self.compatible(*left, *right, range),
            // How much compilers know depends on how much they optimise.
            ("__builtin_object_size" | "__builtin_dynamic_object_size", [_, _]) => {
                let ty = Type::Int(self.machine.size_type());
                self.unmodelled(name, &ty, range)
            }
            _ => return None,
        })
    }

    /// `__builtin_types_compatible_p`, whose types arrive below `sizeof`. Types that only look alike here, such as `int`
    /// and `long` on a 32-bit machine, are not told apart.
    fn compatible(&mut self, left: ExprRef, right: ExprRef, range: Range) -> Val {
        let mut of = |at| match self.ast().expr(at) {
            Expr::SizeofType(name) => {
                let base = self.spec_type(&name.spec);
                Some(self.declarator_type(base, &name.declarator))
            }
            _ => None,
        };
        let answer = match (of(left), of(right)) {
            (Some(Type::Record(left)), Some(Type::Record(right))) => Some(left == right),
            (Some(left), Some(right)) => {
                let class = |ty: &Type| match ty {
                    Type::Int(ty) => Some((0, ty.bits)),
                    Type::Pointer(_) => Some((1, 0)),
                    Type::Array(..) => Some((2, 0)),
                    Type::Record(_) => Some((3, 0)),
                    Type::Float(size @ (4 | 8), _) => Some((4, *size as u32)),
                    _ => None,
                };
                (class(&left).is_some() && class(&right).is_some() && class(&left) != class(&right)).then_some(false)
            }
            _ => None,
        };
        match answer {
            Some(answer) => self.constant(i128::from(answer), Type::INT),
            None => self.refused("call of '__builtin_types_compatible_p'".into(), range),
        }
    }
}
