//! Schedule of EASY with one reservation for the waiting jobs: the reference values of version C
//! (section 3.2).

use super::measures::GoalMeasure;
use super::objective::{GoalObjective, Version};
use super::rules::GoalRule;
use super::settings::Branching;
use super::table::RankTable;
use super::task::GoalTask;
use crate::model::{ResourceId, SharedSort};
use crate::parts::NodeSeat;
use crate::policy::Stopwatch;
use crate::room::{JobNeed, OpenRoom};

/// The value of each measure if the waiting jobs were scheduled by FCFS-backfill or LXF-backfill,
/// whichever favours it. Empty where the objective has no use for it; `None` where time was up
/// before. O(n²·(n + r)) at worst for n waiting and r running jobs.
pub(super) fn reference_values(
    task: &GoalTask,
    objective: &GoalObjective,
    table: &RankTable,
    watch: Option<&dyn Stopwatch>,
) -> Option<Vec<i64>> {
    if objective.version != Version::C {
        return Some(Vec::new());
    }
    let mut starts = [None, None];
    for measure in &objective.measures {
        let lxf = measure.favoured_by_lxf();
        let starts = &mut starts[usize::from(lxf)];
        if starts.is_none() {
            *starts = Some(backfill_starts(task, if lxf { Branching::Lxf } else { Branching::Fcfs }, watch)?);
        }
    }
    let value = |(measure, rule): (&GoalMeasure, &GoalRule)| {
        let starts = starts[usize::from(measure.favoured_by_lxf())].as_deref().unwrap_or_default();
        let start = |place: u32| starts.get(place as usize).copied().unwrap_or(0);
        let terms = table.rows.iter().zip(&table.places).map(|(row, &place)| rule.compute_term(row, start(place)));
        if rule.is_sum() { terms.fold(0, i64::saturating_add) } else { terms.max().unwrap_or(0) }
    };
    Some(objective.measures.iter().zip(&table.rules).map(value).collect())
}

/// A job that runs until it gives back what it has, or cores that are out until then.
struct HeldNeed<'a> {
    end: i64,
    need: JobNeed<'a>,
    /// Its seat, where it has been given one here.
    seat: Option<NodeSeat>,
    /// The node and its cores that are out.
    cores: Option<(u32, i64)>,
    /// Resource whose amount changes, and the change.
    supply: Option<(ResourceId, i64)>,
}

impl HeldNeed<'_> {
    fn give_back(&self, free: &mut OpenRoom) {
        if let Some((node, cores)) = self.cores {
            return free.give_cores(node, cores);
        }
        if let Some((resource, change)) = self.supply {
            return free.alter_resource(resource, change);
        }
        free.return_need(match &self.seat {
            Some(seat) => self.need.on_seat(Some(seat)),
            None => self.need,
        });
    }
}

