//! `drystone compare`: several policies on one workload.

mod brief;
mod document;
mod loads;
mod policies;
mod result;
mod rows;
mod simulate;
mod verdict;

use self::brief::brief;
use self::loads::Loads;
use self::result::{CompareResult, PolicyResult};
use self::simulate::{Bench, Done, Watched};
use crate::args::{CompareArgs, SimulationArgs};
use crate::exit::{DONE, FINDING, Failure, Outcome};
use crate::input::{self, Files, Input, Parts};
use crate::interrupt;
use crate::meta::{ExperimentMeta, PolicyMeta, VERSION};
use crate::output::document::Document;
use crate::output::flat::Rows;
use crate::output::number::{count, speed};
use crate::output::report::{self, Timing};
use crate::output::{self, Printable, ReportFile, file, message, plots};
use drystone::log::transform::Factor;
use drystone::metrics::{Comparison, Metric, Options, Report, Selection, compare as compare_reports};
use drystone::model::Workload;
use drystone::policy::PolicySpec;

pub(crate) fn compare(args: &CompareArgs) -> Outcome {
    let common = &args.common;
    message::be_quiet(common.quiet);
    check(args)?;
    // What cannot be written is said before the work is done.
    let report_file = common.report.as_deref().map(ReportFile::open).transpose()?;
    let _folder = common.plots.as_deref().map(plots::prepare).transpose()?;
    let specs = policies::asked(args)?;
    let input = Input::simulated(common, false)?;
    input::fits(&specs, &input.workload)?;
    let mut experiment = input::experiment(common, &input.header);
    let parts = Parts::of(&input.workload, common.each_month)?;
    let files = read_files(common, &specs, &input.workload, &mut experiment)?;
    let page = report_file.as_ref().is_some_and(ReportFile::is_page);
    let stop = interrupt::stop_in_order();
    let bench = Bench {
        args,
        priorities: files.priorities.as_ref(),
        platform: files.platform,
        stop,
        detailed: common.details || args.brief || common.plots.is_some() || page,
    };
    let Some(mut done) = bench.simulate(&input.workload, parts.as_slice(), specs)? else {
        message::note("interrupted before any policy was done");
        return Ok(interrupt::code());
    };
    let baseline = policies::baseline(args, &done.specs)?;
    let (specs, left_out) = (done.specs.clone(), std::mem::take(&mut done.left_out));
    let timings: Vec<Timing> = done.watched.iter().map(|w| Timing::of(&w.measured)).collect();
    let results = results(&bench, done, &baseline, &timings);
    results.first().into_iter().for_each(|first| report::warn_if_none_counts(&first.report));
    let comparison = compared(args, &results, &baseline)?;
    let reports: Vec<&Report> = results.iter().map(|r| &r.report).collect();
    let Loads { points: loads, left_out: loads_left_out } =
        loads::load_points(&bench, &input.workload, &specs, &reports)?;
    // What is left to do is soon done, and whoever does not want it need not wait.
    let interrupted = interrupt::stop_at_once();
    let lacks_parts = interrupted && !(left_out.is_empty() && loads_left_out.is_empty());
    let (verdict, brief_verdict) =
        sentences(&comparison, &results, interrupted.then_some((left_out.as_slice(), loads_left_out.as_slice())));
    let mut result = CompareResult {
        schema: "drystone/compare/1",
        drystone: VERSION,
        workload: input.meta(),
        experiment,
        baseline,
        verdict,
        brief_verdict,
        comparison,
        results,
        loads,
    };
    write(common, &result, report_file, lacks_parts)?;
    print(args, &mut result, &timings)?;
    let kept = promises_are_kept(common, &result);
    Ok(match interrupted {
        true => interrupt::code(),
        false if !kept => FINDING,
        false => DONE,
    })
}

/// Refuses options that contradict each other, before anything is read or made.
fn check(args: &CompareArgs) -> Result<(), Failure> {
    let common = &args.common;
    if args.brief && !common.format.for_people() {
        return Err(Failure::usage("--brief is a table; --format table is all it goes with"));
    }
    if let Selection::Submitted { .. } = input::selection(common)
        && !args.loads.is_empty()
    {
        let problem =
            "--trim submitted(FROM,UNTIL) does not go with --loads: in the same seconds other jobs arrive at each load";
        return Err(Failure::usage(problem));
    }
    if f64::from(args.resamples) * (1.0 - args.confidence) / 2.0 < 1.0 {
        let problem = format!(
            "--confidence {}: no end of such an interval is among {} draws; --resamples takes more",
            args.confidence,
            count(u64::from(args.resamples))
        );
        return Err(Failure::usage(problem));
    }
    let written = [("--audit", common.log.audit.as_deref()), ("--report", common.report.as_deref())];
    file::distinct(&input::read_by(common), &written)
}

