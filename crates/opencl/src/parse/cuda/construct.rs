//! Constructors: lists of members, or functions that return an object.

use std::collections::HashMap;

use clang::{Entity, EntityKind};

use super::super::state::{Tree, operands};
use super::calls::body_of;
use super::functions::{Callee, holds_pointer, variable_of};
use super::is_vendors;
use crate::ast::{AddressSpace, CExpr, CFunction, CStmt, CStmtKind, CVariable, ExprKind, Type};

impl<'tu> Tree<'_, 'tu> {
    /// A constructor: a copy is left out, a vector or a structure without constructors is a list.
    pub(super) fn construction(
        &mut self,
        entity: &Entity<'tu>,
        callee: &Entity<'tu>,
        operands: &[Entity<'tu>],
    ) -> CExpr {
        let ty = self.expression_type(entity);
        let own = |o: &&Entity<'tu>| !self.text.of(o).is_empty();
        let given: Vec<Entity<'tu>> = operands.iter().filter(own).copied().collect();
        let copies = callee.is_copy_constructor() || callee.is_move_constructor();
        let implicit = is_vendors(callee) || is_implicit(callee) || body_of(callee).is_none();
        match given.as_slice() {
            [one] if copies && implicit => self.expression(one),
            [one] if is_vendors(callee) && matches!(ty, Type::Scalar(_)) => {
                let one = self.expression(one);
                self.expr(entity, ExprKind::Cast(Box::new(one)))
            }
            _ if given.is_empty() && implicit && has_no_initial_values(entity) => {
                self.expr(entity, ExprKind::List(Vec::new()))
            }
            // `dim3(x, y)`: absent sizes are 1.
            all if is_vendors(callee) => {
                let mut items: Vec<CExpr> = all.iter().map(|item| self.expression(item)).collect();
                while items.len() < 3 && ty_name(&ty) == Some("dim3") {
                    items.push(self.with_kind(entity, ExprKind::Int(1), super::groups::UINT));
                }
                self.expr(entity, ExprKind::List(items))
            }
            _ => match body_of(callee).filter(|_| !holds_pointer(&ty)) {
                Some(definition) => {
                    let arguments = self.arguments(callee, operands);
                    let bound = HashMap::new();
                    let callee = Callee { entity: definition, bound, this: None };
                    self.call_of(entity, callee, arguments)
                }
                None => self.unread(entity, "a constructor"),
            },
        }
    }

    /// The object that a constructor makes, as what `this` is.
    pub(super) fn made_object(&mut self, constructor: &Entity<'tu>) -> Option<CVariable> {
        if constructor.get_kind() != EntityKind::Constructor {
            return None;
        }
        let ty = self.type_of(constructor.get_semantic_parent()?.get_type()?);
        let (id, at) = (self.next_id(), self.at_name(constructor));
        let (name, space) = ("object".to_owned(), AddressSpace::Private);
        let object = CVariable { id, name, ty, space, read_only: false, init: None, at };
        self.cuda.this = Some(variable_of(&object));
        Some(object)
    }

    /// A constructor as a function: members get their first values, the body runs, the object is
    /// returned.
    pub(super) fn returning(
        &mut self,
        constructor: &Entity<'tu>,
        object: CVariable,
        function: CFunction,
    ) -> CFunction {
        let (at, value) = (object.at.clone(), variable_of(&object));
        let fields = match &object.ty {
            Type::Struct(_, fields) => fields.clone(),
            _ => Default::default(),
        };
        let mut body = vec![CStmtKind::Declare(vec![object])];
        let mut written: Vec<(String, CExpr)> = Vec::new();
        let mut member = None;
        for child in constructor.get_children() {
            match (child.get_kind(), member.take()) {
                (EntityKind::MemberRef, _) => member = child.get_name(),
                (_, Some(name)) => written.push((name, self.expression(&child))),
                _ => {}
            }
        }
        for (name, value_of_member) in written {
            let ty = fields.iter().find(|(field, _)| *field == name).map(|(_, ty)| ty.clone());
            let (base, ty) = (Box::new(value.clone()), ty.unwrap_or(Type::Void));
            let place = ExprKind::Member { base, member: name, arrow: false };
            let place = Box::new(CExpr { kind: place, ty: ty.clone(), at: at.clone() });
            let store = ExprKind::Assign(None, place, Box::new(value_of_member));
            body.push(CStmtKind::Expr(CExpr { kind: store, ty, at: at.clone() }));
        }
        let mut body: Vec<CStmt> =
            body.into_iter().map(|kind| CStmt { kind, at: at.clone() }).collect();
        body.extend(function.body);
        let result = value.ty.clone();
        body.push(CStmt { kind: CStmtKind::Return(Some(value)), at });
        CFunction { body, result, ..function }
    }
}

/// The name of a structure.
fn ty_name(ty: &Type) -> Option<&str> {
    match ty {
        Type::Struct(name, _) => Some(name),
        _ => None,
    }
}

/// Whether the members of what is constructed have no initial values in their class.
fn has_no_initial_values(entity: &Entity<'_>) -> bool {
    let class = entity.get_type().and_then(|ty| ty.get_canonical_type().get_declaration());
    class.is_none_or(|class| {
        let fields = class.get_children();
        let mut fields = fields.iter().filter(|child| child.get_kind() == EntityKind::FieldDecl);
        fields.all(|field| {
            let lengths = field.get_type().is_some_and(|ty| ty.get_size().is_some());
            lengths || operands(field).is_empty()
        })
    })
}

/// Whether the compiler has made a function of a class: it has the place of the class.
pub(super) fn is_implicit(function: &Entity<'_>) -> bool {
    let class = function.get_semantic_parent().and_then(|class| class.get_location());
    function.is_defaulted() || class.is_some() && function.get_location() == class
}
