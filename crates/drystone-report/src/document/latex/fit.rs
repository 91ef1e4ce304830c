//! Widths of tables: the size of the font, columns that wrap, and parts of a table too wide for a
//! page.

use crate::document::{DocumentTable, TableValue};

/// Width of the text of `article` on 10 points, in points.
const PAGE_WIDTH: f64 = 345.0;
/// Columns of text wider than this may wrap.
const WRAP_FROM: f64 = 110.0;
/// Widths are estimates from Computer Modern: room for what they miss.
const MARGIN: f64 = 1.06;
/// Room that lines without justification leave, beside that.
const RAGGED: f64 = 1.2;

/// A size of font.
#[derive(Clone, Copy)]
pub(super) struct FontSize {
    pub(super) command: &'static str,
    /// Width of a letter in parts of the same letter at 10 points.
    scale: f64,
    /// Space on either side of a column, in points.
    pub(super) gap: u32,
}

const SIZES: [FontSize; 4] = [
    FontSize { command: "", scale: 1.0, gap: 5 },
    FontSize { command: "\\small", scale: 0.925, gap: 4 },
    FontSize { command: "\\footnotesize", scale: 0.85, gap: 3 },
    FontSize { command: "\\scriptsize", scale: 0.80, gap: 3 },
];
const SMALLEST: FontSize = SIZES[SIZES.len() - 1];

pub(super) struct ColumnWidth {
    pub(super) index: usize,
    /// Width in points where the text wraps.
    pub(super) wrapped: Option<f64>,
}

/// Columns that stand beside each other on a page.
pub(super) struct TableFit {
    pub(super) size: FontSize,
    pub(super) columns: Vec<ColumnWidth>,
}

impl TableFit {
    /// Number of lines that a row takes, by its wrapped columns.
    pub(super) fn count_lines(&self, row: &[TableValue]) -> usize {
        let of = |column: &ColumnWidth| match (column.wrapped, row.get(column.index)) {
            // Ragged lines hold less than their width.
            (Some(width), Some(value)) => (text_width(&value.text) * self.size.scale * RAGGED / width).ceil() as usize,
            _ => 1,
        };
        self.columns.iter().map(of).max().unwrap_or(1).max(1)
    }
}

/// Divides a table into parts that fit a page, each with the first column.
///
/// Cost: one look at every cell.
pub(super) fn fit_columns(table: &DocumentTable) -> Vec<TableFit> {
    let widths: Vec<f64> = (0..table.columns.len()).map(|index| natural_width(table, index)).collect();
    let all_columns: Vec<usize> = (0..widths.len()).collect();
    if let Some(fit) = SIZES.iter().find_map(|size| fit_unwrapped(&all_columns, &widths, *size)) {
        return vec![fit];
    }
    let wraps = |index: usize| table.text_columns.contains(&index) && widths[index] > WRAP_FROM;
    if let Some(fit) = fit_wrapped(&all_columns, &widths, SMALLEST, wraps) {
        return vec![fit];
    }
    split_columns(&widths, table, wraps)
}

/// Width of a part whose columns have these widths at 10 points.
fn width_of_part(columns: &[usize], widths: &[f64], size: FontSize) -> f64 {
    let text: f64 = columns.iter().map(|index| widths[*index] * size.scale * MARGIN).sum();
    text + gap_width(columns.len(), size)
}

fn gap_width(columns: usize, size: FontSize) -> f64 {
    2.0 * f64::from(size.gap) * columns as f64
}

fn fit_unwrapped(columns: &[usize], widths: &[f64], size: FontSize) -> Option<TableFit> {
    let fits = width_of_part(columns, widths, size) <= PAGE_WIDTH;
    fits.then(|| TableFit {
        size,
        columns: columns.iter().map(|index| ColumnWidth { index: *index, wrapped: None }).collect(),
    })
}

/// A part whose wide columns of text share the room that the others leave.
fn fit_wrapped(columns: &[usize], widths: &[f64], size: FontSize, wraps: impl Fn(usize) -> bool) -> Option<TableFit> {
    let (wide, narrow): (Vec<usize>, Vec<usize>) = columns.iter().copied().partition(|index| wraps(*index));
    let text: f64 = narrow.iter().map(|index| widths[*index] * size.scale * MARGIN).sum();
    let room = PAGE_WIDTH - text - gap_width(columns.len(), size);
    let share = room / wide.len() as f64;
    if wide.is_empty() || share < WRAP_FROM * size.scale {
        return None;
    }
    let wrapped_width = |index: usize| wraps(index).then(|| share.min(widths[index] * size.scale * MARGIN).floor());
    Some(TableFit {
        size,
        columns: columns.iter().map(|index| ColumnWidth { index: *index, wrapped: wrapped_width(*index) }).collect(),
    })
}

