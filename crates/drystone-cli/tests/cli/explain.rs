//! `drystone explain`, and files of priorities.

use crate::common::{Folder, Ran, line, says};

/// On 4 processors: job 1 holds them all until 100, job 2 needs them all, job 3 only two, and not
/// for long.
fn three() -> String {
    format!("; MaxProcs: 4\n{}{}{}", line(1, 0, 100, 4, 100), line(2, 10, 50, 4, 50), line(3, 20, 10, 2, 10))
}

fn explain(folder: &Folder, args: &[&str]) -> Ran {
    folder.run(&[&["explain", "--workload", "log.swf", "--quiet"], args].concat())
}

/// With SF = 3 and AWT = 120. Job 2 is planned at 100; it waits for 90, so its scheduler's priority
/// is 90/240, its priority a third of it, 1/8, and its slack (1 − 1/8)·3·120 = 315. Job 3 has 1/6
/// when it arrives. Without moving another job it starts at 150, for (150 − 20)·2 = 260. At 100 it
/// moves job 2 by 10 s, for 4·10·(1/8)/(1/6) = 30, which makes 80·2 + 30 = 190. Then its
/// scheduler's priority is 80/240, its priority 1/9, and its slack (1 − 1/9)·360 = 320.
#[test]
fn promises_over_time_and_who_displaced_whom_at_what_price() {
    let folder = Folder::with("log.swf", three());
    let policy = ["--policy", "slack(sf=3,awt=120)", "--job"];
    let story = explain(&folder, &[&policy[..], &["3", "--no-what-if"]].concat()).ok();
    for part in [
        "job 3: 2 processors for up to 10 s, submitted at 20\n",
        "goes to 100 instead of 150, where it would delay no other job: that rearrangement costs 190.0\n",
        "displaces job 2 by +10 s, at a price of 30.0\n",
        "is planned to start at 100, at 420 at the latest",
        "starts as planned, after 80 s\n",
    ] {
        assert!(says(&story, part), "`{part}` is missing in:\n{story}");
    }
    assert!(!says(&story, "had it asked"), "{story}");
    let story = explain(&folder, &[&policy[..], &["2"]].concat()).ok();
    for part in [
        "is planned to start at 100, at 415 at the latest",
        "is moved by +10 s from 100 to 110, at 415 at the latest in favour of job 3, at a price of 30.0\n",
        "starts as planned, after 100 s\n",
        // Beside job 3 there is room for two processors at 100.
        "had it asked for 2 processors, it would have started at 100, 10 s earlier\n",
    ] {
        assert!(says(&story, part), "`{part}` is missing in:\n{story}");
    }
}

/// The log of the KTH SP2 begins at 1996-09-23 14:00:31 in Stockholm, as its header says beside
/// `UnixStartTime`; summer time ended on 1996-10-27, so 40 days later the clock says 13:00:31.
#[test]
fn a_log_with_dates_is_told_in_dates() {
    let head = "; MaxProcs: 4\n; UnixStartTime: 843480031\n; TimeZoneString: Europe/Stockholm\n";
    let later = 40 * 86_400;
    let log = format!("{head}{}{}", line(1, 0, 7_200, 4, 7_200), line(2, 60, 100, 4, 100)) + &line(3, later, 10, 1, 10);
    let folder = Folder::with("log.swf", log);
    let story = explain(&folder, &["--policy", "easy", "--job", "2", "--no-what-if"]).ok();
    assert!(says(&story, "submitted at 1996-09-23 14:01:31\ndates in Europe/Stockholm:\n"), "{story}");
    assert!(says(&story, "1996-09-23 16:00:31  starts as the first of its queue, after 119.0 min\n"), "{story}");
    let story = explain(&folder, &["--policy", "easy", "--job", "3", "--no-what-if"]).ok();
    assert!(says(&story, "submitted at 1996-11-02 13:00:31\n"), "{story}");
}

