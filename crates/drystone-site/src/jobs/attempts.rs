//! Identification of rows of one job: rows that two files have in common, attempts after a requeue,
//! changes of size, numbers used again.

use super::classify::{self, SettledTimes};
use super::{FoundJob, JobMarks, NOTHING, SiteJobFate, causes, count_rule, rule_example};
use crate::options::JobChoices;
use crate::rows::{AccountingRow, AccountingTable, Interner, NONE, RowPart};
use crate::rules::{ImportRule, RuleTally};
use crate::sweep::Crew;
use crate::text::{Amount, RecordState, UNKNOWN};
use drystone::model::SharedSort;
use std::collections::{BTreeMap, BTreeSet};

/// Identity of a job. Rows with the same number and task are looked at together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AttemptKey {
    number: u64,
    /// [`NOTHING`] for jobs without tasks.
    task: u32,
    submit: u32,
    start: u32,
    row: u32,
}

/// The jobs, and the amounts that they refer to.
pub(crate) struct FoundJobs {
    pub(crate) jobs: Vec<FoundJob>,
    pub(crate) amounts: Interner<Amount>,
    /// Tasks of each array that run at once at most, where a row says so.
    pub(crate) throttles: BTreeMap<u64, u32>,
    /// Set where a job is a component of a heterogeneous job.
    pub(crate) components: bool,
}

/// Arrival of a job that waits and is not eligible: behind every window.
const NEVER: u32 = u32::MAX - 1;

pub(crate) fn find_attempts(
    table: &AccountingTable,
    tally: &mut RuleTally,
    choices: &JobChoices,
    orphans: &[(crate::rows::Symbol, crate::rows::FilePlace)],
    crew: Crew,
) -> FoundJobs {
    let (keys, components) = collect_keys(table, tally);
    only_steps(table, tally, &keys, orphans);
    // Rows of a set of tasks have one number: they are in one part.
    let eligibility = table.rows.iter().any(|row| row.eligible > 0);
    let parts = crew.map_joined(
        &keys,
        |a, b| a.number == b.number,
        |part| {
            let mut tally = RuleTally::default();
            let capacity = if part.len() * 2 > keys.len() { part.len() } else { keys.len() };
            let (jobs, amounts) = (Vec::with_capacity(capacity), Interner::default());
            let lists = table.node_lists.len() > 1;
            let bad = BTreeSet::new();
            let mut finder = Finder { table, tally: &mut tally, choices, lists, eligibility, bad, jobs, amounts };
            for group in part.chunk_by(|a, b| (a.number, a.task) == (b.number, b.task)) {
                match group {
                    [one] => finder.add_single(one),
                    many => finder.add_several(many),
                }
            }
            let Finder { jobs, amounts, .. } = finder;
            (jobs, amounts, tally)
        },
    );
    drop(keys);
    let mut found_jobs =
        FoundJobs { jobs: Vec::new(), amounts: Interner::default(), throttles: find_throttles(table), components };
    for (mut jobs, amounts, part_tally) in parts {
        tally.absorb_tally(part_tally);
        if found_jobs.jobs.is_empty() {
            (found_jobs.jobs, found_jobs.amounts) = (jobs, amounts);
            continue;
        }
        let local_amounts: Vec<u32> = amounts.items().iter().map(|&amount| found_jobs.amounts.intern(amount)).collect();
        jobs.iter_mut().for_each(|job| job.amount = local_amounts[job.amount as usize]);
        found_jobs.jobs.append(&mut jobs);
    }
    found_jobs
}

