//! A site's pool as a log in Standard Workload Format, and what that cannot hold.

use crate::clock;
use crate::error::PoolError;
use crate::jobs::SiteJobFate;
use crate::machine::PoolUnit;
use crate::manifest::Manifest;
use crate::rows::Symbol;
use crate::site::Site;
use crate::site_job::{JobSymbols, SiteJob};
use crate::text::RecordState;
use crate::words::count_noun;
use drystone::log::swf::{SwfDecimal, SwfHeader, SwfRecord, SwfWriter};
use drystone::log::{circumstances, outages};
use drystone::model::{Circumstances, JobLimits, SharedSort, Workload};
use hashbrown::HashSet;
use std::collections::BTreeMap;
use std::io::{self, Read};

/// Numbers for names, from 1 in the order in which they are met. Users, groups and queues have one
/// number throughout the site; partitions are counted in each pool by itself, in the order of the
/// description, as Slurm's own policy expects.
#[derive(Clone, Debug, Default)]
pub struct Numbering {
    accounted: bool,
    users: BTreeMap<String, i64>,
    groups: BTreeMap<String, i64>,
    queues: BTreeMap<String, i64>,
    partitions: Vec<BTreeMap<String, i64>>,
}

fn number_name(of: &mut BTreeMap<String, i64>, name: &str) {
    if !name.is_empty() && !of.contains_key(name) {
        of.insert(name.to_string(), of.len() as i64 + 1);
    }
}

/// The name that the field of groups numbers: the account, which shares and limits are about. The
/// group of the operating system stands there only where no job of the site names an account.
fn group_name<'a>(job: &'a SiteJob<'_>, has_accounts: bool) -> &'a str {
    if has_accounts { &job.account } else { &job.group }
}

impl Numbering {
    pub fn from_site(site: &Site) -> Numbering {
        let pools = &site.manifest.pools;
        let is_accounted = (0..site.len()).any(|at| site.symbols_at(at).account != Symbol(0));
        let partitions = vec![BTreeMap::new(); pools.len()];
        let mut numbering = Numbering { accounted: is_accounted, partitions, ..Numbering::default() };
        for (at, pool) in pools.iter().enumerate() {
            let mine = |p: &&crate::manifest::PartitionSummary| p.pool.as_deref() == Some(pool.name.as_str());
            for partition in site.manifest.partitions.iter().filter(mine) {
                number_name(&mut numbering.partitions[at], &partition.name);
            }
        }
        // Names are few beside jobs: each is looked up once.
        let mut seen_names: HashSet<(u8, u16, Symbol)> = HashSet::new();
        for at in 0..site.len() {
            let JobSymbols { user, account, group: unix, qos, partition, .. } = site.symbols_at(at);
            let pool = site.bare_job(at).pool;
            let group_symbol = if is_accounted { account } else { unix };
            let names = [(0, 0, user), (1, 0, group_symbol), (2, 0, qos), (3, pool, partition)];
            let fresh = names.map(|name| seen_names.insert(name));
            if !fresh.contains(&true) {
                continue;
            }
            let job = site.job_at(at);
            number_name(&mut numbering.users, &job.user);
            number_name(&mut numbering.groups, group_name(&job, is_accounted));
            number_name(&mut numbering.queues, &job.qos);
            if let Some(partitions) = numbering.partitions.get_mut(usize::from(job.pool)) {
                number_name(partitions, &job.partition);
            }
        }
        numbering
    }

    /// User, group, queue and partition of a job.
    fn job_numbers(&self, job: &SiteJob<'_>) -> [i64; 4] {
        let find =
            |of: Option<&BTreeMap<String, i64>>, name: &str| of.and_then(|of| of.get(name)).copied().unwrap_or(-1);
        [
            find(Some(&self.users), &job.user),
            find(Some(&self.groups), group_name(job, self.accounted)),
            find(Some(&self.queues), &job.qos),
            find(self.partitions.get(usize::from(job.pool)), &job.partition),
        ]
    }

