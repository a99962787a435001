//! Curves where objects choose among the detections, as in the development kit of KITTI.
//!
//! The detections that an object can choose depend on the score threshold. So no list of matches is enough: objects
//! choose again at each of the thresholds, which depend on the whole data set.

use crate::memory::{Vec, vec};

/// Detections, objects and their pairs.
#[derive(Clone, Copy)]
pub struct Choices<'a> {
    /// The category of each detection.
    pub category: &'a [u32],
    /// The place of each detection within the scope of the cap, best first.
    pub rank: &'a [u32],
    /// The score of each detection.
    pub score: &'a [f64],
    /// For each detection, the set of ranges that it is outside of.
    pub outside: &'a [u8],
    /// For each detection, the highest overlap with an area in which detections do not count.
    pub uncounted: &'a [f64],
    /// The category of each object.
    pub object_category: &'a [u32],
    /// For each object, another category whose detections may take it without counting; `u32::MAX` if there is none.
    pub neighbour: &'a [u32],
    /// For each object, the set of ranges that ignore it.
    pub ignored: &'a [u8],
    /// Pairs by object, in the order in which objects choose; those of an object in the order of the detections' source.
    pub pairs: &'a [Pair],
    /// How many area ranges there are.
    pub ranges: usize,
}

/// A detection and an object that overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The row of the detection.
    pub detection: u32,
    /// The row of the object.
    pub object: u32,
    /// Their overlap.
    pub overlap: f64,
    /// The difference of their orientations, in radians; 0 where nobody asks for orientations.
    pub turned: f64,
}

/// Which curve is drawn.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// The category.
    pub category: u32,
    /// The area range.
    pub range: usize,
    /// How many detections count within the scope of the cap.
    pub cap: u32,
    /// A match needs more overlap than this.
    pub threshold: f64,
    /// The number of steps of recall from 0 to 1.
    pub steps: usize,
}

/// A curve that is read at equal steps of recall, from 0 to 1.
#[derive(Debug, Default, PartialEq)]
pub struct StepCurve {
    /// At each step, the highest precision at this step or a later one; 0 at steps that are not reached.
    pub precision: Vec<f64>,
    /// The same of the similarity of orientation: true positives count `(1 + cos(turned)) / 2`, in the place of 1.
    pub similarity: Vec<f64>,
    /// The score threshold of each step; 0 at steps that are not reached.
    pub scores: Vec<f64>,
    /// The recall at the lowest score threshold.
    pub recall: f64,
}

/// What an object can choose.
#[derive(Clone, Copy)]
struct Candidate {
    detection: usize,
    overlap: f64,
    similarity: f64,
    /// Whether the detection is outside of the range.
    outside: bool,
}

/// Whether a detection is free.
type IsFree<'f> = dyn Fn(usize) -> bool + 'f;

/// Which of its candidates an object chooses.
type Choice<'f> = dyn Fn(&[Candidate], &IsFree<'_>) -> Option<Candidate> + 'f;

/// The part of the data that one curve needs.
struct Part<'a> {
    choices: Choices<'a>,
    candidates: Vec<Candidate>,
    /// Where the candidates of each object end, and whether the object is ignored.
    objects: Vec<(usize, bool)>,
    /// The last round in which each detection was taken.
    taken: Vec<u32>,
    round: u32,
}

fn has(sets: &[u8], row: usize, range: usize, ranges: usize) -> bool {
    sets[row * ranges.div_ceil(8) + range / 8] >> (range % 8) & 1 == 1
}

