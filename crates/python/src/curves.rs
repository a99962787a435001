//! Curves of precision over recall.

use ioukit_core::evaluation::{self, Area, Columns, Curves, Drawing, Outcomes, Points, Steps};
use ioukit_core::memory::copied;
use ioukit_core::threads::with_threads;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Array, Column, Table, array, column};
use crate::detached::{attached, detached};

/// The columns of a match table that curves are drawn from.
#[derive(FromPyObject)]
pub struct OutcomeColumns<'py> {
    pub(crate) category: Column<'py, u32>,
    pub(crate) rank: Column<'py, u32>,
    pub(crate) score: Column<'py, f64>,
    pub(crate) matched: Array<'py, u8, 3>,
    pub(crate) ignored: Array<'py, u8, 3>,
    pub(crate) num_objects: Table<'py, u64>,
}

impl OutcomeColumns<'_> {
    /// The same columns as slices.
    pub(crate) fn slices(&self, thresholds: usize) -> Outcomes<'_> {
        let &[_, ranges] = self.num_objects.shape() else { unreachable!("a table has two dimensions") };
        Outcomes {
            category: &self.category,
            rank: &self.rank,
            score: &self.score,
            matched: &self.matched,
            ignored: &self.ignored,
            object_count: &self.num_objects,
            ranges,
            thresholds,
        }
    }
}

/// How curves are drawn.
#[derive(FromPyObject)]
pub struct DrawingColumns<'py> {
    num_thresholds: usize,
    recall_thresholds: Column<'py, f64>,
    caps: Column<'py, u32>,
    caps_over_all_images: bool,
    plain_precision: bool,
    integral: String,
}

impl DrawingColumns<'_> {
    fn settings(&self) -> Drawing {
        Drawing {
            recall_thresholds: copied(&self.recall_thresholds),
            caps: copied(&self.caps),
            caps_over_all_images: self.caps_over_all_images,
            plain_precision: self.plain_precision,
            area: match self.integral.as_str() {
                "area" => Some(Area::Steps),
                "trapezoid" => Some(Area::Trapezoid),
                "sloping_trapezoid" => Some(Area::SlopingTrapezoid),
                _ => None,
            },
        }
    }
}

/// Steps, recall and area of the curves for every category, area range, cap and IoU threshold.
#[pyfunction]
pub fn accumulate<'py>(
    py: Python<'py>,
    outcomes: OutcomeColumns<'py>,
    drawing: DrawingColumns<'py>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let &[categories, ranges] = outcomes.num_objects.shape() else { unreachable!("a table has two dimensions") };
    let rows = outcomes.slices(drawing.num_thresholds);
    let settings = drawing.settings();
    let curves = detached(py, || with_threads(threads, || evaluation::accumulate(rows, &settings)))?;
    of_curves(py, curves, settings.area, [categories, ranges, settings.caps.len(), drawing.num_thresholds])
}

/// Curves as a dictionary of arrays, given the shape of one value per curve.
fn of_curves<const N: usize>(
    py: Python<'_>,
    curves: Curves,
    area: Option<Area>,
    shape: [usize; N],
) -> PyResult<Bound<'_, PyDict>> {
    let Curves { ends, steps: Steps { reached, precision, scores }, recall, area: areas } = curves;
    let dict = PyDict::new(py);
    dict.set_item("ends", array(py, ends, shape)?)?;
    dict.set_item("reached", column(py, reached)?)?;
    dict.set_item("precision", column(py, precision)?)?;
    dict.set_item("scores", column(py, scores)?)?;
    dict.set_item("recall", array(py, recall, shape)?)?;
    if area.is_some() {
        dict.set_item("area", array(py, areas, shape)?)?;
    }
    Ok(dict)
}

