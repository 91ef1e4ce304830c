//! A policy written in Python, on the same contract as all others.

use crate::actions::PyActions;
use crate::objects::{HeldObject, copy_object, pickle_object, unpickle_object};
use crate::view::{JobEvent, PyView, ViewCall};
use crate::waiting::PyWaiting;
use drystone::model::Time;
use drystone::policy::{Abilities, Action, Actions, Policy, PolicyEvent, Snapshot, SnapshotError, StartRoom, View};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;

/// Traits that a class declares, read once.
#[derive(Clone, Copy, Default)]
struct ClassTraits {
    observes: bool,
    wakes: bool,
    suspends: bool,
    hears: bool,
    places: bool,
}

/// An object at work.
struct LiveObject {
    object: Py<PyAny>,
    view: Py<PyView>,
    actions: Py<PyActions>,
}

impl LiveObject {
    fn new(py: Python<'_>, holder: &HeldObject, object: Py<PyAny>) -> PyResult<LiveObject> {
        let actions = Py::new(py, PyActions::default())?;
        holder.record_requests(actions.clone_ref(py));
        let view = Py::new(py, PyView::new(py, actions.clone_ref(py))?)?;
        Ok(LiveObject { object, view, actions })
    }
}

/// The adapter: it keeps the waiting jobs and calls the object.
pub(crate) struct PyPolicy {
    held: Arc<HeldObject>,
    name: String,
    traits: ClassTraits,
    live: Option<LiveObject>,
    waiting: PyWaiting,
    wake: Option<Time>,
}

impl PyPolicy {
    pub(crate) fn new(holder: Arc<HeldObject>) -> PyPolicy {
        let traits = holder.call_object(|py| {
            let object = holder.object.bind(py);
            let is = |name: &str| -> PyResult<bool> {
                object.getattr_opt(name)?.map_or(Ok(false), |value| value.is_truthy())
            };
            let observes = object.hasattr("observe")?;
            // What looks at nothing but the view sees what the machine has become, whatever made it
            // so.
            let hears = if object.hasattr("hears")? { is("hears")? } else { !observes };
            let (suspends, places) = (is("suspends")?, is("places")?);
            // Where a suspended job may resume it does not know.
            let places = places && !suspends;
            Ok(ClassTraits { observes, wakes: object.hasattr("next_wake")?, suspends, hears, places })
        });
        let traits = traits.unwrap_or_else(|error| {
            holder.note_failure(error);
            ClassTraits::default()
        });
        let name = format!("python: {}", holder.identity);
        let waiting_jobs = PyWaiting { numbers: holder.job_numbers(), ..PyWaiting::default() };
        PyPolicy { held: holder, name, traits, live: None, waiting: waiting_jobs, wake: None }
    }

    /// The object that works here: a copy of the one that was given, made at the first event.
    fn live_object<'a>(
        live: &'a mut Option<LiveObject>,
        holder: &HeldObject,
        py: Python<'_>,
    ) -> PyResult<&'a LiveObject> {
        match live {
            Some(live) => Ok(live),
            empty => {
                let object = copy_object(py, holder)?;
                Ok(empty.insert(LiveObject::new(py, holder, object)?))
            }
        }
    }

    fn observe_event(&mut self, event: PolicyEvent, view: &View<'_>) -> PyResult<()> {
        let object = Arc::clone(&self.held);
        object.call_object(|py| {
            let live = PyPolicy::live_object(&mut self.live, &self.held, py)?;
            let event = Py::new(py, JobEvent::from_event(event))?;
            let call = ViewCall { world: view.world(), waiting: &self.waiting };
            call.with_view(live.view.get(), || {
                live.object.call_method1(py, intern!(py, "observe"), (event, &live.view))
            })?;
            Ok(())
        })
    }

    fn decide_actions(&mut self, view: &View<'_>, actions: &mut Actions) -> PyResult<()> {
        let object = Arc::clone(&self.held);
        object.call_object(|py| {
            let live = PyPolicy::live_object(&mut self.live, &self.held, py)?;
            let call = ViewCall { world: view.world(), waiting: &self.waiting };
            live.actions.get().open();
            let call_result = call.with_view(live.view.get(), || {
                live.object.call_method1(py, intern!(py, "decide"), (&live.view, &live.actions))
            });
            let requested_actions = live.actions.get().close();
            call_result?;
            let mut room = (self.traits.places && view.resources().is_some()).then(|| StartRoom::of_now(view));
            for action in requested_actions {
                if let Action::Start { job, .. } | Action::StartWith { job, .. } = action {
                    self.waiting.remove(job);
                }
                // What does not fit is for the session to refuse, in its words.
                let has_started = match (&mut room, &action) {
                    (Some(room), &Action::Start { job, why, .. }) if view.is_known(job) => {
                        room.start_job(job, why, view, actions)
                    }
                    _ => false,
                };
                if !has_started {
                    actions.push(action);
                }
            }
            if self.traits.wakes {
                let wake = live.object.call_method0(py, intern!(py, "next_wake"))?;
                let wake: Option<i64> = wake.extract(py).map_err(|_| {
                    PyTypeError::new_err("next_wake answers a time in seconds, as a whole number, or None")
                })?;
                self.wake = wake.map(Time);
            }
            Ok(())
        })
    }
}

