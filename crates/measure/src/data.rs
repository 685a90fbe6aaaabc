//! First contents of buffers.
//!
//! They are a function of the argument's name, its element type, its length and what the problem
//! states, so that all configurations, machines and versions compute on the same data:
//!
//! * a constant is converted to the element type, which must hold it;
//! * `index` is the element's index, reduced to the type's width as a cast in C does;
//! * random numbers come from the generator ChaCha with 8 rounds. Its key of 32 bytes is the 64-bit
//!   FNV-1a hash of the name, the length (both as 8 bytes, least significant first), and zeros.
//!   Each element takes the generator's next 64 bits `r`: a whole number is
//!   `low + floor(r * (high - low + 1) / 2^64)`, a real one `low + (r >> 11) / 2^53 * (high - low)`
//!   in double precision, rounded to the type, and to the greatest number below `high` if that
//!   rounding reached it.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use tickbound_model::source::ElementType;

/// First content of a buffer, its numbers worked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// The same number everywhere.
    Constant(i64),
    /// Element i is i.
    Index,
    /// From the first number to the second: including it if the elements are whole numbers.
    Random(i64, i64),
}

/// Why there is no such content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DataError(pub String);

impl Content {
    /// Whether the elements are zero, all bits of them.
    pub fn is_zero(&self) -> bool {
        *self == Content::Constant(0)
    }

    /// Checks that the numbers fit the type.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self, element: ElementType) -> Result<(), DataError> {
        let fits = |value: i64| match holds(element, value) {
            true => Ok(()),
            false => Err(DataError(format!("{value} is no {}", element.name()))),
        };
        match *self {
            Content::Constant(value) => fits(value),
            Content::Index => Ok(()),
            Content::Random(low, high) => {
                fits(low)?;
                fits(high)?;
                let some = if element.is_real() { low < high } else { low <= high };
                let name = element.name();
                let none = || format!("there is no {name} between {low} and {high}");
                if some { Ok(()) } else { Err(DataError(none())) }
            }
        }
    }

    /// The bytes of `length` elements in the order of this machine.
    ///
    /// # Errors
    /// They do not fit into memory.
    pub fn bytes(
        &self,
        name: &str,
        element: ElementType,
        length: usize,
    ) -> Result<Vec<u8>, DataError> {
        let too_large = || {
            DataError(format!(
                "`{name}` is {length} times {}, which does not fit into memory; take smaller \
                 inputs",
                element.name()
            ))
        };
        let total = length.checked_mul(element.bytes()).ok_or_else(too_large)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(total).map_err(|_| too_large())?;
        match *self {
            Content::Constant(0) => bytes.resize(total, 0),
            Content::Constant(value) => {
                let one = number(element, value);
                (0..length).for_each(|_| bytes.extend_from_slice(one.as_slice()));
            }
            Content::Index => {
                let each = (0..length).map(|i| number(element, i as i64));
                each.for_each(|one| bytes.extend_from_slice(one.as_slice()));
            }
            Content::Random(low, high) => {
                let mut random = generator(name, length);
                for _ in 0..length {
                    let one = between(element, low, high, random.next_u64());
                    bytes.extend_from_slice(one.as_slice());
                }
            }
        }
        Ok(bytes)
    }
}

/// Up to eight bytes.
struct Bytes {
    bytes: [u8; 8],
    len: usize,
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn new(from: &[u8]) -> Bytes {
        let mut bytes = [0; 8];
        bytes[..from.len()].copy_from_slice(from);
        Bytes { bytes, len: from.len() }
    }
}

/// Whether a type has a whole number.
pub fn holds(element: ElementType, value: i64) -> bool {
    let within = |low: i64, high: i64| (low..=high).contains(&value);
    match element {
        ElementType::Char => within(i8::MIN.into(), i8::MAX.into()),
        ElementType::Uchar => within(0, u8::MAX.into()),
        ElementType::Short => within(i16::MIN.into(), i16::MAX.into()),
        ElementType::Ushort => within(0, u16::MAX.into()),
        ElementType::Int => within(i32::MIN.into(), i32::MAX.into()),
        ElementType::Uint => within(0, u32::MAX.into()),
        ElementType::Ulong => value >= 0,
        ElementType::Long | ElementType::Float | ElementType::Double => true,
    }
}

/// The bytes of a whole number as a value of a type; see [`holds`].
pub fn scalar(element: ElementType, value: i64) -> Vec<u8> {
    number(element, value).as_slice().to_vec()
}

/// The bytes of a real number as a value of a floating-point type.
pub fn real(element: ElementType, value: f64) -> Vec<u8> {
    match element {
        ElementType::Float => (value as f32).to_ne_bytes().to_vec(),
        _ => value.to_ne_bytes().to_vec(),
    }
}

