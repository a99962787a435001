//! Overlaps of boxes in space. Python has checked the numbers, and words the errors a user sees.

use ioukit_core::regions::boxes3d::{self, Boxes3d};
use ioukit_core::regions::rotated::Turn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::convex::{check_positions, measure_named};
use super::rotated::rows_of;
use crate::arrays::{Column, Table, array, column};

/// (N, 5) bird's-eye boxes, whether their angles are degrees, whether these are clockwise, and (N, 2) middles and heights.
type Set<'py> = (Table<'py, f64>, bool, bool, Table<'py, f64>);

/// (N, M) overlaps.
#[pyfunction]
pub fn boxes3d_pairwise<'py>(
    py: Python<'py>,
    measure: &str,
    first: Set<'py>,
    second: Set<'py>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let measure = measure_named(measure)?;
    let (first, second) = (ready(&first)?, ready(&second)?);
    let values = py.detach(|| boxes3d::pairwise(measure, &first, &second, threads));
    array(py, values, [first.len(), second.len()])
}

/// (N,) overlaps of two sets of one size.
#[pyfunction]
pub fn boxes3d_elementwise<'py>(
    py: Python<'py>,
    measure: &str,
    first: Set<'py>,
    second: Set<'py>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let measure = measure_named(measure)?;
    let (first, second) = (ready(&first)?, ready(&second)?);
    if first.len() != second.len() {
        return Err(PyValueError::new_err(format!("{} boxes and {}", first.len(), second.len())));
    }
    column(py, py.detach(|| boxes3d::elementwise(measure, &first, &second, threads)))
}

/// (P,) overlaps of the boxes at these positions of the two sets.
#[pyfunction]
pub fn boxes3d_pairs<'py>(
    py: Python<'py>,
    measure: &str,
    first: Set<'py>,
    second: Set<'py>,
    rows: Column<'py, i64>,
    columns: Column<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let measure = measure_named(measure)?;
    let (first, second) = (ready(&first)?, ready(&second)?);
    let (rows, columns) = (&rows[..], &columns[..]);
    check_positions(rows, columns, first.len(), second.len())?;
    column(py, py.detach(|| boxes3d::pairs(measure, &first, &second, rows, columns, threads)))
}

fn ready((boxes, degrees, clockwise, heights): &Set<'_>) -> PyResult<Boxes3d> {
    let (boxes, heights) = (rows_of::<5>(boxes)?, rows_of::<2>(heights)?);
    if boxes.len() != heights.len() {
        return Err(PyValueError::new_err(format!("{} boxes and {} heights", boxes.len(), heights.len())));
    }
    Ok(Boxes3d::new(boxes, Turn { degrees: *degrees, clockwise: *clockwise }, heights))
}
