//! Appearance of reports.

use super::chromium::{Browser, DESKTOP, PHONE, Screen, chromium};
use crate::common::Folder;
use serde_json::Value;

/// Policies of every kind that plots tell apart.
const POLICIES: [&str; 6] =
    ["easy", "fcfs", "easy++", "conservative", "multiqueue", "goal(tradeoff(Tw:avgX),nodes=50)"];

/// A comparison with everything in it: as a page and as JSON.
fn compared(folder: &Folder) -> Value {
    let mut args = vec!["compare", "--seed", "7", "--slice", "..1500000", "--format", "json", "--report", "out.html"];
    args.extend(["--details", "--by", "sixteen", "--quiet"]);
    for policy in &POLICIES {
        args.extend(["--policy", policy]);
    }
    folder.run(&args).json()
}

/// The data that a page holds, to the last bit.
fn embedded(page: &mut Browser) -> Value {
    let text = page.eval("document.getElementById('data').textContent");
    serde_json::from_str(text.as_str().expect("a text")).expect("JSON")
}

/// All numbers in a value, in order: 1 and 1.0 are the same.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        other => other.as_f64().into_iter().collect(),
    }
}

/// The page opens without a complaint and without asking for anything, its plots are there, and the
/// numbers in its tables are those of the JSON, to the last bit.
#[test]
fn a_page_shows_what_the_json_says() {
    let Some(mut page) = chromium() else { return };
    let folder = Folder::new();
    let json = compared(&folder);
    let file = folder.path("out.html");
    page.open(&file, DESKTOP, true);
    page.picture("desktop-light");

    // The data are the very ones that were printed.
    assert!(embedded(&mut page) == json, "the data in the page are not those printed");

    // Every plot is drawn, and not empty.
    let plots = page.eval("Array.from(document.querySelectorAll('figure'), f => f.id.slice(7))");
    let plots: Vec<&str> = plots.as_array().expect("plots").iter().filter_map(Value::as_str).collect();
    for plot in [
        "change-wait",
        "change-slowdown",
        "pareto",
        "cdf-wait",
        "cdf-slowdown",
        "heat-wait",
        "heat-slowdown",
        "users",
        "utilisation",
        "queue",
        "backlog",
        "class-slowdown",
        "ratio",
        "accuracy",
        "reservation",
        "search",
    ] {
        assert!(plots.contains(&plot), "{plot} is not among {plots:?}");
    }
    assert!(plots.iter().any(|p| p.starts_with("partitions-")), "{plots:?}");
    let empty = page.eval("Array.from(document.querySelectorAll('figure')).filter(f => f.querySelectorAll('svg path').length < 4).map(f => f.id)");
    assert_eq!(empty, serde_json::json!([]));

    // The numbers in the tables.
    let results = json["results"].as_array().expect("results");
    let cells = page.eval(
        "Array.from(document.querySelectorAll('table#every tbody tr'), r => Array.from(r.querySelectorAll('td'), c => [c.dataset.v, c.textContent]))",
    );
    let rows = cells.as_array().expect("rows");
    assert_eq!(rows.len(), results.len());
    for (row, result) in rows.iter().zip(results) {
        let report = &result["report"];
        let measures = &report["measures"];
        let expected = [
            &report["trimmed"]["kept"],
            &measures["wait"]["mean"],
            &measures["wait"]["median"],
            &measures["wait"]["p95"],
            &measures["wait"]["max"],
            &measures["response"]["mean"],
            &measures["bounded_slowdown"]["mean"],
            &measures["bounded_slowdown"]["median"],
            &measures["bounded_slowdown"]["p95"],
            &measures["bounded_slowdown"]["max"],
            &report["machine"]["period_utilisation"],
        ];
        for (at, value) in expected.into_iter().enumerate() {
            let number: f64 = row[at][0].as_str().expect("a number").parse().expect("a number");
            assert_eq!(Some(number), value.as_f64(), "column {at} of {}", result["policy"]["text"]);
        }
        // And what people read is the number, rounded.
        let slowdown = measures["bounded_slowdown"]["mean"].as_f64().expect("a mean");
        assert_eq!(row[6][1].as_str().map(|t| t.replace(',', "")), Some(format!("{slowdown:.2}")));
    }
    // The lines of a plot are the quantiles of the JSON.
    let points = page.eval("echarts.getInstanceByDom(document.querySelector('#figure-cdf-slowdown .plot')).getOption().series.map(s => [s.name, s.data.map(d => [d[1], d[2]])])");
    for series in points.as_array().expect("series") {
        let result = results.iter().find(|r| r["policy"]["text"] == series[0]).expect("a policy");
        let points = &result["details"]["bounded_slowdown"]["points"];
        assert!(numbers(&series[1]) == numbers(points) && !numbers(points).is_empty(), "{}", series[0]);
    }

    // Dark, and on a phone: redrawn, and nothing is wider than the screen.
    for (name, screen) in [
        ("desktop-dark", Screen { dark: true, ..DESKTOP }),
        ("phone-dark", Screen { dark: true, ..PHONE }),
        ("phone-light", PHONE),
    ] {
        page.look(screen);
        page.until(&format!("window.innerWidth === {}", screen.width));
        let background = if screen.dark { "rgb(20, 24, 29)" } else { "rgb(255, 255, 255)" };
        page.until(&format!("getComputedStyle(document.body).backgroundColor === '{background}'"));
        page.until("Array.from(document.querySelectorAll('.plot')).every(p => Math.abs(p.clientWidth - p.querySelector('svg').clientWidth) < 2)");
        let ink = if screen.dark { "#e6edf3" } else { "#1b1f24" };
        page.until(&format!("echarts.getInstanceByDom(document.querySelector('#figure-cdf-wait .plot')).getOption().textStyle.color === '{ink}'"));
        let width = page.eval("document.documentElement.scrollWidth");
        assert!(width.as_u64() <= Some(u64::from(screen.width)), "{name}: {width}");
        page.picture(name);
    }
    assert_eq!(page.complaints(), [] as [String; 0]);
    assert_eq!(page.requests(), [] as [String; 0]);
}

