//! Which boxes overlap, and by how much: the pairs that a threshold leaves of a dense table, without the table.
//!
//! [`bound`] says what the threshold means for place and size, [`index`] keeps boxes so that the few which agree are
//! together, [`search`] compares, [`pairs`] puts what was found in order. The values are those of
//! [`crate::overlap::pairwise`], to the last bit, and the pairs exactly those whose value reaches the threshold.
//!
//! Owns: the bound, the index, the search and the order of the pairs. Does not own the formulas (`overlap`), and does not
//! decide what is suppressed (`nms`, which uses the same index).
//!
//! A threshold on a ratio of areas bounds the same ratio along either axis: IoU >= t needs an overlap of at least t times
//! the larger side in x and in y. So sides differ at most by the factor 1 / t, and the low corner of a partner lies in a
//! known window. GIoU, DIoU and CIoU are IoU minus a penalty that is never negative, also as computed: their pairs are
//! among those of IoU. The area of the intersection has no such bound, so a join takes no threshold for it.
//!
//! Where all boxes lie in one place, the runs of the index are as long as the set. The join is then a dense table that
//! keeps only what reaches the threshold.

pub(crate) mod bound;
pub(crate) mod index;
mod pairs;
mod search;

use crate::memory::vec;
use crate::number::Float;
use crate::overlap::{Run, Variant, pairwise};
use crate::simd::Level;
use crate::threads::{join as both, map};
use bound::Reference;
use pairs::Buckets;
use search::Search;

pub use index::Index;
pub use pairs::Pairs;

/// What makes two boxes a pair: a value of at least `min`, and an intersection.
#[derive(Clone, Copy, Debug)]
pub struct Threshold<F> {
    variant: Variant,
    min: F,
    reference: Reference,
}

impl<F: Float> Threshold<F> {
    /// `None` unless `min` is above 0 and the variant is a ratio: no other threshold says how near two boxes must be.
    pub fn new(variant: Variant, min: F) -> Option<Self> {
        let reference = Reference::of(variant)?;
        (min > F::ZERO).then_some(Self { variant, min, reference })
    }
}

/// A set of boxes with a label each, or without labels.
#[derive(Clone, Copy)]
pub struct Set<'a, F> {
    /// `[x1, y1, x2, y2]`.
    pub boxes: &'a [[F; 4]],
    /// As many, or none.
    pub labels: Option<&'a [i64]>,
}

impl<F: Float> Set<'_, F> {
    fn index(self) -> Index<F> {
        Index::build(self.boxes, self.labels)
    }
}

/// Fewer pairs are all compared: that is quicker than two indexes (`benchmarks/bench_one_to_one.py`; tests and fuzzers
/// want both ways with few boxes).
const WORTH_INDEX: usize = if cfg!(any(test, fuzzing)) { 1 << 8 } else { 1 << 13 };

/// Fewer boxes than these are not worth a second thread.
const WORTH_THREADS: usize = 1 << 13;

/// The pairs of two sets, on `threads` threads (0: all cores), which change no bit of the result.
///
/// # Panics
///
/// If one set has labels and the other has none, and as [`Index::build`].
pub fn join<F: Float>(first: Set<'_, F>, second: Set<'_, F>, threshold: Threshold<F>, threads: usize) -> Pairs<F> {
    if first.boxes.len() * second.boxes.len() < WORTH_INDEX {
        return of_table(first, second, threshold, false);
    }
    if threads == 1 || first.boxes.len() + second.boxes.len() < WORTH_THREADS {
        return second.index().join(&first.index(), threshold, 1);
    }
    let (first, second) = both(|| first.index(), || second.index());
    second.join(&first, threshold, threads)
}

/// The pairs of a set with itself: each once, the first box of a pair being the one that comes first in the set.
///
/// # Panics
///
/// As [`Index::build`].
pub fn self_join<F: Float>(set: Set<'_, F>, threshold: Threshold<F>, threads: usize) -> Pairs<F> {
    if set.boxes.len() * set.boxes.len() < WORTH_INDEX {
        return of_table(set, set, threshold, true);
    }
    set.index().self_join(threshold, if set.boxes.len() < WORTH_THREADS { 1 } else { threads })
}

/// The pairs by the table of all; if `ascending`, those whose row is smaller than their column.
fn of_table<F: Float>(first: Set<'_, F>, second: Set<'_, F>, threshold: Threshold<F>, ascending: bool) -> Pairs<F> {
    let width = second.boxes.len();
    let mut values = vec![F::ZERO; first.boxes.len() * width];
    assert!(first.labels.is_some() == second.labels.is_some() || values.is_empty(), "labels of one set");
    let run = Run { threads: 1, level: Level::best(), reused: false };
    pairwise(threshold.variant, first.boxes, second.boxes, 1, &mut values, run);
    let mut pairs = Pairs::with_room(values.iter().filter(|&&value| value >= threshold.min).count());
    for (row, of_row) in values.chunks_exact(width.max(1)).enumerate() {
        for (column, &value) in of_row.iter().enumerate().filter(|&(_, &value)| value >= threshold.min) {
            let alike = first.labels.zip(second.labels).is_none_or(|(a, b)| a[row] == b[column]);
            if alike && !(ascending && column <= row) {
                pairs.rows.push(row as i64);
                pairs.columns.push(column as i64);
                pairs.values.push(value);
            }
        }
    }
    pairs
}

impl<F: Float> Index<F> {
    /// The pairs of `queries` (the rows) with the boxes of this index (the columns).
    ///
    /// # Panics
    ///
    /// If one of the two was built with labels and the other without.
    pub fn join(&self, queries: &Self, threshold: Threshold<F>, threads: usize) -> Pairs<F> {
        assert!(
            self.is_labelled() == queries.is_labelled() || self.is_empty() || queries.is_empty(),
            "labels of one set"
        );
        self.pairs(&Search { index: self, queries, threshold, ascending: false }, threads)
    }

    /// The pairs within this index, each once and with the smaller number first.
    pub fn self_join(&self, threshold: Threshold<F>, threads: usize) -> Pairs<F> {
        self.pairs(&Search { index: self, queries: self, threshold, ascending: true }, threads)
    }

    fn pairs(&self, search: &Search<'_, F>, threads: usize) -> Pairs<F> {
        let (count, level) = (search.queries.numbers.len(), Level::best());
        // Many small parts, since some take longer; not so many that their buckets outweigh the pairs.
        let size = (count / 64).max(1 << 10);
        let part = |number: usize| {
            let mut buckets = Buckets::new(search.queries.len());
            search.run(level, number * size..count.min((number + 1) * size), &mut buckets);
            buckets
        };
        Pairs::in_order(map(0..count.div_ceil(size), threads, part), threads)
    }
}

#[cfg(test)]
mod tests;
