//! Use by jobs of what they held, and the limits that they asked for.

use super::classes::GroupProperty;
use super::{WaitsOptions, wait_begin, waits_title};
use crate::clock::Zone;
use crate::jobs::{JobMarks, LimitFrom, SiteJobFate};
use crate::site::Site;
use crate::site_job::SiteJob;
use drystone::model::SharedSort;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the format of the result.
pub const EFFICIENCY_SCHEMA: &str = "drystone/efficiency/1";

/// Amount that jobs held, and the part of it that they used, over the jobs of which both are known.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct UsedAmount {
    pub jobs: u64,
    /// Amount times hours.
    pub held: f64,
    pub used: f64,
    /// Used of held; `None` where nothing was held.
    pub share: Option<f64>,
}

impl UsedAmount {
    fn add_use(&mut self, allocation: f64, usage: f64) {
        if allocation > 0.0 {
            self.jobs += 1;
            self.held += allocation;
            self.used += usage;
            self.share = Some(self.used / self.held);
        }
    }
}

/// Figures of some jobs that ran and ended.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct EfficiencyFigures {
    pub jobs: u64,
    /// Processor-hours: held by jobs, and computed in.
    pub processors: UsedAmount,
    /// Hours of gibibytes: asked for, and held by tasks at their most.
    pub memory: UsedAmount,
    /// Processor-hours: up to the limits of the jobs, and until their ends.
    pub limits: UsedAmount,
    /// GPU-hours: held by jobs, and in use.
    pub gpus: UsedAmount,
}

impl EfficiencyFigures {
    fn add_job(&mut self, job: &SiteJob<'_>, has: &RecordedUse) {
        const KB_PER_GIB: f64 = 1_048_576.0;
        let hours = f64::from(job.run.unwrap_or(0)) / 3_600.0;
        self.jobs += 1;
        let cpus = job.cpus.map_or(0.0, f64::from);
        if let Some(ms) = job.used_cpu_ms.filter(|_| has.processors) {
            self.processors.add_use(cpus * hours, ms as f64 / 3_600_000.0);
        }
        if let (Some(usage), Some(request)) = (job.used_memory_kb.filter(|_| has.memory), job.memory_kb)
            && request != u64::MAX
        {
            self.memory.add_use(request as f64 / KB_PER_GIB * hours, usage as f64 / KB_PER_GIB * hours);
        }
        if job.limit_from == LimitFrom::Record && !job.marks.has_mark(JobMarks::LIMIT) {
            self.limits.add_use(cpus * f64::from(job.limit) / 3_600.0, cpus * hours);
        }
        if let (Some(usage), Some(gpus)) = (job.used_gpu_hundredths, job.gpus) {
            self.gpus.add_use(f64::from(gpus) * hours, f64::from(usage) / 100.0 * hours);
        }
    }

    /// Processor-hours that jobs held and did not use.
    pub fn idle_processor_hours(&self) -> f64 {
        (self.processors.held - self.processors.used).max(0.0)
    }
}

/// Jobs that have something in common.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EfficiencyGroup {
    pub by: GroupProperty,
    /// Common value.
    pub name: String,
    pub figures: EfficiencyFigures,
}

/// Use that the jobs of a site made of what they held.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SiteEfficiency {
    /// The format's version.
    pub schema: String,
    /// Name of the site and, where one is asked for, of the pool.
    pub site: String,
    pub time_zone: String,
    /// Jobs that began to wait from here on, in seconds since 1970.
    pub from: i64,
    /// Jobs that began to wait before.
    pub until: i64,
    pub all: EfficiencyFigures,
    /// Groups by each property, those with most processor-hours held and not used first; where no
    /// processor time is recorded, those with most processor-hours up to their limits.
    pub groups: Vec<EfficiencyGroup>,
    /// Jobs that are in no figure: they changed their size, or are made of components.
    pub left_out: u64,
    /// Columns that the records lack, a sentence each.
    pub missing: Vec<String>,
}

struct RecordedUse {
    processors: bool,
    memory: bool,
    gpus: bool,
    has_gpus: bool,
    /// True if processor times are there, and all of them are zero.
    zeros: bool,
}

