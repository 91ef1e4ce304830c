//! One turn: look, journal, decide, journal, order, journal.

use super::{AFTER_WAKE, BACKOFF, BEAT, Daemon, DaemonEnd};
use crate::clock::{DaemonClock, processor_time};
use crate::cluster::{
    Cluster, ClusterError, ClusterOrder, ClusterSnapshot, HookMark, JobFact, JobKey, JobName, JobState, OrderOutcome,
    PendingReason, Want, seen_by,
};
use crate::core::{CoreError, CoreInput, CoreOutput};
use crate::error::LiveError;
use crate::hand_back::HandBackOptions;
use crate::journal::{Begin, JournalError, JournalRecord, SegmentWriter};
use crate::state::{LedgerLine, write_whole};
use crate::tracker::{DaemonMode, Delta, HookMessage, WakePosition};
use drystone::policy::Action;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

/// The state is saved after this many records or so much time.
const SAVE: (u64, Duration) = (1_000, Duration::from_secs(600));
/// Interval of publication, with and without readers.
const TELL: Duration = Duration::from_secs(1);
const TELL_NOBODY: Duration = Duration::from_secs(5);
/// Milliseconds without a start, with room and with vain releases: for an alarm, and for a
/// hand-back.
const STALL: (u64, u64) = (60_000, 180_000);
/// Duration of a look from which the log says so.
const LONG: Duration = Duration::from_secs(5);
/// Time after which an order shows.
const SOON: Duration = Duration::from_millis(400);
/// Message for a disk that is full but for the reserve of hand-back.
const NO_SPACE: &str = "no space left for the journal";

/// Numbers of the jobs that are held as by their users, and bear no mark of the hook.
fn unmarked_holds(delta: &Delta) -> BTreeSet<u64> {
    let pending = delta.changed.iter().filter(|fact| fact.state == JobState::Pending && fact.held);
    let unmarked_jobs = pending.filter(|fact| fact.reason == PendingReason::UserHold && fact.mark == HookMark::None);
    unmarked_jobs.map(|fact| fact.id).collect()
}

impl<C: Cluster, K: DaemonClock> Daemon<C, K> {
    /// One turn. Returns how the daemon has ended, if it has.
    ///
    /// # Errors
    /// The error, with that of the hand-back if it also failed.
    pub fn run_turn(&mut self) -> Result<Option<DaemonEnd>, LiveError> {
        let end = match self.try_turn() {
            Ok(end) => return Ok(end),
            Err(LiveError::Core(CoreError::Violation(violation))) => DaemonEnd::Violation(violation.to_string()),
            Err(LiveError::Cluster(error @ ClusterError::Broken(_))) => return Err(error.into()),
            Err(error) => DaemonEnd::GaveBack(error.to_string()),
        };
        let (DaemonEnd::Violation(why) | DaemonEnd::GaveBack(why)) = &end else { return Ok(Some(end)) };
        let (why, mode) = (why.clone(), self.config.mode);
        tracing::error!(why, "cannot go on");
        // On a full disk this fails as well.
        let _ = self.write_note(&format!("cannot go on: {why}"));
        if mode == DaemonMode::Drive {
            self.give_back(&HandBackOptions::default())?;
        }
        Ok(Some(end))
    }

