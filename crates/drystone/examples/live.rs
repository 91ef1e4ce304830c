//! Drives a policy as a live cluster would: events come in when they happen, orders go out, and the
//! state is saved and restored in between. The "cluster" is a list of three jobs and a clock.
//!
//! ```text
//! cargo run -p drystone --example live
//! ```

use drystone::engine::Session;
use drystone::model::{Job, JobId, Machine, Span, Time};
use drystone::policy::{Action, PolicySpec};
use std::error::Error;

/// Processors, estimate, true run time: what the cluster knows when the job has ended.
const JOBS: [(u32, i64, i64); 3] = [(3, 100, 60), (4, 100, 100), (1, 50, 50)];

fn session() -> Result<Session, Box<dyn Error>> {
    let policy: PolicySpec = "easy(predict=recent(2))".parse()?;
    Ok(Session::new(Machine::new(4), policy.build_scheduler()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut session = session()?;
    // When the running jobs will end. A real cluster does not know, and tells when they have.
    let mut ends: Vec<(Time, JobId)> = Vec::new();
    for (procs, estimate, _) in JOBS {
        session.note_arrival(Time(0), &Job::new(Time(0), procs, Span(estimate)), None)?;
    }
    let mut now = Time(0);
    loop {
        for action in session.decide(now)?.list() {
            match *action {
                Action::Start { job, .. } => {
                    println!("{now:>4} s: start job {job}");
                    ends.push((now + Span(JOBS[job.index()].2), job));
                }
                Action::Reserve { job, start, .. } => println!("{now:>4} s: job {job} is planned for {start} s"),
                // `easy` asks for nothing else; another policy may suspend, resume or kill.
                _ => {}
            }
        }
        // A daemon may be stopped here and go on after a restart.
        let bytes = session.save()?;
        session = self::session()?;
        session.load(&bytes)?;

        let Some(next) = ends.iter().map(|&(end, _)| end).chain(session.next_due_time()).min() else { break };
        now = next;
        ends.sort();
        while let Some(&(end, job)) = ends.first().filter(|&&(end, _)| end <= now) {
            println!("{end:>4} s: job {job} has ended");
            session.end_job(now, job);
            ends.remove(0);
        }
        session.expire_due(now);
    }
    Ok(())
}
