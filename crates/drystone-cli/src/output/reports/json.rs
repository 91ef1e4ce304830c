//! One JSON object with everything.

use super::{Printable, Reports};
use crate::exit::Failure;
use crate::output::file::Output;
use crate::output::format::{Format, put};

pub(super) struct Json;

impl Format<Reports> for Json {
    fn endings(&self) -> &'static [&'static str] {
        &[".json"]
    }

    fn option(&self) -> Option<(&'static str, &'static str)> {
        Some(("json", "One object with everything"))
    }

    fn write(&self, result: &(dyn Printable + '_), out: &mut Output) -> Result<(), Failure> {
        put(out, &result.json()?)
    }
}
