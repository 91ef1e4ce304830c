//! The log reader, on arbitrary bytes.

#![no_main]

#[path = "../properties/swf.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::hold(bytes));
