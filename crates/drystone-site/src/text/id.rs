//! Names of jobs: `123`, `123_4`, `123_[5-9]`, `123+1`, `123.batch`.

use super::number::split_leading;
use super::tasks::{TaskSet, parse_tasks};

/// Part of an array or of a heterogeneous job that a name means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum IdPart {
    /// The job itself.
    Whole,
    Task(u32),
    /// Tasks of the array that have not been split off.
    Tasks(TaskSet),
    /// One component of a heterogeneous job.
    Component(u32),
}

/// A job's name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct JobLabel {
    pub(crate) number: u64,
    pub(crate) part: IdPart,
}

/// Meaning of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Id<'a> {
    /// A job, an array's task or tasks, a component.
    Job(JobLabel),
    /// A step of the job of this name.
    Step(&'a [u8]),
}

impl Id<'_> {
    /// Reads a name; `None` for anything else.
    #[inline]
    pub(crate) fn parse_id(text: &[u8]) -> Option<Id<'_>> {
        let (number, rest) = split_leading(text)?;
        let part = match rest {
            [] => IdPart::Whole,
            [b'.', step @ ..] => return (!step.is_empty()).then_some(Id::Step(&text[..text.len() - rest.len()])),
            [b'_', b'[', inner @ ..] => {
                // Slurm cuts at 64 bytes, and then the bracket may be missing.
                let inner = inner.strip_suffix(b"]").or(inner.ends_with(b"...").then_some(inner))?;
                IdPart::Tasks(parse_tasks(inner)?)
            }
            [b'_', behind @ ..] | [b'+', behind @ ..] => {
                let (index, after) = split_leading(behind)?;
                let index = u32::try_from(index).ok().filter(|&i| i < u32::MAX - 8)?;
                match after {
                    [] if rest[0] == b'_' => IdPart::Task(index),
                    [] => IdPart::Component(index),
                    [b'.', step @ ..] => {
                        return (!step.is_empty()).then_some(Id::Step(&text[..text.len() - after.len()]));
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(Id::Job(JobLabel { number, part }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_parts_and_steps() {
        let job = |text: &str| match Id::parse_id(text.as_bytes()) {
            Some(Id::Job(JobLabel { number, part })) => Some((number, part)),
            _ => None,
        };
        assert_eq!(job("123"), Some((123, IdPart::Whole)));
        assert_eq!(job("123_4"), Some((123, IdPart::Task(4))));
        assert_eq!(job("123+1"), Some((123, IdPart::Component(1))));
        assert!(
            matches!(job("123_[5-9%2]"), Some((123, IdPart::Tasks(set))) if set.len() == 5 && set.throttle == Some(2))
        );
        assert!(matches!(job("123_[1,3,5,7,1...]"), Some((123, IdPart::Tasks(set))) if set.cut && set.len() == 4));
        assert!(matches!(job("123_[1,3,5,7,1..."), Some((123, IdPart::Tasks(set))) if set.cut));
        for (step, of) in
            [("123.batch", "123"), ("123_4.0", "123_4"), ("123+0.extern", "123+0"), ("4.interactive", "4")]
        {
            assert_eq!(Id::parse_id(step.as_bytes()), Some(Id::Step(of.as_bytes())));
        }
        for text in ["", "x", "12x", "12_", "12_x", "12+", "12.", "12_4.", "12_[", "12_[]", "12_[1-2", "-3"] {
            assert_eq!(Id::parse_id(text.as_bytes()), None, "{text}");
        }
    }
}
