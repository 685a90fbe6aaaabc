//! Texts that a C++ program has between quotes of raw strings.

/// The text without lines that only begin or end a raw string of C++, `R"(` and `)"`, if it has
/// such a pair. Lines keep their numbers.
///
/// ```
/// let text = tickbound_input::without_raw_quotes("R\"(\nkernel void f() {}\n)\"\n".to_owned());
/// assert_eq!(text, "\nkernel void f() {}\n\n");
/// ```
#[must_use]
pub fn without_raw_quotes(text: String) -> String {
    let opened = |line: &str| {
        let name = line.trim().strip_prefix("R\"")?.strip_suffix('(')?;
        Some(format!("){name}\""))
    };
    let Some(close) = text.lines().find_map(opened) else { return text };
    let closes = |line: &str| line.trim().trim_end_matches([';', ',']) == close;
    if !text.lines().any(closes) {
        return text;
    }
    let kept = |line| if opened(line).is_some() || closes(line) { "" } else { line };
    text.lines().flat_map(|line| [kept(line), "\n"]).collect()
}
