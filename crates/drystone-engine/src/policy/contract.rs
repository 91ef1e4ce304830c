//! The contract between a policy and what drives it: events in, actions out.

use super::{Priorities, PriorityError, View};
use crate::model::{JobId, PaceNumber, PowerTerm, ProcSet, Procs, Span, Time};
use crate::snapshot::Snapshot;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Event that a policy receives when the jobs' table already shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PolicyEvent {
    /// A job arrived and waits.
    Arrived(JobId),
    /// A running job has ended and given back its processors. It was predicted to end at
    /// `predicted_end`.
    Ended {
        /// Job concerned.
        job: JobId,
        /// End that the plan had; equal to the present if it was right.
        predicted_end: Time,
    },
    /// The prediction of a waiting, running or suspended job has changed; it was `old`.
    Repredicted {
        /// Job concerned.
        job: JobId,
        /// The prediction until now.
        old: Span,
    },
    /// A waiting or suspended job was withdrawn. (A running job that is cancelled has
    /// [`PolicyEvent::Ended`].)
    Cancelled(JobId),
    /// The time that [`Policy::next_wake`] asked for has come.
    Woken,
    /// A waiting job stops waiting, for now: it is held back, has been started by another
    /// scheduler, or is being changed. Sent only to policies that [hear](Policy::can_hear_news) of
    /// it, like all events below.
    Held(JobId),
    /// A job waits again, in the place that its number gives it: it was released, changed, or sent
    /// back by the machine with nothing of its progress left.
    Released(JobId),
    /// A job that the policy does not hold runs now: another scheduler started it or resumed it. It
    /// may have run for some time ([`View::run_time_so_far`]), and its predicted end may be past.
    Runs(JobId),
    /// A job that ran or was suspended has left the policy's hands without having ended. There is
    /// nothing to learn from it. Its new place follows as the next event, if any:
    /// [`PolicyEvent::Released`], [`PolicyEvent::Runs`], [`PolicyEvent::Parked`].
    Stopped {
        /// Job concerned.
        job: JobId,
        /// End that the plan had, if it ran.
        predicted_end: Time,
    },
    /// A job that the policy does not hold is suspended, and the policy is to resume it. Sent
    /// only to policies that [resume](Policy::can_resume) such jobs.
    Parked(JobId),
    /// Processors have failed, come back or been drained, or the amount of a further resource has
    /// changed, or it is known for the first time that one of these will happen: [`View::outlook`],
    /// [`View::free_processors`] and [`View::resources`] are new.
    Capacity,
    /// A running job has another size: a change that was pending has taken effect, or an outage has
    /// taken some of its processors. Sent only to policies that [know sizes](Policy::knows_shapes),
    /// and not for what they do at once.
    Resized {
        /// Job concerned.
        job: JobId,
        /// Its size until now.
        from: Procs,
        /// Its predicted end now.
        predicted_end: Time,
    },
    /// A running job asks for another size ([`View::asked_size`]). It runs on meanwhile. Sent only
    /// to policies that [know sizes](Policy::knows_shapes).
    Asks {
        /// Job concerned.
        job: JobId,
        /// Size that it asks for.
        procs: Procs,
    },
}

/// Reason for a job's start, for explanations; `Head` also counts as a reservation, see there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum StartReason {
    /// It was first in its queue and its processors were free. Under a policy that makes
    /// reservations, a job that starts so after a wait had its start reserved at the very pass that
    /// started it ([`JobOutcome::first_reservation`](crate::model::JobOutcome::first_reservation)).
    Head,
    /// It was moved ahead of others because it does not disturb what is reserved.
    Backfilled,
    /// The start planned for it has come.
    Planned,
    /// It takes the place of jobs that were suspended for it.
    Preempting,
}

/// Processors on which a job starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Placement {
    /// On any free ones: the policy only counts.
    Any,
    /// On the processors of [`Actions::processor_set`].
    Set(u32),
}

/// A quantity inside a policy that may be worth a plot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Gauge {
    /// The delay in force, in seconds.
    Delay,
    /// Processors that belong to one of the policy's partitions, numbered from 1.
    Partition(u32),
    /// Number of queues.
    Queues,
    /// The upper border of a queue, in seconds of predicted run time, numbered from 1.
    Border(u32),
    /// Nodes that the search of this decision placed.
    Nodes,
    /// Paths that it followed to their end.
    Paths,
    /// Number of times that it found a better one.
    Improvements,
    /// 1 where it exhausted the tree, so that there is no better schedule; else 0.
    Exhausted,
}

