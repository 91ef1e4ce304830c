//! Points at which a test kills the daemon, stops it or fills its disk.
//!
//! `DRYSTONE_LIVE_FAULT=POINT:N:WHAT` does WHAT (`kill`, `stop`, `full`) when POINT is passed for
//! the Nth time. Without the variable nothing happens, and nothing is asked again.

use nix::sys::signal::{Signal, kill};
use nix::unistd::getpid;
use std::collections::BTreeMap;

/// Points at which a fault can strike: between every two writes.
pub const POINTS: [&str; 12] = [
    "facts", "decided", "ledger", "intents", "fence", "pins", "orders", "outcomes", "beat", "snapshot", "saved",
    "segment",
];

#[derive(Clone, Debug, Default)]
pub struct PointFaults {
    plan: Option<(String, u32, FaultEffect)>,
    passed: BTreeMap<&'static str, u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FaultEffect {
    Kill,
    Stop,
    Full,
}

impl PointFaults {
    pub fn from_environment() -> PointFaults {
        PointFaults {
            plan: std::env::var("DRYSTONE_LIVE_FAULT").ok().and_then(|text| parse(&text)),
            ..PointFaults::default()
        }
    }

    /// A point is passed. Returns whether the disk is to be full here.
    pub fn pass_point(&mut self, point: &'static str) -> bool {
        let Some((at, nth, effect)) = &self.plan else { return false };
        let pass_count = self.passed.entry(point).or_insert(0);
        *pass_count += 1;
        if at != point || *pass_count != *nth {
            return false;
        }
        match effect {
            FaultEffect::Kill => drop(kill(getpid(), Signal::SIGKILL)),
            FaultEffect::Stop => drop(kill(getpid(), Signal::SIGSTOP)),
            FaultEffect::Full => return true,
        }
        false
    }
}

fn parse(text: &str) -> Option<(String, u32, FaultEffect)> {
    let [point, nth, word] = text.split(':').collect::<Vec<_>>()[..] else { return None };
    let effect = match word {
        "kill" => FaultEffect::Kill,
        "stop" => FaultEffect::Stop,
        "full" => FaultEffect::Full,
        _ => return None,
    };
    Some((point.to_string(), nth.parse().ok()?, effect))
}
