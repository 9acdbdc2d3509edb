// SPDX-License-Identifier: Apache-2.0
//! Readable forms of programs: expressions in C's notation, edges one a line, Graphviz.

use std::fmt::{self, Write as _};

use crate::floats;
use crate::ids::{EdgeId, ExprId, FuncId};
use crate::ir::{AllocKind, BinOp, CmpOp, ExprKind, FloatFn, FloatOp, FloatTy, HavocOrigin, IntTy, Op, UnOp};
use crate::program::Program;

impl Program {
    /// An expression in C's notation.
    pub fn display_expr(&self, id: ExprId) -> String {
        let mut out = String::new();
        self.write_expr(&mut out, id, 0);
        out
    }

    /// An operation: `[x < 10]` for assumptions, `x = y + 1;` for assignments.
    pub fn display_op(&self, op: &Op) -> String {
        match op {
            Op::Skip => "skip".to_owned(),
            Op::Assume { cond, truth } => format!("[{}]", self.display_cond(*cond, *truth)),
            Op::Assign { var, value } if self.var(*var).float.is_some() => {
                let mut out = format!("{} = ", self.var(*var).name);
                self.write_number(&mut out, self.var(*var).float, *value);
                out
            }
            Op::Assign { var, value } => format!("{} = {}", self.var(*var).name, self.display_expr(*value)),
            Op::Havoc { var, origin: HavocOrigin::Nondet { function } } => {
                format!("{} = {function}()", self.var(*var).name)
            }
            Op::Havoc { var, origin } => {
                let what = origin.unmodelled().map_or(String::new(), |what| format!(" ({what})"));
                format!("{} = ?{what}", self.var(*var).name)
            }
            Op::Call { callee, args, result } => {
                let args: Vec<String> = args.iter().map(|arg| self.display_expr(*arg)).collect();
                let result = result.map(|var| format!("{} = ", self.var(var).name)).unwrap_or_default();
                format!("{result}call {}({})", self.func(*callee).name, args.join(", "))
            }
            Op::Load { var, addr, .. } => {
                let var = self.var(*var);
                format!("{} = *({} *){}", var.name, var.ty, self.display_operand(*addr))
            }
            Op::Store { addr, value, .. } => {
                let ty = self.exprs.ty(*value);
                format!("*({ty} *){} = {}", self.display_operand(*addr), self.display_expr(*value))
            }
            Op::Alloc { var, size, kind, .. } => {
                let function = if matches!(kind, AllocKind::Heap | AllocKind::Arguments) { "malloc" } else { "alloca" };
                format!("{} = {function}({})", self.var(*var).name, self.display_expr(*size))
            }
            Op::Free { addr } => format!("free({})", self.display_expr(*addr)),
            Op::Zero { addr, size, .. } => {
                format!("memset({}, 0, {})", self.display_expr(*addr), self.display_expr(*size))
            }
            Op::Unsupported { construct } => format!("unsupported: {construct}"),
        }
    }

    fn display_operand(&self, id: ExprId) -> String {
        let mut out = String::new();
        self.write_expr(&mut out, id, 13);
        out
    }

    /// A condition or its negation; what is no comparison is compared with 0.
    pub fn display_cond(&self, cond: ExprId, truth: bool) -> String {
        let expr = self.exprs.get(cond);
        match expr.kind {
            ExprKind::Cmp(op, a, b) => {
                let (op, a, b) = match (op, truth) {
                    (CmpOp::Eq, true) | (CmpOp::Ne, false) => ("==", a, b),
                    (CmpOp::Ne, true) | (CmpOp::Eq, false) => ("!=", a, b),
                    (CmpOp::Lt, true) => ("<", a, b),
                    (CmpOp::Le, true) => ("<=", a, b),
                    (CmpOp::Lt, false) => (">=", a, b),
                    (CmpOp::Le, false) => (">", a, b),
                };
                // Constants look better on the right.
                let (op, a, b) = match op {
                    "==" | "!=" => (op, a, b),
                    _ if self.exprs.as_const(a).is_none() => (op, a, b),
                    "<" => (">", b, a),
                    "<=" => (">=", b, a),
                    ">" => ("<", b, a),
                    _ => ("<=", b, a),
                };
                let level = if matches!(op, "==" | "!=") { 6 } else { 7 };
                let mut out = String::new();
                self.write_expr(&mut out, a, level);
                let _ = write!(out, " {op} ");
                self.write_expr(&mut out, b, level + 1);
                out
            }
            ExprKind::FloatCmp(..) => {
                let mut out = if truth { String::new() } else { "!".to_owned() };
                self.write_expr(&mut out, cond, 14);
                out
            }
            _ => {
                let mut out = String::new();
                self.write_expr(&mut out, cond, 7);
                out.push_str(if truth { " != 0" } else { " == 0" });
                out
            }
        }
    }

