//! Losses of box regression. Python has checked shapes and layouts.

use ioukit_core::coordinate::Coordinate;
use ioukit_core::losses::Loss;
use ioukit_core::simd::Level;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{ANY, Array, ArrayMut, Item};
use crate::detached::detached;

/// Fills `values` (N,) with the losses of `pred` (N, 4) and `target` (N, 4), xyxy, all of one dtype, and `gradient` (N, 4)
/// with their slopes in `pred`.
#[pyfunction]
pub fn loss_gradient(
    name: &str,
    parameters: Vec<f64>,
    pred: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    gradient: &Bound<'_, PyAny>,
    threads: usize,
) -> PyResult<()> {
    let loss = Loss::named(name, &parameters)
        .ok_or_else(|| PyValueError::new_err(format!("no loss {name:?} with {} parameters", parameters.len())))?;
    match pred.extract() {
        Ok(pred) => fill::<f32>(loss, pred, target.extract()?, values.extract()?, gradient.extract()?, threads),
        Err(_) => {
            fill::<f64>(loss, pred.extract()?, target.extract()?, values.extract()?, gradient.extract()?, threads)
        }
    }
}

fn fill<F: Coordinate + Item>(
    loss: Loss,
    pred: Array<'_, F, ANY>,
    target: Array<'_, F, ANY>,
    mut values: ArrayMut<'_, F, ANY>,
    mut gradient: ArrayMut<'_, F, ANY>,
    threads: usize,
) -> PyResult<()> {
    let (first, second) = (pred.as_chunks().0, target.as_chunks().0);
    let read = [pred.memory(), target.memory()];
    let values = values.items(&[&read[..], &[gradient.memory()]].concat())?;
    let slopes = gradient.items(&read)?.as_chunks_mut().0;
    if [second.len(), values.len(), slopes.len()] != [first.len(); 3] {
        return Err(PyValueError::new_err("one value and one gradient per pair"));
    }
    detached(pred.py(), || F::value_and_gradient(loss, first, second, values, slopes, threads, Level::best()))?;
    Ok(())
}