/// Hovering shows the numbers, choosing policies changes the plots, and the theme can be set.
#[test]
fn a_page_answers() {
    let Some(mut page) = chromium() else { return };
    let folder = Folder::new();
    compared(&folder);
    page.open(&folder.path("out.html"), DESKTOP, true);

    // Hovering.
    page.eval("document.querySelector('#figure-cdf-wait').scrollIntoView({block: 'center', behavior: 'instant'})");
    let at = page.eval("(r => [r.left + r.width * 0.6, r.top + r.height * 0.35])(document.querySelector('#figure-cdf-wait .plot').getBoundingClientRect())");
    let (x, y) = (at[0].as_f64().expect("x"), at[1].as_f64().expect("y"));
    page.point(x - 9.0, y - 5.0);
    page.point(x, y);
    page.until("document.querySelector('#figure-cdf-wait .plot').textContent.includes('of jobs: at most')");

    // Choosing.
    let names = "echarts.getInstanceByDom(document.querySelector('#figure-cdf-wait .plot')).getOption().series.map(s => s.name)";
    page.click("[data-pick=none]");
    assert_eq!(page.eval(names), serde_json::json!(["easy"]));
    assert_eq!(page.eval("document.querySelectorAll('#figure-ratio').length"), 0);
    page.click("[data-pick=all]");
    assert_eq!(page.eval(names).as_array().map(Vec::len), Some(POLICIES.len()));
    assert_eq!(page.eval("document.querySelectorAll('#figure-ratio').length"), 1);
    page.click("#policies label:nth-child(2)");
    let names_left = page.eval(names);
    assert!(!names_left.as_array().expect("names").contains(&Value::from("fcfs")), "{names_left}");

    // The theme: from automatic, here light, to dark.
    page.click("#theme");
    page.until("getComputedStyle(document.body).backgroundColor === 'rgb(20, 24, 29)'");

    // With the keyboard: what can be used can be reached.
    let reachable = page.eval(
        "Array.from(document.querySelectorAll('button, input, a')).filter(e => e.tabIndex < 0 && !e.hidden).length",
    );
    assert_eq!(reachable, 0);
    let bare_plots = page.eval("Array.from(document.querySelectorAll('.plot')).filter(p => !(p.getAttribute('aria-label') || '').length).length");
    assert_eq!(bare_plots, 0, "plots without a description");
    assert_eq!(page.complaints(), [] as [String; 0]);
}

/// Without JavaScript every table is there.
#[test]
fn a_page_needs_no_javascript_for_its_tables() {
    let Some(mut page) = chromium() else { return };
    let folder = Folder::new();
    let json = compared(&folder);
    page.open(&folder.path("out.html"), PHONE, false);
    page.picture("phone-no-javascript");
    for result in json["results"].as_array().expect("results") {
        let text = result["policy"]["text"].as_str().expect("a text");
        assert_eq!(
            page.eval(&format!("document.querySelector('#every').textContent.includes({})", Value::from(text))),
            true
        );
    }
    for table in
        ["winners", "every", "changes", "promises", "wait-quantiles", "class-wait", "users", "facts", "parameters"]
    {
        assert_eq!(page.eval(&format!("document.querySelector('table#{table}').rows.length > 1")), true, "{table}");
    }
}

