//! `drystone compare`: several policies on one workload.

mod bench;
mod calibrate;
pub(crate) mod candidates;
mod choices;
mod classes;
mod document;
mod estimates;
mod headroom;
mod loads;
mod overview;
mod policies;
mod readings;
mod recorded;
pub(crate) mod replay;
mod result;
mod rows;
pub(crate) mod simulate;
mod summary;
mod treatment;
mod verdict;
mod words;

use self::bench::CompareInputs;
use self::loads::Loads;
pub(crate) use self::policies::policies_to_compare;
use self::readings::{Readings, SimulatedPolicies};
use self::recorded::RecordedWaits;
use self::replay::JobReplay;
use self::result::CompareResult;
use self::simulate::{FinishedPolicies, WatchedPolicy};
use self::summary::SheetParts;
use crate::args::{CompareArgs, SimulationArgs};
use crate::commands::headroom::bracket::Bracket;
use crate::commands::headroom::result::bracket_remark;
use crate::exit::{CommandFailure, CommandOutcome, DONE, FINDING};
use crate::input::{self, PolicyFiles, WorkloadInput, WorkloadParts};
use crate::interrupt;
use crate::meta::{ExperimentMeta, PolicyMeta, VERSION};
use crate::output::document::Document;
use crate::output::flat::FlatRows;
use crate::output::number::format_count;
use crate::output::report;
use crate::output::{self, Printable, ReportFile, file, message, plots};
use crate::wait_conditions::HeldWaits;
use drystone::log::transform::LoadFactor;
use drystone::metrics::{Comparison, IntervalOptions, JobSelection, Measure, Metric, Report, compare_reports};
use drystone::model::Workload;
use drystone::policy::PolicySpec;
use drystone_headroom::DelayMeasure;
use drystone_report::Timing;
use drystone_report::{PolicyResult, PoolResult, Results};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn run_compare(args: &CompareArgs) -> CommandOutcome {
    let common = &args.common;
    message::be_quiet(common.quiet);
    check_options(args)?;
    // What cannot be written is said before the work is done.
    let report_file = common.report.as_deref().map(ReportFile::create_file).transpose()?;
    let _folder = common.plots.as_deref().map(plots::prepare_folder).transpose()?;
    let specs = policies::policies_to_compare(args)?;
    crate::site::tell_remarks(&specs);
    let mut input = WorkloadInput::read_for_simulation(common, true, !args.loads.is_empty())?;
    check_shapes(args, &input)?;
    let specs = policies::keep_able(args, specs, &input.workload)?;
    input.site.iter_mut().for_each(|site| site.localise_policies(&specs));
    let as_logged = input.site.is_none() && !common.log.moves_arrivals() && common.real.warm_start.is_none();
    let recorded_waits = input.records.as_deref().filter(|_| as_logged).and_then(RecordedWaits::from_records);
    input.check_fit(&specs)?;
    let mut experiment = input.experiment_meta(common);
    let parts = WorkloadParts::from_input(&input, common.each_month)?;
    let files = read_files(common, &specs, &input, &mut experiment)?;
    let page = report_file.as_ref().is_some_and(ReportFile::is_page);
    let stop = interrupt::stop_in_order();
    if let Some(time) = args.within {
        interrupt::stop_after(time).map_err(|e| CommandFailure::usage_error(format_args!("--within: {e}")))?;
    }
    let bench = CompareInputs {
        args,
        priorities: files.priorities.as_ref(),
        platform: files.platform,
        outages: &files.outages,
        recorded_outages: &files.recorded_outages,
        spares: false,
        input: &input,
        stop,
        detailed: (common.details && !(common.format.for_people() && report_file.is_none()))
            || common.plots.is_some()
            || page,
        keep: args.headroom.is_some() || common.details,
    };
    let question =
        CompareQuestion { input: &input, parts: parts.as_slice(), specs, recorded: recorded_waits, experiment };
    // What is left to do is soon done, and a second interrupt ends it at once.
    let Some(answer) = build_answer(&bench, question, interrupt::stop_at_once)? else {
        let reason = if interrupt::time_is_up() { "time was up" } else { "interrupted" };
        message::print_note(&format!("{reason} before the baseline was done"));
        return Ok(if interrupt::time_is_up() { DONE } else { interrupt::exit_code() });
    };
    let CompareAnswer { mut result, interrupted, lacks_parts } = answer;
    result.example = common.source.path().is_none();
    write_files(common, &result, report_file, lacks_parts)?;
    output::print_result(&result, common.format)?;
    let has_kept_promises = promises_are_kept(common, &result);
    Ok(match interrupted {
        true => interrupt::exit_code(),
        false if !has_kept_promises => FINDING,
        false => DONE,
    })
}

