//! Jobs that wait for others by their commands (`sbatch -d afterok:3`).

use crate::jobs::SiteJobFate;
use crate::rows::Symbol;
use crate::site::Site;
use crate::site_job::SiteJob;
use drystone::model::{DependencyEffect, DependsOn, JobId, SharedSort, Span};
use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Word of demands that has the list of dependencies.
const WORD: &str = "depends=";

/// Dependencies of a command that end with ends of jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct DependencyList {
    /// Jobs with the task of an array, if one is named.
    jobs: Vec<AwaitedJob>,
    /// True if one of the jobs is enough.
    any: bool,
    /// True if the job waits for all earlier ones of its name and user.
    singleton: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct AwaitedJob {
    number: u64,
    task: Option<u32>,
    /// True if each task waits for the task of its own number.
    by_task: bool,
}

impl DependencyList {
    /// Reads a list such as `afterok:20:21,afterany:23_4` or `singleton`. Dependencies on starts of
    /// jobs (`after`) and on others than jobs are left out; so is a list with one of these where
    /// any of several dependencies is enough.
    fn read_list(list: &str) -> DependencyList {
        let mut dependencies = DependencyList { any: list.contains('?'), ..DependencyList::default() };
        for part in list.split([',', '?']) {
            let (kind, numbers) = part.split_once(':').unwrap_or(("afterany", part));
            match (part.to_ascii_lowercase().as_str(), kind.to_ascii_lowercase().as_str()) {
                ("singleton", _) => dependencies.singleton = true,
                (_, kind @ ("afterany" | "afterok" | "afternotok" | "aftercorr")) => {
                    let named = numbers.split(':').filter_map(|job| AwaitedJob::read_job(job, kind == "aftercorr"));
                    dependencies.jobs.extend(named);
                }
                _ if dependencies.any => return DependencyList::default(),
                _ => {}
            }
        }
        // Nothing says when the last of a name has ended, if another job is enough.
        if dependencies.any && dependencies.singleton { DependencyList::default() } else { dependencies }
    }
}

impl AwaitedJob {
    fn read_job(text: &str, by_task: bool) -> Option<AwaitedJob> {
        let (number, task) = match text.split_once('_') {
            Some((number, task)) => (number, Some(task.parse().ok()?)),
            None => (text, None),
        };
        Some(AwaitedJob { number: number.parse().ok()?, task, by_task })
    }
}

/// A job that others may wait for.
struct Prerequisite {
    id: JobId,
    order: u64,
    task: Option<u32>,
    end: Option<i64>,
}

/// A job that waits for others.
struct Dependent {
    id: JobId,
    order: u64,
    task: Option<u32>,
    start: Option<i64>,
    group: NameGroup,
    list: DependencyList,
}

/// User and name of a job.
type NameGroup = (Symbol, u32);

impl Dependent {
    /// Returns whether the records agree that it waited for this job: Slurm numbers jobs in the
    /// order of submission, and a job that started before the end of another did not wait for it,
    /// or no longer.
    fn waits_for(&self, other: &Prerequisite) -> bool {
        let is_over = |start: i64| other.end.is_some_and(|end| end <= start);
        other.order < self.order && self.start.is_none_or(is_over)
    }
}

impl Site {
    /// Returns the dependencies of jobs on others, of which all are at these places.
    pub(crate) fn find_dependencies(&self, places: &[u32]) -> BTreeMap<JobId, DependsOn> {
        let dependents = self.list_dependents(places);
        if dependents.is_empty() {
            return BTreeMap::new();
        }
        let mut by_number: HashMap<u64, Vec<Prerequisite>> = HashMap::new();
        let mut by_name: HashMap<NameGroup, Vec<Prerequisite>> = HashMap::new();
        for dependent in &dependents {
            for job in &dependent.list.jobs {
                by_number.entry(job.number).or_default();
            }
            if dependent.list.singleton && dependent.group.1 > 0 {
                by_name.entry(dependent.group).or_default();
            }
        }
        for (id, &place) in (0..).map(JobId).zip(places) {
            let job = self.bare_job(place as usize);
            let Some(order) = order_of(&job) else { continue };
            let prerequisite = || Prerequisite { id, order, task: job.task, end: job.end.filter(|_| has_left(&job)) };
            let numbers: BTreeSet<u64> = job.id.into_iter().chain(job.of).collect();
            for number in numbers {
                if let Some(jobs) = by_number.get_mut(&number) {
                    jobs.push(prerequisite());
                }
            }
            if let Some(jobs) = by_name.get_mut(&(self.symbols_at(place as usize).user, job.name)) {
                jobs.push(prerequisite());
            }
        }
        by_name.values_mut().for_each(|jobs| jobs.sort_shared_by_key(|job| (job.order, job.id)));
        let singletons: BTreeSet<JobId> =
            dependents.iter().filter(|dependent| dependent.list.singleton).map(|dependent| dependent.id).collect();
        let mut after = BTreeMap::new();
        for dependent in &dependents {
            let mut jobs = jobs_by_number(dependent, &by_number);
            if let Some(named) = by_name.get(&dependent.group).filter(|_| dependent.list.singleton) {
                let earlier = &named[..named.partition_point(|job| job.order < dependent.order)];
                // The last of these that waited so itself waited for all before it.
                let last = earlier.iter().rposition(|job| singletons.contains(&job.id)).unwrap_or(0);
                jobs.extend(earlier[last..].iter().filter(|job| dependent.waits_for(job)).map(|job| job.id));
            }
            if !jobs.is_empty() {
                let jobs = jobs.into_iter().collect();
                after.insert(dependent.id, DependsOn { jobs, think: Span::ZERO, then: DependencyEffect::Starts });
            }
        }
        after
    }

