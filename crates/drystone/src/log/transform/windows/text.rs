//! Rules of windows as texts: `jobs=256,count=10,seed=1`.

use super::{WindowError, WindowLength, WindowPlacement, WindowRule};
use std::fmt;
use std::str::FromStr;

/// A rule as a text, for messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WindowRuleText(pub(super) String);

impl fmt::Display for WindowRuleText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Protocols of papers by name, and the rule that each stands for.
pub(super) const PROTOCOLS: [(&str, &str); 4] = [
    ("rlscheduler", "jobs=1024,draw=rlscheduler,count=10"),
    ("rlscheduler-256", "jobs=256,draw=rlscheduler,count=10"),
    ("rlscheduler-1024", "jobs=1024,draw=rlscheduler,count=10"),
    ("sc17", "days=15,count=10"),
];

const EXPECTED: &str = "jobs=N or days=N, and of count=N, seed=N, overlap=yes, from=A+B, warm-up=N and cool-down=N what is \
                        wanted; or a protocol: rlscheduler, rlscheduler-256, rlscheduler-1024 or sc17";

/// Parts of a text, before they are put together.
#[derive(Default)]
struct WindowWords {
    jobs: Option<u32>,
    days: Option<u32>,
    count: Option<u32>,
    seed: Option<u64>,
    overlap: bool,
    from: Vec<u32>,
    rlscheduler: bool,
    warm_up: u32,
    cool_down: u32,
}

impl FromStr for WindowRule {
    type Err = WindowError;

    /// Reads `KEY=VALUE` separated by commas; the name of a protocol may stand first.
    fn from_str(text: &str) -> Result<WindowRule, WindowError> {
        let mut words = WindowWords::default();
        for (at, part) in text.split(',').map(str::trim).enumerate() {
            match PROTOCOLS.iter().find(|(name, _)| *name == part && at == 0) {
                Some((_, rule)) => rule.split(',').try_for_each(|part| words.read_part(part))?,
                None => words.read_part(part)?,
            }
        }
        words.build_rule()
    }
}

impl WindowWords {
    fn read_part(&mut self, part: &str) -> Result<(), WindowError> {
        let wrong = || WindowError::Text(format!("`{part}` is no part of a rule of windows; expected {EXPECTED}"));
        let (key, value) = part.split_once('=').ok_or_else(wrong)?;
        let value = value.trim();
        let number = || value.parse::<u32>().map_err(|_| wrong());
        let from_one = || number().and_then(|number| if number == 0 { Err(wrong()) } else { Ok(number) });
        match key.trim() {
            "jobs" => (self.jobs, self.days) = (Some(from_one()?), None),
            "days" => (self.days, self.jobs) = (Some(from_one()?), None),
            "count" => self.count = Some(from_one()?),
            "seed" => self.seed = Some(value.parse().map_err(|_| wrong())?),
            "overlap" if matches!(value, "yes" | "true") => self.overlap = true,
            "overlap" if matches!(value, "no" | "false") => self.overlap = false,
            "from" => {
                self.from =
                    value.split('+').map(|at| at.trim().parse().map_err(|_| wrong())).collect::<Result<_, _>>()?
            }
            "draw" if value == "rlscheduler" => self.rlscheduler = true,
            "warm-up" => self.warm_up = number()?,
            "cool-down" => self.cool_down = number()?,
            _ => return Err(wrong()),
        }
        Ok(())
    }