    fn try_turn(&mut self) -> Result<Option<DaemonEnd>, LiveError> {
        if self.heartbeat.as_ref().is_some_and(|beat| !beat.is_mine()) {
            return Ok(Some(DaemonEnd::Fenced));
        }
        if let Some((at, stamp)) = self.tick_due() {
            let output = self.feed_input(at, &CoreInput::Tick(stamp))?;
            return self.carry_out(at, &output);
        }
        self.due = Duration::MAX;
        let begin_time = self.clock.steady_time();
        let end = self.look_at_cluster();
        let now = self.clock.steady_time();
        let took = now.saturating_sub(begin_time);
        if took >= LONG {
            let answer = self.heard.map_or(took, |contact| contact.saturating_sub(begin_time));
            tracing::warn!(seconds = took.as_secs_f64(), answer = answer.as_secs_f64(), "a look took long");
        }
        let own = processor_time();
        let look_cost = std::mem::take(&mut self.looked) + self.cluster.take_call_cost();
        let total_cost = look_cost + own.saturating_sub(std::mem::replace(&mut self.charged, own));
        self.budget.spend_cost(now, total_cost);
        let delay = self.budget.take_delay();
        if !self.stats.silent {
            // One that came while nodes cleaned up is repeated once.
            let is_early = std::mem::take(&mut self.after_end) && self.leaves;
            let soon = if self.soon { SOON } else { Duration::MAX };
            let soon = if is_early { AFTER_WAKE } else { soon };
            let soon = if self.budget.allows_look(now) { soon } else { Duration::MAX };
            self.due = self.due.min(now + self.budget.look_period().min(soon).max(delay));
        }
        self.publish_state(now);
        let duration = self.clock.steady_time().saturating_sub(now);
        if duration >= LONG {
            tracing::warn!(seconds = duration.as_secs_f64(), "telling people took long");
        }
        self.beat_between(now + duration);
        if matches!(end, Ok(None)) {
            (0..self.desks.len()).for_each(|at| self.write_remarks(at, now));
        }
        end
    }

    /// Looks, and does what follows.
    fn look_at_cluster(&mut self) -> Result<Option<DaemonEnd>, LiveError> {
        let lines = self.wake.read_lines().map_err(LiveError::io_error(self.config.home.wake_path().display()))?;
        let messages: Vec<(WakePosition, HookMessage)> =
            lines.iter().filter_map(|(behind, line)| Some((*behind, HookMessage::parse(line)?))).collect();
        self.note_users(&messages)?;
        let places = self.desks.iter().flat_map(|desk| desk.core.tracker().wanted_details().places);
        let snapshot = match self.cluster.observe(&Want { places: places.collect() }) {
            Ok(snapshot) => snapshot,
            Err(error @ ClusterError::Broken(_)) => return Err(error.into()),
            Err(error) => {
                self.is_silent(&error, messages)?;
                return Ok(None);
            }
        };
        self.note_answer();
        self.leaves = snapshot.jobs.iter().any(|fact| fact.leaving);
        // What follows may take long on a busy machine.
        self.beat_between(self.clock.steady_time());
        self.count_missed(&snapshot);
        self.note_new_nodes(&snapshot)?;
        let mut all_messages = std::mem::take(&mut self.unheard);
        all_messages.extend(messages);
        let mut end = None;
        self.soon = false;
        for at in 0..self.desks.len() {
            if end.is_none() {
                end = self.look_at_set(at, &snapshot, &all_messages)?;
            }
        }
        if end.is_none() && !self.send_beat()? {
            end = Some(DaemonEnd::Fenced);
        }
        self.save_if_due()?;
        Ok(end)
    }

    /// Takes in what concerns one set of nodes, and does what follows.
    fn look_at_set(
        &mut self,
        at: usize,
        snapshot: &ClusterSnapshot,
        messages: &[(WakePosition, HookMessage)],
    ) -> Result<Option<DaemonEnd>, LiveError> {
        let (stamp, core) = (self.current_stamp(at), &self.desks[at].core);
        let mut own_snapshot = seen_by(&self.config.sets, at, snapshot);
        self.deduct_ordered_licences(at, &mut own_snapshot);
        let delta = core.tracker().mirror().diff_snapshot(&own_snapshot);
        let tracker = core.tracker();
        let is_due = core.next_deadline().is_some_and(|due| due <= stamp.session_time());
        let is_due = is_due || tracker.is_waiting() || tracker.is_undecided() || !tracker.has_begun();
        let mut end = None;
        let (has_heard, heard_position) = (self.desks[at].heard, self.wake.position());
        let messages = messages.iter().filter(|(behind, _)| !behind.is_within(has_heard)).map(|&(_, message)| message);
        let messages: Vec<HookMessage> = messages.collect();
        self.desks[at].heard = heard_position;
        if !delta.is_empty() || !messages.is_empty() || is_due {
            self.note_marks(&delta)?;
            let held_jobs = unmarked_holds(&delta);
            let output =
                self.feed_input(at, &CoreInput::Facts { stamp, delta, told: messages, heard: heard_position })?;
            self.note_holds(at, &held_jobs)?;
            end = self.carry_out(at, &output)?;
        }
        self.watch_for_a_stall(at)?;
        self.note_hopeless(at)?;
        Ok(end)
    }

