//! The overlaps that losses are made of, each with its slopes.
//!
//! To add a loss: add a [`super::Loss`] with its name, and a function here whose value is 1 less the loss. The tests compare
//! the values with the formulas in [`crate::overlap`] and in Python, and the slopes with difference quotients.

use super::{Base, Loss, Weight};
use crate::number::{Float, Number, max};

/// What an overlap depends on. Its slopes have the same fields: the derivative of the overlap in each quantity.
#[derive(Clone, Copy)]
pub struct Quantities<N> {
    /// Area of the intersection.
    pub inter: N,
    /// Area of the first box.
    pub area: N,
    /// Sides of the box around both.
    pub hull_width: N,
    pub hull_height: N,
    /// From the second centre to the first.
    pub dx: N,
    pub dy: N,
    /// Sides of the first box.
    pub width: N,
    pub height: N,
}

/// The quantities of the second box, which is a constant, and where the first box lies from there.
#[derive(Clone, Copy)]
pub struct Other<N> {
    pub area: N,
    pub width: N,
    pub height: N,
    /// From the corners of the second box to those of the first, along x and along y. They are not made of centres and
    /// sides, which are rounded far from 0; their slopes are.
    pub corners: [(N, N); 2],
}

impl<N: Number> Quantities<N> {
    /// No slope in any.
    #[inline(always)]
    fn none() -> Self {
        Self {
            inter: N::zero(),
            area: N::zero(),
            hull_width: N::zero(),
            hull_height: N::zero(),
            dx: N::zero(),
            dy: N::zero(),
            width: N::zero(),
            height: N::zero(),
        }
    }

    /// These slopes less others.
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self {
            inter: self.inter - other.inter,
            area: self.area - other.area,
            hull_width: self.hull_width - other.hull_width,
            hull_height: self.hull_height - other.hull_height,
            dx: self.dx - other.dx,
            dy: self.dy - other.dy,
            width: self.width - other.width,
            height: self.height - other.height,
        }
    }

    /// These slopes times a factor.
    #[inline(always)]
    fn times(self, factor: N) -> Self {
        Self {
            inter: self.inter * factor,
            area: self.area * factor,
            hull_width: self.hull_width * factor,
            hull_height: self.hull_height * factor,
            dx: self.dx * factor,
            dy: self.dy * factor,
            width: self.width * factor,
            height: self.height * factor,
        }
    }
}

/// 1 - a loss, and its slopes.
///
/// The choice is made here, once per vector, and not around the loop over the pairs: that loop, with the chain rule, is
/// compiled once for all losses.
#[inline(always)]
pub fn of<N: Number>(loss: Loss, q: &Quantities<N>, other: &Other<N>) -> (N, Quantities<N>) {
    match loss {
        Loss::Iou => iou(q, other),
        Loss::Giou => giou(q, other),
        Loss::Diou => diou(q, other),
        Loss::Ciou => ciou(q, other),
        Loss::Eiou => eiou(q, other),
        Loss::Siou => siou(q, other),
        Loss::Mpdiou { diagonal } => mpdiou(q, other, diagonal),
        Loss::Alpha { alpha, base } => alpha_iou(q, other, alpha, base),
        Loss::Wiou(weight) => wiou(q, other, weight),
    }
}

/// Intersection over union.
#[inline(always)]
fn iou<N: Number>(q: &Quantities<N>, other: &Other<N>) -> (N, Quantities<N>) {
    let union = (q.area + other.area) - q.inter;
    let whole = guarded(union);
    let iou = q.inter / whole;
    let by_union = N::zero() - iou / whole * positive(union);
    (iou, Quantities { inter: N::one() / whole - by_union, area: by_union, ..Quantities::none() })
}

/// What is taken off IoU, and its slopes, from an overlap.
#[inline(always)]
fn less<N: Number>(overlap: (N, Quantities<N>), penalty: (N, Quantities<N>)) -> (N, Quantities<N>) {
    (overlap.0 - penalty.0, overlap.1.minus(penalty.1))
}

