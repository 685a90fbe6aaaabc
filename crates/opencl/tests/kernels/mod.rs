//! The kernels in `examples/kernels` compute what their host references do, in configurations drawn
//! from their spaces, access nothing that is not theirs, and access memory exactly as often as the
//! front end says: run on the host by [`instrumented`], which is held against closed formulas and
//! against faulty kernels here as well.

use std::process::Command;

use accesses::Read;
use example::Kernel;
use instrumented::{Instrument, available};
use reference::Reference;
use tickbound_model::source::{ArgumentKind, ElementType};

mod accesses;
mod compiled;
pub mod example;
mod formulas;
mod instrumented;
mod least;
mod reference;
mod requests;
mod usage;

/// Seed of all choices here.
const SEED: u64 = 20_230_714;

/// Names of the kernels, each with the number of its configurations at size `small`.
pub const KERNELS: [(&str, usize); 10] = [
    ("minimum", 56),
    ("reduction", 144),
    ("transpose", 40),
    ("gemm", 241_600),
    ("convolution", 4_746),
    ("dedispersion", 11_130),
    ("nbody", 504),
    ("coulomb", 2_592),
    ("coulomb-column", 210),
    ("stencil", 588),
];

#[test]
fn minimum() {
    agrees_with_reference("minimum", 20);
}

#[test]
fn reduction() {
    agrees_with_reference("reduction", 20);
}

#[test]
fn transpose() {
    agrees_with_reference("transpose", 20);
}

#[test]
fn gemm() {
    agrees_with_reference("gemm", 20);
}

#[test]
fn convolution() {
    agrees_with_reference("convolution", 20);
}

#[test]
fn dedispersion() {
    agrees_with_reference("dedispersion", 20);
}

#[test]
fn nbody() {
    agrees_with_reference("nbody", 20);
}

#[test]
fn coulomb() {
    agrees_with_reference("coulomb", 20);
}

#[test]
fn coulomb_by_columns() {
    agrees_with_reference("coulomb-column", 20);
}

#[test]
fn stencil() {
    agrees_with_reference("stencil", 20);
}

#[test]
#[ignore = "a quarter of an hour"]
fn many_configurations() {
    for (name, _) in KERNELS {
        agrees_with_reference(name, 300);
    }
}

#[test]
fn spaces_have_their_sizes() {
    for (name, configurations) in KERNELS {
        let kernel = Kernel::load(name, "small").unwrap();
        assert_eq!(kernel.problem.space().unwrap().bound.len(), configurations, "{name}");
    }
}

/// Devices' compilers know both versions of the language and only its own functions.
#[test]
fn both_standards_without_warnings() {
    let Some(clang) = available() else { return };
    for (name, _) in KERNELS {
        let kernel = Kernel::load(name, "small").unwrap();
        for configuration in kernel.sample(4) {
            for standard in ["-cl-std=CL1.2", "-cl-std=CL3.0"] {
                let mut command = Command::new(&clang);
                command.args([
                    "-x",
                    "cl",
                    standard,
                    "-fsyntax-only",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                ]);
                let defines = kernel.defines(&configuration);
                command.args(defines.iter().map(|(name, text)| format!("-D{name}={text}")));
                finish(command.arg(kernel.folder.join(&kernel.source().path))).unwrap();
            }
        }
    }
}

/// Runs configurations of a kernel and of its reference, and compares all outputs; and compares
/// accesses with what the reader reads.
fn agrees_with_reference(name: &str, samples: usize) {
    let Some(mut instrument) = instrument() else { return };
    let kernel = Kernel::load(name, "small").unwrap();
    let reference = Reference::build(&kernel).unwrap();
    let read = Read::of(&kernel);
    for configuration in kernel.sample(samples) {
        let got = kernel.run(&mut instrument, &configuration);
        let got =
            got.unwrap_or_else(|e| panic!("{name}, {}: {e}", kernel.describe(&configuration)));
        read.assert_agrees(&configuration, &got);
        let expected = reference.run(&kernel, &configuration).unwrap();
        let tolerance = kernel.tolerance(&configuration);
        for (i, argument) in kernel.source().arguments.iter().enumerate() {
            let ArgumentKind::Buffer { output: true, .. } = argument.kind else { continue };
            let wrong =
                first_difference(argument.element, &got.buffers[i], &expected[i], tolerance);
            assert_eq!(
                wrong,
                None,
                "{name}, {}: {}",
                kernel.describe(&configuration),
                argument.name
            );
        }
    }
}

/// The first element that differs by more than is allowed: its place, its value, the right value.
fn first_difference(
    element: ElementType,
    got: &[u8],
    expected: &[u8],
    tolerance: f64,
) -> Option<(usize, f64, f64)> {
    assert_eq!(got.len(), expected.len());
    let size = element.bytes();
    let pairs = got.chunks_exact(size).zip(expected.chunks_exact(size)).enumerate();
    let mut numbers = pairs.map(|(i, (g, e))| (i, number(element, g), number(element, e)));
    numbers.find(|(_, got, expected)| {
        let allowed = if element.is_real() { tolerance * expected.abs().max(1.0) } else { 0.0 };
        (got - expected).abs() > allowed || got.is_nan() || expected.is_nan()
    })
}

/// The value of an element of at most 32 bits, or of a double.
fn number(element: ElementType, bytes: &[u8]) -> f64 {
    match element {
        ElementType::Char => f64::from(bytes[0] as i8),
        ElementType::Uchar => f64::from(bytes[0]),
        ElementType::Int => f64::from(i32::from_le_bytes(bytes.try_into().unwrap())),
        ElementType::Uint => f64::from(u32::from_le_bytes(bytes.try_into().unwrap())),
        ElementType::Float => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        ElementType::Double => f64::from_le_bytes(bytes.try_into().unwrap()),
        other => unimplemented!("outputs of type {}", other.name()),
    }
}

/// The instrument, or nothing where there is no compiler for it, which in CI is a failure.
fn instrument() -> Option<Instrument> {
    let Some(clang) = available() else {
        assert!(std::env::var_os("CI").is_none(), "clang 15 or later must be installed in CI");
        eprintln!("skipped: no clang 15 or later");
        return None;
    };
    Some(Instrument::new(&clang).unwrap())
}

fn finish(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}
