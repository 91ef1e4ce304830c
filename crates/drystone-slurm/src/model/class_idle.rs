//! Processors of classes of nodes that are idle by the ends of running jobs.

use super::ModelCluster;
use super::idle_steps::IdleSteps;
use super::node_classes::{NodeClasses, PartedClass, members};

/// Not worked out yet.
const UNKNOWN: u32 = u32::MAX;

/// Idle processors of each class in each step, worked out when they are asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassIdle {
    /// State of the cluster that they are of.
    of: Option<u64>,
    /// Classes that each step has room for.
    width: usize,
    known: Vec<u32>,
}

impl ClassIdle {
    /// Forgets all classes.
    pub(super) fn clear(&mut self) {
        self.of = None;
    }

    /// Starts again unless it is of the present state of the cluster. Returns whether it did.
    pub(super) fn renew(&mut self, cluster: &ModelCluster, steps: &mut IdleSteps, classes: &NodeClasses) -> bool {
        let state = Some(cluster.state());
        if self.of == state {
            return false;
        }
        steps.renew(cluster);
        self.of = state;
        self.width = classes.width() * 64;
        self.known.clear();
        self.known.resize(self.width * steps.count(), UNKNOWN);
        true
    }

    /// Forgets classes that were parted, and their new parts.
    pub(super) fn forget_parted(&mut self, parted: &[PartedClass]) {
        if self.of.is_none() {
            return;
        }
        for step in self.known.chunks_mut(self.width) {
            parted.iter().for_each(|&(class, fresh)| (step[class], step[fresh]) = (UNKNOWN, UNKNOWN));
        }
    }

    /// Returns the processors that are idle on some classes in a step.
    pub(super) fn count(
        &mut self,
        set: impl Iterator<Item = u64>,
        step: usize,
        steps: &IdleSteps,
        classes: &NodeClasses,
    ) -> u64 {
        let counts = &mut self.known[step * self.width..(step + 1) * self.width];
        let mut sum = 0;
        for class in members(set) {
            if counts[class] == UNKNOWN {
                counts[class] = steps.count_on(step, classes.words(class));
            }
            sum += u64::from(counts[class]);
        }
        sum
    }
}
