//! The curves of one category, drawn while its detections arrive.
//!
//! Precision rises, and recall with it, only at true positives. How many of them reach a recall threshold is known
//! before the first detection arrives, so a curve needs the highest precision between two thresholds alone.
//!
//! So its memory depends on the objects and not on the detections: an evaluation in parts feeds it a category that does
//! not fit into memory, and `accumulate` feeds it what does. The rule of the precision (envelope or not, which recall
//! thresholds) is that of the protocol; who matched whom is decided before.

use super::by_category::{key, rank_of, row_of};
#[cfg(test)]
use super::points::Points;
use super::score::falling;
use super::steps::area_under;
use super::trapezoid;
use crate::memory::{Vec, vec};

/// How curves are drawn.
#[derive(Clone)]
pub struct Drawing {
    /// The recalls at which precision is read, in ascending order.
    pub recall_thresholds: Vec<f64>,
    /// Caps on the rank of the detections, in ascending order.
    pub caps: Vec<u32>,
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
///
/// The points of a curve at the recall thresholds are kept as its steps: of these there are no more than true positives.
/// So the memory of many categories with few objects is that of their objects. `points` writes curves out.
#[derive(Debug, Default, PartialEq)]
pub struct Curves {
    /// For each curve, where its steps end; those of the next one begin there.
    pub ends: Vec<u64>,
    /// The steps of all curves. A curve that is undefined has none.
    pub steps: Steps,
    /// The recall after the last detection.
    pub recall: Vec<f64>,
    /// The area under the curve of the highest precision at each recall or a higher one; empty if not requested.
    pub area: Vec<f64>,
}

/// Steps of curves: recall thresholds with the same precision and the same score.
#[derive(Debug, Default, PartialEq)]
pub struct Steps {
    /// How many recall thresholds are reached with this step. Behind the last step, precision and score are 0.
    pub reached: Vec<u32>,
    /// The highest precision at this recall or a higher one.
    pub precision: Vec<f64>,
    /// The score of the detection at which the recall is reached.
    pub scores: Vec<f64>,
}

/// The outcome of detections of one category, in any order.
#[derive(Clone, Copy)]
pub struct Columns<'a> {
    /// The rank of each row within the scope of the cap, best first.
    pub rank: &'a [u32],
    /// Scores.
    pub score: &'a [f64],
    /// For each row and area range, the thresholds at which it has a match.
    pub matched: &'a [u8],
    /// For each row and area range, the thresholds at which it is ignored.
    pub ignored: &'a [u8],
}

/// Draws the curves of one category from its detections, best first. Its memory grows with them only if an area is drawn.
pub struct CurveDrawer {
    drawing: Drawing,
    progress: Progress,
    /// The lowest score so far, as a number that is larger for a lower score.
    lowest: u64,
}

/// A detection has a higher score than one that arrived in an earlier call.
#[derive(Debug, PartialEq, Eq)]
pub struct OutOfOrder;

impl CurveDrawer {
    /// For the number of objects to find in each area range.
    pub fn new(object_count: &[u64], thresholds: usize, drawing: Drawing) -> Self {
        let mut progress = Progress::default();
        progress.start(object_count, thresholds, &drawing);
        Self { drawing, progress, lowest: 0 }
    }

    /// How many area ranges there are.
    pub fn ranges(&self) -> usize {
        self.progress.ranges.len()
    }

    /// How many thresholds there are.
    pub fn thresholds(&self) -> usize {
        self.progress.thresholds
    }

    /// How curves are drawn.
    pub fn drawing(&self) -> &Drawing {
        &self.drawing
    }

    /// The next detections. Those with equal scores count in the order in which they are given, over all calls.
    ///
    /// # Errors
    ///
    /// If a score is higher than one of an earlier call. Then none of them counts.
    pub fn feed(&mut self, columns: Columns<'_>) -> Result<(), OutOfOrder> {
        let rows = columns.score.iter().zip(columns.rank);
        let mut keys: Vec<u128> = (0..).zip(rows).map(|(row, (&score, &rank))| key(row, score, rank)).collect();
        keys.sort_unstable();
        let (Some(&first), Some(&last)) = (keys.first(), keys.last()) else { return Ok(()) };
        if falling(columns.score[row_of(first)]) < self.lowest {
            return Err(OutOfOrder);
        }
        self.lowest = falling(columns.score[row_of(last)]);
        self.progress.feed(columns, &keys, &self.drawing);
        Ok(())
    }

