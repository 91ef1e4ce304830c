//! Obstacles to a job while it waited, hour by hour, in the words of a user.

use crate::output::number::{format_count, format_duration, format_plural};
use drystone::engine::explain::{JobWhatIf, StoryWords};
use drystone::engine::{Levels, Observer};
use drystone::model::{Adopted, DemandId, EndedJob, JobId, JobLimit, Outages, Procs, Span, Time, Workload};
use drystone::policy::StartReason;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Lengths of the parts into which a wait is cut, in seconds: the first that needs few enough of
/// them.
const LENGTHS: [i64; 8] = [600, 3_600, 7_200, 21_600, 43_200, 86_400, 604_800, 2_419_200];
/// Most parts.
const MOST: i64 = 10;
/// Waits up to this long are reported in ten-minute bins.
const BRIEF: i64 = 3_600;
/// Most jobs that are named.
const NAMED: usize = 3;

/// Watches a simulation from the arrival of a job to its start.
pub(super) struct WaitObserver<'a> {
    workload: &'a Workload,
    outages: &'a Outages,
    id: JobId,
    running: BTreeSet<JobId>,
    waiting: BTreeSet<JobId>,
    here: bool,
    pub(super) start: Option<Time>,
    /// States while it waited, from instant to instant.
    states: Vec<QueueState>,
    overtook: Vec<JobId>,
    /// Jobs that ran when it arrived.
    held: Vec<JobId>,
    /// End of each of those, if it came before the job's start.
    ended: BTreeMap<JobId, Time>,
    /// Times in which the job was held back, and the limit for which it then waited.
    holds: Vec<HoldTime>,
}

/// Time in which a job was held back.
#[derive(Clone, Debug)]
struct HoldTime {
    from: Time,
    until: Time,
    /// The limit or the resource for which it waits, in words.
    reason: Option<String>,
}

/// State from an instant on.
#[derive(Clone, Debug)]
struct QueueState {
    from: Time,
    free: Procs,
    /// Processors that are out.
    down: Procs,
    /// Jobs that wait and came before.
    ahead: u32,
    /// Jobs that wait and came later.
    behind: u32,
    /// Free amounts of the further resources that the job asks for.
    resources: Vec<i64>,
}

