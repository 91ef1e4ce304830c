//! Warnings about an import, beyond the rules that applied.

use super::side_data::BesideData;
use crate::jobs::FoundJob;
use crate::manifest::Manifest;
use crate::manifest::MeasuredWindow;
use crate::readers::ReaderMemory;
use crate::rows::AccountingTable;
use crate::rules::ImportRule;
use crate::words::count_noun;

pub(super) fn list_warnings(
    beside: &BesideData,
    manifest: &Manifest,
    table: &AccountingTable,
    jobs: &[FoundJob],
    memory: &ReaderMemory,
) -> Vec<String> {
    let mut warnings = beside.warnings.clone();
    warn_of_contradictions(manifest, table, &mut warnings);
    if let Some(messages) = manifest.rule_count(ImportRule::Message) {
        let first = messages.examples.first().map_or("", |example| example.text.as_str());
        warnings.push(format!(
            "{} among the rows {} of the program that wrote them, the first `{first}`: rows may be missing; run it again",
            if messages.rows == 1 { "1 line".to_string() } else { format!("{} lines", messages.rows) },
            if messages.rows == 1 { "is a message" } else { "are messages" },
        ));
    }
    let has_user = |job: &FoundJob| table.owner_of(table.rows.get(job.row)).user != crate::rows::Symbol(0);
    if manifest.users == 1 && memory.is_slurm() && jobs.len() > 1 && jobs.iter().all(has_user) {
        warnings.push(
            "all jobs are of one user: where PrivateData=jobs is set, sacct -a shows an ordinary user that user's own jobs only; let an \
             operator run it"
                .to_string(),
        );
    }
    if let Some(unknown) = manifest.rule_count(ImportRule::NoSubmit) {
        let is_total = unknown.jobs == manifest.jobs;
        warnings.push(format!(
            "of {} jobs the submission is unknown, and their start stands for it: nothing is known of {} waits, and no figure of waits \
             holds for them; have the times of submission with the others{}",
            if is_total { "all".to_string() } else { format!("{} of {}", unknown.jobs, manifest.jobs) },
            if is_total { "any" } else { "their" },
            if memory.is_slurm() { " (sacct --format=…,Submit,Eligible,…)" } else { "" }
        ));
    }
    if let Some(states) = manifest.rule_count(ImportRule::State) {
        let mut words: Vec<&str> = Vec::new();
        for word in states.examples.iter().filter_map(|e| e.text.rsplit(", ").next()) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let more = if states.jobs > states.examples.len() as u64 { ", …" } else { "" };
        warnings.push(format!(
            "jobs in a state that is not known: {} ({}{more}); their times tell what became of them",
            states.jobs,
            words.join(", ")
        ));
    }
    if let Some(rule) = manifest.rule_count(ImportRule::Joined).filter(|rule| rule.rows * 2 > manifest.rows) {
        warnings.push(format!(
            "in {} of {} rows the last column holds delimiters: the rows may have other columns than the header or --columns say",
            rule.rows, manifest.rows
        ));
    }
    if let Some(file) = memory.numbered.first() {
        warnings.push(format!(
            "{file}: no column says the job's number: rows are numbered, so that rows of two files are never the same job, and a row for a \
             step would be a job{}",
            if memory.is_slurm() { " (sacct -X leaves steps out; --format=JobIDRaw,… names jobs)" } else { "" }
        ));
    }
    for place in &memory.cut {
        warnings.push(format!("{place}: the file ends in the middle of a record, and what should follow is missing"));
    }
    warn_of_jobs_left_out(manifest, memory, &mut warnings);
    if jobs.iter().all(|job| job.limit_from == crate::jobs::LimitFrom::Year) {
        warnings.push(
            "no job has a limit, so each may run for a year as far as a policy knows, and none can be backfilled by its length; \
             use --overrun exact or a predictor: every output names the choice"
                .to_string(),
        );
    }
    let gap = longest_gap(jobs, &manifest.window);
    if let Some((from, until)) = gap {
        warnings.push(format!(
            "between {} and {} UTC no job arrives, starts or ends: a file is missing, or the site was down{}",
            crate::clock::format_moment(from),
            crate::clock::format_moment(until),
            match memory.is_slurm() {
                true => format!(
                    "; at the site: sacct … -S {} -E {}",
                    &crate::clock::format_moment(from)[..10],
                    &crate::clock::format_moment(until + 86_400)[..10]
                ),
                false => String::new(),
            }
        ));
    }
    warnings
}

/// The longest time in which nothing happens, where it is days, and much longer than usual.
///
/// Cost: one pass. Such a time has a whole day in it of which nothing is known, so only the first
/// and the last moment of each day matter.
fn longest_gap(jobs: &[FoundJob], window: &MeasuredWindow) -> Option<(i64, i64)> {
    const DAY: u32 = 86_400;
    if jobs.len() < 1_000 {
        return None;
    }
    let mut days: Vec<(u32, u32)> = Vec::new();
    let mut moments = 0_u64;
    for moment in jobs.iter().flat_map(|job| [job.arrive, job.start, job.end]) {
        if i64::from(moment) < window.from {
            continue;
        }
        moments += 1;
        let day = (moment / DAY) as usize;
        if day >= days.len() {
            days.resize(day + 1, (u32::MAX, 0));
        }
        let (first, last) = &mut days[day];
        (*first, *last) = (moment.min(*first), moment.max(*last));
    }
    days.retain(|(first, last)| first <= last);
    let gap = |pair: &&[(u32, u32)]| pair[1].0 - pair[0].1;
    let pair = days.windows(2).max_by_key(gap)?;
    let span = days.last()?.1 - days.first()?.0;
    let usual = u64::from(span) / moments;
    let (from, until) = (pair[0].1, pair[1].0);
    let long = u64::from(until - from);
    (long > 2 * u64::from(DAY) && long > 200 * usual.max(1)).then(|| (i64::from(from), i64::from(until)))
}

