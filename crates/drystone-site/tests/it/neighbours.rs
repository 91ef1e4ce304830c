//! Inputs close to the kinds that were once misread: in other units, words, orders of columns and
//! locales.

use crate::common::{error_of, of_text, rule, utc};
use drystone_site::{ImportOptions, SiteJob, SiteJobFate};

/// Submission, start, end, processors and limit.
type Facts = (i64, Option<i64>, Option<i64>, Option<u32>, u32);

fn facts(job: &SiteJob<'_>) -> Facts {
    (job.submit, job.start, job.end, job.cpus, job.limit)
}

/// A job of 4 processors that was submitted at 1740787200 (2025-03-01), waited ten minutes, ran an
/// hour and might have run two.
const KNOWN: Facts = (1_740_787_200, Some(1_740_787_800), Some(1_740_791_400), Some(4), 7_200);

#[test]
fn one_job_is_the_same_in_every_spelling() {
    let tables = [
        // Moments in thousandths, millionths and thousand-millionths of a second.
        "JobID|Submit|Start|End|State|AllocCPUS|TimelimitRaw\n1|1740787200000|1740787800000|1740791400000|COMPLETED|4|120\n",
        "JobID|Submit|Start|End|State|AllocCPUS|TimelimitRaw\n\
         1|1740787200000000|1740787800000000|1740791400000000|COMPLETED|4|120\n",
        "JobID|Submit|Start|End|State|AllocCPUS|TimelimitRaw\n\
         1|1740787200000000000|1740787800000000000|1740791400000000000|COMPLETED|4|120\n",
        // Without seconds, with a word for the zone, with a fraction.
        "JobID|Submit|Start|End|State|AllocCPUS|TimelimitRaw\n\
         1|2025-03-01T00:00|2025-03-01 00:10:00 UTC|2025-03-01 02:10:00.25+01:00|COMPLETED|4|120\n",
        // Commas for points, as some spreadsheets write them.
        "JobID;Submit;Start;End;State;AllocCPUS;TimelimitRaw\n1;1740787200;1740787800;1740791400;COMPLETED;4,0;120,0\n",
        // Lengths of data frames and of Python.
        "JobID,Submit,Start,Elapsed,State,AllocCPUS,Timelimit\n\
         1,2025-03-01 00:00:00,2025-03-01 00:10:00,0 days 01:00:00,COMPLETED,4,0 days 02:00:00\n",
        // Names with blanks, a column without a name, one that pandas names, an order of its own.
        ",End Time,Job ID,Submit Time,Start Time,State,Alloc CPUS,Time Limit\n\
         0,1740791400,1,1740787200,1740787800,COMPLETED,4,02:00:00\n",
        "Unnamed: 0,JobID,Submit,Start,End,State,NCPUS,Timelimit\n0,1,1740787200,1740787800,1740791400,COMPLETED,4,02:00:00\n",
        // Line ends of Windows, behind a mark of the order of bytes.
        "\u{feff}JobID|Submit|Start|End|State|AllocCPUS|TimelimitRaw\r\n1|1740787200|1740787800|1740791400|COMPLETED|4|120\r\n",
    ];
    for table in tables {
        let site = of_text(table, &utc());
        assert_eq!(site.jobs().map(|job| facts(&job)).collect::<Vec<_>>(), [KNOWN], "{table}");
        assert_eq!((site.manifest.bad_rows, rule(&site, "field").0), (0, 0), "{table}");
    }
    // Minutes and hours of another table become seconds where its columns are said so.
    let table = "n,sub,beg,ran_min,state,cores,limit_h\n1,1740787200,1740787800,60,COMPLETED,4,2\n";
    let columns = "JobID,Submit,Start,ElapsedRaw*60,State,AllocCPUS,TimelimitSeconds*3600";
    let site = of_text(table, &ImportOptions { columns: Some(columns.to_string()), ..utc() });
    assert_eq!(site.jobs().map(|job| facts(&job)).collect::<Vec<_>>(), [KNOWN]);
}