impl<'a> WaitObserver<'a> {
    pub(super) fn new(workload: &'a Workload, outages: &'a Outages, id: JobId) -> WaitObserver<'a> {
        WaitObserver {
            workload,
            outages,
            id,
            running: BTreeSet::new(),
            waiting: BTreeSet::new(),
            here: false,
            start: None,
            states: Vec::new(),
            overtook: Vec::new(),
            held: Vec::new(),
            ended: BTreeMap::new(),
            holds: Vec::new(),
        }
    }

    /// The job is held back from now on, for this reason if one is known.
    fn note_hold(&mut self, now: Time, reason: Option<String>) {
        self.end_hold(now);
        self.holds.push(HoldTime { from: now, until: Time::MAX, reason });
    }

    /// Returns how much is free at a time of each further resource that the job asks for.
    fn free_resources(&self, now: Time) -> Vec<i64> {
        let Some(table) = self.workload.resources() else { return Vec::new() };
        let asks = table.demand_totals(self.workload.job(self.id).demand);
        let mut free: Vec<i64> = asks.iter().map(|&(id, _)| table.supply_at(id, now) as i64).collect();
        for &running_job in self.running.iter().filter(|_| !asks.is_empty()) {
            for &(id, amount) in table.demand_totals(self.workload.job(running_job).demand) {
                if let Some(place) = asks.iter().position(|&(own, _)| own == id) {
                    free[place] -= amount as i64;
                }
            }
        }
        free
    }

    /// Returns the further resource of which too little was free for most of the time in which
    /// enough processors were: its name, and the amounts asked for and free, in words.
    fn find_lack(&self, from: Time, until: Time, job_procs: Procs) -> Option<String> {
        let table = self.workload.resources()?;
        let asks = table.demand_totals(self.workload.job(self.id).demand);
        let (mut enough, mut lacking) = (0, vec![(0, i64::MAX, i64::MIN); asks.len()]);
        for (at, state) in self.states.iter().enumerate().filter(|(_, state)| state.free >= job_procs) {
            let next = self.states.get(at + 1).map_or(until, |next| next.from);
            let span = (next.min(until) - state.from.max(from)).0.max(0);
            enough += span;
            let short = state.resources.iter().zip(asks).map(|(&free, &(_, amount))| (free, free < amount as i64));
            for (sum, (free, _)) in lacking.iter_mut().zip(short).filter(|(_, (_, is_short))| span > 0 && *is_short) {
                *sum = (sum.0 + span, sum.1.min(free), sum.2.max(free));
            }
        }
        let (place, &(span, least, most)) = lacking.iter().enumerate().max_by_key(|&(at, sum)| (sum.0, Reverse(at)))?;
        let resource = table.find_resource(asks[place].0).filter(|_| 2 * span > enough)?;
        let show = |amount: i64| resource.unit.format_amount(amount.max(0).unsigned_abs());
        let free = if least.max(0) == most.max(0) {
            format!("{} {}", show(most), if most == 1 { "was" } else { "were" })
        } else {
            format!("{} to {} were", show(least), show(most))
        };
        Some(format!("of the {} of {} that it asks for, only {free} free", show(asks[place].1 as i64), resource.name))
    }

    fn end_hold(&mut self, now: Time) {
        if let Some(last) = self.holds.last_mut() {
            last.until = last.until.min(now);
        }
    }

    /// Returns the reason for which the job was held back for most of a time.
    fn held_for(&self, from: Time, until: Time) -> Option<String> {
        let within = |hold: &HoldTime| (hold.until.min(until).0 - hold.from.max(from).0).max(0);
        let longest = self.holds.iter().max_by_key(|hold| within(hold))?;
        let total_hold: i64 = self.holds.iter().map(within).sum();
        let hold_reason = || longest.reason.clone().unwrap_or_else(|| "held back: not eligible yet".to_string());
        (2 * total_hold > (until - from).0).then(hold_reason)
    }

    /// Returns whether it has started, or was here before it could be watched.
    pub(super) fn is_over(&self) -> bool {
        self.start.is_some()
    }

    /// Returns the observations; `None` where the job did not start or did not wait.
    pub(super) fn explain_wait(&self, what_if: &[(JobWhatIf, Option<Time>)]) -> Option<WhyNot> {
        let job = self.workload.job(self.id);
        let start = self.start.filter(|&start| start > job.submit)?;
        let wait = (start - job.submit).0;
        let fits = |length: &&i64| wait <= **length * MOST && (wait <= BRIEF || **length >= BRIEF);
        let length = LENGTHS.iter().find(fits).copied().unwrap_or(1 + (wait - 1) / MOST);
        let parts = (0..=(wait - 1) / length).map(|k| {
            let from = job.submit + Span(k * length);
            self.wait_part(from, (from + Span(length)).min(start), job.procs)
        });
        Some(WhyNot {
            wait,
            procs: job.procs,
            estimate: job.estimate.0,
            submit: job.submit,
            parts: parts.collect(),
            held: self.largest_jobs(),
            overtook: self.overtook.iter().map(|&id| self.named_job(id)).collect(),
            earlier: self.earlier_starts(what_if, start),
        })
    }

    fn named_job(&self, id: JobId) -> NamedJob {
        let job = self.workload.job(id);
        let number = self.workload.truth()[id.index()].number;
        NamedJob { id, number, procs: job.procs, ended: self.ended.get(&id).copied() }
    }

    /// The widest jobs that ran when it arrived.
    fn largest_jobs(&self) -> Vec<NamedJob> {
        let mut holders = self.held.clone();
        holders.sort_by_key(|&id| (std::cmp::Reverse(self.workload.job(id).procs), id));
        holders.truncate(NAMED);
        holders.into_iter().map(|id| self.named_job(id)).collect()
    }

    /// One part of the wait, time-weighted.
    fn wait_part(&self, from: Time, until: Time, job_procs: Procs) -> WaitPart {
        let mut part = WaitPart { from, until, ..WaitPart::default() };
        let (mut free, mut enough, mut least, mut most) = (0.0, 0.0, Procs::MAX, 0);
        for (at, state) in self.states.iter().enumerate() {
            let next = self.states.get(at + 1).map_or(until, |next| next.from);
            let (begin, end) = (state.from.max(from), next.min(until));
            if begin >= end {
                continue;
            }
            let span = (end - begin).as_f64();
            free += span * f64::from(state.free);
            part.most_down = part.most_down.max(state.down);
            enough += if state.free >= job_procs { span } else { 0.0 };
            (least, most) = (least.min(state.free), most.max(state.free));
            part.ahead = part.ahead.max(state.ahead);
            part.behind = part.behind.max(state.behind);
        }
        let length = (until - from).as_f64().max(1.0);
        part.mean_free = free / length;
        part.enough = enough / length;
        part.reaches = self.outage_in_reach(from, until, most);
        part.held = self.held_for(from, until);
        part.lack = self.find_lack(from, until, job_procs);
        part.asks_more = self.workload.job(self.id).demand != DemandId::NONE;
        (part.least_free, part.most_free) = (least.min(most), most);
        part
    }

    /// Returns the beginning of the first announced outage into which the job's limit reaches from
    /// between these times on, and beside which too few of `free` processors are left for it.
    fn outage_in_reach(&self, from: Time, until: Time, free: Procs) -> Option<Time> {
        let job = self.workload.job(self.id);
        let meets = |outage: &&drystone::model::Outage| {
            let announced_time = outage.known_time().max(from);
            announced_time < until
                && outage.begin > from
                && (until - Span(1)).max(announced_time) + job.estimate > outage.begin
                && free.saturating_sub(outage.procs()) < job.procs
        };
        self.outages.list().iter().find(meets).map(|outage| outage.begin)
    }

    /// Changes of the job that would have let it start earlier, the earliest last.
    fn earlier_starts(&self, what_if: &[(JobWhatIf, Option<Time>)], start: Time) -> Vec<Earlier> {
        let gains = what_if.iter().filter_map(|&(change, then)| {
            let gain = start - then.filter(|&then| then < start)?;
            let change = match change {
                JobWhatIf::Estimate(estimate) => format!("a limit of {}", format_duration(estimate.as_f64())),
                JobWhatIf::Procs(procs) => format_plural(u64::from(procs), "processor"),
                // What is neither is not asked here.
                _ => return None,
            };
            Some(Earlier { with: change, gain: gain.0 })
        });
        gains.collect()
    }
}

