//! Overlaps of convex polygons. Python has checked that they are, and words the errors a user sees.

use ioukit_core::overlap::areas::AreaMeasure;
use ioukit_core::regions::convex::{self, Polygons};
use ioukit_core::regions::hull::{self, Outlines};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{Column, Table, array, column};

/// (N, M) overlaps of polygons, each set given by (K, 2) vertices, one polygon after the other, and by where each begins.
#[pyfunction]
pub fn polygon_pairwise<'py>(
    py: Python<'py>,
    measure: &str,
    vertices1: Table<'py, f64>,
    offsets1: Column<'py, i64>,
    vertices2: Table<'py, f64>,
    offsets2: Column<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let measure = measure_named(measure)?;
    let (first, second) = (polygons(&vertices1, &offsets1)?, polygons(&vertices2, &offsets2)?);
    let values = py.detach(|| convex::pairwise(measure, &first, &second, threads));
    array(py, values, [first.len(), second.len()])
}

/// (N,) overlaps of the polygons of two sets of one size.
#[pyfunction]
pub fn polygon_elementwise<'py>(
    py: Python<'py>,
    measure: &str,
    vertices1: Table<'py, f64>,
    offsets1: Column<'py, i64>,
    vertices2: Table<'py, f64>,
    offsets2: Column<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let measure = measure_named(measure)?;
    let (first, second) = (polygons(&vertices1, &offsets1)?, polygons(&vertices2, &offsets2)?);
    if first.len() != second.len() {
        return Err(PyValueError::new_err(format!("{} polygons and {}", first.len(), second.len())));
    }
    column(py, py.detach(|| convex::elementwise(measure, &first, &second, threads)))
}

/// (P,) overlaps of the polygons at these positions of the two sets.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "two ragged sets and the pairs of them")]
pub fn polygon_pairs<'py>(
    py: Python<'py>,
    measure: &str,
    vertices1: Table<'py, f64>,
    offsets1: Column<'py, i64>,
    vertices2: Table<'py, f64>,
    offsets2: Column<'py, i64>,
    rows: Column<'py, i64>,
    columns: Column<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let measure = measure_named(measure)?;
    let (first, second) = (polygons(&vertices1, &offsets1)?, polygons(&vertices2, &offsets2)?);
    let (rows, columns) = (&rows[..], &columns[..]);
    check_positions(rows, columns, first.len(), second.len())?;
    column(py, py.detach(|| convex::pairs(measure, &first, &second, rows, columns, threads)))
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
    let (first, second) = (outlines(&first)?, outlines(&second)?);
    let positions = rows.as_ref().zip(columns.as_ref()).map(|(rows, columns)| (&rows[..], &columns[..]));
    if let Some((rows, columns)) = positions {
        check_positions(rows, columns, first.len(), second.len())?;
    }
    let count = positions.map_or(first.len() * second.len(), |(rows, _)| rows.len());
    if intersections.len() != count {
        return Err(PyValueError::new_err(format!("{} areas for {count} pairs", intersections.len())));
    }
    let mut values = intersections.to_vec();
    py.detach(|| hull::giou(&mut values, &first, &second, positions, threads));
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

/// As many rows as columns, each a position of its set.
pub(crate) fn check_positions(rows: &[i64], columns: &[i64], count1: usize, count2: usize) -> PyResult<()> {
    let within = |positions: &[i64], count: usize| positions.iter().all(|&p| (0..count as i64).contains(&p));
    if rows.len() != columns.len() || !within(rows, count1) || !within(columns, count2) {
        return Err(PyIndexError::new_err("rows and columns must be as many, and positions of their sets"));
    }
    Ok(())
}

pub(crate) fn measure_named(name: &str) -> PyResult<AreaMeasure> {
    AreaMeasure::named(name).ok_or_else(|| PyValueError::new_err(format!("no measure {name:?} of areas")))
}

pub(crate) fn polygons(vertices: &Table<'_, f64>, offsets: &Column<'_, i64>) -> PyResult<Polygons> {
    if vertices.shape()[1] != 2 {
        return Err(PyTypeError::new_err("vertices must be (K, 2)"));
    }
    Polygons::new(vertices.as_chunks().0, offsets).map_err(PyValueError::new_err)
}
