//! `tickbound init --from-capture`.

use std::path::Path;

use tickbound_device::platform::shipped;
use tickbound_input::message::suggest;
use tickbound_propose::capture::{self, CapturedKernel};

use crate::commands::exit::{CliError, Exit};
use crate::commands::init::{self, InitArgs};
use crate::commands::output::save;
use crate::commands::stop;

/// Writes a problem file for each kernel of a capture, or for those of a name.
pub(in crate::commands) fn run(args: &InitArgs, folder: &Path) -> Result<Exit, CliError> {
    let capture = capture::read(folder)?;
    capture.notes.iter().for_each(|note| note!("tickbound: {note}"));
    let wanted = |kernel: &&CapturedKernel| args.kernel.as_ref().is_none_or(|n| *n == kernel.name);
    let kernels: Vec<&CapturedKernel> = capture.kernels.iter().filter(wanted).collect();
    if let (true, Some(name)) = (kernels.is_empty(), &args.kernel) {
        let fix = suggest(name, capture.kernels.iter().map(|kernel| kernel.name.as_str()));
        return Err(CliError::Input(format!("--kernel {name}: not in the capture; {fix}")));
    }
    let into = args.output.clone().unwrap_or_else(|| folder.join("problems"));
    if into == Path::new("-") {
        let why = "--output -: a capture makes several files; name a folder for them";
        return Err(CliError::Input(why.to_owned()));
    }
    std::fs::create_dir_all(&into)
        .map_err(|error| CliError::Write { path: into.display().to_string(), error })?;
    let mut sources = Vec::new();
    let (mut whole, mut left) = (true, 0);
    for (place, kernel) in kernels.iter().enumerate() {
        let before = kernels[..place].iter().filter(|other| other.name == kernel.name).count();
        let number = if before > 0 { format!("_{}", before + 1) } else { String::new() };
        match one(args, kernel, (&into, &number), &mut sources) {
            Ok(exit) => whole &= exit == Exit::Done,
            Err(error) if stop::reason().is_some() => return Err(error),
            Err(error) => {
                error!("tickbound: {error}");
                left += 1;
            }
        }
    }
    if left > 0 {
        note!("tickbound: {left} of {} kernels have no problem file", kernels.len());
    }
    Ok(Exit::found(whole && left == 0))
}

/// Writes the problem file of a kernel, and its source where no other has it.
fn one<'c>(
    args: &InitArgs,
    kernel: &'c CapturedKernel,
    (into, number): (&Path, &str),
    sources: &mut Vec<&'c str>,
) -> Result<Exit, CliError> {
    let text: &str = kernel.text()?;
    let place = sources.iter().position(|known| *known == text).unwrap_or_else(|| {
        sources.push(text);
        sources.len() - 1
    });
    let source = into.join(format!("program{place}.cl"));
    let known = std::fs::read_to_string(&source).ok();
    if !args.force && known.is_some_and(|known| known != text) {
        let why = "another source has that name; add --force to replace it";
        return Err(CliError::Input(format!("{}: {why}", source.display())));
    }
    save(&source, text)?;
    let mut own = args.clone();
    own.source = Some(source);
    own.entry = Some(kernel.name.clone());
    own.output = Some(into.join(format!("{}{number}.json", kernel.name)));
    own.platform = own.platform.or_else(|| shipped(&kernel.device).map(str::to_owned));
    own.captured = Some(kernel.clone());
    init::run(&own)
}
