// SPDX-License-Identifier: Apache-2.0
//! Calls: of functions with a body, of inputs and assumptions, of functions that end the execution.

use std::sync::Arc;

use crate::ast::{Expr, ExprRef, Range};
use crate::ids::{ExprId, FuncId, NodeId};
use crate::ir::{FloatTy, HavocOrigin, IntTy, Op};
use crate::library;
use crate::program::UndefinedFunctions;
use crate::types::{MachineModel, Type, int};

use super::expr::opaque;
use super::math::{self, Math};
use super::{Binding, Lower, Val};

/// Functions without a body whose call ends the execution.
const ENDING: [&str; 10] = [
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "__assert_fail",
    "__assert_rtn",
    "__builtin_unreachable",
    "__VERIFIER_error",
    "reach_error",
];

/// Functions without a body that change nothing that a program without threads can see, but for `%n`; they return anything.
const SILENT: [&str; 32] = [
    "printf",
    "fprintf",
    "dprintf",
    "vprintf",
    "vfprintf",
    "puts",
    "fputs",
    "putchar",
    "fputc",
    "putc",
    "perror",
    "fflush",
    "wprintf",
    "fwrite",
    "write",
    "fopen",
    "fclose",
    "feof",
    "ferror",
    "fseek",
    "ftell",
    "rewind",
    "close",
    "srand",
    "srandom",
    "clock",
    "sleep",
    "usleep",
    "syslog",
    "__builtin_prefetch",
    "__VERIFIER_atomic_begin",
    "__VERIFIER_atomic_end",
];

/// Functions that change what the program can see even without pointers to it; names that begin with two underscores
/// belong to the compiler and are among them.
const KEEPERS: [&str; 16] = [
    "malloc",
    "calloc",
    "realloc",
    "alloca",
    "aligned_alloc",
    "memalign",
    "valloc",
    "sbrk",
    "mmap",
    "free",
    "fork",
    "vfork",
    "setjmp",
    "_setjmp",
    "sigsetjmp",
    "longjmp",
];

impl<'a> Lower<'a> {
    pub(super) fn call(&mut self, callee: ExprRef, args: &'a [ExprRef], range: Range) -> Val {
        let name = match self.ast().expr(callee) {
            Expr::Ident(name) => *name,
            _ => {
                let value = self.value(callee);
                let why = match self.demoted(value) {
                    Val::Opaque(Type::Function(_) | Type::Pointer(_), _) => "call through a pointer",
                    _ => "call of something that is no function",
                };
                self.arguments(args, &[], range);
                return self.refused(why.into(), range);
            }
        };
        match self.lookup(name) {
            Some(Binding::Func(func)) => {
                let func = *func;
                match self.with_body(name, func) {
                    Some(body) => self.call_body(body, args, range),
                    None => self.call_external(name, Some(func), args, range),
                }
            }
            None => match self.externals.get(name).or_else(|| self.externals.get(library::plain_name(name))) {
                Some(Binding::Func(func)) if self.funcs[func.index()].body.is_some() => {
                    let func = *func;
                    self.call_body(func, args, range)
                }
                _ => self.call_external(name, None, args, range),
            },
            Some(_) => {
                self.arguments(args, &[], range);
                self.refused(format!("call through '{name}'"), range)
            }
        }
    }

    /// The function with a body that is meant by a declared name: itself, or for a compiler's name that of the library.
    fn with_body(&self, name: &str, func: FuncId) -> Option<FuncId> {
        let plain = match self.externals.get(library::plain_name(name)) {
            Some(Binding::Func(plain)) => *plain,
            _ => func,
        };
        [func, plain].into_iter().find(|func| self.funcs[func.index()].body.is_some())
    }

