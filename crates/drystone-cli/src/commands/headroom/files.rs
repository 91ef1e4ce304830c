//! The files that `drystone headroom` writes.

use super::HeadroomAnswer;
use crate::args::HeadroomArgs;
use crate::exit::CommandFailure;
use crate::input::{self, WorkloadInput};
use crate::meta::{Determined, VERSION};
use crate::output::charts::{Chart, Charts};
use crate::output::file::{self, OutputFile};
use crate::output::format::OutputTarget;
use crate::output::schedules::{self, ScheduleFile, WrittenSchedule};
use crate::output::{ReportFile, render_json};
use drystone::engine::Segments;
use drystone::model::Time;
use drystone_headroom::{Certificate, HeadroomCase, replay_rows};
use drystone_report::{Colour, Gantt};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Every file that was asked for, opened before the work begins.
pub(super) struct HeadroomFiles {
    schedule: Option<ScheduleFile>,
    chart: Option<OutputTarget<Charts>>,
    window: (Option<Time>, Option<Time>),
    prices: Option<OutputFile>,
    report: Option<ReportFile>,
}

impl HeadroomFiles {
    /// Opens them; no two may be the same, and none that is read.
    pub(super) fn open(args: &HeadroomArgs) -> Result<HeadroomFiles, CommandFailure> {
        let [outages, circumstances, supply] = args.real.named_files();
        let beside = args.jobs.as_deref().and_then(schedules::meta_path_beside);
        let output_paths: [(&str, Option<&Path>); 6] = [
            ("--jobs", args.jobs.as_deref()),
            ("--jobs", beside.as_deref()),
            ("--gantt", args.gantt.as_deref()),
            ("--prices", args.prices.as_deref()),
            ("--report", args.output.report.as_deref()),
            ("--audit", args.cleaning.audit.as_deref()),
        ];
        file::check_distinct(&[args.log.as_deref(), outages, circumstances, supply], &output_paths)?;
        let window =
            args.window.as_deref().map_or(Ok((None, None)), |text| input::parse_time_range("--window", text))?;
        Ok(HeadroomFiles {
            schedule: args.jobs.as_deref().map(ScheduleFile::create_file).transpose()?,
            chart: args.gantt.as_deref().map(OutputTarget::open).transpose()?,
            window,
            prices: args.prices.as_deref().map(OutputFile::create).transpose()?,
            report: args.output.report.as_deref().map(ReportFile::open_plain).transpose()?,
        })
    }

    pub(super) fn need_records(&self) -> bool {
        self.schedule.as_ref().is_some_and(ScheduleFile::needs_records)
    }

    /// Writes all of them. All are complete then, or none of them is new.
    pub(super) fn write_all(
        self,
        args: &HeadroomArgs,
        input: &WorkloadInput,
        answer: &HeadroomAnswer,
    ) -> Result<(), CommandFailure> {
        let mut files = Vec::new();
        let result = &answer.result;
        let inputs = Determined {
            schema: "drystone/schedule/1",
            drystone: VERSION,
            workload: &result.workload,
            policy: &result.found.policy,
            experiment: &result.experiment,
        };
        if let Some(schedule) = self.schedule {
            let schedule_of = WrittenSchedule { rows: &answer.rows, input, determined: &inputs, sizes: None };
            files.extend(schedule.write_schedule(&schedule_of)?);
        }
        if let Some(out) = self.chart {
            let mut segments = Segments::default();
            replay_rows(&input.workload, &answer.rows, &answer.outages, &mut segments);
            let gantt = Gantt::new(&input.workload, "best found (knows run times)", &segments.list, self.window, None);
            let mut inputs = serde_json::to_value(&inputs).map_err(CommandFailure::usage_error)?;
            inputs["chart"] = serde_json::json!({ "window": args.window });
            let gantt = gantt.determined_by(inputs);
            files.push(out.write_contents(&Chart { gantt: &gantt, colour: Colour::ALL[0], pixels: (1200, 600) })?);
        }
        if let Some(out) = self.prices {
            let document = PricesDocument::from_answer(answer, &answer.case, &answer.sought.certificate);
            files.push(out.write_whole(&render_json(&document)?)?);
        }
        if let Some(file) = self.report {
            files.push(file.write_result(result)?);
        }
        file::publish_all(files)
    }
}

/// All that is needed, beside the schedule, to check a floor.
#[derive(Serialize)]
struct PricesDocument<'a> {
    schema: &'static str,
    drystone: &'static str,
    measure: &'static str,
    jobs_hash: String,
    /// The floor of the mean.
    floor: f64,
    /// The floor of the sum over all jobs, in 2^−q.
    floor_of_sum: String,
    /// The sum is divided by this for the mean.
    divisor: f64,
    q: u32,
    begin: i64,
    delta: i64,
    /// Processors before the first change.
    procs: i64,
    /// Number of processors from each time on.
    capacity: &'a [(i64, i64)],
    /// Rows of the schedule, from 0, whose jobs may start later than at their submit, with when.
    releases: BTreeMap<usize, i64>,
    /// Rows whose jobs ran at the first instant: `capacity` is without their processors.
    ran_already: Vec<usize>,
    /// In 2^−q per processor-second, one for each cell of `delta` seconds from `begin` on.
    prices: &'a [u64],
}

impl<'a> PricesDocument<'a> {
    fn from_answer(
        answer: &'a HeadroomAnswer,
        case: &'a HeadroomCase,
        certificate: &'a Certificate,
    ) -> PricesDocument<'a> {
        let row_tasks = || answer.rows.iter().zip(case.instance.tasks()).enumerate();
        let ran = |(_, (row, task)): &(usize, (&drystone::metrics::JobRow, &drystone_headroom::HeadroomTask))| {
            task.fixed && task.run == 0 && row.ran.0 > 0
        };
        let later = row_tasks().filter(|pair| !ran(pair) && pair.1.1.release != pair.1.0.submit.0);
        PricesDocument {
            schema: "drystone/prices/1",
            drystone: VERSION,
            measure: case.measure.option_word(),
            jobs_hash: super::bracket::jobs_hash(case),
            floor: answer.result.bracket.floor.value,
            floor_of_sum: certificate.floor.to_string(),
            divisor: case.divisor(),
            q: certificate.q,
            begin: certificate.begin,
            delta: certificate.delta,
            procs: case.instance.capacity().before,
            capacity: case.instance.capacity().steps(),
            releases: later.map(|(at, (_, task))| (at, task.release)).collect(),
            ran_already: row_tasks().filter(ran).map(|(at, _)| at).collect(),
            prices: &certificate.prices,
        }
    }
}
