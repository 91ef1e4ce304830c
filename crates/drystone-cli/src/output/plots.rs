//! Plots in a directory, for papers.

use super::charts::MISSING;
use super::file::{self, Complete, Folder};
use super::format::without;
use super::message;
use crate::exit::CommandFailure;
use crate::meta::VERSION;
use crate::waiting::WaitingNote;
use drystone_report::charts::{Drawing, MOST_TOGETHER, draw};
use drystone_report::{Figure, PLOTS, Results, draw_figures};
use serde_json::{Value, json};
use std::io;
use std::path::Path;

/// Width of every plot. PNG has two pixels per unit.
const WIDTH: u32 = 820;

/// Makes the directory, before the work begins. Where no plots come to be in it, it goes again with
/// what is answered.
pub(crate) fn prepare(directory: &Path) -> Result<Folder, CommandFailure> {
    if let Some(feature) = MISSING {
        return Err(without("--plots", feature));
    }
    Folder::create(directory).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => CommandFailure::usage(format_args!("{}: is no directory", directory.display())),
        _ => CommandFailure::write(&directory.display().to_string(), &e),
    })
}

/// Returns whether a directory has plots already. Says that they stay.
pub(crate) fn would_be_lost(directory: &Path) -> bool {
    let is_plot = |path: &Path| matches!(path.extension().and_then(|e| e.to_str()), Some("svg" | "pdf" | "png"));
    let found = directory.read_dir().is_ok_and(|entries| entries.flatten().any(|entry| is_plot(&entry.path())));
    if found {
        message::warning(&format!(
            "the plots in {} are left as they were: new ones would lack parts",
            directory.display()
        ));
    }
    found
}

/// Writes every plot that results have something for; the files still need their names.
pub(crate) fn write(directory: &Path, results: &Results) -> Result<Vec<Complete>, CommandFailure> {
    let _drawing = WaitingNote::new("drawing plots");
    let drawings = draw(results, WIDTH).map_err(CommandFailure::usage)?;
    let mut files = Vec::with_capacity(3 * drawings.len());
    drawings.iter().try_for_each(|drawing| write_one(directory, drawing, &mut files))?;
    let together = if results.policies.len() > MOST_TOGETHER {
        format!(" of the baseline and the best of {} policies; --policy chooses others", results.policies.len())
    } else {
        String::new()
    };
    message::note(&format!("{} plots in {}{together}", drawings.len(), directory.display()));
    Ok(files)
}

/// Writes a drawing in every format.
fn write_one(directory: &Path, drawing: &Drawing, files: &mut Vec<Complete>) -> Result<(), CommandFailure> {
    let place = |ending| directory.join(format!("{}.{ending}", drawing.id));
    files.push(file::write(&place("svg"), drawing.file().as_bytes())?);
    files.push(file::write(&place("pdf"), &drawing.pdf().map_err(CommandFailure::usage)?)?);
    files.push(file::write(&place("png"), &drawing.png(2.0).map_err(CommandFailure::usage)?)?);
    Ok(())
}

/// Makes the directory, and writes plots with their data as CSV; `about` is what determined them.
pub(crate) fn write_figures(directory: &Path, figures: &[Figure], about: &Value) -> Result<(), CommandFailure> {
    let _folder = prepare(directory)?;
    let determined = json!({ "schema": PLOTS, "drystone": VERSION, "of": about });
    let drawings = draw_figures(figures, &determined, WIDTH).map_err(CommandFailure::usage)?;
    let mut files = Vec::with_capacity(4 * drawings.len());
    for (drawing, figure) in drawings.iter().zip(figures) {
        write_one(directory, drawing, &mut files)?;
        files.push(file::write(&directory.join(format!("{}.csv", figure.id)), figure.csv().as_bytes())?);
    }
    file::publish(files)?;
    message::note(&format!("{} plots and their data in {}", drawings.len(), directory.display()));
    Ok(())
}
