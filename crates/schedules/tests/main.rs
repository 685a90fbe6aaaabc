//! Exploration by counted warps: against the simulator's, which follows every schedule.

mod oracle;
mod scale;
