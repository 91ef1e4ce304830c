//! `drystone workload generate`: a synthetic log.

use crate::args::{GenerateArgs, ModelArg};
use crate::exit::{CommandOutcome, DONE};
use crate::input;
use crate::output::format::OutputTarget;
use crate::output::logs::{Logs, WrittenLog};
use crate::output::number::{format_duration, format_plural};
use crate::waiting::WaitingNote;
use drystone::generate::{self, Habits, Params, WorkloadLength, WorkloadModel};
use drystone::log::swf::SwfRecord;
use drystone::model::Span;

pub(super) fn run_generate(args: &GenerateArgs) -> CommandOutcome {
    let target = OutputTarget::<Logs>::open(&args.out)?;
    let params = Params {
        procs: args.procs,
        length: match args.days {
            Some(days) => WorkloadLength::Span(Span(i64::from(days) * Span::DAY.0)),
            None => WorkloadLength::Jobs(args.jobs.unwrap_or(10_000)),
        },
        load: args.load,
        seed: args.seed,
        model: match args.model {
            ModelArg::Typeless => WorkloadModel::Typeless,
            ModelArg::Typed => WorkloadModel::Typed,
        },
        max_estimate: Span(args.max_estimate),
        habits: Habits { users: args.users, ..Habits::default() },
    };
    let jobs = match params.length {
        WorkloadLength::Jobs(jobs) => format_plural(u64::from(jobs), "job"),
        WorkloadLength::Span(span) => format!("jobs of {}", format_duration(span.as_f64())),
    };
    let waiting_note = WaitingNote::new(&format!("generating {jobs}"));
    let workload = generate::generate_workload(&params)?;
    drop(waiting_note);
    let mut header = input::synthetic_header(&workload);
    header.push("MaxJobs", &workload.len().to_string());
    header.push("MaxRecords", &workload.len().to_string());
    let jobs = workload.jobs().iter().zip(workload.truth());
    let records: Vec<SwfRecord> = jobs.map(|(job, truth)| SwfRecord::from_job(job, truth)).collect();
    target.write_contents(&WrittenLog { header: &header, records: &records })?.publish()?;
    Ok(DONE)
}
