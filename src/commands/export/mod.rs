//! `tickbound export`.

use tickbound_certificate::Refusal;
use tickbound_certificate::optimise::{OptimiserFormat, optimisation};
use tickbound_input::message::one_line;
use tickbound_model::t1;
use tickbound_solver::bracket::Bracket;
use tickbound_solver::symbolic::confirming_question;
use tickbound_solver::{Encoding, SolveError};
use tickbound_spin::promela::{self, Style};

mod btor2;

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
    /// Pseudo-Boolean solvers: a formula with the run time as its objective
    Opb,
    /// Constraint solvers: the same formula in FlatZinc
    Flatzinc,
    /// Z3 and OptiMathSAT: the parameters, the conditions, and the run time to minimize
    Smt2Minimize,
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
        Target::Btor2 => {
            let problem = args.question.problem()?;
            args.check()?;
            let encoding = args.encoding.unwrap_or_default();
            let text = btor2::text(&problem, encoding, args.faster_than)?;
            say_or_save(args.output.as_deref(), &text)?;
        }
        Target::Opb => write_optimisation(args, OptimiserFormat::Opb)?,
        Target::Flatzinc => write_optimisation(args, OptimiserFormat::FlatZinc)?,
        Target::Smt2Minimize => write_optimisation(args, OptimiserFormat::Smt2)?,
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
        SolveError::Uncovered(what) => CliError::not_written("smt2", &what.to_string()),
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

fn write_optimisation(args: &ExportArgs, format: OptimiserFormat) -> Result<(), CliError> {
    let problem = args.question.problem()?;
    args.check()?;
    let text = optimisation(&problem, format, &stop::is_due).map_err(|refusal| match refusal {
        Refusal::TooLarge(_) | Refusal::Obligation(_) => {
            let to = clap::ValueEnum::to_possible_value(&args.to);
            CliError::not_written(to.as_ref().map_or("", |to| to.get_name()), &refusal.to_string())
        }
        refusal => refusal.into(),
    })?;
    let about = format!("{}: the objective is the run time in ticks", one_line(&problem.name));
    let text = match format {
        // The first line is that of the format.
        OptimiserFormat::Opb => text.replacen('\n', &format!("\n* {about}\n"), 1),
        OptimiserFormat::FlatZinc => format!("% {about}\n{text}"),
        OptimiserFormat::Smt2 => format!("; {about}\n{text}"),
    };
    say_or_save(args.output.as_deref(), &text)
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
