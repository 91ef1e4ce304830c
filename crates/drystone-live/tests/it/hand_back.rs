//! Jobs that are given back: at the end of a daemon, after its death, with marks overwritten.

use super::daemon_site::{TestDaemon, drive};
use drystone_live::cluster::JobState;
use drystone_live::cluster::fake::FakeRequest;
use drystone_live::daemon::DaemonEnd;
use drystone_live::hand_back::HandBackOptions;
use drystone_live::state::Beat;
use drystone_live::tracker::TrackedPlace;

/// A daemon that was asleep finds the fence and orders nothing.
#[test]
fn a_daemon_that_was_asleep_finds_the_fence() {
    let mut site = drive("easy");
    let mut daemon = site.begin();
    let jobs: Vec<u64> = (0..6).map(|_| site.submit(8, 30, 60)).collect();
    site.work(&mut daemon, 3);
    let summary = site.hand_back(&HandBackOptions::default());
    assert_eq!((summary.released, summary.left.len()), (5, 0), "{summary:?}");
    assert!(jobs.iter().all(|&job| !site.cluster.borrow().is_held(job)));
    site.submit(1, 5, 10);
    let before = site.cluster.borrow().event_record().orders.len();
    assert_eq!(site.work(&mut daemon, 5), Some(DaemonEnd::Fenced));
    assert_eq!(site.cluster.borrow().event_record().orders.len(), before);
    assert_eq!(Beat::read_beat(&site.home().heartbeat_path()), Beat::Off);
}

/// Users' holds stay, whether they were asked for at submission or later; what the hook said last
/// is read where the daemon did not.
#[test]
fn hand_back_leaves_users_holds() {
    let mut site = drive("easy");
    let mut daemon = site.begin();
    site.submit(8, 50, 60);
    let own = {
        let mut request = FakeRequest::new(1, 5, 10);
        request.user_hold = true;
        site.cluster.borrow_mut().submit(request)
    };
    let (later, unread, freed, plain) =
        (site.submit(8, 5, 9), site.submit(8, 5, 9), site.submit(8, 5, 9), site.submit(8, 5, 9));
    let say = |line: String| {
        use std::io::Write;
        let mut file = std::fs::File::options().append(true).open(site.home().wake_path()).expect("there");
        file.write_all(line.as_bytes()).expect("written");
    };
    say(format!("submit\nhold {later}\nhold {freed}\nrelease {freed}\n"));
    site.work(&mut daemon, 3);
    let key = daemon.first_core().tracker().jobs().find(|job| job.key.id == later).expect("known");
    assert_eq!(key.place, TrackedPlace::Held);
    drop(daemon);
    say(format!("hold {unread}\n"));
    std::fs::remove_dir_all(site.home().journal_folder()).expect("removed");
    let summary = site.hand_back(&HandBackOptions::default());
    assert_eq!((summary.released, summary.users), (2, 3), "{summary:?}");
    for (job, is_held) in [(own, true), (later, true), (unread, true), (freed, false), (plain, false)] {
        assert_eq!(site.cluster.borrow().is_held(job), is_held, "{job}");
    }
    assert_eq!(site.hand_back(&HandBackOptions::default()).released, 0, "twice");
}

/// With `priority/basic` each job that is released gets a lower priority than those before it.
#[test]
fn hand_back_releases_in_the_order_of_submission() {
    use drystone_live::cluster::ClusterOrder;
    let mut site = drive("easy");
    let mut daemon = site.begin();
    site.submit(8, 50, 60);
    let waiting: Vec<u64> = (0..6).map(|_| site.submit(8, 5, 9)).collect();
    site.work(&mut daemon, 3);
    let before = site.cluster.borrow().event_record().orders.len();
    drop(daemon);
    site.hand_back(&HandBackOptions::default());
    let cluster = site.cluster.borrow();
    let releases = cluster.event_record().orders[before..].iter();
    let released: Vec<u64> =
        releases.filter_map(|order| if let ClusterOrder::Release(key) = order { Some(key.id) } else { None }).collect();
    assert_eq!(released, waiting);
}

