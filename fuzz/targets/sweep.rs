//! Study files of sweeps, on arbitrary texts.

#![no_main]

#[path = "../properties/sweep.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::hold(bytes));