impl Observer for WaitObserver<'_> {
    fn note_arrival(&mut self, _: Time, id: JobId) {
        self.waiting.insert(id);
        if id == self.id {
            self.here = true;
            self.held = self.running.iter().copied().collect();
        }
    }

    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        self.waiting.remove(&id);
        self.running.insert(id);
        if id == self.id {
            self.start = self.start.or(Some(now));
        } else if self.here && self.start.is_none() && id > self.id {
            self.overtook.push(id);
        }
    }

    fn note_adoption(&mut self, _: Time, id: JobId, adoption: &Adopted) {
        match adoption {
            Adopted::Running { since, .. } => {
                self.waiting.remove(&id);
                self.running.insert(id);
                if id == self.id {
                    self.start = Some(*since);
                }
            }
            Adopted::Held | Adopted::Suspended { .. } => _ = self.waiting.remove(&id),
            Adopted::Waiting => {}
        }
    }

    fn note_hold(&mut self, now: Time, id: JobId) {
        self.waiting.remove(&id);
        if id == self.id {
            self.note_hold(now, None);
        }
    }

    fn note_limit(&mut self, now: Time, id: JobId, limit: &JobLimit) {
        if id == self.id {
            self.note_hold(now, Some(format!("held back by a limit of {} ({})", limit.of, limit.reason)));
        }
    }

    fn note_shortage(&mut self, now: Time, id: JobId, resource: &str, (asks, there): (&str, &str)) {
        if id == self.id {
            let reason = format!("held back: it asks for {asks} of {resource}, and there are {there}");
            self.note_hold(now, Some(reason));
        }
    }

    fn note_release(&mut self, now: Time, id: JobId) {
        self.waiting.insert(id);
        if id == self.id {
            self.end_hold(now);
        }
    }

    fn note_requeue(&mut self, _: Time, id: JobId, _: Procs, _: Span) {
        self.running.remove(&id);
        self.waiting.insert(id);
    }

    fn note_loss(&mut self, job: &EndedJob<'_>) {
        self.running.remove(&job.id);
    }

    fn note_withdrawal(&mut self, _: Time, id: JobId) {
        self.waiting.remove(&id);
    }

    fn note_suspension(&mut self, _: Time, id: JobId) {
        self.running.remove(&id);
    }

    fn note_resumption(&mut self, _: Time, id: JobId) {
        self.running.insert(id);
    }

    fn note_end(&mut self, job: &EndedJob<'_>) {
        self.running.remove(&job.id);
        self.waiting.remove(&job.id);
        if self.here && self.start.is_none() {
            self.ended.insert(job.id, job.outcome.end);
        }
    }

    fn note_settlement(&mut self, now: Time, levels: Levels) {
        if self.here && self.start.is_none() {
            let ahead = self.waiting.range(..self.id).count() as u32;
            let itself = u32::from(self.waiting.contains(&self.id));
            let behind = self.waiting.len() as u32 - ahead - itself;
            let resources = self.free_resources(now);
            self.states.push(QueueState { from: now, free: levels.free, down: levels.down, ahead, behind, resources });
        }
    }
}

