//! `drystone policies`: the registry for people.

use super::orders::{Orders, describe, orders};
use super::parameters::ParamEntry;
use super::predictors::{self, PredictorEntry};
use crate::args::{InfoFormat, PoliciesArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::document::{Document, DocumentTable};
use crate::output::{self, stdout};
use drystone::policy::{ALIASES, Alias, COMMON, Param, ParamLevel, PolicyKind, PolicySpec, kinds};
use serde::Serialize;

#[derive(Serialize)]
struct Listing {
    schema: &'static str,
    drystone: &'static str,
    policies: Vec<KindEntry>,
    aliases: Vec<AliasEntry>,
    common_parameters: Vec<ParamEntry>,
    predictors: Vec<PredictorEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    orders: Option<Orders>,
}

#[derive(Serialize)]
struct KindEntry {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    parameters: Vec<ParamEntry>,
    variants: Vec<VariantEntry>,
}

#[derive(Serialize)]
struct VariantEntry {
    /// As it can be given: `easy@tsafrir2007`.
    policy: String,
    sets: &'static str,
    meaning: &'static str,
}

#[derive(Serialize)]
struct AliasEntry {
    name: &'static str,
    means: &'static str,
    summary: &'static str,
}

impl From<&Alias> for AliasEntry {
    fn from(a: &Alias) -> AliasEntry {
        AliasEntry { name: a.name, means: a.means, summary: a.summary }
    }
}

impl From<&PolicyKind> for KindEntry {
    fn from(kind: &PolicyKind) -> KindEntry {
        let variants = kind.variants.iter().map(|v| VariantEntry {
            policy: format!("{}@{}", kind.name, v.name),
            sets: v.sets,
            meaning: v.meaning,
        });
        KindEntry {
            name: kind.name,
            summary: kind.summary,
            source: kind.source,
            parameters: kind.params.iter().map(|p| ParamEntry::new(p, kind.needs)).collect(),
            variants: variants.collect(),
        }
    }
}

pub(crate) fn policies(args: &PoliciesArgs) -> CommandOutcome {
    let listing = listing(args)?;
    let document = if args.certified {
        certified(&listing)?
    } else if args.name.is_some() {
        details(&listing)
    } else if args.details || args.format != InfoFormat::Table {
        everything(&listing)
    } else {
        names(&listing)
    };
    match args.format {
        InfoFormat::Table if args.details || args.certified => output::print_document(&document)?,
        InfoFormat::Table => output::print_overview(&document)?,
        InfoFormat::Markdown => stdout::write(document.markdown().as_bytes())?,
        InfoFormat::Json => stdout::write(&output::json(&listing)?)?,
    }
    Ok(DONE)
}

/// Returns the entries to list. A name is a family, a short name, or any policy with parameters.
fn listing(args: &PoliciesArgs) -> Result<Listing, CommandFailure> {
    let (kinds, aliases): (Vec<&PolicyKind>, Vec<&Alias>) = match &args.name {
        None => (kinds(), ALIASES.iter().collect()),
        Some(name) => {
            let spec: PolicySpec = name.parse()?;
            let of_kind = |alias: &&Alias| {
                alias.means.parse::<PolicySpec>().is_ok_and(|means| means.kind().name == spec.kind().name)
            };
            (vec![spec.kind()], ALIASES.iter().filter(of_kind).collect())
        }
    };
    let takes_orders = |param: &Param| param.takes.iter().any(|takes| takes.name() == "order");
    let takes_formulas = kinds.iter().flat_map(|kind| kind.params).any(takes_orders);
    Ok(Listing {
        schema: "drystone/policies/1",
        drystone: crate::meta::VERSION,
        policies: kinds.into_iter().map(Into::into).collect(),
        aliases: aliases.into_iter().map(Into::into).collect(),
        common_parameters: COMMON.iter().map(|p| ParamEntry::new(p, &[])).collect(),
        predictors: predictors::all(),
        orders: takes_formulas.then(orders),
    })
}

/// Levels in the order of the list.
const LEVELS: [ParamLevel; 3] = [ParamLevel::Main, ParamLevel::Study, ParamLevel::Expert];

fn heading(level: ParamLevel) -> &'static str {
    match level {
        ParamLevel::Main => "Parameters",
        ParamLevel::Study => "Parameters that repeat published studies",
        ParamLevel::Expert => "Parameters for experts",
    }
}

