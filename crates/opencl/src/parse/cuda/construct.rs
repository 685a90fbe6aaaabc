//! Constructors: copies are left out, others are lists of members.

use clang::{Entity, EntityKind};

use super::super::state::{Tree, operands};
use super::cursors::{body_of, is_implicit, is_vendors};
use crate::ast::{CExpr, ExprKind, Type};

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
                let dim3 = matches!(&ty, Type::Struct(name, _) if name == "dim3");
                while dim3 && items.len() < 3 {
                    items.push(self.with_kind(entity, ExprKind::Int(1), super::groups::UINT));
                }
                self.expr(entity, ExprKind::List(items))
            }
            _ => self.unread(entity, "a constructor"),
        }
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
