//! Plots in a directory, for papers.

use super::charts::MISSING;
use super::file::{self, Complete, Folder};
use super::format::missing_feature_error;
use super::message;
use crate::exit::CommandFailure;
use crate::meta::VERSION;
use crate::waiting::WaitingNote;
use drystone_report::charts::{Drawing, MOST_TOGETHER, draw_plots};
use drystone_report::{Figure, PLOTS, Results, draw_figures};
use serde_json::{Value, json};
use std::io;
use std::path::Path;

/// Width of every plot. PNG has two pixels per unit.
const WIDTH: u32 = 820;

/// Makes the directory, before the work begins. Where no plots come to be in it, it goes again with
/// what is answered.
pub(crate) fn prepare_folder(directory: &Path) -> Result<Folder, CommandFailure> {
    if let Some(feature) = MISSING {
        return Err(missing_feature_error("--plots", feature));
    }
    Folder::create(directory).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => {
            CommandFailure::usage_error(format_args!("{}: is no directory", directory.display()))
        }
        _ => CommandFailure::write_error(&directory.display().to_string(), &e),
    })
}

/// Returns whether a directory has plots already. Says that they stay.
pub(crate) fn would_be_lost(directory: &Path) -> bool {
    let is_plot = |path: &Path| matches!(path.extension().and_then(|e| e.to_str()), Some("svg" | "pdf" | "png"));
    let has_plots = directory.read_dir().is_ok_and(|entries| entries.flatten().any(|entry| is_plot(&entry.path())));
    if has_plots {
        message::print_warning(&format!(
            "the plots in {} are left as they were: new ones would lack parts",
            directory.display()
        ));
    }
    has_plots
}

/// Writes every plot that results have something for; the files still need their names.
pub(crate) fn write_plots(directory: &Path, results: &Results) -> Result<Vec<Complete>, CommandFailure> {
    let _drawing = WaitingNote::new("drawing plots");
    let drawings = draw_plots(results, WIDTH).map_err(CommandFailure::usage_error)?;
    let mut files = Vec::with_capacity(3 * drawings.len());
    drawings.iter().try_for_each(|drawing| write_one(directory, drawing, &mut files))?;
    let together = if results.policies.len() > MOST_TOGETHER {
        format!(" of the baseline and the best of {} policies; --policy chooses others", results.policies.len())
    } else {
        String::new()
    };
    message::print_note(&format!("{} plots in {}{together}", drawings.len(), directory.display()));
    Ok(files)
}

/// Writes a drawing in every format.
fn write_one(directory: &Path, drawing: &Drawing, files: &mut Vec<Complete>) -> Result<(), CommandFailure> {
    let place = |ending| directory.join(format!("{}.{ending}", drawing.id));
    files.push(file::write_bytes(&place("svg"), drawing.svg_file().as_bytes())?);
    files.push(file::write_bytes(&place("pdf"), &drawing.pdf_page().map_err(CommandFailure::usage_error)?)?);
    files.push(file::write_bytes(&place("png"), &drawing.png_image(2.0).map_err(CommandFailure::usage_error)?)?);
    Ok(())
}

/// Makes the directory, and writes plots with their data as CSV; `about` is what determined them.
pub(crate) fn write_figures(directory: &Path, figures: &[Figure], about: &Value) -> Result<(), CommandFailure> {
    let _folder = prepare_folder(directory)?;
    let inputs = json!({ "schema": PLOTS, "drystone": VERSION, "of": about });
    let drawings = draw_figures(figures, &inputs, WIDTH).map_err(CommandFailure::usage_error)?;
    let mut files = Vec::with_capacity(4 * drawings.len());
    for (drawing, figure) in drawings.iter().zip(figures) {
        write_one(directory, drawing, &mut files)?;
        files.push(file::write_bytes(&directory.join(format!("{}.csv", figure.id)), figure.render_csv().as_bytes())?);
    }
    file::publish_all(files)?;
    message::print_note(&format!("{} plots and their data in {}", drawings.len(), directory.display()));
    Ok(())
}