/// The values of the steps of some curves at each recall threshold; NaN for a curve that is undefined or none of these.
#[pyfunction]
pub fn curve_points<'py>(
    py: Python<'py>,
    ends: Column<'py, u64>,
    reached: Column<'py, u32>,
    values: Column<'py, f64>,
    recall: Column<'py, f64>,
    curves: Column<'py, i64>,
    num_recalls: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let points = Points { ends: &ends, reached: &reached, values: &values, recall: &recall };
    if !points.are_consistent() {
        return Err(PyValueError::new_err("the steps do not belong to these curves"));
    }
    let curves = &curves[..];
    let found = detached(py, || points.write_out(curves, num_recalls))?;
    array(py, found, [curves.len(), num_recalls])
}

/// Draws the curves of one category from its detections, best first, in as many calls as they come.
#[pyclass(module = "ioukit._core")]
pub struct CurveDrawer(Option<evaluation::CurveDrawer>);

impl CurveDrawer {
    fn finished() -> PyErr {
        PyValueError::new_err("the curves are finished")
    }
}

#[pymethods]
impl CurveDrawer {
    #[new]
    fn new(num_objects: Column<'_, u64>, drawing: DrawingColumns<'_>) -> PyResult<Self> {
        let drawer = || Ok(evaluation::CurveDrawer::new(&num_objects, drawing.num_thresholds, drawing.settings()));
        Ok(Self(Some(attached(drawer)?)))
    }

    /// Takes the next detections, in any order; no score may be higher than one of an earlier call.
    fn feed(
        &mut self,
        py: Python<'_>,
        rank: Column<'_, u32>,
        score: Column<'_, f64>,
        matched: Array<'_, u8, 3>,
        ignored: Array<'_, u8, 3>,
    ) -> PyResult<()> {
        let drawer = self.0.as_mut().ok_or_else(Self::finished)?;
        let sets = [score.len(), drawer.ranges(), drawer.thresholds().div_ceil(8)];
        if rank.len() != score.len() || matched.shape() != sets || ignored.shape() != sets {
            let found = [rank.shape(), matched.shape(), ignored.shape()];
            return Err(PyValueError::new_err(format!(
                "expected rank, matched and ignored of shapes [{}], {sets:?} and {sets:?}, got {found:?}",
                score.len()
            )));
        }
        let columns = Columns { rank: &rank, score: &score, matched: &matched, ignored: &ignored };
        detached(py, || drawer.feed(columns))?
            .map_err(|_| PyValueError::new_err("a detection has a higher score than one of an earlier call"))
    }

    /// The curves of all detections, as `accumulate` has those of one category. The drawer can be used no more.
    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let drawer = self.0.take().ok_or_else(Self::finished)?;
        let Drawing { caps, area, .. } = drawer.drawing();
        let (shape, area) = ([drawer.ranges(), caps.len(), drawer.thresholds()], *area);
        of_curves(py, detached(py, || drawer.finish())?, area, shape)
    }
}

/// The rows by category, then falling score, and where each category ends.
#[pyfunction]
pub fn order_by_category<'py>(
    py: Python<'py>,
    category: Column<'py, u32>,
    score: Column<'py, f64>,
    num_categories: usize,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (category, score) = (&category[..], &score[..]);
    let (order, ends) =
        detached(py, || with_threads(threads, || evaluation::order_by_category(category, score, num_categories)))?;
    Ok((column(py, order)?, column(py, ends)?))
}

/// (K, A, T) the sums of the values of the rows of each category whose bit is set; `sets` is (N, A, bytes).
#[pyfunction]
pub fn sums_by_category<'py>(
    py: Python<'py>,
    category: Column<'py, u32>,
    sets: Array<'py, u8, 3>,
    values: Column<'py, f64>,
    num_categories: usize,
    thresholds: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = [num_categories, sets.shape()[1], thresholds];
    let (category, sets, values) = (&category[..], &sets[..], &values[..]);
    array(py, detached(py, || evaluation::sums_by_category(category, sets, values, shape))?, shape)
}
