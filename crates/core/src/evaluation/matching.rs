//! Which detection found which object, at every IoU threshold and for every range of areas at once.

use std::ops::{ControlFlow, Range};

use super::by_image::{ByImage, NOWHERE};
use super::score::falling;
use crate::threads::in_order;

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
    /// IoU from which a detection can match, rising.
    pub iou_thresholds: &'a [f64],
    /// Lowest and highest area of each range, both within.
    pub areas: &'a [[f64; 2]],
    /// How many detections of one category count on one image.
    pub max_detections: usize,
    /// Whether all categories count as one.
    pub class_agnostic: bool,
}

/// One row a detection that counts, by image, category and falling score.
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
    let (ground_truth, detections) =
        rayon::join(|| ByImage::new(scene.gt_image, scene.images), || ByImage::new(scene.dt_image, scene.images));
    let matcher = Matcher::new(scene, settings, &ground_truth, &detections);
    // Runs of images with about the same number of detections, more of them than threads.
    let share = (scene.dt_image.len() / 64).max(1024);
    let mut runs = Vec::new();
    let (mut start, mut rows) = (0, 0);
    for image in 0..scene.images {
        rows += detections.count(image) + ground_truth.count(image);
        if rows >= share || image + 1 == scene.images {
            runs.push(start..image + 1);
            (start, rows) = (image + 1, 0);
        }
    }
    let mut all = Matches::default();
    let produce = |scratch: &mut Scratch, run: usize| matcher.run(runs[run].clone(), scratch);
    in_order(runs.len(), Scratch::default, produce, |mut part| {
        all.append(&mut part);
        ControlFlow::Continue(())
    });
    all.threshold_bytes = matcher.bytes;
    all.ground_truth_count = count_ground_truth(scene, settings);
    all
}

impl Matches {
    /// Moves all rows of `other`, which follow these, to the end.
    fn append(&mut self, other: &mut Self) {
        let shift = self.category.len() as u32;
        self.category.append(&mut other.category);
        self.image.append(&mut other.image);
        self.rank.append(&mut other.rank);
        self.detection.append(&mut other.detection);
        self.score.append(&mut other.score);
        self.matched.append(&mut other.matched);
        self.ignored.append(&mut other.ignored);
        self.pair_row.extend(other.pair_row.drain(..).map(|row| row + shift));
        self.pair_ground_truth.append(&mut other.pair_ground_truth);
        self.pair_iou.append(&mut other.pair_iou);
        self.pair_matched.append(&mut other.pair_matched);
    }
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

/// A box by its sides, with the sums and the product that pycocotools' `bbIou` forms again and again.
#[derive(Clone, Copy)]
struct Sides {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    area: f64,
}

impl Sides {
    fn new(&[x, y, width, height]: &[f64; 4]) -> Self {
        Self { left: x, top: y, right: width + x, bottom: height + y, area: width * height }
    }

    /// The intersection with an annotation, and their union: the area of the detection alone if it marks a crowd.
    #[inline(always)]
    fn overlap(&self, annotation: &Self, crowd: bool) -> (f64, f64) {
        let width = self.right.min(annotation.right) - self.left.max(annotation.left);
        let height = self.bottom.min(annotation.bottom) - self.top.max(annotation.top);
        let intersection = width.max(0.0) * height.max(0.0);
        (intersection, if crowd { self.area } else { self.area + annotation.area - intersection })
    }
}

/// A detection and an annotation that overlap enough to match at some threshold.
#[derive(Clone, Copy)]
struct Candidate {
    annotation: usize,
    iou: f64,
    /// How many thresholds their overlap meets.
    level: usize,
}

struct Matcher<'a> {
    scene: Scene<'a>,
    settings: Settings<'a>,
    ground_truth: &'a ByImage,
    detections: &'a ByImage,
    /// Bytes of a set of thresholds.
    bytes: usize,
    /// The set of all thresholds.
    full: Vec<u8>,
    /// IoU surely below which no pair can match at any threshold.
    almost_lowest: f64,
}

impl<'a> Matcher<'a> {
    fn new(scene: Scene<'a>, settings: Settings<'a>, ground_truth: &'a ByImage, detections: &'a ByImage) -> Self {
        let count = settings.iou_thresholds.len();
        let bytes = count.div_ceil(8);
        let full = (0..bytes).map(|byte| 0xFF >> (8 - (count - byte * 8).min(8))).collect();
        // Lower by far more than the rounding of a product.
        let almost_lowest = settings.iou_thresholds.iter().copied().fold(NEARLY_ONE, f64::min) * (1.0 - 1e-9);
        Self { scene, settings, ground_truth, detections, bytes, full, almost_lowest }
    }

