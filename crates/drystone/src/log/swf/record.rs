//! One record of a log: the eighteen fields of the Standard Workload Format.

use super::decimal::SwfDecimal;
use crate::model::{Job, Span, Truth};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Number of fields of a record.
pub const FIELDS: usize = 18;

/// One line of a log, exactly as it stands there. −1 means "unknown" in every field.
///
/// Times are in seconds, memory in kilobytes per processor. Fields that real logs write with a
/// fraction are [`SwfDecimal`]s. Meaning of the fields: Chapin et al., "Benchmarks and Standards
/// for the Evaluation of Parallel Job Schedulers" (1999), and the standard's version 2.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SwfRecord {
    /// Field 1: the log's number of the job.
    pub number: i64,
    /// Field 2: submit, in seconds after the log's start.
    pub submit: SwfDecimal,
    /// Field 3: wait between submit and start.
    pub wait: SwfDecimal,
    /// Field 4: run time, wall clock.
    pub run: SwfDecimal,
    /// Field 5: processors allocated.
    pub allocated: i64,
    /// Field 6: average CPU time used per processor.
    pub cpu_time: SwfDecimal,
    /// Field 7: average memory used per processor.
    pub used_memory: SwfDecimal,
    /// Field 8: processors requested.
    pub requested: i64,
    /// Field 9: time requested, the user's estimate.
    pub requested_time: SwfDecimal,
    /// Field 10: memory requested per processor.
    pub requested_memory: SwfDecimal,
    /// Field 11: how it ended: 0 failed, 1 completed, 2 to 4 partial executions, 5 cancelled.
    pub status: i64,
    /// Field 12: user.
    pub user: i64,
    /// Field 13: group.
    pub group: i64,
    /// Field 14: executable.
    pub executable: i64,
    /// Field 15: queue.
    pub queue: i64,
    /// Field 16: partition.
    pub partition: i64,
    /// Field 17: number of a job that had to end first.
    pub preceding: i64,
    /// Field 18: time between that job's end and this one's submit.
    pub think_time: SwfDecimal,
    /// Line in the log, from 1; 0 for a record that comes from no log.
    pub line: u64,
}

impl Default for SwfRecord {
    /// A record of which nothing is known.
    fn default() -> SwfRecord {
        SwfRecord {
            number: -1,
            submit: SwfDecimal::UNKNOWN,
            wait: SwfDecimal::UNKNOWN,
            run: SwfDecimal::UNKNOWN,
            allocated: -1,
            cpu_time: SwfDecimal::UNKNOWN,
            used_memory: SwfDecimal::UNKNOWN,
            requested: -1,
            requested_time: SwfDecimal::UNKNOWN,
            requested_memory: SwfDecimal::UNKNOWN,
            status: -1,
            user: -1,
            group: -1,
            executable: -1,
            queue: -1,
            partition: -1,
            preceding: -1,
            think_time: SwfDecimal::UNKNOWN,
            line: 0,
        }
    }
}

impl SwfRecord {
    /// The record of a job that comes from no log, e.g. from a generator. `wait` is unknown until
    /// it is scheduled.
    #[must_use]
    pub fn from_job(job: &Job, truth: &Truth) -> SwfRecord {
        SwfRecord {
            number: truth.number,
            submit: job.submit.0.into(),
            run: truth.run.0.into(),
            allocated: job.procs.into(),
            requested: job.procs.into(),
            requested_time: job.estimate.0.into(),
            requested_memory: job.memory_kb.into(),
            status: truth.status.to_swf(),
            user: job.user.into(),
            group: job.group.into(),
            executable: job.executable.into(),
            queue: job.queue.into(),
            partition: job.partition.into(),
            ..SwfRecord::default()
        }
    }

    /// The record as a simulation left the job: its wait, run time received and processors are the
    /// simulated ones; all that the simulation does not know stays as the log has it. Submit, wait
    /// and run time together are its end: a job counts as waiting while it is suspended.
    #[must_use]
    pub fn with_schedule(&self, job: &Job, wait: Span, run: Span) -> SwfRecord {
        SwfRecord {
            submit: job.submit.0.into(),
            wait: wait.0.into(),
            run: run.0.into(),
            allocated: job.procs.into(),
            ..*self
        }
    }

