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

    #[inline(always)]
    fn width(&self) -> F {
        self.x2 - self.x1
    }

    #[inline(always)]
    fn height(&self) -> F {
        self.y2 - self.y1
    }
}

#[inline(always)]
pub fn intersection<F: Float>(a: &Measured<F>, b: &Measured<F>) -> F {
    let width = min(a.x2, b.x2) - max(a.x1, b.x1);
    let height = min(a.y2, b.y2) - max(a.y1, b.y1);
    max(width, F::ZERO) * max(height, F::ZERO)
}

/// A variant of overlap as a function of one pair; its fields are the parameters it has beside the boxes.
pub trait Formula: Copy + Sync {
    /// [`Measured::angle`] is read.
    const USES_ANGLE: bool = false;
    /// The value, `inter` being the intersection of the two.
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, inter: F) -> F;
}

/// `part / whole`, and 0 where there is no whole: in every use, `part` is 0 there too.
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

#[inline(always)]
fn iou<F: Float>(a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
    ratio(inter, union(a, b, inter))
}

/// Twice what lies between the centres, along each axis, from differences: sums of large coordinates would lose the
/// low digits.
#[inline(always)]
fn twice_apart<F: Float>(a: &Measured<F>, b: &Measured<F>) -> (F, F) {
    ((a.x1 - b.x1) + (a.x2 - b.x2), (a.y1 - b.y1) + (a.y2 - b.y2))
}

/// Sides of the smallest box around both.
#[inline(always)]
fn enclosing<F: Float>(a: &Measured<F>, b: &Measured<F>) -> (F, F) {
    (max(a.x2, b.x2) - min(a.x1, b.x1), max(a.y2, b.y2) - min(a.y1, b.y1))
}

/// Area of the intersection.
#[derive(Clone, Copy)]
pub struct Intersection;

impl Formula for Intersection {
    #[inline(always)]
    fn value<F: Float>(self, _: &Measured<F>, _: &Measured<F>, inter: F) -> F {
        inter
    }
}

/// Intersection over union.
#[derive(Clone, Copy)]
pub struct Iou;

impl Formula for Iou {
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        iou(a, b, inter)
    }
}

/// Intersection over the area of the first box.
#[derive(Clone, Copy)]
pub struct IoaFirst;

impl Formula for IoaFirst {
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, _: &Measured<F>, inter: F) -> F {
        ratio(inter, a.area)
    }
}

/// Intersection over the area of the second box.
#[derive(Clone, Copy)]
pub struct IoaSecond;

impl Formula for IoaSecond {
    #[inline(always)]
    fn value<F: Float>(self, _: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        ratio(inter, b.area)
    }
}

/// Intersection over the smaller area.
#[derive(Clone, Copy)]
pub struct Iom;

impl Formula for Iom {
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        ratio(inter, min(a.area, b.area))
    }
}

/// Generalized IoU (Rezatofighi et al., CVPR 2019).
#[derive(Clone, Copy)]
pub struct Giou;

impl Formula for Giou {
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        let union = union(a, b, inter);
        let (width, height) = enclosing(a, b);
        let hull = width * height;
        // The hull is no smaller than the union; where rounding says otherwise, or both are 0, nothing is taken off.
        let penalty = if hull > union { (hull - union) / hull } else { F::ZERO };
        ratio(inter, union) - penalty
    }
}

/// Distance IoU (Zheng et al., AAAI 2020).
#[derive(Clone, Copy)]
pub struct Diou;

impl Formula for Diou {
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        let (width, height) = enclosing(a, b);
        let (dx, dy) = twice_apart(a, b);
        let distance = (dx * dx + dy * dy) * F::QUARTER;
        iou(a, b, inter) - ratio(distance, width * width + height * height)
    }
}

/// Complete IoU (Zheng et al., AAAI 2020).
#[derive(Clone, Copy)]
pub struct Ciou;

impl Formula for Ciou {
    const USES_ANGLE: bool = true;
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        let turn = a.angle - b.angle;
        let aspect = F::FOUR_OVER_PI_SQUARED * (turn * turn);
        // Both terms of the weight are 0 only for equal shapes in the same place.
        let alpha = ratio(aspect, (F::ONE - iou(a, b, inter)) + aspect);
        Diou.value(a, b, inter) - alpha * aspect
    }
}

/// Efficient IoU (Zhang et al., 2021).
#[derive(Clone, Copy)]
pub struct Eiou;

impl Formula for Eiou {
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        let (width, height) = enclosing(a, b);
        let (dw, dh) = (a.width() - b.width(), a.height() - b.height());
        let sides = ratio(dw * dw, width * width) + ratio(dh * dh, height * height);
        Diou.value(a, b, inter) - sides
    }
}

