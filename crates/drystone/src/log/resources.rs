//! Resources beyond processors for the jobs of a log: memory from the field of the log, partitions
//! and queues as pools of processors, and a table beside the log for everything else.

use crate::model::{
    AMOUNT_LIMIT, Demand, DemandId, Job, Machine, Provenance, Resource, ResourceError, ResourceId, ResourceTable,
    ResourceTableBuilder, ResourceUnit, Setting, Truth, Workload, WorkloadError,
};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// One resource that a log's jobs are to be given, or a table of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ResourceSpec {
    /// `mem=2TB`, `mem=4GB/proc`: the log's memory per processor, times the job's processors, of so
    /// many kilobytes in all or for each processor of the machine.
    Memory {
        /// Kilobytes.
        kilobytes: u64,
        /// True if that is for each processor of the machine.
        each: bool,
    },
    /// `partition:3=64`: jobs of this partition share so many processors.
    Partition(i32, u64),
    /// `queue:3=64`: jobs of this queue share so many processors.
    Queue(i32, u64),
    /// A CSV table: see [`read_table`].
    Table(String),
    /// `site`: memory and GPUs as the folder of a site has them.
    Site,
    /// `none`: processors are all that is counted.
    None,
}

/// The shapes that a specification may have.
const SHAPES: &str =
    "expected mem=SIZE, mem=SIZE/proc, partition:N=PROCS, queue:N=PROCS, a table FILE.csv, site, or none";

impl FromStr for ResourceSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<ResourceSpec, String> {
        let text = text.trim();
        match text {
            "none" => return Ok(ResourceSpec::None),
            "site" => return Ok(ResourceSpec::Site),
            _ => {}
        }
        let Some((name, value)) = text.split_once('=') else {
            return match text.rsplit_once('.') {
                Some((_, "csv")) => Ok(ResourceSpec::Table(text.to_string())),
                _ => Err(format!("`{text}` names no amount; {SHAPES}")),
            };
        };
        if name == "mem" {
            let (size, is_per_proc) = value.strip_suffix("/proc").map_or((value, false), |size| (size, true));
            return parse_kilobytes(size).map(|kilobytes| ResourceSpec::Memory { kilobytes, each: is_per_proc });
        }
        let procs = || match value.parse::<u64>() {
            Ok(procs) if (1..=u64::from(u32::MAX)).contains(&procs) => Ok(procs),
            _ => Err(format!("{name}: `{value}` is no number of processors; expected a whole number above 0")),
        };
        let number = |text: &str| {
            text.parse::<i32>().map_err(|_| format!("{name}: `{text}` is no number as the log has it, such as 3"))
        };
        match name.split_once(':') {
            Some(("partition", place)) => Ok(ResourceSpec::Partition(number(place)?, procs()?)),
            Some(("queue", place)) => Ok(ResourceSpec::Queue(number(place)?, procs()?)),
            _ => Err(format!(
                "a log says nothing of `{name}`; name it in a table that has a column `{name}`, or: {SHAPES}"
            )),
        }
    }
}

impl fmt::Display for ResourceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResourceSpec::Memory { kilobytes, each } => {
                write!(f, "mem={kilobytes}kB{}", if *each { "/proc" } else { "" })
            }
            ResourceSpec::Partition(number, procs) => write!(f, "partition:{number}={procs}"),
            ResourceSpec::Queue(number, procs) => write!(f, "queue:{number}={procs}"),
            ResourceSpec::Table(file) => f.write_str(file),
            ResourceSpec::Site => f.write_str("site"),
            ResourceSpec::None => f.write_str("none"),
        }
    }
}