/// Obstacles to a job.
#[derive(Serialize, Debug)]
pub(super) struct WhyNot {
    /// Wait, in seconds.
    wait: i64,
    procs: Procs,
    estimate: i64,
    submit: Time,
    parts: Vec<WaitPart>,
    /// The widest jobs that ran when it arrived.
    held: Vec<NamedJob>,
    /// Jobs that came later and started before.
    overtook: Vec<NamedJob>,
    /// Changes that would have let it start earlier.
    earlier: Vec<Earlier>,
}

#[derive(Serialize, Default, Debug)]
struct WaitPart {
    from: Time,
    until: Time,
    mean_free: f64,
    least_free: Procs,
    most_free: Procs,
    /// Share of the time in which enough processors were free.
    enough: f64,
    /// Most jobs that waited and had come before.
    ahead: u32,
    /// Most jobs that waited and came later.
    behind: u32,
    /// Most processors that were out.
    #[serde(skip_serializing_if = "is_zero")]
    most_down: Procs,
    /// Reason for which it was held back most of the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<String>,
    /// The further resource that it lacked most of the time in which enough processors were free.
    #[serde(skip_serializing_if = "Option::is_none")]
    lack: Option<String>,
    /// Beginning of an announced outage into which its limit reaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    reaches: Option<Time>,
    /// True if it asks for memory, devices or nodes beside processors.
    #[serde(skip)]
    asks_more: bool,
}

fn is_zero(procs: &Procs) -> bool {
    *procs == 0
}

#[derive(Serialize, Debug)]
struct NamedJob {
    /// Its place in the workload.
    #[serde(skip)]
    id: JobId,
    number: i64,
    procs: Procs,
    /// End, if it came before the job's start.
    ended: Option<Time>,
}

#[derive(Serialize, Debug)]
struct Earlier {
    with: String,
    /// Seconds earlier.
    gain: i64,
}

