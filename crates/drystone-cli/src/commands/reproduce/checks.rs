//! Published tables that check a variant of a policy.

use crate::exit::CommandFailure;
use crate::output::document::DocumentTable;
use drystone_reproduce::{PaperStudy, RowSpec, read_builtin};

/// Returns a table of these variants and the published tables that check each.
pub(crate) fn check_table(variants: &[&str]) -> Result<DocumentTable, CommandFailure> {
    let studies = read_builtin().map_err(CommandFailure::usage_error)?;
    let mut table = DocumentTable::new(["variant", "tables"]).with_text_columns(&[0, 1]);
    for variant in variants {
        let tables = studies.iter().filter_map(|study| checked_by(study, variant)).collect::<Vec<_>>();
        let table_text = if tables.is_empty() { "none".to_string() } else { tables.join("; ") };
        table.add_row(vec![(*variant).to_string().into(), table_text.into()]);
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
