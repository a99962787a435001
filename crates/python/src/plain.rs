//! The short way of a few functions, for plain boxes: NumPy's own arrays of one dtype, float32 or float64, that need no
//! conversion and hold no invalid box. It asks all questions at once and answers `None` where one is not answered with
//! yes: Python then asks them one by one, and words the error. For a hundred boxes, Python's questions take longer than
//! the overlaps.

use ioukit_core::assignment::highest_pairs;
use ioukit_core::coordinate::Coordinate;
use ioukit_core::join::{Set, Threshold};
use ioukit_core::memory::Vec;
use ioukit_core::nms::{Rule, Scores};
use ioukit_core::overlap::{Run, Variant};
use ioukit_core::regions::boxes::Layout;
use ioukit_core::simd::Level;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};

use crate::arrays::{ArrayMut, Column, Item, Table, column, empty, is_plain};
use crate::detached::detached;
use crate::overlap::variant_named;

type Answer<'py> = PyResult<Option<Bound<'py, PyAny>>>;

/// (N, M) the overlaps of plain boxes (N, 4) and (M, 4), xyxy.
#[pyfunction]
pub fn plain_pairwise<'py>(
    variant: &str,
    parameters: std::vec::Vec<f64>,
    boxes1: &Bound<'py, PyAny>,
    boxes2: &Bound<'py, PyAny>,
    threads: &Bound<'py, PyAny>,
) -> Answer<'py> {
    let variant = variant_named(variant, &parameters)?;
    let Some(threads) = number_of(threads) else { return Ok(None) };
    if let Some((first, second)) = both_plain::<f32>(boxes1, boxes2) {
        return overlaps(variant, &first, &second, threads);
    }
    match both_plain::<f64>(boxes1, boxes2) {
        Some((first, second)) => overlaps(variant, &first, &second, threads),
        None => Ok(None),
    }
}

fn overlaps<'py, F: Coordinate + Item>(
    variant: Variant,
    first: &Table<'py, F>,
    second: &Table<'py, F>,
    threads: usize,
) -> Answer<'py> {
    let py = first.py();
    let result = empty::<F, 2>(py, [first.shape()[0], second.shape()[0]])?;
    let mut out: ArrayMut<'py, F, 2> = result.extract()?;
    let (out, run) = (out.items(&[])?, Run { threads, level: Level::best(), reused: false });
    let (rows1, rows2) = (first.as_chunks().0, second.as_chunks().0);
    detached(py, || {
        valid(rows1) && valid(rows2) && {
            F::pairwise(variant, rows1, rows2, 1, out, run);
            true
        }
    })
    .map(|filled| filled.then_some(result))
}

/// (K,) the positions of the plain boxes (N, 4), xyxy, that survive greedy suppression by an IoU above the threshold.
#[pyfunction]
pub fn plain_nms<'py>(
    boxes: &Bound<'py, PyAny>,
    scores: &Bound<'py, PyAny>,
    threshold: &Bound<'py, PyAny>,
    threads: &Bound<'py, PyAny>,
) -> Answer<'py> {
    let (Some(threshold), Some(threads)) = (ratio(threshold), number_of(threads)) else { return Ok(None) };
    if let Some(boxes) = plain::<f32>(boxes) {
        return survivors(&boxes, scores, (threshold as f32).next_up(), threads);
    }
    match plain::<f64>(boxes) {
        Some(boxes) => survivors(&boxes, scores, threshold.next_up(), threads),
        None => Ok(None),
    }
}

/// By a rule that removes from the overlap `least` on.
fn survivors<'py, F: Coordinate + Item>(
    boxes: &Table<'py, F>,
    scores: &Bound<'py, PyAny>,
    least: F,
    threads: usize,
) -> Answer<'py> {
    if !is_plain(scores) {
        return Ok(None);
    }
    let (single, double) = (scores.extract::<Column<'py, f32>>(), scores.extract::<Column<'py, f64>>());
    let scores = match (&single, &double) {
        (Ok(single), _) => Scores::Single(single),
        (_, Ok(double)) => Scores::Double(double),
        _ => return Ok(None),
    };
    let (py, rows, rule) = (boxes.py(), boxes.as_chunks().0, Rule::new(Variant::Iou, least));
    if scores.count() != rows.len() {
        return Ok(None);
    }
    let keep =
        detached(py, || if valid(rows) { F::survivors(rows, scores, None, rule, None, threads).ok() } else { None })?;
    keep.map(|keep| column(py, keep)).transpose()
}

