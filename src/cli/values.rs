//! Values of options that come out of a short fixed list.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tickbound_model::named::Named;

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
