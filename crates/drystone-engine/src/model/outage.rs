//! Outages: processors that are out for some time, as a machine's operators know them afterwards.
//!
//! An [`Outage`] is the actual event, its end included. The announcement to a policy is another
//! matter: a window is announced with the end that is [expected](Outage::with_expected_end); a
//! failure is known when it happens, and its end is unknown until it is announced.

use super::{Machine, ProcSet, Procs, TIME_LIMIT, Time};
use crate::model::SharedSort;
use serde::{Deserialize, Serialize};

/// The processors of an outage.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Which {
    /// So many. Which ones is drawn, the same for the same outages on the same machine
    /// ([`Outages::new`]).
    Count(Procs),
    /// These.
    Named(ProcSet),
}

crate::word_enum! {
    /// Fate of the jobs that run on the processors of an outage when it begins.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum OutageHit {
        /// They run to their ends, and each processor goes when its job has ended.
        Drain = "drain",
        /// They end at once and wait again, with nothing left of what they ran.
        Requeue = "requeue",
        /// They end at once, for good.
        Lose = "lose",
    }
}

/// Processors that are out from one time to another.
///
/// ```
/// use drystone_engine::model::{Machine, Outage, Outages, Time, Which};
///
/// // Two processors fail; all eight are out for maintenance that is announced before.
/// let failure = Outage::new_failure(Which::Count(2), Time(500), Some(Time(800)));
/// let window = Outage::new_window(Which::Count(8), Time(0), Time(2_000), Time(3_000));
/// let outages = Outages::new(Machine::new(8), vec![window, failure])?;
///
/// assert_eq!(outages.list()[0].procs(), 2);
/// assert_eq!(outages.list()[1].known_time(), Time(0));
/// # Ok::<(), drystone_engine::model::OutageError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Outage {
    /// Processors concerned.
    pub which: Which,
    /// Beginning.
    pub begin: Time,
    /// Return; `None` for never.
    pub end: Option<Time>,
    /// Time of the announcement to the scheduler; `None` if it is known only when it begins.
    pub announced: Option<Time>,
    /// Return that the scheduler expects; `None` if none is announced. No plan counts on processors
    /// of which nothing is said.
    pub expected: Option<Time>,
    /// Fate of jobs that run on them when it begins.
    pub hit: OutageHit,
    /// True if jobs may be started that would run into it, and are cut short then. A policy does
    /// not know of such an outage before it begins, announced or not.
    pub may_cut: bool,
}

impl Outage {
    /// A failure: it comes unannounced, nothing is known of its end, and jobs are requeued.
    #[must_use]
    pub fn new_failure(which: Which, begin: Time, end: Option<Time>) -> Outage {
        Outage { which, begin, end, announced: None, expected: None, hit: OutageHit::Requeue, may_cut: false }
    }

    /// A maintenance window: it is announced at that time with its end. Jobs that run into it all
    /// the same are drained.
    #[must_use]
    pub fn new_window(which: Which, notice: Time, begin: Time, end: Time) -> Outage {
        let (announced_time, end) = (Some(notice), Some(end));
        Outage { which, begin, end, announced: announced_time, expected: end, hit: OutageHit::Drain, may_cut: false }
    }

    /// A drain: from `begin` on no job starts there, and those that run run on.
    #[must_use]
    pub fn new_drain(which: Which, begin: Time, end: Option<Time>) -> Outage {
        Outage { hit: OutageHit::Drain, ..Outage::new_failure(which, begin, end) }
    }

    /// Sets the end that the scheduler expects.
    #[must_use]
    pub fn with_expected_end(self, back: Time) -> Outage {
        Outage { expected: Some(back), ..self }
    }

    /// Sets the fate of jobs that run on its processors.
    #[must_use]
    pub fn with_hit(self, hit: OutageHit) -> Outage {
        Outage { hit, ..self }
    }

    /// Number of processors.
    #[must_use]
    pub fn procs(&self) -> Procs {
        match &self.which {
            Which::Count(procs) => *procs,
            Which::Named(set) => set.len(),
        }
    }

    /// Returns the time at which the scheduler learns of it.
    #[must_use]
    pub fn known_time(&self) -> Time {
        self.announced.filter(|_| !self.may_cut).unwrap_or(self.begin)
    }

