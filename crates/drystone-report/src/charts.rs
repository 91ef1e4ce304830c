//! Plots without a browser: the same that pages show, as SVG, PDF and PNG.

use crate::html::escape_html;
use crate::results::Results;
use serde::Deserialize;
use serde_json::Value;

#[cfg(feature = "charts")]
mod drawn;
#[cfg(feature = "charts")]
mod glyphs;
#[cfg(feature = "charts")]
mod pdf;
#[cfg(feature = "charts")]
pub(crate) use drawn::run_drawing;
#[cfg(not(feature = "charts"))]
mod absent;
#[cfg(not(feature = "charts"))]
pub(crate) use absent::run_drawing;

pub(crate) const SCRIPT: &str = include_str!("../assets/plots.js");
/// Script that draws plots of fidelities.
#[cfg(feature = "charts")]
const FIDELITY: &str = include_str!("../assets/fidelity.js");
/// Script that draws the plots of recorded waits.
#[cfg(feature = "charts")]
const WAITS: &str = include_str!("../assets/waits.js");
/// Script that draws the plots of advice.
#[cfg(feature = "charts")]
const ADVICE: &str = include_str!("../assets/advice.js");
/// Script that draws the plots of changed sites.
#[cfg(feature = "charts")]
const WHATIF: &str = include_str!("../assets/whatif.js");
/// Script that draws plots of any data.
#[cfg(feature = "charts")]
const FIGURES: &str = include_str!("../assets/figures.js");

/// More policies than this are not drawn together unless their number is given.
pub const MOST_TOGETHER: usize = 9;

/// A plot as a file has it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Drawing {
    /// Name of a file, without its ending.
    pub id: String,
    pub title: String,
    #[serde(default)]
    pub note: String,
    pub svg: String,
    /// Inputs that determined the plot; files carry them.
    #[serde(skip)]
    pub determined: Value,
}

/// Reasons why nothing was drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DrawError {
    #[error("cannot draw the plots: {0}")]
    Script(String),
    #[error("cannot make an image of {id}: {problem}")]
    Image {
        /// Name of the plot.
        id: String,
        /// Message of the engine.
        problem: String,
    },
    #[error("cannot draw: {0}")]
    Thread(std::io::Error),
    #[error("cannot draw: this build was made without the feature `charts`")]
    Absent,
}

/// Draws every plot that these results have something for, `width` units wide, in light colours.
/// With more than [`MOST_TOGETHER`] policies only the baseline and the best are drawn, as in a page
/// at first.
///
/// Cost: about 0.2 s for the start and 20 ms a plot.
///
/// # Errors
/// Mistakes in the JavaScript of the plots.
pub fn draw_plots(results: &Results, width: u32) -> Result<Vec<Drawing>, DrawError> {
    let inputs = results.determining_inputs();
    let drawings = run_drawing("drawReport", results.data.to_string(), width)?;
    Ok(drawings.into_iter().map(|drawing| Drawing { determined: inputs.clone(), ..drawing }).collect())
}

impl Drawing {
    /// The drawing with its title, as a file. What determined it is in its `metadata`, as JSON.
    pub fn svg_file(&self) -> String {
        let title = format!("<title>{}</title>", escape_html(&self.title));
        let metadata = match &self.determined {
            Value::Null => String::new(),
            provenance => format!("<metadata>{}</metadata>", escape_html(&provenance.to_string())),
        };
        match self.svg.find('>') {
            Some(at) => format!("{}{title}{metadata}{}\n", &self.svg[..=at], &self.svg[at + 1..]),
            None => self.svg.clone(),
        }
    }
}
