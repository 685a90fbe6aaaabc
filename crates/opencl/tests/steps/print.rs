//! Steps as text, one a line.

use std::fmt::Write;

use tickbound_opencl::steps::{
    Assumed, KernelStep, KernelStepKind, KernelSteps, MemoryAccess, Stride, depends_on_item,
};

/// The steps, indented, with the lines of the source in front.
pub fn print(steps: &KernelSteps) -> String {
    let mut text = String::new();
    for local in &steps.locals {
        let _ = writeln!(text, "{:>4}  local {}: {} bytes", local.at.line, local.name, local.bytes);
    }
    for assumed in &steps.assumed {
        let _ = match assumed {
            Assumed::Once { at, key } => {
                writeln!(text, "{:>4}  taken to run once: {key}", at.line)
            }
            Assumed::Printed { at } => writeln!(text, "{:>4}  printf costs nothing", at.line),
        };
    }
    block(&steps.body, 0, &mut text);
    text
}

fn block(steps: &[KernelStep], depth: usize, text: &mut String) {
    for step in steps.iter().filter(|step| !step.is_private()) {
        let _ = write!(text, "{:>4}  {:indent$}", step.at.line, "", indent = 2 * depth);
        match &step.kind {
            KernelStepKind::Access(access) => line(access, text),
            KernelStepKind::Atomic { space, shared, .. } => {
                let shared = if *shared { " shared" } else { "" };
                let _ = writeln!(text, "atomic {}{shared}", space.name());
            }
            KernelStepKind::Value(_) => {}
            KernelStepKind::Barrier => text.push_str("barrier\n"),
            KernelStepKind::Compute { kind, amount, width } => {
                let wide = if *width > 1 { format!(" of {width}") } else { String::new() };
                let _ = writeln!(text, "{amount} {kind:?}{wide}");
            }
            KernelStepKind::Repeat { count, body, .. } => {
                let _ = writeln!(text, "repeat {count}");
                block(body, depth + 1, text);
            }
            KernelStepKind::If { condition, then, otherwise, .. } => {
                let by = if depends_on_item(condition) { " (item)" } else { "" };
                let _ = writeln!(text, "if {condition}{by}");
                block(then, depth + 1, text);
                if !otherwise.is_empty() {
                    let _ = writeln!(text, "      {:indent$}else", "", indent = 2 * depth);
                    block(otherwise, depth + 1, text);
                }
            }
        }
    }
}

fn line(access: &MemoryAccess, text: &mut String) {
    let verb = if access.store { "store" } else { "load" };
    let space = access.space.name();
    let _ = write!(text, "{verb} {space} {}", access.array);
    let _ = match access.width {
        1 => write!(text, " {}", access.element),
        width => write!(text, " {}x{width}", access.element),
    };
    let _ = write!(text, " items {}", stride(&access.items));
    if let Some(iterations) = access.iterations.first() {
        let _ = write!(text, " iterations {}", stride(iterations));
    }
    text.push('\n');
}

fn stride(stride: &Stride) -> String {
    match stride {
        Stride::Elements(number) => format!("[{number}]"),
        Stride::Shifted(elements) => format!("{elements} + data"),
        Stride::Irregular => "irregular".to_owned(),
        Stride::Data => "data".to_owned(),
    }
}
