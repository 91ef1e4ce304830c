//! A schedule as a Gantt chart: processors up, time across.

use crate::charts::{DrawError, Drawing, run_drawing};
use crate::document::{DocumentTable, TableValue};
use crate::html::escape_html;
use crate::number::{format_duration, format_plural};
use crate::page::render_shell;
use crate::{assets, charts};
use drystone::engine::explain::{Biography, Chapter};
use drystone::engine::{Segment, SegmentEnd};
use drystone::model::{JobId, ProcSet, Procs, Time, Workload};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The schema of the data in a page.
pub const GANTT: &str = "drystone/gantt/1";

/// A schedule in a window of time, ready to be drawn.
///
/// Its lists are flat, so that 100,000 jobs make a page of a few megabytes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Gantt {
    schema: &'static str,
    pub workload: String,
    /// The policy as it can be given again.
    pub policy: String,
    pub procs: Procs,
    /// The window.
    pub from: Time,
    /// Its end.
    pub until: Time,
    /// True if rows are only packed: the policy counts processors and names none.
    pub packed: bool,
    jobs: GanttJobs,
    /// Rectangles, five numbers each: index of the job, start, end, lowest row, row above the
    /// highest; negative index − 1 where the job neither ended then nor changed its size: it was
    /// suspended, or an outage hit it.
    bars: Vec<i64>,
    /// Times in which jobs were suspended, five numbers each, as above; at the rows that they ran
    /// on before.
    gaps: Vec<i64>,
    /// The job that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<PromiseMark>,
    /// Inputs that determined the schedule, if known.
    #[serde(skip_serializing_if = "Value::is_null")]
    determined: Value,
}

/// Facts about each job, in parallel lists.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
struct GanttJobs {
    number: Vec<i64>,
    user: Vec<i32>,
    /// Class of run time, 0 to 3.
    class: Vec<u8>,
    submit: Vec<Time>,
    start: Vec<Time>,
    procs: Vec<Procs>,
    estimate: Vec<i64>,
    run: Vec<i64>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PromiseMark {
    /// The log's number of the job.
    pub number: i64,
    pub procs: Procs,
    pub submit: Time,
    pub start: Option<Time>,
    /// The run time asked for, in seconds.
    pub estimate: i64,
    /// (announced when, planned start): where processors were reserved for it. For the first of a
    /// queue under EASY this is the shadow time.
    pub reserved: Vec<(Time, Time)>,
}

impl PromiseMark {
    pub fn from_story(workload: &Workload, id: JobId, story: &Biography) -> PromiseMark {
        let job = workload.job(id);
        let planned_start = |(at, chapter): &(Time, Chapter)| match chapter {
            Chapter::Promised { start, .. } => Some((*at, *start)),
            Chapter::Moved { moved, .. } => Some((*at, moved.to)),
            _ => None,
        };
        PromiseMark {
            number: workload.truth()[id.index()].number,
            procs: job.procs,
            submit: job.submit,
            start: story.start_time(),
            estimate: job.estimate.0,
            reserved: story.chapters().iter().filter_map(planned_start).collect(),
        }
    }
}

impl Gantt {
    /// The part of a schedule between two times. Where segments have no processors, rows are
    /// packed: every segment gets the lowest free rows, together where that is possible.
    ///
    /// Cost: O(n log n) for n segments, with few free ranges at a time.
    pub fn new(
        workload: &Workload,
        policy: &str,
        segments: &[Segment],
        window: (Option<Time>, Option<Time>),
        mark: Option<PromiseMark>,
    ) -> Gantt {
        let mut order: Vec<&Segment> = segments.iter().filter(|s| s.end > s.start).collect();
        order.sort_by_key(|s| (s.start, s.job));
        let is_packed = order.iter().any(|s| s.on.is_none());
        let places = if is_packed { pack_segments(&order, workload.machine().procs) } else { Vec::new() };
        let first = order.first().map_or(Time::ZERO, |s| s.start);
        let last = order.iter().map(|s| s.end).max().unwrap_or(Time::ZERO);
        let from = window.0.unwrap_or(first);
        let until = window.1.unwrap_or(last).max(from);
        let mut gantt = Gantt {
            schema: GANTT,
            workload: workload.provenance.name.clone(),
            policy: policy.to_string(),
            procs: workload.machine().procs,
            from,
            until,
            packed: is_packed,
            jobs: GanttJobs::default(),
            bars: Vec::new(),
            gaps: Vec::new(),
            mark,
            determined: Value::Null,
        };
        let starts = first_starts(&order);
        let mut index: BTreeMap<JobId, i64> = BTreeMap::new();
        let mut open_jobs: BTreeMap<JobId, (Time, &ProcSet)> = BTreeMap::new();
        for (at, segment) in order.iter().enumerate() {
            let Some(on) = segment.on.as_ref().or_else(|| places.get(at)) else { continue };
            let gap = open_jobs.remove(&segment.job);
            if segment.then == SegmentEnd::Suspended {
                open_jobs.insert(segment.job, (segment.end, on));
            }
            let inside = |start: Time, end: Time| start < until && end > from;
            let was_away = gap.filter(|(since, _)| inside(*since, segment.start));
            let is_here = inside(segment.start, segment.end);
            if was_away.is_none() && !is_here {
                continue;
            }
            let next = index.len() as i64;
            let job = *index.entry(segment.job).or_insert(next);
            if job == next {
                gantt.jobs.push(workload, segment.job, starts.get(&segment.job).copied().unwrap_or(segment.start));
            }
            if let Some((since, rows)) = was_away {
                push(&mut gantt.gaps, job, since, segment.start, rows);
            }
            if is_here {
                let goes_on = matches!(segment.then, SegmentEnd::Ended | SegmentEnd::Resized | SegmentEnd::Paced);
                push(&mut gantt.bars, if goes_on { job } else { -job - 1 }, segment.start, segment.end, on);
            }
        }
        gantt
    }

