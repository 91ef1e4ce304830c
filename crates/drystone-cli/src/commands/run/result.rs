//! The result of a run, as it is written.

use crate::exit::CommandFailure;
use crate::meta::{Determined, ExperimentMeta, PolicyMeta, VERSION, WorkloadMeta};
use crate::output::document::Document;
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::report;
use crate::output::{Printable, excess};
use drystone::metrics::{PromisesKept, Report, SearchEffort, Stalls};
use drystone_report::meta::WORLD;
use drystone_report::{PlotDetails, PolicyResult, PoolResult, Results, Timing, pools_table};
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct RunResult {
    pub(super) schema: &'static str,
    pub(super) drystone: &'static str,
    pub(super) workload: WorkloadMeta,
    pub(super) policy: PolicyMeta,
    pub(super) experiment: ExperimentMeta,
    pub(super) promises: PromisesKept,
    pub(super) report: Report,
    /// Result of each pool, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) pools: Vec<PoolResult>,
    /// Data of plots, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<PlotDetails>,
    /// Delay that backfilling caused to the head of the queue, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stalls: Option<Stalls>,
    /// Effort of the policy's searches, if it searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) search: Option<SearchEffort>,
    /// Jobs simulated per second, where it was asked for. Differs from run to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timing: Option<Timing>,
    /// True if `--details` asks for every figure.
    #[serde(skip)]
    pub(super) whole: bool,
}

impl Printable for RunResult {
    fn document(&self) -> Document {
        let mut document = Document::default();
        document.heading(format!("{} on {}", self.policy.text, self.workload.line()));
        document.facts(self.facts());
        document.table(report::measures(&self.report));
        report::say_if_inexact(&mut document, report::summaries(&self.report));
        document.heading("Machine, queue, predictions and promises");
        let mut facts = excess::facts(&self.report);
        facts.extend(report::facts(&self.report, self.promises, self.stalls.as_ref(), self.timing));
        document.facts(facts);
        self.sizes_and_power(&mut document);
        if let Some(search) = &self.search {
            document.heading("Search");
            document.facts(report::search(search));
        }
        if !self.pools.is_empty() {
            document.heading("By pool");
            document.table(pools_table(&[(None, &self.pools)]));
        }
        self.categories(&mut document);
        document
    }

    /// Waits, slowdowns and the machine, without settings; the sections that options ask for
    /// follow.
    fn overview(&self) -> Option<Document> {
        if self.whole {
            return None;
        }
        let mut document = Document::default();
        document.heading(format!("{} on {}", self.policy.text, self.workload.line()));
        let world = self.workload.setting(WORLD).map(|world| ("world".to_string(), world.to_string()));
        let counted = ("jobs that count".to_string(), report::counted(&self.report));
        document.facts(world.into_iter().chain([counted]).collect());
        document.table(report::main_measures(&self.report));
        report::say_if_inexact(&mut document, report::summaries(&self.report));
        let shown = |name: &str| {
            let main =
                ["utilisation", "waiting jobs", "jobs killed", "suspensions", "promises", "simulation", "capacity up"];
            let resource = name.starts_with("utilisation of ");
            main.contains(&name) || resource || self.stalls.is_some() || self.report.disruptions.is_some()
        };
        let mut facts = excess::facts(&self.report);
        let all = report::facts(&self.report, self.promises, self.stalls.as_ref(), self.timing);
        facts.extend(all.into_iter().filter(|(name, _)| shown(name)));
        document.facts(facts);
        self.sizes_and_power(&mut document);
        if let Some(search) = &self.search {
            document.heading("Search");
            document.facts(report::search(search));
        }
        self.categories(&mut document);
        document.text("More: --details (every measure, predictions)   --report out.html (page)");
        Some(document)
    }

    fn rows(&self) -> FlatRows {
        let mut row = FlatRow::default();
        report::figures(&mut row, &self.report, self.promises);
        if let Some(stalls) = &self.stalls {
            row.number("stall_rate", stalls.rate);
            row.number("stall_mean", stalls.stall.mean);
            row.number("thieves_mean", stalls.thieves.mean);
        }
        if let Some(timing) = self.timing {
            row.number("jobs_per_second", Some(timing.jobs_per_second));
        }
        let mut rows = FlatRows::default();
        let determined = || report::determined(&self.workload, &self.policy, &self.experiment);
        rows.push(determined().followed_by(row));
        for pool in &self.pools {
            rows.push(determined().followed_by(report::pool(pool)));
        }
        for category in report::categories_as_rows(&self.report.categories) {
            rows.push(determined().followed_by(category));
        }
        rows
    }

    fn results(&self) -> Result<Results, CommandFailure> {
        let only = PolicyResult {
            policy: self.policy.clone(),
            equals: Vec::new(),
            promises: self.promises,
            report: self.report.clone(),
            pools: self.pools.clone(),
            details: self.details.clone(),
            timing: self.timing,
        };
        let data = serde_json::to_value(self).map_err(CommandFailure::usage)?;
        Ok(Results::of_run(self.drystone.to_string(), self.workload.clone(), self.experiment.clone(), only, data))
    }
}

impl RunResult {
    /// Sizes of jobs and power.
    fn sizes_and_power(&self, document: &mut Document) {
        if let Some(sizes) = &self.report.sizes {
            document.heading("Sizes and power");
            document.facts(sizes.facts());
        }
    }

    /// Returns the inputs of the result.
    pub(super) fn determined(&self, schema: &'static str) -> Determined<'_> {
        Determined {
            schema,
            drystone: VERSION,
            workload: &self.workload,
            policy: &self.policy,
            experiment: &self.experiment,
        }
    }

    /// A table for each scheme of `--by`.
    fn categories(&self, document: &mut Document) {
        for categorised in &self.report.categories {
            document.heading(format!("By {}", categorised.scheme.name()));
            document.table(report::categories(categorised));
        }
    }

    fn facts(&self) -> Vec<(String, String)> {
        report::determined_facts(&self.workload, &self.experiment)
            .into_iter()
            .chain([("policy parameters".to_string(), self.policy.parameters.text())])
            .chain([("jobs that count".to_string(), report::counted(&self.report))])
            .collect()
    }
}
