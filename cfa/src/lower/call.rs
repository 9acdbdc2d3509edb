// SPDX-License-Identifier: Apache-2.0
//! Calls: of functions with a body, of inputs and assumptions, of functions that end the execution.

use std::sync::Arc;

use crate::ast::{Expr, ExprRef, Range, Unary};
use crate::ids::{ExprId, FuncId, NodeId, VarId};
use crate::ir::{CmpOp, FloatTy, HavocOrigin, IntTy, Op};
use crate::library;
use crate::program::UndefinedFunctions;
use crate::types::{FunctionType, MachineModel, Type, int};

use super::expr::opaque;
use super::format::format_of;
use super::math::{self, Math};
use super::place::{Lvalue, Place, Slot};
use super::unsequenced::{Begin, Between};
use super::{Binding, Lower, Val};

/// Functions without a body whose call ends the execution.
pub(super) const ENDING: [&str; 14] = [
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "__assert_fail",
    "__assert_rtn",
    "__assert_perror_fail",
    "__builtin_unreachable",
    "__builtin_trap",
    "__builtin_abort",
    "__builtin_exit",
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

/// Functions of the standard library whose results are not followed, but are none that somebody may choose.
const DETERMINED: [&str; 12] = [
    "strcoll", "strxfrm", "wcslen", "wcscmp", "difftime", "drand48", "lrand48", "ilogb", "htonl", "htons", "ntohl",
    "ntohs",
];

/// Functions that change what the program can see even without pointers to it, or are about how numbers are rounded; names
/// that begin with two underscores belong to the compiler and are among them.
const KEEPERS: [&str; 19] = [
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
    "fesetround",
    "fegetround",
    "fetestexcept",
];

/// Whether a function without a body changes nothing that a program can see.
pub(crate) fn is_silent(name: &str) -> bool {
    SILENT.contains(&name) || SILENT.contains(&library::plain_name(name))
}

/// The end of what is said of a call of a function that nobody knows.
pub(crate) const NO_BODY: &str = ", which has no body";

/// What stands behind the comparisons of a call through a pointer.
const NO_FUNCTION: &str = "call through a pointer to no function of its type";

impl<'a> Lower<'a> {
    pub(super) fn call(&mut self, callee: ExprRef, args: &'a [ExprRef], range: Range) -> Val {
        // `(*f)(x)` and `(&f)(x)` are `f(x)` for the name of a function.
        let mut direct = callee;
        while let Expr::Unary(Unary::Deref | Unary::AddrOf, inner) = self.ast().expr(direct) {
            direct = *inner;
        }
        if let Expr::Ident(name) = self.ast().expr(direct) {
            let name: &'a str = name;
            let func = match self.lookup(name) {
                Some(Binding::Func(func)) => Some((self.with_body(name, *func), Some(*func))),
                Some(_) => None,
                None => match self.externals.get(name).or_else(|| self.externals.get(library::plain_name(name))) {
                    Some(Binding::Func(func)) if self.funcs[func.index()].body.is_some() => Some((Some(*func), None)),
                    _ => Some((None, None)),
                },
            };
            match func {
                Some((Some(func), _)) => return self.call_body(func, args, range),
                Some((None, _)) if self.links.call(name).is_some() => {
                    let why = self.links.call(name).expect("just checked").to_owned();
                    return self.refused(format!("call of {why}"), range);
                }
                Some((None, func)) => {
                    let value = self.call_external(name, func, args, range);
                    self.errno_may_change(name, range);
                    return value;
                }
                None => {}
            }
        }
        let begin = self.begin();
        match self.value(callee) {
            Val::Int(pointer, Type::Pointer(inner)) => match &*inner {
                Type::Function(ty) => self.call_pointer(begin, pointer, ty, args, range),
                _ => self.refused("call of something that is no function".into(), range),
            },
            _ => {
                self.arguments(args, &[], range);
                self.refused("call of something that is no function".into(), range)
            }
        }
    }

    /// A call through a pointer: a chain of comparisons with the functions that it may point to.
    /// The evaluation of the pointer began at `begin`.
    fn call_pointer(
        &mut self,
        begin: Begin,
        pointer: ExprId,
        ty: &FunctionType,
        args: &'a [ExprRef],
        range: Range,
    ) -> Val {
        let pointer = match self.exprs.as_const(pointer) {
            Some(_) => pointer,
            None => self.saved_as(pointer, &Type::Pointer(Type::Void.into()), range),
        };
        let callee = Val::Int(pointer, Type::Pointer(Type::Void.into()));
        let middle = self.graph.edges.len();
        let between = Between { left_end: self.cur, right_start: self.cur, right: None };
        let values = self.arguments(args, &ty.params, range);
        self.unsequenced(begin, middle, (&[callee], &values), &between, range);
        let result = match &ty.ret {
            Type::Record(_) => Some(self.temporary_place(&ty.ret)),
            ret => ret.storage(self.machine).map(|_| {
                let var = self.typed_temporary(ret);
                Place::Vars([Slot { offset: 0, var }].into(), 0)
            }),
        };
        let after = self.fresh();
        for at in 0..self.funcs.len() {
            let func = FuncId::new(at);
            if !self.survey.is_valued(&self.funcs[at].name) || !self.may_be(func, ty, values.len()) {
                continue;
            }
            let addr = self.function_address(func);
            let cond = self.exprs.cmp(CmpOp::Eq, pointer, addr);
            let (yes, no) = (self.fresh(), self.fresh());
            self.assume(cond, yes, no, range);
            self.cur = yes;
            let value = self.call_function(func, values.clone(), range);
            match (value, &result) {
                (Val::Aggregate(from, _), Some(place)) => self.copy(place, &from, &ty.ret, range),
                (value @ Val::Int(..), Some(place)) => {
                    let value = self.convert_int(value, &ty.ret, range);
                    self.put(place, value, range);
                }
                _ => {}
            }
            self.edge(self.cur, after, Op::Skip, range);
            self.cur = no;
        }
        self.unsupported(NO_FUNCTION, range);
        self.edge(self.cur, after, Op::Skip, range);
        self.cur = after;
        match result {
            Some(place) => self.rvalue(Lvalue::new(place, ty.ret.clone()), range),
            None if ty.ret == Type::Void => Val::Void,
            None => opaque(ty.ret.clone()),
        }
    }

    /// Whether a function can be called through a pointer of a type: their values are passed in the same way.
    fn may_be(&self, func: FuncId, ty: &FunctionType, args: usize) -> bool {
        let signature = &self.signatures[func.index()];
        let alike = |a: &Type, b: &Type| match (a.storage(self.machine), b.storage(self.machine)) {
            (Some(a), Some(b)) => a.bits == b.bits,
            _ => a == b,
        };
        let params = signature.unspecified
            || signature.empty_list
            || (args >= signature.params.len()
                && (ty.unspecified || signature.variadic || ty.params.len() == signature.params.len()));
        params
            && ty.params.iter().zip(&signature.params).all(|(a, b)| alike(a, b))
            && (ty.ret == Type::Void || alike(&ty.ret, &signature.ret))
    }

    /// A call of a known function with evaluated arguments.
    fn call_function(&mut self, func: FuncId, values: Vec<Val>, range: Range) -> Val {
        if self.funcs[func.index()].body.is_some() {
            return self.call_values(func, values, range);
        }
        let name = self.funcs[func.index()].name.clone();
        self.call_site(&name, range);
        if self.links.is_ending(&name) {
            self.cur = self.fresh();
            return Val::Void;
        }
        self.unsupported(format!("call of '{name}'{NO_BODY}"), range);
        Val::Void
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
    pub(super) fn arguments(&mut self, args: &'a [ExprRef], params: &[Type], range: Range) -> Vec<Val> {
        let begin = self.begin();
        let mut values: Vec<Val> = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            let mut value = self.sequence(begin, &mut values, *arg, range);
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
    pub(super) fn call_site(&mut self, name: &str, range: Range) -> NodeId {
        let node = self.graph.node(self.cx.func, true);
        self.flow_to(node, range);
        let span = self.span(range);
        self.calls.push((name.into(), node, span));
        node
    }

    fn call_body(&mut self, func: FuncId, args: &'a [ExprRef], range: Range) -> Val {
        if let Some(value) = self.sorting(func, args, range).or_else(|| self.printing(func, args, range)) {
            return value;
        }
        let params = self.signatures[func.index()].params.clone();
        let values = self.arguments(args, &params, range);
        let name = self.funcs[func.index()].name.clone();
        // On some systems the format is another argument; it is the last one that has a name.
        let format = format_of(&name).and_then(|_| params.len().checked_sub(1));
        let counts = format.is_some_and(|at| self.may_count(at, args, &values));
        if self.funcs[func.index()].span.file as usize >= self.library && counts {
            return self.refused(format!("call of '{name}' with a format that may store numbers"), range);
        }
        let value = self.call_values(func, values, range);
        if self.library_function(&name) == Some(func) {
            self.errno_may_change(&name, range);
        }
        value
    }

    pub(super) fn call_values(&mut self, func: FuncId, values: Vec<Val>, range: Range) -> Val {
        let signature = self.signatures[func.index()].clone();
        let name = self.funcs[func.index()].name.clone();
        if values.len() < signature.params.len() {
            return self.refused(format!("call of '{name}' with too few arguments"), range);
        }
        let mut passed = Vec::new();
        let lists = values.clone();
        let mut values = values;
        let others = values.split_off(signature.params.len());
        for ((value, slots), ty) in values.into_iter().zip(&signature.vars).zip(&signature.params) {
            match value {
                _ if ty.storage(self.machine).is_some() => passed.push(self.convert_int(value, ty, range)),
                Val::Aggregate(from, from_ty) if from_ty == *ty && !slots.is_empty() => {
                    for slot in slots.iter() {
                        let place = self.behind(&from, slot.offset);
                        let (ty, float) = (self.vars[slot.var.index()].ty, self.vars[slot.var.index()].float);
                        passed.push(self.load(&place, ty, float, range));
                    }
                }
                _ if slots.is_empty() && !matches!(ty, Type::Record(_)) => {}
                _ => return self.refused(format!("argument of '{name}' that is a large structure"), range),
            }
        }
        if signature.arguments.is_some() {
            passed.push(self.variable_arguments(others, range));
        }
        self.call_site(&name, range);
        let result = signature.ret.storage(self.machine).map(|_| self.typed_temporary(&signature.ret));
        self.emit(Op::Call { callee: func, args: passed, result }, range);
        self.forget_lists(&lists, range);
        match (result, signature.ret_parts) {
            (Some(var), _) => self.read(var, &signature.ret),
            (None, Some(parts)) => {
                let place = self.temporary_place(&signature.ret);
                self.copy(&place, &Place::Vars(parts, 0), &signature.ret, range);
                Val::Aggregate(place, signature.ret)
            }
            (None, None) if signature.ret == Type::Void => Val::Void,
            (None, None) => opaque(signature.ret),
        }
    }

    fn call_external(&mut self, name: &str, func: Option<FuncId>, args: &'a [ExprRef], range: Range) -> Val {
        if matches!(name, "__builtin_expect" | "__builtin_expect_with_probability") && !args.is_empty() {
            let values = self.arguments(args, &[], range);
            // The parameter and the result have type `long`.
            let long = int(self.machine.long_bits(), true);
            let value = values.into_iter().next().expect("there is an argument");
            return self.convert(value, &long, range);
        }
        if name == "assert" && args.len() == 1 {
            return self.assertion(func, args[0], range);
        }
        if matches!(name, "__VERIFIER_assume" | "__CPROVER_assume") && args.len() == 1 {
            return self.assumption(func, args[0], range);
        }
        if let Some(value) = self.compile_time(name, args, range) {
            return value;
        }
        if name.starts_with("__builtin_va_") || name == "__builtin_c23_va_start" || name == "_Static_assert" {
            if let Some(value) = self.variable_list(name, args, range) {
                return value;
            }
            return self.refused(format!("call of '{name}'"), range);
        }
        if let Some(value) = self.overflow(name, args, range).or_else(|| self.atomic(name, args, range)) {
            return value;
        }
        let found = self.allocation(name, func, args, range);
        if let Some(value) = found.or_else(|| self.division(name, func, args, range)) {
            return value;
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
        if self.file >= self.library
            && let Some(ty) = name.strip_prefix("__unmodelled_").and_then(|suffix| nondet_type(suffix, self.machine))
        {
            if ty == Type::Bool {
                return self.choice_of_sorting(range);
            }
            let function = self.cx.name.clone();
            return self.unmodelled(library::called_name(&function), &ty, range);
        }
        let nondet = name.strip_prefix("__VERIFIER_nondet_").or_else(|| name.strip_prefix("nondet_"));
        if nondet.is_some() || self.links.is_ending(name) || is_silent(name) {
            return self.call_without_values(name, nondet, func, args, range);
        }
        if let Some(value) = self.scanning(name, args, range) {
            return value;
        }
        let values = self.arguments(args, &[], range);
        self.call_site(name, range);
        self.undefined(name, func, args, &values, range)
    }

    /// A call of a function that does not look at its arguments.
    fn call_without_values(
        &mut self,
        name: &str,
        nondet: Option<&str>,
        func: Option<FuncId>,
        args: &'a [ExprRef],
        range: Range,
    ) -> Val {
        // Texts need not be in memory.
        let is_text = |arg: &ExprRef| match self.ast().expr(*arg) {
            Expr::Str(_) => true,
            Expr::Ident(name) => name.starts_with("__") && self.lookup(name).is_none(),
            _ => false,
        };
        let texts: Vec<bool> = args.iter().map(is_text).collect();
        let values = self.arguments_but(args, range, |at| texts[at]);
        if name == "exit" {
            self.run_exit_handlers(range);
        }
        self.call_site(name, range);
        if self.links.is_ending(name) {
            self.cur = self.fresh();
            return match func.map(|func| self.signatures[func.index()].ret.clone()) {
                Some(ty) if ty.storage(self.machine).is_some() => self.constant(0, ty),
                Some(Type::Void) => Val::Void,
                Some(ty) => opaque(ty),
                None => self.constant(0, Type::INT),
            };
        }
        if let Some(suffix) = nondet {
            if self.reads_restricted()
                && let Some(ty) = nondet_type(suffix, self.machine)
            {
                let function = self.cx.name.clone();
                return self.unmodelled(&function, &ty, range);
            }
            return self.nondet(name, suffix, func, range);
        }
        self.undefined(name, func, args, &values, range)
    }

    /// Evaluates arguments from left to right but for those at some positions.
    pub(super) fn arguments_but(
        &mut self,
        args: &'a [ExprRef],
        range: Range,
        without: impl Fn(usize) -> bool,
    ) -> Vec<Val> {
        let begin = self.begin();
        let mut values = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            let value = if without(at) { Val::Void } else { self.sequence(begin, &mut values, *arg, range) };
            values.push(value);
        }
        values
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
        let list = values.last().and_then(|value| match value {
            Val::Int(list, Type::VaList) if is_silent(name) && format_of(name).is_some() => Some(*list),
            _ => None,
        });
        let harmless =
            list.is_some() || (is_silent(name) && !format_of(name).is_some_and(|at| self.may_count(at, args, values)));
        if let Some(list) = list {
            self.printed_list(name, list, range);
        }
        self.forget_lists(values, range);
        let mut may_write = args.iter().zip(values).any(|(arg, value)| self.may_be_written(*arg, value));
        may_write |= args.iter().any(|arg| self.is_address(*arg));
        may_write |= name.starts_with("__") || KEEPERS.contains(&name);
        let meaning = if harmless { UndefinedFunctions::Skip } else { self.undefined_functions };
        let supported = match meaning {
            UndefinedFunctions::Error => false,
            UndefinedFunctions::Havoc => !may_write,
            UndefinedFunctions::Skip => true,
        };
        if !supported {
            self.unsupported(format!("call of '{name}'{NO_BODY}"), range);
        } else if !harmless {
            self.undefined.insert(name.to_owned());
        }
        if ret == Type::Void {
            return Val::Void;
        }
        if ret.storage(self.machine).is_none() {
            return opaque(ret);
        }
        if supported && !harmless && DETERMINED.contains(&name) {
            return self.unmodelled(name, &ret, range);
        }
        let var = self.typed_temporary(&ret);
        if supported {
            self.emit(Op::Havoc { var, origin: HavocOrigin::Nondet { function: name.into() } }, range);
        }
        if ret == Type::Bool {
            return self.truth_of(var, ret);
        }
        self.read(var, &ret)
    }

    /// Whether an argument is a pointer that was converted to something else.
    fn is_address(&mut self, arg: ExprRef) -> bool {
        let mut inner = arg;
        while let Expr::Cast(_, below) = self.ast().expr(inner) {
            inner = *below;
        }
        let literal = matches!(self.ast().expr(inner), Expr::Str(_) | Expr::Number(_));
        inner != arg && !literal && matches!(self.type_of(inner).decayed(), Type::Pointer(_))
    }

    /// Whether an argument may give a function access to something that it could change.
    pub(super) fn may_be_written(&self, arg: ExprRef, value: &Val) -> bool {
        match value {
            _ if matches!(self.ast().expr(arg), Expr::Str(_)) => false,
            Val::Int(expr, Type::Pointer(_)) => self.exprs.as_const(*expr) != Some(0),
            Val::Int(_, Type::VaList) => true,
            Val::Int(..) | Val::Void => false,
            Val::Aggregate(..) => true,
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
    pub(super) fn nondet(&mut self, name: &str, suffix: &str, func: Option<FuncId>, range: Range) -> Val {
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
        self.emit(Op::Havoc { var, origin }, range);
        if is_truth {
            return self.truth_of(var, ty);
        }
        self.describe(var, &ty);
        Val::Int(self.exprs.var(var, storage), ty)
    }

    /// The value that a function of truth values returned in a variable.
    pub(super) fn truth_of(&mut self, var: VarId, ty: Type) -> Val {
        self.vars[var.index()].truth = true;
        let value = self.exprs.var(var, self.vars[var.index()].ty);
        let truth = self.exprs.truth(value);
        let storage = ty.storage(self.machine).expect("checked by the caller");
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
        self.only_if(cond, range);
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
pub(super) fn nondet_type(suffix: &str, machine: MachineModel) -> Option<Type> {
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
