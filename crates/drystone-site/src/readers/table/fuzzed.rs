//! Random tables: columns shuffled, renamed and doubled. No proposal contradicts its own values.

use super::propose::{ColumnChoice, Proposal, propose_columns};
use super::sample::TableSample;
use super::words::ColumnRole;
use crate::readers::sacct::{parse_column_name, try_columns};
use crate::rows::ReadSettings;
use proptest::prelude::*;

/// Names that columns of tables have, some of which mean another thing than they seem to.
const NAMES: &[&str] = &[
    "job_id",
    "id",
    "jobid",
    "history_id",
    "task_id",
    "user",
    "owner",
    "submit_time",
    "queued_at",
    "start_time",
    "begin",
    "end_time",
    "finish",
    "elapsed",
    "runtime_s",
    "run_minutes",
    "walltime",
    "time_limit",
    "timelimit",
    "max_minutes",
    "limit_h",
    "requested_minutes",
    "cpus",
    "n_cores",
    "ncpus",
    "cpu_seconds",
    "cpu",
    "core_hours",
    "nodes",
    "nnodes",
    "num_nodes",
    "gpus",
    "gpu_num",
    "queue",
    "queue_wait_s",
    "partition",
    "state",
    "status",
    "exit_status",
    "wait_time",
    "cpus_per_task",
    "nodelist",
    "colour",
    "QUEUED_DATE_ID",
    "duration",
    "AllocCPUS",
    "ReqCPUS",
    "Start",
    "End",
    "JobID",
    "pending_min",
    "waited",
];

fn column_value(kind: u8, row: u64, seed: u64) -> String {
    let mix = row.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed) >> 20;
    let submit = 1_700_000_000 + row * 50;
    let (start, ran) = (submit + mix % 400, 30 + mix % 5_000);
    match kind {
        0 => (row + 1).to_string(),
        1 => submit.to_string(),
        2 => start.to_string(),
        3 => (start + ran).to_string(),
        4 => ran.to_string(),
        5 => (ran / 60).to_string(),
        6 => ((ran / 600 + 1) * 600).to_string(),
        7 => (1 + mix % 64).to_string(),
        8 => format!("{}.5", mix % 1_000),
        9 => ["COMPLETED", "FAILED", "CANCELLED"][(mix % 3) as usize].to_string(),
        10 => ["ann", "bob", "cyd"][(mix % 3) as usize].to_string(),
        11 => "0".to_string(),
        12 => String::new(),
        13 => format!("2023-11-14 {:02}:{:02}:00", 10 + row / 60 % 10, row % 60),
        14 => format!("{:02}:{:02}:00", mix % 48, mix % 60),
        15 => (start - submit).to_string(),
        16 => ((ran + mix % 7) * (1 + mix % 4)).to_string(),
        17 => ((start - submit) as f64 / 60.0).to_string(),
        _ => format!("x{mix},\"y"),
    }
}

fn parse_number(text: &str) -> Option<f64> {
    super::values::parse_moment(text, &crate::text::TimeForm::default()).or_else(|| text.parse().ok())
}

fn check_proposal(sample: &TableSample) -> Result<(), TestCaseError> {
    let proposal = propose_columns(sample);
    let line = proposal.render_line();
    prop_assert_eq!(line.split(',').count(), sample.column_count());
    // Each meaning once.
    let mut meanings: Vec<_> =
        line.split(',').filter_map(|name| parse_column_name(name).0).map(|column| column as usize).collect();
    let meaning_count = meanings.len();
    meanings.sort_unstable();
    meanings.dedup();
    prop_assert_eq!(meanings.len(), meaning_count, "{}", line);
    // The line is tried on the rows before it is printed: nothing may fail.
    let figures = try_columns(sample, &line, &ReadSettings::default());
    prop_assert!(figures.is_ok() || line.split(',').all(|name| name == "-"), "{line}: {figures:?}");
    let column = |role: ColumnRole| {
        let at = proposal.place_of(role)?;
        Some((proposal.choices[&at].clone(), sample.rows.iter().map(|row| parse_number(&row[at])).collect::<Vec<_>>()))
    };
    let rows = sample.rows.len();
    let pairs = |a: &[Option<f64>], b: &[Option<f64>]| {
        a.iter()
            .zip(b)
            .filter_map(|(a, b)| Some(((*a)?, (*b)?)))
            .filter(|(a, b)| *a > 0.0 && *b > 0.0)
            .collect::<Vec<_>>()
    };
    let mostly = |pairs: &[(f64, f64)], test: fn(&(f64, f64)) -> bool| {
        pairs.is_empty() || pairs.iter().filter(|pair| test(pair)).count() * 10 >= pairs.len() * 9
    };
    for (early, late) in [
        (ColumnRole::Submit, ColumnRole::Start),
        (ColumnRole::Submit, ColumnRole::End),
        (ColumnRole::Start, ColumnRole::End),
    ] {
        if let (Some((_, early)), Some((_, late))) = (column(early), column(late)) {
            prop_assert!(mostly(&pairs(&early, &late), |(a, b)| a <= &(b + 1.0)), "{line}");
        }
    }
    for role in ColumnRole::ALL.into_iter().filter(|role| role.is_size()) {
        if let Some((choice, values)) = column(role) {
            let whole = values.iter().flatten().all(|value| value.fract() == 0.0 && *value >= 0.0 && *value <= 2e7);
            prop_assert!(whole || choice.own && rows == 0, "{line}: {choice:?}");
        }
    }
    if let (Some(at), None) = (proposal.place_of(ColumnRole::Job), proposal.place_of(ColumnRole::Task)) {
        let mut ids: Vec<&String> = sample.rows.iter().map(|row| &row[at]).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert!(ids.len() * 100 >= rows * 95, "{line}");
    }
    check_wait(&proposal, column, &line)?;
    // A limit is not the run time in every row, and is kept in most.
    if let (Some((limit, limits)), Some((_, starts)), Some((_, ends))) =
        (column(ColumnRole::Limit), column(ColumnRole::Start), column(ColumnRole::End))
    {
        let unit = limit.unit.map_or(1.0, |unit| unit.seconds_per_unit());
        let ran: Vec<Option<f64>> = ends.iter().zip(&starts).map(|(end, start)| Some((*end)? - (*start)?)).collect();
        let limits: Vec<Option<f64>> = limits.iter().map(|value| value.map(|value| value * unit)).collect();
        let run_limit_pairs = pairs(&ran, &limits);
        prop_assert!(mostly(&run_limit_pairs, |(ran, limit)| *ran <= limit * 1.05 + 120.0), "{line}");
        let alike = run_limit_pairs.iter().filter(|(ran, limit)| (ran - limit).abs() < 1.0 && *ran > 2.0).count();
        prop_assert!(run_limit_pairs.len() < 3 || alike < run_limit_pairs.len(), "{line}");
    }
    Ok(())
}

