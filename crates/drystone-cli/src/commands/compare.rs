//! `drystone compare`: several policies on one workload.

use super::brief::brief;
use super::excess;
use super::loads::load_points;
use super::run::{in_study, parts, warn_if_none_counts};
use super::verdict;
use crate::args::CompareArgs;
use crate::exit::{DONE, FINDING, Failure, Outcome};
use crate::input::{self, Input};
use crate::interrupt;
use crate::meta::{ExperimentMeta, PolicyMeta, VERSION, WorkloadMeta};
use crate::output::document::{Document, Table, Tone, Value};
use crate::output::flat::{Row, Rows};
use crate::output::number::{
    NONE, bound, change, count, duration, exact_percent, fixed_or, hours, minutes, percent, speed,
};
use crate::output::report::{self, Timing};
use crate::output::{self, Form, Printable, ReportFile, file, message, plots};
use crate::parallel;
use crate::progress::Progress;
use crate::simulate::{Given, Measured, config, details, simulate};
use drystone::metrics::{
    Categorised, Change, Comparison, LEAST_WEEKS, Measure, Metric, Options, PromisesKept, Report, Selection, Verdict,
    compare as compare_reports,
};
use drystone::model::{Span, Workload};
use drystone::policy::{ALIASES, KINDS, PolicySpec, Priorities};
use drystone_report::{Details, LoadPoint, Watcher};
use serde::Serialize;
use std::sync::{Mutex, PoisonError};

/// The result of a comparison.
#[derive(Serialize)]
pub(crate) struct CompareResult {
    schema: &'static str,
    drystone: &'static str,
    pub(super) workload: WorkloadMeta,
    experiment: ExperimentMeta,
    pub(super) baseline: String,
    pub(super) verdict: Vec<String>,
    /// The same in fewer words, for `--brief`.
    #[serde(skip)]
    pub(super) brief_verdict: Vec<String>,
    comparison: Comparison,
    pub(super) results: Vec<PolicyResult>,
    /// How every policy fares at other loads, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    loads: Vec<LoadPoint>,
}

/// How two columns beside each other can be of different jobs.
const RESERVATION_ERROR: &str = "Promised: who was told a start beforehand. Reservation error: |start - first reservation| over all who \
    waited and had one, also at the very pass that started them.";

/// The result of one policy.
#[derive(Serialize)]
pub(crate) struct PolicyResult {
    pub(crate) policy: PolicyMeta,
    pub(crate) promises: PromisesKept,
    pub(crate) report: Report,
    /// What plots need, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<Details>,
    /// Where it was asked for. Differs from run to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    timing: Option<Timing>,
}