/// A size of memory in kilobytes of 1,024 bytes: a number with `kB`, `MB`, `GB` or `TB`. Each step
/// is 1,024, and `KiB` to `TiB` mean the same: batch systems count so. Rounded up to a whole
/// kilobyte.
///
/// # Errors
/// No unit, another unit, no number, or more than can be counted.
pub fn parse_kilobytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let end = text.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    let expectation =
        "expected a number with kB, MB, GB or TB (or KiB, MiB, GiB, TiB, which mean the same), such as 32GB";
    let step: f64 = match unit.to_ascii_lowercase().as_str() {
        "kb" | "kib" | "k" => 1.0,
        "mb" | "mib" | "m" => 1024.0,
        "gb" | "gib" | "g" => 1024.0 * 1024.0,
        "tb" | "tib" | "t" => 1024.0 * 1024.0 * 1024.0,
        "" if !number.is_empty() => return Err(format!("`{text}` has no unit; {expectation}")),
        word if number.is_empty() || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            return Err(format!("`{text}` is no size of memory; {expectation}"));
        }
        _ => return Err(format!("`{unit}` in `{text}` is no unit of memory; {expectation}")),
    };
    let size: f64 = number.parse().map_err(|_| format!("`{text}` is no size of memory; {expectation}"))?;
    let kilobytes = (size * step).ceil();
    if kilobytes > AMOUNT_LIMIT as f64 {
        return Err(format!(
            "`{text}` is more than the {} that can be counted",
            ResourceUnit::Kilobytes.format_amount(AMOUNT_LIMIT)
        ));
    }
    Ok(kilobytes as u64)
}

/// Resources that cannot be given to the jobs of a log.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResourcesError {
    /// A resource or demand that cannot be.
    #[error(transparent)]
    Resource(#[from] ResourceError),
    /// Jobs that ask for more than the machine has.
    #[error(
        "{count} of {jobs} jobs ask for more than the machine has, first job {first}, which {problem}; say that it has more, or leave such jobs out of the log"
    )]
    Beyond {
        /// Number of values.
        count: usize,
        /// Number of all jobs.
        jobs: usize,
        /// The log's number of the first.
        first: i64,
        /// Description of the demand.
        problem: String,
    },
    /// A log that says nothing of memory.
    #[error(
        "no job of the log says how much memory it needs (fields 10 and 7 of SWF); name demands in a table: --resources FILE.csv"
    )]
    NoMemory,
    /// A table that cannot be read.
    #[error("{file}, line {line}: {problem}")]
    Table {
        /// Its name.
        file: String,
        /// Number of the line.
        line: usize,
        /// Description of the mistake, and the expected text.
        problem: String,
    },
    /// Jobs that are not those of a site.
    #[error(
        "`site` counts what the folder of a site says of its machine, and this is none: `drystone import` makes one"
    )]
    NoSite,
    /// The workload refuses them.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

/// A table of demands: what the machine has of each resource, and what jobs ask for by number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DemandTable {
    /// Name of the resource as given.
    pub file: String,
    resources: Vec<Resource>,
    /// By the log's number of the job: the line, and amounts of each resource.
    jobs: BTreeMap<i64, (usize, Vec<u64>)>,
}

