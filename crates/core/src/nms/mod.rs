//! Which boxes survive greedy non-maximum suppression: the best box is kept, all that overlap it are removed, and so on.
//!
//! [`order`] says which box is better, [`nearby`] finds those that overlap a box, [`memo`] asks them in the order of
//! space, [`forward`] goes through few boxes, or boxes without a bound, in the order of their scores. [`explain`] names
//! the box that removed another, and [`pairs`] does the same for regions whose overlaps are known already.
//!
//! The values are those of [`crate::overlap::pairwise`], to the last bit.

mod explain;
mod forward;
mod memo;
mod nearby;
mod order;
mod pairs;
pub mod settled;
pub mod soft;

use crate::join::bound::Reference;
use crate::memory::Vec;
use crate::number::Float;
use crate::overlap::{Variant, is_huge};
use crate::simd::Level;

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
    let kept = match rule.exchanged {
        Some((variant, reference)) if sorted.len() >= WORTH_INDEX || sorted.iter().any(is_huge) => {
            let query = nearby::Query { variant, reference, min: rule.min };
            let threads = if sorted.len() < WORTH_THREADS { 1 } else { threads };
            memo::survivors(sorted, labels, query, Level::best(), threads)
        }
        Some(_) => forward::near(&sorted, labels, rule, Level::best()),
        None => forward::far(&sorted, labels, rule),
    };
    let kept = kept.into_iter().zip(&order).filter(|&(kept, _)| kept);
    Ok(kept.map(|(_, &number)| i64::from(number)).collect())
}

#[cfg(test)]
mod tests;