pub(crate) fn compare(args: &CompareArgs) -> Outcome {
    let common = &args.common;
    message::be_quiet(common.quiet);
    let form: Form = common.format.into();
    if args.brief && form != Form::Table {
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
    file::distinct(&input::read_by(common), &written)?;
    let report_file = common.report.as_deref().map(ReportFile::open).transpose()?;
    let _folder = common.plots.as_deref().map(plots::prepare).transpose()?;
    let specs = specs(args)?;
    let input = Input::simulated(common, false)?;
    input::fits(&specs, &input.workload)?;
    let mut experiment = input::experiment(common, &input.header);
    let parts = parts(&input.workload, common.each_month)?;
    let mut priorities = None;
    if let Some(file) = &common.priorities {
        let (read, meta) = input::priorities(file, &input.workload)?;
        say_who_takes(&specs, &read, &input.workload)?;
        (priorities, experiment.priorities) = (Some(read), Some(meta));
    }
    let stop = Some(interrupt::stop_in_order());
    let mut given = Given { priorities: priorities.as_ref(), stop, ..Given::default() };
    if let Some(file) = &common.platform {
        let (platform, meta) = input::platform(file)?;
        (given.platform, experiment.platform) = (platform, Some(meta));
    }
    let detailed =
        common.details || args.brief || common.plots.is_some() || report_file.as_ref().is_some_and(ReportFile::is_page);
    let (workload, parts) = (&input.workload, parts.as_slice());
    let Some(excessive) = excessive(args, workload, parts, &specs, given)? else {
        message::note("interrupted before any policy was done");
        return Ok(interrupt::code());
    };
    let watched = simulate_all(args, workload, parts, &specs, given, &excessive, detailed)?;
    let (specs, mut watched, left_out) = those_done(specs, watched);
    if specs.is_empty() {
        message::note("interrupted before any policy was done");
        return Ok(interrupt::code());
    }
    let baseline = baseline(args, &specs)?;
    let timings: Vec<Timing> = watched.iter().map(|w| Timing::of(&w.measured)).collect();
    let details = if detailed { all_details(args, &specs, &baseline, &mut watched) } else { Vec::new() };
    let mut details = details.into_iter();
    let results: Vec<PolicyResult> = specs
        .iter()
        .zip(watched)
        .zip(&timings)
        .map(|((spec, Watched { measured, .. }), timing)| PolicyResult {
            policy: PolicyMeta::of(spec),
            promises: measured.promises,
            report: Report { jobs: None, ..measured.report },
            details: details.next(),
            timing: common.timing.then_some(*timing),
        })
        .collect();
    results.first().into_iter().for_each(|first| warn_if_none_counts(&first.report));
    let options = Options { resamples: args.resamples, confidence: args.confidence, seed: common.seed };
    let reports: Vec<(&str, &Report)> = results.iter().map(|r| (r.policy.text.as_str(), &r.report)).collect();
    let comparison = compare_reports(&reports, &baseline, &Metric::all(), options)?;
    let reports: Vec<&Report> = reports.iter().map(|r| r.1).collect();
    let loads = load_points(args, &input.workload, &specs, given, &reports)?;
    // What is left to do is soon done, and whoever does not want it need not wait.
    let interrupted = interrupt::stop_at_once();
    let lacks_parts = interrupted && !(left_out.is_empty() && loads.left_out.is_empty());
    let mut verdict = verdict::verdict(&comparison, &results, verdict::WHOLE);
    let mut brief_verdict = verdict::verdict(&comparison, &results, verdict::BRIEF);
    if interrupted {
        let told = verdict::left_out(&left_out, &loads.left_out);
        message::note(&told);
        brief_verdict.push(told.clone());
        verdict.push(told);
    }
    let mut result = CompareResult {
        schema: "drystone/compare/1",
        drystone: VERSION,
        workload: WorkloadMeta::of(&input),
        experiment,
        verdict,
        brief_verdict,
        baseline,
        comparison,
        results,
        loads: loads.points,
    };
    let mut files = Vec::new();
    if let Some(file) = report_file.and_then(|file| file.unless_lost(lacks_parts)) {
        files.push(file.write(&result)?);
    }
    if let Some(directory) = &common.plots
        && !(lacks_parts && plots::would_be_lost(directory))
    {
        files.extend(plots::write(directory, &output::results(&result)?)?);
    }
    file::publish(files)?;
    let on_terminal = form == Form::Table && output::stdout::is_terminal();
    if on_terminal {
        for (result, timing) in result.results.iter_mut().zip(&timings) {
            result.timing = Some(*timing);
        }
    }
    match form {
        Form::Table if args.brief => output::print_document(&brief(&result, output::stdout::width()))?,
        _ => output::print(&result, form)?,
    }
    if !on_terminal && !common.timing {
        let speeds: Vec<String> =
            specs.iter().zip(&timings).map(|(s, t)| format!("{s} {}", speed(t.jobs_per_second))).collect();
        message::note(&format!("simulated jobs/s: {}", speeds.join(", ")));
    }
    let broken: Vec<String> = result
        .results
        .iter()
        .filter(|r| r.promises.broken > 0)
        .map(|r| format!("{} by {}", count(r.promises.broken), r.policy.text))
        .collect();
    if common.require_promises && !broken.is_empty() {
        message::error(&format!("broken promises: {}", broken.join(", ")));
    }
    Ok(match interrupted {
        true => interrupt::code(),
        false if common.require_promises && !broken.is_empty() => FINDING,
        false => DONE,
    })
}

/// The policies that were simulated to the end with what came out, and the names of the others.
fn those_done(specs: Vec<PolicySpec>, watched: Vec<Option<Watched>>) -> (Vec<PolicySpec>, Vec<Watched>, Vec<String>) {
    let (mut done, mut all, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for (spec, watched) in specs.into_iter().zip(watched) {
        match watched {
            Some(watched) => {
                done.push(spec);
                all.push(watched);
            }
            None => left_out.push(spec.text().to_string()),
        }
    }
    (done, all, left_out)
}

/// The policies to compare: those asked for, else all families and short names, each meaning once.
fn specs(args: &CompareArgs) -> Result<Vec<PolicySpec>, Failure> {
    let mut specs: Vec<PolicySpec> = Vec::new();
    let asked = !args.policy.is_empty();
    let given: Vec<PolicySpec> = if asked {
        args.policy.iter().cloned().chain(args.baseline.clone()).collect()
    } else {
        let names = KINDS.iter().map(|k| k.name).chain(ALIASES.iter().map(|a| a.name));
        let all: Result<Vec<PolicySpec>, _> = names.map(str::parse).collect();
        all?.into_iter().chain(args.baseline.clone()).collect()
    };
    for spec in given {
        let spec = in_study(&spec, args.common.log.study)?;
        let same =
            |other: &PolicySpec| other.kind().name == spec.kind().name && other.parameters() == spec.parameters();
        // Asked for by two names it may stand there twice, but not by the same.
        let known = specs.iter().any(|other| other.text() == spec.text() || (!asked && same(other)));
        if !known {
            specs.push(spec);
        }
    }
    Ok(specs)
}

/// The text of the policy that the others are compared with.
fn baseline(args: &CompareArgs, specs: &[PolicySpec]) -> Result<String, Failure> {
    let study = args.common.log.study;
    let wanted = match &args.baseline {
        Some(spec) => in_study(spec, study)?,
        None => in_study(&"easy".parse()?, study)?,
    };
    let by_text = specs.iter().find(|s| s.text() == wanted.text());
    let by_meaning =
        || specs.iter().find(|s| s.kind().name == wanted.kind().name && s.parameters() == wanted.parameters());
    let found = by_text.or_else(by_meaning).or(specs.first());
    Ok(found.map(|s| s.text().to_string()).unwrap_or_default())
}

/// Says which policies have no use for priorities; some must have one.
fn say_who_takes(specs: &[PolicySpec], priorities: &Priorities, workload: &Workload) -> Result<(), Failure> {
    let without: Vec<&str> =
        specs.iter().filter(|s| input::takes(s, priorities, workload).is_err()).map(PolicySpec::text).collect();
    if without.len() == specs.len() {
        return Err(Failure::usage("none of these policies has any use for --priorities; `slack` has"));
    }
    if !without.is_empty() {
        message::note(&format!("--priorities means nothing to {}", without.join(", ")));
    }
    Ok(())
}

/// Simulates every policy, several at a time. Which thread does what does not show in the results. `None` for those that are not done
/// when it is told to stop.
pub(super) fn simulate_all(
    args: &CompareArgs,
    whole: &Workload,
    parts: &[Workload],
    specs: &[PolicySpec],
    given: Given<'_>,
    excessive: &[Span],
    detailed: bool,
) -> Result<Vec<Option<Watched>>, Failure> {
    let progress = Progress::new("simulating", "jobs", Some((specs.len() * whole.len()) as u64));
    let at_work = AtWork { names: Mutex::default(), progress: &progress };
    let one = |_: usize, spec: &PolicySpec| {
        at_work.change(|names| names.push(spec.text().to_string()));
        let priorities = given.priorities.filter(|p| input::takes(spec, p, whole).is_ok());
        let theirs = Given { priorities, ..given };
        let config = config(&args.common, excessive, false, detailed);
        let mut watcher = detailed.then(|| Watcher::new(whole.machine().procs));
        let measured = match &mut watcher {
            Some(watcher) => simulate(whole, parts, spec, theirs, config, &progress, watcher),
            None => simulate(whole, parts, spec, theirs, config, &progress, &mut ()),
        };
        at_work.change(|names| names.retain(|name| name != spec.text()));
        // Months that are simulated apart overlap in time.
        let watcher = watcher.filter(|_| parts.len() == 1);
        let measured = measured.map_err(|e| Failure::simulation(spec.text(), &e))?;
        Ok(measured.map(|measured| Watched { measured, watcher }))
    };
    parallel::map(specs.iter().collect(), threads(args), one).into_iter().collect()
}

/// What waits are excessive beyond. Where that is a question of the baseline's waits, it is simulated for it; `None` where that was
/// interrupted.
fn excessive(
    args: &CompareArgs,
    whole: &Workload,
    parts: &[Workload],
    specs: &[PolicySpec],
    given: Given<'_>,
) -> Result<Option<Vec<Span>>, Failure> {
    let thresholds = &args.common.excess;
    if !excess::need_baseline(thresholds) {
        return Ok(Some(excess::beside(thresholds, None)));
    }
    let baseline = baseline(args, specs)?;
    let alone: Vec<PolicySpec> = specs.iter().filter(|s| s.text() == baseline).cloned().collect();
    let simulated = simulate_all(args, whole, parts, &alone, given, &[], false)?.pop().flatten();
    Ok(simulated.map(|watched| excess::beside(thresholds, Some(&watched.measured.report))))
}

/// The policies that are simulated now, said behind the progress bar: one may take a hundred times as long as another.
struct AtWork<'a> {
    names: Mutex<Vec<String>>,
    progress: &'a Progress,
}

impl AtWork<'_> {
    fn change(&self, change: impl FnOnce(&mut Vec<String>)) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut names);
        let told = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        self.progress.say(told);
    }
}

