//! The state of a session as bytes.

use super::origin::SchedulerOrigin;
use super::{Session, SessionState};
use crate::model::Time;
use crate::snapshot::{self, Contents, SnapshotError};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct SavedSession {
    origin: SchedulerOrigin,
    state: SessionState,
    policy: Vec<u8>,
    predictor: Vec<u8>,
    /// Not read again: since its last decision the policy may have received an event that leads to
    /// no decision.
    wake: Time,
    /// The policy's own, where sizes and power also wake it.
    policy_wake: Time,
    /// Woken since then.
    woken: bool,
}

impl Session {
    /// The whole state, behind a header that names its layout ([`LAYOUT`](crate::snapshot::LAYOUT))
    /// and the version that wrote it.
    ///
    /// # Errors
    /// A policy or predictor that cannot be saved, now or as it was before the first event.
    pub fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        let saved_session = SavedSession {
            origin: self.origin.clone()?,
            state: self.s.clone(),
            policy: self.scheduler.policy.save()?,
            predictor: self.scheduler.forecast.predictor.save()?,
            wake: self.wake,
            policy_wake: self.policy_wake,
            woken: self.woken,
        };
        snapshot::write_state(Contents::Session, &saved_session)
    }

    /// Goes on from a saved state of a session with the same scheduler, on the machine of that
    /// time. Whether something has happened since its last decision is not kept: unless the state
    /// was saved right after one, the next thing to call is [`Session::decide`].
    ///
    /// # Errors
    /// Bytes that are no such state, that were written in another layout, or that are the state of
    /// a session with another scheduler. The session is then unchanged.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let saved_session: SavedSession = snapshot::read_state(Contents::Session, bytes)?;
        // A policy's state has its choices in it: it would go on as the policy that it was saved
        // by.
        self.origin.clone()?.same_as(&saved_session.origin)?;
        let predictor = &mut self.scheduler.forecast.predictor;
        let before = predictor.save()?;
        predictor.load(&saved_session.predictor)?;
        // Either both are new or none: what refuses its bytes is unchanged.
        if let Err(error) = self.scheduler.policy.load(&saved_session.policy) {
            predictor.load(&before)?;
            return Err(error);
        }
        // Its settings of work, and its listeners, are no part of its identity.
        if self.listened {
            self.scheduler.policy.enable_notes();
        }
        self.scheduler.policy.set_threads(self.threads);
        let shapes = self.s.world.shapes.take();
        self.s = saved_session.state;
        if let (Some(shapes), Some(before)) = (&mut self.s.world.shapes, &shapes) {
            shapes.adopt_tables(before);
        }
        self.s.world.meet_needs();
        self.actions.clear();
        (self.wake, self.woken) = (saved_session.wake, saved_session.woken);
        self.policy_wake = saved_session.policy_wake;
        self.note_expiry();
        Ok(())
    }
}
