//! `drystone evolve --method regression`.

use crate::args::EvolveArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::interrupt;
use crate::meta::VERSION;
use crate::output::document::{Document, DocumentTable};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::count;
use crate::output::{self, Printable, ReportFile};
use crate::progress::WorkProgress;
use drystone_evolve::regression::{Base, FittedFunction, FunctionForm, Join, RegressionSettings, fit_all, scores};
use serde::Serialize;

/// Number of functions shown.
const SHOWN: usize = 10;

/// The four functions of the paper: name, form.
const PUBLISHED: [(&str, [Base; 3], [Join; 2]); 4] = [
    ("F1", [Base::Log10, Base::Identity, Base::Log10], [Join::Multiply, Join::Add]),
    ("F2", [Base::Root, Base::Identity, Base::Log10], [Join::Multiply, Join::Add]),
    ("F3", [Base::Identity, Base::Identity, Base::Log10], [Join::Multiply, Join::Add]),
    ("F4", [Base::Identity, Base::Root, Base::Log10], [Join::Multiply, Join::Add]),
];

#[derive(Serialize)]
struct Fitted {
    schema: &'static str,
    drystone: &'static str,
    settings: RegressionSettings,
    samples: usize,
    functions: usize,
    best: Vec<RankedFunction>,
    published: Vec<RankedFunction>,
}

#[derive(Serialize)]
struct RankedFunction {
    rank: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'static str>,
    #[serde(flatten)]
    fit: FittedFunction,
}

pub(super) fn regression(args: &EvolveArgs) -> CommandOutcome {
    let report_file = args.output.report.as_deref().map(ReportFile::open_plain).transpose()?;
    let settings = RegressionSettings {
        tuples: args.tuples as usize,
        trials: args.trials as usize,
        seed: args.seed,
        ..RegressionSettings::default()
    };
    let stop = interrupt::stop_in_order();
    let progress = WorkProgress::new("trying", "tuples", Some(args.tuples.into()));
    let samples = scores(&settings, stop, &mut || progress.add(1))?;
    drop(progress);
    let Some(samples) = samples else {
        return Err(CommandFailure::Message {
            code: interrupt::code(),
            text: "stopped before all tuples were tried".into(),
        });
    };
    let fits = fit_all(&samples);
    let functions = fits.len();
    let published = PUBLISHED.into_iter().filter_map(|(name, bases, joins)| {
        let rank = fits.iter().position(|fit| fit.form == FunctionForm { bases, joins })?;
        Some(RankedFunction { rank: rank + 1, name: Some(name), fit: fits[rank].clone() })
    });
    let published = published.collect();
    let best =
        (1..).zip(fits.into_iter().take(SHOWN)).map(|(rank, fit)| RankedFunction { rank, name: None, fit }).collect();
    let fitted = Fitted {
        schema: "drystone/regression/1",
        drystone: VERSION,
        settings,
        samples: samples.len(),
        functions,
        best,
        published,
    };
    if let Some(file) = report_file {
        file.write(&fitted)?.publish()?;
    }
    output::print(&fitted, args.output.format)?;
    Ok(DONE)
}

impl Printable for Fitted {
    fn document(&self) -> Document {
        let mut document = Document::default();
        let s = &self.settings;
        document.heading("Orders by regression over trials");
        document.facts(vec![
            ("drystone".to_string(), self.drystone.to_string()),
            ("machine".to_string(), format!("{} processors", count(s.procs.into()))),
            (
                "tuples".to_string(),
                format!("{}, of {} jobs at work and {} waiting", count(s.tuples as u64), s.running, s.queue),
            ),
            ("trials per tuple".to_string(), count(s.trials as u64)),
            ("samples".to_string(), count(self.samples as u64)),
            ("seed".to_string(), s.seed.to_string()),
        ]);
        document.heading(format!("The best of {} functions", count(self.functions as u64)));
        document.table(table(&self.best));
        document.heading("The forms of the published functions, with the weights that fit here");
        document.table(table(&self.published));
        document.text("A formula is an order: drystone compare -p easy -p 'easy(order=FORMULA,backfill=FORMULA)'.");
        document
    }

    fn rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for ranked in self.best.iter().chain(&self.published) {
            let mut row = FlatRow::default();
            row.text("drystone", self.drystone);
            row.text("seed", self.settings.seed);
            row.text("trials", self.settings.trials);
            row.text("tuples", self.settings.tuples);
            row.text("rank", ranked.rank);
            row.text("name", ranked.name.unwrap_or(""));
            row.number("error", Some(ranked.fit.error));
            row.text("formula", &ranked.fit.formula);
            rows.push(row);
        }
        rows
    }
}

fn table(ranked: &[RankedFunction]) -> DocumentTable {
    let mut table = DocumentTable::new(["rank", "name", "error", "formula"]).texts(&[1, 3]);
    for r in ranked {
        table.row(vec![
            count(r.rank as u64).into(),
            r.name.unwrap_or("").into(),
            format!("{:.6}", r.fit.error).into(),
            r.fit.formula.as_str().into(),
        ]);
    }
    table
}
