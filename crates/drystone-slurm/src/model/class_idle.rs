//! Processors of classes of nodes that are idle by the ends of running jobs.

use super::ModelCluster;
use super::class_ranks::ClassRanks;
use super::idle_steps::IdleSteps;
use super::node_classes::{NodeClasses, PartedClass, set_members};

/// Not worked out yet.
const UNKNOWN: u32 = u32::MAX;

/// Idle processors of each class in each step, worked out when they are asked for. Where each class
/// is of one job, its rank says the same, and each end is a step.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassIdle {
    /// State of the cluster that they are of.
    of: Option<u64>,
    /// Classes that each step has room for.
    width: usize,
    known: Vec<u32>,
    /// True if classes have ranks.
    is_ranked: bool,
    pub(super) ranks: ClassRanks,
}

impl ClassIdle {
    /// Forgets all classes.
    pub(super) fn clear(&mut self) {
        self.of = None;
    }

    /// Returns whether it is of the present state of the cluster.
    pub(super) fn is_of(&self, cluster: &ModelCluster) -> bool {
        self.of == Some(cluster.change_count())
    }

    /// Returns whether each class is of one job, so that it has a rank.
    pub(super) fn is_ranked(&self) -> bool {
        self.is_ranked
    }

    /// Starts again, of the present state of the cluster.
    pub(super) fn renew_counts(&mut self, cluster: &ModelCluster, steps: &mut IdleSteps, classes: &NodeClasses) {
        self.of = Some(cluster.change_count());
        self.is_ranked = ClassRanks::can_describe(cluster);
        if self.is_ranked {
            self.ranks.rebuild_ranks(cluster, classes);
            return;
        }
        steps.renew_steps(cluster);
        self.width = classes.width() * 64;
        self.known.clear();
        self.known.resize(self.width * steps.step_count(), UNKNOWN);
    }

    /// Forgets classes that were parted, and their new parts.
    pub(super) fn forget_parted(&mut self, pairs: &[PartedClass], classes: &NodeClasses) {
        if self.of.is_none() {
            return;
        }
        if self.is_ranked {
            self.ranks.note_parted(pairs, classes);
            return;
        }
        for step in self.known.chunks_mut(self.width) {
            pairs.iter().for_each(|&(class, fresh)| (step[class], step[fresh]) = (UNKNOWN, UNKNOWN));
        }
    }

    /// Returns the step behind all ends up to a time.
    pub(super) fn step_at(&self, cluster: &ModelCluster, steps: &IdleSteps, time: i64) -> usize {
        if self.is_ranked {
            return cluster.end_order().partition_point(|&(end, ..)| end <= time);
        }
        steps.step_at(cluster, time)
    }

    /// Returns the step behind all ends up to a time, which is no less than that of the step
    /// `before`.
    pub(super) fn next_step(
        &self,
        cluster: &ModelCluster,
        steps: &IdleSteps,
        time: i64,
        before: Option<usize>,
    ) -> usize {
        let Some(before) = before.filter(|_| self.is_ranked && time < i64::MAX) else {
            return self.step_at(cluster, steps, time);
        };
        let behind = &cluster.end_order()[before..];
        before + behind.iter().take_while(|&&(end, ..)| end <= time).count()
    }

    /// Returns the processors that are idle on some classes in a step.
    pub(super) fn count_idle(
        &mut self,
        set: impl Iterator<Item = u64>,
        step: usize,
        steps: &IdleSteps,
        classes: &NodeClasses,
    ) -> u64 {
        if self.is_ranked {
            return self.ranks.count_idle(set, step);
        }
        let counts = &mut self.known[step * self.width..(step + 1) * self.width];
        let mut sum = 0;
        for class in set_members(set) {
            if counts[class] == UNKNOWN {
                counts[class] = steps.count_on(step, classes.class_words(class));
            }
            sum += u64::from(counts[class]);
        }
        sum
    }
}