    /// Takes from the free licences that one set sees those that jobs of other sets have been
    /// ordered to start with: sets that decide on one look do not both give the last one away.
    fn deduct_ordered_licences(&self, at: usize, snapshot: &mut Cow<'_, ClusterSnapshot>) {
        let rival_desks = self.desks.iter().enumerate().filter(|&(place, _)| place != at);
        for (name, count) in rival_desks.flat_map(|(_, desk)| desk.core.tracker().ordered_licences()) {
            let mut licences = snapshot.to_mut().licences.iter_mut();
            if let Some(licence) = licences.find(|licence| licence.name == name) {
                licence.free = licence.free.saturating_sub(count);
            }
        }
    }

    /// No job may wait for no reason: an alarm after a minute in which released jobs did not start
    /// although there is room, a hand-back after three.
    fn watch_for_a_stall(&mut self, at: usize) -> Result<(), LiveError> {
        if self.config.mode == DaemonMode::Shadow {
            return Ok(());
        }
        let desk = &mut self.desks[at];
        let stall_seconds = desk.core.tracker().stalls_for().unwrap_or(0);
        let was = std::mem::replace(&mut desk.stalled, stall_seconds >= STALL.0);
        self.stats.stalled = self.desks.iter().any(|desk| desk.stalled);
        if stall_seconds < STALL.0 {
            return Ok(());
        }
        let way = self.desks[at].core.tracker().first_in_the_way();
        let way = way.map_or_else(String::new, |(key, is_left)| {
            let aside = if is_left { ", which is left to the cluster," } else { "" };
            format!("; job {0}{aside} waits for room before them: `scontrol hold {0}` lets them pass", key.name())
        });
        let stall =
            format!("released jobs have not started for {} s although processors are idle{way}", stall_seconds / 1_000);
        if stall_seconds >= STALL.1 {
            return Err(LiveError::Doubt(stall));
        }
        if !was {
            tracing::warn!("{stall}");
            self.note_of(at, &format!("{stall}; everything is given back if that lasts"))?;
        }
        Ok(())
    }

    /// Says once of each kind of job that it will not start, one at a look.
    fn note_hopeless(&mut self, at: usize) -> Result<(), LiveError> {
        if self.config.mode == DaemonMode::Shadow {
            return Ok(());
        }
        let desk = &mut self.desks[at];
        let new = desk.core.tracker().hopeless_jobs().into_iter().find(|(key, _)| !desk.hopeless.contains(key));
        let Some((key, reason)) = new else { return Ok(()) };
        desk.hopeless.insert(key);
        tracing::warn!(job = key.name(), why = reason.reason_text(), "cannot start");
        let text = format!(
            "job {} cannot start: {}; it is tried again after growing pauses",
            key.name(),
            reason.reason_text()
        );
        self.note_of(at, &text)
    }

    /// Notes in the ledger what the hook did with new jobs: their comments, which say so, may be
    /// overwritten.
    fn note_marks(&mut self, delta: &Delta) -> Result<(), LiveError> {
        if self.config.mode == DaemonMode::Shadow {
            return Ok(());
        }
        let standing = self.ledger.standing();
        let pending = delta.changed.iter().filter(|fact| fact.state == JobState::Pending);
        let entry = |fact: &JobFact| {
            let (name, key) =
                (JobName { id: fact.id, task: None }, JobKey { id: fact.id, task: None, submit: fact.submit });
            match fact.mark {
                HookMark::Held => (!standing.marked.contains(&key)).then_some(LedgerLine::Marked(key)),
                HookMark::User => (!standing.users.knows_job(fact.id)).then_some(LedgerLine::UserHold(name)),
                HookMark::None => None,
            }
        };
        let mut entries: Vec<LedgerLine> = pending.filter_map(entry).collect();
        // The tasks of an array have one line.
        entries.dedup();
        self.ledger.add_entries(&entries).map_err(LiveError::io_error(NO_SPACE))
    }

