//! Jobs and reports made by hand.
#![allow(dead_code)] // Every test binary uses its own part of this.

use drystone::metrics::{Collector, MetricsConfig, Report, Scope};
use drystone::model::{EndedJob, Job, JobId, JobOutcome, LogStatus, Machine, Procs, Provenance, Span, Time, Truth};

/// A job together with what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) id: u32,
    pub(crate) job: Job,
    pub(crate) truth: Truth,
    pub(crate) outcome: JobOutcome,
}

impl Done {
    /// A job that was never suspended, with an exact estimate, numbered id + 1 in its log.
    pub(crate) fn new(id: u32, submit: i64, start: i64, run: i64, procs: Procs) -> Done {
        Done {
            id,
            job: Job::new(Time(submit), procs, Span(run)),
            truth: Truth { run: Span(run), number: i64::from(id) + 1, status: LogStatus::Completed },
            outcome: JobOutcome {
                start: Time(start),
                end: Time(start + run),
                ran: Span(run),
                first_prediction: Span(run),
                ..JobOutcome::default()
            },
        }
    }

    pub(crate) fn user(mut self, user: i32) -> Done {
        self.job.user = user;
        self
    }

    pub(crate) fn estimate(mut self, estimate: i64) -> Done {
        self.job.estimate = Span(estimate);
        self
    }

    pub(crate) fn reserved(mut self, at: i64) -> Done {
        self.outcome.first_reservation = Some(Time(at));
        self
    }

    pub(crate) fn predicted(mut self, first: i64, corrections: u32, accuracy: f64) -> Done {
        self.outcome.first_prediction = Span(first);
        self.outcome.corrections = corrections;
        self.outcome.accuracy = Some(accuracy);
        self
    }

    pub(crate) fn ended(&self) -> EndedJob<'_> {
        EndedJob { id: JobId(self.id), job: &self.job, truth: &self.truth, outcome: &self.outcome }
    }
}

/// First and last submit.
pub(crate) fn submits(jobs: &[Done]) -> (Time, Time) {
    let times = || jobs.iter().map(|j| j.job.submit);
    (times().min().unwrap_or_default(), times().max().unwrap_or_default())
}

/// A collector for these jobs.
pub(crate) fn collector(procs: Procs, jobs: &[Done], config: MetricsConfig) -> Collector {
    let scope = Scope::new(Machine::new(procs), jobs.len() as u64, submits(jobs), &Provenance::default());
    Collector::new(scope, config)
}

/// The report on jobs that ended in the order given.
pub(crate) fn report(procs: Procs, jobs: &[Done], config: MetricsConfig) -> Report {
    let mut collector = collector(procs, jobs, config);
    for job in jobs {
        collector.note_end(&job.ended());
    }
    collector.finish()
}

/// Returns whether two numbers agree up to rounding.
pub(crate) fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}
