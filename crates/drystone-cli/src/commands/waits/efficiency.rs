//! `drystone waits --efficiency`: use of what jobs held, by user and account.

use crate::output::Printable;
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{NONE, count, percent};
use drystone_site::clock::{self, Zone};
use drystone_site::waits::{EfficiencyFigures, SiteEfficiency, UsedAmount};
use serde::Serialize;

/// Groups of each property that are shown.
const SHORT: usize = 8;
const DETAILED: usize = 50;

/// Use of what jobs held, and how much of it is shown.
#[derive(Serialize)]
pub(crate) struct ShownEfficiency {
    #[serde(flatten)]
    pub(super) efficiency: SiteEfficiency,
    /// Commands that simulate requests as used.
    pub(super) commands: Vec<String>,
    #[serde(skip)]
    pub(super) top: Option<usize>,
    #[serde(skip)]
    pub(super) whole: bool,
}

/// Columns of a kind of resource: its heading, and its amounts.
type UseColumn = (&'static str, fn(&EfficiencyFigures) -> &UsedAmount);
const COLUMNS: [UseColumn; 4] = [
    ("processors", |figures| &figures.processors),
    ("memory", |figures| &figures.memory),
    ("limits", |figures| &figures.limits),
    ("GPUs", |figures| &figures.gpus),
];

impl ShownEfficiency {
    /// The columns of which anything is recorded.
    fn columns(&self) -> Vec<UseColumn> {
        COLUMNS.into_iter().filter(|(_, amount)| amount(&self.efficiency.all).jobs > 0).collect()
    }

    fn headline(&self) -> String {
        let all = &self.efficiency.all;
        let jobs = match all.jobs {
            1 => "1 job".to_string(),
            many => format!("{} jobs", count(many)),
        };
        let mut parts = Vec::new();
        for (used, what) in [
            (all.processors, "processor-hours held"),
            (all.memory, "GiB-hours of memory asked for"),
            (all.limits, "processor-hours up to their limits"),
            (all.gpus, "GPU-hours held"),
        ] {
            if let Some(share) = used.share {
                parts.push(format!("{} of {} {what}", percent(Some(share), 0), count(used.held.round() as u64)));
            }
        }
        match parts.as_slice() {
            [] => format!("{jobs} ran and ended; what they used is not recorded."),
            parts => format!("{jobs} that ran and ended used {}.", parts.join(", ")),
        }
    }

    fn table(&self) -> DocumentTable {
        let columns = self.columns();
        let mut heads = vec!["used of".to_string(), String::new(), "jobs".to_string()];
        heads.extend(columns.iter().map(|(name, _)| (*name).to_string()));
        let idle = self.efficiency.all.processors.jobs > 0;
        if idle {
            heads.extend(["proc-h unused", "of all"].map(String::from));
        }
        let mut table = DocumentTable::new(heads).texts(&[0, 1]);
        let unused = self.efficiency.all.idle_processor_hours();
        let row = |by: &str, name: &str, figures: &EfficiencyFigures| {
            let mut row: Vec<TableValue> = vec![by.into(), name.into(), TableValue::count(figures.jobs)];
            row.extend(columns.iter().map(|(_, amount)| match amount(figures).share {
                Some(share) => percent(Some(share), 0).into(),
                None => NONE.into(),
            }));
            if idle {
                let hours = figures.idle_processor_hours();
                row.push(count(hours.round() as u64).into());
                row.push(percent((unused > 0.0).then(|| hours / unused), 0).into());
            }
            row
        };
        table.row(row("all", "", &self.efficiency.all));
        let most = self.top.unwrap_or(if self.whole { DETAILED } else { SHORT });
        for groups in self.efficiency.groups.chunk_by(|a, b| a.by == b.by) {
            let by = groups[0].by.name();
            groups.iter().take(most).for_each(|group| table.row(row(by, &group.name, &group.figures)));
            if let more @ 1.. = groups.len().saturating_sub(most) {
                table.row(vec![by.into(), format!("and {} more", count(more as u64)).into()]);
            }
        }
        table
    }
}

impl Printable for ShownEfficiency {
    fn document(&self) -> Document {
        let mut document = Document::default();
        let SiteEfficiency { site, from, until, time_zone, left_out, missing, .. } = &self.efficiency;
        document.heading(format!("Requested and used at {site}"));
        document.text(self.headline());
        document.table(self.table());
        let zone = Zone::named(time_zone).unwrap_or_else(|_| Zone::utc());
        let minute = |moment: i64| clock::minute(zone.civil(moment));
        let mut facts = vec![(
            "jobs".to_string(),
            format!("that began to wait between {} and {} ({time_zone}), ran and ended", minute(*from), minute(*until)),
        )];
        if *left_out > 0 {
            facts.push((
                "left out".to_string(),
                format!("{} that changed their size or are made of components", count(*left_out)),
            ));
        }
        for (at, sentence) in missing.iter().enumerate() {
            facts.push((if at == 0 { "not recorded".to_string() } else { String::new() }, sentence.clone()));
        }
        document.facts(facts);
        if !missing.is_empty() {
            document.text("drystone import --ask prints the command that fetches these columns.");
        }
        let lines: Vec<&str> = self.commands.iter().map(String::as_str).collect();
        document.text(format!(
            "To simulate limits as used, and those of the 90th percentile of each user:\n{}\n\
             Processors and memory as used cannot be simulated: no record says how fast a job runs with fewer.",
            lines.join("\n")
        ));
        if !self.whole {
            document.text("More: --details   --top N   --by LIST   --format csv");
        }
        document
    }

    fn rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        let mut push = |by: &str, name: &str, figures: &EfficiencyFigures| {
            let mut row = FlatRow::default();
            row.text("site", &self.efficiency.site);
            row.text("by", by);
            row.text("group", name);
            row.text("jobs", figures.jobs);
            for (name, used) in [
                ("processors", figures.processors),
                ("memory", figures.memory),
                ("limits", figures.limits),
                ("gpus", figures.gpus),
            ] {
                row.text(format!("{name}_jobs"), used.jobs);
                row.number(format!("{name}_held_h"), Some(used.held));
                row.number(format!("{name}_used_h"), Some(used.used));
                row.number(format!("{name}_share"), used.share);
            }
            rows.push(row);
        };
        push("all", "all", &self.efficiency.all);
        self.efficiency.groups.iter().for_each(|group| push(group.by.name(), &group.name, &group.figures));
        rows
    }
}
