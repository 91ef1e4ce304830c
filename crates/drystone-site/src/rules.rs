//! Account of rows and jobs, rule by rule: nothing is dropped, guessed or changed without a name
//! and a count.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleEffect {
    /// Rows that are no jobs of their own, by their nature.
    Ignored,
    /// Rows that cannot be used, and jobs lost with them.
    Bad,
    /// Jobs left out.
    Dropped,
    /// Rows or jobs made one.
    Merged,
    /// Values changed.
    Changed,
    /// Values that stand for unknown ones.
    Imputed,
    /// Jobs that are special; each carries a mark.
    Marked,
    /// Worth knowing; nothing was changed.
    Noted,
}

impl fmt::Display for RuleEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RuleEffect::Ignored => "ignored",
            RuleEffect::Bad => "bad",
            RuleEffect::Dropped => "dropped",
            RuleEffect::Merged => "merged",
            RuleEffect::Changed => "changed",
            RuleEffect::Imputed => "imputed",
            RuleEffect::Marked => "marked",
            RuleEffect::Noted => "noted",
        })
    }
}

macro_rules! rules {
    ($($variant:ident = $name:literal, $effect:ident, $meaning:literal;)*) => {
        /// A rule by name. [`ImportRule::meaning`] says what each does; `docs/accounting.md` says
        /// why.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(missing_docs)] // `ImportRule::meaning` says what each is.
        pub enum ImportRule { $($variant,)* }

        impl ImportRule {
            /// Every rule, in the order in which they apply.
            pub const ALL: &'static [ImportRule] = &[$(ImportRule::$variant,)*];

            pub fn name(self) -> &'static str {
                match self { $(ImportRule::$variant => $name,)* }
            }

            pub fn effect(self) -> RuleEffect {
                match self { $(ImportRule::$variant => RuleEffect::$effect,)* }
            }

            pub fn meaning(self) -> &'static str {
                match self { $(ImportRule::$variant => $meaning,)* }
            }
        }
    };
}

