//! Texts as tokens, with [`winnow`], and a cursor over them.

use tickbound_input::message::excerpt;
use winnow::combinator::{alt, fail, opt, preceded, repeat};
use winnow::error::{ContextError, ErrMode};
use winnow::prelude::*;
use winnow::stream::Location;
use winnow::token::{any, one_of, take_until, take_while};
use winnow::{LocatingSlice, Stateful};

use super::{MAX_NESTING, MAX_TEXT, MAX_WORD, Read, Source, Spot, SyntaxFault, WithPlace};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenKind {
    Word(String),
    Number(String),
    /// Text in quotes, without them and with its escapes undone.
    Text(String),
    /// A word in back quotes, without them: a word that is none by its characters.
    Quoted(String),
    /// A sign, such as `{` or `->`.
    Sign(&'static str),
    Other(char),
    End,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub spot: Spot,
    pub end: Spot,
}

const SIGNS: [&str; 35] = [
    "->", "!=", "<=", ">=", "::", "..", "{", "}", "(", ")", "[", "]", "<", ">", ",", ";", ":", "|",
    "=", "!", "?", ".", "+", "-", "*", "/", "%", "$", "'", "&", "~", "#", "@", "^", "\\",
];

/// Which words a language has: letters, digits, `_`, and behind the first these characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words(pub &'static str);

pub const TREO: Words = Words("");
/// Words of `.cat` files.
pub const CAT: Words = Words(".~/@#");
/// Words as this crate writes them: with the parts and indices of names from Treo.
pub const OWN: Words = Words(".~/@#[]-");

impl Words {
    /// Whether the character may go on a word.
    pub fn goes_on(self, c: char) -> bool {
        c.is_alphanumeric() || c == '_' || self.0.contains(c)
    }

    /// Whether `text` is one word, and not one of those for values without a name (`_1`).
    pub fn is_word(self, text: &str) -> bool {
        let mut chars = text.chars();
        let begins = chars.next().is_some_and(begins);
        begins
            && chars.all(|c| self.goes_on(c))
            && nameless(text).is_none()
            && text.len() <= MAX_WORD
    }
}

fn begins(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Most values without a name that a text may number; a larger number makes a word like others.
pub(super) const MAX_NAMELESS: u32 = 1 << 16;

/// The number of a value without a name, `_1`.
pub(super) fn nameless(word: &str) -> Option<u32> {
    let digits = word.strip_prefix('_')?;
    let plain = digits == "0" || !digits.starts_with(['0', '+']);
    digits.parse().ok().filter(|k| plain && *k < MAX_NAMELESS)
}

type Input<'s> = Stateful<LocatingSlice<&'s str>, Words>;
type PResult<T> = Result<T, ErrMode<ContextError>>;

/// The tokens of a text and [`TokenKind::End`]; spaces and comments (`//`, `/* */`) separate them.
pub fn tokens(source: &Source, words: Words) -> Read<Vec<Token>> {
    if source.text.len() > MAX_TEXT {
        return Err(source.fault(Spot(0), SyntaxFault::Long("text", source.text.len(), MAX_TEXT)));
    }
    let input = LocatingSlice::new(source.text.as_str());
    let mut input = Stateful { input, state: words };
    let mut all = Vec::new();
    loop {
        // Neither parser fails: what begins no token is a separate token.
        _ = blank(&mut input);
        let spot = Spot(input.current_token_start());
        let kind = token(&mut input).unwrap_or(TokenKind::End);
        check(&kind, words, source.text.get(spot.0..).unwrap_or_default())
            .map_err(|fault| source.fault(spot, fault))?;
        let end = kind == TokenKind::End;
        all.push(Token { kind, spot, end: Spot(input.current_token_start()) });
        if end {
            return Ok(all);
        }
    }
}

fn check(kind: &TokenKind, words: Words, rest: &str) -> Result<(), SyntaxFault> {
    match kind {
        TokenKind::Other('"') => Err(SyntaxFault::Unended("text in quotes", "`\"` at its end")),
        TokenKind::Other('`') if words == OWN => {
            Err(SyntaxFault::Unended("a word in back quotes", "a back quote at its end"))
        }
        TokenKind::Sign("/") if rest.starts_with("/*") => {
            Err(SyntaxFault::Unended("a comment", "`*/` at its end"))
        }
        TokenKind::Word(w) | TokenKind::Quoted(w) | TokenKind::Number(w) if w.len() > MAX_WORD => {
            Err(SyntaxFault::Long("a word", w.len(), MAX_WORD))
        }
        _ => Ok(()),
    }
}

fn blank(i: &mut Input) -> PResult<()> {
    let space = take_while(1.., char::is_whitespace).void();
    let line = ("//", take_while(0.., |c| c != '\n')).void();
    let block = ("/*", take_until(0.., "*/"), "*/").void();
    repeat(0.., alt((space, line, block))).parse_next(i)
}

fn token(i: &mut Input) -> PResult<TokenKind> {
    alt((word, number, text, quoted, sign, any.map(TokenKind::Other))).parse_next(i)
}

fn word(i: &mut Input) -> PResult<TokenKind> {
    let words = i.state;
    let word = (one_of(begins), take_while(0.., move |c| words.goes_on(c))).take();
    word.map(|w: &str| TokenKind::Word(w.to_owned())).parse_next(i)
}

fn number(i: &mut Input) -> PResult<TokenKind> {
    let digits = || take_while(1.., |c: char| c.is_ascii_digit());
    let number = (digits(), opt(('.', digits()))).take();
    number.map(|n: &str| TokenKind::Number(n.to_owned())).parse_next(i)
}

/// Only this crate writes words in back quotes.
fn quoted(i: &mut Input) -> PResult<TokenKind> {
    if i.state != OWN {
        return fail.parse_next(i);
    }
    between(i, '`').map(TokenKind::Quoted)
}

fn text(i: &mut Input) -> PResult<TokenKind> {
    between(i, '"').map(TokenKind::Text)
}

fn sign(i: &mut Input) -> PResult<TokenKind> {
    let rest: &str = i.input.as_ref();
    match SIGNS.iter().find(|s| rest.starts_with(**s)) {
        Some(sign) => (*sign).value(TokenKind::Sign(sign)).parse_next(i),
        None => fail.parse_next(i),
    }
}

fn between(i: &mut Input, quote: char) -> PResult<String> {
    let plain = || take_while(1.., move |c| c != quote && c != '\\').map(str::to_owned);
    let piece = alt((plain(), preceded('\\', escape).map(String::from), "\\".map(str::to_owned)));
    let join = |mut all: String, piece: String| {
        all.push_str(&piece);
        all
    };
    let inner = repeat(0.., piece).fold(String::new, join);
    (quote, inner, quote).map(|(_, inner, _)| inner).parse_next(i)
}

/// What stands behind a backslash, as Rust writes it; other backslashes stand for themselves.
fn escape(i: &mut Input) -> PResult<char> {
    let hex = ("u{", take_while(1..7, |c: char| c.is_ascii_hexdigit()), "}");
    let code =
        |(_, hex, _): (_, &str, _)| u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
    let simple = alt(('n'.value('\n'), 't'.value('\t'), 'r'.value('\r'), '0'.value('\0')));
    alt((simple, hex.verify_map(code), one_of(['"', '\'', '`', '\\']))).parse_next(i)
}

#[derive(Debug, Clone)]
pub struct Cursor<'t> {
    source: &'t Source,
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

static END: Token = Token { kind: TokenKind::End, spot: Spot(usize::MAX), end: Spot(usize::MAX) };

impl<'t> Cursor<'t> {
    /// At the first of `tokens`, which are those of `source`.
    pub fn new(source: &'t Source, tokens: &'t [Token]) -> Cursor<'t> {
        Cursor { source, tokens, at: 0, depth: 0 }
    }

    /// The token `ahead` tokens from here.
    pub fn peek(&self, ahead: usize) -> &'t TokenKind {
        &self.tokens.get(self.at + ahead).unwrap_or(&END).kind
    }

    pub fn spot(&self) -> Spot {
        self.tokens.get(self.at).unwrap_or(&END).spot
    }

    /// Takes the next token.
    pub fn take(&mut self) -> &'t TokenKind {
        let kind = self.peek(0);
        self.at += 1;
        kind
    }

    /// Whether the next token is this sign.
    pub fn is(&self, sign: &str) -> bool {
        matches!(self.peek(0), TokenKind::Sign(s) if *s == sign)
    }

    /// Takes the next token if it is this sign.
    pub fn eat(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.at += usize::from(is);
        is
    }

    /// Takes this sign.
    pub fn need(&mut self, sign: &str) -> Read<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(0), TokenKind::Word(w) if w == word)
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        self.at += usize::from(is);
        is
    }

    pub fn word(&mut self, what: &str) -> Read<String> {
        match self.peek(0) {
            TokenKind::Word(word) | TokenKind::Quoted(word) => {
                self.at += 1;
                Ok(word.clone())
            }
            _ => Err(self.expected(what)),
        }
    }

    /// The text from `start` up to the end of the token before this.
    pub fn text_from(&self, start: Spot) -> &'t str {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let end = last.map_or(0, |token| token.end.0);
        self.source.text.get(start.0..end).unwrap_or_default()
    }

    /// The fault that something else than `what` stands here.
    pub fn expected(&self, what: &str) -> WithPlace<SyntaxFault> {
        let found = match self.peek(0) {
            TokenKind::Word(w) | TokenKind::Number(w) | TokenKind::Quoted(w) => {
                format!("`{}`", excerpt(w))
            }
            TokenKind::Text(t) => format!("`\"{}\"`", excerpt(t)),
            TokenKind::Sign(s) => format!("`{s}`"),
            TokenKind::Other(c) => format!("`{}`", excerpt(&c.to_string())),
            TokenKind::End => "the end of the text".into(),
        };
        self.fault(SyntaxFault::Expected(what.into(), found))
    }

    /// `fault`, at the next token.
    pub fn fault(&self, fault: SyntaxFault) -> WithPlace<SyntaxFault> {
        self.source.fault(self.spot(), fault)
    }

    /// One level deeper: what `inside` reads is nested in what is here.
    pub fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_NESTING {
            return Err(self.fault(SyntaxFault::Deep));
        }
        self.depth += 1;
        let read = inside(self);
        self.depth -= 1;
        read
    }

    /// What `item` reads, any number of times, with commas between, up to the sign `end`.
    pub fn list<T>(&mut self, end: &str, item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        if self.eat(end) { Ok(Vec::new()) } else { self.items(end, item) }
    }

    /// As [`Cursor::list`], with at least one item.
    pub fn items<T>(
        &mut self,
        end: &str,
        mut item: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        let mut all = vec![item(self)?];
        while !self.eat(end) {
            if !self.eat(",") {
                return Err(self.expected(&format!("`,` or `{end}`")));
            }
            all.push(item(self)?);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, words: Words) -> Result<String, String> {
        let all = tokens(&Source::new("f", text), words).map_err(|e| e.to_string())?;
        Ok(all.iter().map(|t| format!("{:?}@{} ", t.kind, t.spot.0)).collect())
    }

    #[test]
    fn texts_become_tokens() {
        let read = |text| words(text, TREO).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(
            read("a[1..n]"),
            "Word(\"a\")@0 Sign(\"[\")@1 Number(\"1\")@2 Sign(\"..\")@3 Word(\"n\")@5 \
             Sign(\"]\")@6 End@7 "
        );
        assert_eq!(read("/* x */ 1.5 // y"), "Number(\"1.5\")@8 End@16 ");
        assert_eq!(read(r#""a\"\u{e9}\n""#), "Text(\"a\\\"\u{e9}\\n\")@0 End@13 ");
        assert_eq!(
            words("$f.1/x[2]'", OWN),
            Ok("Sign(\"$\")@0 Word(\"f.1/x[2]\")@1 Sign(\"'\")@9 End@10 ".into())
        );
        assert_eq!(words("`a b`", OWN), Ok("Quoted(\"a b\")@0 End@5 ".into()));
    }

    #[test]
    fn what_does_not_end_is_refused() {
        for (text, error) in [
            ("a \"b", "f:1:3: text in quotes without an end; write `\"` at its end"),
            ("\n/* b", "f:2:1: a comment without an end; write `*/` at its end"),
        ] {
            assert_eq!(words(text, TREO), Err(error.into()));
        }
        let open = "f:1:1: a word in back quotes without an end; write a back quote at its end";
        assert_eq!(words("`b", OWN), Err(open.into()));
        let long = words(&"x".repeat(1001), TREO);
        assert_eq!(long, Err("f:1:1: a word of 1001 bytes; the longest allowed is 1000".into()));
    }

    #[test]
    fn values_without_a_name_are_no_words() {
        assert_eq!(
            ["_1", "_01", "_", "a_1", "_1a", "_65536"].map(nameless),
            [Some(1), None, None, None, None, None]
        );
        assert!(OWN.is_word("seqc.1/x[2]") && !OWN.is_word("_3") && !OWN.is_word("a b"));
    }
}
