//! What people and programs see of a daemon: one document, published now and then, and metrics of
//! the same.

mod document;
mod metrics;

pub use document::{Document, Finished, Health, Machine, Running, Waiting};

use crate::core::Core;
use crate::daemon::{Budget, Config, Stats};
use drystone::model::Time;
use std::sync::Arc;
use tokio::sync::watch;

pub use crate::audit::differences;

/// What is published.
#[derive(Clone, Default, Debug)]
pub struct Published {
    /// The document, as JSON.
    pub json: String,
    /// Metrics, in the Prometheus text format.
    pub metrics: String,
}

/// Where it is published.
#[derive(Debug)]
pub struct Board {
    send: watch::Sender<Arc<Published>>,
}

impl Default for Board {
    fn default() -> Board {
        Board { send: watch::Sender::new(Arc::default()) }
    }
}

/// What a document is made of.
pub struct Source<'a> {
    /// What decides.
    pub core: &'a Core,
    /// What happened, in numbers.
    pub stats: &'a Stats,
    /// What looking costs.
    pub budget: &'a Budget,
    /// How the daemon was set up.
    pub config: &'a Config,
    /// The machine's clock.
    pub wall: i64,
    /// The session's time.
    pub now: Time,
}

impl Board {
    /// Publishes. Returns the document.
    pub fn publish(&self, source: &Source<'_>) -> String {
        let document = Document::of(source);
        // A document of numbers and texts has a form.
        let json = serde_json::to_string(&document).unwrap_or_default();
        let metrics = metrics::text(&document);
        self.send.send_replace(Arc::new(Published { json: json.clone(), metrics }));
        json
    }

    /// To look at what is published, and to wait for more.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Arc<Published>> {
        self.send.subscribe()
    }

    /// Whether anybody waits for more, beside the server itself.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.send.receiver_count() > 1
    }
}
