//! Types.

use std::collections::VecDeque;
use std::sync::Arc;

use clang::{Entity, EntityKind, TypeKind};

use crate::ast::{AddressSpace, CExpr, ExprKind, ScalarType, SourcePlace, Type};

use super::state::{Tree, operands};

pub(super) const INT: Type = Type::Scalar(ScalarType::Int { bytes: 4, signed: true });
pub(super) const ULONG: Type = Type::Scalar(ScalarType::Int { bytes: 8, signed: false });

/// The address space of what has this type. libclang numbers them as clang does inside.
pub(super) fn space(ty: Option<clang::Type<'_>>) -> AddressSpace {
    match ty.map_or(0, |ty| ty.get_address_space()) {
        1 | 6 | 7 => AddressSpace::Global,
        2 => AddressSpace::Local,
        3 => AddressSpace::Constant,
        5 => AddressSpace::Generic,
        _ => AddressSpace::Private,
    }
}

/// A pointer's type, with what it points to as `operand` has it, whose lengths keep symbols.
pub(super) fn pointing(ty: Type, operand: &Type) -> Type {
    match (ty, operand.element()) {
        (Type::Pointer(space, _), Some(element)) => Type::Pointer(space, Box::new(element.clone())),
        (ty, _) => ty,
    }
}

fn scalar(kind: TypeKind) -> Option<ScalarType> {
    let int = |bytes, signed| Some(ScalarType::Int { bytes, signed });
    match kind {
        TypeKind::Bool => Some(ScalarType::Bool),
        TypeKind::CharS | TypeKind::SChar => int(1, true),
        TypeKind::CharU | TypeKind::UChar => int(1, false),
        TypeKind::Short => int(2, true),
        TypeKind::UShort => int(2, false),
        TypeKind::Int | TypeKind::Enum => int(4, true),
        TypeKind::UInt => int(4, false),
        TypeKind::Long | TypeKind::LongLong => int(8, true),
        TypeKind::ULong | TypeKind::ULongLong => int(8, false),
        TypeKind::Half => Some(ScalarType::Real { bytes: 2 }),
        TypeKind::Float => Some(ScalarType::Real { bytes: 4 }),
        TypeKind::Double => Some(ScalarType::Real { bytes: 8 }),
        _ => None,
    }
}

/// `_Atomic(int)` is an `int` to us; libclang only has its name.
fn atomic(name: &str) -> Option<ScalarType> {
    let at = name.find("_Atomic(")? + "_Atomic(".len();
    scalar(match &name[at..name.rfind(')')?] {
        "int" => TypeKind::Int,
        "unsigned int" => TypeKind::UInt,
        "long" => TypeKind::Long,
        "unsigned long" => TypeKind::ULong,
        "float" => TypeKind::Float,
        "double" => TypeKind::Double,
        _ => return None,
    })
}

