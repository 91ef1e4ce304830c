//! Published tables that check a variant of a policy.

use crate::exit::CommandFailure;
use crate::output::document::DocumentTable;
use drystone_reproduce::{PaperStudy, RowSpec, builtin};

/// Returns a table of these variants and the published tables that check each.
pub(crate) fn checks(variants: &[&str]) -> Result<DocumentTable, CommandFailure> {
    let studies = builtin().map_err(CommandFailure::usage)?;
    let mut table = DocumentTable::new(["variant", "tables"]).texts(&[0, 1]);
    for variant in variants {
        let checked = studies.iter().filter_map(|study| checked_by(study, variant)).collect::<Vec<_>>();
        let checked = if checked.is_empty() { "none".to_string() } else { checked.join("; ") };
        table.row(vec![(*variant).to_string().into(), checked.into()]);
    }
    Ok(table)
}

/// The study's tables with a published value under this variant.
fn checked_by(study: &PaperStudy, variant: &str) -> Option<String> {
    let under =
        |policy: &str| policy.strip_prefix(variant).is_some_and(|rest| rest.is_empty() || rest.starts_with('('));
    let judges = |row: &RowSpec| row.tolerance.is_some() && row.policy.as_deref().is_some_and(under);
    let tables = study.tables.iter().filter(|t| t.rows.iter().any(judges)).map(|t| t.id.as_str());
    let tables = tables.collect::<Vec<_>>().join(", ");
    (!tables.is_empty()).then(|| format!("{}: {tables}", study.name))
}
