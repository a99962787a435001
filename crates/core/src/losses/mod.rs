//! Losses of box regression and their gradients in the same pass.
//!
//! A loss depends on a few quantities of the pair: the intersection, the areas, the sides of the box around both, the
//! distance of the centres, and the sides. Each overlap gives its value and its slope in each quantity ([`slopes`]).
//! One chain rule turns these slopes into those in the coordinates ([`pair`]).
//!
//! The conventions are those of the formulas in Python, in `losses/_pairs.py`. The gradient of a tie is split in halves.
//! The intersection of boxes that touch has no gradient. CIoU's weight is a constant. An inverted side is a negative
//! extent.

mod pair;
mod slopes;

use crate::number::Float;
use crate::simd::{self, InstructionSet, Kernel, Level, MAX_LANES, Vector};
use crate::threads::each;
use pair::single;

/// A loss that this module knows, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// 1 - intersection over union.
    Iou,
    /// 1 - generalized IoU.
    Giou,
    /// 1 - distance IoU.
    Diou,
    /// 1 - complete IoU.
    Ciou,
    /// 1 - efficient IoU.
    Eiou,
    /// 1 - SCYLLA IoU.
    Siou,
    /// 1 - MPDIoU.
    Mpdiou {
        /// The squared diagonal of the image.
        diagonal: f64,
    },
    /// The powers of the terms of another loss.
    Alpha {
        /// The power, positive.
        alpha: f64,
        /// The other loss.
        base: Base,
    },
    /// Wise-IoU.
    Wiou(Weight),
}

/// Whose penalties alpha-IoU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// None.
    Iou,
    /// That of generalized IoU.
    Giou,
    /// That of distance IoU.
    Diou,
    /// Both of complete IoU.
    Ciou,
}

/// The weight that Wise-IoU gives to a pair by its loss relative to the mean loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weight {
    /// Version 1: 1.
    One,
    /// Version 2: a power.
    Power {
        /// The mean loss.
        mean: f64,
        /// The power.
        gamma: f64,
    },
    /// Version 3: `b exp(-rate b) scale` for a relative loss b.
    Peak {
        /// The mean loss.
        mean: f64,
        /// How fast it falls, not negative.
        rate: f64,
        /// Its scale.
        scale: f64,
    },
}

impl Loss {
    /// The loss of a name and its parameters, if there are as many as it has.
    pub fn named(name: &str, parameters: &[f64]) -> Option<Self> {
        // As in the formulas, a mean that is not positive counts as 1.
        let whole = |mean: f64| if mean <= 0.0 { 1.0 } else { mean };
        let alpha = |alpha, base| Self::Alpha { alpha, base };
        Some(match (name, parameters) {
            ("iou", []) => Self::Iou,
            ("giou", []) => Self::Giou,
            ("diou", []) => Self::Diou,
            ("ciou", []) => Self::Ciou,
            ("eiou", []) => Self::Eiou,
            ("siou", []) => Self::Siou,
            ("mpdiou", &[width, height]) => Self::Mpdiou { diagonal: width * width + height * height },
            ("alpha_iou", &[power]) => alpha(power, Base::Iou),
            ("alpha_giou", &[power]) => alpha(power, Base::Giou),
            ("alpha_diou", &[power]) => alpha(power, Base::Diou),
            ("alpha_ciou", &[power]) => alpha(power, Base::Ciou),
            ("wiou_1", []) => Self::Wiou(Weight::One),
            ("wiou_2", &[mean, gamma]) => Self::Wiou(Weight::Power { mean: whole(mean), gamma }),
            ("wiou_3", &[mean, alpha, delta]) => {
                let scale = libm::pow(alpha, delta) / delta;
                Self::Wiou(Weight::Peak { mean: whole(mean), rate: libm::log(alpha), scale })
            }
            _ => return None,
        })
    }
}

