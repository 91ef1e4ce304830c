//! Settings of priorities among the policy's parameters.

use crate::conf::{PriorityType, parse_minutes};
use drystone_core::policy::{Args, SpecError};

/// Value that takes the configuration's setting, else the parameter's default.
const AUTO: &str = "auto";

/// Slurm's names of the weights, with where they stand.
type WeightName = (&'static str, fn(&mut PriorityType) -> &mut f64);

const WEIGHTS: [WeightName; 6] = [
    ("priorityweightage", |p| &mut p.age),
    ("priorityweightfairshare", |p| &mut p.fair_share),
    ("priorityweightjobsize", |p| &mut p.size),
    ("priorityweightpartition", |p| &mut p.partition),
    ("priorityweightqos", |p| &mut p.qos),
    ("priorityweightassoc", |p| &mut p.assoc),
];

type Duration = (&'static str, fn(&mut PriorityType) -> &mut i64);

const DURATIONS: [Duration; 3] = [
    ("prioritymaxage", |p| &mut p.max_age),
    ("prioritydecayhalflife", |p| &mut p.half_life),
    ("prioritycalcperiod", |p| &mut p.calc_period),
];

/// Returns whether a text is a time in the syntax of slurm.conf.
pub(super) fn is_duration(text: &str) -> bool {
    parse_minutes(text).is_ok()
}

/// Takes over the parameters that are given. Returns whether any was.
pub(super) fn apply_parameters(args: &Args<'_>, priority: &mut PriorityType) -> Result<bool, SpecError> {
    let mut is_any_given = false;
    match args.text_value("prioritytype") {
        AUTO => {}
        word => {
            priority.multifactor = word == "multifactor";
            is_any_given = true;
        }
    }
    for (name, field) in WEIGHTS {
        if args.text_value(name) != AUTO {
            *field(priority) = args.text_value(name).parse().map_err(|_| args.value_error(name))?;
            (priority.multifactor, is_any_given) = (true, true);
        }
    }
    for (name, field) in DURATIONS {
        if args.text_value(name) != AUTO {
            let parsed_minutes = parse_minutes(args.text_value(name)).map_err(|_| args.value_error(name))?;
            *field(priority) = parsed_minutes.map_or(i64::MAX, |minutes| minutes * 60);
            is_any_given = true;
        }
    }
    match args.text_value("priorityfavorsmall") {
        AUTO => {}
        word => (priority.favor_small, is_any_given) = (word == "yes", true),
    }
    Ok(is_any_given)
}
