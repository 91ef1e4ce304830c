//! Windows of a study file: a text as on the command line, or a table of the same words.

use super::StudyReader;
use super::raw::{RawStudy, RawWorkload};
use crate::error::SweepError;
use drystone::log::transform::WindowRule;
use toml::{Spanned, Value};

impl StudyReader<'_> {
    /// The rule of a workload, else that of the whole study; `"none"` takes the study's back.
    pub(super) fn read_windows(&self, raw: &RawWorkload, study: &RawStudy) -> Result<Option<WindowRule>, SweepError> {
        let Some(value) = raw.windows.as_ref().or(study.windows.as_ref()) else { return Ok(None) };
        let text = self.rule_text(value)?;
        if text == "none" {
            return Ok(None);
        }
        let rule: WindowRule =
            text.parse().map_err(|problem| self.error_at(value.span(), format!("`windows`: {problem}")))?;
        let parts = [&raw.month, &raw.slice].into_iter().flatten().map(Spanned::span);
        if let Some(at) = parts.chain(raw.warm_start.as_ref().map(Spanned::span)).next() {
            let problem =
                "`month`, `slice` and `warm-start` do not go with `windows`: each cuts the log in its own way";
            return Err(self.error_at(at, problem));
        }
        if let Some(trim) = raw.trim.as_ref().or(study.trim.as_ref()).filter(|_| rule.has_margins()) {
            let problem = "`trim` does not go with `warm-up` and `cool-down` of windows, which say what counts";
            return Err(self.error_at(trim.span(), problem));
        }
        Ok(Some(rule))
    }

    fn rule_text(&self, value: &Spanned<Value>) -> Result<String, SweepError> {
        let wrong = || {
            let problem =
                "`windows` is a table such as { jobs = 256, count = 10, seed = 1 }, or a text such as \"sc17\"";
            self.error_at(value.span(), problem)
        };
        let word = |value: &Value| match value {
            Value::Integer(number) => Ok(number.to_string()),
            Value::Boolean(truth) => Ok(truth.to_string()),
            Value::String(text) => Ok(text.clone()),
            _ => Err(wrong()),
        };
        match value.as_ref() {
            Value::String(text) => Ok(text.clone()),
            Value::Table(table) => {
                let part = |(key, value): (&String, &Value)| match value {
                    Value::Array(items) => {
                        let words: Vec<String> = items.iter().map(word).collect::<Result<_, _>>()?;
                        Ok(format!("{key}={}", words.join("+")))
                    }
                    value => Ok(format!("{key}={}", word(value)?)),
                };
                let mut parts: Vec<String> =
                    table.iter().filter(|(key, _)| *key != "as").map(part).collect::<Result<_, _>>()?;
                if let Some(protocol) = table.get("as") {
                    parts.insert(0, word(protocol)?);
                }
                Ok(parts.join(","))
            }
            _ => Err(wrong()),
        }
    }
}
