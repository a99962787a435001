//! The vectors of x86-64. Only [`super::run`] names these instruction sets, once it knows that the machine has them.
//!
//! Each operation is one instruction that IEEE 754 rounds exactly, or several whose result does not depend on the width.
//! None contracts a product and a sum. `columns` has what moves numbers between lanes.

use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, Div, Mul, Sub};

use self::columns::*;
use super::{InstructionSet, Kernel, Mask, Vector};
use crate::number::Number;

/// What every x86-64 machine has.
pub struct Sse2;
/// AVX2.
pub struct Avx2;
/// AVX-512F.
pub struct Avx512;

/// Runs a kernel compiled with AVX2.
#[target_feature(enable = "avx2")]
pub fn run_avx2<K: Kernel>(kernel: K) {
    kernel.run::<Avx2>();
}

/// Runs a kernel compiled with AVX-512F.
#[target_feature(enable = "avx512f")]
pub fn run_avx512<K: Kernel>(kernel: K) {
    kernel.run::<Avx512>();
}

/// Calls an intrinsic.
macro_rules! call {
    ($intrinsic:path, $($argument:expr),*) => {
        // SAFETY: the machine has the instruction set, as the module promises.
        unsafe { $intrinsic($($argument),*) }
    };
}

mod columns; // behind `call`, which it uses

macro_rules! instruction_set {
    ($set:ident, $single:ident, $double:ident) => {
        impl InstructionSet for $set {
            type F32 = $single;
            type F64 = $double;
            #[inline(always)]
            fn fence() {
                // SAFETY: every x86-64 machine has SSE.
                unsafe { _mm_sfence() }
            }
        }
    };
}
instruction_set!(Sse2, F32x4, F64x2);
instruction_set!(Avx2, F32x8, F64x4);
instruction_set!(Avx512, F32x16, F64x8);

macro_rules! operator {
    ($vector:ident, $trait:ident, $method:ident, $intrinsic:path) => {
        impl $trait for $vector {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(call!($intrinsic, self.0, other.0))
            }
        }
    };
}

