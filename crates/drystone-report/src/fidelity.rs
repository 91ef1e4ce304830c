//! Plots of how faithful a simulation of a site is.

use crate::charts::{DrawError, Drawing, run};
use serde_json::Value;

/// Draws the plots of what `drystone fidelity --format json` writes.
///
/// # Errors
/// Mistakes in the JavaScript of the plots.
pub fn draw_fidelity(fidelity: &Value, width: u32) -> Result<Vec<Drawing>, DrawError> {
    run("drawFidelity", fidelity.to_string(), width)
}
