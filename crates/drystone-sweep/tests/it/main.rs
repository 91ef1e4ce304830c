//! The tests of sweeps.
//! One binary: it links once. A new file needs its line here.

mod analysis;
mod fuzzed;
mod own;
mod platforms;
mod store;
mod study;