impl fmt::Display for Gauge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gauge::Delay => f.pad("delay"),
            Gauge::Partition(number) => write!(f, "partition {number}"),
            Gauge::Queues => f.pad("queues"),
            Gauge::Border(number) => write!(f, "border {number}"),
            Gauge::Nodes => f.pad("nodes"),
            Gauge::Paths => f.pad("paths"),
            Gauge::Improvements => f.pad("improvements"),
            Gauge::Exhausted => f.pad("exhausted"),
        }
    }
}

/// Action of a policy. Carried out in order, at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Action {
    /// Start a waiting job.
    Start {
        /// Job concerned.
        job: JobId,
        /// Reason for the start.
        why: StartReason,
        /// Processors of the start.
        on: Placement,
    },
    /// Start a waiting job with one of its sizes; [`Action::Start`] is with the preferred one.
    StartWith {
        /// Job concerned.
        job: JobId,
        /// Its size.
        procs: Procs,
        /// Its pace; 0 is the full one.
        pace: PaceNumber,
        /// Reason for the start.
        why: StartReason,
        /// Processors of the start.
        on: Placement,
    },
    /// Change the size of a running job: at once, or at its next point ([`View::next_point`]).
    /// Until then the change is [pending](View::pending_size): another one replaces it, the present
    /// size withdraws it.
    Resize {
        /// Job concerned.
        job: JobId,
        /// Size to come.
        procs: Procs,
        /// True if it does not wait for a point, because processors or power are gone.
        at_once: bool,
    },
    /// Take a running job off its processors. It keeps its progress.
    Suspend(JobId),
    /// Resume a suspended job; where its processors were named, on exactly the same ones.
    Resume(JobId),
    /// Resume a suspended job on other processors than those it had.
    ResumeOn {
        /// Job concerned.
        job: JobId,
        /// Processors of the resumption.
        on: Placement,
    },
    /// End a running job for good.
    Kill(JobId),
    /// Send a running job back to wait, with nothing of its progress left. The policy
    /// receives no event for its own action.
    Requeue(JobId),
    /// Announce the planned start of a waiting job and the latest start that is promised. Recorded
    /// and audited, never executed. Policies that hold their plans promise the planned start
    /// itself; those that plan again at each pass promise nothing, and say so. An announcement need
    /// not be repeated.
    Reserve {
        /// Job concerned.
        job: JobId,
        /// Planned start.
        start: Time,
        /// The job starts no later than this, as far as predictions hold. [`Time::MAX`]: without a
        /// bound, no promise.
        latest: Time,
    },
    /// Replace the prediction of a job.
    Repredict {
        /// Job concerned.
        job: JobId,
        /// Predicted run time in total, from 0 to 2⁴⁰ s. Where predictions are corrected, a running
        /// job is never predicted to have ended: then it is one second more than it has run.
        prediction: Span,
    },
    /// Says that a quantity inside the policy has a new value. Told to observers, never executed.
    /// An action, not a part of the policy's state: what is only watched is then neither kept nor
    /// saved, and a live cluster sees it as it happens.
    Note {
        /// Quantity reported.
        gauge: Gauge,
        /// Its value from now on.
        value: i64,
    },
    /// Resume a suspended job on any free processors, with another size. The change of size has its
    /// usual cost.
    ResumeWith {
        /// Job concerned.
        job: JobId,
        /// Its size from now on.
        procs: Procs,
    },
    /// Change the pace of a running job at once. A job with a [pending](View::pending_size) change
    /// of size keeps its pace.
    SetPace {
        /// Job concerned.
        job: JobId,
        /// Its pace from now on; 0 is the full one.
        pace: PaceNumber,
    },
}

/// A change of plan and its price, for explanations. Recorded, never executed.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Moved {
    /// The job whose planned start has changed; or the newcomer itself, moved from where it would
    /// disturb no job to where it was planned.
    pub job: JobId,
    /// Beneficiary: a newcomer, or a running job that got more time. `None` where a job that ended
    /// or was withdrawn left room.
    pub favour: Option<JobId>,
    /// Planned start before.
    pub from: Time,
    /// Planned start now.
    pub to: Time,
    /// Price of the move, in the policy's own unit; for the newcomer, that of the whole
    /// rearrangement.
    pub price: f64,
}

/// The actions of one decision, in order; reused from decision to decision.
#[derive(Default, Debug)]
pub struct Actions {
    list: Vec<Action>,
    sets: Vec<ProcSet>,
    moves: Vec<Moved>,
}

impl Clone for Actions {
    fn clone(&self) -> Actions {
        Actions { list: self.list.clone(), sets: self.sets.clone(), moves: self.moves.clone() }
    }

