//! Measures of masks, and masks of masks.
//!
//! Masks cross the boundary as three arrays: the runs of all, where those of each begin and the last end, and (N, 2)
//! heights and widths. They are made by `conversion` and never changed.

pub mod conversion;

use ioukit_core::memory::Vec;
use ioukit_core::overlap::coco::pairwise as coco_iou;
use ioukit_core::regions::rle::{MaskList, Masks, Size, boundary, merge, overlap};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::{check_positions, measure_named};
use crate::arrays::{ArrayMut, Column, Table, array, column, table};
use crate::detached::detached;
use conversion::Place;

type Runs<'py> = Column<'py, u32>;
type Offsets<'py> = Column<'py, i64>;
type Sizes<'py> = Table<'py, u32>;
pub type Parts<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// (N,) numbers of foreground pixels.
#[pyfunction]
pub fn mask_areas<'py>(
    py: Python<'py>,
    runs: Runs<'py>,
    offsets: Offsets<'py>,
    sizes: Sizes<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let masks = masks(&runs, &offsets, &sizes)?;
    let areas: Vec<u32> = detached(py, || masks.iter().map(|mask| mask.area()).collect())?;
    column(py, areas)
}

/// (N, 4) boxes of whole pixels `[x, y, width, height]` around the foreground, all 0 where there is none.
#[pyfunction]
pub fn mask_bounds<'py>(
    py: Python<'py>,
    runs: Runs<'py>,
    offsets: Offsets<'py>,
    sizes: Sizes<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let masks = masks(&runs, &offsets, &sizes)?;
    let bounds: Vec<f64> = detached(py, || masks.iter().flat_map(|mask| mask.bounds()).map(f64::from).collect())?;
    array(py, bounds, [masks.len(), 4])
}

/// The union of masks of one size, or their intersection; at least one.
#[pyfunction]
pub fn masks_merge<'py>(
    py: Python<'py>,
    runs: Runs<'py>,
    offsets: Offsets<'py>,
    sizes: Sizes<'py>,
    intersect: bool,
) -> PyResult<Parts<'py>> {
    let masks = masks(&runs, &offsets, &sizes)?;
    parts(py, detached(py, || merged(masks, "masks", intersect))??)
}

/// The boundary regions within `ratio` of the diagonal of the image.
#[pyfunction]
pub fn masks_boundary<'py>(
    py: Python<'py>,
    runs: Runs<'py>,
    offsets: Offsets<'py>,
    sizes: Sizes<'py>,
    ratio: f64,
    threads: usize,
) -> PyResult<Parts<'py>> {
    let masks = masks(&runs, &offsets, &sizes)?;
    let list = detached(py, || boundary::boundaries(masks, ratio, threads))?;
    parts(py, list)
}

/// Fills `out` (N, M) with an overlap of masks of one size, the intersection over the area of the other where `crowd` is
/// true for a mask of the first (N,) or the second set (M,).
#[pyfunction]
#[pyo3(signature = (measure, runs1, offsets1, sizes1, runs2, offsets2, sizes2, crowd, crowd_first, out, threads))]
#[expect(clippy::too_many_arguments, reason = "two sets of masks are six arrays")]
pub fn masks_pairwise<'py>(
    py: Python<'py>,
    measure: &str,
    runs1: Runs<'py>,
    offsets1: Offsets<'py>,
    sizes1: Sizes<'py>,
    runs2: Runs<'py>,
    offsets2: Offsets<'py>,
    sizes2: Sizes<'py>,
    crowd: Option<Column<'py, bool>>,
    crowd_first: bool,
    mut out: ArrayMut<'py, f64, 2>,
    threads: usize,
) -> PyResult<()> {
    let measure = measure_named(measure)?;
    let (first, second) = (masks(&runs1, &offsets1, &sizes1)?, masks(&runs2, &offsets2, &sizes2)?);
    let read =
        [[runs1.memory(), runs2.memory()], [offsets1.memory(), offsets2.memory()], [sizes1.memory(), sizes2.memory()]];
    let out = out.items(read.as_flattened())?;
    let crowd = crowd.as_deref();
    let crowds = if crowd_first { first.len() } else { second.len() };
    if out.len() != first.len() * second.len() || crowd.is_some_and(|crowd| crowd.len() != crowds) {
        return Err(PyTypeError::new_err("out must be (N, M), and crowd (N,) or (M,)"));
    }
    let crowd = match (crowd, crowd_first) {
        (None, _) => overlap::Crowd::No,
        (Some(crowd), true) => overlap::Crowd::First(crowd),
        (Some(crowd), false) => overlap::Crowd::Second(crowd),
    };
    detached(py, || overlap::pairwise(measure, first, second, crowd, out, threads))?;
    Ok(())
}

