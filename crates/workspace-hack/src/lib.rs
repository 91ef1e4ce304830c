//! Asks for features; see its Cargo.toml.
