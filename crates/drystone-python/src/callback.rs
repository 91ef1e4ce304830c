//! Python objects that decide or predict, as a policy and a predictor with names.

use crate::env::agent_policy;
use crate::error;
use crate::objects::{HeldObject, PLACES, lock_mutex};
use crate::policy::PyPolicy;
use crate::predictor::PyPredictor;
use drystone::parts::predict::{PredictorKind, register_predictor};
use drystone::policy::{Args, Outside, Param, Policy, PolicyKind, SpecError, Takes, ValueForm, register_policy};
use pyo3::prelude::*;
use std::sync::Arc;

fn find_object(args: &Args<'_>) -> Result<Option<Arc<HeldObject>>, SpecError> {
    match args.text_value("object") {
        NOTHING => Ok(None),
        name => lock_mutex(&PLACES).get(name).cloned().map(Some).ok_or_else(|| {
            args.spec_error(format!(
                "there is no object `{name}` of Python here; give the object itself, or register it first \
                 (drystone.register)"
            ))
        }),
    }
}

const NOTHING: &str = "none";

const OBJECT: Param = Param::new(
    "object",
    NOTHING,
    &[Takes::Form(&ValueForm {
        name: "object",
        shape: "the name of an object of Python",
        samples: &[NOTHING],
        check: |_| true,
    })],
    "which object",
);

/// Plans of policies here and of built-in ones are the same.
const OVERDUE: Param = Param::new(
    "overdue",
    "extended",
    &[Takes::Words(&["extended", "now"])],
    "a running job past its predicted end has that end put off, as under easy, or keeps it and counts as ending now where a \
     reservation is asked for",
);

static POLICY: PolicyKind =
    PolicyKind::new("python", "a policy written in Python, by the name of its object", &|args| {
        Ok(match find_object(args)? {
            Some(holder) => match agent_policy(&holder) {
                Some(policy) => policy.map_err(|e| args.spec_error(e.to_string()))?,
                None => Box::new(PyPolicy::new(holder)) as Box<dyn Policy>,
            },
            None => Box::new(Outside),
        })
    })
    .with_source("your own program")
    .with_unnamed_param("object")
    .with_params(&[OBJECT, OVERDUE]);

static PREDICTOR: PredictorKind =
    PredictorKind::new("python", "a predictor written in Python, by the name of its object", &|args| {
        Ok(match find_object(args)? {
            Some(holder) => Box::new(PyPredictor::new(holder)),
            None => Box::new(drystone::parts::predict::UserEstimate),
        })
    })
    .with_source("your own program")
    .with_unnamed_param("object")
    .with_params(&[OBJECT]);

/// Makes both known by name; called once.
pub(crate) fn register_kinds() -> PyResult<()> {
    register_policy(&POLICY).map_err(error::internal_error)?;
    register_predictor(&PREDICTOR).map_err(error::internal_error)
}
