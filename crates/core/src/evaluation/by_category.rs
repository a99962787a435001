//! The detections of each category, best first.

use super::score::falling;
use crate::memory::{Vec, vec};
use crate::threads::each;

/// Detections as numbers that sort by falling score, one category after another.
pub(super) struct Keys {
    keys: Vec<u128>,
    /// Where each category ends.
    ends: Vec<usize>,
}

impl Keys {
    /// The keys of detections, each given by its category, its score and what tells equal scores apart. The keys of each
    /// category are in the given order.
    fn new(categories: usize, category: &[u32], key: impl Fn(usize) -> u128) -> Self {
        let mut ends = vec![0; categories];
        category.iter().for_each(|&category| ends[category as usize] += 1);
        let mut next = 0;
        for end in &mut ends {
            (*end, next) = (next, next + *end);
        }
        // Each is where its category starts, and moves to its end.
        let mut keys = vec![0; category.len()];
        for (row, &category) in category.iter().enumerate() {
            let place = &mut ends[category as usize];
            keys[*place] = key(row);
            *place += 1;
        }
        Self { keys, ends }
    }

    /// The keys of each category.
    pub(super) fn of_categories(&mut self) -> Vec<&mut [u128]> {
        let (mut rest, mut start) = (&mut self.keys[..], 0);
        let part = |&end: &usize| {
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(end - start);
            (rest, start) = (behind, end);
            part
        };
        self.ends.iter().map(part).collect()
    }
}

/// A detection as a number that sorts by falling score, then by row: score, row and rank, from the highest bits down.
pub(super) fn key(row: u32, score: f64, rank: u32) -> u128 {
    u128::from(falling(score)) << 64 | u128::from(row) << 32 | u128::from(rank)
}

pub(super) fn row_of(key: u128) -> usize {
    (key >> 32) as u32 as usize
}

pub(super) fn rank_of(key: u128) -> u32 {
    key as u32
}

/// The key of each row of each category, in the given order.
pub(super) fn rows_by_category(category: &[u32], score: &[f64], rank: &[u32], categories: usize) -> Keys {
    Keys::new(categories, category, |row| key(row as u32, score[row], rank[row]))
}

/// The rows by category, then falling score, and where each category ends. Equal scores keep the given order.
pub fn order_by_category(category: &[u32], score: &[f64], categories: usize) -> (Vec<i64>, Vec<i64>) {
    let mut rows = Keys::new(categories, category, |row| u128::from(falling(score[row])) << 64 | row as u128);
    each(rows.of_categories().into_iter(), 0, <[u128]>::sort_unstable);
    (rows.keys.iter().map(|&key| key as i64).collect(), rows.ends.iter().map(|&end| end as i64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::vec;

    #[test]
    fn sorts_rows_by_category_and_falling_score() {
        let score = [0.5, -0.0, 0.9, 0.0, 0.5, 2.0, -1.0];
        let (order, ends) = order_by_category(&[3, 1, 3, 1, 3, 0, 1], &score, 5);
        assert_eq!(order, [5, 1, 3, 6, 2, 0, 4]);
        assert_eq!(ends, [1, 4, 4, 7, 7]);
        assert_eq!(order_by_category(&[], &[], 2), (vec![], vec![0, 0]));
        assert_eq!(order_by_category(&[], &[], 0), (vec![], vec![]));
    }

    #[test]
    fn keeps_row_and_rank_in_a_key() {
        let detection = key(u32::MAX - 1, 0.25, 7);
        assert_eq!((row_of(detection), rank_of(detection)), (u32::MAX as usize - 1, 7));
        assert!(key(9, 0.5, 0) < key(0, 0.25, 0) && key(0, 0.0, 9) < key(1, -0.0, 0));
    }
}
