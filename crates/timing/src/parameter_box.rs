//! Boxes: a range of values for each parameter.

use tickbound_expr::interval::Interval;

/// For each parameter the numbers of the first and of the last of its values, in increasing order.
pub type ParameterBox = Vec<(u32, u32)>;

/// The box of all choices of these values; `None` if a parameter has none.
pub fn whole_box(values: &[Vec<i64>]) -> Option<ParameterBox> {
    values.iter().map(|v| (v.len() as u32).checked_sub(1).map(|last| (0, last))).collect()
}

/// Sets the intervals of the parameters' slots to those of a box. Values are in increasing order.
pub fn set_box(slots: &mut [Interval], of: &ParameterBox, values: &[Vec<i64>]) {
    for ((slot, (low, high)), values) in slots.iter_mut().zip(of).zip(values) {
        *slot = Interval { low: values[*low as usize], high: values[*high as usize] };
    }
}
