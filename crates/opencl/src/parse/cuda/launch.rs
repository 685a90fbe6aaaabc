//! Launches: `kernel<<<grid, block, bytes>>>(arguments)` in the names of the host's code.
//!
//! A variable of the host that has one value is this value; others, parameters of host functions
//! and members are names. A function that only returns is its result.

use std::collections::HashMap;

use clang::{Entity, EntityKind};
use tickbound_expr::{BinaryOp, Expr, Function};

use super::super::state::{Tree, operands};
use super::cursors::{body_of, is_vendors, stripped};
use super::kernels::{argument_texts, template_parameters};
use crate::ast::VariableId;
use crate::ast::{CBinaryOp, CExpr, CFunction, CStmtKind, ExprKind, ScalarType, Type, UnaryOp};
use crate::reading::SourceLaunch;
use crate::steps::SymbolExpr;

/// Functions that a launch calls.
const CONFIGURE: [&str; 3] =
    ["cudaConfigureCall", "__cudaPushCallConfiguration", "__hipPushCallConfiguration"];
/// How deep values of variables are followed.
const MAX_DEPTH: usize = 16;

/// What a function of the host does to a variable, or to a member of it.
struct Assigned<'tu> {
    variable: Entity<'tu>,
    member: Option<String>,
    /// The value; `None` if it is changed otherwise, or inside a branch or a loop.
    value: Option<Entity<'tu>>,
}

/// What is followed in a function of the host.
struct Host<'h, 'a, 'tu> {
    tree: &'h mut Tree<'a, 'tu>,
    assigned: Vec<Assigned<'tu>>,
    depth: usize,
}

impl<'tu> Tree<'_, 'tu> {
    /// All launches of a source, in the order of its text.
    pub(in crate::parse) fn launches(&mut self, root: &Entity<'tu>) -> Vec<SourceLaunch> {
        let mut functions = Vec::new();
        host_functions(root, &mut functions);
        // Uses of instances in variables.
        let variables = root.get_children().into_iter();
        let variables = variables.filter(|c| c.get_kind() == EntityKind::VarDecl && !is_vendors(c));
        variables.for_each(|variable| instances(&variable, &mut functions));
        let mut at = 0;
        while at < functions.len() {
            let mut more = Vec::new();
            instances(&functions[at], &mut more);
            more.retain(|new| !functions.contains(new));
            functions.extend(more);
            at += 1;
        }
        let instanced: Vec<_> = functions.iter().filter_map(Entity::get_template).collect();
        functions.retain(|function| !instanced.contains(function));
        let mut all = Vec::new();
        for function in functions {
            let mut assigned = Vec::new();
            self.assignments(&function, false, &mut assigned);
            let template = function.get_template().unwrap_or(function);
            self.cuda.bound = template_parameters(&template)
                .into_iter()
                .filter_map(|parameter| {
                    let name = parameter.get_name()?;
                    Some((name.clone(), self.expr(&parameter, ExprKind::Symbol(name))))
                })
                .collect();
            Host { tree: self, assigned, depth: 0 }.launches_in(&function, &mut all);
        }
        all.sort_by_key(|(offset, _)| *offset);
        all.into_iter().map(|(_, launch)| launch).collect()
    }
}

impl<'tu> Host<'_, '_, 'tu> {
    fn launches_in(&mut self, part: &Entity<'tu>, all: &mut Vec<(usize, SourceLaunch)>) {
        for child in part.get_children() {
            if child.get_kind() == EntityKind::CallExpr
                && let Some(launch) = self.launch(&child)
            {
                all.push((self.tree.text.span(&child).start, launch));
            }
            self.launches_in(&child, all);
        }
    }

    fn launch(&mut self, call: &Entity<'tu>) -> Option<SourceLaunch> {
        let children = operands(call);
        let place = children.iter().position(|child| {
            child.get_name().is_some_and(|name| CONFIGURE.contains(&name.as_str()))
        })?;
        let [function, before @ ..] = &children[..place] else { return None };
        let configured = operands(&children[place]);
        let [_, grid, block, rest @ ..] = configured.as_slice() else { return None };
        let function = stripped(function);
        let text = self.tree.text.of(&function).split('<').next().unwrap_or_default().trim();
        let kernel = function.get_name().filter(|name| !name.is_empty());
        let kernel = kernel.unwrap_or_else(|| {
            text.rsplit("::").next().unwrap_or_default().trim_start_matches('(').to_owned()
        });
        let instance =
            function.get_reference().filter(|f| f.get_kind() == EntityKind::FunctionDecl);
        let written = operands(&function)
            .into_iter()
            .filter(|child| child.get_kind() != EntityKind::OverloadedDeclRef);
        let template = written.map(|argument| self.number(&argument)).collect();
        let bytes = rest.first().filter(|bytes| !self.tree.text.of(bytes).is_empty());
        let shared = bytes.map_or(Some(Expr::Int(0)), |bytes| self.number(bytes));
        let given = before.iter().chain(&children[place + 1..]);
        let mut arguments = Vec::new();
        for argument in given {
            self.argument(argument, &mut arguments);
        }
        Some(SourceLaunch {
            kernel,
            line: self.tree.at(call).line,
            grid: self.sizes(grid),
            block: self.sizes(block),
            shared,
            arguments,
            template,
            instance: instance.as_ref().map(argument_texts).unwrap_or_default(),
        })
    }

