//! Metrics in the Prometheus text format.

use super::{LiveDocument, SetState};
use drystone::statistics::arithmetic_mean;
use std::fmt::Write;

const PREFIX: &str = "drystone_live";

pub(super) fn before_the_first_look() -> String {
    let mut page = Page::default();
    write_ready(&mut page, false);
    page.text
}

fn write_ready(page: &mut Page, is_ready: bool) {
    page.begin_family(MetricType::Gauge, "ready", "1 once the cluster was looked at");
    page.write_sample("ready", &[], f64::from(u8::from(is_ready)));
}

pub(super) fn render_metrics(document: &LiveDocument) -> String {
    let mut page = Page::default();
    write_ready(&mut page, true);
    write_gauges(document, &mut page);
    write_counters(document, &mut page);
    page.text
}

drystone::word_enum! {
    #[derive(Clone, Copy)]
    enum MetricType {
        Gauge = "gauge",
        Counter = "counter",
    }
}

/// Metrics as text, one family behind the other.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    /// Begins a family of samples. Writing into a text cannot fail.
    fn begin_family(&mut self, kind: MetricType, name: &str, help: &str) {
        let kind = kind.name();
        let _ = writeln!(self.text, "# HELP {PREFIX}_{name} {help}\n# TYPE {PREFIX}_{name} {kind}");
    }

    fn write_sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let _ = write!(self.text, "{PREFIX}_{name}");
        for (at, (label, value)) in labels.iter().enumerate() {
            let open = if at == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{open}{label}=\"{}\"", escape_label(value));
        }
        let close = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.text, "{close} {value}");
    }
}

