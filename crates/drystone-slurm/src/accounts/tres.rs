//! Trackable resources, as limits have them.

use serde::{Deserialize, Serialize};

/// A limit of each resource that the model knows. `None` is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tres {
    /// Processors.
    pub cpu: Option<u64>,
    /// Nodes.
    pub node: Option<u64>,
}

impl Tres {
    /// Reads `cpu=9,node=3`. What the model does not know is answered beside it.
    ///
    /// # Errors
    /// A part that is no `NAME=NUMBER`.
    pub fn parse(text: &str) -> Result<(Tres, Vec<String>), String> {
        let (mut tres, mut left_out) = (Tres::default(), Vec::new());
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').ok_or_else(|| format!("`{part}` is no NAME=NUMBER"))?;
            // sacctmgr takes -1 for no limit, and memory with a unit.
            let number = if value == "-1" { None } else { Some(value) };
            let count = |text: &str| text.parse::<u64>().map_err(|_| format!("`{part}` has no whole number"));
            match name.to_ascii_lowercase().as_str() {
                "cpu" => tres.cpu = number.map(count).transpose()?,
                "node" => tres.node = number.map(count).transpose()?,
                // Without weights a job is billed for its processors.
                "billing" => tres.cpu = tres.cpu.or(number.map(count).transpose()?),
                _ => left_out.push(name.to_string()),
            }
        }
        Ok((tres, left_out))
    }

    /// Whether nothing is limited.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Tres::default()
    }

    /// Whether so many more would be too many beside those in use.
    #[must_use]
    pub(crate) fn exceeded(&self, used: (u64, u64), more: (u64, u64)) -> bool {
        self.cpu.is_some_and(|most| used.0 + more.0 > most) || self.node.is_some_and(|most| used.1 + more.1 > most)
    }

    /// The limits of this, and those of `other` where this has none.
    #[must_use]
    pub(crate) fn or(&self, other: &Tres) -> Tres {
        Tres { cpu: self.cpu.or(other.cpu), node: self.node.or(other.node) }
    }
}
