//! The order of scores: falling, and of equal ones the lower number first.

use crate::ending::ask;
use crate::memory::{Vec, vec};
use crate::number::Float;

/// A number to sort by.
pub(crate) trait Score: Float {
    /// All bits of [`Self::key`] are in its upper half.
    const SHORT: bool;
    /// Smaller for a larger score, equal for equal ones.
    fn key(self) -> u64;
    /// Whether it is neither NaN nor infinite.
    fn is_a_number(self) -> bool;
}

impl Score for f32 {
    const SHORT: bool = true;
    #[inline(always)]
    fn key(self) -> u64 {
        // Adding 0 makes a 0 of -0.
        let bits = (self + 0.0).to_bits();
        let rising = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
        u64::from(!rising) << 32
    }
    #[inline(always)]
    fn is_a_number(self) -> bool {
        self.is_finite()
    }
}

impl Score for f64 {
    const SHORT: bool = false;
    #[inline(always)]
    fn key(self) -> u64 {
        let bits = (self + 0.0).to_bits();
        !if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
    }
    #[inline(always)]
    fn is_a_number(self) -> bool {
        self.is_finite()
    }
}

/// Scores of either type.
#[derive(Clone, Copy, Debug)]
pub enum Scores<'a> {
    /// Of single precision.
    Single(&'a [f32]),
    /// Of double precision.
    Double(&'a [f64]),
}

impl Scores<'_> {
    /// How many there are.
    pub fn count(self) -> usize {
        match self {
            Self::Single(scores) => scores.len(),
            Self::Double(scores) => scores.len(),
        }
    }

    /// See [`by_score`].
    pub(super) fn order(self, least: Option<f64>) -> Result<Vec<u32>, usize> {
        match self {
            Self::Single(scores) => by_score(scores, least.map(f32::from_f64)),
            Self::Double(scores) => by_score(scores, least),
        }
    }
}

/// The numbers of the scores that are at least `least` in their order, or the number of one that is NaN.
///
/// # Panics
///
/// If there are 2^31 scores or more.
pub(super) fn by_score<S: Score>(scores: &[S], least: Option<S>) -> Result<Vec<u32>, usize> {
    assert!(scores.len() < 1 << 31, "fewer than 2^31 boxes");
    if let Some(nan) = scores.iter().position(|score| score.partial_cmp(score).is_none()) {
        return Err(nan);
    }
    // The upper half of the key, and the number.
    let mut items: Vec<u64> = Vec::with_capacity(if least.is_none() { scores.len() } else { 0 });
    for (number, &score) in scores.iter().enumerate() {
        if least.is_none_or(|least| score >= least) {
            items.push((score.key() & UPPER) | number as u64);
        }
    }
    if items.len() < WORTH_RADIX {
        items.sort_unstable();
    } else {
        radix_sort(&mut items);
    }
    let mut order: Vec<u32> = items.iter().map(|&item| (item & !UPPER) as u32).collect();
    if !S::SHORT {
        // Scores whose upper halves are equal.
        let mut ties: Vec<u128> = Vec::new();
        let mut start = 0;
        for run in items.chunk_by(|one, next| one & UPPER == next & UPPER) {
            let end = start + run.len();
            if run.len() > 1 {
                let key = |number: u32| u128::from(scores[number as usize].key()) << 32 | u128::from(number);
                ties.clear();
                ties.extend(order[start..end].iter().map(|&number| key(number)));
                ties.sort_unstable();
                order[start..end].iter_mut().zip(&ties).for_each(|(number, &key)| *number = key as u32);
            }
            start = end;
        }
    }
    Ok(order)
}

const UPPER: u64 = !0 << 32;

/// Fewer are sorted faster by comparison.
const WORTH_RADIX: usize = 1 << 9;

/// Sorts by the upper half, and keeps the order of equal ones.
fn radix_sort(items: &mut Vec<u64>) {
    const BITS: usize = 11;
    const MASK: usize = (1 << BITS) - 1;
    let digit = |item: u64, pass: usize| (item >> (32 + pass * BITS)) as usize & MASK;
    let mut counts = [[0_u32; 1 << BITS]; 3];
    for &item in &*items {
        for (pass, counts) in counts.iter_mut().enumerate() {
            counts[digit(item, pass)] += 1;
        }
    }
    let mut other = vec![0; items.len()];
    for (pass, counts) in counts.iter_mut().enumerate() {
        if counts[digit(items[0], pass)] as usize == items.len() {
            continue;
        }
        ask();
        let mut start = 0;
        for count in counts.iter_mut() {
            start += std::mem::replace(count, start);
        }
        for &item in &*items {
            let place = &mut counts[digit(item, pass)];
            other[*place as usize] = item;
            *place += 1;
        }
        std::mem::swap(items, &mut other);
    }
}
