//! `.cat` files: the samples of the Extensible Coordination Tools (where they are at hand), our
//! own, and what is refused.

use crate::connectors;

use std::path::Path;

use connectors::{example, shared, source};
use tickbound_reo::cat::connector;
use tickbound_reo::constraint::DataTerm;
use tickbound_reo::run::{Player, Wanted};
use tickbound_reo::symbol::{Cell, NameId, SymbolId};
use tickbound_reo::syntax::Source;

/// The automaton and notes of a text.
fn read(text: &str) -> Result<(String, Vec<String>), String> {
    let connector = connector(&Source::new("t.cat", text)).map_err(|e| e.to_string())?;
    let [part] = connector.parts.as_slice() else { return Err("several parts".into()) };
    Ok((part.automaton.text(&connector.symbols), connector.notes))
}

#[test]
fn the_samples_are_read() {
    let Some(folder) = shared() else { return };
    for (file, steps, notes) in [
        (
            "cat/diamond.cat",
            "0 {BEGIN} BEGIN = $y' & BEGIN = $w' -> 1\n\
             1 {END} true -> 0\n\
             1 {BEGIN} BEGIN = $y' & BEGIN = $w' & $y = $s' & $w = $u' -> 2\n\
             1 {END, BEGIN} BEGIN = $y' & BEGIN = $w' -> 1\n\
             2 {END} $y = $y' & $w = $w' -> 1\n",
            vec![],
        ),
        (
            "cat/lofi.cat",
            "0 {A} p(\"true\") -> 0\n\
             0 {A} $z' = f(g(A)) -> 1\n\
             1 {A} $z = $z' -> 1\n\
             1 {C} C = $z -> 0\n\
             1 {A, C} C = $z -> 0\n",
            vec!["cat/lofi.cat:8:14: `lofi_1` has no cell `z`; what is said about it is left out"],
        ),
    ] {
        let read = connector(&source(&folder, Path::new(file))).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read.parts[0].automaton.text(&read.symbols), steps, "{file}");
        assert_eq!(read.notes, notes, "{file}");
        assert_eq!(read.interface.len(), 2, "{file}");
        assert_eq!(read.parts[0].automaton.initial(), [0], "{file}");
    }
}

#[test]
fn cells_begin_with_what_they_hold() {
    let text = "\"f\"[A::IN] q*[m::\"FULL\", n::1, k::\"1\"][[A]::A=$s.m::p], p[]";
    let read = connector(&Source::new("t.cat", text)).unwrap_or_else(|e| panic!("{e}"));
    let contents = read.parts[0].automaton.contents().iter();
    let word = |(cell, held): &(Cell, SymbolId)| {
        let held = DataTerm::Constant(*held).text(&read.symbols);
        format!("{} {held}", read.symbols.word(cell.0))
    };
    let mut contents: Vec<String> = contents.map(word).collect();
    contents.sort();
    assert_eq!(contents, ["k \"1\"", "m \"FULL\"", "n 1"]);
}

#[test]
fn our_example_is_read() {
    let read = connector(&example("fifo1.cat")).unwrap_or_else(|e| panic!("{e}"));
    let steps = read.parts[0].automaton.text(&read.symbols);
    assert_eq!(steps, "0 {A} A = $m' -> 1\n1 {B} B = $m -> 0\n");
}

/// Two buffers in one file are a chain; each has a cell of its own.
#[test]
fn several_automata_are_one_connector() {
    let buffer = |name: &str, from: &str, to: &str| {
        let ports = format!("[{from}::OUT, {to}::IN]");
        format!("\"{name}\"{ports} e*[[{from}]::$t.m={from}::f], f[m][[{to}]::{to}=$s.m::e]\n")
    };
    let text = buffer("one", "A", "M") + &buffer("two", "M", "B");
    let read = connector(&Source::new("t.cat", &text)).unwrap_or_else(|e| panic!("{e}"));
    let steps: String = read.parts.iter().map(|p| p.automaton.text(&read.symbols)).collect();
    assert_eq!(
        steps,
        "0 {A} A = $one.1/m' -> 1\n1 {M} M = $one.1/m -> 0\n\
         0 {M} M = $two.2/m' -> 1\n1 {B} B = $two.2/m -> 0\n"
    );
    let words = |names: &[NameId]| names.iter().map(|n| read.symbols.word(n.0)).collect::<Vec<_>>();
    assert_eq!((read.name.as_str(), words(&read.interface)), ("one", vec!["A", "M", "B"]));
    assert_eq!(words(&read.inputs()), ["A"]);
    let mut run = Player::new(&read).expect("initial states");
    for wanted in Wanted::all(&Source::new("s", "{A = 1} {M} {A = 2} {B} {M} {B}")).expect("steps")
    {
        run.follow(&wanted).unwrap_or_else(|e| panic!("{e}"));
    }
    assert_eq!(run.lines()[3..], ["1 {B = 1}", "1 {M = 2}", "1 {B = 2}"]);
}