    /// What is passed: a structure as its members.
    fn argument(&mut self, argument: &Entity<'tu>, all: &mut Vec<Option<SymbolExpr>>) {
        let Some(Type::Struct(_, fields)) = argument.get_type().map(|ty| self.tree.type_of(ty))
        else {
            return all.push(self.number(argument));
        };
        let mut inner = stripped(argument);
        while let [.., one] = operands(&inner).as_slice()
            && matches!(inner.get_kind(), EntityKind::CallExpr | EntityKind::FunctionalCastExpr)
        {
            inner = stripped(one);
        }
        if let Some(variable) =
            inner.get_reference().filter(|v| v.get_kind() == EntityKind::VarDecl)
            && let Some(init) = operands(&variable).last()
        {
            inner = stripped(init);
        }
        let items = match inner.get_kind() {
            EntityKind::InitListExpr => operands(&inner),
            _ => Vec::new(),
        };
        for place in 0..fields.len() {
            let number = items.get(place).and_then(|item| self.number(item));
            all.push(number);
        }
    }

    /// The sizes in three dimensions.
    fn sizes(&mut self, entity: &Entity<'tu>) -> Vec<Option<SymbolExpr>> {
        let inner = self.copied(entity);
        if let Some(variable) = inner
            .get_reference()
            .filter(|_| inner.get_kind() == EntityKind::DeclRefExpr && is_dim3(&inner))
        {
            return (0..3).map(|d| self.component(&variable, d)).collect();
        }
        let e = self.tree.expression(&inner);
        match e.kind {
            ExprKind::List(items) => {
                let mut all: Vec<_> = items.iter().map(|item| self.value(item)).collect();
                all.resize(3, Some(Expr::Int(1)));
                all
            }
            _ => {
                let first = self.value(&e);
                vec![first, Some(Expr::Int(1)), Some(Expr::Int(1))]
            }
        }
    }

