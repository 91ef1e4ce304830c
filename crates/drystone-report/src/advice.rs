//! Pictures of what a site can change.

use crate::html::escape;
use crate::number::change;
use crate::still::Picture;
use serde_json::Value;
use std::fmt::Write;

/// The pictures of what `drystone advise --format json` writes: the trade-off, and what choices
/// promised against what they were worth.
#[must_use]
pub fn advice_pictures(advised: &Value) -> Vec<Picture> {
    [trade_off(advised), promises(advised)].into_iter().flatten().collect()
}

/// Names of the figures, each once, with its place among the values.
fn figures(advised: &Value) -> Vec<(usize, &str, &str, f64)> {
    let mut all: Vec<(usize, &str, &str, f64)> = Vec::new();
    for (at, figure) in advised["baseline"]["figures"].as_array().into_iter().flatten().enumerate() {
        let (id, name) = (figure["figure"].as_str().unwrap_or_default(), figure["name"].as_str().unwrap_or_default());
        if !all.iter().any(|(_, known, ..)| *known == id) {
            all.push((at, id, name, figure["value"].as_f64().unwrap_or(0.0)));
        }
    }
    all
}

/// A point of a picture.
struct PicturePoint<'a> {
    x: f64,
    y: f64,
    name: &'a str,
    colour: &'static str,
    /// True for a point whose name is printed beside it.
    named: bool,
    square: bool,
}

const SETTINGS: &str = "#1f6fb4";
const LIVE: &str = "#b35c00";
const LIMITS: &str = "#1b7f4b";
const NOW: &str = "#222222";
const FAINT: &str = "#9a9a9a";

/// Every candidate by its change of two figures; the site as it is lies where the lines cross.
fn trade_off(advised: &Value) -> Option<Picture> {
    let figures = figures(advised);
    let [(x_at, x_id, x_name, x_now), (y_at, y_id, y_name, y_now), ..] = figures[..] else {
        return None;
    };
    let relative = |now: f64, value: f64| if now > 0.0 { value / now - 1.0 } else { 0.0 };
    let advice = &advised["advice"];
    let best = [&advice["settings"], &advice["live"], &advice["limits"]].map(|answer| answer["best"]["name"].as_str());
    let mut points: Vec<PicturePoint<'_>> = Vec::new();
    for tried in advice["tried"].as_array().into_iter().flatten() {
        let value = |at: usize| tried["values"][at].as_f64().unwrap_or(0.0);
        let (live, name) = (tried["live"] == true, tried["name"].as_str().unwrap_or_default());
        let now = name == "as it is";
        points.push(PicturePoint {
            x: relative(x_now, value(x_at)),
            y: relative(y_now, value(y_at)),
            name,
            colour: match (now, tried["keeps"] == true, live) {
                (true, ..) => NOW,
                (_, false, _) => FAINT,
                (_, _, true) => LIVE,
                _ => SETTINGS,
            },
            named: now || best.contains(&Some(name)),
            square: live,
        });
    }
    let svg = scatter(&points, (&format!("change of {x_id}"), &format!("change of {y_id}")), false);
    Some(Picture {
        title: format!("The trade-off: change of the {x_name} against that of the {y_name}"),
        svg,
        note: "Left and down is better than today, where the lines cross. Circles: settings of Slurm and limits; squares: \
               policies to run live; grey: a guard is broken. What is far off is drawn at the edge. Over all periods, which \
               include those that choices were made on."
            .to_string(),
    })
}

/// The gain of each choice on its own periods, and on the others.
fn promises(advised: &Value) -> Option<Picture> {
    let mut points = Vec::new();
    for (answer, colour, square) in [("settings", SETTINGS, false), ("live", LIVE, true), ("limits", LIMITS, false)] {
        for pair in advised["advice"][answer]["judged"]["pairs"].as_array().into_iter().flatten() {
            let (x, y) = (pair[0].as_f64().unwrap_or(0.0), pair[1].as_f64().unwrap_or(0.0));
            points.push(PicturePoint { x, y, name: "", colour, named: false, square });
        }
    }
    if points.is_empty() {
        return None;
    }
    let svg = scatter(&points, ("promised where it was chosen", "worth where it was judged"), true);
    Some(Picture {
        title: "Promised and achieved changes".to_string(),
        svg,
        note: "One point for each choice: the change of the goal on the half of the periods that it was made on, and on the \
               other half. On the dashed line a promise is kept to the letter; below zero the choice is better than today."
            .to_string(),
    })
}

/// Largest value of the axes: a candidate that is three times as bad is as bad as any.
const FARTHEST: f64 = 2.0;

