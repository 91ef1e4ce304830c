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
    /// Bill of jobs, by the weights of their partition.
    pub billing: Option<u64>,
}

/// So much of each resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TresAmounts {
    pub(crate) cpu: u64,
    pub(crate) node: u64,
    pub(crate) mem: u64,
    pub(crate) gpu: u64,
    pub(crate) billing: u64,
}

/// A resource that limits know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TresResource {
    Cpu,
    Node,
    Mem,
    Gpu,
    Billing,
}

/// A number with a unit of 1,024 behind it, as sacctmgr prints it (`1.50T`): in units of `base`.
fn with_unit(text: &str, base: char) -> Option<u64> {
    const UNITS: &str = " KMGTP";
    let (at, last) = text.char_indices().last()?;
    let (digits, unit) =
        if last.is_ascii_alphabetic() { (&text[..at], last.to_ascii_uppercase()) } else { (text, base) };
    let power = UNITS.find(unit)? as i32 - UNITS.find(base)? as i32;
    if let Ok(whole) = digits.parse::<u64>() {
        let shift = 10 * power.unsigned_abs();
        return if power < 0 { Some(whole.div_ceil(1 << shift)) } else { whole.checked_mul(1 << shift) };
    }
    let decimal = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = digits.parse::<f64>().ok().filter(|_| decimal)? * 1024_f64.powi(power);
    (number < 1e18).then_some(number.round() as u64)
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
            let count = |text: &str| with_unit(text, ' ').ok_or_else(|| format!("`{part}` has no whole number"));
            match name.to_ascii_lowercase().as_str() {
                "cpu" => tres.cpu = number.map(count).transpose()?,
                "mem" => {
                    let wrong = || format!("`{part}` has no number of megabytes");
                    tres.mem = number.map(|text| with_unit(text, 'M').ok_or_else(wrong)).transpose()?;
                }
                "gres/gpu" => tres.gpu = number.map(count).transpose()?,
                "node" => tres.node = number.map(count).transpose()?,
                "billing" => tres.billing = number.map(count).transpose()?,
                _ => left_out.push(name.to_string()),
            }
        }
        Ok((tres, left_out))
    }

    /// Reads the resources of a text that have names of their own: devices of a type
    /// (`gres/gpu:a100=4`), other devices, licences (`license/x=2`). Those without a limit are left
    /// out.
    pub(super) fn parse_named(text: &str) -> Vec<(String, u64)> {
        let part = |part: &str| {
            let (name, value) = part.trim().split_once('=')?;
            let name = name.to_ascii_lowercase();
            let has_name = name != "gres/gpu" && (name.starts_with("gres/") || name.starts_with("license/"));
            has_name.then(|| with_unit(value, ' ').map(|most| (name, most))).flatten()
        };
        text.split(',').filter_map(part).collect()
    }

    /// Returns whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Tres::default()
    }

    /// The resource of which so much more would be too much beside what is in use.
    pub(crate) fn exceeded_resource(&self, usage: TresAmounts, more: TresAmounts) -> Option<TresResource> {
        let over = |most: Option<u64>, count: u64, more: u64| most.is_some_and(|most| count + more > most);
        if over(self.cpu, usage.cpu, more.cpu) {
            Some(TresResource::Cpu)
        } else if over(self.mem, usage.mem, more.mem) {
            Some(TresResource::Mem)
        } else if over(self.node, usage.node, more.node) {
            Some(TresResource::Node)
        } else if over(self.gpu, usage.gpu, more.gpu) {
            Some(TresResource::Gpu)
        } else if over(self.billing, usage.billing, more.billing) {
            Some(TresResource::Billing)
        } else {
            None
        }
    }

    /// The limits of this, and those of `other` where this has none.
    pub(crate) fn or_else(&self, tres: &Tres) -> Tres {
        Tres {
            cpu: self.cpu.or(tres.cpu),
            node: self.node.or(tres.node),
            mem: self.mem.or(tres.mem),
            gpu: self.gpu.or(tres.gpu),
            billing: self.billing.or(tres.billing),
        }
    }

    /// Those of the limits that `other` does not have.
    pub(crate) fn without_those_of(&self, tres: &Tres) -> Tres {
        let open = |own: Option<u64>, limit: Option<u64>| own.filter(|_| limit.is_none());
        Tres {
            cpu: open(self.cpu, tres.cpu),
            node: open(self.node, tres.node),
            mem: open(self.mem, tres.mem),
            gpu: open(self.gpu, tres.gpu),
            billing: open(self.billing, tres.billing),
        }
    }

    /// Those of the limits that so much alone does not break.
    pub(crate) fn bearing_load(&self, more: TresAmounts) -> Tres {
        let bears = |own: Option<u64>, more: u64| own.filter(|&most| more <= most);
        Tres {
            cpu: bears(self.cpu, more.cpu),
            node: bears(self.node, more.node),
            mem: bears(self.mem, more.mem),
            gpu: bears(self.gpu, more.gpu),
            billing: bears(self.billing, more.billing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slurm prints memory with two decimals and a unit; 1.5 TB are 1,572,864 MB.
    #[test]
    fn amounts_have_units_and_decimals() {
        let mem = |text: &str| Tres::parse(text).expect("resources").0.mem;
        assert_eq!(["mem=1.50T", "mem=1536G", "mem=1572864", "mem=1572864M"].map(mem), [Some(1_572_864); 4]);
        assert_eq!((mem("mem=2049K"), mem("mem=-1")), (Some(3), None));
        for wrong in ["mem=1.5.0T", "mem=T", "mem=1X", "cpu=-2", "cpu=", "cpu=inf"] {
            assert!(Tres::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn resources_with_names_of_their_own_are_read_beside_the_others() {
        let text = "cpu=3,gres/gpu=8,gres/gpu:A100=4,license/x=2,gres/nic=-1,fs/disk=1";
        assert_eq!(Tres::parse_named(text), [("gres/gpu:a100".to_string(), 4), ("license/x".to_string(), 2)]);
    }

    #[test]
    fn billing_is_a_resource_of_its_own() {
        let (tres, left_out) = Tres::parse("cpu=3,billing=20,license/x=1").expect("resources");
        assert_eq!((tres.cpu, tres.billing, left_out), (Some(3), Some(20), vec!["license/x".to_string()]));
        let usage = TresAmounts { cpu: 1, billing: 15, ..TresAmounts::default() };
        let more = |billing| TresAmounts { cpu: 1, billing, ..TresAmounts::default() };
        assert_eq!(
            (tres.exceeded_resource(usage, more(5)), tres.exceeded_resource(usage, more(6))),
            (None, Some(TresResource::Billing))
        );
    }
}
