// SPDX-License-Identifier: Apache-2.0
//! Functions of the standard library that need more than a definition in C: pairs of results, what macros look up, `errno`, and
//! what happens at the end of the program.

use crate::ast::{Binary, Expr, ExprRef, Range, Unary};
use crate::ids::{FuncId, NodeId, RegionId};
use crate::library;
use crate::types::Type;

use super::math::{self, Math};
use super::place::Lvalue;
use super::{Binding, Lower, Val};

/// Functions of the library with a definition in C that may change `errno`.
const FAILING: [&str; 29] = [
    "getline",
    "getchar",
    "getc",
    "fgetc",
    "fgets",
    "read",
    "fread",
    "sprintf",
    "snprintf",
    "swprintf",
    "vsprintf",
    "vsnprintf",
    "atoi",
    "atol",
    "atoll",
    "atof",
    "strtol",
    "strtoll",
    "strtoul",
    "strtoull",
    "strtod",
    "strtof",
    "strdup",
    "strndup",
    "fmod",
    "fmodf",
    "strcoll",
    "rand",
    "random",
];

/// Functions without a definition in C that do not change `errno`, or do not return.
const KEEPING: [&str; 11] =
    ["div", "ldiv", "lldiv", "imaxdiv", "free", "cfree", "alloca", "exit", "abort", "_exit", "assert"];

/// Functions of numbers that do not change `errno`.
const EXACT: [&str; 11] =
    ["fabs", "floor", "ceil", "trunc", "round", "rint", "nearbyint", "roundeven", "copysign", "fmin", "fmax"];

/// Where a system keeps `errno`.
const ERRNO: &str = "__errno_location";

impl<'a> Lower<'a> {
    /// The library's function of a name, if the program uses it.
    pub(super) fn library_function(&self, name: &str) -> Option<FuncId> {
        match self.externals.get(name) {
            Some(Binding::Func(func)) => {
                let function = &self.funcs[func.index()];
                (function.body.is_some() && function.span.file as usize >= self.library).then_some(*func)
            }
            _ => None,
        }
    }

    /// `div` and its relatives: a structure with quotient and remainder.
    pub(super) fn division(
        &mut self,
        name: &str,
        func: Option<FuncId>,
        args: &'a [ExprRef],
        range: Range,
    ) -> Option<Val> {
        if !matches!(name, "div" | "ldiv" | "lldiv" | "imaxdiv") || args.len() != 2 {
            return None;
        }
        let signature = self.signatures[func?.index()].clone();
        let (ret @ Type::Record(_), [Type::Int(_), Type::Int(_)]) = (&signature.ret, signature.params.as_slice())
        else {
            return None;
        };
        let place = self.temporary_place(ret);
        let whole = Lvalue::new(place.clone(), ret.clone());
        let (quot, rem) = (self.member_of(&whole, "quot")?, self.member_of(&whole, "rem")?);
        let values = self.arguments(args, &signature.params, range);
        self.call_site(name, range);
        let [left, right] = values.try_into().ok()?;
        for (op, target) in [(Binary::Div, quot), (Binary::Rem, rem)] {
            let value = self.arithmetic(op, left.clone(), right.clone(), range);
            let value = self.convert_int(value, &target.ty, range);
            self.write(&target, value, range);
        }
        Some(Val::Aggregate(place, ret.clone()))
    }

    /// The function that gives the elements of the table in `(*__ctype_b_loc())[c]`, to which macros of `<ctype.h>` expand.
    fn character_table(&self, table: ExprRef) -> Option<FuncId> {
        let Expr::Unary(Unary::Deref, call) = self.ast().expr(table) else { return None };
        let Expr::Call(callee, args) = self.ast().expr(*call) else { return None };
        let Expr::Ident(name) = self.ast().expr(*callee) else { return None };
        let function = library::tables().find(|(table, _)| table == name)?.1;
        let is_declared =
            matches!(self.lookup(name), Some(Binding::Func(func)) if self.funcs[func.index()].body.is_none());
        if args.is_empty() && is_declared { self.library_function(function) } else { None }
    }

    /// The element of a table of characters; none for other subscripts.
    pub(super) fn character(&mut self, table: ExprRef, index: &'a ExprRef, range: Range) -> Option<Val> {
        let func = self.character_table(table)?;
        let params = self.signatures[func.index()].params.clone();
        let values = self.arguments(std::slice::from_ref(index), &params, range);
        Some(self.call_values(func, values, range))
    }

    /// Behind a call of a function of the library: `errno` may have any value if the program looks at it.
    pub(super) fn errno_may_change(&mut self, name: &str, range: Range) {
        if self.file >= self.library || self.at_file_scope() || !self.may_set_errno(name) {
            return;
        }
        if let Some(func) = self.library_function("__errno_any") {
            self.call_values(func, Vec::new(), range);
        }
    }

    fn may_set_errno(&self, name: &str) -> bool {
        if self.library_function(name).is_some() {
            return FAILING.contains(&name);
        }
        let plain = library::plain_name(name);
        if KEEPING.contains(&plain) || self.links.is_ending(name) || name.contains("nondet") {
            return false;
        }
        match (1..=6).find_map(|args| math::known(name, args)) {
            Some(Math::Predicate(_)) => false,
            Some(Math::Number(function, _)) => !EXACT.contains(&function),
            Some(_) => true,
            None => !["__builtin_", "__VERIFIER", "__CPROVER", "__sync_", "__atomic_"]
                .iter()
                .any(|own| name.starts_with(own)),
        }
    }

    /// Whether a call gives `errno` any value.
    pub(super) fn makes_errno_any(&self, callee: FuncId) -> bool {
        &*self.funcs[callee.index()].name == "__errno_any" && self.library_function("__errno_any") == Some(callee)
    }

    /// Where `errno` is.
    pub(super) fn errno_region(&self) -> Option<RegionId> {
        self.library_function(ERRNO)?;
        let name = format!("{ERRNO}::value");
        self.memory.objects.iter().find(|object| *object.name == *name).map(|object| object.region)
    }

    /// Whether functions may be called at the end of the program.
    pub(super) fn has_exit_handlers(&self) -> bool {
        self.library_function("__run_exit_handlers").is_some()
    }

    /// Calls the functions that `atexit` has got.
    pub(super) fn run_exit_handlers(&mut self, range: Range) {
        if let Some(func) = self.library_function("__run_exit_handlers") {
            self.call_values(func, Vec::new(), range);
        }
    }

    /// What happens behind the end of `main`.
    pub(super) fn end_of_main(&mut self, exit: NodeId, range: Range) {
        if self.cur == exit {
            return;
        }
        if &*self.cx.name == "main" {
            if self.survey.is_recursive("main") {
                self.unsupported("a function at the end of a program whose 'main' is called", range);
            }
            self.run_exit_handlers(range);
        }
        self.edge(self.cur, exit, crate::ir::Op::Skip, range);
    }
}
