//! Documents of headings, facts and tables, rendered for terminals, text files and Markdown.

use super::layout::{self, Needs, fill};
use super::stdout;
use super::visible::visible;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table as Grid, presets};
use std::borrow::Cow;
use std::fmt::Write;

/// Within less, sentences are left to the terminal.
const LEAST_TEXT: usize = 20;

/// Meaning of a value for the reader.
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
    beside: Vec<usize>,
    rows: Vec<Vec<Value>>,
}

impl Table {
    /// A table whose first column holds text.
    pub(crate) fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Table {
        let columns = columns.into_iter().map(Into::into).collect();
        Table { columns, text_columns: vec![0], ..Table::default() }
    }

    /// These columns hold text.
    pub(crate) fn texts(mut self, columns: &[usize]) -> Table {
        self.text_columns = columns.to_vec();
        self
    }

    /// These columns mean nothing without the one before them (`median`), and stay beside it.
    pub(crate) fn beside(mut self, columns: &[usize]) -> Table {
        self.beside = columns.to_vec();
        self
    }

    pub(crate) fn row(&mut self, values: Vec<Value>) {
        self.rows.push(values);
    }

    fn needs(&self) -> Vec<Needs> {
        let needs = self.columns.iter().enumerate().map(|(at, header)| {
            let cells: Vec<Cow<'_, str>> =
                self.rows.iter().filter_map(|row| Some(visible(&row.get(at)?.text))).collect();
            let (text, beside) = (self.text_columns.contains(&at), self.beside.contains(&at));
            Needs::of(&visible(header), cells.iter().map(AsRef::as_ref), text, beside)
        });
        needs.collect()
    }

    fn align(&self, at: usize) -> CellAlignment {
        if self.text_columns.contains(&at) { CellAlignment::Left } else { CellAlignment::Right }
    }