/// A job that is planned to start at once has a scheduler's priority of 0 until it has started: a
/// job that arrives in the same second displaces it for nothing.
#[test]
fn a_displacement_within_a_second_is_free() {
    let log = format!("; MaxProcs: 4\n{}{}", line(1, 0, 100, 3, 100), line(2, 0, 50, 4, 50));
    let folder = Folder::with("log.swf", log);
    let story = explain(&folder, &["--policy", "slack(awt=100)", "--job", "1", "--no-what-if"]).ok();
    assert!(says(&story, "is moved by +50 s from 0 to 50"), "{story}");
    assert!(says(&story, "in favour of job 2, at a price of 0.0\n"), "{story}");
}

#[test]
fn every_policy_can_be_explained() {
    let folder = Folder::with("log.swf", three());
    let story = explain(&folder, &["--policy", "easy", "--job", "3"]).ok();
    assert!(says(&story, "starts ahead of others") || says(&story, "starts as the first of its queue"), "{story}");
    let story = explain(&folder, &["--policy", "conservative", "--job", "2"]).ok();
    assert!(says(&story, "is planned to start at 100\n"), "{story}");
    let error = explain(&folder, &["--policy", "easy", "--job", "9"]).fails(2);
    assert!(error.contains("no job 9; its jobs have numbers from 1 to 3"), "{error}");
}

/// Important jobs are moved at a higher price: with pp = 1 job 2 has a priority of 1.45/3, and
/// moving it would cost 4·10·(1.45/3)/(1/6) = 116, more than the (150 − 100)·2 = 100 that job 3
/// would gain.
#[test]
fn priorities_from_a_file_change_who_moves() {
    let other_user = line(2, 10, 50, 4, 50).replace(" -1 1 5 1 ", " -1 1 6 1 ");
    let log = format!("; MaxProcs: 4\n{}{other_user}{}", line(1, 0, 100, 4, 100), line(3, 20, 10, 2, 10));
    let folder = Folder::with("log.swf", log);
    folder.write("important.toml", "[[user]]\nid = 6\npp = 1.0\n");
    let args = ["--policy", "slack(sf=3,awt=100)", "--job", "2", "--no-what-if"];
    assert!(says(&explain(&folder, &args).ok(), "in favour of job 3"));
    let story = explain(&folder, &[&args[..], &["--priorities", "important.toml"]].concat()).ok();
    assert!(!says(&story, "in favour of job 3") && says(&story, "starts as planned, after 90 s"), "{story}");
}

#[test]
fn mistakes_in_policies_and_priorities() {
    let folder = Folder::with("log.swf", three());
    for (policy, part) in [
        ("slack(au=1.5)", "au takes a number from 0 to 1"),
        ("slack(at=-0.1)", "at takes a number from 0 to 1"),
        ("slack(ap=nan)", "ap takes"),
        ("slack(sf=-1)", "sf takes a number from 0"),
        ("slack(awt=0)", "awt takes auto|length|a number above 0"),
        ("slack(awt=-5)", "awt takes"),
        ("slack(order=best)", "order takes ast|aat"),
    ] {
        let error = explain(&folder, &["--job", "1", "--policy", policy]).fails(2);
        assert!(error.contains(part), "{policy}: {error}");
    }
    for (file, part) in [
        ("[[user]]\nid = 5\nup = 1.5\n", "user 5: up = 1.5 does not lie between 0 and 1"),
        ("[[user]]\nid = 99\nup = 1\n", "the log has no user 99"),
        ("[[job]]\nnumber = 77\npp = 1\n", "no job 77"),
        ("[[user]]\nid = 5\nup = 1\n[[user]]\nid = 5\nup = 0\n", "contradict each other: user 5"),
        ("[[usr]]\nid = 5\n", "unknown field `usr`"),
        ("user = ", "TOML parse error at line 1"),
    ] {
        folder.write("p.toml", file);
        for command in [&["explain", "--job", "1"][..], &["run"], &["compare"]] {
            let args = [command, &["--workload", "log.swf", "--policy", "slack", "--priorities", "p.toml"]].concat();
            let error = folder.run(&args).fails(2);
            assert!(error.contains("p.toml: ") && error.contains(part), "{file}: {error}");
        }
    }
    folder.write("p.toml", "[[user]]\nid = 5\nup = 1\n");
    let error = folder.run(&["run", "-w", "log.swf", "-p", "easy", "--priorities", "p.toml"]).fails(2);
    assert!(error.contains("policy easy: "), "{error}");
    let error = folder.run(&["run", "-w", "log.swf", "-p", "slack", "--priorities", "none.toml"]).fails(2);
    assert!(error.contains("none.toml: cannot be read"), "{error}");
}