struct CompareQuestion<'a> {
    input: &'a WorkloadInput,
    parts: &'a [Workload],
    specs: Vec<PolicySpec>,
    recorded: Option<RecordedWaits>,
    experiment: ExperimentMeta,
}

struct CompareAnswer {
    result: CompareResult,
    interrupted: bool,
    /// True if it was stopped before all was simulated.
    lacks_parts: bool,
}

/// Simulates and judges; `None` if even the baseline was cancelled. `stopped` returns, once all is
/// simulated, whether a stop was requested.
fn build_answer(
    bench: &CompareInputs<'_>,
    question: CompareQuestion<'_>,
    is_over: impl Fn() -> bool,
) -> Result<Option<CompareAnswer>, CommandFailure> {
    let CompareQuestion { input, parts, specs, recorded, experiment } = question;
    let args = bench.args;
    let Some(mut simulations) = bench.simulate_policies(&input.workload, parts, specs)? else { return Ok(None) };
    let baseline = policies::baseline_text(args, &simulations.specs)?;
    let (left_out, too_long) = (std::mem::take(&mut simulations.left_out), std::mem::take(&mut simulations.too_long));
    if !bench.has_named_policies() {
        simulations.merge_equals(&baseline);
    }
    let specs = simulations.specs.clone();
    let headroom = headroom::find_bracket(bench, &simulations, &baseline)?;
    let replay = replay_distance(input, &simulations, &baseline);
    let held_waits = HeldWaits::measure_waits(input, (bench.outages, args.common.real.feedback), bench.stop)?;
    let path = args.common.source.path().map_or_else(|| "SITE".to_string(), |path| path.display().to_string());
    let timings: Vec<Timing> = simulations.watched.iter().map(|w| Timing::from_experiment(&w.measured)).collect();
    let ratios = classes::ratios_to_baseline(&simulations, &baseline, args.batch as usize);
    let results = policy_results(bench, simulations, &baseline, &timings);
    results.first().into_iter().for_each(|first| report::warn_if_none_counts(&first.report));
    let mut comparison = compare_results(args, &results, &baseline)?;
    replay.iter().for_each(|replay| replay.restrain_claims(&mut comparison));
    let reports: Vec<&Report> = results.iter().map(|r| &r.report).collect();
    let Loads { points: loads, left_out: loads_left_out } =
        loads::load_points(bench, &input.workload, &specs, &reports)?;
    let simulated_policies =
        SimulatedPolicies { input, specs: &specs, comparison: &comparison, results: &results, replay: replay.as_ref() };
    let readings = readings::simulate_readings(bench, simulated_policies)?;
    // What is left takes no time worth an orderly stop.
    let is_stopped = is_over();
    let is_interrupted = is_stopped && !interrupt::time_is_up();
    let lacks_parts = is_interrupted && !(left_out.is_empty() && loads_left_out.is_empty());
    let workload = input.workload_meta();
    let verdict_parts = VerdictParts {
        foreseen: estimates::foresight_reason(&workload),
        modelled: estimates::describe_model(&workload),
        asked: bench.has_named_policies(),
        suspension_is_free: experiment.platform.is_none(),
        readings: readings.as_ref(),
        recorded,
        held: held_waits.as_ref().and_then(|waits| waits.format_sentence(&path)),
        replay: replay.as_ref(),
        headroom: headroom.as_ref(),
        too_long: &too_long,
        left_out: is_stopped.then_some((left_out.as_slice(), loads_left_out.as_slice())),
    };
    let verdict = verdict_parts.verdict_sentences(&comparison, &results);
    let undecidable_reason = verdict_parts.undecidable_reason(&comparison, &results);
    let sheet = SheetParts {
        workload: &workload,
        experiment: &experiment,
        comparison: &comparison,
        results: &results,
        readings: readings.as_ref(),
        nothing: undecidable_reason.as_deref(),
        open: verdict_parts.open_questions(&comparison, &results),
        asked: bench.has_named_policies(),
        machine: input.site.as_ref().map(crate::site::SiteInput::describe_assumptions),
    };
    let summary = sheet.build_summary();
    verdict_parts.say_what_is_missing();
    let result = CompareResult {
        schema: "drystone/compare/1",
        drystone: VERSION,
        workload,
        experiment,
        baseline,
        verdict,
        asked: bench.has_named_policies(),
        whole: args.common.details,
        example: false,
        summary,
        readings,
        recorded,
        held: held_waits,
        path,
        replay,
        headroom,
        not_tried: [left_out, too_long].concat(),
        comparison,
        results,
        loads,
        ratios,
    };
    Ok(Some(CompareAnswer { result, interrupted: is_interrupted, lacks_parts }))
}

