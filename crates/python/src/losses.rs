//! Losses of box regression. Python has checked shapes and layouts.

use ioukit_core::float::Float;
use ioukit_core::losses::{self, Loss};
use ioukit_core::simd::Level;
use numpy::{Element, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Fills `values` (N,) with the losses of `pred` (N, 4) and `target` (N, 4), xyxy, all of one dtype, and `gradient` (N, 4)
/// with their slopes in `pred`.
#[pyfunction]
pub fn loss_gradient(
    name: &str,
    pred: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    gradient: &Bound<'_, PyAny>,
    threads: usize,
) -> PyResult<()> {
    let loss = Loss::named(name).ok_or_else(|| PyValueError::new_err(format!("no loss {name:?}")))?;
    match values.cast::<PyArrayDyn<f32>>() {
        Ok(values) => fill(loss, pred.cast()?, target.cast()?, values, gradient.cast()?, threads),
        Err(_) => fill::<f64>(loss, pred.cast()?, target.cast()?, values.cast()?, gradient.cast()?, threads),
    }
}

fn fill<F: Float + Element>(
    loss: Loss,
    pred: &Bound<'_, PyArrayDyn<F>>,
    target: &Bound<'_, PyArrayDyn<F>>,
    values: &Bound<'_, PyArrayDyn<F>>,
    gradient: &Bound<'_, PyArrayDyn<F>>,
    threads: usize,
) -> PyResult<()> {
    let (pred, target) = (pred.try_readonly()?, target.try_readonly()?);
    let (mut values, mut gradient) = (values.try_readwrite()?, gradient.try_readwrite()?);
    let (first, second) = (pred.as_slice()?.as_chunks().0, target.as_slice()?.as_chunks().0);
    let (values, slopes) = (values.as_slice_mut()?, gradient.as_slice_mut()?.as_chunks_mut().0);
    if [second.len(), values.len(), slopes.len()] != [first.len(); 3] {
        return Err(PyValueError::new_err("one value and one gradient per pair"));
    }
    pred.py().detach(|| losses::value_and_gradient(loss, first, second, values, slopes, threads, Level::best()));
    Ok(())
}
