//! `NodeName` lines.

use super::error::{ConfError, ConfPlace};
use super::hostlist;
use super::pairs::ConfPairs;
use super::remark::{ConfRemark, Topic};
use super::units;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfNode {
    pub name: String,
    /// Processors that jobs may have, as Slurm counts them: threads, unless `CPUs` says otherwise.
    pub cpus: u32,
    /// Processors beside these that the system keeps: `CoreSpecCount`, `CpuSpecList`.
    pub spec_cpus: u32,
    pub sockets: u32,
    pub cores_per_socket: u32,
    pub threads_per_core: u32,
    /// Memory that jobs may have, in megabytes.
    pub memory_mb: u64,
    /// Megabytes beside these that the system keeps: `MemSpecLimit`.
    pub spec_memory_mb: u64,
    /// `Features`, as written.
    pub features: Vec<String>,
    /// `Gres`, as written.
    pub gres: String,
    /// `Weight`: nodes of low weight are used first. 1 unless said.
    pub weight: u32,
    /// `State`, as written; `UNKNOWN` unless said.
    pub state: String,
    /// Position of its line.
    pub place: ConfPlace,
}

impl ConfNode {
    /// Returns whether the configuration says that it is out of service.
    pub fn is_down(&self) -> bool {
        ["DOWN", "FAIL", "DRAIN", "FUTURE"].iter().any(|word| self.state.to_ascii_uppercase().starts_with(word))
    }

    /// Processors that are given out together: a core's threads.
    pub fn cpus_per_core(&self) -> u32 {
        let cores = (self.sockets * self.cores_per_socket).max(1);
        ((self.cpus + self.spec_cpus) / cores).max(1)
    }
}

/// Reads a line with what `NodeName=DEFAULT` says.
pub(crate) fn read_nodes(
    line: &ConfPairs,
    place: &ConfPlace,
    remarks: &mut Vec<ConfRemark>,
) -> Result<Vec<ConfNode>, ConfError> {
    let wrong = |problem: String| ConfError::at_line(place, problem);
    let names = hostlist::expand_list(line.get("NodeName").unwrap_or_default()).map_err(wrong)?;
    if line.get("Sockets").is_some() && line.get("SocketsPerBoard").is_some() {
        let text = "Sockets and SocketsPerBoard exclude each other; Slurm takes SocketsPerBoard";
        remarks.push(ConfRemark::at_place(Topic::Contradiction, Some(place), text));
    }
    if line.get("RestrictedCoresPerGPU").is_some() {
        let text = "RestrictedCoresPerGPU; jobs without GPUs may have all cores";
        remarks.push(ConfRemark::at_place(Topic::NotModelled, Some(place), text));
    }
    let model = read_model(line, place, remarks)?;
    Ok(names.into_iter().map(|name| ConfNode { name, ..model.clone() }).collect())
}

/// Returns the common settings of all nodes of a line.
fn read_model(line: &ConfPairs, place: &ConfPlace, remarks: &mut Vec<ConfRemark>) -> Result<ConfNode, ConfError> {
    let shape = ConfShape::read_shape(line, place, remarks)?;
    let megabytes = |key: &str, unsaid: u64| match line.get(key) {
        None => Ok(unsaid),
        Some(text) => units::parse_whole(text)
            .ok_or_else(|| ConfError::at_line(place, format!("{key}: `{text}` is no number of megabytes"))),
    };
    let (memory_mb, mut spec_memory_mb) = (megabytes("RealMemory", 1)?, megabytes("MemSpecLimit", 0)?);
    if spec_memory_mb > 0 && spec_memory_mb >= memory_mb {
        let text = format!(
            "MemSpecLimit={spec_memory_mb} leaves jobs nothing of RealMemory={memory_mb}; Slurm leaves the limit out"
        );
        remarks.push(ConfRemark::at_place(Topic::Refused, Some(place), text));
        spec_memory_mb = 0;
    }
    let features = line.get("Features").or(line.get("Feature")).unwrap_or_default();
    Ok(ConfNode {
        name: String::new(),
        cpus: shape.cpus - shape.spec_cpus,
        spec_cpus: shape.spec_cpus,
        sockets: shape.sockets,
        cores_per_socket: shape.cores,
        threads_per_core: shape.threads,
        memory_mb: memory_mb - spec_memory_mb,
        spec_memory_mb,
        features: features.split(',').filter(|f| !f.is_empty()).map(String::from).collect(),
        gres: line.get("Gres").unwrap_or_default().to_string(),
        weight: parse_number(line, "Weight", place)?.unwrap_or(1),
        state: line.get("State").unwrap_or("UNKNOWN").to_string(),
        place: place.clone(),
    })
}

