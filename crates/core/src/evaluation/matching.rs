//! Which detection found which object, at every IoU threshold and for every range of areas at once.

use rayon::prelude::*;

use super::groups::{self, Group, NOWHERE};

/// Ground truth and detections as columns, images and categories as positions (`u32::MAX` where a row takes no part).
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// How many categories there are.
    pub categories: usize,
    /// How many images there are, in the order in which ties of score are broken.
    pub images: usize,
    /// The category of each annotation.
    pub gt_category: &'a [u32],
    /// The image of each annotation.
    pub gt_image: &'a [u32],
    /// `[x, y, width, height]` of each annotation.
    pub gt_box: &'a [[f64; 4]],
    /// The area of each annotation, which need not be that of its box.
    pub gt_area: &'a [f64],
    /// Whether each annotation marks a crowd.
    pub gt_crowd: &'a [bool],
    /// Annotations whose match counts for nothing, as pycocotools treats those with id 0; empty if there are none.
    pub gt_void: &'a [bool],
    /// The category of each detection.
    pub dt_category: &'a [u32],
    /// The image of each detection.
    pub dt_image: &'a [u32],
    /// `[x, y, width, height]` of each detection.
    pub dt_box: &'a [[f64; 4]],
    /// The score of each detection.
    pub dt_score: &'a [f64],
}

/// What the protocol asks for.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// IoU from which a detection can match.
    pub iou_thresholds: &'a [f64],
    /// Lowest and highest area of each range, both within.
    pub areas: &'a [[f64; 2]],
    /// How many detections of one category count on one image.
    pub max_detections: usize,
    /// Whether all categories count as one.
    pub class_agnostic: bool,
}

/// One row a detection that counts, by category, image and falling score.
///
/// A set of thresholds is `threshold_bytes` bytes, threshold `t` in bit `t % 8` of byte `t / 8`.
#[derive(Debug, Default, PartialEq)]
pub struct Matches {
    /// Bytes of a set of thresholds.
    pub threshold_bytes: usize,
    /// The category of each row.
    pub category: Vec<u32>,
    /// The image of each row.
    pub image: Vec<u32>,
    /// Its place among the detections of its category on its image, best first.
    pub rank: Vec<u32>,
    /// The detection that the row stands for.
    pub detection: Vec<u32>,
    /// Its score.
    pub score: Vec<f64>,
    /// For each row and area range, the thresholds at which it has a match.
    pub matched: Vec<u8>,
    /// For each row and area range, the thresholds at which it counts neither for nor against.
    pub ignored: Vec<u8>,
    /// For each pair that matches somewhere: its row.
    pub pair_row: Vec<u32>,
    /// The annotation that the row matches.
    pub pair_ground_truth: Vec<u32>,
    /// Their IoU; over the area of the detection where the annotation marks a crowd.
    pub pair_iou: Vec<f64>,
    /// For each pair and area range, the thresholds at which it matches.
    pub pair_matched: Vec<u8>,
    /// For each category and area range, how many annotations there are to find.
    pub ground_truth_count: Vec<u64>,
}

/// Matches every detection as pycocotools does.
pub fn match_detections(scene: Scene<'_>, settings: Settings<'_>) -> Matches {
    let sort = |categories, images| {
        // As one category, the rows of an image still come category by category, which decides ties (cocoeval 169).
        if settings.class_agnostic {
            groups::sort(images, categories, (scene.images, scene.categories))
        } else {
            groups::sort(categories, images, (scene.categories, scene.images))
        }
    };
    let (gt_order, dt_order) =
        rayon::join(|| sort(scene.gt_category, scene.gt_image), || sort(scene.dt_category, scene.dt_image));
    let category = |category: u32| if settings.class_agnostic { 0 } else { category };
    let gt_key = |row: u32| (category(scene.gt_category[row as usize]), scene.gt_image[row as usize]);
    let dt_key = |row: u32| (category(scene.dt_category[row as usize]), scene.dt_image[row as usize]);
    let groups = groups::pair((&gt_order, gt_key), (&dt_order, dt_key));
    let matcher = Matcher { scene, settings, gt_order: &gt_order, dt_order: &dt_order };
    // Runs of groups with about the same number of detections: the order of the rows is that of the groups.
    let share = (dt_order.len() / 64).max(2048);
    let mut runs = Vec::new();
    let (mut start, mut rows) = (0, 0);
    for (index, group) in groups.iter().enumerate() {
        rows += group.detections.len();
        if rows >= share || index + 1 == groups.len() {
            runs.push(&groups[start..=index]);
            (start, rows) = (index + 1, 0);
        }
    }
    let parts: Vec<Matches> = runs.into_par_iter().map(|run| matcher.run(run)).collect();
    let mut all = concatenate(parts, dt_order.len());
    all.threshold_bytes = settings.iou_thresholds.len().div_ceil(8);
    all.ground_truth_count = count_ground_truth(scene, settings);
    all
}

