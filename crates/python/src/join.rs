//! Sparse joins of boxes. Python has checked shapes and thresholds, and words the errors a user sees.

use ioukit_core::coordinate::Coordinate;
use ioukit_core::join::{Set, Threshold};
use ioukit_core::overlap::Variant;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{Column, Item, Table, column};
use crate::detached::detached;
use crate::overlap::variant_named;

/// Rows, columns and values of the pairs of `boxes1` (N, 4) and `boxes2` (M, 4), xyxy of one dtype, whose value is at
/// least `threshold`; without `boxes2`, of `boxes1` with itself. Labels come with both sets or with none.
#[pyfunction]
#[pyo3(signature = (variant, threshold, boxes1, boxes2, labels1, labels2, threads))]
pub fn overlap_join<'py>(
    variant: &str,
    threshold: f64,
    boxes1: &Bound<'py, PyAny>,
    boxes2: Option<&Bound<'py, PyAny>>,
    labels1: Option<Column<'py, i64>>,
    labels2: Option<Column<'py, i64>>,
    threads: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let variant = variant_named(variant, &[])?;
    let labels = [&labels1, &labels2];
    match boxes1.extract() {
        Ok(boxes1) => pairs::<f32>(variant, threshold, boxes1, boxes2, labels, threads),
        Err(_) => pairs::<f64>(variant, threshold, boxes1.extract()?, boxes2, labels, threads),
    }
}

fn pairs<'py, F: Coordinate + Item>(
    variant: Variant,
    threshold: f64,
    boxes1: Table<'py, F>,
    boxes2: Option<&Bound<'py, PyAny>>,
    labels: [&Option<Column<'py, i64>>; 2],
    threads: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = boxes1.py();
    let threshold =
        Threshold::new(variant, F::from_f64(threshold)).ok_or_else(|| PyValueError::new_err("no threshold"))?;
    let boxes2 = boxes2.map(|boxes2| boxes2.extract::<Table<'_, F>>()).transpose()?;
    let [labels1, labels2] = labels.map(Option::as_deref);
    let first = Set { boxes: boxes1.as_chunks().0, labels: labels1 };
    let second = match &boxes2 {
        None => None,
        Some(boxes2) => Some(Set { boxes: boxes2.as_chunks().0, labels: labels2 }),
    };
    let four = boxes1.shape()[1] == 4 && boxes2.as_ref().is_none_or(|boxes2| boxes2.shape()[1] == 4);
    let labelled = |set: &Set<'_, F>| set.labels.is_none_or(|labels| labels.len() == set.boxes.len());
    let alike = second.is_none_or(|second| second.labels.is_some() == first.labels.is_some() && labelled(&second));
    if !(four && alike && labelled(&first)) {
        return Err(PyTypeError::new_err("boxes must be (N, 4), with one label each or none in both sets"));
    }
    let pairs = detached(py, || match second {
        None => F::self_join(first, threshold, threads),
        Some(second) => F::join(first, second, threshold, threads),
    })?;
    let values: Bound<'py, PyAny> = column(py, pairs.values)?;
    (column(py, pairs.rows)?, column(py, pairs.columns)?, values).into_pyobject(py)
}
