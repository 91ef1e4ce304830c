//! `drystone waits --efficiency`: use of what jobs held, by user and account.

use crate::output::Printable;
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{NONE, format_count, format_percent};
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
    fn recorded_columns(&self) -> Vec<UseColumn> {
        COLUMNS.into_iter().filter(|(_, amount)| amount(&self.efficiency.all).jobs > 0).collect()
    }

    fn format_headline(&self) -> String {
        let total = &self.efficiency.all;
        let jobs = match total.jobs {
            1 => "1 job".to_string(),
            many => format!("{} jobs", format_count(many)),
        };
        let mut parts = Vec::new();
        for (usage, label) in [
            (total.processors, "processor-hours held"),
            (total.memory, "GiB-hours of memory asked for"),
            (total.limits, "processor-hours up to their limits"),
            (total.gpus, "GPU-hours held"),
        ] {
            if let Some(share) = usage.share {
                parts.push(format!(
                    "{} of {} {label}",
                    format_percent(Some(share), 0),
                    format_count(usage.held.round() as u64)
                ));
            }
        }
        match parts.as_slice() {
            [] => format!("{jobs} ran and ended; what they used is not recorded."),
            parts => format!("{jobs} that ran and ended used {}.", parts.join(", ")),
        }
    }

    fn use_table(&self) -> DocumentTable {
        let columns = self.recorded_columns();
        let mut heads = vec!["used of".to_string(), String::new(), "jobs".to_string()];
        heads.extend(columns.iter().map(|(name, _)| (*name).to_string()));
        let idle = self.efficiency.all.processors.jobs > 0;
        if idle {
            heads.extend(["proc-h unused", "of all"].map(String::from));
        }
        let mut table = DocumentTable::new(heads).with_text_columns(&[0, 1]);
        let idle_hours = self.efficiency.all.idle_processor_hours();
        let row = |by: &str, name: &str, figures: &EfficiencyFigures| {
            let mut row: Vec<TableValue> = vec![by.into(), name.into(), TableValue::from_count(figures.jobs)];
            row.extend(columns.iter().map(|(_, amount)| match amount(figures).share {
                Some(share) => format_percent(Some(share), 0).into(),
                None => NONE.into(),
            }));
            if idle {
                let hours = figures.idle_processor_hours();
                row.push(format_count(hours.round() as u64).into());
                row.push(format_percent((idle_hours > 0.0).then(|| hours / idle_hours), 0).into());
            }
            row
        };
        table.add_row(row("all", "", &self.efficiency.all));
        let most = self.top.unwrap_or(if self.whole { DETAILED } else { SHORT });
        for groups in self.efficiency.groups.chunk_by(|a, b| a.by == b.by) {
            let by = groups[0].by.name();
            groups.iter().take(most).for_each(|group| table.add_row(row(by, &group.name, &group.figures)));
            if let more @ 1.. = groups.len().saturating_sub(most) {
                table.add_row(vec![by.into(), format!("and {} more", format_count(more as u64)).into()]);
            }
        }
        table
    }
}

impl Printable for ShownEfficiency {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        let SiteEfficiency { site, from, until, time_zone, left_out, missing, .. } = &self.efficiency;
        document.add_heading(format!("Requested and used at {site}"));
        document.add_text(self.format_headline());
        document.add_table(self.use_table());
        let zone = Zone::from_name(time_zone).unwrap_or_else(|_| Zone::utc_zone());
        let minute = |moment: i64| clock::format_minute(zone.civil_time(moment));
        let mut facts = vec![(
            "jobs".to_string(),
            format!("that began to wait between {} and {} ({time_zone}), ran and ended", minute(*from), minute(*until)),
        )];
        if *left_out > 0 {
            facts.push((
                "left out".to_string(),
                format!("{} that changed their size or are made of components", format_count(*left_out)),
            ));
        }
        for (at, sentence) in missing.iter().enumerate() {
            facts.push((if at == 0 { "not recorded".to_string() } else { String::new() }, sentence.clone()));
        }
        document.add_facts(facts);
        if !missing.is_empty() {
            document.add_text("drystone import --ask prints the command that fetches these columns.");
        }
        let lines: Vec<&str> = self.commands.iter().map(String::as_str).collect();
        document.add_text(format!(
            "To simulate limits as used, and those of the 90th percentile of each user:\n{}\n\
             Processors and memory as used cannot be simulated: no record says how fast a job runs with fewer.",
            lines.join("\n")
        ));
        if !self.whole {
            document.add_text("More: --details   --top N   --by LIST   --format csv");
        }
        document
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        let mut push = |by: &str, name: &str, figures: &EfficiencyFigures| {
            let mut row = FlatRow::default();
            row.add_text("site", &self.efficiency.site);
            row.add_text("by", by);
            row.add_text("group", name);
            row.add_text("jobs", figures.jobs);
            for (name, usage) in [
                ("processors", figures.processors),
                ("memory", figures.memory),
                ("limits", figures.limits),
                ("gpus", figures.gpus),
            ] {
                row.add_text(format!("{name}_jobs"), usage.jobs);
                row.add_number(format!("{name}_held_h"), Some(usage.held));
                row.add_number(format!("{name}_used_h"), Some(usage.used));
                row.add_number(format!("{name}_share"), usage.share);
            }
            rows.push(row);
        };
        push("all", "all", &self.efficiency.all);
        self.efficiency.groups.iter().for_each(|group| push(group.by.name(), &group.name, &group.figures));
        rows
    }
}
