//! Inputs of a problem that its source uses as macros.

use std::path::{Path, PathBuf};

use tickbound_expr::Expr;
use tickbound_model::Problem;
use tickbound_model::source::Define;

use crate::outline::Outline;
use crate::preprocess::included;

/// The text of source files, concatenated, with what they include from their folder or the
/// other ones. `None` if one cannot be read.
pub fn text_of(files: &mut dyn Iterator<Item = PathBuf>, include: &[PathBuf]) -> Option<String> {
    let (mut text, mut first) = (String::new(), None);
    for path in files {
        text += &tickbound_input::source(&path).ok()?;
        text.push('\n');
        first.get_or_insert(path);
    }
    let first = first?;
    let own = first.parent().map(Path::to_path_buf).unwrap_or_default();
    let folders: Vec<_> = std::iter::once(own).chain(include.iter().cloned()).collect();
    let name = first.to_string_lossy();
    for file in included(&name, &text, &folders).unwrap_or_default().into_values() {
        text += &file;
        text.push('\n');
    }
    Some(text)
}

/// Makes macros of the inputs of a problem that its source uses and does not declare, unless
/// `kernel.defines` names them. A source that cannot be read is missed where it is needed.
pub fn inputs_as_macros(problem: &mut Problem, folder: &Path) {
    let Some(source) = &mut problem.source else { return };
    let known = |name: &String| source.defines.iter().any(|(define, _)| define == name);
    // Inputs have the first slots.
    let inputs: Vec<(usize, &String)> =
        problem.inputs.keys().enumerate().filter(|(_, name)| !known(name)).collect();
    if inputs.is_empty() {
        return;
    }
    let mut paths = std::iter::once(&source.path).chain(&source.more).map(|path| folder.join(path));
    let include: Vec<_> = source.include.iter().map(|path| folder.join(path)).collect();
    let Some(text) = text_of(&mut paths, &include) else { return };
    let outline = Outline::of(&text);
    let is_macro = |name: &str| outline.uses(name) && !outline.declares(name);
    for (slot, name) in inputs.into_iter().filter(|(_, name)| is_macro(name)) {
        source.defines.push((name.clone(), Define::Number(Expr::Name(slot))));
    }
}
