//! Measures of jobs that change shape, and of power: from the segments in which they ran.

use super::power::{PowerMeter, PowerTimeline, PowerUse};
use crate::engine::{Segment, SegmentEnd, Segments, SizeRequest};
use crate::log::series::{PowerSeries, PowerSeriesError};
use crate::model::{Decimal, JobId, JobKind, JobShape, Procs, SharedSort, Time, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Measures of a schedule whose jobs may have several sizes, over all jobs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
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
    /// Processor-seconds whose progress was lost: since the last point of a job that went on after
    /// an outage with fewer processors, or all of an attempt.
    #[serde(default)]
    pub work_lost: u64,
    /// Requests of jobs for other sizes, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<SizeAsks>,
    /// Mean of size over preferred size, weighted by time.
    pub mean_size: f64,
    /// Share of the running time at the preferred size.
    pub at_pref: f64,
    /// Share of the running time below the full pace, where jobs have slower ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowed: Option<f64>,
    /// Waits by kind of job; kinds without a job are left out.
    pub kinds: Vec<KindWaits>,
    /// Power, where it is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerUse>,
    /// Power over time, where it is counted and the workload is simulated as a whole.
    #[serde(skip)]
    pub timeline: Option<PowerTimeline>,
    /// Jobs by the log's numbers.
    #[serde(skip)]
    pub jobs: BTreeMap<i64, SizedJob>,
}

/// Requests of running jobs for other sizes.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SizeAsks {
    /// Number of requests.
    pub number: u64,
    /// Share that was granted.
    pub granted: f64,
    /// Mean seconds until those that were granted.
    pub wait: f64,
}

/// Waits of the jobs of one kind.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct KindWaits {
    /// Name of the kind ([`JobKind::name`]).
    pub kind: String,
    /// Number of jobs.
    pub jobs: u64,
    /// Mean wait in seconds.
    pub wait: f64,
    /// Mean time from submit to end in seconds.
    pub response: f64,
    /// As [`SizeReport::slowdown_ref`].
    pub slowdown_ref: f64,
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
    /// Its paces, where any job of the workload has slower ones than the full one.
    pub paces: Option<PacedRun>,
}

/// Paces of a job over its life, as shares of the full speed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PacedRun {
    /// Speed at its start.
    pub first: Decimal,
    /// Speed at its end.
    pub last: Decimal,
    /// Seconds below the full pace.
    pub slowed: i64,
}

impl SizeReport {
    /// Measures the segments of all jobs that have ended. `series` are carbon and price over time.
    ///
    /// # Errors
    /// A series that begins after the schedule.
    ///
    /// Cost: O(n log n).
    pub fn from_segments(
        workload: &Workload,
        segments: &Segments,
        series: Option<&PowerSeries>,
    ) -> Result<SizeReport, PowerSeriesError> {
        let mut meter = SizeMeter::default();
        meter.add_part(workload, segments, series)?;
        Ok(meter.finish())
    }

    /// Mean waits and responses of the rigid jobs, or of those with several sizes; `None` without
    /// such jobs.
    #[must_use]
    pub fn mean_waits(&self, rigid: bool) -> Option<(f64, f64)> {
        let kinds = || self.kinds.iter().filter(|entry| (entry.kind == JobKind::Rigid.name()) == rigid);
        let jobs = kinds().map(|entry| entry.jobs).sum::<u64>() as f64;
        let mean = |of: fn(&KindWaits) -> f64| kinds().map(|entry| of(entry) * entry.jobs as f64).sum::<f64>() / jobs;
        (jobs > 0.0).then(|| (mean(|entry| entry.wait), mean(|entry| entry.response)))
    }
}

/// Adds up [`SizeReport`] over the parts of a workload that are simulated apart.
#[derive(Debug, Default)]
pub struct SizeMeter {
    report: SizeReport,
    sums: ShapeSums,
    /// Processor-seconds of the machine in the makespans.
    capacity: f64,
    power: Option<PowerMeter>,
    parts: usize,
}

/// Sums over all jobs.
#[derive(Debug, Default)]
struct ShapeSums {
    held: i128,
    useful: i128,
    time: i128,
    sizes: f64,
    preferred: i128,
    /// Seconds below the full pace, where jobs have slower ones.
    slowed: Option<i128>,
    /// Jobs, waits, responses and slowdowns by kind.
    kinds: [(u64, i128, i128, f64); JobKind::ALL.len()],
    /// Requests for sizes, those that were granted, and the seconds until then.
    asks: (u64, u64, i128),
}

