//! Submission behaviour: users and their sessions. Our own model; arrivals themselves are those of
//! [`super::arrivals`].
//!
//! A few users submit most jobs: the activity of the r-th falls as a power of r. People submit in
//! sessions, a few jobs within minutes of each other, sometimes very many. The arrivals are gone
//! through in order of time; each is taken by the session that has been due the longest (its user
//! has thought long enough since the last job) or, where none is due, starts a new one. A session
//! that finds no arrival in time ends: its user went home.

use super::Habits;
use super::random::RandomStream;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Draws users by activity.
struct Activity {
    /// Running sums of the users' weights.
    sums: Vec<f64>,
}

impl Activity {
    fn new(users: u32, exponent: f64) -> Activity {
        let mut sum = 0.0;
        let sums = (1..=users)
            .map(|rank| {
                sum += libm::pow(f64::from(rank), -exponent);
                sum
            })
            .collect();
        Activity { sums }
    }

    fn draw_user(&self, stream: &mut RandomStream) -> u32 {
        let last = self.sums.len() - 1;
        let target = stream.draw_unit() * self.sums[last];
        self.sums[..last].partition_point(|&s| s <= target) as u32
    }
}

/// A session that waits for its next arrival. Ordered by when it is due, then by user.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ArrivalSession {
    /// Time at which its user's think time ends, in seconds.
    due: u64,
    user: u32,
    /// Jobs still to come.
    left: u32,
}

/// The user, 0 … `users` − 1, of each arrival; `times` in seconds, ascending.
pub(super) fn assign_users(
    times: impl Iterator<Item = f64>,
    users: u32,
    habits: &Habits,
    stream: &mut RandomStream,
) -> Vec<u32> {
    let think_log = libm::log(habits.think_time);
    let activity = Activity::new(users, habits.activity);
    let mut waiting_sessions: BinaryHeap<Reverse<ArrivalSession>> = BinaryHeap::new();
    times
        .map(|time| {
            let now = time as u64;
            while waiting_sessions
                .peek()
                .is_some_and(|Reverse(s)| s.due.saturating_add(u64::from(habits.patience)) < now)
            {
                waiting_sessions.pop();
            }
            let is_due = |Reverse(s): &Reverse<ArrivalSession>| s.due <= now;
            let resumed_session = match waiting_sessions.peek() {
                Some(session) if is_due(session) => waiting_sessions.pop(),
                _ => None,
            };
            let (user, remaining_jobs) = match resumed_session {
                Some(Reverse(session)) => (session.user, session.left),
                None => {
                    (activity.draw_user(stream), stream.draw_heavy_tail(habits.session_tail, habits.longest_session))
                }
            };
            if remaining_jobs > 1 {
                let think = libm::exp(think_log + habits.think_scatter * stream.draw_normal());
                waiting_sessions.push(Reverse(ArrivalSession {
                    due: now + think.min(1e9) as u64,
                    user,
                    left: remaining_jobs - 1,
                }));
            }
            user
        })
        .collect()
}
