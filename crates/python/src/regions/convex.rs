//! Overlaps of convex polygons. Python has checked that they are, and words the errors a user sees.

use ioukit_core::memory::copied;
use ioukit_core::regions::convex::{self, Polygons};
use ioukit_core::regions::hull::{self, Outlines};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::check_positions;
use crate::arrays::{Column, Table, array, column};
use crate::detached::{attached, detached};

/// (K, 2) vertices, one polygon after the other, and where each begins.
pub type Set<'py> = (Table<'py, f64>, Column<'py, i64>);

super::overlaps_by_area!(convex, polygon_pairwise, polygon_elementwise, polygon_pairs);

pub(super) fn ready((vertices, offsets): &Set<'_>) -> PyResult<Polygons> {
    if vertices.shape()[1] != 2 {
        return Err(PyTypeError::new_err("vertices must be (K, 2)"));
    }
    Polygons::new(vertices.as_chunks().0, offsets).map_err(PyValueError::new_err)
}

/// The points of regions relative to their centres, where those of each begin, their areas, and their centres.
type Outlined<'py> = (Table<'py, f64>, Column<'py, i64>, Column<'py, f64>, Table<'py, f64>);

/// GIoU of regions with these areas of intersection: (P,) of the pairs at these positions, or without them (N, M).
#[pyfunction]
#[pyo3(signature = (intersections, first, second, rows, columns, threads))]
pub fn hull_giou<'py>(
    py: Python<'py>,
    intersections: Column<'py, f64>,
    first: Outlined<'py>,
    second: Outlined<'py>,
    rows: Option<Column<'py, i64>>,
    columns: Option<Column<'py, i64>>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (first, second) = attached(|| Ok((outlines(&first)?, outlines(&second)?)))?;
    let positions = rows.as_ref().zip(columns.as_ref()).map(|(rows, columns)| (&rows[..], &columns[..]));
    if let Some((rows, columns)) = positions {
        check_positions(rows, columns, first.len(), second.len())?;
    }
    let count = positions.map_or(first.len() * second.len(), |(rows, _)| rows.len());
    if intersections.len() != count {
        return Err(PyValueError::new_err(format!("{} areas for {count} pairs", intersections.len())));
    }
    let areas = &intersections[..];
    let values = detached(py, || {
        let mut values = copied(areas);
        hull::giou(&mut values, &first, &second, positions, threads);
        values
    })?;
    match positions {
        Some(_) => column(py, values),
        None => array(py, values, [first.len(), second.len()]),
    }
}

fn outlines((points, offsets, areas, centres): &Outlined<'_>) -> PyResult<Outlines> {
    if points.shape()[1] != 2 || centres.shape()[1] != 2 {
        return Err(PyTypeError::new_err("points and centres must be (K, 2)"));
    }
    Outlines::new(points.as_chunks().0, offsets, areas, centres.as_chunks().0).map_err(PyValueError::new_err)
}
