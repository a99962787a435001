//! Suppression among regions whose overlaps are known: the pairs that overlap above the threshold.

use crate::memory::{Vec, vec};

/// Which of `count` regions, the best first, survive, and the first that removes each of the others.
///
/// The pairs are positions, the better region of a pair in `better`, which ascends.
///
/// # Panics
///
/// If the pairs are not as many, not in that order, or a position is not one of `count`.
pub fn of_pairs(count: usize, better: &[i64], worse: &[i64]) -> Vec<Option<u32>> {
    assert!(better.len() == worse.len() && better.is_sorted(), "pairs in the order of the better");
    let mut removed_by: Vec<Option<u32>> = vec![None; count];
    for (&better, &worse) in better.iter().zip(worse) {
        assert!(better < worse, "the better first");
        // All pairs that could remove the better one have been looked at: theirs come before.
        if removed_by[better as usize].is_none() {
            let first = &mut removed_by[worse as usize];
            *first = first.or(Some(better as u32));
        }
    }
    removed_by
}
