//! A mask as spans: the first span of rows of every column, the second of those that have one, and so on.
//!
//! Most objects have one or two spans in a column, so two masks meet in a few short vectors, whatever their height.

use super::Mask;
use crate::memory::Vec;

/// With more spans in a column, the pairs of spans would be too many.
const MAX_LAYERS: usize = 6;

/// The spans of one number in their columns.
#[derive(Default)]
pub(super) struct Layer {
    /// The column of the first.
    from: usize,
    /// First row of each, and the row behind the last: both 0 in a column without this span.
    starts: Vec<i32>,
    ends: Vec<i32>,
}

/// The spans of a mask, or nothing if a column has too many.
pub(super) fn layers(mask: Mask<'_>) -> Option<Vec<Layer>> {
    let mut layers: Vec<Layer> = Vec::new();
    let (mut column, mut number, mut many) = (u32::MAX, 0, false);
    mask.segments(|x, rows| {
        number = if x == column { number + 1 } else { 0 };
        column = x;
        many |= number >= MAX_LAYERS;
        if many {
            return;
        }
        if number == layers.len() {
            layers.push(Layer { from: x as usize, ..Layer::default() });
        }
        let layer = &mut layers[number];
        layer.starts.resize(x as usize - layer.from, 0);
        layer.ends.resize(x as usize - layer.from, 0);
        layer.starts.push(rows.start as i32);
        layer.ends.push(rows.end as i32);
    });
    (!many).then_some(layers)
}

/// How many pixels both have.
#[inline(always)]
pub(super) fn common(first: &[Layer], second: &[Layer]) -> u32 {
    let mut count = 0;
    for a in first {
        for b in second {
            let left = a.from.max(b.from);
            let right = (a.from + a.ends.len()).min(b.from + b.ends.len());
            if left < right {
                let (in_a, in_b) = (left - a.from..right - a.from, left - b.from..right - b.from);
                let rows = (&a.starts[in_a.clone()], &a.ends[in_a], &b.starts[in_b.clone()], &b.ends[in_b]);
                count += overlap(rows.0, rows.1, rows.2, rows.3);
            }
        }
    }
    count as u32
}

/// The sum of the overlaps of spans.
#[inline(always)]
fn overlap(starts1: &[i32], ends1: &[i32], starts2: &[i32], ends2: &[i32]) -> i32 {
    let mut count = 0;
    for (((&start1, &end1), &start2), &end2) in starts1.iter().zip(ends1).zip(starts2).zip(ends2) {
        count += (end1.min(end2) - start1.max(start2)).max(0);
    }
    count
}