    pub(crate) fn partition_count(&self, pool: u16) -> usize {
        self.partitions.get(usize::from(pool)).map_or(0, BTreeMap::len)
    }

    fn in_order(of: &BTreeMap<String, i64>) -> Vec<(&str, i64)> {
        let mut entries: Vec<(&str, i64)> = of.iter().map(|(name, &number)| (name.as_str(), number)).collect();
        entries.sort_shared_by_key(|(_, number)| *number);
        entries
    }

    /// The names behind the numbers of all jobs, as [`Numbering::name_lines`] has them; partitions
    /// only where one pool has them all, since each pool numbers its own.
    pub fn names_of_site(&self) -> String {
        let alone = if self.partitions.len() == 1 { 0 } else { u16::MAX };
        self.name_lines(alone)
    }

    /// The names behind the numbers of a pool's jobs: lines `user,12,alice`, as Slurm's own policy
    /// reads them.
    pub fn name_lines(&self, pool: u16) -> String {
        let empty = BTreeMap::new();
        let partitions = self.partitions.get(usize::from(pool)).unwrap_or(&empty);
        let group = if self.accounted { "account" } else { "group" };
        let kinds = [("user", &self.users), (group, &self.groups), ("qos", &self.queues), ("partition", partitions)];
        let mut text = "kind,number,name\n".to_string();
        for (kind, of) in kinds {
            for (name, number) in Numbering::in_order(of) {
                text.push_str(&format!("{kind},{number},{name}\n"));
            }
        }
        text
    }
}

/// Use of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExportPurpose {
    /// To be written: sizes asked for and granted apart, jobs that never ran without processors.
    Export,
    /// To be simulated: one size, and jobs that never ran as those that they would have been.
    Simulation,
}

impl Site {
    /// The origin of times, in seconds since 1970: the first arrival of any job.
    pub fn time_origin(&self) -> i64 {
        self.jobs().next().map_or(self.manifest.window.from, |job| job.arrive)
    }

    pub fn swf_header(&self, pool: u16, numbering: &Numbering) -> SwfHeader {
        let mut header = SwfHeader::new();
        if let Some(comments) = &self.manifest.swf {
            return of_comments(comments);
        }
        let manifest = &self.manifest;
        let Some(summary) = manifest.pools.get(usize::from(pool)) else { return header };
        header.push("Version", "2.2");
        header.push(
            "Computer",
            &format!(
                "{}, pool {}",
                if manifest.cluster.is_empty() { "a cluster" } else { &manifest.cluster },
                summary.name
            ),
        );
        header.push("Conversion", "drystone import");
        header.push("MaxJobs", &summary.jobs.to_string());
        header.push("UnixStartTime", &self.time_origin().to_string());
        header.push("TimeZoneString", &manifest.time_zone);
        header.push("StartTime", &clock::format_moment(manifest.window.from));
        header.push("EndTime", &clock::format_moment(manifest.window.until));
        if summary.nodes > 0 {
            header.push("MaxNodes", &summary.nodes.to_string());
        }
        header.push("MaxProcs", &summary.units.to_string());
        write_names(&mut header, "Queue", &numbering.queues, "qualities of service");
        if let Some(partitions) = numbering.partitions.get(usize::from(pool)) {
            write_names(&mut header, "Partition", partitions, "partitions");
        }
        write_notes(&mut header, manifest, summary.unit, summary.described);
        header
    }

