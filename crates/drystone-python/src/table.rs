//! Tables: columns that other libraries take through Arrow's C interface without a copy, and numpy
//! by name.

use crate::error;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, DurationMicrosecondArray, DurationMillisecondArray,
    DurationNanosecondArray, DurationSecondArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    RecordBatchOptions, StringArray, TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, cast::AsArray,
};
use arrow_schema::{DataType, Field, Schema};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use std::collections::HashMap;
use std::sync::Arc;

/// A column of numbers, truths, texts or times.
pub(crate) enum PyColumn {
    Int(Vec<i64>),
    MaybeInt(Vec<Option<i64>>),
    Float(Vec<f64>),
    MaybeFloat(Vec<Option<f64>>),
    Bool(Vec<bool>),
    Text(Vec<Option<String>>),
    /// Places of names; what has no name is none.
    Names(Vec<i32>, Arc<Vec<String>>),
    /// An array of Arrow.
    Other(ArrayRef),
}

impl PyColumn {
    fn into_array(self) -> PyResult<ArrayRef> {
        Ok(match self {
            PyColumn::Int(values) => Arc::new(Int64Array::from(values)),
            PyColumn::MaybeInt(values) => Arc::new(Int64Array::from(values)),
            PyColumn::Float(values) => Arc::new(Float64Array::from(values)),
            PyColumn::MaybeFloat(values) => Arc::new(Float64Array::from(values)),
            PyColumn::Bool(values) => Arc::new(BooleanArray::from(values)),
            PyColumn::Text(values) => Arc::new(StringArray::from(values)),
            PyColumn::Names(codes, names) => {
                let is_known = |code: i32| usize::try_from(code).is_ok_and(|code| code < names.len());
                let keys = Int32Array::from_iter(codes.into_iter().map(|code| is_known(code).then_some(code)));
                let words = Arc::new(StringArray::from_iter_values(names.iter()));
                Arc::new(DictionaryArray::<Int32Type>::try_new(keys, words).map_err(error::internal_error)?)
            }
            PyColumn::Other(array) => array,
        })
    }

    fn is_nullable(&self) -> bool {
        !matches!(self, PyColumn::Int(_) | PyColumn::Float(_) | PyColumn::Bool(_))
    }
}

/// A table that does not change.
#[pyclass(frozen, name = "Table", module = "drystone._drystone")]
pub(crate) struct PythonTable {
    batch: RecordBatch,
}

/// A column in parts that numpy and pickle have: name, kind, values, rows that have none, names.
type ColumnParts<'py> =
    (String, &'static str, Bound<'py, PyAny>, Option<Bound<'py, PyArray1<bool>>>, Option<Vec<String>>);

impl PythonTable {
    pub(crate) fn new(columns: Vec<(String, PyColumn)>) -> PyResult<PythonTable> {
        PythonTable::with_metadata(columns, HashMap::new())
    }

    /// A table that says something of its origin.
    pub(crate) fn with_metadata(
        columns: Vec<(String, PyColumn)>,
        metadata: HashMap<String, String>,
    ) -> PyResult<PythonTable> {
        let (mut fields, mut arrays) = (Vec::with_capacity(columns.len()), Vec::with_capacity(columns.len()));
        for (name, column) in columns {
            let nullable = column.is_nullable();
            let array = column.into_array()?;
            fields.push(Field::new(name, array.data_type().clone(), nullable));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        let options = RecordBatchOptions::new().with_row_count(Some(arrays.first().map_or(0, |array| array.len())));
        Ok(PythonTable {
            batch: RecordBatch::try_new_with_options(schema, arrays, &options).map_err(error::internal_error)?,
        })
    }

    fn find_column(&self, name: &str) -> PyResult<&ArrayRef> {
        self.batch.column_by_name(name).ok_or_else(|| {
            let known_names = self.columns().join(", ");
            PyKeyError::new_err(format!("there is no column `{name}`; there are {known_names}"))
        })
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
    /// floats; texts are objects; of names it has the numbers, −1 where there is none.
    fn numpy<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.find_column(name)?;
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
            DataType::Dictionary(..) => {
                let keys = column.as_dictionary::<Int32Type>().keys().iter();
                PyArray1::from_iter(py, keys.map(|key| key.map_or(-1, i64::from))).into_any()
            }
            _ => {
                let texts: Vec<Option<&str>> = column.as_string::<i32>().iter().collect();
                let list = texts.into_pyobject(py)?;
                py.import("numpy")?.call_method1("array", (list, "object"))?
            }
        })
    }

    /// The names that the numbers of a column are places of; `None` where it holds none.
    fn names(&self, name: &str) -> PyResult<Option<Vec<String>>> {
        let column = self.find_column(name)?;
        let DataType::Dictionary(..) = column.data_type() else { return Ok(None) };
        let words = column.as_dictionary::<Int32Type>().values();
        Ok(Some(words.as_string::<i32>().iter().map(|word| word.unwrap_or_default().to_string()).collect()))
    }

    /// Every column in parts, from which `arrays` makes the table again.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Vec<ColumnParts<'py>>> {
        let part = |name: String| -> PyResult<ColumnParts<'py>> {
            let column = self.find_column(&name)?;
            let missing = (column.null_count() > 0)
                .then(|| PyArray1::from_iter(py, (0..column.len()).map(|row| column.is_null(row))));
            let names = self.names(&name)?;
            let (kind, values) = match column.data_type() {
                DataType::Int64 => {
                    ("int", PyArray1::from_slice(py, column.as_primitive::<Int64Type>().values()).into_any())
                }
                DataType::Float64 => {
                    ("float", PyArray1::from_slice(py, column.as_primitive::<Float64Type>().values()).into_any())
                }
                DataType::Boolean => ("bool", self.numpy(py, &name)?),
                DataType::Dictionary(..) => ("names", self.numpy(py, &name)?),
                _ => ("text", column.as_string::<i32>().iter().collect::<Vec<_>>().into_pyobject(py)?.into_any()),
            };
            Ok((name, kind, values, missing, names))
        };
        self.columns().into_iter().map(part).collect()
    }

    /// Origin of the table, as text.
    fn metadata(&self) -> HashMap<String, String> {
        self.batch.schema().metadata().clone()
    }
}

