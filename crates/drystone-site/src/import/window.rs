//! The window of the records: where they begin and end, and what their edges lack.

use crate::clock;
use crate::error::SiteError;
use crate::jobs::{FoundJob, SiteJobFate};
use crate::manifest::MeasuredWindow;
use crate::sweep::Crew;

const DAY: i64 = 86_400;
/// Measures begin so long after the window, if it is long enough.
const WARM_UP: i64 = 7 * DAY;

impl MeasuredWindow {
    /// Finds the window of jobs, with edges that were given.
    pub(crate) fn from_jobs(
        jobs: &[FoundJob],
        from: Option<i64>,
        until: Option<i64>,
        crew: Crew,
    ) -> Result<MeasuredWindow, SiteError> {
        if let (Some(from), Some(until)) = (from, until)
            && from >= until
        {
            return Err(SiteError::Option(format!(
                "--from {} does not lie before --until {}",
                clock::format_moment(from),
                clock::format_moment(until)
            )));
        }
        let apart = Apart::from_jobs(jobs);
        let near: Vec<FoundJob>;
        let jobs_near = if apart.is_none() {
            jobs
        } else {
            near = jobs.iter().filter(|job| apart.is_near(job)).cloned().collect();
            &near[..]
        };
        let edges = Edges::from_jobs(jobs_near, crew);
        let mut window = MeasuredWindow { long_run: edges.long_run, ..MeasuredWindow::default() };
        let mut evidence = Vec::new();
        window.from = match from {
            Some(from) => from,
            None if edges.first_end > 0 && edges.first_end - edges.first_arrival > DAY => {
                evidence.push(
                    "it begins before the first end of a job: jobs that ended earlier are missing, though some had started days before"
                        .to_string(),
                );
                edges.first_end - 1
            }
            None => {
                evidence.push("it begins with the first arrival".to_string());
                edges.first_arrival
            }
        };
        window.until = until.unwrap_or_else(|| match edges.end_of_past(jobs_near) {
            Some(last) => {
                evidence.push(
                    "it ends with the last arrival or start: jobs that came later are missing, though the last of these ended days after that"
                        .to_string(),
                );
                last + 1
            }
            None => {
                evidence.push("it ends with the last event of any job".to_string());
                edges.last
            }
        });
        window.until = window.until.max(window.from + 1);
        window.evidence = if evidence.is_empty() { "as given".to_string() } else { evidence.join("; ") };
        window.count_jobs(jobs, crew);
        window.ended_only = ended_only(jobs_near, &edges, until);
        window.set_measured(jobs);
        window.bias.extend(apart.describe_apart(from, until));
        Ok(window)
    }

    /// Returns the last moment of all jobs that is known: the end of the records.
    pub(crate) fn last_moment(jobs: &[FoundJob]) -> Option<i64> {
        jobs.iter().map(last_event).max().filter(|&last| last > 0)
    }

    fn count_jobs(&mut self, jobs: &[FoundJob], crew: Crew) {
        let window_parts = crew.map_parts(jobs, |jobs| {
            let mut part = MeasuredWindow { from: self.from, until: self.until, ..MeasuredWindow::default() };
            part.count_part(jobs);
            part
        });
        for part in window_parts {
            self.running_at_start += part.running_at_start;
            self.queued_at_start += part.queued_at_start;
            self.running_at_end += part.running_at_end;
            self.queued_at_end += part.queued_at_end;
        }
    }

    fn count_part(&mut self, jobs: &[FoundJob]) {
        for job in jobs {
            let (arrive, start) = (i64::from(job.arrive), i64::from(job.start));
            let end = if job.end == 0 { i64::MAX } else { i64::from(job.end) };
            let has_started = job.kind.has_start();
            self.running_at_start += u64::from(has_started && start < self.from && end > self.from);
            let leaves = if has_started { start } else { end };
            self.queued_at_start += u64::from(arrive < self.from && leaves >= self.from);
            self.running_at_end +=
                u64::from(has_started && start < self.until && (end > self.until || job.kind == SiteJobFate::Running));
            self.queued_at_end += u64::from(arrive < self.until && leaves > self.until);
        }
    }

    /// Sets the bounds of the part that is measured.
    fn set_measured(&mut self, jobs: &[FoundJob]) {
        let length = self.until - self.from;
        let has_initial_jobs = self.running_at_start > 0 || self.queued_at_start > 0;
        let (warm, cool) = if self.ended_only {
            self.bias.push(format!(
                "jobs were chosen by their ends (a filter by state, or by end): those that ran or waited at the end are missing, and the \
                 longer they run the more. At the site: sacct without -s. Measures leave out {} at both ends, which 99 of 100 jobs do \
                 not run longer than",
                format_span(self.long_run)
            ));
            (self.long_run, self.long_run)
        } else if has_initial_jobs {
            (0, 0)
        } else {
            let warm = self.filling_seconds(jobs).min(WARM_UP).min(length / 4);
            self.bias.push(format!(
                "no job runs or waits at the beginning: the machine is simulated from empty, and measures leave out the {} in which it fills",
                format_span(warm)
            ));
            (warm, 0)
        };
        (self.measure_from, self.measure_until) = (self.from + warm, self.until - cool);
        if self.measure_from >= self.measure_until {
            self.bias.push(
                "nothing remains between the edges that are biased: the records are too short for their jobs, and every measure is of \
                 biased jobs"
                    .to_string(),
            );
            (self.measure_from, self.measure_until) = (self.from, self.until);
        }
        if self.running_at_end > 0 && !self.ended_only {
            self.bias.push(match self.running_at_end {
                1 => "1 job runs at the end: how long it runs is not known if it has not ended".to_string(),
                jobs => format!("{jobs} jobs run at the end: how long they run is not known where they have not ended"),
            });
        }
    }
}

