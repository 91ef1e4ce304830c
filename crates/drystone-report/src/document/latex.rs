//! Documents as LaTeX for a plain `article`: no package, no line beyond the margin.

mod escape;
mod fit;

use super::{Document, DocumentBlock, DocumentTable, Tone};
use escape::{escape_latex, escape_latex_breaking};
use fit::{ColumnWidth, FontSize, TableFit, fit_columns};
use std::fmt::Write;

/// Rules of `booktabs` where the paper loads it, else plain lines.
const RULES: &str =
    "\\providecommand{\\toprule}{\\hline}\\providecommand{\\midrule}{\\hline}\\providecommand{\\bottomrule}{\\hline}\n";
/// Lines of one `tabular`, which TeX cannot break: more become several, each with its header.
const LINES_PER_TABULAR: usize = 40;

impl DocumentTable {
    /// Writes the table as tabulars that fit the page: side by side where columns are too many, one
    /// below the other where rows are.
    fn write_latex(&self, out: &mut String) {
        for part in fit_columns(self) {
            let lines = self.rows.iter().map(|row| part.count_lines(row));
            for rows in chunk_rows(&lines.collect::<Vec<_>>()) {
                self.write_tabular(&part, rows, out);
            }
        }
    }

    fn write_tabular(&self, part: &TableFit, rows: std::ops::Range<usize>, out: &mut String) {
        let columns: String = part.columns.iter().map(|column| self.column_type(column)).collect();
        let FontSize { command, gap, .. } = part.size;
        let _ = write!(out, "\\par\\noindent{{{command}\\setlength{{\\tabcolsep}}{{{gap}pt}}");
        let _ = writeln!(out, "\\begin{{tabular}}{{{columns}}}\n\\toprule");
        if self.columns.iter().any(|name| !name.is_empty()) {
            let names = part.columns.iter().map(|column| escape_latex(&self.columns[column.index]));
            let _ = writeln!(out, "{} \\tabularnewline\n\\midrule", names.collect::<Vec<_>>().join(" & "));
        }
        for row in &self.rows[rows] {
            let cells = part.columns.iter().map(|column| match row.get(column.index) {
                Some(value) => latex_cell(&value.text, value.tone, column.wrapped.is_some()),
                None => String::new(),
            });
            let _ = writeln!(out, "{} \\tabularnewline", cells.collect::<Vec<_>>().join(" & "));
        }
        out.push_str("\\bottomrule\n\\end{tabular}}\\par\\medskip\n");
    }

    fn column_type(&self, column: &ColumnWidth) -> String {
        match column.wrapped {
            Some(points) => format!("p{{{points:.0}pt}}"),
            None if self.text_columns.contains(&column.index) => "l".to_string(),
            None => "r".to_string(),
        }
    }
}

/// Ranges of rows of nearly equal height, at least one; rows have these numbers of lines, and no
/// range has more than a tabular may have unless one row has.
fn chunk_rows(lines: &[usize]) -> Vec<std::ops::Range<usize>> {
    let line_count: usize = lines.iter().sum();
    let enough = line_count.div_ceil(line_count.div_ceil(LINES_PER_TABULAR).max(1));
    let (mut ranges, mut begin, mut height) = (Vec::new(), 0, 0);
    for (row, own) in lines.iter().enumerate() {
        if row > begin && (height >= enough || height + own > LINES_PER_TABULAR) {
            ranges.push(begin..row);
            (begin, height) = (row, 0);
        }
        height += own;
    }
    ranges.push(begin..lines.len());
    ranges
}

fn latex_cell(text: &str, tone: Tone, is_wrapped: bool) -> String {
    let text = if is_wrapped { escape_latex_breaking(text) } else { escape_latex(text) };
    let text = if tone == Tone::Strong && !text.is_empty() { format!("\\textbf{{{text}}}") } else { text };
    if is_wrapped { format!("{{\\raggedright {text}\\par}}") } else { text }
}

impl Document {
    /// Returns the document as LaTeX for `\\input`: paragraphs and tabulars, without a preamble.
    pub fn render_latex(&self) -> String {
        let mut out = RULES.to_string();
        for block in &self.blocks {
            out.push('\n');
            match block {
                DocumentBlock::Heading(text) => {
                    let _ = writeln!(out, "\\paragraph{{{}}}\\mbox{{}}\\par", escape_latex_breaking(text));
                }
                DocumentBlock::Text(text) => {
                    let _ = writeln!(out, "{}", escape_latex_breaking(text));
                }
                DocumentBlock::Facts(facts) => {
                    let mut table = DocumentTable::new(["", ""]).with_text_columns(&[0, 1]);
                    table
                        .rows
                        .extend(facts.iter().map(|(name, value)| vec![name.clone().into(), value.clone().into()]));
                    table.write_latex(&mut out);
                }
                DocumentBlock::Table(table) => table.write_latex(&mut out),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tables_are_several_tabulars_with_equal_headers() {
        let mut table = DocumentTable::new(["name", "value"]);
        for row in 0..81 {
            table.add_row(vec![format!("r{row}").into(), "1".into()]);
        }
        let mut text = String::new();
        table.write_latex(&mut text);
        assert_eq!(text.matches("\\begin{tabular}").count(), 3);
        assert_eq!(text.matches("name & value").count(), 3);
        assert_eq!(text.lines().filter(|line| line.starts_with('r')).count(), 81);
    }

    /// Rows of several lines fill a page sooner: fifteen of three lines are two tabulars of 24 and
    /// 21.
    #[test]
    fn a_tabular_is_no_higher_than_a_page() {
        assert_eq!(chunk_rows(&[1; 40]).len(), 1);
        assert_eq!(chunk_rows(&[3; 15]), [0..8, 8..15]);
        assert_eq!(chunk_rows(&[90, 1]), [0..1, 1..2]);
        assert_eq!(chunk_rows(&[39, 2, 39]), [0..1, 1..2, 2..3]);
        assert!(chunk_rows(&[]).iter().eq([&(0..0)]));
    }

    #[test]
    fn the_best_value_is_bold() {
        let mut table = DocumentTable::new(["name", "value"]);
        table.add_row(vec!["easy".into(), crate::document::TableValue::toned_text("1.0", Tone::Strong)]);
        let mut text = String::new();
        table.write_latex(&mut text);
        assert!(text.contains("easy & \\textbf{1.0}"), "{text}");
    }
}