/// Rows, columns and values of the pairs of plain boxes (N, 4) and (M, 4), xyxy, one to one with the highest sum of IoU,
/// of those whose IoU is at least `min_iou`.
#[pyfunction]
pub fn plain_matches<'py>(
    boxes1: &Bound<'py, PyAny>,
    boxes2: &Bound<'py, PyAny>,
    min_iou: &Bound<'py, PyAny>,
    threads: &Bound<'py, PyAny>,
) -> Answer<'py> {
    let (Some(least), Some(threads)) = (ratio(min_iou), number_of(threads)) else { return Ok(None) };
    if let Some((first, second)) = both_plain::<f32>(boxes1, boxes2) {
        return matches(&first, &second, least, threads);
    }
    match both_plain::<f64>(boxes1, boxes2) {
        Some((first, second)) => matches(&first, &second, least, threads),
        None => Ok(None),
    }
}

fn matches<'py, F: Coordinate + Item>(
    first: &Table<'py, F>,
    second: &Table<'py, F>,
    least: f64,
    threads: usize,
) -> Answer<'py> {
    let Some(threshold) = Threshold::new(Variant::Iou, F::from_f64(least)) else { return Ok(None) };
    let (py, rows1, rows2) = (first.py(), first.as_chunks().0, second.as_chunks().0);
    let found = detached(py, || {
        if !(valid(rows1) && valid(rows2)) {
            return None;
        }
        let pairs = F::join(Set { boxes: rows1, labels: None }, Set { boxes: rows2, labels: None }, threshold, threads);
        let values: Vec<f64> = pairs.values.iter().map(|value| value.to_f64()).collect();
        let chosen = highest_pairs([&pairs.rows, &pairs.columns], &values, [rows1.len(), rows2.len()]);
        let rows: Vec<i64> = chosen.iter().map(|&place| pairs.rows[place]).collect();
        let columns: Vec<i64> = chosen.iter().map(|&place| pairs.columns[place]).collect();
        let values: Vec<F> = chosen.iter().map(|&place| pairs.values[place]).collect();
        Some((rows, columns, values))
    })?;
    let Some((rows, columns, values)) = found else { return Ok(None) };
    Ok(Some((column(py, rows)?, column(py, columns)?, column(py, values)?).into_pyobject(py)?.into_any()))
}

/// An array of boxes (N, 4) that is plain, whatever its values, and no longer than the core can number.
fn plain<'py, F: Item>(boxes: &Bound<'py, PyAny>) -> Option<Table<'py, F>> {
    if !is_plain(boxes) {
        return None;
    }
    boxes.extract().ok().filter(|table: &Table<'py, F>| table.shape()[1] == 4 && table.shape()[0] < 1 << 31)
}

/// Two such arrays. The second one is not looked at if the first one is of another dtype.
fn both_plain<'py, F: Item>(
    boxes1: &Bound<'py, PyAny>,
    boxes2: &Bound<'py, PyAny>,
) -> Option<(Table<'py, F>, Table<'py, F>)> {
    Some((plain(boxes1)?, plain(boxes2)?))
}

fn valid<F: Coordinate>(rows: &[[F; 4]]) -> bool {
    F::first_invalid(rows, Layout::Corners).is_none()
}

/// A float of Python within [0, 1].
fn ratio(number: &Bound<'_, PyAny>) -> Option<f64> {
    let number = number.cast_exact::<PyFloat>().ok()?.value();
    (0.0..=1.0).contains(&number).then_some(number)
}

/// The threads that may work, 0 for all cores: None, or an int of Python from 1 to 65,535, above which Python cuts.
fn number_of(threads: &Bound<'_, PyAny>) -> Option<usize> {
    if threads.is_none() {
        return Some(0);
    }
    let count: u16 = threads.cast_exact::<PyInt>().ok()?.extract().ok()?;
    (count > 0).then_some(count.into())
}
