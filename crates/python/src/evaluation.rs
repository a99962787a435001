//! Matching and accumulating.

use ioukit_core::coco::{IdIndex, Problem};
use ioukit_core::evaluation::{self, Outcomes, Scene, Settings};
use ioukit_core::threads::with_threads;
use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Ids of a table and which of its rows are evaluated.
struct Selection {
    index: IdIndex,
    slots: Vec<u32>,
    selected: usize,
}

impl Selection {
    fn new(ids: &[i64], selected: &[bool]) -> Self {
        let mut next = 0;
        let slots = selected.iter().map(|&is| if is { (next, next += 1).0 } else { u32::MAX }).collect();
        Self { index: IdIndex::new(ids), slots, selected: next as usize }
    }

    /// The place of each id among the selected rows, `u32::MAX` for the others; the row of the first unknown id.
    fn positions(&self, ids: &[i64]) -> Result<Vec<u32>, usize> {
        let mut positions = Vec::with_capacity(ids.len());
        let mut last = None;
        for (row, &id) in ids.iter().enumerate() {
            // Rows come image by image: most have the id of the one before.
            let slot = match last {
                Some((seen, slot)) if seen == id => slot,
                _ => self.slots[self.index.position(id).ok_or(row)? as usize],
            };
            last = Some((id, slot));
            positions.push(slot);
        }
        Ok(positions)
    }
}

/// The match table of a ground truth and detections, as columns.
#[pyfunction]
#[pyo3(signature = (
    source, images, selected_images, categories, selected_categories, gt_images, gt_categories, gt_boxes, gt_areas,
    gt_crowd, gt_void, dt_images, dt_categories, dt_boxes, dt_scores, iou_thresholds, areas, max_detections,
    class_agnostic, threads
))]
#[expect(clippy::too_many_arguments, reason = "columns, one argument each")]
pub fn match_detections<'py>(
    py: Python<'py>,
    source: &str,
    images: PyReadonlyArray1<'py, i64>,
    selected_images: PyReadonlyArray1<'py, bool>,
    categories: PyReadonlyArray1<'py, i64>,
    selected_categories: PyReadonlyArray1<'py, bool>,
    gt_images: PyReadonlyArray1<'py, i64>,
    gt_categories: PyReadonlyArray1<'py, i64>,
    gt_boxes: PyReadonlyArray2<'py, f64>,
    gt_areas: PyReadonlyArray1<'py, f64>,
    gt_crowd: PyReadonlyArray1<'py, bool>,
    gt_void: PyReadonlyArray1<'py, bool>,
    dt_images: PyReadonlyArray1<'py, i64>,
    dt_categories: PyReadonlyArray1<'py, i64>,
    dt_boxes: PyReadonlyArray2<'py, f64>,
    dt_scores: PyReadonlyArray1<'py, f64>,
    iou_thresholds: PyReadonlyArray1<'py, f64>,
    areas: PyReadonlyArray2<'py, f64>,
    max_detections: usize,
    class_agnostic: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let images = Selection::new(images.as_slice()?, selected_images.as_slice()?);
    let categories = Selection::new(categories.as_slice()?, selected_categories.as_slice()?);
    let (gt_images, gt_categories) = (gt_images.as_slice()?, gt_categories.as_slice()?);
    let (dt_images, dt_categories) = (dt_images.as_slice()?, dt_categories.as_slice()?);
    let (gt_box, dt_box) = (gt_boxes.as_slice()?.as_chunks().0, dt_boxes.as_slice()?.as_chunks().0);
    let (gt_area, gt_crowd, gt_void) = (gt_areas.as_slice()?, gt_crowd.as_slice()?, gt_void.as_slice()?);
    let dt_score = dt_scores.as_slice()?;
    let iou_thresholds = iou_thresholds.as_slice()?;
    let areas = areas.as_slice()?.as_chunks().0;
    let matches = py
        .detach(|| {
            with_threads(threads, || {
                let positions = |array, images_of: &[i64], categories_of: &[i64]| {
                    let image = images.positions(images_of);
                    let image = image.map_err(|row| Problem::unknown(array, row, "image_id", images_of[row]))?;
                    let category = categories.positions(categories_of);
                    let category =
                        category.map_err(|row| Problem::unknown(array, row, "category_id", categories_of[row]))?;
                    Ok::<_, Problem>((image, category))
                };
                let (gt, dt) = ioukit_core::threads::join(
                    || positions("annotations", gt_images, gt_categories),
                    || positions("detections", dt_images, dt_categories),
                );
                let ((gt_image, gt_category), (dt_image, dt_category)) = (gt?, dt?);
                let scene = Scene {
                    categories: categories.selected,
                    images: images.selected,
                    gt_category: &gt_category,
                    gt_image: &gt_image,
                    gt_box,
                    gt_area,
                    gt_crowd,
                    gt_void,
                    dt_category: &dt_category,
                    dt_image: &dt_image,
                    dt_box,
                    dt_score,
                };
                Ok(evaluation::match_detections(
                    scene,
                    Settings { iou_thresholds, areas, max_detections, class_agnostic },
                ))
            })
        })
        .map_err(|problem: Problem| crate::coco::problem(source, &problem))?;
    let ranges = areas.len();
    let (rows, pairs) = (matches.score.len(), matches.pair_iou.len());
    let sets = |sets: Vec<u8>, rows: usize| sets.into_pyarray(py).reshape([rows, ranges, matches.threshold_bytes]);
    let dict = PyDict::new(py);
    dict.set_item("category", matches.category.into_pyarray(py))?;
    dict.set_item("image", matches.image.into_pyarray(py))?;
    dict.set_item("rank", matches.rank.into_pyarray(py))?;
    dict.set_item("detection", widen(matches.detection).into_pyarray(py))?;
    dict.set_item("score", matches.score.into_pyarray(py))?;
    dict.set_item("matched", sets(matches.matched, rows)?)?;
    dict.set_item("ignored", sets(matches.ignored, rows)?)?;
    dict.set_item("pair_row", widen(matches.pair_row).into_pyarray(py))?;
    dict.set_item("pair_ground_truth", widen(matches.pair_ground_truth).into_pyarray(py))?;
    dict.set_item("pair_iou", matches.pair_iou.into_pyarray(py))?;
    dict.set_item("pair_matched", sets(matches.pair_matched, pairs)?)?;
    let counts = matches.ground_truth_count.len().checked_div(ranges).unwrap_or(0);
    dict.set_item("num_ground_truth", matches.ground_truth_count.into_pyarray(py).reshape([counts, ranges])?)?;
    Ok(dict)
}

