//! Plots of any data: lines, steps, bars or points over two axes, as files and as CSV.

use crate::charts::{DrawError, Drawing, run_drawing};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SeriesMarks {
    /// Lines from point to point.
    Lines,
    /// Horizontal lines, each up to the next point.
    Steps,
    /// Bars side by side.
    Bars,
    /// Bars upon each other.
    Stack,
    /// Points without lines.
    Points,
    /// Points beside each other over their category, with a box from quartile to quartile and the
    /// median.
    Swarm,
}

/// Reading of the numbers of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisReading {
    Number,
    /// Shares, shown in per cent.
    Share,
    /// Seconds, shown as lengths of time.
    Seconds,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FigureAxis {
    pub name: String,
    /// Names of categories; their numbers from 0 are the values. Empty for an axis of numbers.
    pub categories: Vec<String>,
    /// True for a logarithmic axis.
    pub log: bool,
    pub reading: AxisReading,
}

impl FigureAxis {
    /// A linear axis of numbers.
    pub fn new(name: &str, reading: AxisReading) -> FigureAxis {
        FigureAxis { name: name.to_string(), categories: Vec::new(), log: false, reading }
    }

    pub fn with_log_scale(self) -> FigureAxis {
        FigureAxis { log: true, ..self }
    }

    pub fn with_categories(name: &str, categories: Vec<String>) -> FigureAxis {
        FigureAxis { categories, ..FigureAxis::new(name, AxisReading::Number) }
    }

    /// The value as a reader of CSV wants it.
    fn format_value(&self, value: f64) -> String {
        let category = (value >= 0.0).then(|| self.categories.get(value as usize)).flatten();
        category.cloned().unwrap_or_else(|| value.to_string())
    }
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FigureSeries {
    /// Name in the legend.
    pub name: String,
    /// Points; a point without a value interrupts a line.
    pub points: Vec<(f64, Option<f64>)>,
    /// Intervals around points: x, low and high.
    pub whiskers: Vec<(f64, f64, f64)>,
}

impl FigureSeries {
    /// A series without intervals.
    pub fn new(name: impl Into<String>, points: Vec<(f64, Option<f64>)>) -> FigureSeries {
        FigureSeries { name: name.into(), points, whiskers: Vec::new() }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Figure {
    /// Name of a file, without its ending.
    pub id: String,
    pub title: String,
    pub note: String,
    pub marks: SeriesMarks,
    pub x: FigureAxis,
    pub y: FigureAxis,
    pub series: Vec<FigureSeries>,
}

impl Figure {
    /// The data of the plot as CSV: series, x, y, and the interval where a series has some; a
    /// missing value is an empty field.
    pub fn render_csv(&self) -> String {
        let quote_field = |text: &str| match text.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.to_string(),
        };
        let has_whiskers = self.series.iter().any(|series| !series.whiskers.is_empty());
        let mut text = if has_whiskers { "series,x,y,low,high\n" } else { "series,x,y\n" }.to_string();
        for series in &self.series {
            for &(x, y) in &series.points {
                let y = y.map(|y| self.y.format_value(y)).unwrap_or_default();
                let _ = write!(
                    text,
                    "{},{},{}",
                    quote_field(&series.name),
                    quote_field(&self.x.format_value(x)),
                    quote_field(&y)
                );
                if has_whiskers {
                    let whisker = series.whiskers.iter().find(|whisker| whisker.0 == x);
                    let bounds = whisker.map_or(",".to_string(), |(_, low, high)| format!("{low},{high}"));
                    let _ = write!(text, ",{bounds}");
                }
                text.push('\n');
            }
        }
        text
    }
}

/// Draws figures, `width` units wide; `determined` is what files carry of their origin.
///
/// # Errors
/// Mistakes in the JavaScript of the plots.
pub fn draw_figures(figures: &[Figure], provenance: &Value, width: u32) -> Result<Vec<Drawing>, DrawError> {
    let json = serde_json::to_string(figures).map_err(|error| DrawError::Script(error.to_string()))?;
    let drawings = run_drawing("drawFigures", json, width)?;
    Ok(drawings.into_iter().map(|drawing| Drawing { determined: provenance.clone(), ..drawing }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> Figure {
        Figure {
            id: "made-up".to_string(),
            title: "Made up".to_string(),
            note: String::new(),
            marks: SeriesMarks::Bars,
            x: FigureAxis::with_categories("kind", vec!["a, b".to_string(), "c".to_string()]),
            y: FigureAxis::new("share", AxisReading::Share),
            series: vec![FigureSeries::new("one", vec![(0.0, Some(0.5)), (1.0, None)])],
        }
    }

    #[test]
    fn data_are_csv() {
        assert_eq!(figure().render_csv(), "series,x,y\none,\"a, b\",0.5\none,c,\n");
        let mut figure = figure();
        figure.series[0].whiskers.push((0.0, 0.25, 1.0));
        assert_eq!(figure.render_csv(), "series,x,y,low,high\none,\"a, b\",0.5,0.25,1\none,c,,,\n");
    }

    /// A swarm has a box for each category that has points, and whiskers are drawn over lines.
    #[cfg(feature = "charts")]
    #[test]
    fn swarms_have_boxes_and_lines_whiskers() {
        let points = |x: f64| [3.0, 1.0, 2.0, 10.0].map(|y| (x, Some(y)));
        let series = |x: f64| FigureSeries::new(format!("p{x}"), points(x).to_vec());
        let swarm = Figure {
            marks: SeriesMarks::Swarm,
            y: FigureAxis::new("y", AxisReading::Number),
            series: vec![series(0.0), series(1.0)],
            ..figure()
        };
        let lines = Figure { id: "lines".to_string(), marks: SeriesMarks::Lines, ..figure() };
        let mut whisker_figure = lines.clone();
        whisker_figure.series[0].whiskers.push((0.0, 0.4, 0.6));
        let drawings = draw_figures(&[swarm, lines, whisker_figure], &Value::Null, 820).expect("drawn");
        let paths = |at: usize| drawings[at].svg_file().matches("<path").count();
        assert!(drawings[0].svg_file().matches("<path").count() >= 8 + 2 && !drawings[0].svg_file().contains("NaN"));
        assert!(paths(2) > paths(1), "{} {}", paths(2), paths(1));
    }

    /// Every kind of mark and axis is drawn, and nothing that is not a number gets into a picture.
    #[cfg(feature = "charts")]
    #[test]
    fn all_marks_are_drawn() {
        for marks in [
            SeriesMarks::Lines,
            SeriesMarks::Steps,
            SeriesMarks::Bars,
            SeriesMarks::Stack,
            SeriesMarks::Points,
            SeriesMarks::Swarm,
        ] {
            for reading in [AxisReading::Number, AxisReading::Share, AxisReading::Seconds] {
                let y = FigureAxis::new("y", reading);
                let log = matches!(marks, SeriesMarks::Lines | SeriesMarks::Points | SeriesMarks::Swarm);
                let y = if log { y.with_log_scale() } else { y };
                let figures = [Figure { marks, y, ..figure() }];
                let drawings = draw_figures(&figures, &Value::Null, 820).expect("drawn");
                let svg = drawings[0].svg_file();
                assert!(svg.contains("<path") && !svg.contains("NaN"), "{marks:?}");
            }
        }
    }
}
