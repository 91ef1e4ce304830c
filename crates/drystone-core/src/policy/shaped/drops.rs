//! Treatment of running jobs when power has fallen below what they draw.

use super::scene::{PassScene, SizedRunner};
use super::{DropRule, ShapedEasy};
use crate::model::{JobId, Procs, UNLIMITED};
use crate::policy::{Action, Actions};
use std::cmp::Reverse;

impl ShapedEasy {
    /// Treats running jobs as `drop` says when power has fallen below what they draw. Returns the
    /// requeued ones.
    pub(super) fn heed_drop(&mut self, scene: &mut PassScene<'_>, actions: &mut Actions) -> Vec<JobId> {
        let mut back = Vec::new();
        if self.choices.drop == DropRule::None || scene.room.free_now().1 >= UNLIMITED / 2 {
            return back;
        }
        if matches!(self.choices.drop, DropRule::Shrink | DropRule::Pace) {
            while self.choices.drop == DropRule::Pace && slow_job(scene, actions) {}
            while shrink_most(scene, actions) {}
            // Other changes of jobs that are slower from now on wait for the next pass.
            for runner in scene.runners.iter_mut().filter(|runner| runner.pace != scene.view.job_pace(runner.id)) {
                runner.movable = false;
            }
            return back;
        }
        let mut over = -scene.room.free_now().1;
        while over > 0 {
            let Some(at) = scene.runners.iter().rposition(|runner| runner.watts > 0) else { return back };
            let runner = scene.runners.remove(at);
            over -= i64::from(runner.spans.0.procs) * runner.watts;
            if self.choices.drop == DropRule::Kill {
                // The job holds its processors until the machine reports its end, at this instant.
                actions.push(Action::Kill(runner.id));
                continue;
            }
            PassScene::change_room(&runner, &mut scene.room, 1);
            match self.choices.drop {
                DropRule::Suspend => scene.cut.push(runner),
                DropRule::None | DropRule::Shrink | DropRule::Pace | DropRule::Requeue | DropRule::Kill => {
                    actions.push(Action::Requeue(runner.id));
                    back.push(runner.id);
                }
            }
        }
        back
    }
}

/// Slows down the job that saves most watts at its slowest pace, by no more than needed. Returns
/// whether that was necessary and there was such a job.
fn slow_job(scene: &mut PassScene<'_>, actions: &mut Actions) -> bool {
    let over = -scene.room.free_now().1 - scene.going_watts();
    if over <= 0 {
        return false;
    }
    let view = scene.view;
    let saves = |runner: &SizedRunner, pace| (runner.watts - view.watts_at(runner.id, pace)) * i64::from(runner.size);
    let slowest = |runner: &SizedRunner| {
        let may_slow = view.last_start(runner.id) < scene.now && runner.spans.1.is_none();
        view.job_shape(runner.id).filter(|_| may_slow)?.slower_paces().next_back().filter(|pace| *pace > runner.pace)
    };
    let able = scene.runners.iter().enumerate().filter_map(|(at, runner)| Some((at, runner.id, slowest(runner)?)));
    let slow = able.min_by_key(|&(at, id, slowest)| (Reverse(saves(&scene.runners[at], slowest)), id));
    let Some((at, _, slowest)) = slow else { return false };
    let runner = &scene.runners[at];
    let pace = (runner.pace + 1..slowest).find(|&pace| saves(runner, pace) >= over).unwrap_or(slowest);
    scene.set_pace(at, pace, actions);
    true
}

/// Shrinks the job that has most processors above its smallest size, by no more than needed.
/// Returns whether that was necessary and there was such a job.
fn shrink_most(scene: &mut PassScene<'_>, actions: &mut Actions) -> bool {
    let over = -scene.room.free_now().1 - scene.going_watts();
    if over <= 0 {
        return false;
    }
    let surplus = |runner: &SizedRunner| {
        let min = scene.view.job_shape(runner.id).map_or(runner.size, |shape| shape.sizes.min());
        (runner.movable && runner.watts > 0 && runner.size > min).then(|| runner.size - min)
    };
    let givers = scene.runners.iter().enumerate().filter_map(|(at, runner)| Some((at, runner.id, surplus(runner)?)));
    let giver = givers.min_by_key(|(_, id, surplus)| (Reverse(*surplus), *id));
    let Some((at, id, _)) = giver else { return false };
    let (runner, Some(shape)) = (&scene.runners[at], scene.view.job_shape(id)) else { return false };
    let less = Procs::try_from(over.div_euclid(runner.watts) + i64::from(over.rem_euclid(runner.watts) > 0));
    let most = runner.size.saturating_sub(less.unwrap_or(Procs::MAX));
    let to = shape.sizes.at_most(most).unwrap_or(shape.sizes.min());
    scene.resize_job(at, to, true, actions);
    true
}
