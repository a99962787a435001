//! Overlaps of polygons that need not be convex. Python has checked that they do not cross themselves.

use ioukit_core::regions::concave::{self, SimplePolygons};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::convex::{check_positions, measure_named, polygons};
use crate::arrays::{Column, Table, column};

/// (P,) overlaps of the polygons at these positions of the two sets, of which (N,) flags say which are convex.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "two ragged sets and the pairs of them")]
pub fn simple_polygon_pairs<'py>(
    py: Python<'py>,
    measure: &str,
    vertices1: Table<'py, f64>,
    offsets1: Column<'py, i64>,
    convex1: Column<'py, bool>,
    vertices2: Table<'py, f64>,
    offsets2: Column<'py, i64>,
    convex2: Column<'py, bool>,
    rows: Column<'py, i64>,
    columns: Column<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let measure = measure_named(measure)?;
    let (first, second) = (polygons(&vertices1, &offsets1)?, polygons(&vertices2, &offsets2)?);
    let (rows, columns) = (&rows[..], &columns[..]);
    check_positions(rows, columns, first.len(), second.len())?;
    let first = SimplePolygons { polygons: &first, convex: &convex1 };
    let second = SimplePolygons { polygons: &second, convex: &convex2 };
    if [&first, &second].iter().any(|set| set.convex.len() != set.polygons.len()) {
        return Err(PyValueError::new_err("a flag per polygon"));
    }
    column(py, py.detach(|| concave::pairs(measure, &first, &second, rows, columns, threads)))
}

/// (N,) areas, every part of the plane times the square of how often the path goes around it.
#[pyfunction]
pub fn simple_polygon_squared_windings<'py>(
    py: Python<'py>,
    vertices: Table<'py, f64>,
    offsets: Column<'py, i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let polygons = polygons(&vertices, &offsets)?;
    column(py, py.detach(|| concave::squared_windings(&polygons)))
}