    pub fn swf_record(
        &self,
        job: &SiteJob<'_>,
        numbering: &Numbering,
        serial: i64,
        purpose: ExportPurpose,
    ) -> SwfRecord {
        if let Some(record) = of_text(&job.swf) {
            return record;
        }
        let [user, group, queue, partition] = numbering.job_numbers(job);
        let units = i64::from(job.units);
        let stay_seconds = job.end.map(|end| end - job.arrive);
        let wait = job.wait().or(if job.kind == SiteJobFate::Withdrawn { stay_seconds } else { None });
        let whole = |value: Option<i64>| value.map_or(SwfDecimal::UNKNOWN, SwfDecimal::from);
        let run = match (job.kind, purpose) {
            (SiteJobFate::Ran, ExportPurpose::Export) => job.run.map(i64::from),
            (SiteJobFate::Ran, ExportPurpose::Simulation) => {
                job.run.map(|run| i64::from(run).max(self.ran_before(job)))
            }
            (SiteJobFate::Running, ExportPurpose::Export) | (SiteJobFate::Waiting, ExportPurpose::Export) => None,
            (SiteJobFate::Withdrawn, ExportPurpose::Export) => Some(0),
            (SiteJobFate::Running, ExportPurpose::Simulation) => Some(self.censored_run(job)),
            (SiteJobFate::Waiting | SiteJobFate::Withdrawn, ExportPurpose::Simulation) => {
                job.imputed_run.map(i64::from)
            }
        };
        let is_unstarted = purpose == ExportPurpose::Export && !job.kind.has_start();
        let memory = job.memory_kb.filter(|&kb| kb < u64::MAX).map(|kb| (kb / u64::from(job.units.max(1))) as i64);
        // A limit that nothing says is a guess, which no log should hold.
        let is_guessed = purpose == ExportPurpose::Export && job.limit_from == crate::jobs::LimitFrom::Year;
        SwfRecord {
            number: serial,
            submit: (job.arrive - self.time_origin()).into(),
            wait: whole(wait),
            run: whole(run),
            allocated: if is_unstarted { -1 } else { units },
            requested: if purpose == ExportPurpose::Export { self.asked_size(job) } else { units },
            requested_time: if is_guessed { SwfDecimal::UNKNOWN } else { i64::from(job.limit).into() },
            requested_memory: whole(memory),
            status: swf_status(job),
            user,
            group,
            executable: if job.name > 0 { i64::from(job.name) } else { -1 },
            queue,
            partition,
            line: job.number,
            ..SwfRecord::default()
        }
    }

    /// Returns the run time of a job at the beginning of the window, if it runs then: suspended or
    /// not, it is there.
    fn ran_before(&self, job: &SiteJob<'_>) -> i64 {
        let from = self.manifest.window.from;
        match (job.start, job.end) {
            (Some(start), Some(end)) if start < from && from <= end => from - start,
            _ => 0,
        }
    }

    /// Returns the run time assumed for a job that still runs: to its limit, or as long as it has.
    fn censored_run(&self, job: &SiteJob<'_>) -> i64 {
        let observed_run = job.start.map_or(0, |start| self.manifest.window.until - start);
        observed_run.max(i64::from(job.limit)).max(1)
    }

    /// The size that a job asked for, in units.
    fn asked_size(&self, job: &SiteJob<'_>) -> i64 {
        let unit = self.manifest.pools.get(usize::from(job.pool)).map_or(PoolUnit::Cpu, |pool| pool.unit);
        let asked_units = match unit {
            PoolUnit::Cpu => job.asked_cpus,
            PoolUnit::Node => job.asked_nodes,
            PoolUnit::Gpu => job.gpus,
        };
        asked_units.filter(|&n| n > 0).map_or(i64::from(job.units), i64::from)
    }

    /// A pool as a log in Standard Workload Format, written as it is read.
    pub fn into_log(self, pool: u16) -> impl Read + Send + 'static {
        let numbering = Numbering::from_site(&self);
        let mut places: Vec<u32> = (0..self.len() as u32).filter(|&at| self.job_at(at as usize).pool == pool).collect();
        if self.manifest.swf.is_some() {
            // In the order of the log that it was.
            places.sort_shared_by_key(|&at| place_of_text(&self.job_at(at as usize).swf));
        }
        let header = self.swf_header(pool, &numbering);
        ExportedLog {
            site: self,
            numbering,
            header,
            places,
            next: 0,
            writer: SwfWriter::new(Vec::new()),
            read: 0,
            over: false,
        }
    }
}