impl<'a> Part<'a> {
    fn new(choices: Choices<'a>, wanted: Wanted) -> Self {
        let (mut candidates, mut objects) = (Vec::new(), Vec::new());
        for pairs in choices.pairs.chunk_by(|a, b| a.object == b.object) {
            let object = pairs[0].object as usize;
            let own = choices.object_category[object] == wanted.category;
            if !own && choices.neighbour[object] != wanted.category {
                continue;
            }
            for pair in pairs.iter().filter(|pair| pair.overlap > wanted.threshold) {
                let detection = pair.detection as usize;
                let outside = has(choices.outside, detection, wanted.range, choices.ranges);
                // A detection outside of the range may be chosen whatever its category is.
                let known = outside || choices.category[detection] == wanted.category;
                if known && choices.rank[detection] < wanted.cap {
                    let similarity = (1.0 + pair.turned.cos()) / 2.0;
                    candidates.push(Candidate { detection, overlap: pair.overlap, similarity, outside });
                }
            }
            objects.push((candidates.len(), !own || has(choices.ignored, object, wanted.range, choices.ranges)));
        }
        Self { choices, candidates, objects, taken: vec![0; choices.score.len()], round: 0 }
    }

    /// Lets every object choose, and calls `used` with each choice and whether it counts.
    fn choose(&mut self, choice: &Choice<'_>, used: &mut dyn FnMut(Candidate, bool)) {
        self.round += 1;
        let (round, mut start) = (self.round, 0);
        for &(end, ignored) in &self.objects {
            let taken = &mut self.taken;
            let chosen = choice(&self.candidates[start..end], &|detection| taken[detection] != round);
            if let Some(candidate) = chosen {
                taken[candidate.detection] = round;
                used(candidate, !ignored && !candidate.outside);
            }
            start = end;
        }
    }

    /// The scores of the true positives where objects choose the detection with the best score.
    fn scores(&mut self) -> Vec<f64> {
        let (score, mut found) = (self.choices.score, Vec::new());
        let best_score = |candidates: &[Candidate], free: &IsFree<'_>| {
            let free = candidates.iter().filter(|candidate| free(candidate.detection));
            free.copied().reduce(|best, next| if score[next.detection] > score[best.detection] { next } else { best })
        };
        self.choose(&best_score, &mut |candidate, counts| {
            if counts {
                found.push(score[candidate.detection]);
            }
        });
        found.sort_unstable_by(|a, b| b.total_cmp(a));
        found
    }

    /// The true positives among the detections with at least a score, how many of those that count are taken, and the
    /// sum of the similarities of the true positives.
    fn count(&mut self, least: f64, counts_as_false: &[bool]) -> (usize, usize, f64) {
        let score = self.choices.score;
        let best_overlap = |candidates: &[Candidate], free: &IsFree<'_>| {
            let is_free = |candidate: &&Candidate| score[candidate.detection] >= least && free(candidate.detection);
            let mut free = candidates.iter().filter(is_free).copied();
            let first = free.next()?;
            // One that is inside is preferred; of those outside, the first.
            Some(free.fold(first, |best, next| {
                let better = !next.outside && (best.outside || next.overlap > best.overlap);
                if better { next } else { best }
            }))
        };
        let (mut hits, mut taken, mut similarity) = (0, 0, 0.0);
        self.choose(&best_overlap, &mut |candidate, counts| {
            hits += usize::from(counts);
            taken += usize::from(counts_as_false[candidate.detection]);
            similarity += if counts { candidate.similarity } else { 0.0 };
        });
        (hits, taken, similarity)
    }
}

/// The scores at which a curve is read: at each step, that of the true positive with the recall closest to the step.
fn score_thresholds(scores: &[f64], objects: usize, steps: usize) -> Vec<f64> {
    let (objects, mut recall, mut thresholds) = (objects as f64, 0.0, Vec::new());
    for (at, &score) in scores.iter().enumerate() {
        let last = at + 1 == scores.len();
        let (left, right) = ((at + 1) as f64 / objects, (at + 2) as f64 / objects);
        if !last && right - recall < recall - left {
            continue;
        }
        thresholds.push(score);
        recall += 1.0 / steps as f64;
    }
    thresholds
}