/// A comparison with everything that is written of it.
pub(crate) struct JudgedComparison {
    result: CompareResult,
}

impl JudgedComparison {
    pub(crate) fn results(&self) -> Result<Results, CommandFailure> {
        self.result.plot_results()
    }

    /// The text that the command prints.
    pub(crate) fn render_text(&self) -> String {
        output::reports::render_text(&self.result)
    }

    /// Writes the result, as its ending says.
    pub(crate) fn write_report(&self, path: &Path) -> Result<(), CommandFailure> {
        file::publish_all(vec![ReportFile::create_file(path)?.write_result(&self.result)?])
    }
}

/// Compares for a program that has workload and policies in memory. `None` where it was stopped
/// before all was simulated.
pub(crate) fn judge_comparison(
    args: &CompareArgs,
    input: &WorkloadInput,
    stop: &AtomicBool,
) -> Result<Option<JudgedComparison>, CommandFailure> {
    check_options(args)?;
    let common = &args.common;
    let specs = policies::policies_to_compare(args)?;
    let as_logged = input.site.is_none() && !common.log.moves_arrivals() && common.real.warm_start.is_none();
    let records = input.records.as_deref().filter(|_| as_logged);
    check_shapes(args, input)?;
    let specs = policies::keep_able(args, specs, &input.workload)?;
    input.check_fit(&specs)?;
    let mut experiment = input.experiment_meta(common);
    let files = read_files(common, &specs, input, &mut experiment)?;
    let parts = WorkloadParts::from_input(input, common.each_month)?;
    let bench = CompareInputs {
        args,
        priorities: files.priorities.as_ref(),
        platform: files.platform,
        outages: &files.outages,
        recorded_outages: &files.recorded_outages,
        spares: false,
        input,
        stop,
        detailed: common.details,
        keep: args.headroom.is_some() || common.details,
    };
    let recorded_waits = records.and_then(RecordedWaits::from_records);
    let question = CompareQuestion { input, parts: parts.as_slice(), specs, recorded: recorded_waits, experiment };
    let is_stopped = || stop.load(Ordering::Relaxed);
    let whole = build_answer(&bench, question, is_stopped)?.filter(|answer| !answer.interrupted);
    Ok(whole.map(|answer| JudgedComparison { result: answer.result }))
}

