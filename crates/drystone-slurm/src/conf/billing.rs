//! `TRESBillingWeights`: the bill of a job.

use super::PriorityType;
use serde::{Deserialize, Serialize};

/// Weights by which a job is billed for each unit of a resource.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct BillingWeights {
    /// Names in small letters with weights; of memory for a megabyte.
    pub list: Vec<(String, f64)>,
}

/// Rule by which the bills of resources make that of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum BillingSum {
    /// All of them together.
    #[default]
    All,
    /// The most expensive one: `MAX_TRES`.
    Largest,
    /// The most expensive one beside devices, and all devices: `MAX_TRES_GRES`.
    LargestAndDevices,
}

impl BillingSum {
    /// Reads the flags of priorities.
    pub fn from_priority(priority: &PriorityType) -> BillingSum {
        match (priority.has_flag("MAX_TRES_GRES"), priority.has_flag("MAX_TRES")) {
            (true, _) => BillingSum::LargestAndDevices,
            (false, true) => BillingSum::Largest,
            (false, false) => BillingSum::All,
        }
    }
}

/// Amounts of one job.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BilledAmounts<'a> {
    /// Processors.
    pub cpus: f64,
    pub nodes: f64,
    /// Megabytes of memory.
    pub memory: f64,
    /// Generic resources: name, type, number.
    pub devices: &'a [(&'a str, &'a str, f64)],
}

impl BillingWeights {
    /// Reads `CPU=1.0,Mem=0.25G,GRES/gpu=2`. A unit behind a weight is that of the amount.
    ///
    /// # Errors
    /// A part that is no `NAME=WEIGHT`.
    pub fn parse_weights(text: &str) -> Result<BillingWeights, String> {
        let mut list = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let wrong = || format!("`{part}` is no NAME=WEIGHT such as CPU=1.0 or Mem=0.25G");
            let (name, value) = part.split_once('=').ok_or_else(wrong)?;
            let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
            let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let weight: f64 = digits.parse().map_err(|_| wrong())?;
            // Memory is counted in megabytes, everything else one by one.
            let first = if name == "mem" { 'M' } else { ' ' };
            let unit = value[digits.len()..].chars().next().map_or(first, |unit| unit.to_ascii_uppercase());
            let power = |unit: char| " KMGTP".find(unit).ok_or_else(wrong);
            let times = power(unit)?.saturating_sub(power(first)?) as i32;
            if !weight.is_finite() {
                return Err(wrong());
            }
            list.retain(|(own, _)| *own != name);
            list.push((name, weight / 1024_f64.powi(times)));
        }
        Ok(BillingWeights { list })
    }

    /// Names that have a weight and that the model does not count.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        let is_known = |name: &str| ["cpu", "mem", "node", "billing"].contains(&name) || name.starts_with("gres/");
        self.list.iter().filter(move |(name, weight)| *weight != 0.0 && !is_known(name)).map(|(name, _)| name.as_str())
    }

    /// Returns what a job is billed.
    pub fn compute_bill(&self, amounts: &BilledAmounts<'_>, rule: BillingSum) -> f64 {
        let (mut sum, mut most, mut devices, mut beside) = (0.0, 0.0_f64, 0.0, 0.0_f64);
        for (name, weight) in &self.list {
            let amount = match name.as_str() {
                "cpu" => amounts.cpus,
                "node" => amounts.nodes,
                "mem" => amounts.memory,
                name => amounts.devices_of(name),
            };
            let bill = amount * weight;
            most = most.max(bill);
            sum += bill;
            if name.starts_with("gres/") {
                devices += bill;
            } else {
                beside = beside.max(bill);
            }
        }
        match rule {
            BillingSum::All => sum,
            BillingSum::Largest => most,
            BillingSum::LargestAndDevices => beside + devices,
        }
    }
}

impl BilledAmounts<'_> {
    /// Devices of `gres/NAME` or `gres/NAME:TYPE`.
    fn devices_of(&self, name: &str) -> f64 {
        let Some(name) = name.strip_prefix("gres/") else { return 0.0 };
        let (name, kind) = name.split_once(':').unwrap_or((name, ""));
        let is = |own: &&(&str, &str, f64)| {
            own.0.eq_ignore_ascii_case(name) && (kind.is_empty() || own.1.eq_ignore_ascii_case(kind))
        };
        self.devices.iter().filter(is).map(|own| own.2).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Slurm's manual page: 8 processors, 64 GB and 4 GPUs with
    /// `CPU=1.0,Mem=0.25G,GRES/gpu=2.0` are (8 × 1.0) + (64 × 0.25) + (4 × 2.0).
    #[test]
    fn the_manuals_example_is_billed_as_there() {
        let weights = BillingWeights::parse_weights("CPU=1.0,Mem=.25G,GRES/gpu=2.0").expect("weights");
        let devices = [("gpu", "a", 1.0), ("gpu", "b", 3.0), ("nvme", "", 9.0)];
        let amounts = BilledAmounts { cpus: 8.0, nodes: 1.0, memory: 65_536.0, devices: &devices };
        assert_eq!(
            (weights.compute_bill(&amounts, BillingSum::All), weights.compute_bill(&amounts, BillingSum::Largest)),
            (32.0, 16.0)
        );
        // Memory is the most expensive beside the devices: 16 + 4 × 2.
        assert_eq!(weights.compute_bill(&amounts, BillingSum::LargestAndDevices), 24.0);
        let type_weights = BillingWeights::parse_weights("gres/gpu:b=5,node=2,license/x=1").expect("weights");
        assert_eq!(type_weights.compute_bill(&amounts, BillingSum::All), 17.0);
        assert_eq!(type_weights.left_out().collect::<Vec<_>>(), ["license/x"]);
    }

    #[test]
    fn units_are_those_of_the_amount() {
        let of = |text: &str| BillingWeights::parse_weights(text).expect("weights").list[0].1;
        assert_eq!([of("Mem=4096"), of("mem=4096M"), of("MEM=4194304G")], [4096.0; 3]);
        assert_eq!(of("Mem=1T"), 1.0 / 1_048_576.0);
        assert_eq!(of("CPU=2K"), 2.0 / 1024.0);
        for wrong in ["CPU", "CPU=x", "Mem=1X", "CPU="] {
            assert!(BillingWeights::parse_weights(wrong).is_err(), "{wrong}");
        }
    }
}
