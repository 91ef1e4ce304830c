//! A simulation comes back from its accounting, and is replayed as it was.

use crate::common::{Folder, imported, shared, utc};
use crate::generated::{Made, Style, jobs};
use drystone::engine::Observer;
use drystone::experiment::Experiment;
use drystone::metrics::{JobSelection, MetricsConfig};
use drystone::model::{Job, JobId, LogStatus, Machine, Outages, Provenance, Span, Time, Truth, Workload};
use drystone::policy::{PolicySpec, StartReason};
use drystone_site::fidelity::{Fidelity, FidelitySettings, measure_fidelity};
use drystone_site::{ImportOptions, Site, SiteScene};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const BEGIN: i64 = 1_767_225_600;
const PROCS: u32 = 64;

/// Jobs for a machine of 64 processors that keep it busy.
fn workload(seed: u64, count: u32) -> Workload {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut now = 0;
    let (mut jobs, mut truth) = (Vec::new(), Vec::new());
    for number in 1..=count {
        now += random.random_range(0..900);
        let procs =
            if random.random_range(0..3) == 0 { random.random_range(1..=PROCS) } else { random.random_range(1..=8) };
        let minutes = random.random_range(1..180);
        jobs.push(Job::new(Time(now), procs, Span(minutes * 60)));
        let run = random.random_range(0..=minutes * 60);
        truth.push(Truth { run: Span(run), number: i64::from(number), status: LogStatus::Completed });
    }
    Workload::new(Machine::new(PROCS), jobs, truth, Provenance::default()).expect("a workload")
}

#[derive(Default)]
struct Starts(Vec<(JobId, Time)>);

impl Observer for Starts {
    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        self.0.push((id, now));
    }
}

/// The accounting of a simulated schedule.
fn simulated(workload: &Workload, policy: &str) -> Vec<Made> {
    let spec: PolicySpec = policy.parse().expect("a policy");
    let mut starts = Starts::default();
    Experiment::new(&spec, workload).for_metrics(&[], JobSelection::All).run(&mut starts).expect("simulated");
    let mut records: Vec<Made> = (starts.0.iter())
        .map(|&(id, start)| {
            let (job, truth) = (workload.job(id), &workload.truth()[id.index()]);
            let (submit, start) = (BEGIN + job.submit.0, BEGIN + start.0);
            Made {
                minutes: job.estimate.0 / 60,
                ..Made::ran(truth.number as u64, submit, start, start + truth.run.0, job.procs)
            }
        })
        .collect();
    records.sort_by_key(|record| record.id);
    records
}

const CONF: &str = "ClusterName=made\nNodeName=n1 CPUs=64\nPartitionName=batch Nodes=n1 Default=YES MaxTime=INFINITE\n";

fn site_of(records: &[Made], options: ImportOptions) -> Site {
    let folder = Folder::new();
    let dump = folder.write("jobs.psv", Style::utc().text(records));
    let conf = folder.write("slurm.conf", CONF);
    imported(&[dump], &ImportOptions { machine: vec![conf], ..options })
}

fn held_against(site: &Site, policy: &str) -> Fidelity {
    let settings = FidelitySettings {
        policy: policy.parse().expect("a policy"),
        seeds: 1,
        jitter: 30,
        seed: 1,
        warm_up: Some(0),
        repetitions: Vec::new(),
        pool: None,
        threads: 1,
        stop: None,
        told: &|_| {},
    };
    measure_fidelity(site, &settings).unwrap_or_else(|error| panic!("{error}: {:?}", site.manifest.window))
}

fn assert_perfect(fidelity: &Fidelity, least: u64, label: &str) {
    let errors = &fidelity.pools[0].errors;
    assert!(errors.jobs >= least, "{label}: {} jobs", errors.jobs);
    assert_eq!((errors.mean_distance, errors.within_minute), (Some(0.0), Some(1.0)), "{label}");
    assert_eq!((errors.wasserstein, errors.kolmogorov_smirnov), (Some(0.0), Some(0.0)), "{label}");
    assert_eq!((errors.recorded_mean, errors.signed_median), (errors.replayed_mean, Some(0.0)), "{label}");
}

#[test]
fn the_policy_that_made_a_schedule_replays_it_start_by_start() {
    for (policy, seed) in ["easy", "fcfs", "conservative", "easy(order=sjf,backfill=sjf)"].into_iter().zip(1..) {
        let records = simulated(&workload(seed, 1_500), policy);
        let site = site_of(&records, utc());
        assert_eq!(site.manifest.pools[0].units, PROCS);
        let fidelity = held_against(&site, policy);
        assert_perfect(&fidelity, 1_500, policy);
        let summary = &fidelity.pools[0].as_happened;
        assert_eq!((summary.over_capacity, summary.nodes_twice), (0.0, Some(0.0)), "{policy}");
        if policy != "fcfs" {
            let rival = held_against(&site, "fcfs");
            assert!(rival.pools[0].errors.mean_distance > Some(60.0), "another policy differs from it");
        }
    }
}

