//! Vectors in plain Rust, which the compiler turns into those of the machine.

use std::array::from_fn;
use std::ops::{Add, BitAnd, Div, Mul, Sub};

use super::{InstructionSet, Mask, Vector};
use crate::number::{Float, Number};

/// Vectors of 16 bytes.
pub struct Portable;

impl InstructionSet for Portable {
    type F32 = Lanes<f32, 4>;
    type F64 = Lanes<f64, 2>;
    #[inline(always)]
    fn fence() {}
}

/// A vector as an array.
#[derive(Clone, Copy)]
pub struct Lanes<F, const L: usize>([F; L]);

/// A truth value per lane.
#[derive(Clone, Copy)]
pub struct Truths<const L: usize>([bool; L]);

impl<const L: usize> BitAnd for Truths<L> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(from_fn(|k| self.0[k] & other.0[k]))
    }
}

impl<const L: usize> Mask for Truths<L> {
    #[inline(always)]
    fn bits(self) -> u32 {
        bits(self.0)
    }
}

#[inline(always)]
fn bits<const L: usize>(truths: [bool; L]) -> u32 {
    truths.iter().enumerate().fold(0, |bits, (k, &truth)| bits | u32::from(truth) << k)
}

impl<F: Float, const L: usize> Lanes<F, L> {
    #[inline(always)]
    fn with(self, other: Self, function: impl Fn(F, F) -> F) -> Self {
        Self(from_fn(|k| function(self.0[k], other.0[k])))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl<F: Float, const L: usize> $trait for Lanes<F, L> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.with(other, F::$method)
            }
        }
    };
}
operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl<F: Float, const L: usize> Number for Lanes<F, L> {
    type Scalar = F;
    type Mask = Truths<L>;

    #[inline(always)]
    fn splat(value: F) -> Self {
        Self([value; L])
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.with(other, F::min)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.with(other, F::max)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.map(F::abs))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(F::sqrt))
    }
    #[inline(always)]
    fn above(self, other: Self) -> Truths<L> {
        Truths(from_fn(|k| self.0[k] > other.0[k]))
    }
    #[inline(always)]
    fn at_least(self, other: Self) -> Truths<L> {
        Truths(from_fn(|k| self.0[k] >= other.0[k]))
    }
    #[inline(always)]
    fn select(mask: Truths<L>, yes: Self, no: Self) -> Self {
        Self(from_fn(|k| if mask.0[k] { yes.0[k] } else { no.0[k] }))
    }
    #[inline(always)]
    fn power_of_half(self) -> Self {
        Self(self.0.map(F::power_of_half))
    }
    #[inline(always)]
    fn zip(self, other: Self, function: fn(F, F) -> F) -> Self {
        self.with(other, function)
    }
}

impl<F: Float, const L: usize> Vector for Lanes<F, L> {
    const LANES: usize = L;

    #[inline(always)]
    unsafe fn load_from(from: *const F) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { from.cast::<[F; L]>().read() })
    }
    #[inline(always)]
    unsafe fn store_to(self, to: *mut F) {
        // SAFETY: the caller's promise.
        unsafe { to.cast::<[F; L]>().write(self.0) }
    }
    /// Stable Rust has no such write but for x86.
    #[inline(always)]
    unsafe fn stream_to(self, to: *mut F) {
        // SAFETY: the caller's promise.
        unsafe { self.store_to(to) }
    }
    #[inline(always)]
    fn columns(rows: &[[F; 4]]) -> [Self; 4] {
        let rows: &[[F; 4]; L] = rows.first_chunk().expect("enough boxes");
        from_fn(|column| Self(rows.map(|row| row[column])))
    }
    #[inline(always)]
    fn rows(columns: [Self; 4], to: &mut [[F; 4]]) {
        let to: &mut [[F; 4]; L] = to.first_chunk_mut().expect("enough room");
        *to = from_fn(|k| columns.map(|column| column.0[k]));
    }
    #[inline(always)]
    fn in_order(self) -> Self {
        self
    }
    #[inline(always)]
    fn below(ranks: &[u32], limit: u32) -> u32 {
        let ranks: &[u32; L] = ranks.first_chunk().expect("enough numbers");
        bits(ranks.map(|rank| rank < limit))
    }
}
