//! An imported site: jobs, pools, capacity, and the account of how they came to be.

use crate::capacity::{NodeLoss, PoolLoss};
use crate::fleet::Fleet;
use crate::import::MeasuredWindow;
use crate::jobs::{self, JobMarks, LimitFrom, NOTHING, SiteJobFate};
use crate::machine::PoolUnit;
use crate::rows::{AccountingRow, AccountingTable, Interner, NONE, RowPart, Symbol};
use crate::rules::{Count, Example, ImportRule, RuleEffect, RuleTally};
use crate::text::{Amount, Flags, RecordState, UNKNOWN};
use drystone::model::NodeFill;
use drystone::policy::{PolicySpec, SpecError};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Reason why a site whose accounting has no submissions is not simulated and compared.
pub const NO_WAITS: &str = "its accounting does not say when jobs were submitted, and their starts stand for that: no wait is known, none that is \
     simulated would hold, and nothing is claimed of either. Import the accounting with the times of submission (sacct --format=…,Submit,Eligible,…)";

/// The version of the format of a site's folder.
pub const SCHEMA: &str = "drystone/site/2";

/// A file that was read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileRead {
    /// Its name, as it was given.
    pub name: String,
    /// Kind of the rule.
    pub kind: String,
    /// Rows or records of jobs in it.
    pub rows: u64,
}

/// A rule that applied.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RuleCount {
    /// Its short name.
    pub name: String,
    /// Effect of the rule.
    pub effect: RuleEffect,
    /// Meaning of the rule, in words.
    pub meaning: String,
    /// Rows of accounting that it applied to.
    pub rows: u64,
    /// Jobs that it applied to.
    pub jobs: u64,
    /// Processors times seconds that these record.
    pub core_seconds: u64,
    /// The first few.
    pub examples: Vec<Example>,
}

impl RuleCount {
    fn of((rule, count): (ImportRule, &Count)) -> RuleCount {
        let Count { rows, jobs, core_seconds, examples } = count.clone();
        let meaning = rule.meaning().to_string();
        RuleCount { name: rule.name().to_string(), effect: rule.effect(), meaning, rows, jobs, core_seconds, examples }
    }
}

/// A pool: nodes that no partition shares with another pool, and what is counted of them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PoolSummary {
    /// Names of its partitions.
    pub name: String,
    /// Unit.
    pub unit: PoolUnit,
    /// Number of units.
    pub units: u32,
    /// Processors of one, on average.
    pub cpus_per_unit: f64,
    /// Its nodes; 0 where none is known.
    pub nodes: u32,
    /// Their processors.
    pub cpus: u64,
    /// Their GPUs.
    pub gpus: u64,
    /// True if a description gives its size; otherwise it is the most that jobs used at once, which
    /// is a lower bound.
    pub described: bool,
    /// Its partitions.
    pub partitions: Vec<String>,
    /// Jobs.
    pub jobs: u64,
    /// Processors times seconds of those that ran.
    pub core_seconds: u64,
    /// The part of these that is whole nodes, in percent.
    pub whole_nodes: f64,
    /// The part of jobs that hold GPUs, in percent.
    pub with_gpus: f64,
    /// True if sizes of jobs are their dominant shares.
    #[serde(default)]
    pub dominant: bool,
    /// Number of jobs whose dominant share is of processors, where GPUs are counted.
    #[serde(default)]
    pub by_cpus: u64,
    /// Jobs whose dominant share is of memory.
    pub by_memory: u64,
    /// Number of jobs whose dominant share is of GPUs, where processors are counted.
    pub by_gpus: u64,
    /// Excess of dominant shares over the units that jobs hold, in percent of their units times
    /// seconds.
    pub inflated: f64,
    /// Moments looked at at which a job waited whose size fitted into what was free.
    pub packing_fits: u64,
    /// Those of them at which no set of nodes had room for it.
    pub packing_gaps: u64,
    /// Units times seconds that were out, in percent of all within the window.
    pub out: f64,
}

/// A partition.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PartitionSummary {
    /// Its name.
    pub name: String,
    /// Its pool.
    pub pool: Option<String>,
    /// Number of nodes.
    pub nodes: u32,
    /// Longest limit of its jobs, in seconds.
    pub max_limit: Option<u32>,
    /// Limit of its jobs without one, in seconds.
    pub default_limit: Option<u32>,
    /// Most nodes of a job; named, not simulated.
    pub max_nodes: Option<u32>,
    /// Its tier; named, and simulated by Slurm's own policy only.
    pub tier: u32,
    /// True if its jobs have their nodes for themselves.
    pub exclusive: bool,
}