    fn run(&self, images: Range<usize>, scratch: &mut Scratch) -> Matches {
        let scene = self.scene;
        let mut matches = Matches::default();
        let (mut gt_rows, mut sorted, mut dt_rows) = (Vec::new(), Vec::new(), Vec::new());
        let gt_category = |row: u32| scene.gt_category[row as usize];
        // By category, then falling score, then position in the file, as one number (cocoeval 254). As one category, the
        // detections still come category by category where scores are equal (cocoeval 169).
        let key = |row: u32| {
            let (category, score) = (scene.dt_category[row as usize], falling(scene.dt_score[row as usize]));
            let (category, score, row) = (u128::from(category), u128::from(score), u128::from(row));
            if self.settings.class_agnostic {
                score << 64 | category << 32 | row
            } else {
                category << 96 | score << 32 | row
            }
        };
        for image in images {
            gt_rows.clear();
            gt_rows.extend(self.ground_truth.rows(image).filter(|&row| gt_category(row) != NOWHERE));
            gt_rows.sort_by_key(|&row| gt_category(row));
            sorted.clear();
            let evaluated = self.detections.rows(image).filter(|&row| scene.dt_category[row as usize] != NOWHERE);
            sorted.extend(evaluated.map(key));
            sorted.sort_unstable();
            dt_rows.clear();
            dt_rows.extend(sorted.iter().map(|&key| key as u32));
            if self.settings.class_agnostic {
                self.group((0, image), &gt_rows, &dt_rows, scratch, &mut matches);
                continue;
            }
            let (mut gt, mut dt) = (gt_rows.as_slice(), dt_rows.as_slice());
            while let Some(&row) = dt.first() {
                let category = scene.dt_category[row as usize];
                let same = dt.iter().take_while(|&&row| scene.dt_category[row as usize] == category).count();
                let (of_category, rest) = dt.split_at(same);
                gt = &gt[gt.partition_point(|&row| gt_category(row) < category)..];
                let found = &gt[..gt.partition_point(|&row| gt_category(row) <= category)];
                self.group((category, image), found, of_category, scratch, &mut matches);
                dt = rest;
            }
        }
        matches
    }

    /// Matches the detections of a category on an image, best first.
    fn group(
        &self,
        (category, image): (u32, usize),
        annotations: &[u32],
        detections: &[u32],
        scratch: &mut Scratch,
        matches: &mut Matches,
    ) {
        let scene = self.scene;
        let detections = &detections[..detections.len().min(self.settings.max_detections)];
        let first_row = matches.category.len();
        let (ranges, bytes) = (self.settings.areas.len(), self.bytes);
        let rows = first_row + detections.len();
        matches.category.resize(rows, category);
        matches.image.resize(rows, image as u32);
        matches.rank.extend(0..detections.len() as u32);
        matches.detection.extend_from_slice(detections);
        matches.score.extend(detections.iter().map(|&row| scene.dt_score[row as usize]));
        matches.matched.resize(rows * ranges * bytes, 0);
        matches.ignored.resize(rows * ranges * bytes, 0);
        let mut sets = matches.ignored[first_row * ranges * bytes..].iter_mut();
        for &row in detections {
            let [_, _, width, height] = scene.dt_box[row as usize];
            for &limits in self.settings.areas {
                // What matches nothing and is of another size is not held against the detector (cocoeval 300).
                let mask = if outside(width * height, limits) { 0xFF } else { 0 };
                for (&full, set) in self.full.iter().zip(sets.by_ref()) {
                    *set = full & mask;
                }
            }
        }
        let thresholds = self.settings.iou_thresholds;
        let Scratch { candidates, starts, pairs, sides, .. } = scratch;
        sides.clear();
        sides.extend(
            annotations.iter().map(|&row| (Sides::new(&scene.gt_box[row as usize]), scene.gt_crowd[row as usize])),
        );
        candidates.clear();
        starts.clear();
        for &row in detections {
            starts.push(candidates.len());
            let detection = Sides::new(&scene.dt_box[row as usize]);
            for (annotation, (sides, crowd)) in sides.iter().enumerate() {
                let (intersection, union) = detection.overlap(sides, *crowd);
                // Nearly every pair ends here, before the division, and without a branch on how they miss each other.
                if intersection <= self.almost_lowest * union {
                    continue;
                }
                let iou = intersection / union;
                let level = thresholds.iter().take_while(|&&threshold| iou >= threshold.min(NEARLY_ONE)).count();
                if level > 0 {
                    candidates.push(Candidate { annotation, iou, level });
                }
            }
        }
        if candidates.is_empty() {
            return;
        }
        starts.push(candidates.len());
        let size = self.settings.areas.len() * self.bytes;
        pairs.clear();
        pairs.resize(candidates.len() * size, 0);
        self.assign(annotations, first_row, scratch, matches);
        for (row, window) in (first_row as u32..).zip(scratch.starts.windows(2)) {
            for pair in window[0]..window[1] {
                let matched = &scratch.pairs[pair * size..(pair + 1) * size];
                if matched.iter().any(|&byte| byte != 0) {
                    matches.pair_row.push(row);
                    matches.pair_ground_truth.push(annotations[scratch.candidates[pair].annotation]);
                    matches.pair_iou.push(scratch.candidates[pair].iou);
                    matches.pair_matched.extend_from_slice(matched);
                }
            }
        }
    }