/// Reads priorities and platform where they were given, and records them among the settings.
fn read_files(
    common: &SimulationArgs,
    specs: &[PolicySpec],
    workload: &Workload,
    experiment: &mut ExperimentMeta,
) -> Result<Files, Failure> {
    let mut files = Files::default();
    if let Some(file) = &common.priorities {
        let (read, meta) = input::priorities(file, workload)?;
        policies::say_who_takes(specs, &read, workload)?;
        (files.priorities, experiment.priorities) = (Some(read), Some(meta));
    }
    if let Some(file) = &common.platform {
        let (platform, meta) = input::platform(file)?;
        (files.platform, experiment.platform) = (platform, Some(meta));
    }
    Ok(files)
}

/// The result of every policy that was simulated to its end.
fn results(bench: &Bench<'_>, mut done: Done, baseline: &str, timings: &[Timing]) -> Vec<PolicyResult> {
    let mut details = bench.details(&mut done, baseline).into_iter();
    let timed = bench.args.common.timing;
    let one = |((spec, Watched { measured, .. }), timing): ((&PolicySpec, Watched), &Timing)| PolicyResult {
        policy: PolicyMeta::of(spec),
        promises: measured.promises,
        report: measured.report.without_jobs(),
        details: details.next(),
        timing: timed.then_some(*timing),
    };
    done.specs.iter().zip(done.watched).zip(timings).map(one).collect()
}

fn compared(args: &CompareArgs, results: &[PolicyResult], baseline: &str) -> Result<Comparison, Failure> {
    let options = Options { resamples: args.resamples, confidence: args.confidence, seed: args.common.seed };
    let reports: Vec<(&str, &Report)> = results.iter().map(|r| (r.policy.text.as_str(), &r.report)).collect();
    Ok(compare_reports(&reports, baseline, &Metric::compared(), options)?)
}

/// The verdict, whole and brief. Where the work was interrupted, both say which policies and loads are missing.
fn sentences(
    comparison: &Comparison,
    results: &[PolicyResult],
    left_out: Option<(&[String], &[Factor])>,
) -> (Vec<String>, Vec<String>) {
    let mut whole = verdict::verdict(comparison, results, verdict::WHOLE);
    let mut brief = verdict::verdict(comparison, results, verdict::BRIEF);
    if let Some((policies, loads)) = left_out {
        let told = verdict::left_out(policies, loads);
        message::note(&told);
        brief.push(told.clone());
        whole.push(told);
    }
    (whole, brief)
}

/// Writes the files that were asked for. What lacks parts replaces none that may be whole.
fn write(
    common: &SimulationArgs,
    result: &CompareResult,
    report_file: Option<ReportFile>,
    lacks_parts: bool,
) -> Result<(), Failure> {
    let mut files = Vec::new();
    if let Some(file) = report_file.and_then(|file| file.unless_lost(lacks_parts)) {
        files.push(file.write(result)?);
    }
    if let Some(directory) = &common.plots
        && !(lacks_parts && plots::would_be_lost(directory))
    {
        files.extend(plots::write(directory, &output::results(result)?)?);
    }
    file::publish(files)
}

/// Prints the result. On a terminal it also has how fast each simulation was.
fn print(args: &CompareArgs, result: &mut CompareResult, timings: &[Timing]) -> Result<(), Failure> {
    let format = args.common.format;
    let on_terminal = format.for_people() && output::stdout::is_terminal();
    if on_terminal {
        for (result, timing) in result.results.iter_mut().zip(timings) {
            result.timing = Some(*timing);
        }
    }
    if args.brief {
        output::print_document(&brief(result, output::stdout::width()))?;
    } else {
        output::print(result, format)?;
    }
    if !on_terminal && !args.common.timing {
        let speed = |(r, t): (&PolicyResult, &Timing)| format!("{} {}", r.policy.text, speed(t.jobs_per_second));
        let speeds: Vec<String> = result.results.iter().zip(timings).map(speed).collect();
        message::note(&format!("simulated jobs/s: {}", speeds.join(", ")));
    }
    Ok(())
}

/// Whether every promise was kept, where that is required. Says who broke how many.
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

    fn rows(&self) -> Rows {
        rows::rows(self)
    }

    fn beyond_rows(&self) -> Option<&'static str> {
        self.results.iter().any(|result| !result.report.categories.is_empty()).then_some("categories")
    }
}