/// A node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NodeSummary {
    /// Its name.
    pub name: String,
    /// Processors; 0 where unknown.
    pub cpus: u32,
    /// Memory in kilobytes; 0 where unknown.
    pub memory_kb: u64,
    /// GPUs.
    pub gpus: u32,
    /// Generic resources as Slurm writes them, `gpu:a100:4`; empty for none.
    pub gres: String,
    /// Its pool.
    pub pool: Option<String>,
    /// True if a description names it.
    pub described: bool,
}

/// Comments of a log in Standard Workload Format that a site was made of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LogComment {
    /// Records before it.
    pub after: u64,
    /// The line, each byte as the character of its number.
    pub line: String,
}

/// A named setting.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SiteSetting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// Manifest of a site: `site.json`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// The format's version.
    pub schema: String,
    /// Name of the cluster; empty where unknown.
    pub cluster: String,
    /// Time zone of the accounting; `UTC` where times were seconds.
    pub time_zone: String,
    /// Files read.
    pub files: Vec<FileRead>,
    /// Versions of Slurm that wrote it, where it says so.
    pub slurm_versions: Vec<String>,
    /// Columns that were there and not needed.
    pub ignored_columns: Vec<String>,
    /// Choices of the import.
    pub options: Vec<SiteSetting>,
    /// Rows of jobs that were read.
    pub rows: u64,
    /// Those that could not be used.
    pub bad_rows: u64,
    /// Jobs.
    pub jobs: u64,
    /// Distinct users.
    pub users: u64,
    /// The window.
    pub window: MeasuredWindow,
    /// Seconds that jobs may run beyond their limit.
    pub grace: u32,
    /// Sources of the machine.
    pub evidence: Vec<String>,
    /// Its pools, the largest first.
    pub pools: Vec<PoolSummary>,
    /// Its partitions.
    pub partitions: Vec<PartitionSummary>,
    /// Every rule that applied.
    pub rules: Vec<RuleCount>,
    /// Warnings for people.
    pub warnings: Vec<String>,
    /// True if a `slurm.conf` describes its nodes, so that it can be simulated on them.
    #[serde(default)]
    pub on_nodes: bool,
    /// True if names are keyed numbers.
    pub anonymous: bool,
    /// Of a log in Standard Workload Format: its comments.
    pub swf: Option<Vec<LogComment>>,
}

impl Manifest {
    /// Takes over an account.
    pub(crate) fn count(&mut self, tally: &RuleTally) {
        self.rules = tally.iter().map(RuleCount::of).collect();
        self.bad_rows = tally.bad_rows();
    }

    /// Returns whether the waits of nearly all jobs are known: of at most one in a hundred the
    /// submission is unknown. Where they are not, nothing holds that is said of waits, simulated
    /// ones included: arrivals that are starts have the recorded schedule in them.
    #[must_use]
    pub fn waits_known(&self) -> bool {
        self.rule(ImportRule::NoSubmit).is_none_or(|unknown| unknown.jobs * 100 <= self.jobs)
    }

    /// Returns the number of times that a rule applied.
    #[must_use]
    pub fn rule(&self, rule: ImportRule) -> Option<&RuleCount> {
        self.rules.iter().find(|count| count.name == rule.name())
    }
}

