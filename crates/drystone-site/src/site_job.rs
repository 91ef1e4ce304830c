//! One job of a site, and the numbers of its texts.

use crate::jobs::{JobMarks, LimitFrom, SiteJobFate};
use crate::rows::Symbol;
use crate::text::Flags;
use std::borrow::Cow;

/// A job of a site, with everything that is known of it. Times are seconds since 1970.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteJob<'a> {
    /// Its place in the order of arrival, from 1.
    pub number: u64,
    /// The scheduler's number of it.
    pub id: Option<u64>,
    /// The number of its array, or of the heterogeneous job that it is a part of.
    pub of: Option<u64>,
    pub task: Option<u32>,
    pub component: Option<u32>,
    /// Number of the attempt, from 1.
    pub attempt: u16,
    pub user: Cow<'a, str>,
    pub account: Cow<'a, str>,
    /// Its user's group.
    pub group: Cow<'a, str>,
    /// Its user's number.
    pub uid: Option<u32>,
    /// Its partition or queue.
    pub partition: Cow<'a, str>,
    /// Its quality of service.
    pub qos: Cow<'a, str>,
    pub reservation: Cow<'a, str>,
    /// Features that it asked for.
    pub constraints: Cow<'a, str>,
    /// Further demands, parted by blanks: `mem=4194304n` (kilobytes for each node), `mem=1024c`
    /// (for each processor), `gres/gpu:a100=4` and `license/sim=1` (in all); and
    /// `depends=afterok:3`, the jobs that it waits for.
    pub asks: Cow<'a, str>,
    pub submit: i64,
    /// Time of eligibility.
    pub eligible: Option<i64>,
    /// Arrival time under the import's rule.
    pub arrive: i64,
    pub start: Option<i64>,
    /// Time at which it ended or left.
    pub end: Option<i64>,
    /// Seconds that it held its processors, those of a suspension with it.
    pub run: Option<u32>,
    /// Seconds that it was suspended.
    pub suspended: Option<u32>,
    /// Seconds that it would have run, of one that never did.
    pub imputed_run: Option<u32>,
    /// Its limit in seconds, longer by what it was suspended.
    pub limit: u32,
    pub limit_from: LimitFrom,
    /// RecordState in the scheduler's word.
    pub state: Cow<'a, str>,
    pub kind: SiteJobFate,
    /// Exit code and signal.
    pub exit: Option<(i16, i16)>,
    /// User who cancelled it.
    pub canceller: Cow<'a, str>,
    /// Last reason of its wait.
    pub reason: Cow<'a, str>,
    /// Scheduler that started it.
    pub flags: Flags,
    pub cpus: Option<u32>,
    pub nodes: Option<u32>,
    pub gpus: Option<u32>,
    /// Memory in kilobytes; `u64::MAX` is all of each node.
    pub memory_kb: Option<u64>,
    pub asked_cpus: Option<u32>,
    pub asked_nodes: Option<u32>,
    /// Its pool, by number.
    pub pool: u16,
    /// Its size there.
    pub units: u32,
    /// The nodes that it ran on.
    pub node_list: Cow<'a, str>,
    pub priority: Option<u32>,
    /// A number for its name; 0 where unknown.
    pub name: u32,
    /// Milliseconds of processors that it used.
    pub used_cpu_ms: Option<u64>,
    /// Kilobytes of memory that its tasks used at their most.
    pub used_memory_kb: Option<u64>,
    /// Hundredths of a GPU that it used.
    pub used_gpu_hundredths: Option<u32>,
    /// Special properties.
    pub marks: JobMarks,
    /// The record of a log in Standard Workload Format, as it stood.
    pub swf: Cow<'a, str>,
}

impl SiteJob<'_> {
    /// The time that it holds its processors: from start to end, suspension included. `None` where
    /// it never ran or runs still.
    pub fn occupied_seconds(&self) -> Option<i64> {
        Some(self.end? - self.start?).filter(|_| self.kind == SiteJobFate::Ran)
    }

    /// The recorded wait, from arrival to start; `None` where it never started, and where its
    /// submission is unknown.
    pub fn wait(&self) -> Option<i64> {
        self.start.filter(|_| !self.marks.has_mark(JobMarks::NO_SUBMIT)).map(|start| start - self.arrive)
    }

    /// Its name as Slurm writes it.
    pub fn display_name(&self) -> String {
        match (self.of, self.task, self.component, self.id) {
            (Some(of), Some(task), ..) => format!("{of}_{task}"),
            (Some(of), _, Some(component), _) => format!("{of}+{component}"),
            (.., Some(id)) => id.to_string(),
            _ => self.number.to_string(),
        }
    }
}

/// Numbers of the texts of a job: within one site, texts with the same number are equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct JobSymbols {
    pub(crate) user: Symbol,
    pub(crate) account: Symbol,
    pub(crate) group: Symbol,
    pub(crate) partition: Symbol,
    pub(crate) qos: Symbol,
    pub(crate) constraints: Symbol,
    pub(crate) asks: Symbol,
}
