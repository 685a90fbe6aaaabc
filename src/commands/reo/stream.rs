//! `tickbound reo compose --stream`: a product that is counted, checked, summed and written in
//! blocks, and never whole.

use std::any::Any;
use std::path::Path;

use serde_json::{Map, Value, json};
use tickbound_reo::connector::Connector;
use tickbound_reo::constraint::DataConstraint;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo_stream::{StreamExtent, StreamJob, StreamObserver, Streamed};

use super::steps::step;
use crate::commands::progress::Progress;
use crate::commands::stop;
use crate::commands::values::ByteSize;

/// Options of a product in blocks.
#[derive(Debug, clap::Args)]
pub(super) struct StreamArgs {
    /// Make a dense or reachable product in blocks that are not kept, whatever its size: count its
    /// steps and the states that are stuck, and sum up a checksum. States for which there is no
    /// memory are kept in TMPDIR
    #[arg(long)]
    pub stream: bool,
    /// With --stream, cells that are made at once; with --dataset, steps of a file
    #[arg(long, value_name = "SIZE", default_value = "64M", requires = "stream")]
    pub block: ByteSize,
    /// With --stream, a condition on the names that fire in a step, such as 'a -> !b': steps that
    /// break it are counted
    #[arg(long, value_name = "FORMULA", requires = "stream")]
    pub invariant: Vec<String>,
    /// With --stream, write all steps into this folder, block by block, as Parquet files; what is
    /// there already is verified and gone on with
    #[arg(long, value_name = "DIR", requires = "stream", conflicts_with = "invariant")]
    pub dataset: Option<String>,
    /// With --dataset, a condition on the names that fire in a step: only steps that fulfil it are
    /// written
    #[arg(long, value_name = "FORMULA", requires = "dataset")]
    pub filter: Option<String>,
}

impl StreamArgs {
    /// The job that they ask for.
    pub(super) fn job<'a>(
        &'a self,
        connector: &'a Connector,
        limits: &'a ProductLimits<'a>,
        observer: &'a Line<'a>,
    ) -> StreamJob<'a> {
        StreamJob {
            connector,
            block: self.block.0,
            invariants: &self.invariant,
            dataset: self.dataset.as_deref().map(Path::new),
            filter: self.filter.as_deref(),
            limits,
            observer,
        }
    }
}

/// Shows how far a job is.
pub(super) struct Line<'a>(pub &'a Progress);

impl StreamObserver for Line<'_> {
    fn say(&self, text: String) {
        self.0.say(text);
    }

    fn writing(&self) -> Box<dyn Any + Send> {
        Box::new(stop::writing())
    }
}

/// Besides the sizes, line by line.
pub(super) fn text(streamed: &Streamed, connector: &Connector) -> String {
    let tally = &streamed.tally;
    let mut text = String::from("  ");
    if streamed.idle {
        text += &format!("with idle loops {} transitions, ", tally.checksum.steps);
    }
    match streamed.extent {
        StreamExtent::Search { levels: Some(done), .. } => text += &format!("{done} levels\n"),
        _ => text += &format!("checksum {:016x}\n", tally.digest),
    }
    match tally.first_stuck {
        Some(first) => {
            text += &format!("  {} states are stuck, the first is {first}\n", tally.stuck)
        }
        None if tally.stuck > 0 => text += &format!("  {} states are stuck\n", tally.stuck),
        None => {}
    }
    match (tally.first_broken, broken(streamed, connector)) {
        (Some((from, to, _)), Some(names)) => {
            text += &format!(
                "  {} steps break the invariant, the first goes from state {from} to {to}: \
                 {names}\n",
                tally.broken
            );
        }
        _ if tally.broken > 0 => {
            text += &format!("  {} steps break the invariant\n", tally.broken);
        }
        _ if streamed.conditional => text += "  every step keeps the invariant\n",
        _ => {}
    }
    match streamed.extent {
        _ if streamed.is_complete() => {}
        StreamExtent::Search { .. } => {
            text += &format!("  stopped after {} states: this is of these alone\n", tally.states);
        }
        StreamExtent::Blocks { done, blocks, states } => {
            text += &format!(
                "  stopped after {done} of {blocks} blocks, {} of {states} states: this is of \
                 these alone\n",
                tally.states
            );
        }
    }
    text
}

/// The same as members of an object.
pub(super) fn add_to(object: &mut Map<String, Value>, streamed: &Streamed, connector: &Connector) {
    let tally = &streamed.tally;
    if streamed.idle {
        object.insert("algebraic_transitions".into(), json!(tally.checksum.steps));
    }
    if let StreamExtent::Search { levels: Some(done), .. } = streamed.extent {
        object.insert("levels".into(), json!(done));
    } else {
        object.insert("checksum".into(), json!(format!("{:016x}", tally.digest)));
        object.insert("first_stuck".into(), json!(tally.first_stuck));
    }
    object.insert("stuck".into(), json!(tally.stuck));
    if streamed.conditional {
        let first = tally.first_broken.zip(broken(streamed, connector));
        let first =
            first.map(|((from, to, _), names)| json!({ "from": from, "to": to, "names": names }));
        object.insert("broken".into(), json!(tally.broken));
        object.insert("first_broken".into(), json!(first));
    }
    if let StreamExtent::Blocks { done, blocks, .. } = streamed.extent {
        object.insert("blocks".into(), json!(blocks));
        object.insert("blocks_done".into(), json!(done));
    } else {
        object.insert("complete".into(), json!(streamed.is_complete()));
    }
}

/// The names of the first step that breaks a condition, as text.
fn broken(streamed: &Streamed, connector: &Connector) -> Option<String> {
    let names = streamed.broken.as_ref();
    names.map(|names| step(connector, names, &DataConstraint::default()))
}
