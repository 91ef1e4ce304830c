//! Saved states, on arbitrary bytes.

#![no_main]

#[path = "../properties/state.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::hold(bytes));
