//! What the names of steps stand for in a problem.

use indexmap::IndexMap;
use tickbound_expr::{BinaryOp, Expr, Slot};
use tickbound_model::source::{ArgumentKind, Define, KernelArgument};
use tickbound_model::{Dimension, KernelSource, Problem};

use crate::ast::SourcePlace;
use crate::error::{Read, ReadError};
use crate::extract::Extracted;
use crate::request::bound_name;
use crate::steps::SymbolExpr;

/// For each name of steps its expression over the problem's names.
#[derive(Debug, Clone)]
pub struct Names {
    known: IndexMap<String, Expr>,
    arguments: Vec<KernelArgument>,
    /// The bytes of buffers under the names of parameters.
    sizes: IndexMap<String, Expr>,
}

/// One item of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    /// The first one of the first group.
    First,
    /// The first one of the group in the middle.
    Middle,
    /// The last one of the group in the middle.
    MiddleLast,
    /// The last one of the last group.
    Last,
}

impl Names {
    /// The names that a problem gives to the steps of its source.
    pub fn new(problem: &Problem, source: &KernelSource) -> Names {
        let mut known = IndexMap::new();
        for (name, define) in &source.defines {
            if let Define::Number(value) = define {
                known.insert(name.clone(), value.clone());
            }
        }
        for (i, (asked, bound)) in source.bounds.iter().enumerate() {
            known.insert(bound_name(i, asked), bound.clone());
        }
        let lid = problem.first_item_slot();
        // `gid` lies between them.
        ids(&mut known, &problem.grid, lid, lid + 2);
        Names { known, arguments: source.arguments.clone(), sizes: IndexMap::new() }
    }

    /// For one item alone.
    pub(crate) fn of_item(&self, item: Item) -> Names {
        let mut names = self.clone();
        for d in 0..3 {
            let size = |what: &str| self.known.get(&format!("${what}_{d}"));
            let (Some(local), Some(groups)) = (size("local"), size("groups")) else { continue };
            let middle = || Expr::binary(BinaryOp::FloorDiv, groups.clone(), Expr::Int(2));
            let (lid, group) = match item {
                Item::First => (Expr::Int(0), Expr::Int(0)),
                Item::Middle => (Expr::Int(0), middle().simplified()),
                Item::MiddleLast => (local - 1, middle().simplified()),
                Item::Last => (local - 1, groups - 1),
            };
            names.known.insert(format!("$lid_{d}"), lid);
            names.known.insert(format!("$group_{d}"), group);
        }
        names
    }

    /// With the arguments under the parameters' names, which may differ from reading to reading.
    pub(crate) fn of_parameters(&self, parameters: &[String]) -> Names {
        let mut names = self.clone();
        for (parameter, argument) in parameters.iter().zip(&self.arguments) {
            for (what, size) in ["width", "height", "depth"].iter().zip(&argument.image) {
                names.known.insert(format!("${parameter}.{what}"), size.clone());
            }
            if let ArgumentKind::Scalar(value) = &argument.kind {
                names.known.insert(format!("${parameter}"), value.clone());
            } else if let ArgumentKind::Buffer { length, .. } = &argument.kind {
                let bytes = argument.element.bytes() as i64 * length;
                names.sizes.insert(parameter.clone(), bytes);
            }
        }
        names
    }

    /// The bytes of the buffer that a pointer parameter gets, if the problem has them.
    pub(crate) fn bytes_of(&self, parameter: &str) -> Option<&Expr> {
        self.sizes.get(parameter)
    }

    /// The structural symbols as expressions over the problem's names.
    ///
    /// # Errors
    /// The problem does not have one of them.
    pub fn symbols(&self, extracted: &Extracted) -> Result<Vec<Expr>, ReadError> {
        let missing = |name: &String| {
            ReadError::file("kernel.defines", format!("`{name}` is missing"), "add its value")
        };
        let known = |name: &String| self.known.get(name).cloned().ok_or_else(|| missing(name));
        let symbol = |name| match extracted.conditions.get(name) {
            Some(condition) => condition.replace(&mut |name| known(name)),
            None => known(name),
        };
        extracted.structural.iter().map(symbol).collect()
    }

    /// An expression over the problem's names.
    pub(crate) fn put_in(&self, number: &SymbolExpr, at: &SourcePlace) -> Read<Expr> {
        number.replace(&mut |name| {
            self.known.get(name).cloned().ok_or_else(|| {
                let plain = name.trim_start_matches('$');
                let (own, given) = match plain.split_once('.') {
                    Some((image, _)) => (image, "\"image\": [WIDTH, HEIGHT]"),
                    None => (plain, "\"value\": ..."),
                };
                ReadError::at(
                    at,
                    format!("the value of `{plain}` is not known"),
                    format!(
                        "add it to kernel.arguments, as {{ \"name\": \"{own}\", \"type\": \
                             ..., {given} }}"
                    ),
                )
            })
        })
    }
}

/// Ids and sizes by dimension out of the linear `lid` and `group`: dimension 0 runs fastest.
fn ids(known: &mut IndexMap<String, Expr>, grid: &[Dimension], lid: Slot, group: Slot) {
    let (mut lid, mut group) = (Expr::Name(lid), Expr::Name(group));
    for (d, Dimension { global, local }) in grid.iter().enumerate() {
        let groups = Expr::binary(BinaryOp::FloorDiv, global.clone(), local.clone());
        let last = d + 1 == grid.len();
        let mut place = |name: &str, linear: &mut Expr, size: &Expr| {
            let own = match last {
                true => linear.clone(),
                false => Expr::binary(BinaryOp::Rem, linear.clone(), size.clone()),
            };
            known.insert(format!("${name}_{d}"), own);
            *linear = Expr::binary(BinaryOp::FloorDiv, linear.clone(), size.clone());
        };
        place("lid", &mut lid, local);
        place("group", &mut group, &groups);
        known.insert(format!("$local_{d}"), local.clone());
        known.insert(format!("$global_{d}"), global.clone());
        known.insert(format!("$groups_{d}"), groups);
    }
    for d in grid.len()..3 {
        for (name, value) in [("lid", 0), ("group", 0), ("local", 1), ("global", 1), ("groups", 1)]
        {
            known.insert(format!("${name}_{d}"), Expr::Int(value));
        }
    }
}
