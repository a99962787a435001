//! Kinds of regions, one file each.
//!
//! The kinds that are compared by areas have the same three functions, which `overlaps_by_area` writes: a function of
//! Python cannot be generic. Each kind says what a set of its regions is made of, and how Python gives it.

use ioukit_core::overlap::areas::AreaMeasure;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

/// The functions of Python that compare sets of regions by areas: every pair as (N, M), two sets of one size as (N,), and
/// the regions at some positions of the two sets as (P,).
///
/// `Set` is what Python gives for a set of regions, and `ready` makes of it what the module `core` compares.
macro_rules! overlaps_by_area {
    ($core:ident, $pairwise:ident, $elementwise:ident, $pairs:ident) => {
        /// (N, M) overlaps of every region of one set with every region of the other.
        #[pyfunction]
        pub fn $pairwise<'py>(
            py: Python<'py>,
            measure: &str,
            first: Set<'py>,
            second: Set<'py>,
            threads: usize,
        ) -> PyResult<Bound<'py, PyAny>> {
            let measure = $crate::regions::measure_named(measure)?;
            let (first, second) = $crate::detached::attached(|| Ok((ready(&first)?, ready(&second)?)))?;
            let values = $crate::detached::detached(py, || $core::pairwise(measure, &first, &second, threads))?;
            $crate::arrays::array(py, values, [first.len(), second.len()])
        }

        /// (N,) overlaps of two sets of one size.
        #[pyfunction]
        pub fn $elementwise<'py>(
            py: Python<'py>,
            measure: &str,
            first: Set<'py>,
            second: Set<'py>,
            threads: usize,
        ) -> PyResult<Bound<'py, PyAny>> {
            let measure = $crate::regions::measure_named(measure)?;
            let (first, second) = $crate::detached::attached(|| Ok((ready(&first)?, ready(&second)?)))?;
            if first.len() != second.len() {
                let message = format!("{} regions and {}", first.len(), second.len());
                return Err(pyo3::exceptions::PyValueError::new_err(message));
            }
            $crate::arrays::column(
                py,
                $crate::detached::detached(py, || $core::elementwise(measure, &first, &second, threads))?,
            )
        }

        $crate::regions::overlaps_by_area!($core, $pairs);
    };
    ($core:ident, $pairs:ident) => {
        /// (P,) overlaps of the regions at these positions of the two sets.
        #[pyfunction]
        pub fn $pairs<'py>(
            py: Python<'py>,
            measure: &str,
            first: Set<'py>,
            second: Set<'py>,
            rows: $crate::arrays::Column<'py, i64>,
            columns: $crate::arrays::Column<'py, i64>,
            threads: usize,
        ) -> PyResult<Bound<'py, PyAny>> {
            let measure = $crate::regions::measure_named(measure)?;
            let (first, second) = $crate::detached::attached(|| Ok((ready(&first)?, ready(&second)?)))?;
            let (rows, columns) = (&rows[..], &columns[..]);
            $crate::regions::check_positions(rows, columns, first.len(), second.len())?;
            $crate::arrays::column(
                py,
                $crate::detached::detached(py, || $core::pairs(measure, &first, &second, rows, columns, threads))?,
            )
        }
    };
}
use overlaps_by_area;

pub mod boxes3d;
pub mod concave;
pub mod convex;
pub mod keypoints;
pub mod masks;
pub mod rotated;

/// As many rows as columns, each a position of its set.
fn check_positions(rows: &[i64], columns: &[i64], count1: usize, count2: usize) -> PyResult<()> {
    let within = |positions: &[i64], count: usize| positions.iter().all(|&p| (0..count as i64).contains(&p));
    if rows.len() != columns.len() || !within(rows, count1) || !within(columns, count2) {
        return Err(PyIndexError::new_err("rows and columns must be as many, and positions of their sets"));
    }
    Ok(())
}

fn measure_named(name: &str) -> PyResult<AreaMeasure> {
    AreaMeasure::named(name).ok_or_else(|| PyValueError::new_err(format!("no measure {name:?} of areas")))
}