/// (N, M) IoU of boxes `[x, y, width, height]`, (N, 4) and (M, 4), by COCO's formula; `crowd` (N,) of the first.
#[pyfunction]
pub fn coco_box_iou<'py>(
    first: Table<'py, f64>,
    second: Table<'py, f64>,
    crowd: Column<'py, bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = first.py();
    let (boxes1, boxes2) = (first.as_chunks().0, second.as_chunks().0);
    let crowd = &crowd[..];
    if crowd.len() != boxes1.len() {
        return Err(PyTypeError::new_err("as many flags as boxes"));
    }
    let values = detached(py, || coco_iou(boxes1, boxes2, crowd))?;
    array(py, values, [boxes1.len(), boxes2.len()])
}

/// (N,) overlaps of each mask with the one at its place, of its size.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "two sets of masks are six arrays")]
pub fn masks_elementwise<'py>(
    py: Python<'py>,
    measure: &str,
    runs1: Runs<'py>,
    offsets1: Offsets<'py>,
    sizes1: Sizes<'py>,
    runs2: Runs<'py>,
    offsets2: Offsets<'py>,
    sizes2: Sizes<'py>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let measure = measure_named(measure)?;
    let (first, second) = (masks(&runs1, &offsets1, &sizes1)?, masks(&runs2, &offsets2, &sizes2)?);
    if first.len() != second.len() {
        return Err(PyTypeError::new_err("as many masks as masks"));
    }
    column(py, detached(py, || overlap::elementwise(measure, first, second, threads))?)
}

/// (P,) overlaps of the pairs of masks of one size at these rows and columns.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "two sets of masks are six arrays")]
pub fn masks_pairs<'py>(
    py: Python<'py>,
    measure: &str,
    runs1: Runs<'py>,
    offsets1: Offsets<'py>,
    sizes1: Sizes<'py>,
    runs2: Runs<'py>,
    offsets2: Offsets<'py>,
    sizes2: Sizes<'py>,
    rows: Column<'py, i64>,
    columns: Column<'py, i64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let measure = measure_named(measure)?;
    let (first, second) = (masks(&runs1, &offsets1, &sizes1)?, masks(&runs2, &offsets2, &sizes2)?);
    let (rows, columns) = (&rows[..], &columns[..]);
    check_positions(rows, columns, first.len(), second.len())?;
    column(py, detached(py, || overlap::pairs(measure, first, second, rows, columns, threads))?)
}

fn masks<'a>(runs: &'a Runs<'_>, offsets: &'a Offsets<'_>, sizes: &'a Sizes<'_>) -> PyResult<Masks<'a>> {
    let masks = Masks { runs, offsets, sizes: sizes.as_chunks().0 };
    if masks.offsets.len() != masks.sizes.len() + 1 {
        return Err(PyTypeError::new_err("one offset more than sizes"));
    }
    Ok(masks)
}

pub fn parts(py: Python<'_>, list: MaskList) -> PyResult<Parts<'_>> {
    Ok((column(py, list.runs)?, column(py, list.offsets)?, table(py, list.sizes)?))
}

/// One mask of masks of one size.
fn merged(masks: Masks<'_>, name: &str, intersect: bool) -> PyResult<MaskList> {
    let all: Vec<_> = masks.iter().collect();
    let size = all.first().ok_or_else(|| PyValueError::new_err("merge needs at least one mask"))?.size;
    if let Some(index) = all.iter().position(|mask| mask.size != size) {
        let (other, Size { height, width }) = (all[index].size, size);
        return Err(PyValueError::new_err(format!(
            "masks of another size: {} is {} x {}, {name}[0] {height} x {width} (height x width)",
            Place { name, index },
            other.height,
            other.width,
        )));
    }
    let mut list = MaskList::default();
    merge::merge(&all, size, intersect, &mut list.runs);
    list.close(size);
    Ok(list)
}