    // A derived `clone_from` would allocate memory for every decision from outside.
    fn clone_from(&mut self, other: &Actions) {
        self.list.clone_from(&other.list);
        self.sets.clone_from(&other.sets);
        self.moves.clone_from(&other.moves);
    }
}

impl Actions {
    /// Starts a waiting job on any free processors.
    #[inline]
    pub fn start_job(&mut self, job: JobId, reason: StartReason) {
        self.list.push(Action::Start { job, why: reason, on: Placement::Any });
    }

    /// Starts a waiting job with one of its sizes on any free processors.
    pub fn start_with(&mut self, job: JobId, procs: Procs, reason: StartReason) {
        self.start_at(job, (procs, 0), reason);
    }

    /// Starts a waiting job with one of its sizes and paces on any free processors.
    pub fn start_at(&mut self, job: JobId, (procs, pace): (Procs, PaceNumber), reason: StartReason) {
        self.list.push(Action::StartWith { job, procs, pace, why: reason, on: Placement::Any });
    }

    /// Changes the size of a running job, at its next point.
    pub fn resize_job(&mut self, job: JobId, procs: Procs) {
        self.list.push(Action::Resize { job, procs, at_once: false });
    }

    /// Starts a waiting job on these processors.
    pub fn start_on(&mut self, job: JobId, reason: StartReason, procs: ProcSet) {
        let on = Placement::Set(self.sets.len() as u32);
        self.sets.push(procs);
        self.list.push(Action::Start { job, why: reason, on });
    }

    /// Resumes a suspended job on these processors, whichever it had.
    pub fn resume_on(&mut self, job: JobId, procs: ProcSet) {
        let on = Placement::Set(self.sets.len() as u32);
        self.sets.push(procs);
        self.list.push(Action::ResumeOn { job, on });
    }

    /// Announces a planned start that is also the promise.
    #[inline]
    pub fn reserve_start(&mut self, job: JobId, start: Time) {
        self.list.push(Action::Reserve { job, start, latest: start });
    }

    /// Says why a plan has changed.
    #[inline]
    pub fn explain_move(&mut self, shift: Moved) {
        self.moves.push(shift);
    }

    /// The changes of plan that were explained, in order.
    #[inline]
    #[must_use]
    pub fn moves(&self) -> &[Moved] {
        &self.moves
    }

    /// Any other action.
    #[inline]
    pub fn push(&mut self, action: Action) {
        self.list.push(action);
    }

    /// All actions so far.
    #[inline]
    #[must_use]
    pub fn list(&self) -> &[Action] {
        &self.list
    }

    /// The processors of a [`Placement::Set`].
    #[inline]
    #[must_use]
    pub fn processor_set(&self, index: u32) -> Option<&ProcSet> {
        self.sets.get(index as usize)
    }

    /// Forgets all actions and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.list.clear();
        self.moves.clear();
        // Sets have to be dropped one by one, and hardly any policy has one.
        if !self.sets.is_empty() {
            self.sets.clear();
        }
    }
}

/// Number of passes that a policy makes at one instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PassRule {
    /// One, after all events of the instant.
    #[default]
    Instant,
    /// One after every single event, as many older simulators do.
    Event,
    /// As the Python simulator pyss and its descendants do it: one after every arrival and every
    /// end, none after a correction; at one instant corrections come first, then arrivals, then
    /// ends in the order of the starts. A job that starts upon an arrival may use processors that
    /// are given back later in the same second.
    Pyss,
}

/// Assumption of a policy about the jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Requirement {
    /// Nothing: it works on every workload.
    #[default]
    Nothing,
    /// No job outlives the prediction in force. A simulation asks
    /// [`crate::engine::Scheduler::check_fit`] first.
    Punctual,
}

/// Abilities of the machine that a policy needs beyond starting jobs: a driver of a machine without
/// them refuses the policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Abilities {
    /// It suspends running jobs and resumes them.
    pub suspend: bool,
    /// It resumes suspended jobs on other processors than those they had.
    pub migrate: bool,
    /// It says on which processors a job starts.
    pub name: bool,
    /// It ends running jobs.
    pub kill: bool,
    /// It sends running jobs back to wait.
    pub requeue: bool,
    /// It starts jobs with one of several sizes.
    pub shape: bool,
    /// It changes the sizes of running jobs.
    pub resize: bool,
    /// It changes the paces of running jobs.
    pub pace: bool,
}