    /// Notes users' holds from before the daemon came, of which no hook told.
    fn note_holds(&mut self, at: usize, holds: &BTreeSet<u64>) -> Result<(), LiveError> {
        if self.config.mode == DaemonMode::Shadow || holds.is_empty() {
            return Ok(());
        }
        let (standing, tracker) = (self.ledger.standing(), self.desks[at].core.tracker());
        let is_theirs = |key: &JobKey| tracker.find_job(*key).is_some_and(|job| job.user_hold);
        let mut entries = Vec::new();
        for &id in holds.iter().filter(|&&id| !standing.users.knows_job(id)) {
            let keys: Vec<JobKey> = tracker.mirror().of_array(id).flat_map(JobFact::job_keys).collect();
            if keys.iter().all(is_theirs) {
                entries.push(LedgerLine::UserHold(JobName { id, task: None }));
            } else {
                let user_keys = keys.into_iter().filter(is_theirs);
                entries.extend(user_keys.map(|key| LedgerLine::UserHold(JobName { id, task: key.task })));
            }
        }
        self.ledger.add_entries(&entries).map_err(LiveError::io_error(NO_SPACE))
    }

    /// Notes what the hook said in the ledger, where a hand-back needs it.
    fn note_users(&mut self, messages: &[(WakePosition, HookMessage)]) -> Result<(), LiveError> {
        if self.config.mode == DaemonMode::Shadow {
            return Ok(());
        }
        let standing = self.ledger.standing();
        let is_flying = |name| self.desks.iter().any(|desk| desk.core.tracker().is_own_hold(name));
        let is_own = |name| standing.holds_any(name) || is_flying(name);
        let has_word = |name: JobName| self.desks.iter().any(|desk| desk.core.tracker().has_word_on(name.id));
        // Jobs whose marks were overwritten before the first look at them, and that looked like
        // held by their users.
        let misread = messages.iter().filter_map(|(_, line)| match *line {
            HookMessage::Overwritten(name) if standing.users.knows_job(name.id) && !has_word(name) => {
                Some(LedgerLine::UserRelease(name))
            }
            _ => None,
        });
        let misread: Vec<LedgerLine> = misread.collect();
        let entries: Vec<LedgerLine> = misread
            .into_iter()
            .chain(messages.iter().filter_map(|(_, line)| match *line {
                HookMessage::Hold(name) => Some(LedgerLine::UserHold(name)),
                HookMessage::Release(name) => Some(LedgerLine::UserRelease(name)),
                HookMessage::Overwritten(name) => Some(LedgerLine::Overwritten(name)),
                HookMessage::Keep(name) => Some(LedgerLine::OperatorHold(name)),
                HookMessage::Rehold(name) => (!is_own(name)).then_some(LedgerLine::OperatorHold(name)),
            }))
            .chain((!messages.is_empty()).then(|| LedgerLine::Heard(self.wake.position())))
            .collect();
        self.ledger.add_entries(&entries).map_err(LiveError::io_error(NO_SPACE))
    }

    /// The cluster does not answer: nothing is concluded, nothing decided, and no clock of an order
    /// goes on.
    fn is_silent(&mut self, error: &ClusterError, messages: Vec<(WakePosition, HookMessage)>) -> Result<(), LiveError> {
        self.unheard.extend(messages);
        self.stats.failures += 1;
        if !self.stats.silent {
            tracing::warn!(%error, "the cluster does not answer");
            self.write_note(&error.to_string())?;
        }
        self.stats.silent = true;
        self.heard = None;
        self.due = self.clock.steady_time() + self.backoff;
        self.backoff = (self.backoff * 2).min(BACKOFF.1);
        Ok(())
    }

