//! Which keypoints may be similar. Python has checked the numbers.

use ioukit_core::regions::keypoints::{Keypoints, may_reach};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::check_positions;
use crate::arrays::{ANY, Array, Column, Table, column};
use crate::detached::detached;

/// (N, P, 3) keypoints of detections, (G, P, 3) of objects, (G, 4) boxes and (G,) areas of the objects, (P,) sigmas.
type Set<'py> = (Array<'py, f64, ANY>, Array<'py, f64, ANY>, Table<'py, f64>, Column<'py, f64>, Column<'py, f64>);

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
    let (detections, objects, boxes, areas, sigmas) =
        (&set.0[..], &set.1[..], set.2.as_chunks().0, &set.3[..], &set.4[..]);
    let width = 3 * sigmas.len();
    if width == 0 || detections.len() % width > 0 || [objects.len(), boxes.len() * width] != [areas.len() * width; 2] {
        return Err(PyValueError::new_err("keypoints of as many points as sigmas, a box and an area per object"));
    }
    let (rows, columns) = (&rows[..], &columns[..]);
    check_positions(rows, columns, detections.len() / width, areas.len())?;
    let keypoints = Keypoints { detections, objects, boxes, areas, sigmas };
    column(py, detached(py, || may_reach(keypoints, rows, columns, least, threads))?)
}