fn concatenate(parts: Vec<Matches>, rows: usize) -> Matches {
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_default();
    all.category.reserve_exact(rows - all.category.len());
    all.image.reserve_exact(rows - all.image.len());
    all.rank.reserve_exact(rows - all.rank.len());
    all.detection.reserve_exact(rows - all.detection.len());
    all.score.reserve_exact(rows - all.score.len());
    for part in parts {
        let shift = all.category.len() as u32;
        all.category.extend(part.category);
        all.image.extend(part.image);
        all.rank.extend(part.rank);
        all.detection.extend(part.detection);
        all.score.extend(part.score);
        all.matched.extend(part.matched);
        all.ignored.extend(part.ignored);
        all.pair_row.extend(part.pair_row.into_iter().map(|row| row + shift));
        all.pair_ground_truth.extend(part.pair_ground_truth);
        all.pair_iou.extend(part.pair_iou);
        all.pair_matched.extend(part.pair_matched);
    }
    all
}

/// Whether an area lies outside a range; both ends belong to it (cocoeval 251, 300).
fn outside(area: f64, range: [f64; 2]) -> bool {
    area < range[0] || area > range[1]
}

fn count_ground_truth(scene: Scene<'_>, settings: Settings<'_>) -> Vec<u64> {
    let ranges = settings.areas.len();
    let categories = if settings.class_agnostic { 1 } else { scene.categories };
    let mut counts = vec![0; categories * ranges];
    for row in 0..scene.gt_category.len() {
        let (category, image) = (scene.gt_category[row], scene.gt_image[row]);
        if category == NOWHERE || image == NOWHERE || scene.gt_crowd[row] {
            continue;
        }
        let category = if settings.class_agnostic { 0 } else { category };
        for (range, &limits) in settings.areas.iter().enumerate() {
            counts[category as usize * ranges + range] += u64::from(!outside(scene.gt_area[row], limits));
        }
    }
    counts
}

/// IoU of `[x, y, width, height]` boxes in the order of operations of pycocotools' `bbIou`; the overlap over the area of
/// the detection where the annotation marks a crowd.
fn iou(detection: &[f64; 4], annotation: &[f64; 4], crowd: bool) -> f64 {
    let [dx, dy, dw, dh] = *detection;
    let [gx, gy, gw, gh] = *annotation;
    let width = (dw + dx).min(gw + gx) - dx.max(gx);
    if width <= 0.0 {
        return 0.0;
    }
    let height = (dh + dy).min(gh + gy) - dy.max(gy);
    if height <= 0.0 {
        return 0.0;
    }
    let intersection = width * height;
    let union = if crowd { dw * dh } else { dw * dh + gw * gh - intersection };
    intersection / union
}

/// A detection and an annotation that overlap enough to match at some threshold.
struct Candidate {
    annotation: usize,
    iou: f64,
}

struct Matcher<'a> {
    scene: Scene<'a>,
    settings: Settings<'a>,
    gt_order: &'a [u32],
    dt_order: &'a [u32],
}