/// Reads a table of demands. The first line names the resources behind `job`; the line of the job
/// `total` says what the machine has; each other line has the log's number of a job. Amounts are
/// whole numbers; those of a resource whose total has a unit of memory also have one. An empty
/// amount is 0, and a job without a line asks for nothing.
///
/// ```text
/// job,gpu,mem,license:solver
/// total,8,1TB,2
/// 1,2,64GB,
/// 4,,500MB,1
/// ```
///
/// # Errors
/// Another head, no totals, a job that is named twice, another number of columns, amounts that are
/// none.
pub fn read_table(file: &str, text: &str) -> Result<DemandTable, ResourcesError> {
    let wrong = |line: usize, problem: String| ResourcesError::Table { file: file.to_string(), line, problem };
    // Spreadsheets put a mark before the first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let mut lines = lines.by_ref().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let head = "expected a head such as `job,gpu,mem`, then `total,8,1TB`, then a line for each job";
    let Some((at, first)) = lines.next() else { return Err(wrong(1, format!("the table is empty; {head}"))) };
    let names: Vec<&str> = first.split(',').map(str::trim).collect();
    let Some(("job", names)) = names.split_first().map(|(first, rest)| (*first, rest)) else {
        return Err(wrong(at, format!("the first column is `{}`; {head}", names[0])));
    };
    if names.is_empty() {
        return Err(wrong(at, format!("no resource is named; {head}")));
    }
    let cells = |at: usize, line: &str| -> Result<(String, Vec<String>), ResourcesError> {
        let mut cells = line.split(',').map(|cell| cell.trim().to_string());
        let job = cells.next().unwrap_or_default();
        let rest: Vec<String> = cells.collect();
        if rest.len() != names.len() {
            let problem = format!("{} amounts for {} resources ({})", rest.len(), names.len(), names.join(", "));
            return Err(wrong(at, problem));
        }
        Ok((job, rest))
    };
    let mut table = DemandTable { file: file.to_string(), ..DemandTable::default() };
    for (at, line) in lines {
        let (job, amounts) = cells(at, line)?;
        if table.resources.is_empty() {
            if job != "total" {
                return Err(wrong(at, format!("`{job}` comes before the totals of the machine; {head}")));
            }
            for (name, amount) in names.iter().zip(&amounts) {
                let is_count = amount.bytes().all(|byte| byte.is_ascii_digit());
                let unit = if is_count { ResourceUnit::Count } else { ResourceUnit::Kilobytes };
                let total = read_amount(amount, unit).map_err(|problem| wrong(at, format!("{name}: {problem}")))?;
                table.resources.push(Resource::new(*name, unit, total));
            }
            continue;
        }
        let number: i64 = job.parse().map_err(|_| wrong(at, format!("`{job}` is no number of a job")))?;
        let amount_results = amounts.iter().zip(&table.resources).map(|(amount, resource)| {
            read_amount(amount, resource.unit).map_err(|problem| wrong(at, format!("{}: {problem}", resource.name)))
        });
        let amounts = amount_results.collect::<Result<Vec<u64>, ResourcesError>>()?;
        if let Some((line, _)) = table.jobs.insert(number, (at, amounts)) {
            return Err(wrong(
                at,
                format!("job {number} is named twice, first in line {line}; give each job one line"),
            ));
        }
    }
    if table.resources.is_empty() {
        return Err(wrong(at, format!("the table has no totals; {head}")));
    }
    Ok(table)
}

/// Reads an amount of a resource with this unit; an empty text is 0.
///
/// # Errors
/// A description of what is wrong with a text that is no amount.
pub fn read_amount(text: &str, unit: ResourceUnit) -> Result<u64, String> {
    match unit {
        _ if text.is_empty() => Ok(0),
        ResourceUnit::Kilobytes if text == "0" => Ok(0),
        ResourceUnit::Kilobytes => parse_kilobytes(text),
        ResourceUnit::Count => {
            text.parse().map_err(|_| format!("`{text}` is no amount; expected a whole number, for its total is one"))
        }
    }
}

/// Treatment of the specifications, for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ResourceNotes {
    /// Number of all jobs.
    pub jobs: usize,
    /// Jobs that say nothing of memory, where memory is counted: they ask for none.
    pub without_memory: usize,
    /// Numbers in tables that no job has.
    pub unknown: Vec<i64>,
    /// Partitions and queues that no job is of.
    pub empty: Vec<String>,
}

