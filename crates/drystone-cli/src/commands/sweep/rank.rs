//! `drystone sweep rank`: configurations by their degradation from the best of each test case,
//! averaged.

use super::figures;
use super::shown::{AnalysisOrigin, ShownRanking, Within};
use crate::args::RankArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::number::format_plural;
use crate::output::{self, message, plots};
use drystone_sweep::Store;
use drystone_sweep::analysis::{CandidateTable, CaseSelection, PairedTests, Ranking, Subspace, list_some};
use std::path::Path;

pub(super) fn run_rank(args: &RankArgs) -> CommandOutcome {
    let store = open_whole_store(&args.store)?;
    let choice = CaseSelection { metrics: args.metric.clone(), workloads: args.workload.clone() };
    let table = CandidateTable::from_store(&store, &choice)?;
    let ranking = Ranking::from_table(&table);
    tell_of_zeros(&table);
    let against = baseline_place(args.against.as_deref(), &table, &ranking)?;
    let paired_tests = PairedTests::test_table(&store, &table, (against, args.against.is_some()), args.confidence)?;
    let mut subspaces = Vec::new();
    for text in &args.subspace {
        let subspace = Subspace::parse(text, &table.parameters)?;
        for (parameter, value, levels) in subspace.unmatched_conditions(&table) {
            message::print_warning(&format!(
                "--subspace {text}: no configuration has {parameter}={value}; there is {}",
                list_some(&levels)
            ));
        }
        let spread = ranking.subspace_quality(&table, &subspace);
        if spread.is_none() && subspace.unmatched_conditions(&table).is_empty() {
            message::print_warning(&format!("--subspace {text}: no configuration meets all of this"));
        }
        let distributions = ranking.within_subspace(&table, &subspace).value_distributions(&table);
        subspaces.push(Within { text: subspace.text.clone(), spread, distributions });
    }
    tell_left_out(&table);
    let shown_ranking = ShownRanking {
        distributions: ranking.value_distributions(&table),
        against: ranking.value_degradations(&table),
        origin: AnalysisOrigin::from_store(&store)?,
        top: args.top,
        table,
        ranking,
        paired: paired_tests,
        chosen: args.against.is_some(),
        subspaces,
    };
    if let Some(directory) = &args.plots {
        let about = serde_json::json!({
            "study": shown_ranking.origin.study,
            "simulated by": shown_ranking.origin.drystone,
            "configurations": shown_ranking.table.candidates.len(),
        });
        plots::write_figures(directory, &figures::ranking_figures(&shown_ranking), &about)?;
    }
    output::print_result(&shown_ranking, args.format)?;
    Ok(DONE)
}

/// Place of the candidate that the others are tested against.
fn baseline_place(baseline: Option<&str>, table: &CandidateTable, ranking: &Ranking) -> Result<usize, CommandFailure> {
    let Some(name) = baseline else {
        return Ok(ranking.ranked.first().map_or(0, |first| first.candidate));
    };
    table
        .find_candidate(name)
        .map_err(|problem| CommandFailure::usage_error(format_args!("--against {name}: {problem}")))
}

/// Notes test cases in which 0 has no multiple.
fn tell_of_zeros(table: &CandidateTable) {
    let zeros: Vec<String> = table
        .zero_tests()
        .into_iter()
        .map(|test| format!("{} of {}", table.metric_of(test), table.case_of(test)))
        .collect();
    if !zeros.is_empty() {
        message::print_note(&format!(
            "{} is 0 for some configurations: degradations there are in percent of the smallest value above 0",
            list_some(&zeros)
        ));
    }
}

/// A store to be looked at whole; one that holds a part of its study by itself says so.
pub(super) fn open_whole_store(path: &Path) -> Result<Store, CommandFailure> {
    let store = Store::open_to_read(path)?;
    let chunk = store.status()?.chunk;
    if !chunk.is_empty() {
        let name = path.display();
        message::print_warning(&format!(
            "{name} holds chunk {chunk} of its study alone; `drystone sweep merge` makes one of all"
        ));
    }
    Ok(store)
}

/// Says how many configurations are left out, and for want of what.
pub(super) fn tell_left_out(table: &CandidateTable) {
    if table.incomplete > 0 {
        let incomplete_text = format_plural(table.incomplete as u64, "configuration");
        message::print_warning(&format!("left out: {incomplete_text} without {}", table.missing_reason()));
    }
}