/// As many threads as were asked for, else as there are processors.
fn threads(args: &CompareArgs) -> usize {
    args.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

/// What came out of a simulation, with what plots need.
pub(super) struct Watched {
    pub(super) measured: Measured,
    watcher: Option<Watcher>,
}

/// What plots need of every policy. Which thread does what does not show.
fn all_details(args: &CompareArgs, specs: &[PolicySpec], baseline: &str, all: &mut [Watched]) -> Vec<Details> {
    let at = specs.iter().position(|s| s.text() == baseline);
    let rows = at.and_then(|at| all[at].measured.report.jobs.take());
    let one = |i: usize, one: &mut Watched| {
        let report = &mut one.measured.report;
        if Some(i) == at {
            report.jobs.clone_from(&rows);
            return details(&args.common, report, None, one.watcher.take());
        }
        let details = details(&args.common, report, rows.as_deref(), one.watcher.take());
        report.jobs = None;
        details
    };
    parallel::map(all.iter_mut().collect(), threads(args), one)
}

impl CompareResult {
    pub(super) fn changes(&self, policy: &str) -> Option<&[Change]> {
        self.comparison.policies.iter().find(|c| c.name == policy).map(|c| c.changes.as_slice())
    }

    /// How many jobs count. Who is trimmed away may depend on the policy: then each is measured over jobs of its own.
    fn counted(&self) -> Option<String> {
        let first = &self.results.first()?.report;
        let same = self.results.iter().all(|r| r.report.trimmed == first.trimmed);
        let kept = || self.results.iter().map(|r| r.report.trimmed.kept);
        Some(match (same, kept().min(), kept().max()) {
            (false, Some(least), Some(most)) => {
                let seen = count(first.trimmed.seen);
                format!(
                    "{} to {} of {seen}, under each policy those that its schedule leaves",
                    count(least),
                    count(most)
                )
            }
            _ => report::counted(first),
        })
    }

    fn figures(&self) -> Table {
        let timed = self.results.iter().any(|r| r.timing.is_some());
        let mut columns = vec![
            "policy",
            "wait, min",
            "p95",
            "max, h",
            "response, min",
            "bounded slowdown",
            "median",
            "p95",
            "max",
            "period utilisation",
        ];
        if timed {
            columns.push("jobs/s");
        }
        // The others of a measure, after its mean.
        let mut table = Table::new(columns).beside(&[2, 3, 6, 7, 8]);
        let figure = |value: Option<f64>, get: &dyn Fn(&Report) -> Option<f64>, text: String| -> Value {
            let values = self.results.iter().filter_map(|r| get(&r.report));
            let best = values.fold(f64::INFINITY, f64::min);
            let tone = if value == Some(best) { Tone::Strong } else { Tone::Plain };
            Value::toned(text, tone)
        };
        for result in &self.results {
            let report = &result.report;
            let m = &report.measures;
            let slowdown = &m.bounded_slowdown;
            let mut row: Vec<Value> = vec![
                result.policy.text.clone().into(),
                figure(m.wait.mean, &|r| r.measures.wait.mean, minutes(m.wait.mean)),
                figure(m.wait.p95, &|r| r.measures.wait.p95, minutes(m.wait.p95)),
                figure(m.wait.max, &|r| r.measures.wait.max, hours(m.wait.max)),
                figure(m.response.mean, &|r| r.measures.response.mean, minutes(m.response.mean)),
                figure(slowdown.mean, &|r| r.measures.bounded_slowdown.mean, fixed_or(slowdown.mean, 2)),
                fixed_or(slowdown.median, 2).into(),
                fixed_or(slowdown.p95, 1).into(),
                figure(slowdown.max, &|r| r.measures.bounded_slowdown.max, fixed_or(slowdown.max, 0)),
                percent(report.machine.period_utilisation, 1).into(),
            ];
            if let Some(timing) = result.timing {
                row.push(speed(timing.jobs_per_second).into());
            }
            table.row(row);
        }
        table
    }

    fn against_baseline(&self) -> Table {
        let mut table = Table::new(["policy", "mean wait", "mean response", "mean bounded slowdown", "longest wait"])
            .texts(&[0, 1, 2, 3]);
        for result in &self.results {
            let name = &result.policy.text;
            let Some(changes) = self.changes(name) else { continue };
            let cell =
                |metric: Metric| changes.iter().find(|c| c.metric == metric).map_or_else(|| NONE.into(), change_value);
            table.row(vec![
                name.clone().into(),
                cell(Metric::Mean(Measure::Wait)),
                cell(Metric::Mean(Measure::Response)),
                cell(Metric::Mean(Measure::BoundedSlowdown)),
                cell(Metric::Max(Measure::Wait)),
            ]);
        }
        table
    }

    fn promises(&self) -> Table {
        // Trimming leaves no promise out.
        let trimmed = self.results.iter().any(|r| r.report.trimmed.kept < r.report.trimmed.seen);
        let mut table = Table::new([
            "policy",
            if trimmed { "promised, of all jobs" } else { "promised" },
            "broken",
            "worst delay",
            "reservation error, min",
            "median",
            "prediction accuracy",
            "corrections per job",
            "suspensions",
        ])
        .beside(&[5]);
        for result in &self.results {
            let PromisesKept { promised, broken, worst } = result.promises;
            let p = result.report.predictability.as_ref();
            let broken_tone = if broken > 0 { Tone::Bad } else { Tone::Plain };
            table.row(vec![
                result.policy.text.clone().into(),
                count(promised).into(),
                Value::toned(if promised == 0 { NONE.to_string() } else { count(broken) }, broken_tone),
                worst.map_or_else(|| NONE.to_string(), |w| duration(w.delay().as_f64())).into(),
                minutes(p.and_then(|p| p.difference.mean)).into(),
                minutes(p.and_then(|p| p.difference.median)).into(),
                percent(p.and_then(|p| p.accuracy.mean), 1).into(),
                fixed_or(p.and_then(|p| p.corrections.mean), 2).into(),
                count(result.report.suspensions.total).into(),
            ]);
        }
        table
    }

    /// Every policy at every other load.
    fn other_loads(&self) -> Table {
        let mut table = Table::new([
            "factor",
            "offered load",
            "policy",
            "mean wait, min",
            "mean bounded slowdown",
            "period utilisation",
        ]);
        for point in &self.loads {
            table.row(vec![
                point.factor.to_string().into(),
                percent(point.load, 1).into(),
                point.policy.clone().into(),
                minutes(point.wait).into(),
                fixed_or(point.bounded_slowdown, 2).into(),
                percent(point.utilisation, 1).into(),
            ]);
        }
        table
    }

    /// One table per scheme and measure: categories down, policies across.
    fn categories(&self, document: &mut Document) {
        let Some(first) = self.results.first() else { return };
        for (at, categorised) in first.report.categories.iter().enumerate() {
            let all: Vec<&Categorised> = self.results.iter().filter_map(|r| r.report.categories.get(at)).collect();
            // Trimming may leave a category to one policy and not to another.
            let mut categories: Vec<(i64, &str)> =
                all.iter().flat_map(|c| &c.categories).map(|c| (c.key, c.name.as_str())).collect();
            categories.sort_unstable();
            categories.dedup();
            for (measure, unit, scale) in
                [(Measure::Wait, "mean wait, min", 60.0), (Measure::BoundedSlowdown, "mean bounded slowdown", 1.0)]
            {
                document.heading(format!("By {}: {unit}", categorised.scheme.name()));
                let names = self.results.iter().map(|r| r.policy.text.as_str());
                let mut table = Table::new(["category", "jobs"].into_iter().chain(names));
                for &(key, name) in &categories {
                    let jobs = all.iter().find_map(|c| c.get(key)).map_or(0, |c| c.measures.get(measure).count);
                    let mut row: Vec<Value> = vec![name.into(), count(jobs).into()];
                    row.extend(all.iter().map(|c| {
                        let mean = c.get(key).and_then(|c| c.measures.get(measure).mean);
                        Value::from(fixed_or(mean.map(|m| m / scale), if scale > 1.0 { 1 } else { 2 }))
                    }));
                    table.row(row);
                }
                document.table(table);
            }
        }
    }
}

/// A change with its interval and what they say.
fn change_value(c: &Change) -> Value {
    let Some(relative) = c.relative else { return Value::toned(NONE, Tone::Faint) };
    let text = change(relative);
    let Some((low, high)) = c.interval else { return text.into() };
    if c.verdict == Verdict::Same {
        return Value::toned("same", Tone::Faint);
    }
    let (word, tone) = match c.verdict {
        Verdict::Better => ("better", Tone::Good),
        Verdict::Worse => ("worse", Tone::Bad),
        _ => ("unclear", Tone::Faint),
    };
    Value::toned(format!("{text} ({} to {}) {word}", bound(low), bound(high)), tone)
}

impl Printable for CompareResult {
    fn document(&self) -> Document {
        let mut document = Document::default();
        document.heading(self.workload.line());
        let mut facts = report::determined_facts(&self.workload, &self.experiment);
        if let Some(counted) = self.counted() {
            facts.push(("jobs that count".to_string(), counted));
        }
        document.facts(facts);
        document.table(self.figures());
        report::say_if_inexact(&mut document, self.results.iter().flat_map(|r| report::summaries(&r.report)));
        if !self.comparison.policies.is_empty() {
            let Comparison { weeks, options, .. } = &self.comparison;
            let intervals = if *weeks < LEAST_WEEKS {
                format!("no intervals: fewer than {LEAST_WEEKS} weeks")
            } else {
                let (confidence, draws) = (exact_percent(options.confidence), count(u64::from(options.resamples)));
                format!("{confidence} intervals from {weeks} weeks, {draws} draws; \"unclear\": may be noise")
            };
            document.heading(format!("Change against {} ({intervals})", self.baseline));
            document.table(self.against_baseline());
        }
        for (heading, table) in excess::tables(&self.results) {
            document.heading(heading);
            document.table(table);
        }
        document.heading("Promises and predictions");
        document.table(self.promises());
        let predicted =
            |r: &PolicyResult| r.report.predictability.as_ref().is_some_and(|p| p.difference.mean.is_some());
        if self.results.iter().any(predicted) {
            document.text(RESERVATION_ERROR);
        }
        self.categories(&mut document);
        if !self.loads.is_empty() {
            document.heading("At other loads");
            document.table(self.other_loads());
        }
        if !self.verdict.is_empty() {
            document.heading("Verdict");
            document.text(self.verdict.join("\n"));
        }
        document
    }

    fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        for result in &self.results {
            let mut row = Row::default();
            row.text("baseline", &self.baseline);
            row.number("confidence", Some(self.comparison.options.confidence));
            row.number("resamples", Some(f64::from(self.comparison.options.resamples)));
            report::figures(&mut row, &result.report, result.promises);
            for change in self.changes(&result.policy.text).unwrap_or(&[]) {
                let Metric::Mean(measure) = change.metric else { continue };
                row.number(format!("{}_change", measure.id()), change.relative);
                row.number(format!("{}_change_low", measure.id()), change.interval.map(|i| i.0));
                row.number(format!("{}_change_high", measure.id()), change.interval.map(|i| i.1));
                row.text(format!("{}_verdict", measure.id()), verdict::word(change.verdict));
            }
            if let Some(timing) = result.timing {
                row.number("jobs_per_second", Some(timing.jobs_per_second));
            }
            // Only where other loads were asked for: nobody else need look at it.
            if !self.loads.is_empty() {
                row.number("load_factor", Some(1.0));
                row.number("offered_load", self.workload.load);
            }
            rows.push(report::determined(&self.workload, &result.policy, &self.experiment).followed_by(row));
        }
        // The rows above are those of factor 1.
        for point in self.loads.iter().filter(|point| point.factor != 1.0) {
            let Some(result) = self.results.iter().find(|r| r.policy.text == point.policy) else { continue };
            let mut row = Row::default();
            row.number("load_factor", Some(point.factor));
            row.number("offered_load", point.load);
            row.number("wait_mean", point.wait);
            row.number("bounded_slowdown_mean", point.bounded_slowdown);
            row.number("period_utilisation", point.utilisation);
            rows.push(report::determined(&self.workload, &result.policy, &self.experiment).followed_by(row));
        }
        rows
    }

    fn beyond_rows(&self) -> Option<&'static str> {
        self.results.iter().any(|result| !result.report.categories.is_empty()).then_some("categories")
    }
}
