//! Plots of the waits that a site recorded.

use crate::charts::{DrawError, Drawing, run};
use serde_json::Value;

/// Draws the plots of what `drystone waits --format json` writes.
///
/// # Errors
/// Mistakes in the JavaScript of the plots.
pub fn draw_waits(waits: &Value, width: u32) -> Result<Vec<Drawing>, DrawError> {
    run("drawWaits", waits.to_string(), width)
}