    fn build_rule(self) -> Result<WindowRule, WindowError> {
        let refuse = |problem: &str| Err(WindowError::Text(problem.to_string()));
        let length = match (self.jobs, self.days) {
            (Some(jobs), _) => WindowLength::Jobs(jobs),
            (None, Some(days)) => WindowLength::Days(days),
            (None, None) => return refuse("windows need a length: jobs=N or days=N"),
        };
        let placement = match (self.rlscheduler, self.from.is_empty(), self.count, self.seed) {
            (true, true, count, None) => WindowPlacement::RlScheduler(count.unwrap_or(10)),
            (true, ..) => return refuse("RLScheduler draws with a seed of its own: leave out `seed` and `from`"),
            (false, false, None, None) => WindowPlacement::From(self.from),
            (false, false, ..) => return refuse("`from` names every window: leave out `count` and `seed`"),
            (false, true, Some(count), Some(seed)) => WindowPlacement::Drawn { count, seed, overlap: self.overlap },
            (false, true, None, Some(_)) => return refuse("a random draw needs `count`, the number of windows"),
            (false, true, Some(count), None) => WindowPlacement::Spread(count),
            (false, true, None, None) => WindowPlacement::All,
        };
        if let WindowPlacement::From(places) = &placement
            && (1..places.len()).any(|at| places[..at].contains(&places[at]))
        {
            return refuse("`from` names a window twice");
        }
        if self.overlap && !matches!(placement, WindowPlacement::Drawn { .. }) {
            return refuse("`overlap` is about windows drawn at random: give `count` and `seed`");
        }
        if matches!((&placement, length), (WindowPlacement::RlScheduler(_), WindowLength::Days(_))) {
            return refuse("RLScheduler draws windows of jobs: give `jobs` instead of `days`");
        }
        Ok(WindowRule { length, placement, warm_up: self.warm_up, cool_down: self.cool_down })
    }
}

impl fmt::Display for WindowRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.length {
            WindowLength::Jobs(jobs) => write!(f, "jobs={jobs}")?,
            WindowLength::Days(days) => write!(f, "days={days}")?,
        }
        match &self.placement {
            WindowPlacement::All => {}
            WindowPlacement::Spread(count) => write!(f, ",count={count}")?,
            WindowPlacement::Drawn { count, seed, overlap } => {
                write!(f, ",count={count},seed={seed}")?;
                f.write_str(if *overlap { ",overlap=yes" } else { "" })?;
            }
            WindowPlacement::From(places) => {
                let places: Vec<String> = places.iter().map(ToString::to_string).collect();
                write!(f, ",from={}", places.join("+"))?;
            }
            WindowPlacement::RlScheduler(count) => write!(f, ",draw=rlscheduler,count={count}")?,
        }
        for (name, amount) in [("warm-up", self.warm_up), ("cool-down", self.cool_down)] {
            if amount > 0 {
                write!(f, ",{name}={amount}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_come_back_from_their_texts() {
        for text in [
            "jobs=256",
            "days=15,count=10",
            "jobs=256,count=10,seed=1",
            "jobs=256,count=10,seed=1,overlap=yes",
            "jobs=1024,from=1981+2756",
            "jobs=1024,draw=rlscheduler,count=10",
            "days=7,count=4,warm-up=7,cool-down=2",
        ] {
            assert_eq!(text.parse::<WindowRule>().expect("a rule").to_string(), text);
        }
        for (name, rule) in PROTOCOLS {
            assert_eq!(name.parse::<WindowRule>().expect("a protocol").to_string(), rule);
        }
        let more: WindowRule = "sc17, count=4, warm-up=1".parse().expect("a rule");
        assert_eq!(more.to_string(), "days=15,count=4,warm-up=1");
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in [
            "",
            "256",
            "jobs=0",
            "jobs=-1",
            "days=1.5",
            "count=10",
            "jobs=5,seed=1",
            "jobs=5,from=1,count=2",
            "jobs=5,overlap=yes",
            "jobs=5,overlap=maybe",
            "jobs=5,count=2,count=0",
            "rlscheduler,seed=2",
            "rlscheduler,days=3",
            "jobs=5,from=",
            "jobs=5,from=1+2+1",
            "jobs=5,sc17",
            "jobs=99999999999",
        ] {
            assert!(text.parse::<WindowRule>().is_err(), "{text}");
        }
    }
}
