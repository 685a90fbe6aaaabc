//! Arguments called strides: how far the rows of a buffer are apart, or a small step.

use itertools::Itertools;
use tickbound_opencl::KernelReading;

use crate::draft::Draft;
use crate::found::Found;
use crate::share::Samples;

/// Makes small numbers of strides that are the length of no row. False without strides.
///
/// A row's length is what alone an address grows by with an id above dimension 0, and not with that
/// of dimension 0.
pub(crate) fn steps(draft: &mut Draft, reading: &KernelReading) -> bool {
    if draft.strides.is_empty() {
        return false;
    }
    let samples = Samples::new(draft, reading.extracted.macros());
    let found = reading.extracted.variants.iter().map(|v| (Found::of(v), &v.values)).collect_vec();
    let accesses = found.iter().flat_map(|(found, v)| found.accesses.iter().map(move |s| (s, *v)));
    // Of each access the inputs in each dimension.
    let inputs = |(seen, values): (_, &Vec<i64>)| {
        (0..draft.asked).map(|d| samples.inputs(draft, seen, (d, values))).collect_vec()
    };
    let accesses = accesses.map(inputs).collect_vec();
    let is_row = |name: &String| {
        let mut each = accesses.iter().filter_map(|access| access.split_first());
        each.any(|(x, higher)| {
            !x.contains(name) && higher.iter().any(|names| *names == [name.as_str()])
        })
    };
    let (rows, steps): (Vec<String>, Vec<String>) = draft.strides.iter().cloned().partition(is_row);
    draft.strides.clear();
    for name in &steps {
        draft.inputs.shift_remove(name);
        draft.guess(format!("{name} = 1"));
        let arguments = draft.arguments.iter_mut().filter(|argument| argument.name == *name);
        arguments.for_each(|argument| argument.value = "1".to_owned());
    }
    draft.guessed.extend(rows);
    true
}
