//! Forms of the pages, and what stands between them.

use super::fields::build_address;
use crate::commands::waits::causes::CauseStep;
use crate::output::number::format_duration;
use drystone_report::html::{escape_html, render_prose};
use drystone_site::waits::LongWait;
use std::fmt::Write;

/// Fields of the form of changes: the option of `drystone whatif`, its name for people, an example.
pub(super) const CHANGES: [(&str, &str, &str); 5] = [
    ("nodes", "Add or remove nodes in a partition or pool", "gpu:+8"),
    ("limit-max", "Maximum time limit", "24h"),
    ("qos-limit", "Limits of a QOS", "normal: MaxJobsPU=10"),
    ("account-limit", "Limits of an account", "physics: GrpTRES=gres/gpu=16"),
    ("change", "Other changes, separated by ;", "maintenance 2026-12-03T08:00/10h; load 1.2"),
];

pub(super) fn job_form(job: &str) -> String {
    let field = write_field("job", "Slurm job ID", "such as 4711, or 102_3 of an array", job);
    format!("<form class=\"question\" action=\"/explain\">{field}<button>Explain</button></form>\n")
}

/// The form that asks for changes, filled in as before.
pub(super) fn change_form(fields: &[(String, String)]) -> String {
    let mut form = "<form class=\"question\" action=\"/whatif\">".to_string();
    for (name, words, example) in CHANGES {
        form += &write_field(name, words, &format!("such as {example}"), find_value(fields, name));
    }
    form + "<button>Simulate</button></form>\n"
}

fn write_field(name: &str, words: &str, hint: &str, value: &str) -> String {
    format!(
        "<label>{} <input name=\"{name}\" value=\"{}\" autocomplete=\"off\" spellcheck=\"false\"><span class=\"hint\">{}</span></label>",
        escape_html(words),
        escape_html(value),
        escape_html(hint)
    )
}

pub(super) fn find_value<'a>(fields: &'a [(String, String)], name: &str) -> &'a str {
    fields.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
}

pub(super) fn write_section(id: &str, heading: &str, content: &str) -> String {
    format!("<section id=\"{id}\"><h2>{}</h2>\n{content}</section>\n", escape_html(heading))
}

/// Notes and warnings of a command.
pub(super) fn write_notes(messages: &[String]) -> String {
    messages.iter().fold(String::new(), |mut text, message| {
        let _ = writeln!(text, "<p class=\"note\">{}</p>", render_prose(message));
        text
    })
}

pub(super) fn next_links(steps: &[CauseStep], longest: &[LongWait]) -> String {
    let mut text = String::new();
    if !steps.is_empty() {
        text.push_str("<p>By cause, with the numbers of the causes below:</p>\n<ol class=\"steps\">");
        for step in steps {
            let command = escape_html(&step.shell_command());
            let item = match step_address(step.command_words()) {
                Some(address) => format!("<a href=\"{}\">{command}</a>", escape_html(&address)),
                None => format!("<code>{command}</code>"),
            };
            let _ = write!(text, "<li value=\"{}\">{item}</li>", step.cause_number());
        }
        text.push_str("</ol>\n");
    }
    if !longest.is_empty() {
        text.push_str("<p>The longest waits, explained: ");
        let links = longest.iter().map(|long| {
            let address = escape_html(&build_address("/explain", &[("job", &long.job)]));
            format!("<a href=\"{address}\">{}</a> ({})", escape_html(&long.job), format_duration(long.wait as f64))
        });
        text.push_str(&links.collect::<Vec<_>>().join(", "));
        text.push_str("</p>\n");
    }
    text
}

/// The address of the page that is made by a command, where there is one.
fn step_address(words: &[String]) -> Option<String> {
    let (command, options) = (words.first()?, words.get(2..)?);
    let mut fields = Vec::new();
    for pair in options.chunks(2) {
        let [name, value] = pair else { return None };
        fields.push((name.strip_prefix("--")?, value.as_str()));
    }
    let path = match command.as_str() {
        "waits" => "/",
        "whatif" if fields.iter().all(|(name, _)| CHANGES.iter().any(|(change, ..)| change == name)) => "/whatif",
        "explain" => "/explain",
        _ => return None,
    };
    Some(build_address(path, &fields))
}

/// A story of lines: the first one is the answer, where there is one for people.
pub(super) fn write_story(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let mut html = format!("<p class=\"headline\">{}</p>\n<div class=\"story\">", render_prose(first));
    for line in lines.filter(|line| !line.is_empty()) {
        let class = if line.starts_with("  ") { " class=\"inner\"" } else { "" };
        let _ = write!(html, "<p{class}>{}</p>", render_prose(line.trim_start()));
    }
    html + "</div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split('|').map(str::to_string).collect()
    }

    #[test]
    fn commands_of_causes_are_addresses() {
        for (command, address) in [
            ("whatif|site/|--nodes|+10%", Some("/whatif?nodes=%2B10%25")),
            ("whatif|site/|--qos-limit|normal: MaxJobsPU=4", Some("/whatif?qos-limit=normal%3A+MaxJobsPU%3D4")),
            ("whatif|site/|--report|out.html", None),
            ("explain|site/|--job|102_3", Some("/explain?job=102_3")),
            ("explain|site/|--job|102_3|--policy|easy", Some("/explain?job=102_3&policy=easy")),
            ("waits|site/|--by|user,reason", Some("/?by=user%2Creason")),
            ("advise|site/|--check", None),
            ("import|--ask", None),
        ] {
            assert_eq!(step_address(&words(command)).as_deref(), address, "{command}");
        }
    }

    #[test]
    fn nothing_of_a_site_gets_out_of_its_place() {
        let bad = "\"><b>";
        let fields = [("nodes".to_string(), bad.to_string())];
        let html = [
            job_form(bad),
            change_form(&fields),
            write_story(bad),
            write_notes(&[bad.to_string()]),
            write_section("a", bad, ""),
        ];
        assert!(html.iter().all(|html| !html.contains("<b>") && html.contains("&lt;b&gt;")), "{html:?}");
    }
}
