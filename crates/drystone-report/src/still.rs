//! Pages that open without any network and need no script: what is to be known first, pictures, and
//! the document that the terminal shows.

use crate::assets;
use crate::charts::Drawing;
use crate::document::Document;
use crate::html::{embed_json, escape_html, render_prose};
use serde_json::Value;
use std::fmt::Write;

/// Style of pictures: they scroll on a phone, and on a dark page their brightness is turned over,
/// not their hues.
const STYLE: &str = "figure svg{width:100%;min-width:40rem;height:auto;background:#fff}#plots figure{margin:0 0 1.8rem}#plots .frame{overflow-x:auto}\
    dl.facts{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem}dl.facts dd{margin:0;overflow-wrap:anywhere}\
    @media(max-width:40rem){dl.facts{grid-template-columns:1fr}dl.facts dd{margin-left:1rem}}\
    @media screen and (prefers-color-scheme:dark){:root:not(:has(.light:checked)) figure svg{filter:invert(.92) hue-rotate(180deg)}}\
    @media screen{:root:has(.dark:checked) figure svg{filter:invert(.92) hue-rotate(180deg)}}\
    header fieldset{display:flex;flex-wrap:wrap;gap:0 .8rem;margin:0;padding:.1rem .6rem .3rem;font-size:.9rem}header fieldset label{white-space:nowrap}\
    @media(max-width:40rem){header{flex-wrap:wrap;gap:.4rem}}\
    @media print{header fieldset{display:none}figure svg{min-width:0;max-height:7cm}#plots figure{margin-bottom:.4rem;padding:.2rem}h2{margin-top:.6rem}ul.verdict{font-size:9.5pt}\
    :root:not(:has(.everything:checked)) :is(section:not(:first-child)>h2,#plots~#tables,#verdict~#plots figure:nth-of-type(n+3)){display:none}}";
/// The choice of light or dark, and of what goes on paper, which needs no script. By default that
/// is one page: the verdict and the first two pictures.
pub(crate) const THEME: &str = "<fieldset><legend>Page</legend><label><input type=\"radio\" name=\"theme\" checked> system</label>\
    <label><input type=\"radio\" name=\"theme\" class=\"light\"> light</label>\
    <label><input type=\"radio\" name=\"theme\" class=\"dark\"> dark</label>\
    <label><input type=\"checkbox\" class=\"everything\"> print all</label></fieldset>";

/// Rows of tables that are shown unfolded.
const SHOWN_ROWS: usize = 80;
/// The section that every page has.
const DETAILS: (&str, &str) = ("tables", "Details");

#[derive(Clone, Debug)]
pub struct Picture {
    pub title: String,
    pub svg: String,
    pub note: String,
}

impl Picture {
    /// The picture as one image with its title and note as its label.
    fn labelled_image(&self) -> String {
        let label = escape_html(format!("{}. {}", self.title, self.note).trim());
        match self.svg.strip_prefix("<svg") {
            Some(rest) if !rest.contains(" role=\"img\"") => format!("<svg role=\"img\" aria-label=\"{label}\"{rest}"),
            _ => self.svg.clone(),
        }
    }
}

impl From<Drawing> for Picture {
    fn from(drawing: Drawing) -> Picture {
        Picture { title: drawing.title, svg: drawing.svg, note: drawing.note }
    }
}

/// A page without scripts.
#[derive(Clone, Debug)]
pub struct StillPage<'a> {
    pub title: &'a str,
    /// Subject, below the title.
    pub subject: &'a str,
    /// Sentences to read first.
    pub verdict: &'a [String],
    pub pictures: Vec<Picture>,
    /// Everything, as the terminal shows it.
    pub details: &'a Document,
    /// The data that the page was made of; it holds them.
    pub data: &'a Value,
}

/// A page up to the beginning of its body, without scripts unless `policy` allows some.
pub(crate) fn begin_page(title: &str, policy: &str) -> String {
    let mut out = String::with_capacity(1 << 18);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; img-src data:{policy}\">\n<meta \
         name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta \
         name=\"generator\" content=\"drystone {}\">\n<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n\
         <style>{} {STYLE}</style>\n</head>\n<body>\n",
        env!("CARGO_PKG_VERSION"),
        escape_html(title),
        assets::PAGE_CSS,
    );
    out
}

