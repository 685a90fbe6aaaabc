//! Expressions of C++.

use clang::{Entity, EntityKind, TypeKind};

use super::super::state::{Tree, operands};
use super::super::types::INT;
use super::cursors::{is_global, is_vendors};
use super::functions::address_of;
use crate::ast::{AddressSpace, CExpr, CStmt, CStmtKind, CVariable, ExprKind, Type, UnaryOp};

/// Variables of CUDA, and the functions of OpenCL C.
const IDS: [(&str, &str); 4] = [
    ("threadIdx", "get_local_id"),
    ("blockIdx", "get_group_id"),
    ("blockDim", "get_local_size"),
    ("gridDim", "get_num_groups"),
];

impl<'tu> Tree<'_, 'tu> {
    /// An expression that C has not; `None` for others.
    pub(in crate::parse) fn cuda_expression(
        &mut self,
        entity: &Entity<'tu>,
        operands: &[Entity<'tu>],
    ) -> Option<CExpr> {
        Some(match (entity.get_kind(), operands) {
            (EntityKind::DeclRefExpr, _) => return self.cuda_reference(entity, operands),
            (EntityKind::MemberRefExpr, _) => self.cuda_member(entity, operands),
            (EntityKind::CallExpr, _) => self.cuda_call(entity, operands),
            (EntityKind::ThisExpr, _) => match self.cuda.this.clone() {
                Some(this) => address_of(this),
                None => self.unread(entity, "`this`"),
            },
            (
                EntityKind::CStyleCastExpr
                | EntityKind::StaticCastExpr
                | EntityKind::ReinterpretCastExpr
                | EntityKind::ConstCastExpr
                | EntityKind::FunctionalCastExpr,
                _,
            ) => self.cuda_cast(entity, operands),
            (EntityKind::NullPtrLiteralExpr, _) => self.expr(entity, ExprKind::Int(0)),
            (EntityKind::LambdaExpr, _) => self.unread(entity, "a lambda that is no variable"),
            (EntityKind::NewExpr | EntityKind::DeleteExpr, _) => {
                self.unread(entity, "memory that the device allocates")
            }
            (EntityKind::UnexposedExpr, [inner]) => {
                let (outer, own) = (self.text.span(entity), self.text.span(inner));
                match outer.start < own.start && !self.text.of(entity).is_empty() {
                    // Such as `noexcept(x)`; a conversion has the text of its operand.
                    true => self.unread(entity, super::super::express::nameless("")),
                    false => self.expression(inner),
                }
            }
            (EntityKind::UnaryOperator, [inner]) if self.text.of(entity).starts_with('*') => {
                let pointer = self.expression(inner);
                match pointer.kind {
                    ExprKind::Unary(UnaryOp::Address, place) => *place,
                    _ => return None,
                }
            }
            (EntityKind::UnaryOperator, [inner]) if self.text.of(entity).starts_with('&') => {
                let place = self.expression(inner);
                address_of(place)
            }
            _ => return None,
        })
    }

    /// A name: of a parameter of the template, a constant, a variable, a reference.
    fn cuda_reference(&mut self, entity: &Entity<'tu>, operands: &[Entity<'tu>]) -> Option<CExpr> {
        if let [value] = operands
            && entity.get_name().is_none_or(|name| name.is_empty())
        {
            let name = self.text.of(entity);
            return Some(match self.cuda.bound.get(name).cloned() {
                Some(bound) => CExpr { at: self.at(entity), ..bound },
                None => self.literal_behind(entity, value),
            });
        }
        let declaration = entity.get_reference()?;
        let name = declaration.get_name().unwrap_or_default();
        match declaration.get_kind() {
            EntityKind::VarDecl | EntityKind::ParmDecl => {}
            EntityKind::NonTypeTemplateParameter => {
                let bound = self.cuda.bound.get(&name).cloned();
                let at = self.at(entity);
                return Some(match bound {
                    Some(bound) => CExpr { at, ..bound },
                    None => self.unread(entity, "a parameter of a template"),
                });
            }
            EntityKind::EnumConstantDecl if self.open.contains(&name) => {
                return Some(self.expr(entity, ExprKind::Symbol(name)));
            }
            EntityKind::EnumConstantDecl | EntityKind::FunctionDecl => return None,
            // A variable template: its arguments hold no open name.
            _ => return Some(self.literal_behind(entity, entity)),
        }
        if is_vendors(&declaration) {
            if let Some((_, function)) = IDS.iter().find(|(id, _)| *id == name) {
                return Some(self.all_dimensions(entity, function));
            }
            if name == "warpSize" {
                return Some(self.with_kind(entity, ExprKind::Int(self.cuda.warp), INT));
            }
        }
        let at = self.at(entity);
        if let Some(place) = self.cuda.places.get(&declaration) {
            return Some(CExpr { at, ..place.clone() });
        }
        if let Some(constant) = self.constant_value(&declaration) {
            return Some(CExpr { at, ..constant });
        }
        if declaration.get_kind() == EntityKind::VarDecl && is_static(&declaration) {
            self.global(&declaration);
        }
        let (id, _) = self.variable(declaration);
        self.cuda.exploded.get(&id).map(|list| CExpr { at, ..list.clone() })
    }

    /// The number of a parameter of a template that is not open.
    fn literal_behind(&mut self, entity: &Entity<'tu>, value: &Entity<'tu>) -> CExpr {
        use clang::EvaluationResult::{SignedInteger, UnsignedInteger};
        let number = match (value.get_kind(), value.evaluate(), entity.evaluate()) {
            (_, Some(SignedInteger(n)), _) | (_, None, Some(SignedInteger(n))) => Some(n),
            (_, Some(UnsignedInteger(n)), _) | (_, None, Some(UnsignedInteger(n))) => {
                Some(n.cast_signed())
            }
            _ => None,
        };
        match number {
            Some(number) => self.expr(entity, ExprKind::Int(number)),
            None => self.unread(entity, "an argument of a template"),
        }
    }

    /// The value of a constant: a tuning parameter of its name, or what it is initialised with.
    fn constant_value(&mut self, declaration: &Entity<'tu>) -> Option<CExpr> {
        if declaration.get_kind() != EntityKind::VarDecl || has_memory(declaration) {
            return None;
        }
        let ty = declaration.get_type()?;
        let scalar = self.type_of(ty);
        let text = self.text.of(declaration);
        let written = text.contains("constexpr");
        use clang::EvaluationResult::{Float, SignedInteger, UnsignedInteger};
        let number = declaration.evaluate();
        let known = matches!(number, Some(Float(_) | SignedInteger(_) | UnsignedInteger(_)));
        let global = is_static(declaration) || known;
        if !ty.is_const_qualified() || !(written || global) || !matches!(scalar, Type::Scalar(_)) {
            return None;
        }
        let name = declaration.get_name().unwrap_or_default();
        if self.open.contains(&name) {
            return Some(self.with_kind(declaration, ExprKind::Symbol(name), scalar));
        }
        let init = operands(declaration).pop()?;
        let value = self.expression(&init);
        let value = CExpr { kind: ExprKind::Cast(Box::new(value)), ty: scalar, at: self.at(&init) };
        Some(match value.kind {
            ExprKind::Cast(inner) if inner.ty == value.ty => *inner,
            kind => CExpr { kind, ..value },
        })
    }

    /// A variable of program scope that is used.
    fn global(&mut self, declaration: &Entity<'tu>) {
        let known = self.variables.contains_key(&declaration.get_canonical_entity());
        let ty = declaration.get_type();
        if !known && ty.and_then(texture_reference).is_some() {
            let texture = self.declaration(declaration);
            self.cuda.added.push(CVariable { space: AddressSpace::Private, ..texture });
        } else if !known && !has_shared(declaration) {
            let variable = self.initialised(declaration);
            self.cuda.spans.push(self.text.span(declaration));
            self.cuda.unit.globals.push(variable);
        }
    }

    /// `base.member`, a member of the object of a method, or an id.
    fn cuda_member(&mut self, entity: &Entity<'tu>, operands: &[Entity<'tu>]) -> CExpr {
        let Some(member) = entity.get_name() else {
            return self.unread(entity, "a member without a name");
        };
        let declaration = entity.get_reference();
        if let Some(constant) = declaration.filter(|d| d.get_kind() == EntityKind::VarDecl) {
            let value = self.constant_value(&constant);
            return value.unwrap_or_else(|| self.unread(entity, "a static member"));
        }
        let base = match operands {
            [base, ..] => self.expression(base),
            [] => match self.cuda.this.clone() {
                Some(this) => this,
                None => return self.unread(entity, "a member of an unknown object"),
            },
        };
        self.member_of(entity, base, &member)
    }

    /// A member of an object, or of what a pointer points to.
    fn member_of(&mut self, entity: &Entity<'tu>, base: CExpr, member: &str) -> CExpr {
        let (base, arrow) = match (&base.ty, &base.kind) {
            (Type::Pointer(..), ExprKind::Unary(UnaryOp::Address, _)) => {
                match self.dereferenced(base, entity) {
                    Some(place) => (place, false),
                    None => return self.unread(entity, "a member of an unknown object"),
                }
            }
            (Type::Pointer(..), _) => (base, true),
            _ => (base, false),
        };
        let whole = if arrow { base.ty.element().cloned() } else { Some(base.ty.clone()) };
        match (&base.kind, &whole) {
            // `threadIdx.x`, and members of structures that are read as these.
            (ExprKind::List(items), Some(Type::Struct(_, fields))) => {
                let place = fields.iter().position(|(name, _)| name == member);
                match place.and_then(|place| items.get(place)) {
                    Some(item) => CExpr { at: self.at(entity), ..item.clone() },
                    None => self.unread(entity, format!("the member `{member}`")),
                }
            }
            (_, Some(Type::Struct(..) | Type::Union(..) | Type::Vector(..))) => {
                let ty = super::super::express::field(&base.ty, member).cloned();
                let ty = ty.unwrap_or_else(|| self.expression_type(entity));
                let member = member.to_owned();
                let kind = ExprKind::Member { base: Box::new(base), member, arrow };
                self.with_kind(entity, kind, ty)
            }
            _ => self.unread(entity, format!("the member `{member}` of what is not read")),
        }
    }

    /// A conversion: to a reference it is that of a pointer.
    fn cuda_cast(&mut self, entity: &Entity<'tu>, operands: &[Entity<'tu>]) -> CExpr {
        let Some(operand) = operands.last() else { return self.unread(entity, "a conversion") };
        let operand = self.expression(operand);
        let ty = self.expression_type(entity);
        if entity.get_kind() == EntityKind::FunctionalCastExpr
            && matches!(ty, Type::Struct(..) | Type::Vector(..))
        {
            return CExpr { ty, ..operand };
        }
        let text = self.text.of(entity);
        let target = text.split(['(', '>']).next().unwrap_or_default();
        let c_style = text.strip_prefix('(').and_then(|rest| rest.split(')').next());
        let refers = c_style.unwrap_or(target).trim_end().ends_with('&');
        if refers && operand.ty != ty {
            let pointer = Type::Pointer(AddressSpace::Generic, Box::new(ty.clone()));
            let address = ExprKind::Cast(Box::new(address_of(operand)));
            let address = self.with_kind(entity, address, pointer);
            return self.with_kind(entity, ExprKind::Unary(UnaryOp::Deref, Box::new(address)), ty);
        }
        if refers || matches!(ty, Type::Struct(..)) {
            return operand;
        }
        self.with_kind(entity, ExprKind::Cast(Box::new(operand)), ty)
    }

    /// A statement that C has not; `None` for others.
    pub(in crate::parse) fn cuda_statement(
        &mut self,
        entity: &Entity<'tu>,
        children: &[Entity<'tu>],
    ) -> Option<CStmtKind> {
        if super::super::state::is_expression(entity) {
            let e = self.expression(entity);
            // What a function refers to is not loaded.
            return Some(CStmtKind::Expr(match e.kind {
                ExprKind::Unary(UnaryOp::Deref, call)
                    if matches!(call.kind, ExprKind::Call(..)) =>
                {
                    *call
                }
                kind => CExpr { kind, ..e },
            }));
        }
        match (entity.get_kind(), children) {
            (EntityKind::DeclStmt, _) => Some(self.cuda_declarations(children)),
            (EntityKind::ReturnStmt, [value]) if self.cuda.refers => {
                let place = self.expression(value);
                Some(CStmtKind::Return(Some(address_of(place))))
            }
            // `if (int i = first; condition)`
            (EntityKind::IfStmt, [declared, rest @ ..])
                if declared.get_kind() == EntityKind::DeclStmt && rest.len() > 1 =>
            {
                let mut all = self.body(declared);
                let kind = self.cuda_statement(entity, rest)?;
                all.push(CStmt { kind, at: self.at(entity) });
                Some(CStmtKind::Block(all))
            }
            (EntityKind::IfStmt, [condition, then, rest @ ..])
                if condition.get_kind() != EntityKind::VarDecl =>
            {
                let e = self.expression(condition);
                let text = self.text.of(entity).strip_prefix("if").map(str::trim_start);
                let fixed = text.is_some_and(|text| text.starts_with("constexpr"));
                if fixed && e.has_symbol() && !self.cuda.bound.is_empty() {
                    let what = "a condition of `if constexpr` that stays open";
                    return Some(CStmtKind::Unread(what.to_owned()));
                }
                let otherwise = rest.first().map(|rest| self.body(rest)).unwrap_or_default();
                Some(CStmtKind::If(e, self.body(then), otherwise))
            }
            _ => None,
        }
    }

    /// The type that C has not; `None` for others.
    pub(in crate::parse) fn cuda_type(&mut self, ty: clang::Type<'tu>) -> Option<Type> {
        match ty.get_kind() {
            TypeKind::LValueReference | TypeKind::RValueReference => {
                Some(ty.get_pointee_type().map_or(Type::Void, |ty| self.type_of(ty)))
            }
            TypeKind::Record => {
                let declaration = ty.get_declaration()?;
                let name = declaration.get_name()?;
                if !is_vendors(&declaration) {
                    return self.foreign_layout(ty, &declaration);
                }
                texture_reference(ty).or_else(|| vendors_type(&name))
            }
            TypeKind::Typedef
                if ["cudaTextureObject_t", "cudaSurfaceObject_t"]
                    .iter()
                    .any(|name| ty.get_display_name().ends_with(name)) =>
            {
                Some(Type::Other(self.texture_type().to_owned()))
            }
            TypeKind::Nullptr => Some(Type::Pointer(AddressSpace::Generic, Box::new(Type::Void))),
            _ => None,
        }
    }

    /// A class whose members do not say how it lies in memory.
    fn foreign_layout(&mut self, ty: clang::Type<'tu>, class: &Entity<'tu>) -> Option<Type> {
        let children = class.get_children();
        let unclear = children.iter().any(|child| {
            let base = child.get_kind() == EntityKind::BaseSpecifier
                && child.get_type().is_none_or(|ty| ty.get_sizeof().is_ok_and(|n| n > 1));
            base || child.is_virtual_method() || child.is_bit_field()
        });
        let name = ty.get_display_name();
        let shared = self.types.contains_key(class);
        if !unclear && !shared {
            let read = self.record(ty);
            let bytes = crate::ast::bytes(&read);
            let sized = ty.get_sizeof().ok().and_then(|size| i64::try_from(size).ok());
            let empty = matches!(&read, Type::Struct(_, fields) if fields.is_empty());
            if !empty && bytes.is_some() && bytes != sized {
                let other = Type::Other(format!("{name}, whose layout is not read"));
                self.types.insert(*class, other);
            }
        }
        unclear.then(|| Type::Other(format!("{name}, whose layout is not read")))
    }
}

