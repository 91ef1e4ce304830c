//! Pages, plots and charts as files. What they look like is seen in a browser, in `tests/browser`.

use super::common::Folder;
use std::fs;

const TWO: [&str; 7] = ["--slice", "..400000", "--policy", "easy", "--policy", "fcfs", "--quiet"];

fn compare(more: &[&str]) -> Vec<&'static str> {
    let more: Vec<&'static str> = more.iter().map(|text| &*Box::leak((*text).to_string().into_boxed_str())).collect();
    ["compare"].into_iter().chain(TWO).chain(more).collect()
}

/// A page made at once and one made later of the JSON are the same bytes, and few.
#[test]
fn a_page_can_be_made_later() {
    let folder = Folder::new();
    let json = folder.run(&compare(&["--report", "at-once.html", "--format", "json"])).ok();
    folder.write("results.json", &json);
    folder.run(&["report", "results.json", "--out", "later.html"]).ok();
    let page = folder.read("at-once.html");
    assert!(page == folder.read("later.html"), "the pages differ");
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    let output = folder.run(&["report", "results.json"]).ok();
    assert!(page == output, "the page on the standard output differs");
    // Nothing in it names another place to load something from.
    let own = page.replace("http://www.w3.org/", "").replace("http://www.apache.org/licenses/", "");
    for way in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!own.contains(way), "{way}");
    }
}

/// A file that is no result gets an error that says what was expected.
#[test]
fn what_is_no_result_is_refused() {
    let folder = Folder::new();
    folder.write("text.json", "hello");
    folder.write("other.json", "{\"schema\": \"drystone/predict/1\"}");
    folder.write("half.json", "{\"schema\": \"drystone/compare/1\"}");
    folder.write("list.json", "[1]");
    for (file, says) in [
        ("text.json", "not JSON, or cut short"),
        ("other.json", "drystone/predict/1"),
        ("half.json", "damaged"),
        ("list.json", "absent"),
        ("missing.json", "missing.json"),
    ] {
        let error = folder.run(&["report", file, "--out", "out.html"]).fails(2);
        assert!(error.contains(says) && error.contains(file), "{error}");
        assert!(!folder.path("out.html").exists());
    }
    let error = folder.run(&["predict", "log.swf", "--report", "out.html"]).fails(2);
    assert!(error.contains("out.html: of these results there is no page"), "{error}");
}

/// Every plot as SVG, PDF and PNG.
#[test]
fn plots_are_files() {
    let folder = Folder::new();
    let json =
        folder.run(&compare(&["--plots", "made/plots", "--loads", "0.9,1", "--by", "four", "--format", "json"])).ok();
    // Later the same.
    folder.write("results.json", json);
    folder.run(&["report", "results.json", "--out", "out.html", "--plots", "later"]).ok();
    let mut names: Vec<String> = fs::read_dir(folder.path("made/plots"))
        .expect("a folder")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for plot in [
        "change-wait",
        "cdf-wait",
        "heat-slowdown",
        "load-wait",
        "load-utilisation",
        "pareto",
        "users",
        "utilisation",
        "category-slowdown-four",
        "category-worst-response-four",
        "load-response-four",
        "used-slowdown-four",
    ] {
        for ending in ["svg", "pdf", "png"] {
            assert!(names.contains(&format!("{plot}.{ending}")), "{plot}.{ending} is not among {names:?}");
        }
    }
    for name in &names {
        let bytes = fs::read(folder.path("made/plots").join(name)).expect("readable");
        assert!(bytes == fs::read(folder.path("later").join(name)).expect("made"), "{name} is another later");
        if name.ends_with(".png") {
            assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n", "{name}");
            assert_eq!(&bytes[16..20], &(2 * 820_u32).to_be_bytes(), "{name}");
        } else if name.ends_with(".pdf") {
            assert!(bytes.starts_with(b"%PDF-1.") && bytes.ends_with(b"%%EOF"), "{name}");
            // 820 units are 615 points; what determined the plot is in it.
            let text = String::from_utf8_lossy(&bytes);
            assert!(text.contains("/MediaBox [0 0 615 ") && text.contains("/Drystone ("), "{name}");
        } else {
            let text = String::from_utf8(bytes).expect("text");
            assert!(text.starts_with("<svg") && text.contains("<title>") && text.contains("<path"), "{name}");
            assert!(!text.contains("NaN"), "{name}");
        }
    }
}

/// A job that is asked for but has no part in the window is not passed over in silence.
#[test]
fn a_job_outside_the_window_is_said_to_be() {
    let folder = Folder::with_made();
    let is_outside = |job: &str, window: &str| {
        let args = ["gantt", "made.swf", "--policy", "easy", "--window", window, "--job", job, "--out", "chart.json"];
        let output = folder.command(&args).output().expect("runs");
        assert!(output.status.success());
        String::from_utf8(output.stderr).expect("text").contains("has no part in this window")
    };
    assert!(is_outside("5000", "0..1000"));
    assert!(!is_outside("5000", ".."));
    assert!(!is_outside("1", "..300000"));
}

/// Charts in every form; what is refused.
#[test]
fn schedules_are_drawn() {
    let folder = Folder::with_made();
    let draw = |policy: &str, output: &str| {
        let args = ["gantt", "made.swf", "--policy", policy, "--window", "0..300000", "--out", output, "--quiet"];
        folder.run(&args)
    };
    for policy in ["easy", "ss"] {
        draw(policy, "chart.svg").ok();
        let svg = folder.read("chart.svg");
        assert!(svg.starts_with("<svg") && svg.matches("<path").count() > 100 && !svg.contains("NaN"), "{policy}");
        draw(policy, "chart.json").ok();
        let data: serde_json::Value = serde_json::from_str(&folder.read("chart.json")).expect("JSON");
        assert_eq!((&data["schema"], &data["packed"]), (&"drystone/gantt/1".into(), &(policy == "easy").into()));
        let bars: Vec<i64> =
            data["bars"].as_array().expect("bars").iter().map(|v| v.as_i64().expect("whole")).collect();
        // No two bars share a processor at a time, and none is outside the machine.
        let mut bars: Vec<&[i64]> = bars.chunks(5).collect();
        bars.sort_by_key(|b| b[1]);
        for (at, a) in bars.iter().enumerate() {
            assert!(a[1] < a[2] && 0 <= a[3] && a[3] < a[4] && a[4] <= data["procs"].as_i64().expect("procs"), "{a:?}");
            for b in bars[at + 1..].iter().take_while(|b| b[1] < a[2]) {
                assert!(a[4] <= b[3] || b[4] <= a[3], "{policy}: {a:?} and {b:?} overlap");
            }
        }
        let gaps = data["gaps"].as_array().expect("gaps").len();
        assert_eq!(gaps > 0, policy == "ss", "{policy}");
    }
    draw("easy", "chart.png").ok();
    assert_eq!(&fs::read(folder.path("chart.png")).expect("made")[..4], b"\x89PNG");
    draw("easy", "chart.pdf").ok();
    assert_eq!(&fs::read(folder.path("chart.pdf")).expect("made")[..5], b"%PDF-");
    assert!(draw("easy", "chart.gif").fails(2).contains(".html, .svg, .pdf, .png or .json"));
    let error = folder.run(&["gantt", "made.swf", "--policy", "easy", "--window", "9..3", "--quiet"]).fails(2);
    assert!(error.contains("ends before it begins"), "{error}");
    let error = folder.run(&["gantt", "made.swf", "--policy", "easy", "--job", "99999999", "--quiet"]).fails(2);
    assert!(error.contains("no job 99999999"), "{error}");
}
