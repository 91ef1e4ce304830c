//! The page of a changed site: words, curves, and the classes that gain and pay.

use crate::assets;
use crate::html::{embed, escape, prose};
use crate::number::{TimeColumn, duration, fixed, percent};
use serde_json::Value;
use std::fmt::Write;

/// The page of the output of `drystone whatif --format json`, with its `sentences`: the verdicts,
/// mean waits with intervals, the curve over numbers of nodes where there is one, winners and
/// losers. It opens without any network and needs no script.
#[must_use]
pub fn whatif_page(result: &Value) -> String {
    let text = |value: &Value| escape(value.as_str().unwrap_or_default());
    let title = format!("What-if: {}", text(&result["workload"]["name"]));
    let mut main = String::with_capacity(1 << 16);
    let _ = write!(
        main,
        "<header><div><h1>{title}</h1><p class=\"facts\">{}</p></div></header>\n<main>\n<section id=\"verdict\"><h2>Verdict</h2>\
         <ul class=\"verdict\">",
        text(&result["policy"])
    );
    for sentence in result["sentences"].as_array().into_iter().flatten() {
        let _ = write!(main, "<li>{}</li>", prose(sentence.as_str().unwrap_or_default()));
    }
    main.push_str("</ul></section>\n<section id=\"plots\"><h2>Waits</h2>");
    main.push_str(&differences(result));
    main.push_str(&curve(result));
    for alternative in list(&result["alternatives"]) {
        main.push_str(&payers(alternative));
    }
    main.push_str("</section>\n<section id=\"tables\"><h2>Every class of jobs</h2>");
    let hours = if result["unit"] == "node" { "node-hours" } else { "processor-hours" };
    for alternative in list(&result["alternatives"]) {
        table(alternative, hours, &mut main);
    }
    main.push_str("</section>\n</main>\n");
    let mut out = String::with_capacity(main.len() + (1 << 16));
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; img-src data:\">\n<meta \
         name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta \
         name=\"generator\" content=\"drystone {}\">\n<link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>{} {STYLE}</style>\n</head>\n<body>\n{main}<script type=\"application/json\" \
         id=\"data\">{}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        assets::PAGE_CSS,
        embed(&result.to_string()),
    );
    out
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
fn differences(result: &Value) -> String {
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
fn payers(alternative: &Value) -> String {
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
        return String::new();
    }
    let bars: Vec<Bar<'_>> = names
        .iter()
        .map(|(name, class)| Bar { name, value: number(&class["difference"]), interval: interval(&class["interval"]) })
        .collect();
    let title = format!("Winners and losers: {}", alternative["change"].as_str().unwrap_or_default());
    let caption = "Difference of the mean wait per class, those with most node-hours of waiting gained or lost first; only clear ones.";
    figure(&title, &bars, caption)
}

fn figure(title: &str, bars: &[Bar<'_>], caption: &str) -> String {
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
        let sign = if bar.value > 0.0 {
            "+"
        } else if bar.value < 0.0 {
            "−"
        } else {
            ""
        };
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\">{sign}{}</text>",
            WIDTH - RIGHT + 8.0,
            y + ROW * 0.65,
            escape(&duration(bar.value.abs()))
        );
    }
    let _ = write!(
        svg,
        "<line x1=\"{middle:.1}\" y1=\"{TOP}\" x2=\"{middle:.1}\" y2=\"{:.1}\" stroke=\"#555\"/><text x=\"{middle:.1}\" y=\"{:.1}\" \
         text-anchor=\"middle\">as it is</text></svg>",
        height - 22.0,
        height - 8.0
    );
    format!("<figure><h3>{}</h3>{svg}<figcaption>{}</figcaption></figure>", escape(title), escape(caption))
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(44) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_string(),
    }
}

/// Mean wait by number of nodes.
fn curve(result: &Value) -> String {
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
        return String::new();
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
    format!(
        "<figure><h3>Mean wait by size of the machine</h3>{svg}<figcaption>The same jobs on each machine, with the intervals of the \
         differences. {}</figcaption></figure>",
        prose(result["curve"]["sentence"].as_str().unwrap_or_default())
    )
}

/// Every class of an alternative, and its notes.
fn table(alternative: &Value, hours: &str, out: &mut String) {
    let _ = write!(out, "<h3><code>{}</code></h3>", escape(alternative["change"].as_str().unwrap_or_default()));
    class_table(&alternative["classes"], hours, out);
    for note in list(&alternative["notes"]).chain(list(&alternative["warnings"])) {
        let _ = write!(out, "<p>{}</p>", prose(note.as_str().unwrap_or_default()));
    }
}

