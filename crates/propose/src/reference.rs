//! The host reference, to be filled in.

use std::fmt::Write;

use tickbound_opencl::reading::{By, KernelSignature};

/// A C file with the function `reference` for a kernel. It does not compile before somebody says
/// what is right.
pub fn reference(kernel: &KernelSignature, outputs: &[String]) -> String {
    let parameters = kernel.parameters.iter().filter(|p| p.ty.by != Some(By::Local)).map(|p| {
        let ty = p.ty.element.map_or("unsigned char", c_type);
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
fn c_type(element: tickbound_model::source::ElementType) -> &'static str {
    use tickbound_model::source::ElementType as E;
    match element {
        E::Char => "signed char",
        E::Uchar => "unsigned char",
        E::Short => "short",
        E::Ushort => "unsigned short",
        E::Int => "int",
        E::Uint => "unsigned",
        E::Long => "long",
        E::Ulong => "unsigned long",
        E::Float => "float",
        E::Double => "double",
    }
}
