//! Overlaps of convex polygons. Python has checked that they are, and words the errors a user sees.

use ioukit_core::overlap::areas::AreaMeasure;
use ioukit_core::regions::convex::{self, Polygons};
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// (N, M) overlaps of polygons, each set given by (K, 2) vertices, one polygon after the other, and by where each begins.
#[pyfunction]
pub fn polygon_pairwise<'py>(
    py: Python<'py>,
    measure: &str,
    vertices1: PyReadonlyArray2<'py, f64>,
    offsets1: PyReadonlyArray1<'py, i64>,
    vertices2: PyReadonlyArray2<'py, f64>,
    offsets2: PyReadonlyArray1<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let measure = measure_named(measure)?;
    let (first, second) = (polygons(&vertices1, &offsets1)?, polygons(&vertices2, &offsets2)?);
    let values = py.detach(|| convex::pairwise(measure, &first, &second, threads));
    values.into_pyarray(py).reshape([first.len(), second.len()])
}

/// (N,) overlaps of the polygons of two sets of one size.
#[pyfunction]
pub fn polygon_elementwise<'py>(
    py: Python<'py>,
    measure: &str,
    vertices1: PyReadonlyArray2<'py, f64>,
    offsets1: PyReadonlyArray1<'py, i64>,
    vertices2: PyReadonlyArray2<'py, f64>,
    offsets2: PyReadonlyArray1<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let measure = measure_named(measure)?;
    let (first, second) = (polygons(&vertices1, &offsets1)?, polygons(&vertices2, &offsets2)?);
    if first.len() != second.len() {
        return Err(PyValueError::new_err(format!("{} polygons and {}", first.len(), second.len())));
    }
    Ok(py.detach(|| convex::elementwise(measure, &first, &second, threads)).into_pyarray(py))
}

/// (P,) overlaps of the polygons at these positions of the two sets.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "two ragged sets and the pairs of them")]
pub fn polygon_pairs<'py>(
    py: Python<'py>,
    measure: &str,
    vertices1: PyReadonlyArray2<'py, f64>,
    offsets1: PyReadonlyArray1<'py, i64>,
    vertices2: PyReadonlyArray2<'py, f64>,
    offsets2: PyReadonlyArray1<'py, i64>,
    rows: PyReadonlyArray1<'py, i64>,
    columns: PyReadonlyArray1<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let measure = measure_named(measure)?;
    let (first, second) = (polygons(&vertices1, &offsets1)?, polygons(&vertices2, &offsets2)?);
    let (rows, columns) = (rows.as_slice()?, columns.as_slice()?);
    check_positions(rows, columns, first.len(), second.len())?;
    Ok(py.detach(|| convex::pairs(measure, &first, &second, rows, columns, threads)).into_pyarray(py))
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

pub(crate) fn polygons(
    vertices: &PyReadonlyArray2<'_, f64>,
    offsets: &PyReadonlyArray1<'_, i64>,
) -> PyResult<Polygons> {
    if vertices.shape()[1] != 2 {
        return Err(PyTypeError::new_err("vertices must be (K, 2)"));
    }
    Polygons::new(vertices.as_slice()?.as_chunks().0, offsets.as_slice()?).map_err(PyValueError::new_err)
}