/// A job of a site, with everything that is known of it. Times are seconds since 1970.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteJob<'a> {
    /// Its place in the order of arrival, from 1.
    pub number: u64,
    /// The scheduler's number of it.
    pub id: Option<u64>,
    /// The number of its array, or of the heterogeneous job that it is a part of.
    pub of: Option<u64>,
    /// Its task in the array.
    pub task: Option<u32>,
    /// Its component.
    pub component: Option<u32>,
    /// Number of the attempt, from 1.
    pub attempt: u16,
    /// Its user.
    pub user: Cow<'a, str>,
    /// Its account.
    pub account: Cow<'a, str>,
    /// Its user's group.
    pub group: Cow<'a, str>,
    /// Its user's number.
    pub uid: Option<u32>,
    /// Its partition or queue.
    pub partition: Cow<'a, str>,
    /// Its quality of service.
    pub qos: Cow<'a, str>,
    /// Its reservation.
    pub reservation: Cow<'a, str>,
    /// Features that it asked for.
    pub constraints: Cow<'a, str>,
    /// Further demands, parted by blanks: `mem=4194304n` (kilobytes for each node), `mem=1024c`
    /// (for each processor), `gres/gpu:a100=4` and `license/sim=1` (in all).
    pub asks: Cow<'a, str>,
    /// Submit time.
    pub submit: i64,
    /// Time of eligibility.
    pub eligible: Option<i64>,
    /// Arrival time under the import's rule.
    pub arrive: i64,
    /// Start time.
    pub start: Option<i64>,
    /// Time at which it ended or left.
    pub end: Option<i64>,
    /// Seconds that it ran, without suspension.
    pub run: Option<u32>,
    /// Seconds that it was suspended.
    pub suspended: Option<u32>,
    /// Seconds that it would have run, of one that never did.
    pub imputed_run: Option<u32>,
    /// Its limit in seconds.
    pub limit: u32,
    /// Source of the limit.
    pub limit_from: LimitFrom,
    /// RecordState in the scheduler's word.
    pub state: Cow<'a, str>,
    /// Fate of the job.
    pub kind: SiteJobFate,
    /// Exit code and signal.
    pub exit: Option<(i16, i16)>,
    /// User who cancelled it.
    pub canceller: Cow<'a, str>,
    /// Last reason of its wait.
    pub reason: Cow<'a, str>,
    /// Scheduler that started it.
    pub flags: Flags,
    /// Processors.
    pub cpus: Option<u32>,
    /// Nodes.
    pub nodes: Option<u32>,
    /// GPUs.
    pub gpus: Option<u32>,
    /// Memory in kilobytes; `u64::MAX` is all of each node.
    pub memory_kb: Option<u64>,
    /// Processors that it asked for.
    pub asked_cpus: Option<u32>,
    /// Nodes that it asked for.
    pub asked_nodes: Option<u32>,
    /// Its pool, by number.
    pub pool: u16,
    /// Its size there.
    pub units: u32,
    /// The nodes that it ran on.
    pub node_list: Cow<'a, str>,
    /// Its priority.
    pub priority: Option<u32>,
    /// A number for its name; 0 where unknown.
    pub name: u32,
    /// Special properties.
    pub marks: JobMarks,
    /// The record of a log in Standard Workload Format, as it stood.
    pub swf: Cow<'a, str>,
}

impl SiteJob<'_> {
    /// The time that it holds its processors: from start to end, suspension included. `None` where
    /// it never ran or runs still.
    #[must_use]
    pub fn occupied(&self) -> Option<i64> {
        Some(self.end? - self.start?).filter(|_| self.kind == SiteJobFate::Ran)
    }

    /// The recorded wait, from arrival to start; `None` where it never started, and where its
    /// submission is unknown.
    #[must_use]
    pub fn wait(&self) -> Option<i64> {
        self.start.filter(|_| !self.marks.has(JobMarks::NO_SUBMIT)).map(|start| start - self.arrive)
    }

    /// Its name as Slurm writes it.
    #[must_use]
    pub fn display(&self) -> String {
        match (self.of, self.task, self.component, self.id) {
            (Some(of), Some(task), ..) => format!("{of}_{task}"),
            (Some(of), _, Some(component), _) => format!("{of}+{component}"),
            (.., Some(id)) => id.to_string(),
            _ => self.number.to_string(),
        }
    }
}

/// Storage of a site's jobs.
pub(crate) enum SiteJobs {
    /// As they were imported.
    Imported(Box<Imported>),
    /// As they were read from a folder.
    Loaded(Box<crate::format::LoadedJobs>),
}

/// Jobs that were just imported.
#[derive(Default)]
pub(crate) struct Imported {
    pub(crate) table: AccountingTable,
    pub(crate) jobs: Vec<jobs::FoundJob>,
    pub(crate) amounts: Interner<Amount>,
    /// Records of a log in Standard Workload Format.
    pub(crate) swf: Vec<String>,
}

/// An imported site.
pub struct Site {
    /// Manifest of the site.
    pub manifest: Manifest,
    /// Its nodes.
    pub nodes: Vec<NodeSummary>,
    /// Capacity that its pools lacked over time.
    pub losses: Vec<PoolLoss>,
    /// Missing capacity by nodes.
    pub(crate) node_losses: Vec<NodeLoss>,
    pub(crate) jobs: SiteJobs,
    /// The `slurm.conf` that describes it.
    pub(crate) slurm_conf: Option<String>,
    /// Its associations and QOS, as sacctmgr prints or takes them.
    pub(crate) accounts: Option<String>,
    /// The folder that it was read from.
    pub(crate) folder: Option<std::path::PathBuf>,
    /// True if processors of nodes are counted, and what jobs ask for beside these.
    pub(crate) on_nodes: bool,
    /// Choice of nodes where jobs are placed on them, not only counted.
    pub(crate) fill: Option<NodeFill>,
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

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").field("manifest", &self.manifest).field("jobs", &self.len()).finish_non_exhaustive()
    }
}