/// Data beyond a log in Standard Workload Format, as tables beside it: `outages.csv` and
/// `circumstances.csv`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BesideTables {
    /// Capacity that the machine lacked over time; `None` if it lacked none.
    pub outages: Option<Vec<u8>>,
    /// Knowledge of jobs beyond the log; `None` if there is none.
    pub circumstances: Option<Vec<u8>>,
}

impl Site {
    /// Returns the data beyond the log of a pool. Jobs have the numbers that they have there.
    ///
    /// # Errors
    /// Jobs that form no workload.
    pub fn beside_tables(&self, pool: u16) -> Result<BesideTables, PoolError> {
        let wrong = |error: io::Error| PoolError::Table(error.to_string());
        let pool_workload = self.pool_workload(pool)?;
        let mut serial = 0;
        let serials: Vec<i64> = (self.jobs())
            .map(|job| {
                serial += i64::from(job.pool == pool);
                serial
            })
            .collect();
        let mut truth = pool_workload.workload.truth().to_vec();
        for (truth, &place) in truth.iter_mut().zip(&pool_workload.places) {
            truth.number = serials[place as usize];
        }
        let (machine, jobs) = (pool_workload.workload.machine(), pool_workload.workload.jobs().to_vec());
        let mut beside = BesideTables::default();
        // The table is of single jobs: limits that they share stay with the site.
        let known_facts = pool_workload.workload.circumstances().cloned().unwrap_or_default();
        let unlimited_facts = Circumstances { limits: JobLimits::default(), ..known_facts };
        if !unlimited_facts.is_empty() {
            let (resources, provenance) =
                (pool_workload.workload.resources().cloned(), pool_workload.workload.provenance.clone());
            let numbered_workload = Workload::with_resources(machine, resources, jobs, truth, provenance)?
                .with_circumstances(unlimited_facts)?;
            let mut table = Vec::new();
            circumstances::write_circumstances(&numbered_workload, &mut table).map_err(wrong)?;
            beside.circumstances = Some(table);
        }
        if !pool_workload.outages.is_empty() {
            let mut table = Vec::new();
            outages::write_outages(pool_workload.outages.list(), &mut table).map_err(wrong)?;
            beside.outages = Some(table);
        }
        Ok(beside)
    }
}

/// Names of numbers, as the standard has them.
fn write_names(header: &mut SwfHeader, key: &str, of: &BTreeMap<String, i64>, label: &str) {
    let sorted_names = Numbering::in_order(of);
    if sorted_names.is_empty() {
        return;
    }
    header.push(&format!("Max{key}s"), &sorted_names.len().to_string());
    header.push(&format!("{key}s"), &format!("the {label} of the site"));
    for (name, number) in sorted_names {
        header.push(key, &format!("{number} {name}"));
    }
}

/// Every rule, and what the format cannot hold.
fn write_notes(header: &mut SwfHeader, manifest: &Manifest, unit: PoolUnit, is_described: bool) {
    let size = if is_described { "described" } else { "the most used at once" };
    header.push("Note", &format!("processors are {}s of the pool; its size is {size}", unit.name()));
    for rule in &manifest.rules {
        let rule_text = &rule.meaning;
        header.push(
            "Note",
            &format!(
                "rule {}: {}, {}, {} core-seconds; {rule_text}",
                rule.name,
                count_noun(rule.rows, "row"),
                count_noun(rule.jobs, "job"),
                rule.core_seconds
            ),
        );
    }
    header.push(
        "Note",
        "not here: submission beside eligibility, suspension, GPUs, memory of shared nodes, names of nodes, constraints, arrays, \
         reservations, capacity over time, what ran and waited at the beginning, when jobs were withdrawn, priority, reason, canceller",
    );
}

