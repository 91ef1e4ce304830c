//! A hand-back under every reason that Slurm gives for a pending job: `enum job_state_reason` of
//! slurm.h, by the names under which `squeue` of 22.05 prints them, two of later releases, and the
//! sentences that it prints instead.

use super::jobs;
use crate::cluster::{
    Capabilities, Cluster, ClusterError, ClusterOrder, ClusterSnapshot, HookMark, JobFact, JobKey, JobName, JobSlot,
    OrderOutcome, PendingReason, Want,
};
use crate::hand_back::{HandBackOptions, HandBackSummary, JobHolder, hand_back};
use crate::state::{ActionLedger, Home, LedgerLine};
use std::path::Path;
use std::time::Duration;

const REASONS: &str = "
None Priority Dependency Resources PartitionNodeLimit PartitionTimeLimit PartitionDown PartitionInactive JobHeldAdmin
JobHeldUser BeginTime Licenses AssociationJobLimit AssociationResourceLimit AssociationTimeLimit Reservation
ReqNodeNotAvail FrontEndDown SchedDefer NodeDown BadConstraints SystemFailure JobLaunchFailure NonZeroExitCode
RaisedSignal TimeLimit InactiveLimit InvalidAccount InvalidQOS QOSUsageThreshold QOSJobLimit QOSResourceLimit
QOSTimeLimit BlockMaxError BlockFreeAction Cleaning Prolog QOSNotAllowed AccountNotAllowed DependencyNeverSatisfied
QOSGrpCpuLimit QOSGrpCPUMinutesLimit QOSGrpCPURunMinutesLimit QOSGrpJobsLimit QOSGrpMemLimit QOSGrpNodeLimit
QOSGrpSubmitJobsLimit QOSGrpWallLimit QOSMaxCpuPerJobLimit QOSMaxCpuMinutesPerJobLimit QOSMaxNodePerJobLimit
QOSMaxWallDurationPerJobLimit QOSMaxCpuPerUserLimit QOSMaxJobsPerUserLimit QOSMaxNodePerUserLimit
QOSMaxSubmitJobPerUserLimit QOSMinCpuNotSatisfied AssocGrpCpuLimit AssocGrpCPUMinutesLimit AssocGrpCPURunMinutesLimit
AssocGrpJobsLimit AssocGrpMemLimit AssocGrpNodeLimit AssocGrpSubmitJobsLimit AssocGrpWallLimit AssocMaxJobsLimit
AssocMaxCpuPerJobLimit AssocMaxCpuMinutesPerJobLimit AssocMaxNodePerJobLimit AssocMaxWallDurationPerJobLimit
AssocMaxSubmitJobLimit JobHoldMaxRequeue JobArrayTaskLimit BurstBufferResources BurstBufferStageIn BurstBufferOperation
PowerNotAvail PowerReserved AssocGrpUnknown AssocGrpUnknownMinutes AssocGrpUnknownRunMinutes AssocMaxUnknownPerJob
AssocMaxUnknownPerNode AssocMaxUnknownMinutesPerJob AssocMaxCpuPerNode AssocGrpMemMinutes AssocGrpMemRunMinutes
AssocMaxMemPerJob AssocMaxMemPerNode AssocMaxMemMinutesPerJob AssocGrpNodeMinutes AssocGrpNodeRunMinutes
AssocMaxNodeMinutesPerJob AssocGrpEnergy AssocGrpEnergyMinutes AssocGrpEnergyRunMinutes AssocMaxEnergyPerJob
AssocMaxEnergyPerNode AssocMaxEnergyMinutesPerJob AssocGrpGRES AssocGrpGRESMinutes AssocGrpGRESRunMinutes
AssocMaxGRESPerJob AssocMaxGRESPerNode AssocMaxGRESMinutesPerJob AssocGrpLicense AssocGrpLicenseMinutes
AssocGrpLicenseRunMinutes AssocMaxLicensePerJob AssocMaxLicenseMinutesPerJob AssocGrpBB AssocGrpBBMinutes
AssocGrpBBRunMinutes AssocMaxBBPerJob AssocMaxBBPerNode AssocMaxBBMinutesPerJob QOSGrpUnknown QOSGrpUnknownMinutes
QOSGrpUnknownRunMinutes QOSMaxUnknownPerJob QOSMaxUnknownPerNode QOSMaxUnknownPerUser QOSMaxUnknownMinutesPerJob
QOSMinUnknown QOSMaxCpuPerNode QOSGrpMemoryMinutes QOSGrpMemoryRunMinutes QOSMaxMemoryPerJob QOSMaxMemoryPerNode
QOSMaxMemoryPerUser QOSMaxMemoryMinutesPerJob QOSMinMemory QOSGrpNodeMinutes QOSGrpNodeRunMinutes
QOSMaxNodeMinutesPerJob QOSMinNode QOSGrpEnergy QOSGrpEnergyMinutes QOSGrpEnergyRunMinutes QOSMaxEnergyPerJob
QOSMaxEnergyPerNode QOSMaxEnergyPerUser QOSMaxEnergyMinutesPerJob QOSMinEnergy QOSGrpGRES QOSGrpGRESMinutes
QOSGrpGRESRunMinutes QOSMaxGRESPerJob QOSMaxGRESPerNode QOSMaxGRESPerUser QOSMaxGRESMinutesPerJob QOSMinGRES
QOSGrpLicense QOSGrpLicenseMinutes QOSGrpLicenseRunMinutes QOSMaxLicensePerJob QOSMaxLicensePerUser
QOSMaxLicenseMinutesPerJob QOSMinLicense QOSGrpBB QOSGrpBBMinutes QOSGrpBBRunMinutes QOSMaxBBPerJob QOSMaxBBPerNode
QOSMaxBBPerUser QOSMinBB DeadLine MaxBBPerAccount MaxCpuPerAccount MaxEnergyPerAccount MaxGRESPerAccount
MaxNodePerAccount MaxLicensePerAccount MaxMemoryPerAccount MaxUnknownPerAccount MaxJobsPerAccount
MaxSubmitJobsPerAccount PartitionConfig AccountingPolicy FedJobLock OutOfMemory MaxMemPerLimit AssocGrpBilling
AssocGrpBillingMinutes AssocGrpBillingRunMinutes AssocMaxBillingPerJob AssocMaxBillingPerNode
AssocMaxBillingMinutesPerJob QOSGrpBilling QOSGrpBillingMinutes QOSGrpBillingRunMinutes QOSMaxBillingPerJob
QOSMaxBillingPerNode QOSMaxBillingPerUser QOSMaxBillingMinutesPerJob MaxBillingPerAccount QOSMinBilling
ReservationDeleted ReservationInvalid Constraints";

