//! The quantities of a pair of boxes, and the chain rule from the slopes of an overlap to those of a loss.

use super::Loss;
use super::slopes::{self, Other, Quantities, positive};
use crate::number::{Number, max, min};

/// -1 if it is below 0, else 1.
#[inline(always)]
fn sign<N: Number>(x: N) -> N {
    N::select(x.is_negative(), N::one().negated(), N::one())
}

/// The slope of `max(a, b)` in `a`: 1, 0, or 1/2 for a tie.
#[inline(always)]
fn above<N: Number>(a: N, b: N) -> N {
    let over = N::select(a.above(b), N::one(), N::zero());
    let under = N::select(b.above(a), N::zero(), N::one());
    (over + under) * N::half()
}

/// The loss and its gradient in the first box.
#[inline(always)]
pub fn single<N: Number>(loss: Loss, a: &[N; 4], b: &[N; 4]) -> (N, [N; 4]) {
    let x = Axis::new(a[0], a[2], b[0], b[2]);
    let y = Axis::new(a[1], a[3], b[1], b[3]);
    // The area of an inverted box is negative.
    let (sx, sy) = (sign(x.a), sign(y.a));
    let whole = N::select(x.a.is_negative(), sx, sy);
    let other_whole = N::select(x.b.is_negative(), sign(x.b), sign(y.b));
    let (width, height) = (x.a * sx, y.a * sy);
    let (inner_x, inner_y) = (max(x.inter, N::zero()), max(y.inter, N::zero()));
    let q = Quantities {
        inter: inner_x * inner_y,
        area: whole * (width * height),
        hull_width: x.hull,
        hull_height: y.hull,
        dx: x.apart,
        dy: y.apart,
        width: x.a,
        height: y.a,
    };
    let other = Other {
        area: other_whole * ((x.b * sign(x.b)) * (y.b * sign(y.b))),
        width: x.b,
        height: y.b,
        corners: [(x.low, x.high), (y.low, y.high)],
    };
    let (value, slope) = slopes::of(loss, &q, &other);
    let (x1, x2) =
        x.chain(slope.inter * inner_y, slope.area * (whole * sx * height) + slope.width, slope.hull_width, slope.dx);
    let (y1, y2) =
        y.chain(slope.inter * inner_x, slope.area * (whole * sy * width) + slope.height, slope.hull_height, slope.dy);
    (N::one() - value, [x1, y1, x2, y2])
}

/// A pair of boxes along one axis.
struct Axis<N> {
    a: N,
    b: N,
    /// The length that both share. It is not positive where they share nothing.
    inter: N,
    /// The length of the interval around both.
    hull: N,
    /// From the ends of the second box to those of the first.
    low: N,
    high: N,
    /// From the second centre to the first.
    apart: N,
    /// The slopes of both ends of the intersection, and of the interval around both, in the ends of the first box.
    inner_low: N,
    inner_high: N,
    hull_low: N,
    hull_high: N,
}

impl<N: Number> Axis<N> {
    #[inline(always)]
    fn new(a1: N, a2: N, b1: N, b2: N) -> Self {
        // An inverted box has its larger coordinate first.
        let (a_low, a_high) = (min(a2, a1), max(a1, a2));
        let (b_low, b_high) = (min(b2, b1), max(b1, b2));
        let (low, high) = (a1 - b1, a2 - b2);
        Self {
            a: a2 - a1,
            b: b2 - b1,
            inter: min(a2, b2) - max(a1, b1),
            hull: max(a_high, b_high) - min(a_low, b_low),
            low,
            high,
            apart: (low + high) * N::half(),
            inner_low: above(a1, b1),
            inner_high: above(b2, a2),
            hull_low: above(b_low, a_low),
            hull_high: above(a_high, b_high),
        }
    }

    /// The slopes of the loss in both coordinates of the first box, by the chain rule. The loss is 1 - overlap.
    #[inline(always)]
    fn chain(&self, by_inner: N, by_side: N, by_hull: N, by_apart: N) -> (N, N) {
        let inner = by_inner * positive(self.inter);
        let (low, high) = (by_hull * self.hull_low, by_hull * self.hull_high);
        let centre = by_apart * N::half();
        let inverted = self.a.is_negative();
        let first = N::select(inverted, high, low.negated());
        let second = N::select(inverted, low.negated(), high);
        (
            (inner * self.inner_low - first) + (by_side - centre),
            ((inner * self.inner_high + second) + (by_side + centre)).negated(),
        )
    }
}
