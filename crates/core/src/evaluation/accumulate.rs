//! From outcomes to precision, recall and the score behind each point of the curve.

use std::cmp::Reverse;

use rayon::prelude::*;

/// The outcome of every detection, by category, image and falling score, as `Matches` has them.
#[derive(Clone, Copy)]
pub struct Outcomes<'a> {
    /// Where the rows of each category end.
    pub category_ends: &'a [usize],
    /// Place among the detections of the category on the image, best first.
    pub rank: &'a [u32],
    /// Scores.
    pub score: &'a [f64],
    /// For each row and area range, the thresholds at which it has a match.
    pub matched: &'a [u8],
    /// For each row and area range, the thresholds at which it does not count.
    pub ignored: &'a [u8],
    /// For each category and area range, how many annotations there are to find.
    pub ground_truth_count: &'a [u64],
    /// How many area ranges there are.
    pub ranges: usize,
    /// How many thresholds there are.
    pub thresholds: usize,
}

/// Curves for every category, area range, cap and threshold, in this order; NaN where there is nothing to find.
#[derive(Debug, PartialEq)]
pub struct Curves {
    /// At each recall threshold, the best precision at that recall or beyond; 0 where the recall is not reached.
    pub precision: Vec<f64>,
    /// The score of the detection with which each recall threshold is reached; 0 where it is not.
    pub scores: Vec<f64>,
    /// The recall after the last detection.
    pub recall: Vec<f64>,
}

/// Draws every curve; `caps` limit the detections of a category on an image, both lists rising (cocoeval 349 to 411).
pub fn accumulate(outcomes: Outcomes<'_>, recall_thresholds: &[f64], caps: &[u32]) -> Curves {
    let categories = outcomes.category_ends.len();
    let curves = outcomes.ranges * caps.len() * outcomes.thresholds;
    let points = curves * recall_thresholds.len();
    let mut all = Curves {
        precision: vec![f64::NAN; categories * points],
        scores: vec![f64::NAN; categories * points],
        recall: vec![f64::NAN; categories * curves],
    };
    // Chunks of length 0 are not allowed, and without points there is nothing to fill.
    let (precision, scores) = (all.precision.par_chunks_mut(points.max(1)), all.scores.par_chunks_mut(points.max(1)));
    let recall = all.recall.par_chunks_mut(curves.max(1));
    (0..categories).into_par_iter().zip(precision).zip(scores).zip(recall).for_each(
        |(((category, precision), scores), recall)| {
            let start = if category == 0 { 0 } else { outcomes.category_ends[category - 1] };
            let mut rows: Vec<u32> = (start as u32..outcomes.category_ends[category] as u32).collect();
            // Equal scores keep the order of image and rank.
            rows.sort_by_cached_key(|&row| Reverse(Ordered::new(outcomes.score[row as usize])));
            for range in 0..outcomes.ranges {
                let count = outcomes.ground_truth_count[category * outcomes.ranges + range];
                if count == 0 {
                    continue;
                }
                for (index, &cap) in caps.iter().enumerate() {
                    let curve = (range * caps.len() + index) * outcomes.thresholds;
                    let point = curve * recall_thresholds.len();
                    let size = outcomes.thresholds * recall_thresholds.len();
                    let reached = Reached::find(outcomes, &rows, range, cap);
                    for (threshold, found) in reached.found.iter().enumerate() {
                        recall[curve + threshold] = found.len() as f64 / count as f64;
                    }
                    reached.sample(
                        recall_thresholds,
                        count as f64,
                        &mut precision[point..point + size],
                        &mut scores[point..point + size],
                    );
                }
            }
        },
    );
    all
}

/// A score that sorts as numbers do, both zeros alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ordered(u64);

impl Ordered {
    fn new(score: f64) -> Self {
        let bits = (score + 0.0).to_bits();
        Self(if bits >> 63 == 0 { bits | 1 << 63 } else { !bits })
    }
}

/// The true positives at each threshold: precision with each of them, and its score.
struct Reached {
    found: Vec<Vec<(f64, f64)>>,
    /// Score of the best detection of all, which stands for a recall of 0.
    first_score: Option<f64>,
}

