//! A buffer of a device between guard zones, which show what a kernel writes past it.
//!
//! In one piece of the device's memory lie a zone, the data, and another zone, of [`ZONE`] bytes or
//! of the device's alignment for parts of buffers if that is more. The kernel is given the data
//! alone, as a part of the whole, which begins at a multiple of the zone's length from where the
//! whole does; the zone behind follows its last byte. What a kernel writes within the zones is
//! found; what it writes further away, and what it reads out of bounds, is not.
//!
//! Every byte of a zone has its own value before the first run, and the complement of it
//! before the later ones: what writes the same value each time changes at least one of the two.

use tickbound_device::{Buffer, DeviceError, Session};

/// Least bytes of a zone: 64 KiB, some rows of a matrix.
pub const ZONE: usize = 64 << 10;

/// Which runs the zones are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// The first one.
    First,
    /// All others.
    Last,
}

impl Round {
    /// What a zone is filled with.
    fn pattern(self, bytes: usize) -> Vec<u8> {
        let flip = if self == Round::First { 0 } else { 0xff };
        // A multiplicative hash (Knuth, The Art of Computer Programming, 3, section 6.4).
        (0..bytes as u32).map(|i| (i.wrapping_mul(2_654_435_769) >> 24) as u8 ^ flip).collect()
    }
}

/// Where the data end that a kernel has written past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Before their first byte.
    Before,
    /// Behind their last byte.
    Behind,
}

/// Where a kernel has written past the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breach {
    /// On which side.
    pub side: Side,
    /// Bytes between the data and the nearest byte that has changed.
    pub distance: usize,
}

impl Breach {
    /// The index of the byte's element, if there were more than `length` elements of this size.
    pub fn index(&self, length: usize, size: usize) -> i128 {
        let elements = (self.distance / size.max(1)) as i128;
        match self.side {
            Side::Before => -1 - elements,
            Side::Behind => length as i128 + elements,
        }
    }
}

/// A buffer between guard zones.
#[derive(Debug)]
pub struct Guarded {
    whole: Buffer<u8>,
    data: Buffer<u8>,
    zone: usize,
}

impl Guarded {
    /// Memory for `bytes` bytes, and zones that are not filled.
    ///
    /// # Errors
    /// More than the device allows or has, with the zones.
    pub fn new(session: &Session, bytes: usize) -> Result<Guarded, DeviceError> {
        let zone = ZONE.max(session.device().alignment());
        let whole = session.buffer(bytes.saturating_add(2 * zone))?;
        let data = session.part(&whole, zone, bytes)?;
        Ok(Guarded { whole, data, zone })
    }

    /// The data.
    pub fn data(&self) -> &Buffer<u8> {
        &self.data
    }

    fn zones(&self) -> [(Side, usize); 2] {
        [(Side::Before, 0), (Side::Behind, self.zone + self.data.len())]
    }

    /// Fills the zones.
    ///
    /// # Errors
    /// The device failed.
    pub fn arm(&self, session: &Session, round: Round) -> Result<(), DeviceError> {
        let pattern = round.pattern(self.zone);
        for (_, from) in self.zones() {
            session.write(&self.whole, from, &pattern)?;
        }
        Ok(())
    }

    /// Where the zones have changed since they were filled.
    ///
    /// # Errors
    /// The device failed.
    pub fn breach(&self, session: &Session, round: Round) -> Result<Option<Breach>, DeviceError> {
        let pattern = round.pattern(self.zone);
        let mut got = vec![0; self.zone];
        for (side, from) in self.zones() {
            session.read(&self.whole, from, &mut got)?;
            let mut bytes = got.iter().zip(&pattern);
            let distance = match side {
                Side::Before => bytes.rev().position(|(got, was)| got != was),
                Side::Behind => bytes.position(|(got, was)| got != was),
            };
            if let Some(distance) = distance {
                return Ok(Some(Breach { side, distance }));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_by_hand() {
        let breach = |side, distance| Breach { side, distance }.index(64, 4);
        assert_eq!([0, 3, 4].map(|d| breach(Side::Behind, d)), [64, 64, 65]);
        assert_eq!([0, 3, 4].map(|d| breach(Side::Before, d)), [-1, -1, -2]);
    }

    #[test]
    fn each_byte_changes_with_the_round() {
        let (first, last) = (Round::First.pattern(1 << 12), Round::Last.pattern(1 << 12));
        assert!(first.iter().zip(&last).all(|(a, b)| *a == !*b));
        // No value is written as a run of what is there.
        assert!(first.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
