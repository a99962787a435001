//! Soft-NMS: a box that is picked lowers the scores of the boxes it overlaps, instead of removing them.
//!
//! The pairs are those of [`crate::join::self_join`]: each pair once, the smaller number first, sorted by it.
//! A heap keeps each box by a score that may be out of date and is never too low. So the top is the best as soon as it is
//! up to date, and a pick touches its neighbours alone.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::ending::ask_after;
use crate::join::Pairs;
use crate::memory::{Vec, copied, vec, zeros};
use crate::number::{Float, Number};

/// The factor that lowers a score, as a function of the overlap `u` with the box that was picked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decay {
    /// `1 - u`.
    Linear,
    /// `exp(-u^2 / sigma)`.
    Gaussian {
        /// Above 0.
        sigma: f64,
    },
}

impl Decay {
    #[inline]
    fn factor(self, overlap: f64) -> f64 {
        match self {
            Self::Linear => 1.0 - overlap,
            Self::Gaussian { sigma } => (overlap * overlap / sigma).decay(),
        }
    }
}

/// A box and its score when it was put on the heap. The current score is not larger.
struct Candidate {
    score: f64,
    number: u32,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap returns the largest item: the highest score, and the first box among equal scores.
        self.score.total_cmp(&other.score).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// Picks the best box, lowers the scores of its neighbours, and repeats. Returns the picked boxes, in the order in which
/// they are picked, and their scores at that moment.
///
/// Scores are not negative, and a zero is positive. A box with a score below `min_score` is never picked. At most
/// `max_keep` boxes are picked. Among equal scores the first box is picked.
///
/// A pick touches only its neighbours. A score on the heap may be out of date, but it is never too low. So the top is
/// the best box as soon as its score is up to date.
pub fn soft_nms<F: Float>(
    scores: &[f64],
    pairs: &Pairs<F>,
    decay: Decay,
    min_score: f64,
    max_keep: usize,
) -> (Vec<i64>, Vec<f64>) {
    let neighbours = Neighbours::of(scores.len(), pairs);
    let mut current = copied(scores);
    let mut waiting = vec![true; scores.len()];
    let candidates = scores.iter().enumerate().filter(|&(_, &score)| score >= min_score);
    let candidates: Vec<_> = candidates.map(|(number, &score)| Candidate { score, number: number as u32 }).collect();
    let mut heap = BinaryHeap::from(candidates.into_std()); // it never grows
    let (mut keep, mut kept_scores) = (Vec::new(), Vec::new());
    while keep.len() < max_keep
        && let Some(top) = heap.pop()
    {
        ask_after(1);
        let number = top.number as usize;
        let score = current[number];
        if score < top.score {
            if score >= min_score {
                heap.push(Candidate { score, ..top });
            }
            continue;
        }
        waiting[number] = false;
        keep.push(number as i64);
        kept_scores.push(score);
        for &(other, overlap) in neighbours.of_box(number) {
            if waiting[other as usize] {
                current[other as usize] *= decay.factor(overlap.to_f64());
            }
        }
    }
    (keep, kept_scores)
}

/// For each box, the boxes it overlaps and by how much.
struct Neighbours<F> {
    starts: Vec<usize>,
    others: Vec<(u32, F)>,
}

impl<F: Float> Neighbours<F> {
    fn of(count: usize, pairs: &Pairs<F>) -> Self {
        let mut starts = vec![0; count + 1];
        for &number in pairs.rows.iter().chain(&pairs.columns) {
            starts[number as usize] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut others = zeros(end);
        for ((&row, &column), &value) in pairs.rows.iter().zip(&pairs.columns).zip(&pairs.values) {
            for (one, other) in [(row, column), (column, row)] {
                starts[one as usize] -= 1;
                others[starts[one as usize]] = (other as u32, value);
            }
        }
        Self { starts, others }
    }

    fn of_box(&self, number: usize) -> &[(u32, F)] {
        &self.others[self.starts[number]..self.starts[number + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(of: &[(i64, i64, f64)]) -> Pairs<f64> {
        Pairs {
            rows: of.iter().map(|pair| pair.0).collect(),
            columns: of.iter().map(|pair| pair.1).collect(),
            values: of.iter().map(|pair| pair.2).collect(),
        }
    }

    #[test]
    fn the_best_is_picked_again_after_each_decay() {
        // 1 decays 0 and 2; then 0 is behind 3, and takes from 2 once more.
        let pairs = pairs(&[(0, 1, 0.5), (0, 2, 0.25), (1, 2, 0.5)]);
        let scores = [0.8, 1.0, 0.6, 0.5];
        let (keep, decayed) = soft_nms(&scores, &pairs, Decay::Linear, 0.0, usize::MAX);
        assert_eq!(keep, [1, 3, 0, 2]);
        assert_eq!(decayed, [1.0, 0.5, 0.4, 0.6 * 0.5 * 0.75]);
        assert_eq!(soft_nms(&scores, &pairs, Decay::Linear, 0.3, usize::MAX).0, [1, 3, 0]);
        assert_eq!(soft_nms(&scores, &pairs, Decay::Linear, 0.0, 2).0, [1, 3]);
    }

    #[test]
    fn equal_scores_are_picked_in_order() {
        let none = pairs(&[]);
        assert_eq!(soft_nms(&[0.5; 4], &none, Decay::Linear, 0.0, usize::MAX).0, [0, 1, 2, 3]);
        // Equal only after a decay.
        let one = pairs(&[(0, 2, 0.5)]);
        assert_eq!(soft_nms(&[0.5, 0.5, 1.0], &one, Decay::Linear, 0.0, usize::MAX).0, [2, 1, 0]);
        assert_eq!(soft_nms(&[1.0, 0.5, 1.0], &one, Decay::Linear, 0.0, usize::MAX).0, [0, 1, 2]);
    }
}