/// Style of tables of classes, and of drawings that scroll on a phone and turn dark.
pub(crate) const STYLE: &str = "figure svg { width: 100%; min-width: 40rem; height: auto; background: #fff; } #plots figure { \
    margin: 0 0 1.8rem; overflow-x: auto; } tbody th[scope=row], tbody th[scope=rowgroup] { text-align: left; } tbody \
    th[scope=row] { font-weight: 400; min-width: 11rem; overflow-wrap: break-word; } thead th:first-child { text-align: left; } td { white-space: nowrap; } @media \
    (prefers-color-scheme: dark) { figure svg { filter: invert(.92) hue-rotate(180deg); } }";

/// Classes of jobs, kind by kind: the rows of a kind add up to all jobs.
pub(crate) fn class_table(classes: &Value, hours: &str, out: &mut String) {
    // One unit for all times of the table, and as many decimals as its differences need.
    let all = || list(classes);
    let waits: Vec<f64> = all().flat_map(|class| [number(&class["before"]), number(&class["after"])]).collect();
    let column = TimeColumn::in_unit(TimeColumn::of(&waits).unit, &[]);
    let ends = |class: &Value| interval(&class["interval"]).map_or([0.0; 2], |(low, high)| [low, high]);
    let differences: Vec<f64> =
        all().flat_map(|class| [[number(&class["difference"]); 2], ends(class)].concat()).collect();
    let difference_column = TimeColumn::in_unit(column.unit, &differences);
    let mut kinds: Vec<&str> = Vec::new();
    for by in all().filter_map(|class| class["by"].as_str()) {
        if !kinds.contains(&by) {
            kinds.push(by);
        }
    }
    let _ = write!(
        out,
        "<div class=\"frame\"><table><thead><tr><th scope=\"col\">class</th><th>jobs</th><th>of work</th><th>mean wait before, \
         {unit}</th><th>after, {unit}</th><th>difference, {unit}</th><th>interval, {unit}</th><th>job-hours waited</th><th>{hours} waited</th></tr></thead>",
        unit = column.unit.name()
    );
    for kind in kinds {
        let _ = write!(out, "<tbody><tr><th scope=\"rowgroup\" colspan=\"9\">By {}</th></tr>", escape(kind));
        rows(all().filter(|class| class["by"] == kind), (column, difference_column), out);
        out.push_str("</tbody>");
    }
    out.push_str("</table></div>");
}

/// The rows of classes, with columns for waits and for differences.
fn rows<'a>(classes: impl Iterator<Item = &'a Value>, columns: (TimeColumn, TimeColumn), out: &mut String) {
    let (column, differences) = columns;
    let whole = |value: f64| {
        let text = fixed(value.abs(), 0);
        match value {
            _ if text == "0" => text,
            v if v < 0.0 => format!("−{text}"),
            _ => format!("+{text}"),
        }
    };
    for class in classes {
        let name = class["class"].as_str().unwrap_or_default();
        let difference = number(&class["difference"]);
        let signed = |value: f64| differences.signed(value).replace('-', "−");
        let around = interval(&class["interval"])
            .map_or("-".to_string(), |(low, high)| format!("{} to {}", signed(low), signed(high)));
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(name),
            fixed(number(&class["jobs"]), 0),
            percent(Some(number(&class["work"])), 1),
            column.text(number(&class["before"])),
            column.text(number(&class["after"])),
            signed(difference),
            around,
            whole(number(&class["job_hours"])),
            whole(number(&class["node_hours"]))
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_of_a_site_gets_out_of_its_place() {
        let class = json!({"by": "account", "class": "<a>", "work": 0.5, "jobs": 3, "before": 60.0, "after": 30.0, "difference": -30.0,
            "interval": [-40.0, -20.0], "job_hours": -1.0, "node_hours": -2.0});
        let page = whatif_page(&json!({
            "workload": {"name": "<b>log</b>"}, "policy": "easy", "sentences": ["Set <x>."], "before": {"wait_mean": 60.0},
            "alternatives": [{"change": "nodes <g>:+8", "wait": {"difference": -30.0, "interval": [-40.0, -20.0]}, "classes": [class],
                "notes": ["<n>"], "warnings": []}],
            "curve": {"points": [{"more": 8.0, "wait": 30.0, "difference": -30.0, "interval": [-40.0, -20.0]}], "enough": null}
        }));
        assert!(
            !page.contains("<b>")
                && !page.contains("<a>")
                && !page.contains("<g>")
                && !page.contains("<n>")
                && !page.contains("NaN")
        );
        assert_eq!(page.matches("<figure>").count(), 3);
    }
}
