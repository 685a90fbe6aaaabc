//! The buffers of jobs on the device: made, given their first content, and checked for breaches.
//!
//! They are kept between jobs that have the same ones. A first content that is not zero everywhere
//! also lies on the device, where there is room, so that it is copied from there before each run.
//! Each buffer lies between [`guarded`](super::guarded) zones.

use std::cell::OnceCell;

use super::guarded::{Guarded, Round, Side};
use super::job::{BufferArgument, Job, JobArgument};
use super::job_error::{JobError, of_memory, unusable};
use super::outcome::{Failure, FailureKind};
use tickbound_device::{Arg, Buffer, Component, DeviceError, DeviceKernel, Image, Session};
use tickbound_model::source::ElementType;

/// The part of the device's memory that first contents may take.
const ROOM: u64 = 4;

#[derive(Debug)]
pub(super) struct Buffers<'s> {
    session: &'s Session,
    kept: Vec<Kept>,
}

/// A buffer with its first content.
#[derive(Debug)]
struct Kept {
    argument: BufferArgument,
    content: First,
    buffer: Guarded,
    /// The image that the kernel is given instead, if it is one.
    image: OnceCell<Image>,
}

/// The first content of a buffer.
#[derive(Debug)]
enum First {
    /// Zeros, which the device writes.
    Zeros,
    /// Bytes in this machine's memory.
    Here(Vec<u8>),
    /// Bytes on the device.
    There(Buffer<u8>),
}

impl<'s> Buffers<'s> {
    pub(super) fn new(session: &'s Session) -> Buffers<'s> {
        Buffers { session, kept: Vec::new() }
    }

    /// Makes the buffers of these jobs, and gives all of them their first content.
    pub(super) fn prepare(&mut self, jobs: &[&Job]) -> Result<(), JobError> {
        let wanted = || jobs.iter().flat_map(|job| job.buffers());
        self.kept.retain(|kept| wanted().any(|argument| *argument == kept.argument));
        for argument in wanted() {
            if self.kept.iter().any(|kept| kept.argument == *argument) {
                continue;
            }
            let buffer = Guarded::new(self.session, argument.bytes()).map_err(of_memory)?;
            let content = self.first(argument)?;
            let (argument, image) = (argument.clone(), OnceCell::new());
            self.kept.push(Kept { argument, content, buffer, image });
        }
        self.kept.iter().try_for_each(|kept| self.fill(kept)).map_err(of_memory)?;
        self.arm(Round::First).map_err(of_memory)
    }

    /// The first content of an argument, on the device if there is room.
    fn first(&self, argument: &BufferArgument) -> Result<First, JobError> {
        if argument.content.is_zero() {
            return Ok(First::Zeros);
        }
        let bytes = argument.content.bytes(&argument.name, argument.element, argument.length);
        let bytes = bytes
            .map_err(|e| JobError::job(FailureKind::Launch, format!("cannot be launched: {e}")))?;
        let there = |kept: &&Kept| matches!(kept.content, First::There(_));
        let taken: usize = self.kept.iter().filter(there).map(|k| k.argument.bytes()).sum();
        let fits = (taken + bytes.len()) as u64 <= self.session.device().memory / ROOM;
        let uploaded = if fits { self.session.upload(&bytes).ok() } else { None };
        Ok(uploaded.map_or(First::Here(bytes), First::There))
    }

    /// Fills all guard zones.
    pub(super) fn arm(&self, round: Round) -> Result<(), DeviceError> {
        self.kept.iter().try_for_each(|kept| kept.buffer.arm(self.session, round))
    }

    /// Whether the kernel has written past one of the buffers.
    pub(super) fn check_zones(&self, round: Round) -> Result<(), JobError> {
        for kept in &self.kept {
            let Some(breach) = kept.buffer.breach(self.session, round).map_err(unusable)? else {
                continue;
            };
            let BufferArgument { name, length, element, .. } = &kept.argument;
            let side = match breach.side {
                Side::Before => "before the start",
                Side::Behind => "behind the end",
            };
            let index = breach.index(*length, element.bytes());
            // What else it has written over is unknown: the process ends.
            return Err(JobError::Kernel(Failure {
                kind: FailureKind::Wrong,
                message: format!(
                    "writes {side} of argument `{name}`: at `{name}[{index}]` of {length} elements"
                ),
            }));
        }
        Ok(())
    }

    fn fill(&self, kept: &Kept) -> Result<(), DeviceError> {
        let data = kept.buffer.data();
        match &kept.content {
            First::Zeros => self.session.fill(data, 0)?,
            First::Here(bytes) => self.session.write(data, 0, bytes)?,
            First::There(bytes) => self.session.copy(bytes, data)?,
        };
        kept.image.get().map_or(Ok(()), |image| self.session.copy_to_image(data, image))
    }

    /// Makes the images of a job, which its kernel decides the types of, where they are not made.
    pub(super) fn make_images(&self, job: &Job, kernel: &DeviceKernel) -> Result<(), JobError> {
        for (place, argument) in job.arguments.iter().enumerate() {
            let JobArgument::Buffer(argument) = argument else { continue };
            let kept = self.kept(argument)?;
            if argument.image.is_empty() || kept.image.get().is_some() {
                continue;
            }
            let fault = |why: String| {
                let what = format!("argument `{}`: {why}", argument.name);
                JobError::job(FailureKind::Launch, what)
            };
            let unknown = || fault("the driver does not tell which image it is".to_owned());
            let type_name = kernel.argument_type(place).ok_or_else(unknown)?;
            let (component, data) = (component(argument.element), kept.buffer.data());
            let image = self.session.image(&type_name, &argument.image, component);
            let image = image.map_err(|error| fault(error.to_string()))?;
            self.session.copy_to_image(data, &image).map_err(unusable)?;
            // It was empty.
            let _ = kept.image.set(image);
        }
        Ok(())
    }

    /// Copies the outputs of a job that are images into their buffers.
    pub(super) fn collect(&self, job: &Job) -> Result<(), JobError> {
        for output in job.outputs() {
            let kept = self.kept(output)?;
            let Some(image) = kept.image.get() else { continue };
            self.session.copy_from_image(image, kept.buffer.data()).map_err(unusable)?;
        }
        Ok(())
    }

    /// What a kernel is given for a buffer.
    pub(super) fn passed(&self, argument: &BufferArgument) -> Result<Arg<'_>, JobError> {
        let kept = self.kept(argument)?;
        Ok(kept.image.get().map_or_else(|| Arg::buffer(kept.buffer.data()), Arg::image))
    }

    fn kept(&self, argument: &BufferArgument) -> Result<&Kept, JobError> {
        let kept = self.kept.iter().find(|kept| kept.argument == *argument);
        kept.ok_or_else(|| JobError::job(FailureKind::Launch, "one of its buffers was not made"))
    }

    pub(super) fn data(&self, argument: &BufferArgument) -> Result<&Buffer<u8>, JobError> {
        Ok(self.kept(argument)?.buffer.data())
    }

    /// Gives the outputs of a job their first content again.
    pub(super) fn restore(&self, job: &Job) -> Result<(), JobError> {
        job.outputs().try_for_each(|output| self.fill(self.kept(output)?).map_err(unusable))
    }
}

/// What the components of an image with elements of a type are.
fn component(element: ElementType) -> Component {
    match element {
        _ if element.is_real() => Component::Float,
        _ if element.name().starts_with('u') => Component::Uint(element.bytes()),
        _ => Component::Int(element.bytes()),
    }
}
