//! Classes of jobs: winners and losers.

use super::baseline::WhatIfBaseline;
use super::simulate::{Before, ScenarioRun};
use crate::input::WorkloadInput;
use drystone::metrics::{Calendar, Scheme};
use drystone::model::{Job, Span};
use drystone_whatif::{ClassChange, PairedWait, Periods, compare_waits};
use std::collections::BTreeMap;

/// Borders of run times and sizes, those of the scheme that pages show.
const RUNS: [i64; 4] = [600, 3_600, 14_400, 28_800];
const SIZES: [f64; 4] = [1.0, 8.0, 32.0, 64.0];

/// A job that counts, with its classes.
struct Classed {
    place: usize,
    period: u32,
    nodes: f64,
    work: f64,
    /// For each kind of class, which one; `u32::MAX` for none.
    of: Vec<u32>,
}

/// The jobs that count, by class.
pub(crate) struct JobClasses {
    kinds: Vec<(&'static str, Vec<String>)>,
    jobs: Vec<Classed>,
    work: f64,
    periods: Periods,
}

/// Numbers for names, as they come.
#[derive(Default)]
struct NameNumbers {
    names: Vec<String>,
    of: BTreeMap<String, u32>,
}

impl NameNumbers {
    fn assign_number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.of.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.of.insert(name.to_string(), number);
        self.names.push(name.to_string());
        number
    }
}

impl JobClasses {
    pub(crate) fn from_input(input: &WorkloadInput, baseline: &WhatIfBaseline, before: &Before) -> JobClasses {
        let premises = &baseline.premises;
        let account: BTreeMap<i32, &str> =
            premises.accounts.iter().map(|(name, &number)| (number, name.as_str())).collect();
        let partitions = premises.pools.iter().flat_map(|pool| &pool.partitions);
        let partition: BTreeMap<i32, &str> = partitions.map(|p| (p.number, p.name.as_str())).collect();
        let mut kinds: Vec<(&'static str, NameNumbers)> = ["partition", "account", "size and run time", "GPU"]
            .into_iter()
            .map(|kind| (kind, NameNumbers::default()))
            .collect();
        let calendar = Calendar::new(before.workload.submit_range().unwrap_or_default().0, &before.workload.provenance);
        let mut jobs = Vec::new();
        for place in before.counted_places() {
            let (job, truth) = (&before.workload.jobs()[place], &before.workload.truth()[place]);
            let Some(period) = before.periods.find_period(job.submit) else { continue };
            let nodes = premises.nodes_of(job);
            let with_gpu = input.site.as_ref().and_then(|site| {
                let at = *site.places.get(place)?;
                Some(site.site.job_at(at as usize).gpus.unwrap_or(0) > 0)
            });
            let names = [
                partition.get(&job.partition).filter(|name| !name.is_empty()).map(|name| (*name).to_string()),
                (job.group >= 0)
                    .then(|| account.get(&job.group).map_or_else(|| job.group.to_string(), |name| (*name).to_string())),
                Some(size_and_run(job, truth.run, &calendar)),
                with_gpu.map(|with| if with { "with GPUs" } else { "without GPUs" }.to_string()),
            ];
            let of = names.iter().zip(&mut kinds).map(|(name, (_, numbers))| {
                name.as_ref().filter(|name| !name.is_empty()).map_or(u32::MAX, |name| numbers.assign_number(name))
            });
            let of = of.collect();
            jobs.push(Classed { place, period: period as u32, nodes, work: nodes * truth.run.as_f64() / 3_600.0, of });
        }
        let work = jobs.iter().map(|job| job.work).sum();
        let kinds = kinds.into_iter().map(|(kind, numbers)| (kind, numbers.names)).collect();
        JobClasses { kinds, jobs, work, periods: before.periods.clone() }
    }

    /// The jobs that count before and after, each with its waits.
    pub(crate) fn paired_waits(&self, before: &ScenarioRun, after: &ScenarioRun) -> Vec<(usize, PairedWait)> {
        let pair_waits = |(at, job): (usize, &Classed)| {
            let (was, is) = (before.fates[job.place], after.fates[job.place]);
            is.wait
                .is_finite()
                .then_some((at, PairedWait { period: job.period, before: was.wait, after: is.wait, nodes: job.nodes }))
        };
        self.jobs.iter().enumerate().filter_map(pair_waits).collect()
    }

    pub(crate) fn overall_change(
        &self,
        pairs: &[(usize, PairedWait)],
        confidence: f64,
    ) -> drystone_whatif::PairedChange {
        compare_waits(pairs.iter().map(|(_, pair)| pair), &self.periods, confidence)
    }

    /// The change of every class of a kind that has several, those with most node-hours of waiting
    /// gained or lost first.
    pub(crate) fn class_changes(&self, pairs: &[(usize, PairedWait)], confidence: f64) -> Vec<ClassChange> {
        let mut changes = Vec::new();
        for (kind, (by, names)) in self.kinds.iter().enumerate().filter(|(_, (_, names))| names.len() > 1) {
            let mut of_class: Vec<Vec<PairedWait>> = vec![Vec::new(); names.len()];
            let mut work = vec![0.0; names.len()];
            for job in &self.jobs {
                if let Some(work) = work.get_mut(job.of[kind] as usize) {
                    *work += job.work;
                }
            }
            for (at, pair) in pairs {
                if let Some(of_class) = of_class.get_mut(self.jobs[*at].of[kind] as usize) {
                    of_class.push(*pair);
                }
            }
            for ((name, waits), work) in names.iter().zip(&of_class).zip(&work) {
                let change = compare_waits(waits.iter(), &self.periods, confidence);
                changes.push(ClassChange {
                    by: (*by).to_string(),
                    class: name.clone(),
                    work: work / self.work.max(f64::MIN_POSITIVE),
                    change,
                });
            }
        }
        changes.sort_by(|a, b| {
            b.change
                .node_hours
                .abs()
                .total_cmp(&a.change.node_hours.abs())
                .then_with(|| (&a.by, &a.class).cmp(&(&b.by, &b.class)))
        });
        changes
    }
}

/// The class of size and run time, named as on pages.
fn size_and_run(job: &Job, run: Span, calendar: &Calendar) -> String {
    let run = RUNS.iter().take_while(|&&border| run.0 > border).count() as i64;
    let size = SIZES.iter().take_while(|&&border| f64::from(job.procs) > border).count() as i64;
    let name = Scheme::Chiang.category_name(run * 5 + size, calendar);
    match name.split_once(" × ") {
        Some((run, size)) => format!("{size} procs, {run}"),
        None => name,
    }
}
