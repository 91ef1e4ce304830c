//! Public state of a daemon: one document, published at intervals, and metrics from the same data.

mod document;
mod metrics;

pub use document::{FinishedRow, ForetoldRow, Health, LiveDocument, MachineSummary, RunningRow, SetState, WaitingRow};

use crate::daemon::budget::Budget;
use crate::daemon::config::DaemonConfig;
use crate::daemon::desk::LiveDesk;
use crate::daemon::stats::Stats;
use drystone::model::Time;
use std::sync::Arc;
use tokio::sync::watch;

pub use crate::audit::list_differences;

#[derive(Clone, Debug)]
pub struct PublishedDocument {
    pub json: String,
    /// Metrics, in the Prometheus text format.
    pub metrics: String,
}

impl Default for PublishedDocument {
    /// Nothing was looked at yet: metrics say so, for a scrape that comes first.
    fn default() -> PublishedDocument {
        PublishedDocument { json: String::new(), metrics: metrics::before_the_first_look() }
    }
}

#[derive(Debug)]
pub struct PublishedBoard {
    send: watch::Sender<Arc<PublishedDocument>>,
}

impl Default for PublishedBoard {
    fn default() -> PublishedBoard {
        PublishedBoard { send: watch::Sender::new(Arc::default()) }
    }
}

pub struct BoardSource<'a> {
    /// Each set of nodes, and its session's time.
    pub sets: Vec<(&'a LiveDesk, Time)>,
    pub stats: &'a Stats,
    /// Cost of looking.
    pub budget: &'a Budget,
    pub config: &'a DaemonConfig,
    /// The machine's clock.
    pub wall: i64,
}

impl PublishedBoard {
    /// Publishes. Returns the document.
    pub fn publish_document(&self, source: &BoardSource<'_>) -> String {
        let document = LiveDocument::from_source(source);
        // A document of numbers and texts has a form.
        let json = serde_json::to_string(&document).unwrap_or_default();
        let metrics = metrics::render_metrics(&document);
        self.send.send_replace(Arc::new(PublishedDocument { json: json.clone(), metrics }));
        json
    }

    /// To look at what is published, and to wait for more.
    pub fn watch_document(&self) -> watch::Receiver<Arc<PublishedDocument>> {
        self.send.subscribe()
    }

    /// Returns whether a reader other than the server waits for updates.
    pub fn is_watched(&self) -> bool {
        self.send.receiver_count() > 1
    }
}
