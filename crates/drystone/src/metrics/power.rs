//! Use of power over the makespan, and over time.

use crate::log::series::{PowerSeries, PowerSeriesError};
use crate::model::{Span, Time, Workload};
use serde::{Deserialize, Serialize};

/// Use of power over the makespan.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PowerUse {
    /// Joules drawn, by jobs and idle processors.
    pub energy: u64,
    /// Mean draw in watts.
    pub mean: f64,
    /// Largest draw in watts.
    pub peak: u64,
    /// Joules drawn over those that the caps allow; `None` without caps.
    pub used: Option<f64>,
    /// Seconds in which more than the cap was drawn.
    pub above_cap: i64,
    /// Joules drawn above it.
    pub joules_above_cap: u64,
    /// Grams of carbon dioxide, where its intensity is known.
    pub carbon: Option<f64>,
    /// Price, where it is known.
    pub cost: Option<f64>,
    /// Joules per processor-second of work at the preferred size.
    pub per_useful: Option<f64>,
}

/// Most bins of a [`PowerTimeline`].
const MOST_BINS: i64 = 512;

/// Time-weighted means of power, cap, carbon intensity and price, bin by bin. What is not known is
/// empty.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PowerTimeline {
    /// Start of the first bin: the first submit.
    pub start: Time,
    /// Width of every bin; the last may be cut short by the last end.
    pub width: Span,
    /// Last end.
    pub end: Time,
    /// Watts drawn.
    pub draw: Vec<f64>,
    /// Cap in watts; 0 before the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cap: Vec<f64>,
    /// Grams per kilowatt-hour.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub carbon: Vec<f64>,
    /// Price per megawatt-hour.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub price: Vec<f64>,
}

/// Adds up [`PowerUse`] over the parts of a workload.
#[derive(Debug, Default)]
pub(super) struct PowerMeter {
    power: PowerUse,
    energy: u128,
    joules_above_cap: u128,
    /// Joules that the caps allow.
    allowed: u128,
    span: f64,
    carbon: f64,
    cost: f64,
    has: (bool, bool),
    /// Processor-seconds of work at the preferred sizes.
    pub(super) useful: i128,
    timeline: PowerTimeline,
}

/// Power from one time to another.
struct PowerStep {
    from: Time,
    until: Time,
    draw: u128,
    cap: Option<u64>,
    /// Carbon intensity and price.
    series: Option<(f64, f64)>,
}

impl PowerMeter {
    /// Adds up the draw between two times. `turns` are changes of what jobs draw, and of what idle
    /// processors draw that go out or come back.
    pub(super) fn add_draw(
        &mut self,
        workload: &Workload,
        (first, last): (Time, Time),
        mut turns: Vec<(Time, i128)>,
        series: Option<&PowerSeries>,
    ) -> Result<(), PowerSeriesError> {
        let supply = workload.shapes().and_then(|shapes| shapes.power.clone()).unwrap_or_default();
        turns.extend([(first, 0), (last, 0)]);
        turns.extend(supply.caps.iter().map(|cap| (cap.from, 0)));
        turns.extend(series.iter().flat_map(|series| series.times()).map(|time| (time, 0)));
        turns.sort_unstable();
        let idle = i128::from(supply.idle) * i128::from(workload.machine().procs);
        let seconds = (last - first).0.max(1);
        let width = Span((seconds + MOST_BINS - 1) / MOST_BINS);
        let bins = usize::try_from((seconds + width.0 - 1) / width.0).unwrap_or(0);
        self.timeline =
            PowerTimeline { start: first, width, end: last, draw: vec![0.0; bins], ..PowerTimeline::default() };
        self.has = series.map_or((false, false), |series| (series.has_carbon(), series.has_price()));
        let zeroed_bins = |is_known: bool| if is_known { vec![0.0; bins] } else { Vec::new() };
        self.timeline.cap = zeroed_bins(!supply.caps.is_empty());
        (self.timeline.carbon, self.timeline.price) = (zeroed_bins(self.has.0), zeroed_bins(self.has.1));
        let (mut power_drawn, mut before) = (0i128, first);
        for (time, change) in turns {
            let (from, until) = (before.max(first), time.min(last));
            if until > from {
                let draw = u128::try_from(power_drawn + idle).unwrap_or(0);
                let series = series.map(|series| series.values_at(from)).transpose()?;
                self.take_step(&PowerStep { from, until, draw, cap: supply.cap_at(from, Time::MAX), series });
            }
            power_drawn += change;
            before = time;
        }
        self.span += (last - first).as_f64();
        self.timeline.average_sums();
        Ok(())
    }

    fn take_step(&mut self, step: &PowerStep) {
        let seconds = (step.until - step.from).0;
        let joules = |watts: u128| watts * u128::from(seconds.unsigned_abs());
        let step_energy = joules(step.draw);
        self.energy += step_energy;
        self.power.peak = self.power.peak.max(u64::try_from(step.draw).unwrap_or(u64::MAX));
        if let Some(cap) = step.cap.map(u128::from) {
            self.allowed += joules(cap);
            if step.draw > cap {
                self.power.above_cap += seconds;
                self.joules_above_cap += joules(step.draw - cap);
            }
        }
        if let Some((intensity, price)) = step.series {
            self.carbon += step_energy as f64 * intensity / 3.6e6;
            self.cost += step_energy as f64 * price / 3.6e9;
        }
        self.timeline.add_step(step);
    }

