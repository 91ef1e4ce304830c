//! `drystone sweep slurm` and `recipe`: dividing what is missing of a study into tasks, and handing
//! them over.

use crate::args::{DivideArgs, RecipeArgs, SlurmArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::interrupt;
use crate::output::document::Document;
use crate::output::number::{fixed_or, format_count, format_duration, format_plural};
use crate::output::{self, file, message, stdout};
use crate::waiting::WaitingNote;
use drystone_sweep::cluster::{
    Array, BatchRecipe, BatchSystem, Costs, SlurmBatch, TaskDivision, TaskFolder, TaskShape, TaskSubmission, Terms,
    divide_tasks, estimate_costs, refuse_timed,
};
use drystone_sweep::{Store, SweepPlan, SweepStudy};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Limit of the trials for a prediction, but for one of each policy.
const BUDGET: Duration = Duration::from_secs(5);

pub(super) fn run_slurm(args: &SlurmArgs) -> CommandOutcome {
    message::be_quiet(args.divide.quiet);
    SlurmBatch.check_args(&args.sbatch)?;
    let submission = WantedSubmission::read_options(&args.study, &args.divide, &args.sbatch)?;
    let Some(ready) = ReadyTasks::divide_missing(&submission, args.dry_run, true)? else { return Ok(DONE) };
    match SlurmBatch.most_tasks() {
        Ok(most) => refuse_large(&ready.division, most)?,
        // The script may be for another machine, and sbatch refuses it there.
        Err(error) if args.dry_run || args.print => {
            message::print_note(&format!("{error}; the size of arrays is not checked"))
        }
        Err(error) => return Err(error.into()),
    }
    if args.dry_run {
        output::print_document(&ready.render_document())?;
        return Ok(DONE);
    }
    let (folder, script) = ready.write_submission(&SlurmBatch, "slurm.sh")?;
    if args.print {
        stdout::write_bytes(script.as_bytes())?;
        message::print_note(&format!("the tasks are in {}", folder.display()));
        return Ok(DONE);
    }
    output::print_document(&ready.render_document())?;
    let job = match SlurmBatch.submit(&folder.join("slurm.sh")) {
        Ok(job) => job,
        Err(error) => {
            // What was not submitted leaves nothing; unless Slurm has it and only the answer came
            // too late.
            if !error.to_string().to_lowercase().contains("time") {
                let _ = std::fs::remove_dir_all(&folder);
            }
            return Err(error.into());
        }
    };
    TaskFolder::note_job(&folder, &job)?;
    let store = submission.store.display();
    message::print_note(&format!(
        "submitted as job {job}; `drystone sweep status {store} --follow` shows the progress, `drystone sweep gather \
         {store}` merges the results"
    ));
    Ok(DONE)
}

pub(super) fn run_recipe(args: &RecipeArgs) -> CommandOutcome {
    message::be_quiet(args.divide.quiet);
    let submission = WantedSubmission::read_options(&args.study, &args.divide, &[])?;
    let Some(ready) = ReadyTasks::divide_missing(&submission, false, false)? else { return Ok(DONE) };
    let (folder, script) = ready.write_submission(&args.system, args.system.file_name())?;
    if !args.submit {
        stdout::write_bytes(script.as_bytes())?;
        message::print_note(&format!("the tasks are in {}", folder.display()));
        return Ok(DONE);
    }
    output::print_document(&ready.render_document())?;
    // Some systems answer at once, others when all is done.
    let waiting_note = WaitingNote::new(&format!("{} runs the tasks", BatchRecipe::name(args.system)));
    let answer = args.system.submit(&folder.join(args.system.file_name()));
    drop(waiting_note);
    let answer = answer?;
    if !answer.is_empty() {
        message::print_note(&answer);
    }
    Ok(DONE)
}

fn refuse_large(division: &TaskDivision, most: u64) -> Result<(), CommandFailure> {
    let tasks = division.tasks.len() as u64;
    if tasks <= most {
        return Ok(());
    }
    Err(CommandFailure::usage_error(format_args!(
        "{} are more than an array may have here, {} (MaxArraySize): take --tasks {most}",
        format_plural(tasks, "task"),
        format_count(most)
    )))
}

/// A study, where its results go, and under which terms it is to be divided.
struct WantedSubmission {
    study: SweepStudy,
    store: PathBuf,
    terms: Terms,
    least: Duration,
}

impl WantedSubmission {
    /// Reads the options; missing ones are taken from the last submission.
    fn read_options(path: &Path, args: &DivideArgs, more: &[String]) -> Result<WantedSubmission, CommandFailure> {
        let (study, store) = if Store::is_at(path) {
            let (study, chunk) = Store::open_to_read(path)?.study()?;
            if chunk.is_some() || args.store.is_some() {
                let path = path.display();
                return Err(CommandFailure::usage_error(format_args!(
                    "{path}: give the store of a whole study, without --store"
                )));
            }
            (study, path.to_path_buf())
        } else {
            let study = SweepStudy::read_file(path)?;
            let store = args.store.clone().unwrap_or_else(|| study.store_path());
            (study, store)
        };
        let last = TaskFolder::for_store(&store)
            .submissions()?
            .pop()
            .map(|folder| TaskSubmission::read_folder(&folder))
            .transpose()?;
        let last = last.map(|submission| submission.terms);
        let Some(tasks) = args.tasks.or(last.as_ref().map(|last| last.tasks)) else {
            return Err(CommandFailure::usage_error(
                "how many tasks? Give --tasks N; --dry-run says how long they would take",
            ));
        };
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let seconds = |time: Duration| time.as_secs();
        let terms = Terms {
            tasks,
            cpus: args.cpus.or(last.as_ref().map(|last| last.cpus)).unwrap_or(1),
            limit: args.time.map(seconds).or(last.as_ref().and_then(|last| last.limit)),
            max_running: args.max_running.or(last.as_ref().and_then(|last| last.max_running)),
            scratch: args.scratch.clone().or(last.as_ref().and_then(|last| last.scratch.clone())),
            publish_every: args
                .publish_every
                .map(seconds)
                .or(last.as_ref().map(|last| last.publish_every))
                .unwrap_or(60),
            logs: args.logs.as_ref().map(absolute).or(last.as_ref().and_then(|last| last.logs.clone())),
            args: if more.is_empty() {
                last.as_ref().map_or(Vec::new(), |last| last.args.clone())
            } else {
                more.to_vec()
            },
            not_reproducible: args.not_reproducible || last.as_ref().is_some_and(|last| last.not_reproducible),
        };
        if terms.limit == Some(0) {
            return Err(CommandFailure::usage_error("a time limit of 0 leaves no time"));
        }
        Ok(WantedSubmission { study, store, terms, least: args.min_task })
    }
}

/// Tasks that are ready to be handed over. The store stays locked until then.
struct ReadyTasks<'a> {
    wanted: &'a WantedSubmission,
    plan: SweepPlan,
    tried: Costs,
    division: TaskDivision,
    recorded: usize,
    under_way: usize,
    tasks: TaskFolder,
    _store: Option<Store>,
}

