//! Ranges of nodes that users of Slurm ask for (`sbatch -N 2-4`).

use crate::submit_line::SubmitOptions;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Ranges of nodes by the scheduler's numbers of jobs, collected while accounting is read.
#[derive(Clone, Debug, Default)]
pub struct NodeRanges(Arc<Mutex<BTreeMap<u64, (u32, u32)>>>);

impl NodeRanges {
    /// Takes note of a command with which a job of this name was submitted.
    pub(crate) fn note_command(&self, id: u64, line: &str, name: &str) {
        if let Some(range) = node_range(line, name) {
            let mut ranges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // Rows of one job may differ: the order in which they are read must not matter.
            let least = ranges.entry(id).or_insert(range);
            *least = range.min(*least);
        }
    }

    pub(crate) fn range_of(&self, id: u64) -> Option<(u32, u32)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).copied()
    }
}

/// The range of nodes in a command such as `sbatch -N 2-4 job.sh`; `None` where it has none, or one
/// number.
fn node_range(line: &str, name: &str) -> Option<(u32, u32)> {
    SubmitOptions::read_options(line, name).nodes.and_then(read_range)
}

/// Reads a range such as `2-4`, or `1k-2k` with `k` for 1,024.
fn read_range(text: &str) -> Option<(u32, u32)> {
    let (least, most) = text.split_once('-')?;
    let count = |text: &str| -> Option<u32> {
        match text.strip_suffix(['k', 'K']) {
            Some(text) => text.parse::<u32>().ok()?.checked_mul(1024),
            None => text.parse().ok(),
        }
    };
    let (least, most) = (count(least)?, count(most)?);
    (0 < least && least < most).then_some((least, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_found_where_slurm_takes_them() {
        for (line, expected) in [
            ("sbatch -N 2-4 job.sh", Some((2, 4))),
            ("sbatch -v -N 2-4 job.sh", Some((2, 4))),
            ("sbatch -QN2-4 job.sh", Some((2, 4))),
            ("sbatch -N2-4 job.sh", Some((2, 4))),
            ("sbatch --nodes=1-16 --exclusive job.sh", Some((1, 16))),
            ("srun -p batch --mem 4G --nodes 3-5 ./a.out -N 7-9", Some((3, 5))),
            ("sbatch --exclusive job.sh -N 7-9", None),
            ("sbatch -N 1-4 -N 2 job.sh", None),
            ("sbatch -N 4 job.sh", None),
            ("sbatch -N 4-4 job.sh", None),
            ("salloc -N 1k-2k", Some((1024, 2048))),
            ("sbatch -N 4-2 job.sh", None),
            ("sbatch -N", None),
            ("", None),
        ] {
            assert_eq!(node_range(line, ""), expected, "{line}");
        }
    }
}
