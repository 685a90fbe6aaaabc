//! `tickbound init --from-capture`.

use std::path::Path;

use tickbound_device::platform::shipped;
use tickbound_input::message::suggest;
use tickbound_model::platforms;
use tickbound_propose::capture::{self, CapturedKernel};
use tickbound_propose::{Wishes, print, propose};

use super::exit::{CliError, Exit};
use super::init::{InitArgs, platform, present};
use super::load::setup;
use super::output::{save, say_folded};
use super::progress::Progress;
use super::stop;

/// Writes a problem file for each kernel of a capture, or for those of a name.
pub(super) fn run(args: &InitArgs, folder: &Path) -> Result<Exit, CliError> {
    args.watch()?;
    let capture = capture::read(folder)?;
    capture.notes.iter().for_each(|note| note!("tickbound: {note}"));
    let wanted = |kernel: &&CapturedKernel| args.kernel.as_ref().is_none_or(|n| *n == kernel.name);
    let kernels: Vec<&CapturedKernel> = capture.kernels.iter().filter(wanted).collect();
    if let (true, Some(name)) = (kernels.is_empty(), &args.kernel) {
        let fix = suggest(name, capture.kernels.iter().map(|kernel| kernel.name.as_str()));
        return Err(CliError::Input(format!("--kernel {name}: not in the capture; {fix}")));
    }
    let into = args.output.clone().unwrap_or_else(|| folder.join("problems"));
    std::fs::create_dir_all(&into)
        .map_err(|error| CliError::Write { path: into.display().to_string(), error })?;
    let mut sources = Vec::new();
    let mut left = 0;
    for (place, kernel) in kernels.iter().enumerate() {
        let before = kernels[..place].iter().filter(|other| other.name == kernel.name).count();
        match one(args, kernel, before, (&into, &mut sources)) {
            Ok(text) => say_folded(&text)?,
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
    Ok(Exit::found(left == 0))
}

/// Writes the problem file of a kernel, and its source where no other has it.
fn one<'c>(
    args: &InitArgs,
    kernel: &'c CapturedKernel,
    before: usize,
    (into, sources): (&Path, &mut Vec<&'c str>),
) -> Result<String, CliError> {
    let text = kernel.text()?;
    let place = sources.iter().position(|known| *known == &**text).unwrap_or_else(|| {
        sources.push(text);
        sources.len() - 1
    });
    let number = if before > 0 { format!("_{}", before + 1) } else { String::new() };
    let file = into.join(format!("{}{number}.json", kernel.name));
    let source = into.join(format!("program{place}.cl"));
    let known = std::fs::read_to_string(&source).ok();
    for (path, there) in [(&file, file.exists()), (&source, known.is_some_and(|k| k != **text))] {
        if there && !args.force {
            let why = "it exists; add --force to replace it, or choose another folder";
            return Err(CliError::Input(format!("{}: {why}", path.display())));
        }
    }
    save(&source, text)?;
    let (name, why) = match args.platform.as_deref().or_else(|| shipped(&kernel.device)) {
        Some(name) => (name, None),
        None => {
            let (name, why) = present();
            (name, Some(why))
        }
    };
    let (captured, entry) = (Some(kernel.clone()), Some(kernel.name.clone()));
    let wishes = Wishes { captured, entry, ..args.wishes(platform(args, name))? };
    let progress = Progress::new(&format!("reading {}", kernel.name));
    let mut proposal = propose(&source, &wishes, &platforms::find, &setup()?)?;
    drop(progress);
    proposal.notes.extend(why);
    save(&file, &print(&proposal.problem))?;
    let mut said = format!("{}: kernel `{}`\n", source.display(), kernel.name);
    proposal.notes.iter().for_each(|note| said += &format!("  {note}\n"));
    said += &format!("written: {}\n", file.display());
    if let Some(fault) = &proposal.fault {
        said += &format!("missing: {fault}\n");
    }
    Ok(said)
}
