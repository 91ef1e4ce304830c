//! Turns records into jobs, rule by rule.

use super::audit::{Audit, AuditEntry, CleaningRule};
use super::choices::{Duplicates, Keep, MissingEstimate, NegativeRun, Overrun, SizeField, TooWide};
use super::options::CleaningOptions;
use super::parts::{RecordPart, RecordParts};
use super::usual::UsualRuns;
use crate::generate;
use crate::log::LogError;
use crate::log::swf::{Malformed, RecordField, SwfDecimal, SwfHeader, SwfRecord};
use crate::log::transform::{self, TalbyClock};
use crate::model::{Job, LogStatus, Machine, Procs, Provenance, Span, TIME_LIMIT, Time, Truth, UNKNOWN, Workload};
use std::collections::HashSet;
use std::sync::Arc;

/// Turns records into jobs as the options say, and keeps account.
///
/// Rules apply to a record in the order of [`CleaningRule::ALL`]; the first that drops it is the
/// one that counts it.
pub struct Cleaner {
    options: CleaningOptions,
    machine: Machine,
    name: Arc<str>,
    provenance: Provenance,
    jobs: Vec<Job>,
    truth: Vec<Truth>,
    lines: Vec<u64>,
    records: Vec<SwfRecord>,
    audit: Audit,
    parts: RecordParts,
    /// Number of records to which rules were applied.
    turn: u64,
    /// The largest number of a job so far.
    largest_number: i64,
    /// All numbers of jobs so far; empty as long as each is larger than those before it.
    numbers: HashSet<i64>,
    latest_submit: i64,
    /// The rule that touched a record last, and at which turn.
    touched: Option<(CleaningRule, u64)>,
    /// Jobs that get an estimate by a model of all of them.
    modelled: Vec<usize>,
    /// Run times of users so far.
    usual: UsualRuns,
    /// Clock of the months, where jobs have to end in the month of their submission.
    clock: Option<TalbyClock>,
}

impl Cleaner {
    /// Settles the size of the machine and starts. `name` stands in messages, `title` in the
    /// workload's provenance.
    ///
    /// # Errors
    /// The size of the machine is unknown or impossible.
    pub fn new(
        header: &SwfHeader,
        options: CleaningOptions,
        name: impl Into<Arc<str>>,
        title: &str,
    ) -> Result<Cleaner, LogError> {
        let name = name.into();
        let procs = machine_size(header, &options, &name)?;
        let provenance = Provenance {
            name: title.to_string(),
            settings: options.build_settings(procs),
            unix_start: header.unix_start(),
            utc_offset: header.utc_offset().and_then(|s| i32::try_from(s).ok()),
            time_zone: header.time_zone(),
            moves: Vec::new(),
        };
        let clock = options.same_month.then(|| TalbyClock::new(header, &name)).transpose()?;
        Ok(Cleaner {
            options,
            clock,
            machine: Machine::new(procs),
            name,
            provenance,
            jobs: Vec::new(),
            truth: Vec::new(),
            lines: Vec::new(),
            records: Vec::new(),
            audit: Audit::default(),
            parts: RecordParts::default(),
            turn: 0,
            touched: None,
            modelled: Vec::new(),
            usual: UsualRuns::default(),
            largest_number: i64::MIN,
            numbers: HashSet::new(),
            latest_submit: i64::MIN,
        })
    }

    /// Takes one record.
    ///
    /// # Errors
    /// The record breaks a rule that the options made an error.
    pub fn push(&mut self, record: &SwfRecord) -> Result<(), LogError> {
        self.audit.records += 1;
        self.turn += 1;
        match self.parts.take_record(record) {
            RecordPart::OfWhole => self.drop(CleaningRule::PartialExecution, record, RecordField::Status),
            RecordPart::Further => self.drop(CleaningRule::JoinedExecution, record, RecordField::Status),
            RecordPart::First => {
                self.complete_job()?;
                self.parts.begin_job(record);
            }
            RecordPart::Whole => {
                self.complete_job()?;
                self.convert_record(record)?;
            }
        }
        Ok(())
    }

