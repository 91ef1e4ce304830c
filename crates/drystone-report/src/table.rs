//! Tables of a page: numbers as people read them, with the number itself beside them for programs.

use crate::html::escape;
use crate::number::NONE;
use std::fmt::Write;

/// One cell.
#[derive(Clone, Debug)]
pub(crate) struct HtmlCell {
    text: String,
    value: Option<f64>,
    class: &'static str,
}

impl HtmlCell {
    /// A name.
    pub(crate) fn name(text: &str) -> HtmlCell {
        HtmlCell { text: text.to_string(), value: None, class: "name" }
    }

    /// Words.
    pub(crate) fn words(text: impl Into<String>) -> HtmlCell {
        HtmlCell { text: text.into(), value: None, class: "words" }
    }

    /// A number as `show` writes it, or a dash.
    pub(crate) fn number(value: Option<f64>, show: impl Fn(f64) -> String) -> HtmlCell {
        let value = value.filter(|v| v.is_finite());
        HtmlCell { text: value.map_or_else(|| NONE.to_string(), show), value, class: "number" }
    }

    /// A count.
    pub(crate) fn count(value: u64) -> HtmlCell {
        HtmlCell { text: crate::number::count(value), value: Some(value as f64), class: "number" }
    }

    /// Said in this way: `good`, `bad`, `faint`, `best`.
    pub(crate) fn said(self, class: &'static str) -> HtmlCell {
        HtmlCell { class, ..self }
    }
}

/// A table with a row head in its first column.
#[derive(Clone, Debug)]
pub(crate) struct HtmlTable {
    id: &'static str,
    caption: String,
    head: Vec<String>,
    rows: Vec<Vec<HtmlCell>>,
}

impl HtmlTable {
    pub(crate) fn new<S: Into<String>>(
        id: &'static str,
        caption: impl Into<String>,
        head: impl IntoIterator<Item = S>,
    ) -> HtmlTable {
        HtmlTable { id, caption: caption.into(), head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<HtmlCell>) {
        self.rows.push(cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// As HTML, in a frame that scrolls by itself where the page is narrow.
    pub(crate) fn html(&self, out: &mut String) {
        let caption = escape(&self.caption);
        let id = if self.id.is_empty() { String::new() } else { format!(" id=\"{}\"", self.id) };
        let _ = write!(
            out,
            "<div class=\"frame\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table{id}><caption><span>{caption}\
             </span></caption><thead><tr>"
        );
        for (at, head) in self.head.iter().enumerate() {
            // Words stand on the left, numbers on the right, heads above either.
            let words =
                self.rows.first().and_then(|row| row.get(at)).is_some_and(|c| c.value.is_none() && c.text != NONE);
            let class = if words { " class=\"words\"" } else { "" };
            let _ = write!(out, "<th scope=\"col\"{class}><span class=\"name\">{}</span></th>", escape(head));
        }
        out.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            out.push_str("<tr>");
            for (at, cell) in row.iter().enumerate() {
                let text = escape(&cell.text);
                let value = cell.value.map_or_else(String::new, |v| format!(" data-v=\"{v}\""));
                let _ = match at {
                    0 => write!(out, "<th scope=\"row\"><span class=\"name\">{text}</span></th>"),
                    _ if cell.value.is_some() => write!(out, "<td class=\"{}\"{value}>{text}</td>", cell.class),
                    _ => write!(out, "<td class=\"{}\"><span class=\"name\">{text}</span></td>", cell.class),
                };
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div>\n");
    }
}
