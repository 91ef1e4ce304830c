//! `drystone live status`.

use super::find_home;
use crate::args::LiveStatusArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::document::{Document, DocumentTable};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::format_plural;
use crate::output::{self, Printable};
use drystone_live::clock::unix_seconds;
use drystone_live::state::{Beat, Home, Lock};
use serde::Serialize;
use serde_json::Value;

/// Notes that are printed.
const NOTES: usize = 8;

pub(super) fn run_status(args: &LiveStatusArgs) -> CommandOutcome {
    let home = find_home(&args.home);
    output::print_result(&LiveStatus::from_home(&home)?, args.format)?;
    Ok(DONE)
}

#[derive(Serialize)]
struct LiveStatus {
    schema: &'static str,
    /// Holder of the lock; `None` where no daemon works.
    daemon: Option<String>,
    heartbeat: String,
    /// Age of the heartbeat, in seconds.
    heartbeat_age: Option<i64>,
    /// Last document of the daemon; its `at` gives its age.
    published: Option<Value>,
}

impl LiveStatus {
    fn from_home(home: &Home) -> Result<LiveStatus, CommandFailure> {
        let (heartbeat, heartbeat_age) = match Beat::read_beat(&home.heartbeat_path()) {
            Beat::At { second, instance } => (instance, Some(unix_seconds() - second)),
            Beat::Off => ("everything was given back".to_string(), None),
            Beat::Missing => ("none: nothing is driven".to_string(), None),
            Beat::Garbled => ("it makes no sense: the hook lets jobs pass".to_string(), None),
        };
        let published_status = match std::fs::read(home.status_path()) {
            Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(CommandFailure::usage_error)?),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(CommandFailure::usage_error(format_args!(
                    "{}: this user may not read it; the daemon's user, its group and root may",
                    home.status_path().display()
                )));
            }
            Err(_) => None,
        };
        let daemon = Lock::find_holder(&home.lock_path());
        if daemon.is_none() && published_status.is_none() && heartbeat_age.is_none() && !home.journal_folder().exists()
        {
            return Err(CommandFailure::usage_error(format_args!(
                "{}: no daemon has worked here; --state names the folder of the one that you mean",
                home.state_folder().display()
            )));
        }
        Ok(LiveStatus {
            schema: "drystone/live-status/1",
            daemon,
            heartbeat,
            heartbeat_age,
            published: published_status,
        })
    }

    fn status_facts(&self) -> Vec<(String, String)> {
        let mut facts = vec![("daemon", self.daemon.clone().unwrap_or_else(|| "none works here".into()))];
        let age = self.heartbeat_age.map_or(String::new(), |age| format!(", {age} s ago"));
        facts.push(("heartbeat", format!("{}{age}", self.heartbeat)));
        let Some(status) = &self.published else { return owned_facts(facts) };
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
        let health = &status["health"];
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        let places = match status["on_nodes"].as_bool() {
            Some(true) => ", on nodes",
            Some(false) => ", by counts",
            None => "",
        };
        facts.push(("mode", format!("{} by {}{places}", text(&status["mode"]), text(&status["policy"]))));
        facts.push(("cluster", text(&status["cluster"])));
        facts.push(("published", format!("{} s ago", unix_seconds() - status["at"].as_i64().unwrap_or(0))));
        let jobs = status["jobs"].as_object().map_or(String::new(), |jobs| {
            jobs.iter().map(|(state, count)| format!("{count} {state}")).collect::<Vec<_>>().join(", ")
        });
        facts.push(("jobs", if jobs.is_empty() { "none".to_string() } else { jobs }));
        let machine = &status["machine"];
        facts.push((
            "processors",
            format!("{} free of {}, {} out", machine["free"], machine["procs"], machine["offline"]),
        ));
        for set in status["sets"].as_array().into_iter().flatten() {
            let (jobs, machine) = (&set["jobs"], &set["machine"]);
            let of = |state: &str| jobs[state].as_u64().unwrap_or(0);
            let stall_note = if set["stalled"] == true { "; released jobs do not start" } else { "" };
            facts.push((
                "set",
                format!(
                    "{}: {} waiting, {} held, {} running; {} processors free of {}, {} out{stall_note}",
                    text(&set["name"]),
                    of("waiting"),
                    of("held"),
                    of("running"),
                    machine["free"],
                    machine["procs"],
                    machine["offline"]
                ),
            ));
        }
        facts.push(("in flight", health["in_flight"].to_string()));
        facts.push(("differences", format!("{} between cluster and session at the last look", health["differences"])));
        facts.push((
            "looks",
            format!(
                "{}, {:.1} ms each every {:.2} s, {:.1} % of a core; {} came to nothing, {} unseen",
                health["counters"]["looks"],
                number(&health["look_ms"]),
                number(&health["period_ms"]) / 1_000.0,
                number(&health["core_share"]) * 100.0,
                health["counters"]["failures"],
                format_plural(health["counters"]["missed"].as_u64().unwrap_or(0), "job")
            ),
        ));
        if health["stalled"] == true {
            facts.push(("stall", "released jobs do not start although processors are idle".into()));
        }
        if health["silent"] == true {
            facts.push(("cluster", "does not answer".into()));
        }
        owned_facts(facts)
    }
}

fn owned_facts(facts: Vec<(&str, String)>) -> Vec<(String, String)> {
    facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

impl Printable for LiveStatus {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        document.add_facts(self.status_facts());
        let Some(status) = &self.published else { return document };
        if let Some(orders) = status["health"]["counters"]["orders"].as_object().filter(|orders| !orders.is_empty()) {
            let mut table = DocumentTable::new(["orders", "count"]);
            orders.iter().for_each(|(name, count)| table.add_row(vec![name.clone().into(), count.to_string().into()]));
            document.add_table(table);
        }
        for note in status["health"]["notes"].as_array().into_iter().flatten().take(NOTES) {
            document.add_text(note["text"].as_str().unwrap_or_default().to_string());
        }
        document
    }

    /// Scripts search these lines.
    fn render_overview(&self) -> Option<Document> {
        None
    }

    fn render_rows(&self) -> FlatRows {
        let mut row = FlatRow::default();
        for (name, value) in self.status_facts() {
            row.add_text(name, value);
        }
        let mut rows = FlatRows::default();
        rows.push(row);
        rows
    }
}
