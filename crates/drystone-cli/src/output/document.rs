//! Documents of headings, facts and tables, rendered for terminals, text files and Markdown.

use super::stdout;
use super::visible::visible;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table as Grid, presets};
use std::fmt::Write;

/// How a value strikes the reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Good,
    Bad,
    Faint,
    Strong,
}

/// A value in a table.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    text: String,
    tone: Tone,
}

impl Value {
    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Value {
        Value { text: text.into(), tone }
    }
}

impl<T: Into<String>> From<T> for Value {
    fn from(text: T) -> Value {
        Value { text: text.into(), tone: Tone::Plain }
    }
}

/// A table. Columns are aligned right, but for those said to hold text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    columns: Vec<String>,
    text_columns: Vec<usize>,
    rows: Vec<Vec<Value>>,
}

impl Table {
    /// A table whose first column holds text.
    pub(crate) fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Table {
        let columns = columns.into_iter().map(Into::into).collect();
        Table { columns, text_columns: vec![0], rows: Vec::new() }
    }

    /// These columns hold text.
    pub(crate) fn texts(mut self, columns: &[usize]) -> Table {
        self.text_columns = columns.to_vec();
        self
    }

    pub(crate) fn row(&mut self, values: Vec<Value>) {
        self.rows.push(values);
    }

    fn grid(&self, markdown: bool) -> Grid {
        let mut grid = Grid::new();
        grid.load_style(if markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING });
        let align = |at| if self.text_columns.contains(&at) { CellAlignment::Left } else { CellAlignment::Right };
        let header = self.columns.iter().enumerate().map(|(at, name)| {
            let cell = Cell::new(visible(name)).set_alignment(align(at));
            if markdown { cell } else { cell.add_attribute(Attribute::Bold) }
        });
        grid.set_header(header);
        for row in &self.rows {
            grid.add_row(row.iter().enumerate().map(|(at, value)| {
                let text = visible(&value.text);
                let text = if markdown { text.replace('|', "\\|") } else { text.into_owned() };
                let cell = Cell::new(text).set_alignment(align(at));
                match value.tone {
                    _ if markdown => cell,
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

    /// Lines without blanks at their ends.
    fn text(&self, terminal: bool, styled: bool) -> String {
        let mut grid = self.grid(false);
        if terminal {
            grid.set_content_arrangement(ContentArrangement::Dynamic);
        } else {
            grid.set_content_arrangement(ContentArrangement::Disabled);
            grid.force_no_tty();
        }
        if styled {
            grid.enforce_styling();
        } else {
            grid.force_no_tty();
        }
        let mut text = String::new();
        for line in grid.lines() {
            let line = line.strip_prefix(' ').unwrap_or(&line);
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// A part of a document.
#[derive(Clone, Debug)]
enum Block {
    Heading(String),
    Text(String),
    Facts(Vec<(String, String)>),
    Table(Table),
}

/// Something to read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Document {
    blocks: Vec<Block>,
}

impl Document {
    pub(crate) fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    pub(crate) fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    /// Names with values, one a line.
    pub(crate) fn facts(&mut self, facts: Vec<(String, String)>) {
        self.blocks.push(Block::Facts(facts));
    }

    pub(crate) fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    /// As text without colours, unlimited in width.
    pub(crate) fn plain(&self) -> String {
        self.render(false, false)
    }

    /// As the standard output can show it.
    pub(crate) fn for_stdout(&self) -> String {
        self.render(stdout::is_terminal(), stdout::is_styled())
    }

    fn render(&self, terminal: bool, styled: bool) -> String {
        let mut out = String::new();
        for (at, block) in self.blocks.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            match block {
                Block::Heading(text) if styled => {
                    let bold = anstyle::Style::new().bold();
                    let _ = writeln!(out, "{bold}{}{bold:#}", visible(text));
                }
                Block::Heading(text) | Block::Text(text) => {
                    let _ = writeln!(out, "{}", visible(text));
                }
                Block::Facts(facts) => {
                    let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
                    for (name, value) in facts {
                        let _ = writeln!(out, "{name:<width$}  {}", visible(value));
                    }
                }
                Block::Table(table) => out.push_str(&table.text(terminal, styled)),
            }
        }
        out
    }

    /// As Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut out = String::new();
        for (at, block) in self.blocks.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            match block {
                Block::Heading(text) => {
                    let _ = writeln!(out, "## {}", visible(text));
                }
                Block::Text(text) => {
                    let _ = writeln!(out, "{}", visible(text));
                }
                Block::Facts(facts) => {
                    for (name, value) in facts {
                        let _ = writeln!(out, "- {name}: {}", visible(value));
                    }
                }
                Block::Table(table) => {
                    for line in table.grid(true).lines() {
                        let _ = writeln!(out, "{}", line.trim_end());
                    }
                }
            }
        }
        out
    }
}