/// A scheduling policy: a pure state machine that takes events and returns actions.
///
/// It reads no clock (one that searches may look at the driver's stopwatch), does no I/O, and
/// cannot tell a simulated machine from a real one. Implement [`Policy::observe`] to keep your own
/// state true and [`Policy::decide`] to act on it; derive `Serialize` and `Deserialize` for the
/// state, and it can be stopped after any event and resumed ([`Snapshot`] comes with them).
///
/// It is `Send` and `Sync`, so that a session can be moved between threads and looked at from
/// several. A policy that searches with threads of its own keeps them inside one decision.
///
/// # A complete policy
///
/// First come, first served: jobs start strictly in the order of their arrival. It has a name in
/// policy texts, and with it predictions (`predict=`), corrections, passes, saved states,
/// `drystone compare` and the rest.
///
/// ```
/// use drystone_core::model::JobId;
/// use drystone_core::policy::{Actions, PolicyEvent, PolicyKind, Policy, PolicySpec, View, StartReason, register_policy};
/// use serde::{Deserialize, Serialize};
/// use std::collections::VecDeque;
///
/// /// The waiting jobs are all that it remembers.
/// #[derive(Default, Serialize, Deserialize)]
/// struct Fcfs {
///     queue: VecDeque<JobId>,
/// }
///
/// impl Policy for Fcfs {
///     fn name(&self) -> &str {
///         "my-fcfs"
///     }
///
///     fn observe(&mut self, event: PolicyEvent, _view: &View<'_>) {
///         match event {
///             PolicyEvent::Arrived(id) => self.queue.push_back(id),
///             // A job that is withdrawn must not be started later.
///             PolicyEvent::Cancelled(id) => self.queue.retain(|&waiting| waiting != id),
///             // Ends and changed predictions make no difference here: `view.free_processors()` counts what is free. Events may be added
///             // in later versions.
///             _ => {}
///         }
///     }
///
///     fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
///         // What starts now counts at once: the view shows the machine as it was before this decision.
///         let mut free = view.free_processors();
///         while let Some(&first) = self.queue.front() {
///             let procs = view.job(first).procs;
///             if procs > free {
///                 break;
///             }
///             free -= procs;
///             actions.start_job(first, StartReason::Head);
///             self.queue.pop_front();
///         }
///     }
///
///     // It never asks to be woken, so the driver need not ask after each decision.
///     fn has_wake_ups(&self) -> bool {
///         false
///     }
/// }
///
/// static MY_FCFS: PolicyKind = PolicyKind::new("my-fcfs", "strictly in the order of arrival", &|_args| Ok(Box::<Fcfs>::default()));
///
/// register_policy(&MY_FCFS)?;
/// let spec: PolicySpec = "my-fcfs(pass=event)".parse()?;
/// assert_eq!(spec.build_scheduler().policy.name(), "my-fcfs");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Before you write a loop over jobs, look into [`parts`](crate::parts): a searchable queue, the
/// running set with its shadow time, the profile of free processors over time, orders, predictors.
/// [`View::running_jobs`] and [`View::prediction`] are always up to date; only a policy that keeps
/// predictions in a structure of its own must listen to [`PolicyEvent::Repredicted`].
pub trait Policy: Snapshot + Send + Sync {
    /// A name that stays the same from version to version: saved states bear it.
    fn name(&self) -> &str;

    /// The layout of its own saved state. Raise it whenever that changes: a session then refuses
    /// states of other layouts.
    fn layout(&self) -> u32 {
        1
    }

