//! `drystone cite`: how to cite this program.

use crate::args::{CitationFormat, CiteArgs};
use crate::exit::{CommandOutcome, DONE};
use crate::meta::VERSION;
use crate::output::stdout;

/// Title to cite, as in `CITATION.cff`.
const TITLE: &str = "Drystone: scheduling policies for parallel machines, and a trace-driven simulator for them";
const AUTHORS: &str = "The Drystone developers";
const LICENSE: &str = "MIT OR Apache-2.0";
/// Address of the source, where the package states one.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
/// Year of the version.
const YEAR: &str = "2026";

pub(crate) fn run_cite(args: &CiteArgs) -> CommandOutcome {
    stdout::write_bytes(citation_text(args.format).as_bytes())?;
    Ok(DONE)
}

fn citation_text(format: CitationFormat) -> String {
    match format {
        CitationFormat::Bibtex => {
            let url = if REPOSITORY.is_empty() { String::new() } else { format!(",\n  url     = {{{REPOSITORY}}}") };
            format!(
                "@software{{drystone,\n  author  = {{{{{AUTHORS}}}}},\n  title   = {{{{{TITLE}}}}},\n  version = {{{VERSION}}},\n  \
                 year    = {{{YEAR}}},\n  license = {{{LICENSE}}}{url}\n}}\n"
            )
        }
        CitationFormat::Text => {
            let text = format!("{AUTHORS} ({YEAR}). {TITLE} (version {VERSION}) [computer software]. {REPOSITORY}");
            format!("{}\n", text.trim_end())
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
            "cff-version: 1.2.0".to_string(),
            "keywords:".to_string(),
        ] {
            assert!(file.lines().any(|line| line == part), "no line `{part}`");
        }
        let codemeta = include_str!("../../../../codemeta.json");
        assert!(codemeta.contains(&format!("\"version\": \"{version}\"")), "codemeta.json");
        let address = file.lines().find_map(|line| line.strip_prefix("repository-code: "));
        assert_eq!(address.unwrap_or_default(), REPOSITORY);
        for license in LICENSE.split(" OR ") {
            assert!(file.contains(&format!("  - {license}\n")), "{license}");
        }
    }

    /// Until the source has an address, none is made up.
    #[test]
    fn no_address_is_invented() {
        for format in [CitationFormat::Bibtex, CitationFormat::Text] {
            assert_eq!(citation_text(format).contains("http"), !REPOSITORY.is_empty());
        }
    }

    #[test]
    fn braces_of_bibtex_are_closed() {
        let text = citation_text(CitationFormat::Bibtex);
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert!(text.starts_with("@software{drystone,\n") && text.contains(VERSION), "{text}");
    }
}
