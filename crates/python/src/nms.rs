//! Non-maximum suppression. Python has checked shapes and thresholds, and words the errors a user sees.

use ioukit_core::float::Float;
use ioukit_core::join::Set;
use ioukit_core::nms::{Rule, Score, first_suppressors, of_pairs, survivors};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::overlap::variant_named;

/// The positions of the boxes (N, 4), xyxy, that survive, by descending score. A kept box removes boxes with its label
/// and a lower score whose overlap with it is at least `threshold`. Boxes with scores below `least` are left out.
///
/// If a score is NaN, its position is returned instead of an array.
#[pyfunction]
#[pyo3(signature = (variant, threshold, boxes, scores, labels, least, threads))]
pub fn nms_survivors<'py>(
    variant: &str,
    threshold: f64,
    boxes: &Bound<'py, PyAny>,
    scores: &Bound<'py, PyAny>,
    labels: Option<PyReadonlyArray1<'py, i64>>,
    least: Option<f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let variant = variant_named(variant, &[])?;
    match boxes.cast::<PyArray2<f32>>() {
        Ok(boxes) => by_scores(Rule::new(variant, f32::from_f64(threshold)), boxes, scores, labels, least, threads),
        Err(_) => by_scores::<f64>(Rule::new(variant, threshold), boxes.cast()?, scores, labels, least, threads),
    }
}

fn by_scores<'py, F: Float + Element>(
    rule: Rule<F>,
    boxes: &Bound<'py, PyArray2<F>>,
    scores: &Bound<'py, PyAny>,
    labels: Option<PyReadonlyArray1<'py, i64>>,
    least: Option<f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    match scores.cast::<PyArray1<f32>>() {
        Ok(scores) => of_types(rule, boxes, scores, labels, least, threads),
        Err(_) => of_types::<F, f64>(rule, boxes, scores.cast()?, labels, least, threads),
    }
}

fn of_types<'py, F: Float + Element, S: Score + Element>(
    rule: Rule<F>,
    boxes: &Bound<'py, PyArray2<F>>,
    scores: &Bound<'py, PyArray1<S>>,
    labels: Option<PyReadonlyArray1<'py, i64>>,
    least: Option<f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, boxes, scores) = (boxes.py(), boxes.try_readonly()?, scores.try_readonly()?);
    let set = set(&boxes, labels.as_ref())?;
    let scores = scores.as_slice()?;
    if scores.len() != set.boxes.len() {
        return Err(PyTypeError::new_err("one score per box"));
    }
    let least = least.map(S::from_f64);
    match py.detach(|| survivors(set.boxes, scores, set.labels, rule, least, threads)) {
        Ok(keep) => Ok(keep.into_pyarray(py).into_any()),
        Err(nan) => Ok(nan.into_pyobject(py)?.into_any()),
    }
}

/// For each of `others`, the position in `kept` of the first that removes it, or -1, and their overlap, or NaN.
#[pyfunction]
#[pyo3(signature = (variant, threshold, kept, kept_labels, others, other_labels, threads))]
pub fn nms_first_suppressors<'py>(
    variant: &str,
    threshold: f64,
    kept: &Bound<'py, PyAny>,
    kept_labels: Option<PyReadonlyArray1<'py, i64>>,
    others: &Bound<'py, PyAny>,
    other_labels: Option<PyReadonlyArray1<'py, i64>>,
    threads: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let variant = variant_named(variant, &[])?;
    let labels = [kept_labels, other_labels];
    match kept.cast::<PyArray2<f32>>() {
        Ok(kept) => first(Rule::new(variant, f32::from_f64(threshold)), kept, others.cast()?, labels, threads),
        Err(_) => first::<f64>(Rule::new(variant, threshold), kept.cast()?, others.cast()?, labels, threads),
    }
}

fn first<'py, F: Float + Element>(
    rule: Rule<F>,
    kept: &Bound<'py, PyArray2<F>>,
    others: &Bound<'py, PyArray2<F>>,
    [kept_labels, other_labels]: [Option<PyReadonlyArray1<'py, i64>>; 2],
    threads: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let (py, kept, others) = (kept.py(), kept.try_readonly()?, others.try_readonly()?);
    let (kept, others) = (set(&kept, kept_labels.as_ref())?, set(&others, other_labels.as_ref())?);
    if kept.labels.is_some() != others.labels.is_some() {
        return Err(PyTypeError::new_err("labels of both sets or of none"));
    }
    let (numbers, values): (Vec<i64>, Vec<F>) = py.detach(|| {
        let found = first_suppressors(kept, others, rule, threads);
        let nan = F::from_f64(f64::NAN);
        found.into_iter().map(|found| found.map_or((-1, nan), |(number, value)| (i64::from(number), value))).unzip()
    });
    (numbers.into_pyarray(py), values.into_pyarray(py)).into_pyobject(py)
}

fn set<'a, F: Float + Element>(
    boxes: &'a numpy::PyReadonlyArray2<'_, F>,
    labels: Option<&'a PyReadonlyArray1<'_, i64>>,
) -> PyResult<Set<'a, F>> {
    let set =
        Set { boxes: boxes.as_slice()?.as_chunks().0, labels: labels.map(|labels| labels.as_slice()).transpose()? };
    let labelled = set.labels.is_none_or(|labels| labels.len() == set.boxes.len());
    if boxes.shape()[1] != 4 || !labelled {
        return Err(PyTypeError::new_err("boxes must be (N, 4), with one label each or none"));
    }
    Ok(set)
}

/// Of `count` regions, the best first, the position of the first that removes each, or -1 for those that survive.
///
/// `better` and `worse` are the pairs that overlap above the threshold, by ascending position of the better.
#[pyfunction]
pub fn nms_of_pairs<'py>(
    py: Python<'py>,
    count: usize,
    better: PyReadonlyArray1<'py, i64>,
    worse: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let (better, worse) = (better.as_slice()?, worse.as_slice()?);
    let ascending =
        better.is_sorted() && better.iter().zip(worse).all(|(better, worse)| 0 <= *better && better < worse);
    let within = worse.iter().all(|&worse| usize::try_from(worse).is_ok_and(|worse| worse < count));
    if better.len() != worse.len() || !ascending || !within || count >= 1 << 31 {
        return Err(PyTypeError::new_err("pairs of positions, the better first, in its order"));
    }
    let removed_by = py.detach(|| {
        let removed_by = of_pairs(count, better, worse);
        removed_by.into_iter().map(|by| by.map_or(-1, i64::from)).collect::<Vec<_>>()
    });
    Ok(removed_by.into_pyarray(py))
}
