//! Turned rectangles and their overlaps. Python has checked the numbers, and words the errors a user sees.

use ioukit_core::memory::Vec;
use ioukit_core::regions::rotated::{self, Rectangle, Rectangles, Turn};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrays::{Table, array, table};
use crate::detached::detached;

/// (N, 5) boxes, whether their angles are degrees, and whether these are clockwise.
type Set<'py> = (Table<'py, f64>, bool, bool);

super::overlaps_by_area!(rotated, rotated_pairwise, rotated_elementwise, rotated_pairs);

/// (N, 4, 2) corners of (N, 5) cx, cy, width, height and angle.
#[pyfunction]
pub fn rotated_corners<'py>(
    py: Python<'py>,
    boxes: Table<'py, f64>,
    degrees: bool,
    clockwise: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let corners = of_each(&boxes, degrees, clockwise, |one| one.corners())?;
    array(py, corners.into_flattened().into_flattened(), [boxes.shape()[0], 4, 2])
}

/// (N, 4) xyxy, the upright boxes around (N, 5) cx, cy, width, height and angle.
#[pyfunction]
pub fn rotated_bounds<'py>(
    py: Python<'py>,
    boxes: Table<'py, f64>,
    degrees: bool,
    clockwise: bool,
) -> PyResult<Bound<'py, PyAny>> {
    table(py, of_each(&boxes, degrees, clockwise, Rectangle::bounds)?)
}

fn of_each<T: Send>(
    boxes: &Table<'_, f64>,
    degrees: bool,
    clockwise: bool,
    make: impl Fn(&Rectangle) -> T + Sync,
) -> PyResult<Vec<T>> {
    let (rows, turn) = (rows_of(boxes)?, Turn { degrees, clockwise });
    detached(boxes.py(), || rows.iter().map(|row| make(&Rectangle::new(row, turn))).collect())
}

fn ready((boxes, degrees, clockwise): &Set<'_>) -> PyResult<Rectangles> {
    Ok(Rectangles::new(rows_of(boxes)?, Turn { degrees: *degrees, clockwise: *clockwise }))
}

/// The rows of an array of `K` columns.
pub(crate) fn rows_of<'a, const K: usize>(array: &'a Table<'_, f64>) -> PyResult<&'a [[f64; K]]> {
    if array.shape()[1] != K {
        return Err(PyTypeError::new_err(format!("rows must be of {K} numbers")));
    }
    Ok(array.as_chunks().0)
}
