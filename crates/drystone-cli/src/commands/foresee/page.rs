//! Scores as a page with plots: one file, nothing loaded, drawn here as SVG.

use crate::output::document::Document;
use crate::output::number::fixed;
use drystone_when::{AnswerMethod, MethodScore};
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}\
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}svg{max-width:100%;height:auto}svg text{font-size:12px;fill:#444}\
pre{overflow-x:auto;background:#f6f8fa;padding:1rem;font-size:12.5px;line-height:1.35}.bar{fill:#8fb3d9}.own{fill:#1f6feb}\
.line{stroke:#999;stroke-dasharray:4 3}.plots{display:flex;flex-wrap:wrap;gap:1rem}\
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}svg text{fill:#b8c0c8}pre{background:#161b22}}";

/// The page: what was asked, the verdict, plots of the scores of each method, and all figures.
pub(super) fn page(question: &str, verdict: &[String], methods: &[MethodScore], figures: &Document) -> String {
    let title = escape(question);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><title>Start times foreseen: {title}</title><style>{STYLE}</style>\n\
         <h1>Start times foreseen: {title}</h1>\n"
    );
    for line in verdict {
        let _ = writeln!(html, "<p>{}</p>", escape(line));
    }
    html += "<h2>CRPS in minutes, less is better</h2>\n";
    html += &bars(methods);
    html += "<h2>Position of starts within the forecasts</h2>\n<p>Share of the starts between the quantiles at 0, \
        10, … 100 %. A \
             calibrated answer has 10 % everywhere (dashed); a heap at the right shows jobs that started later than forecast.</p>\n\
             <div class=\"plots\">\n";
    for score in methods.iter().filter(|score| !score.method.is_point() && score.all.questions > 0) {
        html += &histogram(score);
    }
    html += "</div>\n<h2>All figures</h2>\n<pre>";
    html += &escape(&figures.plain());
    html += "</pre>\n</html>\n";
    html
}

fn bars(methods: &[MethodScore]) -> String {
    let shown: Vec<&MethodScore> = methods.iter().filter(|score| score.all.questions > 0).collect();
    let most = shown.iter().map(|score| score.all.crps).fold(1e-9, f64::max);
    let height = 24 * shown.len() + 4;
    let mut svg =
        format!("<svg viewBox=\"0 0 760 {height}\" width=\"760\" role=\"img\" aria-label=\"CRPS by method\">");
    for (at, score) in shown.iter().enumerate() {
        let (y, width) = (24 * at + 2, 520.0 * score.all.crps / most);
        let class = if score.method == AnswerMethod::Calibrated { "own" } else { "bar" };
        let _ = write!(
            svg,
            "<text x=\"150\" y=\"{}\" text-anchor=\"end\">{}</text><rect class=\"{class}\" x=\"160\" y=\"{y}\" \
             width=\"{width:.1}\" height=\"18\"/><text x=\"{:.1}\" y=\"{}\">{}</text>",
            y + 14,
            score.method.name(),
            166.0 + width,
            y + 14,
            fixed(score.all.crps, 1)
        );
    }
    svg + "</svg>\n"
}

fn histogram(score: &MethodScore) -> String {
    let most = score.all.pit.iter().copied().fold(0.2, f64::max);
    let name = score.method.name();
    let mut svg = format!("<svg viewBox=\"0 0 240 150\" width=\"240\" role=\"img\" aria-label=\"PIT of {name}\">");
    let _ = write!(svg, "<text x=\"10\" y=\"14\">{name}</text>");
    let class = if score.method == AnswerMethod::Calibrated { "own" } else { "bar" };
    for (bin, share) in score.all.pit.iter().enumerate() {
        let height = 105.0 * share / most;
        let _ = write!(
            svg,
            "<rect class=\"{class}\" x=\"{}\" y=\"{:.1}\" width=\"20\" height=\"{height:.1}\"><title>{} to {} %: {} %</title></rect>",
            10 + 22 * bin,
            130.0 - height,
            bin * 10,
            bin * 10 + 10,
            fixed(100.0 * share, 1)
        );
    }
    let even = 130.0 - 105.0 * 0.1 / most;
    let _ = writeln!(
        svg,
        "<line class=\"line\" x1=\"10\" x2=\"230\" y1=\"{even:.1}\" y2=\"{even:.1}\"/><text x=\"10\" y=\"146\">0</text>\
         <text x=\"230\" y=\"146\" text-anchor=\"end\">100 %</text></svg>"
    );
    svg
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
