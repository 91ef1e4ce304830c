//! Failures as sentences, with the numbers that the printed log gives to jobs: from 1, by arrival.

use crate::subject::Guarantee;
use crate::watch::WatchedFate;
use drystone::metrics::PromisesKept;
use drystone_reference::checker::NaiveViolation;
use std::fmt;

/// A call that a simulation was seen to make: time, kind, job, and two numbers.
pub(crate) type TracedCall = (i64, &'static str, u32, i64, i64);

/// The guarantee as the end of a sentence.
impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Guarantee::InOrder => f.write_str("jobs start in the order of their arrival"),
            Guarantee::WorkConserving => f.write_str("no job waits while it fits"),
            Guarantee::KeepsPromises => f.write_str("no job starts later than promised"),
            Guarantee::ExactPromises => f.write_str("every job starts when promised"),
            Guarantee::Uninterrupted => f.write_str("no job is suspended"),
            Guarantee::GoesOnInPlace => f.write_str("suspended jobs resume where they were"),
            Guarantee::SuspendsAtMost(most) => write!(f, "no job is suspended more than {most} times"),
            Guarantee::MayKill => f.write_str("only jobs that outlive their estimates are killed"),
            Guarantee::AnyThreads => f.write_str("any number of threads gives one schedule"),
            Guarantee::Forgets => f.write_str("a simulation that is cut goes on as it did"),
            Guarantee::SameAs(text) => write!(f, "the schedule is that of {text}"),
        }
    }
}

/// The fate as a sentence, with its times.
impl fmt::Display for WatchedFate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WatchedFate::Ended { at, start, ran, suspensions, overhead } => {
                write!(f, "it started at {start} and ended at {at} after {ran} s, with {suspensions} suspensions")?;
                if *overhead > 0 { write!(f, " that cost {overhead} s") } else { Ok(()) }
            }
            WatchedFate::Cancelled => f.write_str("it was withdrawn before it started"),
            WatchedFate::Lost { at, ran } => write!(f, "an outage ended it at {at} after {ran} s"),
        }
    }
}

/// Returns a sentence about what came of a job.
pub(crate) fn describe_fates(index: usize, fates: &[WatchedFate]) -> String {
    let job = index + 1;
    match fates {
        [] => format!("job {job} never ends"),
        [fate] => format!("job {job}: {fate}"),
        several => {
            let descriptions: Vec<String> = several.iter().map(ToString::to_string).collect();
            format!("job {job} has {} ends: {}", several.len(), descriptions.join("; "))
        }
    }
}

/// Returns a sentence about the worst of the promises that were broken.
pub(crate) fn describe_broken_promise(promises: &PromisesKept) -> String {
    let PromisesKept { promised, broken, worst, .. } = promises;
    let worst = worst.map_or_else(String::new, |worst| {
        let number = worst.number.unwrap_or(i64::from(worst.id.0) + 1);
        format!("job {number} was promised {} and started at {}; ", worst.promised.0, worst.start.0)
    });
    format!("{worst}{broken} of {promised} promises are broken")
}

/// Returns sentences about what is wrong with a schedule whose jobs have these numbers.
pub(crate) fn describe_violations(wrong: &[NaiveViolation], number: &dyn Fn(usize) -> usize) -> String {
    wrong.iter().map(|violation| violation.describe_violation(number)).collect::<Vec<_>>().join("; ")
}

pub(crate) fn describe_call(&(at, kind, job, first, second): &TracedCall) -> String {
    let job = format!("job {}", u64::from(job) + 1);
    let description = match kind {
        "started" => format!("{job} starts"),
        "placed" => format!("{job} has {second} processors, whose numbers add up to {first}"),
        "resumed" => format!("{job} resumes"),
        "reserved" if second == i64::MAX => format!("{job} is planned to start at {first}"),
        "reserved" => format!("{job} is planned to start at {first}, at the latest at {second}"),
        "moved" => format!("{job} is moved to {first}"),
        "repredicted" => format!("{job} is predicted to run {first} s"),
        "ended" => format!("{job} ends after {first} corrections of its prediction"),
        "requeued" => format!("{job} comes back into the queue after {second} s"),
        "arrived" => format!("{job} arrives"),
        "capacity" => "processors go or come back".to_string(),
        "noted" => format!("the policy notes {first}"),
        "settled" => format!("{first} processors are free and {second} jobs suspended after a decision"),
        kind => format!("{job} is {kind}"),
    };
    format!("at {at} {description}")
}

/// Returns the first difference between the calls that are expected and those that are made; `None`
/// where there is none.
pub(crate) fn describe_difference(expected: &[TracedCall], actual: &[TracedCall]) -> Option<String> {
    let at = (0..expected.len().max(actual.len())).find(|&at| expected.get(at) != actual.get(at))?;
    let words = |calls: &[TracedCall]| calls.get(at).map_or_else(|| "nothing more happens".to_string(), describe_call);
    Some(format!("{}, and before, {}", words(actual), words(expected)))
}

/// Returns the first difference between the runs of two schedules, each by job, start and end.
pub(crate) fn describe_other_run(expected: &[(usize, i64, i64)], actual: &[(usize, i64, i64)]) -> Option<String> {
    let at = (0..expected.len().max(actual.len())).find(|&at| expected.get(at) != actual.get(at))?;
    let words = |runs: &[(usize, i64, i64)]| match runs.get(at) {
        Some((job, start, end)) => format!("job {} runs from {start} to {end}", job + 1),
        None => "no further job runs".to_string(),
    };
    Some(format!("{}, and before, {}", words(actual), words(expected)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::metrics::BrokenPromise;
    use drystone::model::{JobId, Time};

    #[test]
    fn jobs_have_the_numbers_of_the_log() {
        let broken = BrokenPromise { id: JobId(11), number: None, promised: Time(2019), start: Time(2029) };
        let promises = PromisesKept { promised: 4, broken: 1, excused: 0, worst: Some(broken) };
        assert_eq!(
            describe_broken_promise(&promises),
            "job 12 was promised 2019 and started at 2029; 1 of 4 promises are broken"
        );
        let expected = [(5, "arrived", 0, 0, 0), (5, "started", 0, 1, 0)];
        let actual = [(5, "arrived", 0, 0, 0), (7, "reserved", 0, 9, i64::MAX)];
        assert_eq!(
            describe_difference(&expected, &actual).as_deref(),
            Some("at 7 job 1 is planned to start at 9, and before, at 5 job 1 starts")
        );
        assert_eq!(
            describe_difference(&expected, &expected[..1]).as_deref(),
            Some("nothing more happens, and before, at 5 job 1 starts")
        );
        assert_eq!(describe_difference(&actual, &actual), None);
        let runs = describe_other_run(&[(2, 5, 9)], &[]);
        assert_eq!(runs.as_deref(), Some("no further job runs, and before, job 3 runs from 5 to 9"));
        let wrong = [NaiveViolation::WrongRunTime { job: 0, received: 5, due: 7 }];
        assert_eq!(describe_violations(&wrong, &|_| 4), "job 4 runs 5 s and is due 7 s");
    }
}
