//! The text that the preprocessor wrote: markers, names of files, stand-ins of symbols.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::lines::{is_word, quote};
use crate::request::ReadRequest;

/// The file, in line markers, of the declarations of open symbols.
pub(crate) const SYMBOLS: &str = "<symbols>";

/// What a symbol expands to until its value is known not to matter: unlike its own name, it shows
/// where a token was pasted together with it.
pub(super) fn stand_in(index: usize) -> String {
    format!("tickbound_symbol_{index}_")
}

/// Open symbols whose value the preprocessor needs: it warned that they are not defined in `#if`,
/// or they are part of a longer token, or clang needs a number where no tree can hold a name.
pub(super) fn asked(text: &str, messages: &str, open: &[String]) -> Vec<String> {
    let mut found = BTreeSet::new();
    let undefined = messages.lines().filter(|line| line.contains("is not defined"));
    let tokens = undefined.flat_map(tokens).filter(|token| is_stand_in(token));
    found.extend(tokens.filter_map(|token| indices(token).next()));
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        found.extend(tokens_of_code(line).filter(|t| !is_stand_in(t)).flat_map(indices));
    }
    for attribute in ["ext_vector_type", "vector_size", "aligned"] {
        for (at, _) in text.match_indices(attribute) {
            found.extend(indices(group(&text[at + attribute.len()..])));
        }
    }
    // Labels of one `switch` must differ.
    for (at, _) in text.match_indices("case") {
        let label = text[at..].split([':', ';', '{']).next().unwrap_or_default();
        if text[..at].ends_with(|c| !is_word(c))
            && label["case".len()..].starts_with(|c| !is_word(c))
        {
            found.extend(indices(label));
        }
    }
    found.into_iter().filter_map(|index| open.get(index).cloned()).collect()
}

/// `(...)` at the beginning of a text.
fn group(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth <= 1 => return &text[..at],
            ')' => depth -= 1,
            c if depth == 0 && !c.is_whitespace() => break,
            _ => {}
        }
    }
    ""
}

/// The numbers of the stand-ins in a text.
fn indices(text: &str) -> impl Iterator<Item = usize> {
    text.split("tickbound_symbol_").skip(1).filter_map(|rest| rest.split('_').next()?.parse().ok())
}

fn is_stand_in(token: &str) -> bool {
    indices(token).next().is_some_and(|index| token == stand_in(index))
}

/// Names and numbers in a line.
fn tokens(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c| !is_word(c)).filter(|token| !token.is_empty())
}

/// The same without texts and characters.
fn tokens_of_code(line: &str) -> impl Iterator<Item = &str> {
    let mut parts = Vec::new();
    let (mut start, mut inside, mut escaped) = (0, None, false);
    for (at, c) in line.char_indices() {
        match inside {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(quote) if c == quote => (inside, start) = (None, at + 1),
            None if c == '"' || c == '\'' => {
                parts.push(&line[start..at]);
                (inside, start) = (Some(c), line.len());
            }
            _ => {}
        }
    }
    parts.push(&line[start..]);
    parts.into_iter().flat_map(tokens)
}

/// The text with the names of symbols for their stand-ins.
pub(super) fn name(text: &str, open: &[String]) -> String {
    let stand_ins = open.iter().enumerate().map(|(index, name)| (stand_in(index), name));
    stand_ins.fold(text.to_owned(), |text, (stand_in, name)| text.replace(&stand_in, name))
}

/// The text with the names of open symbols, and their declarations in front.
pub(super) fn declare(body: &str, open: &[String], value: impl Fn(&str) -> i64) -> String {
    let mut declarations = format!("# 1 {}\n", quote(SYMBOLS));
    for (index, name) in open.iter().enumerate() {
        if body.contains(&stand_in(index)) {
            let value = match value(name) {
                i64::MIN => format!("{} - 1", i64::MIN + 1),
                value => value.to_string(),
            };
            declarations.push_str(&format!("enum {{ {name} = {value} }};\n"));
        }
    }
    declarations + &name(body, open)
}

/// The path from the root: the compiler runs in another folder.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Names of files, as the user writes them.
pub(super) struct Files {
    pub(super) source: String,
    /// Other source files.
    more: Vec<String>,
    /// Where folders for includes are, and what the user calls them.
    include: Vec<(PathBuf, String)>,
}

