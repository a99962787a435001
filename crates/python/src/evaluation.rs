//! Matching.

use std::path::PathBuf;

use ioukit_core::coco::{IdIndex, Problem};
use ioukit_core::evaluation::{
    self, Areas, CapScope, Choice, Choices, Detections, Lists, Matches, NOWHERE, Objects, Pair, PairRows, Rules, Scene,
    Verified, Wanted, regions,
};
use ioukit_core::memory::{Vec, zeros};
use ioukit_core::regions::rle;
use ioukit_core::threads::{join, with_threads};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Column, Table, array, column};
use crate::detached::{attached, detached};

/// The images, or the categories, of a ground truth: their ids, and which of them are evaluated.
#[derive(FromPyObject)]
pub struct SelectionColumns<'py> {
    ids: Column<'py, i64>,
    chosen: Column<'py, bool>,
}

/// The columns of the ground truth that matching reads.
#[derive(FromPyObject)]
pub struct ObjectColumns<'py> {
    image_ids: Column<'py, i64>,
    category_ids: Column<'py, i64>,
    areas: Column<'py, f64>,
    flags: Column<'py, u8>,
    outside: Option<Table<'py, u8>>,
}

/// The columns of the detections that matching reads, and the name of their source.
#[derive(FromPyObject)]
pub struct DetectionColumns<'py> {
    source: PathBuf,
    image_ids: Column<'py, i64>,
    category_ids: Column<'py, i64>,
    scores: Column<'py, f64>,
    boxes: Table<'py, f64>,
    areas: Option<Column<'py, f64>>,
}

/// The rules of a protocol that matching follows.
#[derive(FromPyObject)]
pub struct RuleColumns<'py> {
    thresholds: Column<'py, f64>,
    more_than: bool,
    areas: Table<'py, f64>,
    max_detections: usize,
    cap_scope: String,
    class_agnostic: bool,
    choice: String,
    last_of_equal: bool,
    leaves_out_empty: bool,
    leaves_out_empty_objects: bool,
    near: Option<f64>,
}

impl RuleColumns<'_> {
    pub fn rules(&self) -> PyResult<Rules<'_>> {
        Ok(Rules {
            thresholds: &self.thresholds,
            more_than: self.more_than,
            areas: self.areas.as_chunks().0,
            max_detections: self.max_detections,
            cap_scope: match self.cap_scope.as_str() {
                "image" => CapScope::Image,
                "category" => CapScope::Category,
                _ => CapScope::ImageAndCategory,
            },
            class_agnostic: self.class_agnostic,
            choice: match self.choice.as_str() {
                "best_of_all" => Choice::BestOfAll,
                "best_of_all_then_groups" => Choice::BestOfAllThenGroups,
                "together" => Choice::Together,
                "best_pairs_first" => Choice::BestPairsFirst,
                "in_order" => Choice::InOrder,
                _ => Choice::BestFree,
            },
            last_of_equal: self.last_of_equal,
            leaves_out_empty: self.leaves_out_empty,
            leaves_out_empty_objects: self.leaves_out_empty_objects,
            near: self.near,
        })
    }
}

/// Boxes `[x, y, width, height]` of the objects and of the detections, whether the pixels at both ends belong to them,
/// what is added to the area that an overlap is divided by, and the sizes of the images that they are cut to.
#[derive(FromPyObject)]
pub struct BoxColumns<'py> {
    object_boxes: Table<'py, f64>,
    detection_boxes: Table<'py, f64>,
    inclusive: bool,
    epsilon: f64,
    sizes: Option<(Table<'py, f64>, Table<'py, f64>)>,
}

/// Runs, offsets and sizes of masks.
type Masks<'py> = (Column<'py, u32>, Column<'py, i64>, Table<'py, u32>);

/// Masks of the objects and of the detections.
#[derive(FromPyObject)]
pub struct MaskColumns<'py> {
    object_masks: Masks<'py>,
    detection_masks: Masks<'py>,
}

