//! The policy grammar, and all other words of the command line, on arbitrary texts.

#![no_main]

#[path = "../properties/policy.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::hold(bytes));
