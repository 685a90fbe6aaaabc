//! Functions of the unit: one for each way in which a function of the source is called.

use std::collections::HashMap;

use clang::{Entity, EntityKind, TemplateArgument};

use super::super::state::{Tree, operands};
use super::cursors::{is_global, is_reference, parameters_of, stands_for_itself};
use crate::ast::{
    AddressSpace, CExpr, CFunction, CStmt, CStmtKind, CVariable, ExprKind, SourcePlace, Type,
    UnaryOp,
};
use crate::preprocess::DECLARED;
use crate::read::is_pure;

pub(super) struct Callee<'tu> {
    /// The function with its body; of a template the instance.
    pub(super) entity: Entity<'tu>,
    /// Parameters of its template.
    pub(super) bound: HashMap<String, CExpr>,
    /// The object of a method.
    pub(super) this: Option<CExpr>,
}

impl<'tu> Callee<'tu> {
    /// A function whose template, if any, has no parameters that are open.
    pub(super) fn new(entity: Entity<'tu>, this: Option<CExpr>) -> Callee<'tu> {
        Callee { entity, bound: HashMap::new(), this }
    }
}

/// How a parameter gets its argument.
#[derive(Debug, Clone)]
enum Passing {
    /// It has no value.
    Nothing,
    /// The parameter is another name of this place.
    Place(CExpr),
    /// A pointer to the argument.
    Pointer,
    Value,
    /// The members, each by its value.
    Members,
}

impl<'tu> Tree<'_, 'tu> {
    /// A call of a function with a body.
    pub(super) fn call_of(
        &mut self,
        entity: &Entity<'tu>,
        mut callee: Callee<'tu>,
        arguments: Vec<CExpr>,
    ) -> CExpr {
        let parameters = parameters_of(&callee.entity);
        let method = callee.entity.get_kind() != EntityKind::LambdaExpr;
        let this = callee.this.take_if(|_| method);
        let object = this.as_ref().map(|this| (object_passing(this), this.ty.clone()));
        let ways = parameters.iter().zip(&arguments).map(|(p, argument)| self.passing(p, argument));
        let ways: Vec<Passing> = ways.collect();
        let object_way = object.iter().map(|(way, _)| way);
        let mut passed = Vec::new();
        for (way, argument) in object_way.chain(&ways).zip(this.into_iter().chain(arguments)) {
            match way {
                Passing::Nothing | Passing::Place(_) => {}
                Passing::Pointer => passed.push(address_of(argument)),
                Passing::Value => passed.push(argument),
                Passing::Members => match self.members_of(&argument) {
                    Some(all) => passed.extend(all),
                    None => return self.unread(entity, "a structure that holds pointers"),
                },
            }
        }
        let refers = is_reference(callee.entity.get_result_type());
        let result = self.expression_type(entity);
        let name = self.function_for((callee, result), &parameters, ways, object);
        let call = self.expr(entity, ExprKind::Call(name, passed));
        if !refers {
            return call;
        }
        let ty = call.ty.clone();
        let pointer = Type::Pointer(AddressSpace::Generic, Box::new(ty.clone()));
        let call = CExpr { ty: pointer, ..call };
        self.with_kind(entity, ExprKind::Unary(UnaryOp::Deref, Box::new(call)), ty)
    }

    fn passing(&mut self, parameter: &Entity<'tu>, argument: &CExpr) -> Passing {
        let ty = parameter.get_type();
        if ty.is_some_and(stands_for_itself) {
            return Passing::Nothing;
        }
        let same = |r: &mut Self, ty| match r.type_of(ty) {
            Type::Array(..) => true,
            own => own == argument.ty,
        };
        if is_reference(ty) && ty.is_some_and(|ty| same(self, ty)) {
            if is_simple(argument) {
                return Passing::Place(argument.clone());
            }
            if is_place(argument) {
                return Passing::Pointer;
            }
        }
        if holds_pointer(&argument.ty) { Passing::Members } else { Passing::Value }
    }