    /// The curves of all detections so far.
    pub fn finish(mut self) -> Curves {
        let count = self.progress.curves.len();
        let mut curves = Curves {
            ends: vec![0; count],
            recall: vec![0.0; count],
            area: vec![0.0; if self.drawing.area.is_some() { count } else { 0 }],
            steps: Steps::default(),
        };
        let Curves { ends, steps, recall, area } = &mut curves;
        self.progress.finish(&self.drawing, &mut Out { ends, steps, recall, area });
        curves
    }
}

impl Curves {
    /// Takes the steps of every `curves` curves, whose ends are counted from the first of them.
    pub(super) fn join(&mut self, steps: Vec<Steps>, curves: usize) {
        let Self { ends, steps: all, .. } = self;
        let count = steps.iter().map(|each| each.reached.len()).sum();
        all.reached.reserve_exact(count);
        all.precision.reserve_exact(count);
        all.scores.reserve_exact(count);
        for (mut each, ends) in steps.into_iter().zip(ends.chunks_mut(curves.max(1))) {
            ends.iter_mut().for_each(|end| *end += all.reached.len() as u64);
            all.reached.append(&mut each.reached);
            all.precision.append(&mut each.precision);
            all.scores.append(&mut each.scores);
        }
    }

    /// The precision and the scores of all curves at each of `recalls` thresholds.
    #[cfg(test)]
    pub(super) fn written_out(&self, recalls: usize) -> [Vec<f64>; 2] {
        let Self { ends, steps: Steps { reached, precision, scores }, recall, .. } = self;
        let curves: Vec<i64> = (0..ends.len() as i64).collect();
        [precision, scores].map(|values| Points { ends, reached, values, recall }.write_out(&curves, recalls))
    }
}

impl Steps {
    /// Adds the steps of one curve: those that differ.
    fn add(&mut self, steps: &[Step]) {
        let start = self.reached.len();
        for &Step { reached, precision, score } in steps {
            let last = self.reached.len().checked_sub(1).filter(|&last| last >= start);
            let (before, at) = last.map_or((0.0, 0.0), |last| (self.precision[last], self.scores[last]));
            if (before.to_bits(), at.to_bits()) != (precision.to_bits(), score.to_bits()) {
                self.reached.push(reached);
                self.precision.push(precision);
                self.scores.push(score);
            } else if let Some(last) = last {
                self.reached[last] = reached;
            }
        }
    }
}

/// Where the curves of one category go. All numbers are 0 at the start.
pub(super) struct Out<'a> {
    /// Counted from the first of `steps`.
    pub(super) ends: &'a mut [u64],
    pub(super) steps: &'a mut Steps,
    pub(super) recall: &'a mut [f64],
    pub(super) area: &'a mut [f64],
}

/// A step of a curve that is being drawn.
#[derive(Clone, Copy, Default)]
struct Step {
    reached: u32,
    precision: f64,
    score: f64,
}

/// How far the curves of one category are drawn.
#[derive(Default)]
pub(super) struct Progress {
    thresholds: usize,
    ranges: Vec<Range>,
    /// For each area range, cap and threshold.
    curves: Vec<Curve>,
    /// For each curve, as many places for steps as there are recall thresholds; only the first of them are used.
    steps: Vec<Step>,
    /// For each area range, cap and block of 64 thresholds, the detections seen that count at some of them.
    seen: Vec<f64>,
    /// How many detections have arrived.
    arrived: u64,
    /// The score of the first of them.
    best: f64,
    /// For each curve, the precision at each true positive; empty if no area is drawn.
    whole: Vec<Vec<f64>>,
    /// The parts of an area.
    parts: Vec<f64>,
}

/// One area range.
struct Range {
    /// How many objects there are to find.
    objects: f64,
    /// How many true positives reach each recall threshold, and infinity at the end. Numbers of detections are floats
    /// here: these are exact up to 2**53, and need no conversion to be divided.
    needed: Vec<f64>,
    /// How many recall thresholds are reached without any true positive.
    free: usize,
}

