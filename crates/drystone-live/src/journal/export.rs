//! A journal as a workload: what the site's jobs were, and what the cluster did with them.

use super::read::whole;
use super::{JournalError, JournalRecord};
use crate::cluster::{Ending, JobFact, JobKey, JobState};
use crate::core::CoreInput;
use crate::tracker::{ExportedJob, Mirror, NodeLayout, NumberedNames};
use drystone::model::{Job, LogStatus, Machine, Provenance, Setting, Span, Time, Truth, Workload};
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
    cluster: String,
}

/// Jobs of a journal that are over, in the order of their submission.
///
/// # Errors
/// It cannot be read, or there is none.
pub fn past(folder: &Path) -> Result<Vec<ExportedJob>, JournalError> {
    Ok(gather(folder)?.0)
}

fn gather(folder: &Path) -> Result<(Vec<ExportedJob>, NodeLayout, String), JournalError> {
    let mut all = Gathering {
        layout: NodeLayout::default(),
        mirror: Mirror::default(),
        first: BTreeMap::new(),
        past: BTreeMap::new(),
        cluster: String::new(),
    };
    for (_, records) in whole(folder)? {
        for record in records {
            match record {
                JournalRecord::Begin(begin) => {
                    // A state that continues from the last segment already has its mirror; one
                    // without repeats everything.
                    if begin.state.is_none() {
                        all.mirror = Mirror::default();
                    }
                    (all.layout, all.cluster) = (begin.layout.clone(), begin.cluster.clone());
                }
                JournalRecord::In(CoreInput::Facts { delta, .. }) => {
                    for key in all.mirror.apply(&delta) {
                        all.look_at(key);
                    }
                }
                _ => {}
            }
        }
    }
    let mut jobs: Vec<ExportedJob> = all.past.into_values().collect();
    jobs.sort_by_key(|job| (job.submit, job.key));
    Ok((jobs, all.layout, all.cluster))
}

impl Gathering {
    fn look_at(&mut self, key: JobKey) {
        let Some(fact) = self.mirror.fact(key) else { return };
        let known = self.first.entry((key.id, key.task)).or_insert((key.submit, fact.restarts));
        if fact.restarts <= known.1 && known.0 != key.submit {
            // The number was given to another job.
            *known = (key.submit, fact.restarts);
        }
        known.1 = fact.restarts;
        let submit = known.0.min(key.submit);
        if let JobState::Ended(ending) = fact.state
            && let Some(past) = self.past_of(key, fact, ending, submit)
        {
            self.past.insert(key, past);
        }
    }

    fn past_of(&self, key: JobKey, fact: &JobFact, ending: Ending, submit: i64) -> Option<ExportedJob> {
        let did_run = !fact.places.is_empty() || fact.ran > 0;
        let procs = if fact.places.is_empty() { fact.procs } else { self.layout.held(&fact.places, fact.procs) };
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
pub fn workload(folder: &Path) -> Result<(Workload, Vec<Span>), JournalError> {
    let (jobs, layout, cluster) = gather(folder)?;
    let ran: Vec<&ExportedJob> = jobs.iter().filter(|job| job.start.is_some()).collect();
    let origin = ran.first().map_or(0, |job| job.submit);
    let (mut users, mut groups, mut queues) =
        (NumberedNames::default(), NumberedNames::default(), NumberedNames::default());
    let (mut list, mut truth, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    let mut numbers = BTreeSet::new();
    for past in ran {
        let limit = past.limit.unwrap_or(365 * 86_400);
        let mut job = Job::new(Time(past.submit - origin), past.procs, Span(limit));
        job.user = users.number(&past.user);
        job.group = groups.number(&past.group);
        job.queue = queues.number(&past.queue);
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
    Ok((Workload::new(Machine::new(layout.procs()), list, truth, provenance)?, waits))
}
