//! What formulas compute with: one number, or a vector of numbers.
//!
//! A formula is written once, over [`Number`]. Compiled with `f32` or `f64` it computes one value, with the vectors of
//! [`crate::simd`] it computes as many values as a vector has lanes. Every operation is one that IEEE 754 rounds
//! exactly, so a lane has the bits of the single value.
//!
//! The traits stand in one file because each is told by the others: a number has lanes of a [`Float`], a float has the
//! vectors of an [`InstructionSet`], and these are numbers. Which instructions a vector takes is in [`crate::simd`].

use std::ops::{Add, BitAnd, Div, Mul, Sub};

use crate::memory::Zero;

/// A number, or a vector of them: the operations work on each lane by itself.
pub trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    /// The type of a lane.
    type Scalar: Float;
    /// A truth value per lane.
    type Mask: Copy + BitAnd<Output = Self::Mask>;

    /// The same number in every lane.
    fn splat(value: Self::Scalar) -> Self;
    /// `if self < other { self } else { other }`. Other definitions of the minimum treat NaN in a way that costs two
    /// more instructions.
    fn min(self, other: Self) -> Self;
    /// `if self > other { self } else { other }`.
    fn max(self, other: Self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// The square root, rounded to nearest.
    fn sqrt(self) -> Self;
    /// Whether it is larger; false for NaN.
    fn above(self, other: Self) -> Self::Mask;
    /// Whether it is at least as large; false for NaN.
    fn at_least(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is true, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// 2 to the power of minus an integer `n`, of which this is `1.5 / EPSILON + n`: the last bits of such a number are
    /// those of `n`.
    fn power_of_half(self) -> Self;
    /// Applies a function of two numbers to each lane. It is for what has no vectors.
    fn zip(self, other: Self, function: fn(Self::Scalar, Self::Scalar) -> Self::Scalar) -> Self;

    /// The nearest number to a double, in every lane.
    #[inline(always)]
    fn from_double(value: f64) -> Self {
        Self::splat(Self::Scalar::from_f64(value))
    }

    /// 0.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(Self::Scalar::ZERO)
    }

    /// 1.
    #[inline(always)]
    fn one() -> Self {
        Self::splat(Self::Scalar::ONE)
    }

    /// 1/2.
    #[inline(always)]
    fn half() -> Self {
        Self::splat(Self::Scalar::HALF)
    }

    /// 1/4.
    #[inline(always)]
    fn quarter() -> Self {
        Self::splat(Self::Scalar::QUARTER)
    }

    /// 0 - this. The sign of a zero is positive.
    #[inline(always)]
    fn negated(self) -> Self {
        Self::zero() - self
    }

    /// Whether it is above 0.
    #[inline(always)]
    fn is_positive(self) -> Self::Mask {
        self.above(Self::zero())
    }

    /// Whether it is below 0.
    #[inline(always)]
    fn is_negative(self) -> Self::Mask {
        Self::zero().above(self)
    }

    /// The angle of the point (`x`, `self`), by an algorithm whose bits do not depend on the platform.
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        self.zip(x, Self::Scalar::ATAN2)
    }

    /// This to a power; the same bits on every platform.
    #[inline(always)]
    fn pow(self, power: Self) -> Self {
        self.zip(power, Self::Scalar::POW)
    }

    /// e to the power of minus this, which is not negative, to two units in the last place; 0 where that is subnormal.
    ///
    /// Our own, since it runs once per pair: it consists of basic operations and has no branch. SIoU takes 20 times as
    /// long with libm's.
    #[inline(always)]
    fn decay(self) -> Self {
        let splat = Self::from_double;
        let largest = Self::splat(Self::Scalar::LARGEST_DECAY);
        // Adding it leaves no room for a fraction: the last bits are those of the nearest integer.
        let round = splat(1.5) / Self::splat(Self::Scalar::EPSILON);
        let x = self.min(largest);
        let rounded = x * splat(std::f64::consts::LOG2_E) + round;
        let halvings = rounded - round;
        // ln 2 in two parts, the first with so few digits that the product is exact.
        let (most, least) = Self::Scalar::LN_2;
        let rest = (halvings * Self::splat(most) - x) + halvings * Self::splat(least);
        let product = polynomial(Self::Scalar::EXPONENTIAL, rest) * rounded.power_of_half();
        Self::select(self.above(largest), Self::zero(), product)
    }

    /// The angle of the point (`x`, `self`), neither of which is negative, to two units in the last place; 0 at the origin.
    ///
    /// Our own for what runs once per pair, as [`Number::decay`] is.
    #[inline(always)]
    fn acute(self, x: Self) -> Self {
        let splat = Self::from_double;
        let (small, large) = (self.min(x), x.max(self));
        // Beyond tan(pi/8), the angle is an eighth of a turn less that of what is left.
        let folded = small.above(large * splat(0.414_213_562_373_095_05));
        let part = Self::select(folded, small - large, small);
        let whole = Self::select(folded, small + large, large);
        let t = part / Self::select(whole.is_positive(), whole, Self::one());
        let z = t * t;
        let arc = t + t * (z * polynomial(Self::Scalar::ARCTANGENT, z));
        let angle = Self::select(folded, splat(std::f64::consts::FRAC_PI_4), Self::zero()) + arc;
        Self::select(self.above(x), splat(std::f64::consts::FRAC_PI_2) - angle, angle)
    }
}