    /// What a copy of a `dim3` copies.
    fn copied(&self, entity: &Entity<'tu>) -> Entity<'tu> {
        let mut inner = stripped(entity);
        while inner.get_kind() == EntityKind::CallExpr
            && inner.get_reference().is_some_and(|f| f.get_kind() == EntityKind::Constructor)
        {
            let given = operands(&inner);
            let given: Vec<_> = given.iter().filter(|o| !self.tree.text.of(o).is_empty()).collect();
            match given.as_slice() {
                [one] if is_dim3(one) => inner = stripped(one),
                _ => break,
            }
        }
        inner
    }

    /// A component of a variable of type `dim3`.
    fn component(&mut self, variable: &Entity<'tu>, d: usize) -> Option<SymbolExpr> {
        let name = variable.get_name()?;
        let member = ["x", "y", "z"][d.min(2)];
        let of = |a: &&Assigned<'tu>| a.variable == *variable;
        let whole = self.assigned.iter().filter(of).filter(|a| a.member.is_none()).count();
        let of_member =
            self.assigned.iter().filter(of).filter(|a| a.member.as_deref() == Some(member));
        let changes: Vec<Option<Entity<'tu>>> = of_member.map(|a| a.value).collect();
        let own = Some(Expr::Name(format!("{name}_{member}")));
        if self.depth >= MAX_DEPTH || variable.get_kind() != EntityKind::VarDecl {
            return own;
        }
        self.depth += 1;
        let found = match (changes.as_slice(), whole) {
            ([Some(value)], 0) => self.number(value),
            ([], 0) => match operands(variable).last() {
                Some(init) => self.sizes(init).into_iter().nth(d).flatten(),
                None => Some(Expr::Int(1)),
            },
            ([], 1) => {
                let value = self.assigned.iter().find(of).and_then(|a| a.value);
                value.and_then(|value| self.sizes(&value).into_iter().nth(d).flatten())
            }
            _ => None,
        };
        self.depth -= 1;
        found.or(own)
    }

    /// A whole number in the names of the self.
    fn number(&mut self, entity: &Entity<'tu>) -> Option<SymbolExpr> {
        let e = self.tree.expression(entity);
        self.value(&e)
    }

    fn value(&mut self, e: &CExpr) -> Option<SymbolExpr> {
        Some(match &e.kind {
            ExprKind::Int(n) | ExprKind::SizeOf(n) => Expr::Int(*n),
            ExprKind::Real(text) => {
                let number: f64 = text.trim_end_matches(['f', 'F']).parse().ok()?;
                let whole = number.fract() == 0.0 && number.abs() < 1e15;
                whole.then_some(Expr::Int(number as i64))?
            }
            ExprKind::Symbol(name) => Expr::Name(name.clone()),
            ExprKind::Variable(id, name) => match self.declared(*id) {
                Some(entity) => self.variable(&entity, name),
                // A parameter of a function that has been read.
                None => Expr::Name(name.clone()),
            },
            ExprKind::Member { base, member, .. } => self.member(base, member)?,
            ExprKind::Cast(inner) | ExprKind::Unary(UnaryOp::Plus, inner) => self.value(inner)?,
            ExprKind::Unary(UnaryOp::Minus, inner) => Expr::Neg(Box::new(self.value(inner)?)),
            ExprKind::Binary(op, a, b) => {
                let op = host_operator(*op)?;
                let real = |e: &CExpr| matches!(e.ty, Type::Scalar(ScalarType::Real { .. }));
                if op == BinaryOp::Div && (real(a) || real(b)) {
                    return None;
                }
                Expr::binary(op, self.value(a)?, self.value(b)?)
            }
            ExprKind::Call(name, arguments) => self.call(name, arguments)?,
            ExprKind::List(items) => match items.as_slice() {
                [one] => self.value(one)?,
                _ => return None,
            },
            _ => return None,
        })
    }

    fn declared(&self, id: VariableId) -> Option<Entity<'tu>> {
        self.tree.variables.iter().find(|(_, (own, _))| *own == id).map(|(entity, _)| *entity)
    }

    /// A size of a variable of type `dim3`; of other members their names.
    fn member(&mut self, base: &CExpr, member: &str) -> Option<SymbolExpr> {
        let ExprKind::Variable(id, name) = &base.kind else {
            return Some(Expr::Name(member.to_owned()));
        };
        let d = ["x", "y", "z"].iter().position(|known| *known == member);
        let sizes = matches!(&base.ty, Type::Struct(name, _) if name == "dim3");
        match (self.declared(*id).filter(|_| sizes), d) {
            (Some(entity), Some(d)) => self.component(&entity, d),
            _ => Some(Expr::Name(format!("{name}_{member}"))),
        }
    }

    /// A variable of the host: its only value, else its name.
    fn variable(&mut self, entity: &Entity<'tu>, name: &str) -> SymbolExpr {
        let own = Expr::Name(name.to_owned());
        let changes: Vec<Option<Entity<'tu>>> =
            self.assigned.iter().filter(|a| a.variable == *entity).map(|a| a.value).collect();
        if entity.get_kind() != EntityKind::VarDecl || self.depth >= MAX_DEPTH {
            return own;
        }
        let init = operands(entity).pop();
        let value = match (changes.as_slice(), init) {
            ([], Some(init)) => init,
            ([Some(value)], None) => *value,
            _ => return own,
        };
        self.depth += 1;
        let number = self.number(&value);
        self.depth -= 1;
        number.unwrap_or(own)
    }

    /// `ceil(a / b)`, `min`, `max`, and functions that only return.
    fn call(&mut self, name: &str, arguments: &[CExpr]) -> Option<SymbolExpr> {
        if let ("ceil", [quotient]) = (name, arguments) {
            let mut inner = quotient;
            while let ExprKind::Cast(next) = &inner.kind {
                inner = next;
            }
            let ExprKind::Binary(CBinaryOp::Div, a, b) = &inner.kind else {
                return self.value(inner);
            };
            let parts = vec![self.value(a)?, self.value(b)?];
            return Some(Expr::Call(Function::CeilDiv, parts));
        }
        let parts: Vec<Option<SymbolExpr>> =
            arguments.iter().map(|argument| self.value(argument)).collect();
        let function = match name {
            "min" | "fmin" => Some(Function::Min),
            "max" | "fmax" => Some(Function::Max),
            _ => None,
        };
        if let Some(function) = function {
            return Some(Expr::Call(function, parts.into_iter().collect::<Option<_>>()?));
        }
        let called: CFunction = self.tree.cuda.unit.functions.get(name)?.clone();
        let [statement] = called.body.as_slice() else { return None };
        let CStmtKind::Return(Some(result)) = &statement.kind else { return None };
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let result = self.value(result);
        self.depth -= 1;
        let names: HashMap<&str, &Option<SymbolExpr>> =
            called.parameters.iter().map(|p| p.name.as_str()).zip(&parts).collect();
        let put = |name: &String| match names.get(name.as_str()) {
            Some(value) => (*value).clone().ok_or(()),
            None => Ok(Expr::Name(name.clone())),
        };
        result?.replace(&mut { put }).ok()
    }
}