    /// The use of power, and its course in the last part.
    pub(super) fn finish(self) -> (PowerUse, Option<PowerTimeline>) {
        let PowerMeter { mut power, energy, joules_above_cap, allowed, span, carbon, cost, has, useful, timeline } =
            self;
        let whole = |joules: u128| u64::try_from(joules).unwrap_or(u64::MAX);
        (power.energy, power.joules_above_cap) = (whole(energy), whole(joules_above_cap));
        power.mean = energy as f64 / span.max(1.0);
        power.used = (allowed > 0).then(|| energy as f64 / allowed as f64);
        power.per_useful = (useful > 0).then(|| energy as f64 / useful as f64);
        (power.carbon, power.cost) = (has.0.then_some(carbon), has.1.then_some(cost));
        (power, (!timeline.draw.is_empty()).then_some(timeline))
    }
}

impl PowerTimeline {
    /// Adds a step, in units × seconds.
    fn add_step(&mut self, step: &PowerStep) {
        let (carbon, price) = step.series.unwrap_or_default();
        let mut from = (step.from - self.start).0;
        let until = (step.until - self.start).0;
        while from < until {
            let at = usize::try_from(from / self.width.0).unwrap_or(0);
            let edge = until.min((at as i64 + 1) * self.width.0);
            let seconds = (edge - from) as f64;
            let levels = [
                (&mut self.draw, step.draw as f64),
                (&mut self.cap, step.cap.map_or(0.0, |cap| cap as f64)),
                (&mut self.carbon, carbon),
                (&mut self.price, price),
            ];
            for (bins, level) in levels {
                bins.get_mut(at).into_iter().for_each(|bin| *bin += level * seconds);
            }
            from = edge;
        }
    }

    /// Makes means of sums, with four decimals.
    fn average_sums(&mut self) {
        let (start, end, width) = (self.start, self.end, self.width);
        for bins in [&mut self.draw, &mut self.cap, &mut self.carbon, &mut self.price] {
            for (at, bin) in bins.iter_mut().enumerate() {
                let seconds = ((end - start).0 - at as i64 * width.0).min(width.0);
                *bin = (*bin / seconds.max(1) as f64 * 1e4).round() / 1e4;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::power::{CapTable, give_power};
    use crate::model::{Job, LogStatus, Machine, PowerCap, Provenance, Truth};

    /// Two processors of 10 W when idle; a job draws 100 W for 600 s, then nothing runs for 600 s.
    /// The cap is 110 W from 300 s on; carbon 100 g/kWh, then 400 from 900 s on.
    #[test]
    fn power_over_time_is_a_mean_of_each_bin() {
        let jobs = vec![Job::new(Time(0), 1, Span(600)), Job::new(Time(1_100), 1, Span(100))];
        let truth = |number, run| Truth { run: Span(run), number, status: LogStatus::Completed };
        let workload = Workload::new(Machine::new(2), jobs, vec![truth(1, 600), truth(2, 100)], Provenance::default());
        let caps = vec![PowerCap { from: Time(300), watts: 110, announced: Time::MIN }];
        let workload = give_power(workload.expect("sound"), &CapTable::from_caps("caps", caps), 10).expect("power");
        let series = PowerSeries::parse_table("s", "time,carbon\n0,100\n900,400\n").expect("a series");
        let turns = vec![(Time(0), 100), (Time(600), -100)];
        let mut meter = PowerMeter::default();
        meter.add_draw(&workload, (Time(0), Time(1_200)), turns, Some(&series)).expect("measured");
        let (power, timeline) = meter.finish();
        // 120 W · 600 s + 20 W · 600 s; above 110 W from 300 to 600.
        assert_eq!((power.energy, power.peak, power.above_cap, power.joules_above_cap), (84_000, 120, 300, 3_000));
        assert_eq!(power.used, Some(84_000.0 / (110.0 * 900.0)));
        // 72,000 J and 6,000 J at 100 g, 6,000 J at 400 g, of 3.6 MJ each.
        let carbon = power.carbon.expect("known");
        assert!((carbon - (78_000.0 * 100.0 + 6_000.0 * 400.0) / 3.6e6).abs() < 1e-12 && power.cost.is_none());
        let timeline = timeline.expect("counted");
        assert_eq!((timeline.width, timeline.draw.len(), timeline.price.len()), (Span(3), 400, 0));
        assert_eq!(
            (timeline.draw[199], timeline.draw[200], timeline.cap[99], timeline.cap[100]),
            (120.0, 20.0, 0.0, 110.0)
        );
        assert_eq!((timeline.carbon[299], timeline.carbon[300]), (100.0, 400.0));
    }
}
