//! Legibility of pages: at the widths of a desk, a tablet and a phone, light and dark.

use super::chromium::{Browser, Screen, chromium};
use crate::common::Folder;
use serde_json::{Value, json};

/// Charts that need no legend: the drawing has its names beside it, or one series.
const WITHOUT_LEGEND: &str = "/heat|pareto/";

/// The screens that pages are read on.
fn screens() -> impl Iterator<Item = Screen> {
    [(1400, 900), (800, 1000), (375, 740)]
        .into_iter()
        .flat_map(|(width, height)| [false, true].map(|dark| Screen { width, height, dark }))
}

/// A page of every policy, so that colours and labels are many.
fn page() -> Option<(Folder, Browser)> {
    let mut page = chromium()?;
    let folder = Folder::new();
    let args = ["compare", "--all", "--take", "1500", "--quiet", "--report", "all.html"];
    folder.run(&args).ok();
    page.open(&folder.path("all.html"), Screen { width: 1400, height: 900, dark: false }, true);
    Some((folder, page))
}

/// Waits until a page is drawn for a screen.
fn look(page: &mut Browser, screen: Screen) {
    page.look(screen);
    page.until(&format!("window.innerWidth === {}", screen.width));
    let background = if screen.dark { "rgb(20, 24, 29)" } else { "rgb(255, 255, 255)" };
    page.until(&format!("getComputedStyle(document.body).backgroundColor === '{background}'"));
    page.until("Array.from(document.querySelectorAll('.plot')).every(p => Math.abs(p.clientWidth - p.querySelector('svg').clientWidth) < 2)");
}

#[test]
fn a_page_can_be_read_on_every_screen() {
    let Some((_folder, mut page)) = page() else { return };
    // All policies at once: the worst case of colours and legends.
    page.click("[data-pick=all]");
    for screen in screens() {
        look(&mut page, screen);
        let name = format!("legible-{}-{}", screen.width, if screen.dark { "dark" } else { "light" });
        page.picture(&name);
        no_colour_is_there_twice(&mut page, &name);
        every_plot_says_what_is_what(&mut page, &name);
        no_label_is_over_another(&mut page, &name);
        nothing_is_cut(&mut page, screen, &name);
        chips_stay_in_view(&mut page, screen, &name);
    }
    assert_eq!(page.complaints(), [] as [String; 0]);
}

fn no_colour_is_there_twice(page: &mut Browser, name: &str) {
    let colours = page.eval(
        "Array.from(document.querySelectorAll('#policies .swatch'), s => getComputedStyle(s).borderTopColor.match(/\\d+/g).map(Number))",
    );
    let colours: Vec<Vec<i64>> = serde_json::from_value(colours).expect("colours");
    assert!(colours.len() > 15, "{name}: {}", colours.len());
    for (i, a) in colours.iter().enumerate() {
        for b in &colours[i + 1..] {
            let distance: i64 = a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum();
            assert!(distance >= 12, "{name}: {a:?} and {b:?}");
        }
    }
}

fn every_plot_says_what_is_what(page: &mut Browser, name: &str) {
    let without = page.eval(&format!(
        "Array.from(document.querySelectorAll('figure')).filter(f => {{ const o = echarts.getInstanceByDom(f.querySelector('.plot')).getOption(); \
         return !(o.legend || []).some(l => l.show) && !(o.visualMap || []).length && !{WITHOUT_LEGEND}.test(f.id); }}).map(f => f.id)"
    ));
    assert_eq!(without, json!([]), "{name}");
    // Each policy of the plot of all is named at its point or in the note.
    let nameless = page.eval(
        "Array.from(document.querySelectorAll('#policies label'), l => l.textContent.trim().replace(/ \\(.*/, '')).filter(n => \
         !document.querySelector('#figure-pareto').textContent.includes(n))",
    );
    assert_eq!(nameless, json!([]), "{name}");
}

/// The names of policies in the plot of all of them, as boxes on the screen.
fn no_label_is_over_another(page: &mut Browser, name: &str) {
    let over = page.eval(
        "(() => { const names = new Set(Array.from(document.querySelectorAll('#policies label'), l => l.textContent.replace(/ \\(.*/, ''))); \
         const plot = document.querySelector('#figure-pareto .plot'), top = plot.getBoundingClientRect().top + 40; \
         const boxes = Array.from(plot.querySelectorAll('svg text')).filter(t => names.has(t.textContent)).map(t => [t.textContent, t.getBoundingClientRect()]).filter(b => b[1].top > top); \
         const over = []; \
         boxes.forEach(([a, r], i) => boxes.slice(i + 1).forEach(([b, s]) => { \
           if (r.left < s.right - 1 && s.left < r.right - 1 && r.top < s.bottom - 1 && s.top < r.bottom - 1) over.push([a, b]); })); \
         return over; })()",
    );
    assert_eq!(over, json!([]), "{name}");
}

