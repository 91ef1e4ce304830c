//! Report of an import, for people.

use crate::clock;
use crate::machine::PoolUnit;
use crate::manifest::{Manifest, PoolSummary};
use crate::words::count_noun;
use std::fmt::Write;

/// The account of an import as text.
pub fn render_report(manifest: &Manifest) -> String {
    let mut text = String::new();
    let m = manifest;
    let name = if m.cluster.is_empty() { "a cluster" } else { m.cluster.as_str() };
    let users = match m.users {
        0 => "users that are not recorded".to_string(),
        users => count_noun(users, "user"),
    };
    let _ = writeln!(
        text,
        "{name}: {}, {} unusable; {} of {users}",
        count_noun(m.rows, "row"),
        m.bad_rows,
        count_noun(m.jobs, "job")
    );
    for file in &m.files {
        let _ = writeln!(text, "  {}: {}, {}", file.name, count_noun(file.rows, "row"), file.kind);
    }
    if !m.ignored_columns.is_empty() {
        let _ = writeln!(text, "  columns not needed: {}", m.ignored_columns.join(", "));
    }
    let zone = |moment: i64| clock::format_moment(moment).replace('T', " ");
    let w = &m.window;
    let _ = writeln!(text, "\nWindow (UTC): {} to {}; {}", zone(w.from), zone(w.until), w.evidence);
    let _ = writeln!(
        text,
        "  running at its beginning: {}, waiting: {}; at its end: {} and {}",
        count_noun(w.running_at_start, "job"),
        w.queued_at_start,
        w.running_at_end,
        w.queued_at_end
    );
    for bias in &w.bias {
        let _ = writeln!(text, "  {bias}");
    }
    let _ = writeln!(text, "\nMachine");
    for line in &m.evidence {
        let _ = writeln!(text, "  {line}");
    }
    for pool in &m.pools {
        pool_text(&mut text, pool);
    }
    let _ = writeln!(text, "\nRules (core-seconds: processors times seconds of the rows or jobs)");
    let _ =
        writeln!(text, "{:>10} {:>10} {:>16}  {:<8} {:<16} meaning", "rows", "jobs", "core-seconds", "effect", "rule");
    for rule in &m.rules {
        let _ = writeln!(
            text,
            "{:>10} {:>10} {:>16}  {:<8} {:<16} {}",
            rule.rows, rule.jobs, rule.core_seconds, rule.effect, rule.name, rule.meaning
        );
        // What was lost, and what may have been misread, is named.
        let is_listed = rule.effect == crate::rules::RuleEffect::Bad || NAMED.contains(&rule.name.as_str());
        for example in rule.examples.iter().filter(|e| is_listed && !e.place.is_empty()) {
            let _ = writeln!(text, "{:>39}{}: {}", "", example.place, example.text);
        }
    }
    if !m.warnings.is_empty() {
        let _ = writeln!(text, "\nWorth knowing");
        for warning in &m.warnings {
            let _ = writeln!(text, "  - {warning}");
        }
    }
    let gaps = if m.on_nodes { BESIDE_SLURM } else { UNMODELLED };
    let not: Vec<&str> = gaps.iter().copied().filter(|gap| *gap != LIMITS || m.limits == 0).collect();
    let _ = writeln!(text, "\nNot simulated: {}", not.join("; "));
    text
}

/// Gaps where a site is simulated on its nodes, under its own `slurm.conf`.
const BESIDE_SLURM: &[&str] = &[
    "topology of the network",
    "the behaviour of jobs within reservations elsewhere",
    "changes of limits while a job runs (the recorded limit is the last one)",
    "users that react to waits",
];

/// Rules whose rows are no loss, but may have been misread.
const NAMED: &[&str] = &["field", "same-id", "overdue", "wide", "message", "no-pool", "partition-list"];

/// Limits, where none is known.
const LIMITS: &str = "limits of QOS, accounts and users";

/// Facts that no import can give a simulation yet.
const UNMODELLED: &[&str] = &[
    "memory and GPUs other than as dominant share",
    "constraints and features of nodes",
    "caps of partitions on nodes",
    LIMITS,
    "fair share",
    "preemption",
    "topology",
    "changes of limits while a job runs (the recorded limit is the last one)",
    "users that react to waits",
];

fn pool_text(text: &mut String, pool: &PoolSummary) {
    let unit = match pool.unit {
        PoolUnit::Cpu => "processors",
        PoolUnit::Node => "nodes",
        PoolUnit::Gpu => "GPUs",
    };
    let size = if pool.described { "as described" } else { "at least: as far as jobs show" };
    let _ = writeln!(
        text,
        "  {}: {} {unit} ({size}); {}, {}, {}; {} {}",
        pool.name,
        pool.units,
        count_noun(u64::from(pool.nodes), "node"),
        count_noun(pool.cpus, "processor"),
        count_noun(pool.gpus, "GPU"),
        if pool.partitions.len() == 1 { "partition" } else { "partitions" },
        if pool.partitions.is_empty() { "none".to_string() } else { pool.partitions.join(", ") }
    );
    let _ = writeln!(
        text,
        "    {}, {} core-seconds; whole nodes {:.1}% of these, GPUs with {:.1}% of the jobs, so it is counted in {unit}",
        count_noun(pool.jobs, "job"),
        pool.core_seconds,
        pool.whole_nodes,
        pool.with_gpus
    );
    if pool.described && pool.nodes > 0 {
        shares_text(text, pool, unit);
        if pool.packing_fits > 0 {
            let _ = writeln!(
                text,
                "    packing gap: at {} of {} moments at which the oldest waiting job fitted by its size, no set of nodes had room",
                pool.packing_gaps, pool.packing_fits
            );
        }
    }
    if pool.out > 0.0 {
        let _ = writeln!(text, "    out of service or reserved: {:.2}% of the window", pool.out);
    }
}

/// Describes the effect of dominant shares.
fn shares_text(text: &mut String, pool: &PoolSummary, unit: &str) {
    let decides = match pool.unit {
        PoolUnit::Node => return,
        PoolUnit::Cpu => {
            format!("memory decides the size of {}, GPUs of {}", count_noun(pool.by_memory, "job"), pool.by_gpus)
        }
        PoolUnit::Gpu => {
            format!("processors decide the size of {}, memory of {}", count_noun(pool.by_cpus, "job"), pool.by_memory)
        }
    };
    let amount_name = if pool.unit == PoolUnit::Gpu { "GPU-seconds" } else { "core-seconds" };
    let _ = match pool.dominant {
        true => {
            writeln!(
                text,
                "    dominant share: {decides}; sizes exceed {unit} held by {:.2}% of {amount_name}",
                pool.inflated
            )
        }
        false => writeln!(
            text,
            "    sizes are the {unit} held; by dominant share {} would be larger, and all together by {:.2}% of {amount_name} (--count \
             dominant)",
            count_noun(pool.by_cpus + pool.by_memory + pool.by_gpus, "job"),
            pool.inflated
        ),
    };
}
