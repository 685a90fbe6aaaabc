//! What to write instead of what other languages have and expressions have not.

/// True for what a name may have after its first character.
pub(crate) fn word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// What to write instead of words that Python has and expressions have not.
const WORDS: [(&str, &str); 10] = [
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
    ("lambda", "write the condition alone, without `lambda`"),
    ("any", "write the conditions with `or` between them"),
    ("all", "write the conditions with `and` between them"),
];

const BITS: &str = "there are no operations on bits; write `a % 2 ** n` for the last n bits of `a`";

/// What to write instead of `rest`, where it begins with what C, Python or mathematics have and
/// expressions have not.
pub(crate) fn fix(before: &str, rest: &str) -> &'static str {
    let halves = [
        ("<", "<", "write a * 2 ** n instead of a << n"),
        (">", ">", "write a // 2 ** n instead of a >> n"),
        ("<", ">", "write `!=`"),
    ];
    let half = |(a, b, _): &&(&str, &str, _)| before.ends_with(a) && rest.starts_with(b);
    if let Some((_, _, fix)) = halves.iter().find(half) {
        return fix;
    }
    let word = rest.strip_prefix("not ").unwrap_or(rest).trim_start();
    let began = ["math", "lambda"].into_iter().find(|word| before.trim_end().ends_with(word));
    let word = began.unwrap_or(word);
    let word = word.split(|c| !word_char(c)).next();
    if let Some((_, fix)) = WORDS.iter().find(|(known, _)| Some(*known) == word) {
        return fix;
    }
    let known = [
        ("&&", "write `and`"),
        ("||", "write `or`"),
        ("!", "write `not`"),
        ("=>", "write `>=`"),
        ("=<", "write `<=`"),
        ("=", "write `==`"),
        ("'", "number the texts, and compare the numbers"),
        ("\"", "number the texts, and compare the numbers"),
        ("#", "leave comments out"),
        ("?", "write `a if condition else b`"),
        (".", "there are whole numbers only"),
        ("&", BITS),
        ("|", BITS),
        ("~", BITS),
        ("^", "write a ** n for a power"),
    ];
    if let Some((_, fix)) = known.iter().find(|(begin, _)| rest.starts_with(begin)) {
        return fix;
    }
    let after_name = rest.trim_start_matches(word_char).trim_start();
    match after_name.len() < rest.len() && after_name.starts_with('(') {
        true => "the functions are min and max of 1 to 64 numbers, abs and ceil_div",
        false => "",
    }
}
