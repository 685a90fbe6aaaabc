//! The files that a source includes, found without running a preprocessor.
//!
//! A preprocessor opens any file that is named: a device that has no end, or a pipe. So the files
//! are checked before. Lines in comments and in branches that are not taken count as well; names
//! that are made by macros are left to the limits of the compiler.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;

use crate::ast::SourcePlace;
use crate::error::ReadError;
use crate::lines::{include_name, is_library};

/// The texts of all files that `text` includes, and that those include, by the names in their
/// `#include` lines, if they are found in `folders`. `name` is the text's file in messages.
///
/// # Errors
/// One of them is no regular file, or is too large, or cannot be read.
pub fn included(
    name: &str,
    text: &str,
    folders: &[PathBuf],
) -> Result<IndexMap<String, String>, ReadError> {
    let mut found = IndexMap::new();
    let mut open = vec![(name.to_owned(), text.to_owned())];
    while let Some((file, text)) = open.pop() {
        for (line, wanted) in lines(&text) {
            if found.contains_key(wanted) || is_library(wanted) {
                continue;
            }
            let paths = folders.iter().map(|folder| folder.join(wanted));
            // A folder may have the name of a header: `iterator`.
            let found_at = paths.into_iter().find(|path| path.exists() && !path.is_dir());
            let Some(path) = found_at else { continue };
            let inner = read(&path).map_err(|why| {
                let at = SourcePlace { file: Arc::from(file.as_str()), line, column: 0 };
                let what = format!("`{wanted}` cannot be included: {why}");
                ReadError::at(&at, what, "remove the line, or put what it gives into a file")
            })?;
            found.insert(wanted.to_owned(), inner.clone());
            open.push((wanted.to_owned(), inner));
        }
    }
    Ok(found)
}

fn read(path: &Path) -> Result<String, String> {
    if !path.is_file() {
        return Err("this is no regular file".to_owned());
    }
    tickbound_input::source(path).map_err(|error| error.to_string())
}

/// Line numbers, from 1, and names of `#include "name"` and `#include <name>`.
fn lines(text: &str) -> impl Iterator<Item = (u32, &str)> {
    (1..).zip(text.lines()).filter_map(|(number, line)| Some((number, include_name(line)?)))
}
