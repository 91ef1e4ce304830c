//! Metrics in the Prometheus text format.

use super::Document;
use prometheus::core::Collector;
use prometheus::{Encoder, Gauge, GaugeVec, IntCounter, IntCounterVec, Opts, Registry, TextEncoder};

/// Prefix of every name.
const PREFIX: &str = "drystone_live";

/// The text. A name that the library refuses is left out: none is.
pub(super) fn text(document: &Document) -> String {
    let registry = Registry::new();
    gauges(document, &registry);
    counters(document, &registry);
    let mut bytes = Vec::new();
    let _ = TextEncoder::new().encode(&registry.gather(), &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn add(registry: &Registry, made: prometheus::Result<impl Collector + 'static>) {
    if let Ok(metric) = made {
        let _ = registry.register(Box::new(metric));
    }
}

fn gauges(document: &Document, registry: &Registry) {
    let (health, machine) = (&document.health, &document.machine);
    let gauge = |name: &str, help: &str, value: f64| {
        let made = Gauge::new(format!("{PREFIX}_{name}"), help).inspect(|gauge| gauge.set(value));
        add(registry, made);
    };
    gauge(
        "driving",
        "1 where the policy starts jobs, 0 where it only looks",
        f64::from(u8::from(document.mode == crate::tracker::Mode::Drive)),
    );
    gauge("last_update_seconds", "when the daemon wrote this, in seconds since 1970", document.at as f64);
    gauge("stalled", "1 while released jobs do not start although there is room", f64::from(u8::from(health.stalled)));
    gauge("cluster_silent", "1 while the cluster does not answer", f64::from(u8::from(health.silent)));
    gauge("book_differences", "where the books differ from the cluster at the last look", health.differences as f64);
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
    let mean = if waits.is_empty() { 0.0 } else { waits.iter().sum::<f64>() / waits.len() as f64 };
    gauge("recent_wait_seconds", "mean wait of the last jobs that ended", mean);
    let late: Vec<f64> =
        document.finished.iter().filter_map(|job| Some((job.started? - job.promised?.0) as f64)).collect();
    let mean = if late.is_empty() { 0.0 } else { late.iter().map(|late| late.abs()).sum::<f64>() / late.len() as f64 };
    gauge(
        "recent_promise_error_seconds",
        "mean distance of starts from the first that was announced, of the last jobs",
        mean,
    );
    let oldest = document.waiting.iter().filter(|job| job.held.is_none()).map(|job| document.at - job.submit).max();
    gauge("oldest_wait_seconds", "how long the job waits that has waited longest", oldest.unwrap_or(0) as f64);
    let places = GaugeVec::new(Opts::new(format!("{PREFIX}_jobs"), "jobs by where they are"), &["state"]);
    if let Ok(vector) = &places {
        for (state, count) in &document.jobs {
            vector.with_label_values(&[*state]).set(*count as f64);
        }
    }
    add(registry, places);
    let foreign = GaugeVec::new(
        Opts::new(format!("{PREFIX}_left_to_cluster"), "pending jobs that are the cluster's to start"),
        &["why"],
    );
    if let Ok(vector) = &foreign {
        for (why, count) in &document.left_out {
            vector.with_label_values(&[why.as_str()]).set(*count as f64);
        }
    }
    add(registry, foreign);
    let info = GaugeVec::new(Opts::new(format!("{PREFIX}_info"), "what runs here"), &["version", "policy", "cluster"]);
    if let Ok(vector) = &info {
        vector.with_label_values(&[document.drystone, &document.policy, &document.cluster]).set(1.0);
    }
    add(registry, info);
}

fn counters(document: &Document, registry: &Registry) {
    let stats = &document.health.counters;
    let counter = |name: &str, help: &str, value: u64| {
        let made = IntCounter::new(format!("{PREFIX}_{name}_total"), help).inspect(|counter| counter.inc_by(value));
        add(registry, made);
    };
    counter("looks", "looks that the cluster answered", stats.looks);
    counter("failures", "looks that came to nothing", stats.failures);
    counter("decisions", "decisions that led to something", stats.decisions);
    counter("starts", "starts that were decided, or proposed in shadow mode", stats.starts);
    counter("missed", "jobs that came and went unseen", stats.missed);
    let orders = IntCounterVec::new(
        Opts::new(format!("{PREFIX}_orders_total"), "orders by verb and outcome"),
        &["verb", "outcome"],
    );
    if let Ok(vector) = &orders {
        for (name, count) in &stats.orders {
            if let Some((verb, outcome)) = name.split_once(' ') {
                vector.with_label_values(&[verb, outcome]).inc_by(*count);
            }
        }
    }
    add(registry, orders);
}