    /// Matches the candidates of a group at every threshold and for every range of areas (cocoeval 268 to 298).
    fn assign(&self, annotations: &[u32], first_row: usize, scratch: &mut Scratch, matches: &mut Matches) {
        let scene = self.scene;
        let (ranges, bytes) = (self.settings.areas.len(), self.bytes);
        let Scratch { candidates, starts, pairs, ignored, taken, ordered, levels, set, .. } = scratch;
        // Thresholds met by the same candidates have the same matches: one of each such run is enough.
        levels.clear();
        levels.extend(candidates.iter().map(|candidate| candidate.level));
        levels.sort_unstable();
        levels.dedup();
        let count = annotations.len();
        ignored.clear();
        for &limits in self.settings.areas {
            let is_ignored = |&row: &u32| scene.gt_crowd[row as usize] || outside(scene.gt_area[row as usize], limits);
            ignored.extend(annotations.iter().map(is_ignored));
        }
        for range in 0..ranges {
            // Ranges that ignore the same annotations have the same matches: the first of them stands for all.
            let of = |range: usize| &ignored[range * count..(range + 1) * count];
            if (0..range).any(|earlier| of(earlier) == of(range)) {
                continue;
            }
            let (alike, ignored) = ((range..ranges).filter(|&other| of(other) == of(range)), of(range));
            // Annotations that count come first, each kind in the order of the file (cocoeval 252).
            ordered.clear();
            for window in starts.windows(2) {
                for wanted in [false, true] {
                    ordered
                        .extend((window[0]..window[1]).filter(|&pair| ignored[candidates[pair].annotation] == wanted));
                }
            }
            let mut below = 0;
            for &level in levels.iter() {
                set.clear();
                set.resize(bytes, 0);
                (below..level).for_each(|threshold| set[threshold / 8] |= 1 << (threshold % 8));
                below = level;
                taken.clear();
                taken.resize(count, false);
                for (row, window) in (first_row..).zip(starts.windows(2)) {
                    let Some(pair) = best_pair(&ordered[window[0]..window[1]], candidates, level, ignored, taken)
                    else {
                        continue;
                    };
                    let annotation = candidates[pair].annotation;
                    let gt_row = annotations[annotation] as usize;
                    // A crowd may be found again and again.
                    taken[annotation] = !scene.gt_crowd[gt_row];
                    let void = scene.gt_void.get(gt_row).is_some_and(|&void| void);
                    for range in alike.clone() {
                        let (at, at_pair) = ((row * ranges + range) * bytes, (pair * ranges + range) * bytes);
                        for (byte, &bits) in set.iter().enumerate() {
                            pairs[at_pair + byte] |= bits;
                            if !void {
                                matches.matched[at + byte] |= bits;
                                matches.ignored[at + byte] &= !bits;
                            }
                            if ignored[annotation] {
                                matches.ignored[at + byte] |= bits;
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The candidate that a detection takes at the thresholds below `level`.
fn best_pair(
    pairs: &[usize],
    candidates: &[Candidate],
    level: usize,
    ignored: &[bool],
    taken: &[bool],
) -> Option<usize> {
    let mut found: Option<usize> = None;
    for &pair in pairs {
        let candidate = candidates[pair];
        if candidate.level < level || taken[candidate.annotation] {
            continue;
        }
        if let Some(best) = found.map(|pair| candidates[pair]) {
            // A match that counts is kept, however well one that is ignored would fit.
            if ignored[candidate.annotation] && !ignored[best.annotation] {
                break;
            }
            // Of equal overlaps the later annotation wins.
            if candidate.iou < best.iou {
                continue;
            }
        }
        found = Some(pair);
    }
    found
}

/// No threshold asks for more than this (cocoeval 277).
const NEARLY_ONE: f64 = 1.0 - 1e-10;

/// What a group needs for a moment, kept from one to the next.
#[derive(Default)]
struct Scratch {
    /// The annotations, and which of them mark crowds.
    sides: Vec<(Sides, bool)>,
    /// The pairs that overlap enough, detection by detection.
    candidates: Vec<Candidate>,
    /// Where the candidates of each detection start, and where the last ones end.
    starts: Vec<usize>,
    /// For each candidate and range, the thresholds at which it is the match.
    pairs: Vec<u8>,
    /// For each range, which annotations are ignored.
    ignored: Vec<bool>,
    /// Which annotations are no longer free.
    taken: Vec<bool>,
    /// The candidates of each detection in the order in which they are tried.
    ordered: Vec<usize>,
    /// The levels of the candidates, rising, each once.
    levels: Vec<usize>,
    /// A set of thresholds.
    set: Vec<u8>,
}