/// Refuses options that contradict each other, before anything is read or made.
fn check_options(args: &CompareArgs) -> Result<(), CommandFailure> {
    let common = &args.common;
    if let JobSelection::Submitted { .. } = input::choose_selection(common)
        && !args.loads.is_empty()
    {
        let problem =
            "--trim submitted(FROM,UNTIL) does not go with --loads: in the same seconds other jobs arrive at each load";
        return Err(CommandFailure::usage_error(problem));
    }
    if common.study_protocol().1.around.is_some() && !args.loads.is_empty() {
        let problem = "--around does not go with --loads: in the same seconds other jobs arrive at each load; \
            run `compare` once for each --load-to";
        return Err(CommandFailure::usage_error(problem));
    }
    if common.real.warm_start.is_some() && !args.loads.is_empty() {
        let problem = "--warm-start does not go with --loads: the running and waiting jobs are recorded at the load \
            of the log";
        return Err(CommandFailure::usage_error(problem));
    }
    if args.headroom.is_some() && common.failure.checkpoints.is_some() {
        let problem = "--headroom does not go with --checkpoints: its floor and its search know jobs that run without a break, \
            and no work that is done again";
        return Err(CommandFailure::usage_error(problem));
    }
    let output_paths = [("--audit", common.log.audit.as_deref()), ("--report", common.report.as_deref())];
    file::check_distinct(&input::read_by(common), &output_paths)
}

/// Refuses what is defined for jobs of one size each.
fn check_shapes(args: &CompareArgs, input: &WorkloadInput) -> Result<(), CommandFailure> {
    match args.headroom.is_some() && input.workload.shapes().is_some() {
        true => Err(CommandFailure::usage_error(
            "--headroom does not go with --shapes, --power and --idle: its floor holds for one size per job and unlimited power",
        )),
        false => Ok(()),
    }
}

/// Reads priorities and platform where they were given, and records them among the settings.
fn read_files(
    common: &SimulationArgs,
    specs: &[PolicySpec],
    input: &WorkloadInput,
    experiment: &mut ExperimentMeta,
) -> Result<PolicyFiles, CommandFailure> {
    let workload = &input.workload;
    let mut files = PolicyFiles::default();
    if let Some(file) = &common.priorities {
        let (priorities, meta) = input::read_priorities(file, workload)?;
        policies::say_who_takes(specs, &priorities, workload)?;
        (files.priorities, experiment.priorities) = (Some(priorities), Some(meta));
    }
    if let Some(file) = &common.platform {
        let (platform, meta) = input::read_platform(file)?;
        (files.platform, experiment.platform) = (platform, Some(meta));
    }
    files.outages = input.find_outages(&common.real, experiment)?;
    files.recorded_outages = files.outages.clone();
    files.add_failures(&common.failure, workload, experiment)?;
    common.real.heard_by(specs, &files.outages, workload)?;
    Ok(files)
}

fn replay_distance(input: &WorkloadInput, simulations: &FinishedPolicies, baseline: &str) -> Option<JobReplay> {
    let site = input.site.as_ref().filter(|site| !site.plain)?;
    let at = simulations.specs.iter().position(|spec| spec.text() == baseline)?;
    JobReplay::from_rows(site, baseline, simulations.watched[at].measured.report.jobs.as_deref()?)
}

fn policy_results(
    bench: &CompareInputs<'_>,
    mut simulations: FinishedPolicies,
    baseline: &str,
    timings: &[Timing],
) -> Vec<PolicyResult> {
    let mut details = bench.plot_details(&mut simulations, baseline).into_iter();
    let mut equals = std::mem::take(&mut simulations.equals).into_iter();
    let is_timed = bench.args.common.timing;
    let to_result =
        |((spec, WatchedPolicy { measured, .. }), timing): ((&PolicySpec, WatchedPolicy), &Timing)| PolicyResult {
            policy: PolicyMeta::from_spec(spec),
            equals: equals.next().unwrap_or_default(),
            promises: measured.promises,
            report: measured.report.without_jobs(),
            pools: measured.pools.into_iter().map(PoolResult::from).collect(),
            details: details.next(),
            timing: is_timed.then_some(*timing),
        };
    simulations.specs.iter().zip(simulations.watched).zip(timings).map(to_result).collect()
}