    /// Takes the job whose parts have all come.
    fn complete_job(&mut self) -> Result<(), LogError> {
        self.parts.take_complete().map_or(Ok(()), |record| self.convert_record(&record))
    }

    /// Makes a job of a record, unless a rule drops it.
    fn convert_record(&mut self, record: &SwfRecord) -> Result<(), LogError> {
        self.turn += 1;
        let mut copy = *record;
        if let Some(clock) = &self.clock {
            match clock.read_record(record)? {
                Some((_, by_clock)) => copy = by_clock,
                None => {
                    self.drop(CleaningRule::OtherMonth, record, RecordField::Run);
                    return Ok(());
                }
            }
        }
        let record = &copy;
        let Some(run) = self.clean_run(record) else {
            return Ok(());
        };
        let Some(procs) = self.clean_procs(record)? else {
            return Ok(());
        };
        let Some((estimate, run)) = self.clean_estimate(record, run) else {
            return Ok(());
        };
        if !self.is_new(record)? {
            self.modelled.pop_if(|at| *at == self.jobs.len());
            return Ok(());
        }
        let submit = record.submit.round();
        for field in [RecordField::Submit, RecordField::Run, RecordField::RequestedTime] {
            let value = record.get(field);
            if !value.is_whole() {
                self.note_change(CleaningRule::RoundedTime, record, field, value.round());
            }
        }
        if submit < 0 {
            self.note_touch(CleaningRule::KeptNegativeSubmit, record, RecordField::Submit, None);
        }
        if submit < self.latest_submit {
            self.note_change(CleaningRule::OutOfOrder, record, RecordField::Submit, submit);
        }
        self.latest_submit = self.latest_submit.max(submit);
        if self.options.missing_estimate == MissingEstimate::UserMean {
            self.usual.learn_run(
                record.user,
                submit.saturating_add(record.wait.round().max(0)).saturating_add(run),
                run,
            );
        }
        let mut job = Job::new(Time(submit), procs, Span(estimate));
        job.user = self.read_attribute(record, RecordField::User);
        job.group = self.read_attribute(record, RecordField::Group);
        job.executable = self.read_attribute(record, RecordField::Executable);
        job.queue = self.read_attribute(record, RecordField::Queue);
        job.partition = self.read_attribute(record, RecordField::Partition);
        job.memory_kb = memory_per_proc(record);
        self.jobs.push(job);
        self.truth.push(Truth { run: Span(run), number: record.number, status: LogStatus::from_swf(record.status) });
        if self.options.list {
            self.lines.push(record.line);
        }
        if self.options.records {
            self.records.push(*record);
        }
        Ok(())
    }

    /// Accounts for malformed lines that the reader skipped: how many, and those it kept.
    pub fn note_malformed(&mut self, count: u64, samples: &[Malformed]) {
        if count > 0 {
            self.audit.records += count;
            self.audit.add_count(CleaningRule::MalformedLine, count);
            self.audit.malformed.extend_from_slice(samples);
        }
    }

    /// Takes note of what lines have beyond the fields of the format.
    pub fn note_extra_data(&mut self, remark: Option<String>) {
        self.audit.beyond = remark;
    }

