//! Values of options: those out of a short fixed list, sizes of memory, and lengths of time.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tickbound_input::named::Named;

/// A value, or `None` where the choice is left to the program.
pub(super) type OrAuto<T> = Option<T>;

/// Reads one of a list by name; the help shows each with what it is.
pub(super) fn named<T: Named>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::VALUES.iter().map(possible)).try_map(|name| read(&name))
}

/// As [`named`], with the further value `auto`.
pub(super) fn or_auto<T: Named>() -> impl TypedValueParser<Value = OrAuto<T>> {
    let auto = PossibleValue::new("auto");
    PossibleValuesParser::new(T::VALUES.iter().map(possible).chain([auto]))
        .try_map(|name| if name == "auto" { Ok(None) } else { read(&name).map(Some) })
}

fn possible<T: Named>(value: &T) -> PossibleValue {
    PossibleValue::new(value.name()).help(value.about().trim_end_matches('.'))
}

fn read<T: Named>(name: &str) -> Result<T, String> {
    T::find(name).ok_or_else(|| format!("`{name}` is not one of the values"))
}

/// A number of bytes, written with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSize(pub u64);

impl std::str::FromStr for ByteSize {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fix = "write a number of bytes with a unit, such as 512M or 8G";
        let plain = text.trim().to_ascii_uppercase();
        let plain = plain.strip_suffix('B').unwrap_or(&plain);
        let unit = plain.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let factor = match unit.strip_suffix('I').unwrap_or(unit) {
            "" => 1.0,
            "K" => 1024.0,
            "M" => 1024.0 * 1024.0,
            "G" => 1024.0 * 1024.0 * 1024.0,
            _ => return Err(fix),
        };
        let number: f64 = plain[..plain.len() - unit.len()].parse().map_err(|_| fix)?;
        let bytes = number * factor;
        if (1.0..=9e18).contains(&bytes) { Ok(ByteSize(bytes as u64)) } else { Err(fix) }
    }
}

/// A length of time in seconds, with or without a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seconds(pub f64);

impl std::str::FromStr for Seconds {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fix = "write a number of seconds, such as 30 or 0.5, or with a unit: ms, s, min or h";
        let units = [("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0)];
        let text = text.trim();
        let unit = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
        let (number, factor) = unit.unwrap_or((text, &1.0));
        Ok(Seconds(number.trim().parse::<f64>().map_err(|_| fix)? * factor))
    }
}

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A share in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percent(pub f64);

impl Percent {
    /// The share in millionths, rounded down.
    pub fn millionths(self) -> u64 {
        (self.0 * 1e4) as u64
    }
}

impl std::str::FromStr for Percent {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fix = "write a share in percent, such as 5% or 0.5%";
        let number = text.trim().trim_end_matches('%').trim();
        let share: f64 = number.parse().map_err(|_| fix)?;
        if (0.0..=1e6).contains(&share) { Ok(Percent(share)) } else { Err(fix) }
    }
}

impl std::fmt::Display for Percent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}%", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time() {
        for (text, seconds) in [
            ("30", 30.0),
            ("30s", 30.0),
            ("0.5 s", 0.5),
            ("250ms", 0.25),
            ("2min", 120.0),
            ("1h", 3600.0),
        ] {
            assert_eq!(text.parse(), Ok(Seconds(seconds)), "{text}");
        }
        for text in ["", "s", "30x", "30 seconds", "soon"] {
            assert!(text.parse::<Seconds>().unwrap_err().starts_with("write a number of seconds"));
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [("1", 1), ("512M", 512 << 20), ("8G", 8 << 30), ("8GiB", 8 << 30)] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
        assert_eq!("1.5k".parse(), Ok(ByteSize(1536)));
        for text in ["", "G", "8X", "-1", "0", "1e9", "many"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }
}
