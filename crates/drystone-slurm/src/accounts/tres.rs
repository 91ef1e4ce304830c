//! Trackable resources, as limits have them.

use serde::{Deserialize, Serialize};

/// A limit of each resource that the model knows. `None` is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tres {
    /// Processors.
    pub cpu: Option<u64>,
    /// Nodes.
    pub node: Option<u64>,
    /// Megabytes of memory.
    pub mem: Option<u64>,
    /// GPUs of all types.
    pub gpu: Option<u64>,
}

/// So much of each resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TresAmounts {
    pub(crate) cpu: u64,
    pub(crate) node: u64,
    pub(crate) mem: u64,
    pub(crate) gpu: u64,
}

/// A resource that limits know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TresResource {
    Cpu,
    Node,
    Mem,
    Gpu,
}

/// Megabytes; Slurm takes a unit behind them.
fn megabytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.char_indices().last()? {
        (at, 'K' | 'k') => return text[..at].parse::<u64>().ok().map(|kb| kb.div_ceil(1024)),
        (at, 'M' | 'm') => (&text[..at], 0),
        (at, 'G' | 'g') => (&text[..at], 10),
        (at, 'T' | 't') => (&text[..at], 20),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
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
                "mem" => {
                    let wrong = || format!("`{part}` has no number of megabytes");
                    tres.mem = number.map(|text| megabytes(text).ok_or_else(wrong)).transpose()?;
                }
                "gres/gpu" => tres.gpu = number.map(count).transpose()?,
                "node" => tres.node = number.map(count).transpose()?,
                // Without weights a job is billed for its processors.
                "billing" => tres.cpu = tres.cpu.or(number.map(count).transpose()?),
                _ => left_out.push(name.to_string()),
            }
        }
        Ok((tres, left_out))
    }

    /// Returns whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Tres::default()
    }

    /// The resource of which so much more would be too much beside what is in use.
    pub(crate) fn exceeded(&self, used: TresAmounts, more: TresAmounts) -> Option<TresResource> {
        let over = |most: Option<u64>, used: u64, more: u64| most.is_some_and(|most| used + more > most);
        if over(self.cpu, used.cpu, more.cpu) {
            Some(TresResource::Cpu)
        } else if over(self.mem, used.mem, more.mem) {
            Some(TresResource::Mem)
        } else if over(self.node, used.node, more.node) {
            Some(TresResource::Node)
        } else if over(self.gpu, used.gpu, more.gpu) {
            Some(TresResource::Gpu)
        } else {
            None
        }
    }

    /// The limits of this, and those of `other` where this has none.
    pub(crate) fn or(&self, other: &Tres) -> Tres {
        Tres {
            cpu: self.cpu.or(other.cpu),
            node: self.node.or(other.node),
            mem: self.mem.or(other.mem),
            gpu: self.gpu.or(other.gpu),
        }
    }

    /// Those of the limits that `other` does not have.
    pub(crate) fn without(&self, other: &Tres) -> Tres {
        let open = |own: Option<u64>, other: Option<u64>| own.filter(|_| other.is_none());
        Tres {
            cpu: open(self.cpu, other.cpu),
            node: open(self.node, other.node),
            mem: open(self.mem, other.mem),
            gpu: open(self.gpu, other.gpu),
        }
    }

    /// Those of the limits that so much alone does not break.
    pub(crate) fn bearing(&self, more: TresAmounts) -> Tres {
        let bears = |own: Option<u64>, more: u64| own.filter(|&most| more <= most);
        Tres {
            cpu: bears(self.cpu, more.cpu),
            node: bears(self.node, more.node),
            mem: bears(self.mem, more.mem),
            gpu: bears(self.gpu, more.gpu),
        }
    }
}