    /// It answers.
    fn note_answer(&mut self) {
        if self.stats.silent {
            tracing::info!("the cluster answers again");
        }
        let now = self.clock.steady_time();
        // From one answer to the next, as long as none is missing between them.
        self.answered += self.heard.map_or(Duration::from_millis(1), |contact| now.saturating_sub(contact));
        (self.heard, self.backoff, self.stats.silent) = (Some(now), BACKOFF.0, false);
        self.stats.looks += 1;
    }

    /// Journals what goes in, and takes it in.
    pub(super) fn feed_input(&mut self, at: usize, input: &CoreInput) -> Result<CoreOutput, LiveError> {
        self.write_record(at, &JournalRecord::In(input.clone()))?;
        self.pass_point("facts")?;
        let begin_time = self.clock.steady_time();
        let output = self.desks[at].core.take_input(input)?;
        let took = self.clock.steady_time().saturating_sub(begin_time);
        if took >= LONG {
            let waiting_count = self.desks[at].core.session().view().waiting_jobs().count();
            tracing::warn!(seconds = took.as_secs_f64(), waiting_count, "a decision took long");
        }
        self.pass_point("decided")?;
        Ok(output)
    }

    /// Carries out what came out: intents to disk, then orders, then what came of them.
    fn carry_out(&mut self, at: usize, output: &CoreOutput) -> Result<Option<DaemonEnd>, LiveError> {
        if output.is_empty() {
            return Ok(None);
        }
        self.count_output(at, output);
        if self.config.mode == DaemonMode::Drive && !output.orders.is_empty() {
            self.note_ledger(output)?;
        }
        self.write_record(at, &JournalRecord::Out(output.clone()))?;
        self.note_given_nodes(at, output)?;
        if let Some(doubt) = &output.doubt {
            self.desks[at].journal.sync()?;
            return Err(LiveError::Doubt(doubt.clone()));
        }
        if output.orders.is_empty() || self.config.mode == DaemonMode::Shadow {
            return Ok(None);
        }
        self.desks[at].journal.sync()?;
        self.pass_point("intents")?;
        let Some(outcomes) = self.send_orders(&output.orders) else { return Ok(Some(DaemonEnd::Fenced)) };
        self.pass_point("orders")?;
        for (order, outcome) in output.orders.iter().zip(&outcomes) {
            self.hear_outcome(order, outcome);
        }
        self.feed_input(at, &CoreInput::Outcomes(outcomes))?;
        self.pass_point("outcomes")?;
        self.soon = true;
        Ok(None)
    }

    /// Orders, as long as the fence stands; `None` where it has fallen.
    fn send_orders(&mut self, orders: &[ClusterOrder]) -> Option<Vec<OrderOutcome>> {
        self.looked += self.cluster.take_call_cost();
        let (heartbeat, faults, clock, last_beat) = (&self.heartbeat, &mut self.faults, &self.clock, &mut self.beaten);
        let mut is_fenced = false;
        let mut may = || {
            faults.pass_point("pins");
            let is_mine = heartbeat.as_ref().is_some_and(super::Heartbeat::is_mine);
            is_fenced |= !is_mine;
            faults.pass_point("fence");
            // Many commands take their time; the cluster has answered.
            let now = clock.steady_time();
            if is_mine && now.saturating_sub(*last_beat) >= BEAT {
                *last_beat = now;
                let _ = heartbeat.as_ref().map(|heartbeat| heartbeat.beat(clock.wall_seconds()));
            }
            is_mine
        };
        let outcomes = self.cluster.execute_orders(orders, &mut may);
        self.budget.spend_on_orders(self.cluster.take_call_cost());
        (!is_fenced).then_some(outcomes)
    }

