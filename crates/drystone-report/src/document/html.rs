//! Documents as parts of a page.

use super::{Document, DocumentBlock, DocumentTable, TableValue, Tone};
use crate::html::{escape_html, render_prose};
use std::fmt::Write;

impl DocumentTable {
    /// As HTML, in a frame that scrolls by itself where the page is narrow. Columns of text stand
    /// on the left, others on the right.
    pub(crate) fn write_html(&self, caption: &str, out: &mut String) {
        let caption = escape_html(caption);
        let label = if caption.is_empty() { "table" } else { caption.as_str() };
        let id = if self.id.is_empty() { String::new() } else { format!(" id=\"{}\"", self.id) };
        let _ = write!(out, "<div class=\"frame\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\"><table{id}>");
        if !caption.is_empty() {
            let _ = write!(out, "<caption><span>{caption}</span></caption>");
        }
        // Numbers of rows below no name are narrow.
        let is_number = |row: &Vec<TableValue>| row.first().is_some_and(|value| value.text.parse::<u32>().is_ok());
        let is_ranked = self.columns.first().is_some_and(String::is_empty) && self.rows.iter().all(is_number);
        out.push_str("<thead><tr>");
        for (at, name) in self.columns.iter().enumerate() {
            let class = match at {
                0 if is_ranked => " class=\"rank\"",
                _ if self.text_columns.contains(&at) => " class=\"words\"",
                _ => "",
            };
            let _ = write!(out, "<th scope=\"col\"{class}><span class=\"name\">{}</span></th>", escape_html(name));
        }
        out.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            out.push_str("<tr>");
            for (at, value) in row.iter().enumerate() {
                let text = escape_html(&value.text);
                if at == 0 {
                    let class = if is_ranked { " class=\"rank\"" } else { "" };
                    let _ = write!(out, "<th scope=\"row\"{class}><span class=\"name\">{text}</span></th>");
                    continue;
                }
                let tone = match value.tone {
                    Tone::Plain => "",
                    Tone::Good => " good",
                    Tone::Bad => " bad",
                    Tone::Faint => " faint",
                    Tone::Strong => " best",
                };
                let data = value.number.map_or_else(String::new, |number| format!(" data-v=\"{number}\""));
                let _ = if self.text_columns.contains(&at) {
                    write!(out, "<td class=\"words{tone}\"{data}><span class=\"name\">{text}</span></td>")
                } else {
                    write!(out, "<td class=\"number{tone}\"{data}>{text}</td>")
                };
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div>\n");
    }
}

impl Document {
    /// As HTML for a section of a page. A table has the heading right before it as its caption.
    pub fn render_html(&self) -> String {
        let mut out = String::new();
        let mut caption = "";
        for (at, block) in self.blocks.iter().enumerate() {
            match block {
                DocumentBlock::Heading(text) => {
                    if matches!(self.blocks.get(at + 1), Some(DocumentBlock::Table(_))) {
                        caption = text;
                    } else {
                        let _ = writeln!(out, "<h3>{}</h3>", render_prose(text));
                    }
                }
                DocumentBlock::Text(text) => {
                    for line in text.lines() {
                        let _ = writeln!(out, "<p>{}</p>", render_prose(line));
                    }
                }
                DocumentBlock::Facts(facts) => {
                    out.push_str("<dl class=\"facts\">");
                    for (name, value) in facts {
                        let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", escape_html(name), escape_html(value));
                    }
                    out.push_str("</dl>\n");
                }
                DocumentBlock::Table(table) => table.write_html(std::mem::take(&mut caption), &mut out),
            }
        }
        out
    }
}