    /// Puts the jobs in order, takes as many as were asked for, scales and shifts them.
    ///
    /// The records, where the options kept them, are in the order of the jobs.
    ///
    /// # Errors
    /// No record became a job, or the jobs form no workload; or the last record breaks a rule that
    /// the options made an error.
    pub fn finish(mut self) -> Result<(Workload, Audit, Option<Vec<SwfRecord>>), LogError> {
        self.complete_job()?;
        let runs: Vec<u32> =
            self.modelled.iter().map(|&at| u32::try_from(self.truth[at].run.0).unwrap_or(u32::MAX)).collect();
        let new_estimates = match self.options.missing_estimate {
            MissingEstimate::Uniform(most) => generate::uniform_estimates(&runs, most),
            _ => generate::modelled_estimates(&runs),
        };
        for (&at, estimate) in self.modelled.iter().zip(new_estimates) {
            self.jobs[at].estimate = Span(i64::from(estimate));
        }
        self.sort_jobs();
        self.take_first_jobs();
        self.audit.jobs = self.jobs.len() as u64;
        if self.jobs.is_empty() {
            let drop_counts: Vec<String> =
                self.audit.rule_counts().map(|(rule, count)| format!("{rule} {count}")).collect();
            return Err(LogError::NothingLeft {
                file: self.name,
                records: self.audit.records,
                dropped: drop_counts.join(", "),
            });
        }
        let CleaningOptions { load, shift, records, .. } = self.options;
        if let Some(load) = load {
            for job in &mut self.jobs {
                job.submit = load.divide_time(job.submit);
            }
            self.provenance.moves.push(load.as_move());
        }
        let mut workload = Workload::new(self.machine, self.jobs, self.truth, self.provenance)
            .map_err(|source| LogError::Workload { file: self.name.clone(), source })?;
        if shift {
            workload = transform::shifted_to_zero(workload)
                .map_err(|source| LogError::Workload { file: self.name, source })?;
        }
        Ok((workload, self.audit, records.then_some(self.records)))
    }

    /// The run time in whole seconds; `None` where the record is dropped for its times.
    fn clean_run(&mut self, record: &SwfRecord) -> Option<i64> {
        if record.submit.round() < 0 && self.options.negative_submit == Keep::Drop {
            self.drop(CleaningRule::NegativeSubmit, record, RecordField::Submit);
            return None;
        }
        match record.run.round() {
            ..0 => match self.options.negative_run {
                NegativeRun::Drop => {
                    self.drop(CleaningRule::NegativeRun, record, RecordField::Run);
                    None
                }
                NegativeRun::Zero => {
                    self.note_change(CleaningRule::NegativeRunZeroed, record, RecordField::Run, 0);
                    Some(0)
                }
                NegativeRun::Ten => {
                    self.note_change(CleaningRule::NegativeRunTen, record, RecordField::Run, 10);
                    Some(10)
                }
            },
            0 if self.options.zero_run == Keep::Drop => {
                self.drop(CleaningRule::ZeroRun, record, RecordField::Run);
                None
            }
            run => Some(run),
        }
    }

    /// The size; `None` where the record is dropped for it.
    fn clean_procs(&mut self, record: &SwfRecord) -> Result<Option<Procs>, LogError> {
        let SwfRecord { allocated, requested, .. } = *record;
        let (first, second) = match self.options.size {
            SizeField::Requested | SizeField::RequestedOnly => (RecordField::Requested, RecordField::Allocated),
            SizeField::Allocated | SizeField::AllocatedOnly => (RecordField::Allocated, RecordField::Requested),
            SizeField::Larger if allocated > requested => (RecordField::Allocated, RecordField::Requested),
            SizeField::Larger => (RecordField::Requested, RecordField::Allocated),
            SizeField::Smaller if allocated < requested && allocated > 0 => {
                (RecordField::Allocated, RecordField::Requested)
            }
            SizeField::Smaller => (RecordField::Requested, RecordField::Allocated),
        };
        let alone = matches!(self.options.size, SizeField::RequestedOnly | SizeField::AllocatedOnly);
        let mut size = record.get(first).digits();
        if size <= 0 {
            size = record.get(second).digits();
            if alone || size <= 0 {
                self.drop(CleaningRule::NoProcessors, record, first);
                return Ok(None);
            }
            self.note_touch(CleaningRule::OtherSizeField, record, first, Some(size));
        }
        let machine = i64::from(self.machine.procs);
        let widest = match self.options.too_wide {
            TooWide::DropEither => size.max(allocated).max(requested),
            _ => size,
        };
        if widest > machine {
            if self.options.too_wide == TooWide::Error {
                return Err(LogError::TooWide {
                    file: self.name.clone(),
                    line: record.line,
                    number: record.number,
                    procs: widest,
                    machine: self.machine.procs,
                });
            }
            let field = if widest == allocated { RecordField::Allocated } else { RecordField::Requested };
            self.drop(CleaningRule::TooWide, record, field);
            let run = record.run.round().max(0).unsigned_abs();
            let work = run.saturating_mul(widest.unsigned_abs());
            self.audit.too_wide_work = self.audit.too_wide_work.saturating_add(work);
            return Ok(None);
        }
        // `widest <= machine`, which is a `u32`.
        Ok(Procs::try_from(size).ok())
    }