    /// Notes what a hand-back must know of these orders. If its user has held a job and we hold it
    /// now, an operator has released it in between, and the hook passes over operators.
    fn note_ledger(&mut self, output: &CoreOutput) -> Result<(), LiveError> {
        let entry = |order: &ClusterOrder| match *order {
            ClusterOrder::Hold(key) => Some(LedgerLine::Held(key)),
            ClusterOrder::Suspend(key) => Some(LedgerLine::Suspended(key)),
            ClusterOrder::Pin { key, .. } => Some(LedgerLine::Pinned(key)),
            _ => None,
        };
        let standing = self.ledger.standing();
        let new = |entry: &LedgerLine| match entry {
            LedgerLine::Held(key) => !standing.held.contains(key),
            LedgerLine::Suspended(key) => !standing.suspended.contains(key),
            LedgerLine::Pinned(key) => !standing.pinned.contains(key),
            _ => true,
        };
        let is_user_held =
            |key| self.desks.iter().any(|desk| desk.core.tracker().find_job(key).is_some_and(|job| job.user_hold));
        let is_said_held = |key| standing.users.is_held(key) || standing.operators.is_held(key);
        let release_line = |order: &ClusterOrder| match *order {
            ClusterOrder::Hold(key) if is_said_held(key) && !is_user_held(key) => {
                Some(LedgerLine::OperatorRelease(JobName { id: key.id, task: key.task }))
            }
            _ => None,
        };
        let entries = output.orders.iter().filter_map(entry).filter(new);
        let entries: Vec<LedgerLine> = entries.chain(output.orders.iter().filter_map(release_line)).collect();
        self.pass_point("ledger")?;
        self.ledger.add_entries(&entries).map_err(LiveError::io_error(NO_SPACE))
    }

    fn count_output(&mut self, at: usize, output: &CoreOutput) {
        self.stats.decisions += u64::from(!output.decided.is_empty());
        for decision in &output.decided {
            if let (Action::Start { why, .. }, Some(key)) = (decision.action, decision.key) {
                let would = self.config.mode == DaemonMode::Shadow;
                // A shadow proposes a start at each look until the cluster starts the job.
                if would && !self.desks[at].proposed.insert(key) {
                    continue;
                }
                self.stats.starts += 1;
                tracing::info!(job = key.name(), why = ?why, "{}", if would { "would start" } else { "start" });
            }
        }
    }

    fn hear_outcome(&mut self, order: &ClusterOrder, outcome: &OrderOutcome) {
        let (verb, job) = (order.verb(), order.job_key().name());
        let word = match outcome {
            OrderOutcome::Done => "done",
            OrderOutcome::Refused(why) => {
                tracing::warn!(job, verb, why, "refused");
                let at = self.clock.wall_seconds();
                self.stats.note_text(at, &format!("{verb} of job {job} was refused: {why}"));
                "refused"
            }
            OrderOutcome::Unknown => {
                tracing::warn!(job, verb, "not known to be carried out");
                "unknown"
            }
        };
        tracing::debug!(job, verb, outcome = word, "order");
        self.stats.count_order(verb, word);
    }

    /// Beats between two looks that are far apart and within a long one, as long as the cluster
    /// answers: the daemon is there. A beat that fails is seen at the next look.
    pub(super) fn beat_between(&mut self, now: Duration) {
        if self.stats.silent || self.heard.is_none() || now.saturating_sub(self.beaten) < BEAT {
            return;
        }
        self.beaten = now;
        let wall = self.clock.wall_seconds();
        if let Some(heartbeat) = &self.heartbeat {
            let _ = heartbeat.beat(wall);
        }
    }

    /// Beats, once a look was answered and a decision came. Returns whether this daemon still
    /// drives.
    fn send_beat(&mut self) -> Result<bool, LiveError> {
        self.beaten = self.clock.steady_time();
        let wall = self.clock.wall_seconds();
        let Some(heartbeat) = &self.heartbeat else { return Ok(true) };
        let is_mine = heartbeat.beat(wall).map_err(LiveError::io_error(self.config.home.heartbeat_path().display()))?;
        self.pass_point("beat")?;
        Ok(is_mine)
    }

