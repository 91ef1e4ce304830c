//! Identification of rows of one job: rows that two files have in common, attempts after a requeue,
//! changes of size, numbers used again.

use super::classify::{self, SettledTimes};
use super::{FoundJob, JobMarks, NOTHING, SiteJobFate, count, example};
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

/// Finds the jobs of all rows.
pub(crate) fn find(
    table: &AccountingTable,
    tally: &mut RuleTally,
    choices: &JobChoices,
    orphans: &[(crate::rows::Symbol, crate::rows::FilePlace)],
    crew: Crew,
) -> FoundJobs {
    let (keys, components) = keys(table, tally);
    only_steps(table, tally, &keys, orphans);
    // Rows of a set of tasks have one number: they are in one part.
    let eligibility = table.rows.iter().any(|row| row.eligible > 0);
    let parts = crew.joined(
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
                    [one] => finder.single(one),
                    many => finder.several(many),
                }
            }
            let Finder { jobs, amounts, .. } = finder;
            (jobs, amounts, tally)
        },
    );
    drop(keys);
    let mut found =
        FoundJobs { jobs: Vec::new(), amounts: Interner::default(), throttles: throttles(table), components };
    for (mut jobs, amounts, counted) in parts {
        tally.absorb(counted);
        if found.jobs.is_empty() {
            (found.jobs, found.amounts) = (jobs, amounts);
            continue;
        }
        let here: Vec<u32> = amounts.items().iter().map(|&amount| found.amounts.intern(amount)).collect();
        jobs.iter_mut().for_each(|job| job.amount = here[job.amount as usize]);
        found.jobs.append(&mut jobs);
    }
    found
}

/// A key for each job that a row stands for, in order; and whether any is a component.
fn keys(table: &AccountingTable, tally: &mut RuleTally) -> (Vec<AttemptKey>, bool) {
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
                    tally.jobs(ImportRule::Array, set.len(), 0, || example(table, row));
                    tally.rows(ImportRule::Array, 1);
                }
                if set.cut {
                    tally.row(ImportRule::ArrayCut, 0, || example(table, row));
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
        let Some(Id::Job(id)) = Id::read(table.names.bytes(parent)) else { continue };
        let known = match id.part {
            IdPart::Task(task) => has(id.number, task),
            IdPart::Component(offset) => raw.contains(&(id.number + u64::from(offset))) || has(id.number, NOTHING),
            _ => has(id.number, NOTHING) || raw.contains(&id.number),
        };
        if !known {
            let text = table.names.bytes(parent).to_vec();
            let files = &table.files;
            tally.row(ImportRule::OnlySteps, 0, || crate::rules::Example::new(files.text(place), &text));
        }
    }
}

