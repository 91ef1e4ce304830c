//! The orders that policies take, for people: names, and the language of formulas.

use crate::output::document::{Document, DocumentTable};
use drystone::parts::formula::{FACTORS, FUNCTIONS, NAMED, VARIABLES, VARIANTS};
use serde::Serialize;

/// Everything that may stand where an order is taken, beside the words that the parameter lists.
#[derive(Serialize)]
pub(crate) struct Orders {
    named: Vec<NamedEntry>,
    variants: Vec<OrderEntry>,
    multifactor: Vec<OrderEntry>,
    variables: Vec<OrderEntry>,
    functions: Vec<OrderEntry>,
}

#[derive(Serialize)]
struct NamedEntry {
    name: &'static str,
    formula: String,
    summary: &'static str,
    source: &'static str,
}

#[derive(Serialize)]
struct OrderEntry {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    meaning: &'static str,
}

fn order_entry(name: &'static str, meaning: &'static str) -> OrderEntry {
    OrderEntry { name, unit: None, meaning }
}

pub(crate) fn list_orders() -> Orders {
    let named_entries = NAMED.iter().map(|order| NamedEntry {
        name: order.name,
        formula: order.formula.replace('R', &order.run.to_string()),
        summary: order.summary,
        source: order.source,
    });
    let usage = OrderEntry {
        unit: Some("1"),
        ..order_entry("usage(7d)", "the user's share of all processor-seconds within the last seven days, from 0 to 1")
    };
    let variables = VARIABLES.iter().map(|v| OrderEntry { unit: Some(v.unit), ..order_entry(v.name, v.meaning) });
    Orders {
        named: named_entries.collect(),
        variants: VARIANTS.iter().map(|variant| order_entry(variant.name, variant.meaning)).collect(),
        multifactor: FACTORS.iter().map(|&(key, _, meaning)| order_entry(key, meaning)).collect(),
        variables: variables.chain([usage]).collect(),
        functions: FUNCTIONS.iter().map(|f| order_entry(f.name, f.meaning)).collect(),
    }
}

pub(crate) fn append_orders(document: &mut Document) {
    let orders = list_orders();
    document.add_heading("Named orders (smallest value first)");
    let mut table = DocumentTable::new(["order", "formula", "description", "source"]).with_text_columns(&[0, 1, 2, 3]);
    for order in &orders.named {
        table.add_row(vec![
            order.name.into(),
            order.formula.as_str().into(),
            order.summary.into(),
            order.source.into(),
        ]);
    }
    document.add_table(table);
    let variants = orders.variants.iter().map(|v| format!("@{}: {}", v.name, v.meaning)).collect::<Vec<_>>();
    document.add_text(format!("Behind a named order, {}.", variants.join("; ")));
    let factors = orders.multifactor.iter().map(|f| format!("{}: {}", f.name, f.meaning)).collect::<Vec<_>>();
    document.add_text(format!("multifactor(age=1000,...) is a weighted sum, largest first. {}.", factors.join("; ")));
    document.add_heading("Formulas");
    let mut table = DocumentTable::new(["name", "unit", "meaning"]).with_text_columns(&[0, 1, 2]);
    for variable in &orders.variables {
        table.add_row(vec![variable.name.into(), variable.unit.unwrap_or("").into(), variable.meaning.into()]);
    }
    document.add_table(table);
    let mut table = DocumentTable::new(["function", "meaning"]).with_text_columns(&[0, 1]);
    for function in &orders.functions {
        table.add_row(vec![function.name.into(), function.meaning.into()]);
    }
    document.add_table(table);
    document.add_text(
        "Operators: + - * / ^, comparisons < <= > >= == !=, and, or, not; numbers may have a unit of time (20h, 7d). \
         Smallest value first, ties by arrival, NaN last. Example: 'easy(order=\"log10(r)*n + 870*log10(s)\")'.",
    );
}
