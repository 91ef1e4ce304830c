//! A journal as a workload: what the site's jobs were, and what the cluster did with them. For a
//! policy that places jobs on nodes it has the nodes, and what each job asked of them.

use super::read::read_journal;
use super::{JournalError, JournalRecord};
use crate::cluster::{Ending, JobFact, JobKey, JobState};
use crate::core::CoreInput;
use crate::tracker::{DaemonMode, ExportedJob, Mirror, NodeLayout, NumberedNames, Tracker, TrackerSettings};
use drystone::model::{DemandId, Job, LogStatus, Machine, Provenance, Setting, Span, Time, Truth, Workload};
use drystone::parts::NodeFloor;
use drystone::policy::PolicySpec;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// All that is known of a journal's jobs.
struct Gathering {
    layout: NodeLayout,
    mirror: Mirror,
    /// First submit times of jobs that were requeued.
    first: BTreeMap<(u64, Option<u32>), (i64, u32)>,
    /// The last start that was seen, for jobs whose end does not tell.
    past: BTreeMap<JobKey, ExportedJob>,
    /// Requests as they were seen last while jobs waited, with the nodes that they named at first.
    asked: BTreeMap<JobKey, JobFact>,
    cluster: String,
    /// True if the last policy counted processors, though it could have placed jobs on nodes.
    by_count: bool,
}

/// Jobs of a journal that are over, in the order of their submission.
///
/// # Errors
/// It cannot be read, or there is none.
pub fn read_past_jobs(folder: &Path) -> Result<Vec<ExportedJob>, JournalError> {
    Ok(in_order(gather_jobs(folder)?.past))
}

fn gather_jobs(folder: &Path) -> Result<Gathering, JournalError> {
    let mut gathering = Gathering {
        layout: NodeLayout::default(),
        mirror: Mirror::default(),
        first: BTreeMap::new(),
        past: BTreeMap::new(),
        asked: BTreeMap::new(),
        cluster: String::new(),
        by_count: false,
    };
    for (_, records) in read_journal(folder)? {
        for record in records {
            match record {
                JournalRecord::Begin(begin) => {
                    // A state that continues from the last segment already has its mirror; one
                    // without repeats everything.
                    if begin.state.is_none() {
                        gathering.mirror = Mirror::default();
                    }
                    (gathering.layout, gathering.cluster) = (begin.layout.clone(), begin.cluster.clone());
                    let could = |policy: PolicySpec| on_nodes(&policy, false).on_nodes;
                    gathering.by_count = !begin.settings.on_nodes && begin.policy.parse().is_ok_and(could);
                }
                JournalRecord::In(CoreInput::Facts { delta, .. }) => {
                    gathering.layout.raise_licences(delta.licences.iter().flatten());
                    for key in gathering.mirror.apply(&delta) {
                        gathering.look_at(key);
                    }
                }
                _ => {}
            }
        }
    }
    Ok(gathering)
}

fn in_order(past: BTreeMap<JobKey, ExportedJob>) -> Vec<ExportedJob> {
    let mut jobs: Vec<ExportedJob> = past.into_values().collect();
    jobs.sort_by_key(|job| (job.submit, job.key));
    jobs
}

/// Settings of a shadow under a policy.
fn on_nodes(policy: &PolicySpec, by_count: bool) -> TrackerSettings {
    TrackerSettings::for_mode(DaemonMode::Shadow, Vec::new(), true, policy).by_count(by_count)
}

impl Gathering {
    fn look_at(&mut self, key: JobKey) {
        let Some(fact) = self.mirror.job_fact(key) else { return };
        let earliest = self.first.entry((key.id, key.task)).or_insert((key.submit, fact.restarts));
        if fact.restarts <= earliest.1 && earliest.0 != key.submit {
            // The number was given to another job.
            *earliest = (key.submit, fact.restarts);
        }
        earliest.1 = fact.restarts;
        let submit = earliest.0.min(key.submit);
        if fact.state == JobState::Pending {
            let mut fact = fact.clone();
            if let Some(first) = self.asked.get(&key) {
                fact.request.named.clone_from(&first.request.named);
            }
            self.asked.insert(key, fact);
            return;
        }
        if let JobState::Ended(ending) = fact.state
            && let Some(past) = self.past_of(key, fact, ending, submit)
        {
            self.past.insert(key, past);
        }
    }

