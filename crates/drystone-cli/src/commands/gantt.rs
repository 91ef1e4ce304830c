//! `drystone gantt`: a schedule, drawn.

use crate::args::GanttArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::{self, PolicyFiles, WorkloadInput};
use crate::meta::{Determined, PolicyMeta, VERSION};
use crate::output::charts::{Chart, Charts};
use crate::output::file;
use crate::output::format::{OutputTarget, by_ending};
use crate::output::message;
use crate::output::number::{format_count, format_plural};
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

pub(crate) fn run_gantt(args: &GanttArgs) -> CommandOutcome {
    message::be_quiet(args.quiet);
    by_ending::<Charts>(&args.out)?;
    let ([outages, circumstances, supply], [shapes, power, series]) =
        (args.real.named_files(), args.shape.named_files());
    let log = args.source.require_path("gantt")?;
    let policy_paths = [Some(log), args.priorities.as_deref(), args.platform.as_deref()];
    let input_paths =
        [policy_paths[0], policy_paths[1], policy_paths[2], outages, circumstances, supply, shapes, power, series];
    file::check_distinct(&input_paths, &[("--audit", args.log.audit.as_deref()), ("--out", Some(&args.out))])?;
    parse_window(args)?;
    let out = OutputTarget::<Charts>::open(&args.out)?;
    let input = WorkloadInput::read_part(Some(log), (&args.log, &args.cut, &args.real), input::UNSEEDED, false)?;
    let input = input.with_shapes(&args.shape, args.log.cleaning_options().overrun)?;
    let Some(gantt) = draw_schedule(args, &input, None)? else { return Ok(DONE) };
    match gantt.jobs() {
        0 => {
            refuse_outside(args, &input.workload)?;
            message::print_note("nothing ran in this window");
        }
        jobs if jobs > MANY => message::print_warning(&format!(
            "{} jobs are drawn one by one, which takes time, memory and a long file; --window draws a part",
            format_count(jobs as u64)
        )),
        _ => {}
    }
    if let Some(number) = args.job.filter(|_| !gantt.shows_mark()) {
        message::print_note(&format!("job {number} has no part in this window: nothing of it is drawn"));
    }
    out.write_contents(&Chart { gantt: &gantt, colour: args.colour, pixels: args.pixels })?.publish()?;
    message::print_note(&format!("{} drawn in {}", format_plural(gantt.jobs() as u64, "job"), args.out.display()));
    Ok(DONE)
}

/// Refuses a window in which nothing ran because it lies before or behind the log.
fn refuse_outside(args: &GanttArgs, workload: &Workload) -> Result<(), CommandFailure> {
    let ((from, until), Some((first, last))) = (parse_window(args)?, workload.submit_range()) else { return Ok(()) };
    // A log begins at second 0, also where the first job comes later.
    let before = until.is_some_and(|until| until <= first.min(Time(0)));
    let behind = from.is_some_and(|from| from > last);
    match args.window.as_deref().filter(|_| before || behind) {
        None => Ok(()),
        Some(text) => Err(CommandFailure::usage_error(format_args!(
            "--window {text}: nothing ran then; jobs are submitted from second {} to second {} of the log",
            first.0, last.0
        ))),
    }
}

fn parse_window(args: &GanttArgs) -> Result<(Option<Time>, Option<Time>), CommandFailure> {
    args.window.as_deref().map_or(Ok((None, None)), |text| input::parse_time_range("--window", text))
}

/// Simulates, and draws the jobs that ran; `None` on cancellation.
pub(crate) fn draw_schedule(
    args: &GanttArgs,
    input: &WorkloadInput,
    stop: Option<&AtomicBool>,
) -> Result<Option<Gantt>, CommandFailure> {
    let window = parse_window(args)?;
    let workload = &input.workload;
    let spec = input.localised_policy(&input::in_study(&args.policy, args.log.study)?)?;
    let id = args.job.map(|job| input::find_job(workload, job)).transpose()?;
    let mut experiment = input::untrimmed_experiment(args.log.study, input::UNSEEDED, &input.header);
    let file_paths = (args.priorities.as_deref(), args.platform.as_deref());
    let PolicyFiles { priorities, platform, outages, .. } =
        PolicyFiles::read_files(file_paths, (&args.real, &args.failure), &spec, input, &mut experiment)?;
    let mut segments = Segments::default();
    let mut story = Biography::new(id.unwrap_or(JobId(u32::MAX)), workload.machine().procs);
    let progress = WorkProgress::new("simulating", "jobs", Some(workload.len() as u64));
    let report_jobs = |jobs| progress.add_done(jobs);
    let simulation = Experiment::new(&spec, workload)
        .on_platform(platform)
        .with_outages(Some(&outages))
        .feeding_back(args.real.feedback)
        .with_priorities(priorities.as_ref())
        .for_metrics(&[], JobSelection::All)
        .with_progress(&report_jobs);
    let simulation = match stop {
        Some(stop) => simulation.with_stop(stop),
        None => simulation,
    };
    let ran = simulation.run(&mut (&mut segments, &mut story));
    if ran.map_err(|e| CommandFailure::experiment_error(spec.text(), e))?.is_none() {
        return Ok(None);
    }
    drop(progress);
    let mark = id.map(|id| PromiseMark::from_story(workload, id, &story));
    let inputs = Determined {
        schema: "drystone/schedule/1",
        drystone: VERSION,
        workload: &input.workload_meta(),
        policy: &PolicyMeta::from_spec(&spec),
        experiment: &experiment,
    };
    let mut inputs = serde_json::to_value(inputs).map_err(CommandFailure::usage_error)?;
    inputs["chart"] = serde_json::json!({
        "window": args.window,
        "colour": args.colour.name(),
        "job": args.job,
        "pixels": [args.pixels.0, args.pixels.1],
    });
    Ok(Some(Gantt::new(workload, spec.text(), &segments.list, window, mark).determined_by(inputs)))
}
