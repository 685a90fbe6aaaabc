//! Requests, texts and readings as bytes, in postcard's format.
//!
//! Each place in the source names its file; a message has one table of these names, in front.

use std::cell::RefCell;
use std::sync::Arc;

use indexmap::IndexSet;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tickbound_model::ModelError;

thread_local! {
    /// The files of the message that this thread writes or reads.
    static FILES: RefCell<IndexSet<Arc<str>>> = RefCell::default();
}

/// The bytes of a value; empty if it cannot be written, which no reader accepts.
pub(crate) fn write(value: &impl Serialize) -> Vec<u8> {
    FILES.take();
    let body = postcard::to_allocvec(value).unwrap_or_default();
    let files = FILES.take();
    let files: Vec<&str> = files.iter().map(|file| &**file).collect();
    [postcard::to_allocvec(&files).unwrap_or_default(), body].concat()
}

/// The value that bytes are; `None` if they are none.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (files, body): (Vec<&str>, _) = postcard::take_from_bytes(bytes).ok()?;
    FILES.replace(files.into_iter().map(Arc::from).collect());
    let value = postcard::take_from_bytes(body);
    FILES.take();
    value.ok().filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value)
}

/// The name of a file, as its number in the message's table.
pub(crate) mod file {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(file: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
        let (number, _) = FILES.with_borrow_mut(|files| files.insert_full(Arc::clone(file)));
        number.serialize(to)
    }

    pub(crate) fn deserialize<'b, D: Deserializer<'b>>(from: D) -> Result<Arc<str>, D::Error> {
        let number = usize::deserialize(from)?;
        let file = FILES.with_borrow(|files| files.get_index(number).cloned());
        file.ok_or_else(|| D::Error::custom("no such file"))
    }
}

/// Answers for loops or branches, each under its key's text.
pub(crate) mod answers {
    use tickbound_model::source::QuestionKey;

    use super::*;

    pub(crate) fn serialize<S: Serializer, T: Serialize>(
        answers: &[(QuestionKey, T)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(answers.iter().map(|(key, answer)| (key.to_string(), answer)))
    }

    pub(crate) fn deserialize<'b, D: Deserializer<'b>, T: Deserialize<'b>>(
        from: D,
    ) -> Result<Vec<(QuestionKey, T)>, D::Error> {
        let answers = Vec::<(String, T)>::deserialize(from)?.into_iter();
        let known = answers.map(|(key, answer)| Some((QuestionKey::read(&key)?, answer)));
        known.collect::<Option<_>>().ok_or_else(|| D::Error::custom("no such question"))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ModelError")]
pub(crate) struct ModelErrorFields {
    at: String,
    what: String,
    fix: String,
}
