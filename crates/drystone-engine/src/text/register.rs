//! Errors of registration by name.

use super::is_name;

/// Reason why a policy or a predictor cannot be registered. A bug of the program that registers it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Its name stands for another one already, perhaps for itself.
    #[error("`{name}` is registered already, as {by}; give it another name, and register each only once")]
    Taken {
        /// The name.
        name: String,
        /// Kind of entry that has it.
        by: String,
    },
    /// Its declaration contradicts itself.
    #[error("`{name}` cannot be registered: {problem}")]
    Unsound {
        /// Its name.
        name: String,
        /// Description of the mistake.
        problem: String,
    },
}

/// Names are read in small letters.
pub fn name_problem(name: &str) -> Option<String> {
    let plain = !name.is_empty() && name.chars().all(|c| is_name(c) && !c.is_ascii_uppercase());
    (!plain).then(|| format!("`{name}` is no name; use small letters, digits, `-`, `_`, `.` or `+`"))
}
