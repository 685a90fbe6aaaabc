//! The sizes that a rule is for: values of inputs, in all combinations.

use std::fmt;
use std::str::FromStr;

use itertools::Itertools;
use serde_json::{Map, Value, json};
use tickbound_input::message::suggest;
use tickbound_model::ModelError;

/// Most sizes of a rule.
pub const MAX_SIZES: usize = 1 << 16;

/// What `--over` takes, for messages.
const FORM: &str = "write NAME=FIRST..LAST[:STEP] or NAME=VALUE,VALUE,..., such as n=16..8192:16; \
                    M=N=... for inputs that are equal";

/// Why a text names no sizes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{option} {text}: {what}; {fix}")]
pub struct SizesError {
    /// The option with the text.
    pub option: &'static str,
    /// The text.
    pub text: String,
    /// What is wrong.
    pub what: String,
    /// What to write.
    pub fix: String,
}

/// Values of an input, or of several that are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Dimension {
    names: Vec<String>,
    /// Ranges of values as (first, last, step), in the order in which they were written.
    ranges: Vec<(i64, i64, i64)>,
    values: Vec<i64>,
}

impl Dimension {
    /// Adds a range of values; what is wrong with it, and what to write.
    fn extend(&mut self, range: &str) -> Result<(), (String, &'static str)> {
        let read = range_in(range).ok_or_else(|| (format!("`{range}` is no range"), FORM));
        let (first, last, step) = read?;
        if step < 1 || last < first {
            let fix = "write the smaller end first, and a step of at least 1";
            return Err((format!("the range `{range}` is empty"), fix));
        }
        if (last.abs_diff(first) / step.unsigned_abs()) >= MAX_SIZES as u64 {
            return Err((format!("more than {MAX_SIZES} sizes"), "take a greater step"));
        }
        self.ranges.push((first, last, step));
        self.values.extend((first..=last).step_by(step as usize));
        Ok(())
    }
}

/// All combinations of input values, on some platforms; the last input changes first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleSizes {
    dimensions: Vec<Dimension>,
    /// Names of the platforms; empty if the problem's own is the only one.
    platforms: Vec<String>,
}

impl FromStr for RuleSizes {
    type Err = SizesError;

    fn from_str(text: &str) -> Result<RuleSizes, SizesError> {
        let fault = |what: &str, fix: &str| SizesError {
            option: "--over",
            text: text.to_owned(),
            what: what.to_owned(),
            fix: fix.to_owned(),
        };
        let mut dimensions: Vec<Dimension> = Vec::new();
        for item in text.split(',').map(str::trim) {
            let (names, range) = match item.rsplit_once('=') {
                None => (None, item),
                Some((names, range)) => (Some(names), range),
            };
            if let Some(names) = names {
                let names: Vec<String> = names.split('=').map(|n| n.trim().to_owned()).collect();
                if names.iter().any(String::is_empty) {
                    return Err(fault("an input has no name", FORM));
                }
                dimensions.push(Dimension { names, ranges: Vec::new(), values: Vec::new() });
            }
            let dimension = dimensions.last_mut();
            let dimension = dimension.ok_or_else(|| fault("begins without a name", FORM))?;
            dimension.extend(range).map_err(|(what, fix)| fault(&what, fix))?;
        }
        let sizes = RuleSizes { dimensions, platforms: Vec::new() };
        let names: Vec<&str> = sizes.names().collect();
        if let Some(twice) = names.iter().duplicates().next() {
            return Err(fault(&format!("`{twice}` is named twice"), "keep one of them"));
        }
        for dimension in &sizes.dimensions {
            if let Some(twice) = dimension.values.iter().duplicates().next() {
                return Err(fault(&format!("{twice} occurs twice"), "keep one of them"));
            }
        }
        let counts = sizes.dimensions.iter().map(|d| d.values.len());
        match counts.fold(1usize, usize::saturating_mul) {
            0..=MAX_SIZES => Ok(sizes),
            count => Err(fault(
                &format!("{count} sizes, more than {MAX_SIZES}"),
                "take greater steps, or lists of values",
            )),
        }
    }
}

/// `FIRST..LAST:STEP`, `FIRST..LAST` or one value.
fn range_in(text: &str) -> Option<(i64, i64, i64)> {
    let number = |text: &str| text.trim().replace('_', "").parse::<i64>().ok();
    let Some((first, rest)) = text.split_once("..") else {
        return number(text).map(|value| (value, value, 1));
    };
    let (last, step) = rest.split_once(':').unwrap_or((rest, "1"));
    Some((number(first)?, number(last.trim_start_matches('='))?, number(step)?))
}

impl fmt::Display for RuleSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |(first, last, step): &(i64, i64, i64)| match (first == last, step) {
            (true, _) => first.to_string(),
            (_, 1) => format!("{first}..{last}"),
            _ => format!("{first}..{last}:{step}"),
        };
        let dimension = |d: &Dimension| {
            format!("{}={}", d.names.join("="), d.ranges.iter().map(range).join(","))
        };
        f.write_str(&self.dimensions.iter().map(dimension).join(","))
    }
}

