//! What is known while the tree is made.

use std::collections::HashMap;
use std::sync::Arc;

use clang::{Entity, EntityKind};

use crate::ast::{CExpr, ExprKind, SourcePlace, Type, VariableId};

use super::cuda::CudaTree;
use super::text::Text;

/// Expressions and statements that nest deeper are not read.
pub(super) const DEEPEST: usize = 256;

/// The tree in the making.
#[derive(Default)]
pub(super) struct Tree<'a, 'tu> {
    pub(super) text: Text<'a>,
    /// Names of open symbols.
    pub(super) open: &'a [String],
    /// Declarations with their types, in the order of their ids.
    pub(super) variables: HashMap<Entity<'tu>, (VariableId, Type)>,
    /// Structures and typedefs that have been read; a structure that is being read has no fields.
    pub(super) types: HashMap<Entity<'tu>, Type>,
    /// Values of enumeration constants.
    pub(super) constants: HashMap<Entity<'tu>, CExpr>,
    /// Names of functions that several definitions share.
    pub(super) overloaded: Vec<String>,
    /// How deep the present expression or statement lies.
    pub(super) depth: usize,
    pub(super) files: HashMap<String, Arc<str>>,
    /// How many variables have been given an identity.
    pub(super) ids: u32,
    /// What is known in CUDA.
    pub(super) cuda: CudaTree<'tu>,
}

impl<'tu> Tree<'_, 'tu> {
    pub(super) fn at(&mut self, entity: &Entity<'tu>) -> SourcePlace {
        let place = entity.get_range().map(|range| range.get_start().get_presumed_location());
        self.place(place)
    }

    /// Where the name that a cursor declares stands.
    pub(super) fn at_name(&mut self, entity: &Entity<'tu>) -> SourcePlace {
        let place = entity.get_location().map(|location| location.get_presumed_location());
        self.place(place)
    }

    fn place(&mut self, place: Option<(String, u32, u32)>) -> SourcePlace {
        let (file, line, column) = place.unwrap_or_default();
        let file = self.files.entry(file).or_insert_with_key(|name| Arc::from(name.as_str()));
        SourcePlace { file: Arc::clone(file), line, column }
    }

    /// The id and the type of a declaration, which gets them at its first mention.
    pub(super) fn variable(&mut self, declaration: Entity<'tu>) -> (VariableId, Type) {
        let declaration = declaration.get_canonical_entity();
        if let Some(known) = self.variables.get(&declaration) {
            return known.clone();
        }
        let ty = self.declared_type(&declaration);
        let id = self.next_id();
        self.variables.insert(declaration, (id, ty.clone()));
        (id, ty)
    }

    pub(super) fn next_id(&mut self) -> VariableId {
        self.ids = self.ids.saturating_add(1);
        VariableId(self.ids - 1)
    }

    /// The function's name, with its parameters' types if that is needed to tell it from others.
    pub(super) fn function_name(&self, function: &Entity<'tu>) -> Option<String> {
        let name = function.get_name()?;
        if !self.overloaded.contains(&name) {
            return Some(name);
        }
        function.get_display_name().map(|name| name.replace("__private ", ""))
    }

    pub(super) fn unread(&mut self, entity: &Entity<'tu>, what: impl Into<String>) -> CExpr {
        let ty = self.expression_type(entity);
        CExpr { kind: ExprKind::Unread(what.into()), ty, at: self.at(entity) }
    }
}

/// The children that are expressions: no references to types, no attributes.
pub(super) fn operands<'tu>(entity: &Entity<'tu>) -> Vec<Entity<'tu>> {
    entity.get_children().into_iter().filter(is_expression).collect()
}

/// Whether a cursor is an expression. Some expressions have unknown kinds.
pub(super) fn is_expression(entity: &Entity<'_>) -> bool {
    entity.is_expression() || entity.get_kind() == EntityKind::NotImplemented
}
