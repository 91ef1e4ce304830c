//! An explanation for machines: the same story, with the log's job numbers, as data.

use super::{Chapter, Explanation, JobWhatIf};
use crate::model::{Adopted, JobId, Procs, Span, Time};
use crate::policy::{Moved, StartReason};
use serde::{Serialize, Serializer};

/// A job and its story. Times and spans are seconds, as in the log.
#[derive(Serialize)]
struct ToldStory {
    job: AskedJob,
    story: Vec<ToldEvent>,
    what_if: Vec<ToldAlternative>,
}

#[derive(Serialize)]
struct AskedJob {
    number: i64,
    procs: Procs,
    estimate: Span,
    submit: Time,
    start: Option<Time>,
}

#[derive(Serialize)]
struct ToldEvent {
    at: Time,
    #[serde(flatten)]
    what: ToldKind,
    /// As people read it.
    text: String,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum ToldKind {
    Arrived {
        waiting: u32,
        running: u32,
        free: Procs,
    },
    Adopted {
        state: &'static str,
        since: Option<Time>,
        ran: Option<Span>,
    },
    Held,
    Limited {
        of: String,
        reason: String,
    },
    Short {
        resource: String,
        asks: String,
        there: String,
    },
    Released,
    Requeued {
        ran: Span,
    },
    Lost {
        ran: Span,
    },
    Planned {
        start: Time,
        latest: Option<Time>,
        arrived: Vec<i64>,
        ended: Vec<i64>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        outage: bool,
    },
    Rearranged {
        from: Time,
        to: Time,
        price: f64,
    },
    Moved {
        from: Time,
        to: Time,
        latest: Option<Time>,
        favour: Option<i64>,
        price: f64,
    },
    Displaced {
        job: i64,
        from: Time,
        to: Time,
        price: f64,
    },
    Started {
        why: &'static str,
    },
    Sized {
        procs: Procs,
    },
    Resized {
        from: Procs,
        to: Procs,
    },
    Paced {
        /// Share of the full speed.
        speed: f64,
        /// Draw of each processor, above idle.
        watts: u64,
    },
    Asked {
        procs: Procs,
    },
    Suspended,
    Resumed,
    Repredicted {
        prediction: Span,
    },
    Withdrawn,
    Ended {
        ran: Span,
    },
}

#[derive(Serialize)]
struct ToldAlternative {
    #[serde(flatten)]
    change: ToldChange,
    start: Option<Time>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum ToldChange {
    Estimate(Span),
    Procs(Procs),
}

impl Explanation<'_> {
    fn told_kind(&self, chapter: &Chapter) -> ToldKind {
        let numbers = |ids: &[JobId]| ids.iter().map(|&id| self.job_number(id)).collect();
        // Without a bound there is no latest start.
        let bound = |latest: Time| (latest < Time::MAX).then_some(latest);
        match chapter {
            Chapter::Arrived { waiting, running, free } => {
                ToldKind::Arrived { waiting: *waiting, running: *running, free: *free }
            }
            Chapter::Promised { start, latest, when } => ToldKind::Planned {
                start: *start,
                latest: bound(*latest),
                arrived: numbers(&when.arrived),
                ended: numbers(&when.ended),
                outage: when.capacity,
            },
            Chapter::Adopted(adoption) => {
                let (state, since, ran) = match adoption {
                    Adopted::Waiting => ("waiting", None, None),
                    Adopted::Held => ("held", None, None),
                    Adopted::Running { since, .. } => ("running", Some(*since), None),
                    Adopted::Suspended { ran, .. } => ("suspended", None, Some(*ran)),
                };
                ToldKind::Adopted { state, since, ran }
            }
            Chapter::Held => ToldKind::Held,
            Chapter::Limited { of, reason } => ToldKind::Limited { of: of.clone(), reason: reason.clone() },
            Chapter::Short { resource, asks, there } => {
                ToldKind::Short { resource: resource.clone(), asks: asks.clone(), there: there.clone() }
            }
            Chapter::Released => ToldKind::Released,
            Chapter::Requeued(ran) => ToldKind::Requeued { ran: *ran },
            Chapter::Lost(ran) => ToldKind::Lost { ran: *ran },
            Chapter::Moved { moved: Moved { favour: Some(by), from, to, price, .. }, .. } if *by == self.id => {
                ToldKind::Rearranged { from: *from, to: *to, price: *price }
            }
            Chapter::Moved { moved: Moved { favour, from, to, price, .. }, latest } => ToldKind::Moved {
                from: *from,
                to: *to,
                latest: latest.and_then(bound),
                favour: favour.map(|id| self.job_number(id)),
                price: *price,
            },
            Chapter::Displaced(Moved { job, from, to, price, .. }) => {
                ToldKind::Displaced { job: self.job_number(*job), from: *from, to: *to, price: *price }
            }
            Chapter::Started(reason) => ToldKind::Started { why: reason_word(*reason) },
            Chapter::Sized(procs) => ToldKind::Sized { procs: *procs },
            Chapter::Resized(from, to) => ToldKind::Resized { from: *from, to: *to },
            Chapter::Paced(pace) => ToldKind::Paced { speed: pace.speed.as_f64(), watts: pace.watts },
            Chapter::Asked(procs) => ToldKind::Asked { procs: *procs },
            Chapter::Suspended => ToldKind::Suspended,
            Chapter::Resumed => ToldKind::Resumed,
            Chapter::Repredicted(prediction) => ToldKind::Repredicted { prediction: *prediction },
            Chapter::Cancelled => ToldKind::Withdrawn,
            Chapter::Ended(ran) => ToldKind::Ended { ran: *ran },
        }
    }
}

fn reason_word(reason: StartReason) -> &'static str {
    match reason {
        StartReason::Head => "head",
        StartReason::Backfilled => "backfilled",
        StartReason::Planned => "planned",
        StartReason::Preempting => "preempting",
    }
}

impl Serialize for Explanation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let job = self.workload.job(self.id);
        let told_story = ToldStory {
            job: AskedJob {
                number: self.job_number(self.id),
                procs: job.procs,
                estimate: job.estimate,
                submit: job.submit,
                start: self.story.start,
            },
            story: self
                .story
                .chapters
                .iter()
                .map(|(at, chapter)| ToldEvent {
                    at: *at,
                    what: self.told_kind(chapter),
                    text: self.tell_chapter(*at, chapter, &super::LogSeconds),
                })
                .collect(),
            what_if: self
                .what_if
                .iter()
                .map(|&(change, start)| ToldAlternative {
                    change: match change {
                        JobWhatIf::Estimate(span) => ToldChange::Estimate(span),
                        JobWhatIf::Procs(procs) => ToldChange::Procs(procs),
                    },
                    start,
                })
                .collect(),
        };
        told_story.serialize(serializer)
    }
}