/// Draws one curve; `objects` is the number of objects to find. Without objects, all values are NaN.
pub fn step_curve(choices: Choices<'_>, wanted: Wanted, objects: usize) -> StepCurve {
    let size = wanted.steps + 1;
    if objects == 0 {
        let undefined = || vec![f64::NAN; size];
        let (precision, similarity, scores) = (undefined(), undefined(), undefined());
        return StepCurve { precision, similarity, scores, recall: f64::NAN };
    }
    let mut part = Part::new(choices, wanted);
    let scores = part.scores();
    let thresholds = score_thresholds(&scores, objects, wanted.steps);
    let counts_as_false = |row: usize| {
        choices.category[row] == wanted.category
            && choices.rank[row] < wanted.cap
            && !has(choices.outside, row, wanted.range, choices.ranges)
            && choices.uncounted[row] <= wanted.threshold
    };
    let counts_as_false: Vec<bool> = (0..choices.score.len()).map(counts_as_false).collect();
    let rows = counts_as_false.iter().zip(choices.score);
    let mut counted: Vec<f64> = rows.filter(|(counts, _)| **counts).map(|(_, &score)| score).collect();
    counted.sort_unstable_by(|a, b| b.total_cmp(a));
    let zeros = || vec![0.0; size];
    let mut curve = StepCurve { precision: zeros(), similarity: zeros(), scores: zeros(), recall: 0.0 };
    for (step, &least) in thresholds.iter().take(size).enumerate() {
        let (hits, taken, similarity) = part.count(least, &counts_as_false);
        let wrong = counted.partition_point(|&score| score >= least) - taken;
        let of_all = |part: f64| if hits + wrong == 0 { 0.0 } else { part / (hits + wrong) as f64 };
        (curve.precision[step], curve.similarity[step]) = (of_all(hits as f64), of_all(similarity));
        curve.scores[step] = least;
        curve.recall = hits as f64 / objects as f64;
    }
    for step in (1..size).rev() {
        curve.precision[step - 1] = curve.precision[step - 1].max(curve.precision[step]);
        curve.similarity[step - 1] = curve.similarity[step - 1].max(curve.similarity[step]);
    }
    curve
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    const NONE: u32 = u32::MAX;

    fn curve(choices: Choices<'_>, objects: usize) -> StepCurve {
        step_curve(choices, Wanted { category: 0, range: 0, cap: NONE, threshold: 0.5, steps: 2 }, objects)
    }

    #[test]
    fn an_object_chooses_the_highest_overlap_again_at_each_threshold() {
        // The second detection overlaps more, but has the lower score: at its threshold, the first one is wrong.
        let pairs = [
            Pair { detection: 0, object: 0, overlap: 0.6, turned: 0.0 },
            Pair { detection: 1, object: 0, overlap: 0.9, turned: 0.0 },
            Pair { detection: 2, object: 1, overlap: 0.8, turned: 0.0 },
        ];
        let mut choices = Choices {
            category: &[0, 0, 0],
            rank: &[0, 1, 2],
            score: &[0.9, 0.5, 0.4],
            outside: &[0, 0, 0],
            uncounted: &[0.0; 3],
            object_category: &[0, 0],
            neighbour: &[NONE, NONE],
            ignored: &[0, 0],
            pairs: &pairs,
            ranges: 1,
        };
        let precision = vec![1.0, 2.0 / 3.0, 0.0];
        let similarity = precision.clone();
        let expected = StepCurve { precision, similarity, scores: vec![0.9, 0.4, 0.0], recall: 1.0 };
        assert_eq!(curve(choices, 2), expected);
        choices.uncounted = &[0.6, 0.0, 0.0];
        assert_eq!(curve(choices, 2).precision, [1.0, 1.0, 0.0], "what lies in an uncounted area is not wrong");
        choices.outside = &[0, 1, 0];
        assert_eq!(curve(choices, 2).precision, [1.0, 1.0, 0.0], "a detection inside is preferred to one outside");
        choices.ignored = &[1, 0];
        choices.uncounted = &[0.0; 3];
        assert_eq!(curve(choices, 1).scores, [0.4, 0.0, 0.0]);
        assert!(curve(choices, 0).recall.is_nan());
    }

    #[test]
    fn true_positives_count_by_their_orientation() {
        use std::f64::consts::{FRAC_PI_2, PI};
        let pairs = [(0, PI), (1, FRAC_PI_2), (2, 0.0)];
        let pairs = pairs.map(|(at, turned)| Pair { detection: at, object: at, overlap: 0.9, turned });
        let choices = Choices {
            category: &[0, 0, 0, 0],
            rank: &[0, 1, 2, 3],
            score: &[0.9, 0.8, 0.7, 0.7],
            outside: &[0; 4],
            uncounted: &[0.0; 4],
            object_category: &[0, 0, 0],
            neighbour: &[NONE, NONE, NONE],
            ignored: &[0, 0, 0],
            pairs: &pairs,
            ranges: 1,
        };
        let found = curve(choices, 3);
        assert_eq!(found.precision, [1.0, 1.0, 0.75]);
        // Of the first alone 0, of two 0.5 / 2, of all, with one that is wrong, 1.5 / 4.
        let error = found.similarity.iter().map(|value| (value - 0.375).abs()).fold(0.0, f64::max);
        assert!(error < 1e-15, "{:?}", found.similarity);
        assert!(curve(choices, 0).similarity.iter().all(|value| value.is_nan()));
    }

    #[test]
    fn a_neighbour_takes_a_detection_that_then_does_not_count() {
        let pairs = [
            Pair { detection: 0, object: 0, overlap: 0.9, turned: 0.0 },
            Pair { detection: 1, object: 1, overlap: 0.9, turned: 0.0 },
        ];
        let choices = Choices {
            category: &[0, 0],
            rank: &[0, 1],
            score: &[0.9, 0.8],
            outside: &[0, 0],
            uncounted: &[0.0; 2],
            object_category: &[1, 0],
            neighbour: &[0, NONE],
            ignored: &[0, 0],
            pairs: &pairs,
            ranges: 1,
        };
        assert_eq!(curve(choices, 1).precision, [1.0, 0.0, 0.0]);
        assert_eq!(curve(Choices { neighbour: &[NONE, NONE], ..choices }, 1).precision, [0.5, 0.0, 0.0]);
    }

    /// A set of nine ranges takes two bytes.
    #[test]
    fn every_range_of_many_has_its_own_bit() {
        let pairs = [
            Pair { detection: 0, object: 0, overlap: 0.9, turned: 0.0 },
            Pair { detection: 1, object: 1, overlap: 0.9, turned: 0.0 },
        ];
        for marked in 0..9 {
            let mut second = [[0_u8; 2]; 2];
            second[1][marked / 8] |= 1 << (marked % 8);
            let choices = Choices {
                category: &[0, 0],
                rank: &[0, 1],
                score: &[0.9, 0.8],
                outside: second.as_flattened(),
                uncounted: &[0.0; 2],
                object_category: &[0, 0],
                neighbour: &[NONE, NONE],
                ignored: second.as_flattened(),
                pairs: &pairs,
                ranges: 9,
            };
            for range in 0..9 {
                let wanted = Wanted { category: 0, range, cap: NONE, threshold: 0.5, steps: 1 };
                let found = step_curve(choices, wanted, 2).recall;
                assert_eq!(found, if range == marked { 0.5 } else { 1.0 }, "range {range}, marked {marked}");
            }
        }
    }

    #[test]
    fn reads_at_most_one_score_per_step() {
        let scores: Vec<f64> = (0..100).map(|rank| 1.0 - f64::from(rank) / 100.0).collect();
        assert_eq!(score_thresholds(&scores, 100, 40).len(), 41);
        assert_eq!(score_thresholds(&scores[..3], 100, 40), [1.0, 0.98]);
        assert_eq!(score_thresholds(&[], 3, 40), []);
    }
}