impl Files {
    #[cfg(test)]
    pub(super) fn new(source: &str) -> Files {
        Files { source: source.to_owned(), more: Vec::new(), include: Vec::new() }
    }

    pub(super) fn of(request: &ReadRequest) -> Files {
        let include = request.include.iter().map(|(name, path)| (absolute(path), name.clone()));
        Files {
            source: request.name.clone(),
            more: request.more.iter().map(|(name, _)| name.clone()).collect(),
            include: include.collect(),
        }
    }

    /// The user's name of a file that the preprocessor names: includes are relative to the source.
    pub(super) fn name(&self, file: &str) -> Arc<str> {
        for own in std::iter::once(&self.source).chain(&self.more) {
            if file == own || file == quote(own).trim_matches('"') {
                return Arc::from(own.as_str());
            }
        }
        for (folder, name) in &self.include {
            if let Ok(inside) = Path::new(file).strip_prefix(folder) {
                return Arc::from(Path::new(name).join(inside).to_string_lossy());
            }
        }
        let folder = Path::new(&self.source).parent().unwrap_or(Path::new(""));
        let plain: PathBuf = folder
            .join(file)
            .components()
            .filter(|component| *component != Component::CurDir)
            .collect();
        Arc::from(plain.to_string_lossy())
    }

    /// What follows the first line marker, with the user's names, and no pragmas but OpenCL's.
    pub(super) fn tidy(&self, text: &str) -> String {
        let first = format!("# 1 {}", quote(&self.source));
        let mut tidied = String::with_capacity(text.len());
        for line in text.lines().skip_while(|line| !line.starts_with(&first)) {
            if let Some((number, file)) = marker(line) {
                let name = quote(&self.name(file));
                tidied.push_str(&format!("# {number} {name}"));
            } else if !is_other_pragma(line) {
                tidied.push_str(line);
            }
            tidied.push('\n');
        }
        tidied
    }
}

/// The line and the file of `# 12 "file" 2`.
pub(super) fn marker(line: &str) -> Option<(u32, &str)> {
    let rest = line.strip_prefix("# ")?;
    let (number, rest) = rest.split_once(" \"")?;
    Some((number.parse().ok()?, &rest[..rest.rfind('"')?]))
}

fn is_other_pragma(line: &str) -> bool {
    let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
    let pragma = directive.and_then(|directive| directive.strip_prefix("pragma"));
    pragma.is_some_and(|rest| !rest.trim_start().starts_with("OPENCL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_tokens_are_asked() {
        let open = ["A", "B", "C"].map(String::from);
        let text = "# 1 \"tickbound_symbol_2_x\"\n\
                    int tickbound_symbol_0_ = x.tickbound_symbol_0_;\n\
                    floattickbound_symbol_1_ y = \"a\\\"tickbound_symbol_2_z\";";
        assert_eq!(asked(text, "", &open), ["B"]);
        let text = "float v __attribute__((ext_vector_type(2 * tickbound_symbol_2_)));";
        assert_eq!(asked(text, "", &open), ["C"]);
        let text =
            "case tickbound_symbol_1_: lowercase(tickbound_symbol_0_); casex tickbound_symbol_2_:";
        assert_eq!(asked(&format!(" {text}"), "", &open), ["B"]);
    }

    #[test]
    fn conditions_ask() {
        let open = ["A", "B"].map(String::from);
        let gcc =
            "a.cl:1:5: warning: \"tickbound_symbol_1_\" is not defined, evaluates to 0 [-Wundef]";
        assert_eq!(asked("", gcc, &open), ["B"]);
        let clang =
            "a.cl:1:5: warning: 'tickbound_symbol_0_' is not defined, evaluates to 0 [-Wundef]";
        assert_eq!(asked("", clang, &open), ["A"]);
    }

    #[test]
    fn files_are_relative_to_the_source() {
        let files = Files::new("kernels/a.cl");
        assert_eq!(&*files.name("./b.h"), "kernels/b.h");
        assert_eq!(&*files.name("kernels/a.cl"), "kernels/a.cl");
        assert_eq!(&*files.name("/c.h"), "/c.h");
        let text =
            "# 1 \"<stdin>\"\nx\n# 1 \"kernels/a.cl\"\na\n# 1 \"./b.h\" 1\n#pragma unroll 4\nb\n";
        assert_eq!(files.tidy(text), "# 1 \"kernels/a.cl\"\na\n# 1 \"kernels/b.h\"\n\nb\n");
    }
}
