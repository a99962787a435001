//! Boxes into columns and back. Within 16 bytes, four vectors of single numbers are turned by the same steps in all widths.

use std::arch::x86_64::*;

macro_rules! turn {
    ($name:ident, $register:ident: $low:path, $high:path, $lows:path, $highs:path) => {
        #[inline(always)]
        unsafe fn $name([a, b, c, d]: [$register; 4]) -> [$register; 4] {
            let (ab, cd) = (call!($low, a, b), call!($low, c, d));
            let (x, y) = (call!($lows, ab, cd), call!($highs, ab, cd));
            let (ab, cd) = (call!($high, a, b), call!($high, c, d));
            [x, y, call!($lows, ab, cd), call!($highs, ab, cd)]
        }
    };
}
turn!(turn32x4, __m128: _mm_unpacklo_ps, _mm_unpackhi_ps, _mm_shuffle_ps::<0x44>, _mm_shuffle_ps::<0xEE>);
turn!(turn32x8, __m256: _mm256_unpacklo_ps, _mm256_unpackhi_ps, _mm256_shuffle_ps::<0x44>, _mm256_shuffle_ps::<0xEE>);
turn!(turn32x16, __m512: _mm512_unpacklo_ps, _mm512_unpackhi_ps, _mm512_shuffle_ps::<0x44>, _mm512_shuffle_ps::<0xEE>);

/// Four boxes.
#[inline(always)]
pub(super) unsafe fn columns32x4(from: *const f32) -> [__m128; 4] {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        turn32x4([_mm_loadu_ps(from), _mm_loadu_ps(from.add(4)), _mm_loadu_ps(from.add(8)), _mm_loadu_ps(from.add(12))])
    }
}
#[inline(always)]
pub(super) unsafe fn rows32x4(columns: [__m128; 4], to: *mut f32) {
    // SAFETY: as above.
    unsafe {
        let [a, b, c, d] = turn32x4(columns);
        _mm_storeu_ps(to, a);
        _mm_storeu_ps(to.add(4), b);
        _mm_storeu_ps(to.add(8), c);
        _mm_storeu_ps(to.add(12), d);
    }
}

/// Two boxes.
#[inline(always)]
pub(super) unsafe fn columns64x2(from: *const f64) -> [__m128d; 4] {
    // SAFETY: as above.
    unsafe {
        let (low, high) = (_mm_loadu_pd(from), _mm_loadu_pd(from.add(2)));
        let (next_low, next_high) = (_mm_loadu_pd(from.add(4)), _mm_loadu_pd(from.add(6)));
        [
            _mm_unpacklo_pd(low, next_low),
            _mm_unpackhi_pd(low, next_low),
            _mm_unpacklo_pd(high, next_high),
            _mm_unpackhi_pd(high, next_high),
        ]
    }
}
#[inline(always)]
pub(super) unsafe fn rows64x2([x1, y1, x2, y2]: [__m128d; 4], to: *mut f64) {
    // SAFETY: as above.
    unsafe {
        _mm_storeu_pd(to, _mm_unpacklo_pd(x1, y1));
        _mm_storeu_pd(to.add(2), _mm_unpacklo_pd(x2, y2));
        _mm_storeu_pd(to.add(4), _mm_unpackhi_pd(x1, y1));
        _mm_storeu_pd(to.add(6), _mm_unpackhi_pd(x2, y2));
    }
}

/// Eight boxes: each register holds a box and the fourth after it.
#[inline(always)]
pub(super) unsafe fn columns32x8(from: *const f32) -> [__m256; 4] {
    // SAFETY: as above.
    unsafe {
        turn32x8([
            _mm256_loadu2_m128(from.add(16), from),
            _mm256_loadu2_m128(from.add(20), from.add(4)),
            _mm256_loadu2_m128(from.add(24), from.add(8)),
            _mm256_loadu2_m128(from.add(28), from.add(12)),
        ])
    }
}
#[inline(always)]
pub(super) unsafe fn rows32x8(columns: [__m256; 4], to: *mut f32) {
    // SAFETY: as above.
    unsafe {
        let [a, b, c, d] = turn32x8(columns);
        _mm256_storeu2_m128(to.add(16), to, a);
        _mm256_storeu2_m128(to.add(20), to.add(4), b);
        _mm256_storeu2_m128(to.add(24), to.add(8), c);
        _mm256_storeu2_m128(to.add(28), to.add(12), d);
    }
}

