//! Jobs of a site that was read from its folder, in little memory.

use super::columns::{COLUMNS, column_place, flags_from, limit_from, parse_kind, parse_marks};
use crate::jobs::{JobMarks, LimitFrom, NOTHING, SiteJobFate};
use crate::rows::{Symbol, Symbols};
use crate::site_job::{JobSymbols, SiteJob};
use crate::text::{Flags, UNKNOWN};
use ::parquet::data_type::ByteArray;
use std::borrow::Cow;

#[derive(Default)]
pub(crate) struct LoadedJobs {
    names: Symbols,
    node_lists: Symbols,
    /// Records of a log in Standard Workload Format.
    swf: Vec<String>,
    jobs: Vec<LoadedJob>,
}

/// A job. Times are seconds since 1970, 0 for none.
#[derive(Clone, Copy)]
struct LoadedJob {
    id: u64,
    of: u64,
    task: u32,
    component: u32,
    user: Symbol,
    account: Symbol,
    group: Symbol,
    partition: Symbol,
    qos: Symbol,
    reservation: Symbol,
    constraints: Symbol,
    asks: Symbol,
    state: Symbol,
    canceller: Symbol,
    reason: Symbol,
    node_list: Symbol,
    uid: u32,
    submit: u32,
    eligible: u32,
    arrive: u32,
    start: u32,
    end: u32,
    run: u32,
    suspended: u32,
    imputed_run: u32,
    limit: u32,
    exit: Option<(i16, i16)>,
    cpus: u32,
    nodes: u32,
    gpus: u32,
    memory_kb: Option<u64>,
    asked_cpus: u32,
    asked_nodes: u32,
    units: u32,
    priority: u32,
    name: u32,
    used_cpu_ms: Option<u64>,
    used_memory_kb: Option<u64>,
    used_gpu_hundredths: Option<u32>,
    marks: JobMarks,
    attempt: u16,
    pool: u16,
    kind: SiteJobFate,
    limit_from: LimitFrom,
    flags: Flags,
}

/// One row of a group.
struct RowCells<'a> {
    cells: &'a [GroupCells],
    row: usize,
}

impl RowCells<'_> {
    fn number_cell(&self, name: &str) -> Option<i64> {
        match self.cells.get(column_place(name)) {
            Some(GroupCells::Numbers(values)) => values[self.row],
            _ => None,
        }
    }

    fn small_number(&self, name: &str, fallback: u32) -> u32 {
        self.number_cell(name).and_then(|n| u32::try_from(n).ok()).unwrap_or(fallback)
    }

    fn text_bytes(&self, name: &str) -> &[u8] {
        match self.cells.get(column_place(name)) {
            Some(GroupCells::Texts(values)) => values[self.row].as_ref().map_or(b"", |text| text.data()),
            _ => b"",
        }
    }

    fn text_cell(&self, name: &str) -> Cow<'_, str> {
        String::from_utf8_lossy(self.text_bytes(name))
    }
}

impl LoadedJobs {
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Takes a group of rows; `pools` are the names of pools in their order.
    ///
    /// # Errors
    /// Description of a row's mistake.
    pub(super) fn take_group(&mut self, cells: &[GroupCells], rows: usize, pools: &[String]) -> Result<(), String> {
        debug_assert_eq!(cells.len(), COLUMNS.len());
        self.jobs.reserve(rows);
        for row in 0..rows {
            let cells = RowCells { cells, row };
            let job =
                self.convert_row(&cells, pools).map_err(|problem| format!("job {}: {problem}", self.jobs.len() + 1))?;
            self.jobs.push(job);
        }
        Ok(())
    }