impl Matcher<'_> {
    fn run(&self, groups: &[Group]) -> Matches {
        let mut matches =
            Matches { threshold_bytes: self.settings.iou_thresholds.len().div_ceil(8), ..Matches::default() };
        let mut order = Vec::new();
        let mut candidates = Vec::new();
        let mut scratch = Scratch::default();
        for group in groups {
            self.group(group, &mut order, &mut candidates, &mut scratch, &mut matches);
        }
        matches
    }

    fn group(
        &self,
        group: &Group,
        order: &mut Vec<u32>,
        candidates: &mut Vec<Candidate>,
        scratch: &mut Scratch,
        matches: &mut Matches,
    ) {
        let scene = self.scene;
        let score = |row: u32| scene.dt_score[row as usize];
        order.clear();
        order.extend_from_slice(&self.dt_order[group.detections.clone()]);
        // Most files have them sorted; equal scores keep the order of the file (cocoeval 254).
        if !order.is_sorted_by(|&a, &b| score(a) >= score(b)) {
            order.sort_by(|&a, &b| score(b).partial_cmp(&score(a)).expect("scores are numbers"));
        }
        order.truncate(self.settings.max_detections);
        let first_row = matches.category.len();
        for (rank, &row) in (0..).zip(order.iter()) {
            matches.category.push(group.category);
            matches.image.push(group.image);
            matches.rank.push(rank);
            matches.detection.push(row);
            matches.score.push(score(row));
        }
        let (ranges, bytes) = (self.settings.areas.len(), matches.threshold_bytes);
        let size = matches.category.len() * ranges * bytes;
        matches.matched.resize(size, 0);
        matches.ignored.resize(size, 0);

        // Below the lowest threshold no pair can match, and it changes nothing for the others.
        let lowest = self.settings.iou_thresholds.iter().copied().fold(f64::INFINITY, f64::min).min(NEARLY_ONE);
        let annotations = &self.gt_order[group.ground_truth.clone()];
        candidates.clear();
        scratch.starts.clear();
        for &detection in order.iter() {
            scratch.starts.push(candidates.len());
            let detection = &scene.dt_box[detection as usize];
            for (annotation, &row) in annotations.iter().enumerate() {
                let iou = iou(detection, &scene.gt_box[row as usize], scene.gt_crowd[row as usize]);
                if iou >= lowest {
                    candidates.push(Candidate { annotation, iou });
                }
            }
        }
        scratch.starts.push(candidates.len());

        scratch.pairs.clear();
        scratch.pairs.resize(candidates.len() * ranges * bytes, 0);
        for range in 0..ranges {
            if !candidates.is_empty() {
                self.range(range, annotations, candidates, scratch, first_row, matches);
            }
            let limits = self.settings.areas[range];
            for (index, &row) in order.iter().enumerate() {
                let [_, _, width, height] = scene.dt_box[row as usize];
                // What matches nothing and is of another size is not held against the detector (cocoeval 300).
                if outside(width * height, limits) {
                    let at = ((first_row + index) * ranges + range) * bytes;
                    for (byte, void) in (at..at + bytes).zip(full_bytes(self.settings.iou_thresholds.len())) {
                        matches.ignored[byte] |= void & !matches.matched[byte];
                    }
                }
            }
        }
        for (index, window) in scratch.starts.windows(2).enumerate() {
            for pair in window[0]..window[1] {
                let matched = &scratch.pairs[pair * ranges * bytes..(pair + 1) * ranges * bytes];
                if matched.iter().any(|&byte| byte != 0) {
                    matches.pair_row.push((first_row + index) as u32);
                    matches.pair_ground_truth.push(annotations[candidates[pair].annotation]);
                    matches.pair_iou.push(candidates[pair].iou);
                    matches.pair_matched.extend_from_slice(matched);
                }
            }
        }
    }

    /// Matches the detections of a group for one range of areas (cocoeval 268 to 298).
    fn range(
        &self,
        range: usize,
        annotations: &[u32],
        candidates: &[Candidate],
        scratch: &mut Scratch,
        first_row: usize,
        matches: &mut Matches,
    ) {
        let scene = self.scene;
        let (ranges, bytes) = (self.settings.areas.len(), matches.threshold_bytes);
        let limits = self.settings.areas[range];
        let Scratch { starts, pairs, ignored, taken, ordered } = scratch;
        ignored.clear();
        ignored.extend(
            annotations.iter().map(|&row| scene.gt_crowd[row as usize] || outside(scene.gt_area[row as usize], limits)),
        );
        // Annotations that count come first, each kind in the order of the file (cocoeval 252).
        ordered.clear();
        for window in starts.windows(2) {
            for wanted in [false, true] {
                ordered.extend((window[0]..window[1]).filter(|&pair| ignored[candidates[pair].annotation] == wanted));
            }
        }
        for (threshold, &iou_threshold) in self.settings.iou_thresholds.iter().enumerate() {
            let (byte, bit) = (threshold / 8, 1 << (threshold % 8));
            taken.clear();
            taken.resize(annotations.len(), false);
            for (index, window) in starts.windows(2).enumerate() {
                let mut best = iou_threshold.min(NEARLY_ONE);
                let mut found: Option<usize> = None;
                for &pair in &ordered[window[0]..window[1]] {
                    let Candidate { annotation, iou } = candidates[pair];
                    let crowd = scene.gt_crowd[annotations[annotation] as usize];
                    if taken[annotation] && !crowd {
                        continue;
                    }
                    // A match that counts is kept, however well one that is ignored would fit.
                    if ignored[annotation] && found.is_some_and(|found| !ignored[candidates[found].annotation]) {
                        break;
                    }
                    if iou < best {
                        continue;
                    }
                    best = iou;
                    found = Some(pair);
                }
                let Some(pair) = found else { continue };
                let annotation = candidates[pair].annotation;
                taken[annotation] = true;
                pairs[(pair * ranges + range) * bytes + byte] |= bit;
                let at = ((first_row + index) * ranges + range) * bytes + byte;
                if !scene.gt_void.get(annotations[annotation] as usize).is_some_and(|&void| void) {
                    matches.matched[at] |= bit;
                }
                if ignored[annotation] {
                    matches.ignored[at] |= bit;
                }
            }
        }
    }
}

/// No threshold asks for more than this (cocoeval 277).
const NEARLY_ONE: f64 = 1.0 - 1e-10;

/// The bytes of the set of all of `count` thresholds.
fn full_bytes(count: usize) -> impl Iterator<Item = u8> {
    (0..count.div_ceil(8)).map(move |byte| 0xFF >> (8 - (count - byte * 8).min(8)))
}

/// What a group needs for a moment, kept from one to the next.
#[derive(Default)]
struct Scratch {
    /// Where the candidates of each detection start, and where the last ones end.
    starts: Vec<usize>,
    /// For each candidate and range, the thresholds at which it is the match.
    pairs: Vec<u8>,
    /// Which annotations are ignored in the range.
    ignored: Vec<bool>,
    /// Which annotations are matched at the threshold.
    taken: Vec<bool>,
    /// The candidates of each detection in the order in which they are tried.
    ordered: Vec<usize>,
}
