//! Scores as a page with plots.

use super::Scores;
use crate::exit::CommandFailure;
use crate::output::Printable;
use drystone_report::{AxisReading, Figure, FigureAxis, FigureSeries, PictureSubject, SeriesMarks, StillPage};
use drystone_when::{AnswerMethod, MethodScore};

impl Scores {
    /// The page: the verdict, plots of the scores of each method, and all figures.
    pub(super) fn render_html(&self) -> Result<String, CommandFailure> {
        let data = serde_json::to_value(self).map_err(CommandFailure::usage_error)?;
        let figures = serde_json::to_value(score_figures(&self.found.methods, self.found.best_baseline))
            .map_err(CommandFailure::usage_error)?;
        let page = StillPage {
            title: &format!("Start times foreseen: {}", self.format_title()),
            subject: "",
            verdict: self.verdict(),
            pictures: PictureSubject::Figures.draw_pictures(&figures).map_err(CommandFailure::usage_error)?,
            details: &self.render_document(),
            data: &data,
        };
        Ok(page.render_html())
    }
}

/// CRPS of every method, and positions of starts of the futures and of the best baseline: more
/// bars side by side cannot be read.
fn score_figures(methods: &[MethodScore], best: Option<AnswerMethod>) -> [Figure; 2] {
    let shown_scores: Vec<&MethodScore> = methods.iter().filter(|score| score.all.questions > 0).collect();
    let name = |score: &&MethodScore| score.method.name().to_string();
    let bars = |(at, value): (usize, f64)| (at as f64, Some(value));
    let crps =
        FigureSeries::new("CRPS", shown_scores.iter().map(|score| score.all.crps).enumerate().map(bars).collect());
    let position = |score: &&MethodScore| {
        FigureSeries::new(name(score), score.all.pit.iter().copied().enumerate().map(bars).collect())
    };
    let compared_methods = [best, Some(AnswerMethod::Raw), Some(AnswerMethod::Calibrated)];
    let is_compared =
        |score: &&&MethodScore| !score.method.is_point() && compared_methods.contains(&Some(score.method));
    // A logarithmic axis has no place for a score of 0.
    let is_logarithmic = shown_scores.iter().all(|score| score.all.crps > 0.0);
    let minutes = FigureAxis::new("minutes", AxisReading::Number);
    let minutes = if is_logarithmic { minutes.with_log_scale() } else { minutes };
    let scale_note = if is_logarithmic { "Less is better. The axis is logarithmic." } else { "Less is better." };
    let positions = shown_scores.iter().filter(is_compared).map(position);
    let tenths = (0..10).map(|bin| format!("{} to {} %", bin * 10, bin * 10 + 10)).collect();
    let figure = |id: &str, title: &str, note: &str, x, y, series| Figure {
        id: id.to_string(),
        title: title.to_string(),
        note: note.to_string(),
        marks: SeriesMarks::Bars,
        x,
        y,
        series,
    };
    [
        figure(
            "crps",
            "CRPS in minutes",
            scale_note,
            FigureAxis::with_categories("", shown_scores.iter().map(name).collect()),
            minutes,
            vec![crps],
        ),
        figure(
            "positions",
            "Position of starts within the forecasts",
            "Share of the starts between the quantiles at 0, 10, … 100 %. A calibrated answer has 10 % everywhere; a heap at the right \
             shows jobs that started later than forecast.",
            FigureAxis::with_categories("quantiles", tenths),
            FigureAxis::new("starts", AxisReading::Share),
            positions.collect(),
        ),
    ]
}