fn throttles(table: &AccountingTable) -> BTreeMap<u64, u32> {
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
    /// A job with one row.
    fn single(&mut self, key: &AttemptKey) {
        if let Some(seen) = self.seen(key) {
            self.push(&seen, 1, JobMarks::default());
        }
    }

    /// The row's times; counts it where they cannot be.
    fn seen(&mut self, key: &AttemptKey) -> Option<TimedRow> {
        let row = self.table.rows.get(key.row);
        match classify::times(self.table, row, self.lists) {
            Ok(times) => Some(TimedRow { key: *key, times }),
            Err(rule) => {
                let cpus = self.table.shape(row).held.or(self.table.shape(row).asked).cpus;
                let seconds = if row.elapsed == NOTHING || cpus == UNKNOWN {
                    0
                } else {
                    u64::from(cpus) * u64::from(row.elapsed)
                };
                self.bad(rule, key.row, seconds);
                None
            }
        }
    }

    /// Counts a row that cannot be used: once, however many tasks it stands for.
    fn bad(&mut self, rule: ImportRule, at: u32, seconds: u64) {
        let row = self.table.rows.get(at);
        if matches!(row.part(), RowPart::Tasks(_)) {
            self.tally.jobs(rule, 1, 0, || example(self.table, row));
            if self.bad.insert(at) {
                self.tally.rows(rule, 1);
            }
        } else {
            self.tally.row(rule, seconds, || example(self.table, row));
        }
    }

    /// Rows with the same number and task.
    fn several(&mut self, keys: &[AttemptKey]) {
        let mut kept: Vec<TimedRow> = Vec::with_capacity(keys.len());
        let all: Vec<TimedRow> = keys.iter().filter_map(|key| self.seen(key)).collect();
        let several = self.are_several(&all);
        for seen in all {
            let file = |seen: &TimedRow| self.table.rows.get(seen.key.row).file;
            let is_one = |other: &TimedRow| {
                let of_one_file = several && file(other) == file(&seen);
                let apart = of_one_file || self.waits_again(other, &seen) || self.differ(other, &seen);
                is_same(other, &seen) && !apart
            };
            let same = kept.iter().position(is_one).map(|at| &mut kept[at]);
            match same {
                Some(other) => {
                    let dropped = if better(self.table, &seen, other) { std::mem::replace(other, seen) } else { seen };
                    let row = self.table.rows.get(dropped.key.row);
                    self.tally.row(ImportRule::Dup, 0, || example(self.table, row));
                }
                None => kept.push(seen),
            }
        }
        // Of attempts that were submitted together, one that never started comes when it was
        // eligible.
        let begins = |times: &SettledTimes| if times.start > 0 { times.start } else { times.eligible };
        kept.sort_shared_by_key(|seen| (seen.times.submit, begins(&seen.times), seen.times.end));
        let mut at = 0;
        let mut attempt = 1;
        while at < kept.len() {
            let resized = (at + 1..kept.len()).take_while(|&next| self.resizes(&kept[next - 1], &kept[next])).count();
            if resized > 0 {
                self.resize(&kept[at..=at + resized], attempt);
                at += resized + 1;
                attempt = 1;
                continue;
            }
            let merged = (at + 1..kept.len()).take_while(|&next| self.merges(&kept[next - 1], &kept[next])).count();
            let marks = if attempt > 1 { JobMarks::REQUEUED } else { JobMarks::default() };
            if merged > 0 {
                self.merge(&kept[at..=at + merged], attempt, marks);
                at += merged;
            } else {
                self.push(&kept[at], attempt, marks);
            }
            if let Some(next) = kept.get(at + 1) {
                let again = is_requeued(self.state(&kept[at])) && follows(&kept[at], next);
                let row = self.table.rows.get(next.key.row);
                let rule = match again {
                    true => ImportRule::Requeue,
                    false if is_same_start(&kept[at], next) => ImportRule::SameId,
                    false => ImportRule::ReusedId,
                };
                count(self.tally, self.table, rule, row, 0);
                attempt = if again { attempt + 1 } else { 1 };
                if again {
                    // PBS and Grid Engine keep the time of submission; it waits again from its
                    // requeue on.
                    let end = kept[at].times.end;
                    let next = &mut kept[at + 1].times;
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
        let of = |seen: &TimedRow| self.table.rows.get(seen.key.row);
        let unkeyed = |seen: &TimedRow| self.table.unkeyed.contains(&of(seen).file);
        !self.table.unkeyed.is_empty()
            && rows.windows(2).any(|pair| {
                let [one, other] = pair else { return false };
                let who = |seen: &TimedRow| self.table.who(of(seen)).user;
                unkeyed(one)
                    && of(one).file == of(other).file
                    && who(one) == who(other)
                    && is_same_start(one, other)
                    && self.differ(one, other)
            })
    }

    /// Returns whether one of the two waits to be run again, or did until it left, eligible since
    /// the other was requeued: PBS keeps the time of submission.
    fn waits_again(&self, one: &TimedRow, other: &TimedRow) -> bool {
        let again = |ended: &TimedRow, waits: &TimedRow| {
            matches!(waits.times.kind, SiteJobFate::Waiting | SiteJobFate::Withdrawn)
                && ended.times.end > 0
                && waits.times.eligible >= ended.times.end
                && is_requeued(self.state(ended))
        };
        again(one, other) || again(other, one)
    }

    /// Returns whether two ended rows disagree on their use: tasks of an array whose own numbers
    /// were lost, for one. Rows that are equal in all of this are one job.
    fn differ(&self, one: &TimedRow, other: &TimedRow) -> bool {
        let over = |seen: &TimedRow| matches!(seen.times.kind, SiteJobFate::Ran | SiteJobFate::Withdrawn);
        if one.times.kind != other.times.kind || !over(one) {
            return false;
        }
        let row = |seen: &TimedRow| self.table.rows.get(seen.key.row);
        let (a, b) = (row(one), row(other));
        let unlike = |x: u32, y: u32, unknown: u32| x != y && x != unknown && y != unknown;
        let partitions = (self.table.at(a).partition.0, self.table.at(b).partition.0);
        // What never ran held nothing, in whatever way a version of Slurm says so.
        let ran = one.times.kind == SiteJobFate::Ran;
        let (held, also) = (self.table.shape(a).held, self.table.shape(b).held);
        unlike(one.times.end, other.times.end, 0)
            || unlike(one.times.run, other.times.run, NOTHING)
            || (ran && unlike(held.cpus, also.cpus, UNKNOWN))
            || (ran && unlike(held.nodes, also.nodes, UNKNOWN))
            || unlike(a.name, b.name, 0)
            || unlike(self.table.who(a).user.0, self.table.who(b).user.0, 0)
            || unlike(partitions.0, partitions.1, 0)
            || (a.state != b.state && [a.state, b.state].iter().all(|s| s.is_over() && *s != RecordState::Other))
            || (unlike(a.nodes.0, b.nodes.0, 0) && self.nodes_of(a) != self.nodes_of(b))
    }

    /// The nodes of a row, however its list is written.
    fn nodes_of(&self, row: &AccountingRow) -> BTreeSet<String> {
        let list = self.table.node_lists.text(row.nodes);
        drystone_slurm::conf::expand_hostlist(&list).unwrap_or_else(|_| vec![list.to_string()]).into_iter().collect()
    }

    fn state(&self, seen: &TimedRow) -> RecordState {
        self.table.rows.get(seen.key.row).state
    }

    /// Returns whether the next row continues this job with another size.
    fn resizes(&self, this: &TimedRow, next: &TimedRow) -> bool {
        let row = |seen: &TimedRow| self.table.rows.get(seen.key.row);
        let (a, b) = (row(this), row(next));
        let joins = this.times.end > 0 && this.times.end.abs_diff(next.times.start) <= 1;
        let sizes = (self.table.shape(a).held.cpus, self.table.shape(a).held.nodes)
            != (self.table.shape(b).held.cpus, self.table.shape(b).held.nodes);
        joins && (a.state == RecordState::Resizing || (a.submit == b.submit && sizes && !is_requeued(a.state)))
    }

    /// Returns whether another attempt replaces this one without leaving a job behind.
    fn merges(&self, this: &TimedRow, next: &TimedRow) -> bool {
        let merges = match self.state(this) {
            RecordState::Preempted => self.choices.merge_preempted,
            RecordState::Requeued => self.choices.merge_preempted && self.choices.preempts_by_requeue,
            _ => false,
        };
        merges && follows(this, next)
    }

    /// One job of the first size with as many core-seconds.
    fn resize(&mut self, rows: &[TimedRow], attempt: u16) {
        let (first, last) = (&rows[0], &rows[rows.len() - 1]);
        let amount = |seen: &TimedRow| {
            let shape = self.table.shape(self.table.rows.get(seen.key.row));
            shape.held.or(shape.asked)
        };
        let work: u64 = rows.iter().map(|seen| amount_seconds(&amount(seen), seen.times.run)).sum();
        let cpus = u64::from(amount(first).cpus.max(1));
        let mut merged = *first;
        (merged.times.end, merged.times.kind) = (last.times.end, last.times.kind);
        merged.times.run = u32::try_from(work.div_ceil(cpus)).unwrap_or(NOTHING - 1);
        if last.times.kind == SiteJobFate::Running {
            merged.times.run = NOTHING;
        }
        let row = self.table.rows.get(first.key.row);
        self.tally.rows(ImportRule::Resize, rows.len() as u64);
        count(self.tally, self.table, ImportRule::Resize, row, work);
        // The amounts are those of the first row, how it ended of the last.
        let state = TimedRow { key: AttemptKey { row: first.key.row, ..last.key }, ..merged };
        self.push(&state, attempt, JobMarks::RESIZED);
    }

    /// One job: submitted as the first attempt, run as the last.
    fn merge(&mut self, rows: &[TimedRow], attempt: u16, marks: JobMarks) {
        let (first, last) = (&rows[0], &rows[rows.len() - 1]);
        let mut merged = *last;
        (merged.times.submit, merged.times.eligible) = (first.times.submit, first.times.eligible);
        let row = self.table.rows.get(first.key.row);
        self.tally.rows(ImportRule::RequeueMerged, rows.len() as u64);
        let lost = rows[..rows.len() - 1].iter().map(|seen| {
            let shape = self.table.shape(self.table.rows.get(seen.key.row));
            amount_seconds(&shape.held.or(shape.asked), seen.times.run)
        });
        count(self.tally, self.table, ImportRule::RequeueMerged, row, lost.sum());
        let mut marks = marks;
        marks.set(JobMarks::MERGED);
        self.push(&merged, attempt, marks);
    }

    /// Adds a job.
    fn push(&mut self, seen: &TimedRow, attempt: u16, marks: JobMarks) {
        let TimedRow { key, times } = *seen;
        let row = self.table.rows.get(key.row);
        if row.state == RecordState::Revoked && !(times.kind.started() && self.table.has_nodes(row)) {
            count(self.tally, self.table, ImportRule::Revoked, row, 0);
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
        let Some(amount) = self.amount(&mut job, row) else {
            match is_queued(row, &times) {
                true => count(self.tally, self.table, ImportRule::Unsized, row, 0),
                false => self.bad(ImportRule::NoSize, key.row, 0),
            }
            return;
        };
        job.amount = self.amounts.intern(amount);
        if times.skewed {
            count(self.tally, self.table, ImportRule::Skewed, row, job.core_seconds(&amount));
        }
        self.arrive(&mut job, row, &amount, &times);
        self.notes(&mut job, row, &amount);
        self.jobs.push(job);
    }

    /// Returns the amount that it held if it ran, else the amount requested; `None` if unknown.
    fn amount(&mut self, job: &mut FoundJob, row: &AccountingRow) -> Option<Amount> {
        let shape = self.table.shape(row);
        let held = job.kind.started() && !self.choices.requested_size;
        let mut amount = if held { shape.held.or(shape.asked) } else { shape.asked.or(shape.held) };
        let known = |n: u32| n != UNKNOWN && n > 0;
        if held && !known(amount.cpus) && known(shape.asked.cpus) {
            amount.cpus = shape.asked.cpus;
        }
        if !known(amount.nodes) && self.table.has_nodes(row) {
            let list = self.table.node_lists.text(row.nodes);
            amount.nodes = drystone_slurm::conf::expand_hostlist(&list).map_or(UNKNOWN, |names| names.len() as u32);
        }
        if !known(amount.cpus) {
            if !known(amount.nodes) {
                return None;
            }
            amount.cpus = UNKNOWN;
            job.marks.set(JobMarks::SIZE);
        }
        if shape.exclusive {
            job.marks.set(JobMarks::EXCLUSIVE);
        }
        let granted = job.kind.started()
            && known(shape.asked.cpus)
            && known(shape.held.cpus)
            && shape.held.cpus > shape.asked.cpus;
        if granted {
            job.marks.set(JobMarks::GRANTED);
            let more = u64::from(shape.held.cpus - shape.asked.cpus);
            let run = if job.run == NOTHING { 0 } else { u64::from(job.run) };
            count(self.tally, self.table, ImportRule::Granted, row, more * run);
        }
        Some(amount)
    }

    /// Sets the arrival: the eligibility, unless submissions are asked for.
    fn arrive(&mut self, job: &mut FoundJob, row: &AccountingRow, amount: &Amount, times: &SettledTimes) {
        let seconds = job.core_seconds(amount);
        if times.late {
            count(self.tally, self.table, ImportRule::SubmitLate, row, seconds);
        }
        if times.assumed.0 {
            job.marks.set(JobMarks::NO_SUBMIT);
            count(self.tally, self.table, ImportRule::NoSubmit, row, seconds);
        }
        if times.assumed.1 {
            count(self.tally, self.table, ImportRule::SubmitEligible, row, seconds);
        }
        if times.derived {
            count(self.tally, self.table, ImportRule::Derived, row, seconds);
        }
        // Of those that were never eligible nothing else needs to be known.
        let never = job.eligible == 0
            && self.eligibility
            && !self.choices.arrive_at_submit
            && !times.assumed.0
            && (job.kind == SiteJobFate::Waiting || (job.kind == SiteJobFate::Withdrawn && job.end > 0));
        if never {
            count(self.tally, self.table, ImportRule::NeverEligible, row, seconds);
            job.marks.set(JobMarks::CAUSE);
            job.arrive = if job.kind == SiteJobFate::Waiting { NEVER } else { job.end };
            return;
        }
        if job.eligible == 0 && !times.assumed.0 {
            count(self.tally, self.table, ImportRule::NoEligible, row, seconds);
        } else if job.eligible > job.submit {
            count(self.tally, self.table, ImportRule::Arrive, row, seconds);
        }
        let eligible = if job.eligible == 0 { job.submit } else { job.eligible };
        job.arrive = if self.choices.arrive_at_submit { job.submit } else { eligible };
        // One that left before it was eligible never stood in the queue.
        if job.kind == SiteJobFate::Withdrawn && job.end > 0 && job.arrive > job.end {
            job.arrive = job.end;
            job.marks.set(JobMarks::CAUSE);
        }
    }

    /// Counts facts that change nothing.
    fn notes(&mut self, job: &mut FoundJob, row: &AccountingRow, amount: &Amount) {
        let seconds = job.core_seconds(amount);
        let rule = match job.kind {
            SiteJobFate::Withdrawn => Some(ImportRule::Withdraw),
            SiteJobFate::Waiting => Some(ImportRule::Pending),
            // Counted once it is known which of these records were never closed.
            SiteJobFate::Running | SiteJobFate::Ran => None,
        };
        if let Some(rule) = rule {
            count(self.tally, self.table, rule, row, seconds);
        }
        if row.state == RecordState::Other && self.table.note(row).word != crate::rows::Symbol(0) {
            count(self.tally, self.table, ImportRule::State, row, seconds);
        }
        if job.run == 0 {
            count(self.tally, self.table, ImportRule::Zero, row, 0);
        }
        if job.kind == SiteJobFate::Ran && super::classify::suspension(row) > 0 {
            job.marks.set(JobMarks::SUSPENDED);
            count(self.tally, self.table, ImportRule::Suspended, row, seconds);
        }
        if job.task != NOTHING {
            job.marks.set(JobMarks::ARRAY);
        }
    }
}

/// Returns whether a job only ever stood in the queue.
fn is_queued(row: &AccountingRow, times: &SettledTimes) -> bool {
    let left = row.start == 0 || matches!(row.state, RecordState::Cancelled | RecordState::Pending);
    left && matches!(times.kind, SiteJobFate::Withdrawn | SiteJobFate::Waiting)
}

fn amount_seconds(amount: &Amount, run: u32) -> u64 {
    let known = |n: u32| if n == UNKNOWN { 0 } else { u64::from(n) };
    known(amount.cpus) * known(run)
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
fn follows(this: &TimedRow, next: &TimedRow) -> bool {
    let begins = if next.times.start > 0 { next.times.start } else { next.times.eligible.max(next.times.submit) };
    this.times.end == 0 || next.times.kind == SiteJobFate::Waiting || begins >= this.times.end
}

fn is_same_start(this: &TimedRow, next: &TimedRow) -> bool {
    (this.times.submit, this.times.start) == (next.times.submit, next.times.start)
}

/// Returns whether the new row says more than the old.
fn better(table: &AccountingTable, new: &TimedRow, old: &TimedRow) -> bool {
    let rank = |seen: &TimedRow| {
        let row = table.rows.get(seen.key.row);
        let kind = match seen.times.kind {
            SiteJobFate::Waiting => 0,
            SiteJobFate::Running => 1,
            SiteJobFate::Withdrawn | SiteJobFate::Ran => 2,
        };
        // A set of tasks says less than a task.
        let own = !matches!(row.part(), RowPart::Tasks(_));
        (kind, seen.times.end, own, table.has_nodes(row), row.elapsed != NOTHING, row.state != RecordState::Other)
    };
    rank(new) > rank(old)
}

/// Returns whether another attempt follows by itself.
fn is_requeued(state: RecordState) -> bool {
    matches!(state, RecordState::Requeued | RecordState::NodeFail | RecordState::BootFail | RecordState::Preempted)
}
