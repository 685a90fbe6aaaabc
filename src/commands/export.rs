//! `tickbound export`.

use tickbound_encodings::btor2::{self, Btor2Survey, SurveyError};
use tickbound_encodings::plan::{Plan, PlanError};
use tickbound_input::message::one_line;
use tickbound_model::{Problem, Space, t1};
use tickbound_simulator::simulate;
use tickbound_solver::bracket::Bracket;
use tickbound_solver::prepare::{no_run, no_system};
use tickbound_solver::symbolic::confirming_question;
use tickbound_solver::{Encoding, SolveError};
use tickbound_spin::promela::{self, Style};

use super::exit::{CliError, Exit};
use super::load::Question;
use super::output::{Outputs, say_or_save};
use super::stop::{self, Stops};
use super::values::named;

/// What a problem can be written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Target {
    /// SPIN
    Promela,
    /// SMT solvers: the question whether anything takes one tick less than the least time, which is
    /// unsatisfiable
    Smt2,
    /// Word-level model checkers: the transition system, and as its bad state that a run takes less
    /// than the least time, which none reaches
    Btor2,
    /// Auto-tuners: the parameters, the conditions and the kernel as a T1 file
    T1,
}

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    stops: Stops,
    /// What to write
    #[arg(long, value_enum)]
    to: Target,
    /// How a Promela model is written
    #[arg(long, value_parser = named::<Style>(), default_value = "processes")]
    style: Style,
    /// How time is encoded in BTOR2 [default: summary]
    #[arg(long, value_parser = named::<Encoding>())]
    encoding: Option<Encoding>,
    /// Ask for a run of fewer ticks than this in BTOR2 [default: the least time]
    #[arg(long, value_name = "TICKS", value_parser = clap::value_parser!(i64).range(1..))]
    faster_than: Option<i64>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl ExportArgs {
    /// Refuses options that the target does not have.
    fn fitting(&self) -> Result<(), CliError> {
        let given = [
            ("--encoding", self.encoding.is_some()),
            ("--faster-than", self.faster_than.is_some()),
        ];
        match given.iter().find(|(_, given)| *given && self.to != Target::Btor2) {
            Some((option, _)) => {
                Err(CliError::Input(format!("{option}: only for --to btor2; leave it out")))
            }
            None => Ok(()),
        }
    }

    /// Refuses an output that cannot be written, or that the problem was read from.
    fn check(&self) -> Result<(), CliError> {
        let outputs = Outputs::default().file("--output", self.output.as_ref());
        outputs.check(&self.question.chosen.files())
    }
}

pub(super) fn run(args: &ExportArgs) -> Result<Exit, CliError> {
    args.stops.watched()?;
    args.fitting()?;
    match args.to {
        Target::Promela => write_promela(args)?,
        Target::Smt2 => write_smt2(args)?,
        Target::Btor2 => write_btor2(args)?,
        Target::T1 => {
            let problem = args.question.read()?;
            args.check()?;
            let file = t1::write(&problem)?;
            say_or_save(args.output.as_deref(), &format!("{file:#}\n"))?;
        }
    }
    Ok(Exit::Done)
}

fn write_smt2(args: &ExportArgs) -> Result<(), CliError> {
    let problem = args.question.problem()?;
    args.check()?;
    let interrupt = stop::flag();
    let bracket = Bracket::new(None, interrupt, &|_| {});
    let confirmed = confirming_question(&problem, &bracket).map_err(|e| match e {
        SolveError::Uncovered(what) => without("smt2", &what.to_string()),
        e => e.into(),
    });
    let Some((least, question)) = confirmed? else {
        let why = bracket.stopped_by().map_or_else(
            || "there is no valid configuration, or the costs are too large for tables".to_owned(),
            |why| why.to_string(),
        );
        return Err(CliError::Input(format!("--to smt2: {why}")));
    };
    let about = format!(
        "; {}: the least time is {least} ticks. The question is whether any configuration takes \
         {}\n\
         ; ticks or fewer; unsat confirms that none does.\n(set-logic QF_LIA)\n",
        one_line(&problem.name),
        least - 1
    );
    say_or_save(args.output.as_deref(), &(about + &question))
}

/// Most steps of a run: those of `tick` go with the time.
const MAX_STEPS: usize = 1_000_000;

fn write_btor2(args: &ExportArgs) -> Result<(), CliError> {
    let problem = args.question.problem()?;
    args.check()?;
    let encoding = args.encoding.unwrap_or_default();
    let space = problem.space()?;
    let plan = Plan::new(&problem, &space).map_err(without_steps)?;
    let encoded = encoding.encode(&plan);
    let system = encoded.map_err(|e| no_system(&problem, &space, encoding, e))?.system;
    let survey = btor2::survey(&system, MAX_STEPS, &stop::is_due).map_err(|e| match e {
        SurveyError::Run(c, e) => no_run(&problem, &space, encoding, c, e).into(),
        SurveyError::Empty | SurveyError::Stopped => CliError::Input(format!("--to btor2: {e}")),
    })?;
    simulated(&problem, &space, &survey)?;
    let title = format!("{}, encoding {encoding}", problem.name);
    let bound = args.faster_than.unwrap_or(survey.least.1);
    let text = btor2::write(&system, &survey, &title, bound).map_err(SolveError::from)?;
    say_or_save(args.output.as_deref(), &text)
}

/// The simulator confirms the encoding's time of the fastest configuration.
fn simulated(problem: &Problem, space: &Space, survey: &Btor2Survey) -> Result<(), CliError> {
    let (c, ticks) = survey.least;
    let time = simulate(problem, &space.bound[c], &Default::default())?.time;
    if time == ticks {
        return Ok(());
    }
    let configuration = &space.bound[c].configuration;
    Err(SolveError::disagreement(problem, configuration, ticks, Some(time)).into())
}

/// Why there is no transition system to write.
fn without_steps(error: PlanError) -> CliError {
    let what = match error {
        PlanError::OpenSchedule => "platform.warps: the schedule is open",
        PlanError::Resources => "profile resources: the time is one expression",
        other => return SolveError::from(other).into(),
    };
    without("btor2", &format!("{what}, and no encoding has steps for that"))
}

/// Why a format cannot have the problem.
fn without(format: &str, what: &str) -> CliError {
    CliError::Input(format!("--to {format}: {what}; `tickbound tune` finds the least time without"))
}

fn write_promela(args: &ExportArgs) -> Result<(), CliError> {
    let problem = args.question.problem()?;
    args.check()?;
    let space = problem.space()?;
    let model = promela::export(&problem, &space, &promela::PromelaOptions { style: args.style })?;
    say_or_save(args.output.as_deref(), &model.text)?;
    if model.vector_bytes > 1024 {
        note!(
            "tickbound: compile the verifier with -DVECTORSZ={}; a state is larger than SPIN's \
             1024 bytes",
            model.vector_bytes
        );
    }
    Ok(())
}
