//! Pictures of a changed site: differences, curves, and the classes that gain and pay.

use crate::html::escape;
use crate::number::{duration, fixed};
use crate::still::Picture;
use serde_json::Value;
use std::fmt::Write;

/// The pictures of the output of `drystone whatif --format json`: mean waits with intervals, the
/// curve over numbers of nodes where there is one, winners and losers.
#[must_use]
pub fn whatif_pictures(result: &Value) -> Vec<Picture> {
    let mut pictures = vec![differences(result)];
    pictures.extend(curve(result));
    pictures.extend(list(&result["alternatives"]).filter_map(payers));
    pictures
}

const LESS: &str = "#1b7f4b";
const MORE: &str = "#b3261e";
const PLAIN: &str = "#6b6b6b";
const WIDTH: f64 = 860.0;

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

fn interval(value: &Value) -> Option<(f64, f64)> {
    Some((value[0].as_f64()?, value[1].as_f64()?))
}

/// A bar with its interval: name, difference in seconds, interval.
struct Bar<'a> {
    name: &'a str,
    value: f64,
    interval: Option<(f64, f64)>,
}

/// The difference of every alternative.
fn differences(result: &Value) -> Picture {
    let bars: Vec<Bar<'_>> = list(&result["alternatives"])
        .map(|one| Bar {
            name: one["change"].as_str().unwrap_or_default(),
            value: number(&one["wait"]["difference"]),
            interval: interval(&one["wait"]["interval"]),
        })
        .collect();
    let caption =
        "The difference of the mean wait of the same jobs, with its interval. Left of the line jobs wait less.";
    figure("Mean wait against the site as it is", &bars, caption)
}

/// The classes with most node-hours of waiting gained or lost, whose interval leaves out zero.
fn payers(alternative: &Value) -> Option<Picture> {
    let clear = |class: &&Value| interval(&class["interval"]).is_some_and(|(low, high)| low > 0.0 || high < 0.0);
    let names: Vec<(String, &Value)> = list(&alternative["classes"])
        .filter(clear)
        .take(14)
        .map(|class| {
            let (by, name) = (class["by"].as_str().unwrap_or_default(), class["class"].as_str().unwrap_or_default());
            let name = if matches!(by, "partition" | "account") { format!("{by} {name}") } else { name.to_string() };
            (name, class)
        })
        .collect();
    if names.is_empty() {
        return None;
    }
    let bars: Vec<Bar<'_>> = names
        .iter()
        .map(|(name, class)| Bar { name, value: number(&class["difference"]), interval: interval(&class["interval"]) })
        .collect();
    let title = format!("Winners and losers: {}", alternative["change"].as_str().unwrap_or_default());
    let caption = "Difference of the mean wait per class, those with most node-hours of waiting gained or lost first; only clear ones.";
    Some(figure(&title, &bars, caption))
}

fn figure(title: &str, bars: &[Bar<'_>], note: &str) -> Picture {
    const ROW: f64 = 24.0;
    const LEFT: f64 = 300.0;
    const RIGHT: f64 = 90.0;
    const TOP: f64 = 8.0;
    let reach = |bar: &Bar<'_>| {
        bar.interval
            .map_or(bar.value.abs(), |(low, high)| low.abs().max(high.abs()).min(3.0 * bar.value.abs().max(1.0)))
    };
    let most = bars.iter().map(reach).fold(1.0, f64::max);
    let height = TOP + ROW * bars.len() as f64 + 26.0;
    let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
    let x = |value: f64| middle + (value / most).clamp(-1.0, 1.0) * (WIDTH - LEFT - RIGHT) / 2.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">",
        escape(title)
    );
    for (at, bar) in bars.iter().enumerate() {
        let y = TOP + ROW * at as f64;
        let colour = match bar.interval {
            Some((_, high)) if high < 0.0 => LESS,
            Some((low, _)) if low > 0.0 => MORE,
            _ => PLAIN,
        };
        let (from, to) = (x(bar.value.min(0.0)), x(bar.value.max(0.0)));
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text><rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
             fill=\"{colour}\" fill-opacity=\"0.75\"/>",
            LEFT - 8.0,
            y + ROW * 0.65,
            escape(&shortened(bar.name)),
            y + 4.0,
            (to - from).max(0.5),
            ROW - 8.0
        );
        if let Some((low, high)) = bar.interval {
            let _ = write!(
                svg,
                "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#222\" stroke-width=\"1.5\"/>",
                x(low),
                y + ROW / 2.0,
                x(high),
                y + ROW / 2.0
            );
        }
        let length = duration(bar.value.abs());
        let sign = match bar.value {
            _ if length == duration(0.0) => "",
            value if value > 0.0 => "+",
            _ => "−",
        };
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\">{sign}{}</text>",
            WIDTH - RIGHT + 8.0,
            y + ROW * 0.65,
            escape(&length)
        );
    }
    let _ = write!(
        svg,
        "<line x1=\"{middle:.1}\" y1=\"{TOP}\" x2=\"{middle:.1}\" y2=\"{:.1}\" stroke=\"#555\"/><text x=\"{middle:.1}\" y=\"{:.1}\" \
         text-anchor=\"middle\">as it is</text></svg>",
        height - 22.0,
        height - 8.0
    );
    Picture { title: title.to_string(), svg, note: note.to_string() }
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(44) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_string(),
    }
}