impl RecordedUse {
    fn from_site(site: &Site) -> RecordedUse {
        let mut columns = RecordedUse { processors: false, memory: false, gpus: false, has_gpus: false, zeros: false };
        for at in 0..site.len() {
            let job = site.bare_job(at);
            columns.processors |= job.used_cpu_ms.is_some_and(|ms| ms > 0);
            columns.zeros |= job.used_cpu_ms == Some(0);
            columns.memory |= job.used_memory_kb.is_some_and(|kb| kb > 0);
            columns.gpus |= job.used_gpu_hundredths.is_some();
            columns.has_gpus |= job.gpus.is_some_and(|gpus| gpus > 0);
        }
        columns
    }

    fn missing_facts(&self) -> Vec<String> {
        let mut missing = Vec::new();
        if !self.processors {
            missing.push(match self.zeros {
                true => "Processor time: TotalCPU is 0 for every job, as sacct -X prints it; leave out -X.",
                false => "Processor time: the records have no column TotalCPU.",
            });
        }
        if !self.memory {
            missing.push("Memory: no step has MaxRSS or TRESUsageInTot; sacct prints them without -X where Slurm gathers them (JobAcctGatherType).");
        }
        if self.has_gpus && !self.gpus {
            missing.push("GPUs: no step has gres/gpuutil in TRESUsageInTot; Slurm records it where AccountingStorageTRES names it.");
        }
        missing.into_iter().map(String::from).collect()
    }
}

/// Returns the use that jobs made of what they held, of those that ran and ended.
///
/// Cost: O(n log g) for n jobs in g groups.
pub fn measure_efficiency(site: &Site, question: &WaitsOptions) -> SiteEfficiency {
    let manifest = &site.manifest;
    let zone = Zone::from_name(&manifest.time_zone).unwrap_or_else(|_| Zone::utc_zone());
    let from = question.since.unwrap_or(manifest.window.from);
    let until = question.until.unwrap_or(manifest.window.until.saturating_add(1));
    let has = RecordedUse::from_site(site);
    let (mut all_figures, mut left_out) = (EfficiencyFigures::default(), 0);
    let mut groups: BTreeMap<(usize, u32, String), EfficiencyFigures> = BTreeMap::new();
    for job in site.jobs().filter(|job| question.pool.is_none_or(|pool| job.pool == pool)) {
        let ran = job.kind == SiteJobFate::Ran && job.run.is_some_and(|run| run > 0);
        if !ran || !(from..until).contains(&wait_begin(&job)) {
            continue;
        }
        if [JobMarks::RESIZED, JobMarks::HET].into_iter().any(|mark| job.marks.has_mark(mark)) {
            left_out += 1;
            continue;
        }
        all_figures.add_job(&job, &has);
        for (at, by) in question.by.iter().enumerate() {
            let (order, name) = by.class_of(&job, &zone);
            groups.entry((at, order, name)).or_default().add_job(&job, &has);
        }
    }
    let by_use = all_figures.processors.jobs > 0;
    let mut sorted_groups: Vec<((usize, u32, String), EfficiencyFigures)> = groups.into_iter().collect();
    let weight = |figures: &EfficiencyFigures| match by_use {
        true => figures.idle_processor_hours(),
        false => figures.limits.held,
    };
    sorted_groups.sort_shared_by(|((at, order, name), a), ((other_at, other_order, other_name), b)| {
        let is_ordered = question.by[*at].is_ordered();
        let by_weight = || weight(b).total_cmp(&weight(a)).then_with(|| name.cmp(other_name));
        at.cmp(other_at).then_with(|| if is_ordered { order.cmp(other_order) } else { by_weight() })
    });
    let group = |((at, _, name), figures)| EfficiencyGroup { by: question.by[at], name, figures };
    SiteEfficiency {
        schema: EFFICIENCY_SCHEMA.to_string(),
        site: waits_title(site, question.pool),
        time_zone: zone.name().to_string(),
        from,
        until,
        all: all_figures,
        groups: sorted_groups.into_iter().map(group).collect(),
        left_out,
        missing: has.missing_facts(),
    }
}