fn compare_results(args: &CompareArgs, results: &[PolicyResult], baseline: &str) -> Result<Comparison, CommandFailure> {
    let options = IntervalOptions { confidence: args.confidence };
    let reports: Vec<(&str, &Report)> = results.iter().map(|r| (r.policy.text.as_str(), &r.report)).collect();
    Ok(compare_reports(&reports, baseline, &Metric::compared_metrics(), options)?)
}

struct VerdictParts<'a> {
    asked: bool,
    suspension_is_free: bool,
    readings: Option<&'a Readings>,
    recorded: Option<RecordedWaits>,
    /// Sentence on what jobs wait for beside the machine.
    held: Option<String>,
    replay: Option<&'a JobReplay>,
    headroom: Option<&'a Bracket>,
    too_long: &'a [String],
    /// Policies and loads that are missing because the work was stopped.
    left_out: Option<(&'a [String], &'a [LoadFactor])>,
    /// Reason why no policy that plans with estimates is recommended.
    foreseen: Option<String>,
    /// That estimates are a model's.
    modelled: Option<String>,
}

impl VerdictParts<'_> {
    /// The verdict: first whether there is anything to decide, last what is missing.
    fn verdict_sentences(&self, comparison: &Comparison, results: &[PolicyResult]) -> Vec<String> {
        let mut sentences: Vec<String> = self.held.iter().map(|waits| format!("{waits}.")).collect();
        sentences.extend(self.undecidable_reason(comparison, results));
        sentences.extend(self.modelled.clone());
        sentences.extend(self.describe_distance(comparison, results));
        sentences.extend(self.replay.map(JobReplay::format_sentence));
        sentences.extend(verdict::verdict_sentences(comparison, results, self.asked, verdict::WHOLE));
        for policy in self.leading_policies(comparison, results) {
            sentences.extend(verdict::who_pays(comparison, results, policy, verdict::WHOLE));
        }
        if let Some(policy_result) = self.recommended_policy(comparison, results) {
            sentences.push(format!(
                "{} is available as {}.",
                policy_result.policy.text,
                words::describe_availability(&policy_result.policy)
            ));
        }
        sentences.extend(self.readings.into_iter().flat_map(Readings::format_sentences));
        sentences.extend(verdict::describe_suspension(results, self.suspension_is_free, self.asked));
        sentences.extend(bounded_policies(results));
        sentences.extend(
            self.headroom.and_then(|bracket| bracket_remark(bracket, DelayMeasure::Wait, &comparison.baseline)),
        );
        sentences.extend(verdict::not_tried(self.too_long));
        sentences.extend(self.left_out());
        sentences
    }

    fn undecidable_reason(&self, comparison: &Comparison, results: &[PolicyResult]) -> Option<String> {
        let baseline = results.iter().find(|r| r.policy.text == comparison.baseline)?;
        let undecided_reason = recorded::nothing_to_decide(&comparison.baseline, &baseline.report);
        self.foreseen.clone().or(undecided_reason).filter(|_| results.len() > 1)
    }

    /// Policies that lead by a mean, whether they are recommended or not.
    fn leading_policies<'a>(&self, comparison: &'a Comparison, results: &[PolicyResult]) -> Vec<&'a str> {
        let choices = choices::RoleChoices::from_comparison(comparison, results, self.asked);
        let by = [Measure::BoundedSlowdown, Measure::Wait].map(|measure| choices.clearly_best(measure));
        let mut names: Vec<&str> = Vec::new();
        for name in by.into_iter().flatten().map(|(policy, _)| policy) {
            let leader_name =
                comparison.policies.iter().map(|p| p.name.as_str()).find(|policy_name| *policy_name == name);
            names.extend(leader_name.filter(|policy_name| !names.contains(policy_name)));
        }
        names
    }

    fn recommended_policy<'a>(&self, comparison: &Comparison, results: &'a [PolicyResult]) -> Option<&'a PolicyResult> {
        if self.undecidable_reason(comparison, results).is_some() {
            return None;
        }
        let turns = |policy: &str| self.readings.is_some_and(|readings| readings.has_reversal(policy));
        let choices = choices::RoleChoices::from_comparison(comparison, results, self.asked);
        let policy = choices.recommended_policy(turns)?;
        results.iter().find(|r| r.policy.text == policy.name)
    }

    /// Describes the distance of the simulated baseline from the log.
    fn describe_distance(&self, comparison: &Comparison, results: &[PolicyResult]) -> Option<String> {
        let baseline = results.iter().find(|r| r.policy.text == comparison.baseline)?;
        self.recorded?.distance_warning(&comparison.baseline, &baseline.report)
    }

    fn left_out(&self) -> Option<String> {
        self.left_out.map(|(policies, loads)| verdict::left_out(policies, loads, interrupt::time_is_up()))
    }

    fn say_what_is_missing(&self) {
        self.left_out().into_iter().for_each(|sentence| message::print_note(&sentence));
    }

    fn open_questions(&self, comparison: &Comparison, results: &[PolicyResult]) -> Vec<String> {
        let mut open: Vec<String> =
            self.modelled.iter().cloned().chain(self.describe_distance(comparison, results)).collect();
        open.extend(self.replay.map(JobReplay::format_sentence));
        open.extend(self.readings.into_iter().flat_map(Readings::format_sentences));
        open.extend(bounded_policies(results));
        open.extend(verdict::not_tried(self.too_long));
        open.extend(self.left_out());
        open
    }
}

