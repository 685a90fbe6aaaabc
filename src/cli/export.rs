//! `tickbound export`.

use tickbound_model::t1;
use tickbound_solve::bracket::Bracket;
use tickbound_solve::unlisted::confirming_question;
use tickbound_spin::promela::{self, Style};

use super::exit::{CliError, Exit};
use super::load::Question;
use super::output::{Outputs, say_or_save};
use super::stop::{self, Memory, Timeout};
use super::values::named;

/// What a problem can be written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Target {
    /// SPIN
    Promela,
    /// SMT solvers: the question whether anything takes one tick less than the least time, which is
    /// unsatisfiable
    Smt2,
    /// Auto-tuners: the parameters, the conditions and the kernel as a T1 file
    T1,
}

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    timeout: Timeout,
    #[command(flatten)]
    memory: Memory,
    /// What to write
    #[arg(long, value_enum)]
    to: Target,
    /// How a Promela model is written
    #[arg(long, value_parser = named::<Style>(), default_value = "processes")]
    style: Style,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

impl Args {
    /// Refuses an output that cannot be written, or that the problem was read from.
    fn check(&self) -> Result<(), CliError> {
        let outputs = Outputs::default().file("--output", self.output.as_ref());
        outputs.check(&self.question.chosen.files())
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, CliError> {
    args.memory.watched();
    args.timeout.watched()?;
    match args.to {
        Target::Promela => write_promela(args)?,
        Target::Smt2 => write_smt2(args)?,
        Target::T1 => {
            let problem = args.question.read()?;
            args.check()?;
            let file = t1::write(&problem)?;
            say_or_save(args.output.as_deref(), &format!("{file:#}\n"))?;
        }
    }
    Ok(Exit::Done)
}

fn write_smt2(args: &Args) -> Result<(), CliError> {
    let problem = args.question.problem()?;
    args.check()?;
    let interrupt = stop::flag();
    let bracket = Bracket::new(None, interrupt, &|_| {});
    let Some((least, question)) = confirming_question(&problem, &bracket)? else {
        let why = bracket.stopped_by().map_or_else(
            || "there is no valid configuration, or the costs are too large for tables".to_owned(),
            |why| why.to_string(),
        );
        return Err(CliError::Input(format!("--to smt2: {why}")));
    };
    let about = format!(
        "; {}: the least time is {least} ticks. The question is whether any configuration takes {}\n\
         ; ticks or fewer; unsat confirms that none does.\n(set-logic QF_LIA)\n",
        problem.name.replace('\n', " "),
        least - 1
    );
    say_or_save(args.output.as_deref(), &(about + &question))
}

fn write_promela(args: &Args) -> Result<(), CliError> {
    let problem = args.question.problem()?;
    args.check()?;
    let space = problem.space()?;
    let model = promela::export(&problem, &space, &promela::Options { style: args.style })?;
    say_or_save(args.output.as_deref(), &model.text)?;
    if model.vector_bytes > 1024 {
        eprintln!(
            "tickbound: compile the verifier with -DVECTORSZ={}; a state is larger than SPIN's 1024 bytes",
            model.vector_bytes
        );
    }
    Ok(())
}
