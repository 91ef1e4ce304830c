//! `sacctmgr show event`: nodes that were out, and how much the cluster had.

use super::{SheetTimes, TextSheet};
use crate::error::SiteError;
use crate::text::{Amount, UNKNOWN, parse_tres};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NodeEvent {
    pub(crate) cluster: String,
    /// Names of nodes; empty for rows about the whole cluster.
    pub(crate) nodes: String,
    pub(crate) begin: i64,
    pub(crate) end: Option<i64>,
    /// Processors of the whole cluster, of such a row.
    pub(crate) cpus: Option<u32>,
}

/// States in which a node takes no job.
///
/// `DRNG` is the short form of DRAINING: jobs that run there end, and none starts.
const OUT: &[&str] = &["DOWN", "DRAIN", "DRNG", "FAIL", "MAINT", "POWERED_DOWN", "POWER_DOWN", "ERROR", "INVAL"];

/// Reads them; rows that cannot be used are counted.
pub(crate) fn read_events(text: &str, name: &str, times: &SheetTimes<'_>) -> Result<(Vec<NodeEvent>, u64), SiteError> {
    let mut events = Vec::new();
    let mut unused_count = 0;
    for (line, get) in TextSheet::read_sheet(text).named_rows() {
        let place = format!("{name}:{line}");
        let begin = times.parse_moment(get(&["timestart", "start", "starttime"]), &place)?;
        let end = times.parse_moment(get(&["timeend", "end", "endtime"]), &place)?;
        let (node, state) = (get(&["nodename"]), get(&["state"]).to_ascii_uppercase());
        let amount = parse_tres(get(&["tres"]).as_bytes()).unwrap_or(Amount::UNKNOWN);
        let cpus =
            (amount.cpus != UNKNOWN).then_some(amount.cpus).or_else(|| get(&["cpu", "cpus", "cpucount"]).parse().ok());
        let whole = node.is_empty();
        let out = OUT.iter().any(|word| state.contains(word));
        let Some(begin) = begin.filter(|&b| end.is_none_or(|end| end > b) && (whole || out)) else {
            unused_count += 1;
            continue;
        };
        events.push(NodeEvent {
            cluster: get(&["cluster"]).to_string(),
            nodes: node.to_string(),
            begin,
            end,
            cpus: cpus.filter(|_| whole),
        });
    }
    Ok((events, unused_count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Zone;
    use crate::text::TimeForm;

    #[test]
    fn nodes_and_clusters_have_events() {
        let text = "Cluster|ClusterNodes|NodeName|Start|End|State|Reason|TRES\n\
                    c|n[1-4]||2026-01-01T00:00:00|Unknown||Cluster Registered TRES|cpu=128,mem=4G,node=4\n\
                    c||n2|2026-01-02T00:00:00|2026-01-03T00:00:00|DOWN*|Not responding|cpu=32\n\
                    c||n3|1767398400|0|IDLE+DRAIN|bad disk|\nc||n4|2026-01-02T00:00:00|2026-01-01T00:00:00|DOWN|x|\n\
                    c||n4|2026-01-02T00:00:00|Unknown|IDLE|x|\n\
                    c||n1|2026-01-02T00:00:00|2026-01-03T00:00:00|DRNG*|x|\n";
        let zone = Zone::utc_zone();
        let times = SheetTimes { form: &TimeForm::default(), zone: Some(&zone) };
        let (events, unused_rows) = read_events(text, "events.psv", &times).expect("a table");
        assert_eq!((events.len(), unused_rows), (4, 2));
        assert_eq!((events[0].cpus, events[0].nodes.as_str(), events[0].end), (Some(128), "", None));
        assert_eq!((events[1].cpus, events[1].nodes.as_str(), events[1].end), (None, "n2", Some(1_767_398_400)));
        assert_eq!((events[2].begin, events[2].end), (1_767_398_400, None));
        let zoneless_times = SheetTimes { form: &TimeForm::default(), zone: None };
        assert!(
            matches!(read_events(text, "events.psv", &zoneless_times), Err(SiteError::NoZone { place, .. }) if place == "events.psv:2")
        );
    }
}
