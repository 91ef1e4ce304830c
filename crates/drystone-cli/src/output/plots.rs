//! Plots in a directory, for papers.

use super::{file, message};
use crate::exit::Failure;
use drystone_report::Results;
use drystone_report::charts::{MOST_TOGETHER, draw};
use std::fs;
use std::path::Path;

/// Width of every plot. PNG has two pixels per unit.
const WIDTH: u32 = 820;

/// Makes the directory, before the work begins.
pub(crate) fn prepare(directory: &Path) -> Result<(), Failure> {
    fs::create_dir_all(directory).map_err(|e| Failure::usage(format_args!("{}: {e}", directory.display())))
}

/// Writes every plot that results have something for.
pub(crate) fn write(directory: &Path, results: &Results) -> Result<(), Failure> {
    let drawings = draw(results, WIDTH).map_err(Failure::usage)?;
    for drawing in &drawings {
        file::write(&directory.join(format!("{}.svg", drawing.id)), drawing.file().as_bytes())?;
        file::write(&directory.join(format!("{}.png", drawing.id)), &drawing.png(2.0).map_err(Failure::usage)?)?;
    }
    let together = if results.policies.len() > MOST_TOGETHER {
        format!(" of the baseline and the best of {} policies; --policy chooses others", results.policies.len())
    } else {
        String::new()
    };
    message::note(&format!("{} plots in {}{together}", drawings.len(), directory.display()));
    Ok(())
}
