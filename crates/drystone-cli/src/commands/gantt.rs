//! `drystone gantt`: a schedule, drawn.

use crate::args::GanttArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::{self, PolicyFiles, WorkloadInput};
use crate::meta::{Determined, PolicyMeta, VERSION};
use crate::output::charts::{Chart, Charts};
use crate::output::file;
use crate::output::format::{OutputTarget, by_ending};
use crate::output::message;
use crate::output::number::{count, plural};
use crate::progress::WorkProgress;
use drystone::engine::Segments;
use drystone::engine::explain::Biography;
use drystone::experiment::Experiment;
use drystone::metrics::JobSelection;
use drystone::model::{JobId, Time, Workload};
use drystone_report::{Gantt, PromiseMark};
use std::sync::atomic::AtomicBool;

/// This many jobs make a chart that is slow to draw and to look at: some kilobytes of memory for
/// each.
const MANY: usize = 100_000;

pub(crate) fn gantt(args: &GanttArgs) -> CommandOutcome {
    message::be_quiet(args.quiet);
    by_ending::<Charts>(&args.out)?;
    let ([outages, circumstances, supply], [shapes, power, series]) = (args.real.files(), args.shape.files());
    let log = args.source.required("gantt")?;
    let given = [Some(log), args.priorities.as_deref(), args.platform.as_deref()];
    let read = [given[0], given[1], given[2], outages, circumstances, supply, shapes, power, series];
    file::distinct(&read, &[("--audit", args.log.audit.as_deref()), ("--out", Some(&args.out))])?;
    window(args)?;
    let out = OutputTarget::<Charts>::open(&args.out)?;
    let input = WorkloadInput::part(Some(log), (&args.log, &args.cut, &args.real), input::UNSEEDED, false)?;
    let input = input.with_shapes(&args.shape, args.log.options().overrun)?;
    let Some(gantt) = drawn(args, &input, None)? else { return Ok(DONE) };
    match gantt.jobs() {
        0 => {
            refuse_outside(args, &input.workload)?;
            message::note("nothing ran in this window");
        }
        jobs if jobs > MANY => message::warning(&format!(
            "{} jobs are drawn one by one, which takes time, memory and a long file; --window draws a part",
            count(jobs as u64)
        )),
        _ => {}
    }
    if let Some(number) = args.job.filter(|_| !gantt.shows_mark()) {
        message::note(&format!("job {number} has no part in this window: nothing of it is drawn"));
    }
    out.write(&Chart { gantt: &gantt, colour: args.colour, pixels: args.pixels })?.publish()?;
    message::note(&format!("{} drawn in {}", plural(gantt.jobs() as u64, "job"), args.out.display()));
    Ok(DONE)
}

/// Refuses a window in which nothing ran because it lies before or behind the log.
fn refuse_outside(args: &GanttArgs, workload: &Workload) -> Result<(), CommandFailure> {
    let ((from, until), Some((first, last))) = (window(args)?, workload.submits()) else { return Ok(()) };
    // A log begins at second 0, also where the first job comes later.
    let before = until.is_some_and(|until| until <= first.min(Time(0)));
    let behind = from.is_some_and(|from| from > last);
    match args.window.as_deref().filter(|_| before || behind) {
        None => Ok(()),
        Some(text) => Err(CommandFailure::usage(format_args!(
            "--window {text}: nothing ran then; jobs are submitted from second {} to second {} of the log",
            first.0, last.0
        ))),
    }
}

fn window(args: &GanttArgs) -> Result<(Option<Time>, Option<Time>), CommandFailure> {
    args.window.as_deref().map_or(Ok((None, None)), |text| input::limits("--window", text))
}

/// Simulates, and draws the jobs that ran; `None` on cancellation.
pub(crate) fn drawn(
    args: &GanttArgs,
    input: &WorkloadInput,
    stop: Option<&AtomicBool>,
) -> Result<Option<Gantt>, CommandFailure> {
    let window = window(args)?;
    let workload = &input.workload;
    let spec = input.policy(&input::in_study(&args.policy, args.log.study)?)?;
    let id = args.job.map(|job| input::job(workload, job)).transpose()?;
    let mut experiment = input::untrimmed(args.log.study, input::UNSEEDED, &input.header);
    let given = (args.priorities.as_deref(), args.platform.as_deref());
    let PolicyFiles { priorities, platform, outages, .. } =
        PolicyFiles::read(given, (&args.real, &args.failure), &spec, input, &mut experiment)?;
    let mut segments = Segments::default();
    let mut story = Biography::new(id.unwrap_or(JobId(u32::MAX)), workload.machine().procs);
    let progress = WorkProgress::new("simulating", "jobs", Some(workload.len() as u64));
    let told = |jobs| progress.add(jobs);
    let simulation = Experiment::new(&spec, workload)
        .on(platform)
        .losing(Some(&outages))
        .feeding_back(args.real.feedback)
        .with(priorities.as_ref())
        .finding(&[], JobSelection::All)
        .telling(&told);
    let simulation = match stop {
        Some(stop) => simulation.until(stop),
        None => simulation,
    };
    let ran = simulation.run(&mut (&mut segments, &mut story));
    if ran.map_err(|e| CommandFailure::experiment(spec.text(), e))?.is_none() {
        return Ok(None);
    }
    drop(progress);
    let mark = id.map(|id| PromiseMark::of(workload, id, &story));
    let determined = Determined {
        schema: "drystone/schedule/1",
        drystone: VERSION,
        workload: &input.meta(),
        policy: &PolicyMeta::of(&spec),
        experiment: &experiment,
    };
    let mut determined = serde_json::to_value(determined).map_err(CommandFailure::usage)?;
    determined["chart"] = serde_json::json!({
        "window": args.window,
        "colour": args.colour.id(),
        "job": args.job,
        "pixels": [args.pixels.0, args.pixels.1],
    });
    Ok(Some(Gantt::new(workload, spec.text(), &segments.list, window, mark).determined_by(determined)))
}