    /// The name of the function of the unit, which is made unless it is there.
    fn function_for(
        &mut self,
        (callee, result): (Callee<'tu>, Type),
        parameters: &[Entity<'tu>],
        ways: Vec<Passing>,
        object: Option<(Passing, Type)>,
    ) -> String {
        let mut bound: Vec<(&String, &ExprKind)> =
            callee.bound.iter().map(|(name, e)| (name, &e.kind)).collect();
        bound.sort_by_key(|(name, _)| *name);
        let lambdas = parameters.iter().filter_map(|p| self.cuda.lambdas.get(p));
        let lambdas: Vec<_> = lambdas.map(|lambda| lambda.entity.get_range()).collect();
        let key = format!("{bound:?} {ways:?} {object:?} {lambdas:?}");
        let key = (callee.entity, key);
        if let Some(known) = self.cuda.known.get(&key) {
            return known.clone();
        }
        let name = self.free_name(&callee.entity);
        self.cuda.known.insert(key, name.clone());
        let before = self.variables.clone();
        let places = self.cuda.places.clone();
        let outer = (
            std::mem::replace(&mut self.cuda.bound, callee.bound),
            std::mem::replace(&mut self.cuda.this, callee.this),
            self.cuda.refers,
            std::mem::take(&mut self.depth),
        );
        self.cuda.refers = is_reference(callee.entity.get_result_type());
        let mut declared = Vec::new();
        let made = self.object(&callee.entity, object, &result, &mut declared);
        for (parameter, way) in parameters.iter().zip(ways) {
            self.parameter(parameter, way, &mut declared);
        }
        let mut function = self.defined(&callee.entity, name.clone(), declared);
        if made.is_some() || callee.entity.get_result_type().is_none() {
            function.result = result;
        }
        if let Some(made) = made {
            returning(&mut function, made);
        }
        (self.cuda.bound, self.cuda.this, self.cuda.refers, self.depth) = outer;
        self.cuda.places = places;
        // The next way has other types and other places.
        self.variables.retain(|entity, _| before.contains_key(entity) || is_global(entity));
        self.cuda.unit.functions.insert(name.clone(), function);
        name
    }

    /// What `this` is in a function: a place, or a parameter; in a constructor that is an
    /// expression the variable that is returned.
    fn object(
        &mut self,
        function: &Entity<'tu>,
        object: Option<(Passing, Type)>,
        result: &Type,
        declared: &mut Vec<CVariable>,
    ) -> Option<CVariable> {
        let at = self.at(function);
        match object {
            Some((Passing::Place(this), _)) => self.cuda.this = Some(this),
            Some((Passing::Pointer, ty)) => {
                let pointer = Type::Pointer(AddressSpace::Generic, Box::new(ty));
                let variable = self.unnamed(at, "this", pointer);
                self.cuda.this = Some(deref(&variable));
                declared.push(variable);
            }
            Some((_, ty)) => {
                let variable = self.unnamed(at, "this", ty);
                self.cuda.this = Some(variable_of(&variable));
                declared.push(variable);
            }
            None if function.get_kind() == EntityKind::Constructor => {
                let made = self.unnamed(at, "made", result.clone());
                self.cuda.this = Some(variable_of(&made));
                return Some(made);
            }
            None => {}
        }
        None
    }

    /// A private variable that the source does not declare.
    pub(super) fn unnamed(&mut self, at: SourcePlace, name: &str, ty: Type) -> CVariable {
        CVariable {
            id: self.next_id(),
            name: name.to_owned(),
            ty,
            space: AddressSpace::Private,
            read_only: false,
            init: None,
            at,
        }
    }

    /// The name of a function, with a number if another one has it.
    fn free_name(&self, entity: &Entity<'tu>) -> String {
        let name = entity.get_name().unwrap_or_default();
        let plain: String =
            name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        let taken = |name: &String| self.cuda.known.values().any(|known| known == name);
        let plain = own_name(&plain);
        let numbered = (2..).map(|n| format!("{plain}_{n}"));
        std::iter::once(plain.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(plain)
    }

    /// A parameter of a function of the unit.
    fn parameter(&mut self, parameter: &Entity<'tu>, way: Passing, declared: &mut Vec<CVariable>) {
        match way {
            Passing::Nothing => {}
            Passing::Place(place) => {
                self.cuda.places.insert(*parameter, place);
            }
            Passing::Value => declared.push(self.declaration(parameter)),
            Passing::Members => {
                let variable = self.declaration(parameter);
                let members = self.exploded(&variable, &variable.ty.clone());
                declared.extend(members);
            }
            Passing::Pointer => {
                let mut variable = self.declaration(parameter);
                variable.ty = Type::Pointer(AddressSpace::Generic, Box::new(variable.ty.clone()));
                self.retype(parameter, &variable.ty);
                let place = deref(&variable);
                self.cuda.places.insert(*parameter, place);
                declared.push(variable);
            }
        }
    }

    /// Gives a declaration another type than it is written with.
    pub(super) fn retype(&mut self, entity: &Entity<'tu>, ty: &Type) {
        if let Some(known) = self.variables.get_mut(&entity.get_canonical_entity()) {
            known.1 = ty.clone();
        }
    }

    pub(super) fn defined(
        &mut self,
        entity: &Entity<'tu>,
        name: String,
        parameters: Vec<CVariable>,
    ) -> CFunction {
        self.cuda.spans.push(self.text.span(entity));
        let children = entity.get_children();
        let body = children.iter().find(|child| child.get_kind() == EntityKind::CompoundStmt);
        let mut all = match entity.get_kind() {
            EntityKind::Constructor => self.member_initialisers(entity),
            _ => Vec::new(),
        };
        all.extend(body.map(|body| self.body(body)).unwrap_or_default());
        let mut result = entity.get_result_type().map_or(Type::Void, |ty| self.type_of(ty));
        if is_reference(entity.get_result_type()) {
            result = Type::Pointer(AddressSpace::Generic, Box::new(result));
        }
        let at = self.at_name(entity);
        CFunction { name, kernel: false, parameters, result, body: all, at }
    }

    /// Arguments of the template that `entity` is an instance of, as a use of it writes them.
    pub(super) fn bindings(
        &mut self,
        usage: &Entity<'tu>,
        entity: &Entity<'tu>,
    ) -> HashMap<String, CExpr> {
        let (Some(template), Some(arguments)) =
            (entity.get_template(), entity.get_template_arguments())
        else {
            return HashMap::new();
        };
        let parameters = template.get_children().into_iter().filter(|child| {
            use EntityKind::{NonTypeTemplateParameter, TemplateTypeParameter};
            matches!(child.get_kind(), NonTypeTemplateParameter | TemplateTypeParameter)
        });
        let mut written = operands(usage).into_iter();
        let mut bound = HashMap::new();
        // Of functions of ours types depend on them, so none is open.
        let ours = &*self.at_name(entity).file == DECLARED;
        for (parameter, argument) in parameters.zip(arguments) {
            let (TemplateArgument::Integral(number, _), Some(name)) =
                (argument, parameter.get_name())
            else {
                continue;
            };
            let value = match written.next() {
                _ if ours => self.expr(&parameter, ExprKind::Int(number)),
                Some(written) => self.expression(&written),
                None => self.default_argument(&parameter, number, &bound),
            };
            bound.insert(name, value);
        }
        bound
    }

    /// An argument that is not written: the default, else what follows from others.
    fn default_argument(
        &mut self,
        parameter: &Entity<'tu>,
        number: i64,
        bound: &HashMap<String, CExpr>,
    ) -> CExpr {
        if let Some(default) = operands(parameter).last() {
            let outer = std::mem::replace(&mut self.cuda.bound, bound.clone());
            let value = self.expression(default);
            self.cuda.bound = outer;
            return value;
        }
        let kind = match self.open.is_empty() {
            true => ExprKind::Int(number),
            false => ExprKind::Unread("an argument of a template that follows from others".into()),
        };
        self.expr(parameter, kind)
    }
}

/// The name of a function of the source: no function of OpenCL C has it.
pub(super) fn own_name(name: &str) -> String {
    const STARTS: [&str; 14] = [
        "get_",
        "atomic_",
        "atom_",
        "sub_group_",
        "work_group_",
        "barrier",
        "mem_fence",
        "as_",
        "convert_",
        "vload",
        "vstore",
        "read_image",
        "write_image",
        "intel_",
    ];
    let reserved = STARTS.iter().any(|start| name.starts_with(start)) || is_pure(name);
    if reserved || name.starts_with("__") { format!("{name}_") } else { name.to_owned() }
}

/// Whether an expression is a variable, or a fixed part of one: it can be written twice.
pub(super) fn is_simple(e: &CExpr) -> bool {
    match &e.kind {
        ExprKind::Variable(..) => true,
        ExprKind::Member { base, arrow: false, .. } => is_simple(base),
        ExprKind::Index(base, index) => {
            matches!(base.ty, Type::Array(..))
                && is_simple(base)
                && matches!(index.kind, ExprKind::Int(_))
        }
        ExprKind::Unary(UnaryOp::Deref, pointer) => matches!(pointer.kind, ExprKind::Variable(..)),
        _ => false,
    }
}

/// How a method gets its object. An object that is not in memory is passed by value.
fn object_passing(this: &CExpr) -> Passing {
    match this.kind {
        _ if is_simple(this) || matches!(this.kind, ExprKind::List(_)) => {
            Passing::Place(this.clone())
        }
        _ if holds_pointer(&this.ty) => Passing::Members,
        _ if is_place(this) => Passing::Pointer,
        _ => Passing::Value,
    }
}

/// Makes the body of a constructor a function that returns what it constructs.
fn returning(function: &mut CFunction, made: CVariable) {
    let at = made.at.clone();
    let value = CStmtKind::Return(Some(variable_of(&made)));
    function.body.insert(0, CStmt { kind: CStmtKind::Declare(vec![made]), at: at.clone() });
    function.body.push(CStmt { kind: value, at });
}

/// Whether an expression is a place in memory that has to be computed.
fn is_place(e: &CExpr) -> bool {
    matches!(
        e.kind,
        ExprKind::Index(..) | ExprKind::Member { .. } | ExprKind::Unary(UnaryOp::Deref, _)
    )
}

/// `&e`, or the pointer that `e` is behind.
pub(super) fn address_of(e: CExpr) -> CExpr {
    if let ExprKind::Unary(UnaryOp::Deref, pointer) = e.kind {
        return *pointer;
    }
    let ty = Type::Pointer(AddressSpace::Generic, Box::new(e.ty.clone()));
    let at = e.at.clone();
    CExpr { kind: ExprKind::Unary(UnaryOp::Address, Box::new(e)), ty, at }
}

pub(super) fn deref(variable: &CVariable) -> CExpr {
    let pointer = variable_of(variable);
    let ty = variable.ty.element().cloned().unwrap_or(Type::Void);
    let at = variable.at.clone();
    CExpr { kind: ExprKind::Unary(UnaryOp::Deref, Box::new(pointer)), ty, at }
}

pub(super) fn variable_of(variable: &CVariable) -> CExpr {
    let kind = ExprKind::Variable(variable.id, variable.name.clone());
    CExpr { kind, ty: variable.ty.clone(), at: variable.at.clone() }
}

/// Whether a structure holds pointers, which have to be read by themselves.
pub(super) fn holds_pointer(ty: &Type) -> bool {
    match ty {
        Type::Struct(_, fields) => {
            fields.iter().any(|(_, ty)| matches!(ty, Type::Pointer(..)) || holds_pointer(ty))
        }
        _ => false,
    }
}
