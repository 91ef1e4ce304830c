//! Price of suspending a job on the simulated machine, and of checkpoints.

use super::checkpoint::Checkpoints;
use crate::model::{Job, Span, Truth};
use serde::{Deserialize, Serialize};

/// A machine's properties beyond its processors, as a file says them:
///
/// ```
/// use drystone_core::engine::Platform;
/// let platform = Platform::from_toml(r#"
///     [suspension]
///     memory = "drawn"    # or "log": as the log says, drawn where it does not
///     smallest = 100      # MB per processor, of drawn memory
///     largest = 1000
///     rate = 2            # MB/s per processor
///     pays = "write"      # or "read", or "both": which transfers cost time
///     busy = false        # true: processors stay busy while memory is written, and the next job on them waits
///     seed = 0            # of drawn memory
/// "#)?;
/// assert!(platform.suspension.is_some());
/// assert!(Platform::from_toml("[suspension]\nrate = 0").is_err());
/// # Ok::<(), drystone_core::engine::PlatformError>(())
/// ```
///
/// Every key may be left out; the values above are the defaults (Kettimuthu et al. 2005, section
/// 5.1).
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Platform {
    /// Cost of a suspension; `None` for none.
    pub suspension: Option<Transfer>,
    /// Checkpoints of jobs, which no platform file sets; `None` for none.
    #[serde(skip)]
    pub checkpoints: Option<Checkpoints>,
}

/// Time to write and to read a job's memory. Processors of a job transfer theirs at the same time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Transfer {
    /// Source of memory sizes.
    pub memory: MemorySource,
    /// Least drawn memory, in MB per processor.
    pub smallest: u64,
    /// Most drawn memory.
    pub largest: u64,
    /// MB per second and processor.
    pub rate: f64,
    /// Transfers that cost time.
    pub pays: TransferCost,
    /// True if processors stay busy while memory is written, so that a job that starts on them
    /// begins later. Otherwise the suspended job makes up for it when it resumes, and processors
    /// change hands at once.
    pub busy: bool,
    /// Seed of drawn memory.
    pub seed: u64,
}

/// Source of memory sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemorySource {
    /// From the log; drawn where it does not say.
    Log,
    /// Drawn uniformly by the log's number of the job.
    Drawn,
}

/// Transfers that cost time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransferCost {
    /// Writing memory when a job is suspended.
    Write,
    /// Reading it when the job resumes.
    Read,
    /// Both.
    Both,
}

impl Default for Transfer {
    fn default() -> Self {
        Transfer {
            memory: MemorySource::Drawn,
            smallest: 100,
            largest: 1_000,
            rate: 2.0,
            pays: TransferCost::Write,
            busy: false,
            seed: 0,
        }
    }
}

/// A platform file that says something impossible, or nothing intelligible: where, what, and what
/// was expected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct PlatformError(String);

impl Platform {
    /// Reads a platform file.
    ///
    /// # Errors
    /// A text that is no TOML, a key or a word that does not exist, an impossible value.
    pub fn from_toml(text: &str) -> Result<Platform, PlatformError> {
        let platform: Platform =
            toml::from_str(text).map_err(|e| PlatformError(e.to_string().trim_end().to_string()))?;
        if let Some(transfer) = &platform.suspension {
            transfer.check_values()?;
        }
        Ok(platform)
    }
}

impl Transfer {
    /// Checks that these values make sense: the checks of [`Platform::from_toml`], for values that
    /// come from elsewhere.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check_values(&self) -> Result<(), PlatformError> {
        let wrong = |key: &str, value: String, expected: &str| {
            Err(PlatformError(format!("[suspension] {key} = {value} is not possible; {key} takes {expected}")))
        };
        if !(self.rate >= 1e-6 && self.rate <= 1e9) {
            return wrong("rate", self.rate.to_string(), "MB per second, from 0.000001 to 1000000000");
        }
        if self.largest > 1_000_000_000 {
            return wrong("largest", self.largest.to_string(), "MB per processor, up to 1000000000");
        }
        if self.smallest > self.largest {
            return wrong(
                "smallest",
                self.smallest.to_string(),
                &format!("up to `largest`, which is {}", self.largest),
            );
        }
        Ok(())
    }

    /// Seconds to transfer a job's memory once, rounded up.
    pub(super) fn transfer_seconds(&self, job: &Job, truth: &Truth) -> Span {
        let megabytes = match self.memory {
            MemorySource::Log if job.memory_kb >= 0 => job.memory_kb as f64 / 1024.0,
            _ => {
                let seeded_number = (truth.number as u64)
                    .wrapping_add(step_splitmix64(self.seed).wrapping_mul(u64::from(self.seed != 0)));
                (self.smallest + step_splitmix64(seeded_number) % (self.largest - self.smallest + 1)) as f64
            }
        };
        // Rates have decimals that no binary fraction is: 700 MB at 0.7 MB/s take 1,000 s.
        let seconds = megabytes / self.rate;
        let whole = seconds.round();
        let seconds = if (seconds - whole).abs() <= 1e-12 * whole { whole } else { seconds.ceil() };
        Span(seconds.min(crate::model::TIME_LIMIT as f64) as i64)
    }

    pub(super) fn pays_write(&self) -> bool {
        self.pays != TransferCost::Read
    }

    pub(super) fn pays_read(&self) -> bool {
        self.pays != TransferCost::Write
    }
}

/// One step of the generator splitmix64 (Steele, Lea & Flood 2014).
pub fn step_splitmix64(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 700 / 0.7 is more than 1,000 in binary fractions; 701 / 0.7 is 1,001.43, and 1 / 3 less than
    /// a second.
    #[test]
    fn transfers_are_rounded_up_and_no_further() {
        for (memory, rate, seconds) in [(700, 0.7, 1_000), (701, 0.7, 1_002), (1, 3.0, 1), (3, 0.1, 30), (0, 2.0, 0)] {
            let transfer = Transfer { smallest: memory, largest: memory, rate, ..Transfer::default() };
            let truth = Truth { run: Span(1), number: 1, status: crate::model::LogStatus::Completed };
            let job = Job::new(crate::model::Time(0), 1, Span(9));
            assert_eq!(transfer.transfer_seconds(&job, &truth), Span(seconds), "{memory} MB at {rate} MB/s");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("[suspension]\nrate = -1", "rate takes MB per second"),
            ("[suspension]\nrate = \"fast\"", "line 2"),
            ("[suspension]\nsmallest = 2000", "up to `largest`, which is 1000"),
            ("[suspension]\npays = \"all\"", "`write`, `read`, `both`"),
            ("[suspend]\nrate = 1", "unknown field `suspend`"),
            ("[suspension]\nspeed = 1", "unknown field `speed`"),
        ] {
            let error = Platform::from_toml(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert_eq!(Platform::from_toml(""), Ok(Platform::default()));
    }

    /// The first output of splitmix64 for seed 0, as published with the generator.
    #[test]
    fn the_generator_is_splitmix64() {
        assert_eq!(step_splitmix64(0), 0xE220_A839_7B1D_CDAF);
    }
}
