//! The page of the waits that a site recorded.

use crate::charts::{DrawError, Drawing, run};
use crate::fidelity::still_page;
use crate::html::escape;
use crate::number::{NONE, count, duration, fixed_or, percent};
use serde_json::Value;
use std::fmt::Write;

/// Groups that a table shows.
const MOST: usize = 50;

/// Draws the plots of what `drystone waits --format json` writes.
///
/// # Errors
/// Mistakes in the JavaScript of the plots.
pub fn draw_waits(waits: &Value, width: u32) -> Result<Vec<Drawing>, DrawError> {
    run("drawWaits", waits.to_string(), width)
}

/// The page of it: the plots as pictures, the figures, and the data. It opens without any network
/// and needs no script.
///
/// # Errors
/// As [`draw_waits`].
pub fn waits_page(waits: &Value) -> Result<String, DrawError> {
    let text = |value: &Value| escape(value.as_str().unwrap_or_default()).to_string();
    let title = format!("Recorded waits of {}", text(&waits["site"]));
    let mut main = String::with_capacity(1 << 18);
    let _ = write!(
        main,
        "<header><div><h1>{title}</h1></div></header>\n<main>\n<section id=\"figures\"><h2>All jobs</h2><p>From eligibility, else \
         submission, to start, as the accounting has it. Nothing is simulated. Hours and months in {}.</p>",
        text(&waits["time_zone"])
    );
    for note in waits["notes"].as_array().into_iter().flatten() {
        let _ = write!(main, "<p>{}</p>", text(note));
    }
    begin(&mut main, "jobs");
    row(&mut main, "all", &waits["all"]);
    main.push_str("</tbody></table></div></section>\n<section id=\"plots\"><h2>Plots</h2>");
    for drawing in draw_waits(waits, 900)? {
        let (heading, note) = (escape(&drawing.title), escape(&drawing.note));
        let _ = write!(main, "<figure><h3>{heading}</h3>{}<figcaption>{note}</figcaption></figure>", drawing.svg);
    }
    main.push_str("</section>\n<section id=\"tables\"><h2>Groups</h2>");
    for division in waits["divisions"].as_array().into_iter().flatten() {
        let by = text(&division["by"]);
        let _ = write!(main, "<h3>By {by}</h3>");
        begin(&mut main, &by);
        for group in division["groups"].as_array().into_iter().flatten().take(MOST) {
            row(&mut main, group["name"].as_str().unwrap_or_default(), &group["figures"]);
        }
        main.push_str("</tbody></table></div>");
    }
    main.push_str("<h3>Month by month</h3>");
    begin(&mut main, "month");
    for month in waits["months"].as_array().into_iter().flatten() {
        row(&mut main, month["name"].as_str().unwrap_or_default(), &month["figures"]);
    }
    main.push_str("</tbody></table></div>");
    longest(waits, &mut main);
    main.push_str("</section>\n</main>\n");
    Ok(still_page(&title, &main, waits))
}

fn begin(out: &mut String, what: &str) {
    let _ = write!(out, "<div class=\"wide\"><table><thead><tr><th>{what}</th>");
    for head in ["jobs", "mean", "median", "95 %", "longest", "&gt; 1 h", "&gt; 1 day", "core-hours", "expansion"] {
        let _ = write!(out, "<th>{head}</th>");
    }
    out.push_str("</tr></thead><tbody>");
}

fn row(out: &mut String, name: &str, figures: &Value) {
    let span = |key: &str| figures[key].as_f64().map_or(NONE.to_string(), duration);
    let cells = [
        count(figures["jobs"].as_u64().unwrap_or(0)),
        span("mean"),
        span("median"),
        span("p95"),
        span("longest"),
        percent(figures["over_hour"].as_f64(), 1),
        percent(figures["over_day"].as_f64(), 1),
        count(figures["core_hours"].as_f64().unwrap_or(0.0).round() as u64),
        fixed_or(figures["expansion"].as_f64(), 2),
    ];
    let _ = write!(out, "<tr><td>{}</td>", escape(name));
    cells.iter().for_each(|cell| {
        let _ = write!(out, "<td>{cell}</td>");
    });
    out.push_str("</tr>");
}

fn longest(waits: &Value, out: &mut String) {
    out.push_str("<h3>The longest waits</h3><div class=\"wide\"><table><thead><tr>");
    for head in ["job", "user", "account", "partition", "wait", "last reason"] {
        let _ = write!(out, "<th>{head}</th>");
    }
    out.push_str("</tr></thead><tbody>");
    for long in waits["longest"].as_array().into_iter().flatten() {
        out.push_str("<tr>");
        for key in ["job", "user", "account", "partition"] {
            let _ = write!(out, "<td>{}</td>", escape(long[key].as_str().unwrap_or_default()));
        }
        let wait = long["wait"].as_f64().map_or(NONE.to_string(), duration);
        let _ = write!(out, "<td>{wait}</td><td>{}</td></tr>", escape(long["reason"].as_str().unwrap_or_default()));
    }
    out.push_str("</tbody></table></div>");
}
