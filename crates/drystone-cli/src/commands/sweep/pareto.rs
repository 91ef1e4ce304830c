//! `drystone sweep pareto`: the configurations that no other beats in every metric.

use super::rank::{open_whole_store, tell_left_out};
use super::shown::{AnalysisOrigin, parameter_level};
use crate::args::ParetoArgs;
use crate::exit::{CommandOutcome, DONE};
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{fixed_or, format_count};
use crate::output::{self, Printable};
use drystone_sweep::analysis::{CandidateTable, CaseSelection, Front};
use serde::{Serialize, Serializer};

pub(super) fn run_pareto(args: &ParetoArgs) -> CommandOutcome {
    let store = open_whole_store(&args.store)?;
    let choice = CaseSelection { metrics: args.metric.clone(), workloads: args.workload.clone() };
    let table = CandidateTable::from_store(&store, &choice)?;
    tell_left_out(&table);
    let front = Front::from_table(&table);
    output::print_result(&ShownFront { origin: AnalysisOrigin::from_store(&store)?, front, table }, args.format)?;
    Ok(DONE)
}

struct ShownFront {
    origin: AnalysisOrigin,
    front: Front,
    table: CandidateTable,
}

impl ShownFront {
    fn front_columns(&self) -> Vec<String> {
        let unit = |metric| match (self.front.degradations, self.front.means.contains(metric)) {
            (false, _) => "",
            (true, false) => ", % worse than the best",
            (true, true) => ", mean",
        };
        self.front.metrics.iter().map(|metric| format!("{metric}{}", unit(metric))).collect()
    }
}

impl Serialize for ShownFront {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = self.front.members.iter().map(|member| {
            let candidate = &self.table.candidates[member.candidate];
            let values: serde_json::Map<String, serde_json::Value> = self
                .front
                .metrics
                .iter()
                .map(ToString::to_string)
                .zip(member.values.iter().map(|&v| v.into()))
                .collect();
            let parameters: serde_json::Map<String, serde_json::Value> = self
                .table
                .parameters
                .iter()
                .enumerate()
                .map(|(at, name)| (name.clone(), parameter_level(candidate, at).into()))
                .collect();
            let mut fields = serde_json::json!({
                "policy": candidate.policy,
                "parameters": parameters,
                "values": values,
            });
            if !candidate.policies.is_empty() {
                fields["policies"] = candidate.policies.clone().into();
            }
            fields
        });
        let front = serde_json::json!({
            "schema": "drystone/sweep-pareto/1",
            "study": self.origin.study,
            "drystone": self.origin.drystone,
            "configurations": self.table.candidates.len(),
            "incomplete": self.table.incomplete,
            "workloads": self.table.cases,
            "degradations": self.front.degradations,
            "means": self.front.means.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "front": members.collect::<Vec<_>>(),
        });
        front.serialize(serializer)
    }
}

impl Printable for ShownFront {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        document.add_heading(format!(
            "{} of {} configurations are beaten by no other on {}",
            format_count(self.front.members.len() as u64),
            format_count(self.table.candidates.len() as u64),
            self.table.cases.join(", ")
        ));
        let mut grid = DocumentTable::new(["policy".to_string()].into_iter().chain(self.front_columns()));
        for member in &self.front.members {
            let policy = TableValue::from(self.table.candidates[member.candidate].policy.clone());
            let values = member.values.iter().map(|&value| TableValue::from(fixed_or(Some(value), 4)));
            grid.add_row([policy].into_iter().chain(values).collect());
        }
        document.add_table(grid);
        document
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for member in &self.front.members {
            let candidate = &self.table.candidates[member.candidate];
            let mut row = FlatRow::default();
            row.add_text("policy", &candidate.policy);
            for (at, parameter) in self.table.parameters.iter().enumerate() {
                row.add_text(parameter.clone(), parameter_level(candidate, at));
            }
            for (name, &value) in self.front_columns().into_iter().zip(&member.values) {
                row.add_number(name, Some(value));
            }
            self.origin.append_columns(&mut row);
            rows.push(row);
        }
        rows
    }
}