fn scatter(points: &[PicturePoint<'_>], (x_name, y_name): (&str, &str), diagonal: bool) -> String {
    const WIDTH: f64 = 860.0;
    const HEIGHT: f64 = 460.0;
    const LEFT: f64 = 70.0;
    const RIGHT: f64 = 20.0;
    const TOP: f64 = 16.0;
    const BOTTOM: f64 = 48.0;
    let clamp = |value: f64| value.clamp(-1.0, FARTHEST);
    let range = |of: fn(&PicturePoint<'_>) -> f64| {
        let low = points.iter().map(of).map(clamp).fold(-0.02, f64::min);
        let high = points.iter().map(of).map(clamp).fold(0.02, f64::max);
        let pad = (high - low) * 0.06;
        (low - pad, high + pad)
    };
    let ((x_low, x_high), (y_low, y_high)) = (range(|p| p.x), range(|p| p.y));
    let x = |value: f64| LEFT + (clamp(value) - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - (clamp(value) - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{} against {}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">",
        escape(x_name),
        escape(y_name)
    );
    for value in ticks(x_low, x_high) {
        let at = x(value);
        let _ = write!(
            svg,
            "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{:.1}\" stroke=\"{}\"/><text x=\"{at:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{}</text>",
            HEIGHT - BOTTOM,
            if value == 0.0 { "#555" } else { "#e4e4e4" },
            HEIGHT - BOTTOM + 16.0,
            change(value)
        );
    }
    for value in ticks(y_low, y_high) {
        let at = y(value);
        let _ = write!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"{}\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            if value == 0.0 { "#555" } else { "#e4e4e4" },
            LEFT - 6.0,
            at + 4.0,
            change(value)
        );
    }
    if diagonal {
        let (from, to) = (x_low.max(y_low).max(-1.0), x_high.min(y_high));
        let _ = write!(
            svg,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#888\" stroke-dasharray=\"5 4\"/>",
            x(from),
            y(from),
            x(to),
            y(to)
        );
    }
    // Those with names come last, on top of the others.
    let (named, others): (Vec<&PicturePoint<'_>>, Vec<&PicturePoint<'_>>) =
        points.iter().partition(|point| point.named);
    for point in others.into_iter().chain(named) {
        mark(&mut svg, point, x(point.x), y(point.y), WIDTH);
    }
    let _ = write!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text><text transform=\"translate(14 {:.1}) rotate(-90)\" \
         text-anchor=\"middle\">{}</text></svg>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 10.0,
        escape(x_name),
        (TOP + HEIGHT - BOTTOM) / 2.0,
        escape(y_name)
    );
    svg
}

fn mark(svg: &mut String, point: &PicturePoint<'_>, x: f64, y: f64, width: f64) {
    let (size, colour) = (if point.named { 6.0 } else { 4.0 }, point.colour);
    let title = if point.name.is_empty() { String::new() } else { format!("<title>{}</title>", escape(point.name)) };
    let _ = match point.square {
        true => write!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\" fill-opacity=\"0.75\">{title}</rect>",
            x - size,
            y - size,
            2.0 * size,
            2.0 * size
        ),
        false => write!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{size:.1}\" fill=\"{colour}\" fill-opacity=\"0.75\">{title}</circle>"
        ),
    };
    if point.named {
        let (at, anchor) = if x > 0.6 * width { (x - 10.0, "end") } else { (x + 10.0, "start") };
        let _ = write!(
            svg,
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{}</text>",
            // Two points in one place have their names above each other.
            if point.square { y + 18.0 } else { y - 8.0 },
            escape(point.name)
        );
    }
}

/// Round numbers in a range, zero among them where it is in it.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 7.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|s| s * power).find(|&s| s >= rough).unwrap_or(power * 10.0);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|at| at as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ticks_are_round() {
        let near = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        };
        near(ticks(-0.32, 0.11), &[-0.3, -0.2, -0.1, 0.0, 0.1]);
        near(ticks(-0.021, 0.021), &[-0.02, -0.01, 0.0, 0.01, 0.02]);
    }

    #[test]
    fn nothing_of_a_site_gets_out_of_its_place() {
        let tried = |name: &str, live: bool, values: [f64; 2]| json!({"name": name, "live": live, "keeps": true, "values": values});
        let pictures = advice_pictures(&json!({
            "baseline": {"figures": [{"figure": "avgX", "name": "slowdown", "value": 10.0},
                {"figure": "<m>axW", "name": "longest wait", "value": 0.0}]},
            "advice": {
                "settings": {"best": {"name": "bf_window=<1>"}, "judged": {"pairs": [[-0.2, -0.1]]}},
                "live": {"best": null, "judged": {"pairs": []}},
                "tried": [tried("bf_window=<1>", false, [9.0, 5.0]), tried("easy", true, [100.0, 5.0]), tried("as it is", false, [10.0, 0.0])]
            }
        }));
        assert_eq!(pictures.len(), 2);
        assert!(pictures.iter().all(|p| !p.svg.contains("<m>") && !p.svg.contains("=<1>") && !p.svg.contains("NaN")));
        assert!(pictures[0].svg.contains("bf_window=&lt;1&gt;"));
    }
}