fn nothing_is_cut(page: &mut Browser, screen: Screen, name: &str) {
    let width = page.eval("document.documentElement.scrollWidth");
    assert!(width.as_u64() <= Some(u64::from(screen.width)), "{name}: {width}");
    // Text that leaves its plot would be cut at its edge; ends of axes may touch it.
    let cut = page.eval(
        "Array.from(document.querySelectorAll('.plot')).flatMap(p => { const r = p.getBoundingClientRect(); \
         return Array.from(p.querySelectorAll('svg text')).filter(t => t.textContent.trim()).filter(t => { const b = t.getBoundingClientRect(); \
           return b.width > 0 && (b.left < r.left - 3 || b.right > r.right + 3) && !t.closest('[clip-path]'); }).map(t => p.parentElement.id + ': ' + t.textContent); })",
    );
    assert_eq!(cut, json!([]), "{name}");
    // Sentences and names are whole: nothing scrolls within a cell.
    let cut = page.eval(
        "Array.from(document.querySelectorAll('.name, caption span, h1')).filter(e => e.scrollHeight > e.clientHeight + 2).map(e => e.textContent)",
    );
    assert_eq!(cut, json!([]), "{name}");
}

/// The picker of policies stays in view on screens that have room for it; on a phone it stands
/// above the plots, with every policy in sight.
fn chips_stay_in_view(page: &mut Browser, screen: Screen, name: &str) {
    if screen.width < 640 {
        let hidden = "(c => c.scrollHeight - c.clientHeight)(document.querySelector('#policies .chips'))";
        assert!(page.eval(hidden).as_f64() <= Some(1.0), "{name}: policies are cut");
        assert_eq!(page.eval("getComputedStyle(document.querySelector('#policies')).position"), "static", "{name}");
        return;
    }
    page.eval(
        "document.querySelector('#figures figure:last-child').scrollIntoView({block: 'end', behavior: 'instant'})",
    );
    let at = page.eval("(r => [r.top, r.bottom])(document.querySelector('#policies .chips').getBoundingClientRect())");
    let (top, bottom) = (at[0].as_f64().expect("a place"), at[1].as_f64().expect("a place"));
    assert!(top >= 0.0 && bottom <= f64::from(screen.height), "{name}: {top} to {bottom}");
    // And they leave most of the screen to the plots.
    let height = page.eval("document.querySelector('#policies').getBoundingClientRect().height");
    assert!(height.as_f64() < Some(0.4 * f64::from(screen.height)), "{name}: {height}");
    page.eval("window.scrollTo(0, 0)");
}

/// A click on the head of a column sorts by it, by the numbers and not by how they are written.
#[test]
fn tables_can_be_sorted() {
    let Some((_folder, mut page)) = page() else { return };
    let values = "Array.from(document.querySelectorAll('#every tbody tr'), r => Number(r.cells[2].dataset.v))";
    let is_in_order = |values: &Value, up: bool| {
        let numbers: Vec<f64> = serde_json::from_value(values.clone()).expect("numbers");
        numbers.windows(2).all(|w| if up { w[0] <= w[1] } else { w[0] >= w[1] })
    };
    for up in [true, false] {
        page.click("#every thead th:nth-child(3) button");
        let order = page.eval(values);
        assert!(is_in_order(&order, up), "{order}");
        let direction = page.eval("document.querySelector('#every thead th:nth-child(3)').getAttribute('aria-sort')");
        assert_eq!(direction, if up { "ascending" } else { "descending" });
    }
}

