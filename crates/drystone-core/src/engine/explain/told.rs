//! An explanation for machines: the same story, with the log's job numbers, as data.

use super::{Chapter, Explanation, WhatIf};
use crate::model::{Adopted, JobId, Procs, Span, Time};
use crate::policy::{Moved, Why};
use serde::{Serialize, Serializer};

/// A job and its story. Times and spans are seconds, as in the log.
#[derive(Serialize)]
struct Told {
    job: Asked,
    story: Vec<Event>,
    what_if: Vec<Alternative>,
}

/// The job that was asked about.
#[derive(Serialize)]
struct Asked {
    number: i64,
    procs: Procs,
    estimate: Span,
    submit: Time,
    start: Option<Time>,
}

#[derive(Serialize)]
struct Event {
    at: Time,
    #[serde(flatten)]
    what: What,
    /// As people read it.
    text: String,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum What {
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
struct Alternative {
    #[serde(flatten)]
    change: Change,
    start: Option<Time>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    Estimate(Span),
    Procs(Procs),
}

impl Explanation<'_> {
    fn what(&self, chapter: &Chapter) -> What {
        let numbers = |ids: &[JobId]| ids.iter().map(|&id| self.number(id)).collect();
        // Without a bound there is no latest start.
        let bound = |latest: Time| (latest < Time::MAX).then_some(latest);
        match chapter {
            Chapter::Arrived { waiting, running, free } => {
                What::Arrived { waiting: *waiting, running: *running, free: *free }
            }
            Chapter::Promised { start, latest, when } => What::Planned {
                start: *start,
                latest: bound(*latest),
                arrived: numbers(&when.arrived),
                ended: numbers(&when.ended),
                outage: when.outage,
            },
            Chapter::Adopted(adopted) => {
                let (state, since, ran) = match adopted {
                    Adopted::Waiting => ("waiting", None, None),
                    Adopted::Held => ("held", None, None),
                    Adopted::Running { since, .. } => ("running", Some(*since), None),
                    Adopted::Suspended { ran, .. } => ("suspended", None, Some(*ran)),
                };
                What::Adopted { state, since, ran }
            }
            Chapter::Held => What::Held,
            Chapter::Released => What::Released,
            Chapter::Requeued(ran) => What::Requeued { ran: *ran },
            Chapter::Lost(ran) => What::Lost { ran: *ran },
            Chapter::Moved { moved: Moved { favour: Some(by), from, to, price, .. }, .. } if *by == self.id => {
                What::Rearranged { from: *from, to: *to, price: *price }
            }
            Chapter::Moved { moved: Moved { favour, from, to, price, .. }, latest } => What::Moved {
                from: *from,
                to: *to,
                latest: latest.and_then(bound),
                favour: favour.map(|id| self.number(id)),
                price: *price,
            },
            Chapter::Displaced(Moved { job, from, to, price, .. }) => {
                What::Displaced { job: self.number(*job), from: *from, to: *to, price: *price }
            }
            Chapter::Started(why) => What::Started { why: word(*why) },
            Chapter::Suspended => What::Suspended,
            Chapter::Resumed => What::Resumed,
            Chapter::Repredicted(prediction) => What::Repredicted { prediction: *prediction },
            Chapter::Cancelled => What::Withdrawn,
            Chapter::Ended(ran) => What::Ended { ran: *ran },
        }
    }
}

fn word(why: Why) -> &'static str {
    match why {
        Why::Head => "head",
        Why::Backfilled => "backfilled",
        Why::Planned => "planned",
        Why::Preempting => "preempting",
    }
}

impl Serialize for Explanation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let job = self.workload.job(self.id);
        let told = Told {
            job: Asked {
                number: self.number(self.id),
                procs: job.procs,
                estimate: job.estimate,
                submit: job.submit,
                start: self.story.start,
            },
            story: self
                .story
                .chapters
                .iter()
                .map(|(at, chapter)| Event {
                    at: *at,
                    what: self.what(chapter),
                    text: self.tell(*at, chapter, &super::Seconds),
                })
                .collect(),
            what_if: self
                .what_if
                .iter()
                .map(|&(change, start)| Alternative {
                    change: match change {
                        WhatIf::Estimate(span) => Change::Estimate(span),
                        WhatIf::Procs(procs) => Change::Procs(procs),
                    },
                    start,
                })
                .collect(),
        };
        told.serialize(serializer)
    }
}
