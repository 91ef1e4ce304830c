//! The log reader, on bytes that nobody wrote.

#![no_main]

#[path = "../properties/swf.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::hold(bytes));
