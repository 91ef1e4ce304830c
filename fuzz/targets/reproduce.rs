//! Study files of published tables, on arbitrary texts.

#![no_main]

#[path = "../properties/reproduce.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::hold(bytes));
