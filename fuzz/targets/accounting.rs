//! The readers of accounting, on arbitrary bytes.

#![no_main]

#[path = "../properties/accounting.rs"]
#[allow(dead_code, reason = "the other target has the other properties")]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::hold(bytes));
