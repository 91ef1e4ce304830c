//! Malleable jobs that shrink for the head, and that grow, by definition.

use super::NaiveShapeWorld;
use super::room::NaiveSpan;
use super::running::{NaiveKind, NaiveSizedRun};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Place of a job between its smallest and largest sizes, as a fraction.
fn job_fullness(job: &NaiveSizedRun<'_>, size: i64) -> (i64, i64) {
    let (min, max) = (job.job.sizes[0], *job.job.sizes.last().expect("a size"));
    (size - min, (max - min).max(1))
}

fn compare_fractions((a, b): (i64, i64), (c, d): (i64, i64)) -> std::cmp::Ordering {
    (a * d).cmp(&(c * b))
}

impl NaiveShapeWorld<'_> {
    fn change_size(&mut self, at: usize, size: i64) {
        match self.run[at].change_point(self.now) {
            point if point <= self.now => self.take_effect(at, size),
            point => self.run[at].pending = Some((size, point)),
        }
    }

    pub(super) fn shrink_for(&mut self, head: usize) -> bool {
        let rungs: &[(&str, &str)] = match self.rules.ladder {
            "min" => &[("min", "min")],
            "pref" => &[("pref", "pref"), ("min", "pref"), ("min", "min")],
            _ => &[("pref", "pref"), ("min", "pref")],
        };
        let (now, job) = (self.now, &self.jobs[head]);
        let coming_procs: i64 = self.run.iter().filter_map(|run| Some((run.size - run.pending?.0).max(0))).sum();
        for &(want, keep) in rungs {
            let smallest = want == "min" && job.kind == NaiveKind::Malleable;
            let size = if smallest { job.sizes[0] } else { job.preferred };
            let cap = self.cap_of(head);
            let size = job.sizes.iter().rfind(|&&candidate| candidate <= size.min(cap)).copied().unwrap_or(size);
            let need = size - (self.procs - self.run.iter().map(NaiveSizedRun::held_procs).sum::<i64>()) - coming_procs;
            if need + coming_procs <= 0
                && self.fits_span(&self.job_spans(None), now, now + job.known[&size], size, job.watts)
            {
                self.start_job(head, (size, 0));
                return true;
            }
            let Some(pool) = (need > 0).then(|| self.find_givers(need, keep)).flatten() else { continue };
            let release =
                |(&at, &size): (&usize, &i64)| self.run[at].release_time(self.run[at].change_point(now), size);
            let last = pool.iter().map(release).max().unwrap_or(now);
            let spans: Vec<NaiveSpan> = (0..self.run.len())
                .flat_map(|at| match pool.get(&at) {
                    Some(&size) => {
                        let sized_run = &self.run[at];
                        let until = sized_run.end_after(sized_run.change_point(now), size);
                        vec![sized_run.run_span(now, until, size)]
                    }
                    None => self.run[at].run_spans(now),
                })
                .collect();
            if !self.fits_span(&spans, last, last + job.known[&size], size, job.watts) {
                continue;
            }
            if last > now {
                if self
                    .plan_job(head, &self.job_spans(None), self.rules.shape == "start")
                    .is_some_and(|(start, _)| start <= last)
                {
                    continue;
                }
                self.chosen[head] = Some(size);
            }
            pool.into_iter().for_each(|(at, size)| self.change_size(at, size));
            if last == now {
                self.start_job(head, (size, 0));
            }
            return last == now;
        }
        false
    }

    /// Sizes of jobs that give so much in all, by their places.
    fn find_givers(&self, mut need: i64, keep: &str) -> Option<BTreeMap<usize, i64>> {
        let keeps = |at: usize| {
            let job = self.run[at].job;
            if keep == "min" { job.sizes[0] } else { job.preferred }
        };
        let mut pool: BTreeMap<usize, i64> = (0..self.run.len())
            .filter(|&at| self.run[at].is_movable(self.now) && self.run[at].paced_at < self.now)
            .filter(|&at| self.run[at].size > keeps(at))
            .map(|at| (at, self.run[at].size))
            .collect();
        let floor = |at: usize| *self.run[at].job.sizes.iter().find(|&&size| size >= keeps(at)).expect("a size");
        while need > 0 {
            let able = pool.iter().map(|(&at, &size)| (at, size)).filter(|&(at, size)| size > floor(at));
            let id = |at: usize| self.run[at].at;
            let (at, size) = match self.rules.share {
                "equal" => able.min_by(|&(a, size_a), &(b, size_b)| {
                    let full = |at: usize, size| job_fullness(&self.run[at], size);
                    compare_fractions(full(b, size_b), full(a, size_a)).then(id(a).cmp(&id(b)))
                }),
                "fpsma" => able.min_by_key(|&(at, _)| Reverse((self.run[at].began, id(at)))),
                _ => able.min_by_key(|&(at, _)| (Reverse(self.run[at].size - keeps(at)), id(at))),
            }?;
            let sizes = self.run[at].job.sizes.iter().rev();
            let smaller_size = match self.rules.share {
                "equal" => sizes.clone().find(|&&candidate| candidate < size),
                _ => sizes.clone().find(|&&candidate| floor(at) <= candidate && candidate <= size - need),
            };
            let new_size = smaller_size.copied().unwrap_or_else(|| floor(at));
            need -= size - new_size;
            pool.insert(at, new_size);
        }
        pool.retain(|&at, size| *size < self.run[at].size);
        Some(pool)
    }

    pub(super) fn grow_jobs(&mut self, reservations: &[NaiveSpan]) {
        let mut able: Vec<usize> = (0..self.run.len())
            .filter(|&at| self.run[at].is_movable(self.now) && self.run[at].since < self.now)
            .collect();
        able.sort_by_key(|&at| self.run[at].at);
        let mut to: BTreeMap<usize, i64> = BTreeMap::new();
        match self.rules.share {
            "equal" => self.grow_by_steps(able, &mut to, reservations),
            share => {
                for round in ["pref", "max"] {
                    let mut order = able.clone();
                    let size = |at: usize| to.get(&at).copied().unwrap_or(self.run[at].size);
                    match share {
                        "fpsma" => order.sort_by_key(|&at| (self.run[at].began, self.run[at].at)),
                        _ => order.sort_by_key(|&at| (size(at) - self.run[at].job.preferred, self.run[at].at)),
                    }
                    for at in order {
                        let job = self.run[at].job;
                        let size = to.get(&at).copied().unwrap_or(self.run[at].size);
                        let top = round == "pref" && share != "fpsma";
                        let sizes = job.sizes.iter().rev().copied().filter(|&candidate| candidate > size);
                        let mut sizes = sizes.filter(|&candidate| !top || candidate <= job.preferred);
                        if let Some(larger) = sizes.find(|&candidate| self.may_grow(at, candidate, &to, reservations)) {
                            to.insert(at, larger);
                        }
                    }
                }
            }
        }
        to.into_iter().for_each(|(at, size)| self.change_size(at, size));
    }

    fn grow_by_steps(&self, mut open: Vec<usize>, to: &mut BTreeMap<usize, i64>, reservations: &[NaiveSpan]) {
        loop {
            let size = |at: usize| to.get(&at).copied().unwrap_or(self.run[at].size);
            let able = open.iter().copied().filter(|&at| size(at) < *self.run[at].job.sizes.last().expect("a size"));
            let emptiest = able.min_by(|&a, &b| {
                let full = |at: usize| job_fullness(&self.run[at], size(at));
                compare_fractions(full(a), full(b)).then(self.run[a].at.cmp(&self.run[b].at))
            });
            let Some(at) = emptiest else { return };
            let next = *self.run[at].job.sizes.iter().find(|&&candidate| candidate > size(at)).expect("a larger size");
            if self.may_grow(at, next, to, reservations) {
                to.insert(at, next);
            } else {
                open.retain(|&entry| entry != at);
            }
        }
    }

    /// Returns whether a job ends earlier at a size and fits around all others.
    fn may_grow(&self, at: usize, size: i64, to: &BTreeMap<usize, i64>, reservations: &[NaiveSpan]) -> bool {
        let now = self.now;
        let end = |at: usize, size| self.run[at].end_after(self.run[at].change_point(now), size);
        let mut spans = reservations.to_vec();
        for (place, run) in self.run.iter().enumerate().filter(|&(place, _)| place != at) {
            match to.get(&place) {
                Some(&size) => {
                    let until = end(place, size);
                    spans.push(run.run_span(now, until, size));
                }
                None => spans.extend(run.run_spans(now)),
            }
        }
        let until = end(at, size);
        size <= self.cap_of(self.run[at].at)
            && until < self.run[at].known_end(now)
            && self.fits_span(&spans, now, until, size, self.run[at].watts_per_proc())
    }
}
