//! `scontrol -o show reservations`: windows in which reservations have nodes.

use super::expand_hostlist;

/// Seconds of a day.
const DAY: i64 = 86_400;
/// Time for which reservations that come again are listed.
const REPEATED: i64 = 14 * DAY;

/// A window in which a reservation has nodes, in seconds since 1970.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReservedWindow {
    /// Names of its nodes.
    pub nodes: Vec<String>,
    /// Its processors, if it says so: fewer than the nodes have where it has only parts of them.
    pub procs: Option<u32>,
    /// Beginning.
    pub from: i64,
    /// End.
    pub until: i64,
}

/// Reads windows of reservations of nodes, which no other job may use. Those that come again do so
/// for two weeks from `now` on; those without nodes and those whose time floats are left out.
///
/// # Errors
/// A line without times in seconds (`SLURM_TIME_FORMAT=%s`) or with a list of nodes that is none:
/// the number of the line, and the problem.
pub fn reserved_windows(text: &str, now: i64) -> Result<Vec<ReservedWindow>, (usize, String)> {
    let mut windows = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| line.starts_with("ReservationName=")) {
        let value = |key: &str| line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
        let flags = || value("Flags").unwrap_or_default().split(',');
        // One of licenses has no nodes; one whose time floats begins in the future for ever.
        let list = value("Nodes").filter(|list| *list != "(null)" && !list.is_empty());
        let Some(list) = list.filter(|_| !flags().any(|flag| flag == "TIME_FLOAT")) else { continue };
        let time = |key: &str| {
            let missing = || (number, format!("has no `{key}=` in seconds (SLURM_TIME_FORMAT=%s)"));
            value(key).and_then(|text| text.parse().ok()).ok_or_else(missing)
        };
        let nodes = expand_hostlist(list).map_err(|error| (number, format!("Nodes: {error}")))?;
        let tres = value("TRES").unwrap_or_default().split(',');
        let procs = tres.filter_map(|part| part.strip_prefix("cpu=")).find_map(|count| count.parse().ok());
        let (from, until): (i64, i64) = (time("StartTime")?, time("EndTime")?);
        let every = flags().find_map(|flag| match flag {
            "HOURLY" => Some(3_600),
            "DAILY" | "WEEKDAY" | "WEEKEND" => Some(DAY),
            "WEEKLY" => Some(7 * DAY),
            _ => None,
        });
        // 1 January 1970 was a Thursday.
        let weekend = |time: i64| (time.div_euclid(DAY) + 3).rem_euclid(7) >= 5;
        let on_its_day = |time: i64| {
            !flags().any(|flag| (flag == "WEEKDAY" && weekend(time)) || (flag == "WEEKEND" && !weekend(time)))
        };
        windows.push(ReservedWindow { nodes: nodes.clone(), procs, from, until });
        let again = every.map(|every| (from + every..=now + REPEATED).step_by(every as usize));
        for begin in again.into_iter().flatten().filter(|&begin| on_its_day(begin)) {
            windows.push(ReservedWindow { nodes: nodes.clone(), procs, from: begin, until: begin + (until - from) });
        }
    }
    Ok(windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_come_as_often_as_they_say() {
        let read = |text: &str| reserved_windows(text, 1_000_000).expect("sound");
        let line = |more: &str| format!("ReservationName=r StartTime=1000000 EndTime=1003600 {more}\n");
        let once = read(&line("Nodes=n[1-2] NodeCnt=2 CoreCnt=8 Features=(null) Flags=MAINT,SPEC_NODES TRES=cpu=8"));
        let nodes = vec!["n1".to_string(), "n2".to_string()];
        assert_eq!(once, [ReservedWindow { nodes, procs: Some(8), from: 1_000_000, until: 1_003_600 }]);
        let times =
            |more: &str| read(&line(more)).iter().map(|window| (window.from - 1_000_000) / DAY).collect::<Vec<_>>();
        // A fortnight of futures; 1,000,000 is Monday, 12 January 1970.
        assert_eq!(times("Nodes=n1 Flags=DAILY"), (0..=14).collect::<Vec<_>>());
        assert_eq!(times("Nodes=n1 Flags=WEEKLY,SPEC_NODES"), [0, 7, 14]);
        assert_eq!(times("Nodes=n1 Flags=WEEKDAY"), [0, 1, 2, 3, 4, 7, 8, 9, 10, 11, 14]);
        for more in ["Nodes=(null) Flags=ANY_NODES Licenses=a:3", "Nodes=n1 Flags=TIME_FLOAT"] {
            assert_eq!(read(&line(more)), []);
        }
        let bad = reserved_windows("No reservations in the system\nReservationName=r Nodes=n1 StartTime=today\n", 0);
        assert!(matches!(&bad, Err((2, problem)) if problem.contains("StartTime")), "{bad:?}");
    }
}
