//! Advice on a table whose columns are not those of `sacct`.
//!
//! It says what the table is, gives the line to use, and asks whether the first rows are right as
//! that line reads them.

use super::presets::{TablePreset, recognise_preset, recognised_rows};
use super::propose::{Proposal, own_role, propose_columns};
use super::sample::TableSample;
use super::words::{ColumnRole, LengthUnit};
use crate::error::SiteError;
use crate::readers::sacct::{RowHeader, TrialFigures, lacks_zone, parse_column_name, try_columns};
use crate::rows::ReadSettings;
use crate::text::Id;
use std::collections::BTreeSet;

/// Questions that are printed.
const ASKED: usize = 6;
/// Columns that are named.
const NAMED: usize = 8;

/// Returns whether a table has times and anything else that jobs have, or is known by its names.
pub(crate) fn is_of_jobs(sample: &TableSample) -> bool {
    if recognise_preset(&sample.names).is_some() || recognised_rows(sample).is_some() {
        return true;
    }
    let proposal = propose_columns(sample);
    let moments = proposal.choices.values().filter(|choice| choice.role.is_moment()).count();
    moments > 0 && proposal.choices.len() > 2
}

/// The error for a table that is not read without being asked for; `None` where it is no table of
/// jobs.
pub(crate) fn advise_table(sample: &TableSample, file: &str, settings: &ReadSettings) -> Option<SiteError> {
    if let Some(preset) = recognise_preset(&sample.names) {
        return Some(of_preset(preset, "names", sample, file, settings));
    }
    if let Some(preset) = recognised_rows(sample) {
        return Some(of_preset(preset, "values", sample, file, settings));
    }
    let sample = &sample.with_declared_form(&settings.form);
    let proposal = propose_columns(sample);
    if proposal.choices.len() < 2 {
        return None;
    }
    Some(of_proposal(&proposal, sample, file, settings, &[]))
}

/// The error for a table with the names of sacct beside others, where something speaks against
/// reading it as it is.
pub(crate) fn find_doubts(
    header: &RowHeader,
    sample: &TableSample,
    file: &str,
    settings: &ReadSettings,
) -> Option<SiteError> {
    if sample.names.is_empty() {
        return None;
    }
    if let Some(preset) = recognise_preset(&sample.names) {
        return Some(of_preset(preset, "names", sample, file, settings));
    }
    let sample = &sample.with_declared_form(&settings.form);
    let proposal = propose_columns(sample);
    let mut lost_columns: Vec<usize> = Vec::new();
    for (&at, choice) in &proposal.choices {
        let read_column = header.columns.get(at).copied().flatten();
        let Some(column) = parse_column_name(&choice.name).0 else { continue };
        // Of a column that is read, only another meaning or unit matters.
        if let Some(read) = read_column {
            let means_otherwise =
                own_role(&sample.names[at]) != Some(choice.role) || (!choice.own && choice.unit.is_some());
            let is_required = is_needed(choice.role) || own_role(&sample.names[at]).is_some_and(is_needed);
            if means_otherwise
                && is_required
                && (read != column || choice.unit.is_some_and(|unit| unit != LengthUnit::Seconds))
            {
                lost_columns.push(at);
            }
            continue;
        }
        if !covering_roles(choice.role).iter().any(|role| reads_role(header, sample, *role)) && is_needed(choice.role) {
            lost_columns.push(at);
        }
    }
    let differ = |&&(first, second): &&(usize, usize)| {
        sample
            .rows
            .iter()
            .any(|row| row.get(first) != row.get(second) && !row[first].is_empty() && !row[second].is_empty())
    };
    let twice = header.doubled.iter().find(|pair| {
        let role = own_role(&sample.names[pair.0]);
        role.is_some_and(is_needed) && differ(pair)
    });
    if let Some((first, second)) = twice {
        let (kept_name, other_name) = (sample.shown_name(*first), sample.shown_name(*second));
        return Some(SiteError::Option(format!(
            "{file}: a table in which {kept_name} and {other_name} mean the same and differ; say which counts, with a hyphen for the other: --columns \
             '{}'",
            proposal.render_line()
        )));
    }
    (!lost_columns.is_empty()).then(|| of_proposal(&proposal, sample, file, settings, &lost_columns))
}

