// SPDX-License-Identifier: Apache-2.0
//! Syntax trees in a prefix notation, to look at them and to compare them with those of other parsers.

use crate::ast::{
    Ast, Decl, Declarator, Designator, Expr, ExprRef, Item, Param, Stmt, StmtRef, Storage, TypeName, TypeSpec,
};

/// One line for each declaration and function outside of functions.
pub(crate) fn write(ast: &Ast<'_>) -> Vec<String> {
    Writer { ast }.items()
}

struct Writer<'w> {
    ast: &'w Ast<'w>,
}

impl Writer<'_> {
    fn items(&self) -> Vec<String> {
        let item = |item: &Item<'_>| match item {
            Item::Decl(decl) => self.decl(decl),
            Item::Function { storage, spec, declarator, body, .. } => {
                let (name, ty) = self.declared(self.spec(spec), declarator);
                format!("{}{name}: {ty} {}", self.storage(*storage), self.stmt(*body).join(" "))
            }
        };
        self.ast.items.iter().map(item).collect()
    }

    fn storage(&self, storage: Storage) -> &'static str {
        match storage {
            Storage::None => "",
            Storage::Static => "static ",
            Storage::Extern => "extern ",
            Storage::Typedef => "typedef ",
        }
    }

    fn decl(&self, decl: &Decl<'_>) -> String {
        let spec = self.spec(&decl.spec);
        let items = decl.items.iter().map(|(declarator, init, _)| {
            let (name, ty) = self.declared(spec.clone(), declarator);
            let init = init.map_or(String::new(), |init| format!(" = {}", self.expr(init)));
            format!(" {name}: {ty}{init};")
        });
        format!("{}{spec}{}", self.storage(decl.storage), items.collect::<String>())
    }

    fn spec(&self, spec: &TypeSpec<'_>) -> String {
        match spec {
            TypeSpec::Words(words) => {
                let mut words = words.clone();
                words.sort_unstable();
                words.join(" ")
            }
            TypeSpec::Name(name) => (*name).to_owned(),
            TypeSpec::Record { union, tag, fields, .. } => {
                let fields = fields.as_ref().map_or(String::new(), |fields| {
                    let field = fields.iter().map(|field| {
                        let base = self.spec(&field.spec);
                        let declarators = field.declarators.iter().map(|(declarator, width)| {
                            let (name, ty) = self.declared(base.clone(), declarator);
                            let width = width.map_or(String::new(), |width| format!(" : {}", self.expr(width)));
                            format!(" {name}: {ty}{width};")
                        });
                        format!("{base}{} ", declarators.collect::<String>())
                    });
                    format!("{{{}}}", field.collect::<String>())
                });
                format!("{} {}{fields}", if *union { "union" } else { "struct" }, tag.unwrap_or(""))
            }
            TypeSpec::Enum { tag, items, .. } => {
                let items = items
                    .iter()
                    .flatten()
                    .map(|(name, value)| format!("{name}={} ", value.map_or(String::new(), |value| self.expr(value))));
                format!("enum {}{{{}}}", tag.unwrap_or(""), items.collect::<String>())
            }
            TypeSpec::Attributed(spec, _) => self.spec(spec),
            TypeSpec::TypeofValue(value) => format!("Typeof({})", self.expr(*value)),
            TypeSpec::TypeofType(name) => self.type_name(name),
            TypeSpec::Unknown(_) => "?".to_owned(),
        }
    }

    fn type_name(&self, name: &TypeName<'_>) -> String {
        self.declared(self.spec(&name.spec), &name.declarator).1
    }

    fn declared(&self, base: String, declarator: &Declarator<'_>) -> (String, String) {
        match declarator {
            Declarator::Name(name, _) => ((*name).to_owned(), base),
            Declarator::Abstract => (String::new(), base),
            Declarator::Pointer(inner) => self.declared(format!("*({base})"), inner),
            Declarator::Array(inner, size) => {
                let size = size.map_or(String::new(), |size| self.expr(size));
                self.declared(format!("[{size}]({base})"), inner)
            }
            Declarator::Function(inner, params, variadic) => {
                let params: String = params.iter().map(|param| self.param(param)).collect();
                let more = if *variadic { "..." } else { "" };
                self.declared(format!("fn({params}{more})({base})"), inner)
            }
        }
    }

    fn param(&self, param: &Param<'_>) -> String {
        let (name, ty) = self.declared(self.spec(&param.spec), &param.declarator);
        format!("{name}: {ty}, ")
    }

    fn stmts(&self, stmts: &[StmtRef]) -> String {
        format!("{{ {} }}", stmts.iter().flat_map(|stmt| self.stmt(*stmt)).collect::<Vec<_>>().join(" "))
    }

    fn one(&self, stmt: StmtRef) -> String {
        self.stmt(stmt).join(" ")
    }

    fn optional(&self, expr: Option<ExprRef>) -> String {
        expr.map_or(String::new(), |expr| self.expr(expr))
    }

    /// A statement; labels stand before it.
    fn stmt(&self, at: StmtRef) -> Vec<String> {
        vec![match self.ast.stmt(at) {
            Stmt::Empty => ";".to_owned(),
            Stmt::Expr(expr) => format!("{};", self.expr(*expr)),
            Stmt::Decl(decl) => self.decl(decl),
            Stmt::Block(stmts) => self.stmts(stmts),
            Stmt::If(arms, otherwise) => {
                let mut text = otherwise.map_or(String::new(), |otherwise| format!(" else {}", self.one(otherwise)));
                for (at, (cond, then)) in arms.iter().enumerate().rev() {
                    text = format!("if {} {}{text}", self.expr(*cond), self.one(*then));
                    if at > 0 {
                        text = format!(" else {text}");
                    }
                }
                text
            }
            Stmt::While(cond, body) => format!("while {} {}", self.expr(*cond), self.one(*body)),
            Stmt::DoWhile(body, cond) => format!("do {} while {}", self.one(*body), self.expr(*cond)),
            Stmt::For { init, cond, step, body } => {
                let init = init.map_or(";".to_owned(), |init| self.one(init));
                format!("for {init} {}; {}; {}", self.optional(*cond), self.optional(*step), self.one(*body))
            }
            Stmt::Switch(value, body) => format!("switch {} {}", self.expr(*value), self.one(*body)),
            Stmt::Case(value, stmts) => {
                let from = self.optional(value.map(|(from, _)| from));
                let to = value.and_then(|(_, to)| to).map_or(String::new(), |to| format!("... {} ", self.expr(to)));
                let label = format!("case {from} {to}:");
                return std::iter::once(label).chain(stmts.iter().flat_map(|stmt| self.stmt(*stmt))).collect();
            }
            Stmt::Labeled(name, inner) => {
                return std::iter::once(format!("{}:", name.0)).chain(self.stmt(*inner)).collect();
            }
            Stmt::Goto(name) => format!("goto {};", name.0),
            Stmt::GotoValue(value) => format!("goto *{};", self.expr(*value)),
            Stmt::Break => "break;".to_owned(),
            Stmt::Continue => "continue;".to_owned(),
            Stmt::Return(value) => format!("return {};", self.optional(*value)),
            Stmt::Unsupported(what) => format!("{what};"),
        }]
    }

    fn exprs(&self, exprs: &[ExprRef]) -> String {
        exprs.iter().map(|expr| self.expr(*expr)).collect::<Vec<_>>().join(", ")
    }

    fn path(&self, path: &[Designator<'_>]) -> String {
        let part = |designator: &Designator<'_>| match designator {
            Designator::Field(name) => format!(".{name}"),
            Designator::Index(low, high) => {
                format!("[{}{}]", self.expr(*low), high.map_or(String::new(), |high| format!("...{}", self.expr(high))))
            }
        };
        path.iter().map(part).collect()
    }

    fn expr(&self, at: ExprRef) -> String {
        match self.ast.expr(at) {
            Expr::Number(text) | Expr::Char(text) | Expr::Ident(text) => (*text).to_owned(),
            Expr::Str(text) => text.split_whitespace().collect(),
            Expr::Unary(op, arg) => format!("{op:?}({})", self.expr(*arg)),
            Expr::Update { increment, prefix, target } => {
                format!("{}{}({})", if *prefix { "Pre" } else { "Post" }, increment, self.expr(*target))
            }
            Expr::Binary(op, left, right) => format!("{op:?}({}, {})", self.expr(*left), self.expr(*right)),
            Expr::Assign(op, left, right) => format!("Assign{op:?}({}, {})", self.expr(*left), self.expr(*right)),
            Expr::Cond(cond, yes, no) => {
                format!("Cond({}, {}, {})", self.expr(*cond), self.optional(*yes), self.expr(*no))
            }
            Expr::Comma(parts) => format!("Comma({})", self.exprs(parts)),
            Expr::Call(callee, args) => format!("Call({}: {})", self.expr(*callee), self.exprs(args)),
            Expr::Cast(to, arg) => format!("Cast({}, {})", self.type_name(to), self.expr(*arg)),
            Expr::SizeofValue(arg) => format!("Sizeof({})", self.expr(*arg)),
            Expr::SizeofType(name) => format!("SizeofType({})", self.type_name(name)),
            Expr::AlignofType(name) => format!("Alignof({})", self.type_name(name)),
            Expr::Index(array, index) => format!("Index({}, {})", self.expr(*array), self.expr(*index)),
            Expr::Offsetof(name, path) => format!("Offsetof({}, {})", self.type_name(name), self.path(path)),
            Expr::Member { object, field, arrow } => {
                format!("({}){}{field}", self.expr(*object), if *arrow { "->" } else { "." })
            }
            Expr::LabelAddress(name) => format!("LabelAddress({})", name.0),
            Expr::Block(stmts) => self.stmts(stmts),
            Expr::Init(items) => {
                let item = items.iter().map(|item| format!("{}={}, ", self.path(&item.path), self.expr(item.value)));
                format!("{{{}}}", item.collect::<String>())
            }
            Expr::Compound(name, init) => format!("Compound({}, {})", self.type_name(name), self.expr(*init)),
            Expr::Other(what) => (*what).to_owned(),
        }
    }
}
