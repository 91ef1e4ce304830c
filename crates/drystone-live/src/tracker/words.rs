//! Last words on holds: of users, of operators.

use crate::cluster::{JobKey, JobName};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Last words on holds, by job, array or task: true for a hold, false where it was taken back.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct HoldWords(BTreeMap<JobName, bool>);

impl HoldWords {
    /// Notes the last word on a hold. What is said of an array is said of all its tasks.
    pub fn note_hold(&mut self, name: JobName, holds: bool) {
        if name.task.is_none() {
            self.forget_job(name.id);
        }
        self.0.insert(name, holds);
    }

    /// Forgets a job, or an array with its tasks.
    pub fn forget_job(&mut self, id: u64) {
        let names: Vec<JobName> = self.0.range(names_of(id)).map(|(&name, _)| name).collect();
        for name in names {
            self.0.remove(&name);
        }
    }

    pub fn last_word(&self, key: JobKey) -> Option<bool> {
        let of = |task| self.0.get(&JobName { id: key.id, task }).copied();
        of(key.task).or_else(|| of(None))
    }

    /// Returns whether a job is held by the last word on it.
    pub fn is_held(&self, key: JobKey) -> bool {
        self.last_word(key) == Some(true)
    }

    /// Returns whether any word on a job, an array or one of its tasks is known.
    pub fn knows_job(&self, id: u64) -> bool {
        self.0.range(names_of(id)).next().is_some()
    }

    /// Takes in older words on names of which none is known.
    pub fn add_older(&mut self, older: HoldWords) {
        for (name, holds) in older.0 {
            self.0.entry(name).or_insert(holds);
        }
    }

    pub fn retain(&mut self, is_kept: impl Fn(&JobName) -> bool) {
        self.0.retain(|name, _| is_kept(name));
    }

    pub fn iter(&self) -> impl Iterator<Item = (JobName, bool)> + '_ {
        self.0.iter().map(|(&name, &holds)| (name, holds))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Names of a job or an array and of its tasks.
fn names_of(id: u64) -> std::ops::RangeInclusive<JobName> {
    JobName { id, task: None }..=JobName { id, task: Some(u32::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_an_array_is_said_of_its_tasks() {
        let (array, task) = (JobName { id: 5, task: None }, JobName { id: 5, task: Some(2) });
        let key = |task| JobKey { id: 5, task: Some(task), submit: 7 };
        let mut words = HoldWords::default();
        words.note_hold(task, true);
        assert_eq!((words.last_word(key(2)), words.last_word(key(3))), (Some(true), None));
        words.note_hold(array, false);
        assert_eq!((words.last_word(key(2)), words.last_word(key(3)), words.len()), (Some(false), Some(false), 1));
        let mut older = HoldWords::default();
        older.note_hold(array, true);
        older.note_hold(task, true);
        words.add_older(older);
        assert_eq!(
            (words.last_word(key(2)), words.last_word(key(3)), words.knows_job(5)),
            (Some(true), Some(false), true)
        );
        words.forget_job(5);
        assert!(words.is_empty() && !words.knows_job(5));
    }
}
