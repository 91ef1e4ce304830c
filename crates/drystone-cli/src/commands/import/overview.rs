//! The short form of an import: thirty lines of eighty columns. `report.txt` of the site has the
//! whole.

use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::number::{NONE, format_count, format_duration, format_percent};
use crate::output::reports::COLUMNS;
use drystone_site::{Manifest, PoolSummary, PoolUnit, RuleCount, RuleEffect, clock, clock::Zone};
use std::path::Path;

/// Most lines of the short form.
const LINES: usize = 30;
/// Most pools and rules of the short form.
const POOLS: usize = 6;
const RULES: usize = 6;

/// Rows, window, machine, and the rules with most of an effect.
pub(super) fn render_overview(manifest: &Manifest, out: &Path) -> Document {
    // Fewer rules and pools are shown where their words take more lines.
    let sizes = [(POOLS, RULES), (POOLS, 3), (3, 3), (3, 2), (2, 1), (1, 0)];
    let fits = |document: &Document| document.count_lines(Some(COLUMNS)) <= LINES;
    let documents = sizes.into_iter().map(|(pools, rules)| render_sized(manifest, out, pools, rules));
    let mut last = Document::default();
    for document in documents {
        last = document;
        if fits(&last) {
            break;
        }
    }
    last
}

fn render_sized(manifest: &Manifest, out: &Path, pools: usize, rules: usize) -> Document {
    let mut document = Document::default();
    let name = if manifest.cluster.is_empty() { "a cluster" } else { manifest.cluster.as_str() };
    let users = match manifest.users {
        0 => "users that are not recorded".to_string(),
        users => format_quantity(users, "user"),
    };
    document.add_heading(format!("Imported {name}: {} of {users}", format_quantity(manifest.jobs, "job")));
    document.add_facts(import_facts(manifest));
    pools_table(manifest, pools, &mut document);
    rules_table(manifest, rules, &mut document);
    let folder = out.display();
    document.add_text(format!(
        "Next: drystone waits {folder}     # who waits, why, and a command for each cause\nMore: --details (every rule, evidence, gaps), also in {}",
        out.join("report.txt").display()
    ));
    document
}

fn import_facts(manifest: &Manifest) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let files_text = match &manifest.files[..] {
        [file] => file.kind.clone(),
        files => format!("{} files", format_count(files.len() as u64)),
    };
    let unusable = match manifest.bad_rows {
        0 => "all usable".to_string(),
        bad => format!("{} unusable", format_count(bad)),
    };
    facts.push(("rows".to_string(), format!("{} read from {files_text}, {unusable}", format_count(manifest.rows))));
    let w = &manifest.window;
    let zone = Zone::from_name(&manifest.time_zone).unwrap_or_else(|_| Zone::utc_zone());
    let minute = |moment: i64| clock::format_minute(zone.civil_time(moment));
    let long = format_duration((w.until - w.from) as f64);
    facts.push(("window".to_string(), format!("{long}, {} to {} ({})", minute(w.from), minute(w.until), zone.name())));
    let (running_text, queued_text) = (format_quantity(w.running_at_start, "job"), format_count(w.queued_at_start));
    facts.push(("at its start".to_string(), format!("{running_text} running, {queued_text} waiting")));
    let cut: Vec<String> = [(w.measure_from - w.from, "beginning"), (w.until - w.measure_until, "end")]
        .into_iter()
        .filter(|(seconds, _)| *seconds > 0)
        .map(|(seconds, side)| format!("the {} at the {side}", format_duration(seconds as f64)))
        .collect();
    if !cut.is_empty() {
        facts.push(("measures".to_string(), format!("leave out {}", cut.join(" and "))));
    }
    if w.ended_only {
        let gap_note = "only jobs that ended are in the dump: those that ran or waited at its end are missing";
        facts.push(("caution".to_string(), gap_note.to_string()));
    }
    let source = if manifest.pools.iter().any(|pool| pool.described) {
        "as described"
    } else {
        "inferred from the jobs: at least this much"
    };
    facts.push(("machine".to_string(), source.to_string()));
    let simulation_note = if manifest.on_nodes {
        "on its nodes, by its own Slurm, unless another policy is named"
    } else {
        "in pools of equal units; --machine slurm.conf adds nodes"
    };
    let limits = match manifest.limits {
        0 => String::new(),
        1 => "; one limit of QOS, accounts and users holds for every policy".to_string(),
        limits => format!("; {} limits of QOS, accounts and users hold for every policy", format_count(limits.into())),
    };
    facts.push(("simulated".to_string(), format!("{simulation_note}{limits}")));
    facts
}