impl Site {
    /// Returns the number of jobs.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.jobs {
            SiteJobs::Imported(imported) => imported.jobs.len(),
            SiteJobs::Loaded(loaded) => loaded.len(),
        }
    }

    /// Returns whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The job at a place in the order of arrival, from 0.
    ///
    /// # Panics
    /// There is no such place.
    #[must_use]
    pub fn job(&self, at: usize) -> SiteJob<'_> {
        self.in_its_unit(match &self.jobs {
            SiteJobs::Imported(imported) => imported.job(at),
            SiteJobs::Loaded(loaded) => loaded.job(at),
        })
    }

    /// The job at a place, as [`Site::job`], all of whose texts are left empty: quick.
    pub(crate) fn bare_job(&self, at: usize) -> SiteJob<'_> {
        self.in_its_unit(match &self.jobs {
            SiteJobs::Imported(imported) => imported.without_texts(at),
            SiteJobs::Loaded(loaded) => loaded.without_texts(at),
        })
    }

    fn in_its_unit<'a>(&self, mut job: SiteJob<'a>) -> SiteJob<'a> {
        if self.on_nodes
            && let Some(pool) = self.manifest.pools.get(usize::from(job.pool))
        {
            job.units = job.cpus.unwrap_or(job.units).clamp(1, pool.units.max(1));
        }
        job
    }

    /// Numbers of the texts of a job.
    pub(crate) fn symbols(&self, at: usize) -> JobSymbols {
        match &self.jobs {
            SiteJobs::Imported(imported) => imported.symbols(at),
            SiteJobs::Loaded(loaded) => loaded.symbols(at),
        }
    }

    /// Places jobs on the nodes of a pool, for policies that have no nodes of their own; the site
    /// is to be taken as its nodes. Returns whether it is.
    pub fn place_jobs(&mut self, fill: NodeFill) -> bool {
        self.fill = self.on_nodes.then_some(fill);
        self.on_nodes
    }

    /// Takes the site as its nodes where a `slurm.conf` describes them: from now on its unit is the
    /// processor, a job's size is its processors, and what it asks for beside them is its demand.
    /// Returns whether it does. A job wider than its pool has all of it.
    pub fn take_nodes(&mut self) -> bool {
        if self.on_nodes || self.manifest.swf.is_some() || self.slurm_conf.is_none() {
            return self.on_nodes;
        }
        let pools = 0..u16::try_from(self.manifest.pools.len()).unwrap_or(u16::MAX);
        let procs: Vec<Option<u32>> = pools.map(|pool| Some(Fleet::of(self, pool)?.procs())).collect();
        if procs.is_empty() || procs.iter().any(Option::is_none) {
            return false;
        }
        for (number, (pool, procs)) in (0..).zip(self.manifest.pools.iter_mut().zip(procs.into_iter().flatten())) {
            let scale = if pool.unit == PoolUnit::Cpu { 1.0 } else { pool.cpus_per_unit };
            let mine = self.losses.iter_mut().filter(|loss| loss.pool == number);
            mine.for_each(|loss| loss.units = (f64::from(loss.units) * scale).round() as u32);
            (pool.unit, pool.units, pool.cpus_per_unit, pool.dominant) = (PoolUnit::Cpu, procs, 1.0, false);
        }
        self.on_nodes = true;
        true
    }

    /// Returns whether it is taken as its nodes.
    #[must_use]
    pub fn is_on_nodes(&self) -> bool {
        self.on_nodes
    }

    /// All jobs in the order of arrival.
    pub fn jobs(&self) -> impl ExactSizeIterator<Item = SiteJob<'_>> + Clone {
        (0..self.len()).map(|at| self.job(at))
    }

    /// A moment as people give it: a date or a time of the site's clock, or seconds since 1970.
    ///
    /// # Errors
    /// It is none of these; `option` is named.
    pub fn moment(&self, text: &str, option: &str) -> Result<i64, crate::SiteError> {
        let zone = crate::clock::Zone::named(&self.manifest.time_zone).ok();
        crate::import::edge(text, option, zone.as_ref())
    }

    /// The number of the pool of a name.
    #[must_use]
    pub fn pool(&self, name: &str) -> Option<u16> {
        self.manifest.pools.iter().position(|pool| pool.name == name).and_then(|at| u16::try_from(at).ok())
    }

    /// Texts in the text of a policy that are others for one pool: `slurm.conf` in the folder of
    /// the site becomes that of the pool.
    #[must_use]
    pub fn texts(&self, pool: u16, policy: &PolicySpec) -> Vec<(String, String)> {
        self.folder.as_deref().map(|folder| crate::format::texts(folder, pool, policy.text())).unwrap_or_default()
    }

    /// A policy as one pool has it.
    ///
    /// # Errors
    /// The pool's own files are none that the policy takes.
    pub fn policy(&self, pool: u16, policy: &PolicySpec) -> Result<PolicySpec, SpecError> {
        let texts = self.texts(pool, policy);
        if texts.is_empty() {
            return Ok(policy.clone());
        }
        texts.iter().fold(policy.text().to_string(), |text, (from, to)| text.replace(from.as_str(), to)).parse()
    }

    /// The `slurm.conf` that describes it, as one text.
    #[must_use]
    pub fn slurm_conf(&self) -> Option<&str> {
        self.slurm_conf.as_deref()
    }
}