/// A vector of `$lanes` numbers, from intrinsics that have a name of their own for each width.
macro_rules! vector {
    (
        $vector:ident: [$scalar:ident; $lanes:literal] in $register:ident, masks: $mask:ident;
        operators: $add:path, $sub:path, $mul:path, $div:path;
        functions: $splat:path, $min:path, $max:path, $sqrt:path, $abs:path;
        comparisons: $above:path, $at_least:path, $select:path;
        memory: $load:path, $store:path, $stream:path;
        boxes: $columns:path, $rows:path, $in_order:path;
        integers: $to_integers:path, $from_integers:path, $shift:path, $subtract:path, $below:path;
    ) => {
        #[derive(Clone, Copy)]
        pub struct $vector($register);

        operator!($vector, Add, add, $add);
        operator!($vector, Sub, sub, $sub);
        operator!($vector, Mul, mul, $mul);
        operator!($vector, Div, div, $div);

        impl Number for $vector {
            type Scalar = $scalar;
            type Mask = $mask;

            #[inline(always)]
            fn splat(value: $scalar) -> Self {
                Self(call!($splat, value))
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Self(call!($min, self.0, other.0))
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Self(call!($max, self.0, other.0))
            }
            #[inline(always)]
            fn abs(self) -> Self {
                Self(call!($abs, self.0))
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self(call!($sqrt, self.0))
            }
            #[inline(always)]
            fn above(self, other: Self) -> $mask {
                $mask(call!($above, self.0, other.0))
            }
            #[inline(always)]
            fn at_least(self, other: Self) -> $mask {
                $mask(call!($at_least, self.0, other.0))
            }
            #[inline(always)]
            fn select(mask: $mask, yes: Self, no: Self) -> Self {
                Self(call!($select, mask.0, yes.0, no.0))
            }
            #[inline(always)]
            fn power_of_half(self) -> Self {
                let (one, bits) = (call!($to_integers, Self::one().0), call!($to_integers, self.0));
                let exponent = call!($shift, bits);
                let power = call!($subtract, one, exponent);
                Self(call!($from_integers, power))
            }
            #[inline(always)]
            fn zip(self, other: Self, function: fn($scalar, $scalar) -> $scalar) -> Self {
                let (mut ones, mut others) = ([0.0; $lanes], [0.0; $lanes]);
                self.store(&mut ones);
                other.store(&mut others);
                for (one, other) in ones.iter_mut().zip(others) {
                    *one = function(*one, other);
                }
                Self::load(&ones)
            }
        }

        impl Vector for $vector {
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load_from(from: *const $scalar) -> Self {
                Self(call!($load, from.cast()))
            }
            #[inline(always)]
            unsafe fn store_to(self, to: *mut $scalar) {
                call!($store, to.cast(), self.0);
            }
            #[inline(always)]
            unsafe fn stream_to(self, to: *mut $scalar) {
                if to.addr().is_multiple_of(size_of::<$register>()) {
                    call!($stream, to.cast(), self.0);
                } else {
                    call!($store, to.cast(), self.0);
                }
            }
            #[inline(always)]
            fn columns(rows: &[[$scalar; 4]]) -> [Self; 4] {
                let rows: &[[$scalar; 4]; $lanes] = rows.first_chunk().expect("enough boxes");
                let [x1, y1, x2, y2] = call!($columns, rows.as_ptr().cast());
                [Self(x1), Self(y1), Self(x2), Self(y2)]
            }
            #[inline(always)]
            fn rows([x1, y1, x2, y2]: [Self; 4], to: &mut [[$scalar; 4]]) {
                let to: &mut [[$scalar; 4]; $lanes] = to.first_chunk_mut().expect("enough room");
                call!($rows, [x1.0, y1.0, x2.0, y2.0], to.as_mut_ptr().cast());
            }
            #[inline(always)]
            fn in_order(self) -> Self {
                Self($in_order(self.0))
            }
            #[inline(always)]
            fn below(ranks: &[u32], limit: u32) -> u32 {
                let ranks: &[u32; $lanes] = ranks.first_chunk().expect("enough numbers");
                call!($below, ranks.as_ptr(), limit.cast_signed())
            }
        }
    };
}

/// A mask whose lanes are all ones or all zeros, in a register of the vector's kind, and the functions of such vectors
/// that are made of other intrinsics.
macro_rules! wide {
    (
        $mask:ident in $register:ident: $and:path, $bits:path; $abs:ident: $andnot:path, $splat:path;
    ) => {
        #[derive(Clone, Copy)]
        pub struct $mask($register);

        impl BitAnd for $mask {
            type Output = Self;
            #[inline(always)]
            fn bitand(self, other: Self) -> Self {
                Self(call!($and, self.0, other.0))
            }
        }

        impl Mask for $mask {
            #[inline(always)]
            fn bits(self) -> u32 {
                call!($bits, self.0).cast_unsigned()
            }
        }

        #[inline(always)]
        unsafe fn $abs(x: $register) -> $register {
            let sign = call!($splat, -0.0);
            call!($andnot, sign, x)
        }
    };
}
wide!(Mask32x4 in __m128: _mm_and_ps, _mm_movemask_ps; abs32x4: _mm_andnot_ps, _mm_set1_ps;);
wide!(Mask64x2 in __m128d: _mm_and_pd, _mm_movemask_pd; abs64x2: _mm_andnot_pd, _mm_set1_pd;);
wide!(Mask32x8 in __m256: _mm256_and_ps, _mm256_movemask_ps; abs32x8: _mm256_andnot_ps, _mm256_set1_ps;);
wide!(Mask64x4 in __m256d: _mm256_and_pd, _mm256_movemask_pd; abs64x4: _mm256_andnot_pd, _mm256_set1_pd;);

