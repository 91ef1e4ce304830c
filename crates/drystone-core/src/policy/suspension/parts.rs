//! Coarse position of a job on the machine: most jobs that share no processor are separated at a
//! glance.

use crate::model::{ProcSet, Procs};
use serde::{Deserialize, Serialize};

/// This many words of 64 bits.
const WORDS: usize = 8;
const PARTS: u64 = 64 * WORDS as u64;

/// The 512ths of the machine in which a job has processors. On a machine of no more than 512 each
/// is one processor.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(super) struct MachineParts([u64; WORDS]);

impl MachineParts {
    /// The parts of a machine of this many processors in which these are.
    pub(super) fn from_set(set: &ProcSet, machine: Procs) -> MachineParts {
        let machine = u64::from(machine).max(PARTS);
        let part = |proc: Procs| (u64::from(proc) * PARTS / machine).min(PARTS - 1);
        let mut parts = MachineParts::default();
        for range in set.ranges() {
            let (first, last) = (part(range.start), part(range.end - 1));
            for word in first / 64..=last / 64 {
                let from = if word == first / 64 { first % 64 } else { 0 };
                let to = if word == last / 64 { last % 64 } else { 63 };
                parts.0[word as usize] |= (u64::MAX >> (63 - (to - from))) << from;
            }
        }
        parts
    }

    /// Returns whether a part is a processor, so that statements about parts are exact.
    pub(super) fn are_exact(machine: Procs) -> bool {
        u64::from(machine) <= PARTS
    }

    #[inline]
    pub(super) fn has_common_part(&self, parts: &MachineParts) -> bool {
        self.0.iter().zip(&parts.0).fold(0, |common, (a, b)| common | (a & b)) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Sets that meet have a part in common, on small machines only those.
        #[test]
        fn parts_tell_jobs_apart(
            machine in prop::sample::select(vec![1u32, 3, 100, 511, 512, 513, 1_152, 10_000_000]),
            a in prop::collection::vec((0.0..1.0f64, 1u32..70), 0..5),
            b in prop::collection::vec((0.0..1.0f64, 1u32..70), 0..5),
        ) {
            let set = |draws: &[(f64, u32)]| {
                let ranges: Vec<ProcSet> = draws.iter().map(|&(at, length)| {
                    let first = (at * f64::from(machine)) as u32;
                    ProcSet::from_range(first..(first + length).min(machine))
                }).collect();
                ProcSet::union_of(&ranges)
            };
            let (a, b) = (set(&a), set(&b));
            let (meet, parts) = (!a.is_disjoint(&b), MachineParts::from_set(&a, machine).has_common_part(&MachineParts::from_set(&b, machine)));
            prop_assert!(parts || !meet);
            prop_assert!(!MachineParts::are_exact(machine) || parts == meet);
        }
    }
}