/// Generalized IoU.
#[inline(always)]
fn giou<N: Number>(q: &Quantities<N>, other: &Other<N>) -> (N, Quantities<N>) {
    less(iou(q, other), empty_part(q, other))
}

/// The part of the box around both that belongs to neither.
#[inline(always)]
fn empty_part<N: Number>(q: &Quantities<N>, other: &Other<N>) -> (N, Quantities<N>) {
    let union = (q.area + other.area) - q.inter;
    let hull = q.hull_width * q.hull_height;
    let whole = guarded(hull);
    let penalty = (hull - union) / whole;
    let by_inter = N::one() / whole;
    let by_hull = by_inter - penalty / whole * positive(hull);
    let slope = Quantities {
        inter: by_inter,
        area: by_inter.negated(),
        hull_width: by_hull * q.hull_height,
        hull_height: by_hull * q.hull_width,
        ..Quantities::none()
    };
    (penalty, slope)
}

/// Distance IoU.
#[inline(always)]
fn diou<N: Number>(q: &Quantities<N>, other: &Other<N>) -> (N, Quantities<N>) {
    less(iou(q, other), centres(q))
}

/// The squared distance of the centres, relative to the diagonal of the box around both.
#[inline(always)]
fn centres<N: Number>(q: &Quantities<N>) -> (N, Quantities<N>) {
    let diagonal = q.hull_width * q.hull_width + q.hull_height * q.hull_height;
    let whole = guarded(diagonal);
    let penalty = (q.dx * q.dx + q.dy * q.dy) / whole;
    let by_square = N::one() / whole;
    let by_diagonal = (penalty / whole * positive(diagonal)).negated();
    let slope = Quantities {
        dx: by_square * (q.dx + q.dx),
        dy: by_square * (q.dy + q.dy),
        hull_width: by_diagonal * (q.hull_width + q.hull_width),
        hull_height: by_diagonal * (q.hull_height + q.hull_height),
        ..Quantities::none()
    };
    (penalty, slope)
}

/// Complete IoU.
#[inline(always)]
fn ciou<N: Number>(q: &Quantities<N>, other: &Other<N>) -> (N, Quantities<N>) {
    less(diou(q, other), shapes(q, other))
}

/// The aspect term of CIoU, times its weight.
#[inline(always)]
fn shapes<N: Number>(q: &Quantities<N>, other: &Other<N>) -> (N, Quantities<N>) {
    let (iou, _) = iou(q, other);
    // An inverted side counts as 0 and has no slope.
    let (width, height) = (max(q.width, N::zero()), max(q.height, N::zero()));
    let turn = width.acute(height) - max(other.width, N::zero()).acute(max(other.height, N::zero()));
    let aspect = N::splat(N::Scalar::FOUR_OVER_PI_SQUARED) * (turn * turn);
    let alpha = aspect / guarded((N::one() - iou) + aspect);
    let by_turn = alpha * N::splat(N::Scalar::FOUR_OVER_PI_SQUARED) * (turn + turn);
    // The slope of the angle is (height, -width) over the sum of their squares. That sum underflows for small boxes.
    let larger = guarded(max(width, height));
    let (w, h) = (width / larger, height / larger);
    let by_side = by_turn / (guarded(w * w + h * h) * larger);
    let slope = Quantities {
        width: N::select(q.width.is_negative(), N::zero(), by_side * h),
        height: N::select(q.height.is_negative(), N::zero(), (by_side * w).negated()),
        ..Quantities::none()
    };
    (alpha * aspect, slope)
}

