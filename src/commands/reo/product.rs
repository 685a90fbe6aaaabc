//! The product that `tickbound reo compose` makes.

use tickbound_device::DeviceChoice;
use tickbound_reo::automaton::Automaton;
use tickbound_reo::connector::Connector;
use tickbound_reo::limits::{ProductLimits, Stopped};
use tickbound_reo::product::dense::{CellData, DenseError, Matrix, SparseForm};
use tickbound_reo::product::{implicit::Implicit, reachable::compose_shared, stepwise};
use tickbound_reo::symbol::NameId;
use tickbound_reo_opencl::{Explorer, Maker, MultiplierError, composed};
use tickbound_reo_stream::{StreamJob, Streamed};

use super::compose_args::{Args, Mode};
use super::load::parts;
use super::ranks::Ranks;
use super::shared::{device, devices};
use super::stream::Line;
use crate::commands::exit::{CliError, input};

/// The sizes of a product, with the automaton where there is one.
pub(super) struct Made {
    pub automaton: Option<Automaton>,
    pub states: String,
    pub transitions: String,
    pub names: usize,
    pub device: String,
    /// If it was made in blocks.
    pub streamed: Option<Streamed>,
}

fn whole(automaton: Automaton, device: String) -> Made {
    Made {
        states: automaton.states().to_string(),
        transitions: automaton.transitions().to_string(),
        names: automaton.alphabet().len(),
        device,
        streamed: None,
        automaton: Some(automaton),
    }
}

fn not_kept(streamed: Streamed, device: String) -> Made {
    Made {
        automaton: None,
        states: streamed.tally.states.to_string(),
        transitions: streamed.transitions().to_string(),
        names: streamed.names,
        device,
        streamed: Some(streamed),
    }
}

/// What a product is made of, and how.
pub(super) struct Work<'a> {
    pub args: &'a Args,
    pub connector: &'a Connector,
    /// Names to hide.
    pub names: &'a [NameId],
    pub limits: &'a ProductLimits<'a>,
    pub line: Line<'a>,
}