/// Pairs of rows of detections and objects with their overlaps, sorted by detection, then object.
#[derive(FromPyObject)]
pub struct PairColumns<'py> {
    detection: Column<'py, i64>,
    object: Column<'py, i64>,
    overlap: Column<'py, f64>,
}

/// The regions of a scene, of any kind.
#[derive(FromPyObject)]
pub enum RegionColumns<'py> {
    Boxes(BoxColumns<'py>),
    Masks(MaskColumns<'py>),
    Pairs(PairColumns<'py>),
}

/// The input of matching: the ground truth and the detections, and which of their images and categories are evaluated.
#[derive(FromPyObject)]
pub struct SceneColumns<'py> {
    images: SelectionColumns<'py>,
    categories: SelectionColumns<'py>,
    objects: ObjectColumns<'py>,
    detections: DetectionColumns<'py>,
    verified: Option<VerifiedColumns<'py>>,
}

/// A list of ids for each image of a ground truth: the ids of all lists, and where each list ends.
type IdLists<'py> = (Column<'py, i64>, Column<'py, i64>);

/// The categories that are known to be absent from each image, and those of which objects may not be annotated.
#[derive(FromPyObject)]
pub struct VerifiedColumns<'py> {
    negative: IdLists<'py>,
    not_exhaustive: IdLists<'py>,
}

/// Ids of a table and which of its rows are evaluated.
struct Selection {
    index: IdIndex,
    slots: Vec<u32>,
    selected: usize,
}

impl Selection {
    fn new(columns: &SelectionColumns<'_>) -> PyResult<Self> {
        let mut next = 0;
        let slot = |&is: &bool| if is { (next, next += 1).0 } else { u32::MAX };
        let slots = columns.chosen.iter().map(slot).collect();
        Ok(Self { index: IdIndex::new(&columns.ids), slots, selected: next as usize })
    }

