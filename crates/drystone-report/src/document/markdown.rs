//! Documents as Markdown.

use super::visible::make_visible;
use super::{Document, DocumentBlock, DocumentTable};
use comfy_table::{Cell, Table as Grid, presets};
use std::fmt::Write;

/// A cell of Markdown: what would end it, or its row, is written so that it does not.
fn in_markdown(text: &str) -> String {
    let text = make_visible(text);
    // A backslash before a bar would end the cell again.
    let text = if text.contains('|') { text.replace('\\', "\\\\").replace('|', "\\|") } else { text.into_owned() };
    text.replace('\n', "<br>")
}

impl DocumentTable {
    fn render_markdown(&self) -> String {
        let mut grid = Grid::new();
        grid.load_style(presets::ASCII_MARKDOWN);
        grid.set_header(
            self.columns
                .iter()
                .enumerate()
                .map(|(at, name)| Cell::new(in_markdown(name)).set_alignment(self.column_alignment(at))),
        );
        for row in &self.rows {
            grid.add_row(
                row.iter()
                    .enumerate()
                    .map(|(at, value)| Cell::new(in_markdown(&value.text)).set_alignment(self.column_alignment(at))),
            );
        }
        let mut text = String::new();
        for line in grid.lines() {
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }
}

impl Document {
    pub fn render_markdown(&self) -> String {
        let mut out = String::new();
        for (at, block) in self.blocks.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            match block {
                DocumentBlock::Heading(text) => {
                    let _ = writeln!(out, "## {}", make_visible(text));
                }
                DocumentBlock::Text(text) => {
                    let _ = writeln!(out, "{}", make_visible(text));
                }
                DocumentBlock::Facts(facts) => {
                    for (name, value) in facts {
                        let _ = writeln!(out, "- {name}: {}", make_visible(value));
                    }
                }
                DocumentBlock::Table(table) => out.push_str(&table.render_markdown()),
            }
        }
        out
    }
}
