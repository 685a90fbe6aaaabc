//! Declarations of C++: references, lambdas, structures that are read as their members, shared
//! memory.

use clang::{Entity, EntityKind};

use super::super::state::{Tree, operands};
use super::super::types::INT;
use super::cursors::{
    body_of, is_implicit, is_reference, is_vendors, parameters_of, stands_for_itself, stripped,
};
use super::express::{has_memory, has_shared};
use super::functions::{Callee, address_of, deref, holds_pointer, is_simple, variable_of};
use super::state::Lambda;
use crate::ast::{AddressSpace, CExpr, CStmt, CStmtKind, CVariable, ExprKind, Type};
use crate::lines::is_word;

impl<'tu> Tree<'_, 'tu> {
    pub(super) fn cuda_declarations(&mut self, children: &[Entity<'tu>]) -> CStmtKind {
        let mut all = Vec::new();
        for child in children.iter().filter(|child| child.get_kind() == EntityKind::VarDecl) {
            if let Err(what) = self.declare(child, &mut all) {
                return CStmtKind::Unread(what);
            }
        }
        if all.is_empty() { CStmtKind::Empty } else { CStmtKind::Declare(all) }
    }

    /// A declaration in a function, or what is not read.
    fn declare(&mut self, entity: &Entity<'tu>, all: &mut Vec<CVariable>) -> Result<(), String> {
        let Some(ty) = entity.get_type() else { return Ok(()) };
        if stands_for_itself(ty) {
            let init = operands(entity).last().map(stripped);
            if let Some(lambda) = init.and_then(|init| self.lambda_of(&init)) {
                self.cuda.lambdas.insert(*entity, lambda);
            }
            return Ok(());
        }
        let open_array = matches!(ty.get_kind(), clang::TypeKind::IncompleteArray);
        if has_shared(entity) && open_array {
            self.dynamic_shared(entity);
            return Ok(());
        }
        if has_memory(entity) {
            let class = self.declaration(entity);
            // Constructors of shared variables do nothing.
            all.push(class);
            return Ok(());
        }
        if is_reference(entity.get_type()) {
            return self.declare_reference(entity, all);
        }
        if self.constructed(entity, all) {
            return Ok(());
        }
        let variable = self.initialised(entity);
        if let Some(what) = unreadable(&variable.ty) {
            return Err(what);
        }
        if !holds_pointer(&variable.ty) {
            all.push(variable);
            return Ok(());
        }
        let init = variable.init.as_ref().map(|init| self.members_of(init));
        let mut members = self.exploded(&variable, &variable.ty.clone());
        match init {
            None => {}
            Some(Some(values)) if values.is_empty() => {}
            Some(Some(values)) if values.len() == members.len() => {
                for (member, value) in members.iter_mut().zip(values) {
                    member.init = Some(value);
                }
            }
            Some(_) => return Err("a structure that holds pointers".to_owned()),
        }
        all.extend(members);
        Ok(())
    }

    /// A variable whose constructor has a body: declared without a value, and then the call of the
    /// constructor as a method, which a number beside it has for its value. False for others.
    fn constructed(&mut self, entity: &Entity<'tu>, all: &mut Vec<CVariable>) -> bool {
        let Some(init) = operands(entity).last().map(stripped) else { return false };
        let callee = init.get_reference().filter(|callee| {
            let copies = callee.is_copy_constructor() || callee.is_move_constructor();
            callee.get_kind() == EntityKind::Constructor
                && !copies
                && !is_vendors(callee)
                && !is_implicit(callee)
                && body_of(callee).is_some()
        });
        let Some(callee) = callee.filter(|_| init.get_kind() == EntityKind::CallExpr) else {
            return false;
        };
        let variable = self.declaration(entity);
        if unreadable(&variable.ty).is_some() || holds_pointer(&variable.ty) {
            return false;
        }
        let object = variable_of(&variable);
        let call = self.method_of(&init, &callee, object, &operands(&init));
        let none = self.with_kind(&init, ExprKind::Int(0), INT);
        let done =
            self.unnamed(variable.at.clone(), &format!("{}_constructed", variable.name), INT);
        let value = self.sequence(&init, vec![CExpr { ty: Type::Void, ..call }, none]);
        all.extend([variable, CVariable { init: Some(value), ..done }]);
        true
    }

    /// A constructor with a body as an expression: a function with a variable, the constructor as
    /// a method of it, and its value.
    pub(super) fn constructed_value(
        &mut self,
        entity: &Entity<'tu>,
        constructor: Entity<'tu>,
        arguments: Vec<CExpr>,
    ) -> CExpr {
        let ty = self.expression_type(entity);
        if unreadable(&ty).is_some() || holds_pointer(&ty) {
            return self.unread(entity, "a constructor");
        }
        self.call_of(entity, Callee::new(constructor, None), arguments)
    }

    /// What a constructor gives to members before its body: `: x(a), y(b)`.
    pub(super) fn member_initialisers(&mut self, constructor: &Entity<'tu>) -> Vec<CStmt> {
        let Some(this) = self.cuda.this.clone() else { return Vec::new() };
        let children = constructor.get_children();
        let pairs = children.windows(2).filter(|pair| pair[0].get_kind() == EntityKind::MemberRef);
        pairs
            .filter_map(|pair| {
                let member = pair[0].get_name()?;
                let value = self.expression(&pair[1]);
                let base = Box::new(this.clone());
                let kind = ExprKind::Member { base, member, arrow: false };
                let ty = value.ty.clone();
                let place = Box::new(self.with_kind(&pair[0], kind, ty.clone()));
                let assigned = ExprKind::Assign(None, place, Box::new(value));
                let assigned = self.with_kind(&pair[1], assigned, ty);
                Some(CStmt { kind: CStmtKind::Expr(assigned), at: self.at(&pair[1]) })
            })
            .collect()
    }

    /// A reference is another name of a simple place, else a pointer.
    fn declare_reference(
        &mut self,
        entity: &Entity<'tu>,
        all: &mut Vec<CVariable>,
    ) -> Result<(), String> {
        let init = operands(entity).into_iter().rfind(|child| !self.is_length(entity, child));
        let Some(init) = init else { return Err("a reference without a value".to_owned()) };
        let mut init = self.expression(&init);
        let mut variable = self.declaration(entity);
        if let Some(what) = unreadable(&variable.ty) {
            return Err(what);
        }
        let array = matches!(variable.ty, Type::Array(..));
        if (array || init.ty == variable.ty) && is_simple(&init)
            || matches!(init.kind, ExprKind::List(_))
                && matches!(variable.ty, Type::Struct(..))
                && holds_pointer(&variable.ty)
        {
            self.cuda.places.insert(*entity, init);
            return Ok(());
        }
        let place = matches!(
            init.kind,
            ExprKind::Index(..) | ExprKind::Member { .. } | ExprKind::Unary(..)
        );
        if place && init.ty == variable.ty {
            variable.ty = Type::Pointer(AddressSpace::Generic, Box::new(variable.ty));
            init = address_of(init);
            self.retype(entity, &variable.ty);
            self.cuda.places.insert(*entity, deref(&variable));
        }
        variable.init = Some(init);
        all.push(variable);
        Ok(())
    }

    /// `extern __shared__ T name[]`: a parameter of the kernel; all names are of one memory.
    fn dynamic_shared(&mut self, entity: &Entity<'tu>) {
        let mut variable = self.declaration(entity);
        let element = variable.ty.element().cloned().unwrap_or(Type::Void);
        let pointer = Type::Pointer(AddressSpace::Local, Box::new(element));
        let first = match self.cuda.shared.clone() {
            Some(first) => first,
            None => {
                variable.ty = pointer.clone();
                variable.space = AddressSpace::Private;
                self.cuda.shared = Some(variable.clone());
                variable
            }
        };
        let mut place = variable_of(&first);
        if first.ty != pointer {
            place = self.with_kind(entity, ExprKind::Cast(Box::new(place)), pointer);
        }
        self.cuda.places.insert(*entity, place);
    }

    /// Variables for the members of one that is a structure.
    pub(super) fn exploded(&mut self, variable: &CVariable, ty: &Type) -> Vec<CVariable> {
        let mut declared = Vec::new();
        let list = self.member_variables(&variable.name, (variable, ty), &mut declared);
        self.cuda.exploded.insert(variable.id, list);
        declared
    }

    fn member_variables(
        &mut self,
        name: &str,
        (of, ty): (&CVariable, &Type),
        declared: &mut Vec<CVariable>,
    ) -> CExpr {
        let at = of.at.clone();
        let Type::Struct(_, fields) = ty else {
            let variable = self.unnamed(at, name, ty.clone());
            let place = variable_of(&variable);
            declared.push(variable);
            return place;
        };
        let members = fields.iter().map(|(field, ty)| {
            self.member_variables(&format!("{name}_{field}"), (of, ty), declared)
        });
        CExpr { kind: ExprKind::List(members.collect()), ty: ty.clone(), at }
    }

    /// The values of the members of a structure, those of structures inside in their place.
    pub(super) fn members_of(&self, e: &CExpr) -> Option<Vec<CExpr>> {
        let (ExprKind::List(items), Type::Struct(_, fields)) = (&e.kind, &e.ty) else {
            return None;
        };
        if !items.is_empty() && items.len() != fields.len() {
            return None;
        }
        let each = items.iter().zip(fields.iter()).map(|(item, (_, ty))| match ty {
            Type::Struct(..) => self.members_of(&CExpr { ty: ty.clone(), ..item.clone() }),
            _ => Some(vec![item.clone()]),
        });
        each.collect::<Option<Vec<_>>>().map(|all| all.into_iter().flatten().collect())
    }

    /// An assignment of a structure that is read as its members.
    pub(super) fn assigned_members(
        &mut self,
        entity: &Entity<'tu>,
        to: &CExpr,
        from: &CExpr,
    ) -> Option<CExpr> {
        if !matches!(to.kind, ExprKind::List(_)) {
            return None;
        }
        let (to, from) = (self.members_of(to)?, self.members_of(from));
        let Some(from) = from.filter(|from| from.len() == to.len()) else {
            return Some(self.unread(entity, "a structure that holds pointers"));
        };
        let stores = to.into_iter().zip(from).map(|(to, from)| {
            let ty = to.ty.clone();
            let store = ExprKind::Assign(None, Box::new(to), Box::new(from));
            self.with_kind(entity, store, ty)
        });
        let stores = stores.collect();
        Some(self.sequence(entity, stores))
    }

    /// The lambda that an expression is or names.
    pub(super) fn lambda_of(&self, entity: &Entity<'tu>) -> Option<Lambda<'tu>> {
        let mut inner = stripped(entity);
        // A copy.
        while inner.get_kind() == EntityKind::CallExpr
            && let [one] = operands(&inner).as_slice()
        {
            inner = stripped(one);
        }
        match inner.get_kind() {
            EntityKind::LambdaExpr => Some(Lambda {
                entity: inner,
                bound: self.cuda.bound.clone(),
                this: self.cuda.this.clone(),
            }),
            EntityKind::DeclRefExpr => self.cuda.lambdas.get(&inner.get_reference()?).cloned(),
            _ => None,
        }
    }

    /// Parameters that are given lambdas stand for these.
    pub(super) fn note_lambdas(&mut self, parameters: &[Entity<'tu>], given: &[Entity<'tu>]) {
        for (parameter, argument) in parameters.iter().zip(given) {
            if let Some(lambda) = self.lambda_of(argument) {
                self.cuda.lambdas.insert(*parameter, lambda);
            }
        }
    }

    /// Whether a function may change a variable behind a lambda that has a copy of it.
    fn changes_after(&self, lambda: &Entity<'tu>, name: &str) -> bool {
        let span = self.text.span(lambda);
        let around = self.cuda.spans.iter().filter(|s| s.start < span.start && span.end < s.end);
        let end = around.map(|around| around.end).min().unwrap_or(span.end);
        let rest = self.text.slice(span.end, end);
        rest.match_indices(name).any(|(at, _)| {
            let (before, after) = (rest[..at].trim_end(), rest[at + name.len()..].trim_start());
            let whole = !rest[..at].ends_with(is_word) && !after.starts_with(is_word);
            let sign = after.trim_start_matches(|c: char| "+-*/%&|^<>".contains(c));
            let assigned = sign.starts_with('=') && !sign.starts_with("==");
            let stepped = ["++", "--"].iter().any(|s| after.starts_with(s) || before.ends_with(s));
            whole && (assigned || stepped)
        })
    }

    /// A call of a lambda: what it captures are the variables themselves.
    pub(super) fn lambda_call(
        &mut self,
        entity: &Entity<'tu>,
        (lambda, callee): (Lambda<'tu>, &Entity<'tu>),
        arguments: &[Entity<'tu>],
    ) -> CExpr {
        let children = lambda.entity.get_children();
        let parameters = parameters_of(&lambda.entity);
        let text = self.text.of(&lambda.entity);
        let captures = text.split(']').next().unwrap_or_default();
        let mut each = captures.trim_start_matches('[').split(',').map(str::trim);
        if each.any(|capture| capture.contains(['(', '{', '=']) && capture != "=") {
            return self.unread(entity, "a capture with a value");
        }
        let copied = children.iter().filter(|child| child.get_kind() == EntityKind::DeclRefExpr);
        let by_copy = |child: &&Entity<'tu>| {
            let start = self.text.span(child).start;
            !self.text.slice(start.saturating_sub(1), start).starts_with('&')
        };
        let mut copied = copied.filter(by_copy).filter_map(Entity::get_name);
        if copied.any(|name| self.changes_after(&lambda.entity, &name)) {
            return self.unread(entity, "a captured variable that changes");
        }
        let arguments = self.arguments(callee, arguments);
        // The operator of a generic lambda has types where the lambda has none.
        let generic = parameters.iter().any(|parameter| self.text.of(parameter).contains("auto"));
        let entity_of_lambda = if generic { body_of(callee) } else { Some(lambda.entity) };
        let Some(definition) = entity_of_lambda else {
            return self.unread(entity, "a lambda with such parameters");
        };
        let callee = Callee { entity: definition, bound: lambda.bound, this: lambda.this };
        self.call_of(entity, callee, arguments)
    }
}

/// What a variable of a type is that is not read.
fn unreadable(ty: &Type) -> Option<String> {
    match ty {
        Type::Other(name) => Some(format!("a variable of type {name}")),
        Type::Array(element, _) => unreadable(element),
        _ => None,
    }
}
