//! Counting groups.

use super::axes::{Axes, Region};
use super::known::Stop;
use super::value::truth;
use tickbound_expr::Expr;

/// Most regions that are examined.
const MAX_REGIONS: usize = 1 << 12;

/// How many groups there are at least in which each condition comes out as wanted for every item;
/// all of them, unless they lie in too many places.
pub fn groups_where(wanted: &[(&Expr, bool)], env: &[i64], axes: &Axes) -> i64 {
    let mut left = MAX_REGIONS;
    let mut open = vec![axes.whole()];
    let mut count = 0;
    while let Some(region) = open.pop() {
        match all_items(wanted, env, axes, region.clone(), &mut left) {
            Ok(true) => {
                let sides = &region.sides[..axes.of_groups];
                count += sides.iter().map(|(first, last)| last - first + 1).product::<i64>();
            }
            Err(Stop::Cut { axis, at }) => open.extend(region.cut(axis, at)),
            Ok(false) | Err(Stop::Fault) => {}
        }
    }
    count
}

/// Whether all items of some groups have what is wanted; where groups differ in that, an error.
fn all_items(
    wanted: &[(&Expr, bool)],
    env: &[i64],
    axes: &Axes,
    region: Region,
    left: &mut usize,
) -> Result<bool, Stop> {
    let mut open = vec![region];
    while let Some(region) = open.pop() {
        *left = left.checked_sub(1).ok_or(Stop::Fault)?;
        for (condition, holds) in wanted {
            match truth(condition, env, axes, &region) {
                Ok(found) if found == *holds => {}
                Ok(_) => return Ok(false),
                Err(Stop::Cut { axis, at }) if axis >= axes.of_groups => {
                    open.extend(region.cut(axis, at));
                    break;
                }
                Err(stop) => return Err(stop),
            }
        }
    }
    Ok(true)
}