    /// Tells what determined the schedule: the data, the page and files of the drawing carry it.
    pub fn determined_by(self, provenance: Value) -> Gantt {
        Gantt { determined: provenance, ..self }
    }

    /// Number of jobs in the window.
    pub fn jobs(&self) -> usize {
        self.jobs.number.len()
    }

    /// True if anything of the job that was asked for lies in the window: its run, its submit,
    /// or a planned start.
    pub fn shows_mark(&self) -> bool {
        let inside = |time: Time| self.from <= time && time < self.until;
        self.mark.as_ref().is_some_and(|mark| {
            self.jobs.number.contains(&mark.number)
                || inside(mark.submit)
                || mark.reserved.iter().any(|&(_, start)| inside(start))
        })
    }

    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// As one HTML file: to be zoomed, moved, hovered, coloured. Needs no network.
    pub fn render_page(&self, colour: Colour) -> String {
        let mut data = self.to_json();
        data["colour"] = Value::from(colour.name());
        let title = format!("{} on {} – Drystone", self.policy, self.workload);
        let rows = if self.packed {
            "rows are packed: this policy counts processors and names none"
        } else {
            "rows are processors"
        };
        let mut main = format!(
            "<header><div><h1>{} on {}</h1><p class=\"facts\">{} on {} over {}; {rows}</p></div><button \
             type=\"button\" id=\"theme\" hidden>Theme: automatic</button></header>\n<main>\n<noscript><p class=\"note\">The \
             chart needs JavaScript.</p></noscript>\n<div id=\"tools\" class=\"tools\" hidden><label>Colour by <select \
             id=\"colour\"><option value=\"user\">user</option><option value=\"class\">run time</option><option \
             value=\"wait\">wait</option></select></label><button type=\"button\" id=\"whole\">Whole window</button><span \
             id=\"detail\" class=\"note\" role=\"status\"></span></div>\n<figure><div class=\"plot\" id=\"gantt\" \
             tabindex=\"0\"></div></figure>\n<p class=\"note\">Drag to move, Ctrl and wheel or pinch to zoom; arrow keys move, + \
             and − zoom. Where jobs are narrower than the screen can show, shades tell how busy processors were and colours whose most of it was. A dark edge \
             on the right: suspended then; a thin line leads to where the job went on.</p>\n",
            escape_html(&self.policy),
            escape_html(&self.workload),
            format_plural(self.jobs() as u64, "job"),
            format_plural(u64::from(self.procs), "processor"),
            format_duration((self.until - self.from).as_f64()),
        );
        if let Some(mark) = &self.mark {
            main.push_str(&mark.format_table());
        }
        main.push_str("</main>\n");
        render_shell(&title, &main, &data, &[assets::ECHARTS, charts::SCRIPT, assets::GANTT_JS, assets::GANTT_PAGE_JS])
    }