/// Warns of jobs whose records lack what a simulation needs.
fn warn_of_jobs_left_out(manifest: &Manifest, memory: &ReaderMemory, warnings: &mut Vec<String>) {
    if memory.pbs.unheard > 0 {
        warnings.push(format!(
            "jobs that records delete, abort or change and that have no other record: {}; no record here says when they \
             were queued; at the site: also take the files of the days before, with all their records",
            memory.pbs.unheard
        ));
    }
    if let Some(rule) = manifest.rule_count(ImportRule::Unsized) {
        warnings.push(format!(
            "jobs that were cancelled while they were queued, or still wait, and of which no record says the size: {}; no simulation has \
             them{}",
            rule.jobs,
            if memory.is_slurm() { " (sacct --format=…,ReqCPUS,ReqNodes says it)" } else { "" }
        ));
    }
    if let Some(cut) = manifest.rule_count(ImportRule::ArrayCut) {
        let message = format!(
            "rows that stand for tasks whose list is cut: {}; how many tasks are missing is unknown; at the site: SLURM_BITSTR_LEN=0 sacct …",
            cut.rows
        );
        warnings.push(message);
    }
}

/// Warns of rows that contradict themselves or each other, and of names in other encodings.
fn warn_of_contradictions(manifest: &Manifest, table: &AccountingTable, warnings: &mut Vec<String>) {
    if let Some(rule) = manifest.rule_count(ImportRule::Skewed) {
        let first = rule.examples.first().map_or("", |example| example.place.as_str());
        warnings.push(format!(
            "in {} of {} the end less the start is not the run time that the record says (the first at {first}); the run time counts",
            rule.jobs,
            count_noun(manifest.jobs, "job")
        ));
    }
    if let Some(differ) = manifest.rule_count(ImportRule::NodesDiffer) {
        let first = differ.examples.first().map_or("", |example| example.place.as_str());
        warnings.push(format!(
            "in {} of {} the list of nodes is of another length than the number of nodes, or longer than the number of processors (the first \
             at {first})",
            differ.jobs,
            count_noun(manifest.jobs, "job")
        ));
    }
    if let Some(same) = manifest.rule_count(ImportRule::SameId).filter(|_| !table.unkeyed.is_empty()) {
        warnings.push(format!(
            "{} with the number, submission and start of another: taken as jobs of their own; if a column tells them apart (ProcId, the task \
             of an array), name it TaskID in --columns",
            count_noun(same.jobs, "row")
        ));
    }
    let (foreign, first) = table.names.count_foreign();
    if let Some(first) = first {
        warnings.push(format!(
            "{foreign} {} not in UTF-8, the first `{}` as Latin-1 has it; they stay apart. If they read wrong: iconv -f ENCODING -t UTF-8 FILE > NEW",
            if foreign == 1 { "name is" } else { "names are" },
            table.names.text_of(first)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::{JobMarks, LimitFrom, NOTHING, SiteJobFate};
    use proptest::prelude::*;

    fn job((arrive, wait, run): (u32, u32, u32)) -> FoundJob {
        FoundJob {
            row: 0,
            task: NOTHING,
            submit: arrive,
            eligible: arrive,
            arrive,
            start: arrive + wait,
            end: arrive + wait + run,
            run,
            limit: run,
            units: 1,
            amount: 0,
            marks: JobMarks::default(),
            pool: 0,
            attempt: 1,
            kind: SiteJobFate::Ran,
            limit_from: LimitFrom::Record,
        }
    }

    /// As it is defined: between two moments that follow each other.
    fn defined(jobs: &[FoundJob], from: i64) -> Option<(i64, i64)> {
        let mut moments: Vec<i64> = jobs
            .iter()
            .flat_map(|job| [job.arrive, job.start, job.end].map(i64::from))
            .filter(|&t| t >= from)
            .collect();
        moments.sort_unstable();
        let gap = moments.windows(2).max_by_key(|pair| pair[1] - pair[0])?;
        let usual = (moments.last()? - moments.first()?) / moments.len() as i64;
        let long = gap[1] - gap[0];
        (long > 2 * 86_400 && long > 200 * usual.max(1)).then_some((gap[0], gap[1]))
    }

    proptest! {
        #[test]
        fn the_longest_gap_is_between_two_moments_that_follow_each_other(
            bursts in prop::collection::vec((0..60_u32, 0..86_400_u32, 1..700_usize), 1..4),
            waits in 0..3_000_u32,
            from in 0..10_i64,
        ) {
            // Bursts of jobs some days apart.
            let mut at = 86_400;
            let mut jobs = Vec::new();
            for (days, more, count) in bursts {
                at += days * 86_400 + more;
                jobs.extend((0..count as u32 + 500).map(|n| job((at + n * 37, n % 7 * waits, n % 11 * 600))));
            }
            let window = MeasuredWindow { from: from * 86_400, ..MeasuredWindow::default() };
            prop_assert_eq!(longest_gap(&jobs, &window), if jobs.len() < 1_000 { None } else { defined(&jobs, window.from) });
        }
    }
}
