//! Matrix products mapped on an accelerator: tiles, loops and buffers at several levels.
//!
//! The product is of `size` by `size` matrices, C = A B, with indices m and n of C and k of the
//! sum. Level 1 is the buffer next to the arithmetic; the one after the last level is memory, which
//! holds all. A mapping chooses for each level l
//!
//! * `m`l, `n`l, `k`l: the tile, which divides the tile of the level above;
//! * `inner`l: which of the three loops over the tiles of level l within one of the level above is
//!   the innermost: that over m (0), n (1) or k (2);
//! * `a`l, `b`l, `c`l: whether the buffer keeps its part of A, B and C. What it keeps fits. A
//!   matrix is kept at one of any two neighbours, and read from the nearest level above that does.
//!
//! A part is copied into a buffer outside the innermost loop where that loop does not index it, and
//! inside it otherwise. Parts of C are read and written. A tick is the energy to move one word out
//! of a buffer, more for higher ones; each multiplication reads from the lowest buffer that keeps
//! its operand.
//!
//! Mappings of this kind, without a proof: A. Parashar et al., *Timeloop: A Systematic Approach to
//! DNN Accelerator Evaluation*, ISPASS 2019, section V.

use serde_json::{Map, Value, json};

/// The dimensions of a tile.
pub const DIMENSIONS: [&str; 3] = ["m", "n", "k"];

/// The matrices, the dimension that each does not have, and how often a word of it moves.
pub const MATRICES: [(&str, usize, i64); 3] = [("a", 1, 1), ("b", 0, 1), ("c", 2, 2)];

/// Words that the buffer of a level holds.
pub fn capacity(level: usize) -> i64 {
    8_i64.saturating_pow(level as u32)
}

/// Ticks for a word out of a level, of which there are `levels` and memory above.
pub fn energy(level: usize, levels: usize) -> i64 {
    if level > levels { 200 } else { (level * level) as i64 }
}

/// The problem of mapping a product of `size` by `size` matrices on buffers of `levels` levels.
pub fn problem(size: i64, levels: usize) -> Value {
    let tile = |d: usize, level: usize| match level > levels {
        true => size.to_string(),
        false => format!("{}{level}", DIMENSIONS[d]),
    };
    let mut parameters = Map::new();
    let mut constraints = Vec::new();
    let mut kernel = Vec::new();
    for level in 1..=levels {
        for (d, name) in DIMENSIONS.iter().enumerate() {
            parameters.insert(tile(d, level), json!(format!("divisors({size})")));
            constraints.push(format!("{} % {name}{level} == 0", tile(d, level + 1)));
        }
        parameters.insert(format!("inner{level}"), json!([0, 1, 2]));
        let mut words = Vec::new();
        for (matrix, missing, moves) in MATRICES {
            parameters.insert(format!("{matrix}{level}"), json!([0, 1]));
            if level < levels {
                constraints.push(format!("{matrix}{level} + {matrix}{} >= 1", level + 1));
            }
            let own: Vec<String> =
                (0..3).filter(|d| *d != missing).map(|d| tile(d, level)).collect();
            words.push(format!("{matrix}{level} * {}", own.join(" * ")));
            let source = source(matrix, level, levels);
            let work = |tile: String| {
                let all = moves * size * size;
                json!([{ "compute": format!("{all} * ({size} // {tile}) * ({source})") }])
            };
            let copies = json!({ "if": format!("inner{level} == {missing}"),
                "then": work(tile(missing, level + 1)), "else": work(tile(missing, level)) });
            kernel.push(json!({ "if": format!("{matrix}{level} != 0"), "then": [copies] }));
        }
        constraints.push(format!("{} <= {}", words.join(" + "), capacity(level)));
    }
    for (matrix, ..) in MATRICES {
        let source = source(matrix, 0, levels);
        kernel.push(json!({ "compute": format!("{} * ({source})", size.pow(3)) }));
    }
    json!({
        "name": format!("a product of {size} by {size} matrices on {levels} levels of buffers"),
        "platform": { "units_per_device": 1, "elements_per_unit": 1, "global_access": 1 },
        "parameters": parameters, "constraints": constraints, "kernel": kernel,
        "launch": { "global_size": 1, "local_size": 1 },
    })
}

/// Ticks for a word of a matrix that a level reads from above.
fn source(matrix: &str, level: usize, levels: usize) -> String {
    let (near, far) = (energy(level + 1, levels), energy(level + 2, levels));
    match level == levels {
        true => near.to_string(),
        false => format!("{far} - {} * {matrix}{}", far - near, level + 1),
    }
}
