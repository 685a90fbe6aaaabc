//! The problems in `examples/kernels`, bound, filled and run.

use std::fs;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use tickbound_model::source::{ArgumentKind, Define, ElementType, Fill};
use tickbound_model::{Bound, KernelSource, ModelError, Problem};

use crate::kernels::SEED;
use crate::kernels::instrumented::{Argument, Content, Counts, Instrument, Outcome, Run, Touch};

/// A problem in `examples/kernels`.
pub struct Kernel {
    pub problem: Problem,
    pub folder: PathBuf,
}

impl Kernel {
    pub fn load(name: &str, size: &str) -> Result<Kernel, ModelError> {
        Kernel::load_with(name, size, &[])
    }

    /// With other values of some inputs.
    pub fn load_with(name: &str, size: &str, other: &[(&str, i64)]) -> Result<Kernel, ModelError> {
        Kernel::parse(&Kernel::text(name), size, other)
    }

    /// On a platform, with one more constraint: few configurations are read fast.
    pub fn load_where(name: &str, platform: &str, constraint: &str) -> Result<Kernel, ModelError> {
        let text = Kernel::text(name).replace("\"h200\"", &format!("\"{platform}\""));
        let more = format!("\"constraints\": [ \"{constraint}\",");
        Kernel::parse(&text.replacen("\"constraints\": [", &more, 1), "small", &[])
    }

    fn text(name: &str) -> String {
        fs::read_to_string(Kernel::root().join(format!("examples/kernels/{name}.json"))).unwrap()
    }

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    fn parse(text: &str, size: &str, other: &[(&str, i64)]) -> Result<Kernel, ModelError> {
        let platforms = |name: &str| {
            let path = format!("crates/model/platforms/{name}.json");
            let text = fs::read_to_string(Kernel::root().join(path)).unwrap();
            Ok(serde_json::from_str(&text).unwrap())
        };
        let problem = Problem::from_json(text, &IndexMap::new(), &platforms)?;
        let mut inputs = problem.sizes[size].inputs.clone();
        inputs.extend(other.iter().map(|(name, value)| ((*name).to_owned(), *value)));
        let problem = Problem::from_json(text, &inputs, &platforms)?;
        Ok(Kernel { problem, folder: Kernel::root().join("examples/kernels") })
    }

    pub fn source(&self) -> &KernelSource {
        self.problem.source.as_ref().unwrap()
    }

    /// So many configurations of the space, or all of them if there are no more.
    pub fn sample(&self, count: usize) -> Vec<Bound> {
        let mut space = self.problem.space().unwrap().bound;
        if space.len() > count {
            println!("seed {SEED}");
            let mut random = Random(SEED);
            for i in 0..count {
                let other = i + random.below((space.len() - i) as u64) as usize;
                space.swap(i, other);
            }
            space.truncate(count);
        }
        space
    }

