//! Plots show the same numbers as reports.

use drystone::engine::{Simulation, WorkloadReplay};
use drystone::generate::{Params, generate_workload};
use drystone::metrics::{Collector, JobRow, MetricsConfig, Report, Scheme, Scope};
use drystone::model::Workload;
use drystone::policy::PolicySpec;
use drystone_report::{Material, PlotDetails, Quantiles, Watcher};

fn workload() -> Workload {
    generate_workload(&Params { seed: 11, load: Some(0.9), ..Params::new(128, 2_000) }).expect("sound parameters")
}

fn simulated(workload: &Workload, policy: &str, baseline: Option<&[JobRow]>) -> (Report, PlotDetails) {
    let spec: PolicySpec = policy.parse().expect("a policy");
    let config = MetricsConfig {
        keep_jobs: true,
        categories: vec![Scheme::Chiang, Scheme::User],
        ..MetricsConfig::full_config()
    };
    let mut observers =
        (Collector::new(Scope::from_workload(workload), config), Watcher::new(workload.machine().procs));
    Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(workload))
        .run(&mut observers)
        .expect("runs");
    let report = observers.0.finish();
    let find = |scheme| report.categories.iter().find(|c| c.scheme == scheme);
    let material = Material {
        batch: drystone::metrics::BATCH,
        rows: report.jobs.as_deref().expect("rows were kept"),
        baseline,
        classes: find(Scheme::Chiang),
        users: find(Scheme::User),
    };
    let details = PlotDetails::from_material(material, Some(observers.1));
    (report, details)
}

/// Percentiles of the distributions are those of the summaries, found another way.
#[test]
fn distributions_agree_with_summaries() {
    let (report, details) = simulated(&workload(), "easy++", None);
    let measures = &report.measures;
    let error = &report.predictability.as_ref().expect("asked for").difference;
    for (quantiles, summary) in [
        (&details.wait, &measures.wait),
        (&details.bounded_slowdown, &measures.bounded_slowdown),
        (&details.reservation_error, error),
    ] {
        assert_eq!(quantiles.count, summary.count);
        for (share, value) in [
            (0.0, summary.min),
            (0.9, summary.p90),
            (0.95, summary.p95),
            (0.98, summary.p98),
            (0.99, summary.p99),
            (1.0, summary.max),
        ] {
            assert_eq!(quantiles.value_at(share), value, "{share}");
        }
    }
    assert_eq!(details.accuracy.counts.iter().sum::<u64>(), report.trimmed.kept);
    assert_eq!(Quantiles::default().value_at(0.5), None);
}

/// The area under the lines over time is the mean that the report gives, whatever the bins.
#[test]
fn lines_over_time_agree_with_means() {
    let (report, details) = simulated(&workload(), "easy", None);
    let timeline = details.timeline.expect("watched");
    let whole = report.queue.expect("watched").whole;
    let bins = timeline.waiting_jobs.len();
    let span = whole.span.as_f64();
    let width = timeline.width.as_f64();
    let mean = |values: &[f64]| {
        let last = span - (bins - 1) as f64 * width;
        let area: f64 = values[..bins - 1].iter().map(|v| v * width).sum();
        (area + values[bins - 1] * last) / span
    };
    for (value, expected) in [
        (mean(&timeline.waiting_jobs), whole.mean_waiting_jobs),
        (mean(&timeline.waiting_procs), whole.mean_waiting_procs),
        (mean(&timeline.utilisation), whole.mean_used),
    ] {
        let expected = expected.expect("a mean");
        // Four decimals are kept.
        assert!((value - expected).abs() < 1e-4, "{value} is not {expected}");
    }
}

/// Classes and users are those of the report, and R is 0 against oneself.
#[test]
fn parts_agree_with_the_whole() {
    let workload = workload();
    let (base, _) = simulated(&workload, "easy", None);
    let rows = base.jobs.as_deref().expect("rows");
    let (report, details) = simulated(&workload, "easy", Some(rows));
    assert_eq!(details.classes.iter().map(|c| c.jobs).sum::<u64>(), report.trimmed.kept);
    assert_eq!(details.user_count, report.categories[1].categories.len());
    let total: f64 = details.classes.iter().map(|c| c.jobs as f64 * c.wait.expect("jobs")).sum();
    assert!((total / report.measures.wait.total() - 1.0).abs() < 1e-9);
    let ratios = details.ratios.expect("a baseline");
    assert_eq!((ratios.overall, ratios.batches), (Some(0.0), vec![Some(0.0); 2]));
    let jobs: u64 = details.weekly.jobs.iter().flatten().sum();
    assert_eq!(jobs, 2_000);
}

/// The diagnostics of a search and of a partitioned policy are summed up.
#[test]
fn policies_that_say_something_are_heard() {
    let workload = workload();
    let (_, goal) = simulated(&workload, "goal(nodes=20)", None);
    let search = goal.search.expect("it searches");
    assert_eq!(search.by_nodes.iter().sum::<u64>(), search.effort.searches);
    assert_eq!(search.nodes.count, search.effort.searches);
    let (_, multiqueue) = simulated(&workload, "multiqueue", None);
    let partitions = multiqueue.gauges.iter().filter(|g| g.name.starts_with("partition ")).count();
    assert_eq!(partitions, 4);
    let (_, easy) = simulated(&workload, "easy", None);
    assert!(easy.gauges.is_empty() && easy.search.is_none());
}
