//! Scheduling policies for parallel machines, exact to the published papers; a fast simulator that
//! compares them on real logs; and a session that drives the same policies on a live cluster.
//!
//! A parallel machine has a number of processors. Jobs arrive, each with the number of processors
//! that it needs and the user's estimate of its run time. A *policy* decides which job starts when.
//! This crate holds the policies of the literature (EASY, conservative and slack-based backfilling,
//! multiple queues, selective suspension, goal-oriented search and their variants), what they are
//! made of, and what runs and measures them.
//!
//! There are five doors. Each example below is complete.
//!
//! # Simulate
//!
//! A workload comes from a log ([`log::load_log`]) or a generator. A policy is named by a short
//! text: `drystone policies` lists all names and parameters, and [`policy`] explains the grammar.
//! An [`Experiment`](experiment::Experiment) simulates one under the other and measures.
//!
//! ```
//! use drystone::experiment::Experiment;
//! use drystone::generate::{Params, generate_workload};
//! use drystone::policy::PolicySpec;
//!
//! // 500 jobs for 128 processors. A log: `drystone::log::load_log("LOG.swf.gz", &IntervalOptions::default())?.workload`.
//! let workload = generate_workload(&Params { load: Some(0.85), seed: 1, ..Params::new(128, 500) })?;
//! let policy: PolicySpec = "easy(backfill=sjf)".parse()?;
//!
//! let measured = Experiment::new(&policy, &workload).run(&mut ())?.expect("nothing stops it");
//!
//! assert_eq!(measured.report.measures.wait.count, 500);
//! println!("mean wait: {:?} s", measured.report.measures.wait.mean);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Beneath it, [`engine::Simulation`] is the loop, and observers of your own watch it. A simulation
//! can also stop at each scheduling pass, show what a policy would see, and take decisions from
//! outside ([`engine::Simulation::next_pass`]).
//!
//! # Compare
//!
//! [`metrics::compare_reports`] sets reports on the same workload against a baseline, with
//! confidence intervals, and says what is noise.
//!
//! ```
//! # use drystone::experiment::Experiment;
//! # use drystone::generate::{Params, generate_workload};
//! use drystone::metrics::{Metric, IntervalOptions, Report, compare_reports};
//! # use drystone::policy::PolicySpec;
//!
//! # let workload = generate_workload(&Params { load: Some(0.85), seed: 1, ..Params::new(128, 500) })?;
//! let measured = |text: &str| -> Result<Report, Box<dyn std::error::Error>> {
//!     let policy: PolicySpec = text.parse()?;
//!     Ok(Experiment::new(&policy, &workload).run(&mut ())?.expect("nothing stops it").report)
//! };
//! let (easy, fcfs) = (measured("easy")?, measured("fcfs")?);
//! let metrics: Vec<Metric> = Metric::all_metrics().collect();
//! let comparison = compare_reports(&[("easy", &easy), ("fcfs", &fcfs)], "easy", &metrics, IntervalOptions::default())?;
//! for change in &comparison.policies[0].changes {
//!     println!("{:?}: {:?} instead of {:?}, {:?}", change.metric, change.value, change.baseline, change.verdict);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Write a policy
//!
//! A policy is a state machine that takes events and returns actions. [`policy::Policy`] shows a
//! complete one. [`policy::register_policy`] makes it known by name, with parameters, help and
//! error messages, so that it can be used wherever a built-in one can. The crate `drystone-testkit`
//! tries it on hostile random workloads in one line.
//!
//! ```
//! use drystone::model::JobId;
//! use drystone::policy::{Actions, PolicyEvent, PolicyKind, Param, Policy, PolicySpec, Takes, View, StartReason, register_policy};
//! use serde::{Deserialize, Serialize};
//!
//! /// Of the first few waiting jobs, every one that fits starts.
//! #[derive(Serialize, Deserialize)]
//! struct Greedy {
//!     depth: usize,
//!     queue: Vec<JobId>,
//! }
//!
//! impl Policy for Greedy {
//!     fn name(&self) -> &str {
//!         "my-greedy"
//!     }
//!     fn observe(&mut self, event: PolicyEvent, _view: &View<'_>) {
//!         match event {
//!             PolicyEvent::Arrived(id) => self.queue.push(id),
//!             PolicyEvent::Cancelled(id) => self.queue.retain(|&waiting| waiting != id),
//!             _ => {}
//!         }
//!     }
//!     fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
//!         let mut free = view.free_processors();
//!         let start: Vec<JobId> = self.queue.iter().take(self.depth).copied().collect();
//!         for id in start.into_iter().filter(|&id| fits(view.job(id).procs, &mut free)) {
//!             actions.start_job(id, StartReason::Backfilled);
//!             self.queue.retain(|&waiting| waiting != id);
//!         }
//!     }
//! }
//!
//! fn fits(procs: u32, free: &mut u32) -> bool {
//!     let fits = procs <= *free;
//!     *free -= if fits { procs } else { 0 };
//!     fits
//! }
//!
//! static MY_GREEDY: PolicyKind = PolicyKind::new("my-greedy", "of the first jobs, every one that fits starts", &|args| {
//!     Ok(Box::new(Greedy { depth: args.get("depth")?, queue: Vec::new() }))
//! })
//! .with_params(&[Param::new("depth", "50", &[Takes::COUNT], "number of waiting jobs considered")]);
//!
//! register_policy(&MY_GREEDY)?;
//! assert!("my-greedy(depth=10,predict=recent(2))".parse::<PolicySpec>().is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Drive a session
//!
//! On a live cluster there is no loop: events come in when they happen. [`engine::Session`] holds
//! the table of jobs, the account of free processors and the predictions, and asks the policy. It
//! is pure: time is an argument, and its whole state can be saved and restored.
//!
//! ```
//! use drystone::engine::Session;
//! use drystone::model::{Job, Machine, Span, Time};
//! use drystone::policy::{Action, PolicySpec};
//!
//! let policy: PolicySpec = "easy".parse()?;
//! let mut session = Session::new(Machine::new(4), policy.build_scheduler());
//! let id = session.note_arrival(Time(0), &Job::new(Time(0), 3, Span(100)), None)?;
//! let actions = session.decide(Time(0))?;
//! assert!(matches!(actions.list(), [Action::Start { job, .. }] if *job == id));
//! // 80 seconds later the machine says that the job has ended.
//! session.end_job(Time(80), id);
//! session.expire_due(Time(80));
//! session.decide(Time(80))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Predict run times
//!
//! The user's estimate kills; a prediction plans. Every policy takes `predict=` and `correct=`, and
//! a [`Scheduler`](engine::Scheduler) takes any [`Predictor`](parts::predict::Predictor).
//!
//! ```
//! use drystone::engine::Scheduler;
//! use drystone::model::{Job, JobId, Span};
//! use drystone::parts::predict::{Correction, Forecast, Prediction, Predictor};
//! use drystone::policy::PolicySpec;
//! use serde::{Deserialize, Serialize};
//!
//! /// Half of what the user asks for.
//! #[derive(Serialize, Deserialize)]
//! struct Half;
//!
//! impl Predictor for Half {
//!     fn name(&self) -> &str {
//!         "half"
//!     }
//!     fn predict(&mut self, _id: JobId, job: &Job, _oracle: Option<Span>) -> Prediction {
//!         Prediction::from_learned(Span(job.estimate.0 / 2))
//!     }
//! }
//!
//! let policy: PolicySpec = "easy".parse()?;
//! let forecast = Forecast { predictor: Box::new(Half), factor: 1, correction: Correction::Estimate };
//! let scheduler = Scheduler { forecast, ..policy.build_scheduler() };
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! | module | to find |
//! |---|---|
//! | [`model`] | times, jobs, workloads, outcomes |
//! | [`log`] | logs in the Standard Workload Format: read, cleaned, transformed, described |
//! | [`generate`] | synthetic workloads |
//! | [`parts`] | what policies are made of: orders, queue, profile, predictors |
//! | [`policy`] | the contract, the registry, the policies |
//! | [`engine`] | session and simulation, observers, explanations of a job's start |
//! | [`inference`] | whether a difference is more than chance: intervals, p values, signs, verdicts |
//! | [`metrics`] | measures, reports, comparisons |
//! | [`draw`] | random numbers of searches and resampling |
//! | [`experiment`] | which jobs count, policies with priorities, machines side by side |
//! | [`text`] | the grammar of policy texts and the types of parameters |
//! | [`snapshot`] | saved states |
//!
//! # Features
//!
//! All are on by default: `gzip`, `zstd`, `xz` and `bzip2` read compressed logs, and the first two
//! write them. The crate `drystone-core` is this one without logs, generators and metrics: all that
//! a live daemon needs.

#![warn(missing_docs)]

pub mod draw;
pub mod experiment;
pub mod fingerprint;
pub mod generate;
pub mod inference;
pub mod log;
pub mod metrics;
pub mod times;

#[doc(hidden)]
pub use drystone_core::word_enum;
pub use drystone_core::{engine, model, parts, policy, snapshot, statistics, text};
