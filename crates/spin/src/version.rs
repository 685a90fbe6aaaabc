//! Versions of SPIN.

/// The oldest SPIN that is used. The papers used 6.5.1, and `pan -r`, the order of the claims and
/// the randomised searches are as this program expects them from 6.5.0 on.
pub const OLDEST: Version = Version(6, 5, 0);

/// A version of SPIN: major, minor, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// Reads `Spin Version 6.5.2 -- 6 December 2019`; `None` if the text is something else.
    pub fn parse(text: &str) -> Option<Version> {
        let words = text.split_once("Spin Version ")?.1;
        let number = words.split_whitespace().next()?;
        let mut parts = number.split('.').map(|p| p.parse().ok());
        let (major, minor) = (parts.next()??, parts.next()??);
        let patch = parts.next().flatten().unwrap_or(0);
        Some(Version(major, minor, patch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let cases = [
            ("Spin Version 6.5.2 -- 6 December 2019", Some(Version(6, 5, 2))),
            ("Spin Version 6.4.9 -- 17 December 2018", Some(Version(6, 4, 9))),
            ("Spin Version 6.5 -- some day", Some(Version(6, 5, 0))),
            ("Spin Version 7.0.0", Some(Version(7, 0, 0))),
            ("Spin Version six", None),
            ("spin: unknown option -V", None),
            ("", None),
        ];
        for (text, version) in cases {
            assert_eq!(Version::parse(text), version, "{text}");
        }
        assert!(Version(6, 4, 9) < OLDEST && Version(6, 5, 2) >= OLDEST);
        assert!(Version(7, 0, 0) > OLDEST);
    }
}
