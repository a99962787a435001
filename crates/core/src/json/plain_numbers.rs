//! Passing over polygons and run lengths: long lists of plain numbers, checked 64 bytes at a time.
//!
//! Segmentations are most of an annotation file and are not needed to evaluate boxes, but a file that is not JSON must
//! still be refused. Of a list like `12.5,-3,0.25` the rules fit into a few operations on bit masks; whatever is not
//! like that (white space, exponents, the end of the list) is left to the cursor, number by number.

/// One bit for each of 64 bytes.
struct Masks {
    digit: u64,
    zero: u64,
    point: u64,
    minus: u64,
    comma: u64,
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
    Masks { digit, zero: equal(b'0'), point: equal(b'.'), minus: equal(b'-'), comma: equal(b',') }
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
    }
}

/// Where to go on: behind the last comma up to which `text[at..]` is numbers and commas without a fault.
pub(super) fn skip(text: &[u8], at: usize) -> usize {
    let mut safe = at;
    // What stood before the block; in front of the first one a comma, since a number must start there.
    let mut before = Masks { digit: 0, zero: 0, point: 0, minus: 0, comma: 1 };
    let (mut zero_before, mut point_open) = (0, 0);
    for (index, block) in text[at..].as_chunks().0.iter().enumerate() {
        let Masks { digit, zero, point, minus, comma } = masks(block);
        let after_digit = digit << 1 | before.digit;
        let after_comma = comma << 1 | before.comma;
        let starting_zero = zero & (after_comma | minus << 1 | before.minus);
        let other = !(digit | point | minus | comma);
        let misplaced = (point | comma) & !after_digit | minus & !after_comma;
        let leading_zero = digit & (starting_zero << 1 | zero_before);
        // From each point a carry runs up to the next point or comma: it must be a comma.
        let events = point | comma;
        let (sum, carry) = (!events).overflowing_add(point << 1);
        let (sum, carry_in) = sum.overflowing_add(point_open);
        let second_point = sum & point;
        let faults = other | misplaced | leading_zero | second_point;
        let fine = if faults == 0 { u64::MAX } else { (1 << faults.trailing_zeros()) - 1 };
        if comma & fine != 0 {
            safe = at + index * 64 + 64 - (comma & fine).leading_zeros() as usize;
        }
        if faults != 0 {
            return safe;
        }
        before = Masks { digit: digit >> 63, zero: 0, point: 0, minus: minus >> 63, comma: comma >> 63 };
        zero_before = starting_zero >> 63;
        point_open = u64::from(carry || carry_in || point >> 63 == 1);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::skip;

    /// The same, byte by byte.
    fn plain_skip(text: &str) -> usize {
        let mut safe = 0;
        for number in text.split_inclusive(',') {
            let Some(number) = number.strip_suffix(',') else { break };
            let digits = number.strip_prefix('-').unwrap_or(number);
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
            let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            if !all_digits(whole) || !all_digits(fraction) || (whole.len() > 1 && whole.starts_with('0')) {
                break;
            }
            safe += number.len() + 1;
        }
        safe
    }

    #[test]
    fn passes_over_good_numbers_and_no_others() {
        let numbers = ["0", "7", "-1", "12.5", "0.25", "-0.5", "345.678", "1234567890.0123456789", "-0", "10", "100.0"];
        let faults = [
            "01", "00", "-01", "1.2.3", "1.", ".5", "-", "--1", "1-2", "", "1e5", " 1", "1 ", "]", "[1", "a", "0.0.0",
            "1..2", "-.5", "\u{e9}", "1.5.", "00.5", "-00", "0-", "/", ":", "1/2", "\0",
        ];
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for round in 0..20_000 {
            let count = random(60);
            let mut parts: Vec<&str> = (0..count).map(|_| numbers[random(numbers.len())]).collect();
            if round % 3 > 0 && count > 0 {
                let at = random(count);
                parts[at] = faults[random(faults.len())];
            }
            let text = format!("{}{}", parts.join(","), "]".repeat(random(80)));
            // The last whole block is all that is looked at.
            let seen = text.len() / 64 * 64;
            let expected = plain_skip(&text)
                .min(text.as_bytes()[..seen].iter().rposition(|&byte| byte == b',').map_or(0, |at| at + 1));
            assert_eq!(skip(text.as_bytes(), 0), expected, "{text}");
        }
    }

    #[test]
    fn sees_a_second_point_blocks_away() {
        for gap in [1, 30, 62, 63, 64, 65, 200] {
            let text = format!("1.{}.5,7,{}", "2".repeat(gap), "8,".repeat(64));
            assert_eq!(skip(text.as_bytes(), 0), 0, "{gap}");
            let text = format!("1.{},5.5,{}", "2".repeat(gap), "8,".repeat(64));
            assert!(skip(text.as_bytes(), 0) > gap + 7, "{gap}");
        }
    }
}
