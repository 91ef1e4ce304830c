//! `drystone policies`: the registry for people.

use super::orders::{Orders, append_orders, list_orders};
use super::parameters::ParamEntry;
use super::predictors::{self, PredictorEntry};
use crate::args::{InfoFormat, PoliciesArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::document::{Document, DocumentTable};
use crate::output::{self, stdout};
use drystone::policy::{ALIASES, Alias, COMMON, Param, ParamLevel, PolicyKind, PolicySpec, policy_kinds};
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

pub(crate) fn run_policies(args: &PoliciesArgs) -> CommandOutcome {
    let listing = list_entries(args)?;
    let document = if args.certified {
        render_certified(&listing)?
    } else if args.name.is_some() {
        render_details(&listing)
    } else if args.details || args.format != InfoFormat::Table {
        render_everything(&listing)
    } else {
        render_names(&listing)
    };
    match args.format {
        InfoFormat::Table if args.details || args.certified => output::print_document(&document)?,
        InfoFormat::Table => output::print_overview(&document)?,
        InfoFormat::Markdown => stdout::write_bytes(document.render_markdown().as_bytes())?,
        InfoFormat::Json => stdout::write_bytes(&output::render_json(&listing)?)?,
    }
    Ok(DONE)
}

/// Returns the entries to list. A name is a family, a short name, or any policy with parameters.
fn list_entries(args: &PoliciesArgs) -> Result<Listing, CommandFailure> {
    let (kinds, aliases): (Vec<&PolicyKind>, Vec<&Alias>) = match &args.name {
        None => (policy_kinds(), ALIASES.iter().collect()),
        Some(name) => {
            let spec: PolicySpec = name.parse()?;
            let of_kind = |alias: &&Alias| {
                alias.means.parse::<PolicySpec>().is_ok_and(|means| means.kind().name == spec.kind().name)
            };
            (vec![spec.kind()], ALIASES.iter().filter(of_kind).collect())
        }
    };
    let takes_orders = |param: &Param| param.takes.iter().any(|takes| takes.type_name() == "order");
    let takes_formulas = kinds.iter().flat_map(|kind| kind.params).any(takes_orders);
    Ok(Listing {
        schema: "drystone/policies/1",
        drystone: crate::meta::VERSION,
        policies: kinds.into_iter().map(Into::into).collect(),
        aliases: aliases.into_iter().map(Into::into).collect(),
        common_parameters: COMMON.iter().map(|p| ParamEntry::new(p, &[])).collect(),
        predictors: predictors::list_predictors(),
        orders: takes_formulas.then(list_orders),
    })
}

/// Levels in the order of the list.
const LEVELS: [ParamLevel; 3] = [ParamLevel::Main, ParamLevel::Study, ParamLevel::Expert];

fn level_heading(level: ParamLevel) -> &'static str {
    match level {
        ParamLevel::Main => "Parameters",
        ParamLevel::Study => "Parameters that repeat published studies",
        ParamLevel::Expert => "Parameters for experts",
    }
}

fn render_names(listing: &Listing) -> Document {
    let mut document = Document::default();
    document.add_heading("Policies");
    let mut table = DocumentTable::new(["name", "description"]).with_text_columns(&[0, 1]);
    for kind in &listing.policies {
        table.add_row(vec![kind.name.into(), kind.summary.into()]);
    }
    document.add_table(table);
    document.add_heading("Short names");
    let mut table = DocumentTable::new(["name", "description"]).with_text_columns(&[0, 1]);
    for alias in &listing.aliases {
        table.add_row(vec![alias.name.into(), alias.summary.into()]);
    }
    document.add_table(table);
    document.add_text("Parameters of one policy: drystone policies NAME. Everything: drystone policies --details");
    document
}

