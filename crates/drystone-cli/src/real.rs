//! Options about what a real machine did: the files they name, outages, and which policies can take
//! them into account.

use crate::args::RealArgs;
use crate::exit::CommandFailure;
use crate::meta::{ExperimentMeta, FileMeta};
use crate::output::message;
use drystone::log::{outages, supply};
use drystone::model::{Outages, ResourceId, ResourceTable, Setting, Time, Workload};
use drystone::policy::PolicySpec;
use std::collections::BTreeSet;
use std::path::Path;

/// Reads a file as text; also answers its name, for messages and provenance.
pub(crate) fn read_text(file: &Path) -> Result<(String, String), CommandFailure> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file)
        .map_err(|error| CommandFailure::usage_error(format_args!("{name}: cannot be read: {error}")))?;
    Ok((name, text))
}

/// The times between which an outage can concern a job: the first submit, and the end of all jobs
/// if they ran one after the other from the last submit on. Jobs run long after the last submit,
/// and an announced outage moves jobs that never meet it.
fn outage_reach(workload: &Workload) -> Option<(Time, Time)> {
    let (first, last) = workload.submit_range()?;
    let work = workload.truth().iter().fold(0_i64, |sum, truth| sum.saturating_add(truth.run.0.max(0)));
    Some((first, Time(last.0.saturating_add(work).saturating_add(1))))
}

/// Returns the reason why a workload's changes of supply concern none of its jobs; `None` where
/// they may. `before` is the table without the changes.
fn explain_no_effect(workload: &Workload, before: &ResourceTable) -> Option<String> {
    let (table, (first, latest)) = (workload.resources()?, outage_reach(workload)?);
    let changed_resources: BTreeSet<ResourceId> = table.supply_steps().iter().map(|step| step.resource).collect();
    let demanded_resources: BTreeSet<ResourceId> =
        workload.jobs().iter().flat_map(|job| table.demand_totals(job.demand)).map(|&(resource, _)| resource).collect();
    let names = |of: &BTreeSet<ResourceId>| {
        let names: Vec<&str> =
            of.iter().filter_map(|&id| table.find_resource(id)).map(|resource| resource.name.as_str()).collect();
        names.join(", ")
    };
    if !changed_resources.is_empty() && changed_resources.is_disjoint(&demanded_resources) {
        return Some(format!("none asks for {}; name a resource that jobs ask for", names(&changed_resources)));
    }
    let differs = |id: ResourceId, at: Time| table.supply_at(id, at) != before.supply_at(id, at);
    let within = table.supply_steps().iter().filter(|step| first < step.from && step.from < latest);
    let is_felt = within.map(|step| (step.resource, step.from)).chain(demanded_resources.iter().map(|&id| (id, first)));
    let is_felt = is_felt.filter(|(id, _)| demanded_resources.contains(id)).any(|(id, at)| differs(id, at));
    (!is_felt).then(|| {
        format!(
            "no amount differs between the first submit, {first} s, and {latest} s, by which all jobs end even if they \
             run one after the other; times are seconds of the log, or dates"
        )
    })
}

impl RealArgs {
    pub(crate) fn needs_records(&self) -> bool {
        self.warm_start.is_some() || self.feedback
    }

    /// Returns whether times have to be those of the log until it is cut.
    pub(crate) fn needs_times_of_the_log(&self) -> bool {
        self.needs_records() || self.circumstances.is_some()
    }

    pub(crate) fn named_files(&self) -> [Option<&Path>; 3] {
        [self.outages.as_deref(), self.circumstances.as_deref(), self.supply.as_deref()]
    }

    /// Reads the outages of the machine, where there are any, and records them among the settings.
    /// Times are those of the workload as it is simulated.
    pub(crate) fn read_outages(
        &self,
        workload: &Workload,
        experiment: &mut ExperimentMeta,
    ) -> Result<Outages, CommandFailure> {
        experiment.feedback = self.feedback;
        if let Some(file) = &self.circumstances {
            let (name, text) = read_text(file)?;
            experiment.circumstances = Some(FileMeta::from_text(name, &text));
        }
        let Some(file) = &self.outages else { return Ok(Outages::default()) };
        let (name, text) = read_text(file)?;
        let outages_read = outages::read_outages(text.as_bytes(), &name, workload.machine(), &workload.provenance)
            .map_err(CommandFailure::caused_by)?;
        experiment.outages = Some(FileMeta::from_text(name.clone(), &text));
        if let Some((first, latest)) = outage_reach(workload)
            && !outages_read.is_empty()
            && outages_read.out_between(first, latest) == 0.0
        {
            message::print_warning(&format!(
                "{name}: no outage falls between the first submit, {first} s, and {latest} s, when all jobs would be done that run \
                 one after the other: times are seconds of the log, or dates"
            ));
        }
        Ok(outages_read)
    }

    /// Gives the machine the amounts of resources over time of the table `--supply`, if there is
    /// one. Times are those of the workload as it is simulated.
    pub(crate) fn give_supply(&self, workload: Workload) -> Result<Workload, CommandFailure> {
        let Some(file) = &self.supply else { return Ok(workload) };
        let (name, text) = read_text(file)?;
        let before = workload.resources().cloned();
        let mut workload = supply::give_supply(workload, text.as_bytes(), &name).map_err(CommandFailure::caused_by)?;
        if let Some(reason) = before.and_then(|before| explain_no_effect(&workload, &before)) {
            message::print_warning(&format!("{name}: no job is simulated differently for this table: {reason}"));
        }
        let meta = FileMeta::from_text(name, &text);
        let value = format!("{} ({})", meta.file, meta.hash);
        workload.provenance.settings.push(Setting { name: "supply".to_string(), value });
        Ok(workload)
    }

    /// Checks that these policies can be simulated in this way.
    pub(crate) fn heard_by<'a>(
        &self,
        specs: impl IntoIterator<Item = &'a PolicySpec>,
        outages: &Outages,
        workload: &Workload,
    ) -> Result<(), CommandFailure> {
        let is_steady = workload.resources().is_none_or(|table| table.supply_steps().is_empty());
        if outages.is_empty() && workload.circumstances().is_none() && is_steady {
            return Ok(());
        }
        for spec in specs {
            let deaf = |error| CommandFailure::usage_error(format_args!("policy {spec}: {error}"));
            spec.build_scheduler().check_hears().map_err(deaf)?;
        }
        Ok(())
    }
}