/// A key for each job that a row stands for, in order; and whether any is a component.
fn collect_keys(table: &AccountingTable, tally: &mut RuleTally) -> (Vec<AttemptKey>, bool) {
    let mut keys: Vec<AttemptKey> = Vec::with_capacity(table.rows.len());
    let mut components = false;
    for (row, at) in table.rows.iter().zip(0..) {
        let key = |number, task| AttemptKey { number, task, submit: row.submit, start: row.start, row: at };
        match row.part() {
            RowPart::Whole => keys.push(key(row.id, NOTHING)),
            RowPart::Task(task) => keys.push(key(row.of, task)),
            // Components have numbers of their own, next to the first.
            RowPart::Component(offset) => {
                components = true;
                keys.push(key(if row.id == NONE { row.of + u64::from(offset) } else { row.id }, NOTHING));
            }
            RowPart::Tasks(set) => {
                let set = &table.sets[set as usize];
                keys.extend(set.iter().map(|task| key(row.of, task)));
                if set.len() > 1 {
                    tally.count_jobs(ImportRule::Array, set.len(), 0, || rule_example(table, row));
                    tally.count_rows(ImportRule::Array, 1);
                }
                if set.cut {
                    tally.count_row(ImportRule::ArrayCut, 0, || rule_example(table, row));
                }
            }
        }
    }
    keys.sort_unstable();
    (keys, components)
}

/// Steps whose job has no row.
fn only_steps(
    table: &AccountingTable,
    tally: &mut RuleTally,
    keys: &[AttemptKey],
    orphans: &[(crate::rows::Symbol, crate::rows::FilePlace)],
) {
    let has = |number: u64, task: u32| {
        let at = keys.partition_point(|key| (key.number, key.task) < (number, task));
        keys.get(at).is_some_and(|key| (key.number, key.task) == (number, task))
    };
    // A step may be named by its job's raw number.
    let raw: std::collections::BTreeSet<u64> = if orphans.is_empty() {
        std::collections::BTreeSet::new()
    } else {
        table.rows.iter().map(|row| row.id).collect()
    };
    for &(parent, place) in orphans {
        use crate::text::{Id, IdPart};
        let Some(Id::Job(id)) = Id::parse_id(table.names.bytes_of(parent)) else { continue };
        let is_known = match id.part {
            IdPart::Task(task) => has(id.number, task),
            IdPart::Component(offset) => raw.contains(&(id.number + u64::from(offset))) || has(id.number, NOTHING),
            _ => has(id.number, NOTHING) || raw.contains(&id.number),
        };
        if !is_known {
            let text = table.names.bytes_of(parent).to_vec();
            let files = &table.files;
            tally.count_row(ImportRule::OnlySteps, 0, || crate::rules::Example::new(files.format_place(place), &text));
        }
    }
}

fn find_throttles(table: &AccountingTable) -> BTreeMap<u64, u32> {
    let mut throttles = BTreeMap::new();
    for row in table.rows.iter() {
        if let RowPart::Tasks(set) = row.part()
            && let Some(most) = table.sets[set as usize].throttle
        {
            throttles.insert(row.of, most);
        }
    }
    throttles
}

struct Finder<'a> {
    table: &'a AccountingTable,
    tally: &'a mut RuleTally,
    choices: &'a JobChoices,
    lists: bool,
    /// True if any row says when its job became eligible.
    eligibility: bool,
    /// Rows of several tasks that cannot be used.
    bad: BTreeSet<u32>,
    jobs: Vec<FoundJob>,
    amounts: Interner<Amount>,
}

#[derive(Clone, Copy)]
struct TimedRow {
    key: AttemptKey,
    times: SettledTimes,
}

