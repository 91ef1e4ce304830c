//! Resources beyond processors, as `--resources` says, and nodes, as `--on-nodes` does.

use super::WorkloadInput;
use crate::args::{LogArgs, NodeSource, SiteWorld};
use crate::exit::CommandFailure;
use crate::output::{message, number};
use crate::real::read_text;
use drystone::log::nodes::{place_on, read_nodes};
use drystone::log::resources::{ResourceNotes, ResourceSpec, give_resources, read_table};
use std::path::Path;

impl WorkloadInput {
    pub(crate) fn with_asked_resources(self, args: &LogArgs) -> Result<WorkloadInput, CommandFailure> {
        if args.world == Some(SiteWorld::Site) {
            return Err(CommandFailure::usage_error(
                "--world site: these jobs are none of a site; import its accounting with `drystone import`",
            ));
        }
        self.with_resources(&args.resources)?.on_nodes(args)
    }

    /// Places the jobs on the nodes of a table.
    pub(crate) fn on_nodes(mut self, args: &LogArgs) -> Result<WorkloadInput, CommandFailure> {
        match &args.on_nodes {
            None | Some(NodeSource::None) => Ok(self),
            Some(NodeSource::Site) => Err(CommandFailure::usage_error(
                "--on-nodes site: these jobs are none of a site; name a table of nodes: --on-nodes FILE.csv",
            )),
            Some(NodeSource::File(file)) => {
                let (name, text) = read_text(file)?;
                let table = read_nodes(&name, &text).map_err(CommandFailure::usage_error)?;
                let fill = args.placement.unwrap_or_default();
                let placement = place_on(self.workload, &table.classes, fill, &name);
                self.workload = placement
                    .map_err(|error| CommandFailure::usage_error(format_args!("--on-nodes {name}: {error}")))?;
                Ok(self)
            }
        }
    }

    /// Adds these resources to the jobs. Says what is odd about them.
    pub(crate) fn with_resources(mut self, specs: &[ResourceSpec]) -> Result<WorkloadInput, CommandFailure> {
        if specs.is_empty() {
            return Ok(self);
        }
        if specs.len() > 1 && specs.contains(&ResourceSpec::None) {
            return Err(CommandFailure::usage_error("--resources none does not go with other resources"));
        }
        let mut tables = Vec::new();
        for spec in specs {
            if let ResourceSpec::Table(file) = spec {
                let (name, text) = read_text(Path::new(file))?;
                tables.push(read_table(&name, &text).map_err(CommandFailure::usage_error)?);
            }
        }
        let (workload, notes) = give_resources(self.workload, specs, &tables)
            .map_err(|error| CommandFailure::usage_error(format_args!("--resources: {error}")))?;
        self.workload = workload;
        say_what_is_odd("--resources: ", "", &notes);
        Ok(self)
    }
}

/// Says what is odd about the resources of a workload; warnings and notes begin with these words.
pub(crate) fn say_what_is_odd(warns: &str, notes: &str, odd: &ResourceNotes) {
    if odd.without_memory > 0 {
        let not = if odd.without_memory == 1 {
            "does not say how much memory it needs and asks"
        } else {
            "do not say how much memory they need and ask"
        };
        message::print_note(&format!(
            "{notes}{} of {} {not} for none",
            number::format_count(odd.without_memory as u64),
            number::format_plural(odd.jobs as u64, "job")
        ));
    }
    if !odd.empty.is_empty() {
        message::print_warning(&format!("{warns}no job is of {}: it limits nothing", odd.empty.join(", ")));
    }
    if let Some(first) = odd.unknown.first() {
        message::print_warning(&format!(
            "{warns}{} left out, for jobs that are not simulated, the first job {first}",
            number::format_plural(odd.unknown.len() as u64, "line")
        ));
    }
}
