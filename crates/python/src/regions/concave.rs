//! Overlaps of polygons that need not be convex. Python has checked that they do not cross themselves.

use ioukit_core::regions::concave::{self, SimplePolygons};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::convex::{check_positions, measure_named, polygons};

/// (P,) overlaps of the polygons at these positions of the two sets, of which (N,) flags say which are convex.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "two ragged sets and the pairs of them")]
pub fn simple_polygon_pairs<'py>(
    py: Python<'py>,
    measure: &str,
    vertices1: PyReadonlyArray2<'py, f64>,
    offsets1: PyReadonlyArray1<'py, i64>,
    convex1: PyReadonlyArray1<'py, bool>,
    vertices2: PyReadonlyArray2<'py, f64>,
    offsets2: PyReadonlyArray1<'py, i64>,
    convex2: PyReadonlyArray1<'py, bool>,
    rows: PyReadonlyArray1<'py, i64>,
    columns: PyReadonlyArray1<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let measure = measure_named(measure)?;
    let (first, second) = (polygons(&vertices1, &offsets1)?, polygons(&vertices2, &offsets2)?);
    let (rows, columns) = (rows.as_slice()?, columns.as_slice()?);
    check_positions(rows, columns, first.len(), second.len())?;
    let first = SimplePolygons { polygons: &first, convex: convex1.as_slice()? };
    let second = SimplePolygons { polygons: &second, convex: convex2.as_slice()? };
    if [&first, &second].iter().any(|set| set.convex.len() != set.polygons.len()) {
        return Err(PyValueError::new_err("a flag per polygon"));
    }
    Ok(py.detach(|| concave::pairs(measure, &first, &second, rows, columns, threads)).into_pyarray(py))
}

/// (N,) areas, every part of the plane times the square of how often the path goes around it.
#[pyfunction]
pub fn simple_polygon_squared_windings<'py>(
    py: Python<'py>,
    vertices: PyReadonlyArray2<'py, f64>,
    offsets: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let polygons = polygons(&vertices, &offsets)?;
    Ok(py.detach(|| concave::squared_windings(&polygons)).into_pyarray(py))
}
