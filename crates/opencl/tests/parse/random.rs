//! Sources with tokens deleted, doubled and swapped at random: read, or refused in one line.

use tickbound_opencl::parse::parse;

use crate::parse::print::print;
use crate::parse::tree::{Source, example, examples, ready};

/// A small generator of its own, so that the sources are always the same ones.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound.max(1)
    }
}

/// Words, numbers, white space and single signs.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut last = ' ';
    for c in text.chars() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        match tokens.last_mut() {
            Some(token) if (word(c) && word(last)) || (c == ' ' && last == ' ') => token.push(c),
            _ => tokens.push(c.to_string()),
        }
        last = c;
    }
    tokens
}

fn mutate(tokens: &[String], random: &mut Random) -> String {
    let mut tokens = tokens.to_vec();
    for _ in 0..=random.below(2) {
        let (at, other) = (random.below(tokens.len()), random.below(tokens.len()));
        if tokens[at].trim().is_empty() {
            continue;
        }
        match random.below(4) {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[other].clone()),
            2 => tokens.swap(at, other),
            _ => tokens[at] = tokens[other].clone(),
        }
    }
    tokens.concat()
}

const SEED: &str = r#"#define TWICE(x) ((x) + (x))
#if 1
typedef struct { float a[TS]; int b; } S;
#endif
constant float table[] = { 1.0f, 2.0f };
int f(int a, const global S *s) { return a ? s->b : -s[1].a[0]; }
kernel void k(global float4 *in, local float *scratch, int n) {
  local float tile[TS][TS + 1];
  for (int i = 0; i < n; i += 2) { if (i > TS) break; else in[i].xy += in[i].lo; }
  do { n--; } while (n > 0 && n != 'a');
  tile[get_local_id(0)][1] = dot(in[0], (float4)(1.0f, n, 2, 3)) + sizeof(tile) + TWICE(n);
  barrier(CLK_LOCAL_MEM_FENCE);
  vstore4(as_float4((int4)(n)), 0, scratch), n <<= ~3;
  switch (n) { case 1: break; default: ; }
}
"#;

#[test]
fn mutated_sources() {
    if !ready() {
        return;
    }
    let mut seeds = vec![Source::new(SEED).symbol("TS", 16)];
    seeds.extend(examples().iter().map(|path| example(path, false)));
    let rounds = 300 / seeds.len() + 1;
    let mut random = Random(42);
    let mut accepted = 0;
    for seed in seeds {
        let text = std::fs::read_to_string(&seed.request.path).expect("a file");
        assert_eq!(seed.parse().map(|_| ()), Ok(()), "{text}");
        let tokens = tokens(&text);
        for _ in 0..rounds {
            let source = seed.with(&mutate(&tokens, &mut random));
            let unit = source.expand().and_then(|expanded| parse(&source.request, &expanded));
            match unit {
                Ok(unit) => accepted += usize::from(!print(&unit).is_empty()),
                Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
            }
        }
    }
    assert!(accepted > 20, "{accepted}");
}
