//! The state that is asked about, as futures begin: the jobs that are here, and what may happen to
//! each.

use crate::batches::BatchSurprise;
use crate::days::PastArrival;
use crate::draws::{DrawPurpose, Draws, Named};
use crate::runs::{Kin, RunTime, Runs, Sibling, Tables};
use crate::settings::ForecasterSettings;
use drystone_core::engine::Session;
use drystone_core::model::{Job, JobId, Procs, SharedSort, Time};
use drystone_core::policy::Phase;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A job that is here.
#[derive(Clone, Debug)]
pub(crate) struct PresentJob {
    pub(crate) id: JobId,
    pub(crate) kin: Kin,
    /// Run time so far, −1 for a waiting job.
    pub(crate) ran: i64,
    pub(crate) phase: Phase,
    /// Beginning of the running segment, and its predicted end.
    pub(crate) segment: i64,
    pub(crate) predicted_end: i64,
}

impl PresentJob {
    /// Of a running job: when it ends, if it runs so long in all.
    pub(crate) fn end_time(&self, run: i64, now: Time) -> i64 {
        (now.0 + run - self.ran).max(now.0 + 1)
    }
}

pub(crate) fn job_kin(job: &Job) -> Kin {
    Kin { user: job.user, limit: job.estimate.0, procs: job.procs }
}

/// The jobs that are here, in the order of arrival.
#[derive(Clone, Debug, Default)]
pub(crate) struct PresentJobs {
    /// Names of jobs begin here: those before are known from elsewhere.
    pub(crate) offset: u64,
    pub(crate) now: Time,
    pub(crate) free: Procs,
    pub(crate) here: Vec<PresentJob>,
    /// True if anything is here that the fast futures do not know: processors that are out, jobs
    /// that are held back or suspended, more processors than they count.
    pub(crate) special: bool,
    /// Jobs that have run, by user and then the newest start first.
    siblings: Vec<Sibling>,
}

impl PresentJobs {
    /// Reads the state of a session; its first job has the name `offset`.
    pub(crate) fn from_session(session: &Session, offset: u64) -> PresentJobs {
        let view = session.view();
        let mut world = PresentJobs {
            offset,
            now: view.current_time(),
            free: session.free_processors(),
            here: Vec::new(),
            // Short cuts count processors alone.
            special: view.outlook().is_some()
                || view.resources().is_some()
                || session.held_count() > 0
                || session.suspended_count() > 0
                || i32::try_from(view.machine().procs).is_err(),
            siblings: Vec::new(),
        };
        let present_job = |id: JobId| {
            let (phase, job) = (view.phase(id), view.job(id));
            let waits = matches!(phase, Phase::Waiting | Phase::Held);
            PresentJob {
                id,
                kin: job_kin(job),
                ran: if waits { -1 } else { view.run_time_so_far(id).0 },
                phase,
                segment: view.segment_start(id).0,
                predicted_end: view.predicted_end(id).0,
            }
        };
        world.here.extend(view.running_jobs().iter().map(|running| present_job(running.id)));
        world.here.extend(view.waiting_jobs().map(present_job));
        if world.special {
            let ids = (view.oldest_job().0..session.next_id().0).map(JobId);
            world.here.extend(ids.filter(|&id| view.is_known(id) && view.phase(id) == Phase::Held).map(present_job));
            world.here.extend(view.suspended_jobs().map(present_job));
        }
        world.here.sort_shared_by_key(|job| job.id);
        let ran = world.here.iter().filter(|job| job.ran >= 0);
        world.siblings = ran.map(|job| Sibling { kin: job.kin, start: world.now.0 - job.ran, ran: job.ran }).collect();
        world.siblings.sort_shared_by_key(|sibling| (sibling.kin.user, Reverse(sibling.start), sibling.kin));
        world
    }

    /// The jobs of a user that have run, the newest start first.
    fn user_siblings(&self, user: i32) -> &[Sibling] {
        let from = self.siblings.partition_point(|sibling| sibling.kin.user < user);
        let until = self.siblings.partition_point(|sibling| sibling.kin.user <= user);
        &self.siblings[from..until]
    }

    /// Returns the name under which a job is remembered.
    pub(crate) fn job_name(&self, id: JobId) -> u64 {
        self.offset + u64::from(id.0)
    }

    pub(crate) fn find_job(&self, id: JobId) -> Option<usize> {
        self.here.binary_search_by_key(&id, |job| job.id).ok()
    }
}

/// Run times of futures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Assume {
    /// Drawn from what was learned.
    Drawn,
    /// As long as the limits say.
    Limits,
    /// The average of the user's last two.
    LastTwo,
}

/// Run times of the jobs that are here, drawn where a future needs them.
#[derive(Debug)]
pub(crate) struct DrawnFates<'a> {
    pub(crate) world: &'a PresentJobs,
    runs: &'a Runs,
    tables: &'a mut Tables,
    pub(crate) settings: &'a ForecasterSettings,
    pub(crate) assume: Assume,
    fates: Vec<Option<Fate>>,
    /// Jobs that are here under another name, by their kind.
    others: BTreeMap<Kin, RunTime>,
}

