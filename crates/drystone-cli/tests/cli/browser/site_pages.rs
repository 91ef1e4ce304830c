//! The pages of `drystone serve`: from the causes by a click to what a change does.

use super::chromium::{DESKTOP, PHONE, Screen, chromium};
use crate::serve::{Server, quarry};

#[test]
fn a_site_is_looked_at_page_by_page() {
    let Some(mut page) = chromium() else { return };
    let folder = quarry();
    let server = Server::start(&folder, &["site", "--listen", "0", "--quiet"]);
    let at = |path: &str| format!("location.pathname === '{path}' && document.readyState === 'complete'");

    // The chart needs its scripts, and has them.
    page.visit(&format!("{}/gantt", server.address), DESKTOP, true);
    page.until("Number(document.documentElement.dataset.shapes) > 0");
    page.picture("serve-gantt");
    page.click("nav.pages a[href='/']");
    page.until(&at("/"));
    page.until("document.querySelector('#verdict')");
    page.picture("serve-waits");
    // The command of the first cause, simulated.
    page.click("#next .steps a[href^='/whatif']");
    page.until(&format!("{} && document.querySelector('#verdict li')", at("/whatif")));
    assert_eq!(page.eval("document.querySelector('nav.pages [aria-current]').textContent"), "What if");
    page.picture("serve-whatif");
    // A change of one's own, by the form.
    page.click("nav.pages a[href='/whatif']");
    page.until(&format!("{} && !location.search", at("/whatif")));
    page.eval("document.querySelector('input[name=nodes]').value = 'gpu:+1'");
    page.click("form.question button");
    page.until("location.search.includes('nodes=gpu%3A%2B1') && document.querySelector('#verdict li')");
    // A job, by the link of its wait and by its number.
    page.click("nav.pages a[href='/']");
    page.until(&at("/"));
    page.click("#next a[href^='/explain?job=']");
    page.until(&format!("{} && document.querySelector('.headline')", at("/explain")));
    page.picture("serve-explain");
    assert_eq!(page.complaints(), [] as [String; 0]);
    page.eval("document.querySelector('input[name=job]').value = 'nosuch'");
    page.click("form.question button");
    page.until("location.search === '?job=nosuch' && document.querySelector('[role=alert]')");
    for screen in [DESKTOP, Screen { dark: true, ..PHONE }] {
        for path in ["/", "/explain", "/whatif", "/gantt"] {
            page.visit(&format!("{}{path}", server.address), screen, false);
            let wide = page.eval("document.documentElement.scrollWidth <= innerWidth + 1");
            assert_eq!(wide, true, "{path}: too wide");
        }
    }
    let foreign: Vec<&String> =
        page.requests().iter().filter(|address| !address.starts_with(&server.address)).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}
