//! No text makes a reader panic, hang or grow without end.

use proptest::prelude::*;
use tickbound_reo::syntax::{Source, condition};
use tickbound_reo::treo::{self, Shelf, TreoRequest};
use tickbound_reo::{aut, cat, json};

/// Tries all readers on a text.
fn read_all(text: &str) {
    let source = Source::new("fuzz.treo", text);
    let request = TreoRequest::default().set("n", "2").set("k", "x");
    for request in [TreoRequest::default(), request] {
        if let Err(error) = treo::connector(&source, &Shelf::default(), &request) {
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
    for error in [
        aut::connector(&source).err().map(|e| e.to_string()),
        cat::connector(&source).err().map(|e| e.to_string()),
        json::connector(&source).err().map(|e| e.to_string()),
        condition::parse(text).err().map(|e| e.to_string()),
    ] {
        assert!(!error.is_some_and(|e| e.contains('\n')));
    }
}

/// Pieces of the three languages, put together at random.
const PIECES: [&str; 91] = [
    "section",
    "import",
    "reo",
    ".",
    ";",
    "f",
    "g",
    "sync",
    "fifo1",
    "fifo",
    "lossy",
    "n",
    "k",
    "i",
    "a",
    "b",
    "a[1..n]",
    "x[i]",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    "[",
    "]",
    ",",
    "|",
    ":",
    "=",
    "!=",
    "<=",
    "!",
    "?",
    "..",
    "+",
    "-",
    "*",
    "/",
    "%",
    "1",
    "2",
    "1000000000",
    "\"x\"",
    "\"",
    "// c\n",
    "/*",
    "*/",
    "#RBA",
    "#WA",
    "#SCA",
    "#PR",
    "#JAVA",
    "{a, ~b}",
    "{b}",
    "$m",
    "$m'",
    "null",
    "true",
    "a = b",
    "q* -> q : {a}",
    "Fifo[1](a; b)",
    "f(a, b) {",
    "g<k>(a?, b!) {",
    "sync(a, b)",
    "f(a, b)",
    "g<2>(a, b)",
    "i : <1..2>",
    "\u{e9}",
    "\0",
    "`",
    "\\",
    "\"f\"[A::IN]",
    "q*[",
    "[A]::",
    "::q]",
    "$s.m",
    "{\"format\": \"tickbound-reo\",",
    "\"version\": 1,",
    "\"connector\":",
    "\"parts\": []",
    "&",
    "_1",
    "f(x)",
    "P(a)",
    "1.5",
    "\ndes (0, 1, 2)\n",
    "\n(0, \"a|b\", 1)\n",
    "[a = $m']\", 1)",
    "\n",
    "{ \"kind\": \"sync\", \"ends\": [] }",
];

/// A whole file, in which some characters are then changed.
const FILE: &str = "section s;
import reo.fifo1;
seq<k:string, leg[1..n](?, !)>(p[1..n]?, q!String) {
  { fifo1(x[i], x[i+1]) leg[i](x[i+1], p[i]) | i : <1..n>, i != 3, leg[1] = sync }
  g<k, 2 * (n - 1)>(x[n], x[1])
| n = 2, l[1..m] = <sync, fifo<3>>
}
g<k, j>(a?, b!) {
  #RBA $m = k; {a, ~b} $m = null, $m' = a {~a, b} $m != null, P(b, 1.5), b = f($m), $m' = null
  #WA q0* -> q1 : {a}, x >= 1, {y}
  #PR Fifo[k](a; b)
  #JAVA \"X\"
}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_all(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn characters(text in "\\PC{0,80}") {
        read_all(&text);
    }

    #[test]
    fn pieces(pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..60)) {
        read_all(&pieces.join(" "));
    }

    #[test]
    fn bodies(pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..12)) {
        read_all(&format!("g(a, b) {{ sync(a, b) }} f(a, b) {{ {} }}", pieces.join(" ")));
        read_all(&format!("f(a?, b!) {{ #RBA {{a}} {} }}", pieces.join(" ")));
    }

    #[test]
    fn changed_files(changes in prop::collection::vec((0..FILE.len(),
        prop::sample::select(PIECES.to_vec())), 1..4)) {
        let mut text = FILE.to_owned();
        for (at, piece) in changes {
            if text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
                text.replace_range(at..=at, piece);
            }
        }
        read_all(&text);
    }
}

#[test]
fn the_whole_file_is_right() {
    let tree = treo::parse(&Source::new("s.treo", FILE)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(tree.definitions.len(), 2);
    read_all(FILE);
    for end in 0..FILE.len() {
        read_all(&FILE[..end]);
    }
}