/// An administrator overwrites the comment with the hook's mark: a hand-back knows the job by the
/// ledger, and so does the next daemon. What was held before the daemon came stays held, and is
/// known as its user's. After a hand-back no job bears a mark.
#[test]
fn a_job_whose_mark_is_overwritten_is_not_held_for_ever() {
    use drystone_live::hand_back::{HeldJob, JobHolder};
    for again in [false, true] {
        let mut site = drive("easy");
        let early = {
            let mut cluster = site.cluster.borrow_mut();
            cluster.set_hook(false);
            let early = cluster.submit(FakeRequest { user_hold: true, ..FakeRequest::new(1, 5, 10) });
            cluster.set_hook(true);
            early
        };
        let mut daemon = site.begin();
        site.submit(8, 50, 60);
        let (plain, bare) = (site.submit(8, 5, 9), site.submit(8, 5, 9));
        site.work(&mut daemon, 3);
        site.cluster.borrow_mut().overwrite_comment(bare);
        drop(daemon);
        if again {
            std::fs::remove_dir_all(site.home().journal_folder()).expect("removed");
            let mut daemon = site.begin();
            site.work(&mut daemon, 3);
            let place = daemon.first_core().tracker().jobs().find(|job| job.key.id == bare).map(|job| job.place);
            assert_eq!(place, Some(TrackedPlace::Waiting));
        }
        let summary = site.hand_back(&HandBackOptions::default());
        assert_eq!(summary.released, 2, "{summary:?}");
        assert_eq!(summary.held, [HeldJob { job: early.to_string(), by: JobHolder::User }]);
        assert_eq!([early, plain, bare].map(|job| site.cluster.borrow().is_held(job)), [true, false, false]);
        let has_mark = |job: &drystone_live::cluster::JobFact| job.mark != drystone_live::cluster::HookMark::None;
        assert!(!site.cluster.borrow().true_snapshot().jobs.iter().any(has_mark));
    }
}

/// The comment is overwritten before the daemon has seen the job: the hook tells of it.
#[test]
fn a_mark_that_is_overwritten_at_once_is_not_missed() {
    for dead in [false, true] {
        let mut site = drive("easy");
        let mut daemon = site.begin();
        site.submit(8, 50, 60);
        site.work(&mut daemon, 3);
        let bare = site.submit(8, 5, 9);
        site.cluster.borrow_mut().overwrite_comment(bare);
        std::fs::write(site.home().wake_path(), format!("submit\noverwritten {bare}\n")).expect("written");
        if !dead {
            site.work(&mut daemon, 3);
            let place = daemon.first_core().tracker().jobs().find(|job| job.key.id == bare).map(|job| job.place);
            assert_eq!(place, Some(TrackedPlace::Waiting));
        }
        drop(daemon);
        let summary = site.hand_back(&HandBackOptions::default());
        assert_eq!((summary.released, summary.held.len()), (1, 0), "{summary:?}");
        assert!(!site.cluster.borrow().is_held(bare));
    }
}

/// Neither mark nor ledger says who holds a job: a hand-back names it, once.
#[test]
fn hand_back_names_what_it_leaves_held() {
    use drystone_live::hand_back::{HeldJob, JobHolder};
    let mut site = drive("easy");
    let mut daemon = site.begin();
    site.submit(8, 50, 60);
    let bare = site.submit(8, 5, 9);
    site.work(&mut daemon, 3);
    drop(daemon);
    site.cluster.borrow_mut().overwrite_comment(bare);
    std::fs::remove_file(site.home().ledger_path()).expect("removed");
    let summary = site.hand_back(&HandBackOptions::default());
    assert_eq!((summary.released, summary.is_doubtful()), (0, true), "{summary:?}");
    assert_eq!(summary.held, [HeldJob { job: bare.to_string(), by: JobHolder::Unknown }]);
    assert!(!site.hand_back(&HandBackOptions::default()).is_doubtful(), "users may hold jobs since");
}