    /// As a drawing.
    ///
    /// # Errors
    /// Mistakes in the JavaScript of the chart.
    pub fn draw_chart(&self, colour: Colour, width: u32, height: u32) -> Result<Drawing, DrawError> {
        let data = json!({ "gantt": self.to_json(), "colour": colour.name(), "height": height });
        let mut drawings = run_drawing("drawGantt", data.to_string(), width)?;
        let drawing = drawings.pop().ok_or_else(|| DrawError::Script("nothing was drawn".to_string()))?;
        Ok(Drawing { determined: self.determined.clone(), ..drawing })
    }
}

impl PromiseMark {
    fn format_table(&self) -> String {
        let mut table = DocumentTable::new(["announced at", "planned start", "in"]).id("mark");
        for (at, start) in &self.reserved {
            let away = (*start - *at).as_f64();
            table.add_row(vec![
                at.to_string().into(),
                TableValue::from_number(Some(start.0 as f64), |_| start.to_string()),
                TableValue::from_number(Some(away), format_duration),
            ]);
        }
        let mut out = String::new();
        if !table.is_empty() {
            table.write_html(&format!("Reservations of job {}", self.number), &mut out);
        }
        out
    }
}

impl GanttJobs {
    fn push(&mut self, workload: &Workload, id: JobId, start: Time) {
        let (job, truth) = (workload.job(id), &workload.truth()[id.index()]);
        self.number.push(truth.number);
        self.user.push(job.user);
        self.class.push([100, 1_000, 10_000].iter().filter(|&&border| truth.run.0 > border).count() as u8);
        self.submit.push(job.submit);
        self.start.push(start);
        self.procs.push(job.procs);
        self.estimate.push(job.estimate.0);
        self.run.push(truth.run.0);
    }
}

drystone::word_enum! {
    /// Meanings of colours.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Colour {
        /// Users with most work apart, others together.
        #[default]
        User = "user",
        /// Four classes of run times.
        Class = "class",
        /// Wait of a job before its first start.
        Wait = "wait",
    }
}

fn first_starts(order: &[&Segment]) -> BTreeMap<JobId, Time> {
    let mut starts = BTreeMap::new();
    for segment in order {
        starts.entry(segment.job).or_insert(segment.start);
    }
    starts
}

fn push(list: &mut Vec<i64>, job: i64, start: Time, end: Time, rows: &ProcSet) {
    for range in rows.ranges() {
        list.extend([job, start.0, end.0, i64::from(range.start), i64::from(range.end)]);
    }
}