    /// The position of each id among the selected rows, `u32::MAX` for the others; the error is the row of the first
    /// unknown id.
    fn positions(&self, ids: &[i64]) -> Result<Vec<u32>, usize> {
        let mut positions = Vec::with_capacity(ids.len());
        let mut last = None;
        for (row, &id) in ids.iter().enumerate() {
            // Rows are sorted by image: most have the id of the row before.
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

impl Selection {
    /// The lists of the images that are evaluated, as places of categories, and where each ends.
    fn lists(&self, lists: &IdLists<'_>, categories: &Selection) -> (Vec<u32>, Vec<usize>) {
        let (ids, list_ends) = (&lists.0, &lists.1);
        let (mut places, mut ends) = (Vec::with_capacity(ids.len()), Vec::with_capacity(self.selected));
        let mut start = 0;
        for (&end, &slot) in list_ends.iter().zip(&self.slots) {
            if slot != NOWHERE {
                let place =
                    |&id: &i64| categories.index.position(id).map_or(NOWHERE, |row| categories.slots[row as usize]);
                places.extend(ids[start..end as usize].iter().map(place));
                ends.push(places.len());
            }
            start = end as usize;
        }
        (places, ends)
    }
}

/// Where the pairs of each of `count` detections start, and where those of the last detection end.
pub fn starts(detection: &[i64], count: usize) -> Vec<usize> {
    let mut starts: Vec<usize> = zeros(count + 1);
    detection.iter().for_each(|&row| starts[row as usize + 1] += 1);
    for row in 0..count {
        starts[row + 1] += starts[row];
    }
    starts
}

fn masks<'a>((runs, offsets, sizes): &'a Masks<'_>) -> PyResult<rle::Masks<'a>> {
    Ok(rle::Masks { runs, offsets, sizes: sizes.as_chunks().0 })
}

/// The columns of regions as slices, which can be used without the GIL.
enum RegionSlices<'a> {
    Boxes(regions::Boxes<'a>),
    CornerBoxes(regions::CornerBoxes<'a>),
    Masks(rle::Masks<'a>, rle::Masks<'a>),
    Pairs { detection: &'a [i64], object: &'a [i64], overlap: &'a [f64] },
}

impl RegionColumns<'_> {
    fn slices(&self) -> PyResult<RegionSlices<'_>> {
        Ok(match self {
            Self::Boxes(columns) => {
                let objects = columns.object_boxes.as_chunks().0;
                let detections = columns.detection_boxes.as_chunks().0;
                if columns.inclusive || columns.epsilon != 0.0 || columns.sizes.is_some() {
                    let sizes = columns.sizes.as_ref();
                    let sizes = sizes.map_or((&[][..], &[][..]), |(of, to)| (of.as_chunks().0, to.as_chunks().0));
                    RegionSlices::CornerBoxes(regions::CornerBoxes {
                        objects: regions::Side { boxes: objects, images: sizes.0 },
                        detections: regions::Side { boxes: detections, images: sizes.1 },
                        extra: f64::from(u8::from(columns.inclusive)),
                        epsilon: columns.epsilon,
                    })
                } else {
                    RegionSlices::Boxes(regions::Boxes { objects, detections })
                }
            }
            Self::Masks(columns) => {
                RegionSlices::Masks(masks(&columns.object_masks)?, masks(&columns.detection_masks)?)
            }
            Self::Pairs(columns) => RegionSlices::Pairs {
                detection: &columns.detection,
                object: &columns.object,
                overlap: &columns.overlap,
            },
        })
    }
}

impl RegionSlices<'_> {
    fn match_scene(&self, scene: Scene<'_>, rules: Rules<'_>) -> Matches {
        match self {
            Self::Boxes(regions) => evaluation::match_detections(scene, regions, rules),
            Self::CornerBoxes(regions) => evaluation::match_detections(scene, regions, rules),
            Self::Masks(objects, detections) => {
                evaluation::match_detections(scene, &regions::Masks::new(*objects, *detections), rules)
            }
            Self::Pairs { detection, object, overlap } => {
                let object: Vec<u32> = object.iter().map(|&row| row as u32).collect();
                let starts = starts(detection, scene.detections.score.len());
                let regions = regions::Pairs { starts: &starts, object: &object, overlap };
                evaluation::match_detections(scene, &regions, rules)
            }
        }
    }
}

/// The columns of the match table of a ground truth and detections, in four groups.
#[pyfunction]
pub fn match_detections<'py>(
    py: Python<'py>,
    scene: SceneColumns<'py>,
    regions: RegionColumns<'py>,
    rules: RuleColumns<'py>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let SceneColumns { images, categories, objects, detections, verified } = scene;
    let (images, categories) = attached(|| Ok((Selection::new(&images)?, Selection::new(&categories)?)))?;
    let (object_images, object_categories) = (&objects.image_ids[..], &objects.category_ids[..]);
    let (area, flags) = (&objects.areas[..], &objects.flags[..]);
    let outside: &[u8] = objects.outside.as_deref().unwrap_or(&[]);
    let (images_of, categories_of) = (&detections.image_ids[..], &detections.category_ids[..]);
    let score = &detections.scores[..];
    let detection_area = match &detections.areas {
        Some(areas) => Areas::Given(areas),
        None => Areas::OfBoxes(detections.boxes.as_chunks().0),
    };
    let (regions, rules) = (regions.slices()?, rules.rules()?);
    let lists = |lists: &VerifiedColumns<'_>| {
        (images.lists(&lists.negative, &categories), images.lists(&lists.not_exhaustive, &categories))
    };
    let verified = attached(|| Ok(verified.as_ref().map(lists)))?;
    let verified = verified.as_ref().map(|(negative, not_exhaustive)| Verified {
        categories: categories.selected,
        negative: Lists { category: &negative.0, ends: &negative.1 },
        not_exhaustive: Lists { category: &not_exhaustive.0, ends: &not_exhaustive.1 },
    });
    let matches = detached(py, || {
        with_threads(threads, || {
            let positions = |array, image_ids: &[i64], category_ids: &[i64]| {
                let image = images.positions(image_ids);
                let image = image.map_err(|row| Problem::unknown(array, row, "image_id", image_ids[row]))?;
                let category = categories.positions(category_ids);
                let category =
                    category.map_err(|row| Problem::unknown(array, row, "category_id", category_ids[row]))?;
                Ok::<_, Problem>((image, category))
            };
            let (of_objects, of_detections) = join(
                || positions("annotations", object_images, object_categories),
                || positions("detections", images_of, categories_of),
            );
            let ((image, category), (detection_image, detection_category)) = (of_objects?, of_detections?);
            let scene = Scene {
                images: images.selected,
                objects: Objects { category: &category, image: &image, area, flags, outside },
                detections: Detections {
                    category: &detection_category,
                    image: &detection_image,
                    score,
                    area: detection_area,
                },
                verified,
            };
            Ok(regions.match_scene(scene, rules))
        })
    })?;
    let tells_special = verified.is_some() || rules.leaves_out_empty;
    let matches = matches.map_err(|problem| crate::coco::problem(&detections.source, &problem))?;
    attached(|| columns(py, matches, rules, tells_special))
}

