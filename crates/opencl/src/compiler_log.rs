//! What a compiler reports of a kernel: the registers of an item, and those that it had no place
//! for.
//!
//! What goes in: the text that a compiler has printed. Three are read: `ptxas -v`; the build log of
//! NVIDIA's OpenCL with `-cl-nv-verbose`, which has the same lines; and the metadata of AMD's code
//! objects (LLVM's AMDGPUUsage, "Code Object V3 Metadata"), as `llvm-readelf --notes` shows them.
//! What comes out takes the place of the registers that were counted in the source.

use indexmap::IndexMap;
use itertools::Itertools;

/// Most kernels that an error names.
const MAX_NAMES: usize = 8;

/// What a compiler needs for one item of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Registers {
    /// 32-bit registers that it uses.
    pub used: i64,
    /// 32-bit values that it stores to memory as there is no register for them.
    pub spilled: i64,
}

impl Registers {
    /// As many as would be live if there were room for all.
    pub fn live(self) -> i64 {
        self.used.saturating_add(self.spilled)
    }
}

/// The registers of a kernel in a compiler's report; without a name, of the only kernel in it.
///
/// # Errors
/// In words: there is no such kernel in it, or more than one.
pub fn registers(text: &str, kernel: Option<&str>) -> Result<Registers, String> {
    let mut kernels = of_nvidia(text);
    kernels.extend(of_amd(text));
    let names = || {
        let more = if kernels.len() > MAX_NAMES { ", ..." } else { "" };
        format!("{}{more}", kernels.keys().take(MAX_NAMES).format(", "))
    };
    match (kernel, kernels.len()) {
        (_, 0) => Err("no kernel with registers is in it; give what `ptxas -v`, a build with \
             -cl-nv-verbose, or `llvm-readelf --notes` prints"
            .to_owned()),
        (None, 1) => Ok(kernels[0]),
        (None, _) => Err(format!("several kernels are in it: {}; keep one", names())),
        (Some(kernel), _) => kernels
            .get(kernel)
            .copied()
            .ok_or_else(|| format!("there is no kernel `{kernel}` in it; there are: {}", names())),
    }
}

fn number_before(line: &str, words: &str) -> Option<i64> {
    line.split_once(words)?.0.split_ascii_whitespace().last()?.parse().ok()
}

fn behind<'t>(line: &'t str, words: &str) -> Option<&'t str> {
    line.split_once(words).map(|(_, rest)| rest.trim())
}

fn of_nvidia(text: &str) -> IndexMap<&str, Registers> {
    let mut kernels: IndexMap<&str, Registers> = IndexMap::new();
    // The kernel at hand, and the function whose properties follow: a kernel's, or one's that it
    // calls.
    let (mut kernel, mut function, mut spilled) = (None, None, 0);
    for line in text.lines() {
        if let Some(rest) = behind(line, "Compiling entry function '") {
            (kernel, function, spilled) = (rest.split('\'').next(), None, 0);
        } else if let Some(name) = behind(line, "Function properties for ") {
            function = Some(name);
        } else if let (Some(bytes), true) =
            (number_before(line, " bytes spill stores"), function == kernel)
        {
            spilled = bytes.div_euclid(4);
        } else if let (Some(used), Some(name)) = (number_before(line, " registers"), kernel) {
            kernels.insert(name, Registers { used, spilled });
        }
    }
    kernels
}

fn of_amd(text: &str) -> IndexMap<&str, Registers> {
    let mut kernels: IndexMap<&str, Registers> = IndexMap::new();
    let mut kernel = None;
    for line in text.lines() {
        let line = line.trim_start_matches([' ', '-']);
        if let Some(symbol) = line.strip_prefix(".symbol:") {
            kernel = symbol.trim().trim_matches(['\'', '"']).strip_suffix(".kd");
        }
        let Some(name) = kernel else { continue };
        let number = |key| line.strip_prefix(key).and_then(|n| n.trim().parse().ok());
        if let Some(used) = number(".vgpr_count:") {
            kernels.entry(name).or_default().used = used;
        } else if let Some(spilled) = number(".vgpr_spill_count:") {
            kernels.entry(name).or_default().spilled = spilled;
        }
    }
    kernels
}

#[cfg(test)]
mod tests {
    use super::*;

    const NVIDIA: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'gemm' for 'sm_75'
ptxas info    : Function properties for gemm
    72 bytes stack frame, 48 bytes spill stores, 60 bytes spill loads
ptxas info    : Function properties for helper
    0 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 255 registers, 8192 bytes smem, 400 bytes cmem[0]
ptxas info    : Compiling entry function 'pad' for 'sm_75'
ptxas info    : Function properties for pad
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 16 registers, 368 bytes cmem[0]
";

    const AMD: &str = "\
amdhsa.kernels:
  - .args:
      - .name:           a
        .offset:         0
    .name:           gemm
    .sgpr_count:     24
    .symbol:         'gemm.kd'
    .vgpr_count:     128
    .vgpr_spill_count: 6
  - .name:           pad
    .symbol:         pad.kd
    .vgpr_count:     9
    .vgpr_spill_count: 0
";

    #[test]
    fn registers_and_spills() {
        let of = |text, kernel| registers(text, kernel).map(|r| (r.used, r.spilled, r.live()));
        assert_eq!(of(NVIDIA, Some("gemm")), Ok((255, 12, 267)));
        assert_eq!(of(NVIDIA, Some("pad")), Ok((16, 0, 16)));
        assert_eq!(of(AMD, Some("gemm")), Ok((128, 6, 134)));
        assert_eq!(of(AMD, Some("pad")), Ok((9, 0, 9)));
    }

    #[test]
    fn what_is_not_there() {
        let why = |text, kernel| registers(text, kernel).expect_err("nothing is found");
        assert!(why(NVIDIA, None).contains("gemm, pad"), "{}", why(NVIDIA, None));
        assert!(why(AMD, Some("x")).contains("there is no kernel `x`"));
        assert!(why("ptxas info : Used 8 registers", Some("x")).contains("no kernel"));
        let (first, _) =
            NVIDIA.split_once("ptxas info    : Compiling entry function 'pad'").expect("two");
        assert_eq!(registers(first, None), Ok(Registers { used: 255, spilled: 12 }));
    }
}