    pub fn bind(&self, values: &[(&str, u64)]) -> Bound {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value as i64));
        self.problem.bind(&values.collect()).unwrap()
    }

    pub fn describe(&self, bound: &Bound) -> String {
        self.problem.name_values(&bound.configuration).to_string()
    }

    pub fn tolerance(&self, bound: &Bound) -> f64 {
        self.source().tolerance.at(&bound.env).unwrap()
    }

    pub fn value(&self, bound: &Bound, name: &str) -> i64 {
        bound.env[self.problem.scope.slot(name).unwrap()]
    }

    pub fn run(&self, instrument: &mut Instrument, bound: &Bound) -> Result<Outcome, String> {
        self.with_run(bound, |run| instrument.run(run))
    }

    /// All that a run accesses.
    pub fn trace(&self, instrument: &mut Instrument, bound: &Bound) -> Result<Vec<Touch>, String> {
        self.with_run(bound, |run| instrument.trace(run))
    }

    /// What the optimised code of the kernel does, by item.
    pub fn optimised(
        &self,
        instrument: &mut Instrument,
        bound: &Bound,
    ) -> Result<(Vec<Counts>, Vec<Touch>), String> {
        self.with_run(bound, |run| instrument.optimised(run))
    }

    fn with_run<T>(&self, bound: &Bound, with: impl FnOnce(&Run<'_>) -> T) -> T {
        let source = self.source();
        let grid = self.problem.grid_sizes(&bound.env).unwrap();
        with(&Run {
            source: &self.folder.join(&source.path),
            entry: &source.entry,
            standard: source.standard.name(),
            defines: self.defines(bound),
            arguments: self.arguments(bound),
            global: grid.iter().map(|[global, _]| *global as usize).collect(),
            local: grid.iter().map(|[_, local]| *local as usize).collect(),
        })
    }

    /// Macros and their texts.
    pub fn defines(&self, bound: &Bound) -> Vec<(String, String)> {
        let defines = self.source().defines.iter().map(|(name, define)| {
            let text = match define {
                Define::Number(value) => value.eval(&bound.env).unwrap().to_string(),
                Define::Text(text) => text.clone(),
            };
            (name.clone(), text)
        });
        defines.collect()
    }

    /// The same as options of a compiler, and the sizes of a group as LOCAL_X, LOCAL_Y and LOCAL_Z.
    pub fn options(&self, bound: &Bound) -> Vec<String> {
        let grid = self.problem.grid_sizes(&bound.env).unwrap();
        let sizes = grid.iter().map(|[_, local]| *local).chain([1, 1]);
        let sizes = ["X", "Y", "Z"].iter().zip(sizes).map(|(d, n)| format!("-DLOCAL_{d}={n}"));
        let defines =
            self.defines(bound).into_iter().map(|(name, text)| format!("-D{name}={text}"));
        defines.chain(sizes).collect()
    }

    pub fn arguments(&self, bound: &Bound) -> Vec<Argument> {
        let arguments = self.source().arguments.iter().map(|argument| {
            let element = argument.element;
            let content = match &argument.kind {
                ArgumentKind::Buffer { length, fill, .. } => {
                    let length = length.eval(&bound.env).unwrap();
                    Content::Buffer(filled(&argument.name, element, length, fill, &bound.env))
                }
                ArgumentKind::Whole { .. } => unreachable!("no example has one"),
                ArgumentKind::Local { length } => {
                    Content::Local(length.eval(&bound.env).unwrap() as usize * element.bytes())
                }
                ArgumentKind::Scalar(value) => {
                    Content::Scalar(encoded(element, value.eval(&bound.env).unwrap() as f64))
                }
                ArgumentKind::Real(text) => {
                    Content::Scalar(encoded(element, text.parse().unwrap()))
                }
            };
            Argument { name: argument.name.clone(), element: element.name(), content }
        });
        arguments.collect()
    }
}

/// The first content of a buffer.
fn filled(name: &str, element: ElementType, length: i64, fill: &Fill, env: &[i64]) -> Vec<u8> {
    let seed = name.bytes().fold(length as u64, |s, b| s.wrapping_mul(31).wrapping_add(b.into()));
    let mut random = Random(seed);
    let mut bytes = Vec::with_capacity(length as usize * element.bytes());
    for i in 0..length {
        let value = match fill {
            Fill::Constant(value) => value.eval(env).unwrap() as f64,
            Fill::Index => i as f64,
            Fill::Random { low, high } => {
                let (low, high) = (low.eval(env).unwrap(), high.eval(env).unwrap());
                match element.is_real() {
                    true => low as f64 + random.unit() * (high - low) as f64,
                    false => (low + random.below((high - low + 1) as u64) as i64) as f64,
                }
            }
        };
        bytes.extend(encoded(element, value));
    }
    bytes
}

/// The bytes of a number of this type.
fn encoded(element: ElementType, value: f64) -> Vec<u8> {
    match element {
        ElementType::Float => (value as f32).to_le_bytes().to_vec(),
        ElementType::Double => value.to_le_bytes().to_vec(),
        _ => (value as i64).to_le_bytes()[..element.bytes()].to_vec(),
    }
}

/// A generator of pseudo-random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// At least 0 and below 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 40) as f64 / (1u64 << 24) as f64
    }
}
