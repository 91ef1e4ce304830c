//! `drystone run`: one policy on one workload, in depth.

mod files;
mod result;

use self::files::{RunFiles, Seen};
use self::result::RunResult;
use crate::args::RunArgs;
use crate::exit::{DONE, FINDING, Failure, Outcome};
use crate::input::{self, Files, Input, Parts};
use crate::interrupt;
use crate::measuring::{config, details};
use crate::meta::{PolicyMeta, VERSION};
use crate::output::number::{count, speed};
use crate::output::report;
use crate::output::{self, excess, message};
use crate::progress::Progress;
use drystone::engine::{Notes, Observer, Segments};
use drystone::experiment::Experiment;
use drystone::metrics::{HeelAndToe, SearchEffort};
use drystone_report::{PoolResult, Timing, Watcher};

pub(crate) fn run(args: &RunArgs) -> Outcome {
    let common = &args.common;
    message::be_quiet(common.quiet);
    let excessive = excess::fixed(&common.excess)?;
    let files = RunFiles::open(args)?;
    let mut input = Input::simulated(common, files.need_records(), false)?;
    let mut experiment = input.experiment(common);
    let asked = input::in_study(&args.policy, common.log.study)?;
    input.site.iter_mut().for_each(|site| site.localise([&asked]));
    let spec = input.policy(&asked)?;
    input.fits([&spec])?;
    let files_given = (common.priorities.as_deref(), common.platform.as_deref());
    let Files { priorities, platform, outages } =
        Files::read(files_given, &common.real, &spec, &input, &mut experiment)?;
    let parts = Parts::of(&input, common.each_month)?;
    let detailed = common.details || files.need_details();
    let config = config(common, input.selection(common), &excessive, files.need_rows(), detailed);
    let mut watched = Watched {
        notes: Notes::default(),
        segments: files.need_segments().then(Segments::default),
        heel: args.stalls.then(|| HeelAndToe::new(&input.workload, config.selection)),
        watcher: detailed.then(|| Watcher::new(input.workload.machine().procs)),
    };
    let progress = Progress::new("simulating", "jobs", Some(input.workload.len() as u64));
    let measured = Experiment::new(&spec, &input.workload)
        .in_parts(parts.as_slice())
        .on(platform)
        .losing(Some(&outages))
        .divided(input.division())
        .feeding_back(common.real.feedback)
        .with_threads(args.search_threads)
        .with(priorities.as_ref())
        .measuring(config)
        .telling(&|jobs| progress.add(jobs))
        .run(&mut watched.observers());
    let Some(measured) = measured.map_err(|e| Failure::experiment(spec.text(), e))? else {
        return Ok(interrupt::code());
    };
    drop(progress);
    let timing = Timing::of(&measured);
    let mut report = measured.report;
    report::warn_if_none_counts(&report);
    if common.platform.is_some() && report.suspensions.total == 0 {
        message::note("no job that counts was suspended: --platform says what suspensions cost");
    }
    let Watched { notes, segments, heel, watcher } = watched;
    // Months that are simulated apart overlap in time.
    let watcher = watcher.filter(|_| !common.each_month);
    let details = detailed.then(|| details(common, &mut report, None, watcher));
    let rows = report.jobs.take();
    let mut result = RunResult {
        schema: "drystone/run/1",
        drystone: VERSION,
        workload: input.meta(),
        policy: PolicyMeta::of(&spec),
        experiment,
        promises: measured.promises,
        report,
        pools: measured.pools.into_iter().map(PoolResult::from).collect(),
        details,
        stalls: heel.map(HeelAndToe::finish),
        search: SearchEffort::of(&notes),
        timing: common.timing.then_some(timing),
    };
    let on_stdout = files.on_stdout;
    files.write(&result, &Seen { input: &input, rows: rows.as_deref(), notes: &notes, segments: segments.as_ref() })?;
    print(args, &mut result, timing, on_stdout)?;
    let broken = result.promises.broken;
    if common.require_promises && broken > 0 {
        message::error(&format!("broken promises: {}", count(broken)));
        return Ok(FINDING);
    }
    Ok(DONE)
}

/// What a run watches besides its metrics.
struct Watched<'a> {
    notes: Notes,
    segments: Option<Segments>,
    heel: Option<HeelAndToe<'a>>,
    watcher: Option<Watcher>,
}

impl Watched<'_> {
    fn observers(&mut self) -> impl Observer {
        ((&mut self.heel, &mut self.segments), (&mut self.notes, &mut self.watcher))
    }
}

/// Prints the result, unless another file has the standard output. On a terminal it also has how fast the simulation was.
fn print(
    args: &RunArgs,
    result: &mut RunResult,
    timing: Timing,
    on_stdout: Option<&'static str>,
) -> Result<(), Failure> {
    let common = &args.common;
    let on_terminal = common.format.for_people() && output::stdout::is_terminal();
    if on_terminal {
        result.timing = Some(timing);
    }
    match on_stdout {
        Some(option) => message::note(&format!(
            "{option} has the standard output, so the results are not printed; --report FILE writes them"
        )),
        None => output::print(result, common.format)?,
    }
    if !(common.timing || on_terminal) {
        message::note(&format!("simulated {} jobs/s", speed(timing.jobs_per_second)));
    }
    Ok(())
}
