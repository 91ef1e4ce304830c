//! Measures of jobs that change shape, and of power: from the segments in which they ran.

use crate::engine::{Segment, SegmentEnd};
use crate::log::series::{PowerSeries, PowerSeriesError};
use crate::model::{JobId, SharedSort, Time, Workload};
use serde::Serialize;
use std::collections::BTreeMap;

/// Measures of a schedule whose jobs may have several sizes.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct SizeReport {
    /// Mean of max(1, (end − submit) / max(10, run time at the preferred size)).
    pub slowdown_ref: f64,
    /// Processor-seconds held.
    pub held: u64,
    /// Those over the machine's in the makespan.
    pub utilisation: f64,
    /// Processor-seconds that the jobs would take at their preferred sizes, over the same.
    pub useful: f64,
    /// Number of times that jobs grew.
    pub grows: u64,
    /// Number of times that jobs shrank.
    pub shrinks: u64,
    /// Seconds without progress because of changes of size.
    pub reconfiguring: i64,
    /// Mean of size over preferred size, weighted by time.
    pub mean_size: f64,
    /// Share of the running time at the preferred size.
    pub at_pref: f64,
    /// Power, where it is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerUse>,
    /// Jobs, in order of arrival.
    #[serde(skip)]
    pub jobs: BTreeMap<i64, SizedJob>,
}

/// Use of power over the makespan.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct PowerUse {
    /// Joules drawn, by jobs and idle processors.
    pub energy: u128,
    /// Mean draw in watts.
    pub mean: f64,
    /// Largest draw in watts.
    pub peak: u64,
    /// Joules drawn over those that the caps allow; `None` without caps.
    pub used: Option<f64>,
    /// Seconds in which more than the cap was drawn.
    pub above_cap: i64,
    /// Joules drawn above it.
    pub joules_above_cap: u128,
    /// Grams of carbon dioxide, where its intensity is known.
    pub carbon: Option<f64>,
    /// Price, where it is known.
    pub cost: Option<f64>,
    /// Joules per processor-second of work at the preferred size.
    pub per_useful: Option<f64>,
}

/// Sizes of a job over its life.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SizedJob {
    /// Size at its start.
    pub first: u32,
    /// Size at its end.
    pub last: u32,
    /// Mean size, weighted by time.
    pub mean: f64,
    /// Number of times that it grew.
    pub grows: u32,
    /// Number of times that it shrank.
    pub shrinks: u32,
    /// Seconds without progress because of changes of size.
    pub reconfiguring: i64,
    /// Joules that it drew above idle.
    pub energy: u128,
}

impl SizeReport {
    /// Measures the segments of all jobs that have ended. `series` are carbon and price over time.
    ///
    /// # Errors
    /// A series that begins after the schedule.
    ///
    /// Cost: O(n log n).
    pub fn of(
        workload: &Workload,
        segments: &[Segment],
        series: Option<&PowerSeries>,
    ) -> Result<SizeReport, PowerSeriesError> {
        let mut list: Vec<&Segment> = segments.iter().collect();
        list.sort_shared_by_key(|segment| (segment.job, segment.start, segment.end));
        let mut report = SizeReport::default();
        let (mut sums, mut turns) = (ShapeSums::default(), Vec::new());
        for of_job in list.chunk_by(|a, b| a.job == b.job) {
            report.take(workload, of_job, &mut sums, &mut turns);
        }
        let (first, last) = (workload.submits().unwrap_or_default().0, sums.last);
        let capacity = f64::from(workload.machine().procs) * (last - first).as_f64();
        if sums.jobs > 0 && capacity > 0.0 {
            report.slowdown_ref = sums.slowdown / sums.jobs as f64;
            report.held = u64::try_from(sums.held).unwrap_or(u64::MAX);
            report.utilisation = sums.held as f64 / capacity;
            report.useful = sums.useful as f64 / capacity;
            report.mean_size = sums.sizes / (sums.time as f64).max(1.0);
            report.at_pref = sums.preferred as f64 / (sums.time as f64).max(1.0);
        }
        let counted = workload.shapes().is_some_and(|shapes| shapes.known.iter().any(|shape| shape.watts > 0))
            || workload.shapes().is_some_and(|shapes| shapes.power.is_some());
        if counted && sums.jobs > 0 {
            report.power = Some(power_use(workload, (first, last), turns, series, sums.useful)?);
        }
        Ok(report)
    }

