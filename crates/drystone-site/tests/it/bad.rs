//! Bad input: what is wrong is said, with the place and the command that gives better.

use crate::common::{Folder, error_of, of_text, rule, shared, try_import, utc};
use crate::generated::{COLUMNS, Made, Style, jobs, json, pbs};
use drystone_site::ImportOptions;

fn style_and_text() -> String {
    Style::utc().text(&jobs(1, 60, 1_700_000_000))
}

#[test]
fn a_truncated_month_names_the_line_and_the_command() {
    let text = style_and_text();
    let cut = &text[..text.len() - 40];
    let error = error_of(cut, &utc());
    assert!(error.contains("jobs.psv:61") && error.contains("sacct") && error.contains("--partial"), "{error}");
    // What is there is taken where that is wanted, and the cut row is counted.
    let site = of_text(cut, &ImportOptions { partial: true, ..utc() });
    assert_eq!((site.len(), rule(&site, "cut").0), (59, 1));
    assert!(site.manifest.warnings.iter().any(|w| w.contains("ends in the middle")), "{:?}", site.manifest.warnings);
    // JSON that ends in its middle.
    let text = json(&jobs(1, 60, 1_700_000_000), false);
    let error = error_of(&text[..text.len() / 2], &ImportOptions::default());
    assert!(error.contains("jobs.psv:") && error.contains("sacct") && error.contains("--partial"), "{error}");
    let site = of_text(&text[..text.len() / 2], &ImportOptions { partial: true, ..ImportOptions::default() });
    assert!((20..40).contains(&site.len()), "{}", site.len());
    // A compressed file of which the end is missing.
    let folder = Folder::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, style_and_text().as_bytes()).expect("written");
    let bytes = encoder.finish().expect("packed");
    let file = folder.write("jobs.psv.gz", &bytes[..bytes.len() / 2]);
    let error = try_import(&[file], &utc()).expect_err("cut").to_string();
    assert!(error.contains("jobs.psv.gz:") && error.contains("sacct"), "{error}");
    // A week that is missing in the middle of a long dump.
    let mut records = jobs(2, 1_500, 1_700_000_000);
    let middle = records[700].submit;
    for record in &mut records[700..] {
        let by = 40 * 86_400;
        (record.submit, record.eligible) = (record.submit + by, record.eligible + by);
        (record.start, record.end) = (record.start.map(|t| t + by), record.end.map(|t| t + by));
    }
    records.retain(|record| record.start.is_none_or(|start| !(start < middle && record.end.is_none())));
    records[..700]
        .iter_mut()
        .for_each(|record| record.end = record.end.map(|end| end.min(middle + 86_400).max(record.start.unwrap_or(0))));
    records.retain(|record| record.state != "PENDING" && record.suspended == 0);
    let site = of_text(Style::utc().text(&records), &utc());
    let warning = site.manifest.warnings.iter().find(|w| w.contains("a file is missing"));
    assert!(warning.is_some_and(|w| w.contains("sacct … -S")), "{:?}", site.manifest.warnings);
}

#[test]
fn a_folder_of_mixed_files_is_sorted_or_refused() {
    let folder = Folder::new();
    let records = jobs(1, 60, 1_700_000_000);
    let whole = |folder: &Folder| try_import(&[folder.path("dump")], &utc());
    folder.write("dump/jobs.psv", Style::utc().text(&records));
    folder.write("dump/README.md", "# What this is\n\nAccounting of a cluster.\n");
    folder.write("dump/notes.bin", [0, 159, 146, 150, 0, 1]);
    folder.write("dump/slurm.conf", "ClusterName=made\nNodeName=n[1-9] CPUs=16\nNodeName=g[1-4] CPUs=16\nPartitionName=batch Nodes=n[1-9]\nPartitionName=gpu Nodes=g[1-4]\n");
    let site = whole(&folder).expect("jobs, a machine, and files that are neither");
    assert_eq!(site.len(), 60);
    assert!(site.manifest.pools.iter().all(|pool| pool.described));
    let unread: Vec<&String> = site.manifest.warnings.iter().filter(|w| w.starts_with("not read:")).collect();
    assert_eq!(unread.len(), 2, "{unread:?}");
    // Accounting of two kinds says the same twice, or is of two machines.
    folder.write("dump/20231114", pbs(&records));
    let error = whole(&folder).expect_err("mixed").to_string();
    assert!(
        error.contains("jobs.psv") && error.contains("20231114") && error.contains("one kind at a time"),
        "{error}"
    );
    // No jobs at all.
    let folder = Folder::new();
    folder.write("dump/README.md", "# Nothing\n");
    let error = whole(&folder).expect_err("no jobs").to_string();
    assert!(error.contains("README.md") && error.contains("sacct -a -X -D -P"), "{error}");
}

