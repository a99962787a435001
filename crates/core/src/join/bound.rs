//! What a threshold says about two boxes before their overlap is computed: how far apart they may lie, and how unequal
//! their sides may be.
//!
//! A ratio of areas is bounded by the same ratio along either axis: the intersection is `iw * ih`, and the area it is
//! divided by is at least `w * ih` for the side `w` of a box that counts. So `value >= t` asks for `iw >= t * w`, with
//! `w` the larger of both sides for IoU (the union holds both boxes), the side of one box for IoA, and the smaller for
//! IoM. From that follows how far one low corner may lie before or behind the other.

use crate::number::{Float, Number, max, min};
use crate::overlap::Variant;
use crate::overlap::formula::Measured;

/// Whose side the overlap along an axis is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The larger side: IoU, and all that is IoU less a penalty.
    Larger,
    /// The side of the query: IoA of the first area.
    First,
    /// The side of the box it is compared with: IoA of the second area.
    Second,
    /// The smaller side: IoM.
    Smaller,
}

impl Reference {
    /// `None` for what a threshold does not bound.
    pub fn of(variant: Variant) -> Option<Self> {
        match variant {
            // The penalties of the last three are not negative, also as they are computed.
            Variant::Iou | Variant::Giou | Variant::Diou | Variant::Ciou => Some(Self::Larger),
            Variant::IoaFirst => Some(Self::First),
            Variant::IoaSecond => Some(Self::Second),
            Variant::Iom => Some(Self::Smaller),
            // An area has no scale of its own; the others have no such bound, or none that is proved here.
            _ => None,
        }
    }

    #[inline(always)]
    fn side(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Larger => max(a, b),
            Self::First => a,
            Self::Second => b,
            Self::Smaller => min(a, b),
        }
    }
}

/// What a ratio of areas divides by, as its formula computes it.
#[inline(always)]
pub fn divisor<N: Number>(reference: Reference, a: &Measured<N>, b: &Measured<N>, inter: N) -> N {
    match reference {
        Reference::Larger => (a.area + b.area) - inter,
        Reference::First => a.area,
        Reference::Second => b.area,
        Reference::Smaller => min(a.area, b.area),
    }
}

/// A part such that no intersection below `part * divisor` has a quotient of at least `min`.
///
/// The division errs by less than one epsilon of `min`, and rounding the product cannot lift it above the intersection,
/// which is a number of the same type. A `min` of less than full precision has no such part but 0.
pub fn safe_part<F: Float>(min: F) -> F {
    let tiny = min.to_f64() < 4.0 * F::MIN_POSITIVE.to_f64();
    if tiny { F::ZERO } else { F::from_f64(min.to_f64() * (1.0 - 3.0 * F::EPSILON.to_f64())) }
}

/// What an intersection is compared with, to leave out most pairs without a division: the shares of both boxes together,
/// or the smaller one. A pair whose computed ratio reaches the threshold has an intersection of at least that.
///
/// For IoU, `i >= t * (a + b - i)` is `i >= s * a + s * b` with `s = t / (1 + t)`.
#[derive(Clone, Copy)]
pub struct Shares<F> {
    /// Of the area of the query, and of that of the other box.
    parts: [F; 2],
    /// Where the parts say nothing: together, the least number that is more than 0.
    least: [F; 2],
    smaller: bool,
}

impl<F: Float> Shares<F> {
    /// `exact` says that areas are exact to a few roundings.
    pub fn new(reference: Reference, threshold: F, exact: bool) -> Self {
        let threshold = threshold.to_f64();
        // Less than the threshold by more than all roundings. Where products of it and an area may be subnormal, rounding
        // knows no bound, and any intersection will do.
        let part = if exact && threshold > 1e-6 { threshold * (1.0 - 16.0 * F::EPSILON.to_f64()) } else { 0.0 };
        let parts = match reference {
            Reference::Larger => [part / (1.0 + part); 2],
            Reference::First => [part, 0.0],
            Reference::Second => [0.0, part],
            Reference::Smaller => [part; 2],
        };
        let least = if part > 0.0 { F::ZERO } else { F::MIN_POSITIVE * F::EPSILON };
        let smaller = reference == Reference::Smaller;
        let least = [least, if smaller { least } else { F::ZERO }];
        Self { parts: parts.map(F::from_f64), least, smaller }
    }