    /// Takes note of one event. All events of an instant come before its decision, in the order:
    /// ends, changed predictions and wake-ups, arrivals and cancellations.
    fn observe(&mut self, event: PolicyEvent, view: &View<'_>);

    /// Makes one scheduling pass; only called while a job waits or is suspended, after a wake-up,
    /// or where a job has ended that was killed. What it starts counts at once: a policy keeps its
    /// own account of free processors within a pass.
    fn decide(&mut self, view: &View<'_>, actions: &mut Actions);

    /// Latest time up to which a postponed end cannot change a decision. As long as nothing happens
    /// but corrections by which jobs are predicted to end later, and no later than this, each pass
    /// would do nothing. The driver may then leave out the passes, and does not tell the policy of
    /// such corrections.
    ///
    /// The answer must hold until something else happens, though not beyond itself. [`Time::MAX`]
    /// says that nothing depends on predicted ends until a job arrives: corrections may then wait
    /// until one does, or until the job itself ends, and [`View::running_jobs`] and the predictions
    /// of running jobs lag behind as long. With any other answer they have them all.
    fn unmoved_until(&self, _now: Time) -> Time {
        Time::MIN
    }

    /// Returns whether the last correction is already accounted for, so that a pass now would do
    /// nothing.
    fn has_taken_in(&self, _now: Time) -> bool {
        false
    }

    /// Returns the next wake-up time ([`PolicyEvent::Woken`]) if nothing happens before. Must be
    /// later than the decision it follows.
    fn next_wake(&self) -> Option<Time> {
        None
    }

    /// Returns whether the policy ever calls for wake-ups; asked once, before the first event. One
    /// that says no is not asked after each decision.
    fn has_wake_ups(&self) -> bool {
        true
    }

    /// The time that one decision may take at most, if the policy heeds any; asked once, before the
    /// first event. Then the driver starts a stopwatch before it asks for a decision
    /// ([`View::stopwatch`]), and what comes out depends on the speed of the machine.
    fn time_limit(&self) -> Option<Duration> {
        None
    }

    /// Returns whether a job that is first in its queue and cannot start gets a reservation at its
    /// first pass. A job that starts as [`StartReason::Head`] after a wait then had its start
    /// reserved at that very pass, even where no job had one before.
    fn has_reservations(&self) -> bool {
        false
    }

    /// Returns whether it keeps the [limits](crate::model::JobLimits) of jobs itself, job by job in
    /// its own order. It then sees every job but those held back by limits that no policy keeps;
    /// other policies see those that are admitted.
    fn keeps_limits(&self) -> bool {
        false
    }

    /// Returns whether it counts resources beyond processors ([`View::resources`]): it starts no
    /// job for which too little of one is free, and its plans reserve them. A policy that does not
    /// is refused where a workload has such resources ([`crate::engine::Scheduler::check_fit`]).
    fn counts_resources(&self) -> bool {
        false
    }

    /// Returns whether it places jobs on nodes where the machine has such
    /// ([`FreeResources::nodes`](super::FreeResources::nodes)): each start names processors of
    /// nodes that have what the job asks for. A policy that does not is refused where a workload
    /// has nodes ([`crate::engine::Scheduler::check_fit`]).
    fn places_on_nodes(&self) -> bool {
        false
    }

    /// Returns whether it also places jobs where nodes go out and come back. A policy that does not
    /// is refused on such a machine ([`crate::engine::Scheduler::check_outages`]).
    fn places_among_outages(&self) -> bool {
        self.places_on_nodes()
    }

    /// Returns whether it keeps a model of the nodes by itself, and so is not shown any in its
    /// view.
    fn models_nodes(&self) -> bool {
        false
    }

    /// Returns the policy's assumption about the jobs.
    fn requirement(&self) -> Requirement {
        Requirement::Nothing
    }

    /// Called before the first event, and after a state was loaded, if its notes ([`Action::Note`])
    /// have a listener. Without one a policy may skip its notes.
    fn enable_notes(&mut self) {}

    /// Told before the first event, and after a state was loaded, how many threads it may use
    /// within a decision. What it decides must not depend on that.
    fn set_threads(&mut self, _threads: u32) {}

    /// Told before the first event that news may come ([`Policy::can_hear_news`]): jobs that are
    /// here already, processors that go. A policy that says where jobs start only then has to
    /// ([`Abilities::name`]) does so from now on.
    fn expect_news(&mut self) {}

    /// Told before the first event that jobs may have several sizes, or that power is counted.
    fn expect_shapes(&mut self) {}

    /// Returns whether it knows sizes and counts power, where it was
    /// [told](Policy::expect_shapes) of them. One that does not starts each job with its preferred
    /// size, never changes one, and is refused where power is limited
    /// ([`crate::engine::Scheduler::check_fit`]).
    fn knows_shapes(&self) -> bool {
        false
    }

    /// Returns the quantity for whose low values the policy holds jobs, if any. A workload without
    /// this quantity is refused ([`crate::engine::Scheduler::check_fit`]).
    fn awaits_term(&self) -> Option<PowerTerm> {
        None
    }

    /// Returns whether it handles news: every event from [`PolicyEvent::Held`] on. A policy that
    /// does not never receives them; a session with it refuses them, and a machine whose capacity
    /// changes refuses the policy before the start.
    fn can_hear_news(&self) -> bool {
        false
    }

    /// Returns whether the policy resumes suspended jobs that it receives
    /// ([`PolicyEvent::Parked`]). A policy that does not receives none.
    fn can_resume(&self) -> bool {
        self.needed_abilities().suspend
    }

    /// Returns the abilities of the machine that it needs beyond starting jobs.
    fn needed_abilities(&self) -> Abilities {
        Abilities::default()
    }

    /// Gives the policy priorities of users, groups, queues and jobs, before the first event.
    ///
    /// # Errors
    /// The policy has no use for priorities, or was given others already.
    fn set_priorities(&mut self, _priorities: Priorities) -> Result<(), PriorityError> {
        Err(PriorityError::unused_error())
    }
}
