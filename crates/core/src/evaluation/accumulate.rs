//! From outcomes to curves: precision, recall, and the score at each point.

use super::score::falling;
use super::trapezoid;
use crate::threads::each_with;

/// The outcome of every detection, sorted by image, category and descending score, as in a match table.
#[derive(Clone, Copy)]
pub struct Outcomes<'a> {
    /// The category of each row.
    pub category: &'a [u32],
    /// The rank of each row within the scope of the cap, best first.
    pub rank: &'a [u32],
    /// Scores.
    pub score: &'a [f64],
    /// For each row and area range, the thresholds at which it has a match.
    pub matched: &'a [u8],
    /// For each row and area range, the thresholds at which it is ignored.
    pub ignored: &'a [u8],
    /// For each category and area range, how many objects there are to find.
    pub object_count: &'a [u64],
    /// How many area ranges there are.
    pub ranges: usize,
    /// How many thresholds there are.
    pub thresholds: usize,
}

/// How curves are drawn.
#[derive(Clone, Copy)]
pub struct Drawing<'a> {
    /// The recalls at which precision is read, in ascending order.
    pub recall_thresholds: &'a [f64],
    /// Caps on the rank of the detections, in ascending order.
    pub caps: &'a [u32],
    /// Whether a cap counts the detections of a category on all images, best first, instead of comparing ranks.
    pub caps_over_all_images: bool,
    /// Whether precision is `tp / (tp + fp)`, instead of `tp / (tp + fp + 2**-52)` as in pycocotools.
    pub plain_precision: bool,
    /// The area under each curve that is computed, if any.
    pub area: Option<Area>,
}

/// Which area under a curve is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// Of the steps of the highest precision at each recall or a higher one (PASCAL VOC since 2010).
    Steps,
    /// Of straight lines between the precisions at the recall thresholds, which are read from straight lines between the
    /// points of the curve (Ultralytics). Precision is 0 from the last recall on.
    Trapezoid,
    /// The same, but precision falls along a straight line from the last point to 0 at recall 1 (Ultralytics until 8.4.36).
    SlopingTrapezoid,
}

/// Curves for every category, area range, cap and threshold, in this order; NaN if a category has no objects to find.
#[derive(Debug, PartialEq)]
pub struct Curves {
    /// At each recall threshold, the highest precision at this recall or a higher one; 0 if the recall is not reached.
    pub precision: Vec<f64>,
    /// The score of the detection at which each recall threshold is reached; 0 if it is not reached.
    pub scores: Vec<f64>,
    /// The recall after the last detection.
    pub recall: Vec<f64>,
    /// The area under the curve of the highest precision at each recall or a higher one; empty if not requested.
    pub area: Vec<f64>,
}

/// Draws every curve (cocoeval 349 to 411).
pub fn accumulate(outcomes: Outcomes<'_>, drawing: Drawing<'_>) -> Curves {
    let categories = outcomes.object_count.len().checked_div(outcomes.ranges).unwrap_or(0);
    let curves = outcomes.ranges * drawing.caps.len() * outcomes.thresholds;
    let points = curves * drawing.recall_thresholds.len();
    // Memory that is 0 from the start: most curves end before recall 1, and what they leave is never touched.
    let mut all = Curves {
        precision: vec![0.0; categories * points],
        scores: vec![0.0; categories * points],
        recall: vec![0.0; categories * curves],
        area: vec![0.0; if drawing.area.is_some() { categories * curves } else { 0 }],
    };
    let rows = rows_by_category(outcomes, categories);
    // As many empty parts as categories, where there is no area.
    let mut areas: Vec<&mut [f64]> = all.area.chunks_mut(curves).collect();
    areas.resize_with(categories, Default::default);
    let points = all.precision.chunks_mut(points).zip(all.scores.chunks_mut(points));
    let out = points.zip(all.recall.chunks_mut(curves)).zip(areas);
    each_with(rows.into_iter().zip(out).enumerate(), 0, Scratch::default, |scratch, (category, (rows, out))| {
        let (((precision, scores), recall), area) = out;
        let counts = &outcomes.object_count[category * outcomes.ranges..(category + 1) * outcomes.ranges];
        draw(outcomes, rows, counts, drawing, Out { precision, scores, recall, area }, scratch);
    });
    all
}

/// A detection as a number that sorts by descending score, then by row: score, row and rank, from the highest bits down.
fn key(row: u32, score: f64, rank: u32) -> u128 {
    u128::from(falling(score)) << 64 | u128::from(row) << 32 | u128::from(rank)
}

pub(super) fn row_of(key: u128) -> usize {
    (key >> 32) as u32 as usize
}

fn rank_of(key: u128) -> u32 {
    key as u32
}

/// The keys of the rows of each category, in the given order.
pub(super) fn rows_by_category(outcomes: Outcomes<'_>, categories: usize) -> Vec<Vec<u128>> {
    let mut counts = vec![0; categories];
    for &category in outcomes.category {
        counts[category as usize] += 1;
    }
    let mut rows: Vec<Vec<u128>> = counts.into_iter().map(Vec::with_capacity).collect();
    for (row, &category) in outcomes.category.iter().enumerate() {
        rows[category as usize].push(key(row as u32, outcomes.score[row], outcomes.rank[row]));
    }
    rows
}

