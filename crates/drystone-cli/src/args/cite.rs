//! `drystone cite`.

use clap::{Args, ValueEnum};

/// Arguments of `drystone cite`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  drystone cite >> references.bib\n  drystone cite --format text")]
pub(crate) struct CiteArgs {
    /// Form of the citation.
    #[arg(long, value_name = "FORMAT", default_value = "bibtex")]
    pub(crate) format: CitationFormat,
}

/// Forms of a citation.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CitationFormat {
    /// An entry of BibTeX, of the type `software`.
    Bibtex,
    /// One line.
    Text,
}
