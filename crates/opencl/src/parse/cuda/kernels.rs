//! The kernels of a source, and the unit of the one that is read.

use std::collections::HashMap;

use clang::{Entity, EntityKind, TemplateArgument};

use super::super::state::Tree;
use super::cursors::{is_vendors, parameters_of};
use super::functions::holds_pointer;
use crate::ast::{
    AddressSpace, CExpr, CFunction, CStmt, CStmtKind, CVariable, ExprKind, Type, Unit,
};
use crate::error::{Read, ReadError};

#[derive(Debug, Clone, Copy)]
pub(in crate::parse) struct SourceKernel<'tu> {
    /// Its function, or the template.
    pub(in crate::parse) entity: Entity<'tu>,
    pub(in crate::parse) template: bool,
}

pub(in crate::parse) fn kernels<'tu>(root: &Entity<'tu>) -> Vec<SourceKernel<'tu>> {
    let mut found = Vec::new();
    let mut left: Vec<Entity<'tu>> = root.get_children();
    left.reverse();
    while let Some(entity) = left.pop() {
        match entity.get_kind() {
            EntityKind::Namespace | EntityKind::LinkageSpec | EntityKind::UnexposedDecl => {
                left.extend(entity.get_children().into_iter().rev());
            }
            kind @ (EntityKind::FunctionDecl | EntityKind::FunctionTemplate) => {
                let children = entity.get_children();
                let has = |kind| children.iter().any(|child| child.get_kind() == kind);
                if has(EntityKind::CudaGlobalAttr)
                    && has(EntityKind::CompoundStmt)
                    && !is_vendors(&entity)
                {
                    found.push(SourceKernel {
                        entity,
                        template: kind == EntityKind::FunctionTemplate,
                    });
                }
            }
            _ => {}
        }
    }
    found
}

/// The name of a declaration with the namespaces around it.
pub(in crate::parse) fn qualified(entity: &Entity<'_>) -> String {
    let mut names = vec![entity.get_name().unwrap_or_default()];
    let mut parent = entity.get_semantic_parent();
    while let Some(around) = parent.filter(|p| p.get_kind() == EntityKind::Namespace) {
        names.extend(around.get_name());
        parent = around.get_semantic_parent();
    }
    names.reverse();
    names.join("::")
}

pub(in crate::parse) fn template_parameters<'tu>(template: &Entity<'tu>) -> Vec<Entity<'tu>> {
    let children = template.get_children().into_iter();
    let parameters = children.filter(|child| {
        use EntityKind::TemplateTypeParameter;
        use EntityKind::{NonTypeTemplateParameter, TemplateTemplateParameter};
        [NonTypeTemplateParameter, TemplateTemplateParameter, TemplateTypeParameter]
            .contains(&child.get_kind())
    });
    parameters.collect()
}

/// Instances of a template that a part of the source uses, with the use.
pub(in crate::parse) fn uses<'tu>(
    part: &Entity<'tu>,
    template: &Entity<'tu>,
    found: &mut Vec<(Entity<'tu>, Entity<'tu>)>,
) {
    for child in part.get_children() {
        if is_vendors(&child) {
            continue;
        }
        if child.get_kind() == EntityKind::DeclRefExpr
            && let Some(instance) = child.get_reference()
            && instance.get_kind() == EntityKind::FunctionDecl
            && instance.get_template().as_ref() == Some(template)
        {
            found.push((child, instance));
        }
        uses(&child, template, found);
    }
}

/// The arguments of an instance, as text.
pub(in crate::parse) fn argument_texts(instance: &Entity<'_>) -> Vec<String> {
    let text = |argument: &TemplateArgument<'_>| match argument {
        // A truth value is a number of one bit.
        TemplateArgument::Integral(-1, 1) => "1".to_owned(),
        TemplateArgument::Integral(number, _) => number.to_string(),
        TemplateArgument::Type(ty) => ty.get_display_name(),
        _ => String::new(),
    };
    instance.get_template_arguments().unwrap_or_default().iter().map(text).collect()
}

/// Whether a structure or a union in it has an array.
fn holds_array(ty: &Type) -> bool {
    match ty {
        Type::Struct(_, fields) => fields.iter().any(|(_, ty)| holds_array(ty)),
        Type::Array(..) | Type::Union(..) => true,
        _ => false,
    }
}

