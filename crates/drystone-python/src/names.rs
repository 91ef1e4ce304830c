//! Names of users, groups, programs, queues and partitions, which a workload has as numbers.

use crate::table::PyColumn;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The names of one column.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttributeNames {
    /// The name of each number from 0 on.
    words: Arc<Vec<String>>,
    /// Numbers that stand for ids beyond 32 bits.
    ids: BTreeMap<i32, i64>,
    /// Numbers by name, while a table is read.
    places: HashMap<String, i32>,
    /// Numbers by id, while a table is read.
    id_places: BTreeMap<i64, i32>,
    /// Ids that stand for themselves.
    taken: BTreeSet<i32>,
    /// Count of the numbers from the end that stand for ids.
    from_end: i32,
}

impl AttributeNames {
    /// Begins with names that keep their numbers. `values` are those of the column, ids where they
    /// are `numeric`.
    pub(crate) fn seed_names(
        earlier: Option<&AttributeNames>,
        values: impl Iterator<Item = Option<i64>>,
        numeric: bool,
    ) -> AttributeNames {
        let mut names = AttributeNames::default();
        if let Some(earlier) = earlier.filter(|_| !numeric) {
            names.words = Arc::clone(&earlier.words);
            names.places = earlier.words.iter().enumerate().map(|(at, word)| (word.clone(), at as i32)).collect();
        }
        if numeric {
            names.taken = values.flatten().filter_map(|value| i32::try_from(value).ok()).collect();
            if let Some(earlier) = earlier {
                let free = earlier.ids.iter().filter(|(number, _)| !names.taken.contains(number));
                names.ids = free.map(|(&number, &id)| (number, id)).collect();
                names.id_places = names.ids.iter().map(|(&number, &id)| (id, number)).collect();
            }
        }
        names
    }

    /// The number of a name; `None` where there are too many.
    pub(crate) fn number_of_word(&mut self, word: &str) -> Option<i32> {
        if let Some(&number) = self.places.get(word) {
            return Some(number);
        }
        let number = i32::try_from(self.words.len()).ok()?;
        Arc::make_mut(&mut self.words).push(word.to_string());
        self.places.insert(word.to_string(), number);
        Some(number)
    }

    /// The number of an id: itself where it has 32 bits, else one from the end that no id has.
    pub(crate) fn number_of_id(&mut self, id: i64) -> Option<i32> {
        if let Ok(number) = i32::try_from(id) {
            return Some(number);
        }
        if let Some(&number) = self.id_places.get(&id) {
            return Some(number);
        }
        let number = loop {
            let number = i32::MAX.checked_sub(self.from_end).filter(|&number| number >= 0)?;
            self.from_end += 1;
            if !self.taken.contains(&number) && !self.ids.contains_key(&number) {
                break number;
            }
        };
        self.ids.insert(number, id);
        self.id_places.insert(id, number);
        Some(number)
    }

    /// The name of each number from 0 on; empty where the log has numbers.
    pub(crate) fn words(&self) -> &Arc<Vec<String>> {
        &self.words
    }

    /// The id that a number stands for.
    pub(crate) fn id(&self, number: i32) -> i64 {
        self.ids.get(&number).copied().unwrap_or(i64::from(number))
    }
}

/// The names of a workload.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkloadNames {
    columns: BTreeMap<&'static str, AttributeNames>,
}

impl WorkloadNames {
    /// Columns that may hold names.
    pub(crate) const COLUMNS: [&'static str; 5] = ["user", "group", "executable", "queue", "partition"];

    pub(crate) fn column_names(&self, column: &str) -> Option<&AttributeNames> {
        self.columns.get(column)
    }

    /// Keeps the names of a column, if it has any.
    pub(crate) fn set_column(&mut self, column: &'static str, names: AttributeNames) {
        if !names.words.is_empty() || !names.ids.is_empty() {
            let AttributeNames { words, ids, .. } = names;
            self.columns.insert(column, AttributeNames { words, ids, ..AttributeNames::default() });
        }
    }

    /// The names as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let of = |names: &AttributeNames| json!({ "words": *names.words, "ids": names.ids.iter().collect::<Vec<_>>() });
        self.columns.iter().map(|(column, names)| ((*column).to_string(), of(names))).collect()
    }

    /// The names that JSON holds; what it does not hold as it should has none.
    pub(crate) fn from_json(value: &Value) -> WorkloadNames {
        let mut column_names = WorkloadNames::default();
        for column in WorkloadNames::COLUMNS {
            let of = &value[column];
            let words = serde_json::from_value(of["words"].clone()).unwrap_or_default();
            let ids: Vec<(i32, i64)> = serde_json::from_value(of["ids"].clone()).unwrap_or_default();
            let names =
                AttributeNames { words: Arc::new(words), ids: ids.into_iter().collect(), ..AttributeNames::default() };
            column_names.set_column(column, names);
        }
        column_names
    }

    /// Returns the numbers of a column as they are shown: names, or ids of any size.
    pub(crate) fn make_column(&self, column: &str, numbers: Vec<i32>) -> PyColumn {
        match self.column_names(column) {
            Some(names) if !names.words.is_empty() => PyColumn::Names(numbers, Arc::clone(&names.words)),
            Some(names) => PyColumn::Int(numbers.into_iter().map(|number| names.id(number)).collect()),
            None => PyColumn::Int(numbers.into_iter().map(i64::from).collect()),
        }
    }
}