impl RuleSizes {
    /// The same sizes on each of these platforms.
    ///
    /// # Errors
    /// A platform is named twice, or there are too many sizes.
    pub fn on(self, platforms: &[String]) -> Result<RuleSizes, SizesError> {
        let fault = |what: String, fix: &str| SizesError {
            option: "--devices",
            text: platforms.join(","),
            what,
            fix: fix.to_owned(),
        };
        if let Some(twice) = platforms.iter().duplicates().next() {
            return Err(fault(format!("`{twice}` is named twice"), "keep one of them"));
        }
        let sizes = RuleSizes { platforms: platforms.to_vec(), ..self };
        match sizes.count() {
            0..=MAX_SIZES => Ok(sizes),
            count => Err(fault(
                format!("{count} sizes on all platforms, more than {MAX_SIZES}"),
                "take greater steps, or fewer platforms",
            )),
        }
    }

    /// How many there are, on all platforms together; at least 1.
    pub fn count(&self) -> usize {
        self.count_of_one() * self.platforms.len().max(1)
    }

    /// How many there are on one platform.
    pub fn count_of_one(&self) -> usize {
        self.dimensions.iter().map(|d| d.values.len()).product()
    }

    /// The platforms; empty if the problem's own is the only one.
    pub fn platforms(&self) -> &[String] {
        &self.platforms
    }

    /// The place among the platforms of the size with this number; 0 if there is one.
    pub fn platform(&self, number: usize) -> usize {
        number / self.count_of_one().max(1)
    }

