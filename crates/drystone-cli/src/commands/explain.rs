//! `drystone explain`: why a job started when it did.

use super::job_story::SiteWords;
use super::log_words::LogWords;
use super::passes::{self, SharedVerdict};
use super::why_not::{WaitObserver, WhyNot};
use crate::args::{ExplainArgs, StoryFormat};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::input::{self, PolicyFiles, WorkloadInput};
use crate::meta::{Determined, PolicyMeta, VERSION};
use crate::output::{self, file, message, stdout};
use crate::progress::{EndCounter, WorkProgress};
use crate::site;
use drystone::engine::explain::{ExplainError, Explanation, JobWhatIf, StoryStage, StoryWords, explain_job as tell};
use drystone::experiment::build_scheduler;
use serde::Serialize;

/// A story for machines, with everything that determined it.
#[derive(Serialize)]
struct ExplainAnswer<'a> {
    #[serde(flatten)]
    determined: Determined<'a>,
    #[serde(flatten)]
    told: &'a Explanation<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<&'a WhyNot>,
    /// Passes of Slurm's schedulers that considered it, under `slurm`.
    #[serde(skip_serializing_if = "<[SharedVerdict]>::is_empty")]
    passes: &'a [SharedVerdict],
}

pub(crate) fn run_explain(args: &ExplainArgs) -> CommandOutcome {
    message::be_quiet(args.quiet);
    let ([outages, circumstances, supply], [shapes, power, series]) =
        (args.real.named_files(), args.shape.named_files());
    let log = args.source.require_path("explain")?;
    let files = [Some(log), args.priorities.as_deref(), args.platform.as_deref()];
    let input_paths = [files[0], files[1], files[2], outages, circumstances, supply, shapes, power, series];
    file::check_distinct(&input_paths, &[("--audit", args.log.audit.as_deref())])?;
    let story = tell_job(args)?;
    match args.format {
        StoryFormat::Text => output::print_story(&story.text)?,
        StoryFormat::Json => stdout::write_bytes(&story.json)?,
    }
    Ok(DONE)
}

/// The story of a job, for people and for programs.
pub(crate) struct JobStory {
    pub(crate) text: String,
    pub(crate) json: Vec<u8>,
}

/// Reads the log, simulates and tells.
pub(crate) fn tell_job(args: &ExplainArgs) -> Result<JobStory, CommandFailure> {
    let log = site::path_of_job(args.source.require_path("explain")?, &args.job);
    let input = WorkloadInput::read_part(Some(&log), (&args.log, &args.cut, &args.real), input::UNSEEDED, false)?;
    tell_story(args, &input.with_shapes(&args.shape, args.log.cleaning_options().overrun)?)
}

/// Simulates and tells.
pub(crate) fn tell_story(args: &ExplainArgs, input: &WorkloadInput) -> Result<JobStory, CommandFailure> {
    let workload = &input.workload;
    let policy = input::policy_or_own(args.policy.as_ref(), args.source.path())?;
    site::tell_remarks([&policy]);
    let spec = input.localised_policy(&input::in_study(&policy, args.log.study)?)?;
    input::check_policies([&spec], workload)?;
    let words = input.site.as_ref().map(|site| SiteWords::for_site(site, workload));
    let job_id = words.as_ref().and_then(|words| words.find_job(&args.job));
    let id = match (job_id, args.job.parse()) {
        (Some(id), _) => id,
        (None, Ok(number)) => input::find_job(workload, number)?,
        (None, Err(_)) if words.is_some() => {
            return Err(CommandFailure::usage_error(format_args!(
                "the site has no job {}; its jobs are called as Slurm calls them, such as 4711 or, of an array, 102_3",
                args.job
            )));
        }
        (None, Err(_)) => {
            return Err(CommandFailure::usage_error(format_args!(
                "--job {}: a log's jobs have numbers (field 1); names such as 102_3 are those of an imported site",
                args.job
            )));
        }
    };
    let mut experiment = input::untrimmed_experiment(args.log.study, input::UNSEEDED, &input.header);
    let PolicyFiles { priorities, platform, outages, .. } = PolicyFiles::read_files(
        (args.priorities.as_deref(), args.platform.as_deref()),
        (&args.real, &args.failure),
        &spec,
        input,
        &mut experiment,
    )?;
    let stage = StoryStage { platform, outages: Some(&outages), feedback: args.real.feedback };
    // What a job would have been with other processors is not defined where it has several sizes.
    let one_size = workload.shapes().is_none();
    if !one_size && args.why_not {
        return Err(CommandFailure::usage_error(
            "--why-not does not go with --shapes, --power and --idle: it counts the processors of jobs of one size; leave it \
             out, and the story tells the sizes",
        ));
    }
    let what_if = if args.no_what_if || !one_size {
        Vec::new()
    } else {
        JobWhatIf::suggest_changes(workload.job(id), workload.truth()[id.index()].run)
    };
    // That the policy takes these priorities was found when they were read.
    let new = || build_scheduler(&spec, priorities.as_ref(), workload).unwrap_or_else(|_| spec.build_scheduler());
    let progress = WorkProgress::new("simulating", "jobs", None);
    let mut end_counter = EndCounter::for_progress(&progress);
    let story = tell(workload, id, new, &stage, &what_if, &mut end_counter).map_err(|error| match error {
        ExplainError::Simulation(error) => CommandFailure::simulation_error(spec.text(), error),
        other => CommandFailure::usage_error(other),
    })?;
    let mut why_not = None;
    if args.why_not {
        let mut watch = (WaitObserver::new(workload, &outages, id), &mut end_counter);
        let to_failure = |error| CommandFailure::simulation_error(spec.text(), error);
        stage.simulate(workload, new(), &mut watch, |watch| watch.0.is_over()).map_err(to_failure)?;
        why_not = watch.0.explain_wait(story.what_if());
        if why_not.is_none() {
            message::print_note("the job did not wait, or never started: there is no obstacle to report");
        }
    }
    let mut pass_notes = Vec::new();
    let mut watch = (WaitObserver::new(workload, &outages, id), &mut end_counter);
    let work = || stage.simulate(workload, new(), &mut watch, |watch| watch.0.is_over());
    if let Some((outcome, notes)) = passes::hear_passes(&spec, id, work) {
        outcome.map_err(|error| CommandFailure::simulation_error(spec.text(), error))?;
        pass_notes = notes;
    }
    drop(progress);
    let log_words = if words.is_none() { LogWords::for_workload(workload) } else { None };
    let dates = words
        .as_ref()
        .map(|words| words as &dyn StoryWords)
        .or(log_words.as_ref().map(|words| words as &dyn StoryWords));
    let mut more = why_not.as_ref().map(|answer| format!("\n{}", answer.render_text(dates))).unwrap_or_default();
    more += &passes::format_passes(&pass_notes, workload.job(id).submit, dates);
    let inputs = Determined {
        schema: "drystone/explanation/1",
        drystone: VERSION,
        workload: &input.workload_meta(),
        policy: &PolicyMeta::from_spec(&spec),
        experiment: &experiment,
    };
    let json = output::render_json(&ExplainAnswer {
        determined: inputs,
        told: &story,
        why_not: why_not.as_ref(),
        passes: &pass_notes,
    })?;
    let story_text = dates.map_or_else(|| story.to_string(), |words| story.for_people(words));
    let headline = words.as_ref().and_then(|words| words.format_headline(id)).unwrap_or_default();
    Ok(JobStory { text: headline + &story_text + &more, json })
}
