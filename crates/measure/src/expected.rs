//! Outputs compared with what they should be, on the device where they are large.
//!
//! The device has the last word only where it finds every element right beyond doubt: a kernel
//! counts an element as doubtful unless it is right with a tolerance that is smaller by `MARGIN`,
//! more than its arithmetic errs by, and the expected number is finite. If one is doubtful, or the
//! device cannot run that kernel, [`check::compare`] decides.

use std::path::{Path, PathBuf};

use tickbound_device::{Arg, Buffer, DeviceError, DeviceProgram, Session};
use tickbound_model::source::ElementType;

use super::buffers::Buffers;
use super::check;
use super::job::{BufferArgument, Job};
use super::job_error::{JobError, unusable};
use super::outcome::FailureKind;

/// Bytes from which an output is compared on the device: smaller ones are read as fast as a launch.
const LARGE: usize = 1 << 20;
/// What a tolerance is less on the device, as a part of it. The difference and the bound there are
/// each wrong by 2^-24 of themselves at most (IEEE 754, single precision).
const MARGIN: f64 = 1e-6;
/// The least tolerance for which that holds where a device flushes numbers below 2^-126 to zero;
/// with a smaller one the bits must be equal.
const LEAST_TOLERANCE: f64 = 1e-30;
/// Items of the launch that compares.
const ITEMS: usize = 1 << 16;

const SOURCE: &str = "\
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
kernel void compare(global const T *got, global const T *expected, ulong n, T tolerance,
                    global uint *doubtful)
{
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
#ifdef REAL
        T size = fabs(expected[i]), off = fabs(got[i] - expected[i]);
        if (!(size <= MOST && off <= tolerance * fmax((T)1, size)))
#else
        if (got[i] != expected[i])
#endif
            atomic_or(doubtful, 1u);
    }
}
";

/// How elements are compared on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Bytes,
    Words,
    Floats,
    Doubles,
}

impl Way {
    fn new(element: ElementType, tolerance: f64, bytes: usize) -> Way {
        match element {
            ElementType::Float if tolerance >= LEAST_TOLERANCE => Way::Floats,
            ElementType::Double if tolerance >= LEAST_TOLERANCE => Way::Doubles,
            _ if bytes.is_multiple_of(4) => Way::Words,
            _ => Way::Bytes,
        }
    }

    /// Options of the compiler, and the bytes of an element.
    fn compiled(self) -> (&'static str, usize) {
        match self {
            Way::Bytes => ("-DT=uchar", 1),
            Way::Words => ("-DT=uint", 4),
            Way::Floats => ("-DT=float -DREAL -DMOST=FLT_MAX", 4),
            Way::Doubles => ("-DT=double -DREAL -DDOUBLE -DMOST=DBL_MAX", 8),
        }
    }

    /// A tolerance as the kernel's argument.
    fn tolerance(self, tolerance: f64) -> Arg<'static> {
        let less = tolerance * (1.0 - MARGIN);
        match self {
            Way::Bytes => Arg::Bytes(&[0]),
            Way::Words => Arg::U32(0),
            Way::Floats => Arg::F32(less as f32),
            Way::Doubles => Arg::F64(less),
        }
    }
}

/// Compares on a device. Programs are built when they are first needed.
#[derive(Debug)]
pub struct DeviceCompare<'s> {
    session: &'s Session,
    programs: Vec<(Way, DeviceProgram<'s>)>,
}

