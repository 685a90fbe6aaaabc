//! Calls: of functions, methods, operators, constructors and lambdas.

use clang::{Entity, EntityKind, EvaluationResult};

use super::super::spelling::{self, Binary};
use super::super::state::{Tree, operands};
use super::cursors::{body_of, is_implicit, is_vendors, stands_for_itself, stripped};
use super::functions::{Callee, own_name};
use super::groups::{GroupKind, group_kind};
use super::names::renamed;
use crate::ast::{CExpr, ExprKind, Type, UnaryOp};

/// Function objects of the vendor and the operators that they are.
const FUNCTORS: &str = "plus=+ minus=- multiplies=* divides=/ less=< greater=>";

impl<'tu> Tree<'_, 'tu> {
    pub(super) fn cuda_call(&mut self, entity: &Entity<'tu>, operands: &[Entity<'tu>]) -> CExpr {
        let known = entity.get_reference();
        let is_open = known.is_none_or(|c| c.get_kind() == EntityKind::NonTypeTemplateParameter);
        let callee = if is_open { operands.first().and_then(function_in) } else { known };
        let Some(callee) = callee else {
            return self.unread(entity, "a call through a pointer");
        };
        match callee.get_kind() {
            EntityKind::Constructor => self.construction(entity, &callee, operands),
            EntityKind::FunctionDecl => {
                let name = callee.get_name().unwrap_or_default();
                match name.strip_prefix("operator") {
                    Some(_) => self.operator(entity, &callee, operands),
                    None => self.function_call(entity, &callee, operands),
                }
            }
            EntityKind::Method if callee.is_static_method() && !is_member(operands) => {
                self.static_method(entity, &callee, operands)
            }
            EntityKind::Method | EntityKind::ConversionFunction => {
                let member = operands.first().map(stripped);
                match member.filter(|member| {
                    member.get_kind() == EntityKind::MemberRefExpr
                        && member.get_reference().as_ref() == Some(&callee)
                }) {
                    Some(member) => self.method(entity, (&callee, &member), &operands[1..]),
                    None => self.operator(entity, &callee, operands),
                }
            }
            _ => self.unread(entity, "a call through a pointer"),
        }
    }

    fn function_call(
        &mut self,
        entity: &Entity<'tu>,
        callee: &Entity<'tu>,
        operands: &[Entity<'tu>],
    ) -> CExpr {
        let name = callee.get_name().unwrap_or_default();
        let Some((function, arguments)) = operands.split_first() else {
            return self.unread(entity, "a call");
        };
        if is_vendors(callee) {
            let group = |argument: &Entity<'tu>| group_kind(argument.get_type()?);
            if let Some(kind) = arguments.first().and_then(group) {
                let arguments = arguments[1..].iter().map(|a| self.expression(a)).collect();
                return self.group_function(entity, (kind, &name), arguments);
            }
            let text = self.text;
            let given = arguments.iter().filter(|a| !text.of(a).is_empty());
            let given = given.map(|argument| self.expression(argument)).collect();
            return self.vendors_function(entity, &name, given);
        }
        if let Some("inff" | "inf" | "huge_valf" | "huge_val" | "nanf" | "nan") =
            name.strip_prefix("__builtin_")
        {
            return self.expr(entity, ExprKind::Real("INFINITY".to_owned()));
        }
        let arguments: Vec<CExpr> = self.arguments(callee, arguments);
        let Some(definition) = body_of(callee) else {
            return self.plain_call(entity, &own_name(&name), arguments);
        };
        let bound = self.bindings(&stripped(function), &definition);
        let callee = Callee { entity: definition, bound, this: None };
        self.call_of(entity, callee, arguments)
    }

    /// The arguments of a call, with defaults. Lambdas and groups stand for themselves.
    pub(super) fn arguments(&mut self, callee: &Entity<'tu>, given: &[Entity<'tu>]) -> Vec<CExpr> {
        let parameters = callee.get_arguments().unwrap_or_default();
        let mut all = Vec::new();
        for (i, argument) in given.iter().enumerate() {
            let absent = self.text.of(argument).is_empty();
            let default = parameters.get(i).filter(|_| absent).and_then(|parameter| {
                operands(parameter).into_iter().rfind(|child| !self.is_length(parameter, child))
            });
            let stands = argument.get_type().is_some_and(|ty| stands_for_itself(ty));
            all.push(match default {
                Some(default) => self.expression(&default),
                None if stands => self.with_kind(argument, ExprKind::Text, Type::Void),
                None => self.expression(argument),
            });
        }
        self.note_lambdas(&parameters, given);
        all
    }

    /// A method, or a conversion by one.
    fn method(
        &mut self,
        entity: &Entity<'tu>,
        (callee, member): (&Entity<'tu>, &Entity<'tu>),
        arguments: &[Entity<'tu>],
    ) -> CExpr {
        let name = callee.get_name().unwrap_or_default();
        let base = operands(member).into_iter().next();
        let kind = base.as_ref().and_then(|base| group_kind(stripped(base).get_type()?));
        if let Some(kind) = kind.or(callee.is_static_method().then_some(GroupKind::Block))
            && is_vendors(callee)
        {
            let arguments = arguments.iter().map(|a| self.expression(a)).collect();
            return self.group_function(entity, (kind, &name), arguments);
        }
        let object = match &base {
            Some(base) => {
                let object = self.expression(base);
                match object.ty {
                    Type::Pointer(..) => self.dereferenced(object, base),
                    _ => Some(object),
                }
            }
            None => self.cuda.this.clone(),
        };
        let Some(object) = object else { return self.unread(entity, "the object of a method") };
        if is_vendors(callee) {
            // `operator float` of a half.
            return match callee.get_kind() {
                EntityKind::ConversionFunction => {
                    self.expr(entity, ExprKind::Cast(Box::new(object)))
                }
                _ => self.unread(entity, format!("the method `{name}`")),
            };
        }
        self.method_of(entity, callee, object, arguments)
    }

    /// `Class::function(x)`; of the vendor's classes what is a constant, such as limits of types.
    fn static_method(
        &mut self,
        entity: &Entity<'tu>,
        callee: &Entity<'tu>,
        operands: &[Entity<'tu>],
    ) -> CExpr {
        if is_vendors(callee) {
            let kind = match entity.evaluate() {
                Some(EvaluationResult::SignedInteger(n)) => ExprKind::Int(n),
                Some(EvaluationResult::UnsignedInteger(n)) => ExprKind::Int(n as i64),
                Some(EvaluationResult::Float(x)) => ExprKind::Real(x.to_string()),
                _ => {
                    let name = callee.get_name().unwrap_or_default();
                    return self.unread(entity, format!("the method `{name}`"));
                }
            };
            return self.expr(entity, kind);
        }
        let Some(definition) = body_of(callee) else { return self.unread(entity, "a method") };
        let arguments = self.arguments(callee, operands.get(1..).unwrap_or_default());
        self.call_of(entity, Callee::new(definition, None), arguments)
    }

    pub(super) fn method_of(
        &mut self,
        entity: &Entity<'tu>,
        callee: &Entity<'tu>,
        object: CExpr,
        arguments: &[Entity<'tu>],
    ) -> CExpr {
        let arguments = self.arguments(callee, arguments);
        let Some(definition) = body_of(callee).filter(|method| !method.is_virtual_method()) else {
            let name = callee.get_name().unwrap_or_default();
            return self.unread(entity, format!("the method `{name}`"));
        };
        // Parameters of its class are numbers, as the text depends on them.
        self.call_of(entity, Callee::new(definition, Some(object)), arguments)
    }

    /// An operator that is a function: of the vendor as that of the language, others as calls.
    fn operator(
        &mut self,
        entity: &Entity<'tu>,
        callee: &Entity<'tu>,
        operands: &[Entity<'tu>],
    ) -> CExpr {
        let is_callee = |operand: &&Entity<'tu>| {
            let operand = stripped(operand);
            // An operand may be a call of the same operator.
            operand.get_kind() == EntityKind::DeclRefExpr
                && operand.get_reference() == Some(*callee)
        };
        let (_, values): (Vec<_>, Vec<_>) = operands.iter().partition(|o| is_callee(o));
        let values: Vec<Entity<'tu>> = values.into_iter().copied().collect();
        let name = callee.get_name().unwrap_or_default();
        let sign = name.strip_prefix("operator").unwrap_or_default();
        let method = callee.get_kind() == EntityKind::Method;
        let lambda = values.first().and_then(|v| self.lambda_of(v));
        if let (Some(lambda), "()") = (lambda, sign) {
            return self.lambda_call(entity, (lambda, callee), &values[1..]);
        }
        if let ("()", [object, rest @ ..]) = (sign, &values[..])
            && let Some(value) = self.function_object(entity, callee, (object, rest))
        {
            return value;
        }
        if is_vendors(callee) || is_implicit(callee) || body_of(callee).is_none() {
            return self.plain_operator(entity, sign, &values);
        }
        if let (true, Some((object, rest))) = (method, values.split_first()) {
            let object = self.expression(object);
            return self.method_of(entity, callee, object, rest);
        }
        let arguments = self.arguments(callee, &values);
        let Some(definition) = body_of(callee) else { return self.unread(entity, "an operator") };
        let bound = self.bindings(entity, &definition);
        self.call_of(entity, Callee { entity: definition, bound, this: None }, arguments)
    }

    /// A call of a lambda of the host that captures nothing, or of a function object of the vendor.
    fn function_object(
        &mut self,
        entity: &Entity<'tu>,
        callee: &Entity<'tu>,
        (object, operands): (&Entity<'tu>, &[Entity<'tu>]),
    ) -> Option<CExpr> {
        let class = callee.get_semantic_parent()?;
        if is_vendors(callee) {
            let sign = renamed(FUNCTORS, &class.get_name()?)?;
            return Some(self.plain_operator(entity, sign, operands));
        }
        // The class of a lambda has the place where the lambda begins.
        let start = self.text.span(&class).start;
        let plain = self.text.slice(start, start + 2) == "[]";
        let definition = body_of(callee).filter(|_| plain)?;
        stands_for_itself(object.get_type()?).then(|| {
            let arguments = self.arguments(callee, operands);
            self.call_of(entity, Callee::new(definition, None), arguments)
        })
    }

    fn plain_operator(
        &mut self,
        entity: &Entity<'tu>,
        sign: &str,
        values: &[Entity<'tu>],
    ) -> CExpr {
        match values {
            [a, b] => {
                let (a, b) = (self.expression(a), self.expression(b));
                if sign == "="
                    && let Some(all) = self.assigned_members(entity, &a, &b)
                {
                    return all;
                }
                let (a, b) = (Box::new(a), Box::new(b));
                match spelling::binary(sign) {
                    Some(Binary::Plain(op)) => self.expr(entity, ExprKind::Binary(op, a, b)),
                    Some(Binary::Assign(op)) => {
                        let ty = a.ty.clone();
                        self.with_kind(entity, ExprKind::Assign(op, a, b), ty)
                    }
                    None => self.unread(entity, format!("operator{sign}")),
                }
            }
            [a] if sign == "-" => {
                let a = Box::new(self.expression(a));
                self.expr(entity, ExprKind::Unary(UnaryOp::Minus, a))
            }
            _ => self.unread(entity, format!("operator{sign}")),
        }
    }

    /// A constructor: a copy is left out, a vector or a structure without constructors is a list.
    pub(super) fn construction(
        &mut self,
        entity: &Entity<'tu>,
        callee: &Entity<'tu>,
        operands: &[Entity<'tu>],
    ) -> CExpr {
        let ty = self.expression_type(entity);
        // Arguments of a template are in front of those of the constructor.
        let count = callee.get_arguments().map_or(0, |all| all.len());
        let operands = &operands[operands.len().saturating_sub(count)..];
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
                let dim3 = matches!(&ty, Type::Struct(name, _) if name == "dim3");
                while dim3 && items.len() < 3 {
                    items.push(self.with_kind(entity, ExprKind::Int(1), super::groups::UINT));
                }
                self.expr(entity, ExprKind::List(items))
            }
            _ => match body_of(callee).filter(|_| !implicit) {
                Some(definition) => {
                    let arguments = self.arguments(callee, operands);
                    self.constructed_value(entity, definition, arguments)
                }
                None => self.unread(entity, "a constructor"),
            },
        }
    }
}

/// Whether the members of what is constructed have no initial values in their class.
fn has_no_initial_values(entity: &Entity<'_>) -> bool {
    let fields = entity.get_type().and_then(|ty| ty.get_canonical_type().get_fields());
    fields.is_none_or(|fields| {
        fields.iter().all(|field| {
            let lengths = field.get_type().is_some_and(|ty| ty.get_size().is_some());
            lengths || operands(field).is_empty()
        })
    })
}

/// The function that a parameter of a template is in an instance.
fn function_in<'tu>(callee: &Entity<'tu>) -> Option<Entity<'tu>> {
    let own = callee.get_reference().filter(|own| own.get_kind() == EntityKind::FunctionDecl);
    own.or_else(|| match operands(callee).as_slice() {
        [one] => function_in(one),
        _ => None,
    })
}

/// Whether the first operand of a call is a method of an object.
fn is_member(operands: &[Entity<'_>]) -> bool {
    let first = operands.first().map(stripped);
    first.is_some_and(|first| first.get_kind() == EntityKind::MemberRefExpr)
}