impl Finder<'_> {
    fn add_single(&mut self, key: &AttemptKey) {
        if let Some(row) = self.timed_row(key) {
            self.push(&row, 1, JobMarks::default());
        }
    }

    /// The row's times; counts it where they cannot be.
    fn timed_row(&mut self, key: &AttemptKey) -> Option<TimedRow> {
        let row = self.table.rows.get(key.row);
        match classify::settle_times(self.table, row, self.lists) {
            Ok(times) => Some(TimedRow { key: *key, times }),
            Err(rule) => {
                let cpus = self.table.shape_of(row).held.or_else(self.table.shape_of(row).asked).cpus;
                let seconds = if row.elapsed == NOTHING || cpus == UNKNOWN {
                    0
                } else {
                    u64::from(cpus) * u64::from(row.elapsed)
                };
                self.count_bad(rule, key.row, seconds);
                None
            }
        }
    }

    /// Counts a row that cannot be used: once, however many tasks it stands for.
    fn count_bad(&mut self, rule: ImportRule, at: u32, seconds: u64) {
        let row = self.table.rows.get(at);
        if matches!(row.part(), RowPart::Tasks(_)) {
            self.tally.count_jobs(rule, 1, 0, || rule_example(self.table, row));
            if self.bad.insert(at) {
                self.tally.count_rows(rule, 1);
            }
        } else {
            self.tally.count_row(rule, seconds, || rule_example(self.table, row));
        }
    }

    /// Rows with the same number and task.
    fn add_several(&mut self, keys: &[AttemptKey]) {
        let mut kept_rows: Vec<TimedRow> = Vec::with_capacity(keys.len());
        let timed_rows: Vec<TimedRow> = keys.iter().filter_map(|key| self.timed_row(key)).collect();
        let several = self.are_several(&timed_rows);
        for candidate in timed_rows {
            let file = |row: &TimedRow| self.table.rows.get(row.key.row).file;
            let is_one = |rival: &TimedRow| {
                let of_one_file = several && file(rival) == file(&candidate);
                let apart = of_one_file || self.waits_again(rival, &candidate) || self.rows_differ(rival, &candidate);
                is_same(rival, &candidate) && !apart
            };
            let same = kept_rows.iter().position(is_one).map(|at| &mut kept_rows[at]);
            match same {
                Some(other) => {
                    let dropped_row = if is_better(self.table, &candidate, other) {
                        std::mem::replace(other, candidate)
                    } else {
                        candidate
                    };
                    let row = self.table.rows.get(dropped_row.key.row);
                    self.tally.count_row(ImportRule::Dup, 0, || rule_example(self.table, row));
                }
                None => kept_rows.push(candidate),
            }
        }
        // Of attempts that were submitted together, one that never started comes when it was
        // eligible.
        let begins = |times: &SettledTimes| if times.start > 0 { times.start } else { times.eligible };
        kept_rows.sort_shared_by_key(|row| (row.times.submit, begins(&row.times), row.times.end));
        let mut at = 0;
        let mut attempt = 1;
        while at < kept_rows.len() {
            let resize_count = (at + 1..kept_rows.len())
                .take_while(|&next| self.is_resize(&kept_rows[next - 1], &kept_rows[next]))
                .count();
            if resize_count > 0 {
                self.add_resized(&kept_rows[at..=at + resize_count], attempt);
                at += resize_count + 1;
                attempt = 1;
                continue;
            }
            let merge_count = (at + 1..kept_rows.len())
                .take_while(|&next| self.is_merge(&kept_rows[next - 1], &kept_rows[next]))
                .count();
            let marks = if attempt > 1 { JobMarks::REQUEUED } else { JobMarks::default() };
            if merge_count > 0 {
                self.add_merged(&kept_rows[at..=at + merge_count], attempt, marks);
                at += merge_count;
            } else {
                self.push(&kept_rows[at], attempt, marks);
            }
            if let Some(next) = kept_rows.get(at + 1) {
                let again = is_requeued(self.row_state(&kept_rows[at])) && follows_row(&kept_rows[at], next);
                let row = self.table.rows.get(next.key.row);
                let rule = match again {
                    true => ImportRule::Requeue,
                    false if is_same_start(&kept_rows[at], next) => ImportRule::SameId,
                    false => ImportRule::ReusedId,
                };
                count_rule(self.tally, self.table, rule, row, 0);
                attempt = if again { attempt + 1 } else { 1 };
                if again {
                    // PBS and Grid Engine keep the time of submission; it waits again from its
                    // requeue on.
                    let end = kept_rows[at].times.end;
                    let next = &mut kept_rows[at + 1].times;
                    next.eligible = next.eligible.max(end);
                }
            }
            at += 1;
        }
    }

    /// Returns whether these rows of one number are several jobs of a table that lacks a column to
    /// tell them apart: of those that begin together some differ. Then equal rows of its file are
    /// jobs as well.
    fn are_several(&self, rows: &[TimedRow]) -> bool {
        let of = |row: &TimedRow| self.table.rows.get(row.key.row);
        let is_unkeyed = |row: &TimedRow| self.table.unkeyed.contains(&of(row).file);
        !self.table.unkeyed.is_empty()
            && rows.windows(2).any(|pair| {
                let [first, second] = pair else { return false };
                let user_of = |row: &TimedRow| self.table.owner_of(of(row)).user;
                is_unkeyed(first)
                    && of(first).file == of(second).file
                    && user_of(first) == user_of(second)
                    && is_same_start(first, second)
                    && self.rows_differ(first, second)
            })
    }

    /// Returns whether one of the two waits to be run again, or did until it left, eligible since
    /// the other was requeued: PBS keeps the time of submission.
    fn waits_again(&self, first: &TimedRow, second: &TimedRow) -> bool {
        let again = |end_row: &TimedRow, waits: &TimedRow| {
            matches!(waits.times.kind, SiteJobFate::Waiting | SiteJobFate::Withdrawn)
                && end_row.times.end > 0
                && waits.times.eligible >= end_row.times.end
                && is_requeued(self.row_state(end_row))
        };
        again(first, second) || again(second, first)
    }

    /// Returns whether two ended rows disagree on their use: tasks of an array whose own numbers
    /// were lost, for one. Rows that are equal in all of this are one job.
    fn rows_differ(&self, first: &TimedRow, second: &TimedRow) -> bool {
        let over = |entry: &TimedRow| matches!(entry.times.kind, SiteJobFate::Ran | SiteJobFate::Withdrawn);
        if first.times.kind != second.times.kind || !over(first) {
            return false;
        }
        let row = |entry: &TimedRow| self.table.rows.get(entry.key.row);
        let (a, b) = (row(first), row(second));
        let unlike = |x: u32, y: u32, unknown: u32| x != y && x != unknown && y != unknown;
        let partitions = (self.table.place_of(a).partition.0, self.table.place_of(b).partition.0);
        // What never ran held nothing, in whatever way a version of Slurm says so.
        let ran = first.times.kind == SiteJobFate::Ran;
        let (held_shape, also) = (self.table.shape_of(a).held, self.table.shape_of(b).held);
        unlike(first.times.end, second.times.end, 0)
            || unlike(first.times.run, second.times.run, NOTHING)
            || (ran && unlike(held_shape.cpus, also.cpus, UNKNOWN))
            || (ran && unlike(held_shape.nodes, also.nodes, UNKNOWN))
            || unlike(a.name, b.name, 0)
            || unlike(self.table.owner_of(a).user.0, self.table.owner_of(b).user.0, 0)
            || unlike(partitions.0, partitions.1, 0)
            || (a.state != b.state && [a.state, b.state].iter().all(|s| s.is_over() && *s != RecordState::Other))
            || (unlike(a.nodes.0, b.nodes.0, 0) && self.nodes_of(a) != self.nodes_of(b))
    }

    /// The nodes of a row, however its list is written.
    fn nodes_of(&self, row: &AccountingRow) -> BTreeSet<String> {
        let list = self.table.node_lists.text_of(row.nodes);
        drystone_slurm::conf::expand_hostlist(&list).unwrap_or_else(|_| vec![list.to_string()]).into_iter().collect()
    }

    fn row_state(&self, row: &TimedRow) -> RecordState {
        self.table.rows.get(row.key.row).state
    }

    /// Returns whether the next row continues this job with another size.
    fn is_resize(&self, current: &TimedRow, next: &TimedRow) -> bool {
        let row = |entry: &TimedRow| self.table.rows.get(entry.key.row);
        let (a, b) = (row(current), row(next));
        let joins = current.times.end > 0 && current.times.end.abs_diff(next.times.start) <= 1;
        let sizes = (self.table.shape_of(a).held.cpus, self.table.shape_of(a).held.nodes)
            != (self.table.shape_of(b).held.cpus, self.table.shape_of(b).held.nodes);
        joins && (a.state == RecordState::Resizing || (a.submit == b.submit && sizes && !is_requeued(a.state)))
    }

    /// Returns whether another attempt replaces this one without leaving a job behind.
    fn is_merge(&self, current: &TimedRow, next: &TimedRow) -> bool {
        let merges = match self.row_state(current) {
            RecordState::Preempted => self.choices.merge_preempted,
            RecordState::Requeued => self.choices.merge_preempted && self.choices.preempts_by_requeue,
            _ => false,
        };
        merges && follows_row(current, next)
    }

    /// One job of the first size with as many core-seconds.
    fn add_resized(&mut self, rows: &[TimedRow], attempt: u16) {
        let (first, last) = (&rows[0], &rows[rows.len() - 1]);
        let amount = |row: &TimedRow| {
            let shape = self.table.shape_of(self.table.rows.get(row.key.row));
            shape.held.or_else(shape.asked)
        };
        let work: u64 = rows.iter().map(|row| amount_seconds(&amount(row), row.times.run)).sum();
        let cpus = u64::from(amount(first).cpus.max(1));
        let mut merged_row = *first;
        (merged_row.times.end, merged_row.times.kind) = (last.times.end, last.times.kind);
        merged_row.times.run = u32::try_from(work.div_ceil(cpus)).unwrap_or(NOTHING - 1);
        if last.times.kind == SiteJobFate::Running {
            merged_row.times.run = NOTHING;
        }
        let row = self.table.rows.get(first.key.row);
        self.tally.count_rows(ImportRule::Resize, rows.len() as u64);
        count_rule(self.tally, self.table, ImportRule::Resize, row, work);
        // The amounts are those of the first row, how it ended of the last.
        let state = TimedRow { key: AttemptKey { row: first.key.row, ..last.key }, ..merged_row };
        self.push(&state, attempt, JobMarks::RESIZED);
    }

    /// One job: submitted as the first attempt, run as the last.
    fn add_merged(&mut self, rows: &[TimedRow], attempt: u16, marks: JobMarks) {
        let (first, last) = (&rows[0], &rows[rows.len() - 1]);
        let mut merged_row = *last;
        (merged_row.times.submit, merged_row.times.eligible) = (first.times.submit, first.times.eligible);
        let row = self.table.rows.get(first.key.row);
        self.tally.count_rows(ImportRule::RequeueMerged, rows.len() as u64);
        let lost_seconds = rows[..rows.len() - 1].iter().map(|row| {
            let shape = self.table.shape_of(self.table.rows.get(row.key.row));
            amount_seconds(&shape.held.or_else(shape.asked), row.times.run)
        });
        count_rule(self.tally, self.table, ImportRule::RequeueMerged, row, lost_seconds.sum());
        let mut marks = marks;
        marks.set_mark(JobMarks::MERGED);
        self.push(&merged_row, attempt, marks);
    }

    fn push(&mut self, entry: &TimedRow, attempt: u16, marks: JobMarks) {
        let TimedRow { key, times } = *entry;
        let row = self.table.rows.get(key.row);
        if row.state == RecordState::Revoked && !(times.kind.has_start() && self.table.has_nodes(row)) {
            count_rule(self.tally, self.table, ImportRule::Revoked, row, 0);
            return;
        }
        let mut job = FoundJob {
            row: key.row,
            task: key.task,
            submit: times.submit,
            eligible: times.eligible,
            arrive: 0,
            start: times.start,
            end: times.end,
            run: times.run,
            limit: NOTHING,
            units: 0,
            amount: 0,
            marks,
            pool: 0,
            attempt,
            kind: times.kind,
            limit_from: super::LimitFrom::default(),
        };
        let Some(amount) = self.job_amount(&mut job, row) else {
            match is_queued(row, &times) {
                true => count_rule(self.tally, self.table, ImportRule::Unsized, row, 0),
                false => self.count_bad(ImportRule::NoSize, key.row, 0),
            }
            return;
        };
        job.amount = self.amounts.intern(amount);
        if times.skewed {
            count_rule(self.tally, self.table, ImportRule::Skewed, row, job.core_seconds(&amount));
        }
        self.set_arrival(&mut job, row, &amount, &times);
        self.count_facts(&mut job, row, &amount);
        self.jobs.push(job);
    }

    /// Returns the amount that it held if it ran, else the amount requested; `None` if unknown.
    fn job_amount(&mut self, job: &mut FoundJob, row: &AccountingRow) -> Option<Amount> {
        let shape = self.table.shape_of(row);
        let has_held = job.kind.has_start() && !self.choices.requested_size;
        let mut amount = if has_held { shape.held.or_else(shape.asked) } else { shape.asked.or_else(shape.held) };
        let is_known = |n: u32| n != UNKNOWN && n > 0;
        if has_held && !is_known(amount.cpus) && is_known(shape.asked.cpus) {
            amount.cpus = shape.asked.cpus;
        }
        if !is_known(amount.nodes) && self.table.has_nodes(row) {
            let list = self.table.node_lists.text_of(row.nodes);
            amount.nodes = drystone_slurm::conf::expand_hostlist(&list).map_or(UNKNOWN, |names| names.len() as u32);
        }
        if !is_known(amount.cpus) {
            if !is_known(amount.nodes) {
                return None;
            }
            amount.cpus = UNKNOWN;
            job.marks.set_mark(JobMarks::SIZE);
        }
        if shape.exclusive {
            job.marks.set_mark(JobMarks::EXCLUSIVE);
        }
        let has_grant = job.kind.has_start()
            && is_known(shape.asked.cpus)
            && is_known(shape.held.cpus)
            && shape.held.cpus > shape.asked.cpus;
        if has_grant {
            job.marks.set_mark(JobMarks::GRANTED);
            let more = u64::from(shape.held.cpus - shape.asked.cpus);
            let run = if job.run == NOTHING { 0 } else { u64::from(job.run) };
            count_rule(self.tally, self.table, ImportRule::Granted, row, more * run);
        }
        Some(amount)
    }

    /// Sets the arrival: the eligibility, unless submissions are asked for.
    fn set_arrival(&mut self, job: &mut FoundJob, row: &AccountingRow, amount: &Amount, times: &SettledTimes) {
        let seconds = job.core_seconds(amount);
        if times.late {
            count_rule(self.tally, self.table, ImportRule::SubmitLate, row, seconds);
        }
        if times.assumed.0 {
            job.marks.set_mark(JobMarks::NO_SUBMIT);
            count_rule(self.tally, self.table, ImportRule::NoSubmit, row, seconds);
        }
        if times.assumed.1 {
            count_rule(self.tally, self.table, ImportRule::SubmitEligible, row, seconds);
        }
        if times.derived {
            count_rule(self.tally, self.table, ImportRule::Derived, row, seconds);
        }
        // Of those that were never eligible nothing else needs to be known.
        let never = job.eligible == 0
            && self.eligibility
            && !self.choices.arrive_at_submit
            && !times.assumed.0
            && (job.kind == SiteJobFate::Waiting || (job.kind == SiteJobFate::Withdrawn && job.end > 0));
        if never {
            count_rule(self.tally, self.table, ImportRule::NeverEligible, row, seconds);
            job.marks.set_mark(JobMarks::CAUSE);
            job.arrive = if job.kind == SiteJobFate::Waiting { NEVER } else { job.end };
            return;
        }
        // The moment at which a job that was eligible before was held is not recorded.
        if !self.choices.arrive_at_submit && causes::is_hold(&self.table.names.text_of(self.table.note_of(row).reason))
        {
            match job.kind {
                SiteJobFate::Ran | SiteJobFate::Running => {
                    count_rule(self.tally, self.table, ImportRule::HoldOver, row, seconds);
                }
                SiteJobFate::Withdrawn if job.end == 0 => {}
                SiteJobFate::Withdrawn | SiteJobFate::Waiting => {
                    count_rule(self.tally, self.table, ImportRule::Held, row, seconds);
                    job.marks.set_mark(JobMarks::CAUSE);
                    job.arrive = if job.kind == SiteJobFate::Waiting { NEVER } else { job.end };
                    return;
                }
            }
        }
        if job.eligible == 0 && !times.assumed.0 {
            count_rule(self.tally, self.table, ImportRule::NoEligible, row, seconds);
        } else if job.eligible > job.submit {
            count_rule(self.tally, self.table, ImportRule::Arrive, row, seconds);
        }
        let eligible = if job.eligible == 0 { job.submit } else { job.eligible };
        job.arrive = if self.choices.arrive_at_submit { job.submit } else { eligible };
        // One that left before it was eligible never stood in the queue.
        if job.kind == SiteJobFate::Withdrawn && job.end > 0 && job.arrive > job.end {
            job.arrive = job.end;
            job.marks.set_mark(JobMarks::CAUSE);
        }
    }

    /// Counts facts that change nothing.
    fn count_facts(&mut self, job: &mut FoundJob, row: &AccountingRow, amount: &Amount) {
        let seconds = job.core_seconds(amount);
        let rule = match job.kind {
            SiteJobFate::Withdrawn => Some(ImportRule::Withdraw),
            SiteJobFate::Waiting => Some(ImportRule::Pending),
            // Counted once it is known which of these records were never closed.
            SiteJobFate::Running | SiteJobFate::Ran => None,
        };
        if let Some(rule) = rule {
            count_rule(self.tally, self.table, rule, row, seconds);
        }
        if row.state == RecordState::Other && self.table.note_of(row).word != crate::rows::Symbol(0) {
            count_rule(self.tally, self.table, ImportRule::State, row, seconds);
        }
        if job.run == 0 {
            count_rule(self.tally, self.table, ImportRule::Zero, row, 0);
        }
        if job.kind == SiteJobFate::Ran && super::classify::suspension_seconds(row) > 0 {
            job.marks.set_mark(JobMarks::SUSPENDED);
            count_rule(self.tally, self.table, ImportRule::Suspended, row, seconds);
        }
        if job.task != NOTHING {
            job.marks.set_mark(JobMarks::ARRAY);
        }
    }
}