/// Fate of a job: its run time, and the names of the numbers that decide.
#[derive(Clone, Debug)]
struct Fate {
    time: RunTime,
    luck: Luck,
    /// Of a batch that waits and of which nothing is known.
    surprise: Option<(BatchSurprise, Named)>,
}

impl Fate {
    #[inline]
    fn draw_run(&self, draws: Draws, settings: &ForecasterSettings) -> i64 {
        let run = self.time.run_at(self.luck.draw_number(draws, settings));
        match &self.surprise {
            None => run,
            Some((surprise, name)) => {
                ((run as f64 * surprise.run_share(draws.draw_named(*name))).round() as i64).max(1)
            }
        }
    }
}

impl<'a> DrawnFates<'a> {
    pub(crate) fn new(
        world: &'a PresentJobs,
        (runs, tables): (&'a Runs, &'a mut Tables),
        settings: &'a ForecasterSettings,
        assume: Assume,
    ) -> DrawnFates<'a> {
        DrawnFates {
            fates: vec![None; world.here.len()],
            world,
            runs,
            tables,
            settings,
            assume,
            others: BTreeMap::new(),
        }
    }

    /// The run time of a job that is here, in the future with these draws.
    pub(crate) fn present_run(&mut self, at: usize, draws: Draws) -> i64 {
        let present_job = &self.world.here[at];
        match self.assume {
            Assume::Limits => return present_job.kin.limit.max(present_job.ran + 1),
            Assume::LastTwo => return self.runs.last_two(present_job.kin, present_job.ran),
            Assume::Drawn => {}
        }
        if self.fates[at].is_none() {
            let mut time = RunTime::default();
            let siblings = self.world.user_siblings(present_job.kin.user);
            self.runs.fill_distribution(
                present_job.kin,
                present_job.ran,
                siblings,
                self.settings,
                self.tables,
                &mut time,
            );
            let luck = Luck::for_job(self.world.job_name(present_job.id), present_job.kin);
            let surprise = (present_job.ran < 0).then(|| self.runs.find_surprise(present_job.kin, siblings)).flatten();
            let surprise = surprise
                .map(|surprise| (surprise, Named::new(DrawPurpose::Surprise, Luck::group_name(present_job.kin))));
            self.fates[at] = Some(Fate { time, luck, surprise });
        }
        self.fates[at].as_ref().map_or(0, |fate| fate.draw_run(draws, self.settings))
    }

    /// The run time of a job of the past that arrives again.
    pub(crate) fn returning_run(&mut self, past: &PastArrival, draws: Draws) -> i64 {
        if let Some(run) = past.run {
            return run;
        }
        let place = past.name.checked_sub(self.world.offset).and_then(|id| self.world.find_job(JobId(id as u32)));
        match place {
            Some(at) => self.present_run(at, draws),
            // It is here under another name: drawn as one that begins.
            None => {
                let kin = job_kin(&past.job);
                let time = self.others.entry(kin).or_insert_with(|| {
                    let mut time = RunTime::default();
                    let siblings = self.world.user_siblings(kin.user);
                    self.runs.fill_distribution(kin, -1, siblings, self.settings, self.tables, &mut time);
                    time
                });
                time.run_at(Luck::for_job(past.name, kin).draw_number(draws, self.settings))
            }
        }
    }
}

/// The level of a job's run time: its own, or one that it shares with jobs of the same user and
/// limit. In some futures all of these share it: the sum of the run times of a thousand jobs that
/// drew for themselves would be nearly certain.
#[derive(Clone, Copy, Debug)]
struct Luck {
    /// `None` for a job without a user: such jobs are not of one user.
    batch: Option<Named>,
    coupled: Named,
    shared: Named,
    own: Named,
}

impl Luck {
    /// The name of all jobs of a user and limit.
    fn group_name(kin: Kin) -> u64 {
        (kin.user as u32 as u64) << 32 ^ (kin.limit as u64).wrapping_mul(0x9e37_79b9)
    }

    fn for_job(name: u64, kin: Kin) -> Luck {
        let group = Luck::group_name(kin);
        Luck {
            batch: (kin.user >= 0).then(|| Named::new(DrawPurpose::Batch, group)),
            coupled: Named::new(DrawPurpose::Coupled, name),
            shared: Named::new(DrawPurpose::Shared, group),
            own: Named::new(DrawPurpose::Own, name),
        }
    }

    #[inline]
    fn draw_number(self, draws: Draws, settings: &ForecasterSettings) -> f64 {
        let ForecasterSettings { coupling, batch_coupling, .. } = *settings;
        let together = self.batch.is_some_and(|batch| draws.draw_named(batch) < batch_coupling)
            || coupling > 0.0 && draws.draw_named(self.coupled) < coupling;
        draws.draw_named(if together { self.shared } else { self.own })
    }
}
