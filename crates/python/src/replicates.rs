//! The numbers of data sets in which images stand several times, or not at all.

use ioukit_core::evaluation::replicates::{self, Number, Reading, Weighed};
use ioukit_core::memory::copied;
use ioukit_core::threads::with_threads;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Column, Table, array};
use crate::curves::OutcomeColumns;
use crate::detached::detached;

/// The columns of a match table of which images are weighed.
#[derive(FromPyObject)]
pub struct WeighedColumns<'py> {
    outcomes: OutcomeColumns<'py>,
    num_thresholds: usize,
    image: Column<'py, u32>,
    object_category: Column<'py, u32>,
    object_image: Column<'py, u32>,
    object_ignored: Table<'py, u8>,
}

/// One number of a summary: how curves are read, the position of its area range, its cap, the positions of its
/// thresholds, and whether the mean is over each category.
#[derive(FromPyObject)]
pub struct NumberColumns<'py> {
    reading: String,
    area_range: usize,
    cap: u32,
    thresholds: Vec<usize>,
    of_category: Column<'py, bool>,
}

/// The numbers of data sets in which images stand as often as their weights say, and those of each category.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn replicate<'py>(
    py: Python<'py>,
    weighed: WeighedColumns<'py>,
    weights: Table<'py, u16>,
    numbers: Vec<NumberColumns<'py>>,
    recall_thresholds: Column<'py, f64>,
    plain_precision: bool,
    zero_where_only_detected: bool,
    per_class: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let outcomes = &weighed.outcomes;
    let &[categories, _] = outcomes.num_objects.shape() else { unreachable!("a table has two dimensions") };
    let &[count, images] = weights.shape() else { unreachable!("a table has two dimensions") };
    let given = Weighed {
        outcomes: outcomes.slices(weighed.num_thresholds),
        image: &weighed.image,
        object_category: &weighed.object_category,
        object_image: &weighed.object_image,
        object_ignored: &weighed.object_ignored,
        images,
    };
    let numbers: Vec<Number> = numbers
        .iter()
        .map(|number| Number {
            reading: match number.reading.as_str() {
                "points" => Reading::Points,
                "area" => Reading::Steps,
                "last_recall" => Reading::LastRecall,
                _ => Reading::Recalls,
            },
            range: number.area_range,
            cap: number.cap,
            thresholds: copied(&number.thresholds),
            of_category: copied(&number.of_category),
        })
        .collect();
    let rules = replicates::Rules { recall_thresholds: &recall_thresholds, plain_precision, zero_where_only_detected };
    let weights = &weights[..];
    let found = detached(py, || {
        with_threads(threads, || replicates::replicate(given, count, weights, &numbers, rules, per_class))
    })?;
    let dict = PyDict::new(py);
    dict.set_item("values", array(py, found.values, [count, numbers.len()])?)?;
    if per_class {
        dict.set_item("per_class", array(py, found.of_categories, [count, categories, numbers.len()])?)?;
    }
    Ok(dict)
}
