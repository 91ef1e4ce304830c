//! Jobs by what they have in common.

use super::{WaitDivision, WaitFigures, WaitGroup, WaitedJob};
use crate::clock::Zone;
use crate::site_job::SiteJob;
use drystone::model::SharedSort;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

drystone::word_enum! {
    /// A property that jobs are divided by.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum GroupProperty {
        Account = "account",
        /// Partition or queue.
        Partition = "partition",
        User = "user",
        /// Quality of service.
        Qos = "qos",
        /// Number of GPUs.
        Gpu = "gpu",
        /// Number of processors.
        Size = "size",
        /// Hour of the day at which it began to wait.
        Hour = "hour",
        /// Last reason that was recorded for its wait.
        Reason = "reason",
    }
}

impl GroupProperty {
    pub(super) fn is_ordered(self) -> bool {
        matches!(self, GroupProperty::Gpu | GroupProperty::Size | GroupProperty::Hour)
    }

    /// A number for its order, and its name.
    pub(super) fn class_of(self, job: &SiteJob<'_>, zone: &Zone) -> (u32, String) {
        let name_or_unknown = |text: &str| if text.is_empty() { "(unknown)".to_string() } else { text.to_string() };
        match self {
            GroupProperty::Account => (0, name_or_unknown(&job.account)),
            GroupProperty::Partition => (0, name_or_unknown(&job.partition)),
            GroupProperty::User => (0, name_or_unknown(&job.user)),
            GroupProperty::Qos => (0, name_or_unknown(&job.qos)),
            GroupProperty::Reason => {
                (0, if matches!(job.reason.as_ref(), "" | "None") { "(none)".into() } else { job.reason.to_string() })
            }
            GroupProperty::Gpu => match job.gpus {
                None => (u32::MAX, "(unknown)".to_string()),
                Some(0) => (0, "0".to_string()),
                Some(gpus) => power_class(gpus),
            },
            GroupProperty::Size => job.cpus.map_or((u32::MAX, "(unknown)".to_string()), power_class),
            GroupProperty::Hour => {
                let hour = zone.civil_time(super::wait_begin(job)).rem_euclid(86_400) / 3_600;
                (u32::try_from(hour).unwrap_or(0), format!("{hour:02}:00"))
            }
        }
    }
}

/// A class from a power of two up to the next: `1`, `2-3`, `4-7`.
fn power_class(number: u32) -> (u32, String) {
    let bits = number.max(1).ilog2();
    let (from, to) = (1_u64 << bits, (2_u64 << bits) - 1);
    (bits + 1, if from == to { from.to_string() } else { format!("{from}-{to}") })
}

/// Groups in the making.
pub(super) struct GatheredGroups {
    by: GroupProperty,
    groups: BTreeMap<(u32, String), Vec<WaitedJob>>,
}

impl GatheredGroups {
    pub(super) fn new(by: GroupProperty) -> GatheredGroups {
        GatheredGroups { by, groups: BTreeMap::new() }
    }

    pub(super) fn add_job(&mut self, job: &SiteJob<'_>, zone: &Zone, entry: WaitedJob) {
        self.groups.entry(self.by.class_of(job, zone)).or_default().push(entry);
    }

    pub(super) fn finish_division(self) -> WaitDivision {
        let figures = |(key, mut jobs): ((u32, String), Vec<WaitedJob>)| WaitGroup {
            name: key.1,
            figures: WaitFigures::from_jobs(&mut jobs),
        };
        let mut groups: Vec<WaitGroup> = self.groups.into_iter().map(figures).collect();
        if !self.by.is_ordered() {
            groups.sort_shared_by(|a, b| {
                b.figures.core_hours.total_cmp(&a.figures.core_hours).then_with(|| a.name.cmp(&b.name))
            });
        }
        WaitDivision { by: self.by, groups }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_double() {
        let names: Vec<String> = [1, 2, 3, 4, 7, 8, 64, 100].into_iter().map(|n| power_class(n).1).collect();
        assert_eq!(names, ["1", "2-3", "2-3", "4-7", "4-7", "8-15", "64-127", "64-127"]);
        assert_eq!(power_class(u32::MAX).1, "2147483648-4294967295");
    }
}