impl Policy for PyPolicy {
    fn name(&self) -> &str {
        &self.name
    }

    fn observe(&mut self, event: PolicyEvent, view: &View<'_>) {
        match event {
            PolicyEvent::Arrived(id) | PolicyEvent::Released(id) => self.waiting.add_job(id, view),
            PolicyEvent::Cancelled(id) | PolicyEvent::Held(id) | PolicyEvent::Runs(id) => self.waiting.remove(id),
            PolicyEvent::Repredicted { job, .. } => self.waiting.update_prediction(job, view),
            _ => {}
        }
        if self.traits.observes
            && !self.held.has_failed()
            && let Err(error) = self.observe_event(event, view)
        {
            self.held.note_failure(error);
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.wake = None;
        if !self.held.has_failed()
            && let Err(error) = self.decide_actions(view, actions)
        {
            self.held.note_failure(error);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.wake
    }

    fn has_wake_ups(&self) -> bool {
        self.traits.wakes
    }

    fn can_hear_news(&self) -> bool {
        self.traits.hears
    }

    fn counts_resources(&self) -> bool {
        self.traits.places
    }

    fn places_on_nodes(&self) -> bool {
        self.traits.places
    }

    fn needed_abilities(&self) -> Abilities {
        Abilities { suspend: self.traits.suspends, ..Abilities::default() }
    }
}

impl Snapshot for PyPolicy {
    fn save(&self) -> Result<Vec<u8>, SnapshotError> {
        let state = pickle_object(&self.held, self.live.as_ref().map(|live| &live.object))?;
        let waiting_jobs = &self.waiting;
        let columns = [
            &waiting_jobs.id,
            &waiting_jobs.submit,
            &waiting_jobs.procs,
            &waiting_jobs.estimate,
            &waiting_jobs.prediction,
        ];
        // The wake-up is kept by the session; whether it was made yet tells a state from the
        // beginning.
        (state, columns.map(Clone::clone).to_vec(), self.wake.map(|wake| wake.0), self.live.is_some()).save()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        type Saved = (Vec<u8>, Vec<Vec<i64>>, Option<i64>, bool);
        let mut saved_state: Saved = (Vec::new(), Vec::new(), None, false);
        saved_state.load(bytes)?;
        let (state, columns, wake, at_work) = saved_state;
        let Ok([id, submit, procs, estimate, prediction]) = <[Vec<i64>; 5]>::try_from(columns) else {
            return Err(SnapshotError::Refused("the columns of the waiting jobs are damaged".to_string()));
        };
        let object = unpickle_object(&self.held, &state)?;
        self.live = if at_work {
            let live_object = Python::attach(|py| LiveObject::new(py, &self.held, object));
            Some(live_object.map_err(|e| SnapshotError::Refused(e.to_string()))?)
        } else {
            None
        };
        let version = self.waiting.version + 1;
        let numbers = self.waiting.numbers.take();
        self.waiting = PyWaiting { id, submit, procs, estimate, prediction, version, numbers };
        self.wake = wake.map(Time);
        Ok(())
    }
}
