//! The formulas of the profile `resources` for one configuration on one platform.

use tickbound_model::quantity::Quantity;
use tickbound_model::resource_profile::{
    LaunchQuantities, OccupancyLimit, ResourceQuantities, resource_quantities,
};
use tickbound_model::{Bound, LaunchSize, ModelError, Problem};

use super::number::Int;
use super::result::{Bottleneck, ResourceTime};
use super::usage::Values;

/// The time of the launch, without what comes after it; `None` beyond 63 bits.
pub(super) fn launch(
    problem: &Problem,
    bound: &Bound,
    Values(used): Values,
) -> Result<Option<ResourceTime>, ModelError> {
    let LaunchSize::Range { global, local } = bound.launch else {
        let fix = "give global_size and local_size";
        return Err(ModelError::new("launch", "does not fit the profile", fix));
    };
    let launch = LaunchQuantities { items: local.into(), groups: (global / local).into(), used };
    Ok(in_numbers(resource_quantities(problem, launch, &mut |number| number)))
}

fn in_numbers(q: ResourceQuantities<Int>) -> Option<ResourceTime> {
    let longest = q.units.max(&q.chain).max(&q.dram).max(&q.contention).max(&q.dispatch);
    let bottleneck = match longest.0? {
        t if t == q.units.0? => Bottleneck::Unit,
        t if t == q.chain.0? => Bottleneck::Chain,
        t if t == q.dram.0? => Bottleneck::Dram,
        t if t == q.contention.0? => Bottleneck::Contention,
        _ => Bottleneck::Dispatch,
    };
    Some(ResourceTime {
        time: q.clocks.0?,
        finish: 0,
        group: q.group.into_iter().map(|(r, t)| Some((r, t.0?))).collect::<Option<_>>()?,
        bottleneck,
        registers: q.registers.0?,
        spilled: q.spilled.0?,
        groups: q.held.0?,
        warps: q.held.times(&q.warps).0?,
        limit: limit(&q.bounds)?,
    })
}

/// The least bound; the first of several.
fn limit(bounds: &[(OccupancyLimit, Int)]) -> Option<OccupancyLimit> {
    let mut least = (i64::MAX, OccupancyLimit::Launch);
    for (limit, most) in bounds {
        if most.0? < least.0 {
            least = (most.0?, *limit);
        }
    }
    Some(least.1)
}
