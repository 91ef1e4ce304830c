//! Selective suspension and immediate service, job by job and suspension by suspension, against the
//! schedules of an independent implementation (of 24, the one with overhead is in `suspension.rs`).

use crate::common;

use crate::common::{KTH, assert_equals_golden, golden_suspensions, log, spec};
use drystone::engine::{Observer, Simulation, WorkloadReplay};
use drystone::log::clean::{CleaningOptions, CleaningStudy, Overrun};
use drystone::log::transform::scale_load;
use drystone::metrics::measures;
use drystone::model::{EndedJob, Workload};

/// Suspensions by job.
#[derive(Default)]
struct Watch {
    suspensions: Vec<i64>,
}

impl Observer for Watch {
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        let at = job_end.id.index();
        self.suspensions.resize(self.suspensions.len().max(at + 1), -1);
        self.suspensions[at] = i64::from(job_end.outcome.suspensions);
    }
}

fn watch(workload: &Workload, policy: &str) -> Watch {
    let mut watch = Watch::default();
    let mut simulation =
        Simulation::new(workload.machine(), spec(policy).build_scheduler(), WorkloadReplay::new(workload));
    simulation.run(&mut watch).unwrap_or_else(|e| panic!("{policy}: {e}"));
    watch
}

fn check(workload: &Workload, policy: &str, name: &str) {
    let name = format!("preempt/{name}");
    assert_equals_golden(workload, policy, &name);
    if let Some(expected) = golden_suspensions(&name) {
        assert_eq!(watch(workload, policy).suspensions, expected, "{policy}: suspensions of {name}");
    }
}

fn first_jobs(change: impl Fn(CleaningOptions) -> CleaningOptions) -> Option<Workload> {
    let options = CleaningOptions { take: Some(5_000), procs: Some(100), ..CleaningStudy::Kettimuthu2005.options() };
    let file = common::shared(&format!("traces/{KTH}.swf.gz"))?;
    Some(drystone::log::load_log(file, &change(options)).expect("a good log").workload)
}

#[test]
fn the_whole_of_kth() {
    let Some(kth) = log(KTH, CleaningStudy::Kettimuthu2005, Some(100)) else { return };
    for (name, policy) in [
        ("kth-ns", "easy@kettimuthu2005"),
        ("kth-ss1.5", "ss(sf=1.5)"),
        ("kth-ss2", "ss@kettimuthu2005"),
        ("kth-ss5", "ss(sf=5)"),
        ("kth-tss2", "tss@kettimuthu2005"),
        ("kth-is", "is@kettimuthu2005"),
    ] {
        check(&kth, policy, name);
    }
}

#[test]
fn the_variants_on_the_first_jobs_of_kth() {
    let Some(kth) = first_jobs(|options| options) else { return };
    for (name, policy) in [
        ("ns", "easy@kettimuthu2005"),
        ("ss2", "ss"),
        ("ss1.5", "ss(sf=1.5)"),
        ("ss5", "ss(sf=5)"),
        ("tss2", "tss"),
        ("is", "is"),
        ("is-noresume", "is(resume=free)"),
        ("ss2-dispatch-tick", "ss(starts=ticks)"),
        ("ss2-place-priosf", "ss(place=priosf)"),
        ("ss2-place-avoid", "ss(place=avoid)"),
        ("ss2-place-lowest", "ss(place=lowest)"),
        ("ss2-rule-skip", "ss(rule=skip)"),
        ("ss2-rule-exit", "ss(rule=exit)"),
    ] {
        check(&kth, policy, &format!("kth5000-{name}"));
    }
    // TSS with the limits of a baseline: mean slowdowns under SS, added up in order of arrival.
    let baseline = common::simulate(&kth, "ss");
    let mut means = [(0.0, 0.0); 16];
    for ((job, truth), span) in kth.jobs().iter().zip(kth.truth()).zip(&baseline.spans) {
        let wait = span.expect("ends").1 - job.submit - truth.run;
        let class = |value: i64, borders: [i64; 3]| borders.iter().filter(|&&b| value > b).count();
        let at = 4 * class(truth.run.0, [600, 3_600, 28_800]) + class(i64::from(job.procs), [1, 8, 32]);
        means[at].0 += measures::bounded_slowdown_kettimuthu(wait, truth.run);
        means[at].1 += 1.0;
    }
    let means: Vec<String> = means.iter().map(|(sum, count)| (sum / count).to_string()).collect();
    check(&kth, &format!("tss(means={})", means.join("/")), "kth5000-tss2-static-ss");

    let Some(user) = first_jobs(|options| CleaningOptions { overrun: Overrun::Raise, ..options }) else { return };
    check(&user, "easy@kettimuthu2005", "kth5000-ns-userest");
    check(&user, "ss", "kth5000-ss2-userest");

    let dense_log = scale_load(kth, "1.2".parse().expect("a factor")).expect("sound");
    check(&dense_log, "ss", "kth5000-ss2-load1.2");
}