/// Returns the status of a job in the standard's numbers.
fn swf_status(job: &SiteJob<'_>) -> i64 {
    if job.kind == SiteJobFate::Withdrawn {
        return 5;
    }
    if matches!(job.kind, SiteJobFate::Waiting | SiteJobFate::Running) {
        return -1;
    }
    match RecordState::find_state(&job.state) {
        Some(RecordState::Completed | RecordState::Completing | RecordState::Resizing) => 1,
        Some(RecordState::Cancelled | RecordState::Revoked) => 5,
        Some(
            RecordState::Failed
            | RecordState::Timeout
            | RecordState::OutOfMemory
            | RecordState::NodeFail
            | RecordState::BootFail
            | RecordState::Deadline,
        ) => 0,
        Some(RecordState::Preempted | RecordState::Requeued) => 0,
        _ => -1,
    }
}

fn of_comments(comments: &[crate::manifest::LogComment]) -> SwfHeader {
    let mut log = Vec::new();
    for comment in comments.iter().filter(|comment| comment.after == 0) {
        log.extend(comment.line.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')));
        log.push(b'\n');
    }
    // The reader of logs makes a header of them.
    log.extend_from_slice(b"1 0 0 0 1 -1 -1 1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n");
    match drystone::log::swf::SwfReader::new(log.as_slice(), "site") {
        Ok(mut reader) => {
            let _ = reader.read_record();
            reader.into_header().0
        }
        Err(_) => SwfHeader::new(),
    }
}

/// `PLACE FIELDS`: the record as it stood.
fn of_text(text: &str) -> Option<SwfRecord> {
    let (place, fields) = text.split_once(' ')?;
    let mut reader = drystone::log::swf::SwfReader::new(fields.as_bytes(), "site").ok()?;
    let record = reader.read_record().ok()??;
    Some(SwfRecord { line: place.parse::<u64>().ok()? + 1, ..record })
}

fn place_of_text(text: &str) -> u64 {
    text.split_once(' ').and_then(|(place, _)| place.parse().ok()).unwrap_or(u64::MAX)
}

/// A log that is written while it is read.
struct ExportedLog {
    site: Site,
    numbering: Numbering,
    header: SwfHeader,
    places: Vec<u32>,
    next: usize,
    writer: SwfWriter<Vec<u8>>,
    /// Bytes of the writer's that were read.
    read: usize,
    over: bool,
}

/// Bytes written at once.
const PIECE: usize = 1 << 16;

impl ExportedLog {
    fn write_more(&mut self) -> io::Result<()> {
        let writer = std::mem::replace(&mut self.writer, SwfWriter::new(Vec::new()));
        let mut bytes = writer.into_inner();
        bytes.clear();
        self.read = 0;
        if self.next == 0 {
            for comment in self.header.comments() {
                bytes.extend_from_slice(&comment.text);
                bytes.push(b'\n');
            }
        }
        while bytes.len() < PIECE && !self.over {
            self.write_comments(&mut bytes);
            let Some(&at) = self.places.get(self.next) else {
                self.over = true;
                break;
            };
            self.next += 1;
            let job = self.site.job_at(at as usize);
            let record = self.site.swf_record(&job, &self.numbering, self.next as i64, ExportPurpose::Export);
            let mut writer = SwfWriter::new(std::mem::take(&mut bytes));
            writer.write_record(&record)?;
            bytes = writer.into_inner();
        }
        self.writer = SwfWriter::new(bytes);
        Ok(())
    }

    /// Comments of the log that stood between records.
    fn write_comments(&self, bytes: &mut Vec<u8>) {
        let after = self.next as u64;
        for comment in self.site.manifest.swf.iter().flatten().filter(|c| c.after == after && after > 0) {
            bytes.extend(comment.line.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')));
            bytes.push(b'\n');
        }
    }
}

impl Read for ExportedLog {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let writer = std::mem::replace(&mut self.writer, SwfWriter::new(Vec::new()));
            let bytes = writer.into_inner();
            let unread_bytes = bytes.get(self.read..).unwrap_or_default();
            let more = unread_bytes.len().min(buffer.len());
            buffer[..more].copy_from_slice(&unread_bytes[..more]);
            self.read += more;
            self.writer = SwfWriter::new(bytes);
            if more > 0 || buffer.is_empty() || self.over {
                return Ok(more);
            }
            self.write_more()?;
        }
    }
}
