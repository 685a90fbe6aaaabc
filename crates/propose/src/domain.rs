//! Proposed domains: a list, or `powers_of_two(LOW, HIGH)`.

use itertools::Itertools;
use serde_json::{Value, json};

/// The two bounds of a text such as `powers_of_two(1, 8)`.
fn bounds(text: &str) -> Option<(i64, i64)> {
    let numbers = text.split(['(', ',', ')']).filter_map(|n| n.trim().parse::<i64>().ok());
    numbers.collect_tuple()
}

/// The values of a proposed domain. Of others that users give, those that are written out.
pub(crate) fn values(domain: &Value) -> Vec<i64> {
    match domain {
        Value::Array(values) => values.iter().filter_map(Value::as_i64).collect(),
        Value::Number(value) => value.as_i64().into_iter().collect(),
        text => {
            let powers = |(low, high)| {
                (0..63).map(|bit| 1_i64 << bit).filter(move |p| (low..=high).contains(p))
            };
            let text = text.as_str().filter(|text| text.starts_with("powers_of_two"));
            text.and_then(bounds).into_iter().flat_map(powers).collect()
        }
    }
}

/// A value for which most sources compile.
pub(crate) fn one_of(domain: &Value) -> i64 {
    let all = values(domain);
    let text = || bounds(domain.as_str()?).map(|(low, _)| low);
    all.iter().copied().find(|v| *v > 0).or(all.first().copied()).or_else(text).unwrap_or(8)
}

/// A domain without values below `least`, which is among them. It has as many as before, if there
/// are so few that are greater.
pub(crate) fn raised(domain: &Value, least: i64) -> Value {
    let before = values(domain);
    let kept = before.iter().copied().filter(|v| *v > least).collect_vec();
    let powers = (0..62).map(|bit| 1_i64 << bit).filter(|p| *p > least);
    let more =
        if kept.len() < 2 { powers.take(before.len().clamp(3, 5) - 1).collect() } else { kept };
    let power = least.count_ones() == 1 && more.iter().all(|v| v.count_ones() == 1);
    match (domain, more.last()) {
        (Value::String(_), Some(high)) if power => json!(format!("powers_of_two({least}, {high})")),
        _ => json!([vec![least], more].concat()),
    }
}
