//! Boxes in the order of their scores: each that is still there is kept and removes those behind it that it overlaps.

use super::Rule;
use super::nearby::{Divisor, lanes, safe_part, with_divisor};
use crate::float::Float;
use crate::join::bound::Reference;
use crate::overlap::formula::{Iou, Measured, intersection};
use crate::overlap::simd::{self, InstructionSet, Kernel};
use crate::overlap::{Level, single};

/// Which of a few boxes, the best first, survive, where only an intersection matters. None of them may be huge.
pub fn near<F: Float>(boxes: &[[F; 4]], labels: Option<&[i64]>, rule: Rule<F>, level: Level) -> Vec<bool> {
    let mut survive = vec![true; boxes.len()];
    let reference = Reference::of(rule.variant).expect("a ratio");
    with_divisor!(reference, divisor => {
        simd::run(level, Forward { boxes, labels, rule, survive: &mut survive, divisor });
    });
    survive
}

struct Forward<'a, D, F> {
    boxes: &'a [[F; 4]],
    labels: Option<&'a [i64]>,
    rule: Rule<F>,
    survive: &'a mut [bool],
    divisor: D,
}

impl<D: Divisor, F: Float> Kernel for Forward<'_, D, F> {
    #[inline(always)]
    fn run<I: InstructionSet, const L: usize>(self) {
        let Self { boxes, labels, rule, survive, divisor } = self;
        // x1, y1, x2, y2 of a block of boxes; behind the last there are points at the origin, which overlap nothing.
        let mut blocks = vec![[[F::ZERO; L]; 4]; boxes.len().div_ceil(L)];
        for (number, corners) in boxes.iter().enumerate() {
            let block = &mut blocks[number / L];
            for side in 0..4 {
                block[side][number % L] = corners[side];
            }
        }
        let part = safe_part(rule.min);
        for kept in 0..boxes.len() {
            if !survive[kept] {
                continue;
            }
            let a = Measured::new::<Iou>(boxes[kept]);
            let first = (kept + 1) / L;
            for (number, [x1, y1, x2, y2]) in blocks.iter().enumerate().skip(first) {
                // Most blocks have no box that meets this one, which four comparisons tell.
                let mut meets = false;
                for k in 0..L {
                    meets |= (x1[k] < a.x2) & (a.x1 < x2[k]) & (y1[k] < a.y2) & (a.y1 < y2[k]);
                }
                if !meets {
                    continue;
                }
                let mut near = [false; L];
                let mut any = false;
                for k in 0..L {
                    let b = Measured::new::<Iou>([x1[k], y1[k], x2[k], y2[k]]);
                    let inter = intersection(&a, &b);
                    near[k] = (inter > F::ZERO) & (inter >= part * divisor.of(&a, &b, inter));
                    any |= near[k];
                }
                if !any {
                    continue;
                }
                let mut lanes = lanes(&near);
                while lanes != 0 {
                    let other = number * L + lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    if other > kept && survive[other] && removes(boxes, labels, rule, kept, other) {
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
            for (other, survives) in survive.iter_mut().enumerate().skip(kept + 1) {
                *survives = *survives && !removes(boxes, labels, rule, kept, other);
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
