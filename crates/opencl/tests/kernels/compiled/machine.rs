//! Kernels as NVIDIA's compiler makes them: registers, instructions and loops of its machine code.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tickbound_model::Bound;

use crate::kernels::example::Kernel;

const HEADER: &str = include_str!("nvidia.cuh");
const COMPILE: &str = include_str!("compile.py");

/// The Python with the compiler's version that `make tools` installs, if it could: another one
/// would unroll other loops.
pub fn python() -> Option<PathBuf> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.deps/sass/bin/python");
    let found = Some(PathBuf::from(own)).filter(|path| path.exists());
    if found.is_none() {
        eprintln!("skipped: no .deps/sass; `make tools` installs it");
    }
    found
}

/// A compiled kernel.
pub struct Machine {
    registers: i64,
    /// Each with the index of the instruction that it jumps to, if it is a jump.
    instructions: Vec<(String, Option<usize>)>,
}

impl Machine {
    /// Compiles a configuration of a kernel for sm_90.
    pub fn compile(python: &Path, kernel: &Kernel, bound: &Bound) -> Machine {
        let source = std::fs::read_to_string(kernel.folder.join(&kernel.source().path)).unwrap();
        let mut command = Command::new(python);
        command.args(["-c", COMPILE, "--gpu-architecture=sm_90"]);
        // OpenCL's divisions and roots need not be exact.
        command.args(["--prec-div=false", "--prec-sqrt=false"]);
        command.arg("--device-as-default-execution-space");
        command.args(kernel.options(bound));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(cuda(&source).as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", kernel.describe(bound));
        Machine::parse(&String::from_utf8(output.stdout).unwrap())
    }

    /// Reads what `compile.py` prints.
    fn parse(text: &str) -> Machine {
        let (_, registers) = text.split_once("REG:").expect("registers");
        let registers = registers.split_whitespace().next().unwrap().parse().unwrap();
        let (mut labels, mut lines) = (Vec::new(), Vec::new());
        for line in text.lines().map(str::trim) {
            if let Some(label) = line.strip_suffix(':').filter(|label| label.starts_with(".L_x_")) {
                labels.push((label, lines.len()));
            } else if let Some((_, code)) = line.strip_prefix("/*").and_then(|l| l.split_once("*/"))
            {
                lines.push(code.trim());
            }
        }
        let target = |line: &str| {
            let (label, _) = line.split_once("BRA")?.1.split_once("`(")?.1.split_once(')')?;
            Some(labels.iter().find(|(name, _)| *name == label).expect("a label").1)
        };
        let instructions = lines.iter().map(|line| ((*line).to_owned(), target(line))).collect();
        Machine { registers, instructions }
    }

    /// The loops: their first and last instructions, in order of the first.
    fn loops(&self) -> Vec<(usize, usize)> {
        let jumps = self.instructions.iter().enumerate();
        let back = jumps.filter_map(|(i, (_, to))| to.filter(|to| *to < i).map(|to| (to, i)));
        let mut all: Vec<_> = back.collect();
        all.sort_by_key(|(first, last)| (*first, usize::MAX - last));
        all
    }

    /// Whether it has no loops.
    pub fn is_straight(&self) -> bool {
        self.loops().is_empty()
    }

    /// What one item does of a quantity, or of several, where each loop has so many iterations.
    pub fn count(&self, what: &str, iterations: &[i64]) -> i64 {
        if what == "registers" {
            return self.registers;
        }
        let loops = self.loops();
        assert_eq!(loops.len(), iterations.len(), "the machine code has the loops {loops:?}");
        let executed = |i: usize| {
            let all = loops.iter().zip(iterations);
            all.filter(|((first, last), _)| (*first..=*last).contains(&i)).map(|(_, n)| n).product()
        };
        let counts = |line: &str| what.split('+').any(|name| quantities(line).contains(&name));
        let all = self.instructions.iter().enumerate();
        all.filter(|(_, (line, _))| counts(line)).map(|(i, _)| -> i64 { executed(i) }).sum()
    }
}

/// OpenCL C of the examples as CUDA C++: what macros of the header cannot do.
fn cuda(source: &str) -> String {
    let source = source
        .replace("(float2)(", "float2(")
        .replace("(float4)(", "float4(")
        .replace("global ", "")
        .replace("__attribute__", "ATTRIBUTE")
        .replace(", local int *scratch)\n{", ")\n{\n    extern local int scratch[];");
    format!("{HEADER}{source}")
}

/// What an instruction counts for, as usage and as least counts, which leave out choices and
/// comparisons.
fn quantities(instruction: &str) -> &'static [&'static str] {
    let code = instruction.split_whitespace().find(|word| !word.starts_with('@'));
    match code.and_then(|code| code.split(['.', ';']).next()).unwrap_or_default() {
        "FFMA" | "FADD" | "FMUL" => &["real", "least.real"],
        "FMNMX" | "FSETP" | "FSEL" => &["real"],
        "MUFU" => &["special", "least.special"],
        "I2F" | "I2FP" | "F2I" => &["convert", "least.convert"],
        "LDG" | "STG" => &["global_requests", "least.global_requests"],
        "LDS" | "STS" => &["local_requests", "least.local_requests"],
        "BAR" => &["barriers"],
        _ => &[],
    }
}
