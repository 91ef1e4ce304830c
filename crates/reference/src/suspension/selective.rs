//! SS and TSS: rules S5 to S9.

use super::machine::{Doing, NaiveMachine};
use super::set::Set;
use super::{NaivePlace, NaiveSelective, NaiveVictims, job_category};

/// Rule S5: idle jobs, highest priority first.
fn idle_in_order(machine: &NaiveMachine<'_>) -> Vec<usize> {
    let mut idle: Vec<_> = machine.idle_jobs().into_iter().map(|j| (machine.job_priority(j), j)).collect(); // by index
    idle.sort_by(|(a, _), (b, _)| b.compare_with(*a));
    idle.into_iter().map(|(_, j)| j).collect()
}

/// Rule S7, DISPATCH.
pub(super) fn dispatch_jobs(machine: &mut NaiveMachine<'_>, settings: &NaiveSelective) {
    for i in idle_in_order(machine) {
        plain_start(machine, settings, i);
    }
}

/// Rule S7. Tells whether the job has started.
fn plain_start(machine: &mut NaiveMachine<'_>, settings: &NaiveSelective, i: usize) -> bool {
    if !machine.can_serve(i, &[]) {
        return false;
    }
    let set = match machine.job_state(i) {
        Doing::Suspended => {
            let own = machine.job_set(i);
            (own.difference_with(machine.free_set()) == Set::default()).then_some(own)
        }
        _ => place_job(machine, settings, i, Set::default()),
    };
    set.map(|set| machine.start_job(i, set)).is_some()
}

/// Free processors that a fresh job may take: the preferred ones, and the others. Those of its own
/// victims are preferred.
fn split_free(machine: &NaiveMachine<'_>, settings: &NaiveSelective, i: usize, victims: Set) -> (Set, Set) {
    let free = machine.free_set();
    let protects = |owner: usize| match settings.place {
        NaivePlace::Strict | NaivePlace::Avoid => true,
        NaivePlace::PrioritySf => !machine.job_priority(i).is_at_least(settings.factor, machine.job_priority(owner)),
        NaivePlace::Lowest => false,
    };
    let preferred_set = free.difference_with(machine.owned_set(protects).difference_with(victims));
    match settings.place {
        NaivePlace::Avoid => (preferred_set, free.difference_with(preferred_set)),
        _ => (preferred_set, Set::default()),
    }
}

/// The processors that a fresh job gets, if there are enough: the lowest of the preferred ones,
/// then of the others.
fn place_job(machine: &NaiveMachine<'_>, settings: &NaiveSelective, i: usize, victims: Set) -> Option<Set> {
    let need = machine.jobs[i].procs;
    if machine.free_set().len() < need {
        return None;
    }
    let (preferred_set, other_set) = split_free(machine, settings, i, victims);
    preferred_set
        .lowest_processors(need)
        .or_else(|| Some(preferred_set.union_with(other_set.lowest_processors(need - preferred_set.len())?)))
}

/// Rule S8, PREEMPT.
pub(super) fn preempt_jobs(machine: &mut NaiveMachine<'_>, settings: &NaiveSelective, limits: &[f64; 16]) {
    // Priorities of running jobs stand still.
    let keyed_jobs = machine.running_jobs().into_iter().map(|j| (machine.job_priority(j), machine.segment_start(j), j));
    let mut keyed_jobs: Vec<_> = keyed_jobs.collect(); // by index
    keyed_jobs.sort_by(|a, b| a.0.compare_with(b.0).then(a.1.cmp(&b.1)));
    let mut candidates: Vec<usize> = keyed_jobs.into_iter().map(|(_, _, j)| j).collect();
    for i in idle_in_order(machine) {
        if plain_start(machine, settings, i) {
            continue;
        }
        // Jobs started in this pass are not among the candidates.
        candidates.retain(|&j| machine.is_running(j));
        let is_allowed = |j: usize| {
            let tau = machine.job_priority(j);
            let limited_priority = if settings.limit_on_preemptor { machine.job_priority(i) } else { tau };
            machine.job_priority(i).is_at_least(settings.factor, tau)
                && (if settings.limit_on_turnaround { limited_priority.over as f64 } else { limited_priority.as_f64() })
                    <= limits[job_category(&machine.jobs[j])]
        };
        if machine.job_state(i) == Doing::Suspended {
            let own = machine.job_set(i);
            let mut victims = machine.running_on(own);
            if !victims.iter().all(|&j| candidates.contains(&j) && is_allowed(j)) {
                continue;
            }
            if !machine.can_serve(i, &victims) {
                // It has its processors then; more jobs must give back what it lacks beside them.
                let other_candidates: Vec<usize> =
                    candidates.iter().copied().filter(|j| !victims.contains(j)).collect();
                match choose_victims(
                    machine,
                    settings,
                    i,
                    machine.jobs[i].procs,
                    &victims,
                    &other_candidates,
                    is_allowed,
                ) {
                    Some(more) => victims.extend(more),
                    None => continue,
                }
            }
            victims.iter().for_each(|&j| machine.suspend_job(j));
            machine.start_job(i, own);
            continue;
        }
        let (preferred_set, other_set) = split_free(machine, settings, i, Set::default());
        let Some(victims) = choose_victims(
            machine,
            settings,
            i,
            preferred_set.union_with(other_set).len(),
            &[],
            &candidates,
            is_allowed,
        ) else {
            continue;
        };
        victims.iter().for_each(|&j| machine.suspend_job(j));
        let victim_set = victims.iter().fold(Set::default(), |set, &j| set.union_with(machine.job_set(j)));
        if let Some(set) = place_job(machine, settings, i, victim_set) {
            machine.start_job(i, set);
        }
    }
}

/// The victims of a job that has this many free processors already, and what some jobs give back
/// that are to be suspended anyway; `None` if all candidates are not enough.
fn choose_victims(
    machine: &NaiveMachine<'_>,
    settings: &NaiveSelective,
    i: usize,
    free: i64,
    anyway: &[usize],
    candidates: &[usize],
    is_candidate: impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let procs = |j: usize| machine.jobs[j].procs;
    let eligible = |j: &usize| procs(*j) <= 2 * procs(i) && is_candidate(*j);
    // In this order, those that add something to what is still too little.
    let prefix = |order: &[usize]| -> Option<Vec<usize>> {
        let (mut sum, mut victims) = (free, Vec::new());
        for &j in order {
            let givers = [anyway, &victims[..]].concat();
            let lacks = machine.lacking_amounts(i, &machine.given_back(&givers));
            if sum < procs(i) || machine.can_help(&lacks, j) {
                sum += procs(j);
                victims.push(j);
            }
        }
        (sum >= procs(i) && machine.can_serve(i, &[anyway, &victims[..]].concat())).then_some(victims)
    };
    let widest_first = |mut jobs: Vec<usize>| {
        jobs.sort_by_key(|&j| std::cmp::Reverse(procs(j))); // stable: then by priority, start, index
        jobs
    };
    let candidate_jobs = candidates.iter().copied();
    let chosen_jobs: Vec<usize> = match settings.victims {
        NaiveVictims::WidestFirst => candidate_jobs.filter(eligible).collect(),
        NaiveVictims::InOrder => prefix(&candidate_jobs.filter(eligible).collect::<Vec<_>>())?,
        NaiveVictims::UntilIneligible => prefix(&candidate_jobs.take_while(eligible).collect::<Vec<_>>())?,
    };
    prefix(&widest_first(chosen_jobs))
}