#[test]
fn a_configuration_of_another_cluster_is_found_out() {
    let folder = Folder::new();
    let dump = folder.write("jobs.psv", style_and_text());
    for conf in [
        "ClusterName=other\nNodeName=c[1-90] CPUs=16\nPartitionName=batch Nodes=ALL\nPartitionName=gpu Nodes=ALL\n",
        "ClusterName=made\nNodeName=c[1-90] CPUs=16\nPartitionName=short Nodes=ALL\nPartitionName=long Nodes=ALL\n",
    ] {
        let file = folder.write("slurm.conf", conf);
        let error = try_import(std::slice::from_ref(&dump), &ImportOptions { machine: vec![file], ..utc() });
        let error = error.expect_err("another machine").to_string();
        assert!(error.contains("slurm.conf describes another machine"), "{error}");
        assert!(error.contains("scontrol -o show nodes"), "{error}");
    }
    // Real configurations of two clusters against a dump of a third.
    let (Some(dump), Some(conf)) = (shared("sacct/ub-phillips.log.gz"), shared("machine/usc-discovery.slurm.conf"))
    else {
        return;
    };
    let options = ImportOptions { machine: vec![conf], ..crate::common::xdmod() };
    let error = try_import(&[dump], &options).expect_err("another machine").to_string();
    assert!(error.contains("describes another machine"), "{error}");
}

#[test]
fn no_usable_row_says_which_command_to_run() {
    let rows = "JobID|JobIDRaw|Submit|Eligible|Start|End|State|AllocCPUS|ElapsedRaw\n\
                x|x|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|COMPLETED|1|3600\n\
                7|7|yesterday|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|COMPLETED|1|3600\n\
                8|8|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|COMPLETED\n";
    let error = error_of(rows, &utc());
    assert!(error.contains("none of 3 rows became a job"), "{error}");
    for part in ["1 row: no job number that can be read (job-id)", "1 row: a time that cannot be read", "(columns)"] {
        assert!(error.contains(part), "{error}");
    }
    // The command that prints the recipe, not all of the recipe.
    assert!(error.contains("`drystone import --ask`") && !error.contains("export TZ"), "{error}");
    // A header alone, and nothing at all.
    let header = COLUMNS.join("|") + "\n";
    assert!(error_of(header, &utc()).contains("sacct"));
    assert!(error_of("", &utc()).contains("sacct"));
}

#[test]
fn what_cannot_be_read_as_it_is_is_refused_with_the_reason() {
    let table = "       JobID   JobName  Partition      State\n------------ ---------- ---------- ----------\n1                  a.sh      batch  COMPLETED\n";
    let error = error_of(table, &utc());
    assert!(error.contains("padded") && error.contains("--parsable2"), "{error}");
    let text = style_and_text();
    let error = error_of(&text, &ImportOptions::default());
    assert!(error.contains("has no zone") && error.contains("--timezone"), "{error}");
    let error = error_of(text.split_once('\n').expect("lines").1, &utc());
    assert!(error.contains("no header") && error.contains("--columns"), "{error}");
    let relative = "JobIDRaw|Submit|Start|End|State|AllocCPUS\n1|13:05|13:06|Tomorr 01:00|COMPLETED|1\n";
    let error = error_of(relative, &utc());
    assert!(error.contains("relative") && error.contains("SLURM_TIME_FORMAT"), "{error}");
    let no_size =
        "JobIDRaw|Submit|Start|End|State\n1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|COMPLETED\n";
    assert!(error_of(no_size, &utc()).contains("AllocCPUS"), "{}", error_of(no_size, &utc()));
    let two = text.replace("|made|", "|one|").replacen("|one|", "|two|", 9);
    let error = error_of(two, &utc());
    assert!(error.contains("several clusters") && error.contains("--cluster"), "{error}");
    let error = error_of(&text, &ImportOptions { cluster: Some("another".into()), ..utc() });
    assert!(error.contains("no row is of the cluster another"), "{error}");
    assert!(
        error_of(&text, &ImportOptions { time_zone: Some("Europe/Nowhere".into()), ..ImportOptions::default() })
            .contains("Nowhere")
    );
    assert!(error_of(&text, &ImportOptions { from: Some("soon".into()), ..utc() }).contains("--from soon"));
}