    /// The inputs, in the order of [`RuleSizes::values`].
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.dimensions.iter().flat_map(|d| &d.names).map(String::as_str)
    }

    /// One name of each group of equal inputs: those that a function of the size takes.
    pub fn arguments(&self) -> Vec<&str> {
        self.dimensions.iter().filter_map(|d| d.names.first()).map(String::as_str).collect()
    }

    /// The arguments of a decision tree: the place of the platform, if there are several, and
    /// [`RuleSizes::arguments`].
    pub fn tree_arguments(&self) -> Vec<&str> {
        let device = if self.arguments().contains(&"device") { "device_number" } else { "device" };
        let first = (!self.platforms.is_empty()).then_some(device);
        first.into_iter().chain(self.arguments()).collect()
    }

    /// Their values for the size with this number.
    pub fn tree_arguments_at(&self, number: usize) -> Vec<i64> {
        let platform = (!self.platforms.is_empty()).then(|| self.platform(number) as i64);
        platform.into_iter().chain(self.arguments_at(number)).collect()
    }

    /// The argument with the value of the input in this place of [`RuleSizes::names`].
    pub(crate) fn argument(&self, place: usize) -> &str {
        let all = self.dimensions.iter().flat_map(|d| d.names.iter().map(|_| &d.names[0]));
        all.skip(place).map(String::as_str).next().unwrap_or_default()
    }

    /// The ranges of each of [`RuleSizes::arguments`], as (first, last, step).
    pub fn ranges(&self) -> impl Iterator<Item = &[(i64, i64, i64)]> {
        self.dimensions.iter().map(|d| d.ranges.as_slice())
    }

    /// The values of [`RuleSizes::arguments`] for the size with this number, from 0.
    pub fn arguments_at(&self, number: usize) -> Vec<i64> {
        let mut rest = number;
        let mut values: Vec<i64> = Vec::with_capacity(self.dimensions.len());
        for dimension in self.dimensions.iter().rev() {
            let count = dimension.values.len().max(1);
            values.extend(dimension.values.get(rest % count));
            rest /= count;
        }
        values.reverse();
        values
    }

    /// The values of all inputs for the size with this number.
    pub fn values(&self, number: usize) -> Vec<i64> {
        let of_each = self.dimensions.iter().zip(self.arguments_at(number));
        of_each.flat_map(|(d, value)| vec![value; d.names.len()]).collect()
    }

    /// `m=128, n=256` for the size with this number; with several platforms `m=128 on h200`,
    /// without inputs `h200`.
    pub fn name(&self, number: usize) -> String {
        let named = self.dimensions.iter().zip(self.arguments_at(number));
        let named = named.map(|(d, value)| format!("{}={value}", d.names.join("="))).join(", ");
        match self.platforms.get(self.platform(number)) {
            Some(platform) if named.is_empty() => platform.clone(),
            Some(platform) => format!("{named} on {platform}"),
            None => named,
        }
    }

    /// The size with these values of [`RuleSizes::arguments`]; `None` if it is another.
    pub fn find(&self, arguments: &[i64]) -> Option<usize> {
        let mut number = 0;
        for (dimension, value) in self.dimensions.iter().zip(arguments) {
            let place = dimension.values.iter().position(|v| v == value)?;
            number = number * dimension.values.len() + place;
        }
        Some(number)
    }

    /// Makes the inputs of a problem file its first parameters. Named sizes of the file are left
    /// out.
    ///
    /// # Errors
    /// The file has no such input.
    pub fn into_parameters(&self, file: &mut Map<String, Value>) -> Result<(), ModelError> {
        file.remove("sizes");
        let mut parameters = Map::new();
        let known = file.get_mut("inputs").and_then(Value::as_object_mut);
        let mut inputs = known.map(std::mem::take).unwrap_or_default();
        for dimension in &self.dimensions {
            for (place, name) in dimension.names.iter().enumerate() {
                if inputs.shift_remove(name).is_none() {
                    let all = inputs.keys().map(String::as_str);
                    let fix = suggest(name, all);
                    let at = format!("--over {name}");
                    return Err(ModelError::new(at, "no input has this name", fix));
                }
                let domain = match (place, &dimension.ranges[..]) {
                    (0, [(first, last, step)]) => json!(format!("range({first}, {last}, {step})")),
                    (0, _) => json!(dimension.values),
                    _ => json!([dimension.names[0]]),
                };
                parameters.insert(name.clone(), domain);
            }
        }
        file.insert("inputs".into(), Value::Object(inputs));
        if let Some(Value::Object(own)) = file.remove("parameters") {
            parameters.extend(own);
        }
        file.insert("parameters".into(), Value::Object(parameters));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> RuleSizes {
        text.parse().unwrap()
    }

    #[test]
    fn ranges_and_lists() {
        let some = sizes("m=128..512:128, n=k=1,5..7");
        assert_eq!(some.count(), 16);
        assert_eq!(some.names().collect::<Vec<_>>(), ["m", "n", "k"]);
        assert_eq!(some.arguments(), ["m", "n"]);
        assert_eq!(some.values(0), [128, 1, 1]);
        assert_eq!(some.values(7), [256, 7, 7]);
        assert_eq!(some.name(7), "m=256, n=k=7");
        assert_eq!(some.to_string(), "m=128..512:128,n=k=1,5..7");
        assert_eq!(sizes(&some.to_string()), some);
        assert!((0..16).all(|i| some.find(&some.arguments_at(i)) == Some(i)));
        assert_eq!(some.find(&[129, 1]), None);
        // The last value is there if a step meets it.
        assert_eq!(sizes("n=1..10:4").values(2), [9]);
    }

    #[test]
    fn no_sizes() {
        for (text, what) in [
            ("", "begins without"),
            ("16..32", "begins without"),
            ("n=", "`` is no range"),
            ("n=x", "`x` is no range"),
            ("n=8..4", "empty"),
            ("n=1..4:0", "empty"),
            ("=4", "no name"),
            ("n=1,n=2", "named twice"),
            ("n=1..4,2", "2 occurs twice"),
            ("n=1..100000", "more than 65536"),
            ("n=1..60000,m=1..60000", "3600000000 sizes"),
            ("n=0..9223372036854775807", "more than 65536"),
            ("n=-9223372036854775808..9223372036854775807", "more than 65536"),
        ] {
            let error = text.parse::<RuleSizes>().unwrap_err().to_string();
            assert!(error.contains(what) && error.starts_with("--over "), "{text}: {error}");
        }
    }

    #[test]
    fn sizes_on_several_platforms() {
        let some = sizes("n=1..3").on(&["a".into(), "b".into()]).unwrap();
        assert_eq!((some.count(), some.count_of_one()), (6, 3));
        let all: Vec<_> = (0..6).map(|i| (some.platform(i), some.values(i)[0])).collect();
        assert_eq!(all, [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)]);
        assert_eq!(some.name(4), "n=2 on b");
        let alone = RuleSizes::default().on(&["a".into(), "b".into()]).unwrap();
        assert_eq!((alone.count(), alone.name(1)), (2, "b".to_owned()));
        let twice = alone.on(&["a".into(), "a".into()]).unwrap_err().to_string();
        assert_eq!(twice, "--devices a,a: `a` is named twice; keep one of them");
        assert!(sizes("n=1..60000").on(&["a".into(), "b".into()]).is_err());
    }

    #[test]
    fn inputs_become_parameters() {
        let mut file = json!({
            "inputs": { "n": 4, "m": 5, "c": 1 }, "sizes": {}, "parameters": { "T": [1] }
        });
        let file = file.as_object_mut().unwrap();
        sizes("m=n=1..2").into_parameters(file).unwrap();
        let wanted = json!({
            "inputs": { "c": 1 }, "parameters": { "m": "range(1, 2, 1)", "n": ["m"], "T": [1] }
        });
        assert_eq!(Value::Object(file.clone()), wanted);
        let error = sizes("d=1").into_parameters(file).unwrap_err().to_string();
        assert!(error.contains("--over d: no input has this name"), "{error}");
    }
}
