//! Settings of `slurm.conf` as a change, made to the text of a configuration.

use super::change::SiteChange;
use super::conf_text::ConfText;
use super::memory;
use super::premises::ApplyError;
use super::setting_text::{DEFAULT_MEMORY, MOST_MEMORY};
use super::state::{Applied, needs_slurm};
use drystone_slurm::conf::{Knob, merge_parameters};

/// Puts settings into the configuration of every pool.
pub(super) fn change_settings(
    state: &mut Applied,
    change: &SiteChange,
    assignments: &[(String, String)],
) -> Result<(), ApplyError> {
    needs_slurm(state, change, "settings of slurm.conf")?;
    let asks_memory = assignments.iter().any(|(key, _)| [DEFAULT_MEMORY, MOST_MEMORY].contains(&key.as_str()));
    let was: Vec<_> = state.premises.pools.iter().map(|pool| pool.conf.clone()).collect();
    for pool in &mut state.premises.pools {
        let Some(conf) = &pool.conf else { continue };
        let mut text = ConfText::from_text(conf);
        for (key, value) in assignments {
            match Knob::find_knob(key) {
                Some(knob) => {
                    let now = text.find_setting("SchedulerParameters").unwrap_or_default();
                    text.replace_setting("SchedulerParameters", &merge_parameters(&now, &[(knob.name, value)]));
                }
                None => text.replace_setting(key, value),
            }
        }
        text.parse_conf().map_err(|problem| ApplyError::new(change, problem))?;
        pool.conf = Some(text.render_text());
    }
    if asks_memory { memory::per_processor(state, change, &was) } else { Ok(()) }
}
