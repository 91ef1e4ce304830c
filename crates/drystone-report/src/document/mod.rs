//! Documents of headings, facts and tables. One document is rendered for terminals and text files
//! (`text`), Markdown, LaTeX and HTML.

mod html;
mod latex;
mod layout;
mod markdown;
mod text;
mod visible;

use crate::number::{NONE, format_count};
pub use layout::fill_story;
pub use visible::make_visible;

/// Meaning of a value for the reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tone {
    /// A value like any other.
    #[default]
    Plain,
    /// Better than what it is compared with.
    Good,
    /// Worse than what it is compared with.
    Bad,
    /// Of little weight.
    Faint,
    /// Best of its column.
    Strong,
}

/// A value in a table: its text, and for programs that read a page the number that it shows.
#[derive(Clone, Debug)]
pub struct TableValue {
    text: String,
    number: Option<f64>,
    tone: Tone,
}

impl TableValue {
    /// A value with a meaning.
    pub fn toned_text(text: impl Into<String>, tone: Tone) -> TableValue {
        TableValue { text: text.into(), number: None, tone }
    }

    /// A number as `show` writes it, or a dash.
    pub fn from_number(number: Option<f64>, show: impl Fn(f64) -> String) -> TableValue {
        let number = number.filter(|value| value.is_finite());
        TableValue { text: number.map_or_else(|| NONE.to_string(), show), number, tone: Tone::Plain }
    }

    pub fn from_count(value: u64) -> TableValue {
        TableValue { text: format_count(value), number: Some(value as f64), tone: Tone::Plain }
    }

    pub fn with_tone(self, tone: Tone) -> TableValue {
        TableValue { tone, ..self }
    }
}

impl<T: Into<String>> From<T> for TableValue {
    fn from(text: T) -> TableValue {
        TableValue::toned_text(text, Tone::Plain)
    }
}

/// A table. Columns are aligned right, but for those said to hold text.
#[derive(Clone, Debug, Default)]
pub struct DocumentTable {
    columns: Vec<String>,
    text_columns: Vec<usize>,
    beside: Vec<usize>,
    id: &'static str,
    rows: Vec<Vec<TableValue>>,
}

impl DocumentTable {
    /// A table whose first column holds text.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> DocumentTable {
        let columns = columns.into_iter().map(Into::into).collect();
        DocumentTable { columns, text_columns: vec![0], ..DocumentTable::default() }
    }

    #[must_use]
    pub fn with_text_columns(mut self, columns: &[usize]) -> DocumentTable {
        self.text_columns = columns.to_vec();
        self
    }

    /// Declares the columns that mean nothing without the one before them (`median`): they stay
    /// beside it.
    #[must_use]
    pub fn with_beside_columns(mut self, columns: &[usize]) -> DocumentTable {
        self.beside = columns.to_vec();
        self
    }

    /// Sets the name by which a page finds the table.
    #[must_use]
    pub fn id(mut self, id: &'static str) -> DocumentTable {
        self.id = id;
        self
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row, a value for each column from the first one on.
    pub fn add_row(&mut self, values: Vec<TableValue>) {
        self.rows.push(values);
    }
}

#[derive(Clone, Debug)]
enum DocumentBlock {
    Heading(String),
    Text(String),
    Facts(Vec<(String, String)>),
    Table(DocumentTable),
}

#[derive(Clone, Debug, Default)]
pub struct Document {
    blocks: Vec<DocumentBlock>,
}

impl Document {
    pub fn add_heading(&mut self, text: impl Into<String>) {
        self.blocks.push(DocumentBlock::Heading(text.into()));
    }

    pub fn add_text(&mut self, text: impl Into<String>) {
        self.blocks.push(DocumentBlock::Text(text.into()));
    }

    /// Adds names with values, one a line.
    pub fn add_facts(&mut self, facts: Vec<(String, String)>) {
        self.blocks.push(DocumentBlock::Facts(facts));
    }

