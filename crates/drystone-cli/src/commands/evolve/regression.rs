//! `drystone evolve --method regression`.

use crate::args::EvolveArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::interrupt;
use crate::meta::VERSION;
use crate::output::document::{Document, DocumentTable};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::format_count;
use crate::output::{self, Printable, ReportFile};
use crate::progress::WorkProgress;
use drystone_evolve::regression::{
    Base, FittedFunction, FunctionForm, Join, RegressionSettings, fit_all, score_tuples,
};
use serde::Serialize;

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

pub(super) fn run_regression(args: &EvolveArgs) -> CommandOutcome {
    let report_file = args.output.report.as_deref().map(ReportFile::open_plain).transpose()?;
    let settings = RegressionSettings {
        tuples: args.tuples as usize,
        trials: args.trials as usize,
        seed: args.seed,
        ..RegressionSettings::default()
    };
    let stop = interrupt::stop_in_order();
    let progress = WorkProgress::new("trying", "tuples", Some(args.tuples.into()));
    let samples = score_tuples(&settings, stop, &mut || progress.add_done(1))?;
    drop(progress);
    let Some(samples) = samples else {
        return Err(CommandFailure::Message {
            code: interrupt::exit_code(),
            text: "stopped before all tuples were tried".into(),
        });
    };
    let fits = fit_all(&samples);
    let functions = fits.len();
    let published_functions = PUBLISHED.into_iter().filter_map(|(name, bases, joins)| {
        let rank = fits.iter().position(|fit| fit.form == FunctionForm { bases, joins })?;
        Some(RankedFunction { rank: rank + 1, name: Some(name), fit: fits[rank].clone() })
    });
    let published_functions = published_functions.collect();
    let best =
        (1..).zip(fits.into_iter().take(SHOWN)).map(|(rank, fit)| RankedFunction { rank, name: None, fit }).collect();
    let result = Fitted {
        schema: "drystone/regression/1",
        drystone: VERSION,
        settings,
        samples: samples.len(),
        functions,
        best,
        published: published_functions,
    };
    if let Some(file) = report_file {
        file.write_result(&result)?.publish()?;
    }
    output::print_result(&result, args.output.format)?;
    Ok(DONE)
}

impl Printable for Fitted {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        let s = &self.settings;
        document.add_heading("Orders by regression over trials");
        document.add_facts(vec![
            ("drystone".to_string(), self.drystone.to_string()),
            ("machine".to_string(), format!("{} processors", format_count(s.procs.into()))),
            (
                "tuples".to_string(),
                format!("{}, of {} jobs at work and {} waiting", format_count(s.tuples as u64), s.running, s.queue),
            ),
            ("trials per tuple".to_string(), format_count(s.trials as u64)),
            ("samples".to_string(), format_count(self.samples as u64)),
            ("seed".to_string(), s.seed.to_string()),
        ]);
        document.add_heading(format!("The best of {} functions", format_count(self.functions as u64)));
        document.add_table(ranking_table(&self.best));
        document.add_heading("The forms of the published functions, with the weights that fit here");
        document.add_table(ranking_table(&self.published));
        document.add_text("A formula is an order: drystone compare -p easy -p 'easy(order=FORMULA,backfill=FORMULA)'.");
        document
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for ranking in self.best.iter().chain(&self.published) {
            let mut row = FlatRow::default();
            row.add_text("drystone", self.drystone);
            row.add_text("seed", self.settings.seed);
            row.add_text("trials", self.settings.trials);
            row.add_text("tuples", self.settings.tuples);
            row.add_text("rank", ranking.rank);
            row.add_text("name", ranking.name.unwrap_or(""));
            row.add_number("error", Some(ranking.fit.error));
            row.add_text("formula", &ranking.fit.formula);
            rows.push(row);
        }
        rows
    }
}

fn ranking_table(rankings: &[RankedFunction]) -> DocumentTable {
    let mut table = DocumentTable::new(["rank", "name", "error", "formula"]).with_text_columns(&[1, 3]);
    for r in rankings {
        table.add_row(vec![
            format_count(r.rank as u64).into(),
            r.name.unwrap_or("").into(),
            format!("{:.6}", r.fit.error).into(),
            r.fit.formula.as_str().into(),
        ]);
    }
    table
}
