//! An imported site: jobs, pools, capacity, and the account of how they came to be.

use crate::capacity::{NodeLoss, PoolLoss};
use crate::jobs::{self, NOTHING};
use crate::manifest::{Manifest, NodeSummary};
use crate::rows::{AccountingRow, AccountingTable, Interner, NONE, RowPart};
use crate::site_job::{JobSymbols, SiteJob};
use crate::text::{Amount, RecordState, UNKNOWN};
use drystone::model::NodeFill;
use std::borrow::Cow;

/// Reason why a site whose accounting has no submissions is not simulated and compared.
pub const NO_WAITS: &str = "its accounting does not say when jobs were submitted, and their starts stand for that: no wait is known, none that is \
     simulated would hold, and nothing is claimed of either. Import the accounting with the times of submission (sacct --format=…,Submit,Eligible,…)";

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

pub struct Site {
    pub manifest: Manifest,
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
    /// True if jobs share the limits of QOS, accounts and users.
    pub(crate) keeps_limits: bool,
    /// True if processors of nodes are counted, and what jobs ask for beside these.
    pub(crate) on_nodes: bool,
    /// Choice of nodes where jobs are placed on them, not only counted.
    pub(crate) fill: Option<NodeFill>,
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").field("manifest", &self.manifest).field("jobs", &self.len()).finish_non_exhaustive()
    }
}

