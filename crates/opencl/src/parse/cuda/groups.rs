//! Cooperative groups: names for ids, sizes, barriers and functions of warps.

use clang::Entity;

use super::super::state::Tree;
use super::super::types::INT;
use crate::ast::{CBinaryOp, CExpr, ExprKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupKind {
    /// All items of a block.
    Block,
    /// As many items of a warp, next to each other.
    Tile(i64),
    /// All items of the launch.
    Grid,
    /// The items of a warp that are active.
    Active,
    /// A group whose items are not known.
    Other,
    /// A pipeline of copies, which no item waits for.
    Pipeline,
    /// A barrier of a block as an object.
    Barrier,
}

/// The kind of group that a type is; `None` of other types.
pub(super) fn group_kind(ty: clang::Type<'_>) -> Option<GroupKind> {
    let canonical = ty.get_canonical_type();
    let pointee = canonical.get_pointee_type().map(|ty| ty.get_canonical_type());
    let name = pointee.unwrap_or(canonical).get_display_name();
    let name = name.strip_prefix("const ").unwrap_or(&name);
    let object = |kind: &str| name.strip_prefix("cuda::")?.strip_prefix(kind)?.strip_prefix('<');
    match (object("pipeline"), object("barrier")) {
        (Some(_), _) => return Some(GroupKind::Pipeline),
        (_, Some(_)) => return Some(GroupKind::Barrier),
        _ => {}
    }
    let name = name.strip_prefix("cooperative_groups::")?;
    let size = name.strip_prefix("thread_block_tile<").map(|rest| {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        digits.parse().map_or(GroupKind::Other, GroupKind::Tile)
    });
    Some(match name {
        "thread_block" => GroupKind::Block,
        "grid_group" => GroupKind::Grid,
        _ if name.starts_with("thread_block_tile<") => size.unwrap_or(GroupKind::Other),
        "coalesced_group" => GroupKind::Active,
        "thread_group" => GroupKind::Other,
        _ => return None,
    })
}

impl<'tu> Tree<'_, 'tu> {
    /// A method of a group, or a function of the namespace whose first argument is one.
    pub(super) fn group_function(
        &mut self,
        entity: &Entity<'tu>,
        (kind, name): (GroupKind, &str),
        arguments: Vec<CExpr>,
    ) -> CExpr {
        let one = self.cuda.dimensions == 1;
        match (kind, name) {
            (GroupKind::Block, "sync" | "wait" | "wait_prior")
            | (GroupKind::Barrier, "wait" | "arrive_and_wait") => self.barrier(entity),
            (GroupKind::Pipeline | GroupKind::Barrier, _) => self.sequence(entity, Vec::new()),
            (GroupKind::Block, "thread_rank") => {
                self.plain_call(entity, "get_local_linear_id", Vec::new())
            }
            (GroupKind::Block, "size" | "num_threads") => {
                let first = self.in_dimension(entity, "get_local_size", 0);
                (1..self.cuda.dimensions).fold(first, |all, d| {
                    let next = self.in_dimension(entity, "get_local_size", d);
                    self.combined(entity, CBinaryOp::Mul, all, next)
                })
            }
            (GroupKind::Block, "group_index") => self.all_dimensions(entity, "get_group_id"),
            (GroupKind::Block, "thread_index") => self.all_dimensions(entity, "get_local_id"),
            (GroupKind::Block, "group_dim") => self.all_dimensions(entity, "get_local_size"),
            (GroupKind::Grid, "thread_rank") if one => {
                self.plain_call(entity, "get_global_linear_id", Vec::new())
            }
            (GroupKind::Grid, "size" | "num_threads") if one => {
                self.in_dimension(entity, "get_global_size", 0)
            }
            (GroupKind::Grid, "sync") => self.unread(entity, "a barrier of all groups"),
            (GroupKind::Active, "thread_rank" | "size" | "num_threads") => {
                self.active_items(entity, name == "thread_rank")
            }
            (GroupKind::Active, "sync") => self.plain_call(entity, "__syncwarp", Vec::new()),
            (GroupKind::Active, "shfl" | "shfl_down" | "any" | "ballot") => {
                self.warp_function(entity, &name.replace("shfl", "shuffle"), arguments)
            }
            // Its operator is taken to cost as much as an addition.
            (GroupKind::Active, "reduce") => self.warp_function(entity, "reduce_add", arguments),
            (GroupKind::Tile(items), _) => self.tile_function(entity, (items, name), arguments),
            _ => self.unread(entity, format!("`{name}` of a cooperative group")),
        }
    }

    /// How many items of a warp are active, or how many of those are below this one: bits of
    /// `ballot(1)`, or of `ballot(1) & ((1 << lane) - 1)`.
    fn active_items(&mut self, entity: &Entity<'tu>, below: bool) -> CExpr {
        let one = self.with_kind(entity, ExprKind::Int(1), INT);
        let mut active = self.warp_function(entity, "ballot", vec![one.clone()]);
        if below {
            let lane = self.plain_call(entity, "get_sub_group_local_id", Vec::new());
            let bit = self.combined(entity, CBinaryOp::Shl, one.clone(), lane);
            let bits = self.combined(entity, CBinaryOp::Sub, bit, one);
            active = self.combined(entity, CBinaryOp::BitAnd, active, bits);
        }
        self.plain_call(entity, "popcount", vec![active])
    }

    /// A method of some items of a warp.
    fn tile_function(
        &mut self,
        entity: &Entity<'tu>,
        (items, name): (i64, &str),
        arguments: Vec<CExpr>,
    ) -> CExpr {
        let size = self.with_kind(entity, ExprKind::Int(items), INT);
        match name {
            "sync" => self.plain_call(entity, "__syncwarp", Vec::new()),
            "size" | "num_threads" => self.expr(entity, size.kind),
            "thread_rank" | "meta_group_rank" => {
                let op = if name == "thread_rank" { CBinaryOp::Rem } else { CBinaryOp::Div };
                let id = self.plain_call(entity, "get_local_linear_id", Vec::new());
                self.combined(entity, op, id, size)
            }
            "meta_group_size" => {
                let all = self.group_function(entity, (GroupKind::Block, "size"), Vec::new());
                self.combined(entity, CBinaryOp::Div, all, size)
            }
            "shfl" => self.warp_function(entity, "shuffle", arguments),
            "any" | "all" | "ballot" => self.warp_function(entity, name, arguments),
            // Its operator is taken to cost as much as an addition.
            "reduce" => {
                let all = arguments.into_iter().take(1).chain([size]).collect();
                self.plain_call(entity, "sub_group_clustered_reduce_add", all)
            }
            _ if name.starts_with("shfl_") => {
                self.warp_function(entity, &name.replace("shfl", "shuffle"), arguments)
            }
            _ => self.unread(entity, format!("`{name}` of a cooperative group")),
        }
    }

    /// `a op b` with the type of the cursor.
    fn combined(&mut self, at: &Entity<'tu>, op: CBinaryOp, a: CExpr, b: CExpr) -> CExpr {
        self.expr(at, ExprKind::Binary(op, Box::new(a), Box::new(b)))
    }

    fn in_dimension(&mut self, entity: &Entity<'tu>, name: &str, d: usize) -> CExpr {
        let d = self.with_kind(entity, ExprKind::Int(i64::try_from(d).unwrap_or(0)), INT);
        self.with_kind(entity, ExprKind::Call(name.to_owned(), vec![d]), UINT)
    }

    /// A number of each dimension in a list: `threadIdx` itself.
    pub(super) fn all_dimensions(&mut self, entity: &Entity<'tu>, name: &str) -> CExpr {
        let each = (0..3).map(|d| self.in_dimension(entity, name, d)).collect();
        self.expr(entity, ExprKind::List(each))
    }
}

/// The type of ids and sizes.
pub(super) const UINT: crate::ast::Type =
    crate::ast::Type::Scalar(crate::ast::ScalarType::Int { bytes: 4, signed: false });