impl SizeMeter {
    /// Adds the segments of a part.
    ///
    /// # Errors
    /// A series that begins after the schedule.
    pub fn add_part(
        &mut self,
        workload: &Workload,
        segments: &Segments,
        series: Option<&PowerSeries>,
    ) -> Result<(), PowerSeriesError> {
        self.parts += 1;
        let mut list: Vec<&Segment> = segments.list.iter().collect();
        list.sort_shared_by_key(|segment| (segment.job, segment.start, segment.end));
        let mut turns = Vec::new();
        let first = workload.submit_range().unwrap_or_default().0;
        let last = list.iter().map(|segment| segment.end).max().unwrap_or(first);
        let useful = self.sums.useful;
        let mut asks: Vec<&SizeRequest> = segments.asks.iter().collect();
        asks.sort_shared_by_key(|ask| (ask.job, ask.time));
        self.report.work_lost += segments.set_back;
        for of_job in list.chunk_by(|a, b| a.job == b.job) {
            self.take_job(workload, of_job, &mut turns);
            let first = asks.partition_point(|ask| ask.job < of_job[0].job);
            let end = asks.partition_point(|ask| ask.job <= of_job[0].job);
            self.take_asks(of_job, &asks[first..end]);
        }
        self.capacity += f64::from(workload.machine().procs) * (last - first).as_f64();
        let has_power = workload
            .shapes()
            .is_some_and(|shapes| shapes.power.is_some() || shapes.known.iter().any(|shape| shape.watts > 0));
        if has_power && !list.is_empty() {
            turns.extend(idle_turns(workload, &segments.down));
            let power = self.power.get_or_insert_default();
            power.add_draw(workload, (first, last), turns, series)?;
            power.useful += self.sums.useful - useful;
        }
        Ok(())
    }

    /// Takes the segments of a job, in order of time.
    fn take_job(&mut self, workload: &Workload, of_job: &[&Segment], turns: &mut Vec<(Time, i128)>) {
        let Some((start, end)) = of_job.first().zip(of_job.last()) else { return };
        let SizeMeter { report, sums, .. } = self;
        let (job, run) = (workload.job(start.job), workload.truth()[start.job.index()].run);
        let shape = shape_of(workload, start.job);
        let watts = shape.map_or(0, |shape| shape.watts);
        let mut sized_job = SizedJob { first: start.procs, last: end.procs, ..SizedJob::default() };
        let (mut energy, mut slowed_time) = (0i128, 0i128);
        let (mut area, mut time, mut ran, mut attempt) = (0i128, 0i128, 0i128, 0i128);
        for (at, segment) in of_job.iter().enumerate() {
            let seconds = i128::from((segment.end - segment.start).0);
            area += seconds * i128::from(segment.procs);
            time += seconds;
            // What an outage or a drop of power took away was no run.
            let is_lost = matches!(segment.then, SegmentEnd::Requeued | SegmentEnd::Lost);
            attempt += seconds * i128::from(segment.procs);
            if is_lost {
                report.work_lost += u64::try_from(std::mem::take(&mut attempt)).unwrap_or(0);
            }
            ran = if segment.then == SegmentEnd::Requeued { 0 } else { ran + seconds };
            sums.sizes += seconds as f64 * f64::from(segment.procs) / f64::from(job.procs);
            sums.preferred += if segment.procs == job.procs { seconds } else { 0 };
            slowed_time += if segment.pace.is_some() { seconds } else { 0 };
            let draw = i128::from(segment.pace.map_or(watts, |pace| pace.watts)) * i128::from(segment.procs);
            energy += draw * seconds;
            turns.extend([(segment.start, draw), (segment.end, -draw)]);
            // A suspended job may resume with another size.
            if let (SegmentEnd::Resized | SegmentEnd::Suspended, Some(next)) = (segment.then, of_job.get(at + 1)) {
                sized_job.grows += u32::from(next.procs > segment.procs);
                sized_job.shrinks += u32::from(next.procs < segment.procs);
                sized_job.reconfiguring += shape.map_or(0, |shape| shape.resize_cost(segment.procs, next.procs).0);
            }
        }
        sized_job.mean = if time > 0 { area as f64 / time as f64 } else { f64::from(start.procs) };
        sized_job.energy = u128::try_from(energy).unwrap_or(0);
        if has_paces(workload) {
            let speed = |segment: &Segment| segment.pace.map_or(Decimal::ONE, |pace| pace.speed);
            let seconds = i64::try_from(slowed_time).unwrap_or(i64::MAX);
            sized_job.paces = Some(PacedRun { first: speed(start), last: speed(end), slowed: seconds });
            *sums.slowed.get_or_insert(0) += slowed_time;
        }
        report.grows += u64::from(sized_job.grows);
        report.shrinks += u64::from(sized_job.shrinks);
        report.reconfiguring += sized_job.reconfiguring;
        report.jobs.insert(start.number, sized_job);
        sums.held += area;
        sums.time += time;
        sums.useful += i128::from(run.0) * i128::from(job.procs);
        let response = end.end - job.submit;
        let kind = shape.map_or(JobKind::Rigid, |shape| shape.kind);
        let Some(at) = JobKind::ALL.iter().position(|candidate| *candidate == kind) else { return };
        let (jobs, waits, responses, slowdowns) = &mut sums.kinds[at];
        *jobs += 1;
        *waits += i128::from(response.0) - ran;
        *responses += i128::from(response.0);
        *slowdowns += (response.as_f64() / run.as_f64().max(10.0)).max(1.0);
    }

