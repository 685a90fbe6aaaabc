//! Whether an output is right.
//!
//! Whole numbers must be equal. A real number is right if
//! `|got - expected| <= tolerance * max(1, |expected|)`; an infinity must be the same infinity. NaN
//! is right only where the reference has NaN too, because then no number could be right.

use tickbound_model::source::ElementType;

/// The first element that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Its index.
    pub index: usize,
    /// What the device computed.
    pub got: String,
    /// The reference's values.
    pub expected: String,
    /// How many elements are wrong.
    pub count: usize,
}

/// Compares two arrays of elements, given as their bytes.
pub fn compare(element: ElementType, tolerance: f64, got: &[u8], expected: &[u8]) -> Option<Wrong> {
    if got == expected && !element.is_real() {
        return None;
    }
    let size = element.bytes();
    let mut wrong: Option<Wrong> = None;
    let pairs = got.chunks_exact(size).zip(expected.chunks_exact(size));
    for (index, (got, expected)) in pairs.enumerate() {
        if right(element, tolerance, got, expected) {
            continue;
        }
        match &mut wrong {
            Some(wrong) => wrong.count += 1,
            None => {
                let (got, expected) = (text(element, got), text(element, expected));
                wrong = Some(Wrong { index, got, expected, count: 1 });
            }
        }
    }
    wrong
}

fn right(element: ElementType, tolerance: f64, got: &[u8], expected: &[u8]) -> bool {
    let (got, expected) = match element {
        ElementType::Float => (f64::from(float(got)), f64::from(float(expected))),
        ElementType::Double => (double(got), double(expected)),
        _ => return got == expected,
    };
    if expected.is_nan() || expected.is_infinite() {
        return got == expected || (got.is_nan() && expected.is_nan());
    }
    (got - expected).abs() <= tolerance * expected.abs().max(1.0)
}

/// The first bytes as an array; zeros where there are too few, which the callers' chunks exclude.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

fn float(bytes: &[u8]) -> f32 {
    f32::from_ne_bytes(array(bytes))
}

fn double(bytes: &[u8]) -> f64 {
    f64::from_ne_bytes(array(bytes))
}

fn text(element: ElementType, bytes: &[u8]) -> String {
    match element {
        ElementType::Char => i8::from_ne_bytes(array(bytes)).to_string(),
        ElementType::Uchar => u8::from_ne_bytes(array(bytes)).to_string(),
        ElementType::Short => i16::from_ne_bytes(array(bytes)).to_string(),
        ElementType::Ushort => u16::from_ne_bytes(array(bytes)).to_string(),
        ElementType::Int => i32::from_ne_bytes(array(bytes)).to_string(),
        ElementType::Uint => u32::from_ne_bytes(array(bytes)).to_string(),
        ElementType::Long => i64::from_ne_bytes(array(bytes)).to_string(),
        ElementType::Ulong => u64::from_ne_bytes(array(bytes)).to_string(),
        ElementType::Float => float(bytes).to_string(),
        ElementType::Double => double(bytes).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(got: &[f32], expected: &[f32]) -> Option<(usize, usize)> {
        let bytes = |xs: &[f32]| xs.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<_>>();
        let wrong = compare(ElementType::Float, 1e-5, &bytes(got), &bytes(expected));
        wrong.map(|w| (w.index, w.count))
    }

    #[test]
    fn reals() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        let table: [(f32, f32, bool); 10] = [
            (1.0, 1.0, true),
            (1.000_005, 1.0, true),
            (1.000_02, 1.0, false),
            (0.000_005, 0.0, true),
            (1000.005, 1000.0, true),
            (nan, 1.0, false),
            (1.0, nan, false),
            (nan, nan, true),
            (inf, inf, true),
            (-inf, inf, false),
        ];
        for (got, expected, right) in table {
            assert_eq!(floats(&[got], &[expected]).is_none(), right, "{got} for {expected}");
        }
        assert_eq!(floats(&[inf], &[3e38]), Some((0, 1)));
        assert_eq!(floats(&[1.0, 2.0, 4.0, 4.0], &[1.0, 3.0, 3.0, 4.0]), Some((1, 2)));
    }

    #[test]
    fn whole_numbers() {
        let wrong = compare(ElementType::Short, 1.0, &[1, 0, 2, 0], &[1, 0, 254, 255]).unwrap();
        let [low, high] = (-2i16).to_ne_bytes();
        assert_eq!([low, high], [254, 255], "these tests are for little-endian machines");
        let expected = Wrong { index: 1, got: "2".into(), expected: "-2".into(), count: 1 };
        assert_eq!(wrong, expected);
        assert_eq!(compare(ElementType::Uchar, 0.0, &[7, 8], &[7, 8]), None);
    }
}
