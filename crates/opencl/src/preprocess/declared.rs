//! Functions of vendors that clang's headers do not declare, and bodies of asynchronous copies.
//!
//! What a source uses of them comes before its text, so that it compiles without the
//! headers of any device.

use itertools::Itertools;

use crate::lines::is_word;

/// What messages call the place of the declarations.
pub(crate) const DECLARED: &str = "<declared>";

/// Names of functions, the types `T` that each is declared for with any number of components (`S`
/// is the type of one), and the declarations.
const FUNCTIONS: [(&str, &str, &str); 10] = [
    ("intel_sub_group_shuffle intel_sub_group_shuffle_xor", ANY, "O T F(T, uint);"),
    ("intel_sub_group_shuffle_up intel_sub_group_shuffle_down", ANY, "O T F(T, T, uint);"),
    (
        "qcom_sub_group_shuffle qcom_sub_group_shuffle_xor qcom_sub_group_shuffle_up \
         qcom_sub_group_shuffle_down",
        ANY,
        "O T F(T, uint, int, T);",
    ),
    ("arm_dot", "char uchar", "O R F(T, T);"),
    ("arm_dot_acc arm_dot_acc_sat", "char uchar", "O R F(T, T, R);"),
    ("qcom_dot8_acc", "int uint", "O T F(uint, uint, T);"),
    (
        "intel_sub_group_block_read",
        "uchar ushort uint ulong",
        "O T F(const __global S *); O T F(const __local S *); O T F(read_only image2d_t, int2);",
    ),
    (
        "intel_sub_group_block_write",
        "uchar ushort uint ulong",
        "O void F(__global S *, T); O void F(__local S *, T); \
         O void F(write_only image2d_t, int2, T);",
    ),
    (
        "async_work_group_copy",
        ANY,
        "O E F(__local T *d, const __global T *s, size_t n, E e) { LOOP d[i] = s[i]; return e; } \
         O E F(__global T *d, const __local T *s, size_t n, E e) { LOOP d[i] = s[i]; return e; }",
    ),
    (
        "async_work_group_strided_copy",
        ANY,
        "O E F(__local T *d, const __global T *s, size_t n, size_t p, E e) \
         { LOOP d[i] = s[i * p]; return e; } \
         O E F(__global T *d, const __local T *s, size_t n, size_t p, E e) \
         { LOOP d[i * p] = s[i]; return e; }",
    ),
];

/// All scalar types.
const ANY: &str = "char uchar short ushort int uint long ulong float double half";

/// The items of a group copy elements in turn.
const LOOP: &str = "\
    for (size_t i = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * \
    get_local_id(2)); i < n; i += get_local_size(0) * get_local_size(1) * get_local_size(2))";

/// Components that types have.
const WIDTHS: [&str; 6] = ["", "2", "3", "4", "8", "16"];

/// The declarations for what a text uses, one a line; empty for most texts.
pub(super) fn declarations(text: &str) -> String {
    let mut all = String::new();
    if text.contains("_QCOM") {
        all += "enum { CLK_SUB_GROUP_SHUFFLE_WIDTH_WAVE_SIZE_QCOM, \
                CLK_SUB_GROUP_SHUFFLE_WIDTH_W4_QCOM, CLK_SUB_GROUP_SHUFFLE_WIDTH_W8_QCOM };\n";
    }
    for ty in ["float", "half"] {
        // Qualcomm's vectors of 32.
        let name = format!("{ty}32");
        let mut words = text.split(|c| !is_word(c));
        if words.any(|word| word == name) && !text.contains(&format!("{name};")) {
            all += &format!("typedef {ty} {name} __attribute__((ext_vector_type(32)));\n");
        }
    }
    for (names, types, declared) in FUNCTIONS {
        for name in names.split(' ').filter(|name| text.contains(*name)) {
            for (ty, width) in types.split(' ').cartesian_product(WIDTHS) {
                all += &declaration(name, (ty, width), declared);
            }
        }
    }
    match all.is_empty() {
        true => all,
        false => {
            let half = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable";
            format!("# 1 \"{DECLARED}\"\n{half}\n{all}")
        }
    }
}

/// Components `sg` to `sv` of Qualcomm's vectors of 32, which no other compiler knows, by number.
pub(super) fn numbered(text: &str) -> String {
    let mut parts = text.split(".s");
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut chars = part.chars();
        let component = chars.next().and_then(|c| c.to_digit(32)).filter(|digit| *digit >= 16);
        match component.filter(|_| !chars.as_str().starts_with(is_word)) {
            Some(digit) => all += &format!("[{digit}]{}", chars.as_str()),
            None => all += &format!(".s{part}"),
        }
    }
    all
}

/// The declarations of one function for a type; none where there are none.
fn declaration(name: &str, (ty, width): (&str, &str), declared: &str) -> String {
    let block = name.contains("_block_");
    // The others are those of these widths.
    if name.starts_with("arm_") && width != "4" || name.starts_with("qcom_dot") && !width.is_empty()
    {
        return String::new();
    }
    let suffix = match ty {
        "uchar" if block => "_uc",
        "ushort" if block => "_us",
        "ulong" if block => "_ul",
        _ => "",
    };
    let words = |word: &str| match word {
        "O" => "__attribute__((overloadable))".to_owned(),
        "E" => "event_t".to_owned(),
        "F" if block => format!("{name}{suffix}{width}"),
        "F" => name.to_owned(),
        "T" => format!("{ty}{width}"),
        "S" => ty.to_owned(),
        "R" => ty.replace("char", "int"),
        "LOOP" => LOOP.to_owned(),
        word => word.to_owned(),
    };
    let parts = declared.chars().chunk_by(|c| is_word(*c));
    let text = parts.into_iter().map(|(_, part)| words(&part.collect::<String>()));
    text.chain(["\n".to_owned()]).collect()
}
