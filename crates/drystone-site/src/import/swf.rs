//! A log in Standard Workload Format as a site: every record as it stands.

use super::files::{self, FileOpener, Sorted};
use super::nothing_left;
use crate::error::SiteError;
use crate::jobs::{FoundJob, JobMarks, LimitFrom, NOTHING, SiteJobFate};
use crate::machine::PoolUnit;
use crate::manifest::MeasuredWindow;
use crate::manifest::{FileRead, LogComment, Manifest, PoolSummary, SCHEMA, SiteSetting};
use crate::options::ImportOptions;
use crate::readers::Carrier;
use crate::rows::{AccountingRow, AccountingTable, Interner, RowNote, RowShape, Where, Who};
use crate::rules::RuleTally;
use crate::site::{Imported, Site, SiteJobs};
use crate::text::{Amount, RecordLimit, RecordState, UNKNOWN};
use drystone::log::swf::{SwfHeader, SwfReader, SwfRecord};

/// The beginning of logs that do not say when they begin: the year 2000.
const SOMETIME: i64 = 946_684_800;
/// Seconds since 1970 from here on are moments of accounting: 1995.
const MODERN: i32 = 788_918_400;
/// Beginnings before this are no calendar.
const EARLIEST: i64 = 30 * 86_400;

pub(super) fn import_log(sources: Sorted, options: &ImportOptions, open: FileOpener<'_>) -> Result<Site, SiteError> {
    let mut files = sources.jobs.into_iter();
    let (Some((file, _)), None) = (files.next(), files.next()) else {
        return Err(SiteError::Option("logs in Standard Workload Format are imported one at a time".to_string()));
    };
    if let Some((path, _)) = sources.machine.first() {
        return Err(SiteError::Option(format!(
            "{}: a log in Standard Workload Format has no nodes that a machine could be described by; its size is its header's MaxProcs",
            path.display()
        )));
    }
    let input = match file.opened {
        Some(stream) => stream,
        None => files::open_unpacked(&file.path, open)?,
    };
    let mut reader = SwfReader::new(input, file.name.as_str())?;
    let mut log = ImportedLog::default();
    while let Some(record) = reader.read_record()? {
        log.records.push(record);
    }
    let beyond = reader.describe_extra_data();
    let (header, _) = reader.into_header();
    let mut site = log.build_site(&header, &file.name, options)?;
    site.manifest.warnings.extend(beyond.map(|warning| format!("{}: {warning}", file.name)));
    Ok(site)
}

#[derive(Default)]
struct ImportedLog {
    records: Vec<SwfRecord>,
}

impl ImportedLog {
    fn build_site(self, header: &SwfHeader, name: &str, options: &ImportOptions) -> Result<Site, SiteError> {
        // Submissions of a log without a start that are moments of these days count from 1970.
        let first = self.records.iter().map(|record| record.submit.round()).min().unwrap_or(0);
        let unsaid = if first >= i64::from(MODERN) { 0 } else { SOMETIME };
        let base = header.unix_start().filter(|&start| start >= EARLIEST).unwrap_or(unsaid);
        let widest = self.records.iter().map(|r| r.requested.max(r.allocated)).max().unwrap_or(0);
        let stated_size = [header.max_procs(), header.max_nodes()].into_iter().flatten().find(|&n| n > 0);
        let units = u32::try_from(stated_size.unwrap_or(widest).max(1)).unwrap_or(u32::MAX);
        let mut order: Vec<usize> = (0..self.records.len()).collect();
        order.sort_by_key(|&at| self.records[at].submit.round());
        let mut imported_jobs = Imported::default();
        let mut amounts = Interner::default();
        for &at in &order {
            let record = &self.records[at];
            let job = convert_record(record, base, &mut imported_jobs.table, &mut amounts, at).ok_or_else(|| {
                SiteError::Option(format!("{name}:{}: a time beyond the years 1970 to 2106", record.line))
            })?;
            imported_jobs.jobs.push(job);
        }
        imported_jobs.amounts = amounts;
        if imported_jobs.jobs.is_empty() {
            return Err(nothing_left(0, &RuleTally::default(), &[Carrier::Swf].into()));
        }
        // The records in the order of the log, which is the order in which they are written again.
        let text = |record: &SwfRecord| record.values().map(|value| value.to_string()).join(" ");
        imported_jobs.swf = order.iter().map(|&at| format!("{at} {}", text(&self.records[at]))).collect();
        let mut window =
            MeasuredWindow::from_jobs(&imported_jobs.jobs, None, None, crate::sweep::Crew::for_effort(options.effort))?;
        // A log of the archive is whole.
        window.ended_only = false;
        window.bias.clear();
        (window.measure_from, window.measure_until) = (window.from, window.until);
        let manifest = self.make_manifest(header, name, options, &imported_jobs, units, window);
        Ok(Site {
            manifest,
            nodes: Vec::new(),
            losses: Vec::new(),
            jobs: SiteJobs::Imported(Box::new(imported_jobs)),
            slurm_conf: None,
            accounts: None,
            node_losses: Vec::new(),
            folder: None,
            keeps_limits: true,
            on_nodes: false,
            fill: None,
        })
    }

