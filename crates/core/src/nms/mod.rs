//! Which boxes survive greedy non-maximum suppression: the best box is kept, all that overlap it are removed, and so on.
//!
//! [`candidates`] chooses what takes part, [`order`] says which box is better, [`nearby`] finds those that overlap a
//! box, [`memo`] asks them in the order of space, [`forward`] goes through few boxes, or boxes without a bound, in the
//! order of their scores. [`explain`] names the box that removed another, and [`pairs`] does the same for regions whose
//! overlaps are known already.
//!
//! The values are those of [`crate::overlap::pairwise`], to the last bit.

mod candidates;
mod explain;
mod forward;
mod memo;
mod nearby;
mod order;
mod pairs;
pub mod settled;
pub mod soft;

use crate::join::bound::Reference;
use crate::memory::{Vec, vec};
use crate::number::Float;
use crate::overlap::{Variant, is_huge};
use crate::simd::Level;
use crate::threads::map;

pub(crate) use candidates::best_candidates;
pub use explain::first_suppressors;
pub use order::Scores;
pub use pairs::of_pairs;

/// When a box that is kept removes another: if the value of both, the kept one first, is at least `min`.
#[derive(Clone, Copy, Debug)]
pub struct Rule<F> {
    variant: Variant,
    min: F,
    /// The variant with its arguments exchanged, and its bound: none where `min` does not say how near two boxes are.
    exchanged: Option<(Variant, Reference)>,
}

impl<F: Float> Rule<F> {
    /// Any variant and number will do; those without a bound take time for every box with every box that is kept.
    pub fn new(variant: Variant, min: F) -> Self {
        let exchanged = match variant {
            Variant::IoaFirst => Variant::IoaSecond,
            Variant::IoaSecond => Variant::IoaFirst,
            symmetric => symmetric,
        };
        let bounded = Reference::of(exchanged).filter(|_| min > F::ZERO);
        Self { variant, min, exchanged: bounded.map(|reference| (exchanged, reference)) }
    }
}

/// Fewer boxes are compared without an index (`benchmarks/bench_nms.py`; tests and fuzzers want both ways with few boxes).
const WORTH_INDEX: usize = match () {
    () if cfg!(test) => 64,
    () if cfg!(fuzzing) => 16,
    () => 1 << 11,
};

/// Fewer boxes are not worth a second thread.
const WORTH_THREADS: usize = 1 << 13;

/// The numbers of the boxes that survive, by falling score, and of equal scores the lower number first.
///
/// A box removes those with its label only. Boxes whose score is below `least` do not take part. `Err` is the number
/// of a score that is NaN.
///
/// # Panics
///
/// If there are not as many scores and labels as boxes, or 2^31 boxes or more.
pub fn survivors<F: Float>(
    boxes: &[[F; 4]],
    scores: Scores<'_>,
    labels: Option<&[i64]>,
    rule: Rule<F>,
    least: Option<f64>,
    threads: usize,
) -> Result<Vec<i64>, usize> {
    assert!(boxes.len() == scores.count() && labels.is_none_or(|labels| labels.len() == boxes.len()), "one of each");
    let order = scores.order(least)?;
    let sorted: Vec<_> = order.iter().map(|&number| boxes[number as usize]).collect();
    let labels: Option<Vec<_>> = labels.map(|labels| order.iter().map(|&number| labels[number as usize]).collect());
    let labels = labels.as_deref();
    let kept = match labels.filter(|_| sorted.len() >= WORTH_INDEX).and_then(separate) {
        Some(groups) => of_groups(&sorted, &groups, rule, threads),
        None => of_one(sorted, labels, rule, threads),
    };
    let kept = kept.into_iter().zip(&order).filter(|&(kept, _)| kept);
    Ok(kept.map(|(_, &number)| i64::from(number)).collect())
}

/// Which of these boxes, the best first, survive.
fn of_one<F: Float>(sorted: Vec<[F; 4]>, labels: Option<&[i64]>, rule: Rule<F>, threads: usize) -> Vec<bool> {
    match rule.exchanged {
        Some((variant, reference)) if sorted.len() >= WORTH_INDEX || sorted.iter().any(is_huge) => {
            let query = nearby::Query { variant, reference, min: rule.min };
            let threads = if sorted.len() < WORTH_THREADS { 1 } else { threads };
            memo::survivors(sorted, labels, query, Level::best(), threads)
        }
        Some(_) => forward::near(&sorted, labels, rule, Level::best()),
        None => forward::far(&sorted, labels, rule),
    }
}

/// The numbers of the boxes of each label, in their order; none if one label has more than half of the boxes, whose
/// threads then work within it.
///
/// Images lie on one another: an index of all their boxes would find the neighbours of every other image, too.
fn separate(labels: &[i64]) -> Option<Vec<Vec<u32>>> {
    let (low, high) = (*labels.iter().min()?, *labels.iter().max()?);
    let span = high.wrapping_sub(low) as u64;
    let groups: Vec<Vec<u32>> = if span < 2 * labels.len() as u64 {
        let mut groups = vec![Vec::new(); span as usize + 1];
        for (&label, number) in labels.iter().zip(0..) {
            groups[(label - low) as usize].push(number);
        }
        groups.retain(|group| !group.is_empty());
        groups
    } else {
        let mut pairs: Vec<(i64, u32)> = labels.iter().copied().zip(0..).collect();
        pairs.sort_unstable();
        let groups = pairs.chunk_by(|one, next| one.0 == next.0);
        groups.map(|group| group.iter().map(|&(_, number)| number).collect()).collect()
    };
    groups.iter().all(|group| group.len() <= labels.len() / 2).then_some(groups)
}

/// Which of these boxes, the best first, survive, where those of different groups do not meet.
fn of_groups<F: Float>(sorted: &[[F; 4]], groups: &[Vec<u32>], rule: Rule<F>, threads: usize) -> Vec<bool> {
    let threads = if sorted.len() < WORTH_THREADS { 1 } else { threads };
    // A thread takes several, because most groups are small.
    let parts = map(groups.chunks(GROUPS), threads, |groups| -> Vec<Vec<bool>> {
        let boxes = |group: &Vec<u32>| group.iter().map(|&number| sorted[number as usize]).collect();
        groups.iter().map(|group| of_one(boxes(group), None, rule, 1)).collect()
    });
    let mut kept = vec![false; sorted.len()];
    for (group, survive) in groups.iter().zip(parts.iter().flat_map(|part| part.iter())) {
        for (&number, &survives) in group.iter().zip(survive) {
            kept[number as usize] = survives;
        }
    }
    kept
}

/// So many groups a thread takes at a time.
const GROUPS: usize = 4;

#[cfg(test)]
mod tests;
