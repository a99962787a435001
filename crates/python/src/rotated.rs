//! Turned rectangles and their overlaps. Python has checked the numbers, and words the errors a user sees.

use ioukit_core::rotated::{Rectangle, Turn};
use numpy::{IntoPyArray, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// (N, 4, 2) corners of (N, 5) cx, cy, width, height and angle.
#[pyfunction]
pub fn rotated_corners<'py>(
    py: Python<'py>,
    boxes: PyReadonlyArray2<'py, f64>,
    degrees: bool,
    clockwise: bool,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let rectangles = rectangles(&boxes, degrees, clockwise)?;
    let corners: Vec<f64> = rectangles.iter().flat_map(|one| one.corners().into_iter().flatten()).collect();
    corners.into_pyarray(py).reshape([rectangles.len(), 4, 2])
}

/// (N, 4) xyxy, the upright boxes around (N, 5) cx, cy, width, height and angle.
#[pyfunction]
pub fn rotated_bounds<'py>(
    py: Python<'py>,
    boxes: PyReadonlyArray2<'py, f64>,
    degrees: bool,
    clockwise: bool,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rectangles = rectangles(&boxes, degrees, clockwise)?;
    let bounds: Vec<f64> = rectangles.iter().flat_map(Rectangle::bounds).collect();
    bounds.into_pyarray(py).reshape([rectangles.len(), 4])
}

fn rectangles(boxes: &PyReadonlyArray2<'_, f64>, degrees: bool, clockwise: bool) -> PyResult<Vec<Rectangle>> {
    if boxes.shape()[1] != 5 {
        return Err(PyTypeError::new_err("boxes must be (N, 5)"));
    }
    let turn = Turn { degrees, clockwise };
    Ok(boxes.as_slice()?.as_chunks().0.iter().map(|row| Rectangle::new(row, turn)).collect())
}
