//! Rules of a machine for changes of size, by which machines differ.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Rules of a machine for changes of size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ResizeRules {
    /// True if the limit of a job stays where it was at its start (`limit=wall`): where jobs are
    /// killed at their limits, one that shrinks may be. Otherwise it moves with the run time.
    pub keeps_limits: bool,
    /// True if an outage ends a malleable job as it ends any other (`survive=no`).
    pub outages_kill: bool,
    /// True if a job that shrinks gives its processors back at the end of the time that the change
    /// costs (`release=after`). Otherwise it gives them back at its beginning.
    pub releases_late: bool,
}

impl FromStr for ResizeRules {
    type Err = String;

    fn from_str(text: &str) -> Result<ResizeRules, String> {
        let mut rules = ResizeRules::default();
        for rule in text.split(',').map(str::trim) {
            match rule {
                "limit=work" => rules.keeps_limits = false,
                "limit=wall" => rules.keeps_limits = true,
                "survive=yes" => rules.outages_kill = false,
                "survive=no" => rules.outages_kill = true,
                "release=now" => rules.releases_late = false,
                "release=after" => rules.releases_late = true,
                _ => {
                    return Err(format!(
                        "`{rule}` is no rule for changes of size; expected limit=work, limit=wall, survive=yes, survive=no, \
                         release=now or release=after, with commas between them"
                    ));
                }
            }
        }
        Ok(rules)
    }
}

impl fmt::Display for ResizeRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = if self.keeps_limits { "wall" } else { "work" };
        let survive = if self.outages_kill { "no" } else { "yes" };
        write!(f, "limit={limit},survive={survive}")?;
        if self.releases_late { f.write_str(",release=after") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_written() {
        let rules: ResizeRules = "limit=wall, survive=no".parse().expect("rules");
        assert_eq!(rules, ResizeRules { keeps_limits: true, outages_kill: true, releases_late: false });
        assert_eq!(rules.to_string().parse(), Ok(rules));
        let rules: ResizeRules = "release=after".parse().expect("a rule");
        assert_eq!(rules.to_string(), "limit=work,survive=yes,release=after");
        assert_eq!(rules.to_string().parse(), Ok(rules));
        let problem = "release=later".parse::<ResizeRules>().expect_err("unknown");
        assert!(problem.contains("limit=wall"), "{problem}");
    }
}