rules! {
    Step = "step", Ignored, "steps of jobs";
    Header = "header", Ignored, "header lines within a file, as concatenated files have them";
    Message = "message", Ignored, "messages of a program among its output: errors and warnings";
    Record = "record", Ignored, "records of accounting that are about no job";
    Event = "event", Ignored, "records of what happened to a job before it ended: queued, started, changed, deleted";
    Parent = "array-parent", Ignored, "records of a whole array beside those of its tasks";
    Columns = "columns", Bad, "another number of columns than the header has";
    Cut = "cut", Bad, "the last row of a file ends in its middle";
    Zeros = "zeros", Bad, "zero bytes within the row, as a crash or a full disk leaves them";
    JobId = "job-id", Bad, "no job number that can be read";
    Time = "time", Bad, "a time that cannot be read, or lies before 1970 or after 2106";
    NoTimes = "no-times", Bad, "no time of submission, nor of eligibility or start";
    NoStart = "no-start", Bad, "ended with nodes or run time, but without a start";
    NoEnd = "no-end", Bad, "ended, but neither its end nor its run time is known";
    TimeOrder = "time-order", Bad, "ended before its start, or started before it was eligible or submitted";
    OnlySteps = "only-steps", Bad, "steps of a job whose own row is missing";
    NoSize = "no-size", Bad, "neither processors nor nodes are known";
    Unsized = "unsized", Dropped, "left while it was queued, or still waits, and no record says how large it is";
    Shape = "shape", Bad, "a record of another shape than expected";
    Joined = "joined", Changed, "delimiters within the last column, which is free text";
    Continued = "continued", Changed, "line ends within the last column, which is free text";
    Realigned = "realigned", Changed, "delimiters within a column of text: the other columns tell where it ends";
    Field = "field", Changed, "a value that cannot be read was left out";
    Numbered = "numbered", Imputed, "no column says the job's number: rows are numbered, each a job of its own";
    NoSubmit = "no-submit", Imputed, "submission unknown: the start stands for it, so nothing is known of the wait";
    Waited = "waited", Imputed, "start, submission or departure unknown: the wait says it";
    SubmitEligible = "submit-eligible", Imputed, "submission unknown: the time at which it became eligible stands for it";
    SubmitLate = "submit-late", Changed, "submitted after it was eligible: the earlier time counts";
    Twice = "twice", Changed, "a local time of the hour that comes twice: settled by run time, by the order of numbers, else the first";
    Skipped = "skipped", Changed, "a local time of the hour that is missing: shifted forward";
    MemoryFlag = "memory-flag", Changed, "the flag `for each processor` leaked into the number of megabytes and was taken off";
    OtherCluster = "other-cluster", Dropped, "rows of another cluster than the one asked for";
    Dup = "dup", Merged, "the same job in several rows: the terminal, later one counts";
    SameId = "same-id", Noted, "the same number, submission and start as another job, but another end, size or place: a job of its own";
    Revoked = "revoked", Dropped, "revoked: a sibling of the federation started on another cluster instead";
    Array = "array", Changed, "a row that stands for several tasks became as many jobs";
    ArrayCut = "array-cut", Dropped, "tasks that a row stood for, but whose list was cut: how many is unknown";
    Het = "het", Merged, "components of a heterogeneous job became one job";
    HetSplit = "het-split", Marked, "components of a heterogeneous job in different pools stay apart";
    Requeue = "requeue", Marked, "a later attempt of a job that was requeued is a job of its own";
    RequeueMerged = "requeue-merged", Merged, "attempts that preemption ended were made one: first submission, run time of the last";
    ReusedId = "reused-id", Noted, "a number that an earlier, finished job also had";
    Resize = "resize", Merged, "a job that changed its size: the first size with as many core-seconds";
    Runaway = "runaway", Bad, "runs long past its limit while its nodes were given to others: a record never closed";
    Overdue = "overdue", Imputed, "runs by its record a day or more beyond its limit: the record was never closed, and the job counts as ended at its limit";
    State = "state", Noted, "a state that is none of the known: the times tell what became of the job";
    Withdraw = "withdraw", Marked, "never ran: it waits, and leaves at the time recorded unless a policy starts it first";
    WithdrawDropped = "withdraw-dropped", Dropped, "never ran, and left out as asked for";
    Pending = "pending", Marked, "still waits at the end of the records: its wait is at least so long";
    Running = "running", Marked, "still runs at the end of the records: its run time is at least so long";
    ImputedRun = "imputed-run", Imputed, "run time of a job that never ran: its limit times the median share of the limit that its user's jobs run";
    Arrive = "arrive", Noted, "eligible later than submitted: the wait counts from eligibility, the submission is kept";
    NoEligible = "no-eligible", Imputed, "eligibility unknown: the submission stands for it";
    NeverEligible = "never-eligible", Marked, "never became eligible by its record: it was held, or waited for another job, and never stood in the queue";
    Held = "held", Marked, "never ran, and a hold is the last reason recorded: when it began is not recorded, and the job counts as held until it left";
    HoldOver = "hold-over", Marked, "ran, and a hold is the last reason recorded beside Priority and Resources: when it ended is not recorded, and the job arrives when it was eligible";
    LimitPartition = "limit-partition", Imputed, "the partition's limit stands for the job's";
    LimitUnlimited = "limit-unlimited", Imputed, "no limit: the partition's longest, else 365 days, as backfill plans with";
    LimitUnknown = "limit-unknown", Imputed, "limit unknown: the partition's, else the longest that is known, else 365 days; never the run time";
    Derived = "derived", Imputed, "start or end unknown: the other and the run time say it";
    Skewed = "skewed", Noted, "its end less its start is not its run time, which counts: a wrong clock, zone or column";
    NodesDiffer = "nodes-differ", Noted, "its list of nodes has another number of nodes than it says, or more than it has processors";
    Over = "over", Marked, "ran longer than its limit and keeps its run time";
    Zero = "zero", Noted, "ran for less than a second";
    Suspended = "suspended", Marked, "was suspended: it holds its processors from start to end, and its limit is longer by as much";
    Granted = "granted", Noted, "holds more processors than it asked for";
    SizeNodes = "size-nodes", Imputed, "no processors are known: those of its nodes";
    PartitionList = "partition-list", Changed, "waits for several partitions: the first counts where no slurm.conf describes the nodes";
    Throttle = "throttle", Changed, "an array runs few tasks at once: the others arrive when one of these ends";
    Cause = "cause", Marked, "waited, by the last reason recorded, for more than a place on the machine: a dependency, a hold, a limit, licences";
    Reserved = "reserved", Marked, "ran within a reservation: starts when it did";
    Wide = "wide", Dropped, "needs more than its pool ever had";
    NoPool = "no-pool", Dropped, "its partition has no node";
    NewNode = "new-node", Noted, "ran on a node that the configuration lacks: the node was added while it was seen";
    Outside = "outside", Dropped, "over before the window, or arrived after it";
}

impl fmt::Display for ImportRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl ImportRule {
    pub fn find_rule(name: &str) -> Option<ImportRule> {
        ImportRule::ALL.iter().copied().find(|rule| rule.name() == name)
    }
}

/// A row that a rule applied to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Example {
    /// File and line, or file and place within it.
    pub place: String,
    pub text: String,
}

/// Number of times that a rule applied.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Rows of accounting.
    pub rows: u64,
    pub jobs: u64,
    /// Processors times seconds that these rows or jobs record.
    pub core_seconds: u64,
    /// The first few.
    pub examples: Vec<Example>,
}