struct ConfShape {
    cpus: u32,
    sockets: u32,
    cores: u32,
    threads: u32,
    /// Processors that the system keeps.
    spec_cpus: u32,
}

impl ConfShape {
    fn read_shape(line: &ConfPairs, place: &ConfPlace, remarks: &mut Vec<ConfRemark>) -> Result<ConfShape, ConfError> {
        let boards = parse_number(line, "Boards", place)?;
        let per_board = parse_number(line, "SocketsPerBoard", place)?;
        let sockets = parse_number(line, "Sockets", place)?;
        let cores = parse_number(line, "CoresPerSocket", place)?;
        let threads = parse_number(line, "ThreadsPerCore", place)?;
        let cpus = parse_number(line, "CPUs", place)?.or(parse_number(line, "Procs", place)?);
        let of_boards = per_board.map(|s| s.saturating_mul(boards.unwrap_or(1)));
        let (per_socket, threads) = (cores.unwrap_or(1), threads.unwrap_or(1));
        // CPUs alone are that many sockets of one core each; what leaves a rest is one socket.
        let of_socket = per_socket.saturating_mul(threads).max(1);
        let implied_sockets = cpus.filter(|cpus| cpus % of_socket == 0).map_or(1, |cpus| (cpus / of_socket).max(1));
        let sockets = of_boards.or(sockets).unwrap_or(implied_sockets);
        let thread_count = u64::from(sockets) * u64::from(per_socket) * u64::from(threads);
        // Processors are sockets, cores or threads; any other number Slurm takes for a mistake.
        let levels = [u64::from(sockets), u64::from(sockets) * u64::from(per_socket), thread_count];
        let cpu_count = match cpus.map(u64::from) {
            Some(cpus) if levels.contains(&cpus) => cpus,
            Some(cpus) => {
                let text = format!(
                    "CPUs={cpus} is neither the number of sockets ({sockets}) nor of cores nor of threads; Slurm takes {thread_count}"
                );
                remarks.push(ConfRemark::at_place(Topic::Refused, Some(place), text));
                thread_count
            }
            None => thread_count,
        };
        let cpus = u32::try_from(cpu_count).ok().filter(|&c| c > 0 && c <= 1 << 20);
        let cpus = cpus.ok_or_else(|| {
            ConfError::at_line(place, format!("a node of {cpu_count} processors; expected 1 to {}", 1 << 20))
        })?;
        // Whole cores are kept, with all their threads.
        let spec_list_cores = spec_list(line, place)?.map(|ids| ids.div_ceil(threads.max(1)));
        let mut spec_count_cores = parse_number(line, "CoreSpecCount", place)?.filter(|&cores| cores > 0);
        if let Some(cores) = spec_count_cores.filter(|&cores| cores > 1 && u64::from(cores) >= levels[1]) {
            let text = format!("CoreSpecCount={cores} leaves jobs no core; Slurm keeps one");
            remarks.push(ConfRemark::at_place(Topic::Refused, Some(place), text));
            spec_count_cores = Some(1);
        }
        let spec_cores = spec_count_cores.or(spec_list_cores).unwrap_or(0);
        let spec_cpus = spec_cores.saturating_mul((cpus / sockets.saturating_mul(per_socket).max(1)).max(1));
        if spec_cpus > 0 && spec_cpus >= cpus {
            let problem = format!("the system keeps {spec_cores} cores of this node, which leaves jobs no processor");
            return Err(ConfError::at_line(place, problem));
        }
        Ok(ConfShape { cpus, sockets, cores: per_socket, threads, spec_cpus })
    }
}

/// Returns the number of processors in `CpuSpecList`, such as `0,1,8-9`.
fn spec_list(line: &ConfPairs, place: &ConfPlace) -> Result<Option<u32>, ConfError> {
    let Some(text) = line.get("CpuSpecList").filter(|text| !text.is_empty()) else { return Ok(None) };
    let wrong = |problem: String| ConfError::at_line(place, format!("CpuSpecList: {problem}"));
    let ids = hostlist::expand_list(&format!("[{text}]")).map_err(wrong)?;
    Ok(Some(ids.len() as u32))
}

fn parse_number(line: &ConfPairs, key: &str, place: &ConfPlace) -> Result<Option<u32>, ConfError> {
    let parse_value =
        |text| units::parse_count(text).map_err(|problem| ConfError::at_line(place, format!("{key}: {problem}")));
    line.get(key).map(parse_value).transpose()
}
