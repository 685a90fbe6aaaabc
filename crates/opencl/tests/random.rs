//! Numbers that look random.

/// A generator that a seed determines.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> i64 {
        (self.next() % end) as i64
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'t, T: ?Sized>(&mut self, of: &[&'t T]) -> &'t T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// The text of a program that is being written, line by line.
#[derive(Debug)]
pub struct ProgramText {
    pub text: String,
    /// Blocks around the next line.
    pub depth: usize,
    names: u32,
}

impl ProgramText {
    /// No lines; the next one is in the body of a function.
    pub fn new() -> ProgramText {
        ProgramText { text: String::new(), depth: 1, names: 0 }
    }

    pub fn line(&mut self, line: &str) {
        self.text += &format!("{}{line}\n", "    ".repeat(self.depth));
    }

    /// A name that no other variable has.
    pub fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }
}
