//! One line of a table of shapes.

use crate::model::{Decimal, JobKind, JobPace, PaceNumber, Procs, Span, Speedup};

/// A line as it is written; what is empty follows from the job.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ShapeRow {
    /// Number of the line.
    pub line: usize,
    /// Kind of the job.
    pub kind: JobKind,
    /// Smallest, preferred and largest size.
    pub bounds: [Option<Procs>; 3],
    /// Sizes one by one.
    pub sizes: Vec<Procs>,
    /// The true speedup.
    pub speedup: Option<Speedup>,
    /// The speedup as the scheduler knows it.
    pub declared: Option<Speedup>,
    /// Time between points.
    pub every: Span,
    /// Costs of growing and shrinking.
    pub costs: [Span; 2],
    /// Draw of a processor at the full pace.
    pub watts: Option<u64>,
    /// Paces, the full one first.
    pub paces: Vec<JobPace>,
    /// Shares of the work after which it asks, and for which size.
    pub asks: Vec<(Decimal, Procs)>,
}

/// All columns of a table.
pub const COLUMNS: &[&str] = &[
    "job",
    "kind",
    "min",
    "pref",
    "max",
    "sizes",
    "speedup",
    "declared",
    "every",
    "grow_cost",
    "shrink_cost",
    "watts",
    "paces",
    "asks",
];

/// Longest time that a cell may say, in seconds.
const LONGEST: i64 = 1 << 32;
/// Most watts of a processor.
const WATTS: u64 = 1 << 32;

impl ShapeRow {
    /// Reads a cell that is not empty.
    pub(super) fn set_cell(&mut self, column: &str, cell: &str) -> Result<(), String> {
        match column {
            "kind" => {
                let kind = JobKind::ALL.into_iter().find(|kind| kind.name() == cell);
                let names = JobKind::ALL.map(JobKind::name).join(", ");
                self.kind = kind.ok_or_else(|| format!("`{cell}` is no kind of job; expected {names}"))?;
            }
            "min" => self.bounds[0] = Some(parse_size(cell)?),
            "pref" => self.bounds[1] = Some(parse_size(cell)?),
            "max" => self.bounds[2] = Some(parse_size(cell)?),
            "sizes" => {
                self.sizes = cell.split_whitespace().map(parse_size).collect::<Result<_, _>>()?;
                self.sizes.sort_unstable();
                self.sizes.dedup();
            }
            "speedup" => self.speedup = Some(cell.parse()?),
            // The scheduler knows the true speedup, as without this column.
            "declared" => self.declared = if cell == "true" { None } else { Some(cell.parse()?) },
            "every" => self.every = parse_seconds(cell)?,
            "grow_cost" => self.costs[0] = parse_seconds(cell)?,
            "shrink_cost" => self.costs[1] = parse_seconds(cell)?,
            "watts" => self.watts = Some(parse_watts(cell)?),
            "paces" => self.paces = parse_paces(cell)?,
            "asks" => self.asks = cell.split_whitespace().map(parse_ask).collect::<Result<_, _>>()?,
            _ => {}
        }
        Ok(())
    }
}

fn parse_size(cell: &str) -> Result<Procs, String> {
    cell.parse()
        .ok()
        .filter(|size| *size > 0)
        .ok_or_else(|| format!("`{cell}` is no size; expected a whole number above 0"))
}

fn parse_seconds(cell: &str) -> Result<Span, String> {
    let seconds = cell.parse().ok().filter(|seconds| (0..=LONGEST).contains(seconds));
    seconds.map(Span).ok_or_else(|| format!("`{cell}` is no whole number of seconds"))
}

fn parse_watts(cell: &str) -> Result<u64, String> {
    let watts = cell.parse().ok().filter(|watts| *watts <= WATTS);
    watts.ok_or_else(|| format!("`{cell}` is no whole number of watts from 0 to {WATTS}"))
}

/// Reads the paces of a job, from the full one down.
fn parse_paces(cell: &str) -> Result<Vec<JobPace>, String> {
    let pace = |cell: &str| {
        let wrong = || format!("`{cell}` is no pace; expected SPEED:WATTS, such as 0.8:210");
        let (speed, draw) = cell.split_once(':').ok_or_else(wrong)?;
        Ok(JobPace { speed: speed.parse().map_err(|_| wrong())?, watts: parse_watts(draw)? })
    };
    let paces = cell.split_whitespace().map(pace).collect::<Result<Vec<JobPace>, String>>()?;
    let most = usize::from(PaceNumber::MAX) + 1;
    if paces.len() > most {
        return Err(format!("{} paces; expected at most {most}", paces.len()));
    }
    for (at, JobPace { speed, .. }) in paces.iter().enumerate() {
        if *speed == Decimal::ZERO || *speed > Decimal::ONE {
            return Err(format!("the speed {speed} is no share of the full one; expected more than 0 and at most 1"));
        }
        if at == 0 && *speed != Decimal::ONE {
            return Err(format!(
                "the first pace has speed {speed}; expected the full pace, at which the log's run time holds, such as 1:300"
            ));
        }
    }
    for pair in paces.windows(2) {
        let [JobPace { speed: before, watts: more }, JobPace { speed, watts: less }] = pair else { continue };
        if speed == before {
            return Err(format!("two paces have speed {speed}; leave one out"));
        }
        if speed > before {
            return Err(format!(
                "the speed {speed} comes after {before}; list the paces from the fastest to the slowest"
            ));
        }
        if less >= more {
            return Err(format!(
                "at speed {speed} a processor draws {less} W, and {more} W at {before}; a slower pace must draw less, so \
                 leave it out"
            ));
        }
    }
    Ok(paces)
}

fn parse_ask(cell: &str) -> Result<(Decimal, Procs), String> {
    let wrong = || format!("`{cell}` is no request; expected SHARE=SIZE, such as 0.5=8");
    let (share, procs) = cell.split_once('=').ok_or_else(wrong)?;
    let share: Decimal = share.parse().map_err(|_| wrong())?;
    if share.share_of(Span(1_000_000)) > Span(1_000_000) {
        return Err(format!("`{cell}`: a job asks when a share of 0 to 1 of its work is done"));
    }
    Ok((share, parse_size(procs)?))
}
