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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<PlotDetails>,
    /// Delay that backfilling caused to the head of the queue, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stalls: Option<Stalls>,
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
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        document.add_heading(format!("{} on {}", self.policy.text, self.workload.format_line()));
        document.add_facts(self.result_facts());
        document.add_table(report::measure_table(&self.report));
        report::say_if_inexact(&mut document, report::all_summaries(&self.report));
        document.add_heading("Machine, queue, predictions and promises");
        let mut facts = excess::excess_facts(&self.report);
        facts.extend(report::report_facts(&self.report, self.promises, self.stalls.as_ref(), self.timing));
        document.add_facts(facts);
        self.sizes_and_power(&mut document);
        if let Some(search) = &self.search {
            document.add_heading("Search");
            document.add_facts(report::describe_search(search));
        }
        if !self.pools.is_empty() {
            document.add_heading("By pool");
            document.add_table(pools_table(&[(None, &self.pools)]));
        }
        self.append_categories(&mut document);
        document
    }

    /// Waits, slowdowns and the machine, without settings; the sections that options ask for
    /// follow.
    fn render_overview(&self) -> Option<Document> {
        if self.whole {
            return None;
        }
        let mut document = Document::default();
        document.add_heading(format!("{} on {}", self.policy.text, self.workload.format_line()));
        let world = self.workload.find_setting(WORLD).map(|world| ("world".to_string(), world.to_string()));
        let counted_fact = ("jobs that count".to_string(), report::describe_counted_jobs(&self.report));
        document.add_facts(world.into_iter().chain([counted_fact]).collect());
        document.add_table(report::main_measures(&self.report));
        report::say_if_inexact(&mut document, report::all_summaries(&self.report));
        let is_shown = |name: &str| {
            let main =
                ["utilisation", "waiting jobs", "jobs killed", "suspensions", "promises", "simulation", "capacity up"];
            let resource = name.starts_with("utilisation of ");
            main.contains(&name) || resource || self.stalls.is_some() || self.report.disruptions.is_some()
        };
        let mut facts = excess::excess_facts(&self.report);
        let all_facts = report::report_facts(&self.report, self.promises, self.stalls.as_ref(), self.timing);
        facts.extend(all_facts.into_iter().filter(|(name, _)| is_shown(name)));
        document.add_facts(facts);
        self.sizes_and_power(&mut document);
        if let Some(search) = &self.search {
            document.add_heading("Search");
            document.add_facts(report::describe_search(search));
        }
        self.append_categories(&mut document);
        document.add_text("More: --details (every measure, predictions)   --report out.html (page)");
        Some(document)
    }

    fn render_rows(&self) -> FlatRows {
        let mut row = FlatRow::default();
        report::append_figures(&mut row, &self.report, self.promises);
        if let Some(stalls) = &self.stalls {
            row.add_number("stall_rate", stalls.rate);
            row.add_number("stall_mean", stalls.stall.mean);
            row.add_number("thieves_mean", stalls.thieves.mean);
        }
        if let Some(timing) = self.timing {
            row.add_number("jobs_per_second", Some(timing.jobs_per_second));
        }
        let mut rows = FlatRows::default();
        let input_columns = || report::input_columns(&self.workload, &self.policy, &self.experiment);
        rows.push(input_columns().followed_by(row));
        for pool in &self.pools {
            rows.push(input_columns().followed_by(report::pool_columns(pool)));
        }
        for category in report::categories_as_rows(&self.report.categories) {
            rows.push(input_columns().followed_by(category));
        }
        rows
    }

    fn plot_results(&self) -> Result<Results, CommandFailure> {
        let only = PolicyResult {
            policy: self.policy.clone(),
            equals: Vec::new(),
            promises: self.promises,
            report: self.report.clone(),
            pools: self.pools.clone(),
            details: self.details.clone(),
            timing: self.timing,
        };
        let data = serde_json::to_value(self).map_err(CommandFailure::usage_error)?;
        Ok(Results::of_run(self.drystone.to_string(), self.workload.clone(), self.experiment.clone(), only, data))
    }
}

impl RunResult {
    fn sizes_and_power(&self, document: &mut Document) {
        if let Some(sizes) = &self.report.sizes {
            document.add_heading("Sizes and power");
            document.add_facts(sizes.facts());
        }
    }

    pub(super) fn result_inputs(&self, schema: &'static str) -> Determined<'_> {
        Determined {
            schema,
            drystone: VERSION,
            workload: &self.workload,
            policy: &self.policy,
            experiment: &self.experiment,
        }
    }

    /// A table for each scheme of `--by`.
    fn append_categories(&self, document: &mut Document) {
        for breakdown in &self.report.categories {
            document.add_heading(format!("By {}", breakdown.scheme.name()));
            document.add_table(report::category_table(breakdown));
        }
    }

    fn result_facts(&self) -> Vec<(String, String)> {
        report::determined_facts(&self.workload, &self.experiment)
            .into_iter()
            .chain([("policy parameters".to_string(), self.policy.parameters.format_pairs())])
            .chain([("jobs that count".to_string(), report::describe_counted_jobs(&self.report))])
            .collect()
    }
}
