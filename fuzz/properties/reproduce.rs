//! Properties of the study files of published tables, for any text.

use drystone_reproduce::PaperStudy;

/// Checks every property of the reader on this text.
pub(crate) fn hold(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match PaperStudy::parse(text, "study") {
        Ok(study) => {
            for row in study.tables.iter().flat_map(|table| &table.rows) {
                assert!(study.find_log(&row.log).is_some(), "a row of a log that the study has not");
            }
        }
        Err(error) => assert!(error.to_string().contains("study"), "an error does not say where: {error}"),
    }
}
