//! Keypoints and their similarity. Python has checked the numbers.

use ioukit_core::regions::keypoints::{self, Keypoints};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::check_positions;
use crate::arrays::{ANY, Array, Column, Table, array, column, table};
use crate::detached::detached;

/// (N, P, 3) keypoints of detections, (G, P, 3) of objects, (G, 4) boxes and (G,) areas of the objects, (P,) sigmas.
type Set<'py> = (Array<'py, f64, ANY>, Array<'py, f64, ANY>, Table<'py, f64>, Column<'py, f64>, Column<'py, f64>);

fn ready<'a>(set: &'a Set<'_>) -> PyResult<Keypoints<'a>> {
    let (detections, objects, boxes, areas, sigmas) =
        (&set.0[..], &set.1[..], set.2.as_chunks().0, &set.3[..], &set.4[..]);
    let width = 3 * sigmas.len();
    if width == 0 || detections.len() % width > 0 || [objects.len(), boxes.len() * width] != [areas.len() * width; 2] {
        return Err(PyValueError::new_err("keypoints of as many points as sigmas, a box and an area per object"));
    }
    Ok(Keypoints { detections, objects, boxes, areas, sigmas })
}

fn check_pairs(keypoints: Keypoints<'_>, rows: &[i64], columns: &[i64]) -> PyResult<()> {
    let count = keypoints.detections.len() / (3 * keypoints.sigmas.len());
    check_positions(rows, columns, count, keypoints.areas.len())
}

/// (M,) whether the similarity of the pair of a detection and an object may be at least `least`.
#[pyfunction]
pub fn keypoints_may_reach<'py>(
    py: Python<'py>,
    set: Set<'py>,
    rows: Column<'py, i64>,
    columns: Column<'py, i64>,
    least: f64,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (keypoints, rows, columns) = (ready(&set)?, &rows[..], &columns[..]);
    check_pairs(keypoints, rows, columns)?;
    column(py, detached(py, || keypoints::may_reach(keypoints, rows, columns, least, threads))?)
}

/// (M, P) numbers whose `exp` are the terms of the similarity of each pair of a detection and an object.
#[pyfunction]
pub fn keypoint_exponents<'py>(
    py: Python<'py>,
    set: Set<'py>,
    rows: Column<'py, i64>,
    columns: Column<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (keypoints, rows, columns) = (ready(&set)?, &rows[..], &columns[..]);
    check_pairs(keypoints, rows, columns)?;
    let found = detached(py, || keypoints::exponents(keypoints, rows, columns, threads))?;
    array(py, found, [rows.len(), keypoints.sigmas.len()])
}

/// (M,) the similarity of each pair with an object, given (M, P) its terms in the places of their exponents.
#[pyfunction]
pub fn keypoint_means<'py>(
    py: Python<'py>,
    set: Set<'py>,
    columns: Column<'py, i64>,
    terms: Array<'py, f64, ANY>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (keypoints, columns, terms) = (ready(&set)?, &columns[..], &terms[..]);
    check_positions(columns, columns, keypoints.areas.len(), keypoints.areas.len())?;
    if terms.len() != columns.len() * keypoints.sigmas.len() {
        return Err(PyValueError::new_err("as many terms of each pair as sigmas"));
    }
    column(py, detached(py, || keypoints::means(keypoints, columns, terms, threads))?)
}

/// (N, 4) `[x, y, width, height]` around (N, P, 3) keypoints, P at least 1.
#[pyfunction]
pub fn keypoint_bounds<'py>(
    py: Python<'py>,
    points: Array<'py, f64, ANY>,
    count: usize,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let points = &points[..];
    if count == 0 || !points.len().is_multiple_of(3 * count) {
        return Err(PyValueError::new_err("rows of as many points as it says, and at least one"));
    }
    table(py, detached(py, || keypoints::bounds(points, count, threads))?)
}
