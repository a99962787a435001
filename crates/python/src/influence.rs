//! What each detection, object and image adds to a number.

use ioukit_core::evaluation::{self, Area, Inconsistent, LeftOut, Quantity, Reading, Table as MatchTable};
use ioukit_core::threads::with_threads;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Array, Column, column};
use crate::detached::{attached, detached};
use crate::evaluation::{RuleColumns, starts};

/// The columns of a match table, and what of it a number is about.
#[derive(FromPyObject)]
pub struct InfluenceColumns<'py> {
    images: usize,
    categories: usize,
    category: Column<'py, u32>,
    image: Column<'py, u32>,
    rank: Column<'py, u32>,
    row: Column<'py, i64>,
    score: Column<'py, f64>,
    matched: Array<'py, u8, 3>,
    ignored: Array<'py, u8, 3>,
    special: Option<Column<'py, u8>>,
    outside: Column<'py, bool>,
    object_category: Column<'py, u32>,
    object_image: Column<'py, u32>,
    object_flags: Column<'py, u8>,
    object_ignored: Column<'py, bool>,
    unverified: Option<Column<'py, bool>>,
    near_detection: Column<'py, i64>,
    near_object: Column<'py, i64>,
    near_overlap: Column<'py, f64>,
    range: usize,
    cap: u32,
}

/// How a number is read from curves: the thresholds and categories that it is about, and the integral.
#[derive(FromPyObject)]
pub struct ReadingColumns<'py> {
    quantity: String,
    recall_thresholds: Column<'py, f64>,
    plain_precision: bool,
    zero_if_detected: bool,
    thresholds: Column<'py, i64>,
    counted: Column<'py, bool>,
}

/// The columns of the result, or the row of a detection.
#[derive(IntoPyObject)]
pub enum DictOrRow<'py> {
    Dict(Bound<'py, PyDict>),
    Row(usize),
}

/// The numbers of all categories, and what they become without each detection, object or image.
///
/// Returns the row of a detection whose match is not that which the near pairs give, if there is one.
#[pyfunction]
pub fn leave_one_out<'py>(
    py: Python<'py>,
    columns: InfluenceColumns<'py>,
    rules: RuleColumns<'py>,
    reading: ReadingColumns<'py>,
    left_out: &str,
    threads: usize,
) -> PyResult<DictOrRow<'py>> {
    let near_starts = attached(|| Ok(starts(&columns.near_detection, columns.category.len())))?;
    let table = MatchTable {
        images: columns.images,
        categories: columns.categories,
        category: &columns.category,
        image: &columns.image,
        rank: &columns.rank,
        row: &columns.row,
        score: &columns.score,
        matched: &columns.matched,
        ignored: &columns.ignored,
        special_of: columns.special.as_deref().unwrap_or(&[]),
        outside: &columns.outside,
        object_category: &columns.object_category,
        object_image: &columns.object_image,
        object_flags: &columns.object_flags,
        object_ignored: &columns.object_ignored,
        unverified: columns.unverified.as_deref().unwrap_or(&[]),
        near_starts: &near_starts,
        near_object: &columns.near_object,
        near_overlap: &columns.near_overlap,
        ranges: columns.matched.shape()[1],
        range: columns.range,
        cap: columns.cap,
    };
    let rules = rules.rules()?;
    let how = Reading {
        quantity: match reading.quantity.as_str() {
            "points" => Quantity::MeanPrecision,
            "area" => Quantity::Area(Area::Steps),
            "trapezoid" => Quantity::Area(Area::Trapezoid),
            "sloping_trapezoid" => Quantity::Area(Area::SlopingTrapezoid),
            "recall" => Quantity::Recall,
            _ => Quantity::Precisions,
        },
        recall_thresholds: &reading.recall_thresholds,
        plain_precision: reading.plain_precision,
        zero_if_detected: reading.zero_if_detected,
    };
    let left_out = match left_out {
        "detections" => LeftOut::Detections,
        "objects" => LeftOut::Objects,
        _ => LeftOut::Images,
    };
    let thresholds: Vec<usize> = reading.thresholds.iter().map(|&threshold| threshold as usize).collect();
    let counted = &reading.counted[..];
    let found = detached(py, || {
        with_threads(threads, || evaluation::influence(table, rules, how, &thresholds, counted, left_out))
    })?;
    let found = match found {
        Ok(found) => found,
        Err(Inconsistent(row)) => return Ok(DictOrRow::Row(row)),
    };
    let dict = PyDict::new(py);
    dict.set_item("total", column(py, found.total)?)?;
    dict.set_item("defined", column(py, found.defined)?)?;
    dict.set_item("mean", column(py, found.mean)?)?;
    dict.set_item("change", column(py, found.change)?)?;
    dict.set_item("more_defined", column(py, found.more_defined)?)?;
    Ok(DictOrRow::Dict(dict))
}