    /// The value of one field.
    #[must_use]
    pub fn get(&self, field: RecordField) -> SwfDecimal {
        self.values()[field.index()]
    }

    /// The record of eighteen values in order. Fields that are whole numbers take the digits of
    /// theirs.
    #[must_use]
    #[inline]
    pub fn from_values(values: &[SwfDecimal; FIELDS], line: u64) -> SwfRecord {
        let [
            number,
            submit,
            wait,
            run,
            allocated,
            cpu_time,
            used_memory,
            requested,
            requested_time,
            requested_memory,
            status,
            user,
            group,
            executable,
            queue,
            partition,
            preceding,
            think_time,
        ] = *values;
        SwfRecord {
            number: number.digits(),
            submit,
            wait,
            run,
            allocated: allocated.digits(),
            cpu_time,
            used_memory,
            requested: requested.digits(),
            requested_time,
            requested_memory,
            status: status.digits(),
            user: user.digits(),
            group: group.digits(),
            executable: executable.digits(),
            queue: queue.digits(),
            partition: partition.digits(),
            preceding: preceding.digits(),
            think_time,
            line,
        }
    }

    /// All fields in order.
    #[must_use]
    pub fn values(&self) -> [SwfDecimal; FIELDS] {
        [
            self.number.into(),
            self.submit,
            self.wait,
            self.run,
            self.allocated.into(),
            self.cpu_time,
            self.used_memory,
            self.requested.into(),
            self.requested_time,
            self.requested_memory,
            self.status.into(),
            self.user.into(),
            self.group.into(),
            self.executable.into(),
            self.queue.into(),
            self.partition.into(),
            self.preceding.into(),
            self.think_time,
        ]
    }
}

/// A field of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The names are those of `Record`, which says what each means.
pub enum RecordField {
    Number,
    Submit,
    Wait,
    Run,
    Allocated,
    CpuTime,
    UsedMemory,
    Requested,
    RequestedTime,
    RequestedMemory,
    Status,
    User,
    Group,
    Executable,
    Queue,
    Partition,
    Preceding,
    ThinkTime,
}

impl RecordField {
    /// All fields in order.
    pub const ALL: [RecordField; FIELDS] = [
        RecordField::Number,
        RecordField::Submit,
        RecordField::Wait,
        RecordField::Run,
        RecordField::Allocated,
        RecordField::CpuTime,
        RecordField::UsedMemory,
        RecordField::Requested,
        RecordField::RequestedTime,
        RecordField::RequestedMemory,
        RecordField::Status,
        RecordField::User,
        RecordField::Group,
        RecordField::Executable,
        RecordField::Queue,
        RecordField::Partition,
        RecordField::Preceding,
        RecordField::ThinkTime,
    ];

    /// Its position in a record, from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// Its number in the standard, from 1.
    #[must_use]
    pub fn standard_number(self) -> usize {
        self.index() + 1
    }

    /// Returns the meaning of the field, in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        const NAMES: [&str; FIELDS] = [
            "job number",
            "submit time",
            "wait time",
            "run time",
            "allocated processors",
            "average CPU time",
            "used memory",
            "requested processors",
            "requested time",
            "requested memory",
            "status",
            "user",
            "group",
            "executable",
            "queue",
            "partition",
            "preceding job",
            "think time",
        ];
        NAMES[self.index()]
    }

    /// Returns whether it may have a fraction.
    #[must_use]
    pub fn is_decimal(self) -> bool {
        self.is_time() || matches!(self, RecordField::UsedMemory | RecordField::RequestedMemory)
    }

    /// Returns whether it is a time in seconds.
    #[must_use]
    pub fn is_time(self) -> bool {
        matches!(
            self,
            RecordField::Submit
                | RecordField::Wait
                | RecordField::Run
                | RecordField::CpuTime
                | RecordField::RequestedTime
                | RecordField::ThinkTime
        )
    }
}

impl fmt::Display for RecordField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field {} ({})", self.standard_number(), self.name())
    }
}