impl WhyNot {
    /// Returns the obstacles in words: with the dates and names of a site where `site` has them,
    /// else in time since the job came.
    pub(super) fn render_text(&self, site: Option<&dyn StoryWords>) -> String {
        let mut lines = vec![format!(
            "Why not earlier? It waited {} for {} and up to {}.",
            format_duration(self.wait as f64),
            format_plural(u64::from(self.procs), "processor"),
            format_duration(self.estimate as f64)
        )];
        for part in &self.parts {
            lines.push(format!(
                "  {}: {}",
                self.part_period(part, site),
                part.render_text(self.procs, self.submit, site)
            ));
        }
        if !self.held.is_empty() {
            let holder_texts: Vec<String> = self.held.iter().map(|job| self.describe_holder(job, site)).collect();
            lines.push(format!("The widest jobs that ran when it came: {}.", holder_texts.join("; ")));
        }
        lines.push(match self.overtook.len() {
            0 => "No job that came later started before it.".to_string(),
            n => {
                let most = self.overtook.iter().map(|job| job.procs).max().unwrap_or(0);
                format!(
                    "{} that came later started before it, on up to {}: they fitted where it did not, or ran in the order of this policy.",
                    format_plural(n as u64, "job"),
                    format_plural(u64::from(most), "processor")
                )
            }
        });
        match self.earlier[..] {
            [] => lines.push("None of the changes below would have let it start earlier.".to_string()),
            _ => {
                let change_texts: Vec<String> = self
                    .earlier
                    .iter()
                    .map(|e| format!("with {}, {} earlier", e.with, format_duration(e.gain as f64)))
                    .collect();
                lines.push(format!("It would have started {}.", change_texts.join("; ")));
            }
        }
        lines.join("\n") + "\n"
    }

    fn part_period(&self, part: &WaitPart, site: Option<&dyn StoryWords>) -> String {
        if let Some(site) = site {
            return format!("from {} to {}", site.format_moment(part.from), site.format_moment(part.until));
        }
        let since = |at: Time| format_duration((at - self.submit).as_f64());
        format!("from {} to {} after it came", since(part.from), since(part.until))
    }

    fn describe_holder(&self, job: &NamedJob, site: Option<&dyn StoryWords>) -> String {
        let procs = format_plural(u64::from(job.procs), "processor");
        let name = site.map_or_else(|| job.number.to_string(), |site| site.format_job(job.id, job.number));
        let end_text = match (job.ended, site) {
            (Some(end), Some(site)) => format!("ended at {}", site.format_moment(end)),
            (Some(end), None) => format!("ended {} later", format_duration((end - self.submit).as_f64())),
            (None, _) => "had not ended when it started".to_string(),
        };
        format!("job {name} on {procs}, which {end_text}")
    }
}