fn render_everything(listing: &Listing) -> Document {
    let mut document = Document::default();
    document.add_heading("Policies");
    let mut table = DocumentTable::new(["name", "description", "source"]).with_text_columns(&[0, 1, 2]);
    for kind in &listing.policies {
        table.add_row(vec![kind.name.into(), kind.summary.into(), kind.source.into()]);
    }
    document.add_table(table);
    short_names(listing, &mut document);
    for level in LEVELS {
        let mut table = DocumentTable::new(["policy", "parameter", "default", "meaning", "values"])
            .with_text_columns(&[0, 1, 2, 3, 4]);
        let own = listing.policies.iter().flat_map(|kind| kind.parameters.iter().map(|p| (kind.name, p)));
        let common = listing.common_parameters.iter().map(|p| ("every", p));
        for (policy, p) in own.chain(common).filter(|(_, p)| p.level == level.name()) {
            let values = p.values.as_str().into();
            table.add_row(vec![policy.into(), p.name.into(), p.default.into(), p.describe_meaning().into(), values]);
        }
        document.add_heading(level_heading(level));
        document.add_table(table);
    }
    append_variants(listing, &mut document);
    append_orders(&mut document);
    predictors::append_predictors(&listing.predictors, &mut document);
    document
        .add_text("Write NAME[@VARIANT][(PARAMETER=VALUE,...)], e.g. easy, 'easy(backfill=sjf)', easy@tsafrir2007.");
    document
}

fn render_details(listing: &Listing) -> Document {
    let mut document = Document::default();
    for kind in &listing.policies {
        document.add_heading(format!("{}: {}", kind.name, kind.summary));
        document.add_text(format!("Source: {}", kind.source));
        for level in LEVELS {
            let mut table =
                DocumentTable::new(["parameter", "default", "meaning", "values"]).with_text_columns(&[0, 1, 2, 3]);
            let parameters = kind.parameters.iter().chain(&listing.common_parameters);
            for p in parameters.filter(|p| p.level == level.name()) {
                table.add_row(vec![
                    p.name.into(),
                    p.default.into(),
                    p.describe_meaning().into(),
                    p.values.as_str().into(),
                ]);
            }
            document.add_heading(level_heading(level));
            document.add_table(table);
        }
    }
    short_names(listing, &mut document);
    append_variants(listing, &mut document);
    if listing.orders.is_some() {
        append_orders(&mut document);
    }
    document
}

fn short_names(listing: &Listing, document: &mut Document) {
    if listing.aliases.is_empty() {
        return;
    }
    document.add_heading("Short names");
    let mut table = DocumentTable::new(["name", "means", "description"]).with_text_columns(&[0, 1, 2]);
    for alias in &listing.aliases {
        table.add_row(vec![alias.name.into(), alias.means.into(), alias.summary.into()]);
    }
    document.add_table(table);
}

fn append_variants(listing: &Listing, document: &mut Document) {
    if listing.policies.iter().all(|k| k.variants.is_empty()) {
        return;
    }
    document.add_heading("Variants of published studies");
    document.add_table(variants_table(listing));
}

#[cfg(feature = "reproduce")]
fn render_certified(listing: &Listing) -> Result<Document, CommandFailure> {
    let variants = listing.policies.iter().flat_map(|kind| &kind.variants);
    let variants: Vec<&str> = variants.map(|variant| variant.policy.as_str()).collect();
    let mut document = Document::default();
    document.add_heading("Variants that reproduce published studies (with --as STUDY for the workload)");
    document.add_table(variants_table(listing));
    document.add_heading("Published tables that check them: `drystone reproduce STUDY --logs DIR`");
    document.add_table(super::reproduce::check_table(&variants)?);
    Ok(document)
}

#[cfg(not(feature = "reproduce"))]
fn render_certified(_: &Listing) -> Result<Document, CommandFailure> {
    Err(output::format::missing_feature_error("--certified", "reproduce"))
}

fn variants_table(listing: &Listing) -> DocumentTable {
    let mut table = DocumentTable::new(["variant", "sets", "study"]).with_text_columns(&[0, 1, 2]);
    for variant in listing.policies.iter().flat_map(|k| &k.variants) {
        let sets = if variant.sets.is_empty() { "nothing: the defaults are its choices" } else { variant.sets };
        table.add_row(vec![variant.policy.clone().into(), sets.into(), variant.meaning.into()]);
    }
    table
}