/// Checks that a wait says one moment that nothing else says, is never negative, and ends before
/// the job in most rows.
fn check_wait(
    proposal: &Proposal,
    column: impl Fn(ColumnRole) -> Option<(ColumnChoice, Vec<Option<f64>>)>,
    line: &str,
) -> Result<(), TestCaseError> {
    let Some((choice, waits)) = column(ColumnRole::Wait) else { return Ok(()) };
    prop_assert!(proposal.has_any(&[ColumnRole::Submit]) && !proposal.has_any(&[ColumnRole::Start]), "{line}");
    prop_assert!(!(proposal.has_any(&[ColumnRole::End]) && proposal.has_any(&[ColumnRole::Elapsed])), "{line}");
    let unit = choice.unit.map_or(1.0, |unit| unit.seconds_per_unit());
    prop_assert!(waits.iter().flatten().all(|wait| *wait >= 0.0), "{line}");
    if let (Some((_, submits)), Some((_, ends))) = (column(ColumnRole::Submit), column(ColumnRole::End)) {
        let rows = waits.iter().zip(submits.iter().zip(&ends));
        let fits_of_rows: Vec<bool> =
            rows.filter_map(|(wait, (submit, end))| Some((*wait)? * unit + (*submit)? <= (*end)? + 1.0)).collect();
        prop_assert!(fits_of_rows.iter().filter(|fits| **fits).count() * 10 >= fits_of_rows.len() * 9, "{line}");
    }
    Ok(())
}

#[test]
fn a_limit_of_few_rows_has_the_unit_that_it_needs() {
    // Twelve hours and a limit of one: a day.
    let names = ["walltime", "end_time", "Start"].map(str::to_string).to_vec();
    let rows = vec![["1", "1700000000", "2023-11-14 10:00:00"].map(str::to_string).to_vec()];
    let sample = TableSample { names, rows, ..TableSample::default() };
    check_proposal(&sample).expect("no contradiction");
    assert_eq!(propose_columns(&sample).render_line(), "TimelimitSeconds*86400,end_time,Start");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_proposal_contradicts_its_own_values(
        columns in prop::collection::vec((0..NAMES.len(), 0..19_u8), 3..14),
        rows in 0..40_u64,
        seed in any::<u32>(),
        named in any::<bool>(),
    ) {
        let names = if named { columns.iter().map(|(name, _)| NAMES[*name].to_string()).collect() } else { Vec::new() };
        let cells = |row: u64| columns.iter().map(|(_, kind)| column_value(*kind, row, u64::from(seed))).collect();
        let sample = TableSample { names, rows: (0..rows.max(u64::from(!named))).map(cells).collect(), ..TableSample::default() };
        check_proposal(&sample)?;
    }

    #[test]
    fn any_text_is_a_table_or_none(lines in prop::collection::vec("[a-z0-9,|;:\" _\\-./]{0,40}", 0..12)) {
        let text = lines.join("\n");
        super::looks_like_jobs(text.as_bytes(), None);
        let lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
        if let Some(sample) = TableSample::of_lines(&lines, None) {
            check_proposal(&sample)?;
        }
    }
}
