//! Appearance of Gantt charts.

use super::chromium::{DESKTOP, PHONE, Screen, chromium};
use crate::common::Folder;

/// Script that counts the painted points of a chart.
const PAINTED: &str = "(c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = \
                       3; i < d.length; i += 4) n += d[i] > 0; return n; })(document.querySelector('#gantt canvas'))";

/// Suspensions, colours, the keyboard, a tooltip, and the promises to one job.
#[test]
fn a_chart_can_be_explored() {
    let Some(mut page) = chromium() else { return };
    let folder = Folder::with_made();
    let args =
        ["gantt", "made.swf", "--policy", "ss", "--window", "0..600000", "--job", "200", "--out", "ss.html", "--quiet"];
    folder.run(&args).ok();
    page.open(&folder.path("ss.html"), DESKTOP, true);
    page.picture("gantt-desktop-light");
    page.until(&format!("{PAINTED} > 50000"));
    let legend =
        "echarts.getInstanceByDom(document.querySelector('#gantt')).getOption().series.map(s => s.name).join('; ')";
    let series = page.eval(legend);
    let series = series.as_str().expect("names");
    assert!(series.contains("suspended") && series.contains("other users") && series.contains("job 200"), "{series}");

    // Other colours.
    page.eval("(s => { s.value = 'wait'; s.dispatchEvent(new Event('change')); })(document.querySelector('#colour'))");
    let series = page.eval(legend);
    assert!(series.as_str().expect("names").contains("waited none"), "{series}");

    // Half the time, by the keyboard.
    let detail = "document.querySelector('#detail').textContent";
    let before = page.eval(detail);
    page.eval("document.querySelector('#gantt').focus()");
    page.eval("document.querySelector('#gantt').dispatchEvent(new KeyboardEvent('keydown', { key: '+' }))");
    assert_ne!(page.eval(detail), before);
    page.click("#whole");
    page.until(&format!("{detail} === {before}"));

    // The longest bar says whose it is.
    page.eval(
        "window.bar = (c => { const s = c.getOption().series; let best = null; s.forEach(one => one.type === 'custom' && \
         one.name.startsWith('waited') && one.data.forEach(d => { const a = (d[1] - d[0]) * (d[3] - d[2]); if (!best || a > \
         best.a) best = { a, d }; })); return best.d; })(echarts.getInstanceByDom(document.querySelector('#gantt'))), 0",
    );
    let at = page.eval(
        "(c => { const p = c.convertToPixel('grid', [(bar[0] + bar[1]) / 2, (bar[2] + bar[3]) / 2]), r = \
         document.querySelector('#gantt').getBoundingClientRect(); return [r.left + p[0], r.top + p[1]]; \
         })(echarts.getInstanceByDom(document.querySelector('#gantt')))",
    );
    let (x, y) = (at[0].as_f64().expect("x"), at[1].as_f64().expect("y"));
    page.point(x - 4.0, y - 2.0);
    page.point(x, y);
    page.until("/job \\d+.*processors/.test(document.querySelector('#gantt').textContent)");

    for (name, screen) in [("gantt-desktop-dark", Screen { dark: true, ..DESKTOP }), ("gantt-phone-light", PHONE)] {
        page.look(screen);
        let ink = if screen.dark { "#e6edf3" } else { "#1b1f24" };
        let chart = "echarts.getInstanceByDom(document.querySelector('#gantt'))";
        page.until(&format!("{chart}.getOption().textStyle.color === '{ink}' && Math.abs({chart}.getWidth() - document.querySelector('#gantt').clientWidth) < 2"));
        assert!(page.eval("document.documentElement.scrollWidth").as_u64() <= Some(u64::from(screen.width)), "{name}");
        page.picture(name);
    }
    assert_eq!(page.complaints(), [] as [String; 0]);
    assert_eq!(page.requests(), [] as [String; 0]);
}

/// 100,000 jobs make a page of some megabytes that draws a bounded number of shapes, more of them
/// one by one where it is zoomed in.
#[test]
fn a_hundred_thousand_jobs_do_not_choke_it() {
    let Some(mut page) = chromium() else { return };
    let folder = Folder::new();
    folder.run(&["workload", "generate", "--jobs", "100000", "--out", "many.swf"]).ok();
    folder.run(&["gantt", "--workload", "many.swf", "--policy", "easy", "--output", "many.html", "--quiet"]).ok();
    let size = std::fs::metadata(folder.path("many.html")).expect("made").len();
    assert!(size < 16 << 20, "{size} bytes");
    page.open(&folder.path("many.html"), DESKTOP, true);
    page.picture("gantt-many");
    assert!(
        page.eval("JSON.parse(document.getElementById('data').textContent).jobs.number.length").as_u64() > Some(99_000)
    );
    let shapes = page.eval("Number(document.documentElement.dataset.shapes)").as_u64();
    assert!(shapes > Some(1_000) && shapes < Some(40_000), "{shapes:?}");
    page.until(&format!("{PAINTED} > 50000"));
    // Ten times half the time: jobs come apart, and no shades are left.
    page.eval("for (let i = 0; i < 10; i++) document.querySelector('#gantt').dispatchEvent(new KeyboardEvent('keydown', { key: '+' }))");
    let series = "echarts.getInstanceByDom(document.querySelector('#gantt')).getOption().series.map(s => s.name)";
    assert!(!page.eval(series).as_array().expect("names").contains(&"many short jobs".into()));
    assert_eq!(page.complaints(), [] as [String; 0]);
}
