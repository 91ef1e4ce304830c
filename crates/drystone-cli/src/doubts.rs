//! Doubts about an input that people should hear of before they believe a result.

use crate::output::{message, number};
use drystone::log::clean::{Audit, CleaningRule};
use drystone::log::swf::SwfHeader;
use drystone::model::Workload;

/// Least share of the work that is worth a warning.
const WORTH_A_WARNING: f64 = 0.001;
/// Ratio between a given size and the header's from which they are far apart.
const FAR: f64 = 1.25;

/// Says how much work was lost with jobs that are wider than the machine.
pub(crate) fn say_what_work_is_lost(workload: &Workload, audit: &Audit) {
    if let Some(note) = &audit.beyond {
        message::print_warning(note);
    }
    let dropped_jobs = audit.count_touched(CleaningRule::TooWide);
    let job_truths = workload.jobs().iter().zip(workload.truth());
    let kept_work: f64 = job_truths.map(|(job, truth)| f64::from(job.procs) * truth.run.as_f64()).sum();
    let lost_work = audit.too_wide_work as f64;
    let share = lost_work / (kept_work + lost_work).max(1.0);
    if dropped_jobs == 0 || share < WORTH_A_WARNING {
        return;
    }
    message::print_warning(&format!(
        "{} wider than the machine of {}, with {} of the log's work, {} left out; --procs N sets the size of the machine",
        number::format_plural(dropped_jobs, "job"),
        number::format_plural(u64::from(workload.machine().procs), "processor"),
        number::format_percent(Some(share), 1),
        if dropped_jobs == 1 { "is" } else { "are" }
    ));
}

/// Says where the size given for the machine is far from the header's.
pub(crate) fn say_where_sizes_differ(header: &SwfHeader, machine_procs: u32) {
    let stated_procs = header.max_procs().or_else(|| header.max_nodes()).filter(|&procs| procs > 0);
    let Some(header_procs) = stated_procs else { return };
    let ratio = f64::from(machine_procs) / header_procs as f64;
    if !(1.0 / FAR..=FAR).contains(&ratio) {
        message::print_warning(&format!(
            "--procs {} is far from the header's {}: the offered load is {:.2} times what it was",
            number::format_count(u64::from(machine_procs)),
            number::format_count(header_procs.unsigned_abs()),
            1.0 / ratio
        ));
    }
}
