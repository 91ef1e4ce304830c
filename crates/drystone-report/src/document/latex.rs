//! Documents as LaTeX.

use super::visible::visible;
use super::{Document, DocumentBlock, DocumentTable};
use std::fmt::Write;

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

impl DocumentTable {
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

impl Document {
    /// As LaTeX, to be read by `\\input`: paragraphs and tabulars, without a preamble.
    pub fn latex(&self) -> String {
        let mut out = String::new();
        for (at, block) in self.blocks.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            match block {
                DocumentBlock::Heading(text) => {
                    let _ = writeln!(out, "\\paragraph{{{}}}", in_latex(text));
                }
                DocumentBlock::Text(text) => {
                    let _ = writeln!(out, "{}", in_latex(text));
                }
                DocumentBlock::Facts(facts) => {
                    let mut table = DocumentTable::new(["", ""]).texts(&[0, 1]);
                    table
                        .rows
                        .extend(facts.iter().map(|(name, value)| vec![name.clone().into(), value.clone().into()]));
                    out.push_str(&table.latex());
                }
                DocumentBlock::Table(table) => out.push_str(&table.latex()),
            }
        }
        out
    }
}
