//! The overlaps that losses are made of, each with its slopes.
//!
//! To add a loss: add a [`super::Loss`] of the name that the variant has in Python, and a function here whose value is that
//! of the formula in [`crate::overlap`]. The tests compare the value with that formula, and the slopes with difference
//! quotients.

use super::Loss;
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

/// The quantities of the second box, which is a constant.
#[derive(Clone, Copy)]
pub struct Other<N> {
    pub area: N,
    pub width: N,
    pub height: N,
}

/// The overlap of a loss, and its slopes.
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
    }
}

/// Intersection over union.
#[inline(always)]
fn iou<N: Number>(q: &Quantities<N>, other: &Other<N>) -> (N, Quantities<N>) {
    let union = (q.area + other.area) - q.inter;
    let whole = guarded(union);
    let iou = q.inter / whole;
    let by_union = N::zero() - iou / whole * positive(union);
    let slope = Quantities {
        inter: N::one() / whole - by_union,
        area: by_union,
        hull_width: N::zero(),
        hull_height: N::zero(),
        dx: N::zero(),
        dy: N::zero(),
        width: N::zero(),
        height: N::zero(),
    };
    (iou, slope)
}

/// Generalized IoU.
#[inline(always)]
fn giou<N: Number>(q: &Quantities<N>, other: &Other<N>) -> (N, Quantities<N>) {
    let (iou, mut slope) = iou(q, other);
    let union = (q.area + other.area) - q.inter;
    let hull = q.hull_width * q.hull_height;
    let whole = guarded(hull);
    let penalty = (hull - union) / whole;
    let by_union = N::one() / whole;
    let by_hull = penalty / whole * positive(hull) - by_union;
    slope.inter = slope.inter - by_union;
    slope.area = slope.area + by_union;
    slope.hull_width = by_hull * q.hull_height;
    slope.hull_height = by_hull * q.hull_width;
    (iou - penalty, slope)
}

/// Distance IoU.
#[inline(always)]
fn diou<N: Number>(q: &Quantities<N>, other: &Other<N>) -> (N, Quantities<N>) {
    let (iou, mut slope) = iou(q, other);
    let diagonal = q.hull_width * q.hull_width + q.hull_height * q.hull_height;
    let whole = guarded(diagonal);
    let penalty = (q.dx * q.dx + q.dy * q.dy) / whole;
    let by_square = N::zero() - N::one() / whole;
    let by_diagonal = penalty / whole * positive(diagonal);
    slope.dx = by_square * (q.dx + q.dx);
    slope.dy = by_square * (q.dy + q.dy);
    slope.hull_width = by_diagonal * (q.hull_width + q.hull_width);
    slope.hull_height = by_diagonal * (q.hull_height + q.hull_height);
    (iou - penalty, slope)
}

/// Complete IoU.
#[inline(always)]
fn ciou<N: Number>(q: &Quantities<N>, other: &Other<N>) -> (N, Quantities<N>) {
    let (diou, mut slope) = diou(q, other);
    let (iou, _) = iou(q, other);
    // An inverted side counts as 0 and has no slope.
    let (width, height) = (max(q.width, N::zero()), max(q.height, N::zero()));
    let turn = width.acute(height) - max(other.width, N::zero()).acute(max(other.height, N::zero()));
    let aspect = N::splat(N::Scalar::FOUR_OVER_PI_SQUARED) * (turn * turn);
    let alpha = aspect / guarded((N::one() - iou) + aspect);
    let by_turn = N::zero() - alpha * N::splat(N::Scalar::FOUR_OVER_PI_SQUARED) * (turn + turn);
    // The slope of the angle is (height, -width) over the sum of their squares. That sum underflows for small boxes.
    let larger = guarded(max(width, height));
    let (w, h) = (width / larger, height / larger);
    let by_side = by_turn / (guarded(w * w + h * h) * larger);
    slope.width = N::select(q.width.is_negative(), N::zero(), by_side * h);
    slope.height = N::select(q.height.is_negative(), N::zero(), (by_side * w).negated());
    (diou - alpha * aspect, slope)
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

/// `(difference / hull)^2`, and the slopes of EIoU in the difference and in the hull.
#[inline(always)]
fn unlike<N: Number>(difference: N, hull: N) -> (N, N, N) {
    let square = hull * hull;
    let whole = guarded(square);
    let term = (difference * difference) / whole;
    let by_hull = term / whole * positive(square) * (hull + hull);
    (term, N::zero() - (difference + difference) / whole, by_hull)
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