    /// Returns the time at which it is over; [`Time::MAX`] for never.
    #[must_use]
    pub fn end_time(&self) -> Time {
        self.end.unwrap_or(Time::MAX)
    }

    /// Returns the mistake in it by itself, on this machine.
    fn find_problem(&self, machine: Machine) -> Option<(OutageField, String)> {
        let far = |time: &Time| time.0.unsigned_abs() > TIME_LIMIT.unsigned_abs();
        let times = [(OutageField::Begin, Some(self.begin)), (OutageField::End, self.end)].into_iter();
        let times = times.chain([(OutageField::Announced, self.announced), (OutageField::Expected, self.expected)]);
        let beyond = times.filter_map(|(field, time)| time.filter(far).map(|_| field)).next();
        let wrong = |field, problem: String| Some((field, problem));
        let size = machine.procs;
        match (&self.which, self.procs()) {
            _ if let Some(field) = beyond => wrong(field, format!("the time is beyond ±{TIME_LIMIT} s")),
            (_, 0) => wrong(OutageField::Procs, "takes no processor; expected 1 or more".into()),
            (Which::Count(_), procs) if procs > size => {
                wrong(OutageField::Procs, format!("takes {procs} processors of a machine of {size}"))
            }
            (Which::Named(set), _) if set.ranges().last().is_some_and(|range| range.end > size) => wrong(
                OutageField::Procs,
                format!("processors {set} are not all of the machine, whose last is {}", size - 1),
            ),
            _ if self.end.is_some_and(|end| end <= self.begin) => {
                let end = self.end_time();
                wrong(
                    OutageField::End,
                    format!("ends at {end}, but begins at {}; expected an end after it", self.begin),
                )
            }
            _ if self.expected.is_some_and(|back| back <= self.begin) => {
                wrong(OutageField::Expected, format!("is expected to end before it begins at {}", self.begin))
            }
            _ if self.announced.is_some_and(|notice| notice > self.begin) => {
                let problem =
                    format!("is announced after it begins at {}; leave that empty if it was not announced", self.begin);
                wrong(OutageField::Announced, problem)
            }
            _ if self.may_cut && self.hit == OutageHit::Drain => {
                let problem = "may cut jobs, but drains: give their fate, `requeue` or `lose`";
                wrong(OutageField::MayCut, problem.into())
            }
            _ => None,
        }
    }
}

/// A part of an outage, to say where it is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum OutageField {
    /// [`Outage::which`].
    Procs,
    /// [`Outage::begin`].
    Begin,
    /// [`Outage::end`].
    End,
    /// [`Outage::announced`].
    Announced,
    /// [`Outage::with_expected_end`].
    Expected,
    /// [`Outage::hit`].
    Hit,
    /// [`Outage::may_cut`].
    MayCut,
}

/// Outages that cannot be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("outage {}: {problem}", .index + 1)]
pub struct OutageError {
    /// Its place in the list given, from 0.
    pub index: usize,
    /// The place of another that it does not go with.
    pub other: Option<usize>,
    /// Field with the mistake.
    pub field: OutageField,
    /// Description of the failure.
    pub problem: String,
}

/// Outages of one machine, checked, in order of their beginnings; the processors of each have
/// names.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Outages {
    list: Vec<Outage>,
    on: Vec<ProcSet>,
}

impl Outages {
    /// Checks outages against a machine and each other, and puts them in order of their beginnings.
    /// An outage of a count of processors takes neighbours from a place that follows from its times
    /// and its size, as far as they are not out already.
    ///
    /// # Errors
    /// More processors than there are, by themselves or together; an end, or what is expected of
    /// it, that does not come after the beginning; an announcement after it; the same processors
    /// out twice at a time; a time beyond ±2⁴⁰ s.
    ///
    /// Cost: O(n · m) for n outages, at most m at a time, and O(n log n).
    pub fn new(machine: Machine, outages: Vec<Outage>) -> Result<Outages, OutageError> {
        for (index, outage) in outages.iter().enumerate() {
            if let Some((field, problem)) = outage.find_problem(machine) {
                return Err(OutageError { index, other: None, field, problem });
            }
        }
        let mut order: Vec<usize> = (0..outages.len()).collect();
        order.sort_shared_by_key(|&i| outages[i].begin);
        let on = place_outages(machine, &outages, &order)?;
        let mut by_place: Vec<(Option<Outage>, ProcSet)> = outages.into_iter().map(Some).zip(on).collect();
        let mut sorted_outages = Outages::default();
        for i in order {
            if let (Some(outage), set) = (by_place[i].0.take(), std::mem::take(&mut by_place[i].1)) {
                sorted_outages.list.push(outage);
                sorted_outages.on.push(set);
            }
        }
        Ok(sorted_outages)
    }