/// The image that a reference to a texture is, `texture<float, 2, ..>`; `None` for other types.
fn texture_reference(ty: clang::Type<'_>) -> Option<Type> {
    let name = ty.get_canonical_type().get_display_name();
    let dimensions = name.strip_prefix("texture<")?.split(',').nth(1).map_or("1", str::trim);
    Some(Type::Other(format!("image{}d_t", dimensions.trim_end_matches('>'))))
}

/// Whether a variable lies in memory that a kernel accesses.
pub(super) fn has_memory(declaration: &Entity<'_>) -> bool {
    use EntityKind::{CudaConstantAttr, CudaDeviceAttr, CudaSharedAttr};
    let memory = [CudaConstantAttr, CudaDeviceAttr, CudaSharedAttr];
    declaration.get_children().iter().any(|child| memory.contains(&child.get_kind()))
}

pub(super) fn has_shared(declaration: &Entity<'_>) -> bool {
    let children = declaration.get_children();
    children.iter().any(|child| child.get_kind() == EntityKind::CudaSharedAttr)
}

/// Whether a variable belongs to no function, or stays from call to call.
fn is_static(declaration: &Entity<'_>) -> bool {
    is_global(declaration) || declaration.get_storage_class() == Some(clang::StorageClass::Static)
}

/// The memory in which a variable lies.
pub(in crate::parse) fn cuda_space(declaration: &Entity<'_>) -> AddressSpace {
    let children = declaration.get_children();
    let has = |kind| children.iter().any(|child| child.get_kind() == kind);
    if has(EntityKind::CudaSharedAttr) {
        AddressSpace::Local
    } else if has(EntityKind::CudaDeviceAttr) {
        AddressSpace::Global
    } else if has(EntityKind::CudaConstantAttr) || is_static(declaration) {
        AddressSpace::Constant
    } else {
        AddressSpace::Private
    }
}

/// Vectors of the vendor, and real numbers that are classes. Those of three are structures.
fn vendors_type(name: &str) -> Option<Type> {
    use crate::ast::ScalarType::{Int, Real};
    let half = Real { bytes: 2 };
    match name {
        "__half" | "__nv_bfloat16" => return Some(Type::Scalar(half)),
        "__half2" | "__nv_bfloat162" => return Some(Type::Vector(half, 2)),
        "dim3" => return None,
        _ => {}
    }
    let (base, width) = name.split_at_checked(name.len().checked_sub(1)?)?;
    let width: u8 = width.parse().ok().filter(|width| [2, 4].contains(width))?;
    let (plain, signed) = match base.strip_prefix('u') {
        Some(rest) => (rest, false),
        None => (base, true),
    };
    let int = |bytes| Some(Int { bytes, signed });
    let scalar = match plain {
        "char" => int(1),
        "short" => int(2),
        "int" => int(4),
        "long" | "longlong" => int(8),
        "float" if signed => Some(Real { bytes: 4 }),
        "double" if signed => Some(Real { bytes: 8 }),
        _ => None,
    };
    scalar.map(|scalar| Type::Vector(scalar, width))
}