#[test]
fn a_number_with_three_digits_behind_a_comma_is_none() {
    // 1,440 is 1440 to some and 1.44 to others.
    let text =
        "JobID|Submit|Start|End|State|AllocCPUS|TimelimitRaw\n1|1740787200|1740787800|1740791400|COMPLETED|4|1,440\n";
    let site = of_text(text, &utc());
    let field = site.manifest.rules.iter().find(|rule| rule.name == "field").expect("counted");
    assert_eq!((field.rows, field.core_seconds), (1, 4 * 3_600));
    assert!(field.examples[0].text.contains("TimelimitRaw=`1,440`"), "{:?}", field.examples);
    // The account shows it, though no row is lost.
    assert!(drystone_site::render_report(&site.manifest).contains("TimelimitRaw=`1,440`"));
    // Where no row has anything else, the error names the first.
    let text = text.replace("|4|1,440", "|1,024|120");
    let error = error_of(&text, &utc());
    assert!(error.contains("AllocCPUS=`1,024`") && error.contains("jobs.psv:2"), "{error}");
}

#[test]
fn a_column_of_nodes_is_a_list_or_a_count() {
    let text = |nodes: &str| {
        format!("JobID|Submit|Start|End|State|CPUs|Nodes\n1|1740787200|1740787800|1740791400|COMPLETED|4|{nodes}\n")
            .replace("CPUs", "AllocCPUS")
    };
    let site = of_text(text("2"), &utc());
    assert_eq!((site.job_at(0).nodes, site.job_at(0).node_list.as_ref()), (Some(2), ""));
    let site = of_text(text("n[1-2]"), &utc());
    assert_eq!((site.job_at(0).nodes, site.job_at(0).node_list.as_ref()), (Some(2), "n[1-2]"));
    assert_eq!(site.nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["n1", "n2"]);
}

#[test]
fn a_table_that_names_no_columns_gets_a_line_that_does() {
    let row = "77,ada,2025-03-01 00:00:00,2025-03-01 00:10:00,2025-03-01 01:10:00,4,02:00:00,COMPLETED\n";
    let error = error_of(row, &utc());
    // What it says is read, as it is said; what it takes for a size or a user is asked.
    let columns = "JobID,User,Submit,Start,End,AllocCPUS,Timelimit,State";
    assert!(
        error.contains(&format!("--columns '{columns}'")) && error.contains("Its first row gives 1 job"),
        "{error}"
    );
    assert!(
        error.contains("is column 6 the processors?") || error.contains("is column 1 the job's number?"),
        "{error}"
    );
    let site = of_text(row, &ImportOptions { columns: Some(columns.to_string()), ..utc() });
    assert_eq!(site.jobs().map(|job| facts(&job)).collect::<Vec<_>>(), [KNOWN]);
    // A public table by its names, whatever their order.
    let fdata = "usr,jid,exit state,cnumr,cnumat,nnumr,adt,sdt,edt,elpl,nnuma\n\
                 u1,9,completed,48,48,1,2021-03-05 08:00:00+09:00,2021-03-05 08:01:10+09:00,2021-03-05 08:31:10+09:00,3600,1\n";
    let error = error_of(fdata, &utc());
    assert!(error.contains("--columns 'fugaku'"), "{error}");
    let site = of_text(fdata, &ImportOptions { columns: Some("fugaku".to_string()), ..utc() });
    assert_eq!((site.job_at(0).cpus, site.job_at(0).limit, site.job_at(0).run), (Some(48), 3_600, Some(1_800)));
    // Names of another kind: the units that they end in are kept.
    let table = "jobId,userName,submitTime,startTime,elapsed_minutes,numCores,walltime_hours\n1,a,1740787200,1740787800,60,4,2\n";
    let error = error_of(table, &utc());
    let line = "--columns 'jobId,userName,submitTime,startTime,ElapsedRaw*60,AllocCPUS,TimelimitSeconds*3600'";
    assert!(error.contains(line), "{error}");
}

#[test]
fn a_job_that_was_cancelled_after_its_start_ran() {
    // Neither nodes nor run times are said: an end behind the start is all there is.
    let text = "JobID|Submit|Start|End|State|AllocCPUS\n\
                1|1740787200|1740787800|1740791400|CANCELLED by 5|4\n\
                2|1740787200|1740787800|1740787800|CANCELLED by 5|4\n\
                3|1740787200|1740787800|1740791400|Canceled|4\n";
    let site = of_text(text, &utc());
    let kinds: Vec<SiteJobFate> = site.jobs().map(|job| job.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == SiteJobFate::Ran).count(), 2, "{kinds:?}");
    assert_eq!((rule(&site, "withdraw").1, rule(&site, "state").1), (1, 0));
}

