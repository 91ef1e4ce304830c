//! Duration of backfill per job, according to `sdiag`.

use serde::Serialize;
use serde_json::Value;

/// Duration of a backfill pass for each job that it tests.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PassCost {
    /// Microseconds of one test, at least 1.
    pub micros: u32,
    pub source: String,
    /// True if the site itself reports it.
    pub measured_here: bool,
}

/// Reason why a text gives no duration of passes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SdiagError {
    #[error(
        "no `{0}` of the backfill scheduler in it; expected what `sdiag` or `sdiag --json` prints, with the part `Backfilling stats`"
    )]
    NotSdiag(&'static str),
    #[error("line {line}: `{text}` has no whole number behind `{name}:`; give the output of `sdiag` as it is")]
    NoNumber {
        /// Number of the line.
        line: usize,
        /// Text of the line.
        text: String,
        /// Name of the figure.
        name: &'static str,
    },
    #[error(
        "backfill has tested no job since these statistics began, so nothing is known of its speed; run `sdiag` when jobs have waited \
         for some hours"
    )]
    NothingTested,
}

/// Microseconds for a job of backfill's test where no `sdiag` is given.
const USUAL: u32 = 600;

impl PassCost {
    /// Makes a cost of this many microseconds, given by the user.
    pub fn from_micros(micros: u32) -> PassCost {
        PassCost { micros: micros.max(1), source: "as given".to_string(), measured_here: true }
    }

    pub fn for_unknown_site() -> PassCost {
        PassCost { micros: USUAL, source: "not measured at the site".to_string(), measured_here: false }
    }

    /// Returns the mean cycle of backfill in microseconds that `sdiag` or `sdiag --json` prints.
    ///
    /// # Errors
    /// As [`PassCost::of_sdiag`].
    pub fn cycle_of_sdiag(text: &str) -> Result<u64, SdiagError> {
        match serde_json::from_str::<Value>(text) {
            Ok(json) if json.is_object() => Ok(from_json(&json)?.0),
            _ => Ok(from_text(text)?.0),
        }
    }

    /// Reads the cost from the output of `sdiag` or `sdiag --json`: the mean cycle of backfill,
    /// which is without its sleeps, divided by the jobs that a cycle tests on average.
    ///
    /// # Errors
    /// A text that is no output of `sdiag`, or one without a tested job.
    pub fn of_sdiag(text: &str) -> Result<PassCost, SdiagError> {
        let (cycle, depth) = match serde_json::from_str::<Value>(text) {
            Ok(json) if json.is_object() => from_json(&json)?,
            _ => from_text(text)?,
        };
        if cycle == 0 || depth == 0 {
            return Err(SdiagError::NothingTested);
        }
        let micros = u32::try_from((cycle + depth / 2) / depth).unwrap_or(u32::MAX).clamp(1, 10_000_000);
        let source = format!("sdiag: a cycle of {cycle} µs tests {depth} jobs on average");
        Ok(PassCost { micros, source, measured_here: true })
    }
}

/// Names of the mean cycle and of the mean number of tested jobs.
const CYCLE: &str = "Mean cycle";
const TESTED: &str = "Depth Mean (try depth)";
const DEPTH: &str = "Depth Mean";

fn from_text(text: &str) -> Result<(u64, u64), SdiagError> {
    let lines = || text.lines().enumerate().skip_while(|(_, line)| !line.trim_start().starts_with("Backfilling stats"));
    let find = |names: &[&'static str]| {
        let of = |name: &'static str| {
            let number_line = lines().find_map(|(at, line)| {
                let (key, value) = line.split_once(':')?;
                key.trim().eq_ignore_ascii_case(name).then_some((at, line, value))
            })?;
            let (at, line, value) = number_line;
            let wrong = || SdiagError::NoNumber { line: at + 1, text: line.trim().to_string(), name };
            Some(value.trim().parse::<u64>().map_err(|_| wrong()))
        };
        names.iter().find_map(|name| of(name)).unwrap_or(Err(SdiagError::NotSdiag(names[0])))
    };
    if lines().next().is_none() {
        return Err(SdiagError::NotSdiag("Backfilling stats"));
    }
    // Without any cycle there are no means.
    if find(&["Total cycles"]).is_ok_and(|cycles| cycles == 0) {
        return Err(SdiagError::NothingTested);
    }
    Ok((find(&[CYCLE])?, find(&[TESTED, DEPTH])?))
}

fn from_json(json: &Value) -> Result<(u64, u64), SdiagError> {
    let statistics = &json["statistics"];
    let number = |names: &[&str], name: &'static str| {
        let micros = names.iter().find_map(|name| statistics[*name].as_u64());
        micros.ok_or(SdiagError::NotSdiag(name))
    };
    let cycle = number(&["bf_cycle_mean"], "statistics.bf_cycle_mean")?;
    Ok((cycle, number(&["bf_depth_mean_try", "bf_depth_mean"], "statistics.bf_depth_mean_try")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
*******************************************************
sdiag output at Tue Nov 24 10:00:00 2026 (1795514400)
*******************************************************
Main schedule statistics (microseconds):
\tLast cycle:   1184
\tTotal cycles: 2151
\tMean cycle:   1003
\tMean depth cycle:  12

Backfilling stats (WARNING: data obtained in the middle of backfilling execution.)
\tTotal backfilled jobs (since last slurm start): 120
\tTotal cycles: 480
\tLast cycle: 900000
\tMean cycle:   450000
\tLast depth cycle: 500
\tLast depth cycle (try sched): 480
\tDepth Mean: 400
\tDepth Mean (try depth): 300
\tQueue length mean: 500
";

    #[test]
    fn the_mean_cycle_is_shared_by_the_jobs_that_were_tested() {
        assert_eq!(PassCost::of_sdiag(TEXT).expect("valid").micros, 1_500);
        let older = TEXT.replace("\tDepth Mean (try depth): 300\n", "");
        assert_eq!(PassCost::of_sdiag(&older).expect("valid").micros, 1_125);
        let json = r#"{"statistics":{"bf_cycle_mean":450000,"bf_depth_mean":400,"bf_depth_mean_try":300}}"#;
        assert_eq!(PassCost::of_sdiag(json).expect("valid").micros, 1_500);
    }

    #[test]
    fn what_is_no_sdiag_is_refused() {
        for (text, part) in [
            ("", "no `Backfilling stats`"),
            ("hello\nworld", "no `Backfilling stats`"),
            ("{\"jobs\":[]}", "no `statistics.bf_cycle_mean`"),
            (&TEXT.replace("Mean cycle:   450000", "Mean cycle:   fast"), "line 14"),
            (&TEXT.replace("Total cycles: 480", "Total cycles: 0"), "tested no job"),
            (&TEXT.replace("(try depth): 300", "(try depth): 0"), "tested no job"),
            (&TEXT.replace("\tMean cycle:   450000\n", ""), "no `Mean cycle`"),
        ] {
            let error = PassCost::of_sdiag(text).expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
