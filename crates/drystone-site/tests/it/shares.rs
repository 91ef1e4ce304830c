//! Core-hours of an import and shares of them: of jobs that still run too, and never more than all.

use crate::common::{of_text, utc};
use crate::generated::{Style, jobcomp, jobs, json, pbs};
use drystone_site::waits::{WaitsOptions, measure_waits};
use drystone_site::{RuleEffect, Site};

/// Core-seconds of all pools.
fn work(site: &Site) -> u64 {
    site.manifest.pools.iter().map(|pool| pool.core_seconds).sum()
}

/// Core-seconds that a rule is about.
fn work_of(site: &Site, name: &str) -> u64 {
    site.manifest.rules.iter().find(|rule| rule.name == name).map_or(0, |rule| rule.core_seconds)
}

const HEAD: &str = "JobIDRaw|Partition|Submit|Start|End|ElapsedRaw|State|TimelimitRaw|AllocCPUS|NodeList\n";

#[test]
fn jobs_that_still_run_count_up_to_the_end_of_the_records() {
    // The last moment is 1700036000: ten hours of four processors, five of eight, and one job of
    // two pools apart; one that waits counts nothing.
    let text = format!(
        "{HEAD}1|a|1700000000|1700000000|1700036000|36000|COMPLETED|900|4|n1\n2|a|1700000000|1700018000|Unknown|0|RUNNING|900|8|n2\n\
         3|b|1700000000|1700032400|Unknown|Unknown|RUNNING|900|2|m1\n4|b|1700030000|Unknown|Unknown|0|PENDING|900|64|\n"
    );
    let site = of_text(&text, &utc());
    let hour = 3_600;
    assert_eq!(work(&site), (4 * 10 + 8 * 5 + 2) * hour);
    assert_eq!(work_of(&site, "running"), (8 * 5 + 2) * hour);
    // An expected end is none, and a suspended job holds its processors.
    for row in [
        "2|a|1700000000|1700018000|1700099999|0|RUNNING|900|8|n2",
        "2|a|1700000000|1700018000|Unknown|0|SUSPENDED|900|8|n2",
    ] {
        let text = text.replace("2|a|1700000000|1700018000|Unknown|0|RUNNING|900|8|n2", row);
        assert_eq!(work(&of_text(&text, &utc())), (4 * 10 + 8 * 5 + 2) * hour, "{row}");
    }
}

#[test]
fn an_import_has_the_core_hours_of_its_waits() {
    for seed in 0..6 {
        let records = jobs(seed, 120, 1_700_000_000);
        for text in [Style::utc().text(&records), json(&records, false), pbs(&records), jobcomp(&records)] {
            let site = of_text(text, &utc());
            let hours = measure_waits(&site, &WaitsOptions::default()).all.core_hours;
            let own = work(&site) as f64 / 3_600.0;
            assert!((hours - own).abs() <= 1e-6 * own, "{seed}: {hours} {own}");
        }
    }
}

#[test]
fn no_rule_is_about_more_than_all_core_hours() {
    for seed in 10..18 {
        let records = jobs(seed, 120, 1_700_000_000);
        let text = Style::utc().text(&records);
        let (head, rows) = text.split_once('\n').expect("lines");
        // Rows twice, rows that cannot be read, a second dump of the same month.
        let spoilt: String = rows.lines().take(9).map(|row| row.replacen('|', "|x", 1) + "\n").collect();
        for text in [text.clone(), format!("{text}{rows}"), format!("{head}\n{spoilt}{rows}{head}\n{rows}")] {
            let site = of_text(text, &utc());
            let is_loss = |effect: RuleEffect| matches!(effect, RuleEffect::Bad | RuleEffect::Dropped);
            let lost: u64 =
                site.manifest.rules.iter().filter(|rule| is_loss(rule.effect)).map(|rule| rule.core_seconds).sum();
            for rule in &site.manifest.rules {
                assert!(rule.core_seconds <= work(&site) + lost, "{seed}: {} {}", rule.name, rule.core_seconds);
            }
        }
    }
}

#[test]
fn a_rule_about_a_hundredth_of_the_work_says_so() {
    // Nine of a thousand core-hours over the limit; the rest within.
    let text = format!(
        "{HEAD}1|a|1700000000|1700000000|1700356760|356760|COMPLETED|9000|10|n1\n2|a|1700000000|1700000000|1700003240|3240|TIMEOUT|50|10|n2\n"
    );
    let site = of_text(&text, &utc());
    assert_eq!((work(&site), work_of(&site, "over")), (3_600_000, 32_400));
    // A bad row with its run time is a loss of as much.
    let text = format!(
        "{HEAD}1|a|1700000000|1700000000|1700356760|356760|COMPLETED|9000|10|n1\n2|a|1700000000|Unknown|soon|3240|TIMEOUT|50|10|n2\n"
    );
    let site = of_text(&text, &utc());
    assert_eq!((work(&site), work_of(&site, "time")), (3_567_600, 32_400));
}
