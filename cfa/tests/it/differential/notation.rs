// SPDX-License-Identifier: Apache-2.0
//! The tree of `lang-c` in the notation of [`cfa::syntax`].

use lang_c::ast::{
    ArraySize, BinaryOperator, BlockItem, Declaration, DeclarationSpecifier, Declarator, DeclaratorKind,
    DerivedDeclarator, Designator, Ellipsis, EnumType, Expression, ExternalDeclaration, ForInitializer, Initializer,
    InitializerListItem, Label, MemberOperator, OffsetMember, ParameterDeclaration, SpecifierQualifier, Statement,
    StorageClassSpecifier, StructDeclaration, StructKind, StructType, TranslationUnit, TypeName, TypeOf, TypeSpecifier,
    UnaryOperator,
};
use lang_c::span::{Node, Span};

pub(super) struct Writer<'w> {
    pub(super) text: &'w str,
}

impl Writer<'_> {
    pub(super) fn unit(&self, unit: &TranslationUnit) -> Vec<String> {
        let item = |item: &Node<ExternalDeclaration>| match &item.node {
            ExternalDeclaration::Declaration(decl) => Some(self.decl(&decl.node)),
            ExternalDeclaration::StaticAssert(_) => None,
            ExternalDeclaration::FunctionDefinition(function) => {
                let function = &function.node;
                let (storage, spec) = self.specifiers(&function.specifiers);
                let mut old = Vec::new();
                for decl in &function.declarations {
                    let (_, spec) = self.specifiers(&decl.node.specifiers);
                    old.extend(
                        decl.node.declarators.iter().map(|d| self.declared(spec.clone(), &d.node.declarator.node, &[])),
                    );
                }
                let (name, ty) = self.declared(spec, &function.declarator.node, &old);
                Some(format!("{storage}{name}: {ty} {}", self.stmt(&function.statement.node).join(" ")))
            }
        };
        unit.0.iter().filter_map(item).collect()
    }

    fn slice(&self, span: Span) -> String {
        self.text[span.start..span.end].trim().to_owned()
    }

    fn specifiers(&self, specifiers: &[Node<DeclarationSpecifier>]) -> (&'static str, String) {
        let mut storage = "";
        let mut types = Vec::new();
        for specifier in specifiers {
            match &specifier.node {
                DeclarationSpecifier::StorageClass(class) => match class.node {
                    StorageClassSpecifier::Typedef => storage = "typedef ",
                    StorageClassSpecifier::Extern => storage = "extern ",
                    StorageClassSpecifier::Static => storage = "static ",
                    _ => {}
                },
                DeclarationSpecifier::TypeSpecifier(ty) => types.push(&ty.node),
                _ => {}
            }
        }
        (storage, self.types(&types))
    }

    fn qualified(&self, specifiers: &[Node<SpecifierQualifier>]) -> String {
        let types = specifiers.iter().filter_map(|specifier| match &specifier.node {
            SpecifierQualifier::TypeSpecifier(ty) => Some(&ty.node),
            _ => None,
        });
        self.types(&types.collect::<Vec<_>>())
    }

    fn types(&self, types: &[&TypeSpecifier]) -> String {
        let mut words: Vec<String> = types
            .iter()
            .map(|ty| match ty {
                TypeSpecifier::Void => "void".into(),
                TypeSpecifier::Char => "char".into(),
                TypeSpecifier::Short => "short".into(),
                TypeSpecifier::Int => "int".into(),
                TypeSpecifier::Long => "long".into(),
                TypeSpecifier::Float => "float".into(),
                TypeSpecifier::Double => "double".into(),
                TypeSpecifier::Signed => "signed".into(),
                TypeSpecifier::Unsigned => "unsigned".into(),
                TypeSpecifier::Bool => "_Bool".into(),
                TypeSpecifier::Struct(record) => self.record(&record.node),
                TypeSpecifier::Enum(ty) => self.enumeration(&ty.node),
                TypeSpecifier::TypedefName(name) => name.node.name.clone(),
                TypeSpecifier::TypeOf(ty) => match &ty.node {
                    TypeOf::Expression(expr) => format!("Typeof({})", self.expr(expr)),
                    TypeOf::Type(name) => self.type_name(&name.node),
                },
                TypeSpecifier::Atomic(name) => format!("typeof({})", self.type_name(&name.node)),
                TypeSpecifier::Complex => "?".into(),
                TypeSpecifier::TS18661Float(ty) => format!("_Float{}", ty.width),
            })
            .collect();
        words.sort_unstable();
        if words.is_empty() { "int".into() } else { words.join(" ") }
    }

    fn record(&self, record: &StructType) -> String {
        let kind = if record.kind.node == StructKind::Union { "union" } else { "struct" };
        let tag = record.identifier.as_ref().map_or("", |tag| &tag.node.name);
        let fields = record.declarations.as_ref().map_or(String::new(), |fields| {
            let field = fields.iter().map(|field| match &field.node {
                StructDeclaration::StaticAssert(_) => String::new(),
                StructDeclaration::Field(field) => {
                    let base = self.qualified(&field.node.specifiers);
                    let declarators = field.node.declarators.iter().map(|declarator| {
                        let (name, ty) = match &declarator.node.declarator {
                            Some(declarator) => self.declared(base.clone(), &declarator.node, &[]),
                            None => (String::new(), base.clone()),
                        };
                        let width = &declarator.node.bit_width;
                        let width = width.as_ref().map_or(String::new(), |width| format!(" : {}", self.expr(width)));
                        format!(" {name}: {ty}{width};")
                    });
                    format!("{base}{} ", declarators.collect::<String>())
                }
            });
            format!("{{{}}}", field.collect::<String>())
        });
        format!("{kind} {tag}{fields}")
    }

    fn enumeration(&self, ty: &EnumType) -> String {
        let items = ty.enumerators.iter().map(|item| {
            let value = item.node.expression.as_ref().map_or(String::new(), |value| self.expr(value));
            format!("{}={value} ", item.node.identifier.node.name)
        });
        let tag = ty.identifier.as_ref().map_or("", |tag| &tag.node.name);
        format!("enum {tag}{{{}}}", items.collect::<String>())
    }

    fn type_name(&self, name: &TypeName) -> String {
        let base = self.qualified(&name.specifiers);
        match &name.declarator {
            Some(declarator) => self.declared(base, &declarator.node, &[]).1,
            None => base,
        }
    }

    /// Name and type; `old` are the declarations of parameters in the old style.
    fn declared(&self, mut base: String, declarator: &Declarator, old: &[(String, String)]) -> (String, String) {
        let is_pointer = |derived: &&Node<DerivedDeclarator>| matches!(derived.node, DerivedDeclarator::Pointer(_));
        for _ in declarator.derived.iter().filter(is_pointer) {
            base = format!("*({base})");
        }
        for derived in declarator.derived.iter().rev() {
            match &derived.node {
                DerivedDeclarator::Pointer(_) | DerivedDeclarator::Block(_) => {}
                DerivedDeclarator::Array(array) => {
                    let size = match &array.node.size {
                        ArraySize::Unknown | ArraySize::VariableUnknown => String::new(),
                        ArraySize::VariableExpression(size) | ArraySize::StaticExpression(size) => self.expr(size),
                    };
                    base = format!("[{size}]({base})");
                }
                DerivedDeclarator::Function(function) => {
                    let params = function.node.parameters.iter().map(|param| self.param(&param.node));
                    let more = if function.node.ellipsis == Ellipsis::Some { "..." } else { "" };
                    base = format!("fn({}{more})({base})", params.collect::<String>());
                }
                DerivedDeclarator::KRFunction(names) => {
                    let params = names.iter().map(|name| {
                        let name = &name.node.name;
                        let ty = old.iter().find(|(other, _)| other == name).map_or("int", |(_, ty)| ty);
                        format!("{name}: {ty}, ")
                    });
                    base = format!("fn({})({base})", params.collect::<String>());
                }
            }
        }
        match &declarator.kind.node {
            DeclaratorKind::Abstract => (String::new(), base),
            DeclaratorKind::Identifier(name) => (name.node.name.clone(), base),
            DeclaratorKind::Declarator(inner) => self.declared(base, &inner.node, old),
        }
    }

    fn param(&self, param: &ParameterDeclaration) -> String {
        let (_, base) = self.specifiers(&param.specifiers);
        let (name, ty) = match &param.declarator {
            Some(declarator) => self.declared(base, &declarator.node, &[]),
            None => (String::new(), base),
        };
        format!("{name}: {ty}, ")
    }

    fn decl(&self, decl: &Declaration) -> String {
        let (storage, spec) = self.specifiers(&decl.specifiers);
        let items = decl.declarators.iter().map(|item| {
            let (name, ty) = self.declared(spec.clone(), &item.node.declarator.node, &[]);
            let init = &item.node.initializer;
            let init = init.as_ref().map_or(String::new(), |init| format!(" = {}", self.initializer(&init.node)));
            format!(" {name}: {ty}{init};")
        });
        format!("{storage}{spec}{}", items.collect::<String>())
    }

    fn initializer(&self, init: &Initializer) -> String {
        match init {
            Initializer::Expression(expr) => self.expr(expr),
            Initializer::List(items) => self.list(items),
        }
    }

    fn list(&self, items: &[Node<InitializerListItem>]) -> String {
        let item = items.iter().map(|item| {
            let path = item.node.designation.iter().map(|designator| match &designator.node {
                Designator::Index(index) => format!("[{}]", self.expr(index)),
                Designator::Member(name) => format!(".{}", name.node.name),
                Designator::Range(range) => {
                    format!("[{}...{}]", self.expr(&range.node.from), self.expr(&range.node.to))
                }
            });
            format!("{}={}, ", path.collect::<String>(), self.initializer(&item.node.initializer.node))
        });
        format!("{{{}}}", item.collect::<String>())
    }

    fn block(&self, items: &[Node<BlockItem>]) -> String {
        let text = items.iter().flat_map(|item| match &item.node {
            BlockItem::Declaration(decl) => vec![self.decl(&decl.node)],
            BlockItem::StaticAssert(_) => Vec::new(),
            BlockItem::Statement(stmt) => self.stmt(&stmt.node),
        });
        format!("{{ {} }}", text.collect::<Vec<_>>().join(" "))
    }

    fn one(&self, stmt: &Node<Statement>) -> String {
        self.stmt(&stmt.node).join(" ")
    }

    fn optional(&self, expr: &Option<Box<Node<Expression>>>) -> String {
        expr.as_ref().map_or(String::new(), |expr| self.expr(expr))
    }

    fn stmt(&self, stmt: &Statement) -> Vec<String> {
        vec![match stmt {
            Statement::Labeled(labeled) => {
                let label = match &labeled.node.label.node {
                    Label::Identifier(name) => format!("{}:", name.node.name),
                    Label::Case(value) => format!("case {} {}:", self.expr(value), self.expr(value)),
                    Label::CaseRange(range) => {
                        format!("case {} {}:", self.expr(&range.node.low), self.expr(&range.node.high))
                    }
                    Label::Default => "case  :".to_owned(),
                };
                // A range and a single value are told apart by the second one.
                let label = match &labeled.node.label.node {
                    Label::Case(value) => format!("case {} :", self.expr(value)),
                    _ => label,
                };
                return std::iter::once(label).chain(self.stmt(&labeled.node.statement.node)).collect();
            }
            Statement::Compound(items) => self.block(items),
            Statement::Expression(None) => ";".to_owned(),
            Statement::Expression(Some(expr)) => format!("{};", self.expr(expr)),
            Statement::If(branch) => {
                let branch = &branch.node;
                let otherwise = branch.else_statement.as_ref();
                let otherwise = otherwise.map_or(String::new(), |stmt| format!(" else {}", self.one(stmt)));
                format!("if {} {}{otherwise}", self.expr(&branch.condition), self.one(&branch.then_statement))
            }
            Statement::Switch(switch) => {
                format!("switch {} {}", self.expr(&switch.node.expression), self.one(&switch.node.statement))
            }
            Statement::While(stmt) => {
                format!("while {} {}", self.expr(&stmt.node.expression), self.one(&stmt.node.statement))
            }
            Statement::DoWhile(stmt) => {
                format!("do {} while {}", self.one(&stmt.node.statement), self.expr(&stmt.node.expression))
            }
            Statement::For(stmt) => {
                let init = match &stmt.node.initializer.node {
                    ForInitializer::Empty | ForInitializer::StaticAssert(_) => ";".to_owned(),
                    ForInitializer::Expression(expr) => format!("{};", self.expr(expr)),
                    ForInitializer::Declaration(decl) => self.decl(&decl.node),
                };
                let (cond, step) = (self.optional(&stmt.node.condition), self.optional(&stmt.node.step));
                format!("for {init} {cond}; {step}; {}", self.one(&stmt.node.statement))
            }
            Statement::Goto(name) => format!("goto {};", name.node.name),
            Statement::Continue => "continue;".to_owned(),
            Statement::Break => "break;".to_owned(),
            Statement::Return(value) => format!("return {};", self.optional(value)),
            Statement::Asm(_) => "inline assembly;".to_owned(),
        }]
    }

    fn exprs(&self, exprs: &[Node<Expression>]) -> String {
        exprs.iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(", ")
    }

    fn expr(&self, expr: &Node<Expression>) -> String {
        match &expr.node {
            Expression::Identifier(name) => name.node.name.clone(),
            Expression::Constant(constant) => self.slice(constant.span),
            Expression::StringLiteral(text) => self.slice(text.span).split_whitespace().collect(),
            Expression::Member(member) => {
                let operator = if member.node.operator.node == MemberOperator::Indirect { "->" } else { "." };
                format!("({}){operator}{}", self.expr(&member.node.expression), member.node.identifier.node.name)
            }
            Expression::Call(call) => {
                format!("Call({}: {})", self.expr(&call.node.callee), self.exprs(&call.node.arguments))
            }
            Expression::CompoundLiteral(literal) => {
                let list = self.list(&literal.node.initializer_list);
                format!("Compound({}, {list})", self.type_name(&literal.node.type_name.node))
            }
            Expression::SizeOfTy(name) => format!("SizeofType({})", self.type_name(&name.node.0.node)),
            Expression::SizeOfVal(value) => format!("Sizeof({})", self.expr(&value.node.0)),
            Expression::AlignOf(name) => format!("Alignof({})", self.type_name(&name.node.0.node)),
            Expression::UnaryOperator(unary) => {
                let arg = self.expr(&unary.node.operand);
                let plain = |op: &str| format!("{op}({arg})");
                match unary.node.operator.node {
                    UnaryOperator::PostIncrement => format!("Posttrue({arg})"),
                    UnaryOperator::PostDecrement => format!("Postfalse({arg})"),
                    UnaryOperator::PreIncrement => format!("Pretrue({arg})"),
                    UnaryOperator::PreDecrement => format!("Prefalse({arg})"),
                    UnaryOperator::Address => plain("AddrOf"),
                    UnaryOperator::Indirection => plain("Deref"),
                    UnaryOperator::Plus => plain("Plus"),
                    UnaryOperator::Minus => plain("Neg"),
                    UnaryOperator::Complement => plain("BitNot"),
                    UnaryOperator::Negate => plain("Not"),
                }
            }
            Expression::Cast(cast) => {
                format!("Cast({}, {})", self.type_name(&cast.node.type_name.node), self.expr(&cast.node.expression))
            }
            Expression::BinaryOperator(binary) => {
                let (left, right) = (self.expr(&binary.node.lhs), self.expr(&binary.node.rhs));
                let name = operator(&binary.node.operator.node);
                format!("{name}({left}, {right})")
            }
            Expression::Conditional(cond) => {
                let cond = &cond.node;
                let (yes, no) = (self.expr(&cond.then_expression), self.expr(&cond.else_expression));
                format!("Cond({}, {yes}, {no})", self.expr(&cond.condition))
            }
            Expression::Comma(parts) => format!("Comma({})", self.exprs(parts)),
            Expression::OffsetOf(offset) => {
                let designator = &offset.node.designator.node;
                let members = designator.members.iter().map(|member| match &member.node {
                    OffsetMember::Member(name) | OffsetMember::IndirectMember(name) => format!(".{}", name.node.name),
                    OffsetMember::Index(index) => format!("[{}]", self.expr(index)),
                });
                let path = format!(".{}{}", designator.base.node.name, members.collect::<String>());
                format!("Offsetof({}, {path})", self.type_name(&offset.node.type_name.node))
            }
            Expression::VaArg(_) => "variable arguments".to_owned(),
            Expression::GenericSelection(_) => "_Generic".to_owned(),
            Expression::Statement(stmt) => self.stmt(&stmt.node).join(" "),
        }
    }
}

