//! Limits that no record says. A run time never stands for one: it would hand the policy a perfect
//! estimate.

use super::classify::suspension;
use super::{FoundJob, JobMarks, LimitFrom, NOTHING, count};
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
    pub(crate) fn of(
        jobs: &[FoundJob],
        table: &AccountingTable,
        partitions: &BTreeMap<Symbol, &SitePartition>,
        described: bool,
        crew: Crew,
    ) -> DefaultLimits {
        let longest = Longest::of(jobs, table, crew);
        let of = |at: &crate::rows::Where| {
            let partition = partitions.get(&at.partition).copied();
            let default = partition.and_then(|p| p.default_limit).map(|s| (s, LimitFrom::PartitionDefault));
            let most = partition.and_then(|p| p.max_limit).map(|s| (s, LimitFrom::PartitionMax));
            let none = (described && partition.is_some()).then_some((YEAR, LimitFrom::Year));
            let longest = longest.of_partition(at.partition);
            InPlace {
                partition: default.or(most).or(none).unwrap_or(longest),
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
        let here = &limits.0[row.at as usize];
        let (limit, rule) = match row.limit() {
            RecordLimit::Seconds(seconds) if seconds > 0 => ((seconds, LimitFrom::Record), None),
            RecordLimit::Partition => (here.partition, Some(ImportRule::LimitPartition)),
            RecordLimit::Unlimited => (here.unlimited, Some(ImportRule::LimitUnlimited)),
            // A limit of nothing is none.
            RecordLimit::Unknown | RecordLimit::Seconds(_) => (here.unknown, Some(ImportRule::LimitUnknown)),
        };
        (job.limit, job.limit_from) = limit;
        if job.marks.has(JobMarks::SUSPENDED) {
            // A limit does not run while its job is suspended.
            job.limit = job.limit.saturating_add(suspension(row));
        }
        let seconds = job.core_seconds(&amounts[job.amount as usize]);
        if let Some(rule) = rule {
            job.marks.set(JobMarks::LIMIT);
            count(tally, table, rule, row, seconds);
        }
        if job.run != NOTHING && job.run > job.limit {
            job.marks.set(JobMarks::OVER);
            count(tally, table, ImportRule::Over, row, seconds);
        }
    }
}

/// The longest limits that records say.
struct Longest {
    of: BTreeMap<Symbol, u32>,
    all: u32,
}

impl Longest {
    fn of(jobs: &[FoundJob], table: &AccountingTable, crew: Crew) -> Longest {
        let places = table.at.items();
        let parts = crew.each(jobs, |jobs| {
            let mut most: Vec<Option<u32>> = vec![None; places.len()];
            for job in jobs {
                let row = table.rows.get(job.row);
                if let RecordLimit::Seconds(seconds) = row.limit() {
                    let known = &mut most[row.at as usize];
                    *known = (*known).max(Some(seconds));
                }
            }
            most
        });
        let mut longest = Longest { of: BTreeMap::new(), all: 0 };
        for (at, seconds) in parts.iter().flat_map(|most| places.iter().zip(most)) {
            let Some(seconds) = *seconds else { continue };
            let known = longest.of.entry(at.partition).or_default();
            *known = (*known).max(seconds);
            longest.all = longest.all.max(seconds);
        }
        longest
    }

    fn of_partition(&self, name: Symbol) -> (u32, LimitFrom) {
        let known = self.of.get(&name).copied().unwrap_or(self.all);
        if known > 0 { (known, LimitFrom::Longest) } else { (YEAR, LimitFrom::Year) }
    }
}