impl<'tu> Tree<'_, 'tu> {
    /// The type of an expression, with lengths of arrays only where no symbol can be in them.
    pub(super) fn expression_type(&mut self, entity: &Entity<'tu>) -> Type {
        entity.get_type().map_or(Type::Void, |ty| self.type_of(ty))
    }

    /// A type that is not written where it is used.
    pub(super) fn type_of(&mut self, ty: clang::Type<'tu>) -> Type {
        self.convert_type(ty, &mut VecDeque::new())
    }

    /// The type that a cursor writes down, with the lengths of arrays as expressions.
    pub(super) fn declared_type(&mut self, entity: &Entity<'tu>) -> Type {
        let Some(ty) = entity.get_type() else { return Type::Void };
        let mut lengths = self.lengths(entity);
        let levels = levels(ty);
        if lengths.len() < levels {
            // libclang has put the arrays of a typedef and those around it into one type.
            lengths.extend(self.lengths_of_name(entity));
        }
        // Of a parameter, the first length means nothing; of an array with initial values, it may
        // be missing, and these tell it.
        while lengths.len() > levels {
            lengths.pop_front();
        }
        if lengths.len() + 1 == levels && is_array(ty) {
            lengths.push_front(ty.get_size().and_then(number));
        }
        match self.convert_type(ty, &mut lengths) {
            Type::Array(element, _) if entity.get_kind() == EntityKind::ParmDecl => {
                Type::Pointer(space(Some(ty)), element)
            }
            converted => converted,
        }
    }

    /// Lengths of arrays in the typedef that a cursor names.
    fn lengths_of_name(&mut self, entity: &Entity<'tu>) -> VecDeque<Option<CExpr>> {
        let children = entity.get_children();
        let name = children.iter().find(|child| child.get_kind() == EntityKind::TypeRef);
        let declaration = name.and_then(|name| name.get_reference());
        let Some(typedef) = declaration.filter(|d| d.get_kind() == EntityKind::TypedefDecl) else {
            return VecDeque::new();
        };
        let mut lengths = self.lengths(&typedef);
        lengths.extend(self.lengths_of_name(&typedef));
        lengths
    }

    /// Lengths of arrays that a cursor writes down, from left to right.
    fn lengths(&mut self, entity: &Entity<'tu>) -> VecDeque<Option<CExpr>> {
        let mut lengths: Vec<_> =
            operands(entity).into_iter().filter(|child| self.is_length(entity, child)).collect();
        lengths.sort_by_key(|child| self.text.span(child).start);
        lengths.iter().map(|child| Some(self.expression(child))).collect()
    }

    /// Whether a child of a declaration or a cast is the length of an array: `[` precedes it.
    pub(super) fn is_length(&self, entity: &Entity<'tu>, child: &Entity<'tu>) -> bool {
        let (outer, inner) = (self.text.span(entity), self.text.span(child));
        self.text.ends_with(outer.start, inner.start, '[')
    }

    fn convert_type(
        &mut self,
        ty: clang::Type<'tu>,
        lengths: &mut VecDeque<Option<CExpr>>,
    ) -> Type {
        if let Some(scalar) = scalar(ty.get_kind()) {
            return Type::Scalar(scalar);
        }
        if self.cuda.on
            && let Some(converted) = self.cuda_type(ty)
        {
            return converted;
        }
        match ty.get_kind() {
            TypeKind::Void => Type::Void,
            TypeKind::Pointer => {
                let pointee = ty.get_pointee_type();
                let inner = pointee.map_or(Type::Void, |ty| self.convert_type(ty, lengths));
                let space = if self.cuda.on { AddressSpace::Generic } else { space(pointee) };
                Type::Pointer(space, Box::new(inner))
            }
            _ if is_array(ty) => {
                // libclang's number would hide the symbols that it was made of.
                let known = ty.get_size().filter(|_| self.open.is_empty()).and_then(number);
                let length = lengths.pop_front().unwrap_or(known);
                let element = ty.get_element_type();
                let element = element.map_or(Type::Void, |ty| self.convert_type(ty, lengths));
                Type::Array(Box::new(element), length.map(Box::new))
            }
            TypeKind::Typedef => match ty.get_declaration() {
                Some(declaration) => self.typedef(declaration, ty),
                None => self.canonical(ty, lengths),
            },
            TypeKind::Elaborated => match ty.get_elaborated_type() {
                Some(inner) => self.convert_type(inner, lengths),
                None => self.canonical(ty, lengths),
            },
            TypeKind::Record => self.record(ty),
            _ => self.canonical(ty, lengths),
        }
    }

    fn typedef(&mut self, declaration: Entity<'tu>, ty: clang::Type<'tu>) -> Type {
        if let Some(known) = self.types.get(&declaration) {
            return known.clone();
        }
        let converted = match declaration.get_typedef_underlying_type() {
            Some(underlying) => {
                let mut lengths = self.lengths(&declaration);
                self.convert_type(underlying, &mut lengths)
            }
            None => self.canonical(ty, &mut VecDeque::new()),
        };
        self.types.insert(declaration, converted.clone());
        converted
    }

    /// Vectors, and types of kinds that the binding does not know.
    fn canonical(&mut self, ty: clang::Type<'tu>, lengths: &mut VecDeque<Option<CExpr>>) -> Type {
        if let (Some(element), Some(width)) = (ty.get_element_type(), ty.get_size())
            && let Some(scalar) = scalar(element.get_canonical_type().get_kind())
            && let Ok(width) = u8::try_from(width)
        {
            return Type::Vector(scalar, width);
        }
        let canonical = ty.get_canonical_type();
        if canonical != ty && canonical.get_kind() != TypeKind::Typedef {
            return self.convert_type(canonical, lengths);
        }
        let name = ty.get_display_name().replace("__private ", "");
        atomic(&name).map_or(Type::Other(name), Type::Scalar)
    }

    pub(super) fn record(&mut self, ty: clang::Type<'tu>) -> Type {
        let name = ty.get_display_name();
        let Some(declaration) = ty.get_declaration() else { return Type::Other(name) };
        if let Some(known) = self.types.get(&declaration) {
            return known.clone();
        }
        let name = match declaration.is_anonymous_record_decl() {
            true => "anonymous".to_owned(),
            false => declaration.get_name().unwrap_or(name),
        };
        self.types.insert(declaration, Type::Struct(name.clone(), Arc::default()));
        let mut fields = Vec::new();
        for child in declaration.get_children() {
            if child.get_kind() == EntityKind::FieldDecl {
                fields.push((child.get_name().unwrap_or_default(), self.declared_type(&child)));
            } else if child.is_anonymous_record_decl()
                && let Some(inner) = child.get_type()
            {
                fields.push((String::new(), self.record(inner)));
            }
        }
        if fields.is_empty() && self.cuda.on {
            // libclang does not visit the members of an instance of a class template.
            for field in ty.get_canonical_type().get_fields().unwrap_or_default() {
                fields.push((field.get_name().unwrap_or_default(), self.declared_type(&field)));
            }
        }
        let kind = match declaration.get_kind() {
            EntityKind::UnionDecl => Type::Union,
            _ => Type::Struct,
        };
        let converted = kind(name, Arc::new(fields));
        self.types.insert(declaration, converted.clone());
        converted
    }
}

fn is_array(ty: clang::Type<'_>) -> bool {
    let kind = ty.get_kind();
    matches!(kind, TypeKind::ConstantArray | TypeKind::IncompleteArray | TypeKind::VariableArray)
}

/// How many arrays a type is made of, without what a typedef hides.
fn levels(ty: clang::Type<'_>) -> usize {
    match ty.get_kind() {
        _ if is_array(ty) => 1 + ty.get_element_type().map_or(0, levels),
        TypeKind::Pointer => ty.get_pointee_type().map_or(0, levels),
        TypeKind::Unexposed | TypeKind::Elaborated => {
            let canonical = ty.get_canonical_type();
            if canonical == ty || ty.get_declaration().is_some() { 0 } else { levels(canonical) }
        }
        _ => 0,
    }
}

/// A length that libclang knows as a number.
fn number(value: usize) -> Option<CExpr> {
    let at = SourcePlace { file: Arc::from(""), line: 0, column: 0 };
    let value = i64::try_from(value).ok()?;
    Some(CExpr { kind: ExprKind::Int(value), ty: INT, at })
}