/// `1 - exp(-x)`.
#[inline(always)]
fn saturated<F: Float>(x: F) -> F {
    F::ONE - x.decay()
}

/// SIoU's distance term along one axis, from the square of twice the distance.
#[inline(always)]
fn toward<F: Float>(squared: F, side: F, gamma: F) -> F {
    saturated(gamma * ratio(squared * F::QUARTER, side * side))
}

/// SIoU's shape term of one side.
#[inline(always)]
fn unlike<F: Float>(one: F, other: F) -> F {
    let term = saturated(ratio((one - other).abs(), max(one, other)));
    let square = term * term;
    square * square
}

/// SCYLLA IoU (Gevorgyan, 2022), with the exponent 4 of its shape term.
#[derive(Clone, Copy)]
pub struct Siou;

impl Formula for Siou {
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        let (width, height) = enclosing(a, b);
        let (dx, dy) = twice_apart(a, b);
        // The paper's sin(2 asin(s)), s the sine of the angle between the line of the centres and an axis, without
        // the detour: it is 2 sin cos, which needs no arc sine and has no pole of the slope.
        let (x, y) = (dx * dx, dy * dy);
        let product = dx.abs() * dy.abs();
        let angle = ratio(product + product, x + y);
        let gamma = (F::ONE + F::ONE) - angle;
        let distance = toward(x, width, gamma) + toward(y, height, gamma);
        let shape = unlike(a.width(), b.width()) + unlike(a.height(), b.height());
        iou(a, b, inter) - (distance + shape) * F::HALF
    }
}

/// IoU with the distances of the corners (Ma and Xu, 2023), relative to the image.
#[derive(Clone, Copy)]
pub struct Mpdiou {
    /// Squared diagonal of the image.
    pub squared_diagonal: f64,
}

impl Formula for Mpdiou {
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        let (dx1, dy1, dx2, dy2) = (a.x1 - b.x1, a.y1 - b.y1, a.x2 - b.x2, a.y2 - b.y2);
        let distance = (dx1 * dx1 + dy1 * dy1) + (dx2 * dx2 + dy2 * dy2);
        iou(a, b, inter) - distance / F::from_f64(self.squared_diagonal)
    }
}

/// IoU to a power (He et al., NeurIPS 2021).
#[derive(Clone, Copy)]
pub struct AlphaIou {
    /// The power.
    pub alpha: f64,
}

impl Formula for AlphaIou {
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        iou(a, b, inter).pow(F::from_f64(self.alpha))
    }
}

/// What two sides of centres `twice_apart / 2` from each other share. From sides and distances, not from scaled corners,
/// which round: a small box far from the origin would vanish.
#[inline(always)]
fn shared<F: Float>(one: F, other: F, twice_apart: F) -> F {
    let beyond = ((one + other) - twice_apart.abs()) * F::HALF;
    max(min(min(one, other), beyond), F::ZERO)
}

/// IoU of both boxes scaled about their centres (Zhang et al., 2023).
#[derive(Clone, Copy)]
pub struct InnerIou {
    /// The scale.
    pub ratio: f64,
}

impl Formula for InnerIou {
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, _: F) -> F {
        let scale = F::from_f64(self.ratio);
        let (dx, dy) = twice_apart(a, b);
        let (w1, h1) = (a.width() * scale, a.height() * scale);
        let (w2, h2) = (b.width() * scale, b.height() * scale);
        let inter = shared(w1, w2, dx) * shared(h1, h2, dy);
        ratio(inter, (w1 * h1 + w2 * h2) - inter)
    }
}

/// Normalized Wasserstein distance (Wang et al., 2021).
#[derive(Clone, Copy)]
pub struct Nwd {
    /// A length: the distance at which the value is 1/e.
    pub constant: f64,
}

impl Formula for Nwd {
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, _: F) -> F {
        let (dx, dy) = twice_apart(a, b);
        let (dw, dh) = (a.width() - b.width(), a.height() - b.height());
        let distance = (((dx * dx + dy * dy) + (dw * dw + dh * dh)) * F::QUARTER).sqrt();
        (distance / F::from_f64(self.constant)).decay()
    }
}

/// Distance of the centres.
#[derive(Clone, Copy)]
pub struct CentreDistance;

impl Formula for CentreDistance {
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, _: F) -> F {
        let (dx, dy) = twice_apart(a, b);
        (dx * dx + dy * dy).sqrt() * F::HALF
    }
}

/// 1 - IoU.
#[derive(Clone, Copy)]
pub struct JaccardDistance;

impl Formula for JaccardDistance {
    #[inline(always)]
    fn value<F: Float>(self, a: &Measured<F>, b: &Measured<F>, inter: F) -> F {
        F::ONE - iou(a, b, inter)
    }
}
