//! Pods and jobs of Kubernetes, as `kubectl get … -o json` lists them: a row of each.

use super::flat_record::{FlatRecord, text_of};
use crate::readers::json::JsonValue;
use crate::text::parse_decimal;

/// The kind of an object of Kubernetes; `None` for a record of another system.
pub(super) fn kind_of(value: &JsonValue) -> Option<&str> {
    let is_kubernetes =
        value.get("metadata").is_some() && (value.get("spec").is_some() || value.get("status").is_some());
    value.get("kind").and_then(JsonValue::as_text).filter(|_| is_kubernetes)
}

/// The row of a pod or of a job; `None` for another object.
pub(super) fn row_of(value: &JsonValue) -> Option<FlatRecord> {
    let pod = kind_of(value)? == "Pod";
    if !pod && kind_of(value)? != "Job" {
        return None;
    }
    let at = |path: &[&str]| path.iter().try_fold(value, |value, name| value.get(name));
    let text = |path: &[&str]| at(path).map_or(String::new(), text_of);
    let (spec, copies) = match pod {
        true => (at(&["spec"]), 1.0),
        false => (at(&["spec", "template", "spec"]), copies_of(value)),
    };
    let requests = |is_match: fn(&str) -> bool, parts: f64| {
        let containers = spec.and_then(|spec| spec.get("containers")).map_or(&[][..], JsonValue::as_list);
        let sums: Vec<f64> = containers.iter().filter_map(|container| container_request(container, is_match)).collect();
        if sums.is_empty() { String::new() } else { (sums.iter().sum::<f64>() * copies * parts).round().to_string() }
    };
    let key = if at(&["metadata", "uid"]).is_some() { text(&["metadata", "uid"]) } else { text(&["metadata", "name"]) };
    let (state, end) = if pod { end_of_pod(value) } else { end_of_job(value) };
    let row = [
        ("key", [text(&["metadata", "namespace"]), key].join("/")),
        ("namespace", text(&["metadata", "namespace"])),
        ("queue", queue_of(value)),
        ("created", text(&["metadata", "creationTimestamp"])),
        ("started", text(&["status", "startTime"])),
        ("ended", end),
        ("state", state),
        (
            "limit",
            spec.and_then(|spec| spec.get("activeDeadlineSeconds"))
                .or(at(&["spec", "activeDeadlineSeconds"]))
                .map_or(String::new(), text_of),
        ),
        // A thousandth is the least part that counts there.
        ("milli_cpus", requests(|name| name == "cpu", 1_000.0)),
        ("gpus", requests(|name| name.ends_with("/gpu") || name.contains("/mig-"), 1.0)),
        ("node", text(&["spec", "nodeName"])),
    ];
    Some(row.into_iter().map(|(name, text)| (format!("kubernetes.{name}"), text)).collect())
}

/// Pods of a job that run at once.
fn copies_of(job: &JsonValue) -> f64 {
    let number =
        |name: &str| job.get("spec").and_then(|spec| spec.get(name)).and_then(|value| parse_quantity(&text_of(value)));
    number("parallelism").unwrap_or(1.0).min(number("completions").unwrap_or(f64::MAX)).max(1.0)
}

/// The request of a container; its limit where it has none.
fn container_request(container: &JsonValue, is_match: fn(&str) -> bool) -> Option<f64> {
    let resources = container.get("resources")?;
    let of = |name: &str| match resources.get(name)? {
        JsonValue::Map(pairs) => {
            let amounts: Vec<f64> = pairs
                .iter()
                .filter(|(name, _)| is_match(name))
                .filter_map(|(_, value)| parse_quantity(&text_of(value)))
                .collect();
            (!amounts.is_empty()).then(|| amounts.iter().sum())
        }
        _ => None,
    };
    of("requests").or_else(|| of("limits"))
}

/// `500m`, `2`, `1.5`, `2k`.
fn parse_quantity(text: &str) -> Option<f64> {
    let (number, scale) = match text.as_bytes().last()? {
        b'm' => (&text[..text.len() - 1], 1e-3),
        b'k' => (&text[..text.len() - 1], 1e3),
        _ => (text, 1.0),
    };
    parse_decimal(number.as_bytes()).map(|number| number * scale)
}

/// The queue that a batch scheduler keeps in a label, `kueue.x-k8s.io/queue-name` for one.
fn queue_of(value: &JsonValue) -> String {
    let metadata = value.get("metadata");
    let labels =
        ["labels", "annotations"].into_iter().filter_map(|name| metadata.and_then(|metadata| metadata.get(name)));
    let pairs = labels.filter_map(|labels| if let JsonValue::Map(pairs) = labels { Some(pairs) } else { None });
    pairs.flatten().find(|(name, _)| name.ends_with("/queue-name")).map_or(String::new(), |(_, value)| text_of(value))
}

/// The time of the last change of a condition that has this status.
fn condition_time(value: &JsonValue, name: &str, status: &str) -> Option<String> {
    let conditions = value.get("status")?.get("conditions")?.as_list();
    let is = |entry: &&JsonValue, key: &str, text: &str| entry.get(key).and_then(JsonValue::as_text) == Some(text);
    let condition_entry = conditions.iter().find(|entry| is(entry, "type", name) && is(entry, "status", status))?;
    condition_entry.get("lastTransitionTime").map(text_of)
}

/// State and end of a pod: it ends with the last of its containers, or as it is evicted.
fn end_of_pod(pod: &JsonValue) -> (String, String) {
    let status = pod.get("status");
    let phase = status.and_then(|status| status.get("phase")).map_or(String::new(), text_of);
    // What waits for its image holds its place.
    let has_start = status.and_then(|status| status.get("startTime")).is_some();
    if phase == "Pending" && has_start {
        return ("RUNNING".to_string(), String::new());
    }
    if phase != "Succeeded" && phase != "Failed" {
        return (phase, String::new());
    }
    let containers = status.and_then(|status| status.get("containerStatuses")).map_or(&[][..], JsonValue::as_list);
    let ends = containers
        .iter()
        .filter_map(|container| container.get("state")?.get("terminated")?.get("finishedAt").map(text_of));
    // Times of one form, in UTC: the last is the greatest text.
    let last = ends.max().or_else(|| condition_time(pod, "Ready", "False"));
    (phase, last.unwrap_or_default())
}

/// State and end of a job, whose controller notes a completion only where it succeeded.
fn end_of_job(job: &JsonValue) -> (String, String) {
    let status = |name: &str| job.get("status").and_then(|status| status.get(name)).map(text_of);
    if let Some(end) = status("completionTime") {
        return ("COMPLETED".to_string(), end);
    }
    if let Some(end) = condition_time(job, "Failed", "True") {
        return ("FAILED".to_string(), end);
    }
    let state = if status("startTime").is_some() { "RUNNING" } else { "PENDING" };
    (state.to_string(), String::new())
}