impl Range {
    fn new(objects: u64, recall_thresholds: &[f64]) -> Self {
        let objects = objects as f64;
        let mut needed = Vec::with_capacity(recall_thresholds.len() + 1);
        let mut reached = 0.0;
        if objects > 0.0 {
            for &recall in recall_thresholds {
                while reached / objects < recall {
                    reached += 1.0;
                }
                needed.push(reached);
            }
        }
        needed.push(f64::INFINITY);
        let free = needed.partition_point(|&needed| needed == 0.0);
        Self { objects, needed, free }
    }
}

/// One curve between two recall thresholds.
#[derive(Clone, Copy)]
struct Curve {
    /// Detections that were ignored, unlike others of the same block.
    ignored: f64,
    /// True positives.
    found: f64,
    /// How many of them reach the next recall threshold.
    needed: f64,
    /// The highest precision since the last recall threshold.
    precision: f64,
    /// How many recall thresholds are reached.
    reached: usize,
    /// How many steps there are.
    steps: usize,
}

impl Curve {
    /// The true positive with which the curve comes to the next recall threshold.
    #[cold]
    fn reach(&mut self, precision: f64, score: f64, needed: &[f64], steps: &mut [Step]) {
        self.leave(steps);
        while needed[self.reached] <= self.found {
            self.reached += 1;
        }
        steps[self.steps] = Step { reached: self.reached as u32, precision, score };
        self.steps += 1;
        (self.needed, self.precision) = (needed[self.reached], precision);
    }

    /// Writes the highest precision since the last recall threshold. What lies before the first one is not read.
    fn leave(&self, steps: &mut [Step]) {
        if self.steps > 0 {
            steps[self.steps - 1].precision = self.precision;
        }
    }
}

/// How many detections are touched before they are counted.
const TOUCHED: usize = 64;

/// Reads a byte of the sets of each row. Rows stand apart in memory, and a loop that does nothing else waits for many of
/// them at a time: half of the time with 5 million detections.
fn touch(columns: Columns<'_>, keys: &[u128], row_bytes: usize) {
    let byte = |key: u128| columns.matched[row_of(key) * row_bytes] | columns.ignored[row_of(key) * row_bytes];
    std::hint::black_box(keys.iter().fold(0, |bytes, &key| bytes | byte(key)));
}

impl Progress {
    /// Begins a category with the number of objects to find in each area range.
    pub(super) fn start(&mut self, object_count: &[u64], thresholds: usize, drawing: &Drawing) {
        let Drawing { recall_thresholds, caps, area, .. } = drawing;
        self.thresholds = thresholds;
        self.ranges.clear();
        self.ranges.extend(object_count.iter().map(|&objects| Range::new(objects, recall_thresholds)));
        self.curves.clear();
        for Range { needed, free, .. } in &self.ranges {
            let (reached, steps) = (*free, usize::from(*free > 0));
            let curve = Curve { ignored: 0.0, found: 0.0, needed: needed[reached], precision: 0.0, reached, steps };
            self.curves.extend(std::iter::repeat_n(curve, caps.len() * thresholds));
        }
        let size = recall_thresholds.len();
        self.steps.resize(self.curves.len() * size, Step::default());
        for (curve, steps) in self.curves.iter().zip(self.steps.chunks_mut(size.max(1))).filter(|each| each.0.steps > 0)
        {
            steps[0].reached = curve.reached as u32;
        }
        self.seen.clear();
        self.seen.resize(object_count.len() * caps.len() * thresholds.div_ceil(64), 0.0);
        (self.arrived, self.best) = (0, 0.0);
        self.whole.iter_mut().for_each(Vec::clear);
        self.whole.resize_with(if area.is_some() { self.curves.len() } else { 0 }, Vec::new);
    }

    /// The next detections, as sorted keys of rows of the columns.
    pub(super) fn feed(&mut self, columns: Columns<'_>, keys: &[u128], drawing: &Drawing) {
        if let (0, Some(&first)) = (self.arrived, keys.first()) {
            self.best = columns.score[row_of(first)];
        }
        let row_bytes = self.ranges.len() * self.thresholds.div_ceil(8);
        for keys in keys.chunks(TOUCHED) {
            touch(columns, keys, row_bytes);
            self.count(columns, keys, drawing);
            self.arrived += keys.len() as u64;
        }
    }

