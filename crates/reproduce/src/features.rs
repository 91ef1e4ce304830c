//! Features of the papers, sentence by sentence: a command for each, and the text that its output
//! must hold. The file `studies/features.toml` lists them.

use crate::study::StudyError;
use serde::Deserialize;

/// Features of one paper.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Name of its study, whose logs the commands use by their identifiers.
    pub study: String,
    /// Its features, in the order of the paper.
    #[serde(rename = "feature")]
    pub features: Vec<PaperFeature>,
}

/// A policy, measure, table or figure of a paper.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PaperFeature {
    pub section: String,
    /// Short description.
    pub name: String,
    /// Arguments of the command that shows it; `$KTH` is the log of that identifier, `$LOGS` the
    /// folder of the logs, `$OUT` an empty folder. A `;` between blanks separates commands, whose
    /// outputs are one.
    #[serde(default)]
    pub command: String,
    /// Text of a file that the command reads; `$KTH` is a log's path.
    #[serde(default)]
    pub input: String,
    /// Name of that file in `$OUT`.
    #[serde(default = "study")]
    pub input_name: String,
    /// Texts that the output must hold; blanks and line ends count as one blank.
    #[serde(default)]
    pub shows: Vec<String>,
    /// Files that must be in `$OUT` afterwards.
    #[serde(default)]
    pub files: Vec<String>,
    /// Reason why no command shows it yet, or the part that is not shown.
    #[serde(default)]
    pub open: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Papers {
    paper: Vec<Paper>,
}

impl PaperFeature {
    /// Words of the command; a part within single quotes is kept together.
    pub fn split_words(&self) -> Vec<String> {
        let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
        for c in self.command.chars() {
            match c {
                '\'' => is_quoted = !is_quoted,
                ' ' if !is_quoted && !word.is_empty() => words.push(std::mem::take(&mut word)),
                ' ' if !is_quoted => {}
                c => word.push(c),
            }
        }
        words.extend((!word.is_empty()).then_some(word));
        words
    }

    pub fn lacking_text(&self, output: &str) -> Option<&str> {
        let output = one_blank(output);
        self.shows.iter().find(|text| !output.contains(&one_blank(text))).map(String::as_str)
    }
}

fn study() -> String {
    "study.toml".to_string()
}

fn one_blank(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads the features that come with the program.
///
/// # Errors
/// None, unless the program was built with a broken file.
pub fn read_features() -> Result<Vec<Paper>, StudyError> {
    let text = include_str!("../studies/features.toml");
    let parse_result = toml::from_str::<Papers>(text);
    parse_result
        .map(|papers| papers.paper)
        .map_err(|source| StudyError::Syntax { name: "features".to_string(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_builtin;

    /// A feature has a command and a check of its output, or the reason why it has none; its
    /// paper is a study with the logs that it names.
    #[test]
    fn features_are_checked_or_open() {
        let studies = read_builtin().expect("studies");
        for paper in read_features().expect("features") {
            let study = studies.iter().find(|study| study.name == paper.study).expect("a study");
            for feature in &paper.features {
                let checks = feature.shows.len() + feature.files.len();
                assert_eq!(feature.command.is_empty(), checks == 0, "{}", feature.name);
                assert!(!feature.command.is_empty() || !feature.open.is_empty(), "{}", feature.name);
                assert_eq!(feature.command.matches('\'').count() % 2, 0, "{}", feature.name);
                for word in feature.split_words() {
                    let Some((_, id)) = word.split_once('$') else { continue };
                    let is_known =
                        ["LOGS", "OUT"].iter().any(|name| id.starts_with(name)) || study.find_log(id).is_some();
                    assert!(is_known, "{}: {word}", feature.name);
                }
            }
        }
    }

    #[test]
    fn blanks_do_not_count_and_quotes_keep_together() {
        let feature = PaperFeature {
            section: "1".to_string(),
            name: "made up".to_string(),
            input: String::new(),
            input_name: study(),
            command: "run  -p 'easy(order=\"a b\")' $KTH".to_string(),
            shows: vec!["mean  wait".to_string(), "none".to_string()],
            files: Vec::new(),
            open: String::new(),
        };
        assert_eq!(feature.split_words(), ["run", "-p", "easy(order=\"a b\")", "$KTH"]);
        assert_eq!(feature.lacking_text("the mean\n   wait"), Some("none"));
        assert_eq!(feature.lacking_text("mean wait: none"), None);
    }
}
