//! `NodeName` lines.

use super::error::{ConfError, ConfPlace};
use super::hostlist;
use super::pairs::ConfPairs;
use super::units;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfNode {
    pub name: String,
    /// Processors as Slurm counts them: threads, unless `CPUs` says otherwise.
    pub cpus: u32,
    pub sockets: u32,
    pub cores_per_socket: u32,
    pub threads_per_core: u32,
    /// Memory in megabytes.
    pub memory_mb: u64,
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
        (self.cpus / cores).max(1)
    }
}

pub(crate) fn nodes(line: &ConfPairs, place: &ConfPlace) -> Result<Vec<ConfNode>, ConfError> {
    let wrong = |problem: String| ConfError::line(place, problem);
    let names = hostlist::expand(line.get("NodeName").unwrap_or_default()).map_err(wrong)?;
    let model = model(line, place)?;
    Ok(names.into_iter().map(|name| ConfNode { name, ..model.clone() }).collect())
}

/// Returns the common settings of all nodes of a line.
fn model(line: &ConfPairs, place: &ConfPlace) -> Result<ConfNode, ConfError> {
    let shape = ConfShape::read(line, place)?;
    let memory = line.get("RealMemory").unwrap_or("1");
    let memory_mb = memory
        .parse()
        .map_err(|_| ConfError::line(place, format!("RealMemory: `{memory}` is no number of megabytes")))?;
    let features = line.get("Features").or(line.get("Feature")).unwrap_or_default();
    Ok(ConfNode {
        name: String::new(),
        cpus: shape.cpus,
        sockets: shape.sockets,
        cores_per_socket: shape.cores,
        threads_per_core: shape.threads,
        memory_mb,
        features: features.split(',').filter(|f| !f.is_empty()).map(String::from).collect(),
        gres: line.get("Gres").unwrap_or_default().to_string(),
        weight: number(line, "Weight", place)?.unwrap_or(1),
        state: line.get("State").unwrap_or("UNKNOWN").to_string(),
        place: place.clone(),
    })
}

struct ConfShape {
    cpus: u32,
    sockets: u32,
    cores: u32,
    threads: u32,
}

impl ConfShape {
    fn read(line: &ConfPairs, place: &ConfPlace) -> Result<ConfShape, ConfError> {
        let boards = number(line, "Boards", place)?;
        let per_board = number(line, "SocketsPerBoard", place)?;
        let sockets = number(line, "Sockets", place)?;
        let cores = number(line, "CoresPerSocket", place)?;
        let threads = number(line, "ThreadsPerCore", place)?;
        let cpus = number(line, "CPUs", place)?.or(number(line, "Procs", place)?);
        if sockets.is_some() && per_board.is_some() {
            return Err(ConfError::line(place, "Sockets and SocketsPerBoard exclude each other; keep one"));
        }
        let of_boards = per_board.map(|s| s.saturating_mul(boards.unwrap_or(1)));
        let (per_socket, threads) = (cores.unwrap_or(1), threads.unwrap_or(1));
        // CPUs alone are that many sockets of one core each.
        let implied = cpus.map_or(1, |cpus| (cpus / per_socket.saturating_mul(threads).max(1)).max(1));
        let sockets = sockets.or(of_boards).unwrap_or(implied);
        let all = u64::from(sockets) * u64::from(per_socket) * u64::from(threads);
        let counted = match cpus {
            Some(cpus) => u64::from(cpus),
            None => all,
        };
        let cpus = u32::try_from(counted).ok().filter(|&c| c > 0 && c <= 1 << 20);
        let cpus = cpus.ok_or_else(|| {
            ConfError::line(place, format!("a node of {counted} processors; expected 1 to {}", 1 << 20))
        })?;
        Ok(ConfShape { cpus, sockets, cores: per_socket, threads })
    }
}

fn number(line: &ConfPairs, key: &str, place: &ConfPlace) -> Result<Option<u32>, ConfError> {
    let read = |text| units::count(text).map_err(|problem| ConfError::line(place, format!("{key}: {problem}")));
    line.get(key).map(read).transpose()
}
