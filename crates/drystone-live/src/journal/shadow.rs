//! A recording, looked at by a shadow under another policy.

use super::read::read_journal;
use super::{JournalError, JournalRecord};
use crate::cluster::recorded::{Look, ReplayCluster};
use crate::cluster::{Cluster, Want};
use crate::core::{Core, CoreInput};
use crate::tracker::{DaemonMode, NodeLayout, Stamp, TrackerSettings, WakePosition};
use drystone::model::Time;
use drystone::policy::PolicySpec;
use std::collections::BTreeMap;
use std::path::Path;

/// Statistics of a shadow's recording.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Shadowed {
    /// Looks that were gone over.
    pub looks: usize,
    /// Jobs that the policy would have started before the cluster did, or when it did.
    pub earlier: usize,
    /// Mean lead, in seconds.
    pub mean_earlier: f64,
}

/// Goes over what a daemon recorded, in shadow mode under another policy, which counts processors
/// if `by_count` or it cannot place jobs on nodes.
///
/// # Errors
/// The journal cannot be read.
pub fn shadow_journal(folder: &Path, policy: &PolicySpec, by_count: bool) -> Result<Shadowed, JournalError> {
    let mut looks = Vec::new();
    let mut layout = NodeLayout::default();
    let mut partitions = Vec::new();
    for (_, records) in read_journal(folder)? {
        for record in records {
            match record {
                JournalRecord::Begin(begin) => (layout, partitions) = (begin.layout, begin.settings.partitions),
                JournalRecord::In(CoreInput::Facts { stamp, delta, told: messages, .. }) => {
                    looks.push(Look { stamp, delta, told: messages });
                }
                _ => {}
            }
        }
    }
    let settings = TrackerSettings::for_mode(DaemonMode::Shadow, partitions, true, policy).by_count(by_count);
    let mut core = Core::new(settings, layout, policy);
    let mut cluster = ReplayCluster::new(looks);
    let mut outcome = Shadowed::default();
    let mut gains = BTreeMap::new();
    while let Ok(snapshot) = cluster.observe(&Want::default()) {
        let Some((stamp, messages)) = cluster.last_look().cloned() else { break };
        while let Some(due) = core.tick_due(Time(stamp.now)) {
            core.take_input(&CoreInput::Tick(Stamp { now: due.0, ..stamp }))?;
        }
        let delta = core.tracker().mirror().diff_snapshot(&snapshot);
        core.take_input(&CoreInput::Facts { stamp, delta, told: messages, heard: WakePosition::default() })?;
        outcome.looks += 1;
        for job in core.tracker().recent_jobs() {
            if let (Some(start), Some(plan)) = (job.story.started, job.story.wanted)
                && start >= plan
            {
                gains.insert(job.key, (start - plan).0);
            }
        }
    }
    outcome.earlier = gains.len();
    outcome.mean_earlier = gains.values().map(|&gain| gain as f64).sum::<f64>() / gains.len().max(1) as f64;
    Ok(outcome)
}
