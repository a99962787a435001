//! Non-maximum suppression. Python has checked shapes and thresholds, and words the errors a user sees.

use ioukit_core::coordinate::Coordinate;
use ioukit_core::join::Set;
use ioukit_core::memory::Vec;
use ioukit_core::nms::{Rule, Scores, of_pairs};
use ioukit_core::number::Float;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::arrays::{Column, Item, Table, column};
use crate::detached::detached;
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
    labels: Option<Column<'py, i64>>,
    least: Option<f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let variant = variant_named(variant, &[])?;
    match boxes.extract() {
        Ok(boxes) => of_type(Rule::new(variant, f32::from_f64(threshold)), boxes, scores, labels, least, threads),
        Err(_) => of_type(Rule::new(variant, threshold), boxes.extract()?, scores, labels, least, threads),
    }
}

fn of_type<'py, F: Coordinate + Item>(
    rule: Rule<F>,
    boxes: Table<'py, F>,
    scores: &Bound<'py, PyAny>,
    labels: Option<Column<'py, i64>>,
    least: Option<f64>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, set) = (boxes.py(), set(&boxes, labels.as_deref())?);
    let (single, double): (_, Column<'py, f64>);
    let scores = match scores.extract::<Column<'py, f32>>() {
        Ok(scores) => {
            single = scores;
            Scores::Single(&single)
        }
        Err(_) => {
            double = scores.extract()?;
            Scores::Double(&double)
        }
    };
    if scores.count() != set.boxes.len() {
        return Err(PyTypeError::new_err("one score per box"));
    }
    match detached(py, || F::survivors(set.boxes, scores, set.labels, rule, least, threads))? {
        Ok(keep) => column(py, keep),
        Err(nan) => Ok(nan.into_pyobject(py)?.into_any()),
    }
}

/// Of the scores (N, C) of each image, the places, row by row, of the best that are at least `least` (C,): at most `most`,
/// by descending score. With `one_per_row`, only the first best score of a row counts.
///
/// If a score of an image is not finite, its place stands instead of an array.
#[pyfunction]
pub fn best_candidates<'py>(
    images: &Bound<'py, PyList>,
    least: &Bound<'py, PyAny>,
    one_per_row: bool,
    most: usize,
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    match least.extract::<Column<'py, f32>>() {
        Ok(least) => best(images, &least, one_per_row, most, threads),
        Err(_) => best::<f64>(images, &least.extract()?, one_per_row, most, threads),
    }
}

fn best<'py, F: Coordinate + Item>(
    images: &Bound<'py, PyList>,
    least: &Column<'py, F>,
    one_per_row: bool,
    most: usize,
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let py = images.py();
    let tables = images.iter().map(|table| Ok(table.extract()?)).collect::<PyResult<std::vec::Vec<Table<'py, F>>>>()?;
    if tables.iter().any(|table| table.shape()[1] != least.len()) {
        return Err(PyTypeError::new_err("one least score per column"));
    }
    let (tables, least): (Vec<&[F]>, _) = (tables.iter().map(|table| &table[..]).collect(), &least[..]);
    let found = detached(py, || F::best_candidates(&tables, least, one_per_row, most, threads))?;
    let results = PyList::empty(py);
    for places in found {
        match places {
            Ok(places) => results.append(column(py, places)?)?,
            Err(place) => results.append(place)?,
        }
    }
    Ok(results)
}

/// For each of `others`, the position in `kept` of the first that removes it, or -1, and their overlap, or NaN.
#[pyfunction]
#[pyo3(signature = (variant, threshold, kept, kept_labels, others, other_labels, threads))]
pub fn nms_first_suppressors<'py>(
    variant: &str,
    threshold: f64,
    kept: &Bound<'py, PyAny>,
    kept_labels: Option<Column<'py, i64>>,
    others: &Bound<'py, PyAny>,
    other_labels: Option<Column<'py, i64>>,
    threads: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let variant = variant_named(variant, &[])?;
    let labels = [kept_labels, other_labels];
    match kept.extract() {
        Ok(kept) => first(Rule::new(variant, f32::from_f64(threshold)), kept, others.extract()?, labels, threads),
        Err(_) => first(Rule::new(variant, threshold), kept.extract()?, others.extract()?, labels, threads),
    }
}

fn first<'py, F: Coordinate + Item>(
    rule: Rule<F>,
    kept: Table<'py, F>,
    others: Table<'py, F>,
    [kept_labels, other_labels]: [Option<Column<'py, i64>>; 2],
    threads: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = kept.py();
    let (kept, others) = (set(&kept, kept_labels.as_deref())?, set(&others, other_labels.as_deref())?);
    if kept.labels.is_some() != others.labels.is_some() {
        return Err(PyTypeError::new_err("labels of both sets or of none"));
    }
    let (numbers, values): (Vec<i64>, Vec<F>) = detached(py, || {
        let found = F::first_suppressors(kept, others, rule, threads);
        let nan = F::from_f64(f64::NAN);
        let numbers = found.iter().map(|found| found.map_or(-1, |(number, _)| i64::from(number))).collect();
        (numbers, found.iter().map(|found| found.map_or(nan, |(_, value)| value)).collect())
    })?;
    (column(py, numbers)?, column(py, values)?).into_pyobject(py)
}

fn set<'a, F: Float>(boxes: &'a Table<'_, F>, labels: Option<&'a [i64]>) -> PyResult<Set<'a, F>> {
    let set = Set { boxes: boxes.as_chunks().0, labels };
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
    better: Column<'py, i64>,
    worse: Column<'py, i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let (better, worse) = (&better[..], &worse[..]);
    let ascending =
        better.is_sorted() && better.iter().zip(worse).all(|(better, worse)| 0 <= *better && better < worse);
    let within = worse.iter().all(|&worse| usize::try_from(worse).is_ok_and(|worse| worse < count));
    if better.len() != worse.len() || !ascending || !within || count >= 1 << 31 {
        return Err(PyTypeError::new_err("pairs of positions, the better first, in its order"));
    }
    let removed_by = detached(py, || {
        let removed_by = of_pairs(count, better, worse);
        removed_by.into_iter().map(|by| by.map_or(-1, i64::from)).collect::<Vec<_>>()
    })?;
    column(py, removed_by)
}