fn escape_label(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn write_gauges(document: &LiveDocument, page: &mut Page) {
    let (health, machine) = (&document.health, &document.machine);
    let mut gauge = |name: &str, help: &str, value: f64| {
        page.begin_family(MetricType::Gauge, name, help);
        page.write_sample(name, &[], value);
    };
    gauge(
        "driving",
        "1 where the policy starts jobs, 0 where it only looks",
        f64::from(u8::from(document.mode == crate::tracker::DaemonMode::Drive)),
    );
    gauge("last_update_seconds", "time of writing, in seconds since 1970", document.at as f64);
    gauge("stalled", "1 while released jobs do not start although there is room", f64::from(u8::from(health.stalled)));
    gauge("cluster_silent", "1 while the cluster does not answer", f64::from(u8::from(health.silent)));
    gauge(
        "book_differences",
        "differences between the books and the cluster at the last look",
        health.differences as f64,
    );
    gauge("look_cpu_seconds", "average processor time of a look at the cluster", health.look_ms / 1_000.0);
    gauge("look_period_seconds", "time from one look to the next", health.period_ms / 1_000.0);
    gauge("core_share", "share of a core that looks take", health.core_share);
    gauge("in_flight", "orders that are not seen to be carried out yet", health.in_flight as f64);
    gauge("processors", "processors of the machine", f64::from(machine.procs));
    gauge("processors_free", "processors that are free", f64::from(machine.free));
    gauge("processors_offline", "processors that are out", f64::from(machine.offline));
    gauge("nodes", "nodes of the machine", machine.nodes as f64);
    gauge("nodes_up", "nodes that are up", machine.up as f64);
    let waits: Vec<f64> = document.finished.iter().filter_map(|job| Some((job.started? - job.submit) as f64)).collect();
    let mean = arithmetic_mean(waits).unwrap_or(0.0);
    gauge("recent_wait_seconds", "mean wait of the last jobs that ended", mean);
    let late: Vec<f64> =
        document.finished.iter().filter_map(|job| Some((job.started? - job.promised?.0) as f64)).collect();
    let mean = arithmetic_mean(late.iter().map(|late| late.abs())).unwrap_or(0.0);
    gauge(
        "recent_promise_error_seconds",
        "mean distance of starts from the first that was announced, of the last jobs",
        mean,
    );
    let oldest = document.waiting.iter().filter(|job| job.held.is_none()).map(|job| document.at - job.submit).max();
    gauge("oldest_wait_seconds", "wait of the job that has waited longest", oldest.unwrap_or(0) as f64);
    page.begin_family(MetricType::Gauge, "jobs", "jobs by where they are");
    for (state, count) in &document.jobs {
        page.write_sample("jobs", &[("state", *state)], *count as f64);
    }
    write_sets(document, page);
    if !document.left_out.is_empty() {
        page.begin_family(MetricType::Gauge, "left_to_cluster", "pending jobs that are the cluster's to start");
    }
    for (reason, count) in &document.left_out {
        page.write_sample("left_to_cluster", &[("why", reason.as_str())], *count as f64);
    }
    page.begin_family(MetricType::Gauge, "info", "version, policy and cluster of the daemon");
    let labels = [("version", document.drystone), ("policy", &document.policy), ("cluster", &document.cluster)];
    page.write_sample("info", &labels, 1.0);
}

/// Several sets of nodes, each with its name; all of them together are in the other metrics.
fn write_sets(document: &LiveDocument, page: &mut Page) {
    type Value = fn(&SetState) -> f64;
    let values: [(&str, &str, Value); 7] = [
        ("set_stalled", "1 while released jobs of a set of nodes do not start although there is room", |set| {
            f64::from(u8::from(set.stalled))
        }),
        ("set_book_differences", "differences between the books of a set and the cluster", |set| {
            set.differences as f64
        }),
        ("set_in_flight", "orders of a set that are not seen to be carried out yet", |set| set.in_flight as f64),
        ("set_processors", "processors of a set", |set| f64::from(set.machine.procs)),
        ("set_processors_free", "processors of a set that are free", |set| f64::from(set.machine.free)),
        ("set_processors_offline", "processors of a set that are out", |set| f64::from(set.machine.offline)),
        ("set_nodes_up", "nodes of a set that are up", |set| set.machine.up as f64),
    ];
    for (name, help, value) in values.iter().filter(|_| !document.sets.is_empty()) {
        page.begin_family(MetricType::Gauge, name, help);
        document.sets.iter().for_each(|set| page.write_sample(name, &[("set", &set.name)], value(set)));
    }
    if !document.sets.is_empty() {
        page.begin_family(MetricType::Gauge, "set_jobs", "jobs of a set by where they are");
    }
    for set in &document.sets {
        for (state, count) in &set.jobs {
            page.write_sample("set_jobs", &[("set", &set.name), ("state", *state)], *count as f64);
        }
    }
}

fn write_counters(document: &LiveDocument, page: &mut Page) {
    let stats = &document.health.counters;
    let mut counter = |name: &str, help: &str, value: u64| {
        let name = format!("{name}_total");
        page.begin_family(MetricType::Counter, &name, help);
        page.write_sample(&name, &[], value as f64);
    };
    counter("looks", "looks that the cluster answered", stats.looks);
    counter("failures", "looks that came to nothing", stats.failures);
    counter("decisions", "decisions that led to something", stats.decisions);
    counter("starts", "starts that were decided, or proposed in shadow mode", stats.starts);
    counter("missed", "jobs that came and went unseen", stats.missed);
    if !stats.orders.is_empty() {
        page.begin_family(MetricType::Counter, "orders_total", "orders by verb and outcome");
    }
    for (name, count) in &stats.orders {
        if let Some((verb, outcome)) = name.split_once(' ') {
            page.write_sample("orders_total", &[("verb", verb), ("outcome", outcome)], *count as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the format's specification: a backslash, a quote and the end of a line.
    #[test]
    fn labels_are_escaped() {
        let mut page = Page::default();
        page.write_sample("jobs", &[("state", "C:\\DIR"), ("why", "said \"no\"\nat once")], 3.0);
        assert_eq!(page.text, "drystone_live_jobs{state=\"C:\\\\DIR\",why=\"said \\\"no\\\"\\nat once\"} 3\n");
    }
}
