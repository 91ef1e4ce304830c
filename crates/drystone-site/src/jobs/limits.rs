//! Limits that no record says. A run time never stands for one: it would hand the policy a perfect
//! estimate.

use super::{Job, LimitFrom, Marks, NOTHING, count};
use crate::machine::Partition;
use crate::rows::{Symbol, Table};
use crate::rules::{Rule, Tally};
use crate::text::{Amount, Limit};
use std::collections::BTreeMap;

/// What backfill plans with where there is no limit at all: 365 days.
const YEAR: u32 = 365 * 86_400;

/// Gives every job a limit, and counts those that ran longer. A partition that is `described`
/// without a limit has none.
pub(crate) fn set_limits(
    jobs: &mut [Job],
    table: &Table,
    amounts: &[Amount],
    partitions: &BTreeMap<Symbol, &Partition>,
    described: bool,
    tally: &mut Tally,
) {
    let longest = Longest::of(jobs, table);
    for job in jobs {
        let row = table.rows.get(job.row);
        let name = table.at(row).partition;
        let partition = partitions.get(&name).copied();
        let default = partition.and_then(|p| p.default_limit).map(|s| (s, LimitFrom::PartitionDefault));
        let most = partition.and_then(|p| p.max_limit).map(|s| (s, LimitFrom::PartitionMax));
        let none = (described && partition.is_some()).then_some((YEAR, LimitFrom::Year));
        let (limit, rule) = match row.limit() {
            Limit::Seconds(seconds) if seconds > 0 => ((seconds, LimitFrom::Record), None),
            Limit::Partition => {
                (default.or(most).or(none).unwrap_or(longest.of_partition(name)), Some(Rule::LimitPartition))
            }
            Limit::Unlimited => (most.unwrap_or((YEAR, LimitFrom::Year)), Some(Rule::LimitUnlimited)),
            // A limit of nothing is none.
            Limit::Unknown | Limit::Seconds(_) => {
                (default.or(most).unwrap_or(longest.of_partition(name)), Some(Rule::LimitUnknown))
            }
        };
        (job.limit, job.limit_from) = limit;
        let seconds = job.core_seconds(&amounts[job.amount as usize]);
        if let Some(rule) = rule {
            job.marks.set(Marks::LIMIT);
            count(tally, table, rule, row, seconds);
        }
        if job.run != NOTHING && job.run > job.limit {
            job.marks.set(Marks::OVER);
            let cpus = seconds.checked_div(u64::from(job.run)).unwrap_or(0);
            count(tally, table, Rule::Over, row, cpus * u64::from(job.run - job.limit));
        }
    }
}

/// The longest limits that records say.
struct Longest {
    of: BTreeMap<Symbol, u32>,
    all: u32,
}

impl Longest {
    fn of(jobs: &[Job], table: &Table) -> Longest {
        let mut longest = Longest { of: BTreeMap::new(), all: 0 };
        for job in jobs {
            let row = table.rows.get(job.row);
            if let Limit::Seconds(seconds) = row.limit() {
                let known = longest.of.entry(table.at(row).partition).or_default();
                *known = (*known).max(seconds);
                longest.all = longest.all.max(seconds);
            }
        }
        longest
    }

    fn of_partition(&self, name: Symbol) -> (u32, LimitFrom) {
        let known = self.of.get(&name).copied().unwrap_or(self.all);
        if known > 0 { (known, LimitFrom::Longest) } else { (YEAR, LimitFrom::Year) }
    }
}
