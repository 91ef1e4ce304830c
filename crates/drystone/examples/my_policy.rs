//! A policy outside Drystone: it registers itself by name and is compared with a built-in one.
//!
//! ```text
//! cargo run --release -p drystone --example my_policy -- 'widest-fit(depth=20)'
//! ```

use drystone::engine::{Simulation, WorkloadReplay};
use drystone::generate;
use drystone::metrics::{Collector, MetricsConfig, Scope};
use drystone::model::JobId;
use drystone::policy::{
    Actions, Param, Policy, PolicyEvent, PolicyKind, PolicySpec, StartReason, Takes, View, register_policy,
};
use serde::{Deserialize, Serialize};
use std::error::Error;

/// Among the first few waiting jobs, the widest that fits starts, again and again.
#[derive(Serialize, Deserialize)]
struct WidestFit {
    depth: usize,
    /// In the order of arrival.
    queue: Vec<JobId>,
}

impl Policy for WidestFit {
    fn name(&self) -> &str {
        "widest-fit"
    }

    fn observe(&mut self, event: PolicyEvent, _view: &View<'_>) {
        match event {
            PolicyEvent::Arrived(id) => self.queue.push(id),
            PolicyEvent::Cancelled(id) => self.queue.retain(|&waiting| waiting != id),
            _ => {}
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut free = view.free_processors();
        let procs = |id: JobId| view.job(id).procs;
        while let Some(widest) =
            self.queue.iter().take(self.depth).copied().filter(|&id| procs(id) <= free).max_by_key(|&id| procs(id))
        {
            free -= procs(widest);
            actions.start_job(widest, StartReason::Backfilled);
            self.queue.retain(|&waiting| waiting != widest);
        }
    }
}

static WIDEST_FIT: PolicyKind =
    PolicyKind::new("widest-fit", "the widest of the first waiting jobs that fits starts", &|args| {
        Ok(Box::new(WidestFit { depth: args.get("depth")?, queue: Vec::new() }))
    })
    .with_source("an example")
    .with_params(&[Param::new("depth", "50", &[Takes::COUNT], "number of waiting jobs considered")]);

fn main() -> Result<(), Box<dyn Error>> {
    register_policy(&WIDEST_FIT)?;
    let mine = std::env::args().nth(1).unwrap_or_else(|| WIDEST_FIT.name.to_string());
    let workload = generate::default_workload()?;
    for text in [mine.as_str(), "easy"] {
        let policy: PolicySpec = text.parse()?;
        let mut collector = Collector::new(Scope::from_workload(&workload), MetricsConfig::default());
        Simulation::new(workload.machine(), policy.build_scheduler(), WorkloadReplay::new(&workload))
            .run(&mut collector)?;
        let wait = collector.finish().measures.wait;
        let (mean, longest) = (wait.mean.unwrap_or(0.0), wait.max.unwrap_or(0.0));
        println!("{text:<24} mean wait {mean:>8.0} s, longest {longest:>9.0} s");
    }
    Ok(())
}
