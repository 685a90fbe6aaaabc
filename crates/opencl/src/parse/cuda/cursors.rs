//! What cursors of C++ are.

use clang::{Entity, EntityKind, TypeKind};

use super::super::state::operands;
use super::groups::group_kind;
use crate::cuda::SHIM;

/// Whether a cursor lies in the declarations of the vendors' names.
pub(super) fn is_vendors(entity: &Entity<'_>) -> bool {
    let file = entity.get_location().and_then(|at| at.get_file_location().file);
    file.is_some_and(|file| file.get_path().as_os_str() == SHIM)
}

/// The cursor without what is left out of expressions.
pub(super) fn stripped<'tu>(entity: &Entity<'tu>) -> Entity<'tu> {
    let mut inner = *entity;
    while matches!(inner.get_kind(), EntityKind::ParenExpr | EntityKind::UnexposedExpr)
        && let [one] = operands(&inner).as_slice()
    {
        inner = *one;
    }
    inner
}

pub(super) fn is_reference(ty: Option<clang::Type<'_>>) -> bool {
    let kind = ty.map(|ty| ty.get_canonical_type().get_kind());
    matches!(kind, Some(TypeKind::LValueReference | TypeKind::RValueReference))
}

/// Whether a declaration belongs to no function. Versions of libclang number kinds differently.
pub(super) fn is_global(entity: &Entity<'_>) -> bool {
    use EntityKind::{Constructor, ConversionFunction, FunctionDecl, FunctionTemplate, Method};
    let functions = [Constructor, ConversionFunction, FunctionDecl, FunctionTemplate, Method];
    let parent = entity.get_semantic_parent().map(|parent| parent.get_kind());
    let own = [EntityKind::VarDecl].contains(&entity.get_kind());
    own && !parent.is_some_and(|kind| functions.contains(&kind))
}

/// Whether an argument of this type has no value: a group, or a lambda.
pub(super) fn stands_for_itself(ty: clang::Type<'_>) -> bool {
    group_kind(ty).is_some() || ty.get_canonical_type().get_display_name().contains("(lambda at ")
}

pub(super) fn parameters_of<'tu>(function: &Entity<'tu>) -> Vec<Entity<'tu>> {
    let children = function.get_children().into_iter();
    children.filter(|child| child.get_kind() == EntityKind::ParmDecl).collect()
}

pub(super) fn body_of<'tu>(function: &Entity<'tu>) -> Option<Entity<'tu>> {
    let has_body = |function: &Entity<'tu>| {
        function.get_children().iter().any(|child| child.get_kind() == EntityKind::CompoundStmt)
    };
    let definition = function.get_definition().filter(has_body);
    definition.or_else(|| Some(*function).filter(has_body))
}

/// Whether the compiler has made a function of a class: it has the place of the class.
pub(super) fn is_implicit(function: &Entity<'_>) -> bool {
    let class = function.get_semantic_parent().and_then(|class| class.get_location());
    function.is_defaulted() || class.is_some() && function.get_location() == class
}