/// Gives the jobs of a workload what these specifications say, in place of the resources that it
/// had, and says so in the provenance. `tables` are those that [`ResourceSpec::Table`] names, in
/// order.
///
/// # Errors
/// A resource named twice, a job beyond the machine, a log without memory where it is asked for.
///
/// Cost: O(n log n).
pub fn give_resources(
    workload: Workload,
    specs: &[ResourceSpec],
    tables: &[DemandTable],
) -> Result<(Workload, ResourceNotes), ResourcesError> {
    let circumstances = workload.circumstances().cloned();
    let (machine, mut jobs, truth, mut provenance) = workload.into_parts();
    jobs.iter_mut().for_each(|job| job.demand = DemandId::NONE);
    let mut draft = DemandDraft::new(&jobs, &truth, machine);
    let mut tables = tables.iter();
    for spec in specs.iter().filter(|spec| **spec != ResourceSpec::None) {
        match spec {
            ResourceSpec::Memory { kilobytes, each } => draft.add_memory(*kilobytes, *each)?,
            ResourceSpec::Partition(number, procs) => {
                draft.add_pool(&spec.name(), *procs, |job| job.partition == *number)?;
            }
            ResourceSpec::Queue(number, procs) => draft.add_pool(&spec.name(), *procs, |job| job.queue == *number)?,
            ResourceSpec::Site => return Err(ResourcesError::NoSite),
            ResourceSpec::Table(_) | ResourceSpec::None => {
                tables.next().map_or(Ok(()), |table| draft.add_table(table))?
            }
        }
    }
    let (resources, demands, notes) = draft.finish()?;
    for (job, demand) in jobs.iter_mut().zip(demands) {
        job.demand = demand;
    }
    note_setting(&mut provenance, specs);
    let workload = Workload::with_resources(machine, resources, jobs, truth, provenance)?;
    let workload = match circumstances {
        None => workload,
        Some(circumstances) => workload.with_circumstances(circumstances)?,
    };
    Ok((workload, notes))
}

impl ResourceSpec {
    fn name(&self) -> String {
        let text = self.to_string();
        text.split_once('=').map_or(text.clone(), |(name, _)| name.to_string())
    }
}

fn note_setting(provenance: &mut Provenance, specs: &[ResourceSpec]) {
    let value = specs.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    provenance.settings.retain(|setting| setting.name != "resources");
    provenance.settings.push(Setting { name: "resources".to_string(), value });
}

type FinishedDemands = (Option<std::sync::Arc<ResourceTable>>, Vec<DemandId>, ResourceNotes);

/// The demands of jobs, as they are put together.
struct DemandDraft<'a> {
    jobs: &'a [Job],
    truth: &'a [Truth],
    machine: Machine,
    builder: ResourceTableBuilder,
    demands: Vec<Vec<(ResourceId, u64)>>,
    notes: ResourceNotes,
}

