//! Tables of the amounts of counted resources over time: `supply.csv`.
//!
//! ```text
//! resource,from,amount,announced
//! license:matlab,2026-02-20,4,2026-01-10
//! license:matlab,2026-03-01,8,2026-01-10
//! mem,86400,512GB,
//! ```
//!
//! The first line names the columns, in any order. Lines that begin with `#` are comments. Times
//! are whole seconds of the log, or dates in its time zone.
//!
//! | column | meaning | where it is empty |
//! |---|---|---|
//! | `resource` | a counted resource of the machine; a licence may be given by its own name | an error |
//! | `from` | time at which the amount changes | an error |
//! | `amount` | amount from then on: a whole number, or a size with a unit | an error |
//! | `announced` | time of the announcement to the scheduler | when it happens |

use super::resources::read_amount;
use super::table::{LogClock, LogTable, TableError, TableRow};
use crate::model::{ResourceId, ResourceTable, SupplyField, SupplyStep, Workload};
use crate::text::find_nearest;
use std::io::Read;

const COLUMNS: &[&str] = &["resource", "from", "amount", "announced"];

/// Reads the amounts of resources over time, and gives them to the machine of a workload.
///
/// ```
/// use drystone::log::{resources, supply};
/// use drystone::model::{Job, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
///
/// let truth = Truth { run: Span(9), number: 1, status: LogStatus::Completed };
/// let jobs = vec![Job::new(Time(0), 2, Span(10))];
/// let workload = Workload::new(Machine::new(4), jobs, vec![truth], Provenance::default())?;
/// let licences = resources::read_table("asks.csv", "job,license:cad\ntotal,4\n1,2\n")?;
/// let (workload, _) = resources::give_resources(workload, &["asks.csv".parse()?], &[licences])?;
/// let text = "resource,from,amount\ncad,3600,2\n";
/// let workload = supply::give_supply(workload, text.as_bytes(), "supply.csv")?;
/// let table = workload.resources().expect("it has some");
/// let cad = table.find_id("license:cad").expect("it is one of them");
/// assert_eq!([0, 3600].map(|at| table.supply_at(cad, Time(at))), [4, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The file cannot be read; a resource that the machine does not have; a field that is not what it
/// should be; changes that cannot be ([`ResourceTable::with_supply`]): each with its line.
pub fn give_supply(workload: Workload, input: impl Read, file: &str) -> Result<Workload, TableError> {
    let mut table = LogTable::read_table(input, file, COLUMNS)?;
    if !["resource", "from", "amount"].iter().all(|column| table.has_column(column)) {
        let problem =
            format!("the first line must name `resource`, `from` and `amount`; the columns are {}", COLUMNS.join(", "));
        return Err(table.error_at(1, "", problem));
    }
    let Some(resources) = workload.resources().filter(|resources| resources.has_resources()).cloned() else {
        let problem = "the jobs ask for no resource beyond processors, so no amount can change; \
                       name resources (--resources), or change processors by outages (--outages)";
        return Err(table.error_at(1, "", problem));
    };
    let clock = LogClock::from_provenance(&workload.provenance);
    let (mut steps, mut lines) = (Vec::new(), Vec::new());
    while let Some(row) = table.next() {
        steps.push(read_step(&row, &resources, &clock)?);
        lines.push(row.line_number());
    }
    let new = resources.with_supply(&steps).map_err(|error| {
        let column = match error.field {
            SupplyField::Resource => "resource",
            SupplyField::Amount => "amount",
            SupplyField::Announced => "announced",
            _ => "from",
        };
        table.error_at(lines[error.index], column, error.problem)
    })?;
    Ok(workload.with_supply_of(new))
}

fn read_step(row: &TableRow<'_>, resources: &ResourceTable, clock: &LogClock) -> Result<SupplyStep, TableError> {
    let name = row.require_field("resource", "a counted resource, such as license:matlab")?;
    let resource = find_resource(resources, name).map_err(|problem| row.field_error("resource", problem))?;
    let text = row.require_field("from", "the time of the change")?;
    let from =
        row.read_time("from", clock)?.ok_or_else(|| row.field_error("from", format!("`{text}` is not a time")))?;
    let text = row.require_field("amount", "the amount from then on")?;
    let unit = resources.find_resource(resource).map(|resource| resource.unit).unwrap_or_default();
    let amount = read_amount(text, unit).map_err(|problem| row.field_error("amount", problem))?;
    Ok(SupplyStep { resource, from, amount, announced: row.read_time("announced", clock)? })
}

