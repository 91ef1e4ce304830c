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
pub(crate) use self::policies::asked;
use self::readings::{Readings, SimulatedPolicies};
use self::recorded::RecordedWaits;
use self::replay::JobReplay;
use self::result::CompareResult;
use self::simulate::{FinishedPolicies, WatchedPolicy};
use self::summary::SheetParts;
use crate::args::{CompareArgs, SimulationArgs};
use crate::commands::headroom::bracket::Bracket;
use crate::commands::headroom::result::remark;
use crate::exit::{CommandFailure, CommandOutcome, DONE, FINDING};
use crate::input::{self, PolicyFiles, WorkloadInput, WorkloadParts};
use crate::interrupt;
use crate::meta::{ExperimentMeta, PolicyMeta, VERSION};
use crate::output::document::Document;
use crate::output::flat::FlatRows;
use crate::output::number::count;
use crate::output::report;
use crate::output::{self, Printable, ReportFile, file, message, plots};
use crate::wait_conditions::HeldWaits;
use drystone::log::transform::LoadFactor;
use drystone::metrics::{
    Comparison, IntervalOptions, JobSelection, Measure, Metric, Report, compare as compare_reports,
};
use drystone::model::Workload;
use drystone::policy::PolicySpec;
use drystone_headroom::DelayMeasure;
use drystone_report::Timing;
use drystone_report::{PolicyResult, PoolResult, Results};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) fn compare(args: &CompareArgs) -> CommandOutcome {
    let common = &args.common;
    message::be_quiet(common.quiet);
    check(args)?;
    // What cannot be written is said before the work is done.
    let report_file = common.report.as_deref().map(ReportFile::open).transpose()?;
    let _folder = common.plots.as_deref().map(plots::prepare).transpose()?;
    let specs = policies::asked(args)?;
    crate::site::tell_remarks(&specs);
    let mut input = WorkloadInput::simulated(common, true, !args.loads.is_empty())?;
    check_shapes(args, &input)?;
    let specs = policies::able(args, specs, &input.workload)?;
    input.site.iter_mut().for_each(|site| site.localise(&specs));
    let as_logged = input.site.is_none() && !common.log.moves() && common.real.warm_start.is_none();
    let recorded = input.records.as_deref().filter(|_| as_logged).and_then(RecordedWaits::of);
    input.fits(&specs)?;
    let mut experiment = input.experiment(common);
    let parts = WorkloadParts::of(&input, common.each_month)?;
    let files = read_files(common, &specs, &input, &mut experiment)?;
    let page = report_file.as_ref().is_some_and(ReportFile::is_page);
    let stop = interrupt::stop_in_order();
    if let Some(time) = args.within {
        interrupt::stop_after(time).map_err(|e| CommandFailure::usage(format_args!("--within: {e}")))?;
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
    let question = CompareQuestion { input: &input, parts: parts.as_slice(), specs, recorded, experiment };
    // What is left to do is soon done, and a second interrupt ends it at once.
    let Some(answer) = answer(&bench, question, interrupt::stop_at_once)? else {
        let why = if interrupt::time_is_up() { "time was up" } else { "interrupted" };
        message::note(&format!("{why} before the baseline was done"));
        return Ok(if interrupt::time_is_up() { DONE } else { interrupt::code() });
    };
    let CompareAnswer { mut result, interrupted, lacks_parts } = answer;
    result.example = common.source.path().is_none();
    write(common, &result, report_file, lacks_parts)?;
    output::print(&result, common.format)?;
    let kept = promises_are_kept(common, &result);
    Ok(match interrupted {
        true => interrupt::code(),
        false if !kept => FINDING,
        false => DONE,
    })
}

/// Input of a comparison.
struct CompareQuestion<'a> {
    input: &'a WorkloadInput,
    parts: &'a [Workload],
    specs: Vec<PolicySpec>,
    recorded: Option<RecordedWaits>,
    experiment: ExperimentMeta,
}