    pub(super) fn write_note(&mut self, text: &str) -> Result<(), LiveError> {
        let wall = self.clock.wall_seconds();
        self.stats.note_text(wall, text);
        self.write_record(0, &JournalRecord::Note { at: self.current_stamp(0).now, text: text.to_string() })
    }

    /// Writes something of one set for people.
    pub(super) fn note_of(&mut self, at: usize, text: &str) -> Result<(), LiveError> {
        let wall = self.clock.wall_seconds();
        let several = self.desks.len() > 1;
        let note = if several { format!("{}: {text}", self.desks[at].set.name()) } else { text.to_string() };
        self.stats.note_text(wall, &note);
        self.write_record(at, &JournalRecord::Note { at: self.current_stamp(at).now, text: text.to_string() })
    }

    fn write_record(&mut self, at: usize, record: &JournalRecord) -> Result<(), LiveError> {
        Ok(self.desks[at].journal.write_record(record)?)
    }

    fn pass_point(&mut self, point: &'static str) -> Result<(), LiveError> {
        if self.faults.pass_point(point) {
            let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
            return Err(LiveError::Journal(JournalError::Io {
                path: self.desks[0].journal.path().to_path_buf(),
                error: full,
            }));
        }
        Ok(())
    }

    fn save_if_due(&mut self) -> Result<(), LiveError> {
        let mut has_saved = false;
        for at in 0..self.desks.len() {
            has_saved |= self.save_set(at)?;
        }
        if !has_saved {
            return Ok(());
        }
        let trackers = || self.desks.iter().map(|desk| desk.core.tracker());
        let live = |key: &crate::cluster::JobKey| trackers().any(|tracker| tracker.find_job(*key).is_some());
        let numbers: BTreeSet<u64> = trackers().flat_map(|tracker| tracker.jobs().map(|job| job.key.id)).collect();
        // What is not forgotten is only too much.
        let result = self.ledger.forget_jobs(live, |number| numbers.contains(&number));
        let path = self.config.home.ledger_path();
        self.does_without(&path, &result);
        Ok(())
    }

    /// Saves the state of one set, if that is due.
    fn save_set(&mut self, at: usize) -> Result<bool, LiveError> {
        let (now, desk) = (self.clock.steady_time(), &mut self.desks[at]);
        if desk.journal.records() - desk.saved.1 < SAVE.0 && now.saturating_sub(desk.saved.0) < SAVE.1 {
            return Ok(false);
        }
        let state = desk.core.save()?;
        if desk.journal.is_large() {
            self.begin_segment(at, state)?;
        } else {
            desk.journal.sync()?;
            let name = desk.journal.path().file_name();
            let snapshot = super::resume::SavedSnapshot {
                segment: name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
                offset: desk.journal.length(),
                heard: desk.heard,
                state,
            };
            let (bytes, path) = (snapshot.to_bytes()?, desk.home.snapshot_path());
            self.pass_point("snapshot")?;
            // Without it a restart reads more of the journal.
            let result = write_whole(&path, &bytes, true);
            if !self.does_without(&path, &result) {
                let desk = &mut self.desks[at];
                desk.saved = (now, desk.journal.records());
                return Ok(false);
            }
            self.pass_point("saved")?;
        }
        let desk = &mut self.desks[at];
        let tracker = desk.core.tracker();
        desk.proposed.retain(|key| tracker.find_job(*key).is_some());
        desk.hopeless.retain(|key| tracker.find_job(*key).is_some());
        desk.givers.retain(|(key, _)| tracker.find_job(*key).is_some());
        desk.saved = (now, desk.journal.records());
        Ok(true)
    }