impl Site {
    /// Returns the number of jobs.
    pub fn len(&self) -> usize {
        match &self.jobs {
            SiteJobs::Imported(import) => import.jobs.len(),
            SiteJobs::Loaded(store) => store.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The job at a place in the order of arrival, from 0.
    ///
    /// # Panics
    /// There is no such place.
    pub fn job_at(&self, at: usize) -> SiteJob<'_> {
        self.in_its_unit(match &self.jobs {
            SiteJobs::Imported(import) => import.job_at(at),
            SiteJobs::Loaded(store) => store.job_at(at),
        })
    }

    /// The job at a place, as [`Site::job_at`], all of whose texts are left empty: quick.
    pub(crate) fn bare_job(&self, at: usize) -> SiteJob<'_> {
        self.in_its_unit(match &self.jobs {
            SiteJobs::Imported(import) => import.without_texts(at),
            SiteJobs::Loaded(store) => store.without_texts(at),
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

    pub(crate) fn symbols_at(&self, at: usize) -> JobSymbols {
        match &self.jobs {
            SiteJobs::Imported(import) => import.symbols_at(at),
            SiteJobs::Loaded(store) => store.job_symbols(at),
        }
    }

    /// Places jobs on the nodes of a pool, for policies that have no nodes of their own; the site
    /// is to be taken as its nodes. Returns whether it is.
    pub fn place_jobs(&mut self, fill: NodeFill) -> bool {
        self.fill = self.on_nodes.then_some(fill);
        self.on_nodes
    }

    /// Lets jobs start whatever limits their users, accounts and QOS have.
    pub fn drop_limits(&mut self) {
        self.keeps_limits = false;
    }

    /// Returns whether it is taken as its nodes.
    pub fn is_on_nodes(&self) -> bool {
        self.on_nodes
    }

    /// All jobs in the order of arrival.
    pub fn jobs(&self) -> impl ExactSizeIterator<Item = SiteJob<'_>> + Clone {
        (0..self.len()).map(|at| self.job_at(at))
    }

    /// A moment as people give it: a date or a time of the site's clock, also as Slurm's commands
    /// take it, or seconds since 1970. `now` is the end of the records.
    ///
    /// # Errors
    /// It is none of these; `option` is named.
    pub fn parse_moment(&self, text: &str, option: &str) -> Result<i64, crate::SiteError> {
        let zone = crate::clock::Zone::from_name(&self.manifest.time_zone).ok();
        crate::edge::parse_edge(text, option, zone.as_ref(), Some(self.manifest.window.until))
    }

    pub fn find_pool(&self, name: &str) -> Option<u16> {
        self.manifest.pools.iter().position(|pool| pool.name == name).and_then(|at| u16::try_from(at).ok())
    }

    /// The `slurm.conf` that describes it, as one text.
    pub fn slurm_conf(&self) -> Option<&str> {
        self.slurm_conf.as_deref()
    }
}

impl Imported {
    pub(crate) fn row_at(&self, at: usize) -> &AccountingRow {
        self.table.rows.get(self.jobs[at].row)
    }

    fn symbols_at(&self, at: usize) -> JobSymbols {
        let row = self.row_at(at);
        let (owner, place) = (self.table.owner_of(row), self.table.place_of(row));
        JobSymbols {
            user: owner.user,
            account: owner.account,
            group: owner.group,
            partition: place.partition,
            qos: place.qos,
            constraints: place.constraints,
            asks: place.asks,
        }
    }

    fn job_at(&self, at: usize) -> SiteJob<'_> {
        let table = &self.table;
        let row = self.row_at(at);
        let (owner, place, note) = (table.owner_of(row), table.place_of(row), table.note_of(row));
        let text = |symbol| table.names.text_of(symbol);
        SiteJob {
            user: text(owner.user),
            account: text(owner.account),
            group: text(owner.group),
            partition: text(place.partition),
            qos: text(place.qos),
            reservation: text(place.reservation),
            constraints: text(place.constraints),
            asks: text(place.asks),
            state: if row.state == RecordState::Other { text(note.word) } else { Cow::Borrowed(row.state.word()) },
            canceller: text(note.canceller),
            reason: text(note.reason),
            node_list: table.node_lists.text_of(row.nodes),
            swf: self.swf.get(at).map_or(Cow::Borrowed(""), |record| Cow::Borrowed(record)),
            ..self.without_texts(at)
        }
    }

    #[inline]
    pub(crate) fn without_texts(&self, at: usize) -> SiteJob<'_> {
        let job = &self.jobs[at];
        let (table, row) = (&self.table, self.row_at(at));
        let (note, usage) = (table.note_of(row), table.usage_of(row));
        let (amount, demand) = (self.amounts.get(job.amount), table.shape_of(row).asked);
        let time = |stamp: u32| (stamp > 0).then_some(i64::from(stamp));
        let span = |seconds: u32| (seconds != NOTHING).then_some(seconds);
        let if_known = |n: u32| (n != UNKNOWN).then_some(n);
        let part = row.part();
        let memory = |kb: u64| match kb {
            Amount::NO_MEMORY => None,
            Amount::ALL_MEMORY => Some(u64::MAX),
            kb => Some(kb),
        };
        let empty_text = Cow::Borrowed("");
        SiteJob {
            number: at as u64 + 1,
            id: (row.id != NONE && !matches!(part, RowPart::Tasks(_))).then_some(row.id),
            of: (row.of != NONE).then_some(row.of),
            task: (job.task != NOTHING).then_some(job.task),
            component: if let RowPart::Component(offset) = part { Some(offset) } else { None },
            attempt: job.attempt,
            user: empty_text.clone(),
            account: empty_text.clone(),
            group: empty_text.clone(),
            uid: if_known(table.owner_of(row).uid),
            partition: empty_text.clone(),
            qos: empty_text.clone(),
            reservation: empty_text.clone(),
            constraints: empty_text.clone(),
            asks: empty_text.clone(),
            submit: i64::from(job.submit),
            eligible: time(job.eligible),
            arrive: i64::from(job.arrive),
            start: time(job.start),
            end: time(job.end),
            run: span(job.run).filter(|_| job.kind.has_start()),
            suspended: span(row.suspended),
            imputed_run: span(job.run).filter(|_| !job.kind.has_start()),
            limit: job.limit,
            limit_from: job.limit_from,
            state: empty_text.clone(),
            kind: job.kind,
            exit: note.exit,
            canceller: empty_text.clone(),
            reason: empty_text.clone(),
            flags: note.flags,
            cpus: if_known(amount.cpus),
            nodes: if_known(amount.nodes),
            gpus: if_known(amount.gpus),
            memory_kb: memory(amount.memory_kb),
            asked_cpus: if_known(demand.cpus),
            asked_nodes: if_known(demand.nodes),
            pool: job.pool,
            units: job.units,
            node_list: empty_text.clone(),
            priority: if_known(row.priority),
            name: row.name,
            used_cpu_ms: usage.cpu_ms(),
            used_memory_kb: usage.memory_kb(),
            used_gpu_hundredths: usage.gpu_hundredths(),
            marks: job.marks,
            swf: empty_text,
        }
    }
}
