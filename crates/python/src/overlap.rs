//! Boxes and their overlaps. Python has checked shapes and layouts, and words the errors a user sees.

use ioukit_core::coordinate::Coordinate;
use ioukit_core::overlap::{Run, Variant};
use ioukit_core::regions::boxes::Layout;
use ioukit_core::simd::Level;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{ANY, Array, ArrayMut, Item};
use crate::detached::detached;

/// The first row of `boxes` that is not a box, counted over all leading dimensions; `corners` says the format is xyxy.
#[pyfunction]
pub fn first_invalid(boxes: &Bound<'_, PyAny>, corners: bool) -> PyResult<Option<usize>> {
    fn find<F: Coordinate + Item>(boxes: Array<'_, F, ANY>, layout: Layout) -> PyResult<Option<usize>> {
        let rows = rows(&boxes);
        detached(boxes.py(), || F::first_invalid(rows, layout))
    }
    let layout = if corners { Layout::Corners } else { Layout::Sides };
    match boxes.extract() {
        Ok(boxes) => find::<f32>(boxes, layout),
        Err(_) => find::<f64>(boxes.extract()?, layout),
    }
}

/// Fills `out` (..., N, M) with the overlaps of `boxes1` (..., N, 4) and `boxes2` (..., M, 4), xyxy, all of one dtype;
/// `reused` says that `out` is not newly allocated memory.
#[pyfunction]
#[pyo3(signature = (variant, parameters, boxes1, boxes2, out, threads, reused=false, simd=None))]
#[expect(clippy::too_many_arguments, reason = "how it runs, one argument each")]
pub fn pairwise(
    variant: &str,
    parameters: Vec<f64>,
    boxes1: &Bound<'_, PyAny>,
    boxes2: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    threads: usize,
    reused: bool,
    simd: Option<&str>,
) -> PyResult<()> {
    let (variant, run) = (variant_named(variant, &parameters)?, Run { threads, level: level_named(simd)?, reused });
    match boxes1.extract() {
        Ok(boxes1) => fill_pairwise::<f32>(variant, boxes1, boxes2.extract()?, out.extract()?, run),
        Err(_) => fill_pairwise::<f64>(variant, boxes1.extract()?, boxes2.extract()?, out.extract()?, run),
    }
}

/// Fills `out` (...) with the overlaps of `boxes1` (..., 4) and `boxes2` (..., 4), xyxy, all of one shape and dtype.
#[pyfunction]
#[pyo3(signature = (variant, parameters, boxes1, boxes2, out, threads, simd=None))]
pub fn elementwise(
    variant: &str,
    parameters: Vec<f64>,
    boxes1: &Bound<'_, PyAny>,
    boxes2: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    threads: usize,
    simd: Option<&str>,
) -> PyResult<()> {
    let (variant, run) =
        (variant_named(variant, &parameters)?, Run { threads, level: level_named(simd)?, reused: false });
    match boxes1.extract() {
        Ok(boxes1) => fill_elementwise::<f32>(variant, boxes1, boxes2.extract()?, out.extract()?, run),
        Err(_) => fill_elementwise::<f64>(variant, boxes1.extract()?, boxes2.extract()?, out.extract()?, run),
    }
}

/// The instruction sets this machine can run, the one in use last.
#[pyfunction]
pub fn simd_levels() -> Vec<&'static str> {
    Level::available().map(Level::name).collect()
}

/// The number of threads that a call uses by default.
#[pyfunction]
pub fn thread_count() -> usize {
    ioukit_core::threads::available()
}

fn fill_pairwise<F: Coordinate + Item>(
    variant: Variant,
    boxes1: Array<'_, F, ANY>,
    boxes2: Array<'_, F, ANY>,
    mut out: ArrayMut<'_, F, ANY>,
    run: Run,
) -> PyResult<()> {
    let [.., n, _] = *boxes1.shape() else {
        return Err(PyTypeError::new_err("boxes1 must be (..., N, 4)"));
    };
    let (rows1, rows2) = (rows(&boxes1), rows(&boxes2));
    let batch = rows1.len().checked_div(n).unwrap_or(1);
    let (py, out) = (boxes1.py(), out.items(&[boxes1.memory(), boxes2.memory()])?);
    detached(py, || F::pairwise(variant, rows1, rows2, batch, out, run))?;
    Ok(())
}

fn fill_elementwise<F: Coordinate + Item>(
    variant: Variant,
    boxes1: Array<'_, F, ANY>,
    boxes2: Array<'_, F, ANY>,
    mut out: ArrayMut<'_, F, ANY>,
    run: Run,
) -> PyResult<()> {
    let (rows1, rows2) = (rows(&boxes1), rows(&boxes2));
    let (py, out) = (boxes1.py(), out.items(&[boxes1.memory(), boxes2.memory()])?);
    detached(py, || F::elementwise(variant, rows1, rows2, out, run))?;
    Ok(())
}

fn rows<F>(boxes: &[F]) -> &[[F; 4]] {
    boxes.as_chunks().0
}

pub(crate) fn variant_named(name: &str, parameters: &[f64]) -> PyResult<Variant> {
    let named = Variant::named(name, parameters);
    named.ok_or_else(|| PyValueError::new_err(format!("no variant {name:?} with {} parameters", parameters.len())))
}

fn level_named(name: Option<&str>) -> PyResult<Level> {
    let Some(name) = name else {
        return Ok(Level::best());
    };
    let named = Level::available().find(|level| level.name() == name);
    named.ok_or_else(|| PyValueError::new_err(format!("this machine has no {name:?}")))
}