    /// Of a query.
    #[inline(always)]
    pub fn of_query(&self, area: F) -> F {
        self.parts[0] * area + self.least[0]
    }

    /// Of the other boxes.
    #[inline(always)]
    pub fn of_others<N: Number<Scalar = F>>(&self, area: N) -> N {
        N::splat(self.parts[1]) * area + N::splat(self.least[1])
    }

    /// Whether the smaller share counts, and not both.
    pub fn is_smaller(&self) -> bool {
        self.smaller
    }
}

/// More than the roundings of a few operations in `f64`, relative to their result.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// The numbers from `least` to `largest`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub least: f64,
    pub largest: f64,
}

impl Interval {
    pub const EMPTY: Self = Self { least: f64::INFINITY, largest: f64::NEG_INFINITY };

    /// One number, which is not NaN.
    #[inline(always)]
    pub fn only(value: f64) -> Self {
        Self { least: value, largest: value }
    }

    /// Makes it hold a number, which is not NaN.
    #[inline(always)]
    pub fn include(&mut self, value: f64) {
        self.least = min(self.least, value);
        self.largest = max(self.largest, value);
    }

    pub fn meets(self, other: Self) -> bool {
        self.least <= other.largest && other.least <= self.largest
    }

    #[inline(always)]
    pub fn common(self, other: Self) -> Self {
        Self { least: max(self.least, other.least), largest: min(self.largest, other.largest) }
    }
}

/// A lower bound of the overlap along either axis, as a part of a side.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    reference: Reference,
    part: f64,
    inverse: f64,
}

impl Bound {
    /// A pair whose computed value reaches `threshold` obeys it, if the areas are exact to a few roundings.
    ///
    /// A computed value is off by at most 8 epsilons: 3 half ones each in the intersection and the areas, 12 in the
    /// union, 1 in the division. Areas and intersections that underflow have another bound: [`Self::intersecting`].
    pub fn new<F: Float>(reference: Reference, threshold: F) -> Self {
        let part = (threshold.to_f64() - 32.0 * F::EPSILON.to_f64()).max(0.0);
        Self { reference, part, inverse: 1.0 / part }
    }

    /// Any pair with an intersection obeys it.
    pub fn intersecting(self) -> Self {
        Self { part: 0.0, inverse: f64::INFINITY, ..self }
    }

    /// Whether areas down to this one are exact to a few roundings, and so is an intersection that matters beside one.
    pub fn is_exact<F: Float>(area: f64) -> bool {
        area > F::MIN_POSITIVE.to_f64() * f64::from(1 << 30)
    }

    /// The sides a box may have along an axis beside queries with these.
    #[inline(always)]
    pub fn sides(&self, queries: Interval) -> Interval {
        let bounded_below = matches!(self.reference, Reference::Larger | Reference::First);
        let bounded_above = matches!(self.reference, Reference::Larger | Reference::Second);
        Interval {
            least: if bounded_below { queries.least * self.part * (1.0 - ROUNDING) } else { 0.0 },
            largest: if bounded_above { queries.largest * self.inverse * (1.0 + ROUNDING) } else { f64::INFINITY },
        }
    }

    /// Where the low corner of a box with one of `sides` may lie, beside queries whose low corners and sides are within
    /// these; `None` if none of these sides will do.
    #[inline(always)]
    pub fn corners(&self, corners: Interval, queries: Interval, sides: Interval) -> Option<Interval> {
        let sides = sides.common(self.sides(queries));
        if sides.least > sides.largest {
            return None;
        }
        // The box begins before the query: the overlap is at most what is left of the box. Or behind: of the query. The
        // first is most for a box with the largest side, which the query with the largest side admits; the second for
        // the query with the largest side.
        let before = sides.largest - self.part * self.reference.side(queries.least, sides.largest);
        let behind = queries.largest - self.part * self.reference.side(queries.largest, sides.least);
        Some(Interval {
            least: (corners.least - (before + ROUNDING * sides.largest)).next_down(),
            largest: (corners.largest + (behind + ROUNDING * queries.largest)).next_up(),
        })
    }
}
