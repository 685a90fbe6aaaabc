//! `tickbound reo check --device`.

use std::collections::BTreeSet;
use std::slice;

use tickbound_device::Device;
use tickbound_reo::check::LtlFormula;
use tickbound_reo::connector::Connector;
use tickbound_reo::constraint::DataConstraint;
use tickbound_reo::limits::ProductLimits;
use tickbound_reo::product::halves::Halves;
use tickbound_reo::symbol::NameId;
use tickbound_reo_opencl::{Clause, ExploreSizes, Explorer, clauses};

use super::load::parts;
use crate::commands::exit::{CliError, input};

/// The names that fire in each step of a run; a device knows no constraints.
type Run = Vec<(Vec<NameId>, DataConstraint)>;

/// What a device has found.
pub(super) enum Searched {
    /// A shortest run to a state that no step leaves, if there is one.
    Deadlock(Option<Run>),
    /// No reachable step breaks an invariant.
    Holds,
    /// A shortest run whose last step breaks an invariant, and its names.
    Broken { invariant: String, run: Run, names: BTreeSet<NameId> },
}

impl Searched {
    /// Looks for a run that breaks one of `invariants`; without any, for a deadlock.
    pub fn new(
        connector: &Connector,
        invariants: &[String],
        device: &Device,
        limits: &ProductLimits,
    ) -> Result<Searched, CliError> {
        let halves = Halves::new(&parts(connector), limits).map_err(input)?;
        let explorer = Explorer::new(device).map_err(input)?;
        let shortest = |clauses: Option<&[Clause]>| -> Result<Option<Run>, CliError> {
            let found = explorer.shortest(&halves, clauses, ExploreSizes::default(), limits);
            Ok(found.map_err(input)?.map(|labels| run(&halves, &labels)))
        };
        if invariants.is_empty() {
            return Ok(Searched::Deadlock(shortest(None)?));
        }
        for text in invariants {
            let (names, kept) = kept(connector, &halves, text)?;
            if let Some(run) = shortest(Some(&kept))? {
                return Ok(Searched::Broken { invariant: text.clone(), run, names });
            }
        }
        Ok(Searched::Holds)
    }
}

fn run(halves: &Halves, labels: &[u64]) -> Run {
    let fire = |label: &u64| {
        let names = halves.alphabet.iter().enumerate();
        names.filter(|(bit, _)| label >> bit & 1 == 1).map(|(_, name)| *name).collect()
    };
    labels.iter().map(|label| (fire(label), DataConstraint::default())).collect()
}

/// The names of an invariant, and the clauses that its steps fulfil; silent steps do.
fn kept(
    connector: &Connector,
    halves: &Halves,
    text: &str,
) -> Result<(BTreeSet<NameId>, Vec<Clause>), CliError> {
    let formula = LtlFormula::parse(text, &halves.alphabet, &connector.symbols)
        .map_err(|e| input(format!("--invariant: {e}")))?;
    let mut names = BTreeSet::new();
    formula.names(&mut names);
    let all = clauses(slice::from_ref(&formula), &halves.alphabet).ok_or_else(|| {
        input(format!("--invariant: `{text}` has too many names for a device; leave --device out"))
    })?;
    let silent = (0, u64::MAX);
    Ok((names, [vec![silent], all].concat()))
}
