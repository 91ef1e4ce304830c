//! SS and TSS: rules S5 to S9.

use super::machine::{Doing, NaiveMachine};
use super::set::Set;
use super::{NaivePlace, NaiveSelective, NaiveVictims, category};

/// Rule S5: idle jobs, highest priority first.
fn idle_in_order(machine: &NaiveMachine<'_>) -> Vec<usize> {
    let mut idle: Vec<_> = machine.idle().into_iter().map(|j| (machine.priority(j), j)).collect(); // by index
    idle.sort_by(|(a, _), (b, _)| b.compare(*a));
    idle.into_iter().map(|(_, j)| j).collect()
}

/// Rule S7, DISPATCH.
pub(super) fn dispatch(machine: &mut NaiveMachine<'_>, settings: &NaiveSelective) {
    for i in idle_in_order(machine) {
        plain_start(machine, settings, i);
    }
}

/// Rule S7. Tells whether the job has started.
fn plain_start(machine: &mut NaiveMachine<'_>, settings: &NaiveSelective, i: usize) -> bool {
    if !machine.serves(i, &[]) {
        return false;
    }
    let set = match machine.doing(i) {
        Doing::Suspended => {
            let own = machine.set(i);
            (own.without(machine.free()) == Set::default()).then_some(own)
        }
        _ => place(machine, settings, i, Set::default()),
    };
    set.map(|set| machine.start(i, set)).is_some()
}

/// Free processors that a fresh job may take: the preferred ones, and the others. Those of its own
/// victims are preferred.
fn pools(machine: &NaiveMachine<'_>, settings: &NaiveSelective, i: usize, victims: Set) -> (Set, Set) {
    let free = machine.free();
    let protects = |owner: usize| match settings.place {
        NaivePlace::Strict | NaivePlace::Avoid => true,
        NaivePlace::PrioritySf => !machine.priority(i).is_at_least(settings.factor, machine.priority(owner)),
        NaivePlace::Lowest => false,
    };
    let preferred = free.without(machine.owned(protects).without(victims));
    match settings.place {
        NaivePlace::Avoid => (preferred, free.without(preferred)),
        _ => (preferred, Set::default()),
    }
}

/// The processors that a fresh job gets, if there are enough: the lowest of the preferred ones,
/// then of the others.
fn place(machine: &NaiveMachine<'_>, settings: &NaiveSelective, i: usize, victims: Set) -> Option<Set> {
    let need = machine.jobs[i].procs;
    if machine.free().len() < need {
        return None;
    }
    let (preferred, others) = pools(machine, settings, i, victims);
    preferred.lowest(need).or_else(|| Some(preferred.with(others.lowest(need - preferred.len())?)))
}

/// Rule S8, PREEMPT.
pub(super) fn preempt(machine: &mut NaiveMachine<'_>, settings: &NaiveSelective, limits: &[f64; 16]) {
    // Priorities of running jobs stand still.
    let keyed = machine.running().into_iter().map(|j| (machine.priority(j), machine.segment_start(j), j));
    let mut keyed: Vec<_> = keyed.collect(); // by index
    keyed.sort_by(|a, b| a.0.compare(b.0).then(a.1.cmp(&b.1)));
    let mut candidates: Vec<usize> = keyed.into_iter().map(|(_, _, j)| j).collect();
    for i in idle_in_order(machine) {
        if plain_start(machine, settings, i) {
            continue;
        }
        // Jobs started in this pass are not among the candidates.
        candidates.retain(|&j| machine.is_running(j));
        let allowed = |j: usize| {
            let tau = machine.priority(j);
            let limited = if settings.limit_on_preemptor { machine.priority(i) } else { tau };
            machine.priority(i).is_at_least(settings.factor, tau)
                && (if settings.limit_on_turnaround { limited.over as f64 } else { limited.as_f64() })
                    <= limits[category(&machine.jobs[j])]
        };
        if machine.doing(i) == Doing::Suspended {
            let own = machine.set(i);
            let mut victims = machine.running_on(own);
            if !victims.iter().all(|&j| candidates.contains(&j) && allowed(j)) {
                continue;
            }
            if !machine.serves(i, &victims) {
                // It has its processors then; more jobs must give back what it lacks beside them.
                let others: Vec<usize> = candidates.iter().copied().filter(|j| !victims.contains(j)).collect();
                match choose(machine, settings, i, machine.jobs[i].procs, &victims, &others, allowed) {
                    Some(more) => victims.extend(more),
                    None => continue,
                }
            }
            victims.iter().for_each(|&j| machine.suspend(j));
            machine.start(i, own);
            continue;
        }
        let (preferred, others) = pools(machine, settings, i, Set::default());
        let Some(victims) = choose(machine, settings, i, preferred.with(others).len(), &[], &candidates, allowed)
        else {
            continue;
        };
        victims.iter().for_each(|&j| machine.suspend(j));
        let theirs = victims.iter().fold(Set::default(), |set, &j| set.with(machine.set(j)));
        if let Some(set) = place(machine, settings, i, theirs) {
            machine.start(i, set);
        }
    }
}

/// The victims of a job that has this many free processors already, and what some jobs give back
/// that are to be suspended anyway; `None` if all candidates are not enough.
fn choose(
    machine: &NaiveMachine<'_>,
    settings: &NaiveSelective,
    i: usize,
    free: i64,
    anyway: &[usize],
    candidates: &[usize],
    allowed: impl Fn(usize) -> bool,
) -> Option<Vec<usize>> {
    let procs = |j: usize| machine.jobs[j].procs;
    let eligible = |j: &usize| procs(*j) <= 2 * procs(i) && allowed(*j);
    // In this order, those that add something to what is still too little.
    let prefix = |order: &[usize]| -> Option<Vec<usize>> {
        let (mut sum, mut victims) = (free, Vec::new());
        for &j in order {
            let all = [anyway, &victims[..]].concat();
            let lacks = machine.lacks(i, &machine.given_back(&all));
            if sum < procs(i) || machine.helps(&lacks, j) {
                sum += procs(j);
                victims.push(j);
            }
        }
        (sum >= procs(i) && machine.serves(i, &[anyway, &victims[..]].concat())).then_some(victims)
    };
    let widest_first = |mut jobs: Vec<usize>| {
        jobs.sort_by_key(|&j| std::cmp::Reverse(procs(j))); // stable: then by priority, start, index
        jobs
    };
    let all = candidates.iter().copied();
    let collected: Vec<usize> = match settings.victims {
        NaiveVictims::WidestFirst => all.filter(eligible).collect(),
        NaiveVictims::InOrder => prefix(&all.filter(eligible).collect::<Vec<_>>())?,
        NaiveVictims::UntilIneligible => prefix(&all.take_while(eligible).collect::<Vec<_>>())?,
    };
    prefix(&widest_first(collected))
}
