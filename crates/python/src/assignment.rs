//! The assignment problem. Python has checked the costs.

use ioukit_core::assignment::assign;
use ioukit_core::memory::Vec;
use pyo3::prelude::*;

use crate::arrays::{Table, column};
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
