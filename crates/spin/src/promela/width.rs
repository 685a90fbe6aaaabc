//! The narrowest Promela type that holds a range of values.

use super::error::PromelaError;

/// A Promela type for whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    /// 0 to 255.
    Byte,
    /// 16 bits with a sign.
    Short,
    /// 32 bits with a sign.
    Int,
}

impl Width {
    /// The type for `least..=greatest`, which is `what`.
    pub fn holding(
        (least, greatest): (i64, i64),
        what: &str,
        fix: &str,
    ) -> Result<Width, PromelaError> {
        let fits = |low: i64, high: i64| low <= least && greatest <= high;
        if fits(0, 255) {
            Ok(Width::Byte)
        } else if fits(i64::from(i16::MIN), i64::from(i16::MAX)) {
            Ok(Width::Short)
        } else if fits(i64::from(i32::MIN), i64::from(i32::MAX)) {
            Ok(Width::Int)
        } else {
            let value = if greatest > i64::from(i32::MAX) { greatest } else { least };
            Err(PromelaError::TooWide(what.into(), value, fix.into()))
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Width::Byte => "byte",
            Width::Short => "short",
            Width::Int => "int",
        }
    }

    /// Bytes in a state.
    pub fn bytes(self) -> usize {
        match self {
            Width::Byte => 1,
            Width::Short => 2,
            Width::Int => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_type_that_holds_the_range() {
        let cases = [
            (0, 0, "byte"),
            (0, 255, "byte"),
            (0, 256, "short"),
            (-1, 0, "short"),
            (0, 32767, "short"),
            (0, 32768, "int"),
            (-32769, 0, "int"),
            (0, 2147483647, "int"),
        ];
        for (least, greatest, name) in cases {
            let width = Width::holding((least, greatest), "x", "shrink").unwrap();
            assert_eq!(width.name(), name, "{least}..={greatest}");
        }
        for range in [(0, 2147483648), (-2147483649, 0)] {
            assert!(
                Width::holding(range, "x", "shrink y")
                    .unwrap_err()
                    .to_string()
                    .contains("shrink y")
            );
        }
    }
}