impl StillPage<'_> {
    pub fn render_html(&self) -> String {
        let title = escape_html(self.title);
        let sections = self.list_sections();
        let (first, first_name) = sections.first().copied().unwrap_or(DETAILS);
        let mut out = begin_page(self.title, "");
        let _ = write!(
            out,
            "<a class=\"skip\" href=\"#{first}\">Skip to the {}</a>\n<header><div><h1>{title}</h1>",
            first_name.to_lowercase(),
        );
        if !self.subject.is_empty() {
            let _ = write!(out, "<p class=\"facts\">{}</p>", render_prose(self.subject));
        }
        let _ = write!(out, "</div>{THEME}</header>\n<nav aria-label=\"Sections\">");
        for (id, name) in &sections {
            let _ = write!(out, "<a href=\"#{id}\">{name}</a> ");
        }
        out.push_str("</nav>\n<main>\n");
        if !self.verdict.is_empty() {
            out.push_str("<section id=\"verdict\"><h2>Verdict</h2><ul class=\"verdict\">");
            for sentence in self.verdict {
                let _ = write!(out, "<li>{}</li>", render_prose(sentence));
            }
            out.push_str("</ul></section>\n");
        }
        if !self.pictures.is_empty() {
            out.push_str("<section id=\"plots\"><h2>Plots</h2>");
            for picture in &self.pictures {
                let (heading, note) = (escape_html(&picture.title), render_prose(&picture.note));
                let _ = writeln!(
                    out,
                    "<figure><h3>{heading}</h3><div class=\"frame\" tabindex=\"0\" role=\"group\" aria-label=\"{heading}\">{}</div><figcaption><p>{note}</p></figcaption></figure>",
                    picture.labelled_image()
                );
            }
            out.push_str("</section>\n");
        }
        let tables = self.details.render_html();
        let (open, close) = match tables.matches("<tr").count() {
            ..=SHOWN_ROWS => ("<h2>Details</h2>\n", ""),
            _ => ("<h2>Details</h2>\n<details><summary>All tables</summary>\n", "</details>\n"),
        };
        let _ = write!(
            out,
            "<section id=\"tables\">{open}{tables}{close}</section>\n</main>\n<script type=\"application/json\" \
             id=\"data\">{}</script>\n</body>\n</html>\n",
            embed_json(&self.data.to_string())
        );
        out
    }

    /// The sections that it has, by their names in addresses and for people.
    fn list_sections(&self) -> Vec<(&'static str, &'static str)> {
        let verdict = (!self.verdict.is_empty()).then_some(("verdict", "Verdict"));
        let plots = (!self.pictures.is_empty()).then_some(("plots", "Plots"));
        verdict.into_iter().chain(plots).chain([DETAILS]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::DocumentTable;
    use serde_json::json;

    #[test]
    fn nothing_of_a_site_gets_out_of_its_place() {
        let mut details = Document::default();
        details.add_heading("<b>heading</b>");
        details.add_facts(vec![("<b>name</b>".to_string(), "<b>value</b>".to_string())]);
        details.add_text("<b>text</b>");
        let mut table = DocumentTable::new(["<b>column</b>", "values"]);
        table.add_row(vec!["<b>row</b>".into(), "<b>cell</b>".into()]);
        details.add_table(table);
        let picture = Picture {
            title: "<b>title</b>".to_string(),
            svg: "<svg></svg>".to_string(),
            note: "`<b>` note".to_string(),
        };
        let page = StillPage {
            title: "<b>log</b>",
            subject: "<b>policy</b>",
            verdict: &["Set `<b>`.".to_string()],
            pictures: vec![picture],
            details: &details,
            data: &json!({"</script><b>": "<b>"}),
        };
        let html = page.render_html();
        assert!(!html.contains("<b>"), "{html}");
        for part in ["heading", "name", "value", "text", "column", "row", "cell", "title", "log", "policy"] {
            assert!(html.contains(&format!("&lt;b&gt;{part}&lt;/b&gt;")), "{part}");
        }
        assert!(
            html.contains("<code>&lt;b&gt;</code>") && html.contains("<svg role=\"img\" aria-label=\"&lt;b&gt;title")
        );
        assert!(
            html.contains("href=\"#verdict\">Skip to the verdict")
                && html.contains("<nav aria-label=\"Sections\">")
                && html.contains("class=\"dark\"> dark</label>")
        );
    }
}