/// Sentences in the place of a reason.
const SENTENCES: [&str; 6] = [
    "launch failed requeued held",
    "job requeued in held state",
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
    "ReqNodeNotAvail, UnavailableNodes:n3",
    "ReqNodeNotAvail, May be reserved for other job",
    "something that no release prints yet",
];

/// Reasons under which another than the daemon holds a job, whatever its mark.
fn find_holder(text: &str) -> Option<JobHolder> {
    match text {
        // Its owner or an operator requeued it and held it in one step.
        "job requeued in held state" => Some(JobHolder::User),
        // Slurm holds what it could not launch.
        "launch failed requeued held" | "JobHoldMaxRequeue" => Some(JobHolder::Cluster),
        _ => None,
    }
}

struct HeldCluster(Vec<JobFact>);

impl Cluster for HeldCluster {
    fn observe(&mut self, _want: &Want) -> Result<ClusterSnapshot, ClusterError> {
        Ok(ClusterSnapshot { time: 0, jobs: self.0.clone(), nodes: Vec::new(), licences: Vec::new() })
    }

    fn execute_orders(&mut self, orders: &[ClusterOrder], _may: &mut dyn FnMut() -> bool) -> Vec<OrderOutcome> {
        for order in orders {
            let ClusterOrder::Release(key) = order else { panic!("{order:?}") };
            let is_named = |fact: &&mut JobFact| fact.id == key.id && (key.task.is_none() || fact.is_about(*key));
            for fact in self.0.iter_mut().filter(is_named) {
                (fact.held, fact.reason) = (false, PendingReason::None);
            }
        }
        // An array by its number fails for one of its tasks, and so, by its words, for all.
        vec![OrderOutcome::Unknown; orders.len()]
    }

    fn remove_marks(&mut self, jobs: &[JobName]) {
        let is_named = |fact: &&mut JobFact| jobs.iter().any(|name| name.id == fact.id);
        self.0.iter_mut().filter(is_named).for_each(|fact| fact.mark = HookMark::None);
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { suspend: true, migrate: false, pin: true, hold: true, shrink: true }
    }

    fn take_call_cost(&mut self) -> Duration {
        Duration::ZERO
    }

    fn name(&self) -> String {
        "held jobs".into()
    }
}

/// A waiting job of priority 0 with this reason, as `squeue` prints it.
fn waiting_job(text: &str, number: u64) -> JobFact {
    let (number, mut fields) = (number.to_string(), jobs::tests::HELD);
    (fields[0], fields[1], fields[3], fields[5]) = (&number, &number, &number, text);
    jobs::parse(&jobs::tests::sample_record(&fields)).expect("sound").remove(0)
}