    /// Takes the requests of a job, in order of time. Each stands until the next.
    fn take_asks(&mut self, of_job: &[&Segment], asks: &[&SizeRequest]) {
        for (at, ask) in asks.iter().enumerate() {
            let until = asks.get(at + 1).map_or(Time::MAX, |next| next.time);
            let granting_segment = of_job
                .iter()
                .find(|segment| segment.procs == ask.procs && segment.end > ask.time && segment.start < until);
            let sums = &mut self.sums.asks;
            sums.0 += 1;
            if let Some(segment) = granting_segment {
                sums.1 += 1;
                sums.2 += i128::from((segment.start - ask.time).0.max(0));
            }
        }
    }

    /// The report on everything added.
    #[must_use]
    pub fn finish(self) -> SizeReport {
        let SizeMeter { mut report, sums, capacity, power, parts } = self;
        let jobs: u64 = sums.kinds.iter().map(|kind| kind.0).sum();
        if jobs == 0 || capacity <= 0.0 {
            return report;
        }
        for (kind, (jobs, waits, responses, slowdowns)) in JobKind::ALL.into_iter().zip(sums.kinds) {
            report.slowdown_ref += slowdowns;
            if jobs > 0 {
                let mean = |sum: i128| sum as f64 / jobs as f64;
                report.kinds.push(KindWaits {
                    kind: kind.name().to_string(),
                    jobs,
                    wait: mean(waits),
                    response: mean(responses),
                    slowdown_ref: slowdowns / jobs as f64,
                });
            }
        }
        report.slowdown_ref /= jobs as f64;
        let (requests, grants, wait) = sums.asks;
        report.asks = (requests > 0).then(|| SizeAsks {
            number: requests,
            granted: grants as f64 / requests as f64,
            wait: wait as f64 / grants.max(1) as f64,
        });
        report.held = u64::try_from(sums.held).unwrap_or(u64::MAX);
        report.utilisation = sums.held as f64 / capacity;
        report.useful = sums.useful as f64 / capacity;
        report.mean_size = sums.sizes / (sums.time as f64).max(1.0);
        report.at_pref = sums.preferred as f64 / (sums.time as f64).max(1.0);
        report.slowed = sums.slowed.map(|slow_time| slow_time as f64 / (sums.time as f64).max(1.0));
        if let Some(power) = power {
            let (power_use, timeline) = power.finish();
            report.power = Some(power_use);
            report.timeline = timeline.filter(|_| parts == 1);
        }
        report
    }
}

/// Returns whether any job has slower paces than the full one.
fn has_paces(workload: &Workload) -> bool {
    workload.shapes().is_some_and(|shapes| shapes.has_paces())
}

fn shape_of(workload: &Workload, id: JobId) -> Option<&JobShape> {
    workload.shapes()?.shape_at(id.index()).map(|(shape, _)| shape)
}