/// Names that would break out, and names longer than any screen, are shown and do nothing.
#[test]
fn hostile_names_are_harmless() {
    let Some(mut page) = chromium() else { return };
    let folder = Folder::new();
    let mut json = compared(&folder);
    let evil = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">'\"&amp;{b}\u{0}\u{7}\u{1b}[31m\u{202e}txt.exe\u{2028}";
    let long = format!("{}{}", "long name ".repeat(200), "W".repeat(3_000));
    json["workload"]["name"] = Value::from(evil);
    json["verdict"] = serde_json::json!([evil, long]);
    let rename = |value: &mut Value, from: &str, to: &str| {
        if value == from {
            *value = Value::from(to);
        }
    };
    for (from, to) in [("easy", evil), ("fcfs", long.as_str())] {
        rename(&mut json["baseline"], from, to);
        rename(&mut json["comparison"]["baseline"], from, to);
        for policy in json["comparison"]["policies"].as_array_mut().expect("policies") {
            rename(&mut policy["name"], from, to);
        }
        for result in json["results"].as_array_mut().expect("results") {
            rename(&mut result["policy"]["text"], from, to);
            for user in result["details"]["users"].as_array_mut().expect("users") {
                user["name"] = Value::from(format!("{evil} {}", user["key"]));
            }
            result["policy"]["parameters"]["file"] = Value::from(evil);
        }
    }
    folder.write("evil.json", json.to_string());
    let name = "<b onmouseover='x'>&\"$(id);.html";
    folder.run(&["report", "evil.json", "--output", name]).ok();
    for screen in [DESKTOP, PHONE] {
        page.open(&folder.path(name), screen, true);
        page.picture(if screen.width < 600 { "hostile-phone" } else { "hostile-desktop" });
        let title = page.eval("document.title");
        assert!(title.as_str().is_some_and(|t| t.contains("<script>")), "{title}");
        assert_eq!(page.eval("document.querySelectorAll('img, iframe, object, main script').length"), 0);
        assert!(embedded(&mut page) == json, "the data in the page are not those given");
        let heading = page.eval("document.querySelector('h1').textContent");
        assert!(heading.as_str().is_some_and(|t| t.starts_with("</script><script>")), "{heading}");
        assert_eq!(page.eval("document.documentElement.scrollWidth").as_u64(), Some(u64::from(screen.width)));
        // Tooltips are HTML as well.
        let plot = "document.querySelector('#figure-users .plot')";
        page.eval(&format!("{plot}.scrollIntoView({{block: 'center', behavior: 'instant'}})"));
        page.eval(&format!(
            "(echarts.getInstanceByDom({plot}).dispatchAction({{type: 'showTip', seriesIndex: 0, dataIndex: 0}}), 0)"
        ));
        page.until(&format!("{plot}.textContent.includes('jobs')"));
        assert_eq!(page.eval("document.querySelectorAll('img, iframe, object, main script').length"), 0);
        assert_eq!(page.complaints(), [] as [String; 0]);
        assert_eq!(page.requests(), [] as [String; 0]);
    }
}

/// No job, one job, one policy, jobs that ran for no time, results without details: pages, and
/// sensible ones.
#[test]
fn little_makes_a_page_too() {
    let Some(mut page) = chromium() else { return };
    let folder = Folder::new();
    let header = "; MaxProcs: 4\n; MaxNodes: 4\n";
    folder.write("one.swf", format!("{header}1 0 0 10 1 -1 -1 1 60 -1 1 1 1 1 1 -1 -1 -1\n"));
    folder.write(
        "zero.swf",
        format!("{header}1 0 0 0 4 -1 -1 4 60 -1 1 1 1 1 1 -1 -1 -1\n2 0 0 0 4 -1 -1 4 60 -1 1 1 1 1 1 -1 -1 -1\n"),
    );
    let cases: [(&str, &[&str], &str); 6] = [
        (
            "none",
            &["compare", "--workload", "one.swf", "--trim", "submitted(5,6)", "--policy", "easy", "--policy", "fcfs"],
            "No job counts",
        ),
        ("one", &["compare", "--workload", "one.swf", "--policy", "easy", "--policy", "fcfs"], "Verdict"),
        ("zero", &["compare", "--workload", "zero.swf", "--policy", "easy", "--policy", "fcfs"], "Verdict"),
        ("alone", &["compare", "--workload", "one.swf", "--policy", "easy"], "One policy alone"),
        ("run", &["run", "--workload", "one.swf", "--policy", "easy"], "One policy alone"),
        (
            "months",
            &["compare", "--slice", "..200000", "--each-month", "--policy", "easy", "--policy", "fcfs"],
            "Verdict",
        ),
    ];
    for (name, args, says) in cases {
        let mut args = args.to_vec();
        let file = format!("{name}.html");
        args.extend(["--quiet", "--report", &file]);
        let ran = folder.run(&args);
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        page.open(&folder.path(&file), DESKTOP, true);
        page.picture(&format!("little-{name}"));
        let text = page.eval("document.body.innerText");
        let text = text.as_str().expect("text");
        assert!(text.contains(says), "{name}: {text}");
        for wrong in ["NaN", "Infinity", "undefined", "null"] {
            assert!(!text.contains(wrong), "{name} shows {wrong}: {text}");
        }
        assert_eq!(page.complaints(), [] as [String; 0], "{name}");
    }
    // What was written without details has fewer plots, and says how to get more.
    let json = folder.run(&[
        "compare", "--slice", "..200000", "--policy", "easy", "--policy", "fcfs", "--format", "json", "--quiet",
    ]);
    folder.write("bare.json", json.ok());
    folder.run(&["report", "bare.json", "--output", "bare.html", "--quiet"]).ok();
    page.open(&folder.path("bare.html"), DESKTOP, true);
    assert!(page.eval("document.body.innerText").as_str().is_some_and(|t| t.contains("--details")));
    assert!(page.eval("document.querySelectorAll('figure').length").as_u64() >= Some(1));
    assert_eq!(page.complaints(), [] as [String; 0]);
}