/// Precision, scores and recall for every category, area range, cap, IoU threshold (and recall threshold).
#[pyfunction]
#[pyo3(signature = (category, rank, score, matched, ignored, num_ground_truth, num_thresholds, recall_thresholds, caps, threads))]
#[expect(clippy::too_many_arguments, reason = "columns, one argument each")]
pub fn accumulate<'py>(
    py: Python<'py>,
    category: PyReadonlyArray1<'py, u32>,
    rank: PyReadonlyArray1<'py, u32>,
    score: PyReadonlyArray1<'py, f64>,
    matched: PyReadonlyArray3<'py, u8>,
    ignored: PyReadonlyArray3<'py, u8>,
    num_ground_truth: PyReadonlyArray2<'py, u64>,
    num_thresholds: usize,
    recall_thresholds: PyReadonlyArray1<'py, f64>,
    caps: PyReadonlyArray1<'py, u32>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let counts = num_ground_truth.as_array();
    let (categories, ranges) = counts.dim();
    let outcomes = Outcomes {
        category: category.as_slice()?,
        rank: rank.as_slice()?,
        score: score.as_slice()?,
        matched: matched.as_slice()?,
        ignored: ignored.as_slice()?,
        ground_truth_count: num_ground_truth.as_slice()?,
        ranges,
        thresholds: num_thresholds,
    };
    let (recall_thresholds, caps) = (recall_thresholds.as_slice()?, caps.as_slice()?);
    let curves = py.detach(|| with_threads(threads, || evaluation::accumulate(outcomes, recall_thresholds, caps)));
    let shape = [categories, ranges, caps.len(), num_thresholds, recall_thresholds.len()];
    let dict = PyDict::new(py);
    dict.set_item("precision", curves.precision.into_pyarray(py).reshape(shape)?)?;
    dict.set_item("scores", curves.scores.into_pyarray(py).reshape(shape)?)?;
    dict.set_item("recall", curves.recall.into_pyarray(py).reshape(&shape[..4])?)?;
    Ok(dict)
}

/// Positions as NumPy indexes with them.
fn widen(positions: Vec<u32>) -> Vec<i64> {
    positions.into_iter().map(i64::from).collect()
}