/// Names with one line each.
fn names(listing: &Listing) -> Document {
    let mut document = Document::default();
    document.heading("Policies");
    let mut table = DocumentTable::new(["name", "description"]).texts(&[0, 1]);
    for kind in &listing.policies {
        table.row(vec![kind.name.into(), kind.summary.into()]);
    }
    document.table(table);
    document.heading("Short names");
    let mut table = DocumentTable::new(["name", "description"]).texts(&[0, 1]);
    for alias in &listing.aliases {
        table.row(vec![alias.name.into(), alias.summary.into()]);
    }
    document.table(table);
    document.text("Parameters of one policy: drystone policies NAME. Everything: drystone policies --details");
    document
}

fn everything(listing: &Listing) -> Document {
    let mut document = Document::default();
    document.heading("Policies");
    let mut table = DocumentTable::new(["name", "description", "source"]).texts(&[0, 1, 2]);
    for kind in &listing.policies {
        table.row(vec![kind.name.into(), kind.summary.into(), kind.source.into()]);
    }
    document.table(table);
    short_names(listing, &mut document);
    for level in LEVELS {
        let mut table =
            DocumentTable::new(["policy", "parameter", "default", "meaning", "values"]).texts(&[0, 1, 2, 3, 4]);
        let own = listing.policies.iter().flat_map(|kind| kind.parameters.iter().map(|p| (kind.name, p)));
        let common = listing.common_parameters.iter().map(|p| ("every", p));
        for (policy, p) in own.chain(common).filter(|(_, p)| p.level == level.name()) {
            let values = p.values.as_str().into();
            table.row(vec![policy.into(), p.name.into(), p.default.into(), p.meaning().into(), values]);
        }
        document.heading(heading(level));
        document.table(table);
    }
    variants(listing, &mut document);
    describe(&mut document);
    predictors::describe(&listing.predictors, &mut document);
    document.text("Write NAME[@VARIANT][(PARAMETER=VALUE,...)], e.g. easy, 'easy(backfill=sjf)', easy@tsafrir2007.");
    document
}

fn details(listing: &Listing) -> Document {
    let mut document = Document::default();
    for kind in &listing.policies {
        document.heading(format!("{}: {}", kind.name, kind.summary));
        document.text(format!("Source: {}", kind.source));
        for level in LEVELS {
            let mut table = DocumentTable::new(["parameter", "default", "meaning", "values"]).texts(&[0, 1, 2, 3]);
            let all = kind.parameters.iter().chain(&listing.common_parameters);
            for p in all.filter(|p| p.level == level.name()) {
                table.row(vec![p.name.into(), p.default.into(), p.meaning().into(), p.values.as_str().into()]);
            }
            document.heading(heading(level));
            document.table(table);
        }
    }
    short_names(listing, &mut document);
    variants(listing, &mut document);
    if listing.orders.is_some() {
        describe(&mut document);
    }
    document
}

fn short_names(listing: &Listing, document: &mut Document) {
    if listing.aliases.is_empty() {
        return;
    }
    document.heading("Short names");
    let mut table = DocumentTable::new(["name", "means", "description"]).texts(&[0, 1, 2]);
    for alias in &listing.aliases {
        table.row(vec![alias.name.into(), alias.means.into(), alias.summary.into()]);
    }
    document.table(table);
}

fn variants(listing: &Listing, document: &mut Document) {
    if listing.policies.iter().all(|k| k.variants.is_empty()) {
        return;
    }
    document.heading("Variants of published studies");
    document.table(variants_table(listing));
}

#[cfg(feature = "reproduce")]
fn certified(listing: &Listing) -> Result<Document, CommandFailure> {
    let variants = listing.policies.iter().flat_map(|kind| &kind.variants);
    let variants: Vec<&str> = variants.map(|variant| variant.policy.as_str()).collect();
    let mut document = Document::default();
    document.heading("Variants that reproduce published studies (with --as STUDY for the workload)");
    document.table(variants_table(listing));
    document.heading("Published tables that check them: `drystone reproduce STUDY --logs DIR`");
    document.table(super::reproduce::checks(&variants)?);
    Ok(document)
}

#[cfg(not(feature = "reproduce"))]
fn certified(_: &Listing) -> Result<Document, CommandFailure> {
    Err(output::format::without("--certified", "reproduce"))
}

fn variants_table(listing: &Listing) -> DocumentTable {
    let mut table = DocumentTable::new(["variant", "sets", "study"]).texts(&[0, 1, 2]);
    for variant in listing.policies.iter().flat_map(|k| &k.variants) {
        let sets = if variant.sets.is_empty() { "nothing: the defaults are its choices" } else { variant.sets };
        table.row(vec![variant.policy.clone().into(), sets.into(), variant.meaning.into()]);
    }
    table
}