/// Pieces of the window in which the machine is looked at while it fills.
const PIECES: usize = 1_000;

impl MeasuredWindow {
    /// Seconds from the beginning until jobs hold as much as on average; none where that would
    /// leave out most of the jobs.
    fn filling_seconds(&self, jobs: &[FoundJob]) -> i64 {
        let length = (self.until - self.from).max(1);
        let piece =
            |moment: i64| ((moment - self.from).clamp(0, length) as i128 * PIECES as i128 / length as i128) as usize;
        let mut changes = vec![0_i64; PIECES + 2];
        for job in jobs.iter().filter(|job| job.kind.has_start()) {
            let end = if job.end == 0 { self.until } else { i64::from(job.end) };
            // It holds its units at the beginning of the pieces between its start and its end.
            let (first, last) = (piece(i64::from(job.start)) + 1, piece(end) + 1);
            changes[first] += i64::from(job.units);
            changes[last] -= i64::from(job.units);
        }
        let mut held_units = 0;
        let levels: Vec<i64> = changes[..=PIECES]
            .iter()
            .map(|change| {
                held_units += change;
                held_units
            })
            .collect();
        let mean = levels.iter().sum::<i64>() / levels.len() as i64;
        let full = levels.iter().position(|&level| level >= mean.max(1)).unwrap_or(0);
        let warm = length * full as i64 / PIECES as i64;
        let remaining_jobs = jobs.iter().filter(|job| i64::from(job.arrive) >= self.from + warm).count();
        if remaining_jobs * 2 < jobs.len() { 0 } else { warm }
    }
}

/// A length of time in words.
fn format_span(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7_200 => format!("{:.1} min", seconds as f64 / 60.0),
        7_200..172_800 => format!("{:.1} h", seconds as f64 / 3_600.0),
        _ => format!("{:.1} d", seconds as f64 / 86_400.0),
    }
}

/// The edges of what is recorded.
/// Few jobs that lie far from all others: their times are those of a clock that was wrong, or of a
/// record that was damaged, and would stretch the window over years.
#[derive(Default)]
struct Apart {
    /// First arrival of the others, and how many arrive before it, where these are far away.
    before: Option<(i64, usize)>,
    /// Last event of the others, and how many jobs have later ones.
    after: Option<(i64, usize)>,
}

/// One job in so many may lie apart; more are a part of the records.
const RARE: usize = 1_000;
/// Fewer jobs tell nothing.
const LEAST_JOBS: usize = 20;

impl Apart {
    /// Far is longer than a year, and longer than all others take together.
    fn from_jobs(jobs: &[FoundJob]) -> Apart {
        if jobs.len() < LEAST_JOBS {
            return Apart::default();
        }
        let few = (jobs.len() / RARE).max(1);
        let mut first: Vec<i64> = jobs.iter().map(|job| i64::from(job.arrive)).collect();
        let mut last: Vec<i64> = jobs.iter().map(last_event).collect();
        let (early, &mut begin, _) = first.select_nth_unstable(few);
        let at = last.len() - 1 - few;
        let (_, &mut end, late) = last.select_nth_unstable(at);
        let far = (end - begin).max(366 * DAY);
        early.sort_unstable_by_key(|&moment| std::cmp::Reverse(moment));
        late.sort_unstable();
        let gap = |moments: &[i64], from: i64| {
            let edges = std::iter::once(&from).chain(moments);
            let gap_place = edges.zip(moments).position(|(near, next)| (next - near).abs() > far)?;
            Some((if gap_place == 0 { from } else { moments[gap_place - 1] }, moments.len() - gap_place))
        };
        Apart { before: gap(early, begin), after: gap(late, end) }
    }

    fn is_none(&self) -> bool {
        self.before.is_none() && self.after.is_none()
    }

    fn is_near(&self, job: &FoundJob) -> bool {
        self.before.is_none_or(|(first, _)| i64::from(job.arrive) >= first)
            && self.after.is_none_or(|(last, _)| last_event(job) <= last)
    }