/// Returns whether a job only ever stood in the queue.
fn is_queued(row: &AccountingRow, times: &SettledTimes) -> bool {
    let is_unstarted = row.start == 0 || matches!(row.state, RecordState::Cancelled | RecordState::Pending);
    is_unstarted && matches!(times.kind, SiteJobFate::Withdrawn | SiteJobFate::Waiting)
}

fn amount_seconds(amount: &Amount, run: u32) -> u64 {
    let known_or_zero = |n: u32| if n == UNKNOWN { 0 } else { u64::from(n) };
    known_or_zero(amount.cpus) * known_or_zero(run)
}

/// Returns whether two rows are the same attempt: submitted at the same time, and started at the
/// same or not yet.
fn is_same(a: &TimedRow, b: &TimedRow) -> bool {
    let times = a.times.submit == b.times.submit;
    let ended_alike = a.times.end == b.times.end || a.times.end == 0 || b.times.end == 0;
    let (x, y) = (a.times.start, b.times.start);
    times && (x == y || x == 0 || y == 0) && (ended_alike || !(x == 0 && y == 0) || a.times.kind != b.times.kind)
}

/// Returns whether a row's attempt begins, or is eligible, when the other's has ended.
fn follows_row(current: &TimedRow, next: &TimedRow) -> bool {
    let begins = if next.times.start > 0 { next.times.start } else { next.times.eligible.max(next.times.submit) };
    current.times.end == 0 || next.times.kind == SiteJobFate::Waiting || begins >= current.times.end
}

fn is_same_start(current: &TimedRow, next: &TimedRow) -> bool {
    (current.times.submit, current.times.start) == (next.times.submit, next.times.start)
}

/// Returns whether the new row says more than the old.
fn is_better(table: &AccountingTable, new: &TimedRow, old: &TimedRow) -> bool {
    let rank = |entry: &TimedRow| {
        let row = table.rows.get(entry.key.row);
        let kind = match entry.times.kind {
            SiteJobFate::Waiting => 0,
            SiteJobFate::Running => 1,
            SiteJobFate::Withdrawn | SiteJobFate::Ran => 2,
        };
        // A set of tasks says less than a task.
        let own = !matches!(row.part(), RowPart::Tasks(_));
        (kind, entry.times.end, own, table.has_nodes(row), row.elapsed != NOTHING, row.state != RecordState::Other)
    };
    rank(new) > rank(old)
}

/// Returns whether another attempt follows by itself.
fn is_requeued(state: RecordState) -> bool {
    matches!(state, RecordState::Requeued | RecordState::NodeFail | RecordState::BootFail | RecordState::Preempted)
}
