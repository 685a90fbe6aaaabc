//! The host reference, to be filled in.

use std::fmt::Write;

use tickbound_model::source::ElementType;
use tickbound_opencl::reading::{By, KernelSignature};

/// A C file with the function `reference` for a kernel. It does not compile before the user states
/// what is right.
pub fn reference(kernel: &KernelSignature, outputs: &[String]) -> String {
    let parameters = kernel.parameters.iter().filter(|p| p.ty.by != Some(By::Local)).map(|p| {
        let ty = p.ty.element.map_or_else(|| "unsigned char".to_owned(), c_type);
        match p.ty.by {
            Some(By::Value) => format!("{ty} {}", p.name),
            _ if outputs.contains(&p.name) => format!("{ty} *{}", p.name),
            _ => format!("const {ty} *{}", p.name),
        }
    });
    let parameters: Vec<String> = parameters.collect();
    let mut text = String::from(
        "/* What the kernel must compute. Outputs hold their first content when this is \
         called.\n   \
         value(\"NAME\") is the value of an input, a parameter or a definition. */\n\
         long value(const char *name);\n\n",
    );
    let _ = writeln!(text, "void reference({})\n{{", parameters.join(", "));
    let _ = writeln!(text, "#error \"say here what {} computes\"\n}}", kernel.name);
    text
}

/// The type of C for an element of a buffer on the host.
fn c_type(element: ElementType) -> String {
    match (element, element.name().strip_prefix('u')) {
        (ElementType::Char, _) => "signed char".to_owned(),
        (ElementType::Uint, _) => "unsigned".to_owned(),
        (_, Some(signed)) => format!("unsigned {signed}"),
        (_, None) => element.name().to_owned(),
    }
}