fn reads_role(header: &RowHeader, sample: &TableSample, role: ColumnRole) -> bool {
    let of = |at: usize| header.columns.get(at).copied().flatten().and_then(|_| own_role(&sample.names[at]));
    (0..sample.names.len()).any(|at| of(at) == Some(role)) || has_tres(header, role)
}

fn has_tres(header: &RowHeader, role: ColumnRole) -> bool {
    use crate::readers::sacct::SacctColumn::{AllocGres, AllocTres, ReqGres, ReqTres};
    role.is_size() && header.has_any(&[AllocTres, ReqTres])
        || matches!(role, ColumnRole::Gpus | ColumnRole::GpusAsked) && header.has_any(&[AllocGres, ReqGres])
}

/// Roles that say what this one says.
fn covering_roles(role: ColumnRole) -> &'static [ColumnRole] {
    use ColumnRole::{
        Cpus, CpusAsked, Elapsed, Eligible, End, Gpus, GpusAsked, Limit, Nodes, NodesAsked, Start, Submit,
    };
    match role {
        Cpus | CpusAsked | Nodes | NodesAsked => &[Cpus, CpusAsked, Nodes, NodesAsked],
        Gpus | GpusAsked => &[Gpus, GpusAsked],
        Limit => &[Limit],
        Submit | Eligible => &[Submit, Eligible],
        Start => &[Start],
        End | Elapsed => &[End, Elapsed],
        _ => &[],
    }
}

fn is_needed(role: ColumnRole) -> bool {
    role.is_size() || role.is_moment() || matches!(role, ColumnRole::Limit | ColumnRole::Elapsed | ColumnRole::Wait)
}

fn of_preset(
    preset: &TablePreset,
    known_by: &str,
    sample: &TableSample,
    file: &str,
    settings: &ReadSettings,
) -> SiteError {
    let name = preset.names.first().copied().unwrap_or_default();
    if let Some(reason) = preset.lacks {
        return SiteError::Unknown {
            file: file.to_string(),
            looks: format!("this is {}, by the {known_by} of its columns", preset.title),
            advice: reason.to_string(),
        };
    }
    let trial = try_columns(sample, name, settings);
    let is_usable = trial.as_ref().is_ok_and(|figures| figures.rows == 0 || figures.jobs > 0);
    let outcome = trial.map_or_else(|error| error.to_string(), |figures| describe_outcome(&figures));
    let (zone, question) = zone_option(sample, name, settings);
    let questions = [question, preset.notes].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
    SiteError::TableColumns {
        file: file.to_string(),
        condition: if is_usable { "If it is" } else { "Once what the next line says is put right" },
        looks: format!("this is {}, by the {known_by} of its columns", preset.title),
        options: format!("--columns '{name}'{zone}"),
        outcome: outcome.into(),
        questions: questions.into(),
    }
}

/// Returns the option that the times of a table need, and the question that goes with it; nothing
/// where they have a zone.
fn zone_option(sample: &TableSample, columns: &str, settings: &ReadSettings) -> (&'static str, &'static str) {
    match lacks_zone(sample, columns, settings) {
        true => (" --timezone UTC", "are its times in UTC, or in another zone, such as Europe/Berlin?"),
        false => ("", ""),
    }
}