impl<'s> DeviceCompare<'s> {
    /// Nothing is built yet.
    pub fn new(session: &'s Session) -> DeviceCompare<'s> {
        DeviceCompare { session, programs: Vec::new() }
    }

    /// Whether all elements are right beyond doubt. Both buffers have the same length.
    ///
    /// # Errors
    /// The device cannot compare; nothing is known then.
    pub fn surely_right(
        &mut self,
        element: ElementType,
        tolerance: f64,
        got: &Buffer<u8>,
        expected: &Buffer<u8>,
    ) -> Result<bool, DeviceError> {
        let bytes = got.len().min(expected.len());
        let way = Way::new(element, tolerance, bytes);
        let (options, size) = way.compiled();
        if !self.programs.iter().any(|(built, _)| *built == way) {
            let program = DeviceProgram::build(self.session, SOURCE, options)?;
            self.programs.push((way, program));
        }
        let Some((_, program)) = self.programs.iter().find(|(built, _)| *built == way) else {
            return Ok(false);
        };
        let kernel = program.kernel("compare")?;
        let doubtful = self.session.upload(&[0u32])?;
        let arguments = [
            Arg::buffer(got),
            Arg::buffer(expected),
            Arg::U64((bytes / size) as u64),
            way.tolerance(tolerance),
            Arg::buffer(&doubtful),
        ];
        // SAFETY: the kernel reads `n` elements of two buffers that have as many, and writes the
        // only element of the third.
        unsafe { self.session.enqueue(&kernel, &arguments, &[ITEMS], None)? }.wait()?;
        let mut count = [1u32];
        self.session.read(&doubtful, 0, &mut count)?;
        Ok(count == [0] && got.len() == expected.len())
    }
}

/// The outputs of jobs as they should be, from a file.
#[derive(Debug)]
pub(super) struct Expected<'s> {
    session: &'s Session,
    pub(super) path: PathBuf,
    bytes: Vec<u8>,
    /// Large outputs on the device, by where they begin in the file.
    uploaded: Vec<(usize, Buffer<u8>)>,
}

impl<'s> Expected<'s> {
    pub(super) fn read(session: &'s Session, path: &Path) -> Result<Expected<'s>, JobError> {
        let bytes = std::fs::read(path)
            .map_err(|e| JobError::Expected(format!("{}: {e}", path.display())))?;
        Ok(Expected { session, path: path.to_owned(), bytes, uploaded: Vec::new() })
    }

    /// Compares the outputs of a job with what they should be.
    pub(super) fn check(
        &mut self,
        job: &Job,
        buffers: &Buffers<'s>,
        compare: &mut DeviceCompare<'s>,
    ) -> Result<(), JobError> {
        let mut from = 0;
        for output in job.outputs() {
            let range = from..from + output.bytes();
            from = range.end;
            if self.bytes.len() < range.end {
                return Err(JobError::Expected(format!("{}: too short", self.path.display())));
            }
            let data = buffers.data(output)?;
            if range.len() >= LARGE && self.is_surely_right(job, output, range.start, data, compare)
            {
                continue;
            }
            let mut got = vec![0; range.len()];
            self.session.read(data, 0, &mut got).map_err(unusable)?;
            wrong(output, job.tolerance, &got, &self.bytes[range])?;
        }
        Ok(())
    }

    /// Compares on the device; false also where it cannot.
    fn is_surely_right(
        &mut self,
        job: &Job,
        output: &BufferArgument,
        from: usize,
        data: &Buffer<u8>,
        compare: &mut DeviceCompare<'s>,
    ) -> bool {
        if !self.uploaded.iter().any(|(at, b)| (*at, b.len()) == (from, data.len())) {
            let Ok(buffer) = self.session.upload(&self.bytes[from..from + data.len()]) else {
                return false;
            };
            self.uploaded.push((from, buffer));
        }
        let mut uploaded = self.uploaded.iter();
        uploaded.find(|(at, b)| (*at, b.len()) == (from, data.len())).is_some_and(|(_, right)| {
            compare.surely_right(output.element, job.tolerance, data, right).unwrap_or(false)
        })
    }
}

/// The failure of an output that is not as it should be.
fn wrong(
    output: &BufferArgument,
    tolerance: f64,
    got: &[u8],
    expected: &[u8],
) -> Result<(), JobError> {
    let Some(wrong) = check::compare(output.element, tolerance, got, expected) else {
        return Ok(());
    };
    let check::Wrong { index, got, expected, count } = wrong;
    let others = match count - 1 {
        0 => String::new(),
        others => format!(" ({others} more are wrong)"),
    };
    let name = &output.name;
    let message = format!("output `{name}[{index}]` is {got}, expected {expected}{others}");
    Err(JobError::job(FailureKind::Wrong, message))
}