    /// All of them, in order of their beginnings.
    #[must_use]
    pub fn list(&self) -> &[Outage] {
        &self.list
    }

    /// The processors of the outage at this place of the list.
    ///
    /// # Panics
    /// There is no such place.
    #[must_use]
    pub fn processors_of(&self, index: usize) -> &ProcSet {
        &self.on[index]
    }

    /// Number of outages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Processor-seconds out between two times.
    #[must_use]
    pub fn out_between(&self, from: Time, until: Time) -> f64 {
        let overlap = |outage: &Outage| {
            let (begin, end) = (outage.begin.max(from), outage.end_time().min(until));
            if end > begin { (end - begin).as_f64() * f64::from(outage.procs()) } else { 0.0 }
        };
        self.list.iter().map(overlap).sum()
    }
}

/// The processors of each outage, in the order given; `order` is that of their beginnings.
fn place_outages(machine: Machine, outages: &[Outage], order: &[usize]) -> Result<Vec<ProcSet>, OutageError> {
    let mut on: Vec<ProcSet> = outages.iter().map(named_processors).collect();
    // Those that have begun and are not over, first the named ones among themselves.
    let mut active: Vec<usize> = Vec::new();
    for &i in order {
        let begin = outages[i].begin;
        active.retain(|&j| outages[j].end_time() > begin);
        let taken_count: u64 = active.iter().map(|&j| u64::from(outages[j].procs())).sum();
        if taken_count + u64::from(outages[i].procs()) > u64::from(machine.procs) {
            let last_active = active.last().copied();
            let problem = format!(
                "takes {} processors at {begin}, when {taken_count} of the machine of {} are out already",
                outages[i].procs(),
                machine.procs
            );
            return Err(OutageError { index: i, other: last_active, field: OutageField::Procs, problem });
        }
        if let Some(&j) = active.iter().find(|&&j| !on[j].is_disjoint(&on[i])) {
            let common_procs = on[j].intersection(&on[i]);
            let problem = format!("takes processors {common_procs} at {begin}, which are out already");
            return Err(OutageError { index: i, other: Some(j), field: OutageField::Procs, problem });
        }
        active.push(i);
    }
    if outages.iter().all(|outage| matches!(outage.which, Which::Named(_))) {
        return Ok(on);
    }
    let mut later = order.iter().copied().filter(|&i| matches!(outages[i].which, Which::Named(_))).peekable();
    let mut ahead: Vec<usize> = Vec::new();
    active.clear();
    for &i in order {
        let outage = &outages[i];
        active.retain(|&j| outages[j].end_time() > outage.begin);
        if let Which::Count(count) = outage.which {
            // Named ones that begin before its end also exclude it.
            while let Some(j) = later.next_if(|&j| outages[j].begin < outage.end_time()) {
                ahead.push(j);
            }
            ahead.retain(|&j| outages[j].end_time() > outage.begin);
            let beside = ahead.iter().filter(|&&j| outages[j].begin < outage.end_time());
            let taken_procs = ProcSet::union_of(active.iter().chain(beside).map(|&j| &on[j]));
            let idle = ProcSet::from_range(0..machine.procs).difference(&taken_procs);
            let Some(set) = find_neighbours(&idle, count, draw_processor(outage, machine.procs)) else {
                let problem = "takes processors among which named ones are lost while it lasts, and too few are left; name its own";
                return Err(OutageError { index: i, other: None, field: OutageField::Procs, problem: problem.into() });
            };
            on[i] = set;
        }
        active.push(i);
    }
    Ok(on)
}

fn named_processors(outage: &Outage) -> ProcSet {
    match &outage.which {
        Which::Count(_) => ProcSet::new(),
        Which::Named(set) => set.clone(),
    }
}