fn of_proposal(
    proposal: &Proposal,
    sample: &TableSample,
    file: &str,
    settings: &ReadSettings,
    stray_columns: &[usize],
) -> SiteError {
    let count = sample.column_count();
    let looks = match (sample.names.is_empty(), stray_columns) {
        (true, _) => format!("a table of {count} columns, and no header line says what the columns are"),
        (false, []) => format!("a table of {count} columns with names of its own: {}", list_names(sample, 0..count)),
        (false, columns) => format!(
            "a table of {count} columns, of which {} {} not known, and no other says what {}",
            list_names(sample, columns.iter().copied()),
            if columns.len() == 1 { "is" } else { "are" },
            if columns.len() == 1 { "it seems to" } else { "they seem to" }
        ),
    };
    let lacks = proposal.missing_facts();
    if !lacks.is_empty() && (lacks.len() > 1 || lacks[0] != "the number of processors or nodes they had") {
        return SiteError::Unknown {
            file: file.to_string(),
            looks,
            advice: format!(
                "no column says {}. Where one does, name it: --columns '{}', with the names of sacct ({})",
                lacks.join(", nor "),
                proposal.render_line(),
                missing_names(&lacks)
            ),
        };
    }
    let line = proposal.render_line();
    let outcome = try_columns(sample, &line, settings)
        .map_or_else(|error| error.to_string(), |figures| describe_outcome(&figures));
    let (zone, zone_question) = zone_option(sample, &line, settings);
    let mut open_questions: Vec<String> = (!zone.is_empty()).then(|| zone_question.to_string()).into_iter().collect();
    open_questions.extend(proposal.questions.iter().cloned());
    let mut time_format = String::new();
    if let Some(form) = sample.form.0.as_ref().filter(|_| settings.form.0.is_none()) {
        time_format = format!(" --time-format '{form}'");
        open_questions
            .extend(sample.is_unsure.then(|| "does the month of its times come where that form has it?".to_string()));
    }
    if !proposal.has_any(&[ColumnRole::Job]) {
        open_questions.push(ask_for_job_number(proposal, sample));
    }
    let has_sizes = lacks.is_empty();
    if !has_sizes {
        open_questions.push("no column says how many processors or nodes jobs had: which one, or which other table (AllocCPUS, NNodes)?".to_string());
    }
    open_questions.extend(proposal.choices.iter().filter(|(_, choice)| !choice.own).filter_map(|(at, choice)| {
        let name = sample.shown_name(*at);
        let unit = choice.unit.map_or(String::new(), |unit| format!(" in {}", unit.unit_word()));
        let day_remark =
            if choice.name.contains('+') { ", counted from an unknown day that is called 2020-01-01" } else { "" };
        (is_needed(choice.role) || choice.role == ColumnRole::Job || sample.names.is_empty())
            .then(|| format!("is {name} {}{unit}{day_remark}?", choice.role.question_words()))
    }));
    if open_questions.is_empty() {
        open_questions.push("are these figures right?".to_string());
    }
    let more = open_questions.len().saturating_sub(ASKED);
    open_questions.truncate(ASKED);
    let mut questions = open_questions.join(" ");
    if more > 0 {
        questions.push_str(&format!(" And {more} more of this kind."));
    }
    let questions = list_unnamed(proposal, sample).map_or(questions.clone(), |values| format!("{questions} {values}"));
    let options = format!("--columns '{line}'{time_format}{zone}");
    let condition = "If the answers to these questions are yes";
    SiteError::TableColumns {
        file: file.to_string(),
        looks,
        condition,
        options,
        outcome: outcome.into(),
        questions: questions.into(),
    }
}

/// Returns the question for the job's number where no column is taken for it. It names the columns
/// with a different number or name of a job in each row.
fn ask_for_job_number(proposal: &Proposal, sample: &TableSample) -> String {
    let is_unique = |at: &usize| {
        let values: BTreeSet<&str> = sample.rows.iter().map(|row| row[*at].as_str()).collect();
        values.len() == sample.rows.len() && values.iter().all(|value| Id::parse_id(value.as_bytes()).is_some())
    };
    let free = (0..sample.column_count()).filter(|at| !proposal.choices.contains_key(at));
    let unique: Vec<String> = free.filter(is_unique).take(NAMED).map(|at| sample.shown_name(at)).collect();
    match unique.split_first() {
        None => "no column has a different value in each row: rows are numbered; is a column the job's number (JobID, or JobKey for names)?".to_string(),
        Some((only, [])) => format!("rows are numbered; or is {only} the job's number (JobID, or JobKey for names)?"),
        Some(_) => format!(
            "rows are numbered; or is one of {} the job's number (JobID, or JobKey for names)?",
            unique.join(", ")
        ),
    }
}

