//! Candidates for the columns of a table without names, by the values of its first row.

use super::columns::{SacctColumn, holds};
use super::presets::PRESETS;
use crate::text::{Id, RecordState, TimeForm, When, decimal, is_missing, span, state, whole};

/// Delimiters that are tried.
const DELIMITERS: [&str; 6] = ["|", "\t", ";", ",", "\u{1f}", "^"];
/// A table of jobs has this many columns at least.
const FEWEST: usize = 5;
/// A table of jobs has this many columns at most: `sacct` knows about 110.
const MOST: usize = 250;
/// Values that are shown because no name was found for them.
const SHOWN: usize = 12;

/// A line of `--columns` for a row without names, and the values that it leaves out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Suggestion {
    /// Names parted by commas, or the name of a table.
    pub(crate) columns: String,
    /// The values that have no name yet, with the places of their columns; empty where none lacks
    /// one.
    pub(crate) unnamed: String,
}

/// The columns of a first row that names none; `None` where it is no row of a table of jobs.
pub(crate) fn suggest(line: &[u8]) -> Option<Suggestion> {
    let text = std::str::from_utf8(line).ok()?;
    let delimiter = DELIMITERS.into_iter().max_by_key(|delimiter| text.matches(delimiter).count())?;
    let fields: Vec<&str> = text.split(delimiter).map(|field| field.trim().trim_matches('"')).collect();
    if !(FEWEST..=MOST).contains(&fields.len()) {
        return None;
    }
    if let Some(name) = table(&fields) {
        return Some(Suggestion { columns: name.to_string(), unnamed: String::new() });
    }
    let names = names(&fields)?;
    let columns: Vec<&str> = names.iter().map(|name| name.unwrap_or("-")).collect();
    let unnamed: Vec<String> = names
        .iter()
        .zip(&fields)
        .zip(1..)
        .filter(|((name, field), _)| name.is_none() && !field.is_empty())
        .map(|((_, field), at)| format!("{at} `{}`", field.chars().take(24).collect::<String>()))
        .collect();
    let more = unnamed.len().saturating_sub(SHOWN);
    let mut shown = unnamed[..unnamed.len().min(SHOWN)].join(", ");
    if more > 0 {
        shown.push_str(&format!(" and {more} more"));
    }
    Some(Suggestion { columns: columns.join(","), unnamed: shown })
}

/// The public table that has as many columns, if their values fit its own.
fn table(fields: &[&str]) -> Option<&'static str> {
    let form = TimeForm::default();
    let fits = |(field, (_, ours)): (&&str, &(&str, &str))| {
        let (column, change) = super::columns::said(ours);
        let number = || is_missing(field.as_bytes()) || decimal(field.as_bytes()).is_some();
        column.is_none_or(|column| match (column, change) {
            // A table may have words of its own for states.
            (SacctColumn::State, _) | (_, super::ValueChange::Key) => true,
            (SacctColumn::Instances, _) => number(),
            (column, super::ValueChange::Keep) => holds(column, field.as_bytes(), &form),
            _ => number(),
        })
    };
    let of = |preset: &&super::presets::TablePreset| {
        preset.columns.len() == fields.len() && fields.iter().zip(preset.columns).all(fits)
    };
    PRESETS.iter().find(of).and_then(|preset| preset.names.first().copied())
}

/// A name for each field whose form says what it is.
fn names(fields: &[&str]) -> Option<Vec<Option<&'static str>>> {
    let mut names: Vec<Option<&'static str>> = vec![None; fields.len()];
    let mut moments: Vec<(i64, usize)> =
        fields.iter().enumerate().filter_map(|(at, field)| Some((moment(field)?, at))).collect();
    moments.sort_unstable();
    let known: &[&str] = match moments.len() {
        0 | 1 => return None,
        2 => &["Start", "End"],
        3 => &["Submit", "Start", "End"],
        4 => &["Submit", "Eligible", "Start", "End"],
        // The first is when the job came, the last two when it ran.
        _ => &["Submit"],
    };
    for (&(_, at), name) in moments.iter().zip(known) {
        names[at] = Some(name);
    }
    if moments.len() > 4 {
        let last = moments.len() - 2;
        (names[moments[last].1], names[moments[last + 1].1]) = (Some("Start"), Some("End"));
    }
    let place = |wanted: &str, names: &[Option<&str>]| names.iter().position(|name| *name == Some(wanted));
    let at = |wanted: &str| place(wanted, &names).and_then(|at| moment(fields[at]));
    let ran = at("Start").zip(at("End")).map(|(start, end)| end - start);
    let free = |at: usize, names: &[Option<&str>]| names[at].is_none() && !moments.iter().any(|m| m.1 == at);
    let mut give = |name: &'static str, fits: &dyn Fn(&str) -> bool| {
        if place(name, &names).is_none()
            && let Some(at) = (0..fields.len()).find(|&at| free(at, &names) && fits(fields[at]))
        {
            names[at] = Some(name);
        }
    };
    give("JobID", &|field| Id::read(field.as_bytes()).is_some());
    give("ElapsedRaw", &|field| {
        ran.is_some_and(|ran| ran > 0 && whole(field.as_bytes()).is_some_and(|n| i64::try_from(n) == Ok(ran)))
    });
    let length = |field: &str| field.contains(':').then(|| span(field.as_bytes())).flatten();
    give("Elapsed", &|field| ran.is_some_and(|ran| length(field).is_some_and(|length| i64::from(length) == ran)));
    give("Timelimit", &|field| length(field).is_some());
    give("State", &|field| field.len() > 3 && state(field.as_bytes()).0 != RecordState::Other);
    give("AllocTRES", &|field| field.starts_with("cpu=") || field.contains(",cpu="));
    give("NodeList", &|field| field.ends_with(']') && field.starts_with(|c: char| c.is_ascii_alphabetic()));
    Some(names)
}

