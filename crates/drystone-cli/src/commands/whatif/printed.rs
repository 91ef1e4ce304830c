//! Result, printed.

use super::result::WhatIfResult;
use super::{document, rows};
use crate::exit::CommandFailure;
use crate::output::Printable;
use crate::output::document::Document;
use crate::output::flat::FlatRows;
use drystone_report::{PictureSubject, StillPage};

impl Printable for WhatIfResult {
    fn render_document(&self) -> Document {
        if self.whole { document::render_whole(self) } else { document::render_overview(self) }
    }

    fn render_overview(&self) -> Option<Document> {
        (!self.whole).then(|| document::render_overview(self))
    }

    fn render_rows(&self) -> FlatRows {
        rows::render_rows(self)
    }

    fn beyond_rows(&self) -> Option<&'static str> {
        None
    }

    fn render_page(&self) -> Result<String, CommandFailure> {
        let mut data = serde_json::to_value(self).map_err(CommandFailure::usage_error)?;
        let sentences = document::result_sentences(self);
        data["sentences"] = sentences.clone().into();
        let page = StillPage {
            title: &format!("What-if: {}", self.workload.name),
            subject: &self.policy,
            verdict: &sentences,
            pictures: PictureSubject::WhatIf.draw_pictures(&data).map_err(CommandFailure::usage_error)?,
            details: &document::render_whole(self),
            data: &data,
        };
        Ok(page.render_html())
    }
}