/// Returns the resource of a name; for a licence its own name is enough.
///
/// # Errors
/// A message that no resource has the name, with the names that there are.
pub fn find_resource(resources: &ResourceTable, name: &str) -> Result<ResourceId, String> {
    let place = resources.find_id(name).or_else(|| resources.find_id(&format!("license:{name}")));
    place.ok_or_else(|| {
        let names: Vec<&str> = resources.resources().iter().map(|resource| resource.name.as_str()).collect();
        let near =
            find_nearest(name, names.iter().copied()).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let listed_names: Vec<&str> = names.iter().take(12).copied().collect();
        let more = names.len().saturating_sub(listed_names.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("no resource is called `{name}`; there are {}{more}{near}", listed_names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::resources;
    use crate::model::{Job, LogStatus, Machine, Provenance, Span, Time, Truth};

    fn workload() -> Workload {
        let truth = Truth { run: Span(9), number: 1, status: LogStatus::Completed };
        let provenance = Provenance { unix_start: Some(1_000), ..Provenance::default() };
        let workload = Workload::new(Machine::new(4), vec![Job::new(Time(0), 1, Span(10))], vec![truth], provenance);
        let asks = resources::read_table("asks.csv", "job,license:cad,mem\ntotal,4,8GB\n1,2,1GB\n").expect("sound");
        let spec = "asks.csv".parse().expect("a file");
        resources::give_resources(workload.expect("possible"), &[spec], &[asks]).expect("fits").0
    }

    #[test]
    fn amounts_are_those_of_the_unit_and_times_those_of_the_log() {
        let text =
            "# by night\nresource,announced,from,amount\ncad,0,100,2\nmem,,1970-01-01T00:20:00Z,512MB\ncad,0,200,6\n";
        let workload_of = give_supply(workload(), text.as_bytes(), "supply.csv").expect("sound");
        let table = workload_of.resources().expect("some");
        let (cad, mem) = (ResourceId(0), ResourceId(1));
        let of = |id, times: [i64; 4]| times.map(|at| table.supply_at(id, Time(at)));
        assert_eq!(of(cad, [-5, 99, 100, 200]), [4, 4, 2, 6]);
        assert_eq!(of(mem, [0, 199, 200, 900]), [8 << 20, 8 << 20, 512 << 10, 512 << 10]);
        // The total is the largest amount that there ever is.
        assert_eq!(table.resources().iter().map(|resource| resource.total).collect::<Vec<_>>(), [6, 8 << 20]);
        assert_eq!(table.supply_steps().iter().filter(|step| step.announced == Some(Time(0))).count(), 2);
        // A second table takes the place of the first.
        let again = give_supply(workload_of, &b"resource,from,amount\ncad,5,1\n"[..], "supply.csv").expect("sound");
        let table = again.resources().expect("some");
        assert_eq!([0, 5, 900].map(|at| table.supply_at(cad, Time(at))), [4, 1, 1]);
        assert_eq!(table.resources()[0].total, 4);
    }

    #[test]
    fn mistakes_have_their_line() {
        let problem = |text: &str| give_supply(workload(), text.as_bytes(), "s.csv").expect_err(text).to_string();
        let head = "resource,from,amount,announced\n";
        for (rows, line, message) in [
            ("cat,1,2,\n", 2, "no resource is called `cat`; there are license:cad, mem"),
            ("cad,1,2,\ncad,x,2,\n", 3, "(from)"),
            ("cad,1,two,\n", 2, "`two` is no amount"),
            ("mem,1,7,\n", 2, "has no unit"),
            ("cad,1,2,5\n", 2, "(announced): is announced after it happens at 1"),
            ("cad,1,2,\ncad,1,3,\n", 3, "`license:cad` changes twice at 1"),
            ("cad,1,,\n", 2, "`amount` is empty"),
        ] {
            let error = problem(&format!("{head}{rows}"));
            assert!(error.starts_with(&format!("s.csv:{line}:")) && error.contains(message), "{rows}: {error}");
        }
        assert!(problem("resource,from\ncad,1\n").contains("must name `resource`, `from` and `amount`"));
        let (machine, mut jobs, truth, provenance) = workload().into_parts();
        jobs[0].demand = crate::model::DemandId::NONE;
        let plain = Workload::new(machine, jobs, truth, provenance).expect("possible");
        let error = give_supply(plain, head.as_bytes(), "s.csv").expect_err("none").to_string();
        assert!(error.contains("no resource beyond processors"), "{error}");
    }
}
