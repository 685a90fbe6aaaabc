//! Numbers that differ by structural values: what `lower/general.rs` makes of them.

use serde_json::json;

use super::whole::{oracle, without_arithmetic};
use super::writer::{Case, PLATFORM};
use crate::random::Random;

/// Values of the structural parameter: with 0, 1, negative ones and no multiples of each other.
const VALUES: [&[i64]; 9] = [
    &[1, 2, 4, 8],
    &[0, 1, 2, 4],
    &[4, 2, 1, 0],
    &[-2, -1, 1, 2],
    &[-3, 0, 3, 6],
    &[1, 3, 5],
    &[2, 3, 7, 0],
    &[0, 1],
    &[6, 4, 1, -1],
];

/// The number of a value `v` as C, `V` being the macro: after a rule, as if each value had been
/// written by hand.
fn number(rule: u64, v: i64, c: i64) -> String {
    let safe = if v > 0 { v } else { 1 };
    match rule {
        0 => format!("{}", c * v),
        1 => format!("{}", 24 / safe),
        2 if v <= 0 => "0".into(),
        2 => format!("n / {v} * {v}"),
        3 if v <= 0 => format!("{c}"),
        3 => format!("(n / {v} * {v} + {c})"),
        4 if v <= 0 => format!("{c} * A"),
        4 => format!("(n % {v} * {v} + {c} * A)"),
        5 => format!("max(n, {})", c + v),
        6 => format!("(A * {v} + {})", c * v),
        7 => format!("(n < {v} ? {v} : A)"),
        8 => format!("min(A * {v}, n - {v})"),
        9 => format!("(A + {})", v * v),
        10 => format!("((n + {}) / {safe})", safe - 1),
        11 if v == 0 => "n".into(),
        11 => format!("(lid * {v} + n) / {}", v.abs()),
        _ => format!("((n + {v} * {v}) % {})", v.abs() + 1),
    }
}

pub fn case(seed: u64) -> Case {
    let mut random = Random(seed ^ 0x0F0F);
    let values = VALUES[random.below(VALUES.len() as u64) as usize];
    let mut source = String::new();
    let numbers = 1 + random.below(3);
    for i in 0..numbers {
        let rule = random.below(13) as u64;
        let c = random.below(7) - 1;
        let odd_one = random.below(8);
        for (k, v) in values.iter().enumerate() {
            let word = if k == 0 { "#if" } else { "#elif" };
            let text = match k as i64 == odd_one {
                true => number(random.below(13) as u64, *v, c + 1),
                false => number(rule, *v, c),
            };
            source += &format!("{word} V == {v}\n#define E{i} ({text})\n");
        }
        source += "#else\n#error none\n#endif\n";
    }
    source += "kernel void k(global int *a, local int *l, int n)\n{\nint lid = get_local_id(0);\n";
    for i in 0..numbers {
        source += &match random.below(6) {
            0 => format!("for (int i = 0; i < E{i}; i++) a[i] = 1;\n"),
            1 => format!("for (int i = lid; i < E{i}; i += B) l[i] = a[i];\n"),
            2 => format!("if (lid < E{i}) a[lid] = 1; else l[lid] = 2;\n"),
            3 => format!(
                "for (int i = lid / B; i < E{i}; i += 3) {{ a[i] = 1; \
                 barrier(CLK_LOCAL_MEM_FENCE); }}\n"
            ),
            4 => format!(
                "{{ int x = E{i}; x += A; if (x % 2) a[0] = 1; while (x > 0) {{ l[x] = 1; x -= 2; \
                 }} }}\n"
            ),
            _ => {
                format!("for (int i = E{i}; i < 9; i++) {{ if (E{i} > A) a[i]++; else l[i]++; }}\n")
            }
        };
    }
    source += "}\n";
    let n = [json!("A + 7"), json!(12), json!("V * V + 3"), json!("B")][random.below(4) as usize]
        .clone();
    let third = [json!([2]), json!([0, 3]), json!([-1])][random.below(3) as usize].clone();
    let second = [json!([1]), json!([2, 3])][random.below(2) as usize].clone();
    let problem = json!({
        "platform": serde_json::from_str::<serde_json::Value>(PLATFORM).unwrap(),
        "parameters": { "V": values, "A": third, "B": second },
        "launch": { "global_size": 8, "local_size": 4 },
        "kernel": {
            "opencl": "k.cl", "entry": "k", "defines": { "V": "V", "A": "A", "B": "B" },
            "arguments": [ { "name": "a", "type": "int", "length": 100 },
                           { "name": "l", "type": "int", "length": 100, "space": "local" },
                           { "name": "n", "type": "int", "value": n } ] }
    });
    Case { source, problem }
}

#[test]
fn forms_are_the_numbers_of_all_values() {
    let sum =
        super::check_all("forms", 40, |seed| oracle(&without_arithmetic(case(seed)), seed % 4 < 2));
    assert!(sum.problems > sum.refused, "most sources have to be readable");
}