impl WaitPart {
    fn render_text(&self, job_procs: Procs, submit: Time, site: Option<&dyn StoryWords>) -> String {
        let free = match self.least_free == self.most_free {
            true => format_plural(u64::from(self.most_free), "processor"),
            false => {
                format!(
                    "{} to {} processors",
                    format_count(u64::from(self.least_free)),
                    format_count(u64::from(self.most_free))
                )
            }
        };
        let reason = if let Some(hold) = &self.held {
            hold.clone()
        } else if self.most_free < job_procs {
            format!("too few for its {}", format_count(u64::from(job_procs)))
        } else if let Some(lack) = &self.lack {
            format!("enough for its {}, but {lack}", format_count(u64::from(job_procs)))
        } else if let Some(begin) = self.reaches {
            let outage_begin = match site {
                Some(site) => site.format_moment(begin),
                None => format!("{begin}, {} after it came", format_duration((begin - submit).as_f64())),
            };
            format!(
                "enough for its {}, but its limit reaches into the outage announced for {outage_begin}",
                format_count(u64::from(job_procs))
            )
        } else if self.asks_more {
            format!(
                "enough for its {}, but not with the memory, devices or nodes that it asks for, or kept for jobs before it",
                format_count(u64::from(job_procs))
            )
        } else if self.enough < 0.995 {
            format!(
                "enough for its {} only {:.0} % of the time, and then kept for jobs before it or not for long enough",
                format_count(u64::from(job_procs)),
                self.enough * 100.0
            )
        } else {
            format!(
                "enough for its {}, but kept for jobs before it: with its limit it would have delayed them",
                format_count(u64::from(job_procs))
            )
        };
        let queue = match (self.ahead, self.behind) {
            (0, 0) => "no other job waited".to_string(),
            (0, behind) => {
                format!("no job waited before it, up to {} behind it", format_plural(u64::from(behind), "job"))
            }
            (ahead, behind) => {
                format!("up to {} waited before it and {behind} behind it", format_plural(u64::from(ahead), "job"))
            }
        };
        let down = match self.most_down {
            0 => String::new(),
            down => format!(", up to {} out", format_plural(u64::from(down), "processor")),
        };
        format!("{free} free{down}, {reason}; {queue}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::engine::explain::StoryStage;
    use drystone::engine::{Simulation, WorkloadReplay};
    use drystone::model::{Job, LogStatus, Machine, Outage, Provenance, Truth, Which};
    use drystone::policy::PolicySpec;

    /// On 4 processors job 0 has 3 until 100 and job 1 needs all: it waits from 10 to 100. Job 2
    /// needs 1 for 50 s and starts at 20 before it, ending at 70.
    #[test]
    fn a_wait_is_told_in_parts() {
        let job = |submit, procs, estimate| Job::new(Time(submit), procs, Span(estimate));
        let truth = |number, run| Truth { run: Span(run), number, status: LogStatus::Completed };
        let workload = Workload::new(
            Machine::new(4),
            vec![job(0, 3, 100), job(10, 4, 100), job(20, 1, 50)],
            vec![truth(1, 100), truth(2, 100), truth(3, 50)],
            Provenance::default(),
        );
        let workload = workload.expect("possible");
        let spec: PolicySpec = "easy".parse().expect("a policy");
        let outages = Outages::default();
        let mut watch = WaitObserver::new(&workload, &outages, JobId(1));
        let mut simulation =
            Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(&workload));
        while watch.start.is_none() && simulation.step(&mut watch).expect("sound") {}
        let alternatives = watch
            .explain_wait(&[(JobWhatIf::Procs(1), Some(Time(10))), (JobWhatIf::Estimate(Span(50)), Some(Time(100)))]);
        let answer = alternatives.expect("it waited");
        assert_eq!((answer.wait, answer.parts.len()), (90, 1));
        let part = &answer.parts[0];
        // One processor is free from 10 to 20 and from 70 to 100.
        assert_eq!((part.least_free, part.most_free, part.enough), (0, 1, 0.0));
        assert!((part.mean_free - 40.0 / 90.0).abs() < 1e-9, "{}", part.mean_free);
        assert_eq!(answer.overtook.iter().map(|job| job.number).collect::<Vec<_>>(), [3]);
        assert_eq!(answer.held.iter().map(|job| (job.number, job.ended)).collect::<Vec<_>>(), [(1, Some(Time(100)))]);
        let text = answer.render_text(None);
        assert!(text.contains("0 to 1 processors free, too few for its 4"), "{text}");
        assert!(text.contains("It would have started with 1 processor, 90 s earlier."), "{text}");
    }

    /// One processor of one is out from 100 on, announced at 0. Job 0 arrives at 10 with a limit of
    /// 100 s, and would run into it; it starts when the outage is over, at 200.
    #[test]
    fn an_announced_outage_is_named() {
        let truth = Truth { run: Span(20), number: 7, status: LogStatus::Completed };
        let job = Job::new(Time(10), 1, Span(100));
        let workload = Workload::new(Machine::new(1), vec![job], vec![truth], Provenance::default());
        let workload = workload.expect("possible");
        let window = Outage::new_window(Which::Count(1), Time(0), Time(100), Time(200));
        let outages = Outages::new(workload.machine(), vec![window]).expect("an outage");
        let spec: PolicySpec = "easy".parse().expect("a policy");
        let mut watch = WaitObserver::new(&workload, &outages, JobId(0));
        let stage = StoryStage { outages: Some(&outages), ..StoryStage::default() };
        stage.simulate(&workload, spec.build_scheduler(), &mut watch, WaitObserver::is_over).expect("sound");
        let text = watch.explain_wait(&[]).expect("it waited").render_text(None);
        let reason = "enough for its 1, but its limit reaches into the outage announced for 100, 90 s after it came";
        assert!(text.contains(reason), "{text}");
    }
}
