//! Announcements of outages to a scheduler, and their times.

use crate::engine::source::{OutageTurn, Stroke};
use crate::model::{OutageHit, Outages, SharedSort, Time};
use crate::policy::CapacityLoss;
use serde::{Deserialize, Serialize};

/// Event of an outage.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum OutageEvent {
    /// Its processors are back.
    End,
    /// They were expected to be, and are not.
    Overdue,
    Announced,
    /// Its processors go.
    Begin,
}

/// All that happens with outages, in order.
#[derive(Clone, Debug)]
pub(super) struct Timetable<'a> {
    outages: &'a Outages,
    events: Vec<(Time, OutageEvent, usize)>,
    /// Losses that make up the last announced turn.
    losses: Vec<CapacityLoss>,
    strokes: Vec<Stroke>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct OutageState {
    next: usize,
    /// Outages that the scheduler knows of and that are not over, and whether each has begun.
    known: Vec<(usize, bool)>,
}

impl<'a> Timetable<'a> {
    pub(super) fn new(outages: &'a Outages) -> Timetable<'a> {
        let mut events = Vec::new();
        for (at, outage) in outages.list().iter().enumerate() {
            let known_time = outage.known_time();
            if known_time < outage.begin {
                events.push((known_time, OutageEvent::Announced, at));
            }
            events.push((outage.begin, OutageEvent::Begin, at));
            if let Some(end) = outage.end {
                events.push((end, OutageEvent::End, at));
            }
            if let Some(expected) = outage.expected.filter(|&expected| expected < outage.end_time()) {
                events.push((expected, OutageEvent::Overdue, at));
            }
        }
        events.sort_shared();
        Timetable { outages, events, losses: Vec::new(), strokes: Vec::new() }
    }

    pub(super) fn next(&self, s: &OutageState) -> Option<Time> {
        self.events.get(s.next).map(|event| event.0)
    }

    /// Everything that happened before the first instant: no job was there to be hit.
    pub(super) fn opening_turn(&mut self, s: &mut OutageState, first: Time) -> OutageTurn<'_> {
        while self.next(s).is_some_and(|time| time < first) {
            self.take_event(s);
        }
        self.strokes.clear();
        self.announce_losses(s, true, first)
    }

    /// Returns whether the next event is a return of processors.
    pub(super) fn comes_back(&self, s: &OutageState) -> bool {
        self.events.get(s.next).is_some_and(|event| event.1 == OutageEvent::End)
    }

    /// Applies the events of now: first processors come back, then all the rest happens.
    pub(super) fn turn_at(&mut self, s: &mut OutageState, now: Time) -> OutageTurn<'_> {
        let mut foreseen = true;
        self.strokes.clear();
        let back = self.comes_back(s);
        while self.next(s) == Some(now) && self.comes_back(s) == back {
            foreseen &= self.take_event(s);
        }
        self.announce_losses(s, foreseen, now)
    }

    /// The next thing happens. Returns whether it was known that it would.
    fn take_event(&mut self, s: &mut OutageState) -> bool {
        let (_, event, at) = self.events[s.next];
        s.next += 1;
        let outage = &self.outages.list()[at];
        match event {
            OutageEvent::End => {
                s.known.retain(|entry| entry.0 != at);
                // What comes back unexpectedly may bring back jobs that no plan could hold.
                outage.expected == outage.end
            }
            OutageEvent::Overdue => false,
            OutageEvent::Announced => {
                s.known.push((at, false));
                false
            }
            OutageEvent::Begin => {
                let is_announced = outage.known_time() < outage.begin;
                match s.known.iter_mut().find(|entry| entry.0 == at) {
                    Some(entry) => entry.1 = true,
                    None => s.known.push((at, true)),
                }
                self.strokes.push(Stroke {
                    on: self.outages.processors_of(at).clone(),
                    hit: outage.hit,
                    foreseen: is_announced,
                    for_good: outage.end.is_none() && outage.hit == OutageHit::Drain,
                });
                is_announced
            }
        }
    }

    fn announce_losses(&mut self, s: &OutageState, foreseen: bool, now: Time) -> OutageTurn<'_> {
        // One that begins at this instant does so in a turn of its own.
        let known_outages = s.known.iter().filter(|(at, has_begun)| *has_begun || self.outages.list()[*at].begin > now);
        let loss = |&(at, _): &(usize, bool)| {
            let outage = &self.outages.list()[at];
            CapacityLoss {
                on: self.outages.processors_of(at).clone(),
                from: outage.begin,
                until: outage.expected.unwrap_or(Time::MAX),
            }
        };
        self.losses = known_outages.map(loss).collect();
        OutageTurn { losses: &self.losses, strokes: &self.strokes, foreseen }
    }
}