/// A policy that plans again at each pass repeats its announcements; the story has each once.
#[test]
fn what_has_not_changed_is_not_told_again() {
    let jobs = [line(1, 0, 100, 4, 100), line(2, 1, 50, 4, 50), line(3, 2, 50, 4, 50), line(4, 3, 5, 4, 5)];
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{}", jobs.concat()));
    let args = ["explain", "-w", "log.swf", "--policy", "easy(reserve=3)", "--job", "3"];
    let story = folder.run(&args).ok();
    assert_eq!(story.matches("is planned to start at 150").count(), 1, "{story}");
}

/// The story as data has the text for people line by line.
#[test]
fn machines_are_told_the_same() {
    let folder = Folder::with("log.swf", three());
    let args = ["--policy", "slack(sf=3,awt=120)", "--job", "2"];
    let text = explain(&folder, &args).ok();
    let json = explain(&folder, &[&args[..], &["--format", "json"]].concat()).json();
    assert_eq!(json["schema"], "drystone/explanation/1");
    assert_eq!(json["policy"]["parameters"]["awt"], "120");
    assert_eq!(json["job"], serde_json::json!({"number": 2, "procs": 4, "estimate": 50, "submit": 10, "start": 110}));
    let story = json["story"].as_array().expect("a list");
    let line = |event: &serde_json::Value| {
        format!("{:>12}  {}", event["at"].to_string(), event["text"].as_str().expect("text"))
    };
    let lines: Vec<String> = story.iter().map(line).collect();
    assert!(says(&text, &lines.join("\n")), "{text}");
    let displacement = story.iter().find(|event| event["event"] == "moved").expect("job 3 moves it");
    for (key, value) in [("from", 100), ("to", 110), ("latest", 415), ("favour", 3)] {
        assert_eq!(displacement[key], value, "{key}");
    }
    assert_eq!(json["what_if"][0], serde_json::json!({"procs": 2, "start": 100}));
}

/// Job 2 stands alone in its slice; on a platform where suspension costs, job 1 comes back later.
#[test]
fn slices_and_platforms_count() {
    let folder = Folder::with("log.swf", three());
    let story = explain(&folder, &["--policy", "easy", "--job", "2", "--slice", "5..15", "--no-what-if"]).ok();
    assert!(says(&story, "just before, 0 jobs waited, 0 ran, 4 processors were free"), "{story}");
    folder.write("log.swf", format!("; UnixStartTime: 852076800\n{}", three()));
    let error = explain(&folder, &["--policy", "easy", "--job", "2", "--month", "1997-02"]).fails(2);
    assert!(error.contains("no job was submitted in 1997-02; the log's months are 1997-01 to 1997-01"), "{error}");

    // A job of 60 s comes to one that has run for an hour and has an hour to go: it waits until its
    // expansion factor is 2.
    let log = format!("; MaxProcs: 4\n{}{}", line(1, 0, 7200, 4, 7200), line(2, 3600, 60, 4, 60));
    folder.write("log.swf", log);
    folder.write("costs.toml", "[suspension]\nsmallest = 100\nlargest = 100\nrate = 2\n");
    let free = explain(&folder, &["--policy", "ss(sf=2)", "--job", "1", "--no-what-if"]).ok();
    let costs = ["--policy", "ss(sf=2)", "--job", "1", "--no-what-if", "--platform", "costs.toml"];
    let dear = explain(&folder, &costs).ok();
    assert!(free.contains("is suspended") && dear.contains("is suspended"), "{free}{dear}");
    let end = |text: &str| -> i64 {
        let line = text.lines().find(|line| line.ends_with("ends after running for 7200 s")).expect("it ends");
        line.split_whitespace().next().and_then(|time| time.parse().ok()).expect("a time")
    };
    // It waits for 60 s, and writes 100 MB at 2 MB/s.
    assert_eq!((end(&free), end(&dear)), (7260, 7310), "{free}{dear}");
}

