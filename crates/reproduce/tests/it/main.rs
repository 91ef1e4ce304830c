//! The tests of reproduced studies.
//! One binary: it links once. A new file needs its line here.

mod coverage;
mod fuzzed;
mod record;