impl Reached {
    fn find(outcomes: Outcomes<'_>, rows: &[u32], range: usize, cap: u32) -> Self {
        let bytes = outcomes.thresholds.div_ceil(8);
        let mut found = vec![Vec::new(); outcomes.thresholds];
        let mut ignored = vec![0u32; outcomes.thresholds];
        let (mut seen, mut first_score) = (0u32, None);
        for &row in rows {
            let row = row as usize;
            if outcomes.rank[row] >= cap {
                continue;
            }
            first_score = first_score.or(Some(outcomes.score[row]));
            seen += 1;
            let sets = (row * outcomes.ranges + range) * bytes;
            for byte in 0..bytes {
                let void = outcomes.ignored[sets + byte];
                for bit in Bits(void) {
                    ignored[byte * 8 + bit] += 1;
                }
                for bit in Bits(outcomes.matched[sets + byte] & !void) {
                    let threshold = byte * 8 + bit;
                    let found = &mut found[threshold];
                    let true_positives = (found.len() + 1) as f64;
                    let false_positives = f64::from(seen - ignored[threshold]) - true_positives;
                    // The order of the sum matters to the last bit (cocoeval 384).
                    let precision = true_positives / (false_positives + true_positives + f64::EPSILON);
                    found.push((precision, outcomes.score[row]));
                }
            }
        }
        Self { found, first_score }
    }

    /// Fills in the points of the curve of each threshold.
    ///
    /// Recall rises, and precision does not fall, only at true positives: they are all that has to be looked at.
    fn sample(mut self, recall_thresholds: &[f64], count: f64, precision: &mut [f64], scores: &mut [f64]) {
        precision.fill(0.0);
        scores.fill(0.0);
        let Some(first_score) = self.first_score else { return };
        let size = recall_thresholds.len().max(1);
        for (found, (precision, scores)) in
            self.found.iter_mut().zip(precision.chunks_mut(size).zip(scores.chunks_mut(size)))
        {
            for index in (1..found.len()).rev() {
                found[index - 1].0 = found[index - 1].0.max(found[index].0);
            }
            let mut index = 0;
            for (point, &recall) in recall_thresholds.iter().enumerate() {
                if recall <= 0.0 {
                    precision[point] = found.first().map_or(0.0, |found| found.0);
                    scores[point] = first_score;
                    continue;
                }
                while index < found.len() && ((index + 1) as f64 / count) < recall {
                    index += 1;
                }
                let Some(&(best, score)) = found.get(index) else { break };
                precision[point] = best;
                scores[point] = score;
            }
        }
    }
}

/// The positions of the bits that are set.
struct Bits(u8);

impl Iterator for Bits {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0.wrapping_sub(1);
        (bit < 8).then_some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_scores_as_numbers() {
        let scores = [f64::MIN, -1.0, -f64::MIN_POSITIVE, 0.0, f64::MIN_POSITIVE, 0.5, 1.0, f64::MAX];
        assert!(scores.map(Ordered::new).is_sorted());
        assert!(Ordered::new(-0.0) == Ordered::new(0.0));
    }

    #[test]
    fn lists_the_bits_that_are_set() {
        assert_eq!(Bits(0b1010_0001).collect::<Vec<_>>(), [0, 5, 7]);
        assert_eq!(Bits(0).count(), 0);
        assert_eq!(Bits(255).count(), 8);
    }

    #[test]
    fn draws_the_curve_of_three_detections() {
        // A hit, a miss and a hit of two annotations; the last row is beyond the first cap.
        let outcomes = Outcomes {
            category_ends: &[3],
            rank: &[0, 0, 1],
            score: &[0.9, 0.8, 0.7],
            matched: &[1, 0, 1],
            ignored: &[0, 0, 0],
            ground_truth_count: &[2],
            ranges: 1,
            thresholds: 1,
        };
        let curves = accumulate(outcomes, &[0.0, 0.5, 0.75, 1.0], &[1, 2]);
        assert_eq!(curves.recall, [0.5, 1.0]);
        let (first, last) = (1.0 / (1.0 + f64::EPSILON), 2.0 / 3.0);
        assert_eq!(curves.precision, [first, first, 0.0, 0.0, first, first, last, last]);
        assert_eq!(curves.scores, [0.9, 0.9, 0.0, 0.0, 0.9, 0.9, 0.7, 0.7]);
    }
}