/// Job 2 needs all 4 processors and waits from 10 to 100 for job 1. Job 3 needs 2 processors for 10
/// s and waits behind it: with 4 processors taken until 100 and by job 2 until 150, neither a
/// shorter limit nor fewer processors help before 100.
#[test]
fn what_stood_in_the_way_is_told_in_words() {
    let folder = Folder::with("log.swf", three());
    let why =
        |job: &str, more: &[&str]| explain(&folder, &[&["--policy", "easy", "--why-not", "--job", job], more].concat());
    let text = why("2", &[]).ok();
    for part in [
        "Why not earlier? It waited 90 s for 4 processors and up to 50 s.\n",
        "from 0 s to 90 s after it came: 0 processors free, too few for its 4; no job waited before it, up to 1 job behind it\n",
        "The widest jobs that ran when it came: job 1 on 4 processors, which ended 90 s later.\n",
        "No job that came later started before it.\n",
        "None of the changes below would have let it start earlier.\n",
    ] {
        assert!(says(&text, part), "`{part}` is missing in:\n{text}");
    }
    let text = why("3", &[]).ok();
    assert!(says(&text, "It waited 2.2 min for 2 processors and up to 10 s.\n"), "{text}");
    assert!(says(&text, "up to 1 job waited before it and 0 behind it\n"), "{text}");
    let json = why("3", &["--format", "json"]).json();
    assert_eq!((&json["why_not"]["wait"], &json["why_not"]["held"][0]["number"]), (&130.into(), &1.into()), "{json}");
    // A job that did not wait.
    let run = folder.run(&["explain", "-w", "log.swf", "--policy", "easy", "--job", "1", "--why-not"]);
    assert!(run.code == 0 && run.err.contains("the job did not wait"), "{run:?}");
}

/// On 4 processors job 1 has 2 until 100, and job 2 needs all for 1,000 s. From 100 on all are
/// free, but at 400 an outage of all begins that is announced at 0: job 2 starts when it is over,
/// at 800. Job 3 needs 2 for 600 s from 20 on, and would run into it as well. Neither is blamed on
/// a job.
#[test]
fn an_announced_outage_is_named_as_the_reason() {
    let jobs = [line(1, 0, 100, 2, 100), line(2, 10, 1000, 4, 1000), line(3, 20, 600, 2, 600)];
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{}", jobs.concat()));
    folder.write("out.csv", "begin,end,procs,announced\n400,800,4,0\n");
    let explain_outage = |more: &[&str]| {
        let args = ["explain", "log.swf", "--policy", "easy", "--job", "2", "--why-not", "--outages", "out.csv"];
        folder.run(&[&args, more].concat())
    };
    let ran = explain_outage(&[]);
    let reason = "but its limit reaches into the outage announced for 400, 6.5 min after it came";
    assert!(says(&ran.out, reason) && !says(&ran.out, "kept for jobs before it"), "{}", ran.out);
    assert!(says(&ran.out, "up to 4 processors out, too few for its 4"), "{}", ran.out);
    // It moved two jobs: that is not denied.
    assert!(!ran.err.contains("no outage falls"), "{}", ran.err);
    // An outage of another century is reported.
    folder.write("out.csv", "begin,end,procs\n3000000000,3000000400,4\n");
    assert!(
        explain_outage(&[]).err.contains("no outage falls between the first submit, 0 s, and 1721 s"),
        "{}",
        explain_outage(&[]).err
    );
}