/// The lowest free rows for each segment, in order of their starts; together where there is room.
fn pack_segments(order: &[&Segment], procs: Procs) -> Vec<ProcSet> {
    let mut free = ProcSet::from_range(0..procs);
    let mut ends: BTreeMap<(Time, usize), ()> = BTreeMap::new();
    let mut places: Vec<ProcSet> = Vec::with_capacity(order.len());
    for (at, segment) in order.iter().enumerate() {
        while let Some(((_, index), ())) = ends.first_key_value().filter(|((end, _), ())| *end <= segment.start) {
            free = free.union(&places[*index]);
            ends.pop_first();
        }
        let whole = free.ranges().iter().find(|r| r.end - r.start >= segment.procs);
        let place = match whole {
            Some(range) => ProcSet::from_range(range.start..range.start + segment.procs),
            None => free.lowest_procs(segment.procs),
        };
        free = free.difference(&place);
        ends.insert((segment.end, at), ());
        places.push(place);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::model::{Job, LogStatus, Machine, Provenance, Span, Truth};

    fn workload(jobs: &[(i64, Procs, i64)]) -> Workload {
        let truth = jobs
            .iter()
            .enumerate()
            .map(|(i, j)| Truth { run: Span(j.2), number: i as i64 + 1, status: LogStatus::Unknown })
            .collect();
        let jobs = jobs.iter().map(|j| Job::new(Time(j.0), j.1, Span(j.2))).collect();
        Workload::new(Machine::new(4), jobs, truth, Provenance::default()).expect("sound")
    }

    fn segment(job: u32, start: i64, end: i64, procs: Procs, on: Option<ProcSet>, is_suspended: bool) -> Segment {
        Segment {
            job: JobId(job),
            number: i64::from(job) + 1,
            start: Time(start),
            end: Time(end),
            procs,
            pace: None,
            on,
            then: if is_suspended { SegmentEnd::Suspended } else { SegmentEnd::Ended },
        }
    }

    /// Rows 0–1 and 2 are taken; when 0–1 come free, a job of two gets them, though row 3 is free
    /// as well; one of three then has to be split.
    #[test]
    fn rows_are_packed_lowest_first_and_together() {
        let workload = workload(&[(0, 2, 10), (0, 1, 30), (10, 2, 10), (20, 3, 5)]);
        let segments = [
            segment(0, 0, 10, 2, None, false),
            segment(1, 0, 30, 1, None, false),
            segment(2, 10, 20, 2, None, false),
            segment(3, 20, 25, 3, None, false),
        ];
        let gantt = Gantt::new(&workload, "easy", &segments, (None, None), None);
        assert!(gantt.packed);
        let rows: Vec<&[i64]> = gantt.bars.chunks(5).collect();
        assert_eq!(rows, [[0, 0, 10, 0, 2], [1, 0, 30, 2, 3], [2, 10, 20, 0, 2], [3, 20, 25, 0, 2], [3, 20, 25, 3, 4]]);
    }

    /// A job that is suspended between 5 and 20: two bars and a gap; a window shows what is in it.
    #[test]
    fn suspensions_are_gaps() {
        let workload = workload(&[(0, 2, 10), (5, 2, 15)]);
        let on = || Some(ProcSet::from_range(1..3));
        let segments =
            [segment(1, 5, 20, 2, on(), false), segment(0, 0, 5, 2, on(), true), segment(0, 20, 25, 2, on(), false)];
        let gantt = Gantt::new(&workload, "ss", &segments, (None, None), None);
        assert!(!gantt.packed);
        assert_eq!(gantt.gaps, [0, 5, 20, 1, 3]);
        assert_eq!(gantt.bars, [-1, 0, 5, 1, 3, 1, 5, 20, 1, 3, 0, 20, 25, 1, 3]);
        let later = Gantt::new(&workload, "ss", &segments, (Some(Time(21)), None), None);
        assert_eq!((later.jobs(), later.bars.as_slice()), (1, [0, 20, 25, 1, 3].as_slice()));
        assert_eq!(later.jobs.start, [Time(0)]);
        let nothing = Gantt::new(&workload, "ss", &[], (None, None), None);
        assert_eq!((nothing.jobs(), nothing.from, nothing.until), (0, Time(0), Time(0)));
    }
}
