//! CUDA C++ and HIP C++ as text: declarations of the vendors' names, includes, constants.
//!
//! Both languages are read without their vendor's headers: `shim` declares what sources use of
//! them; a header that is found nowhere is taken as empty. A problem gives values to macros, to
//! constants (`constexpr int TILE = 16`, enumerators), and to parameters of the kernel's template:
//! the [parser](crate::parse) finds the latter two by their declarations.

mod constants;
mod definitions;
mod includes;
mod runtime;

use std::path::PathBuf;

use indexmap::IndexMap;

use crate::lines::is_word;
use crate::outline::Outline;
use crate::request::ReadRequest;
use constants::initial_value;
use definitions::without_definitions;
use includes::inlined;
pub use includes::missing;
pub use runtime::{device_part, instance};
use tickbound_model::source::Standard;

/// The path under which libclang gets the declarations.
pub(crate) const SHIM: &str = "/tickbound/cuda.h";

/// Begins the comment with the arguments of the kernel's template.
const ARGUMENTS: &str = "\n//tickbound ";

/// What parameters of the kernel's template are, by name, in an expanded text.
pub(crate) fn template_arguments(text: &str) -> IndexMap<String, String> {
    let all = text.rsplit_once(ARGUMENTS).map_or("", |(_, all)| all);
    let parts = all.lines().next().unwrap_or_default().split(';');
    parts.filter_map(|one| one.split_once('=')).map(|(n, t)| (n.into(), t.into())).collect()
}

/// What `<mma.h>` has for matrix operations of a warp, with bodies. A lane holds each of its
/// elements of a fragment once, as the instructions `mma.sync` want them (NVIDIA: PTX ISA): a
/// request brings it 4 bytes of a line, of accumulators two elements, or an element that is larger,
/// and four lanes are next to each other in a line.
/// Products of 8 bits take half as long as those of 16 bits, of TF32 twice and of 64 bits 16 times
/// as long (NVIDIA: A100 and H100 whitepapers).
const MATRIX: &str = include_str!("tickbound_mma.h");

/// What brings copies that a kernel does not wait for (`cuda::memcpy_async`, `cp.async`), with
/// bodies: a request takes as many bytes as one of the instruction does. Waiting for them has no
/// price, as for other loads.
const ASYNC: &str = include_str!("tickbound_async.h");

/// The declarations with bodies that an expanded source needs in front.
pub(crate) fn bodies(text: &str) -> String {
    let all = [("wmma", MATRIX), ("memcpy_async", ASYNC)];
    all.into_iter().filter(|(name, _)| text.contains(name)).map(|(_, bodies)| bodies).collect()
}

/// Declarations of the vendors' names.
pub(crate) fn shim(standard: Standard) -> String {
    let hip = if standard == Standard::Hip { include_str!("tickbound_hip.h") } else { "" };
    let cuda = include_str!("tickbound_cuda.h");
    cuda.replace("#include \"tickbound_hip.h\"\n", &format!("{hip}\n"))
}

/// Macros that are defined before the declarations.
pub(crate) fn predefined(standard: Standard) -> Vec<&'static str> {
    let hip = (standard == Standard::Hip).then_some("TB_HIP=1");
    ["TB_NO_STD=1", "TB_DEVICE=1", "__cplusplus=201703L"].into_iter().chain(hip).collect()
}

/// The names of a request that are no macros: constants of its source, parameters of templates.
#[derive(Debug, Clone, Default)]
pub(crate) struct CudaNames(Vec<String>);

impl CudaNames {
    /// The names of a request, and the source without what would hide them: includes of missing
    /// files, and definitions of macros that the request defines.
    pub(crate) fn new(
        request: &ReadRequest,
        source: &str,
        folders: &[PathBuf],
    ) -> (CudaNames, String) {
        let inlined = inlined(&request.name, source, folders);
        let outline = Outline::of(&inlined);
        let given: Vec<&String> = request.symbols.keys().chain(request.texts.keys()).collect();
        let declared =
            |name: &&&String| !outline.macros.contains_key(name.as_str()) && outline.declares(name);
        let names = given.iter().filter(declared).map(|name| (*name).clone()).collect();
        let text = without_definitions(&inlined, &given);
        (CudaNames(names), text)
    }

    /// Whether the preprocessor leaves a name alone.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|own| own == name)
    }

    /// A comment with what these are; nothing if there are none.
    pub(crate) fn arguments(&self, request: &ReadRequest, value: impl Fn(&str) -> i64) -> String {
        let text = |name: &String| match request.texts.get(name) {
            Some(text) => format!("{name}={text}"),
            None => format!("{name}={}", value(name)),
        };
        let all: Vec<String> = self.0.iter().map(text).collect();
        if all.is_empty() { String::new() } else { format!("{ARGUMENTS}{}\n", all.join(";")) }
    }

    /// Open names on which the syntax or a type depends: `if constexpr`, or arguments of classes.
    pub(crate) fn asked(&self, text: &str, open: &[String]) -> Vec<String> {
        let open: Vec<&String> = open.iter().filter(|name| self.has(name)).collect();
        if open.is_empty() {
            return Vec::new();
        }
        let mut deciding = String::new();
        for (at, _) in text.match_indices("if constexpr") {
            deciding += group(&text[at..], ('(', ')'));
        }
        for (at, _) in text.match_indices('<') {
            let inside = group(&text[at..], ('<', '>'));
            let before = text[..at].trim_end();
            let after = text[at + inside.len()..].trim_start().strip_prefix('>');
            let call = after.is_some_and(|rest| rest.trim_start().starts_with(['(', '<', '>']));
            let name = before.rsplit(|c| !is_word(c)).next().unwrap_or_default();
            let tile = name == "tiled_partition";
            let compared = inside.contains("&&") || inside.contains("||");
            let launched = text[..at].ends_with('<') || inside.starts_with("<<") || compared;
            if !launched && !name.is_empty() && name != "template" && (tile || !call) {
                deciding += inside;
                deciding.push(' ');
            }
        }
        let words: Vec<&str> = deciding.split(|c| !is_word(c)).collect();
        open.into_iter().filter(|name| words.contains(&name.as_str())).cloned().collect()
    }

    /// The text with constants that have the values of structural names.
    pub(crate) fn with_values(&self, text: &str, values: &[(String, String)]) -> String {
        let mut text = text.to_owned();
        for (name, value) in values.iter().filter(|(name, _)| self.0.contains(name)) {
            if let Some(span) = initial_value(&text, name) {
                text.replace_range(span, &format!(" {value}"));
            }
        }
        text
    }
}

/// Text from its first opening bracket up to the closing one; nothing if a statement ends before.
fn group(text: &str, (open, close): (char, char)) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            c if c == open => depth += 1,
            c if c == close && depth <= 1 => return &text[..at],
            c if c == close => depth -= 1,
            ';' | '{' => return "",
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_types_depend_on_is_asked() {
        let names = CudaNames(["A", "B", "C", "D", "E", "F"].map(String::from).to_vec());
        let open = names.0.clone();
        let text = "if constexpr (A > 1) f<B>(x); Tile<C, 2> t; k<<<D, E>>>(a); i < F; \
                    tiled_partition<E>(b); for (;i < D && j > 2;) {}";
        assert_eq!(names.asked(text, &open), ["A", "C", "E"]);
    }
}
