//! The last section of a page: what determined the results, and the data.

use crate::document::DocumentTable;
use crate::number::exact_percent;
use crate::results::Results;
use serde_json::{Value, json};

/// Everything that determined the results, and the data themselves.
pub(crate) fn write_settings(results: &Results, out: &mut String) {
    out.push_str("<section id=\"settings\"><h2>Settings and data</h2>\n");
    let mut facts = DocumentTable::new(["setting", "value"]).with_text_columns(&[0, 1]).id("facts");
    facts.add_row(vec!["drystone".into(), results.drystone.clone().into()]);
    // Settings are listed by name.
    flatten_settings(&mut facts, "workload", &json!(results.workload));
    flatten_settings(&mut facts, "", &json!(results.experiment));
    let options = results.comparison.options;
    facts.add_row(vec!["intervals: confidence".into(), exact_percent(options.confidence).into()]);
    facts.write_html("Inputs of these results", out);
    let mut policies = DocumentTable::new(["policy", "parameters"]).with_text_columns(&[0, 1]).id("parameters");
    for result in &results.policies {
        let mut parameters = result.policy.parameters.clone();
        parameters.0.sort();
        let text = parameters.format_pairs();
        policies.add_row(vec![result.policy.text.as_str().into(), text.into()]);
    }
    policies.write_html("Every parameter in force", out);
    out.push_str(
        "<p>Everything on this page is in one JSON object in its source, the element <code>#data</code>; it is what \
         <code>--format json</code> prints. <button type=\"button\" id=\"save\" hidden>Save the data as JSON</button></p>\n\
         <p class=\"note\">Wait: time not running between submit and end. Response: from submit to end. Bounded slowdown: \
         max(1, response / max(10 s, run time)). All plots: drag or pinch to zoom where there is a slider, hover or use \
         the tables for numbers.</p></section>\n</main>\n",
    );
}

fn plain_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A row per leaf of nested settings.
fn flatten_settings(table: &mut DocumentTable, at: &str, value: &Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let below = if at.is_empty() { key.clone() } else { format!("{at}: {key}") };
                flatten_settings(table, &below, value);
            }
        }
        Value::Null => {}
        leaf => table.add_row(vec![at.into(), plain_value(leaf).into()]),
    }
}
