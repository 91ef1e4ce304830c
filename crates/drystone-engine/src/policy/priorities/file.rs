//! Priorities from a TOML file.

use super::rules::{Every, Grade};
use super::{Priorities, PriorityError, Quota, RuleOwner};
use crate::model::Span;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriorityFile {
    default: Option<GivenPriority>,
    #[serde(default)]
    user: Vec<Owned>,
    #[serde(default)]
    group: Vec<Owned>,
    #[serde(default)]
    queue: Vec<Owned>,
    #[serde(default)]
    job: Vec<Single>,
    #[serde(default)]
    every: Vec<Periodic>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenPriority {
    up: Option<f64>,
    pp: Option<f64>,
    reserve: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Owned {
    id: Ids,
    up: Option<f64>,
    pp: Option<f64>,
    reserve: Option<i64>,
    quota: Option<Quota>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Single {
    number: Ids,
    up: Option<f64>,
    pp: Option<f64>,
    reserve: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Periodic {
    nth: u32,
    first: Option<u32>,
    up: Option<f64>,
    pp: Option<f64>,
    reserve: Option<i64>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number or a list of numbers")]
enum Ids {
    One(i64),
    Many(Vec<i64>),
}

impl Ids {
    fn as_slice(&self) -> &[i64] {
        match self {
            Ids::One(id) => std::slice::from_ref(id),
            Ids::Many(ids) => ids,
        }
    }
}

impl Priorities {
    /// Reads a file of priorities:
    ///
    /// ```toml
    /// default = { up = 0.0, pp = 0.0 }     # of all that are not named; 0 where it is not given
    ///
    /// [[user]]
    /// id = [12, 13]                        # one number or a list
    /// up = 0.5                             # what the user says, from 0 to 1
    /// pp = 1.0                             # what the administrator says, from 0 to 1
    /// quota = { jobs = 20, procs = 64, processor_hours = 5000, days = 30 }   # any of them
    ///
    /// [[group]]
    /// id = 3
    /// pp = -inf                            # only where they delay no other job
    ///
    /// [[queue]]
    /// id = 1
    /// pp = 0.25
    ///
    /// [[job]]
    /// number = 4711                        # the log's number
    /// up = 1.0
    /// reserve = 7200                       # it is to start two hours after its submit, not before
    ///
    /// [[every]]                            # every fifth job in the order of arrival, from the first on
    /// nth = 5
    /// first = 1
    /// up = 1.0
    /// pp = 1.0
    /// ```
    ///
    /// # Errors
    /// A text that is no TOML, a key that does not exist, a priority outside [0, 1], an impossible
    /// quota, two rules that say different things of the same user, group, queue or job. (Whether
    /// those exist, [`Priorities::for_workload`] says.)
    pub fn from_toml(text: &str) -> Result<Priorities, PriorityError> {
        let file: PriorityFile =
            toml::from_str(text).map_err(|e| PriorityError(e.to_string().trim_end().to_string()))?;
        let mut priorities = Priorities::default();
        if let Some(GivenPriority { up, pp, reserve }) = file.default {
            priorities.set_default(Grade { up, pp, reserve: reserve.map(Span) })?;
        }
        for (owner, rules) in
            [(RuleOwner::User, &file.user), (RuleOwner::Group, &file.group), (RuleOwner::Queue, &file.queue)]
        {
            for Owned { id, up, pp, reserve, quota } in rules {
                let grade = Grade { up: *up, pp: *pp, reserve: reserve.map(Span) };
                for &id in id.as_slice() {
                    priorities.add_owner(owner, id, grade, *quota)?;
                }
            }
        }
        for Single { number, up, pp, reserve } in &file.job {
            let grade = Grade { up: *up, pp: *pp, reserve: reserve.map(Span) };
            for &number in number.as_slice() {
                priorities.add_job(number, grade)?;
            }
        }
        for Periodic { nth, first, up, pp, reserve } in file.every {
            let grade = Grade { up, pp, reserve: reserve.map(Span) };
            priorities.add_every(Every { nth, first: first.unwrap_or(nth), grade })?;
        }
        Ok(priorities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, JobId, LogStatus, Machine, Provenance, Time, Truth, Workload};
    use crate::policy::Importance;

    fn job(user: i32, group: i32, queue: i32) -> Job {
        Job { user, group, queue, ..Job::new(Time(0), 1, Span(60)) }
    }

    fn workload() -> Workload {
        let jobs = vec![job(12, 3, 1), job(13, 3, 2), job(14, 4, 2)];
        let truth = [4710, 4711, 4712].map(|number| Truth { run: Span(1), number, status: LogStatus::Completed });
        Workload::new(Machine::new(4), jobs, truth.into(), Provenance::default()).expect("good jobs")
    }

    #[test]
    fn the_most_specific_rule_decides() {
        let text = "
            default = { up = 0.1, pp = 0.2 }
            [[user]]
            id = 12
            up = 0.5
            [[group]]
            id = 3
            up = 0.9
            pp = -inf
            [[queue]]
            id = [1, 2]
            pp = 0.25
            [[job]]
            number = 4711
            up = 1
            [[every]]
            nth = 3
            pp = 0.75
        ";
        let workload = workload();
        let priorities =
            Priorities::from_toml(text).expect("a good file").for_workload(&workload).expect("known names");
        let of = |at: u32| priorities.job_importance(JobId(at), workload.job(JobId(at)));
        assert_eq!(of(0), Importance { user: 0.5, political: f64::NEG_INFINITY });
        assert_eq!(of(1), Importance { user: 1.0, political: f64::NEG_INFINITY });
        assert_eq!(of(2), Importance { user: 0.1, political: 0.75 });
    }

    #[test]
    fn starts_are_reserved_by_the_most_specific_rule() {
        let text = "default = { reserve = 5 }\n[[user]]\nid = 12\nreserve = 60\n[[job]]\nnumber = 4711\nreserve = 0";
        let workload = workload();
        let priorities =
            Priorities::from_toml(text).expect("a good file").for_workload(&workload).expect("known names");
        let delay = |at: u32| priorities.reserved_delay(JobId(at), workload.job(JobId(at)));
        assert_eq!([0, 1, 2].map(delay), [Some(Span(60)), Some(Span(0)), Some(Span(5))]);
        assert!(priorities.has_reservations());
        let file = Priorities::from_toml("[[user]]\nid = 12\nup = 1").expect("a good file");
        assert!(!file.has_reservations() && file.reserved_delay(JobId(0), workload.job(JobId(0))).is_none());
    }

    #[test]
    fn every_fifth_job() {
        let fifth = Priorities::from_toml("every = [{ nth = 5, first = 1, up = 1, pp = 1 }]").expect("a good file");
        let high = |at: u32| fifth.job_importance(JobId(at), &job(1, 1, 1)).user == 1.0;
        assert_eq!((0..12).filter(|&at| high(at)).collect::<Vec<_>>(), [0, 5, 10]);
        let phase_0 = Priorities::from_toml("every = [{ nth = 5, up = 1 }]").expect("a good file");
        let high = |at: u32| phase_0.job_importance(JobId(at), &job(1, 1, 1)).user == 1.0;
        assert_eq!((0..12).filter(|&at| high(at)).collect::<Vec<_>>(), [4, 9]);
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("usr = 1", "unknown field `usr`"),
            ("[[user]]\nid = 1\nprio = 1", "unknown field `prio`"),
            ("[[user]]\nid = 1\nquota = { cpus = 1 }", "unknown field `cpus`"),
            ("[[user]]\nup = 1", "missing field `id`"),
            ("[[user]]\nid = 'root'", "a number or a list of numbers"),
            ("[[user]]\nid = 1\nup = 1.5", "user 1: up = 1.5 does not lie between 0 and 1"),
            ("[[user]]\nid = 1\nup = -inf", "up = -inf does not lie"),
            ("[[user]]\nid = 1\npp = nan", "pp = NaN does not lie"),
            ("[[group]]\nid = 1\npp = -0.1", "group 1: pp = -0.1 does not lie"),
            ("default = { pp = 7 }", "the default: pp = 7"),
            (
                "[[user]]\nid = 1\nup = 1\n[[user]]\nid = [2, 1]\nup = 0.5",
                "contradict each other: user 1 has up = 1 and up = 0.5",
            ),
            ("[[job]]\nnumber = 8\npp = 1\n[[job]]\nnumber = 8\npp = -inf", "job 8 has pp = 1 and pp = -inf"),
            (
                "every = [{ nth = 4, first = 1, up = 1 }, { nth = 6, first = 3, up = 0 }]",
                "contradict each other: a job that is both one job in 4 from job 1 on and one job in 6 from job 3 on has up = 1 \
                 and up = 0",
            ),
            ("[[user]]\nid = 1\nquota = { jobs = 1 }\n[[user]]\nid = 1\nquota = { jobs = 2 }", "user 1 has two quotas"),
            ("[[user]]\nid = 1\nquota = { days = 1 }", "days without processor_hours"),
            ("[[user]]\nid = 1\nquota = { processor_hours = -1 }", "a number from 0 on"),
            ("[[user]]\nid = 1\nquota = { processor_hours = 1, days = 0 }", "at least one day"),
            ("[[user]]\nid = 1\nquota = {}", "a quota limits"),
            ("every = [{ nth = 0 }]", "counted from 1"),
            ("user = ", "TOML parse error at line 1"),
            ("[[job]]\nnumber = 8\nreserve = -1", "job 8: reserve = -1 does not lie between 0 and"),
            (
                "[[job]]\nnumber = 8\nreserve = 60\n[[job]]\nnumber = 8\nreserve = 90",
                "job 8 has reserve = 60 and reserve = 90",
            ),
        ] {
            let error = Priorities::from_toml(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn different_rules_that_agree_or_never_meet_are_no_contradiction() {
        for text in [
            "[[user]]\nid = 1\nup = 1\n[[user]]\nid = 1\npp = 0.5",
            "[[user]]\nid = 1\nup = 1\n[[user]]\nid = 1\nup = 1",
            "[[user]]\nid = 1\nquota = { jobs = 1 }\n[[user]]\nid = 1\nquota = { jobs = 1 }",
            "every = [{ nth = 4, first = 1, up = 1 }, { nth = 6, first = 2, up = 0 }]",
            "",
        ] {
            Priorities::from_toml(text).expect(text);
        }
    }

    #[test]
    fn names_must_be_in_the_log() {
        for (text, part) in [
            ("[[user]]\nid = 99\nup = 1", "the log has no user 99; numbers from 12 to 14 occur in it"),
            ("[[queue]]\nid = 5\nquota = { jobs = 1 }", "no queue 5"),
            ("[[job]]\nnumber = 1\nup = 1", "no job 1; numbers from 4710 to 4712"),
        ] {
            let priorities = Priorities::from_toml(text).expect(text);
            let error = priorities.for_workload(&workload()).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