    /// Takes the segments of a job, in order of time.
    fn take(&mut self, workload: &Workload, of_job: &[&Segment], sums: &mut ShapeSums, turns: &mut Vec<(Time, i128)>) {
        let Some((start, end)) = of_job.first().zip(of_job.last()) else { return };
        let (job, run) = (workload.job(start.job), workload.truth()[start.job.index()].run);
        let shape = shape_of(workload, start.job);
        let watts = shape.map_or(0, |shape| shape.watts);
        let mut sized = SizedJob { first: start.procs, last: end.procs, ..SizedJob::default() };
        let (mut area, mut time) = (0i128, 0i128);
        for (at, segment) in of_job.iter().enumerate() {
            let seconds = i128::from((segment.end - segment.start).0);
            area += seconds * i128::from(segment.procs);
            time += seconds;
            sums.sizes += seconds as f64 * f64::from(segment.procs) / f64::from(job.procs);
            sums.preferred += if segment.procs == job.procs { seconds } else { 0 };
            let draw = i128::from(watts) * i128::from(segment.procs);
            turns.extend([(segment.start, draw), (segment.end, -draw)]);
            if let (SegmentEnd::Resized, Some(next)) = (segment.then, of_job.get(at + 1)) {
                sized.grows += u32::from(next.procs > segment.procs);
                sized.shrinks += u32::from(next.procs < segment.procs);
                sized.reconfiguring += shape.map_or(0, |shape| shape.cost(segment.procs, next.procs).0);
            }
        }
        sized.mean = if time > 0 { area as f64 / time as f64 } else { f64::from(start.procs) };
        sized.energy = u128::try_from(area).unwrap_or(0) * u128::from(watts);
        self.grows += u64::from(sized.grows);
        self.shrinks += u64::from(sized.shrinks);
        self.reconfiguring += sized.reconfiguring;
        sums.jobs += 1;
        sums.last = sums.last.max(end.end);
        sums.held += area;
        sums.time += time;
        sums.useful += i128::from(run.0) * i128::from(job.procs);
        sums.slowdown += ((end.end - job.submit).as_f64() / run.as_f64().max(10.0)).max(1.0);
        self.jobs.insert(start.number, sized);
    }
}

fn shape_of(workload: &Workload, id: JobId) -> Option<&crate::model::JobShape> {
    workload.shapes()?.shape(id.index()).map(|(shape, _)| shape)
}

/// ShapeSums over all jobs.
struct ShapeSums {
    jobs: u64,
    last: Time,
    held: i128,
    useful: i128,
    time: i128,
    sizes: f64,
    preferred: i128,
    slowdown: f64,
}

impl Default for ShapeSums {
    fn default() -> ShapeSums {
        ShapeSums { jobs: 0, last: Time::MIN, held: 0, useful: 0, time: 0, sizes: 0.0, preferred: 0, slowdown: 0.0 }
    }
}

/// Adds up the draw over time. `turns` are changes of what jobs draw.
fn power_use(
    workload: &Workload,
    (first, last): (Time, Time),
    mut turns: Vec<(Time, i128)>,
    series: Option<&PowerSeries>,
    useful: i128,
) -> Result<PowerUse, PowerSeriesError> {
    let supply = workload.shapes().and_then(|shapes| shapes.power.clone()).unwrap_or_default();
    turns.extend([(first, 0), (last, 0)]);
    turns.extend(supply.caps.iter().map(|cap| (cap.from, 0)));
    turns.extend(series.iter().flat_map(|series| series.times()).map(|time| (time, 0)));
    turns.sort_unstable();
    let idle = u128::from(supply.idle) * u128::from(workload.machine().procs);
    let (mut jobs, mut before) = (0i128, first);
    let mut power = PowerUse::default();
    let (mut carbon, mut cost, mut allowed) = (0.0, 0.0, 0u128);
    for (time, change) in turns {
        let seconds = (time.min(last) - before.max(first)).0;
        if seconds > 0 {
            let draw = u128::try_from(jobs).unwrap_or(0) + idle;
            let joules = draw * seconds.unsigned_abs() as u128;
            power.energy += joules;
            power.peak = power.peak.max(u64::try_from(draw).unwrap_or(u64::MAX));
            if let Some(cap) = supply.cap(before, Time::MAX) {
                allowed += u128::from(cap) * seconds.unsigned_abs() as u128;
                if draw > u128::from(cap) {
                    power.above_cap += seconds;
                    power.joules_above_cap += (draw - u128::from(cap)) * seconds.unsigned_abs() as u128;
                }
            }
            if let Some(series) = series {
                let (intensity, price) = series.at(before)?;
                carbon += joules as f64 * intensity / 3.6e6;
                cost += joules as f64 * price / 3.6e9;
            }
        }
        jobs += change;
        before = time;
    }
    power.mean = power.energy as f64 / (last - first).as_f64().max(1.0);
    power.used = (allowed > 0).then(|| power.energy as f64 / allowed as f64);
    power.per_useful = (useful > 0).then(|| power.energy as f64 / useful as f64);
    if let Some(series) = series {
        (power.carbon, power.cost) = (series.has_carbon().then_some(carbon), series.has_price().then_some(cost));
    }
    Ok(power)
}