/// Efficient IoU.
#[inline(always)]
fn eiou<N: Number>(q: &Quantities<N>, other: &Other<N>) -> (N, Quantities<N>) {
    let (diou, mut slope) = diou(q, other);
    let (wide, by_width, by_hull_width) = unlike(q.width - other.width, q.hull_width);
    let (high, by_height, by_hull_height) = unlike(q.height - other.height, q.hull_height);
    slope.width = by_width;
    slope.height = by_height;
    slope.hull_width = slope.hull_width + by_hull_width;
    slope.hull_height = slope.hull_height + by_hull_height;
    (diou - (wide + high), slope)
}

/// SCYLLA IoU.
#[inline(always)]
fn siou<N: Number>(q: &Quantities<N>, other: &Other<N>) -> (N, Quantities<N>) {
    let (iou, mut slope) = iou(q, other);
    let two = N::one() + N::one();
    // The angle: 2 |dx| |dy| / (dx^2 + dy^2).
    let (x, y) = (q.dx * q.dx, q.dy * q.dy);
    let whole = guarded(x + y);
    let (across, along) = (q.dx.abs(), q.dy.abs());
    let angle = two * across * along / whole;
    let gamma = two - angle;
    let by_square = angle / whole * positive(x + y);
    let angle_by_dx = two * direction(q.dx) * along / whole - by_square * (q.dx + q.dx);
    let angle_by_dy = two * direction(q.dy) * across / whole - by_square * (q.dy + q.dy);
    // The distance, along each axis 1 - exp(-gamma (d / hull)^2).
    let half = N::half();
    let (near_x, part_x, by_dx, by_hull_width) = nearness(q.dx, q.hull_width, gamma);
    let (near_y, part_y, by_dy, by_hull_height) = nearness(q.dy, q.hull_height, gamma);
    let by_angle = near_x * part_x + near_y * part_y;
    // The shape, along each axis (1 - exp(-|difference| / larger side))^4.
    let (wide, by_width) = odd_side(q.width, other.width);
    let (high, by_height) = odd_side(q.height, other.height);
    slope.dx = half * (by_angle * angle_by_dx - by_dx);
    slope.dy = half * (by_angle * angle_by_dy - by_dy);
    slope.hull_width = half * by_hull_width;
    slope.hull_height = half * by_hull_height;
    slope.width = (half * by_width).negated();
    slope.height = (half * by_height).negated();
    (iou - ((two - near_x - near_y) + (wide + high)) * half, slope)
}

/// `exp(-gamma (d / hull)^2)` and the square in it, and what it falls by in `d` and grows by in the hull.
#[inline(always)]
fn nearness<N: Number>(d: N, hull: N, gamma: N) -> (N, N, N, N) {
    let square = hull * hull;
    let whole = guarded(square);
    let part = d * d / whole;
    let near = (gamma * part).decay();
    let falls = near * gamma;
    (near, part, falls * ((d + d) / whole), falls * (part / whole * positive(square) * (hull + hull)))
}

/// `(1 - exp(-|one - other| / larger))^4`, and its slope in `one`.
#[inline(always)]
fn odd_side<N: Number>(one: N, other: N) -> (N, N) {
    let (difference, larger) = (one - other, max(one, other));
    let whole = guarded(larger);
    let part = difference.abs() / whole;
    let near = part.decay();
    let odd = N::one() - near;
    let cube = odd * odd * odd;
    let is_larger = (N::one() + direction(difference)) * N::half();
    let by_part = direction(difference) / whole - part / whole * is_larger * positive(larger);
    let four = N::one() / N::quarter();
    (cube * odd, four * cube * near * by_part)
}

/// IoU less the squared distances of the corners, relative to the squared diagonal of the image.
#[inline(always)]
fn mpdiou<N: Number>(q: &Quantities<N>, other: &Other<N>, diagonal: f64) -> (N, Quantities<N>) {
    let [(left, right), (top, bottom)] = other.corners;
    let whole = N::from_double(diagonal);
    let penalty = ((left * left + top * top) + (right * right + bottom * bottom)) / whole;
    let by_square = N::one() / whole;
    let (across, down) = (left + right, top + bottom);
    let slope = Quantities {
        dx: by_square * (across + across),
        dy: by_square * (down + down),
        width: by_square * (right - left),
        height: by_square * (bottom - top),
        ..Quantities::none()
    };
    less(iou(q, other), (penalty, slope))
}