#[test]
fn rows_of_two_users_are_two_jobs() {
    let text = "JobID|User|Submit|Start|End|State|AllocCPUS\n\
                1|ada|1740787200|1740787800|1740791400|COMPLETED|4\n\
                1|bob|1740787200|1740787800|1740791400|COMPLETED|4\n\
                1|bob|1740787200|1740787800|1740791400|COMPLETED|4\n";
    let site = of_text(text, &utc());
    assert_eq!((site.len(), rule(&site, "same-id").1, rule(&site, "dup").0), (2, 1, 1));
}

#[test]
fn a_sibling_that_was_revoked_before_it_ran_is_no_job_whatever_it_names() {
    let text = "JobID|Submit|Start|End|State|NCPUS|NodeList\n\
                1|1700000000|Unknown|1700000050|REVOKED|4|n1\n\
                2|1700000000|1700000050|1700000150|COMPLETED|4|n1\n";
    let site = of_text(text, &utc());
    assert_eq!((site.len(), rule(&site, "revoked").1), (1, 1));
}

#[test]
fn a_record_without_a_limit_of_its_own_is_held_to_that_of_its_partition() {
    let mut text = "JobID|Partition|Submit|Start|End|State|NCPUS|Timelimit|NodeList\n\
                    1|p|1700000000|1700000000|Unknown|RUNNING|64|Partition_Limit|n9\n"
        .to_string();
    for n in 2..30_u32 {
        let at = 1_700_000_000 + n * 86_400;
        text.push_str(&format!("{n}|p|{at}|{at}|{}|COMPLETED|4|02:00:00|n1\n", at + 3_600));
    }
    let site = of_text(&text, &utc());
    let old = site.jobs().find(|job| job.id == Some(1)).expect("kept");
    assert_eq!((old.kind, old.run, rule(&site, "overdue").1), (SiteJobFate::Ran, Some(7_200), 1));
    // It runs no more, and is not counted among those that do.
    assert_eq!(rule(&site, "running").1, 0);
}

#[test]
fn requests_of_grid_engine_may_have_colons() {
    let line = |id: u32, category: &str| {
        format!(
            "all.q:h1:grp:ada:x:{id}:sge:0:1500000000:1500000010:1500000110:0:0:100:1.0:0.1:1.0:0:0:0:0:1:0:0:0.0:1:0:0:0:1:1:NONE:dept:smp:4:0:1.0:0.0:0.0:{category}:0.0:NONE:0.0:0:0\n"
        )
    };
    let text = [line(1, "-l h_rt=1:30:00"), line(2, "-l h=a:b,gpu=2,h_rt=0:10:0 -pe smp 4"), line(3, "NONE")].concat();
    let site = of_text(&text, &ImportOptions::default());
    let rows: Vec<_> = site.jobs().map(|job| (job.limit, job.cpus, job.gpus.unwrap_or(0))).collect();
    assert_eq!(rows[..2], [(5_400, Some(4), 0), (600, Some(4), 2)]);
    assert_eq!((site.len(), rule(&site, "record").0, site.manifest.bad_rows), (3, 0, 0));
}

#[test]
fn states_that_are_not_known_are_named_once() {
    let text = "JobID|Submit|Start|End|State|ReqCPUS\n\
                1|1700000000|Unknown|Unknown|ODD|4\n2|1700000000|Unknown|Unknown|ODD|4\n3|1700000000|Unknown|Unknown|RARE|4\n";
    let site = of_text(text, &utc());
    assert!(site.manifest.warnings.iter().any(|w| w.contains("(ODD, RARE)")), "{:?}", site.manifest.warnings);
}