#[test]
fn columns_that_are_others_than_was_said_are_found_out() {
    // Thirty-one columns, taken for the twenty-six of Open XDMoD: the rest is taken for a name.
    let row = |job: u32| {
        let (start, end) = (1_700_000_000 + job, 1_700_003_600 + job);
        format!(
            "{job}|{job}|c|u|a|g|7|p|q|{start}|{start}|{start}|{end}|3600|00:00:00|60|COMPLETED|0:0|5|None|SchedMain|||1|1|{job}|4|8G|||n1\n"
        )
    };
    let text: String = (1..40).map(row).collect();
    let error = error_of(text, &ImportOptions { columns: Some("xdmod".into()), ..utc() });
    assert!(error.contains("none of 39 rows became a job") && error.contains("`drystone import --ask`"), "{error}");
    // A free last column that nearly always holds delimiters is worth knowing.
    let style = Style { columns: COLUMNS.to_vec(), ..Style::utc() };
    let records: Vec<_> = jobs(3, 40, 1_700_000_000).into_iter().map(|record| Made { name: "a|b", ..record }).collect();
    let site = of_text(style.text(&records), &utc());
    let has_warning = site.manifest.warnings.iter().any(|text| text.contains("the last column holds delimiters"));
    assert!(has_warning, "{:?}", site.manifest.warnings);
}

#[test]
fn compressions_that_cannot_be_read_are_named() {
    let folder = Folder::new();
    let file = folder.write("jobs", &b"PK\x03\x04rest"[..]);
    let error = try_import(&[file], &utc()).expect_err("packed").to_string();
    assert!(error.contains("zip") && error.contains("decompress it first"), "{error}");
}

#[test]
fn one_bad_row_never_ends_an_import_and_never_hides() {
    let records = jobs(4, 300, 1_700_000_000);
    let text = Style::utc().text(&records);
    let bad = [
        "999999|999999|made",
        "abc|abc|made|ada|physics|users|batch|normal|2023-11-14T00:00:00|2023-11-14T00:00:00|2023-11-14T00:00:00|2023-11-14T00:00:01|1|00:00:00|COMPLETED|0:0|01:00:00|1|1|1|100M|n1|100|x",
        "1|1|made|ada|physics|users|batch|normal|2023-11-14T00:00:00|2023-11-14T00:00:00|2023-11-16T00:00:00|2023-11-14T00:00:01|100|00:00:00|COMPLETED|0:0|01:00:00|1|7|1|100M|n1|100|x",
        "2|2|made|ada|physics|users|batch|normal|never|2023-11-14T00:00:00|2023-11-14T00:00:00|2023-11-14T00:00:01|1|00:00:00|COMPLETED|0:0|01:00:00|1|1|1|100M|n1|100|x",
    ];
    let mut lines: Vec<&str> = text.lines().collect();
    for (at, line) in [20, 90, 150, 250].into_iter().zip(bad) {
        lines.insert(at, line);
    }
    let site = of_text(lines.join("\n") + "\n", &utc());
    assert_eq!((site.len(), site.manifest.rows, site.manifest.bad_rows), (300, 304, 4));
    for (name, line) in [("columns", 21), ("job-id", 91), ("time-order", 151), ("time", 251)] {
        let rule = site.manifest.rules.iter().find(|rule| rule.name == name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(rule.rows, 1, "{name}");
        assert!(rule.examples[0].place.ends_with(&format!("jobs.psv:{line}")), "{name}: {:?}", rule.examples);
        assert!(!rule.examples[0].text.is_empty());
    }
    // Lost work is counted: seven processors for as long as the row says that it ran.
    let order = site.manifest.rules.iter().find(|rule| rule.name == "time-order").expect("counted");
    assert_eq!(order.core_seconds, 700);
}
