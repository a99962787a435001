//! Soft-NMS, fusion of several detectors, and greedy passes over pairs. Python has checked values, and raises errors.

use ioukit_core::coordinate::Coordinate;
use ioukit_core::fusion::{self, Clusters, Models, Rule};
use ioukit_core::join::{Set, Threshold};
use ioukit_core::memory::Vec;
use ioukit_core::nms::settled::settle;
use ioukit_core::nms::soft::Decay;
use ioukit_core::overlap::Variant;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{Column, Item, Table, column, table};
use crate::detached::detached;
use crate::overlap::variant_named;

type Picked<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Soft-NMS of `boxes` (N, 4), xyxy: the boxes in the order they are picked and their scores then. Pairs decay whose
/// overlap is at least `threshold`; linearly, or with `sigma` by a Gaussian.
#[pyfunction]
#[pyo3(signature = (variant, threshold, boxes, labels, scores, sigma, min_score, max_keep, threads))]
#[expect(clippy::too_many_arguments, reason = "options, one argument each")]
pub fn soft_nms<'py>(
    py: Python<'py>,
    variant: &str,
    threshold: f64,
    boxes: &Bound<'py, PyAny>,
    labels: Option<Column<'py, i64>>,
    scores: Column<'py, f64>,
    sigma: Option<f64>,
    min_score: f64,
    max_keep: usize,
    threads: usize,
) -> PyResult<Picked<'py>> {
    let variant = variant_named(variant, &[])?;
    let decay = sigma.map_or(Decay::Linear, |sigma| Decay::Gaussian { sigma });
    let (labels, scores) = (labels.as_deref(), &scores[..]);
    let picked = match boxes.extract() {
        Ok(boxes) => pick::<f32>(boxes, labels, (variant, threshold), scores, (decay, min_score, max_keep), threads),
        Err(_) => {
            let boxes = boxes.extract()?;
            pick::<f64>(boxes, labels, (variant, threshold), scores, (decay, min_score, max_keep), threads)
        }
    };
    let (keep, scores) = picked?;
    Ok((column(py, keep)?, column(py, scores)?))
}

fn pick<F: Coordinate + Item>(
    boxes: Table<'_, F>,
    labels: Option<&[i64]>,
    (variant, threshold): (Variant, f64),
    scores: &[f64],
    (decay, min_score, max_keep): (Decay, f64, usize),
    threads: usize,
) -> PyResult<(Vec<i64>, Vec<f64>)> {
    let threshold =
        Threshold::new(variant, F::from_f64(threshold)).ok_or_else(|| PyValueError::new_err("no threshold"))?;
    let set = Set { boxes: boxes.as_chunks().0, labels };
    if [set.boxes.len(), labels.map_or(scores.len(), <[_]>::len)] != [scores.len(); 2] {
        return Err(PyTypeError::new_err("one score per box, and one label each or none"));
    }
    detached(boxes.py(), || {
        let pairs = F::self_join(set, threshold, threads);
        F::soft_nms(scores, &pairs, decay, min_score, max_keep)
    })
}

type Fused<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Boxes, scores, best members and the cluster of each box that was given. `scores` are weighted already.
#[pyfunction]
#[pyo3(signature = (boxes, scores, labels, models, weights, iou_threshold, moving, rule, threads))]
#[expect(clippy::too_many_arguments, reason = "columns and options, one argument each")]
pub fn fuse_boxes<'py>(
    py: Python<'py>,
    boxes: Table<'py, f64>,
    scores: Column<'py, f64>,
    labels: Column<'py, i64>,
    models: Column<'py, i64>,
    weights: Column<'py, f64>,
    iou_threshold: f64,
    moving: bool,
    rule: &str,
    threads: usize,
) -> PyResult<Fused<'py>> {
    let rule = match rule {
        "avg" => Rule::Average,
        "avg_overflow" => Rule::AverageOverflowing,
        "max" => Rule::Max,
        "box_and_model_avg" => Rule::BoxAndModelAverage,
        "absent_model_aware_avg" => Rule::AbsentModelAwareAverage,
        "best" => Rule::Best,
        _ => return Err(PyValueError::new_err(format!("no rule {rule:?}"))),
    };
    let given =
        Models { boxes: boxes.as_chunks().0, scores: &scores, labels: &labels, models: &models, weights: &weights };
    let count = given.boxes.len();
    let known = given.models.iter().all(|&model| 0 <= model && (model as usize) < given.weights.len());
    if [given.scores.len(), given.labels.len(), given.models.len()] != [count; 3] || !known {
        return Err(PyTypeError::new_err("one entry per box, and models that have a weight"));
    }
    let clusters = if moving { Clusters::Moving } else { Clusters::Fixed };
    let fused = detached(py, || fusion::fuse(given, iou_threshold, clusters, rule, threads))?;
    Ok((table(py, fused.boxes)?, column(py, fused.scores)?, column(py, fused.best)?, column(py, fused.clusters)?))
}

/// The result of greedy NMS for boxes in the order of their scores: 0 kept, 1 suppressed, 2 not known yet.
#[pyfunction]
pub fn settle_pairs<'py>(
    py: Python<'py>,
    undecided: Column<'py, bool>,
    rows: Column<'py, i64>,
    columns: Column<'py, i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let (undecided, rows, columns) = (&undecided[..], &rows[..], &columns[..]);
    let within = |&number: &i64| 0 <= number && (number as usize) < undecided.len();
    if rows.len() != columns.len() || !rows.iter().chain(columns).all(within) {
        return Err(PyTypeError::new_err("a row and a column per pair, each a box"));
    }
    let fates = detached(py, || settle(undecided, rows, columns).into_iter().map(|fate| fate as u8).collect())?;
    column(py, fates)
}
