//! Records that were never closed.

use crate::jobs::{self, FoundJob, JobMarks, SiteJobFate, count_rule};
use crate::machine::SiteMachine;
use crate::rows::{AccountingTable, Symbol};
use crate::rules::{ImportRule, RuleTally};
use crate::sweep::Crew;
use crate::text::{Amount, RecordLimit, RecordState};
use std::collections::{BTreeMap, BTreeSet};

const DAY: u32 = 86_400;

/// Settles records that were never closed, and counts the jobs that still run.
///
/// Such a record runs a day beyond its limit and longer. If another job started on one of its nodes
/// since, or it names none, it is dropped; else it ended at its limit, as far as is known.
pub(super) fn settle_runaways(
    jobs: &mut Vec<FoundJob>,
    table: &AccountingTable,
    machine: &SiteMachine,
    amounts: &[Amount],
    tally: &mut RuleTally,
    crew: Crew,
) {
    let is_running = |job: &FoundJob| job.kind == SiteJobFate::Running;
    if !crew.any_job(jobs, is_running) {
        return;
    }
    let last = jobs.iter().map(|job| job.start.max(job.end).max(job.submit)).max().unwrap_or(0);
    let limits = RunningLimits::from_jobs(jobs, table, machine);
    let over = |job: &FoundJob| {
        let row = table.rows.get(job.row);
        let ends = limits.of_job(job, table).map(|limit| job.start.saturating_add(limit).saturating_add(DAY));
        row.state != RecordState::Suspended && ends.is_some_and(|ends| ends < last)
    };
    let suspects: Vec<usize> = (0..jobs.len()).filter(|&at| is_running(&jobs[at]) && over(&jobs[at])).collect();
    if !suspects.is_empty() {
        close_records(jobs, table, &suspects, &limits, last, tally);
    }
    for job in jobs.iter().filter(|job| is_running(job)) {
        count_rule(
            tally,
            table,
            ImportRule::Running,
            table.rows.get(job.row),
            job.core_seconds(&amounts[job.amount as usize]),
        );
    }
}

/// Ends the jobs of these records at their limits, or drops them.
fn close_records(
    jobs: &mut Vec<FoundJob>,
    table: &AccountingTable,
    suspects: &[usize],
    limits: &RunningLimits,
    last: u32,
    tally: &mut RuleTally,
) {
    let expand = |job: &FoundJob| -> BTreeSet<String> {
        let list = table.node_lists.text_of(table.rows.get(job.row).nodes);
        drystone_slurm::conf::expand_hostlist(&list).unwrap_or_default().into_iter().collect()
    };
    // When another job was started last on each of their nodes.
    let wanted_nodes: BTreeSet<String> = suspects.iter().flat_map(|&at| expand(&jobs[at])).collect();
    let mut latest: BTreeMap<String, u32> = BTreeMap::new();
    let mut of_lists: BTreeMap<Symbol, Vec<String>> = BTreeMap::new();
    for job in jobs.iter().filter(|job| job.kind.has_start()) {
        let list = table.rows.get(job.row).nodes;
        let nodes = of_lists
            .entry(list)
            .or_insert_with(|| expand(job).into_iter().filter(|node| wanted_nodes.contains(node)).collect());
        for node in nodes {
            let latest_start = latest.entry(node.clone()).or_default();
            *latest_start = (*latest_start).max(job.start);
        }
    }
    let mut dropped_jobs = BTreeSet::new();
    for &at in suspects {
        let (start, nodes) = (jobs[at].start, expand(&jobs[at]));
        let row = table.rows.get(jobs[at].row);
        let limit = limits.of_job(&jobs[at], table).unwrap_or(0);
        let over = start + limit + DAY;
        let given_away = nodes.iter().any(|node| latest.get(node).is_some_and(|&start| start > over));
        if given_away || (nodes.is_empty() && over + 6 * DAY < last) {
            tally.count_row(ImportRule::Runaway, 0, || jobs::rule_example(table, row));
            dropped_jobs.insert(at);
            continue;
        }
        count_rule(tally, table, ImportRule::Overdue, row, 0);
        count_rule(tally, table, ImportRule::Over, row, 0);
        let job = &mut jobs[at];
        (job.kind, job.end, job.run) = (SiteJobFate::Ran, job.start + limit, limit);
        job.marks.set_mark(JobMarks::OVER);
    }
    let mut at = 0;
    jobs.retain(|_| {
        at += 1;
        !dropped_jobs.contains(&(at - 1))
    });
}

/// Limits of jobs that run: their own, else those of their partition.
struct RunningLimits {
    of: BTreeMap<Symbol, u32>,
}

impl RunningLimits {
    /// By partition what the description says, else the longest that records of it say.
    fn from_jobs(jobs: &[FoundJob], table: &AccountingTable, machine: &SiteMachine) -> RunningLimits {
        let mut of: BTreeMap<Symbol, u32> = BTreeMap::new();
        let lacking: BTreeSet<Symbol> = jobs
            .iter()
            .filter(|job| job.kind == SiteJobFate::Running)
            .map(|job| table.rows.get(job.row))
            .filter(|row| matches!(row.limit(), RecordLimit::Partition | RecordLimit::Unknown))
            .map(|row| table.place_of(row).partition)
            .collect();
        if lacking.is_empty() {
            return RunningLimits { of };
        }
        for job in jobs {
            let row = table.rows.get(job.row);
            let partition = table.place_of(row).partition;
            if let RecordLimit::Seconds(limit) = row.limit()
                && lacking.contains(&partition)
            {
                let partition_limit = of.entry(partition).or_default();
                *partition_limit = (*partition_limit).max(limit);
            }
        }
        for partition in &machine.partitions {
            let Some(symbol) = table.names.find_symbol(partition.name.as_bytes()) else { continue };
            if let Some(limit) = partition.max_limit.or(partition.default_limit) {
                of.insert(symbol, limit);
            }
        }
        RunningLimits { of }
    }

    fn of_job(&self, job: &FoundJob, table: &AccountingTable) -> Option<u32> {
        let row = table.rows.get(job.row);
        match row.limit() {
            RecordLimit::Seconds(limit) => Some(limit),
            RecordLimit::Partition | RecordLimit::Unknown => self.of.get(&table.place_of(row).partition).copied(),
            RecordLimit::Unlimited => None,
        }
    }
}