fn number(element: ElementType, value: i64) -> Bytes {
    match element {
        ElementType::Char | ElementType::Uchar => Bytes::new(&(value as u8).to_ne_bytes()),
        ElementType::Short | ElementType::Ushort => Bytes::new(&(value as u16).to_ne_bytes()),
        ElementType::Int | ElementType::Uint => Bytes::new(&(value as u32).to_ne_bytes()),
        ElementType::Long | ElementType::Ulong => Bytes::new(&value.to_ne_bytes()),
        ElementType::Float => Bytes::new(&(value as f32).to_ne_bytes()),
        ElementType::Double => Bytes::new(&(value as f64).to_ne_bytes()),
    }
}

fn between(element: ElementType, low: i64, high: i64, random: u64) -> Bytes {
    if !element.is_real() {
        let count = (i128::from(high) - i128::from(low) + 1) as u128;
        let step = (u128::from(random) * count) >> 64;
        return number(element, low.wrapping_add(step as i64));
    }
    let (low, high) = (low as f64, high as f64);
    let value = low + (random >> 11) as f64 * (-53f64).exp2() * (high - low);
    match element {
        ElementType::Float => {
            let value = (value as f32).min((high as f32).next_down());
            Bytes::new(&value.to_ne_bytes())
        }
        _ => Bytes::new(&value.min(high.next_down()).to_ne_bytes()),
    }
}

fn generator(name: &str, length: usize) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&fnv(name.as_bytes()).to_le_bytes());
    key[8..16].copy_from_slice(&(length as u64).to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// The 64-bit FNV-1a hash (Fowler, Noll, Vo; RFC 9923).
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(content: &Content, name: &str, length: usize) -> Vec<i32> {
        let bytes = content.bytes(name, ElementType::Int, length).unwrap();
        bytes.chunks_exact(4).map(|b| i32::from_ne_bytes(b.try_into().unwrap())).collect()
    }

    #[test]
    fn hash_of_the_published_vectors() {
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn constants_and_indices() {
        assert_eq!(ints(&Content::Constant(-3), "a", 2), [-3, -3]);
        assert_eq!(ints(&Content::Index, "a", 4), [0, 1, 2, 3]);
        assert_eq!(Content::Index.bytes("a", ElementType::Uchar, 258).unwrap()[255..], [255, 0, 1]);
        let large = Content::Index.bytes("a", ElementType::Long, usize::MAX / 16);
        let said = large.unwrap_err().to_string();
        assert!(said.starts_with("`a` is ") && said.contains("does not fit into memory"), "{said}");
        assert!(Content::Index.bytes("a", ElementType::Long, usize::MAX).is_err());
        let halves = Content::Constant(2).bytes("a", ElementType::Double, 1).unwrap();
        assert_eq!(halves, 2f64.to_ne_bytes());
    }

    #[test]
    fn random_numbers_never_change() {
        let random = Content::Random(-1_000_000, 1_000_000);
        assert_eq!(ints(&random, "input", 4), FIRST);
        assert_ne!(ints(&random, "other", 4), FIRST);
        assert_ne!(ints(&random, "input", 5)[..4], FIRST);
    }

    /// What the first version gave.
    const FIRST: [i32; 4] = [416_843, 789_092, 814_806, 107_320];

    #[test]
    fn random_numbers_cover_their_range() {
        let mut seen = ints(&Content::Random(-2, 2), "x", 1000);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [-2, -1, 0, 1, 2]);
        let all = Content::Random(i64::MIN, i64::MAX).bytes("x", ElementType::Long, 64).unwrap();
        assert!(all.chunks(8).any(|b| i64::from_ne_bytes(b.try_into().unwrap()) < 0));
        for bytes in Content::Random(1, 2).bytes("x", ElementType::Float, 1000).unwrap().chunks(4) {
            let value = f32::from_ne_bytes(bytes.try_into().unwrap());
            assert!((1.0..2.0).contains(&value));
        }
        let top = between(ElementType::Float, 0, 1 << 30, u64::MAX);
        assert!(f32::from_ne_bytes(top.as_slice().try_into().unwrap()) < (1 << 30) as f32);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(Content::Constant(255).check(ElementType::Uchar).is_ok());
        assert!(Content::Constant(256).check(ElementType::Uchar).is_err());
        assert!(Content::Constant(-1).check(ElementType::Ulong).is_err());
        assert!(Content::Random(3, 3).check(ElementType::Int).is_ok());
        assert!(Content::Random(3, 3).check(ElementType::Float).is_err());
        let refused = Content::Random(4, 3).check(ElementType::Int).unwrap_err();
        assert_eq!(refused.to_string(), "there is no int between 4 and 3");
    }
}