/// A mask of one bit per lane.
macro_rules! narrow {
    ($mask:ident in $register:ident) => {
        #[derive(Clone, Copy)]
        pub struct $mask($register);

        impl BitAnd for $mask {
            type Output = Self;
            #[inline(always)]
            fn bitand(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }
        }

        impl Mask for $mask {
            #[inline(always)]
            fn bits(self) -> u32 {
                self.0.into()
            }
        }
    };
}
narrow!(Mask32x16 in __mmask16);
narrow!(Mask64x8 in __mmask8);

// SSE2 has no instruction that selects. The others take the mask last or first, and `no` before `yes`.
#[inline(always)]
unsafe fn select32x4(mask: __m128, yes: __m128, no: __m128) -> __m128 {
    let (yes, no) = (call!(_mm_and_ps, mask, yes), call!(_mm_andnot_ps, mask, no));
    call!(_mm_or_ps, yes, no)
}
#[inline(always)]
unsafe fn select64x2(mask: __m128d, yes: __m128d, no: __m128d) -> __m128d {
    let (yes, no) = (call!(_mm_and_pd, mask, yes), call!(_mm_andnot_pd, mask, no));
    call!(_mm_or_pd, yes, no)
}
#[inline(always)]
unsafe fn select32x8(mask: __m256, yes: __m256, no: __m256) -> __m256 {
    call!(_mm256_blendv_ps, no, yes, mask)
}
#[inline(always)]
unsafe fn select64x4(mask: __m256d, yes: __m256d, no: __m256d) -> __m256d {
    call!(_mm256_blendv_pd, no, yes, mask)
}
#[inline(always)]
unsafe fn select32x16(mask: __mmask16, yes: __m512, no: __m512) -> __m512 {
    call!(_mm512_mask_blend_ps, mask, no, yes)
}
#[inline(always)]
unsafe fn select64x8(mask: __mmask8, yes: __m512d, no: __m512d) -> __m512d {
    call!(_mm512_mask_blend_pd, mask, no, yes)
}

// Ranks are compared as signed numbers: they are below 2^31.
#[inline(always)]
unsafe fn below2(ranks: *const u32, limit: i32) -> u32 {
    let (ranks, limit) = (call!(_mm_loadl_epi64, ranks.cast()), call!(_mm_set1_epi32, limit));
    bits4(call!(_mm_cmplt_epi32, ranks, limit)) & 0b11
}
#[inline(always)]
unsafe fn below4(ranks: *const u32, limit: i32) -> u32 {
    let (ranks, limit) = (call!(_mm_loadu_si128, ranks.cast()), call!(_mm_set1_epi32, limit));
    bits4(call!(_mm_cmplt_epi32, ranks, limit))
}
#[inline(always)]
fn bits4(truths: __m128i) -> u32 {
    let truths = call!(_mm_castsi128_ps, truths);
    call!(_mm_movemask_ps, truths).cast_unsigned()
}
#[inline(always)]
unsafe fn below8(ranks: *const u32, limit: i32) -> u32 {
    let (ranks, limit) = (call!(_mm256_loadu_si256, ranks.cast()), call!(_mm256_set1_epi32, limit));
    let below = call!(_mm256_cmpgt_epi32, limit, ranks);
    let below = call!(_mm256_castsi256_ps, below);
    call!(_mm256_movemask_ps, below).cast_unsigned()
}
#[inline(always)]
unsafe fn below16(ranks: *const u32, limit: i32) -> u32 {
    let (ranks, limit) = (call!(_mm512_loadu_si512, ranks.cast()), call!(_mm512_set1_epi32, limit));
    call!(_mm512_cmplt_epi32_mask, ranks, limit).into()
}

vector! {
    F32x4: [f32; 4] in __m128, masks: Mask32x4;
    operators: _mm_add_ps, _mm_sub_ps, _mm_mul_ps, _mm_div_ps;
    functions: _mm_set1_ps, _mm_min_ps, _mm_max_ps, _mm_sqrt_ps, abs32x4;
    comparisons: _mm_cmpgt_ps, _mm_cmpge_ps, select32x4;
    memory: _mm_loadu_ps, _mm_storeu_ps, _mm_stream_ps;
    boxes: columns32x4, rows32x4, std::convert::identity;
    integers: _mm_castps_si128, _mm_castsi128_ps, _mm_slli_epi32::<23>, _mm_sub_epi32, below4;
}