#[test]
fn rows_of_grid_engine_with_fields_missing_or_cut_are_bad() {
    let row = |id: u32, usage: &str| {
        format!(
            "all.q:h1:grp:ada:x:{id}:sge:0:1500000000:1500000010:1500000110:0:0:100:1.0:0.1:1.0:{usage}:NONE:dept:NONE:1:0:1.0:0.0:0.0:-l h_rt=600:0.0:NONE:104.0:0:0\n"
        )
    };
    let (good, short) = ("0:0:0:0:1:0:0:0.0:1:0:0:0:1:1", "0:0:0:0:1:0:0:0.0:1:0:0:0");
    // Two numbers of the usage are missing: what follows stands in wrong places.
    let site = of_text([row(1, good), row(2, short), row(3, good)].concat(), &ImportOptions::default());
    assert_eq!((site.len(), rule(&site, "columns"), site.manifest.bad_rows), (2, (1, 0), 1));
    assert_eq!(rule(&site, "record").0, 0);
    assert_eq!(site.manifest.rule_count(drystone_site::ImportRule::Columns).map(|bad| bad.core_seconds), Some(100));
    // A part of a parallel job names its host.
    let part = row(4, good).replace(":NONE:104.0", ":1.h7:104.0");
    let site = of_text([row(1, good), part].concat(), &ImportOptions::default());
    assert_eq!((site.len(), rule(&site, "record").0, site.manifest.bad_rows), (1, 1, 0));
    // The last row may lack its line end, but no fields.
    let whole = [row(1, good), row(2, good)].concat();
    assert_eq!(of_text(whole.trim_end(), &ImportOptions::default()).len(), 2);
    let cut = whole.trim_end().strip_suffix(":0:0").expect("two more fields");
    let partial = ImportOptions { partial: true, ..ImportOptions::default() };
    let site = of_text(cut, &partial);
    assert_eq!((site.len(), rule(&site, "cut").0, site.manifest.bad_rows), (1, 1, 1));
}

#[test]
fn names_with_line_ends_in_quotes_are_one_row() {
    let head = "JobID,JobName,User,Submit,Eligible,Start,End,State,TimelimitRaw,AllocCPUS\n";
    let row =
        |id: u32, name: &str| format!("{id},{name},ada,1700000000,1700000000,1700000001,1700000101,COMPLETED,60,4\n");
    let names = ["\"two\nlines\"", "\"three\r\nlines \"\"of\"\"\n, one comma\"", "plain", "\"quoted\""];
    let rows: String = (1..).zip(names).map(|(id, name)| row(id, name)).collect();
    for text in
        [format!("{head}{rows}"), format!("{head}{rows}").replace("1700000101,COMPLETED", "1700000101,\"COMPLETED\"")]
    {
        let site = of_text(&text, &utc());
        assert_eq!((site.len(), site.manifest.bad_rows), (4, 0), "{:?}", site.manifest.rules);
    }
    // Semicolons part columns as well, and a bad row keeps its number of line.
    let text = format!("{head}{rows}7,x\n").replace(", one comma", "").replace(',', ";");
    let site = of_text(text, &utc());
    assert_eq!((site.len(), site.manifest.bad_rows), (4, 1));
    let bad = &site.manifest.rule_count(drystone_site::ImportRule::Columns).expect("a bad row").examples[0];
    assert!(bad.place.ends_with(":9"), "{}", bad.place);
}

#[test]
fn a_log_with_a_job_wider_than_its_machine_is_simulated_without_it() {
    let row = |id: u32, procs: u32| format!("{id} {id} 10 3600 4 -1 -1 {procs} -1 -1 1 5 1 -1 0 -1 -1 -1\n");
    let text = format!("; Version: 2.2\n; MaxProcs: 64\n{}{}", row(1, 7_200), row(2, 4));
    let site = of_text(text, &ImportOptions::default());
    let pool = site.pool_workload(0).expect("a workload");
    assert_eq!((site.len(), pool.workload.len(), pool.workload.jobs()[0].procs), (2, 1, 4));
}

#[test]
fn messages_among_rows_are_no_rows() {
    let head = "JobID|User|Submit|Eligible|Start|End|State|TimelimitRaw|AllocCPUS\n";
    let row = |id: u32| format!("{id}|ada|1700000000|1700000000|1700000001|1700000101|COMPLETED|60|4\n");
    let message = "sacct: error: slurm_persist_conn_open_without_init: failed to open persistent connection\n";
    for text in [
        format!("{message}{head}{}{}", row(1), row(2)),
        format!("{head}{}{message}{message}{}", row(1), row(2)),
        format!("{head}{}{}{message}", row(1), row(2)),
    ] {
        let site = of_text(&text, &utc());
        assert_eq!((site.len(), site.manifest.bad_rows), (2, 0), "{text}");
        assert_eq!(rule(&site, "message").0, text.matches("sacct: error").count() as u64);
        let has_warning = site
            .manifest
            .warnings
            .iter()
            .any(|w| w.contains("`sacct: error: slurm_persist") && w.contains("rows may be missing"));
        assert!(has_warning, "{:?}", site.manifest.warnings);
    }
}

