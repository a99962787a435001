//! Overlaps of boxes in space. Python has checked the numbers, and words the errors a user sees.

use ioukit_core::regions::boxes3d::{self, Boxes3d};
use ioukit_core::regions::rotated::Turn;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::convex::{check_positions, measure_named};
use super::rotated::rows_of;

/// (N, 5) bird's-eye boxes, whether their angles are degrees, whether these are clockwise, and (N, 2) middles and heights.
type Set<'py> = (PyReadonlyArray2<'py, f64>, bool, bool, PyReadonlyArray2<'py, f64>);

/// (N, M) overlaps.
#[pyfunction]
pub fn boxes3d_pairwise<'py>(
    py: Python<'py>,
    measure: &str,
    first: Set<'py>,
    second: Set<'py>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let measure = measure_named(measure)?;
    let (first, second) = (ready(&first)?, ready(&second)?);
    let values = py.detach(|| boxes3d::pairwise(measure, &first, &second, threads));
    values.into_pyarray(py).reshape([first.len(), second.len()])
}

/// (N,) overlaps of two sets of one size.
#[pyfunction]
pub fn boxes3d_elementwise<'py>(
    py: Python<'py>,
    measure: &str,
    first: Set<'py>,
    second: Set<'py>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let measure = measure_named(measure)?;
    let (first, second) = (ready(&first)?, ready(&second)?);
    if first.len() != second.len() {
        return Err(PyValueError::new_err(format!("{} boxes and {}", first.len(), second.len())));
    }
    Ok(py.detach(|| boxes3d::elementwise(measure, &first, &second, threads)).into_pyarray(py))
}

/// (P,) overlaps of the boxes at these positions of the two sets.
#[pyfunction]
pub fn boxes3d_pairs<'py>(
    py: Python<'py>,
    measure: &str,
    first: Set<'py>,
    second: Set<'py>,
    rows: PyReadonlyArray1<'py, i64>,
    columns: PyReadonlyArray1<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let measure = measure_named(measure)?;
    let (first, second) = (ready(&first)?, ready(&second)?);
    let (rows, columns) = (rows.as_slice()?, columns.as_slice()?);
    check_positions(rows, columns, first.len(), second.len())?;
    Ok(py.detach(|| boxes3d::pairs(measure, &first, &second, rows, columns, threads)).into_pyarray(py))
}

fn ready((boxes, degrees, clockwise, heights): &Set<'_>) -> PyResult<Boxes3d> {
    let (boxes, heights) = (rows_of::<5>(boxes)?, rows_of::<2>(heights)?);
    if boxes.len() != heights.len() {
        return Err(PyValueError::new_err(format!("{} boxes and {} heights", boxes.len(), heights.len())));
    }
    Ok(Boxes3d::new(boxes, Turn { degrees: *degrees, clockwise: *clockwise }, heights))
}
