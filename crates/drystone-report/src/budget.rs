//! Limit of the data in a page, so that it opens in any mail client.

use crate::results::Results;
use serde_json::Value;

/// Most bytes of a page, with some to spare below 2 MB.
const MOST: usize = 1_980_000;

/// The places of the policies: the baseline first, then what a site can choose, each by mean
/// bounded slowdown.
pub(crate) fn by_interest(results: &Results) -> Vec<usize> {
    let policies = &results.policies;
    let mut order: Vec<usize> = (0..policies.len()).collect();
    let slowdown = |i: usize| policies[i].report.measures.bounded_slowdown.mean.unwrap_or(f64::INFINITY);
    let rank = |i: usize| {
        let policy = &policies[i].policy.text;
        (*policy != results.baseline, !results.may_lead(policy))
    };
    order.sort_by(|&a, &b| rank(a).cmp(&rank(b)).then(slowdown(a).total_cmp(&slowdown(b))).then(a.cmp(&b)));
    order
}

/// The data as a page holds them beside this many bytes of other content, and the policies whose
/// details were left out to keep it small. The details of the policies that come first in `order`
/// stay.
pub(crate) fn fit_data(data: &Value, order: &[usize], beside: usize) -> (Value, Vec<usize>) {
    let mut data = data.clone();
    let mut left_out = Vec::new();
    let mut size = data.to_string().len();
    for &at in order.iter().rev() {
        if size + beside <= MOST || order.first() == Some(&at) {
            break;
        }
        let result = data.get_mut("results").and_then(|results| results.get_mut(at)).and_then(Value::as_object_mut);
        if let Some(details) = result.and_then(|result| result.remove("details")) {
            size = size.saturating_sub(details.to_string().len());
            left_out.push(at);
        }
    }
    left_out.sort_unstable();
    (data, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_lose_their_details_first() {
        let result = |length: usize| json!({"policy": "p", "details": "x".repeat(length)});
        let data = json!({"results": [result(300_000), result(200_000), result(200_000)]});
        let beside = MOST - 560_000;
        assert_eq!(fit_data(&data, &[1, 0, 2], beside - 200_000).1, [0; 0]);
        let (kept_data, left_out) = fit_data(&data, &[1, 0, 2], beside);
        assert_eq!(left_out, [2]);
        assert!(kept_data["results"][2].get("details").is_none() && kept_data.to_string().len() + beside <= MOST);
        assert_eq!(fit_data(&json!({"results": [result(9)]}), &[0], MOST).1, [0; 0]);
        // What a page is about stays, whatever its length.
        assert_eq!(fit_data(&json!({"results": [result(900_000)]}), &[0], beside).1, [0; 0]);
    }
}