/// A match table for Python: a dictionary of columns for each kind of row.
fn columns<'py>(
    py: Python<'py>,
    matches: Matches,
    rules: Rules<'_>,
    tells_special: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let ranges = rules.areas.len();
    let sets = |sets: Vec<u8>, rows: usize| array(py, sets, [rows, ranges, rules.bytes()]);
    let Matches { detections: rows, objects, pairs, pair_matched, near, image_detections } = matches;
    let detections = PyDict::new(py);
    let count = rows.row.len();
    detections.set_item("category", column(py, rows.category)?)?;
    detections.set_item("image", column(py, rows.image)?)?;
    detections.set_item("rank", column(py, rows.rank)?)?;
    detections.set_item("row", column(py, widen(rows.row))?)?;
    detections.set_item("score", column(py, rows.score)?)?;
    detections.set_item("matched", sets(rows.matched, count)?)?;
    detections.set_item("ignored", sets(rows.ignored, count)?)?;
    if tells_special {
        detections.set_item("special", column(py, rows.special)?)?;
    }
    let of_objects = PyDict::new(py);
    let count = objects.row.len();
    of_objects.set_item("category", column(py, objects.category)?)?;
    of_objects.set_item("image", column(py, objects.image)?)?;
    of_objects.set_item("row", column(py, widen(objects.row))?)?;
    of_objects.set_item("ignored", array(py, objects.ignored, [count, rules.range_bytes()])?)?;
    let count = pairs.overlap.len();
    let of_pairs = pair_columns(py, pairs)?;
    of_pairs.set_item("matched", sets(pair_matched, count)?)?;
    let dict = PyDict::new(py);
    dict.set_item("detections", detections)?;
    dict.set_item("objects", of_objects)?;
    dict.set_item("pairs", of_pairs)?;
    dict.set_item("near", pair_columns(py, near)?)?;
    dict.set_item("image_detections", column(py, image_detections)?)?;
    Ok(dict)
}

fn pair_columns(py: Python<'_>, pairs: PairRows) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("detection", column(py, widen(pairs.detection))?)?;
    dict.set_item("object", column(py, widen(pairs.object))?)?;
    dict.set_item("iou", column(py, pairs.overlap)?)?;
    Ok(dict)
}

