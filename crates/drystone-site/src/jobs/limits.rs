//! Limits that no record says. A run time never stands for one: it would hand the policy a perfect
//! estimate.

use super::classify::suspension_seconds;
use super::{FoundJob, JobMarks, LimitFrom, NOTHING, count_rule};
use crate::machine::SitePartition;
use crate::rows::{AccountingTable, Symbol};
use crate::rules::{ImportRule, RuleTally};
use crate::sweep::Crew;
use crate::text::{Amount, RecordLimit};
use std::collections::BTreeMap;

/// Limit with which backfill plans where there is no limit at all: 365 days, in seconds.
const YEAR: u32 = 365 * 86_400;

type Stand = (u32, LimitFrom);

/// Limits in the place of those that records lack, by the number of where a job was to run.
pub(crate) struct DefaultLimits(Vec<InPlace>);

struct InPlace {
    /// For those of the partition, for those without, for those that are unknown.
    partition: Stand,
    unlimited: Stand,
    unknown: Stand,
}

impl DefaultLimits {
    /// Sets the limits of partitions, else the longest limits of records. A partition that is
    /// `described` without a limit has none.
    pub(crate) fn from_jobs(
        jobs: &[FoundJob],
        table: &AccountingTable,
        partitions: &BTreeMap<Symbol, &SitePartition>,
        is_described: bool,
        crew: Crew,
    ) -> DefaultLimits {
        let longest = Longest::from_jobs(jobs, table, crew);
        let of = |at: &crate::rows::Where| {
            let partition = partitions.get(&at.partition).copied();
            let default = partition.and_then(|p| p.default_limit).map(|s| (s, LimitFrom::PartitionDefault));
            let most = partition.and_then(|p| p.max_limit).map(|s| (s, LimitFrom::PartitionMax));
            let year_limit = (is_described && partition.is_some()).then_some((YEAR, LimitFrom::Year));
            let longest = longest.of_partition(at.partition);
            InPlace {
                partition: default.or(most).or(year_limit).unwrap_or(longest),
                unlimited: most.unwrap_or((YEAR, LimitFrom::Year)),
                unknown: default.or(most).unwrap_or(longest),
            }
        };
        DefaultLimits(table.at.items().iter().map(of).collect())
    }
}

/// Gives every job a limit, and counts those that ran longer.
pub(crate) fn set_limits(
    jobs: &mut [FoundJob],
    table: &AccountingTable,
    amounts: &[Amount],
    limits: &DefaultLimits,
    tally: &mut RuleTally,
) {
    for job in jobs {
        let row = table.rows.get(job.row);
        let place_limits = &limits.0[row.at as usize];
        let (limit, rule) = match row.limit() {
            RecordLimit::Seconds(seconds) if seconds > 0 => ((seconds, LimitFrom::Record), None),
            RecordLimit::Partition => (place_limits.partition, Some(ImportRule::LimitPartition)),
            RecordLimit::Unlimited => (place_limits.unlimited, Some(ImportRule::LimitUnlimited)),
            // A limit of nothing is none.
            RecordLimit::Unknown | RecordLimit::Seconds(_) => (place_limits.unknown, Some(ImportRule::LimitUnknown)),
        };
        (job.limit, job.limit_from) = limit;
        if job.marks.has_mark(JobMarks::SUSPENDED) {
            // A limit does not run while its job is suspended.
            job.limit = job.limit.saturating_add(suspension_seconds(row));
        }
        let seconds = job.core_seconds(&amounts[job.amount as usize]);
        if let Some(rule) = rule {
            job.marks.set_mark(JobMarks::LIMIT);
            count_rule(tally, table, rule, row, seconds);
        }
        if job.run != NOTHING && job.run > job.limit {
            job.marks.set_mark(JobMarks::OVER);
            count_rule(tally, table, ImportRule::Over, row, seconds);
        }
    }
}

struct Longest {
    of: BTreeMap<Symbol, u32>,
    all: u32,
}

impl Longest {
    fn from_jobs(jobs: &[FoundJob], table: &AccountingTable, crew: Crew) -> Longest {
        let places = table.at.items();
        let parts = crew.map_parts(jobs, |jobs| {
            let mut most: Vec<Option<u32>> = vec![None; places.len()];
            for job in jobs {
                let row = table.rows.get(job.row);
                if let RecordLimit::Seconds(seconds) = row.limit() {
                    let longest_seconds = &mut most[row.at as usize];
                    *longest_seconds = (*longest_seconds).max(Some(seconds));
                }
            }
            most
        });
        let mut longest = Longest { of: BTreeMap::new(), all: 0 };
        for (at, seconds) in parts.iter().flat_map(|most| places.iter().zip(most)) {
            let Some(seconds) = *seconds else { continue };
            let longest_limit = longest.of.entry(at.partition).or_default();
            *longest_limit = (*longest_limit).max(seconds);
            longest.all = longest.all.max(seconds);
        }
        longest
    }

    fn of_partition(&self, name: Symbol) -> (u32, LimitFrom) {
        let longest_limit = self.of.get(&name).copied().unwrap_or(self.all);
        if longest_limit > 0 { (longest_limit, LimitFrom::Longest) } else { (YEAR, LimitFrom::Year) }
    }
}
