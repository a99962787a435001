//! Overlaps of polygons that need not be convex. Python has checked that they do not cross themselves.

use ioukit_core::regions::concave::{self, SimplePolygons};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::convex;
use crate::arrays::{Column, column};
use crate::detached::{attached, detached};

/// The polygons, and (N,) flags that say which of them are convex.
type Set<'py> = (convex::Set<'py>, Column<'py, bool>);

super::overlaps_by_area!(concave, simple_polygon_pairs);

fn ready<'a>((polygons, convex): &'a Set<'_>) -> PyResult<SimplePolygons<'a>> {
    let polygons = convex::ready(polygons)?;
    if convex.len() != polygons.len() {
        return Err(PyValueError::new_err("a flag per polygon"));
    }
    Ok(SimplePolygons { polygons, convex })
}

/// (N,) areas, every part of the plane times the square of how often the path goes around it.
#[pyfunction]
pub fn simple_polygon_squared_windings<'py>(
    py: Python<'py>,
    polygons: convex::Set<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let polygons = attached(|| convex::ready(&polygons))?;
    column(py, detached(py, || concave::squared_windings(&polygons))?)
}