/// Lengths and widths of which the log has no job have no row and no column.
#[test]
fn no_row_of_a_heat_map_is_empty() {
    let Some(mut page) = chromium() else { return };
    // Jobs of one and of four processors, of half an hour and of three hours, three at a time.
    let log: String = (0..200)
        .map(|k| {
            let (run, procs) = if k % 2 == 0 { (1_800, 1) } else { (10_000, 4) };
            format!("{k} {} -1 {run} {procs} -1 -1 {procs} {} -1 1 {} -1 -1 -1 -1 -1 -1\n", k * 3_000, 2 * run, k % 5)
        })
        .collect();
    let folder = Folder::with("log.swf", format!("; MaxProcs: 4\n{log}"));
    folder.run(&["compare", "-w", "log.swf", "-p", "easy", "-p", "fcfs", "--quiet", "--report", "out.html"]).ok();
    page.open(&folder.path("out.html"), Screen { width: 1400, height: 900, dark: false }, true);
    page.click("[data-pick=all]");
    let axes = page.eval(
        "(o => [o.xAxis[0].data, o.yAxis[0].data])(echarts.getInstanceByDom(document.querySelector('#figure-heat-wait .plot')).getOption())",
    );
    assert_eq!(axes, json!([["≤1 h", "≤4 h"], ["1", "2–8"]]));
}

/// A page opens in any mail client: below 2 MB for the usual candidates on a workload of ten
/// thousand jobs, and for every policy.
#[test]
fn a_page_is_small() {
    let folder = Folder::new();
    folder.run(&["compare", "--quiet", "--report", "usual.html"]).ok();
    folder.run(&["compare", "--all", "--take", "3000", "--quiet", "--report", "all.html"]).ok();
    for name in ["usual.html", "all.html"] {
        let bytes = folder.read(name).len();
        assert!(bytes < 2_000_000, "{name}: {bytes} bytes");
    }
}

/// The sheet says what is recommended and what was assumed, and is what is printed, on one page.
#[test]
fn the_sheet_stands_first_and_prints_alone() {
    let Some((_folder, mut page)) = page() else { return };
    let first = page.eval("document.querySelector('main section').id");
    assert_eq!(first, "summary");
    let text = page.eval("document.getElementById('summary').textContent");
    let text = text.as_str().expect("a text");
    for part in ["Assumed", "One pool of 1,024 equal processors", "Jobs arrive as in the log"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let words = page.eval("document.getElementById('glossary').textContent");
    for word in ["Bounded slowdown", "Reservation", "Promise"] {
        assert!(words.as_str().is_some_and(|text| text.contains(word)), "{word}");
    }
    assert_eq!(page.printed_pages(), 1);
    page.eval("document.documentElement.dataset.print = 'all'");
    assert!(page.printed_pages() > 3);
}

/// The sentence, the picture of the changes and who pays for them come first; the picture is in
/// sight before anything is scrolled.
#[test]
fn the_first_picture_is_in_the_first_screen() {
    let Some(mut page) = chromium() else { return };
    let folder = Folder::new();
    folder.run(&["compare", "--quiet", "--report", "usual.html"]).ok();
    for (width, height) in [(1280, 800), (390, 844)] {
        page.open(&folder.path("usual.html"), Screen { width, height, dark: false }, true);
        page.until("document.querySelectorAll('#lead svg path').length > 3");
        let bottom = page.eval("document.querySelector('#lead .plot').getBoundingClientRect().bottom");
        assert!(bottom.as_f64() < Some(f64::from(height)), "{width}: the picture ends at {bottom}");
        assert_eq!(page.eval("document.querySelectorAll('#figure-change-wait').length"), 1);
    }
    let order =
        page.eval("Array.from(document.querySelectorAll('#summary > *'), e => e.id || e.className || e.localName)");
    assert_eq!(order, json!(["h2", "headline", "lead", "sheet", "details", "tools"]));
}

/// Pages without scripts print their sentences and first pictures on one page, and everything on
/// request.
#[test]
fn still_pages_print_on_one_page() {
    let Some(mut page) = chromium() else { return };
    let folder = Folder::new();
    folder.run(&["import", "--example", "dump", "--quiet"]).ok();
    folder.run(&["import", "dump", "--timezone", "UTC", "--out", "site", "--quiet"]).ok();
    folder.run(&["waits", "site", "--quiet", "--report", "waits.html"]).ok();
    let change = ["whatif", "site", "--qos-limit", "normal: MaxTRESPU=cpu=256", "--quiet", "--report", "whatif.html"];
    folder.run(&change).ok();
    for name in ["waits.html", "whatif.html"] {
        page.open(&folder.path(name), Screen { width: 1280, height: 800, dark: false }, false);
        assert_eq!(page.printed_pages(), 1, "{name}");
        page.eval("document.querySelector('.everything').checked = true");
        assert!(page.printed_pages() > 1, "{name}");
    }
}
