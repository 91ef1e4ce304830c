//! The testbed itself.
//! One binary: it links once. A new file needs its line here.
#![allow(clippy::disallowed_methods, reason = "tests wait for processes")]

mod cluster;
