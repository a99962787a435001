//! The union or the intersection of masks of one size.

use super::writer::RunWriter;
use super::{Mask, Size};
use crate::memory::{Vec, copied, zeros};

/// Appends the runs of the pixels that any of the masks has, or that all have; `masks` are of this size and not none.
pub fn merge(masks: &[Mask<'_>], size: Size, intersect: bool, out: &mut Vec<u32>) {
    let Some((first, rest)) = masks.split_first() else {
        return;
    };
    let total: usize = masks.iter().map(|mask| mask.runs.len()).sum();
    // A bit a pixel costs its share of the image once; runs in turn, what came before once more for each mask. An
    // intersection does not grow on the way.
    if !intersect && rest.len() > 1 && 8 * total as u64 > u64::from(size.pixels()) / 64 {
        return union_in_bits(masks, size, out);
    }
    let mut merged = copied(first.runs);
    let mut next = Vec::new();
    for mask in rest {
        if intersect && merged.len() == 1 {
            break;
        }
        next.clear();
        two(&merged, mask.runs, intersect, &mut next);
        std::mem::swap(&mut merged, &mut next);
    }
    out.extend_from_slice(&merged);
}

/// Both sets of runs in turn: the end of the nearer run is where the next decision falls.
fn two(first: &[u32], second: &[u32], intersect: bool, out: &mut Vec<u32>) {
    out.reserve(first.len() + second.len());
    let (mut a, mut b) = (0, 0);
    let (mut left_a, mut left_b) = (first[0], second[0]);
    let (mut length, mut value) = (0, false);
    loop {
        let step = left_a.min(left_b);
        length += step;
        left_a -= step;
        left_b -= step;
        if left_a == 0 && a + 1 < first.len() {
            a += 1;
            left_a = first[a];
        }
        if left_b == 0 && b + 1 < second.len() {
            b += 1;
            left_b = second[b];
        }
        if left_a == 0 && left_b == 0 {
            return out.push(length);
        }
        let ones = if intersect { a & b & 1 == 1 } else { (a | b) & 1 == 1 };
        if ones != value {
            out.push(length);
            (length, value) = (0, ones);
        }
    }
}

/// All masks in one bit a pixel.
fn union_in_bits(masks: &[Mask<'_>], size: Size, out: &mut Vec<u32>) {
    let pixels = size.pixels();
    let mut words = zeros::<u64>(pixels.div_ceil(64) as usize);
    for mask in masks {
        let mut at = 0;
        for pair in mask.runs.chunks_exact(2) {
            let start = at + pair[0];
            at = start + pair[1];
            let (first, last) = ((start / 64) as usize, ((at - 1) / 64) as usize);
            let (from, until) = (u64::MAX << (start % 64), u64::MAX >> (63 - (at - 1) % 64));
            if first == last {
                words[first] |= from & until;
            } else {
                words[first] |= from;
                words[first + 1..last].fill(u64::MAX);
                words[last] |= until;
            }
        }
    }
    let mut writer = RunWriter::new(out);
    for (word, first) in words.iter().zip((0..pixels).step_by(64)) {
        writer.bits(*word, (pixels - first).min(64));
    }
    writer.end();
}