/// A moment of these days: not any number that could be one.
fn moment(field: &str) -> Option<i64> {
    let bytes = field.as_bytes();
    match TimeForm::default().read(bytes).ok()? {
        When::Civil(civil) => Some(civil),
        When::Epoch(moment) => {
            let dated = bytes.iter().any(|b| matches!(b, b'-' | b':'));
            (dated || (1_000_000_000..4_000_000_000).contains(&moment)).then_some(moment)
        }
        When::Unknown => None,
    }
}

/// The public table whose names these are: most of them, or most of the table's own, and all that
/// are `lost`.
pub(crate) fn known_table(names: &[String], lost: &[String]) -> Option<&'static str> {
    let has = |theirs: &str| names.iter().any(|name| name.trim_matches('"').eq_ignore_ascii_case(theirs));
    // Names that any table could have prove nothing.
    let own = |preset: &super::presets::TablePreset| {
        preset.columns.iter().filter(|(theirs, _)| has(theirs) && !super::is_column(theirs)).count()
    };
    let count = |preset: &super::presets::TablePreset| preset.columns.iter().filter(|(theirs, _)| has(theirs)).count();
    let fits = |preset: &&super::presets::TablePreset| {
        let count = count(preset);
        let knows = |name: &String| preset.columns.iter().any(|(theirs, _)| theirs.eq_ignore_ascii_case(name));
        own(preset) > 2 && (count * 2 > preset.columns.len() || count * 2 > names.len()) && lost.iter().all(knows)
    };
    let best = PRESETS.iter().filter(fits).max_by_key(|preset| count(preset));
    best.and_then(|preset| preset.names.first().copied())
}

/// Returns whether a suggestion lacks a column that an import needs: without processors or nodes
/// there is no job.
pub(crate) fn lacks_size(columns: &str) -> bool {
    let sized = |column: SacctColumn| {
        matches!(
            column,
            SacctColumn::AllocCpus
                | SacctColumn::ReqCpus
                | SacctColumn::AllocNodes
                | SacctColumn::ReqNodes
                | SacctColumn::AllocTres
                | SacctColumn::ReqTres
                | SacctColumn::NodeList
        )
    };
    columns.contains(',') && !columns.split(',').any(|name| super::columns::said(name).0.is_some_and(sized))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(line: &str) -> Option<String> {
        suggest(line.as_bytes()).map(|found| found.columns)
    }

    #[test]
    fn values_tell_what_their_columns_are() {
        assert_eq!(
            columns(
                "1001|ada|p|2025-03-01T00:00:00|2025-03-01T00:10:00|2025-03-01T01:10:00|COMPLETED|4|02:00:00|n[1-2]"
            ),
            Some("JobID,-,-,Submit,Start,End,State,-,Timelimit,NodeList".to_string())
        );
        // In any order, with the run time beside the moments.
        assert_eq!(
            columns("1740791400,1740787200,1740787800,4,77,3600,FAILED"),
            Some("End,Submit,Start,JobID,-,ElapsedRaw,State".to_string())
        );
        // Of many moments the first is the submission, the last two are start and end.
        let fdata = "1001,u1,j1,48,48,1,2021-03-05 08:00:00+09:00,2021-03-05 08:00:30+09:00,2021-03-05 08:01:00+09:00,,0,3600,\
                     2021-03-05 08:01:10+09:00,2021-03-05 08:31:10+09:00,1,127,28000,1800,completed,compute-bound";
        let found = suggest(fdata.as_bytes()).expect("a table of jobs");
        assert_eq!(found.columns, "JobID,-,-,-,-,-,Submit,-,-,-,-,-,Start,End,-,-,-,ElapsedRaw,State,-");
        assert!(found.unnamed.starts_with("2 `u1`, 3 `j1`, 4 `48`"), "{}", found.unnamed);
        assert!(lacks_size(&found.columns) && !lacks_size("JobID,AllocCPUS") && !lacks_size("fugaku"));
        for line in ["a,b,c,d,e", "1,2,3,4,5,6,7", "2025-03-01T00:00:00,1,2,3,4"] {
            assert_eq!(columns(line), None, "{line}");
        }
        // A public table without a first line of names.
        let tasks = "a1b2,worker,3.0,Terminated,5000.0,8600.0,600.0,29.296875,100.0,MISC";
        assert_eq!(columns(tasks), Some("alibaba-gpu-2020".to_string()));
    }

    #[test]
    fn public_tables_are_known_by_their_names() {
        let names = |line: &str| line.split(',').map(String::from).collect::<Vec<_>>();
        assert_eq!(known_table(&names("jid,usr,cnumr,nnumr,adt,sdt,edt,elpl,nnuma,exit state"), &[]), Some("fugaku"));
        assert_eq!(known_table(&names("name,cpu_milli,num_gpu,creation_time,deletion_time"), &[]), Some("alibaba-gpu"));
        assert_eq!(known_table(&names("JobID,User,Submit,Start,End,State"), &[]), None);
        let other = names("job_id,user,submit_time,start_time,elapsed_minutes,cores,state");
        assert_eq!(known_table(&other, &["cores".to_string()]), None);
    }
}