    pub fn add_table(&mut self, table: DocumentTable) {
        self.blocks.push(DocumentBlock::Table(table));
    }
}

#[cfg(test)]
mod tests {
    use super::text::LEAST_TEXT;
    use super::*;

    fn document() -> Document {
        let mut table = DocumentTable::new(["policy", "mean wait", "bounded slowdown", "median", "description"])
            .with_text_columns(&[0, 4])
            .with_beside_columns(&[3]);
        for (policy, tone) in [("fcfs", Tone::Bad), ("conservative", Tone::Strong)] {
            let slowdown = TableValue::toned_text("15,055.95", tone);
            table.add_row(vec![
                policy.into(),
                "9,009.5".into(),
                slowdown,
                "4.64".into(),
                "promises every job a start".into(),
            ]);
        }
        let mut document = Document::default();
        document.add_heading("Two policies with a heading that is long");
        document.add_facts(vec![("of".to_string(), "ten thousand jobs and some".to_string())]);
        document.add_table(table);
        document
    }

    /// At every width every number and every word is there in one piece, and no line is longer but
    /// for those that have to be.
    #[test]
    fn no_number_is_in_pieces() {
        let whole = document().render_text(None, false);
        assert_eq!(document().render_text(Some(200), false), whole);
        for width in 1..=80 {
            let text = document().render_text(Some(width), false);
            for word in whole.split_whitespace() {
                assert!(text.split_whitespace().any(|token| token == word), "{word} at {width}:\n{text}");
            }
            let most = width.max("conservative  15,055.95    4.64".len());
            assert!(width < LEAST_TEXT || text.lines().all(|line| line.chars().count() <= most), "{width}:\n{text}");
        }
    }

    #[test]
    fn tables_for_papers() {
        let mut table = DocumentTable::new(["policy", "mean_wait, %"]);
        table.add_row(vec!["easy(a=1)".into(), "−5 ±2".into()]);
        table.add_row(vec!["100\\200 & more".into()]);
        let mut document = Document::default();
        document.add_heading("50% of #1");
        document.add_table(table);
        document.add_facts(vec![("jobs".to_string(), "<3".to_string())]);
        let expected = concat!(
            "\\providecommand{\\toprule}{\\hline}\\providecommand{\\midrule}{\\hline}\\providecommand{\\bottomrule}{\\hline}\n\n",
            "\\paragraph{50\\% of \\#1}\\mbox{}\\par\n\n",
            "\\par\\noindent{\\setlength{\\tabcolsep}{5pt}\\begin{tabular}{lr}\n\\toprule\n",
            "policy & mean\\_wait, \\% \\tabularnewline\n\\midrule\n",
            "easy(a=1) & $-$5 $\\pm$2 \\tabularnewline\n",
            "100\\textbackslash{}200 \\& more &  \\tabularnewline\n",
            "\\bottomrule\n\\end{tabular}}\\par\\medskip\n\n",
            "\\par\\noindent{\\setlength{\\tabcolsep}{5pt}\\begin{tabular}{ll}\n\\toprule\n",
            "jobs & $<$3 \\tabularnewline\n\\bottomrule\n\\end{tabular}}\\par\\medskip\n",
        );
        assert_eq!(document.render_latex(), expected);
    }

    #[test]
    fn the_layout_does_not_depend_on_colour() {
        for width in [None, Some(80), Some(40)] {
            let (mut plain, mut inside) = (String::new(), false);
            for c in document().render_text(width, true).chars() {
                match (c, inside) {
                    ('\u{1b}', _) => inside = true,
                    ('m', true) => inside = false,
                    (_, true) => {}
                    _ => plain.push(c),
                }
            }
            let plain: Vec<&str> = plain.lines().map(str::trim_end).collect();
            assert_eq!(plain, document().render_text(width, false).lines().collect::<Vec<_>>());
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
        let text = document().render_text(Some(43), false);
        assert!(text.ends_with(table), "{text}");
    }
}