fn pools_table(manifest: &Manifest, most: usize, document: &mut Document) {
    let mut pools: Vec<&PoolSummary> = manifest.pools.iter().collect();
    if pools.is_empty() {
        return;
    }
    pools.sort_by_key(|pool| std::cmp::Reverse(pool.core_seconds));
    let mut table = DocumentTable::new(["pool", "nodes", "processors", "GPUs", "jobs", "core-hours", "counted in"])
        .with_text_columns(&[0, 6]);
    for pool in pools.iter().take(most) {
        // Where no node is known, a pool is what its jobs had at once.
        let count_or_none = |number: u64| if number == 0 { NONE.into() } else { format_count(number).into() };
        let cpus = if pool.cpus == 0 && pool.unit == PoolUnit::Cpu { u64::from(pool.units) } else { pool.cpus };
        table.add_row(vec![
            pool.name.as_str().into(),
            count_or_none(u64::from(pool.nodes)),
            count_or_none(cpus),
            format_count(pool.gpus).into(),
            format_count(pool.jobs).into(),
            core_hours(pool.core_seconds),
            unit_name(pool.unit).into(),
        ]);
    }
    document.add_table(table);
    if pools.len() > most {
        document.add_text(format!("and {}", format_quantity((pools.len() - most) as u64, "smaller pool")));
    }
}

/// Rules with an effect on jobs, losses first, then by what they touch.
fn rules_table(manifest: &Manifest, most: usize, document: &mut Document) {
    let loss = |rule: &&RuleCount| !matches!(rule.effect, RuleEffect::Bad | RuleEffect::Dropped);
    let mut rules: Vec<&RuleCount> = manifest.rules.iter().filter(|rule| rule.effect != RuleEffect::Ignored).collect();
    rules.sort_by_key(|rule| (loss(rule), std::cmp::Reverse((rule.core_seconds, rule.rows.max(rule.jobs)))));
    if rules.is_empty() {
        return;
    }
    // Of all core-hours that the records say, those that were lost among them.
    let is_loss = |rule: &&RuleCount| matches!(rule.effect, RuleEffect::Bad | RuleEffect::Dropped);
    let lost_seconds: u64 = manifest.rules.iter().filter(is_loss).map(|rule| rule.core_seconds).sum();
    let total = lost_seconds + manifest.pools.iter().map(|pool| pool.core_seconds).sum::<u64>();
    let mut table =
        DocumentTable::new(["rule", "effect", "count", "share of core-hours", "meaning"]).with_text_columns(&[0, 1, 4]);
    for rule in rules.iter().take(most) {
        let many = if rule.jobs > 0 { rule.jobs } else { rule.rows };
        let share = match (rule.core_seconds, total) {
            // Of most rules about rows no work is known.
            (0, _) => NONE.into(),
            (seconds, 0) => core_hours(seconds),
            (seconds, total) => format_share(seconds, total).into(),
        };
        table.add_row(vec![
            rule.name.as_str().into(),
            rule.effect.to_string().trim().into(),
            format_count(many).into(),
            share,
            rule.meaning.as_str().into(),
        ]);
    }
    if most > 0 {
        document.add_table(table);
    }
    if rules.len() > most {
        let word = if most > 0 { "more rule" } else { "rule" };
        document.add_text(format!("{} applied", format_quantity((rules.len() - most) as u64, word)));
    }
}

fn format_share(part: u64, total: u64) -> String {
    let share = part as f64 / total as f64;
    // A little is not nothing.
    if share < 0.0005 { "< 0.1 %".to_string() } else { format_percent(Some(share.min(1.0)), 1) }
}

fn core_hours(core_seconds: u64) -> TableValue {
    format_count((core_seconds as f64 / 3600.0).round() as u64).into()
}

fn unit_name(unit: PoolUnit) -> &'static str {
    match unit {
        PoolUnit::Cpu => "processors",
        PoolUnit::Node => "nodes",
        PoolUnit::Gpu => "GPUs",
    }
}

/// A number of things: `1 job`, `2,000 jobs`.
fn format_quantity(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", format_count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_never_nothing_nor_more_than_all() {
        for (part, total, text) in [
            (9, 1_000, "0.9%"),
            (90, 10_000, "0.9%"),
            (1, 1_000, "0.1%"),
            (5, 10_000, "0.1%"),
            (4, 10_000, "< 0.1 %"),
            (1, u64::MAX, "< 0.1 %"),
            (999, 1_000, "99.9%"),
            (1_000, 1_000, "100.0%"),
            (2_000, 1_000, "100.0%"),
        ] {
            assert_eq!(format_share(part, total), text, "{part} of {total}");
        }
    }
}