    fn count(&mut self, columns: Columns<'_>, keys: &[u128], drawing: &Drawing) {
        let Self { thresholds, ranges, curves, steps, seen, arrived, whole, .. } = self;
        let (thresholds, caps, size) = (*thresholds, &drawing.caps, drawing.recall_thresholds.len());
        // The order of the sum matters to the last bit (cocoeval 384).
        let epsilon = if drawing.plain_precision { 0.0 } else { f64::EPSILON };
        let (bytes, blocks) = (thresholds.div_ceil(8), thresholds.div_ceil(64));
        for (place, &detection) in (*arrived..).zip(keys) {
            let row = row_of(detection);
            let rank = if drawing.caps_over_all_images { place } else { u64::from(rank_of(detection)) };
            let first_cap = caps.partition_point(|&cap| u64::from(cap) <= rank);
            if first_cap == caps.len() {
                continue;
            }
            for (range, Range { needed, .. }) in ranges.iter().enumerate().filter(|(_, range)| range.objects > 0.0) {
                let sets = (row * ranges.len() + range) * bytes;
                for block in 0..blocks {
                    let bits = (thresholds - block * 64).min(64);
                    let set = sets + block * 8..(sets + bytes).min(sets + block * 8 + 8);
                    let (matched, ignored) = (word(&columns.matched[set.clone()]), word(&columns.ignored[set]));
                    if ignored == u64::MAX >> (64 - bits) {
                        continue;
                    }
                    for cap in range * caps.len() + first_cap..(range + 1) * caps.len() {
                        let seen = &mut seen[cap * blocks + block];
                        *seen += 1.0;
                        let first = cap * thresholds + block * 64;
                        let curves = &mut curves[first..first + bits];
                        for bit in Bits(ignored) {
                            curves[bit].ignored += 1.0;
                        }
                        for bit in Bits(matched & !ignored) {
                            let (index, curve) = (first + bit, &mut curves[bit]);
                            curve.found += 1.0;
                            let precision = curve.found / (*seen - curve.ignored + epsilon);
                            if curve.found >= curve.needed {
                                let steps = &mut steps[index * size..(index + 1) * size];
                                curve.reach(precision, columns.score[row], needed, steps);
                            } else {
                                curve.precision = highest(curve.precision, precision);
                            }
                            if let Some(whole) = whole.get_mut(index) {
                                whole.push(precision);
                            }
                        }
                    }
                }
            }
        }
    }

    /// What is known once all detections have arrived.
    pub(super) fn finish(&mut self, drawing: &Drawing, out: &mut Out<'_>) {
        let Self { thresholds, ranges, curves, steps, seen, best, whole, parts, .. } = self;
        let (of_range, size) = (drawing.caps.len() * *thresholds, drawing.recall_thresholds.len());
        for (index, curve) in curves.iter().enumerate() {
            let Range { objects, free, .. } = ranges[index / of_range];
            out.ends[index] = out.steps.reached.len() as u64;
            if objects == 0.0 {
                out.recall[index] = f64::NAN;
                out.area.get_mut(index).into_iter().for_each(|area| *area = f64::NAN);
                continue;
            }
            out.recall[index] = curve.found / objects;
            let steps = &mut steps[index * size..][..curve.steps];
            curve.leave(steps);
            steps.iter_mut().rfold(0.0, |above, step| {
                step.precision = highest(step.precision, above);
                step.precision
            });
            // A recall of 0 is reached by the best detection of all, which may be a false positive or ignored.
            if free > 0 {
                steps[0].score = *best;
            }
            out.steps.add(steps);
            out.ends[index] = out.steps.reached.len() as u64;
            let Some(whole) = whole.get_mut(index) else { continue };
            if drawing.area == Some(Area::Steps) {
                whole.iter_mut().rfold(0.0, |above, precision| {
                    *precision = highest(*precision, above);
                    *precision
                });
                out.area[index] = area_under(whole, objects, parts);
            } else {
                let block = index / *thresholds * thresholds.div_ceil(64) + index % *thresholds / 64;
                let counted = (seen[block] - curve.ignored) as u32;
                let slopes = drawing.area == Some(Area::SlopingTrapezoid);
                out.area[index] = trapezoid::area(whole, counted, objects, &drawing.recall_thresholds, slopes, parts);
            }
        }
    }
}