    /// Writes with C's precedence levels: 2 ternary, 3 `||` to 13 unary.
    fn write_expr(&self, out: &mut String, id: ExprId, outer: u32) {
        let expr = self.exprs.get(id);
        let level = level(&expr.kind);
        if level < outer {
            out.push('(');
        }
        match expr.kind {
            ExprKind::Const(value) => {
                let _ = write!(out, "{value}");
            }
            ExprKind::Var(var) => out.push_str(&self.var(var).name),
            ExprKind::Unary(op, arg) => {
                out.push(match op {
                    UnOp::Neg => '-',
                    UnOp::BitNot => '~',
                });
                self.write_expr(out, arg, 14);
            }
            ExprKind::Binary(op, a, b) => self.write_infix(out, binop(op), level, a, b),
            ExprKind::Cmp(op, a, b) => {
                let op = match op {
                    CmpOp::Eq => "==",
                    CmpOp::Ne => "!=",
                    CmpOp::Lt => "<",
                    CmpOp::Le => "<=",
                };
                self.write_infix(out, op, level, a, b);
            }
            ExprKind::Not(arg) => {
                out.push('!');
                self.write_expr(out, arg, 14);
            }
            ExprKind::And(a, b) => self.write_infix(out, "&&", level, a, b),
            ExprKind::Or(a, b) => self.write_infix(out, "||", level, a, b),
            ExprKind::Ite(c, a, b) => {
                self.write_expr(out, c, level + 1);
                out.push_str(" ? ");
                self.write_expr(out, a, level);
                out.push_str(" : ");
                self.write_expr(out, b, level);
            }
            ExprKind::Cast(arg) => {
                let _ = write!(out, "({})", expr.ty);
                self.write_expr(out, arg, level);
            }
            ExprKind::Float(op, ty, a, b) => {
                let name = match op {
                    FloatOp::Add => "add",
                    FloatOp::Sub => "sub",
                    FloatOp::Mul => "mul",
                    FloatOp::Div => "div",
                };
                self.write_function(out, &format!("{name}{}", suffix(ty)), Some(ty), &[a, b]);
            }
            ExprKind::FloatFn(function, ty, a) => {
                let name = match function {
                    FloatFn::Sqrt => "sqrt",
                    FloatFn::Floor => "floor",
                    FloatFn::Ceil => "ceil",
                    FloatFn::Trunc => "trunc",
                    FloatFn::Round => "round",
                    FloatFn::RoundEven => "roundeven",
                };
                self.write_function(out, &format!("{name}{}", suffix(ty)), Some(ty), &[a]);
            }
            ExprKind::FloatCmp(op, ty, a, b) => {
                let name = match op {
                    CmpOp::Eq => "eq",
                    CmpOp::Ne => "ne",
                    CmpOp::Lt => "lt",
                    CmpOp::Le => "le",
                };
                self.write_function(out, &format!("{name}{}", suffix(ty)), Some(ty), &[a, b]);
            }
            ExprKind::FloatFromInt(to, a) => self.write_function(out, &format!("to{}", suffix(to)), None, &[a]),
            ExprKind::FloatToInt(from, a) => {
                self.write_function(out, &format!("({})from{}", expr.ty, suffix(from)), Some(from), &[a]);
            }
            ExprKind::FloatToFloat(from, a) => {
                self.write_function(out, &format!("to{}", suffix(from.other())), Some(from), &[a]);
            }
        }
        if level < outer {
            out.push(')');
        }
    }

