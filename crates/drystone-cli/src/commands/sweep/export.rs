//! `drystone sweep export`: results for other programs.

use super::answer::text;
use crate::args::ExportArgs;
use crate::exit::{DONE, Failure, Outcome};
use crate::output::file::{self, Output};
use crate::output::records::parquet::{Column, File};
use drystone_sweep::{Answer, Cell, Store, query};
use std::io::Write;
use std::path::Path;

pub(super) fn export(args: &ExportArgs) -> Outcome {
    let name = args.out.to_string_lossy().to_lowercase();
    let parquet = name.ends_with(".parquet");
    if !parquet && !name.ends_with(".csv") && name != "-" {
        let out = args.out.display();
        return Err(Failure::usage(format_args!("{out}: the ending says how to write it; expected .csv or .parquet")));
    }
    file::distinct(&[Some(&args.store)], &[("--out", Some(&args.out))])?;
    // As `status` and `rank` do: other programs cannot see that rows are not what their numbers say.
    Store::look(&args.store)?.status()?;
    let answer = query(&args.store, "SELECT * FROM result ORDER BY configuration")?;
    let out = Output::create(&args.out)?;
    if parquet {
        let types = query(&args.store, "SELECT type FROM pragma_table_info('result') ORDER BY cid")?;
        write_parquet(out, &answer, &types, &args.store)?;
    } else {
        write_csv(out, &answer)?;
    }
    Ok(DONE)
}

fn write_csv(mut out: Output, answer: &Answer) -> Result<(), Failure> {
    let name = out.name().to_string();
    let mut write = || -> std::io::Result<()> {
        let mut csv = csv::Writer::from_writer(&mut out);
        csv.write_record(&answer.columns).map_err(plain)?;
        for row in &answer.rows {
            csv.write_record(row.iter().map(text)).map_err(plain)?;
        }
        csv.flush()
    };
    write().and_then(|()| out.flush()).map_err(|e| Failure::write(&name, &e))?;
    out.finish()
}

/// The error of the file itself, where it is one: a reader who has seen enough is no failure.
fn plain(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}

/// What a column holds.
enum Kind {
    Whole,
    Number,
    Text,
}

type Cells = Vec<Cell>;

fn write_parquet(out: Output, answer: &Answer, types: &Answer, store: &Path) -> Result<(), Failure> {
    let kind = |at: usize| match types.rows.get(at).and_then(|row| row.first()) {
        Some(Cell::Text(name)) if name == "INTEGER" => Kind::Whole,
        Some(Cell::Text(name)) if name == "REAL" => Kind::Number,
        _ => Kind::Text,
    };
    // SQLite keeps whatever it is given; a column of Parquet has one kind.
    for row in &answer.rows {
        let strange = (0..answer.columns.len()).find(|&at| match (kind(at), &row[at]) {
            (Kind::Whole, cell) => !matches!(cell, Cell::Int(_) | Cell::Null),
            (Kind::Number, cell) => matches!(cell, Cell::Text(_)),
            (Kind::Text, cell) => !matches!(cell, Cell::Text(_) | Cell::Null),
        });
        if let Some(at) = strange {
            return Err(Failure::usage(format_args!(
                "{}: is damaged: `{}` of configuration {} is `{}`, of another kind than its column. Was it changed by hand? \
                 A .csv can hold it",
                store.display(),
                answer.columns[at],
                text(&row[0]),
                text(&row[at])
            )));
        }
    }
    let whole = |at: usize| move |row: &Cells| if let Cell::Int(value) = row[at] { Some(value) } else { None };
    let number = |at: usize| {
        move |row: &Cells| match row[at] {
            Cell::Int(value) => Some(value as f64),
            Cell::Real(value) => Some(value),
            Cell::Null | Cell::Text(_) => None,
        }
    };
    fn words(at: usize) -> impl Fn(&Cells) -> Option<&str> {
        move |row| if let Cell::Text(text) = &row[at] { Some(text) } else { None }
    }
    let width = answer.columns.len();
    let wholes: Vec<_> = (0..width).map(whole).collect();
    let numbers: Vec<_> = (0..width).map(number).collect();
    let texts: Vec<_> = (0..width).map(words).collect();
    let columns: Vec<(&str, Column<'_, Cells>)> = answer
        .columns
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let column = match kind(at) {
                Kind::Whole => Column::MaybeLong(&wholes[at]),
                Kind::Number => Column::MaybeDouble(&numbers[at]),
                Kind::Text => Column::MaybeText(&texts[at]),
            };
            (name.as_str(), column)
        })
        .collect();
    File { columns: &columns, metadata: &[] }.write(out, &answer.rows)?.publish()
}
