//! Overlaps of boxes in space. Python has checked the numbers, and words the errors a user sees.

use ioukit_core::regions::boxes3d::{self, Boxes3d};
use ioukit_core::regions::rotated::Turn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::rotated::rows_of;
use crate::arrays::Table;

/// (N, 5) bird's-eye boxes, whether their angles are degrees, whether these are clockwise, and (N, 2) middles and heights.
type Set<'py> = (Table<'py, f64>, bool, bool, Table<'py, f64>);

super::overlaps_by_area!(boxes3d, boxes3d_pairwise, boxes3d_elementwise, boxes3d_pairs);

fn ready((boxes, degrees, clockwise, heights): &Set<'_>) -> PyResult<Boxes3d> {
    let (boxes, heights) = (rows_of::<5>(boxes)?, rows_of::<2>(heights)?);
    if boxes.len() != heights.len() {
        return Err(PyValueError::new_err(format!("{} boxes and {} heights", boxes.len(), heights.len())));
    }
    Ok(Boxes3d::new(boxes, Turn { degrees: *degrees, clockwise: *clockwise }, heights))
}