    fn past_of(&self, key: JobKey, fact: &JobFact, ending: Ending, submit: i64) -> Option<ExportedJob> {
        let did_run = !fact.places.is_empty() || fact.ran > 0;
        let procs = if fact.places.is_empty() { fact.procs } else { self.layout.held_procs(&fact.places, fact.procs) };
        if procs == 0 || procs > self.layout.procs() {
            return None;
        }
        let end = fact.end.or(fact.start).unwrap_or(submit);
        Some(ExportedJob {
            key,
            submit,
            start: did_run.then_some(fact.start).flatten(),
            end,
            ran: if did_run { fact.ran.max(0) } else { 0 },
            procs,
            limit: fact.limit,
            user: fact.user.clone(),
            group: fact.group.clone(),
            queue: if fact.class.is_empty() { fact.partition.clone() } else { fact.class.clone() },
            ending,
        })
    }
}

/// A journal as a workload that can be simulated: jobs that ran and are over. Time 0 is the first
/// submission. The second answer is what the cluster made of each job: the wait that it had, in
/// seconds.
///
/// # Errors
/// It cannot be read, or holds no job that ran.
pub fn read_workload(folder: &Path) -> Result<(Workload, Vec<Span>), JournalError> {
    let (plain, waits, _) = workload_for(folder, None)?;
    Ok((plain, waits))
}

/// As [`read_workload`]; the third answer is the same workload for a policy, where that places jobs
/// on nodes: with these, and what each job asked of them. The nodes are those of the last daemon,
/// and the policy counts processors if that one was to.
///
/// # Errors
/// Those of [`read_workload`].
pub fn workload_for(
    folder: &Path,
    policy: Option<&PolicySpec>,
) -> Result<(Workload, Vec<Span>, Option<Workload>), JournalError> {
    let Gathering { layout, past, asked: requests, cluster, by_count, .. } = gather_jobs(folder)?;
    let jobs = in_order(past);
    let ran: Vec<&ExportedJob> = jobs.iter().filter(|job| job.start.is_some()).collect();
    let settings = policy.map(|policy| on_nodes(policy, by_count)).filter(|settings| settings.on_nodes);
    let mut tracker = settings.map(|settings| Tracker::new(settings, layout.clone()));
    let mut demands = Vec::new();
    let origin = ran.first().map_or(0, |job| job.submit);
    let (mut users, mut groups, mut queues) =
        (NumberedNames::default(), NumberedNames::default(), NumberedNames::default());
    let (mut list, mut truth, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    let mut numbers = BTreeSet::new();
    for past in ran {
        if let Some(tracker) = &mut tracker {
            demands.push(requests.get(&past.key).map_or(DemandId::NONE, |fact| tracker.demand_asked(fact)));
        }
        let limit = past.limit.unwrap_or(365 * 86_400);
        let mut job = Job::new(Time(past.submit - origin), past.procs, Span(limit));
        job.user = users.assign_number(&past.user);
        job.group = groups.assign_number(&past.group);
        job.queue = queues.assign_number(&past.queue);
        // Tasks of an array have one number together: each gets the next that is free.
        let mut number = i64::try_from(past.key.id).unwrap_or(i64::MAX);
        if past.key.task.is_some() || numbers.contains(&number) {
            number = numbers.last().map_or(number, |last: &i64| last.saturating_add(1).max(number));
        }
        numbers.insert(number);
        let status = match past.ending {
            Ending::Completed => LogStatus::Completed,
            Ending::Cancelled | Ending::Removed => LogStatus::Cancelled,
            _ => LogStatus::Failed,
        };
        list.push(job);
        truth.push(Truth { run: Span(past.ran), number, status });
        // Requeues and suspensions leave a wait that is the end less what it ran.
        waits.push(Span((past.end - past.submit - past.ran).max(0)));
    }
    let setting = |name: &str, value: &str| Setting { name: name.into(), value: value.into() };
    let provenance = Provenance {
        name: if cluster.is_empty() { "journal".into() } else { cluster },
        settings: vec![setting("source", "drystone live journal")],
        unix_start: Some(origin),
        ..Provenance::default()
    };
    let machine = Machine::new(layout.procs());
    let mut placed_workload = None;
    if let Some(table) = tracker.and_then(|mut tracker| tracker.grown_resources().or_else(|| tracker.resource_table()))
    {
        let floor = NodeFloor::from_table(&table);
        let mut list = list.clone();
        for (job, demand) in list.iter_mut().zip(demands) {
            job.demand = demand;
            // It ran, on nodes that are others now.
            if floor.as_ref().is_some_and(|floor| floor.find_problem(job, &table).is_some()) {
                job.demand = DemandId::NONE;
            }
        }
        placed_workload =
            Some(Workload::with_resources(machine, Some(table), list, truth.clone(), provenance.clone())?);
    }
    Ok((Workload::new(machine, list, truth, provenance)?, waits, placed_workload))
}
