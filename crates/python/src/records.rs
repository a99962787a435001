//! COCO's records, dictionaries as `json.load` makes them, as columns.

use ioukit_core::memory;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::arrays::{column, table};
use crate::detached::attached;

/// The columns of records: one per name, in the order of the names; `None` if any value is not of its kind.
///
/// Kinds are `integer`, `number`, and `box` for a list or tuple of four numbers. Numbers are `int` or `float`, no others.
#[pyfunction]
pub fn record_columns<'py>(
    records: &Bound<'py, PyList>,
    names: Vec<Bound<'py, PyString>>,
    kinds: Vec<String>,
) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    attached(|| columns(records, &names, &kinds))
}

fn columns<'py>(
    records: &Bound<'py, PyList>,
    names: &[Bound<'py, PyString>],
    kinds: &[String],
) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    let py = records.py();
    let mut columns: Vec<Values> = kinds.iter().map(|kind| Values::new(kind, records.len())).collect();
    // All values of a record before the next one: they lie close together.
    for record in records {
        let Ok(record) = record.cast::<PyDict>() else { return Ok(None) };
        for (name, values) in names.iter().zip(&mut columns) {
            let Some(()) = record.get_item(name)?.and_then(|value| values.push(&value)) else { return Ok(None) };
        }
    }
    let arrays = columns.into_iter().map(|values| match values {
        Values::Integers(values) => column(py, values),
        Values::Numbers(values) => column(py, values),
        Values::Boxes(values) => table(py, values),
    });
    arrays.collect::<PyResult<_>>().map(Some)
}

/// A column that grows.
enum Values {
    Integers(memory::Vec<i64>),
    Numbers(memory::Vec<f64>),
    Boxes(memory::Vec<[f64; 4]>),
}

impl Values {
    fn new(kind: &str, count: usize) -> Self {
        match kind {
            "integer" => Self::Integers(memory::Vec::with_capacity(count)),
            "number" => Self::Numbers(memory::Vec::with_capacity(count)),
            _ => Self::Boxes(memory::Vec::with_capacity(count)),
        }
    }

    /// Adds a value; `None` if it is of another kind.
    fn push(&mut self, value: &Bound<'_, PyAny>) -> Option<()> {
        match self {
            Self::Integers(values) => values.push(integer(value)?),
            Self::Numbers(values) => values.push(number(value)?),
            Self::Boxes(values) => values.push(four(value)?),
        }
        Some(())
    }
}

fn integer(value: &Bound<'_, PyAny>) -> Option<i64> {
    value.cast_exact::<PyInt>().ok()?.extract().ok()
}

fn number(value: &Bound<'_, PyAny>) -> Option<f64> {
    if let Ok(value) = value.cast_exact::<PyFloat>() {
        return Some(value.value());
    }
    value.cast_exact::<PyInt>().ok()?.extract().ok()
}

fn four(value: &Bound<'_, PyAny>) -> Option<[f64; 4]> {
    if let Ok(list) = value.cast_exact::<PyList>() {
        let [x, y, width, height] = [0, 1, 2, 3].map(|at| list.get_item(at).ok().and_then(|one| number(&one)));
        return if list.len() == 4 { Some([x?, y?, width?, height?]) } else { None };
    }
    let tuple = value.cast_exact::<PyTuple>().ok()?;
    let [x, y, width, height] = [0, 1, 2, 3].map(|at| tuple.get_item(at).ok().and_then(|one| number(&one)));
    if tuple.len() == 4 { Some([x?, y?, width?, height?]) } else { None }
}

/// Adds to records with boxes what pycocotools' `loadRes` adds: a polygon where there is none, area, id and `iscrowd`.
///
/// The boxes must be lists or tuples of four `int` or `float`; sums and products are those of Python.
#[pyfunction]
pub fn complete_boxes(records: &Bound<'_, PyList>) -> PyResult<()> {
    let py = records.py();
    let [bbox, segmentation, area, id, iscrowd] = [
        intern!(py, "bbox"),
        intern!(py, "segmentation"),
        intern!(py, "area"),
        intern!(py, "id"),
        intern!(py, "iscrowd"),
    ];
    let zero = 0_i32.into_pyobject(py)?;
    for (row, record) in records.iter().enumerate() {
        let record = record.cast::<PyDict>()?;
        let sides = record.as_any().get_item(bbox)?;
        let side = |at: usize| match sides.cast_exact::<PyList>() {
            Ok(list) => list.get_item(at),
            Err(_) => sides.get_item(at),
        };
        let (x, y, width, height) = (side(0)?, side(1)?, side(2)?, side(3)?);
        if !record.contains(segmentation)? {
            let (right, bottom) = (sum(&x, &width)?, sum(&y, &height)?);
            let ring = PyList::new(py, [&x, &y, &x, &bottom, &right, &bottom, &right, &y])?;
            record.set_item(segmentation, PyList::new(py, [ring])?)?;
        }
        record.set_item(area, product(&width, &height)?)?;
        record.set_item(id, row + 1)?;
        record.set_item(iscrowd, &zero)?;
    }
    Ok(())
}

fn sum<'py>(first: &Bound<'py, PyAny>, second: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match (first.cast_exact::<PyFloat>(), second.cast_exact::<PyFloat>()) {
        (Ok(first), Ok(second)) => Ok(PyFloat::new(first.py(), first.value() + second.value()).into_any()),
        _ => first.add(second),
    }
}

fn product<'py>(first: &Bound<'py, PyAny>, second: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match (first.cast_exact::<PyFloat>(), second.cast_exact::<PyFloat>()) {
        (Ok(first), Ok(second)) => Ok(PyFloat::new(first.py(), first.value() * second.value()).into_any()),
        _ => first.mul(second),
    }
}