/// Result of a comparison.
struct CompareAnswer {
    result: CompareResult,
    interrupted: bool,
    /// True if it was stopped before all was simulated.
    lacks_parts: bool,
}

/// Simulates and judges; `None` if even the baseline was cancelled. `stopped` returns, once all is
/// simulated, whether a stop was requested.
fn answer(
    bench: &CompareInputs<'_>,
    question: CompareQuestion<'_>,
    stopped: impl Fn() -> bool,
) -> Result<Option<CompareAnswer>, CommandFailure> {
    let CompareQuestion { input, parts, specs, recorded, experiment } = question;
    let args = bench.args;
    let Some(mut done) = bench.simulate(&input.workload, parts, specs)? else { return Ok(None) };
    let baseline = policies::baseline(args, &done.specs)?;
    let (left_out, too_long) = (std::mem::take(&mut done.left_out), std::mem::take(&mut done.too_long));
    if !bench.asked() {
        done.merge_equals(&baseline);
    }
    let specs = done.specs.clone();
    let headroom = headroom::headroom(bench, &done, &baseline)?;
    let replay = replay(input, &done, &baseline);
    let held = HeldWaits::measure(input, (bench.outages, args.common.real.feedback), bench.stop)?;
    let path = args.common.source.path().map_or_else(|| "SITE".to_string(), |path| path.display().to_string());
    let timings: Vec<Timing> = done.watched.iter().map(|w| Timing::of(&w.measured)).collect();
    let ratios = classes::ratios(&done, &baseline, args.batch as usize);
    let results = results(bench, done, &baseline, &timings);
    results.first().into_iter().for_each(|first| report::warn_if_none_counts(&first.report));
    let mut comparison = compared(args, &results, &baseline)?;
    replay.iter().for_each(|replay| replay.restrain(&mut comparison));
    let reports: Vec<&Report> = results.iter().map(|r| &r.report).collect();
    let Loads { points: loads, left_out: loads_left_out } =
        loads::load_points(bench, &input.workload, &specs, &reports)?;
    let simulated =
        SimulatedPolicies { input, specs: &specs, comparison: &comparison, results: &results, replay: replay.as_ref() };
    let readings = readings::readings(bench, simulated)?;
    // What is left takes no time worth an orderly stop.
    let stopped = stopped();
    let interrupted = stopped && !interrupt::time_is_up();
    let lacks_parts = interrupted && !(left_out.is_empty() && loads_left_out.is_empty());
    let workload = input.meta();
    let told = VerdictParts {
        foreseen: estimates::foreseen(&workload),
        modelled: estimates::modelled(&workload),
        asked: bench.asked(),
        suspension_is_free: experiment.platform.is_none(),
        readings: readings.as_ref(),
        recorded,
        held: held.as_ref().and_then(|held| held.sentence(&path)),
        replay: replay.as_ref(),
        headroom: headroom.as_ref(),
        too_long: &too_long,
        left_out: stopped.then_some((left_out.as_slice(), loads_left_out.as_slice())),
    };
    let verdict = told.sentences(&comparison, &results);
    let nothing = told.nothing(&comparison, &results);
    let sheet = SheetParts {
        workload: &workload,
        experiment: &experiment,
        comparison: &comparison,
        results: &results,
        readings: readings.as_ref(),
        nothing: nothing.as_deref(),
        open: told.open(&comparison, &results),
        asked: bench.asked(),
        machine: input.site.as_ref().map(crate::site::SiteInput::assumed),
    };
    let summary = sheet.summary();
    told.say_what_is_missing();
    let result = CompareResult {
        schema: "drystone/compare/1",
        drystone: VERSION,
        workload,
        experiment,
        baseline,
        verdict,
        asked: bench.asked(),
        whole: args.common.details,
        example: false,
        summary,
        readings,
        recorded,
        held,
        path,
        replay,
        headroom,
        not_tried: [left_out, too_long].concat(),
        comparison,
        results,
        loads,
        ratios,
    };
    Ok(Some(CompareAnswer { result, interrupted, lacks_parts }))
}

