//! Heterogeneous jobs: components that start together.

use super::{FoundJob, JobMarks, NOTHING, SiteJobFate, count_rule};
use crate::machine::NodeSets;
use crate::rows::{AccountingTable, Interner, RowPart, Symbol};
use crate::rules::{ImportRule, RuleTally};
use crate::text::{Amount, UNKNOWN};
use std::collections::BTreeMap;

/// Makes one job of the components that share a pool; those in different pools stay apart, marked.
pub(crate) fn join_components(
    jobs: &mut Vec<FoundJob>,
    table: &mut AccountingTable,
    sets: &mut NodeSets,
    amounts: &mut Interner<Amount>,
    split: bool,
    tally: &mut RuleTally,
) {
    let mut whole: BTreeMap<(u64, u32), Vec<usize>> = BTreeMap::new();
    for (at, job) in jobs.iter().enumerate() {
        let row = table.rows.get(job.row);
        if let RowPart::Component(_) = row.part() {
            whole.entry((row.of, job.submit)).or_default().push(at);
        }
    }
    let mut is_joined_away = vec![false; if whole.is_empty() { 0 } else { jobs.len() }];
    for parts in whole.values().filter(|parts| parts.len() > 1) {
        let together = parts.iter().all(|&at| jobs[at].pool == jobs[parts[0]].pool);
        if split || !together {
            for &at in parts {
                let seconds = jobs[at].core_seconds(amounts.get(jobs[at].amount));
                jobs[at].marks.set_mark(JobMarks::HET_SPLIT);
                count_rule(tally, table, ImportRule::HetSplit, table.rows.get(jobs[at].row), seconds);
            }
            continue;
        }
        let whole_job = join_parts(parts.iter().map(|&at| (jobs[at], *amounts.get(jobs[at].amount))));
        let Some((mut job, amount)) = whole_job else { continue };
        job.amount = amounts.intern(amount);
        job.marks.set_mark(JobMarks::HET);
        tally.count_rows(ImportRule::Het, parts.len() as u64);
        count_rule(tally, table, ImportRule::Het, table.rows.get(job.row), job.core_seconds(&amount));
        let first = parts.iter().copied().min_by_key(|&at| component_offset(table, &jobs[at])).unwrap_or(parts[0]);
        jobs[first] = FoundJob { row: jobs[first].row, ..job };
        let lists: Vec<Symbol> = parts.iter().map(|&at| table.rows.get(jobs[at].row).nodes).collect();
        join_nodes(&lists, jobs[first].row, table, sets);
        parts.iter().filter(|&&at| at != first).for_each(|&at| is_joined_away[at] = true);
    }
    if is_joined_away.contains(&true) {
        let mut removals = is_joined_away.into_iter();
        jobs.retain(|_| !removals.next().unwrap_or(false));
    }
}

fn join_nodes(lists: &[Symbol], row: u32, table: &mut AccountingTable, sets: &mut NodeSets) {
    let named_lists: Vec<Symbol> = lists.iter().copied().filter(|&list| list != Symbol(0)).collect();
    let mut texts: Vec<&[u8]> = Vec::with_capacity(named_lists.len());
    for &list in &named_lists {
        let text = table.node_lists.bytes_of(list);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.len() < 2 {
        return;
    }
    let joined_text = texts.join(&b',');
    let list_count = table.node_lists.len();
    let list = table.node_lists.intern(&joined_text);
    if table.node_lists.len() > list_count {
        sets.join_lists(&named_lists);
    }
    table.rows.get_mut(row).nodes = list;
}

fn component_offset(table: &AccountingTable, job: &FoundJob) -> u32 {
    match table.rows.get(job.row).part() {
        RowPart::Component(offset) => offset,
        _ => 0,
    }
}

/// All components at once: sizes add up, the longest counts.
fn join_parts(parts: impl Iterator<Item = (FoundJob, Amount)>) -> Option<(FoundJob, Amount)> {
    let add = |a: u32, b: u32| match (a, b) {
        (UNKNOWN, count) | (count, UNKNOWN) => count,
        (a, b) => a.saturating_add(b).min(UNKNOWN - 1),
    };
    parts.reduce(|(mut job, mut sum), (next, amount)| {
        sum.cpus = add(sum.cpus, amount.cpus);
        sum.nodes = add(sum.nodes, amount.nodes);
        sum.gpus = add(sum.gpus, amount.gpus);
        sum.memory_kb = match (sum.memory_kb, amount.memory_kb) {
            (Amount::NO_MEMORY, other) | (other, Amount::NO_MEMORY) => other,
            (Amount::ALL_MEMORY, _) | (_, Amount::ALL_MEMORY) => Amount::ALL_MEMORY,
            (a, b) => a.saturating_add(b),
        };
        job.run = match (job.run, next.run) {
            (NOTHING, other) | (other, NOTHING) => other,
            (a, b) => a.max(b),
        };
        job.end = job.end.max(next.end);
        job.arrive = job.arrive.max(next.arrive);
        job.limit = match (job.limit, next.limit) {
            (NOTHING, other) | (other, NOTHING) => other,
            (a, b) => a.max(b),
        };
        job.units = job.units.saturating_add(next.units);
        if next.kind == SiteJobFate::Running {
            job.kind = SiteJobFate::Running;
        }
        job.marks.0 |= next.marks.0;
        (job, sum)
    })
}
