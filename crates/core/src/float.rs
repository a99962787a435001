//! The two number types of a coordinate.

use crate::number::Number;
use crate::simd::{InstructionSet, Vector};

/// `f32` or `f64`: what the formulas need to know of a type, and how large a coordinate may be.
pub trait Float: Number<Scalar = Self, Mask = bool> + PartialOrd + Send + Sync + 'static {
    /// Vectors of these numbers.
    type Vector<I: InstructionSet>: Vector<Scalar = Self>;

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
    /// Up to this magnitude of corners no formula overflows. Pairs beyond it are computed in `f64`.
    const MAX_DIRECT: Self;
    /// libm's `atan2`.
    const ATAN2: fn(Self, Self) -> Self;
    /// libm's `pow`.
    const POW: fn(Self, Self) -> Self;
    /// [`Number::decay`] of a larger number is 0.
    const LARGEST_DECAY: Self;
    /// The natural logarithm of 2 in two parts.
    const LN_2: (Self, Self);
    /// The polynomial of [`Number::decay`].
    const EXPONENTIAL: &'static [Self];
    /// The polynomial of [`Number::acute`].
    const ARCTANGENT: &'static [Self];

    /// Exact.
    fn to_f64(self) -> f64;
    /// Rounds to nearest.
    fn from_f64(value: f64) -> Self;
}

macro_rules! float {
    (
        $type:ident, $vector:ident, max_coordinate: $max_coordinate:expr, max_direct: $max_direct:expr,
        atan2: $atan2:path, pow: $pow:path, decay: $largest:expr, $ln_2:expr, $exponential:expr, acute: $arctangent:expr
    ) => {
        impl Float for $type {
            type Vector<I: InstructionSet> = I::$vector;

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
            const ATAN2: fn(Self, Self) -> Self = $atan2;
            const POW: fn(Self, Self) -> Self = $pow;
            const LARGEST_DECAY: Self = $largest;
            const LN_2: (Self, Self) = $ln_2;
            const EXPONENTIAL: &'static [Self] = &$exponential;
            const ARCTANGENT: &'static [Self] = &$arctangent;

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
    f32, F32,
    max_coordinate: f32::from_bits((127 + 126) << 23),
    max_direct: f32::from_bits((127 + 60) << 23),
    atan2: libm::atan2f,
    pow: libm::powf,
    decay: 87.0, (355.0 / 512.0, -2.121_944_4e-4), TAYLOR_F32,
    acute: ARCTANGENT_F32
);
float!(
    f64, F64,
    max_coordinate: f64::from_bits((1023 + 500) << 52),
    max_direct: f64::from_bits((1023 + 501) << 52),
    atan2: libm::atan2,
    pow: libm::pow,
    decay: 708.0, (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10), TAYLOR_F64,
    acute: ARCTANGENT_F64
);