/// A comparison with everything that is written of it.
pub(crate) struct JudgedComparison {
    result: CompareResult,
}

impl JudgedComparison {
    pub(crate) fn results(&self) -> Result<Results, CommandFailure> {
        self.result.results()
    }

    /// The text that the command prints.
    pub(crate) fn text(&self) -> String {
        output::reports::text(&self.result)
    }

    /// Writes the result, as its ending says.
    pub(crate) fn write_report(&self, path: &Path) -> Result<(), CommandFailure> {
        file::publish(vec![ReportFile::open(path)?.write(&self.result)?])
    }
}

/// Compares for a program that has workload and policies in memory. `None` where it was stopped
/// before all was simulated.
pub(crate) fn judged(
    args: &CompareArgs,
    input: &WorkloadInput,
    stop: &AtomicBool,
) -> Result<Option<JudgedComparison>, CommandFailure> {
    check(args)?;
    let common = &args.common;
    let specs = policies::asked(args)?;
    let as_logged = input.site.is_none() && !common.log.moves() && common.real.warm_start.is_none();
    let records = input.records.as_deref().filter(|_| as_logged);
    check_shapes(args, input)?;
    let specs = policies::able(args, specs, &input.workload)?;
    input.fits(&specs)?;
    let mut experiment = input.experiment(common);
    let files = read_files(common, &specs, input, &mut experiment)?;
    let parts = WorkloadParts::of(input, common.each_month)?;
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
    let recorded = records.and_then(RecordedWaits::of);
    let question = CompareQuestion { input, parts: parts.as_slice(), specs, recorded, experiment };
    let stopped = || stop.load(Ordering::Relaxed);
    let whole = answer(&bench, question, stopped)?.filter(|answer| !answer.interrupted);
    Ok(whole.map(|answer| JudgedComparison { result: answer.result }))
}

/// Refuses options that contradict each other, before anything is read or made.
fn check(args: &CompareArgs) -> Result<(), CommandFailure> {
    let common = &args.common;
    if let JobSelection::Submitted { .. } = input::selection(common)
        && !args.loads.is_empty()
    {
        let problem =
            "--trim submitted(FROM,UNTIL) does not go with --loads: in the same seconds other jobs arrive at each load";
        return Err(CommandFailure::usage(problem));
    }
    if common.protocol().1.around.is_some() && !args.loads.is_empty() {
        let problem = "--around does not go with --loads: in the same seconds other jobs arrive at each load; \
            run `compare` once for each --load-to";
        return Err(CommandFailure::usage(problem));
    }
    if common.real.warm_start.is_some() && !args.loads.is_empty() {
        let problem = "--warm-start does not go with --loads: the running and waiting jobs are recorded at the load \
            of the log";
        return Err(CommandFailure::usage(problem));
    }
    if args.headroom.is_some() && common.failure.checkpoints.is_some() {
        let problem = "--headroom does not go with --checkpoints: its floor and its search know jobs that run without a break, \
            and no work that is done again";
        return Err(CommandFailure::usage(problem));
    }
    let written = [("--audit", common.log.audit.as_deref()), ("--report", common.report.as_deref())];
    file::distinct(&input::read_by(common), &written)
}

