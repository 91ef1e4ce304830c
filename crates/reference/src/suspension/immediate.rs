//! IS: rule S12.

use super::machine::NaiveMachine;
use super::set::Set;

/// Run time before a job may be suspended, in seconds.
const PROTECTED: i64 = 600;

pub(super) fn serve_jobs(machine: &mut NaiveMachine<'_>, preempting_resumption: bool) {
    for i in machine.fresh_jobs() {
        start_fresh(machine, i);
    }
    let mut suspended_jobs = machine.suspended_jobs();
    suspended_jobs.sort_by(|&a, &b| machine.instantaneous_factor(b).compare_with(machine.instantaneous_factor(a)));
    let tick = machine.now.rem_euclid(60) == 0;
    for i in suspended_jobs {
        let own = machine.job_set(i);
        let on_them = machine.running_on(own);
        let may_suspend = |&j: &usize| {
            let (mine, other_factor) = (machine.instantaneous_factor(i), machine.instantaneous_factor(j));
            machine.executed_time(j) >= PROTECTED
                && machine.now - machine.segment_start(j) >= PROTECTED
                && mine.compare_with(other_factor).is_gt()
                && mine.is_at_least((2, 1), other_factor)
        };
        let resumes = (on_them.is_empty() || (preempting_resumption && tick && on_them.iter().all(may_suspend)))
            && machine.can_serve(i, &on_them);
        if resumes {
            on_them.iter().for_each(|&j| machine.suspend_job(j));
            machine.start_job(i, own);
        }
    }
}

fn start_fresh(machine: &mut NaiveMachine<'_>, i: usize) {
    let need = machine.jobs[i].procs;
    let unowned_set = |machine: &NaiveMachine<'_>, victims: Set| {
        let owned_set = machine.owned_set(|_| true);
        machine.free_set().difference_with(owned_set.difference_with(victims))
    };
    if let Some(set) = unowned_set(machine, Set::default()).lowest_processors(need)
        && machine.can_serve(i, &[])
    {
        machine.start_job(i, set);
        return;
    }
    let mut candidates = machine.running_jobs();
    candidates.retain(|&j| machine.executed_time(j) >= PROTECTED);
    candidates.sort_by(|&a, &b| {
        let by_ratio = machine.instantaneous_factor(a).compare_with(machine.instantaneous_factor(b));
        by_ratio.then(machine.segment_start(a).cmp(&machine.segment_start(b)))
    });
    let mut sum = machine.free_set().len();
    let mut victims = Vec::new();
    for j in candidates {
        let lacks = machine.lacking_amounts(i, &machine.given_back(&victims));
        if sum < need || machine.can_help(&lacks, j) {
            sum += machine.jobs[j].procs;
            victims.push(j);
        }
    }
    if sum < need || !machine.can_serve(i, &victims) {
        return;
    }
    victims.iter().for_each(|&j| machine.suspend_job(j));
    let victim_set = victims.iter().fold(Set::default(), |set, &j| set.union_with(machine.job_set(j)));
    let set =
        unowned_set(machine, victim_set).lowest_processors(need).or_else(|| machine.free_set().lowest_processors(need));
    if let Some(set) = set {
        machine.start_job(i, set);
    }
}