    /// The estimate and the run time that the overrun rule makes of it; `None` where the record is
    /// dropped.
    fn clean_estimate(&mut self, record: &SwfRecord, run: i64) -> Option<(i64, i64)> {
        let mut estimate = record.requested_time.round();
        if estimate <= 0 || self.options.replace_estimates {
            estimate = match self.options.missing_estimate {
                MissingEstimate::Run => run,
                MissingEstimate::RunMin1 => run.max(1),
                MissingEstimate::Seconds(span) => span.0,
                // Beyond a century nothing is declared.
                MissingEstimate::Factor(thousandths) => {
                    let estimate = i128::from(run.max(1)) * i128::from(thousandths) / 1_000;
                    i64::try_from(estimate).unwrap_or(i64::MAX).min(TIME_LIMIT)
                }
                MissingEstimate::UserMean => self.usual.mean_run(record.user, record.submit.round()),
                MissingEstimate::Tsafrir | MissingEstimate::Uniform(_) => {
                    // Exact estimates need no model.
                    if self.options.overrun != Overrun::Exact {
                        self.modelled.push(self.jobs.len());
                    }
                    run.max(1)
                }
                MissingEstimate::Drop => {
                    self.drop(CleaningRule::NoEstimate, record, RecordField::RequestedTime);
                    return None;
                }
            };
            self.note_touch(CleaningRule::GuessedEstimate, record, RecordField::RequestedTime, Some(estimate));
        }
        match self.options.overrun {
            Overrun::Exact => {
                if estimate != run {
                    self.note_change(CleaningRule::ExactEstimate, record, RecordField::RequestedTime, run);
                }
                Some((run, run))
            }
            _ if run <= estimate => Some((estimate, run)),
            Overrun::RunOn => {
                self.note_touch(CleaningRule::RunsOn, record, RecordField::Run, None);
                Some((estimate, run))
            }
            Overrun::Kill => {
                self.note_change(CleaningRule::Killed, record, RecordField::Run, estimate);
                Some((estimate, estimate))
            }
            Overrun::Raise => {
                self.note_change(CleaningRule::RaisedEstimate, record, RecordField::RequestedTime, run);
                Some((run, run))
            }
        }
    }

    /// Returns whether the record's number is new, so that the record may become a job. Unknown
    /// numbers (−1) are not compared.
    fn is_new(&mut self, record: &SwfRecord) -> Result<bool, LogError> {
        let number = record.number;
        if number > self.largest_number {
            // Numbers in ascending order, as in nearly all logs, cost nothing.
            self.largest_number = number;
            if !self.numbers.is_empty() {
                self.numbers.insert(number);
            }
            return Ok(true);
        }
        if self.numbers.is_empty() {
            self.numbers.extend(self.truth.iter().map(|t| t.number));
        }
        if self.numbers.insert(number) || number == i64::from(UNKNOWN) {
            return Ok(true);
        }
        match self.options.duplicates {
            Duplicates::Keep => {
                self.note_touch(CleaningRule::RepeatedNumber, record, RecordField::Number, None);
                Ok(true)
            }
            Duplicates::Drop => {
                self.drop(CleaningRule::DroppedNumber, record, RecordField::Number);
                Ok(false)
            }
            Duplicates::Error => Err(LogError::Duplicate { file: self.name.clone(), line: record.line, number }),
        }
    }