impl<'a> DemandDraft<'a> {
    fn new(jobs: &'a [Job], truth: &'a [Truth], machine: Machine) -> DemandDraft<'a> {
        let demands = vec![Vec::new(); jobs.len()];
        DemandDraft {
            jobs,
            truth,
            machine,
            builder: ResourceTableBuilder::new(),
            demands,
            notes: ResourceNotes { jobs: jobs.len(), ..ResourceNotes::default() },
        }
    }

    fn add_memory(&mut self, kilobytes: u64, each: bool) -> Result<(), ResourcesError> {
        if self.jobs.iter().all(|job| job.memory_kb < 0) {
            return Err(ResourcesError::NoMemory);
        }
        let total = if each { kilobytes.saturating_mul(u64::from(self.machine.procs)) } else { kilobytes };
        let id = self.builder.add_resource(Resource::new("mem", ResourceUnit::Kilobytes, total))?;
        for (job, demand) in self.jobs.iter().zip(&mut self.demands) {
            match u64::try_from(job.memory_kb) {
                Ok(each) => demand.push((id, each.saturating_mul(u64::from(job.procs)))),
                Err(_) => self.notes.without_memory += 1,
            }
        }
        Ok(())
    }

    fn add_pool(&mut self, name: &str, procs: u64, is_in: impl Fn(&Job) -> bool) -> Result<(), ResourcesError> {
        let id = self.builder.add_resource(Resource::new(name, ResourceUnit::Count, procs))?;
        let mut has_any = false;
        for (job, demand) in self.jobs.iter().zip(&mut self.demands).filter(|(job, _)| is_in(job)) {
            demand.push((id, u64::from(job.procs)));
            has_any = true;
        }
        if !has_any {
            self.notes.empty.push(name.to_string());
        }
        Ok(())
    }

    fn add_table(&mut self, table: &DemandTable) -> Result<(), ResourcesError> {
        let mut ids = Vec::new();
        for resource in &table.resources {
            ids.push(self.builder.add_resource(resource.clone())?);
        }
        let mut remaining_rows: BTreeMap<i64, &(usize, Vec<u64>)> =
            table.jobs.iter().map(|(&job, row)| (job, row)).collect();
        for (truth, demand) in self.truth.iter().zip(&mut self.demands) {
            if let Some((_, amounts)) = table.jobs.get(&truth.number) {
                demand.extend(ids.iter().copied().zip(amounts.iter().copied()));
                remaining_rows.remove(&truth.number);
            }
        }
        self.notes.unknown.extend(remaining_rows.into_keys());
        Ok(())
    }

    fn finish(mut self) -> Result<FinishedDemands, ResourcesError> {
        if self.builder.table().resources().is_empty() {
            return Ok((None, vec![DemandId::NONE; self.jobs.len()], self.notes));
        }
        let mut demands = Vec::with_capacity(self.jobs.len());
        for demand in std::mem::take(&mut self.demands) {
            demands.push(self.builder.intern_demand(Demand::from_totals(demand))?);
        }
        let table = self.builder.finish();
        let problems: Vec<Option<String>> =
            (0..table.demands().len() as u32).map(|id| table.demand_problem(DemandId(id))).collect();
        let mut beyond = demands.iter().zip(self.truth).filter(|(id, _)| problems[id.0 as usize].is_some());
        if let Some((id, truth)) = beyond.next() {
            let problem = problems[id.0 as usize].clone().unwrap_or_default();
            let (count, first) = (1 + beyond.count(), truth.number);
            return Err(ResourcesError::Beyond { count, jobs: demands.len(), first, problem });
        }
        Ok((Some(table), demands, self.notes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{LogStatus, Span, Time};

    fn workload() -> Workload {
        let job = |procs, memory_kb, partition| {
            let mut job = Job::new(Time(0), procs, Span(10));
            (job.memory_kb, job.partition) = (memory_kb, partition);
            job
        };
        let truth = |number| Truth { run: Span(5), number, status: LogStatus::Completed };
        let jobs = vec![job(2, 1 << 20, 1), job(1, -1, 2), job(4, 512, 1)];
        Workload::new(Machine::new(8), jobs, [11, 12, 13].map(truth).to_vec(), Provenance::default()).expect("possible")
    }

    fn specs(text: &str) -> Vec<ResourceSpec> {
        text.split(',').map(|spec| spec.parse().unwrap_or_else(|e| panic!("{e}"))).collect()
    }

    fn amounts(workload: &Workload) -> Vec<Vec<(u16, u64)>> {
        let table = workload.resources().expect("there are some");
        let of = |job: &Job| table.demand_totals(job.demand).iter().map(|&(id, amount)| (id.0, amount)).collect();
        workload.jobs().iter().map(of).collect()
    }

    #[test]
    fn memory_is_counted_for_each_processor() {
        let (new_workload, notes) = give_resources(workload(), &specs("mem=4GB/proc"), &[]).expect("fits");
        assert_eq!(amounts(&new_workload), [vec![(0, 2 << 20)], vec![], vec![(0, 4 * 512)]]);
        assert_eq!(new_workload.resources().expect("there").resources()[0].total, 8 * (4 << 20));
        assert_eq!(notes.without_memory, 1);
        let setting = &new_workload.provenance.settings[0];
        assert_eq!((setting.name.as_str(), setting.value.as_str()), ("resources", "mem=4194304kB/proc"));
        let (bare, _) = give_resources(new_workload, &specs("none"), &[]).expect("nothing to fit");
        assert!(bare.resources().is_none() && bare.jobs().iter().all(|job| job.demand == DemandId::NONE));
    }

    #[test]
    fn partitions_are_pools_of_processors() {
        let (new_workload, _) = give_resources(workload(), &specs("mem=1TB,partition:1=6"), &[]).expect("fits");
        assert_eq!(amounts(&new_workload), [vec![(0, 2 << 20), (1, 2)], vec![], vec![(0, 2048), (1, 4)]]);
        let (_, notes) = give_resources(workload(), &specs("partition:1=6,queue:9=2"), &[]).expect("fits");
        assert_eq!(notes.empty, ["queue:9"]);
    }

    #[test]
    fn tables_name_any_resource() {
        let table = read_table("t.csv", "\u{feff}job,gpu,disk\r\n# in all\ntotal,4,2TB\n11,1,1.5GB\n13,,0\n99,2,\n")
            .expect("sound");
        let (new_workload, notes) = give_resources(workload(), &specs("t.csv"), &[table]).expect("fits");
        assert_eq!(amounts(&new_workload), [vec![(0, 1), (1, 3 << 19)], vec![], vec![]]);
        assert_eq!(notes.unknown, [99]);
    }

    #[test]
    fn jobs_beyond_the_machine_are_told_with_their_number() {
        let error = give_resources(workload(), &specs("mem=1GB"), &[]).expect_err("2 GB asked for");
        let ResourcesError::Beyond { count, first, .. } = &error else { panic!("{error}") };
        assert_eq!((*count, *first), (1, 11));
        assert!(error.to_string().contains("asks for 2 GB of `mem`; the machine has 1 GB"), "{error}");
        let twice = give_resources(workload(), &specs("mem=4GB,mem=5GB"), &[]).expect_err("twice");
        assert_eq!(twice, ResourcesError::Resource(ResourceError::Twice("mem".into())));
    }

    #[test]
    fn sizes_have_units() {
        let sizes = ["1kB", "1MB", "1MiB", "32GB", "32 GiB", "1.5g", "2TB", "0.1kB"].map(parse_kilobytes);
        let expected = [1, 1024, 1024, 32 << 20, 32 << 20, 3 << 19, 2 << 30, 1];
        assert_eq!(sizes, expected.map(Ok));
        for (text, message) in [
            ("32", "has no unit"),
            ("32QB", "`QB` in `32QB`"),
            ("GB", "is no size"),
            ("1.2.3GB", "is no size"),
            ("9e9TB", "is no size"),
            ("-3GB", "is no size"),
            ("", "is no size"),
        ] {
            assert!(
                parse_kilobytes(text).is_err_and(|error| error.contains(message)),
                "{text}: {:?}",
                parse_kilobytes(text)
            );
        }
        assert!(parse_kilobytes("999999999999TB").is_err_and(|error| error.contains("can be counted")));
    }

    #[test]
    fn what_is_no_specification_is_told() {
        for (text, message) in [
            ("gpu=4", "a log says nothing of `gpu`"),
            ("mem", "names no amount"),
            ("partition:x=4", "`x` is no number"),
            ("partition:1=0", "no number of processors"),
        ] {
            let error = text.parse::<ResourceSpec>().expect_err(text);
            assert!(error.contains(message), "{text}: {error}");
        }
        for (text, line, message) in [
            ("", 1, "is empty"),
            ("id,gpu\n", 1, "the first column is `id`"),
            ("job,gpu\n1,2\n", 2, "before the totals"),
            ("job,gpu\ntotal,2\n1,2,3\n", 3, "2 amounts for 1 resources"),
            ("job,gpu\ntotal,2\n1,2\n1,1\n", 4, "named twice, first in line 3"),
            ("job,gpu\ntotal,2\n1,2GB\n", 3, "`2GB` is no amount"),
            ("job,mem\ntotal,2GB\n1,7\n", 3, "has no unit"),
            ("job,gpu\ntotal,2\nx,1\n", 3, "`x` is no number of a job"),
        ] {
            let ResourcesError::Table { line: at, problem, .. } = read_table("t", text).expect_err(text) else {
                panic!("another error: {text}")
            };
            assert!(at == line && problem.contains(message), "{text}: line {at}: {problem}");
        }
    }
}
