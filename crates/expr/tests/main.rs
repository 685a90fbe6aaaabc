//! What expressions promise.

mod interval;
mod random;
