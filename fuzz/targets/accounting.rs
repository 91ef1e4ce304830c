//! The readers of accounting and of machines, on arbitrary bytes.

#![no_main]

#[path = "../properties/accounting.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::hold(bytes));
