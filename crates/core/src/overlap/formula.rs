//! What each overlap is: one formula per variant, for one pair of boxes.
//!
//! The order of the operations is part of the definition: it makes every formula symmetric to the last bit (but for
//! IoA, which is not symmetric), and keeps it inside its range without a clamp. Rounding is monotone, so the computed
//! intersection is never larger than either computed area, nor the computed centre distance than the diagonal.

use crate::number::{Float, Number, max, min};

/// A box and what the formulas derive from it alone, so that N + M boxes pay for it and not N x M pairs.
#[derive(Clone, Copy)]
pub struct Measured<N> {
    pub x1: N,
    pub y1: N,
    pub x2: N,
    pub y2: N,
    pub area: N,
    /// `atan2(width, height)`; 0 unless the formula uses it.
    pub angle: N,
}

impl<N: Number> Measured<N> {
    /// The angle is 0 unless it is wanted: it takes as long as many pairs.
    #[inline(always)]
    pub fn new([x1, y1, x2, y2]: [N; 4], angle: bool) -> Self {
        let (width, height) = (x2 - x1, y2 - y1);
        // Not atan(width / height): that is NaN for a point and has no finite slope for a line.
        // A side from 0 to -0 is -0, and the angle of a point with it would be a half turn: adding 0 takes the sign away.
        let angle = if angle { (width + N::zero()).atan2(height + N::zero()) } else { N::zero() };
        Self { x1, y1, x2, y2, area: width * height, angle }
    }

    /// The same box in every lane.
    #[inline(always)]
    pub fn all_lanes(one: &Measured<N::Scalar>) -> Self {
        Self {
            x1: N::splat(one.x1),
            y1: N::splat(one.y1),
            x2: N::splat(one.x2),
            y2: N::splat(one.y2),
            area: N::splat(one.area),
            angle: N::splat(one.angle),
        }
    }

    #[inline(always)]
    fn width(&self) -> N {
        self.x2 - self.x1
    }

    #[inline(always)]
    fn height(&self) -> N {
        self.y2 - self.y1
    }
}

#[inline(always)]
pub fn intersection<N: Number>(a: &Measured<N>, b: &Measured<N>) -> N {
    let width = min(a.x2, b.x2) - max(a.x1, b.x1);
    let height = min(a.y2, b.y2) - max(a.y1, b.y1);
    max(width, N::zero()) * max(height, N::zero())
}

/// A variant of overlap as a function of one pair; its fields are the parameters it has beside the boxes.
pub trait Formula: Copy + Sync {
    /// Whether it reads [`Measured::angle`].
    const USES_ANGLE: bool = false;
    /// The value, `inter` being the intersection of the two.
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, inter: N) -> N;
}

/// `part / whole`, and 0 where there is no whole: in every use, `part` is 0 there too.
///
/// The guard is on the denominator, before the division, and not a branch around it: compilers keep that in vectors.
#[inline(always)]
pub fn ratio<N: Number>(part: N, whole: N) -> N {
    part / N::select(whole.is_positive(), whole, N::one())
}

#[inline(always)]
fn union<N: Number>(a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
    (a.area + b.area) - inter
}

#[inline(always)]
fn iou<N: Number>(a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
    ratio(inter, union(a, b, inter))
}

/// Twice what lies between the centres, along each axis, from differences: sums of large coordinates would lose the
/// low digits.
#[inline(always)]
fn twice_apart<N: Number>(a: &Measured<N>, b: &Measured<N>) -> (N, N) {
    ((a.x1 - b.x1) + (a.x2 - b.x2), (a.y1 - b.y1) + (a.y2 - b.y2))
}

/// Sides of the smallest box around both.
#[inline(always)]
fn enclosing<N: Number>(a: &Measured<N>, b: &Measured<N>) -> (N, N) {
    (max(a.x2, b.x2) - min(a.x1, b.x1), max(a.y2, b.y2) - min(a.y1, b.y1))
}

/// Area of the intersection.
#[derive(Clone, Copy)]
pub struct Intersection;

impl Formula for Intersection {
    #[inline(always)]
    fn value<N: Number>(self, _: &Measured<N>, _: &Measured<N>, inter: N) -> N {
        inter
    }
}

/// Intersection over union.
#[derive(Clone, Copy)]
pub struct Iou;

impl Formula for Iou {
    #[inline(always)]
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
        iou(a, b, inter)
    }
}

/// Intersection over the area of the first box.
#[derive(Clone, Copy)]
pub struct IoaFirst;

impl Formula for IoaFirst {
    #[inline(always)]
    fn value<N: Number>(self, a: &Measured<N>, _: &Measured<N>, inter: N) -> N {
        ratio(inter, a.area)
    }
}

/// Intersection over the area of the second box.
#[derive(Clone, Copy)]
pub struct IoaSecond;

impl Formula for IoaSecond {
    #[inline(always)]
    fn value<N: Number>(self, _: &Measured<N>, b: &Measured<N>, inter: N) -> N {
        ratio(inter, b.area)
    }
}

/// Intersection over the smaller area.
#[derive(Clone, Copy)]
pub struct Iom;

impl Formula for Iom {
    #[inline(always)]
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
        ratio(inter, min(a.area, b.area))
    }
}

/// Generalized IoU (Rezatofighi et al., CVPR 2019).
#[derive(Clone, Copy)]
pub struct Giou;

impl Formula for Giou {
    #[inline(always)]
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
        let union = union(a, b, inter);
        let (width, height) = enclosing(a, b);
        let hull = width * height;
        // The hull is no smaller than the union; where rounding says otherwise, or both are 0, nothing is taken off.
        let penalty = N::select(hull.above(union), (hull - union) / hull, N::zero());
        ratio(inter, union) - penalty
    }
}

