//! IS: rule S12.

use super::machine::NaiveMachine;
use super::set::Set;

/// Run time before a job may be suspended, in seconds.
const PROTECTED: i64 = 600;

pub(super) fn serve(machine: &mut NaiveMachine<'_>, preempting_resumption: bool) {
    for i in machine.fresh() {
        start_fresh(machine, i);
    }
    let mut suspended = machine.suspended();
    suspended.sort_by(|&a, &b| machine.instantaneous(b).compare(machine.instantaneous(a)));
    let tick = machine.now.rem_euclid(60) == 0;
    for i in suspended {
        let own = machine.set(i);
        let on_them = machine.running_on(own);
        let may_suspend = |&j: &usize| {
            let (mine, other) = (machine.instantaneous(i), machine.instantaneous(j));
            machine.executed(j) >= PROTECTED
                && machine.now - machine.segment_start(j) >= PROTECTED
                && mine.compare(other).is_gt()
                && mine.is_at_least((2, 1), other)
        };
        let resumes = (on_them.is_empty() || (preempting_resumption && tick && on_them.iter().all(may_suspend)))
            && machine.serves(i, &on_them);
        if resumes {
            on_them.iter().for_each(|&j| machine.suspend(j));
            machine.start(i, own);
        }
    }
}

fn start_fresh(machine: &mut NaiveMachine<'_>, i: usize) {
    let need = machine.jobs[i].procs;
    let unowned = |machine: &NaiveMachine<'_>, victims: Set| {
        let owned = machine.owned(|_| true);
        machine.free().without(owned.without(victims))
    };
    if let Some(set) = unowned(machine, Set::default()).lowest(need)
        && machine.serves(i, &[])
    {
        machine.start(i, set);
        return;
    }
    let mut candidates = machine.running();
    candidates.retain(|&j| machine.executed(j) >= PROTECTED);
    candidates.sort_by(|&a, &b| {
        let by_ratio = machine.instantaneous(a).compare(machine.instantaneous(b));
        by_ratio.then(machine.segment_start(a).cmp(&machine.segment_start(b)))
    });
    let mut sum = machine.free().len();
    let mut victims = Vec::new();
    for j in candidates {
        let lacks = machine.lacks(i, &machine.given_back(&victims));
        if sum < need || machine.helps(&lacks, j) {
            sum += machine.jobs[j].procs;
            victims.push(j);
        }
    }
    if sum < need || !machine.serves(i, &victims) {
        return;
    }
    victims.iter().for_each(|&j| machine.suspend(j));
    let theirs = victims.iter().fold(Set::default(), |set, &j| set.with(machine.set(j)));
    let set = unowned(machine, theirs).lowest(need).or_else(|| machine.free().lowest(need));
    if let Some(set) = set {
        machine.start(i, set);
    }
}
