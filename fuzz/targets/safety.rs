#![no_main]

#[path = "../../tests/readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::check("safety", bytes));
