//! Result, printed.

use super::result::WhatIfResult;
use super::{document, rows};
use crate::exit::CommandFailure;
use crate::output::Printable;
use crate::output::document::Document;
use crate::output::flat::FlatRows;
use drystone_report::{PictureSubject, StillPage};

impl Printable for WhatIfResult {
    fn document(&self) -> Document {
        if self.whole { document::whole(self) } else { document::overview(self) }
    }

    fn overview(&self) -> Option<Document> {
        (!self.whole).then(|| document::overview(self))
    }

    fn rows(&self) -> FlatRows {
        rows::rows(self)
    }

    fn beyond_rows(&self) -> Option<&'static str> {
        None
    }

    fn page(&self) -> Result<String, CommandFailure> {
        let mut data = serde_json::to_value(self).map_err(CommandFailure::usage)?;
        let sentences = document::sentences(self);
        data["sentences"] = sentences.clone().into();
        let page = StillPage {
            title: &format!("What-if: {}", self.workload.name),
            subject: &self.policy,
            verdict: &sentences,
            pictures: PictureSubject::WhatIf.draw(&data).map_err(CommandFailure::usage)?,
            details: &document::whole(self),
            data: &data,
        };
        Ok(page.html())
    }
}