    /// Evaluates arguments from left to right; those with a known parameter are converted to its type.
    fn arguments(&mut self, args: &'a [ExprRef], params: &[Type], range: Range) -> Vec<Val> {
        let mut values: Vec<Val> = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            let mut value = self.sequence(&mut values, *arg, range);
            if let Some(ty) = params.get(at)
                && ty.storage(self.machine).is_some()
            {
                let arg_range = self.expr_range(*arg);
                value = self.convert(value, ty, arg_range);
            }
            values.push(value);
        }
        values
    }

    /// The node where a call happens next.
    fn call_site(&mut self, name: &str, range: Range) -> NodeId {
        let node = self.graph.node(self.cx.func, true);
        self.flow_to(node, range);
        let span = self.span(range);
        self.calls.push((name.into(), node, span));
        node
    }

    fn call_body(&mut self, func: FuncId, args: &'a [ExprRef], range: Range) -> Val {
        let signature = self.signatures[func.index()].clone();
        let name = self.funcs[func.index()].name.clone();
        let values = self.arguments(args, &signature.params, range);
        if values.len() < signature.params.len() {
            return self.refused(format!("call of '{name}' with too few arguments"), range);
        }
        let mut passed = Vec::new();
        for ((value, var), ty) in values.into_iter().zip(&signature.vars).zip(&signature.params) {
            if var.is_some() {
                passed.push(self.convert_int(value, ty, range));
            }
        }
        self.call_site(&name, range);
        let result = signature.ret.storage(self.machine).map(|_| self.typed_temporary(&signature.ret));
        self.emit(Op::Call { callee: func, args: passed, result }, range);
        match result {
            Some(var) => self.read(var, &signature.ret),
            None if signature.ret == Type::Void => Val::Void,
            None => opaque(signature.ret),
        }
    }

    fn call_external(&mut self, name: &str, func: Option<FuncId>, args: &'a [ExprRef], range: Range) -> Val {
        if name == "__builtin_expect" && !args.is_empty() {
            let values = self.arguments(args, &[], range);
            // The parameter and the result have type `long`.
            let long = int(self.machine.long_bits(), true);
            let value = values.into_iter().next().expect("there is an argument");
            return self.convert(value, &long, range);
        }
        if name == "assert" && args.len() == 1 {
            return self.assertion(func, args[0], range);
        }
        if name == "__VERIFIER_assume" && args.len() == 1 {
            return self.assumption(func, args[0], range);
        }
        if name.starts_with("__builtin_va_") || matches!(name, "__builtin_types_compatible_p" | "_Static_assert") {
            return self.refused(format!("call of '{name}'"), range);
        }
        if let Some(math) = math::known(name, args.len())
            && self.is_declared_as(name, math, func)
        {
            let params = func.map(|func| self.signatures[func.index()].params.clone()).unwrap_or_default();
            let values = self.arguments(args, &params, range);
            self.call_site(name, range);
            return match self.math(name, math, values, args, range) {
                Some(value) => value,
                None => self.refused(format!("call of '{name}' for a long double value"), range),
            };
        }
        let nondet = name.strip_prefix("__VERIFIER_nondet_").or_else(|| name.strip_prefix("nondet_"));
        let values = self.arguments(args, &[], range);
        self.call_site(name, range);
        if ENDING.contains(&name) {
            self.cur = self.fresh();
            return match func.map(|func| self.signatures[func.index()].ret.clone()) {
                Some(ty) if ty.storage(self.machine).is_some() => self.constant(0, ty),
                Some(Type::Void) => Val::Void,
                Some(ty) => opaque(ty),
                None => self.constant(0, Type::INT),
            };
        }
        if let Some(suffix) = nondet {
            return self.nondet(name, suffix, func, range);
        }
        self.undefined(name, func, args, &values, range)
    }

    /// A call of a function whose body nobody knows.
    fn undefined(
        &mut self,
        name: &str,
        func: Option<FuncId>,
        args: &'a [ExprRef],
        values: &[Val],
        range: Range,
    ) -> Val {
        let ret = func.map_or(Type::INT, |func| self.signatures[func.index()].ret.clone());
        let format = args.iter().find_map(|arg| match self.ast().expr(*arg) {
            Expr::Str(text) => Some(*text),
            _ => None,
        });
        let harmless = SILENT.contains(&name) && !format.is_some_and(|text| text.contains("%n"));
        let mut may_write = args.iter().zip(values).any(|(arg, value)| self.may_be_written(*arg, value));
        may_write |= name.starts_with("__") || KEEPERS.contains(&name);
        let meaning = if harmless { UndefinedFunctions::Skip } else { self.undefined_functions };
        let supported = match meaning {
            UndefinedFunctions::Error => false,
            UndefinedFunctions::Havoc => !may_write,
            UndefinedFunctions::Skip => true,
        };
        if !supported {
            self.unsupported(format!("call of '{name}', which has no body"), range);
        } else if !harmless {
            self.undefined.insert(name.to_owned());
        }
        if ret == Type::Void {
            return Val::Void;
        }
        if ret.storage(self.machine).is_none() {
            return opaque(ret);
        }
        let var = self.typed_temporary(&ret);
        if supported {
            self.emit(Op::Havoc { var, origin: HavocOrigin::Nondet { function: name.into() } }, range);
        }
        self.read(var, &ret)
    }

    /// Whether an argument may give a function access to something that it could change.
    fn may_be_written(&self, arg: ExprRef, value: &Val) -> bool {
        match value {
            _ if matches!(self.ast().expr(arg), Expr::Str(_)) => false,
            Val::Int(expr, Type::Pointer(_)) => self.exprs.as_const(*expr) != Some(0),
            Val::Int(..) | Val::Void => false,
            Val::Opaque(ty, _) => !ty.is_float(),
        }
    }

    /// Whether a function of the program can be the one of the library that has its name.
    fn is_declared_as(&self, name: &str, math: Math, func: Option<FuncId>) -> bool {
        let number = matches!(math, Math::Number(..) | Math::Constant(..) | Math::Inexact(_));
        match func {
            Some(func) => self.signatures[func.index()].ret.is_float() == number,
            // Without a declaration it returns `int`, unless the compiler knows it.
            None => name.starts_with("__builtin_") || !number,
        }
    }

    /// An input of the program.
    fn nondet(&mut self, name: &str, suffix: &str, func: Option<FuncId>, range: Range) -> Val {
        let declared = func.map(|func| self.signatures[func.index()].ret.clone());
        let ty = match declared {
            Some(ty) => ty,
            None => nondet_type(suffix, self.machine).unwrap_or(Type::INT),
        };
        let is_truth = ty == Type::Bool || matches!(suffix, "bool" | "_Bool");
        let origin = HavocOrigin::Nondet { function: Arc::from(name) };
        if ty == Type::Void {
            self.unsupported(format!("call of '{name}', which returns nothing"), range);
            return Val::Void;
        }
        let Some(storage) = ty.storage(self.machine) else { return opaque(ty) };
        let storage = if is_truth { IntTy { bits: 8, signed: false } } else { storage };
        let var = self.temporary(storage);
        if !is_truth {
            self.describe(var, &ty);
        }
        self.emit(Op::Havoc { var, origin }, range);
        let expr = self.exprs.var(var, storage);
        if !is_truth {
            return Val::Int(expr, ty);
        }
        let truth = self.exprs.truth(expr);
        let storage = ty.storage(self.machine).expect("checked above");
        Val::Int(self.exprs.cast(truth, storage), ty)
    }

    /// The truth of an argument as the function sees it: a declared parameter may be narrower than the argument.
    fn truth_argument(&mut self, func: Option<FuncId>, arg: ExprRef, range: Range) -> ExprId {
        let mut value = self.value(arg);
        let param = func.and_then(|func| self.signatures[func.index()].params.first().cloned());
        if let Some(ty) = param.filter(|ty| ty.storage(self.machine).is_some()) {
            value = self.convert(value, &ty, range);
        }
        self.condition(value, range)
    }

    fn assumption(&mut self, func: Option<FuncId>, cond: ExprRef, range: Range) -> Val {
        // The argument is evaluated before the call.
        let cond = self.truth_argument(func, cond, range);
        self.call_site("__VERIFIER_assume", range);
        let (yes, no) = (self.fresh(), self.fresh());
        self.assume(cond, yes, no, range);
        self.cur = yes;
        Val::Void
    }

    fn assertion(&mut self, func: Option<FuncId>, cond: ExprRef, range: Range) -> Val {
        let cond = self.truth_argument(func, cond, range);
        let (yes, no) = (self.fresh(), self.fresh());
        self.assume(cond, yes, no, range);
        self.cur = no;
        self.call_site("__assert_fail", range);
        self.cur = yes;
        Val::Void
    }
}

/// The type of an input function that is not declared.
fn nondet_type(suffix: &str, machine: MachineModel) -> Option<Type> {
    let long = machine.long_bits();
    Some(match suffix {
        "bool" | "_Bool" => Type::Bool,
        "char" | "schar" | "s8" => int(8, true),
        "uchar" | "unsigned_char" | "u8" => int(8, false),
        "short" | "s16" => int(16, true),
        "ushort" | "unsigned_short" | "u16" => int(16, false),
        "int" | "s32" => int(32, true),
        "uint" | "unsigned" | "unsigned_int" | "u32" => int(32, false),
        "long" => int(long, true),
        "ulong" | "unsigned_long" | "size_t" => int(long, false),
        "longlong" | "s64" | "loff_t" => int(64, true),
        "ulonglong" | "u64" => int(64, false),
        "float" => Type::of_format(FloatTy::F32, machine),
        "double" => Type::of_format(FloatTy::F64, machine),
        "pointer" | "pchar" | "charp" | "const_char_pointer" => Type::Pointer(Type::Void.into()),
        _ => return None,
    })
}
