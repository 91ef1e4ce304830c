//! Running jobs where a cap on power has fallen below what they draw, by definition.

use super::NaiveShapeWorld;
use super::room::{NaiveSpan, earliest_start, fits_beside};
use super::running::{NaiveKind, NaiveSizedRun};

impl NaiveShapeWorld<'_> {
    /// Slows jobs down by no more than needed, the one that saves most at its slowest pace first.
    pub(super) fn slow_below_cap(&mut self) {
        let now = self.now;
        loop {
            let over = self.over_cap();
            let able = (0..self.run.len()).filter(|&at| {
                let job = &self.run[at];
                job.began < now && job.pending.is_none() && job.pace < job.job.paces.len()
            });
            let saves = |at: usize, pace: usize| {
                let job = &self.run[at];
                job.size * (job.watts_per_proc() - job.job.watts_at(pace))
            };
            let most =
                able.max_by_key(|&at| (saves(at, self.run[at].job.paces.len()), std::cmp::Reverse(self.run[at].at)));
            let Some(at) = most.filter(|_| over > 0) else { return };
            let slower = self.run[at].pace + 1..=self.run[at].job.paces.len();
            let enough = slower.clone().find(|&pace| saves(at, pace) >= over);
            self.set_pace(at, enough.unwrap_or(*slower.end()));
        }
    }

    /// Watts above the cap that no change of size under way will give back.
    fn over_cap(&self) -> i64 {
        let gives = self.run.iter().filter(|job| job.gives_since.is_some());
        let pending_watts =
            gives.filter_map(|job| Some((job.size - job.pending?.0) * job.watts_per_proc())).sum::<i64>();
        self.current_draw() - self.cap_at(self.now) - pending_watts
    }

    pub(super) fn set_pace(&mut self, at: usize, pace: usize) {
        let now = self.now;
        self.close_segment(at);
        self.run[at].set_pace(now, pace);
    }

    /// Gives jobs faster paces, in the order of their starts, where they end earlier then and fit.
    pub(super) fn raise_paces(&mut self, reservations: &[NaiveSpan]) {
        let now = self.now;
        let mut slow: Vec<usize> = (0..self.run.len()).filter(|&at| self.run[at].pace > 0).collect();
        slow.sort_by_key(|&at| (self.run[at].began, self.run[at].at));
        for at in slow {
            let job = &self.run[at];
            if job.since >= now || job.resumed >= now || job.pending.is_some() {
                continue;
            }
            let other_spans = [self.job_spans(Some(job.at)), reservations.to_vec()].concat();
            let pace = (0..job.pace).find(|&pace| {
                let until = job.end_after_change(now, (job.size, pace));
                until < job.known_end(now) && self.fits_span(&other_spans, now, until, job.size, job.job.watts_at(pace))
            });
            if let Some(pace) = pace {
                self.set_pace(at, pace);
            }
        }
    }

    /// Shrinks malleable jobs by no more than needed, the one with most above its smallest size
    /// first.
    pub(super) fn shrink_below_cap(&mut self) {
        loop {
            let over = self.over_cap();
            if over <= 0 {
                return;
            }
            let able = (0..self.run.len()).filter(|&at| {
                let job = &self.run[at];
                job.is_movable(self.now) && job.size > job.job.sizes[0] && job.watts_per_proc() > 0
            });
            let most = able.min_by_key(|&at| (self.run[at].job.sizes[0] - self.run[at].size, self.run[at].at));
            let Some(at) = most else { return };
            let job = &self.run[at];
            let less = (over + job.watts_per_proc() - 1) / job.watts_per_proc();
            let size = job.job.sizes.iter().rfind(|&&size| size <= job.size - less).copied();
            self.take_effect(at, size.unwrap_or(job.job.sizes[0]));
        }
    }

    /// The last to have started are suspended; in the order of their starts they and those that
    /// were suspended before run again where there is room for the rest of their runs.
    pub(super) fn suspend_above_cap(&mut self) {
        let now = self.now;
        let mut paused_jobs: Vec<(NaiveSizedRun<'_>, bool)> =
            std::mem::take(&mut self.parked).into_iter().map(|job| (job, false)).collect();
        while self.current_draw() > self.cap_at(now) {
            let able = (0..self.run.len()).filter(|&at| self.run[at].watts_per_proc() > 0);
            let Some(last) = able.max_by_key(|&at| (self.run[at].began, self.run[at].at)) else { break };
            paused_jobs.push((self.run.remove(last), true));
        }
        paused_jobs.sort_by_key(|(job, _)| (job.began, job.at));
        self.first_parked.clear();
        for (mut job, runs) in paused_jobs {
            let spans = [self.job_spans(None), self.first_parked.clone()].concat();
            if runs && job.run_spans(now).into_iter().all(|span| fits_beside(self, &spans, span)) {
                self.run.push(job);
                continue;
            }
            let best = self.best_resumption(&job, runs, &spans);
            let resumes = best.filter(|&(start, ..)| start == now);
            if (runs && resumes.is_none_or(|(_, size, _)| size != job.size)) && job.since < now {
                self.segments[job.at].push([job.since, now, job.size, job.pace as i64]);
            }
            if let Some((_, size, _)) = resumes {
                if !runs {
                    (job.since, job.resumed) = (now, now);
                }
                match size == job.size {
                    true => (job.pending, job.gives_since, job.resumed) = (None, None, now),
                    false => job.resize_to(now, size),
                }
                self.run.push(job);
                continue;
            }
            if runs {
                job.pause_run(now);
            }
            if let (true, Some((from, size, rest))) = (self.first_parked.is_empty(), best) {
                self.first_parked.push(job.run_span(from, from + rest, size));
            }
            self.parked.push(job);
        }
        self.run.sort_by_key(|job| (job.began, job.at));
    }

    /// The start, the size and the time it then takes with which a job is predicted to end first,
    /// its own size first among equals.
    pub(super) fn best_resumption(
        &self,
        job: &NaiveSizedRun<'_>,
        runs: bool,
        spans: &[NaiveSpan],
    ) -> Option<(i64, i64, i64)> {
        let moves = self.rules.migrates && job.job.kind == NaiveKind::Malleable && job.began < self.now;
        let cap = self.cap_of(job.at);
        let sizes = job.job.sizes.iter().copied().filter(|&size| size == job.size || moves && size <= cap);
        let plans = sizes.filter_map(|size| {
            let from = if runs { self.now } else { job.since };
            if runs && job.release_time(from, size) > from {
                // It would draw as much as before until it has shrunk.
                return None;
            }
            let rest = job.end_after(from, size) - from;
            Some((earliest_start(self, spans, self.now, rest, size, size * job.watts_per_proc())?, size, rest))
        });
        plans.min_by_key(|&(start, size, rest)| (start + rest, size != job.size, size))
    }
}
