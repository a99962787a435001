//! The boundary region of a mask: its pixels within some distance of its outside, as Boundary IoU takes it.
//!
//! Reference: Cheng et al., Boundary IoU: Improving Object-Centric Image Segmentation Evaluation, CVPR 2021,
//! arXiv:2103.16562.

use super::bits::Bits;
use super::{Mask, MaskList, Masks, Size};
use crate::memory::Vec;
use crate::threads::map;

/// The distance in pixels for an image of this size: a share of its diagonal, rounded to even at a half, at least 1.
pub fn distance(size: Size, ratio: f64) -> u32 {
    let (height, width) = (f64::from(size.height), f64::from(size.width));
    // A share beyond the diagonal reaches everywhere; the cast ends there.
    (ratio * (height * height + width * width).sqrt()).round_ties_even().max(1.0) as u32
}

/// The boundary of every mask, by the share of the diagonal of its own image.
pub fn boundaries(masks: Masks<'_>, ratio: f64, threads: usize) -> MaskList {
    let one = |index| {
        let mask = masks.get(index);
        let mut runs = Vec::with_capacity(2 * mask.runs.len());
        boundary(mask, distance(mask.size, ratio), &mut runs);
        (mask.size, runs)
    };
    let mut list = MaskList::default();
    let threads = if masks.runs.len() > 4096 { threads } else { 1 };
    list.extend(map(0..masks.len(), threads, one));
    list
}

/// Appends the runs of the pixels from which a square of `distance` to every side is not all foreground; outside of the
/// image there is none.
pub fn boundary(mask: Mask<'_>, distance: u32, runs: &mut Vec<u32>) {
    let bounds = mask.bounds();
    let side = 2 * u64::from(distance) + 1;
    // A square that does not fit erodes everything.
    if u64::from(bounds[2].min(bounds[3])) < side {
        return runs.extend_from_slice(mask.runs);
    }
    let mut rest = Bits::of(mask, bounds);
    // What is left of each column, then what is left of that along the rows.
    let mut eroded = Bits::zeros(bounds);
    mask.segments(|x, rows| {
        if rows.len() as u64 >= side {
            eroded.set(x, rows.start + distance..rows.end - distance);
        }
    });
    let width = rest.columns.len();
    for (rest, words) in rest.words.chunks_exact_mut(width).zip(eroded.words.chunks_exact_mut(width)) {
        let valid = and_of_windows(words, side as usize);
        for (rest, word) in rest[distance as usize..].iter_mut().zip(&words[..valid]) {
            *rest &= !word;
        }
    }
    rest.runs(mask.size, runs);
}

/// Makes of each word the conjunction of those of a window that begins with it; returns how many have a whole window.
///
/// Windows are put together from two of half the length.
fn and_of_windows(words: &mut [u64], window: usize) -> usize {
    let mut length = 1;
    while length < window {
        let step = length.min(window - length);
        let valid = words.len() - (length + step) + 1;
        for at in 0..valid {
            words[at] &= words[at + step];
        }
        length += step;
    }
    words.len() - window + 1
}