#[test]
fn a_clock_that_was_wrong_does_not_stretch_the_window() {
    let head = "JobID|User|Submit|Eligible|Start|End|State|TimelimitRaw|AllocCPUS\n";
    let row = |id: i64, submit: i64, start: i64, end: i64| {
        format!("{id}|ada|{submit}|{submit}|{start}|{end}|COMPLETED|60|4\n")
    };
    let begin = 1_700_000_000;
    let plain: String = (0..50).map(|i| row(i + 1, begin + i * 600, begin + i * 600, begin + i * 600 + 300)).collect();
    let end = begin + 49 * 600 + 300;
    let far = 4_000_000_000;
    for (odd, from, until) in [
        // All of a job in 2096, its end alone, and all of it in 2001.
        (row(90, far, far, far + 60), begin, end),
        (row(90, begin, begin + 60, far), begin, end),
        (row(90, 1_000_000_000, 1_000_000_000, 1_000_000_060), begin, end),
    ] {
        let site = of_text(format!("{head}{plain}{odd}"), &utc());
        let window = &site.manifest.window;
        assert_eq!((window.from, window.until), (from, until), "{odd}");
        assert!(window.bias.iter().any(|b| b.starts_with("1 job has a time far")), "{:?}", window.bias);
        assert!(site.len() >= 50, "{odd}");
    }
    // A month without jobs is no clock: records of a machine that was away.
    let later: String = (0..5).map(|i| row(100 + i, end + 2_400_000, end + 2_400_000, end + 2_400_300)).collect();
    let site = of_text(format!("{head}{plain}{later}"), &utc());
    assert_eq!((site.manifest.window.until, site.len()), (end + 2_400_300, 55));
}

#[test]
fn zero_bytes_cost_only_the_rows_that_they_are_within() {
    let row = |id: u32| format!("{id}|17407872{id:02}|17407878{id:02}|1740791400|COMPLETED|4|120\n");
    let (head, zeros) = ("JobID|Submit|Start|End|State|AllocCPUS|TimelimitRaw\n", "\0".repeat(300));
    let rows: String = (10..60).map(row).collect();
    // A file system fills with zeros what it had not written when the power failed: between rows,
    // before a row and behind the last one.
    let text = format!("{head}{rows}{zeros}\n{zeros}{}{}{zeros}", row(60), row(61));
    let site = of_text(&text, &utc());
    assert_eq!((site.len(), site.manifest.bad_rows), (52, 0));
    assert!(site.jobs().all(|job| job.units == 4));
    // Within a row, values are no longer known.
    let text = format!("{head}{rows}60|1740787260|17\0\0|1740791400|COMPLETED|4|120\n{}", row(61));
    let site = of_text(&text, &utc());
    assert_eq!((site.len(), rule(&site, "zeros").0), (51, 1));
    // Accounting of PBS as well.
    let end_line = |id: u32| {
        format!(
            "03/01/2025 02:10:00;E;{id}.srv;user=a group=g queue=q ctime=1740787200 qtime=1740787200 etime=1740787200 \
             start=1740787800 end=1740791400 Exit_status=0 Resource_List.ncpus=4 Resource_List.walltime=02:00:00 \
             resources_used.walltime=01:00:00\n"
        )
    };
    let many: String = (1..40).map(end_line).collect();
    let site = of_text(format!("{many}{zeros}{}{zeros}\n{}", end_line(40), end_line(41)), &utc());
    assert_eq!((site.len(), site.manifest.bad_rows), (41, 0));
}

#[test]
fn line_ends_of_another_kind_are_named() {
    let text = "JobID|Submit|Start|End|State|AllocCPUS\r1|1740787200|1740787800|1740791400|COMPLETED|4\r";
    let error = error_of(text, &utc());
    assert!(error.contains("carriage returns alone") && error.contains("tr '\\r' '\\n'"), "{error}");
    // A suggestion of thousands of columns would be of no use.
    let error = error_of(format!("{}\n", "1740787200|1740787800|x|".repeat(300)), &utc());
    assert!(error.len() < 1_000, "{error}");
}
