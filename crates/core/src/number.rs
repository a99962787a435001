//! What formulas compute with: one number, or a vector of numbers.
//!
//! A formula is written once, over [`Number`]. Compiled with `f32` or `f64` it computes one value, with the vectors of
//! [`crate::simd`] it computes as many values as a vector has lanes. Every operation is one that IEEE 754 rounds
//! exactly, so a lane has the bits of the single value.

use std::ops::{Add, BitAnd, Div, Mul, Sub};

use crate::float::Float;

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