    fn begin_segment(&mut self, at: usize, state: Vec<u8>) -> Result<(), LiveError> {
        let (wall, now) = (self.clock.wall_seconds(), self.current_stamp(at).now);
        let (config, desk) = (&self.config, &mut self.desks[at]);
        let begin = Begin {
            version: env!("CARGO_PKG_VERSION").into(),
            policy: config.policy.canonical_text(),
            settings: desk.core.tracker().settings().clone(),
            layout: desk.core.tracker().layout().clone(),
            cluster: config.cluster.clone(),
            instance: config.instance.clone(),
            time: wall,
            offset: now - wall,
            heard: desk.heard,
            state: Some(state),
        };
        desk.journal = SegmentWriter::begin_segment(desk.journal.folder(), begin)?;
        self.pass_point("segment")
    }

    /// Says once of each node that has come to a driven partition that no job of the policy starts
    /// there: the machine stays as it was at the start.
    fn note_new_nodes(&mut self, snapshot: &ClusterSnapshot) -> Result<(), LiveError> {
        let new = snapshot.nodes.iter().map(|node| &node.name).filter(|name| !self.known_nodes.contains(*name));
        for name in new.cloned().collect::<Vec<String>>() {
            tracing::warn!(node = name, "is new, and not used before the daemon is started again");
            self.write_note(&format!("node {name} is new: start the daemon again to use it"))?;
            self.known_nodes.insert(name);
        }
        Ok(())
    }

    /// Numbers of jobs are consecutive: those between the highest of two looks that are not listed
    /// came and went unseen.
    fn count_missed(&mut self, snapshot: &ClusterSnapshot) {
        let numbers: BTreeSet<u64> = snapshot.jobs.iter().map(|fact| fact.number).collect();
        let Some(&last) = numbers.last() else { return };
        if let Some(highest) = self.highest.filter(|&highest| highest < last) {
            let listed_count = numbers.range(highest + 1..).count() as u64;
            self.stats.missed += (last - highest).saturating_sub(listed_count);
        }
        self.highest = Some(self.highest.map_or(last, |highest| highest.max(last)));
    }

    fn publish_state(&mut self, now: Duration) {
        let every = if self.board.is_watched() { TELL } else { TELL_NOBODY };
        if self.told.is_some_and(|last| now.saturating_sub(last) < every) {
            return;
        }
        self.told = Some(now);
        for desk in &mut self.desks {
            desk.differences = crate::board::list_differences(&desk.core).len() as u64;
            // Looks are not charged with it.
            self.charged += desk.foretell.update_forecasts(desk.core.session(), now);
        }
        self.stats.differences = self.desks.iter().map(|desk| desk.differences).sum();
        let sets = self.desks.iter().enumerate();
        let text = self.board.publish_document(&crate::board::BoardSource {
            sets: sets.map(|(at, desk)| (desk, self.current_stamp(at).session_time())).collect(),
            stats: &self.stats,
            budget: &self.budget,
            config: &self.config,
            wall: self.clock.wall_seconds(),
        });
        if self.written.is_none_or(|last_write| now.saturating_sub(last_write) >= TELL_NOBODY) {
            self.written = Some(now);
            let path = self.config.home.status_path();
            let result = write_whole(&path, text.as_bytes(), false);
            self.does_without(&path, &result);
        }
    }

    /// Says once that a file cannot be written that no job depends on. The daemon goes on: journal,
    /// ledger and heartbeat protect the jobs. Returns whether the file is written.
    fn does_without(&mut self, path: &Path, result: &io::Result<()>) -> bool {
        let wall = self.clock.wall_seconds();
        let name = path.display();
        match result {
            Ok(()) => {
                if self.unwritten.remove(path) {
                    tracing::info!(path = %name, "is written again");
                    self.stats.note_text(wall, &format!("{name} is written again"));
                }
                true
            }
            Err(error) => {
                if self.unwritten.insert(path.to_path_buf()) {
                    tracing::warn!(path = %name, %error, "cannot be written, and is done without");
                    self.stats
                        .note_text(wall, &format!("{name} cannot be written: {error}; jobs go on, make room there"));
                }
                false
            }
        }
    }
}
