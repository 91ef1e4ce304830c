//! Passes of Slurm's schedulers in a build without the feature `sites`: none is simulated.

use drystone::engine::explain::StoryWords;
use drystone::model::{JobId, Time};
use drystone::policy::PolicySpec;
use serde::Serialize;

/// Verdict of a pass: no value exists.
#[derive(Serialize)]
pub(super) enum SharedVerdict {}

/// Returns `None`, the work not done: the policy is not Slurm's.
pub(super) fn hear_passes<R>(
    _spec: &PolicySpec,
    _job: JobId,
    _work: impl FnOnce() -> R,
) -> Option<(R, Vec<SharedVerdict>)> {
    None
}

/// Returns an empty text: no pass said anything.
pub(super) fn format_passes(_said: &[SharedVerdict], _submit: Time, _site: Option<&dyn StoryWords>) -> String {
    String::new()
}