/// Parts of as many columns as fit, each after the first column; columns that mean nothing without
/// the one before them stay beside it.
fn split_columns(widths: &[f64], table: &DocumentTable, wraps: impl Fn(usize) -> bool) -> Vec<TableFit> {
    let fit = |columns: &[usize]| {
        fit_unwrapped(columns, widths, SMALLEST).or_else(|| fit_wrapped(columns, widths, SMALLEST, &wraps))
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for index in 1..widths.len() {
        match groups.last_mut() {
            Some(group) if table.beside.contains(&index) => group.push(index),
            _ => groups.push(vec![index]),
        }
    }
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for group in groups {
        match parts.last_mut() {
            Some(part) if fit(&[part.as_slice(), &group].concat()).is_some() => part.extend(group),
            _ => parts.push([vec![0], group].concat()),
        }
    }
    // A part of two columns that are still too wide is left to the reader's hand.
    let plain = |part: &[usize]| TableFit {
        size: SMALLEST,
        columns: part
            .iter()
            .map(|index| ColumnWidth { index: *index, wrapped: wraps(*index).then_some(WRAP_FROM) })
            .collect(),
    };
    parts.iter().map(|part| fit(part).unwrap_or_else(|| plain(part))).collect()
}

/// Width in points of the widest text of a column at 10 points.
fn natural_width(table: &DocumentTable, index: usize) -> f64 {
    let cells = table.rows.iter().filter_map(|row| row.get(index)).map(|value| value.text.as_str());
    cells.chain([table.columns[index].as_str()]).map(text_width).fold(0.0, f64::max)
}

/// Width of a text in Computer Modern at 10 points.
fn text_width(text: &str) -> f64 {
    text.chars().map(sign_width).sum()
}

fn sign_width(sign: char) -> f64 {
    match sign {
        'i' | 'l' | 'j' | 'I' | '.' | ',' | ':' | ';' | '\'' | '!' => 3.1,
        'f' | 't' | 'r' | 's' | '(' | ')' | '[' | ']' | '-' | ' ' => 3.95,
        'm' | 'w' | 'M' | 'W' | '%' | '=' | '+' | '<' | '>' | '−' | '×' | '±' | '≤' | '≥' | '#' | '&' | '@' => {
            8.4
        }
        'A'..='Z' => 7.5,
        '—' | '…' | '→' => 10.0,
        'a'..='z' | '0'..='9' | '/' | '_' | '*' | '–' | '†' => 5.4,
        sign if u32::from(sign) > 0x17F => 30.0,
        _ => 6.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: usize, cell: &str) -> DocumentTable {
        let mut table = DocumentTable::new((0..columns).map(|column| format!("c{column}")));
        table.add_row((0..columns).map(|_| cell.into()).collect());
        table
    }

    #[test]
    fn narrow_tables_stay_as_they_are() {
        let parts = fit_columns(&table(4, "12.5"));
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0].size.command, "");
    }

    #[test]
    fn wide_tables_are_divided_and_repeat_their_first_column() {
        let parts = fit_columns(&table(30, "123456.7"));
        assert!(parts.len() > 1);
        assert!(parts.iter().all(|part| part.columns[0].index == 0));
        let mut shown: Vec<usize> =
            parts.iter().flat_map(|part| &part.columns[1..]).map(|column| column.index).collect();
        shown.sort_unstable();
        assert_eq!(shown, (1..30).collect::<Vec<_>>());
    }

    #[test]
    fn long_text_wraps_before_columns_are_divided() {
        let mut wide = DocumentTable::new(["name", "value"]);
        wide.add_row(vec!["a long name of a policy with many parameters ".repeat(4).into(), "1".into()]);
        let parts = fit_columns(&wide);
        assert_eq!(parts.len(), 1);
        assert!(parts[0].columns[0].wrapped.is_some());
    }
}