/// Mean wait by number of nodes.
fn curve(result: &Value) -> Option<Picture> {
    const HEIGHT: f64 = 360.0;
    const LEFT: f64 = 80.0;
    const RIGHT: f64 = 30.0;
    const TOP: f64 = 16.0;
    const BOTTOM: f64 = 44.0;
    let before = number(&result["before"]["wait_mean"]);
    // Nodes more, mean wait, and its interval.
    type CurvePoint = (f64, f64, Option<(f64, f64)>);
    let mut points: Vec<CurvePoint> = list(&result["curve"]["points"])
        .map(|point| {
            let (wait, difference) = (number(&point["wait"]), number(&point["difference"]));
            let around =
                interval(&point["interval"]).map(|(low, high)| (wait - difference + low, wait - difference + high));
            (number(&point["more"]), wait, around)
        })
        .collect();
    if points.is_empty() {
        return None;
    }
    points.push((0.0, before, None));
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (low, high) = (points[0].0, points[points.len() - 1].0);
    let most = points.iter().map(|point| point.2.map_or(point.1, |around| around.1.max(point.1))).fold(1.0, f64::max);
    let x = |value: f64| LEFT + (value - low) / (high - low).max(1.0) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| HEIGHT - BOTTOM - (value / most).clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Mean wait by nodes\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">"
    );
    for part in 0..=4 {
        let value = most * f64::from(part) / 4.0;
        let _ = write!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#e4e4e4\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{}</text>",
            y(value),
            WIDTH - RIGHT,
            y(value),
            LEFT - 6.0,
            y(value) + 4.0,
            escape(&duration(value))
        );
    }
    let path: Vec<String> = points.iter().map(|point| format!("{:.1},{:.1}", x(point.0), y(point.1))).collect();
    let _ =
        write!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f6fb4\" stroke-width=\"2\"/>", path.join(" "));
    for (more, wait, around) in &points {
        if let Some((low, high)) = around {
            let _ = write!(
                svg,
                "<line x1=\"{0:.1}\" y1=\"{1:.1}\" x2=\"{0:.1}\" y2=\"{2:.1}\" stroke=\"#1f6fb4\" stroke-opacity=\"0.6\" stroke-width=\"3\"/>",
                x(*more),
                y(*low),
                y(*high)
            );
        }
        let _ = write!(
            svg,
            "<circle cx=\"{0:.1}\" cy=\"{1:.1}\" r=\"4\" fill=\"#1f6fb4\"/><text x=\"{0:.1}\" y=\"{2:.1}\" text-anchor=\"middle\">{3}</text>",
            x(*more),
            y(*wait),
            HEIGHT - BOTTOM + 18.0,
            fixed(*more, 0)
        );
    }
    let _ = write!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">more than today</text></svg>",
        WIDTH / 2.0,
        HEIGHT - 6.0
    );
    Some(Picture {
        title: "Mean wait by size of the machine".to_string(),
        svg,
        note: format!(
            "The same jobs on each machine, with the intervals of the differences. {}",
            result["curve"]["sentence"].as_str().unwrap_or_default()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_of_a_site_gets_out_of_its_place() {
        let class = json!({"by": "account", "class": "<a>", "work": 0.5, "jobs": 3, "before": 60.0, "after": 30.0, "difference": -30.0,
            "interval": [-40.0, -20.0], "job_hours": -1.0, "node_hours": -2.0});
        let pictures = whatif_pictures(&json!({
            "workload": {"name": "<b>log</b>"}, "policy": "easy", "sentences": ["Set <x>."], "before": {"wait_mean": 60.0},
            "alternatives": [{"change": "nodes <g>:+8", "wait": {"difference": -30.0, "interval": [-40.0, -20.0]}, "classes": [class],
                "notes": ["<n>"], "warnings": []}],
            "curve": {"points": [{"more": 8.0, "wait": 30.0, "difference": -30.0, "interval": [-40.0, -20.0]}], "enough": null}
        }));
        assert_eq!(pictures.len(), 3);
        assert!(pictures.iter().all(|picture| !picture.svg.contains("<a>") && !picture.svg.contains("<g>")));
        assert!(pictures.iter().all(|picture| !picture.svg.contains("NaN")));
    }
}
