//! The assignment problem. Python has checked the costs.

use ioukit_core::assignment::{assign, highest_pairs as highest};
use ioukit_core::memory::Vec;
use pyo3::prelude::*;

use crate::arrays::{Column, Table, column};
use crate::detached::detached;

type Pairs<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The rows, ascending, and the columns of the assignment of lowest cost; `None` if only forbidden pairs are left.
#[pyfunction]
pub fn assign_rows<'py>(py: Python<'py>, costs: Table<'py, f64>) -> PyResult<Option<Pairs<'py>>> {
    let (rows, columns, costs) = (costs.shape()[0], costs.shape()[1], &costs[..]);
    let Some(pairs) = detached(py, || assign(costs, rows, columns))? else { return Ok(None) };
    let rows: Vec<i64> = pairs.iter().map(|pair| pair.0 as i64).collect();
    let columns: Vec<i64> = pairs.iter().map(|pair| pair.1 as i64).collect();
    Ok(Some((column(py, rows)?, column(py, columns)?)))
}

/// The places of the pairs of the highest sum, among pairs sorted by row and then by column.
#[pyfunction]
pub fn highest_pairs<'py>(
    py: Python<'py>,
    rows: Column<'py, i64>,
    columns: Column<'py, i64>,
    values: Column<'py, f64>,
    shape: [usize; 2],
) -> PyResult<Bound<'py, PyAny>> {
    let (rows, columns, values) = (&rows[..], &columns[..], &values[..]);
    let found = detached(py, || highest([rows, columns], values, shape))?;
    column(py, found.iter().map(|&place| place as i64).collect::<Vec<i64>>())
}
