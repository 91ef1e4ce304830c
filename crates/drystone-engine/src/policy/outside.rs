//! A policy that decides nothing, for a driver that decides outside.

use super::{Actions, Policy, PolicyEvent, View};
use serde::{Deserialize, Serialize};

/// Starts nothing and remembers nothing: decisions come from outside, by
/// [`Simulation::apply_actions`](crate::engine::Simulation::apply_actions) or
/// [`Session::apply_actions`](crate::engine::Session::apply_actions). For learning schedulers,
/// debuggers, and sessions that follow what another scheduler does.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Outside;

impl Policy for Outside {
    fn name(&self) -> &str {
        "outside"
    }

    fn observe(&mut self, _event: PolicyEvent, _view: &View<'_>) {}

    fn decide(&mut self, _view: &View<'_>, _actions: &mut Actions) {}

    fn has_wake_ups(&self) -> bool {
        false
    }

    fn can_hear_news(&self) -> bool {
        true
    }

    fn counts_resources(&self) -> bool {
        true
    }
}