impl SizeReport {
    /// Names and values, to be printed.
    #[must_use]
    pub fn facts(&self) -> Vec<(String, String)> {
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let mut facts = vec![
            ("slowdown at the preferred size, mean".to_string(), format!("{:.2}", self.slowdown_ref)),
            ("utilisation, and useful".to_string(), format!("{}, {}", percent(self.utilisation), percent(self.useful))),
            ("times that jobs grew, shrank".to_string(), format!("{}, {}", self.grows, self.shrinks)),
            ("reconfiguring".to_string(), format!("{} s", self.reconfiguring)),
            ("size over preferred size, mean".to_string(), format!("{:.3}", self.mean_size)),
            ("running time at the preferred size".to_string(), percent(self.at_pref)),
        ];
        let Some(power) = &self.power else { return facts };
        let mut fact = |name: &str, value: String| facts.push((name.to_string(), value));
        fact("energy", format!("{:.3} MJ", power.energy as f64 / 1e6));
        fact("draw, mean and peak", format!("{:.0} W, {} W", power.mean, power.peak));
        if let Some(used) = power.used {
            fact("share of the caps used", percent(used));
            let above = power.joules_above_cap as f64 / 1e6;
            fact("above the cap", format!("{} s, {above:.3} MJ", power.above_cap));
        }
        if let Some(joules) = power.per_useful {
            fact("energy per useful processor-second", format!("{joules:.1} J"));
        }
        if let Some(carbon) = power.carbon {
            fact("carbon", format!("{:.3} kg", carbon / 1000.0));
        }
        if let Some(cost) = power.cost {
            fact("cost", format!("{cost:.2}"));
        }
        facts
    }
}

impl SizedJob {
    /// The cells of a schedule.
    #[must_use]
    pub fn cells(&self) -> String {
        let SizedJob { first, last, mean, grows, shrinks, reconfiguring, energy } = self;
        format!("{first},{last},{mean},{grows},{shrinks},{reconfiguring},{energy}")
    }
}

/// The columns of [`SizedJob::cells`].
pub const SIZE_COLUMNS: &str = "procs_first,procs_last,procs_mean,grows,shrinks,reconfiguring,energy";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::clean::Overrun;
    use crate::log::shapes::{give_shapes, read_shapes};
    use crate::model::{Job, LogStatus, Machine, Provenance, Span, Truth};

    /// Case 07 of the definitions: eight processors until 40, four until 90, eight until 125; the
    /// other job has four from 40 to 90.
    #[test]
    fn measures_of_a_case_by_hand() {
        let jobs = vec![Job::new(Time(0), 8, Span(100)), Job::new(Time(40), 4, Span(50))];
        let truth = |number, run| Truth { run: Span(run), number, status: LogStatus::Completed };
        let workload = Workload::new(Machine::new(8), jobs, vec![truth(1, 100), truth(2, 50)], Provenance::default())
            .expect("sound");
        let table = read_shapes("t", "job,kind,min,max,watts\n1,malleable,2,8,100\n").expect("a table");
        let workload = give_shapes(workload, &table, Overrun::RunOn).expect("shapes").0;
        let row = |job: u32, start, end, procs, then| Segment {
            job: JobId(job),
            number: i64::from(job) + 1,
            start: Time(start),
            end: Time(end),
            procs,
            on: None,
            then,
        };
        let segments = [
            row(0, 0, 40, 8, SegmentEnd::Resized),
            row(0, 40, 90, 4, SegmentEnd::Resized),
            row(0, 90, 125, 8, SegmentEnd::Ended),
            row(1, 40, 90, 4, SegmentEnd::Ended),
        ];
        let series = PowerSeries::read("s", "time,carbon,price\n0,360,3600\n").expect("a series");
        let report = SizeReport::of(&workload, &segments, Some(&series)).expect("measured");
        // 8·40 + 4·50 + 8·35 + 4·50 of 8·125; 800 + 200 useful.
        assert_eq!((report.held, report.grows, report.shrinks), (1000, 1, 1));
        assert!((report.utilisation - 1.0).abs() < 1e-12 && (report.useful - 1.0).abs() < 1e-12);
        // 125 / 100 and 50 / 50.
        assert!((report.slowdown_ref - 1.125).abs() < 1e-12);
        let power = report.power.expect("watts");
        assert_eq!((power.energy, power.peak), (80_000, 800));
        // 0.08 MJ are 80/3600 kWh: at 360 g each 8 g, at 3600 per MWh 0.08.
        assert!((power.carbon.expect("known") - 8.0).abs() < 1e-9);
        assert!((power.cost.expect("known") - 0.08).abs() < 1e-12);
        assert_eq!(report.jobs[&1].cells(), "8,8,6.4,1,1,0,80000");
    }
}