/// Names the policies that looked at the first waiting jobs only.
fn bounded_policies(results: &[PolicyResult]) -> Vec<String> {
    let longest_queue = |r: &PolicyResult| r.report.queue.as_ref().map_or(0, |queue| queue.whole.max_waiting_jobs);
    results.iter().filter_map(|r| candidates::describe_bound(&r.policy, longest_queue(r))).collect()
}

/// Writes the files that were asked for. What lacks parts replaces none that may be whole.
fn write_files(
    common: &SimulationArgs,
    result: &CompareResult,
    report_file: Option<ReportFile>,
    lacks_parts: bool,
) -> Result<(), CommandFailure> {
    let mut files = Vec::new();
    if let Some(file) = report_file.and_then(|file| file.unless_lost(lacks_parts)) {
        files.push(file.write_result(result)?);
    }
    if let Some(directory) = &common.plots
        && !(lacks_parts && plots::would_be_lost(directory))
    {
        files.extend(plots::write_plots(directory, &result.plot_results()?)?);
    }
    file::publish_all(files)
}

/// Returns whether every promise was kept, where that is required. Says which policies broke how
/// many.
fn promises_are_kept(common: &SimulationArgs, result: &CompareResult) -> bool {
    let broken_policies: Vec<String> = result
        .results
        .iter()
        .filter(|r| r.promises.broken > 0)
        .map(|r| format!("{} by {}", format_count(r.promises.broken), r.policy.text))
        .collect();
    let is_kept = !common.require_promises || broken_policies.is_empty();
    if !is_kept {
        message::print_error(&format!("broken promises: {}", broken_policies.join(", ")));
    }
    is_kept
}

impl Printable for CompareResult {
    fn render_document(&self) -> Document {
        document::render_document(self)
    }

    fn render_overview(&self) -> Option<Document> {
        (!self.whole).then(|| overview::render_overview(self))
    }

    fn render_rows(&self) -> FlatRows {
        rows::render_rows(self)
    }

    fn plot_results(&self) -> Result<Results, CommandFailure> {
        Ok(Results {
            drystone: self.drystone.to_string(),
            workload: self.workload.clone(),
            experiment: self.experiment.clone(),
            baseline: self.baseline.clone(),
            verdict: self.verdict.clone(),
            summary: Some(self.summary.clone()),
            comparison: self.comparison.clone(),
            policies: self.results.clone(),
            loads: self.loads.clone(),
            data: serde_json::to_value(self).map_err(CommandFailure::usage_error)?,
        })
    }
}
