//! Empties the caches of a device before a run, so that it finds nothing of the one before there.

use tickbound_device::{Arg, Buffer, DeviceError, DeviceProgram, Session};

/// How many times as many bytes as the caches have are read. Caches do not replace the oldest line
/// first, so that as many as they have would leave some.
const TIMES: u64 = 4;
/// Items of the launch that reads.
const ITEMS: usize = 1 << 16;
/// Words from one that is read to the next: no cache has shorter lines.
const LINE: usize = 8;

// No sum is `never`, which no compiler knows: all of them are made of zeros.
const SOURCE: &str = "\
kernel void read_all(global const uint *all, ulong lines, uint line, uint never,
                     global uint *found)
{
    uint sum = 0;
    for (ulong i = get_global_id(0); i < lines; i += get_global_size(0))
        sum += all[i * line];
    if (sum == never)
        *found = sum;
}
";

/// What empties the caches of a device.
#[derive(Debug)]
pub(super) struct Flush<'s> {
    session: &'s Session,
    program: DeviceProgram<'s>,
    all: Buffer<u32>,
    found: Buffer<u32>,
}

impl<'s> Flush<'s> {
    /// For caches that have this many bytes together, or as many as the device states if that is
    /// more; `None` if neither is known.
    ///
    /// # Errors
    /// The device has no room, or fails.
    pub(super) fn new(session: &'s Session, bytes: u64) -> Result<Option<Flush<'s>>, DeviceError> {
        let device = session.device();
        let bytes = bytes.max(device.details().cache);
        if bytes == 0 {
            return Ok(None);
        }
        let words = bytes.saturating_mul(TIMES).min(device.max_alloc) / 4;
        let words = usize::try_from(words).unwrap_or(usize::MAX / 4);
        let program = DeviceProgram::build(session, SOURCE, "")?;
        let (all, found) = (session.buffer(words)?, session.buffer(1)?);
        // Memory that was never written may be one page for all addresses.
        session.fill(&all, 0u32)?;
        Ok(Some(Flush { session, program, all, found }))
    }

    /// Empties them.
    ///
    /// # Errors
    /// The device fails.
    pub(super) fn flush(&self) -> Result<(), DeviceError> {
        let kernel = self.program.kernel("read_all")?;
        let lines = Arg::U64((self.all.len() / LINE) as u64);
        let line = Arg::U32(LINE as u32);
        let (all, found) = (Arg::buffer(&self.all), Arg::buffer(&self.found));
        let arguments = [all, lines, line, Arg::U32(1), found];
        // SAFETY: the kernel reads words of the first buffer, the last one `LINE` before its end at
        // least, and may write the only one of the second.
        let launch = unsafe { self.session.enqueue(&kernel, &arguments, &[ITEMS], None)? };
        launch.wait().map(drop)
    }
}
