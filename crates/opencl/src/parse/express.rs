//! Expressions; members of structures, components of vectors, and what else libclang does not name.

use clang::{Entity, EntityKind};

use super::spelling;
use super::spelling::Binary;
use super::state::{DEEPEST, Tree, operands};
use super::types::pointing;
use crate::ast::{CBinaryOp, CExpr, ExprKind, Type, UnaryOp};

impl<'tu> Tree<'_, 'tu> {
    /// An expression; what cannot be read is [`ExprKind::Unread`].
    pub(super) fn expression(&mut self, entity: &Entity<'tu>) -> CExpr {
        if self.depth >= DEEPEST {
            return self.unread(entity, format!("an expression that nests {DEEPEST} levels deep"));
        }
        self.depth += 1;
        let expression = self.express(entity);
        self.depth -= 1;
        expression
    }

    fn express(&mut self, entity: &Entity<'tu>) -> CExpr {
        let operands = operands(entity);
        if self.cuda.on
            && let Some(expression) = self.cuda_expression(entity, &operands)
        {
            return expression;
        }
        match (entity.get_kind(), operands.as_slice()) {
            (EntityKind::ParenExpr, [inner]) => self.expression(inner),
            (EntityKind::DeclRefExpr, _) => self.reference(entity),
            (
                EntityKind::IntegerLiteral
                | EntityKind::FloatingLiteral
                | EntityKind::CharacterLiteral
                | EntityKind::BoolLiteralExpr
                | EntityKind::StringLiteral,
                _,
            ) => self.literal(entity),
            (EntityKind::UnaryOperator, [operand]) => self.unary(entity, operand),
            (EntityKind::BinaryOperator | EntityKind::CompoundAssignOperator, [left, right]) => {
                self.binary(entity, left, right)
            }
            (EntityKind::ConditionalOperator, [condition, then, otherwise]) => {
                self.conditional(entity, condition, then, otherwise)
            }
            (EntityKind::ArraySubscriptExpr, [base, index]) => self.index(entity, base, index),
            (EntityKind::MemberRefExpr, [base]) => self.member(entity, base),
            (EntityKind::CallExpr, _) => self.call(entity, &operands),
            (EntityKind::CStyleCastExpr, _) => self.cast(entity, &operands),
            (EntityKind::CompoundLiteralExpr, _) => self.compound(entity, &operands),
            (EntityKind::InitListExpr, _) => self.list(entity, &operands),
            (EntityKind::UnaryExpr, _) => self.size_of(entity, &operands),
            (EntityKind::UnexposedExpr, [inner]) => self.unexposed(entity, inner),
            (EntityKind::UnexposedExpr, _) => self.unread(entity, nameless(self.text.of(entity))),
            (kind, _) => self.unread(entity, name(kind)),
        }
    }

    fn literal(&mut self, entity: &Entity<'tu>) -> CExpr {
        let text = self.text.of(entity);
        let kind = match entity.get_kind() {
            EntityKind::IntegerLiteral => spelling::integer(text).map(ExprKind::Int),
            EntityKind::CharacterLiteral => spelling::character(text).map(ExprKind::Int),
            EntityKind::BoolLiteralExpr => Some(ExprKind::Int(i64::from(text == "true"))),
            EntityKind::StringLiteral => Some(ExprKind::Text),
            _ => Some(ExprKind::Real(text.to_owned())),
        };
        match kind {
            Some(kind) => self.expr(entity, kind),
            None => self.unread(entity, format!("the literal {text}")),
        }
    }

    fn unary(&mut self, entity: &Entity<'tu>, operand: &Entity<'tu>) -> CExpr {
        let (outer, inner) = (self.text.span(entity), self.text.span(operand));
        let op = if outer.start < inner.start {
            spelling::prefix(self.text.slice(outer.start, inner.start))
        } else {
            spelling::postfix(self.text.between(inner.end, outer.end))
        };
        let Some(op) = op else { return self.unread(entity, "an unknown operator") };
        let operand = self.expression(operand);
        let ty = self.expression_type(entity);
        let ty = match (op, ty) {
            (UnaryOp::Deref, ty) => operand.ty.element().cloned().unwrap_or(ty),
            (UnaryOp::Address, Type::Pointer(space, _)) => {
                Type::Pointer(space, Box::new(operand.ty.clone()))
            }
            (_, ty) => pointing(ty, &operand.ty),
        };
        CExpr { kind: ExprKind::Unary(op, Box::new(operand)), ty, at: self.at(entity) }
    }

    fn binary(&mut self, entity: &Entity<'tu>, left: &Entity<'tu>, right: &Entity<'tu>) -> CExpr {
        let between = (self.text.span(left).end, self.text.span(right).start);
        let Some(op) = spelling::binary(self.text.between(between.0, between.1)) else {
            return self.unread(entity, "an unknown operator");
        };
        let (left, right) = (self.expression(left), self.expression(right));
        let ty = self.expression_type(entity);
        let ty = match op {
            Binary::Assign(_) => left.ty.clone(),
            Binary::Plain(CBinaryOp::Comma) => right.ty.clone(),
            Binary::Plain(_) if left.ty.element().is_some() => pointing(ty, &left.ty),
            Binary::Plain(_) => pointing(ty, &right.ty),
        };
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = match op {
            Binary::Plain(op) => ExprKind::Binary(op, left, right),
            Binary::Assign(op) => ExprKind::Assign(op, left, right),
        };
        CExpr { kind, ty, at: self.at(entity) }
    }

    fn conditional(
        &mut self,
        entity: &Entity<'tu>,
        condition: &Entity<'tu>,
        then: &Entity<'tu>,
        otherwise: &Entity<'tu>,
    ) -> CExpr {
        let [condition, then, otherwise] =
            [condition, then, otherwise].map(|part| Box::new(self.expression(part)));
        let side = if then.ty.element().is_some() { &then } else { &otherwise };
        let ty = pointing(self.expression_type(entity), &side.ty);
        let kind = ExprKind::Conditional(condition, then, otherwise);
        CExpr { kind, ty, at: self.at(entity) }
    }

    fn index(&mut self, entity: &Entity<'tu>, base: &Entity<'tu>, index: &Entity<'tu>) -> CExpr {
        let (mut base, mut index) = (self.expression(base), self.expression(index));
        if base.ty.element().is_none() && index.ty.element().is_some() {
            // `1[array]` means `array[1]`.
            std::mem::swap(&mut base, &mut index);
        }
        let ty = base.ty.element().cloned().unwrap_or_else(|| self.expression_type(entity));
        let kind = ExprKind::Index(Box::new(base), Box::new(index));
        CExpr { kind, ty, at: self.at(entity) }
    }

    fn call(&mut self, entity: &Entity<'tu>, operands: &[Entity<'tu>]) -> CExpr {
        let callee = entity.get_reference();
        let function = callee.filter(|callee| callee.get_kind() == EntityKind::FunctionDecl);
        let name = function.and_then(|function| self.function_name(&function));
        let Some(name) = name.or_else(|| entity.get_name()) else {
            return self.unread(entity, "a call through a pointer");
        };
        let builtin = name.strip_prefix("__builtin_");
        if let Some("inff" | "inf" | "huge_valf" | "huge_val") = builtin {
            return self.expr(entity, ExprKind::Real("INFINITY".to_owned()));
        }
        let arguments = operands.iter().skip(1).map(|argument| self.expression(argument)).collect();
        self.expr(entity, ExprKind::Call(name, arguments))
    }

    /// `(type) operand`. A scalar that becomes a vector is a list of one: all components are it.
    fn cast(&mut self, entity: &Entity<'tu>, operands: &[Entity<'tu>]) -> CExpr {
        let Some(operand) = operands.last() else { return self.unread(entity, "a conversion") };
        let operand = self.expression(operand);
        let ty = self.declared_type(entity);
        let splat = matches!((&ty, &operand.ty), (Type::Vector(..), Type::Scalar(_)));
        let kind =
            if splat { ExprKind::List(vec![operand]) } else { ExprKind::Cast(Box::new(operand)) };
        CExpr { kind, ty, at: self.at(entity) }
    }

    /// `(type) { ... }` and `(float4)(...)`.
    fn compound(&mut self, entity: &Entity<'tu>, operands: &[Entity<'tu>]) -> CExpr {
        let Some(list) = operands.last() else { return self.unread(entity, "a literal") };
        let list = self.expression(list);
        CExpr { kind: list.kind, ty: self.declared_type(entity), at: self.at(entity) }
    }

    fn list(&mut self, entity: &Entity<'tu>, operands: &[Entity<'tu>]) -> CExpr {
        let items = operands.iter().map(|item| self.expression(item)).collect();
        self.expr(entity, ExprKind::List(items))
    }

    /// An expression of libclang's own type.
    pub(super) fn expr(&mut self, entity: &Entity<'tu>, kind: ExprKind) -> CExpr {
        let ty = self.expression_type(entity);
        CExpr { kind, ty, at: self.at(entity) }
    }

    /// A name: of a variable, a symbol, or an enumeration constant.
    fn reference(&mut self, entity: &Entity<'tu>) -> CExpr {
        let Some(declaration) = entity.get_reference() else {
            return self.unread(entity, "an unknown name");
        };
        let at = self.at(entity);
        match declaration.get_kind() {
            EntityKind::VarDecl | EntityKind::ParmDecl => {
                let (id, ty) = self.variable(declaration);
                let name = declaration.get_name().unwrap_or_default();
                CExpr { kind: ExprKind::Variable(id, name), ty, at }
            }
            EntityKind::EnumConstantDecl => CExpr { at, ..self.constant(declaration) },
            EntityKind::FunctionDecl => self.unread(entity, "a pointer to a function"),
            _ => self.unread(entity, "an unknown name"),
        }
    }

    /// The value of an enumeration constant, over symbols if it depends on them.
    fn constant(&mut self, declaration: Entity<'tu>) -> CExpr {
        if let Some(known) = self.constants.get(&declaration) {
            return known.clone();
        }
        let name = declaration.get_name().unwrap_or_default();
        let at = self.at_name(&declaration);
        let value = declaration.get_enum_constant_value().map_or(0, |(signed, _)| signed);
        let mut constant = self.expr(&declaration, ExprKind::Int(value));
        if self.open.contains(&name) && &*at.file == crate::preprocess::SYMBOLS {
            constant.kind = ExprKind::Symbol(name);
        } else if let Some(kind) = self.symbolic_constant(&declaration) {
            constant.kind = kind;
        }
        self.constants.insert(declaration, constant.clone());
        constant
    }

    /// What a constant is if there are symbols in it, or in one before it from which it counts.
    fn symbolic_constant(&mut self, declaration: &Entity<'tu>) -> Option<ExprKind> {
        if let Some(written) = operands(declaration).first() {
            let written = self.expression(written);
            return written.has_symbol().then_some(written.kind);
        }
        let siblings = declaration.get_semantic_parent()?.get_children();
        let at = siblings.iter().position(|sibling| sibling == declaration)?;
        let previous = self.constant(*siblings.get(at.checked_sub(1)?)?);
        let one =
            CExpr { kind: ExprKind::Int(1), ty: previous.ty.clone(), at: previous.at.clone() };
        let symbolic = previous.has_symbol();
        symbolic.then(|| ExprKind::Binary(CBinaryOp::Add, Box::new(previous), Box::new(one)))
    }

    /// `base.member` and `base->member`.
    pub(super) fn member(&mut self, entity: &Entity<'tu>, base: &Entity<'tu>) -> CExpr {
        let rest = self.text.between(self.text.span(base).end, self.text.span(entity).end);
        let arrow = rest.starts_with("->");
        let Some(member) = entity.get_name() else {
            return self.unread(entity, "a member without a name");
        };
        let base = self.expression(base);
        let ty = field(&base.ty, &member).cloned().unwrap_or_else(|| self.expression_type(entity));
        let kind = ExprKind::Member { base: Box::new(base), member, arrow };
        CExpr { kind, ty, at: self.at(entity) }
    }

    /// Expressions without a name of their own in libclang: implicit conversions, which are left
    /// out, components of vectors, and built-in operations.
    pub(super) fn unexposed(&mut self, entity: &Entity<'tu>, inner: &Entity<'tu>) -> CExpr {
        let (outer, operand) = (self.text.span(entity), self.text.span(inner));
        if outer.start < operand.start {
            return self.operation(entity, inner);
        }
        let rest = self.text.between(operand.end, outer.end);
        let (component, arrow) = match (rest.strip_prefix("->"), rest.strip_prefix('.')) {
            (Some(component), _) => (component, true),
            (_, Some(component)) => (component, false),
            _ => return self.expression(inner),
        };
        let member = if component.is_empty() {
            // White space after the point.
            self.text.slice(operand.end, outer.end).split_whitespace().last().unwrap_or("")
        } else {
            component
        };
        let base = self.expression(inner);
        let kind = ExprKind::Member { base: Box::new(base), member: member.to_owned(), arrow };
        self.expr(entity, kind)
    }

    /// `__builtin_astype(x, float)`, which is what `as_float(x)` expands to, and the like.
    fn operation(&mut self, entity: &Entity<'tu>, inner: &Entity<'tu>) -> CExpr {
        let text = self.text.of(entity);
        let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        match &text[..end] {
            "__builtin_astype" => {
                let ty = entity.get_type().map(|ty| ty.get_display_name()).unwrap_or_default();
                let argument = self.expression(inner);
                self.expr(entity, ExprKind::Call(format!("as_{ty}"), vec![argument]))
            }
            name if name.starts_with("__builtin_") => {
                let argument = self.expression(inner);
                self.expr(entity, ExprKind::Call(name.to_owned(), vec![argument]))
            }
            _ => self.unread(entity, nameless(text)),
        }
    }
}

/// What to call a kind of expression that is not read.
fn name(kind: EntityKind) -> &'static str {
    match kind {
        EntityKind::BlockExpr => "a block literal",
        EntityKind::StmtExpr => "a statement within an expression",
        EntityKind::AddrLabelExpr => "the address of a label",
        EntityKind::GenericSelectionExpr => "_Generic",
        _ => "an expression of an unknown kind",
    }
}

/// What to call an expression that libclang has no name for, by its text.
pub(super) fn nameless(text: &str) -> &'static str {
    if text.starts_with(['.', '[']) {
        "a designated initial value"
    } else if text.contains("?:") {
        "a conditional expression without its second part"
    } else {
        "an expression of an unknown kind"
    }
}

/// The type of a structure's field, also through a pointer.
pub(super) fn field<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    match ty {
        Type::Struct(_, fields) | Type::Union(_, fields) => {
            let inside = |(own, ty): &'t (String, Type)| match own.as_str() {
                "" => field(ty, name),
                own => (own == name).then_some(ty),
            };
            fields.iter().find_map(inside)
        }
        Type::Pointer(_, inner) | Type::Array(inner, _) => field(inner, name),
        _ => None,
    }
}