    fn make_manifest(
        &self,
        header: &SwfHeader,
        name: &str,
        options: &ImportOptions,
        import: &Imported,
        units: u32,
        window: MeasuredWindow,
    ) -> Manifest {
        let comment = |c: &drystone::log::swf::HeaderComment| LogComment {
            after: c.after,
            line: c.text.iter().map(|&b| char::from(b)).collect(),
        };
        let users: std::collections::BTreeSet<i64> = self.records.iter().map(|r| r.user).collect();
        let seconds = |job: &FoundJob| job.core_seconds(import.amounts.get(job.amount));
        let pool = PoolSummary {
            name: "all".to_string(),
            unit: PoolUnit::Cpu,
            units,
            cpus_per_unit: 1.0,
            cpus: u64::from(units),
            described: header.max_procs().is_some_and(|n| n > 0) || header.max_nodes().is_some_and(|n| n > 0),
            jobs: import.jobs.len() as u64,
            core_seconds: import.jobs.iter().map(seconds).sum(),
            ..PoolSummary::default()
        };
        let evidence = match pool.described {
            true => format!("{name}: the header's MaxProcs, else its MaxNodes"),
            false => format!("{name}: the widest job, since the header says no size"),
        };
        Manifest {
            schema: SCHEMA.to_string(),
            time_zone: header.time_zone().unwrap_or_else(|| "UTC".to_string()),
            files: vec![FileRead {
                name: name.to_string(),
                kind: Carrier::Swf.name().to_string(),
                rows: self.records.len() as u64,
            }],
            options: options.settings().into_iter().map(|s| SiteSetting { name: s.name, value: s.value }).collect(),
            rows: self.records.len() as u64,
            jobs: import.jobs.len() as u64,
            users: users.len() as u64,
            window,
            evidence: vec![evidence],
            pools: vec![pool],
            swf: Some(header.comments().iter().map(comment).collect()),
            ..Manifest::default()
        }
    }
}

/// A record as a job; `None` for times that cannot be.
fn convert_record(
    record: &SwfRecord,
    base: i64,
    table: &mut AccountingTable,
    amounts: &mut Interner<Amount>,
    at: usize,
) -> Option<FoundJob> {
    let stamp = |time: i64| u32::try_from(time).ok().filter(|&t| t > 0);
    let arrive = stamp(base.checked_add(record.submit.round())?)?;
    let (wait, run) = (record.wait.round(), record.run.round());
    let procs = [record.allocated, record.requested].into_iter().find(|&n| n > 0);
    let procs = procs.and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
    let ran = run >= 0 && procs > 0 && !(record.status == 5 && run <= 0);
    let start = if ran { stamp(i64::from(arrive) + wait.max(0)) } else { None };
    let end = match start {
        Some(start) => stamp(i64::from(start) + run),
        None if wait >= 0 => stamp(i64::from(arrive) + wait),
        None => None,
    };
    let limit = record.requested_time.round();
    let limit = u32::try_from(limit).ok().filter(|&l| l > 0);
    let amount = Amount { cpus: procs, nodes: UNKNOWN, gpus: UNKNOWN, memory_kb: Amount::NO_MEMORY };
    let mut row = AccountingRow::empty_row();
    let mut name =
        |value: i64| if value < 0 { crate::rows::Symbol(0) } else { table.names.intern(value.to_string().as_bytes()) };
    let owner =
        Who { user: name(record.user), account: crate::rows::Symbol(0), group: name(record.group), uid: u32::MAX };
    let place = Where { partition: name(record.partition), qos: name(record.queue), ..Where::default() };
    row.who = table.who.intern(owner);
    row.at = table.at.intern(place);
    row.shape = table.shapes.intern(RowShape { asked: amount, held: amount, exclusive: false });
    row.note = table.notes.intern(RowNote::default());
    row.id = u64::try_from(record.number).unwrap_or(crate::rows::NONE);
    row.name = u32::try_from(record.executable).unwrap_or(0);
    row.state = match record.status {
        1 => RecordState::Completed,
        0 => RecordState::Failed,
        5 => RecordState::Cancelled,
        _ => RecordState::Other,
    };
    row.set_limit(limit.map_or(RecordLimit::Unknown, RecordLimit::Seconds));
    row.line = u32::try_from(at + 1).unwrap_or(u32::MAX);
    let number = table.rows.len() as u32;
    table.rows.push(row);
    Some(FoundJob {
        row: number,
        task: NOTHING,
        submit: arrive,
        eligible: arrive,
        arrive,
        start: start.unwrap_or(0),
        end: end.unwrap_or(0),
        run: if ran { u32::try_from(run).ok()? } else { NOTHING },
        limit: limit.unwrap_or(365 * 86_400),
        units: procs.max(1),
        amount: amounts.intern(amount),
        marks: record_marks(limit.is_none(), ran && wait < 0),
        pool: 0,
        attempt: 1,
        kind: if ran { SiteJobFate::Ran } else { SiteJobFate::Withdrawn },
        limit_from: if limit.is_none() { LimitFrom::Year } else { LimitFrom::Record },
    })
}

/// A job whose wait the log does not say proves nothing of waits.
fn record_marks(no_limit: bool, no_wait: bool) -> JobMarks {
    let mut marks = JobMarks::default();
    if no_limit {
        marks.set_mark(JobMarks::LIMIT);
    }
    if no_wait {
        marks.set_mark(JobMarks::CAUSE);
    }
    marks
}