/// The loss of every pair, and its gradient in the coordinates of `pred`.
///
/// All losses are symmetric: the gradient in `target` is that of the same loss with the sets swapped. The result does not
/// depend on `threads` (0: all cores) or `level`.
///
/// # Panics
///
/// If the lengths do not fit together.
pub fn value_and_gradient<F: Float>(
    loss: Loss,
    pred: &[[F; 4]],
    target: &[[F; 4]],
    values: &mut [F],
    gradient: &mut [[F; 4]],
    threads: usize,
    level: Level,
) {
    let count = pred.len();
    assert!([target.len(), values.len(), gradient.len()] == [count; 3], "one value and one gradient per pair");
    let fill = |start: usize, values: &mut [F], gradient: &mut [[F; 4]]| {
        let [pred, target] = [pred, target].map(|boxes| &boxes[start..][..values.len()]);
        simd::run(level, Part { loss, pred, target, values, gradient });
        if !(all_direct(pred.as_flattened()) && all_direct(target.as_flattened())) {
            redo_others(loss, pred, target, values, gradient);
        }
    };
    if threads == 1 || count < 2 * PART {
        return fill(0, values, gradient);
    }
    let parts = values.chunks_mut(PART).zip(gradient.chunks_mut(PART)).enumerate();
    each(parts, threads, |(number, (values, gradient))| fill(number * PART, values, gradient));
}

/// The pairs a thread takes at a time: about 50 microseconds of work, many times what it costs to wake a thread.
const PART: usize = 1 << 13;

/// Whether no coordinate is NaN, or so large that its square overflows.
#[inline(always)]
fn all_direct<F: Float>(coordinates: &[F]) -> bool {
    coordinates.iter().fold(true, |all, x| all & (x.abs() <= F::MAX_DIRECT))
}

/// Computes the other pairs again: in double where squares may have overflowed, and NaN for NaN, which `min`, `max` and
/// the guards of divisors drop.
#[cold]
fn redo_others<F: Float>(loss: Loss, pred: &[[F; 4]], target: &[[F; 4]], values: &mut [F], gradient: &mut [[F; 4]]) {
    for (k, (a, b)) in pred.iter().zip(target).enumerate() {
        if !(all_direct(a) && all_direct(b)) {
            let (a, b) = (a.map(F::to_f64), b.map(F::to_f64));
            let has_nan = a.iter().chain(&b).any(|x| x.is_nan());
            let (value, slope) = if has_nan { (f64::NAN, [f64::NAN; 4]) } else { single(loss, &a, &b) };
            (values[k], gradient[k]) = (F::from_f64(value), slope.map(F::from_f64));
        }
    }
}

/// A run of pairs.
struct Part<'a, F> {
    loss: Loss,
    pred: &'a [[F; 4]],
    target: &'a [[F; 4]],
    values: &'a mut [F],
    gradient: &'a mut [[F; 4]],
}

impl<F: Float> Kernel for Part<'_, F> {
    #[inline(always)]
    fn run<I: InstructionSet>(self) {
        let lanes = F::Vector::<I>::LANES;
        let (mut a, mut b) = ([[F::ZERO; 4]; MAX_LANES], [[F::ZERO; 4]; MAX_LANES]);
        let (mut short_values, mut short_gradient) = ([F::ZERO; MAX_LANES], [[F::ZERO; 4]; MAX_LANES]);
        let boxes = self.pred.chunks(lanes).zip(self.target.chunks(lanes));
        let out = self.values.chunks_mut(lanes).zip(self.gradient.chunks_mut(lanes));
        for ((mut pred, mut target), (values, gradient)) in boxes.zip(out) {
            let is_short = pred.len() < lanes;
            if is_short {
                a[..pred.len()].copy_from_slice(pred);
                b[..target.len()].copy_from_slice(target);
                (pred, target) = (&a, &b);
            }
            let (value, slope) = single(self.loss, &F::Vector::<I>::columns(pred), &F::Vector::<I>::columns(target));
            if is_short {
                value.in_order().store(&mut short_values);
                Vector::rows(slope, &mut short_gradient);
                values.copy_from_slice(&short_values[..values.len()]);
                gradient.copy_from_slice(&short_gradient[..gradient.len()]);
            } else {
                value.in_order().store(values);
                Vector::rows(slope, gradient);
            }
        }
    }
}

#[cfg(test)]
mod tests;