/// Where the curves of one category go.
struct Out<'a> {
    precision: &'a mut [f64],
    scores: &'a mut [f64],
    recall: &'a mut [f64],
    area: &'a mut [f64],
}

/// The true positives of one curve, and intermediate sums.
#[derive(Default)]
struct Curve {
    /// Detections that were ignored, unlike others of the same set.
    ignored: u32,
    /// Precision at each true positive.
    precision: Vec<f64>,
    /// Score of each true positive.
    score: Vec<f64>,
}

/// Memory for one category, kept from one category to the next.
#[derive(Default)]
struct Scratch {
    curves: Vec<Curve>,
    /// For each area range, cap and block of 64 thresholds, the detections seen that count at some of them.
    seen: Vec<u32>,
    /// For each recall threshold, how many true positives reach it.
    needed: Vec<usize>,
    /// The parts of an area, one per true positive.
    parts: Vec<f64>,
}

/// Draws the curves of one category.
fn draw(
    outcomes: Outcomes<'_>,
    mut rows: Vec<u128>,
    counts: &[u64],
    drawing: Drawing<'_>,
    out: Out<'_>,
    scratch: &mut Scratch,
) {
    let Outcomes { ranges, thresholds, .. } = outcomes;
    let Drawing { recall_thresholds, caps, .. } = drawing;
    // The order of the sum matters to the last bit (cocoeval 384).
    let epsilon = if drawing.plain_precision { 0.0 } else { f64::EPSILON };
    // Equal scores keep the order of image and rank.
    rows.sort_unstable();
    let Scratch { curves, seen, needed, parts } = scratch;
    curves.resize_with(ranges * caps.len() * thresholds, Curve::default);
    for curve in curves.iter_mut() {
        curve.ignored = 0;
        curve.precision.clear();
        curve.score.clear();
    }
    let blocks = thresholds.div_ceil(64);
    seen.clear();
    seen.resize(ranges * caps.len() * blocks, 0);
    let bytes = thresholds.div_ceil(8);
    for (place, &detection) in (0..).zip(&rows) {
        let row = row_of(detection);
        let rank = if drawing.caps_over_all_images { place } else { rank_of(detection) };
        let first_cap = caps.partition_point(|&cap| cap <= rank);
        for range in 0..ranges {
            let sets = (row * ranges + range) * bytes;
            for block in 0..blocks {
                let bits = (thresholds - block * 64).min(64);
                let set = sets + block * 8..(sets + bytes).min(sets + block * 8 + 8);
                let (matched, ignored) = (word(&outcomes.matched[set.clone()]), word(&outcomes.ignored[set]));
                if ignored == u64::MAX >> (64 - bits) {
                    continue;
                }
                for cap in first_cap..caps.len() {
                    let seen = &mut seen[(range * caps.len() + cap) * blocks + block];
                    *seen += 1;
                    let curves = &mut curves[(range * caps.len() + cap) * thresholds + block * 64..][..bits];
                    for bit in Bits(ignored) {
                        curves[bit].ignored += 1;
                    }
                    for bit in Bits(matched & !ignored) {
                        let curve = &mut curves[bit];
                        let true_positives = (curve.precision.len() + 1) as f64;
                        let false_positives = f64::from(*seen - curve.ignored) - true_positives;
                        curve.precision.push(true_positives / (false_positives + true_positives + epsilon));
                        curve.score.push(outcomes.score[row]);
                    }
                }
            }
        }
    }
    let size = recall_thresholds.len();
    for (range, &count) in counts.iter().enumerate() {
        let of_range = range * caps.len() * thresholds..(range + 1) * caps.len() * thresholds;
        if count == 0 {
            out.recall[of_range.clone()].fill(f64::NAN);
            out.precision[of_range.start * size..of_range.end * size].fill(f64::NAN);
            out.scores[of_range.start * size..of_range.end * size].fill(f64::NAN);
            if drawing.area.is_some() {
                out.area[of_range].fill(f64::NAN);
            }
            continue;
        }
        let count = count as f64;
        needed.clear();
        let mut reached = 0;
        for &recall in recall_thresholds {
            while reached as f64 / count < recall {
                reached += 1;
            }
            needed.push(reached);
        }
        for index in of_range {
            let Curve { precision, score, ignored } = &mut curves[index];
            out.recall[index] = precision.len() as f64 / count;
            if let Some(Area::Trapezoid | Area::SlopingTrapezoid) = drawing.area {
                let (of_caps, threshold) = (index / thresholds, index % thresholds);
                let counted = seen[of_caps * blocks + threshold / 64] - *ignored;
                let slopes = drawing.area == Some(Area::SlopingTrapezoid);
                out.area[index] = trapezoid::area(precision, counted, count, recall_thresholds, slopes, parts);
            }
            // Recall rises, and precision does not fall, only at true positives: no other detection needs a look.
            for at in (1..precision.len()).rev() {
                precision[at - 1] = precision[at - 1].max(precision[at]);
            }
            if drawing.area == Some(Area::Steps) {
                out.area[index] = area_under(precision, count, parts);
            }
            for (point, &needed) in (index * size..).zip(needed.iter()) {
                // A recall of 0 is reached by the best detection of all, which may be a false positive or ignored.
                if needed == 0 {
                    out.precision[point] = precision.first().copied().unwrap_or(0.0);
                    out.scores[point] = rows.first().map_or(0.0, |best| outcomes.score[row_of(*best)]);
                } else if needed <= precision.len() {
                    out.precision[point] = precision[needed - 1];
                    out.scores[point] = score[needed - 1];
                } else {
                    break;
                }
            }
        }
    }
}