impl Work<'_> {
    /// The product; nothing where another rank has it.
    pub fn product(&self, ranks: &mut Ranks) -> Result<Option<Made>, CliError> {
        let args = self.args;
        if args.mode == Mode::Reachable && args.device != DeviceChoice::Cpu && !args.blocks.stream {
            return Err(input("--device is for --mode dense, and for --stream, which counts"));
        }
        match args.mode {
            Mode::Dense if self.is_counted() => self.in_blocks(ranks).map(Some),
            Mode::Reachable if args.blocks.stream => self.searched(ranks).map(Some),
            Mode::Reachable if args.minimize.is_none() => self.together(ranks),
            // Small between the steps, or made as a whole: the first rank does it.
            _ if !ranks.is_first() => Ok(None),
            Mode::Reachable => self.reachable().map(Some),
            Mode::Dense => self.dense().map(Some),
            Mode::Implicit => self.implicit().map(Some),
        }
    }

    /// Whether only the sizes of a dense product are to be known: no cell of it is kept.
    fn is_counted(&self) -> bool {
        let args = self.args;
        let is_kept = !self.names.is_empty() || args.minimize.is_some() || args.to.is_some();
        args.blocks.stream || !is_kept
    }

    fn reachable(&self) -> Result<Made, CliError> {
        Ok(whole(self.composed(&parts(self.connector))?, "cpu".into()))
    }

    /// The reachable product by all ranks, whole on the first one; else as [`Work::reachable`].
    fn together(&self, ranks: &mut Ranks) -> Result<Option<Made>, CliError> {
        let device = ranks.name("cpu");
        let Some(world) = ranks.world() else { return self.reachable().map(Some) };
        let made = compose_shared(&parts(self.connector), self.limits, world).map_err(input)?;
        let words = |stopped: Stopped| input(stopped.text(&self.connector.symbols));
        let hidden = |made| stepwise::hidden(made, self.names, self.limits).map_err(words);
        Ok(made.map(hidden).transpose()?.map(|automaton| whole(automaton, device)))
    }

    /// The reachable product in blocks.
    fn searched(&self, ranks: &mut Ranks) -> Result<Made, CliError> {
        let job = self.args.blocks.job(self.connector, self.limits, &self.line);
        if let Some(device) = devices(self.args.device)?.first() {
            let made = Explorer::new(device).map_err(input)?;
            return Ok(not_kept(job.explored(&made).map_err(input)?, device.name.clone()));
        }
        if ranks.is_first() && parts(self.connector).iter().any(|part| !part.is_plain()) {
            note!(
                "tickbound: --stream leaves data constraints out of the steps; steps that no data \
                 fulfil are left out"
            );
        }
        let streamed = job.reachable(&mut ranks.others()).map_err(input)?;
        Ok(not_kept(streamed, ranks.name("cpu")))
    }

    /// The parts' product, hidden and minimised as asked.
    fn composed(&self, parts: &[&Automaton]) -> Result<Automaton, CliError> {
        let minimise = self.args.minimize;
        let options = stepwise::StepwiseOptions { hidden: self.names.to_vec(), minimise };
        let plain = self.names.is_empty() && minimise.is_none() && self.args.to.is_none();
        let made =
            stepwise::compose(parts, &options, self.limits).map_err(|stopped| match stopped {
                Stopped::Memory { .. } if plain => {
                    input(format!("{stopped}; --stream counts, checks and writes it in blocks"))
                }
                stopped => input(stopped.text(&self.connector.symbols)),
            });
        Ok(made?.automaton)
    }

    /// The matrices of the parts.
    fn matrices(&self) -> Result<Vec<Matrix>, CliError> {
        let parts = parts(self.connector);
        if parts.iter().any(|part| !part.is_plain()) {
            note!("tickbound: a dense product has no data constraints; they are left out");
        }
        let matrix = |part: &&Automaton| Matrix::new(part, CellData::Ignore, self.limits);
        parts.iter().map(|part| matrix(part).map_err(input)).collect()
    }

    fn dense(&self) -> Result<Made, CliError> {
        let (matrices, limits) = (self.matrices()?, self.limits);
        let refused = |error| self.too_large(&matrices, error);
        let device = device(self.args.device)?;
        let (form, block) = (SparseForm::Standard, self.args.blocks.block.0);
        let made = composed(device.as_ref(), &matrices, form, block, limits).map_err(refused)?;
        let device = device.map_or_else(|| "cpu".into(), |device| device.name);
        if self.names.is_empty() && self.args.minimize.is_none() {
            return Ok(whole(made, device));
        }
        Ok(whole(self.composed(&[&made])?, device))
    }

    /// The error for a product that cannot be whole: also that it could be made in blocks, if so.
    fn too_large(&self, matrices: &[Matrix], error: MultiplierError) -> CliError {
        let memory =
            matches!(error, MultiplierError::Dense(DenseError::Stopped(Stopped::Memory { .. })));
        let (block, keep) = (self.args.blocks.block.0, self.args.blocks.dataset.is_some());
        let need = || StreamJob::need(block, keep, matrices, Maker::Threads);
        if memory && need() <= self.args.memory.0.into() {
            return input(format!("{error}; --stream counts, checks and writes it in blocks"));
        }
        input(error)
    }

    /// The dense product in blocks.
    fn in_blocks(&self, ranks: &mut Ranks) -> Result<Made, CliError> {
        let matrices = self.matrices()?;
        let devices = devices(self.args.device)?;
        let maker = if devices.is_empty() { Maker::Threads } else { Maker::Devices(&devices) };
        let job = self.args.blocks.job(self.connector, self.limits, &self.line);
        let streamed = job.dense(&matrices, maker, &mut ranks.others()).map_err(input)?;
        let mut made = not_kept(streamed, ranks.name(&maker.name()));
        // Without --stream only the sizes are wanted.
        made.streamed = made.streamed.filter(|all| self.args.blocks.stream || !all.is_complete());
        Ok(made)
    }

    fn implicit(&self) -> Result<Made, CliError> {
        if !self.names.is_empty() || self.args.minimize.is_some() || self.args.to.is_some() {
            return Err(input(
                "--mode implicit only counts; for --hide, --minimize and --to use --mode reachable",
            ));
        }
        let factors = self.connector.parts.iter().map(|part| part.automaton.clone()).collect();
        let product = Implicit::new(factors);
        Ok(Made {
            automaton: None,
            states: product.states().to_string(),
            transitions: product.transitions(self.limits).map_err(input)?.to_string(),
            names: product.alphabet().len(),
            device: "cpu".into(),
            streamed: None,
        })
    }
}