/// Returns the starts of the waiting jobs in seconds from now, under backfilling with one
/// reservation for the first in the order, which is renewed at every event. No other job arrives
/// and predictions hold. `None` where time was up before.
pub(super) fn backfill_starts<'a>(
    task: &'a GoalTask,
    order: Branching,
    watch: Option<&dyn Stopwatch>,
) -> Option<Vec<i64>> {
    let mut starts = vec![0; task.waiting.len()];
    let mut queue: Vec<usize> = (0..task.waiting.len()).collect();
    let mut free = task.free_room();
    // By end, soonest first.
    let ends = task.ends_and_returns().into_iter();
    let mut held_needs: Vec<HeldNeed<'a>> =
        ends.map(|(end, need)| HeldNeed { end, need, seat: None, cores: None, supply: None }).collect();
    for (end, node, cores) in task.core_returns() {
        let out = HeldNeed { end, need: JobNeed::of_procs(0), seat: None, cores: Some((node, cores)), supply: None };
        held_needs.insert(held_needs.partition_point(|hold| hold.end <= end), out);
    }
    for (end, resource, change) in task.supply_changes() {
        let supply = Some((resource, change));
        let step = HeldNeed { end, need: JobNeed::of_procs(0), seat: None, cores: None, supply };
        held_needs.insert(held_needs.partition_point(|hold| hold.end <= end), step);
    }
    let mut now = 0;
    loop {
        if watch.is_some_and(|watch| watch.is_up()) {
            return None;
        }
        if order == Branching::Lxf {
            let key = |at: usize| {
                let job = &task.waiting[at];
                (i128::from(task.candidate_age(job).saturating_add(now)), i128::from(job.run.max(1)))
            };
            queue.sort_shared_by(|&a, &b| {
                let ((wait_a, run_a), (wait_b, run_b)) = (key(a), key(b));
                (wait_b * run_a).cmp(&(wait_a * run_b)).then(a.cmp(&b))
            });
        }
        let mut start = |at: usize, seat: NodeSeat, free: &mut OpenRoom, running: &mut Vec<HeldNeed<'a>>| {
            let need = task.job_need(at);
            free.take_need(need.on_seat(Some(&seat)));
            starts[at] = now;
            let end = now.saturating_add(task.waiting[at].span.max(1));
            running.insert(
                running.partition_point(|r| r.end <= end),
                HeldNeed { end, need, seat: Some(seat), cores: None, supply: None },
            );
        };
        let heads = queue.iter().take_while(|&&at| {
            let seat = free.find_seat(task.job_need(at));
            let fits = seat.is_some();
            seat.into_iter().for_each(|seat| start(at, seat, &mut free, &mut held_needs));
            fits
        });
        let heads = heads.count();
        queue.drain(..heads);
        let Some(&head) = queue.first() else { return Some(starts) };
        // The shadow time of the head, and what it leaves over then.
        let (mut extra, mut shadow) = (free.clone(), i64::MAX);
        for hold in &held_needs {
            if extra.has_room(task.job_need(head)) && hold.end > shadow {
                break;
            }
            hold.give_back(&mut extra);
            shadow = hold.end;
        }
        let reserved_seat = extra.find_seat(task.job_need(head)).unwrap_or_default();
        extra.take_need(task.job_need(head).on_seat(Some(&reserved_seat)));
        queue.retain(|&at| {
            let in_time = now.saturating_add(task.waiting[at].span.max(1)) <= shadow;
            let need = task.job_need(at);
            let seat = match (at == head, in_time) {
                (true, _) => None,
                (false, true) => free.find_seat(need),
                (false, false) => free.find_beside(&extra, need),
            };
            let Some(seat) = seat else { return true };
            if !in_time {
                extra.take_need(need.on_seat(Some(&seat)));
            }
            start(at, seat, &mut free, &mut held_needs);
            false
        });
        // The next event: the end of the job that ends first. No job is wider than the machine, so
        // one runs.
        let Some(next) = held_needs.first().map(|hold| hold.end) else { return Some(starts) };
        now = next;
        let ended_count = held_needs.partition_point(|r| r.end <= now);
        held_needs.drain(..ended_count).for_each(|hold| hold.give_back(&mut free));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::policy::goal::GoalCandidate;

    /// 4 processors, 2 of them busy until 10. The wide job waits until then; one job of 2
    /// processors fits before, one does not, and the narrow long one takes an extra processor at
    /// the shadow time, if there is one.
    #[test]
    fn one_reservation_by_hand() {
        let job = |submit, procs, span| GoalCandidate {
            submit: Time(submit),
            procs,
            span,
            run: span,
            ..GoalCandidate::default()
        };
        let task = GoalTask {
            now: Time(0),
            free: 2,
            running: vec![(Time(10), 2)],
            waiting: vec![job(-9, 3, 100), job(-8, 2, 11), job(-7, 1, 10), job(-6, 1, 50), job(-5, 1, 9)],
            ..GoalTask::default()
        };
        // FCFS: the head waits until 10 and leaves 1 extra processor. Job 1 is too long; job 2 ends
        // in time; job 3 takes the extra processor; job 4 finds nothing free, gets 2's place at 10,
        // but then the head starts and 3 + 1 are taken. At 50 job 3 ends: job 4 starts. Job 1 needs
        // two processors: at 110.
        assert_eq!(backfill_starts(&task, Branching::Fcfs, None).as_deref(), Some(&[10, 110, 0, 0, 50][..]));
        // LXF: waits over run times are .09, .73, .7, .12, .56: job 1 starts, job 2 waits for 10
        // and holds a reservation. At 10: factors .19, .., 1.7, .32, 1.67: job 2 and 4 start; job 3
        // reserves 11; at 11 job 3 starts. The head is then job 0: at 20 jobs 2 and 4 have ended
        // and 3 processors are free.
        assert_eq!(backfill_starts(&task, Branching::Lxf, None).as_deref(), Some(&[20, 0, 10, 11, 10][..]));
    }
}
