//! `scontrol show reservations`: windows in which nodes belong to a reservation. Jobs that ask for
//! one are left to the cluster; all others must keep clear.

use super::run::Runner;
use crate::cluster::{ClusterError, NodeFact};
use drystone_slurm::conf::reserved_windows;
use std::collections::BTreeMap;

/// Seconds from one reading to the next.
const EVERY: i64 = 60;

fn garbled_error(line: usize, problem: &str) -> ClusterError {
    ClusterError::Garbled(format!("scontrol show reservations: line {line} {problem}"))
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct NodeReservations {
    /// Windows of whole nodes, by their names.
    windows: BTreeMap<String, Vec<(i64, i64)>>,
    /// Number of reservations of parts of nodes, or whose time floats.
    pub(super) unplanned: usize,
    /// Time of the reading.
    at: Option<i64>,
}

impl NodeReservations {
    /// Reads them. `sizes`: processors of nodes, by name.
    pub(super) fn read_reservations(
        run: &Runner,
        sizes: &BTreeMap<String, u32>,
        now: i64,
    ) -> Result<Self, ClusterError> {
        let reservations =
            NodeReservations::parse(&run.read_output("scontrol", &["-o", "show", "reservations"])?, sizes, now)?;
        Ok(NodeReservations { at: Some(now), ..reservations })
    }

    /// Returns whether it is time to read them again.
    pub(super) fn is_old(&self, now: i64) -> bool {
        self.at.is_none_or(|at| now - at >= EVERY)
    }

    fn parse(listing: &str, sizes: &BTreeMap<String, u32>, now: i64) -> Result<Self, ClusterError> {
        let mut reservations = NodeReservations::default();
        for (number, line) in (1..).zip(listing.lines()) {
            let has_nodes = line.contains(" Nodes=") && !line.contains(" Nodes=(null)");
            let mut is_partial = has_nodes && line.contains("TIME_FLOAT");
            for window in reserved_windows(line, now).map_err(|(_, problem)| garbled_error(number, &problem))? {
                let total_procs: u32 = window.nodes.iter().filter_map(|name| sizes.get(name)).sum();
                if window.procs.is_some_and(|procs| procs < total_procs) {
                    is_partial = true;
                } else if window.from < window.until && window.until > now {
                    for name in window.nodes {
                        reservations.windows.entry(name).or_default().push((window.from, window.until));
                    }
                }
            }
            reservations.unplanned += usize::from(is_partial);
        }
        for windows in reservations.windows.values_mut() {
            windows.sort_unstable();
        }
        Ok(reservations)
    }

    /// Adds the windows of a node.
    pub(super) fn add_to(&self, node: &mut NodeFact) {
        node.windows = self.windows.get(&node.name).cloned().unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes of eight processors: a reservation of four of them leaves the rest to jobs.
    #[test]
    fn windows_of_whole_nodes_are_planned_for() {
        let sizes = BTreeMap::from([("n1".to_string(), 8), ("n2".to_string(), 8)]);
        let line = |more: &str| format!("ReservationName=r StartTime=1000 EndTime=1600 Duration=00:10:00 {more}\n");
        let read = |text: &str, now| NodeReservations::parse(text, &sizes, now).expect("sound");
        assert_eq!(read("No reservations in the system\n", 0), NodeReservations::default());
        let two = line("Nodes=n[1-2] NodeCnt=2 CoreCnt=16 Flags=MAINT,SPEC_NODES TRES=cpu=16");
        let part = line("Nodes=n1 NodeCnt=1 CoreCnt=4 Flags=SPEC_NODES TRES=cpu=4");
        let floats = line("Nodes=n2 NodeCnt=1 CoreCnt=8 Flags=TIME_FLOAT TRES=cpu=8");
        let reservations = read(&(two.clone() + &part + &floats), 900);
        let windows = ["n1", "n2"].map(|name| (name.to_string(), vec![(1_000, 1_600)]));
        assert_eq!((reservations.windows, reservations.unplanned), (BTreeMap::from(windows), 2));
        assert!(read(&two, 1_600).windows.is_empty(), "it is over");
    }
}
