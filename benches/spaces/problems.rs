//! The problems: families whose spaces grow, and the example kernels as they are.

use serde_json::{Value, json};

use crate::{contenders, mapping, sharing};

/// Problems of one kind, the smallest space first.
pub struct Family {
    /// Its heading.
    pub name: &'static str,
    /// What it is made of.
    pub about: &'static str,
    /// A label and the problem's text, or the path of its file.
    pub problems: Vec<(String, Problem)>,
    /// The spaces grow, so what has not ended on one of them is not tried on larger ones.
    pub grows: bool,
}

/// A problem.
pub enum Problem {
    /// Made here.
    Made(Value),
    /// A file of examples/kernels, by its name.
    Kernel(String),
}

/// All families.
pub fn families() -> Vec<Family> {
    let mut all = vec![gemm(), chains(), trees(2), trees(3), mappings()];
    all.extend(sharing::families());
    all.push(kernels());
    all
}

/// CLTune's GEMM with wider and wider domains.
fn gemm() -> Family {
    let program = contenders::program("gemm");
    let file = format!("{}/examples/kernels/gemm.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).expect("examples/kernels/gemm.json is there");
    let shipped: Value = serde_json::from_str(&text).expect("gemm.json is JSON");
    let widened = [4, 8, 16, 32, 64, 128, 256, 512, 1024].map(|most| {
        let problem = widened(&shipped, &program, most);
        (format!("up to {most}"), Problem::Made(problem))
    });
    Family {
        name: "GEMM",
        about: "CLTune's matrix multiplication (1024 by 1024) on `h200`: parameters and \
            constraints of \
                `examples/kernels/gemm.json`, the program that `tickbound explain` reads from its \
                OpenCL C, and \
                for each of the eight tile parameters all powers of two up to a number (vector \
                widths up to 16).",
        problems: widened.into(),
        grows: true,
    }
}

/// The problem with all powers of two up to `most` for each parameter that is not a switch.
fn widened(shipped: &Value, program: &Value, most: i64) -> Value {
    let mut problem = shipped.clone();
    let domains = problem["parameters"].as_object_mut().expect("gemm.json has parameters");
    for (name, domain) in domains {
        let most = if name.starts_with("VW") { most.min(16) } else { most };
        if !name.starts_with('S') {
            *domain = json!(format!("powers_of_two(1, {most})"));
        }
    }
    // `/` in a constraint is exact, and the kernel divides with a floor: the two may only differ
    // where the shipped domains are left.
    let constraints = problem["constraints"].as_array_mut().expect("gemm.json has constraints");
    constraints.push(json!("MDIMC * NDIMC % MDIMA == 0"));
    constraints.push(json!("MDIMC * NDIMC % NDIMB == 0"));
    problem["name"] = json!(format!("GEMM, powers of two up to {most}"));
    problem["kernel"] = program.clone();
    for key in ["$schema", "notes", "sizes"] {
        problem.as_object_mut().expect("a problem is an object").shift_remove(key);
    }
    problem
}

/// Parameters of ten values each in a row; each shares a term of the cost with the next.
fn chains() -> Family {
    let chain = |n: usize| {
        let mut random = Random(1);
        let mut kernel = Vec::new();
        for i in 1..n {
            let (p, q) = (format!("p{}", i - 1), format!("p{i}"));
            let [a, b, c] = [(); 3].map(|()| random.within(1, 97));
            let modulus = random.within(50, 211);
            kernel
                .push(work(&format!("({a} * {p} + {b} * {q} + {c} * {p} * {q}) % {modulus} + 1")));
        }
        (format!("{n} parameters"), Problem::Made(problem(n, Vec::new(), kernel)))
    };
    Family {
        name: "Chains",
        about: "n parameters of 10 values, no constraints; each adds to the time a pseudo-random \
            number that \
                depends on it and on the one before.",
        problems: (2..=12).map(chain).collect(),
        grows: true,
    }
}

/// Parameters of ten values on a random join tree: each, after the first few, shares a term with
/// `width` earlier ones that share one already. Every second term comes with a constraint.
fn trees(width: usize) -> Family {
    let (name, about) = match width {
        2 => (
            "Trees of width 2",
            "n parameters of 10 values on a random join tree: every term of the time \
               depends on three of them, and about every second comes with a constraint on two.",
        ),
        _ => ("Trees of width 3", "The same with terms over four parameters."),
    };
    let problems = [width + 1, 4, 5, 6, 7, 8, 9, 10, 11, 12].into_iter();
    let mut sizes: Vec<usize> = problems.collect();
    sizes.dedup();
    let problems = sizes.into_iter();
    let named = problems.map(|n| (format!("{n} parameters"), Problem::Made(tree(n, width))));
    Family { name, about, problems: named.collect(), grows: true }
}

fn tree(n: usize, width: usize) -> Value {
    let mut random = Random(width as u64);
    let mut cliques = vec![(0..=width).collect::<Vec<usize>>()];
    for i in width + 1..n {
        let mut clique = random.of(&cliques).clone();
        clique.remove(random.within(0, width as i64) as usize);
        clique.push(i);
        cliques.push(clique);
    }
    // Numbers of their own for terms, so that a larger tree only adds to a smaller one.
    let mut random = Random(100 + width as u64);
    let (mut kernel, mut constraints) = (Vec::new(), Vec::new());
    for clique in &cliques {
        let mut term =
            |p: &usize| format!("{} * p{p} * p{}", random.within(1, 97), random.of(clique));
        let terms: Vec<String> = clique.iter().map(&mut term).collect();
        kernel.push(work(&format!("({}) % {} + 1", terms.join(" + "), random.within(50, 211))));
        let (p, q) = (clique[width - 1], clique[width]);
        let [a, b] = [(); 2].map(|()| random.within(1, 9));
        let (modulus, rest) = (random.within(3, 7), random.within(0, 2));
        if random.within(0, 1) == 0 {
            constraints.push(format!("({a} * p{p} + {b} * p{q}) % {modulus} != {rest}"));
        }
    }
    problem(n, constraints, kernel)
}

/// Mappings of a matrix product on more and more levels of buffers.
fn mappings() -> Family {
    let problems = (1..=6)
        .map(|levels| (format!("{levels} levels"), Problem::Made(mapping::problem(4096, levels))));
    Family {
        name: "Mappings",
        about: "A product of 4096 by 4096 matrices mapped on levels of buffers: tiles, loop \
            orders, and which matrices each buffer keeps (`benches/spaces/mapping.rs`).",
        problems: problems.collect(),
        grows: true,
    }
}

/// A step that takes these ticks.
pub fn work(ticks: &str) -> Value {
    json!({ "work": ticks })
}

/// A problem of `n` parameters of ten values on a small platform.
fn problem(n: usize, constraints: Vec<String>, kernel: Vec<Value>) -> Value {
    let ten: Vec<i64> = (1..=10).collect();
    let parameters = (0..n).map(|i| (format!("p{i}"), json!(ten)));
    json!({
        "platform": { "units_per_device": 8, "elements_per_unit": 4, "global_access": 4,
            "local_access": 1 },
        "parameters": parameters.collect::<serde_json::Map<_, _>>(),
        "constraints": constraints,
        "launch": { "global_size": "4096", "local_size": "4" },
        "kernel": kernel,
    })
}

/// The example kernels as they are.
fn kernels() -> Family {
    let names = [
        "transpose",
        "minimum",
        "reduction",
        "nbody",
        "stencil",
        "convolution",
        "dedispersion",
        "coulomb",
        "gemm",
    ];
    let problems = names.map(|n| (n.to_owned(), Problem::Kernel(format!("{n}.json"))));
    Family {
        name: "Example kernels",
        about: "`examples/kernels` as they are.",
        problems: problems.into(),
        grows: false,
    }
}

/// SplitMix64: the same numbers for the same seed, whatever libraries do.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `least` to `most`.
    pub fn within(&mut self, least: i64, most: i64) -> i64 {
        least + (self.next() % (most - least + 1) as u64) as i64
    }

    fn of<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.within(0, all.len() as i64 - 1) as usize]
    }
}
