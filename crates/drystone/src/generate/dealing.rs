//! Deals campaigns to users, and so jobs to arrivals.
//!
//! Each user gets as many jobs as arrivals: whole campaigns as far as they go, the last one cut
//! (its rest goes to the next user: two people of one project). A user's campaigns are more alike
//! than other people's, since people have a machine's worth of habits: campaigns are dealt in the
//! order in which they were cut, but each moved by a random part of the list. Then every user works
//! through the own campaigns in random order, one after the other, session by session.

use super::Habits;
use super::campaigns::Campaigns;
use super::random::RandomStream;
use crate::model::SharedSort;

/// Jobs of each arrival.
pub(super) struct Dealt {
    pub(super) job: Vec<u32>,
    pub(super) campaign: Vec<u32>,
}

/// Part of a campaign: jobs of one user.
#[derive(Clone, Copy)]
struct CampaignPiece {
    campaign: u32,
    /// Position of its first job in the order of the campaigns.
    start: u32,
    jobs: u32,
}

/// Deals the jobs of all campaigns to arrivals whose users are given (0 … `users` − 1).
///
/// Cost: O(n log n).
pub(super) fn deal_jobs(
    campaigns: &Campaigns,
    user_of: &[u32],
    users: u32,
    habits: &Habits,
    stream: &mut RandomStream,
) -> Dealt {
    let mut job_counts = vec![0_u32; users as usize];
    for &user in user_of {
        job_counts[user as usize] += 1;
    }
    let mut hands = deal_hands(campaigns, &job_counts, habits, stream);
    let mut assignment = Dealt { job: Vec::with_capacity(user_of.len()), campaign: Vec::with_capacity(user_of.len()) };
    for &user in user_of {
        let hand = &mut hands[user as usize];
        // A user has as many jobs as arrivals, so that the hand is never empty here.
        let Some(piece) = hand.last_mut() else {
            continue;
        };
        assignment.job.push(campaigns.order[piece.start as usize]);
        assignment.campaign.push(piece.campaign);
        piece.start += 1;
        piece.jobs -= 1;
        if piece.jobs == 0 {
            hand.pop();
        }
    }
    assignment
}

/// The pieces of each user, in random order; user u's add up to `wanted[u]` jobs.
fn deal_hands(
    campaigns: &Campaigns,
    targets: &[u32],
    habits: &Habits,
    stream: &mut RandomStream,
) -> Vec<Vec<CampaignPiece>> {
    let mut pieces = move_pieces(campaigns, habits.variety, stream).into_iter();
    let mut rest: Option<CampaignPiece> = None;
    let mut users: Vec<usize> = (0..targets.len()).collect();
    stream.shuffle(&mut users);
    let mut hands = vec![Vec::new(); targets.len()];
    for user in users {
        let mut open = targets[user];
        while open > 0 {
            let Some(piece) = rest.take().or_else(|| pieces.next()) else {
                break;
            };
            let jobs = piece.jobs.min(open);
            hands[user].push(CampaignPiece { jobs, ..piece });
            open -= jobs;
            if jobs < piece.jobs {
                rest = Some(CampaignPiece {
                    campaign: piece.campaign,
                    start: piece.start + jobs,
                    jobs: piece.jobs - jobs,
                });
            }
        }
        stream.shuffle(&mut hands[user]);
    }
    hands
}

/// All campaigns as pieces, each moved by at most the part `variety` of the list, which is taken as
/// a ring.
fn move_pieces(campaigns: &Campaigns, variety: f64, stream: &mut RandomStream) -> Vec<CampaignPiece> {
    let count = campaigns.len();
    let mut keyed_pieces: Vec<(f64, CampaignPiece)> = (0..count)
        .map(|c| {
            let start = campaigns.starts[c];
            let piece = CampaignPiece { campaign: c as u32, start, jobs: campaigns.starts[c + 1] - start };
            let place = c as f64 / count as f64 + variety * stream.draw_unit();
            (place - libm::floor(place), piece)
        })
        .collect();
    keyed_pieces.sort_shared_by(|a, b| a.0.total_cmp(&b.0));
    keyed_pieces.into_iter().map(|(_, piece)| piece).collect()
}