impl ReadyTasks<'_> {
    /// Divides what is missing, `None` if that is nothing. Only to look, nothing is written.
    /// `slurm` may have tasks under way.
    fn divide_missing(
        submission: &WantedSubmission,
        look: bool,
        slurm: bool,
    ) -> Result<Option<ReadyTasks<'_>>, CommandFailure> {
        let terms = &submission.terms;
        if !terms.not_reproducible {
            refuse_timed(&submission.study)?;
        }
        let (plan, start) = plan_study(&submission.study, terms)?;
        let tasks = TaskFolder::for_store(&submission.store);
        let mut store =
            if look && !submission.store.exists() { None } else { Some(Store::open(&submission.store, &plan, None)?) };
        // The queue comes before the results: a task that ends between the two is in both.
        let (ids, jobs) = if slurm { under_way(&tasks)? } else { (BTreeSet::new(), Vec::new()) };
        let recorded_runs = match &mut store {
            Some(store) => {
                store.gather_results(&tasks.published_stores()?, &mut || {})?;
                store.recorded_places(&plan)?
            }
            None => BTreeSet::new(),
        };
        let again = !recorded_runs.is_empty() || !tasks.submissions()?.is_empty();
        let is_under_way = |place: &usize| ids.contains(&plan.simulations[*place].id);
        let missing: Vec<usize> = plan.simulation_places(None).filter(|place| !recorded_runs.contains(place)).collect();
        let todo: Vec<usize> = missing.iter().copied().filter(|place| !is_under_way(place)).collect();
        let under_way = missing.len() - todo.len();
        if todo.is_empty() {
            tell_that_nothing_is_left(&submission.store, under_way, &jobs);
            return Ok(None);
        }
        let trying = WaitingNote::new("trying simulations");
        let trial_costs = estimate_costs(&plan, &todo, BUDGET, interrupt::stop_in_order());
        drop(trying);
        let interruption = || CommandFailure::Message {
            code: interrupt::exit_code(),
            text: "interrupted: nothing was submitted".to_string(),
        };
        let trial_costs = trial_costs.ok_or_else(interruption)?;
        let limit = terms.limit.map(Duration::from_secs);
        let shape = TaskShape { tasks: terms.tasks, cpus: terms.cpus, limit, least: submission.least, start, again };
        let division = divide_tasks(&todo, &trial_costs, &shape)?;
        let recorded_count = recorded_runs.len();
        let ready = ReadyTasks {
            wanted: submission,
            plan,
            tried: trial_costs,
            division,
            recorded: recorded_count,
            under_way,
            tasks,
            _store: store,
        };
        ready.print_warnings();
        Ok(Some(ready))
    }

    /// Says what may surprise.
    fn print_warnings(&self) {
        let (longest, tasks) = (self.division.longest_task(), self.division.tasks.len());
        if tasks < self.wanted.terms.tasks as usize {
            let wanted_count = format_count(u64::from(self.wanted.terms.tasks));
            let enough = format_plural(tasks as u64, "task");
            message::print_note(&format!("{enough} instead of {wanted_count}: more would be too short for the rest"));
        }
        if let Some(limit) = self.wanted.terms.limit
            && longest > limit as f64
        {
            let fit = (tasks as f64 * longest / (limit as f64 * 0.8)).ceil();
            message::print_warning(&format!(
                "the longest task is predicted to take {}, more than its limit of {}: stopped tasks continue when \
                 this command is repeated; --tasks {fit} would fit",
                format_duration(longest),
                format_duration(limit as f64)
            ));
        }
    }

    fn render_document(&self) -> Document {
        let ReadyTasks { division, tried, wanted: WantedSubmission { terms, store, .. }, .. } = self;
        let todo = tried.seconds.len() as u64;
        let mut recorded_text = format_count(self.recorded as u64);
        if self.under_way > 0 {
            recorded_text
                .push_str(&format!(", and {} with tasks that wait or run", format_count(self.under_way as u64)));
        }
        let mut tasks = format!(
            "{} of {}",
            format_count(division.tasks.len() as u64),
            format_plural(terms.cpus.into(), "processor")
        );
        if let Some(most) = terms.max_running {
            tasks.push_str(&format!(", {} at the same time", format_count(most.into())));
        }
        let core_hours = fixed_or(Some(division.core_hours()), if division.core_hours() < 10.0 { 2 } else { 0 });
        let mut facts = vec![
            ("study", self.plan.name.clone()),
            ("store", store.display().to_string()),
            ("simulations", format!("{}; recorded before: {recorded_text}", format_count(todo))),
            ("tasks", tasks),
            (
                "predicted",
                format!("{core_hours} core-hours, by {} tried here", format_plural(tried.tried as u64, "simulation")),
            ),
            (
                "a task takes",
                format!(
                    "{} to {}",
                    format_duration(division.shortest_task()),
                    format_duration(division.longest_task())
                ),
            ),
        ];
        if let Some(limit) = terms.limit {
            facts.push(("time limit", format_duration(limit as f64)));
        }
        let mut document = Document::default();
        document.add_facts(facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect());
        document
    }

    /// Writes the submission's folder and the script in it. Returns both.
    fn write_submission(&self, batch: &dyn BatchSystem, name: &str) -> Result<(PathBuf, String), CommandFailure> {
        let program = crate::own_program()?;
        let folder =
            self.tasks.add_submission(&TaskSubmission::new(&self.plan, &self.division, self.wanted.terms.clone()))?;
        let script = batch.render_script(&Array {
            name: &job_name(&self.plan.name),
            folder: &folder,
            program: &program,
            tasks: self.division.tasks.len(),
            simulations: self.tried.seconds.len(),
            terms: &self.wanted.terms,
        });
        file::write_bytes(&folder.join(name), script.as_bytes())?.publish()?;
        Ok((folder, script))
    }
}