/// Returns changes of what idle processors draw: those that are out draw nothing. `down` is their
/// number from each time on.
fn idle_turns(workload: &Workload, down: &[(Time, Procs)]) -> Vec<(Time, i128)> {
    let power = workload.shapes().and_then(|shapes| shapes.power.as_ref());
    let idle = power.map_or(0, |power| i128::from(power.idle));
    let before = std::iter::once(0).chain(down.iter().map(|(_, procs)| *procs));
    let turn =
        |(&(time, procs), before): (&(Time, Procs), Procs)| (time, idle * (i128::from(before) - i128::from(procs)));
    down.iter().zip(before).map(turn).collect()
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
            ("work lost".to_string(), format!("{} processor-seconds", self.work_lost)),
            ("size over preferred size, mean".to_string(), format!("{:.3}", self.mean_size)),
            ("running time at the preferred size".to_string(), percent(self.at_pref)),
        ];
        if let Some(slow_share) = self.slowed {
            facts.push(("running time below the full pace".to_string(), percent(slow_share)));
        }
        if let Some(asks) = &self.asks {
            let value = format!("{}, {}, {:.0} s", asks.number, percent(asks.granted), asks.wait);
            facts.push(("requests for sizes, granted, mean wait of these".to_string(), value));
        }
        let minutes = |seconds: f64| format!("{:.1} min", seconds / 60.0);
        for entry in self.kinds.iter().filter(|_| self.kinds.len() > 1) {
            let jobs = if entry.jobs == 1 { "job" } else { "jobs" };
            let waits = format!("{}, {} ({} {jobs})", minutes(entry.wait), minutes(entry.response), entry.jobs);
            facts.push((format!("mean wait and response, {}", entry.kind), waits));
        }
        let Some(power) = &self.power else { return facts };
        let mut fact = |name: &str, value: String| facts.push((name.to_string(), value));
        fact("energy", format!("{:.3} MJ", power.energy as f64 / 1e6));
        fact("draw, mean and peak", format!("{:.0} W, {} W", power.mean, power.peak));
        if let Some(share) = power.used {
            fact("share of the caps used", percent(share));
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
    pub fn render_cells(&self) -> String {
        let SizedJob { first, last, mean, grows, shrinks, reconfiguring, energy, .. } = self;
        format!("{first},{last},{mean},{grows},{shrinks},{reconfiguring},{energy}")
    }
}

impl PacedRun {
    /// The cells of a schedule.
    #[must_use]
    pub fn render_cells(&self) -> String {
        let PacedRun { first, last, slowed } = self;
        format!("{first},{last},{slowed}")
    }
}

/// The columns of [`PacedRun::render_cells`].
pub const PACE_COLUMNS: &str = "pace_first,pace_last,slowed";

/// The columns of [`SizedJob::render_cells`].
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
            pace: None,
            on: None,
            then,
        };
        let segments = [
            row(0, 0, 40, 8, SegmentEnd::Resized),
            row(0, 40, 90, 4, SegmentEnd::Resized),
            row(0, 90, 125, 8, SegmentEnd::Ended),
            row(1, 40, 90, 4, SegmentEnd::Ended),
        ];
        let series = PowerSeries::parse_table("s", "time,carbon,price\n0,360,3600\n").expect("a series");
        let mut collector = Segments::default();
        collector.list.extend_from_slice(&segments);
        let report = SizeReport::from_segments(&workload, &collector, Some(&series)).expect("measured");
        // 8·40 + 4·50 + 8·35 + 4·50 of 8·125; 800 + 200 useful.
        assert_eq!((report.held, report.grows, report.shrinks), (1000, 1, 1));
        assert!((report.utilisation - 1.0).abs() < 1e-12 && (report.useful - 1.0).abs() < 1e-12);
        // 125 / 100 and 50 / 50.
        assert!((report.slowdown_ref - 1.125).abs() < 1e-12);
        let kinds: Vec<(&str, u64, f64, f64)> =
            report.kinds.iter().map(|entry| (entry.kind.as_str(), entry.jobs, entry.wait, entry.response)).collect();
        assert_eq!(kinds, [("rigid", 1, 0.0, 50.0), ("malleable", 1, 0.0, 125.0)]);
        let power = report.power.expect("watts");
        assert_eq!((power.energy, power.peak), (80_000, 800));
        // 0.08 MJ are 80/3600 kWh: at 360 g each 8 g, at 3600 per MWh 0.08.
        assert!((power.carbon.expect("known") - 8.0).abs() < 1e-9);
        assert!((power.cost.expect("known") - 0.08).abs() < 1e-12);
        assert_eq!(report.jobs[&1].render_cells(), "8,8,6.4,1,1,0,80000");
    }
}