    fn write_function(&self, out: &mut String, name: &str, of: Option<FloatTy>, args: &[ExprId]) {
        out.push_str(name);
        out.push('(');
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            self.write_number(out, of, *arg);
        }
        out.push(')');
    }

    /// An expression; a constant that holds a floating-point number as that number.
    fn write_number(&self, out: &mut String, of: Option<FloatTy>, expr: ExprId) {
        match (of, self.exprs.as_const(expr)) {
            (Some(ty), Some(bits)) => out.push_str(&floats::decimal(ty, bits)),
            _ => self.write_expr(out, expr, 0),
        }
    }

    fn write_infix(&self, out: &mut String, op: &str, level: u32, a: ExprId, b: ExprId) {
        self.write_expr(out, a, level);
        let _ = write!(out, " {op} ");
        self.write_expr(out, b, level + 1);
    }

    /// One line for an edge: `n3 -> n5: [x < 10]   // file:line:column`.
    pub fn display_edge(&self, id: EdgeId) -> String {
        let edge = self.edge(id);
        let text = format!("{} -> {}: {}", edge.src, edge.dst, self.display_op(&edge.op));
        format!("{text}   // {}", self.location(edge.span))
    }

    /// The whole program as text.
    pub fn dump(&self) -> String {
        let mut out = format!("entry {}\n", self.entry);
        for at in 0..self.funcs.len() {
            self.dump_function(&mut out, FuncId::new(at));
        }
        out
    }

    fn dump_function(&self, out: &mut String, func: FuncId) {
        let function = self.func(func);
        let Some(body) = function.body else { return };
        let params: Vec<&str> = function.params.iter().map(|var| &*self.var(*var).name).collect();
        let _ = writeln!(out, "{}({}): {} .. {}", function.name, params.join(", "), body.entry, body.exit);
        for node in self.node_ids().filter(|node| self.node(*node).func == func) {
            let mut notes: Vec<String> = Vec::new();
            if self.loops.is_head(node) {
                notes.push("loop".into());
            }
            notes.extend(self.labels.iter().filter(|(_, at)| *at == node).map(|(name, _)| format!("label {name}")));
            notes.extend(self.calls.iter().filter(|(_, at, _)| *at == node).map(|(name, ..)| format!("call {name}")));
            if !notes.is_empty() {
                let _ = writeln!(out, "  {node}: {}", notes.join(", "));
            }
            for edge in &self.node(node).leaving {
                let _ = writeln!(out, "  {}", self.display_edge(*edge));
            }
        }
    }

    /// The whole program for Graphviz.
    pub fn dot(&self) -> String {
        let mut out = String::from("digraph cfa {\n  node [shape=circle, fontsize=10];\n");
        for (at, function) in self.funcs.iter().enumerate() {
            if function.body.is_none() {
                continue;
            }
            let _ = writeln!(out, "  subgraph cluster_{at} {{\n    label={:?};", function.name);
            for node in self.node_ids().filter(|node| self.node(*node).func == FuncId::new(at)) {
                let shape = if self.loops.is_head(node) { " [shape=doublecircle]" } else { "" };
                let _ = writeln!(out, "    {node}{shape};");
            }
            out.push_str("  }\n");
        }
        for edge in &self.edges {
            let label = self.display_op(&edge.op);
            let _ = writeln!(out, "  {} -> {} [label={label:?}];", edge.src, edge.dst);
        }
        out.push_str("}\n");
        out
    }
}

impl fmt::Display for IntTy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.bits, self.signed) {
            (32, true) => f.write_str("int"),
            (32, false) => f.write_str("unsigned"),
            (bits, true) => write!(f, "int{bits}_t"),
            (bits, false) => write!(f, "uint{bits}_t"),
        }
    }
}

fn level(kind: &ExprKind) -> u32 {
    match kind {
        ExprKind::Const(value) if *value < 0 => 13,
        ExprKind::Const(_) | ExprKind::Var(_) => 15,
        ExprKind::Unary(..) | ExprKind::Not(_) | ExprKind::Cast(_) => 13,
        ExprKind::Binary(op, ..) => match op {
            BinOp::Mul | BinOp::Div | BinOp::Rem => 12,
            BinOp::Add | BinOp::Sub => 11,
            BinOp::Shl | BinOp::Shr => 10,
            BinOp::BitAnd => 5,
            BinOp::BitXor => 4,
            BinOp::BitOr => 3,
        },
        ExprKind::Cmp(CmpOp::Lt | CmpOp::Le, ..) => 7,
        ExprKind::Cmp(CmpOp::Eq | CmpOp::Ne, ..) => 6,
        ExprKind::And(..) => 2,
        ExprKind::Or(..) => 1,
        ExprKind::Ite(..) => 0,
        ExprKind::Float(..)
        | ExprKind::FloatFn(..)
        | ExprKind::FloatCmp(..)
        | ExprKind::FloatFromInt(..)
        | ExprKind::FloatToInt(..)
        | ExprKind::FloatToFloat(..) => 15,
    }
}

/// What tells functions on the two formats apart, as in C's library.
fn suffix(ty: FloatTy) -> &'static str {
    match ty {
        FloatTy::F32 => "f32",
        FloatTy::F64 => "f64",
    }
}

fn binop(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Rem => "%",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::BitAnd => "&",
        BinOp::BitOr => "|",
        BinOp::BitXor => "^",
    }
}