#[test]
fn liberties_are_noted() {
    let place = |at, note| Ok(format!("t.cat:1:{at}: {note}"));
    for (text, steps, note) in [
        (
            "\"f\"[A::IN] q*[[A]::A=x::q]",
            "0 {A} \"x\" = A -> 0\n",
            place(20, "`x` is no name; it is taken as a constant"),
        ),
        (
            "\"f\"[A::IN] q*[[A]::$s.m=A::q]",
            "0 {A} true -> 0\n",
            place(20, "`q` has no cell `m`; what is said about it is left out"),
        ),
        (
            "\"f\"[A::IN,B::OUT] q*[[A]::P(B)::q]",
            "0 {A} true -> 0\n",
            place(27, "`B` does not fire; what is said about it is left out"),
        ),
        (
            "\"f\"[A::IN] q*[[A]::true::p], p[m][[]::true::q]",
            "0 {A} $m' = _0 -> 1\n1 {} true -> 0\n",
            Err(()),
        ),
        ("\"f\"[A::IN] q[][], p[]*[[A]::!(A=1)::p]", "1 {A} 1 != A -> 1\n", Err(())),
        (
            "\"f\"[A::OUT, B] q*[[B,A]::(B=A | B==\"1\")::p], p[m]",
            "0 {A, B} \"1\" = B & $m' = _0 -> 1\n0 {A, B} A = B & $m' = _0 -> 1\n",
            Err(()),
        ),
        (
            "\"f\"[A::OUT, B] q*[[A::OUT, B]::B=? & A <= 3 & _7 != B::p], p[m]",
            "0 {A, B} B = _0 & $m' = _2 & B != _1 & 3 >= A -> 1\n",
            Err(()),
        ),
        (
            "\"f\"[A] q*[], p[m::1][]",
            "",
            place(16, "`m` holds something at the start of no run; what it holds is left out"),
        ),
    ] {
        let expected: Vec<String> = note.into_iter().collect();
        let (found, notes) = read(text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((found.as_str(), notes), (steps, expected), "{text}");
    }
}

#[test]
fn faults_say_where_what_and_the_mend() {
    for (text, error) in [
        ("", "1:1: the end of the text where the name of the automaton in quotes should stand"),
        ("\"f\"[A :]", "1:7: `:` where `,` or `]` should stand"),
        ("\"f\"[A] q*[m::A][]", "1:14: `A` where a constant should stand"),
        (
            "\"f\"[A] q*[m::1][], p*[m::2][]",
            "1:23: `m` stands here a second time; rename one of them",
        ),
        ("\"f\"[A::INOUT]", "1:8: `INOUT` where `IN` or `OUT` should stand"),
        ("\"f\"[A::IN, A::OUT] q*[]", "1:12: `A` stands here a second time; rename one of them"),
        ("\"f\"[A::IN] q[]", "1:12: no state is marked as initial; write `q*`"),
        ("\"f\"[A::IN] q*[], q[]", "1:18: `q` stands here a second time; rename one of them"),
        ("\"f\"[A::IN] q*[[B]::true::q]", "1:16: `B` is no name of the automaton; known here: A"),
        ("\"f\"[A::IN] q*[[A]::true::p]", "1:26: `p` is no state of the automaton; known here: q"),
        (
            "\"f\"[A::IN] q*[[A]::$m=A::q]",
            "1:21: a cell is written `$s.m` (before the step) or `$t.m` (after it)",
        ),
        (
            "\"f\"[A::IN] q*[] p",
            "1:17: `p` where `,`, another automaton, or the end of the text should stand",
        ),
        ("\"f\"[A] q*[] \"g\"[B] q[]", "1:20: no state is marked as initial; write `q*`"),
    ] {
        assert_eq!(read(text), Err(format!("t.cat:{error}")), "{text}");
    }
}