fn list_names(sample: &TableSample, columns: impl Iterator<Item = usize>) -> String {
    let names: Vec<&str> = columns.map(|at| sample.names[at].as_str()).filter(|name| !name.is_empty()).collect();
    let more = names.len().saturating_sub(NAMED);
    let shown_names = names[..names.len().min(NAMED)].join(", ");
    if more > 0 { format!("{shown_names} and {more} more") } else { shown_names }
}

/// Values of a table without names that have no meaning yet.
fn list_unnamed(proposal: &Proposal, sample: &TableSample) -> Option<String> {
    let row = sample.rows.first().filter(|_| sample.names.is_empty())?;
    let free = row.iter().enumerate().filter(|(at, text)| !proposal.choices.contains_key(at) && !text.is_empty());
    let texts: Vec<String> =
        free.map(|(at, text)| format!("{} `{}`", at + 1, text.chars().take(24).collect::<String>())).take(12).collect();
    (!texts.is_empty()).then(|| format!("A hyphen skips a column: {}.", texts.join(", ")))
}

fn missing_names(lacks: &[&str]) -> String {
    let name = |label: &&str| match *label {
        "when jobs started" => "Start or WaitRaw",
        "when they ended or how long they ran" => "End or ElapsedRaw",
        _ => "AllocCPUS or NNodes",
    };
    lacks.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn describe_outcome(figures: &TrialFigures) -> String {
    let TrialFigures { rows, jobs, bad, .. } = figures;
    if *rows == 0 {
        return "There is no row to try it on".to_string();
    }
    if let Some(trouble) = figures.trouble.as_ref().filter(|_| *jobs == 0) {
        return format!("None of its first rows can be used: {trouble}");
    }
    let mut parts = vec![format!("{} {}", jobs, if *jobs == 1 { "job" } else { "jobs" })];
    if *bad > 0 {
        parts.push(format!("{bad} unusable {}", if *bad == 1 { "row" } else { "rows" }));
    }
    if let Some((least, most)) = figures.ids.filter(|(_, most)| *most < 1 << 40) {
        parts.push(format!("ids {least} to {most}"));
    }
    let range = |(least, most): (u32, u32), noun: &str| match least == most {
        true => format!("{least} {}", if least == 1 { noun.trim_end_matches('s') } else { noun }),
        false => format!("{least} to {most} {noun}"),
    };
    for (sizes, noun) in [(figures.cpus, "processors"), (figures.nodes, "nodes"), (figures.gpus, "GPUs")] {
        parts.extend(sizes.filter(|(_, most)| *most > 0).map(|sizes| range(sizes, noun)));
    }
    if figures.core_seconds > 0 {
        parts.push(format!("{} core-hours", format_rounded(figures.core_seconds as f64 / 3_600.0)));
    }
    if figures.ran > 0 {
        parts.push(format!("longest run {}", format_length(figures.longest)));
    }
    parts.push(match figures.limits {
        Some((least, most)) if least == most => format!("limit {}", format_length(least)),
        Some((least, most)) => format!("limits {} to {}", format_length(least), format_length(most)),
        None => "no limits".to_string(),
    });
    if let Some((from, until)) = figures.window {
        let minute = |moment: u32| crate::clock::format_minute(i64::from(moment));
        parts.push(format!("{} to {}", minute(from), minute(until)));
    }
    let rows = if *rows == 1 { "row gives".to_string() } else { format!("{rows} rows give") };
    format!("Its first {rows} {}", parts.join(", "))
}

fn format_rounded(number: f64) -> String {
    if number < 10.0 { format!("{number:.2}") } else { format!("{number:.0}") }
}

/// A length of time: `2 h 30 min`.
fn format_length(seconds: u32) -> String {
    let parts = [(seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let nonzero_parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).take(2).map(|(count, unit)| format!("{count} {unit}")).collect();
    if nonzero_parts.is_empty() { "0 s".to_string() } else { nonzero_parts.join(" ") }
}
