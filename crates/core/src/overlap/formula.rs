//! What each overlap is: one formula per variant, for one pair of boxes.
//!
//! The order of the operations is part of the definition: it makes every formula symmetric to the last bit (but for
//! IoA, which is not symmetric), and keeps it inside its range without a clamp. Rounding is monotone, so the computed
//! intersection is never larger than either computed area, nor the computed centre distance than the diagonal.

use crate::float::{Float, max, min};

/// A box and what the formulas derive from it alone, so that N + M boxes pay for it and not N x M pairs.
#[derive(Clone, Copy)]
pub struct Measured<F> {
    pub x1: F,
    pub y1: F,
    pub x2: F,
    pub y2: F,
    pub area: F,
    /// `atan2(width, height)`; 0 unless the formula uses it.
    pub angle: F,
}

impl<F: Float> Measured<F> {
    #[inline(always)]
    pub fn new<V: Formula>([x1, y1, x2, y2]: [F; 4]) -> Self {
        let (width, height) = (x2 - x1, y2 - y1);
        // Not atan(width / height): that is NaN for a point and has no finite slope for a line.
        // A side from 0 to -0 is -0, and the angle of a point with it would be a half turn: adding 0 takes the sign away.
        let angle = if V::USES_ANGLE { (width + F::ZERO).atan2(height + F::ZERO) } else { F::ZERO };
        Self { x1, y1, x2, y2, area: width * height, angle }
    }
}

#[inline(always)]
pub fn intersection<F: Float>(a: &Measured<F>, b: &Measured<F>) -> F {
    let width = min(a.x2, b.x2) - max(a.x1, b.x1);
    let height = min(a.y2, b.y2) - max(a.y1, b.y1);
    max(width, F::ZERO) * max(height, F::ZERO)
}

/// A variant of overlap as a function of one pair.
pub trait Formula {
    /// [`Measured::angle`] is read.
    const USES_ANGLE: bool = false;
    /// The value, `inter` being the intersection of the two.
    fn value<F: Float>(a: &Measured<F>, b: &Measured<F>, inter: F) -> F;
}

/// Area of the intersection.
pub struct Intersection;
/// Intersection over union.
pub struct Iou;
/// Intersection over the area of the first box.
pub struct IoaFirst;
/// Intersection over the area of the second box.
pub struct IoaSecond;
/// Intersection over the smaller area.
pub struct Iom;
/// Generalized IoU (Rezatofighi et al., CVPR 2019).
pub struct Giou;
/// Distance IoU (Zheng et al., AAAI 2020).
pub struct Diou;
/// Complete IoU (Zheng et al., AAAI 2020).
pub struct Ciou;

/// `part / whole`, and 0 where there is no whole: `part` is never larger, so it is 0 there too.
///
/// The guard is on the denominator, before the division, and not a branch around it: compilers keep that in vectors.
#[inline(always)]
fn ratio<F: Float>(part: F, whole: F) -> F {
    part / if whole > F::ZERO { whole } else { F::ONE }
}

#[inline(always)]
fn union<F: Float>(a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
    (a.area + b.area) - inter
}

/// Sides of the smallest box around both.
#[inline(always)]
fn enclosing<F: Float>(a: &Measured<F>, b: &Measured<F>) -> (F, F) {
    (max(a.x2, b.x2) - min(a.x1, b.x1), max(a.y2, b.y2) - min(a.y1, b.y1))
}

impl Formula for Intersection {
    #[inline(always)]
    fn value<F: Float>(_: &Measured<F>, _: &Measured<F>, inter: F) -> F {
        inter
    }
}

impl Formula for Iou {
    #[inline(always)]
    fn value<F: Float>(a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        ratio(inter, union(a, b, inter))
    }
}

impl Formula for IoaFirst {
    #[inline(always)]
    fn value<F: Float>(a: &Measured<F>, _: &Measured<F>, inter: F) -> F {
        ratio(inter, a.area)
    }
}

impl Formula for IoaSecond {
    #[inline(always)]
    fn value<F: Float>(_: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        ratio(inter, b.area)
    }
}

impl Formula for Iom {
    #[inline(always)]
    fn value<F: Float>(a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        ratio(inter, min(a.area, b.area))
    }
}

impl Formula for Giou {
    #[inline(always)]
    fn value<F: Float>(a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        let union = union(a, b, inter);
        let (width, height) = enclosing(a, b);
        let hull = width * height;
        // The hull is no smaller than the union; where rounding says otherwise, or both are 0, nothing is taken off.
        let penalty = if hull > union { (hull - union) / hull } else { F::ZERO };
        ratio(inter, union) - penalty
    }
}

impl Formula for Diou {
    #[inline(always)]
    fn value<F: Float>(a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        let (width, height) = enclosing(a, b);
        let diagonal = width * width + height * height;
        // Twice the centre distance, from differences: sums of large coordinates would lose the low digits.
        let dx = (a.x1 - b.x1) + (a.x2 - b.x2);
        let dy = (a.y1 - b.y1) + (a.y2 - b.y2);
        let distance = (dx * dx + dy * dy) * F::QUARTER;
        let penalty = if diagonal > F::ZERO { distance / diagonal } else { F::ZERO };
        ratio(inter, union(a, b, inter)) - penalty
    }
}

impl Formula for Ciou {
    const USES_ANGLE: bool = true;
    #[inline(always)]
    fn value<F: Float>(a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        let turn = a.angle - b.angle;
        let aspect = F::FOUR_OVER_PI_SQUARED * (turn * turn);
        let weight = (F::ONE - ratio(inter, union(a, b, inter))) + aspect;
        // Both are 0 only for equal shapes in the same place.
        let alpha = if weight > F::ZERO { aspect / weight } else { F::ZERO };
        Diou::value(a, b, inter) - alpha * aspect
    }
}
