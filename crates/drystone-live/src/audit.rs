//! Audit of the books: the session's state against what the cluster shows.

use crate::cluster::{JobFact, JobKey, JobState, NodeFact, NodeState};
use crate::core::Core;
use crate::tracker::TrackedPlace;
use drystone::model::JobId;
use drystone::policy::Phase;
use std::collections::{BTreeMap, BTreeSet};

/// Lists differences between a core's books and its last look. Jobs in flight are left out: what
/// was ordered is not seen yet.
pub fn list_differences(core: &Core) -> Vec<String> {
    let mirror = core.tracker().mirror();
    differences_from(core, mirror.records(), mirror.nodes())
}

/// Lists differences between a core's books and these facts.
pub fn differences_from<'a>(
    core: &Core,
    jobs: impl Iterator<Item = &'a JobFact> + Clone,
    nodes: impl Iterator<Item = &'a NodeFact> + Clone,
) -> Vec<String> {
    let (tracker, view) = (core.tracker(), core.session().view());
    let phase = |id: JobId| if id < view.oldest_job() { Phase::Done } else { view.phase(id) };
    let short: BTreeSet<JobId> = core.session().short_jobs().collect();
    let mut wrong = Vec::new();
    let mut listed_jobs: BTreeSet<JobKey> = BTreeSet::new();
    let mut unclear = false;
    for fact in jobs.clone() {
        for key in fact.job_keys() {
            listed_jobs.insert(key);
            let Some(job) = tracker.find_job(key) else {
                if !matches!(fact.state, JobState::Ended(_)) {
                    wrong.push(format!("{key} is not known"));
                }
                continue;
            };
            unclear |= job.flight.is_some();
            let (Some(id), None) = (job.id, job.flight) else { continue };
            // No plan has jobs that wait for licences that others hold.
            let is_short = phase(id) == Phase::Held && short.contains(&id);
            let phase = |id| if is_short { Phase::Waiting } else { phase(id) };
            if !states_agree(fact.state, job.place, phase(id)) {
                wrong.push(format!("{key}: {:?} there, {:?} and {:?} here", fact.state, job.place, phase(id)));
            }
        }
    }
    let missing = tracker.jobs().filter(|job| !listed_jobs.contains(&job.key));
    wrong.extend(missing.map(|job| format!("{} is not there any more", job.key)));
    unclear |= is_crowded(jobs, nodes.clone()) || nodes.clone().any(|node| node.state != NodeState::Up);
    let idle: u32 = nodes
        .filter(|node| tracker.layout().node_range(&node.name).is_some())
        .map(|node| node.procs.saturating_sub(node.busy))
        .sum();
    if !unclear && core.session().free_processors() != idle {
        wrong.push(format!("free processors: {} here, {idle} there", core.session().free_processors()));
    }
    wrong
}

fn states_agree(job_state: JobState, place: TrackedPlace, phase: Phase) -> bool {
    match (job_state, place) {
        (JobState::Running, TrackedPlace::Running) => phase == Phase::Running,
        (JobState::Pending, TrackedPlace::Waiting) => phase == Phase::Waiting,
        (JobState::Pending, TrackedPlace::Held) => phase == Phase::Held,
        (JobState::Suspended, TrackedPlace::Suspended | TrackedPlace::Interrupted) => phase == Phase::Suspended,
        (JobState::Ended(_), TrackedPlace::Done) => phase == Phase::Done,
        _ => false,
    }
}

/// Returns whether a foreign scheduler runs more on a node than there is room for; the free room is
/// then a matter of counting.
fn is_crowded<'a>(jobs: impl Iterator<Item = &'a JobFact>, mut nodes: impl Iterator<Item = &'a NodeFact>) -> bool {
    let mut used_procs: BTreeMap<&str, u32> = BTreeMap::new();
    for fact in jobs.filter(|fact| fact.state == JobState::Running) {
        for place in &fact.places {
            *used_procs.entry(&place.node).or_default() += place.procs.unwrap_or(0);
        }
    }
    nodes.any(|node| used_procs.get(node.name.as_str()).is_some_and(|&count| count > node.procs))
}
