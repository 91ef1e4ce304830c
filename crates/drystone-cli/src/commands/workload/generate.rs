//! `drystone workload generate`: a synthetic log.

use crate::args::{GenerateArgs, ModelArg};
use crate::exit::{CommandOutcome, DONE};
use crate::input;
use crate::output::format::OutputTarget;
use crate::output::logs::{Logs, WrittenLog};
use crate::output::number::{duration, plural};
use crate::waiting::WaitingNote;
use drystone::generate::{self, Habits, Params, WorkloadLength, WorkloadModel};
use drystone::log::swf::SwfRecord;
use drystone::model::Span;

pub(super) fn generate(args: &GenerateArgs) -> CommandOutcome {
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
        WorkloadLength::Jobs(jobs) => plural(u64::from(jobs), "job"),
        WorkloadLength::Span(span) => format!("jobs of {}", duration(span.as_f64())),
    };
    let waiting = WaitingNote::new(&format!("generating {jobs}"));
    let workload = generate::generate(&params)?;
    drop(waiting);
    let mut header = input::synthetic_header(&workload);
    header.push("MaxJobs", &workload.len().to_string());
    header.push("MaxRecords", &workload.len().to_string());
    let jobs = workload.jobs().iter().zip(workload.truth());
    let records: Vec<SwfRecord> = jobs.map(|(job, truth)| SwfRecord::of(job, truth)).collect();
    target.write(&WrittenLog { header: &header, records: &records })?.publish()?;
    Ok(DONE)
}
