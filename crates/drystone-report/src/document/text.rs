//! Documents as text for terminals and files.

use super::layout::{self, ColumnNeeds, fill_lines};
use super::visible::make_visible;
use super::{Document, DocumentBlock, DocumentTable, Tone};
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table as Grid, presets};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Within less, sentences are left to the terminal.
pub(super) const LEAST_TEXT: usize = 20;

impl DocumentTable {
    fn column_needs(&self) -> Vec<ColumnNeeds> {
        let needs = self.columns.iter().enumerate().map(|(at, header)| {
            let cells: Vec<Cow<'_, str>> =
                self.rows.iter().filter_map(|row| Some(make_visible(&row.get(at)?.text))).collect();
            let (text, beside) = (self.text_columns.contains(&at), self.beside.contains(&at));
            ColumnNeeds::for_column(&make_visible(header), cells.iter().map(AsRef::as_ref), text, beside)
        });
        needs.collect()
    }

    pub(super) fn column_alignment(&self, at: usize) -> CellAlignment {
        if self.text_columns.contains(&at) { CellAlignment::Left } else { CellAlignment::Right }
    }

    fn make_grid(&self, columns: &[(usize, usize)]) -> Grid {
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING);
        // Where lines end is decided here: not by what the grid finds out about the terminal, which
        // depends on colour.
        grid.set_content_arrangement(ContentArrangement::Disabled);
        grid.force_no_tty();
        let names: Vec<String> =
            columns.iter().map(|&(at, width)| fill_lines(&make_visible(&self.columns[at]), width)).collect();
        let lines = names.iter().map(|name| name.matches('\n').count()).max().unwrap_or(0);
        grid.set_header(columns.iter().zip(names).map(|(&(at, _), name)| {
            // Headers stand on their columns.
            let above = "\n".repeat(lines - name.matches('\n').count());
            Cell::new(above + &name).set_alignment(self.column_alignment(at)).add_attribute(Attribute::Bold)
        }));
        for row in &self.rows {
            grid.add_row(columns.iter().map(|&(at, width)| {
                let Some(value) = row.get(at) else { return Cell::new("") };
                let cell =
                    Cell::new(fill_lines(&make_visible(&value.text), width)).set_alignment(self.column_alignment(at));
                match value.tone {
                    Tone::Plain => cell,
                    Tone::Good => cell.fg(Color::Green),
                    Tone::Bad => cell.fg(Color::Red),
                    Tone::Faint => cell.add_attribute(Attribute::Dim),
                    Tone::Strong => cell.add_attribute(Attribute::Bold),
                }
            }));
        }
        grid
    }

    /// Returns the number of first columns that tell all rows apart; 1 if three are too few.
    fn count_keys(&self) -> usize {
        let tells = |&columns: &usize| {
            let mut seen_keys = BTreeSet::new();
            self.rows
                .iter()
                .all(|row| seen_keys.insert(row.iter().take(columns).map(|value| &value.text).collect::<Vec<_>>()))
        };
        (1..=3.min(self.columns.len())).find(tells).unwrap_or(1)
    }

    /// Lines without blanks at their ends; no broader than this, as far as numbers and words have
    /// room.
    fn lines_within(&self, width: Option<usize>, is_styled: bool) -> String {
        let mut text = String::new();
        for (at, columns) in layout::group_columns(&self.column_needs(), self.count_keys(), width).iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            let mut grid = self.make_grid(columns);
            if is_styled {
                // The blanks between columns are not to be coloured: the first is taken away below.
                grid.enforce_styling().style_text_only();
            }
            for line in grid.lines() {
                let line = line.strip_prefix(' ').unwrap_or(&line);
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        text
    }
}

impl Document {
    /// As text without colours, unlimited in width.
    pub fn render_plain(&self) -> String {
        self.render_text(None, false)
    }

    /// As text without colours, no broader than this.
    pub fn render_within(&self, columns: usize) -> String {
        self.render_text(Some(columns), false)
    }

    pub fn count_lines(&self, width: Option<usize>) -> usize {
        self.render_text(width, false).lines().count()
    }

    /// As text no broader than this, with colours or without.
    pub fn render_text(&self, width: Option<usize>, is_styled: bool) -> String {
        let fit = |text: &str, indent: usize| -> String {
            let text = make_visible(text);
            // Beside long names there may be no room to speak of.
            match width.and_then(|width| width.checked_sub(indent)).filter(|&room| room >= LEAST_TEXT) {
                Some(room) => fill_lines(&text, room).replace('\n', &format!("\n{:indent$}", "")),
                None => text.into_owned(),
            }
        };
        let mut out = String::new();
        for (at, block) in self.blocks.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            match block {
                DocumentBlock::Heading(text) if is_styled => {
                    let bold = anstyle::Style::new().bold();
                    let _ = writeln!(out, "{bold}{}{bold:#}", fit(text, 0));
                }
                DocumentBlock::Heading(text) | DocumentBlock::Text(text) => {
                    let _ = writeln!(out, "{}", fit(text, 0));
                }
                DocumentBlock::Facts(facts) => {
                    let names = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
                    for (name, value) in facts {
                        let _ = writeln!(out, "{name:<names$}  {}", fit(value, names + 2));
                    }
                }
                DocumentBlock::Table(table) => out.push_str(&table.lines_within(width, is_styled)),
            }
        }
        out
    }
}
