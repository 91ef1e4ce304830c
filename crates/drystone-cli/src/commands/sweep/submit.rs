//! `drystone sweep slurm` and `recipe`: dividing what is missing of a study into tasks, and handing
//! them over.

use crate::args::{DivideArgs, RecipeArgs, SlurmArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::interrupt;
use crate::output::document::Document;
use crate::output::number::{count, duration, fixed_or, plural};
use crate::output::{self, file, message, stdout};
use crate::waiting::WaitingNote;
use drystone_sweep::cluster::{
    Array, BatchRecipe, BatchSystem, Costs, SlurmBatch, TaskDivision, TaskFolder, TaskShape, TaskSubmission, Terms,
    costs, divide, refuse_timed,
};
use drystone_sweep::{Store, SweepPlan, SweepStudy};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Limit of the trials for a prediction, but for one of each policy.
const BUDGET: Duration = Duration::from_secs(5);

pub(super) fn slurm(args: &SlurmArgs) -> CommandOutcome {
    message::be_quiet(args.divide.quiet);
    SlurmBatch.check(&args.sbatch)?;
    let wanted = WantedSubmission::read(&args.study, &args.divide, &args.sbatch)?;
    let Some(ready) = ReadyTasks::of(&wanted, args.dry_run, true)? else { return Ok(DONE) };
    match SlurmBatch.most_tasks() {
        Ok(most) => refuse_large(&ready.division, most)?,
        // The script may be for another machine, and sbatch refuses it there.
        Err(error) if args.dry_run || args.print => {
            message::note(&format!("{error}; the size of arrays is not checked"))
        }
        Err(error) => return Err(error.into()),
    }
    if args.dry_run {
        output::print_document(&ready.document())?;
        return Ok(DONE);
    }
    let (folder, script) = ready.write(&SlurmBatch, "slurm.sh")?;
    if args.print {
        stdout::write(script.as_bytes())?;
        message::note(&format!("the tasks are in {}", folder.display()));
        return Ok(DONE);
    }
    output::print_document(&ready.document())?;
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
    let store = wanted.store.display();
    message::note(&format!(
        "submitted as job {job}; `drystone sweep status {store} --follow` shows the progress, `drystone sweep gather \
         {store}` merges the results"
    ));
    Ok(DONE)
}

pub(super) fn recipe(args: &RecipeArgs) -> CommandOutcome {
    message::be_quiet(args.divide.quiet);
    let wanted = WantedSubmission::read(&args.study, &args.divide, &[])?;
    let Some(ready) = ReadyTasks::of(&wanted, false, false)? else { return Ok(DONE) };
    let (folder, script) = ready.write(&args.system, args.system.file_name())?;
    if !args.submit {
        stdout::write(script.as_bytes())?;
        message::note(&format!("the tasks are in {}", folder.display()));
        return Ok(DONE);
    }
    output::print_document(&ready.document())?;
    // Some systems answer at once, others when all is done.
    let running = WaitingNote::new(&format!("{} runs the tasks", BatchRecipe::name(args.system)));
    let said = args.system.submit(&folder.join(args.system.file_name()));
    drop(running);
    let said = said?;
    if !said.is_empty() {
        message::note(&said);
    }
    Ok(DONE)
}

fn refuse_large(division: &TaskDivision, most: u64) -> Result<(), CommandFailure> {
    let tasks = division.tasks.len() as u64;
    if tasks <= most {
        return Ok(());
    }
    Err(CommandFailure::usage(format_args!(
        "{} are more than an array may have here, {} (MaxArraySize): take --tasks {most}",
        plural(tasks, "task"),
        count(most)
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
    fn read(path: &Path, args: &DivideArgs, more: &[String]) -> Result<WantedSubmission, CommandFailure> {
        let (study, store) = if Store::is_at(path) {
            let (study, chunk) = Store::look(path)?.study()?;
            if chunk.is_some() || args.store.is_some() {
                let path = path.display();
                return Err(CommandFailure::usage(format_args!(
                    "{path}: give the store of a whole study, without --store"
                )));
            }
            (study, path.to_path_buf())
        } else {
            let study = SweepStudy::read(path)?;
            let store = args.store.clone().unwrap_or_else(|| study.store());
            (study, store)
        };
        let last =
            TaskFolder::of(&store).submissions()?.pop().map(|folder| TaskSubmission::read(&folder)).transpose()?;
        let last = last.map(|submission| submission.terms);
        let Some(tasks) = args.tasks.or(last.as_ref().map(|last| last.tasks)) else {
            return Err(CommandFailure::usage(
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
            return Err(CommandFailure::usage("a time limit of 0 leaves no time"));
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
    fn of(wanted: &WantedSubmission, look: bool, slurm: bool) -> Result<Option<ReadyTasks<'_>>, CommandFailure> {
        let terms = &wanted.terms;
        if !terms.not_reproducible {
            refuse_timed(&wanted.study)?;
        }
        let (plan, start) = planned(&wanted.study, terms)?;
        let tasks = TaskFolder::of(&wanted.store);
        let mut store =
            if look && !wanted.store.exists() { None } else { Some(Store::open(&wanted.store, &plan, None)?) };
        // The queue comes before the results: a task that ends between the two is in both.
        let (ids, jobs) = if slurm { under_way(&tasks)? } else { (BTreeSet::new(), Vec::new()) };
        let recorded = match &mut store {
            Some(store) => {
                store.gather(&tasks.published()?, &mut || {})?;
                store.done(&plan)?
            }
            None => BTreeSet::new(),
        };
        let again = !recorded.is_empty() || !tasks.submissions()?.is_empty();
        let is_under_way = |place: &usize| ids.contains(&plan.simulations[*place].id);
        let missing: Vec<usize> = plan.places(None).filter(|place| !recorded.contains(place)).collect();
        let todo: Vec<usize> = missing.iter().copied().filter(|place| !is_under_way(place)).collect();
        let under_way = missing.len() - todo.len();
        if todo.is_empty() {
            tell_that_nothing_is_left(&wanted.store, under_way, &jobs);
            return Ok(None);
        }
        let trying = WaitingNote::new("trying simulations");
        let tried = costs(&plan, &todo, BUDGET, interrupt::stop_in_order());
        drop(trying);
        let interrupted = || CommandFailure::Message {
            code: interrupt::code(),
            text: "interrupted: nothing was submitted".to_string(),
        };
        let tried = tried.ok_or_else(interrupted)?;
        let limit = terms.limit.map(Duration::from_secs);
        let shape = TaskShape { tasks: terms.tasks, cpus: terms.cpus, limit, least: wanted.least, start, again };
        let division = divide(&todo, &tried, &shape)?;
        let recorded = recorded.len();
        let ready = ReadyTasks { wanted, plan, tried, division, recorded, under_way, tasks, _store: store };
        ready.warn();
        Ok(Some(ready))
    }

    /// Says what may surprise.
    fn warn(&self) {
        let (longest, tasks) = (self.division.longest(), self.division.tasks.len());
        if tasks < self.wanted.terms.tasks as usize {
            let wanted = count(u64::from(self.wanted.terms.tasks));
            let enough = plural(tasks as u64, "task");
            message::note(&format!("{enough} instead of {wanted}: more would be too short for the rest"));
        }
        if let Some(limit) = self.wanted.terms.limit
            && longest > limit as f64
        {
            let fit = (tasks as f64 * longest / (limit as f64 * 0.8)).ceil();
            message::warning(&format!(
                "the longest task is predicted to take {}, more than its limit of {}: stopped tasks continue when \
                 this command is repeated; --tasks {fit} would fit",
                duration(longest),
                duration(limit as f64)
            ));
        }
    }

    /// Describes the submission and its cost.
    fn document(&self) -> Document {
        let ReadyTasks { division, tried, wanted: WantedSubmission { terms, store, .. }, .. } = self;
        let todo = tried.seconds.len() as u64;
        let mut recorded = count(self.recorded as u64);
        if self.under_way > 0 {
            recorded.push_str(&format!(", and {} with tasks that wait or run", count(self.under_way as u64)));
        }
        let mut tasks = format!("{} of {}", count(division.tasks.len() as u64), plural(terms.cpus.into(), "processor"));
        if let Some(most) = terms.max_running {
            tasks.push_str(&format!(", {} at the same time", count(most.into())));
        }
        let core_hours = fixed_or(Some(division.core_hours()), if division.core_hours() < 10.0 { 2 } else { 0 });
        let mut facts = vec![
            ("study", self.plan.name.clone()),
            ("store", store.display().to_string()),
            ("simulations", format!("{}; recorded before: {recorded}", count(todo))),
            ("tasks", tasks),
            (
                "predicted",
                format!("{core_hours} core-hours, by {} tried here", plural(tried.tried as u64, "simulation")),
            ),
            ("a task takes", format!("{} to {}", duration(division.shortest()), duration(division.longest()))),
        ];
        if let Some(limit) = terms.limit {
            facts.push(("time limit", duration(limit as f64)));
        }
        let mut document = Document::default();
        document.facts(facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect());
        document
    }

    /// Writes the submission's folder and the script in it. Returns both.
    fn write(&self, batch: &dyn BatchSystem, name: &str) -> Result<(PathBuf, String), CommandFailure> {
        let program = crate::program()?;
        let folder = self.tasks.add(&TaskSubmission::new(&self.plan, &self.division, self.wanted.terms.clone()))?;
        let script = batch.script(&Array {
            name: &job_name(&self.plan.name),
            folder: &folder,
            program: &program,
            tasks: self.division.tasks.len(),
            simulations: self.tried.seconds.len(),
            terms: &self.wanted.terms,
        });
        file::write(&folder.join(name), script.as_bytes())?.publish()?;
        Ok((folder, script))
    }
}

/// The plan, and how long it takes to make it: each task must.
#[expect(clippy::disallowed_methods, reason = "the duration of tasks")]
fn planned(study: &SweepStudy, terms: &Terms) -> Result<(SweepPlan, Duration), CommandFailure> {
    let since = Instant::now();
    let reading = WaitingNote::new("reading the study");
    let plan = SweepPlan::of(study, terms.logs.as_deref())?;
    drop(reading);
    Ok((plan, since.elapsed()))
}

/// Returns the simulations of tasks that wait or run, and their jobs.
fn under_way(tasks: &TaskFolder) -> Result<(BTreeSet<i64>, Vec<String>), CommandFailure> {
    match tasks.under_way() {
        Ok(under_way) => Ok(under_way),
        Err(error) => Err(CommandFailure::usage(format_args!(
            "{error}\n  which tasks of {} wait or run must be known, or they would be submitted twice",
            tasks.path().display()
        ))),
    }
}

fn tell_that_nothing_is_left(store: &Path, under_way: usize, jobs: &[String]) {
    if under_way == 0 {
        message::note(&format!("{} is complete: there is nothing to submit", store.display()));
        return;
    }
    message::note(&format!(
        "nothing to submit: the missing simulations, {}, belong to tasks that wait or run (job {})",
        plural(under_way as u64, "simulation"),
        jobs.join(", ")
    ));
}

/// Returns the job name of a study: without blanks and characters special to batch systems.
fn job_name(study: &str) -> String {
    let plain: String = study.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let plain = plain.trim_matches('-');
    if plain.is_empty() { "sweep".to_string() } else { plain.to_string() }
}
