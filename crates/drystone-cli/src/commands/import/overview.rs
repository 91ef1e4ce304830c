//! The short form of an import: thirty lines of eighty columns. `report.txt` of the site has the
//! whole.

use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::number::{NONE, count, duration, percent};
use crate::output::reports::COLUMNS;
use drystone_site::{Manifest, PoolSummary, PoolUnit, RuleCount, RuleEffect, clock, clock::Zone};
use std::path::Path;

/// Most lines of the short form.
const LINES: usize = 30;
/// Most pools and rules of the short form.
const POOLS: usize = 6;
const RULES: usize = 6;

/// Rows, window, machine, and the rules with most of an effect.
pub(super) fn overview(manifest: &Manifest, out: &Path) -> Document {
    // Fewer rules and pools are shown where their words take more lines.
    let sizes = [(POOLS, RULES), (POOLS, 3), (3, 3), (3, 2), (2, 1), (1, 0)];
    let fits = |document: &Document| document.lines(Some(COLUMNS)) <= LINES;
    let documents = sizes.into_iter().map(|(pools, rules)| of(manifest, out, pools, rules));
    let mut last = Document::default();
    for document in documents {
        last = document;
        if fits(&last) {
            break;
        }
    }
    last
}

fn of(manifest: &Manifest, out: &Path, pools: usize, rules: usize) -> Document {
    let mut document = Document::default();
    let name = if manifest.cluster.is_empty() { "a cluster" } else { manifest.cluster.as_str() };
    let users = match manifest.users {
        0 => "users that are not recorded".to_string(),
        users => counted(users, "user"),
    };
    document.heading(format!("Imported {name}: {} of {users}", counted(manifest.jobs, "job")));
    document.facts(facts(manifest));
    pools_table(manifest, pools, &mut document);
    rules_table(manifest, rules, &mut document);
    let folder = out.display();
    document.text(format!(
        "Next: drystone waits {folder}     # who waits, why, and a command for each cause\nMore: --details (every rule, evidence, gaps), also in {}",
        out.join("report.txt").display()
    ));
    document
}

fn facts(manifest: &Manifest) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let read = match &manifest.files[..] {
        [file] => file.kind.clone(),
        files => format!("{} files", count(files.len() as u64)),
    };
    let unusable = match manifest.bad_rows {
        0 => "all usable".to_string(),
        bad => format!("{} unusable", count(bad)),
    };
    facts.push(("rows".to_string(), format!("{} read from {read}, {unusable}", count(manifest.rows))));
    let w = &manifest.window;
    let zone = Zone::named(&manifest.time_zone).unwrap_or_else(|_| Zone::utc());
    let minute = |moment: i64| clock::minute(zone.civil(moment));
    let long = duration((w.until - w.from) as f64);
    facts.push(("window".to_string(), format!("{long}, {} to {} ({})", minute(w.from), minute(w.until), zone.name())));
    let (running, queued) = (counted(w.running_at_start, "job"), count(w.queued_at_start));
    facts.push(("at its start".to_string(), format!("{running} running, {queued} waiting")));
    let cut: Vec<String> = [(w.measure_from - w.from, "beginning"), (w.until - w.measure_until, "end")]
        .into_iter()
        .filter(|(seconds, _)| *seconds > 0)
        .map(|(seconds, side)| format!("the {} at the {side}", duration(seconds as f64)))
        .collect();
    if !cut.is_empty() {
        facts.push(("measures".to_string(), format!("leave out {}", cut.join(" and "))));
    }
    if w.ended_only {
        let told = "only jobs that ended are in the dump: those that ran or waited at its end are missing";
        facts.push(("caution".to_string(), told.to_string()));
    }
    let source = if manifest.pools.iter().any(|pool| pool.described) {
        "as described"
    } else {
        "inferred from the jobs: at least this much"
    };
    facts.push(("machine".to_string(), source.to_string()));
    let simulated = if manifest.on_nodes {
        "on its nodes, by its own Slurm, unless another policy is named"
    } else {
        "in pools of equal units; --machine slurm.conf adds nodes"
    };
    let limits = match manifest.limits {
        0 => String::new(),
        1 => "; one limit of QOS, accounts and users holds for every policy".to_string(),
        limits => format!("; {} limits of QOS, accounts and users hold for every policy", count(limits.into())),
    };
    facts.push(("simulated".to_string(), format!("{simulated}{limits}")));
    facts
}

fn pools_table(manifest: &Manifest, most: usize, document: &mut Document) {
    let mut pools: Vec<&PoolSummary> = manifest.pools.iter().collect();
    if pools.is_empty() {
        return;
    }
    pools.sort_by_key(|pool| std::cmp::Reverse(pool.core_seconds));
    let mut table =
        DocumentTable::new(["pool", "nodes", "processors", "GPUs", "jobs", "core-hours", "counted in"]).texts(&[0, 6]);
    for pool in pools.iter().take(most) {
        // Where no node is known, a pool is what its jobs had at once.
        let known = |number: u64| if number == 0 { NONE.into() } else { count(number).into() };
        let cpus = if pool.cpus == 0 && pool.unit == PoolUnit::Cpu { u64::from(pool.units) } else { pool.cpus };
        table.row(vec![
            pool.name.as_str().into(),
            known(u64::from(pool.nodes)),
            known(cpus),
            count(pool.gpus).into(),
            count(pool.jobs).into(),
            hours(pool.core_seconds),
            unit(pool.unit).into(),
        ]);
    }
    document.table(table);
    if pools.len() > most {
        document.text(format!("and {}", counted((pools.len() - most) as u64, "smaller pool")));
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
    let lost = |rule: &&RuleCount| matches!(rule.effect, RuleEffect::Bad | RuleEffect::Dropped);
    let lost: u64 = manifest.rules.iter().filter(lost).map(|rule| rule.core_seconds).sum();
    let total = lost + manifest.pools.iter().map(|pool| pool.core_seconds).sum::<u64>();
    let mut table = DocumentTable::new(["rule", "effect", "count", "share of core-hours", "meaning"]).texts(&[0, 1, 4]);
    for rule in rules.iter().take(most) {
        let many = if rule.jobs > 0 { rule.jobs } else { rule.rows };
        let share = match (rule.core_seconds, total) {
            // Of most rules about rows no work is known.
            (0, _) => NONE.into(),
            (seconds, 0) => hours(seconds),
            (seconds, total) => share(seconds, total).into(),
        };
        table.row(vec![
            rule.name.as_str().into(),
            rule.effect.to_string().trim().into(),
            count(many).into(),
            share,
            rule.meaning.as_str().into(),
        ]);
    }
    if most > 0 {
        document.table(table);
    }
    if rules.len() > most {
        let word = if most > 0 { "more rule" } else { "rule" };
        document.text(format!("{} applied", counted((rules.len() - most) as u64, word)));
    }
}

fn share(part: u64, total: u64) -> String {
    let share = part as f64 / total as f64;
    // A little is not nothing.
    if share < 0.0005 { "< 0.1 %".to_string() } else { percent(Some(share.min(1.0)), 1) }
}

fn hours(core_seconds: u64) -> TableValue {
    count((core_seconds as f64 / 3600.0).round() as u64).into()
}

fn unit(unit: PoolUnit) -> &'static str {
    match unit {
        PoolUnit::Cpu => "processors",
        PoolUnit::Node => "nodes",
        PoolUnit::Gpu => "GPUs",
    }
}

/// A number of things: `1 job`, `2,000 jobs`.
fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
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
            assert_eq!(share(part, total), text, "{part} of {total}");
        }
    }
}
