//! Is this a schedule on a machine that loses processors? Asked without knowing how it was made.

use crate::checker::NaiveSegment;
use crate::outages::{NaiveHit, OutageIn};

/// Input of the check.
#[derive(Clone, Copy, Debug)]
pub struct NaiveAsked<'a> {
    /// Processors of the machine.
    pub machine: i64,
    /// Processors of each job.
    pub procs: &'a [i64],
    /// Every time in which a job ran, also in vain.
    pub attempts: &'a [NaiveSegment],
    pub outages: &'a [OutageIn],
    /// Predicted run time of each job, where predictions were right or too long: then no start runs
    /// into an announced outage.
    pub predicted: Option<&'a [i64]>,
    /// Time at which the initial jobs were submitted; their processors may have been out since
    /// before.
    pub begin: Option<i64>,
    /// True if there is one pass at an instant: a start at the second of an outage has then seen
    /// it.
    pub strict: bool,
}

/// Everything that is wrong.
///
/// # Errors
/// In words.
pub fn check_schedule(question: &NaiveAsked<'_>) -> Result<(), Vec<String>> {
    let mut wrong = Vec::new();
    for segment in question.attempts {
        question.enough_is_up(segment.start, &mut wrong);
        question.stays_off(segment, &mut wrong);
        question.ends_in_time(segment, &mut wrong);
    }
    for outage in question.outages {
        question.enough_is_up(outage.begin, &mut wrong);
    }
    wrong.sort();
    wrong.dedup();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn is_out(outage: &OutageIn, at: i64) -> bool {
    outage.begin <= at && outage.end.is_none_or(|end| at < end)
}

impl NaiveAsked<'_> {
    /// Returns whether a job has started before the outage became visible.
    fn started_before(&self, segment: &NaiveSegment, outage: &OutageIn) -> bool {
        segment.start < outage.begin || (!self.strict && segment.start == outage.begin)
    }

    /// Returns whether a job keeps processors that an outage has taken.
    fn is_drained(&self, segment: &NaiveSegment, outage: &OutageIn) -> bool {
        let was_adopted = self.begin.is_some_and(|begin| outage.begin < begin && segment.start < begin);
        was_adopted || outage.hit == NaiveHit::Drain && self.started_before(segment, outage)
    }

    fn running_segments(&self, at: i64) -> impl Iterator<Item = &NaiveSegment> + '_ {
        self.attempts.iter().filter(move |s| s.start <= at && at < s.end)
    }

    /// Jobs use no more than is up; those that are drained may keep what an outage has taken.
    fn enough_is_up(&self, at: i64, wrong: &mut Vec<String>) {
        let usage: i64 = self.running_segments(at).map(|s| self.procs[s.job]).sum();
        let out = self.outages.iter().filter(|outage| is_out(outage, at)).map(|outage| {
            let old: i64 =
                self.running_segments(at).filter(|s| self.is_drained(s, outage)).map(|s| self.procs[s.job]).sum();
            (outage.procs - old).max(0)
        });
        let up = self.machine - out.sum::<i64>();
        if usage > up {
            wrong.push(format!("at {at} jobs use {usage} processors, and {up} are up"));
        }
    }

    /// Checks, where processors are numbered, that no job is on one that is out, unless it is
    /// drained.
    fn stays_off(&self, segment: &NaiveSegment, wrong: &mut Vec<String>) {
        let Some(on) = &segment.processors else { return };
        for outage in self.outages {
            let mine = on.iter().any(|&p| (outage.first..outage.first + outage.procs).contains(&i64::from(p)));
            let meet = segment.start < outage.end.unwrap_or(i64::MAX) && outage.begin < segment.end;
            if mine && meet && !self.is_drained(segment, outage) {
                let (job, start) = (segment.job, segment.start);
                wrong.push(format!(
                    "job {job}, started at {start}, runs on a processor that is out from {} on",
                    outage.begin
                ));
            }
        }
    }

    /// No job starts that is predicted to run into an outage that was announced before.
    fn ends_in_time(&self, segment: &NaiveSegment, wrong: &mut Vec<String>) {
        let Some(predictions) = self.predicted else { return };
        if self.begin.is_some_and(|begin| segment.start < begin) {
            return;
        }
        let (at, job) = (segment.start, segment.job);
        let ends = |s: &NaiveSegment| s.start + predictions[s.job].max(1);
        // Announced in that very second counts only where announcements come before starts.
        let is_known = |o: &OutageIn| o.known < at || (self.strict && o.known == at);
        for outage in self.outages.iter().filter(|o| is_known(o) && o.begin > at && o.begin < ends(segment)) {
            let over: i64 =
                self.running_segments(at).filter(|s| ends(s) > outage.begin).map(|s| self.procs[s.job]).sum();
            let is_gone = |o: &&OutageIn| {
                let until = o.expected.filter(|&expected| expected > at).unwrap_or(i64::MAX);
                let begins = is_out(o, at) && is_known(o) || is_known(o) && o.begin > at && o.begin <= outage.begin;
                begins && until > outage.begin
            };
            // What is drained is held by jobs that are counted.
            let held_procs = |o: &OutageIn| -> i64 {
                let drained_segments = self
                    .running_segments(at)
                    .filter(|s| is_out(o, at) && self.is_drained(s, o) && ends(s) > outage.begin);
                drained_segments.map(|s| self.procs[s.job]).sum()
            };
            let gone_procs: i64 = self.outages.iter().filter(is_gone).map(|o| (o.procs - held_procs(o)).max(0)).sum();
            if over > self.machine - gone_procs && segment.end > segment.start {
                wrong.push(format!(
                    "job {job} starts at {at} and is predicted to run into the outage of {}",
                    outage.begin
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(job: usize, start: i64, end: i64) -> NaiveSegment {
        NaiveSegment { job, start, end, processors: None }
    }

    fn outage(procs: i64, begin: i64, end: i64, hit: NaiveHit) -> OutageIn {
        OutageIn { first: 0, procs, known: begin, begin, end: Some(end), expected: None, hit }
    }

    fn found(attempts: &[NaiveSegment], outages: &[OutageIn], predictions: Option<&[i64]>) -> Vec<String> {
        let asked = NaiveAsked {
            machine: 4,
            procs: &[2, 2, 3],
            attempts,
            outages,
            predicted: predictions,
            begin: None,
            strict: true,
        };
        check_schedule(&asked).err().unwrap_or_default()
    }

    /// Two jobs of two processors fill the machine until an outage takes two: one of them has to
    /// go, or is drained.
    #[test]
    fn what_uses_more_than_is_up_is_found() {
        let pair = [segment(0, 0, 50), segment(1, 0, 100)];
        assert_eq!(found(&pair, &[outage(2, 50, 80, NaiveHit::Requeue)], None), [""; 0]);
        let wrong = found(&pair, &[outage(2, 40, 80, NaiveHit::Requeue)], None);
        assert_eq!(wrong, ["at 40 jobs use 4 processors, and 2 are up"]);
        assert_eq!(found(&pair, &[outage(2, 40, 80, NaiveHit::Drain)], None), [""; 0]);
        // What starts while the outage lasts has to find enough.
        let late = [segment(0, 0, 100), segment(1, 0, 50), segment(2, 60, 70)];
        assert_eq!(found(&late, &[outage(2, 40, 80, NaiveHit::Drain)], None).len(), 1);
    }

    #[test]
    fn what_is_predicted_to_run_into_a_window_is_found() {
        let window = OutageIn { known: 0, expected: Some(80), ..outage(3, 50, 80, NaiveHit::Drain) };
        let (short, long) = ([50, 50, 50], [51, 51, 51]);
        assert_eq!(found(&[segment(0, 0, 10)], &[window], Some(&short)), [""; 0]);
        let wrong = found(&[segment(0, 0, 10)], &[window], Some(&long));
        assert_eq!(wrong, ["job 0 starts at 0 and is predicted to run into the outage of 50"]);
        let single = OutageIn { procs: 2, ..window };
        assert_eq!(found(&[segment(0, 0, 10)], &[single], Some(&long)), [""; 0]);
        assert_eq!(found(&[segment(0, 0, 10), segment(1, 5, 10)], &[single], Some(&long)).len(), 1);
    }

    #[test]
    fn names_are_looked_at() {
        let on = |start| NaiveSegment { processors: Some(vec![1, 2]), ..segment(0, start, start + 20) };
        let node_outage = OutageIn { first: 2, ..outage(1, 10, 30, NaiveHit::Requeue) };
        assert_eq!(found(&[on(15)], &[node_outage], None).len(), 1);
        assert_eq!(found(&[on(30)], &[node_outage], None).len(), 0);
        assert_eq!(found(&[on(0)], &[OutageIn { hit: NaiveHit::Drain, ..node_outage }], None).len(), 0);
    }
}
