//! Short fixed lists whose values people choose by name.
//!
//! Encodings, strategies, objectives and the like are such lists. [`named!`](crate::named!) makes
//! an enum of one line a value; the name in it is the one on the command line and in JSON, and the
//! documentation comment is the text of the help.
//!
//! ```
//! use tickbound_input::named::Named;
//!
//! tickbound_input::named! {
//!     /// How a thing is looked for.
//!     pub enum Search {
//!         /// Upwards from the least.
//!         Up = "up",
//!         /// One half after the other.
//!         Halves = "by-halves",
//!     }
//! }
//! assert_eq!(Search::find("by-halves"), Some(Search::Halves));
//! assert_eq!(Search::ALL.map(Search::name), ["up", "by-halves"]);
//! assert_eq!(Search::Up.about(), "Upwards from the least.");
//! assert_eq!(serde_json::to_string(&Search::Halves).unwrap(), "\"by-halves\"");
//! ```

/// A value of a short fixed list.
pub trait Named: Copy + Eq + Send + Sync + 'static {
    /// All values, in the order in which people read them.
    const VALUES: &'static [Self];

    /// The name on the command line and in JSON.
    fn name(self) -> &'static str;

    /// What it is, in one sentence.
    fn about(self) -> &'static str;

    /// The value with this name.
    fn find(name: &str) -> Option<Self> {
        Self::VALUES.iter().copied().find(|value| value.name() == name)
    }
}

/// Makes an enum that is [`Named`], one line a value. Each value may have an entry behind `=>`, all
/// of one type, which `entry()` returns: that way a list of names is also the register of what they
/// represent. The crate that uses it needs `serde`.
#[macro_export]
macro_rules! named {
    ($(#[$outer:meta])* pub enum $enum:ident $(: $type:ty)? {
        $(#[doc = $about:tt] $(#[$inner:meta])* $value:ident = $name:tt $(=> $entry:expr)?,)+
    }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $enum {
            $(#[doc = $about] #[serde(rename = $name)] $(#[$inner])* $value,)+
        }

        impl $enum {
            /// All values, in the order in which people read them.
            pub const ALL: [$enum; [$($name),+].len()] = [$($enum::$value),+];

            /// The name on the command line and in JSON.
            pub const fn name(self) -> &'static str {
                match self { $($enum::$value => $name),+ }
            }
        }

        impl $crate::named::Named for $enum {
            const VALUES: &'static [Self] = &Self::ALL;

            fn name(self) -> &'static str {
                self.name()
            }

            fn about(self) -> &'static str {
                match self { $($enum::$value => $about.trim_ascii()),+ }
            }
        }

        impl ::std::fmt::Display for $enum {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        $crate::named!(@entries $enum $($type)?; $($value $($entry)?),+);
    };
    (@entries $enum:ident; $($value:ident),+) => {};
    (@entries $enum:ident $type:ty; $($value:ident $entry:expr),+) => {
        impl $enum {
            /// What the name represents.
            pub(crate) fn entry(self) -> $type {
                match self { $($enum::$value => $entry),+ }
            }
        }
    };
}
