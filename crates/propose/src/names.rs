//! What the name of a macro means to those who write kernels.
//!
//! The names are those of kernels that are published for auto-tuners: CLTune and CLBlast, Kernel
//! Tuner, KTT, Polybench.

use itertools::Itertools;

/// What a macro is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Work items of a group in this dimension.
    Group(usize),
    /// Groups of a launch.
    Groups,
    /// Elements that a group has in fast memory.
    Tile,
    /// Elements of a work item.
    PerItem,
    /// Components of a vector.
    Vector,
    /// Iterations that are unrolled.
    Unroll,
    /// Whether something is done.
    Flag,
    /// A size of what the kernel works on.
    Size,
}

/// Names of group sizes, without blanks and dimension.
const GROUPS: &str = "\
    WG WGS WGSIZE WORKGROUP WORKGROUPSIZE GROUP GROUPSIZE LOCAL LOCALSIZE LOCALWORKSIZE LWS LSIZE \
    BLOCK BLOCKSIZE BLOCKDIM BLOCKDIMENSION BLK BLKSIZE BS BDIM THREADS NUMTHREADS NTHREADS \
    THREADBLOCK THREADBLOCKSIZE TB TBS TPB";

/// First words of names of group sizes that add nothing.
const NO_ROLE: [&str; 6] = ["FIXED", "DEFAULT", "KERNEL", "CL", "OPENCL", "CUDA"];

/// Names of sizes, without blanks and dimension.
const SIZES: &str = "\
    N M K W H NX NY NZ NI NJ NK NL NM SIZE LEN LENGTH WIDTH HEIGHT DEPTH SAMPLES PITCH LDA \
    LDB LDC";

/// What a macro of this name is for, if known.
pub fn role(name: &str) -> Option<Role> {
    // CLTune's matrix multiplication.
    match name {
        "MDIMC" => return Some(Role::Group(0)),
        "NDIMC" => return Some(Role::Group(1)),
        "MWG" | "NWG" | "KWG" => return Some(Role::Tile),
        "SA" | "SB" | "STRM" | "STRN" => return Some(Role::Flag),
        _ => {}
    }
    let mut words = words(name);
    let has = |words: &[String], some: &[&str]| words.iter().any(|w| some.contains(&w.as_str()));
    if has(&words[..1], &["USE", "ENABLE", "HAS", "WITH", "IS", "NO", "DO"]) {
        return Some(Role::Flag);
    }
    let dimension = dimension(&mut words);
    let whole = words.concat();
    let count = has(&words, &["NUM", "N", "NR", "COUNT"]);
    if count && has(&words, &["WG", "WGS", "GROUP", "GROUPS", "BLOCK", "BLOCKS", "WORKGROUPS"]) {
        return Some(Role::Groups);
    }
    let own = if has(&words[..1], &NO_ROLE) { words[1..].concat() } else { whole.clone() };
    if GROUPS.split(' ').any(|name| name == own) {
        return Some(Role::Group(dimension.unwrap_or(0)));
    }
    if words.iter().any(|w| w.contains("UNROLL")) {
        return Some(Role::Unroll);
    }
    let per = ["PER", "WPT", "COARSENING", "COARSEN", "ITERATIONS", "ITEMS", "FACTOR", "CHUNK"];
    if has(&words, &per) || whole.starts_with("WPT") {
        return Some(Role::PerItem);
    }
    if has(&words, &["VECTOR", "VEC", "VW", "VECTORSIZE"]) || whole.starts_with("VW") {
        return Some(Role::Vector);
    }
    if has(&words, &["TILE", "TILESIZE", "TS", "TW", "TH", "BLOCKING"]) {
        return Some(Role::Tile);
    }
    let last = words.last().map(String::as_str).unwrap_or_default();
    let counted = has(&words[..1], &["NUM", "N", "NR", "NO"]);
    (SIZES.split(' ').any(|name| name == last) || counted).then_some(Role::Size)
}

/// What an argument or a size of this name is likely to be, if that is no size of the whole task.
pub fn small(name: &str) -> Option<i64> {
    const SMALL: [(&str, i64); 7] = [
        ("KERNEL FILTER", 3),
        ("RADIUS BORDER HALO", 1),
        ("PAD", 0),
        ("DILATION ITER STEP INC STRIDE", 1),
        ("OFF SHIFT BIT START FLAG ROTATED TRANSPOSE CONJUGATE UNUSED DUMMY IS DO MODE", 0),
        ("SEED", 1),
        ("PARAMETER", 0),
    ];
    let words = words(name);
    if words.len() > 1 && ["HAS", "USE", "ENABLE", "WITH"].contains(&words[0].as_str()) {
        return Some(1);
    }
    let exact =
        |word: &str, known: &str| word == known || (known.len() > 2 && word.starts_with(known));
    let has = |known: &str| words.iter().any(|word| exact(word, known));
    SMALL.iter().find(|(names, _)| names.split(' ').any(has)).map(|(_, value)| *value)
}

