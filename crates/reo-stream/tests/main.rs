//! What datasets promise: whole or absent, gone on with, verified, and read by others; and jobs.

mod dataset;
mod job;
