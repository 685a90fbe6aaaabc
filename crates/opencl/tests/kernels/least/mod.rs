//! What the example kernels use of a device at least, against counts that were made by hand.
//!
//! The counts by hand follow the rules of `docs/floors.md`: what is the same in all iterations of a
//! loop once, a product with its addition once, addresses that differ once.

use indexmap::IndexMap;
use tickbound_expr::Expr;
use tickbound_model::{Bound, LeastCount, LeastUsage, Profile};
use tickbound_opencl::{KernelReading, attach, least};

use super::example::Kernel;

mod optimised;
mod written;

use LeastCount::{
    Chain, Convert, GlobalRequests, LocalRequests, ReadBytes, Real, Special, WrittenBytes,
};

/// The kernel with what it uses at least; `None` without libclang, which CI has.
pub fn read(mut kernel: Kernel) -> Option<(Kernel, LeastUsage)> {
    kernel.problem.profile = Profile::Resources;
    let Ok(Some(reading)) = attach(&mut kernel.problem, &kernel.folder.clone()) else {
        assert!(std::env::var_os("CI").is_none(), "libclang is missing");
        return None;
    };
    let counts = least(&kernel.problem, &reading).unwrap();
    let _: KernelReading = reading;
    Some((kernel, counts))
}

/// Checks `wanted` in a sample of a kernel's configurations.
fn agrees(name: &str, wanted: impl Fn(&dyn Fn(&str) -> i64) -> Vec<(LeastCount, i64)>) {
    let Some((kernel, counts)) = read(Kernel::load(name, "small").unwrap()) else { return };
    for bound in kernel.sample(200) {
        let own = of_all(&counts.each, &bound);
        for (what, count) in wanted(&|name| kernel.value(&bound, name)) {
            let found = own.get(&what).copied().unwrap_or(0);
            assert_eq!(found, count, "{}: {}", what.name(), kernel.describe(&bound));
        }
    }
}

/// Counts in one configuration.
pub type Own = IndexMap<LeastCount, i64>;

pub fn of_all(counts: &IndexMap<LeastCount, Expr>, bound: &Bound) -> Own {
    counts.iter().map(|(what, number)| (*what, number.eval(&bound.env).unwrap())).collect()
}

#[test]
fn matrix_multiplication() {
    agrees("gemm", |of| {
        let (m, n, k) = (of("m"), of("n"), of("k"));
        let (rows, columns) = (of("MWG") / of("MDIMC"), of("NWG") / of("NDIMC"));
        vec![
            (Real, rows * columns * k),
            (Special, 0),
            (ReadBytes, 4 * (m * k + k * n)),
            (WrittenBytes, 4 * m * n),
            (Chain, k),
        ]
    });
}

#[test]
fn bodies() {
    agrees("nbody", |of| {
        let (n, outer, local) = (of("n"), of("OUTER"), of("USE_LOCAL"));
        let pairs = n * outer;
        vec![
            (Real, 13 * pairs),
            (Special, pairs),
            (ReadBytes, 16 * n),
            (LocalRequests, local * n),
            (Chain, n),
        ]
    });
}

#[test]
fn coulomb() {
    agrees("coulomb", |of| {
        let (atoms, wide, deep) = (of("atoms"), of("VECTOR_SIZE"), of("Z_ITERATIONS"));
        vec![
            // Per atom: dx, dy, dz and their squares, with sums, and the charge.
            // Of the steps in x those that are not 0 are added once.
            (Real, atoms * (2 * wide + 2 + deep + 2 * wide * deep) + wide - 1),
            (Special, atoms * wide * deep),
            (GlobalRequests, deep),
            (ReadBytes, 16 * atoms),
            (Chain, atoms),
        ]
    });
}

#[test]
fn reduction() {
    agrees("reduction", |of| {
        let (size, each) = (of("size"), of("VPI"));
        vec![(GlobalRequests, each / of("VW")), (ReadBytes, 4 * size), (Convert, 0)]
    });
}
