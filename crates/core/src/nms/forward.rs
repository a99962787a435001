//! Boxes in the order of their scores: each that is still there is kept and removes those behind it that it overlaps.

use super::Rule;
use super::nearby::{Divisor, safe_part, with_divisor};
use crate::float::Float;
use crate::join::bound::Reference;
use crate::overlap::formula::{Iou, Measured, intersection};
use crate::overlap::simd::{self, InstructionSet, Kernel, MAX_LANES};
use crate::overlap::{Level, single};

/// Which of a few boxes, the best first, survive, where only an intersection matters. None of them may be huge.
pub fn near<F: Float>(boxes: &[[F; 4]], labels: Option<&[i64]>, rule: Rule<F>, level: Level) -> Vec<bool> {
    let mut columns = [(); 4].map(|()| vec![F::ZERO; boxes.len() + MAX_LANES]);
    for (k, &corners) in boxes.iter().enumerate() {
        for (column, corner) in columns.iter_mut().zip(corners) {
            column[k] = corner;
        }
    }
    let mut survive = vec![true; boxes.len()];
    let reference = Reference::of(rule.variant).expect("a ratio");
    with_divisor!(reference, divisor => {
        simd::run(level, Forward { boxes, columns: &columns, labels, rule, survive: &mut survive, divisor });
    });
    survive
}

struct Forward<'a, D, F> {
    boxes: &'a [[F; 4]],
    columns: &'a [Vec<F>; 4],
    labels: Option<&'a [i64]>,
    rule: Rule<F>,
    survive: &'a mut [bool],
    divisor: D,
}

impl<D: Divisor, F: Float> Kernel for Forward<'_, D, F> {
    #[inline(always)]
    fn run<I: InstructionSet, const L: usize>(self) {
        let Self { boxes, columns, labels, rule, survive, divisor } = self;
        let [x1, y1, x2, y2] = columns.each_ref().map(Vec::as_slice);
        let part = safe_part(rule.min);
        for kept in 0..boxes.len() {
            if !survive[kept] {
                continue;
            }
            let a = Measured::new::<Iou>(boxes[kept]);
            let mut start = kept + 1;
            while start < boxes.len() {
                let x1: &[F; L] = x1[start..].first_chunk().expect("filled up");
                let y1: &[F; L] = y1[start..].first_chunk().expect("filled up");
                let x2: &[F; L] = x2[start..].first_chunk().expect("filled up");
                let y2: &[F; L] = y2[start..].first_chunk().expect("filled up");
                start += L;
                // Most blocks have no box that meets this one, which four comparisons tell.
                let mut meets = [0_u32; L];
                for k in 0..L {
                    let near = (x1[k] < a.x2) & (a.x1 < x2[k]) & (y1[k] < a.y2) & (a.y1 < y2[k]);
                    meets[k] = u32::from(near);
                }
                if meets.iter().fold(0, |all, bit| all | bit) == 0 {
                    continue;
                }
                let mut bits = [0_u32; L];
                for k in 0..L {
                    let b = Measured::new::<Iou>([x1[k], y1[k], x2[k], y2[k]]);
                    let inter = intersection(&a, &b);
                    let near = (inter > F::ZERO) & (inter >= part * divisor.of(&a, &b, inter));
                    bits[k] = if near { 1 << k } else { 0 };
                }
                // What was read behind the boxes is a point at the origin, which overlaps nothing.
                let mut lanes = bits.iter().fold(0, |all, bit| all | bit);
                while lanes != 0 {
                    let other = start - L + lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    if survive[other] && removes(boxes, labels, rule, kept, other) {
                        survive[other] = false;
                    }
                }
            }
        }
    }
}

/// The same for any rule: boxes far apart may remove each other. Every box that is kept meets all behind it.
pub fn far<F: Float>(boxes: &[[F; 4]], labels: Option<&[i64]>, rule: Rule<F>) -> Vec<bool> {
    let mut survive = vec![true; boxes.len()];
    for kept in 0..boxes.len() {
        if survive[kept] {
            for other in kept + 1..boxes.len() {
                survive[other] = survive[other] && !removes(boxes, labels, rule, kept, other);
            }
        }
    }
    survive
}

#[inline]
fn removes<F: Float>(boxes: &[[F; 4]], labels: Option<&[i64]>, rule: Rule<F>, kept: usize, other: usize) -> bool {
    labels.is_none_or(|labels| labels[kept] == labels[other])
        && single(rule.variant, &boxes[kept], &boxes[other]) >= rule.min
}