#[test]
fn a_window_cut_anywhere_starts_with_what_is_there_and_goes_on_the_same() {
    let records = simulated(&workload(7, 1_200), "easy");
    // While jobs arrive: only waits of jobs that arrive within a window are compared.
    let last = records.iter().map(|record| record.submit).max().expect("a job");
    let first = records[0].submit;
    let mut warm = 0;
    for cut in [5, 23, 40, 61, 77] {
        let from = first + (last - first) * cut / 100;
        let site = site_of(&records, ImportOptions { from: Some(from.to_string()), ..utc() });
        let counts = (site.manifest.window.running_at_start, site.manifest.window.queued_at_start);
        let runs = records.iter().filter(|m| m.start < Some(from) && m.end > Some(from)).count() as u64;
        let waits = records.iter().filter(|m| m.submit < from && m.start >= Some(from)).count() as u64;
        assert_eq!(counts, (runs, waits), "at {cut} %");
        warm += waits;
        assert_perfect(&held_against(&site, "easy"), 100, &format!("from {cut} %"));
        let until = first + (last - first) * (cut + 20) / 100;
        let options = ImportOptions { from: Some(from.to_string()), until: Some(until.to_string()), ..utc() };
        assert_perfect(&held_against(&site_of(&records, options), "easy"), 50, &format!("{cut} to {} %", cut + 20));
    }
    assert!(warm > 20, "some windows begin with a queue: {warm}");
}

#[test]
fn pools_that_share_no_node_are_simulated_side_by_side_as_each_alone() {
    let folder = Folder::new();
    let dump = folder.write("jobs.psv", Style::utc().text(&jobs(5, 1_500, BEGIN)));
    let conf = folder.write(
        "slurm.conf",
        "ClusterName=made\nNodeName=n[1-9] CPUs=16 RealMemory=64000\nNodeName=g[1-4] CPUs=16 RealMemory=64000\nPartitionName=batch Nodes=n[1-9] \
         MaxTime=INFINITE\nPartitionName=gpu Nodes=g[1-4] MaxTime=INFINITE\n",
    );
    let site = imported(&[dump], &ImportOptions { machine: vec![conf], ..utc() });
    assert_eq!(site.manifest.pools.len(), 2);
    let scene = SiteScene::whole_site(&site);
    let (header, options) =
        (scene.header(), drystone::log::clean::CleaningOptions { records: true, ..Default::default() });
    let mut cleaner = drystone::log::clean::Cleaner::new(&header, options, "site", "site").expect("a cleaner");
    scene
        .export_records(drystone_site::ExportPurpose::Simulation)
        .for_each(|record| cleaner.push(&record).expect("a record"));
    let (whole, _, records) = cleaner.finish().expect("a workload");
    let stage = scene.stage_workload(whole, &records.unwrap_or_default()).expect("a stage");
    let division = stage.division.expect("several pools");
    assert_eq!(division.procs(), scene.procs());
    for policy in ["easy", "fcfs", "conservative"] {
        let spec: PolicySpec = policy.parse().expect("a policy");
        let side = Experiment::new(&spec, &stage.workload)
            .with_division(Some(&division))
            .with_metrics(MetricsConfig::default());
        let side = side.run(&mut ()).expect("simulated").expect("to the end");
        let mut jobs = 0;
        for pool in 0..2 {
            let alone = site.pool_workload(pool).expect("a pool");
            let nothing = Outages::default();
            let outages = if alone.outages.is_empty() { &nothing } else { &alone.outages };
            let pool_result = Experiment::new(&spec, &alone.workload)
                .with_outages(Some(outages))
                .with_metrics(MetricsConfig::default());
            let lone_result = pool_result.run(&mut ()).expect("simulated").expect("to the end");
            let entry = &side.pools[usize::from(pool)];
            assert_eq!(entry.name, alone.name);
            assert_eq!(entry.report.measures, lone_result.report.measures, "{policy}, {}", alone.name);
            assert_eq!(entry.report.machine, lone_result.report.machine, "{policy}, {}", alone.name);
            jobs += lone_result.report.trimmed.kept;
        }
        assert_eq!(side.report.trimmed.kept, jobs, "{policy}: the whole counts every pool's jobs");
    }
}

#[test]
fn a_simulated_slurm_is_replayed_within_its_own_noise_where_jobs_are_alike() {
    let Some(dump) = shared("simulated-by-slurm/usc-job0.sacct.gz") else { return };
    let Some(second_dump) = shared("simulated-by-slurm/usc-job1.sacct.gz") else { return };
    let (site, again) = (imported(&[dump], &utc()), imported(&[second_dump], &utc()));
    let settings = FidelitySettings {
        policy: "easy".parse().expect("a policy"),
        seeds: 2,
        jitter: 30,
        seed: 1,
        warm_up: None,
        repetitions: vec![("job1".to_string(), &again)],
        pool: None,
        threads: 2,
        stop: None,
        told: &|_| {},
    };
    let fidelity = measure_fidelity(&site, &settings).expect("a fidelity");
    let pool = &fidelity.pools[0];
    // What ran at once was never more than the inferred machine has.
    assert_eq!(pool.as_happened.over_capacity, 0.0);
    // Slurm repeats itself for 97 of 100 jobs; EASY stands for it for 8 of 10 at least, and no
    // better than Slurm for itself.
    let repetition = pool.repetitions[0].errors.within_minute.expect("jobs in both");
    let replay = pool.errors.within_minute.expect("jobs");
    assert!(repetition > 0.97 && replay > 0.8 && replay < repetition, "{replay} and {repetition}");
}
