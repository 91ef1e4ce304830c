//! Sizes that jobs may have, as `--shapes` says, and power, as `--power` does.

use super::WorkloadInput;
use crate::args::ShapeArgs;
use crate::exit::CommandFailure;
use crate::output::{message, number};
use crate::real::read_text;
use drystone::generate::reshape::Reshape;
use drystone::log::clean::Overrun;
use drystone::log::power::{CapTable, give_power, give_terms, read_caps};
use drystone::log::series::PowerSeries;
use drystone::log::shapes::{ShapeNotes, give_rules, give_shapes, overrun_of, read_shapes};
use drystone::model::Setting;
use std::sync::Arc;

impl WorkloadInput {
    /// Gives the jobs their sizes and the machine its power. Says what is odd about them.
    pub(crate) fn with_shapes(mut self, args: &ShapeArgs, overrun: Overrun) -> Result<WorkloadInput, CommandFailure> {
        if !args.has_any() {
            return Ok(self);
        }
        self.takes_shapes()?;
        if let Some(file) = &args.shapes {
            let (name, text) = read_text(file)?;
            let table = read_shapes(&name, &text).map_err(CommandFailure::usage_error)?;
            let (workload, notes) = give_shapes(self.workload, &table, overrun).map_err(CommandFailure::usage_error)?;
            self.workload = workload;
            say_what_is_cut(&name, &notes);
        }
        if args.power.is_some() || args.idle > 0 {
            let caps = match &args.power {
                None => CapTable::from_caps("no caps", Vec::new()),
                Some(file) => {
                    let (name, text) = read_text(file)?;
                    read_caps(&name, &text).map_err(CommandFailure::usage_error)?
                }
            };
            self.workload = give_power(self.workload, &caps, args.idle).map_err(CommandFailure::usage_error)?;
        }
        if let Some(file) = &args.series {
            let (name, text) = read_text(file)?;
            let series = PowerSeries::parse_table(&name, &text).map_err(CommandFailure::usage_error)?;
            if let Some((first, _)) = self.workload.submit_range() {
                series.check_from(first).map_err(CommandFailure::usage_error)?;
            }
            self.workload.provenance.settings.push(Setting { name: "series".to_string(), value: name });
            self.workload = give_terms(self.workload, &series);
            self.series = Some(Arc::new(series));
        }
        if let Some(rules) = args.resizing {
            self.workload = give_rules(self.workload, rules);
        }
        self.say_what_draws_nothing(args);
        Ok(self)
    }

    /// Gives the jobs sizes that are drawn.
    pub(crate) fn drawn_shapes(mut self, reshape: &Reshape) -> Result<WorkloadInput, CommandFailure> {
        self.takes_shapes()?;
        let overrun = overrun_of(&self.workload);
        let (workload, notes) = reshape.apply(self.workload, overrun).map_err(CommandFailure::usage_error)?;
        self.workload = workload;
        say_what_is_cut("the drawn sizes", &notes);
        Ok(self)
    }

    /// Refuses inputs whose jobs cannot have several sizes.
    fn takes_shapes(&self) -> Result<(), CommandFailure> {
        if self.workload.resources().is_some_and(|table| table.has_resources() || table.node_fill().is_some()) {
            return Err(CommandFailure::usage_error(
                "--shapes and --power count processors and watts; leave out --resources and --on-nodes (--resources none)",
            ));
        }
        if self.pool_division().is_some() {
            return Err(CommandFailure::usage_error(
                "--shapes and --power are about one machine, and the site has several pools; SITE#POOL names one",
            ));
        }
        Ok(())
    }

    /// Caps and series without a draw say nothing.
    fn say_what_draws_nothing(&self, args: &ShapeArgs) {
        let draws = self.workload.shapes().is_some_and(|shapes| {
            shapes.known.iter().any(|shape| shape.watts > 0)
                || shapes.power.as_ref().is_some_and(|power| power.idle > 0)
        });
        if !draws && (args.power.is_some() || args.series.is_some()) {
            message::print_warning(
                "nothing draws power: --power and --series count what the column watts of --shapes and --idle say",
            );
        }
    }
}

fn say_what_is_cut(name: &str, notes: &ShapeNotes) {
    if notes.cut > 0 {
        message::print_note(&format!(
            "{name}: sizes wider than the machine are left out, of {}",
            number::format_plural(notes.cut as u64, "job")
        ));
    }
    if let Some(first) = notes.unknown.first() {
        message::print_warning(&format!(
            "{name}: {} left out, for jobs that are not simulated, the first job {first}",
            number::format_plural(notes.unknown.len() as u64, "line")
        ));
    }
}