    /// Lists the jobs at these places whose commands name dependencies.
    fn list_dependents(&self, places: &[u32]) -> Vec<Dependent> {
        let mut with_word: HashMap<Symbol, bool> = HashMap::from([(Symbol(0), false)]);
        let mut dependents = Vec::new();
        for (id, &place) in (0..).map(JobId).zip(places) {
            let symbols = self.symbols_at(place as usize);
            let has_word = || self.job_at(place as usize).asks.contains(WORD);
            if !*with_word.entry(symbols.asks).or_insert_with(has_word) {
                continue;
            }
            let job = self.job_at(place as usize);
            let list = job.asks.split_ascii_whitespace().find_map(|word| word.strip_prefix(WORD));
            let (Some(list), Some(order)) = (list, order_of(&job)) else { continue };
            dependents.push(Dependent {
                id,
                order,
                task: job.task,
                start: job.start,
                group: (symbols.user, job.name),
                list: DependencyList::read_list(list),
            });
        }
        dependents
    }
}

/// Returns the jobs that a job names and waited for by the records. Where any of several is enough,
/// it is the one that ended first.
fn jobs_by_number(dependent: &Dependent, by_number: &HashMap<u64, Vec<Prerequisite>>) -> BTreeSet<JobId> {
    let list = &dependent.list;
    let mut alternatives: Vec<(Option<i64>, BTreeSet<JobId>)> = Vec::new();
    for named in &list.jobs {
        let task = if named.by_task { dependent.task.or(named.task) } else { named.task };
        let candidates = by_number.get(&named.number).map_or(&[][..], Vec::as_slice);
        let is_meant = |job: &&Prerequisite| task.is_none() || job.task.is_none() || job.task == task;
        let meant: Vec<&Prerequisite> =
            candidates.iter().filter(is_meant).filter(|job| dependent.waits_for(job)).collect();
        if !meant.is_empty() {
            let ends: Option<Vec<i64>> = meant.iter().map(|job| job.end).collect();
            let last_end = ends.and_then(|ends| ends.into_iter().max());
            alternatives.push((last_end, meant.iter().map(|job| job.id).collect()));
        }
    }
    if list.any {
        let first = alternatives.into_iter().min_by_key(|(end, _)| end.unwrap_or(i64::MAX));
        return first.map(|(_, jobs)| jobs).unwrap_or_default();
    }
    alternatives.into_iter().flat_map(|(_, jobs)| jobs).collect()
}

/// The number by which jobs are in the order of submission: tasks of an array get numbers of their
/// own when they start.
fn order_of(job: &SiteJob<'_>) -> Option<u64> {
    job.of.or(job.id)
}

/// Returns whether a job ended, or left without a start.
fn has_left(job: &SiteJob<'_>) -> bool {
    matches!(job.kind, SiteJobFate::Ran | SiteJobFate::Withdrawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_slurm_writes_them() {
        let job = |number, task, by_task| AwaitedJob { number, task, by_task };
        let list = |jobs: &[AwaitedJob], any, singleton| DependencyList { jobs: jobs.to_vec(), any, singleton };
        for (text, expected) in [
            ("afterok:3", list(&[job(3, None, false)], false, false)),
            ("3", list(&[job(3, None, false)], false, false)),
            ("afterany:3:4,afternotok:5", list(&[3, 4, 5].map(|number| job(number, None, false)), false, false)),
            ("aftercorr:7", list(&[job(7, None, true)], false, false)),
            ("AfterOK:7_2", list(&[job(7, Some(2), false)], false, false)),
            ("singleton", list(&[], false, true)),
            ("afterok:3,singleton", list(&[job(3, None, false)], false, true)),
            ("afterok:3?afterany:4", list(&[job(3, None, false), job(4, None, false)], true, false)),
            // A start, of which nothing is kept.
            ("after:3+10,afterok:4", list(&[job(4, None, false)], false, false)),
            ("after:3?afterok:4", DependencyList::default()),
            ("singleton?afterok:4", DependencyList::default()),
            ("afterburstbuffer:3", DependencyList::default()),
            ("afterok:x", DependencyList::default()),
        ] {
            assert_eq!(DependencyList::read_list(text), expected, "{text}");
        }
    }
}
