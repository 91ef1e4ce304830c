//! Waits that the model cannot explain.

use super::{FoundJob, JobMarks, count_rule};
use crate::rows::{AccountingTable, Symbol};
use crate::rules::{ImportRule, RuleTally};
use crate::text::Amount;

/// Reasons that say so, by their beginning.
const REASONS: &[&str] = &[
    "Dependency",
    "BeginTime",
    "JobHeld",
    "AssocGrp",
    "AssocMax",
    "Assoc",
    "QOS",
    "MaxJobs",
    "MaxSubmit",
    "Licenses",
    "ReqNodeNotAvail",
    "Reservation",
    "JobArrayTaskLimit",
    "Partition",
    "DependencyNeverSatisfied",
];

fn is_cause(reason: &str) -> bool {
    let limit = |kind: &str| {
        reason.starts_with(kind)
            && (reason.contains("Limit")
                || reason.contains("Usage")
                || reason.contains("Down")
                || reason.contains("Inactive"))
    };
    REASONS.iter().any(|cause| match *cause {
        // Limits of these, not every word that begins so.
        "Assoc" | "QOS" | "Partition" => limit(cause) || reason.starts_with("QOSMax") || reason.starts_with("QOSGrp"),
        exact @ "Reservation" => reason == exact || reason.starts_with("ReservationDeleted"),
        _ => reason.starts_with(cause),
    })
}

/// Reasons of jobs that no scheduler starts before they are changed or released.
const HOLDS: [&str; 5] =
    ["JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue", "DependencyNeverSatisfied", "ReservationDeleted"];

/// Returns whether a job with this reason is held.
pub(super) fn is_hold(reason: &str) -> bool {
    HOLDS.contains(&reason)
}

/// Notes whose reason is one of them, by their numbers.
pub(crate) fn find_cause_notes(table: &AccountingTable) -> Vec<bool> {
    let reasons: Vec<Symbol> = table.notes.items().iter().map(|note| note.reason).collect();
    reasons.into_iter().map(|reason| is_cause(&table.names.text_of(reason))).collect()
}

/// Marks jobs whose last reason is one of these.
pub(crate) fn mark_causes(
    jobs: &mut [FoundJob],
    table: &AccountingTable,
    amounts: &[Amount],
    causes: &[bool],
    tally: &mut RuleTally,
) {
    for job in jobs {
        let row = table.rows.get(job.row);
        if causes[row.note as usize] {
            job.marks.set_mark(JobMarks::CAUSE);
            count_rule(tally, table, ImportRule::Cause, row, job.core_seconds(&amounts[job.amount as usize]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_the_machine_are_no_causes() {
        for reason in ["Priority", "Resources", "None", "", "NodeDown", "QOS", "Cleaning", "Reserve"] {
            assert!(!is_cause(reason), "{reason}");
        }
        for reason in [
            "Dependency",
            "BeginTime",
            "JobHeldUser",
            "JobHeldAdmin",
            "AssocGrpCpuLimit",
            "AssocMaxJobsLimit",
            "QOSMaxCpuPerUserLimit",
            "QOSGrpNodeLimit",
            "MaxJobsPerAccount",
            "Licenses",
            "ReqNodeNotAvail",
            "Reservation",
            "JobArrayTaskLimit",
            "PartitionTimeLimit",
            "PartitionNodeLimit",
            "PartitionDown",
            "DependencyNeverSatisfied",
            "AssociationJobLimit",
        ] {
            assert!(is_cause(reason), "{reason}");
        }
    }
}