    fn read_attribute(&mut self, record: &SwfRecord, field: RecordField) -> i32 {
        i32::try_from(record.get(field).digits()).unwrap_or_else(|_| {
            self.note_change(CleaningRule::IdOutOfRange, record, field, i64::from(UNKNOWN));
            UNKNOWN
        })
    }

    /// Puts jobs and all that goes with them in order of submit, stably.
    fn sort_jobs(&mut self) {
        if self.jobs.is_sorted_by_key(|job| job.submit) {
            return;
        }
        let mut order: Vec<usize> = (0..self.jobs.len()).collect();
        order.sort_by_key(|i| self.jobs[*i].submit);
        self.jobs = order.iter().map(|i| self.jobs[*i].clone()).collect();
        self.truth = order.iter().map(|i| self.truth[*i].clone()).collect();
        if self.options.list {
            self.lines = order.iter().map(|i| self.lines[*i]).collect();
        }
        if self.options.records {
            self.records = order.iter().map(|i| self.records[*i]).collect();
        }
    }

    /// Leaves only the first jobs, where the options say how many.
    fn take_first_jobs(&mut self) {
        let kept_count = self.options.take.unwrap_or(usize::MAX).min(self.jobs.len());
        let rest = self.jobs.len() - kept_count;
        if rest == 0 {
            return;
        }
        self.audit.add_count(CleaningRule::NotTaken, rest as u64);
        if self.options.list {
            for index in kept_count..self.jobs.len() {
                self.audit.entries.push(AuditEntry {
                    rule: CleaningRule::NotTaken,
                    line: self.lines[index],
                    number: self.truth[index].number,
                    field: RecordField::Submit,
                    before: SwfDecimal::from(self.jobs[index].submit.0),
                    after: None,
                });
            }
        }
        self.jobs.truncate(kept_count);
        self.truth.truncate(kept_count);
        self.records.truncate(kept_count);
    }

    fn drop(&mut self, rule: CleaningRule, record: &SwfRecord, field: RecordField) {
        self.note_touch(rule, record, field, None);
    }

    fn note_change(&mut self, rule: CleaningRule, record: &SwfRecord, field: RecordField, after: i64) {
        self.note_touch(rule, record, field, Some(after));
    }

    fn note_touch(&mut self, rule: CleaningRule, record: &SwfRecord, field: RecordField, after: Option<i64>) {
        // Several fields of one record are one record.
        if self.touched != Some((rule, self.turn)) {
            self.touched = Some((rule, self.turn));
            self.audit.add_count(rule, 1);
        }
        if self.options.list {
            self.audit.entries.push(AuditEntry {
                rule,
                line: record.line,
                number: record.number,
                field,
                before: record.get(field),
                after,
            });
        }
    }
}

/// The size that the options, the study or the header give the machine, in this order.
fn machine_size(header: &SwfHeader, options: &CleaningOptions, name: &Arc<str>) -> Result<Procs, LogError> {
    let study = options.study.and_then(|study| study.machine_procs(header));
    let chosen_size = options.procs.or(study).map(i64::from);
    // Headers say −1 or 0 where the size is unknown.
    let header_size = [header.max_procs(), header.max_nodes()].into_iter().flatten().find(|procs| *procs > 0);
    let procs = chosen_size.or(header_size).ok_or_else(|| {
        let header_fields = ["MaxProcs", "MaxNodes"]
            .into_iter()
            .filter_map(|key| Some((key, header.find_text(key)?.lines().next()?.to_string())));
        LogError::NoMachine { file: name.clone(), fields: header_fields.collect() }
    })?;
    Procs::try_from(procs)
        .ok()
        .filter(|procs| *procs > 0)
        .ok_or_else(|| LogError::BadMachine { file: name.clone(), procs })
}

/// Requested memory, else used memory, in kilobytes per processor.
fn memory_per_proc(record: &SwfRecord) -> i64 {
    [record.requested_memory, record.used_memory]
        .into_iter()
        .map(SwfDecimal::round)
        .find(|kb| *kb > 0)
        .unwrap_or(i64::from(UNKNOWN))
}