/// A set of at most 64 thresholds as a number.
fn word(set: &[u8]) -> u64 {
    match *set {
        [low] => u64::from(low),
        [low, high] => u64::from(u16::from_le_bytes([low, high])),
        _ => set.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// The higher of two numbers, neither of which is NaN: one instruction.
fn highest(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
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
    use crate::memory::vec;

    const HIT: (u8, u8) = (1, 0);
    const MISS: (u8, u8) = (0, 0);
    const IGNORED: (u8, u8) = (1, 1);

    fn drawer(objects: u64, caps_over_all_images: bool, area: Option<Area>) -> CurveDrawer {
        let (recall_thresholds, caps) = (vec![0.0, 0.25, 0.5, 1.0], vec![4]);
        let drawing = Drawing { recall_thresholds, caps, caps_over_all_images, plain_precision: true, area };
        CurveDrawer::new(&[objects], 1, drawing)
    }

    fn feed(drawer: &mut CurveDrawer, rows: &[(f64, (u8, u8))]) -> Result<(), OutOfOrder> {
        let score: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let (matched, ignored): (Vec<u8>, Vec<u8>) = rows.iter().map(|row| row.1).unzip();
        drawer.feed(Columns { rank: &vec![0; rows.len()], score: &score, matched: &matched, ignored: &ignored })
    }

    #[test]
    fn parts_draw_the_curve_of_the_whole() {
        let rows = [(0.9, IGNORED), (0.8, MISS), (0.8, HIT), (0.8, HIT), (0.5, MISS), (0.0, HIT), (-0.0, IGNORED)];
        let highest = 2.0 / 3.0;
        for area in [None, Some(Area::Steps), Some(Area::Trapezoid), Some(Area::SlopingTrapezoid)] {
            for (over_all, recall) in [(false, 0.75), (true, 0.5)] {
                for first in 0..=rows.len() {
                    for second in first..=rows.len() {
                        let mut drawer = drawer(4, over_all, area);
                        for part in [&rows[..first], &rows[first..second], &rows[second..]] {
                            feed(&mut drawer, part).expect("the scores fall");
                        }
                        let curves = drawer.finish();
                        assert_eq!(curves.ends, [2], "steps that are equal are one");
                        let points = [[highest, highest, highest, 0.0], [0.9, 0.8, 0.8, 0.0]];
                        assert_eq!(curves.written_out(4), points);
                        assert_eq!(curves.recall, [recall]);
                        assert_eq!(curves.area.len(), usize::from(area.is_some()));
                        if area == Some(Area::Steps) {
                            assert_eq!(curves.area, [0.25 * highest + 0.25 * highest + (recall - 0.5) * 0.6]);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_call_sorts_its_detections_and_refuses_higher_scores_than_before() {
        let mut drawer = drawer(1, false, None);
        feed(&mut drawer, &[(0.5, MISS), (0.75, HIT)]).expect("a first call has any scores");
        assert_eq!(feed(&mut drawer, &[(0.25, HIT), (0.625, HIT)]), Err(OutOfOrder));
        feed(&mut drawer, &[]).expect("no score is too high");
        let curves = drawer.finish();
        assert_eq!(curves.written_out(4), [[1.0; 4], [0.75; 4]]);
        assert_eq!(curves.recall, [1.0]);
    }

    #[test]
    fn a_category_without_objects_or_detections_has_curves() {
        let mut empty = drawer(0, false, Some(Area::Steps));
        feed(&mut empty, &[(0.5, HIT)]).expect("a first call has any scores");
        for (curves, wanted) in [(empty, f64::NAN), (drawer(3, false, Some(Area::Steps)), 0.0)]
            .map(|(drawer, wanted)| (drawer.finish(), wanted))
        {
            assert_eq!((curves.ends.len(), &curves.steps), (1, &Steps::default()));
            let [precision, scores] = curves.written_out(4);
            let numbers = [precision, scores, curves.recall, curves.area].concat();
            assert!(numbers.iter().all(|number| number.total_cmp(&wanted).is_eq()), "{numbers:?}");
        }
    }

    #[test]
    fn lists_the_bits_that_are_set() {
        assert_eq!(Bits(0b1010_0001).collect::<Vec<_>>(), [0, 5, 7]);
        assert_eq!(Bits(0).count(), 0);
        assert_eq!(Bits(u64::MAX).count(), 64);
        assert_eq!(word(&[0b1, 0b10]), 0b10_0000_0001);
    }
}