/// The plan, and how long it takes to make it: each task must.
#[expect(clippy::disallowed_methods, reason = "the duration of tasks")]
fn plan_study(study: &SweepStudy, terms: &Terms) -> Result<(SweepPlan, Duration), CommandFailure> {
    let since = Instant::now();
    let reading = WaitingNote::new("reading the study");
    let plan = SweepPlan::from_study(study, terms.logs.as_deref())?;
    drop(reading);
    Ok((plan, since.elapsed()))
}

/// Returns the simulations of tasks that wait or run, and their jobs.
fn under_way(tasks: &TaskFolder) -> Result<(BTreeSet<i64>, Vec<String>), CommandFailure> {
    match tasks.under_way() {
        Ok(under_way) => Ok(under_way),
        Err(error) => Err(CommandFailure::usage_error(format_args!(
            "{error}\n  which tasks of {} wait or run must be known, or they would be submitted twice",
            tasks.path().display()
        ))),
    }
}

fn tell_that_nothing_is_left(store: &Path, under_way: usize, jobs: &[String]) {
    if under_way == 0 {
        message::print_note(&format!("{} is complete: there is nothing to submit", store.display()));
        return;
    }
    message::print_note(&format!(
        "nothing to submit: the missing simulations, {}, belong to tasks that wait or run (job {})",
        format_plural(under_way as u64, "simulation"),
        jobs.join(", ")
    ));
}

/// Returns the job name of a study: without blanks and characters special to batch systems.
fn job_name(study: &str) -> String {
    let plain: String = study.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let plain = plain.trim_matches('-');
    if plain.is_empty() { "sweep".to_string() } else { plain.to_string() }
}