/// Refuses what is defined for jobs of one size each.
fn check_shapes(args: &CompareArgs, input: &WorkloadInput) -> Result<(), CommandFailure> {
    match args.headroom.is_some() && input.workload.shapes().is_some() {
        true => Err(CommandFailure::usage(
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
        let (read, meta) = input::priorities(file, workload)?;
        policies::say_who_takes(specs, &read, workload)?;
        (files.priorities, experiment.priorities) = (Some(read), Some(meta));
    }
    if let Some(file) = &common.platform {
        let (platform, meta) = input::platform(file)?;
        (files.platform, experiment.platform) = (platform, Some(meta));
    }
    files.outages = input.outages(&common.real, experiment)?;
    files.recorded_outages = files.outages.clone();
    files.fail(&common.failure, workload, experiment)?;
    common.real.heard_by(specs, &files.outages, workload)?;
    Ok(files)
}

/// Returns the distance of the baseline from the site's records.
fn replay(input: &WorkloadInput, done: &FinishedPolicies, baseline: &str) -> Option<JobReplay> {
    let site = input.site.as_ref().filter(|site| !site.plain)?;
    let at = done.specs.iter().position(|spec| spec.text() == baseline)?;
    JobReplay::of(site, baseline, done.watched[at].measured.report.jobs.as_deref()?)
}

/// The result of every policy that was simulated to its end.
fn results(
    bench: &CompareInputs<'_>,
    mut done: FinishedPolicies,
    baseline: &str,
    timings: &[Timing],
) -> Vec<PolicyResult> {
    let mut details = bench.details(&mut done, baseline).into_iter();
    let mut equals = std::mem::take(&mut done.equals).into_iter();
    let timed = bench.args.common.timing;
    let one =
        |((spec, WatchedPolicy { measured, .. }), timing): ((&PolicySpec, WatchedPolicy), &Timing)| PolicyResult {
            policy: PolicyMeta::of(spec),
            equals: equals.next().unwrap_or_default(),
            promises: measured.promises,
            report: measured.report.without_jobs(),
            pools: measured.pools.into_iter().map(PoolResult::from).collect(),
            details: details.next(),
            timing: timed.then_some(*timing),
        };
    done.specs.iter().zip(done.watched).zip(timings).map(one).collect()
}

fn compared(args: &CompareArgs, results: &[PolicyResult], baseline: &str) -> Result<Comparison, CommandFailure> {
    let options = IntervalOptions { confidence: args.confidence };
    let reports: Vec<(&str, &Report)> = results.iter().map(|r| (r.policy.text.as_str(), &r.report)).collect();
    Ok(compare_reports(&reports, baseline, &Metric::compared(), options)?)
}

/// Parts of a verdict besides the figures.
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
    fn sentences(&self, comparison: &Comparison, results: &[PolicyResult]) -> Vec<String> {
        let mut all: Vec<String> = self.held.iter().map(|held| format!("{held}.")).collect();
        all.extend(self.nothing(comparison, results));
        all.extend(self.modelled.clone());
        all.extend(self.unlike(comparison, results));
        all.extend(self.replay.map(JobReplay::sentence));
        all.extend(verdict::verdict(comparison, results, self.asked, verdict::WHOLE));
        for policy in self.leading(comparison, results) {
            all.extend(verdict::who_pays(comparison, results, policy, verdict::WHOLE));
        }
        if let Some(chosen) = self.chosen(comparison, results) {
            all.push(format!("{} is available as {}.", chosen.policy.text, words::how(&chosen.policy)));
        }
        all.extend(self.readings.into_iter().flat_map(Readings::sentences));
        all.extend(verdict::suspension(results, self.suspension_is_free, self.asked));
        all.extend(bounded(results));
        all.extend(self.headroom.and_then(|bracket| remark(bracket, DelayMeasure::Wait, &comparison.baseline)));
        all.extend(verdict::not_tried(self.too_long));
        all.extend(self.left_out());
        all
    }

    fn nothing(&self, comparison: &Comparison, results: &[PolicyResult]) -> Option<String> {
        let baseline = results.iter().find(|r| r.policy.text == comparison.baseline)?;
        let nothing = recorded::nothing_to_decide(&comparison.baseline, &baseline.report);
        self.foreseen.clone().or(nothing).filter(|_| results.len() > 1)
    }

    /// Policies that lead by a mean, whether they are recommended or not.
    fn leading<'a>(&self, comparison: &'a Comparison, results: &[PolicyResult]) -> Vec<&'a str> {
        let choices = choices::RoleChoices::of(comparison, results, self.asked);
        let by = [Measure::BoundedSlowdown, Measure::Wait].map(|measure| choices.clearly_best(measure));
        let mut names: Vec<&str> = Vec::new();
        for name in by.into_iter().flatten().map(|(policy, _)| policy) {
            let known = comparison.policies.iter().map(|p| p.name.as_str()).find(|known| *known == name);
            names.extend(known.filter(|known| !names.contains(known)));
        }
        names
    }

    /// Returns the recommended policy.
    fn chosen<'a>(&self, comparison: &Comparison, results: &'a [PolicyResult]) -> Option<&'a PolicyResult> {
        if self.nothing(comparison, results).is_some() {
            return None;
        }
        let turns = |policy: &str| self.readings.is_some_and(|readings| readings.turns(policy));
        let choices = choices::RoleChoices::of(comparison, results, self.asked);
        let policy = choices.recommended(turns)?;
        results.iter().find(|r| r.policy.text == policy.name)
    }

    /// Describes the distance of the simulated baseline from the log.
    fn unlike(&self, comparison: &Comparison, results: &[PolicyResult]) -> Option<String> {
        let baseline = results.iter().find(|r| r.policy.text == comparison.baseline)?;
        self.recorded?.warning(&comparison.baseline, &baseline.report)
    }

    fn left_out(&self) -> Option<String> {
        self.left_out.map(|(policies, loads)| verdict::left_out(policies, loads, interrupt::time_is_up()))
    }

    fn say_what_is_missing(&self) {
        self.left_out().into_iter().for_each(|told| message::note(&told));
    }

    /// Returns the questions that the comparison leaves open.
    fn open(&self, comparison: &Comparison, results: &[PolicyResult]) -> Vec<String> {
        let mut open: Vec<String> = self.modelled.iter().cloned().chain(self.unlike(comparison, results)).collect();
        open.extend(self.replay.map(JobReplay::sentence));
        open.extend(self.readings.into_iter().flat_map(Readings::sentences));
        open.extend(bounded(results));
        open.extend(verdict::not_tried(self.too_long));
        open.extend(self.left_out());
        open
    }
}