/// The area under the steps of a curve that rises in recall by one object at each true positive.
///
/// The parts and their sum are those of `voc_ap` of py-faster-rcnn, which ends the curve with a part of 0 where recall 1
/// is not reached.
pub(super) fn area_under(precision: &[f64], count: f64, parts: &mut Vec<f64>) -> f64 {
    let mut before = 0.0;
    parts.clear();
    parts.extend(precision.iter().enumerate().map(|(at, precision)| {
        let recall = (at + 1) as f64 / count;
        let part = (recall - before) * precision;
        before = recall;
        part
    }));
    if before != 1.0 {
        parts.push(0.0);
    }
    pairwise_sum(parts)
}

/// The sum of numbers in the order in which NumPy adds a contiguous array: the last bit depends on it.
pub(super) fn pairwise_sum(numbers: &[f64]) -> f64 {
    const LANES: usize = 8;
    const BLOCK: usize = 128;
    if numbers.len() > BLOCK {
        let half = numbers.len() / 2;
        let (low, high) = numbers.split_at(half - half % LANES);
        return pairwise_sum(low) + pairwise_sum(high);
    }
    let (rows, rest) = numbers.as_chunks::<LANES>();
    let Some((&first, others)) = rows.split_first() else { return rest.iter().fold(0.0, |sum, number| sum + number) };
    let mut sums = first;
    for row in others {
        sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |sum, number| sum + number)
}

/// A set of at most 64 thresholds as a number.
fn word(set: &[u8]) -> u64 {
    set.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The positions of the bits that are set.
struct Bits(u64);

impl Iterator for Bits {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_the_bits_that_are_set() {
        assert_eq!(Bits(0b1010_0001).collect::<Vec<_>>(), [0, 5, 7]);
        assert_eq!(Bits(0).count(), 0);
        assert_eq!(Bits(u64::MAX).count(), 64);
        assert_eq!(word(&[0b1, 0b10]), 0b10_0000_0001);
    }

    #[test]
    fn adds_in_the_order_of_numpy() {
        // Sums of 1, 1 / 2, 1 / 3 and so on, as numpy.sum gives them.
        for (length, sum) in [
            (0, 0.0),
            (3, 1.8333333333333333),
            (13, 3.180133755133755),
            (129, 5.440899030573669),
            (300, 6.282663880299504),
            (1000, 7.485470860550345),
            (1300, 7.747719774426114),
        ] {
            let numbers: Vec<f64> = (1..=length).map(|number| 1.0 / f64::from(number)).collect();
            assert_eq!(pairwise_sum(&numbers), sum, "of {length}");
        }
    }

    #[test]
    fn draws_the_curve_of_three_detections() {
        // A hit, a miss and a hit of two annotations; the last row is beyond the first cap.
        let outcomes = Outcomes {
            category: &[0, 0, 0],
            rank: &[0, 0, 1],
            score: &[0.9, 0.8, 0.7],
            matched: &[1, 0, 1],
            ignored: &[0, 0, 0],
            object_count: &[2],
            ranges: 1,
            thresholds: 1,
        };
        let recalls = [0.0, 0.5, 0.75, 1.0];
        let mut drawing = Drawing {
            recall_thresholds: &recalls,
            caps: &[1, 2],
            caps_over_all_images: false,
            plain_precision: false,
            area: None,
        };
        let curves = accumulate(outcomes, drawing);
        assert_eq!(curves.area, []);
        assert_eq!(curves.recall, [0.5, 1.0]);
        let (first, last) = (1.0 / (1.0 + f64::EPSILON), 2.0 / 3.0);
        assert_eq!(curves.precision, [first, first, 0.0, 0.0, first, first, last, last]);
        assert_eq!(curves.scores, [0.9, 0.9, 0.0, 0.0, 0.9, 0.9, 0.7, 0.7]);
        (drawing.caps_over_all_images, drawing.plain_precision, drawing.area) = (true, true, Some(Area::Steps));
        let curves = accumulate(outcomes, drawing);
        assert_eq!(curves.recall, [0.5, 0.5], "the third detection is beyond a cap of two");
        assert_eq!(curves.precision, [1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
        drawing.caps = &[3];
        assert_eq!(accumulate(outcomes, drawing).area, [0.5 + 0.5 * (2.0 / 3.0)]);
    }
}