    /// Describes the jobs that lie apart, where no edge was given on their side.
    fn describe_apart(&self, from: Option<i64>, until: Option<i64>) -> Vec<String> {
        let jobs = |n: usize| if n == 1 { "1 job has a time".to_string() } else { format!("{n} jobs have times") };
        let before = self.before.filter(|_| from.is_none()).map(|(first, n)| {
            format!(
                "{} far before all others, the first of which is {}: the window begins there; --from sets it",
                jobs(n),
                clock::format_moment(first)
            )
        });
        let after = self.after.filter(|_| until.is_none()).map(|(last, n)| {
            format!(
                "{} far behind all others, the last of which is {}: the window ends there; --until sets it",
                jobs(n),
                clock::format_moment(last)
            )
        });
        before.into_iter().chain(after).collect()
    }
}

/// Returns the last moment that is known of a job. One that waits may be eligible at a time that
/// has not come: it is known from its submission.
fn last_event(job: &FoundJob) -> i64 {
    if job.kind == SiteJobFate::Waiting {
        return i64::from(job.submit);
    }
    i64::from(job.end).max(i64::from(job.arrive)).max(i64::from(job.start))
}

/// Returns when a job came, where that has happened.
fn arrival_time(job: &FoundJob) -> i64 {
    if job.kind == SiteJobFate::Waiting { i64::from(job.submit) } else { i64::from(job.arrive) }
}

struct Edges {
    first_arrival: i64,
    last_arrival: i64,
    /// The first end of a job that ran; 0 without one.
    first_end: i64,
    last_end: i64,
    /// The last moment of all.
    last: i64,
    long_run: i64,
}

impl Edges {
    fn from_jobs(jobs: &[FoundJob], crew: Crew) -> Edges {
        let empty_edges =
            Edges { first_arrival: i64::MAX, last_arrival: 0, first_end: 0, last_end: 0, last: 0, long_run: 0 };
        let mut runs = Vec::new();
        let mut edges = empty_edges;
        for (part, mut more) in crew.map_parts(jobs, Edges::of_part) {
            edges.first_arrival = edges.first_arrival.min(part.first_arrival);
            edges.last_arrival = edges.last_arrival.max(part.last_arrival);
            let first = [edges.first_end, part.first_end].into_iter().filter(|&end| end > 0).min();
            edges.first_end = first.unwrap_or(0);
            edges.last_end = edges.last_end.max(part.last_end);
            edges.last = edges.last.max(part.last);
            runs.append(&mut more);
        }
        if !runs.is_empty() {
            let at = (runs.len() - 1) * 99 / 100;
            edges.long_run = i64::from(*runs.select_nth_unstable(at).1);
        }
        edges
    }

    /// The last arrival or start, where the records are those of a past period: nothing runs or
    /// waits at the end, and from there to the last end it takes longer than a day, longer than any
    /// pause before, and longer than a quarter of the time before.
    fn end_of_past(&self, jobs: &[FoundJob]) -> Option<i64> {
        let open = |job: &FoundJob| matches!(job.kind, SiteJobFate::Waiting | SiteJobFate::Running);
        if jobs.len() < LEAST_JOBS || jobs.iter().any(open) {
            return None;
        }
        let last = jobs.iter().map(|job| arrival_time(job).max(i64::from(job.start))).max()?;
        let tail = self.last - last;
        if tail <= DAY {
            return None;
        }
        let day = |moment: i64| usize::try_from((moment - self.first_arrival) / DAY).unwrap_or(0);
        let mut busy = vec![false; day(last) + 1];
        for job in jobs {
            busy[day(arrival_time(job))] = true;
            busy[day(i64::from(job.start))] = true;
        }
        let pause = busy.split(|&day| day).map(<[bool]>::len).max().unwrap_or(0) as i64;
        // A shorter one changes little, and may be the end of all there was to do.
        let worth = tail > (pause + 1) * DAY && tail * 4 > last - self.first_arrival;
        worth.then_some(last)
    }

    /// The edges of some jobs, and how long those ran that ended.
    fn of_part(jobs: &[FoundJob]) -> (Edges, Vec<u32>) {
        let mut edges =
            Edges { first_arrival: i64::MAX, last_arrival: 0, first_end: 0, last_end: 0, last: 0, long_run: 0 };
        let mut runs = Vec::with_capacity(jobs.len());
        for job in jobs {
            let arrive = arrival_time(job);
            edges.first_arrival = edges.first_arrival.min(arrive);
            edges.last_arrival = edges.last_arrival.max(arrive);
            let end = i64::from(job.end);
            edges.last = edges.last.max(last_event(job));
            if job.kind == SiteJobFate::Ran {
                edges.first_end = if edges.first_end == 0 { end } else { edges.first_end.min(end) };
                edges.last_end = edges.last_end.max(end);
                runs.push(job.end - job.start);
            }
        }
        (edges, runs)
    }
}

/// Returns whether jobs were chosen by their ends: none waits or runs, and none ends as much later
/// than the last arrival as long jobs run. Of a window that was given, none ends behind it.
fn ended_only(jobs: &[FoundJob], edges: &Edges, until: Option<i64>) -> bool {
    let open = jobs.iter().any(|job| matches!(job.kind, SiteJobFate::Waiting | SiteJobFate::Running));
    if open || edges.last_end == 0 {
        return false;
    }
    match until {
        Some(until) => edges.last_end <= until,
        None => edges.last_end - edges.last_arrival < edges.long_run,
    }
}
