//! The tests of pages and plots.
//! One binary: it links once. A new file needs its line here.

mod details;