/// Examples that are kept of each rule.
const EXAMPLES: usize = 3;
/// Longer texts are cut.
const LONGEST: usize = 160;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleTally {
    counts: Vec<Count>,
}

impl Default for RuleTally {
    fn default() -> RuleTally {
        RuleTally { counts: vec![Count::default(); ImportRule::ALL.len()] }
    }
}

impl RuleTally {
    /// Returns the number of times that a rule applied.
    pub fn get(&self, rule: ImportRule) -> &Count {
        &self.counts[rule as usize]
    }

    /// Every rule that applied.
    pub fn iter(&self) -> impl Iterator<Item = (ImportRule, &Count)> {
        let has_applied = |c: &Count| c.rows > 0 || c.jobs > 0;
        ImportRule::ALL.iter().copied().zip(&self.counts).filter(move |(_, count)| has_applied(count))
    }

    /// Rows that cannot be used.
    pub fn bad_rows(&self) -> u64 {
        self.iter().filter(|(rule, _)| rule.effect() == RuleEffect::Bad).map(|(_, count)| count.rows).sum()
    }

    /// Counts a row. The example is made only where it is kept.
    pub(crate) fn count_row(&mut self, rule: ImportRule, core_seconds: u64, example: impl FnOnce() -> Example) {
        let count = &mut self.counts[rule as usize];
        count.rows += 1;
        count.core_seconds = count.core_seconds.saturating_add(core_seconds);
        if count.examples.len() < EXAMPLES {
            count.examples.push(example());
        }
    }

    pub(crate) fn count_job(&mut self, rule: ImportRule, core_seconds: u64, example: impl FnOnce() -> Example) {
        self.count_jobs(rule, 1, core_seconds, example);
    }

    /// Counts several jobs of one row.
    pub(crate) fn count_jobs(
        &mut self,
        rule: ImportRule,
        jobs: u64,
        core_seconds: u64,
        example: impl FnOnce() -> Example,
    ) {
        let count = &mut self.counts[rule as usize];
        count.jobs += jobs;
        count.core_seconds = count.core_seconds.saturating_add(core_seconds);
        if count.examples.len() < EXAMPLES && jobs > 0 {
            count.examples.push(example());
        }
    }

    /// Adds what was counted of rows that come behind those counted here.
    pub(crate) fn absorb_tally(&mut self, tally: RuleTally) {
        for (count, more) in self.counts.iter_mut().zip(tally.counts) {
            count.rows += more.rows;
            count.jobs += more.jobs;
            count.core_seconds = count.core_seconds.saturating_add(more.core_seconds);
            let room = EXAMPLES - count.examples.len();
            count.examples.extend(more.examples.into_iter().take(room));
        }
    }

    /// Adds work to a rule whose jobs are counted already.
    pub(crate) fn add_work(&mut self, rule: ImportRule, core_seconds: u64) {
        let count = &mut self.counts[rule as usize];
        count.core_seconds = count.core_seconds.saturating_add(core_seconds);
    }

    /// Counts rows whose jobs are counted already.
    pub(crate) fn count_rows(&mut self, rule: ImportRule, rows: u64) {
        self.counts[rule as usize].rows += rows;
    }
}

impl Example {
    /// Of raw bytes, cut and made fit to be read.
    pub(crate) fn new(place: String, bytes: &[u8]) -> Example {
        let cut = &bytes[..bytes.len().min(LONGEST)];
        let mut text: String =
            String::from_utf8_lossy(cut).chars().map(|c| if c.is_control() { '\u{b7}' } else { c }).collect();
        if cut.len() < bytes.len() {
            text.push('\u{2026}');
        }
        Example { place, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_short_and_unlike() {
        let names: BTreeSet<&str> = ImportRule::ALL.iter().map(|rule| rule.name()).collect();
        assert_eq!(names.len(), ImportRule::ALL.len());
        for rule in ImportRule::ALL {
            assert_eq!(ImportRule::find_rule(rule.name()), Some(*rule));
            assert!(rule.name().len() <= 16, "{rule}");
        }
    }

    #[test]
    fn a_tally_keeps_the_first_examples() {
        let mut tally = RuleTally::default();
        for line in 1..=5 {
            tally.count_row(ImportRule::Columns, 10, || Example::new(format!("jobs.psv:{line}"), b"a\tb"));
        }
        let count = tally.get(ImportRule::Columns);
        assert_eq!((count.rows, count.core_seconds, count.examples.len()), (5, 50, 3));
        assert_eq!(count.examples[0], Example { place: "jobs.psv:1".into(), text: "a\u{b7}b".into() });
        assert_eq!((tally.iter().count(), tally.bad_rows()), (1, 5));
    }
}
