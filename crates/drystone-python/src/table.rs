//! Tables: columns that other libraries take through Arrow's C interface without a copy, and numpy
//! by name.

use crate::error;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, cast::AsArray};
use arrow_schema::{DataType, Field, Schema};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use std::sync::Arc;

/// A column of numbers, truths or texts.
pub(crate) enum PyColumn {
    Int(Vec<i64>),
    MaybeInt(Vec<Option<i64>>),
    Float(Vec<f64>),
    MaybeFloat(Vec<Option<f64>>),
    Bool(Vec<bool>),
    Text(Vec<Option<String>>),
}

impl PyColumn {
    fn array(self) -> ArrayRef {
        match self {
            PyColumn::Int(values) => Arc::new(Int64Array::from(values)),
            PyColumn::MaybeInt(values) => Arc::new(Int64Array::from(values)),
            PyColumn::Float(values) => Arc::new(Float64Array::from(values)),
            PyColumn::MaybeFloat(values) => Arc::new(Float64Array::from(values)),
            PyColumn::Bool(values) => Arc::new(BooleanArray::from(values)),
            PyColumn::Text(values) => Arc::new(StringArray::from(values)),
        }
    }

    fn is_nullable(&self) -> bool {
        matches!(self, PyColumn::MaybeInt(_) | PyColumn::MaybeFloat(_) | PyColumn::Text(_))
    }
}

/// A table that does not change.
#[pyclass(frozen, name = "Table", module = "drystone._drystone")]
pub(crate) struct PythonTable {
    batch: RecordBatch,
}

impl PythonTable {
    pub(crate) fn new(columns: Vec<(String, PyColumn)>) -> PyResult<PythonTable> {
        let field = |(name, column): &(String, PyColumn)| {
            let kind = match column {
                PyColumn::Int(_) | PyColumn::MaybeInt(_) => DataType::Int64,
                PyColumn::Float(_) | PyColumn::MaybeFloat(_) => DataType::Float64,
                PyColumn::Bool(_) => DataType::Boolean,
                PyColumn::Text(_) => DataType::Utf8,
            };
            Field::new(name, kind, column.is_nullable())
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let arrays = columns.into_iter().map(|(_, column)| column.array()).collect();
        Ok(PythonTable { batch: RecordBatch::try_new(schema, arrays).map_err(error::internal)? })
    }
}

#[pymethods]
impl PythonTable {
    /// Names of the columns, in order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The table for libraries that speak Arrow's C interface; nothing is copied.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = PyTable::try_new(vec![self.batch.clone()], self.batch.schema())?;
        Bound::new(py, table)?.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    /// A column as an array of numpy. Numbers that are missing are NaN, and make the column one of
    /// floats; texts are objects.
    fn numpy<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let Some(column) = self.batch.column_by_name(name) else {
            let known = self.columns().join(", ");
            return Err(PyKeyError::new_err(format!("there is no column `{name}`; there are {known}")));
        };
        Ok(match column.data_type() {
            DataType::Int64 if column.null_count() == 0 => {
                PyArray1::from_slice(py, column.as_primitive::<Int64Type>().values()).into_any()
            }
            DataType::Int64 => {
                let values = column.as_primitive::<Int64Type>().iter();
                PyArray1::from_iter(py, values.map(|v| v.map_or(f64::NAN, |v| v as f64))).into_any()
            }
            DataType::Float64 => {
                let values = column.as_primitive::<Float64Type>().iter();
                PyArray1::from_iter(py, values.map(|v| v.unwrap_or(f64::NAN))).into_any()
            }
            DataType::Boolean => {
                PyArray1::from_iter(py, column.as_boolean().iter().map(|v| v.unwrap_or(false))).into_any()
            }
            _ => {
                let texts: Vec<Option<&str>> = column.as_string::<i32>().iter().collect();
                let list = texts.into_pyobject(py)?;
                py.import("numpy")?.call_method1("array", (list, "object"))?
            }
        })
    }
}

/// A table from columns that are arrays of whole numbers or floats, or lists of texts.
#[pyfunction]
pub(crate) fn arrays(columns: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<PythonTable> {
    let mut made = Vec::with_capacity(columns.len());
    let mut rows = None;
    for (name, values) in columns {
        let column = if let Ok(array) = values.extract::<PyReadonlyArray1<'_, i64>>() {
            PyColumn::Int(array.as_array().to_vec())
        } else if let Ok(array) = values.extract::<PyReadonlyArray1<'_, f64>>() {
            PyColumn::Float(array.as_array().to_vec())
        } else if let Ok(texts) = values.extract::<Vec<Option<String>>>() {
            PyColumn::Text(texts)
        } else {
            let problem = format!("column `{name}` is no column: expected one dimension of numbers or texts");
            return Err(error::table(&problem, Some(&name), None));
        };
        let length = values.len()?;
        if *rows.get_or_insert(length) != length {
            let problem = format!("column `{name}` has {length} rows, others have {}", rows.unwrap_or_default());
            return Err(error::table(&problem, Some(&name), None));
        }
        made.push((name, column));
    }
    PythonTable::new(made)
}
