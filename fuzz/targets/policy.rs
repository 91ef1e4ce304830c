//! The policy grammar, and all other words of the command line, on texts that nobody wrote.

#![no_main]

#[path = "../properties/policy.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::hold(bytes));
