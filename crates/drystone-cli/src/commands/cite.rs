//! `drystone cite`: how to cite this program.

use crate::args::{CitationFormat, CiteArgs};
use crate::exit::{CommandOutcome, DONE};
use crate::meta::VERSION;
use crate::output::stdout;

/// Title to cite, as in `CITATION.cff`.
const TITLE: &str = "Drystone: scheduling policies for parallel machines, and a trace-driven simulator for them";
const AUTHORS: &str = "The Drystone developers";
const LICENSE: &str = "MIT OR Apache-2.0";
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
/// Year of the version.
const YEAR: &str = "2026";

pub(crate) fn cite(args: &CiteArgs) -> CommandOutcome {
    stdout::write(text(args.format).as_bytes())?;
    Ok(DONE)
}

fn text(format: CitationFormat) -> String {
    match format {
        CitationFormat::Bibtex => format!(
            "@software{{drystone,\n  author  = {{{{{AUTHORS}}}}},\n  title   = {{{{{TITLE}}}}},\n  version = {{{VERSION}}},\n  \
             year    = {{{YEAR}}},\n  license = {{{LICENSE}}},\n  url     = {{{REPOSITORY}}}\n}}\n"
        ),
        CitationFormat::Text => {
            format!("{AUTHORS} ({YEAR}). {TITLE} (version {VERSION}) [computer software]. {REPOSITORY}\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file that hosts of repositories and journals read says the same.
    #[test]
    fn the_citation_file_agrees() {
        let file = include_str!("../../../../CITATION.cff");
        let version = env!("CARGO_PKG_VERSION");
        for part in [
            format!("title: \"{TITLE}\""),
            format!("version: {version}"),
            format!("  - name: {AUTHORS}"),
            format!("repository-code: {REPOSITORY}"),
            "cff-version: 1.2.0".to_string(),
            "keywords:".to_string(),
        ] {
            assert!(file.lines().any(|line| line == part), "no line `{part}`");
        }
        for license in LICENSE.split(" OR ") {
            assert!(file.contains(&format!("  - {license}\n")), "{license}");
        }
    }

    #[test]
    fn braces_of_bibtex_are_closed() {
        let text = text(CitationFormat::Bibtex);
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert!(text.starts_with("@software{drystone,\n") && text.contains(VERSION), "{text}");
    }
}