/// A hold of its owner that an operator has released since counts no more, whatever a later daemon
/// or a hand-back finds in the wake file, where only the hold is.
#[test]
fn an_operators_release_outlives_the_daemon() {
    use drystone_live::cluster::ClusterOrder;
    use std::io::Write;
    let mut site = drive("easy");
    let mut daemon = site.begin();
    site.submit(8, 60, 90);
    let (free_job, held_job) = (site.submit(8, 5, 10), site.submit(8, 5, 10));
    site.work(&mut daemon, 3);
    let mut file = std::fs::File::options().append(true).open(site.home().wake_path()).expect("there");
    write!(file, "submit\nhold {free_job}\nhold {held_job}\n").expect("written");
    site.work(&mut daemon, 3);
    let place = |daemon: &TestDaemon, number: u64| {
        daemon.first_core().tracker().jobs().find(|job| job.key.id == number).map(|job| job.place)
    };
    assert_eq!(place(&daemon, free_job), Some(TrackedPlace::Held));
    let key = daemon.first_core().tracker().jobs().find(|job| job.key.id == free_job).expect("known").key;
    assert!(site.cluster.borrow_mut().by_hand(&ClusterOrder::Release(key)));
    site.work(&mut daemon, 10);
    // The hold now is the daemon's, as of every job that waits.
    assert!(site.cluster.borrow().is_held(free_job));
    assert_eq!(place(&daemon, free_job), Some(TrackedPlace::Waiting));
    // Restarts begin a new segment each, of which no state is saved yet.
    for _ in 0..2 {
        drop(daemon);
        daemon = site.begin();
        site.work(&mut daemon, 3);
        assert_eq!(place(&daemon, free_job), Some(TrackedPlace::Waiting));
        assert_eq!(place(&daemon, held_job), Some(TrackedPlace::Held));
    }
    drop(daemon);
    site.hand_back(&HandBackOptions::default());
    assert_eq!((site.cluster.borrow().is_held(free_job), site.cluster.borrow().is_held(held_job)), (false, true));
}

/// A job that was submitted with a hold and released by its owner is the policy's, also for a
/// daemon that knows the ledger alone.
#[test]
fn an_owners_release_outlives_the_state_of_a_daemon() {
    let mut site = drive("easy");
    let mut daemon = site.begin();
    site.submit(8, 30, 60);
    let request = FakeRequest { user_hold: true, ..FakeRequest::new(8, 5, 10) };
    let (own, held_job) = {
        let mut cluster = site.cluster.borrow_mut();
        (cluster.submit(request.clone()), cluster.submit(request))
    };
    site.work(&mut daemon, 3);
    std::fs::write(site.home().wake_path(), format!("submit\nrelease {own}\n")).expect("written");
    site.work(&mut daemon, 3);
    drop(daemon);
    site.policy = "conservative";
    // What was read of it is not read again.
    std::fs::write(site.home().wake_path(), "").expect("written");
    let mut daemon = site.begin();
    for _ in 0..200 {
        assert_eq!(site.work(&mut daemon, 1), None);
    }
    assert_eq!(site.cluster.borrow().job_state(own), Some(JobState::Ended(drystone_live::cluster::Ending::Completed)));
    assert!(site.cluster.borrow().is_held(held_job), "no release came");
}

#[test]
fn hand_back_lets_suspended_jobs_go_on() {
    for requeue in [false, true] {
        let mut site = drive("ss(every=5,sf=1.5,width=none)");
        let mut daemon = site.begin();
        for _ in 0..4 {
            site.submit(8, 400, 500);
        }
        for _ in 0..3 {
            site.submit(4, 5, 6);
        }
        for _ in 0..400 {
            site.work(&mut daemon, 1);
            let is_suspended =
                site.cluster.borrow().true_snapshot().jobs.iter().any(|job| job.state == JobState::Suspended);
            if is_suspended {
                break;
            }
        }
        let numbers: Vec<u64> = site
            .cluster
            .borrow()
            .true_snapshot()
            .jobs
            .iter()
            .filter(|job| job.state == JobState::Suspended)
            .map(|job| job.id)
            .collect();
        assert!(!numbers.is_empty(), "the policy suspends something");
        drop(daemon);
        let summary = site.hand_back(&HandBackOptions { requeue, ..HandBackOptions::default() });
        assert_eq!(summary.left, [] as [String; 0]);
        let after = site.cluster.borrow().true_snapshot();
        assert!(after.jobs.iter().all(|job| job.state != JobState::Suspended), "{summary:?}");
        assert!(after.jobs.iter().all(|job| !(job.state == JobState::Pending && job.held)), "{summary:?}");
    }
}

#[test]
fn hand_back_if_silent_waits_for_silence() {
    let mut site = drive("easy");
    let mut daemon = site.begin();
    site.submit(8, 5, 9);
    site.work(&mut daemon, 2);
    // The heartbeat is of the made-up clock, which is long ago: as if the daemon had been silent
    // ever since.
    let options = HandBackOptions { if_silent: Some(1 << 40), ..HandBackOptions::default() };
    let summary = site.hand_back(&options);
    assert!(summary.skipped.is_some_and(|reason| reason.contains("daemon 1 beat")));
    let summary = site.hand_back(&HandBackOptions { if_silent: Some(120), ..HandBackOptions::default() });
    assert_eq!(summary.skipped, None);
    assert_eq!(Beat::read_beat(&site.home().heartbeat_path()), Beat::Off);
}
