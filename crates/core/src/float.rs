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
    /// 1/2.
    const HALF: Self;
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
    /// The angle of the point (`x`, `self`), neither of which is negative, to two units in the last place; 0 at the origin.
    ///
    /// Our own for what runs once per pair: it has no branch and makes vectors, as [`Float::decay`] does.
    fn acute(self, x: Self) -> Self;
    /// The square root, rounded to nearest.
    fn sqrt(self) -> Self;
    /// e to the power of minus this, which is not negative, to two units in the last place; 0 where that is subnormal.
    ///
    /// Our own, since it runs once per pair: without a branch and from basic operations alone, the compiler makes vectors
    /// of it, and its bits are the same everywhere. SIoU takes 20 times as long with libm's.
    fn decay(self) -> Self;
    /// This to a power; the same bits on every platform.
    fn pow(self, power: Self) -> Self;
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
    ($type:ty, $max_coordinate:expr, $max_direct:expr, $atan2:path, $pow:path, $largest:expr, $ln_2:expr, $taylor:expr, $arctangent:expr) => {
        impl Float for $type {
            const ZERO: Self = 0.0;
            const QUARTER: Self = 0.25;
            const HALF: Self = 0.5;
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
            fn acute(self, x: Self) -> Self {
                // tan(pi/8): beyond, the angle is an eighth of a turn less that of what is left.
                const HALFWAY: $type = 0.414_213_562_373_095_05_f64 as $type;
                let (small, large) = (min(self, x), max(x, self));
                let folded = small > large * HALFWAY;
                let part = if folded { small - large } else { small };
                let whole = if folded { small + large } else { large };
                let t = part / if whole > 0.0 { whole } else { 1.0 };
                let z = t * t;
                let mut sum = $arctangent[0];
                for coefficient in &$arctangent[1..] {
                    sum = sum * z + coefficient;
                }
                let arc = t + t * (z * sum);
                let base = if folded { std::f64::consts::FRAC_PI_4 as $type } else { 0.0 };
                let angle = base + arc;
                if self > x { std::f64::consts::FRAC_PI_2 as $type - angle } else { angle }
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$type>::sqrt(self)
            }
            #[inline(always)]
            fn decay(self) -> Self {
                const LOG2_E: $type = std::f64::consts::LOG2_E as $type;
                // Adding it leaves no room for a fraction: the last bits are those of the nearest integer.
                const ROUND: $type = 1.5 / <$type>::EPSILON;
                let x = min(self, $largest);
                let rounded = x * LOG2_E + ROUND;
                let halvings = rounded - ROUND;
                // ln 2 in two parts, the first with so few digits that the product is exact.
                let rest = (halvings * $ln_2.0 - x) + halvings * $ln_2.1;
                let mut sum = $taylor[0];
                for coefficient in &$taylor[1..] {
                    sum = sum * rest + coefficient;
                }
                let exponent = rounded.to_bits() << (<$type>::MANTISSA_DIGITS - 1);
                let power = <$type>::from_bits((1.0 as $type).to_bits().wrapping_sub(exponent));
                if self > $largest { 0.0 } else { sum * power }
            }
            #[inline]
            fn pow(self, power: Self) -> Self {
                $pow(self, power)
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

// 1/n! from the last that counts where |x| <= ln(2) / 2.
const TAYLOR_F64: [f64; 14] = {
    let mut coefficients = [1.0; 14];
    let mut n = 13;
    while n > 0 {
        coefficients[n - 1] = coefficients[n] / (14 - n) as f64;
        n -= 1;
    }
    coefficients
};
const TAYLOR_F32: [f32; 8] = {
    let mut coefficients = [1.0; 8];
    let mut n = 0;
    while n < 8 {
        coefficients[n] = TAYLOR_F64[6 + n] as f32;
        n += 1;
    }
    coefficients
};

// (atan(t) / t - 1) / t^2 as a polynomial in t^2 up to tan(pi/8)^2, by Chebyshev's nodes: errors of 3e-9 and 5e-18.
const ARCTANGENT_F32: [f32; 5] = [-0.064_519_28, 0.107_437_32, -0.142_639_56, 0.199_995_4, -0.333_333_3];
const ARCTANGENT_F64: [f64; 11] = [
    -0.019_176_887_119_062_26,
    0.039_231_658_295_587_19,
    -0.050_854_497_379_402_6,
    0.058_581_489_128_022_1,
    -0.066_645_114_473_819_48,
    0.076_921_831_908_260_87,
    -0.090_909_045_781_239_02,
    0.111_111_110_152_563_62,
    -0.142_857_142_846_665_43,
    0.199_999_999_999_955_2,
    -0.333_333_333_333_333_3,
];

// The largest intermediate value is NWD's: two squared sums of corner differences and two squared differences of sides,
// with |corner| <= X at most 4 * (4 X)^2 = 2^6 X^2; and a corner is at most twice a coordinate (x + w).
float!(
    f32,
    f32::from_bits((127 + 126) << 23),
    f32::from_bits((127 + 60) << 23),
    libm::atan2f,
    libm::powf,
    87.0,
    (355.0 / 512.0, -2.121_944_4e-4),
    &TAYLOR_F32,
    &ARCTANGENT_F32
);
float!(
    f64,
    f64::from_bits((1023 + 500) << 52),
    f64::from_bits((1023 + 501) << 52),
    libm::atan2,
    libm::pow,
    708.0,
    (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10),
    &TAYLOR_F64,
    &ARCTANGENT_F64
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acute_is_the_angle_of_a_quadrant() {
        for k in 0..200_000 {
            let (y, x) = (f64::from(k % 1000) / 7.0, f64::from(k / 100) * f64::from(k % 7) / 3.0);
            let exact = libm::atan2(y, x);
            assert!((y.acute(x) - exact).abs() <= 2.0 * f64::EPSILON * exact, "{y} {x}");
            let (y, x) = (y as f32, x as f32);
            let exact = libm::atan2(f64::from(y), f64::from(x));
            assert!((f64::from(y.acute(x)) - exact).abs() <= f64::from(2.0 * f32::EPSILON) * exact, "{y} {x}");
        }
        assert_eq!(0.0_f64.acute(0.0).to_bits(), 0);
        assert_eq!((1e300.acute(1e-300), 1e-300.acute(1e300)), (std::f64::consts::FRAC_PI_2, 0.0));
    }

    #[test]
    fn decay_is_the_exponential() {
        assert_eq!(0.0_f32.decay().to_bits(), 1.0_f32.to_bits());
        assert_eq!(0.0_f64.decay().to_bits(), 1.0_f64.to_bits());
        for k in 0..2_000_000 {
            let x = 87.0 * f64::from(k) / 2e6;
            let exact = libm::exp(-x);
            assert!((x.decay() - exact).abs() <= 2.0 * f64::EPSILON * exact && x.decay() <= 1.0, "{x}");
            let x = x as f32;
            let exact = libm::exp(-f64::from(x));
            assert!(
                (f64::from(x.decay()) - exact).abs() <= f64::from(2.0 * f32::EPSILON) * exact && x.decay() <= 1.0,
                "{x}"
            );
        }
        for x in [1e-300, 1e-17, 1e-16, 0.3466, 700.0, 707.99, 708.0] {
            assert!((x.decay() - libm::exp(-x)).abs() <= 2.0 * f64::EPSILON * libm::exp(-x), "{x}");
        }
        assert_eq!([709.0_f64.decay(), f64::INFINITY.decay(), f64::MAX.decay()], [0.0; 3]);
        assert_eq!([88.0_f32.decay(), f32::INFINITY.decay(), f32::MAX.decay()], [0.0; 3]);
    }
}
