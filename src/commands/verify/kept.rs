//! The problem without what is refuted, as a file.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tickbound_safety::answer::Safety;

use crate::commands::exit::CliError;
use crate::commands::load::Chosen;
use crate::commands::output::save;

/// Paths of a problem file count from its folder, so another one has to be there, too.
pub(super) fn check_folder(file: &Path, chosen: &Chosen) -> Result<(), CliError> {
    let folder = |path: &Path| path.parent().map(Path::to_path_buf).unwrap_or_default();
    if chosen.problem == "-" || folder(file) != chosen.folder() {
        let name = file.file_name().map(PathBuf::from).unwrap_or_default();
        let right = chosen.folder().join(name);
        return Err(CliError::Input(format!(
            "--keep-safe {}: paths of the problem count from its folder; write {}",
            file.display(),
            right.display()
        )));
    }
    Ok(())
}

/// Writes the problem with the conditions that leave out what is refuted.
pub(super) fn write(file: &Path, chosen: &Chosen, safety: &Safety) -> Result<(), CliError> {
    if let Some(reason) = safety.not_kept.as_deref().or(safety.stopped.then_some("stopped")) {
        eprintln!("{}: not written: {reason}", file.display());
        return Ok(());
    }
    let mut problem = chosen.value()?;
    if !safety.kept.is_empty() {
        let constraints = problem
            .as_object_mut()
            .map(|fields| fields.entry("constraints").or_insert(Value::Array(Vec::new())));
        if let Some(Value::Array(constraints)) = constraints {
            constraints.extend(safety.kept.iter().cloned().map(Value::from));
        }
    }
    save(file, &tickbound_propose::print(&problem))?;
    eprintln!("{}: {} conditions added", file.display(), safety.kept.len());
    Ok(())
}