/// So many of these, from a place on and, where they end, from the beginning; `None` if there are
/// fewer.
fn find_neighbours(of: &ProcSet, count: Procs, from: Procs) -> Option<ProcSet> {
    let behind = of.difference(&ProcSet::from_range(0..from)).lowest_procs(count);
    let missing = count - behind.len();
    let set = behind.union(&of.difference(&behind).lowest_procs(missing));
    (set.len() == count).then_some(set)
}

/// A processor that follows from what the outage is: others beside it change nothing.
fn draw_processor(outage: &Outage, procs: Procs) -> Procs {
    let mut z =
        (outage.begin.0 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (outage.end_time().0 as u64).rotate_left(32);
    z = (z ^ u64::from(outage.procs())).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) % u64::from(procs)) as Procs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(procs: std::ops::Range<Procs>, begin: i64, end: i64) -> Outage {
        Outage::new_failure(Which::Named(ProcSet::from_range(procs)), Time(begin), Some(Time(end)))
    }

    fn count(procs: Procs, begin: i64, end: i64) -> Outage {
        Outage::new_failure(Which::Count(procs), Time(begin), Some(Time(end)))
    }

    fn problem(procs: Procs, outages: Vec<Outage>) -> (usize, Option<usize>, OutageField, String) {
        let error = Outages::new(Machine::new(procs), outages).expect_err("impossible");
        (error.index, error.other, error.field, error.problem)
    }

    #[test]
    fn what_cannot_be_is_told_with_its_place() {
        let cases = [
            (vec![count(0, 0, 9)], 0, None, OutageField::Procs, "no processor"),
            (vec![count(9, 0, 9)], 0, None, OutageField::Procs, "9 processors of a machine of 8"),
            (vec![named(6..9, 0, 9)], 0, None, OutageField::Procs, "whose last is 7"),
            (vec![count(1, 0, 9), count(1, 9, 9)], 1, None, OutageField::End, "begins at 9"),
            (
                vec![count(5, 0, 9), count(4, 8, 9)],
                1,
                Some(0),
                OutageField::Procs,
                "when 5 of the machine of 8 are out",
            ),
            (vec![named(2..5, 5, 9), named(4..6, 0, 6)], 0, Some(1), OutageField::Procs, "processors 4 at 5"),
            (vec![count(1, 0, 9).with_expected_end(Time(0))], 0, None, OutageField::Expected, "before it begins"),
            (
                vec![Outage { announced: Some(Time(1)), ..count(1, 0, 9) }],
                0,
                None,
                OutageField::Announced,
                "after it begins",
            ),
            (
                vec![Outage { may_cut: true, hit: OutageHit::Drain, ..count(1, 0, 9) }],
                0,
                None,
                OutageField::MayCut,
                "drains",
            ),
            (vec![count(1, TIME_LIMIT + 1, i64::MAX)], 0, None, OutageField::Begin, "beyond"),
        ];
        for (outages, index, rival, field, words) in cases {
            let report = problem(8, outages);
            assert_eq!((report.0, report.1, report.2), (index, rival, field), "{}", report.3);
            assert!(report.3.contains(words), "{}", report.3);
        }
    }

    /// One that begins when another ends may have its processors, and the whole machine may be out.
    #[test]
    fn what_meets_at_an_instant_does_not_overlap() {
        let outages = Outages::new(Machine::new(8), vec![named(0..8, 10, 20), named(0..8, 0, 10)]).expect("possible");
        assert_eq!(outages.list().iter().map(|o| o.begin.0).collect::<Vec<_>>(), [0, 10]);
        assert_eq!(outages.out_between(Time(5), Time(12)), 7.0 * 8.0);
    }

    /// Counted ones get processors that neither named nor other counted ones have while they last.
    #[test]
    fn counted_ones_are_given_others() {
        for shift in 0..40 {
            let list = vec![
                count(3, shift, shift + 20),
                named(1..3, shift + 10, shift + 30),
                count(3, shift + 15, shift + 40),
            ];
            let outages = Outages::new(Machine::new(8), list).expect("possible");
            let on: Vec<&ProcSet> = (0..3).map(|i| outages.processors_of(i)).collect();
            assert_eq!(on.iter().map(|set| set.len()).collect::<Vec<_>>(), [3, 2, 3]);
            assert!(on[0].is_disjoint(on[1]) && on[1].is_disjoint(on[2]) && on[0].is_disjoint(on[2]), "{on:?}");
        }
    }
}