vector! {
    F64x2: [f64; 2] in __m128d, masks: Mask64x2;
    operators: _mm_add_pd, _mm_sub_pd, _mm_mul_pd, _mm_div_pd;
    functions: _mm_set1_pd, _mm_min_pd, _mm_max_pd, _mm_sqrt_pd, abs64x2;
    comparisons: _mm_cmpgt_pd, _mm_cmpge_pd, select64x2;
    memory: _mm_loadu_pd, _mm_storeu_pd, _mm_stream_pd;
    boxes: columns64x2, rows64x2, std::convert::identity;
    integers: _mm_castpd_si128, _mm_castsi128_pd, _mm_slli_epi64::<52>, _mm_sub_epi64, below2;
}

vector! {
    F32x8: [f32; 8] in __m256, masks: Mask32x8;
    operators: _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps, _mm256_div_ps;
    functions: _mm256_set1_ps, _mm256_min_ps, _mm256_max_ps, _mm256_sqrt_ps, abs32x8;
    comparisons: _mm256_cmp_ps::<_CMP_GT_OQ>, _mm256_cmp_ps::<_CMP_GE_OQ>, select32x8;
    memory: _mm256_loadu_ps, _mm256_storeu_ps, _mm256_stream_ps;
    boxes: columns32x8, rows32x8, std::convert::identity;
    integers: _mm256_castps_si256, _mm256_castsi256_ps, _mm256_slli_epi32::<23>, _mm256_sub_epi32, below8;
}

vector! {
    F64x4: [f64; 4] in __m256d, masks: Mask64x4;
    operators: _mm256_add_pd, _mm256_sub_pd, _mm256_mul_pd, _mm256_div_pd;
    functions: _mm256_set1_pd, _mm256_min_pd, _mm256_max_pd, _mm256_sqrt_pd, abs64x4;
    comparisons: _mm256_cmp_pd::<_CMP_GT_OQ>, _mm256_cmp_pd::<_CMP_GE_OQ>, select64x4;
    memory: _mm256_loadu_pd, _mm256_storeu_pd, _mm256_stream_pd;
    boxes: columns64x4, rows64x4, std::convert::identity;
    integers: _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_slli_epi64::<52>, _mm256_sub_epi64, below4;
}

vector! {
    F32x16: [f32; 16] in __m512, masks: Mask32x16;
    operators: _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps, _mm512_div_ps;
    functions: _mm512_set1_ps, _mm512_min_ps, _mm512_max_ps, _mm512_sqrt_ps, _mm512_abs_ps;
    comparisons: _mm512_cmp_ps_mask::<_CMP_GT_OQ>, _mm512_cmp_ps_mask::<_CMP_GE_OQ>, select32x16;
    memory: _mm512_loadu_ps, _mm512_storeu_ps, _mm512_stream_ps;
    boxes: columns32x16, rows32x16, in_order32x16;
    integers: _mm512_castps_si512, _mm512_castsi512_ps, _mm512_slli_epi32::<23>, _mm512_sub_epi32, below16;
}

vector! {
    F64x8: [f64; 8] in __m512d, masks: Mask64x8;
    operators: _mm512_add_pd, _mm512_sub_pd, _mm512_mul_pd, _mm512_div_pd;
    functions: _mm512_set1_pd, _mm512_min_pd, _mm512_max_pd, _mm512_sqrt_pd, _mm512_abs_pd;
    comparisons: _mm512_cmp_pd_mask::<_CMP_GT_OQ>, _mm512_cmp_pd_mask::<_CMP_GE_OQ>, select64x8;
    memory: _mm512_loadu_pd, _mm512_storeu_pd, _mm512_stream_pd;
    boxes: columns64x8, rows64x8, in_order64x8;
    integers: _mm512_castpd_si512, _mm512_castsi512_pd, _mm512_slli_epi64::<52>, _mm512_sub_epi64, below8;
}
