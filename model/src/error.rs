//! What is wrong with a problem, said so that it can be fixed.

use std::fmt;

use thiserror::Error;

/// A fault in a problem or a platform: where it is, what it is and how to fix it.
///
/// It prints as one line, `where: what; fix`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ModelError {
    /// The field, as a path such as `kernel[0].body[1].until`.
    pub at: String,
    /// What is wrong there.
    pub what: String,
    /// What to write or do instead; may be empty.
    pub fix: String,
}

impl ModelError {
    /// A fault at `at`.
    pub fn new(at: impl Into<String>, what: impl Into<String>, fix: impl Into<String>) -> Self {
        ModelError { at: at.into(), what: what.into(), fix: fix.into() }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |s: &str| s.replace(['\n', '\r'], " ");
        write!(f, "{}: {}", line(&self.at), line(&self.what))?;
        if !self.fix.is_empty() {
            write!(f, "; {}", line(&self.fix))?;
        }
        Ok(())
    }
}

/// ` (did you mean `x`?)` for the candidate nearest to `name`, or the list of candidates.
pub(crate) fn suggest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let candidates: Vec<&str> = candidates.collect();
    let near = candidates
        .iter()
        .map(|c| (strsim::damerau_levenshtein(&name.to_lowercase(), &c.to_lowercase()), *c))
        .filter(|(distance, c)| *distance <= 1.max(c.len() / 3))
        .min();
    match near {
        Some((_, c)) => format!("did you mean `{c}`?"),
        None if candidates.is_empty() => "nothing is known here".into(),
        None => format!("known here: {}", candidates.join(", ")),
    }
}
