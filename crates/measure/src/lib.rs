//! Measuring: runs configurations of a kernel on an OpenCL or CUDA device.
//!
//! In goes a problem whose kernel is a source file, and some of its configurations; out come a
//! [`MeasureReport`] with the time of each, or why it has none, and a [`cache`] that is written as
//! they come. What happens to one configuration:
//!
//! 1. it becomes a [`job::Job`]: macros, arguments and launch worked out;
//! 2. if the cache has a result for this very job, that is it;
//! 3. a worker process ([`worker`], watched by [`supervisor`]) compiles its program, ahead of
//!    the configurations that are timed meanwhile;
//! 4. the host [`mod@reference`] states what the outputs should be;
//! 5. another worker process runs the kernel once, compares ([`expected`]), warms up, and repeats
//!    until the time is known well enough ([`timing_run`], [`sample`]); the buffers lie between
//!    zones that show what is written past them ([`guarded`]);
//! 6. the result goes into the cache.
//!
//! At the end the best are timed again, in turns.
//!
//! Before the first of these runs a note states whose code it is, and within which limits it runs.
//!
//! Nothing that a kernel does ends the measuring: one that does not compile, cannot be launched,
//! crashes, hangs or computes wrong numbers is a [`outcome::Failure`] with one line that states it.
//! Only a device that has vanished, the user, or the time does.
//!
//! [`study`] lets others measure what it chooses. [`race`](mod@race) times two kernels in turns.
//! [`guided`] chooses what to measure next; [`score`] compares measured times with the model's
//! ranking; [`t4`] writes results for other tools.
//!
//! To run kernels without a problem file, give [`job::Job`]s to a [`supervisor::Supervisor`].

mod buffers;
pub mod cache;
pub mod calibrate;
mod campaign;
pub mod check;
pub mod data;
mod error;
pub mod expected;
pub mod files;
pub mod floors;
mod flush;
pub mod guarded;
pub mod guided;
pub mod job;
pub mod job_error;
pub mod log;
pub mod outcome;
pub mod race;
mod random;
pub mod reference;
mod report;
pub mod sample;
pub mod score;
pub mod select;
pub mod study;
pub mod supervisor;
pub mod t4;
pub mod timing_run;
pub mod utc;
mod versus;
pub mod worker;

pub use campaign::{MeasurePlan, measure};
pub use error::MeasureError;
pub use report::{MeasureEvent, MeasureOptions, MeasureReport, Measured};
pub use versus::Versus;
