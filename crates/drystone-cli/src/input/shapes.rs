//! Sizes that jobs may have, as `--shapes` says, and power, as `--power` does.

use super::WorkloadInput;
use crate::args::ShapeArgs;
use crate::exit::CommandFailure;
use crate::output::{message, number};
use crate::real::read;
use drystone::log::clean::Overrun;
use drystone::log::power::{give_power, read_caps};
use drystone::log::series::PowerSeries;
use drystone::log::shapes::{give_shapes, read_shapes};
use std::path::PathBuf;

impl WorkloadInput {
    /// Gives the jobs their sizes and the machine its power. Says what is odd about them.
    pub(crate) fn with_shapes(mut self, args: &ShapeArgs, overrun: Overrun) -> Result<WorkloadInput, CommandFailure> {
        if !args.any() {
            return Ok(self);
        }
        if self.workload.resources().is_some_and(|table| table.counts() || table.fill().is_some()) {
            return Err(CommandFailure::usage(
                "--shapes and --power count processors and watts; leave out --resources and --on-nodes (--resources none)",
            ));
        }
        if self.division().is_some() {
            return Err(CommandFailure::usage(
                "--shapes and --power are about one machine, and the site has several pools; SITE#POOL names one",
            ));
        }
        if let Some(file) = &args.shapes {
            let (name, text) = read(file)?;
            let table = read_shapes(&name, &text).map_err(CommandFailure::usage)?;
            let (workload, notes) = give_shapes(self.workload, &table, overrun).map_err(CommandFailure::usage)?;
            self.workload = workload;
            if notes.cut > 0 {
                message::note(&format!(
                    "{name}: sizes wider than the machine are left out, of {}",
                    number::plural(notes.cut as u64, "job")
                ));
            }
            if let Some(first) = notes.unknown.first() {
                message::warning(&format!(
                    "{name}: {} left out, for jobs that are not simulated, the first job {first}",
                    number::plural(notes.unknown.len() as u64, "line")
                ));
            }
        }
        if args.power.is_some() || args.idle > 0 {
            let (name, caps) = match &args.power {
                None => ("no caps".to_string(), Vec::new()),
                Some(file) => {
                    let (name, text) = read(file)?;
                    let caps = read_caps(&name, &text).map_err(CommandFailure::usage)?;
                    (name, caps)
                }
            };
            self.workload = give_power(self.workload, &name, caps, args.idle).map_err(CommandFailure::usage)?;
        }
        Ok(self)
    }
}

/// Reads carbon and prices over time.
pub(crate) fn read_series(file: Option<&PathBuf>) -> Result<Option<PowerSeries>, CommandFailure> {
    let Some(file) = file else { return Ok(None) };
    let (name, text) = read(file)?;
    PowerSeries::read(&name, &text).map(Some).map_err(CommandFailure::usage)
}