impl Imported {
    /// The row of a job.
    pub(crate) fn row(&self, at: usize) -> &AccountingRow {
        self.table.rows.get(self.jobs[at].row)
    }

    fn symbols(&self, at: usize) -> JobSymbols {
        let row = self.row(at);
        let (who, place) = (self.table.who(row), self.table.at(row));
        JobSymbols {
            user: who.user,
            account: who.account,
            group: who.group,
            partition: place.partition,
            qos: place.qos,
            constraints: place.constraints,
            asks: place.asks,
        }
    }

    fn job(&self, at: usize) -> SiteJob<'_> {
        let table = &self.table;
        let row = self.row(at);
        let (who, place, note) = (table.who(row), table.at(row), table.note(row));
        let text = |symbol| table.names.text(symbol);
        SiteJob {
            user: text(who.user),
            account: text(who.account),
            group: text(who.group),
            partition: text(place.partition),
            qos: text(place.qos),
            reservation: text(place.reservation),
            constraints: text(place.constraints),
            asks: text(place.asks),
            state: if row.state == RecordState::Other { text(note.word) } else { Cow::Borrowed(row.state.word()) },
            canceller: text(note.canceller),
            reason: text(note.reason),
            node_list: table.node_lists.text(row.nodes),
            swf: self.swf.get(at).map_or(Cow::Borrowed(""), |record| Cow::Borrowed(record)),
            ..self.without_texts(at)
        }
    }

    /// A job, all of whose texts are left empty.
    #[inline]
    pub(crate) fn without_texts(&self, at: usize) -> SiteJob<'_> {
        let job = &self.jobs[at];
        let (table, row) = (&self.table, self.row(at));
        let note = table.note(row);
        let (amount, asked) = (self.amounts.get(job.amount), table.shape(row).asked);
        let time = |stamp: u32| (stamp > 0).then_some(i64::from(stamp));
        let span = |seconds: u32| (seconds != NOTHING).then_some(seconds);
        let known = |n: u32| (n != UNKNOWN).then_some(n);
        let part = row.part();
        let memory = |kb: u64| match kb {
            Amount::NO_MEMORY => None,
            Amount::ALL_MEMORY => Some(u64::MAX),
            kb => Some(kb),
        };
        let none = Cow::Borrowed("");
        SiteJob {
            number: at as u64 + 1,
            id: (row.id != NONE && !matches!(part, RowPart::Tasks(_))).then_some(row.id),
            of: (row.of != NONE).then_some(row.of),
            task: (job.task != NOTHING).then_some(job.task),
            component: if let RowPart::Component(offset) = part { Some(offset) } else { None },
            attempt: job.attempt,
            user: none.clone(),
            account: none.clone(),
            group: none.clone(),
            uid: known(table.who(row).uid),
            partition: none.clone(),
            qos: none.clone(),
            reservation: none.clone(),
            constraints: none.clone(),
            asks: none.clone(),
            submit: i64::from(job.submit),
            eligible: time(job.eligible),
            arrive: i64::from(job.arrive),
            start: time(job.start),
            end: time(job.end),
            run: span(job.run).filter(|_| job.kind.started()),
            suspended: span(row.suspended),
            imputed_run: span(job.run).filter(|_| !job.kind.started()),
            limit: job.limit,
            limit_from: job.limit_from,
            state: none.clone(),
            kind: job.kind,
            exit: note.exit,
            canceller: none.clone(),
            reason: none.clone(),
            flags: note.flags,
            cpus: known(amount.cpus),
            nodes: known(amount.nodes),
            gpus: known(amount.gpus),
            memory_kb: memory(amount.memory_kb),
            asked_cpus: known(asked.cpus),
            asked_nodes: known(asked.nodes),
            pool: job.pool,
            units: job.units,
            node_list: none.clone(),
            priority: known(row.priority),
            name: row.name,
            marks: job.marks,
            swf: none,
        }
    }
}
