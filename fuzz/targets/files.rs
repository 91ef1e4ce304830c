//! Priority files and platform files, on arbitrary texts.

#![no_main]

#[path = "../properties/files.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::hold(bytes));
