//! The two number types of a coordinate.

use std::ops::{Add, Div, Mul, Sub};

/// `f32` or `f64`: what the formulas need of a number, and how large a coordinate may be.
pub trait Float:
    Copy
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1/4.
    const QUARTER: Self;
    /// 1.
    const ONE: Self;
    /// The distance from 1 to the next larger number.
    const EPSILON: Self;
    /// The least number of full precision.
    const MIN_POSITIVE: Self;
    /// 4/pi^2, the factor of CIoU's aspect term.
    const FOUR_OVER_PI_SQUARED: Self;
    /// The largest magnitude a coordinate or side may have, in any format: conversions of such boxes stay finite.
    const MAX_COORDINATE: Self;
    /// Up to this magnitude of corners no formula overflows; pairs beyond it are computed in `f64`.
    const MAX_DIRECT: Self;

    /// The absolute value.
    fn abs(self) -> Self;
    /// The angle of the point (`x`, `self`), by an algorithm whose bits do not depend on the platform.
    fn atan2(self, x: Self) -> Self;
    /// Exact.
    fn to_f64(self) -> f64;
    /// Rounds to nearest.
    fn from_f64(value: f64) -> Self;
}

/// Written out, because `f32::min` treats NaN in a way that costs two more instructions per vector.
#[inline(always)]
pub fn min<F: Float>(a: F, b: F) -> F {
    if a < b { a } else { b }
}

/// See [`min`].
#[inline(always)]
pub fn max<F: Float>(a: F, b: F) -> F {
    if a > b { a } else { b }
}

macro_rules! float {
    ($type:ty, $max_coordinate:expr, $max_direct:expr, $atan2:path) => {
        impl Float for $type {
            const ZERO: Self = 0.0;
            const QUARTER: Self = 0.25;
            const ONE: Self = 1.0;
            const EPSILON: Self = <$type>::EPSILON;
            const MIN_POSITIVE: Self = <$type>::MIN_POSITIVE;
            // Rounded once, from the double.
            #[allow(clippy::cast_possible_truncation)]
            const FOUR_OVER_PI_SQUARED: Self = 0.405_284_734_569_351_1_f64 as Self;
            const MAX_COORDINATE: Self = $max_coordinate;
            const MAX_DIRECT: Self = $max_direct;

            #[inline(always)]
            fn abs(self) -> Self {
                <$type>::abs(self)
            }
            #[inline]
            fn atan2(self, x: Self) -> Self {
                $atan2(self, x)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
        }
    };
}

// The largest intermediate value is the squared distance of two sums of corner differences: with |corner| <= X it is at
// most 2 * (4 X)^2 = 2^5 X^2, and a corner is at most twice a coordinate (x + w).
float!(f32, f32::from_bits((127 + 126) << 23), f32::from_bits((127 + 60) << 23), libm::atan2f);
float!(f64, f64::from_bits((1023 + 500) << 52), f64::from_bits((1023 + 501) << 52), libm::atan2);