/// `f32` or `f64`: what the formulas need to know of a type, and how large a coordinate may be.
pub trait Float: Number<Scalar = Self, Mask = bool> + PartialOrd + Zero + Send + Sync + 'static {
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

/// The vectors of an instruction set.
pub trait InstructionSet {
    /// Of `f32`.
    type F32: Vector<Scalar = f32>;
    /// Of `f64`.
    type F64: Vector<Scalar = f64>;
    /// Orders the writes of [`Vector::stream`] before all that follow, on this thread and those it synchronises with.
    fn fence();
}

/// A vector of numbers.
pub trait Vector: Number<Mask: Mask> {
    /// How many numbers, at most [`crate::simd::MAX_LANES`].
    const LANES: usize;

    /// The numbers from a place on.
    ///
    /// # Safety
    ///
    /// There must be [`Self::LANES`] of them.
    unsafe fn load_from(from: *const Self::Scalar) -> Self;

    /// Writes to a place.
    ///
    /// # Safety
    ///
    /// There must be room for [`Self::LANES`] numbers.
    unsafe fn store_to(self, to: *mut Self::Scalar);

    /// The same past the cache, without reading the line first: half the time of a 10,000 x 10,000 result. A place that
    /// is not aligned to the whole vector is written as [`Self::store_to`] does.
    ///
    /// # Safety
    ///
    /// There must be room for [`Self::LANES`] numbers.
    unsafe fn stream_to(self, to: *mut Self::Scalar);

    /// The first numbers of a slice.
    ///
    /// # Panics
    ///
    /// If there are not enough.
    #[inline(always)]
    fn load(from: &[Self::Scalar]) -> Self {
        assert!(from.len() >= Self::LANES, "enough numbers");
        // SAFETY: there are.
        unsafe { Self::load_from(from.as_ptr()) }
    }

    /// Writes to the front of a slice.
    ///
    /// # Panics
    ///
    /// If it is too short.
    #[inline(always)]
    fn store(self, to: &mut [Self::Scalar]) {
        assert!(to.len() >= Self::LANES, "enough room");
        // SAFETY: there is.
        unsafe { self.store_to(to.as_mut_ptr()) }
    }

    /// The first boxes of a slice as vectors of x1, of y1, of x2 and of y2. The boxes are in an order of their own, which
    /// [`Self::in_order`] undoes.
    ///
    /// # Panics
    ///
    /// If there are not enough.
    fn columns(rows: &[[Self::Scalar; 4]]) -> [Self; 4];

    /// Writes what stands in the order of [`Self::columns`] to the front of a slice, box by box.
    ///
    /// # Panics
    ///
    /// If it is too short.
    fn rows(columns: [Self; 4], to: &mut [[Self::Scalar; 4]]);

    /// Puts one number per box from the order of [`Self::columns`] into that of the boxes.
    fn in_order(self) -> Self;

    /// Which of the first numbers of a slice are below a limit, as bits, the first lane lowest. All are below 2^31.
    ///
    /// # Panics
    ///
    /// If there are not enough.
    fn below(ranks: &[u32], limit: u32) -> u32;
}

/// A truth value per lane.
pub trait Mask: Copy {
    /// As bits, the first lane lowest.
    fn bits(self) -> u32;
}

/// The value of a polynomial, whose coefficients begin with that of the highest power.
#[inline(always)]
fn polynomial<N: Number>(coefficients: &'static [N::Scalar], x: N) -> N {
    let mut sum = N::splat(coefficients[0]);
    for &coefficient in &coefficients[1..] {
        sum = sum * x + N::splat(coefficient);
    }
    sum
}

/// See [`Number::min`].
#[inline(always)]
pub fn min<N: Number>(a: N, b: N) -> N {
    a.min(b)
}

/// See [`Number::max`].
#[inline(always)]
pub fn max<N: Number>(a: N, b: N) -> N {
    a.max(b)
}

macro_rules! single_number {
    ($type:ty) => {
        impl Number for $type {
            type Scalar = $type;
            type Mask = bool;

            #[inline(always)]
            fn splat(value: $type) -> Self {
                value
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$type>::abs(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$type>::sqrt(self)
            }
            #[inline(always)]
            fn above(self, other: Self) -> bool {
                self > other
            }
            #[inline(always)]
            fn at_least(self, other: Self) -> bool {
                self >= other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn power_of_half(self) -> Self {
                let exponent = self.to_bits() << (<$type>::MANTISSA_DIGITS - 1);
                <$type>::from_bits((1.0 as $type).to_bits().wrapping_sub(exponent))
            }
            #[inline(always)]
            fn zip(self, other: Self, function: fn($type, $type) -> $type) -> Self {
                function(self, other)
            }
        }
    };
}
single_number!(f32);
single_number!(f64);

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