/// How an operator is written in front of its operands.
fn operator(op: &BinaryOperator) -> String {
    let plain = str::to_owned;
    let assign = |op: &str| format!("Assign{op}");
    match op {
        BinaryOperator::Index => "Index".to_owned(),
        BinaryOperator::Multiply => plain("Mul"),
        BinaryOperator::Divide => plain("Div"),
        BinaryOperator::Modulo => plain("Rem"),
        BinaryOperator::Plus => plain("Add"),
        BinaryOperator::Minus => plain("Sub"),
        BinaryOperator::ShiftLeft => plain("Shl"),
        BinaryOperator::ShiftRight => plain("Shr"),
        BinaryOperator::Less => plain("Lt"),
        BinaryOperator::Greater => plain("Gt"),
        BinaryOperator::LessOrEqual => plain("Le"),
        BinaryOperator::GreaterOrEqual => plain("Ge"),
        BinaryOperator::Equals => plain("Eq"),
        BinaryOperator::NotEquals => plain("Ne"),
        BinaryOperator::BitwiseAnd => plain("BitAnd"),
        BinaryOperator::BitwiseXor => plain("BitXor"),
        BinaryOperator::BitwiseOr => plain("BitOr"),
        BinaryOperator::LogicalAnd => plain("And"),
        BinaryOperator::LogicalOr => plain("Or"),
        BinaryOperator::Assign => assign("None"),
        BinaryOperator::AssignMultiply => assign("Some(Mul)"),
        BinaryOperator::AssignDivide => assign("Some(Div)"),
        BinaryOperator::AssignModulo => assign("Some(Rem)"),
        BinaryOperator::AssignPlus => assign("Some(Add)"),
        BinaryOperator::AssignMinus => assign("Some(Sub)"),
        BinaryOperator::AssignShiftLeft => assign("Some(Shl)"),
        BinaryOperator::AssignShiftRight => assign("Some(Shr)"),
        BinaryOperator::AssignBitwiseAnd => assign("Some(BitAnd)"),
        BinaryOperator::AssignBitwiseXor => assign("Some(BitXor)"),
        BinaryOperator::AssignBitwiseOr => assign("Some(BitOr)"),
    }
}
