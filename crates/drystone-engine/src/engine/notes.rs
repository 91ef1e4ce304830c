//! Diagnostics of a policy over time.

use super::Observer;
use crate::model::Time;
use crate::policy::Gauge;
use std::io::{self, Write};

/// From `at` on, `gauge` has this value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GaugeNote {
    /// Beginning.
    pub at: Time,
    /// Quantity reported.
    pub gauge: Gauge,
    /// Its value.
    pub value: i64,
}

/// Every note of a policy, in order of time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    /// The notes.
    pub list: Vec<GaugeNote>,
}

impl Notes {
    /// Writes the notes as CSV with the columns `time,gauge,value`: a step function per gauge,
    /// ready to be plotted.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_csv(&self, mut to: impl Write) -> io::Result<()> {
        writeln!(to, "time,gauge,value")?;
        for note in &self.list {
            writeln!(to, "{},{},{}", note.at.0, note.gauge, note.value)?;
        }
        Ok(())
    }

    /// The last value of a gauge.
    #[must_use]
    pub fn last_value(&self, gauge: Gauge) -> Option<i64> {
        self.list.iter().rev().find(|n| n.gauge == gauge).map(|n| n.value)
    }
}

impl Observer for Notes {
    const ENDS: bool = false;

    fn note_gauge(&mut self, now: Time, gauge: Gauge, value: i64) {
        self.list.push(GaugeNote { at: now, gauge, value });
    }
}
