//! A compiler's messages, in one line.

/// The first error of a compiler's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, as the compiler calls it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What is wrong.
    pub text: String,
}

/// The first error that has a line: `FILE:LINE:COLUMN: error: TEXT` as Clang and GCC write it,
/// `error: FILE:LINE:COLUMN: TEXT` as PoCL does, `"FILE", line LINE: error: TEXT` as compilers on
/// EDG's front end do, `FILE(LINE): error: TEXT` as NVRTC does.
pub fn first_error(log: &str) -> Option<Diagnostic> {
    log.lines().find_map(|line| clang(line).or_else(|| pocl(line)).or_else(|| edg(line)))
}

/// The first line of a log that states something.
pub fn first_line(log: &str) -> &str {
    log.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no reason given")
}

fn clang(line: &str) -> Option<Diagnostic> {
    let kinds = [": error: ", ": fatal error: ", ": catastrophic error: "];
    let at = kinds.iter().find_map(|kind| line.find(kind))?;
    let text = line[at..].split_once("error: ")?.1;
    match line[..at].strip_suffix(')').and_then(|place| place.rsplit_once('(')) {
        Some((file, number)) => placed(&format!("{file}:{number}"), text),
        None => placed(&line[..at], text),
    }
}

fn pocl(line: &str) -> Option<Diagnostic> {
    let rest = line.trim_start();
    let rest = rest.strip_prefix("error: ").or_else(|| rest.strip_prefix("fatal error: "))?;
    let (place, text) = rest.split_once(": ")?;
    placed(place, text)
}

/// From `FILE:LINE:COLUMN` or `FILE:LINE`.
fn placed(place: &str, text: &str) -> Option<Diagnostic> {
    let mut place = place.rsplitn(3, ':');
    let (last, second) = (place.next()?, place.next()?);
    let (file, line) = match (second.parse(), last.parse::<u32>(), place.next()) {
        (Ok(line), Ok(_), Some(file)) => (file.to_owned(), line),
        // No column.
        (_, Ok(line), rest) => {
            (rest.map_or_else(|| second.to_owned(), |rest| format!("{rest}:{second}")), line)
        }
        _ => return None,
    };
    Some(Diagnostic { file, line, text: text.trim().to_owned() })
}

fn edg(line: &str) -> Option<Diagnostic> {
    let (place, text) = line.split_once("error")?;
    let (_, text) = text.split_once(": ")?;
    let (file, line) = place.trim_start().strip_prefix('"')?.split_once("\", line ")?;
    let line = line.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    Some(Diagnostic { file: file.to_owned(), line, text: text.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_several_compilers() {
        let table = [
            ("k.cu(4): warning #177-D: unused\n/a/k.cuh(7): error: no", "/a/k.cuh", 7, "no"),
            ("kernel.cu(1): catastrophic error: no file", "kernel.cu", 1, "no file"),
            (
                "a.cl:14:3: error: use of undeclared identifier 'x'",
                "a.cl",
                14,
                "use of undeclared identifier 'x'",
            ),
            (
                "warning: unused\n/tmp/x y/tempfile.cl:7:1: fatal error: 'h.h' file not found\n1 \
                 error",
                "/tmp/x y/tempfile.cl",
                7,
                "'h.h' file not found",
            ),
            ("error: /c/tempfile_a.cl:5:23: no member: x", "/c/tempfile_a.cl", 5, "no member: x"),
            ("<kernel>:2:5: error: expected ';'", "<kernel>", 2, "expected ';'"),
            ("C:\\a.cl:2:5: error: bad", "C:\\a.cl", 2, "bad"),
            (
                "ref.c:9: error: old compilers have no column",
                "ref.c",
                9,
                "old compilers have no column",
            ),
            (
                "\"/tmp/OCL1.cl\", line 6: error: identifier \"y\" is undefined",
                "/tmp/OCL1.cl",
                6,
                "identifier \"y\" is undefined",
            ),
            ("\"k.cl\", line 6: catastrophic error #1: no", "k.cl", 6, "no"),
        ];
        for (log, file, line, text) in table {
            let expected = Diagnostic { file: file.into(), line, text: text.into() };
            assert_eq!(first_error(log), Some(expected), "{log}");
        }
        for log in ["", "Device 0 failed to build", "error: no place", "x: error: no line"] {
            assert_eq!(first_error(log), None, "{log}");
        }
        assert_eq!(first_line("\n  \n  link failed\nmore"), "link failed");
    }
}
