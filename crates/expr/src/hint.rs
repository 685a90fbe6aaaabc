//! What to write instead of what other languages have and expressions have not.

/// True for what a name may have after its first character.
pub(crate) fn word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// What to write instead of words that Python has and expressions have not.
const WORDS: [(&str, &str); 9] = [
    (
        "in",
        "write `a == 1 or a == 3` for `a in [1, 3]`, and `1 <= a and a < 9` for `a in range(1, 9)`",
    ),
    ("is", "write `==` for `is`, and `!=` for `is not`"),
    ("int", "write `a // b` for `int(a / b)`"),
    ("float", "leave `float` out, as `/` is exact in conditions"),
    ("round", "write `(2 * a + b) // (2 * b)` for `round(a / b)`"),
    ("pow", "write `a ** b` for `pow(a, b)`"),
    (
        "math",
        "write `ceil_div(a, b)` for `math.ceil(a / b)`, and `a // b` for `math.floor(a / b)`; the \
         other \
      functions are min, max and abs",
    ),
    ("any", "write the conditions with `or` between them"),
    ("all", "write the conditions with `and` between them"),
];

/// What to write instead of `rest`, where it begins with what C, Python or mathematics have and
/// expressions have not.
pub(crate) fn fix(before: &str, rest: &str) -> &'static str {
    let shifts =
        [("<", "write a * 2 ** n instead of a << n"), (">", "write a // 2 ** n instead of a >> n")];
    if let Some((_, fix)) = shifts.iter().find(|(c, _)| before.ends_with(c) && rest.starts_with(c))
    {
        return fix;
    }
    let word = rest.strip_prefix("not ").unwrap_or(rest).trim_start();
    let word = if before.ends_with("math") { "math" } else { word };
    let word = word.split(|c| !word_char(c)).next();
    if let Some((_, fix)) = WORDS.iter().find(|(known, _)| Some(*known) == word) {
        return fix;
    }
    let known = [
        ("&&", "write `and`"),
        ("||", "write `or`"),
        ("!", "write `not`"),
        ("=", "write `==`"),
        ("?", "write `a if condition else b`"),
        (".", "there are whole numbers only"),
        ("&", "there are no operations on bits"),
        ("|", "there are no operations on bits"),
        ("^", "write a ** n for a power"),
    ];
    if let Some((_, fix)) = known.iter().find(|(begin, _)| rest.starts_with(begin)) {
        return fix;
    }
    let after_name = rest.trim_start_matches(word_char).trim_start();
    match after_name.len() < rest.len() && after_name.starts_with('(') {
        true => "the functions are min, max, abs and ceil_div",
        false => "",
    }
}