/// Names the policies that looked at the first waiting jobs only.
fn bounded(results: &[PolicyResult]) -> Vec<String> {
    let waited = |r: &PolicyResult| r.report.queue.as_ref().map_or(0, |queue| queue.whole.max_waiting_jobs);
    results.iter().filter_map(|r| candidates::bounded(&r.policy, waited(r))).collect()
}

/// Writes the files that were asked for. What lacks parts replaces none that may be whole.
fn write(
    common: &SimulationArgs,
    result: &CompareResult,
    report_file: Option<ReportFile>,
    lacks_parts: bool,
) -> Result<(), CommandFailure> {
    let mut files = Vec::new();
    if let Some(file) = report_file.and_then(|file| file.unless_lost(lacks_parts)) {
        files.push(file.write(result)?);
    }
    if let Some(directory) = &common.plots
        && !(lacks_parts && plots::would_be_lost(directory))
    {
        files.extend(plots::write(directory, &result.results()?)?);
    }
    file::publish(files)
}

/// Returns whether every promise was kept, where that is required. Says which policies broke how
/// many.
fn promises_are_kept(common: &SimulationArgs, result: &CompareResult) -> bool {
    let broken: Vec<String> = result
        .results
        .iter()
        .filter(|r| r.promises.broken > 0)
        .map(|r| format!("{} by {}", count(r.promises.broken), r.policy.text))
        .collect();
    let kept = !common.require_promises || broken.is_empty();
    if !kept {
        message::error(&format!("broken promises: {}", broken.join(", ")));
    }
    kept
}

impl Printable for CompareResult {
    fn document(&self) -> Document {
        document::document(self)
    }

    fn overview(&self) -> Option<Document> {
        (!self.whole).then(|| overview::overview(self))
    }

    fn rows(&self) -> FlatRows {
        rows::rows(self)
    }

    fn results(&self) -> Result<Results, CommandFailure> {
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
            data: serde_json::to_value(self).map_err(CommandFailure::usage)?,
        })
    }
}