    /// These columns, each so broad.
    fn grid(&self, columns: &[(usize, usize)]) -> Grid {
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING);
        // Where lines end is decided here: not by what the grid finds out about the terminal, which
        // depends on colour.
        grid.set_content_arrangement(ContentArrangement::Disabled);
        grid.force_no_tty();
        let names: Vec<String> = columns.iter().map(|&(at, width)| fill(&visible(&self.columns[at]), width)).collect();
        let lines = names.iter().map(|name| name.matches('\n').count()).max().unwrap_or(0);
        grid.set_header(columns.iter().zip(names).map(|(&(at, _), name)| {
            // Headers stand on their columns.
            let above = "\n".repeat(lines - name.matches('\n').count());
            Cell::new(above + &name).set_alignment(self.align(at)).add_attribute(Attribute::Bold)
        }));
        for row in &self.rows {
            grid.add_row(columns.iter().map(|&(at, width)| {
                let Some(value) = row.get(at) else { return Cell::new("") };
                let cell = Cell::new(fill(&visible(&value.text), width)).set_alignment(self.align(at));
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

    /// Lines without blanks at their ends; no broader than this, as far as numbers and words have
    /// room.
    fn text(&self, width: Option<usize>, styled: bool) -> String {
        let mut text = String::new();
        for (at, columns) in layout::parts(&self.needs(), width).iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            let mut grid = self.grid(columns);
            if styled {
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

    fn markdown(&self) -> String {
        let mut grid = Grid::new();
        grid.load_style(presets::ASCII_MARKDOWN);
        grid.set_header(
            self.columns
                .iter()
                .enumerate()
                .map(|(at, name)| Cell::new(in_markdown(name)).set_alignment(self.align(at))),
        );
        for row in &self.rows {
            grid.add_row(
                row.iter()
                    .enumerate()
                    .map(|(at, value)| Cell::new(in_markdown(&value.text)).set_alignment(self.align(at))),
            );
        }
        let mut text = String::new();
        for line in grid.lines() {
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }
}

/// Text in LaTeX: signs with a meaning there are written so that they have none.
fn in_latex(text: &str) -> String {
    let mut out = String::new();
    for c in visible(text).chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("\\textquotedbl{}"),
            '×' => out.push_str("$\\times$"),
            '−' => out.push_str("$-$"),
            '±' => out.push_str("$\\pm$"),
            '≤' => out.push_str("$\\le$"),
            '≥' => out.push_str("$\\ge$"),
            '→' => out.push_str("$\\to$"),
            '\n' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A cell of Markdown: what would end it, or its row, is written so that it does not.
fn in_markdown(text: &str) -> String {
    let text = visible(text);
    // A backslash before a bar would end the cell again.
    let text = if text.contains('|') { text.replace('\\', "\\\\").replace('|', "\\|") } else { text.into_owned() };
    text.replace('\n', "<br>")
}

impl Table {
    /// As a tabular that needs no package.
    fn latex(&self) -> String {
        let align = |at| if self.text_columns.contains(&at) { 'l' } else { 'r' };
        let line =
            |cells: &mut dyn Iterator<Item = String>| format!("{} \\\\\n", cells.collect::<Vec<_>>().join(" & "));
        let columns: String = (0..self.columns.len()).map(align).collect();
        let mut text = format!("\\begin{{tabular}}{{{columns}}}\n\\hline\n");
        if self.columns.iter().any(|name| !name.is_empty()) {
            text.push_str(&line(&mut self.columns.iter().map(|name| in_latex(name))));
            text.push_str("\\hline\n");
        }
        for row in &self.rows {
            let cell = |at: usize| row.get(at).map_or(String::new(), |value| in_latex(&value.text));
            text.push_str(&line(&mut (0..self.columns.len()).map(cell)));
        }
        text.push_str("\\hline\n\\end{tabular}\n");
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
        self.render(None, false)
    }

    /// As the standard output can show it.
    pub(crate) fn for_stdout(&self) -> String {
        self.render(stdout::width(), stdout::is_styled())
    }

    /// As text without colours, no broader than this.
    pub(crate) fn within(&self, columns: usize) -> String {
        self.render(Some(columns), false)
    }

    /// As the standard output can show it, no broader than this.
    pub(crate) fn for_stdout_within(&self, columns: usize) -> String {
        let width = stdout::width().map_or(columns, |width| width.min(columns));
        self.render(Some(width), stdout::is_styled())
    }

    /// Returns the number of lines that it takes.
    pub(crate) fn lines(&self, width: Option<usize>) -> usize {
        self.render(width, false).lines().count()
    }

    fn render(&self, width: Option<usize>, styled: bool) -> String {
        let fit = |text: &str, indent: usize| -> String {
            let text = visible(text);
            // Beside long names there may be no room to speak of.
            match width.and_then(|width| width.checked_sub(indent)).filter(|&room| room >= LEAST_TEXT) {
                Some(room) => fill(&text, room).replace('\n', &format!("\n{:indent$}", "")),
                None => text.into_owned(),
            }
        };
        let mut out = String::new();
        for (at, block) in self.blocks.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            match block {
                Block::Heading(text) if styled => {
                    let bold = anstyle::Style::new().bold();
                    let _ = writeln!(out, "{bold}{}{bold:#}", fit(text, 0));
                }
                Block::Heading(text) | Block::Text(text) => {
                    let _ = writeln!(out, "{}", fit(text, 0));
                }
                Block::Facts(facts) => {
                    let names = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
                    for (name, value) in facts {
                        let _ = writeln!(out, "{name:<names$}  {}", fit(value, names + 2));
                    }
                }
                Block::Table(table) => out.push_str(&table.text(width, styled)),
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
                Block::Table(table) => out.push_str(&table.markdown()),
            }
        }
        out
    }
}

impl Document {
    /// As LaTeX, to be read by `\\input`: paragraphs and tabulars, without a preamble.
    pub(crate) fn latex(&self) -> String {
        let mut out = String::new();
        for (at, block) in self.blocks.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            match block {
                Block::Heading(text) => {
                    let _ = writeln!(out, "\\paragraph{{{}}}", in_latex(text));
                }
                Block::Text(text) => {
                    let _ = writeln!(out, "{}", in_latex(text));
                }
                Block::Facts(facts) => {
                    let mut table = Table::new(["", ""]).texts(&[0, 1]);
                    table
                        .rows
                        .extend(facts.iter().map(|(name, value)| vec![name.clone().into(), value.clone().into()]));
                    out.push_str(&table.latex());
                }
                Block::Table(table) => out.push_str(&table.latex()),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        let mut table = Table::new(["policy", "mean wait", "bounded slowdown", "median", "description"])
            .texts(&[0, 4])
            .beside(&[3]);
        for (policy, tone) in [("fcfs", Tone::Bad), ("conservative", Tone::Strong)] {
            let slowdown = Value::toned("15,055.95", tone);
            table.row(vec![
                policy.into(),
                "9,009.5".into(),
                slowdown,
                "4.64".into(),
                "promises every job a start".into(),
            ]);
        }
        let mut document = Document::default();
        document.heading("Two policies with a heading that is long");
        document.facts(vec![("of".to_string(), "ten thousand jobs and some".to_string())]);
        document.table(table);
        document
    }

    /// At every width every number and every word is there in one piece, and no line is longer but
    /// for those that have to be.
    #[test]
    fn no_number_is_in_pieces() {
        let whole = document().render(None, false);
        assert_eq!(document().render(Some(200), false), whole);
        for width in 1..=80 {
            let text = document().render(Some(width), false);
            for word in whole.split_whitespace() {
                assert!(text.split_whitespace().any(|found| found == word), "{word} at {width}:\n{text}");
            }
            let most = width.max("conservative  15,055.95    4.64".len());
            assert!(width < LEAST_TEXT || text.lines().all(|line| line.chars().count() <= most), "{width}:\n{text}");
        }
    }

    #[test]
    fn tables_for_papers() {
        let mut table = Table::new(["policy", "mean_wait, %"]);
        table.row(vec!["easy(a=1)".into(), "−5 ±2".into()]);
        table.row(vec!["100\\200 & more".into()]);
        let mut document = Document::default();
        document.heading("50% of #1");
        document.table(table);
        document.facts(vec![("jobs".to_string(), "<3".to_string())]);
        let expected = "\\paragraph{50\\% of \\#1}\n\n\\begin{tabular}{lr}\n\\hline\npolicy & mean\\_wait, \\% \\\\\n\\hline\n\
                        easy(a=1) & $-$5 $\\pm$2 \\\\\n100\\textbackslash{}200 \\& more &  \\\\\n\\hline\n\\end{tabular}\n\n\
                        \\begin{tabular}{ll}\n\\hline\njobs & \\textless{}3 \\\\\n\\hline\n\\end{tabular}\n";
        assert_eq!(document.latex(), expected);
    }

    #[test]
    fn the_layout_does_not_depend_on_colour() {
        for width in [None, Some(80), Some(40)] {
            let (mut plain, mut inside) = (String::new(), false);
            for c in document().render(width, true).chars() {
                match (c, inside) {
                    ('\u{1b}', _) => inside = true,
                    ('m', true) => inside = false,
                    (_, true) => {}
                    _ => plain.push(c),
                }
            }
            let plain: Vec<&str> = plain.lines().map(str::trim_end).collect();
            assert_eq!(plain, document().render(width, false).lines().collect::<Vec<_>>());
        }
    }

    #[test]
    fn columns_without_room_stand_below() {
        let table = "\
                           bounded
policy        mean wait   slowdown  median
fcfs            9,009.5  15,055.95    4.64
conservative    9,009.5  15,055.95    4.64

policy        description
fcfs          promises every job a start
conservative  promises every job a start
";
        let text = document().render(Some(43), false);
        assert!(text.ends_with(table), "{text}");
    }
}
