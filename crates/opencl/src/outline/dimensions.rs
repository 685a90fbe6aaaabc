//! How many dimensions of a launch code uses.

use super::tokens::Token;

/// Beginnings of the functions of OpenCL C.
const FUNCTIONS: [&str; 4] = ["get_global_", "get_local_", "get_group_", "get_num_groups"];
/// The variables of CUDA and HIP.
const VARIABLES: [&str; 4] = ["threadIdx", "blockIdx", "blockDim", "gridDim"];

/// The greatest of the dimensions of ids and sizes in some tokens, from 1 to 3, or 0 without any.
pub(super) fn dimensions(tokens: &[&Token]) -> usize {
    let dimension = |w: &[&Token]| {
        let name = w[0].name()?;
        if w[1].is("(") && FUNCTIONS.iter().any(|start| name.starts_with(start)) {
            return Some(usize::try_from(w[2].number()?).ok()? + 1);
        }
        let axis = if w[1].is(".") && VARIABLES.contains(&name) { w[2].name() } else { None };
        // HIP also has one name for both.
        let axis = axis.or_else(|| Some(name.strip_prefix("hip")?.split_once('_')?.1));
        ["x", "y", "z"].iter().position(|own| Some(*own) == axis).map(|place| place + 1)
    };
    tokens.windows(3).filter_map(dimension).filter(|d| *d <= 3).max().unwrap_or(0)
}
