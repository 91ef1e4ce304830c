//! The advice, printed.

use super::advised::Advised;
use super::{document, overview, rows};
use crate::exit::CommandFailure;
use crate::output::Printable;
use crate::output::document::Document;
use crate::output::flat::FlatRows;
use drystone_report::{PictureSubject, StillPage};

impl Printable for Advised {
    fn document(&self) -> Document {
        document::document(self, document::LISTED)
    }

    fn overview(&self) -> Option<Document> {
        (!self.whole).then(|| overview::overview(self))
    }

    fn rows(&self) -> FlatRows {
        rows::rows(self)
    }

    fn page(&self) -> Result<String, CommandFailure> {
        let mut data = serde_json::to_value(self).map_err(CommandFailure::usage)?;
        let sentences = document::sentences(self);
        data["sentences"] = sentences.clone().into();
        let page = StillPage {
            title: &format!("Advice for {}", self.workload.name),
            subject: &format!("goal {}", self.goal),
            verdict: &sentences,
            pictures: PictureSubject::Advice.draw(&data).map_err(CommandFailure::usage)?,
            details: &document::document(self, usize::MAX),
            data: &data,
        };
        Ok(page.html())
    }
}
