//! The page of how faithful a simulation of a site is.

use crate::assets;
use crate::charts::{DrawError, Drawing, run};
use crate::html::{embed, escape, prose};
use crate::number::in_unit;
use crate::table::{Cell, Table};
use drystone::metrics::Unit;
use serde_json::Value;
use std::fmt::Write;

/// Draws the plots of what `drystone fidelity --format json` writes.
///
/// # Errors
/// Mistakes in the JavaScript of the plots.
pub fn draw_fidelity(fidelity: &Value, width: u32) -> Result<Vec<Drawing>, DrawError> {
    run("drawFidelity", fidelity.to_string(), width)
}

/// The page of it: the verdict, the plots as pictures, the errors, and the data. It opens without
/// any network and needs no script.
///
/// # Errors
/// As [`draw_fidelity`].
pub fn fidelity_page(fidelity: &Value) -> Result<String, DrawError> {
    let text = |value: &Value| escape(value.as_str().unwrap_or_default());
    let title = format!("{} replayed under {}", text(&fidelity["site"]), text(&fidelity["policy"]));
    let mut main = String::with_capacity(1 << 18);
    let _ = write!(
        main,
        "<header><div><h1>{title}</h1></div></header>\n<main>\n<section id=\"verdict\"><h2>Verdict</h2><ul class=\"verdict\">"
    );
    for sentence in fidelity["verdict"].as_array().into_iter().flatten() {
        let _ = write!(main, "<li>{}</li>", prose(sentence.as_str().unwrap_or_default()));
    }
    main.push_str("</ul></section>\n<section id=\"plots\"><h2>Plots</h2>");
    for drawing in draw_fidelity(fidelity, 900)? {
        let _ = write!(
            main,
            "<figure><figcaption><h3>{}</h3><p>{}</p></figcaption>{}</figure>",
            escape(&drawing.title),
            escape(&drawing.note),
            drawing.svg
        );
    }
    main.push_str("</section>\n<section id=\"tables\"><h2>Errors</h2>");
    for pool in fidelity["pools"].as_array().into_iter().flatten() {
        table(pool, &mut main);
    }
    main.push_str("</section>\n</main>\n");
    Ok(still_page(&title, &main, fidelity))
}

/// Pictures drawn for light paper, turned over on a dark page: brightness, not hues.
const DARK_PICTURES: &str =
    "@media screen and (prefers-color-scheme:dark){figure svg{filter:invert(.92) hue-rotate(180deg)}}";

/// A page without scripts: its main part, and the data that it was made of.
pub(crate) fn still_page(title: &str, main: &str, data: &Value) -> String {
    let mut out = String::with_capacity(main.len() + (1 << 18));
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; img-src data:\">\n<meta \
         name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta \
         name=\"generator\" content=\"drystone {}\">\n<link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>{} figure svg {{ \
         width: 100%; max-width: 100%; height: auto; background: #fff; }} #plots figure {{ margin: 0 0 1.8rem; }} \
         {DARK_PICTURES}</style>\n</head>\n<body>\n{main}",
        env!("CARGO_PKG_VERSION"),
        assets::PAGE_CSS,
    );
    let _ = write!(
        out,
        "<script type=\"application/json\" id=\"data\">{}</script>\n</body>\n</html>\n",
        embed(&data.to_string())
    );
    out
}

/// Rows of errors: the replay, the noise, repetitions, baselines.
fn table(pool: &Value, out: &mut String) {
    const COLUMNS: [(&str, &str, Unit); 9] = [
        ("jobs", "jobs", Unit::Count),
        ("replayed_mean", "mean wait", Unit::Seconds),
        ("mean_distance", "mean distance", Unit::Seconds),
        ("median_distance", "median distance", Unit::Seconds),
        ("within_minute", "within 1 min", Unit::Share),
        ("within_ten_minutes", "within 10 min", Unit::Share),
        ("within_hour", "within 1 h", Unit::Share),
        ("kolmogorov_smirnov", "KS", Unit::Ratio),
        ("spearman", "Spearman", Unit::Ratio),
    ];
    let name = pool["name"].as_str().unwrap_or_default();
    let heads = std::iter::once("waits").chain(COLUMNS.iter().map(|c| c.1));
    let mut table = Table::new("", format!("Distance of waits from the records: {name}"), heads);
    let mut row = |name: &str, errors: &Value| {
        let mut cells = vec![Cell::name(name)];
        cells.extend(
            COLUMNS
                .iter()
                .map(|&(key, _, unit)| Cell::number(errors[key].as_f64(), |value| in_unit(Some(value), unit))),
        );
        table.row(cells);
    };
    row("replayed", &pool["errors"]);
    row("replayed, without unmodelled waits", &pool["modelled"]);
    row("noise (median)", &pool["noise"]["median"]);
    for repetition in pool["repetitions"].as_array().into_iter().flatten() {
        row(&format!("recorded again: {}", repetition["name"].as_str().unwrap_or_default()), &repetition["errors"]);
    }
    for baseline in pool["baselines"].as_array().into_iter().flatten() {
        row(&format!("baseline: {}", baseline["name"].as_str().unwrap_or_default()), &baseline["errors"]);
    }
    table.html(out);
}
