//! The advice, printed.

use super::advised::Advised;
use super::{document, overview, rows};
use crate::exit::CommandFailure;
use crate::output::Printable;
use crate::output::document::Document;
use crate::output::flat::FlatRows;
use drystone_report::{PictureSubject, StillPage};

impl Printable for Advised {
    fn render_document(&self) -> Document {
        document::render_document(self, document::LISTED)
    }

    fn render_overview(&self) -> Option<Document> {
        (!self.whole).then(|| overview::render_overview(self))
    }

    fn render_rows(&self) -> FlatRows {
        rows::render_rows(self)
    }

    fn render_page(&self) -> Result<String, CommandFailure> {
        let mut data = serde_json::to_value(self).map_err(CommandFailure::usage_error)?;
        let sentences = document::verdict_sentences(self);
        data["sentences"] = sentences.clone().into();
        let page = StillPage {
            title: &format!("Advice for {}", self.workload.name),
            subject: &format!("goal {}", self.goal),
            verdict: &sentences,
            pictures: PictureSubject::Advice.draw_pictures(&data).map_err(CommandFailure::usage_error)?,
            details: &document::render_document(self, usize::MAX),
            data: &data,
        };
        Ok(page.render_html())
    }
}
