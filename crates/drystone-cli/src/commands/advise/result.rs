//! The advice, printed.

use super::advised::Advised;
use super::{document, overview, rows};
use crate::exit::Failure;
use crate::output::Printable;
use crate::output::document::Document;
use crate::output::flat::Rows;

impl Printable for Advised {
    fn document(&self) -> Document {
        document::document(self)
    }

    fn overview(&self) -> Option<Document> {
        (!self.whole).then(|| overview::overview(self))
    }

    fn rows(&self) -> Rows {
        rows::rows(self)
    }

    fn page(&self) -> Result<String, Failure> {
        let mut data = serde_json::to_value(self).map_err(Failure::usage)?;
        data["sentences"] = document::sentences(self).into();
        Ok(drystone_report::advice_page(&data))
    }
}