fn is_dim3(entity: &Entity<'_>) -> bool {
    entity.get_type().is_some_and(|ty| {
        let name = ty.get_canonical_type().get_display_name();
        name.trim_start_matches("const ") == "dim3"
    })
}

fn host_operator(op: CBinaryOp) -> Option<BinaryOp> {
    Some(match op {
        CBinaryOp::Add => BinaryOp::Add,
        CBinaryOp::Sub => BinaryOp::Sub,
        CBinaryOp::Mul => BinaryOp::Mul,
        CBinaryOp::Div => BinaryOp::Div,
        CBinaryOp::Rem => BinaryOp::Rem,
        _ => return None,
    })
}

/// Functions with a body that are no kernels, also templates and methods.
fn host_functions<'tu>(part: &Entity<'tu>, all: &mut Vec<Entity<'tu>>) {
    use EntityKind::{ClassDecl, ClassTemplate, LinkageSpec, Namespace, StructDecl, UnexposedDecl};
    for child in part.get_children() {
        match child.get_kind() {
            Namespace | LinkageSpec | StructDecl | ClassDecl | ClassTemplate | UnexposedDecl
                if !is_vendors(&child) =>
            {
                host_functions(&child, all);
            }
            EntityKind::FunctionDecl | EntityKind::Method | EntityKind::FunctionTemplate
                if !is_vendors(&child) && child.is_definition() =>
            {
                all.push(child);
            }
            _ => {}
        }
    }
}

/// Instances of templates that a function uses.
fn instances<'tu>(part: &Entity<'tu>, all: &mut Vec<Entity<'tu>>) {
    for child in part.get_children() {
        if child.get_kind() == EntityKind::DeclRefExpr
            && let Some(instance) = child.get_reference()
            && instance.get_template().is_some()
            && instance.get_kind() == EntityKind::FunctionDecl
            && !is_vendors(&instance)
            && body_of(&instance).is_some()
            && !all.contains(&instance)
        {
            all.push(instance);
        }
        instances(&child, all);
    }
}

/// Whether a statement runs once at most, or several times.
fn is_conditional(kind: EntityKind) -> bool {
    use EntityKind::{DoStmt, ForStmt, IfStmt, SwitchStmt, WhileStmt};
    matches!(kind, IfStmt | ForStmt | WhileStmt | DoStmt | SwitchStmt)
}

impl<'tu> Tree<'_, 'tu> {
    fn assignments(&self, part: &Entity<'tu>, conditional: bool, found: &mut Vec<Assigned<'tu>>) {
        use EntityKind::{BinaryOperator, CallExpr, CompoundAssignOperator, UnaryOperator};
        for child in part.get_children() {
            let parts = operands(&child);
            let text = self.text.of(&child);
            let between = |a: &Entity<'tu>, b: &Entity<'tu>| {
                self.text.between(self.text.span(a).end, self.text.span(b).start)
            };
            let assigns = match (child.get_kind(), parts.as_slice()) {
                (BinaryOperator, [a, b]) if between(a, b) == "=" => Some((a, Some(*b))),
                // `grid = dim3(...)` is a call of an operator.
                (CallExpr, [a, _, b]) if child.get_name().as_deref() == Some("operator=") => {
                    Some((a, Some(*b)))
                }
                (CompoundAssignOperator, [a, _]) => Some((a, None)),
                // `++n`, and `&n` which others may write to.
                (UnaryOperator, [a])
                    if text.starts_with(['+', '-', '&']) || text.ends_with(['+', '-']) =>
                {
                    Some((a, None))
                }
                _ => None,
            };
            if let Some((place, value)) = assigns {
                let inner = stripped(place);
                let (variable, member) = match operands(&inner).as_slice() {
                    [base] => (stripped(base).get_reference(), inner.get_name()),
                    _ => (inner.get_reference(), None),
                };
                let value = value.filter(|_| !conditional);
                found.extend(variable.map(|variable| Assigned { variable, member, value }));
            }
            self.assignments(&child, conditional || is_conditional(child.get_kind()), found);
        }
    }
}