/// Four boxes: each register holds the same half of a box and of the second after it.
#[inline(always)]
pub(super) unsafe fn columns64x4(from: *const f64) -> [__m256d; 4] {
    // SAFETY: as above.
    unsafe {
        let (low, next_low) = (_mm256_loadu2_m128d(from.add(8), from), _mm256_loadu2_m128d(from.add(12), from.add(4)));
        let (high, next_high) =
            (_mm256_loadu2_m128d(from.add(10), from.add(2)), _mm256_loadu2_m128d(from.add(14), from.add(6)));
        [
            _mm256_unpacklo_pd(low, next_low),
            _mm256_unpackhi_pd(low, next_low),
            _mm256_unpacklo_pd(high, next_high),
            _mm256_unpackhi_pd(high, next_high),
        ]
    }
}
#[inline(always)]
pub(super) unsafe fn rows64x4([x1, y1, x2, y2]: [__m256d; 4], to: *mut f64) {
    // SAFETY: as above.
    unsafe {
        _mm256_storeu2_m128d(to.add(8), to, _mm256_unpacklo_pd(x1, y1));
        _mm256_storeu2_m128d(to.add(12), to.add(4), _mm256_unpackhi_pd(x1, y1));
        _mm256_storeu2_m128d(to.add(10), to.add(2), _mm256_unpacklo_pd(x2, y2));
        _mm256_storeu2_m128d(to.add(14), to.add(6), _mm256_unpackhi_pd(x2, y2));
    }
}

/// Sixteen boxes, loaded four at a time. The boxes of one number stand four places apart.
#[inline(always)]
pub(super) unsafe fn columns32x16(from: *const f32) -> [__m512; 4] {
    // SAFETY: as above.
    unsafe {
        turn32x16([
            _mm512_loadu_ps(from),
            _mm512_loadu_ps(from.add(16)),
            _mm512_loadu_ps(from.add(32)),
            _mm512_loadu_ps(from.add(48)),
        ])
    }
}
#[inline(always)]
pub(super) unsafe fn rows32x16(columns: [__m512; 4], to: *mut f32) {
    // SAFETY: as above.
    unsafe {
        let [a, b, c, d] = turn32x16(columns);
        _mm512_storeu_ps(to, a);
        _mm512_storeu_ps(to.add(16), b);
        _mm512_storeu_ps(to.add(32), c);
        _mm512_storeu_ps(to.add(48), d);
    }
}
#[inline(always)]
pub(super) fn in_order32x16(numbers: __m512) -> __m512 {
    // SAFETY: as above.
    unsafe { _mm512_permutexvar_ps(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), numbers) }
}

/// Eight boxes, loaded two at a time: in the order 0, 2, 1, 3, 4, 6, 5, 7.
#[inline(always)]
pub(super) unsafe fn columns64x8(from: *const f64) -> [__m512d; 4] {
    // SAFETY: as above.
    unsafe {
        let (a, b) = (_mm512_loadu_pd(from), _mm512_loadu_pd(from.add(8)));
        let (c, d) = (_mm512_loadu_pd(from.add(16)), _mm512_loadu_pd(from.add(24)));
        // x of both corners of four boxes, and y.
        let (xs, ys) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
        let (more_xs, more_ys) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
        [
            _mm512_shuffle_f64x2::<0x88>(xs, more_xs),
            _mm512_shuffle_f64x2::<0x88>(ys, more_ys),
            _mm512_shuffle_f64x2::<0xDD>(xs, more_xs),
            _mm512_shuffle_f64x2::<0xDD>(ys, more_ys),
        ]
    }
}
#[inline(always)]
pub(super) unsafe fn rows64x8([x1, y1, x2, y2]: [__m512d; 4], to: *mut f64) {
    // SAFETY: as above.
    unsafe {
        let (first, last) =
            (_mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15));
        let (xs, ys) = (_mm512_permutex2var_pd(x1, first, x2), _mm512_permutex2var_pd(y1, first, y2));
        _mm512_storeu_pd(to, _mm512_unpacklo_pd(xs, ys));
        _mm512_storeu_pd(to.add(8), _mm512_unpackhi_pd(xs, ys));
        let (xs, ys) = (_mm512_permutex2var_pd(x1, last, x2), _mm512_permutex2var_pd(y1, last, y2));
        _mm512_storeu_pd(to.add(16), _mm512_unpacklo_pd(xs, ys));
        _mm512_storeu_pd(to.add(24), _mm512_unpackhi_pd(xs, ys));
    }
}
#[inline(always)]
pub(super) fn in_order64x8(numbers: __m512d) -> __m512d {
    // SAFETY: as above.
    unsafe { _mm512_permutexvar_pd(_mm512_setr_epi64(0, 2, 1, 3, 4, 6, 5, 7), numbers) }
}