/// Distance IoU (Zheng et al., AAAI 2020).
#[derive(Clone, Copy)]
pub struct Diou;

impl Formula for Diou {
    #[inline(always)]
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
        let (width, height) = enclosing(a, b);
        let (dx, dy) = twice_apart(a, b);
        let distance = (dx * dx + dy * dy) * N::quarter();
        iou(a, b, inter) - ratio(distance, width * width + height * height)
    }
}

/// Complete IoU (Zheng et al., AAAI 2020).
#[derive(Clone, Copy)]
pub struct Ciou;

impl Formula for Ciou {
    const USES_ANGLE: bool = true;
    #[inline(always)]
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
        let turn = a.angle - b.angle;
        let aspect = N::splat(N::Scalar::FOUR_OVER_PI_SQUARED) * (turn * turn);
        // Both terms of the weight are 0 only for equal shapes in the same place.
        let alpha = ratio(aspect, (N::one() - iou(a, b, inter)) + aspect);
        Diou.value(a, b, inter) - alpha * aspect
    }
}

/// Efficient IoU (Zhang et al., 2021).
#[derive(Clone, Copy)]
pub struct Eiou;

impl Formula for Eiou {
    #[inline(always)]
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
        let (width, height) = enclosing(a, b);
        let (dw, dh) = (a.width() - b.width(), a.height() - b.height());
        let sides = ratio(dw * dw, width * width) + ratio(dh * dh, height * height);
        Diou.value(a, b, inter) - sides
    }
}

/// `1 - exp(-x)`.
#[inline(always)]
fn saturated<N: Number>(x: N) -> N {
    N::one() - x.decay()
}

/// SIoU's distance term along one axis, from the square of twice the distance.
#[inline(always)]
fn toward<N: Number>(squared: N, side: N, gamma: N) -> N {
    saturated(gamma * ratio(squared * N::quarter(), side * side))
}

/// SIoU's shape term of one side.
#[inline(always)]
fn unlike<N: Number>(one: N, other: N) -> N {
    let term = saturated(ratio((one - other).abs(), max(one, other)));
    let square = term * term;
    square * square
}

/// SCYLLA IoU (Gevorgyan, 2022), with the exponent 4 of its shape term.
#[derive(Clone, Copy)]
pub struct Siou;

impl Formula for Siou {
    #[inline(always)]
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
        let (width, height) = enclosing(a, b);
        let (dx, dy) = twice_apart(a, b);
        // The paper's sin(2 asin(s)), s the sine of the angle between the line of the centres and an axis, without
        // the detour: it is 2 sin cos, which needs no arc sine and has no pole of the slope.
        let (x, y) = (dx * dx, dy * dy);
        let product = dx.abs() * dy.abs();
        let angle = ratio(product + product, x + y);
        let gamma = (N::one() + N::one()) - angle;
        let distance = toward(x, width, gamma) + toward(y, height, gamma);
        let shape = unlike(a.width(), b.width()) + unlike(a.height(), b.height());
        iou(a, b, inter) - (distance + shape) * N::half()
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
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
        let (dx1, dy1, dx2, dy2) = (a.x1 - b.x1, a.y1 - b.y1, a.x2 - b.x2, a.y2 - b.y2);
        let distance = (dx1 * dx1 + dy1 * dy1) + (dx2 * dx2 + dy2 * dy2);
        iou(a, b, inter) - distance / N::from_double(self.squared_diagonal)
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
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
        iou(a, b, inter).pow(N::from_double(self.alpha))
    }
}

/// What two sides of centres `twice_apart / 2` from each other share. From sides and distances, not from scaled corners,
/// which round: a small box far from the origin would vanish.
#[inline(always)]
fn shared<N: Number>(one: N, other: N, twice_apart: N) -> N {
    let beyond = ((one + other) - twice_apart.abs()) * N::half();
    max(min(min(one, other), beyond), N::zero())
}

/// IoU of both boxes scaled about their centres (Zhang et al., 2023).
#[derive(Clone, Copy)]
pub struct InnerIou {
    /// The scale.
    pub ratio: f64,
}

impl Formula for InnerIou {
    #[inline(always)]
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, _: N) -> N {
        let scale = N::from_double(self.ratio);
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
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, _: N) -> N {
        let (dx, dy) = twice_apart(a, b);
        let (dw, dh) = (a.width() - b.width(), a.height() - b.height());
        let distance = (((dx * dx + dy * dy) + (dw * dw + dh * dh)) * N::quarter()).sqrt();
        (distance / N::from_double(self.constant)).decay()
    }
}

/// Distance of the centres.
#[derive(Clone, Copy)]
pub struct CentreDistance;

impl Formula for CentreDistance {
    #[inline(always)]
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, _: N) -> N {
        let (dx, dy) = twice_apart(a, b);
        (dx * dx + dy * dy).sqrt() * N::half()
    }
}

/// 1 - IoU.
#[derive(Clone, Copy)]
pub struct JaccardDistance;

impl Formula for JaccardDistance {
    #[inline(always)]
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
        N::one() - iou(a, b, inter)
    }
}

/// Tightness-aware IoU (Liu et al., CVPR 2019): IoU times the part of the first box, an object, that is covered.
#[derive(Clone, Copy)]
pub struct Tiou;

impl Formula for Tiou {
    #[inline(always)]
    fn value<N: Number>(self, a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
        iou(a, b, inter) * ratio(inter, a.area)
    }
}
