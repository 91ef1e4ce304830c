//! Jobs and events of a recording.

use drystone_slurm::conf::PreemptMode;

/// A job, or a task of an array, as it was submitted, and what came of it.
#[derive(Clone, Debug, Default)]
pub struct GoldenJob {
    /// Slurm's number.
    pub slurm_id: u32,
    /// Nodes, where nodes have one processor; else processors.
    pub n: u32,
    /// Limit in minutes.
    pub limit: i64,
    /// Seconds that it runs.
    pub run: i64,
    /// Its partition; where it has started in one of several, that one.
    pub partition: String,
    /// The partitions in which it waits, in the order of its request.
    pub partitions: Vec<String>,
    /// Nodes that it must have, and nodes that it must not have.
    pub named: (Vec<String>, Vec<String>),
    pub user: String,
    /// Its account; empty where there are none.
    pub account: String,
    /// Its QOS; empty where there are none.
    pub qos: String,
    /// Submission, in seconds from the first.
    pub submit: i64,
    /// Its last start, in seconds from the first submission; -1 for none.
    pub start: i64,
    /// The array that it is a task of, by Slurm's number, and which.
    pub task: Option<(u32, u32)>,
    /// Tasks that may run at once.
    pub throttle: u32,
    /// True if it asks for one node; `None` if so where it fits on one.
    pub one: Option<bool>,
    /// Nodes that it asks for.
    pub nodes: Option<u32>,
    /// True if it asks for whole nodes.
    pub exclusive: bool,
    /// Subtracted from its priority.
    pub nice: i64,
    /// The place of its submission, which dependencies name.
    pub place: i64,
    /// Time of eligibility, in seconds from the first submission.
    pub eligible: Option<i64>,
    /// True if it ended well.
    pub completed: bool,
    /// Number of times that it was sent back.
    pub restarts: i64,
    /// Most nodes that it asks for.
    pub max_nodes: Option<u32>,
    /// Its tasks and processors of each, where the recording says so.
    pub tasks: Option<(u32, u32)>,
    /// Megabytes on each node, and for each processor.
    pub memory: (Option<u64>, Option<u64>),
    /// `--gres`, and GPUs in all, on each node, for each task, as written.
    pub gres: [String; 4],
    /// Processors and megabytes for each GPU.
    pub each_gpu: (u32, Option<u64>),
    /// Features, licences, reservation, dependencies, as written.
    pub constraint: String,
    /// Licences, as written.
    pub licences: String,
    pub reservation: String,
    /// Dependencies, as written.
    pub dependency: String,
}

/// Job that a line of the log is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineJob {
    /// A job or a task, by its place in [`Golden::jobs`](super::Golden::jobs).
    Job(u32),
    /// Tasks of an array that wait, by its number.
    Tasks(u32),
}

/// Event in slurmctld's log, in milliseconds from the first submission.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Happening {
    /// Submitted, with its priority.
    Submit(LineJob, i64),
    /// A pass of the main scheduler begins; whether it is a full one.
    MainPass(bool),
    /// The main scheduler starts a job on these nodes.
    MainStart(LineJob, Vec<String>),
    BackfillPass,
    /// It looks at a job of this priority, in this partition where the recording says so.
    Test(LineJob, i64, Option<String>),
    /// A job waits behind others in this partition.
    Behind(LineJob, String),
    /// Backfill starts a job on these nodes.
    BackfillStart(LineJob, Vec<String>),
    /// Backfill plans a job: begin, end, nodes.
    Plan(LineJob, i64, i64, Vec<String>),
    /// It has tried to plan a job, and tries again or leaves it.
    Tried,
    /// It lets go of the locks.
    Yield,
    /// It gives up because something has changed meanwhile.
    Abort,
    /// A backfill pass ends.
    Done,
    Complete(LineJob),
    /// A node is done with the epilog of a job, where the recording has that.
    Epilog(Option<u32>, String),
    /// A node has answered a message: when a job has just ended, that it is done with it.
    Answer(String),
    /// A job's priority was calculated.
    Priority(LineJob, i64),
    /// A job's priority, and the part of it that comes from its partition.
    Factors(LineJob, i64, Option<i64>),
    /// A job has to go in this way, for another; for none where its grace was over.
    Preempted(LineJob, Option<LineJob>, PreemptMode),
    /// A job has so many seconds before it has to go.
    Grace(LineJob, i64),
    /// A job has reached its limit.
    Timeout(LineJob),
    /// A job waits again.
    Requeued(LineJob),
    /// Allocation of a running job: its nodes with processors, megabytes and devices.
    Has(LineJob, Vec<GoldenShare>),
    /// A command of the recorder, and Slurm's answer.
    Action(String),
    /// Priorities are calculated.
    Calculation,
    /// The gang scheduler suspends a job, or lets it go on.
    Gang(LineJob, bool),
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GoldenShare {
    pub node: String,
    pub cpus: u32,
    /// Cores used among the first 64, as bits.
    pub cores: u64,
    /// Megabytes.
    pub memory: u64,
    /// Generic resources, as written.
    pub gres: String,
}