/// (P,) rows of detections and (P,) rows of objects of one image, by detection, then object; of one category if the
/// categories of objects and detections are given.
#[pyfunction]
pub fn pairs_of_images<'py>(
    py: Python<'py>,
    objects: Column<'py, i64>,
    detections: Column<'py, i64>,
    categories: Option<(Column<'py, i64>, Column<'py, i64>)>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (objects, detections) = (&objects[..], &detections[..]);
    let categories = categories.as_ref().map(|(of_objects, of_detections)| (&of_objects[..], &of_detections[..]));
    if categories.is_some_and(|(of, to)| [of.len(), to.len()] != [objects.len(), detections.len()]) {
        return Err(PyValueError::new_err("a category of every row"));
    }
    let (rows, columns) = detached(py, || evaluation::pairs_of_images(objects, detections, categories))?;
    Ok((column(py, rows)?, column(py, columns)?))
}

/// The columns of a match table of which objects choose among the detections.
#[derive(FromPyObject)]
pub struct ChoiceColumns<'py> {
    category: Column<'py, u32>,
    rank: Column<'py, u32>,
    score: Column<'py, f64>,
    outside: Table<'py, u8>,
    uncounted: Column<'py, f64>,
    object_category: Column<'py, u32>,
    neighbour: Column<'py, u32>,
    ignored: Table<'py, u8>,
    pair_detection: Column<'py, i64>,
    pair_object: Column<'py, i64>,
    pair_overlap: Column<'py, f64>,
    pair_turned: Column<'py, f64>,
    num_objects: Table<'py, u64>,
}

/// Precision, similarity of orientation, scores and recall at equal steps of recall, for every category, area range, cap and IoU threshold.
#[pyfunction]
pub fn step_curves<'py>(
    py: Python<'py>,
    columns: ChoiceColumns<'py>,
    thresholds: Column<'py, f64>,
    caps: Column<'py, u32>,
    steps: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let &[categories, ranges] = columns.num_objects.shape() else { unreachable!("a table has two dimensions") };
    let pair = |at: usize| Pair {
        detection: columns.pair_detection[at] as u32,
        object: columns.pair_object[at] as u32,
        overlap: columns.pair_overlap[at],
        turned: columns.pair_turned[at],
    };
    let pairs: Vec<Pair> = attached(|| Ok((0..columns.pair_detection.len()).map(pair).collect()))?;
    let choices = Choices {
        category: &columns.category,
        rank: &columns.rank,
        score: &columns.score,
        outside: &columns.outside,
        uncounted: &columns.uncounted,
        object_category: &columns.object_category,
        neighbour: &columns.neighbour,
        ignored: &columns.ignored,
        pairs: &pairs,
        ranges,
    };
    let (counts, thresholds, caps) = (&columns.num_objects[..], &thresholds[..], &caps[..]);
    let (mut precision, mut similarity) = (Vec::new(), Vec::new());
    let (mut scores, mut recall) = (Vec::new(), Vec::new());
    detached(py, || {
        for (curve, &count) in counts.iter().enumerate() {
            for &cap in caps {
                for &threshold in thresholds {
                    let (category, range) = ((curve / ranges) as u32, curve % ranges);
                    let wanted = Wanted { category, range, cap, threshold, steps };
                    let drawn = evaluation::step_curve(choices, wanted, count as usize);
                    precision.extend(drawn.precision);
                    similarity.extend(drawn.similarity);
                    scores.extend(drawn.scores);
                    recall.push(drawn.recall);
                }
            }
        }
    })?;
    let shape = [categories, ranges, caps.len(), thresholds.len(), steps + 1];
    let dict = PyDict::new(py);
    dict.set_item("precision", array(py, precision, shape)?)?;
    dict.set_item("similarity", array(py, similarity, shape)?)?;
    dict.set_item("scores", array(py, scores, shape)?)?;
    dict.set_item("recall", array(py, recall, [categories, ranges, caps.len(), thresholds.len()])?)?;
    Ok(dict)
}

/// Positions in the type of NumPy's indices.
fn widen(positions: Vec<u32>) -> Vec<i64> {
    positions.into_iter().map(i64::from).collect()
}