/// A column in parts, from Python.
type GivenParts<'py> = (String, String, Bound<'py, PyAny>, Option<PyReadonlyArray1<'py, bool>>, Option<Vec<String>>);

fn extract_numbers<'py, T: numpy::Element + Copy>(
    values: &Bound<'py, PyAny>,
    missing: Option<&PyReadonlyArray1<'py, bool>>,
) -> PyResult<Vec<Option<T>>> {
    let values: PyReadonlyArray1<'_, T> = values.extract()?;
    let values = values.as_array();
    Ok(match missing {
        None => values.iter().map(|&value| Some(value)).collect(),
        Some(missing) => {
            let missing = missing.as_array();
            values.iter().zip(missing).map(|(&value, &missing)| (!missing).then_some(value)).collect()
        }
    })
}

fn column_of(
    kind: &str,
    values: &Bound<'_, PyAny>,
    missing: Option<&PyReadonlyArray1<'_, bool>>,
    names: Option<Vec<String>>,
) -> PyResult<PyColumn> {
    let times = || extract_numbers::<i64>(values, missing);
    let array: ArrayRef = match kind {
        "int" if missing.is_none() => {
            return Ok(PyColumn::Int(values.extract::<PyReadonlyArray1<'_, i64>>()?.as_array().to_vec()));
        }
        "float" if missing.is_none() => {
            return Ok(PyColumn::Float(values.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec()));
        }
        "int" => return Ok(PyColumn::MaybeInt(extract_numbers(values, missing)?)),
        "float" => return Ok(PyColumn::MaybeFloat(extract_numbers(values, missing)?)),
        "bool" => return Ok(PyColumn::Bool(values.extract::<PyReadonlyArray1<'_, bool>>()?.as_array().to_vec())),
        "text" => return Ok(PyColumn::Text(values.extract()?)),
        "names" => {
            let code = |code: Option<i64>| code.and_then(|code| i32::try_from(code).ok()).unwrap_or(-1);
            let codes = extract_numbers::<i64>(values, missing)?.into_iter().map(code).collect();
            return Ok(PyColumn::Names(codes, Arc::new(names.unwrap_or_default())));
        }
        "stamp:s" => Arc::new(TimestampSecondArray::from(times()?)),
        "stamp:ms" => Arc::new(TimestampMillisecondArray::from(times()?)),
        "stamp:us" => Arc::new(TimestampMicrosecondArray::from(times()?)),
        "stamp:ns" => Arc::new(TimestampNanosecondArray::from(times()?)),
        "length:s" => Arc::new(DurationSecondArray::from(times()?)),
        "length:ms" => Arc::new(DurationMillisecondArray::from(times()?)),
        "length:us" => Arc::new(DurationMicrosecondArray::from(times()?)),
        "length:ns" => Arc::new(DurationNanosecondArray::from(times()?)),
        other => return Err(error::internal_error(format!("there is no kind of column `{other}`"))),
    };
    Ok(PyColumn::Other(array))
}

/// A table from columns in parts.
#[pyfunction]
#[pyo3(signature = (columns, metadata=None))]
pub(crate) fn arrays(columns: Vec<GivenParts<'_>>, metadata: Option<HashMap<String, String>>) -> PyResult<PythonTable> {
    let mut array_objects = Vec::with_capacity(columns.len());
    let mut rows = None;
    for (name, kind, values, missing, names) in columns {
        let length = values.len()?;
        if *rows.get_or_insert(length) != length {
            let problem = format!("column `{name}` has {length} rows, others have {}", rows.unwrap_or_default());
            return Err(error::table_error(&problem, Some(&name), None));
        }
        array_objects.push((name, column_of(&kind, &values, missing.as_ref(), names)?));
    }
    PythonTable::with_metadata(array_objects, metadata.unwrap_or_default())
}
