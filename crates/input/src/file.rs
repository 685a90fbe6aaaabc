//! Files that a user names, read within limits.
//!
//! What goes in: a path, or `-` for standard input. What comes out: all that is in the file, if it
//! is a regular file of at most [`MOST`] bytes. What is promised: neither a device nor a pipe is
//! opened, so that reading ends; errors say what is wrong and, where it is not plain, what to do.
//! They are [`io::Error`]s, whose kind is `NotFound` for a file that is not there.
//!
//! ```
//! let error = tickbound_input::text("no-such-file.json").unwrap_err();
//! assert_eq!(error.to_string(), "there is no such file");
//! let error = tickbound_input::text(".").unwrap_err();
//! assert_eq!(error.to_string(), "this is a folder; name a file in it");
//! ```

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Most bytes of an input, also of what comes out of a packed one: 256 MiB.
pub const MOST: u64 = 256 << 20;

/// The text of a file in UTF-8, without a byte-order mark.
pub fn text(path: impl AsRef<Path>) -> io::Result<String> {
    decoded(bytes(path)?)
}

/// The text of a kernel's source, without a byte-order mark and
/// [raw quotes](crate::without_raw_quotes). What is no UTF-8 is replaced: compilers take any bytes
/// in comments.
///
/// # Errors
/// Those of [`bytes`].
pub fn source(path: impl AsRef<Path>) -> io::Result<String> {
    let bytes = bytes(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(crate::without_raw_quotes(text.to_owned()))
}

/// The bytes of a regular file, or of standard input if the path is `-`.
///
/// # Errors
/// There is no such file, it is a folder, a device or a pipe, it is too large, or it cannot be
/// read.
pub fn bytes(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let path = path.as_ref();
    if path == Path::new("-") {
        return within(MOST, io::stdin().lock());
    }
    regular(&std::fs::metadata(path).map_err(missing)?)?;
    let file = File::open(path).map_err(missing)?;
    // What was a file a moment ago may be another now.
    regular(&file.metadata()?)?;
    within(MOST, file)
}

/// All that a reader gives, if it is at most this many bytes.
///
/// # Errors
/// There is more, or the reader fails.
pub fn within(most: u64, reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

/// Bytes as text, without a byte-order mark.
///
/// # Errors
/// They are no UTF-8.
pub fn decoded(bytes: Vec<u8>) -> io::Result<String> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
        let what = format!("line {line} is no UTF-8; save the file as UTF-8");
        io::Error::new(ErrorKind::InvalidData, what)
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

fn missing(error: io::Error) -> io::Error {
    match error.kind() {
        kind @ (ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            io::Error::new(kind, "there is no such file")
        }
        _ => error,
    }
}

fn too_large(most: u64) -> io::Error {
    let what = format!("there are more than {most} bytes; at most so many are read");
    io::Error::new(ErrorKind::FileTooLarge, what)
}

/// Whether what was found is a regular file of at most [`MOST`] bytes.
///
/// # Errors
/// It is not.
pub fn regular(found: &std::fs::Metadata) -> io::Result<()> {
    if found.is_dir() {
        let what = "this is a folder; name a file in it";
        return Err(io::Error::new(ErrorKind::IsADirectory, what));
    }
    if !found.is_file() {
        let what =
            "this is no regular file; write it to one, or give - and pass it on standard input";
        return Err(io::Error::new(ErrorKind::InvalidInput, what));
    }
    if found.len() > MOST { Err(too_large(MOST)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn error(path: impl AsRef<Path>) -> (ErrorKind, String) {
        let error = text(path).unwrap_err();
        (error.kind(), error.to_string())
    }

    #[test]
    fn what_is_no_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(error(&path), (ErrorKind::NotFound, "there is no such file".to_owned()));
        std::fs::write(&path, "text").unwrap();
        assert_eq!(text(&path).unwrap(), "text");
        let below = error(path.join("b"));
        assert_eq!(below, (ErrorKind::NotADirectory, "there is no such file".to_owned()));
        assert_eq!(error(folder.path()).0, ErrorKind::IsADirectory);
    }

    #[cfg(unix)]
    #[test]
    fn neither_devices_nor_pipes_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [pipe.as_path(), link.as_path(), Path::new("/dev/zero")] {
            assert_eq!(error(path).0, ErrorKind::InvalidInput, "{}", path.display());
        }
        // A link to a file is as good as the file.
        std::fs::write(folder.path().join("file"), "text").unwrap();
        let other = folder.path().join("other");
        std::os::unix::fs::symlink(folder.path().join("file"), &other).unwrap();
        assert_eq!(text(other).unwrap(), "text");
    }

    #[test]
    fn only_so_much_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        File::create(&path).unwrap().set_len(MOST + 1).unwrap();
        assert_eq!(error(&path).0, ErrorKind::FileTooLarge);
        assert_eq!(within(3, &b"abc"[..]).unwrap(), b"abc");
        let more = within(3, &b"abcd"[..]).unwrap_err();
        assert_eq!(more.to_string(), "there are more than 3 bytes; at most so many are read");
    }

    #[test]
    fn text_is_utf_8() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        let write = |bytes: &[u8]| File::create(&path).unwrap().write_all(bytes).unwrap();
        write(b"\xef\xbb\xbfbegins with a mark\xef\xbb\xbf");
        assert_eq!(text(&path).unwrap(), "begins with a mark\u{feff}");
        write(b"a\nb\xff\nc");
        let wanted = "line 2 is no UTF-8; save the file as UTF-8".to_owned();
        assert_eq!(error(&path), (ErrorKind::InvalidData, wanted));
        assert_eq!(source(&path).unwrap(), "a\nb\u{fffd}\nc");
        write(b"");
        assert_eq!(text(&path).unwrap(), "");
    }
}
