//! `drystone workload generate`: a synthetic log.

use crate::args::{GenerateArgs, ModelArg};
use crate::exit::{DONE, Outcome};
use crate::input;
use crate::output::format::Target;
use crate::output::logs::{Log, Logs};
use crate::output::number::{duration, plural};
use crate::waiting::Waiting;
use drystone::generate::{self, Habits, Length, Model, Params};
use drystone::log::swf::Record;
use drystone::model::Span;

pub(super) fn generate(args: &GenerateArgs) -> Outcome {
    let target = Target::<Logs>::open(&args.out)?;
    let params = Params {
        procs: args.procs,
        length: match args.days {
            Some(days) => Length::Span(Span(i64::from(days) * Span::DAY.0)),
            None => Length::Jobs(args.jobs.unwrap_or(10_000)),
        },
        load: args.load,
        seed: args.seed,
        model: match args.model {
            ModelArg::Typeless => Model::Typeless,
            ModelArg::Typed => Model::Typed,
        },
        max_estimate: Span(args.max_estimate),
        habits: Habits { users: args.users, ..Habits::default() },
    };
    let jobs = match params.length {
        Length::Jobs(jobs) => plural(u64::from(jobs), "job"),
        Length::Span(span) => format!("jobs of {}", duration(span.as_f64())),
    };
    let waiting = Waiting::new(&format!("generating {jobs}"));
    let workload = generate::generate(&params)?;
    drop(waiting);
    let mut header = input::synthetic_header(&workload);
    header.push("MaxJobs", &workload.len().to_string());
    header.push("MaxRecords", &workload.len().to_string());
    let jobs = workload.jobs().iter().zip(workload.truth());
    let records: Vec<Record> = jobs.map(|(job, truth)| Record::of(job, truth)).collect();
    target.write(&Log { header: &header, records: &records })?.publish()?;
    Ok(DONE)
}