    fn convert_row(&mut self, cells: &RowCells<'_>, pools: &[String]) -> Result<LoadedJob, String> {
        let names = &mut self.names;
        let mut name = |column: &str| names.intern(cells.text_bytes(column));
        let wrong = |column: &str| format!("{column} cannot be `{}`", cells.text_cell(column));
        let pool = pools.iter().position(|pool| pool.as_bytes() == cells.text_bytes("pool"));
        let exit = cells.number_cell("exit_code").and_then(|n| i16::try_from(n).ok());
        let signal = cells.number_cell("exit_signal").and_then(|n| i16::try_from(n).ok());
        let required_number = |column: &str| {
            cells.number_cell(column).and_then(|n| u32::try_from(n).ok()).ok_or_else(|| format!("{column} is missing"))
        };
        let job = LoadedJob {
            id: cells.number_cell("id").and_then(|n| u64::try_from(n).ok()).unwrap_or(u64::MAX),
            of: cells.number_cell("of").and_then(|n| u64::try_from(n).ok()).unwrap_or(u64::MAX),
            task: cells.small_number("task", NOTHING),
            component: cells.small_number("component", NOTHING),
            user: name("user"),
            account: name("account"),
            group: name("group"),
            partition: name("partition"),
            qos: name("qos"),
            reservation: name("reservation"),
            constraints: name("constraints"),
            asks: name("asks"),
            state: name("state"),
            canceller: name("canceller"),
            reason: name("reason"),
            node_list: self.node_lists.intern(cells.text_bytes("node_list")),
            uid: cells.small_number("uid", UNKNOWN),
            submit: required_number("submit")?,
            eligible: cells.small_number("eligible", 0),
            arrive: required_number("arrive")?,
            start: cells.small_number("start", 0),
            end: cells.small_number("end", 0),
            run: cells.small_number("run", NOTHING),
            suspended: cells.small_number("suspended", NOTHING),
            imputed_run: cells.small_number("imputed_run", NOTHING),
            limit: required_number("limit")?,
            exit: exit.map(|code| (code, signal.unwrap_or(0))),
            cpus: cells.small_number("cpus", UNKNOWN),
            nodes: cells.small_number("nodes", UNKNOWN),
            gpus: cells.small_number("gpus", UNKNOWN),
            memory_kb: cells.number_cell("memory_kb").map(|kb| u64::try_from(kb).unwrap_or(u64::MAX)),
            asked_cpus: cells.small_number("asked_cpus", UNKNOWN),
            asked_nodes: cells.small_number("asked_nodes", UNKNOWN),
            units: required_number("units")?.max(1),
            priority: cells.small_number("priority", UNKNOWN),
            name: cells.small_number("name", 0),
            used_cpu_ms: cells.number_cell("used_cpu_ms").and_then(|n| u64::try_from(n).ok()),
            used_memory_kb: cells.number_cell("used_memory_kb").and_then(|n| u64::try_from(n).ok()),
            used_gpu_hundredths: cells.number_cell("used_gpu_hundredths").and_then(|n| u32::try_from(n).ok()),
            marks: parse_marks(&cells.text_cell("marks")),
            attempt: cells.number_cell("attempt").and_then(|n| u16::try_from(n).ok()).unwrap_or(1),
            pool: pool.and_then(|at| u16::try_from(at).ok()).ok_or_else(|| wrong("pool"))?,
            kind: parse_kind(&cells.text_cell("kind")).ok_or_else(|| wrong("kind"))?,
            limit_from: limit_from(&cells.text_cell("limit_from")).ok_or_else(|| wrong("limit_from"))?,
            flags: flags_from(cells.number_cell("flags").unwrap_or(0)),
        };
        let record = cells.text_cell("swf");
        if !record.is_empty() {
            self.swf.push(record.into_owned());
        }
        Ok(job)
    }

    pub(crate) fn job_symbols(&self, at: usize) -> JobSymbols {
        let LoadedJob { user, account, group, partition, qos, constraints, asks, .. } = self.jobs[at];
        JobSymbols { user, account, group, partition, qos, constraints, asks }
    }

    /// The job at a place, from 0.
    pub(crate) fn job_at(&self, at: usize) -> SiteJob<'_> {
        let job = &self.jobs[at];
        let text = |symbol| self.names.text_of(symbol);
        SiteJob {
            user: text(job.user),
            account: text(job.account),
            group: text(job.group),
            partition: text(job.partition),
            qos: text(job.qos),
            reservation: text(job.reservation),
            constraints: text(job.constraints),
            asks: text(job.asks),
            state: text(job.state),
            canceller: text(job.canceller),
            reason: text(job.reason),
            node_list: self.node_lists.text_of(job.node_list),
            swf: self.swf.get(at).map_or(Cow::Borrowed(""), |record| Cow::Borrowed(record)),
            ..self.without_texts(at)
        }
    }

    /// The job at a place, all of whose texts are left empty.
    pub(crate) fn without_texts(&self, at: usize) -> SiteJob<'_> {
        let job = &self.jobs[at];
        let no_text = Cow::Borrowed("");
        let time = |stamp: u32| (stamp > 0).then_some(i64::from(stamp));
        let span = |seconds: u32| (seconds != NOTHING).then_some(seconds);
        let big = |n: u64| (n != u64::MAX).then_some(n);
        SiteJob {
            number: at as u64 + 1,
            id: big(job.id),
            of: big(job.of),
            task: span(job.task),
            component: span(job.component),
            attempt: job.attempt,
            user: no_text.clone(),
            account: no_text.clone(),
            group: no_text.clone(),
            uid: span(job.uid),
            partition: no_text.clone(),
            qos: no_text.clone(),
            reservation: no_text.clone(),
            constraints: no_text.clone(),
            asks: no_text.clone(),
            submit: i64::from(job.submit),
            eligible: time(job.eligible),
            arrive: i64::from(job.arrive),
            start: time(job.start),
            end: time(job.end),
            run: span(job.run),
            suspended: span(job.suspended),
            imputed_run: span(job.imputed_run),
            limit: job.limit,
            limit_from: job.limit_from,
            state: no_text.clone(),
            kind: job.kind,
            exit: job.exit,
            canceller: no_text.clone(),
            reason: no_text.clone(),
            flags: job.flags,
            cpus: span(job.cpus),
            nodes: span(job.nodes),
            gpus: span(job.gpus),
            memory_kb: job.memory_kb,
            asked_cpus: span(job.asked_cpus),
            asked_nodes: span(job.asked_nodes),
            pool: job.pool,
            units: job.units,
            node_list: no_text.clone(),
            priority: span(job.priority),
            name: job.name,
            used_cpu_ms: job.used_cpu_ms,
            used_memory_kb: job.used_memory_kb,
            used_gpu_hundredths: job.used_gpu_hundredths,
            marks: job.marks,
            swf: no_text,
        }
    }
}

/// A column of one group as it is read: `None` where a job has nothing.
pub(super) enum GroupCells {
    Numbers(Vec<Option<i64>>),
    Texts(Vec<Option<ByteArray>>),
}