fn give_back(cluster: &mut HeldCluster, folder: &Path, lines: &[LedgerLine]) -> HandBackSummary {
    let home = Home::new(folder.join("state"), folder.join("run"));
    home.make_folders().expect("made");
    ActionLedger::open(home.ledger_path()).expect("opened").add_entries(lines).expect("written");
    hand_back(cluster, &home, &HandBackOptions::default(), &mut |_| ()).expect("given back")
}

fn reason_texts() -> impl Iterator<Item = &'static str> {
    REASONS.split_whitespace().chain(SENTENCES)
}

/// A job is released under any reason, if it bears the hook's mark or the daemon held it, as a
/// single job and as tasks of an array, split off or not; or it is listed with its holder.
#[test]
fn a_hand_back_leaves_no_job_behind_for_any_reason() {
    assert_eq!(REASONS.split_whitespace().count(), 200);
    for is_marked in [true, false] {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut facts, mut expected_holders, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        for (number, text) in (1..).zip(reason_texts()) {
            let mut fact = waiting_job(text, number);
            assert!(fact.held, "{text}");
            let mut folded_fact = fact.clone();
            (folded_fact.id, folded_fact.number) = (number + 10_000, number + 10_000);
            let mut split = folded_fact.clone();
            (folded_fact.slot, split.slot) = (JobSlot::Folded(vec![(2, 4), (7, 7)]), JobSlot::Task(1));
            split.number += 10_000;
            for fact in [&mut fact, &mut folded_fact, &mut split] {
                if is_marked {
                    fact.mark = HookMark::Held;
                } else {
                    lines.extend(fact.job_keys().into_iter().map(LedgerLine::Held));
                }
                expected_holders.extend(
                    find_holder(text).into_iter().flat_map(|by| fact.job_keys().into_iter().map(move |key| (key, by))),
                );
            }
            facts.extend([fact, folded_fact, split]);
        }
        let key_count: usize = facts.iter().map(|fact| fact.job_keys().len()).sum();
        let mut cluster = HeldCluster(facts);
        let summary = give_back(&mut cluster, folder.path(), &lines);
        expected_holders.sort_unstable();
        let held_keys: Vec<JobKey> = cluster.0.iter().filter(|fact| fact.held).flat_map(JobFact::job_keys).collect();
        assert!(
            held_keys.iter().all(|key| expected_holders.iter().any(|(holder_key, _)| holder_key == key)),
            "{held_keys:?}"
        );
        assert_eq!(held_keys.len(), expected_holders.len());
        let listed_holders: Vec<(String, JobHolder)> =
            summary.held.iter().map(|hold| (hold.job.clone(), hold.by)).collect();
        assert_eq!(listed_holders, expected_holders.iter().map(|(key, by)| (key.name(), *by)).collect::<Vec<_>>());
        assert_eq!((summary.released, summary.left.len()), (key_count - held_keys.len(), 0), "counted by what is seen");
        assert!(cluster.0.iter().all(|fact| fact.mark == HookMark::None));
    }
}

/// Jobs that a user or an operator holds stay held under every reason, and are listed.
#[test]
fn a_hand_back_leaves_what_others_hold() {
    for is_operators in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut facts, mut lines) = (Vec::new(), Vec::new());
        for (number, text) in (1..).zip(reason_texts()) {
            let name = JobName { id: number, task: None };
            // Only an administrator's hold is called one; any other reason may stand on a user's.
            let is_named = is_operators == (text == "JobHeldAdmin");
            if is_named {
                lines.push(if is_operators { LedgerLine::OperatorHold(name) } else { LedgerLine::UserHold(name) });
                facts.push(JobFact { mark: HookMark::Held, ..waiting_job(text, number) });
            }
        }
        let count = facts.len();
        assert!(count > 0);
        let mut cluster = HeldCluster(facts);
        let summary = give_back(&mut cluster, folder.path(), &lines);
        assert_eq!((summary.released, summary.held.len(), summary.left.len()), (0, count, 0), "{summary:?}");
        assert!(cluster.0.iter().all(|fact| fact.held));
        let by = summary.held[0].by;
        assert_eq!(by, if is_operators { JobHolder::Administrator } else { JobHolder::User });
    }
}

/// The reasons of limits are known as such: jobs alike wait with the one that was stopped.
#[test]
fn limits_are_limits_by_every_name() {
    let is_limit = |text: &str| {
        let families = ["QOSGrp", "QOSMax", "QOSMin", "AssocGrp", "AssocMax", "Association", "MaxMemPerLimit"];
        families.iter().any(|family| text.starts_with(family)) || text.ends_with("PerAccount")
    };
    for text in REASONS.split_whitespace().filter(|text| is_limit(text)) {
        assert_eq!(waiting_job(text, 1).reason, PendingReason::Limit, "{text}");
    }
}
