//! Pages as a server gives them: with the way to the other pages, and with forms that work.

use crate::html::escape_html;
use crate::page::script_hash;
use crate::still::{THEME, begin_page};
use std::fmt::Write;

/// Style of what a server adds.
const STYLE: &str = "nav.pages{position:static;border-bottom:0;flex-wrap:wrap}nav.pages [aria-current]{font-weight:700;color:var(--ink)}\
    form.question{display:grid;gap:.6rem;max-width:44rem;margin:.4rem 0 1.2rem}form.question label{display:grid;gap:.15rem}\
    form.question input{font:inherit;width:100%;color:var(--ink);background:var(--card);border:1px solid var(--soft);border-radius:.4rem;padding:.35rem .6rem}\
    form.question .hint{color:var(--soft);font-size:.9rem}form.question button{justify-self:start}\
    [role=alert]{white-space:pre-wrap}.story p{margin:.15rem 0;padding-left:2rem;text-indent:-2rem}.story p.inner{padding-left:4rem}\
    @media print{nav.pages,.served{display:none!important}}";

/// Asks whether the page is there, which the server answers when it is or after some seconds. A
/// page that loads itself again by the clock would be a hindrance to readers.
const PENDING: &str = "const look=()=>fetch(location.href,{method:'HEAD',cache:'no-store'}).then(r=>r.status===202?setTimeout(look,500):location.reload(),\
    ()=>{document.querySelector('[role=status]').textContent='The server is no longer responding.'});setTimeout(look,500)";

/// Parts that a server adds to a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerParts<'a> {
    /// Addresses and names of the pages beside each other.
    pub links: &'a [(&'a str, &'a str)],
    /// Address of this page among them.
    pub current: &'a str,
    /// HTML behind the verdict, or before everything where there is none.
    pub section: &'a str,
    /// HTML at the end.
    pub notes: &'a str,
}

/// A page with links to those beside it, and with forms that work.
pub fn served_page(page: &str, parts: &ServerParts<'_>) -> String {
    let mut bar = "<nav class=\"pages\" aria-label=\"Pages\">".to_string();
    for (address, name) in parts.links {
        let mark = if *address == parts.current { " aria-current=\"page\"" } else { "" };
        let _ = write!(bar, "<a href=\"{}\"{mark}>{}</a> ", escape_html(address), escape_html(name));
    }
    bar.push_str("</nav>\n<header>");
    let behind = |from: &str, end: &str| page.find(from).and_then(|at| Some(at + page[at..].find(end)? + end.len()));
    let place = behind("<section id=\"verdict\">", "</section>").or_else(|| behind("<main", ">"));
    let (head, rest) = page.split_at(place.unwrap_or(page.len()));
    let head = head
        .replacen("form-action 'none'", "form-action 'self'", 1)
        .replacen("</style>", &format!(" {STYLE}</style>"), 1)
        .replacen("<header>", &bar, 1);
    let rest = rest.replacen("</main>", &format!("{}</main>", parts.notes), 1);
    format!("{head}\n<div class=\"served\">{}</div>{rest}", parts.section)
}

/// A page of sections that its server writes.
pub fn section_page(title: &str, sections: &str) -> String {
    let mut out = begin_page(title, "");
    end_section_page(&mut out, title, sections);
    out
}

/// A page that stands for one that is not made yet: it is loaded again when that one is there. The
/// element of the role `status` says so where the server goes away.
pub fn pending_page(title: &str, sections: &str) -> String {
    let policy = format!("; connect-src 'self'; script-src {}", script_hash(PENDING));
    let mut out = begin_page(title, &policy);
    end_section_page(&mut out, title, &format!("{sections}<script>{PENDING}</script>\n"));
    out
}

fn end_section_page(out: &mut String, title: &str, sections: &str) {
    let _ = write!(
        out,
        "<a class=\"skip\" href=\"#content\">Skip to the content</a>\n<header><div><h1>{}</h1></div>{THEME}</header>\n\
         <main id=\"content\">\n{sections}</main>\n</body>\n</html>\n",
        escape_html(title)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::still::StillPage;
    use serde_json::Value;

    #[test]
    fn a_served_page_has_the_way_to_the_others_and_nothing_of_a_site_in_it() {
        let details = Document::default();
        let page = StillPage {
            title: "<main> of <b>",
            subject: "",
            verdict: &["One.".to_string()],
            pictures: Vec::new(),
            details: &details,
            data: &Value::Null,
        };
        for page in
            [page.render_html(), section_page("<header> of <b>", "<section></section>"), pending_page("<b>", "")]
        {
            let links = [("/", "Waits"), ("/?a=1&b=2", "<b>")];
            let parts =
                ServerParts { links: &links, current: "/", section: "<p id=\"own\">", notes: "<p id=\"last\">" };
            let html = served_page(&page, &parts);
            assert!(!html.contains("<b>") && html.contains("form-action 'self'"), "{html}");
            assert_eq!(html.matches("<main").count(), 1);
            assert!(html.contains("href=\"/\" aria-current=\"page\">Waits</a> <a href=\"/?a=1&amp;b=2\">&lt;b&gt;"));
            let place = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text} is missing"));
            assert!(place("class=\"skip\"") < place("nav class=\"pages\"") && place("<main") < place("id=\"own\""));
            assert!(place("id=\"own\"") < place("id=\"last\"") && place("id=\"last\"") < place("</main>"));
            let verdict = html.find("</ul></section>");
            assert!(verdict.is_none_or(|at| at < place("id=\"own\"") && place("id=\"own\"") < place("id=\"tables\"")));
        }
        assert!(pending_page("a", "").contains("connect-src 'self'; script-src 'sha256-"));
    }
}
