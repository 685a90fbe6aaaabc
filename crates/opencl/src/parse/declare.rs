//! Declarations and statements.

use clang::{Entity, EntityKind};
use itertools::Itertools;

use crate::ast::{
    AddressSpace, CExpr, CFunction, CStmt, CStmtKind, CVariable, ExprKind, Label, Type, Unit,
};

use super::cuda::cuda_space;
use super::state::{DEEPEST, Tree, is_expression, operands};
use super::types::space;

impl<'tu> Tree<'_, 'tu> {
    /// All that a file declares.
    pub(super) fn unit(mut self, root: Entity<'tu>) -> Unit {
        let declared: Vec<Entity<'tu>> =
            root.get_children().into_iter().filter(|child| !child.is_in_system_header()).collect();
        let is_defined = |child: &&Entity<'tu>| {
            child.get_kind() == EntityKind::FunctionDecl && child.is_definition()
        };
        let names = declared.iter().filter(is_defined).filter_map(Entity::get_name);
        self.overloaded = names.duplicates().collect();

        let mut unit = Unit::default();
        for child in &declared {
            if child.get_kind() == EntityKind::VarDecl {
                unit.globals.push(self.initialised(child));
            } else if is_defined(&child)
                && let Some(function) = self.function(child)
            {
                unit.functions.insert(function.name.clone(), function);
            }
        }
        unit
    }

    fn function(&mut self, entity: &Entity<'tu>) -> Option<CFunction> {
        let children = entity.get_children();
        let body = children.iter().find(|child| child.get_kind() == EntityKind::CompoundStmt)?;
        let mut attributes = children.iter().filter(|child| child.is_attribute());
        let kernel = attributes.any(|a| matches!(self.text.of(a), "kernel" | "__kernel"));
        let parameters = children.iter().filter(|child| child.get_kind() == EntityKind::ParmDecl);
        Some(CFunction {
            name: self.function_name(entity)?,
            kernel,
            parameters: parameters.map(|parameter| self.declaration(parameter)).collect(),
            result: entity.get_result_type().map_or(Type::Void, |ty| self.type_of(ty)),
            body: self.body(body),
            at: self.at_name(entity),
        })
    }

    /// A declared variable or parameter without its first value.
    pub(super) fn declaration(&mut self, entity: &Entity<'tu>) -> CVariable {
        let (id, ty) = self.variable(*entity);
        CVariable {
            id,
            name: entity.get_name().unwrap_or_default(),
            ty,
            // One that is written as an array has the space of what it points to.
            space: match entity.get_kind() {
                EntityKind::ParmDecl => AddressSpace::Private,
                _ if self.cuda.on => cuda_space(entity),
                _ => space(entity.get_type()),
            },
            read_only: is_read_only(entity),
            init: None,
            at: self.at_name(entity),
        }
    }

    /// A variable with its first value.
    pub(super) fn initialised(&mut self, entity: &Entity<'tu>) -> CVariable {
        let mut variable = self.declaration(entity);
        let init = operands(entity).into_iter().rfind(|child| !self.is_length(entity, child));
        variable.init = init.map(|init| {
            let init = self.expression(&init);
            match init.kind {
                ExprKind::List(_) => CExpr { ty: variable.ty.clone(), ..init },
                _ => init,
            }
        });
        variable
    }

    /// The statements of a body, with or without braces.
    pub(super) fn body(&mut self, entity: &Entity<'tu>) -> Vec<CStmt> {
        match entity.get_kind() {
            EntityKind::CompoundStmt => {
                entity.get_children().iter().map(|child| self.statement(child)).collect()
            }
            _ => vec![self.statement(entity)],
        }
    }

    fn statement(&mut self, entity: &Entity<'tu>) -> CStmt {
        let at = self.at(entity);
        if self.depth >= DEEPEST {
            let what = format!("a statement that nests {DEEPEST} levels deep");
            return CStmt { kind: CStmtKind::Unread(what), at };
        }
        self.depth += 1;
        let kind = self.statement_kind(entity);
        self.depth -= 1;
        CStmt { kind, at }
    }

    fn statement_kind(&mut self, entity: &Entity<'tu>) -> CStmtKind {
        let children = entity.get_children();
        if self.cuda.on
            && let Some(statement) = self.cuda_statement(entity, &children)
        {
            return statement;
        }
        if is_expression(entity) {
            return CStmtKind::Expr(self.expression(entity));
        }
        match (entity.get_kind(), children.as_slice()) {
            (EntityKind::CompoundStmt, _) => CStmtKind::Block(self.body(entity)),
            (EntityKind::DeclStmt, _) => self.declarations(&children),
            (EntityKind::IfStmt, [condition, then]) => {
                CStmtKind::If(self.expression(condition), self.body(then), Vec::new())
            }
            (EntityKind::IfStmt, [condition, then, otherwise]) => {
                CStmtKind::If(self.expression(condition), self.body(then), self.body(otherwise))
            }
            (EntityKind::ForStmt, _) => (self.for_loop(entity, &children))
                .unwrap_or_else(|| CStmtKind::Unread("a for loop".to_owned())),
            (EntityKind::WhileStmt, [condition, body]) => {
                CStmtKind::While(self.expression(condition), self.body(body))
            }
            (EntityKind::DoStmt, [body, condition]) => {
                CStmtKind::DoWhile(self.body(body), self.expression(condition))
            }
            (EntityKind::SwitchStmt, [value, body]) => self.switch(value, body),
            (EntityKind::ReturnStmt, values) => {
                CStmtKind::Return(values.first().map(|value| self.expression(value)))
            }
            (EntityKind::BreakStmt, _) => CStmtKind::Break,
            (EntityKind::ContinueStmt, _) => CStmtKind::Continue,
            (EntityKind::NullStmt, _) => CStmtKind::Empty,
            // A statement with attributes, such as `opencl_unroll_hint`.
            (EntityKind::UnexposedStmt, [attributes @ .., statement])
                if attributes.iter().all(Entity::is_attribute) && !statement.is_attribute() =>
            {
                self.statement_kind(statement)
            }
            (kind, _) => CStmtKind::Unread(name(kind).to_owned()),
        }
    }

    /// The statements of a `switch`, and where its labels lead to.
    fn switch(&mut self, value: &Entity<'tu>, body: &Entity<'tu>) -> CStmtKind {
        let (mut labels, mut stmts) = (Vec::new(), Vec::new());
        let inside = match body.get_kind() {
            EntityKind::CompoundStmt => body.get_children(),
            _ => vec![*body],
        };
        for mut stmt in inside {
            loop {
                let children = stmt.get_children();
                let place = stmts.len();
                match (stmt.get_kind(), children.as_slice()) {
                    (EntityKind::CaseStmt, [value, next]) => {
                        labels.push(Label { value: Some(self.expression(value)), place });
                        stmt = *next;
                    }
                    (EntityKind::DefaultStmt, [next]) => {
                        labels.push(Label { value: None, place });
                        stmt = *next;
                    }
                    (EntityKind::CaseStmt, _) => {
                        return CStmtKind::Unread("a range of cases".to_owned());
                    }
                    _ => break,
                }
            }
            stmts.push(self.statement(&stmt));
        }
        CStmtKind::Switch(self.expression(value), labels, stmts)
    }

    fn declarations(&mut self, children: &[Entity<'tu>]) -> CStmtKind {
        let variables: Vec<CVariable> = children
            .iter()
            .filter(|child| child.get_kind() == EntityKind::VarDecl)
            .map(|child| self.initialised(child))
            .collect();
        if variables.is_empty() { CStmtKind::Empty } else { CStmtKind::Declare(variables) }
    }

    /// libclang leaves out the parts that are not there; the semicolons show which these are.
    fn for_loop(&mut self, entity: &Entity<'tu>, children: &[Entity<'tu>]) -> Option<CStmtKind> {
        let (semicolons, end) = self.text.header(self.text.span(entity).start)?;
        let (&[first, second], (body, parts)) = (&semicolons[..], children.split_last()?) else {
            return None;
        };
        let (mut init, mut condition, mut step) = (Vec::new(), None, None);
        for part in parts {
            match self.text.span(part).start {
                start if start < first => init.push(self.statement(part)),
                start if start < second => condition = Some(self.expression(part)),
                start if start < end => step = Some(self.expression(part)),
                _ => return None,
            }
        }
        Some(CStmtKind::For { init, condition, step, body: self.body(body) })
    }
}

/// Whether a declaration is of a pointer to memory that is never written.
fn is_read_only(entity: &Entity<'_>) -> bool {
    entity.get_type().is_some_and(|ty| {
        let constant = ty.get_pointee_type().is_some_and(|ty| ty.is_const_qualified());
        constant && ty.is_restrict_qualified()
    })
}

/// What to call a kind of statement that is not read.
fn name(kind: EntityKind) -> &'static str {
    match kind {
        EntityKind::GotoStmt | EntityKind::IndirectGotoStmt => "goto",
        EntityKind::LabelStmt => "a label",
        EntityKind::SwitchStmt => "switch",
        EntityKind::CaseStmt | EntityKind::DefaultStmt => "a case inside another statement",
        EntityKind::AsmStmt | EntityKind::MsAsmStmt => "asm",
        _ => "a statement of an unknown kind",
    }
}
