//! Priorities in a few words, for scripts: `every(5,first=1)`.

use super::rules::{Every, Grade};
use super::{Priorities, PriorityError, RuleOwner};
use crate::model::Span;
use crate::policy::{NamedCall, Takes, ValueForm};

/// Values of the parameter `priorities`, for people.
const VALUES: &str = "equal|all(up=U,pp=P,reserve=SECONDS)|every(N,first=K,up=U,pp=P,reserve=SECONDS)|user(ID,...,up=U,pp=P,reserve=SECONDS)|group(...)|queue(...)";

/// Values of a parameter that sets priorities.
pub const TAKES: Takes = Takes::Form(&ValueForm {
    name: "priorities",
    shape: VALUES,
    samples: &["equal", "all(up=1,pp=0.5)", "every(5,first=1)", "user(1,2,pp=1)", "every(20,up=0,pp=0,reserve=7200)"],
    check: |text| Priorities::from_text(text).is_ok(),
});

impl Priorities {
    /// Reads priorities from a short text: `equal` (0 for all), `all(up=1,pp=1)`,
    /// `every(5,first=1)`, `user(12,13,pp=1)`, `group(3,up=0.5,pp=0)`, `queue(1,pp=-inf)`,
    /// `every(20,reserve=7200)`. A priority that is not given is 1; all other jobs have 0. The
    /// first job of `every(N)` is the N-th.
    ///
    /// # Errors
    /// Anything else; a priority outside [0, 1].
    pub fn from_text(text: &str) -> Result<Priorities, PriorityError> {
        let wrong = |problem: &str| PriorityError(format!("{problem} in `{text}`; priorities takes {VALUES}"));
        let call = NamedCall::parse(text).map_err(|e| wrong(&e.problem))?;
        let mut grade = Grade { up: Some(1.0), pp: Some(1.0), reserve: None };
        let mut first = None;
        let mut ids = Vec::new();
        for (key, value) in &call.args {
            let number = || value.parse::<f64>().map_err(|_| wrong(&format!("`{value}` is no number")));
            match key.as_deref() {
                Some("up") => grade.up = Some(number()?),
                Some("pp") => grade.pp = Some(number()?),
                Some("reserve") => {
                    let whole =
                        value.parse::<i64>().map_err(|_| wrong(&format!("`{value}` is no number of seconds")))?;
                    grade.reserve = Some(Span(whole));
                }
                Some("first") if call.name == "every" => first = value.parse::<u32>().ok().or(Some(0)),
                Some(other) => return Err(wrong(&format!("unknown `{other}`"))),
                None => ids.push(value.parse::<i64>().map_err(|_| wrong(&format!("`{value}` is no number")))?),
            }
        }
        let mut priorities = Priorities::default();
        let owner = match call.name.as_str() {
            "equal" if call.args.is_empty() => return Ok(priorities),
            "all" if ids.is_empty() => {
                priorities.set_default(grade)?;
                return Ok(priorities);
            }
            "every" => {
                let [nth] = ids.as_slice() else { return Err(wrong("one number is needed")) };
                let nth = u32::try_from(*nth).map_err(|_| wrong("a number from 1 on is needed"))?;
                priorities.add_every(Every { nth, first: first.unwrap_or(nth), grade })?;
                return Ok(priorities);
            }
            "user" => RuleOwner::User,
            "group" => RuleOwner::Group,
            "queue" => RuleOwner::Queue,
            _ => return Err(wrong("nothing that is known")),
        };
        if ids.is_empty() {
            return Err(wrong(&format!("no {owner} is named")));
        }
        for id in ids {
            priorities.add_owner(owner, id, grade, None)?;
        }
        Ok(priorities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, JobId, Time};

    #[test]
    fn texts_and_mistakes() {
        let mut job = Job::new(Time(0), 1, Span(1));
        job.user = 13;
        let of = |text: &str, at| {
            let i = Priorities::from_text(text).expect(text).job_importance(JobId(at), &job);
            (i.user, i.political)
        };
        assert_eq!(of("equal", 0), (0.0, 0.0));
        assert_eq!(of("all(up=0.5)", 0), (0.5, 1.0));
        assert_eq!(of("every(5,first=1)", 5), (1.0, 1.0));
        assert_eq!(of("every(5)", 5), (0.0, 0.0));
        assert_eq!(of("every(5)", 4), (1.0, 1.0));
        assert_eq!(of("user(12,13,pp=-inf)", 4), (1.0, f64::NEG_INFINITY));
        assert_eq!(of("group(12)", 4), (0.0, 0.0));
        for (text, part) in [
            ("most", "priorities takes equal"),
            ("every", "one number is needed"),
            ("every(0)", "counted from 1"),
            ("every(5,first=x)", "counted from 1"),
            ("every(5,up=2)", "up = 2 does not lie between 0 and 1"),
            ("user(root)", "`root` is no number"),
            ("user()", "no user is named"),
            ("user(1,first=2)", "unknown `first`"),
            ("all(3)", "nothing that is known"),
            ("equal(3)", "nothing that is known"),
            ("equal(up=1)", "nothing that is known"),
            ("every(5,reserve=2h)", "`2h` is no number of seconds"),
            ("every(5,up=2)", "one job in 5 from job 5 on: up = 2"),
        ] {
            let error = Priorities::from_text(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