/// How names of vendors' programs and libraries begin.
const VENDORS: [&str; 9] =
    ["CU", "HIP_", "MUSA", "ROCM", "NPP_", "NCCL", "RCCL", "THRUST_", "CCCL"];

/// Whether a name is one of compilers, or of a version of a vendor's program or library.
pub(crate) fn reserved(name: &str) -> bool {
    let starts = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    starts(&["__", "cl_", "CL_", "UINTPTR_"]) || name.contains("_VER") && starts(&VENDORS)
}

/// Whether a number of this name may be how far rows are apart.
pub fn is_stride(name: &str) -> bool {
    words(name).iter().any(|word| word == "STRIDE")
}

/// The words of a name, in capitals: at `_`, where small letters are followed by a capital, and
/// before digits.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let new = (before.is_lowercase() && c.is_uppercase())
            || (before.is_alphabetic() && c.is_ascii_digit())
            || c == '_';
        if new && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c != '_', words.last_mut()) {
            word.extend(c.to_uppercase());
        }
        before = c;
    }
    if words.len() > 1 && words.last().is_some_and(String::is_empty) {
        words.pop();
    }
    words
}

/// Takes the dimension from the end of a name, if it states one.
fn dimension(words: &mut Vec<String>) -> Option<usize> {
    let last = words.last()?.clone();
    let known = [("X", 0), ("Y", 1), ("Z", 2), ("0", 0), ("1", 1), ("2", 2)];
    let found = known.iter().find(|(word, _)| *word == last).map(|(_, d)| *d);
    if found.is_some() && words.len() > 1 {
        words.pop();
        return found;
    }
    // WGX, BLOCKY.
    let (stem, end) = last.split_at_checked(last.len().checked_sub(1)?)?;
    let found = known[..3].iter().find(|(word, _)| *word == end).map(|(_, d)| *d)?;
    let rest = words[..words.len() - 1].concat() + stem;
    if !GROUPS.split(' ').any(|name| name == rest) {
        return None;
    }
    *words.last_mut()? = stem.to_owned();
    Some(found)
}

/// Some names, quoted; of many the first ones.
pub(crate) fn few(names: &[String]) -> String {
    const MAX_NAMES: usize = 4;
    let first = names.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).join(", ");
    if names.len() > MAX_NAMES { format!("{first} and others") } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_vendors() {
        let vendors = ["__CUDA_ARCH__", "CUDART_VERSION", "CUBLAS_VER_MAJOR", "UINTPTR_MAX"];
        assert!(vendors.into_iter().all(reserved));
        assert!(!["VERSION", "KERNEL_VERSION", "CUTOFF", "HIP_TILE"].into_iter().any(reserved));
    }

    #[test]
    fn roles() {
        let known = [
            ("WG", Role::Group(0)),
            ("block_size_x", Role::Group(0)),
            ("block_size_y", Role::Group(1)),
            ("WORK_GROUP_SIZE_Z", Role::Group(2)),
            ("blockSizeX", Role::Group(0)),
            ("BLOCKY", Role::Group(1)),
            ("LOCAL_SIZE", Role::Group(0)),
            ("WGS", Role::Group(0)),
            ("tile_size_x", Role::Tile),
            ("TS", Role::Tile),
            ("WPT", Role::PerItem),
            ("WORK_PER_THREAD_X", Role::PerItem),
            ("VW", Role::Vector),
            ("VECTOR_SIZE", Role::Vector),
            ("INNER_UNROLL_FACTOR", Role::Unroll),
            ("USE_LOCAL", Role::Flag),
            ("N", Role::Size),
            ("image_width", Role::Size),
            ("NUM_ATOMS", Role::Size),
            ("num_blocks", Role::Groups),
            ("WG_NUM", Role::Groups),
            ("NUM_THREADS", Role::Group(0)),
            ("FIXED_LOCAL_SIZE", Role::Group(0)),
            ("CUDA_NUM_THREADS", Role::Group(0)),
            ("KERNEL_SIZE", Role::Size),
        ];
        for (name, expected) in known {
            assert_eq!(role(name), Some(expected), "{name}");
        }
        for name in ["FOO", "_", "ALPHA", "X", "é", ""] {
            assert_eq!(role(name), None, "{name}");
        }
    }

    #[test]
    fn what_is_small() {
        for (name, value) in [
            ("kernel_h", 3),
            ("x_offset", 0),
            ("yInc", 1),
            ("has_bias", 1),
            ("is_rowmajor", 0),
            ("goff", 0),
        ] {
            let expected = if name == "goff" { None } else { Some(value) };
            assert_eq!(small(name), expected, "{name}");
        }
        for name in ["n", "width", "numberOfAtoms", "input", "dot"] {
            assert_eq!(small(name), None, "{name}");
        }
    }
}