impl<'tu> Tree<'_, 'tu> {
    /// The unit of the kernel `entry`: it and all that it calls. Of other kernels their
    /// parameters. `instance` is the use of a template that is read, and what it uses.
    pub(in crate::parse) fn cuda_unit(
        &mut self,
        all: &[SourceKernel<'tu>],
        entry: &str,
        instance: Option<(Entity<'tu>, Entity<'tu>)>,
    ) -> Read<Unit> {
        for kernel in all {
            let name = kernel.entity.get_name().unwrap_or_default();
            let read = match (name == entry, kernel.template, instance) {
                (true, false, _) => Some((kernel.entity, HashMap::new())),
                (true, true, Some((_, entity))) => Some((entity, self.entry_bindings(&entity))),
                (true, true, None) => {
                    let names = template_parameters(&kernel.entity);
                    let names: Vec<String> = names.iter().filter_map(Entity::get_name).collect();
                    let at = self.at_name(&kernel.entity);
                    let what = format!("`{entry}` is a template that nothing in the file uses");
                    let fix = names.iter().map(|name| format!("\"{name}\""));
                    let fix = fix.collect::<Vec<_>>().join(", ");
                    let fix = format!("give {fix} with --template NAME=TEXT or kernel.defines");
                    return Err(ReadError::at(&at, what, fix));
                }
                _ => None,
            };
            let function = match read {
                Some((entity, bound)) => {
                    self.cuda.bound = bound;
                    self.entry_function(&entity, name.clone())
                }
                None => self.signature(&kernel.entity, name.clone()),
            };
            self.cuda.unit.functions.insert(name, function);
        }
        Ok(std::mem::take(&mut self.cuda.unit))
    }

    /// Parameters of the kernel's template: those with the name of an open symbol are this one.
    fn entry_bindings(&mut self, instance: &Entity<'tu>) -> HashMap<String, CExpr> {
        let Some(template) = instance.get_template() else { return HashMap::new() };
        let arguments = instance.get_template_arguments().unwrap_or_default();
        let mut bound = HashMap::new();
        for (parameter, argument) in template_parameters(&template).iter().zip(arguments) {
            let name = parameter.get_name().unwrap_or_default();
            if matches!(argument, TemplateArgument::Integral(..)) && self.open.contains(&name) {
                let symbol = self.expr(parameter, ExprKind::Symbol(name.clone()));
                bound.insert(name, symbol);
            }
        }
        bound
    }

    /// The kernel: its structures are read as their members, its pointers are those of buffers.
    fn entry_function(&mut self, entity: &Entity<'tu>, name: String) -> CFunction {
        let mut parameters = self.entry_parameters(entity);
        let function = self.defined(entity, name, Vec::new());
        for parameter in &mut parameters {
            parameter.read_only |= self.cuda.read_only.contains(&parameter.id);
        }
        parameters.extend(self.cuda.shared.take());
        parameters.append(&mut self.cuda.added);
        CFunction { kernel: true, parameters, ..function }
    }

    fn entry_parameters(&mut self, entity: &Entity<'tu>) -> Vec<CVariable> {
        let mut parameters = Vec::new();
        for parameter in parameters_of(entity) {
            let variable = self.declaration(&parameter);
            match &variable.ty {
                ty @ Type::Struct(..) if holds_pointer(ty) || !holds_array(ty) => {
                    parameters.extend(self.exploded(&variable, &variable.ty.clone()));
                }
                _ => parameters.push(variable),
            }
        }
        for variable in &mut parameters {
            if let Type::Pointer(space, _) = &mut variable.ty {
                *space = AddressSpace::Global;
            }
        }
        parameters
    }

    /// A kernel that is not read.
    fn signature(&mut self, entity: &Entity<'tu>, name: String) -> CFunction {
        let parameters = self.entry_parameters(entity);
        let at = self.at_name(entity);
        let what = CStmtKind::Unread("another kernel".to_owned());
        let body = vec![CStmt { kind: what, at: at.clone() }];
        CFunction { name, kernel: true, parameters, result: Type::Void, body, at }
    }

    /// Whether a place of the text belongs to what has been read.
    pub(in crate::parse) fn has_read(&self, offset: usize) -> bool {
        self.cuda.spans.iter().any(|span| span.start <= offset && offset <= span.end)
    }
}
