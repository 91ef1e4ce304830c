//! Predictors that `predict=` accepts, as `drystone policies` shows them.

use super::parameters::ParamEntry;
use crate::output::document::{Document, DocumentTable};
use drystone::parts::predict::{PredictorKind, predictor_kinds};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct PredictorEntry {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    learns: bool,
    parameters: Vec<ParamEntry>,
}

impl From<&PredictorKind> for PredictorEntry {
    fn from(kind: &PredictorKind) -> PredictorEntry {
        PredictorEntry {
            name: kind.name,
            summary: kind.summary,
            source: kind.source,
            learns: kind.learns,
            parameters: kind.params.iter().map(|p| ParamEntry::new(p, &[])).collect(),
        }
    }
}

pub(super) fn list_predictors() -> Vec<PredictorEntry> {
    predictor_kinds().into_iter().map(Into::into).collect()
}

pub(super) fn append_predictors(entries: &[PredictorEntry], document: &mut Document) {
    document.add_heading("Predictors, for predict=");
    let mut table = DocumentTable::new(["predictor", "prediction", "source"]).with_text_columns(&[0, 1, 2]);
    for kind in entries {
        table.add_row(vec![kind.name.into(), kind.summary.into(), kind.source.into()]);
    }
    document.add_table(table);
    document.add_text("double(PREDICTOR) and times(K,PREDICTOR) multiply the predictions of another one.");
    document.add_heading("Parameters of predictors");
    let mut table = DocumentTable::new(["predictor", "parameter", "default", "meaning", "values"])
        .with_text_columns(&[0, 1, 2, 3, 4]);
    for (kind, p) in entries.iter().flat_map(|kind| kind.parameters.iter().map(move |p| (kind, p))) {
        let values = p.values.as_str().into();
        table.add_row(vec![kind.name.into(), p.name.into(), p.default.into(), p.describe_meaning().into(), values]);
    }
    document.add_table(table);
}
