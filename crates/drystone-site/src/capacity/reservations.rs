//! Reservations: `sacctmgr show reservation`, `scontrol -o show reservation`, and those of PBS.

use super::{SheetTimes, TextSheet};
use crate::error::SiteError;
use crate::machine::{LinePairs, split_records};
use crate::readers::pbs;
use crate::text::{Amount, UNKNOWN, parse_tres};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SiteReservation {
    pub(crate) name: String,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    /// Names of its nodes; empty where unknown.
    pub(crate) nodes: String,
    /// Its processors, where unknown which nodes.
    pub(crate) cpus: Option<u32>,
}

/// Reads what `sacctmgr` prints; rows that cannot be used are counted.
pub(crate) fn read_reservations(
    text: &str,
    name: &str,
    times: &SheetTimes<'_>,
) -> Result<(Vec<SiteReservation>, u64), SiteError> {
    let mut reservations = Vec::new();
    let mut unused_count = 0;
    for (line, get) in TextSheet::read_sheet(text).named_rows() {
        let place = format!("{name}:{line}");
        let begin = times.parse_moment(get(&["timestart", "start", "starttime"]), &place)?;
        let end = times.parse_moment(get(&["timeend", "end", "endtime"]), &place)?;
        let amount = parse_tres(get(&["tres"]).as_bytes()).unwrap_or(Amount::UNKNOWN);
        match (begin, end) {
            (Some(begin), Some(end)) if end > begin => reservations.push(SiteReservation {
                name: get(&["name"]).to_string(),
                begin,
                end,
                nodes: get(&["nodenames", "nodes", "nodelist"]).to_string(),
                cpus: (amount.cpus != UNKNOWN).then_some(amount.cpus),
            }),
            _ => unused_count += 1,
        }
    }
    Ok((reservations, unused_count))
}

/// Reads what `scontrol show reservation` prints, with and without `-o`.
pub(crate) fn read_scontrol(
    text: &str,
    name: &str,
    times: &SheetTimes<'_>,
) -> Result<(Vec<SiteReservation>, u64), SiteError> {
    let mut reservations = Vec::new();
    let mut unused_count = 0;
    for (number, record) in split_records(text) {
        let pairs = LinePairs::split_line(&record);
        let place = format!("{name}:{number}");
        let moment = |key: &str| times.parse_moment(pairs.get(key).unwrap_or_default(), &place);
        match (moment("StartTime")?, moment("EndTime")?, pairs.get("ReservationName")) {
            (Some(begin), Some(end), Some(name)) if end > begin => reservations.push(SiteReservation {
                name: name.to_string(),
                begin,
                end,
                nodes: pairs.get("Nodes").filter(|nodes| *nodes != "(null)").unwrap_or_default().to_string(),
                cpus: pairs.parse_number("CoreCnt").and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0),
            }),
            _ => unused_count += 1,
        }
    }
    Ok((reservations, unused_count))
}

/// Those that PBS's records tell of.
pub(crate) fn of_pbs(open: &pbs::OpenRecords) -> Vec<SiteReservation> {
    let site_reservation = |((name, _), reservation): (&(String, i64), &pbs::PbsReservation)| SiteReservation {
        name: name.split('.').next().unwrap_or(name).to_string(),
        begin: reservation.start,
        end: reservation.end,
        nodes: reservation.nodes.clone(),
        cpus: None,
    };
    open.reservations.iter().map(site_reservation).filter(|r| r.end > r.begin && !r.nodes.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::TimeForm;

    #[test]
    fn both_commands_are_read() {
        let times = SheetTimes { form: &TimeForm::default(), zone: None };
        let text = "Cluster|Name|TRES|Start|End|UnusedWall\nc|maint|cpu=64|1767225600|1767312000|0\nc|x|cpu=1|0|0|0\n";
        let (reservations, unused_rows) = read_reservations(text, "resv.psv", &times).expect("a table");
        assert_eq!((reservations.len(), unused_rows, reservations[0].cpus), (1, 1, Some(64)));
        let text = "ReservationName=maint StartTime=1767225600 EndTime=1767312000 Duration=1-00:00:00 Nodes=n[1-2] NodeCnt=2 CoreCnt=64 Flags=MAINT\n";
        let (line_entries, _) = read_scontrol(text, "resv.txt", &times).expect("lines");
        assert_eq!(
            (line_entries[0].name.as_str(), line_entries[0].nodes.as_str(), line_entries[0].cpus),
            ("maint", "n[1-2]", Some(64))
        );
        // Without `-o` a reservation is a paragraph.
        let text = "ReservationName=maint StartTime=1767225600 EndTime=1767312000 Duration=1-00:00:00\n   Nodes=n[1-2] NodeCnt=2\n   \
                    Users=root\n\nReservationName=bare StartTime=1767225600 EndTime=1767312000\n   Nodes=(null) CoreCnt=8\n";
        let (paragraph_entries, spare_count) = read_scontrol(text, "resv.txt", &times).expect("paragraphs");
        let nodes: Vec<&str> = paragraph_entries.iter().map(|reservation| reservation.nodes.as_str()).collect();
        assert_eq!((nodes, paragraph_entries[1].cpus, spare_count), (vec!["n[1-2]", ""], Some(8), 0));
    }
}
