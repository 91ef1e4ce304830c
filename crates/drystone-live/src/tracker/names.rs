//! Names of users, groups and queues as numbers, in the order in which they were seen.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Numbers names from 1 on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NumberedNames {
    names: Vec<String>,
    numbers: BTreeMap<String, i32>,
}

impl NumberedNames {
    /// The number of a name; a new one gets the next.
    pub fn assign_number(&mut self, name: &str) -> i32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        self.names.push(name.to_string());
        let number = i32::try_from(self.names.len()).unwrap_or(i32::MAX);
        self.numbers.insert(name.to_string(), number);
        number
    }

    /// The name of a number; empty where there is none.
    pub fn name_of(&self, number: i32) -> &str {
        let at = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
        at.and_then(|at| self.names.get(at)).map_or("", String::as_str)
    }
}