/// The power of IoU, less the powers of the penalties of another overlap.
#[inline(always)]
fn alpha_iou<N: Number>(q: &Quantities<N>, other: &Other<N>, alpha: f64, base: Base) -> (N, Quantities<N>) {
    let overlap = raised(iou(q, other), alpha);
    match base {
        Base::Iou => overlap,
        Base::Giou => less(overlap, raised(empty_part(q, other), alpha)),
        Base::Diou => less(overlap, raised(centres(q), alpha)),
        Base::Ciou => less(less(overlap, raised(centres(q), alpha)), raised(shapes(q, other), alpha)),
    }
}

/// The power of a term, and its slopes. A term that is not positive becomes 0 and has none.
#[inline(always)]
fn raised<N: Number>((term, slope): (N, Quantities<N>), alpha: f64) -> (N, Quantities<N>) {
    let power = power(term, alpha);
    (power, slope.times(N::from_double(alpha) * power / guarded(term)))
}

/// The power of what is positive, else 0. Multiples of 1/2, the usual powers, take no logarithm.
#[inline(always)]
fn power<N: Number>(term: N, exponent: f64) -> N {
    let base = guarded(term);
    let halves = exponent + exponent;
    let power = if halves == halves.trunc() && halves <= 16.0 {
        let odd = if halves % 2.0 == 0.0 { N::one() } else { base.sqrt() };
        (0..exponent as u32).fold(odd, |power, _| power * base)
    } else {
        base.pow(N::from_double(exponent))
    };
    N::select(term.is_positive(), power, N::zero())
}

/// 1 less Wise-IoU. In its weights, the diagonal of the box around both and the loss are constants.
#[inline(always)]
fn wiou<N: Number>(q: &Quantities<N>, other: &Other<N>, weight: Weight) -> (N, Quantities<N>) {
    let (iou, slope) = iou(q, other);
    let loss = N::one() - iou;
    let (away, by_centre) = centres(q);
    let outlier = |mean: f64| loss / N::from_double(mean);
    let factor = match weight {
        Weight::One => N::one(),
        Weight::Power { mean, gamma } => power(outlier(mean), gamma),
        Weight::Peak { mean, rate, scale } => {
            let outlier = outlier(mean);
            outlier * (max(outlier, N::zero()) * N::from_double(rate)).decay() * N::from_double(scale)
        }
    };
    let factor = factor / away.decay();
    let by_away = factor * loss;
    let slope = Quantities {
        dx: (by_away * by_centre.dx).negated(),
        dy: (by_away * by_centre.dy).negated(),
        ..slope.times(factor)
    };
    (N::one() - factor * loss, slope)
}

/// `(difference / hull)^2`, and the slopes of EIoU in the difference and in the hull.
#[inline(always)]
fn unlike<N: Number>(difference: N, hull: N) -> (N, N, N) {
    let square = hull * hull;
    let whole = guarded(square);
    let term = (difference * difference) / whole;
    let by_hull = term / whole * positive(square) * (hull + hull);
    (term, N::zero() - (difference + difference) / whole, by_hull)
}

/// 1, 0 or -1.
#[inline(always)]
fn direction<N: Number>(x: N) -> N {
    positive(x) - positive(x.negated())
}

/// 1 if it is above 0, else 0.
#[inline(always)]
pub fn positive<N: Number>(x: N) -> N {
    N::select(x.is_positive(), N::one(), N::zero())
}

/// A divisor that is not positive becomes 1.
#[inline(always)]
pub fn guarded<N: Number>(whole: N) -> N {
    N::select(whole.is_positive(), whole, N::one())
}
