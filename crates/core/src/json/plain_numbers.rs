//! Lists of plain numbers, `12.5,-3, 0.25`, judged 64 bytes at a time.
//!
//! Polygons and run lengths are most of an annotation file. They are not needed to evaluate boxes, but a file that is not
//! JSON must still be refused; boxes are most of a results file. The rules for such lists fit into a few operations on
//! bit masks, which also tell where each number ends before any is read. Whatever is not like that (exponents, more
//! white space than a space behind a comma) is left to the cursor, number by number.

use super::number::{Decimal, TENS, digits};
use crate::memory::Vec;

/// One bit for each of 64 bytes.
#[derive(Default)]
struct Masks {
    digit: u64,
    zero: u64,
    point: u64,
    minus: u64,
    comma: u64,
    space: u64,
}

#[cfg(target_arch = "x86_64")]
fn masks(block: &[u8; 64]) -> Masks {
    // SAFETY: SSE2 is part of every x86-64. It makes reading an annotation file one and a half times as fast.
    unsafe { masks_sse2(block) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
fn masks_sse2(block: &[u8; 64]) -> Masks {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi8, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8,
    };
    let lanes: [__m128i; 4] = std::array::from_fn(|lane| {
        let half = |at: usize| i64::from_le_bytes(block[at..at + 8].try_into().expect("eight bytes"));
        _mm_set_epi64x(half(lane * 16 + 8), half(lane * 16))
    });
    let join = |lanes: [__m128i; 4]| {
        let bits = lanes.map(|lane| u64::from(_mm_movemask_epi8(lane) as u16));
        bits[0] | bits[1] << 16 | bits[2] << 32 | bits[3] << 48
    };
    let equal = |byte: u8| join(lanes.map(|lane| _mm_cmpeq_epi8(lane, _mm_set1_epi8(byte as i8))));
    // Less '0', and shifted by half a turn so that comparing as signed is right: the digits are the ten lowest values.
    let digit = join(lanes.map(|lane| {
        let value = _mm_add_epi8(lane, _mm_set1_epi8((0x80 - b'0') as i8));
        _mm_cmplt_epi8(value, _mm_set1_epi8(i8::MIN + 10))
    }));
    Masks { digit, zero: equal(b'0'), point: equal(b'.'), minus: equal(b'-'), comma: equal(b','), space: equal(b' ') }
}

#[cfg(not(target_arch = "x86_64"))]
fn masks(block: &[u8; 64]) -> Masks {
    let mask = |test: &dyn Fn(u8) -> bool| {
        block.iter().enumerate().fold(0, |mask, (bit, &byte)| mask | u64::from(test(byte)) << bit)
    };
    Masks {
        digit: mask(&|byte| byte.is_ascii_digit()),
        zero: mask(&|byte| byte == b'0'),
        point: mask(&|byte| byte == b'.'),
        minus: mask(&|byte| byte == b'-'),
        comma: mask(&|byte| byte == b','),
        space: mask(&|byte| byte == b' '),
    }
}

/// What stood before a block, as far as it matters.
struct Before {
    /// Kinds of the last byte, in bit 0.
    last: Masks,
    /// Whether the last byte is a zero that starts a number.
    starting_zero: u64,
    /// Whether the number that reaches into the block has had its point.
    point: bool,
}

impl Before {
    /// A place where a number must start.
    fn number() -> Self {
        Self { last: Masks { comma: 1, ..Masks::default() }, starting_zero: 0, point: false }
    }

    /// Judges the next block: the bytes that cannot stand where they do, right up to the first of them.
    #[inline(always)]
    fn faults(&mut self, block: &Masks) -> u64 {
        let &Masks { digit, zero, point, minus, comma, space } = block;
        let last = &self.last;
        let after_digit = digit << 1 | last.digit;
        let after_comma = comma << 1 | last.comma;
        let starts = after_comma | space << 1 | last.space;
        let starting_zero = zero & (starts | minus << 1 | last.minus);
        let other = !(digit | point | minus | comma | space);
        let misplaced = (point | comma) & !after_digit | minus & !starts | space & !after_comma;
        let leading_zero = digit & (starting_zero << 1 | self.starting_zero);
        // From each point a carry runs up to the next point or comma: it must be a comma.
        let (sum, carry) = (!(point | comma)).overflowing_add(point << 1);
        let (sum, carry_on) = sum.overflowing_add(u64::from(self.point));
        self.last = Masks {
            digit: digit >> 63,
            minus: minus >> 63,
            comma: comma >> 63,
            space: space >> 63,
            ..Masks::default()
        };
        self.starting_zero = starting_zero >> 63;
        self.point = carry || carry_on || point >> 63 == 1;
        other | misplaced | leading_zero | sum & point
    }
}

/// Where to go on: behind the last comma up to which `text[at..]` is a list without a fault.
pub(super) fn skip(text: &[u8], at: usize) -> usize {
    let mut safe = at;
    let mut before = Before::number();
    for (index, block) in text[at..].as_chunks().0.iter().enumerate() {
        let block = masks(block);
        let faults = before.faults(&block);
        let fine = if faults == 0 { u64::MAX } else { (1 << faults.trailing_zeros()) - 1 };
        if block.comma & fine != 0 {
            safe = at + index * 64 + 64 - (block.comma & fine).leading_zeros() as usize;
        }
        if faults != 0 {
            break;
        }
    }
    safe
}

/// Two blocks, and what reading whole words at the last digit may touch.
const WINDOW: usize = 144;

/// The part of a list of numbers that stands in a window.
struct Part {
    /// Where the commas and the points are, up to the end.
    commas: u128,
    points: u128,
    /// Where the first byte is that cannot stand in such a list: its closing bracket, for example. 128 if there is none.
    end: usize,
}

impl Part {
    /// A number must start where the window does.
    #[inline(always)]
    fn of(window: &[u8; WINDOW]) -> Self {
        let blocks: &[[u8; 64]] = window.as_chunks().0;
        let mut before = Before::number();
        let mut bits = |block: &Masks| (before.faults(block), block.comma, block.point);
        let first = bits(&masks(&blocks[0]));
        let second = if first.0 == 0 { bits(&masks(&blocks[1])) } else { (u64::MAX, 0, 0) };
        let both = |low: u64, high: u64| u128::from(low) | u128::from(high) << 64;
        let end = both(first.0, second.0).trailing_zeros() as usize;
        let within = if end == 128 { u128::MAX } else { (1 << end) - 1 };
        Self { commas: both(first.1, second.1) & within, points: both(first.2, second.2) & within, end }
    }

    /// Whether the list ends where the part does.
    #[inline(always)]
    fn is_last(&self, window: &[u8; WINDOW]) -> bool {
        (1..128).contains(&self.end) && window[self.end] == b']' && window[self.end - 1].is_ascii_digit()
    }

    /// The value of the number between two bytes of the window. `None` says nothing about it: it may have many digits.
    #[inline(always)]
    fn value(&self, window: &[u8; WINDOW], mut start: usize, stop: usize) -> Option<f64> {
        start += usize::from(window[start] == b' ');
        let negative = window[start] == b'-';
        start += usize::from(negative);
        let point = ((self.points >> start).trailing_zeros() as usize + start).min(stop);
        let places = (stop - point).saturating_sub(1);
        if point - start > 8 || places > 16 || point - start + places > 19 {
            return None;
        }
        let word = |at: usize| u64::from_le_bytes(*window[at..].first_chunk().expect("the window ends behind it"));
        let mut mantissa = digits(word(start), point - start);
        if places > 0 {
            let head = places.min(8);
            mantissa = mantissa * TENS[head] + digits(word(point + 1), head);
        }
        if places > 8 {
            mantissa = mantissa * TENS[places - 8] + digits(word(point + 9), places - 8);
        }
        Decimal { negative, mantissa, exponent: -(places as i32), long: false, integer: point == stop }.quick()
    }
}

/// The values of a list of four numbers that starts at `at`, and where the bracket behind it stands.
///
/// `None` says nothing about the list: it may be long, or near the end of the text, or no such list.
#[inline(always)]
pub(super) fn four(text: &[u8], at: usize) -> Option<([f64; 4], usize)> {
    let window = text[at..].first_chunk()?;
    let part = Part::of(window);
    if !part.is_last(window) || part.commas.count_ones() != 3 {
        return None;
    }
    let (mut values, mut commas, mut start) = ([0.0; 4], part.commas, 0);
    for value in &mut values {
        let stop = if commas == 0 { part.end } else { commas.trailing_zeros() as usize };
        commas &= commas.wrapping_sub(1);
        *value = part.value(window, start, stop)?;
        start = stop + 1;
    }
    Some((values, at + part.end))
}

/// Appends the first numbers of a list that starts at `at`, as many as are plain, and gives the place behind them: that
/// of the closing bracket, or one behind a comma, or `at`.
pub(super) fn first_of(text: &[u8], mut at: usize, values: &mut Vec<f64>) -> usize {
    loop {
        let mut padded = [0; WINDOW];
        let window = text[at..].first_chunk().unwrap_or_else(|| {
            padded[..text.len() - at].copy_from_slice(&text[at..]);
            &padded
        });
        let part = Part::of(window);
        let (mut commas, mut start) = (part.commas, 0);
        while commas != 0 {
            let stop = commas.trailing_zeros() as usize;
            let Some(value) = part.value(window, start, stop) else { return at + start };
            values.push(value);
            commas &= commas.wrapping_sub(1);
            start = stop + 1;
        }
        if part.is_last(window)
            && let Some(value) = part.value(window, start, part.end)
        {
            values.push(value);
            return at + part.end;
        }
        if start == 0 || part.end < 128 {
            return at + start;
        }
        at += start;
    }
}

#[cfg(test)]
mod tests;
